/* Rounds up to an alignment and reports what can go wrong: an alignment of 0, or a result above 64 bits. */
#ifndef TDM_DEVICE_ALIGN_H
#define TDM_DEVICE_ALIGN_H

#include <stdbool.h>
#include <stdint.h>

/* False when `align` is 0 or the result does not fit; then *out is untouched. Alignments need not be powers of 2. */
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

#endif
