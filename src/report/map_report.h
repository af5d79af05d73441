/*
 * Where buffers lie on each device, as text for people and as JSON for programs: the view of `dump --map`. What runs on
 * a device is one map, because it shares the memory; what an ended process left is a map of its own, because it is on
 * no device any more.
 */
#ifndef TDM_REPORT_MAP_REPORT_H
#define TDM_REPORT_MAP_REPORT_H

#include "analyze/device_map.h"
#include "report/live_report.h"

/* The maps that the filter of the report chooses. Owned by the caller (free()); NULL when out of memory. */
struct tdm_device_map_query *tdm_map_scenes(const struct tdm_live_report *report, size_t *count);

/* Whether a kind of memory was asked for. */
bool tdm_map_wants(const struct tdm_live_report *report, enum tdm_kind kind);
/* Whether anything was asked for that lies in L1. */
bool tdm_map_wants_l1(const struct tdm_live_report *report);

/* `limit` of the report is how many holes of each region are listed. */
void tdm_map_text(const struct tdm_live_report *report, struct tdm_buf *out);
/* The value of the key "map". */
void tdm_map_json(const struct tdm_live_report *report, struct tdm_json *json);

/* Parts of the text: one map; the largest holes of a region, with their owners if it `has_several`. */
void tdm_map_scene_text(const struct tdm_live_report *report, const struct tdm_device_map_query *scene,
	const struct tdm_device_map *map, struct tdm_buf *out);
void tdm_map_holes(const struct tdm_live_report *report, const struct tdm_region_map *region, bool has_several,
	struct tdm_buf *out);

#endif
