/*
 * Input from the user: the actions, the table of keys that call them, and the mouse, which presses keys and selects
 * rows.
 */
#include "tui/app/app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "model/event/event.h"
#include "tui/draw/terminal.h"

/* ---- actions ---- */

/* Esc goes back one step: it clears the filter, or leaves the screen. It never quits: otherwise, a user who pressed Esc
 * once too often, or Alt with a key (which arrives as Esc and the key), would lose the history. */
static void act_back(struct tdm_app *app)
{
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

static void act_screen(struct tdm_app *app)
{
	if (app->key == '3')
		app->process_handle = 0; /* show the selected process */
	tdm_screens_open(app, (enum tdm_screen_id)(app->key - '1'));
}

static void act_focus(struct tdm_app *app)
{
	if (app->shown_count > 0)
		app->devices_have_keys = !app->devices_have_keys;
}

static void act_freeze(struct tdm_app *app)
{
	app->frozen = !app->frozen;
	app->events.paused = app->frozen;
	tdm_app_say(app, app->frozen ? "frozen: z resumes, r refreshes once" : "resumed");
}

/* On the overview, if keys go to the process table, selects the device of the selected row, if any. */
static void act_of_device(struct tdm_app *app)
{
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

static void act_compact(struct tdm_app *app)
{
	if (app->detail == TDM_DETAIL_LINE && app->most_detail > TDM_DETAIL_LINE)
		tdm_app_say(app, "there is no room for more of each device");
	/* start from the displayed detail, because the wanted detail may not fit */
	app->most_detail = app->detail == TDM_DETAIL_LINE ? TDM_DETAIL_FULL : (enum tdm_detail)(app->detail - 1);
	app->detail = app->most_detail; /* the key may be pressed again before the next frame */
}

static void act_open(struct tdm_app *app)
{
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

static void act_tree(struct tdm_app *app)
{
	app->set.tree = !app->set.tree;
	tdm_app_update_rows(app);
}

static void act_tag(struct tdm_app *app)
{
	const struct tdm_proc_row *row = tdm_app_chosen_row(app);
	if (row == NULL || app->devices_have_keys)
		return;
	if (row->handle != 0)
		tdm_app_toggle_tag(app, row->handle);
	tdm_list_key(&app->processes, TDM_KEY_DOWN);
	app->row_is_held = true;
}

static void act_untag(struct tdm_app *app)
{
	app->tag_count = 0;
}

static void sort_by(struct tdm_app *app, uint32_t column)
{
	app->set.sort = column;
	app->set.reversed = false;
	tdm_app_update_rows(app);
}

static void act_sort_step(struct tdm_app *app)
{
	uint32_t step = app->key == '.' || app->key == '>' ? 1 : TDM_PROC_COLUMN_COUNT - 1;
	sort_by(app, (app->set.sort + step) % TDM_PROC_COLUMN_COUNT);
}

static void act_sort_letter(struct tdm_app *app)
{
	for (uint32_t c = 0; c < TDM_PROC_COLUMN_COUNT; c++)
		if (tdm_proc_letter((enum tdm_proc_column)c) == app->key)
			sort_by(app, c);
}

static void act_reverse(struct tdm_app *app)
{
	if (app->screen == TDM_SCREEN_PROCESS) {
		app->buffers.reversed = !app->buffers.reversed;
		app->buffer_list.chosen = app->buffer_list.top = 0;
		return;
	}
	app->set.reversed = !app->set.reversed;
	tdm_app_update_rows(app);
}

static struct tdm_list *list_of(struct tdm_app *app)
{
	return app->screen == TDM_SCREEN_PROCESS ? &app->buffer_list : &app->processes;
}

static void begin_typing(struct tdm_app *app, bool is_filter, const char *before)
{
	app->is_typing = true;
	app->types_filter = is_filter;
	app->typed_from = list_of(app)->chosen;
	snprintf(app->typed_before, sizeof app->typed_before, "%s", before);
}

static void act_search(struct tdm_app *app)
{
	app->devices_have_keys = false;
	begin_typing(app, false, app->search);
	app->search[0] = '\0';
}

static void act_search_next(struct tdm_app *app)
{
	size_t from = list_of(app)->chosen;
	if (app->search[0] == '\0')
		return;
	if (app->key == 'N' && from == 0)
		from = app->screen == TDM_SCREEN_PROCESS ? tdm_buffer_view_count(&app->buffers) : app->rows.count;
	if (!tdm_screens[app->screen]->search(app, app->key == 'N' ? from - 1 : from + 1, app->key != 'N'))
		tdm_app_say(app, "no line contains \"%s\"", app->search);
}

static void act_filter(struct tdm_app *app)
{
	begin_typing(app, true, tdm_screens[app->screen]->filter(app));
}

/* Appends a character as UTF-8 if there is room. */
static void lengthen(char *text, size_t cap, unsigned ch)
{
	static const unsigned char marks[] = { 0, 0xc0, 0xe0, 0xf0 };
	size_t len = strlen(text), more = ch < 0x80 ? 0 : ch < 0x800 ? 1 : ch < 0x10000 ? 2 : 3;
	if (len + more + 1 >= cap)
		return;
	text[len] = (char)(marks[more] | ch >> 6 * more);
	for (size_t i = 1; i <= more; i++)
		text[len + i] = (char)(0x80 | (ch >> 6 * (more - i) & 0x3f));
	text[len + more + 1] = '\0';
}

static void type_key(struct tdm_app *app, int key)
{
	const struct tdm_screen *screen = tdm_screens[app->screen];
	char *text = app->types_filter ? screen->filter(app) : app->search;
	size_t len = strlen(text);
	if (key == TDM_KEY_ENTER) {
		app->is_typing = false;
		return;
	}
	if (key == TDM_KEY_ESCAPE) {
		snprintf(text, TDM_APP_TEXT_CAP, "%s", app->types_filter ? app->typed_before : "");
		app->is_typing = false;
	} else if (key == TDM_KEY_BACKSPACE) { /* one UTF-8 character is removed */
		while (len > 0 && ((unsigned char)text[len - 1] & 0xc0) == 0x80)
			len--;
		text[len > 0 ? len - 1 : 0] = '\0';
	} else if (key == 'U' - '@')
		text[0] = '\0';
	else if (key >= ' ' && key < TDM_KEY_FIRST && key != 127)
		lengthen(text, TDM_APP_TEXT_CAP, (unsigned)key);
	else
		return;
	if (app->types_filter)
		screen->filtered(app);
	else if (app->search[0] == '\0')
		list_of(app)->chosen = app->typed_from;
	else if (!screen->search(app, app->typed_from, true))
		tdm_app_say(app, "no line contains \"%s\"", app->search);
}

static void act_device_step(struct tdm_app *app)
{
	bool back = app->key == TDM_KEY_LEFT || app->key == '[';
	tdm_list_key(&app->devices, back ? TDM_KEY_UP : TDM_KEY_DOWN);
	tdm_app_device_chosen(app);
	tdm_screens_open(app, app->screen);
}

static void act_buffer_sort(struct tdm_app *app)
{
	static const char *const names[TDM_SORT_COUNT] = { "size, the largest first", "age, the oldest first", "site",
		"address" };
	app->buffers.sort = (enum tdm_buffer_sort)((app->buffers.sort + 1) % TDM_SORT_COUNT);
	app->buffers.by_site = false;
	app->buffers.reversed = false;
	tdm_app_buffers_changed(app);
	tdm_app_say(app, "sorted by %s", names[app->buffers.sort]);
}

static void act_buffer_group(struct tdm_app *app)
{
	app->buffers.by_site = !app->buffers.by_site;
	tdm_app_buffers_changed(app);
}

static void act_event_op(struct tdm_app *app)
{
	static const int ops[] = { -1, TDM_OP_ALLOC, TDM_OP_FREE, TDM_OP_OOM, TDM_OP_PHASE, TDM_OP_PROGRAM,
		TDM_OP_STEP };
	enum { OPS = sizeof ops / sizeof ops[0] };
	size_t at = 0;
	while (at < OPS - 1 && ops[at] != app->events.op)
		at++;
	app->events.op = ops[(at + 1) % OPS];
	tdm_event_log_changed(&app->events);
}

static void act_event_kind(struct tdm_app *app)
{
	app->events.kind = app->events.kind + 1 < TDM_KIND_COUNT ? app->events.kind + 1 : -1;
	tdm_event_log_changed(&app->events);
}

static void act_event_process(struct tdm_app *app)
{
	const struct tdm_proc_row *row = tdm_app_chosen_row(app);
	uint64_t handle = row != NULL ? row->handle : 0;
	app->events.handle = app->events.handle == 0 ? handle : 0;
	tdm_event_log_changed(&app->events);
}

/* ---- keys ---- */

enum {
	ON_OVERVIEW = 1 << TDM_SCREEN_OVERVIEW,
	ON_DEVICE = 1 << TDM_SCREEN_DEVICE,
	ON_PROCESS = 1 << TDM_SCREEN_PROCESS,
	ON_EVENTS = 1 << TDM_SCREEN_EVENTS,
	ON_ALL = ON_OVERVIEW | ON_DEVICE | ON_PROCESS | ON_EVENTS,
	F = TDM_KEY_F0,
};

void tdm_keys_press(struct tdm_app *app, int key)
{
	static const int vi[] = { TDM_KEY_LEFT, TDM_KEY_DOWN, TDM_KEY_UP, TDM_KEY_RIGHT };
	if (app->is_typing) {
		type_key(app, key);
		return;
	}
	if (app->set.vi_keys && key >= 'h' && key <= 'l' && key != 'i')
		key = vi[key == 'h' ? 0 : key - 'i'];
	if (app->popup != TDM_POPUP_NONE) {
		tdm_popup_key(app, key);
		return;
	}
	app->key = key;
	for (const struct tdm_binding *binding = tdm_bindings; binding < tdm_bindings + tdm_binding_count; binding++)
		for (size_t i = 0; i < TDM_BINDING_KEYS && binding->keys[i] != 0; i++)
			if (binding->keys[i] == key && (binding->screens & 1U << app->screen) != 0) {
				if (binding->popup != TDM_POPUP_NONE)
					tdm_popup_open(app, binding->popup);
				else if (binding->flag != 0)
					*(bool *)((char *)app + binding->flag) = true;
				else
					(binding->act != NULL ? binding->act : tdm_screens[app->screen]->key)(app);
				return;
			}
	tdm_screens[app->screen]->key(app);
}

#define SETS(member) .flag = offsetof(struct tdm_app, member)

/* In the order of the help and of the last line. A key's special meaning on some screens comes before its meaning on
 * all. */
const struct tdm_binding tdm_bindings[] = {
	{ { F + 1, 'h', '?' }, "F1 h ?", "Help", "all keys", ON_ALL, .popup = TDM_POPUP_HELP },
	{ { F + 2 }, "F2", "Setup", "interval, colours, characters, columns", ON_ALL, .popup = TDM_POPUP_SETUP },
	{ { '1', '2', '3', '4' }, "1 2 3 4", NULL, "overview, device, process, events", ON_ALL, .act = act_screen },
	{ { TDM_KEY_TAB, TDM_KEY_BACK_TAB }, "Tab", "Focus", "switch between devices and processes", ON_OVERVIEW,
		.act = act_focus },
	{ { TDM_KEY_UP, TDM_KEY_DOWN }, "Up Down", NULL, "move; j and k too where k sends no signal", ON_ALL,
		.act = NULL },
	{ { TDM_KEY_PAGE_UP, TDM_KEY_PAGE_DOWN, TDM_KEY_HOME, TDM_KEY_END }, "PgUp PgDn Home End", NULL,
		"move by a page, to the first line, to the last", ON_ALL, .act = NULL },
	{ { TDM_KEY_ENTER, TDM_KEY_RIGHT, 'l' }, "Enter", "Open", "show the chosen process or device", ON_OVERVIEW,
		.act = act_open },
	{ { TDM_KEY_LEFT, TDM_KEY_RIGHT, '[', ']', TDM_KEY_TAB }, "Left Right", "Device", "previous or next device",
		ON_DEVICE, .act = act_device_step },
	{ { '/', F + 3 }, "/ F3", "Search", "search while you type", ON_OVERVIEW | ON_PROCESS, .act = act_search },
	{ { 'n', 'N' }, "n N", NULL, "next match, previous match", ON_OVERVIEW | ON_PROCESS, .act = act_search_next },
	{ { F + 4, '\\' }, "F4 \\", "Filter", "show only lines with a text; Esc clears it",
		ON_OVERVIEW | ON_PROCESS | ON_EVENTS, .act = act_filter },
	{ { 'f' }, "f", "Only", "only processes of the chosen device; again: of all", ON_OVERVIEW | ON_DEVICE,
		.act = act_of_device },
	{ { 't', F + 5 }, "t F5", "Tree", "list processes below their devices", ON_OVERVIEW, .act = act_tree },
	{ { F + 6 }, "F6", "Sort", "choose the column to sort by", ON_OVERVIEW, .popup = TDM_POPUP_SORT },
	{ { ',', '.', '<', '>' }, ", .", NULL, "sort by the previous or next column", ON_OVERVIEW,
		.act = act_sort_step },
	{ { 'P', 'M', 'T', 'R', 'L', 'B' }, "P M T R L B", NULL, "sort by pid, memory, age, DRAM, L1, CB", ON_OVERVIEW,
		.act = act_sort_letter },
	{ { 'U', 'D', 'K', 'S', 'H', 'C' }, "U D K S H C", NULL, "sort by user, device, peak, source, phase, command",
		ON_OVERVIEW, .act = act_sort_letter },
	{ { 'A', 'X', 'E', 'G' }, "A X E G", NULL, "sort by state, CPU, host memory, growth", ON_OVERVIEW,
		.act = act_sort_letter },
	{ { 's', F + 6 }, "s F6", "Sort", "sort by size, age, site or address", ON_PROCESS, .act = act_buffer_sort },
	{ { 'g' }, "g", "Group", "group buffers by the site that allocated them", ON_PROCESS, .act = act_buffer_group },
	{ { '+', '-', 'I' }, "+ - I", NULL, "reverse the order", ON_OVERVIEW | ON_PROCESS, .act = act_reverse },
	{ { 'o' }, "o", "Op", "show only one kind of event", ON_EVENTS, .act = act_event_op },
	{ { 'm' }, "m", "Memory", "show only one kind of memory", ON_EVENTS, .act = act_event_kind },
	{ { 'f' }, "f", "Process", "show only the process chosen on the overview", ON_EVENTS,
		.act = act_event_process },
	{ { F + 9, 'k' }, "F9 k", "Signal", "signal the chosen or tagged processes; asks first",
		ON_OVERVIEW | ON_PROCESS, .popup = TDM_POPUP_SIGNAL },
	{ { ' ' }, "Space", NULL, "tag a process", ON_OVERVIEW, .act = act_tag },
	{ { 'u' }, "u", NULL, "untag all", ON_OVERVIEW, .act = act_untag },
	{ { 'c' }, "c", "Compact", "show less of each device, then all again", ON_OVERVIEW, .act = act_compact },
	{ { 'r' }, "r", NULL, "refresh now", ON_ALL, SETS(refresh_now) },
	{ { 'z', 'p', ' ' }, "z p", "Freeze", "pause and resume", ON_ALL, .act = act_freeze },
	{ { '!' }, "!", NULL, "what could not be read, and why", ON_ALL, .popup = TDM_POPUP_PROBLEMS },
	{ { 'w' }, "w", NULL, "findings, such as what traces may have overwritten", ON_ALL,
		.popup = TDM_POPUP_FINDINGS },
	{ { TDM_KEY_CTRL_L }, "Ctrl-L", NULL, "redraw the screen", ON_ALL, SETS(redraw_all) },
	{ { TDM_KEY_ESCAPE }, "Esc", NULL, "back one step: box, filter, screen; never quits", ON_ALL, .act = act_back },
	{ { 'q', F + 10 }, "q F10", "Quit", "quit", ON_ALL, SETS(quit) },
};

const size_t tdm_binding_count = sizeof tdm_bindings / sizeof tdm_bindings[0];

/* ---- mouse ---- */

enum { WHEEL_LINES = 3, DOUBLE_MS = 500 };

/* The zone below the pointer. For a list, its value is the line. */
static struct tdm_zone zone_at(const struct tdm_app *app, int row, int col)
{
	for (size_t i = app->zone_count; i-- > 0;) {
		struct tdm_zone zone = app->zones[i];
		const struct tdm_area *area = &zone.area;
		if (row < area->row || row >= area->row + area->rows || col < area->col ||
			col >= area->col + area->cols)
			continue;
		if (zone.type >= TDM_ZONE_PROCESSES && zone.type <= TDM_ZONE_BOX)
			zone.value += (size_t)(row - area->row);
		return zone;
	}
	return (struct tdm_zone){ .type = TDM_ZONE_NONE };
}

/* Selects the line. False if there is no such line. */
static bool choose(struct tdm_list *list, size_t line)
{
	if (line >= list->count)
		return false;
	list->chosen = line;
	return true;
}

static void press(struct tdm_app *app, const struct tdm_zone *zone, bool is_double)
{
	struct tdm_buffer_view *view = &app->buffers;
	switch (zone->type) {
	case TDM_ZONE_KEY:
		tdm_keys_press(app, (int)zone->value);
		return;
	case TDM_ZONE_DEVICE:
		app->devices_have_keys = true;
		if (choose(&app->devices, zone->value))
			tdm_app_device_chosen(app);
		break;
	case TDM_ZONE_PROCESSES:
		app->devices_have_keys = false;
		if (!choose(&app->processes, zone->value))
			return;
		app->row_is_held = true;
		break;
	case TDM_ZONE_BUFFERS:
		choose(&app->buffer_list, zone->value);
		return;
	case TDM_ZONE_COLUMN:
		if (app->set.sort == zone->value)
			act_reverse(app);
		else
			sort_by(app, (uint32_t)zone->value);
		return;
	case TDM_ZONE_BUFFER_SORT:
		view->reversed = view->sort == zone->value && !view->by_site && !view->reversed;
		view->sort = (enum tdm_buffer_sort)zone->value;
		view->by_site = false;
		tdm_app_buffers_changed(app);
		return;
	default:
		return;
	}
	if (is_double)
		act_open(app);
}

void tdm_mouse_use(struct tdm_app *app, struct tdm_mouse mouse, uint64_t now_ns)
{
	const struct tdm_zone zone = zone_at(app, mouse.row, mouse.col);
	if (app->is_typing)
		tdm_keys_press(app, TDM_KEY_ENTER);
	if (mouse.wheel != 0) { /* moves the list below the pointer, as the arrow keys do */
		if (app->popup == TDM_POPUP_NONE && (zone.type == TDM_ZONE_DEVICE || zone.type == TDM_ZONE_PROCESSES))
			app->devices_have_keys = zone.type == TDM_ZONE_DEVICE;
		for (int i = zone.type == TDM_ZONE_DEVICE ? 1 : WHEEL_LINES; i > 0; i--)
			tdm_keys_press(app, mouse.wheel < 0 ? TDM_KEY_UP : TDM_KEY_DOWN);
		return;
	}
	bool is_double = zone.type == app->pressed.type && zone.value == app->pressed.value &&
			 now_ns - app->pressed_ns < DOUBLE_MS * TDM_NS_PER_MS;
	app->pressed = is_double ? (struct tdm_zone){ 0 } : zone; /* a third click starts over */
	app->pressed_ns = now_ns;
	if (app->popup == TDM_POPUP_NONE)
		press(app, &zone, is_double);
	else if (zone.type == TDM_ZONE_NONE)
		tdm_keys_press(app, TDM_KEY_ESCAPE);
	else if (zone.type == TDM_ZONE_BOX && choose(&app->popup_list, zone.value) &&
		 /* a click in the signal box only selects */
		 (app->popup == TDM_POPUP_SORT || app->popup == TDM_POPUP_SETUP))
		tdm_keys_press(app, TDM_KEY_ENTER);
}
