/*
 * The terminal: shows a canvas, reads keys. Only terminal.c uses ncurses, which takes a terminal's abilities from
 * terminfo.
 */
#ifndef TDM_TUI_TERMINAL_H
#define TDM_TUI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "tui/canvas.h"

/* Keys below TDM_KEY_FIRST are characters. */
enum tdm_key {
	TDM_KEY_NONE = 0, /* nothing was pressed */
	TDM_KEY_CTRL_L = 12,
	TDM_KEY_TAB = '\t',
	TDM_KEY_ENTER = '\n',
	TDM_KEY_ESCAPE = 27,
	TDM_KEY_FIRST = 0x110000,
	TDM_KEY_UP = TDM_KEY_FIRST,
	TDM_KEY_DOWN,
	TDM_KEY_LEFT,
	TDM_KEY_RIGHT,
	TDM_KEY_PAGE_UP,
	TDM_KEY_PAGE_DOWN,
	TDM_KEY_HOME,
	TDM_KEY_END,
	TDM_KEY_BACKSPACE,
	TDM_KEY_DELETE,
	TDM_KEY_BACK_TAB,
	TDM_KEY_F0,
	TDM_KEY_F12 = TDM_KEY_F0 + 12,
	TDM_KEY_MOUSE, /* tdm_terminal_mouse() says what it did */
	TDM_KEY_OTHER, /* a key without a meaning here */
	TDM_KEY_GONE,  /* the terminal has disappeared */
};

struct tdm_terminal;

struct tdm_terminal_options {
	bool ascii, no_colour, mouse;
};

enum tdm_mouse_act { TDM_MOUSE_PRESS, TDM_MOUSE_WHEEL_UP, TDM_MOUSE_WHEEL_DOWN };

/* What the mouse did: the left button or the wheel; nothing else is reported. */
struct tdm_mouse {
	enum tdm_mouse_act act;
	int row, col;
};

/* Takes over the terminal of standard input and output. The caller handles signals: see guard.h. 0, or a negative code
 * with diag set. */
int tdm_terminal_open(
	struct tdm_terminal **terminal, const struct tdm_terminal_options *options, struct tdm_diag *diag);
void tdm_terminal_close(struct tdm_terminal *terminal); /* restores the terminal; NULL is allowed */

bool tdm_terminal_is_utf8(const struct tdm_terminal *terminal);
void tdm_terminal_colour(struct tdm_terminal *terminal, bool wanted); /* if it has any */
void tdm_terminal_use_mouse(
	struct tdm_terminal *terminal, bool wanted); /* the same; text is selected with Shift then */
void tdm_terminal_size(const struct tdm_terminal *terminal, int *rows, int *cols);
void tdm_terminal_resized(struct tdm_terminal *terminal); /* the size has changed */
void tdm_terminal_suspend(struct tdm_terminal *terminal); /* restores it for a while */
void tdm_terminal_resume(struct tdm_terminal *terminal);
void tdm_terminal_redraw(struct tdm_terminal *terminal); /* sends the whole next canvas */

/* Sends the changes since the last canvas. False if the terminal accepts no output now: show it again later. */
bool tdm_terminal_show(struct tdm_terminal *terminal, const struct tdm_canvas *canvas);

/* Waits until there is a key, `fd` is readable or the timeout ends; negative: no timeout. False: the terminal is
 * gone. */
bool tdm_terminal_wait(struct tdm_terminal *terminal, int fd, int timeout_ms);
int tdm_terminal_key(struct tdm_terminal *terminal);                      /* does not wait */
struct tdm_mouse tdm_terminal_mouse(const struct tdm_terminal *terminal); /* of the last TDM_KEY_MOUSE */

#endif
