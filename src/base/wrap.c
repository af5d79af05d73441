#include "base/wrap.h"

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

/* Cuts the next word off the front of *text; an empty word at the end. */
static struct tdm_str take_word(struct tdm_str *text)
{
	size_t begin = 0;
	while (begin < text->len && is_blank(text->ptr[begin]))
		begin++;
	size_t end = begin;
	while (end < text->len && !is_blank(text->ptr[end]))
		end++;
	struct tdm_str word = { text->ptr + begin, end - begin };
	*text = (struct tdm_str){ text->ptr + end, text->len - end };
	return word;
}

void tdm_wrap(struct tdm_buf *out, struct tdm_str text, struct tdm_wrap wrap)
{
	size_t column = wrap.at;
	bool line_is_empty = true;
	for (struct tdm_str word; (word = take_word(&text)).len != 0;) {
		size_t columns = tdm_wrap_columns(word);
		if (!line_is_empty && column + 1 + columns > wrap.width) {
			tdm_buf_putc(out, '\n');
			tdm_buf_fill(out, ' ', wrap.indent);
			column = wrap.indent;
			line_is_empty = true;
		}
		if (!line_is_empty)
			tdm_buf_putc(out, ' ');
		column += columns + !line_is_empty;
		tdm_buf_add(out, word.ptr, word.len);
		line_is_empty = false;
	}
	tdm_buf_putc(out, '\n');
}
