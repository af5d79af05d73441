/* The invariant of the map of a region: spans in order and inside, gaps between them, all sums right. For tests. */
#ifndef TDM_TESTS_REGION_VALID_H
#define TDM_TESTS_REGION_VALID_H

#include "analyze/live/region_map.h"
#include "base/number.h"

static inline bool region_map_is_valid(const struct tdm_region_map *map)
{
	uint64_t used = 0, free_bytes = 0, reached = map->base, end = map->base + map->bank_size;
	size_t gap = 0;
	for (size_t i = 0; i <= map->span_count; i++) {
		uint64_t next = i < map->span_count ? map->spans[i].address : end;
		if (next > reached) {
			if (gap == map->gap_count || map->gaps[gap].address != reached ||
				map->gaps[gap].bytes != next - reached)
				return false;
			free_bytes += map->gaps[gap++].bytes;
		}
		if (i == map->span_count)
			break;
		const struct tdm_region_span *span = &map->spans[i];
		uint64_t overlap =
			span->address < reached ? tdm_min(reached, (span->address + span->bytes)) - span->address : 0;
		if (span->bytes == 0 || span->address < map->base || (span->address + span->bytes) > end ||
			span->overlap != overlap || (i > 0 && span->address < map->spans[i - 1].address))
			return false;
		used += span->bytes - overlap;
		reached = tdm_max(reached, (span->address + span->bytes));
	}
	return gap == map->gap_count && used == map->used_bytes && used + free_bytes == map->bank_size &&
	       (map->free_bytes == TDM_BYTES_UNKNOWN || map->free_bytes == free_bytes);
}

#endif
