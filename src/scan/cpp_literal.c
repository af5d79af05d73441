#include "scan/cpp_literal.h"

#include <stdlib.h>

bool tdm_cpp_number(struct tdm_str text, int64_t *number)
{
	char digits[40];
	size_t len = 0;
	for (size_t i = 0; i < text.len && len + 1 < sizeof digits; i++)
		if (text.ptr[i] != '\'')
			digits[len++] = text.ptr[i];
	digits[len] = '\0';
	bool is_hex = len > 2 && digits[0] == '0' && (digits[1] | 32) == 'x';
	bool is_binary = len > 2 && digits[0] == '0' && (digits[1] | 32) == 'b';
	char *end = digits;
	unsigned long long value = strtoull(is_binary ? digits + 2 : digits, &end, is_hex ? 16 : is_binary ? 2 : 0);
	size_t suffix = strspn(end, "uUlLzZ");
	bool is_read = end != digits && end[suffix] == '\0' && value <= INT64_MAX && len + 1 < sizeof digits;
	*number = is_read ? (int64_t)value : 0;
	return is_read;
}

bool tdm_cpp_buffer_index(struct tdm_str name, int64_t *number)
{
	static const struct {
		const char *prefix;
		int64_t first;
	} groups[] = { { "c_in", 0 }, { "dataflow", 8 }, { "c_dataflow", 8 }, { "c_out", 16 }, { "c_intermed", 24 },
		{ "c_", 0 } };
	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
		size_t len = strlen(groups[i].prefix);
		uint64_t digits;
		if (name.len <= len || memcmp(name.ptr, groups[i].prefix, len) != 0)
			continue;
		if (tdm_str_parse_u64((struct tdm_str){ name.ptr + len, name.len - len }, &digits) == 0 &&
			digits < 256) {
			*number = groups[i].first + (int64_t)digits;
			return true;
		}
	}
	return false;
}
