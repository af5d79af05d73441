/* Screen 1, the overview: all devices above, all processes below. */
#include "tui/app/app.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "analyze/live/run_findings.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/units.h"
#include "view/write/cell.h"
#include "view/write/table.h"

/* ---- division of the rows between devices and processes, without drawing ---- */

enum { KINDS_MIN = 2, GRAPH_ROWS_MIN = 4, GRAPH_ROWS_MAX = 40, SPARE_SHARE = 5 };

/* Rows in a block besides the lines of kinds. */
static const int other_rows[TDM_DETAIL_COUNT] = {
	[TDM_DETAIL_LINE] = 1,
	[TDM_DETAIL_SHORT] = 1,
	[TDM_DETAIL_KINDS] = 2,
	[TDM_DETAIL_FULL] = 1 + GRAPH_ROWS_MIN,
};

/* The number of rows that the blocks need if arranged in this many columns. */
static long rows_needed(size_t devices, int block_rows, int columns)
{
	if (devices > 100000)
		devices = 100000;
	return (long)((devices + (size_t)columns - 1) / (size_t)columns) * block_rows;
}

/* Processes get up to a third of the rows, and at least TDM_LAYOUT_PROCESS_MIN; on a small screen, half. */
static int rows_for_devices(int rows, size_t processes)
{
	int third = rows / 3 > TDM_LAYOUT_PROCESS_MIN ? rows / 3 : TDM_LAYOUT_PROCESS_MIN;
	int needed = processes + 2 < (size_t)third ? (int)processes + 2 : third;
	int kept = needed > TDM_LAYOUT_PROCESS_MIN ? needed : TDM_LAYOUT_PROCESS_MIN;
	if (rows >= kept * 2)
		return rows - kept;
	return rows >= 4 ? rows / 2 : rows > 1 ? 1 : rows;
}

/* Whether every block fits with lines for this many kinds; if so, sets the layout accordingly. */
static bool fits(struct tdm_layout *layout, int cols, size_t devices, int room, enum tdm_detail detail, int kinds)
{
	int rows = other_rows[detail] + kinds, columns = 1;
	/* Use two columns when one cannot hold every device, or when half the width has room for every figure. */
	if (devices > 1 && cols >= TDM_LAYOUT_TWO_COLUMNS)
		columns = cols < TDM_LAYOUT_TWO_WHOLE && rows_needed(devices, rows, 1) <= room ? 1 : 2;
	if (rows_needed(devices, rows, columns) > room)
		return false;
	*layout = (struct tdm_layout){ .detail = detail, .columns = columns, .block_rows = rows, .kinds = kinds };
	return true;
}

/* Graphs take rows that would stay empty. Some rows are kept free for additional processes: a graph whose height
 * changes with every process is unreadable. */
static void stretch_graphs(struct tdm_layout *layout, int rows, size_t devices, size_t processes)
{
	int lines = (int)rows_needed(devices, 1, layout->columns), table = rows / SPARE_SHARE;
	if (table < TDM_LAYOUT_PROCESS_MIN)
		table = TDM_LAYOUT_PROCESS_MIN;
	if (processes + 2 > (size_t)table)
		table = processes + 2 < (size_t)rows ? (int)processes + 2 : rows;
	int spare = (rows - table - lines * layout->block_rows) / lines;
	layout->graph_rows = GRAPH_ROWS_MIN;
	if (spare > 0)
		layout->graph_rows = spare < GRAPH_ROWS_MAX - GRAPH_ROWS_MIN ? GRAPH_ROWS_MIN + spare : GRAPH_ROWS_MAX;
	layout->block_rows += layout->graph_rows - GRAPH_ROWS_MIN;
}

struct tdm_layout tdm_layout_compute(
	int rows, int cols, size_t devices, size_t processes, int kinds, enum tdm_detail most)
{
	struct tdm_layout layout = { .detail = TDM_DETAIL_LINE, .columns = 1, .block_rows = 1 };
	int room = rows_for_devices(rows < 0 ? 0 : rows, processes);
	if (rows <= 0 || devices == 0) {
		layout.process_rows = rows < 0 ? 0 : rows;
		return layout;
	}
	bool is_done = false;
	for (int detail = (int)most; detail > TDM_DETAIL_SHORT && !is_done; detail--)
		is_done = fits(&layout, cols, devices, room, (enum tdm_detail)detail, kinds);
	/* If some devices would be hidden, the devices also get the rows that the process table would leave empty. An
	 * empty table needs two lines to say so. */
	int left = rows - (processes == 0 ? 3 : (int)processes + 1);
	if (!is_done && left > room)
		room = left;
	/* Unless the user asked for less, short blocks show as many kinds as fit. */
	for (int n = most > TDM_DETAIL_SHORT ? kinds : KINDS_MIN; n >= KINDS_MIN && most > TDM_DETAIL_LINE && !is_done;
		n--)
		is_done = fits(&layout, cols, devices, room, TDM_DETAIL_SHORT, n);
	if (layout.detail == TDM_DETAIL_FULL)
		stretch_graphs(&layout, rows, devices, processes);
	long needed = rows_needed(devices, layout.block_rows, layout.columns);
	layout.device_rows = needed < room ? (int)needed : room;
	layout.process_rows = rows - layout.device_rows;
	return layout;
}

enum { TOTALS_ROWS_MIN = 10 }; /* minimum screen height for a line of totals */

/* ---- totals of all devices ---- */

/* Counts the processes that hold something on any of the devices shown. */
static size_t count_processes(const struct tdm_app *app)
{
	const struct tdm_picture *picture = app->picture;
	const struct tdm_pick *pick = &app->options.pick;
	size_t count = 0;
	if (pick->device == NULL && pick->pid_count == 0)
		return picture->process_count;
	for (size_t p = 0; p < picture->process_count; p++) {
		const struct tdm_picture_process *process = &picture->processes[p];
		bool uses = false;
		for (uint32_t h = 0; h < process->holding_count && !uses && tdm_pick_names(pick, process); h++)
			for (size_t i = 0; i < app->shown_count && !uses; i++)
				uses = picture->holdings[process->first_holding + h].device == app->shown[i];
		count += uses;
	}
	return count;
}

/* Draws the sums of used and total bytes. A device is left out of both if either figure is unknown; the number of these
 * devices is shown. */
static void draw_kind(struct tdm_pen *pen, const struct tdm_app *app, enum tdm_kind kind)
{
	char text[96], doubt[32] = "";
	uint64_t used = 0, total = 0;
	size_t known = 0, unknown = 0;
	for (size_t i = 0; i < app->shown_count; i++) {
		const struct tdm_picture_device *device = &app->picture->devices[app->shown[i]];
		uint64_t its = device->kinds[kind].used, all = tdm_device_share_total(device, kind);
		bool is_known = its != TDM_BYTES_UNKNOWN && all != TDM_BYTES_UNKNOWN;
		if (device->is_virtual)
			continue;
		known += is_known;
		unknown += !is_known;
		used = is_known ? tdm_plus(used, its) : used;
		total = is_known ? tdm_plus(total, all) : total;
	}
	if (known == 0 || total == 0)
		return;
	if (unknown != 0)
		snprintf(doubt, sizeof doubt, " (%zu unknown)", unknown);
	int permille = tdm_picture_permille(used, total);
	int len = snprintf(text, sizeof text, "%d.%d%% %s of %s%s", permille / 10, permille % 10, TDM_SIZE_TEXT(used),
		TDM_SIZE_TEXT(total), doubt);
	const char *name = tdm_kind_title(kind);
	int room = tdm_pen_room(pen) - (int)strlen(name) - 3;
	if (len > room) /* write only the share */
		len = snprintf(text, sizeof text, "%d.%d%%%s", permille / 10, permille % 10, doubt);
	if (len > room)
		return;
	tdm_pen_printf(pen, TDM_INK_LABEL, "  %s ", name);
	tdm_pen_text(pen, tdm_ink_of_level(tdm_level_of(used, total)), text);
}

/* Draws used and total bytes of each kind over the devices shown, as far as they fit, and the number of processes.
 * Virtual devices are not cards and do not count. */
static void draw_totals(struct tdm_app *app, struct tdm_area area, size_t cards)
{
	static const enum tdm_kind order[] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_CB, TDM_KIND_TRACE,
		TDM_KIND_L1_SMALL };
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	tdm_pen_printf(&pen, TDM_INK_BOLD, " all %zu devices", cards);
	if (!tdm_area_is_narrow(area)) {
		size_t processes = count_processes(app);
		tdm_pen_printf(&pen, TDM_INK_DIM, "  %zu %sprocess%s", processes,
			tdm_picture_hides(app->picture) ? "listed " : "", processes == 1 ? "" : "es");
	}
	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
		draw_kind(&pen, app, order[i]);
}

/* ---- devices ---- */

static void draw_devices(struct tdm_app *app, struct tdm_area area, const struct tdm_layout *layout)
{
	int lines = layout->block_rows > 0 ? area.rows / layout->block_rows : 0;
	size_t page = (size_t)(lines > 0 ? lines : 0) * (size_t)layout->columns;
	tdm_list_fit(&app->devices, app->shown_count, (int)page);
	if (layout->columns > 1) /* scroll by whole lines of blocks */
		app->devices.top -= app->devices.top % (size_t)layout->columns;
	int width = area.cols / layout->columns;
	for (size_t i = 0; i < page && app->devices.top + i < app->shown_count; i++) {
		size_t at = app->devices.top + i;
		struct tdm_area block = { area.row + (int)(i / (size_t)layout->columns) * layout->block_rows,
			area.col + (int)(i % (size_t)layout->columns) * width, layout->block_rows, width };
		tdm_app_zone(app, block, TDM_ZONE_DEVICE, at);
		bool has_keys = app->devices_have_keys && at == app->devices.chosen;
		enum tdm_ink mark = has_keys ? TDM_INK_CURSOR : TDM_INK_PLAIN;
		tdm_device_block(app, block, &app->picture->devices[app->shown[at]], layout, mark);
	}
}

/* ---- processes: the columns of view/rows/process_rows.h that fit ---- */

static bool is_shown(const struct tdm_table *table, uint32_t column)
{
	return (table->hidden >> column & 1) == 0;
}

/* The width of a column; negative if aligned right. */
static int width_of(const struct tdm_table *table, uint32_t column)
{
	const struct tdm_column *c = &tdm_proc_columns[column];
	int width = c->width < TDM_WIDTH_OF_TABLE ? c->width : (int)table->widths[c->width - TDM_WIDTH_OF_TABLE];
	return c->format != NULL || (c->flags & TDM_OTHER_SIDE) != 0 ? -width : width;
}

static void draw_titles(struct tdm_app *app, struct tdm_area area, const struct tdm_table *table)
{
	struct tdm_pen pen = tdm_pen_row(&app->canvas, area, true);
	tdm_pen_skip(&pen, 1);
	for (uint32_t c = 0; c < TDM_PROC_COLUMN_COUNT; c++) {
		if (!is_shown(table, c))
			continue;
		char title[48];
		const char *plain = tdm_proc_columns[c].title, *of = tdm_proc_columns[app->set.sort].title;
		const char *up = app->canvas.utf8 ? "△" : "^", *down = app->canvas.utf8 ? "▽" : "v",
			   *arrow = app->set.reversed ? up : down;
		bool is_sorted = app->set.sort == c;
		int cols = width_of(table, c);
		tdm_app_zone(
			app, (struct tdm_area){ pen.row, pen.col, 1, cols < 0 ? -cols : cols }, TDM_ZONE_COLUMN, c);
		snprintf(title, sizeof title, "%s%s", plain, is_sorted ? arrow : "");
		/* If the sort column does not fit, the last title names it. */
		if (c == TDM_PROC_COMMAND && !is_shown(table, app->set.sort))
			snprintf(title, sizeof title, "%s by %s%s", plain, of, arrow);
		bool is_cut = !is_sorted && tdm_canvas_width_of(pen.canvas, title) > (cols < 0 ? -cols : cols);
		tdm_pen_field(&pen, cols, is_sorted ? TDM_INK_SORTED : TDM_INK_HEAD, is_cut ? plain : title);
		tdm_pen_skip(&pen, 1);
	}
}

/* Warnings about a process precede its command. */
static void draw_command(struct tdm_pen *pen, const struct tdm_app *app, const struct tdm_proc_row *row,
	const char *text, enum tdm_ink ink)
{
	const struct tdm_picture_process *process = row->who;
	if (row->is_child)
		tdm_pen_text(pen, TDM_INK_DIM,
			app->canvas.utf8 ? (row->is_last ? "└─ " : "├─ ") : (row->is_last ? "`- " : "|- "));
	if (process == NULL) {
		tdm_pen_text(pen, ink, text);
		return;
	}
	if (process->life == TDM_LIFE_ENDED)
		tdm_pen_text(pen, process->crashed ? TDM_INK_RED : TDM_INK_DIM,
			process->crashed ? "[crashed] " : "[ended] ");
	if (tdm_is_some(process->out_of_memory))
		tdm_pen_text(pen, TDM_INK_RED, "[OOM] ");
	if (tdm_trace_hazards_count(app->picture, process, TDM_HAZARD_LIVE) != 0)
		tdm_pen_text(pen, TDM_INK_RED, "[trace] ");
	if (row->rises)
		tdm_pen_text(pen, TDM_INK_YELLOW, "[leak?] ");
	tdm_pen_text(pen, process->is_foreign ? TDM_INK_DIM : TDM_INK_PLAIN, tdm_picture_command(process));
}

static void draw_row(struct tdm_app *app, struct tdm_area area, const struct tdm_table *table,
	const struct tdm_bytes_range *ranges, size_t line, struct tdm_buf *cell, struct tdm_arena *scratch)
{
	const struct tdm_proc_row *row = &app->rows.rows[line];
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	tdm_pen_text(&pen, TDM_INK_YELLOW, row->who != NULL && tdm_app_is_tagged(app, row->handle) ? "*" : " ");
	for (uint32_t c = 0; c < TDM_PROC_COLUMN_COUNT; c++) {
		if (!is_shown(table, c))
			continue;
		const struct tdm_field field = { table, row, &tdm_proc_columns[c], &ranges[c], scratch };
		int width = width_of(table, c);
		tdm_buf_clear(cell);
		enum tdm_ink ink = tdm_ink_of(tdm_field_put(&field, cell).level);
		tdm_buf_putc(cell, '\0');
		struct tdm_pen command = pen;
		command.end = pen.col + width < pen.end ? pen.col + width : pen.end;
		if (c == TDM_PROC_COMMAND)
			draw_command(&command, app, row, cell->data, ink);
		else
			tdm_pen_field(&pen, width, ink, cell->data);
		tdm_pen_skip(&pen, 1);
	}
}

static void draw_empty(struct tdm_app *app, struct tdm_area area)
{
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	tdm_pen_skip(&pen, 1);
	if (app->filter[0] != '\0')
		tdm_pen_printf(&pen, TDM_INK_DIM, "No process matches \"%s\"; Esc clears the filter, \\ changes it.",
			app->filter);
	else if (app->only_device != 0)
		tdm_pen_text(&pen, TDM_INK_DIM, "No process uses this device; f or Esc shows those of all devices.");
	else if (app->options.pick.pid_count != 0)
		tdm_pen_text(&pen, TDM_INK_DIM, "No such process is known to hold device memory.");
	else
		tdm_pen_printf(&pen, TDM_INK_DIM, "No process%s uses %s device. Programs show up here when they run.",
			app->picture->problem_count != 0 ? " that could be read" : "",
			app->options.pick.device != NULL ? "this" : "a");
	if (app->picture->device_count == 0 && app->picture->hosts == NULL && area.rows > 1) {
		pen = tdm_pen_at(&app->canvas, area, 1);
		tdm_pen_text(&pen, TDM_INK_DIM,
			" 'tidemark doctor' says what was looked for; 'tidemark demo' needs no card.");
	}
}

static void draw_processes(struct tdm_app *app, struct tdm_area area, bool has_keys)
{
	struct tdm_table table =
		tdm_proc_rows_table(&app->rows, (size_t)(area.cols > 1 ? area.cols - 1 : 1), app->set.hidden);
	struct tdm_bytes_range ranges[TDM_TABLE_RANGES] = { 0 };
	struct tdm_buf cell = { 0 };
	struct tdm_arena scratch = { 0 }; /* scratch memory for all visible rows */
	struct tdm_area head = tdm_area_take_rows(&area, 1);
	if (head.rows == 0)
		return;
	draw_titles(app, head, &table);
	tdm_list_fit(&app->processes, app->rows.count, area.rows);
	tdm_app_zone(app, area, TDM_ZONE_PROCESSES, app->processes.top);
	size_t top = app->processes.top, left = app->rows.count - top;
	if (app->rows.count == 0)
		draw_empty(app, area);
	/* Reads the host figures of the visible rows, or of all rows if the sort order depends on these figures. */
	if (tdm_proc_is_host((enum tdm_proc_column)app->set.sort))
		tdm_host_uses_read(&app->hosts, app->provider, app->rows.rows, app->rows.count, tdm_clock_ns());
	else if (is_shown(&table, TDM_PROC_STATE) || is_shown(&table, TDM_PROC_CPU) ||
		 is_shown(&table, TDM_PROC_RESIDENT))
		tdm_host_uses_read(&app->hosts, app->provider, left != 0 ? &app->rows.rows[top] : NULL,
			tdm_min(left, (size_t)area.rows), tdm_clock_ns());
	tdm_table_ranges(&table, ranges);
	for (int i = 0; i < area.rows && app->processes.top + (size_t)i < app->rows.count; i++) {
		size_t line = app->processes.top + (size_t)i;
		struct tdm_area row = { area.row + i, area.col, 1, area.cols };
		draw_row(app, row, &table, ranges, line, &cell, &scratch);
		if (line == app->processes.chosen)
			tdm_canvas_shade(
				&app->canvas, row.row, row.col, row.cols, has_keys ? TDM_INK_CURSOR : TDM_INK_CHOSEN);
	}
	tdm_buf_done(&cell);
	tdm_arena_done(&scratch);
}

/* ---- all ---- */

static void draw(struct tdm_app *app, struct tdm_area area)
{
	const struct tdm_picture *picture = app->picture;
	int kinds = 0;
	size_t cards = 0;
	for (size_t i = 0; i < app->shown_count; i++) {
		const struct tdm_picture_device *device = &picture->devices[app->shown[i]];
		int has = __builtin_popcount(tdm_device_kinds(device, INT_MAX));
		kinds = has > kinds ? has : kinds;
		cards += !device->is_virtual;
	}
	if (area.rows >= TOTALS_ROWS_MIN && cards > 1)
		draw_totals(app, tdm_area_take_rows(&area, 1), cards);
	/* Whether there are cards with unknown devices, none of which the user requested. */
	size_t first = picture->device_count - picture->board_count;
	bool has_boards = picture->board_count != 0 && (app->shown_count == 0 || app->shown[0] < first);
	size_t notes = (size_t)has_boards + (picture->problem_count != 0);
	struct tdm_layout layout = tdm_layout_compute(
		area.rows, area.cols, app->shown_count, app->rows.count + notes, kinds, app->most_detail);
	app->detail = layout.detail;
	if (app->shown_count == 0) {
		char why[TDM_NOTHING_CAP];
		struct tdm_pen pen = tdm_pen_at(&app->canvas, tdm_area_take_rows(&area, 1), 0);
		tdm_pen_printf(
			&pen, TDM_INK_YELLOW, " No device: %s.", tdm_why_nothing(picture, &app->options.pick, why));
	} else
		draw_devices(app, tdm_area_take_rows(&area, layout.device_rows), &layout);
	if (area.rows > 2 && has_boards) {
		struct tdm_pen pen = tdm_pen_at(&app->canvas, tdm_area_take_rows(&area, 1), 0);
		tdm_pen_text(&pen, TDM_INK_LABEL, " cards:");
		for (size_t i = first; i < picture->device_count; i++) {
			struct tdm_words sensors[TDM_SENSORS];
			tdm_device_sensors(&picture->devices[i], false, app->canvas.utf8, sensors);
			tdm_pen_printf(&pen, TDM_INK_BOLD, "  /%d", (int)picture->devices[i].node);
			for (int s = 0; s < 2; s++)
				if (sensors[s].text[0] != '\0')
					tdm_pen_printf(&pen, TDM_INK_PLAIN, " %s", sensors[s].text);
		}
		tdm_pen_text(&pen, TDM_INK_DIM, "  (not known which device is on which)");
	}
	if (area.rows > 2 && picture->problem_count != 0) { /* text that may be clipped comes last */
		const struct tdm_picture_problem *problem = &picture->problems[0];
		struct tdm_pen pen = tdm_pen_at(&app->canvas, tdm_area_take_rows(&area, 1), 0);
		tdm_pen_text(&pen, TDM_INK_YELLOW, " !");
		if (picture->problem_count > 1)
			tdm_pen_printf(
				&pen, TDM_INK_YELLOW, " lists all %zu problems, the first is", picture->problem_count);
		tdm_pen_printf(&pen, TDM_INK_YELLOW, " %s: %s", problem->place, problem->text);
	}
	draw_processes(app, area, !app->devices_have_keys);
	/* State which devices are visible, unless all are, and the age of their oldest figures. */
	const struct tdm_list *list = &app->devices;
	const struct tdm_picture_device *oldest = NULL;
	size_t end = tdm_min(list->top + list->page, app->shown_count);
	if (app->shown_count > list->page)
		snprintf(app->position, sizeof app->position, "devices %zu-%zu of %zu", list->top + 1, end,
			app->shown_count);
	for (size_t i = list->top; i < end && app->detail > TDM_DETAIL_SHORT; i++) {
		const struct tdm_picture_device *device = &picture->devices[app->shown[i]];
		if (device->space_is_old && (oldest == NULL || device->space_ns < oldest->space_ns))
			oldest = device;
	}
	if (oldest != NULL)
		tdm_device_note_age(app, oldest);
}

static void key(struct tdm_app *app)
{
	if (app->devices_have_keys && tdm_list_key(&app->devices, app->key))
		tdm_app_device_chosen(app);
	else if (!app->devices_have_keys && tdm_list_key(&app->processes, app->key))
		app->row_is_held = app->key != TDM_KEY_HOME;
}

static bool search(struct tdm_app *app, size_t from, bool forward)
{
	size_t count = app->rows.count;
	for (size_t i = 0; i < count; i++) {
		size_t line = forward ? (from + i) % count : (from + count - i) % count;
		const struct tdm_proc_row *row = &app->rows.rows[line];
		if (row->type == TDM_ROW_PROCESS && tdm_proc_matches(row->who, app->search)) {
			app->processes.chosen = line;
			app->row_is_held = true;
			return true;
		}
	}
	return false;
}

static char *filter(struct tdm_app *app)
{
	return app->filter;
}

const struct tdm_screen tdm_screen_overview = {
	.name = "overview",
	.draw = draw,
	.key = key,
	.search = search,
	.filter = filter,
	.filtered = tdm_app_update_rows,
};
