/*
 * A cheap look at C++ text: tokens without a grammar. It knows comments, strings, raw strings and lines of the
 * preprocessor, and nothing else; it is what finds the places that create something independently of the syntax tree,
 * and what indexes definitions over a whole project.
 */
#ifndef TDM_SCAN_LEXER_H
#define TDM_SCAN_LEXER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum tdm_token_kind {
	TDM_TOKEN_END,
	TDM_TOKEN_NAME,
	TDM_TOKEN_NUMBER,
	TDM_TOKEN_STRING,
	TDM_TOKEN_MARK,      /* one character of punctuation, or "::" or "->" */
	TDM_TOKEN_DIRECTIVE, /* a whole line of the preprocessor */
};

struct tdm_token {
	uint8_t kind;  /* enum tdm_token_kind */
	uint8_t sense; /* of a NAME in a list that tdm_tokens_read() made: enum tdm_name_sense */
	uint8_t shape;
	char mark; /* MARK: the character; ':' for "::" as for ":", with `end - start` to tell; '>' for "->" */
	uint32_t start, end;
};

struct tdm_lexer {
	const char *text;
	uint32_t len, at;
	bool at_line_start; /* only blanks since the line began: a '#' begins a directive */
};

/* The text must be shorter than UINT32_MAX. */
void tdm_lexer_init(struct tdm_lexer *lexer, struct tdm_str text);
struct tdm_token tdm_lexer_next(struct tdm_lexer *lexer);

static inline struct tdm_str tdm_token_text(const struct tdm_lexer *lexer, struct tdm_token token)
{
	return (struct tdm_str){ lexer->text + token.start, token.end - token.start };
}

#endif
