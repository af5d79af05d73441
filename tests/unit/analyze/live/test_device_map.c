/* The map of a device: regions described and modelled, the ends of L1, core by core; processes that run and ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/live/device_map.h"
#include "base/buf.h"
#include "view/chart/result_charts.h"
#include "state_make.h"
#include "region_valid.h"

static void describe_device(struct tdm_state *state, uint64_t process, const struct tdm_device_info *info)
{
	struct tdm_event event = event_of(TDM_OP_DEVICE, process, 0);
	event.about = info;
	apply(&state->fold, event);
}

static struct tdm_state *one_process(void)
{
	struct tdm_state *state = state_new();
	describe_process(&state->fold, 0, who(100));
	return state;
}

static void put(
	struct tdm_state *state, uint64_t process, enum tdm_kind kind, uint64_t address, uint64_t bytes, uint32_t banks)
{
	static uint64_t id;
	struct tdm_event event = alloc_of(process, 0, kind, ++id, 1);
	event.address = address;
	event.bytes_per_bank = bytes;
	event.banks = banks;
	apply(&state->fold, event);
}

static void put_on(struct tdm_state *state, enum tdm_kind kind, uint64_t bytes, const struct tdm_core_range *ranges,
	uint32_t count)
{
	static uint64_t id = 1000;
	struct tdm_event event = alloc_of(0, 0, kind, ++id, 1);
	event.bytes_per_bank = bytes;
	event.banks = 3;
	event.ranges = ranges;
	event.range_count = count;
	apply(&state->fold, event);
}

/* The map of the first device, as it is now. */
static const struct tdm_picture *map_of(struct tdm_state *state, struct tdm_device_map *map)
{
	const struct tdm_picture *picture = picture_of(state);
	tdm_device_map_init(map, picture, 0, TDM_INDEX_NONE);
	for (unsigned k = 0; k < TDM_DEVICE_MAP_REGIONS; k++)
		assert_true(region_map_is_valid(&map->regions[k]));
	return picture;
}

static void end(struct tdm_device_map *map, struct tdm_state *state)
{
	tdm_device_map_done(map);
	tdm_state_free(state);
}

static const struct tdm_device_info n150 = { .card = "n150" };

static void regions_are_the_models_where_nobody_described_them(void **context)
{
	(void)context;
	struct tdm_state *state = one_process();
	struct tdm_device_map map;
	struct tdm_device_info info = n150;
	info.region_count = 2;
	info.regions[0] = (struct tdm_region){ .kind = TDM_KIND_DRAM, .banks = 12, .base = 64, .bank_size = 4096 };
	info.regions[1] = (struct tdm_region){ .kind = TDM_KIND_TRACE, .banks = 0, .base = 8192, .bank_size = 1024 };
	describe_device(state, 0, &info);
	put(state, 0, TDM_KIND_DRAM, 64, 96, 12);
	put(state, 0, TDM_KIND_L1, 1499136 - 2048, 2048, 64);
	put(state, 0, TDM_KIND_L1_SMALL, 5000, 100, 64);
	put(state, 0, TDM_KIND_TRACE, 8192, 24, 0);
	map_of(state, &map);
	const struct tdm_region_map *r = map.regions;
	assert_int_equal(map.buffers, 4);
	assert_int_equal(r[TDM_KIND_DRAM].from, TDM_FROM_LEDGER);
	assert_int_equal(r[TDM_KIND_DRAM].base, 64);
	assert_int_equal(r[TDM_KIND_DRAM].used_bytes, 96);
	assert_int_equal(r[TDM_KIND_DRAM].free_bytes, 4000);
	assert_int_equal(r[TDM_KIND_L1].from, TDM_FROM_MODEL);
	assert_int_equal(r[TDM_KIND_L1].base, 105664);
	assert_int_equal(r[TDM_KIND_L1].banks, 64);
	assert_int_equal(r[TDM_KIND_L1].free_bytes, 1499136 - 105664 - 2048);
	assert_int_equal(r[TDM_KIND_L1_SMALL].from, TDM_FROM_NONE); /* the model has none, but somebody uses it */
	assert_int_equal(r[TDM_KIND_L1_SMALL].used_bytes, 100);
	assert_true(r[TDM_KIND_L1_SMALL].free_bytes == TDM_BYTES_UNKNOWN);
	assert_int_equal(r[TDM_KIND_TRACE].from, TDM_FROM_LEDGER);
	assert_int_equal(r[TDM_KIND_TRACE].banks, 0);
	assert_int_equal(r[TDM_KIND_TRACE].free_bytes, 1000); /* in a bank: of how many is another question */
	end(&map, state);
}

static void without_a_card_much_is_unknown(void **context)
{
	(void)context;
	struct tdm_state *state = one_process();
	struct tdm_device_map map;
	put(state, 0, TDM_KIND_L1, 1000, 100, 64);
	put(state, 0, TDM_KIND_CB, 300, 100, 64);
	map_of(state, &map);
	assert_int_equal(map.regions[TDM_KIND_L1].from, TDM_FROM_NONE);
	assert_int_equal(map.grid_from, TDM_FROM_NONE);
	assert_int_equal(map.cores.grid_x, 0);
	assert_true(map.cores.max_bytes == TDM_BYTES_UNKNOWN && map.core_bytes == TDM_BYTES_UNKNOWN);
	assert_int_equal(map.cores.everywhere.total, 100);
	assert_int_equal(map.cores.bound_bytes, 200);
	assert_int_equal(map.l1.lowest, 1000);
	assert_int_equal(map.l1.highest, 400);
	assert_int_equal(map.l1.gap, 600);
	assert_false(map.l1.has_map);
	assert_string_equal(map.l1.why.text, "the card is not known");
	end(&map, state);
	state = one_process();
	describe_device(state, 0, &(struct tdm_device_info){ .card = "x9000" });
	map_of(state, &map);
	assert_false(map.l1.has_map);
	assert_non_null(strstr(map.l1.why.text, "x9000"));
	assert_true(map.l1.gap == TDM_BYTES_UNKNOWN); /* nothing is there, but where would the ends be */
	end(&map, state);
}

static void the_two_ends_of_l1(void **context)
{
	(void)context;
	struct tdm_state *state = one_process();
	struct tdm_device_map map;
	describe_device(state, 0, &n150);
	map_of(state, &map);
	assert_int_equal(map.l1.lowest + map.l1.highest, 0);
	assert_int_equal(map.l1.gap, 1499136 - 105664); /* all of it */
	tdm_device_map_done(&map);
	put(state, 0, TDM_KIND_L1, 1400000, 1000, 64);
	put(state, 0, TDM_KIND_L1, 1300000, 1000, 64);
	put(state, 0, TDM_KIND_CB, 105664, 4096, 8);
	put(state, 0, TDM_KIND_DFB, 200000, 1000, 8);
	put(state, 0, TDM_KIND_SCRATCHPAD, 300000, 1000, 8);
	put(state, 0, TDM_KIND_KERNEL, 1350000, 1000, 8); /* does not grow */
	struct tdm_event view = alloc_of(0, 0, TDM_KIND_CB, 999, 1);
	view.flags = TDM_EVENT_VIEW;
	view.address = 1390000;
	view.bytes_per_bank = 5000;
	apply(&state->fold, view);
	map_of(state, &map);
	assert_int_equal(map.l1.lowest, 1300000);
	assert_int_equal(map.l1.highest, 301000);
	assert_int_equal(map.l1.gap, 999000);
	assert_false(map.l1.clash);
	assert_true(map.l1.has_map);
	assert_int_equal(map.l1.map.span[TDM_L1_GAP].address, 301000);
	assert_int_equal(map.l1.map.span[TDM_L1_GAP].size, 999000);
	assert_int_equal(map.core_bytes, 1499136);
	tdm_device_map_done(&map);
	put(state, 0, TDM_KIND_CB, 1299998, 2, 8);
	map_of(state, &map);
	assert_false(map.l1.clash); /* they touch */
	assert_int_equal(map.l1.gap, 0);
	tdm_device_map_done(&map);
	put(state, 0, TDM_KIND_CB, 1299999, 2, 8);
	map_of(state, &map);
	assert_true(map.l1.clash);
	assert_int_equal(map.l1.gap, 0);
	tdm_device_map_done(&map);
	put(state, 0, TDM_KIND_CB, TDM_ADDRESS_UNKNOWN, 2, 8);
	put(state, 0, TDM_KIND_L1, 0, 2, 64); /* no address for a buffer */
	map_of(state, &map);
	assert_int_equal(map.l1.unplaced, 1);
	assert_int_equal(map.l1.unplaced_growing, 1);
	assert_true(map.l1.lowest == TDM_BYTES_UNKNOWN && map.l1.highest == TDM_BYTES_UNKNOWN);
	assert_true(map.l1.gap == TDM_BYTES_UNKNOWN);
	assert_false(map.l1.clash);
	end(&map, state);
}

static void the_picture_of_l1_follows_the_description(void **context)
{
	(void)context;
	struct tdm_state *state = one_process();
	struct tdm_device_map map;
	struct tdm_device_info info = n150;
	info.region_count = 1;
	info.regions[0] = (struct tdm_region){ .kind = TDM_KIND_L1, .banks = 64, .base = 200000, .bank_size = 1200000 };
	describe_device(state, 0, &info);
	map_of(state, &map);
	assert_true(map.l1.has_map);
	assert_int_equal(map.l1.map.span[TDM_L1_GAP].address, 200000);
	assert_int_equal(map.l1.map.span[TDM_L1_GAP].size, 1200000);
	assert_int_equal(map.l1.map.span[TDM_L1_SMALL_REGION].size, 99136);
	end(&map, state);
}

static uint64_t on_core(const struct tdm_device_map *map, uint32_t x, uint32_t y, enum tdm_kind kind)
{
	return map->cores.cores[y * map->cores.grid_x + x].bytes[kind];
}

static void l1_core_by_core(void **context)
{
	(void)context;
	struct tdm_state *state = one_process();
	struct tdm_device_map map;
	struct tdm_device_info info = n150;
	info.grid_x = 4;
	info.grid_y = 3;
	describe_device(state, 0, &info);
	static const struct tdm_core_range corner = { 0, 0, 0, 0 }, row = { 0, 1, 3, 1 };
	static const struct tdm_core_range twice[] = { { 1, 0, 2, 1 }, { 2, 1, 3, 2 }, { 1, 0, 1, 0 } };
	static const struct tdm_core_range out[] = { { 3, 2, 9, 9 } }, far = { 60000, 60000, 65535, 65535 };
	put(state, 0, TDM_KIND_L1, 1000, 1000000, 64);
	put(state, 0, TDM_KIND_L1_SMALL, 1000, 100000, 12);
	put_on(state, TDM_KIND_CB, 1, &corner, 1);
	put_on(state, TDM_KIND_CB, 2, &row, 1);
	put_on(state, TDM_KIND_CB, 20, &row, 1);
	put_on(state, TDM_KIND_KERNEL, 300, twice, 3); /* a core in two rectangles has it once */
	put_on(state, TDM_KIND_FIRMWARE, 4000, out, 1);
	put_on(state, TDM_KIND_CONFIG, 50000, &far, 1);
	put(state, 0, TDM_KIND_DFB, 1000, 7, 12);       /* as many as there are: all */
	put(state, 0, TDM_KIND_SCRATCHPAD, 1000, 8, 5); /* five of twelve: which? */
	put(state, 0, TDM_KIND_L1, 1000, 9, 1);         /* not in lockstep */
	put(state, 0, TDM_KIND_DRAM, 1000, 999, 12);    /* not in L1, like the next */
	put(state, 0, TDM_KIND_SYSTEM, 1000, 999, 1);
	map_of(state, &map);
	assert_int_equal(map.grid_from, TDM_FROM_LEDGER);
	assert_int_equal(map.cores.everywhere.total, 1100007);
	assert_int_equal(on_core(&map, 0, 0, TDM_KIND_CB), 1);
	assert_int_equal(on_core(&map, 1, 0, TDM_KIND_CB), 0);
	for (uint32_t x = 0; x < 4; x++)
		assert_int_equal(on_core(&map, x, 1, TDM_KIND_CB), 22);
	static const uint64_t kernels[3][4] = { { 0, 300, 300, 0 }, { 0, 300, 300, 300 }, { 0, 0, 300, 300 } };
	for (uint32_t y = 0; y < 3; y++)
		for (uint32_t x = 0; x < 4; x++) {
			assert_int_equal(on_core(&map, x, y, TDM_KIND_KERNEL), kernels[y][x]);
			assert_int_equal(on_core(&map, x, y, TDM_KIND_L1), 1000000);
			assert_int_equal(on_core(&map, x, y, TDM_KIND_FIRMWARE), x == 3 && y == 2 ? 4000 : 0);
			assert_int_equal(on_core(&map, x, y, TDM_KIND_CONFIG), 0);
			assert_int_equal(on_core(&map, x, y, TDM_KIND_DRAM), 0);
		}
	assert_int_equal(map.cores.outside_buffers, 2);
	assert_int_equal(map.cores.fullest, 11);
	assert_int_equal(map.cores.max_bytes, 1100007 + 4300);
	assert_int_equal(map.cores.average_bytes, 1100007 + (1 + 4 * 22 + 7 * 300 + 4000) / 12);
	assert_int_equal(map.cores.somewhere_buffers, 2);
	assert_int_equal(map.cores.somewhere.bytes[TDM_KIND_SCRATCHPAD], 8);
	assert_int_equal(map.cores.somewhere.bytes[TDM_KIND_L1], 9);
	assert_int_equal(map.cores.bound_bytes, 1100007 + 4300 + 17);
	end(&map, state);
}

static void put_shared(struct tdm_state *state, enum tdm_kind kind, uint64_t address, uint64_t bytes,
	const struct tdm_core_range *range)
{
	static uint64_t id = 2000;
	struct tdm_event event = alloc_of(0, 0, kind, ++id, 1);
	event.flags = TDM_EVENT_SHARED;
	event.address = address;
	event.bytes_per_bank = bytes;
	event.ranges = range;
	event.range_count = 1;
	apply(&state->fold, event);
}

/* Programs that are loaded together have their circular buffers at the same addresses; one of them runs. */
static void programs_share_the_bytes_of_a_core(void **context)
{
	(void)context;
	struct tdm_state *state = one_process();
	struct tdm_device_map map;
	struct tdm_device_info info = n150;
	info.grid_x = info.grid_y = 2;
	describe_device(state, 0, &info);
	static const struct tdm_core_range all = { 0, 0, 1, 1 }, left = { 0, 0, 0, 1 }, corner = { 0, 0, 0, 0 },
					   out = { 1, 1, 9, 9 };
	put_shared(state, TDM_KIND_CB, 2000, 100, &all); /* in no order: the union does not depend on it */
	put_shared(state, TDM_KIND_CB, 1000, 200, &left);
	put_shared(state, TDM_KIND_CB, 1000, 100, &all);
	put_shared(state, TDM_KIND_CB, 1150, 100, &corner);
	put_shared(state, TDM_KIND_CB, 1050, 10, &all);
	put_shared(state, TDM_KIND_CB, 2050, 100, &out);
	put_shared(state, TDM_KIND_DFB, 1000, 30, &corner); /* another kind has bytes of its own */
	put_on(state, TDM_KIND_CB, 1, &corner, 1);
	map_of(state, &map);
	assert_int_equal(on_core(&map, 0, 0, TDM_KIND_CB), 250 + 100 + 1);
	assert_int_equal(on_core(&map, 0, 1, TDM_KIND_CB), 200 + 100);
	assert_int_equal(on_core(&map, 1, 0, TDM_KIND_CB), 100 + 100);
	assert_int_equal(on_core(&map, 1, 1, TDM_KIND_CB), 100 + 150);
	assert_int_equal(on_core(&map, 0, 0, TDM_KIND_DFB), 30);
	assert_int_equal(map.cores.max_bytes, 381);
	assert_int_equal(map.cores.outside_buffers, 1);
	assert_int_equal(map.cores.somewhere_buffers, 0);
	assert_false(map.l1.clash);
	for (unsigned k = 0; k < TDM_DEVICE_MAP_REGIONS; k++)
		assert_int_equal(map.regions[k].overlaps, 0);
	end(&map, state);
}

/* The circular buffers of every program begin at the same address again, so those of a program that is only kept leave
 * the next one all the room below the L1 buffers. */
static void kept_programs_do_not_clash(void **context)
{
	(void)context;
	struct tdm_state *state = one_process();
	struct tdm_device_map map;
	struct tdm_device_info info = n150;
	info.region_count = 1;
	info.regions[0] = (struct tdm_region){ .kind = TDM_KIND_L1, .banks = 64, .base = 1000, .bank_size = 1000000 };
	describe_device(state, 0, &info);
	static const struct tdm_core_range all = { 0, 0, 7, 7 };
	put_shared(state, TDM_KIND_CB, 1000, 500000, &all);
	put(state, 0, TDM_KIND_L1, 401000, 1000, 64);
	const struct tdm_picture *picture = map_of(state, &map);
	assert_false(map.l1.clash);
	assert_int_equal(map.l1.gap, 400000);
	assert_int_equal(map.l1.highest, 0);
	assert_int_equal(tdm_picture_clash(&picture->devices[0]), 0);
	assert_int_equal(on_core(&map, 0, 0, TDM_KIND_CB), 500000);
	end(&map, state);
}

static void absurd_grids_are_the_models(void **context)
{
	(void)context;
	struct tdm_state *state = one_process();
	struct tdm_device_map map;
	struct tdm_device_info info = n150;
	info.grid_x = UINT32_MAX;
	info.grid_y = 65;
	describe_device(state, 0, &info);
	map_of(state, &map);
	assert_int_equal(map.grid_from, TDM_FROM_MODEL);
	assert_int_equal(map.cores.grid_x, 8);
	assert_int_equal(map.cores.grid_y, 8);
	assert_int_equal(map.cores.max_bytes, 0);
	end(&map, state);
}

static void several_processes_and_ended_ones(void **context)
{
	(void)context;
	struct tdm_state *state = state_new();
	struct tdm_device_map map;
	for (uint64_t p = 0; p < 3; p++) {
		struct tdm_process identity = who(100 + (int32_t)p);
		identity.life = p == 2 ? TDM_LIFE_ENDED : TDM_LIFE_RUNS;
		describe_process(&state->fold, p, identity);
		describe_device(state, p, &n150);
		put(state, p, TDM_KIND_DRAM, 2000000 + 100 * p, 150, 12);
	}
	const struct tdm_picture *picture = map_of(state, &map);
	const struct tdm_region_map *dram = &map.regions[TDM_KIND_DRAM];
	assert_int_equal(picture->device_count, 1);
	assert_int_equal(map.buffers, 2);
	assert_int_equal(map.ended, 1);
	assert_int_equal(dram->span_count, 2);
	assert_int_equal(dram->overlaps, 1); /* two processes claim the same */
	assert_int_equal(dram->used_bytes, 250);
	assert_int_equal(picture->holdings[dram->spans[1].holding].process, 1);
	tdm_device_map_done(&map);
	tdm_device_map_init(&map, picture, 0, 2);
	assert_int_equal(map.buffers, 1); /* a post-mortem */
	assert_int_equal(map.ended, 0);
	end(&map, state);
}

/* Many names in a few modules: the modules have colours, and next to nothing is left to "others". */
static void a_bank_is_coloured_by_what_is_largest(void **context)
{
	static const char *const modules[] = { "encoder", "decoder", "kv_cache" };
	(void)context;
	struct tdm_state *state = one_process();
	struct tdm_device_info info = n150;
	struct tdm_buf out;
	struct tdm_diag diag = { 0 };
	info.region_count = 1;
	info.regions[0] = (struct tdm_region){ .kind = TDM_KIND_DRAM, .banks = 12, .base = 0, .bank_size = 1 << 20 };
	describe_device(state, 0, &info);
	for (unsigned i = 0; i < 63; i++) {
		char name[64];
		struct tdm_event event = alloc_of(0, 0, TDM_KIND_DRAM, 5000 + i, 1);
		snprintf(name, sizeof name, "model.%s.part_%c%c", modules[i % 3], 'a' + i % 26, 'a' + i / 26);
		event.name = tdm_str_of(name);
		event.address = i * 16384;
		event.bytes_per_bank = 16384;
		event.banks = 12;
		apply(&state->fold, event);
	}
	struct tdm_live_report report = { .picture = picture_of(state), .term = { .width = 80 } };
	tdm_buf_init(&out);
	assert_int_equal(
		tdm_map_chart_draw(&report,
			&(struct tdm_plot_picture){ .chart = TDM_MAP_CHART_BANK, .term = &report.term }, &out, &diag),
		0);
	for (size_t i = 0; i < 3; i++)
		if (strstr(out.data, modules[i]) == NULL)
			fail_msg("no %s in:\n%s", modules[i], out.data);
	if (strstr(out.data, "other") != NULL)
		fail_msg("others in:\n%s", out.data);
	tdm_buf_done(&out);
	tdm_state_free(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regions_are_the_models_where_nobody_described_them),
		cmocka_unit_test(without_a_card_much_is_unknown),
		cmocka_unit_test(the_two_ends_of_l1),
		cmocka_unit_test(the_picture_of_l1_follows_the_description),
		cmocka_unit_test(l1_core_by_core),
		cmocka_unit_test(programs_share_the_bytes_of_a_core),
		cmocka_unit_test(kept_programs_do_not_clash),
		cmocka_unit_test(absurd_grids_are_the_models),
		cmocka_unit_test(several_processes_and_ended_ones),
		cmocka_unit_test(a_bank_is_coloured_by_what_is_largest),
	};
	return cmocka_run_group_tests_name("device_map", tests, NULL, NULL);
}
