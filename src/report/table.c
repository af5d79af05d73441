#include "report/table.h"
#include "base/kind.h"
#include "base/wrap.h"
#include "report/cell.h"
#include "report/markdown.h"

#include <inttypes.h>
#include <stdio.h>

enum { RANGES_MAX = 24 }; /* columns that can share a unit: the first of a table */

/* The structure with the column's member, or NULL. */
static const char *base_of(const struct tdm_field *field)
{
	const char *row = field->row;
	return field->column->via == 0 ? row : *(const char *const *)(const void *)(row + field->column->via - 1);
}

struct tdm_value tdm_field_member(const struct tdm_field *field)
{
	const struct tdm_column *column = field->column;
	const char *base = base_of(field);
	if (base == NULL)
		return tdm_value_text(NULL);
	const void *at = base + column->offset;
	int64_t integer;
	switch ((enum tdm_member)column->member) {
	case TDM_MEMBER_INDEX:
		return tdm_value_number(
			(uint64_t)((const char *)field->row - (const char *)field->table->rows) / field->table->stride);
	case TDM_MEMBER_U8:
		return tdm_value_number(*(const uint8_t *)at);
	case TDM_MEMBER_U16:
		return tdm_value_number(*(const uint16_t *)at);
	case TDM_MEMBER_U32:
		return tdm_value_number(*(const uint32_t *)at != UINT32_MAX ? *(const uint32_t *)at : UINT64_MAX);
	case TDM_MEMBER_U64:
		return tdm_value_number(*(const uint64_t *)at);
	case TDM_MEMBER_I32:
	case TDM_MEMBER_I64:
		integer = column->member == TDM_MEMBER_I32 ? *(const int32_t *)at : *(const int64_t *)at;
		return (struct tdm_value){ integer != INT64_MIN ? TDM_VALUE_SIGNED : TDM_VALUE_UNKNOWN,
			{ .integer = integer } };
	case TDM_MEMBER_SHARE:
		return tdm_value_share(*(const double *)at);
	case TDM_MEMBER_BOOL:
		return (struct tdm_value){ TDM_VALUE_BOOL, { .yes = *(const bool *)at } };
	case TDM_MEMBER_CHARS:
		return tdm_value_text(at);
	case TDM_MEMBER_POINTER:
		return tdm_value_text(*(const char *const *)at);
	case TDM_MEMBER_STR:
		return (struct tdm_value){ TDM_VALUE_TEXT, { .text = *(const struct tdm_str *)at } };
	default:
		return tdm_value_text(NULL);
	}
}

static struct tdm_value get(const struct tdm_field *field)
{
	const struct tdm_column *c = field->column;
	struct tdm_value value = c->get != NULL ? c->get(field) : tdm_field_member(field);
	if ((c->flags & (TDM_ZERO_IS_UNKNOWN | TDM_NEGATIVE_IS_UNKNOWN | TDM_IS_KIND)) == 0 && c->known_size == 0)
		return value;
	static const uint64_t zero;
	bool is_zero = value.type == TDM_VALUE_TEXT ? value.text.len == 0 : value.number == 0;
	if ((c->flags & TDM_ZERO_IS_UNKNOWN && is_zero) || (c->flags & TDM_NEGATIVE_IS_UNKNOWN && value.integer < 0) ||
		(c->known_size != 0 && value.type != TDM_VALUE_UNKNOWN &&
			memcmp(base_of(field) + c->known_by, &zero, c->known_size) == 0))
		value.type = TDM_VALUE_UNKNOWN;
	if (c->flags & TDM_IS_KIND && value.type == TDM_VALUE_NUMBER)
		value = tdm_value_text(
			value.number < TDM_KIND_COUNT ? tdm_kind_name((enum tdm_kind)value.number) : NULL);
	return value;
}

char *tdm_field_bytes(const struct tdm_field *field, char *dst, size_t cap, uint64_t bytes, size_t columns)
{
	char text[TDM_BYTES_CAP];
	if (field->range != NULL)
		return tdm_format_bytes_in(dst, cap, bytes, field->range, columns);
	tdm_format_bytes(text, sizeof text, bytes);
	snprintf(dst, cap, "%s", text + strspn(text, " "));
	return dst;
}

/* Returns whether it is a number. */
static bool put_value(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_column *c = field->column;
	const char *unknown = c->unknown != NULL       ? c->unknown
			      : c->flags & TDM_IS_KIND ? "unknown"
						       : field->table->unknown;
	struct tdm_value value = get(field);
	bool is_minus = (value.type == TDM_VALUE_SIGNED && value.integer < 0) ||
			(value.type == TDM_VALUE_SHARE && signbit(value.share));
	char text[64];
	if (value.type == TDM_VALUE_UNKNOWN)
		tdm_buf_puts(out, unknown != NULL ? unknown : "-");
	else if (value.type == TDM_VALUE_TEXT)
		tdm_buf_add(out, value.text.ptr, value.text.len);
	else if (value.type == TDM_VALUE_BOOL)
		tdm_buf_puts(out, value.yes ? "yes" : "no");
	else
		tdm_buf_puts(out, is_minus ? "-" : c->flags & TDM_WITH_SIGN ? "+" : "");
	if (value.type == TDM_VALUE_SHARE)
		tdm_buf_printf(out, "%.*f%%", c->decimals, 100 * fabs(value.share));
	if (value.type != TDM_VALUE_NUMBER && value.type != TDM_VALUE_SIGNED)
		return value.type == TDM_VALUE_SHARE;
	value.number = is_minus ? 0 - value.number : value.number;
	if (c->format == tdm_format_bytes)
		tdm_field_bytes(field, text, sizeof text, value.number, c->width);
	else if (c->format != NULL)
		c->format(text, sizeof text, value.number);
	else
		snprintf(text, sizeof text, "%" PRIu64, value.number);
	tdm_buf_puts(out, text + strspn(text, " "));
	return true;
}

/* A line that is being written. */
struct line {
	const struct tdm_table *table;
	const struct tdm_term *term;
	struct tdm_buf *out;
	size_t at;      /* columns so far */
	bool is_number; /* the value of the next cell */
};

static void fill(struct line *line, size_t blanks)
{
	tdm_buf_fill(line->out, ' ', blanks);
	line->at += blanks;
}

static bool is_number_column(const struct tdm_column *c)
{
	return c->format != NULL ||
	       (c->member != TDM_MEMBER_NONE && c->member < TDM_MEMBER_CHARS && (c->flags & TDM_IS_KIND) == 0);
}

static size_t width_of(const struct tdm_table *table, const struct tdm_column *c)
{
	return c->width < TDM_WIDTH_OF_TABLE ? c->width : table->widths[c->width - TDM_WIDTH_OF_TABLE];
}

/* Appends a cell, with the blanks before it and, if the column has a width, those up to the next column. */
static void put_cell(struct line *line, const struct tdm_column *c, const char *style, struct tdm_str text)
{
	size_t width = width_of(line->table, c), columns = tdm_wrap_columns(text);
	size_t blanks = columns < width && (c->flags & TDM_WRAP) == 0 ? width - columns : 0;
	bool is_number = is_number_column(c);
	bool is_right = is_number != ((c->flags & TDM_OTHER_SIDE) != 0);
	size_t most = is_number || line->is_number || c->flags & (TDM_WHOLE | TDM_WRAP) ? 0 : width;
	fill(line, c->before);
	if (c->flags & TDM_REST)
		most = line->term->width > line->at + width ? line->term->width - line->at : width;
	tdm_buf_puts(line->out, style);
	fill(line, is_right ? blanks : 0);
	line->at += tdm_cell_put(line->out, text, most, line->term->utf8);
	fill(line, is_right ? 0 : blanks);
	tdm_buf_puts(line->out, style[0] != '\0' ? TDM_STYLE_OFF : "");
}

/* Appends a cell that continues below, made printable; tabs and newlines separate words. */
static void put_wrapped(struct line *line, struct tdm_buf *cell)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	for (size_t i = 0; i < cell->len; i++)
		cell->data[i] = cell->data[i] == '\n' || cell->data[i] == '\t' ? ' ' : cell->data[i];
	tdm_cell_put(&text, tdm_buf_str(cell), 0, line->term->utf8);
	tdm_wrap(line->out, tdm_buf_str(&text), (struct tdm_wrap){ line->at, line->at, line->term->width });
	line->out->failed |= text.failed;
	tdm_buf_done(&text);
}

static bool is_hidden(const struct tdm_table *table, size_t column)
{
	return column < 64 && (table->hidden >> column & 1) != 0;
}

static const struct tdm_bytes_range *range_of(
	const struct tdm_table *table, size_t column, const struct tdm_bytes_range *ranges)
{
	if (table->units == TDM_UNITS_OWN || ranges == NULL || column >= RANGES_MAX)
		return NULL;
	return &ranges[table->units == TDM_UNITS_ROW ? 0 : column];
}

/* The sizes of a row that share a unit: with each other, or with those of their column. */
static void add_sizes(const struct tdm_table *table, const void *row, struct tdm_bytes_range *ranges)
{
	for (size_t i = 0; i < table->column_count && i < RANGES_MAX; i++) {
		const struct tdm_field field = { table, row, &table->columns[i], NULL };
		if (field.column->format != tdm_format_bytes || field.column->title == NULL || is_hidden(table, i))
			continue;
		struct tdm_value value = get(&field);
		if (value.type == TDM_VALUE_NUMBER)
			tdm_bytes_range_add(&ranges[table->units == TDM_UNITS_ROW ? 0 : i], value.number);
	}
}

/*
 * The cells of a row or, if it is NULL, the first or second line of titles. Returns whether a title has a second line.
 */
static bool put_line(const struct tdm_table *table, const void *row, bool is_second,
	const struct tdm_bytes_range *ranges, const struct tdm_term *term, struct tdm_buf *out)
{
	struct line line = { table, term, out, 0, false };
	const char *style = row == NULL && table->style != NULL ? tdm_term_style(term, table->style) : "";
	bool has_second = false, is_first = true, is_wrapped = false;
	struct tdm_buf cell;
	tdm_buf_init(&cell);
	tdm_buf_puts(out, style);
	fill(&line, table->indent);
	for (size_t i = 0; i < table->column_count; i++, tdm_buf_clear(&cell)) {
		const struct tdm_column *c = &table->columns[i];
		const struct tdm_field field = { table, row, c, range_of(table, i, ranges) };
		if (c->title == NULL || is_hidden(table, i))
			continue;
		size_t first = row == NULL ? strcspn(c->title, "\n") : 0;
		has_second |= row == NULL && c->title[first] != '\0';
		is_wrapped = c->flags & TDM_WRAP && (row != NULL || term->folds);
		line.is_number = false;
		if (row == NULL && is_second)
			tdm_buf_puts(&cell, c->title[first] != '\0' ? c->title + first + 1 : "");
		else if (row == NULL)
			tdm_buf_add(&cell, c->title, first);
		else if (c->text != NULL)
			c->text(&field, &cell);
		else
			line.is_number = put_value(&field, &cell);
		fill(&line, is_first ? 0 : table->gap);
		is_first = false;
		put_cell(&line, c, row != NULL && c->style != NULL ? tdm_term_style(term, c->style(&field)) : "",
			is_wrapped ? (struct tdm_str){ "", 0 } : tdm_buf_str(&cell));
		if (is_wrapped)
			put_wrapped(&line, &cell);
	}
	tdm_cell_trim(out);
	tdm_buf_puts(out, style[0] != '\0' ? TDM_STYLE_OFF : "");
	tdm_buf_puts(out, is_wrapped ? "" : "\n");
	out->failed |= tdm_buf_failed(&cell);
	tdm_buf_done(&cell);
	return has_second;
}

void tdm_table_head(const struct tdm_table *table, const struct tdm_term *term, struct tdm_buf *out)
{
	tdm_buf_puts(out, table->above != NULL ? table->above : "");
	if (put_line(table, NULL, false, NULL, term, out))
		put_line(table, NULL, true, NULL, term, out);
}

static void put_row(const struct tdm_table *table, const void *row, const struct tdm_bytes_range *ranges,
	const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_bytes_range own = { 0 };
	if (table->units == TDM_UNITS_ROW) {
		add_sizes(table, row, &own);
		ranges = &own;
	}
	put_line(table, row, false, ranges, term, out);
	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].below != NULL && !is_hidden(table, i))
			table->columns[i].below(&(struct tdm_field){ table, row, &table->columns[i], NULL }, out);
}

void tdm_table_row(const struct tdm_table *table, const void *row, const struct tdm_term *term, struct tdm_buf *out)
{
	put_row(table, row, NULL, term, out);
}

const void *tdm_table_pointed(const struct tdm_table *table, size_t i)
{
	return ((const void *const *)table->rows)[i];
}

static const void *row_of(const struct tdm_table *table, size_t i)
{
	return table->row != NULL ? table->row(table, i) : (const char *)table->rows + i * table->stride;
}

static size_t shown(const struct tdm_table *table)
{
	return table->limit != 0 && table->limit < table->count ? table->limit : table->count;
}

static void put_text(const struct tdm_table *table, const struct tdm_term *term, struct tdm_buf *out)
{
	uint64_t more = tdm_plus(table->count - shown(table), table->dropped);
	char count[TDM_BYTES_CAP];
	bool any = false;
	struct tdm_bytes_range ranges[RANGES_MAX] = { 0 };
	for (size_t i = 0; i < shown(table) && table->units == TDM_UNITS_COLUMN; i++) {
		const void *row = row_of(table, i);
		if (table->skip == NULL || !table->skip(table, row))
			add_sizes(table, row, ranges);
	}
	for (size_t i = 0; i < shown(table); i++) {
		const void *row = row_of(table, i);
		if (table->skip != NULL && table->skip(table, row))
			continue;
		if (!any && !table->has_no_head)
			tdm_table_head(table, term, out);
		any = true;
		put_row(table, row, ranges, term, out);
		tdm_buf_pass(out);
	}
	if (any && more != 0)
		tdm_buf_printf(out, "%s and %s more\n", table->more != NULL ? table->more : " ",
			tdm_format_count(count, sizeof count, more));
}

/* Columns of text that a column takes at least, with the blanks before it. */
static size_t room_for(const struct tdm_table *table, const struct tdm_column *c)
{
	enum { WRAPPED_MIN = 18 };
	size_t width = width_of(table, c), first = strcspn(c->title, "\n");
	size_t second = c->title[first] != '\0' ? strlen(c->title + first + 1) : 0;
	size_t least = c->flags & TDM_WRAP ? WRAPPED_MIN : first > second ? first : second;
	return (width > least ? width : least) + c->before + table->gap;
}

/* Hides all columns but the first and those from `from` on that fit the width, of which there is at least one. Columns
 * without a title, which may have lines below the rows, are in the first part. Returns where the next part begins. */
static size_t hide_others(struct tdm_table *part, size_t width, size_t from)
{
	size_t used = part->indent, first = SIZE_MAX, count = 0, next = part->column_count;
	uint64_t hidden = part->hidden;
	for (size_t i = 0; i < part->column_count; i++) {
		const struct tdm_column *c = &part->columns[i];
		if (is_hidden(part, i))
			continue;
		bool is_first = c->title != NULL && first == SIZE_MAX, is_before = i < from && !is_first;
		if (is_first)
			first = i;
		if (c->title != NULL && !is_before) {
			used += room_for(part, c);
			count += !is_first;
		}
		if (next == part->column_count && used > width + part->gap && count > 1)
			next = i;
		if (is_before || i >= next)
			hidden |= UINT64_C(1) << i;
	}
	part->hidden = hidden;
	return next;
}

void tdm_table_text(const struct tdm_table *table, const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_table part = *table;
	if (!term->folds || table->column_count > 64) {
		put_text(table, term, out);
		return;
	}
	for (size_t from = 0; from < table->column_count; part.above = NULL) {
		part.hidden = table->hidden;
		from = hide_others(&part, term->width, from);
		bool is_last = from == table->column_count; /* it says how many more rows there are */
		part.count = is_last ? table->count : shown(table);
		part.dropped = is_last ? table->dropped : 0;
		put_text(&part, term, out);
	}
}

static void put_json(const struct tdm_field *field, struct tdm_json *json)
{
	struct tdm_value value = get(field);
	if (value.type == TDM_VALUE_NUMBER)
		tdm_json_u64(json, value.number);
	else if (value.type == TDM_VALUE_SIGNED)
		tdm_json_i64(json, value.integer);
	else if (value.type == TDM_VALUE_SHARE)
		tdm_json_double(json, value.share);
	else if (value.type == TDM_VALUE_BOOL)
		tdm_json_bool(json, value.yes);
	else if (value.type == TDM_VALUE_TEXT)
		tdm_json_str(json, value.text);
	else
		tdm_json_null(json);
}

void tdm_table_keys(const struct tdm_table *table, const void *row, struct tdm_json *json)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const struct tdm_column *column = &table->columns[i];
		const struct tdm_field field = { table, row, column, NULL };
		if (is_hidden(table, i))
			continue;
		if (column->key != NULL)
			tdm_json_key(json, column->key);
		if (column->json != NULL)
			column->json(&field, json);
		else if (column->key != NULL)
			put_json(&field, json);
	}
}

void tdm_table_json(const struct tdm_table *table, struct tdm_json *json)
{
	tdm_json_array(json);
	for (size_t i = 0; i < shown(table); i++) {
		const void *row = row_of(table, i);
		if (table->skip != NULL && table->skip(table, row))
			continue;
		tdm_json_object(json);
		tdm_table_keys(table, row, json);
		tdm_json_object_end(json);
		tdm_buf_pass(json->out);
	}
	tdm_json_array_end(json);
}

/* The cells of a row or, if it is NULL, the titles, on one line. */
static void put_markdown_line(const struct tdm_table *table, const void *row, struct tdm_buf *out)
{
	struct tdm_buf cell;
	tdm_buf_init(&cell);
	tdm_buf_putc(out, '|');
	for (size_t i = 0; i < table->column_count; i++, tdm_buf_clear(&cell)) {
		const struct tdm_column *c = &table->columns[i];
		const struct tdm_field field = { table, row, c, NULL };
		if (c->title == NULL || is_hidden(table, i))
			continue;
		if (row == NULL)
			tdm_buf_puts(&cell, c->title);
		else if (c->text != NULL)
			c->text(&field, &cell);
		else
			put_value(&field, &cell);
		for (size_t k = 0; row == NULL && k < cell.len; k++)
			cell.data[k] = cell.data[k] == '\n' ? ' ' : cell.data[k];
		tdm_buf_putc(out, ' ');
		tdm_markdown_text(out, tdm_buf_str(&cell));
		tdm_buf_puts(out, " |");
	}
	tdm_buf_putc(out, '\n');
	out->failed |= tdm_buf_failed(&cell);
	tdm_buf_done(&cell);
}

/* The line below the titles, which says how columns are aligned. */
static void put_markdown_rule(const struct tdm_table *table, struct tdm_buf *out)
{
	tdm_buf_putc(out, '|');
	for (size_t i = 0; i < table->column_count; i++) {
		const struct tdm_column *c = &table->columns[i];
		if (c->title != NULL && !is_hidden(table, i))
			tdm_buf_puts(out, is_number_column(c) != ((c->flags & TDM_OTHER_SIDE) != 0) ? "---:|" : "---|");
	}
	tdm_buf_putc(out, '\n');
}

void tdm_table_markdown(const struct tdm_table *table, struct tdm_buf *out)
{
	uint64_t more = tdm_plus(table->count - shown(table), table->dropped);
	char count[TDM_BYTES_CAP];
	bool any = false;
	for (size_t i = 0; i < shown(table); i++) {
		const void *row = row_of(table, i);
		if (table->skip != NULL && table->skip(table, row))
			continue;
		if (!any) {
			put_markdown_line(table, NULL, out);
			put_markdown_rule(table, out);
		}
		any = true;
		put_markdown_line(table, row, out);
		tdm_buf_pass(out);
	}
	if (any && more != 0)
		tdm_buf_printf(out, "\nand %s more\n", tdm_format_count(count, sizeof count, more));
}
