#include "analyze/core_map.h"
#include "base/reserve.h"
#include "base/units.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The cores of a list of ranges: bit x of rows[y]. */
struct cores {
	uint64_t rows[TDM_CORE_MAP_SIDE];
	bool reaches_out; /* beyond the grid */
};

static void load_add(struct tdm_core_load *to, const struct tdm_core_load *from)
{
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		to->bytes[k] = tdm_plus(to->bytes[k], from->bytes[k]);
	to->total = tdm_plus(to->total, from->total);
}

static void load_add_bytes(struct tdm_core_load *to, unsigned kind, uint64_t bytes)
{
	to->bytes[kind] = tdm_plus(to->bytes[kind], bytes);
	to->total = tdm_plus(to->total, bytes);
}

static uint32_t core_count(const struct tdm_core_map *map)
{
	return map->grid_x * map->grid_y;
}

int tdm_core_map_init(struct tdm_core_map *map, const struct tdm_picture *picture, uint32_t grid_x, uint32_t grid_y)
{
	*map = (struct tdm_core_map){ .max_bytes = TDM_BYTES_UNKNOWN, .average_bytes = TDM_BYTES_UNKNOWN };
	if (grid_x != 0 && grid_y != 0 && grid_x <= TDM_CORE_MAP_SIDE && grid_y <= TDM_CORE_MAP_SIDE) {
		map->grid_x = grid_x;
		map->grid_y = grid_y;
	}
	map->range_list_count = picture->texts != NULL ? picture->texts->range_list_count : 0;
	map->cores = calloc(core_count(map) + (size_t)1, sizeof *map->cores);
	map->by_range = calloc(map->range_list_count + (size_t)1, sizeof *map->by_range);
	map->range_buffers = calloc(map->range_list_count + (size_t)1, sizeof *map->range_buffers);
	if (map->cores != NULL && map->by_range != NULL && map->range_buffers != NULL)
		return 0;
	tdm_core_map_done(map);
	return -ENOMEM;
}

void tdm_core_map_done(struct tdm_core_map *map)
{
	free(map->cores);
	free(map->by_range);
	free(map->range_buffers);
	free(map->shared);
	*map = (struct tdm_core_map){ 0 };
}

bool tdm_core_map_has_kind(enum tdm_kind kind)
{
	return kind == TDM_KIND_L1 || kind == TDM_KIND_L1_SMALL || tdm_kind_is_per_core(kind);
}

/* A buffer in lockstep is on all banks; one with fewer banks is not in lockstep, whatever its kind. */
static bool is_everywhere(const struct tdm_core_map *map, const struct tdm_buffer *buffer, uint32_t banks)
{
	if (tdm_kind_is_per_core((enum tdm_kind)buffer->kind))
		return buffer->banks != 0 && buffer->banks == core_count(map);
	return buffer->banks == 0 || buffer->banks == banks || buffer->banks >= core_count(map);
}

static void add_shared(struct tdm_core_map *map, const struct tdm_buffer *buffer)
{
	map->failed |= tdm_reserve(&map->shared, &map->shared_cap, map->shared_count + 1, sizeof *map->shared) != 0;
	if (map->failed)
		return;
	map->shared[map->shared_count++] = (struct tdm_core_span){ buffer->address,
		tdm_plus(buffer->address, buffer->bank_bytes), buffer->ranges, buffer->kind };
	map->range_buffers[buffer->ranges]++;
}

void tdm_core_map_add(struct tdm_core_map *map, const struct tdm_buffer *buffer, uint32_t banks)
{
	bool is_known = buffer->bank_bytes != TDM_SIZE_UNKNOWN;
	bool has_ranges = buffer->ranges != 0 && buffer->ranges < map->range_list_count && core_count(map) != 0;
	if ((buffer->flags & TDM_EVENT_VIEW) != 0 || !tdm_core_map_has_kind((enum tdm_kind)buffer->kind))
		return;
	bool is_placed = is_known && has_ranges && tdm_kind_is_per_core((enum tdm_kind)buffer->kind);
	if (is_placed && tdm_buffer_is_shared(buffer) && buffer->address != TDM_ADDRESS_UNKNOWN) {
		add_shared(map, buffer);
	} else if (is_placed) {
		load_add_bytes(&map->by_range[buffer->ranges], buffer->kind, buffer->bank_bytes);
		map->range_buffers[buffer->ranges]++;
	} else if (is_known && is_everywhere(map, buffer, banks)) {
		load_add_bytes(&map->everywhere, buffer->kind, buffer->bank_bytes);
	} else {
		map->somewhere_buffers++;
		load_add_bytes(
			&map->somewhere, buffer->kind, is_known ? buffer->bank_bytes : tdm_buffer_reserved(buffer));
	}
}

static uint64_t bits(uint32_t from, uint32_t to)
{
	return (UINT64_MAX << from) & (UINT64_MAX >> (63 - to));
}

/* Counts each core once, even when it is in several ranges. */
static struct cores cores_of(const struct tdm_core_map *map, const struct tdm_core_range *ranges, uint32_t count)
{
	struct cores cores = { 0 };
	static_assert((int)TDM_CORE_MAP_SIDE == 64, "a row is one word");
	for (uint32_t i = 0; i < count; i++) {
		const struct tdm_core_range *r = &ranges[i];
		cores.reaches_out |= r->x1 >= map->grid_x || r->y1 >= map->grid_y;
		if (r->x0 >= map->grid_x || r->x0 > r->x1)
			continue;
		uint64_t row = bits(r->x0, r->x1 < map->grid_x ? r->x1 : map->grid_x - 1);
		for (uint32_t y = r->y0; y <= r->y1 && y < map->grid_y; y++)
			cores.rows[y] |= row;
	}
	return cores;
}

static void add_list(struct tdm_core_map *map, const struct tdm_picture *picture, uint32_t list)
{
	uint32_t count;
	const struct tdm_core_range *ranges = tdm_picture_ranges(picture, list, &count);
	struct cores cores = cores_of(map, ranges, count);
	if (cores.reaches_out)
		map->outside_buffers += map->range_buffers[list];
	for (uint32_t y = 0; y < map->grid_y; y++)
		for (uint64_t row = cores.rows[y]; row != 0; row &= row - 1)
			load_add(&map->cores[y * map->grid_x + (uint32_t)__builtin_ctzll(row)], &map->by_range[list]);
}

static int compare_spans(const void *left, const void *right)
{
	const struct tdm_core_span *a = left, *b = right;
	int order = tdm_order(a->kind, b->kind);
	order = order != 0 ? order : tdm_order(a->address, b->address);
	return order != 0 ? order : tdm_order(a->ranges, b->ranges);
}

/* Adds the union of the shared buffers of each kind to every core: from the lowest address up, a core gets the bytes of
 * a buffer that are above all it has already. */
static int add_unions(struct tdm_core_map *map, const struct tdm_picture *picture)
{
	uint64_t *reached = calloc(core_count(map) + (size_t)1, sizeof *reached);
	struct cores cores = { 0 };
	if (reached == NULL)
		return -ENOMEM;
	if (map->shared_count > 1)
		qsort(map->shared, map->shared_count, sizeof *map->shared, compare_spans);
	for (size_t i = 0; i < map->shared_count; i++) {
		const struct tdm_core_span *span = &map->shared[i], *before = i != 0 ? span - 1 : NULL;
		uint32_t count;
		if (before == NULL || before->kind != span->kind)
			memset(reached, 0, core_count(map) * sizeof *reached);
		if (before == NULL || before->ranges != span->ranges) {
			const struct tdm_core_range *ranges = tdm_picture_ranges(picture, span->ranges, &count);
			cores = cores_of(map, ranges, count);
		}
		for (uint32_t y = 0; y < map->grid_y; y++)
			for (uint64_t row = cores.rows[y]; row != 0; row &= row - 1) {
				uint32_t core = y * map->grid_x + (uint32_t)__builtin_ctzll(row);
				uint64_t from = tdm_max(span->address, reached[core]);
				if (from >= span->end)
					continue;
				load_add_bytes(&map->cores[core], span->kind, span->end - from);
				reached[core] = span->end;
			}
	}
	free(reached);
	return 0;
}

int tdm_core_map_finish(struct tdm_core_map *map, const struct tdm_picture *picture)
{
	uint32_t count = core_count(map);
	unsigned __int128 sum = 0;
	int err = map->failed ? -ENOMEM : map->shared_count != 0 ? add_unions(map, picture) : 0;
	for (uint32_t list = 1; list < map->range_list_count; list++)
		if (map->range_buffers[list] != 0)
			add_list(map, picture, list);
	for (uint32_t i = 0; i < count; i++) {
		load_add(&map->cores[i], &map->everywhere);
		sum += map->cores[i].total;
		if (map->cores[i].total > map->cores[map->fullest].total)
			map->fullest = i;
	}
	if (count != 0) {
		map->max_bytes = map->cores[map->fullest].total;
		map->average_bytes = (uint64_t)(sum / count);
	}
	map->bound_bytes = tdm_plus(count != 0 ? map->max_bytes : map->everywhere.total, map->somewhere.total);
	free(map->by_range);
	free(map->range_buffers);
	free(map->shared);
	map->by_range = NULL;
	map->range_buffers = NULL;
	map->shared = NULL;
	return err;
}
