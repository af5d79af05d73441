/*
 * The loop: takes a new picture when one is due, handles keys and signals as they come, and draws a frame after each.
 */
#include "tui/tui.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tui/app.h"
#include "tui/guard.h"
#include "tui/keys.h"
#include "tui/screens.h"
#include "tui/settings.h"
#include "tui/terminal.h"

enum { KEYS_AT_ONCE = 64, WAIT_MAX_MS = 60000, OUTPUT_RETRY_MS = 50, PLACES_MS = 50 };

struct loop {
	struct tdm_app app;
	struct tdm_terminal *terminal;
	uint64_t due_ns;    /* the next picture */
	uint64_t events_ns; /* when to read events next, while they are shown */
	bool unsent;        /* the last frame has not been sent */
};

/* Takes a new picture with what the current screen needs. */
static void look(struct loop *loop, uint64_t now_ns, bool by_user)
{
	struct tdm_app *app = &loop->app;
	const struct tdm_screen *screen = tdm_screens[app->screen];
	app->look_now = false;
	app->wish = (struct tdm_wish){ 0 };
	if (screen->wish != NULL)
		screen->wish(app, &app->wish, by_user);
	if (tdm_event_log_wants(&app->events)) {
		app->wish.parts |= TDM_WISH_EVENTS;
		app->wish.events_of = 0;
	}
	app->wish.latest_events = TDM_EVENT_LOG_LATEST;
	app->picture = app->provider->look(app->provider->state, &app->wish);
	tdm_app_refreshed(app);
	loop->events_ns = now_ns + TDM_EVENT_LOG_MS * TDM_NS_PER_MS;
	if (app->picture != NULL)
		tdm_event_log_add(&app->events, app->picture);
	/* Lists of other screens borrowed from the previous picture, which is gone. */
	if (app->picture == NULL || app->screen != TDM_SCREEN_PROCESS)
		tdm_buffer_view_done(&app->buffers);
	if (app->picture == NULL || app->screen != TDM_SCREEN_DEVICE)
		tdm_device_view_done(&app->device);
	if (app->picture != NULL && screen->refresh != NULL)
		screen->refresh(app, &app->wish);
}

static void refresh(struct loop *loop, uint64_t now_ns)
{
	struct tdm_app *app = &loop->app;
	uint64_t interval = app->options.interval_ms * TDM_NS_PER_MS;
	bool by_user = app->refresh_now;
	app->refreshes++;
	app->refresh_now = false;
	look(loop, now_ns, by_user);
	tdm_app_remember(app);
	loop->due_ns += interval;
	if (loop->due_ns <= now_ns || loop->due_ns > now_ns + interval)
		loop->due_ns = now_ns + interval;
}

static bool shows_events(const struct loop *loop)
{
	return tdm_screens[loop->app.screen] == &tdm_screen_events && !loop->app.frozen;
}

/* Reads events between two pictures too: a busy program's ring would overwrite most of them. */
static void read_events(struct loop *loop, uint64_t now_ns)
{
	if (!shows_events(loop) || now_ns < loop->events_ns)
		return;
	look(loop, now_ns, false);
}

static void fit_size(struct loop *loop)
{
	int rows, cols;
	tdm_terminal_size(loop->terminal, &rows, &cols);
	tdm_canvas_resize(&loop->app.canvas, rows, cols);
}

static void draw(struct loop *loop)
{
	tdm_terminal_colour(loop->terminal, !loop->app.options.no_colour);
	tdm_terminal_use_mouse(loop->terminal, !loop->app.options.no_mouse);
	if (loop->app.redraw_all)
		tdm_terminal_redraw(loop->terminal);
	loop->app.redraw_all = false;
	if (loop->app.canvas.cells == NULL)
		return;
	loop->app.places_until_ns = tdm_clock_ns() + PLACES_MS * TDM_NS_PER_MS;
	tdm_screens_draw(&loop->app);
	loop->unsent = !tdm_terminal_show(loop->terminal, &loop->app.canvas);
}

static int wait_ms(const struct loop *loop, uint64_t now_ns)
{
	const struct tdm_app *app = &loop->app;
	uint64_t until = app->look_now ? now_ns : now_ns + WAIT_MAX_MS * TDM_NS_PER_MS;
	if (!app->frozen && loop->due_ns < until)
		until = loop->due_ns;
	if (shows_events(loop) && loop->events_ns < until)
		until = loop->events_ns;
	if (app->message[0] != '\0' && app->message_until_ns > now_ns && app->message_until_ns < until)
		until = app->message_until_ns;
	if (loop->unsent && now_ns + OUTPUT_RETRY_MS * TDM_NS_PER_MS < until)
		until = now_ns + OUTPUT_RETRY_MS * TDM_NS_PER_MS;
	return until <= now_ns ? 0 : (int)((until - now_ns + TDM_NS_PER_MS - 1) / TDM_NS_PER_MS);
}

static void handle_news(struct loop *loop)
{
	struct tdm_guard_news news = tdm_guard_take();
	if (news.end != 0)
		loop->app.quit = true;
	if (news.stop) {
		tdm_terminal_suspend(loop->terminal);
		tdm_guard_stop_self();
		news = tdm_guard_take();
		news.continued = true;
	}
	if (news.continued)
		tdm_terminal_resume(loop->terminal);
	else if (news.resized)
		tdm_terminal_resized(loop->terminal);
	if (news.continued || news.resized)
		fit_size(loop);
}

static void handle_keys(struct loop *loop)
{
	for (int i = 0; i < KEYS_AT_ONCE && !loop->app.quit; i++) {
		int key = tdm_terminal_key(loop->terminal);
		if (key == TDM_KEY_NONE)
			return;
		if (key == TDM_KEY_GONE)
			loop->app.quit = true;
		else if (key == TDM_KEY_MOUSE)
			tdm_mouse_use(&loop->app, tdm_terminal_mouse(loop->terminal), tdm_clock_ns());
		else if (key != TDM_KEY_OTHER)
			tdm_keys_press(&loop->app, key);
		if (loop->app.look_now) /* the next key is meant for what this one opened */
			look(loop, tdm_clock_ns(), true);
	}
}

static void run(struct loop *loop)
{
	struct tdm_app *app = &loop->app;
	while (!app->quit) {
		uint64_t now_ns = tdm_clock_ns();
		if (app->refresh_now || (!app->frozen && now_ns >= loop->due_ns)) {
			refresh(loop, now_ns);
			draw(loop);
			if (app->options.frames != 0 && app->refreshes >= app->options.frames)
				return;
		} else {
			if (app->look_now)
				look(loop, now_ns, true);
			else
				read_events(loop, now_ns);
			draw(loop);
		}
		if (!tdm_terminal_wait(loop->terminal, tdm_guard_fd(), wait_ms(loop, tdm_clock_ns())))
			return;
		handle_news(loop);
		handle_keys(loop);
	}
}

/* Takes the file's settings where no option says otherwise. */
static void apply(struct tdm_app *app, const struct tdm_settings *settings)
{
	struct tdm_tui_options *options = &app->options;
	options->interval_ms = options->interval_ms != 0 ? options->interval_ms : settings->interval_ms;
	if (options->interval_ms < TDM_INTERVAL_MIN_MS)
		options->interval_ms = TDM_INTERVAL_MIN_MS;
	options->no_colour |= !settings->colour;
	options->ascii |= settings->ascii;
	options->no_mouse |= !settings->mouse;
	app->sort = (enum tdm_proc_column)settings->sort;
	app->reversed = settings->reversed;
	app->tree = settings->tree;
	app->vi_keys = settings->vi_keys;
	memcpy(app->hidden, settings->hidden, sizeof app->hidden);
}

static void settings_now(const struct tdm_app *app, struct tdm_settings *settings)
{
	*settings = (struct tdm_settings){ .interval_ms = app->options.interval_ms,
		.sort = (uint32_t)app->sort,
		.reversed = app->reversed,
		.tree = app->tree,
		.colour = !app->options.no_colour,
		.ascii = app->options.ascii,
		.mouse = !app->options.no_mouse,
		.vi_keys = app->vi_keys };
	memcpy(settings->hidden, app->hidden, sizeof settings->hidden);
}

/* Reads the settings. A bad file is left alone. */
static void begin_settings(struct tdm_app *app, struct tdm_settings *begun, struct tdm_diag *diag)
{
	struct tdm_settings settings;
	char text[TDM_APP_MESSAGE_CAP];
	tdm_settings_default(&settings);
	if (app->options.settings != NULL && tdm_settings_read(&settings, app->options.settings, diag) != 0)
		app->options.settings = NULL;
	if (diag->text[0] != '\0')
		tdm_app_say(app, "%s", tdm_diag_format(diag, text, sizeof text));
	apply(app, &settings);
	settings_now(app, begun);
}

static void keep_settings(const struct tdm_app *app, const struct tdm_settings *begun, struct tdm_diag *diag)
{
	struct tdm_settings now;
	settings_now(app, &now);
	if (app->options.settings != NULL)
		tdm_settings_keep(begun, &now, app->options.settings, diag);
}

int tdm_tui_run(const struct tdm_provider *provider, const struct tdm_tui_options *options, struct tdm_diag *diag)
{
	struct loop *loop = calloc(1, sizeof *loop);
	if (loop == NULL)
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
	loop->app.provider = provider;
	loop->app.options = *options;
	loop->app.most_detail = TDM_DETAIL_FULL;
	struct tdm_settings begun;
	begin_settings(&loop->app, &begun, diag);
	int err = tdm_guard_begin();
	if (err != 0) {
		free(loop);
		return tdm_diag_set(diag, err, 0, 0, "signals cannot be watched");
	}
	const struct tdm_tui_options *set = &loop->app.options;
	const struct tdm_terminal_options how = { .no_colour = set->no_colour, .mouse = !set->no_mouse };
	err = tdm_terminal_open(&loop->terminal, &how, diag);
	if (err == 0) {
		loop->app.can_utf8 = tdm_terminal_is_utf8(loop->terminal);
		fit_size(loop);
		run(loop);
		tdm_terminal_close(loop->terminal);
		keep_settings(&loop->app, &begun, diag);
	}
	tdm_guard_end();
	tdm_app_done(&loop->app);
	free(loop);
	return err;
}
