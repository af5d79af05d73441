/* A ring of the latest values of a figure, for graphs. */
#ifndef TDM_TUI_HISTORY_H
#define TDM_TUI_HISTORY_H

#include <stddef.h>
#include <stdint.h>

enum { TDM_HISTORY_CAP = 512 };
#define TDM_HISTORY_UNKNOWN INT16_MIN

/* All zero to begin with. Values are permille, or TDM_HISTORY_UNKNOWN. */
struct tdm_history {
	size_t count, next;
	int16_t values[TDM_HISTORY_CAP];
};

void tdm_history_add(struct tdm_history *history, int permille);

/* The value `back` steps before the last one; unknown beyond the first. */
int tdm_history_get(const struct tdm_history *history, size_t back);

#endif
