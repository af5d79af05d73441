/*
 * The position of an error in some input, and the text that was expected there. Parsers fill one of these and return an
 * error code; commands print it as `file:line:column: text`.
 */
#ifndef TDM_BASE_DIAG_H
#define TDM_BASE_DIAG_H

#include <stddef.h>
#include <stdint.h>

enum { TDM_DIAG_TEXT_CAP = 320 };

struct tdm_diag {
	const char *file; /* borrowed; NULL when the input has no name */
	uint64_t line;    /* from 1; 0 when the input has no lines */
	uint64_t column;  /* from 1, in bytes; 0 when unknown */
	char text[TDM_DIAG_TEXT_CAP];
};

/* Sets position and text (cut to the capacity) and keeps the file name. Returns `err`. A NULL diag is allowed. */
int tdm_diag_set(struct tdm_diag *diag, int err, uint64_t line, uint64_t column, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* "file:line:column: text", without the unknown parts. Always terminated. Returns dst. */
char *tdm_diag_format(const struct tdm_diag *diag, char *dst, size_t cap);

#endif
