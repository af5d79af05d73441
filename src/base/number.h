/* Arithmetic on figures of which some are unknown, and on those that a stranger wrote. */
#ifndef TDM_BASE_NUMBER_H
#define TDM_BASE_NUMBER_H

#include <stdint.h>

/* A number of bytes that could not be read, or does not exist for this card. Never drawn as 0. */
#define TDM_BYTES_UNKNOWN UINT64_MAX

/* A sum that stays at the largest number instead of wrapping; with an unknown part it is unknown. */
static inline uint64_t tdm_plus(uint64_t a, uint64_t b)
{
	uint64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? TDM_BYTES_UNKNOWN : sum;
}

static inline uint64_t tdm_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t tdm_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* -1, 0 or 1, for functions that compare. */
static inline int tdm_order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

#endif
