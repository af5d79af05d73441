/* Makes text of unknown origin printable, and cuts it to a number of columns. */
#ifndef TDM_REPORT_CELL_H
#define TDM_REPORT_CELL_H

#include "base/buf.h"

/*
 * Appends `text`: control characters and invalid UTF-8 become '?', and so does everything outside ASCII unless `utf8`.
 * Text wider than `columns` is cut and ends in "..."; 0: nothing is cut. A column is one code point. Returns the
 * columns used.
 */
size_t tdm_cell_put(struct tdm_buf *out, struct tdm_str text, size_t columns, bool utf8);

static inline void tdm_cell_text(struct tdm_buf *out, const char *text, bool utf8)
{
	tdm_cell_put(out, tdm_str_of(text), 0, utf8);
}

/* Removes blanks from the end of the last line. */
void tdm_cell_trim(struct tdm_buf *out);

#endif
