/*
 * Memory that is given back all at once: the nodes, expressions and texts of one file. A failure (out of memory, or
 * more than `max` bytes) is remembered, so that a long series of requests needs only one check at the end; a request
 * that fails gives NULL. Not thread-safe: each file that is scanned has an arena of its own.
 */
#ifndef TDM_SCAN_ARENA_H
#define TDM_SCAN_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct tdm_arena_block;

struct tdm_arena {
	struct tdm_arena_block *blocks; /* the newest first */
	size_t block_bytes;             /* of the newest */
	size_t left;                    /* bytes that are free in it */
	size_t used, max;               /* bytes asked for so far, and how many may be; max 0: any number */
	bool failed;
};

void tdm_arena_init(struct tdm_arena *arena, size_t max);
void tdm_arena_done(struct tdm_arena *arena);

/* Zeroed, aligned for any type. NULL when out of memory. */
void *tdm_arena_take(struct tdm_arena *arena, size_t bytes);

/* A terminated copy of a text. NULL when out of memory. */
const char *tdm_arena_text(struct tdm_arena *arena, struct tdm_str text);

#endif
