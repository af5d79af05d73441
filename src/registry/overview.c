#include "registry/overview.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[TDM_FROM_COUNT] = {
#define X(id, name) [TDM_FROM_##id] = (name),
	TDM_FROM_LIST(X)
#undef X
};

const char *tdm_from_name(enum tdm_from from)
{
	return (unsigned)from < TDM_FROM_COUNT ? names[from] : "unknown";
}

static void kind_init(struct tdm_overview_kind *kind)
{
	*kind = (struct tdm_overview_kind){
		.used = TDM_BYTES_UNKNOWN,
		.total = TDM_BYTES_UNKNOWN,
		.free = TDM_BYTES_UNKNOWN,
		.largest_free = TDM_BYTES_UNKNOWN,
		.peak = TDM_BYTES_UNKNOWN,
		.asked = TDM_BYTES_UNKNOWN,
		.buffers = TDM_BYTES_UNKNOWN,
		.unattributed = TDM_BYTES_UNKNOWN,
		.allocs = TDM_BYTES_UNKNOWN,
		.out_of_memory = TDM_BYTES_UNKNOWN,
		.rival_used = TDM_BYTES_UNKNOWN,
		.rival_bytes = TDM_BYTES_UNKNOWN,
	};
}

void tdm_overview_device_init(struct tdm_overview_device *device)
{
	*device = (struct tdm_overview_device){
		.number = -1,
		.node = -1,
		.l1_peak = TDM_BYTES_UNKNOWN,
		.l1_core = TDM_BYTES_UNKNOWN,
		.l1_lowest = TDM_BYTES_UNKNOWN,
		.cb_highest = TDM_BYTES_UNKNOWN,
		.host_card = UINT32_MAX,
		.region = UINT32_MAX,
	};
	for (size_t k = 0; k < TDM_KIND_COUNT; k++)
		kind_init(&device->kinds[k]);
}

void tdm_overview_holding_init(struct tdm_overview_holding *holding, uint32_t process, uint32_t device)
{
	*holding = (struct tdm_overview_holding){ .process = process, .device = device };
	for (size_t k = 0; k < TDM_KIND_COUNT; k++)
		holding->kinds[k] = (struct tdm_overview_amount){
			.used = TDM_BYTES_UNKNOWN, .peak = TDM_BYTES_UNKNOWN, .buffers = TDM_BYTES_UNKNOWN
		};
}

void tdm_overview_done(struct tdm_overview *overview)
{
	free(overview->devices);
	free(overview->processes);
	free(overview->holdings);
	free(overview->problems);
	memset(overview, 0, sizeof *overview);
}

static bool sum_is_valid(const struct tdm_overview *overview, size_t device, size_t kind)
{
	const struct tdm_overview_kind *of = &overview->devices[device].kinds[kind];
	if ((of->used_from == TDM_FROM_NONE) != (of->used == TDM_BYTES_UNKNOWN))
		return false;
	if (of->used == TDM_BYTES_UNKNOWN)
		return true;
	if (of->unattributed > of->used)
		return false;
	uint64_t left = of->used - of->unattributed;
	for (size_t i = 0; i < overview->holding_count; i++) {
		const struct tdm_overview_holding *holding = &overview->holdings[i];
		const struct tdm_overview_amount *amount = &holding->kinds[kind];
		if (holding->device != device || overview->processes[holding->process].life == TDM_LIFE_ENDED ||
			amount->used == TDM_BYTES_UNKNOWN)
			continue;
		if (amount->from != of->used_from || amount->used > left)
			return false;
		left -= amount->used;
	}
	return left == 0;
}

bool tdm_overview_is_valid(const struct tdm_overview *overview)
{
	size_t next = 0;
	for (size_t p = 0; p < overview->process_count; p++) {
		const struct tdm_overview_process *process = &overview->processes[p];
		if (process->handle == 0 || process->first_holding != next ||
			process->holding_count > overview->holding_count - next)
			return false;
		for (size_t i = 0; i < process->holding_count; i++, next++)
			if (overview->holdings[next].process != p ||
				overview->holdings[next].device >= overview->device_count)
				return false;
	}
	if (next != overview->holding_count)
		return false;
	for (size_t d = 0; d < overview->device_count; d++)
		for (size_t k = 0; k < TDM_KIND_COUNT; k++)
			if (!sum_is_valid(overview, d, k))
				return false;
	return true;
}

bool tdm_overview_has_stale(const struct tdm_overview_device *device)
{
	for (size_t k = 0; k < TDM_KIND_COUNT; k++)
		if (device->kinds[k].stale != 0 && device->kinds[k].stale != TDM_BYTES_UNKNOWN)
			return true;
	return false;
}

int tdm_overview_permille(uint64_t used, uint64_t total)
{
	if (used == TDM_BYTES_UNKNOWN || total == TDM_BYTES_UNKNOWN || total == 0)
		return -1;
	unsigned __int128 share = (unsigned __int128)used * 1000 / total;
	return share < 1000000 ? (int)share : 1000000;
}

enum tdm_level tdm_level_of(uint64_t used, uint64_t total)
{
	if (used == TDM_BYTES_UNKNOWN || total == TDM_BYTES_UNKNOWN || total == 0)
		return TDM_LEVEL_UNKNOWN;
	double share = (double)used / (double)total;
	return share < 0.75 ? TDM_LEVEL_GREEN : share < 0.90 ? TDM_LEVEL_YELLOW : TDM_LEVEL_RED;
}
