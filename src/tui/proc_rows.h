/*
 * The lines of the process table: what is shown, in which order. No drawing here.
 *
 * Flat, a line is a process with what it holds on all the devices that are shown. As a tree, a device is a line and
 * what each process holds on it are the lines below. Behind the processes stand what no listed process has
 * ("unattributed") and what ended processes left written down, which is on no device any more.
 */
#ifndef TDM_TUI_PROC_ROWS_H
#define TDM_TUI_PROC_ROWS_H

#include "state/picture.h"

/* id, title, width (below 0: on the right), priority (0 stays longest), can be sorted by its letter */
#define TDM_PROC_COLUMN_LIST(X)             \
	X(PID, "PID", -7, 0, 'P')           \
	X(USER, "USER", 9, 5, 'U')          \
	X(DEVICE, "DEV", 5, 3, 'D')         \
	X(DRAM, "DRAM", -10, 1, 'R')        \
	X(L1, "L1", -10, 2, 'L')            \
	X(L1_SMALL, "L1_SMALL", -10, 12, 0) \
	X(TRACE, "TRACE", -10, 11, 0)       \
	X(CB, "CB", -10, 6, 'B')            \
	X(MEMORY, "MEMORY", -10, 8, 'M')    \
	X(PEAK, "DRAM PEAK", -11, 7, 'K')   \
	X(AGE, "AGE", -8, 4, 'T')           \
	X(SOURCE, "SRC", 3, 9, 'S')         \
	X(PHASE, "PHASE", 12, 10, 'H')      \
	X(COMMAND, "COMMAND", 16, 0, 'C')

enum tdm_proc_column {
#define X(id, title, width, priority, letter) TDM_PROC_##id,
	TDM_PROC_COLUMN_LIST(X)
#undef X
		TDM_PROC_COLUMN_COUNT
};

struct tdm_proc_column_info {
	const char *title;
	int width, priority;
	char letter; /* 0: none */
};

extern const struct tdm_proc_column_info tdm_proc_columns[TDM_PROC_COLUMN_COUNT];

enum tdm_proc_row_type { TDM_ROW_PROCESS, TDM_ROW_DEVICE, TDM_ROW_UNATTRIBUTED, TDM_ROW_STALE };

enum { TDM_PROC_KINDS = 5 }; /* DRAM, L1, L1_SMALL, TRACE, CB */

struct tdm_proc_row {
	uint8_t type;           /* enum tdm_proc_row_type */
	bool is_child, is_last; /* in the tree */
	bool peak_is_sum;       /* of several devices: an upper bound */
	uint32_t process;       /* index; UINT32_MAX: none */
	uint32_t device;        /* index; UINT32_MAX: several or none */
	uint64_t handle;        /* 0: no process */
	uint64_t used[TDM_PROC_KINDS], memory, peak;
	uint64_t age_ns; /* UINT64_MAX: unknown */
};

struct tdm_proc_view {
	enum tdm_proc_column sort;
	bool reversed, tree;
	const char *filter; /* "": all */
	const char *device; /* as of tdm_match_device() */
	int32_t pid;        /* 0: all */
};

struct tdm_proc_rows {
	struct tdm_proc_row *rows;
	size_t count, cap;
};

/* All zero to begin. 0 or -ENOMEM, then there are fewer. */
int tdm_proc_rows_build(
	struct tdm_proc_rows *rows, const struct tdm_picture *picture, const struct tdm_proc_view *view);
void tdm_proc_rows_done(struct tdm_proc_rows *rows);

/* Adds where both are known; what is not known adds nothing. */
uint64_t tdm_proc_sum(uint64_t a, uint64_t b);

#endif
