/*
 * Peaks: those since the start, in the ledger, and those since a moment that the program chose, in private memory. A
 * report compares its sums with the lower of the two (tdm_wdevice.limit), so a second peak costs it nothing.
 */
#include "ledger/writer_hot.h"
#include "base/number.h"
#include "ledger/private_memory.h"

#define cold __attribute__((cold, noinline))

/* What a report brings to a peak. */
struct rise {
	uint64_t number, tsc;
	tdm_pair bytes_and_buffers, bank_and_asked;
	tdm_pair adopted; /* added to the numbers there */
};

/* Writes the next copy of a peak and returns it. */
static struct tdm_ledger_peak *next_peak(struct tdm_ledger_peak *was, const struct rise *to)
{
	struct tdm_ledger_peak *peak = tdm_other_copy(was);
	tdm_begin_write(&peak->seq);
	peak->bytes = tdm_max(was->bytes, to->bytes_and_buffers[0]);
	peak->buffers = tdm_max(was->buffers, to->bytes_and_buffers[1]);
	peak->bank_bytes = tdm_max(was->bank_bytes, to->bank_and_asked[0]);
	peak->asked_bytes = tdm_max(was->asked_bytes, to->bank_and_asked[1]);
	peak->tsc = to->bytes_and_buffers[0] > was->bytes ? to->tsc : was->tsc;
	peak->adopted = was->adopted + to->adopted[0];
	peak->adopted_bytes = tdm_min(was->adopted_bytes + to->adopted[1], (UINT64_C(1) << TDM_WRITER_SUM_BITS) - 1);
	tdm_store_release(&peak->seq, to->number);
	return peak;
}

static bool has_window(const struct tdm_wdevice *device, unsigned counter)
{
	const struct tdm_ledger_peak *limit = device->limit[counter];
	return device->window != NULL && (limit == &device->window[counter][0] || limit == &device->window[counter][1]);
}

/* Raises a peak and the one since its last reset, if there was one. False, with nothing changed, when a sum of one kind
 * would be absurd. */
static bool write_peak(struct tdm_wdevice *device, unsigned counter, const struct rise *to)
{
	const uint64_t sums = to->bytes_and_buffers[0] | to->bank_and_asked[0] | to->bank_and_asked[1];
	const bool was_reset = has_window(device, counter);
	if (counter != TDM_LEDGER_L1_ALL && sums >> TDM_WRITER_SUM_BITS != 0)
		return false;
	if (was_reset)
		device->limit[counter] = next_peak(device->limit[counter], to);
	if (!was_reset || to->adopted[0] != 0 ||
		tdm_is_above(device->peak[counter], to->bytes_and_buffers, to->bank_and_asked))
		device->peak[counter] = next_peak(device->peak[counter], to);
	if (!was_reset)
		device->limit[counter] = device->peak[counter];
	return true;
}

cold bool tdm_writer_raise_peak(struct tdm_wdevice *device, unsigned counter, uint64_t number, uint64_t tsc,
	tdm_pair bytes_and_buffers, tdm_pair bank_and_asked)
{
	const struct rise to = {
		.number = number, .tsc = tsc, .bytes_and_buffers = bytes_and_buffers, .bank_and_asked = bank_and_asked
	};
	return write_peak(device, counter, &to);
}

cold bool tdm_writer_adopt_peak(struct tdm_wdevice *device, unsigned counter, uint64_t number, uint64_t tsc,
	tdm_pair bytes_and_buffers, tdm_pair bank_and_asked, uint64_t adopted_bytes)
{
	const struct rise to = { number, tsc, bytes_and_buffers, bank_and_asked, { 1, adopted_bytes } };
	return write_peak(device, counter, &to);
}

void tdm_writer_repair_peaks(struct tdm_wdevice *device)
{
	for (unsigned i = 0; i < TDM_LEDGER_COUNTERS; i++) {
		device->peak[i] = tdm_committed_copy(device->shared->peak[i], device->seq);
		device->limit[i] =
			has_window(device, i) ? tdm_committed_copy(device->window[i], device->seq) : device->peak[i];
	}
}

/* Begins the peak of a kind anew with what is held. */
static int reset_peak(struct tdm_wdevice *device, unsigned kind)
{
	const struct tdm_ledger_now *now = device->now[kind];
	struct tdm_ledger_peak *first;
	if (device->window == NULL && (device->window = tdm_private_alloc(TDM_WRITER_WINDOW_BYTES)) == NULL)
		return -ENOMEM;
	first = device->window[kind];
	first[1] = (struct tdm_ledger_peak){ 0 };
	first[0] = (struct tdm_ledger_peak){ device->seq, now->bytes, now->buffers, now->bank_bytes, now->asked_bytes,
		tdm_clock_ticks(), 0, 0 };
	device->limit[kind] = first;
	return 0;
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
	int err = resets ? reset_peak(device, kind) : 0;
	tdm_wdevice_leave(device, self, how);
	return err;
}
