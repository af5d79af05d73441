#include "sources/long_text.h"

#include <string.h>

enum { DIGITS = 4 }; /* of \u1234 */

void tdm_long_text_fed(struct tdm_long_text *text, const char *data, size_t len)
{
	size_t slashes = 0;
	while (slashes < len && data[len - 1 - slashes] == '\\')
		slashes++;
	/* An odd number of backslashes escapes the next byte; a piece of only backslashes continues the one before. */
	text->escaped = (slashes % 2 != 0) != (slashes == len && text->escaped);
}

void tdm_long_text_begin(struct tdm_long_text *text)
{
	text->is_inside = true;
	text->is_dropping = false;
	text->open = DIGITS; /* an escape may be open, and how far it has got is unknown */
}

static size_t find(const char *data, size_t len, size_t at, char c)
{
	const char *found = memchr(data + at, c, len - at);
	return found != NULL ? (size_t)(found - data) : len;
}

size_t tdm_long_text_next(struct tdm_long_text *text, const char *data, size_t len, size_t *kept)
{
	size_t at = 0, quote = 0;
	*kept = 0;
	for (; at < len; at++) {
		if (!text->escaped && text->open == 0)
			text->is_dropping = true;
		if (text->is_dropping && !text->escaped && at >= quote) /* only quotes and backslashes matter */
			quote = find(data, len, at, '"');
		if (text->is_dropping && !text->escaped && (at = find(data, quote, at, '\\')) == len)
			return at;
		if (!text->escaped && data[at] == '"') {
			text->is_inside = false;
			*kept = text->is_dropping ? *kept : at;
			return at;
		}
		if (text->escaped)
			text->open = data[at] == 'u' ? DIGITS : 0;
		else if (text->open != 0)
			text->open--;
		text->escaped = !text->escaped && data[at] == '\\';
		*kept += !text->is_dropping;
	}
	return at;
}
