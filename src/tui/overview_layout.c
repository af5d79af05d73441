#include "tui/overview_layout.h"

#include <stdbool.h>

enum { KINDS_MIN = 2, GRAPH_ROWS_MIN = 4, GRAPH_ROWS_MAX = 40, SPARE_SHARE = 5 };

/* Rows of a block besides its lines of kinds. */
static const int other_rows[TDM_DETAIL_COUNT] = {
	[TDM_DETAIL_LINE] = 1,
	[TDM_DETAIL_SHORT] = 1,
	[TDM_DETAIL_KINDS] = 2,
	[TDM_DETAIL_FULL] = 1 + GRAPH_ROWS_MIN,
};

/* The rows that the blocks need in this many columns. */
static long rows_needed(size_t devices, int block_rows, int columns)
{
	if (devices > 100000)
		devices = 100000;
	return (long)((devices + (size_t)columns - 1) / (size_t)columns) * block_rows;
}

/* Processes get up to a third of the rows, and at least TDM_LAYOUT_PROCESS_MIN; on a small screen, half. */
static int rows_for_devices(int rows, size_t processes)
{
	int third = rows / 3 > TDM_LAYOUT_PROCESS_MIN ? rows / 3 : TDM_LAYOUT_PROCESS_MIN;
	int needed = processes + 2 < (size_t)third ? (int)processes + 2 : third;
	int kept = needed > TDM_LAYOUT_PROCESS_MIN ? needed : TDM_LAYOUT_PROCESS_MIN;
	if (rows >= kept * 2)
		return rows - kept;
	return rows >= 4 ? rows / 2 : rows > 1 ? 1 : rows;
}

/* When something of the devices would be hidden, they also get the rows that the table of processes would leave empty.
 * An empty table has two lines that say so. */
static int rows_not_empty(int rows, size_t processes, int room)
{
	size_t table = processes == 0 ? 3 : processes + 1;
	return table < (size_t)rows && rows - (int)table > room ? rows - (int)table : room;
}

/* Use two columns when one cannot hold every device, or when half the width has room for every figure. */
static int columns_for(int cols, size_t devices, int block_rows, int room)
{
	if (devices < 2 || cols < TDM_LAYOUT_TWO_COLUMNS)
		return 1;
	return cols < TDM_LAYOUT_TWO_WHOLE && rows_needed(devices, block_rows, 1) <= room ? 1 : 2;
}

/* Whether every block fits with this many lines of kinds; then the layout has them. */
static bool fits(struct tdm_layout *layout, int cols, size_t devices, int room, enum tdm_detail detail, int kinds)
{
	int rows = other_rows[detail] + kinds, columns = columns_for(cols, devices, rows, room);
	if (rows_needed(devices, rows, columns) > room)
		return false;
	*layout = (struct tdm_layout){ .detail = detail, .columns = columns, .block_rows = rows, .kinds = kinds };
	return true;
}

/* Graphs take the rows that would stay empty. A part is left for further processes: a graph that changes its height
 * whenever a process comes or goes cannot be read. */
static void stretch_graphs(struct tdm_layout *layout, int rows, size_t devices, size_t processes)
{
	int lines = (int)rows_needed(devices, 1, layout->columns), table = rows / SPARE_SHARE;
	if (table < TDM_LAYOUT_PROCESS_MIN)
		table = TDM_LAYOUT_PROCESS_MIN;
	if (processes + 2 > (size_t)table)
		table = processes + 2 < (size_t)rows ? (int)processes + 2 : rows;
	int spare = (rows - table - lines * layout->block_rows) / lines;
	layout->graph_rows = GRAPH_ROWS_MIN;
	if (spare > 0)
		layout->graph_rows = spare < GRAPH_ROWS_MAX - GRAPH_ROWS_MIN ? GRAPH_ROWS_MIN + spare : GRAPH_ROWS_MAX;
	layout->block_rows += layout->graph_rows - GRAPH_ROWS_MIN;
}

struct tdm_layout tdm_layout_compute(
	int rows, int cols, size_t devices, size_t processes, int kinds, enum tdm_detail most)
{
	struct tdm_layout layout = { .detail = TDM_DETAIL_LINE, .columns = 1, .block_rows = 1 };
	int room = rows_for_devices(rows < 0 ? 0 : rows, processes);
	if (rows <= 0 || devices == 0) {
		layout.process_rows = rows < 0 ? 0 : rows;
		return layout;
	}
	bool is_done = false;
	for (int detail = (int)most; detail > TDM_DETAIL_SHORT && !is_done; detail--)
		is_done = fits(&layout, cols, devices, room, (enum tdm_detail)detail, kinds);
	if (!is_done)
		room = rows_not_empty(rows, processes, room);
	/* Unless the user asked for less, short blocks have as many kinds as there is room for. */
	for (int n = most > TDM_DETAIL_SHORT ? kinds : KINDS_MIN; n >= KINDS_MIN && most > TDM_DETAIL_LINE && !is_done;
		n--)
		is_done = fits(&layout, cols, devices, room, TDM_DETAIL_SHORT, n);
	if (layout.detail == TDM_DETAIL_FULL)
		stretch_graphs(&layout, rows, devices, processes);
	long needed = rows_needed(devices, layout.block_rows, layout.columns);
	layout.device_rows = needed < room ? (int)needed : room;
	layout.process_rows = rows - layout.device_rows;
	return layout;
}
