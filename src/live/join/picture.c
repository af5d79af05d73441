#include "live/join/picture.h"
#include "model/result/finding.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"

void tdm_picture_kinds_init(struct tdm_picture_device *device)
{
	device->l1_peak = TDM_BYTES_UNKNOWN;
	for (size_t k = 0; k < TDM_KIND_COUNT; k++)
		device->kinds[k] = (struct tdm_picture_kind){
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

void tdm_picture_device_init(struct tdm_picture_device *device)
{
	*device = (struct tdm_picture_device){
		.number = -1,
		.node = -1,
		.l1_core = TDM_BYTES_UNKNOWN,
		.l1_lowest = TDM_BYTES_UNKNOWN,
		.cb_highest = TDM_BYTES_UNKNOWN,
		.host_card = UINT32_MAX,
		.region = UINT32_MAX,
	};
	tdm_picture_kinds_init(device);
}

void tdm_holding_init(struct tdm_holding *holding, uint32_t process, uint32_t device)
{
	*holding = (struct tdm_holding){ .process = process, .device = device };
	for (size_t k = 0; k < TDM_KIND_COUNT; k++)
		holding->kinds[k] = tdm_counter_unknown;
}

void tdm_picture_done(struct tdm_picture *picture)
{
	free(picture->devices);
	free(picture->processes);
	free(picture->holdings);
	free(picture->problems);
	memset(picture, 0, sizeof *picture);
}

uint64_t tdm_buffer_reserved(const struct tdm_buffer *buffer)
{
	if (tdm_buffer_is_view(buffer))
		return 0;
	return buffer->bank_bytes != TDM_SIZE_UNKNOWN && buffer->banks != 0 ? buffer->bank_bytes * buffer->banks
									    : buffer->asked_bytes;
}

uint64_t tdm_buffer_occupied(const struct tdm_buffer *buffer)
{
	if (tdm_buffer_is_view(buffer) || buffer->bank_bytes == TDM_SIZE_UNKNOWN || buffer->banks == 0)
		return tdm_buffer_reserved(buffer);
	return buffer->bank_bytes * (buffer->holding_banks != 0 ? buffer->holding_banks : buffer->banks);
}

const char *tdm_picture_text(const struct tdm_picture *picture, uint32_t number)
{
	return picture->texts != NULL && number < picture->texts->text_count ? picture->texts->texts[number] : "";
}

static const void *items_of(const struct tdm_kept_lists *lists, uint32_t number, uint32_t *count)
{
	*count = lists != NULL && number < lists->count ? lists->list[number].count : 0;
	return *count != 0 ? lists->list[number].items : NULL;
}

const struct tdm_kept_frame *tdm_picture_stack(const struct tdm_picture *picture, uint32_t number, uint32_t *count)
{
	return items_of(picture->texts != NULL ? &picture->texts->stacks : NULL, number, count);
}

const struct tdm_core_range *tdm_picture_ranges(const struct tdm_picture *picture, uint32_t number, uint32_t *count)
{
	return items_of(picture->texts != NULL ? &picture->texts->ranges : NULL, number, count);
}

size_t tdm_holding_buffer_count(const struct tdm_holding *holding)
{
	size_t count = 0;
	for (size_t k = 0; k < TDM_KIND_COUNT; k++)
		count += holding->buffers[k].count;
	return count;
}

bool tdm_picture_has_stale(const struct tdm_picture_device *device)
{
	for (size_t k = 0; k < TDM_KIND_COUNT; k++)
		if (device->kinds[k].stale != 0 && device->kinds[k].stale != TDM_BYTES_UNKNOWN)
			return true;
	return false;
}

int tdm_picture_permille(uint64_t used, uint64_t total)
{
	if (used == TDM_BYTES_UNKNOWN || total == TDM_BYTES_UNKNOWN || total == 0)
		return -1;
	unsigned __int128 share = (unsigned __int128)used * 1000 / total;
	return share < 1000000 ? (int)share : 1000000;
}

enum tdm_level tdm_level_of(uint64_t used, uint64_t total)
{
	if (used == TDM_BYTES_UNKNOWN || total == TDM_BYTES_UNKNOWN || total == 0)
		return TDM_LEVEL_PLAIN;
	double share = (double)used / (double)total;
	return share < 0.75 ? TDM_LEVEL_FINE : share < 0.90 ? TDM_LEVEL_WARNING : TDM_LEVEL_DANGER;
}

uint64_t tdm_picture_gap(const struct tdm_picture_device *device)
{
	const struct tdm_picture_kind *l1 = &device->kinds[TDM_KIND_L1];
	uint64_t low = device->cb_highest, high = device->l1_lowest;
	if (low == TDM_BYTES_UNKNOWN || high == TDM_BYTES_UNKNOWN || l1->banks == 0)
		return TDM_BYTES_UNKNOWN;
	low = tdm_max(low, l1->base);
	high = high != 0 ? high : tdm_plus(l1->base, l1->bank_bytes);
	return high > low ? high - low : 0;
}

uint64_t tdm_picture_clash(const struct tdm_picture_device *device)
{
	uint64_t low = device->cb_highest, high = device->l1_lowest;
	if (low == TDM_BYTES_UNKNOWN || high == TDM_BYTES_UNKNOWN || high == 0 || low <= high)
		return 0;
	return low - high;
}

enum tdm_level tdm_picture_level(const struct tdm_picture_device *device, enum tdm_kind kind)
{
	const struct tdm_picture_kind *k = &device->kinds[kind], *l1 = &device->kinds[TDM_KIND_L1];
	if (kind != TDM_KIND_CB)
		return tdm_level_of(k->used, k->total);
	uint64_t gap = tdm_picture_gap(device);
	if (tdm_picture_clash(device) != 0)
		return TDM_LEVEL_DANGER;
	if (gap != TDM_BYTES_UNKNOWN && gap <= l1->bank_bytes)
		return tdm_level_of(l1->bank_bytes - gap, l1->bank_bytes);
	return tdm_level_of(k->used, k->total != TDM_BYTES_UNKNOWN ? k->total : l1->total);
}

void tdm_about_holding(const struct tdm_picture *picture, uint32_t index, struct tdm_about *about)
{
	const struct tdm_holding *holding = &picture->holdings[index];
	const struct tdm_picture_process *process = &picture->processes[holding->process];
	about->pid = process->pid;
	about->process = holding->process;
	about->holding = index;
	about->comm = process->comm;
	about->host = process->host != NULL ? process->host->name : NULL;
	about->ledger = process->ledger;
	about->device = holding->number;
	about->is_virtual = picture->devices[holding->device].is_virtual;
}
