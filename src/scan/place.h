/*
 * The places in a text that create buffers, found without the syntax tree: the names of the ten shapes where they make
 * something, comments and strings left out. Also the cheap look that says whether a file can contain anything at all.
 */
#ifndef TDM_SCAN_PLACE_H
#define TDM_SCAN_PLACE_H

#include "scan/lexer.h"
#include "scan/scan.h"

/* What a name means to the scan. */
enum tdm_name_sense {
	TDM_SENSE_NONE,
	TDM_SENSE_TYPE,   /* a type that describes a buffer: CBDescriptor; `shape` */
	TDM_SENSE_HELPER, /* a name that functions which create buffers have: make_dfb, push_cb_if_nonzero */
	TDM_SENSE_KERNEL, /* a type or function that creates a kernel */
	TDM_SENSE_DEVICE, /* a name of the device's side: cb_wait_front */
};

struct tdm_name_meaning {
	uint8_t sense; /* enum tdm_name_sense */
	uint8_t shape; /* enum tdm_shape */
};

struct tdm_name_meaning tdm_name_meaning(struct tdm_str name);

/* Whether a name can be that of a function which creates buffers, by its words: make_dfb, add_local_cb. */
bool tdm_name_is_creator(struct tdm_str name);

/* Whether it is one of the names that the runtime's own sources use for such functions. */
bool tdm_name_is_helper(struct tdm_str name);

/* All tokens of a text, the names with their meaning: made once for all that look for names. */
struct tdm_tokens {
	struct tdm_str text;
	struct tdm_token *list; /* the last is TDM_TOKEN_END */
	size_t count, cap;
};

/* Reads a text into a list, which is emptied first and keeps its memory; a zeroed one is empty. 0 or -ENOMEM. */
int tdm_tokens_read(struct tdm_tokens *tokens, struct tdm_str text);
void tdm_tokens_done(struct tdm_tokens *tokens);

static inline struct tdm_str tdm_tokens_text(const struct tdm_tokens *tokens, size_t i)
{
	const struct tdm_token *token = &tokens->list[i];
	return (struct tdm_str){ tokens->text.ptr + token->start, token->end - token->start };
}

/* What a text contains. */
struct tdm_look {
	bool has_host;   /* a name that creates a buffer or a kernel */
	bool has_device; /* a name of the device's side */
};

/* Whether a text can contain anything that matters: searches for parts of the names that all of them have. */
bool tdm_look_quickly(struct tdm_str text);
struct tdm_look tdm_look_at(const struct tdm_tokens *tokens);

/* Adds the places of a C++ text to the file, without their lines. 0 or -ENOMEM. */
int tdm_places_find(struct tdm_scan_file *file, const struct tdm_tokens *tokens);

/* The first place of a file that begins at a byte or after it; and the one at that byte, or NULL. */
size_t tdm_place_from(const struct tdm_scan_file *file, uint32_t byte);
struct tdm_scan_place *tdm_place_at(struct tdm_scan_file *file, uint32_t byte);

#endif
