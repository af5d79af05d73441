/*
 * The rare cases of reporting: peaks, refused reports, faults, events that change no buffer, and the repair of a device
 * after a report that did not finish. writer_hot.h has the common cases.
 */
#include "ledger/write/writer_hot.h"
#include "base/number.h"

#include <string.h>

enum { DOUBLE_FREE_LOOK_BACK = 256 }; /* events to search in order to tell a double free from an unknown one */
#define cold __attribute__((cold, noinline))

/* Number of ticks after which a report reads the clock to find out whether the file is due for a check. */
#if defined(__x86_64__)
#define LOOK_TICKS (UINT64_C(1) << 29) /* half a second if the counter runs as slowly as possible */
#else
#define LOOK_TICKS (UINT64_C(1) << 23)
#endif
#define LOOK_NS (TDM_NS_PER_S * 4 / 10)

/*
 * ---- peaks ----
 *
 * Peaks since the start are in the ledger; peaks since a moment chosen by the program are in private memory. A report
 * compares its sums with the lower of the two (tdm_wdevice.limit), so the second peak costs nothing.
 */

/* Writes the next copy of a peak from the sums of a report, and returns it. `adopted` is added to the peak's numbers
 * of adopted buffers. */
static struct tdm_ledger_peak *next_peak(struct tdm_ledger_peak *was, uint64_t number, uint64_t tsc,
	tdm_pair bytes_and_buffers, tdm_pair bank_and_asked, tdm_pair adopted)
{
	struct tdm_ledger_peak *peak = tdm_other_copy(was);
	tdm_begin_write(&peak->seq);
	peak->bytes = tdm_max(was->bytes, bytes_and_buffers[0]);
	peak->buffers = tdm_max(was->buffers, bytes_and_buffers[1]);
	peak->bank_bytes = tdm_max(was->bank_bytes, bank_and_asked[0]);
	peak->asked_bytes = tdm_max(was->asked_bytes, bank_and_asked[1]);
	peak->tsc = bytes_and_buffers[0] > was->bytes ? tsc : was->tsc;
	peak->adopted = was->adopted + adopted[0];
	peak->adopted_bytes = tdm_min(was->adopted_bytes + adopted[1], (UINT64_C(1) << TDM_WRITER_SUM_BITS) - 1);
	tdm_store_release(&peak->seq, number);
	return peak;
}

static bool has_window(const struct tdm_wdevice *device, unsigned counter)
{
	const struct tdm_ledger_peak *limit = device->limit[counter];
	return device->window != NULL && (limit == &device->window[counter][0] || limit == &device->window[counter][1]);
}

/*
 * Raises a peak, and also the peak since the last reset, if there was one. Returns false and changes nothing if one
 * kind's sum would be absurd.
 */
static bool write_peak(struct tdm_wdevice *device, unsigned counter, uint64_t number, uint64_t tsc, tdm_pair bytes,
	tdm_pair bank, tdm_pair adopted)
{
	const bool was_reset = has_window(device, counter);
	if (counter != TDM_LEDGER_L1_ALL && (bytes[0] | bank[0] | bank[1]) >> TDM_WRITER_SUM_BITS != 0)
		return false;
	if (was_reset)
		device->limit[counter] = next_peak(device->limit[counter], number, tsc, bytes, bank, adopted);
	if (!was_reset || adopted[0] != 0 || tdm_is_above(device->peak[counter], bytes, bank))
		device->peak[counter] = next_peak(device->peak[counter], number, tsc, bytes, bank, adopted);
	if (!was_reset)
		device->limit[counter] = device->peak[counter];
	return true;
}

cold bool tdm_writer_raise_peak(struct tdm_wdevice *device, unsigned counter, uint64_t number, uint64_t tsc,
	tdm_pair bytes_and_buffers, tdm_pair bank_and_asked)
{
	return write_peak(device, counter, number, tsc, bytes_and_buffers, bank_and_asked, (tdm_pair){ 0 });
}

int tdm_writer_count(
	struct tdm_wdevice *device, struct tdm_wthread *self, unsigned kind, struct tdm_writer_figures *to, bool resets)
{
	enum tdm_entered how = tdm_wdevice_enter(device, self);
	if (how == TDM_NOT_ENTERED)
		return -EBUSY;
	to->now = *device->now[kind];
	to->peak = *device->peak[kind];
	to->window = *device->limit[kind];
	if (resets && device->window == NULL)
		device->window = tdm_private_alloc(TDM_WRITER_WINDOW_BYTES);
	int err = resets && device->window == NULL ? -ENOMEM : 0;
	if (resets && err == 0) { /* restarts at the current sums */
		const struct tdm_ledger_now *now = &to->now;
		struct tdm_ledger_peak *first = device->window[kind];
		first[1] = (struct tdm_ledger_peak){ 0 };
		first[0] = (struct tdm_ledger_peak){ device->seq, now->bytes, now->buffers, now->bank_bytes,
			now->asked_bytes, tdm_clock_ticks(), 0, 0 };
		device->limit[kind] = first;
	}
	tdm_wdevice_leave(device, self, how);
	return err;
}

/* ---- reports ---- */

void tdm_writer_lost(struct tdm_writer *writer, enum tdm_ledger_loss loss)
{
	atomic_fetch_add_explicit((_Atomic uint64_t *)&writer->file.header->lost[loss], 1, memory_order_relaxed);
}

cold int tdm_writer_refuse(struct tdm_wdevice *device, enum tdm_ledger_loss loss, int err)
{
	tdm_writer_lost(device->writer, loss);
	return err;
}

/*
 * At most twice a second, writes the clocks to the header and checks whether the file still exists. A warm report makes
 * no other system calls.
 */
cold void tdm_writer_look(struct tdm_wdevice *device)
{
	struct tdm_writer *writer = device->writer;
	uint64_t now = tdm_clock_ns();
	int caller_errno = errno;
	struct tdm_quiet guard;
	device->look_at = device->last_tsc + LOOK_TICKS;
	if (now < atomic_load_explicit(&writer->look_ns, memory_order_relaxed))
		return;
	tdm_quiet_begin(&guard);
	atomic_store_explicit(&writer->look_ns, now + LOOK_NS, memory_order_relaxed);
	tdm_ledger_file_clock(&writer->file);
	if (tdm_ledger_file_is_gone(&writer->file) && !atomic_exchange(&writer->is_gone, true) && writer->gone != NULL)
		writer->gone(writer);
	tdm_quiet_end(&guard);
	errno = caller_errno;
}

/* Counts a reported view. Shared buffers also come here, but are not views. */
static void note_view(struct tdm_wdevice *device, uint32_t kind, uint32_t banks, uint32_t flags)
{
	struct tdm_ledger_faults *faults = &device->shared->faults[kind];
	if (banks == 0 && (flags & TDM_SLOT_SHARED) == 0)
		tdm_store_u64(&faults->views, faults->views + 1);
}

/* Limits the totals since the start. */
cold void tdm_writer_cap_totals(uint64_t *alloc_bytes, uint64_t *alloc_asked)
{
	const uint64_t most = (UINT64_C(1) << TDM_WRITER_SUM_BITS) - 1;
	*alloc_bytes = tdm_min(*alloc_bytes, most);
	*alloc_asked = tdm_min(*alloc_asked, most);
}

bool tdm_writer_change(
	struct tdm_wdevice *device, uint32_t kind, uint64_t number, uint64_t tsc, const struct tdm_wchange *change)
{
	const struct tdm_ledger_now *was = device->now[kind];
	tdm_pair bytes = *(const tdm_pair *)&was->bytes + change->bytes_and_buffers;
	tdm_pair bank = *(const tdm_pair *)&was->bank_bytes + change->bank_and_asked;
	uint64_t alloc_bytes = was->alloc_bytes + change->alloc_bytes,
		 alloc_asked = was->alloc_asked + change->alloc_asked;
	const tdm_pair adopted = { change->is_adopted, change->is_adopted ? change->alloc_bytes : 0 };
	/* Adopted buffers are counted in the peak even if no sum rises. */
	if ((change->is_adopted || tdm_is_above(device->limit[kind], bytes, bank)) &&
		!write_peak(device, kind, number, tsc, bytes, bank, adopted))
		return false;
	tdm_writer_cap_totals(&alloc_bytes, &alloc_asked);
	tdm_put_counter(device, kind, number, bytes, bank, change->allocs, alloc_bytes, alloc_asked);
	tdm_change_l1(device, kind, number, tsc, change->bytes_and_buffers, change->bank_and_asked);
	return true;
}

/* Counts a view, which has no bytes of its own, or a shared buffer, whose bytes are counted separately. */
cold void tdm_writer_count_view(
	struct tdm_wdevice *device, uint32_t kind, uint64_t number, bool is_free, uint32_t flags)
{
	const struct tdm_wchange change = { .bytes_and_buffers = { 0, is_free ? UINT64_MAX : 1 }, .allocs = !is_free };
	tdm_writer_change(device, kind, number, device->last_tsc, &change);
	if (!is_free)
		note_view(device, kind, 0, flags);
}

/* The position of a buffer in one table of the index. */
static struct tdm_index_pos find_in(const struct tdm_wdevice *device, struct tdm_slot_table *table, uint32_t kind,
	uint64_t id, uint32_t hash, struct tdm_ledger_slot **slot)
{
	uint32_t bucket = hash & table->mask;
	/* Goes round the table only once: if another process has written to slots, `passed` may be wrong. */
	for (uint32_t left = table->mask;; bucket = (bucket + 1) & table->mask, left--) {
		const struct tdm_bucket *b = &table->buckets[bucket];
		for (uint32_t hits = tdm_tag_find(b, tdm_slot_tag(hash)); hits != 0; hits &= hits - 1) {
			unsigned at = (unsigned)__builtin_ctz(hits);
			struct tdm_ledger_more *more;
			struct tdm_ledger_slot *s = tdm_wdevice_slot(device, b->slot[at], &more);
			if (s->id == id && s->kind == kind) {
				*slot = s;
				return (struct tdm_index_pos){ table, bucket, at };
			}
		}
		if (b->passed == 0 || left == 0)
			return (struct tdm_index_pos){ 0 };
	}
}

static struct tdm_index_pos find_buffer(
	struct tdm_wdevice *device, uint32_t kind, uint64_t id, uint32_t hash, struct tdm_ledger_slot **slot)
{
	struct tdm_index_pos pos = find_in(device, &device->index.now, kind, id, hash, slot);
	if (pos.table == NULL && device->index.old.buckets != NULL)
		pos = find_in(device, &device->index.old, kind, id, hash, slot);
	return pos;
}

static void free_found(struct tdm_wdevice *device, struct tdm_index_pos pos, uint32_t hash,
	struct tdm_ledger_slot *slot, uint32_t kind)
{
	uint32_t slot_number = pos.table->buckets[pos.bucket].slot[pos.at];
	tdm_slot_index_erase(pos, hash);
	tdm_free_slot(device, slot_number, slot, kind);
}

cold int tdm_writer_free_far(struct tdm_wdevice *device, uint32_t kind, uint64_t id, uint32_t hash)
{
	struct tdm_ledger_slot *slot;
	struct tdm_index_pos pos = find_buffer(device, kind, id, hash, &slot);
	if (pos.table == NULL)
		return -ENOENT;
	free_found(device, pos, hash, slot, kind);
	return 0;
}

/* Makes sure that there is a spare slot, without moving any buffer. 0 or -errno. */
static int have_spare(struct tdm_wdevice *device)
{
	if (device->spare_count == 0)
		tdm_wdevice_shrink_yield(device);
	if (device->spare_count != 0)
		return 0;
	int err = device->slot_high == device->slot_reserved ? tdm_wdevice_grow(device) : 0;
	if (err != 0)
		return err;
	device->spare[device->spare_count++] = device->slot_high++;
	atomic_store_explicit((_Atomic uint32_t *)&device->shared->slot_high, device->slot_high, memory_order_relaxed);
	return 0;
}

/* A new buffer's contribution to its kind's counters: no bytes if it is a view. */
static struct tdm_wchange addition_of(const struct tdm_report *r, const struct tdm_report_extra *extra)
{
	uint64_t bytes = extra->bank_bytes * extra->banks;
	return extra->banks == 0 ? (struct tdm_wchange){ .bytes_and_buffers = { 0, 1 }, .allocs = 1 }
				 : (struct tdm_wchange){ .bytes_and_buffers = { bytes, 1 },
					   .bank_and_asked = { extra->bank_bytes, r->asked },
					   .allocs = 1,
					   .alloc_bytes = bytes,
					   .alloc_asked = r->asked };
}

static bool is_absurd(const struct tdm_report *r, const struct tdm_report_extra *extra)
{
	uint64_t reserved;
	return extra->banks != 0 && (__builtin_mul_overflow(extra->bank_bytes, (uint64_t)extra->banks, &reserved) ||
					    (reserved | extra->bank_bytes | r->asked) >> TDM_WRITER_BYTES_BITS != 0);
}

/*
 * A live buffer was reported again, so its release was missed. The release and the allocation have two numbers and two
 * records, but one commit: readers see either the old buffer or the new one. A refused report changes nothing.
 */
static int replace(struct tdm_wdevice *device, struct tdm_index_pos pos, struct tdm_ledger_slot *slot,
	const struct tdm_report *r, const struct tdm_report_extra *extra)
{
	struct tdm_ledger_faults *faults = &device->shared->faults[r->kind];
	uint32_t *entry = &pos.table->buckets[pos.bucket].slot[pos.at], old_number = *entry;
	uint64_t freed = device->seq + 1, number = device->seq + 2, tsc = tdm_clock_ticks();
	struct tdm_wchange change = addition_of(r, extra);
	change.bytes_and_buffers -= (tdm_pair){ slot->bank_bytes * slot->banks, 1 };
	change.bank_and_asked -= slot->banks != 0 ? (tdm_pair){ slot->bank_bytes, slot->asked } : (tdm_pair){ 0 };
	const struct tdm_words words = tdm_words_of(r, extra->banks, extra->bank_bytes);
	if (have_spare(device) != 0)
		return tdm_writer_refuse(device, TDM_LOSS_SPACE, -ENOSPC);
	if (is_absurd(r, extra) || !tdm_writer_change(device, r->kind, number, tsc, &change))
		return tdm_writer_refuse(device, TDM_LOSS_INVALID, -EINVAL);
	if (extra->old != NULL)
		*extra->old = *slot;
	if (!extra->replaces)
		tdm_store_u64(&faults->rereports, faults->rereports + 1);
	note_view(device, r->kind, extra->banks, r->flags);
	tdm_store_u64(&slot->death, freed);
	uint32_t slot_number = device->spare[--device->spare_count];
	tdm_fill_slot(device, slot_number, number, tsc, &words, r, extra);
	*entry = slot_number;
	tdm_put_free_record(device, freed, tsc, slot, r->kind);
	tdm_put_record(device, number, tsc, TDM_LEDGER_ALLOC, &words, slot_number);
	device->last_tsc = tsc;
	tdm_commit(device, number);
	tdm_give_slot(device, old_number);
	return 0;
}

/* Makes room in the index, and a spare slot. Returns TDM_HAS_ROOM or -errno. */
static int make_room(struct tdm_wdevice *device)
{
	if (device->shrink.stage == TDM_SHRINK_MOVE)
		tdm_wdevice_shrink_some(device);
	uint32_t live = tdm_wdevice_live(device);
	if (tdm_slot_index_prepare(&device->index, live, tdm_wdevice_hash_of, device) != 0 || have_spare(device) != 0)
		return tdm_writer_refuse(device, TDM_LOSS_SPACE, -ENOSPC);
	return TDM_HAS_ROOM;
}

/* Replaces the buffer with this kind and id, or makes room for a new buffer and returns TDM_HAS_ROOM. */
cold int tdm_writer_alloc_far(
	struct tdm_wdevice *device, const struct tdm_report *r, const struct tdm_report_extra *extra, uint32_t hash)
{
	struct tdm_ledger_slot *slot;
	struct tdm_index_pos pos = find_buffer(device, r->kind, r->id, hash, &slot);
	if (pos.table != NULL)
		return replace(device, pos, slot, r, extra);
	return make_room(device);
}

/* Records a buffer allocated before tracking began. */
static int adopt_inside(
	struct tdm_wdevice *device, const struct tdm_report *r, const struct tdm_report_extra *extra, uint32_t hash)
{
	struct tdm_ledger_slot *slot;
	if (!tdm_blob_is_text(device->texts, r->name))
		return tdm_writer_alloc_unnamed(device, r, extra, hash);
	if (find_buffer(device, r->kind, r->id, hash, &slot).table != NULL)
		return -EEXIST;
	int err = make_room(device);
	if (err != TDM_HAS_ROOM)
		return err;
	uint64_t number = device->seq + 1, tsc = tdm_clock_ticks();
	struct tdm_wchange change = addition_of(r, extra);
	change.is_adopted = true;
	const struct tdm_words words = tdm_words_of(r, extra->banks, extra->bank_bytes);
	if (is_absurd(r, extra) || !tdm_writer_change(device, r->kind, number, tsc, &change))
		return tdm_writer_refuse(device, TDM_LOSS_INVALID, -EINVAL);
	note_view(device, r->kind, extra->banks, r->flags);
	uint32_t slot_number = device->spare[--device->spare_count];
	tdm_fill_slot(device, slot_number, number, 0, &words, r, extra);
	tdm_slot_index_put(&device->index, hash, slot_number);
	tdm_put_record(device, number, tsc, TDM_LEDGER_ALLOC, &words, slot_number);
	device->last_tsc = tsc;
	tdm_commit(device, number);
	return 0;
}

static int alloc_or_adopt(
	struct tdm_wdevice *device, const struct tdm_report *r, const struct tdm_report_extra *extra, uint32_t hash)
{
	return (r->flags & TDM_SLOT_ADOPTED) != 0 ? adopt_inside(device, r, extra, hash)
						  : tdm_alloc_inside(device, r, extra, hash);
}

/*
 * Handles a report with a name unknown to this ledger. If it was a name in an earlier ledger, the buffer is recorded
 * without a name; otherwise the report is refused.
 */
cold int tdm_writer_alloc_unnamed(
	struct tdm_wdevice *device, const struct tdm_report *r, const struct tdm_report_extra *extra, uint32_t hash)
{
	struct tdm_report unnamed = *r;
	if (!tdm_blob_was_text(r->name))
		return tdm_writer_refuse(device, TDM_LOSS_INVALID, -EINVAL);
	unnamed.name = 0;
	tdm_writer_lost(device->writer, TDM_LOSS_TEXT);
	return alloc_or_adopt(device, &unnamed, extra, hash);
}

cold int tdm_writer_alloc_cold(struct tdm_wdevice *device, struct tdm_wthread *self, const struct tdm_report *report,
	const struct tdm_report_extra *extra)
{
	uint32_t hash = tdm_writer_hint(device, report->kind, report->id);
	enum tdm_entered how = tdm_wdevice_enter(device, self);
	if (how == TDM_NOT_ENTERED)
		return tdm_writer_refuse(device, TDM_LOSS_NESTED, -EBUSY);
	int err = alloc_or_adopt(device, report, extra, hash);
	if (err == 0 && (report->flags & TDM_SLOT_ESTIMATED) != 0) {
		struct tdm_ledger_faults *faults = &device->shared->faults[report->kind];
		tdm_store_u64(&faults->estimated, faults->estimated + 1);
	}
	if (err == 0 && (report->flags & TDM_SLOT_ADOPTED) == 0 &&
		atomic_load_explicit(&device->runtime, memory_order_relaxed) != NULL)
		tdm_wruntime_note_alloc(device, report, extra);
	tdm_wdevice_leave(device, self, how);
	return err;
}

cold int tdm_writer_free_cold(
	struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t id, struct tdm_ledger_slot *freed)
{
	struct tdm_ledger_slot *slot;
	uint32_t hash = tdm_slot_hash(kind, id);
	enum tdm_entered how = tdm_wdevice_enter(device, self);
	if (how == TDM_NOT_ENTERED)
		return tdm_writer_refuse(device, TDM_LOSS_NESTED, -EBUSY);
	struct tdm_index_pos pos = find_buffer(device, kind, id, hash, &slot);
	if (pos.table != NULL) {
		if (freed != NULL)
			*freed = *slot;
		free_found(device, pos, hash, slot, kind);
	}
	tdm_wdevice_leave(device, self, how);
	return pos.table != NULL ? 0 : -ENOENT;
}

struct tdm_ledger_slot *tdm_wdevice_find(
	struct tdm_wdevice *device, uint32_t kind, uint64_t id, struct tdm_ledger_more **more)
{
	struct tdm_ledger_slot *slot;
	struct tdm_index_pos pos = find_buffer(device, kind, id, tdm_slot_hash(kind, id), &slot);
	/* Read from the index, because the buffer may have moved to another slot. */
	return pos.table != NULL ? tdm_wdevice_slot(device, pos.table->buckets[pos.bucket].slot[pos.at], more) : NULL;
}

uint64_t tdm_writer_birth(struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t id)
{
	struct tdm_ledger_more *more;
	enum tdm_entered how = tdm_wdevice_enter(device, self);
	if (how == TDM_NOT_ENTERED)
		return 0;
	uint64_t tsc = tdm_wdevice_find(device, kind, id, &more) != NULL ? more->tsc : 0;
	tdm_wdevice_leave(device, self, how);
	return tsc;
}

/* The release of this buffer among the last few events; NULL if it is not among them. */
static const struct tdm_ledger_record *find_release(const struct tdm_wdevice *device, uint32_t kind, uint64_t id)
{
	uint64_t most = tdm_min(tdm_min(device->seq, device->ring_mask + 1), DOUBLE_FREE_LOOK_BACK);
	for (uint64_t back = 0; back < most; back++) {
		const struct tdm_ledger_record *r = &device->ring[(device->seq - 1 - back) & device->ring_mask];
		if (r->id == id && r->kind == kind && r->op == TDM_LEDGER_FREE)
			return r;
	}
	return NULL;
}

cold int tdm_writer_bad_free(
	struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t id, uint32_t thread)
{
	struct tdm_ledger_faults *faults = &device->shared->faults[kind];
	enum tdm_entered how = tdm_wdevice_enter(device, self);
	if (how == TDM_NOT_ENTERED)
		return tdm_writer_refuse(device, TDM_LOSS_NESTED, -EBUSY);
	struct tdm_writer *writer = device->writer;
	/* the parent had a buffer with this hash before the fork; each such buffer is counted once */
	bool was_inherited = false;
	for (unsigned i = 0; i < writer->inherited_count && !was_inherited; i++)
		was_inherited = tdm_slot_index_take_hash(&writer->inherited[i], tdm_slot_hash(kind, id));
	if (was_inherited) {
		atomic_fetch_add_explicit(
			(_Atomic uint64_t *)&writer->file.header->frees_inherited, 1, memory_order_relaxed);
	} else {
		const struct tdm_ledger_record *release = find_release(device, kind, id);
		const struct tdm_report record = {
			.id = id, .kind = kind, .name = release != NULL ? release->name : 0
		};
		uint64_t *count = release != NULL ? &faults->double_frees : &faults->unknown_frees;
		tdm_store_u64(count, *count + 1);
		const struct tdm_words words = tdm_words_of(&record, 0, 0);
		tdm_commit_record(device, tdm_clock_ticks(), TDM_LEDGER_BAD_FREE, &words, thread);
	}
	tdm_wdevice_leave(device, self, how);
	return -ENOENT;
}

int64_t tdm_writer_free_all(struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t mask,
	uint64_t wanted, void (*freed)(uint32_t kind, uint64_t asked, uint64_t bank_bytes, bool is_view))
{
	int64_t count = 0;
	enum tdm_entered how = tdm_wdevice_enter(device, self);
	if (how == TDM_NOT_ENTERED)
		return tdm_writer_refuse(device, TDM_LOSS_NESTED, -EBUSY);
	/* Goes downwards, because a release may move other buffers to lower slots and return the slots above. */
	for (uint32_t i = device->slot_high; i-- > 0;) {
		struct tdm_ledger_more *more;
		if (i >= device->slot_high)
			continue;
		struct tdm_ledger_slot *slot = tdm_wdevice_slot(device, i, &more), *found = NULL;
		if (slot->birth == 0 || slot->death != 0 || slot->kind != kind)
			continue;
		/* read only once, because other processes can write there */
		uint64_t id = *(volatile uint64_t *)&slot->id;
		uint32_t hash = tdm_slot_hash(kind, id);
		if ((id & mask) != wanted)
			continue;
		struct tdm_index_pos pos = find_buffer(device, kind, id, hash, &found);
		if (pos.table == NULL || found != slot)
			continue;
		if (freed != NULL)
			freed(kind, slot->asked, slot->bank_bytes, tdm_slot_is_view(slot->banks, slot->flags));
		free_found(device, pos, hash, slot, kind);
		count++;
	}
	for (int64_t i = 0; i < count && tdm_wdevice_shrink_some(device); i++)
		continue; /* does the shrinking work that the releases would have done */
	tdm_wdevice_leave(device, self, how);
	return count;
}

int tdm_writer_note(struct tdm_wdevice *device, struct tdm_wthread *self, enum tdm_ledger_op op,
	const struct tdm_report *report, uint32_t thread)
{
	enum tdm_entered how = tdm_wdevice_enter(device, self);
	if (how == TDM_NOT_ENTERED)
		return tdm_writer_refuse(device, TDM_LOSS_NESTED, -EBUSY);
	uint64_t tsc = tdm_clock_ticks();
	if (op == TDM_LEDGER_OOM) {
		struct tdm_ledger_faults *faults = &device->shared->faults[report->kind];
		tdm_store_u64(&faults->oom_bytes, report->asked);
		tdm_store_u64(&faults->oom_tsc, tsc);
		tdm_store_u64(&faults->out_of_memory, faults->out_of_memory + 1);
	}
	const struct tdm_words words = tdm_words_of(report, report->banks, report->bank_bytes);
	tdm_commit_record(device, tsc, op, &words, thread);
	tdm_wdevice_leave(device, self, how);
	return 0;
}

/*
 * ---- repair ----
 *
 * Rebuilds the private state of a device from what was committed: after a report that did not end, or by a new writer.
 */

/* The newer committed one of two copies. Readers ignore an uncommitted copy, and must continue to do so. */
static void *committed_copy(void *copies, uint64_t seq)
{
	uint64_t *a = copies, *b = tdm_other_copy(copies);
	uint64_t *newer = *b <= seq && (*a > seq || *b > *a) ? b : a, *other = tdm_other_copy(newer);
	if (*newer > seq)
		memset(newer, 0, TDM_CACHE_LINE);
	if (*other > seq)
		tdm_store_u64(other, TDM_LEDGER_SEQ_BUSY);
	return newer;
}

/* Puts a slot into the index, or among the spare slots. Uncommitted changes are ignored. */
static int repair_slot(struct tdm_wdevice *device, uint32_t number, size_t *live)
{
	struct tdm_ledger_more *more;
	struct tdm_ledger_slot *slot = tdm_wdevice_slot(device, number, &more);
	if (slot->birth == 0 || slot->birth > device->seq || (slot->death != 0 && slot->death <= device->seq)) {
		if (slot->birth > device->seq)
			tdm_store_u64(&slot->birth, 0);
		tdm_wdevice_push_spare(device, number);
		return 0;
	}
	tdm_store_u64(&slot->death, 0);
	int err = tdm_slot_index_prepare(&device->index, (*live)++, tdm_wdevice_hash_of, device);
	if (err == 0)
		tdm_slot_index_put(&device->index, tdm_slot_hash(slot->kind, slot->id), number);
	return err;
}

cold int tdm_wdevice_rebuild(struct tdm_wdevice *device)
{
	size_t live = 0;
	struct tdm_ledger_now sums[TDM_KIND_COUNT] = { 0 };
	tdm_slot_index_done(&device->index);
	int err = tdm_slot_index_init(&device->index, device->writer->file.is_on_behalf);
	if (err != 0)
		return err;
	tdm_wdevice_shrink_reset(device);
	memset(&device->l1_all, 0, sizeof device->l1_all);
	for (unsigned kind = 0; kind < TDM_KIND_COUNT; kind++) {
		struct tdm_ledger_now *now = committed_copy(device->shared->now[kind], device->seq);
		device->now[kind] = now;
		if (!tdm_is_in_l1(kind))
			continue;
		device->l1_all.bytes += now->bytes;
		device->l1_all.buffers += now->buffers;
		device->l1_all.bank_bytes += now->bank_bytes;
		device->l1_all.asked_bytes += now->asked_bytes;
	}
	/* After an interrupted report, the committed peaks are valid. */
	for (unsigned i = 0; i < TDM_LEDGER_COUNTERS; i++) {
		device->peak[i] = committed_copy(device->shared->peak[i], device->seq);
		device->limit[i] =
			has_window(device, i) ? committed_copy(device->window[i], device->seq) : device->peak[i];
	}
	for (uint32_t i = device->slot_high; i-- > 0 && err == 0;)
		err = repair_slot(device, i, &live);
	/* The part of the counters that is not a sum over buffers. */
	bool has_sums = device->shared_kinds != 0 && tdm_wdevice_sums(device, sums);
	for (unsigned k = 0; k < TDM_KIND_COUNT && has_sums; k++)
		if ((device->shared_kinds >> k & 1) != 0) {
			device->common[k][0] = device->now[k]->bytes - sums[k].bytes;
			device->common[k][1] = device->now[k]->bank_bytes - sums[k].bank_bytes;
		}
	if (err == 0)
		atomic_store_explicit(
			(_Atomic uint32_t *)&device->shared->slot_high, device->slot_high, memory_order_relaxed);
	return err;
}

cold int tdm_wdevice_repair(struct tdm_wdevice *device)
{
	const struct tdm_ledger_device *shared = device->shared;
	if (shared->seq - device->seq <= 2)
		device->seq = shared->seq; /* the last report was committed */
	int err = tdm_wdevice_rebuild(device);
	if (err != 0)
		return err; /* the device remains torn */
	device->is_torn = false;
	tdm_writer_lost(device->writer, TDM_LOSS_NESTED);
	return 0;
}
