/* Responses that are sent while they are produced: bounded queues of bytes, and streams of events. Each reader of
 * events has its own stream. The events that the reader requested and may see are put into frames, and whole frames
 * are put into its stream. If there is no room, the frame is lost, and the reader is later sent the number of lost
 * frames. */
#include "base/json.h"
#include "base/memory.h"
#include "base/number.h"
#include "daemon/http/http.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- streams ----------------------------------------------------------------------------------------------------- */

struct tdm_stream *tdm_stream_new(size_t cap, void *maker)
{
	struct tdm_stream *stream = tdm_zalloc(1, sizeof *stream);
	stream->cap = cap;
	stream->maker = maker;
	return stream;
}

void tdm_stream_free(struct tdm_stream *stream)
{
	if (stream->gone != NULL)
		stream->gone(stream);
	tdm_buf_done(&stream->queue);
	free(stream);
}

static void wake(struct tdm_stream *stream)
{
	if (stream->sleeps) {
		stream->sleeps = false;
		stream->wake(stream);
	}
}

bool tdm_stream_put(struct tdm_stream *stream, const char *data, size_t len)
{
	if (stream->is_over || len > tdm_stream_room(stream))
		return false;
	/* Moves the unread bytes to the front instead of growing. */
	if (stream->taken >= stream->queue.len - stream->taken) {
		size_t left = stream->queue.len - stream->taken;
		if (left != 0)
			memmove(stream->queue.data, stream->queue.data + stream->taken, left);
		stream->queue.len = left;
		stream->taken = 0;
	}
	tdm_buf_add(&stream->queue, data, len);
	wake(stream);
	return true;
}

void tdm_stream_end(struct tdm_stream *stream, bool is_cut)
{
	stream->is_over = true;
	stream->is_cut |= is_cut;
	wake(stream);
}

size_t tdm_stream_take(struct tdm_stream *stream, char *to, size_t max)
{
	size_t len = stream->queue.len - stream->taken;
	len = tdm_min(len, max);
	if (len == 0)
		return 0;
	memcpy(to, stream->queue.data + stream->taken, len);
	stream->taken += len;
	if (stream->has_room != NULL && !stream->is_over)
		stream->has_room(stream);
	return len;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

struct tdm_sse_reader {
	struct tdm_sse *sse;
	struct tdm_stream *stream;
	bool sees_all;
	uint32_t uid;    /* unless sees_all: the user whose processes the reader may see */
	int32_t pid;     /* 0 for all processes */
	int64_t device;  /* logical number in the process; -1 for all */
	int kind;        /* enum tdm_kind; -1 for all kinds */
	uint64_t number; /* number of the next frame */
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
	sse->changed(sse);
}

struct tdm_stream *tdm_sse_join(struct tdm_sse *sse, const struct tdm_request *request)
{
	static const char hello[] = "retry: 5000\n\n",
			  lost[] = "event: lost\ndata: {\"frames\": null, \"events\": null}\n\n";
	uint64_t last;
	if (sse->count == TDM_SSE_READERS_MAX)
		return NULL;
	struct tdm_sse_reader *reader = tdm_zalloc(1, sizeof *reader);
	struct tdm_stream *stream = tdm_stream_new(TDM_SSE_QUEUE_MAX, reader);
	*reader = (struct tdm_sse_reader){ .sse = sse,
		.stream = stream,
		.sees_all = request->right == TDM_RIGHT_ALL,
		.uid = request->uid,
		.pid = request->pid,
		.device = request->filter.has_device ? (int64_t)request->filter.device : -1,
		.kind = request->filter.has_kind ? (int)request->filter.kind : -1,
		.next = sse->readers };
	sse->readers = reader;
	sse->count++;
	stream->gone = leave;
	tdm_stream_put(stream, hello, sizeof hello - 1);
	if (request->last_event != NULL && tdm_str_parse_u64(tdm_str_of(request->last_event), &last) == 0) {
		/* The reader has reconnected; events lost in between were not counted. */
		tdm_stream_put(stream, lost, sizeof lost - 1);
		reader->number = tdm_plus(last, 1);
	}
	return stream;
}

/* The process of an event; NULL if the process is no longer listed. */
static const struct tdm_picture_process *process_of(const struct tdm_picture *picture, const struct tdm_event *event)
{
	for (size_t i = 0; i < picture->process_count; i++)
		if (picture->processes[i].handle == event->process)
			return &picture->processes[i];
	return NULL;
}

/* Lost events may be of any kind, and if their process is unknown, of any process. */
static bool is_taken(
	const struct tdm_sse_reader *reader, const struct tdm_event *event, const struct tdm_picture_process *process)
{
	bool has_kind = event->op == TDM_OP_ALLOC || event->op == TDM_OP_FREE || event->op == TDM_OP_OOM;
	if (event->op == TDM_OP_LOST && process == NULL && event->pid == 0)
		return true;
	if (!reader->sees_all && (process == NULL || process->uid != reader->uid))
		return false;
	if (reader->pid != 0 && (process != NULL ? process->pid : event->pid) != reader->pid)
		return false;
	if (reader->device >= 0 && (event->device & ~TDM_DEVICE_VIRTUAL_BIT) != reader->device)
		return false;
	return reader->kind < 0 || event->op == TDM_OP_LOST || (has_kind && event->kind == reader->kind);
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

/* Adds events starting at *at, as many as fit in the frame, and advances *at. Returns the number added. */
static size_t put_frame(
	const struct tdm_sse_reader *reader, const struct tdm_picture *picture, size_t *at, struct tdm_buf *frame)
{
	enum { TAIL = 64 };
	/* Only events about memory; the others only update the state. */
	static const uint32_t shown = 1u << TDM_OP_ALLOC | 1u << TDM_OP_FREE | 1u << TDM_OP_PHASE |
				      1u << TDM_OP_PROGRAM | 1u << TDM_OP_OOM | 1u << TDM_OP_LOST | 1u << TDM_OP_STEP;
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
		if ((shown >> event->op & 1) == 0 || !is_taken(reader, event, process))
			continue;
		struct tdm_json before = json;
		size_t len = frame->len;
		put_event(picture, event, process, &json);
		if (frame->len > TDM_SSE_FRAME_MAX - TAIL) {
			frame->len = len;
			json = before;
			*at += count == 0; /* this event is larger than a frame */
			break;
		}
		count++;
	}
	tdm_json_array_end(&json);
	tdm_json_object_end(&json); /* ends with a newline */
	tdm_buf_putc(frame, '\n');
	return count;
}

/* Reports a reader's losses once there is room in its stream again. */
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

void tdm_sse_feed(struct tdm_sse *sse, const struct tdm_picture *picture)
{
	struct tdm_buf frame = { 0 };
	for (struct tdm_sse_reader *reader = sse->readers; reader != NULL; reader = reader->next)
		for (size_t at = 0; at < picture->event_count;) {
			tdm_buf_clear(&frame);
			size_t count = put_frame(reader, picture, &at, &frame);
			if (count == 0)
				continue;
			reader->number++;
			if (tell_lost(reader) && tdm_stream_put(reader->stream, frame.data, frame.len)) {
				sse->frames++;
				continue;
			}
			reader->lost_frames++;
			reader->lost_events += count;
			sse->lost_frames++;
			sse->lost_events += count;
		}
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
