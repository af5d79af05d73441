#include "tui/overview_layout.h"

static const int block_rows[TDM_DETAIL_COUNT] = {
	[TDM_DETAIL_LINE] = 1,
	[TDM_DETAIL_SHORT] = 3,
	[TDM_DETAIL_KINDS] = 7,
	[TDM_DETAIL_FULL] = 10,
};

/* The rows that the blocks need in this many columns. */
static long rows_needed(size_t devices, enum tdm_detail detail, int columns)
{
	if (devices > 100000)
		devices = 100000;
	return (long)((devices + (size_t)columns - 1) / (size_t)columns) * block_rows[detail];
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

/* Use two columns when one cannot hold every device, or when half the width has room for every figure. */
static int columns_for(int cols, size_t devices, enum tdm_detail detail, int room)
{
	if (devices < 2 || cols < TDM_LAYOUT_TWO_COLUMNS)
		return 1;
	return cols < TDM_LAYOUT_TWO_WHOLE && rows_needed(devices, detail, 1) <= room ? 1 : 2;
}

struct tdm_layout tdm_layout_compute(int rows, int cols, size_t devices, size_t processes, enum tdm_detail most)
{
	struct tdm_layout layout = { .detail = TDM_DETAIL_LINE, .columns = 1, .block_rows = 1 };
	int room = rows_for_devices(rows < 0 ? 0 : rows, processes);
	if (rows <= 0 || devices == 0) {
		layout.process_rows = rows < 0 ? 0 : rows;
		return layout;
	}
	for (int detail = (int)most; detail > TDM_DETAIL_LINE; detail--) {
		int columns = columns_for(cols, devices, (enum tdm_detail)detail, room);
		if (rows_needed(devices, (enum tdm_detail)detail, columns) > room)
			continue;
		layout = (struct tdm_layout){
			.detail = (enum tdm_detail)detail, .columns = columns, .block_rows = block_rows[detail]
		};
		break;
	}
	long needed = rows_needed(devices, layout.detail, layout.columns);
	layout.device_rows = needed < room ? (int)needed : room;
	layout.process_rows = rows - layout.device_rows;
	return layout;
}
