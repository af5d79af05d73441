/* The memory reporter's files: real ones, every form, and every refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/report/memory_states.h"
#include "warnings.h"

#define SUMMARY ", Total Allocatable Size (B), Total Allocated (B), Total Free (B), Largest Free Block (B)\n"
#define SUMMARY_OLD \
	"Program ID, Total Allocatable Size (B), Total Allocated (B), Total Free (KB), Largest Free Block (KB)\n"
#define UNKNOWN TDM_BYTES_UNKNOWN

static struct tdm_memory_states parse(enum tdm_memory_form form, const char *text, struct warnings *warnings)
{
	struct tdm_memory_states states = { 0 };
	struct tdm_diag diag = { 0 };
	assert_int_equal(
		read_as("memory_report", tdm_str_of(text), warnings, tdm_memory_states_take, &states, &diag), 0);
	warnings->take = NULL; /* what is found at the end is counted there */
	states.sink = (struct tdm_record_sink){ warnings, warnings_take };
	tdm_memory_states_end(&states);
	assert_int_equal(states.head.form, form);
	assert_int_equal(states.refused, warnings->count);
	return states;
}

static struct tdm_memory_states read_file(enum tdm_memory_form form, const char *name)
{
	struct tdm_memory_states states = { 0 };
	const struct tdm_record_sink sink = { &states, tdm_memory_states_take };
	struct tdm_diag diag = { 0 };
	struct tdm_input *input;
	char path[512];
	snprintf(path, sizeof path, "%s/reports/%s", TDM_TEST_DATA, name);
	assert_int_equal(tdm_input_open(path, &input), 0);
	const struct tdm_format *format = tdm_format_of(input);
	assert_string_equal(format->name, "memory_report");
	assert_int_equal(format->records(input, &sink, &diag), 0);
	tdm_memory_states_end(&states);
	assert_int_equal(states.refused, 0);
	assert_int_equal(states.head.form, form);
	tdm_input_close(input);
	return states;
}

static const struct tdm_memory_region *region(const struct tdm_memory_states *states, size_t state, enum tdm_kind kind)
{
	const struct tdm_memory_region *found = tdm_memory_states_find(states, state, kind);
	assert_non_null(found);
	return found;
}

static void the_three_files_of_one_dump_agree(void **state)
{
	(void)state;
	static const uint8_t kinds[] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_L1_SMALL };
	static const uint32_t banks[] = { 12, 64, 64 };
	struct tdm_memory_states summary = read_file(TDM_MEMORY_SUMMARY, "mock_memory_usage_summary.csv");
	struct tdm_memory_states l1 = read_file(TDM_MEMORY_L1, "mock_l1_usage_summary.csv");
	struct tdm_memory_states detailed = read_file(TDM_MEMORY_DETAILED, "mock_detailed_memory_usage.csv");
	assert_int_equal(summary.state_count, 1);
	assert_int_equal(detailed.region_count, 3);
	/* Another run's file beside it says nothing about this one. */
	summary.regions[0].total++;
	assert_true(tdm_memory_states_take_banks(&summary, &l1) && summary.regions[0].banks == 0);
	assert_true(tdm_memory_states_take_banks(&summary, &detailed) && summary.regions[0].banks == 0);
	summary.regions[0].total--;
	assert_true(tdm_memory_states_take_banks(&summary, &detailed));
	assert_false(tdm_memory_states_take_banks(&summary, &detailed));
	for (int i = 0; i < 3; i++) {
		const struct tdm_memory_region *a = region(&summary, 0, kinds[i]), *b = region(&detailed, 0, kinds[i]);
		assert_true(a->total == b->total && a->allocated == b->allocated && a->free == b->free &&
			    a->largest == b->largest);
		assert_int_equal(b->banks, banks[i]);
		assert_int_equal(a->banks, banks[i]);
		assert_true(a->device_total == a->total * a->banks && a->device_free == a->free * a->banks);
		assert_true(b->device_total == b->total * b->banks && b->device_allocated == b->allocated * b->banks);
	}
	assert_true(region(&summary, 0, TDM_KIND_DRAM)->allocated == 5593088);
	assert_true(region(&l1, 0, TDM_KIND_L1)->largest == 1327936);
	assert_true(region(&l1, 0, TDM_KIND_L1)->interleaved_free == 84987904);
	assert_int_equal(region(&l1, 0, TDM_KIND_L1)->banks, 64);
	tdm_memory_states_done(&summary);
	tdm_memory_states_done(&l1);
	tdm_memory_states_done(&detailed);
}

static void blocks_show_what_splits_the_free_space(void **state)
{
	(void)state;
	struct warnings w;
	struct tdm_memory_states s = parse(TDM_MEMORY_DETAILED,
		",L1\n,Total allocatable (B):,100\nBlock table:\n0 0 10 none 1 no\n1 10 20 0 2 yes\n2 30 40 1 3 no\n"
		"3 70 5 2 4 yes\n4 75 5 3 5 yes\n5 80 20 4 none no\n",
		&w);
	const struct tdm_memory_map *map = &s.maps[0];
	assert_int_equal(w.count, 0);
	assert_int_equal(s.regions[0].banks, 1);
	assert_true(s.regions[0].largest == 40 && s.regions[0].free == 70);
	assert_int_equal(map->wall_count, 2);
	assert_true(map->walls[0].address == 30 + 40 && map->walls[0].bytes == 10 && map->walls[0].blocks == 2);
	assert_true(map->walls[0].joined == 70 && map->walls[1].joined == 70 && map->walls[1].bytes == 20);
	assert_true(map->blocks.gap_count == 3 && map->blocks.gaps[0].bytes == 40 && map->blocks.gaps[1].bytes == 20);
	tdm_memory_states_done(&s);
}

static void programs_begin_at_their_id(void **state)
{
	(void)state;
	struct warnings w;
	struct tdm_memory_states r = parse(TDM_MEMORY_SUMMARY,
		"Program ID" SUMMARY
		"7,100,1,99,99\r\n,50,2,48,40\r\n,0,0,0,0\r\n9,100,3,97,97\r\n,50,4,46,46\r\n,0,0,0,0\r\n",
		&w);
	assert_int_equal(r.state_count, 2);
	assert_true(r.by_program);
	assert_true(r.states[0].program == 7 && r.states[1].program == 9);
	assert_true(region(&r, 1, TDM_KIND_L1)->allocated == 4);
	assert_string_equal(w.text, "");
	tdm_memory_states_done(&r);
}

static void dumps_without_ids_follow_each_other(void **state)
{
	(void)state;
	struct warnings w;
	struct tdm_memory_states r =
		parse(TDM_MEMORY_SUMMARY, SUMMARY ",100,1,99,99\n,50,2,48,40\n,0,0,0,0\n,100,9,91,91\n", &w);
	assert_int_equal(r.state_count, 2);
	assert_false(r.by_program);
	assert_true(region(&r, 1, TDM_KIND_DRAM)->allocated == 9);
	tdm_memory_states_done(&r);
}

static void a_bad_record_keeps_its_place_in_the_order(void **state)
{
	(void)state;
	struct warnings w;
	struct tdm_memory_states r = parse(TDM_MEMORY_SUMMARY,
		"Program ID" SUMMARY "1,100,-1,99,99\n,50,2,48,40\n,0,0,0,0\nx,100,1,99,99\n,50,3,47,47\n,0,0,0,0\n"
		"2,100,1,18446744073709551616,99\n,50,4\n,0,0,0,18446744073709551615\n",
		&w);
	assert_string_equal(w.text, "2: expected a number of bytes: '-1'\n"
				    "5: expected the id of a program or nothing: 'x'\n"
				    "8: a number that is too large: '18446744073709551616'\n"
				    "9: expected 4 figures, found 2\n"
				    "10: a number that is too large: '18446744073709551615'\n");
	assert_int_equal(r.state_count, 3);
	assert_true(region(&r, 0, TDM_KIND_DRAM)->allocated == UNKNOWN);
	assert_true(region(&r, 0, TDM_KIND_L1)->allocated == 2);
	assert_false(r.states[1].has_program);
	assert_true(region(&r, 1, TDM_KIND_L1)->allocated == 3);
	assert_true(r.states[2].program == 2);
	tdm_memory_states_done(&r);
}

static void units_are_those_of_the_first_column(void **state)
{
	(void)state;
	struct warnings w;
	struct tdm_memory_states r = parse(TDM_MEMORY_SUMMARY,
		", Total Allocatable Size (KB), Total Allocated (KB), Total Free (KB), Largest Free Block "
		"(KB)\n,4,1,3,2\n",
		&w);
	assert_true(r.rounded);
	assert_true(r.regions[0].total == 4096 && r.regions[0].largest == 2048);
	tdm_memory_states_done(&r);
	r = parse(TDM_MEMORY_SUMMARY,
		", Total Allocatable Size (B), Total Allocated (B), Total Free (KB), Largest Free Block "
		"(KB)\n,4,1,3,2\n",
		&w);
	assert_false(r.rounded);
	assert_true(r.regions[0].total == 4 && r.regions[0].largest == 2);
	tdm_memory_states_done(&r);
}

static void l1_without_room_has_unknown_banks(void **state)
{
	(void)state;
	struct warnings w;
	struct tdm_memory_states r = parse(TDM_MEMORY_L1,
		"This report indicates available space for interleaving L1 buffers\n"
		"Program ID, Largest Contiguous Free Block (B), Total Free L1 Space "
		"(B)\n1,0,0\n2,10,25\n3,10,640\n4,1\n",
		&w);
	assert_string_equal(w.text, "6: expected 2 figures, found 1\n");
	assert_int_equal(r.state_count, 3);
	assert_int_equal(r.regions[0].banks, 0);
	assert_int_equal(r.regions[1].banks, 0);
	assert_int_equal(r.regions[2].banks, 64);
	tdm_memory_states_done(&r);
}

#define TABLE "Block table:\n       Block      Address         Size       PrevID       NextID    Allocated \n"

static void blocks_that_are_no_whole_bank_say_nothing_about_it(void **state)
{
	(void)state;
	struct warnings w;
	/* The block in the middle cannot be used. */
	struct tdm_memory_states r = parse(TDM_MEMORY_DETAILED,
		",L1\n,Total allocatable (B):,640\n" TABLE "0 0 2 none 1 yes\n1 2 x 0 2 no\n2 4 6 1 none no\n", &w);
	assert_string_equal(w.text, "6: expected a number of bytes: 'x'\n");
	assert_int_equal(r.regions[0].block_count, 2);
	assert_true(r.regions[0].total == UNKNOWN && r.regions[0].allocated == UNKNOWN);
	assert_int_equal(r.regions[0].banks, 0);
	tdm_memory_states_done(&r);
	r = parse(TDM_MEMORY_DETAILED, ",L1\n,Total allocatable (B):,641\n" TABLE "0 0 2 none 1 yes\n1 2 8 0 none no\n",
		&w);
	assert_string_equal(w.text, "1: the blocks of l1 do not add up to its totals: some are missing or wrong\n");
	assert_true(r.regions[0].total == UNKNOWN && r.regions[0].banks == 0); /* 641 is no multiple of 10 */
	tdm_memory_states_done(&r);
	/* A table that was cut looks like a smaller bank. */
	r = parse(TDM_MEMORY_DETAILED,
		",L1\n,Total allocatable (B):,640\n,Total allocated (B):,128\n,Total free (B):,512\n" TABLE
		"0 0 5 none 1 yes\n",
		&w);
	assert_int_equal(w.count, 1);
	assert_true(r.regions[0].total == UNKNOWN && r.regions[0].allocated == UNKNOWN && r.regions[0].banks == 0);
	tdm_memory_states_done(&r);
	r = parse(TDM_MEMORY_DETAILED, ",L1\n,Total allocatable (B):,640\n,Total allo", &w);
	assert_int_equal(w.count, 1); /* the line that is cut; that blocks are missing follows from it */
	tdm_memory_states_done(&r);
	r = parse(TDM_MEMORY_DETAILED, ",L1\n,Total allocatable (B):,640\n" TABLE, &w);
	assert_int_equal(w.count, 1);
	tdm_memory_states_done(&r);
	r = parse(TDM_MEMORY_DETAILED, ",L1_SMALL\n,Total allocatable (B):,0\n" TABLE, &w);
	assert_true(w.count == 0 && r.regions[0].total == 0 && r.regions[0].largest == 0);
	tdm_memory_states_done(&r);
}

static void states_that_cannot_be_or_are_cut_cost_a_warning(void **state)
{
	(void)state;
	struct warnings w;
	struct tdm_memory_states r =
		parse(TDM_MEMORY_SUMMARY, SUMMARY ",100,20,80,80\n,50,60,10,10\n,50,10,20,30\n", &w);
	assert_string_equal(w.text, "3: more is allocated than there is\n"
				    "4: the largest free block is larger than all that is free\n");
	assert_true(r.regions[1].allocated == UNKNOWN && r.regions[2].free == UNKNOWN);
	tdm_memory_states_done(&r);
	r = parse(TDM_MEMORY_SUMMARY, SUMMARY ",100,20,80,80\n,50,10,40,40\n,0,0,0,0\n,100,20,80,80\n", &w);
	assert_string_equal(
		w.text, "5: the state that begins here has 1 of 3 kinds of memory: the others are missing\n");
	tdm_memory_states_done(&r);
	/* Older ones had two kinds; whether this one is so old the other states tell. */
	r = parse(TDM_MEMORY_SUMMARY, SUMMARY_OLD "7,100,20,80,80\n,50,10,40,40\n8,100,20,80,80\n,50,10,40,40\n", &w);
	assert_true(w.count == 0 && r.state_count == 2 && r.regions[3].kind == TDM_KIND_L1);
	tdm_memory_states_done(&r);
	r = parse(TDM_MEMORY_SUMMARY, SUMMARY_OLD "7,100,20,80,80\n,50,10,40,40\n,0,0,0,0\n8,100,20,80,80\n,5,1,4,4\n",
		&w);
	assert_string_equal(
		w.text, "5: the state that begins here has 2 of 3 kinds of memory: the others are missing\n");
	tdm_memory_states_done(&r);
	r = parse(TDM_MEMORY_SUMMARY, SUMMARY_OLD "7,100,20,80,80\n", &w);
	assert_string_equal(
		w.text, "2: the state that begins here has 1 of 2 kinds of memory: the others are missing\n");
	tdm_memory_states_done(&r);
	/* The runtime has been seen to count free blocks twice: that row is not refused. */
	r = parse(TDM_MEMORY_SUMMARY, SUMMARY ",1071181792,0,1763388064,1071181792\n,50,10,40,40\n,0,0,0,0\n", &w);
	assert_int_equal(w.count, 0);
	tdm_memory_states_done(&r);
}

static void the_older_table_has_addresses_of_the_device(void **state)
{
	(void)state;
	struct warnings w;
	struct tdm_memory_states r = parse(TDM_MEMORY_DETAILED,
		"3,DRAM\n,Total allocatable (B):,64\n,,Blocks:,Address (B),Size (B),Allocated "
		"(Y/N)\n,,,1000,3,Y\n,,,1003,5,N\n\n"
		",L1\n,Total allocatable (KB):,1\n,,Blocks:,Address (KB),Size (KB),Allocated (Y/N)\n,,,0,1,N\n",
		&w);
	assert_string_equal(w.text, "");
	assert_int_equal(r.state_count, 1);
	assert_int_equal(r.regions[0].banks, 8);
	assert_true(r.regions[0].allocated == 3);
	assert_true(r.blocks[2].bytes == 1024);
	tdm_memory_states_done(&r);
	/* In KiB a small block has no size: what does not add up is not wrong for that. */
	r = parse(TDM_MEMORY_DETAILED,
		",L1\n,Total allocatable (KB):,6\n,,Blocks:,Address (KB),Size (KB),Allocated (Y/N)\n"
		",,,0,0,Y\n,,,0,2,N\n,,,3,0,Y\n",
		&w);
	assert_string_equal(w.text, "");
	assert_true(r.regions[0].total == UNKNOWN && r.regions[0].banks == 0);
	tdm_memory_states_done(&r);
}

static void lines_of_no_form_are_refused_one_by_one(void **state)
{
	(void)state;
	struct warnings w;
	struct tdm_memory_states r = parse(TDM_MEMORY_DETAILED,
		",L1\n,Total allocatable (B):,0\n,Total nonsense (B):,5\n,Total free (B):,5x\njunk\n" TABLE
		"0 18446744073709551614 2 none none no\n0 0 1 none none maybe\n1 2 3\n1 2 3 4 5 yes 7\nq,DRAM\n,Total "
		"free (B):,8\n",
		&w);
	assert_string_equal(w.text, "3: not a figure of this report: 'Total nonsense (B):'\n"
				    "4: expected a number of bytes: '5x'\n"
				    "5: not a line of this report: 'junk'\n"
				    "8: a block that ends beyond all addresses\n"
				    "9: expected yes or no: 'maybe'\n"
				    "10: a block has six columns: '1 2 3'\n"
				    "11: a block has six columns: '1 2 3 4 5 yes 7'\n"
				    "12: expected the id of a program or nothing: 'q'\n");
	/* The figure behind the bad id is not the one of the region before it. */
	assert_true(r.regions[0].device_free == UNKNOWN);
	assert_true(r.regions[1].device_free == 8);
	tdm_memory_states_done(&r);
}

static void other_files_are_not_taken(void **state)
{
	(void)state;
	static const char *const texts[] = { "", ",", "\n", ",DRAM", ",DRAM\n", "a,b\n1,2\n", "OP CODE,X [ns]\n",
		",Total Allocatable Size\n", "{}", ",FLASH\n,Total allocatable (B):,5\n" };
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_false(is_recognised("memory_report", texts[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_three_files_of_one_dump_agree),
		cmocka_unit_test(blocks_show_what_splits_the_free_space),
		cmocka_unit_test(programs_begin_at_their_id),
		cmocka_unit_test(dumps_without_ids_follow_each_other),
		cmocka_unit_test(a_bad_record_keeps_its_place_in_the_order),
		cmocka_unit_test(units_are_those_of_the_first_column),
		cmocka_unit_test(l1_without_room_has_unknown_banks),
		cmocka_unit_test(blocks_that_are_no_whole_bank_say_nothing_about_it),
		cmocka_unit_test(states_that_cannot_be_or_are_cut_cost_a_warning),
		cmocka_unit_test(the_older_table_has_addresses_of_the_device),
		cmocka_unit_test(lines_of_no_form_are_refused_one_by_one),
		cmocka_unit_test(other_files_are_not_taken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
