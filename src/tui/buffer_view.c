#include "tui/buffer_view.h"

#include <stdlib.h>

#include "tui/match.h"

static void drop_order(struct tdm_buffer_view *view)
{
	free(view->buffers);
	free(view->sites);
	view->buffers = NULL;
	view->sites = NULL;
	view->buffer_count = view->site_count = 0;
	view->is_sorted = false;
}

void tdm_buffer_view_wish(const struct tdm_buffer_view *view, uint64_t handle, struct tdm_wish *wish, bool now)
{
	wish->parts |= TDM_WISH_BUFFERS;
	wish->process = handle;
	wish->hold = !now && view->handle == handle && !tdm_pace_is_due(&view->pace);
}

static const char *why_unknown(const struct tdm_picture *picture, const struct tdm_picture_process *process)
{
	if (process->who == NULL)
		return "the process has no ledger: its buffers are not known";
	for (size_t i = 0; process->who->is_stuck && i < picture->problem_count; i++)
		if (strcmp(picture->problems[i].place, process->ledger) == 0)
			return picture->problems[i].text;
	return NULL;
}

void tdm_buffer_view_refresh(struct tdm_buffer_view *view, const struct tdm_picture *picture,
	const struct tdm_picture_process *process, const struct tdm_wish *wish)
{
	bool is_other = view->handle != process->handle;
	if (is_other || view->version != picture->buffers_version)
		drop_order(view);
	if (is_other)
		view->list = (struct tdm_list){ 0 };
	view->handle = process->handle;
	view->picture = picture;
	view->process = (uint32_t)(process - picture->processes);
	view->version = picture->buffers_version;
	view->problem = why_unknown(picture, process);
	tdm_buffer_view_prepare(view);
	const struct tdm_pace_scope scope = { view->process, TDM_INDEX_NONE };
	if (!wish->hold)
		tdm_pace_done(&view->pace, picture, scope);
	view->age_ns = tdm_pace_age(&view->pace, picture, scope);
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
		const struct tdm_buffer *buffer = view->buffers[i].buffer;
		if (tdm_match_text(tdm_picture_text(view->picture, buffer->name), view->filter) ||
			tdm_match_text(tdm_picture_text(view->picture, buffer->program), view->filter) ||
			tdm_match_text(tdm_kind_name((enum tdm_kind)buffer->kind), view->filter))
			view->buffers[kept++] = view->buffers[i];
	}
	view->buffer_count = kept;
}

static void keep_matching_sites(struct tdm_buffer_view *view)
{
	size_t kept = 0;
	for (size_t i = 0; i < view->site_count; i++)
		if (tdm_match_text(tdm_picture_text(view->picture, view->sites[i].name), view->filter) ||
			tdm_match_text(tdm_kind_name((enum tdm_kind)view->sites[i].kind), view->filter))
			view->sites[kept++] = view->sites[i];
	view->site_count = kept;
}

void tdm_buffer_view_prepare(struct tdm_buffer_view *view)
{
	static const struct tdm_buffer_filter all = { 0 };
	if (view->is_sorted || view->picture == NULL)
		return;
	drop_order(view);
	view->failed = false;
	if (view->by_site)
		view->failed = tdm_sites_find(view->picture, view->process, &view->sites, &view->site_count) != 0;
	else
		view->buffers = tdm_live_buffers(view->picture, view->process, &all, view->sort, &view->buffer_count);
	view->failed = view->by_site ? view->failed : view->buffers == NULL;
	if (view->filter[0] != '\0' && view->by_site)
		keep_matching_sites(view);
	else if (view->filter[0] != '\0')
		keep_matching_buffers(view);
	view->is_sorted = true;
	view->list.count = tdm_buffer_view_count(view);
}

void tdm_buffer_view_done(struct tdm_buffer_view *view)
{
	drop_order(view);
	view->picture = NULL;
}

size_t tdm_buffer_view_count(const struct tdm_buffer_view *view)
{
	return view->by_site ? view->site_count : view->buffer_count;
}

static size_t line_at(const struct tdm_buffer_view *view, size_t line)
{
	return view->reversed ? tdm_buffer_view_count(view) - 1 - line : line;
}

const struct tdm_buffer_ref *tdm_buffer_view_buffer(const struct tdm_buffer_view *view, size_t line)
{
	return &view->buffers[line_at(view, line)];
}

const struct tdm_site *tdm_buffer_view_site(const struct tdm_buffer_view *view, size_t line)
{
	return &view->sites[line_at(view, line)];
}

const char *tdm_buffer_view_text(const struct tdm_buffer_view *view, size_t line)
{
	if (view->by_site)
		return tdm_picture_text(view->picture, tdm_buffer_view_site(view, line)->name);
	const struct tdm_buffer *buffer = tdm_buffer_view_buffer(view, line)->buffer;
	const char *name = tdm_picture_text(view->picture, buffer->name);
	return name[0] != '\0' ? name : tdm_picture_text(view->picture, buffer->program);
}
