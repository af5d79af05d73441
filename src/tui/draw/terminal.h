/*
 * The terminal: shows a canvas, reads keys. Only terminal.c uses ncurses, which looks up a terminal's capabilities in
 * terminfo.
 */
#ifndef TDM_TUI_TERMINAL_H
#define TDM_TUI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "tui/draw/canvas.h"

/* A mouse action: the left button or the wheel; nothing else is reported. */
struct tdm_mouse {
	int wheel; /* -1: up, 1: down, 0: the button was pressed */
	int row, col;
};

/* Takes over the signals and the terminal of standard input and output; fits the canvas to the terminal's size. 0, or a
 * negative code with diag set. */
int tdm_terminal_open(struct tdm_canvas *canvas, struct tdm_diag *diag);
void tdm_terminal_close(void); /* restores the terminal and the signals */

/* Handles the signals received since the last call: stops the program until it is continued, fits the canvas to a new
 * size. False if a signal requests the end. */
bool tdm_terminal_signals(struct tdm_canvas *canvas);

void tdm_terminal_redraw(void); /* makes the next call send the whole canvas */
/* Sends the changes since the last canvas, using colour and the mouse if wanted and available. False if the terminal
 * currently accepts no output: call again later. */
bool tdm_terminal_show(const struct tdm_canvas *canvas, bool colour, bool mouse);

/* Waits for a key, a signal or the end of the timeout; negative means no timeout. False if the terminal is gone. */
bool tdm_terminal_wait(int timeout_ms);
/* Returns a key without waiting. Sets `mouse` if the key is TDM_KEY_MOUSE. */
int tdm_terminal_key(struct tdm_mouse *mouse);

#endif
