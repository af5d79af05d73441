#include "ledger/writer_hot.h"

#include <errno.h>
#include <string.h>

enum {
	DEVICE_RETRY_AFTER = 64,
	SPARE_FIRST = 1024,
	SPARE_SMALL = 16,
	FIRST_BYTES = TDM_LEDGER_FIRST_SLOTS * (sizeof(struct tdm_ledger_slot) + sizeof(struct tdm_ledger_more)),
	DEVICE_BYTES = (sizeof(struct tdm_ledger_device) + TDM_LEDGER_PAGE - 1) / TDM_LEDGER_PAGE * TDM_LEDGER_PAGE,
};

struct tdm_writer *tdm_writer_make(const struct tdm_writer_options *options, bool is_small)
{
	struct tdm_writer *writer = tdm_block_alloc(is_small, sizeof *writer);
	if (writer == NULL)
		return NULL;
	writer->ring_records = options->ring_records != 0 ? options->ring_records
			       : is_small                 ? TDM_WRITER_RING_SMALL
							  : TDM_LEDGER_RING;
	writer->thread_cap = is_small ? 1 : TDM_WRITER_THREADS;
	writer->threads = is_small ? &writer->only : tdm_private_alloc(writer->thread_cap * sizeof *writer->threads);
	writer->can_own = writer->threads != NULL && tdm_writer_register_barrier();
	return writer;
}

static void free_writer(struct tdm_writer *writer, bool is_small)
{
	if (writer->threads != &writer->only)
		tdm_private_free(writer->threads, writer->thread_cap * sizeof *writer->threads);
	tdm_block_free(is_small, writer, sizeof *writer);
}

int tdm_writer_new(const struct tdm_writer_options *options, struct tdm_writer **out)
{
	bool is_small = options->behalf != NULL;
	struct tdm_writer *writer = tdm_writer_make(options, is_small);
	if (writer == NULL)
		return -ENOMEM;
	int err = tdm_ledger_file_create(&writer->file, options->dir, options->mode, options->flags, options->behalf);
	if (err != 0)
		goto fail_file;
	err = tdm_blobs_init(&writer->blobs, &writer->file, &writer->file_lock);
	if (err != 0)
		goto fail_blobs;
	*out = writer;
	return 0;
fail_blobs:
	tdm_ledger_file_close(&writer->file, true);
fail_file:
	free_writer(writer, is_small);
	return err;
}

void tdm_writer_end(struct tdm_writer *writer)
{
	struct tdm_ledger_header *header = writer->file.header;
	tdm_ledger_file_clock(&writer->file);
	header->closed_tsc = tdm_clock_ticks();
	atomic_store((_Atomic uint32_t *)&header->state, TDM_LEDGER_CLOSED);
}

struct tdm_wdevice *tdm_wdevice_make(struct tdm_writer *writer, uint32_t number, bool is_virtual)
{
	bool is_small = writer->file.is_on_behalf;
	struct tdm_wdevice *device = tdm_block_alloc(is_small, sizeof *device);
	if (device == NULL)
		return NULL;
	device->number = number;
	device->is_virtual = is_virtual;
	device->writer = writer;
	device->texts = writer->blobs.texts;
	if (tdm_slot_index_init(&device->index, is_small) != 0 || tdm_wdevice_spare_grow(device) != 0) {
		tdm_wdevice_free(device);
		return NULL;
	}
	return device;
}

void tdm_wdevice_free(struct tdm_wdevice *device)
{
	bool is_small = device->writer->file.is_on_behalf;
	tdm_wruntime_free(device, is_small);
	tdm_wdevice_shrink_reset(device);
	tdm_slot_index_done(&device->index);
	tdm_block_free(is_small, device->spare, device->spare_cap * sizeof *device->spare);
	tdm_block_free(is_small, device, sizeof *device);
}

/* Frees all but the devices and the indexes. */
static void free_rest(struct tdm_writer *writer)
{
	bool is_small = writer->file.is_on_behalf;
	tdm_blobs_done(&writer->blobs);
	tdm_ledger_file_close(&writer->file, false);
	free_writer(writer, is_small);
}

void tdm_writer_free(struct tdm_writer *writer)
{
	for (unsigned i = 0; i < TDM_LEDGER_DEVICES && writer->devices[i] != NULL; i++)
		tdm_wdevice_free(writer->devices[i]);
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
		tdm_wruntime_free(device, false);
		tdm_private_free(device, sizeof *device);
	}
	writer->inherited = indexes;
	free_rest(parent);
}

/*
 * Allocates a device's page, its ring and its first slots as one area of the file. In a small ledger the ring follows
 * the page's content without a gap, and slots are reserved as they are needed.
 */
static int device_area(
	struct tdm_writer *writer, struct tdm_wdevice *device, uint32_t records, uint32_t flags, uint64_t *offset)
{
	bool is_small = writer->file.is_on_behalf;
	size_t ring_at = is_small ? sizeof *device->shared : DEVICE_BYTES;
	size_t slots_at = ring_at + records * sizeof *device->ring;
	void *at;
	slots_at = is_small ? tdm_page_up(slots_at) : slots_at;
	int err = tdm_ledger_file_area(
		&writer->file, slots_at + FIRST_BYTES, is_small ? slots_at : slots_at + FIRST_BYTES, &at, offset);
	if (err != 0)
		return err;
	struct tdm_ledger_device *shared = at;
	shared->number = device->number;
	shared->flags = flags;
	shared->ring_offset = *offset + ring_at;
	shared->ring_records = records;
	shared->slot_offset[0] = *offset + slots_at;
	shared->slot_segments = 1;
	device->segment_offset[0] = *offset + slots_at;
	device->shared = shared;
	device->ring = (struct tdm_ledger_record *)(void *)((char *)at + ring_at);
	device->ring_mask = records - 1;
	tdm_wdevice_set_segment(device, 0, (char *)at + slots_at);
	for (unsigned i = 0; i < TDM_KIND_COUNT; i++)
		device->now[i] = &shared->now[i][0];
	for (unsigned i = 0; i < TDM_LEDGER_COUNTERS; i++)
		device->peak[i] = &shared->peak[i][0];
	device->segment_count = 1;
	device->slot_reserved = is_small ? 0 : TDM_LEDGER_FIRST_SLOTS;
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
	struct tdm_wdevice *device = count < TDM_LEDGER_DEVICES ? tdm_wdevice_make(writer, number, is_virtual) : NULL;
	if (device == NULL ||
		device_area_that_fits(writer, device, is_virtual ? TDM_DEVICE_VIRTUAL : 0, &offset) != 0) {
		if (device != NULL)
			tdm_wdevice_free(device);
		writer->device_retry = count < TDM_LEDGER_DEVICES ? DEVICE_RETRY_AFTER : 0;
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
	bool is_small = device->writer->file.is_on_behalf;
	uint32_t cap = device->spare_cap != 0 ? device->spare_cap * 2 : is_small ? SPARE_SMALL : SPARE_FIRST;
	uint32_t *bigger = tdm_block_alloc(is_small, cap * sizeof *bigger);
	if (bigger == NULL)
		return -ENOMEM;
	uint32_t *old = device->spare, old_cap = device->spare_cap;
	if (old != NULL)
		memcpy(bigger, old, device->spare_count * sizeof *bigger);
	device->spare = bigger;
	atomic_signal_fence(memory_order_seq_cst); /* a report may end here */
	device->spare_cap = cap;
	tdm_block_free(is_small, old, old_cap * sizeof *bigger);
	return 0;
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
