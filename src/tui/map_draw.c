#include "tui/map_draw.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MARGIN = 2, CORE_COLUMNS = 6, TITLE_COLUMNS = 120, TEXT_CAP = 256, CLASH = '!' };

static const char *const titles[TDM_DEVICE_MAP_REGIONS] = {
	[TDM_KIND_DRAM] = "DRAM",
	[TDM_KIND_L1] = "L1",
	[TDM_KIND_L1_SMALL] = "L1_SMALL",
	[TDM_KIND_TRACE] = "TRACE",
};

static const char *bytes_text(char *dst, uint64_t bytes)
{
	return tdm_format_bytes_short(dst, TDM_BYTES_CAP, bytes);
}

/* The same in the unit of the total that it is a part of. */
static const char *part_text(char *dst, uint64_t bytes, uint64_t total)
{
	return tdm_format_bytes_like(dst, TDM_BYTES_CAP, bytes, total);
}

static void heading(struct tdm_page *page, const char *text)
{
	tdm_page_line(page);
	struct tdm_pen pen = tdm_page_line(page);
	tdm_pen_printf(&pen, TDM_INK_BOLD, " %s", text);
}

/* The character for a cell's density. */
static uint32_t glyph_of(const struct tdm_canvas *canvas, int permille)
{
	static const uint32_t ascii[] = { '.', '-', '+', '%', '#' }, drawn[] = { 0xb7, 0x2591, 0x2592, 0x2593, 0x2588 };
	if (permille < 0)
		return '?';
	int step = permille == 0 ? 0 : permille < 334 ? 1 : permille < 667 ? 2 : permille < 1000 ? 3 : 4;
	return canvas->utf8 ? drawn[step] : ascii[step];
}

/* Gives the buffers of different processes different colours. */
static enum tdm_ink ink_of(const struct tdm_picture *picture, const struct tdm_region_span *span)
{
	static const enum tdm_ink inks[] = { TDM_INK_CYAN, TDM_INK_GREEN, TDM_INK_MAGENTA, TDM_INK_BLUE,
		TDM_INK_YELLOW };
	if (span == NULL)
		return TDM_INK_TRACK;
	return inks[picture->holdings[span->holding].process % (sizeof inks / sizeof *inks)];
}

static void draw_cells(struct tdm_page *page, struct tdm_device_view *view, size_t kind, int cols)
{
	struct tdm_pen pen = tdm_page_line(page);
	if (tdm_pen_room(&pen) == 0 || cols <= 0)
		return;
	const struct tdm_region_cell *cells = tdm_device_view_cells(view, kind, (uint32_t)cols);
	for (int i = 0; i < cols; i++)
		tdm_canvas_set(page->canvas, pen.row, pen.col + MARGIN + i, ink_of(view->picture, cells[i].span),
			glyph_of(page->canvas, cells[i].permille));
}

/* The column of an address in the drawing of its region. */
static int column_of(const struct tdm_region_map *region, uint64_t address, int cols)
{
	double share = region->bank_size != 0 ? (double)(address - region->base) / (double)region->bank_size : 0;
	int column = (int)(share * cols);
	return column < 0 ? 0 : column >= cols ? cols - 1 : column;
}

/* The line below the drawing: first and last address, and the largest hole. */
static void draw_scale(
	struct tdm_page *page, const struct tdm_region_map *region, const struct tdm_region_gap *largest, int cols)
{
	struct tdm_pen pen = tdm_page_line(page);
	bool utf8 = page->canvas->utf8;
	char text[TEXT_CAP], size[TDM_BYTES_CAP];
	if (tdm_pen_room(&pen) == 0)
		return;
	if (largest != NULL) {
		int from = column_of(region, largest->address, cols),
		    to = column_of(region, largest->address + largest->bytes - 1, cols);
		tdm_canvas_fill(page->canvas, pen.row, pen.col + MARGIN + from, to - from + 1, TDM_INK_LABEL,
			utf8 ? 0x2500 : '-');
		tdm_canvas_set(page->canvas, pen.row, pen.col + MARGIN + from, TDM_INK_LABEL, utf8 ? 0x2514 : '`');
		tdm_canvas_set(page->canvas, pen.row, pen.col + MARGIN + to, TDM_INK_LABEL, utf8 ? 0x2518 : '\'');
		int len = snprintf(
			text, sizeof text, " largest hole %s ", part_text(size, largest->bytes, region->bank_size));
		int at = (from + to + 1 - len) / 2;
		at = at < 0 ? 0 : at + len > cols ? cols - len : at;
		tdm_canvas_put(page->canvas, pen.row, pen.col + MARGIN + at, len, TDM_INK_LABEL, text);
	}
	pen = tdm_page_line(page);
	tdm_pen_skip(&pen, MARGIN);
	tdm_pen_printf(&pen, TDM_INK_DIM, "0x%" PRIx64, region->base);
	int len = snprintf(text, sizeof text, "0x%" PRIx64, region->base + region->bank_size);
	if (cols - len > pen.col + 2)
		tdm_canvas_put(page->canvas, pen.row, page->area.col + MARGIN + cols - len,
			tdm_pen_room(&pen) > 0 ? len : 0, TDM_INK_DIM, text);
}

static void draw_region_title(struct tdm_page *page, const struct tdm_region_map *region)
{
	char size[TDM_BYTES_CAP];
	tdm_page_line(page);
	struct tdm_pen pen = tdm_page_line(page);
	tdm_pen_printf(&pen, TDM_INK_BOLD, " %s", titles[region->kind]);
	tdm_pen_text(&pen, TDM_INK_DIM, " by address: ");
	if (region->from == TDM_FROM_NONE)
		tdm_pen_text(&pen, TDM_INK_YELLOW, "the region was not described  ");
	else
		tdm_pen_printf(&pen, TDM_INK_PLAIN, "%" PRIu32 " banks of %s, one is drawn  ", region->banks,
			part_text(size, region->bank_size, region->bank_size));
	if (page->area.cols < TITLE_COLUMNS) { /* must not be cut off */
		pen = tdm_page_line(page);
		tdm_pen_skip(&pen, MARGIN);
	}
	tdm_pen_text(&pen, TDM_INK_DIM, "used ");
	tdm_pen_text(&pen, TDM_INK_PLAIN, part_text(size, region->used_bytes, region->bank_size));
	tdm_pen_text(&pen, TDM_INK_DIM, "  free ");
	tdm_pen_text(&pen, TDM_INK_PLAIN, part_text(size, region->free_bytes, region->bank_size));
	tdm_pen_text(&pen, TDM_INK_DIM, "  fragmentation ");
	if (isnan(region->fragmentation))
		tdm_pen_text(&pen, TDM_INK_DIM, "unknown");
	else
		tdm_pen_printf(&pen, region->fragmentation >= 0.5 ? TDM_INK_YELLOW : TDM_INK_PLAIN, "%.1f%%",
			100 * region->fragmentation);
	if (region->from == TDM_FROM_MODEL)
		tdm_pen_text(&pen, TDM_INK_DIM, "  (by the model of the card)");
}

/* What the drawing does not show. */
static void draw_doubts(struct tdm_page *page, const struct tdm_region_map *region)
{
	if (region->unplaced == 0 && region->overlaps == 0 && region->outside == 0)
		return;
	struct tdm_pen pen = tdm_page_line(page);
	tdm_pen_skip(&pen, MARGIN);
	if (region->unplaced != 0)
		tdm_pen_printf(&pen, TDM_INK_YELLOW, "%" PRIu64 " buffer%s without a known place  ", region->unplaced,
			region->unplaced == 1 ? "" : "s");
	if (region->overlaps != 0)
		tdm_pen_printf(&pen, TDM_INK_RED, "%" PRIu64 " buffer%s inside another one  ", region->overlaps,
			region->overlaps == 1 ? " begins" : "s begin");
	if (region->outside != 0)
		tdm_pen_printf(&pen, TDM_INK_RED, "%" PRIu64 " buffer%s out of the region", region->outside,
			region->outside == 1 ? " reaches" : "s reach");
}

static void draw_region(struct tdm_page *page, struct tdm_device_view *view, size_t kind)
{
	const struct tdm_region_map *region = &view->map.regions[kind];
	bool has_buffers = (region->span_count | region->unplaced | region->outside) != 0;
	if (!has_buffers && (region->from == TDM_FROM_NONE || kind >= TDM_KIND_L1_SMALL))
		return;
	int cols = page->area.cols - 2 * MARGIN;
	draw_region_title(page, region);
	if (region->bank_size != 0) {
		draw_cells(page, view, kind, cols);
		draw_scale(page, region, view->hole_counts[kind] != 0 ? &view->holes[kind][0] : NULL, cols);
	}
	draw_doubts(page, region);
}

static const struct {
	enum tdm_ink ink;
	uint32_t drawn, ascii;
	const char *name;
} zones[TDM_L1_ZONE_COUNT] = {
	[TDM_L1_FIRMWARE] = { TDM_INK_DIM, 0x2593, 'f', "firmware" },
	[TDM_L1_KERNEL_CONFIG] = { TDM_INK_BLUE, 0x2593, 'k', "kernel configuration" },
	[TDM_L1_CBS] = { TDM_INK_MAGENTA, 0x2588, '>', "circular buffers, growing up" },
	[TDM_L1_GAP] = { TDM_INK_TRACK, 0xb7, '.', "free between them" },
	[TDM_L1_BUFFERS] = { TDM_INK_CYAN, 0x2588, '<', "L1 buffers, growing down" },
	[TDM_L1_SMALL_REGION] = { TDM_INK_GREEN, 0x2593, 's', "L1_SMALL" },
};

/* Fills the columns between two shares of the bar: at least one. */
static void fill_ends(const struct tdm_pen *pen, int cols, const double share[2], enum tdm_ink ink, uint32_t ch)
{
	int from = (int)(share[0] * cols), to = (int)(share[1] * cols);
	from = from >= cols ? cols - 1 : from;
	to = to <= from ? from + 1 : to > cols ? cols : to;
	tdm_canvas_fill(pen->canvas, pen->row, pen->col + MARGIN + from, to - from, ink, ch);
}

static void draw_ends_bar(struct tdm_page *page, const struct tdm_device_l1 *l1, int cols)
{
	const struct tdm_l1_map *map = &l1->map;
	struct tdm_pen pen = tdm_page_line(page);
	double size = (double)map->l1_size;
	if (tdm_pen_room(&pen) == 0 || map->l1_size == 0 || cols <= 0)
		return;
	for (size_t i = 0; i < TDM_L1_ZONE_COUNT; i++) {
		const struct tdm_l1_span *span = &map->span[i];
		const double share[] = { (double)span->address / size, (double)(span->address + span->size) / size };
		if (span->size != 0)
			fill_ends(&pen, cols, share, zones[span->zone].ink,
				page->canvas->utf8 ? zones[span->zone].drawn : zones[span->zone].ascii);
	}
	const double both[] = { fmin((double)l1->lowest / size, 1), fmin((double)l1->highest / size, 1) };
	if (l1->clash)
		fill_ends(&pen, cols, both, TDM_INK_RED, CLASH);
}

/* Takes as many lines as it needs. */
static void draw_ends_legend(struct tdm_page *page, const struct tdm_device_l1 *l1)
{
	struct tdm_pen pen = { 0 };
	int left = 0; /* of the line */
	for (size_t i = 0; i <= TDM_L1_ZONE_COUNT; i++) {
		bool is_zone = i < TDM_L1_ZONE_COUNT; /* else the clash */
		uint64_t bytes = is_zone ? l1->map.span[i].size : l1->clash ? l1->highest - l1->lowest : 0;
		const char *name = is_zone ? zones[i].name : "clash: in both";
		char size[TDM_BYTES_CAP];
		if (bytes == 0)
			continue;
		int width = 2 + (int)(strlen(name) + 1 + strlen(part_text(size, bytes, l1->map.l1_size)));
		if (width > left) {
			pen = tdm_page_line(page);
			tdm_pen_skip(&pen, MARGIN);
			left = page->area.cols - MARGIN;
		}
		left -= width + 3;
		if (tdm_pen_room(&pen) < 4)
			continue;
		tdm_canvas_set(page->canvas, pen.row, pen.col, is_zone ? zones[i].ink : TDM_INK_RED,
			!is_zone             ? CLASH
			: page->canvas->utf8 ? zones[i].drawn
					     : zones[i].ascii);
		tdm_pen_skip(&pen, 2);
		tdm_pen_printf(&pen, is_zone ? TDM_INK_DIM : TDM_INK_RED, "%s ", name);
		tdm_pen_printf(&pen, TDM_INK_PLAIN, "%s   ", size);
	}
}

static void draw_ends(struct tdm_page *page, const struct tdm_device_l1 *l1)
{
	char size[TDM_BYTES_CAP];
	tdm_page_line(page);
	struct tdm_pen pen = tdm_page_line(page);
	tdm_pen_text(&pen, TDM_INK_BOLD, " L1 of one core");
	if (l1->unplaced != 0 || l1->unplaced_growing != 0)
		tdm_pen_printf(&pen, TDM_INK_YELLOW,
			"  how much is free between them is not known: %" PRIu64 " L1 and %" PRIu64
			" circular buffers have no address",
			l1->unplaced, l1->unplaced_growing);
	else if (l1->clash)
		tdm_pen_printf(&pen, TDM_INK_RED,
			"  clash: circular buffers end at 0x%" PRIx64 ", L1 buffers begin at 0x%" PRIx64, l1->highest,
			l1->lowest);
	else if (l1->gap != TDM_BYTES_UNKNOWN)
		tdm_pen_printf(&pen, TDM_INK_PLAIN, "  %s free between circular buffers and L1 buffers",
			part_text(size, l1->gap, l1->map.l1_size));
	else
		tdm_pen_text(
			&pen, TDM_INK_DIM, "  how much is free between circular buffers and L1 buffers is not known");
	if (!l1->has_map) {
		pen = tdm_page_line(page);
		tdm_pen_printf(&pen, TDM_INK_DIM, "  no picture: %s", l1->why.text);
		return;
	}
	draw_ends_bar(page, l1, page->area.cols - 2 * MARGIN);
	draw_ends_legend(page, l1);
}

static void side(struct tdm_pen *pen, const struct tdm_picture *picture, const struct tdm_region_span *span)
{
	char id[TEXT_CAP];
	const char *name = "end of the region";
	if (span != NULL) {
		int32_t pid = picture->processes[picture->holdings[span->holding].process].pid;
		name = tdm_picture_text(picture, span->buffer->name);
		if (name[0] == '\0')
			snprintf(id, sizeof id, "buffer %" PRIu64 " of %" PRId32, span->buffer->id, pid);
		else
			snprintf(id, sizeof id, "%.100s of %" PRId32, name, pid);
		name = id;
	}
	tdm_pen_field(pen, 30, span == NULL ? TDM_INK_DIM : TDM_INK_PLAIN, name);
	tdm_pen_skip(pen, 2);
}

static void draw_holes(struct tdm_page *page, const struct tdm_device_view *view)
{
	heading(page, "Largest holes");
	struct tdm_pen pen = tdm_page_line(page);
	tdm_pen_skip(&pen, MARGIN);
	tdm_pen_field(&pen, 10, TDM_INK_DIM, "kind");
	tdm_pen_field(&pen, -12, TDM_INK_DIM, "in a bank");
	tdm_pen_field(&pen, -14, TDM_INK_DIM, "address");
	tdm_pen_skip(&pen, 2);
	tdm_pen_field(&pen, 32, TDM_INK_DIM, "below it");
	tdm_pen_text(&pen, TDM_INK_DIM, "above it");
	size_t shown = 0;
	for (size_t kind = 0; kind < TDM_DEVICE_MAP_REGIONS; kind++)
		for (size_t i = 0; i < view->hole_counts[kind] && view->map.regions[kind].span_count != 0;
			i++, shown++) {
			const struct tdm_region_gap *hole = &view->holes[kind][i];
			char text[TDM_BYTES_CAP];
			pen = tdm_page_line(page);
			tdm_pen_skip(&pen, MARGIN);
			tdm_pen_field(&pen, 10, TDM_INK_LABEL, titles[kind]);
			tdm_pen_field(&pen, -12, TDM_INK_PLAIN,
				part_text(text, hole->bytes, view->map.regions[kind].bank_size));
			snprintf(text, sizeof text, "0x%" PRIx64, hole->address);
			tdm_pen_field(&pen, -14, TDM_INK_DIM, text);
			tdm_pen_skip(&pen, 2);
			side(&pen, view->picture, hole->below);
			side(&pen, view->picture, hole->above);
		}
	if (shown == 0) {
		pen = tdm_page_line(page);
		tdm_pen_text(&pen, TDM_INK_DIM, "  There are none between buffers.");
	}
}

/* "1464K": at most five columns. */
static void format_core(char *dst, size_t cap, uint64_t bytes)
{
	static const char units[] = " KMGTPE";
	size_t unit = 0;
	for (; bytes >= 10000; unit++)
		bytes = bytes / 1024 + (bytes % 1024 >= 512);
	snprintf(dst, cap, "%" PRIu64 "%.*s", bytes, unit != 0, &units[unit]);
}

static enum tdm_ink core_ink(uint64_t bytes, uint64_t total)
{
	static const enum tdm_ink inks[] = { [TDM_LEVEL_UNKNOWN] = TDM_INK_PLAIN,
		[TDM_LEVEL_GREEN] = TDM_INK_ON_GREEN,
		[TDM_LEVEL_YELLOW] = TDM_INK_ON_YELLOW,
		[TDM_LEVEL_RED] = TDM_INK_ON_RED };
	return bytes == 0 ? TDM_INK_DIM : inks[tdm_level_of(bytes, total)];
}

static void draw_grid(struct tdm_page *page, const struct tdm_device_map *map)
{
	const struct tdm_core_map *cores = &map->cores;
	char text[24];
	struct tdm_pen pen = tdm_page_line(page);
	tdm_pen_skip(&pen, MARGIN + 3);
	for (uint32_t x = 0; x < cores->grid_x; x++) {
		snprintf(text, sizeof text, "%" PRIu32, x);
		tdm_pen_field(&pen, -CORE_COLUMNS, TDM_INK_DIM, text);
	}
	for (uint32_t y = 0; y < cores->grid_y; y++) {
		pen = tdm_page_line(page);
		snprintf(text, sizeof text, "%" PRIu32, y);
		tdm_pen_skip(&pen, MARGIN);
		tdm_pen_field(&pen, -3, TDM_INK_DIM, text);
		for (uint32_t x = 0; x < cores->grid_x; x++) {
			uint64_t bytes = cores->cores[y * cores->grid_x + x].total;
			format_core(text, sizeof text, bytes);
			tdm_pen_skip(&pen, 1);
			if (tdm_pen_room(&pen) > 0)
				tdm_canvas_fill(page->canvas, pen.row, pen.col,
					tdm_pen_room(&pen) < CORE_COLUMNS - 1 ? tdm_pen_room(&pen) : CORE_COLUMNS - 1,
					core_ink(bytes, map->core_bytes), ' ');
			tdm_pen_field(&pen, -(CORE_COLUMNS - 1), core_ink(bytes, map->core_bytes), text);
		}
	}
}

static void draw_cores(struct tdm_page *page, const struct tdm_device_map *map)
{
	const struct tdm_core_map *cores = &map->cores;
	char size[TDM_BYTES_CAP];
	tdm_page_line(page);
	struct tdm_pen pen = tdm_page_line(page);
	tdm_pen_text(&pen, TDM_INK_BOLD, " L1 core by core");
	if (cores->grid_x == 0) {
		tdm_pen_printf(&pen, TDM_INK_DIM, "  the grid is not known; %s on every core",
			bytes_text(size, cores->everywhere.total));
		return;
	}
	tdm_pen_printf(&pen, TDM_INK_DIM, "  at most ");
	tdm_pen_text(&pen, TDM_INK_PLAIN, part_text(size, cores->max_bytes, map->core_bytes));
	tdm_pen_printf(&pen, TDM_INK_DIM, " on core (%" PRIu32 ",%" PRIu32 "), on average ",
		cores->fullest % cores->grid_x, cores->fullest / cores->grid_x);
	tdm_pen_text(&pen, TDM_INK_PLAIN, part_text(size, cores->average_bytes, map->core_bytes));
	tdm_pen_printf(&pen, TDM_INK_DIM, ", of %s", part_text(size, map->core_bytes, map->core_bytes));
	draw_grid(page, map);
	if (cores->somewhere_buffers != 0) {
		pen = tdm_page_line(page);
		tdm_pen_printf(&pen, TDM_INK_YELLOW, "  %" PRIu64 " buffers on unknown cores: up to %s more on a core",
			cores->somewhere_buffers, bytes_text(size, cores->somewhere.total));
	}
}

/* A map takes long to make when there are many buffers; the lines above it are those of now. */
static void draw_age(struct tdm_page *page, const struct tdm_device_view *view)
{
	char age[TDM_AGE_CAP];
	if (view->age_ns == 0)
		return;
	tdm_page_line(page);
	struct tdm_pen pen = tdm_page_line(page);
	tdm_pen_printf(&pen, TDM_INK_YELLOW, " Map of %s ago: buffers have come or gone since.",
		tdm_pace_format_age(age, sizeof age, view->age_ns));
}

void tdm_map_draw(struct tdm_page *page, struct tdm_device_view *view)
{
	if (!view->has_map) {
		struct tdm_pen pen = tdm_page_line(page);
		pen = tdm_page_line(page);
		tdm_pen_printf(
			&pen, TDM_INK_YELLOW, "  No map: %s.", view->problem != NULL ? view->problem : "not read");
		return;
	}
	draw_age(page, view);
	draw_region(page, view, TDM_KIND_DRAM);
	draw_region(page, view, TDM_KIND_TRACE);
	draw_ends(page, &view->map.l1);
	draw_region(page, view, TDM_KIND_L1);
	draw_region(page, view, TDM_KIND_L1_SMALL);
	draw_cores(page, &view->map);
	draw_holes(page, view);
}
