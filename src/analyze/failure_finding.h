/* The runtime's messages about failed allocations, as findings: `code` is the type of the failure, `what` its name. */
#ifndef TDM_ANALYZE_FAILURE_FINDING_H
#define TDM_ANALYZE_FAILURE_FINDING_H

#include "analyze/finding.h"
#include "event/failure.h"

/* From the figures in the message; unknown when they are missing. */
enum tdm_cause tdm_failure_cause(const struct tdm_failure *failure);

void tdm_failure_find(const struct tdm_failure *failure, struct tdm_findings *out);

#endif
