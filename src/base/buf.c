#include "base/buf.h"
#include "base/memory.h"

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
	if (buf->data != NULL)
		buf->data[0] = '\0';
}

/* Makes room for `more` additional bytes and a terminator. */
static void make_room(struct tdm_buf *buf, size_t more)
{
	if (more < buf->cap - buf->len)
		return;
	if (more >= SIZE_MAX / 4 - buf->len)
		tdm_out_of_memory();
	size_t cap = buf->cap != 0 ? buf->cap : BUF_FIRST_CAP;
	while (cap - buf->len <= more)
		cap *= 2;
	buf->data = tdm_realloc(buf->data, cap, 1);
	buf->cap = cap;
}

char *tdm_buf_extend(struct tdm_buf *buf, size_t len)
{
	make_room(buf, len);
	char *at = buf->data + buf->len;
	buf->len += len;
	buf->data[buf->len] = '\0';
	return at;
}

void tdm_buf_add(struct tdm_buf *buf, const char *data, size_t len)
{
	char *at = tdm_buf_extend(buf, len);
	if (len != 0)
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
	memset(tdm_buf_extend(buf, count), c, count);
}

void tdm_buf_pass(struct tdm_buf *buf)
{
	if (buf->outlet == NULL || buf->len < PASS_BYTES)
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
	/* Most strings fit into the remaining space. */
	size_t room = buf->cap - buf->len;
	int len = vsnprintf(room != 0 ? buf->data + buf->len : NULL, room, format, args);
	va_end(args);
	if (len < 0)
		tdm_out_of_memory();
	make_room(buf, (size_t)len);
	if ((size_t)len >= room)
		vsnprintf(buf->data + buf->len, (size_t)len + 1, format, again);
	buf->len += (size_t)len;
	va_end(again);
}

/* ---- folding ---- */

size_t tdm_wrap_columns(struct tdm_str text)
{
	size_t columns = 0;
	for (size_t i = 0; i < text.len; i++)
		if (((unsigned char)text.ptr[i] & 0xc0) != 0x80) /* not a continuation byte */
			columns++;
	return columns;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* Cuts the next word off the front of *text; returns an empty word at the end. *gap: the number of spaces to put
 * before the word: two if exactly two precede it, else one. */
static struct tdm_str take_word(struct tdm_str *text, size_t *gap)
{
	size_t begin = 0;
	while (begin < text->len && is_blank(text->ptr[begin]))
		begin++;
	*gap = 0;
	while (*gap < begin && text->ptr[*gap] == ' ')
		++*gap;
	*gap = *gap == begin && *gap == 2 ? 2 : 1;
	size_t end = begin;
	while (end < text->len && !is_blank(text->ptr[end]))
		end++;
	struct tdm_str word = { text->ptr + begin, end - begin };
	*text = (struct tdm_str){ text->ptr + end, text->len - end };
	return word;
}

void tdm_wrap(struct tdm_buf *out, struct tdm_str text, struct tdm_wrap wrap)
{
	size_t column = wrap.at, gap;
	bool line_is_empty = true;
	for (struct tdm_str word; (word = take_word(&text, &gap)).len != 0;) {
		size_t columns = tdm_wrap_columns(word);
		if (!line_is_empty && column + gap + columns > wrap.width) {
			tdm_buf_putc(out, '\n');
			tdm_buf_fill(out, ' ', wrap.indent);
			column = wrap.indent;
			line_is_empty = true;
		}
		gap = line_is_empty ? 0 : gap;
		tdm_buf_fill(out, ' ', gap);
		column += columns + gap;
		tdm_buf_add(out, word.ptr, word.len);
		line_is_empty = false;
	}
	tdm_buf_putc(out, '\n');
}
