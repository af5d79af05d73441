/* A growing string. */
#ifndef TDM_BASE_BUF_H
#define TDM_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct tdm_buf {
	char *data; /* NUL-terminated unless NULL */
	size_t len, cap;
	/* tdm_buf_pass() passes the text so far to this function; NULL keeps everything in memory. Returns 0, or a
	 * negative code, after which later text is dropped. */
	int (*outlet)(const char *data, size_t len);
	int outlet_err;
};

void tdm_buf_init(struct tdm_buf *buf);
void tdm_buf_done(struct tdm_buf *buf);
void tdm_buf_clear(struct tdm_buf *buf);
void tdm_buf_add(struct tdm_buf *buf, const char *data, size_t len);
/* Extends the text by `len` bytes, which the caller fills. */
char *tdm_buf_extend(struct tdm_buf *buf, size_t len);
void tdm_buf_puts(struct tdm_buf *buf, const char *text);
void tdm_buf_putc(struct tdm_buf *buf, char c);
void tdm_buf_fill(struct tdm_buf *buf, char c, size_t count);
void tdm_buf_printf(struct tdm_buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For output too long to keep in memory: passes the text so far to the outlet once enough has accumulated. */
void tdm_buf_pass(struct tdm_buf *buf);

static inline struct tdm_str tdm_buf_str(const struct tdm_buf *buf)
{
	return (struct tdm_str){ buf->data != NULL ? buf->data : "", buf->len };
}

/* ---- wraps running text to a number of columns; a column is one UTF-8 code point ---- */

struct tdm_wrap {
	size_t at;     /* start column of the text in the first line */
	size_t indent; /* indentation of all lines but the first */
	size_t width;  /* maximum line width; only a word longer than this exceeds it */
};

size_t tdm_wrap_columns(struct tdm_str text);

/* Appends the words of `text`, separated by any blanks and newlines, and then a newline. Two blanks stay
 * two; no line ends in a blank. */
void tdm_wrap(struct tdm_buf *out, struct tdm_str text, struct tdm_wrap wrap);

#endif
