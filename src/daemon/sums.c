#include "daemon/sums.h"
#include "base/reserve.h"

#include <stdlib.h>
#include <string.h>

int tdm_sums_init(struct tdm_sums *sums)
{
	*sums = (struct tdm_sums){ .free = TDM_MAP_NONE };
	pthread_mutex_init(&sums->lock, NULL);
	return tdm_map_init(&sums->by_device);
}

void tdm_sums_done(struct tdm_sums *sums)
{
	tdm_map_done(&sums->by_device);
	pthread_mutex_destroy(&sums->lock);
	free(sums->list);
}

static uint32_t add_place(struct tdm_sums *sums, uint32_t device)
{
	bool is_new = sums->free == TDM_MAP_NONE;
	uint32_t at = is_new ? (uint32_t)sums->count : sums->free;
	if (is_new && tdm_reserve(&sums->list, &sums->cap, at + 1, sizeof *sums->list) != 0)
		return TDM_MAP_NONE;
	if (tdm_map_put(&sums->by_device, device, at) != 0)
		return TDM_MAP_NONE;
	if (is_new)
		sums->count++;
	else
		sums->free = sums->list[at].number;
	sums->list[at] = (struct tdm_device_sum){ .number = device };
	return at;
}

uint32_t tdm_sums_place(struct tdm_sums *sums, uint32_t device)
{
	uint32_t at = tdm_map_find(&sums->by_device, device);
	if (at != TDM_MAP_NONE)
		return at;
	pthread_mutex_lock(&sums->lock);
	at = add_place(sums, device);
	pthread_mutex_unlock(&sums->lock);
	return at;
}

void tdm_sums_drop(struct tdm_sums *sums, uint32_t place)
{
	struct tdm_device_sum *sum = &sums->list[place];
	if (sum->users != 0)
		return;
	pthread_mutex_lock(&sums->lock);
	tdm_map_take(&sums->by_device, sum->number);
	pthread_mutex_unlock(&sums->lock);
	sum->number = sums->free; /* the list of free places */
	sums->free = place;
}

void tdm_sums_read(struct tdm_sums *sums, int32_t device, uint64_t bytes[TDM_KIND_COUNT])
{
	memset(bytes, 0, TDM_KIND_COUNT * sizeof *bytes);
	pthread_mutex_lock(&sums->lock);
	uint32_t at = device >= 0 ? tdm_map_find(&sums->by_device, (uint32_t)device) : TDM_MAP_NONE;
	for (unsigned kind = 0; at != TDM_MAP_NONE && kind < TDM_KIND_COUNT; kind++)
		bytes[kind] = atomic_load_explicit(&sums->list[at].bytes[kind], memory_order_relaxed);
	pthread_mutex_unlock(&sums->lock);
}
