#include "report/table.h"
#include "base/duration.h"
#include "base/kind.h"
#include "base/units.h"
#include "base/wrap.h"
#include "report/cell.h"

#include <inttypes.h>
#include <stdio.h>

enum { CELL_CAP = 64 };

static struct tdm_value get_member(const void *row, const struct tdm_column *column)
{
	const void *at = (const char *)row + column->offset;
	switch ((enum tdm_member)column->member_type) {
	case TDM_MEMBER_U8:
		return tdm_value_number(*(const uint8_t *)at);
	case TDM_MEMBER_U32:
		return tdm_value_number(*(const uint32_t *)at != UINT32_MAX ? *(const uint32_t *)at : UINT64_MAX);
	case TDM_MEMBER_U64:
		return tdm_value_number(*(const uint64_t *)at);
	case TDM_MEMBER_I32:
		return tdm_value_signed(*(const int32_t *)at);
	case TDM_MEMBER_I64:
		return tdm_value_signed(*(const int64_t *)at);
	case TDM_MEMBER_REAL:
		return tdm_value_real(*(const double *)at);
	case TDM_MEMBER_BOOL:
		return (struct tdm_value){ TDM_VALUE_BOOL, { .yes = *(const bool *)at } };
	case TDM_MEMBER_CHARS:
		return tdm_value_text(at);
	case TDM_MEMBER_POINTER:
		return tdm_value_text(*(const char *const *)at);
	case TDM_MEMBER_STR:
		return (struct tdm_value){ TDM_VALUE_TEXT, { .text = *(const struct tdm_str *)at } };
	default:
		return (struct tdm_value){ TDM_VALUE_UNKNOWN, { 0 } };
	}
}

/* Whether a value that is no number, or a number that is 0 or below, means that nothing is known. */
static bool is_nothing(const struct tdm_value *value, const struct tdm_column *column)
{
	bool is_zero = value->type == TDM_VALUE_TEXT ? value->text.len == 0 : value->number == 0;
	return ((column->flags & TDM_ZERO_IS_UNKNOWN || column->form == TDM_FORM_CLOCK) && is_zero) ||
	       (column->flags & TDM_NEGATIVE_IS_UNKNOWN && value->integer < 0);
}

static struct tdm_value get(const struct tdm_field *field)
{
	const struct tdm_column *column = field->column;
	struct tdm_value value = column->get != NULL ? column->get(field) : get_member(field->row, column);
	if (column->form == TDM_FORM_KIND)
		value = tdm_value_text(
			value.number < TDM_KIND_COUNT ? tdm_kind_name((enum tdm_kind)value.number) : NULL);
	if (is_nothing(&value, column) ||
		(column->known_by != 0 && *(const uint64_t *)((const char *)field->row + column->known_by - 1) == 0))
		value.type = TDM_VALUE_UNKNOWN;
	return value;
}

static char *format_plain(char *dst, size_t cap, uint64_t number)
{
	snprintf(dst, cap, "%" PRIu64, number);
	return dst;
}

static char *format_address(char *dst, size_t cap, uint64_t address)
{
	snprintf(dst, cap, "0x%" PRIx64, address);
	return dst;
}

static char *(*const formats[])(char *dst, size_t cap, uint64_t number) = {
	[TDM_FORM_PLAIN] = format_plain,
	[TDM_FORM_COUNT] = tdm_format_count,
	[TDM_FORM_BYTES] = tdm_format_bytes,
	[TDM_FORM_SIZE] = tdm_format_bytes_short,
	[TDM_FORM_MIB] = tdm_format_mib,
	[TDM_FORM_DURATION] = tdm_format_duration,
	[TDM_FORM_CLOCK] = tdm_format_clock,
	[TDM_FORM_ADDRESS] = format_address,
};

/* A number without its sign. */
static void format(const struct tdm_column *column, const struct tdm_value *value, bool is_minus, char dst[CELL_CAP])
{
	double share = column->form == TDM_FORM_SHARE ? 100 : 1;
	if (value->type != TDM_VALUE_REAL)
		formats[column->form](dst, CELL_CAP, is_minus ? 0 - value->number : value->number);
	else if (column->form == TDM_FORM_PLAIN)
		snprintf(dst, CELL_CAP, "%g", fabs(value->real));
	else
		snprintf(dst, CELL_CAP, "%.*f%%", column->decimals, share * fabs(value->real));
}

static void put_value(const struct tdm_field *field, struct tdm_buf *out)
{
	struct tdm_value value = get(field);
	const char *unknown = field->table->unknown != NULL ? field->table->unknown : "-";
	char text[CELL_CAP];
	if (value.type == TDM_VALUE_UNKNOWN) {
		tdm_buf_puts(out, field->column->form == TDM_FORM_KIND ? "unknown" : unknown);
	} else if (value.type == TDM_VALUE_TEXT) {
		tdm_buf_add(out, value.text.ptr, value.text.len);
	} else if (value.type == TDM_VALUE_BOOL) {
		tdm_buf_puts(out, value.yes ? "yes" : "no");
	} else {
		bool is_minus = value.type == TDM_VALUE_SIGNED ? value.integer < 0
							       : value.type == TDM_VALUE_REAL && signbit(value.real);
		format(field->column, &value, is_minus, text);
		tdm_buf_puts(out, is_minus ? "-" : field->column->flags & TDM_WITH_SIGN ? "+" : "");
		tdm_buf_puts(out, text + strspn(text, " "));
	}
}

static bool is_right(const struct tdm_column *column)
{
	bool is_text = column->form == TDM_FORM_KIND ||
		       (column->form == TDM_FORM_PLAIN &&
			       (column->member_type == TDM_MEMBER_NONE || column->member_type >= TDM_MEMBER_CHARS));
	return is_text == ((column->flags & TDM_OTHER_SIDE) != 0);
}

/* Where a line is being written. */
struct line {
	const struct tdm_table *table;
	const struct tdm_term *term;
	struct tdm_buf *out;
	size_t at; /* columns so far */
};

static struct line begin(const struct tdm_table *table, const struct tdm_term *term, struct tdm_buf *out)
{
	tdm_buf_fill(out, ' ', table->indent);
	return (struct line){ table, term, out, table->indent };
}

/* Appends a cell, with the blanks before it and, in a column with a width, up to the next one. */
static void put_cell(struct line *line, const struct tdm_column *column, struct tdm_str text)
{
	size_t before = column->before + (line->at != line->table->indent ? line->table->gap : 0U);
	size_t width = column->width < TDM_WIDTH_OF_TABLE ? column->width
							  : line->table->widths[column->width - TDM_WIDTH_OF_TABLE];
	size_t most = column->fit == TDM_FIT_CUT ? width : 0;
	line->at += before;
	tdm_buf_fill(line->out, ' ', before);
	if (column->fit == TDM_FIT_REST)
		most = line->term->width > line->at + width ? line->term->width - line->at : width;
	if (is_right(column)) {
		size_t columns = tdm_wrap_columns(text), blanks = columns < width ? width - columns : 0;
		tdm_buf_fill(line->out, ' ', blanks);
		line->at += blanks;
	}
	size_t used = tdm_cell_put(line->out, text, most, line->term->utf8);
	line->at += used;
	if (!is_right(column) && used < width) {
		tdm_buf_fill(line->out, ' ', width - used);
		line->at += width - used;
	}
}

static bool is_shown(const struct tdm_table *table, size_t i)
{
	return table->columns[i].title != NULL && (i >= 64 || (table->hidden >> i & 1) == 0);
}

void tdm_table_head(const struct tdm_table *table, const struct tdm_term *term, struct tdm_buf *out)
{
	bool is_folded = false;
	for (int row = 0; row == 0 || (row == 1 && is_folded); row++) {
		tdm_buf_puts(out, table->style != NULL ? tdm_term_style(term, table->style) : "");
		struct line line = begin(table, term, out);
		for (size_t i = 0; i < table->column_count; i++) {
			if (!is_shown(table, i))
				continue;
			const char *title = table->columns[i].title, *second = strchr(title, '\n');
			struct tdm_str text = { title, second != NULL ? (size_t)(second - title) : strlen(title) };
			is_folded |= second != NULL;
			if (row == 1)
				text = tdm_str_of(second != NULL ? second + 1 : "");
			put_cell(&line, &table->columns[i], text);
		}
		tdm_cell_trim(out);
		tdm_buf_printf(out, "%s\n", table->style != NULL ? tdm_term_style(term, TDM_STYLE_OFF) : "");
	}
}

/* `cell` is room for one cell. */
static void put_row(const struct tdm_table *table, const void *row, const struct tdm_term *term, struct tdm_buf *cell,
	struct tdm_buf *out)
{
	struct line line = begin(table, term, out);
	for (size_t i = 0; i < table->column_count; i++) {
		const struct tdm_column *column = &table->columns[i];
		const struct tdm_field field = { table, row, column };
		if (!is_shown(table, i))
			continue;
		tdm_buf_clear(cell);
		if (column->text != NULL)
			column->text(&field, cell);
		else
			put_value(&field, cell);
		if (column->fit != TDM_FIT_WRAP) {
			put_cell(&line, column, tdm_buf_str(cell));
			continue;
		}
		put_cell(&line, column, (struct tdm_str){ "", 0 });
		tdm_wrap(out, tdm_buf_str(cell), (struct tdm_wrap){ line.at, line.at, term->width });
		return;
	}
	tdm_cell_trim(out);
	tdm_buf_putc(out, '\n');
}

void tdm_table_row(const struct tdm_table *table, const void *row, const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_buf cell;
	tdm_buf_init(&cell);
	put_row(table, row, term, &cell, out);
	out->failed |= tdm_buf_failed(&cell);
	tdm_buf_done(&cell);
}

static const void *row_of(const struct tdm_table *table, size_t i)
{
	return table->row != NULL ? table->row(table, i) : (const char *)table->rows + i * table->stride;
}

static size_t shown(const struct tdm_table *table)
{
	return table->limit != 0 && table->limit < table->count ? table->limit : table->count;
}

void tdm_table_text(const struct tdm_table *table, const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_buf cell;
	uint64_t more = tdm_plus(table->count - shown(table), table->dropped);
	char count[TDM_BYTES_CAP];
	if (table->count == 0)
		return;
	tdm_table_head(table, term, out);
	tdm_buf_init(&cell);
	for (size_t i = 0; i < shown(table); i++)
		put_row(table, row_of(table, i), term, &cell, out);
	out->failed |= tdm_buf_failed(&cell);
	tdm_buf_done(&cell);
	if (more != 0)
		tdm_buf_printf(out, "%s and %s more\n", table->more != NULL ? table->more : " ",
			tdm_format_count(count, sizeof count, more));
}

static void put_json(const struct tdm_field *field, struct tdm_json *json)
{
	struct tdm_value value = get(field);
	switch ((enum tdm_value_type)value.type) {
	case TDM_VALUE_UNKNOWN:
		tdm_json_null(json);
		break;
	case TDM_VALUE_NUMBER:
		tdm_json_u64(json, value.number);
		break;
	case TDM_VALUE_SIGNED:
		tdm_json_i64(json, value.integer);
		break;
	case TDM_VALUE_REAL:
		tdm_json_double(json, value.real);
		break;
	case TDM_VALUE_BOOL:
		tdm_json_bool(json, value.yes);
		break;
	case TDM_VALUE_TEXT:
		tdm_json_str(json, value.text);
		break;
	}
}

void tdm_table_keys(const struct tdm_table *table, const void *row, struct tdm_json *json)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const struct tdm_column *column = &table->columns[i];
		const struct tdm_field field = { table, row, column };
		if (column->key != NULL)
			tdm_json_key(json, column->key);
		if (column->json != NULL)
			column->json(&field, json);
		else if (column->key != NULL)
			put_json(&field, json);
	}
}

void tdm_table_object(const struct tdm_table *table, const void *row, struct tdm_json *json)
{
	tdm_json_object(json);
	tdm_table_keys(table, row, json);
	tdm_json_object_end(json);
}

void tdm_table_json(const struct tdm_table *table, struct tdm_json *json)
{
	tdm_json_array(json);
	for (size_t i = 0; i < shown(table); i++)
		tdm_table_object(table, row_of(table, i), json);
	tdm_json_array_end(json);
}
