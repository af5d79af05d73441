#include "model/event/live_set.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/number.h"

void tdm_live_set_done(struct tdm_live_set *set)
{
	tdm_map_done(&set->by_id);
	free(set->spare);
	*set = (struct tdm_live_set){ 0 };
}

void tdm_live_set_clear(struct tdm_live_set *set)
{
	tdm_map_clear(&set->by_id);
	set->spare_count = set->used = 0;
}

uint32_t tdm_live_set_add(struct tdm_live_set *set, uint64_t id)
{
	uint32_t slot = set->spare_count != 0 ? set->spare[--set->spare_count] : set->used++;
	tdm_map_set(&set->by_id, id, slot);
	return slot;
}

uint32_t tdm_live_set_take(struct tdm_live_set *set, uint64_t id)
{
	uint32_t slot = tdm_map_take(&set->by_id, id);
	if (slot != TDM_MAP_NONE) {
		tdm_grow(&set->spare, &set->spare_cap, set->spare_count + 1, sizeof *set->spare);
		set->spare[set->spare_count++] = slot;
	}
	return slot;
}

void tdm_live_sum_add(struct tdm_live_sum *sum, uint64_t bytes, uint64_t at)
{
	sum->bytes = tdm_plus(sum->bytes, bytes);
	sum->buffers++;
	if (sum->bytes > sum->peak_bytes) {
		sum->peak_bytes = sum->bytes;
		sum->peak_buffers = sum->buffers;
		sum->peak_at = at;
	}
}

void tdm_live_sum_take(struct tdm_live_sum *sum, uint64_t bytes)
{
	sum->bytes -= tdm_min(bytes, sum->bytes);
	sum->buffers--;
}
