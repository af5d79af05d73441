/*
 * Results as Markdown, as GitHub and most other sites read it: headings, lists and tables. Text of unknown origin is
 * shown literally: no part of it is interpreted as markup, a link, an address or a user name. Control characters and
 * invalid UTF-8 become '?'.
 */
#include "view/write/cell.h"
#include "view/write/table.h"
#include "view/write/write.h"

#include <string.h>
#include <strings.h>

/* ---- text ---- */

/* The length of the longest run of a character. */
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

/* Whether sites would interpret the text at `i` as a user name, and notify that user, or as an issue number: "#12",
 * "GH-12". */
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
		if (makes_reference(text, i)) /* this HTML comment is invisible */
			tdm_buf_puts(out, "<!-- -->");
	}
}

void tdm_markdown_text(struct tdm_buf *out, struct tdm_str text)
{
	struct tdm_buf clean = { 0 };
	tdm_cell_put(&clean, text, 0, true);
	put_escaped(out, tdm_buf_str(&clean));
	tdm_buf_done(&clean);
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

/* ---- blocks ---- */

static void put_value(const struct tdm_line *line, struct tdm_buf *out)
{
	struct tdm_buf text = { 0 };
	if (line->pattern != NULL)
		tdm_sentence_put(&text, line->pattern, line->values, line->count);
	else if (line->count != 0)
		tdm_value_put(&text, &line->values[0].value);
	tdm_markdown_text(out, tdm_buf_str(&text));
	tdm_buf_done(&text);
}

static void put_line(const struct tdm_line *line, struct tdm_buf *out)
{
	if (line->label == NULL && line->pattern == NULL)
		return;
	if (line->label != NULL && line->label[0] != '\0') {
		tdm_buf_puts(out, "- **");
		tdm_markdown_text(out, tdm_str_of(line->label));
		tdm_buf_puts(out, "**: ");
		put_value(line, out);
		tdm_buf_putc(out, '\n');
	} else {
		tdm_buf_puts(out, "\n");
		put_value(line, out);
		tdm_buf_puts(out, "\n\n");
	}
}

static void put_heading(const char *title, unsigned level, struct tdm_buf *out)
{
	if (title == NULL || title[0] == '\0')
		return;
	tdm_buf_putc(out, '\n');
	tdm_buf_fill(out, '#', level < 6 ? level : 6);
	tdm_buf_putc(out, ' ');
	tdm_markdown_text(out, tdm_str_of(title));
	tdm_buf_puts(out, "\n\n");
}

void tdm_write_markdown(const struct tdm_block *top, unsigned level, struct tdm_buf *out)
{
	for (const struct tdm_block *block = top->first; block != NULL; block = block->next) {
		if (block->is_data_only)
			continue;
		switch ((enum tdm_block_type)block->type) {
		case TDM_BLOCK_GROUP:
		case TDM_BLOCK_LIST:
			put_heading(block->title, level, out);
			tdm_write_markdown(block, level + (block->title != NULL), out);
			break;
		case TDM_BLOCK_LINE:
		case TDM_BLOCK_NOTE:
			put_line(&block->line, out);
			break;
		case TDM_BLOCK_TABLE:
			put_heading(block->table.count != 0 ? block->title : NULL, level, out);
			tdm_buf_puts(out, block->table.count != 0 && block->title == NULL ? "\n" : "");
			tdm_table_markdown(&block->table, out);
			break;
		case TDM_BLOCK_FINDINGS:
			put_heading(block->findings.list.count != 0 ? block->title : NULL, level, out);
			struct tdm_buf line = { 0 };
			for (size_t i = 0; i < block->findings.list.count; i++, tdm_buf_clear(&line)) {
				const struct tdm_finding *finding = &block->findings.list.list[i];
				if (finding->severity == TDM_FINDING_OK && !block->findings.shows_fine)
					continue;
				tdm_finding_put_line(&block->findings.list, finding, true, &line);
				tdm_buf_printf(
					out, "- **%s** ", tdm_severity_name((enum tdm_severity)finding->severity));
				tdm_markdown_text(out, tdm_buf_str(&line));
				tdm_buf_putc(out, '\n');
			}
			tdm_buf_done(&line);
			break;
		case TDM_BLOCK_WRITTEN:
			put_heading(block->title, level, out);
			if (block->written->len != 0)
				tdm_markdown_block(out, tdm_buf_str(block->written));
			break;
		case TDM_BLOCK_L1_MAP:
		case TDM_BLOCK_DRAWING:
		case TDM_BLOCK_CHART: /* a line of marks needs a fixed-width font; the figures are in tables */
			break;
		}
	}
}
