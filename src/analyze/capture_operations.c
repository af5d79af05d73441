#include "analyze/capture_operations.h"
#include "base/number.h"

#include <stdlib.h>

static int by_peak(const void *a, const void *b)
{
	const struct tdm_capture_operation *x = a, *y = b;
	if (x->core_peak != y->core_peak)
		return x->core_peak > y->core_peak ? -1 : 1;
	int order = tdm_order(y->dram_bytes + y->l1_bytes, x->dram_bytes + x->l1_bytes);
	return order != 0 ? order : tdm_order(x->path, y->path); /* callers before callees */
}

struct tdm_capture_operation *tdm_capture_operations(const struct tdm_capture_exact *exact, size_t *count)
{
	const struct tdm_capture_paths *paths = &exact->paths;
	*count = paths->count - 1;
	struct tdm_capture_operation *all = *count != 0 ? calloc(paths->count, sizeof *all) : NULL;
	if (all == NULL)
		return NULL;
	for (uint32_t i = 0; i < paths->count; i++) {
		const struct tdm_capture_path *p = &paths->paths[i];
		all[i] = (struct tdm_capture_operation){ i, p->calls, p->buffers, p->dram_bytes, p->l1_bytes,
			p->core_peak };
	}
	/* Callees have higher indices than their callers. */
	for (uint32_t i = (uint32_t)paths->count - 1; i > 0; i--) {
		struct tdm_capture_operation *caller = &all[paths->paths[i].parent];
		caller->buffers += all[i].buffers;
		caller->dram_bytes += all[i].dram_bytes;
		caller->l1_bytes += all[i].l1_bytes;
		caller->core_peak = all[i].core_peak > caller->core_peak ? all[i].core_peak : caller->core_peak;
	}
	memmove(all, all + 1, *count * sizeof *all); /* without the root */
	qsort(all, *count, sizeof *all, by_peak);
	return all;
}

static const struct tdm_exact_peak *peak_of(const struct tdm_exact_unit *unit, enum tdm_stock_figure figure)
{
	return figure == TDM_STOCK_DRAM_PEAK              ? &unit->dram
	       : figure == TDM_STOCK_L1_PEAK              ? &unit->device
	       : figure == TDM_STOCK_CORE_PEAK_L1         ? &unit->l1_core
	       : figure == TDM_STOCK_CORE_PEAK_CB         ? &unit->program[TDM_PROGRAM_CB]
	       : figure == TDM_STOCK_CORE_PEAK_DFB        ? &unit->program[TDM_PROGRAM_DFB]
	       : figure == TDM_STOCK_CORE_PEAK_SCRATCHPAD ? &unit->program[TDM_PROGRAM_SCRATCHPAD]
							  : &unit->core;
}

int64_t tdm_capture_peak(const struct tdm_capture_exact *exact, size_t unit, enum tdm_stock_figure figure)
{
	const struct tdm_exact_unit *u = &exact->units[unit];
	bool is_unknown = (figure == TDM_STOCK_CORE_PEAK_L1 || figure == TDM_STOCK_CORE_PEAK_TOTAL) &&
			  u->kinds[TDM_KIND_L1].bank_unknown + u->kinds[TDM_KIND_L1_SMALL].bank_unknown != 0;
	for (size_t i = 0; figure == TDM_STOCK_L1_PEAK && i < exact->chip_count; i++)
		is_unknown |= exact->chips[i].unit == unit && exact->chips[i].cores_unknown;
	return is_unknown ? INT64_MIN : peak_of(u, figure)->bytes;
}

size_t tdm_capture_fullest(const struct tdm_capture_exact *exact, enum tdm_stock_figure figure)
{
	size_t best = SIZE_MAX;
	int64_t most = 0;
	for (size_t i = 0; i < exact->unit_count; i++)
		if (peak_of(&exact->units[i], figure)->bytes > most) {
			most = peak_of(&exact->units[i], figure)->bytes;
			best = i;
		}
	return best;
}

void tdm_capture_devices(const struct tdm_capture_exact *exact, const struct tdm_exact_unit *list[TDM_EXACT_UNITS_MAX])
{
	for (size_t i = 0; i < exact->unit_count; i++) {
		size_t k = i;
		for (; k > 0 && list[k - 1]->id > exact->units[i].id; k--)
			list[k] = list[k - 1];
		list[k] = &exact->units[i];
	}
}

const struct tdm_capture_device *tdm_capture_description(const struct tdm_capture_exact *e, size_t unit)
{
	for (size_t i = 0; i < e->device_count; i++)
		for (size_t k = 0; k < e->chip_count; k++)
			if (e->chips[k].unit == unit && e->chips[k].id == e->devices[i].id)
				return &e->devices[i];
	for (size_t i = 0; i < e->device_count; i++)
		if (e->units[unit].id == e->devices[i].id)
			return &e->devices[i];
	return e->device_count == 1 ? &e->devices[0] : NULL;
}

uint64_t tdm_capture_banks(const struct tdm_capture_exact *exact, size_t unit, enum tdm_kind kind)
{
	const struct tdm_capture_device *d = tdm_capture_description(exact, unit);
	if (d == NULL)
		return 0;
	return kind == TDM_KIND_L1 || kind == TDM_KIND_L1_SMALL  ? d->l1_banks
	       : kind == TDM_KIND_DRAM || kind == TDM_KIND_TRACE ? d->dram_channels
								 : 0;
}

uint64_t tdm_capture_capacity(const struct tdm_capture_exact *exact, size_t unit, bool is_dram)
{
	const struct tdm_capture_device *d = tdm_capture_description(exact, unit);
	uint64_t bytes = 0;
	if (d == NULL)
		return 0;
	if (is_dram)
		return __builtin_mul_overflow(d->dram_channels, d->dram_channel_size, &bytes) ? 0 : bytes;
	/* The part of L1 below the base has firmware and kernels. */
	return d->l1_base != 0 && d->l1_base < d->worker_l1_size ? d->worker_l1_size - d->l1_base : d->l1_bank_size;
}
