/* When something that costs is fetched again: after a change, at most once a second, and seldom enough. */
#ifndef TDM_TUI_PACE_H
#define TDM_TUI_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

enum { TDM_PACE_SHARE = 20 }; /* a fetch costs at most one part in so many of the time */

/* All zero to begin. */
struct tdm_pace {
	uint64_t signature; /* of what it depends on, when it was fetched */
	uint64_t fetched_ns, cost_ns;
};

static inline bool tdm_pace_is_due(const struct tdm_pace *pace, uint64_t signature, bool has_nothing)
{
	uint64_t wait = pace->cost_ns * TDM_PACE_SHARE;
	if (wait < TDM_NS_PER_S)
		wait = TDM_NS_PER_S;
	if (tdm_clock_ns() - pace->fetched_ns < wait)
		return false;
	return signature != pace->signature || has_nothing;
}

/* A fetch that began at `start_ns` has ended. */
static inline void tdm_pace_fetched(struct tdm_pace *pace, uint64_t signature, uint64_t start_ns)
{
	pace->signature = signature;
	pace->fetched_ns = tdm_clock_ns();
	pace->cost_ns = pace->fetched_ns - start_ns;
}

#endif
