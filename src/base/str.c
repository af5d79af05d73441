#include "base/str.h"
#include "base/err.h"

#include <errno.h>
#include <strings.h>

uint64_t tdm_str_hash(struct tdm_str s)
{
	uint64_t hash = UINT64_C(0x9e3779b97f4a7c15) ^ s.len;
	while (s.len >= 8) {
		uint64_t word;
		memcpy(&word, s.ptr, 8);
		hash = tdm_hash_u64(hash ^ word);
		s.ptr += 8;
		s.len -= 8;
	}
	uint64_t tail = 0;
	if (s.len != 0)
		memcpy(&tail, s.ptr, s.len);
	return tdm_hash_u64(hash ^ tail);
}

struct tdm_str tdm_str_take_line(struct tdm_str *text)
{
	const char *newline = text->len != 0 ? memchr(text->ptr, '\n', text->len) : NULL;
	size_t len = newline != NULL ? (size_t)(newline - text->ptr) : text->len;
	struct tdm_str line = tdm_str_line(text->ptr, len);
	*text = tdm_str_from(*text, len + (newline != NULL));
	return line;
}

struct tdm_str tdm_str_take_word(struct tdm_str *text)
{
	struct tdm_str word = tdm_str_trim(*text);
	size_t len = 0;
	while (len < word.len && word.ptr[len] != ' ' && word.ptr[len] != '\t')
		len++;
	*text = tdm_str_from(word, len);
	word.len = len;
	return word;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

struct tdm_str tdm_str_trim(struct tdm_str s)
{
	while (s.len != 0 && is_blank(s.ptr[0])) {
		s.ptr++;
		s.len--;
	}
	while (s.len != 0 && is_blank(s.ptr[s.len - 1]))
		s.len--;
	return s;
}

char *tdm_str_shown(struct tdm_str s, char *dst, size_t cap)
{
	static const char mark[] = "...";
	size_t room = cap != 0 ? cap - 1 : 0, len = s.len;
	const char *end = "";
	if (len > room) {
		end = room >= strlen(mark) ? mark : "";
		len = room - strlen(end);
	}
	size_t at = 0;
	for (size_t step; at < len; at += step) {
		size_t printable = tdm_str_printable(s.ptr + at, s.len - at);
		step = printable != 0 ? printable : 1;
		if (step > len - at)
			break; /* never split a character */
		memcpy(dst + at, printable != 0 ? s.ptr + at : "?", step);
	}
	if (cap != 0)
		memcpy(dst + at, end, strlen(end) + 1);
	return dst;
}

size_t tdm_str_utf8(const char *at, size_t left)
{
	const unsigned char *p = (const unsigned char *)at;
	if (left == 0 || (p[0] >= 0x80 && p[0] < 0xc2) || p[0] > 0xf4)
		return 0;
	size_t len = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (len > left)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	bool overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
	bool surrogate = p[0] == 0xed && p[1] > 0x9f, beyond = p[0] == 0xf4 && p[1] > 0x8f;
	return overlong || surrogate || beyond ? 0 : len;
}

size_t tdm_str_printable(const char *at, size_t left)
{
	size_t len = tdm_str_utf8(at, left);
	unsigned char first = len != 0 ? (unsigned char)at[0] : 0;
	/* U+0080 to U+009F are control characters too. */
	bool control = len == 1 ? first < 0x20 || first == 0x7f : first == 0xc2 && (unsigned char)at[1] < 0xa0;
	return control ? 0 : len;
}

bool tdm_str_is_utf16(struct tdm_str s)
{
	enum { LOOKED_AT = 64, ENOUGH = 16 };
	size_t len = s.len < LOOKED_AT ? s.len & ~(size_t)1 : LOOKED_AT, zeros[2] = { 0, 0 };
	if (s.len >= 2 && (memcmp(s.ptr, "\xff\xfe", 2) == 0 || memcmp(s.ptr, "\xfe\xff", 2) == 0))
		return true;
	for (size_t i = 0; i < len; i++)
		zeros[i % 2] += s.ptr[i] == '\0';
	/* Allows for characters outside Latin-1, and for characters whose low byte is zero. */
	size_t most = zeros[0] > zeros[1] ? zeros[0] : zeros[1], least = zeros[0] + zeros[1] - most;
	return len >= ENOUGH && most >= len / 2 - len / 8 && least <= most / 16;
}

int tdm_str_parse_u64(struct tdm_str s, uint64_t *value)
{
	uint64_t v = 0;
	if (s.len == 0)
		return TDM_ESYNTAX;
	for (size_t i = 0; i < s.len; i++) {
		unsigned digit = (unsigned char)s.ptr[i] - (unsigned)'0';
		if (digit > 9)
			return TDM_ESYNTAX;
		if (__builtin_mul_overflow(v, UINT64_C(10), &v) || __builtin_add_overflow(v, (uint64_t)digit, &v))
			return -ERANGE;
	}
	*value = v;
	return 0;
}

bool tdm_is_one_of(struct tdm_str name, const char *words)
{
	for (const char *end; *words != '\0'; words = *end != '\0' ? end + 1 : end) {
		end = strchrnul(words, ' ');
		if ((size_t)(end - words) == name.len && memcmp(words, name.ptr, name.len) == 0)
			return true;
	}
	return false;
}
