/* Every live buffer of one device as a map, fetched as seldom as buffer_view.h says. */
#ifndef TDM_TUI_DEVICE_VIEW_H
#define TDM_TUI_DEVICE_VIEW_H

#include "analyze/device_map.h"
#include "registry/overview.h"
#include "tui/list.h"
#include "tui/pace.h"
#include "tui/tui.h"

enum { TDM_DEVICE_VIEW_HOLES = 8 };

struct tdm_device_view {
	uint64_t key; /* of tdm_pick_key(); 0: none */
	struct tdm_pace pace;
	struct tdm_snapshot *snapshot; /* NULL: `problem` says why */
	struct tdm_diag problem;
	bool has_map;
	struct tdm_device_map map; /* of snapshot */
	size_t hole_counts[TDM_DEVICE_MAP_REGIONS];
	struct tdm_region_gap holes[TDM_DEVICE_MAP_REGIONS][TDM_DEVICE_VIEW_HOLES]; /* the largest, the largest first */
	struct tdm_list list;                                                       /* of the lines that are scrolled */
};

void tdm_device_view_refresh(struct tdm_device_view *view, const struct tdm_tui_provider *provider,
	const struct tdm_overview *overview, size_t device, bool now);
void tdm_device_view_done(struct tdm_device_view *view);

#endif
