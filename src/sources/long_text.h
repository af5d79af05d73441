/*
 * Leaves out the end of a JSON text that is too long to keep. The parser holds a text until it is complete; once it is
 * known to be inside a text that is too long, the bytes up to the closing quote are withheld from it. The cut is made
 * where no escape is open.
 */
#ifndef TDM_SOURCES_LONG_TEXT_H
#define TDM_SOURCES_LONG_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed: outside of such a text. */
struct tdm_long_text {
	bool is_inside;   /* inside a text that is being cut */
	bool is_dropping; /* after the cut */
	bool escaped;     /* the next byte is escaped by a backslash */
	unsigned open;    /* digits that an escape may still need */
};

/* Call with every piece that the parser got while not inside; keeps `escaped` up to date. */
void tdm_long_text_fed(struct tdm_long_text *text, const char *data, size_t len);

/* Call when the parser is inside a text that is too long. */
void tdm_long_text_begin(struct tdm_long_text *text);

/*
 * While inside: returns how many of the bytes are used up. The first *kept of them go to the parser, the others are
 * left out. Stops before the closing quote, and is no longer inside then.
 */
size_t tdm_long_text_next(struct tdm_long_text *text, const char *data, size_t len, size_t *kept);

#endif
