/* A set of names, each with a number: a hash table of short strings. The slot of a removed name is reused, so memory
 * depends on the names present at one time, not on all names ever seen. A zeroed set is empty. Not thread-safe. */
#ifndef TDM_BASE_NAMES_H
#define TDM_BASE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { TDM_NAME_MAX = 255 };
#define TDM_NAME_NONE UINT32_MAX

struct tdm_name_cell;
struct tdm_name_slot;

/* An empty set is zeroed. */
struct tdm_names {
	struct tdm_name_cell *cells;
	struct tdm_name_slot *slots;
	size_t mask; /* cells - 1 */
	uint32_t count, slot_count;
	uint32_t spare; /* first unused slot in the chain of spare slots; meaningless while all slots are in use */
	size_t slot_cap;
};

void tdm_names_done(struct tdm_names *names);

/* The name's slot, or TDM_NAME_NONE. */
uint32_t tdm_names_find(const struct tdm_names *names, struct tdm_str name);

/* The name must be new. Returns 0 and sets *slot, or returns -ENAMETOOLONG above TDM_NAME_MAX bytes. */
int tdm_names_add(struct tdm_names *names, struct tdm_str name, uint32_t *slot);

void tdm_names_remove(struct tdm_names *names, uint32_t slot);

/* Points to a number that the caller stores with the name; it is 0 for a new name. */
uint64_t *tdm_names_number(const struct tdm_names *names, uint32_t slot);

/* ---- "Did you mean …": the name closest to a mistyped word ---- */

struct tdm_suggest {
	struct tdm_str word; /* borrowed */
	const char *best;    /* borrowed from the offers; NULL until one is close enough */
	size_t distance;     /* distance of `best` from the word */
};

void tdm_suggest_init(struct tdm_suggest *suggest, struct tdm_str word);

/* Remembers `name` if it is close to the word and closer than every earlier offer. NULL is allowed. */
void tdm_suggest_offer(struct tdm_suggest *suggest, const char *name);

#endif
