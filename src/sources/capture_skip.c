#include "sources/capture_skip.h"

#include <stdbool.h>
#include <string.h>

/* Keys of the pairs to leave out. find_letters() knows how they begin. */
static const struct {
	const char *key;
	size_t len;
} pairs[] = {
	{ "\"arguments\":", 12 },
	{ "\"input_tensors\":", 16 },
	{ "\"memory_config\":", 16 },
	{ "\"stacking_level\":", 17 },
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

typedef unsigned char block __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint64_t halves __attribute__((vector_size(16)));

/* The next offset from `at` on where "ar, "in, "me or "st begins, or `len`. Looks at a block at a time, since nearly
 * all have none. */
static size_t find_letters(const char *text, size_t len, size_t at)
{
	for (; at + sizeof(block) + 2 <= len; at += sizeof(block)) {
		block quote = *(const block *)(text + at), first = *(const block *)(text + at + 1),
		      second = *(const block *)(text + at + 2);
		block found = (block)(quote == '"') & (((block)(first == 'a') & (block)(second == 'r')) |
							      ((block)(first == 'i') & (block)(second == 'n')) |
							      ((block)(first == 'm') & (block)(second == 'e')) |
							      ((block)(first == 's') & (block)(second == 't')));
		halves half = (halves)found;
		if (half[0] != 0)
			return at + (size_t)__builtin_ctzll(half[0]) / 8;
		if (half[1] != 0)
			return at + 8 + (size_t)__builtin_ctzll(half[1]) / 8;
	}
	while (at < len && text[at] != '"')
		at++;
	return at;
}

/* Finds the next key of a pair from `at` on: where it begins and where its value does. False: there is none. */
static bool find_key(const char *text, size_t len, size_t at, size_t *begin, size_t *value)
{
	for (; (at = find_letters(text, len, at)) < len; at++)
		for (int i = 0; i < PAIRS; i++)
			if (pairs[i].len <= len - at && memcmp(text + at, pairs[i].key, pairs[i].len) == 0) {
				*begin = at;
				*value = at + pairs[i].len;
				return true;
			}
	return false;
}

static size_t skip_blanks(const char *text, size_t len, size_t at)
{
	while (at < len && (text[at] == ' ' || text[at] == '\n' || text[at] == '\r' || text[at] == '\t'))
		at++;
	return at;
}

/* The offset after a text without escapes that begins at `at`; 0: it is no such text, or incomplete. */
static size_t skip_text(const char *text, size_t len, size_t at)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
	if (at == len || text[at++] != '"')
		return 0;
	for (uint64_t word; at + sizeof word <= len; at += sizeof word) { /* eight bytes at a time */
		memcpy(&word, text + at, sizeof word);
		uint64_t quote = word ^ ones * '"', slash = word ^ ones * '\\';
		uint64_t found = ((word - ones * ' ') & ~word) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash);
		if ((found & tops) != 0)
			break;
	}
	while (at < len && text[at] != '"' && text[at] != '\\' && (unsigned char)text[at] >= ' ')
		at++;
	return at < len && text[at] == '"' ? at + 1 : 0;
}

/* The same for a number without sign, fraction or exponent. */
static size_t skip_number(const char *text, size_t len, size_t at)
{
	size_t from = at;
	while (at < len && text[at] >= '0' && text[at] <= '9')
		at++;
	return at == from || (text[from] == '0' && at != from + 1) ? 0 : at;
}

static size_t skip_simple(const char *text, size_t len, size_t at)
{
	return at < len && text[at] == '"' ? skip_text(text, len, at) : skip_number(text, len, at);
}

/* The same for a text, a number or a list of them. */
static size_t skip_value(const char *text, size_t len, size_t at)
{
	at = skip_blanks(text, len, at);
	if (at == len || text[at] != '[')
		return skip_simple(text, len, at);
	at = skip_blanks(text, len, at + 1);
	if (at < len && text[at] == ']')
		return at + 1;
	for (;;) {
		at = skip_simple(text, len, at);
		at = at != 0 ? skip_blanks(text, len, at) : len;
		if (at == len || (text[at] != ',' && text[at] != ']'))
			return 0;
		if (text[at++] == ']')
			return at;
		at = skip_blanks(text, len, at);
	}
}

/*
 * Where to continue after leaving out a pair. If another pair follows, the comma after this one goes, too. If it is the
 * last one, the comma before it goes and *begin moves there, unless that comma went with the pair before (`taken`).
 * 0: the pair stays.
 */
static size_t skip_pair(const char *text, size_t len, size_t taken, size_t *begin, size_t value)
{
	size_t before = *begin;
	while (before > 0 && (text[before - 1] == ' ' || text[before - 1] == '\n' || text[before - 1] == '\r'))
		before--;
	char mark = before > 0 ? text[before - 1] : '\0';
	size_t end = mark == '{' || mark == ',' ? skip_value(text, len, value) : 0;
	size_t next = end != 0 ? skip_blanks(text, len, end) : len;
	if (next < len && text[next] == '}' && mark == ',' && before > taken) {
		*begin = before - 1;
		return end;
	}
	if (next == len || text[next] != ',')
		return 0;
	end = next + 1;
	next = skip_text(text, len, skip_blanks(text, len, end));
	next = next != 0 ? skip_blanks(text, len, next) : len;
	return next < len && text[next] == ':' ? end : 0;
}

void tdm_capture_skip(struct tdm_capture_skip *s, const char *piece, size_t len)
{
	size_t taken = 0, gone = 0, from = 0, begin, value;
	s->len = s->cut_count = s->cut_at = 0;
	while (find_key(piece, len, from, &begin, &value)) {
		size_t end = skip_pair(piece, len, taken, &begin, value);
		from = end != 0 ? end : value;
		if (end == 0)
			continue;
		memcpy(s->data + s->len, piece + taken, begin - taken);
		s->len += begin - taken;
		gone += end - begin;
		s->cuts[s->cut_count].at = (uint32_t)s->len;
		s->cuts[s->cut_count++].gone = (uint32_t)gone;
		taken = end;
	}
	memcpy(s->data + s->len, piece + taken, len - taken);
	s->len += len - taken;
}
