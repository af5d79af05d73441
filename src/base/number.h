/* Arithmetic on figures that may be unknown or come from untrusted input. */
#ifndef TDM_BASE_NUMBER_H
#define TDM_BASE_NUMBER_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number of bytes that could not be read, or that this card does not have. Never shown as 0. */
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

/* A product; unknown when a factor is unknown or the result does not fit in 64 bits. */
static inline uint64_t tdm_times(uint64_t a, uint64_t b)
{
	uint64_t product;
	bool is_known = a != TDM_BYTES_UNKNOWN && b != TDM_BYTES_UNKNOWN && !__builtin_mul_overflow(a, b, &product);
	return is_known ? product : TDM_BYTES_UNKNOWN;
}

/* The ratio of a part to the whole; NaN when one of them is unknown or the whole is 0. */
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

/* Bytes as a signed figure, for sums that may become negative. */
static inline int64_t tdm_signed(uint64_t bytes)
{
	return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

/* Rounds up to an alignment. False when `align` is 0 or the result does not fit; then *out is untouched. Alignments
 * need not be powers of 2. */
static inline bool tdm_align_up(uint64_t value, uint64_t align, uint64_t *out)
{
	if (align == 0)
		return false;
	uint64_t rest = value % align;
	uint64_t add = rest == 0 ? 0 : align - rest;
	if (add > UINT64_MAX - value)
		return false;
	*out = value + add;
	return true;
}

/* Division with rounding up, done by multiplication; exact for all numbers. `divisor` is not 0. Multiplying by the
 * reciprocal yields the quotient or one less; the remainder decides which. */
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

/* Like tdm_order(), as a qsort function for uint64_t. */
static inline int tdm_order_u64(const void *a, const void *b)
{
	return tdm_order(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Searches an ascending list for an element that is usually near the end of the list: returns the index of the element
 * whose key is `wanted`, or SIZE_MAX. Steps back from the end in doubling steps, then searches between the last two
 * positions. `key_of` is inlined. */
static inline __attribute__((always_inline)) size_t tdm_search_back(
	const void *list, size_t count, uint64_t wanted, uint64_t (*key_of)(const void *list, size_t i))
{
	size_t high = count, step = 1, low = count > step ? count - step : 0;
	while (low != 0 && key_of(list, low) > wanted) {
		high = low;
		step *= 2;
		low = step < count ? count - step : 0;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (key_of(list, middle) < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && key_of(list, low) == wanted ? low : SIZE_MAX;
}

#endif
