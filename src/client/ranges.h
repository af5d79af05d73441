/* The rectangles of cores in a report. */
#ifndef TDM_CLIENT_RANGES_H
#define TDM_CLIENT_RANGES_H

#include <stdbool.h>

#include "tidemark.h"

/* The cores in all of them; those that are no rectangles have none. */
static inline uint32_t tdm_ranges_cores(const struct tidemark_core_range *ranges, uint32_t count)
{
	uint64_t cores = 0;
	for (uint32_t i = 0; i < count; i++)
		if (ranges[i].x1 >= ranges[i].x0 && ranges[i].y1 >= ranges[i].y0)
			cores += (uint64_t)(ranges[i].x1 - ranges[i].x0 + 1) *
				 (uint64_t)(ranges[i].y1 - ranges[i].y0 + 1);
	return cores < UINT32_MAX ? (uint32_t)cores : UINT32_MAX;
}

/* Whether all are rectangles, and no core is in two of them, so that it would count twice. */
static inline bool tdm_ranges_are_valid(const struct tidemark_core_range *ranges, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (ranges[i].x1 < ranges[i].x0 || ranges[i].y1 < ranges[i].y0)
			return false;
		for (uint32_t k = 0; k < i; k++)
			if (ranges[i].x0 <= ranges[k].x1 && ranges[k].x0 <= ranges[i].x1 &&
				ranges[i].y0 <= ranges[k].y1 && ranges[k].y0 <= ranges[i].y1)
				return false;
	}
	return true;
}

#endif
