/* Limits how often expensive work is repeated, so that it takes a small share of the time. */
#ifndef TDM_TUI_PACE_H
#define TDM_TUI_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

enum { TDM_PACE_SHARE = 100 }; /* at most 1/64 of the time */

/* All zero to begin. */
struct tdm_pace {
	uint64_t cost_ns, ended_ns;
};

static inline bool tdm_pace_is_due(const struct tdm_pace *pace)
{
	return tdm_clock_ns() - pace->ended_ns >= pace->cost_ns * TDM_PACE_SHARE;
}

/* The work is done; it began at `begun_ns`. */
static inline void tdm_pace_done(struct tdm_pace *pace, uint64_t begun_ns)
{
	pace->ended_ns = tdm_clock_ns();
	pace->cost_ns = pace->ended_ns - begun_ns;
}

#endif
