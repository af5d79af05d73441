/* Compares what was reported buffer by buffer with what the runtime's own allocator says about the same memory. */
#ifndef TDM_ANALYZE_STATISTICS_CHECK_H
#define TDM_ANALYZE_STATISTICS_CHECK_H

#include "analyze/finding.h"
#include "state/picture.h"

/* Adds findings about a process: one for each device and kind that differs or has differed ("statistics_differ",
 * "statistics_differed"), or one that says that all agree ("statistics_agree"). Nothing if the runtime said nothing. */
void tdm_statistics_check(const struct tdm_picture *picture, uint32_t process, struct tdm_findings *findings);

#endif
