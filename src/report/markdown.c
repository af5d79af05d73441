#include "report/markdown.h"
#include "report/cell.h"

#include <string.h>
#include <strings.h>

/* The longest run of a character. */
static size_t longest_run(struct tdm_str text, char c)
{
	size_t longest = 0, run = 0;
	for (size_t i = 0; i < text.len; i++) {
		run = text.ptr[i] == c ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

/* Whether the character at `i` completes "https://" or "www.", which sites turn into links. */
static bool makes_link(struct tdm_str text, size_t i)
{
	if (text.ptr[i] == ':')
		return text.len - i > 2 && memcmp(text.ptr + i, "://", 3) == 0;
	return text.ptr[i] == '.' && i >= 3 && strncasecmp(text.ptr + i - 3, "www", 3) == 0;
}

/* Whether sites take what begins at `i` for a user, whom they notify, or for the number of an issue: "#12", "GH-12". */
static bool makes_reference(struct tdm_str text, size_t i)
{
	bool before_digit = i + 1 < text.len && text.ptr[i + 1] >= '0' && text.ptr[i + 1] <= '9';
	if (text.ptr[i] == '-')
		return before_digit && i >= 2 && strncasecmp(text.ptr + i - 2, "GH", 2) == 0;
	return text.ptr[i] == '@' || (text.ptr[i] == '#' && before_digit);
}

static void put_escaped(struct tdm_buf *out, struct tdm_str text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		if (c == '<' || c == '>' || c == '&') {
			tdm_buf_puts(out, c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;");
			continue;
		}
		if (strchr("\\`*_[]|~$", c) != NULL || makes_link(text, i))
			tdm_buf_putc(out, '\\');
		tdm_buf_putc(out, c);
		if (makes_reference(text, i)) /* the comment does not show */
			tdm_buf_puts(out, "<!-- -->");
	}
}

void tdm_markdown_text(struct tdm_buf *out, struct tdm_str text)
{
	struct tdm_buf clean;
	tdm_buf_init(&clean);
	tdm_cell_put(&clean, text, 0, true);
	put_escaped(out, tdm_buf_str(&clean));
	out->failed |= clean.failed;
	tdm_buf_done(&clean);
}

/* A bar would end the cell of a table even in such text, and a backslash before it would not always help. */
void tdm_markdown_code(struct tdm_buf *out, struct tdm_str text)
{
	if (text.len == 0 || memchr(text.ptr, '|', text.len) != NULL) {
		tdm_markdown_text(out, text);
		return;
	}
	size_t fence = longest_run(text, '`') + 1;
	/* One blank at each end does not show. It keeps the text's own, and separates its backticks from ours. */
	const char *blank = fence > 1 || text.ptr[0] == ' ' || text.ptr[text.len - 1] == ' ' ? " " : "";
	tdm_buf_fill(out, '`', fence);
	tdm_buf_puts(out, blank);
	tdm_cell_put(out, text, 0, true);
	tdm_buf_puts(out, blank);
	tdm_buf_fill(out, '`', fence);
}

void tdm_markdown_block(struct tdm_buf *out, struct tdm_str text)
{
	size_t fence = longest_run(text, '`') + 1;
	fence = fence < 3 ? 3 : fence;
	while (text.len != 0 && text.ptr[text.len - 1] == '\n')
		text.len--;
	tdm_buf_fill(out, '`', fence);
	tdm_buf_puts(out, "text\n");
	while (text.len != 0) {
		const char *end = memchr(text.ptr, '\n', text.len);
		size_t len = end != NULL ? (size_t)(end - text.ptr) : text.len;
		tdm_cell_put(out, (struct tdm_str){ text.ptr, len }, 0, true);
		tdm_buf_putc(out, '\n');
		len += end != NULL;
		text = (struct tdm_str){ text.ptr + len, text.len - len };
	}
	tdm_buf_fill(out, '`', fence);
	tdm_buf_putc(out, '\n');
}
