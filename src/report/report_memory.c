#include "report/report_memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const form_names[TDM_MEMORY_FORMS] = { "summary", "l1", "detailed" };
static const char *const form_titles[TDM_MEMORY_FORMS] = { "figures of one bank", "room for interleaved L1 buffers",
	"blocks of one bank" };

static void put_percent(struct tdm_buf *out, double value)
{
	if (isnan(value))
		tdm_buf_printf(out, " %6s", "-");
	else
		tdm_buf_printf(out, " %5.1f%%", value * 100);
}

static void put_state_name(const struct tdm_memory_states *s, size_t state, char *dst, size_t cap)
{
	const struct tdm_memory_state *at = &s->states[state];
	if (at->has_program)
		snprintf(dst, cap, "program %" PRIu64, at->program);
	else
		snprintf(dst, cap, "state %zu", state + 1);
}

static void put_head(const struct tdm_memory_view *v, struct tdm_buf *out)
{
	const struct tdm_memory_states *s = v->states;
	tdm_put_title(out, "Memory report", &v->file);
	tdm_buf_printf(out, ": %s, %zu %s%s\n", form_titles[s->head.form], s->state_count,
		s->by_program ? "program" : "state", tdm_plural(s->state_count));
	if (tdm_memory_states_uses(s, v->beside)) {
		tdm_buf_puts(out, "Banks          from ");
		tdm_cell_put(out, tdm_str_of(v->beside_path), 0, v->file.term.utf8);
		tdm_buf_putc(out, '\n');
	}
	if (s->rounded)
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

static void put_figures(struct tdm_buf *out, const uint64_t figures[TDM_MEMORY_FIGURES])
{
	char bytes[TDM_BYTES_CAP];
	for (size_t i = 0; i < TDM_MEMORY_FIGURES; i++)
		tdm_buf_printf(out, " %s", tdm_format_bytes(bytes, sizeof bytes, figures[i]));
}

/* Every kind where it was fullest. */
static void put_regions(const struct tdm_memory_view *v, struct tdm_buf *out)
{
	const struct tdm_memory_states *s = v->states;
	char text[160], name[40];
	bool is_one = s->state_count == 1;
	snprintf(text, sizeof text, "%-10s %7s %10s %10s %10s %10s %6s %6s%s", is_one ? "Per bank" : "Fullest", "banks",
		"size", "allocated", "free", "largest", "used", "frag.", is_one ? "" : "  when");
	tdm_put_heading(out, &v->file.term, text);
	for (int kind = 0; kind < TDM_KIND_COUNT; kind++) {
		size_t state = tdm_memory_states_fullest(s, (enum tdm_kind)kind);
		if (state == SIZE_MAX)
			continue;
		const struct tdm_memory_region *g = tdm_memory_states_find(s, state, (enum tdm_kind)kind);
		tdm_buf_printf(out, "%-10s", tdm_kind_name((enum tdm_kind)kind));
		put_banks(out, tdm_memory_states_banks(s, v->beside, state, g));
		put_figures(out, (const uint64_t[]){ g->total, g->allocated, g->free, g->largest });
		put_percent(out, tdm_memory_region_share(g));
		put_percent(out, tdm_memory_region_fragmentation(g));
		put_state_name(s, state, name, sizeof name);
		tdm_buf_printf(out, "%s%s\n", is_one ? "" : "  ", is_one ? "" : name);
	}
}

/* The same for the whole device, as far as it is known. */
static void put_device(const struct tdm_memory_view *v, struct tdm_buf *out)
{
	const struct tdm_memory_states *s = v->states;
	bool any = false;
	for (int kind = 0; kind < TDM_KIND_COUNT; kind++) {
		size_t state = tdm_memory_states_fullest(s, (enum tdm_kind)kind);
		if (state == SIZE_MAX)
			continue;
		const struct tdm_memory_region *g = tdm_memory_states_find(s, state, (enum tdm_kind)kind);
		uint64_t figures[TDM_MEMORY_FIGURES];
		tdm_memory_region_all_banks(g, tdm_memory_states_banks(s, v->beside, state, g), figures);
		if (figures[0] == TDM_BYTES_UNKNOWN && figures[3] == TDM_BYTES_UNKNOWN)
			continue;
		if (!any)
			tdm_put_heading(
				out, &v->file.term, "All banks                size  allocated       free    largest");
		any = true;
		tdm_buf_printf(out, "%-18s", tdm_kind_name((enum tdm_kind)kind));
		put_figures(out, figures);
		tdm_buf_putc(out, '\n');
	}
}

static void put_state(const struct tdm_memory_states *s, size_t state, struct tdm_buf *out)
{
	const struct tdm_memory_region *dram = tdm_memory_states_find(s, state, TDM_KIND_DRAM);
	const struct tdm_memory_region *l1 = tdm_memory_states_find(s, state, TDM_KIND_L1);
	uint64_t figures[] = {
		dram != NULL ? dram->allocated : TDM_BYTES_UNKNOWN,
		dram != NULL ? dram->largest : TDM_BYTES_UNKNOWN,
		l1 != NULL ? l1->allocated : TDM_BYTES_UNKNOWN,
		l1 != NULL ? l1->largest : TDM_BYTES_UNKNOWN,
		l1 != NULL ? l1->interleaved_free : TDM_BYTES_UNKNOWN,
	};
	char name[40], cells[5][TDM_BYTES_CAP];
	for (int k = 0; k < 5; k++)
		tdm_format_bytes(cells[k], sizeof cells[k], figures[k]);
	put_state_name(s, state, name, sizeof name);
	tdm_buf_printf(out, "  %-19s", name);
	if (s->head.form == TDM_MEMORY_L1) {
		put_banks(out, l1 != NULL ? l1->banks : 0);
		tdm_buf_printf(out, "  %12s    %12s\n", cells[3], cells[4]);
		return;
	}
	tdm_buf_printf(out, " %s %s  %s %s", cells[0], cells[1], cells[2], cells[3]);
	put_percent(out, l1 != NULL ? tdm_memory_region_fragmentation(l1) : NAN);
	tdm_buf_putc(out, '\n');
}

/* The states, those first in which L1 was fullest. */
static void put_states(const struct tdm_memory_view *v, struct tdm_buf *out)
{
	const struct tdm_memory_states *s = v->states;
	bool is_l1 = s->head.form == TDM_MEMORY_L1;
	if (s->state_count < (is_l1 ? 1 : 2))
		return;
	size_t *order = tdm_memory_states_order(s);
	out->failed |= order == NULL;
	tdm_put_heading(out, &v->file.term,
		is_l1 ? "Least room in L1        banks  largest free    in all banks"
		      : "Fullest L1                  DRAM    largest          L1    largest  frag.  of one bank");
	for (size_t i = 0; order != NULL && i < s->state_count && i < v->file.limit; i++)
		put_state(s, order[i], out);
	tdm_put_rest(out, s->state_count, v->file.limit);
	free(order);
}

static void put_holes(const struct tdm_memory_map *map, size_t limit, struct tdm_buf *out)
{
	char size[TDM_BYTES_CAP], joined[TDM_BYTES_CAP];
	if (map->wall_count != 0)
		tdm_buf_printf(out, "  What splits the free space\n  %15s %10s %7s  %s\n", "address", "size", "blocks",
			"hole without it");
	for (size_t i = 0; i < map->wall_count && i < limit; i++)
		tdm_buf_printf(out, "  %15" PRIu64 " %s %7zu  %s\n", map->walls[i].address,
			tdm_format_bytes(size, sizeof size, map->walls[i].bytes), map->walls[i].blocks,
			tdm_format_bytes_short(joined, sizeof joined, map->walls[i].joined));
	tdm_put_rest(out, map->wall_count, limit);
	if (map->blocks.gap_count != 0)
		tdm_buf_printf(out, "  Holes\n  %15s %10s\n", "address", "size");
	for (size_t i = 0; i < map->blocks.gap_count && i < limit; i++)
		tdm_buf_printf(out, "  %15" PRIu64 " %s\n", map->blocks.gaps[i].address,
			tdm_format_bytes(size, sizeof size, map->blocks.gaps[i].bytes));
	tdm_put_rest(out, map->blocks.gap_count, limit);
}

static void put_blocks(const struct tdm_memory_view *v, enum tdm_kind kind, struct tdm_buf *out)
{
	const struct tdm_memory_states *s = v->states;
	size_t state = tdm_memory_states_fullest(s, kind);
	const struct tdm_memory_region *region = state != SIZE_MAX ? tdm_memory_states_find(s, state, kind) : NULL;
	struct tdm_memory_map map;
	if (region == NULL || region->block_count == 0)
		return;
	char text[160], name[48] = "", used[TDM_BYTES_CAP], unused[TDM_BYTES_CAP];
	if (s->state_count > 1) {
		name[0] = ' ';
		put_state_name(s, state, name + 1, sizeof name - 1);
	}
	if (tdm_memory_map_init(&map, s, region) != 0) {
		out->failed = true;
	} else {
		const struct tdm_region_map *m = &map.blocks;
		snprintf(text, sizeof text, "Blocks of %s%s: %zu of %s, %zu hole%s of %s", tdm_kind_name(kind), name,
			m->span_count, tdm_format_bytes_short(used, sizeof used, m->used_bytes), m->gap_count,
			tdm_plural(m->gap_count), tdm_format_bytes_short(unused, sizeof unused, m->free_bytes));
		tdm_put_heading(out, &v->file.term, text);
		if (m->overlaps != 0)
			tdm_buf_printf(out, "  %" PRIu64 " block%s begin%s inside another one: the table is damaged\n",
				m->overlaps, tdm_plural(m->overlaps), m->overlaps == 1 ? "s" : "");
		if (region->total == TDM_BYTES_UNKNOWN)
			tdm_buf_puts(
				out, "  The blocks do not make a whole bank: what is missing counts as a hole here\n");
		put_holes(&map, v->file.limit, out);
	}
	tdm_memory_map_done(&map);
}

void tdm_memory_text(const struct tdm_memory_view *v, struct tdm_buf *out)
{
	put_head(v, out);
	if (v->states->head.form != TDM_MEMORY_L1) {
		put_regions(v, out);
		put_device(v, out);
	}
	put_states(v, out);
	for (int kind = 0; v->states->head.form == TDM_MEMORY_DETAILED && kind < TDM_KIND_COUNT; kind++)
		put_blocks(v, (enum tdm_kind)kind, out);
}

static void json_blocks(const struct tdm_memory_view *v, const struct tdm_memory_region *region, struct tdm_json *json)
{
	struct tdm_memory_map map;
	const struct tdm_region_map *m = &map.blocks;
	json->out->failed |= tdm_memory_map_init(&map, v->states, region) != 0;
	tdm_json_put_u64(json, "blocks", m->span_count);
	tdm_json_put_u64(json, "holes", m->gap_count);
	tdm_json_put_u64(json, "overlaps", m->overlaps);
	tdm_json_put_array(json, "walls");
	for (size_t i = 0; i < map.wall_count && i < v->file.limit; i++) {
		tdm_json_object(json);
		tdm_json_put_u64(json, "address", map.walls[i].address);
		tdm_json_put_bytes(json, "bytes", map.walls[i].bytes);
		tdm_json_put_u64(json, "blocks", map.walls[i].blocks);
		tdm_json_put_bytes(json, "joined_bytes", map.walls[i].joined);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_put_array(json, "largest_holes");
	for (size_t i = 0; i < m->gap_count && i < v->file.limit; i++) {
		tdm_json_object(json);
		tdm_json_put_u64(json, "address", m->gaps[i].address);
		tdm_json_put_bytes(json, "bytes", m->gaps[i].bytes);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_memory_map_done(&map);
}

static void json_region(
	const struct tdm_memory_view *v, size_t state, const struct tdm_memory_region *g, struct tdm_json *json)
{
	uint32_t banks = tdm_memory_states_banks(v->states, v->beside, state, g);
	uint64_t figures[TDM_MEMORY_FIGURES];
	tdm_memory_region_all_banks(g, banks, figures);
	tdm_json_object(json);
	tdm_json_put_text(json, "kind", tdm_kind_name((enum tdm_kind)g->kind));
	tdm_json_put_known(json, "banks", banks != 0, banks);
	tdm_json_put_bytes(json, "bank_bytes", g->total);
	tdm_json_put_bytes(json, "bank_allocated_bytes", g->allocated);
	tdm_json_put_bytes(json, "bank_free_bytes", g->free);
	tdm_json_put_bytes(json, "bank_largest_free_bytes", g->largest);
	tdm_json_put_bytes(json, "bytes", figures[0]);
	tdm_json_put_bytes(json, "allocated_bytes", figures[1]);
	tdm_json_put_bytes(json, "free_bytes", figures[2]);
	tdm_json_put_bytes(json, "interleaved_free_bytes", figures[3]);
	tdm_json_put_double(json, "fragmentation", tdm_memory_region_fragmentation(g));
	if (g->block_count != 0)
		json_blocks(v, g, json);
	tdm_json_object_end(json);
}

void tdm_memory_json(const struct tdm_memory_view *v, struct tdm_json *json)
{
	const struct tdm_memory_states *s = v->states;
	bool uses_beside = tdm_memory_states_uses(s, v->beside);
	tdm_json_put_text(json, "source", "memory_report");
	tdm_json_put_text(json, "form", form_names[s->head.form]);
	tdm_json_put_bool(json, "complete", !v->file.cut);
	tdm_json_put_u64(json, "refused", s->refused);
	tdm_json_put_bool(json, "rounded", s->rounded);
	tdm_json_put_text(json, "banks_from", uses_beside ? v->beside_path : NULL);
	tdm_json_put_array(json, "fullest");
	for (int kind = 0; kind < TDM_KIND_COUNT; kind++) {
		size_t state = tdm_memory_states_fullest(s, (enum tdm_kind)kind);
		if (state == SIZE_MAX)
			continue;
		tdm_json_object(json);
		tdm_json_put_text(json, "kind", tdm_kind_name((enum tdm_kind)kind));
		tdm_json_put_u64(json, "state", state);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_put_array(json, "states");
	for (size_t i = 0; i < s->state_count; i++) {
		const struct tdm_memory_state *at = &s->states[i];
		tdm_json_object(json);
		tdm_json_put_known(json, "program", at->has_program, at->program);
		tdm_json_put_u64(json, "line", at->line);
		tdm_json_put_array(json, "regions");
		for (size_t k = 0; k < at->region_count; k++)
			json_region(v, i, &s->regions[at->first_region + k], json);
		tdm_json_array_end(json);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}
