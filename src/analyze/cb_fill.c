#include "analyze/cb_fill.h"

#include <math.h>

static const double first_slot_cycles = 16;

void tdm_cb_fill_init(struct tdm_cb_fill *fill, uint32_t depth)
{
	*fill = (struct tdm_cb_fill){ .depth = depth, .slot_cycles = first_slot_cycles };
}

static void widen(struct tdm_cb_fill *fill)
{
	for (size_t i = 0; i < TDM_CB_SLOTS; i++)
		fill->slots[i] = i < TDM_CB_SLOTS / 2 ? fill->slots[2 * i] + fill->slots[2 * i + 1] : 0;
	fill->slot_cycles *= 2;
}

void tdm_cb_fill_widen(struct tdm_cb_fill *fill, double slot_cycles)
{
	while (fill->slot_cycles < slot_cycles)
		widen(fill);
}

void tdm_cb_fill_until(struct tdm_cb_fill *fill, double time)
{
	double pages = (double)(fill->pushed - fill->popped);
	while (time > TDM_CB_SLOTS * fill->slot_cycles)
		widen(fill);
	fill->area += pages * (time - fill->at);
	if (fill->pushed - fill->popped == fill->depth)
		fill->full += time - fill->at;
	while (fill->at < time) {
		size_t slot = (size_t)(fill->at / fill->slot_cycles);
		slot = slot < TDM_CB_SLOTS ? slot : TDM_CB_SLOTS - 1;
		double end = (double)(slot + 1) * fill->slot_cycles;
		double until = end > fill->at ? fmin(time, end) : time;
		fill->slots[slot] += pages * (until - fill->at);
		fill->at = until;
	}
}
