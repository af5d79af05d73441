#include "tui/actions.h"

#include <stdio.h>
#include <string.h>

#include "event/event.h"
#include "tui/match.h"
#include "tui/screens.h"
#include "tui/send_signal.h"
#include "tui/terminal.h"

void tdm_act_help(struct tdm_app *app, int key)
{
	(void)key;
	tdm_popup_open(app, TDM_POPUP_HELP);
}

void tdm_act_setup(struct tdm_app *app, int key)
{
	(void)key;
	tdm_popup_open(app, TDM_POPUP_SETUP);
}

void tdm_act_problems(struct tdm_app *app, int key)
{
	(void)key;
	tdm_popup_open(app, TDM_POPUP_PROBLEMS);
}

void tdm_act_findings(struct tdm_app *app, int key)
{
	(void)key;
	app->findings.is_made = false; /* of another screen, perhaps */
	tdm_popup_open(app, TDM_POPUP_FINDINGS);
}

void tdm_act_quit(struct tdm_app *app, int key)
{
	(void)key;
	app->quit = true;
}

/* Esc goes back one step: clears the filter, or leaves the screen. It never quits: somebody who presses it once
 * too often, or presses Alt with a key, which looks like Esc and the key, would lose the history. */
void tdm_act_back(struct tdm_app *app, int key)
{
	(void)key;
	const struct tdm_screen *screen = tdm_screens[app->screen];
	char *filter = screen->filter != NULL ? screen->filter(app) : NULL;
	if (filter != NULL && filter[0] != '\0') {
		filter[0] = '\0';
		screen->filtered(app);
	} else if (app->screen == TDM_SCREEN_OVERVIEW && app->only_device != 0) {
		app->only_device = 0;
		tdm_app_update_rows(app);
	} else if (app->screen != TDM_SCREEN_OVERVIEW)
		tdm_screens_open(app, TDM_SCREEN_OVERVIEW);
	else
		tdm_app_say(app, "q quits");
}

void tdm_act_screen(struct tdm_app *app, int key)
{
	if (key == '3')
		app->process_handle = 0; /* show the chosen process */
	tdm_screens_open(app, (enum tdm_screen_id)(key - '1'));
}

void tdm_act_focus(struct tdm_app *app, int key)
{
	(void)key;
	if (app->shown_count > 0)
		app->devices_have_keys = !app->devices_have_keys;
}

void tdm_act_refresh(struct tdm_app *app, int key)
{
	(void)key;
	app->refresh_now = true;
}

void tdm_act_freeze(struct tdm_app *app, int key)
{
	(void)key;
	app->frozen = !app->frozen;
	app->events.paused = app->frozen;
	tdm_app_say(app, app->frozen ? "frozen: z resumes, r refreshes once" : "resumed");
}

void tdm_act_redraw(struct tdm_app *app, int key)
{
	(void)key;
	app->redraw_all = true;
}

/* On the overview, the device of the chosen line if the processes have the keys and it has one. */
void tdm_act_of_device(struct tdm_app *app, int key)
{
	(void)key;
	const struct tdm_picture_device *device = tdm_app_chosen_device(app, NULL);
	const struct tdm_proc_row *row = tdm_app_chosen_row(app);
	bool is_overview = app->screen == TDM_SCREEN_OVERVIEW;
	if (is_overview && !app->devices_have_keys && row != NULL && row->device != UINT32_MAX)
		device = &app->picture->devices[row->device];
	app->only_device = (is_overview && app->only_device != 0) || device == NULL ? 0 : device->key;
	app->devices_have_keys = app->devices_have_keys && app->only_device == 0;
	tdm_app_update_rows(app);
	if (!is_overview)
		tdm_screens_open(app, TDM_SCREEN_OVERVIEW);
}

void tdm_act_compact(struct tdm_app *app, int key)
{
	(void)key;
	if (app->detail == TDM_DETAIL_LINE && app->most_detail > TDM_DETAIL_LINE)
		tdm_app_say(app, "there is no room for more of each device");
	/* from what is shown: if there is no room for more, less of what is wanted looks the same */
	app->most_detail = app->detail == TDM_DETAIL_LINE ? TDM_DETAIL_FULL : (enum tdm_detail)(app->detail - 1);
	app->detail = app->most_detail; /* until the next frame: the key may come again before it */
}

void tdm_act_open(struct tdm_app *app, int key)
{
	(void)key;
	const struct tdm_proc_row *row = tdm_app_chosen_row(app);
	if (app->devices_have_keys)
		tdm_screens_open(app, TDM_SCREEN_DEVICE);
	else if (row != NULL && row->handle != 0) {
		app->process_handle = row->handle;
		tdm_screens_open(app, TDM_SCREEN_PROCESS);
	} else if (row != NULL && row->device != UINT32_MAX) {
		app->device_key = app->picture->devices[row->device].key;
		tdm_app_update_devices(app);
		tdm_screens_open(app, TDM_SCREEN_DEVICE);
	}
}

void tdm_act_tree(struct tdm_app *app, int key)
{
	(void)key;
	app->tree = !app->tree;
	tdm_app_update_rows(app);
}

void tdm_act_tag(struct tdm_app *app, int key)
{
	(void)key;
	const struct tdm_proc_row *row = tdm_app_chosen_row(app);
	if (row == NULL || app->devices_have_keys)
		return;
	if (row->handle != 0)
		tdm_app_toggle_tag(app, row->handle);
	tdm_list_key(&app->processes, TDM_KEY_DOWN);
	app->row_is_held = true;
}

void tdm_act_untag(struct tdm_app *app, int key)
{
	(void)key;
	app->tag_count = 0;
}

void tdm_act_signal(struct tdm_app *app, int key)
{
	(void)key;
	if (app->options.read_only) {
		tdm_app_say(app, app->picture != NULL && app->picture->hosts != NULL
					 ? "signals are off: the processes are on other machines"
					 : "signals are off: the monitor was started read-only");
		return;
	}
	if (tdm_signal_aim(app))
		tdm_popup_open(app, TDM_POPUP_SIGNAL);
}

void tdm_act_sort_box(struct tdm_app *app, int key)
{
	(void)key;
	tdm_popup_open(app, TDM_POPUP_SORT);
	app->popup_list.chosen = (size_t)app->sort;
}

static void sort_by(struct tdm_app *app, enum tdm_proc_column column)
{
	app->sort = column;
	app->reversed = false;
	tdm_app_update_rows(app);
}

void tdm_act_sort_step(struct tdm_app *app, int key)
{
	int step = key == '.' || key == '>' ? 1 : TDM_PROC_COLUMN_COUNT - 1;
	sort_by(app, (enum tdm_proc_column)(((int)app->sort + step) % TDM_PROC_COLUMN_COUNT));
}

void tdm_act_sort_letter(struct tdm_app *app, int key)
{
	for (int c = 0; c < TDM_PROC_COLUMN_COUNT; c++)
		if (tdm_proc_columns[c].letter == key)
			sort_by(app, (enum tdm_proc_column)c);
}

void tdm_act_sort_column(struct tdm_app *app, enum tdm_proc_column column)
{
	if (app->sort == column)
		tdm_act_reverse(app, 0);
	else
		sort_by(app, column);
}

void tdm_act_reverse(struct tdm_app *app, int key)
{
	(void)key;
	if (app->screen == TDM_SCREEN_PROCESS) {
		app->buffers.reversed = !app->buffers.reversed;
		app->buffers.list.chosen = app->buffers.list.top = 0;
		return;
	}
	app->reversed = !app->reversed;
	tdm_app_update_rows(app);
}

static size_t chosen_line(const struct tdm_app *app)
{
	return app->screen == TDM_SCREEN_PROCESS ? app->buffers.list.chosen : app->processes.chosen;
}

static void choose_line(struct tdm_app *app, size_t line)
{
	struct tdm_list *list = app->screen == TDM_SCREEN_PROCESS ? &app->buffers.list : &app->processes;
	list->chosen = line;
}

static void begin_typing(struct tdm_app *app, bool is_filter, const char *before)
{
	app->typing = (struct tdm_typing){ .on = true, .is_filter = is_filter, .from = chosen_line(app) };
	snprintf(app->typing.before, sizeof app->typing.before, "%s", before);
}

void tdm_act_search(struct tdm_app *app, int key)
{
	(void)key;
	if (tdm_screens[app->screen]->search == NULL)
		return;
	app->devices_have_keys = false;
	begin_typing(app, false, app->search);
	app->search[0] = '\0';
}

void tdm_act_search_next(struct tdm_app *app, int key)
{
	const struct tdm_screen *screen = tdm_screens[app->screen];
	size_t from = chosen_line(app);
	if (screen->search == NULL || app->search[0] == '\0')
		return;
	if (key == 'N' && from == 0)
		from = app->screen == TDM_SCREEN_PROCESS ? tdm_buffer_view_count(&app->buffers) : app->rows.count;
	if (!screen->search(app, key == 'N' ? from - 1 : from + 1, key != 'N'))
		tdm_app_say(app, "no line contains \"%s\"", app->search);
}

void tdm_act_filter(struct tdm_app *app, int key)
{
	(void)key;
	const struct tdm_screen *screen = tdm_screens[app->screen];
	if (screen->filter != NULL)
		begin_typing(app, true, screen->filter(app));
}

/* Removes the last UTF-8 character. */
static void shorten(char *text)
{
	size_t len = strlen(text);
	while (len > 0 && ((unsigned char)text[len - 1] & 0xc0) == 0x80)
		len--;
	text[len > 0 ? len - 1 : 0] = '\0';
}

static void lengthen(char *text, size_t cap, int ch)
{
	size_t len = strlen(text);
	unsigned c = (unsigned)ch;
	char bytes[5] = "";
	if (c < 0x80)
		bytes[0] = (char)c;
	else if (c < 0x800)
		memcpy(bytes, (char[]){ (char)(0xc0 | c >> 6), (char)(0x80 | (c & 0x3f)) }, 2);
	else if (c < 0x10000)
		memcpy(bytes,
			(char[]){ (char)(0xe0 | c >> 12), (char)(0x80 | (c >> 6 & 0x3f)), (char)(0x80 | (c & 0x3f)) },
			3);
	else
		memcpy(bytes,
			(char[]){ (char)(0xf0 | c >> 18), (char)(0x80 | (c >> 12 & 0x3f)),
				(char)(0x80 | (c >> 6 & 0x3f)), (char)(0x80 | (c & 0x3f)) },
			4);
	if (len + strlen(bytes) < cap)
		memcpy(text + len, bytes, strlen(bytes) + 1);
}

static void typed(struct tdm_app *app, const struct tdm_screen *screen)
{
	if (app->typing.is_filter)
		screen->filtered(app);
	else if (app->search[0] == '\0')
		choose_line(app, app->typing.from);
	else if (!screen->search(app, app->typing.from, true))
		tdm_app_say(app, "no line contains \"%s\"", app->search);
}

void tdm_act_type(struct tdm_app *app, int key)
{
	const struct tdm_screen *screen = tdm_screens[app->screen];
	char *text = app->typing.is_filter ? screen->filter(app) : app->search;
	if (key == TDM_KEY_ENTER) {
		app->typing.on = false;
		return;
	}
	if (key == TDM_KEY_ESCAPE) {
		snprintf(text, TDM_APP_TEXT_CAP, "%s", app->typing.is_filter ? app->typing.before : "");
		app->typing.on = false;
	} else if (key == TDM_KEY_BACKSPACE)
		shorten(text);
	else if (key == 'U' - '@')
		text[0] = '\0';
	else if (key >= ' ' && key < TDM_KEY_FIRST && key != 127)
		lengthen(text, TDM_APP_TEXT_CAP, key);
	else
		return;
	typed(app, screen);
}

void tdm_act_device_step(struct tdm_app *app, int key)
{
	bool back = key == TDM_KEY_LEFT || key == '[';
	tdm_list_key(&app->devices, back ? TDM_KEY_UP : TDM_KEY_DOWN);
	tdm_app_device_chosen(app);
	tdm_screens_open(app, app->screen);
}

void tdm_act_buffer_sort(struct tdm_app *app, int key)
{
	(void)key;
	static const char *const names[TDM_SORT_COUNT] = { "size, the largest first", "age, the oldest first", "site",
		"address" };
	app->buffers.sort = (enum tdm_buffer_sort)((app->buffers.sort + 1) % TDM_SORT_COUNT);
	app->buffers.by_site = false;
	app->buffers.reversed = false;
	tdm_buffer_view_changed(&app->buffers);
	tdm_app_say(app, "sorted by %s", names[app->buffers.sort]);
}

void tdm_act_buffer_group(struct tdm_app *app, int key)
{
	(void)key;
	app->buffers.by_site = !app->buffers.by_site;
	tdm_buffer_view_changed(&app->buffers);
}

void tdm_act_event_op(struct tdm_app *app, int key)
{
	(void)key;
	static const int ops[] = { -1, TDM_OP_ALLOC, TDM_OP_FREE, TDM_OP_OOM, TDM_OP_PHASE, TDM_OP_PROGRAM,
		TDM_OP_STEP };
	enum { OPS = sizeof ops / sizeof ops[0] };
	size_t at = 0;
	while (at < OPS - 1 && ops[at] != app->events.op)
		at++;
	app->events.op = ops[(at + 1) % OPS];
	tdm_event_log_changed(&app->events);
}

void tdm_act_event_kind(struct tdm_app *app, int key)
{
	(void)key;
	app->events.kind = app->events.kind + 1 < TDM_KIND_COUNT ? app->events.kind + 1 : -1;
	tdm_event_log_changed(&app->events);
}

void tdm_act_event_process(struct tdm_app *app, int key)
{
	(void)key;
	const struct tdm_proc_row *row = tdm_app_chosen_row(app);
	uint64_t handle = row != NULL ? row->handle : 0;
	app->events.handle = app->events.handle == 0 ? handle : 0;
	tdm_event_log_changed(&app->events);
}
