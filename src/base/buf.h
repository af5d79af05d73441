/*
 * A growing text buffer. A failure (out of memory) is remembered: later appends do nothing and tdm_buf_failed() says
 * so, so that a long series of appends needs one check at its end.
 */
#ifndef TDM_BASE_BUF_H
#define TDM_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct tdm_buf {
	char *data; /* terminated whenever it is not NULL */
	size_t len, cap;
	bool failed;
	/* Where tdm_buf_pass() brings the text; NULL: it stays. 0 or a negative code, after which all else is dropped.
	 */
	int (*outlet)(const char *data, size_t len);
	int outlet_err;
};

void tdm_buf_init(struct tdm_buf *buf);
void tdm_buf_done(struct tdm_buf *buf);
void tdm_buf_clear(struct tdm_buf *buf);
void tdm_buf_add(struct tdm_buf *buf, const char *data, size_t len);
/* Makes the text longer by `len` bytes, which the caller fills. NULL when out of memory. */
char *tdm_buf_extend(struct tdm_buf *buf, size_t len);
void tdm_buf_puts(struct tdm_buf *buf, const char *text);
void tdm_buf_putc(struct tdm_buf *buf, char c);
void tdm_buf_fill(struct tdm_buf *buf, char c, size_t count);
void tdm_buf_printf(struct tdm_buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For texts that would be too long to keep: gives what is there to the outlet, if it is much. */
void tdm_buf_pass(struct tdm_buf *buf);

static inline bool tdm_buf_failed(const struct tdm_buf *buf)
{
	return buf->failed;
}

static inline struct tdm_str tdm_buf_str(const struct tdm_buf *buf)
{
	return (struct tdm_str){ buf->data != NULL ? buf->data : "", buf->len };
}

#endif
