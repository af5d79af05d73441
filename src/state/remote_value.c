#include "state/remote_value.h"

bool tdm_remote_u64(const struct tdm_json_token *token, uint64_t most, uint64_t *value)
{
	*value = UINT64_MAX;
	if (token->part == TDM_JSON_PART_NULL)
		return true;
	return token->part == TDM_JSON_PART_NUMBER && tdm_str_parse_u64(token->text, value) == 0 && *value <= most &&
	       *value != UINT64_MAX;
}

static bool read_i64(const struct tdm_json_token *token, int64_t *value)
{
	struct tdm_str digits = token->text;
	uint64_t number;
	if (token->part != TDM_JSON_PART_NUMBER)
		return false;
	bool is_negative = digits.len != 0 && digits.ptr[0] == '-';
	digits.ptr += is_negative;
	digits.len -= is_negative;
	if (tdm_str_parse_u64(digits, &number) != 0 || number > INT64_MAX)
		return false;
	*value = is_negative ? -(int64_t)number : (int64_t)number;
	return true;
}

static bool put_u64(const struct tdm_shape_field *field, const struct tdm_json_token *token, char *at)
{
	uint64_t value, most = field->type == TDM_SHAPE_BYTES  ? TDM_SHAPE_BYTES_MAX
			       : field->type == TDM_SHAPE_TIME ? INT64_MAX
							       : UINT64_MAX;
	if (!tdm_remote_u64(token, most, &value))
		return false;
	*(uint64_t *)at = field->zero_is_null && value == UINT64_MAX ? 0 : value;
	return true;
}

static bool put_u32(const struct tdm_shape_field *field, const struct tdm_json_token *token, char *at)
{
	uint64_t value;
	if (!tdm_remote_u64(token, UINT32_MAX - 1, &value))
		return false;
	bool zero_is_null = field->zero_is_null || field->type != TDM_SHAPE_U32;
	*(uint32_t *)at = zero_is_null && value == UINT64_MAX ? 0 : (uint32_t)value;
	return true;
}

static bool put_i32(const struct tdm_shape_field *field, const struct tdm_json_token *token, char *at)
{
	int64_t value = field->negative_is_null ? -1 : 0;
	if (token->part != TDM_JSON_PART_NULL && !read_i64(token, &value))
		return false;
	*(int32_t *)at = (int32_t)value;
	return value >= INT32_MIN && value <= INT32_MAX && (!field->negative_is_null || value >= -1);
}

int tdm_remote_name(const struct tdm_shape_field *field, const struct tdm_json_token *token)
{
	for (int i = 0; i < field->name_count; i++)
		if (token->part == TDM_JSON_PART_STRING && tdm_str_is(token->text, field->names[i]))
			return i;
	return token->part == TDM_JSON_PART_NULL ? 0 : -1;
}

static bool put_chars(const struct tdm_shape_field *field, const struct tdm_json_token *token, char *at)
{
	at[0] = '\0';
	if (token->part == TDM_JSON_PART_STRING)
		tdm_str_shown(token->text, at, field->limit);
	return token->part == TDM_JSON_PART_STRING || token->part == TDM_JSON_PART_NULL;
}

static int digit_of(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool put_hex(const struct tdm_shape_field *field, const struct tdm_json_token *token, char *at)
{
	if (token->part != TDM_JSON_PART_STRING || token->text.len != (size_t)field->limit * 2)
		return token->part == TDM_JSON_PART_NULL;
	for (size_t i = 0; i < field->limit; i++) {
		int high = digit_of(token->text.ptr[2 * i]), low = digit_of(token->text.ptr[2 * i + 1]);
		if (high < 0 || low < 0)
			return false;
		((uint8_t *)at)[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static bool put_reading(const struct tdm_json_token *token, char *at)
{
	struct tdm_reading *reading = (struct tdm_reading *)at;
	*reading = (struct tdm_reading){ .is_known = token->part != TDM_JSON_PART_NULL };
	return !reading->is_known || read_i64(token, &reading->value);
}

bool tdm_remote_value(const struct tdm_shape_field *field, const struct tdm_json_token *token, char *at)
{
	int index;
	switch ((enum tdm_shape_type)field->type) {
	case TDM_SHAPE_BOOL:
		*(bool *)at = token->yes;
		return token->part == TDM_JSON_PART_BOOL;
	case TDM_SHAPE_CHOICE:
		index = tdm_remote_name(field, token);
		*(uint8_t *)at = index >= 0 ? (uint8_t)index : 0;
		return index >= 0;
	case TDM_SHAPE_TEXT_OF:
	case TDM_SHAPE_STACK_OF:
	case TDM_SHAPE_U32:
		return put_u32(field, token, at);
	case TDM_SHAPE_I32:
		return put_i32(field, token, at);
	case TDM_SHAPE_U64:
	case TDM_SHAPE_BYTES:
	case TDM_SHAPE_TIME:
		return put_u64(field, token, at);
	case TDM_SHAPE_CHARS:
		return put_chars(field, token, at);
	case TDM_SHAPE_HEX:
		return put_hex(field, token, at);
	case TDM_SHAPE_READING:
		return put_reading(token, at);
	default: /* an object or array, or nothing */
		return token->part == TDM_JSON_PART_NULL;
	}
}
