/*
 * The load of the event bench, the same for every side: a steady mix of half releases and half allocations. A pair
 * releases a random live buffer and allocates another one of a random size with the next number. Every release and
 * every allocation is one event. The clock is read after each group of EVENT_GROUP events; the mean is over all groups,
 * including the clock.
 *
 * With EVENT_DRAWN the numbers are consecutive, like the runtime's, and the pairs are drawn before the clock starts and
 * read in order: the bench itself makes no random accesses to memory while it measures. With EVENT_RANDOM the numbers
 * are in random order and a pair is computed when it is needed: each buffer in turn, in a different random order every
 * time, without a table of live buffers. So no part of a pair is in a cache beforehand, and the bench itself accesses
 * no memory.
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
	EVENT_COUNT_SLOW = 100 * 1024, /* of one measurement of a side that takes microseconds */
	EVENT_STEP = 2048,             /* sizes are multiples of it */
	EVENT_STEPS = 64,
	EVENT_LIVE_MAX = 1 << 20, /* buffers, with EVENT_RANDOM */
};

enum event_order { EVENT_DRAWN, EVENT_RANDOM };

struct event_pair {
	uint32_t old_id, new_id;
	uint32_t old_bytes, new_bytes;
};

struct event_load {
	enum event_order order;
	size_t live, events;
	uint32_t *id, *bytes; /* of each live buffer */
	uint32_t next_id;
	uint32_t turn; /* with EVENT_RANDOM: pairs so far */
	uint64_t seed;
	struct event_pair *pairs; /* of the warm-up and of one measurement; with EVENT_RANDOM NULL */
	uint32_t *group_ns;
};

/* The result of one measurement, in ns per event. */
struct event_figures {
	double mean, p99, p999;
};

/* Makes the live buffers, numbered from `first_id`; ends the program when out of memory. */
void event_load_init(struct event_load *load, enum event_order order, size_t live, size_t events, uint32_t first_id);
void event_load_done(struct event_load *load);

/* Draws the pairs of the next measurement. */
void event_load_draw(struct event_load *load);

/* Computes the figures of the last measurement. */
struct event_figures event_load_figures(struct event_load *load);

/* The address of a buffer; any number will do. */
static inline uint64_t event_address(uint32_t id)
{
	return UINT64_C(0x20000) + (uint64_t)id * EVENT_STEP;
}

/* Pins the calling thread and raises its priority, if that is allowed, so that other programs disturb it less. */
void event_pin(int core);

/* The n-th number in random order: a one-to-one mix of the bits of n. */
static inline uint32_t event_random_id(uint32_t n)
{
	n = (n ^ n >> 16) * UINT32_C(0x85ebca6b);
	n = (n ^ n >> 13) * UINT32_C(0xc2b2ae35);
	return n ^ n >> 16;
}

/* A pair that is not in any cache yet. After `round` rounds buffer v has the number event_random_id(v + round *
 * EVENT_LIVE_MAX); sizes follow from the numbers. */
static inline struct event_pair event_load_random(struct event_load *load)
{
	uint32_t round, v;
	do {
		round = load->turn / EVENT_LIVE_MAX;
		v = (load->turn++ + round) * UINT32_C(0x9e3779b1) % EVENT_LIVE_MAX;
		v = (v ^ v >> 11) * UINT32_C(0x85ebca6b) % EVENT_LIVE_MAX;
		v ^= v >> 10;
	} while (v >= load->live);
	struct event_pair p = { .old_id = event_random_id(v + round * EVENT_LIVE_MAX),
		.new_id = event_random_id(v + (round + 1) * EVENT_LIVE_MAX) };
	p.new_bytes = (1 + p.new_id % EVENT_STEPS) * EVENT_STEP;
	return p;
}

/* Runs some pairs. `pair` and `order` are constants, so that they are inlined. */
static inline __attribute__((always_inline)) const struct event_pair *event_load_pairs(struct event_load *load,
	enum event_order order, const struct event_pair *drawn, size_t count,
	void (*pair)(void *side, const struct event_pair *p), void *side)
{
	for (size_t i = 0; i < count; i++) {
		if (order == EVENT_DRAWN) {
			pair(side, drawn++);
		} else {
			struct event_pair p = event_load_random(load);
			pair(side, &p);
		}
	}
	return drawn;
}

/* Makes one measurement. `pair` and `order`, which is the load's, are constants. */
static inline __attribute__((always_inline)) struct event_figures event_load_run(struct event_load *load,
	enum event_order order, void (*pair)(void *side, const struct event_pair *p), void *side)
{
	if (order == EVENT_DRAWN)
		event_load_draw(load);
	const struct event_pair *p = event_load_pairs(load, order, load->pairs, EVENT_WARM / 2, pair, side);
	uint64_t then = tdm_clock_ns();
	for (size_t group = 0; group < load->events / EVENT_GROUP; group++) {
		p = event_load_pairs(load, order, p, EVENT_GROUP / 2, pair, side);
		uint64_t now = tdm_clock_ns();
		load->group_ns[group] = (uint32_t)(now - then);
		then = now;
	}
	return event_load_figures(load);
}

#endif
