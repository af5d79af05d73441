/* Circular buffers core by core: units, prefixes, dumps, and every refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/report/core_dumps.h"
#include "warnings.h"

static struct tdm_core_dumps parse(const char *text, struct warnings *warnings)
{
	struct tdm_core_dumps dumps = { 0 };
	struct tdm_diag diag = { 0 };
	assert_int_equal(read_as("core_dump", tdm_str_of(text), warnings, tdm_core_dumps_take, &dumps, &diag), 0);
	assert_int_equal(dumps.refused, warnings->count);
	tdm_core_dumps_end(&dumps);
	return dumps;
}

static void sizes_have_every_unit(void **state)
{
	(void)state;
	struct warnings w;
	struct tdm_core_dumps c = parse("Core (3,4): CB0=1024KB, CB1=512B,CB2 = 2 MiB, cb31=1.5K, CB5=7\r\n", &w);
	static const uint64_t bytes[] = { 1048576, 512, 2097152, 1536, 7 };
	static const uint16_t indexes[] = { 0, 1, 2, 31, 5 };
	assert_int_equal(w.count, 0);
	assert_int_equal(c.core_count, 1);
	assert_true(c.cores[0].x == 3 && c.cores[0].y == 4);
	assert_int_equal(c.cb_count, 5);
	for (int i = 0; i < 5; i++)
		assert_true(c.cbs[i].bytes == bytes[i] && c.cbs[i].index == indexes[i]);
	assert_true(c.cores[0].bytes == 1048576 + 512 + 2097152 + 1536 + 7);
	tdm_core_dumps_done(&c);
}

static void prefixes_suffixes_and_colours_do_not_matter(void **state)
{
	(void)state;
	struct warnings w;
	struct tdm_core_dumps c =
		parse("2026-06-04 20:40:34.148 | info     |           Metal | Core (1,2): CB0=1KB (dump.cpp:12)\n"
		      "\033[90m2026\033[0m | \033[37mCore (2,2): CB0=1KB\033[0m \033[90m(dump.cpp:12)\033[0m\n"
		      "Core dumped\nCore (5,3) at address 0x20000\nCore (1,2): waiting\n",
			&w);
	assert_int_equal(w.count, 0);
	assert_int_equal(c.core_count, 2);
	assert_true(c.cores[1].x == 2 && c.cores[1].bytes == 1024);
	assert_int_equal(c.others, 3);
	tdm_core_dumps_done(&c);
}

static void a_core_that_comes_again_begins_a_dump(void **state)
{
	(void)state;
	struct warnings w;
	struct tdm_core_dumps c = parse(
		"Core (0,0): CB0=1\nCore (1,0): CB0=2\nCore (0,0): CB0=3\nCore (1,0):\nCore (1,0): CB0=4, CB1=5\n", &w);
	static const size_t firsts[] = { 0, 2, 4 }, fullest[] = { 1, 2, 4 };
	static const uint64_t totals[] = { 3, 3, 9 };
	assert_int_equal(c.dump_count, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(c.dumps[i].first, firsts[i]);
		assert_int_equal(c.dumps[i].fullest, fullest[i]);
		assert_int_equal(c.dumps[i].total, totals[i]);
	}
	assert_ptr_equal(tdm_core_dumps_fullest(&c), &c.dumps[2]);
	struct tdm_core_dump indexes[TDM_CORE_CBS];
	assert_int_equal(tdm_core_dump_indexes(&c, &c.dumps[0], indexes), 1);
	assert_true(indexes[0].count == 2 && indexes[0].least == 1 && indexes[0].most == 2 && indexes[0].first == 0);
	struct tdm_core_line *order = tdm_core_dump_order(&c, &c.dumps[0]);
	assert_true(order[0].line == c.cores[1].line && order[1].line == c.cores[0].line);
	free(order);
	assert_int_equal(c.cores[4].cbs[1].bytes, 5);
	tdm_core_dumps_done(&c);
}

static void a_bad_line_is_refused_whole(void **state)
{
	(void)state;
	struct warnings w;
	struct tdm_core_dumps c = parse(
		"Core (0,0): CB0=1KB, CB0=1KB\nCore (0,0): CB0=-1\nCore (0,0): CB0=99999999999E\nCore (0,0): CB256=1\n"
		"Core (0,0): CB0=15E, CB1=15E\nCore (0,0): CB0=1, x=2\nCore (0,0): CB0=0.3K\nCore (65536,0): CB0=1\n"
		"Core (0,0): CB0=1, CB1=...\nCore (0,1): CB0=1\n",
		&w);
	assert_string_equal(w.text, "1: a circular buffer is listed twice: 'CB0=1KB'\n"
				    "2: not a size: 'CB0=-1'\n"
				    "3: a size that is too large: 'CB0=99999999999E'\n"
				    "4: not the number of a circular buffer: 'CB256=1'\n"
				    "5: a sum that is too large: 'CB1=15E'\n"
				    "6: expected CBn=SIZE: 'x=2'\n"
				    "7: not a size: 'CB0=0.3K'\n"
				    "9: not a size: 'CB1=...'\n");
	assert_int_equal(c.core_count, 1);
	assert_int_equal(c.cb_count, 1);
	assert_int_equal(c.others, 1); /* no such core */
	tdm_core_dumps_done(&c);
}

static void only_such_files_are_taken(void **state)
{
	(void)state;
	static const char good[] = "noise\nmore Core (1,2): CB0=1KB\n";
	assert_true(is_recognised("core_dump", good));
	static const char *const bad[] = { "", "Core (1,2):", "Core (1,2): stalled", "Core (1,2) CB0=1", "CB0=1",
		"Core (a,b): CB0=1", "Core (" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(is_recognised("core_dump", bad[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_have_every_unit),
		cmocka_unit_test(prefixes_suffixes_and_colours_do_not_matter),
		cmocka_unit_test(a_core_that_comes_again_begins_a_dump),
		cmocka_unit_test(a_bad_line_is_refused_whole),
		cmocka_unit_test(only_such_files_are_taken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
