/* Parses sets of cores as captures and messages of the runtime write them. */
#ifndef TDM_SOURCES_CORE_RANGES_H
#define TDM_SOURCES_CORE_RANGES_H

#include "base/str.h"
#include "event/describe.h"

/*
 * "{[0-0 - 7-7], [0-8 - 3-8]}", "{[(x=0,y=0) - (x=7,y=7)]}" or "{}" into at most `cap` rectangles. The count, or
 * TDM_ESYNTAX, -ERANGE for a coordinate of TDM_CAPTURE_GRID or more, -E2BIG for too many rectangles.
 */
int tdm_core_ranges_parse(struct tdm_str text, struct tdm_core_range *ranges, size_t cap);

/* The same in a sentence, where single cores are allowed and braces optional: sets the first range and returns the
 * number of ranges. Text after them does not matter. */
uint32_t tdm_core_ranges_find(struct tdm_str text, struct tdm_core_range *range);

#endif
