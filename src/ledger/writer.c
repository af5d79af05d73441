#include "ledger/writer_hot.h"

#include <errno.h>
#include <string.h>

enum {
	/* Slots to reserve, or give back, at a time: whole pages of both arrays, also of the largest pages that there
	 * are, but few enough that no report waits long. */
	RESERVE_SLOTS = 2048,
	KEPT_SLOTS = 3 * TDM_LEDGER_FIRST_SLOTS, /* the segments smaller than that, which are never given back */
	RETRY_AFTER = 1024,                      /* reports between two attempts to get more room */
	DEVICE_RETRY_AFTER = 64,
	SPARE_FIRST = 1024,
	SLOT_BYTES = sizeof(struct tdm_ledger_slot),
	MORE_BYTES = sizeof(struct tdm_ledger_more),
	FIRST_BYTES = TDM_LEDGER_FIRST_SLOTS * (SLOT_BYTES + MORE_BYTES),
	DEVICE_BYTES = (sizeof(struct tdm_ledger_device) + TDM_LEDGER_PAGE - 1) / TDM_LEDGER_PAGE * TDM_LEDGER_PAGE,
};

int tdm_writer_new(const struct tdm_writer_options *options, struct tdm_writer **out)
{
	struct tdm_writer *writer = tdm_private_alloc(sizeof *writer);
	if (writer == NULL)
		return -ENOMEM;
	writer->ring_records = options->ring_records != 0 ? options->ring_records : TDM_LEDGER_RING;
	int err = tdm_ledger_file_create(&writer->file, options->dir, options->mode, options->flags, options->behalf);
	if (err != 0)
		goto fail_file;
	err = tdm_blobs_init(&writer->blobs, &writer->file, &writer->file_lock);
	if (err != 0)
		goto fail_blobs;
	writer->threads = tdm_private_alloc(TDM_WRITER_THREADS * sizeof *writer->threads);
	writer->can_own = writer->threads != NULL && tdm_writer_register_barrier();
	*out = writer;
	return 0;
fail_blobs:
	tdm_ledger_file_close(&writer->file, true);
fail_file:
	tdm_private_free(writer, sizeof *writer);
	return err;
}

void tdm_writer_end(struct tdm_writer *writer)
{
	struct tdm_ledger_header *header = writer->file.header;
	tdm_ledger_file_clock(&writer->file);
	header->closed_tsc = tdm_clock_ticks();
	atomic_store((_Atomic uint32_t *)&header->state, TDM_LEDGER_CLOSED);
}

static void device_free(struct tdm_wdevice *device)
{
	tdm_slot_index_done(&device->index);
	tdm_private_free(device->spare, device->spare_cap * sizeof *device->spare);
	tdm_private_free(device, sizeof *device);
}

/* Frees all but the devices and the indexes. */
static void free_rest(struct tdm_writer *writer)
{
	tdm_blobs_done(&writer->blobs);
	tdm_ledger_file_close(&writer->file, false);
	tdm_private_free(writer->threads, TDM_WRITER_THREADS * sizeof *writer->threads);
	tdm_private_free(writer, sizeof *writer);
}

void tdm_writer_free(struct tdm_writer *writer)
{
	for (unsigned i = 0; i < TDM_LEDGER_DEVICES && writer->devices[i] != NULL; i++)
		device_free(writer->devices[i]);
	for (unsigned i = 0; i < writer->inherited_count; i++)
		tdm_slot_index_done(&writer->inherited[i]);
	free_rest(writer);
}

void tdm_writer_adopt(struct tdm_writer *writer, struct tdm_writer *parent)
{
	size_t cap = TDM_LEDGER_DEVICES + parent->inherited_count;
	struct tdm_slot_index *indexes = tdm_private_alloc(cap * sizeof *indexes);
	for (unsigned i = 0; i < parent->inherited_count && indexes != NULL; i++)
		indexes[writer->inherited_count++] = parent->inherited[i];
	for (unsigned i = 0; i < TDM_LEDGER_DEVICES && parent->devices[i] != NULL; i++) {
		struct tdm_wdevice *device = parent->devices[i];
		if (indexes != NULL)
			indexes[writer->inherited_count++] = device->index;
		else
			tdm_slot_index_done(&device->index);
		tdm_private_free(device, sizeof *device);
	}
	writer->inherited = indexes;
	free_rest(parent);
}

/* Sets where the arrays of segment k begin in memory. */
static void set_segment(struct tdm_wdevice *device, uint32_t k, void *at)
{
	size_t slots = (size_t)TDM_LEDGER_FIRST_SLOTS << k;
	device->slots_at[k] = (uintptr_t)at - slots * SLOT_BYTES;
	device->mores_at[k] = (uintptr_t)at + slots * SLOT_BYTES - slots * MORE_BYTES;
}

static void *segment_at(const struct tdm_wdevice *device, uint32_t k)
{
	return (void *)(device->slots_at[k] + ((size_t)TDM_LEDGER_FIRST_SLOTS << k) * SLOT_BYTES);
}

/* Allocates a device's page, its ring and its first slots as one area of the file. */
static int device_area(
	struct tdm_writer *writer, struct tdm_wdevice *device, uint32_t records, uint32_t flags, uint64_t *offset)
{
	size_t ring_bytes = records * sizeof *device->ring, bytes = DEVICE_BYTES + ring_bytes + FIRST_BYTES;
	void *at;
	int err = tdm_ledger_file_area(&writer->file, bytes, bytes, &at, offset);
	if (err != 0)
		return err;
	char *ring = (char *)at + DEVICE_BYTES;
	struct tdm_ledger_device *shared = at;
	shared->number = device->number;
	shared->flags = flags;
	shared->ring_offset = *offset + DEVICE_BYTES;
	shared->ring_records = records;
	shared->slot_offset[0] = shared->ring_offset + ring_bytes;
	shared->slot_segments = 1;
	device->segment_offset[0] = *offset + DEVICE_BYTES + ring_bytes;
	device->shared = shared;
	device->ring = (struct tdm_ledger_record *)(void *)ring;
	device->ring_mask = records - 1;
	set_segment(device, 0, ring + ring_bytes);
	for (unsigned i = 0; i < TDM_KIND_COUNT; i++)
		device->now[i] = &shared->now[i][0];
	for (unsigned i = 0; i < TDM_LEDGER_COUNTERS; i++)
		device->peak[i] = &shared->peak[i][0];
	device->segment_count = 1;
	device->slot_reserved = TDM_LEDGER_FIRST_SLOTS;
	return 0;
}

/* If there is no room for a long ring, uses one of the default length: that is better than losing all events. */
static int device_area_that_fits(
	struct tdm_writer *writer, struct tdm_wdevice *device, uint32_t flags, uint64_t *offset)
{
	int err = device_area(writer, device, writer->ring_records, flags, offset);
	if (err != 0 && writer->ring_records > TDM_LEDGER_RING)
		err = device_area(writer, device, TDM_LEDGER_RING, flags, offset);
	return err;
}

static struct tdm_wdevice *device_new(struct tdm_writer *writer, uint32_t number, bool is_virtual)
{
	uint64_t offset;
	uint32_t count = writer->device_count;
	if (writer->device_retry != 0) {
		writer->device_retry--;
		return NULL;
	}
	struct tdm_wdevice *device = count < TDM_LEDGER_DEVICES ? tdm_private_alloc(sizeof *device) : NULL;
	if (device == NULL)
		return NULL;
	device->number = number;
	device->is_virtual = is_virtual;
	device->writer = writer;
	device->texts = writer->blobs.texts;
	if (tdm_slot_index_init(&device->index) != 0 || tdm_wdevice_spare_grow(device) != 0 ||
		device_area_that_fits(writer, device, is_virtual ? TDM_DEVICE_VIRTUAL : 0, &offset) != 0) {
		device_free(device);
		writer->device_retry = DEVICE_RETRY_AFTER;
		return NULL;
	}
	writer->device_count = count + 1;
	writer->file.header->device_offset[count] = offset;
	atomic_store_explicit(&writer->devices[count], device, memory_order_release);
	atomic_store_explicit((_Atomic uint32_t *)&writer->file.header->device_count, count + 1, memory_order_release);
	return device;
}

struct tdm_wdevice *tdm_writer_find_device(struct tdm_writer *writer, uint32_t number, bool is_virtual)
{
	for (unsigned i = 0; i < TDM_LEDGER_DEVICES; i++) {
		struct tdm_wdevice *device = tdm_writer_get_device(writer, i);
		if (device == NULL || (device->number == number && device->is_virtual == is_virtual))
			return device;
	}
	return NULL;
}

struct tdm_wdevice *tdm_writer_device_slow(struct tdm_writer *writer, uint32_t number, bool is_virtual)
{
	struct tdm_wdevice *device = NULL;
	struct tdm_quiet guard;
	bool room = true;
	tdm_quiet_begin(&guard);
	if (tdm_lock_take(&writer->file_lock)) {
		device = tdm_writer_find_device(writer, number, is_virtual);
		room = writer->device_count < TDM_LEDGER_DEVICES;
		if (device == NULL)
			device = device_new(writer, number, is_virtual);
		if (device != NULL && number < TDM_WRITER_NUMBERS / 2)
			atomic_store_explicit(
				&writer->by_number[number * 2 + is_virtual], device, memory_order_release);
		tdm_lock_give(&writer->file_lock);
	}
	tdm_quiet_end(&guard);
	if (device == NULL)
		tdm_writer_lost(writer, room ? TDM_LOSS_SPACE : TDM_LOSS_DEVICE);
	return device;
}

int tdm_wdevice_spare_grow(struct tdm_wdevice *device)
{
	uint32_t cap = device->spare_cap != 0 ? device->spare_cap * 2 : SPARE_FIRST;
	uint32_t *bigger = tdm_private_alloc(cap * sizeof *bigger);
	if (bigger == NULL)
		return -ENOMEM;
	uint32_t *old = device->spare, old_cap = device->spare_cap;
	if (old != NULL)
		memcpy(bigger, old, device->spare_count * sizeof *bigger);
	device->spare = bigger;
	atomic_signal_fence(memory_order_seq_cst); /* a report may end here */
	device->spare_cap = cap;
	tdm_private_free(old, old_cap * sizeof *bigger);
	return 0;
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
	set_segment(device, k, at);
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
	uint64_t to = from + RESERVE_SLOTS < all ? from + RESERVE_SLOTS : all;
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

int tdm_writer_describe(struct tdm_wdevice *device, struct tdm_wthread *self, const char *card, const uint64_t *chip_id,
	uint32_t grid_x, uint32_t grid_y, const struct tdm_ledger_region *regions, uint32_t region_count)
{
	struct tdm_ledger_device *shared = device->shared;
	_Atomic uint64_t *described = (_Atomic uint64_t *)&shared->described;
	struct tdm_quiet guard;
	tdm_quiet_begin(&guard);
	enum tdm_entered how = tdm_wdevice_enter(device, self);
	if (how == TDM_NOT_ENTERED) {
		tdm_quiet_end(&guard);
		return tdm_writer_refuse(device, TDM_LOSS_NESTED, -EBUSY);
	}
	region_count = region_count < TDM_LEDGER_REGIONS ? region_count : TDM_LEDGER_REGIONS;
	uint64_t was = atomic_load_explicit(described, memory_order_relaxed);
	atomic_store_explicit(described, was + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	memset(shared->card, 0, sizeof shared->card);
	if (card != NULL)
		strncpy(shared->card, card, sizeof shared->card - 1);
	shared->chip_id = chip_id != NULL ? *chip_id : 0;
	shared->flags =
		(shared->flags & ~(uint32_t)TDM_DEVICE_HAS_CHIP_ID) | (chip_id != NULL ? TDM_DEVICE_HAS_CHIP_ID : 0);
	shared->grid_x = grid_x;
	shared->grid_y = grid_y;
	shared->region_count = region_count;
	uint32_t banks[TDM_KIND_COUNT] = { 0 };
	for (uint32_t i = 0; i < region_count; i++) {
		shared->regions[i] = regions[i];
		if (regions[i].kind < TDM_KIND_COUNT && !tdm_kind_is_per_core((enum tdm_kind)regions[i].kind))
			banks[regions[i].kind] = regions[i].banks;
	}
	for (unsigned kind = 0; kind < TDM_KIND_COUNT; kind++)
		atomic_store_explicit(&device->banks[kind], banks[kind], memory_order_relaxed);
	atomic_store_explicit(described, was + 2, memory_order_release);
	tdm_wdevice_leave(device, self, how);
	tdm_ledger_file_clock(&device->writer->file);
	tdm_quiet_end(&guard);
	return 0;
}

static int add_phase_segment(struct tdm_writer *writer, uint32_t k)
{
	size_t bytes = ((size_t)TDM_LEDGER_PHASES_FIRST << k) * sizeof(struct tdm_ledger_phase);
	uint64_t offset;
	void *at;
	if (k == TDM_LEDGER_BLOB_SEGMENTS)
		return -ENOSPC;
	int err = tdm_ledger_file_area(&writer->file, bytes, bytes, &at, &offset);
	if (err != 0)
		return err;
	writer->phase_segment[k] = at;
	writer->phase_segments = k + 1;
	writer->file.header->phase_offset[k] = offset;
	atomic_store_explicit((_Atomic uint32_t *)&writer->file.header->phase_segments, k + 1, memory_order_release);
	return 0;
}

int tdm_writer_put_phase(struct tdm_writer *writer, const struct tdm_ledger_phase *phase)
{
	int err = 0;
	struct tdm_quiet guard;
	tdm_quiet_begin(&guard);
	if (!tdm_lock_take(&writer->file_lock)) {
		tdm_quiet_end(&guard);
		tdm_writer_lost(writer, TDM_LOSS_NESTED);
		return -EBUSY;
	}
	uint32_t count = writer->phase_count;
	uint32_t biased = count / TDM_LEDGER_PHASES_FIRST + 1, k = 31 - (uint32_t)__builtin_clz(biased);
	if (k == writer->phase_segments)
		err = add_phase_segment(writer, k);
	if (err == 0) {
		uint32_t begin = TDM_LEDGER_PHASES_FIRST * ((1u << k) - 1);
		writer->phase_segment[k][count - begin] = *phase;
		writer->phase_count = count + 1;
		atomic_store_explicit(
			(_Atomic uint32_t *)&writer->file.header->phase_count, count + 1, memory_order_release);
	}
	tdm_lock_give(&writer->file_lock);
	if (err != 0)
		tdm_writer_lost(writer, TDM_LOSS_SPACE);
	tdm_ledger_file_clock(&writer->file);
	tdm_quiet_end(&guard);
	return err;
}

uint64_t tdm_writer_live(struct tdm_writer *writer, struct tdm_wthread *self)
{
	uint64_t live = 0;
	bool is_nested = self != NULL && tdm_wthread_is_inside(self);
	struct tdm_wdevice *device;
	for (unsigned i = 0; i < TDM_LEDGER_DEVICES && (device = tdm_writer_get_device(writer, i)) != NULL; i++) {
		if (device->is_virtual)
			continue;
		enum tdm_entered how = is_nested ? TDM_NOT_ENTERED : tdm_wdevice_enter(device, self);
		for (unsigned kind = 0; kind < TDM_KIND_COUNT; kind++)
			live += device->now[kind]->buffers; /* not entered: the best guess */
		if (how != TDM_NOT_ENTERED)
			tdm_wdevice_leave(device, self, how);
	}
	return live;
}
