/* Results as text: labelled lines, tables, one line for each series of a chart, findings, notes at the end. */
#include "base/buf.h"
#include "view/rows/live_result.h"
#include "view/write/cell.h"
#include "view/write/table.h"
#include "view/write/write.h"

#include <string.h>

enum { LABEL_COLUMNS = 15, CHART_LABEL = 16, GROUP_INDENT = 2 };

/* The output and its indentation. */
struct page {
	const struct tdm_term *term;
	struct tdm_buf *out;
	size_t indent;
	size_t label_columns;
};

static void put_style(const struct page *page, enum tdm_level level)
{
	tdm_buf_puts(page->out, tdm_term_style(page->term, tdm_level_style(level)));
}

static void put_off(const struct page *page, enum tdm_level level)
{
	if (level != TDM_LEVEL_PLAIN)
		tdm_buf_puts(page->out, tdm_term_style(page->term, TDM_STYLE_OFF));
}

/* Writes text of unknown origin on one line, folded if the terminal folds; `used` columns are already occupied. */
static void put_folded(const struct page *page, struct tdm_str text, size_t used, size_t indent)
{
	struct tdm_buf clean = { 0 };
	tdm_cell_put(&clean, text, 0, page->term->utf8);
	if (page->term->folds && used + tdm_wrap_columns(tdm_buf_str(&clean)) > page->term->width)
		tdm_wrap(page->out, tdm_buf_str(&clean), (struct tdm_wrap){ used, indent, page->term->width });
	else
		tdm_buf_printf(page->out, "%s\n", tdm_buf_str(&clean).ptr);
	tdm_buf_done(&clean);
}

static void put_line(const struct page *page, const struct tdm_line *line)
{
	size_t indent = page->indent + (line->label != NULL ? page->label_columns : 0);
	struct tdm_buf text = { 0 };
	if (line->pattern != NULL)
		tdm_sentence_put(&text, line->pattern, line->values, line->count);
	else if (line->count != 0)
		tdm_value_put(&text, &line->values[0].value);
	if (line->label == NULL && line->count != 0 && text.len == 0) {
		tdm_buf_done(&text); /* all figures in the sentence are unknown */
		return;
	}
	put_style(page, (enum tdm_level)line->level);
	tdm_buf_fill(page->out, ' ', page->indent);
	if (line->label != NULL)
		tdm_buf_printf(page->out, "%-*s", (int)page->label_columns, line->label);
	put_folded(page, tdm_buf_str(&text), indent, line->label != NULL ? indent : indent + GROUP_INDENT);
	put_off(page, (enum tdm_level)line->level);
	tdm_buf_done(&text);
}

static void put_title(const struct page *page, const char *title)
{
	if (title == NULL || title[0] == '\0')
		return;
	tdm_buf_fill(page->out, ' ', page->indent);
	put_style(page, TDM_LEVEL_STRONG);
	put_folded(page, tdm_str_of(title), page->indent, page->indent + GROUP_INDENT);
	put_off(page, TDM_LEVEL_STRONG);
}

/* Writes a blank line before a block, unless the block is first. */
static void put_gap(const struct page *page)
{
	size_t len = page->out->len;
	if (len == 0 || (len >= 2 && page->out->data[len - 1] == '\n' && page->out->data[len - 2] == '\n'))
		return;
	tdm_buf_putc(page->out, '\n');
}

static void put_table(const struct page *page, const struct tdm_block *block)
{
	struct tdm_table table = block->table;
	if (table.count == 0)
		return;
	table.indent = (uint8_t)(table.indent + page->indent);
	if (!block->is_close)
		put_gap(page);
	put_title(page, block->title);
	tdm_table_text(&table, page->term, page->out);
}

/* ---- charts ---- */

/* Writes one mark for a share from 0 to 1; only a true zero is blank. */
static void put_level(const struct page *page, double share)
{
	static const char *const blocks[] = { " ", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587",
		"\u2588" };
	static const char *const marks[] = { " ", ".", ":", "-", "=", "+", "*", "%", "#" };
	int level = (int)(share * 8 + 0.999);
	level = level < 0 ? 0 : level > 8 ? 8 : level;
	tdm_buf_puts(page->out, page->term->utf8 ? blocks[level] : marks[level]);
}

static struct tdm_value point(const struct tdm_table *table, const struct tdm_column *column, size_t i)
{
	struct tdm_arena scratch = { 0 };
	const struct tdm_field field = { table, tdm_table_row_at(table, i), column, NULL, &scratch };
	const struct tdm_value value = tdm_field_value(&field);
	tdm_arena_done(&scratch);
	return value;
}

static double size_of(const struct tdm_value *value)
{
	return value->type == TDM_VALUE_REAL     ? value->real
	       : value->type == TDM_VALUE_NUMBER ? (double)value->number
						 : 0;
}

/* Writes a line for each column with a title, unless all figures of the column are 0. Shares range from 0 to 1, other
 * figures from 0 to their largest value. */
static void put_chart(const struct page *page, const struct tdm_block *block)
{
	const struct tdm_table *table = &block->table;
	if (table->count == 0)
		return;
	put_title(page, block->title);
	for (size_t c = 0; c < table->column_count; c++) {
		const struct tdm_column *column = &table->columns[c];
		double most = 0;
		if (column->title == NULL)
			continue;
		for (size_t i = 0; i < table->count; i++) {
			const struct tdm_value value = point(table, column, i);
			bool is_share = value.type == TDM_VALUE_REAL && value.unit == TDM_UNIT_SHARE;
			most = is_share ? 1 : size_of(&value) > most ? size_of(&value) : most;
		}
		if (most == 0 && column->format != NULL)
			continue;
		tdm_buf_fill(page->out, ' ', page->indent);
		tdm_buf_printf(page->out, "%-*s|", CHART_LABEL, column->title);
		for (size_t i = 0; i < table->count; i++) {
			const struct tdm_value value = point(table, column, i);
			put_level(page, most > 0 ? size_of(&value) / most : 0);
		}
		tdm_buf_putc(page->out, '|');
		/* Writes " at most 12 KiB", after a series of counts or sizes. */
		char text[64];
		if (column->format != NULL)
			tdm_buf_printf(page->out, " at most %s",
				column->format(text, sizeof text, most < 0x1p64 ? (uint64_t)most : UINT64_MAX - 1));
		tdm_buf_putc(page->out, '\n');
	}
}

/* Shows text written earlier, under a line across the page. */
static void put_written(const struct page *page, const struct tdm_block *block)
{
	const struct tdm_term *term = page->term;
	struct tdm_buf title = { 0 };
	tdm_cell_text(&title, block->title, term->utf8);
	put_gap(page);
	put_style(page, TDM_LEVEL_STRONG);
	tdm_buf_printf(page->out, "%s %s ", term->utf8 ? "──" : "--", tdm_buf_str(&title).ptr);
	for (size_t columns = tdm_wrap_columns(tdm_buf_str(&title)) + 4; columns < term->width; columns++)
		tdm_buf_puts(page->out, term->utf8 ? "─" : "-");
	put_off(page, TDM_LEVEL_STRONG);
	tdm_buf_puts(page->out, "\n\n");
	tdm_buf_add(page->out, block->written->data, block->written->len);
	tdm_buf_done(&title);
}

/* ---- groups ---- */

bool tdm_block_shows(const struct tdm_block *block)
{
	if (block->is_data_only)
		return false;
	if (block->type == TDM_BLOCK_TABLE || block->type == TDM_BLOCK_CHART)
		return block->table.count != 0;
	if (block->type == TDM_BLOCK_FINDINGS)
		return block->findings.list.count != 0;
	if (block->type > TDM_BLOCK_LIST)
		return true;
	for (const struct tdm_block *b = block->first; b != NULL; b = b->next)
		if (tdm_block_shows(b))
			return true;
	return false;
}

static void put_block(const struct page *page, const struct tdm_block *block);

/* All labels of a group have the same width. */
static void put_members(const struct page *page, const struct tdm_block *group)
{
	struct page own = *page;
	own.label_columns = LABEL_COLUMNS;
	for (const struct tdm_block *block = group->first; block != NULL; block = block->next)
		if (block->type == TDM_BLOCK_LINE && !block->is_data_only && block->line.label != NULL)
			own.label_columns = tdm_max(own.label_columns, strlen(block->line.label) + 1);
	for (const struct tdm_block *block = group->first; block != NULL; block = block->next)
		put_block(&own, block);
}

static void put_group(const struct page *page, const struct tdm_block *block)
{
	struct page inner = *page;
	if (!tdm_block_shows(block))
		return;
	if (block->title != NULL && !block->is_quiet) {
		put_gap(page);
		put_title(page, block->title);
		inner.indent += block->type == TDM_BLOCK_GROUP ? GROUP_INDENT : 0;
	}
	put_members(&inner, block);
}

static void put_block(const struct page *page, const struct tdm_block *block)
{
	if (block->is_data_only)
		return;
	if (block->is_apart && tdm_block_shows(block))
		put_gap(page);
	switch ((enum tdm_block_type)block->type) {
	case TDM_BLOCK_GROUP:
	case TDM_BLOCK_LIST:
		put_group(page, block);
		break;
	case TDM_BLOCK_LINE:
		if (block->line.label != NULL || block->line.pattern != NULL)
			put_line(page, &block->line);
		break;
	case TDM_BLOCK_TABLE:
		put_table(page, block);
		break;
	case TDM_BLOCK_CHART:
		put_chart(page, block);
		break;
	case TDM_BLOCK_FINDINGS:
		put_title(page, block->findings.list.count != 0 ? block->title : NULL);
		tdm_findings_put(&block->findings, page->term, page->out);
		break;
	case TDM_BLOCK_WRITTEN:
		put_written(page, block);
		break;
	case TDM_BLOCK_L1_MAP:
		put_gap(page);
		put_title(page, block->title);
		tdm_l1_text(page->out, block->l1_map, page->term);
		break;
	case TDM_BLOCK_DRAWING:
		block->draw(block->drawn, page->term, page->indent, page->out);
		break;
	case TDM_BLOCK_NOTE:
		break; /* written by put_notes() */
	}
}

/* Writes the notes of all groups, after everything else. */
static void put_notes(const struct page *page, const struct tdm_block *block)
{
	if (block->is_data_only)
		return;
	if (block->type == TDM_BLOCK_NOTE)
		put_line(page, &block->line);
	if (block->type <= TDM_BLOCK_LIST)
		for (const struct tdm_block *b = block->first; b != NULL; b = b->next)
			put_notes(page, b);
}

void tdm_write_text(const struct tdm_block *top, const struct tdm_term *term, struct tdm_buf *out)
{
	const struct page page = { term, out, 0, LABEL_COLUMNS };
	put_members(&page, top);
	put_notes(&page, top);
}

void tdm_write_block(const struct tdm_block *block, const struct tdm_term *term, struct tdm_buf *out)
{
	const struct page page = { term, out, 0, LABEL_COLUMNS };
	put_block(&page, block);
}

static void put_part(const struct tdm_block *part, const char *name, const struct tdm_term *term, struct tdm_buf *out)
{
	(void)name;
	tdm_write_text(part, term, out);
}

static void put_document(const struct tdm_block *top, const struct tdm_term *term, struct tdm_json *json)
{
	tdm_write_text(top, term, json->out);
}

const struct tdm_form tdm_form_text = { "text", ".txt", 0, put_part, NULL, put_document };
