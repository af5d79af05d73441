/*
 * Advice on the depths of circular buffers: the fewest bytes with which a pattern runs at nearly its best speed, found
 * by search on the model, and the speed with fewer or more bytes.
 *
 * Adding pages never makes a run slower, and adding pages to a buffer whose producer never waited for space has no
 * effect. So each depth has a lower bound, which is found with all other depths at their maximum. From there, the
 * search examines depths in order of total bytes, and deepens only buffers whose producers waited. The first depths
 * that are fast enough are the smallest. If there are too many depths to examine, the search deepens the buffers with
 * the longest waits, then shrinks each as far as possible. The total work is bounded for every pattern; parts of the
 * search are skipped if no time is left for them.
 */
#ifndef TDM_ANALYZE_CB_ADVICE_H
#define TDM_ANALYZE_CB_ADVICE_H

#include "analyze/pressure/cb_model.h"
#include "base/term.h"

enum { TDM_ADVICE_POINTS_MAX = 48 };

/* The approximate number of simulation steps in a search. */
#define TDM_ADVICE_WORK UINT64_C(300000000)

/* The share of the best throughput that is good enough. */
#define TDM_ADVICE_GOAL 0.99

/* Depths and the resulting speed. On a curve, each point has more bytes and is faster than the previous point. */
struct tdm_advice_point {
	const uint32_t *depths; /* borrowed from the advice */
	uint64_t bytes;
	double tiles_per_s;
};

/* Advice owns its lists; it is empty if zeroed. */
struct tdm_cb_advice {
	/* Limits, set by the caller: */
	uint64_t l1_bytes;             /* limit for all buffers together; TDM_BYTES_UNKNOWN for no limit */
	uint64_t align;                /* alignment of the start of each buffer; 0 counts as 1 */
	uint32_t pages;                /* maximum pages of one buffer; 0 for no limit */
	struct tdm_progress *progress; /* counts up to TDM_ADVICE_WORK; NULL if no progress is shown */
	/* Results: */
	struct tdm_advice_point advised;
	double best_tiles_per_s; /* throughput with as many pages as the threads can use */
	struct tdm_advice_point curve[TDM_ADVICE_POINTS_MAX];
	size_t point_count;
	uint32_t *depths; /* depths at all points */
	uint64_t tiles;   /* tiles in each run of the search, which may be shorter than the pattern's run */
	size_t runs;
	bool is_smallest;   /* no smaller depths are as fast; false if the search ended early */
	bool is_cut;        /* the search ended before reaching the goal; `advised` is the best point seen */
	bool is_limited;    /* L1 is too small for the goal; `advised` is the best point that fits */
	bool is_too_large;  /* even the smallest depths do not fit; only the first point of the curve is set */
	bool is_too_long;   /* the run cannot be shortened enough for a search */
	bool is_deadlocked; /* the pattern deadlocks with any depths */
	char deadlock[512];
};

/* Whether there is advice. */
static inline bool tdm_cb_advice_is_found(const struct tdm_cb_advice *advice)
{
	return !advice->is_deadlocked && !advice->is_too_large && !advice->is_too_long;
}

/* Total bytes of a pattern's buffers with these depths, or with the pattern's own if NULL. Saturates. */
uint64_t tdm_pattern_bytes(const struct tdm_cb_pattern *pattern, const uint32_t *depths, uint64_t align);

/* Searches for advice. Depths fixed by the pattern stay unchanged. Overwrites all of *advice except the limits; release
 * it with tdm_cb_advice_done(). */
void tdm_cb_advise(
	const struct tdm_cb_pattern *pattern, const struct tdm_core_speed *speed, struct tdm_cb_advice *advice);
void tdm_cb_advice_done(struct tdm_cb_advice *advice);

#endif
