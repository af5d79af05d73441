/*
 * Sentences with fields: "grow to %d B which is beyond %w". A small matcher for text that a program prints with a
 * format string. In a pattern
 *   %d   is a run of decimal digits
 *   %x   is digits, or 0x and hexadecimal digits
 *   %f   is digits with an optional fraction
 *   %w   is a run of non-blank characters
 *   %i   is an identifier: letters, digits, underscores
 *   %*   is the shortest text before the next pattern character, which must be literal; the text is on one line
 *        and at most TDM_PATTERN_SPAN bytes long; at the end of the pattern, the rest of the line
 *   ' '  is one or more blanks, of which one may be a line break, because text may be folded
 *   %_   is any number of blanks, including none
 *   %%   is a percent sign
 * and everything else is itself.
 */
#ifndef TDM_BASE_PATTERN_H
#define TDM_BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { TDM_PATTERN_FIELDS = 13, TDM_PATTERN_SPAN = 1024 };

struct tdm_pattern_match {
	struct tdm_str fields[TDM_PATTERN_FIELDS]; /* the text matched by each %d, %x, %f, %w, %i and %* */
	size_t count;
	size_t len; /* number of bytes that the pattern matched */
};

/* Whether the text begins with the pattern; *match is set only then. */
bool tdm_pattern_match(const char *pattern, struct tdm_str text, struct tdm_pattern_match *match);

/* The whole text as a decimal number, or as hexadecimal after 0x. False for anything else, and for numbers above 64
 * bits. */
bool tdm_pattern_number(struct tdm_str text, uint64_t *value);

#endif
