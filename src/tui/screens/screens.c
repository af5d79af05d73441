/* Parts common to all screens: the tab line above, the line of keys and messages below, and the table of screens. */

#include "tui/app/app.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

enum { ROWS_MIN = 5, COLS_MIN = 20 };

void tdm_screens_open(struct tdm_app *app, enum tdm_screen_id screen)
{
	struct tdm_wish wish = { 0 };
	app->screen = screen;
	if (tdm_screens[screen]->wish != NULL)
		tdm_screens[screen]->wish(app, &wish, false);
	/* A frozen picture stays if it contains the data that the screen needs. */
	bool has_all = app->frozen && wish.process == app->wish.process && wish.device == app->wish.device;
	app->look_now = tdm_screens[screen]->refresh != NULL && !has_all;
}

static void draw_tabs(struct tdm_app *app, struct tdm_area area)
{
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	tdm_canvas_fill(&app->canvas, area.row, area.col, area.cols, TDM_INK_BAR, ' ');
	bool is_wide = area.cols >= 60;
	if (is_wide)
		tdm_pen_text(&pen, TDM_INK_BAR, " tidemark ");
	for (int i = 0; i < TDM_SCREEN_COUNT; i++) {
		bool is_on = (int)app->screen == i;
		int from = pen.col;
		if (is_wide || is_on)
			tdm_pen_printf(&pen, is_on ? TDM_INK_TAB : TDM_INK_BAR, " %d %s ", i + 1, tdm_screens[i]->name);
		else
			tdm_pen_printf(&pen, TDM_INK_BAR, " %d ", i + 1);
		tdm_app_zone(
			app, (struct tdm_area){ pen.row, from, 1, pen.col - from }, TDM_ZONE_KEY, (size_t)('1' + i));
	}
	char text[96], time[TDM_TIME_CAP], interval[24];
	const char *clock = strchr(tdm_format_time(time, sizeof time, app->picture->real_ns), ' ');
	tdm_format_interval(app->set.interval_ms, interval, sizeof interval);
	snprintf(text, sizeof text, " every %s %s ", interval, clock != NULL ? clock : "");
	int len = (int)strlen(text), at = area.col + area.cols - len;
	if (at > pen.col)
		tdm_canvas_put(&app->canvas, area.row, at, len, TDM_INK_BAR, text);
	if (app->frozen && at - 10 > pen.col)
		tdm_canvas_put(&app->canvas, area.row, at - 9, 9, TDM_INK_ALERT, " frozen ");
	else if (app->frozen)
		tdm_canvas_put(&app->canvas, area.row, area.col + area.cols - 8, 8, TDM_INK_ALERT, " frozen ");
}

static int key_columns(const struct tdm_binding *binding)
{
	return (int)strcspn(binding->names, " ") + 1 + (int)strlen(binding->brief) + 2;
}

static void draw_key(struct tdm_app *app, struct tdm_pen *pen, const struct tdm_binding *binding)
{
	int from = pen->col;
	tdm_pen_printf(pen, TDM_INK_KEY, "%.*s ", (int)strcspn(binding->names, " "), binding->names);
	tdm_pen_text(pen, TDM_INK_DIM, binding->brief);
	tdm_app_zone(
		app, (struct tdm_area){ pen->row, from, 1, pen->col - from }, TDM_ZONE_KEY, (size_t)binding->keys[0]);
	tdm_pen_skip(pen, 2);
}

/* A filter is shown as long as it hides rows. */
static void draw_filter(struct tdm_app *app, struct tdm_pen *pen, int kept)
{
	const struct tdm_screen *screen = tdm_screens[app->screen];
	const char *filter = screen->filter != NULL ? screen->filter(app) : "";
	uint64_t device = app->screen == TDM_SCREEN_OVERVIEW ? app->only_device : 0;
	int end = pen->end;
	if (filter[0] == '\0' && device == 0)
		return;
	char label[TDM_PICK_LABEL_CAP] = "(gone)";
	for (size_t d = 0; d < app->picture->device_count; d++)
		if (app->picture->devices[d].key == device)
			tdm_pick_label(&app->picture->devices[d], label, sizeof label);
	pen->end = end - kept;
	tdm_pen_text(pen, TDM_INK_YELLOW, "only");
	if (device != 0)
		tdm_pen_printf(pen, TDM_INK_YELLOW, " device %s", label);
	if (filter[0] != '\0')
		tdm_pen_printf(pen, TDM_INK_YELLOW, " \"%s\"", filter);
	tdm_pen_text(pen, TDM_INK_DIM, ": Esc shows all  ");
	bool is_cut = tdm_pen_room(pen) == 0;
	pen->end = end;
	tdm_pen_skip(pen, is_cut ? 1 : 0);
}

/* Draws as many keys as fit, and always the last key, which quits. */
static void draw_keys(struct tdm_app *app, struct tdm_area area)
{
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	const struct tdm_binding *quit = &tdm_bindings[tdm_binding_count - 1];
	tdm_pen_skip(&pen, 1);
	int len = (int)strlen(app->position);
	if (len != 0 && len + 2 * key_columns(quit) < tdm_pen_room(&pen)) {
		pen.end -= len + 1;
		tdm_canvas_put(&app->canvas, pen.row, pen.end, len, TDM_INK_BOLD, app->position);
	}
	draw_filter(app, &pen, key_columns(quit) + 1);
	for (const struct tdm_binding *binding = tdm_bindings; binding != quit; binding++) {
		if (binding->brief == NULL || (binding->screens & 1U << app->screen) == 0 ||
			(app->options.read_only && strcmp(binding->brief, "Signal") == 0))
			continue;
		if (key_columns(binding) + key_columns(quit) > tdm_pen_room(&pen))
			break;
		draw_key(app, &pen, binding);
	}
	draw_key(app, &pen, quit);
}

void tdm_screens_draw(struct tdm_app *app)
{
	struct tdm_canvas *canvas = &app->canvas;
	struct tdm_area area = tdm_canvas_area(canvas);
	canvas->utf8 = app->can_utf8 && !app->set.ascii;
	app->position[0] = '\0';
	tdm_canvas_clear(canvas);
	app->zone_count = 0;
	if (canvas->rows < ROWS_MIN || canvas->cols < COLS_MIN) {
		tdm_canvas_put(canvas, 0, 0, canvas->cols, TDM_INK_PLAIN, "too small");
		return;
	}
	draw_tabs(app, tdm_area_take_rows(&area, 1));
	struct tdm_area last = { area.row + area.rows - 1, area.col, 1, area.cols };
	area.rows--;
	tdm_screens[app->screen]->draw(app, area);
	struct tdm_pen pen = tdm_pen_at(canvas, last, 0);
	bool has_message = app->message[0] != '\0' && tdm_clock_ns() < app->message_until_ns;
	if (app->is_typing) {
		const char *text = app->types_filter ? tdm_screens[app->screen]->filter(app) : app->search;
		tdm_pen_text(&pen, TDM_INK_TAB, app->types_filter ? " Filter " : " Search ");
		tdm_pen_printf(&pen, TDM_INK_BOLD, " %s_", text);
		tdm_pen_text(&pen, TDM_INK_DIM, "  Enter keeps it, Esc cancels");
		if (has_message)
			tdm_pen_printf(&pen, TDM_INK_YELLOW, "  %s", app->message);
	} else if (has_message)
		tdm_pen_printf(&pen, TDM_INK_YELLOW, " %s", app->message);
	else
		draw_keys(app, last);
	if (app->popup == TDM_POPUP_NONE)
		return;
	app->zone_count = 0; /* a click outside the box closes it */
	tdm_popup_draw(app, area);
}

const struct tdm_screen *const tdm_screens[TDM_SCREEN_COUNT] = {
	[TDM_SCREEN_OVERVIEW] = &tdm_screen_overview,
	[TDM_SCREEN_DEVICE] = &tdm_screen_device,
	[TDM_SCREEN_PROCESS] = &tdm_screen_process,
	[TDM_SCREEN_EVENTS] = &tdm_screen_events,
};
