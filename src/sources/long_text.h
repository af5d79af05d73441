/*
 * Leaves out the end of a JSON text that is too long to be kept. The parser holds a text until it is complete; once it
 * is known to be inside one that has grown too long, the bytes up to the closing quote need not reach it. The cut is
 * made where no escape is open.
 */
#ifndef TDM_SOURCES_LONG_TEXT_H
#define TDM_SOURCES_LONG_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A zeroed one is outside of such texts. */
struct tdm_long_text {
	bool is_inside;   /* of a text that is being cut */
	bool is_dropping; /* the cut is made */
	bool escaped;     /* a backslash stands before the next byte */
	unsigned open;    /* digits that an escape still needs, at most */
};

/* Every piece that the parser got, as long as it is not inside: keeps `escaped`. */
void tdm_long_text_fed(struct tdm_long_text *text, const char *data, size_t len);

/* The parser is inside a text that is too long. */
void tdm_long_text_begin(struct tdm_long_text *text);

/*
 * While inside: how many of these bytes are dealt with. The first *kept of them are for the parser, the others are left
 * out. At the closing quote, which is not one of them, it is no longer inside.
 */
size_t tdm_long_text_next(struct tdm_long_text *text, const char *data, size_t len, size_t *kept);

#endif
