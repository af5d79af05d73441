/* How full a circular buffer was over time, from its pushes and pops in the order of time, in bounded memory: when the
 * slots of time are used up, each becomes twice as long. */
#ifndef TDM_ANALYZE_CB_FILL_H
#define TDM_ANALYZE_CB_FILL_H

#include <stdint.h>

#include "analyze/cb_sim.h"

struct tdm_cb_fill {
	uint64_t pushed, popped; /* pages, so far */
	uint32_t depth, peak;
	double at;         /* the time until which everything is counted */
	double area, full; /* pages x cycles, and cycles without a free page */
	double slot_cycles;
	double slots[TDM_CB_SLOTS]; /* pages x cycles in each */
};

void tdm_cb_fill_init(struct tdm_cb_fill *fill, uint32_t depth);

/* Counts the time until `time` with the present fill. */
void tdm_cb_fill_until(struct tdm_cb_fill *fill, double time);

/* After a change of `pushed` or `popped`. */
static inline void tdm_cb_fill_changed(struct tdm_cb_fill *fill)
{
	uint64_t now = fill->pushed - fill->popped;
	fill->peak = now > fill->peak ? (uint32_t)now : fill->peak;
}

/* Makes the slots at least as long as given, which is a power of two times the first length. */
void tdm_cb_fill_widen(struct tdm_cb_fill *fill, double slot_cycles);

#endif
