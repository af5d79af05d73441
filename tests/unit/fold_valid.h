/* The invariant of a fold: sums match the buffers, indices agree. */
#ifndef TESTS_UNIT_FOLD_VALID_H
#define TESTS_UNIT_FOLD_VALID_H

#include "live/join/fold.h"

enum { FOLD_CHECKED_MAX = 64 }; /* longer lists of buffers are believed */

static inline bool fold_kind_is_valid(const struct tdm_fold_kind *kind)
{
	uint64_t reserved = 0, occupied = 0, asked = 0;
	if (kind->count > FOLD_CHECKED_MAX)
		return true;
	for (size_t i = 0; i < kind->count; i++) {
		const struct tdm_buffer *buffer = &kind->buffers[i];
		bool counts = !tdm_buffer_is_view(buffer) && !tdm_buffer_is_shared(buffer);
		reserved += counts ? tdm_buffer_reserved(buffer) : 0;
		occupied += counts ? tdm_buffer_occupied(buffer) : 0;
		asked += counts ? buffer->asked_bytes : 0;
		uint32_t at = kind->is_indexed ? tdm_map_find(&kind->by_id, buffer->id) : (uint32_t)i;
		if (at != TDM_MAP_NONE && (at >= kind->count || kind->buffers[at].id != buffer->id))
			return false;
	}
	return reserved == kind->reserved && occupied == kind->occupied && asked == kind->asked;
}

static inline bool fold_is_valid(const struct tdm_fold *fold)
{
	for (size_t i = 0; i < fold->count; i++) {
		const struct tdm_fold_process *process = fold->processes[i];
		if (tdm_map_find(&fold->by_number, process->number) != i)
			return false;
		for (size_t h = 0; h < process->holding_count; h++)
			for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
				if (!fold_kind_is_valid(&process->holdings[h]->kinds[k]))
					return false;
	}
	return true;
}

#endif
