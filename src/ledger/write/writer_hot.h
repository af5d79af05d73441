/*
 * The hot path of every allocation and release. It touches one bucket of the index, one slot, one ring record, and one
 * or two counter lines. It makes no system call, no memory allocation and no atomic read-modify-write, unless the
 * ledger has to grow or threads share a device. It is a header so that it can be compiled into the public functions,
 * where a report goes directly from the caller's structure to the ledger.
 *
 * If there are many live buffers, the hot path is bound by memory latency: first for an index line, then for a slot. A
 * report prefetches its index line before anything else. Meanwhile the processor works ahead, even into the next
 * report; how far depends on the number of instructions and stores in a report, so both are kept low.
 */
#ifndef TDM_LEDGER_WRITER_HOT_H
#define TDM_LEDGER_WRITER_HOT_H

#include "base/clock.h"
#include "ledger/write/writer.h"

#include <errno.h>
#include <string.h>

#define tdm_hot         tdm_inlined
#define tdm_likely(x)   __builtin_expect(!!(x), 1)
#define tdm_unlikely(x) __builtin_expect(!!(x), 0)

enum { TDM_WRITER_SUM_BITS = 60 };   /* number of bits in the largest sum of bytes */
enum { TDM_WRITER_BYTES_BITS = 56 }; /* number of bits in the largest size */
enum { TDM_HAS_ROOM = 1 };           /* result of tdm_writer_alloc_far(): there is room, and no buffer to replace */

/* Two words that are stored, and may be loaded, as one. Do not load a pair right after storing its words one by one:
 * the load would wait until both stores have left the processor. */
typedef uint64_t tdm_pair __attribute__((vector_size(16), aligned(8), may_alias));

/* Raises a peak. Returns false and changes nothing if a sum is absurd. */
bool tdm_writer_raise_peak(struct tdm_wdevice *device, unsigned counter, uint64_t number, uint64_t tsc,
	tdm_pair bytes_and_buffers, tdm_pair bank_and_asked);

/* The cold side (writer_event.c). */

/* A change to a kind's counters: bytes and buffers, bytes in a bank and requested bytes, and the totals. */
struct tdm_wchange {
	tdm_pair bytes_and_buffers, bank_and_asked;
	uint64_t allocs, alloc_bytes, alloc_asked;
	bool is_adopted;
};
/* Returns false and changes nothing if a sum would be absurd. */
bool tdm_writer_change(
	struct tdm_wdevice *device, uint32_t kind, uint64_t number, uint64_t tsc, const struct tdm_wchange *change);
void tdm_writer_count_view(struct tdm_wdevice *device, uint32_t kind, uint64_t number, bool is_free, uint32_t flags);
void tdm_writer_cap_totals(uint64_t *alloc_bytes, uint64_t *alloc_asked);
int tdm_writer_alloc_far(struct tdm_wdevice *device, const struct tdm_report *report,
	const struct tdm_report_extra *extra, uint32_t hash);
int tdm_writer_alloc_unnamed(struct tdm_wdevice *device, const struct tdm_report *report,
	const struct tdm_report_extra *extra, uint32_t hash);
int tdm_writer_free_far(struct tdm_wdevice *device, uint32_t kind, uint64_t id, uint32_t hash);
void tdm_writer_look(struct tdm_wdevice *device);
int tdm_writer_refuse(struct tdm_wdevice *device, enum tdm_ledger_loss loss, int err);
void tdm_writer_give_far(struct tdm_wdevice *device, uint32_t slot);

/* The two copies of a counter are neighbouring cache lines, aligned to the size of both. */
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

/* Marks data as being written; later stores must not become visible before the mark. */
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

tdm_hot void tdm_store_pair(void *to, uint64_t first, uint64_t second)
{
	*(tdm_pair *)to = (tdm_pair){ first, second };
}

/* Packs two neighbouring 32-bit fields into one word. */
tdm_hot uint64_t tdm_word(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

/* A report in the form that slots and records store. */
struct tdm_words {
	tdm_pair identity, sizes;
	uint32_t name, banks;
	uint32_t what; /* kind and flags */
};

tdm_hot struct tdm_words tdm_words_of(const struct tdm_report *report, uint32_t banks, uint64_t bank_bytes)
{
	return (struct tdm_words){ { report->id, report->address }, { report->asked, bank_bytes }, report->name, banks,
		report->kind | (report->flags & UINT8_MAX) << 8 };
}

/*
 * Where a call's record goes. The record needs no mark while it is being written, because readers ignore the records
 * that a call in progress may be writing (oldest_in_ring in reader_live.c). So the previous call's commit must be
 * visible before this call begins.
 */
tdm_hot struct tdm_ledger_record *tdm_begin_record(const struct tdm_wdevice *device, uint64_t number)
{
	atomic_thread_fence(memory_order_release);
	return &device->ring[(number - 1) & device->ring_mask];
}

/* Writes any record except a release's. `more`: for an allocation, the slot's number, else the thread. */
tdm_hot void tdm_put_record(struct tdm_wdevice *device, uint64_t number, uint64_t tsc, enum tdm_ledger_op op,
	const struct tdm_words *words, uint32_t more)
{
	struct tdm_ledger_record *record = tdm_begin_record(device, number);
	tdm_store_pair(&record->seq, number, tsc);
	*(tdm_pair *)&record->id = words->identity;
	*(tdm_pair *)&record->asked = words->sizes;
	tdm_store_pair(
		&record->name, tdm_word(words->name, more), tdm_word(words->banks, words->what << 8 | (uint32_t)op));
}

tdm_hot void tdm_put_free_record(
	struct tdm_wdevice *device, uint64_t number, uint64_t tsc, const struct tdm_ledger_slot *slot, uint32_t kind)
{
	struct tdm_ledger_record *record = tdm_begin_record(device, number);
	tdm_store_pair(&record->seq, number, tsc);
	*(tdm_pair *)&record->id = *(const tdm_pair *)&slot->id;
	*(tdm_pair *)&record->asked = *(const tdm_pair *)&slot->asked;
	tdm_store_pair(&record->name, tdm_word(slot->name, slot->stack),
		tdm_word(slot->banks, (uint32_t)slot->flags << 16 | kind << 8 | (uint32_t)TDM_LEDGER_FREE));
}

/*
 * Whether one of the four sums is above a peak. All sums are far below 2^63, so the sign of the difference is enough.
 */
tdm_hot bool tdm_is_above(const struct tdm_ledger_peak *peak, tdm_pair bytes_and_buffers, tdm_pair bank_and_asked)
{
	tdm_pair left = (*(const tdm_pair *)&peak->bytes - bytes_and_buffers) |
			(*(const tdm_pair *)&peak->bank_bytes - bank_and_asked);
#if defined(__SSE2__)
	return _mm_movemask_pd((__m128d)left) != 0;
#else
	return (left[0] | left[1]) >> 63 != 0;
#endif
}

/* Writes the next copy of a counter, with `allocs` more allocations than the previous copy. */
tdm_hot void tdm_put_counter(struct tdm_wdevice *device, uint32_t kind, uint64_t number, tdm_pair bytes_and_buffers,
	tdm_pair bank_and_asked, uint64_t allocs, uint64_t alloc_bytes, uint64_t alloc_asked)
{
	const struct tdm_ledger_now *was = device->now[kind];
	struct tdm_ledger_now *now = tdm_other_copy(device->now[kind]);
	tdm_begin_write(&now->seq);
	*(tdm_pair *)&now->bytes = bytes_and_buffers;
	*(tdm_pair *)&now->bank_bytes = bank_and_asked;
	tdm_store_pair(&now->allocs, was->allocs + allocs, alloc_bytes);
	now->alloc_asked = alloc_asked;
	tdm_store_release(&now->seq, number);
	device->now[kind] = now;
}

/* Adds to the sum of all kinds in L1, and raises its peak. */
tdm_hot void tdm_change_l1(struct tdm_wdevice *device, uint32_t kind, uint64_t number, uint64_t tsc,
	tdm_pair bytes_and_buffers, tdm_pair bank_and_asked)
{
	if (!tdm_is_in_l1(kind))
		return;
	tdm_pair bytes = *(tdm_pair *)&device->l1_all.bytes += bytes_and_buffers;
	tdm_pair bank = *(tdm_pair *)&device->l1_all.bank_bytes += bank_and_asked;
	if (tdm_unlikely(tdm_is_above(device->limit[TDM_LEDGER_L1_ALL], bytes, bank)))
		tdm_writer_raise_peak(device, TDM_LEDGER_L1_ALL, number, tsc, bytes, bank);
}

/*
 * Writes the next copy of a counter with a buffer added. Returns false and changes nothing if the report or a sum is
 * absurd: above a limit far beyond any device, but small enough that the sums of all kinds fit in 64 bits. Only sums
 * above their peaks need that check. The totals since the start are capped at that limit.
 */
tdm_hot bool tdm_count_alloc(struct tdm_wdevice *device, uint64_t number, uint64_t tsc, const struct tdm_report *r,
	const struct tdm_report_extra *extra, const struct tdm_words *words)
{
	enum { BYTES_BITS = TDM_WRITER_BYTES_BITS, SUM_BITS = TDM_WRITER_SUM_BITS };
	const struct tdm_ledger_now *was = device->now[r->kind];
	uint64_t reserved, alloc_asked = was->alloc_asked + r->asked;
	bool is_absurd = __builtin_mul_overflow(extra->bank_bytes, (uint64_t)words->banks, &reserved);
	uint64_t alloc_bytes = was->alloc_bytes + reserved;
	if (tdm_unlikely(is_absurd || (reserved | extra->bank_bytes | r->asked) >> BYTES_BITS != 0))
		return false;
	const tdm_pair bytes_and_buffers = { reserved, 1 }, bank_and_asked = { words->sizes[1], words->sizes[0] };
	tdm_pair bytes = *(const tdm_pair *)&was->bytes + bytes_and_buffers;
	tdm_pair bank = *(const tdm_pair *)&was->bank_bytes + bank_and_asked;
	if (tdm_unlikely(tdm_is_above(device->limit[r->kind], bytes, bank)) &&
		!tdm_writer_raise_peak(device, r->kind, number, tsc, bytes, bank))
		return false;
	if (tdm_unlikely((alloc_bytes | alloc_asked) >> SUM_BITS != 0))
		tdm_writer_cap_totals(&alloc_bytes, &alloc_asked);
	tdm_put_counter(device, r->kind, number, bytes, bank, 1, alloc_bytes, alloc_asked);
	tdm_change_l1(device, r->kind, number, tsc, bytes_and_buffers, bank_and_asked);
	return true;
}

/* Uses the caller's kind, because others can write to the slot. */
tdm_hot void tdm_count_free(
	struct tdm_wdevice *device, uint64_t number, const struct tdm_ledger_slot *slot, uint32_t kind)
{
	const struct tdm_ledger_now *was = device->now[kind];
	struct tdm_ledger_now *now = tdm_other_copy(device->now[kind]);
	const tdm_pair bytes_and_buffers = { slot->bank_bytes * slot->banks, 1 };
	const tdm_pair bank_and_asked = { slot->bank_bytes, slot->asked };
	tdm_begin_write(&now->seq);
	*(tdm_pair *)&now->bytes = *(const tdm_pair *)&was->bytes - bytes_and_buffers;
	*(tdm_pair *)&now->bank_bytes = *(const tdm_pair *)&was->bank_bytes - bank_and_asked;
	*(tdm_pair *)&now->allocs = *(const tdm_pair *)&was->allocs; /* a pair takes fewer instructions */
	now->alloc_asked = was->alloc_asked;
	tdm_store_release(&now->seq, number);
	device->now[kind] = now;
	if (tdm_is_in_l1(kind)) {
		*(tdm_pair *)&device->l1_all.bytes -= bytes_and_buffers;
		*(tdm_pair *)&device->l1_all.bank_bytes -= bank_and_asked;
	}
}

/* The commit: from this store on, the call counts for readers. */
tdm_hot void tdm_commit(struct tdm_wdevice *device, uint64_t number)
{
	tdm_store_release(&device->shared->seq, number);
	device->seq = number;
	if (tdm_unlikely(device->last_tsc >= device->look_at))
		tdm_writer_look(device);
}

/* Writes and commits a record of a call that changes no buffer. */
tdm_hot void tdm_commit_record(
	struct tdm_wdevice *device, uint64_t tsc, enum tdm_ledger_op op, const struct tdm_words *words, uint32_t thread)
{
	device->last_tsc = tsc;
	tdm_put_record(device, device->seq + 1, tsc, op, words, thread);
	tdm_commit(device, device->seq + 1);
}

/* Prefetches a buffer's index line as soon as its kind and id are known. Returns the buffer's hash. */
tdm_hot uint32_t tdm_writer_hint(const struct tdm_wdevice *device, uint32_t kind, uint64_t id)
{
	uint32_t hash = tdm_slot_hash(kind, id);
#if defined(__SANITIZE_THREAD__)
	/* the device is not entered yet: reading the index is a race, but harmless when only prefetching */
	(void)device;
#else
	__builtin_prefetch(tdm_slot_index_home(&device->index, hash), 1);
#endif
	return hash;
}

tdm_hot void tdm_fill_slot(struct tdm_wdevice *device, uint32_t slot_number, uint64_t number, uint64_t tsc,
	const struct tdm_words *words, const struct tdm_report *r, const struct tdm_report_extra *extra)
{
	struct tdm_ledger_more *more;
	struct tdm_ledger_slot *slot = tdm_wdevice_slot(device, slot_number, &more);
	tdm_store_pair(&slot->birth, TDM_LEDGER_SEQ_BUSY, 0);
	atomic_thread_fence(memory_order_release);
	*(tdm_pair *)&slot->id = words->identity;
	*(tdm_pair *)&slot->asked = words->sizes;
	tdm_store_pair(&slot->name, tdm_word(words->name, extra->stack), tdm_word(words->banks, words->what));
	tdm_store_pair(&more->holding,
		tdm_word(r->holding != 0 ? r->holding
			 : r->cores != 0 ? r->cores
					 : extra->banks,
			r->page_size),
		tdm_word(r->cores, extra->thread));
	tdm_store_pair(&more->tsc, tsc, tdm_word(extra->program, extra->ranges));
	tdm_store_release(&slot->birth, number);
}

tdm_hot void tdm_give_slot(struct tdm_wdevice *device, uint32_t slot)
{
	if (tdm_unlikely(device->spare_count >= device->spare_limit))
		tdm_writer_give_far(device, slot);
	else
		device->spare[device->spare_count++] = slot;
}

/* Releases a buffer that has been removed from the index. */
tdm_hot void tdm_free_slot(
	struct tdm_wdevice *device, uint32_t slot_number, struct tdm_ledger_slot *slot, uint32_t kind)
{
	uint64_t number = device->seq + 1, tsc = device->last_tsc;
	if (tdm_unlikely(number % TDM_LEDGER_FREE_CLOCK == 0))
		device->last_tsc = tsc = tdm_clock_ticks();
	tdm_store_u64(&slot->death, number);
	if (tdm_likely(slot->banks != 0))
		tdm_count_free(device, number, slot, kind);
	else
		tdm_writer_count_view(device, kind, number, true, 0);
	tdm_put_free_record(device, number, tsc, slot, kind);
	tdm_commit(device, number);
	tdm_give_slot(device, slot_number);
}

/*
 * Adds a buffer. Usually the buffer's bucket has a free place and no entry with the same tag, and there is a recently
 * freed slot whose lines are still in the cache. In all other cases tdm_writer_alloc_far() makes room or replaces a
 * live buffer.
 */
tdm_hot int tdm_alloc_inside(
	struct tdm_wdevice *device, const struct tdm_report *r, const struct tdm_report_extra *extra, uint32_t hash)
{
	struct tdm_bucket *home = tdm_slot_index_home(&device->index, hash);
	if (tdm_unlikely(!tdm_blob_is_text(device->texts, r->name))) {
		struct tdm_report_extra copy = *extra; /* so that the original can stay in registers */
		return tdm_writer_alloc_unnamed(device, r, &copy, hash);
	}
	uint32_t free_places = tdm_tag_find(home, 0);
	bool is_simple = free_places != 0 && tdm_tag_find(home, tdm_slot_tag(hash)) == 0 && home->passed == 0 &&
			 device->index.old.buckets == NULL && device->spare_count != 0;
	if (tdm_unlikely(!is_simple)) {
		struct tdm_report_extra copy = *extra; /* so that the original can stay in registers */
		int err = tdm_writer_alloc_far(device, r, &copy, hash);
		if (err != TDM_HAS_ROOM)
			return err;
	}

	const struct tdm_words words = tdm_words_of(r, extra->banks, extra->bank_bytes);
	uint64_t number = device->seq + 1, tsc = tdm_clock_ticks();
	if (tdm_unlikely(extra->banks == 0))
		tdm_writer_count_view(device, r->kind, number, false, r->flags);
	else if (tdm_unlikely(!tdm_count_alloc(device, number, tsc, r, extra, &words)))
		return tdm_writer_refuse(device, TDM_LOSS_INVALID, -EINVAL);
	uint32_t slot_number = device->spare[--device->spare_count];
	tdm_fill_slot(device, slot_number, number, tsc, &words, r, extra);
	if (tdm_likely(is_simple))
		tdm_bucket_put(home, free_places, hash, slot_number);
	else
		tdm_slot_index_put(&device->index, hash, slot_number);
	device->last_tsc = tsc;
	tdm_put_record(device, number, tsc, TDM_LEDGER_ALLOC, &words, slot_number);
	tdm_commit(device, number);
	return 0;
}

/* Releases a buffer. 0 or -ENOENT. The buffer is usually the first entry with its tag in its bucket. */
tdm_hot int tdm_free_inside(struct tdm_wdevice *device, uint32_t kind, uint64_t id, uint32_t hash)
{
	struct tdm_bucket *home = tdm_slot_index_home(&device->index, hash);
	uint32_t hits = tdm_tag_find(home, tdm_slot_tag(hash));
	if (tdm_likely(hits != 0)) {
		unsigned at = (unsigned)__builtin_ctz(hits);
		uint32_t slot_number = home->slot[at];
		struct tdm_ledger_more *more;
		struct tdm_ledger_slot *slot = tdm_wdevice_slot(device, slot_number, &more);
		if (tdm_likely(slot->id == id && slot->kind == kind)) {
			/* The next allocation will soon write this line, once. */
			__builtin_prefetch(more, 0, 0);
			home->tag[at] = 0;
			tdm_free_slot(device, slot_number, slot, kind);
			return 0;
		}
	}
	return tdm_writer_free_far(device, kind, id, hash);
}

/*
 * Records an allocation. Returns 0, -ENOSPC, -EINVAL (an absurd size) or -EBUSY; the ledger counts the reports that it
 * does not record. `hash` comes from tdm_writer_hint().
 */
tdm_hot int tdm_writer_alloc(struct tdm_wdevice *device, struct tdm_wthread *self, const struct tdm_report *report,
	const struct tdm_report_extra *extra, uint32_t hash)
{
	if (tdm_unlikely(!tdm_wdevice_enter_as_owner(device, self))) {
		struct tdm_report_extra copy = *extra; /* so that the original can stay in registers */
		return tdm_writer_alloc_cold(device, self, report, &copy);
	}
	int err = tdm_alloc_inside(device, report, extra, hash);
	tdm_wdevice_leave_as_owner(self);
	return err;
}

/*
 * Records a release. Returns 0, or -ENOENT if there is no such buffer; the caller must then call tdm_writer_bad_free().
 */
tdm_hot int tdm_writer_free_buffer(struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t id)
{
	uint32_t hash = tdm_slot_hash(kind, id);
	if (tdm_unlikely(!tdm_wdevice_enter_as_owner(device, self)))
		return tdm_writer_free_cold(device, self, kind, id, NULL);
	int err = tdm_free_inside(device, kind, id, hash);
	tdm_wdevice_leave_as_owner(self);
	return err;
}

#endif
