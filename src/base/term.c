#include "base/term.h"
#include "base/clock.h"

#include <inttypes.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { FIRST_MS = 500, EVERY_MS = 100 }; /* delay before the progress line appears, and the interval between updates */

/* True on a terminal that is not dumb, unless NO_COLOR is set and not empty. */
static bool has_colour(int fd)
{
	const char *refused = getenv("NO_COLOR"), *type = getenv("TERM");
	if (refused != NULL && refused[0] != '\0')
		return false;
	return type != NULL && type[0] != '\0' && strcmp(type, "dumb") != 0 && isatty(fd) == 1;
}

static size_t clamp_width(uint64_t columns)
{
	if (columns < TDM_TERM_WIDTH_MIN)
		return TDM_TERM_WIDTH_MIN;
	return columns > TDM_TERM_WIDTH_MAX ? TDM_TERM_WIDTH_MAX : (size_t)columns;
}

size_t tdm_term_width(int fd)
{
	struct winsize size = { 0 };
	uint64_t columns = 0;
	if (tdm_str_parse_u64(tdm_str_of(getenv("COLUMNS")), &columns) == 0 && columns != 0)
		return clamp_width(columns);
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col != 0)
		return clamp_width(size.ws_col);
	return TDM_TERM_WIDTH;
}

bool tdm_term_is_utf8(void)
{
	return strcasecmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

struct tdm_term tdm_term_detect(int fd)
{
	return (struct tdm_term){ has_colour(fd), tdm_term_is_utf8(), tdm_term_width(fd), false };
}

/* ---- bars ---- */

size_t tdm_bar_full(int permille, size_t cells)
{
	if (permille <= 0 || cells == 0)
		return 0;
	if (permille >= 1000)
		return cells;
	size_t full = ((size_t)permille * cells + 500) / 1000;
	if (full == 0)
		full = 1;
	return full == cells && cells > 1 ? cells - 1 : full;
}

void tdm_bar_put(struct tdm_buf *out, int permille, size_t cells, bool utf8)
{
	size_t full = tdm_bar_full(permille, cells);
	for (size_t i = 0; i < cells; i++)
		tdm_buf_puts(out, permille < 0 ? "?" : i < full ? (utf8 ? "█" : "#") : (utf8 ? "░" : "."));
}

/* ---- the progress line ---- */

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
