/*
 * A growing text buffer. A failure (out of memory) is remembered: later appends do nothing, and tdm_buf_failed()
 * returns true, so a long series of appends needs only one check at the end.
 */
#ifndef TDM_BASE_BUF_H
#define TDM_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct tdm_buf {
	char *data; /* NUL-terminated unless NULL */
	size_t len, cap;
	bool failed;
	/*
	 * Takes the text from tdm_buf_pass(); NULL keeps it. Returns 0, or a negative code: later text is then dropped.
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

/* For texts too long to keep in memory: gives the text so far to the outlet once there is enough of it. */
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
