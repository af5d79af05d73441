/* A borrowed piece of text: not NUL-terminated, may contain any byte. */
#ifndef TDM_BASE_STR_H
#define TDM_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

struct tdm_str {
	const char *ptr;
	size_t len;
};

/* The arguments for "%.*s" in printf. */
#define TDM_STR_ARG(s) ((int)(s).len), (s).ptr

static inline struct tdm_str tdm_str_of(const char *text)
{
	return (struct tdm_str){ text, text != NULL ? strlen(text) : 0 };
}

static inline bool tdm_str_eq(struct tdm_str a, struct tdm_str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool tdm_has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* A line without its trailing carriage return, if any. */
static inline struct tdm_str tdm_str_line(const char *text, size_t len)
{
	return (struct tdm_str){ text, len != 0 && text[len - 1] == '\r' ? len - 1 : len };
}

static inline bool tdm_str_is_valid(struct tdm_str text)
{
	return text.ptr != NULL || text.len == 0;
}

static inline bool tdm_str_is(struct tdm_str a, const char *text)
{
	return tdm_str_eq(a, tdm_str_of(text));
}

static inline bool tdm_str_begins(struct tdm_str text, const char *with)
{
	size_t len = strlen(with);
	return text.len >= len && memcmp(text.ptr, with, len) == 0;
}

static inline bool tdm_str_ends(struct tdm_str text, const char *with)
{
	size_t len = strlen(with);
	return text.len >= len && memcmp(text.ptr + text.len - len, with, len) == 0;
}

/* The text without its first bytes. */
static inline struct tdm_str tdm_str_from(struct tdm_str text, size_t at)
{
	return (struct tdm_str){ text.ptr + at, text.len - at };
}

/* Where `part` occurs in the text; NULL if it does not. */
static inline const char *tdm_str_find(struct tdm_str text, const char *part)
{
	return text.len != 0 ? (const char *)memmem(text.ptr, text.len, part, strlen(part)) : NULL;
}

/* The rest of the text, starting at `at`, a pointer into the text. */
static inline struct tdm_str tdm_str_rest(struct tdm_str text, const char *at)
{
	return tdm_str_from(text, (size_t)(at - text.ptr));
}

/* Cuts the first line off the text and returns it without the newline. */
struct tdm_str tdm_str_take_line(struct tdm_str *text);

/* Cuts the next word, and the blanks before it, off a text; returns an empty string at the end. */
struct tdm_str tdm_str_take_word(struct tdm_str *text);

/* Whether the text equals the word, ignoring case; false for NULL. */
static inline bool tdm_str_is_word(struct tdm_str a, const char *word)
{
	enum { CASE = 'a' ^ 'A' };
	bool may_be = word != NULL && a.len == strlen(word) && (a.len == 0 || ((*a.ptr ^ *word) & ~CASE) == 0);
	return may_be && strncasecmp(a.ptr, word, a.len) == 0;
}

/* Mixes a 64-bit word: every input bit affects every output bit. */
static inline uint64_t tdm_hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	x ^= x >> 32;
	return x;
}

/* Hash of a text; only for tables in memory, never for stored data. */
uint64_t tdm_str_hash(struct tdm_str s);

/* Strips blanks (space, tab, CR) from both ends. */
struct tdm_str tdm_str_trim(struct tdm_str s);

/* Makes untrusted text safe to show in a message. A text too long for `cap` is cut and ends in "..."; control
 * characters and invalid UTF-8 become '?'. Always terminated. Returns dst. */
char *tdm_str_shown(struct tdm_str s, char *dst, size_t cap);

/* Length of the UTF-8 character at `at`, reading at most `left` bytes; 0 if it is not a valid character. For a
 * terminated string, `left` may always be TDM_UTF8_MAX, because no character extends past the terminator. */
enum { TDM_UTF8_MAX = 4 };
size_t tdm_str_utf8(const char *at, size_t left);
/* Like tdm_str_utf8(), but 0 for control characters. */
size_t tdm_str_printable(const char *at, size_t left);

/* Whether a text looks like UTF-16: it begins with a byte order mark, or nearly every second byte is zero. */
bool tdm_str_is_utf16(struct tdm_str s);

/* Parses decimal digits: at least one, no sign. 0, TDM_ESYNTAX, or -ERANGE above 64 bits. */
int tdm_str_parse_u64(struct tdm_str s, uint64_t *value);

/* Whether a name is among `words`, a list separated by blanks. */
bool tdm_is_one_of(struct tdm_str name, const char *words);

/* Whether a string begins with a prefix and is longer than it. */
static inline bool tdm_begins_with(struct tdm_str text, const char *prefix)
{
	size_t len = strlen(prefix);
	return text.len > len && memcmp(text.ptr, prefix, len) == 0;
}

static inline bool tdm_contains(struct tdm_str text, const char *piece)
{
	return text.len != 0 && memmem(text.ptr, text.len, piece, strlen(piece)) != NULL;
}

/* A string without its first `skip` bytes. */
static inline struct tdm_str tdm_after(struct tdm_str text, size_t skip)
{
	return (struct tdm_str){ text.ptr + skip, text.len - skip };
}

/* The last part of a path or of a qualified name: everything after the last `mark`. */
static inline struct tdm_str tdm_last_part(struct tdm_str text, char mark)
{
	const char *at = text.len != 0 ? (const char *)memrchr(text.ptr, mark, text.len) : NULL;
	return at != NULL ? tdm_after(text, (size_t)(at + 1 - text.ptr)) : text;
}

#endif
