#include "report/report_memory.h"
#include "analyze/region_map.h"
#include "report/cell.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const form_names[TDM_MEMORY_FORMS] = { "summary", "l1", "detailed" };
static const char *const form_titles[TDM_MEMORY_FORMS] = { "figures of one bank", "room for interleaved L1 buffers",
	"blocks of one bank" };

uint32_t tdm_memory_view_banks(const struct tdm_memory_view *v, size_t state, const struct tdm_memory_region *region)
{
	if (region->banks != 0 || v->beside == NULL || state >= v->beside->state_count)
		return region->banks;
	const struct tdm_memory_state *here = &v->report->states[state], *there = &v->beside->states[state];
	const struct tdm_memory_region *other = tdm_memory_report_find(v->beside, state, (enum tdm_kind)region->kind);
	bool is_same = here->has_program == there->has_program && here->program == there->program && other != NULL &&
		       (other->total == region->total || other->total == TDM_BYTES_UNKNOWN) &&
		       (other->largest == region->largest || other->largest == TDM_BYTES_UNKNOWN);
	return is_same ? other->banks : 0;
}

static double fragmentation(const struct tdm_memory_region *region)
{
	if (region->free == TDM_BYTES_UNKNOWN || region->largest == TDM_BYTES_UNKNOWN || region->largest > region->free)
		return NAN;
	return region->free != 0 ? 1 - (double)region->largest / (double)region->free : 0;
}

static double share(const struct tdm_memory_region *region)
{
	if (region->allocated == TDM_BYTES_UNKNOWN || region->total == TDM_BYTES_UNKNOWN || region->total == 0)
		return NAN;
	return (double)region->allocated / (double)region->total;
}

static void put_percent(struct tdm_buf *out, double value)
{
	if (isnan(value))
		tdm_buf_printf(out, " %6s", "-");
	else
		tdm_buf_printf(out, " %5.1f%%", value * 100);
}

/* How much a state presses: what is allocated, or, where the file does not say, how little is left in one piece. */
static bool presses_more(const struct tdm_memory_region *a, const struct tdm_memory_region *b)
{
	if (a->allocated != TDM_BYTES_UNKNOWN && b->allocated != TDM_BYTES_UNKNOWN)
		return a->allocated > b->allocated;
	if (a->allocated != TDM_BYTES_UNKNOWN || b->allocated != TDM_BYTES_UNKNOWN)
		return a->allocated != TDM_BYTES_UNKNOWN;
	return a->largest < b->largest;
}

/* The first state in which a kind of memory was fullest; SIZE_MAX: no state has it. */
static size_t fullest(const struct tdm_memory_report *report, enum tdm_kind kind)
{
	const struct tdm_memory_region *best = NULL;
	size_t found = SIZE_MAX;
	for (size_t i = 0; i < report->state_count; i++) {
		const struct tdm_memory_region *region = tdm_memory_report_find(report, i, kind);
		if (region != NULL && (best == NULL || presses_more(region, best))) {
			best = region;
			found = i;
		}
	}
	return found;
}

static void put_state_name(const struct tdm_memory_report *report, size_t state, char *dst, size_t cap)
{
	const struct tdm_memory_state *s = &report->states[state];
	if (s->has_program)
		snprintf(dst, cap, "program %" PRIu64, s->program);
	else
		snprintf(dst, cap, "state %zu", state + 1);
}

/* Whether banks are known from the file beside this one. */
static bool uses_beside(const struct tdm_memory_view *v)
{
	const struct tdm_memory_report *r = v->report;
	for (size_t state = 0; v->beside != NULL && state < r->state_count; state++)
		for (size_t i = 0; i < r->states[state].region_count; i++)
			if (tdm_memory_view_banks(v, state, &r->regions[r->states[state].first_region + i]) != 0)
				return true;
	return false;
}

static void put_head(const struct tdm_memory_view *v, struct tdm_buf *out)
{
	const struct tdm_memory_report *r = v->report;
	tdm_buf_puts(out, "Memory report  ");
	tdm_cell_put(out, tdm_str_of(v->file.path), 0, v->file.term.utf8);
	tdm_buf_printf(out, ": %s, ", form_titles[r->form]);
	if (r->by_program)
		tdm_buf_printf(out, "%zu program%s\n", r->state_count, tdm_plural(r->state_count));
	else
		tdm_buf_printf(out, "%zu state%s\n", r->state_count, tdm_plural(r->state_count));
	if (uses_beside(v)) {
		tdm_buf_puts(out, "Banks          from ");
		tdm_cell_put(out, tdm_str_of(v->beside_path), 0, v->file.term.utf8);
		tdm_buf_putc(out, '\n');
	}
	if (r->rounded)
		tdm_buf_puts(
			out, "Rounded        the file has KiB, rounded down: a figure may be 1,023 bytes too low\n");
	tdm_put_cut(out, &v->file);
}

static void put_banks(struct tdm_buf *out, uint32_t banks)
{
	if (banks != 0)
		tdm_buf_printf(out, " %7" PRIu32, banks);
	else
		tdm_buf_printf(out, " %7s", "unknown");
}

/* Every kind where it was fullest. */
static void put_regions(const struct tdm_memory_view *v, struct tdm_buf *out)
{
	const struct tdm_memory_report *r = v->report;
	char text[160];
	bool is_one = r->state_count == 1;
	snprintf(text, sizeof text, "%-10s %7s %10s %10s %10s %10s %6s %6s%s", is_one ? "Per bank" : "Fullest", "banks",
		"size", "allocated", "free", "largest", "used", "frag.", is_one ? "" : "  when");
	tdm_put_heading(out, &v->file.term, text);
	for (int kind = 0; kind < TDM_KIND_COUNT; kind++) {
		size_t state = fullest(r, (enum tdm_kind)kind);
		if (state == SIZE_MAX)
			continue;
		const struct tdm_memory_region *region = tdm_memory_report_find(r, state, (enum tdm_kind)kind);
		uint64_t figures[] = { region->total, region->allocated, region->free, region->largest };
		tdm_buf_printf(out, "%-10s", tdm_kind_name((enum tdm_kind)kind));
		put_banks(out, tdm_memory_view_banks(v, state, region));
		for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
			char bytes[TDM_BYTES_CAP];
			tdm_buf_printf(out, " %s", tdm_format_bytes(bytes, sizeof bytes, figures[i]));
		}
		put_percent(out, share(region));
		put_percent(out, fragmentation(region));
		if (!is_one) {
			char name[40];
			put_state_name(r, state, name, sizeof name);
			tdm_buf_printf(out, "  %s", name);
		}
		tdm_buf_putc(out, '\n');
	}
}

static uint64_t times(uint64_t bytes, uint32_t banks)
{
	uint64_t product;
	if (bytes == TDM_BYTES_UNKNOWN || banks == 0 || __builtin_mul_overflow(bytes, (uint64_t)banks, &product))
		return TDM_BYTES_UNKNOWN;
	return product;
}

/* The same for the whole device, as far as it is known. */
static void put_device(const struct tdm_memory_view *v, struct tdm_buf *out)
{
	const struct tdm_memory_report *r = v->report;
	bool any = false;
	for (int kind = 0; kind < TDM_KIND_COUNT; kind++) {
		size_t state = fullest(r, (enum tdm_kind)kind);
		if (state == SIZE_MAX)
			continue;
		const struct tdm_memory_region *g = tdm_memory_report_find(r, state, (enum tdm_kind)kind);
		uint32_t banks = tdm_memory_view_banks(v, state, g);
		uint64_t figures[] = {
			g->device_total != TDM_BYTES_UNKNOWN ? g->device_total : times(g->total, banks),
			g->device_allocated != TDM_BYTES_UNKNOWN ? g->device_allocated : times(g->allocated, banks),
			g->device_free != TDM_BYTES_UNKNOWN ? g->device_free : times(g->free, banks),
			g->interleaved_free != TDM_BYTES_UNKNOWN ? g->interleaved_free : times(g->largest, banks),
		};
		if (figures[0] == TDM_BYTES_UNKNOWN && figures[3] == TDM_BYTES_UNKNOWN)
			continue;
		if (!any)
			tdm_put_heading(
				out, &v->file.term, "All banks                size  allocated       free    largest");
		any = true;
		tdm_buf_printf(out, "%-18s", tdm_kind_name((enum tdm_kind)kind));
		for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
			char bytes[TDM_BYTES_CAP];
			tdm_buf_printf(out, " %s", tdm_format_bytes(bytes, sizeof bytes, figures[i]));
		}
		tdm_buf_putc(out, '\n');
	}
}

struct state_order {
	const struct tdm_memory_report *report;
	uint8_t kind;
};

static int compare_states(const void *left, const void *right, void *context)
{
	const struct state_order *order = context;
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	const struct tdm_memory_region *x = tdm_memory_report_find(order->report, a, (enum tdm_kind)order->kind);
	const struct tdm_memory_region *y = tdm_memory_report_find(order->report, b, (enum tdm_kind)order->kind);
	if (x == NULL || y == NULL)
		return (x == NULL) != (y == NULL) ? (x == NULL ? 1 : -1) : (a < b ? -1 : 1);
	if (presses_more(x, y))
		return -1;
	if (presses_more(y, x))
		return 1;
	return a < b ? -1 : a > b;
}

/* The states, those first in which L1 was fullest. */
static void put_states(const struct tdm_memory_view *v, struct tdm_buf *out)
{
	const struct tdm_memory_report *r = v->report;
	struct state_order order = { r, TDM_KIND_L1 };
	if (r->state_count < (r->form == TDM_MEMORY_L1 ? 1 : 2))
		return;
	size_t *states = malloc(r->state_count * sizeof *states);
	if (states == NULL) {
		out->failed = true;
		return;
	}
	for (size_t i = 0; i < r->state_count; i++)
		states[i] = i;
	qsort_r(states, r->state_count, sizeof *states, compare_states, &order);
	tdm_put_heading(out, &v->file.term,
		r->form == TDM_MEMORY_L1
			? "Least room in L1        banks  largest free    in all banks"
			: "Fullest L1                  DRAM    largest          L1    largest  frag.  of one bank");
	for (size_t i = 0; i < r->state_count && i < v->file.limit; i++) {
		const struct tdm_memory_region *dram = tdm_memory_report_find(r, states[i], TDM_KIND_DRAM);
		const struct tdm_memory_region *l1 = tdm_memory_report_find(r, states[i], TDM_KIND_L1);
		char name[40], cells[4][TDM_BYTES_CAP];
		put_state_name(r, states[i], name, sizeof name);
		if (r->form == TDM_MEMORY_L1) {
			tdm_buf_printf(out, "  %-19s", name);
			put_banks(out, l1 != NULL ? l1->banks : 0);
			tdm_buf_printf(out, "  %12s    %12s\n",
				tdm_format_bytes(
					cells[0], sizeof cells[0], l1 != NULL ? l1->largest : TDM_BYTES_UNKNOWN),
				tdm_format_bytes(cells[1], sizeof cells[1],
					l1 != NULL ? l1->interleaved_free : TDM_BYTES_UNKNOWN));
			continue;
		}
		uint64_t figures[] = {
			dram != NULL ? dram->allocated : TDM_BYTES_UNKNOWN,
			dram != NULL ? dram->largest : TDM_BYTES_UNKNOWN,
			l1 != NULL ? l1->allocated : TDM_BYTES_UNKNOWN,
			l1 != NULL ? l1->largest : TDM_BYTES_UNKNOWN,
		};
		for (int k = 0; k < 4; k++)
			tdm_format_bytes(cells[k], sizeof cells[k], figures[k]);
		tdm_buf_printf(out, "  %-19s %s %s  %s %s", name, cells[0], cells[1], cells[2], cells[3]);
		put_percent(out, l1 != NULL ? fragmentation(l1) : NAN);
		tdm_buf_putc(out, '\n');
	}
	tdm_put_rest(out, r->state_count, v->file.limit);
	free(states);
}

/* The map of a region's blocks. 0 or -ENOMEM; tdm_region_map_done either way. */
static int map_blocks(
	const struct tdm_memory_report *r, const struct tdm_memory_region *region, struct tdm_region_map *map)
{
	struct tdm_region place = { .kind = region->kind, .banks = region->banks };
	uint64_t low = UINT64_MAX, high = 0;
	for (size_t i = 0; i < region->block_count; i++) {
		const struct tdm_memory_block *b = &r->blocks[region->first_block + i];
		low = b->address < low ? b->address : low;
		high = b->address + b->bytes > high ? b->address + b->bytes : high;
	}
	place.base = region->block_count != 0 ? low : 0;
	place.bank_size = region->block_count != 0 ? high - low : 0;
	/* The blocks themselves say where the region lies. Which source that is makes no difference to the map. */
	tdm_region_map_init(map, (enum tdm_kind)region->kind, &place, TDM_FROM_LEDGER);
	for (size_t i = 0; i < region->block_count; i++) {
		const struct tdm_memory_block *b = &r->blocks[region->first_block + i];
		struct tdm_buffer buffer = { .address = b->address, .bank_bytes = b->bytes, .kind = region->kind };
		if (b->allocated && tdm_region_map_add(map, &buffer, (uint32_t)i) != 0)
			return -1;
	}
	return tdm_region_map_finish(map);
}

/* What lies between two holes: without it they would be one. */
struct wall {
	uint64_t address, bytes; /* of the blocks between */
	uint64_t joined;         /* size of the hole that would be there */
	size_t blocks;
};

static int compare_walls(const void *left, const void *right)
{
	const struct wall *a = left, *b = right;
	if (a->joined != b->joined)
		return a->joined > b->joined ? -1 : 1;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* The walls of a map whose holes are by address; the one with most behind it first. NULL: none, or no memory. */
static struct wall *find_walls(const struct tdm_region_map *map, size_t *count)
{
	*count = map->gap_count > 1 ? map->gap_count - 1 : 0;
	struct wall *walls = *count != 0 ? calloc(*count, sizeof *walls) : NULL;
	if (walls == NULL) {
		*count = 0;
		return NULL;
	}
	size_t span = 0;
	for (size_t i = 0; i < *count; i++) {
		const struct tdm_region_gap *below = &map->gaps[i], *above = &map->gaps[i + 1];
		uint64_t end = below->address + below->bytes;
		walls[i] =
			(struct wall){ end, above->address - end, above->address + above->bytes - below->address, 0 };
		while (span < map->span_count && map->spans[span].address < end)
			span++;
		for (; span < map->span_count && map->spans[span].address < above->address; span++)
			walls[i].blocks++;
	}
	qsort(walls, *count, sizeof *walls, compare_walls);
	return walls;
}

static void put_walls(const struct tdm_memory_view *v, const struct tdm_region_map *map, struct tdm_buf *out)
{
	size_t count;
	struct wall *walls = find_walls(map, &count);
	if (count != 0)
		tdm_buf_printf(out, "  What splits the free space\n  %15s %10s %7s  %s\n", "address", "size", "blocks",
			"hole without it");
	for (size_t i = 0; i < count && i < v->file.limit; i++) {
		char size[TDM_BYTES_CAP], joined[TDM_BYTES_CAP];
		tdm_buf_printf(out, "  %15" PRIu64 " %s %7zu  %s\n", walls[i].address,
			tdm_format_bytes(size, sizeof size, walls[i].bytes), walls[i].blocks,
			tdm_format_bytes_short(joined, sizeof joined, walls[i].joined));
	}
	tdm_put_rest(out, count, v->file.limit);
	free(walls);
}

static void put_holes(const struct tdm_memory_view *v, struct tdm_region_map *map, struct tdm_buf *out)
{
	put_walls(v, map, out);
	if (map->gap_count == 0)
		return;
	tdm_region_gaps_sort(map->gaps, map->gap_count);
	tdm_buf_printf(out, "  Holes\n  %15s %10s\n", "address", "size");
	for (size_t i = 0; i < map->gap_count && i < v->file.limit; i++) {
		char size[TDM_BYTES_CAP];
		tdm_buf_printf(out, "  %15" PRIu64 " %s\n", map->gaps[i].address,
			tdm_format_bytes(size, sizeof size, map->gaps[i].bytes));
	}
	tdm_put_rest(out, map->gap_count, v->file.limit);
}

static void put_blocks(const struct tdm_memory_view *v, enum tdm_kind kind, struct tdm_buf *out)
{
	const struct tdm_memory_report *r = v->report;
	size_t state = fullest(r, kind);
	const struct tdm_memory_region *region = state != SIZE_MAX ? tdm_memory_report_find(r, state, kind) : NULL;
	struct tdm_region_map map;
	if (region == NULL || region->block_count == 0)
		return;
	char text[160], name[48] = "", used[TDM_BYTES_CAP], unused[TDM_BYTES_CAP];
	if (r->state_count > 1) {
		name[0] = ' ';
		put_state_name(r, state, name + 1, sizeof name - 1);
	}
	if (map_blocks(r, region, &map) != 0) {
		out->failed = true;
	} else {
		snprintf(text, sizeof text, "Blocks of %s%s: %zu of %s, %zu hole%s of %s", tdm_kind_name(kind), name,
			map.span_count, tdm_format_bytes_short(used, sizeof used, map.used_bytes), map.gap_count,
			tdm_plural(map.gap_count), tdm_format_bytes_short(unused, sizeof unused, map.free_bytes));
		tdm_put_heading(out, &v->file.term, text);
		if (map.overlaps != 0)
			tdm_buf_printf(out, "  %" PRIu64 " block%s begin%s inside another one: the table is damaged\n",
				map.overlaps, tdm_plural(map.overlaps), map.overlaps == 1 ? "s" : "");
		if (region->total == TDM_BYTES_UNKNOWN)
			tdm_buf_puts(
				out, "  The blocks do not make a whole bank: what is missing counts as a hole here\n");
		put_holes(v, &map, out);
	}
	tdm_region_map_done(&map);
}

void tdm_memory_view_text(const struct tdm_memory_view *v, struct tdm_buf *out)
{
	put_head(v, out);
	if (v->report->form != TDM_MEMORY_L1) {
		put_regions(v, out);
		put_device(v, out);
	}
	put_states(v, out);
	for (int kind = 0; v->report->form == TDM_MEMORY_DETAILED && kind < TDM_KIND_COUNT; kind++)
		put_blocks(v, (enum tdm_kind)kind, out);
}

static void json_blocks(const struct tdm_memory_view *v, const struct tdm_memory_region *region, struct tdm_json *json)
{
	struct tdm_region_map map;
	if (map_blocks(v->report, region, &map) != 0) {
		json->out->failed = true;
	} else {
		size_t count;
		struct wall *walls = find_walls(&map, &count);
		tdm_json_put_u64(json, "blocks", map.span_count);
		tdm_json_put_u64(json, "holes", map.gap_count);
		tdm_json_put_u64(json, "overlaps", map.overlaps);
		tdm_json_put_array(json, "walls");
		for (size_t i = 0; i < count && i < v->file.limit; i++) {
			tdm_json_object(json);
			tdm_json_put_u64(json, "address", walls[i].address);
			tdm_json_put_bytes(json, "bytes", walls[i].bytes);
			tdm_json_put_u64(json, "blocks", walls[i].blocks);
			tdm_json_put_bytes(json, "joined_bytes", walls[i].joined);
			tdm_json_object_end(json);
		}
		tdm_json_array_end(json);
		free(walls);
		tdm_region_gaps_sort(map.gaps, map.gap_count);
		tdm_json_put_array(json, "largest_holes");
		for (size_t i = 0; i < map.gap_count && i < v->file.limit; i++) {
			tdm_json_object(json);
			tdm_json_put_u64(json, "address", map.gaps[i].address);
			tdm_json_put_bytes(json, "bytes", map.gaps[i].bytes);
			tdm_json_object_end(json);
		}
		tdm_json_array_end(json);
	}
	tdm_region_map_done(&map);
}

static void json_region(
	const struct tdm_memory_view *v, size_t state, const struct tdm_memory_region *g, struct tdm_json *json)
{
	uint32_t banks = tdm_memory_view_banks(v, state, g);
	tdm_json_object(json);
	tdm_json_put_text(json, "kind", tdm_kind_name((enum tdm_kind)g->kind));
	tdm_json_put_bytes(json, "banks", banks != 0 ? banks : TDM_BYTES_UNKNOWN);
	tdm_json_put_bytes(json, "bank_bytes", g->total);
	tdm_json_put_bytes(json, "bank_allocated_bytes", g->allocated);
	tdm_json_put_bytes(json, "bank_free_bytes", g->free);
	tdm_json_put_bytes(json, "bank_largest_free_bytes", g->largest);
	tdm_json_put_bytes(
		json, "bytes", g->device_total != TDM_BYTES_UNKNOWN ? g->device_total : times(g->total, banks));
	tdm_json_put_bytes(json, "allocated_bytes",
		g->device_allocated != TDM_BYTES_UNKNOWN ? g->device_allocated : times(g->allocated, banks));
	tdm_json_put_bytes(
		json, "free_bytes", g->device_free != TDM_BYTES_UNKNOWN ? g->device_free : times(g->free, banks));
	tdm_json_put_bytes(json, "interleaved_free_bytes",
		g->interleaved_free != TDM_BYTES_UNKNOWN ? g->interleaved_free : times(g->largest, banks));
	tdm_json_put_double(json, "fragmentation", fragmentation(g));
	if (g->block_count != 0)
		json_blocks(v, g, json);
	tdm_json_object_end(json);
}

void tdm_memory_view_json(const struct tdm_memory_view *v, struct tdm_json *json)
{
	const struct tdm_memory_report *r = v->report;
	tdm_json_put_text(json, "source", "memory_report");
	tdm_json_put_text(json, "form", form_names[r->form]);
	tdm_json_put_bool(json, "complete", !v->file.cut);
	tdm_json_put_u64(json, "refused", r->refused);
	tdm_json_put_bool(json, "rounded", r->rounded);
	tdm_json_put_text(json, "banks_from", uses_beside(v) ? v->beside_path : NULL);
	tdm_json_put_array(json, "fullest");
	for (int kind = 0; kind < TDM_KIND_COUNT; kind++) {
		size_t state = fullest(r, (enum tdm_kind)kind);
		if (state == SIZE_MAX)
			continue;
		tdm_json_object(json);
		tdm_json_put_text(json, "kind", tdm_kind_name((enum tdm_kind)kind));
		tdm_json_put_u64(json, "state", state);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_put_array(json, "states");
	for (size_t i = 0; i < r->state_count; i++) {
		const struct tdm_memory_state *s = &r->states[i];
		tdm_json_object(json);
		tdm_json_put_bytes(json, "program", s->has_program ? s->program : TDM_BYTES_UNKNOWN);
		tdm_json_put_u64(json, "line", s->line);
		tdm_json_put_array(json, "regions");
		for (size_t k = 0; k < s->region_count; k++)
			json_region(v, i, &r->regions[s->first_region + k], json);
		tdm_json_array_end(json);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}
