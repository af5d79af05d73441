/* A borrowed piece of text: not terminated, may hold any byte. */
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

static inline bool tdm_str_is(struct tdm_str a, const char *text)
{
	return tdm_str_eq(a, tdm_str_of(text));
}

/* A good 64-bit mix of a word: every input bit reaches every output bit. */
static inline uint64_t tdm_hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	x ^= x >> 32;
	return x;
}

/* Hash of a text; for tables in memory only, not for anything stored. */
uint64_t tdm_str_hash(struct tdm_str s);

/* Cuts blanks (space, tab, CR) at both ends. */
struct tdm_str tdm_str_trim(struct tdm_str s);

/*
 * Text of unknown origin made fit for a message: what does not fit `cap` is cut and ends in "...", anything but
 * printable ASCII becomes '?'. Always terminated. Returns dst.
 */
char *tdm_str_shown(struct tdm_str s, char *dst, size_t cap);

/*
 * Bytes of the UTF-8 character at `at`, of which `left` bytes may be read; 0 when there is none. In a terminated text
 * `left` may be TDM_UTF8_MAX anywhere: the terminator goes on no character.
 */
enum { TDM_UTF8_MAX = 4 };
size_t tdm_str_utf8(const char *at, size_t left);
/* The same, and 0 for control characters. */
size_t tdm_str_printable(const char *at, size_t left);

/* Whether a text begins as UTF-16 does: with its mark, or with zeros in nearly every second byte. */
bool tdm_str_is_utf16(struct tdm_str s);

/* Decimal digits only, at least one, no sign. 0, TDM_ESYNTAX, or -ERANGE above 64 bits. */
int tdm_str_parse_u64(struct tdm_str s, uint64_t *value);

#endif
