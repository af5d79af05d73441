/*
 * Events as server-sent events: the events of a picture in frames of at most TDM_SSE_FRAME_MAX bytes. A reader that
 * does not take its frames loses the new ones, and is told how many before the next that it gets.
 */
#ifndef TDM_DAEMON_SSE_H
#define TDM_DAEMON_SSE_H

#include "daemon/access.h"
#include "daemon/stream.h"
#include "state/picture.h"

enum { TDM_SSE_READERS_MAX = 32, TDM_SSE_FRAME_MAX = 65536, TDM_SSE_QUEUE_MAX = 524288 };

/* Which events a reader wants and may see. */
struct tdm_sse_filter {
	bool sees_all;
	uint32_t uid;   /* else only of this user's processes */
	int32_t pid;    /* 0: all */
	int64_t device; /* logical number in the process; -1: all */
	int kind;       /* enum tdm_kind; -1: all */
};

struct tdm_sse_reader;

struct tdm_sse {
	struct tdm_sse_reader *readers;
	size_t count;
	uint64_t frames, lost_frames, lost_events; /* in all */
	void (*changed)(struct tdm_sse *sse);      /* a reader has gone; may be NULL */
};

/* A stream for a new reader. `last`: the number of the last frame that it got on an earlier connection; NULL: it had
 * none. NULL: there are too many, or memory ran out. */
struct tdm_stream *tdm_sse_join(struct tdm_sse *sse, const struct tdm_sse_filter *filter, const uint64_t *last);

/* Gives the events of a picture to all readers. */
void tdm_sse_feed(struct tdm_sse *sse, const struct tdm_picture *picture);

/* Keeps connections alive, so that a reader that is gone is noticed. */
void tdm_sse_beat(struct tdm_sse *sse);

/* Ends all streams. */
void tdm_sse_end(struct tdm_sse *sse);

#endif
