/* The address map of a region: exact pictures, damaged input, and random buffers against a map of bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/live/region_map.h"
#include "region_valid.h"

static const struct tdm_region thousand = { .kind = TDM_KIND_DRAM, .banks = 12, .base = 1000, .bank_size = 1000 };

static struct tdm_buffer buffer_at(uint64_t address, uint64_t bytes)
{
	return (struct tdm_buffer){ .address = address, .bank_bytes = bytes, .banks = 12, .asked_bytes = 77 };
}

/* Each buffer has a holding of its own, by whose number it is known here. */
static void add(struct tdm_region_map *map, uint32_t number, uint64_t address, uint64_t bytes)
{
	static struct tdm_buffer kept[8];
	kept[number] = buffer_at(address, bytes);
	tdm_region_map_add(map, &kept[number], number);
}

static uint32_t number_of(const struct tdm_region_span *span)
{
	return span != NULL ? span->holding : TDM_INDEX_NONE;
}

static void finish(struct tdm_region_map *map)
{
	tdm_region_map_finish(map);
	assert_true(region_map_is_valid(map));
}

static void expect_gap(
	const struct tdm_region_map *map, size_t i, uint64_t address, uint64_t bytes, uint32_t below, uint32_t above)
{
	assert_in_range(i, 0, map->gap_count - 1);
	assert_int_equal(map->gaps[i].address, address);
	assert_int_equal(map->gaps[i].bytes, bytes);
	assert_int_equal(number_of(map->gaps[i].below), below);
	assert_int_equal(number_of(map->gaps[i].above), above);
}

static void an_empty_region_is_one_hole(void **state)
{
	(void)state;
	struct tdm_region_map map;
	tdm_region_map_init(&map, TDM_KIND_DRAM, &thousand, TDM_FROM_LEDGER);
	finish(&map);
	assert_int_equal(map.used_bytes, 0);
	assert_int_equal(map.free_bytes, 1000);
	assert_int_equal(map.largest_free, 1000);
	assert_true(map.fragmentation == 0);
	assert_int_equal(map.gap_count, 1);
	expect_gap(&map, 0, 1000, 1000, TDM_INDEX_NONE, TDM_INDEX_NONE);
	tdm_region_map_done(&map);
}

static void holes_have_neighbours(void **state)
{
	(void)state;
	struct tdm_region_map map;
	tdm_region_map_init(&map, TDM_KIND_DRAM, &thousand, TDM_FROM_LEDGER);
	add(&map, 3, 1900, 100);
	add(&map, 1, 1100, 100);
	add(&map, 2, 1200, 200);
	finish(&map);
	assert_int_equal(map.span_count, 3);
	assert_int_equal(map.spans[0].holding, 1);
	assert_int_equal(map.spans[1].address, 1200);
	assert_int_equal(map.spans[1].buffer->address, 1200);
	assert_int_equal(map.used_bytes, 400);
	assert_int_equal(map.free_bytes, 600);
	assert_int_equal(map.largest_free, 500);
	assert_true(fabs(map.fragmentation - 1.0 / 6) < 1e-12);
	assert_int_equal(map.gap_count, 2);
	expect_gap(&map, 0, 1000, 100, TDM_INDEX_NONE, 1);
	expect_gap(&map, 1, 1400, 500, 2, 3);
	tdm_region_map_done(&map);
}

static void a_full_region_is_not_fragmented(void **state)
{
	(void)state;
	struct tdm_region_map map;
	tdm_region_map_init(&map, TDM_KIND_DRAM, &thousand, TDM_FROM_LEDGER);
	add(&map, 0, 1000, 1000);
	finish(&map);
	assert_int_equal(map.free_bytes + map.largest_free + map.gap_count, 0);
	assert_true(map.fragmentation == 0);
	tdm_region_map_done(&map);
}

static void overlaps_count_once(void **state)
{
	(void)state;
	struct tdm_region_map map;
	tdm_region_map_init(&map, TDM_KIND_DRAM, &thousand, TDM_FROM_LEDGER);
	add(&map, 0, 1100, 300);
	add(&map, 1, 1200, 50);  /* inside */
	add(&map, 2, 1350, 100); /* reaches out by 50 */
	add(&map, 3, 1100, 300); /* the same again */
	finish(&map);
	assert_int_equal(map.used_bytes, 350);
	assert_int_equal(map.free_bytes, 650);
	assert_int_equal(map.overlaps, 3);
	assert_int_equal(map.overlap_bytes, 50 + 50 + 300);
	expect_gap(&map, 1, 1450, 550, 2, TDM_INDEX_NONE);
	tdm_region_map_done(&map);
}

static void what_cannot_be_placed_is_not_free(void **state)
{
	(void)state;
	struct tdm_region_map map;
	tdm_region_map_init(&map, TDM_KIND_DRAM, &thousand, TDM_FROM_LEDGER);
	add(&map, 0, 1100, 100);
	add(&map, 1, TDM_ADDRESS_UNKNOWN, 100);
	add(&map, 2, 1500, TDM_SIZE_UNKNOWN);
	struct tdm_buffer view = buffer_at(1100, 100);
	view.flags = TDM_EVENT_VIEW;
	tdm_region_map_add(&map, &view, 3);
	add(&map, 4, 1700, 0);
	finish(&map);
	assert_int_equal(map.span_count, 1);
	assert_int_equal(map.used_bytes, 100);
	assert_int_equal(map.unplaced, 2);
	assert_int_equal(map.unplaced_bytes, 12 * 100 + 77);
	assert_int_equal(map.views, 2);
	assert_int_equal(map.overlaps, 0);
	assert_true(map.free_bytes == TDM_BYTES_UNKNOWN && map.largest_free == TDM_BYTES_UNKNOWN);
	assert_true(isnan(map.fragmentation));
	tdm_region_map_done(&map);
}

static void what_is_outside_is_cut_off_and_counted(void **state)
{
	(void)state;
	struct tdm_region_map map;
	tdm_region_map_init(&map, TDM_KIND_DRAM, &thousand, TDM_FROM_LEDGER);
	add(&map, 0, 900, 150);
	add(&map, 1, 1990, 60);
	add(&map, 2, 0, 1000);
	add(&map, 3, 2000, 5);
	add(&map, 4, UINT64_MAX - 5, 5);
	add(&map, 5, 0, UINT64_MAX - 1);
	finish(&map);
	assert_int_equal(map.outside, 6);
	assert_true(map.outside_bytes == UINT64_MAX); /* more than fits */
	assert_int_equal(map.span_count, 3);
	assert_int_equal(map.spans[0].address, 1000); /* number 5 covers everything */
	assert_int_equal(map.used_bytes, 1000);
	assert_int_equal(map.overlap_bytes, 50 + 10);
	tdm_region_map_done(&map);
}

static void the_last_addresses_there_are(void **state)
{
	(void)state;
	struct tdm_region region = { .base = UINT64_MAX - 100, .bank_size = UINT64_MAX }; /* more than fits */
	struct tdm_region_map map;
	tdm_region_map_init(&map, TDM_KIND_L1, &region, TDM_FROM_LEDGER);
	assert_int_equal(map.bank_size, 100);
	add(&map, 0, UINT64_MAX - 10, 10);
	add(&map, 1, UINT64_MAX - 1, 50); /* would wrap */
	finish(&map);
	assert_int_equal(map.used_bytes, 10);
	assert_int_equal(map.overlaps, 1);
	expect_gap(&map, 0, UINT64_MAX - 100, 90, TDM_INDEX_NONE, 0);
	struct tdm_region_cell cells[10];
	tdm_region_map_cells(&map, map.base, map.bank_size, cells, 10);
	assert_int_equal(cells[8].permille, 0);
	assert_int_equal(cells[9].permille, 1000);
	assert_int_equal(number_of(cells[9].span), 0);
	tdm_region_map_done(&map);
	region = (struct tdm_region){ .base = 0, .bank_size = UINT64_MAX };
	tdm_region_map_init(&map, TDM_KIND_L1, &region, TDM_FROM_LEDGER);
	add(&map, 7, 0, UINT64_C(1) << 63);
	finish(&map);
	assert_true(map.used_bytes == UINT64_C(1) << 63);
	tdm_region_map_cells(&map, 0, UINT64_MAX, cells, 3);
	assert_int_equal(cells[0].permille, 1000);
	assert_int_equal(cells[1].permille, 500);
	assert_int_equal(cells[2].permille, 0);
	tdm_region_map_done(&map);
}

static void without_a_region_nothing_is_free(void **state)
{
	(void)state;
	struct tdm_region_map map;
	struct tdm_region_cell cells[4];
	tdm_region_map_init(&map, TDM_KIND_TRACE, NULL, TDM_FROM_LEDGER);
	finish(&map);
	assert_int_equal(map.from, TDM_FROM_NONE);
	assert_int_equal(map.gap_count, 0);
	assert_true(map.free_bytes == TDM_BYTES_UNKNOWN);
	tdm_region_map_cells(&map, map.base, map.bank_size, cells, 4);
	assert_int_equal(cells[3].permille, -1);
	tdm_region_map_done(&map);
	tdm_region_map_init(&map, TDM_KIND_TRACE, &(struct tdm_region){ .base = 64 }, TDM_FROM_MODEL);
	add(&map, 1, 500, 100);
	add(&map, 0, 100, 100);
	finish(&map);
	assert_int_equal(map.from, TDM_FROM_NONE);
	assert_int_equal(map.base, 100);
	assert_int_equal(map.bank_size, 500); /* what the buffers reach over */
	assert_int_equal(map.used_bytes, 200);
	assert_int_equal(map.gap_count, 1);
	expect_gap(&map, 0, 200, 300, 0, 1);
	assert_int_equal(map.outside, 0);
	assert_true(map.free_bytes == TDM_BYTES_UNKNOWN && isnan(map.fragmentation));
	tdm_region_map_done(&map);
}

static void cells_show_little_and_nearly_all(void **state)
{
	(void)state;
	struct tdm_region region = { .base = 0, .bank_size = 100000 };
	struct tdm_region_map map;
	struct tdm_region_cell cells[300];
	tdm_region_map_init(&map, TDM_KIND_DRAM, &region, TDM_FROM_MODEL);
	add(&map, 0, 10, 1);
	add(&map, 1, 30000, 9999);
	add(&map, 2, 50000, 4000);
	add(&map, 3, 54000, 6000);
	finish(&map);
	tdm_region_map_cells(&map, 0, 100000, cells, 10);
	assert_int_equal(cells[0].permille, 1); /* a byte of ten thousand is not nothing */
	assert_int_equal(number_of(cells[0].span), 0);
	assert_int_equal(cells[1].permille, 0);
	assert_int_equal(number_of(cells[1].span), TDM_INDEX_NONE);
	assert_int_equal(cells[3].permille, 999);
	assert_int_equal(cells[5].permille, 1000);
	assert_int_equal(number_of(cells[5].span), 3);
	assert_int_equal(cells[5].used_bytes, 10000);
	assert_int_equal(cells[5].buffer_bytes, 6000);
	/* A part of it, with more cells than bytes; and what is outside. */
	tdm_region_map_cells(&map, 53998, 4, cells, 8);
	for (int i = 0; i < 8; i++) {
		assert_int_equal(cells[i].permille, 1000);
		assert_int_equal(number_of(cells[i].span), i < 4 ? 2 : 3);
	}
	tdm_region_map_cells(&map, 200000, 300, cells, 300);
	assert_int_equal(cells[299].permille, 0);
	tdm_region_map_cells(&map, 0, 100000, cells, 0);
	tdm_region_map_done(&map);
}

/* The model: who has each byte of a small region, found out byte by byte. */

enum { BYTES_MAX = 600, BUFFERS_MAX = 24 };

static uint32_t seed = 12345;

static uint32_t draw(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

struct model {
	uint64_t base, size, claimed, outside;
	uint32_t count, owner[BYTES_MAX]; /* TDM_INDEX_NONE: nobody */
	struct tdm_buffer buffers[BUFFERS_MAX];
};

static bool is_before(const struct tdm_buffer *a, uint64_t base, const struct tdm_buffer *b)
{
	uint64_t a_begin = a->address > base ? a->address : base, b_begin = b->address > base ? b->address : base;
	return a_begin < b_begin;
}

/* The one that begins first has the byte; of those that begin together, the one that reaches further in the region. */
static uint32_t owner_of(const struct model *m, uint64_t at)
{
	uint32_t owner = TDM_INDEX_NONE;
	for (uint32_t i = 0; i < m->count; i++) {
		const struct tdm_buffer *b = &m->buffers[i];
		if (at < b->address || at - b->address >= b->bank_bytes)
			continue;
		if (owner == TDM_INDEX_NONE || is_before(b, m->base, &m->buffers[owner])) {
			owner = i;
			continue;
		}
		uint64_t end = b->address + b->bank_bytes;
		uint64_t owner_end = m->buffers[owner].address + m->buffers[owner].bank_bytes;
		uint64_t limit = m->base + m->size;
		end = end < limit ? end : limit;
		owner_end = owner_end < limit ? owner_end : limit;
		if (!is_before(&m->buffers[owner], m->base, b) && end > owner_end)
			owner = i;
	}
	return owner;
}

static void model_draw(struct model *m)
{
	static const uint64_t bases[] = { 1000, UINT64_C(1) << 32, UINT64_MAX - BYTES_MAX - 200 };
	*m = (struct model){ .base = bases[draw(3)], .size = 1 + draw(BYTES_MAX), .count = draw(BUFFERS_MAX) };
	for (uint32_t i = 0; i < m->count; i++) {
		m->buffers[i] = buffer_at(m->base - 50 + draw((uint32_t)m->size + 100), 1 + draw(100));
		for (uint64_t b = 0; b < m->buffers[i].bank_bytes; b++) {
			bool inside = m->buffers[i].address + b - m->base < m->size;
			m->claimed += inside;
			m->outside += !inside;
		}
	}
	for (uint64_t i = 0; i < m->size; i++)
		m->owner[i] = owner_of(m, m->base + i);
}

static void compare_cells(const struct model *m, const struct tdm_region_map *map, uint32_t count)
{
	struct tdm_region_cell cells[2 * BYTES_MAX];
	tdm_region_map_cells(map, m->base, m->size, cells, count);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t begin = m->size * i / count, end = m->size * (i + 1) / count;
		uint64_t used = 0, most = 0, of[BUFFERS_MAX] = { 0 };
		end = end > begin ? end : begin + 1;
		for (uint64_t b = begin; b < end; b++)
			if (m->owner[b] != TDM_INDEX_NONE) {
				used++;
				of[m->owner[b]]++;
			}
		for (uint32_t b = 0; b < m->count; b++)
			most = of[b] > most ? of[b] : most;
		assert_int_equal(cells[i].used_bytes, used);
		assert_int_equal(cells[i].buffer_bytes, most);
		assert_int_equal(cells[i].permille == 0, used == 0);
		assert_int_equal(cells[i].permille == 1000, used == end - begin);
		assert_true((cells[i].span == NULL) == (used == 0));
		if (used != 0)
			assert_int_equal(of[cells[i].span->holding], most);
	}
}

static void compare_map(const struct model *m, const struct tdm_region_map *map)
{
	uint64_t used = 0, largest = 0, run = 0;
	size_t gaps = 0;
	for (uint64_t i = 0; i < m->size; i++) {
		bool is_free = m->owner[i] == TDM_INDEX_NONE;
		used += !is_free;
		if (is_free && run == 0)
			assert_int_equal(map->gaps[gaps++].address, m->base + i);
		run = is_free ? run + 1 : 0;
		largest = run > largest ? run : largest;
	}
	assert_int_equal(map->used_bytes, used);
	assert_int_equal(map->free_bytes, m->size - used);
	assert_int_equal(map->largest_free, largest);
	assert_int_equal(map->gap_count, gaps);
	assert_int_equal(map->overlap_bytes, m->claimed - used);
	assert_int_equal(map->outside_bytes, m->outside);
	for (size_t i = 0; i < map->gap_count; i++) {
		uint64_t at = map->gaps[i].address - m->base, end = at + map->gaps[i].bytes;
		assert_int_equal(number_of(map->gaps[i].below), at == 0 ? TDM_INDEX_NONE : m->owner[at - 1]);
		assert_int_equal(number_of(map->gaps[i].above), end == m->size ? TDM_INDEX_NONE : m->owner[end]);
	}
}

static void random_buffers_against_a_map_of_bytes(void **state)
{
	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct model m;
		struct tdm_region_map map;
		model_draw(&m);
		struct tdm_region region = { .base = m.base, .bank_size = m.size, .banks = draw(3) };
		tdm_region_map_init(&map, TDM_KIND_L1, &region, TDM_FROM_LEDGER);
		for (uint32_t i = 0; i < m.count; i++)
			tdm_region_map_add(&map, &m.buffers[i], i);
		finish(&map);
		compare_map(&m, &map);
		compare_cells(&m, &map, 1 + draw(2 * BYTES_MAX));
		compare_cells(&m, &map, 1 + draw(20));
		tdm_region_map_done(&map);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_region_is_one_hole),
		cmocka_unit_test(holes_have_neighbours),
		cmocka_unit_test(a_full_region_is_not_fragmented),
		cmocka_unit_test(overlaps_count_once),
		cmocka_unit_test(what_cannot_be_placed_is_not_free),
		cmocka_unit_test(what_is_outside_is_cut_off_and_counted),
		cmocka_unit_test(the_last_addresses_there_are),
		cmocka_unit_test(without_a_region_nothing_is_free),
		cmocka_unit_test(cells_show_little_and_nearly_all),
		cmocka_unit_test(random_buffers_against_a_map_of_bytes),
	};
	return cmocka_run_group_tests_name("region_map", tests, NULL, NULL);
}
