/*
 * Gives back what a burst of buffers has left: the index, the stack of free slots and the pages of slots. It begins
 * when few of the slots are live, and goes on with a bounded piece of work in each report until it is done:
 *
 * 1. TDM_SHRINK_SORT: the free slots are sorted into those below `cut`, which stay, and the others. Meanwhile reports
 *    go on using free slots that have not been sorted yet.
 * 2. TDM_SHRINK_MOVE: the entries of the index move to a smaller one. A buffer in a slot from `cut` on moves to one
 *    below: its copy and the death of the old slot have the number of the next call, so the commit of that call moves
 *    the buffer for readers, and a kill before it leaves the buffer where it was.
 * 3. TDM_SHRINK_RELEASE: no slot from `cut` on is in use. Their pages go back to the file system.
 *
 * If the program allocates more than fits below `cut` in the meantime, everything stays as it was.
 */
#include "base/number.h"
#include "ledger/writer_hot.h"

#include <string.h>

enum {
	FEW = 8,           /* it begins when less than this part of the slots is live, */
	CUT_SHARE = 2,     /* and keeps this many slots for each live buffer */
	SLOTS_MIN = 6144,  /* with fewer slots it never begins */
	SORT_SLOTS = 128,  /* free slots to sort, */
	MOVE_BUCKETS = 16, /* buckets of the index to move, */
	MOVE_SLOTS = 8,    /* and buffers to move, in one report */
	SPARE_MIN = 16,    /* free slots that moving leaves for reports */
	LATER = 1024,      /* events between two looks at the clock */
};
#define KEEP_NS TDM_NS_PER_S /* for which pages are kept that had to be reserved again */

static bool is_small(const struct tdm_wdevice *device)
{
	return device->writer->file.is_on_behalf;
}

void tdm_wdevice_push_spare(struct tdm_wdevice *device, uint32_t slot)
{
	if (device->spare_count == device->spare_cap && tdm_wdevice_spare_grow(device) != 0)
		return; /* loses this one slot */
	device->spare[device->spare_count++] = slot;
}

/* Sets the number of free slots at which a release has to do more than add one. */
static void set_limit(struct tdm_wdevice *device)
{
	uint32_t many = device->slot_high - device->slot_high / FEW;
	device->spare_limit = device->slot_high < SLOTS_MIN ? device->spare_cap : tdm_min(device->spare_cap, many);
}

/* One stack of free slots again, which has room for all of them. Its count is the caller's to set. */
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

/* Ends without a change: all free slots go back to one stack, those below the cut on top. */
static void give_up(struct tdm_wdevice *device)
{
	struct tdm_shrink *shrink = &device->shrink;
	bool is_sorting = shrink->stage == TDM_SHRINK_SORT;
	const uint32_t *low = is_sorting ? shrink->low : device->spare;
	uint32_t low_count = is_sorting ? shrink->low_count : device->spare_count;
	/* While sorting, they fit in front of those that have not been sorted. */
	uint32_t unsorted = is_sorting ? device->spare_count : 0;
	memcpy(shrink->all + shrink->high_count, low, low_count * sizeof *low);
	device->spare_count = shrink->high_count + low_count + unsorted;
	end(device);
	shrink->keep_until = device->seq + device->slot_high;
	set_limit(device);
}

static void give_up_quietly(struct tdm_wdevice *device)
{
	struct tdm_quiet guard;
	tdm_quiet_begin(&guard);
	give_up(device);
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

/* Pages are reserved again that were given back: the next burst may follow soon, so these are kept for a while. */
void tdm_wdevice_shrink_regrown(struct tdm_wdevice *device)
{
	struct tdm_shrink *shrink = &device->shrink;
	if (device->slot_reserved <= shrink->most)
		shrink->regrown_ns = tdm_clock_ns();
	shrink->most = tdm_max(shrink->most, device->slot_reserved);
}

static void begin(struct tdm_wdevice *device)
{
	struct tdm_shrink *shrink = &device->shrink;
	struct tdm_quiet guard;
	tdm_quiet_begin(&guard);
	shrink->cut = tdm_wdevice_piece_end((uint64_t)tdm_wdevice_live(device) * CUT_SHARE);
	/* Room for all slots, so that the stack need not grow meanwhile. */
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
		device->spare_limit = 0; /* so that every release takes part */
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
			shrink->all[shrink->high_count++] = slot; /* never after the one that was read */
	}
	device->spare += count;
	device->spare_cap -= count;
	device->spare_count -= count;
	/* The index may still be growing. */
	for (unsigned i = 0; i < MOVE_BUCKETS && device->index.old.buckets != NULL; i++)
		tdm_slot_index_move(&device->index, tdm_wdevice_hash_of, device);
	if (device->spare_count == 0 && device->index.old.buckets == NULL)
		begin_moving(device);
}

/* Moves a buffer to a slot below the cut, with the number of the next call. */
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
		/* The slots of buffers that moved in this call must not be used again before it commits. There are
		 * enough others on top of them. */
		if (device->spare_count < SPARE_MIN)
			give_up_quietly(device);
		else
			*slot = move_slot(device, *slot);
	}
	return hash;
}

/* Nothing is in a slot from the cut on any more, and that is committed. */
static void end_moving(struct tdm_wdevice *device)
{
	struct tdm_shrink *shrink = &device->shrink;
	struct tdm_quiet guard;
	tdm_quiet_begin(&guard);
	tdm_block_free(is_small(device), shrink->all, shrink->all_cap * sizeof *shrink->all);
	shrink->all = NULL;
	shrink->high_count = 0;
	shrink->stage = TDM_SHRINK_RELEASE;
	device->slot_high = shrink->cut;
	/* After the commit: a reader that sees it must not find a buffer above it. */
	atomic_store_explicit((_Atomic uint32_t *)&device->shared->slot_high, device->slot_high, memory_order_release);
	tdm_quiet_end(&guard);
}

static bool move_some(struct tdm_wdevice *device)
{
	const struct tdm_shrink *shrink = &device->shrink;
	uint32_t enough = shrink->high_count + MOVE_SLOTS;
	bool has_moved = device->index.old.buckets != NULL;
	for (unsigned i = 0; i < MOVE_BUCKETS && device->index.old.buckets != NULL && shrink->high_count < enough; i++)
		tdm_slot_index_move(&device->index, tdm_wdevice_hash_of, device);
	if (shrink->stage != TDM_SHRINK_MOVE || device->index.old.buckets != NULL)
		return has_moved;
	if (device->seq < shrink->moved_seq)
		return false;
	end_moving(device);
	return true;
}

static void release_some(struct tdm_wdevice *device)
{
	if (tdm_wdevice_release(device) == 0)
		return;
	device->shrink.stage = TDM_SHRINK_NONE;
	set_limit(device);
}

bool tdm_wdevice_shrink_some(struct tdm_wdevice *device)
{
	switch (device->shrink.stage) {
	case TDM_SHRINK_SORT:
		sort_some(device);
		return true;
	case TDM_SHRINK_MOVE:
		return move_some(device);
	case TDM_SHRINK_RELEASE:
		release_some(device);
		return true;
	case TDM_SHRINK_NONE:
		break;
	}
	return false;
}

void tdm_wdevice_shrink_yield(struct tdm_wdevice *device)
{
	if (device->shrink.stage == TDM_SHRINK_SORT && device->index.old.buckets == NULL)
		begin_moving(device);
	if (device->spare_count == 0 && device->shrink.all != NULL)
		give_up_quietly(device);
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
