/*
 * The maps that `dump --map` and `top` show: the regions of a device, L1 with its buffers at one end and circular
 * buffers at the other, and L1 core by core. A region is drawn as one row of cells:
 *
 *     [####%...........+##..........]     UTF-8: [████▓···········▒██··········]
 *
 * full, nearly full, partly full, nearly empty, empty. On a terminal, each process has its own colour.
 */
#include "base/memory.h"
#include "base/units.h"
#include "model/result/result.h"
#include "view/rows/device_rows.h"
#include "view/rows/live_result.h"
#include "view/write/cell.h"
#include "view/write/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the L1 of one core ---- */

enum { ROWS = 15, GAP_ROWS_MIN = 5, INSIDE = 28, ZONE_COLUMNS = 16, SIZE_COLUMNS = 10 };

enum { TOP, MIDDLE, BOTTOM, BORDERS };

static const struct glyphs {
	const char *side, *line, *up, *down;
	const char *left[BORDERS], *right[BORDERS];
	const char *fill[TDM_L1_ZONE_COUNT]; /* characters that fill the inside of each zone, in order */
} box_glyphs = { "│", "─", "▲", "▼", { "┌", "├", "└" }, { "┐", "┤", "┘" }, { "▓", "▒", "░", " ", "░", "▒" } },
  ascii_glyphs = { "|", "-", "^", "v", { "+", "+", "+" }, { "+", "+", "+" }, { "#", "=", ":", " ", ":", "=" } };

static const char *const zone_styles[TDM_L1_ZONE_COUNT] = {
	[TDM_L1_FIRMWARE] = TDM_STYLE_RED,
	[TDM_L1_KERNEL_CONFIG] = TDM_STYLE_YELLOW,
	[TDM_L1_CBS] = TDM_STYLE_GREEN,
	[TDM_L1_GAP] = "",
	[TDM_L1_BUFFERS] = TDM_STYLE_CYAN,
	[TDM_L1_SMALL_REGION] = TDM_STYLE_MAGENTA,
};

/* Appends a string `count` times, in the colour of a zone. */
static void repeat(struct tdm_buf *out, const struct tdm_term *term, enum tdm_l1_zone zone, const char *text, int count)
{
	const char *style = tdm_term_style(term, zone_styles[zone]);
	tdm_buf_puts(out, style);
	for (int i = 0; i < count; i++)
		tdm_buf_puts(out, text);
	tdm_buf_puts(out, style[0] != '\0' ? TDM_STYLE_OFF : "");
}

static void put_border(struct tdm_buf *out, uint64_t address, const struct glyphs *glyphs, int border)
{
	tdm_buf_printf(out, "%9" PRIu64 "  0x%06" PRIx64 " %s", address, address, glyphs->left[border]);
	for (int i = 0; i < INSIDE; i++)
		tdm_buf_puts(out, glyphs->line);
	tdm_buf_printf(out, "%s\n", glyphs->right[border]);
}

/* Draws a row inside a zone; arrows in the gap show the directions in which both sides grow. */
static void put_inside(struct tdm_buf *out, const struct tdm_term *term, const struct glyphs *glyphs,
	enum tdm_l1_zone zone, int row, int rows)
{
	bool is_first = row == 0;
	if (zone != TDM_L1_GAP || rows < GAP_ROWS_MIN || (!is_first && row != rows - 1)) {
		repeat(out, term, zone, glyphs->fill[zone], INSIDE);
		return;
	}
	const char *text = is_first ? "L1 buffers grow down" : "circular buffers grow up";
	enum tdm_l1_zone grows = is_first ? TDM_L1_BUFFERS : TDM_L1_CBS;
	size_t left = (INSIDE - 2 - strlen(text)) / 2;
	tdm_buf_fill(out, ' ', left);
	repeat(out, term, grows, is_first ? glyphs->down : glyphs->up, 1);
	tdm_buf_putc(out, ' ');
	repeat(out, term, grows, text, 1);
	tdm_buf_fill(out, ' ', INSIDE - 2 - left - strlen(text));
}

void tdm_l1_text(struct tdm_buf *out, const struct tdm_l1_map *map, const struct tdm_term *term)
{
	const struct glyphs *glyphs = term->utf8 ? &box_glyphs : &ascii_glyphs;
	uint64_t sum_of_roots = 0;
	int border = TOP;
	for (size_t i = 0; i < TDM_L1_ZONE_COUNT; i++)
		sum_of_roots += (uint64_t)sqrt((double)map->span[i].size);
	for (size_t i = TDM_L1_ZONE_COUNT; i-- > 0;) {
		const struct tdm_l1_span *span = &map->span[i];
		const char *name = tdm_l1_zone_name(span->zone);
		char size[TDM_BYTES_CAP];
		if (span->size == 0)
			continue;
		int rows = (int)(((uint64_t)sqrt((double)span->size) * ROWS + sum_of_roots / 2) / sum_of_roots);
		rows = (int)tdm_max_signed(rows, span->zone == TDM_L1_GAP ? GAP_ROWS_MIN : 1);
		put_border(out, span->address + span->size, glyphs, border);
		border = MIDDLE;
		for (int row = 0; row < rows; row++) {
			tdm_buf_printf(out, "%9s  %8s %s", "", "", glyphs->side);
			put_inside(out, term, glyphs, span->zone, row, rows);
			tdm_buf_puts(out, glyphs->side);
			if (row == rows / 2) {
				tdm_buf_puts(out, "  ");
				repeat(out, term, span->zone, name, 1);
				tdm_buf_printf(out, "%*s%*s B", ZONE_COLUMNS - (int)strlen(name), "", SIZE_COLUMNS,
					tdm_format_count(size, sizeof size, span->size));
			}
			tdm_buf_putc(out, '\n');
		}
	}
	put_border(out, 0, glyphs, BOTTOM);
}

/* ---- which maps ---- */

static bool wants_l1(const struct tdm_live_report *report)
{
	return !report->filter.has_kind || tdm_core_map_has_kind(report->filter.kind);
}

struct tdm_device_map *tdm_map_scenes(const struct tdm_live_report *report, size_t *count)
{
	const struct tdm_picture *picture = report->picture;
	struct tdm_device_map *scenes = tdm_zalloc(picture->device_count + picture->holding_count, sizeof *scenes);
	*count = 0;
	for (uint32_t d = 0; d < picture->device_count; d++) {
		bool has_running = false;
		for (size_t h = 0; h < picture->holding_count; h++) {
			const struct tdm_holding *holding = &picture->holdings[h];
			bool has_ended = !tdm_picture_counts(&picture->processes[holding->process]);
			if (holding->device != d ||
				(report->filter.has_device && holding->number != report->filter.device) ||
				(has_ended ? tdm_holding_buffer_count(holding) == 0 : has_running))
				continue;
			scenes[(*count)++] = (struct tdm_device_map){ .device = d,
				.process = has_ended ? holding->process : TDM_INDEX_NONE };
			has_running |= !has_ended;
		}
	}
	return scenes;
}

/* ---- a region ---- */

enum { HOLES_SHOWN = 8, NAME_COLUMNS = 28, CELLS_MIN = 20, CELLS_MAX = 160, MARGIN = 4, CORE_COLUMNS = 6 };

/* A region to be drawn, and the context of the table of holes. */
struct region {
	const struct tdm_live_report *report;
	const struct tdm_region_map *map;
	bool has_several; /* the map contains several processes, so names need their owners */
};

static void draw_cells(const void *drawn, const struct tdm_term *term, size_t indent, struct tdm_buf *out)
{
	static const char *const colours[] = { TDM_STYLE_CYAN, TDM_STYLE_GREEN, TDM_STYLE_YELLOW, TDM_STYLE_MAGENTA,
		TDM_STYLE_BLUE };
	static const char *const ascii[] = { "?", ".", "-", "+", "%", "#" };
	static const char *const unicode[] = { "?", "·", "░", "▒", "▓", "█" };
	const struct region *region = drawn;
	const struct tdm_holding *holdings = region->report->picture->holdings;
	struct tdm_region_cell cells[CELLS_MAX];
	const char *last = NULL;
	uint32_t count = (uint32_t)tdm_min(tdm_max(term->width - MARGIN - 2, CELLS_MIN), CELLS_MAX);
	tdm_region_map_cells(region->map, region->map->base, region->map->bank_size, cells, count);
	tdm_buf_fill(out, ' ', indent);
	tdm_buf_putc(out, '[');
	for (uint32_t i = 0; i < count; i++) {
		const struct tdm_region_span *span = cells[i].span;
		int full = cells[i].permille;
		const char *colour =
			span == NULL ? TDM_STYLE_DIM
				     : colours[holdings[span->holding].process % (sizeof colours / sizeof *colours)];
		if (colour != last)
			tdm_buf_printf(out, "%s%s", tdm_term_style(term, TDM_STYLE_OFF), tdm_term_style(term, colour));
		last = colour;
		size_t glyph = (size_t)((full >= 0) + (full > 0) + (full >= 334) + (full >= 667) + (full >= 1000));
		tdm_buf_puts(out, (term->utf8 ? unicode : ascii)[glyph]);
	}
	tdm_buf_printf(out, "%s]\n", tdm_term_style(term, TDM_STYLE_OFF));
}

/* The hole's neighbour shown in the column, either below or above the hole; NULL at the edge of the region. */
static const struct tdm_region_span *side_of(const struct tdm_field *field)
{
	const struct tdm_region_gap *gap = field->row;
	return field->column->arg == 0 ? gap->below : gap->above;
}

static int32_t owner_of(const struct tdm_field *field)
{
	const struct tdm_picture *picture = ((const struct region *)field->table->context)->report->picture;
	return picture->processes[picture->holdings[side_of(field)->holding].process].pid;
}

/* "weights of 4242"; only the name is cut if the text is too long. */
static struct tdm_value get_side_name(const struct tdm_field *field)
{
	const struct region *of = field->table->context;
	const struct tdm_region_span *side = side_of(field);
	char id[32], pid[24] = "";
	struct tdm_buf text = { 0 };
	if (side == NULL)
		return tdm_value_text("end of the region");
	snprintf(id, sizeof id, "buffer %" PRIu64, side->buffer->id);
	const char *name = tdm_picture_text(of->report->picture, side->buffer->name);
	if (of->has_several)
		snprintf(pid, sizeof pid, " of %" PRId32, owner_of(field));
	tdm_cell_put(&text, tdm_str_of(name[0] != '\0' ? name : id), NAME_COLUMNS - strlen(pid), true);
	tdm_buf_puts(&text, pid);
	return tdm_value_text(tdm_arena_buf(field->scratch, &text).ptr);
}

static struct tdm_value get_side(const struct tdm_field *field)
{
	const struct region *of = field->table->context;
	const struct tdm_region_span *side = side_of(field);
	if (side == NULL)
		return tdm_value_text(NULL);
	const struct tdm_buffer *buffer = side->buffer;
	return tdm_field_members(
		field, TDM_VALUES({ "pid", tdm_value_number((uint64_t)owner_of(field)) },
			       { "id", (struct tdm_value){ .type = TDM_VALUE_NUMBER, .number = buffer->id } },
			       { "address", tdm_value_number(buffer->address) },
			       { "bytes_per_bank", tdm_value_number(buffer->bank_bytes) },
			       { "name", tdm_value_name(tdm_picture_text(of->report->picture, buffer->name)) }));
}

static void show_holes(struct tdm_block *in, const struct region *region)
{
#define GAP(member) TDM_MEMBER(struct tdm_region_gap, member)
#define SIDE        .get = get_side_name, .width = NAME_COLUMNS, .before = 1
	static const struct tdm_column columns[] = {
		{ "Hole", "address", GAP(address), .format = tdm_format_hex, .width = 14, .flags = TDM_WHOLE },
		{ "Bytes", "bytes", GAP(bytes), TDM_BYTES },
		{ "Below", NULL, SIDE, .arg = 0 },
		{ "Above", NULL, SIDE, .arg = 1 },
		{ NULL, "below", .get = get_side, .arg = 0 },
		{ NULL, "above", .get = get_side, .arg = 1 },
	};
	size_t count = region->map->gap_count, limit = (size_t)region->report->limit;
	struct tdm_region_gap *gaps = tdm_result_alloc(in->result, count, sizeof *gaps);
	struct tdm_table table = TDM_TABLE_OF(columns, gaps, limit != 0 ? tdm_min(count, limit) : count);
	if (count != 0)
		memcpy(gaps, region->map->gaps, count * sizeof *gaps);
	tdm_region_gaps_sort(gaps, count);
	table.context = region;
	table.limit = limit != 0 ? 0 : HOLES_SHOWN;
	table.is_whole_in_data = true;
	tdm_data(in, "hole_count", tdm_value_number(count));
	struct tdm_block *block = tdm_add_table(in, "holes", NULL, table);
	block->is_close = true;
	if (region->map->span_count == 0) {
		block->is_data_only = true;
		return;
	}
	size_t shown = tdm_min(table.count, limit != 0 ? SIZE_MAX : HOLES_SHOWN);
	block->table.dropped = limit != 0 ? count - shown : 0;
}

/* The level of an error count. */
static enum tdm_level if_any(uint64_t count)
{
	return count != 0 ? TDM_LEVEL_DANGER : TDM_LEVEL_PLAIN;
}

static void show_region(struct tdm_block *list, const struct tdm_live_report *report, const struct tdm_region_map *map,
	bool has_several)
{
	static const char *const labels[TDM_DEVICE_MAP_REGIONS] = {
		[TDM_KIND_DRAM] = "DRAM",
		[TDM_KIND_L1] = "L1",
		[TDM_KIND_L1_SMALL] = "L1_SMALL",
		[TDM_KIND_TRACE] = "TRACE",
	};
	struct region *region = tdm_result_alloc(list->result, 1, sizeof *region);
	bool is_known = map->from != TDM_FROM_NONE, has_extent = map->bank_size != 0;
	bool has_buffers = (map->span_count | map->unplaced | map->outside) != 0;
	uint64_t end = map->base + map->bank_size;
	struct tdm_buf title = { 0 };
	*region = (struct region){ report, map, has_several };
	tdm_sentence_put(&title,
		is_known ? "{label}: |{banks/bank of/banks of}|{some}banks of| {size} from {from} to {to}|{model}, by "
			   "the model of the card"
		: has_extent ? "{label}: the region was not described; its buffers span {size} from {from} to {to}"
			     : "{label}: the region was not described, and the addresses of its buffers are not known",
		TDM_VALUES({ "label", tdm_value_text(labels[map->kind]) },
			{ "banks", tdm_value_if(map->banks != 0, tdm_value_count(map->banks)) },
			{ "some", tdm_value_if(map->banks == 0, tdm_value_text("")) },
			{ "size", tdm_value_bytes(map->bank_size) },
			{ "from", tdm_value_of(map->base, TDM_UNIT_ADDRESS) },
			{ "to", tdm_value_of(end, TDM_UNIT_ADDRESS) },
			{ "model", tdm_value_bool(map->from == TDM_FROM_MODEL) }),
		7);
	struct tdm_block *in =
		tdm_add_group(list, NULL, tdm_result_printed(list->result, "%s", tdm_buf_str(&title).ptr));
	tdm_buf_done(&title);
	tdm_data_all(in, TDM_VALUES({ "kind", tdm_value_kind(map->kind) },
				 { "source", tdm_value_text(tdm_source_name(map->from)) },
				 { "base", tdm_value_if(is_known, tdm_value_number(map->base)) },
				 { "bank_bytes", tdm_value_if(is_known, tdm_value_number(map->bank_size)) },
				 { "banks", tdm_value_if(is_known && map->banks != 0, tdm_value_number(map->banks)) },
				 { "views", tdm_value_number(map->views) }));
	if (has_extent && (is_known || has_buffers))
		tdm_add_drawing(in, draw_cells, region);
	struct tdm_block *sums = tdm_line(in, NULL,
		"{used_bytes} used in each bank by {placed_buffers/buffer/buffers}|, {free_bytes} free|{_unknown}; how "
		"much "
		"is free is not known",
		TDM_VALUES({ "placed_buffers", tdm_value_count(map->span_count) },
			{ "used_bytes", tdm_value_bytes(map->used_bytes) },
			{ "free_bytes", tdm_value_bytes(map->free_bytes) },
			{ "_unknown", tdm_value_bool(map->free_bytes == TDM_BYTES_UNKNOWN) }));
	struct tdm_value fragmentation = tdm_value_share(map->fragmentation);
	fragmentation.decimals = 1;
	struct tdm_block *largest =
		tdm_line(in, NULL, "largest hole {largest_free_bytes}, fragmentation {fragmentation}",
			TDM_VALUES({ "largest_free_bytes", tdm_value_bytes(map->largest_free) },
				{ "fragmentation", fragmentation }));
	if (!has_extent && !is_known)
		sums->is_data_only = true;
	largest->is_data_only = map->free_bytes == TDM_BYTES_UNKNOWN;
	struct tdm_block *doubts[] = {
		tdm_line(in, NULL,
			"{unplaced_buffers/buffer/buffers} without a known place: {unplaced_reserved_bytes} in all "
			"banks",
			TDM_VALUES({ "unplaced_buffers", tdm_value_count(map->unplaced) },
				{ "unplaced_reserved_bytes", tdm_value_bytes(map->unplaced_bytes) })),
		tdm_line(in, NULL,
			"{overlaps/buffer begins/buffers begin} inside another one: {overlap_bytes} claimed more than "
			"once",
			TDM_VALUES({ "overlaps", tdm_value_count(map->overlaps) },
				{ "overlap_bytes", tdm_value_bytes(map->overlap_bytes) })),
		tdm_line(in, NULL, "{outside_buffers/buffer reaches/buffers reach} out of the region: {outside_bytes}",
			TDM_VALUES({ "outside_buffers", tdm_value_count(map->outside) },
				{ "outside_bytes", tdm_value_bytes(map->outside_bytes) })),
	};
	const uint64_t counts[] = { map->unplaced, map->overlaps, map->outside };
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		doubts[i]->is_data_only = counts[i] == 0;
		doubts[i]->line.level = i != 0 ? TDM_LEVEL_DANGER : TDM_LEVEL_PLAIN;
	}
	show_holes(in, region);
	if (!has_buffers && !is_known)
		in->is_data_only = true;
}

/* ---- L1 ---- */

static void show_ends(struct tdm_block *scene, const struct tdm_device_l1 *l1, bool is_shown)
{
	struct tdm_block *in = tdm_add_group(scene, "l1", "L1 of one core");
	bool is_unplaced = l1->unplaced != 0 || l1->unplaced_growing != 0;
	in->is_data_only = !is_shown;
	tdm_line(in, NULL,
		is_unplaced ? "{unplaced_l1/L1 buffer/L1 buffers} and {unplaced_cb/circular buffer/circular buffers} "
			      "without "
			      "address, so that the gap between them is not known"
		: l1->clash ? "clash: circular buffers end at {_end}, L1 buffers begin at {_begin}; both claim {_both}"
		: l1->gap != TDM_BYTES_UNKNOWN ? "{gap_bytes} between circular buffers and L1 buffers"
					       : "the gap between circular buffers and L1 buffers is not known",
		TDM_VALUES({ "lowest_l1", tdm_value_if(l1->lowest != 0, tdm_value_number(l1->lowest)) },
			{ "highest_cb", tdm_value_if(l1->highest != 0, tdm_value_number(l1->highest)) },
			{ "gap_bytes", tdm_value_bytes(l1->gap) }, { "clash", tdm_value_bool(l1->clash) },
			{ "unplaced_l1", tdm_value_count(l1->unplaced) },
			{ "unplaced_cb", tdm_value_count(l1->unplaced_growing) },
			{ "firmware_bytes",
				tdm_value_if(l1->has_map, tdm_value_bytes(l1->map.span[TDM_L1_FIRMWARE].size)) },
			{ "kernel_config_bytes",
				tdm_value_if(l1->has_map, tdm_value_bytes(l1->map.span[TDM_L1_KERNEL_CONFIG].size)) },
			{ "_end", tdm_value_of(l1->highest, TDM_UNIT_ADDRESS) },
			{ "_begin", tdm_value_of(l1->lowest, TDM_UNIT_ADDRESS) },
			{ "_both", tdm_value_bytes(l1->highest - l1->lowest) }))
		->line.level = (uint8_t)if_any(!is_unplaced && l1->clash);
	if (l1->has_map)
		tdm_add_l1_map(in, NULL, &l1->map);
	else
		tdm_say(in, "no picture: {why}", TDM_VALUES({ "why", tdm_value_text(l1->why.text) }));
}

/* Draws the bytes in each core as a grid. */
static void draw_grid(const void *drawn, const struct tdm_term *term, size_t indent, struct tdm_buf *out)
{
	const struct tdm_device_map *map = drawn;
	const struct tdm_core_map *cores = &map->cores;
	tdm_buf_fill(out, ' ', indent + 2);
	for (uint32_t x = 0; x < cores->grid_x; x++)
		tdm_buf_printf(out, "%*" PRIu32, CORE_COLUMNS, x);
	for (uint32_t i = 0; i < cores->grid_x * cores->grid_y; i++) {
		/* A cell has at most five columns: "4096", "1464K", "12M". */
		uint64_t shown = cores->cores[i].total;
		size_t unit = 0;
		for (; shown >= 10000; unit++)
			shown = shown / 1024 + (shown % 1024 >= 512);
		const char *style =
			tdm_term_style(term, tdm_level_style(tdm_level_of(cores->cores[i].total, map->core_bytes)));
		char text[24];
		snprintf(text, sizeof text, "%" PRIu64 "%.*s", shown, unit != 0, &" KMGTPE"[unit]);
		if (i % cores->grid_x == 0)
			tdm_buf_printf(out, "\n%*s%2" PRIu32, (int)indent, "", i / cores->grid_x);
		tdm_buf_printf(out, "%s%*s%s", style, CORE_COLUMNS, text, style[0] != '\0' ? TDM_STYLE_OFF : "");
	}
	tdm_buf_putc(out, '\n');
}

/* Adds a group with the kinds that are not 0. */
static void add_load(struct tdm_block *in, const char *key, const struct tdm_core_load *load)
{
	struct tdm_block *group = tdm_add_group(in, key, NULL);
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		if (load->bytes[k] != 0)
			tdm_data(group, tdm_kind_name((enum tdm_kind)k), tdm_value_bytes(load->bytes[k]));
}

/* The grid as rows of cores, each row a list; unknown if there is no grid. */
static struct tdm_value grid_of(struct tdm_result *result, const struct tdm_core_map *cores)
{
	uint32_t x = cores->grid_x, y = cores->grid_y;
	struct tdm_value *cells = tdm_result_alloc(result, (size_t)x * y, sizeof *cells),
			 *rows = tdm_result_alloc(result, y, sizeof *rows);
	for (uint32_t i = 0; i < x * y; i++)
		cells[i] = tdm_value_bytes(cores->cores[i].total);
	for (uint32_t i = 0; i < y && x != 0; i++)
		rows[i] = tdm_value_list(&cells[i * x], x);
	return tdm_value_if(x != 0, tdm_value_list(rows, y));
}

static void show_cores(struct tdm_block *scene, const struct tdm_device_map *map, bool is_shown)
{
	const struct tdm_core_map *cores = &map->cores;
	bool has_grid = cores->grid_x != 0, is_even = cores->max_bytes == cores->everywhere.total;
	uint32_t width = has_grid ? cores->grid_x : 1;
	uint64_t x = has_grid ? cores->fullest % width : UINT64_MAX, y = has_grid ? cores->fullest / width : UINT64_MAX;
	struct tdm_block *in = tdm_add_group(scene, "cores", "L1 core by core");
	in->is_data_only = !is_shown;
	tdm_line(in, NULL,
		!has_grid ? "the grid is not known; {_everywhere} on every core"
		: is_even ? "{grid_x} x {grid_y} cores with {max_bytes} each|, of {core_bytes}"
			  : "{grid_x} x {grid_y} cores with {average_bytes} on average, at most {max_bytes} on core "
			    "({max_x},{max_y})|, of {core_bytes}",
		TDM_VALUES({ "source", tdm_value_text(tdm_source_name(map->grid_from)) },
			{ "grid_x", tdm_value_if(has_grid, tdm_value_number(cores->grid_x)) },
			{ "grid_y", tdm_value_if(has_grid, tdm_value_number(cores->grid_y)) },
			{ "core_bytes", tdm_value_bytes(map->core_bytes) },
			{ "max_bytes", tdm_value_bytes(cores->max_bytes) }, { "max_x", tdm_value_number(x) },
			{ "max_y", tdm_value_number(y) }, { "average_bytes", tdm_value_bytes(cores->average_bytes) },
			{ "bound_bytes", tdm_value_bytes(cores->bound_bytes) },
			{ "_everywhere", tdm_value_bytes(cores->everywhere.total) }));
	add_load(in, "everywhere", &cores->everywhere);
	add_load(in, "somewhere", &cores->somewhere);
	if (has_grid && !is_even)
		tdm_add_drawing(in, draw_grid, map);
	tdm_line(in, NULL, "{somewhere_buffers/buffer/buffers} on unknown cores: up to {_more} more on a core",
		TDM_VALUES({ "somewhere_buffers", tdm_value_count(cores->somewhere_buffers) },
			{ "_more", tdm_value_bytes(cores->somewhere.total) }))
		->is_data_only = cores->somewhere_buffers == 0;
	tdm_line(in, NULL, "{outside_buffers/buffer/buffers} on cores that the grid does not have",
		TDM_VALUES({ "outside_buffers", tdm_value_count(cores->outside_buffers) }))
		->is_data_only = cores->outside_buffers == 0;
	tdm_data(in, "rows", grid_of(in->result, cores));
}

/* ---- a device ---- */

void tdm_map_show(struct tdm_block *list, const struct tdm_live_report *report, const struct tdm_device_map *map)
{
	const struct tdm_picture *picture = report->picture;
	const struct tdm_picture_device *device = &picture->devices[map->device];
	const char *card = device->info != NULL ? device->info->card : "";
	bool is_of_one = map->process != TDM_INDEX_NONE;
	int32_t pid = is_of_one ? picture->processes[map->process].pid : 0;
	uint64_t running = 0;
	for (size_t i = 0; i < picture->holding_count; i++)
		running += picture->holdings[i].device == map->device &&
			   tdm_picture_counts(&picture->processes[picture->holdings[i].process]);
	struct tdm_buf title = { 0 };
	tdm_sentence_put(&title,
		"Device {#number}| ({card})|{virtual}, virtual|: {buffers/buffer/buffers}|, as process {pid} left "
		"{=buffers/it/them}| "
		"of "
		"{running/process/processes}",
		TDM_VALUES({ "number", tdm_value_signed(device->number) }, { "card", tdm_value_name(card) },
			{ "virtual", tdm_value_bool(device->is_virtual) }, { "buffers", tdm_value_count(map->buffers) },
			{ "pid", tdm_value_if(is_of_one, tdm_value_number((uint64_t)pid)) },
			{ "running", tdm_value_if(!is_of_one, tdm_value_count(running)) }),
		6);
	struct tdm_block *in =
		tdm_add_group(list, NULL, tdm_result_printed(list->result, "%s", tdm_buf_str(&title).ptr));
	tdm_buf_done(&title);
	tdm_data_all(in,
		TDM_VALUES({ "device", tdm_value_if(device->number >= 0, tdm_value_number((uint64_t)device->number)) },
			{ "virtual", tdm_value_bool(device->is_virtual) }, { "card", tdm_value_name(card) },
			{ "pid", tdm_value_if(is_of_one, tdm_value_number((uint64_t)pid)) },
			{ "buffer_count", tdm_value_number(map->buffers) }));
	struct tdm_block *regions = tdm_add_list(in, "regions", NULL);
	for (unsigned k = 0; k < TDM_DEVICE_MAP_REGIONS; k++)
		if (!report->filter.has_kind || report->filter.kind == k)
			show_region(regions, report, &map->regions[k], !is_of_one && running > 1);
	if (!wants_l1(report))
		return;
	bool is_shown = report->filter.has_kind || map->cores.bound_bytes != 0; /* empty L1 only if requested */
	show_ends(in, &map->l1, is_shown);
	show_cores(in, map, is_shown);
}

static void release_map(void *data)
{
	tdm_device_map_done(data);
}

void tdm_map_show_all(struct tdm_block *top, const struct tdm_live_report *report)
{
	size_t count;
	struct tdm_device_map *maps = tdm_map_scenes(report, &count);
	struct tdm_block *list = tdm_add_list(top, "map", NULL);
	tdm_result_keep(top->result, maps, free);
	for (size_t i = 0; i < count; i++) {
		tdm_device_map_init(&maps[i], report->picture, maps[i].device, maps[i].process);
		tdm_result_keep(top->result, &maps[i], release_map);
		tdm_map_show(list, report, &maps[i]);
	}
	if (count == 0 && report->picture->process_count != 0)
		tdm_say(top, "no device holds anything", NULL);
}
