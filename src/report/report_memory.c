/* The report on the memory reporter's files. */
#include "report/report_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const form_names[TDM_MEMORY_FORMS] = { "summary", "l1", "detailed" };
static const char *const form_titles[TDM_MEMORY_FORMS] = { "figures of one bank", "room for interleaved L1 buffers",
	"blocks of one bank" };

/* Context for the functions of columns. */
struct view {
	const struct tdm_memory_states *states;
	const struct tdm_file_report *file;
};

static void put_state_name(const struct tdm_memory_states *s, size_t state, struct tdm_buf *out)
{
	if (s->states[state].has_program)
		tdm_buf_printf(out, "program %" PRIu64, s->states[state].program);
	else
		tdm_buf_printf(out, "state %zu", state + 1);
}

/* ---- blocks ---- */

#define WALL(member) TDM_MEMBER(struct tdm_memory_wall, member)
static const struct tdm_column walls[] = {
	{ "address", "address", WALL(address), .width = 15 },
	{ "size", "bytes", WALL(bytes), TDM_BYTES },
	{ "blocks", "blocks", WALL(blocks), .width = 7 },
	{ "hole without it", "joined_bytes", WALL(joined), TDM_SIZE(0), .before = 1 },
};

#define HOLE(member) TDM_MEMBER(struct tdm_region_gap, member)
static const struct tdm_column holes[] = {
	{ "address", "address", HOLE(address), .width = 15 },
	{ "size", "bytes", HOLE(bytes), TDM_BYTES },
};

static void put_rows(struct tdm_table table, const char *above, const struct tdm_file_report *file, struct tdm_buf *out)
{
	table.above = above;
	table.limit = file->limit;
	table.indent = 2;
	tdm_table_text(&table, &file->term, out);
}

static void put_blocks(const struct view *v, const struct tdm_memory_region *region, struct tdm_buf *out)
{
	struct tdm_memory_map map;
	struct tdm_buf text;
	if (region->block_count == 0)
		return;
	tdm_buf_init(&text);
	out->failed |= tdm_memory_map_init(&map, v->states, region) != 0;
	const struct tdm_region_map *m = &map.blocks;
	tdm_buf_printf(&text, "Blocks of %s", tdm_kind_name((enum tdm_kind)region->kind));
	if (v->states->state_count > 1) {
		tdm_buf_putc(&text, ' ');
		put_state_name(v->states, region->state, &text);
	}
	tdm_buf_printf(&text, ": %zu of %s, %zu hole%s of %s", m->span_count, TDM_SIZE_TEXT(m->used_bytes),
		m->gap_count, tdm_plural(m->gap_count), TDM_SIZE_TEXT(m->free_bytes));
	tdm_put_heading(out, &v->file->term, tdm_buf_str(&text).ptr);
	if (m->overlaps != 0)
		tdm_buf_printf(out, "  %" PRIu64 " block%s begin%s inside another one: the table is damaged\n",
			m->overlaps, tdm_plural(m->overlaps), m->overlaps == 1 ? "s" : "");
	if (region->total == TDM_BYTES_UNKNOWN)
		tdm_buf_puts(out, "  The blocks do not make a whole bank: what is missing counts as a hole here\n");
	put_rows(TDM_TABLE_OF(walls, map.walls, map.wall_count), "  What splits the free space\n", v->file, out);
	put_rows(TDM_TABLE_OF(holes, m->gaps, m->gap_count), "  Holes\n", v->file, out);
	out->failed |= text.failed;
	tdm_buf_done(&text);
	tdm_memory_map_done(&map);
}

static void json_blocks(const struct tdm_field *field, struct tdm_json *json)
{
	const struct view *v = field->table->context;
	const struct tdm_memory_region *region = field->row;
	struct tdm_memory_map map;
	if (region->block_count == 0)
		return;
	json->out->failed |= tdm_memory_map_init(&map, v->states, region) != 0;
	const struct tdm_region_map *m = &map.blocks;
	tdm_json_put_u64(json, "blocks", m->span_count);
	tdm_json_put_u64(json, "holes", m->gap_count);
	tdm_json_put_u64(json, "overlaps", m->overlaps);
	tdm_json_put_table(json, "walls", &TDM_TABLE_OF(walls, map.walls, tdm_min(map.wall_count, v->file->limit)));
	tdm_json_put_table(json, "largest_holes", &TDM_TABLE_OF(holes, m->gaps, tdm_min(m->gap_count, v->file->limit)));
	tdm_memory_map_done(&map);
}

/* ---- regions ---- */

static struct tdm_value get_used(const struct tdm_field *field)
{
	const struct tdm_memory_region *region = field->row;
	return tdm_value_share(tdm_share(region->allocated, region->total));
}

static struct tdm_value get_fragmentation(const struct tdm_field *field)
{
	return tdm_value_share(tdm_memory_region_fragmentation(field->row));
}

static void put_when(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct view *v = field->table->context;
	put_state_name(v->states, ((const struct tdm_memory_region *)field->row)->state, out);
}

/* Regions make two tables, for one bank and for all; the columns of the first depend on whether there is only one
 * state. */
enum { OF_ONE_STATE = 1 << 0, OF_STATES = 1 << 1 | 1 << 14, OF_ALL_BANKS = 1 << 2 | 0xf << 8 };
#define REGION(member)  TDM_MEMBER(struct tdm_memory_region, member)
#define UNKNOWN         .unknown = "unknown"
#define PERCENT(value_) REGION(total), .get = value_, .decimals = 1, .width = 6
static const struct tdm_column regions[] = {
	{ "Per bank", "kind", REGION(kind), .flags = TDM_IS_KIND, .width = 10 },
	{ "Fullest", NULL, REGION(kind), .flags = TDM_IS_KIND, .width = 10 },
	{ "All banks", NULL, REGION(kind), .flags = TDM_IS_KIND, .width = 18 },
	{ "banks", "banks", REGION(banks), .flags = TDM_ZERO_IS_UNKNOWN, UNKNOWN, .width = 7 },
	{ "size", "bank_bytes", REGION(total), TDM_BYTES, UNKNOWN },
	{ "allocated", "bank_allocated_bytes", REGION(allocated), TDM_BYTES, UNKNOWN },
	{ "free", "bank_free_bytes", REGION(free), TDM_BYTES, UNKNOWN },
	{ "largest", "bank_largest_free_bytes", REGION(largest), TDM_BYTES, UNKNOWN },
	{ "size", "bytes", REGION(device_total), TDM_BYTES, UNKNOWN },
	{ "allocated", "allocated_bytes", REGION(device_allocated), TDM_BYTES, UNKNOWN },
	{ "free", "free_bytes", REGION(device_free), TDM_BYTES, UNKNOWN },
	{ "largest", "interleaved_free_bytes", REGION(interleaved_free), TDM_BYTES, UNKNOWN },
	{ "used", NULL, PERCENT(get_used) },
	{ "frag.", "fragmentation", PERCENT(get_fragmentation) },
	{ "when", NULL, .text = put_when, .before = 1, .json = json_blocks },
};

static bool is_unknown(const struct tdm_table *table, const void *row)
{
	const struct tdm_memory_region *region = row;
	(void)table;
	return region->device_total == TDM_BYTES_UNKNOWN && region->interleaved_free == TDM_BYTES_UNKNOWN;
}

static void put_regions(
	const struct view *v, const struct tdm_memory_region **fullest, size_t count, struct tdm_buf *out)
{
	struct tdm_table table = { TDM_COLUMNS(regions), fullest, 0, count, .row = tdm_table_pointed, .context = v,
		.limit = SIZE_MAX, .gap = 1 };
	table.hidden = OF_ALL_BANKS | (v->states->state_count == 1 ? OF_STATES : OF_ONE_STATE);
	tdm_put_table(out, v->file, table);
	table.hidden = ~(uint64_t)OF_ALL_BANKS;
	table.skip = is_unknown;
	tdm_put_table(out, v->file, table);
}

/* ---- states ---- */

static void put_name(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct view *v = field->table->context;
	tdm_buf_puts(out, "  ");
	put_state_name(v->states, ((const struct tdm_memory_row *)field->row)->state, out);
}

static struct tdm_value get_l1_fragmentation(const struct tdm_field *field)
{
	return tdm_value_share(tdm_memory_region_fragmentation(((const struct tdm_memory_row *)field->row)->l1));
}

#define OF(kind, member) TDM_VIA(struct tdm_memory_row, kind, struct tdm_memory_region, member)
static const struct tdm_column states[] = {
	{ "Fullest L1", NULL, .text = put_name, .flags = TDM_WHOLE, .width = 21 },
	{ "DRAM", NULL, OF(dram, allocated), TDM_BYTES, UNKNOWN },
	{ "largest", NULL, OF(dram, largest), TDM_BYTES, UNKNOWN },
	{ "L1", NULL, OF(l1, allocated), TDM_BYTES, UNKNOWN, .before = 1 },
	{ "largest", NULL, OF(l1, largest), TDM_BYTES, UNKNOWN },
	{ " frag.  of one bank", NULL, OF(l1, free), .get = get_l1_fragmentation, .decimals = 1, .width = 6 },
};

static const struct tdm_column l1_states[] = {
	{ "Least room in L1", NULL, .text = put_name, .flags = TDM_WHOLE, .width = 21 },
	{ "banks", NULL, OF(l1, banks), .flags = TDM_ZERO_IS_UNKNOWN, UNKNOWN, .width = 7 },
	{ "largest free", NULL, OF(l1, largest), .format = tdm_format_bytes, UNKNOWN, .width = 12, .before = 1 },
	{ "in all banks", NULL, OF(l1, interleaved_free), .format = tdm_format_bytes, UNKNOWN, .width = 12,
		.before = 3 },
};

/* The states with the fullest L1 first. */
static void put_states(const struct view *v, struct tdm_buf *out)
{
	struct tdm_memory_row *rows = tdm_memory_states_order(v->states);
	struct tdm_table table = v->states->head.form == TDM_MEMORY_L1
					 ? TDM_TABLE_OF(l1_states, rows, v->states->state_count)
					 : TDM_TABLE_OF(states, rows, v->states->state_count);
	table.context = v;
	out->failed |= rows == NULL;
	if (rows != NULL)
		tdm_put_table(out, v->file, table);
	free(rows);
}

static void put_head(const struct view *v, struct tdm_buf *out)
{
	const struct tdm_memory_states *s = v->states;
	tdm_put_title(out, "Memory report", v->file);
	tdm_buf_printf(out, ": %s, %zu %s%s\n", form_titles[s->head.form], s->state_count,
		s->by_program ? "program" : "state", tdm_plural(s->state_count));
	if (s->banks_from != NULL) {
		tdm_buf_puts(out, "Banks          from ");
		tdm_cell_put(out, tdm_str_of(s->banks_from), 0, v->file->term.utf8);
		tdm_buf_putc(out, '\n');
	}
	if (s->rounded)
		tdm_buf_puts(
			out, "Rounded        the file has KiB, rounded down: a figure may be 1,023 bytes too low\n");
	tdm_put_cut(out, v->file);
}

void tdm_memory_text(const struct tdm_memory_states *s, const struct tdm_file_report *file, struct tdm_buf *out)
{
	const struct view view = { s, file };
	const struct tdm_memory_region *fullest[TDM_KIND_COUNT];
	size_t count = tdm_memory_states_fullest(s, fullest);
	bool is_l1 = s->head.form == TDM_MEMORY_L1;
	put_head(&view, out);
	if (!is_l1)
		put_regions(&view, fullest, count, out);
	if (is_l1 || s->state_count > 1)
		put_states(&view, out);
	for (size_t i = 0; i < count; i++)
		put_blocks(&view, fullest[i], out);
}

/* ---- JSON ---- */

static const struct tdm_column fullest_states[] = {
	{ NULL, "kind", REGION(kind), .flags = TDM_IS_KIND },
	{ NULL, "state", REGION(state) },
};

static void json_regions(const struct tdm_field *field, struct tdm_json *json)
{
	const struct view *v = field->table->context;
	const struct tdm_memory_state *state = field->row;
	const struct tdm_memory_region *first = v->states->regions + state->first_region;
	struct tdm_table table = TDM_TABLE_OF(regions, first, state->region_count);
	table.context = v;
	tdm_table_json(&table, json);
}

#define STATE(member) TDM_MEMBER(struct tdm_memory_state, member)
static const struct tdm_column all_states[] = {
	{ NULL, "program", STATE(program), TDM_KNOWN_IF(struct tdm_memory_state, has_program) },
	{ NULL, "line", STATE(line) },
	{ NULL, "regions", .json = json_regions },
};

void tdm_memory_json(const struct tdm_memory_states *s, const struct tdm_file_report *file, struct tdm_json *json)
{
	const struct view view = { s, file };
	const struct tdm_memory_region *fullest[TDM_KIND_COUNT];
	size_t count = tdm_memory_states_fullest(s, fullest);
	struct tdm_table table = TDM_TABLE_OF(all_states, s->states, s->state_count);
	table.context = &view;
	tdm_json_put_text(json, "source", "memory_report");
	tdm_json_put_text(json, "form", form_names[s->head.form]);
	tdm_json_put_bool(json, "complete", !file->cut);
	tdm_json_put_u64(json, "refused", s->refused);
	tdm_json_put_bool(json, "rounded", s->rounded);
	tdm_json_put_text(json, "banks_from", s->banks_from);
	tdm_json_put_table(json, "fullest",
		&(struct tdm_table){ TDM_COLUMNS(fullest_states), fullest, 0, count, .row = tdm_table_pointed });
	tdm_json_put_table(json, "states", &table);
}
