/* A borrowed piece of text: not NUL-terminated, may contain any byte. */
#ifndef TDM_BASE_STR_H
#define TDM_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct tdm_str {
	const char *ptr;
	size_t len;
};

/* For printf's "%.*s". */
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

/* A line without the carriage return at its end. */
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

/* Cuts blanks (space, tab, CR) at both ends. */
struct tdm_str tdm_str_trim(struct tdm_str s);

/*
 * Makes untrusted text fit for a message: a text too long for `cap` is cut and ends in "...", and control
 * characters and invalid UTF-8 become '?'. Always terminated. Returns dst.
 */
char *tdm_str_shown(struct tdm_str s, char *dst, size_t cap);

/*
 * Length of the UTF-8 character at `at`, reading at most `left` bytes; 0 when it is not a valid character. In a
 * terminated text `left` may always be TDM_UTF8_MAX: no character continues past the terminator.
 */
enum { TDM_UTF8_MAX = 4 };
size_t tdm_str_utf8(const char *at, size_t left);
/* The same, and 0 for control characters. */
size_t tdm_str_printable(const char *at, size_t left);

/* Whether a text looks like UTF-16: it begins with a byte order mark, or nearly every second byte is zero. */
bool tdm_str_is_utf16(struct tdm_str s);

/* Decimal digits only, at least one, no sign. 0, TDM_ESYNTAX, or -ERANGE above 64 bits. */
int tdm_str_parse_u64(struct tdm_str s, uint64_t *value);

#endif
