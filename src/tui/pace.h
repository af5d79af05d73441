/*
 * Limits how often expensive work on many buffers is repeated, so that it takes a small share of the time, and tells
 * how old its result is. Counters cost little and are never old.
 */
#ifndef TDM_TUI_PACE_H
#define TDM_TUI_PACE_H

#include "state/picture.h"

enum {
	TDM_PACE_SHARE = 100, /* at most 1/100 of the time */
	TDM_PACE_FREE = 2048, /* work on up to this many buffers costs nothing worth saving */
	TDM_AGE_CAP = 24
};

/* Which holdings of a picture the work is about. */
struct tdm_pace_scope {
	uint32_t process, device; /* TDM_INDEX_NONE: all */
};

/* All zero to begin. */
struct tdm_pace {
	uint64_t cost_ns, ended_ns;
	uint64_t taken_ns; /* time of the picture that was worked on */
	uint64_t stamp;    /* of its counters */
	size_t buffers;    /* that it listed */
};

bool tdm_pace_is_due(const struct tdm_pace *pace);

/* Work that began at `begun_ns` is done; `items` that it was about, such as buffers. */
void tdm_pace_took(struct tdm_pace *pace, uint64_t begun_ns, size_t items);

/* The work on a new list of buffers is done. */
void tdm_pace_done(struct tdm_pace *pace, const struct tdm_picture *picture, struct tdm_pace_scope scope);

/* How much older the result is than the counters of a later picture; 0: nothing has changed since. */
uint64_t tdm_pace_age(const struct tdm_pace *pace, const struct tdm_picture *picture, struct tdm_pace_scope scope);

/* "800 ms", "2.1 s": tenths of a second, rounded up. Returns dst. */
char *tdm_pace_format_age(char *dst, size_t cap, uint64_t age_ns);

#endif
