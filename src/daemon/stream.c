#include "daemon/stream.h"

#include <stdlib.h>

struct tdm_stream *tdm_stream_new(size_t cap, void *maker)
{
	struct tdm_stream *stream = calloc(1, sizeof *stream);
	if (stream != NULL) {
		tdm_buf_init(&stream->queue);
		stream->cap = cap;
		stream->maker = maker;
	}
	return stream;
}

void tdm_stream_free(struct tdm_stream *stream)
{
	if (stream == NULL)
		return;
	if (stream->gone != NULL)
		stream->gone(stream);
	tdm_buf_done(&stream->queue);
	free(stream);
}

static void wake(struct tdm_stream *stream)
{
	if (stream->sleeper != NULL)
		stream->wake(stream);
}

bool tdm_stream_put(struct tdm_stream *stream, const char *data, size_t len)
{
	if (stream->is_over || len > tdm_stream_room(stream))
		return false;
	/* The beginning is free: move the rest there instead of growing. */
	if (stream->taken >= stream->queue.len - stream->taken) {
		size_t left = stream->queue.len - stream->taken;
		if (left != 0)
			memmove(stream->queue.data, stream->queue.data + stream->taken, left);
		stream->queue.len = left;
		stream->taken = 0;
	}
	tdm_buf_add(&stream->queue, data, len);
	if (tdm_buf_failed(&stream->queue)) {
		tdm_stream_end(stream, true);
		return false;
	}
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
	len = len < max ? len : max;
	if (len == 0)
		return 0;
	memcpy(to, stream->queue.data + stream->taken, len);
	stream->taken += len;
	if (stream->has_room != NULL && !stream->is_over)
		stream->has_room(stream);
	return len;
}
