#include "base/value.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S 1e9

/* ---- text ---- */

static void put_number(struct tdm_buf *out, enum tdm_unit unit, uint64_t number)
{
	char text[64];
	switch (unit) {
	case TDM_UNIT_COUNT:
		tdm_format_count(text, sizeof text, number);
		break;
	case TDM_UNIT_BYTES:
	case TDM_UNIT_CHANGE:
		tdm_format_bytes_short(text, sizeof text, number);
		break;
	case TDM_UNIT_MIB:
		tdm_format_mib(text, sizeof text, number);
		break;
	case TDM_UNIT_ADDRESS:
		tdm_format_hex(text, sizeof text, number);
		break;
	case TDM_UNIT_NS:
		tdm_format_duration(text, sizeof text, number);
		break;
	default:
		snprintf(text, sizeof text, "%" PRIu64, number);
	}
	tdm_buf_puts(out, text);
}

static void put_real(struct tdm_buf *out, const struct tdm_value *value)
{
	double real = value->real;
	char text[64];
	if (value->unit == TDM_UNIT_SHARE)
		tdm_buf_printf(out, "%.*f%%", value->decimals, 100 * real);
	else if (value->unit == TDM_UNIT_PERCENT)
		tdm_buf_printf(out, "%.*f%%", value->decimals, real);
	else if (value->unit == TDM_UNIT_S && real >= 0)
		tdm_buf_puts(out, tdm_format_duration(text, sizeof text, (uint64_t)(real * NS_PER_S)));
	else if (value->unit == TDM_UNIT_BYTES_PER_S && real >= 0)
		tdm_buf_puts(out, tdm_format_bytes_short(text, sizeof text, (uint64_t)(real + 0.5)));
	else
		tdm_buf_printf(out, "%.*f", value->decimals, real);
}

static void put_list(struct tdm_buf *out, const struct tdm_value_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		tdm_buf_puts(out, i == 0 ? "" : ", ");
		tdm_value_put(out, &list->values[i]);
	}
}

void tdm_value_put(struct tdm_buf *out, const struct tdm_value *value)
{
	uint64_t number = value->number;
	if (value->mark == '~')
		tdm_buf_putc(out, '~');
	else if (value->mark != '\0')
		tdm_buf_printf(out, "%c=", value->mark);
	switch ((enum tdm_value_type)value->type) {
	case TDM_VALUE_UNKNOWN:
		tdm_buf_puts(out, "unknown");
		break;
	case TDM_VALUE_SIGNED:
		if (value->integer < 0) {
			tdm_buf_putc(out, '-');
			number = 0 - number;
		}
		put_number(out, (enum tdm_unit)value->unit, number);
		break;
	case TDM_VALUE_NUMBER:
		put_number(out, (enum tdm_unit)value->unit, number);
		break;
	case TDM_VALUE_REAL:
		put_real(out, value);
		break;
	case TDM_VALUE_BOOL:
		tdm_buf_puts(out, value->yes ? "yes" : "no");
		break;
	case TDM_VALUE_TEXT:
		tdm_buf_add(out, value->text.ptr, value->text.len);
		break;
	case TDM_VALUE_CORES:
		tdm_buf_printf(
			out, "%u-%u to %u-%u", value->cores.x0, value->cores.y0, value->cores.x1, value->cores.y1);
		break;
	case TDM_VALUE_LIST:
		put_list(out, &value->list);
		break;
	case TDM_VALUE_MEMBERS:
	case TDM_VALUE_TABLE:
	case TDM_VALUE_WRITTEN:
		break;
	}
}

/* ---- members ---- */

struct tdm_value tdm_member_get(enum tdm_member member, const void *at)
{
	switch (member) {
	case TDM_MEMBER_U8:
		return tdm_value_number(*(const uint8_t *)at);
	case TDM_MEMBER_U16:
		return tdm_value_number(*(const uint16_t *)at);
	case TDM_MEMBER_U32:
		return tdm_value_number(*(const uint32_t *)at != UINT32_MAX ? *(const uint32_t *)at : UINT64_MAX);
	case TDM_MEMBER_U64:
		return tdm_value_number(*(const uint64_t *)at);
	case TDM_MEMBER_I32:
		return tdm_value_signed(*(const int32_t *)at);
	case TDM_MEMBER_I64:
		return tdm_value_signed(*(const int64_t *)at);
	case TDM_MEMBER_SHARE:
		return tdm_value_share(*(const double *)at);
	case TDM_MEMBER_BOOL:
		return tdm_value_bool(*(const bool *)at);
	case TDM_MEMBER_CHARS:
		return tdm_value_text(at);
	case TDM_MEMBER_POINTER:
		return tdm_value_text(*(const char *const *)at);
	case TDM_MEMBER_STR:
		return tdm_value_str(*(const struct tdm_str *)at);
	default:
		return tdm_value_text(NULL);
	}
}

static bool set_number(enum tdm_member member, void *at, bool is_known, uint64_t number)
{
	if (member == TDM_MEMBER_U64)
		*(uint64_t *)at = is_known ? number : UINT64_MAX;
	else if (member == TDM_MEMBER_U32 && (!is_known || number < UINT32_MAX))
		*(uint32_t *)at = is_known ? (uint32_t)number : UINT32_MAX;
	else if (member == TDM_MEMBER_U16 && number <= UINT16_MAX)
		*(uint16_t *)at = (uint16_t)number;
	else if (member == TDM_MEMBER_U8 && number <= UINT8_MAX)
		*(uint8_t *)at = (uint8_t)number;
	else
		return false;
	return true;
}

static bool set_signed(enum tdm_member member, void *at, bool is_known, const struct tdm_value *value)
{
	if (value->type == TDM_VALUE_NUMBER && value->number > INT64_MAX)
		return false;
	if (member == TDM_MEMBER_I64)
		*(int64_t *)at = is_known ? value->integer : INT64_MIN;
	else if (value->integer >= INT32_MIN && value->integer <= INT32_MAX)
		*(int32_t *)at = (int32_t)value->integer;
	else
		return false;
	return true;
}

static void set_text(enum tdm_member member, void *at, size_t size, bool is_known, struct tdm_str text)
{
	if (member == TDM_MEMBER_CHARS && size != 0)
		snprintf(at, size, "%.*s", is_known ? (int)tdm_min(text.len, size) : 0, is_known ? text.ptr : "");
	else if (member == TDM_MEMBER_POINTER)
		*(const char **)at = is_known ? text.ptr : NULL;
	else if (member == TDM_MEMBER_STR)
		*(struct tdm_str *)at = is_known ? text : (struct tdm_str){ "", 0 };
}

bool tdm_member_set(enum tdm_member member, void *at, size_t size, const struct tdm_value *value)
{
	bool is_known = value->type != TDM_VALUE_UNKNOWN;
	bool is_whole = value->type == TDM_VALUE_NUMBER || value->type == TDM_VALUE_SIGNED;
	if (member >= TDM_MEMBER_U8 && member <= TDM_MEMBER_U64) {
		bool is_negative = value->type == TDM_VALUE_SIGNED && value->integer < 0;
		return (!is_known || is_whole) && !is_negative && set_number(member, at, is_known, value->number);
	}
	if (member == TDM_MEMBER_I32 || member == TDM_MEMBER_I64)
		return (!is_known || is_whole) && set_signed(member, at, is_known, value);
	if (member == TDM_MEMBER_SHARE) {
		if (is_known && !is_whole && value->type != TDM_VALUE_REAL)
			return false;
		*(double *)at = !is_known                         ? (double)NAN
				: value->type == TDM_VALUE_REAL   ? value->real
				: value->type == TDM_VALUE_SIGNED ? (double)value->integer
								  : (double)value->number;
		return true;
	}
	if (member == TDM_MEMBER_BOOL) {
		if (is_known && value->type != TDM_VALUE_BOOL)
			return false;
		*(bool *)at = is_known && value->yes;
		return true;
	}
	if (member < TDM_MEMBER_CHARS || (is_known && value->type != TDM_VALUE_TEXT))
		return false;
	set_text(member, at, size, is_known, value->text);
	return true;
}

/* ---- sentences ---- */

static const struct tdm_value *find(struct tdm_str key, const struct tdm_named *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(values[i].key) == key.len && memcmp(values[i].key, key.ptr, key.len) == 0)
			return &values[i].value;
	return NULL;
}

/* Cuts the part before the next slash off `field`. If there is no slash, the returned pointer is NULL. */
static struct tdm_str take_part(struct tdm_str *field)
{
	struct tdm_str part = *field;
	const char *slash = part.ptr != NULL ? memchr(part.ptr, '/', part.len) : NULL;
	if (slash != NULL) {
		part.len = (size_t)(slash - part.ptr);
		*field = (struct tdm_str){ slash + 1, field->len - part.len - 1 };
	} else {
		*field = (struct tdm_str){ NULL, 0 };
	}
	return part;
}

/* Expands the text between two braces. False if its value is unknown. */
static bool put_field(struct tdm_buf *out, struct tdm_str field, const struct tdm_named *values, size_t count)
{
	char style = field.len != 0 && strchr("=,#", field.ptr[0]) != NULL ? field.ptr[0] : '\0';
	bool is_noun_only = style == '=';
	if (style != '\0')
		field = (struct tdm_str){ field.ptr + 1, field.len - 1 };
	struct tdm_str key = take_part(&field), one = take_part(&field), many = take_part(&field);
	const struct tdm_value *value = find(key, values, count);
	if (value == NULL || value->type == TDM_VALUE_UNKNOWN)
		return false;
	if (value->type == TDM_VALUE_BOOL) {
		struct tdm_str word = value->yes ? one : many;
		if (one.ptr != NULL)
			tdm_buf_add(out, word.ptr, word.len);
		return one.ptr != NULL || value->yes;
	}
	if (one.ptr != NULL && value->number == 0 && field.ptr != NULL) {
		tdm_buf_add(out, field.ptr, field.len);
		return field.len != 0;
	}
	struct tdm_value shown = *value;
	if (style == ',' || style == '#' || (one.ptr != NULL && shown.unit == TDM_UNIT_NONE))
		shown.unit = style == '#' ? TDM_UNIT_NONE : TDM_UNIT_COUNT;
	if (one.ptr == NULL || !is_noun_only)
		tdm_value_put(out, &shown);
	if (one.ptr != NULL) {
		struct tdm_str noun = value->number == 1 ? one : many;
		tdm_buf_puts(out, is_noun_only ? "" : " ");
		tdm_buf_add(out, noun.ptr, noun.len);
	}
	return true;
}

void tdm_sentence_put(struct tdm_buf *out, const char *pattern, const struct tdm_named *values, size_t count)
{
	const size_t first = out->len;
	bool begins_later = false; /* this piece begins with a separator that belongs after an omitted piece */
	for (const char *at = pattern; *at != '\0';) {
		size_t start = out->len;
		bool is_known = true, is_later = at != pattern;
		while (*at != '\0' && *at != '|') {
			size_t plain = strcspn(at, "{|");
			tdm_buf_add(out, at, plain);
			at += plain;
			if (*at != '{')
				continue;
			size_t len = strcspn(at, "}");
			is_known &= put_field(out, (struct tdm_str){ at + 1, len - 1 }, values, count);
			at += len + (at[len] == '}');
		}
		if (!is_known) {
			out->len = start;
			if (out->data != NULL)
				out->data[start] = '\0';
		}
		begins_later |= is_later && start == first && out->len > start;
		at += *at == '|';
	}
	/* Skip the separator that joins this piece to an omitted one before it. */
	size_t lead = begins_later && out->len > first ? strspn(out->data + first, " ,;:") : 0;
	if (lead != 0) {
		memmove(out->data + first, out->data + first + lead, out->len - first - lead + 1);
		out->len -= lead;
	}
}
