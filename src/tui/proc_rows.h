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
#include "tui/growth.h"

struct tdm_host_uses;

/* id, title, width (negative: aligned right), priority (0 stays longest), key to sort by it */
#define TDM_PROC_COLUMN_LIST(X)               \
	X(PID, "PID", -7, 0, 'P')             \
	X(USER, "USER", 9, 5, 'U')            \
	X(DEVICE, "DEV", 5, 3, 'D')           \
	X(DRAM, "DRAM", -10, 1, 'R')          \
	X(L1, "L1", -10, 2, 'L')              \
	X(L1_SMALL, "L1_SMALL", -10, 16, 0)   \
	X(TRACE, "TRACE", -10, 15, 0)         \
	X(CB, "CB", -10, 7, 'B')              \
	X(MEMORY, "MEMORY", -10, 8, 'M')      \
	X(PEAK, "DRAM PEAK", -11, 11, 'K')    \
	X(GROWTH, "GROWTH/MIN", -11, 9, 'G')  \
	X(AGE, "AGE", -8, 4, 'T')             \
	X(STATE, "S", 2, 6, 'A')              \
	X(CPU, "CPU%", -6, 10, 'X')           \
	X(RESIDENT, "HOST MEM", -10, 12, 'E') \
	X(SOURCE, "SRC", 3, 13, 'S')          \
	X(PHASE, "PHASE", 12, 14, 'H')        \
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
	unsigned estimated; /* kinds whose bytes are an estimate: a bit each */
	uint64_t age_ns;    /* UINT64_MAX: unknown */
	int64_t growth;     /* bytes per minute, or TDM_GROWTH_UNKNOWN */
	bool rises;         /* steadily, so that it may leak */
	uint64_t host; /* what the table is sorted by, if that is state, CPU or resident memory; unknown is the largest
			*/
};

struct tdm_proc_view {
	enum tdm_proc_column sort;
	bool reversed, tree;
	const char *filter; /* "": all */
	struct tdm_pick pick;
	uint64_t device;                 /* key: only what is on this one; 0: on all */
	const struct tdm_growth *growth; /* NULL: unknown, like the next */
	const struct tdm_host_uses *hosts;
};

struct tdm_proc_rows {
	struct tdm_proc_row *rows;
	size_t count, cap;
};

/* The rows are all zero to begin with. 0, or -ENOMEM and some are missing. */
int tdm_proc_rows_build(
	struct tdm_proc_rows *rows, const struct tdm_picture *picture, const struct tdm_proc_view *view);
void tdm_proc_rows_done(struct tdm_proc_rows *rows);

/* Whether a column is read from the host: state, CPU, resident memory. */
static inline bool tdm_proc_is_host(enum tdm_proc_column column)
{
	return column >= TDM_PROC_STATE && column <= TDM_PROC_RESIDENT;
}

/* The sum; an unknown amount adds nothing. */
uint64_t tdm_proc_sum(uint64_t a, uint64_t b);

#endif
