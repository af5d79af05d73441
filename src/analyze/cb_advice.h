/*
 * Advice on the depths of circular buffers: the fewest bytes with which a pattern runs at nearly its best speed, found
 * by search on the model, and what fewer or more bytes would give.
 *
 * More pages never make a run slower, and more pages of a buffer whose producer never waited for room change nothing.
 * So each depth has a lower bound, with all others at their largest; from there the search looks at depths in the order
 * of their bytes, and deepens only buffers whose producers waited. The first that is fast enough is the smallest. If
 * there are too many to look at, it deepens the buffers that were waited for longest, and then shrinks each as far as
 * it goes. The work of the whole search is bounded, whatever the pattern: what it has no time for, it leaves as it is.
 */
#ifndef TDM_ANALYZE_CB_ADVICE_H
#define TDM_ANALYZE_CB_ADVICE_H

#include "analyze/cb_model.h"
#include "base/progress.h"

enum { TDM_ADVICE_POINTS_MAX = 48 };

/* Steps of the simulation that a search takes, about. */
#define TDM_ADVICE_WORK UINT64_C(300000000)

/* The share of the best throughput that is good enough. */
#define TDM_ADVICE_GOAL 0.99

struct tdm_advice_limits {
	uint64_t l1_bytes;             /* for all buffers together; TDM_BYTES_UNKNOWN: no limit */
	uint64_t align;                /* of the start of each buffer; 0: 1 */
	uint32_t pages;                /* of one buffer; 0: no limit */
	struct tdm_progress *progress; /* counts to TDM_ADVICE_WORK; NULL: none is shown */
};

/* Depths and what they give; the next point of a curve has more bytes and is faster. */
struct tdm_advice_point {
	const uint32_t *depths; /* borrowed from the advice */
	uint64_t bytes;
	double tiles_per_s;
};

/* Its lists are its own; advice of zeroes is empty. */
struct tdm_cb_advice {
	struct tdm_advice_point advised;
	double best_tiles_per_s; /* with as many pages as anybody can use */
	struct tdm_advice_point curve[TDM_ADVICE_POINTS_MAX];
	size_t point_count;
	uint32_t *depths; /* of all points */
	uint64_t tiles;   /* of the runs of the search, which may be shorter than the pattern's */
	size_t runs;
	bool is_smallest;   /* nothing smaller is as fast; else the search ended early */
	bool is_cut;        /* the search ended before it reached the goal: this is the best that it saw */
	bool is_limited;    /* L1 is too small for the goal: this is the best that fits */
	bool is_too_large;  /* not even the least depths fit; then only the curve's first point is set */
	bool is_too_long;   /* the run cannot be shortened enough for a search */
	bool is_deadlocked; /* whatever the depths are */
	char deadlock[512];
};

/* Whether there is one. */
static inline bool tdm_cb_advice_is_found(const struct tdm_cb_advice *advice)
{
	return !advice->is_deadlocked && !advice->is_too_large && !advice->is_too_long;
}

/* Bytes of all buffers of a pattern with these depths; NULL: its own. Saturates. */
uint64_t tdm_pattern_bytes(const struct tdm_cb_pattern *pattern, const uint32_t *depths, uint64_t align);

/* 0 or -ENOMEM. Depths that are fixed in the pattern stay as they are. *advice is overwritten; give it back with
 * tdm_cb_advice_done(). */
int tdm_cb_advise(const struct tdm_cb_pattern *pattern, const struct tdm_core_speed *speed,
	const struct tdm_advice_limits *limits, struct tdm_cb_advice *advice);
void tdm_cb_advice_done(struct tdm_cb_advice *advice);

#endif
