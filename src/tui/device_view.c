#include "tui/device_view.h"

#include "base/clock.h"
#include "tui/pick.h"

enum { COST_SHARE = 20 };

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
	tdm_snapshot_free(view->snapshot);
	view->snapshot = NULL;
}

static bool is_due(const struct tdm_device_view *view, uint64_t signature, uint64_t now_ns)
{
	uint64_t wait = view->cost_ns * COST_SHARE;
	if (wait < TDM_NS_PER_S)
		wait = TDM_NS_PER_S;
	if (now_ns - view->fetched_ns < wait)
		return false;
	return signature != view->signature || view->snapshot == NULL;
}

void tdm_device_view_refresh(struct tdm_device_view *view, const struct tdm_tui_provider *provider,
	const struct tdm_overview *overview, size_t device, bool now)
{
	uint64_t key = tdm_pick_key(&overview->devices[device]), start = tdm_clock_ns();
	uint64_t signature = signature_of(&overview->devices[device]);
	bool is_other = key != view->key;
	if (!is_other && !now && !is_due(view, signature, start))
		return;
	drop(view);
	if (is_other)
		view->list = (struct tdm_list){ 0 };
	view->key = key;
	view->signature = signature;
	view->problem = (struct tdm_diag){ 0 };
	view->snapshot = provider->device(provider->context, device, &view->problem);
	view->fetched_ns = tdm_clock_ns();
	view->cost_ns = view->fetched_ns - start;
}

void tdm_device_view_done(struct tdm_device_view *view)
{
	drop(view);
}
