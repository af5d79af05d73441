/* Performance reports: columns by name, figures that are unknown, operations and their waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "report/report_perf.h"
#include "warnings.h"

#define HEAD                                                                                          \
	"OP TYPE,OP CODE,DEVICE COMPUTE CB RESERVE BACK [ns],DEVICE KERNEL DURATION [ns],CORE COUNT," \
	"DEVICE COMPUTE CB WAIT FRONT [ns]\n"

static struct tdm_perf_csv parse(const char *text, struct warnings *warnings)
{
	struct tdm_perf_csv perf;
	struct tdm_diag diag = { 0 };
	memset(warnings, 0, sizeof *warnings);
	assert_int_equal(tdm_perf_csv_parse(&perf, tdm_str_of(text), warnings_add, warnings, &diag), 0);
	assert_int_equal(perf.refused + perf.odd, warnings->count);
	return perf;
}

static void columns_are_found_in_any_order(void **state)
{
	(void)state;
	struct warnings w;
	struct tdm_perf_csv p = parse(HEAD "dev,Matmul,640,100,64,1951.5\r\ndev,\"a,b\",-,nan,None,\r\n", &w);
	assert_int_equal(w.count, 0);
	assert_int_equal(p.row_count, 2);
	const uint64_t *f = p.rows[0].figures;
	assert_true(f[TDM_PERF_BACK] == 10 && f[TDM_PERF_KERNEL] == 100 && f[TDM_PERF_FRONT] == 31);
	assert_true(f[TDM_PERF_DEVICE] == TDM_PERF_UNKNOWN && !p.has_column[TDM_PERF_DEVICE]);
	for (int i = 0; i < TDM_PERF_FIGURES; i++)
		assert_true(p.rows[1].figures[i] == TDM_PERF_UNKNOWN);
	assert_string_equal(tdm_perf_text(&p, p.rows[1].code), "a,b");
	tdm_perf_csv_done(&p);
}

static void figures_that_are_none_are_unknown_and_named(void **state)
{
	(void)state;
	struct warnings w;
	struct tdm_perf_csv p =
		parse(HEAD "d,A,-1,18446744073709551615,1x,1.2.3\nd,B,1,2\nd,,1,2,3,4\nd,C,1,2,3,4\n", &w);
	assert_string_equal(w.text,
		"2: CORE COUNT: not a number: '1x'\n"
		"2: DEVICE KERNEL DURATION [ns]: a number that is too large: '18446744073709551615'\n"
		"2: DEVICE COMPUTE CB WAIT FRONT [ns]: not a number: '1.2.3'\n"
		"2: DEVICE COMPUTE CB RESERVE BACK [ns]: not a number: '-1'\n"
		"3: 4 fields, but there are 6 columns\n"
		"4: no OP CODE\n");
	assert_int_equal(p.row_count, 2);
	assert_int_equal(p.refused, 2);
	assert_int_equal(p.odd, 4);
	assert_true(p.rows[0].figures[TDM_PERF_KERNEL] == TDM_PERF_UNKNOWN);
	tdm_perf_csv_done(&p);
}

static void operations_add_up_what_was_measured(void **state)
{
	(void)state;
	struct warnings w;
	struct tdm_perf_csv p = parse(HEAD "d,A,80,100,8,160\nd,B,20,50,4,1600\nd,A,0,100,16,160\nd,A,2,100,2,\n"
					   "signpost,A,,,,\nd,C,,,,\n",
		&w);
	size_t count;
	struct tdm_perf_operation *all = tdm_perf_operations(&p, &count);
	assert_int_equal(count, 3);
	assert_string_equal(tdm_perf_text(&p, all[0].code), "B");
	assert_string_equal(tdm_perf_text(&p, all[1].code), "A");
	assert_true(all[1].calls == 3 && all[1].measured == 2);
	assert_true(all[1].kernel_ns == 200 && all[1].front_ns == 30 && all[1].back_ns == 10);
	assert_true(all[1].cores_max == 16);
	assert_true(all[2].measured == 0 && all[2].cores_max == TDM_PERF_UNKNOWN);
	free(all);
	tdm_perf_csv_done(&p);
}

/* The waits of a report are those of all cores together. */
static void waits_are_averages_of_a_core(void **state)
{
	(void)state;
	struct warnings w;
	struct tdm_perf_csv p = parse(HEAD "d,A,3200,100,64,31\nd,A,5,100,3,4\nd,A,0,100,,7\nd,A,9,100,0,0\n", &w);
	assert_int_equal(p.row_count, 4);
	assert_true(p.rows[0].figures[TDM_PERF_BACK] == 50 && p.rows[0].figures[TDM_PERF_FRONT] == 0);
	assert_true(p.rows[1].figures[TDM_PERF_BACK] == 2 && p.rows[1].figures[TDM_PERF_FRONT] == 1);
	assert_true(p.rows[2].figures[TDM_PERF_BACK] == 0 && p.rows[2].figures[TDM_PERF_FRONT] == TDM_PERF_UNKNOWN);
	assert_true(p.rows[3].figures[TDM_PERF_BACK] == TDM_PERF_UNKNOWN && p.rows[3].figures[TDM_PERF_FRONT] == 0);
	tdm_perf_csv_done(&p);
}

static void a_file_without_its_columns_is_refused(void **state)
{
	(void)state;
	struct tdm_perf_csv p;
	struct tdm_diag diag = { 0 };
	assert_int_equal(tdm_perf_csv_parse(&p, tdm_str_of("A,B\n1,2\n"), NULL, NULL, &diag), TDM_ECORRUPT);
	assert_string_equal(diag.text, "no column OP CODE");
	tdm_perf_csv_done(&p);
	assert_int_equal(tdm_perf_csv_parse(&p, tdm_str_of(""), NULL, NULL, &diag), TDM_ECORRUPT);
	assert_string_equal(diag.text, "no names of columns");
	tdm_perf_csv_done(&p);
	assert_true(tdm_perf_csv_detect(HEAD, strlen(HEAD)));
	assert_false(tdm_perf_csv_detect("OP CODE,X\n[ns]\n", 15));
	assert_false(tdm_perf_csv_detect("", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_found_in_any_order),
		cmocka_unit_test(figures_that_are_none_are_unknown_and_named),
		cmocka_unit_test(operations_add_up_what_was_measured),
		cmocka_unit_test(waits_are_averages_of_a_core),
		cmocka_unit_test(a_file_without_its_columns_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
