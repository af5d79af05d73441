/* The views of `dump`: every process with its figures and its live buffers. */
#include "report/live_report.h"
#include "analyze/finding.h"
#include "report/map_report.h"
#include "report/runtime_report.h"
#include "report/stack_report.h"
#include "report/table.h"

#include <inttypes.h>
#include <stdlib.h>

enum { RANGES_SHOWN = 3 };

struct row {
	const struct tdm_buffer *buffer;
	uint32_t device, banks, depth;
	bool is_virtual, is_view, is_shared, is_adopted;
	bool has_only_id; /* a client of a daemon names it by this, and gives no address */
	uint64_t reserved, occupied, age_ns;
	const char *program, *name;
	const struct tdm_core_range *ranges;
	uint32_t range_count;
};

/* The buffers of one process. */
struct buffers {
	struct tdm_live_list of;
	struct tdm_buffer_ref *refs;
	size_t first;    /* of them that is shown */
	struct row *row; /* being written */
};

static const void *row_of(const struct tdm_table *table, size_t i)
{
	const struct buffers *list = table->context;
	const struct tdm_picture *picture = list->of.report->picture;
	const struct tdm_buffer_ref *ref = &list->refs[list->first + i];
	const struct tdm_holding *holding = &picture->holdings[ref->holding];
	const struct tdm_buffer *buffer = ref->buffer;
	bool is_view = tdm_buffer_is_view(buffer), is_known = is_view || buffer->bank_bytes != TDM_SIZE_UNKNOWN;
	*list->row = (struct row){ .buffer = buffer,
		.device = holding->number,
		.is_virtual = picture->devices[holding->device].is_virtual,
		.is_view = is_view,
		.is_shared = tdm_buffer_is_shared(buffer),
		.is_adopted = tdm_buffer_is_adopted(buffer),
		.has_only_id =
			buffer->address == TDM_ADDRESS_UNKNOWN && picture->processes[holding->process].is_on_behalf,
		.banks = is_view ? 0 : buffer->banks,
		.reserved = is_known ? tdm_buffer_reserved(buffer) : TDM_BYTES_UNKNOWN,
		.occupied = is_known ? tdm_buffer_occupied(buffer) : TDM_BYTES_UNKNOWN,
		.age_ns = tdm_live_age(picture, buffer->born_ns),
		.program = tdm_picture_text(picture, buffer->program),
		.name = tdm_picture_text(picture, buffer->name) };
	list->row->ranges = tdm_picture_ranges(picture, buffer->ranges, &list->row->range_count);
	tdm_picture_stack(picture, buffer->stack, &list->row->depth);
	return list->row;
}

static void put_device(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct row *row = field->row;
	tdm_buf_printf(out, "%" PRIu32 "%s", row->device, row->is_virtual ? "v" : "");
}

/* Any number may be an id, so none means unknown. */
static struct tdm_value get_id(const struct tdm_field *field)
{
	return (struct tdm_value){ TDM_VALUE_NUMBER, { ((const struct row *)field->row)->buffer->id } };
}

static void put_reserved(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct row *row = field->row;
	char text[TDM_BYTES_CAP];
	tdm_buf_puts(out,
		row->is_view ? "view" : tdm_field_bytes(field, text, sizeof text, row->reserved, TDM_BYTES_COLUMNS));
}

static void put_age(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct row *row = field->row;
	char text[TDM_DURATION_CAP];
	if (row->is_adopted)
		tdm_buf_puts(out, "before"); /* the tracking began */
	else if (row->age_ns == TDM_BYTES_UNKNOWN)
		tdm_buf_putc(out, '-');
	else
		tdm_buf_puts(out, tdm_format_duration(text, sizeof text, row->age_ns));
}

/* The name or else the allocation site, then the cores: "weights  (0,0)-(7,7) (1,9)", "Application  id 0x7". */
static void put_name(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct row *row = field->row;
	size_t start = out->len;
	tdm_live_site(field->table->context, row->name, row->buffer->stack, row->has_only_id ? "" : "-", out);
	if (row->has_only_id)
		tdm_buf_printf(out, "%sid 0x%" PRIx64, out->len > start ? "  " : "", row->buffer->id);
	for (uint32_t i = 0; i < row->range_count && i < RANGES_SHOWN; i++) {
		const struct tdm_core_range *r = &row->ranges[i];
		tdm_buf_printf(out, "%s(%u,%u)", i == 0 ? "  " : " ", r->x0, r->y0);
		if (r->x0 != r->x1 || r->y0 != r->y1)
			tdm_buf_printf(out, "-(%u,%u)", r->x1, r->y1);
	}
	if (row->range_count > RANGES_SHOWN)
		tdm_buf_printf(out, " and %" PRIu32 " more", row->range_count - RANGES_SHOWN);
}

/* [[x0, y0, x1, y1], …], or null. */
static void json_ranges(const struct tdm_field *field, struct tdm_json *json)
{
	const struct row *row = field->row;
	if (row->range_count == 0) {
		tdm_json_null(json);
		return;
	}
	tdm_json_array(json);
	for (uint32_t i = 0; i < row->range_count; i++) {
		const struct tdm_core_range *r = &row->ranges[i];
		const uint32_t corners[] = { r->x0, r->y0, r->x1, r->y1 };
		tdm_json_array(json);
		for (size_t k = 0; k < sizeof corners / sizeof *corners; k++)
			tdm_json_u64(json, corners[k]);
		tdm_json_array_end(json);
	}
	tdm_json_array_end(json);
}

#define ROW(member)    TDM_MEMBER(struct row, member)
#define BUFFER(member) TDM_VIA(struct row, buffer, struct tdm_buffer, member)
static const struct tdm_column columns[] = {
	{ "Device", "device", ROW(device), .text = put_device, .width = 6, .flags = TDM_WHOLE | TDM_OTHER_SIDE },
	{ NULL, "virtual", ROW(is_virtual) },
	{ "Kind", "kind", BUFFER(kind), .flags = TDM_IS_KIND, .width = 10 },
	{ NULL, "id", .get = get_id },
	{ "Address", "address", BUFFER(address), .format = tdm_format_hex, .width = 14, .flags = TDM_WHOLE },
	{ "Asked", "asked_bytes", BUFFER(asked_bytes), TDM_BYTES },
	{ "Reserved", "reserved_bytes", ROW(reserved), .text = put_reserved, TDM_BYTES },
	{ NULL, "occupied_bytes", ROW(occupied) },
	{ NULL, "bytes_per_bank", BUFFER(bank_bytes) },
	{ "Banks", "banks", ROW(banks), .width = 5, .flags = TDM_ZERO_IS_UNKNOWN | TDM_WHOLE },
	{ NULL, "page_bytes", BUFFER(page_size), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "cores", BUFFER(cores), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "core_ranges", .json = json_ranges },
	{ NULL, "view", ROW(is_view) },
	{ NULL, "shared", ROW(is_shared) },
	{ NULL, "adopted", ROW(is_adopted) },
	{ "Age", "age_ns", ROW(age_ns), .text = put_age, TDM_DURATION(TDM_DURATION_COLUMNS), .flags = TDM_WHOLE },
	{ "Thread", "thread", BUFFER(thread), .width = 8, .flags = TDM_ZERO_IS_UNKNOWN | TDM_WHOLE },
	{ "Stack", NULL, ROW(depth), .width = 5, .flags = TDM_ZERO_IS_UNKNOWN },
	{ "Program", "program", ROW(program), .width = 16, .before = 1, .flags = TDM_ZERO_IS_UNKNOWN },
	{ "Name", "name", ROW(name), .text = put_name, .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "stack_depth", ROW(depth) },
	TDM_LIVE_STACK(BUFFER(stack)),
};

enum { STACK_COLUMN = sizeof columns / sizeof *columns - 1 };

/* Says what was looked for: there may be others. */
static void put_none(const struct tdm_buffer_filter *filter, struct tdm_buf *out)
{
	tdm_buf_puts(out, "\n  no live buffers");
	if (filter->has_kind)
		tdm_buf_printf(out, " of kind %s", tdm_kind_name(filter->kind));
	if (filter->has_device)
		tdm_buf_printf(out, " on device %" PRIu32, filter->device);
	tdm_buf_putc(out, '\n');
}

static void put_buffers(
	const struct tdm_live_report *report, size_t process, struct tdm_buf *out, struct tdm_json *json)
{
	struct row row;
	struct buffers list = { .of = { report, NULL }, .row = &row };
	struct tdm_table table = { TDM_COLUMNS(columns), .row = row_of, .context = &list, .units = TDM_UNITS_ROW,
		.above = "\n", .indent = 2, .gap = 1, .limit = (size_t)report->limit,
		.hidden = (uint64_t)!report->stacks << STACK_COLUMN };
	list.refs = tdm_live_buffers(report->picture, process, &report->filter, report->sort, &table.count);
	if (table.count != 0 && (json == NULL || report->stacks))
		list.of.sym = tdm_stack_symbolizer(report->picture, process);
	out->failed |= list.refs == NULL;
	if (json != NULL) {
		size_t skip = (size_t)tdm_min(report->skip, table.count);
		tdm_json_put_u64(json, "buffer_count", table.count);
		list.first = skip;
		table.count -= skip;
		tdm_json_put_table(json, "buffers", &table);
		tdm_json_put_array(json, "findings");
		tdm_runtime_findings_json(report->picture, (uint32_t)process, report->stacks, json);
		tdm_json_array_end(json);
	} else {
		tdm_table_text(&table, &report->term, out);
		if (table.count == 0)
			put_none(&report->filter, out);
		tdm_runtime_findings_text(report, (uint32_t)process, TDM_FINDING_WARNING, out);
	}
	tdm_symbolizer_free(list.of.sym);
	free(list.refs);
}

void tdm_dump_text(const struct tdm_live_report *report, struct tdm_buf *out)
{
	size_t count = report->picture->process_count, problems = tdm_live_unread_count(report);
	if (report->map && count != 0)
		tdm_map_text(report, out);
	else
		tdm_live_text_processes(report, put_buffers, out);
	if (count != 0 && problems != 0)
		tdm_buf_putc(out, '\n');
	if (count == 0 && problems == 0)
		tdm_live_none(report, out);
	tdm_live_unread(report, out);
}

void tdm_dump_json(const struct tdm_live_report *report, struct tdm_json *json)
{
	tdm_json_object(json);
	tdm_json_put_name(json, "directory", report->dir);
	tdm_live_json_processes(report, put_buffers, json);
	if (report->map) {
		tdm_json_key(json, "map");
		tdm_map_json(report, json);
	}
	tdm_live_json_problems(report, json);
	tdm_json_object_end(json);
}
