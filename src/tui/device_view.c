#include "tui/device_view.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "tui/pick.h"

static uint64_t signature_of(const struct tdm_overview_device *device)
{
	uint64_t hash = 0;
	for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
		const struct tdm_overview_kind *kind = &device->kinds[k];
		hash = tdm_hash_u64(hash ^ kind->used);
		hash = tdm_hash_u64(hash ^ kind->buffers);
		hash = tdm_hash_u64(hash ^ kind->allocs);
	}
	return hash;
}

static void drop(struct tdm_device_view *view)
{
	if (view->has_map)
		tdm_device_map_done(&view->map);
	view->has_map = false;
	tdm_snapshot_free(view->snapshot);
	view->snapshot = NULL;
}

/* The snapshot has all devices of its processes. */
static uint32_t find_device(const struct tdm_snapshot *snapshot, const struct tdm_overview_device *device)
{
	for (uint32_t d = 0; d < snapshot->device_count; d++) {
		const struct tdm_snapshot_device *candidate = &snapshot->devices[d];
		bool is_same = device->has_chip_id && candidate->has_info && candidate->info.has_chip_id
				       ? candidate->info.chip_id == device->chip_id
				       : (int64_t)candidate->number == device->number;
		if (is_same && candidate->is_virtual == device->is_virtual)
			return d;
	}
	return TDM_INDEX_NONE;
}

/* Keeps the largest in order; a region may have very many holes. */
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

static void make_map(struct tdm_device_view *view, const struct tdm_overview_device *device)
{
	if (view->snapshot == NULL)
		return;
	const struct tdm_device_map_query query = { find_device(view->snapshot, device), TDM_INDEX_NONE };
	int err = query.device == TDM_INDEX_NONE ? -ENODEV : tdm_device_map_init(&view->map, view->snapshot, &query);
	if (err != 0) {
		tdm_diag_set(&view->problem, err, 0, 0,
			err == -ENODEV ? "no program with a ledger uses this device"
				       : "out of memory: there is no map");
		return;
	}
	view->has_map = true;
	for (size_t kind = 0; kind < TDM_DEVICE_MAP_REGIONS; kind++)
		find_holes(view, kind);
}

void tdm_device_view_refresh(struct tdm_device_view *view, const struct tdm_tui_provider *provider,
	const struct tdm_overview *overview, size_t device, bool now)
{
	uint64_t key = tdm_pick_key(&overview->devices[device]), start = tdm_clock_ns();
	uint64_t signature = signature_of(&overview->devices[device]);
	bool is_other = key != view->key;
	if (!is_other && !now && !tdm_pace_is_due(&view->pace, signature, view->snapshot == NULL))
		return;
	drop(view);
	if (is_other)
		view->list = (struct tdm_list){ 0 };
	view->key = key;
	view->problem = (struct tdm_diag){ 0 };
	view->snapshot = provider->device(provider->context, device, &view->problem);
	make_map(view, &overview->devices[device]);
	tdm_pace_fetched(&view->pace, signature, start);
}

void tdm_device_view_done(struct tdm_device_view *view)
{
	drop(view);
}
