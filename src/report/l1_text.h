/* The L1 map of one core as a picture for the terminal. */
#ifndef TDM_REPORT_L1_TEXT_H
#define TDM_REPORT_L1_TEXT_H

#include "base/buf.h"
#include "base/term.h"
#include "device/l1_map.h"

/* High addresses at the top. Heights grow with the square root of the size, so that small zones stay visible. */
void tdm_l1_text(struct tdm_buf *out, const struct tdm_l1_map *map, const struct tdm_term *term);

#endif
