/* Arithmetic on figures that may be unknown or come from untrusted input. */
#ifndef TDM_BASE_NUMBER_H
#define TDM_BASE_NUMBER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* A number of bytes that could not be read or does not exist for this card. Never shown as 0. */
#define TDM_BYTES_UNKNOWN UINT64_MAX

static inline bool tdm_is_some(uint64_t number) /* known, and not 0 */
{
	return number != 0 && number != TDM_BYTES_UNKNOWN;
}

/* A saturating sum; unknown when either part is unknown. */
static inline uint64_t tdm_plus(uint64_t a, uint64_t b)
{
	uint64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? TDM_BYTES_UNKNOWN : sum;
}

/* A product; unknown when a factor is unknown or the result does not fit 64 bits. */
static inline uint64_t tdm_times(uint64_t a, uint64_t b)
{
	uint64_t product;
	bool is_known = a != TDM_BYTES_UNKNOWN && b != TDM_BYTES_UNKNOWN && !__builtin_mul_overflow(a, b, &product);
	return is_known ? product : TDM_BYTES_UNKNOWN;
}

/* The share of a part in a whole; NaN when one of them is unknown or the whole is 0. */
static inline double tdm_share(uint64_t part, uint64_t whole)
{
	bool is_known = part != TDM_BYTES_UNKNOWN && whole != TDM_BYTES_UNKNOWN && whole != 0;
	return is_known ? (double)part / (double)whole : (double)NAN;
}

static inline uint64_t tdm_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t tdm_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline int64_t tdm_max_signed(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Bytes as a figure that may become negative. */
static inline int64_t tdm_signed(uint64_t bytes)
{
	return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

/*
 * A division that is rounded up, by a multiplication: exact for all numbers. The product with the reciprocal of the
 * divisor, which is not 0, is the quotient or one less; the remainder says which.
 */
static inline uint64_t tdm_reciprocal(uint32_t divisor)
{
	return UINT64_MAX / divisor;
}

static inline uint64_t tdm_divide_up(uint64_t number, uint32_t divisor, uint64_t reciprocal)
{
	uint64_t quotient = (uint64_t)((__extension__(unsigned __int128) number * reciprocal) >> 64);
	uint64_t rest = number - quotient * divisor;
	return quotient + (rest != 0) + (rest > divisor);
}

/* -1, 0 or 1, for comparison functions. */
static inline int tdm_order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* The same as a qsort function for uint64_t. */
static inline int tdm_order_u64(const void *a, const void *b)
{
	return tdm_order(*(const uint64_t *)a, *(const uint64_t *)b);
}

#endif
