/* Makes text of unknown origin printable and cuts it to a number of columns. */
#ifndef TDM_VIEW_CELL_H
#define TDM_VIEW_CELL_H

#include "base/buf.h"
#include "base/units.h"

/*
 * Appends `text`. Control characters and invalid UTF-8 become '?', as does everything outside ASCII unless `utf8` is
 * set. Text wider than `columns` is cut and ends in "..."; 0 cuts nothing. Each code point counts as one column.
 * Returns the columns used.
 */
size_t tdm_cell_put(struct tdm_buf *out, struct tdm_str text, size_t columns, bool utf8);

static inline void tdm_cell_text(struct tdm_buf *out, const char *text, bool utf8)
{
	tdm_cell_put(out, tdm_str_of(text), 0, utf8);
}

/* Removes blanks from the end of the last line. */
void tdm_cell_trim(struct tdm_buf *out);

/* Format figures as strings for the arguments of a call. A string lives until the end of the block. */
#define TDM_SIZE_TEXT(bytes) tdm_format_bytes_short((char[TDM_BYTES_CAP]){ 0 }, TDM_BYTES_CAP, bytes)
#define TDM_TIME_TEXT(ns)    tdm_format_duration((char[TDM_DURATION_CAP]){ 0 }, TDM_DURATION_CAP, ns)

#endif
