/* Buffers that a program had not released when it closed their device. */
#ifndef TDM_ANALYZE_LEFT_AT_CLOSE_H
#define TDM_ANALYZE_LEFT_AT_CLOSE_H

#include "analyze/finding.h"
#include "state/picture.h"

/* A finding "left_at_close" if a process left some, on all its devices together. */
void tdm_left_at_close_find(const struct tdm_picture *picture, uint32_t process, struct tdm_findings *findings);

#endif
