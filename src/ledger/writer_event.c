/* The rare cases of reporting: refused reports, faults, and events that change no buffer. */
#include "ledger/writer_hot.h"
#include "base/number.h"

#include <string.h>

enum { DOUBLE_FREE_LOOK_BACK = 256 }; /* events to search to tell a double free from an unknown one */
#define cold __attribute__((cold, noinline))

/* Ticks until a report reads the clock to find out whether it is time to look at the file. */
#if defined(__x86_64__)
#define LOOK_TICKS (UINT64_C(1) << 29) /* half a second where the counter is slowest */
#else
#define LOOK_TICKS (UINT64_C(1) << 23)
#endif
#define LOOK_NS (TDM_NS_PER_S * 4 / 10)

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
 * Twice a second at most: writes the clocks to the header, and looks whether the file is still there, which is the only
 * system call of a warm report.
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

/* Counts the report of a view. A shared buffer is counted like one, but it is none. */
static void note_view(struct tdm_wdevice *device, uint32_t kind, uint32_t banks, uint32_t flags)
{
	struct tdm_ledger_faults *faults = &device->shared->faults[kind];
	if (banks == 0 && (flags & TDM_SLOT_SHARED) == 0)
		tdm_store_u64(&faults->views, faults->views + 1);
}

static void note_estimated(struct tdm_wdevice *device, uint32_t kind)
{
	struct tdm_ledger_faults *faults = &device->shared->faults[kind];
	tdm_store_u64(&faults->estimated, faults->estimated + 1);
}

/* Counts a view, a buffer without bytes of its own, or a shared buffer, whose bytes are counted separately. */
cold void tdm_writer_count_view(
	struct tdm_wdevice *device, uint32_t kind, uint64_t number, bool is_free, uint32_t flags)
{
	const struct tdm_ledger_now *was = device->now[kind];
	struct tdm_ledger_now *now = tdm_other_copy(device->now[kind]), *all = &device->l1_all;
	const tdm_pair one = { 0, is_free ? UINT64_MAX : 1 };
	tdm_pair bytes = *(const tdm_pair *)&was->bytes + one, bank = *(const tdm_pair *)&was->bank_bytes;
	tdm_begin_write(&now->seq);
	*(tdm_pair *)&now->bytes = bytes;
	*(tdm_pair *)&now->bank_bytes = bank;
	tdm_store_pair(&now->allocs, was->allocs + !is_free, was->alloc_bytes);
	now->alloc_asked = was->alloc_asked;
	tdm_store_release(&now->seq, number);
	device->now[kind] = now;
	if (!is_free)
		note_view(device, kind, 0, flags);
	if (tdm_is_above(device->limit[kind], bytes, bank))
		tdm_writer_raise_peak(device, kind, number, device->last_tsc, bytes, bank);
	if (tdm_is_in_l1(kind)) {
		bytes = *(tdm_pair *)&all->bytes += one;
		bank = *(const tdm_pair *)&all->bank_bytes;
		if (tdm_is_above(device->limit[TDM_LEDGER_L1_ALL], bytes, bank))
			tdm_writer_raise_peak(device, TDM_LEDGER_L1_ALL, number, device->last_tsc, bytes, bank);
	}
}

/* Totals since the start stay at their limit when they reach it. */
cold void tdm_writer_cap_totals(uint64_t *alloc_bytes, uint64_t *alloc_asked)
{
	const uint64_t most = (UINT64_C(1) << TDM_WRITER_SUM_BITS) - 1;
	*alloc_bytes = tdm_min(*alloc_bytes, most);
	*alloc_asked = tdm_min(*alloc_asked, most);
}

/* The position of a buffer in one table of the index. */
static struct tdm_index_pos find_in(const struct tdm_wdevice *device, struct tdm_slot_table *table, uint32_t kind,
	uint64_t id, uint32_t hash, struct tdm_ledger_slot **slot)
{
	uint32_t bucket = hash & table->mask;
	/* One round at most: `passed` is wrong once somebody else has written to slots. */
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

/* Makes sure of a spare slot; moves no buffer. 0 or -errno. */
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

/* What a buffer adds to the sums of its kind: nothing if it is a view. */
struct share {
	tdm_pair bytes_and_buffers, bank_and_asked;
};

static struct share share_of(uint64_t asked, uint64_t bank_bytes, uint32_t banks)
{
	return banks == 0 ? (struct share){ { 0, 1 }, { 0, 0 } }
			  : (struct share){ { bank_bytes * banks, 1 }, { bank_bytes, asked } };
}

/* Writes the next copy of a counter with one buffer in place of another; NULL: of none, because the new one is adopted.
 * False, with nothing changed, when the report or a sum is absurd. */
static bool count_replacement(struct tdm_wdevice *device, uint64_t number, uint64_t tsc, const struct share *old,
	const struct share *new, uint32_t kind)
{
	static const struct share nothing;
	old = old != NULL ? old : &nothing;
	const struct tdm_ledger_now *was = device->now[kind];
	struct tdm_ledger_now *now = tdm_other_copy(device->now[kind]), *all = &device->l1_all;
	tdm_pair bytes = *(const tdm_pair *)&was->bytes - old->bytes_and_buffers + new->bytes_and_buffers;
	tdm_pair bank = *(const tdm_pair *)&was->bank_bytes - old->bank_and_asked + new->bank_and_asked;
	uint64_t alloc_bytes = was->alloc_bytes + new->bytes_and_buffers[0];
	uint64_t alloc_asked = was->alloc_asked + new->bank_and_asked[1];
	if (old == &nothing ? !tdm_writer_adopt_peak(device, kind, number, tsc, bytes, bank, new->bytes_and_buffers[0])
			    : tdm_is_above(device->limit[kind], bytes, bank) &&
				      !tdm_writer_raise_peak(device, kind, number, tsc, bytes, bank))
		return false;
	tdm_writer_cap_totals(&alloc_bytes, &alloc_asked);
	tdm_begin_write(&now->seq);
	*(tdm_pair *)&now->bytes = bytes;
	*(tdm_pair *)&now->bank_bytes = bank;
	tdm_store_pair(&now->allocs, was->allocs + 1, alloc_bytes);
	now->alloc_asked = alloc_asked;
	tdm_store_release(&now->seq, number);
	device->now[kind] = now;
	if (!tdm_is_in_l1(kind))
		return true;
	bytes = *(tdm_pair *)&all->bytes += new->bytes_and_buffers - old->bytes_and_buffers;
	bank = *(tdm_pair *)&all->bank_bytes += new->bank_and_asked - old->bank_and_asked;
	if (tdm_is_above(device->limit[TDM_LEDGER_L1_ALL], bytes, bank))
		tdm_writer_raise_peak(device, TDM_LEDGER_L1_ALL, number, tsc, bytes, bank);
	return true;
}

static bool is_absurd(const struct tdm_report *r, const struct tdm_report_extra *extra)
{
	uint64_t reserved;
	return extra->banks != 0 && (__builtin_mul_overflow(extra->bank_bytes, (uint64_t)extra->banks, &reserved) ||
					    (reserved | extra->bank_bytes | r->asked) >> TDM_WRITER_BYTES_BITS != 0);
}

/*
 * A new report of a live buffer, whose release was not seen. The release and the allocation have two numbers and two
 * records, but one commit: readers see the old buffer or the new one. A report that is refused changes nothing.
 */
static int replace(struct tdm_wdevice *device, struct tdm_index_pos pos, struct tdm_ledger_slot *slot,
	const struct tdm_report *r, const struct tdm_report_extra *extra)
{
	struct tdm_ledger_faults *faults = &device->shared->faults[r->kind];
	uint32_t *entry = &pos.table->buckets[pos.bucket].slot[pos.at], old_number = *entry;
	uint64_t freed = device->seq + 1, number = device->seq + 2, tsc = tdm_clock_ticks();
	const struct share old = share_of(slot->asked, slot->bank_bytes, slot->banks);
	const struct share new = share_of(r->asked, extra->bank_bytes, extra->banks);
	const struct tdm_words words = tdm_words_of(r, extra->banks, extra->bank_bytes);
	if (have_spare(device) != 0)
		return tdm_writer_refuse(device, TDM_LOSS_SPACE, -ENOSPC);
	if (is_absurd(r, extra) || !count_replacement(device, number, tsc, &old, &new, r->kind))
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

/* Grows the index and makes sure of a spare slot: TDM_HAS_ROOM. */
static int make_room(struct tdm_wdevice *device)
{
	if (device->shrink.stage == TDM_SHRINK_MOVE)
		tdm_wdevice_shrink_some(device);
	uint32_t live = tdm_wdevice_live(device);
	if (tdm_slot_index_prepare(&device->index, live, tdm_wdevice_hash_of, device) != 0 || have_spare(device) != 0)
		return tdm_writer_refuse(device, TDM_LOSS_SPACE, -ENOSPC);
	return TDM_HAS_ROOM;
}

/* Replaces a buffer with this kind and id, or makes room for a new one: TDM_HAS_ROOM. */
cold int tdm_writer_alloc_far(
	struct tdm_wdevice *device, const struct tdm_report *r, const struct tdm_report_extra *extra, uint32_t hash)
{
	struct tdm_ledger_slot *slot;
	struct tdm_index_pos pos = find_buffer(device, r->kind, r->id, hash, &slot);
	if (pos.table != NULL)
		return replace(device, pos, slot, r, extra);
	return make_room(device);
}

/* A buffer from before the tracking began. */
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
	const struct share new = share_of(r->asked, extra->bank_bytes, extra->banks);
	const struct tdm_words words = tdm_words_of(r, extra->banks, extra->bank_bytes);
	if (is_absurd(r, extra) || !count_replacement(device, number, tsc, NULL, &new, r->kind))
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
 * A report with a name that this ledger does not know. If it was a name in an earlier one, the buffer is reported
 * without it; else the report is refused.
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
	if (err == 0 && (report->flags & TDM_SLOT_ESTIMATED) != 0)
		note_estimated(device, report->kind);
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
	/* The slot's own number changes when the buffer moves. */
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

/* Whether the last few events have the release of this buffer; stores its name. */
static bool was_freed_lately(const struct tdm_wdevice *device, uint32_t kind, uint64_t id, uint32_t *name)
{
	for (uint64_t back = 0; back < DOUBLE_FREE_LOOK_BACK && back < device->seq && back <= device->ring_mask;
		back++) {
		const struct tdm_ledger_record *r = &device->ring[(device->seq - 1 - back) & device->ring_mask];
		if (r->id == id && r->kind == kind && r->op == TDM_LEDGER_FREE) {
			*name = r->name;
			return true;
		}
	}
	return false;
}

/* Whether the parent had a buffer with this hash before the fork. Each counts once. */
static bool was_inherited(struct tdm_writer *writer, uint32_t hash)
{
	for (unsigned i = 0; i < writer->inherited_count; i++)
		if (tdm_slot_index_take_hash(&writer->inherited[i], hash))
			return true;
	return false;
}

cold int tdm_writer_bad_free(
	struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t id, uint32_t thread)
{
	struct tdm_ledger_faults *faults = &device->shared->faults[kind];
	enum tdm_entered how = tdm_wdevice_enter(device, self);
	if (how == TDM_NOT_ENTERED)
		return tdm_writer_refuse(device, TDM_LOSS_NESTED, -EBUSY);
	uint64_t number = device->seq + 1;
	if (was_inherited(device->writer, tdm_slot_hash(kind, id))) {
		atomic_fetch_add_explicit(
			(_Atomic uint64_t *)&device->writer->file.header->frees_inherited, 1, memory_order_relaxed);
	} else {
		struct tdm_report record = { .id = id, .kind = kind };
		uint64_t *count = was_freed_lately(device, kind, id, &record.name) ? &faults->double_frees
										   : &faults->unknown_frees;
		tdm_store_u64(count, *count + 1);
		device->last_tsc = tdm_clock_ticks();
		const struct tdm_words words = tdm_words_of(&record, 0, 0);
		tdm_put_record(device, number, device->last_tsc, TDM_LEDGER_BAD_FREE, &words, thread);
		tdm_commit(device, number);
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
	/* Downwards, because a release may move other buffers down, and give back the slots above them. */
	for (uint32_t i = device->slot_high; i-- > 0;) {
		struct tdm_ledger_more *more;
		if (i >= device->slot_high)
			continue;
		struct tdm_ledger_slot *slot = tdm_wdevice_slot(device, i, &more), *found = NULL;
		if (slot->birth == 0 || slot->death != 0 || slot->kind != kind)
			continue;
		uint64_t id = *(volatile uint64_t *)&slot->id; /* read once: others can write there */
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
		continue; /* what is left to do, as far as the releases account for the time */
	tdm_wdevice_leave(device, self, how);
	return count;
}

int tdm_writer_note(struct tdm_wdevice *device, struct tdm_wthread *self, enum tdm_ledger_op op,
	const struct tdm_report *report, uint32_t thread)
{
	enum tdm_entered how = tdm_wdevice_enter(device, self);
	if (how == TDM_NOT_ENTERED)
		return tdm_writer_refuse(device, TDM_LOSS_NESTED, -EBUSY);
	uint64_t number = device->seq + 1, tsc = tdm_clock_ticks();
	device->last_tsc = tsc;
	if (op == TDM_LEDGER_OOM) {
		struct tdm_ledger_faults *faults = &device->shared->faults[report->kind];
		tdm_store_u64(&faults->oom_bytes, report->asked);
		tdm_store_u64(&faults->oom_tsc, tsc);
		tdm_store_u64(&faults->out_of_memory, faults->out_of_memory + 1);
	}
	const struct tdm_words words = tdm_words_of(report, report->banks, report->bank_bytes);
	tdm_put_record(device, number, tsc, op, &words, thread);
	tdm_commit(device, number);
	tdm_wdevice_leave(device, self, how);
	return 0;
}
