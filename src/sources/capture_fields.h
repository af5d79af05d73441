/*
 * Parts of the reader of captures: parses numbers as the runtime does, and finds the reason why a node cannot be used.
 */
#ifndef TDM_SOURCES_CAPTURE_FIELDS_H
#define TDM_SOURCES_CAPTURE_FIELDS_H

#include "event/capture_node.h"

/* Keeps rare work out of the parser's callbacks, whose stack frames stay small then. */
#define TDM_CAPTURE_RARE __attribute__((noinline, cold))

enum { TDM_CAPTURE_SAFE_DIGITS = 18 }; /* that many always fit an int64_t */

/* Digits with an optional sign; ignores anything after them. Returns the number of bytes read. */
size_t tdm_capture_read_integer(struct tdm_str text, struct tdm_capture_number *number);

/* A JSON number of any form; one with a fraction or an exponent is truncated, as the runtime does. */
void tdm_capture_read_any(struct tdm_str text, struct tdm_capture_number *number) TDM_CAPTURE_RARE;

/*
 * A number in a string: blanks before it and anything after it are allowed, as in the runtime. For "true" the value is
 * 1, though the state says that it is not a number.
 */
void tdm_capture_read_text(struct tdm_str text, struct tdm_capture_number *number);

/* A JSON number; nearly always a few digits. */
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

/* Writes into `text` why a node cannot be used; false if it can. `range_error` comes from parsing its core ranges. */
bool tdm_capture_find_problem(const struct tdm_capture_node *node, int range_error, char *text, size_t cap);

#endif
