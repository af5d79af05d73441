/* Parses sets of cores as the runtime writes them in captures and messages. */
#ifndef TDM_INPUT_CORE_RANGES_H
#define TDM_INPUT_CORE_RANGES_H

#include "base/str.h"
#include "model/event/event.h"

/* Parses "{[0-0 - 7-7], [0-8 - 3-8]}", "{[(x=0,y=0) - (x=7,y=7)]}" or "{}" into at most `cap` rectangles. Returns the
 * count, TDM_ESYNTAX, -ERANGE for a coordinate of TDM_CAPTURE_GRID or more, or -E2BIG for too many rectangles. */
int tdm_core_ranges_parse(struct tdm_str text, struct tdm_core_range *ranges, size_t cap);

/* Like tdm_core_ranges_parse(), for ranges within a sentence: single cores are allowed and braces optional. Sets the
 * first range and returns the number of ranges. Ignores any text after the ranges. */
uint32_t tdm_core_ranges_find(struct tdm_str text, struct tdm_core_range *range);

#endif
