/* Every live buffer of one device as a map, made again as rarely as the lists of buffer_view.h. */
#ifndef TDM_TUI_DEVICE_VIEW_H
#define TDM_TUI_DEVICE_VIEW_H

#include "analyze/device_map.h"
#include "tui/canvas.h"
#include "tui/list.h"
#include "tui/pace.h"

enum { TDM_DEVICE_VIEW_HOLES = 8 };

struct tdm_device_view {
	uint64_t key; /* of the device; 0: none */
	struct tdm_pace pace;
	const struct tdm_picture *picture; /* of the last refresh */
	uint64_t version;                  /* of its buffers, when the map was made */
	const char *problem;               /* why there is no map; NULL: there is one */
	bool has_map;
	uint64_t age_ns; /* how much older it is than the picture's counters */
	struct tdm_device_map map;
	size_t hole_counts[TDM_DEVICE_MAP_REGIONS];
	struct tdm_region_gap holes[TDM_DEVICE_MAP_REGIONS]
				   [TDM_DEVICE_VIEW_HOLES]; /* the largest ones, largest first */
	uint32_t cell_counts[TDM_DEVICE_MAP_REGIONS];       /* 0: not cut into cells yet */
	struct tdm_region_cell cells[TDM_DEVICE_MAP_REGIONS][TDM_CANVAS_COLS_MAX];
	struct tdm_list list; /* scrolls the page */
};

/* Sets what the next picture needs to show a device. `now`: do not wait until it is due. */
void tdm_device_view_wish(const struct tdm_device_view *view, uint64_t key, struct tdm_wish *wish, bool now);
/* Takes that picture. */
void tdm_device_view_refresh(
	struct tdm_device_view *view, const struct tdm_picture *picture, size_t device, const struct tdm_wish *wish);
/* A region of the map in `count` cells, at most TDM_CANVAS_COLS_MAX. */
const struct tdm_region_cell *tdm_device_view_cells(struct tdm_device_view *view, size_t kind, uint32_t count);
void tdm_device_view_done(struct tdm_device_view *view); /* lets go of the picture */

#endif
