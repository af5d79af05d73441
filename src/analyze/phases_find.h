/* Training runs that do not fit, as findings. */
#ifndef TDM_ANALYZE_PHASES_FIND_H
#define TDM_ANALYZE_PHASES_FIND_H

#include "analyze/finding.h"
#include "analyze/phases.h"

/* Adds a finding if the peak of the run does not fit on its device. Where the size of the device is only assumed, it is
 * a warning. The run must outlive the finding. */
void tdm_phases_find(const struct tdm_phases *result, struct tdm_findings *found);

#endif
