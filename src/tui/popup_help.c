/* The help: all keys, from their table, and what colours and words mean. */
#include <stdio.h>

#include "tui/keys.h"
#include "tui/popup.h"
#include "tui/screens.h"
#include "tui/terminal.h"

enum { NAMES_COLUMNS = 20, COLS = 92 };

static const struct {
	enum tdm_ink ink;
	const char *text;
} legend[] = {
	{ TDM_INK_PLAIN, "" },
	{ TDM_INK_BOLD, "Colours" },
	{ TDM_INK_GREEN, "less than 75 % used" },
	{ TDM_INK_YELLOW, "75 % or more" },
	{ TDM_INK_RED, "90 % or more" },
	{ TDM_INK_DIM, "unknown: never shown as 0" },
	{ TDM_INK_PLAIN, "" },
	{ TDM_INK_BOLD, "Mouse" },
	{ TDM_INK_PLAIN, "click         choose; a title: sort, again: reverse; a tab or key: use it" },
	{ TDM_INK_PLAIN, "double click  open; wheel: scroll; Shift and drag: select text" },
	{ TDM_INK_PLAIN, "" },
	{ TDM_INK_BOLD, "Words" },
	{ TDM_INK_PLAIN, "L1, CB        buffers and circular buffers (CBs) in the L1 of the cores;" },
	{ TDM_INK_PLAIN, "              they share it, so the same bytes are free for both" },
	{ TDM_INK_PLAIN, "largest       the largest contiguous free block of a bank, times the banks" },
	{ TDM_INK_PLAIN, "*             measured before this frame: the last line says how long ago" },
	{ TDM_INK_PLAIN, "room          free between buffers and CBs, fullest core: programs whose CBs" },
	{ TDM_INK_PLAIN, "              need more are refused; over: they overlap by so much" },
	{ TDM_INK_PLAIN, "peak          the most that was ever used; <= before it: a sum over devices" },
	{ TDM_INK_PLAIN, "highest seen  the most that this monitor saw, where no peak is recorded" },
	{ TDM_INK_PLAIN, "~             card or capacity: only known from the type of all cards" },
	{ TDM_INK_PLAIN, "              bytes in use: an estimate; some buffers count with what they" },
	{ TDM_INK_PLAIN, "              asked for, because what they take is not known" },
	{ TDM_INK_PLAIN, "unattributed  used, but not by a listed process" },
	{ TDM_INK_PLAIN, "left          still recorded for ended processes; no longer on the device" },
	{ TDM_INK_PLAIN, "device        0: number in programs; /0: the driver's; 0v: virtual" },
	{ TDM_INK_PLAIN, "48 / 75 C     a reading and its limit: yellow from 90 % of it, red at it" },
	{ TDM_INK_PLAIN, "GROWTH/MIN    how the lowest use in each 5 s changed over the last minute" },
	{ TDM_INK_PLAIN, "[leak?]       it rose steadily; 'tidemark leaks' can tell whether it leaks" },
	{ TDM_INK_PLAIN, "[trace]       a trace may have overwritten buffers of it; w says which" },
	{ TDM_INK_PLAIN, "S             R runs, S sleeps, D waits, T stopped, Z ended, X dead" },
	{ TDM_INK_PLAIN, "CPU%          of one core of the host; HOST MEM: its resident memory there" },
	{ TDM_INK_PLAIN, "ledger        file in which a program with libtidemark records its memory" },
	{ TDM_INK_PLAIN, "source        L ledger: bytes reserved; of tidemarkd's clients: requested" },
	{ TDM_INK_PLAIN, "              S metal_shm: tt-metal's own statistics, bytes requested;" },
	{ TDM_INK_PLAIN, "                allocations of other threads may be missing, and the" },
	{ TDM_INK_PLAIN, "                CB total may be the last writer's alone" },
	{ TDM_INK_PLAIN, "              D driver; M model of the card" },
};
enum { LEGEND = sizeof legend / sizeof legend[0] };

static void screens_of(unsigned screens, char *dst, size_t cap)
{
	size_t len = 0;
	dst[0] = '\0';
	for (int i = 0; i < TDM_SCREEN_COUNT && screens != (1U << TDM_SCREEN_COUNT) - 1; i++)
		if ((screens & 1U << i) != 0 && len + 2 < cap)
			len += (size_t)snprintf(dst + len, cap - len, "%d", i + 1);
}

static void draw_line(struct tdm_app *app, struct tdm_area area, size_t index)
{
	struct tdm_pen pen = tdm_pen_at(&app->canvas, area, 0);
	if (index >= tdm_binding_count) {
		tdm_pen_text(&pen, legend[index - tdm_binding_count].ink, legend[index - tdm_binding_count].text);
		return;
	}
	const struct tdm_binding *binding = &tdm_bindings[index];
	char screens[TDM_SCREEN_COUNT + 1];
	screens_of(binding->screens, screens, sizeof screens);
	tdm_pen_field(&pen, NAMES_COLUMNS, TDM_INK_KEY, binding->names);
	tdm_pen_field(&pen, 5, TDM_INK_DIM, screens);
	tdm_pen_text(&pen, TDM_INK_PLAIN, binding->help);
}

static size_t count(const struct tdm_app *app)
{
	(void)app;
	return tdm_binding_count + LEGEND;
}

static void draw(struct tdm_app *app, struct tdm_area area)
{
	struct tdm_area inner =
		tdm_popup_box(app, area, (int)count(app), COLS, "Keys (and the screens that have them)");
	app->popup_list.chosen = app->popup_list.top; /* the list only scrolls */
	tdm_popup_lines(app, inner, count(app), draw_line);
}

static bool key(struct tdm_app *app, int key)
{
	return tdm_list_scroll(&app->popup_list, key) ||
	       !(tdm_popup_closes(key) || key == 'h' || key == '?' || key == TDM_KEY_F0 + 1 || key == TDM_KEY_ENTER ||
		       key == ' ');
}

const struct tdm_popup tdm_popup_help = { count, draw, key };
