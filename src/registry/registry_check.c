/* The invariant of the registry: every sum is made again from the buffers and compared. */
#include "registry/registry_parts.h"

#include <stdlib.h>

static void add(struct tdm_sums *to, const struct tdm_buffer *buffer)
{
	to->reserved += buffer->reserved_bytes;
	to->occupied += buffer->occupied_bytes;
	to->asked += (buffer->flags & TDM_EVENT_VIEW) == 0 ? buffer->asked_bytes : 0;
	to->buffers++;
}

static bool same(const struct tdm_sums *a, const struct tdm_sums *b)
{
	return a->reserved == b->reserved && a->occupied == b->occupied && a->asked == b->asked &&
	       a->buffers == b->buffers;
}

static bool is_below(const struct tdm_sums *a, const struct tdm_sums *b)
{
	return a->reserved <= b->reserved && a->occupied <= b->occupied && a->asked <= b->asked &&
	       a->buffers <= b->buffers;
}

/* Of one device: what runs, and what was left behind. */
struct device_sums {
	struct tdm_sums now[TDM_KIND_COUNT], left[TDM_KIND_COUNT];
	uint32_t users;
};

static bool holding_is_valid(const struct tdm_registry *reg, const struct tdm_reg_process *process,
	const struct tdm_reg_holding *holding, struct device_sums *devices, struct tdm_sums *total)
{
	if (holding->device >= reg->device_count || !reg->devices[holding->device].used)
		return false;
	struct device_sums *device = &devices[holding->device];
	device->users++;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
		const struct tdm_map *map = &holding->by_id[k];
		struct tdm_sums sums = { 0 };
		for (size_t i = 0; map->values != NULL && i <= map->mask; i++) {
			if (map->values[i] == TDM_MAP_NONE)
				continue;
			const struct tdm_buffer *buffer = &reg->buffers[map->values[i]];
			if (map->values[i] >= reg->buffer_used || buffer->kind != k || buffer->id != map->keys[i])
				return false;
			add(&sums, buffer);
			add(total, buffer);
			add(tdm_process_runs(process) ? &device->now[k] : &device->left[k], buffer);
		}
		if (!same(&sums, &holding->kinds[k].now) || !is_below(&sums, &holding->kinds[k].peak))
			return false;
	}
	return true;
}

static bool process_is_valid(const struct tdm_registry *reg, const struct tdm_reg_process *process,
	struct device_sums *devices, uint64_t *live)
{
	struct tdm_sums total = { 0 };
	for (uint32_t i = 0; i < process->holding_count; i++)
		if (!holding_is_valid(reg, process, process->holdings[i], devices, &total))
			return false;
	*live += total.buffers;
	return same(&total, &process->total) && total.reserved <= TDM_PROCESS_BYTES_MAX &&
	       total.occupied <= TDM_PROCESS_BYTES_MAX && total.asked <= TDM_PROCESS_BYTES_MAX;
}

static bool device_is_valid(const struct tdm_reg_device *device, const struct device_sums *sums)
{
	if (device->used != (sums->users != 0) || (device->used && device->users != sums->users))
		return false;
	for (unsigned k = 0; k < TDM_KIND_COUNT && device->used; k++)
		if (!same(&sums->now[k], &device->kinds[k].now) || !same(&sums->left[k], &device->left[k]) ||
			!is_below(&device->kinds[k].now, &device->kinds[k].peak))
			return false;
	return true;
}

bool tdm_registry_is_valid(const struct tdm_registry *reg)
{
	struct device_sums *devices = calloc(reg->device_count + (size_t)1, sizeof *devices);
	uint64_t live = 0, spares = 0;
	bool good = devices != NULL;
	for (uint32_t i = 0; good && i < reg->process_count; i++)
		if (reg->processes[i].used)
			good = process_is_valid(reg, &reg->processes[i], devices, &live);
	for (uint32_t i = 0; good && i < reg->device_count; i++)
		good = device_is_valid(&reg->devices[i], &devices[i]);
	for (uint32_t i = reg->spare; good && i != TDM_MAP_NONE; i = reg->buffers[i].holding)
		good = i < reg->buffer_used && ++spares <= reg->buffer_used;
	free(devices);
	return good && live == reg->live && live + spares == reg->buffer_used;
}
