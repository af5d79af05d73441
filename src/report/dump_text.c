#include "base/duration.h"
#include "base/units.h"
#include "report/cell.h"
#include "report/live_report.h"
#include "report/map_report.h"
#include "report/stack_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PROGRAM_COLUMNS = 16, STACK_INDENT = 8, RANGES_SHOWN = 3 };

static void put_age(const struct tdm_picture *picture, const struct tdm_buffer *buffer, struct tdm_buf *out)
{
	char text[TDM_DURATION_CAP];
	bool known = buffer->born_ns != 0 && buffer->born_ns <= picture->time_ns;
	tdm_buf_printf(out, " %*s", TDM_DURATION_COLUMNS,
		known ? tdm_format_duration(text, sizeof text, picture->time_ns - buffer->born_ns) : "-");
}

static void put_place(const struct tdm_picture *picture, const struct tdm_buffer_ref *ref, struct tdm_buf *out)
{
	const struct tdm_holding *holding = &picture->holdings[ref->holding];
	const struct tdm_buffer *buffer = ref->buffer;
	char device[24], address[24] = "-";
	snprintf(device, sizeof device, "%" PRIu32 "%s", holding->number,
		picture->devices[holding->device].is_virtual ? "v" : "");
	if (buffer->address != TDM_ADDRESS_UNKNOWN)
		snprintf(address, sizeof address, "0x%" PRIx64, buffer->address);
	tdm_buf_printf(out, "  %-6s %-10s %14s", device, tdm_kind_name((enum tdm_kind)buffer->kind), address);
}

static void put_sizes(const struct tdm_buffer *buffer, struct tdm_buf *out)
{
	char asked[TDM_BYTES_CAP], reserved[TDM_BYTES_CAP];
	bool is_view = (buffer->flags & TDM_EVENT_VIEW) != 0;
	tdm_buf_printf(out, " %s %*s", tdm_format_bytes(asked, sizeof asked, buffer->asked_bytes), TDM_BYTES_COLUMNS,
		is_view ? "view" : tdm_format_bytes(reserved, sizeof reserved, tdm_buffer_reserved(buffer)));
	if (is_view || buffer->banks == 0)
		tdm_buf_printf(out, " %5s", "-");
	else
		tdm_buf_printf(out, " %5" PRIu32, buffer->banks);
}

/* The name, or, without one, the place that allocated it. */
static void put_site(const struct tdm_live_report *report, struct tdm_symbolizer *sym, const struct tdm_buffer *buffer,
	struct tdm_buf *out)
{
	const char *name = tdm_picture_text(report->picture, buffer->name);
	uint32_t depth;
	tdm_picture_stack(report->picture, buffer->stack, &depth);
	if (name[0] != '\0')
		tdm_cell_put(out, tdm_str_of(name), 0, report->term.utf8);
	else if (depth != 0)
		tdm_stack_site(report->picture, sym, buffer->stack, true, out);
	else
		tdm_buf_puts(out, "-");
}

/* "  (0,0)-(7,7) (1,9)": the rectangles of cores, as many as a line takes. */
static void put_ranges(const struct tdm_picture *picture, uint32_t number, struct tdm_buf *out)
{
	uint32_t count;
	const struct tdm_core_range *ranges = tdm_picture_ranges(picture, number, &count);
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
	const struct tdm_buffer_ref *ref, struct tdm_buf *out)
{
	const struct tdm_picture *picture = report->picture;
	const struct tdm_buffer *buffer = ref->buffer;
	uint32_t depth;
	put_place(picture, ref, out);
	put_sizes(buffer, out);
	put_age(picture, buffer, out);
	if (buffer->thread != 0)
		tdm_buf_printf(out, " %8" PRIu32, buffer->thread);
	else
		tdm_buf_printf(out, " %8s", "-");
	tdm_picture_stack(picture, buffer->stack, &depth);
	if (depth != 0)
		tdm_buf_printf(out, " %5" PRIu32 "  ", depth);
	else
		tdm_buf_printf(out, " %5s  ", "-");
	const char *program = tdm_picture_text(picture, buffer->program);
	size_t used =
		tdm_cell_put(out, tdm_str_of(program[0] != '\0' ? program : "-"), PROGRAM_COLUMNS, report->term.utf8);
	tdm_buf_fill(out, ' ', PROGRAM_COLUMNS + 1 - used);
	put_site(report, sym, buffer, out);
	put_ranges(picture, buffer->ranges, out);
	tdm_buf_putc(out, '\n');
	if (report->stacks)
		tdm_stack_text(picture, sym, buffer->stack, STACK_INDENT, out);
}

static void put_buffers(const struct tdm_live_report *report, size_t process, struct tdm_buf *out)
{
	size_t count;
	struct tdm_buffer_ref *list = tdm_live_buffers(report->picture, process, &report->filter, report->sort, &count);
	size_t shown = report->limit != 0 && report->limit < count ? (size_t)report->limit : count;
	out->failed |= list == NULL;
	if (count != 0)
		tdm_buf_printf(out, "\n  %-6s %-10s %14s %10s %10s %5s %7s %8s %5s  %-16s %s\n", "Device", "Kind",
			"Address", "Asked", "Reserved", "Banks", "Age", "Thread", "Stack", "Program", "Name");
	struct tdm_symbolizer *sym = shown != 0 ? tdm_stack_symbolizer(report->picture, process) : NULL;
	for (size_t i = 0; i < shown; i++) {
		put_buffer(report, sym, &list[i], out);
		tdm_buf_pass(out);
	}
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
	for (size_t i = 0; i < report->picture->process_count; i++) {
		if (i != 0)
			tdm_buf_putc(out, '\n');
		tdm_live_head(report, i, out);
		tdm_live_kinds(report, i, out);
		put_buffers(report, i, out);
	}
}

void tdm_dump_text(const struct tdm_live_report *report, struct tdm_buf *out)
{
	const struct tdm_picture *picture = report->picture;
	if (report->map && picture->process_count != 0)
		tdm_map_text(report, out);
	else
		put_processes(report, out);
	size_t problems = tdm_live_unread_count(report);
	if (picture->process_count != 0 && problems != 0)
		tdm_buf_putc(out, '\n');
	if (picture->process_count == 0 && problems == 0)
		tdm_live_none(report, out);
	tdm_live_unread(report, out);
}
