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
	while (text.len != 0 && text.ptr[0] == '\n')
		text = tdm_str_from(text, 1);
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

/* Writes a blank line, unless there is one or nothing came before. Between two items of a list there is none. */
static void put_gap(struct tdm_buf *out, bool is_item)
{
	size_t line = out->len;
	if (out->len == 0 || (out->len >= 2 && out->data[out->len - 2] == '\n'))
		return;
	while (line > 1 && out->data[line - 2] != '\n')
		line--;
	line -= line != 0;
	if (!is_item || (strncmp(out->data + line, "- ", 2) != 0 && strncmp(out->data + line, "  - ", 4) != 0))
		tdm_buf_putc(out, '\n');
}

static void put_line(const struct tdm_line *line, struct tdm_buf *out)
{
	bool is_item = line->label != NULL && line->label[0] != '\0';
	if (line->label == NULL && line->pattern == NULL)
		return;
	put_gap(out, is_item);
	if (is_item) {
		tdm_buf_puts(out, "- **");
		tdm_markdown_text(out, tdm_str_of(line->label));
		tdm_buf_puts(out, "**: ");
	}
	put_value(line, out);
	tdm_buf_putc(out, '\n');
}

static void put_heading(const char *title, unsigned level, struct tdm_buf *out)
{
	if (title == NULL || title[0] == '\0')
		return;
	put_gap(out, false);
	tdm_buf_fill(out, '#', level < 6 ? level : 6);
	tdm_buf_putc(out, ' ');
	tdm_markdown_text(out, tdm_str_of(title));
	tdm_buf_putc(out, '\n');
}

/* Writes what needs a fixed-width font. */
static void put_text_block(
	const struct tdm_block *block, unsigned level, const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_block bare = *block;
	struct tdm_buf text = { 0 };
	bare.title = NULL;
	tdm_write_block(&bare, term, &text);
	if (text.len != 0) {
		put_heading(block->title, level, out);
		put_gap(out, false);
		tdm_markdown_block(out, tdm_buf_str(&text));
	}
	tdm_buf_done(&text);
}

/* Tables that rows own have no place in a Markdown table. */
static void put_table(const struct tdm_block *block, unsigned level, const struct tdm_term *term, struct tdm_buf *out)
{
	if (tdm_table_is_nested(&block->table)) {
		put_text_block(block, level, term, out);
		return;
	}
	put_heading(block->title, level, out);
	put_gap(out, false);
	tdm_table_markdown(&block->table, out);
}

static void put_detail(const struct tdm_details *details, struct tdm_str text)
{
	tdm_buf_puts(details->out, "  - ");
	tdm_markdown_text(details->out, text);
	tdm_buf_putc(details->out, '\n');
}

/* Each row is an item of a list, because a table cannot be part of one. */
static void put_rows(const struct tdm_details *details, const char *label, const struct tdm_table *table)
{
	struct tdm_buf text = { 0 };
	struct tdm_table own = *table;
	struct tdm_term term = *details->term;
	term.folds = false;
	own.has_no_head = label != NULL;
	tdm_table_text(&own, &term, &text);
	struct tdm_str rest = tdm_buf_str(&text);
	if (label != NULL)
		put_detail(details, tdm_str_of(label));
	while (rest.len != 0)
		put_detail(details, tdm_str_trim(tdm_str_take_line(&rest)));
	tdm_buf_done(&text);
}

static void put_advice(const struct tdm_details *details, const struct tdm_advice *advice)
{
	struct tdm_buf text = { 0 };
	tdm_buf_printf(&text, "-> %s", advice->text);
	put_detail(details, tdm_buf_str(&text));
	tdm_buf_clear(&text);
	tdm_buf_printf(&text, "$ %s", advice->command != NULL ? advice->command : "");
	if (advice->command != NULL)
		put_detail(details, tdm_buf_str(&text));
	tdm_buf_done(&text);
}

static void put_finding(const struct tdm_shown_findings *shown, const struct tdm_finding *finding,
	const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_buf line = { 0 };
	tdm_finding_put_line(&shown->list, finding, true, &line);
	put_gap(out, true);
	tdm_buf_printf(out, "- **%s** ", tdm_severity_name((enum tdm_severity)finding->severity));
	tdm_markdown_text(out, tdm_buf_str(&line));
	tdm_buf_putc(out, '\n');
	tdm_buf_done(&line);
	tdm_finding_give(&shown->list, finding,
		&(struct tdm_details){ put_detail, put_rows, put_advice, term, out, shown->is_whole });
}

void tdm_write_markdown(const struct tdm_block *top, unsigned level, const struct tdm_term *term, struct tdm_buf *out)
{
	for (const struct tdm_block *block = top->first; block != NULL; block = block->next) {
		if (!tdm_block_shows(block))
			continue;
		switch ((enum tdm_block_type)block->type) {
		case TDM_BLOCK_GROUP:
		case TDM_BLOCK_LIST:
			put_heading(block->title, level, out);
			tdm_write_markdown(block, level + (block->title != NULL), term, out);
			break;
		case TDM_BLOCK_LINE:
		case TDM_BLOCK_NOTE:
			put_line(&block->line, out);
			break;
		case TDM_BLOCK_TABLE:
			put_table(block, level, term, out);
			break;
		case TDM_BLOCK_FINDINGS:
			put_heading(block->title, level, out);
			tdm_findings_give(&block->findings, put_finding, "- ", term, out);
			break;
		case TDM_BLOCK_WRITTEN:
			put_gap(out, false);
			tdm_buf_add(out, block->written->data, block->written->len);
			break;
		case TDM_BLOCK_L1_MAP:
		case TDM_BLOCK_DRAWING:
		case TDM_BLOCK_CHART:
			put_text_block(block, level, term, out);
			break;
		}
	}
}

/* ---- documents ---- */

enum { DOCUMENT_WIDTH = 100, DOCUMENT_LEVEL = 1, PART_LEVEL = 3 };

static void put_part(const struct tdm_block *part, const char *name, const struct tdm_term *term, struct tdm_buf *out)
{
	(void)name;
	tdm_write_markdown(part, PART_LEVEL, term, out);
}

static void put_document(const struct tdm_block *top, const struct tdm_term *term, struct tdm_json *json)
{
	put_heading(top->title, DOCUMENT_LEVEL, json->out);
	tdm_write_markdown(top, DOCUMENT_LEVEL + 1, term, json->out);
}

const struct tdm_form tdm_form_markdown = { "markdown", ".md", DOCUMENT_WIDTH, put_part, NULL, put_document };
