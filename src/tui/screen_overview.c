/* Screen 1, the overview: all devices above, all processes below. */
#include <limits.h>
#include <stdio.h>

#include "tui/device_block.h"
#include "tui/match.h"
#include "tui/proc_table.h"
#include "tui/screens.h"
#include "tui/terminal.h"
#include "tui/totals.h"

enum { TOTALS_ROWS_MIN = 10 }; /* of a screen that has a line for them */

static void draw_no_device(struct tdm_app *app, struct tdm_area area)
{
	const struct tdm_pick *pick = &app->options.pick;
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	tdm_pen_skip(&pen, 1);
	if (app->picture->device_count == 0 && app->picture->hosts != NULL)
		tdm_pen_printf(&pen, TDM_INK_YELLOW, "No device: %s.",
			tdm_picture_is_silent(app->picture) ? "none of the machines has answered"
							    : "the machines that answer have none");
	else if (app->picture->device_count == 0)
		tdm_pen_printf(&pen, TDM_INK_YELLOW, "No device: the driver shows none, and no program%s reports one.",
			app->picture->problem_count != 0 ? " that could be read" : "");
	else if (pick->pid_count > 1)
		tdm_pen_text(&pen, TDM_INK_YELLOW, "None of the named processes uses such a device now.");
	else if (pick->pid_count != 0 && pick->device != NULL)
		tdm_pen_printf(&pen, TDM_INK_YELLOW, "Process %d does not use device \"%s\".", (int)pick->pids[0],
			pick->device);
	else if (pick->device != NULL)
		tdm_pen_printf(&pen, TDM_INK_YELLOW, "None of the %zu devices matches \"%s\".",
			app->picture->device_count - app->picture->board_count, pick->device);
	else
		tdm_pen_printf(&pen, TDM_INK_YELLOW, "Process %d uses no device now.", (int)pick->pids[0]);
}

/* Tells in one line below the devices what could not be read. */
static bool draw_problem(struct tdm_app *app, struct tdm_area area)
{
	const struct tdm_picture *picture = app->picture;
	if (picture->problem_count == 0)
		return false;
	const struct tdm_picture_problem *first = &picture->problems[0];
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	if (picture->problem_count > 1) /* the text that may be cut off comes last */
		tdm_pen_printf(&pen, TDM_INK_YELLOW, " ! lists all %zu problems, the first is", picture->problem_count);
	else
		tdm_pen_text(&pen, TDM_INK_YELLOW, " !");
	tdm_pen_printf(&pen, TDM_INK_YELLOW, " %s: %s", first->place, first->text);
	return true;
}

/* Whether there are cards whose devices are unknown, and the user did not ask for one of these cards. */
static bool has_boards(const struct tdm_app *app)
{
	size_t first = app->picture->device_count - app->picture->board_count;
	return app->picture->board_count != 0 && (app->shown_count == 0 || app->shown[0] < first);
}

/* Their telemetry, in one line. */
static bool draw_boards(struct tdm_app *app, struct tdm_area area)
{
	const struct tdm_picture *picture = app->picture;
	size_t first = picture->device_count - picture->board_count;
	if (!has_boards(app))
		return false;
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	tdm_pen_text(&pen, TDM_INK_LABEL, " cards:");
	for (size_t i = first; i < picture->device_count; i++) {
		const struct tdm_picture_telemetry *t = &picture->devices[i].telemetry;
		tdm_pen_printf(&pen, TDM_INK_BOLD, "  /%d", (int)picture->devices[i].node);
		if (t->temp.is_known)
			tdm_pen_printf(&pen, TDM_INK_PLAIN, " %.1f %s", (double)t->temp.value / 1e3,
				app->canvas.utf8 ? "°C" : "C");
		if (t->power.is_known)
			tdm_pen_printf(&pen, TDM_INK_PLAIN, " %.0f W", (double)t->power.value / 1e6);
	}
	tdm_pen_text(&pen, TDM_INK_DIM, "  (not known which device is on which)");
	return true;
}

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
		tdm_zone_add(app, block, TDM_ZONE_DEVICE, at);
		bool has_keys = app->devices_have_keys && at == app->devices.chosen;
		enum tdm_ink mark = has_keys ? TDM_INK_CURSOR : TDM_INK_PLAIN;
		tdm_device_block(app, block, &app->picture->devices[app->shown[at]], layout, mark);
	}
}

/* Says which devices are in view, if not all are, and how old the oldest of their figures are. */
static void set_position(struct tdm_app *app)
{
	const struct tdm_list *list = &app->devices;
	const struct tdm_picture_device *oldest = NULL;
	size_t end = list->top + list->page < app->shown_count ? list->top + list->page : app->shown_count;
	if (app->shown_count > list->page)
		snprintf(app->position, sizeof app->position, "devices %zu-%zu of %zu", list->top + 1, end,
			app->shown_count);
	for (size_t i = list->top; i < end && app->detail > TDM_DETAIL_SHORT; i++) {
		const struct tdm_picture_device *device = &app->picture->devices[app->shown[i]];
		if (device->space_is_old && (oldest == NULL || device->space_ns < oldest->space_ns))
			oldest = device;
	}
	if (oldest != NULL)
		tdm_device_note_age(app, oldest);
}

static void draw(struct tdm_app *app, struct tdm_area area)
{
	int kinds = 0;
	for (size_t i = 0; i < app->shown_count; i++) {
		int has = __builtin_popcount(tdm_device_kinds(&app->picture->devices[app->shown[i]], INT_MAX));
		kinds = has > kinds ? has : kinds;
	}
	if (area.rows >= TOTALS_ROWS_MIN && tdm_totals_are_useful(app))
		tdm_totals_draw(app, tdm_area_take_rows(&area, 1));
	size_t notes = (size_t)has_boards(app) + (app->picture->problem_count != 0);
	struct tdm_layout layout = tdm_layout_compute(
		area.rows, area.cols, app->shown_count, app->rows.count + notes, kinds, app->most_detail);
	app->detail = layout.detail;
	if (app->shown_count == 0)
		draw_no_device(app, tdm_area_take_rows(&area, 1));
	else
		draw_devices(app, tdm_area_take_rows(&area, layout.device_rows), &layout);
	if (area.rows > 2 && draw_boards(app, (struct tdm_area){ area.row, area.col, 1, area.cols }))
		tdm_area_take_rows(&area, 1);
	if (area.rows > 2 && draw_problem(app, (struct tdm_area){ area.row, area.col, 1, area.cols }))
		tdm_area_take_rows(&area, 1);
	tdm_proc_table_draw(app, area, !app->devices_have_keys);
	set_position(app);
}

static bool key(struct tdm_app *app, int key)
{
	if (app->devices_have_keys) {
		if (!tdm_list_key(&app->devices, key))
			return false;
		tdm_app_device_chosen(app);
		return true;
	}
	if (!tdm_list_key(&app->processes, key))
		return false;
	app->row_is_held = key != TDM_KEY_HOME;
	return true;
}

static bool row_has(const struct tdm_app *app, const struct tdm_proc_row *row)
{
	return row->type == TDM_ROW_PROCESS && tdm_match_process(&app->picture->processes[row->process], app->search);
}

static bool search(struct tdm_app *app, size_t from, bool forward)
{
	size_t count = app->rows.count;
	for (size_t i = 0; i < count; i++) {
		size_t line = forward ? (from + i) % count : (from + count - i) % count;
		if (row_has(app, &app->rows.rows[line])) {
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
