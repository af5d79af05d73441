/* The profile of logs: sums, peaks, pressure, the timeline, and its limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/file.h"
#include "open_input.h"
#include "analyze/log/log_profile.h"
#include "input/log/log_reader.h"

#include <math.h>

static struct tdm_log_profile p;
static struct tdm_log_reader reader;

static int set_up(void **state)
{
	(void)state;
	p = (struct tdm_log_profile){ 0 };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	tdm_log_profile_done(&p);
	return 0;
}

static void add_text(const char *text, size_t len)
{
	struct tdm_log_record r;
	uint32_t file = tdm_log_profile_add_file(&p, "text");
	struct tdm_input *input = input_of_text(text, len);
	tdm_log_reader_open(&reader, input);
	while (tdm_log_reader_next(&reader, &r, NULL) == 1) {
		r.file = file;
		tdm_log_profile_add(&p, &r);
	}
	p.files[file].counts.lines = reader.scan.lines;
	tdm_log_reader_done(&reader);
	tdm_input_close(input);
}

static void add(const char *text)
{
	add_text(text, strlen(text));
}

#define SHM(verb, pid, type, size)                                                                          \
	"SHM record_" verb ": pid=" pid ", type=" type ", size=" size " B (0 KB), chip_id=0, device_id=0, " \
	"asic_id=0x0\n"

static void amounts_peak_and_never_wrap(void **state)
{
	(void)state;
	add(SHM("allocation", "1", "DRAM", "100") SHM("allocation", "2", "DRAM", "7") SHM("allocation", "1", "DRAM",
		"50") SHM("deallocation", "1", "DRAM", "100") SHM("deallocation", "1", "DRAM", "60"));
	const struct tdm_log_amount *a = p.amounts.rows;
	assert_int_equal(p.amounts.count, 2); /* two processes are two rows */
	assert_true(
		a[0].pid == 1 && a[0].allocs == 2 && a[0].frees == 2 && a[0].peak_bytes == 150 && a[0].peak_line == 3);
	assert_true(a[0].bytes == 0 && a[0].unmatched == 1 && a[0].alloc_bytes == 150);
	assert_true(a[1].pid == 2 && a[1].bytes == 7);
}

/* A server frees what the log did not show being allocated: it stands in the table. */
static void frees_without_an_allocation_are_shown(void **state)
{
	(void)state;
	add("[PID 5] Allocated 64 bytes of DRAM on device 0 (buffer_id=12)\n"
	    "[PID 5] Freed buffer 12 on device 0 (64 bytes, FINAL)\n"
	    "[PID 6] Freed buffer 99 on device 1 (10 bytes, FINAL)\n");
	const struct tdm_log_amount *a = p.amounts.rows;
	assert_int_equal(p.amounts.count, 2);
	assert_true(a[0].pid == 5 && a[0].frees == 1 && a[0].unmatched == 0);
	assert_true(a[1].pid == 6 && a[1].device == 1 && a[1].kind == TDM_KIND_COUNT && a[1].allocs == 0);
	assert_true(a[1].frees == 1 && a[1].unmatched == 1 && a[1].bytes == 0);
	assert_true(p.untracked == 0);
}

/* What the server removed of a process that died is not there at the end; others keep theirs. */
static void a_process_that_died_holds_nothing(void **state)
{
	(void)state;
	add("[PID 5] Allocated 64 bytes of DRAM on device 0 (buffer_id=12)\n"
	    "[PID 5] Allocated 32 bytes of L1 on device 1 (buffer_id=13)\n"
	    "[PID 6] Allocated 16 bytes of DRAM on device 0 (buffer_id=14)\n"
	    "[CB_ALLOC] Device 0: +1 MB (Total: 1 MB)\n"
	    "   Removed 2 buffers (0.0001 MB) from PID 5\n"
	    "[PID 7] Allocated 8 bytes of DRAM on device 0 (buffer_id=12)\n"
	    "[PID 7] Freed buffer 12 on device 0 (8 bytes, FINAL)\n");
	const struct tdm_log_amount *a = p.amounts.rows;
	assert_int_equal(p.amounts.count, 5);
	assert_true(a[0].pid == 5 && a[0].bytes == 0 && a[0].peak_bytes == 64 && a[0].frees == 0);
	assert_true(a[1].pid == 5 && a[1].bytes == 0 && a[1].peak_bytes == 32);
	assert_true(a[2].pid == 6 && a[2].bytes == 16 && a[3].bytes == 1 << 20);
	assert_true(a[4].pid == 7 && a[4].bytes == 0 && a[4].frees == 1 && a[4].unmatched == 0);
	assert_true(p.live_dram == 16 && p.live_l1 == 0);
}

/* Keys are hashes, and can be made: this kernel has the key of the second operation. It is dropped, and counted. */
static void a_name_with_the_key_of_another_table(void **state)
{
	(void)state;
	add("Begin op: first\nBegin op: op0\n"
	    "RISC=1, name=\xcd\x0c\xc8"
	    "8c\xc6\x01\xbf, size=100 (bytes)\n"
	    "RISC=1, name=reader, size=7 (bytes)\n");
	const struct tdm_log_work *k = p.kernels.rows;
	assert_int_equal(p.kernels.dropped, 1);
	assert_int_equal(p.kernels.count, 1);
	assert_true(k[0].bytes == 7);
}

#define STATE(rank, allocated)                                                                             \
	"[1," rank "]<stdout>: Always | INFO | Device L1 memory state: MemoryView{numBanks: 64, "          \
	"totalBytesPerBank: 1 MB, totalBytesAllocatedPerBank: " allocated " MB, totalBytesFreePerBank: 0 " \
	"MB, largestContiguousBytesFreePerBank: 0 MB}\n"
#define MOMENT(rank, of) "[1," rank "]<stdout>: Always | INFO | Device memory state " of "\n"

/* The moment of a memory state is that of its own rank, whether it is an operation or not. */
static void memory_states_belong_to_their_moment(void **state)
{
	(void)state;
	add(MOMENT("0", "before operation AddOp") MOMENT("1", "before operation MulOp") STATE("0", "0.5")
			STATE("1", "0.5") MOMENT("0", "after submit") STATE("0", "0.75"));
	const struct tdm_log_state *s = p.states.rows;
	assert_int_equal(p.states.count, 2);
	assert_true(s[0].rank == 0 && s[0].count == 2 && s[0].peak.allocated == 3 << 18);
	assert_string_equal(s[0].peak_op, "after submit");
	assert_string_equal(s[1].peak_op, "MulOp");
	assert_int_equal(p.ops.count, 2); /* a moment is no operation */
}

static void failures_are_counted_once(void **state)
{
	struct tdm_buf text;
	(void)state;
	tdm_buf_init(&text);
	assert_int_equal(tdm_file_read(TDM_TEST_DATA "/logs/demo.log", 1 << 20, &text), 0);
	add_text(text.data, text.len);
	assert_int_equal(p.failure_count, 3);
	assert_int_equal(p.failures.count, 3);
	assert_int_equal(p.by_type[TDM_FAILURE_OUT_OF_MEMORY], 2);
	assert_int_equal(p.by_type[TDM_FAILURE_BEYOND_L1], 1);
	assert_int_equal(p.found.count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(tdm_finding_number(&p.found, &p.found.list[i], "places"), 2);
	tdm_buf_done(&text);
}

static void more_failures_than_the_table_has(void **state)
{
	struct tdm_buf text;
	(void)state;
	tdm_buf_init(&text);
	for (int i = 0; i < 1500; i++)
		tdm_buf_printf(&text, "Worker L1 size %d is larger than max size 5\n", i + 10);
	add_text(text.data, text.len);
	assert_int_equal(p.failure_count, 1500);
	assert_int_equal(p.failures.count, 1000);
	assert_int_equal(p.failures.dropped, 500);
	tdm_buf_done(&text);
}

/* Of a sentence that is as long as a line may be only the beginning is kept, and it shows. */
static void the_text_of_a_failure_is_bounded(void **state)
{
	struct tdm_buf text;
	(void)state;
	tdm_buf_init(&text);
	tdm_buf_puts(&text, "Worker L1 size ");
	tdm_buf_fill(&text, '9', 100000);
	tdm_buf_puts(&text, " is larger than max size 5\n");
	add_text(text.data, text.len);
	assert_int_equal(p.found.count, 1);
	const char *kept = tdm_finding_word(&p.found, &p.found.list[0], "text");
	assert_int_equal(strlen(kept), 16384);
	assert_string_equal(kept + 16384 - 4, "9...");
	tdm_buf_done(&text);
}

/* A size that fits no number is unknown, not none. */
static void sizes_of_programs_that_are_unknown(void **state)
{
	(void)state;
	add("Program Config of a: 99999999999999999999 bytes\n"
	    "Program Config of b: 99999999999999999999 bytes\n"
	    "Program Config of b: 0 bytes\n"
	    "Program Config of c: 7 bytes\n"
	    "Program Config of c: 99999999999999999999 bytes\n");
	const struct tdm_log_work *rows = p.programs.rows;
	assert_int_equal(p.programs.count, 3);
	assert_true(rows[0].bytes == TDM_LOG_UNKNOWN && rows[0].starts == 1);
	assert_true(rows[1].bytes == 0 && rows[2].bytes == 7);
}

static struct tdm_findings pressure_of(uint32_t file)
{
	struct tdm_findings found = { 0 };
	tdm_log_profile_pressure(&p, file, &found);
	assert_int_equal(found.count, TDM_PRESSURE_COUNT);
	return found;
}

static double value_of(const struct tdm_findings *found, enum tdm_pressure indicator)
{
	return tdm_finding_real(found, &found->list[indicator], found->list[indicator].what);
}

static bool is_about(double value, double wanted)
{
	return fabs(value - wanted) < 1e-9;
}

static void circular_buffers_fill_and_drain(void **state)
{
	(void)state;
	add("CB1 allocated: 4 tiles, size=16384\n"
	    "0:(x=1,y=1):NC: cb_push_back(1, 2)\n"
	    "0:(x=2,y=1):NC: cb_push_back(1, 3)\n" /* another core: its tiles are not added */
	    "0:(x=1,y=1):TR0: cb_pop_front(1, 2)\n"
	    "0:(x=1,y=1):NC: cb_push_back(1, 2)\n"
	    "cb_reserve_back(1, 1) waited 0 us\ncb_wait_front(1, 1) waited 7 us\n");
	const struct tdm_log_cb *cb = p.cbs.rows;
	assert_int_equal(p.cbs.count, 1);
	assert_true(cb->pushes == 3 && cb->pushed_tiles == 7 && cb->pops == 1 && cb->popped_tiles == 2);
	assert_int_equal(cb->peak_fill, 3);
	assert_true(cb->reserves == 1 && cb->waits == 1 && cb->timed == 2 && cb->stalls == 1 &&
		    cb->longest_stall_ns == 7000);
	struct tdm_findings s = pressure_of(0);
	assert_true(is_about(value_of(&s, TDM_PRESSURE_UTILIZATION), 0.75));
	assert_true(is_about(value_of(&s, TDM_PRESSURE_STALLS), 0.5));
	assert_true(isnan(value_of(&s, TDM_PRESSURE_MISS)) && isnan(value_of(&s, TDM_PRESSURE_L1)));
	assert_true(is_about(value_of(&s, TDM_PRESSURE_SCORE), 50));
	assert_int_equal(tdm_finding_number(&s, &s.list[TDM_PRESSURE_L1], "cb_bytes_per_core"), 16384);
	tdm_findings_done(&s);
}

/* The example of the guide: 16 tiles of B, four in CB1. */
static void pressure_of_the_customer_and_of_the_repaired_run(void **state)
{
	(void)state;
	add("DEBUG: num_tiles=16, mesh_devices=2, tiles_per_shard=8\nCB1 allocated: 4 tiles\n");
	add("KERNEL START: n_tiles=16, r_tiles=16\nCB1 allocated: 16 tiles\n");
	add("num_tiles=16\nCB0 allocated: 4 tiles\n");
	static const struct {
		double miss, score;
		bool is_assumed;
		enum tdm_severity miss_band, score_band;
	} wanted[] = {
		{ 0.75, 75, true, TDM_FINDING_WARNING, TDM_FINDING_BROKEN },
		{ 0, 0, false, TDM_FINDING_OK, TDM_FINDING_OK },
		{ NAN, NAN, false, TDM_FINDING_INFO, TDM_FINDING_INFO },
	};
	for (uint32_t i = 0; i < 3; i++) {
		struct tdm_findings s = pressure_of(i);
		double miss = value_of(&s, TDM_PRESSURE_MISS), score = value_of(&s, TDM_PRESSURE_SCORE);
		assert_true(isnan(wanted[i].miss) ? isnan(miss) : is_about(miss, wanted[i].miss));
		assert_true(isnan(wanted[i].score) ? isnan(score) : is_about(score, wanted[i].score));
		assert_int_equal(
			tdm_finding_number(&s, &s.list[TDM_PRESSURE_MISS], "b_tiles_assumed"), wanted[i].is_assumed);
		assert_int_equal(s.list[TDM_PRESSURE_MISS].severity, wanted[i].miss_band);
		assert_int_equal(s.list[TDM_PRESSURE_SCORE].severity, wanted[i].score_band);
		tdm_findings_done(&s);
	}
}

static void bands_at_their_edges(void **state)
{
	(void)state;
	assert_int_equal(tdm_pressure_band(TDM_PRESSURE_MISS, 0.2499), TDM_FINDING_OK);
	assert_int_equal(tdm_pressure_band(TDM_PRESSURE_MISS, 0.25), TDM_FINDING_WARNING);
	assert_int_equal(tdm_pressure_band(TDM_PRESSURE_MISS, 0.7501), TDM_FINDING_BROKEN);
	assert_int_equal(tdm_pressure_band(TDM_PRESSURE_SCORE, 29.9), TDM_FINDING_OK);
	assert_int_equal(tdm_pressure_band(TDM_PRESSURE_SCORE, 30), TDM_FINDING_WARNING);
	assert_int_equal(tdm_pressure_band(TDM_PRESSURE_SCORE, 70), TDM_FINDING_WARNING);
	assert_int_equal(tdm_pressure_band(TDM_PRESSURE_SCORE, 70.1), TDM_FINDING_BROKEN);
	assert_int_equal(tdm_pressure_band(TDM_PRESSURE_UTILIZATION, 0.81), TDM_FINDING_OK);
	assert_int_equal(tdm_pressure_band(TDM_PRESSURE_UTILIZATION, 0.4), TDM_FINDING_WARNING);
	assert_int_equal(tdm_pressure_band(TDM_PRESSURE_UTILIZATION, 0.39), TDM_FINDING_BROKEN);
	assert_int_equal(tdm_pressure_band(TDM_PRESSURE_UTILIZATION, (double)NAN), TDM_FINDING_INFO);
}

static void kernels_take_the_time_between_their_lines(void **state)
{
	(void)state;
	add("2026-01-01 00:00:00.000 | debug | Test | reader kernel started\n"
	    "2026-01-01 00:00:00.250 | debug | Test | reader kernel finished\n"
	    "writer kernel started\nwriter kernel finished\n"
	    "Begin op: a\nEnd op: a (duration: 5 ns)\nBegin op: a\nEnd op: a (duration: 9 ns)\n");
	const struct tdm_log_work *k = p.kernels.rows;
	assert_int_equal(p.kernels.count, 2);
	assert_true(k[0].starts == 1 && k[0].ends == 1 && k[0].timed == 1 && k[0].total_ns == 250000000);
	assert_int_equal(k[1].timed, 0);
	const struct tdm_log_work *op = p.ops.rows;
	assert_true(p.ops.count == 1 && op->starts == 2 && op->total_ns == 14 && op->longest_ns == 9);
}

static void the_timeline_widens(void **state)
{
	struct tdm_buf text;
	uint64_t sum = 0;
	(void)state;
	tdm_buf_init(&text);
	for (int i = 0; i < 24 * 60; i++)
		tdm_buf_printf(&text,
			"2026-01-01 %02d:%02d:00.000 | info | Metal | " SHM("allocation", "1", "DRAM", "10"), i / 60,
			i % 60);
	add_text(text.data, text.len);
	const struct tdm_log_timeline *t = &p.timeline;
	assert_true(t->used && !t->by_line && t->slots <= TDM_LOG_SLOTS && t->slots > TDM_LOG_SLOTS / 2);
	for (size_t i = 0; i < t->slots; i++) {
		sum += t->at[i][TDM_LOG_ROW_MEMORY];
		assert_true(
			i == 0 || t->at[i][TDM_LOG_ROW_DRAM] >= t->at[i - 1][TDM_LOG_ROW_DRAM]); /* nothing was freed */
	}
	assert_int_equal(sum, 24 * 60);
	assert_int_equal(t->at[t->slots - 1][TDM_LOG_ROW_DRAM], ((const struct tdm_log_amount *)p.amounts.rows)->bytes);
	tdm_buf_done(&text);
}

static void files_have_kinds(void **state)
{
	(void)state;
	add("cb_push_back(1, 1)\n");
	add("✓ [PID 1] Allocated 5 bytes of L1 on device 0 (buffer_id=1)\n");
	add("nothing\n");
	assert_string_equal(
		tdm_log_file_kind(&p.files[0]), "debug log of a program that prints its circular buffers or kernels");
	assert_string_equal(tdm_log_file_kind(&p.files[1]), "log of an allocation server");
	assert_string_equal(tdm_log_file_kind(&p.files[2]), "text without lines of the runtime's logger");
	assert_null(tdm_log_file_lacks(&p.files[0]));
	p.files[2].counts.logger_lines = 1;
	assert_non_null(tdm_log_file_lacks(&p.files[2]));
	for (int i = 3; i < 200; i++)
		assert_int_equal(tdm_log_profile_add_file(&p, "more"), i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(amounts_peak_and_never_wrap, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_name_with_the_key_of_another_table, set_up, tear_down),
		cmocka_unit_test_setup_teardown(memory_states_belong_to_their_moment, set_up, tear_down),
		cmocka_unit_test_setup_teardown(frees_without_an_allocation_are_shown, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_process_that_died_holds_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(failures_are_counted_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(more_failures_than_the_table_has, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_text_of_a_failure_is_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sizes_of_programs_that_are_unknown, set_up, tear_down),
		cmocka_unit_test_setup_teardown(circular_buffers_fill_and_drain, set_up, tear_down),
		cmocka_unit_test_setup_teardown(pressure_of_the_customer_and_of_the_repaired_run, set_up, tear_down),
		cmocka_unit_test(bands_at_their_edges),
		cmocka_unit_test_setup_teardown(kernels_take_the_time_between_their_lines, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_timeline_widens, set_up, tear_down),
		cmocka_unit_test_setup_teardown(files_have_kinds, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
