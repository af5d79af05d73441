/* The bytes that circular buffers of several programs take in each core, against a count for every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/core_union.h"

enum { WIDE = 6, HIGH = 5, BYTES = 96, ITEMS = 40, RANGES = 3 };

struct plain_item {
	struct tdm_core_range ranges[RANGES];
	struct tdm_core_item item;
};

static uint16_t depth[HIGH][WIDE][BYTES];

static uint64_t random_below(uint64_t *state, uint64_t limit)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state % limit;
}

static void make_item(struct plain_item *to, uint64_t *seed)
{
	to->item.range_count = 1 + random_below(seed, RANGES);
	for (size_t i = 0; i < to->item.range_count; i++) {
		struct tdm_core_range *r = &to->ranges[i];
		r->x0 = (uint16_t)random_below(seed, WIDE);
		r->y0 = (uint16_t)random_below(seed, HIGH);
		r->x1 = (uint16_t)(r->x0 + random_below(seed, WIDE - r->x0));
		r->y1 = (uint16_t)(r->y0 + random_below(seed, HIGH - r->y0));
	}
	to->item.ranges = to->ranges;
	to->item.address = random_below(seed, BYTES / 8) * 8; /* addresses meet often, as those of programs do */
	to->item.size = random_below(seed, (BYTES - to->item.address) / 8 + 1) * 8;
}

/* An item counts once in a core, even if two of its ranges have the core. */
static bool has_core(const struct tdm_core_item *item, uint32_t x, uint32_t y)
{
	for (size_t i = 0; i < item->range_count; i++)
		if (x >= item->ranges[i].x0 && x <= item->ranges[i].x1 && y >= item->ranges[i].y0 &&
			y <= item->ranges[i].y1)
			return true;
	return false;
}

static void count_item(const struct tdm_core_item *item, int sign)
{
	for (uint32_t y = 0; y < HIGH; y++)
		for (uint32_t x = 0; x < WIDE; x++)
			for (uint64_t at = item->address; has_core(item, x, y) && at < item->address + item->size; at++)
				depth[y][x][at] = (uint16_t)(depth[y][x][at] + sign);
}

static void check_sum(const struct tdm_core_union *of)
{
	uint64_t fullest, all, expected_fullest = 0, expected_all = 0;
	for (uint32_t y = 0; y < HIGH; y++)
		for (uint32_t x = 0; x < WIDE; x++) {
			uint64_t used = 0;
			for (uint32_t at = 0; at < BYTES; at++)
				used += depth[y][x][at] != 0;
			expected_all += used;
			expected_fullest = used > expected_fullest ? used : expected_fullest;
		}
	tdm_core_union_sum(of, &fullest, &all);
	assert_int_equal(fullest, expected_fullest);
	assert_int_equal(all, expected_all);
	assert_true(tdm_core_union_is_valid(of));
}

static void random_layouts_are_exact(void **state)
{
	(void)state;
	enum { STEPS = 4000 };
	static struct plain_item items[ITEMS];
	static bool is_there[ITEMS];
	struct tdm_core_union of = { 0 };
	uint64_t seed = 0x9e3779b97f4a7c15;
	for (int step = 0; step < STEPS; step++) {
		uint64_t i = random_below(&seed, step / 1000 % 2 == 0 ? ITEMS : 4); /* few items or many */
		if (is_there[i]) {
			count_item(&items[i].item, -1);
			assert_true(tdm_core_union_remove(&of, &items[i].item));
		} else {
			make_item(&items[i], &seed);
			count_item(&items[i].item, 1);
			assert_true(tdm_core_union_add(&of, &items[i].item));
		}
		is_there[i] = !is_there[i];
		check_sum(&of);
	}
	for (int i = 0; i < ITEMS; i++)
		if (is_there[i]) {
			count_item(&items[i].item, -1);
			assert_true(tdm_core_union_remove(&of, &items[i].item));
		}
	check_sum(&of);
	assert_int_equal(of.count, 0);
	assert_int_equal(of.pieces, 0);
	tdm_core_union_done(&of);
}

/* Programs of a model: the same addresses again and again. The memory does not grow with their number. */
static void programs_share_addresses(void **state)
{
	(void)state;
	enum { PROGRAMS = 20000 };
	struct tdm_core_range all_cores = { 0, 0, 7, 7 }, half = { 0, 0, 7, 3 };
	struct tdm_core_union of = { 0 };
	uint64_t fullest, all;
	for (uint64_t i = 0; i < PROGRAMS; i++) {
		struct tdm_core_item first = { &all_cores, 1, 105664, 4096 }, second = { &half, 1, 109760, 8192 };
		assert_true(tdm_core_union_add(&of, &first) && tdm_core_union_add(&of, &second));
	}
	tdm_core_union_sum(&of, &fullest, &all);
	assert_int_equal(fullest, 12288);
	assert_int_equal(all, 64 * 4096 + 32 * 8192);
	assert_int_equal(of.pieces, 4); /* two in each half: used, not used */
	for (uint64_t i = 0; i < PROGRAMS; i++) {
		struct tdm_core_item second = { &half, 1, 109760, 8192 };
		tdm_core_union_sum(&of, &fullest, &all);
		assert_int_equal(fullest, 12288);
		assert_true(tdm_core_union_remove(&of, &second));
	}
	tdm_core_union_sum(&of, &fullest, &all);
	assert_int_equal(fullest, 4096);
	tdm_core_union_done(&of);
}

static void what_is_no_place_is_refused(void **state)
{
	(void)state;
	struct tdm_core_range good = { 0, 0, 1, 1 }, far = { 0, 0, TDM_CORE_SIDE, 0 }, turned = { 1, 0, 0, 0 };
	struct tdm_core_item items[] = { { &far, 1, 0, 64 }, { &turned, 1, 0, 64 }, { &good, 1, UINT64_MAX - 8, 64 } };
	struct tdm_core_range corner = { TDM_CORE_SIDE - 1, TDM_CORE_SIDE - 1, TDM_CORE_SIDE - 1, TDM_CORE_SIDE - 1 };
	struct tdm_core_item last = { &corner, 1, UINT64_MAX - 64, 64 }, none = { &good, 1, 4096, 0 };
	struct tdm_core_union of = { 0 };
	uint64_t fullest, all;
	for (size_t i = 0; i < sizeof items / sizeof items[0]; i++)
		assert_false(tdm_core_union_add(&of, &items[i]));
	assert_true(tdm_core_union_add(&of, &none));
	tdm_core_union_sum(&of, &fullest, &all);
	assert_int_equal(all, 0);
	assert_true(tdm_core_union_add(&of, &last));
	tdm_core_union_sum(&of, &fullest, &all);
	assert_int_equal(all, 64);
	assert_true(tdm_core_union_is_valid(&of));
	tdm_core_union_done(&of);
}

/* A layout with a million different addresses: what no longer fits is refused, and what is there stays exact. */
static void memory_is_bounded(void **state)
{
	(void)state;
	struct tdm_core_range cores[2] = { { 0, 0, 0, 0 }, { 1, 0, 1, 0 } };
	struct tdm_core_union of = { 0 };
	uint64_t fullest, all, count = 0;
	struct tdm_core_item item = { cores, 1, 0, 1 };
	while (count < 1 << 20 && tdm_core_union_add(&of, &item)) {
		item.address += 2;
		count++;
	}
	assert_in_range(count, 1000, (1 << 20) - 1);
	tdm_core_union_sum(&of, &fullest, &all);
	assert_int_equal(fullest, count);
	item = (struct tdm_core_item){ cores, 1, 0, 1 };
	assert_true(tdm_core_union_remove(&of, &item));
	item.ranges = &cores[1];
	assert_true(tdm_core_union_add(&of, &item));
	tdm_core_union_sum(&of, &fullest, &all);
	assert_int_equal(all, count);
	assert_true(tdm_core_union_is_valid(&of));
	tdm_core_union_done(&of);
}

/* The part of a range that is in the grid is added; the result says whether that was all of it. */
static void a_set_takes_what_is_in_the_grid(void **state)
{
	static const struct {
		struct tdm_core_range range;
		bool is_inside;
		uint64_t row; /* of rows y0 and y1, if they are in the grid */
	} cases[] = {
		{ { 0, 0, 0, 0 }, true, 1 },
		{ { 1, 1, 2, 2 }, true, 6 },
		{ { 0, 0, 7, 5 }, true, 0xff },
		{ { 0, 0, 8, 5 }, false, 0xff },
		{ { 7, 0, 7, 6 }, false, 0x80 },
		{ { 8, 0, 8, 0 }, false, 0 },
		{ { 2, 0, 1, 0 }, false, 0 },
		{ { 0, 2, 0, 1 }, false, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tdm_core_range *range = &cases[i].range;
		struct tdm_core_set set = { 0 };
		assert_int_equal(tdm_core_set_add(&set, range, 8, 6), cases[i].is_inside);
		for (uint32_t y = 0; y < TDM_CORE_SIDE; y++)
			assert_int_equal(set.rows[y], y >= range->y0 && y <= range->y1 && y < 6 ? cases[i].row : 0);
	}
	struct tdm_core_set all = { 0 };
	assert_true(tdm_core_set_add(&all, &(struct tdm_core_range){ 0, 63, 63, 63 }, TDM_CORE_SIDE, TDM_CORE_SIDE));
	assert_true(all.rows[63] == UINT64_MAX && all.rows[62] == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_layouts_are_exact),
		cmocka_unit_test(programs_share_addresses),
		cmocka_unit_test(what_is_no_place_is_refused),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(a_set_takes_what_is_in_the_grid),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
