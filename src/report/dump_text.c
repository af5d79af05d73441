#include "base/duration.h"
#include "base/units.h"
#include "report/cell.h"
#include "report/live_report.h"
#include "report/map_report.h"
#include "report/stack_report.h"
#include "sources/ledger_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PROGRAM_COLUMNS = 16, STACK_INDENT = 8, RANGES_SHOWN = 3 };

static void put_age(const struct tdm_snapshot *snapshot, const struct tdm_buffer *buffer, struct tdm_buf *out)
{
	char text[TDM_DURATION_CAP];
	bool known = buffer->born_ns != 0 && buffer->born_ns <= snapshot->time_ns;
	tdm_buf_printf(out, " %*s", TDM_DURATION_COLUMNS,
		known ? tdm_format_duration(text, sizeof text, snapshot->time_ns - buffer->born_ns) : "-");
}

static void put_place(const struct tdm_snapshot *snapshot, const struct tdm_buffer *buffer, struct tdm_buf *out)
{
	const struct tdm_holding *holding = &snapshot->holdings[buffer->holding];
	char device[24], address[24] = "-";
	snprintf(device, sizeof device, "%" PRIu32 "%s", holding->number,
		snapshot->devices[holding->device].is_virtual ? "v" : "");
	if (buffer->address != TDM_ADDRESS_UNKNOWN)
		snprintf(address, sizeof address, "0x%" PRIx64, buffer->address);
	tdm_buf_printf(out, "  %-6s %-10s %14s", device, tdm_kind_name((enum tdm_kind)buffer->kind), address);
}

static void put_sizes(const struct tdm_buffer *buffer, struct tdm_buf *out)
{
	char asked[TDM_BYTES_CAP], reserved[TDM_BYTES_CAP];
	bool is_view = (buffer->flags & TDM_EVENT_VIEW) != 0;
	tdm_buf_printf(out, " %s %*s", tdm_format_bytes(asked, sizeof asked, buffer->asked_bytes), TDM_BYTES_COLUMNS,
		is_view ? "view" : tdm_format_bytes(reserved, sizeof reserved, buffer->reserved_bytes));
	if (is_view || buffer->banks == 0)
		tdm_buf_printf(out, " %5s", "-");
	else
		tdm_buf_printf(out, " %5" PRIu32, buffer->banks);
}

/* The name, or, without one, the place that allocated it. */
static void put_site(const struct tdm_live_report *report, struct tdm_symbolizer *sym, const struct tdm_buffer *buffer,
	struct tdm_buf *out)
{
	const char *name = tdm_snapshot_text(report->snapshot, buffer->name);
	uint32_t depth;
	tdm_snapshot_stack(report->snapshot, buffer->stack, &depth);
	if (name[0] != '\0')
		tdm_cell_put(out, tdm_str_of(name), 0, report->term.utf8);
	else if (depth != 0)
		tdm_stack_site(report->snapshot, sym, buffer->stack, true, out);
	else
		tdm_buf_puts(out, "-");
}

/* "  (0,0)-(7,7) (1,9)": the rectangles of cores, as many as a line takes. */
static void put_ranges(const struct tdm_snapshot *snapshot, uint32_t number, struct tdm_buf *out)
{
	uint32_t count;
	const struct tdm_core_range *ranges = tdm_snapshot_ranges(snapshot, number, &count);
	for (uint32_t i = 0; i < count && i < RANGES_SHOWN; i++) {
		const struct tdm_core_range *r = &ranges[i];
		tdm_buf_printf(out, "%s(%u,%u)", i == 0 ? "  " : " ", r->x0, r->y0);
		if (r->x0 != r->x1 || r->y0 != r->y1)
			tdm_buf_printf(out, "-(%u,%u)", r->x1, r->y1);
	}
	if (count > RANGES_SHOWN)
		tdm_buf_printf(out, " and %" PRIu32 " more", count - RANGES_SHOWN);
}

static void put_buffer(const struct tdm_live_report *report, struct tdm_symbolizer *sym,
	const struct tdm_buffer *buffer, struct tdm_buf *out)
{
	const struct tdm_snapshot *snapshot = report->snapshot;
	uint32_t depth;
	put_place(snapshot, buffer, out);
	put_sizes(buffer, out);
	put_age(snapshot, buffer, out);
	if (buffer->thread != 0)
		tdm_buf_printf(out, " %8" PRIu32, buffer->thread);
	else
		tdm_buf_printf(out, " %8s", "-");
	tdm_snapshot_stack(snapshot, buffer->stack, &depth);
	if (depth != 0)
		tdm_buf_printf(out, " %5" PRIu32 "  ", depth);
	else
		tdm_buf_printf(out, " %5s  ", "-");
	const char *program = tdm_snapshot_text(snapshot, buffer->program);
	size_t used =
		tdm_cell_put(out, tdm_str_of(program[0] != '\0' ? program : "-"), PROGRAM_COLUMNS, report->term.utf8);
	tdm_buf_fill(out, ' ', PROGRAM_COLUMNS + 1 - used);
	put_site(report, sym, buffer, out);
	put_ranges(snapshot, buffer->ranges, out);
	tdm_buf_putc(out, '\n');
	if (report->stacks)
		tdm_stack_text(snapshot, sym, buffer->stack, STACK_INDENT, out);
}

static void put_buffers(const struct tdm_live_report *report, size_t process, struct tdm_buf *out)
{
	size_t count;
	bool failed;
	const struct tdm_buffer **list =
		tdm_live_buffers(report->snapshot, process, &report->filter, report->sort, &count, &failed);
	size_t shown = report->limit != 0 && report->limit < count ? (size_t)report->limit : count;
	out->failed |= failed;
	if (count != 0)
		tdm_buf_printf(out, "\n  %-6s %-10s %14s %10s %10s %5s %7s %8s %5s  %-16s %s\n", "Device", "Kind",
			"Address", "Asked", "Reserved", "Banks", "Age", "Thread", "Stack", "Program", "Name");
	struct tdm_symbolizer *sym = shown != 0 ? tdm_stack_symbolizer(report->snapshot, process) : NULL;
	for (size_t i = 0; i < shown; i++)
		put_buffer(report, sym, list[i], out);
	if (shown < count) {
		char more[TDM_BYTES_CAP];
		tdm_buf_printf(out, "  and %s more\n", tdm_format_count(more, sizeof more, count - shown));
	}
	if (count == 0)
		tdm_buf_puts(out, "\n  no live buffers\n");
	tdm_symbolizer_free(sym);
	free(list);
}

static void put_processes(const struct tdm_live_report *report, struct tdm_buf *out)
{
	for (size_t i = 0; i < report->snapshot->process_count; i++) {
		if (i != 0)
			tdm_buf_putc(out, '\n');
		tdm_live_head(report, i, out);
		tdm_live_kinds(report, i, out);
		put_buffers(report, i, out);
	}
}

void tdm_dump_text(const struct tdm_live_report *report, struct tdm_buf *out)
{
	const struct tdm_snapshot *snapshot = report->snapshot;
	if (report->map && snapshot->process_count != 0)
		tdm_map_text(report, out);
	else
		put_processes(report, out);
	size_t problems = report->ledgers != NULL ? tdm_ledger_source_problem_count(report->ledgers) : 0;
	if (snapshot->process_count != 0 && problems != 0)
		tdm_buf_putc(out, '\n');
	if (snapshot->process_count == 0 && problems == 0)
		tdm_live_none(report, out);
	tdm_live_unread(report, out);
}
