/*
 * A cheap first pass over source text: finds tokens without a grammar, and judges what each name means to the scan.
 *
 * The lexer recognises comments, strings, raw strings and preprocessor lines of C++, and nothing else. A file's tokens
 * decide whether the file is parsed at all, and feed the index of a project's definitions.
 */
#ifndef TDM_SCAN_LEXER_H
#define TDM_SCAN_LEXER_H

#include "scan/scan.h"

enum tdm_token_kind {
	TDM_TOKEN_END,
	TDM_TOKEN_NAME,
	TDM_TOKEN_NUMBER,
	TDM_TOKEN_STRING,
	TDM_TOKEN_MARK,      /* a punctuation character, or "::" or "->" */
	TDM_TOKEN_DIRECTIVE, /* a whole preprocessor line */
};

struct tdm_token {
	uint8_t kind;  /* enum tdm_token_kind */
	uint8_t sense; /* for a NAME in a list from tdm_tokens_read(): an enum tdm_name_sense */
	uint8_t shape;
	char mark; /* MARK: the character; ':' for "::" and '>' for "->", both two bytes long */
	uint32_t start, end;
};

struct tdm_lexer {
	const char *text;
	uint32_t len, at;
	bool at_line_start; /* only blanks precede on the line, so a '#' begins a directive */
};

/* `text` must be shorter than UINT32_MAX. */
void tdm_lexer_init(struct tdm_lexer *lexer, struct tdm_str text);
struct tdm_token tdm_lexer_next(struct tdm_lexer *lexer);

static inline struct tdm_str tdm_token_text(const struct tdm_lexer *lexer, struct tdm_token token)
{
	return (struct tdm_str){ lexer->text + token.start, token.end - token.start };
}

/* Parses an integer: 12, 0x1F, 0b101, 1'000u. Returns false for anything else, or for more than 63 bits. */
bool tdm_cpp_number(struct tdm_str text, int64_t *number);

/* The value of a name in the runtime's enum of indices: 3 for "c_3", 17 for "c_out1". Returns false for other names. */
bool tdm_cpp_buffer_index(struct tdm_str name, int64_t *number);

/* What a name means to the scan. */
enum tdm_name_sense {
	TDM_SENSE_NONE,
	TDM_SENSE_TYPE,   /* a type that describes a buffer, such as CBDescriptor; `shape` is set */
	TDM_SENSE_HELPER, /* a function that creates buffers: make_dfb, push_cb_if_nonzero */
	TDM_SENSE_KERNEL, /* a type or function that creates a kernel */
	TDM_SENSE_DEVICE, /* a name used in device code: cb_wait_front */
};
enum tdm_name_sense tdm_name_meaning(struct tdm_str name, uint8_t *shape);

/* Whether a function, judging by the words in its name, may create buffers: make_dfb, add_local_cb. */
bool tdm_name_is_creator(struct tdm_str name);

/* All tokens in a text, with the senses of names. Must be zeroed at first. */
struct tdm_tokens {
	struct tdm_str text;
	struct tdm_token *list; /* the last token is TDM_TOKEN_END */
	size_t count, cap;
	bool has_host;   /* a name creates a buffer or a kernel */
	bool has_device; /* a name belongs to device code */
};

/* Reads `text` into a list, which is emptied first; its memory is reused. */
void tdm_tokens_read(struct tdm_tokens *tokens, struct tdm_str text);
void tdm_tokens_done(struct tdm_tokens *tokens);

/* Adds a place to the file; its line is set later. */
void tdm_place_add(struct tdm_scan_file *file, uint32_t byte, uint8_t shape);
/* Finds, approximately, the places in a file that cannot be parsed. */
void tdm_places_guess(struct tdm_scan_file *file, const struct tdm_tokens *tokens);

/* The first function returns the index of the first place at or after a byte; the second, the place at exactly that
 * byte, or NULL. */
size_t tdm_place_from(const struct tdm_scan_file *file, uint32_t byte);
struct tdm_scan_place *tdm_place_at(struct tdm_scan_file *file, uint32_t byte);

#endif
