#include "analyze/memory_states.h"
#include "analyze/replay.h"
#include "base/err.h"
#include "base/reserve.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { KIB = 1024, RECORDS_MAX = 1 << 26 };

void tdm_memory_states_done(struct tdm_memory_states *s)
{
	free(s->states);
	free(s->regions);
	free(s->blocks);
	*s = (struct tdm_memory_states){ 0 };
}

static int take_block(struct tdm_memory_states *s, const struct tdm_memory_block *block)
{
	if (s->block_count == RECORDS_MAX ||
		tdm_reserve(&s->blocks, &s->block_cap, s->block_count + 1, sizeof *s->blocks) != 0)
		return -ENOMEM;
	s->blocks[s->block_count++] = *block;
	return 0;
}

/* The blocks of a region come before it. */
static int take_region(struct tdm_memory_states *s, const struct tdm_memory_region *region)
{
	const struct tdm_memory_region *last = s->region_count != 0 ? &s->regions[s->region_count - 1] : NULL;
	size_t first_block = last != NULL ? last->first_block + last->block_count : 0;
	if (s->region_count == RECORDS_MAX ||
		tdm_reserve(&s->regions, &s->region_cap, s->region_count + 1, sizeof *s->regions) != 0 ||
		tdm_reserve(&s->states, &s->state_cap, s->state_count + 1, sizeof *s->states) != 0)
		return -ENOMEM;
	if (region->begins_state || s->state_count == 0)
		s->states[s->state_count++] = (struct tdm_memory_state){ region->has_program, region->program,
			region->line, s->region_count, 0 };
	s->states[s->state_count - 1].region_count++;
	s->by_program |= region->has_program;
	s->rounded |= region->rounded;
	s->regions[s->region_count] = *region;
	/* An L1 summary has the largest free block of one bank and of all. */
	uint64_t one = region->largest, all = region->interleaved_free;
	if (all != TDM_BYTES_UNKNOWN && one != 0 && all % one == 0 && all / one <= UINT32_MAX)
		s->regions[s->region_count].banks = (uint32_t)(all / one);
	s->regions[s->region_count].state = s->state_count - 1;
	s->regions[s->region_count].first_block = first_block;
	s->regions[s->region_count++].block_count = s->block_count - first_block;
	return 0;
}

int tdm_memory_states_take(void *states, const struct tdm_record *record)
{
	struct tdm_memory_states *s = states;
	switch (record->type) {
	case TDM_RECORD_MEMORY_HEAD:
		s->head = *record->memory;
		s->rounded |= record->memory->rounded;
		return 0;
	case TDM_RECORD_MEMORY_BLOCK:
		return take_block(s, record->block);
	case TDM_RECORD_MEMORY_REGION:
		return take_region(s, record->region);
	default:
		s->refused += record->type == TDM_RECORD_REFUSED;
		return 0;
	}
}

/*
 * Whether the total is exactly banks × bytes per bank; a total that was rounded down to KiB may be up to a KiB lower.
 */
static bool is_multiple(const struct tdm_memory_region *region, uint64_t all, uint64_t one, uint64_t banks)
{
	uint64_t product;
	return all == TDM_BYTES_UNKNOWN || (!__builtin_mul_overflow(one, banks, &product) && product >= all &&
						   product - all < (region->rounded ? KIB : 1));
}

/* Computes the figures of one bank from its blocks, and the number of banks if the totals are a multiple. Blocks that
 * do not make up a whole bank are not used. Returns whether they make one up. */
static bool settle_region(struct tdm_memory_states *s, struct tdm_memory_region *region)
{
	uint64_t allocated = 0, unused = 0, largest = 0, total, low = UINT64_MAX, high = 0;
	if (region->block_count == 0) {
		if (region->device_total == 0) /* an empty region has no blocks */
			region->total = region->allocated = region->free = region->largest = 0;
		return region->device_total == TDM_BYTES_UNKNOWN || region->device_total == 0;
	}
	for (size_t i = 0; i < region->block_count; i++) {
		const struct tdm_memory_block *block = &s->blocks[region->first_block + i];
		uint64_t *sum = block->allocated ? &allocated : &unused;
		low = tdm_min(low, block->address);
		high = tdm_max(high, block->address + block->bytes);
		if (__builtin_add_overflow(*sum, block->bytes, sum))
			return false;
		if (!block->allocated && block->bytes > largest)
			largest = block->bytes;
	}
	if (__builtin_add_overflow(allocated, unused, &total) || total == TDM_BYTES_UNKNOWN || total != high - low)
		return false;
	uint64_t device = region->device_total, banks = 0;
	if (device != TDM_BYTES_UNKNOWN && total != 0) {
		banks = device / total + (device % total != 0);
		if (!is_multiple(region, device, total, banks) ||
			!is_multiple(region, region->device_allocated, allocated, banks))
			return false;
		/* From a rounded total, the number of banks is known only if a single one fits. */
		if (banks > UINT32_MAX || (region->rounded && total < KIB - (banks * total - device)))
			banks = 0;
	}
	region->total = total;
	region->allocated = allocated;
	region->free = unused;
	region->largest = largest;
	region->banks = (uint32_t)banks;
	return true;
}

/* Fills in what follows from the number of banks. */
static void fill_device(struct tdm_memory_region *region)
{
	const struct {
		uint64_t *all, one;
	} figures[] = { { &region->device_total, region->total }, { &region->device_allocated, region->allocated },
		{ &region->device_free, region->free }, { &region->interleaved_free, region->largest } };
	for (size_t i = 0; i < sizeof figures / sizeof *figures && region->banks != 0; i++)
		if (*figures[i].all == TDM_BYTES_UNKNOWN)
			*figures[i].all = tdm_times(figures[i].one, region->banks);
}

static int refuse(struct tdm_memory_states *s, const struct tdm_record_sink *sink, const struct tdm_diag *diag)
{
	s->refused++;
	return sink != NULL ? tdm_record_refuse(sink, diag, false) : 0;
}

/* A state of a summary has as many kinds as any other. */
static int check_state(struct tdm_memory_states *s, const struct tdm_memory_state *state, size_t kinds,
	const struct tdm_record_sink *sink)
{
	struct tdm_diag diag = { 0 };
	if (state->region_count == kinds || s->regions[state->first_region + state->region_count - 1].damaged)
		return 0; /* complete, or already reported */
	tdm_diag_set(&diag, TDM_ESYNTAX, state->line, 0,
		"the state that begins here has %zu of %zu kinds of memory: the others are missing",
		state->region_count, kinds);
	return refuse(s, sink, &diag);
}

int tdm_memory_states_end(struct tdm_memory_states *s, const struct tdm_record_sink *sink)
{
	size_t kinds = s->head.kinds;
	int err = 0;
	for (size_t i = 0; i < s->region_count && err == 0; i++) {
		struct tdm_memory_region *region = &s->regions[i];
		struct tdm_diag diag = { 0 };
		bool is_whole = settle_region(s, region);
		fill_device(region);
		if (is_whole || region->damaged || region->rough)
			continue; /* or already reported, or it cannot be known */
		tdm_diag_set(&diag, TDM_ESYNTAX, region->line, 0,
			"the blocks of %s do not add up to its totals: some are missing or wrong",
			tdm_kind_name((enum tdm_kind)region->kind));
		err = refuse(s, sink, &diag);
	}
	for (size_t i = 0; i < s->state_count; i++)
		kinds = tdm_max(kinds, s->states[i].region_count);
	for (size_t i = 0; s->head.form == TDM_MEMORY_SUMMARY && i < s->state_count && err == 0; i++)
		err = check_state(s, &s->states[i], kinds, sink);
	return err;
}

const struct tdm_memory_region *tdm_memory_states_find(
	const struct tdm_memory_states *s, size_t state, enum tdm_kind kind)
{
	const struct tdm_memory_region *first = &s->regions[s->states[state].first_region];
	for (size_t i = 0; i < s->states[state].region_count; i++)
		if (first[i].kind == kind)
			return &first[i];
	return NULL;
}

bool tdm_memory_states_take_banks(struct tdm_memory_states *s, const struct tdm_memory_states *beside)
{
	bool any = false;
	for (size_t i = 0; i < s->region_count; i++) {
		struct tdm_memory_region *here = &s->regions[i];
		const struct tdm_memory_region *there =
			here->banks == 0 && here->state < beside->state_count
				? tdm_memory_states_find(beside, here->state, (enum tdm_kind)here->kind)
				: NULL;
		if (there == NULL || there->banks == 0 ||
			s->states[here->state].has_program != beside->states[there->state].has_program ||
			s->states[here->state].program != beside->states[there->state].program ||
			(there->total != here->total && there->total != TDM_BYTES_UNKNOWN) ||
			(there->largest != here->largest && there->largest != TDM_BYTES_UNKNOWN))
			continue;
		here->banks = there->banks;
		fill_device(here);
		any = true;
	}
	return any;
}

/* Which state is tighter: by the bytes allocated or, if the file lacks them, by how little is free in one piece. */
static bool presses_more(const struct tdm_memory_region *a, const struct tdm_memory_region *b)
{
	if (a->allocated != TDM_BYTES_UNKNOWN && b->allocated != TDM_BYTES_UNKNOWN)
		return a->allocated > b->allocated;
	if (a->allocated != TDM_BYTES_UNKNOWN || b->allocated != TDM_BYTES_UNKNOWN)
		return a->allocated != TDM_BYTES_UNKNOWN;
	return a->largest < b->largest;
}

size_t tdm_memory_states_fullest(
	const struct tdm_memory_states *s, const struct tdm_memory_region *regions[TDM_KIND_COUNT])
{
	const struct tdm_memory_region *best[TDM_KIND_COUNT] = { NULL };
	size_t count = 0;
	for (size_t i = 0; i < s->state_count; i++)
		for (int kind = 0; kind < TDM_KIND_COUNT; kind++) {
			const struct tdm_memory_region *region = tdm_memory_states_find(s, i, (enum tdm_kind)kind);
			if (region != NULL && (best[kind] == NULL || presses_more(region, best[kind])))
				best[kind] = region;
		}
	for (int kind = 0; kind < TDM_KIND_COUNT; kind++)
		if (best[kind] != NULL)
			regions[count++] = best[kind];
	return count;
}

static int compare_rows(const void *left, const void *right)
{
	const struct tdm_memory_row *a = left, *b = right;
	if ((a->l1 == NULL) != (b->l1 == NULL))
		return a->l1 == NULL ? 1 : -1;
	if (a->l1 != NULL && presses_more(a->l1, b->l1) != presses_more(b->l1, a->l1))
		return presses_more(a->l1, b->l1) ? -1 : 1;
	return tdm_order(a->state, b->state);
}

struct tdm_memory_row *tdm_memory_states_order(const struct tdm_memory_states *s)
{
	struct tdm_memory_row *rows = malloc((s->state_count + 1) * sizeof *rows);
	if (rows == NULL)
		return NULL;
	for (size_t i = 0; i < s->state_count; i++)
		rows[i] = (struct tdm_memory_row){ i, tdm_memory_states_find(s, i, TDM_KIND_DRAM),
			tdm_memory_states_find(s, i, TDM_KIND_L1) };
	qsort(rows, s->state_count, sizeof *rows, compare_rows);
	return rows;
}

double tdm_memory_region_fragmentation(const struct tdm_memory_region *region)
{
	return region == NULL || region->free == TDM_BYTES_UNKNOWN || region->largest > region->free
		       ? (double)NAN
		       : tdm_replay_frag(region->free, region->largest);
}

/* 0 or -ENOMEM; call tdm_region_map_done in both cases. */
static int map_blocks(
	const struct tdm_memory_states *s, const struct tdm_memory_region *region, struct tdm_region_map *map)
{
	struct tdm_region place = { .kind = region->kind, .banks = region->banks };
	uint64_t low = UINT64_MAX, high = 0;
	for (size_t i = 0; i < region->block_count; i++) {
		const struct tdm_memory_block *b = &s->blocks[region->first_block + i];
		low = tdm_min(low, b->address);
		high = tdm_max(high, b->address + b->bytes);
	}
	place.base = region->block_count != 0 ? low : 0;
	place.bank_size = region->block_count != 0 ? high - low : 0;
	/* The blocks themselves say where the region is. Which source that is makes no difference to the map. */
	tdm_region_map_init(map, (enum tdm_kind)region->kind, &place, TDM_FROM_LEDGER);
	for (size_t i = 0; i < region->block_count; i++) {
		const struct tdm_memory_block *b = &s->blocks[region->first_block + i];
		struct tdm_buffer buffer = { .address = b->address, .bank_bytes = b->bytes, .kind = region->kind };
		if (b->allocated && tdm_region_map_add(map, &buffer, (uint32_t)i) != 0)
			return -ENOMEM;
	}
	return tdm_region_map_finish(map);
}

static int compare_walls(const void *left, const void *right)
{
	const struct tdm_memory_wall *a = left, *b = right;
	int order = tdm_order(b->joined, a->joined);
	order = order != 0 ? order : tdm_order(a->bytes, b->bytes);
	return order != 0 ? order : tdm_order(a->address, b->address);
}

/* From a map whose holes are ordered by address. 0 or -ENOMEM. */
static int find_walls(struct tdm_memory_map *m)
{
	const struct tdm_region_map *map = &m->blocks;
	m->wall_count = map->gap_count > 1 ? map->gap_count - 1 : 0;
	m->walls = calloc(m->wall_count + 1, sizeof *m->walls);
	if (m->walls == NULL)
		return -ENOMEM;
	size_t span = 0;
	for (size_t i = 0; i < m->wall_count; i++) {
		const struct tdm_region_gap *below = &map->gaps[i], *above = &map->gaps[i + 1];
		uint64_t end = below->address + below->bytes;
		m->walls[i] = (struct tdm_memory_wall){ end, above->address - end,
			above->address + above->bytes - below->address, 0 };
		while (span < map->span_count && map->spans[span].address < end)
			span++;
		for (; span < map->span_count && map->spans[span].address < above->address; span++)
			m->walls[i].blocks++;
	}
	qsort(m->walls, m->wall_count, sizeof *m->walls, compare_walls);
	return 0;
}

int tdm_memory_map_init(
	struct tdm_memory_map *map, const struct tdm_memory_states *s, const struct tdm_memory_region *region)
{
	*map = (struct tdm_memory_map){ .walls = NULL };
	int err = map_blocks(s, region, &map->blocks);
	err = err != 0 ? err : find_walls(map);
	if (err == 0)
		tdm_region_gaps_sort(map->blocks.gaps, map->blocks.gap_count);
	return err;
}

void tdm_memory_map_done(struct tdm_memory_map *map)
{
	tdm_region_map_done(&map->blocks);
	free(map->walls);
}
