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

static bool has_ended(const struct tdm_snapshot *snapshot, const struct tdm_holding *holding)
{
	const struct tdm_snapshot_process *process = &snapshot->processes[holding->process];
	return process->has_who && process->who.life == TDM_LIFE_ENDED;
}

struct tdm_device_map_query *tdm_map_scenes(const struct tdm_live_report *report, size_t *count)
{
	const struct tdm_snapshot *snapshot = report->snapshot;
	struct tdm_device_map_query *scenes =
		malloc((snapshot->device_count + snapshot->holding_count + 1) * sizeof *scenes);
	*count = 0;
	for (uint32_t d = 0; scenes != NULL && d < snapshot->device_count; d++) {
		bool has_running = false;
		for (size_t h = 0; h < snapshot->holding_count; h++) {
			const struct tdm_holding *holding = &snapshot->holdings[h];
			if (holding->device != d ||
				(report->filter.has_device && holding->number != report->filter.device))
				continue;
			if (has_ended(snapshot, holding)) {
				if (holding->buffer_count != 0)
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
