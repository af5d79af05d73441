/* Findings about programs that were refused because their circular buffers grew into L1 buffers or beyond L1. */
#ifndef TDM_ANALYZE_CLASHES_H
#define TDM_ANALYZE_CLASHES_H

#include "analyze/finding.h"
#include "state/picture.h"

/* Adds findings about a process: "clash" and "beyond_l1", for the devices on which the same happened, about the last
 * time. */
void tdm_clashes_find(const struct tdm_picture *picture, uint32_t process, struct tdm_findings *findings);

#endif
