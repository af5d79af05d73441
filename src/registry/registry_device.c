/*
 * Holdings and devices. A device's sums are those of the holdings that refer to it; whoever changes which ones do, or
 * whether their process runs, takes the sums out of the old place and puts them into the new one.
 */
#include "registry/registry_parts.h"
#include "base/number.h"

#include <errno.h>
#include <stdlib.h>

static void sums_plus(struct tdm_sums *to, const struct tdm_sums *more)
{
	to->reserved += more->reserved;
	to->occupied += more->occupied;
	to->asked += more->asked;
	to->buffers += more->buffers;
}

static void sums_minus(struct tdm_sums *from, const struct tdm_sums *less)
{
	from->reserved -= less->reserved;
	from->occupied -= less->occupied;
	from->asked -= less->asked;
	from->buffers -= less->buffers;
}

static void raise_peak(struct tdm_account *account, uint64_t time_ns)
{
	if (account->now.reserved > account->peak.reserved)
		account->peak_ns = time_ns;
	account->peak.reserved = tdm_max(account->peak.reserved, account->now.reserved);
	account->peak.occupied = tdm_max(account->peak.occupied, account->now.occupied);
	account->peak.asked = tdm_max(account->peak.asked, account->now.asked);
	account->peak.buffers = tdm_max(account->peak.buffers, account->now.buffers);
}

static struct tdm_sums sums_of(const struct tdm_buffer *buffer)
{
	bool own = (buffer->flags & TDM_EVENT_VIEW) == 0;
	return (struct tdm_sums){ buffer->reserved_bytes, buffer->occupied_bytes, own ? buffer->asked_bytes : 0, 1 };
}

void tdm_sums_add(struct tdm_registry *reg, struct tdm_reg_process *process, struct tdm_reg_holding *holding,
	const struct tdm_buffer *buffer, uint64_t time_ns)
{
	struct tdm_reg_device *device = &reg->devices[holding->device];
	struct tdm_sums more = sums_of(buffer);
	sums_plus(&process->total, &more);
	sums_plus(&holding->kinds[buffer->kind].now, &more);
	raise_peak(&holding->kinds[buffer->kind], time_ns);
	if (tdm_process_runs(process)) {
		sums_plus(&device->kinds[buffer->kind].now, &more);
		raise_peak(&device->kinds[buffer->kind], time_ns);
	} else {
		sums_plus(&device->left[buffer->kind], &more);
	}
}

void tdm_sums_take(struct tdm_registry *reg, struct tdm_reg_process *process, struct tdm_reg_holding *holding,
	const struct tdm_buffer *buffer)
{
	struct tdm_reg_device *device = &reg->devices[holding->device];
	struct tdm_sums less = sums_of(buffer);
	sums_minus(&process->total, &less);
	sums_minus(&holding->kinds[buffer->kind].now, &less);
	sums_minus(tdm_process_runs(process) ? &device->kinds[buffer->kind].now : &device->left[buffer->kind], &less);
}

/* All kinds of a holding into its device's sums, or out of them. */
static void settle(struct tdm_registry *reg, const struct tdm_reg_process *process,
	const struct tdm_reg_holding *holding, bool add)
{
	struct tdm_reg_device *device = &reg->devices[holding->device];
	bool runs = tdm_process_runs(process);
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
		struct tdm_sums *sums = runs ? &device->kinds[k].now : &device->left[k];
		if (!add) {
			sums_minus(sums, &holding->kinds[k].now);
			continue;
		}
		sums_plus(sums, &holding->kinds[k].now);
		if (runs)
			raise_peak(&device->kinds[k], 0);
	}
}

void tdm_process_settle(struct tdm_registry *reg, struct tdm_reg_process *process, bool add)
{
	for (uint32_t i = 0; i < process->holding_count; i++)
		settle(reg, process, process->holdings[i], add);
}

/* Devices. */

static bool is_match(
	const struct tdm_reg_device *device, const struct tdm_device_info *info, bool is_virtual, uint32_t number)
{
	if (!device->used || device->is_virtual || is_virtual)
		return false; /* a virtual one belongs to its process alone */
	if (info != NULL && info->has_chip_id)
		return !device->is_weak && device->info.chip_id == info->chip_id;
	return device->is_weak && device->number == number;
}

/* The device of this identity, made if need be. 0 with *index set, or -ENOMEM. `info` may be NULL. */
static int find_device(struct tdm_registry *reg, const struct tdm_device_info *info, uint32_t number, uint32_t *index)
{
	bool is_virtual = (number & TDM_DEVICE_VIRTUAL_BIT) != 0;
	uint32_t free_one = reg->device_count, bare = number & ~TDM_DEVICE_VIRTUAL_BIT;
	for (uint32_t i = 0; i < reg->device_count; i++) {
		if (!reg->devices[i].used)
			free_one = i;
		if (is_match(&reg->devices[i], info, is_virtual, bare)) {
			*index = i;
			return 0;
		}
	}
	if (free_one == reg->device_cap) {
		uint32_t cap = reg->device_cap != 0 ? reg->device_cap * 2 : 8;
		struct tdm_reg_device *devices = realloc(reg->devices, cap * sizeof *devices);
		if (devices == NULL)
			return -ENOMEM;
		reg->devices = devices;
		reg->device_cap = cap;
	}
	reg->device_count += free_one == reg->device_count;
	reg->devices[free_one] = (struct tdm_reg_device){
		.used = true,
		.is_weak = info == NULL || !info->has_chip_id,
		.is_virtual = is_virtual,
		.number = bare,
	};
	*index = free_one;
	return 0;
}

static void drop_user(struct tdm_reg_device *device)
{
	if (--device->users == 0)
		device->used = false;
}

/* A description that says more replaces one that says less. */
static void take_info(struct tdm_reg_device *device, const struct tdm_device_info *info)
{
	if (device->has_info && info->card[0] == '\0' && info->region_count == 0)
		return;
	device->info = *info;
	device->has_info = true;
}

int tdm_holding_describe(struct tdm_registry *reg, struct tdm_reg_process *process, struct tdm_reg_holding *holding,
	const struct tdm_device_info *info)
{
	uint32_t index = holding->device;
	bool is_virtual = (holding->number & TDM_DEVICE_VIRTUAL_BIT) != 0;
	int err = is_virtual ? 0 : find_device(reg, info, holding->number, &index);
	if (err != 0)
		return err;
	if (index != holding->device) {
		settle(reg, process, holding, false);
		reg->devices[index].users++;
		drop_user(&reg->devices[holding->device]);
		holding->device = index;
		settle(reg, process, holding, true);
	}
	take_info(&reg->devices[index], info);
	return 0;
}

/* Holdings. */

struct tdm_reg_holding *tdm_holding_find(const struct tdm_reg_process *process, uint32_t number)
{
	for (uint32_t i = 0; i < process->holding_count; i++)
		if (process->holdings[i]->number == number)
			return process->holdings[i];
	return NULL;
}

struct tdm_reg_holding *tdm_holding_get(
	struct tdm_registry *reg, struct tdm_reg_process *process, uint32_t number, int *err)
{
	struct tdm_reg_holding *holding = tdm_holding_find(process, number);
	*err = 0;
	if (holding != NULL)
		return holding;
	if (process->holding_count == TDM_HOLDINGS_MAX) {
		*err = -EOVERFLOW;
		return NULL;
	}
	if (process->holding_count == process->holding_cap) {
		uint32_t cap = process->holding_cap != 0 ? process->holding_cap * 2 : 4;
		struct tdm_reg_holding **list = realloc(process->holdings, cap * sizeof *list);
		*err = list != NULL ? 0 : -ENOMEM;
		if (list == NULL)
			return NULL;
		process->holdings = list;
		process->holding_cap = cap;
	}
	holding = calloc(1, sizeof *holding);
	*err = holding != NULL ? find_device(reg, NULL, number, &holding->device) : -ENOMEM;
	if (*err != 0) {
		free(holding);
		return NULL;
	}
	holding->number = number;
	reg->devices[holding->device].users++;
	process->holdings[process->holding_count++] = holding;
	return holding;
}

void tdm_holding_free(struct tdm_registry *reg, struct tdm_reg_process *process, struct tdm_reg_holding *holding)
{
	settle(reg, process, holding, false);
	drop_user(&reg->devices[holding->device]);
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		tdm_map_done(&holding->by_id[k]);
	free(holding);
}
