/* Feeds events of any source into a replay: the requests of one device, as the real allocator got them. Events that are
 * not requests, or cannot be replayed, are counted. */
#ifndef TDM_ANALYZE_REPLAY_FEED_H
#define TDM_ANALYZE_REPLAY_FEED_H

#include "analyze/replay.h"

/* id, key in JSON, name of one and of several */
#define TDM_LEFT_OUT_LIST(X)                                                                                          \
	X(PROGRAM, "program_memory", "circular buffer or the like", "circular buffers and the like")                  \
	X(OTHER_KINDS, "other_kinds", "buffer that is not in device memory", "buffers that are not in device memory") \
	X(OTHER_DEVICES, "other_devices", "request on another device", "requests on other devices")                   \
	X(UNKNOWN_FREES, "unknown_frees", "release of a buffer that was not seen",                                    \
		"releases of buffers that were not seen")                                                             \
	X(ERRORS, "errors", "out-of-memory error that it recorded", "out-of-memory errors that it recorded")

enum tdm_left_out {
#define X(id, key, one, many) TDM_LEFT_OUT_##id,
	TDM_LEFT_OUT_LIST(X)
#undef X
		TDM_LEFT_OUT_COUNT
};

struct tdm_replay_feed {
	struct tdm_replay *replay; /* set by the caller, like the next four */
	bool is_trace;             /* a text trace: all of it is replayed */
	bool is_own_card;          /* the card is the file's own, so its bytes per bank apply */
	bool has_device;           /* replay the requests of `device`; else those of the first device that appears */
	uint32_t device;
	uint32_t other_device; /* one of the others, when there are any */
	uint64_t assumed;      /* allocations with only a size: taken as interleaved, in pages of a tile */
	uint64_t left_out[TDM_LEFT_OUT_COUNT];
};

/* Applies one event, as tdm_replay_apply does. */
int tdm_replay_feed(
	struct tdm_replay_feed *feed, const struct tdm_event *event, struct tdm_buf *results, struct tdm_diag *diag);

#endif
