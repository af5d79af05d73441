#include "tui/device_view.h"

#include <string.h>

static void drop(struct tdm_device_view *view)
{
	if (view->has_map)
		tdm_device_map_done(&view->map);
	view->has_map = false;
	view->problem = NULL;
	memset(view->cell_counts, 0, sizeof view->cell_counts);
}

/* Keeps only the largest, sorted: a region may have very many holes. */
static void find_holes(struct tdm_device_view *view, size_t kind)
{
	const struct tdm_region_map *region = &view->map.regions[kind];
	struct tdm_region_gap *holes = view->holes[kind];
	size_t count = 0;
	for (size_t g = 0; g < region->gap_count; g++) {
		size_t at = count;
		while (at > 0 && holes[at - 1].bytes < region->gaps[g].bytes)
			at--;
		if (at == TDM_DEVICE_VIEW_HOLES)
			continue;
		size_t last = count < TDM_DEVICE_VIEW_HOLES ? count++ : count - 1;
		memmove(&holes[at + 1], &holes[at], (last - at) * sizeof *holes);
		holes[at] = region->gaps[g];
	}
	view->hole_counts[kind] = count;
}

static bool has_ledger(const struct tdm_picture *picture, size_t device)
{
	for (size_t i = 0; i < picture->holding_count; i++)
		if (picture->holdings[i].device == device &&
			picture->processes[picture->holdings[i].process].who != NULL)
			return true;
	return false;
}

static void make_map(struct tdm_device_view *view, size_t device)
{
	const struct tdm_device_map_query query = { (uint32_t)device, TDM_INDEX_NONE };
	view->problem = NULL;
	if (!has_ledger(view->picture, device))
		view->problem = "no process with a ledger uses the device: its buffers are not known";
	else if (tdm_device_map_init(&view->map, view->picture, &query) != 0)
		view->problem = "out of memory: there is no map";
	view->has_map = view->problem == NULL;
	for (size_t kind = 0; view->has_map && kind < TDM_DEVICE_MAP_REGIONS; kind++)
		find_holes(view, kind);
}

void tdm_device_view_wish(const struct tdm_device_view *view, uint64_t key, struct tdm_wish *wish, bool now)
{
	wish->parts |= TDM_WISH_BUFFERS;
	wish->device = key;
	wish->hold = !now && view->key == key && !tdm_pace_is_due(&view->pace);
}

void tdm_device_view_refresh(
	struct tdm_device_view *view, const struct tdm_picture *picture, size_t device, const struct tdm_wish *wish)
{
	bool is_other = view->key != picture->devices[device].key;
	view->picture = picture;
	if (is_other)
		view->list = (struct tdm_list){ 0 };
	if (is_other || !view->has_map || view->version != picture->buffers_version) {
		drop(view);
		make_map(view, device);
	}
	view->key = picture->devices[device].key;
	view->version = picture->buffers_version;
	const struct tdm_pace_scope scope = { TDM_INDEX_NONE, (uint32_t)device };
	if (!wish->hold)
		tdm_pace_done(&view->pace, picture, scope);
	view->age_ns = tdm_pace_age(&view->pace, picture, scope);
}

const struct tdm_region_cell *tdm_device_view_cells(struct tdm_device_view *view, size_t kind, uint32_t count)
{
	const struct tdm_region_map *region = &view->map.regions[kind];
	if (view->cell_counts[kind] != count)
		tdm_region_map_cells(region, region->base, region->bank_size, view->cells[kind], count);
	view->cell_counts[kind] = count;
	return view->cells[kind];
}

void tdm_device_view_done(struct tdm_device_view *view)
{
	drop(view);
}
