/*
 * A response that is made while it is sent: a bounded queue of bytes between a maker and a connection. The maker puts
 * bytes and ends the stream; the connection takes them, and sleeps while there are none.
 */
#ifndef TDM_DAEMON_STREAM_H
#define TDM_DAEMON_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct tdm_stream {
	struct tdm_buf queue;
	size_t taken; /* bytes at the beginning of the queue that are gone */
	size_t cap;
	bool is_over;  /* nothing more comes */
	bool is_cut;   /* it ends early: the reader must see that it is not whole */
	void *sleeper; /* the connection while it sleeps; NULL: it is awake */
	void (*wake)(struct tdm_stream *stream);
	/* The maker's: */
	void *maker;
	void (*has_room)(struct tdm_stream *stream); /* bytes were taken; may be NULL */
	void (*gone)(struct tdm_stream *stream);     /* the connection is closed: the stream is freed afterwards */
};

/* NULL when out of memory. It lives until its connection is closed. */
struct tdm_stream *tdm_stream_new(size_t cap, void *maker);
void tdm_stream_free(struct tdm_stream *stream); /* calls gone() first; NULL is allowed */

static inline size_t tdm_stream_room(const struct tdm_stream *stream)
{
	size_t waiting = stream->queue.len - stream->taken;
	return waiting < stream->cap ? stream->cap - waiting : 0;
}

/* Whether it was taken: all or nothing. */
bool tdm_stream_put(struct tdm_stream *stream, const char *data, size_t len);
void tdm_stream_end(struct tdm_stream *stream, bool is_cut);

/* Takes up to `max` bytes. How many; 0: none are there now. */
size_t tdm_stream_take(struct tdm_stream *stream, char *to, size_t max);

#endif
