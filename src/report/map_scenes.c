#include "report/map_report.h"

#include <stdlib.h>

bool tdm_map_wants(const struct tdm_live_report *report, enum tdm_kind kind)
{
	return !report->filter.has_kind || report->filter.kind == kind;
}

bool tdm_map_wants_l1(const struct tdm_live_report *report)
{
	return !report->filter.has_kind || tdm_core_map_has_kind(report->filter.kind);
}

static bool has_ended(const struct tdm_picture *picture, const struct tdm_holding *holding)
{
	return picture->processes[holding->process].life == TDM_LIFE_ENDED;
}

struct tdm_device_map_query *tdm_map_scenes(const struct tdm_live_report *report, size_t *count)
{
	const struct tdm_picture *picture = report->picture;
	struct tdm_device_map_query *scenes =
		malloc((picture->device_count + picture->holding_count + 1) * sizeof *scenes);
	*count = 0;
	for (uint32_t d = 0; scenes != NULL && d < picture->device_count; d++) {
		bool has_running = false;
		for (size_t h = 0; h < picture->holding_count; h++) {
			const struct tdm_holding *holding = &picture->holdings[h];
			if (holding->device != d ||
				(report->filter.has_device && holding->number != report->filter.device))
				continue;
			if (has_ended(picture, holding)) {
				if (tdm_holding_buffer_count(holding) != 0)
					scenes[(*count)++] = (struct tdm_device_map_query){ d, holding->process };
			} else if (!has_running) {
				scenes[(*count)++] = (struct tdm_device_map_query){ d, TDM_INDEX_NONE };
				has_running = true;
			}
		}
	}
	return scenes;
}

struct tdm_region_gap *tdm_map_holes(const struct tdm_region_map *map)
{
	struct tdm_region_gap *gaps = malloc((map->gap_count + 1) * sizeof *gaps);
	if (gaps == NULL || map->gap_count == 0)
		return gaps;
	memcpy(gaps, map->gaps, map->gap_count * sizeof *gaps);
	tdm_region_gaps_sort(gaps, map->gap_count);
	return gaps;
}
