/*
 * First, each buffer in the wanted holdings is added to its region's map, to the ends of L1, and to the cores. Buffers
 * with the same list of core ranges are added up per list, because programs reuse lists. Shared buffers are collected
 * so that their union can be computed at the end.
 *
 * Then the map is finished. The regions and the grid come from the programs' descriptions, else from the card model.
 * The unions are added, the sums of each list are added to the cores in that list, and the fullest core is determined.
 */
#include "analyze/live/device_map.h"
#include "base/err.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- cores ---- */

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

bool tdm_core_map_has_kind(enum tdm_kind kind)
{
	return kind == TDM_KIND_L1 || kind == TDM_KIND_L1_SMALL || tdm_kind_is_per_core(kind);
}

/* `banks`: the number of banks of the kind on the device; 0 if unknown. */
static void add_to_cores(struct tdm_core_map *map, const struct tdm_buffer *buffer, uint32_t banks)
{
	bool is_known = buffer->bank_bytes != TDM_SIZE_UNKNOWN;
	bool has_ranges = buffer->ranges != 0 && buffer->ranges < map->range_list_count && core_count(map) != 0;
	if ((buffer->flags & TDM_EVENT_VIEW) != 0 || !tdm_core_map_has_kind((enum tdm_kind)buffer->kind))
		return;
	bool is_per_core = tdm_kind_is_per_core((enum tdm_kind)buffer->kind);
	bool is_placed = is_known && has_ranges && is_per_core;
	/* A buffer in lockstep is on all banks. A buffer on fewer banks is not in lockstep, whatever its kind. */
	bool is_everywhere = is_per_core
				     ? buffer->banks != 0 && buffer->banks == core_count(map)
				     : buffer->banks == 0 || buffer->banks == banks || buffer->banks >= core_count(map);
	if (is_placed && tdm_buffer_is_shared(buffer) && buffer->address != TDM_ADDRESS_UNKNOWN) {
		tdm_grow(&map->shared, &map->shared_cap, map->shared_count + 1, sizeof *map->shared);
		map->shared[map->shared_count++] = (struct tdm_core_span){ buffer->address,
			tdm_plus(buffer->address, buffer->bank_bytes), buffer->ranges, buffer->kind };
		map->range_buffers[buffer->ranges]++;
	} else if (is_placed) {
		load_add_bytes(&map->by_range[buffer->ranges], buffer->kind, buffer->bank_bytes);
		map->range_buffers[buffer->ranges]++;
	} else if (is_known && is_everywhere) {
		load_add_bytes(&map->everywhere, buffer->kind, buffer->bank_bytes);
	} else {
		map->somewhere_buffers++;
		load_add_bytes(
			&map->somewhere, buffer->kind, is_known ? buffer->bank_bytes : tdm_buffer_reserved(buffer));
	}
}

/* Collects the cores in a list of ranges, without duplicates; false if some are outside the grid. */
static bool cores_of(
	const struct tdm_core_map *map, const struct tdm_core_range *ranges, uint32_t count, struct tdm_core_set *cores)
{
	bool is_inside = true;
	*cores = (struct tdm_core_set){ 0 };
	for (uint32_t i = 0; i < count; i++)
		is_inside &= tdm_core_set_add(cores, &ranges[i], map->grid_x, map->grid_y);
	return is_inside;
}

static int compare_shared(const void *left, const void *right)
{
	const struct tdm_core_span *a = left, *b = right;
	int order = tdm_order(a->kind, b->kind);
	order = order != 0 ? order : tdm_order(a->address, b->address);
	return order != 0 ? order : tdm_order(a->ranges, b->ranges);
}

/* Adds the union of the shared buffers of each kind to every core: in address order, each buffer adds only the bytes
 * that the core does not have yet. */
static void add_unions(struct tdm_core_map *map, const struct tdm_picture *picture)
{
	uint64_t *reached = tdm_zalloc(core_count(map), sizeof *reached);
	struct tdm_core_set cores = { 0 };
	if (map->shared_count > 1)
		qsort(map->shared, map->shared_count, sizeof *map->shared, compare_shared);
	for (size_t i = 0; i < map->shared_count; i++) {
		const struct tdm_core_span *span = &map->shared[i], *before = i != 0 ? span - 1 : NULL;
		uint32_t count;
		if (before == NULL || before->kind != span->kind)
			memset(reached, 0, core_count(map) * sizeof *reached);
		if (before == NULL || before->ranges != span->ranges) {
			const struct tdm_core_range *ranges = tdm_picture_ranges(picture, span->ranges, &count);
			cores_of(map, ranges, count, &cores);
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
}

static void finish_cores(struct tdm_core_map *map, const struct tdm_picture *picture)
{
	uint32_t count = core_count(map);
	unsigned __int128 sum = 0;
	add_unions(map, picture);
	for (uint32_t list = 1; list < map->range_list_count; list++) {
		uint32_t ranges_count;
		const struct tdm_core_range *ranges = tdm_picture_ranges(picture, list, &ranges_count);
		struct tdm_core_set cores;
		if (map->range_buffers[list] == 0)
			continue;
		if (!cores_of(map, ranges, ranges_count, &cores))
			map->outside_buffers += map->range_buffers[list];
		for (uint32_t y = 0; y < map->grid_y; y++)
			for (uint64_t row = cores.rows[y]; row != 0; row &= row - 1)
				load_add(&map->cores[y * map->grid_x + (uint32_t)__builtin_ctzll(row)],
					&map->by_range[list]);
	}
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
}

/* ---- the device ---- */

static const struct tdm_region *described(const struct tdm_device_info *info, enum tdm_kind kind)
{
	for (uint32_t i = 0; info != NULL && i < info->region_count; i++)
		if (info->regions[i].kind == kind && info->regions[i].bank_size != 0)
			return &info->regions[i];
	return NULL;
}

static void add_to_ends(struct tdm_device_l1 *l1, const struct tdm_buffer *buffer)
{
	/* L1 begins with firmware, so 0 means that there is no address. */
	bool placed = buffer->address != TDM_ADDRESS_UNKNOWN && buffer->address != 0 &&
		      buffer->bank_bytes != TDM_SIZE_UNKNOWN;
	uint64_t end;
	if (tdm_buffer_is_view(buffer) || tdm_buffer_is_shared(buffer))
		/* belongs to a cached program; the next program's circular buffers begin at the same address */
		return;
	if (buffer->kind == TDM_KIND_L1) {
		l1->unplaced += !placed;
		if (placed && (l1->lowest == 0 || buffer->address < l1->lowest))
			l1->lowest = buffer->address;
	} else if (buffer->kind == TDM_KIND_CB || buffer->kind == TDM_KIND_DFB || buffer->kind == TDM_KIND_SCRATCHPAD) {
		l1->unplaced_growing += !placed;
		if (placed && !__builtin_add_overflow(buffer->address, buffer->bank_bytes, &end) && end > l1->highest)
			l1->highest = end;
	}
}

/* Adds the device's wanted holdings. */
static void add_holdings(struct tdm_device_map *map, const struct tdm_picture *picture, uint32_t wanted)
{
	for (uint32_t h = 0; h < picture->holding_count; h++) {
		const struct tdm_holding *holding = &picture->holdings[h];
		if (holding->device != map->device || (wanted != TDM_INDEX_NONE && wanted != holding->process))
			continue;
		if (wanted == TDM_INDEX_NONE && !tdm_picture_counts(&picture->processes[holding->process])) {
			map->ended += tdm_holding_buffer_count(holding);
			continue;
		}
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
			for (size_t i = 0; i < holding->buffers[k].count; i++) {
				const struct tdm_buffer *buffer = &holding->buffers[k].list[i];
				bool has_region = buffer->kind < TDM_DEVICE_MAP_REGIONS;
				map->buffers++;
				if (has_region)
					tdm_region_map_add(&map->regions[buffer->kind], buffer, h);
				add_to_cores(&map->cores, buffer, has_region ? map->regions[buffer->kind].banks : 0);
				add_to_ends(&map->l1, buffer);
			}
	}
}

/* `model`: the card model; NULL if unknown, with the reason in l1.why. */
static void finish_l1(struct tdm_device_map *map, const struct tdm_card *model, const struct tdm_device_info *info)
{
	struct tdm_device_l1 *l1 = &map->l1;
	struct tdm_l1_use use = { .cb_end = l1->highest, .l1_lowest = l1->lowest };
	if (l1->unplaced != 0)
		l1->lowest = TDM_BYTES_UNKNOWN;
	if (l1->unplaced_growing != 0)
		l1->highest = TDM_BYTES_UNKNOWN;
	l1->gap = TDM_BYTES_UNKNOWN;
	if (model != NULL) {
		struct tdm_card card = *model;
		/* A program's description of the L1 region takes precedence. */
		const struct tdm_region *told = described(info, TDM_KIND_L1);
		uint64_t size = tdm_card_get(&card, TDM_CARD_L1_SIZE), end;
		if (told != NULL && size != TDM_BYTES_UNKNOWN) {
			card.value[TDM_CARD_L1_BASE] = told->base;
			if (!__builtin_add_overflow(told->base, told->bank_size, &end) && end <= size)
				card.value[TDM_CARD_L1_SMALL] = size - end;
		}
		map->core_bytes = tdm_card_get(&card, TDM_CARD_L1_SIZE);
		l1->has_map = tdm_l1_map(&card, &use, &l1->map, &l1->why) == 0;
	}
	if (l1->unplaced != 0 || l1->unplaced_growing != 0)
		return;
	/* If a side has no buffers, the end of the region is the bound. */
	const struct tdm_region_map *region = &map->regions[TDM_KIND_L1];
	bool is_known = region->from != TDM_FROM_NONE;
	if ((l1->lowest == 0 || l1->highest == 0) && !is_known)
		return;
	uint64_t top = l1->lowest != 0 ? l1->lowest : region->base + region->bank_size;
	uint64_t bottom = l1->highest != 0 ? l1->highest : region->base;
	l1->gap = top > bottom ? top - bottom : 0;
	l1->clash = l1->lowest != 0 && l1->lowest < l1->highest;
}

void tdm_device_map_init(
	struct tdm_device_map *map, const struct tdm_picture *picture, uint32_t device, uint32_t process)
{
	struct tdm_card card;
	bool has_card = false;
	*map = (struct tdm_device_map){ .device = device, .process = process, .core_bytes = TDM_BYTES_UNKNOWN };
	const struct tdm_device_info *info = picture->devices[device].info;
	if (info == NULL || info->card[0] == '\0')
		tdm_diag_set(&map->l1.why, TDM_EUNKNOWN, 0, 0, "the card is not known");
	else
		has_card = tdm_card_init(&card, tdm_str_of(info->card), NULL, &map->l1.why) == 0;
	for (unsigned k = 0; k < TDM_DEVICE_MAP_REGIONS; k++) {
		const struct tdm_region *region = described(info, (enum tdm_kind)k);
		struct tdm_bank_range range = { 0 };
		struct tdm_region model = { .kind = (uint8_t)k };
		if (region == NULL && has_card && tdm_bank_range(&card, (enum tdm_kind)k, &range, NULL) == 0) {
			model.base = range.base;
			model.bank_size = range.size;
			model.banks = range.banks;
		}
		tdm_region_map_init(&map->regions[k], (enum tdm_kind)k, region != NULL ? region : &model,
			region != NULL ? TDM_FROM_LEDGER : TDM_FROM_MODEL);
	}
	/* The grid is the described one or, if that is absurd, the model's; unknown if the model's is absurd, too. */
	uint64_t x = info != NULL ? info->grid_x : 0, y = info != NULL ? info->grid_y : 0;
	map->grid_from = TDM_FROM_LEDGER;
	if ((x - 1 >= TDM_CORE_SIDE || y - 1 >= TDM_CORE_SIDE) && has_card) {
		map->grid_from = TDM_FROM_MODEL;
		x = tdm_card_get(&card, TDM_CARD_GRID_X);
		y = tdm_card_get(&card, TDM_CARD_GRID_Y);
	}
	struct tdm_core_map *cores = &map->cores;
	*cores = (struct tdm_core_map){ .max_bytes = TDM_BYTES_UNKNOWN, .average_bytes = TDM_BYTES_UNKNOWN };
	if (x - 1 < TDM_CORE_SIDE && y - 1 < TDM_CORE_SIDE) {
		cores->grid_x = (uint32_t)x;
		cores->grid_y = (uint32_t)y;
	} else {
		map->grid_from = TDM_FROM_NONE;
	}
	cores->range_list_count = picture->texts != NULL ? picture->texts->ranges.count : 0;
	cores->cores = tdm_zalloc(core_count(cores), sizeof *cores->cores);
	cores->by_range = tdm_zalloc(cores->range_list_count, sizeof *cores->by_range);
	cores->range_buffers = tdm_zalloc(cores->range_list_count, sizeof *cores->range_buffers);
	add_holdings(map, picture, process);
	for (unsigned k = 0; k < TDM_DEVICE_MAP_REGIONS; k++)
		tdm_region_map_finish(&map->regions[k]);
	finish_l1(map, has_card ? &card : NULL, info);
	finish_cores(&map->cores, picture);
}

void tdm_device_map_done(struct tdm_device_map *map)
{
	for (unsigned k = 0; k < TDM_DEVICE_MAP_REGIONS; k++)
		tdm_region_map_done(&map->regions[k]);
	free(map->cores.cores);
	free(map->cores.by_range);
	free(map->cores.range_buffers);
	free(map->cores.shared);
	*map = (struct tdm_device_map){ 0 };
}
