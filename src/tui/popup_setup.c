/* Settings: interval, colours, characters, vi keys and the columns of the process table. settings.h keeps them. */
#include <stdio.h>

#include "tui/popup.h"
#include "tui/screens.h"
#include "tui/terminal.h"

enum { INTERVAL, COLOUR, ASCII, VI, MOUSE, FIRST_COLUMN, ENTRIES = FIRST_COLUMN + TDM_PROC_COMMAND };

static const unsigned intervals_ms[] = { 100, 200, 500, 1000, 2000, 5000, 10000 };
enum { INTERVALS = sizeof intervals_ms / sizeof intervals_ms[0] };

static void format_line(const struct tdm_app *app, size_t index, char *dst, size_t cap)
{
	char interval[TDM_INTERVAL_CAP];
	tdm_app_format_interval(app->options.interval_ms, interval, sizeof interval);
	if (index == INTERVAL)
		snprintf(dst, cap, " interval            < %s >", interval);
	else if (index == COLOUR)
		snprintf(dst, cap, " [%c] colours", app->options.no_colour ? ' ' : 'x');
	else if (index == ASCII)
		snprintf(dst, cap, " [%c] ASCII characters only", app->canvas.utf8 ? ' ' : 'x');
	else if (index == MOUSE)
		snprintf(dst, cap, " [%c] mouse (Shift selects text)", app->options.no_mouse ? ' ' : 'x');
	else if (index == VI)
		snprintf(dst, cap, " [%c] h j k l move (F9 signals, ? helps)", app->vi_keys ? 'x' : ' ');
	else
		snprintf(dst, cap, " [%c] column %s", app->hidden[index - FIRST_COLUMN] ? ' ' : 'x',
			tdm_proc_columns[index - FIRST_COLUMN].title);
}

static void draw_line(struct tdm_app *app, struct tdm_area area, size_t index)
{
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	char text[64];
	format_line(app, index, text, sizeof text);
	tdm_pen_text(&pen, TDM_INK_PLAIN, text);
	if (index == app->popup_list.chosen)
		tdm_canvas_shade(&app->canvas, area.row, area.col, area.cols, TDM_INK_CURSOR);
}

static size_t count(const struct tdm_app *app)
{
	(void)app;
	return ENTRIES;
}

static void draw(struct tdm_app *app, struct tdm_area area)
{
	struct tdm_area inner = tdm_popup_box(app, area, ENTRIES, 46, "Setup: change with Space or arrows");
	tdm_popup_lines(app, inner, ENTRIES, draw_line);
}

static void step_interval(struct tdm_app *app, bool up)
{
	size_t at = 0;
	while (at < INTERVALS - 1 && intervals_ms[at] < app->options.interval_ms)
		at++;
	if (up && intervals_ms[at] <= app->options.interval_ms && at < INTERVALS - 1)
		at++;
	else if (!up && at > 0)
		at--;
	app->options.interval_ms = intervals_ms[at];
}

static void change(struct tdm_app *app, bool up)
{
	size_t at = app->popup_list.chosen;
	if (at == INTERVAL)
		step_interval(app, up);
	else if (at == COLOUR)
		app->options.no_colour = !app->options.no_colour;
	else if (at == ASCII)
		app->options.ascii = !app->options.ascii;
	else if (at == MOUSE)
		app->options.no_mouse = !app->options.no_mouse;
	else if (at == VI)
		app->vi_keys = !app->vi_keys;
	else
		app->hidden[at - FIRST_COLUMN] = !app->hidden[at - FIRST_COLUMN];
}

static bool key(struct tdm_app *app, int key)
{
	if (key == ' ' || key == TDM_KEY_ENTER || key == TDM_KEY_RIGHT || key == '+') {
		change(app, true);
		return true;
	}
	if (key == TDM_KEY_LEFT || key == '-') {
		change(app, false);
		return true;
	}
	return tdm_list_key(&app->popup_list, key) || !(tdm_popup_closes(key) || key == TDM_KEY_F0 + 2);
}

const struct tdm_popup tdm_popup_setup = { count, draw, key };
