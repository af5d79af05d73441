#include "analyze/live/region_map.h"
#include "base/units.h"
#include "analyze/replay/replay.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

static uint64_t end_of(const struct tdm_region_span *span)
{
	return span->address + span->bytes;
}

void tdm_region_map_init(struct tdm_region_map *map, enum tdm_kind kind, const struct tdm_region *region, uint8_t from)
{
	*map = (struct tdm_region_map){
		.kind = (uint8_t)kind,
		.free_bytes = TDM_BYTES_UNKNOWN,
		.largest_free = TDM_BYTES_UNKNOWN,
		.fragmentation = (double)NAN,
	};
	if (region == NULL || region->bank_size == 0)
		return;
	map->from = from;
	map->base = region->base;
	map->bank_size = tdm_min(region->bank_size, UINT64_MAX - region->base);
	map->banks = region->banks;
}

void tdm_region_map_done(struct tdm_region_map *map)
{
	free(map->spans);
	free(map->gaps);
	*map = (struct tdm_region_map){ 0 };
}

void tdm_region_map_add(struct tdm_region_map *map, const struct tdm_buffer *buffer, uint32_t holding)
{
	if ((buffer->flags & TDM_EVENT_VIEW) != 0 || buffer->bank_bytes == 0) {
		map->views++;
		return;
	}
	if (buffer->address == TDM_ADDRESS_UNKNOWN || buffer->bank_bytes == TDM_SIZE_UNKNOWN) {
		map->unplaced++;
		map->unplaced_bytes = tdm_plus(map->unplaced_bytes, tdm_buffer_reserved(buffer));
		return;
	}
	uint64_t address = buffer->address, end = tdm_plus(address, buffer->bank_bytes);
	if (map->from != TDM_FROM_NONE) { /* clips to the region, and counts the rest */
		uint64_t begin = tdm_max(address, map->base), stop = tdm_min(end, map->base + map->bank_size);
		uint64_t inside = begin < stop ? stop - begin : 0, all = end - address;
		map->outside += inside != all;
		map->outside_bytes = tdm_plus(map->outside_bytes, all - inside);
		address = begin;
		end = begin + inside;
	}
	if (address == end)
		return;
	tdm_grow(&map->spans, &map->span_cap, map->span_count + 1, sizeof *map->spans);
	map->spans[map->span_count++] = (struct tdm_region_span){
		.address = address,
		.bytes = end - address,
		.buffer = buffer,
		.holding = holding,
	};
}

static int compare(const void *left, const void *right)
{
	const struct tdm_region_span *a = left, *b = right;
	int order = tdm_order(a->address, b->address);
	/* the longer buffer gets the bytes that both buffers claim */
	order = order != 0 ? order : tdm_order(b->bytes, a->bytes);
	order = order != 0 ? order : tdm_order(a->holding, b->holding);
	return order != 0 ? order : tdm_order(a->buffer->id, b->buffer->id);
}

static void add_gap(struct tdm_region_map *map, uint64_t address, uint64_t end, const struct tdm_region_span *below,
	const struct tdm_region_span *above)
{
	if (address < end)
		map->gaps[map->gap_count++] = (struct tdm_region_gap){ address, end - address, below, above };
}

/* Walks over the spans: `reached` is the highest end so far, and `last` the span that ends there. */
static void walk(struct tdm_region_map *map)
{
	uint64_t reached = map->base;
	const struct tdm_region_span *last = NULL;
	for (size_t i = 0; i < map->span_count; i++) {
		struct tdm_region_span *span = &map->spans[i];
		add_gap(map, reached, span->address, last, span);
		if (span->address < reached) {
			span->overlap = tdm_min(reached, end_of(span)) - span->address;
			map->overlaps++;
			map->overlap_bytes = tdm_plus(map->overlap_bytes, span->overlap);
		}
		map->used_bytes += span->bytes - span->overlap;
		if (end_of(span) > reached) {
			reached = end_of(span);
			last = span;
		}
	}
	if (map->from == TDM_FROM_NONE)
		map->bank_size = reached - map->base;
	add_gap(map, reached, map->base + map->bank_size, last, NULL);
}

void tdm_region_map_finish(struct tdm_region_map *map)
{
	map->gaps = tdm_alloc((map->span_count + 1) * sizeof *map->gaps);
	if (map->span_count > 1)
		qsort(map->spans, map->span_count, sizeof *map->spans, compare);
	if (map->from == TDM_FROM_NONE && map->span_count != 0)
		map->base = map->spans[0].address;
	walk(map);
	if (map->from == TDM_FROM_NONE || map->unplaced != 0)
		return;
	map->free_bytes = map->bank_size - map->used_bytes;
	map->largest_free = 0;
	for (size_t i = 0; i < map->gap_count; i++)
		map->largest_free = tdm_max(map->largest_free, map->gaps[i].bytes);
	map->fragmentation = tdm_replay_frag(map->free_bytes, map->largest_free);
}

/* How a range is cut into cells, and the current cell. Most buffers start in the same cell as the previous buffer. */
struct cut {
	uint64_t address, quotient, remainder; /* quotient and remainder of bytes / count */
	uint32_t count, at;
	uint64_t begin, end, next; /* bounds of cell `at`, and the beginning of the next cell */
};

/* Makes cell `i` current. A cell has at least one byte, which other cells may share. */
static void go_to(struct cut *cut, uint32_t i)
{
	uint64_t next = (uint64_t)i + 1; /* computes bytes * i / count in parts that fit into 64 bits */
	cut->at = i;
	cut->begin = cut->address + cut->quotient * i + cut->remainder * i / cut->count;
	cut->next = cut->address + cut->quotient * next + cut->remainder * next / cut->count;
	cut->end = tdm_max(cut->next, cut->begin + 1);
}

/* Adds the bytes of [begin, end) to the cells, starting at the current cell. */
static void fill_cells(
	struct cut cut, struct tdm_region_cell *cells, uint64_t begin, uint64_t end, const struct tdm_region_span *span)
{
	while (cut.at < cut.count && cut.begin < end) {
		struct tdm_region_cell *cell = &cells[cut.at];
		uint64_t from = tdm_max(begin, cut.begin), to = tdm_min(end, cut.end);
		if (from < to) {
			cell->used_bytes += to - from;
			if (to - from > cell->buffer_bytes) {
				cell->buffer_bytes = to - from;
				cell->span = span;
			}
		}
		if (cut.next >= end)
			break;
		go_to(&cut, cut.at + 1);
	}
}

void tdm_region_map_cells(const struct tdm_region_map *map, uint64_t address, uint64_t bytes,
	struct tdm_region_cell *cells, uint32_t count)
{
	bytes = tdm_min(bytes, UINT64_MAX - address);
	bool known = bytes != 0 && map->bank_size != 0 && count != 0;
	struct cut cut = { .address = address, .count = count };
	if (known) {
		cut.quotient = bytes / count;
		cut.remainder = bytes % count;
		go_to(&cut, 0);
	}
	for (uint32_t i = 0; i < count; i++)
		cells[i] = (struct tdm_region_cell){ .permille = -1 };
	for (size_t s = 0; known && s < map->span_count; s++) {
		const struct tdm_region_span *span = &map->spans[s];
		if (span->overlap == span->bytes)
			continue;
		/* Without overlaps, the spans are in ascending order, and so are the cells. */
		uint64_t begin = span->address + span->overlap;
		while (cut.at < count && cut.end <= begin)
			go_to(&cut, cut.at + 1);
		fill_cells(cut, cells, begin, end_of(span), span);
	}
	for (uint32_t i = 0; known && i < count; i++) {
		go_to(&cut, i);
		uint64_t used = cells[i].used_bytes, all = cut.end - cut.begin;
		uint64_t permille = (uint64_t)(((unsigned __int128)used * 1000 + all / 2) / all);
		cells[i].permille = (int16_t)(used != 0 && permille == 0        ? 1
					      : used != all && permille == 1000 ? 999
										: permille);
	}
}

static int compare_gaps(const void *left, const void *right)
{
	const struct tdm_region_gap *a = left, *b = right;
	int order = tdm_order(b->bytes, a->bytes);
	return order != 0 ? order : tdm_order(a->address, b->address);
}

void tdm_region_gaps_sort(struct tdm_region_gap *gaps, size_t count)
{
	if (count != 0)
		qsort(gaps, count, sizeof *gaps, compare_gaps);
}
