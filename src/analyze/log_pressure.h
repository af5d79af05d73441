/*
 * How tight a program's circular buffers are, from the profile of its log, as findings: some are observed, the others
 * only follow from sizes. Severity OK is the band LOW, WARNING is MEDIUM, BROKEN is HIGH; INFO: the indicator has no
 * band, or the log does not tell.
 */
#ifndef TDM_ANALYZE_LOG_PRESSURE_H
#define TDM_ANALYZE_LOG_PRESSURE_H

#include "analyze/finding.h"
#include "analyze/log_profile.h"

/* The indicators. Each has a figure of the name of the finding: a share from 0 to 1, of SCORE a number up to 100; not a
 * number: the log does not tell. */
enum tdm_pressure {
	TDM_PRESSURE_MISS,        /* B tiles that do not fit CB1 at once, of all; from sizes */
	TDM_PRESSURE_UTILIZATION, /* the fullest moment of each circular buffer, of its size, on average; observed */
	TDM_PRESSURE_STALLS,      /* reserves and waits that had to wait; observed */
	TDM_PRESSURE_L1,          /* circular buffers of a core, of the L1 that they may use; from sizes */
	TDM_PRESSURE_SCORE,       /* the largest of MISS, STALLS and L1, times 100 */
	TDM_PRESSURE_COUNT
};

enum tdm_severity tdm_pressure_band(enum tdm_pressure indicator, double value);

/* One finding for each indicator, in this order, from what has been added to the profile so far. */
void tdm_log_profile_pressure(const struct tdm_log_profile *profile, uint32_t file, struct tdm_findings *out);

#endif
