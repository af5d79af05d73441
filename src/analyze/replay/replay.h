/*
 * Replays events on the device model: every allocation is placed where the real allocator would place it. The result
 * shows whether the run fits, the first failure and its cause, the peaks, the fragmentation over time, and the buffers
 * at the edges of the largest holes.
 *
 * A replay has one space for each memory region: only one for a region trace; DRAM, L1, L1_SMALL and TRACE for a device
 * trace. A space's figures are per bank, because banks are in lockstep; multiply them by `banks` to get the device's
 * figures. In the runtime's hybrid allocator mode, the L1 space has the lockstep buffers of the mesh; `mesh` and
 * `per_core` have the rest, which the runtime's statistics leave out too.
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
#include "model/alloc/mesh_l1.h"
#include "model/event/event.h"
#include "model/event/live_set.h"

enum {
	TDM_REPLAY_SPACES = 4,   /* DRAM, L1, L1_SMALL, TRACE, in this order; a region trace has only the first */
	TDM_REPLAY_SAMPLES = 64, /* samples of each figure over time */
	TDM_REPLAY_HOLES = 5,    /* number of largest holes kept */
	TDM_REPLAY_MESSAGE_CAP = 640,
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

/* Per-core buffers, whose bytes are in no space. */
struct tdm_replay_per_core {
	uint64_t allocs;
	uint64_t peak; /* per-core bytes on the fullest core */
	uint32_t peak_device;
	uint16_t peak_x, peak_y;
	uint64_t peak_line;
	uint64_t leaks, leaked; /* buffers that failed half way, and the bytes that they left allocated, on all cores */
	uint64_t leak_line;     /* of the first one */
	struct tdm_short_name leaker;
	bool is_found; /* the findings have it */
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
	uint32_t devices;         /* chips of the mesh, all alike */
	bool is_hybrid;           /* the runtime's hybrid allocator mode */
	uint32_t grid_x, grid_y;  /* compute grid of a device; 0 unless each of its cores is an L1 bank */
	struct tdm_mesh_l1 *mesh; /* NULL unless hybrid */
	struct tdm_replay_per_core per_core;
	/* what the runtime prints for the last allocation that failed; empty if that is unknown */
	char message[TDM_REPLAY_MESSAGE_CAP];
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

/*
 * ---- shared by the files of this folder ----
 *
 * replay_mesh.c has requests that the runtime refuses, and the L1 of a mesh in the runtime's hybrid allocator mode:
 * lockstep buffers, buffers of one device, and per-core buffers.
 */

/* The block of a per-core buffer on one core. */
struct tdm_replay_block {
	uint32_t device;
	uint16_t x, y;
	uint64_t address;
};

/* A buffer in the trace that has not been freed. */
struct tdm_replay_live {
	uint64_t address;
	uint8_t space;
	bool placed; /* false if the allocation failed, if the buffer occupies no bytes, or if the slot is spare */
	bool failed;
	uint32_t device;                 /* TDM_MESH_WHOLE, or the bare device that it is on */
	struct tdm_replay_block *blocks; /* of a per-core buffer, device by device; NULL for any other */
	size_t block_count;
	struct tdm_short_name name;
};

/* An allocation, from the point of view of one bank or core. If it fails, also how. */
struct tdm_replay_request {
	uint64_t bytes_per_bank, aligned_size;
	uint64_t block_bytes; /* what the allocator is asked for in one bank */
	enum tdm_grow grow;
	bool empty; /* a buffer of 0 bytes, to which the runtime assigns address 0 without allocating anything */
	bool per_core;
	enum tdm_cause cause;            /* UNKNOWN: there was no room */
	struct tdm_freelist_stats stats; /* of the list that failed */
	uint64_t address;                /* WRAPPED, UNSEEN: the address that the runtime computed */
	uint32_t device;                 /* UNSEEN, and per-core buffers: where it failed */
	uint16_t x, y;                   /* per-core buffers: on which core */
	uint64_t leaked;                 /* bytes that stay allocated because of the failure */
};

/* Applies the field "mode=", "devices=" or "grid=" of a device line; 1 if the word is another field. `unused`: the
 * field describes the card of the recording, and another one is used. */
int tdm_replay_mesh_field(struct tdm_replay *replay, struct tdm_str word, bool unused, struct tdm_diag *diag);

/* Prepares the L1 space for the hybrid mode, if the trace asks for it; and creates its lists. */
int tdm_replay_mesh_check(struct tdm_replay *replay, struct tdm_diag *diag);
int tdm_replay_mesh_new(struct tdm_replay *replay, const struct tdm_freelist_config *config);

/* Whether the runtime refuses the buffer before it asks the allocator; the replay's message then says why. */
bool tdm_replay_refuses(struct tdm_replay *replay, const struct tdm_replay_space *space, const struct tdm_event *event);

/* Places a buffer in the L1 of a hybrid mesh. 0, or an error with the request's last members set. */
int tdm_replay_mesh_alloc(struct tdm_replay *replay, const struct tdm_event *event, struct tdm_replay_request *request,
	struct tdm_replay_live *live);
void tdm_replay_mesh_release(struct tdm_replay *replay, struct tdm_replay_live *live);

/* Result lines: the addresses of a per-core buffer, and the statistics of every device and core. */
void tdm_replay_mesh_put(
	const struct tdm_replay_live *live, struct tdm_str name, uint64_t bytes, struct tdm_buf *results);
void tdm_replay_mesh_query(const struct tdm_replay *replay, struct tdm_buf *results);

/* Sets the replay's message to what the runtime prints for this failure. */
void tdm_replay_say(struct tdm_replay *replay, const struct tdm_replay_space *space, const struct tdm_event *event,
	const struct tdm_replay_request *request);

/* Adds the finding about bytes that per-core buffers left behind when they failed half way; once, at the end. */
void tdm_replay_mesh_find(struct tdm_replay *replay);

#endif
