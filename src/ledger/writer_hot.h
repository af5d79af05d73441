/*
 * The hot path: what happens on every allocation and release. One probe of the index, one slot, one ring record, one or
 * two counter lines; no system call, no memory allocation and no atomic read-modify-write, unless the ledger has to
 * grow or threads meet on a device. It is a header, so that it is compiled into the public functions and a report goes
 * from the caller's structure to the ledger without a stop in between.
 *
 * What it waits for, with many buffers live, is memory: a line of the index, then a slot. So the index line is asked
 * for before anything else is done, and nothing that does not need it stands in the way.
 */
#ifndef TDM_LEDGER_WRITER_HOT_H
#define TDM_LEDGER_WRITER_HOT_H

#include "base/clock.h"
#include "ledger/writer.h"

#include <errno.h>
#include <string.h>

#define tdm_hot         static inline __attribute__((always_inline))
#define tdm_likely(x)   __builtin_expect(!!(x), 1)
#define tdm_unlikely(x) __builtin_expect(!!(x), 0)

enum { TDM_WRITER_CLOCK_EVERY = 1 << 16 }; /* reports between two readings of the clocks */
enum { TDM_WRITER_SUM_BITS = 60 };         /* of sums of bytes */

/* The cold side (writer_event.c). */
void tdm_writer_raise_peak(struct tdm_wdevice *device, unsigned counter, uint64_t number, uint64_t tsc);
void tdm_writer_count_view(struct tdm_wdevice *device, uint32_t kind, uint64_t number, bool is_free);
bool tdm_writer_cap_totals(const struct tdm_ledger_now *sums, uint64_t *alloc_bytes, uint64_t *alloc_asked);
void tdm_writer_replace(struct tdm_wdevice *device, uint32_t kind, uint64_t id, uint32_t thread, bool on_purpose);
int tdm_writer_refuse(struct tdm_wdevice *device, enum tdm_ledger_loss loss, int err);
uint32_t tdm_writer_hash_of_slot(const void *device, uint32_t slot, bool only_prefetch);

/* Copies of a counter lie side by side, each one cache line, aligned to both. */
tdm_hot void *tdm_other_copy(void *copy)
{
	return (void *)((uintptr_t)copy ^ TDM_CACHE_LINE);
}

tdm_hot void tdm_store_u64(uint64_t *to, uint64_t value)
{
	atomic_store_explicit((_Atomic uint64_t *)to, value, memory_order_relaxed);
}

tdm_hot void tdm_store_release(uint64_t *to, uint64_t value)
{
	atomic_store_explicit((_Atomic uint64_t *)to, value, memory_order_release);
}

/* Marks something as being written; nothing of what follows may be seen before the mark. */
tdm_hot void tdm_begin_write(uint64_t *seq)
{
	tdm_store_u64(seq, TDM_LEDGER_SEQ_BUSY);
	atomic_thread_fence(memory_order_release);
}

tdm_hot bool tdm_is_in_l1(uint32_t kind)
{
	enum { OUTSIDE = 1u << TDM_KIND_DRAM | 1u << TDM_KIND_TRACE | 1u << TDM_KIND_SYSTEM };
	return (OUTSIDE >> kind & 1) == 0;
}

tdm_hot struct tdm_ledger_record *tdm_record_at(const struct tdm_wdevice *device, uint64_t number)
{
	return &device->ring[(number - 1) & (TDM_LEDGER_RING - 1)];
}

/* Two neighbouring fields of 32 bits with one store: wide stores are fewer, and the processor has room for so many
 * only. */
tdm_hot void tdm_store_word(uint32_t *fields, uint32_t low, uint32_t high)
{
	uint64_t word = (uint64_t)high << 32 | low;
	memcpy(fields, &word, sizeof word);
}

tdm_hot void tdm_put_small(struct tdm_ledger_record *record, uint32_t banks, uint32_t name, uint32_t thread,
	enum tdm_ledger_op op, uint32_t kind, uint32_t flags)
{
	static_assert(offsetof(struct tdm_ledger_record, banks) == 48 &&
			      offsetof(struct tdm_ledger_record, name) == 52 &&
			      offsetof(struct tdm_ledger_record, thread) == 56 &&
			      offsetof(struct tdm_ledger_record, op) == 60 &&
			      offsetof(struct tdm_ledger_record, kind) == 61 &&
			      offsetof(struct tdm_ledger_record, flags) == 62,
		"the words are put together as the fields lie");
	tdm_store_word(&record->banks, banks, name);
	tdm_store_word(&record->thread, thread, flags << 16 | kind << 8 | (uint32_t)op);
}

tdm_hot void tdm_put_record(struct tdm_wdevice *device, uint64_t number, uint64_t tsc, enum tdm_ledger_op op,
	const struct tdm_report *report, uint32_t banks, uint32_t thread)
{
	struct tdm_ledger_record *record = tdm_record_at(device, number);
	tdm_begin_write(&record->seq);
	record->tsc = tsc;
	record->id = report->id;
	record->address = report->address;
	record->asked = report->asked;
	record->bank_bytes = report->bank_bytes;
	tdm_put_small(record, banks, report->name, thread, op, report->kind, report->flags & UINT8_MAX);
	tdm_store_release(&record->seq, number);
}

tdm_hot void tdm_put_free_record(struct tdm_wdevice *device, uint64_t number, uint64_t tsc,
	const struct tdm_ledger_slot *slot, uint32_t kind, uint32_t thread)
{
	struct tdm_ledger_record *record = tdm_record_at(device, number);
	enum { FOUR_WORDS = 4 * sizeof(uint64_t) };
	static_assert(offsetof(struct tdm_ledger_slot, id) == offsetof(struct tdm_ledger_record, id) &&
			      offsetof(struct tdm_ledger_slot, tsc) == offsetof(struct tdm_ledger_record, banks),
		"id, address, asked and bank_bytes lie in the same places");
	tdm_begin_write(&record->seq);
	record->tsc = tsc;
	memcpy(&record->id, &slot->id, FOUR_WORDS);
	tdm_put_small(record, slot->banks, 0, thread, TDM_LEDGER_FREE, kind, slot->flags);
	tdm_store_release(&record->seq, number);
}

/*
 * The next copy of a counter with a buffer added. False, and nothing has changed, when the report or the sums would be
 * absurd: a limit far above any device, at which the sums of all kinds still fit. The totals since the start stay at
 * that limit when they reach it.
 */
tdm_hot bool tdm_count_alloc(
	struct tdm_wdevice *device, uint64_t number, uint64_t tsc, const struct tdm_report *r, uint32_t banks)
{
	enum { BYTES_BITS = 56, SUM_BITS = TDM_WRITER_SUM_BITS };
	const struct tdm_ledger_now *was = device->now[r->kind];
	struct tdm_ledger_now *now = tdm_other_copy(device->now[r->kind]);
	const struct tdm_ledger_peak *peak = device->peak[r->kind];
	unsigned __int128 product = (unsigned __int128)r->bank_bytes * banks;
	uint64_t reserved = (uint64_t)product, bytes = was->bytes + reserved, buffers = was->buffers + 1;
	uint64_t bank = was->bank_bytes + r->bank_bytes, asked = was->asked_bytes + r->asked;
	uint64_t alloc_bytes = was->alloc_bytes + reserved, alloc_asked = was->alloc_asked + r->asked;
	if (tdm_unlikely(((uint64_t)(product >> 64) | (reserved | r->bank_bytes | r->asked) >> BYTES_BITS |
				 (bytes | bank | asked | alloc_bytes | alloc_asked) >> SUM_BITS) != 0)) {
		struct tdm_ledger_now sums = { .bytes = bytes, .bank_bytes = bank, .asked_bytes = asked };
		if (((uint64_t)(product >> 64) | (reserved | r->bank_bytes | r->asked) >> BYTES_BITS) != 0 ||
			!tdm_writer_cap_totals(&sums, &alloc_bytes, &alloc_asked))
			return false;
	}
	tdm_begin_write(&now->seq);
	now->bytes = bytes;
	now->buffers = buffers;
	now->bank_bytes = bank;
	now->asked_bytes = asked;
	now->allocs = was->allocs + 1;
	now->alloc_bytes = alloc_bytes;
	now->alloc_asked = alloc_asked;
	tdm_store_release(&now->seq, number);
	device->now[r->kind] = now;
	if (tdm_unlikely(bytes > peak->bytes || buffers > peak->buffers || bank > peak->bank_bytes ||
			 asked > peak->asked_bytes))
		tdm_writer_raise_peak(device, r->kind, number, tsc);
	if (tdm_is_in_l1(r->kind)) {
		struct tdm_ledger_now *all = &device->l1_all;
		peak = device->peak[TDM_LEDGER_L1_ALL];
		all->bytes += reserved;
		all->bank_bytes += r->bank_bytes;
		all->asked_bytes += r->asked;
		all->buffers++;
		if (tdm_unlikely(all->bytes > peak->bytes || all->bank_bytes > peak->bank_bytes ||
				 all->asked_bytes > peak->asked_bytes || all->buffers > peak->buffers))
			tdm_writer_raise_peak(device, TDM_LEDGER_L1_ALL, number, tsc);
	}
	return true;
}

/* The kind is the caller's: the slot's own lies where others can write. */
tdm_hot void tdm_count_free(
	struct tdm_wdevice *device, uint64_t number, const struct tdm_ledger_slot *slot, uint32_t kind)
{
	const struct tdm_ledger_now *was = device->now[kind];
	struct tdm_ledger_now *now = tdm_other_copy(device->now[kind]);
	uint64_t reserved = slot->bank_bytes * slot->banks;
	tdm_begin_write(&now->seq);
	now->bytes = was->bytes - reserved;
	now->buffers = was->buffers - 1;
	now->bank_bytes = was->bank_bytes - slot->bank_bytes;
	now->asked_bytes = was->asked_bytes - slot->asked;
	now->allocs = was->allocs;
	now->alloc_bytes = was->alloc_bytes;
	now->alloc_asked = was->alloc_asked;
	tdm_store_release(&now->seq, number);
	device->now[kind] = now;
	if (tdm_is_in_l1(kind)) {
		device->l1_all.bytes -= reserved;
		device->l1_all.bank_bytes -= slot->bank_bytes;
		device->l1_all.asked_bytes -= slot->asked;
		device->l1_all.buffers--;
	}
}

/* The commit: from here on the call has happened. */
tdm_hot void tdm_commit(struct tdm_wdevice *device, uint64_t number)
{
	tdm_store_release(&device->shared->seq, number);
	device->seq = number;
	if (tdm_unlikely(number % TDM_WRITER_CLOCK_EVERY == 0))
		tdm_ledger_file_clock(&device->writer->file);
}

/* Asks for the index line of a buffer, as early as its identity is known. Returns its hash. */
tdm_hot uint32_t tdm_writer_hint(const struct tdm_wdevice *device, uint32_t kind, uint64_t id)
{
	uint32_t hash = tdm_slot_hash(kind, id);
#if defined(__SANITIZE_THREAD__)
	(void)device; /* it is not entered yet: where the line lies may be wrong, which only a prefetch may be */
#else
	__builtin_prefetch(&device->index.now.buckets[hash & device->index.now.mask], 1);
#endif
	return hash;
}

/* Where a buffer stands in the index. */
tdm_hot struct tdm_index_pos tdm_find_in(const struct tdm_wdevice *device, struct tdm_slot_table *table, uint32_t kind,
	uint64_t id, uint32_t hash, struct tdm_ledger_slot **slot)
{
	uint32_t bucket = hash & table->mask;
	/* It ends at the latest where it began: numbers of passed entries are wrong once somebody scribbles on slots.
	 */
	for (uint32_t left = table->mask;; bucket = (bucket + 1) & table->mask, left--) {
		const struct tdm_bucket *b = &table->buckets[bucket];
		for (uint32_t hits = tdm_tag_find(b, tdm_slot_tag(hash)); hits != 0; hits &= hits - 1) {
			unsigned at = (unsigned)__builtin_ctz(hits), k;
			uint64_t in_segment;
			k = tdm_wdevice_segment(b->slot[at], &in_segment);
			struct tdm_ledger_slot *s = device->segment[k] + in_segment;
			__builtin_prefetch(device->more[k] + in_segment, 1); /* the next allocation will write it */
			if (tdm_likely(s->id == id && s->kind == kind)) {
				*slot = s;
				return (struct tdm_index_pos){ table, bucket, at };
			}
		}
		if (tdm_likely(b->passed == 0) || tdm_unlikely(left == 0))
			return (struct tdm_index_pos){ 0 };
	}
}

tdm_hot struct tdm_index_pos tdm_find_buffer(
	struct tdm_wdevice *device, uint32_t kind, uint64_t id, uint32_t hash, struct tdm_ledger_slot **slot)
{
	struct tdm_index_pos pos = tdm_find_in(device, &device->index.now, kind, id, hash, slot);
	if (tdm_unlikely(device->index.old.buckets != NULL) && pos.table == NULL)
		pos = tdm_find_in(device, &device->index.old, kind, id, hash, slot);
	return pos;
}

tdm_hot void tdm_fill_slot(struct tdm_wdevice *device, uint32_t slot_number, uint64_t number, uint64_t tsc,
	const struct tdm_report *r, const struct tdm_report_extra *extra)
{
	uint64_t at;
	unsigned k = tdm_wdevice_segment(slot_number, &at);
	struct tdm_ledger_slot *slot = device->segment[k] + at;
	struct tdm_ledger_more *more = device->more[k] + at;
	tdm_begin_write(&slot->birth);
	slot->death = 0;
	slot->id = r->id;
	slot->address = r->address;
	slot->asked = r->asked;
	slot->bank_bytes = r->bank_bytes;
	slot->tsc = tsc;
	tdm_store_word(&slot->banks, extra->banks, r->kind | r->flags << 8);
	tdm_store_word(&more->holding,
		r->holding != 0 ? r->holding
		: r->cores != 0 ? r->cores
				: extra->banks,
		r->page_size);
	tdm_store_word(&more->cores, r->cores, extra->thread);
	tdm_store_word(&more->name, r->name, extra->stack);
	tdm_store_word(&more->program, extra->program, extra->ranges);
	static_assert(offsetof(struct tdm_ledger_slot, kind) == 60 && offsetof(struct tdm_ledger_slot, flags) == 61 &&
			      offsetof(struct tdm_ledger_more, page_size) == 4 &&
			      offsetof(struct tdm_ledger_more, thread) == 12 &&
			      offsetof(struct tdm_ledger_more, stack) == 20 &&
			      offsetof(struct tdm_ledger_more, ranges) == 28,
		"the words are put together as the fields lie");
	tdm_store_release(&slot->birth, number);
}

/* A slot that is free: one given back lately, whose lines are still at hand, else a new one. */
tdm_hot int tdm_take_slot(struct tdm_wdevice *device, uint32_t *slot)
{
	if (tdm_likely(device->spare_count != 0)) {
		*slot = device->spare[--device->spare_count];
		return 0;
	}
	if (tdm_unlikely(device->slot_high == device->slot_reserved)) {
		int err = tdm_wdevice_grow(device);
		if (err != 0)
			return err;
	}
	*slot = device->slot_high++;
	atomic_store_explicit((_Atomic uint32_t *)&device->shared->slot_high, device->slot_high, memory_order_relaxed);
	return 0;
}

tdm_hot void tdm_give_slot(struct tdm_wdevice *device, uint32_t slot)
{
	if (tdm_unlikely(device->spare_count == device->spare_cap) && tdm_wdevice_spare_grow(device) != 0)
		return; /* this one slot stays unused */
	device->spare[device->spare_count++] = slot;
}

/* Releases what was found. */
tdm_hot void tdm_free_found(struct tdm_wdevice *device, struct tdm_index_pos pos, uint32_t hash,
	struct tdm_ledger_slot *slot, uint32_t kind, uint32_t thread)
{
	uint64_t number = device->seq + 1, tsc = device->last_tsc;
	uint32_t slot_number = pos.table->buckets[pos.bucket].slot[pos.at];
	if (tdm_unlikely(number % TDM_LEDGER_FREE_CLOCK == 0))
		device->last_tsc = tsc = tdm_clock_ticks();
	tdm_slot_index_erase(pos, hash);
	tdm_store_u64(&slot->death, number);
	if (tdm_likely(slot->banks != 0))
		tdm_count_free(device, number, slot, kind);
	else
		tdm_writer_count_view(device, kind, number, true);
	tdm_put_free_record(device, number, tsc, slot, kind, thread);
	tdm_commit(device, number);
	tdm_give_slot(device, slot_number);
}

tdm_hot int tdm_alloc_inside(
	struct tdm_wdevice *device, const struct tdm_report *r, const struct tdm_report_extra *extra, uint32_t hash)
{
	struct tdm_ledger_slot *slot;
	uint32_t slot_number;
	if (tdm_unlikely(tdm_find_buffer(device, r->kind, r->id, hash, &slot).table != NULL))
		tdm_writer_replace(device, r->kind, r->id, extra->thread, extra->replaces);
	if (tdm_unlikely(tdm_slot_index_prepare(&device->index, device->slot_high - device->spare_count,
				 tdm_writer_hash_of_slot, device) != 0 ||
			 tdm_take_slot(device, &slot_number) != 0))
		return tdm_writer_refuse(device, TDM_LOSS_SPACE, -ENOSPC);

	uint64_t number = device->seq + 1, tsc = tdm_clock_ticks();
	if (tdm_unlikely(extra->banks == 0)) {
		tdm_writer_count_view(device, r->kind, number, false);
	} else if (tdm_unlikely(!tdm_count_alloc(device, number, tsc, r, extra->banks))) {
		tdm_give_slot(device, slot_number);
		return tdm_writer_refuse(device, TDM_LOSS_INVALID, -EINVAL);
	}
	tdm_fill_slot(device, slot_number, number, tsc, r, extra);
	tdm_slot_index_put(&device->index, hash, slot_number);
	device->last_tsc = tsc;
	tdm_put_record(device, number, tsc, TDM_LEDGER_ALLOC, r, extra->banks, extra->thread);
	tdm_commit(device, number);
	return 0;
}

/* 0, -ENOSPC, -EINVAL (a size that cannot be), or -EBUSY; whatever is not recorded is counted in the ledger. `hash` is
 * that of tdm_writer_hint. */
tdm_hot int tdm_writer_alloc(struct tdm_wdevice *device, struct tdm_wthread *self, const struct tdm_report *report,
	const struct tdm_report_extra *extra, uint32_t hash)
{
	enum tdm_entered how = tdm_wdevice_enter(device, self);
	if (tdm_unlikely(how == TDM_NOT_ENTERED))
		return tdm_writer_refuse(device, TDM_LOSS_NESTED, -EBUSY);
	int err = tdm_alloc_inside(device, report, extra, hash);
	tdm_wdevice_leave(device, self, how);
	return err;
}

/* 0, or -ENOENT: not there, and not counted yet (tdm_writer_bad_free). *freed (may be NULL): what it was. */
tdm_hot int tdm_writer_free_buffer(struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t id,
	uint32_t thread, struct tdm_ledger_slot *freed)
{
	struct tdm_ledger_slot *slot;
	uint32_t hash = tdm_writer_hint(device, kind, id);
	int err = 0;
	enum tdm_entered how = tdm_wdevice_enter(device, self);
	if (tdm_unlikely(how == TDM_NOT_ENTERED))
		return tdm_writer_refuse(device, TDM_LOSS_NESTED, -EBUSY);
	struct tdm_index_pos pos = tdm_find_buffer(device, kind, id, hash, &slot);
	if (tdm_likely(pos.table != NULL)) {
		if (freed != NULL)
			*freed = *slot;
		tdm_free_found(device, pos, hash, slot, kind, thread);
	} else {
		err = -ENOENT;
	}
	tdm_wdevice_leave(device, self, how);
	return err;
}

#endif
