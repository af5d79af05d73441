/* What the parts of a remote picture say about each other: indices, identities and sums. */
#include "base/err.h"
#include "base/map.h"
#include "state/remote_picture.h"

#include <errno.h>
#include <stdlib.h>

static int refuse(struct tdm_diag *diag, const char *what)
{
	return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "%s", what);
}

/* Keys of devices and handles of processes: not 0, and each once. */
static int check_identities(const struct tdm_picture *picture, struct tdm_diag *diag)
{
	struct tdm_map seen;
	int err = tdm_map_init(&seen);
	for (size_t i = 0; i < picture->device_count && err == 0; i++) {
		uint64_t key = picture->devices[i].key;
		if (key == 0 || tdm_map_find(&seen, key) != TDM_MAP_NONE)
			err = refuse(diag, "two devices have the same key");
		else
			err = tdm_map_put(&seen, key, 0);
	}
	tdm_map_clear(&seen);
	for (size_t i = 0; i < picture->process_count && err == 0; i++) {
		uint64_t handle = picture->processes[i].handle;
		if (handle == 0 || tdm_map_find(&seen, handle) != TDM_MAP_NONE)
			err = refuse(diag, "two processes have the same handle");
		else
			err = tdm_map_put(&seen, handle, 0);
	}
	tdm_map_done(&seen);
	return err;
}

static bool info_is_valid(const struct tdm_device_info *info)
{
	for (uint32_t i = 0; info != NULL && i < info->region_count; i++) {
		const struct tdm_region *region = &info->regions[i];
		if (region->bank_size > UINT64_MAX - region->base ||
			(region->banks != 0 && region->bank_size > UINT64_MAX / region->banks))
			return false;
	}
	return true;
}

static int check_devices(struct tdm_picture *picture, struct tdm_diag *diag)
{
	picture->board_count = 0;
	for (size_t i = 0; i < picture->device_count; i++) {
		const struct tdm_picture_device *device = &picture->devices[i];
		if (!device->is_board && picture->board_count != 0)
			return refuse(diag, "a device comes after the boards");
		picture->board_count += device->is_board;
		if (!info_is_valid(device->info))
			return refuse(diag, "a device has a region that cannot be");
	}
	return 0;
}

static int check_holdings(struct tdm_picture *picture, struct tdm_diag *diag)
{
	uint32_t last = 0;
	for (size_t i = 0; i < picture->holding_count; i++) {
		const struct tdm_holding *holding = &picture->holdings[i];
		if (holding->process >= picture->process_count || holding->device >= picture->device_count)
			return refuse(diag, "a holding has no process, or no device");
		if (holding->process < last)
			return refuse(diag, "the holdings are not in the order of the processes");
		last = holding->process;
		picture->processes[last].holding_count++;
	}
	uint32_t first = 0;
	for (size_t i = 0; i < picture->process_count; i++) {
		struct tdm_picture_process *process = &picture->processes[i];
		process->first_holding = first;
		first += process->holding_count;
		if (process->is_claimed && process->who == NULL)
			return refuse(diag, "a process is claimed, but by no ledger");
		if (process->who != NULL && process->ledger == NULL)
			process->ledger = ""; /* views print it */
		if (process->who == NULL && process->refused != 0)
			return refuse(diag, "a process without a ledger has records");
	}
	return 0;
}

/* What listed processes hold is part of the device's sum; the rest is unattributed. */
static int check_sums(struct tdm_picture *picture, struct tdm_diag *diag)
{
	for (size_t d = 0; d < picture->device_count; d++)
		for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
			struct tdm_picture_kind *kind = &picture->devices[d].kinds[k];
			if ((kind->used_from == TDM_FROM_NONE) != (kind->used == TDM_BYTES_UNKNOWN))
				return refuse(diag, "a device has bytes of no source");
			kind->unattributed = kind->used;
		}
	for (size_t i = 0; i < picture->holding_count; i++) {
		const struct tdm_holding *holding = &picture->holdings[i];
		bool counts = tdm_picture_counts(&picture->processes[holding->process]);
		for (size_t k = 0; k < TDM_KIND_COUNT && counts; k++) {
			struct tdm_picture_kind *kind = &picture->devices[holding->device].kinds[k];
			const struct tdm_picture_amount *amount = &holding->kinds[k];
			if (kind->used == TDM_BYTES_UNKNOWN || amount->used == TDM_BYTES_UNKNOWN)
				continue;
			if (amount->from != kind->used_from || amount->used > kind->unattributed)
				return refuse(diag, "the processes of a device hold more than it has in use");
			kind->unattributed -= amount->used;
		}
	}
	return 0;
}

int tdm_remote_check(struct tdm_picture *picture, struct tdm_diag *diag)
{
	if (picture->time_ns == 0)
		return refuse(diag, "the picture has no time");
	int err = check_identities(picture, diag);
	if (err == -ENOMEM)
		tdm_diag_set(diag, err, 0, 0, "out of memory");
	if (err == 0)
		err = check_devices(picture, diag);
	if (err == 0)
		err = check_holdings(picture, diag);
	return err != 0 ? err : check_sums(picture, diag);
}
