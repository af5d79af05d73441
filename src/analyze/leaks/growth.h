/*
 * Detects growing memory. Memory is allocated and freed many times a second, so only the floor counts: the lowest use
 * in each time window. Steadily rising floors are the first sign of a leak. `tidemark leaks` uses them to judge sites;
 * the GROWTH column of `top` uses them for the memory of each process.
 */
#ifndef TDM_ANALYZE_GROWTH_H
#define TDM_ANALYZE_GROWTH_H

#include "base/map.h"
#include "live/join/picture.h"

/* ---- trends ---- */

enum { TDM_TREND_MAX = 16 };

/* A short series over time and its rise, measured by ranks and medians so that single outliers do not matter. Empty if
 * zeroed. */
struct tdm_rise {
	double value[TDM_TREND_MAX], at_s[TDM_TREND_MAX]; /* times in ascending order */
	size_t count;
	/* Set once the series is settled: */
	size_t rises;    /* number of values higher than the previous one */
	double z, grown; /* z: tdm_trend_z(); grown: the last value minus the first */
};

void tdm_rise_add(struct tdm_rise *trend, double at_s, double value);
void tdm_rise_settle(struct tdm_rise *trend);

/* Whether at least `least` values rise, and chance is an unlikely explanation. */
bool tdm_rise_is_sure(const struct tdm_rise *trend, size_t least);

/*
 * The Mann-Kendall test: the number of rises minus falls over all pairs of values, divided by the standard deviation
 * that this number would have in a series without a trend. Corrected for equal values. 0 for fewer than three values,
 * or if all are equal. `count` is at most TDM_TREND_MAX.
 */
double tdm_trend_z(const double *values, size_t count);

/* The Theil-Sen slope: the median of the slopes between all pairs of points. 0 for fewer than two points. */
double tdm_rise_slope(const struct tdm_rise *trend);

/*
 * ---- the growth of processes ----  How fast each process's memory grows on each of its devices. Memory is allocated
 * and freed many times a second, so only the lowest use in each TDM_GROWTH_SLOT_NS counts: the growth is the change of
 * these floors over the last minute, or over the last TDM_GROWTH_SLOTS pictures if pictures are taken less often.
 *
 * If the floors rise steadily, by the test that `tidemark leaks` uses, the process may be leaking. However, a program
 * loading a model looks the same; only `tidemark leaks`, which sees single buffers, can distinguish the two.
 */

enum { TDM_GROWTH_SLOTS = 13, TDM_GROWTH_LEAK_SLOTS = 10 /* with fewer slots, a leak is never suspected */ };
#define TDM_GROWTH_SLOT_NS (UINT64_C(5) * 1000000000)
#define TDM_GROWTH_UNKNOWN INT64_MIN

struct tdm_growth_item {
	uint64_t key;           /* identifies the process and the device */
	uint64_t lowest;        /* lowest use in the current slot */
	struct tdm_rise floors; /* floors of completed slots, oldest first */
	bool rises;             /* the floors rise steadily */
	int64_t per_minute;     /* bytes, or TDM_GROWTH_UNKNOWN */
};

/* Zeroed to begin with. */
struct tdm_growth {
	struct tdm_growth_item *items;
	size_t count, cap;
	struct tdm_map by_key;
	/* times of the first picture and of the start of the current slot; 0 before the first picture */
	uint64_t first_ns, begin_ns;
};

void tdm_growth_add(struct tdm_growth *growth, const struct tdm_picture *picture);
/* NULL if unknown. Borrowed until the next picture is added. */
const struct tdm_growth_item *tdm_growth_find(
	const struct tdm_growth *growth, const struct tdm_picture *picture, const struct tdm_holding *holding);
void tdm_growth_done(struct tdm_growth *growth);

#endif
