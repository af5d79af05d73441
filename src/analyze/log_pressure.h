/*
 * How tight a program's circular buffers are, from the profile of its log, as findings: some are observed, the others
 * only follow from sizes. Severity OK is the band LOW, WARNING is MEDIUM, BROKEN is HIGH; INFO: the indicator has no
 * band, or the log does not tell.
 */
#ifndef TDM_ANALYZE_LOG_PRESSURE_H
#define TDM_ANALYZE_LOG_PRESSURE_H

#include "analyze/finding.h"
#include "analyze/log_profile.h"

/* The indicators, each with a figure of its own name: shares from 0 to 1, the score from 0 to 100; not a number: the
 * log does not tell. id, name in JSON, name of its band in JSON (NULL: it has none), where MEDIUM begins and ends: a
 * negative limit is that of one that is good when it is high */
#define TDM_PRESSURE_LIST(X)                                                                                         \
	/* B tiles that do not fit CB1 at once, of all; from sizes. The flag b_tiles_assumed: the log names none, as \
	   many as A tiles were taken. */                                                                            \
	X(MISS, "cb1_miss_rate", "cb1_miss_band", 0.25, 0.75)                                                        \
	/* The fullest moment of each circular buffer, of its size, on average; observed. */                         \
	X(UTILIZATION, "cb_utilization", "cb_utilization_band", -0.8, -0.4)                                          \
	/* Reserves and waits that had to wait; observed. */                                                         \
	X(STALLS, "stall_share", NULL, 0, 0)                                                                         \
	/* Circular buffers of a core, of the L1 that they may use; from sizes. With cb_bytes_per_core. */           \
	X(L1, "l1_share", NULL, 0, 0)                                                                                \
	/* The largest of MISS, STALLS and L1, times 100. */                                                         \
	X(SCORE, "score", "thrashing_risk", 30, 70)

enum tdm_pressure {
#define X(id, name, band, from, to) TDM_PRESSURE_##id,
	TDM_PRESSURE_LIST(X)
#undef X
		TDM_PRESSURE_COUNT
};

enum tdm_severity tdm_pressure_band(enum tdm_pressure indicator, double value);

/* One finding for each indicator, in this order, from what has been added to the profile so far. */
void tdm_log_profile_pressure(const struct tdm_log_profile *profile, uint32_t file, struct tdm_findings *out);

#endif
