/*
 * Regions and blocks are flat lists in file order: a state is a range of regions, a region a range of blocks. At the
 * end, each region is settled. Adding up its blocks gives the figures for one bank. If a total is an exact multiple of
 * such a figure, the factor is the number of banks, from which the other totals follow. A summary contains no blocks,
 * so its number of banks is taken from another file of the same run in the same folder, if there is one. Finally, each
 * region with blocks gets a map of its holes and of the walls between them.
 */
#include "analyze/report/memory_states.h"
#include "analyze/replay/replay.h"
#include "analyze/report/report_analyser.h"
#include "base/err.h"
#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { KIB = 1024 };

void tdm_memory_states_done(void *states)
{
	struct tdm_memory_states *s = states;
	for (size_t i = 0; s->maps != NULL && i < s->region_count; i++) {
		tdm_region_map_done(&s->maps[i].blocks);
		free(s->maps[i].walls);
	}
	free(s->banks_from);
	free(s->maps);
	free(s->states);
	free(s->regions);
	free(s->blocks);
	*s = (struct tdm_memory_states){ 0 };
}

/* Processes a region, which comes after its blocks. */
static void take_region(struct tdm_memory_states *s, const struct tdm_memory_region *region)
{
	const struct tdm_memory_region *last = s->region_count != 0 ? &s->regions[s->region_count - 1] : NULL;
	size_t first_block = last != NULL ? last->first_block + last->block_count : 0;
	tdm_grow(&s->regions, &s->region_cap, s->region_count + 1, sizeof *s->regions);
	tdm_grow(&s->states, &s->state_cap, s->state_count + 1, sizeof *s->states);
	if (region->begins_state || s->state_count == 0)
		s->states[s->state_count++] = (struct tdm_memory_state){ .has_program = region->has_program,
			.program = region->program,
			.line = region->line,
			.first_region = s->region_count };
	s->states[s->state_count - 1].region_count++;
	s->by_program |= region->has_program;
	s->rounded |= region->rounded;
	s->regions[s->region_count] = *region;
	/* An L1 summary contains the largest free block of one bank and the total over all banks; their quotient is the
	 * number of banks. */
	uint64_t one = region->largest, all = region->interleaved_free;
	if (all != TDM_BYTES_UNKNOWN && one != 0 && all % one == 0 && all / one <= UINT32_MAX)
		s->regions[s->region_count].banks = (uint32_t)(all / one);
	s->regions[s->region_count].state = s->state_count - 1;
	s->regions[s->region_count].first_block = first_block;
	s->regions[s->region_count++].block_count = s->block_count - first_block;
}

int tdm_memory_states_take(void *states, const struct tdm_record *record)
{
	struct tdm_memory_states *s = states;
	switch (record->type) {
	case TDM_RECORD_MEMORY_HEAD:
		s->head = *record->memory;
		s->rounded |= record->memory->rounded;
		break;
	case TDM_RECORD_MEMORY_BLOCK:
		tdm_grow(&s->blocks, &s->block_cap, s->block_count + 1, sizeof *s->blocks);
		s->blocks[s->block_count++] = *record->block;
		break;
	case TDM_RECORD_MEMORY_REGION:
		take_region(s, record->region);
		break;
	default:
		s->refused += record->type == TDM_RECORD_REFUSED;
	}
	return 0;
}

/* Whether the total is exactly banks × bytes per bank. A total rounded down to KiB may be up to a KiB lower. */
static bool is_multiple(const struct tdm_memory_region *region, uint64_t all, uint64_t one, uint64_t banks)
{
	uint64_t product;
	return all == TDM_BYTES_UNKNOWN || (!__builtin_mul_overflow(one, banks, &product) && product >= all &&
						   product - all < (region->rounded ? KIB : 1));
}

/* Computes the figures of one bank from its blocks, and the number of banks if the totals are a multiple of these
 * figures. If the blocks do not cover a whole bank, returns false and changes nothing. */
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
		/* A rounded total determines the number of banks only if no other number fits. */
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

/* Fills in a total that follows from the number of banks. */
static void fill(uint64_t *all, uint64_t one, uint32_t banks)
{
	if (*all == TDM_BYTES_UNKNOWN && banks != 0)
		*all = tdm_times(one, banks);
}

static void fill_device(struct tdm_memory_region *region)
{
	fill(&region->device_total, region->total, region->banks);
	fill(&region->device_allocated, region->allocated, region->banks);
	fill(&region->device_free, region->free, region->banks);
	fill(&region->interleaved_free, region->largest, region->banks);
}

/* Refuses data found to be wrong at the end. Each refusal counts once, even if the sink passes it back as a record. */
static void refuse(struct tdm_memory_states *s, const struct tdm_diag *diag)
{
	uint64_t refused = s->refused + 1;
	if (s->sink.take != NULL)
		tdm_record_refuse(&s->sink, diag, false);
	s->refused = refused;
}

/* All states of a summary must have the same number of kinds. */
static void check_states(struct tdm_memory_states *s)
{
	size_t kinds = s->head.kinds;
	struct tdm_diag diag = { 0 };
	for (size_t i = 0; i < s->state_count; i++)
		kinds = tdm_max(kinds, s->states[i].region_count);
	for (size_t i = 0; s->head.form == TDM_MEMORY_SUMMARY && i < s->state_count; i++) {
		const struct tdm_memory_state *state = &s->states[i];
		if (state->region_count == kinds || s->regions[state->first_region + state->region_count - 1].damaged)
			continue; /* complete, or already reported */
		tdm_diag_set(&diag, TDM_ESYNTAX, state->line, 0,
			"the state that begins here has %zu of %zu kinds of memory: the others are missing",
			state->region_count, kinds);
		refuse(s, &diag);
	}
}

static void map_blocks(
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
	/* The blocks themselves determine the region's place, so any known source will do. */
	tdm_region_map_init(map, (enum tdm_kind)region->kind, &place, TDM_FROM_LEDGER);
	for (size_t i = 0; i < region->block_count; i++) {
		const struct tdm_memory_block *b = &s->blocks[region->first_block + i];
		struct tdm_buffer buffer = { .address = b->address, .bank_bytes = b->bytes, .kind = region->kind };
		if (b->allocated)
			tdm_region_map_add(map, &buffer, (uint32_t)i);
	}
	tdm_region_map_finish(map);
}

static int compare_walls(const void *left, const void *right)
{
	const struct tdm_memory_wall *a = left, *b = right;
	int order = tdm_order(b->joined, a->joined);
	order = order != 0 ? order : tdm_order(a->bytes, b->bytes);
	return order != 0 ? order : tdm_order(a->address, b->address);
}

/* Finds the walls in a map whose holes are sorted by address. */
static void find_walls(struct tdm_memory_map *m)
{
	const struct tdm_region_map *map = &m->blocks;
	m->wall_count = map->gap_count > 1 ? map->gap_count - 1 : 0;
	m->walls = tdm_zalloc(m->wall_count, sizeof *m->walls);
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
}

static void map_region(const struct tdm_memory_states *s, size_t i)
{
	if (s->regions[i].block_count == 0)
		return;
	map_blocks(s, &s->regions[i], &s->maps[i].blocks);
	find_walls(&s->maps[i]);
	tdm_region_gaps_sort(s->maps[i].blocks.gaps, s->maps[i].blocks.gap_count);
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

/* A summary lacks the number of banks, but the blocks or the L1 summary of the same run contain it. Errors in that
 * other file are not reported, because the user did not name that file. */
static void look_beside(struct tdm_memory_states *s)
{
	static const char ending[] = "memory_usage_summary.csv";
	static const char *const others[] = { "detailed_memory_usage.csv", "l1_usage_summary.csv" };
	const char *path = tdm_input_name(s->reading->input);
	size_t len = strlen(path), cut = sizeof ending - 1;
	if (len < cut || strcmp(path + len - cut, ending) != 0)
		return;
	for (size_t i = 0; i < sizeof others / sizeof *others && s->banks_from == NULL; i++) {
		struct tdm_memory_states beside = { 0 };
		struct tdm_intake other = { .to = &beside, .take = tdm_memory_states_take };
		char *name = tdm_printed("%.*s%s", (int)(len - cut), path, others[i]);
		if (tdm_intake_open(&other, name) == 0 && other.format == s->reading->format) {
			tdm_intake_run(&other);
			tdm_memory_states_end(&beside);
			if (other.err == 0 && beside.state_count != 0 && tdm_memory_states_take_banks(s, &beside))
				s->banks_from = tdm_strdup(name);
		}
		tdm_input_close(other.input);
		tdm_memory_states_done(&beside);
		free(name);
	}
}

void tdm_memory_states_end(void *states)
{
	struct tdm_memory_states *s = states;
	s->maps = tdm_zalloc(s->region_count, sizeof *s->maps);
	for (size_t i = 0; i < s->region_count; i++) {
		struct tdm_memory_region *region = &s->regions[i];
		struct tdm_diag diag = { 0 };
		bool is_whole = settle_region(s, region);
		fill_device(region);
		map_region(s, i);
		if (is_whole || region->damaged || region->rough)
			continue; /* either already reported, or impossible to determine */
		tdm_diag_set(&diag, TDM_ESYNTAX, region->line, 0,
			"the blocks of %s do not add up to its totals: some are missing or wrong",
			tdm_kind_name((enum tdm_kind)region->kind));
		refuse(s, &diag);
	}
	check_states(s);
	for (size_t i = 0; i < s->state_count; i++) {
		s->states[i].dram = tdm_memory_states_find(s, i, TDM_KIND_DRAM);
		s->states[i].l1 = tdm_memory_states_find(s, i, TDM_KIND_L1);
	}
	if (s->reading != NULL && s->head.form == TDM_MEMORY_SUMMARY)
		look_beside(s);
}

/* ---- the result: blocks ---- */

/* Which state is tighter: by allocated bytes or, if the file lacks these, by how small the largest free block is. */
static bool presses_more(const struct tdm_memory_region *a, const struct tdm_memory_region *b)
{
	if (a->allocated != TDM_BYTES_UNKNOWN && b->allocated != TDM_BYTES_UNKNOWN)
		return a->allocated > b->allocated;
	if (a->allocated != TDM_BYTES_UNKNOWN || b->allocated != TDM_BYTES_UNKNOWN)
		return a->allocated != TDM_BYTES_UNKNOWN;
	return a->largest < b->largest;
}

static const char *state_name(struct tdm_arena *arena, const struct tdm_memory_states *s, size_t state)
{
	const struct tdm_memory_state *of = &s->states[state];
	return of->has_program ? tdm_arena_printed(arena, "program %" PRIu64, of->program)
			       : tdm_arena_printed(arena, "state %zu", state + 1);
}

#define WALL(member) TDM_MEMBER(struct tdm_memory_wall, member)
static const struct tdm_column walls[] = {
	{ "address", "address", WALL(address) },
	{ "size", "bytes", WALL(bytes), TDM_BYTES },
	{ "blocks", "blocks", WALL(blocks) },
	{ "hole without it", "joined_bytes", WALL(joined), TDM_BYTES },
};

#define HOLE(member) TDM_MEMBER(struct tdm_region_gap, member)
static const struct tdm_column holes[] = {
	{ "address", "address", HOLE(address) },
	{ "size", "bytes", HOLE(bytes), TDM_BYTES },
};

static struct tdm_table wall_table(const struct tdm_memory_map *map, size_t limit)
{
	struct tdm_table table = TDM_FITTED(walls, map->walls, map->wall_count);
	table.limit = limit;
	return table;
}

static struct tdm_table hole_table(const struct tdm_memory_map *map, size_t limit)
{
	struct tdm_table table = TDM_FITTED(holes, map->blocks.gaps, map->blocks.gap_count);
	table.limit = limit;
	return table;
}

static void add_blocks(
	struct tdm_block *in, const struct tdm_memory_states *s, const struct tdm_memory_region *region, size_t limit)
{
	const struct tdm_memory_map *map = &s->maps[region - s->regions];
	const struct tdm_region_map *m = &map->blocks;
	char used[TDM_BYTES_CAP], unused[TDM_BYTES_CAP];
	if (region->block_count == 0)
		return;
	const char *title = tdm_result_printed(in->result, "Blocks of %s%s%s: %zu of %s, %zu hole%s of %s",
		tdm_kind_name((enum tdm_kind)region->kind), s->state_count > 1 ? " " : "",
		s->state_count > 1 ? state_name(&in->result->arena, s, region->state) : "", m->span_count,
		tdm_format_bytes_short(used, sizeof used, m->used_bytes), m->gap_count, m->gap_count == 1 ? "" : "s",
		tdm_format_bytes_short(unused, sizeof unused, m->free_bytes));
	struct tdm_block *group = tdm_add_group(in, NULL, title);
	group->is_text_only = true;
	if (m->overlaps != 0)
		tdm_say(group, "{_overlaps/block begins/blocks begin} inside another one: the table is damaged",
			TDM_VALUES({ "_overlaps", tdm_value_count(m->overlaps) }));
	if (region->total == TDM_BYTES_UNKNOWN)
		tdm_say(group, "The blocks do not make a whole bank: what is missing counts as a hole here", NULL);
	tdm_add_table(group, NULL, "What splits the free space", wall_table(map, limit))->is_close = true;
	tdm_add_table(group, NULL, "Holes", hole_table(map, limit))->is_close = true;
}

/* ---- the result: regions ---- */

enum { BLOCKS, HOLES, OVERLAPS, WALLS, LARGEST_HOLES };

static struct tdm_value get_blocks(const struct tdm_field *field)
{
	const struct tdm_memory_states *s = field->table->context;
	const struct tdm_memory_region *region = field->row;
	const struct tdm_memory_map *map = &s->maps[region - s->regions];
	if (region->block_count == 0)
		return tdm_value_text(NULL);
	switch (field->column->arg) {
	case BLOCKS:
		return tdm_value_count(map->blocks.span_count);
	case HOLES:
		return tdm_value_count(map->blocks.gap_count);
	case OVERLAPS:
		return tdm_value_count(map->blocks.overlaps);
	case WALLS:
		return tdm_field_table(field, wall_table(map, field->table->limit));
	default:
		return tdm_field_table(field, hole_table(map, field->table->limit));
	}
}

static struct tdm_value get_used(const struct tdm_field *field)
{
	const struct tdm_memory_region *region = field->row;
	return tdm_value_share(tdm_share(region->allocated, region->total));
}

static struct tdm_value fragmentation_of(const struct tdm_memory_region *region)
{
	bool is_known = region != NULL && region->free != TDM_BYTES_UNKNOWN && region->largest <= region->free;
	return tdm_value_share(is_known ? tdm_replay_frag(region->free, region->largest) : (double)NAN);
}

static struct tdm_value get_fragmentation(const struct tdm_field *field)
{
	return fragmentation_of(field->row);
}

static struct tdm_value get_when(const struct tdm_field *field)
{
	const struct tdm_memory_region *region = field->row;
	return tdm_value_text(state_name(field->scratch, field->table->context, region->state));
}

/* Text has two tables of regions: one for a single bank, one for all banks. */
enum { OF_STATES = 1 << 12, OF_ALL_BANKS = 0xf << 6 | 1 };
#define REGION(member) TDM_MEMBER(struct tdm_memory_region, member)
#define UNKNOWN        .unknown = "unknown"
static const struct tdm_column regions[] = {
	{ "kind", "kind", REGION(kind), .flags = TDM_IS_KIND },
	{ "banks", "banks", REGION(banks), .flags = TDM_ZERO_IS_UNKNOWN, UNKNOWN },
	{ "size", "bank_bytes", REGION(total), TDM_BYTES, UNKNOWN },
	{ "allocated", "bank_allocated_bytes", REGION(allocated), TDM_BYTES, UNKNOWN },
	{ "free", "bank_free_bytes", REGION(free), TDM_BYTES, UNKNOWN },
	{ "largest", "bank_largest_free_bytes", REGION(largest), TDM_BYTES, UNKNOWN },
	{ "size", "bytes", REGION(device_total), TDM_BYTES, UNKNOWN },
	{ "allocated", "allocated_bytes", REGION(device_allocated), TDM_BYTES, UNKNOWN },
	{ "free", "free_bytes", REGION(device_free), TDM_BYTES, UNKNOWN },
	{ "largest", "interleaved_free_bytes", REGION(interleaved_free), TDM_BYTES, UNKNOWN },
	{ "used", NULL, .get = get_used, .decimals = 1 },
	{ "frag.", "fragmentation", .get = get_fragmentation, .decimals = 1 },
	{ "when", NULL, .get = get_when },
	{ NULL, "blocks", .get = get_blocks, .arg = BLOCKS },
	{ NULL, "holes", .get = get_blocks, .arg = HOLES },
	{ NULL, "overlaps", .get = get_blocks, .arg = OVERLAPS },
	{ NULL, "walls", .get = get_blocks, .arg = WALLS },
	{ NULL, "largest_holes", .get = get_blocks, .arg = LARGEST_HOLES },
};

/* For each kind, finds the first state in which that kind was fullest. Sorts these states by kind and returns their
 * number. */
static size_t find_fullest(const struct tdm_memory_states *s, const struct tdm_memory_region *fullest[TDM_KIND_COUNT])
{
	size_t count = 0;
	for (int kind = 0; kind < TDM_KIND_COUNT; kind++) {
		const struct tdm_memory_region *best = NULL;
		for (size_t i = 0; i < s->region_count; i++)
			if (s->regions[i].kind == kind && (best == NULL || presses_more(&s->regions[i], best)))
				best = &s->regions[i];
		if (best != NULL)
			fullest[count++] = best;
	}
	return count;
}

static void add_regions(
	struct tdm_block *in, const struct tdm_memory_states *s, const struct tdm_memory_region **fullest, size_t count)
{
	struct tdm_table table = { TDM_COLUMNS(regions), fullest, 0, count, .row = tdm_table_pointed, .context = s,
		.gap = 2, .fits = true };
	const struct tdm_memory_region **known = tdm_result_alloc(in->result, count, sizeof *known);
	table.hidden = (OF_ALL_BANKS & ~1U) | (s->state_count == 1 ? OF_STATES : 0);
	tdm_add_table(in, NULL, s->state_count == 1 ? "Per bank" : "Fullest, per bank", table);
	table.hidden = ~(uint64_t)OF_ALL_BANKS;
	table.count = 0;
	table.rows = known;
	for (size_t i = 0; i < count; i++)
		if (fullest[i]->device_total != TDM_BYTES_UNKNOWN || fullest[i]->interleaved_free != TDM_BYTES_UNKNOWN)
			known[table.count++] = fullest[i];
	tdm_add_table(in, NULL, "All banks", table);
}

/* ---- the result: states ---- */

static struct tdm_value get_regions(const struct tdm_field *field)
{
	const struct tdm_memory_states *s = field->table->context;
	const struct tdm_memory_state *state = field->row;
	struct tdm_table table = TDM_TABLE_OF(regions, s->regions + state->first_region, state->region_count);
	table.context = s;
	table.limit = field->table->limit;
	table.is_whole_in_data = true;
	return tdm_field_table(field, table);
}

static struct tdm_value get_name(const struct tdm_field *field)
{
	const struct tdm_memory_states *s = field->table->context;
	return tdm_value_text(
		state_name(field->scratch, s, (size_t)((const struct tdm_memory_state *)field->row - s->states)));
}

static struct tdm_value get_l1_fragmentation(const struct tdm_field *field)
{
	return fragmentation_of(((const struct tdm_memory_state *)field->row)->l1);
}

#define STATE(member)    TDM_MEMBER(struct tdm_memory_state, member)
#define OF(kind, member) TDM_VIA(struct tdm_memory_state, kind, struct tdm_memory_region, member)
static const struct tdm_column states_columns[] = {
	{ NULL, "program", STATE(program), TDM_KNOWN_IF(struct tdm_memory_state, has_program) },
	{ NULL, "line", STATE(line) },
	{ NULL, "regions", .get = get_regions },
};

static const struct tdm_column fullest_l1[] = {
	{ "Fullest L1", NULL, .get = get_name },
	{ "DRAM", NULL, OF(dram, allocated), TDM_BYTES, UNKNOWN },
	{ "largest", NULL, OF(dram, largest), TDM_BYTES, UNKNOWN },
	{ "L1", NULL, OF(l1, allocated), TDM_BYTES, UNKNOWN },
	{ "largest", NULL, OF(l1, largest), TDM_BYTES, UNKNOWN },
	{ "frag. of one bank", NULL, .get = get_l1_fragmentation, .decimals = 1 },
};

static const struct tdm_column least_l1[] = {
	{ "Least room in L1", NULL, .get = get_name },
	{ "banks", NULL, OF(l1, banks), .flags = TDM_ZERO_IS_UNKNOWN, UNKNOWN },
	{ "largest free", NULL, OF(l1, largest), TDM_BYTES, UNKNOWN },
	{ "in all banks", NULL, OF(l1, interleaved_free), TDM_BYTES, UNKNOWN },
};

/* Fullest L1 first. */
static int compare_states(const void *left, const void *right)
{
	const struct tdm_memory_state *a = *(const struct tdm_memory_state *const *)left,
				      *b = *(const struct tdm_memory_state *const *)right;
	if ((a->l1 == NULL) != (b->l1 == NULL))
		return a->l1 == NULL ? 1 : -1;
	if (a->l1 != NULL && presses_more(a->l1, b->l1) != presses_more(b->l1, a->l1))
		return presses_more(a->l1, b->l1) ? -1 : 1;
	return tdm_order((uintptr_t)a, (uintptr_t)b);
}

static void add_states(struct tdm_block *in, const struct tdm_memory_states *s, size_t limit)
{
	const struct tdm_memory_state **order = tdm_result_alloc(in->result, s->state_count, sizeof *order);
	for (size_t i = 0; i < s->state_count; i++)
		order[i] = &s->states[i];
	qsort(order, s->state_count, sizeof *order, compare_states);
	struct tdm_table table = s->head.form == TDM_MEMORY_L1 ? TDM_FITTED(least_l1, order, s->state_count)
							       : TDM_FITTED(fullest_l1, order, s->state_count);
	table.row = tdm_table_pointed;
	table.context = s;
	table.limit = limit;
	tdm_add_table(in, NULL, NULL, table);
}

static void init(void *states, struct tdm_intake *reading)
{
	struct tdm_memory_states *s = states;
	s->sink = (struct tdm_record_sink){ reading, tdm_intake_take };
	s->reading = reading;
}

static bool show(void *states, const struct tdm_intake *reading, size_t limit, struct tdm_block *in)
{
	static const char *const forms[TDM_MEMORY_FORMS] = { "summary", "l1", "detailed" };
	static const char *const titles[TDM_MEMORY_FORMS] = { "figures of one bank", "room for interleaved L1 buffers",
		"blocks of one bank" };
	static const struct tdm_column when[] = { { NULL, "kind", REGION(kind), .flags = TDM_IS_KIND },
		{ NULL, "state", REGION(state) } };
	const struct tdm_memory_states *s = states;
	const struct tdm_memory_region **fullest = tdm_result_alloc(in->result, TDM_KIND_COUNT, sizeof *fullest);
	size_t count = find_fullest(s, fullest);
	bool is_l1 = s->head.form == TDM_MEMORY_L1;
	tdm_line(in, "Memory report",
		s->by_program ? "{_file}: {_form}, {_states/program/programs}"
			      : "{_file}: {_form}, {_states/state/states}",
		TDM_VALUES({ "_file", tdm_value_text(tdm_input_name(reading->input)) },
			{ "_form", tdm_value_text(titles[s->head.form]) },
			{ "_states", tdm_value_count(s->state_count) }));
	tdm_report_head(in, reading, "memory_report", s->refused);
	tdm_data_all(in,
		TDM_VALUES({ "form", tdm_value_text(forms[s->head.form]) }, { "rounded", tdm_value_bool(s->rounded) }));
	tdm_line(in, "Banks", "from {banks_from}", TDM_VALUES({ "banks_from", tdm_value_text(s->banks_from) }))
		->is_data_only = s->banks_from == NULL;
	if (s->rounded)
		tdm_line(in, "Rounded", "the file has KiB, rounded down: a figure may be 1,023 bytes too low", NULL);
	if (!is_l1)
		add_regions(in, s, fullest, count);
	if (is_l1 || s->state_count > 1)
		add_states(in, s, limit);
	for (size_t i = 0; i < count; i++)
		add_blocks(in, s, fullest[i], limit);
	tdm_add_table(in, "fullest", NULL,
		(struct tdm_table){ TDM_COLUMNS(when), fullest, 0, count, .row = tdm_table_pointed })
		->is_data_only = true;
	struct tdm_table all = TDM_TABLE_OF(states_columns, s->states, s->state_count);
	all.context = s;
	all.limit = limit;
	all.is_whole_in_data = true;
	tdm_add_table(in, "states", NULL, all)->is_data_only = true;
	return true;
}

const struct tdm_report_analyser tdm_memory_report = { "memory_report", NULL, sizeof(struct tdm_memory_states), init,
	tdm_memory_states_take, tdm_memory_states_end, show, tdm_memory_states_done };
