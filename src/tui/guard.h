/*
 * Signals, while the terminal is ours. Those that end the program, change the size or stop and continue it are
 * remembered and wake up poll(); after a crash, or when a second signal asks it to end, the terminal is given back
 * from the handler itself, with bytes and settings that were prepared before.
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

/* Takes over the signals; those that the caller ignores stay ignored. 0 or a negative code. */
int tdm_guard_begin(void);
void tdm_guard_end(void); /* as before */

/* What gives the terminal back: settings, and bytes that leave its modes. NULL bytes: it is given back already. */
void tdm_guard_restores(int fd, const struct termios *settings, const char *bytes, size_t len);

int tdm_guard_fd(void);                     /* readable when there is news */
struct tdm_guard_news tdm_guard_take(void); /* since the last call */
void tdm_guard_stop_self(void);             /* stops as Ctrl-Z would; returns when it is continued */

#endif
