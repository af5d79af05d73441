/*
 * Indicators of how tight a program's circular buffers are, from the profile of its log, as findings: some are
 * observed, others computed from sizes. Severity OK is the band LOW, WARNING is MEDIUM, BROKEN is HIGH; INFO: the
 * indicator has no band, or the log lacks its figures.
 */
#ifndef TDM_ANALYZE_LOG_PRESSURE_H
#define TDM_ANALYZE_LOG_PRESSURE_H

#include "analyze/finding.h"
#include "analyze/log_profile.h"

/* The indicators. Each finding has a figure with its own name: a share from 0 to 1, for SCORE a number up to 100; NAN:
 * the log does not say. */
enum tdm_pressure {
	TDM_PRESSURE_MISS,        /* share of the B tiles that do not fit CB1 at once; from sizes */
	TDM_PRESSURE_UTILIZATION, /* how full each circular buffer was at its fullest, on average; observed */
	TDM_PRESSURE_STALLS,      /* share of reserves and waits that had to wait; observed */
	TDM_PRESSURE_L1,          /* share of the usable L1 of a core that circular buffers take; from sizes */
	TDM_PRESSURE_SCORE,       /* the largest of MISS, STALLS and L1, times 100 */
	TDM_PRESSURE_COUNT
};

enum tdm_severity tdm_pressure_band(enum tdm_pressure indicator, double value);

/* One finding for each indicator, in this order, from what has been added to the profile so far. */
void tdm_log_profile_pressure(const struct tdm_log_profile *profile, uint32_t file, struct tdm_findings *out);

#endif
