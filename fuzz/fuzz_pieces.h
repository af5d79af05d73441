/* Cuts an input into pieces, as a stream may arrive: the same seed always cuts in the same places. */
#ifndef TDM_FUZZ_FUZZ_PIECES_H
#define TDM_FUZZ_FUZZ_PIECES_H

#include <stddef.h>
#include <stdint.h>

/* The length of the next piece of `rest` bytes. Seed 0: all. Many are sizes of messages, or the difference of two. */
static inline size_t fuzz_piece(uint32_t *seed, size_t rest)
{
	static const uint16_t usual[] = { 72, 40, 16, 72, 32, 56, 112, 128, 144, 14, 17, 21, 300, 1 };
	if (*seed == 0)
		return rest;
	*seed = (*seed * 1664525u + 1013904223u) | 1;
	uint32_t random = *seed >> 16;
	size_t len = random % 4 != 0 ? usual[(random >> 2) % (sizeof usual / sizeof *usual)] : 1 + (random >> 2) % 100;
	return len < rest ? len : rest;
}

#endif
