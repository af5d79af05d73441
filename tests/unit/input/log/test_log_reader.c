/* Records of logs: prefixes, sentences that were folded, golden logs, and files that go wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/file.h"
#include "input/log/log_reader.h"
#include "log_records.h"

static void prefixes(void **state)
{
	struct tdm_log_prefix p;
	(void)state;
	tdm_log_prefix_parse(
		tdm_str_of("2026-11-15 07:36:20.265 | critical |          Always | TT_FATAL: x (y) (assert.hpp:104)"),
		&p);
	assert_true(p.is_logger && p.level == TDM_LOG_LEVEL_CRITICAL);
	assert_true(tdm_str_is(p.message, "TT_FATAL: x (y)"));
	assert_true(p.time_ns == UINT64_C(1794728180265) * 1000000);
	tdm_log_prefix_parse(tdm_str_of("[1,3]<stdout>:                 Always |     INFO | text (no place)"), &p);
	assert_true(p.is_logger && p.level == TDM_LOG_LEVEL_INFO && p.rank == 3 && p.time_ns == 0);
	assert_true(tdm_str_is(p.message, "text (no place)"));
	tdm_log_prefix_parse(tdm_str_of("2026-01-31T12:00:00.1234567Z 2024-02-29 23:59:59.999 | warn | Metal | m"), &p);
	assert_true(p.level == TDM_LOG_LEVEL_WARNING && p.time_ns == UINT64_C(1709251199999) * 1000000);
	tdm_log_prefix_parse(tdm_str_of("2026-01-31T12:00:00.1234567Z plain text"), &p);
	assert_true(!p.is_logger && p.time_ns == UINT64_C(1769860800123456700) && tdm_str_is(p.message, "plain text"));
	tdm_log_prefix_parse(tdm_str_of("0:(x=1,y=2):TR0: COMPUTE KERNEL COMPLETE"), &p);
	assert_true(p.has_core && p.device == 0 && p.core.x0 == 1 && p.core.y1 == 2);
	assert_true(tdm_str_is(p.message, "COMPUTE KERNEL COMPLETE"));
	/* After the words that a journal, a container or a script puts before each line. */
	tdm_log_prefix_parse(
		tdm_str_of("Nov 15 07:36:20 host python3[42]: 2026-11-15 07:36:20.265 | info     |           Metal | "
			   "m (x.cpp:1)"),
		&p);
	assert_true(p.is_logger && p.level == TDM_LOG_LEVEL_INFO);
	assert_true(tdm_str_is(p.message, "m") && p.time_ns == UINT64_C(1794728180265) * 1000000);
	tdm_log_prefix_parse(tdm_str_of("[1,3]<stdout>:worker-1  | 2026-11-15 07:36:20.265 | info | Metal | text"), &p);
	assert_true(p.is_logger && p.rank == 3 && tdm_str_is(p.message, "text"));
	tdm_log_prefix_parse(tdm_str_of("since 2026-11-15 07:36:20.265 | nothing | was said |"), &p);
	assert_true(!p.is_logger && p.time_ns == 0);
	static const char *const none[] = { "", " ", "2026-13-01 00:00:00", "2026-01-01 24:00:00",
		"1969-01-01 00:00:00", "a | b | c", "2026-11-15" };
	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		tdm_log_prefix_parse(tdm_str_of(none[i]), &p);
		assert_true(p.time_ns == 0 && !p.is_logger && tdm_str_is(p.message, none[i]));
	}
}

static void colours(void **state)
{
	char text[] = "\033[90m2026\033[0m\033[1;31mx\033[?25ly\033";
	size_t len = tdm_log_strip_colour(text, sizeof text - 1);
	(void)state;
	assert_true(tdm_str_is((struct tdm_str){ text, len }, "2026xy\033"));
	struct tdm_log_record r = one(
		"\033[90m2026-11-15 07:37:02.392\033[0m | \033[32minfo    \033[0m | \033[35m          Metal\033[0m | "
		"\033[37mSHM record_allocation: pid=7, type=DRAM, size=64 B (0 KB), chip_id=0, device_id=3, "
		"asic_id=0x0\033[0m \033[90m(memory_stats_shm.cpp:315)\033[0m\r\n");
	assert_int_equal(r.type, TDM_LOG_ALLOC);
	assert_true(r.pid == 7 && r.device == 3 && r.bytes == 64 && r.level == TDM_LOG_LEVEL_INFO && r.time_ns != 0);
}

/* Folds a text after `width` bytes, or at the last blank before. */
static void fold(const char *text, size_t width, bool at_blank, char *dst, size_t cap)
{
	size_t put = 0, len = strlen(text);
	while (len > width) {
		size_t cut = width;
		while (at_blank && cut > 1 && text[cut] != ' ')
			cut--;
		assert_true(put + cut + 1 < cap);
		memcpy(dst + put, text, cut);
		put += cut;
		dst[put++] = '\n';
		cut += at_blank;
		text += cut;
		len -= cut;
	}
	assert_true((size_t)snprintf(dst + put, cap - put, "%s\n", text) < cap - put);
}

static void folded_sentences(void **state)
{
	static const struct {
		const char *text;
		uint8_t type;
		uint64_t asked, free, end;
	} said[] = {
		{ "Out of Memory: Not enough space to allocate 1048576 B L1 buffer across 64 banks, where each bank "
		  "needs to store 16384 B, but bank size is 1393472 B (allocated: 1000 B, free: 2000 B, largest free "
		  "block: 1500 B)",
			TDM_FAILURE_OUT_OF_MEMORY, 1048576, 2000, U },
		{ "Statically allocated circular buffers in program 1 clash with L1 buffers on core range [0-0 - 7-7]. "
		  "L1 buffer allocated at 491520 and static circular buffer region ends at 778240",
			TDM_FAILURE_CLASH, U, U, 778240 },
		{ "Program size (80000) too large for kernel config buffer (70656) on TENSIX", TDM_FAILURE_PROGRAM_SIZE,
			80000, U, U },
	};
	(void)state;
	for (size_t i = 0; i < sizeof said / sizeof *said; i++)
		for (int at_blank = 0; at_blank < 2; at_blank++) {
			char line[1024], text[2048];
			snprintf(line, sizeof line,
				"2026-11-15 07:36:20.265 | critical |          Always | TT_FATAL: %s (assert.hpp:104)",
				said[i].text);
			fold(line, 80, at_blank, text, sizeof text);
			strcat(text, "2026-11-15 07:36:20.265 | info     |          Always | on\n");
			struct records r = read_text(text, strlen(text));
			const struct tdm_failure *f = &r.at[0].failure;
			if (r.count - r.repeats != 1 || f->type != said[i].type || f->asked != said[i].asked ||
				f->free != said[i].free || f->region_end != said[i].end || r.at[0].time_ns == 0)
				fail_msg("%zu of %zu: %s", r.count - r.repeats, r.count, text);
			tdm_log_reader_done(&reader);
		}
}

/* Every figure counts when two readings of a sentence are compared: the longer one says the placeable bytes as well. */
static void a_folded_sentence_keeps_all_figures(void **state)
{
	static const char text[] =
		"Out of Memory: Not enough space after considering dependencies to allocate 4096 B L1 across 64 banks "
		"(64 B per bank), bank size is 9999 B (allocated: 7 B, free: 300 B, largest free block: 200 B). After\n"
		"subtracting 1 dependency range(s) and 2 additional occupied range(s), 192 B remained placeable across "
		"3 window(s), largest 96 B\n";
	struct records r = read_text(text, sizeof text - 1);
	(void)state;
	assert_int_equal(r.count - r.repeats, 1);
	assert_true(r.at[0].failure.type == TDM_FAILURE_DEPENDENCIES && r.at[0].failure.largest_free == 200);
	assert_true(r.at[0].failure.placeable == 192 && r.at[0].failure.largest_placeable == 96);
}

/* The next line is not taken for the rest of a whole sentence. */
static void whole_sentences_are_not_joined(void **state)
{
	static const char text[] = "Out of Memory: Not enough space to allocate 4096 B L1 buffer across 64 banks, "
				   "where each bank needs to "
				   "store 64 B\n12 tests failed\n"
				   "Worker L1 size 1500000 is larger than max size 149\n9136 of them\n"
				   "Worker L1 size 1500000 is larger than max size 5\n14 A tiles, 15 B tiles\n";
	struct records r = read_text(text, sizeof text - 1);
	(void)state;
	assert_int_equal(r.count, 4);
	assert_true(r.at[2].failure.limit == 5 && r.at[3].type == TDM_LOG_TILES && r.at[3].b_tiles == 15);
	assert_true(r.at[0].failure.bytes_per_bank == 64 && r.at[0].failure.bank_size == U);
	assert_true(r.at[1].failure.limit == 149);
}

#define CLASH_BEGIN "clash with L1 buffers on core range [0-0 - 7-7]. L1 buffer\n"
#define CLASH_END   "allocated at 491520 and static circular buffer region ends at 778240\n"

/* Found where it begins, and once, whichever of its lines have words that are looked for. */
static void a_folded_sentence_is_one_record(void **state)
{
	static const char *const texts[] = {
		"Statically allocated circular buffers in program 1 " CLASH_BEGIN CLASH_END,
		"Statically allocated circular\nbuffers in program 1 " CLASH_BEGIN CLASH_END,
		"[1,0]<stderr>:Statically allocated circular buffers in program 1 " CLASH_BEGIN CLASH_END,
		"[1,0]<stderr>:Statically allocated circular buffers in program 1 " CLASH_BEGIN
		"[1,0]<stderr>:" CLASH_END,
		"[1,0]<stderr>:Statically allocated\ncircular buffers in program 1 " CLASH_BEGIN CLASH_END,
	};
	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct records r = read_text(texts[i], strlen(texts[i]));
		if (r.count != 1 || r.at[0].failure.type != TDM_FAILURE_CLASH || r.at[0].failure.region_end != 778240 ||
			r.at[0].rank != (i < 2 ? TDM_LOG_NO_RANK : 0))
			fail_msg("%zu records: %s", r.count, texts[i]);
		tdm_log_reader_done(&reader);
	}
}

/* Ranks print in turns: what another one says is not the rest of a sentence; nor is what follows a long line. */
static void lines_of_others_are_not_joined(void **state)
{
	static const char text[] =
		"[1,0]<stderr>:Out of Memory: Not enough space to allocate 4096 B L1 buffer across 64 banks, where "
		"each bank needs to store 64 B\n[1,1]<stderr>:, but bank size is 99 B\n"
		"[1,1]<stderr>:Statically allocated circular buffers in program 1 " CLASH_BEGIN
		"[1,2]<stderr>:" CLASH_END;
	struct records r = read_text(text, sizeof text - 1);
	(void)state;
	assert_int_equal(r.count, 1);
	assert_true(r.at[0].rank == 0 && r.at[0].failure.bytes_per_bank == 64 && r.at[0].failure.bank_size == U);
	tdm_log_reader_done(&reader);
	static const char begin[] = "Out of Memory: Not enough space to allocate ", end[] = "4096 B L1 buffer\n";
	struct tdm_buf wide = { 0 };
	tdm_buf_fill(&wide, '.', 512 - (sizeof begin - 1)); /* as if it ended where it is cut */
	tdm_buf_puts(&wide, begin);
	tdm_buf_puts(&wide, "no more\n");
	tdm_buf_puts(&wide, end);
	r = read_text(wide.data, wide.len);
	assert_true(r.count == 1 && r.at[0].failure.type == TDM_FAILURE_OTHER);
	tdm_buf_done(&wide);
}

/* The name in the summary of a test, where line breaks are written out. */
static void a_segment_in_the_summary_of_a_test(void **state)
{
	static const char text[] =
		"2026-11-15 07:36:20.265 | critical |          Always | TT_FATAL: /c/brisc.elf: segment[0] "
		"[0x1000,+0x2000) overflows region:3 limit of 0x1c00 bytes, reduce the size of code (a.hpp:1)\n"
		"FAILED test.py::t - RuntimeError: TT_FATAL @ a.cpp:1: false\\ninfo:\\n/c/brisc.elf: segment[0] "
		"[0x1000,+0x2000) overflows region:3 limit of 0x1c00 bytes, reduce the size of code\\nbacktrace:\n";
	struct records r = read_text(text, sizeof text - 1);
	(void)state;
	assert_int_equal(r.count, 2);
	assert_int_equal(r.repeats, 1);
	assert_true(tdm_str_is(r.at[1].failure.name, "/c/brisc.elf"));
}

static struct records read_golden(const char *name, struct tdm_buf *text)
{
	char path[512];
	snprintf(path, sizeof path, TDM_TEST_DATA "/logs/%s", name);
	tdm_buf_init(text);
	assert_int_equal(tdm_file_read(path, 1 << 20, text), 0);
	return read_text(text->data, text->len);
}

/* Each failure is in these logs twice. */
static void golden_logs(void **state)
{
	static const uint8_t types[] = { TDM_FAILURE_OUT_OF_MEMORY, TDM_FAILURE_OUT_OF_MEMORY, TDM_FAILURE_BEYOND_L1 };
	static const uint64_t lines[] = { 31, 33, 35 };
	struct tdm_buf text;
	struct records r = read_golden("demo.log", &text);
	(void)state;
	assert_int_equal(r.count, 6);
	assert_int_equal(r.repeats, 3);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(r.at[i].failure.type, types[i / 2]);
		assert_int_equal(r.at[i].line, lines[i / 2] + i % 2);
		assert_int_equal(r.at[i].is_repeat, i % 2);
		assert_int_equal(r.at[i].time_is_near, i % 2);
	}
	assert_true(r.at[1].time_ns == r.at[0].time_ns && r.at[0].time_ns != 0);
	assert_true(
		reader.counts.sample_lines == 50 && reader.counts.logger_lines == 28 && reader.counts.debug_lines == 0);
	tdm_log_reader_done(&reader);
	tdm_buf_done(&text);
	r = read_golden("debug.log", &text);
	size_t allocs = 0, frees = 0, failures = 0, geometries = 0;
	for (size_t i = 0; i < r.count; i++) {
		allocs += r.at[i].type == TDM_LOG_ALLOC;
		frees += r.at[i].type == TDM_LOG_FREE;
		failures += r.at[i].type == TDM_LOG_FAILURE && !r.at[i].is_repeat;
		geometries += r.at[i].type == TDM_LOG_GEOMETRY;
	}
	assert_true(allocs == 2 && frees == 2 && failures == 1 && geometries == 6 && r.count == 12);
	assert_true(reader.counts.debug_lines > 20);
	tdm_buf_done(&text);
}

static void a_server_log_with_its_list(void **state)
{
	struct tdm_buf text;
	struct records r = read_golden("server.log", &text);
	(void)state;
	assert_int_equal(r.count, 8);
	assert_int_equal(r.at[7].type, TDM_LOG_REMAINING);
	assert_true(
		r.at[7].device == 1 && r.at[7].kind == TDM_KIND_DRAM && r.at[7].count == 1 && r.at[7].bytes == 12288);
	assert_false(reader.dump.inside);
	tdm_buf_done(&text);
}

/* A list that never ends must not make the reader look at every line for ever. */
static void a_list_without_an_end(void **state)
{
	struct tdm_buf text;
	(void)state;
	tdm_buf_init(&text);
	tdm_buf_puts(&text, "REMAINING ALLOCATED BUFFERS\nDevice 0:\n  L1: 2 buffers, 1.5 MB total\n");
	for (int i = 0; i < 20; i++)
		tdm_buf_puts(&text, "something else\n");
	struct records r = read_text(text.data, text.len);
	assert_int_equal(r.count, 1);
	assert_false(reader.dump.inside);
	tdm_buf_done(&text);
}

static void memory_states(void **state)
{
	struct tdm_buf text;
	struct records r = read_golden("states.log", &text);
	(void)state;
	assert_int_equal(r.count, 3);
	assert_true(r.at[0].type == TDM_LOG_OP_BEGIN && r.at[0].rank == 0);
	assert_true(r.at[1].type == TDM_LOG_MEMORY_STATE && r.at[1].kind == TDM_KIND_DRAM && r.at[1].view.banks == 12);
	assert_true(r.at[1].view.allocated == 13107200 && r.at[1].view.total == 1072619848);
	assert_true(r.at[2].kind == TDM_KIND_L1_SMALL && r.at[2].view.total == 32768 && r.at[2].view.allocated == 0);
	tdm_buf_done(&text);
}

static void a_long_line_is_one_warning(void **state)
{
	size_t len = 3 * (size_t)TDM_LOG_LINE_MAX;
	char *text = malloc(len + 64);
	(void)state;
	assert_non_null(text);
	memset(text, 'z', len);
	memcpy(text, "Out of Memory: Cannot allocate at an address below 7. Allocation at 5 ", 70);
	memcpy(text + len, "\ncb_push_back(1, 1)\n", 20);
	struct records r = read_text(text, len + 20);
	assert_int_equal(r.refused, 1);
	assert_int_equal(r.count, 2); /* the beginning of it counts */
	assert_true(r.at[0].failure.type == TDM_FAILURE_BELOW_LIMIT && r.at[1].cb == 1 && r.at[1].line == 2);
	free(text);
}

/* After a restart nothing of the file before counts. */
static void another_file_from_its_beginning(void **state)
{
	static const char said[] = "Worker L1 size 5 is larger than max size 4\n";
	char both[256];
	struct tdm_log_record r;
	struct tdm_diag diag = { 0 };
	(void)state;
	snprintf(both, sizeof both, "2026-11-15 07:36:20.265 | critical | Always | TT_FATAL: %s%s", said, said);
	struct tdm_input *first = input_of_text(both, strlen(both)), *second = input_of_text(said, strlen(said));
	tdm_log_reader_open(&reader, first);
	assert_int_equal(tdm_log_reader_next(&reader, &r, &diag), 1);
	assert_true(!r.is_repeat && r.time_ns != 0);
	assert_int_equal(tdm_log_reader_next(&reader, &r, &diag), 1);
	assert_true(r.is_repeat);
	tdm_log_reader_restart(&reader, second);
	assert_int_equal(tdm_log_reader_next(&reader, &r, &diag), 1);
	assert_true(!r.is_repeat && r.time_ns == 0 && r.line == 1);
	tdm_input_close(first);
	tdm_input_close(second);
}

static void the_sample_has_everything(void **state)
{
	struct tdm_str text = tdm_log_sample_text();
	struct records r = read_text(text.ptr, text.len);
	unsigned seen = 0;
	(void)state;
	for (size_t i = 0; i < r.count; i++)
		seen |= 1U << r.at[i].type;
	static const uint8_t wanted[] = { TDM_LOG_FAILURE, TDM_LOG_ALLOC, TDM_LOG_GEOMETRY, TDM_LOG_KERNEL_START,
		TDM_LOG_KERNEL_END, TDM_LOG_CB_ALLOC, TDM_LOG_CB_RESERVE, TDM_LOG_CB_PUSH, TDM_LOG_CB_WAIT,
		TDM_LOG_CB_POP, TDM_LOG_TILES, TDM_LOG_VERIFICATION };
	for (size_t i = 0; i < sizeof wanted; i++)
		assert_true((seen & 1U << wanted[i]) != 0);
	assert_int_equal(r.repeats, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prefixes),
		cmocka_unit_test_teardown(colours, tear_down),
		cmocka_unit_test(folded_sentences),
		cmocka_unit_test_teardown(a_folded_sentence_keeps_all_figures, tear_down),
		cmocka_unit_test_teardown(whole_sentences_are_not_joined, tear_down),
		cmocka_unit_test(a_folded_sentence_is_one_record),
		cmocka_unit_test_teardown(lines_of_others_are_not_joined, tear_down),
		cmocka_unit_test_teardown(a_segment_in_the_summary_of_a_test, tear_down),
		cmocka_unit_test_teardown(golden_logs, tear_down),
		cmocka_unit_test_teardown(a_server_log_with_its_list, tear_down),
		cmocka_unit_test_teardown(a_list_without_an_end, tear_down),
		cmocka_unit_test_teardown(memory_states, tear_down),
		cmocka_unit_test_teardown(a_long_line_is_one_warning, tear_down),
		cmocka_unit_test_teardown(another_file_from_its_beginning, tear_down),
		cmocka_unit_test_teardown(the_sample_has_everything, tear_down),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	tdm_input_close(input);
	return failed;
}
