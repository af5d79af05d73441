/*
 * The picture that all requests share: a new one is taken at most every TDM_GLANCE_MS, when somebody asks, and now and
 * then while nobody does. It has no buffers, so its cost does not grow with them.
 */
#ifndef TDM_DAEMON_GLANCE_H
#define TDM_DAEMON_GLANCE_H

#include "state/state.h"

/* Largest free blocks need every buffer: with more than TDM_GLANCE_BUFFERS the ones that are known stay. */
enum { TDM_GLANCE_MS = 500, TDM_GLANCE_BUFFERS = 20000, TDM_GLANCE_EVENTS = 1024 };

struct tdm_glance {
	struct tdm_state *state;           /* nobody else may take pictures of it */
	const struct tdm_picture *picture; /* the last one; NULL: none */
	uint64_t taken_ns, took_ns;        /* when, and how long that took */
	uint64_t number;                   /* of pictures so far */
	uint64_t buffers;                  /* in the last one */
	bool has_events;                   /* the last one was asked for them */
};

/* Takes a new picture if the last one is old. Whether it did. Call it once before the first request. */
bool tdm_glance_take(struct tdm_glance *glance, uint64_t now_ns, bool with_events);

#endif
