/* Folding of running text to a number of columns. A column is one code point of UTF-8. */
#ifndef TDM_BASE_WRAP_H
#define TDM_BASE_WRAP_H

#include "base/buf.h"

struct tdm_wrap {
	size_t at;     /* the column where the first line goes on */
	size_t indent; /* of the lines behind it */
	size_t width;  /* no line is longer, except for a single word that is */
};

size_t tdm_wrap_columns(struct tdm_str text);

/* Appends the words of `text`, which any blanks and newlines part, and a newline. No line ends in a blank. */
void tdm_wrap(struct tdm_buf *out, struct tdm_str text, struct tdm_wrap wrap);

#endif
