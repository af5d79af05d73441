/*
 * The load of the event bench, the same for every side: a steady mix of half releases and half allocations. A pair
 * releases a random live buffer and allocates another one of a random size under the next number, as the runtime
 * numbers its buffers. Every release and every allocation is one event.
 *
 * Pairs are drawn before the clock starts and are read in order, so that the bench itself touches no memory at random
 * while it measures. Time is taken at the end of each group of EVENT_GROUP events; the mean is over all groups, clock
 * included.
 */
#ifndef TDM_BENCH_EVENT_LOAD_H
#define TDM_BENCH_EVENT_LOAD_H

#include "base/clock.h"

#include <stddef.h>
#include <stdint.h>

enum {
	EVENT_GROUP = 64,
	EVENT_WARM = 64 * 1024,        /* events before the clock starts */
	EVENT_COUNT = 1000000,         /* of one measurement */
	EVENT_COUNT_SLOW = 100 * 1024, /* of one measurement of what takes microseconds */
	EVENT_STEP = 2048,             /* sizes are multiples of it */
	EVENT_STEPS = 64,
};

struct event_pair {
	uint32_t old_id, new_id;
	uint32_t old_bytes, new_bytes;
};

struct event_load {
	size_t live, events;
	uint32_t *id, *bytes; /* of each live buffer */
	uint32_t next_id;
	uint64_t seed;
	struct event_pair *pairs; /* of the warm-up and of one measurement */
	uint32_t *group_ns;
};

/* What one measurement gives, in ns for each event. */
struct event_figures {
	double mean, p99, p999;
};

/* Makes the live buffers and their numbers, from `first_id` on; ends the program when there is no memory. */
void event_load_init(struct event_load *load, size_t live, size_t events, uint32_t first_id);
void event_load_done(struct event_load *load);

/* Draws the pairs of the next measurement. */
void event_load_draw(struct event_load *load);

/* Works out the figures of the measurement just made. */
struct event_figures event_load_figures(struct event_load *load);

/* Where a buffer lies; any number will do. */
static inline uint64_t event_address(uint32_t id)
{
	return UINT64_C(0x20000) + (uint64_t)id * EVENT_STEP;
}

/* Pins the calling thread and puts it before all ordinary ones, so that other programs disturb it less; where that is
 * not allowed, it runs as it is. */
void event_pin(int core);

/* One measurement. `pair` is a constant, so that it is inlined. */
static inline __attribute__((always_inline)) struct event_figures event_load_run(
	struct event_load *load, void (*pair)(void *side, const struct event_pair *p), void *side)
{
	event_load_draw(load);
	const struct event_pair *p = load->pairs;
	for (size_t i = 0; i < EVENT_WARM / 2; i++)
		pair(side, p++);
	uint64_t then = tdm_clock_ns();
	for (size_t group = 0; group < load->events / EVENT_GROUP; group++) {
		for (size_t i = 0; i < EVENT_GROUP / 2; i++)
			pair(side, p++);
		uint64_t now = tdm_clock_ns();
		load->group_ns[group] = (uint32_t)(now - then);
		then = now;
	}
	return event_load_figures(load);
}

#endif
