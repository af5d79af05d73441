/* "Did you mean …": the name that is closest to a mistyped word. */
#ifndef TDM_BASE_SUGGEST_H
#define TDM_BASE_SUGGEST_H

#include <stddef.h>

#include "base/str.h"

struct tdm_suggest {
	struct tdm_str word; /* borrowed */
	const char *best;    /* borrowed from the offers; NULL until one is close enough */
	size_t distance;     /* of the best */
};

void tdm_suggest_init(struct tdm_suggest *suggest, struct tdm_str word);

/* Takes `name` if it is close to the word and closer than every earlier offer. NULL is allowed. */
void tdm_suggest_offer(struct tdm_suggest *suggest, const char *name);

#endif
