#include "report/cell.h"

static const char mark[] = "...";

/* The bytes of the character at `at`, or 0 when it is not one of UTF-8 that can be shown. */
static size_t character(const char *at, size_t left)
{
	unsigned char c = (unsigned char)at[0];
	size_t len = c < 0x80                ? 1
		     : c >= 0xc2 && c < 0xe0 ? 2
		     : c >= 0xe0 && c < 0xf0 ? 3
		     : c >= 0xf0 && c < 0xf5 ? 4
					     : 0;
	if (len == 1)
		return c >= 0x20 && c < 0x7f;
	if (len > left)
		return 0;
	for (size_t i = 1; i < len; i++)
		if (((unsigned char)at[i] & 0xc0) != 0x80)
			return 0;
	/* U+0080 to U+009F are controls; the last byte of the two tells. */
	return len == 2 && c == 0xc2 && (unsigned char)at[1] < 0xa0 ? 0 : len;
}

size_t tdm_cell_put(struct tdm_buf *out, struct tdm_str text, size_t columns, bool utf8)
{
	size_t used = 0, cut_len = out->len, cut_used = 0;
	for (size_t i = 0; i < text.len;) {
		size_t len = character(text.ptr + i, text.len - i);
		if (columns != 0 && used == columns) {
			/* One column too many: back to where the mark still fits. */
			if (columns <= strlen(mark) || tdm_buf_failed(out))
				return used;
			out->len = cut_len;
			tdm_buf_puts(out, mark);
			return cut_used + strlen(mark);
		}
		if (columns != 0 && used + strlen(mark) <= columns) {
			cut_len = out->len;
			cut_used = used;
		}
		if (len == 0 || (len > 1 && !utf8))
			tdm_buf_putc(out, '?');
		else
			tdm_buf_add(out, text.ptr + i, len);
		i += len != 0 ? len : 1;
		used++;
	}
	return used;
}

void tdm_cell_trim(struct tdm_buf *out)
{
	while (out->len != 0 && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
}
