/*
 * Replays events on the device model: every allocation is placed where the real allocator would place it. The result
 * shows whether the run fits, the first failure and its cause, the peaks, the fragmentation over time, and the buffers
 * at the edges of the largest holes.
 *
 * A replay has one space for each memory region: only one for a region trace; DRAM, L1, L1_SMALL and TRACE for a device
 * trace. A space's figures are per bank, because banks are in lockstep; multiply them by `banks` to get the device's
 * figures.
 */
#ifndef TDM_ANALYZE_REPLAY_H
#define TDM_ANALYZE_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/door/format.h"
#include "model/result/result.h"
#include "base/buf.h"
#include "base/diag.h"
#include "model/card/bank.h"
#include "model/card/card.h"
#include "model/alloc/freelist.h"
#include "model/event/event.h"
#include "model/event/live_set.h"

enum {
	TDM_REPLAY_SPACES = 4,   /* DRAM, L1, L1_SMALL, TRACE, in this order; a region trace has only the first */
	TDM_REPLAY_SAMPLES = 64, /* samples of each figure over time */
	TDM_REPLAY_HOLES = 5,    /* number of largest holes kept */
};

struct tdm_replay_sample {
	uint64_t op; /* number of the request */
	uint64_t allocated, free, largest_free;
};

struct tdm_replay_space {
	const char *name; /* "region", "dram", … */
	enum tdm_kind kind;
	struct tdm_bank_range range; /* size 0 if the region does not exist */
	uint64_t min_alloc;
	struct tdm_freelist *list; /* NULL if there is no such region */
	uint64_t allocs, frees, failures;
	uint64_t peak, peak_op, peak_line;             /* allocated bytes per bank */
	uint64_t peak_buffers;                         /* live buffers at the peak */
	uint64_t tightest, tightest_op, tightest_line; /* the smallest that the largest free block ever was */
	double worst_frag;                             /* highest value of 1 - largest / free */
	/* worst_frag was computed from these: free bytes, and free bytes outside the largest block */
	uint64_t worst_free, worst_outside;
	uint64_t worst_frag_op, worst_frag_line;
	struct tdm_replay_sample samples[TDM_REPLAY_SAMPLES];
	size_t sample_count;
	size_t first_failure;         /* index in the findings; valid only if failures != 0 */
	struct tdm_short_name failed; /* name of the first buffer that failed */
};

struct tdm_replay_options {
	/* card on which to replay a device trace; then, only l1_small and trace_region of the trace's overrides apply.
	 * NULL for the trace's own card */
	const char *card;
	const char *const *settings; /* "field=value" overrides, applied last; NULL-terminated; may be NULL */
	const char *card_file;       /* NULL if there is none */
	bool has_fit;                /* use `fit` instead of the trace's policy */
	enum tdm_fit fit;
};

struct tdm_replay {
	bool is_device;       /* false for a single region */
	struct tdm_card card; /* set for a device */
	enum tdm_fit fit;
	struct tdm_replay_space spaces[TDM_REPLAY_SPACES];
	size_t space_count;  /* 0 until the trace describes the memory */
	uint64_t ops;        /* number of requests applied */
	uint64_t live_count; /* number of buffers placed and not freed */
	/* the first failure in each space, in request order; `code` is an enum tdm_cause */
	struct tdm_findings findings;
	/* The rest is private to replay.c. */
	struct tdm_replay_options options;
	uint64_t stride; /* requests between two samples */
	struct tdm_live_set set;
	struct tdm_replay_live *live; /* live buffers by slot */
	size_t live_cap;
};

struct tdm_replay *tdm_replay_new(const struct tdm_replay_options *options); /* may be NULL */
void tdm_replay_free(struct tdm_replay *replay);                             /* accepts NULL */

/*
 * Applies one event. Appends result lines, which docs/formats/trace.md describes, to `results` (may be NULL). 0, or a
 * negative code with diag set when the event is refused; a failed allocation is a result, not an error. After an error,
 * the next event may be applied.
 */
int tdm_replay_apply(
	struct tdm_replay *replay, const struct tdm_event *event, struct tdm_buf *results, struct tdm_diag *diag);

const struct tdm_card *tdm_replay_card(const struct tdm_replay *replay); /* NULL for a region trace */

/* The largest holes currently in a space, largest first. Returns their number. */
size_t tdm_replay_holes(const struct tdm_replay *replay, size_t space, struct tdm_hole holes[TDM_REPLAY_HOLES]);

/* 1 - largest / free; 0 if nothing is free. */
double tdm_replay_frag(uint64_t free, uint64_t largest);

/* Reasons for leaving out events: id, key in JSON, singular and plural names */
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

/* Feeds events from any source into a replay: the requests on one device, as the real allocator received them. Counts
 * events that are not requests or cannot be replayed. */
struct tdm_replay_feed {
	struct tdm_replay *replay; /* set by the caller, as are the next six members */
	struct tdm_buf *results;   /* as for tdm_replay_apply() */
	bool *stop;                /* set to true when there is no memory to replay on; may be NULL */
	bool is_trace;             /* the file is a text trace, which is replayed completely */
	bool is_own_card;          /* the card is the file's own, so the file's bytes per bank apply */
	bool has_device;           /* replay `device`; false: the first device that appears */
	uint32_t device;
	uint32_t other_device; /* number of one of the other devices, if any */
	/* allocations of which only the size is known; assumed to be interleaved, in pages of one tile */
	uint64_t assumed;
	uint64_t left_out[TDM_LEFT_OUT_COUNT];
};

/* Applies one event, as tdm_replay_apply() does; for struct tdm_intake. */
int tdm_replay_take(void *feed, const struct tdm_event *event, struct tdm_diag *diag);

/* The unit of a position in files of this format: "line" or "byte". */
const char *tdm_replay_place(const struct tdm_format *format);

/* Adds the result to a group, moving the replay's findings there. The replay must live as long as the group. Defined in
 * replay_result.c. */
void tdm_replay_show(struct tdm_block *in, const struct tdm_replay_feed *feed, const struct tdm_intake *reading);

#endif
