/*
 * Replaying traces: compared with the results of the real allocator (every file in tests/data); each cause of failure,
 * the figures kept over a run, and the cases that the runtime leaves open.
 */
#include "replay_run.h"

#include "base/file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* Replays every .trace below tests/data/`folder` and compares with its .expected. Returns how many there were. */
static int replay_folder(const char *folder)
{
	char path[512];
	int count = 0;
	snprintf(path, sizeof path, "%s/%s", TDM_TEST_DATA, folder);
	DIR *dir = opendir(path);
	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		const char *end = strrchr(entry->d_name, '.');
		struct tdm_buf trace, expected;
		if (end == NULL || strcmp(end, ".trace") != 0)
			continue;
		tdm_buf_init(&trace);
		tdm_buf_init(&expected);
		snprintf(path, sizeof path, "%s/%s/%s", TDM_TEST_DATA, folder, entry->d_name);
		assert_int_equal(tdm_file_read(path, SIZE_MAX, &trace), 0);
		snprintf(path, sizeof path, "%s/%s/%.*s.expected", TDM_TEST_DATA, folder, (int)(end - entry->d_name),
			entry->d_name);
		assert_int_equal(tdm_file_read(path, SIZE_MAX, &expected), 0);
		struct run run = run_with(trace.data, trace.len, NULL);
		assert_string_equal(run.refusals.data, "");
		if (!tdm_str_eq(tdm_buf_str(&run.results), tdm_buf_str(&expected)))
			fail_msg("%s/%s: the results differ from the real allocator's", folder, entry->d_name);
		assert_true(expected.len > 1000);
		run_done(&run);
		tdm_buf_done(&trace);
		tdm_buf_done(&expected);
		count++;
	}
	closedir(dir);
	return count;
}

static void regions_give_the_addresses_of_the_real_allocator(void **state)
{
	(void)state;
	assert_true(replay_folder("allocator") >= 12);
}

static void devices_give_the_addresses_of_the_real_runtime(void **state)
{
	(void)state;
	assert_true(replay_folder("device") >= 3);
}

#define SMALL_REGION "region base=1000 size=1024 align=32 min=32 policy=first\n"

/* Replays the trace and checks the first failure of a space: its cause, its holes, and figures up to a NULL. */
struct wanted {
	enum tdm_cause cause;
	size_t holes;
	struct {
		const char *key;
		uint64_t number;
	} figures[8];
};

static void fails(const char *trace, size_t space, const struct wanted *wanted)
{
	struct run run = run_of(trace);
	assert_string_equal(run.refusals.data, "");
	const struct tdm_replay_space *s = &run.replay->spaces[space];
	const struct tdm_findings *found = &run.replay->findings;
	assert_true(s->failures != 0 && s->first_failure < found->count);
	const struct tdm_finding *finding = &found->list[s->first_failure];
	assert_int_equal(finding->family, TDM_FAMILY_REPLAY);
	assert_int_equal(finding->code, wanted->cause);
	assert_string_equal(finding->what, tdm_cause_name(wanted->cause));
	assert_int_equal(finding->hole_count, wanted->holes);
	for (size_t i = 0; wanted->figures[i].key != NULL; i++)
		assert_int_equal(tdm_finding_number(found, finding, wanted->figures[i].key), wanted->figures[i].number);
	run_done(&run);
}

static void a_request_larger_than_the_region_is_too_large(void **state)
{
	(void)state;
	fails(SMALL_REGION "alloc a 1025 bottom\n", 0,
		&(struct wanted){ TDM_CAUSE_TOO_LARGE, 1,
			{ { "size", 1025 }, { "bytes_per_bank", 1025 }, { "needed_per_bank", 1056 }, /* rounded up */
				{ "line", 2 }, { "request", 1 }, { "free", 1024 } } });
}

static void a_request_larger_than_all_that_is_free_finds_it_exhausted(void **state)
{
	(void)state;
	fails(SMALL_REGION "alloc a 512 bottom\nalloc b 513 top\n", 0,
		&(struct wanted){ TDM_CAUSE_EXHAUSTED, 1, { { "allocated", 512 }, { "free", 512 } } });
}

static void a_request_larger_than_the_largest_block_finds_it_fragmented(void **state)
{
	(void)state;
	fails(SMALL_REGION "place a 1480 64\nalloc b 512 top\n", 0,
		&(struct wanted){ TDM_CAUSE_FRAGMENTED, 2, { { "free", 960 }, { "largest_free", 480 } } });
}

static void a_fixed_address_can_be_occupied_or_outside(void **state)
{
	static const struct wanted outside = { TDM_CAUSE_OUTSIDE, 1, { { NULL, 0 } } };
	(void)state;
	fails(SMALL_REGION "place a 1000 32\nplace b 1024 32\n", 0,
		&(struct wanted){ TDM_CAUSE_OCCUPIED, 1, { { "address", 1024 } } });
	fails(SMALL_REGION "place b 999 32\n", 0, &outside);
	fails(SMALL_REGION "place b 2000 32\n", 0, &outside);
	fails(SMALL_REGION "place b 1000 1025\n", 0, &outside);
	fails(SMALL_REGION "place b 18446744073709551614 1\n", 0, &outside);
	/* What was cut off the region is not free, but it is not outside either. */
	fails(SMALL_REGION "shrink 64\nplace b 1000 32\n", 0,
		&(struct wanted){ TDM_CAUSE_OCCUPIED, 1, { { NULL, 0 } } });
}

static void a_region_of_no_bytes_has_no_place(void **state)
{
	static const struct wanted none = { TDM_CAUSE_NO_REGION, 0, { { NULL, 0 } } };
	(void)state;
	fails("device n150\nbuffer a trace size=8192\n", TDM_KIND_TRACE, &none);
	fails("device n150\nbuffer a l1_small size=256 page=32 cores=8\n", TDM_KIND_L1_SMALL,
		&(struct wanted){ TDM_CAUSE_NO_REGION, 0, { { "bytes_per_bank", 32 } } });
	fails("region size=0\nalloc a 0 bottom\n", 0, &none);
}

static void only_the_first_failure_of_a_space_is_kept(void **state)
{
	(void)state;
	struct run run = run_of(SMALL_REGION "alloc a 2000 top\nalloc b 1000 top\nalloc c 500 top\n");
	const struct tdm_replay_space *s = &run.replay->spaces[0];
	assert_string_equal(run.results.data, "a none\nb 1000\nc none\n");
	assert_int_equal(s->failures, 2);
	assert_int_equal(s->allocs, 1);
	assert_int_equal(run.replay->findings.count, 1);
	assert_string_equal(run.replay->findings.list[0].about.name, "a");
	assert_int_equal(run.replay->live_count, 1);
	run_done(&run);
}

static void the_peak_is_of_the_sum_at_one_moment(void **state)
{
	(void)state;
	struct run run = run_of(SMALL_REGION "alloc a 96 bottom\n"
					     "alloc b 32 bottom\n"
					     "stats\n"
					     "alloc c 64 bottom # 192 in three\n"
					     "free a\n"
					     "alloc d 96 top # 192 again, later\n"
					     "free b\nfree c\nfree d\n");
	const struct tdm_replay_space *s = &run.replay->spaces[0];
	assert_int_equal(s->peak, 192);
	assert_int_equal(s->peak_line, 5); /* the first time */
	assert_int_equal(s->peak_op, 4);
	assert_int_equal(s->peak_buffers, 3);
	assert_int_equal(s->allocs, 4);
	assert_int_equal(s->frees, 4);
	assert_int_equal(run.replay->ops, 9);
	assert_int_equal(run.replay->live_count, 0);
	run_done(&run);
}

static void the_tightest_moment_is_the_smallest_largest_block(void **state)
{
	(void)state;
	struct run run = run_of(SMALL_REGION "place m 1480 32\n" /* holes of 480 and 512 */
					     "alloc a 512 top\n" /* 480 */
					     "free a\n"
					     "alloc b 512 top\n");
	const struct tdm_replay_space *s = &run.replay->spaces[0];
	assert_int_equal(s->tightest, 480);
	assert_int_equal(s->tightest_line, 3);
	assert_int_equal(s->tightest_op, 2);
	run_done(&run);
	run = run_of(SMALL_REGION "stats\n");
	assert_int_equal(run.replay->spaces[0].tightest, 1024); /* nothing happened: all of it */
	run_done(&run);
}

static void the_worst_fragmentation_is_kept_with_its_first_moment(void **state)
{
	(void)state;
	struct run run = run_of("region size=960 align=32\n"
				"alloc a 32 bottom\n" /* 0 of 928 outside */
				"place b 480 64\n"    /* 416 of 864 */
				"free a\n"            /* 416 of 896 */
				"alloc c 32 bottom\n" /* 416 of 864 again */
				"stats\n");
	const struct tdm_replay_space *s = &run.replay->spaces[0];
	assert_true(s->worst_frag == 416.0 / 864 || s->worst_frag == 1 - 448.0 / 864);
	assert_int_equal(s->worst_frag_line, 3);
	assert_int_equal(s->worst_frag_op, 2);
	run_done(&run);
	run = run_of("region size=960\nalloc a 960 top\n");
	assert_true(run.replay->spaces[0].worst_frag == 0); /* full is not fragmented */
	run_done(&run);
	assert_true(tdm_replay_frag(0, 0) == 0);
	assert_true(tdm_replay_frag(100, 25) == 0.75);
}

static void holes_come_largest_first_with_the_buffers_beside_them(void **state)
{
	(void)state;
	struct tdm_hole holes[TDM_REPLAY_HOLES];
	struct run run = run_of("region base=4096 size=1024 align=1\n"
				"place a 4106 10\n" /* hole of 10 below */
				"place b 4146 4\n"  /* 30 */
				"place c 4170 1\n"  /* 20 */
				"place d 4181 5\n"  /* 10 */
				"place e 4187 5\n"  /* 1 */
				"place f 4200 20\n" /* 8; behind it 900 */
				"alloc gone 2000 top\n");
	assert_int_equal(tdm_replay_holes(run.replay, 0, holes), TDM_REPLAY_HOLES);
	assert_int_equal(holes[0].size, 900);
	assert_int_equal(holes[0].address, 4220);
	assert_true(holes[0].below.is_buffer && !holes[0].above.is_buffer); /* the region ends there */
	assert_string_equal(holes[0].below.name.text, "f");
	assert_int_equal(holes[0].below.bytes, 20);
	assert_int_equal(holes[1].size, 30);
	assert_true(holes[1].below.is_buffer && holes[1].above.is_buffer);
	assert_string_equal(holes[1].below.name.text, "a");
	assert_int_equal(holes[1].below.bytes, 10);
	assert_string_equal(holes[1].above.name.text, "b");
	assert_int_equal(holes[1].above.bytes, 4);
	assert_int_equal(holes[2].size, 20);
	assert_int_equal(holes[3].size, 10);
	assert_int_equal(holes[3].address, 4096); /* of two alike, the lower one first */
	assert_true(!holes[3].below.is_buffer && holes[3].above.is_buffer);
	assert_int_equal(holes[4].size, 10);
	assert_string_equal(holes[4].above.name.text, "d");
	/* The failure kept the same picture. */
	const struct tdm_findings *found = &run.replay->findings;
	assert_int_equal(found->list[0].hole_count, TDM_REPLAY_HOLES);
	assert_string_equal(found->holes[1].above.name.text, "b");
	run_done(&run);
	run = run_of("region size=64\nalloc a 64 top\n");
	assert_int_equal(tdm_replay_holes(run.replay, 0, holes), 0);
	run_done(&run);
}

static void the_bounds_of_a_hole_follow_reused_names_and_places(void **state)
{
	(void)state;
	struct tdm_hole holes[TDM_REPLAY_HOLES];
	struct run run = run_of("region size=1000 align=1\nalloc a 10 bottom\nalloc b 10 bottom\nfree a\nfree b\n"
				"alloc b 20 bottom\nalloc tried 2000 bottom\nalloc c 5 bottom\nfree b\n");
	assert_int_equal(tdm_replay_holes(run.replay, 0, holes), 2);
	assert_string_equal(holes[0].below.name.text, "c");
	assert_string_equal(holes[1].above.name.text, "c");
	assert_int_equal(holes[1].size, 20);
	assert_false(holes[1].below.is_buffer);
	run_done(&run);
}

static void long_and_strange_names_are_shown_short_and_clean(void **state)
{
	(void)state;
	struct run run = run_of("region size=10\n"
				"alloc 0123456789012345678901234567890123456789 100 top\n");
	assert_string_equal(run.replay->spaces[0].failed.text, "012345678901234567890123456789012345...");
	run_done(&run);
	run = run_of("region size=10\nalloc 012345678901234567890123456789012345678 100 top\n");
	assert_string_equal(run.replay->spaces[0].failed.text, "012345678901234567890123456789012345678");
	run_done(&run);
	/* A character of several bytes is not cut in two. */
	run = run_of("region size=10\nalloc 01234567890123456789012345678901234\xe2\x96\x88"
		     "5678901 100 top\n");
	assert_string_equal(run.replay->spaces[0].failed.text, "01234567890123456789012345678901234...");
	run_done(&run);
	run = run_of("region size=10\nalloc \033[2J\x7f 100 top\n");
	assert_string_equal(run.replay->spaces[0].failed.text, "?[2J?");
	run_done(&run);
}

/* Whatever the length of the run: evenly spaced, at least a quarter of the room used, and the end not forgotten. */
static void samples_stay_bounded_and_cover_the_whole_run(void **state)
{
	(void)state;
	static const int lengths[] = { 1, 2, 63, 64, 65, 66, 127, 128, 129, 1000, 4096, 4097, 10000 };
	for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
		struct tdm_buf trace = { 0 };
		tdm_buf_puts(&trace, "device n150\n");
		for (int i = 0; i < lengths[l]; i++)
			tdm_buf_printf(&trace, i % 2 == 0 ? "buffer b%d dram size=32\n" : "free b%d\n", i / 2);
		struct run run = run_with(trace.data, trace.len, NULL);
		size_t count = run.replay->spaces[0].sample_count;
		for (size_t i = 0; i < run.replay->space_count; i++) {
			const struct tdm_replay_space *s = &run.replay->spaces[i];
			assert_int_equal(s->sample_count, count); /* all spaces at the same moments */
			assert_true(count <= TDM_REPLAY_SAMPLES && count >= 1);
			uint64_t step = s->samples[0].op;
			for (size_t k = 0; k < count; k++) {
				assert_int_equal(s->samples[k].op, (k + 1) * step);
				assert_int_equal(s->samples[k].allocated + s->samples[k].free, s->range.size);
				assert_true(s->samples[k].largest_free <= s->samples[k].free);
			}
			assert_true((uint64_t)lengths[l] - s->samples[count - 1].op < step);
			assert_true(lengths[l] < TDM_REPLAY_SAMPLES || count >= TDM_REPLAY_SAMPLES / 2);
		}
		run_done(&run);
		tdm_buf_done(&trace);
	}
}

static void samples_hold_the_figures_of_their_moment(void **state)
{
	(void)state;
	struct run run = run_of(SMALL_REGION "alloc a 64 bottom\nplace b 1512 64\nfree a\n");
	const struct tdm_replay_space *s = &run.replay->spaces[0];
	assert_int_equal(s->sample_count, 3);
	assert_int_equal(s->samples[0].allocated, 64);
	assert_int_equal(s->samples[1].allocated, 128);
	assert_int_equal(s->samples[1].largest_free, 448);
	assert_int_equal(s->samples[2].allocated, 64);
	assert_int_equal(s->samples[2].largest_free, 512);
	run_done(&run);
}

static void requests_of_nothing_take_the_minimum_of_a_region_and_nothing_of_a_device(void **state)
{
	(void)state;
	assert_replays("region size=1024 align=32 min=64\nalloc a 0 bottom\nalloc b 0 bottom\nplace c 256 0\nstats\n",
		"a 0\nb 64\nc 256\nstats total=1024 allocated=192 free=832 largest=704\n", "");
	assert_replays("device n150\nbuffer a l1 size=0\nbuffer b l1 size=0 page=0\nbuffer c l1_small size=0\n"
		       "buffer d trace size=0\nfree a\nfree d\nbuffer d dram size=32\n",
		"a 0 0\nb 0 0\nc 0 0\nd 0 0\nd 1048640 32\n", "");
}

static void a_trace_buffer_without_a_trace_region_fails(void **state)
{
	(void)state;
	assert_replays("device n150\nbuffer a trace size=8192 page=8192\nfree a\nbuffer a trace size=8192\n",
		"a none\na none\n", "");
	assert_replays("device n150 trace_region=98304\nbuffer a trace size=8192 page=8192\nbuffer b trace size=1\n",
		"a 1073733632 8192\nb none\n", "");
}

static void an_interleaved_l1_small_buffer_is_refused(void **state)
{
	(void)state;
	assert_replays("device n150 l1_small=32768\nbuffer a l1_small size=64\nbuffer a l1_small size=64 cores=1\n",
		"a 1499072 64\n", "2:8: expected cores=N: the runtime refuses interleaved L1_SMALL buffers\n");
}

static void shapes_that_the_runtime_refuses_are_refused(void **state)
{
	(void)state;
	assert_replays("device n150\n"
		       "buffer a l1 size=100 page=32\n"
		       "buffer b l1 size=64 page=0\n"
		       "buffer c l1 size=65 page=1 cores=65\n"
		       "buffer d dram size=13 page=1 cores=13\n",
		"",
		"2:8: the size 100 is not a multiple of the page size 32\n"
		"3:8: the page size is 0\n"
		"4:8: Expected number of shards 65 to be less than or equal to total number of L1 banks 64 in compute "
		"cores\n"
		"5:8: 13 shards need a DRAM bank each; there are 12\n");
}

static void pages_that_do_not_divide_by_cores_fill_the_last_shard_up(void **state)
{
	(void)state;
	/* Nine pages over four cores: three pages each. */
	assert_replays("device n150\nbuffer a l1 size=18432 page=2048 cores=4\nbuffer b l1 size=2048 page=2048 "
		       "cores=4\nstats\n",
		"a 1492992 6144\nb 1490944 2048\n"
		"stats dram total=1072693184 allocated=0 free=1072693184 largest=1072693184\n"
		"stats l1 total=1393472 allocated=8192 free=1385280 largest=1385280\n"
		"stats l1_small total=0 allocated=0 free=0 largest=0\n"
		"stats trace total=0 allocated=0 free=0 largest=0\n",
		"");
}

static void a_page_is_aligned_before_the_block_is(void **state)
{
	(void)state;
	/* 16 bytes of L1 page alignment stand in the result, 64 of the allocator in the statistics. */
	struct run run = run_of("device p150\nbuffer a l1 size=32 page=16 cores=1\n");
	assert_string_equal(run.results.data, "a 1572800 32\n");
	assert_int_equal(tdm_freelist_stats(run.replay->spaces[TDM_KIND_L1].list).allocated, 64);
	run_done(&run);
}

static void sizes_that_overflow_are_refused_and_take_nothing(void **state)
{
	(void)state;
	assert_replays(SMALL_REGION "alloc a 18446744073709551615 bottom\nplace b 1000 18446744073709551600\nstats\n"
				    "alloc a 32 bottom\n",
		"stats total=1024 allocated=0 free=1024 largest=1024\na 1000\n",
		"2:7: expected a size that still fits 64 bits when it is rounded up\n"
		"3:7: expected a size that still fits 64 bits when it is rounded up\n");
	assert_replays("device n150\nbuffer a dram size=18446744073709551615\nbuffer b l1 size=18446744073709551608 "
		       "page=8 cores=64\n",
		"",
		"2:8: a buffer of 18446744073709551615 bytes in pages of 18446744073709551615 is too large\n"
		"3:8: a buffer of 18446744073709551608 bytes in pages of 8 is too large\n");
}

static void a_name_whose_allocation_failed_may_be_freed_or_tried_again(void **state)
{
	(void)state;
	assert_replays(SMALL_REGION "alloc a 2000 top\n"
				    "free a\n"
				    "alloc a 2000 top\n"
				    "alloc a 1024 top\n"
				    "free a\n"
				    "stats\n",
		"a none\na none\na 1000\nstats total=1024 allocated=0 free=1024 largest=1024\n", "");
	struct run run = run_of(SMALL_REGION "alloc a 2000 top\nfree a\n");
	assert_int_equal(run.replay->spaces[0].frees, 0); /* nothing was given back */
	assert_int_equal(run.replay->live_count, 0);
	run_done(&run);
}

static void a_live_name_cannot_be_allocated_again(void **state)
{
	(void)state;
	assert_replays(SMALL_REGION
		"alloc a 32 bottom\nalloc a 64 bottom\nplace a 1500 32\nfree a\nalloc a 64 bottom\n",
		"a 1000\na 1000\n",
		"3:7: expected a new name: 'a' is still allocated\n"
		"4:7: expected a new name: 'a' is still allocated\n");
	/* The same name in another kind of memory is the same name. */
	assert_replays("device n150\nbuffer a l1 size=0\nbuffer a dram size=32\n", "a 0 0\n",
		"3:8: expected a new name: 'a' is still allocated\n");
}

static void shrink_and_reset_answer_with_the_size_that_is_left(void **state)
{
	(void)state;
	assert_replays(SMALL_REGION
		"shrink 64\nalloc a 32 bottom\nshrink 32\nshrink 2000\nstats\nreset\nreset\nalloc b 64 bottom\n",
		"shrink total=960\na 1064\nshrink none\nshrink none\nstats total=960 allocated=32 free=928 "
		"largest=928\n"
		"reset total=1024\nreset total=1024\nb 1000\n",
		"");
}

static void a_place_off_the_alignment_is_taken_as_it_is(void **state)
{
	(void)state;
	assert_replays(SMALL_REGION "place a 1003 1\nplace b 1034 1\nplace c 1035 1\nstats\n",
		"a 1003\nb none\nc 1035\nstats total=1024 allocated=64 free=960 largest=957\n", "");
}

static void a_buffer_may_be_placed_against_the_default_of_its_kind(void **state)
{
	(void)state;
	assert_replays("device n150\nbuffer a dram size=32\nbuffer b dram size=32 top\nbuffer c l1 size=32\nbuffer d "
		       "l1 size=32 bottom\n",
		"a 1048640 32\nb 1073741792 32\nc 1499104 32\nd 105664 32\n", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regions_give_the_addresses_of_the_real_allocator),
		cmocka_unit_test(devices_give_the_addresses_of_the_real_runtime),
		cmocka_unit_test(a_request_larger_than_the_region_is_too_large),
		cmocka_unit_test(a_request_larger_than_all_that_is_free_finds_it_exhausted),
		cmocka_unit_test(a_request_larger_than_the_largest_block_finds_it_fragmented),
		cmocka_unit_test(a_fixed_address_can_be_occupied_or_outside),
		cmocka_unit_test(a_region_of_no_bytes_has_no_place),
		cmocka_unit_test(only_the_first_failure_of_a_space_is_kept),
		cmocka_unit_test(the_peak_is_of_the_sum_at_one_moment),
		cmocka_unit_test(the_tightest_moment_is_the_smallest_largest_block),
		cmocka_unit_test(the_worst_fragmentation_is_kept_with_its_first_moment),
		cmocka_unit_test(holes_come_largest_first_with_the_buffers_beside_them),
		cmocka_unit_test(the_bounds_of_a_hole_follow_reused_names_and_places),
		cmocka_unit_test(long_and_strange_names_are_shown_short_and_clean),
		cmocka_unit_test(samples_stay_bounded_and_cover_the_whole_run),
		cmocka_unit_test(samples_hold_the_figures_of_their_moment),
		cmocka_unit_test(requests_of_nothing_take_the_minimum_of_a_region_and_nothing_of_a_device),
		cmocka_unit_test(a_trace_buffer_without_a_trace_region_fails),
		cmocka_unit_test(an_interleaved_l1_small_buffer_is_refused),
		cmocka_unit_test(shapes_that_the_runtime_refuses_are_refused),
		cmocka_unit_test(pages_that_do_not_divide_by_cores_fill_the_last_shard_up),
		cmocka_unit_test(a_page_is_aligned_before_the_block_is),
		cmocka_unit_test(sizes_that_overflow_are_refused_and_take_nothing),
		cmocka_unit_test(a_name_whose_allocation_failed_may_be_freed_or_tried_again),
		cmocka_unit_test(a_live_name_cannot_be_allocated_again),
		cmocka_unit_test(shrink_and_reset_answer_with_the_size_that_is_left),
		cmocka_unit_test(a_place_off_the_alignment_is_taken_as_it_is),
		cmocka_unit_test(a_buffer_may_be_placed_against_the_default_of_its_kind),
	};
	return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
