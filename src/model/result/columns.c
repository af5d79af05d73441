#include "model/result/columns.h"

#include "base/arena.h"
#include "base/memory.h"

#include <stdarg.h>
#include <string.h>

/* The structure that contains the column's member, or NULL. */
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
	if (column->member == TDM_MEMBER_INDEX)
		return tdm_value_number(
			(uint64_t)((const char *)field->row - (const char *)field->table->rows) / field->table->stride);
	return tdm_member_get((enum tdm_member)column->member, base + column->offset);
}

struct tdm_value tdm_field_value(const struct tdm_field *field)
{
	static const uint64_t zero;
	const struct tdm_column *c = field->column;
	struct tdm_value value = c->get != NULL ? c->get(field) : tdm_field_member(field);
	if ((c->flags & (TDM_ZERO_IS_UNKNOWN | TDM_NEGATIVE_IS_UNKNOWN | TDM_IS_KIND)) == 0 && c->known_size == 0)
		return value;
	bool is_zero = value.type == TDM_VALUE_TEXT ? value.text.len == 0 : value.number == 0;
	if ((c->flags & TDM_ZERO_IS_UNKNOWN && is_zero) || (c->flags & TDM_NEGATIVE_IS_UNKNOWN && value.integer < 0) ||
		(c->known_size != 0 && value.type != TDM_VALUE_UNKNOWN &&
			memcmp(base_of(field) + c->known_by, &zero, c->known_size) == 0))
		value.type = TDM_VALUE_UNKNOWN;
	if (c->flags & TDM_IS_KIND && value.type == TDM_VALUE_NUMBER)
		value = tdm_value_kind((unsigned)value.number);
	return value;
}

struct tdm_value tdm_field_printed(const struct tdm_field *field, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	struct tdm_value value = tdm_value_text(tdm_arena_vprinted(field->scratch, format, arguments));
	va_end(arguments);
	return value;
}

struct tdm_value tdm_field_members(const struct tdm_field *field, const struct tdm_named *values)
{
	size_t count = 0;
	while (values[count].key != NULL)
		count++;
	struct tdm_named *copy = tdm_arena_take(field->scratch, count * sizeof *copy);
	memcpy(copy, values, count * sizeof *copy);
	return tdm_value_members(copy, count);
}

struct tdm_value tdm_field_table(const struct tdm_field *field, struct tdm_table table)
{
	struct tdm_table *copy = tdm_arena_take(field->scratch, sizeof *copy);
	*copy = table;
	return tdm_value_table(copy);
}

const void *tdm_table_pointed(const struct tdm_table *table, size_t i)
{
	return ((const void *const *)table->rows)[i];
}

const void *tdm_table_row_at(const struct tdm_table *table, size_t i)
{
	return table->row != NULL ? table->row(table, i) : (const char *)table->rows + i * table->stride;
}

size_t tdm_table_shown(const struct tdm_table *table)
{
	return table->limit != 0 && table->limit < table->count ? table->limit : table->count;
}
