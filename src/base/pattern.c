#include "base/pattern.h"

#include <ctype.h>

/* A position in the text. */
struct cursor {
	const char *begin, *at, *end;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_blanks(struct cursor *c)
{
	while (c->at < c->end && is_blank(*c->at))
		c->at++;
}

static void skip_digits(struct cursor *c)
{
	while (c->at < c->end && isdigit((unsigned char)*c->at))
		c->at++;
}

static bool is_identifier(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Skips one field of the given type; false if there is none. */
static bool take_field(char type, struct cursor *c)
{
	const char *from = c->at;
	switch (type) {
	case 'x':
		if (c->end - from > 2 && from[0] == '0' && (from[1] == 'x' || from[1] == 'X') &&
			isxdigit((unsigned char)from[2])) {
			c->at += 2;
			while (c->at < c->end && isxdigit((unsigned char)*c->at))
				c->at++;
			return true;
		}
		skip_digits(c);
		break;
	case 'd':
		skip_digits(c);
		break;
	case 'f':
		skip_digits(c);
		if (c->at != from && c->end - c->at > 1 && *c->at == '.' && isdigit((unsigned char)c->at[1])) {
			c->at++;
			skip_digits(c);
		}
		break;
	case 'i':
		while (c->at < c->end && is_identifier(*c->at))
			c->at++;
		break;
	default:
		while (c->at < c->end && !is_blank(*c->at))
			c->at++;
		break;
	}
	return c->at != from;
}

static bool match_from(const char *pattern, struct cursor c, struct tdm_pattern_match *m);

/* %*: matches the shortest text after which the rest of the pattern matches. */
static bool match_span(const char *rest, struct cursor c, struct tdm_pattern_match *m)
{
	const char *from = c.at;
	size_t field = m->count++;
	if (*rest == '\0') {
		const char *newline = c.at != c.end ? memchr(c.at, '\n', (size_t)(c.end - c.at)) : NULL;
		c.at = newline != NULL ? newline : c.end;
		m->fields[field] = (struct tdm_str){ from, (size_t)(c.at - from) };
		m->len = (size_t)(c.at - c.begin);
		return true;
	}
	for (size_t span = 0; span <= TDM_PATTERN_SPAN; span++) {
		m->count = field + 1;
		bool may = c.at < c.end && (*c.at == *rest || (*rest == ' ' && is_blank(*c.at)));
		if (may && match_from(rest, c, m)) {
			m->fields[field] = (struct tdm_str){ from, (size_t)(c.at - from) };
			return true;
		}
		if (c.at == c.end || *c.at == '\n')
			return false;
		c.at++;
	}
	return false;
}

static bool match_from(const char *pattern, struct cursor c, struct tdm_pattern_match *m)
{
	for (; *pattern != '\0'; pattern++) {
		if (*pattern == ' ') {
			if (c.at == c.end || !is_blank(*c.at))
				return false;
			skip_blanks(&c);
		} else if (*pattern != '%' || pattern[1] == '%') {
			pattern += *pattern == '%';
			if (c.at == c.end || *c.at != *pattern)
				return false;
			c.at++;
		} else if (*++pattern == '_') {
			skip_blanks(&c);
		} else if (m->count == TDM_PATTERN_FIELDS) {
			return false;
		} else if (*pattern == '*') {
			return match_span(pattern + 1, c, m);
		} else {
			const char *from = c.at;
			if (!take_field(*pattern, &c))
				return false;
			m->fields[m->count++] = (struct tdm_str){ from, (size_t)(c.at - from) };
		}
	}
	m->len = (size_t)(c.at - c.begin);
	return true;
}

bool tdm_pattern_match(const char *pattern, struct tdm_str text, struct tdm_pattern_match *match)
{
	/* Most inputs differ in the first byte. */
	if (text.len == 0 || (*pattern != '%' && *pattern != ' ' && *pattern != *text.ptr))
		return false;
	struct tdm_pattern_match m = { .count = 0 };
	struct cursor c = { text.ptr, text.ptr, text.ptr + text.len };
	if (!match_from(pattern, c, &m))
		return false;
	*match = m;
	return true;
}

bool tdm_pattern_number(struct tdm_str text, uint64_t *value)
{
	if (text.len < 3 || text.ptr[0] != '0' || (text.ptr[1] != 'x' && text.ptr[1] != 'X'))
		return tdm_str_parse_u64(text, value) == 0;
	uint64_t number = 0;
	for (size_t i = 2; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];
		if (!isxdigit(c) || number >> 60 != 0)
			return false;
		number = number << 4 | (unsigned)(isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
	}
	*value = number;
	return true;
}
