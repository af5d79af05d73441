/*
 * Where buffers are on each device, as text for people and as JSON for programs: the view of `dump --map`. The running
 * processes of a device share its memory, so they share one map; an ended process has a map of its own, because its
 * buffers are no longer on the device.
 */
#ifndef TDM_REPORT_MAP_REPORT_H
#define TDM_REPORT_MAP_REPORT_H

#include "analyze/device_map.h"
#include "report/live_report.h"

/* The maps that the filter of the report chooses. Owned by the caller (free()); NULL when out of memory. */
struct tdm_device_map_query *tdm_map_scenes(const struct tdm_live_report *report, size_t *count);

/* Whether the filter chooses a kind of memory. */
bool tdm_map_wants(const struct tdm_live_report *report, enum tdm_kind kind);
/* Whether the filter chooses any kind in L1. */
bool tdm_map_wants_l1(const struct tdm_live_report *report);

/* `limit` of the report is how many holes of each region are listed. */
void tdm_map_text(const struct tdm_live_report *report, struct tdm_buf *out);
/* The value of the key "map". */
void tdm_map_json(const struct tdm_live_report *report, struct tdm_json *json);

/* Parts of the text: one map; the largest holes of a region, with owners if the map `has_several`. */
void tdm_map_scene_text(const struct tdm_live_report *report, const struct tdm_device_map_query *scene,
	const struct tdm_device_map *map, struct tdm_buf *out);
void tdm_map_holes(const struct tdm_live_report *report, const struct tdm_region_map *region, bool has_several,
	struct tdm_buf *out);

#endif
