/* What a descriptor's terminal can show: colour, UTF-8, how many columns. */
#ifndef TDM_BASE_TERM_H
#define TDM_BASE_TERM_H

#include <stdbool.h>
#include <stddef.h>

enum { TDM_TERM_WIDTH = 80, TDM_TERM_WIDTH_MIN = 40, TDM_TERM_WIDTH_MAX = 1000 };

struct tdm_term {
	bool colour;  /* escape sequences are wanted */
	bool utf8;    /* the locale's encoding is UTF-8 */
	size_t width; /* columns, at least TDM_TERM_WIDTH_MIN */
	bool folds;   /* the columns of a table that is wider than that continue below it */
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

/* One of the sequences above, or an empty text when colour is not wanted. */
static inline const char *tdm_term_style(const struct tdm_term *term, const char *style)
{
	return term->colour ? style : "";
}

struct tdm_term tdm_term_detect(int fd);

/* True on a terminal that is not dumb, unless NO_COLOR is set and not empty. */
bool tdm_term_has_colour(int fd);

/* $COLUMNS, else the terminal's own width, else TDM_TERM_WIDTH. */
size_t tdm_term_width(int fd);

/* Of the current locale: needs a setlocale() in main. */
bool tdm_term_is_utf8(void);

#endif
