/*
 * The live buffers of one process, sorted. A process may have very many, so the picture's lists are held unchanged for
 * as long as sorting them again would take more than a small share of the time.
 */
#ifndef TDM_TUI_BUFFER_VIEW_H
#define TDM_TUI_BUFFER_VIEW_H

#include "analyze/live_buffers.h"
#include "tui/list.h"
#include "tui/pace.h"

struct tdm_buffer_view {
	uint64_t handle; /* of the process; 0: none */
	struct tdm_pace pace;
	const struct tdm_picture *picture; /* of the last refresh; NULL: there is none */
	uint32_t process;                  /* index into it */
	uint64_t version;                  /* of its buffers */
	uint64_t age_ns;                   /* how much older the buffers are than its counters */
	const char *problem;               /* why the buffers are unknown; NULL: they are known */

	enum tdm_buffer_sort sort;
	bool by_site, reversed;
	char filter[96];
	struct tdm_buffer_ref *buffers; /* filtered and sorted */
	size_t buffer_count;
	struct tdm_site *sites;
	size_t site_count;
	bool is_sorted; /* buffers or sites match version, sort and filter */
	bool failed;    /* out of memory */
	struct tdm_list list;
};

/* Sets what the next picture needs to show a process. `now`: do not wait until it is due. */
void tdm_buffer_view_wish(const struct tdm_buffer_view *view, uint64_t handle, struct tdm_wish *wish, bool now);
/* Takes that picture. */
void tdm_buffer_view_refresh(struct tdm_buffer_view *view, const struct tdm_picture *picture,
	const struct tdm_picture_process *process, const struct tdm_wish *wish);

/* Sorts and filters if something has changed. */
void tdm_buffer_view_prepare(struct tdm_buffer_view *view);
void tdm_buffer_view_changed(struct tdm_buffer_view *view); /* sort, filter or grouping changed */
void tdm_buffer_view_done(struct tdm_buffer_view *view); /* lets go of the picture; keeps sort, filter and grouping */

/* `line`: index in the order shown. */
size_t tdm_buffer_view_count(const struct tdm_buffer_view *view);
const struct tdm_buffer_ref *tdm_buffer_view_buffer(const struct tdm_buffer_view *view, size_t line);
const struct tdm_site *tdm_buffer_view_site(const struct tdm_buffer_view *view, size_t line);

/* The text that a search looks at: the name, else the program. */
const char *tdm_buffer_view_text(const struct tdm_buffer_view *view, size_t line);

#endif
