/*
 * Handles signals while the monitor has the terminal. Signals that end, stop or continue the program or report a new
 * size are remembered and wake up poll(). After a crash, or a second signal that asks to end, the handler itself
 * restores the terminal, from bytes and settings prepared earlier.
 *
 * Handlers have no context, so there is one guard in a process.
 */
#ifndef TDM_TUI_GUARD_H
#define TDM_TUI_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

enum { TDM_GUARD_BYTES_MAX = 256 };

struct tdm_guard_news {
	int end; /* the signal that asks to end; 0: none */
	bool resized, stop, continued;
};

/* Takes over the signals; ignored ones stay ignored. 0 or a negative code. */
int tdm_guard_begin(void);
void tdm_guard_end(void); /* restores the signals */

/* How to restore the terminal: settings, and bytes that leave its modes. NULL bytes: it is restored already. */
void tdm_guard_restores(int fd, const struct termios *settings, const char *bytes, size_t len);

int tdm_guard_fd(void);                     /* readable when there is news */
struct tdm_guard_news tdm_guard_take(void); /* since the last call */
void tdm_guard_stop_self(void);             /* stops like Ctrl-Z; returns when continued */

#endif
