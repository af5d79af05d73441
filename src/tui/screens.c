#include "tui/screens.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "tui/device_block.h"
#include "tui/keys.h"

enum { ROWS_MIN = 5, COLS_MIN = 20 };

void tdm_screens_open(struct tdm_app *app, enum tdm_screen_id screen)
{
	struct tdm_wish wish = { 0 };
	app->screen = screen;
	if (tdm_screens[screen]->wish != NULL)
		tdm_screens[screen]->wish(app, &wish, false);
	/* A frozen picture stays if it has what the screen needs. */
	bool has_all = app->frozen && wish.process == app->wish.process && wish.device == app->wish.device;
	app->look_now = tdm_screens[screen]->refresh != NULL && !has_all;
}

void tdm_popup_open(struct tdm_app *app, enum tdm_popup_id popup)
{
	app->popup = popup;
	app->popup_list = (struct tdm_list){ .count = tdm_popups[popup]->count(app) };
}

static void format_clock(const struct tdm_app *app, char *dst, size_t cap)
{
	time_t seconds = (time_t)(app->picture->real_ns / TDM_NS_PER_S);
	struct tm local;
	if (localtime_r(&seconds, &local) == NULL || strftime(dst, cap, "%H:%M:%S", &local) == 0)
		dst[0] = '\0';
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
		tdm_zone_add(
			app, (struct tdm_area){ pen.row, from, 1, pen.col - from }, TDM_ZONE_KEY, (size_t)('1' + i));
	}
	if (app->picture == NULL)
		return;
	char text[96], clock[16], interval[TDM_INTERVAL_CAP];
	format_clock(app, clock, sizeof clock);
	tdm_app_format_interval(app->options.interval_ms, interval, sizeof interval);
	snprintf(text, sizeof text, " every %s  %s ", interval, clock);
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
	tdm_zone_add(
		app, (struct tdm_area){ pen->row, from, 1, pen->col - from }, TDM_ZONE_KEY, (size_t)binding->keys[0]);
	tdm_pen_skip(pen, 2);
}

static const char *label_of(const struct tdm_app *app, uint64_t key, char *dst, size_t cap)
{
	for (size_t d = 0; app->picture != NULL && d < app->picture->device_count; d++)
		if (app->picture->devices[d].key == key)
			return tdm_pick_label(&app->picture->devices[d], dst, cap);
	return "(gone)";
}

/* A filter stays in view for as long as it hides lines. */
static void draw_filter(struct tdm_app *app, struct tdm_pen *pen, int kept)
{
	const struct tdm_screen *screen = tdm_screens[app->screen];
	const char *filter = screen->filter != NULL ? screen->filter(app) : "";
	uint64_t device = app->screen == TDM_SCREEN_OVERVIEW ? app->only_device : 0;
	int end = pen->end;
	if (filter[0] == '\0' && device == 0)
		return;
	char label[16];
	pen->end = end - kept;
	tdm_pen_text(pen, TDM_INK_YELLOW, "only");
	if (device != 0)
		tdm_pen_printf(pen, TDM_INK_YELLOW, " device %s", label_of(app, device, label, sizeof label));
	if (filter[0] != '\0')
		tdm_pen_printf(pen, TDM_INK_YELLOW, " \"%s\"", filter);
	tdm_pen_text(pen, TDM_INK_DIM, ": Esc shows all  ");
	bool is_cut = tdm_pen_room(pen) == 0;
	pen->end = end;
	tdm_pen_skip(pen, is_cut ? 1 : 0);
}

/* Draws as many keys as fit, and always the last one, which quits. */
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

static void draw_last_line(struct tdm_app *app, struct tdm_area area)
{
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	bool has_message = app->message[0] != '\0' && tdm_clock_ns() < app->message_until_ns;
	if (app->typing.on) {
		const char *text = app->typing.is_filter ? tdm_screens[app->screen]->filter(app) : app->search;
		tdm_pen_text(&pen, TDM_INK_TAB, app->typing.is_filter ? " Filter " : " Search ");
		tdm_pen_printf(&pen, TDM_INK_BOLD, " %s_", text);
		tdm_pen_text(&pen, TDM_INK_DIM, "  Enter keeps it, Esc cancels");
		if (has_message)
			tdm_pen_printf(&pen, TDM_INK_YELLOW, "  %s", app->message);
	} else if (has_message)
		tdm_pen_printf(&pen, TDM_INK_YELLOW, " %s", app->message);
	else
		draw_keys(app, area);
}

static void draw_nothing(struct tdm_app *app, struct tdm_area area)
{
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	tdm_pen_text(&pen, TDM_INK_YELLOW, " No figures: out of memory while reading them. Trying again.");
}

void tdm_screens_draw(struct tdm_app *app)
{
	struct tdm_canvas *canvas = &app->canvas;
	struct tdm_area area = tdm_canvas_area(canvas);
	canvas->utf8 = app->can_utf8 && !app->options.ascii;
	app->position[0] = '\0';
	tdm_canvas_clear(canvas);
	tdm_zones_clear(&app->zones);
	if (canvas->rows < ROWS_MIN || canvas->cols < COLS_MIN) {
		tdm_canvas_put(canvas, 0, 0, canvas->cols, TDM_INK_PLAIN, "too small");
		return;
	}
	draw_tabs(app, tdm_area_take_rows(&area, 1));
	struct tdm_area last = { area.row + area.rows - 1, area.col, 1, area.cols };
	area.rows--;
	if (app->picture != NULL)
		tdm_screens[app->screen]->draw(app, area);
	else
		draw_nothing(app, area);
	draw_last_line(app, last);
	if (app->popup == TDM_POPUP_NONE)
		return;
	tdm_zones_clear(&app->zones); /* a click beside the box closes it */
	tdm_popups[app->popup]->draw(app, area);
}

const struct tdm_screen *const tdm_screens[TDM_SCREEN_COUNT] = {
	[TDM_SCREEN_OVERVIEW] = &tdm_screen_overview,
	[TDM_SCREEN_DEVICE] = &tdm_screen_device,
	[TDM_SCREEN_PROCESS] = &tdm_screen_process,
	[TDM_SCREEN_EVENTS] = &tdm_screen_events,
};

const struct tdm_popup *const tdm_popups[TDM_POPUP_COUNT] = {
	[TDM_POPUP_HELP] = &tdm_popup_help,
	[TDM_POPUP_SETUP] = &tdm_popup_setup,
	[TDM_POPUP_SORT] = &tdm_popup_sort,
	[TDM_POPUP_SIGNAL] = &tdm_popup_signal,
	[TDM_POPUP_PROBLEMS] = &tdm_popup_problems,
	[TDM_POPUP_FINDINGS] = &tdm_popup_findings,
};
