/*
 * Tracks buffers that are allocated and not freed. The set maps the id of each live buffer to a slot in its owner's
 * list; the sum counts live bytes and their peak. All code that follows allocations uses the set and the sum. The
 * owner's list defines what a buffer is and which bytes count.
 *
 *     by_id   7 -> 0, 9 -> 2        the slot of a freed buffer is reused: a slot is stable while
 *     slots   [7][ ][9]             its buffer lives, and walks skip spare ones
 *     spare   1
 */
#ifndef TDM_MODEL_LIVE_SET_H
#define TDM_MODEL_LIVE_SET_H

#include "base/map.h"

/* A zeroed set is empty. */
struct tdm_live_set {
	struct tdm_map by_id;
	uint32_t *spare; /* slots of freed buffers, for reuse */
	size_t spare_count, spare_cap;
	uint32_t used; /* length of the owner's list, including spare slots */
};

void tdm_live_set_done(struct tdm_live_set *set);
void tdm_live_set_clear(struct tdm_live_set *set); /* keeps its memory */

/* Returns a slot for an id that is not in the set. */
uint32_t tdm_live_set_add(struct tdm_live_set *set, uint64_t id);
/* The slot of a live buffer; TDM_MAP_NONE if there is none. */
static inline uint32_t tdm_live_set_find(const struct tdm_live_set *set, uint64_t id)
{
	return tdm_map_find(&set->by_id, id);
}
/* Removes a live buffer and returns its slot, which keeps its contents until the next buffer is added. */
uint32_t tdm_live_set_take(struct tdm_live_set *set, uint64_t id);

/*
 * Live bytes, their peak, and when the peak was first reached: in the owner's unit (buffers so far, time or position).
 */
struct tdm_live_sum {
	uint64_t bytes, buffers;
	uint64_t peak_bytes, peak_buffers, peak_at;
};

void tdm_live_sum_add(struct tdm_live_sum *sum, uint64_t bytes, uint64_t at);
void tdm_live_sum_take(struct tdm_live_sum *sum, uint64_t bytes);

#endif
