#include "scan/lexer.h"

enum { BLANK = 1, LETTER = 2, DIGIT = 4 };

static const uint8_t classes[256] = {
	[' '] = BLANK,
	['\t'] = BLANK,
	['\r'] = BLANK,
	['\n'] = BLANK,
	['\f'] = BLANK,
	['\v'] = BLANK,
	['a' ... 'z'] = LETTER,
	['A' ... 'Z'] = LETTER,
	['_'] = LETTER,
	['$'] = LETTER,
	[128 ... 255] = LETTER,
	['0' ... '9'] = DIGIT,
};

static uint8_t class_at(const struct tdm_lexer *lexer, uint32_t at)
{
	return at < lexer->len ? classes[(uint8_t)lexer->text[at]] : 0;
}

static char char_at(const struct tdm_lexer *lexer, uint32_t at)
{
	return at < lexer->len ? lexer->text[at] : '\0';
}

void tdm_lexer_init(struct tdm_lexer *lexer, struct tdm_str text)
{
	*lexer = (struct tdm_lexer){ text.ptr, (uint32_t)text.len, 0, true };
}

/* The byte after the end of the line, where a backslash joins the next one. */
static uint32_t line_end(const struct tdm_lexer *lexer, uint32_t at)
{
	while (at < lexer->len) {
		const char *end = memchr(lexer->text + at, '\n', lexer->len - at);
		if (end == NULL)
			return lexer->len;
		at = (uint32_t)(end - lexer->text);
		uint32_t last = at > 0 && lexer->text[at - 1] == '\r' ? at - 1 : at;
		if (last == 0 || lexer->text[last - 1] != '\\')
			return at;
		at++;
	}
	return lexer->len;
}

/* The byte after a comment that begins at `at`, or `at` when there is none. */
static uint32_t after_comment(const struct tdm_lexer *lexer, uint32_t at)
{
	if (char_at(lexer, at) != '/')
		return at;
	if (char_at(lexer, at + 1) == '/')
		return line_end(lexer, at);
	if (char_at(lexer, at + 1) != '*')
		return at;
	const char *end = lexer->len - at > 2 ? memmem(lexer->text + at + 2, lexer->len - at - 2, "*/", 2) : NULL;
	return end != NULL ? (uint32_t)(end - lexer->text) + 2 : lexer->len;
}

static void skip_blanks(struct tdm_lexer *lexer)
{
	for (;;) {
		while (class_at(lexer, lexer->at) == BLANK) {
			lexer->at_line_start |= lexer->text[lexer->at] == '\n';
			lexer->at++;
		}
		uint32_t after = after_comment(lexer, lexer->at);
		if (after == lexer->at)
			return;
		lexer->at = after;
	}
}

/* The byte after a string or character literal whose quote is at `at`. An unfinished one ends with its line. */
static uint32_t after_quoted(const struct tdm_lexer *lexer, uint32_t at)
{
	char quote = lexer->text[at++];
	while (at < lexer->len && lexer->text[at] != quote && lexer->text[at] != '\n')
		at += lexer->text[at] == '\\' ? 2 : 1;
	if (at > lexer->len)
		return lexer->len;
	return at < lexer->len && lexer->text[at] == quote ? at + 1 : at;
}

/* R"mark( ... )mark", whose quote is at `at`. */
static uint32_t after_raw(const struct tdm_lexer *lexer, uint32_t at)
{
	enum { MARK_MAX = 16 };
	char close[MARK_MAX + 3] = ")";
	uint32_t len = 0;
	while (len <= MARK_MAX && char_at(lexer, at + 1 + len) != '(' && at + 1 + len < lexer->len)
		len++;
	if (len > MARK_MAX || at + 1 + len >= lexer->len)
		return at + 1;
	memcpy(close + 1, lexer->text + at + 1, len);
	close[len + 1] = '"';
	const char *end = memmem(lexer->text + at, lexer->len - at, close, len + 2);
	return end != NULL ? (uint32_t)(end - lexer->text) + len + 2 : lexer->len;
}

/* Whether a name just before a quote makes it a raw string: R, u8R, LR, ... */
static bool is_raw_prefix(const struct tdm_lexer *lexer, uint32_t start, uint32_t end)
{
	return end - start <= 3 && lexer->text[end - 1] == 'R' && char_at(lexer, end) == '"';
}

static struct tdm_token name_token(struct tdm_lexer *lexer)
{
	uint32_t start = lexer->at;
	while ((class_at(lexer, lexer->at) & (LETTER | DIGIT)) != 0)
		lexer->at++;
	if (is_raw_prefix(lexer, start, lexer->at)) {
		lexer->at = after_raw(lexer, lexer->at);
		return (struct tdm_token){ .kind = TDM_TOKEN_STRING, .start = start, .end = lexer->at };
	}
	return (struct tdm_token){ .kind = TDM_TOKEN_NAME, .start = start, .end = lexer->at };
}

static struct tdm_token number_token(struct tdm_lexer *lexer)
{
	uint32_t start = lexer->at;
	for (; lexer->at < lexer->len; lexer->at++) {
		char c = lexer->text[lexer->at];
		bool is_separator = c == '\'' && (class_at(lexer, lexer->at + 1) & (LETTER | DIGIT)) != 0;
		if ((classes[(uint8_t)c] & (LETTER | DIGIT)) == 0 && c != '.' && !is_separator)
			break;
	}
	return (struct tdm_token){ .kind = TDM_TOKEN_NUMBER, .start = start, .end = lexer->at };
}

static struct tdm_token mark_token(struct tdm_lexer *lexer)
{
	uint32_t start = lexer->at++;
	char mark = lexer->text[start], next = char_at(lexer, lexer->at);
	bool is_double = (mark == ':' && next == ':') || (mark == '-' && next == '>');
	lexer->at += is_double;
	return (struct tdm_token){
		.kind = TDM_TOKEN_MARK, .mark = is_double ? next : mark, .start = start, .end = lexer->at
	};
}

struct tdm_token tdm_lexer_next(struct tdm_lexer *lexer)
{
	skip_blanks(lexer);
	uint32_t start = lexer->at;
	bool at_line_start = lexer->at_line_start;
	lexer->at_line_start = false;
	if (start >= lexer->len)
		return (struct tdm_token){ .kind = TDM_TOKEN_END, .start = start, .end = start };
	uint8_t class = class_at(lexer, start);
	if (class == LETTER)
		return name_token(lexer);
	if (class == DIGIT)
		return number_token(lexer);
	if (lexer->text[start] == '"' || lexer->text[start] == '\'') {
		lexer->at = after_quoted(lexer, start);
		return (struct tdm_token){ .kind = TDM_TOKEN_STRING, .start = start, .end = lexer->at };
	}
	if (lexer->text[start] == '#' && at_line_start) {
		lexer->at = line_end(lexer, start);
		return (struct tdm_token){ .kind = TDM_TOKEN_DIRECTIVE, .start = start, .end = lexer->at };
	}
	return mark_token(lexer);
}
