/* The slots of a device: segments of the file, of which pages are reserved as they are needed and given back. */
#include "ledger/writer_hot.h"
#include "base/number.h"

#include <errno.h>

enum {
	/* Slots to reserve, or give back, at a time: whole pages of both arrays, also of the largest pages that there
	 * are, but few enough that no report waits long. */
	RESERVE_SLOTS = 2048,
	KEPT_SLOTS = 3 * TDM_LEDGER_FIRST_SLOTS, /* the segments smaller than that, which are never given back */
	SMALL_SLOTS = 128,                       /* to reserve at a time of those segments of a small ledger */
	RETRY_AFTER = 1024,                      /* reports between two attempts to get more room */
	SLOT_BYTES = sizeof(struct tdm_ledger_slot),
	MORE_BYTES = sizeof(struct tdm_ledger_more),
};

void tdm_wdevice_set_segment(struct tdm_wdevice *device, uint32_t k, void *at)
{
	size_t slots = (size_t)TDM_LEDGER_FIRST_SLOTS << k;
	device->slots_at[k] = (uintptr_t)at - slots * SLOT_BYTES;
	device->mores_at[k] = (uintptr_t)at + slots * SLOT_BYTES - slots * MORE_BYTES;
}

static void *segment_at(const struct tdm_wdevice *device, uint32_t k)
{
	return (void *)(device->slots_at[k] + ((size_t)TDM_LEDGER_FIRST_SLOTS << k) * SLOT_BYTES);
}

/* The number of slots in this many segments. */
static uint64_t slots_in(uint32_t segments)
{
	return (uint64_t)TDM_LEDGER_FIRST_SLOTS * ((UINT64_C(1) << segments) - 1);
}

/* Reserves slots [from, to) of a segment, in both its arrays. */
static int reserve_slots(struct tdm_wdevice *device, uint32_t k, uint64_t from, uint64_t to)
{
	struct tdm_ledger_file *file = &device->writer->file;
	uint64_t offset = device->segment_offset[k];
	size_t more = ((size_t)TDM_LEDGER_FIRST_SLOTS << k) * SLOT_BYTES;
	int err = tdm_ledger_file_reserve(
		file, segment_at(device, k), offset, (size_t)from * SLOT_BYTES, (size_t)to * SLOT_BYTES);
	if (err == 0)
		err = tdm_ledger_file_reserve(file, segment_at(device, k), offset, more + (size_t)from * MORE_BYTES,
			more + (size_t)to * MORE_BYTES);
	return err;
}

/* Adds a segment, of which nothing may be touched yet. */
static int add_segment(struct tdm_wdevice *device)
{
	uint32_t k = device->segment_count;
	size_t slots = (size_t)TDM_LEDGER_FIRST_SLOTS << k;
	uint64_t offset;
	void *at;
	if (k == TDM_LEDGER_SEGMENTS)
		return -ENOSPC;
	int err = tdm_ledger_file_area(&device->writer->file, slots * (SLOT_BYTES + MORE_BYTES), 0, &at, &offset);
	if (err != 0)
		return err;
	tdm_wdevice_set_segment(device, k, at);
	device->segment_offset[k] = offset;
	device->segment_count = k + 1;
	device->shared->slot_offset[k] = offset;
	atomic_store_explicit((_Atomic uint32_t *)&device->shared->slot_segments, k + 1, memory_order_release);
	return 0;
}

/* The segment of a slot. */
static uint32_t segment_of(uint32_t slot)
{
	return 31 - (uint32_t)__builtin_clz(slot / TDM_LEDGER_FIRST_SLOTS + 1);
}

/* Reserves the next piece: of the last segment, or of an earlier one that was given back. */
static int extend_segment(struct tdm_wdevice *device)
{
	uint32_t k = segment_of(device->slot_reserved);
	uint64_t from = device->slot_reserved - slots_in(k), all = (uint64_t)TDM_LEDGER_FIRST_SLOTS << k;
	bool is_small = device->writer->file.is_on_behalf && device->slot_reserved < KEPT_SLOTS;
	uint64_t to = tdm_min(from + (is_small ? SMALL_SLOTS : RESERVE_SLOTS), all);
	int err = reserve_slots(device, k, from, to);
	if (err == 0)
		device->slot_reserved = (uint32_t)(slots_in(k) + to);
	if (err == 0)
		tdm_wdevice_shrink_regrown(device);
	return err;
}

uint32_t tdm_wdevice_piece_end(uint64_t count)
{
	uint64_t pieces = count > KEPT_SLOTS ? (count - KEPT_SLOTS + RESERVE_SLOTS - 1) / RESERVE_SLOTS : 0;
	return (uint32_t)(KEPT_SLOTS + pieces * RESERVE_SLOTS);
}

/*
 * Slots first: readers read the second half of a slot before the slot, and rely on it if the slot is still there. The
 * pages are not touched again before they are reserved.
 */
static int release_slots(struct tdm_wdevice *device, uint32_t k, uint64_t from, uint64_t to)
{
	struct tdm_ledger_file *file = &device->writer->file;
	uint64_t slots = device->segment_offset[k],
		 mores = slots + ((uint64_t)TDM_LEDGER_FIRST_SLOTS << k) * SLOT_BYTES;
	int err = tdm_ledger_file_release(file, slots + from * SLOT_BYTES, slots + to * SLOT_BYTES);
	return err != 0 ? err : tdm_ledger_file_release(file, mores + from * MORE_BYTES, mores + to * MORE_BYTES);
}

int tdm_wdevice_release(struct tdm_wdevice *device)
{
	int err = -EBUSY;
	struct tdm_quiet guard;
	if (device->slot_reserved < KEPT_SLOTS + RESERVE_SLOTS ||
		device->slot_reserved - RESERVE_SLOTS < device->slot_high)
		return -ENOENT;
	tdm_quiet_begin(&guard);
	if (tdm_lock_take(&device->writer->file_lock)) {
		uint32_t from = device->slot_reserved - RESERVE_SLOTS, k = segment_of(from);
		device->slot_reserved = from;
		err = release_slots(device, k, from - slots_in(k), from - slots_in(k) + RESERVE_SLOTS);
		tdm_lock_give(&device->writer->file_lock);
	}
	tdm_quiet_end(&guard);
	return err;
}

int tdm_wdevice_grow(struct tdm_wdevice *device)
{
	int err = -ENOSPC;
	struct tdm_quiet guard;
	if (device->retry != 0) {
		device->retry--;
		return err;
	}
	tdm_quiet_begin(&guard);
	if (tdm_lock_take(&device->writer->file_lock)) {
		err = device->slot_reserved == slots_in(device->segment_count) ? add_segment(device) : 0;
		if (err == 0)
			err = extend_segment(device);
		tdm_lock_give(&device->writer->file_lock);
	}
	if (err != 0)
		device->retry = RETRY_AFTER;
	tdm_ledger_file_clock(&device->writer->file);
	tdm_quiet_end(&guard);
	return err;
}

int tdm_wdevice_restore_slots(struct tdm_wdevice *device)
{
	uint64_t high = device->slot_high, most = slots_in(device->segment_count);
	uint64_t end =
		high > KEPT_SLOTS ? tdm_wdevice_piece_end(high) : (high + SMALL_SLOTS - 1) / SMALL_SLOTS * SMALL_SLOTS;
	int err = 0;
	end = tdm_min(end, most);
	for (uint32_t k = 0; k < device->segment_count && err == 0; k++) {
		uint64_t begin = slots_in(k), all = (uint64_t)TDM_LEDGER_FIRST_SLOTS << k;
		uint64_t used = end > begin ? tdm_min(end - begin, all) : 0;
		err = reserve_slots(device, k, 0, used);
		if (err == 0 && used < all)
			release_slots(device, k, used, all); /* some file systems cannot */
	}
	device->slot_reserved = (uint32_t)end;
	device->shrink.most = device->slot_reserved;
	return err;
}

bool tdm_wdevice_sums(const struct tdm_wdevice *device, struct tdm_ledger_now sums[TDM_KIND_COUNT])
{
	for (uint32_t i = 0; i < device->slot_high; i++) {
		struct tdm_ledger_more *more;
		const struct tdm_ledger_slot *slot = tdm_wdevice_slot(device, i, &more);
		if (slot->birth == 0 || slot->birth > device->seq || slot->death != 0)
			continue;
		if (slot->kind >= TDM_KIND_COUNT)
			return false;
		struct tdm_ledger_now *sum = &sums[slot->kind];
		sum->buffers++;
		if (slot->banks == 0 || (slot->flags & TDM_SLOT_VIEW) != 0) /* as readers see it */
			continue;
		sum->bytes += slot->bank_bytes * slot->banks;
		sum->bank_bytes += slot->bank_bytes;
		sum->asked_bytes += slot->asked;
	}
	return true;
}
