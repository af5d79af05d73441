/*
 * Reads a JSON text of unknown origin and calls a function for each of its parts, in the order of the text. Keeps
 * nothing; nesting is limited.
 */
#ifndef TDM_SOURCES_JSON_WALK_H
#define TDM_SOURCES_JSON_WALK_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/str.h"

enum { TDM_JSON_WALK_DEPTH = 24 };

enum tdm_json_part {
	TDM_JSON_PART_BEGIN, /* an object, or an array */
	TDM_JSON_PART_END,
	TDM_JSON_PART_KEY,    /* this and the next have a text */
	TDM_JSON_PART_STRING, /* valid UTF-8, without escapes */
	TDM_JSON_PART_NUMBER, /* as it is written */
	TDM_JSON_PART_BOOL,
	TDM_JSON_PART_NULL,
};

struct tdm_json_token {
	enum tdm_json_part part;
	bool is_array;       /* of a beginning */
	bool yes;            /* of a bool */
	struct tdm_str text; /* borrowed during the call */
};

/* 0, or a negative code with diag set. `take` returns 0, or a negative code that ends the walk and is returned with the
 * diag of the caller. */
int tdm_json_walk(struct tdm_str text, int (*take)(void *to, const struct tdm_json_token *token), void *to,
	struct tdm_diag *diag);

#endif
