/*
 * Numbers of captures, as the runtime reads them, and what keeps a node from being used. Parts of the reader of
 * captures.
 */
#ifndef TDM_SOURCES_CAPTURE_FIELDS_H
#define TDM_SOURCES_CAPTURE_FIELDS_H

#include "event/capture_node.h"

/* Rare work stays out of the parser's callbacks, so that those need no large frame. */
#define TDM_CAPTURE_RARE __attribute__((noinline, cold))

enum { TDM_CAPTURE_SAFE_DIGITS = 18 }; /* always fit a number */

/* Digits with an optional sign; anything after them is left alone. Returns the bytes read. */
size_t tdm_capture_read_integer(struct tdm_str text, struct tdm_capture_number *number);

/* A number of JSON, of any form: one with a fraction or an exponent is cut, as the runtime does. */
void tdm_capture_read_any(struct tdm_str text, struct tdm_capture_number *number) TDM_CAPTURE_RARE;

/*
 * A number as text: blanks before it and anything after it are allowed, as in the runtime. A word for yes counts as
 * 1 for what is asked with it, though it is no number.
 */
void tdm_capture_read_text(struct tdm_str text, struct tdm_capture_number *number);

/* A number of JSON, nearly always a few digits. */
static inline void tdm_capture_read_number(struct tdm_str text, struct tdm_capture_number *number)
{
	uint64_t value = 0;
	size_t i = 0;
	if (text.len <= TDM_CAPTURE_SAFE_DIGITS)
		for (; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++)
			value = value * 10 + (uint64_t)(text.ptr[i] - '0');
	if (i == text.len && i != 0)
		*number = (struct tdm_capture_number){ (int64_t)value, TDM_CAPTURE_GIVEN };
	else
		tdm_capture_read_any(text, number);
}

/* Writes what keeps a node from being used into `text`; false when nothing does. `range_error` is that of its core
 * ranges. */
bool tdm_capture_find_problem(const struct tdm_capture_node *node, int range_error, char *text, size_t cap);

#endif
