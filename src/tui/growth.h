/*
 * How much device memory of each process grows, on each of its devices. Memory comes and goes many times a second, so
 * what counts is the lowest use in each TDM_GROWTH_SLOT_NS: the growth is how these floors changed over the last
 * minute, or over the last TDM_GROWTH_SLOTS pictures if they are rarer.
 *
 * If the floors rise steadily, by the test that `tidemark leaks` uses for its own, the process may be leaking. A
 * program that loads a model looks the same; only `tidemark leaks` looks at single buffers and can tell.
 */
#ifndef TDM_TUI_GROWTH_H
#define TDM_TUI_GROWTH_H

#include "base/map.h"
#include "state/picture.h"

enum { TDM_GROWTH_SLOTS = 13, TDM_GROWTH_LEAK_SLOTS = 10 /* fewer are not enough to suspect a leak */ };
#define TDM_GROWTH_SLOT_NS (UINT64_C(5) * 1000000000)
#define TDM_GROWTH_UNKNOWN INT64_MIN

struct tdm_growth_item {
	uint64_t key;                      /* of the process and the device */
	uint64_t lowest;                   /* in the current slot */
	uint64_t floors[TDM_GROWTH_SLOTS]; /* of earlier slots, oldest first */
	uint64_t begins[TDM_GROWTH_SLOTS]; /* of those */
	uint32_t count;                    /* of floors */
	bool rises;                        /* steadily */
	int64_t per_minute;                /* bytes, or TDM_GROWTH_UNKNOWN */
};

/* All zero to begin. */
struct tdm_growth {
	struct tdm_growth_item *items;
	size_t count, cap;
	struct tdm_map by_key;
	uint64_t begin_ns; /* of the current slot; 0: there was no picture yet */
};

/* Adds a picture. Out of memory, some growth stays unknown. */
void tdm_growth_add(struct tdm_growth *growth, const struct tdm_picture *picture);
/* NULL: unknown. Borrowed until the next picture is added. */
const struct tdm_growth_item *tdm_growth_find(
	const struct tdm_growth *growth, const struct tdm_picture *picture, const struct tdm_holding *holding);
void tdm_growth_done(struct tdm_growth *growth);

#endif
