#include "report/live_report.h"
#include "report/map_report.h"
#include "report/stack_report.h"

#include <stdlib.h>

/* [[x0, y0, x1, y1], …], or null. */
static void put_ranges(const struct tdm_picture *picture, uint32_t number, struct tdm_json *json)
{
	uint32_t count;
	const struct tdm_core_range *ranges = tdm_picture_ranges(picture, number, &count);
	tdm_json_key(json, "core_ranges");
	if (count == 0) {
		tdm_json_null(json);
		return;
	}
	tdm_json_array(json);
	for (uint32_t i = 0; i < count; i++) {
		tdm_json_array(json);
		tdm_json_u64(json, ranges[i].x0);
		tdm_json_u64(json, ranges[i].y0);
		tdm_json_u64(json, ranges[i].x1);
		tdm_json_u64(json, ranges[i].y1);
		tdm_json_array_end(json);
	}
	tdm_json_array_end(json);
}

static void put_buffer(const struct tdm_live_report *report, struct tdm_symbolizer *sym,
	const struct tdm_buffer_ref *ref, struct tdm_json *json)
{
	const struct tdm_buffer *buffer = ref->buffer;
	const struct tdm_picture *picture = report->picture;
	const struct tdm_holding *holding = &picture->holdings[ref->holding];
	bool is_view = (buffer->flags & TDM_EVENT_VIEW) != 0;
	bool has_age = buffer->born_ns != 0 && buffer->born_ns <= picture->time_ns;
	uint32_t depth;
	tdm_picture_stack(picture, buffer->stack, &depth);
	tdm_json_object(json);
	tdm_json_put_u64(json, "device", holding->number);
	tdm_json_put_bool(json, "virtual", picture->devices[holding->device].is_virtual);
	tdm_json_put_name(json, "kind", tdm_kind_name((enum tdm_kind)buffer->kind));
	tdm_json_put_u64(json, "id", buffer->id);
	tdm_json_put_known(json, "address", buffer->address != TDM_ADDRESS_UNKNOWN, buffer->address);
	tdm_json_put_u64(json, "asked_bytes", buffer->asked_bytes);
	tdm_json_put_u64(json, "reserved_bytes", tdm_buffer_reserved(buffer));
	tdm_json_put_u64(json, "occupied_bytes", tdm_buffer_occupied(buffer));
	tdm_json_put_known(json, "bytes_per_bank", buffer->bank_bytes != TDM_SIZE_UNKNOWN, buffer->bank_bytes);
	tdm_json_put_known(json, "banks", !is_view && buffer->banks != 0, buffer->banks);
	tdm_json_put_known(json, "page_bytes", buffer->page_size != 0, buffer->page_size);
	tdm_json_put_known(json, "cores", buffer->cores != 0, buffer->cores);
	put_ranges(picture, buffer->ranges, json);
	tdm_json_put_bool(json, "view", is_view);
	tdm_json_put_known(json, "age_ns", has_age, has_age ? picture->time_ns - buffer->born_ns : 0);
	tdm_json_put_known(json, "thread", buffer->thread != 0, buffer->thread);
	tdm_json_put_name(json, "program", tdm_picture_text(picture, buffer->program));
	tdm_json_put_name(json, "name", tdm_picture_text(picture, buffer->name));
	tdm_json_put_u64(json, "stack_depth", depth);
	if (report->stacks) {
		tdm_json_key(json, "stack");
		tdm_stack_json(picture, sym, buffer->stack, json);
	}
	tdm_json_object_end(json);
}

static void put_buffers(const struct tdm_live_report *report, size_t process, struct tdm_json *json)
{
	size_t count;
	struct tdm_buffer_ref *list = tdm_live_buffers(report->picture, process, &report->filter, report->sort, &count);
	size_t shown = report->limit != 0 && report->limit < count ? (size_t)report->limit : count;
	struct tdm_symbolizer *sym = report->stacks ? tdm_stack_symbolizer(report->picture, process) : NULL;
	json->out->failed |= list == NULL;
	tdm_json_put_u64(json, "buffer_count", count);
	tdm_json_put_array(json, "buffers");
	for (size_t i = 0; i < shown; i++) {
		put_buffer(report, sym, &list[i], json);
		tdm_buf_pass(json->out);
	}
	tdm_json_array_end(json);
	tdm_symbolizer_free(sym);
	free(list);
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
