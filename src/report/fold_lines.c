#include "report/fold_lines.h"
#include "base/wrap.h"
#include "report/report_put.h"

#include <ctype.h>

/* The length of the escape sequence at the beginning of the text; 0: there is none. */
static size_t escape_len(struct tdm_str text)
{
	const char *end = text.len != 0 && text.ptr[0] == '\033' ? memchr(text.ptr, 'm', text.len) : NULL;
	return end != NULL ? (size_t)(end - text.ptr) + 1 : 0;
}

/* Columns that a line takes, without escape sequences. */
static size_t columns_of(struct tdm_str line)
{
	size_t columns = tdm_wrap_columns(line);
	for (size_t i = 0; i < line.len; i++)
		columns -= escape_len((struct tdm_str){ line.ptr + i, line.len - i });
	return columns;
}

/* The bytes before the sentence of a line that begins with a label; 0: it has none. */
static size_t after_label(struct tdm_str line)
{
	size_t at = escape_len(line), columns = 0, blanks = 0;
	if (at == line.len || !isupper((unsigned char)line.ptr[at]))
		return 0;
	while (at < line.len && columns < TDM_LABEL_COLUMNS) {
		size_t skip = escape_len((struct tdm_str){ line.ptr + at, line.len - at });
		if (skip == 0) {
			blanks = line.ptr[at] == ' ' ? blanks + 1 : 0;
			columns++;
			skip = 1;
		}
		at += skip;
	}
	return blanks != 0 && at < line.len && line.ptr[at] != ' ' ? at : 0;
}

/* Words with one blank between them. */
static bool is_sentence(struct tdm_str text)
{
	bool has_blank = false;
	for (size_t i = 0; i < text.len; i++) {
		bool is_blank = text.ptr[i] == ' ';
		if (is_blank && (i == 0 || text.ptr[i - 1] == ' '))
			return false;
		has_blank |= is_blank;
	}
	return has_blank;
}

/* The bytes before the last cell of a row: after the last blanks that are more than one. 0: there is one cell. */
static size_t before_last(struct tdm_str line)
{
	size_t at = line.len;
	while (at > 2 && !(line.ptr[at - 1] == ' ' && line.ptr[at - 2] == ' '))
		at--;
	return at > 2 ? at : 0;
}

static bool fold(struct tdm_buf *out, struct tdm_str line, size_t width)
{
	enum { LEAST = 16 }; /* columns for the text */
	size_t label = after_label(line), last = before_last(line), at = label;
	while (label == 0 && at < line.len && line.ptr[at] == ' ')
		at++;
	bool is_cell = last > at; /* of a row that has others before it */
	at = is_cell ? last : at;
	struct tdm_str text = { line.ptr + at, line.len - at };
	size_t column = columns_of((struct tdm_str){ line.ptr, at });
	if (!is_sentence(text) || (is_cell && column + LEAST > width))
		return false;
	tdm_buf_add(out, line.ptr, at);
	tdm_wrap(out, text, (struct tdm_wrap){ column, is_cell || label != 0 ? column : column + 2, width });
	return true;
}

void tdm_fold_lines(struct tdm_buf *out, struct tdm_str text, size_t width)
{
	while (text.len != 0) {
		const char *end = memchr(text.ptr, '\n', text.len);
		struct tdm_str line = { text.ptr, end != NULL ? (size_t)(end - text.ptr) : text.len };
		if (columns_of(line) <= width || !fold(out, line, width)) {
			tdm_buf_add(out, line.ptr, line.len);
			tdm_buf_putc(out, '\n');
		}
		size_t done = line.len + (end != NULL);
		text = (struct tdm_str){ text.ptr + done, text.len - done };
	}
}
