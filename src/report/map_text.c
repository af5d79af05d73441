/*
 * The map of a device as text. A region is drawn as one row of cells:
 *
 *     [####%...........+##..........]     UTF-8: [████▓···········▒██··········]
 *
 * full, nearly full, partly full, nearly empty, empty. On a terminal, each process has its own colour.
 */
#include "report/cell.h"
#include "report/l1_text.h"
#include "report/live_cells.h"
#include "report/map_report.h"
#include "report/report_put.h"

#include <inttypes.h>
#include <stdio.h>

enum { CELLS_MIN = 20, CELLS_MAX = 160, MARGIN = 4, CORE_COLUMNS = 6 };

struct view {
	const struct tdm_live_report *report;
	const struct tdm_device_map_query *scene;
	const struct tdm_device_map *map;
	struct tdm_buf *out;
};

static const char *style(const struct view *view, const char *sequence)
{
	return tdm_term_style(&view->report->term, sequence);
}

static void put_bold(const struct view *view, const char *text)
{
	tdm_put_styled(view->out, &view->report->term, TDM_STYLE_BOLD, text);
}

/* "    2 buffers begin inside another one: 4 KiB claimed more than once"; the count is red if it means an error. */
static void put_doubt(const struct view *view, bool is_wrong, uint64_t count, const char *one, const char *many)
{
	tdm_buf_printf(view->out, "    %s", is_wrong ? style(view, TDM_STYLE_RED) : "");
	tdm_put_count(view->out, count, one, many);
	tdm_buf_puts(view->out, is_wrong ? style(view, TDM_STYLE_OFF) : "");
}

/* Which device, and whose buffers. */
static void put_title(const struct view *view, uint64_t running)
{
	const struct tdm_picture *picture = view->report->picture;
	const struct tdm_picture_device *device = &picture->devices[view->scene->device];
	uint64_t buffers = view->map->buffers;
	bool is_of_one = view->scene->process != TDM_INDEX_NONE;
	tdm_buf_printf(view->out, "%sDevice %" PRId32 "%s", style(view, TDM_STYLE_BOLD), device->number,
		style(view, TDM_STYLE_OFF));
	if (device->info != NULL && device->info->card[0] != '\0') {
		tdm_buf_puts(view->out, " (");
		tdm_cell_text(view->out, device->info->card, view->report->term.utf8);
		tdm_buf_putc(view->out, ')');
	}
	tdm_buf_puts(view->out, device->is_virtual ? ", virtual: " : ": ");
	tdm_put_count(view->out, buffers, "buffer", "buffers");
	tdm_buf_puts(view->out, is_of_one ? ", " : " of ");
	if (is_of_one)
		tdm_buf_printf(view->out, "as process %" PRId32 " left %s",
			picture->processes[view->scene->process].pid, buffers == 1 ? "it" : "them");
	else
		tdm_put_count(view->out, running, "process", "processes");
	tdm_buf_putc(view->out, '\n');
}

/* A region. */

static const char *glyph(const struct view *view, int permille)
{
	static const char *const ascii[] = { ".", "-", "+", "%", "#" };
	static const char *const unicode[] = { "·", "░", "▒", "▓", "█" };
	const char *const *glyphs = view->report->term.utf8 ? unicode : ascii;
	if (permille < 0)
		return "?";
	return glyphs[permille == 0 ? 0 : permille < 334 ? 1 : permille < 667 ? 2 : permille < 1000 ? 3 : 4];
}

static const char *colour_of(const struct view *view, const struct tdm_region_span *span)
{
	static const char *const styles[] = { TDM_STYLE_CYAN, TDM_STYLE_GREEN, TDM_STYLE_YELLOW, TDM_STYLE_MAGENTA,
		TDM_STYLE_BLUE };
	const struct tdm_picture *picture = view->report->picture;
	return span == NULL ? TDM_STYLE_DIM
			    : styles[picture->holdings[span->holding].process % (sizeof styles / sizeof *styles)];
}

static void put_cells(const struct view *view, const struct tdm_region_map *region)
{
	struct tdm_region_cell cells[CELLS_MAX];
	const char *last = NULL;
	size_t width = view->report->term.width - MARGIN - 2;
	uint32_t count = width < CELLS_MIN ? CELLS_MIN : width > CELLS_MAX ? CELLS_MAX : (uint32_t)width;
	tdm_region_map_cells(region, region->base, region->bank_size, cells, count);
	tdm_buf_puts(view->out, "    [");
	for (uint32_t i = 0; i < count; i++) {
		const char *colour = colour_of(view, cells[i].span);
		if (colour != last)
			tdm_buf_printf(view->out, "%s%s", style(view, TDM_STYLE_OFF), style(view, colour));
		last = colour;
		tdm_buf_puts(view->out, glyph(view, cells[i].permille));
	}
	tdm_buf_printf(view->out, "%s]\n", style(view, TDM_STYLE_OFF));
}

static void put_place(const struct view *view, const struct tdm_region_map *region)
{
	static const char *const labels[TDM_DEVICE_MAP_REGIONS] = {
		[TDM_KIND_DRAM] = "DRAM",
		[TDM_KIND_L1] = "L1",
		[TDM_KIND_L1_SMALL] = "L1_SMALL",
		[TDM_KIND_TRACE] = "TRACE",
	};
	tdm_buf_puts(view->out, "\n  ");
	put_bold(view, labels[region->kind]);
	tdm_buf_puts(view->out, ": ");
	if (region->from == TDM_FROM_NONE && region->bank_size == 0) {
		tdm_buf_puts(
			view->out, "the region was not described, and the addresses of its buffers are not known\n");
		return;
	}
	if (region->from == TDM_FROM_NONE)
		tdm_buf_puts(view->out, "the region was not described; its buffers span");
	else if (region->banks != 0)
		tdm_put_count(view->out, region->banks, "bank of", "banks of");
	else
		tdm_buf_puts(view->out, "banks of");
	tdm_buf_printf(view->out, " %s from 0x%" PRIx64 " on%s\n", TDM_SIZE_TEXT(region->bank_size), region->base,
		region->from == TDM_FROM_MODEL ? ", by the model of the card" : "");
}

static void put_sums(const struct view *view, const struct tdm_region_map *region)
{
	tdm_buf_printf(view->out, "    %s used in each bank by ", TDM_SIZE_TEXT(region->used_bytes));
	tdm_put_count(view->out, region->span_count, "buffer", "buffers");
	if (region->free_bytes == TDM_BYTES_UNKNOWN)
		tdm_buf_puts(view->out, "; how much is free is not known\n");
	else
		tdm_buf_printf(view->out, "; %s free, the largest hole has %s; fragmentation %.1f %%\n",
			TDM_SIZE_TEXT(region->free_bytes), TDM_SIZE_TEXT(region->largest_free),
			100 * region->fragmentation);
}

static void put_region(const struct view *view, const struct tdm_region_map *region, bool has_several)
{
	bool has_buffers = (region->span_count | region->unplaced | region->outside) != 0;
	if (!tdm_map_wants(view->report, (enum tdm_kind)region->kind) ||
		(!has_buffers && region->from == TDM_FROM_NONE))
		return;
	put_place(view, region);
	if (region->bank_size != 0)
		put_cells(view, region);
	if (region->bank_size != 0 || region->from != TDM_FROM_NONE)
		put_sums(view, region);
	if (region->unplaced != 0) {
		put_doubt(view, false, region->unplaced, "buffer", "buffers");
		tdm_buf_printf(
			view->out, " without a known place: %s in all banks\n", TDM_SIZE_TEXT(region->unplaced_bytes));
	}
	if (region->overlaps != 0) {
		put_doubt(view, true, region->overlaps, "buffer begins inside another one",
			"buffers begin inside another one");
		tdm_buf_printf(view->out, ": %s claimed more than once\n", TDM_SIZE_TEXT(region->overlap_bytes));
	}
	if (region->outside != 0) {
		put_doubt(view, true, region->outside, "buffer reaches out of the region",
			"buffers reach out of the region");
		tdm_buf_printf(view->out, ": %s\n", TDM_SIZE_TEXT(region->outside_bytes));
	}
	if (region->span_count != 0)
		tdm_map_holes(view->report, region, has_several, view->out);
}

/* L1. */

static void put_ends(const struct view *view)
{
	const struct tdm_device_l1 *l1 = &view->map->l1;
	tdm_buf_puts(view->out, "\n  ");
	put_bold(view, "L1 of one core");
	tdm_buf_puts(view->out, ": ");
	if (l1->unplaced != 0 || l1->unplaced_growing != 0) {
		tdm_put_count(view->out, l1->unplaced, "L1 buffer", "L1 buffers");
		tdm_buf_puts(view->out, " and ");
		tdm_put_count(view->out, l1->unplaced_growing, "circular buffer", "circular buffers");
		tdm_buf_puts(view->out, " without address, so that the gap between them is not known\n");
	} else if (l1->clash) {
		tdm_buf_printf(view->out,
			"%scircular buffers end at 0x%" PRIx64 ", above the lowest L1 buffer at 0x%" PRIx64 "%s\n",
			style(view, TDM_STYLE_RED), l1->highest, l1->lowest, style(view, TDM_STYLE_OFF));
	} else if (l1->gap != TDM_BYTES_UNKNOWN) {
		tdm_buf_printf(view->out, "%s between circular buffers and L1 buffers\n", TDM_SIZE_TEXT(l1->gap));
	} else {
		tdm_buf_puts(view->out, "the gap between circular buffers and L1 buffers is not known\n");
	}
	if (l1->has_map)
		tdm_l1_text(view->out, &l1->map, &view->report->term);
	else
		tdm_buf_printf(view->out, "    no picture: %s\n", l1->why.text);
}

/* At most five columns: "4096", "1464K", "12M". */
static void put_core(const struct view *view, uint64_t bytes)
{
	static const char units[] = " KMGTPE";
	size_t unit = 0;
	uint64_t shown = bytes;
	for (; shown >= 10000; unit++)
		shown = shown / 1024 + (shown % 1024 >= 512);
	const char *level = tdm_level_style(tdm_level_of(bytes, view->map->core_bytes));
	char text[24];
	snprintf(text, sizeof text, "%" PRIu64 "%.*s", shown, unit != 0, &units[unit]);
	tdm_buf_printf(view->out, "%s%*s%s", style(view, level), CORE_COLUMNS, text,
		level[0] != '\0' ? style(view, TDM_STYLE_OFF) : "");
}

static void put_grid(const struct view *view)
{
	const struct tdm_core_map *cores = &view->map->cores;
	tdm_buf_fill(view->out, ' ', MARGIN + 2);
	for (uint32_t x = 0; x < cores->grid_x; x++)
		tdm_buf_printf(view->out, "%*" PRIu32, CORE_COLUMNS, x);
	for (uint32_t y = 0; y < cores->grid_y; y++) {
		tdm_buf_printf(view->out, "\n    %2" PRIu32, y);
		for (uint32_t x = 0; x < cores->grid_x; x++)
			put_core(view, cores->cores[y * cores->grid_x + x].total);
	}
	tdm_buf_putc(view->out, '\n');
}

static void put_cores(const struct view *view)
{
	const struct tdm_core_map *cores = &view->map->cores;
	bool has_grid = cores->grid_x != 0, is_even = cores->max_bytes == cores->everywhere.total;
	tdm_buf_puts(view->out, "\n  ");
	put_bold(view, "L1 core by core");
	if (!has_grid)
		tdm_buf_printf(
			view->out, ": the grid is not known; %s on every core", TDM_SIZE_TEXT(cores->everywhere.total));
	else
		tdm_buf_printf(view->out, ": %" PRIu32 " x %" PRIu32 " cores with %s ", cores->grid_x, cores->grid_y,
			TDM_SIZE_TEXT(is_even ? cores->max_bytes : cores->average_bytes));
	if (has_grid && is_even)
		tdm_buf_puts(view->out, "each");
	else if (has_grid)
		tdm_buf_printf(view->out, "on average, at most %s on core (%" PRIu32 ",%" PRIu32 ")",
			TDM_SIZE_TEXT(cores->max_bytes), cores->fullest % cores->grid_x,
			cores->fullest / cores->grid_x);
	if (has_grid && view->map->core_bytes != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(view->out, ", of %s", TDM_SIZE_TEXT(view->map->core_bytes));
	tdm_buf_putc(view->out, '\n');
	if (has_grid && !is_even)
		put_grid(view);
	if (cores->somewhere_buffers != 0) {
		put_doubt(view, false, cores->somewhere_buffers, "buffer", "buffers");
		tdm_buf_printf(view->out, " on unknown cores: up to %s more on a core\n",
			TDM_SIZE_TEXT(cores->somewhere.total));
	}
	if (cores->outside_buffers != 0) {
		put_doubt(view, false, cores->outside_buffers, "buffer", "buffers");
		tdm_buf_puts(view->out, " on cores that the grid does not have\n");
	}
}

void tdm_map_scene_text(const struct tdm_live_report *report, const struct tdm_device_map_query *scene,
	const struct tdm_device_map *map, struct tdm_buf *out)
{
	const struct tdm_picture *picture = report->picture;
	const struct view view = { report, scene, map, out };
	uint64_t running = 0;
	for (size_t i = 0; i < picture->holding_count; i++)
		running += picture->holdings[i].device == scene->device &&
			   tdm_picture_counts(&picture->processes[picture->holdings[i].process]);
	put_title(&view, running);
	for (unsigned k = 0; k < TDM_DEVICE_MAP_REGIONS; k++)
		put_region(&view, &map->regions[k], scene->process == TDM_INDEX_NONE && running > 1);
	/* An empty L1 is drawn only on request. */
	if (tdm_map_wants_l1(report) && (report->filter.has_kind || map->cores.bound_bytes != 0)) {
		put_ends(&view);
		put_cores(&view);
	}
}
