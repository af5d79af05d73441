/*
 * Indicators of how tight a program's circular buffers are, from the profile of its log, as findings: some are
 * observed, others computed from sizes. Severity OK is the band LOW, WARNING is MEDIUM, BROKEN is HIGH; INFO: the
 * indicator has no band, or the log lacks its figures.
 */
#ifndef TDM_ANALYZE_LOG_PRESSURE_H
#define TDM_ANALYZE_LOG_PRESSURE_H

#include "analyze/finding.h"
#include "analyze/log_profile.h"
#include "analyze/pressure_metric.h"

/* One finding for each indicator, in this order, from what has been added to the profile so far. */
void tdm_log_profile_pressure(const struct tdm_log_profile *profile, uint32_t file, struct tdm_findings *out);

#endif
