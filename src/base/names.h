/*
 * A set of names, each with a number: a hash table of short texts. A removed name's place is used again, so memory
 * follows the names that are there at one time, not all that ever were. Not thread-safe.
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

/* The name must not be there yet and be at most TDM_NAME_MAX bytes long. 0 with *slot set, -ENAMETOOLONG or -ENOMEM. */
int tdm_names_add(struct tdm_names *names, struct tdm_str name, uint32_t *slot);

/* Removes the name at `slot`. */
void tdm_names_remove(struct tdm_names *names, uint32_t slot);

/* A number that the user keeps with the name; 0 in a new one. */
uint64_t *tdm_names_number(const struct tdm_names *names, uint32_t slot);

#endif
