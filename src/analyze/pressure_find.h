/* What is to be said about the strategies of a workload, or of one workload in several sizes. */
#ifndef TDM_ANALYZE_PRESSURE_FIND_H
#define TDM_ANALYZE_PRESSURE_FIND_H

#include "analyze/finding.h"
#include "analyze/pressure.h"

/*
 * Adds for each strategy: an error if its buffers deadlock or do not fit; a warning for the first result, in the order
 * given, in which its thrashing risk is HIGH, or else a note where it is MEDIUM. The score is a heuristic about sizes,
 * so each says what share of the best throughput the model gives. What is advised is a note. The results must outlive
 * the findings.
 */
void tdm_pressure_find(const struct tdm_pressure_result *results, size_t count, struct tdm_findings *found);

#endif
