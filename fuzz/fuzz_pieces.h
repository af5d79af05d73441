/* Cuts an input into pieces, as a stream may arrive: the same seed always cuts in the same places. */
#ifndef TDM_FUZZ_FUZZ_PIECES_H
#define TDM_FUZZ_FUZZ_PIECES_H

#include <stddef.h>
#include <stdint.h>

/* The length of the next piece of `rest` bytes: small ones mostly, with seed 0 all. */
static inline size_t fuzz_piece(uint32_t *seed, size_t rest)
{
	if (*seed == 0)
		return rest;
	*seed = *seed * 1664525u + 1013904223u;
	size_t len = 1 + (*seed >> 16) % ((*seed >> 8) % 4 == 0 ? 300 : 80);
	*seed |= 1;
	return len < rest ? len : rest;
}

#endif
