/* Performance reports: columns by name, figures that are unknown, operations and their waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/report/perf_waits.h"
#include "base/err.h"
#include "warnings.h"

#define HEAD                                                                                          \
	"OP TYPE,OP CODE,DEVICE COMPUTE CB RESERVE BACK [ns],DEVICE KERNEL DURATION [ns],CORE COUNT," \
	"DEVICE COMPUTE CB WAIT FRONT [ns]\n"

enum { ROWS = 8 };

/* The rows themselves, and what is made of them. */
struct perf {
	struct tdm_perf_waits waits;
	struct tdm_perf_row rows[ROWS];
	char codes[ROWS][32];
	size_t row_count;
};

static int take(void *to, const struct tdm_record *record)
{
	struct perf *p = to;
	if (record->type == TDM_RECORD_PERF_ROW) {
		snprintf(p->codes[p->row_count], 32, "%.*s", TDM_STR_ARG(record->row->code));
		p->rows[p->row_count++] = *record->row;
	}
	return tdm_perf_waits_take(&p->waits, record);
}

static void parse(const char *text, struct perf *perf, struct warnings *warnings)
{
	struct tdm_diag diag = { 0 };
	*perf = (struct perf){ .row_count = 0 };
	assert_int_equal(read_as("ops_perf_results", tdm_str_of(text), warnings, take, perf, &diag), 0);
	assert_int_equal(perf->waits.refused + perf->waits.odd, warnings->count);
	tdm_perf_waits_end(&perf->waits);
}

static void columns_are_found_in_any_order(void **state)
{
	(void)state;
	struct warnings w;
	struct perf p;
	parse(HEAD "dev,Matmul,640,100,64,1951.5\r\ndev,\"a,b\",-,nan,None,\r\n", &p, &w);
	assert_int_equal(w.count, 0);
	assert_int_equal(p.row_count, 2);
	const uint64_t *f = p.rows[0].figures;
	assert_true(f[TDM_PERF_BACK] == 640 && f[TDM_PERF_KERNEL] == 100 && f[TDM_PERF_FRONT] == 1952);
	assert_true(f[TDM_PERF_DEVICE] == TDM_BYTES_UNKNOWN && p.waits.head.figures[TDM_PERF_DEVICE] == 0);
	for (int i = 0; i < TDM_PERF_FIGURES; i++)
		assert_true(p.rows[1].figures[i] == TDM_BYTES_UNKNOWN);
	assert_string_equal(p.codes[1], "a,b");
	tdm_perf_waits_done(&p.waits);
}

static void figures_that_are_none_are_unknown_and_named(void **state)
{
	(void)state;
	struct warnings w;
	struct perf p;
	parse(HEAD "d,A,-1,18446744073709551615,1x,1.2.3\nd,B,1,2\nd,,1,2,3,4\nd,C,1,2,3,4\n", &p, &w);
	assert_string_equal(w.text,
		"2: CORE COUNT: not a number: '1x'\n"
		"2: DEVICE KERNEL DURATION [ns]: a number that is too large: '18446744073709551615'\n"
		"2: DEVICE COMPUTE CB WAIT FRONT [ns]: not a number: '1.2.3'\n"
		"2: DEVICE COMPUTE CB RESERVE BACK [ns]: a negative number: '-1'\n"
		"3: 4 fields, but there are 6 columns\n"
		"4: no OP CODE\n");
	assert_int_equal(p.row_count, 2);
	assert_int_equal(p.waits.refused, 2);
	assert_int_equal(p.waits.odd, 4);
	assert_true(p.rows[0].figures[TDM_PERF_KERNEL] == TDM_BYTES_UNKNOWN);
	tdm_perf_waits_done(&p.waits);
}

static void operations_add_up_what_was_measured(void **state)
{
	(void)state;
	struct warnings w;
	struct perf p;
	parse(HEAD "d,A,80,100,8,160\nd,B,20,500,4,1600\nd,A,0,100,16,160\nd,A,2,100,2,\n"
		   "signpost,A,,,,\nd,C,,,,\n",
		&p, &w);
	const struct tdm_perf_operation *all = p.waits.operations;
	assert_int_equal(p.waits.operation_count, 3);
	assert_string_equal(all[0].name, "B");
	assert_string_equal(all[1].name, "A");
	assert_true(all[1].calls == 3 && all[1].measured == 2);
	assert_true(all[1].kernel_ns == 200 && all[1].front_ns == 30 && all[1].back_ns == 10);
	assert_true(all[1].cores_max == 16);
	assert_true(all[2].measured == 0 && all[2].cores_max == TDM_BYTES_UNKNOWN);
	tdm_perf_waits_done(&p.waits);
}

static void rows_that_contradict_themselves_are_refused(void **state)
{
	(void)state;
	struct warnings w;
	struct perf p;
	parse(HEAD "d,A,8,100,2,202\nd,A,8,100,2,204\nd,A,1000,100,2,8\nd,A,8,0,2,8\nd,A,,0,2,\nd,A,8,100,0,900\n", &p,
		&w);
	assert_string_equal(w.text,
		"3: DEVICE COMPUTE CB WAIT FRONT [ns]: 102 on each of 2 cores, longer than the kernels ran: 100\n"
		"4: DEVICE COMPUTE CB RESERVE BACK [ns]: 500 on each of 2 cores, longer than the kernels ran: 100\n"
		"5: DEVICE KERNEL DURATION [ns]: 0, but kernels that wait take time\n");
	assert_true(p.waits.refused == 3 && p.row_count == 3 && p.waits.operations[0].measured == 1);
	tdm_perf_waits_done(&p.waits);
}

/* The waits of a report are those of all cores together. */
static void waits_are_averages_of_a_core(void **state)
{
	(void)state;
	struct warnings w;
	struct perf p;
	parse(HEAD "d,A,3200,100,64,31\nd,B,5,100,3,4\nd,C,0,100,,7\nd,C,9,100,0,0\nd,D,0,100,2,0\n", &p, &w);
	assert_int_equal(p.waits.call_count, 2); /* of C the cores are not known, and D does not wait */
	const struct tdm_perf_row *calls = p.waits.calls;
	assert_true(calls[0].figures[TDM_PERF_BACK] == 50 && calls[0].figures[TDM_PERF_FRONT] == 0);
	assert_true(tdm_str_is(calls[0].code, "A"));
	assert_true(calls[1].figures[TDM_PERF_BACK] == 2 && calls[1].figures[TDM_PERF_FRONT] == 1);
	assert_int_equal(calls[1].line, 3);
	assert_string_equal(p.waits.operations[0].waits_for, "room");
	assert_true(p.waits.operations[0].back_share == 0.5);
	assert_null(p.waits.operations[3].waits_for);
	tdm_perf_waits_done(&p.waits);
}

static void a_file_without_its_columns_is_refused(void **state)
{
	(void)state;
	struct warnings w;
	struct tdm_diag diag = { 0 };
	assert_int_equal(read_as("ops_perf_results", tdm_str_of("A,B\n1,2\n"), &w, NULL, NULL, &diag), TDM_ECORRUPT);
	assert_string_equal(diag.text, "no column OP CODE");
	assert_int_equal(read_as("ops_perf_results", tdm_str_of(""), &w, NULL, NULL, &diag), TDM_ECORRUPT);
	assert_string_equal(diag.text, "no column names");
	assert_true(is_recognised("ops_perf_results", HEAD));
	assert_false(is_recognised("ops_perf_results", "OP CODE,X\n[ns]\n"));
	assert_false(is_recognised("ops_perf_results", ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_found_in_any_order),
		cmocka_unit_test(figures_that_are_none_are_unknown_and_named),
		cmocka_unit_test(operations_add_up_what_was_measured),
		cmocka_unit_test(rows_that_contradict_themselves_are_refused),
		cmocka_unit_test(waits_are_averages_of_a_core),
		cmocka_unit_test(a_file_without_its_columns_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
