/*
 * The maps of devices as text. A region is drawn as one row of cells:
 *
 *     [####%...........+##..........]     UTF-8: [████▓···········▒██··········]
 *
 * full, nearly full, partly, hardly, empty. On a terminal the colour of a cell tells processes apart.
 */
#include "base/units.h"
#include "report/cell.h"
#include "report/l1_text.h"
#include "report/map_report.h"
#include "report/report_put.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS_MIN = 20, CELLS_MAX = 160, MARGIN = 4, HOLES_SHOWN = 8, NAME_COLUMNS = 28, CORE_COLUMNS = 6 };

struct view {
	const struct tdm_live_report *report;
	const struct tdm_device_map_query *scene;
	const struct tdm_device_map *map;
	struct tdm_buf *out;
	uint64_t running; /* processes on the device */
	bool has_several; /* of them share the map */
};

static const char *style(const struct view *view, const char *sequence)
{
	return tdm_term_style(&view->report->term, sequence);
}

static char *short_bytes(char text[TDM_BYTES_CAP], uint64_t bytes)
{
	return tdm_format_bytes_short(text, TDM_BYTES_CAP, bytes);
}

/* Which device, and whose buffers. */

static uint64_t count_running(const struct tdm_picture *picture, uint32_t device)
{
	uint64_t running = 0;
	for (size_t i = 0; i < picture->holding_count; i++)
		running += picture->holdings[i].device == device &&
			   picture->processes[picture->holdings[i].process].life != TDM_LIFE_ENDED;
	return running;
}

static void put_title(const struct view *view)
{
	const struct tdm_picture *picture = view->report->picture;
	const struct tdm_picture_device *device = &picture->devices[view->scene->device];
	tdm_buf_printf(view->out, "%sDevice %" PRId32 "%s", style(view, TDM_STYLE_BOLD), device->number,
		style(view, TDM_STYLE_OFF));
	if (device->info != NULL && device->info->card[0] != '\0') {
		tdm_buf_puts(view->out, " (");
		tdm_cell_put(view->out, tdm_str_of(device->info->card), 0, view->report->term.utf8);
		tdm_buf_putc(view->out, ')');
	}
	tdm_buf_puts(view->out, device->is_virtual ? ", virtual: " : ": ");
	if (view->scene->process == TDM_INDEX_NONE) {
		tdm_put_count(view->out, view->map->buffers, "buffer of", "buffers of");
		tdm_buf_putc(view->out, ' ');
		tdm_put_count(view->out, view->running, "process", "processes");
		tdm_buf_putc(view->out, '\n');
		return;
	}
	tdm_put_count(view->out, view->map->buffers, "buffer", "buffers");
	tdm_buf_printf(view->out, ", as process %" PRId32 " left %s\n", picture->processes[view->scene->process].pid,
		view->map->buffers == 1 ? "it" : "them");
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
	if (span == NULL)
		return TDM_STYLE_DIM;
	const struct tdm_picture *picture = view->report->picture;
	return styles[picture->holdings[span->holding].process % (sizeof styles / sizeof *styles)];
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
		if (colour != last) {
			tdm_buf_puts(view->out, style(view, TDM_STYLE_OFF));
			tdm_buf_puts(view->out, style(view, colour));
		}
		last = colour;
		tdm_buf_puts(view->out, glyph(view, cells[i].permille));
	}
	tdm_buf_printf(view->out, "%s]\n", style(view, TDM_STYLE_OFF));
}

static void put_place(const struct view *view, const struct tdm_region_map *region)
{
	char size[TDM_BYTES_CAP];
	static const char *const labels[TDM_DEVICE_MAP_REGIONS] = {
		[TDM_KIND_DRAM] = "DRAM",
		[TDM_KIND_L1] = "L1",
		[TDM_KIND_L1_SMALL] = "L1_SMALL",
		[TDM_KIND_TRACE] = "TRACE",
	};
	tdm_buf_printf(view->out, "\n  %s%s%s: ", style(view, TDM_STYLE_BOLD), labels[region->kind],
		style(view, TDM_STYLE_OFF));
	if (region->from == TDM_FROM_NONE && region->bank_size == 0) {
		tdm_buf_puts(view->out, "nobody has described the region, and where its buffers lie is not known\n");
		return;
	}
	if (region->from == TDM_FROM_NONE) {
		tdm_buf_puts(view->out, "nobody has described the region; its buffers reach over");
	} else if (region->banks != 0) {
		tdm_put_count(view->out, region->banks, "bank of", "banks of");
	} else {
		tdm_buf_puts(view->out, "banks of");
	}
	tdm_buf_printf(view->out, " %s from 0x%" PRIx64 " on%s\n", short_bytes(size, region->bank_size), region->base,
		region->from == TDM_FROM_MODEL ? ", by the model of the card" : "");
}

static void put_sums(const struct view *view, const struct tdm_region_map *region)
{
	char used[TDM_BYTES_CAP], free_bytes[TDM_BYTES_CAP], largest[TDM_BYTES_CAP];
	tdm_buf_printf(view->out, "    %s used in each bank by ", short_bytes(used, region->used_bytes));
	tdm_put_count(view->out, region->span_count, "buffer", "buffers");
	if (region->free_bytes == TDM_BYTES_UNKNOWN)
		tdm_buf_puts(view->out, "; how much is free is not known");
	else
		tdm_buf_printf(view->out, "; %s free, the largest hole has %s; fragmentation %.1f %%",
			short_bytes(free_bytes, region->free_bytes), short_bytes(largest, region->largest_free),
			100 * region->fragmentation);
	tdm_buf_putc(view->out, '\n');
}

/* What the map does not show, or cannot be. */
static void put_doubts(const struct view *view, const struct tdm_region_map *region)
{
	char bytes[TDM_BYTES_CAP];
	if (region->unplaced != 0) {
		tdm_buf_puts(view->out, "    ");
		tdm_put_count(view->out, region->unplaced, "buffer", "buffers");
		tdm_buf_printf(view->out, " without a known place: %s in all banks\n",
			short_bytes(bytes, region->unplaced_bytes));
	}
	if (region->overlaps != 0) {
		tdm_buf_printf(view->out, "    %s", style(view, TDM_STYLE_RED));
		tdm_put_count(view->out, region->overlaps, "buffer begins", "buffers begin");
		tdm_buf_printf(view->out, " inside another one%s: %s claimed more than once\n",
			style(view, TDM_STYLE_OFF), short_bytes(bytes, region->overlap_bytes));
	}
	if (region->outside != 0) {
		tdm_buf_printf(view->out, "    %s", style(view, TDM_STYLE_RED));
		tdm_put_count(view->out, region->outside, "buffer reaches", "buffers reach");
		tdm_buf_printf(view->out, " out of the region%s: %s\n", style(view, TDM_STYLE_OFF),
			short_bytes(bytes, region->outside_bytes));
	}
}

/* The name of what bounds a hole, in NAME_COLUMNS; with the process where there are several. */
static void put_side(const struct view *view, const struct tdm_region_span *span, bool is_last)
{
	const struct tdm_picture *picture = view->report->picture;
	char id[32], pid[24] = "";
	const char *name = "end of the region";
	if (span != NULL) {
		snprintf(id, sizeof id, "buffer %" PRIu64, span->buffer->id);
		name = tdm_picture_text(picture, span->buffer->name);
		name = name[0] != '\0' ? name : id;
		if (view->has_several)
			snprintf(pid, sizeof pid, " of %" PRId32,
				picture->processes[picture->holdings[span->holding].process].pid);
	}
	size_t used = tdm_cell_put(view->out, tdm_str_of(name), NAME_COLUMNS - strlen(pid), view->report->term.utf8);
	tdm_buf_puts(view->out, pid);
	if (!is_last)
		tdm_buf_fill(view->out, ' ', NAME_COLUMNS + 2 - used - strlen(pid));
}

/* The largest holes, with what bounds them. */
static void put_holes(const struct view *view, const struct tdm_region_map *region)
{
	size_t limit = view->report->limit != 0 ? (size_t)view->report->limit : HOLES_SHOWN;
	size_t shown = region->gap_count < limit ? region->gap_count : limit;
	struct tdm_region_gap *gaps = tdm_map_holes(region);
	view->out->failed |= gaps == NULL;
	if (shown == 0 || gaps == NULL) {
		free(gaps);
		return;
	}
	tdm_buf_printf(view->out, "    %14s %10s  %-*s  %s\n", "Hole", "Bytes", NAME_COLUMNS, "Below", "Above");
	for (size_t i = 0; i < shown; i++) {
		char address[24], bytes[TDM_BYTES_CAP];
		snprintf(address, sizeof address, "0x%" PRIx64, gaps[i].address);
		tdm_buf_printf(
			view->out, "    %14s %s  ", address, tdm_format_bytes(bytes, sizeof bytes, gaps[i].bytes));
		put_side(view, gaps[i].below, false);
		put_side(view, gaps[i].above, true);
		tdm_buf_putc(view->out, '\n');
	}
	if (shown < region->gap_count) {
		tdm_buf_puts(view->out, "    and ");
		tdm_put_count(view->out, region->gap_count - shown, "smaller hole", "smaller holes");
		tdm_buf_putc(view->out, '\n');
	}
	free(gaps);
}

static void put_region(const struct view *view, const struct tdm_region_map *region)
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
	put_doubts(view, region);
	if (region->span_count != 0)
		put_holes(view, region);
}

/* L1. */

static void put_ends(const struct view *view)
{
	const struct tdm_device_l1 *l1 = &view->map->l1;
	char bytes[TDM_BYTES_CAP];
	tdm_buf_printf(view->out, "\n  %sL1 of one core%s: ", style(view, TDM_STYLE_BOLD), style(view, TDM_STYLE_OFF));
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
		tdm_buf_printf(view->out, "%s between circular buffers and L1 buffers\n", short_bytes(bytes, l1->gap));
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
	static const char *const levels[] = { [TDM_LEVEL_UNKNOWN] = "",
		[TDM_LEVEL_GREEN] = TDM_STYLE_GREEN,
		[TDM_LEVEL_YELLOW] = TDM_STYLE_YELLOW,
		[TDM_LEVEL_RED] = TDM_STYLE_RED };
	static const char units[] = " KMGTPE";
	size_t unit = 0;
	uint64_t shown = bytes;
	for (; shown >= 10000; unit++)
		shown = shown / 1024 + (shown % 1024 >= 512);
	const char *level = levels[tdm_level_of(bytes, view->map->core_bytes)];
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
	char most[TDM_BYTES_CAP], average[TDM_BYTES_CAP], size[TDM_BYTES_CAP];
	bool even = cores->max_bytes == cores->everywhere.total;
	tdm_buf_printf(view->out, "\n  %sL1 core by core%s: ", style(view, TDM_STYLE_BOLD), style(view, TDM_STYLE_OFF));
	if (cores->grid_x == 0)
		tdm_buf_printf(view->out, "the grid is not known; %s on every core\n",
			short_bytes(most, cores->everywhere.total));
	else if (even)
		tdm_buf_printf(view->out, "%" PRIu32 " x %" PRIu32 " cores with %s each", cores->grid_x, cores->grid_y,
			short_bytes(most, cores->max_bytes));
	else
		tdm_buf_printf(view->out,
			"%" PRIu32 " x %" PRIu32 " cores with %s on average, at most %s on core (%" PRIu32 ",%" PRIu32
			")",
			cores->grid_x, cores->grid_y, short_bytes(average, cores->average_bytes),
			short_bytes(most, cores->max_bytes), cores->fullest % cores->grid_x,
			cores->fullest / cores->grid_x);
	if (cores->grid_x != 0 && view->map->core_bytes != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(view->out, ", of %s", short_bytes(size, view->map->core_bytes));
	if (cores->grid_x != 0)
		tdm_buf_putc(view->out, '\n');
	if (cores->grid_x != 0 && !even)
		put_grid(view);
	if (cores->somewhere_buffers != 0) {
		tdm_buf_puts(view->out, "    ");
		tdm_put_count(view->out, cores->somewhere_buffers, "buffer", "buffers");
		tdm_buf_printf(view->out, " on unknown cores: up to %s more on a core\n",
			short_bytes(most, cores->somewhere.total));
	}
	if (cores->outside_buffers != 0) {
		tdm_buf_puts(view->out, "    ");
		tdm_put_count(view->out, cores->outside_buffers, "buffer", "buffers");
		tdm_buf_puts(view->out, " on cores that the grid does not have\n");
	}
}

void tdm_map_text(const struct tdm_live_report *report, struct tdm_buf *out)
{
	size_t count;
	struct tdm_device_map_query *scenes = tdm_map_scenes(report, &count);
	out->failed |= scenes == NULL;
	for (size_t i = 0; i < count; i++) {
		struct tdm_device_map map;
		if (tdm_device_map_init(&map, report->picture, &scenes[i]) != 0) {
			out->failed = true;
			break;
		}
		struct view view = { report, &scenes[i], &map, out, count_running(report->picture, scenes[i].device),
			false };
		view.has_several = scenes[i].process == TDM_INDEX_NONE && view.running > 1;
		if (i != 0)
			tdm_buf_putc(out, '\n');
		put_title(&view);
		for (unsigned k = 0; k < TDM_DEVICE_MAP_REGIONS; k++)
			put_region(&view, &map.regions[k]);
		/* An L1 with nothing in it is drawn only for those who ask for it. */
		if (tdm_map_wants_l1(report) && (report->filter.has_kind || map.cores.bound_bytes != 0)) {
			put_ends(&view);
			put_cores(&view);
		}
		tdm_device_map_done(&map);
	}
	if (count == 0)
		tdm_buf_puts(out, "no device holds anything\n");
	free(scenes);
}
