/*
 * The slots of a device, in segments of the file. The slots' pages are reserved on demand, and returned to the file
 * system after a burst.
 */
#include "ledger/write/writer_hot.h"
#include "base/number.h"

#include <errno.h>
#include <string.h>

enum {
	/*
	 * The number of slots to reserve or return at a time: whole pages in both arrays, whatever the page size, but
	 * few enough that no report takes long.
	 */
	RESERVE_SLOTS = 2048,
	KEPT_SLOTS = 3 * TDM_LEDGER_FIRST_SLOTS, /* number of slots in the first segments, which are never returned */
	/* in a small ledger: number of slots in those segments to reserve at a time */
	SMALL_SLOTS = 128,
	RETRY_AFTER = 1024, /* reports between two attempts to get more room */
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

/* Adds a segment, none of which may be touched yet. */
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

/* Reserves the next piece of the last segment, or of an earlier segment that was returned. */
static int extend_segment(struct tdm_wdevice *device)
{
	uint64_t begin;
	uint32_t k = tdm_ledger_segment(device->slot_reserved, TDM_LEDGER_FIRST_SLOTS, &begin);
	uint64_t from = device->slot_reserved - begin, all = (uint64_t)TDM_LEDGER_FIRST_SLOTS << k;
	bool is_small = device->writer->file.is_on_behalf && device->slot_reserved < KEPT_SLOTS;
	uint64_t to = tdm_min(from + (is_small ? SMALL_SLOTS : RESERVE_SLOTS), all);
	int err = reserve_slots(device, k, from, to);
	if (err != 0)
		return err;
	device->slot_reserved = (uint32_t)(begin + to);
	/* These pages were returned earlier. Bursts repeat, so this time the pages are kept for a while. */
	if (device->slot_reserved <= device->shrink.most)
		device->shrink.regrown_ns = tdm_clock_ns();
	device->shrink.most = tdm_max(device->shrink.most, device->slot_reserved);
	return 0;
}

static uint32_t piece_end(uint64_t count)
{
	uint64_t pieces = count > KEPT_SLOTS ? (count - KEPT_SLOTS + RESERVE_SLOTS - 1) / RESERVE_SLOTS : 0;
	return (uint32_t)(KEPT_SLOTS + pieces * RESERVE_SLOTS);
}

/*
 * Returns slots before their second halves: readers read the second half first, and rely on it if the slot is still
 * there afterwards. The pages are not touched again until they are reserved.
 */
static int release_slots(struct tdm_wdevice *device, uint32_t k, uint64_t from, uint64_t to)
{
	struct tdm_ledger_file *file = &device->writer->file;
	uint64_t slots = device->segment_offset[k],
		 mores = slots + ((uint64_t)TDM_LEDGER_FIRST_SLOTS << k) * SLOT_BYTES;
	int err = tdm_ledger_file_release(file, slots + from * SLOT_BYTES, slots + to * SLOT_BYTES);
	return err != 0 ? err : tdm_ledger_file_release(file, mores + from * MORE_BYTES, mores + to * MORE_BYTES);
}

static int give_back(struct tdm_wdevice *device)
{
	int err = -EBUSY;
	struct tdm_quiet guard;
	if (device->slot_reserved < KEPT_SLOTS + RESERVE_SLOTS ||
		device->slot_reserved - RESERVE_SLOTS < device->slot_high)
		return -ENOENT;
	tdm_quiet_begin(&guard);
	if (tdm_lock_take(&device->writer->file_lock)) {
		uint64_t first;
		uint32_t from = device->slot_reserved - RESERVE_SLOTS;
		uint32_t k = tdm_ledger_segment(from, TDM_LEDGER_FIRST_SLOTS, &first);
		device->slot_reserved = from;
		err = release_slots(device, k, from - first, from - first + RESERVE_SLOTS);
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
	uint64_t end = high > KEPT_SLOTS ? piece_end(high) : (high + SMALL_SLOTS - 1) / SMALL_SLOTS * SMALL_SLOTS;
	int err = 0;
	end = tdm_min(end, most);
	for (uint32_t k = 0; k < device->segment_count && err == 0; k++) {
		uint64_t begin = slots_in(k), all = (uint64_t)TDM_LEDGER_FIRST_SLOTS << k;
		uint64_t used = end > begin ? tdm_min(end - begin, all) : 0;
		err = reserve_slots(device, k, 0, used);
		if (err == 0 && used < all)
			release_slots(device, k, used, all); /* some file systems cannot release pages */
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

/*
 * ---- shrinking ----
 *
 * Returns the memory that a burst of buffers needed: the index, the stack of free slots and the pages of slots.
 * Shrinking begins when few of the slots are live, and does a bounded amount of work in each report until it is
 * finished:
 *
 * 1. TDM_SHRINK_SORT: the free slots are sorted into those below `cut`, which stay, and the others. Meanwhile, reports
 *    keep using free slots that have not been sorted yet.
 * 2. TDM_SHRINK_MOVE: the index entries move to a smaller index. A buffer in slot `cut` or above moves to a slot below
 *    `cut`: its copy, and the old slot's death, carry the number of the next call. So that call's commit moves the
 *    buffer for readers; a kill before the commit leaves the buffer where it was.
 * 3. TDM_SHRINK_RELEASE: no slot from `cut` up is in use. The pages of those slots go back to the file system.
 *
 * If the program meanwhile allocates more than fits below `cut`, everything stays as it was.
 */

enum {
	FEW = 8,           /* shrinking begins when less than 1/FEW of the slots are live */
	CUT_SHARE = 2,     /* slots to keep for each live buffer */
	SLOTS_MIN = 6144,  /* shrinking never begins with fewer slots than this */
	SORT_SLOTS = 128,  /* free slots to sort in one report */
	MOVE_BUCKETS = 16, /* index buckets to move in one report */
	MOVE_SLOTS = 8,    /* buffers to move in one report */
	SPARE_MIN = 16,    /* free slots that moving must leave for reports */
	LATER = 1024,      /* events before the clock is read again */
};
#define KEEP_NS TDM_NS_PER_S /* how long to keep pages that had to be reserved again */

static bool is_small(const struct tdm_wdevice *device)
{
	return device->writer->file.is_on_behalf;
}

void tdm_wdevice_push_spare(struct tdm_wdevice *device, uint32_t slot)
{
	if (device->spare_count == device->spare_cap && tdm_wdevice_spare_grow(device) != 0)
		return; /* only this one slot is lost */
	device->spare[device->spare_count++] = slot;
}

/* Sets the number of free slots at which a release has to do more than add one. */
static void set_limit(struct tdm_wdevice *device)
{
	uint32_t many = device->slot_high - device->slot_high / FEW;
	device->spare_limit = device->slot_high < SLOTS_MIN ? device->spare_cap : tdm_min(device->spare_cap, many);
}

/* Returns to a single stack of free slots, with room for all of them. The caller sets the stack's count. */
static void end(struct tdm_wdevice *device)
{
	struct tdm_shrink *shrink = &device->shrink;
	if (shrink->all != NULL) {
		uint32_t *low = shrink->stage == TDM_SHRINK_SORT ? shrink->low : device->spare;
		device->spare = shrink->all;
		device->spare_cap = shrink->all_cap;
		tdm_block_free(is_small(device), low, shrink->low_cap * sizeof *low);
	}
	shrink->all = shrink->low = NULL;
	shrink->low_count = shrink->high_count = 0;
	shrink->stage = TDM_SHRINK_NONE;
}

/* Ends without a change: all free slots return to one stack, with those below the cut on top. */
static void give_up(struct tdm_wdevice *device)
{
	struct tdm_shrink *shrink = &device->shrink;
	bool is_sorting = shrink->stage == TDM_SHRINK_SORT;
	const uint32_t *low = is_sorting ? shrink->low : device->spare;
	struct tdm_quiet guard;
	uint32_t low_count = is_sorting ? shrink->low_count : device->spare_count;
	/* While sorting, the sorted slots fit in front of the unsorted ones. */
	uint32_t unsorted = is_sorting ? device->spare_count : 0;
	tdm_quiet_begin(&guard);
	memcpy(shrink->all + shrink->high_count, low, low_count * sizeof *low);
	device->spare_count = shrink->high_count + low_count + unsorted;
	end(device);
	shrink->keep_until = device->seq + device->slot_high;
	set_limit(device);
	tdm_quiet_end(&guard);
}

void tdm_wdevice_shrink_reset(struct tdm_wdevice *device)
{
	struct tdm_quiet guard;
	tdm_quiet_begin(&guard);
	end(device);
	device->spare_count = device->spare_limit = 0;
	tdm_quiet_end(&guard);
}

static void begin(struct tdm_wdevice *device)
{
	struct tdm_shrink *shrink = &device->shrink;
	struct tdm_quiet guard;
	tdm_quiet_begin(&guard);
	shrink->cut = piece_end((uint64_t)tdm_wdevice_live(device) * CUT_SHARE);
	/* Makes room for all slots, so that the stack need not grow while shrinking. */
	bool has_room = device->spare_cap >= device->slot_high || tdm_wdevice_spare_grow(device) == 0;
	uint32_t *low = has_room ? tdm_block_alloc(is_small(device), shrink->cut * sizeof *low) : NULL;
	if (low == NULL || device->spare_cap < device->slot_high) {
		tdm_block_free(is_small(device), low, shrink->cut * sizeof *low);
		shrink->keep_until = device->seq + device->slot_high;
	} else {
		shrink->low = low;
		shrink->low_cap = shrink->cut;
		shrink->all = device->spare;
		shrink->all_cap = device->spare_cap;
		shrink->stage = TDM_SHRINK_SORT;
		device->spare_limit = 0; /* so that every release does some of the work */
	}
	tdm_quiet_end(&guard);
}

static void begin_moving(struct tdm_wdevice *device)
{
	struct tdm_shrink *shrink = &device->shrink;
	struct tdm_quiet guard;
	bool is_tight = tdm_wdevice_live(device) > shrink->cut - shrink->cut / 4 || shrink->low_count < SPARE_MIN;
	tdm_quiet_begin(&guard);
	if (is_tight || tdm_slot_index_resize(&device->index, shrink->cut) != 0) {
		give_up(device);
	} else {
		device->spare = shrink->low;
		device->spare_cap = shrink->low_cap;
		device->spare_count = shrink->low_count;
		shrink->low = NULL;
		shrink->low_count = 0;
		shrink->moved_seq = 0;
		shrink->stage = TDM_SHRINK_MOVE;
	}
	tdm_quiet_end(&guard);
}

static void sort_some(struct tdm_wdevice *device)
{
	struct tdm_shrink *shrink = &device->shrink;
	uint32_t count = tdm_min(SORT_SLOTS, device->spare_count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t slot = device->spare[i];
		if (slot < shrink->cut)
			shrink->low[shrink->low_count++] = slot;
		else
			shrink->all[shrink->high_count++] = slot; /* never beyond the slot that was just read */
	}
	device->spare += count;
	device->spare_cap -= count;
	device->spare_count -= count;
	/* The index may not have finished growing. */
	for (unsigned i = 0; i < MOVE_BUCKETS && device->index.old.buckets != NULL; i++)
		tdm_slot_index_move(&device->index, tdm_wdevice_hash_of, device);
	if (device->spare_count == 0 && device->index.old.buckets == NULL)
		begin_moving(device);
}

/* Moves a buffer to a slot below the cut, using the next call's number. */
static uint32_t move_slot(struct tdm_wdevice *device, uint32_t from)
{
	struct tdm_shrink *shrink = &device->shrink;
	struct tdm_ledger_more *more, *old_more;
	struct tdm_ledger_slot *old = tdm_wdevice_slot(device, from, &old_more);
	uint32_t to = device->spare[--device->spare_count];
	struct tdm_ledger_slot *slot = tdm_wdevice_slot(device, to, &more), copy = *old;
	uint64_t number = device->seq + 1;
	tdm_store_pair(&slot->birth, TDM_LEDGER_SEQ_BUSY, 0);
	atomic_thread_fence(memory_order_release);
	memcpy(&slot->id, &copy.id, sizeof copy - offsetof(struct tdm_ledger_slot, id));
	*more = *old_more;
	tdm_store_release(&slot->birth, number);
	tdm_store_u64(&old->death, number);
	shrink->all[shrink->high_count++] = from;
	shrink->moved_seq = number;
	return to;
}

uint32_t tdm_wdevice_hash_of(void *context, uint32_t *slot, bool only_prefetch)
{
	struct tdm_wdevice *device = context;
	struct tdm_ledger_more *more;
	const struct tdm_ledger_slot *s = tdm_wdevice_slot(device, *slot, &more);
	if (only_prefetch) {
		__builtin_prefetch(s);
		return 0;
	}
	uint32_t hash = tdm_slot_hash(s->kind, s->id);
	if (device->shrink.stage == TDM_SHRINK_MOVE && *slot >= device->shrink.cut) {
		/* Slots vacated in this call must not be reused before it commits. There are enough other slots on
		 * top of them. */
		if (device->spare_count < SPARE_MIN)
			give_up(device);
		else
			*slot = move_slot(device, *slot);
	}
	return hash;
}

bool tdm_wdevice_shrink_some(struct tdm_wdevice *device)
{
	struct tdm_shrink *shrink = &device->shrink;
	const struct tdm_slot_table *old = &device->index.old;
	uint32_t enough = shrink->high_count + MOVE_SLOTS;
	bool has_moved = old->buckets != NULL;
	struct tdm_quiet guard;
	if (shrink->stage == TDM_SHRINK_NONE)
		return false;
	if (shrink->stage == TDM_SHRINK_SORT) {
		sort_some(device);
		return true;
	}
	if (shrink->stage == TDM_SHRINK_RELEASE) {
		if (give_back(device) != 0) {
			shrink->stage = TDM_SHRINK_NONE;
			set_limit(device);
		}
		return true;
	}
	for (unsigned i = 0; i < MOVE_BUCKETS && old->buckets != NULL && shrink->high_count < enough; i++)
		tdm_slot_index_move(&device->index, tdm_wdevice_hash_of, device);
	if (shrink->stage != TDM_SHRINK_MOVE || old->buckets != NULL)
		return has_moved;
	if (device->seq < shrink->moved_seq)
		return false;
	/* No slot at or above the cut is in use, and that state is committed. */
	tdm_quiet_begin(&guard);
	tdm_block_free(is_small(device), shrink->all, shrink->all_cap * sizeof *shrink->all);
	shrink->all = NULL;
	shrink->high_count = 0;
	shrink->stage = TDM_SHRINK_RELEASE;
	device->slot_high = shrink->cut;
	/* Stored after the commit: a reader that sees this value must not find a buffer above it. */
	atomic_store_explicit((_Atomic uint32_t *)&device->shared->slot_high, device->slot_high, memory_order_release);
	tdm_quiet_end(&guard);
	return true;
}

void tdm_wdevice_shrink_yield(struct tdm_wdevice *device)
{
	if (device->shrink.stage == TDM_SHRINK_SORT && device->index.old.buckets == NULL)
		begin_moving(device);
	if (device->spare_count == 0 && device->shrink.all != NULL)
		give_up(device);
}

__attribute__((cold, noinline)) void tdm_writer_give_far(struct tdm_wdevice *device, uint32_t slot)
{
	struct tdm_shrink *shrink = &device->shrink;
	if (shrink->stage == TDM_SHRINK_MOVE && slot >= shrink->cut)
		shrink->all[shrink->high_count++] = slot;
	else
		tdm_wdevice_push_spare(device, slot);
	if (shrink->stage != TDM_SHRINK_NONE) {
		tdm_wdevice_shrink_some(device);
		return;
	}
	set_limit(device);
	if (device->slot_high < SLOTS_MIN || tdm_wdevice_live(device) >= device->slot_high / FEW ||
		device->seq < shrink->keep_until)
		return;
	if (shrink->regrown_ns != 0 && tdm_clock_ns() - shrink->regrown_ns < KEEP_NS)
		shrink->keep_until = device->seq + LATER;
	else
		begin(device);
}
