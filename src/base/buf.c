#include "base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUF_FIRST_CAP = 256, PASS_BYTES = 1 << 16 };

void tdm_buf_init(struct tdm_buf *buf)
{
	*buf = (struct tdm_buf){ 0 };
}

void tdm_buf_done(struct tdm_buf *buf)
{
	free(buf->data);
	tdm_buf_init(buf);
}

void tdm_buf_clear(struct tdm_buf *buf)
{
	buf->len = 0;
	buf->failed = false;
	if (buf->data != NULL)
		buf->data[0] = '\0';
}

/* Makes room for `more` bytes and a terminator. */
static bool buf_reserve(struct tdm_buf *buf, size_t more)
{
	if (buf->failed)
		return false;
	if (more < buf->cap - buf->len)
		return true;
	if (more >= SIZE_MAX / 4 - buf->len) {
		buf->failed = true;
		return false;
	}
	size_t cap = buf->cap != 0 ? buf->cap : BUF_FIRST_CAP;
	while (cap - buf->len <= more)
		cap *= 2;
	char *data = realloc(buf->data, cap);
	if (data == NULL) {
		buf->failed = true;
		return false;
	}
	buf->data = data;
	buf->cap = cap;
	return true;
}

char *tdm_buf_extend(struct tdm_buf *buf, size_t len)
{
	if (!buf_reserve(buf, len))
		return NULL;
	char *at = buf->data + buf->len;
	buf->len += len;
	buf->data[buf->len] = '\0';
	return at;
}

void tdm_buf_add(struct tdm_buf *buf, const char *data, size_t len)
{
	char *at = tdm_buf_extend(buf, len);
	if (at != NULL && len != 0)
		memcpy(at, data, len);
}

void tdm_buf_puts(struct tdm_buf *buf, const char *text)
{
	tdm_buf_add(buf, text, strlen(text));
}

void tdm_buf_putc(struct tdm_buf *buf, char c)
{
	tdm_buf_add(buf, &c, 1);
}

void tdm_buf_fill(struct tdm_buf *buf, char c, size_t count)
{
	char *at = tdm_buf_extend(buf, count);
	if (at != NULL)
		memset(at, c, count);
}

void tdm_buf_pass(struct tdm_buf *buf)
{
	if (buf->outlet == NULL || buf->failed || buf->len < PASS_BYTES)
		return;
	if (buf->outlet_err == 0)
		buf->outlet_err = buf->outlet(buf->data, buf->len);
	tdm_buf_clear(buf);
}

void tdm_buf_printf(struct tdm_buf *buf, const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	/* Most texts fit the room that is left. */
	size_t room = buf->failed ? 0 : buf->cap - buf->len;
	int len = vsnprintf(room != 0 ? buf->data + buf->len : NULL, room, format, args);
	va_end(args);
	if (len < 0)
		buf->failed = true;
	if (len >= 0 && buf_reserve(buf, (size_t)len)) {
		if ((size_t)len >= room)
			vsnprintf(buf->data + buf->len, (size_t)len + 1, format, again);
		buf->len += (size_t)len;
	}
	va_end(again);
}
