/*
 * A set of names, each with a number: a hash table of short texts. The slot of a removed name is reused, so memory
 * depends on the names present at one time, not on all that ever were. Not thread-safe.
 */
#ifndef TDM_BASE_NAMES_H
#define TDM_BASE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { TDM_NAME_MAX = 255 };
#define TDM_NAME_NONE UINT32_MAX

struct tdm_name_cell;
struct tdm_name_slot;

struct tdm_names {
	struct tdm_name_cell *cells;
	struct tdm_name_slot *slots;
	size_t mask; /* cells - 1 */
	uint32_t count, slot_count, slot_cap;
	uint32_t spare; /* first unused slot, chained; TDM_NAME_NONE: none */
};

int tdm_names_init(struct tdm_names *names); /* 0 or -ENOMEM */
void tdm_names_done(struct tdm_names *names);

/* The name's slot, or TDM_NAME_NONE. */
uint32_t tdm_names_find(const struct tdm_names *names, struct tdm_str name);

/* The name must be new. 0 with *slot set, -ENAMETOOLONG above TDM_NAME_MAX bytes, or -ENOMEM. */
int tdm_names_add(struct tdm_names *names, struct tdm_str name, uint32_t *slot);

void tdm_names_remove(struct tdm_names *names, uint32_t slot);

/* A number that the caller keeps with the name; 0 for a new name. */
uint64_t *tdm_names_number(const struct tdm_names *names, uint32_t slot);

#endif
