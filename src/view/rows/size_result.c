/* The sizes for opening a device that a run needed, as rows. */
#include "analyze/live/open_sizes.h"
#include "model/result/result.h"
#include "view/rows/device_rows.h"
#include "view/rows/live_result.h"

#include <inttypes.h>
#include <stdio.h>

/* The runtime's option as typed on the command line. */
static struct tdm_value get_option(const struct tdm_field *field)
{
	const struct tdm_open_size *size = field->row;
	return tdm_field_printed(field, "%s=%" PRIu64, size->option, size->needed);
}

static struct tdm_value get_opened(const struct tdm_field *field)
{
	const struct tdm_open_size *size = field->row;
	char test[96] = "";
	const char *missing = size->is_least && size->is_tested ? "; reports are missing, it may have needed more" : "";
	if (size->is_tested && size->allocs != 0)
		snprintf(test, sizeof test, "; tested: %" PRIu64 " allocation%s replayed on the model of the allocator",
			size->allocs, size->allocs == 1 ? "" : "s");
	else if (!size->is_tested && size->recorded == size->allocs)
		snprintf(
			test, sizeof test, "; not tested, holes may need more: the model places the buffers otherwise");
	else if (!size->is_tested)
		snprintf(test, sizeof test,
			"; not tested, holes may need more: %" PRIu64 " of %" PRIu64 " allocations recorded",
			size->recorded, size->allocs);
	if (size->is_in_dram)
		return tdm_field_printed(field, "without a trace region, traces are in DRAM%s%s", test, missing);
	if (size->opened == TDM_BYTES_UNKNOWN)
		return tdm_field_printed(field, "on device %s%s%s", TDM_DEVICE_TEXT(size->device), test, missing);
	return tdm_field_printed(
		field, "device %s has %" PRIu64 "%s%s", TDM_DEVICE_TEXT(size->device), size->opened, test, missing);
}

void tdm_live_show_sizes(struct tdm_block *in, const struct tdm_picture *picture, uint32_t process)
{
#define SIZE(member) TDM_MEMBER(struct tdm_open_size, member)
	static const struct tdm_column columns[] = {
		{ "", NULL, .get = get_option, .width = 32 },
		{ "", NULL, .get = get_opened },
		{ NULL, "option", SIZE(option) },
		{ NULL, "needed_bytes", SIZE(needed) },
		{ NULL, "device", SIZE(device) },
		{ NULL, "opened_with_bytes", SIZE(opened) },
		{ NULL, "traces_in_dram", SIZE(is_in_dram) },
		{ NULL, "tested", SIZE(is_tested) },
		{ NULL, "allocations", SIZE(allocs) },
		{ NULL, "recorded_allocations", SIZE(recorded) },
		{ NULL, "at_least", SIZE(is_least) },
	};
	struct tdm_open_size *sizes = tdm_result_alloc(in->result, TDM_OPEN_SIZES, sizeof *sizes);
	struct tdm_table table = TDM_TABLE_OF(columns, sizes, tdm_open_sizes(picture, process, sizes));
	table.has_no_head = true;
	table.gap = table.indent = 2;
	tdm_add_table(in, "open_sizes", "Sizes for opening the device, as this run needed them", table);
}
