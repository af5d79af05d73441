#include "tui/buffer_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tui/pick.h"

static void mix(uint64_t *hash, uint64_t value)
{
	*hash = tdm_hash_u64(*hash ^ value);
}

/* Of everything in the overview that changes when a buffer of the process does. */
static uint64_t signature_of(const struct tdm_overview *overview, const struct tdm_overview_process *process)
{
	uint64_t hash = process->handle;
	for (uint32_t h = 0; h < process->holding_count; h++) {
		const struct tdm_overview_holding *holding = &overview->holdings[process->first_holding + h];
		for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
			mix(&hash, holding->kinds[k].used);
			mix(&hash, holding->kinds[k].buffers);
			mix(&hash, overview->devices[holding->device].kinds[k].allocs);
		}
	}
	return hash;
}

static void drop_order(struct tdm_buffer_view *view)
{
	free(view->buffers);
	free(view->sites);
	view->buffers = NULL;
	view->sites = NULL;
	view->buffer_count = view->site_count = 0;
	view->is_sorted = false;
}

static void drop(struct tdm_buffer_view *view)
{
	drop_order(view);
	tdm_snapshot_free(view->snapshot);
	view->snapshot = NULL;
}

void tdm_buffer_view_refresh(struct tdm_buffer_view *view, const struct tdm_tui_provider *provider,
	const struct tdm_overview *overview, const struct tdm_overview_process *process, bool now)
{
	uint64_t signature = signature_of(overview, process), start = tdm_clock_ns();
	bool is_other = view->handle != process->handle;
	if (!is_other && !now && !tdm_pace_is_due(&view->pace, signature, view->snapshot == NULL))
		return;
	drop(view);
	if (is_other)
		view->list = (struct tdm_list){ 0 };
	view->handle = process->handle;
	view->problem = (struct tdm_diag){ 0 };
	view->snapshot = provider->process(provider->context, process->handle, &view->problem);
	tdm_buffer_view_prepare(view);
	tdm_pace_fetched(&view->pace, signature, start);
}

void tdm_buffer_view_changed(struct tdm_buffer_view *view)
{
	drop_order(view);
	view->list.chosen = view->list.top = 0;
}

static void keep_matching_buffers(struct tdm_buffer_view *view)
{
	size_t kept = 0;
	for (size_t i = 0; i < view->buffer_count; i++) {
		const struct tdm_buffer *buffer = view->buffers[i];
		if (tdm_pick_text(tdm_snapshot_text(view->snapshot, buffer->name), view->filter) ||
			tdm_pick_text(tdm_snapshot_text(view->snapshot, buffer->program), view->filter) ||
			tdm_pick_text(tdm_kind_name((enum tdm_kind)buffer->kind), view->filter))
			view->buffers[kept++] = buffer;
	}
	view->buffer_count = kept;
}

static void keep_matching_sites(struct tdm_buffer_view *view)
{
	size_t kept = 0;
	for (size_t i = 0; i < view->site_count; i++)
		if (tdm_pick_text(tdm_snapshot_text(view->snapshot, view->sites[i].name), view->filter) ||
			tdm_pick_text(tdm_kind_name((enum tdm_kind)view->sites[i].kind), view->filter))
			view->sites[kept++] = view->sites[i];
	view->site_count = kept;
}

void tdm_buffer_view_prepare(struct tdm_buffer_view *view)
{
	static const struct tdm_buffer_filter all = { 0 };
	if (view->is_sorted || view->snapshot == NULL || view->snapshot->process_count == 0)
		return;
	drop_order(view);
	view->failed = false;
	if (view->by_site)
		view->failed = tdm_sites_find(view->snapshot, 0, &view->sites, &view->site_count) != 0;
	else
		view->buffers =
			tdm_live_buffers(view->snapshot, 0, &all, view->sort, &view->buffer_count, &view->failed);
	if (view->filter[0] != '\0' && view->by_site)
		keep_matching_sites(view);
	else if (view->filter[0] != '\0')
		keep_matching_buffers(view);
	view->is_sorted = true;
	view->list.count = tdm_buffer_view_count(view);
}

void tdm_buffer_view_done(struct tdm_buffer_view *view)
{
	drop(view);
}

size_t tdm_buffer_view_count(const struct tdm_buffer_view *view)
{
	return view->by_site ? view->site_count : view->buffer_count;
}

static size_t line_at(const struct tdm_buffer_view *view, size_t line)
{
	return view->reversed ? tdm_buffer_view_count(view) - 1 - line : line;
}

const struct tdm_buffer *tdm_buffer_view_buffer(const struct tdm_buffer_view *view, size_t line)
{
	return view->buffers[line_at(view, line)];
}

const struct tdm_site *tdm_buffer_view_site(const struct tdm_buffer_view *view, size_t line)
{
	return &view->sites[line_at(view, line)];
}

const char *tdm_buffer_view_text(const struct tdm_buffer_view *view, size_t line)
{
	if (view->by_site)
		return tdm_snapshot_text(view->snapshot, tdm_buffer_view_site(view, line)->name);
	const struct tdm_buffer *buffer = tdm_buffer_view_buffer(view, line);
	const char *name = tdm_snapshot_text(view->snapshot, buffer->name);
	return name[0] != '\0' ? name : tdm_snapshot_text(view->snapshot, buffer->program);
}
