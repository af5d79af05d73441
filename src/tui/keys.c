#include "tui/keys.h"

#include "tui/actions.h"
#include "tui/screens.h"
#include "tui/terminal.h"

enum {
	ON_OVERVIEW = 1 << TDM_SCREEN_OVERVIEW,
	ON_DEVICE = 1 << TDM_SCREEN_DEVICE,
	ON_PROCESS = 1 << TDM_SCREEN_PROCESS,
	ON_EVENTS = 1 << TDM_SCREEN_EVENTS,
	ON_ALL = ON_OVERVIEW | ON_DEVICE | ON_PROCESS | ON_EVENTS,
	F = TDM_KEY_F0,
};

static bool has_key(const struct tdm_binding *binding, int key)
{
	for (size_t i = 0; i < TDM_BINDING_KEYS && binding->keys[i] != 0; i++)
		if (binding->keys[i] == key)
			return true;
	return false;
}

static int as_vi(int key)
{
	switch (key) {
	case 'h':
		return TDM_KEY_LEFT;
	case 'j':
		return TDM_KEY_DOWN;
	case 'k':
		return TDM_KEY_UP;
	case 'l':
		return TDM_KEY_RIGHT;
	default:
		return key;
	}
}

static void press_binding(struct tdm_app *app, int key)
{
	for (size_t i = 0; i < tdm_binding_count; i++) {
		const struct tdm_binding *binding = &tdm_bindings[i];
		if ((binding->screens & 1U << app->screen) != 0 && has_key(binding, key)) {
			if (binding->act != NULL)
				binding->act(app, key);
			else
				tdm_screens[app->screen]->key(app, key);
			return;
		}
	}
	tdm_screens[app->screen]->key(app, key);
}

void tdm_keys_press(struct tdm_app *app, int key)
{
	if (app->typing.on) {
		tdm_act_type(app, key);
		return;
	}
	if (app->vi_keys)
		key = as_vi(key);
	if (app->popup != TDM_POPUP_NONE) {
		if (!tdm_popups[app->popup]->key(app, key))
			app->popup = TDM_POPUP_NONE;
		return;
	}
	if (app->picture != NULL || key == 'q' || key == F + 10)
		press_binding(app, key);
}

/* In the order of the help and of the last line. A key with a special meaning on some screens comes before its meaning
 * on all. */
const struct tdm_binding tdm_bindings[] = {
	{ { F + 1, 'h', '?' }, "F1 h ?", "Help", "all keys", ON_ALL, tdm_act_help },
	{ { F + 2 }, "F2", "Setup", "interval, colours, characters, columns", ON_ALL, tdm_act_setup },
	{ { '1', '2', '3', '4' }, "1 2 3 4", NULL, "overview, device, process, events", ON_ALL, tdm_act_screen },
	{ { TDM_KEY_TAB, TDM_KEY_BACK_TAB }, "Tab", "Focus", "switch between devices and processes", ON_OVERVIEW,
		tdm_act_focus },
	{ { TDM_KEY_UP, TDM_KEY_DOWN }, "Up Down", NULL, "move; j and k too where k sends no signal", ON_ALL, NULL },
	{ { TDM_KEY_PAGE_UP, TDM_KEY_PAGE_DOWN, TDM_KEY_HOME, TDM_KEY_END }, "PgUp PgDn Home End", NULL,
		"move by a page, to the first line, to the last", ON_ALL, NULL },
	{ { TDM_KEY_ENTER, TDM_KEY_RIGHT, 'l' }, "Enter", "Open", "show the chosen process or device", ON_OVERVIEW,
		tdm_act_open },
	{ { TDM_KEY_LEFT, TDM_KEY_RIGHT, '[', ']', TDM_KEY_TAB }, "Left Right", "Device", "previous or next device",
		ON_DEVICE, tdm_act_device_step },
	{ { '/', F + 3 }, "/ F3", "Search", "search while you type", ON_OVERVIEW | ON_PROCESS, tdm_act_search },
	{ { 'n', 'N' }, "n N", NULL, "next match, previous match", ON_OVERVIEW | ON_PROCESS, tdm_act_search_next },
	{ { F + 4, '\\' }, "F4 \\", "Filter", "show only lines with a text; Esc clears it",
		ON_OVERVIEW | ON_PROCESS | ON_EVENTS, tdm_act_filter },
	{ { 'f' }, "f", "Only", "only processes of the chosen device; again: of all", ON_OVERVIEW | ON_DEVICE,
		tdm_act_of_device },
	{ { 't', F + 5 }, "t F5", "Tree", "list processes below their devices", ON_OVERVIEW, tdm_act_tree },
	{ { F + 6 }, "F6", "Sort", "choose the column to sort by", ON_OVERVIEW, tdm_act_sort_box },
	{ { ',', '.', '<', '>' }, ", .", NULL, "sort by the previous or next column", ON_OVERVIEW, tdm_act_sort_step },
	{ { 'P', 'M', 'T', 'R', 'L', 'B' }, "P M T R L B", NULL, "sort by pid, memory, age, DRAM, L1, CB", ON_OVERVIEW,
		tdm_act_sort_letter },
	{ { 'U', 'D', 'K', 'S', 'H', 'C' }, "U D K S H C", NULL, "sort by user, device, peak, source, phase, command",
		ON_OVERVIEW, tdm_act_sort_letter },
	{ { 'A', 'X', 'E', 'G' }, "A X E G", NULL, "sort by state, CPU, host memory, growth", ON_OVERVIEW,
		tdm_act_sort_letter },
	{ { 's', F + 6 }, "s F6", "Sort", "sort by size, age, site or address", ON_PROCESS, tdm_act_buffer_sort },
	{ { 'g' }, "g", "Group", "group buffers by the site that allocated them", ON_PROCESS, tdm_act_buffer_group },
	{ { '+', '-', 'I' }, "+ - I", NULL, "reverse the order", ON_OVERVIEW | ON_PROCESS, tdm_act_reverse },
	{ { 'o' }, "o", "Op", "show only one kind of event", ON_EVENTS, tdm_act_event_op },
	{ { 'm' }, "m", "Memory", "show only one kind of memory", ON_EVENTS, tdm_act_event_kind },
	{ { 'f' }, "f", "Process", "show only the process chosen on the overview", ON_EVENTS, tdm_act_event_process },
	{ { F + 9, 'k' }, "F9 k", "Signal", "signal the chosen or tagged processes; asks first",
		ON_OVERVIEW | ON_PROCESS, tdm_act_signal },
	{ { ' ' }, "Space", NULL, "tag a process", ON_OVERVIEW, tdm_act_tag },
	{ { 'u' }, "u", NULL, "untag all", ON_OVERVIEW, tdm_act_untag },
	{ { 'c' }, "c", "Compact", "show less of each device, then all again", ON_OVERVIEW, tdm_act_compact },
	{ { 'r' }, "r", NULL, "refresh now", ON_ALL, tdm_act_refresh },
	{ { 'z', 'p', ' ' }, "z p", "Freeze", "pause and resume", ON_ALL, tdm_act_freeze },
	{ { '!' }, "!", NULL, "what could not be read, and why", ON_ALL, tdm_act_problems },
	{ { 'w' }, "w", NULL, "findings: what traces may have overwritten, figures that differ", ON_ALL,
		tdm_act_findings },
	{ { TDM_KEY_CTRL_L }, "Ctrl-L", NULL, "redraw the screen", ON_ALL, tdm_act_redraw },
	{ { TDM_KEY_ESCAPE }, "Esc", NULL, "back one step: box, filter, screen; never quits", ON_ALL, tdm_act_back },
	{ { 'q', F + 10 }, "q F10", "Quit", "quit", ON_ALL, tdm_act_quit },
};

const size_t tdm_binding_count = sizeof tdm_bindings / sizeof tdm_bindings[0];
