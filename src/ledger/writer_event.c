/* The rare side of reporting: what is refused, what went wrong, and events that change no buffer. */
#include "ledger/writer_hot.h"

#include <string.h>

enum { DOUBLE_FREE_LOOK_BACK = 256 }; /* events that are searched to tell a double free from an unknown one */
#define cold __attribute__((cold, noinline))

void tdm_writer_lost(struct tdm_writer *writer, enum tdm_ledger_loss loss)
{
	atomic_fetch_add_explicit((_Atomic uint64_t *)&writer->file.header->lost[loss], 1, memory_order_relaxed);
}

cold int tdm_writer_refuse(struct tdm_wdevice *device, enum tdm_ledger_loss loss, int err)
{
	tdm_writer_lost(device->writer, loss);
	return err;
}

static inline uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

cold void tdm_writer_raise_peak(struct tdm_wdevice *device, unsigned counter, uint64_t number, uint64_t tsc)
{
	const struct tdm_ledger_now *now = counter == TDM_LEDGER_L1_ALL ? &device->l1_all : device->now[counter];
	const struct tdm_ledger_peak *was = device->peak[counter];
	struct tdm_ledger_peak *peak = tdm_other_copy(device->peak[counter]);
	tdm_begin_write(&peak->seq);
	peak->bytes = larger(was->bytes, now->bytes);
	peak->buffers = larger(was->buffers, now->buffers);
	peak->bank_bytes = larger(was->bank_bytes, now->bank_bytes);
	peak->asked_bytes = larger(was->asked_bytes, now->asked_bytes);
	peak->tsc = now->bytes > was->bytes ? tsc : was->tsc;
	tdm_store_release(&peak->seq, number);
	device->peak[counter] = peak;
}

/* A view: counted as a buffer, with no bytes of its own. */
cold void tdm_writer_count_view(struct tdm_wdevice *device, uint32_t kind, uint64_t number, bool is_free)
{
	struct tdm_ledger_now next = *device->now[kind], *now = tdm_other_copy(device->now[kind]);
	next.buffers += is_free ? UINT64_MAX : 1;
	next.allocs += !is_free;
	tdm_begin_write(&now->seq);
	now->bytes = next.bytes;
	now->buffers = next.buffers;
	now->bank_bytes = next.bank_bytes;
	now->asked_bytes = next.asked_bytes;
	now->allocs = next.allocs;
	now->alloc_bytes = next.alloc_bytes;
	now->alloc_asked = next.alloc_asked;
	tdm_store_release(&now->seq, number);
	device->now[kind] = now;
	if (!is_free)
		tdm_store_u64(&device->shared->faults[kind].views, device->shared->faults[kind].views + 1);
	if (next.buffers > device->peak[kind]->buffers)
		tdm_writer_raise_peak(device, kind, number, device->last_tsc);
	if (tdm_is_in_l1(kind)) {
		device->l1_all.buffers += is_free ? UINT64_MAX : 1;
		if (device->l1_all.buffers > device->peak[TDM_LEDGER_L1_ALL]->buffers)
			tdm_writer_raise_peak(device, TDM_LEDGER_L1_ALL, number, device->last_tsc);
	}
}

/* A sum is at its limit: false for what is there now; the totals since the start stay there, and reports go on. */
cold bool tdm_writer_cap_totals(const struct tdm_ledger_now *sums, uint64_t *alloc_bytes, uint64_t *alloc_asked)
{
	const uint64_t most = (UINT64_C(1) << TDM_WRITER_SUM_BITS) - 1;
	if (sums->bytes > most || sums->bank_bytes > most || sums->asked_bytes > most)
		return false;
	*alloc_bytes = *alloc_bytes < most ? *alloc_bytes : most;
	*alloc_asked = *alloc_asked < most ? *alloc_asked : most;
	return true;
}

/* For the index: the hash of what is in a slot, or only a hint that it will be asked for. */
uint32_t tdm_writer_hash_of_slot(const void *device, uint32_t slot, bool only_prefetch)
{
	const struct tdm_ledger_slot *s = tdm_wdevice_slot(device, slot);
	if (only_prefetch) {
		__builtin_prefetch(s);
		return 0;
	}
	return tdm_slot_hash(s->kind, s->id);
}

/* A report of a buffer that lives: its release was never seen. The old one counts as freed. */
cold void tdm_writer_replace(struct tdm_wdevice *device, uint32_t kind, uint64_t id, uint32_t thread, bool on_purpose)
{
	uint32_t hash = tdm_slot_hash(kind, id);
	struct tdm_ledger_slot *slot;
	struct tdm_index_pos pos = tdm_find_buffer(device, kind, id, hash, &slot);
	struct tdm_ledger_faults *faults = &device->shared->faults[kind];
	if (pos.table == NULL)
		return;
	if (!on_purpose)
		tdm_store_u64(&faults->rereports, faults->rereports + 1);
	tdm_free_found(device, pos, hash, slot, kind, thread);
}

cold int tdm_writer_replace_cold(struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t id,
	const struct tdm_report_extra *extra, struct tdm_ledger_slot *old)
{
	struct tdm_ledger_slot *slot;
	enum tdm_entered how = tdm_wdevice_enter(device, self);
	if (how == TDM_NOT_ENTERED)
		return -EBUSY;
	bool found = tdm_find_buffer(device, kind, id, tdm_slot_hash(kind, id), &slot).table != NULL;
	if (found) {
		*old = *slot;
		tdm_writer_replace(device, kind, id, extra->thread, extra->replaces);
	}
	tdm_wdevice_leave(device, self, how);
	return found ? 0 : -ENOENT;
}

cold int tdm_writer_alloc_cold(struct tdm_wdevice *device, struct tdm_wthread *self, const struct tdm_report *report,
	const struct tdm_report_extra *extra)
{
	return tdm_writer_alloc(device, self, report, extra, tdm_writer_hint(device, report->kind, report->id));
}

cold int tdm_writer_free_cold(struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t id,
	uint32_t thread, struct tdm_ledger_slot *freed)
{
	return tdm_writer_free_buffer(device, self, kind, id, thread, freed);
}

/* The last few events tell whether this buffer was freed a moment ago. */
static bool was_freed_lately(const struct tdm_wdevice *device, uint32_t kind, uint64_t id)
{
	for (uint64_t back = 0; back < DOUBLE_FREE_LOOK_BACK && back < device->seq; back++) {
		const struct tdm_ledger_record *r = &device->ring[(device->seq - 1 - back) & (TDM_LEDGER_RING - 1)];
		if (r->id == id && r->kind == kind && r->op == TDM_LEDGER_FREE)
			return true;
	}
	return false;
}

/* Whether the parent had a buffer of this identity before the fork. Each counts once. */
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
		uint64_t *count = was_freed_lately(device, kind, id) ? &faults->double_frees : &faults->unknown_frees;
		struct tdm_report record = { .id = id, .kind = kind };
		tdm_store_u64(count, *count + 1);
		device->last_tsc = tdm_clock_ticks();
		tdm_put_record(device, number, device->last_tsc, TDM_LEDGER_BAD_FREE, &record, 0, thread);
		tdm_commit(device, number);
	}
	tdm_wdevice_leave(device, self, how);
	return -ENOENT;
}

int64_t tdm_writer_free_all(struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint32_t thread,
	void (*freed)(uint32_t kind, uint64_t asked, uint64_t bank_bytes, bool is_view))
{
	int64_t count = 0;
	enum tdm_entered how = tdm_wdevice_enter(device, self);
	if (how == TDM_NOT_ENTERED)
		return tdm_writer_refuse(device, TDM_LOSS_NESTED, -EBUSY);
	for (uint32_t i = 0; i < device->slot_high; i++) {
		struct tdm_ledger_slot *slot = tdm_wdevice_slot(device, i), *found = NULL;
		if (slot->birth == 0 || slot->death != 0 || slot->kind != kind)
			continue;
		uint64_t id = *(volatile uint64_t *)&slot->id; /* once: others can write there */
		uint32_t hash = tdm_slot_hash(kind, id);
		struct tdm_index_pos pos = tdm_find_buffer(device, kind, id, hash, &found);
		if (pos.table == NULL || found != slot)
			continue;
		if (freed != NULL)
			freed(kind, slot->asked, slot->bank_bytes, slot->banks == 0);
		tdm_free_found(device, pos, hash, slot, kind, thread);
		count++;
	}
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
	tdm_put_record(device, number, tsc, op, report, report->banks, thread);
	tdm_commit(device, number);
	tdm_wdevice_leave(device, self, how);
	return 0;
}

struct tdm_ledger_now tdm_writer_count(
	struct tdm_wdevice *device, struct tdm_wthread *self, unsigned kind, struct tdm_ledger_peak *peak)
{
	struct tdm_ledger_now now = { 0 };
	enum tdm_entered how = tdm_wdevice_enter(device, self);
	if (how != TDM_NOT_ENTERED) {
		now = *device->now[kind];
		if (peak != NULL)
			*peak = *device->peak[kind];
		tdm_wdevice_leave(device, self, how);
	}
	return now;
}
