/* Parses JSON of unknown origin and calls a function for each part, in text order. Keeps nothing; nesting is
 * limited. */
#ifndef TDM_BASE_JSON_WALK_H
#define TDM_BASE_JSON_WALK_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/str.h"

enum { TDM_JSON_WALK_DEPTH = 24 };

enum tdm_json_part {
	TDM_JSON_PART_BEGIN, /* an object or an array */
	TDM_JSON_PART_END,
	TDM_JSON_PART_KEY,    /* `text` is set for this part and all later ones */
	TDM_JSON_PART_STRING, /* valid UTF-8, without escapes */
	TDM_JSON_PART_NUMBER, /* the number as written */
	TDM_JSON_PART_BOOL,
	TDM_JSON_PART_NULL,
};

struct tdm_json_token {
	enum tdm_json_part part;
	bool is_array;       /* set for TDM_JSON_PART_BEGIN */
	bool yes;            /* set for TDM_JSON_PART_BOOL */
	struct tdm_str text; /* borrowed during the call */
};

/*
 * Returns 0, or a negative code and sets diag. `take` returns 0, or a negative code that ends the walk and is returned;
 * in that case, `take` must set diag itself.
 */
int tdm_json_walk(struct tdm_str text, int (*take)(void *to, const struct tdm_json_token *token), void *to,
	struct tdm_diag *diag);

#endif
