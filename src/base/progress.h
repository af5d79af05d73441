/*
 * A progress line on standard error for long work. It is shown only on a terminal and only after a moment, updated a
 * few times a second, and erased at the end.
 */
#ifndef TDM_BASE_PROGRESS_H
#define TDM_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct tdm_progress {
	const char *what; /* "reading trace" */
	uint64_t total;   /* 0: unknown */
	uint64_t done;
	uint64_t next_ns; /* when to update the line next */
	bool enabled, shown;
};

/* `total` in the caller's unit, bytes for instance; 0 when unknown. */
void tdm_progress_begin(struct tdm_progress *progress, const char *what, uint64_t total);
void tdm_progress_update(struct tdm_progress *progress, uint64_t done);
void tdm_progress_add(struct tdm_progress *progress, uint64_t more);
void tdm_progress_end(struct tdm_progress *progress);

#endif
