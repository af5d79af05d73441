/*
 * The lines of the process table and their order. No drawing here.
 *
 * In the flat table a line is a process with what it holds on all devices shown. In the tree each device has a line,
 * with a line below it for each process that uses it. Two more lines may follow the processes: memory of no listed
 * process ("unattributed"), and bytes still recorded for ended processes, which are no longer on a device.
 */
#ifndef TDM_TUI_PROC_ROWS_H
#define TDM_TUI_PROC_ROWS_H

#include "state/pick.h"

/* id, title, width (negative: aligned right), priority (0 stays longest), key to sort by it */
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
	bool peak_is_sum;       /* over several devices: an upper bound */
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
	struct tdm_pick pick;
};

struct tdm_proc_rows {
	struct tdm_proc_row *rows;
	size_t count, cap;
};

/* The rows are all zero to begin with. 0, or -ENOMEM and some are missing. */
int tdm_proc_rows_build(
	struct tdm_proc_rows *rows, const struct tdm_picture *picture, const struct tdm_proc_view *view);
void tdm_proc_rows_done(struct tdm_proc_rows *rows);

/* The sum; an unknown amount adds nothing. */
uint64_t tdm_proc_sum(uint64_t a, uint64_t b);

#endif
