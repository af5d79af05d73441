/* Folds running text to a number of columns. A column is one code point of UTF-8. */
#ifndef TDM_BASE_WRAP_H
#define TDM_BASE_WRAP_H

#include "base/buf.h"

struct tdm_wrap {
	size_t at;     /* the column where the text starts in the first line */
	size_t indent; /* of the lines after the first */
	size_t width;  /* only a line of a single longer word exceeds it */
};

size_t tdm_wrap_columns(struct tdm_str text);

/* Appends the words of `text`, separated by any blanks and newlines, and a newline. No line ends in a blank. */
void tdm_wrap(struct tdm_buf *out, struct tdm_str text, struct tdm_wrap wrap);

#endif
