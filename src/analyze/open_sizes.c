#include "analyze/open_sizes.h"
#include "base/number.h"
#include "device/bank.h"

static const struct tdm_region *described(const struct tdm_picture_device *device, enum tdm_kind kind)
{
	for (uint32_t i = 0; device->info != NULL && i < device->info->region_count; i++)
		if (device->info->regions[i].kind == kind)
			return &device->info->regions[i];
	return NULL;
}

/* The sum of the traces is enough if each bank's part of it holds what one bank held: pages are not spread evenly. */
static uint64_t trace_needed(const struct tdm_picture_amount *amount, const struct tdm_region *region)
{
	uint64_t part;
	if (region != NULL && region->banks != 0 && amount->peak_asked != TDM_BYTES_UNKNOWN &&
		tdm_bank_trace_part(amount->peak_asked, 1, region->banks, &part) && part >= amount->peak_bank)
		return amount->peak_asked;
	return amount->peak;
}

static void look(struct tdm_open_size *size, const struct tdm_picture *picture, const struct tdm_holding *holding)
{
	const struct tdm_picture_amount *amount = &holding->kinds[size->kind];
	const struct tdm_region *region = described(&picture->devices[holding->device], (enum tdm_kind)size->kind);
	bool is_trace = size->kind == TDM_KIND_TRACE;
	if (amount->from != TDM_FROM_LEDGER)
		return;
	uint64_t needed = is_trace ? trace_needed(amount, region) : amount->peak_bank;
	bool has_region = region != NULL && region->bank_size != 0;
	if (needed == TDM_BYTES_UNKNOWN || (needed == 0 && !has_region && !(is_trace && holding->trace_count != 0)))
		return;
	size->is_in_dram |= is_trace && !has_region && needed == 0;
	if (size->needed != TDM_BYTES_UNKNOWN && needed <= size->needed)
		return;
	size->needed = needed;
	size->device = holding->number;
	size->opened = !has_region ? TDM_BYTES_UNKNOWN
		       : is_trace  ? region->bank_size * region->banks
				   : region->bank_size;
}

size_t tdm_open_sizes(const struct tdm_picture *picture, uint32_t process, struct tdm_open_size sizes[TDM_OPEN_SIZES])
{
	static const struct tdm_open_size all[TDM_OPEN_SIZES] = {
		{ .option = "trace_region_size", .kind = TDM_KIND_TRACE, .needed = TDM_BYTES_UNKNOWN },
		{ .option = "l1_small_size", .kind = TDM_KIND_L1_SMALL, .needed = TDM_BYTES_UNKNOWN },
	};
	const struct tdm_picture_process *of = &picture->processes[process];
	size_t count = 0;
	for (size_t i = 0; i < TDM_OPEN_SIZES; i++) {
		struct tdm_open_size *size = &sizes[count];
		*size = all[i];
		size->is_least = tdm_is_some(of->lost) || of->refused != 0;
		for (uint32_t h = 0; h < of->holding_count; h++)
			look(size, picture, &picture->holdings[of->first_holding + h]);
		size->is_in_dram &= size->needed == 0;
		count += size->needed != TDM_BYTES_UNKNOWN;
	}
	return count;
}
