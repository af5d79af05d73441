/* The invariant of a picture: its lists fit together, and for every device and kind with a known `used` the holdings of
 * running processes plus `unattributed` equal it. For tests. */
#ifndef TDM_TESTS_PICTURE_VALID_H
#define TDM_TESTS_PICTURE_VALID_H

#include "live/join/picture.h"

static inline bool picture_sum_is_valid(const struct tdm_picture *picture, size_t device, size_t kind)
{
	const struct tdm_picture_kind *of = &picture->devices[device].kinds[kind];
	if ((of->used_from == TDM_FROM_NONE) != (of->used == TDM_BYTES_UNKNOWN))
		return false;
	if (of->used == TDM_BYTES_UNKNOWN)
		return true;
	if (of->unattributed > of->used)
		return false;
	uint64_t left = of->used - of->unattributed;
	for (size_t i = 0; i < picture->holding_count; i++) {
		const struct tdm_holding *holding = &picture->holdings[i];
		const struct tdm_counter *counter = &holding->kinds[kind];
		if (holding->device != device || !tdm_picture_counts(&picture->processes[holding->process]) ||
			counter->reserved == TDM_BYTES_UNKNOWN)
			continue;
		if (counter->from != of->used_from || counter->reserved > left)
			return false;
		left -= counter->reserved;
	}
	return left == 0;
}

static inline bool picture_is_valid(const struct tdm_picture *picture)
{
	size_t next = 0;
	for (size_t p = 0; p < picture->process_count; p++) {
		const struct tdm_picture_process *process = &picture->processes[p];
		if (process->handle == 0 || process->first_holding != next ||
			process->holding_count > picture->holding_count - next)
			return false;
		for (size_t i = 0; i < process->holding_count; i++, next++)
			if (picture->holdings[next].process != p ||
				picture->holdings[next].device >= picture->device_count)
				return false;
	}
	if (next != picture->holding_count)
		return false;
	for (size_t d = 0; d < picture->device_count; d++)
		for (size_t k = 0; k < TDM_KIND_COUNT; k++)
			if (!picture_sum_is_valid(picture, d, k))
				return false;
	return true;
}

#endif
