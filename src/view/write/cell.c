#include "view/write/cell.h"

static const char mark[] = "...";

size_t tdm_cell_put(struct tdm_buf *out, struct tdm_str text, size_t columns, bool utf8)
{
	size_t plain = 0;
	while (plain < text.len && text.ptr[plain] >= ' ' && text.ptr[plain] < 0x7f)
		plain++;
	if (plain == text.len && (columns == 0 || plain <= columns)) {
		tdm_buf_add(out, text.ptr, text.len);
		return plain;
	}
	size_t used = 0, cut_len = out->len, cut_used = 0;
	for (size_t i = 0; i < text.len;) {
		size_t len = tdm_str_printable(text.ptr + i, text.len - i);
		if (columns != 0 && used == columns) {
			/* One column too many: go back to the last place where the mark fits. */
			if (columns <= strlen(mark))
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
