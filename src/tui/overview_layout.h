/* How the overview divides its rows between devices and processes. No drawing here. */
#ifndef TDM_TUI_OVERVIEW_LAYOUT_H
#define TDM_TUI_OVERVIEW_LAYOUT_H

#include <stddef.h>

/* How much is shown of a device. */
enum tdm_detail {
	TDM_DETAIL_LINE,  /* one line */
	TDM_DETAIL_SHORT, /* identity and the most important kinds, DRAM and L1 with their trends */
	TDM_DETAIL_KINDS, /* identity and every kind */
	TDM_DETAIL_FULL,  /* and graphs */
	TDM_DETAIL_COUNT
};

struct tdm_layout {
	enum tdm_detail detail;
	int columns;      /* of blocks: 1 or 2 */
	int block_rows;   /* of a device */
	int kinds;        /* at most this many lines of kinds in a block */
	int graph_rows;   /* of a block; 0: none */
	int device_rows;  /* for all devices, without those that need scrolling */
	int process_rows; /* the rest, including the titles */
};

/* From TDM_LAYOUT_TWO_WHOLE columns on, half the width has room for every figure. */
enum { TDM_LAYOUT_TWO_COLUMNS = 156, TDM_LAYOUT_TWO_WHOLE = 260, TDM_LAYOUT_PROCESS_MIN = 6 };

/* `processes`: lines of the process table, and of notes above it; `kinds`: of memory, in the device that has most;
 * `most`: the highest detail. Sizes exclude the first and last line of the screen. */
struct tdm_layout tdm_layout_compute(
	int rows, int cols, size_t devices, size_t processes, int kinds, enum tdm_detail most);

#endif
