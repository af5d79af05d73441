/* Asks which signal to send to the target processes. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "tui/popup.h"
#include "tui/screens.h"
#include "tui/send_signal.h"
#include "tui/terminal.h"

static const struct {
	int number;
	char letter;
	const char *name, *what;
} signals[] = {
	{ SIGTERM, 'T', "SIGTERM", "asks it to exit" },
	{ SIGINT, 'I', "SIGINT", "like Ctrl-C" },
	{ SIGKILL, 'K', "SIGKILL", "kills it at once" },
	{ SIGHUP, 'H', "SIGHUP", "hang up" },
	{ SIGQUIT, 'Q', "SIGQUIT", "ends it with a core dump" },
	{ SIGUSR1, '1', "SIGUSR1", "" },
	{ SIGUSR2, '2', "SIGUSR2", "" },
	{ SIGSTOP, 'S', "SIGSTOP", "stops it" },
	{ SIGCONT, 'C', "SIGCONT", "continues it" },
};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static void draw_line(struct tdm_app *app, struct tdm_area area, size_t index)
{
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	tdm_pen_printf(&pen, TDM_INK_KEY, " %c  ", signals[index].letter);
	tdm_pen_printf(&pen, TDM_INK_PLAIN, "%-9s", signals[index].name);
	tdm_pen_text(&pen, TDM_INK_DIM, signals[index].what);
	if (index == app->popup_list.chosen)
		tdm_canvas_shade(&app->canvas, area.row, area.col, area.cols, TDM_INK_CURSOR);
}

static size_t count(const struct tdm_app *app)
{
	(void)app;
	return SIGNALS;
}

static void draw(struct tdm_app *app, struct tdm_area area)
{
	char title[96];
	if (app->target_count == 1)
		snprintf(title, sizeof title, "Signal to %" PRId32 " %s?", app->targets[0].pid, app->targets[0].name);
	else
		snprintf(title, sizeof title, "Signal to %zu processes?", app->target_count);
	struct tdm_area inner = tdm_popup_box(app, area, SIGNALS + 1, 44, title);
	struct tdm_area lines = inner;
	lines.rows = inner.rows > 1 ? inner.rows - 1 : inner.rows;
	tdm_popup_lines(app, lines, SIGNALS, draw_line);
	if (inner.rows > 1) {
		struct tdm_pen pen = tdm_pen_at(&app->canvas, inner, inner.rows - 1);
		tdm_pen_text(&pen, TDM_INK_DIM, " Enter sends it, Esc cancels");
	}
}

static const char *failure_text(int err)
{
	return err == -ESRCH ? "it has ended, or its pid was reused" : tdm_err_text(err);
}

static void send_all(struct tdm_app *app, size_t chosen)
{
	size_t sent = 0;
	int32_t failed_pid = 0;
	int failure = 0;
	for (size_t i = 0; i < app->target_count; i++) {
		int err = tdm_signal_send(&app->targets[i], signals[chosen].number);
		if (err == 0)
			sent++;
		else {
			failure = err;
			failed_pid = app->targets[i].pid;
		}
	}
	if (failure != 0)
		tdm_app_say(app, "%s was not sent to %" PRId32 ": %s", signals[chosen].name, failed_pid,
			failure_text(failure));
	else if (sent == 1)
		tdm_app_say(app, "%s was sent to %" PRId32, signals[chosen].name, app->targets[0].pid);
	else
		tdm_app_say(app, "%s was sent to %zu processes", signals[chosen].name, sent);
	app->refresh_now = true;
}

static bool key(struct tdm_app *app, int key)
{
	if (key == TDM_KEY_ENTER) {
		send_all(app, app->popup_list.chosen);
		return false;
	}
	for (size_t i = 0; i < SIGNALS; i++) /* a letter chooses; only Enter sends */
		if (key == signals[i].letter) {
			app->popup_list.chosen = i;
			return true;
		}
	return tdm_list_key(&app->popup_list, key) || !tdm_popup_closes(key);
}

const struct tdm_popup tdm_popup_signal = { count, draw, key };
