#include "base/progress.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { FIRST_MS = 500, EVERY_MS = 100 };

void tdm_progress_begin(struct tdm_progress *progress, const char *what, uint64_t total)
{
	*progress = (struct tdm_progress){
		.what = what,
		.total = total,
		.next_ns = tdm_clock_ns() + FIRST_MS * TDM_NS_PER_MS,
		.enabled = isatty(STDERR_FILENO) == 1,
	};
}

void tdm_progress_update(struct tdm_progress *progress, uint64_t done)
{
	progress->done = done;
	if (!progress->enabled)
		return;
	uint64_t now = tdm_clock_ns();
	if (now < progress->next_ns)
		return;
	progress->next_ns = now + EVERY_MS * TDM_NS_PER_MS;
	progress->shown = true;
	if (progress->total != 0 && done <= progress->total)
		fprintf(stderr, "\r%s: %3.0f %%\033[K", progress->what, 100.0 * (double)done / (double)progress->total);
	else
		fprintf(stderr, "\r%s: %" PRIu64 " MiB\033[K", progress->what, done >> 20);
	fflush(stderr);
}

void tdm_progress_add(struct tdm_progress *progress, uint64_t more)
{
	tdm_progress_update(progress, progress->done + more);
}

void tdm_progress_end(struct tdm_progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}
