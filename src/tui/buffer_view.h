/*
 * The live buffers of one process, in an order that stays until something changes. A process may have very many, so
 * they are fetched again only when its counters have changed, at most once a second, and seldom enough to take no more
 * than a small share of the time.
 */
#ifndef TDM_TUI_BUFFER_VIEW_H
#define TDM_TUI_BUFFER_VIEW_H

#include "analyze/live_buffers.h"
#include "registry/overview.h"
#include "tui/list.h"
#include "tui/pace.h"
#include "tui/tui.h"

struct tdm_buffer_view {
	uint64_t handle; /* whose they are; 0: nobody's */
	struct tdm_pace pace;
	struct tdm_snapshot *snapshot; /* NULL: `problem` says why */
	struct tdm_diag problem;

	enum tdm_buffer_sort sort;
	bool by_site, reversed;
	char filter[96];
	const struct tdm_buffer **buffers; /* sorted; those that the filter leaves */
	size_t buffer_count;
	struct tdm_site *sites;
	size_t site_count;
	bool is_sorted;           /* buffers or sites are those of snapshot, sort and filter */
	bool failed;              /* out of memory */
	uint64_t places_until_ns; /* no function is looked for after this time */
	struct tdm_list list;
};

/* Fetches if it has to; `now`: at once. */
void tdm_buffer_view_refresh(struct tdm_buffer_view *view, const struct tdm_tui_provider *provider,
	const struct tdm_overview *overview, const struct tdm_overview_process *process, bool now);

/* Sorts and filters what was fetched, if that has changed. */
void tdm_buffer_view_prepare(struct tdm_buffer_view *view);
void tdm_buffer_view_changed(struct tdm_buffer_view *view); /* sort, filter or grouping has */
void tdm_buffer_view_done(struct tdm_buffer_view *view);

/* A line: index in the order that is shown. */
size_t tdm_buffer_view_count(const struct tdm_buffer_view *view);
const struct tdm_buffer *tdm_buffer_view_buffer(const struct tdm_buffer_view *view, size_t line);
const struct tdm_site *tdm_buffer_view_site(const struct tdm_buffer_view *view, size_t line);

/* The text that a line is searched by: name, else program. */
const char *tdm_buffer_view_text(const struct tdm_buffer_view *view, size_t line);

#endif
