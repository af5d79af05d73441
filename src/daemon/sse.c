#include "daemon/sse.h"
#include "base/json.h"
#include "base/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct tdm_sse_reader {
	struct tdm_sse *sse;
	struct tdm_stream *stream;
	struct tdm_sse_filter filter;
	uint64_t number; /* of the next frame */
	uint64_t lost_frames, lost_events;
	struct tdm_sse_reader *next;
};

static void leave(struct tdm_stream *stream)
{
	struct tdm_sse_reader *reader = stream->maker, **at = &reader->sse->readers;
	struct tdm_sse *sse = reader->sse;
	while (*at != reader)
		at = &(*at)->next;
	*at = reader->next;
	sse->count--;
	free(reader);
	if (sse->changed != NULL)
		sse->changed(sse);
}

struct tdm_stream *tdm_sse_join(struct tdm_sse *sse, const struct tdm_sse_filter *filter, const uint64_t *last)
{
	struct tdm_sse_reader *reader = sse->count < TDM_SSE_READERS_MAX ? calloc(1, sizeof *reader) : NULL;
	struct tdm_stream *stream = reader != NULL ? tdm_stream_new(TDM_SSE_QUEUE_MAX, reader) : NULL;
	if (stream == NULL) {
		free(reader);
		return NULL;
	}
	*reader = (struct tdm_sse_reader){ .sse = sse, .stream = stream, .filter = *filter, .next = sse->readers };
	sse->readers = reader;
	sse->count++;
	stream->gone = leave;
	static const char hello[] = "retry: 5000\n\n";
	tdm_stream_put(stream, hello, sizeof hello - 1);
	if (last != NULL) {
		/* Nobody counted what happened while it was away. */
		static const char lost[] = "event: lost\ndata: {\"frames\": null, \"events\": null}\n\n";
		tdm_stream_put(stream, lost, sizeof lost - 1);
		reader->number = tdm_plus(*last, 1);
	}
	return stream;
}

/* The process of an event; NULL: it is no longer listed. */
static const struct tdm_picture_process *process_of(const struct tdm_picture *picture, const struct tdm_event *event)
{
	for (size_t i = 0; i < picture->process_count; i++)
		if (picture->processes[i].handle == event->process)
			return &picture->processes[i];
	return NULL;
}

/* Missing events may be of any kind, and if nobody knows of which process, of any process. */
static bool is_taken(
	const struct tdm_sse_filter *filter, const struct tdm_event *event, const struct tdm_picture_process *process)
{
	bool has_kind = event->op == TDM_OP_ALLOC || event->op == TDM_OP_FREE || event->op == TDM_OP_OOM;
	if (event->op == TDM_OP_LOST && process == NULL && event->pid == 0)
		return true;
	if (!filter->sees_all && (process == NULL || process->uid != filter->uid))
		return false;
	if (filter->pid != 0 && (process != NULL ? process->pid : event->pid) != filter->pid)
		return false;
	if (filter->device >= 0 && (event->device & ~TDM_DEVICE_VIRTUAL_BIT) != filter->device)
		return false;
	return filter->kind < 0 || event->op == TDM_OP_LOST || (has_kind && event->kind == filter->kind);
}

/* Those that say something about memory; the others are for the state. */
static bool is_shown(const struct tdm_event *event)
{
	return event->op == TDM_OP_ALLOC || event->op == TDM_OP_FREE || event->op == TDM_OP_PHASE ||
	       event->op == TDM_OP_PROGRAM || event->op == TDM_OP_OOM || event->op == TDM_OP_LOST ||
	       event->op == TDM_OP_STEP;
}

static void put_event(const struct tdm_picture *picture, const struct tdm_event *event,
	const struct tdm_picture_process *process, struct tdm_json *json)
{
	bool is_buffer = event->op == TDM_OP_ALLOC || event->op == TDM_OP_FREE;
	bool has_time = event->time_ns != 0 && event->time_ns <= picture->time_ns;
	int32_t pid = process != NULL ? process->pid : event->pid;
	tdm_json_object(json);
	tdm_json_put_text(json, "event", tdm_op_name((enum tdm_op)event->op));
	tdm_json_put_known(
		json, "time_ns", has_time, has_time ? picture->real_ns - (picture->time_ns - event->time_ns) : 0);
	tdm_json_put_known(json, "pid", pid > 0, (uint64_t)pid);
	tdm_json_put_u64(json, "device", event->device & ~TDM_DEVICE_VIRTUAL_BIT);
	if (is_buffer || event->op == TDM_OP_OOM) {
		tdm_json_put_text(json, "kind", tdm_kind_name((enum tdm_kind)event->kind));
		tdm_json_put_bytes(json, "asked_bytes", event->size);
	}
	if (is_buffer) {
		tdm_json_put_u64(json, "id", event->id);
		tdm_json_put_known(json, "address", event->address != TDM_ADDRESS_UNKNOWN, event->address);
		tdm_json_put_bytes(json, "reserved_bytes", tdm_times(event->bytes_per_bank, event->banks));
		tdm_json_put_bool(json, "fault", (event->flags & TDM_EVENT_FAULT) != 0);
	}
	if (event->op == TDM_OP_OOM) {
		tdm_json_put_bool(json, "clash", (event->flags & TDM_EVENT_CLASH) != 0);
		tdm_json_put_bool(json, "beyond_l1", (event->flags & TDM_EVENT_BEYOND) != 0);
	}
	if (event->op == TDM_OP_STEP) {
		tdm_json_put_text(json, "step", tdm_step_name(event->size));
		tdm_json_put_known(json, "trace", event->size >= TDM_STEP_TRACE_BEGAN, event->id);
	}
	if (event->op == TDM_OP_LOST)
		tdm_json_put_u64(json, "count", event->size);
	if (event->op != TDM_OP_LOST)
		tdm_json_put_str(json, "name", event->name);
	if (is_buffer)
		tdm_json_put_str(json, "program", event->program);
	tdm_json_object_end(json);
}

/* As many events as a frame takes, from *at on, which is moved. Returns how many. */
static size_t put_frame(
	const struct tdm_sse_reader *reader, const struct tdm_picture *picture, size_t *at, struct tdm_buf *frame)
{
	enum { TAIL = 64 };
	struct tdm_json json;
	size_t count = 0;
	tdm_buf_printf(frame, "id: %" PRIu64 "\nevent: events\ndata: ", reader->number);
	tdm_json_init(&json, frame);
	json.compact = true;
	tdm_json_object(&json);
	tdm_json_put_known(&json, "taken_ns", picture->real_ns != 0, picture->real_ns);
	tdm_json_put_array(&json, "events");
	for (; *at < picture->event_count; ++*at) {
		const struct tdm_event *event = &picture->events[*at];
		const struct tdm_picture_process *process = process_of(picture, event);
		if (!is_shown(event) || !is_taken(&reader->filter, event, process))
			continue;
		struct tdm_json before = json;
		size_t len = frame->len;
		put_event(picture, event, process, &json);
		if (frame->len > TDM_SSE_FRAME_MAX - TAIL) {
			frame->len = len;
			json = before;
			*at += count == 0; /* it is larger than a frame */
			break;
		}
		count++;
	}
	tdm_json_array_end(&json);
	tdm_json_object_end(&json); /* ends with a newline */
	tdm_buf_putc(frame, '\n');
	return count;
}

/* Tells a reader what it has lost, once there is room again. */
static bool tell_lost(struct tdm_sse_reader *reader)
{
	char text[160];
	if (reader->lost_frames == 0)
		return true;
	int len =
		snprintf(text, sizeof text, "event: lost\ndata: {\"frames\": %" PRIu64 ", \"events\": %" PRIu64 "}\n\n",
			reader->lost_frames, reader->lost_events);
	if (!tdm_stream_put(reader->stream, text, (size_t)len))
		return false;
	reader->lost_frames = reader->lost_events = 0;
	return true;
}

static void feed(struct tdm_sse_reader *reader, const struct tdm_picture *picture, struct tdm_buf *frame)
{
	struct tdm_sse *sse = reader->sse;
	for (size_t at = 0; at < picture->event_count;) {
		tdm_buf_clear(frame);
		size_t count = put_frame(reader, picture, &at, frame);
		if (count == 0)
			continue;
		reader->number++;
		if (!tdm_buf_failed(frame) && tell_lost(reader) &&
			tdm_stream_put(reader->stream, frame->data, frame->len)) {
			sse->frames++;
			continue;
		}
		reader->lost_frames++;
		reader->lost_events += count;
		sse->lost_frames++;
		sse->lost_events += count;
	}
}

void tdm_sse_feed(struct tdm_sse *sse, const struct tdm_picture *picture)
{
	struct tdm_buf frame;
	tdm_buf_init(&frame);
	for (struct tdm_sse_reader *reader = sse->readers; reader != NULL; reader = reader->next)
		feed(reader, picture, &frame);
	tdm_buf_done(&frame);
}

void tdm_sse_beat(struct tdm_sse *sse)
{
	for (struct tdm_sse_reader *reader = sse->readers; reader != NULL; reader = reader->next)
		if (tell_lost(reader))
			tdm_stream_put(reader->stream, ":\n\n", 3);
}

void tdm_sse_end(struct tdm_sse *sse)
{
	for (struct tdm_sse_reader *reader = sse->readers; reader != NULL; reader = reader->next)
		tdm_stream_end(reader->stream, false);
}
