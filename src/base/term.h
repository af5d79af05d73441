/* The terminal: its abilities, bars for shares, and a progress line. */
#ifndef TDM_BASE_TERM_H
#define TDM_BASE_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { TDM_TERM_WIDTH = 80, TDM_TERM_WIDTH_MIN = 40, TDM_TERM_WIDTH_MAX = 1000 };

struct tdm_term {
	bool colour;  /* use colour escape sequences */
	bool utf8;    /* the locale's encoding is UTF-8 */
	size_t width; /* columns, at least TDM_TERM_WIDTH_MIN */
	bool folds;   /* wider tables continue their columns below */
};

#define TDM_STYLE_OFF     "\033[0m"
#define TDM_STYLE_BOLD    "\033[1m"
#define TDM_STYLE_DIM     "\033[2m"
#define TDM_STYLE_RED     "\033[31m"
#define TDM_STYLE_GREEN   "\033[32m"
#define TDM_STYLE_YELLOW  "\033[33m"
#define TDM_STYLE_BLUE    "\033[34m"
#define TDM_STYLE_MAGENTA "\033[35m"
#define TDM_STYLE_CYAN    "\033[36m"

/* One of the escape sequences above, or an empty string if colour is off. */
static inline const char *tdm_term_style(const struct tdm_term *term, const char *style)
{
	return term->colour ? style : "";
}

struct tdm_term tdm_term_detect(int fd);

/* $COLUMNS, else the terminal's own width, else TDM_TERM_WIDTH. */
size_t tdm_term_width(int fd);

/* Depends on the current locale: main() must have called setlocale(). */
bool tdm_term_is_utf8(void);

/* ---- bars: "[█████████░░░]" without the brackets ---- */

/*
 * Appends `cells` cells and fills `permille` thousandths of them, rounded to the nearest cell; 1000 and more fill all.
 * A share above 0 has at least one full cell; a share below 1000 has at least one empty cell. A negative share means
 * unknown: every cell is '?'. With `utf8`, full and empty cells are '█' and '░', otherwise '#' and '.'.
 */
void tdm_bar_put(struct tdm_buf *out, int permille, size_t cells, bool utf8);

/* How many cells are full. */
size_t tdm_bar_full(int permille, size_t cells);

/*
 * ---- a progress line ----
 *
 * It is printed on standard error while long work is running, only on a terminal and only after a moment. It is updated
 * a few times a second and erased at the end.
 */

struct tdm_progress {
	const char *what; /* label, such as "reading trace" */
	uint64_t total;   /* 0 if unknown */
	uint64_t done;
	uint64_t next_ns; /* when to update the line next */
	bool enabled, shown;
};

/* `total` is in the caller's unit, such as bytes; 0 if unknown. */
void tdm_progress_begin(struct tdm_progress *progress, const char *what, uint64_t total);
void tdm_progress_update(struct tdm_progress *progress, uint64_t done);
void tdm_progress_add(struct tdm_progress *progress, uint64_t more);
void tdm_progress_end(struct tdm_progress *progress);

#endif
