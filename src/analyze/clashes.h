/* Findings about programs that were refused because their circular buffers grew into L1 buffers. */
#ifndef TDM_ANALYZE_CLASHES_H
#define TDM_ANALYZE_CLASHES_H

#include "analyze/finding.h"
#include "state/picture.h"

/* Adds a finding ("clash") for each device of the process on which it happened, about the last time. It needs the
 * events of the picture. */
void tdm_clashes_find(const struct tdm_picture *picture, uint32_t process, struct tdm_findings *findings);

#endif
