/*
 * A table is written row by row, each row cell by cell, so the table is never in memory as a whole.
 *
 * Before writing text, column widths are set: columns that fit their cells are measured over the first FITTED_ROWS
 * rows, and sizes that share a unit over all rows. A table that is too wide is written in several parts, each with
 * different columns hidden.
 */
#include "view/write/table.h"
#include "base/arena.h"
#include "base/memory.h"
#include "base/buf.h"
#include "view/write/cell.h"
#include "view/write/write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	FITTED_MAX = 64,    /* maximum number of columns fitted to their cells */
	FITTED_ROWS = 1000, /* rows examined to fit these columns */
	BELOW_INDENT = 4,   /* indent of a table that a row owns */
};

static const char *const level_styles[TDM_LEVELS] = {
	[TDM_LEVEL_PLAIN] = "",
	[TDM_LEVEL_FINE] = TDM_STYLE_GREEN,
	[TDM_LEVEL_NOTE] = TDM_STYLE_CYAN,
	[TDM_LEVEL_WARNING] = TDM_STYLE_YELLOW,
	[TDM_LEVEL_DANGER] = TDM_STYLE_RED,
	[TDM_LEVEL_FAINT] = TDM_STYLE_DIM,
	[TDM_LEVEL_STRONG] = TDM_STYLE_BOLD,
};

const char *tdm_level_style(enum tdm_level level)
{
	return level_styles[level];
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

struct tdm_value tdm_field_put(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_column *c = field->column;
	const char *unknown = c->unknown != NULL       ? c->unknown
			      : c->flags & TDM_IS_KIND ? "unknown"
						       : field->table->unknown;
	struct tdm_value value = tdm_field_value(field);
	bool is_whole = value.type == TDM_VALUE_NUMBER || value.type == TDM_VALUE_SIGNED;
	bool is_minus = (value.type == TDM_VALUE_SIGNED && value.integer < 0) ||
			(value.type == TDM_VALUE_REAL && signbit(value.real));
	char text[64];
	if (value.type == TDM_VALUE_UNKNOWN) {
		tdm_buf_puts(out, unknown != NULL ? unknown : "-");
		return value;
	}
	if (!is_minus && c->flags & TDM_WITH_SIGN && (is_whole || value.type == TDM_VALUE_REAL))
		tdm_buf_putc(out, '+');
	if (!is_whole || c->format == NULL) {
		struct tdm_value shown = value;
		if (shown.type == TDM_VALUE_REAL && shown.decimals == 0)
			shown.decimals = c->decimals;
		tdm_value_put(out, &shown);
		return value;
	}
	uint64_t number = is_minus ? 0 - value.number : value.number;
	tdm_buf_puts(out, value.mark == '~' ? "~" : value.mark == '<' ? "<=" : value.mark == '>' ? ">=" : "");
	tdm_buf_puts(out, is_minus ? "-" : "");
	if (c->format == tdm_format_bytes)
		tdm_field_bytes(field, text, sizeof text, number,
			c->width - (is_minus || (c->flags & TDM_WITH_SIGN) != 0) -
				(size_t)(value.mark == '~'    ? 1
					 : value.mark != '\0' ? 2
							      : 0));
	else
		c->format(text, sizeof text, number);
	tdm_buf_puts(out, text + strspn(text, " "));
	return value;
}

/* A line being written. */
struct line {
	const struct tdm_table *table;
	const struct tdm_term *term;
	struct tdm_buf *out;
	size_t at;      /* columns written so far */
	bool is_number; /* the next cell's value is a number */
};

static bool is_number(const struct tdm_value *value)
{
	return value->type == TDM_VALUE_NUMBER || value->type == TDM_VALUE_SIGNED || value->type == TDM_VALUE_REAL;
}

static void fill(struct line *line, size_t blanks)
{
	tdm_buf_fill(line->out, ' ', blanks);
	line->at += blanks;
}

static bool is_number_column(const struct tdm_table *table, const struct tdm_column *c)
{
	if (table->fitted != NULL)
		return (table->numeric >> (c - table->columns) & 1) != 0;
	return c->format != NULL ||
	       (c->member != TDM_MEMBER_NONE && c->member < TDM_MEMBER_CHARS && (c->flags & TDM_IS_KIND) == 0);
}

static size_t width_of(const struct tdm_table *table, const struct tdm_column *c)
{
	if (table->fitted != NULL)
		return table->fitted[c - table->columns];
	return c->width < TDM_WIDTH_OF_TABLE ? c->width : table->widths[c->width - TDM_WIDTH_OF_TABLE];
}

/* Appends the blanks before a cell, then the cell. If the column has a width, adds blanks up to the next column. */
static void put_cell(struct line *line, const struct tdm_column *c, const char *style, struct tdm_str text)
{
	size_t width = width_of(line->table, c), columns = tdm_wrap_columns(text);
	size_t blanks = columns < width && (c->flags & TDM_WRAP) == 0 ? width - columns : 0;
	bool is_number = is_number_column(line->table, c);
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

/* Appends a cell, made printable, that wraps to additional lines; tabs and newlines separate words. */
static void put_wrapped(struct line *line, struct tdm_buf *cell)
{
	struct tdm_buf text = { 0 };
	for (size_t i = 0; i < cell->len; i++)
		cell->data[i] = cell->data[i] == '\n' || cell->data[i] == '\t' ? ' ' : cell->data[i];
	tdm_cell_put(&text, tdm_buf_str(cell), 0, line->term->utf8);
	tdm_wrap(line->out, tdm_buf_str(&text), (struct tdm_wrap){ line->at, line->at, line->term->width });
	tdm_buf_done(&text);
}

static bool is_hidden(const struct tdm_table *table, size_t column)
{
	return column < 64 && (table->hidden >> column & 1) != 0;
}

static const struct tdm_bytes_range *range_of(
	const struct tdm_table *table, size_t column, const struct tdm_bytes_range *ranges)
{
	if (table->units == TDM_UNITS_OWN || ranges == NULL || column >= TDM_TABLE_RANGES)
		return NULL;
	return &ranges[table->units == TDM_UNITS_ROW ? 0 : column];
}

/* Adds a row's sizes to the ranges of sizes that share a unit: one range for the row, or one for each column. */
static void add_sizes(
	const struct tdm_table *table, const void *row, struct tdm_arena *scratch, struct tdm_bytes_range *ranges)
{
	for (size_t i = 0; i < table->column_count && i < TDM_TABLE_RANGES; i++) {
		const struct tdm_column *c = &table->columns[i];
		if (c->format != tdm_format_bytes || c->title == NULL || is_hidden(table, i))
			continue;
		struct tdm_value value = tdm_field_value(&(struct tdm_field){ table, row, c, NULL, scratch });
		uint64_t size = value.type == TDM_VALUE_NUMBER || value.integer >= 0 ? value.number : 0 - value.number;
		if (value.type == TDM_VALUE_NUMBER || value.type == TDM_VALUE_SIGNED)
			tdm_bytes_range_add(&ranges[table->units == TDM_UNITS_ROW ? 0 : i], size);
	}
}

void tdm_table_ranges(const struct tdm_table *table, struct tdm_bytes_range ranges[TDM_TABLE_RANGES])
{
	struct tdm_arena scratch = { 0 };
	for (size_t i = 0; i < tdm_table_shown(table); i++) {
		const void *row = tdm_table_row_at(table, i);
		if (table->skip == NULL || !table->skip(table, row))
			add_sizes(table, row, &scratch, ranges);
		tdm_arena_done(&scratch);
	}
}

/*
 * Writes the cells of a row or, if `row` is NULL, the first or second line of titles. Returns whether any title has a
 * second line.
 */
static bool put_line(const struct tdm_table *table, const void *row, bool is_second,
	const struct tdm_bytes_range *ranges, struct tdm_arena *scratch, const struct tdm_term *term,
	struct tdm_buf *out)
{
	struct line line = { table, term, out, 0, false };
	const char *style = row == NULL ? tdm_term_style(term, TDM_STYLE_BOLD) : "";
	bool has_second = false, is_first = true, is_wrapped = false;
	struct tdm_buf cell = { 0 };
	tdm_buf_puts(out, style);
	fill(&line, table->indent);
	for (size_t i = 0; i < table->column_count; i++, tdm_buf_clear(&cell)) {
		const struct tdm_column *c = &table->columns[i];
		const struct tdm_field field = { table, row, c, range_of(table, i, ranges), scratch };
		struct tdm_value value = { 0 };
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
		else
			value = tdm_field_put(&field, &cell);
		line.is_number = is_number(&value);
		fill(&line, is_first ? 0 : table->gap);
		is_first = false;
		put_cell(&line, c, tdm_term_style(term, level_styles[value.level]),
			is_wrapped ? (struct tdm_str){ "", 0 } : tdm_buf_str(&cell));
		if (is_wrapped)
			put_wrapped(&line, &cell);
	}
	tdm_cell_trim(out);
	tdm_buf_puts(out, style[0] != '\0' ? TDM_STYLE_OFF : "");
	tdm_buf_puts(out, is_wrapped ? "" : "\n");
	tdm_buf_done(&cell);
	return has_second;
}

/* Whether text shows the column, if at all, below the row: as a line, or as a table that the row owns. */
static bool may_be_below(const struct tdm_column *column)
{
	return column->get != NULL && (column->title != NULL || column->flags & TDM_BELOW);
}

/* Writes the tables owned by a row, and the lines of its columns, below the row. */
static void put_below(const struct tdm_field *field, const struct tdm_term *term, struct tdm_buf *out)
{
	const struct tdm_column *c = field->column;
	if (!may_be_below(c))
		return;
	const struct tdm_value value = tdm_field_value(field);
	if (value.type == TDM_VALUE_TABLE) {
		struct tdm_table own = *value.table;
		own.indent = (uint8_t)(field->table->indent + (c->flags & TDM_BELOW ? c->before : BELOW_INDENT));
		tdm_table_text(&own, term, out);
	} else if (c->flags & TDM_BELOW && value.type != TDM_VALUE_UNKNOWN) {
		struct line line = { field->table, term, out, 0, false };
		struct tdm_buf cell = { 0 };
		fill(&line, field->table->indent + (size_t)c->before);
		tdm_value_put(&cell, &value);
		if (c->flags & TDM_WHOLE) {
			tdm_cell_put(out, tdm_buf_str(&cell), 0, term->utf8);
			tdm_buf_putc(out, '\n');
		} else {
			put_wrapped(&line, &cell);
		}
		tdm_buf_done(&cell);
	}
}

static void put_row(const struct tdm_table *table, const void *row, const struct tdm_bytes_range *ranges,
	const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_bytes_range own = { 0 };
	struct tdm_arena scratch = { 0 };
	if (table->units == TDM_UNITS_ROW) {
		add_sizes(table, row, &scratch, &own);
		ranges = &own;
	}
	put_line(table, row, false, ranges, &scratch, term, out);
	for (size_t i = 0; i < table->column_count; i++)
		if (!is_hidden(table, i))
			put_below(&(struct tdm_field){ table, row, &table->columns[i], NULL, &scratch }, term, out);
	tdm_arena_done(&scratch);
}

/* Computes the width that each column needs for its title and the examined rows, and which columns have numbers. */
static void fit(struct tdm_table *table, const struct tdm_bytes_range *ranges, uint16_t widths[FITTED_MAX])
{
	struct tdm_arena scratch = { 0 };
	struct tdm_buf cell = { 0 };
	for (size_t i = 0; i < table->column_count; i++) {
		const char *title = table->columns[i].title != NULL ? table->columns[i].title : "";
		size_t first = strcspn(title, "\n"), second = strlen(title) - first;
		widths[i] = (uint16_t)tdm_max(first, second != 0 ? second - 1 : 0);
	}
	for (size_t r = 0; r < tdm_table_shown(table) && r < FITTED_ROWS; r++, tdm_arena_done(&scratch)) {
		const void *row = tdm_table_row_at(table, r);
		if (table->skip != NULL && table->skip(table, row))
			continue;
		for (size_t i = 0; i < table->column_count; i++, tdm_buf_clear(&cell)) {
			const struct tdm_column *c = &table->columns[i];
			const struct tdm_field field = { table, row, c, range_of(table, i, ranges), &scratch };
			if (c->title == NULL || is_hidden(table, i))
				continue;
			struct tdm_value value = tdm_field_put(&field, &cell);
			size_t columns = tdm_wrap_columns(tdm_buf_str(&cell));
			table->numeric |= (uint64_t)(is_number(&value) || c->format != NULL) << i;
			bool is_cut = c->width != 0 && columns > c->width && !is_number(&value);
			widths[i] = (uint16_t)tdm_max(widths[i], is_cut ? c->width : tdm_min(columns, UINT16_MAX));
		}
	}
	tdm_buf_done(&cell);
	tdm_arena_done(&scratch);
}

static void put_text(const struct tdm_table *given, const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_table copy = *given, *table = &copy;
	uint16_t widths[FITTED_MAX];
	uint64_t more = tdm_plus(table->count - tdm_table_shown(table), table->dropped);
	char count[TDM_BYTES_CAP];
	bool any = false;
	struct tdm_bytes_range ranges[TDM_TABLE_RANGES] = { 0 };
	if (table->units == TDM_UNITS_COLUMN)
		tdm_table_ranges(table, ranges);
	if (table->fits && table->fitted == NULL && table->column_count <= FITTED_MAX) {
		fit(table, table->units == TDM_UNITS_COLUMN ? ranges : NULL, widths);
		table->fitted = widths;
	}
	for (size_t i = 0; i < tdm_table_shown(table); i++) {
		const void *row = tdm_table_row_at(table, i);
		if (table->skip != NULL && table->skip(table, row))
			continue;
		if (!any && !table->has_no_head && put_line(table, NULL, false, NULL, NULL, term, out))
			put_line(table, NULL, true, NULL, NULL, term, out);
		any = true;
		put_row(table, row, ranges, term, out);
		tdm_buf_pass(out);
	}
	if (any && more != 0)
		tdm_buf_printf(out, "  and %s more\n", tdm_format_count(count, sizeof count, more));
}

/* The minimum width of a column, including the blanks before it. */
static size_t room_for(const struct tdm_table *table, const struct tdm_column *c)
{
	enum { WRAPPED_MIN = 18 };
	size_t width = c->flags & TDM_WRAP ? 0 : width_of(table, c), first = strcspn(c->title, "\n");
	size_t second = c->title[first] != '\0' ? strlen(c->title + first + 1) : 0;
	size_t least = c->flags & TDM_WRAP ? WRAPPED_MIN : first > second ? first : second;
	return (width > least ? width : least) + c->before + table->gap;
}

/* Shows the first column and, starting at `from`, as many columns as fit the width (at least one), and hides the rest.
 * Untitled columns, which may be printed as lines below the rows, belong to the first part. Returns the first column of
 * the next part. */
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
	uint16_t widths[FITTED_MAX];
	if (table->fits && table->units != TDM_UNITS_COLUMN && table->column_count <= FITTED_MAX) {
		fit(&part, NULL, widths);
		part.fitted = widths;
	}
	for (size_t from = 0; from < table->column_count;) {
		part.hidden = table->hidden;
		from = hide_others(&part, term->width, from);
		bool is_last = from == table->column_count; /* the last part states how many rows are left out */
		part.count = is_last ? table->count : tdm_table_shown(table);
		part.dropped = is_last ? table->dropped : 0;
		put_text(&part, term, out);
	}
}

static void put_members(const struct tdm_value *value, struct tdm_json *json)
{
	if (value->type == TDM_VALUE_WRITTEN)
		tdm_json_paste(json, value->written);
	for (size_t i = 0; value->type == TDM_VALUE_MEMBERS && i < value->members.count; i++) {
		tdm_json_key(json, value->members.values[i].key);
		tdm_value_json(&value->members.values[i].value, json);
	}
}

void tdm_value_json(const struct tdm_value *value, struct tdm_json *json)
{
	switch ((enum tdm_value_type)value->type) {
	case TDM_VALUE_NUMBER:
		tdm_json_u64(json, value->number);
		break;
	case TDM_VALUE_SIGNED:
		tdm_json_i64(json, value->integer);
		break;
	case TDM_VALUE_REAL:
		tdm_json_double(json, value->real);
		break;
	case TDM_VALUE_BOOL:
		tdm_json_bool(json, value->yes);
		break;
	case TDM_VALUE_TEXT:
		tdm_json_str(json, value->text);
		break;
	case TDM_VALUE_CORES:
		tdm_json_object(json);
		tdm_json_put_u64(json, "x0", value->cores.x0);
		tdm_json_put_u64(json, "y0", value->cores.y0);
		tdm_json_put_u64(json, "x1", value->cores.x1);
		tdm_json_put_u64(json, "y1", value->cores.y1);
		tdm_json_object_end(json);
		break;
	case TDM_VALUE_LIST:
		tdm_json_array(json);
		for (size_t i = 0; i < value->list.count; i++)
			tdm_value_json(&value->list.values[i], json);
		tdm_json_array_end(json);
		break;
	case TDM_VALUE_MEMBERS:
	case TDM_VALUE_WRITTEN:
		tdm_json_object(json);
		put_members(value, json);
		tdm_json_object_end(json);
		break;
	case TDM_VALUE_TABLE:
		tdm_table_json(value->table, json);
		break;
	case TDM_VALUE_UNKNOWN:
		tdm_json_null(json);
		break;
	}
}

/* The part of a key up to its last dot. */
static size_t path_len(const char *key)
{
	const char *name = strrchr(key, '.');
	return name != NULL ? (size_t)(name - key) + 1 : 0;
}

void tdm_nested_key(struct tdm_json *json, const char **before, const char *key)
{
	size_t len = path_len(key), open = path_len(*before), same = 0;
	for (size_t i = 0; i < len && i < open && (*before)[i] == key[i]; i++)
		same = key[i] == '.' ? i + 1 : same;
	for (size_t i = same; i < open; i++)
		if ((*before)[i] == '.')
			tdm_json_object_end(json);
	for (size_t at = same; at < len;) {
		char part[64];
		size_t to = at + strcspn(key + at, ".");
		snprintf(part, sizeof part, "%.*s", (int)(to - at), key + at);
		tdm_json_put_object(json, part);
		at = to + 1;
	}
	*before = key;
	if (key[len] != '\0')
		tdm_json_key(json, key + len);
}

void tdm_table_keys(const struct tdm_table *table, const void *row, struct tdm_json *json)
{
	const char *before = "";
	struct tdm_arena scratch = { 0 };
	for (size_t i = 0; i < table->column_count; i++) {
		const struct tdm_column *column = &table->columns[i];
		const struct tdm_field field = { table, row, column, NULL, &scratch };
		const char *key = column->key != NULL ? column->key : "";
		size_t len = strlen(key);
		bool is_spread = len == 0 || key[len - 1] == '.';
		if (is_hidden(table, i) || (len == 0 && (column->title != NULL || column->flags & TDM_BELOW)))
			continue;
		const struct tdm_value value = tdm_field_value(&field);
		tdm_nested_key(json, &before, key);
		if (is_spread)
			put_members(&value, json);
		else
			tdm_value_json(&value, json);
	}
	tdm_nested_key(json, &before, "");
	tdm_arena_done(&scratch);
}

void tdm_table_json(const struct tdm_table *table, struct tdm_json *json)
{
	size_t count = table->is_whole_in_data ? table->count : tdm_table_shown(table);
	tdm_json_array(json);
	for (size_t i = 0; i < count; i++) {
		const void *row = tdm_table_row_at(table, i);
		if (table->skip != NULL && table->skip(table, row))
			continue;
		tdm_json_object(json);
		tdm_table_keys(table, row, json);
		tdm_json_object_end(json);
		tdm_buf_pass(json->out);
	}
	tdm_json_array_end(json);
}

/* Writes what text shows below the row; all of it belongs to the last cell. */
static void put_markdown_below(
	const struct tdm_table *table, const void *row, struct tdm_arena *scratch, struct tdm_buf *out)
{
	struct tdm_buf line = { 0 };
	for (size_t i = 0; i < table->column_count; i++, tdm_buf_clear(&line)) {
		const struct tdm_column *c = &table->columns[i];
		const struct tdm_field field = { table, row, c, NULL, scratch };
		if (c->title != NULL || (c->flags & TDM_BELOW) == 0 || is_hidden(table, i))
			continue;
		const struct tdm_value value = tdm_field_value(&field);
		if (value.type == TDM_VALUE_UNKNOWN)
			continue;
		tdm_value_put(&line, &value);
		tdm_buf_puts(out, "<br>");
		tdm_markdown_text(out, tdm_buf_str(&line));
	}
	tdm_buf_done(&line);
}

/* Writes the cells of a row or, if `row` is NULL, the titles, on one line. */
static void put_markdown_line(const struct tdm_table *table, const void *row, struct tdm_buf *out)
{
	struct tdm_arena scratch = { 0 };
	struct tdm_buf cell = { 0 };
	bool is_first = true;
	for (size_t i = 0; i < table->column_count; i++, tdm_buf_clear(&cell)) {
		const struct tdm_column *c = &table->columns[i];
		const struct tdm_field field = { table, row, c, NULL, &scratch };
		if (c->title == NULL || is_hidden(table, i))
			continue;
		if (row == NULL)
			tdm_buf_puts(&cell, c->title);
		else
			tdm_field_put(&field, &cell);
		for (size_t k = 0; row == NULL && k < cell.len; k++)
			cell.data[k] = cell.data[k] == '\n' ? ' ' : cell.data[k];
		tdm_buf_puts(out, is_first ? "| " : " | ");
		tdm_markdown_text(out, tdm_buf_str(&cell));
		is_first = false;
	}
	if (row != NULL)
		put_markdown_below(table, row, &scratch, out);
	tdm_buf_puts(out, " |\n");
	tdm_buf_done(&cell);
	tdm_arena_done(&scratch);
}

bool tdm_table_is_nested(const struct tdm_table *table)
{
	struct tdm_arena scratch = { 0 };
	bool is_nested = false;
	for (size_t i = 0; i < tdm_table_shown(table) && !is_nested; i++, tdm_arena_done(&scratch))
		for (size_t k = 0; k < table->column_count; k++) {
			const struct tdm_column *c = &table->columns[k];
			const struct tdm_field field = { table, tdm_table_row_at(table, i), c, NULL, &scratch };
			is_nested |= may_be_below(c) && !is_hidden(table, k) &&
				     tdm_field_value(&field).type == TDM_VALUE_TABLE;
		}
	return is_nested;
}

/* Writes the line below the titles, which sets the alignment of columns. */
static void put_markdown_rule(const struct tdm_table *table, struct tdm_buf *out)
{
	tdm_buf_putc(out, '|');
	for (size_t i = 0; i < table->column_count; i++) {
		const struct tdm_column *c = &table->columns[i];
		if (c->title != NULL && !is_hidden(table, i))
			tdm_buf_puts(out,
				is_number_column(table, c) != ((c->flags & TDM_OTHER_SIDE) != 0) ? "---:|" : "---|");
	}
	tdm_buf_putc(out, '\n');
}

void tdm_table_markdown(const struct tdm_table *given, struct tdm_buf *out)
{
	struct tdm_table copy = *given, *table = &copy;
	uint16_t widths[FITTED_MAX];
	if (table->fits && table->column_count <= FITTED_MAX) {
		fit(table, NULL, widths); /* finds the columns with numbers */
		table->fitted = widths;
	}
	uint64_t more = tdm_plus(table->count - tdm_table_shown(table), table->dropped);
	char count[TDM_BYTES_CAP];
	bool any = false;
	for (size_t i = 0; i < tdm_table_shown(table); i++) {
		const void *row = tdm_table_row_at(table, i);
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
