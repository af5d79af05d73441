#include "tui/proc_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/trace_hazards.h"
#include "base/clock.h"
#include "base/duration.h"
#include "tui/device_block.h"
#include "tui/host_use.h"

enum { CELL_CAP = 320, COMMAND_MIN = 20, COMMAND_NARROW = 8, COMMAND_WIDE = 30, NARROW = 60, WIDE = 120 };

/* Appends to dst as far as there is room. */
static void append(char *dst, size_t cap, const char *text)
{
	size_t len = strlen(dst);
	snprintf(dst + len, cap - len, "%s", text);
}

/* Whether the devices have consecutive numbers. */
static bool is_next(const struct tdm_picture_device *first, const struct tdm_picture_device *second)
{
	return first->number >= 0 && second->number == first->number + 1 && second->is_virtual == first->is_virtual;
}

/* Without the host, which the first one has said. */
static const char *bare_label(const struct tdm_picture_device *device, char *dst, size_t cap)
{
	struct tdm_picture_device here = { .number = device->number, .is_virtual = device->is_virtual };
	return tdm_pick_label(&here, dst, cap);
}

char *tdm_proc_devices(
	const struct tdm_picture *picture, const struct tdm_picture_process *process, char *dst, size_t cap)
{
	dst[0] = '\0';
	for (uint32_t i = 0; i < process->holding_count;) {
		const struct tdm_holding *holdings = &picture->holdings[process->first_holding];
		const struct tdm_picture_device *first = &picture->devices[holdings[i].device], *last = first;
		char from[TDM_PICK_LABEL_CAP], to[16];
		uint32_t next = i + 1;
		while (next < process->holding_count && is_next(last, &picture->devices[holdings[next].device]))
			last = &picture->devices[holdings[next++].device];
		if (i != 0)
			append(dst, cap, ",");
		append(dst, cap, tdm_pick_label(first, from, sizeof from));
		if (last != first) {
			append(dst, cap, last->number == first->number + 1 ? "," : "-");
			append(dst, cap, bare_label(last, to, sizeof to));
		}
		i = next;
	}
	return dst;
}

char *tdm_proc_sources(uint32_t sources, char *dst, size_t cap)
{
	dst[0] = '\0';
	for (int from = TDM_FROM_LEDGER; from < TDM_FROM_COUNT; from++) {
		if ((sources & UINT32_C(1) << from) == 0)
			continue;
		if (dst[0] != '\0')
			append(dst, cap, "+");
		append(dst, cap, tdm_from_name((enum tdm_from)from));
	}
	return dst;
}

/* As tdm_proc_sources(), with one letter for each. */
static char *source_letters(uint32_t sources, char *dst, size_t cap)
{
	static const char letters[TDM_FROM_COUNT] = {
		[TDM_FROM_LEDGER] = 'L', [TDM_FROM_METAL_SHM] = 'S', [TDM_FROM_DRIVER] = 'D', [TDM_FROM_MODEL] = 'M'
	};
	size_t len = 0;
	for (int from = TDM_FROM_LEDGER; from < TDM_FROM_COUNT && len + 1 < cap; from++)
		if ((sources & UINT32_C(1) << from) != 0)
			dst[len++] = letters[from];
	dst[len] = '\0';
	return dst;
}

struct fit {
	bool shown[TDM_PROC_COLUMN_COUNT];
	int command_cols;
	/* A column is about one memory, and its sizes have one unit, so that processes can be compared. A row is about
	 * several, of which one may be a million times as large as another. */
	struct tdm_bytes_range ranges[TDM_PROC_COLUMN_COUNT];
};

/* Negative: aligned right. Devices of several machines need room for their hosts. */
static int column_width(const struct tdm_app *app, int column)
{
	int width = tdm_proc_columns[column].width;
	int hosts = column == TDM_PROC_DEVICE && app->picture != NULL ? (int)tdm_pick_host_columns(app->picture) : 0;
	return hosts != 0 && hosts > width ? hosts : width;
}

static int width_of(const struct tdm_app *app, int column)
{
	int width = column_width(app, column);
	return (width < 0 ? -width : width) + 1;
}

/* Chooses the columns of highest priority that fit. */
static struct fit fit_columns(const struct tdm_app *app, int cols)
{
	struct fit fit = { .shown = { [TDM_PROC_COMMAND] = true } };
	int least = cols < NARROW ? COMMAND_NARROW : cols < WIDE ? COMMAND_MIN : COMMAND_WIDE, left = cols - least - 1;
	for (int priority = 0; priority < TDM_PROC_COLUMN_COUNT; priority++)
		for (int c = 0; c < TDM_PROC_COMMAND; c++)
			if (tdm_proc_columns[c].priority == priority && !app->hidden[c] && width_of(app, c) <= left) {
				fit.shown[c] = true;
				left -= width_of(app, c);
			}
	fit.command_cols = least + (left > 0 ? left : 0);
	return fit;
}

static int field_width(const struct tdm_app *app, const struct fit *fit, int column)
{
	return column == TDM_PROC_COMMAND ? fit->command_cols : column_width(app, column);
}

static const char *sort_arrow(const struct tdm_app *app)
{
	if (app->canvas.utf8)
		return app->reversed ? "△" : "▽";
	return app->reversed ? "^" : "v";
}

/* Names the sort column after the last title, if there is room, because the column itself does not fit. */
static void draw_hidden_order(const struct tdm_app *app, struct tdm_pen *pen, int width)
{
	const char *title = tdm_proc_columns[TDM_PROC_COMMAND].title;
	char text[48];
	snprintf(text, sizeof text, "%s by %s%s", title, tdm_proc_columns[app->sort].title, sort_arrow(app));
	bool fits = tdm_canvas_width_of(pen->canvas, text) <= width;
	tdm_pen_field(pen, width, TDM_INK_HEAD, fits ? text : title);
}

static void draw_titles(struct tdm_app *app, struct tdm_area area, const struct fit *fit)
{
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	tdm_canvas_fill(&app->canvas, pen.row, area.col, area.cols, TDM_INK_HEAD, ' ');
	tdm_pen_skip(&pen, 1);
	for (int c = 0; c < TDM_PROC_COLUMN_COUNT; c++) {
		if (!fit->shown[c])
			continue;
		char title[32];
		bool sorted = app->sort == (enum tdm_proc_column)c;
		int cols = field_width(app, fit, c);
		tdm_zone_add(app, (struct tdm_area){ pen.row, pen.col, 1, cols < 0 ? -cols : cols }, TDM_ZONE_COLUMN,
			(size_t)c);
		snprintf(title, sizeof title, "%s%s", tdm_proc_columns[c].title, sorted ? sort_arrow(app) : "");
		if (c == TDM_PROC_COMMAND && !fit->shown[app->sort])
			draw_hidden_order(app, &pen, fit->command_cols);
		else
			tdm_pen_field(&pen, cols, sorted ? TDM_INK_SORTED : TDM_INK_HEAD, title);
		tdm_pen_skip(&pen, 1);
	}
}

static uint64_t growth_bytes(int64_t growth)
{
	return growth == TDM_GROWTH_UNKNOWN ? TDM_BYTES_UNKNOWN : growth < 0 ? (uint64_t)-growth : (uint64_t)growth;
}

/* Of all lines, so that units stay when the list is scrolled; resident memory is read for the lines in view only. */
static void find_ranges(const struct tdm_app *app, struct fit *fit, int page)
{
	struct tdm_bytes_range *ranges = fit->ranges;
	size_t first = app->processes.top, end = first + (size_t)page;
	for (size_t i = 0; i < app->rows.count; i++) {
		const struct tdm_proc_row *row = &app->rows.rows[i];
		for (int k = 0; k < TDM_PROC_KINDS; k++)
			tdm_bytes_range_add(&ranges[TDM_PROC_DRAM + k], row->used[k]);
		tdm_bytes_range_add(&ranges[TDM_PROC_MEMORY], row->memory);
		tdm_bytes_range_add(&ranges[TDM_PROC_PEAK], row->peak);
		if (row->type != TDM_ROW_PROCESS)
			continue;
		tdm_bytes_range_add(&ranges[TDM_PROC_GROWTH], growth_bytes(row->growth));
		const struct tdm_host_use *host = fit->shown[TDM_PROC_RESIDENT] && i >= first && i < end
							  ? tdm_host_uses_find(&app->hosts, row->handle)
							  : NULL;
		if (host != NULL)
			tdm_bytes_range_add(&ranges[TDM_PROC_RESIDENT], host->use.resident_bytes);
	}
}

static char *format_bytes(const struct fit *fit, int column, const char *mark, uint64_t bytes, char *dst, size_t cap)
{
	char text[TDM_BYTES_CAP];
	size_t width = (size_t)abs(tdm_proc_columns[column].width) -
		       (mark[0] != '\0'); /* a mark that matters here is one character */
	tdm_format_bytes_in(text, sizeof text, bytes, &fit->ranges[column], width);
	snprintf(dst, cap, "%s%s", mark, bytes != 0 ? text : "0");
	return dst;
}

static void draw_bytes(
	struct tdm_pen *pen, const struct fit *fit, int column, uint64_t bytes, bool is_bound, bool is_estimated)
{
	char text[TDM_BYTES_CAP + 4];
	enum tdm_ink ink = bytes == 0 || bytes == TDM_BYTES_UNKNOWN ? TDM_INK_DIM : TDM_INK_PLAIN;
	const char *mark = !is_bound ? tdm_estimate_mark(is_estimated, bytes) : pen->canvas->utf8 ? "≤" : "<=";
	tdm_pen_field(
		pen, tdm_proc_columns[column].width, ink, format_bytes(fit, column, mark, bytes, text, sizeof text));
}

/* "+1.50MiB", "0", "-" when it is not known yet. */
static const char *growth_text(const struct fit *fit, int64_t growth, char *dst, size_t cap)
{
	if (growth == TDM_GROWTH_UNKNOWN)
		return "-";
	if (growth == 0)
		return "0";
	return format_bytes(fit, TDM_PROC_GROWTH, growth < 0 ? "-" : "+", growth_bytes(growth), dst, cap);
}

/* State, CPU or resident memory; "-": unknown. */
static const char *host_text(const struct tdm_app *app, const struct fit *fit,
	const struct tdm_picture_process *process, int column, char *dst, size_t cap)
{
	const struct tdm_host_use *host = tdm_host_uses_find(&app->hosts, process->handle);
	if (column == TDM_PROC_STATE && process->life == TDM_LIFE_ENDED)
		return "X";
	if (host == NULL || (column == TDM_PROC_CPU && host->cpu_permille == TDM_BYTES_UNKNOWN))
		return "-";
	if (column == TDM_PROC_STATE)
		snprintf(dst, cap, "%c", host->use.state);
	else if (column == TDM_PROC_RESIDENT)
		return format_bytes(fit, column, "", host->use.resident_bytes, dst, cap);
	else
		snprintf(dst, cap, "%" PRIu64 ".%" PRIu64, host->cpu_permille / 10, host->cpu_permille % 10);
	return dst;
}

static const char *text_cell(const struct tdm_app *app, const struct fit *fit, const struct tdm_proc_row *row,
	int column, char *dst, size_t cap)
{
	const struct tdm_picture *picture = app->picture;
	const struct tdm_picture_process *process = &picture->processes[row->process];
	switch (column) {
	case TDM_PROC_PID:
		snprintf(dst, cap, "%" PRId32 "%s", process->pid, process->is_claimed ? "?" : "");
		return dst;
	case TDM_PROC_USER:
		return process->user;
	case TDM_PROC_DEVICE:
		if (row->device != UINT32_MAX)
			return tdm_pick_label(&picture->devices[row->device], dst, cap);
		return tdm_proc_devices(picture, process, dst, cap);
	case TDM_PROC_AGE:
		if (process->life == TDM_LIFE_ENDED)
			return "-";
		return row->age_ns == UINT64_MAX ? "?" : tdm_format_duration(dst, cap, row->age_ns);
	case TDM_PROC_GROWTH:
		return growth_text(fit, row->growth, dst, cap);
	case TDM_PROC_STATE:
	case TDM_PROC_CPU:
	case TDM_PROC_RESIDENT:
		return host_text(app, fit, process, column, dst, cap);
	case TDM_PROC_SOURCE:
		return source_letters(process->sources, dst, cap);
	case TDM_PROC_PHASE:
		return process->phase;
	default:
		return "";
	}
}

static void draw_command(struct tdm_pen *pen, const struct tdm_app *app, const struct tdm_proc_row *row, int width)
{
	const struct tdm_picture_process *process = &app->picture->processes[row->process];
	struct tdm_pen cell = { pen->canvas, pen->row, pen->col,
		pen->col + width < pen->end ? pen->col + width : pen->end };
	bool utf8 = pen->canvas->utf8;
	if (row->is_child)
		tdm_pen_text(&cell, TDM_INK_DIM, row->is_last ? (utf8 ? "└─ " : "`- ") : (utf8 ? "├─ " : "|- "));
	if (process->life == TDM_LIFE_ENDED)
		tdm_pen_text(&cell, process->crashed ? TDM_INK_RED : TDM_INK_DIM,
			process->crashed ? "[crashed] " : "[ended] ");
	if (process->out_of_memory != 0 && process->out_of_memory != TDM_BYTES_UNKNOWN)
		tdm_pen_text(&cell, TDM_INK_RED, "[OOM] ");
	if (tdm_trace_hazards_count(app->picture, process, TDM_HAZARD_LIVE) != 0)
		tdm_pen_text(&cell, TDM_INK_RED, "[trace] ");
	if (row->rises)
		tdm_pen_text(&cell, TDM_INK_YELLOW, "[leak?] ");
	tdm_pen_text(&cell, process->is_foreign ? TDM_INK_DIM : TDM_INK_PLAIN,
		process->command[0] != '\0' ? process->command : process->comm);
	pen->col += width;
}

/* Lines that are not processes say what they are in place of the command. */
static void rest_text(const struct tdm_app *app, const struct tdm_proc_row *row, char *dst, size_t cap)
{
	const struct tdm_picture_device *device = &app->picture->devices[row->device];
	const char *branch = !row->is_child     ? ""
			     : app->canvas.utf8 ? (row->is_last ? "└─ " : "├─ ")
						: (row->is_last ? "`- " : "|- ");
	if (row->type == TDM_ROW_UNATTRIBUTED)
		snprintf(dst, cap, "%s(unattributed)", branch);
	else if (row->type == TDM_ROW_STALE)
		snprintf(dst, cap, "%s(left by ended processes)", branch);
	else
		snprintf(dst, cap, "%s%s", tdm_picture_card_mark(device),
			device->card[0] != '\0' ? device->card : "card unknown");
	size_t len = strlen(dst);
	if (row->type == TDM_ROW_DEVICE && device->node >= 0)
		snprintf(dst + len, cap - len, "  /dev/tenstorrent/%" PRId32, device->node);
}

static enum tdm_ink cell_ink(const struct tdm_proc_row *row, int column)
{
	if (column == TDM_PROC_GROWTH && row->rises)
		return TDM_INK_YELLOW;
	return column == TDM_PROC_PID || column == TDM_PROC_DEVICE ? TDM_INK_PLAIN
	       : column == TDM_PROC_PHASE                          ? TDM_INK_CYAN
								   : TDM_INK_DIM;
}

/* Reads what the columns of the host need: of the lines in view, or of all if their order depends on it. */
static void read_hosts(struct tdm_app *app, const struct fit *fit, int page)
{
	size_t first = app->processes.top, count = app->rows.count;
	if (tdm_proc_is_host(app->sort))
		first = 0;
	else if (!fit->shown[TDM_PROC_STATE] && !fit->shown[TDM_PROC_CPU] && !fit->shown[TDM_PROC_RESIDENT])
		return;
	else
		count = count - first < (size_t)page ? count - first : (size_t)page;
	if (app->picture != NULL)
		tdm_host_uses_read(
			&app->hosts, app->provider, app->picture, app->rows.rows + first, count, tdm_clock_ns());
}

static void draw_row(struct tdm_app *app, struct tdm_area area, const struct fit *fit, size_t line)
{
	const struct tdm_proc_row *row = &app->rows.rows[line];
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	bool is_process = row->type == TDM_ROW_PROCESS;
	char cell[CELL_CAP];
	tdm_pen_text(&pen, TDM_INK_YELLOW, is_process && tdm_app_is_tagged(app, row->handle) ? "*" : " ");
	for (int c = 0; c < TDM_PROC_COLUMN_COUNT; c++) {
		if (!fit->shown[c])
			continue;
		int width = field_width(app, fit, c);
		if (c >= TDM_PROC_DRAM && c <= TDM_PROC_CB)
			draw_bytes(&pen, fit, c, row->used[c - TDM_PROC_DRAM], false,
				(row->estimated >> (c - TDM_PROC_DRAM) & 1) != 0);
		else if (c == TDM_PROC_MEMORY)
			draw_bytes(&pen, fit, c, row->memory, false, row->estimated != 0);
		else if (c == TDM_PROC_PEAK && (is_process || row->type == TDM_ROW_DEVICE))
			draw_bytes(&pen, fit, c, row->peak, row->peak_is_sum, (row->estimated & 1) != 0);
		else if (c == TDM_PROC_COMMAND && is_process)
			draw_command(&pen, app, row, width);
		else if (is_process)
			tdm_pen_field(&pen, width, cell_ink(row, c), text_cell(app, fit, row, c, cell, sizeof cell));
		else if (c == TDM_PROC_COMMAND) {
			rest_text(app, row, cell, sizeof cell);
			tdm_pen_field(&pen, width, row->type == TDM_ROW_DEVICE ? TDM_INK_BOLD : TDM_INK_YELLOW, cell);
		} else
			tdm_pen_field(&pen, width, TDM_INK_BOLD,
				c == TDM_PROC_DEVICE
					? tdm_pick_label(&app->picture->devices[row->device], cell, sizeof cell)
					: "");
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
	else if (app->options.pick.pid_count == 1)
		tdm_pen_printf(&pen, TDM_INK_DIM, "Process %" PRId32 " is not known to hold device memory.",
			app->options.pick.pids[0]);
	else if (app->options.pick.pid_count != 0)
		tdm_pen_text(&pen, TDM_INK_DIM, "None of the named processes is known to hold device memory.");
	else
		tdm_pen_printf(&pen, TDM_INK_DIM, "No process%s uses %s device. Programs show up here when they run.",
			app->picture != NULL && app->picture->problem_count != 0 ? " that could be read" : "",
			app->options.pick.device != NULL ? "this" : "a");
	if (app->picture != NULL && app->picture->device_count == 0 && app->picture->hosts == NULL && area.rows > 1) {
		pen = tdm_pen_at(&app->canvas, area, 1);
		tdm_pen_text(&pen, TDM_INK_DIM,
			" 'tidemark doctor' says what was looked for; 'tidemark demo' needs no card.");
	}
}

void tdm_proc_table_draw(struct tdm_app *app, struct tdm_area area, bool has_keys)
{
	struct fit fit = fit_columns(app, area.cols - 1);
	struct tdm_area head = tdm_area_take_rows(&area, 1);
	if (head.rows == 0)
		return;
	draw_titles(app, head, &fit);
	tdm_list_fit(&app->processes, app->rows.count, area.rows);
	tdm_zone_add(app, area, TDM_ZONE_PROCESSES, app->processes.top);
	if (app->rows.count == 0)
		draw_empty(app, area);
	else
		read_hosts(app, &fit, area.rows);
	find_ranges(app, &fit, area.rows);
	for (int i = 0; i < area.rows && app->processes.top + (size_t)i < app->rows.count; i++) {
		size_t line = app->processes.top + (size_t)i;
		struct tdm_area row = { area.row + i, area.col, 1, area.cols };
		draw_row(app, row, &fit, line);
		if (line == app->processes.chosen)
			tdm_canvas_shade(
				&app->canvas, row.row, row.col, row.cols, has_keys ? TDM_INK_CURSOR : TDM_INK_CHOSEN);
	}
}
