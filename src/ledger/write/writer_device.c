/* A writer and its devices: creates and ends them, enters and leaves devices (writer.h explains the locks), stores
 * notes, and recreates a deleted ledger. */
#include "ledger/write/writer_hot.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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
#if !defined(__SANITIZE_THREAD__) /* the thread sanitizer does not know the barrier, so there are no owners */
	writer->can_own =
		writer->threads != NULL && syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0) == 0;
#endif
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
	if (device->window != NULL)
		tdm_private_free(device->window, TDM_WRITER_WINDOW_BYTES);
	tdm_block_free(is_small, device->spare, device->spare_cap * sizeof *device->spare);
	tdm_block_free(is_small, device, sizeof *device);
}

/* Frees everything except the devices and the indexes. */
static void free_rest(struct tdm_writer *writer)
{
	bool is_small = writer->file.is_on_behalf;
	tdm_blobs_done(&writer->blobs);
	tdm_ledger_file_close(&writer->file, false);
	free_writer(writer, is_small);
}

void tdm_writer_free(struct tdm_writer *writer)
{
	for (unsigned i = 0; writer->devices[i] != NULL; i++)
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
	for (unsigned i = 0; parent->devices[i] != NULL; i++) {
		struct tdm_wdevice *device = parent->devices[i];
		if (indexes != NULL)
			indexes[writer->inherited_count++] = device->index;
		else
			tdm_slot_index_done(&device->index);
		if (device->window != NULL)
			tdm_private_free(device->window, TDM_WRITER_WINDOW_BYTES);
		tdm_wruntime_free(device, false);
		tdm_private_free(device, sizeof *device);
	}
	writer->inherited = indexes;
	free_rest(parent);
}

/*
 * Allocates a device's page, ring and first slots as one area of the file. In a small ledger, the ring directly follows
 * the content of the device's page, and slots are reserved on demand.
 */
static int device_area(struct tdm_writer *writer, struct tdm_wdevice *device, uint32_t records, uint64_t *offset)
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
	shared->flags = device->is_virtual ? TDM_DEVICE_VIRTUAL : 0;
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
		device->limit[i] = device->peak[i] = &shared->peak[i][0];
	device->segment_count = 1;
	device->slot_reserved = is_small ? 0 : TDM_LEDGER_FIRST_SLOTS;
	return 0;
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
	int err = device != NULL ? device_area(writer, device, writer->ring_records, &offset) : -ENOMEM;
	/* If there is no room for a long ring, uses a ring of the default length. */
	if (device != NULL && err != 0 && writer->ring_records > TDM_LEDGER_RING)
		err = device_area(writer, device, TDM_LEDGER_RING, &offset);
	if (err != 0) {
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
	struct tdm_wdevice *device;
	for (unsigned i = 0; (device = tdm_writer_get_device(writer, i)) != NULL; i++)
		if (device->number == number && device->is_virtual == is_virtual)
			break;
	return device;
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
	tdm_step(); /* a report may also end here */
	device->spare_cap = cap;
	tdm_step();
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

int tdm_writer_put_phase(struct tdm_writer *writer, const struct tdm_ledger_phase *phase)
{
	int err = 0;
	struct tdm_quiet guard;
	struct tdm_ledger_header *header = writer->file.header;
	uint64_t offset;
	void *at;
	tdm_quiet_begin(&guard);
	if (!tdm_lock_take(&writer->file_lock)) {
		tdm_quiet_end(&guard);
		tdm_writer_lost(writer, TDM_LOSS_NESTED);
		return -EBUSY;
	}
	uint64_t begin;
	uint32_t count = writer->phase_count, k = tdm_ledger_segment(count, TDM_LEDGER_PHASES_FIRST, &begin);
	if (k == writer->phase_segments) {
		size_t bytes = ((size_t)TDM_LEDGER_PHASES_FIRST << k) * sizeof *phase;
		err = k < TDM_LEDGER_BLOB_SEGMENTS ? tdm_ledger_file_area(&writer->file, bytes, bytes, &at, &offset)
						   : -ENOSPC;
		if (err == 0) {
			writer->phase_segment[k] = at;
			writer->phase_segments = k + 1;
			header->phase_offset[k] = offset;
			atomic_store_explicit((_Atomic uint32_t *)&header->phase_segments, k + 1, memory_order_release);
		}
	}
	if (err == 0) {
		writer->phase_segment[k][count - begin] = *phase;
		writer->phase_count = count + 1;
		atomic_store_explicit((_Atomic uint32_t *)&header->phase_count, count + 1, memory_order_release);
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
	for (unsigned i = 0; (device = tdm_writer_get_device(writer, i)) != NULL; i++) {
		if (device->is_virtual)
			continue;
		enum tdm_entered how = is_nested ? TDM_NOT_ENTERED : tdm_wdevice_enter(device, self);
		/* the device could not be entered, so this is the best guess */
		for (unsigned kind = 0; kind < TDM_KIND_COUNT; kind++)
			live += device->now[kind]->buffers;
		if (how != TDM_NOT_ENTERED)
			tdm_wdevice_leave(device, self, how);
	}
	return live;
}

/* ---- entering and leaving a device: by its owner without a lock, by other threads with one (writer.h) ---- */

struct tdm_wthread *tdm_writer_thread(struct tdm_writer *writer)
{
	uint32_t at = atomic_fetch_add(&writer->thread_count, 1);
	if (at < writer->thread_cap && writer->threads != NULL) {
		writer->threads[at].thread = tdm_lock_me();
		return &writer->threads[at];
	}
	atomic_store(&writer->thread_count, writer->thread_cap);
	return NULL;
}

static bool is_inside(const struct tdm_wthread *owner, const struct tdm_wdevice *device)
{
	return atomic_load_explicit(&owner->inside, memory_order_acquire) == (uintptr_t)device;
}

static bool has_ended_inside(struct tdm_wdevice *device, const struct tdm_wthread *owner)
{
	if (!tdm_thread_has_ended(owner->thread) || !is_inside(owner, device))
		return false;
	atomic_store_explicit(&device->is_torn, true, memory_order_relaxed);
	return true;
}

/*
 * Revokes ownership. After the barrier, either we see the owner inside, or the owner sees that it is no longer the
 * owner.
 */
static bool put_owner_out(struct tdm_wdevice *device)
{
	struct tdm_wthread *owner = atomic_exchange(&device->owner, NULL);
	if (owner == NULL)
		return true;
	bool is_out = false;
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0) == 0) {
		struct tdm_wait wait = { .is_hopeless = device->is_hopeless };
		is_out = !is_inside(owner, device) || has_ended_inside(device, owner);
		while (!is_out && tdm_wait_more(&wait))
			is_out = !is_inside(owner, device) ||
				 (tdm_wait_is_long(&wait) && has_ended_inside(device, owner));
		is_out = is_out || has_ended_inside(device, owner);
	}
	device->is_hopeless = !is_out;
	if (!is_out) {
		/* the owner is still inside, and nobody may enter before it leaves */
		atomic_store(&device->owner, owner);
		return false;
	}
	device->revocations++;
	device->streak = 0;
	return true;
}

/*
 * Makes a device ready to be entered; the caller has its lock. Guarded against signals, because no other thread would
 * wait for a revoked owner, and because some programs jump out of signal handlers so often that no repair would ever
 * finish. Signals that arrive meanwhile are handled afterwards.
 */
static bool make_fit(struct tdm_wdevice *device)
{
	struct tdm_quiet guard;
	tdm_quiet_begin(&guard);
	bool is_fit = put_owner_out(device) && (!device->is_torn || tdm_wdevice_repair(device) == 0);
	atomic_store_explicit(&device->is_untouched, is_fit, memory_order_relaxed);
	tdm_quiet_end(&guard);
	return is_fit;
}

enum tdm_entered tdm_wdevice_enter_slow(struct tdm_wdevice *device, struct tdm_wthread *self)
{
	static const uint32_t streaks[] = { 0, 256, 4096 };
	if (self != NULL)
		atomic_store_explicit(&self->inside, (uintptr_t)device | TDM_BY_LOCK, memory_order_release);
	bool locked = tdm_lock_take(&device->lock);
	/* The lock's previous holder may have ended without releasing it. */
	if (locked && atomic_exchange_explicit(&device->lock.is_broken, false, memory_order_relaxed)) {
		if (atomic_load_explicit(&device->is_untouched, memory_order_relaxed))
			tdm_writer_lost(device->writer, TDM_LOSS_NESTED);
		else
			atomic_store_explicit(&device->is_torn, true, memory_order_relaxed);
	}
	if (!locked || ((device->is_torn || atomic_load(&device->owner) != NULL) && !make_fit(device))) {
		if (locked)
			tdm_lock_give(&device->lock);
		if (self != NULL)
			atomic_store_explicit(&self->inside, 0, memory_order_release);
		return TDM_NOT_ENTERED;
	}
	atomic_store_explicit(&device->is_untouched, false, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst); /* before anything changes */
	device->streak = device->last == self ? device->streak + 1 : 0;
	device->last = self;
	/* A thread becomes the owner after entering often enough in a row; each revocation raises that number. */
	if (self != NULL && device->writer->can_own && device->revocations < sizeof streaks / sizeof *streaks &&
		device->streak >= streaks[device->revocations])
		atomic_store_explicit(&device->owner, self, memory_order_release); /* effective from its next report */
	return TDM_WITH_LOCK;
}

void tdm_wdevice_leave_slow(struct tdm_wdevice *device, struct tdm_wthread *self)
{
	tdm_lock_give(&device->lock);
	if (self != NULL)
		atomic_store_explicit(&self->inside, 0, memory_order_release);
}

/* Ends the thread's ownership, so that its next report finds the device marked as torn. */
static void disown(struct tdm_wdevice *device, struct tdm_wthread *self)
{
	struct tdm_wthread *owner = self;
	atomic_compare_exchange_strong(&device->owner, &owner, NULL);
}

bool tdm_writer_abandon(struct tdm_writer *writer, struct tdm_wthread *self)
{
	bool is_torn = false;
	uintptr_t at = self != NULL ? atomic_load_explicit(&self->inside, memory_order_relaxed) : 0;
	struct tdm_wdevice *torn = (struct tdm_wdevice *)(at & ~(uintptr_t)TDM_BY_LOCK), *device;
	for (unsigned i = 0; (device = tdm_writer_get_device(writer, i)) != NULL; i++) {
		if (tdm_lock_is_mine(&device->lock))
			disown(device, self); /* the thread became the owner while holding the lock */
		is_torn |= tdm_lock_abandon(&device->lock);
	}
	tdm_lock_abandon(&writer->blobs.lock);
	if (at == 0)
		return is_torn;
	if (at % 2 == 0)
		atomic_store_explicit(&torn->is_torn, true, memory_order_relaxed);
	atomic_store_explicit(&self->inside, 0, memory_order_release);
	if (at % 2 != 0)
		return is_torn;
	/* Takes the lock, because another thread that was waiting for us may be handing back the device. */
	bool locked = tdm_lock_take(&torn->lock);
	disown(torn, self);
	if (locked)
		tdm_lock_give(&torn->lock);
	return true;
}

/* ---- the process's notes; their area is created with the first note ---- */

enum { RETRY_AFTER = 1024 };

/* Returns the notes' area, making it if necessary; the caller holds file_lock. NULL if there is no room. */
static struct tdm_ledger_notes *have_notes(struct tdm_writer *writer)
{
	struct tdm_ledger_notes *notes = atomic_load_explicit(&writer->notes, memory_order_relaxed);
	uint64_t offset;
	void *at;
	if (notes != NULL)
		return notes;
	if (writer->notes_retry != 0) {
		writer->notes_retry--;
		return NULL;
	}
	if (tdm_ledger_file_area(&writer->file, sizeof *notes, sizeof *notes, &at, &offset) != 0) {
		writer->notes_retry = RETRY_AFTER;
		return NULL;
	}
	atomic_store_explicit((_Atomic uint64_t *)&writer->file.header->notes_offset, offset, memory_order_release);
	atomic_store_explicit(&writer->notes, at, memory_order_release);
	return at;
}

/* Adds a remark unless it is already in the list; the caller holds file_lock. */
static void add_remark(struct tdm_writer *writer, struct tdm_ledger_notes *notes, uint32_t text)
{
	uint32_t count = atomic_load_explicit(&writer->remark_count, memory_order_relaxed);
	for (uint32_t i = 0; i < count; i++)
		if (notes->remarks[i] == text)
			return;
	if (count == TDM_LEDGER_NOTE_REMARKS) {
		atomic_fetch_add((_Atomic uint64_t *)&notes->remarks_lost, 1);
		return;
	}
	notes->remarks[count] = text;
	atomic_store_explicit((_Atomic uint64_t *)&notes->remark_count, count + 1, memory_order_release);
	atomic_store_explicit(&writer->remark_count, count + 1, memory_order_release);
}

/* Stores a counter's name, or a remark if `counter` is NULL. */
static int note(struct tdm_writer *writer, const unsigned *counter, const char *text)
{
	struct tdm_ledger_notes *notes = NULL;
	struct tdm_quiet guard;
	uint32_t blob = tdm_blobs_put(&writer->blobs, TDM_BLOB_TEXT, text, strnlen(text, TDM_LEDGER_TEXT_MAX), NULL);
	if (blob == 0) {
		tdm_writer_lost(writer, TDM_LOSS_TEXT);
		return -ENOSPC;
	}
	tdm_quiet_begin(&guard);
	if (tdm_lock_take(&writer->file_lock)) {
		notes = have_notes(writer);
		if (notes != NULL && counter == NULL)
			add_remark(writer, notes, blob);
		else if (notes != NULL)
			atomic_store_explicit(
				(_Atomic uint32_t *)&notes->counters[*counter].text, blob, memory_order_release);
		tdm_lock_give(&writer->file_lock);
	}
	tdm_ledger_file_clock(&writer->file);
	tdm_quiet_end(&guard);
	if (notes == NULL)
		tdm_writer_lost(writer, TDM_LOSS_TEXT);
	return notes != NULL ? 0 : -ENOSPC;
}

int tdm_writer_name_counter(struct tdm_writer *writer, unsigned i, const char *name)
{
	return i < TDM_LEDGER_NOTE_COUNTERS ? note(writer, &i, name) : -EINVAL;
}

int tdm_writer_remark(struct tdm_writer *writer, const char *text)
{
	return note(writer, NULL, text);
}

/* ---- recreating a deleted ledger ---- */

static uint64_t count_calls(struct tdm_writer *writer)
{
	uint64_t calls = 0;
	struct tdm_wdevice *device;
	for (unsigned i = 0; (device = tdm_writer_get_device(writer, i)) != NULL; i++)
		calls += atomic_load_explicit((_Atomic uint64_t *)&device->shared->seq, memory_order_relaxed);
	return calls;
}

uint64_t tdm_writer_stranded(struct tdm_writer *writer)
{
	uint64_t from = atomic_load(&writer->stranded_from), calls = from != 0 ? count_calls(writer) : 0;
	return calls >= from && from != 0 ? calls - (from - 1) : 0;
}

int tdm_writer_renew(struct tdm_writer *writer)
{
	/* Owners of the stopped devices. Owners enter without the lock, so they are revoked, and reinstated
	 * afterwards. */
	struct tdm_wthread *owners[TDM_LEDGER_DEVICES];
	uint32_t revocations[TDM_LEDGER_DEVICES];
	unsigned stopped = 0;
	struct tdm_wdevice *device;
	struct tdm_quiet guard;
	int err = -EBUSY;
	tdm_quiet_begin(&guard);
	for (; (device = tdm_writer_get_device(writer, stopped)) != NULL; stopped++) {
		owners[stopped] = atomic_load(&device->owner);
		revocations[stopped] = device->revocations;
		if (tdm_wdevice_enter_slow(device, NULL) == TDM_NOT_ENTERED)
			break;
	}
	if (device == NULL && tdm_lock_take(&writer->blobs.lock)) {
		if (tdm_lock_take(&writer->file_lock)) {
			/* If a device was added meanwhile, the next attempt stops the new device, too. */
			if (stopped == writer->device_count)
				err = tdm_ledger_file_renew(&writer->file, atomic_load(&writer->notes));
			tdm_lock_give(&writer->file_lock);
		}
		tdm_lock_give(&writer->blobs.lock);
	}
	if (err == 0)
		atomic_store(&writer->stranded_from, 0);
	else if (atomic_load(&writer->stranded_from) == 0)
		atomic_store(&writer->stranded_from, count_calls(writer) + 1);
	/* Returns each device to its owner, unless the owner ended while inside. */
	for (unsigned i = 0; i < stopped; i++) {
		device = tdm_writer_get_device(writer, i);
		device->revocations = revocations[i];
		if (owners[i] != NULL && !tdm_wthread_is_inside(owners[i]))
			atomic_store(&device->owner, owners[i]);
		tdm_wdevice_leave_slow(device, NULL);
	}
	tdm_quiet_end(&guard);
	return err;
}
