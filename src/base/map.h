/*
 * A hash map from a 64-bit key to a 32-bit value: open addressing, linear probing, no tombstones (erasing a key moves
 * the keys after it back). All keys are allowed, and all values except TDM_MAP_NONE. A zeroed map is empty. Not
 * thread-safe.
 */
#ifndef TDM_BASE_MAP_H
#define TDM_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

#define TDM_MAP_NONE UINT32_MAX

struct tdm_map {
	uint64_t *keys;
	uint32_t *values; /* TDM_MAP_NONE marks a free cell */
	size_t mask;      /* cells - 1 */
	size_t count;
};

/* Initialises an empty map in uninitialised memory. Returns 0. */
static inline int tdm_map_init(struct tdm_map *map)
{
	*map = (struct tdm_map){ 0 };
	return 0;
}

void tdm_map_done(struct tdm_map *map);
void tdm_map_clear(struct tdm_map *map);                            /* keeps its memory */
uint32_t tdm_map_find(const struct tdm_map *map, uint64_t key);     /* TDM_MAP_NONE if absent */
int tdm_map_put(struct tdm_map *map, uint64_t key, uint32_t value); /* 0 or -ENOMEM; replacing never fails */
uint32_t tdm_map_take(struct tdm_map *map, uint64_t key);           /* removes the key; TDM_MAP_NONE if absent */

#endif
