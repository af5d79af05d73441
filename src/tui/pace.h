/* How often what costs is done again: seldom enough to take a small share of the time. */
#ifndef TDM_TUI_PACE_H
#define TDM_TUI_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

enum { TDM_PACE_SHARE = 50 }; /* one part in so many of the time */

/* All zero to begin. */
struct tdm_pace {
	uint64_t begun_ns, ended_ns;
};

static inline bool tdm_pace_is_due(const struct tdm_pace *pace)
{
	return tdm_clock_ns() - pace->ended_ns >= (pace->ended_ns - pace->begun_ns) * TDM_PACE_SHARE;
}

static inline void tdm_pace_begin(struct tdm_pace *pace)
{
	pace->begun_ns = tdm_clock_ns();
}

static inline void tdm_pace_end(struct tdm_pace *pace)
{
	pace->ended_ns = tdm_clock_ns();
}

#endif
