/* Logs of tt-train: what is read, what belongs to which run, what is refused and where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/phases/phases.h"
#include "base/file.h"
#include "warnings.h"

#include <stdlib.h>

#define BEGIN "=== Memory Usage Summary ===\n\n"
#define PHASE(name, peak, change, top, now)                                                      \
	"--- " name " ---\n  DRAM: Segment Peak " peak " MB, Allocations " peak                  \
	" MB, Deallocations 0.00 MB, Segment Change " change " MB\n  DRAM: Cumulative Peak " top \
	" MB, Cumulative Current " now " MB\n  L1: Peak CB 0.25 MB, Peak Buffer 0.50 MB, Peak Total 0.75 MB\n"
#define END(peak, now) "\n=== Final Totals ===\nOverall DRAM Peak: " peak " MB, Final DRAM Usage: " now " MB\n\n"

enum { RUNS_MAX = 10000 };

static struct tdm_phases_input parsed_text(struct tdm_str text)
{
	struct tdm_phases_input log = { .path = "a.log" };
	struct tdm_diag diag = { 0 };
	struct warnings w;
	assert_int_equal(read_as("train_log", text, &w, tdm_phases_take, &log, &diag), 0);
	return log;
}

static struct tdm_phases_input parsed(const char *text)
{
	return parsed_text(tdm_str_of(text));
}

static void assert_refused(
	const struct tdm_phases_input *log, size_t i, uint64_t line, uint64_t column, const char *part)
{
	assert_true(i < log->refused_count);
	assert_int_equal(log->refused[i].line, line);
	assert_int_equal(log->refused[i].column, column);
	assert_string_equal(log->refused[i].file, "a.log");
	if (strstr(log->refused[i].text, part) == NULL)
		fail_msg("'%s' is not in '%s'", part, log->refused[i].text);
}

static void the_documented_runs_are_read(void **state)
{
	(void)state;
	struct tdm_phases_input log;
	struct tdm_buf text, file;
	tdm_buf_init(&file);
	assert_int_equal(tdm_file_read(TDM_TEST_DATA "/train/tinyllama.log", 1 << 20, &file), 0);
	log = parsed(file.data);
	assert_int_equal(log.runs.count, 2);
	assert_int_equal(log.refused_count, 0);
	const struct tdm_phase_run *run = &log.runs.runs[0];
	assert_string_equal(run->name, "tinyllama (memory_efficient)");
	assert_int_equal(run->line, 4);
	assert_int_equal(run->parameters, 969369600);
	assert_int_equal(run->device_memory_bytes, UINT64_C(12288) << 20);
	assert_int_equal(run->phase_count, 4);
	assert_string_equal(run->phases[3].name, "BACKWARD_PASS");
	assert_int_equal(run->phases[3].figures.dram_change, 1743855288); /* 1663.07 MB */
	assert_int_equal(run->overall_peak, 8680793702);
	assert_false(run->incomplete);
	assert_string_equal(log.runs.runs[1].name, "tinyllama (default)");
	assert_int_equal(log.runs.runs[1].phases[3].figures.dram_change, -8158833541);

	/* Printed again it is the same text. */
	tdm_buf_init(&text);
	for (size_t i = 0; i < 2; i++) {
		tdm_buf_clear(&text);
		tdm_phase_run_print(&log.runs.runs[i], &text);
		assert_non_null(strstr(file.data, text.data));
	}
	tdm_buf_done(&text);
	tdm_buf_done(&file);
	tdm_phases_input_done(&log);
}

static void colours_prefixes_and_crlf_are_passed_over(void **state)
{
	(void)state;
	struct tdm_phases_input log =
		parsed("2026-06-04 20:40:34.148 | info     |          Always | my run\r\n"
		       "[1,0]<stdout>:\033[90mnote\033[0m | =\033[1m== Memory Usage Summary ===\r\n"
		       "[1,0]<stdout>:--- \033[32mMODEL\033[0m ---\r\n"
		       "[1,0]<stdout>:  DRAM: Segment Peak 2.00 MB, Allocations 3.00 MB, Deallocations 1.00 MB, "
		       "Segment Change +2.00 MB\r\n"
		       "something else in between\r\n"
		       "[1,0]<stdout>:  DRAM: Cumulative Peak 2.00 MB, Cumulative Current 2.00 MB\r\n"
		       "[1,0]<stdout>:Overall DRAM Peak: 2.00 MB\r\n");
	assert_int_equal(log.runs.count, 1);
	assert_int_equal(log.refused_count, 0);
	assert_string_equal(log.runs.runs[0].name, "my run");
	assert_int_equal(log.runs.runs[0].phase_count, 1);
	assert_string_equal(log.runs.runs[0].phases[0].name, "MODEL");
	assert_int_equal(log.runs.runs[0].phases[0].figures.dram_allocated, 3 << 20);
	assert_int_equal(log.runs.runs[0].phases[0].figures.l1_peak_cb, TDM_PHASE_UNKNOWN);
	assert_int_equal(log.runs.runs[0].overall_peak, 2 << 20);
	assert_int_equal(log.runs.runs[0].final_current, 2 << 20); /* from the last phase */
	tdm_phases_input_done(&log);
}

static void facts_belong_to_the_nearest_summary(void **state)
{
	(void)state;
	struct tdm_buf text = { 0 };
	tdm_buf_puts(&text, "  params  1,000\n hyperparams 7\n  memory  2,048 MB\n# heading\n");
	for (int i = 0; i < 40; i++)
		tdm_buf_printf(&text, "step %d: loss 1.0 and more text to fill it\n", i);
	tdm_buf_puts(&text, BEGIN PHASE("A", "1.00", "+1.00", "1.00", "1.00") END("1.00", "1.00"));
	tdm_buf_puts(&text, "Total parameters: 5000\nAvailable Device Memory: 4096 MB\nsecond\n\n# no name\n");
	tdm_buf_puts(&text, BEGIN END("0.00", "0.00") BEGIN END("0.00", "0.00"));
	struct tdm_phases_input log = parsed(text.data);
	assert_int_equal(log.runs.count, 3);
	assert_string_equal(log.runs.runs[0].name, "step 39: loss 1.0 and more text to fill it");
	/* Nothing near: the first of the file; "Total parameters" is preferred to a row. */
	assert_int_equal(log.runs.runs[0].parameters, 5000);
	assert_int_equal(log.runs.runs[0].device_memory_bytes, UINT64_C(4096) << 20);
	assert_string_equal(log.runs.runs[1].name, "second");
	assert_int_equal(log.runs.runs[1].parameters, 5000);
	assert_string_equal(log.runs.runs[2].name, "summary 3");
	assert_int_equal(log.runs.runs[2].overall_peak, 0);
	tdm_phases_input_done(&log);
	tdm_buf_done(&text);
}

static void a_broken_summary_leaves_the_others(void **state)
{
	(void)state;
	struct tdm_phases_input log = parsed("one\n" BEGIN PHASE("A", "1.00", "+1.00", "1.00", "1.00") /* no end */
		"two\n" BEGIN PHASE("A", "1.00", "+1.00", "1.00",
			"1.00") "--- BROKEN ---\n  DRAM: Segment Peak 1.00 MB, Allocations lots MB, Deallocations 0.00 "
				"MB, Segment Change +1.00 MB\n"
				"--- EMPTY ---\n" END("3.00", "1.00") "three\n" BEGIN PHASE(
					"A", "9.00", "+9.00", "9.00", "9.00") END("9.00", "9.00"));
	assert_int_equal(log.runs.count, 3);
	assert_int_equal(log.refused_count, 3);
	assert_refused(&log, 0, 2, 1, "no end");
	assert_refused(&log, 1, 16, 43, "'Allocations' and a number of MB, got 'lots MB");
	assert_refused(&log, 2, 17, 1, "left out");
	assert_true(log.runs.runs[0].incomplete && log.runs.runs[0].peak_so_far);
	assert_int_equal(log.runs.runs[0].overall_peak, 1 << 20);
	assert_true(log.runs.runs[1].incomplete);
	assert_false(log.runs.runs[1].peak_so_far);
	assert_int_equal(log.runs.runs[1].phase_count, 1);
	assert_int_equal(log.runs.runs[1].overall_peak, 3 << 20);
	assert_false(log.runs.runs[2].incomplete);
	assert_string_equal(log.runs.runs[2].name, "three");
	tdm_phases_input_done(&log);
}

static void numbers_are_bounded(void **state)
{
	(void)state;
	struct tdm_phases_input log =
		parsed(BEGIN PHASE("A", "8796093022207.99", "-0.01", "99999999999999999999999999999999", "1.00")
				PHASE("B", "8796093022207.00", "-8796093022207.00", "1.00", "1.") END("1.00", "1.00"));
	assert_int_equal(log.runs.runs[0].phase_count, 1);
	assert_string_equal(log.runs.runs[0].phases[0].name, "B");
	assert_int_equal(log.runs.runs[0].phases[0].figures.dram_peak, INT64_C(8796093022207) << 20);
	assert_int_equal(log.runs.runs[0].phases[0].figures.dram_change, -(INT64_C(8796093022207) << 20));
	assert_refused(&log, 0, 5, 25, "Cumulative Peak");
	tdm_phases_input_done(&log);

	log = parsed(
		"Total parameters: 99999999999999999999999\nAvailable Device Memory: 0 MB\n" BEGIN END("1.00", "x"));
	assert_int_equal(log.runs.runs[0].parameters, 0);
	assert_int_equal(log.runs.runs[0].device_memory_bytes, TDM_BYTES_UNKNOWN);
	assert_int_equal(log.runs.runs[0].overall_peak, TDM_PHASE_UNKNOWN);
	assert_true(log.runs.runs[0].incomplete);
	tdm_phases_input_done(&log);
}

static void names_are_what_stands_between(void **state)
{
	(void)state;
	static const char text[] = BEGIN PHASE("A --- B", "1.00", "+1.00", "1.00", "1.00") PHASE(
		"", "1.00", "+1.00", "1.00", "1.00") PHASE("x\0y", "1.00", "+1.00", "1.00", "1.00") END("1.00", "1.00");
	struct tdm_phases_input log = parsed_text((struct tdm_str){ text, sizeof text - 1 });
	assert_int_equal(log.runs.runs[0].phase_count, 3);
	assert_string_equal(log.runs.runs[0].phases[0].name, "A --- B");
	assert_string_equal(log.runs.runs[0].phases[1].name, "");
	assert_string_equal(log.runs.runs[0].phases[2].name, "x?y");
	tdm_phases_input_done(&log);
}

static void nothing_is_no_run(void **state)
{
	(void)state;
	static const char *const texts[] = { "", "\n", "Overall DRAM Peak: 1.00 MB\n--- A ---\n", "\033[", "\033" };
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct tdm_phases_input log = parsed(texts[i]);
		assert_int_equal(log.runs.count, 0);
		assert_int_equal(log.refused_count, 0);
		tdm_phases_input_done(&log);
	}
}

/* Many lines of everything take a time that grows as the file does. */
static void many_runs_and_facts(void **state)
{
	(void)state;
	struct tdm_buf text = { 0 };
	for (int i = 0; i < 9000; i++)
		tdm_buf_puts(&text, "params 5\nmemory 6 MB\nparams 7\n" BEGIN "--- A\n--- B ---\n");
	struct tdm_phases_input log = parsed(text.data);
	assert_int_equal(log.runs.count, 9000);
	assert_int_equal(log.refused_count, 18000);
	assert_int_equal(log.runs.runs[0].parameters, 5);
	tdm_phases_input_done(&log);
	tdm_buf_done(&text);
}

static void more_than_there_is_room_for_is_left_out_and_said(void **state)
{
	(void)state;
	struct tdm_buf text = { 0 };
	for (int i = 0; i < RUNS_MAX + 2; i++)
		tdm_buf_puts(&text, "a\n" BEGIN PHASE("A", "1.00", "+1.00", "1.00", "1.00") END("1.00", "1.00"));
	struct tdm_phases_input log = parsed(text.data);
	assert_int_equal(log.runs.count, RUNS_MAX);
	assert_int_equal(log.refused_count, 2);
	assert_non_null(strstr(log.refused[0].text, "one summary too many"));
	tdm_phases_input_done(&log);

	tdm_buf_clear(&text);
	tdm_buf_puts(&text, BEGIN);
	for (int i = 0; i < TDM_PHASES_MAX + 1; i++)
		tdm_buf_puts(&text, PHASE("A", "1.00", "+0.00", "1.00", "0.00"));
	tdm_buf_puts(
		&text, END("1.00", "0.00") "b\n" BEGIN PHASE("A", "1.00", "+1.00", "1.00", "1.00") END("1.00", "1.00"));
	log = parsed(text.data);
	assert_int_equal(log.runs.count, 2);
	assert_int_equal(log.runs.runs[0].phase_count, TDM_PHASES_MAX);
	assert_true(log.runs.runs[0].incomplete && !log.runs.runs[1].incomplete);
	assert_int_equal(log.refused_count, 1);
	assert_non_null(strstr(log.refused[0].text, "one phase too many"));
	tdm_phases_input_done(&log);
	tdm_buf_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_documented_runs_are_read),
		cmocka_unit_test(colours_prefixes_and_crlf_are_passed_over),
		cmocka_unit_test(facts_belong_to_the_nearest_summary),
		cmocka_unit_test(a_broken_summary_leaves_the_others),
		cmocka_unit_test(numbers_are_bounded),
		cmocka_unit_test(names_are_what_stands_between),
		cmocka_unit_test(nothing_is_no_run),
		cmocka_unit_test(many_runs_and_facts),
		cmocka_unit_test(more_than_there_is_room_for_is_left_out_and_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
