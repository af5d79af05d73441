/*
 * Replays events on the device model: every allocation is placed where the real allocator would place it. Tells whether
 * the run fits, the first failure and its cause, the peaks, the fragmentation over time, and which buffers bound the
 * largest holes.
 *
 * A replay has one space for each memory region: a single one for a trace of a region; DRAM, L1, L1_SMALL and TRACE for
 * a trace of a device. Figures of a space are per bank, because banks are in lockstep; multiply by `banks` for the
 * device.
 */
#ifndef TDM_ANALYZE_REPLAY_H
#define TDM_ANALYZE_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/finding.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/map.h"
#include "device/bank.h"
#include "device/card.h"
#include "device/freelist.h"
#include "event/event.h"

enum {
	TDM_REPLAY_SPACES = 4,   /* DRAM, L1, L1_SMALL, TRACE, in this order; a region trace has the first only */
	TDM_REPLAY_SAMPLES = 64, /* points of the series over time */
	TDM_REPLAY_HOLES = 5,    /* largest holes kept */
};

struct tdm_replay_sample {
	uint64_t op; /* number of the request */
	uint64_t allocated, free, largest_free;
};

struct tdm_replay_space {
	const char *name; /* "region", "dram", … */
	enum tdm_kind kind;
	struct tdm_bank_range range;
	struct tdm_freelist *list; /* NULL: no such region */
	uint64_t allocs, frees, failures;
	uint64_t peak, peak_op, peak_line;             /* allocated bytes per bank */
	uint64_t peak_buffers;                         /* live at that moment */
	uint64_t tightest, tightest_op, tightest_line; /* the smallest largest free block */
	double worst_frag;                             /* highest 1 - largest / free */
	uint64_t worst_free,
		worst_outside; /* what worst_frag was computed from: free bytes, and those outside the largest block */
	uint64_t worst_frag_op, worst_frag_line;
	struct tdm_replay_sample samples[TDM_REPLAY_SAMPLES];
	size_t sample_count;
	size_t first_failure;         /* among the findings; valid when failures != 0 */
	struct tdm_short_name failed; /* the name of the buffer */
};

struct tdm_replay_options {
	const char *card; /* replay a device trace on this card instead of its own; then only l1_small and trace_region
			     of the trace's overrides apply; NULL: its own */
	const char *const *settings; /* "field=value" overrides, applied last; NULL-terminated; may be NULL */
	const char *card_file;       /* NULL: none */
	bool has_fit;                /* use `fit` instead of the trace's policy */
	enum tdm_fit fit;
};

/* The memory that the first line of a trace describes. */
struct tdm_replay_setup {
	bool is_device;
	struct tdm_card card; /* of a device */
	enum tdm_fit fit;
	struct tdm_bank_range range[TDM_REPLAY_SPACES]; /* size 0: the region does not exist */
	uint64_t min_alloc[TDM_REPLAY_SPACES];
};

struct tdm_replay {
	struct tdm_replay_setup setup;
	struct tdm_replay_space spaces[TDM_REPLAY_SPACES];
	size_t space_count;           /* 0: the trace described nothing */
	uint64_t ops;                 /* requests applied */
	uint64_t live_count;          /* buffers placed and not freed */
	struct tdm_findings findings; /* the first failure of each space, in the order of the requests; `code` is an
					 enum tdm_cause */
	/* The rest is for replay.c. */
	struct tdm_replay_options options;
	uint64_t stride;      /* requests between two samples */
	struct tdm_map by_id; /* id -> index into live */
	struct tdm_replay_live *live;
	size_t live_cap;
	uint32_t live_used, spare; /* spare: chain of unused entries through `id`, TDM_MAP_NONE at its end */
};

struct tdm_replay *tdm_replay_new(const struct tdm_replay_options *options); /* NULL only when out of memory */
void tdm_replay_free(struct tdm_replay *replay);                             /* NULL is allowed */

/*
 * Applies one event. Result lines, as docs/formats/trace.md describes them, are appended to `results` (may be NULL). 0,
 * or a negative code with diag set when the event is refused; a failed allocation is a result, not an error. After an
 * error the next event may be applied.
 */
int tdm_replay_apply(
	struct tdm_replay *replay, const struct tdm_event *event, struct tdm_buf *results, struct tdm_diag *diag);

const struct tdm_card *tdm_replay_card(const struct tdm_replay *replay); /* NULL for a region trace */
bool tdm_replay_has(
	const struct tdm_replay *replay, uint64_t id); /* whether the buffer exists and was not freed, placed or not */

/* The current largest holes of a space, largest first. Returns how many. */
size_t tdm_replay_holes(const struct tdm_replay *replay, size_t space, struct tdm_hole holes[TDM_REPLAY_HOLES]);

/* 1 - largest / free; 0 when nothing is free. */
double tdm_replay_frag(uint64_t free, uint64_t largest);

#endif
