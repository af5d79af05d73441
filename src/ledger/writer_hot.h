/*
 * The hot path: what happens on every allocation and release. One probe of the index, one slot, one ring record, one or two counter lines; no system call, no memory
 * allocation and no atomic read-modify-write, unless the ledger has to grow or threads meet on a device. It is a header, so that it is compiled into the public
 * functions and a report goes from the caller's structure to the ledger without a stop in between.
 *
 * What it waits for, with many buffers live, is memory: a line of the index, then a slot. So the index line is asked for before anything else is done, and
 * nothing that does not need it stands in the way.
 */
#ifndef TDM_LEDGER_WRITER_HOT_H
#define TDM_LEDGER_WRITER_HOT_H

#include "base/clock.h"
#include "ledger/writer.h"

#include <errno.h>

#define tdm_hot         static inline __attribute__((always_inline))
#define tdm_likely(x)   __builtin_expect(!!(x), 1)
#define tdm_unlikely(x) __builtin_expect(!!(x), 0)

enum { TDM_WRITER_CLOCK_EVERY = 1 << 16 }; /* reports between two readings of the clocks */

/* The cold side (writer_event.c). */
void tdm_writer_raise_peak(
	struct tdm_wdevice *device, unsigned counter, uint64_t number, uint64_t tsc, const struct tdm_ledger_now *now);
int tdm_writer_free_missing(struct tdm_wdevice *device, uint32_t kind, uint64_t id, uint32_t thread);
void tdm_writer_replace(struct tdm_wdevice *device, const struct tdm_report *report);
int tdm_writer_refuse(struct tdm_wdevice *device, enum tdm_ledger_loss loss, int err);
uint32_t tdm_writer_hash_of_slot(const void *device, uint32_t slot, bool only_prefetch);

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

tdm_hot void tdm_put_record(struct tdm_wdevice *device, uint64_t number, uint64_t tsc, enum tdm_ledger_op op,
	const struct tdm_report *report)
{
	struct tdm_ledger_record *record = tdm_record_at(device, number);
	tdm_begin_write(&record->seq);
	record->tsc = tsc;
	record->id = report->id;
	record->address = report->address;
	record->asked = report->asked;
	record->bank_bytes = report->bank_bytes;
	record->banks = report->banks;
	record->name = report->name;
	record->thread = report->thread;
	record->op = (uint8_t)op;
	record->kind = (uint8_t)report->kind;
	record->flags = (uint16_t)report->flags;
	tdm_store_release(&record->seq, number);
}

tdm_hot void tdm_put_free_record(
	struct tdm_wdevice *device, uint64_t number, uint64_t tsc, const struct tdm_ledger_slot *slot, uint32_t thread)
{
	struct tdm_ledger_record *record = tdm_record_at(device, number);
	tdm_begin_write(&record->seq);
	record->tsc = tsc;
	record->id = slot->id;
	record->address = slot->address;
	record->asked = slot->asked;
	record->bank_bytes = slot->bank_bytes;
	record->banks = slot->banks;
	record->name = 0;
	record->thread = thread;
	record->op = TDM_LEDGER_FREE;
	record->kind = slot->kind;
	record->flags = slot->flags;
	tdm_store_release(&record->seq, number);
}

/* The next copy of a counter with a buffer added. False, and nothing has changed, when the sums would become absurd. */
tdm_hot bool tdm_count_alloc(
	struct tdm_wdevice *device, unsigned counter, uint64_t number, uint64_t tsc, const struct tdm_report *r)
{
	enum { SUM_BITS = 60 }; /* far above any device; sums of all kinds of a device still fit */
	unsigned copy = device->copy[counter];
	const struct tdm_ledger_now *was = &device->shared->now[counter][copy];
	const struct tdm_ledger_peak *peak = &device->shared->peak[counter][device->peak_copy[counter]];
	struct tdm_ledger_now *now = &device->shared->now[counter][copy ^ 1];
	uint64_t reserved = r->bank_bytes * r->banks, own = r->banks != 0 ? UINT64_MAX : 0; /* a view has no bytes of its own */
	uint64_t bytes = was->bytes + reserved, buffers = was->buffers + 1;
	uint64_t bank = was->bank_bytes + (r->bank_bytes & own), asked = was->asked_bytes + (r->asked & own);
	uint64_t alloc_bytes = was->alloc_bytes + reserved, alloc_asked = was->alloc_asked + (r->asked & own);
	if (tdm_unlikely((bytes | bank | asked | alloc_bytes | alloc_asked) >> SUM_BITS != 0))
		return false;
	tdm_begin_write(&now->seq);
	now->bytes = bytes;
	now->buffers = buffers;
	now->bank_bytes = bank;
	now->asked_bytes = asked;
	now->allocs = was->allocs + 1;
	now->alloc_bytes = alloc_bytes;
	now->alloc_asked = alloc_asked;
	tdm_store_release(&now->seq, number);
	device->copy[counter] = (uint8_t)(copy ^ 1);
	if (tdm_unlikely((bytes > peak->bytes) | (buffers > peak->buffers) | (bank > peak->bank_bytes) | (asked > peak->asked_bytes)))
		tdm_writer_raise_peak(device, counter, number, tsc, now);
	return true;
}

tdm_hot void tdm_count_free(struct tdm_wdevice *device, unsigned counter, uint64_t number, const struct tdm_ledger_slot *slot)
{
	unsigned copy = device->copy[counter];
	const struct tdm_ledger_now *was = &device->shared->now[counter][copy];
	struct tdm_ledger_now *now = &device->shared->now[counter][copy ^ 1];
	uint64_t own = slot->banks != 0 ? UINT64_MAX : 0;
	tdm_begin_write(&now->seq);
	now->bytes = was->bytes - slot->bank_bytes * slot->banks;
	now->buffers = was->buffers - 1;
	now->bank_bytes = was->bank_bytes - (slot->bank_bytes & own);
	now->asked_bytes = was->asked_bytes - (slot->asked & own);
	now->allocs = was->allocs;
	now->alloc_bytes = was->alloc_bytes;
	now->alloc_asked = was->alloc_asked;
	tdm_store_release(&now->seq, number);
	device->copy[counter] = (uint8_t)(copy ^ 1);
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
	__builtin_prefetch(&device->index.now.buckets[hash & device->index.now.mask], 1);
	return hash;
}

/* Where a buffer stands in the index. */
tdm_hot struct tdm_index_pos tdm_find_in(const struct tdm_wdevice *device, struct tdm_slot_table *table, uint32_t kind,
	uint64_t id, uint32_t hash, struct tdm_ledger_slot **slot)
{
	uint32_t bucket = hash & table->mask;
	for (;; bucket = (bucket + 1) & table->mask) {
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
		if (tdm_likely(b->passed == 0))
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

tdm_hot void tdm_fill_slot(
	struct tdm_wdevice *device, uint32_t slot_number, uint64_t number, uint64_t tsc, const struct tdm_report *r)
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
	slot->banks = r->banks;
	slot->kind = (uint8_t)r->kind;
	slot->flags = (uint8_t)r->flags;
	more->holding = r->holding;
	more->page_size = r->page_size;
	more->cores = r->cores;
	more->thread = r->thread;
	more->name = r->name;
	more->stack = r->stack;
	more->program = r->program;
	more->ranges = r->ranges;
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

/* Whether one report can be true at all; sums are looked at when they are made. */
tdm_hot bool tdm_is_plausible(const struct tdm_report *r)
{
	enum { BYTES_BITS = 56, BANKS_BITS = 20 };
	return ((r->bank_bytes | r->asked) >> BYTES_BITS | r->banks >> BANKS_BITS) == 0 &&
	       __builtin_clzll(r->bank_bytes | 1) + __builtin_clz(r->banks | 1) >= 64 + 32 - BYTES_BITS;
}

/* Releases what was found. */
tdm_hot void tdm_free_found(
	struct tdm_wdevice *device, struct tdm_index_pos pos, uint32_t hash, struct tdm_ledger_slot *slot, uint32_t thread)
{
	uint64_t number = device->seq + 1, tsc = device->last_tsc;
	uint32_t slot_number = pos.table->buckets[pos.bucket].slot[pos.at], kind = slot->kind;
	if (tdm_unlikely(number % TDM_LEDGER_FREE_CLOCK == 0))
		device->last_tsc = tsc = tdm_clock_ticks();
	tdm_slot_index_erase(&device->index, pos, hash);
	tdm_store_u64(&slot->death, number);
	tdm_count_free(device, kind, number, slot);
	if (tdm_is_in_l1(kind))
		tdm_count_free(device, TDM_LEDGER_L1_ALL, number, slot);
	tdm_put_free_record(device, number, tsc, slot, thread);
	tdm_commit(device, number);
	tdm_give_slot(device, slot_number);
}

tdm_hot int tdm_alloc_inside(struct tdm_wdevice *device, const struct tdm_report *r, uint32_t hash)
{
	struct tdm_ledger_slot *slot;
	uint32_t slot_number;
	if (tdm_unlikely(!tdm_is_plausible(r)))
		return tdm_writer_refuse(device, TDM_LOSS_INVALID, -EINVAL);
	if (tdm_unlikely(tdm_find_buffer(device, r->kind, r->id, hash, &slot).table != NULL))
		tdm_writer_replace(device, r);
	if (tdm_unlikely(tdm_slot_index_prepare(&device->index, tdm_writer_hash_of_slot, device) != 0 ||
			 tdm_take_slot(device, &slot_number) != 0))
		return tdm_writer_refuse(device, TDM_LOSS_SPACE, -ENOSPC);

	uint64_t number = device->seq + 1, tsc = tdm_clock_ticks();
	if (tdm_unlikely(!tdm_count_alloc(device, r->kind, number, tsc, r))) {
		tdm_give_slot(device, slot_number);
		return tdm_writer_refuse(device, TDM_LOSS_INVALID, -EINVAL);
	}
	if (tdm_is_in_l1(r->kind))
		tdm_count_alloc(device, TDM_LEDGER_L1_ALL, number, tsc, r);
	tdm_fill_slot(device, slot_number, number, tsc, r);
	tdm_slot_index_put(&device->index, hash, slot_number);
	device->last_tsc = tsc;
	tdm_put_record(device, number, tsc, TDM_LEDGER_ALLOC, r);
	tdm_commit(device, number);
	return 0;
}

/* 0, -ENOSPC, -EINVAL (a size that cannot be), or -EBUSY; whatever is not recorded is counted in the ledger. `hash` is that of tdm_writer_hint. */
tdm_hot int tdm_writer_alloc(
	struct tdm_wdevice *device, struct tdm_wthread *self, const struct tdm_report *report, uint32_t hash)
{
	if (tdm_unlikely(!tdm_wdevice_enter(device, self)))
		return tdm_writer_refuse(device, TDM_LOSS_NESTED, -EBUSY);
	int err = tdm_alloc_inside(device, report, hash);
	if (tdm_unlikely((report->flags & TDM_SLOT_VIEW) != 0) && err == 0)
		device->shared->faults[report->kind].views++;
	tdm_wdevice_leave(device, self);
	return err;
}

/* 0 with what was freed in *freed (may be NULL), or -ENOENT, which is counted as double, unknown or inherited. */
tdm_hot int tdm_writer_free_buffer(struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t id,
	uint32_t thread, struct tdm_report *freed)
{
	struct tdm_ledger_slot *slot;
	uint32_t hash = tdm_writer_hint(device, kind, id);
	int err = 0;
	if (tdm_unlikely(!tdm_wdevice_enter(device, self)))
		return tdm_writer_refuse(device, TDM_LOSS_NESTED, -EBUSY);
	struct tdm_index_pos pos = tdm_find_buffer(device, kind, id, hash, &slot);
	if (tdm_likely(pos.table != NULL)) {
		if (tdm_unlikely(freed != NULL))
			*freed = (struct tdm_report){ .asked = slot->asked, .bank_bytes = slot->bank_bytes,
				.banks = slot->banks };
		tdm_free_found(device, pos, hash, slot, thread);
	} else {
		err = tdm_writer_free_missing(device, kind, id, thread);
	}
	tdm_wdevice_leave(device, self);
	return err;
}

#endif
