/* Everything that is worth saying about how a program used its devices, besides leaks. */
#ifndef TDM_ANALYZE_RUN_FINDINGS_H
#define TDM_ANALYZE_RUN_FINDINGS_H

#include "analyze/finding.h"
#include "state/picture.h"

/* The findings about a process, the worst first: trace_hazards.h, clashes.h, left_at_close.h, statistics_check.h.
 * Nothing may be added afterwards. */
void tdm_run_findings(const struct tdm_picture *picture, uint32_t process, struct tdm_findings *findings);

/* A number that differs when tdm_run_findings() may say something else. It costs next to nothing. */
uint64_t tdm_run_findings_version(const struct tdm_picture *picture, const struct tdm_picture_process *process);

#endif
