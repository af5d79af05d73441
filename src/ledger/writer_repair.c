/* Rebuilds the private state of a device from what was committed: after a report that did not end, or by a new writer.
 */
#include "ledger/writer_hot.h"

#include <string.h>

#define cold __attribute__((cold, noinline))

/* The newer copy of the two that was committed. Readers ignore the other one if it was not, and must go on doing so. */
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

static void repair_counters(struct tdm_wdevice *device)
{
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
	for (unsigned i = 0; i < TDM_LEDGER_COUNTERS; i++)
		device->peak[i] = committed_copy(device->shared->peak[i], device->seq);
}

/* What of the counters is not a sum of buffers. */
static void repair_common(struct tdm_wdevice *device)
{
	struct tdm_ledger_now sums[TDM_KIND_COUNT] = { 0 };
	if (device->shared_kinds == 0 || !tdm_wdevice_sums(device, sums))
		return;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		if ((device->shared_kinds >> k & 1) != 0)
			device->common[k] = (struct tdm_wcommon){ device->now[k]->bytes - sums[k].bytes,
				device->now[k]->bank_bytes - sums[k].bank_bytes };
}

/* Puts a slot into the index or to the spare ones. What was not committed did not happen. */
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
	tdm_slot_index_done(&device->index);
	int err = tdm_slot_index_init(&device->index, device->writer->file.is_on_behalf);
	if (err != 0)
		return err;
	tdm_wdevice_shrink_reset(device);
	repair_counters(device);
	for (uint32_t i = device->slot_high; i-- > 0 && err == 0;)
		err = repair_slot(device, i, &live);
	repair_common(device);
	if (err == 0)
		atomic_store_explicit(
			(_Atomic uint32_t *)&device->shared->slot_high, device->slot_high, memory_order_relaxed);
	return err;
}

cold int tdm_wdevice_repair(struct tdm_wdevice *device)
{
	const struct tdm_ledger_device *shared = device->shared;
	if (shared->seq - device->seq <= 2)
		device->seq = shared->seq; /* it was committed */
	int err = tdm_wdevice_rebuild(device);
	if (err != 0)
		return err; /* it is still torn */
	device->is_torn = false;
	tdm_writer_lost(device->writer, TDM_LOSS_NESTED);
	return 0;
}
