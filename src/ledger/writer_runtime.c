/* Reports of the runtime below the program: what shared buffers take together, and steps of devices and traces. */
#include "ledger/writer_hot.h"
#include "base/number.h"

static bool is_absurd(uint64_t bytes)
{
	return bytes >> TDM_WRITER_BYTES_BITS != 0;
}

/* Writes the next copy of a kind's counters with another common part. False, with nothing changed, when the sum is
 * absurd. */
static bool count_common(
	struct tdm_wdevice *device, uint32_t kind, uint64_t number, uint64_t tsc, const struct tdm_wcommon *common)
{
	const struct tdm_ledger_now *was = device->now[kind];
	struct tdm_ledger_now *now = tdm_other_copy(device->now[kind]), *all = &device->l1_all;
	const struct tdm_wcommon *old = &device->common[kind];
	const tdm_pair bytes_change = { common->bytes - old->bytes, 0 };
	const tdm_pair bank_change = { common->bank_bytes - old->bank_bytes, 0 };
	tdm_pair bytes = *(const tdm_pair *)&was->bytes + bytes_change;
	tdm_pair bank = *(const tdm_pair *)&was->bank_bytes + bank_change;
	uint64_t grown = common->bytes > old->bytes ? common->bytes - old->bytes : 0;
	uint64_t alloc_bytes = was->alloc_bytes + grown, alloc_asked = was->alloc_asked;
	if (tdm_is_above(device->peak[kind], bytes, bank) &&
		!tdm_writer_raise_peak(device, kind, number, tsc, bytes, bank))
		return false;
	tdm_writer_cap_totals(&alloc_bytes, &alloc_asked);
	tdm_begin_write(&now->seq);
	*(tdm_pair *)&now->bytes = bytes;
	*(tdm_pair *)&now->bank_bytes = bank;
	tdm_store_pair(&now->allocs, was->allocs, alloc_bytes);
	now->alloc_asked = alloc_asked;
	tdm_store_release(&now->seq, number);
	device->now[kind] = now;
	bytes = *(tdm_pair *)&all->bytes += bytes_change;
	bank = *(tdm_pair *)&all->bank_bytes += bank_change;
	if (tdm_is_above(device->peak[TDM_LEDGER_L1_ALL], bytes, bank))
		tdm_writer_raise_peak(device, TDM_LEDGER_L1_ALL, number, tsc, bytes, bank);
	return true;
}

static int core_use_inside(struct tdm_wdevice *device, uint32_t kind, const struct tdm_wcommon *common, uint32_t thread)
{
	const struct tdm_report record = { .kind = kind, .asked = common->bytes };
	const struct tdm_words words = tdm_words_of(&record, 0, common->bank_bytes);
	uint64_t number = device->seq + 1, tsc = tdm_clock_ticks();
	if (common->bytes == device->common[kind].bytes && common->bank_bytes == device->common[kind].bank_bytes)
		return 0;
	if (is_absurd(common->bytes) || is_absurd(common->bank_bytes))
		return tdm_writer_refuse(device, TDM_LOSS_INVALID, -EINVAL);
	/* First: from now on the sums of buffers say nothing about the bytes of this kind. */
	device->shared_kinds |= UINT32_C(1) << kind;
	atomic_store_explicit(
		(_Atomic uint32_t *)&device->shared->shared_kinds, device->shared_kinds, memory_order_relaxed);
	if (!count_common(device, kind, number, tsc, common))
		return tdm_writer_refuse(device, TDM_LOSS_INVALID, -EINVAL);
	device->last_tsc = tsc;
	tdm_put_record(device, number, tsc, TDM_LEDGER_CORE_USE, &words, thread);
	device->common[kind] = *common;
	tdm_commit(device, number);
	return 0;
}

int tdm_writer_core_use(struct tdm_wdevice *device, struct tdm_wthread *self, uint32_t kind, uint64_t fullest,
	uint64_t all, uint32_t thread)
{
	const struct tdm_wcommon common = { all, fullest };
	enum tdm_entered how = tdm_wdevice_enter(device, self);
	if (how == TDM_NOT_ENTERED)
		return tdm_writer_refuse(device, TDM_LOSS_NESTED, -EBUSY);
	int err = core_use_inside(device, kind, &common, thread);
	tdm_wdevice_leave(device, self, how);
	return err;
}

int tdm_writer_step(
	struct tdm_wdevice *device, struct tdm_wthread *self, enum tdm_step step, uint64_t number, uint32_t thread)
{
	const struct tdm_report report = { .id = number, .asked = step };
	return tdm_writer_note(device, self, TDM_LEDGER_STEP, &report, thread);
}
