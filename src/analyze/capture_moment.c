/* Answers what a counted capture held at one moment. */
#include "analyze/capture_operations.h"
#include "base/units.h"
#include "base/number.h"

#include <stdlib.h>

/* What a device holds at this moment. */
struct holding {
	int64_t dram, l1, bank;
	int64_t max_total, plain_total, stacked_total; /* of the chip with the fullest core */
	int64_t sum, sum_plain;                        /* of the chip with the most in all cores */
};

/* For all devices at once: one pass over the chips, since there may be as many chips as devices. */
static void find_holdings(const struct tdm_capture_exact *e, struct holding *all)
{
	for (size_t i = 0; i < e->unit_count; i++) {
		const struct tdm_exact_kind *kinds = e->units[i].kinds;
		all[i] = (struct holding){
			.dram = kinds[TDM_KIND_DRAM].now + kinds[TDM_KIND_TRACE].now,
			.l1 = kinds[TDM_KIND_L1].now + kinds[TDM_KIND_L1_SMALL].now,
			.bank = kinds[TDM_KIND_L1].bank_now + kinds[TDM_KIND_L1_SMALL].bank_now,
		};
	}
	for (size_t i = 0; i < e->chip_count; i++) {
		const struct tdm_program_memory *m = &e->chips[i].memory;
		int64_t plain = 0;
		if (e->chips[i].unit >= e->unit_count)
			continue;
		struct holding *h = &all[e->chips[i].unit];
		for (int kind = 0; kind < TDM_PROGRAM_KINDS; kind++)
			plain += (int64_t)m->plain[kind];
		if ((int64_t)m->max_total > h->max_total) {
			h->max_total = (int64_t)m->max_total;
			h->stacked_total = (int64_t)m->stacked_total;
			h->plain_total = plain;
		}
		if ((int64_t)m->sum > h->sum) {
			h->sum = (int64_t)m->sum;
			h->sum_plain = plain;
		}
	}
}

void tdm_capture_exact_now(const struct tdm_capture_exact *e, struct tdm_exact_now *now)
{
	*now = (struct tdm_exact_now){
		.core_top = INT64_MIN, .device_top = INT64_MIN, .dram_top = INT64_MIN, .bank_top = INT64_MIN
	};
	struct holding all[TDM_EXACT_UNITS_MAX];
	find_holdings(e, all);
	for (size_t i = 0; i < e->unit_count; i++) {
		struct holding h = all[i];
		now->dram_all += h.dram;
		now->l1_all += h.l1;
		now->bank_all += h.bank;
		now->dram_top = tdm_max_signed(now->dram_top, h.dram);
		now->bank_top = tdm_max_signed(now->bank_top, h.bank);
		if (h.bank + h.max_total > now->core_top) {
			now->core_top = h.bank + h.max_total;
			now->core_plain = h.bank + h.plain_total;
			now->core_stacked = h.bank + h.stacked_total;
		}
		if (h.l1 + h.sum > now->device_top) {
			now->device_top = h.l1 + h.sum;
			now->device_plain = h.l1 + h.sum_plain;
		}
	}
	int64_t plain = 0;
	for (int kind = 0; kind < TDM_PROGRAM_KINDS; kind++)
		now->replaced[kind] = (int64_t)e->replaced[kind];
	for (size_t i = 0; i < e->chip_count; i++) {
		const struct tdm_program_memory *m = &e->chips[i].memory;
		for (int kind = 0; kind < TDM_PROGRAM_KINDS; kind++) {
			plain += (int64_t)m->plain[kind];
			now->plain_all[kind] += (int64_t)m->plain[kind];
			if ((int64_t)m->max[kind] < now->max_top[kind] ||
				(m->max[kind] == 0 && now->max_top[kind] == 0))
				continue;
			now->max_top[kind] = (int64_t)m->max[kind];
			now->plain_top[kind] = (int64_t)m->plain[kind];
			now->stacked_top[kind] = (int64_t)m->stacked[kind];
		}
	}
	now->core_all = now->bank_all + plain;
	now->device_all = now->l1_all + plain;
	if (e->unit_count == 0)
		now->core_top = now->device_top = now->dram_top = now->bank_top = 0;
}

/* The largest first; of equal size, the older first. */
static bool is_before(const struct tdm_exact_buffer *a, const struct tdm_exact_buffer *b)
{
	return a->size != b->size ? a->size > b->size : a->index < b->index;
}

static int by_size(const void *left, const void *right)
{
	const struct tdm_exact_buffer *const *a = left, *const *b = right;
	return is_before(*a, *b) ? -1 : is_before(*b, *a);
}

/* Restores the heap from `at` down; its top is the buffer that comes last in the order. */
static void sift_down(const struct tdm_exact_buffer **heap, size_t count, size_t at)
{
	for (size_t child = 2 * at + 1; child < count; at = child, child = 2 * at + 1) {
		if (child + 1 < count && is_before(heap[child], heap[child + 1]))
			child++;
		if (!is_before(heap[at], heap[child]))
			return;
		const struct tdm_exact_buffer *kept = heap[at];
		heap[at] = heap[child];
		heap[child] = kept;
	}
}

size_t tdm_capture_exact_alive(const struct tdm_capture_exact *e, size_t unit, unsigned kinds, uint32_t at,
	const struct tdm_exact_buffer **out, size_t cap)
{
	size_t count = 0, kept = 0;
	for (size_t i = 0; i < e->buffer_count; i++) {
		const struct tdm_exact_buffer *b = &e->buffers[i];
		if (b->unit != unit || (kinds >> b->kind & 1) == 0 || b->from > at || b->to <= at)
			continue;
		count++;
		if (kept < cap) {
			out[kept++] = b;
			for (size_t k = kept == cap ? cap / 2 : 0; k-- > 0;)
				sift_down(out, cap, k);
		} else if (cap != 0 && is_before(b, out[0])) {
			out[0] = b;
			sift_down(out, cap, 0);
		}
	}
	if (kept != 0)
		qsort(out, kept, sizeof *out, by_size);
	return count;
}

const struct tdm_exact_program *tdm_capture_exact_program(const struct tdm_capture_exact *e, size_t unit, size_t *count)
{
	const struct tdm_exact_unit *u = &e->units[unit];
	*count = u->peak_saved ? u->peak_count : 0;
	return u->peak_program;
}

static void place_class(const struct tdm_program_class *c, struct tdm_exact_cores *cores)
{
	for (uint32_t y = 0; y < TDM_CAPTURE_GRID; y++)
		for (uint32_t x = 0; x < TDM_CAPTURE_GRID; x++)
			if ((c->mask.rows[y] >> x & 1) != 0)
				cores->bytes[y][x] = c->total;
}

int tdm_capture_exact_cores(const struct tdm_capture_exact *e, size_t unit, struct tdm_exact_cores *cores)
{
	struct tdm_program_memory memory = { 0 };
	size_t count;
	int err = 0;
	const struct tdm_exact_program *list = tdm_capture_exact_program(e, unit, &count);
	uint32_t at = e->units[unit].core.at;
	const struct tdm_capture_device *d = tdm_capture_description(e, unit);
	*cores = (struct tdm_exact_cores){ .grid_x = (uint32_t)e->units[unit].grid_x,
		.grid_y = (uint32_t)e->units[unit].grid_y };
	if (d != NULL && d->grid_x != 0 && d->grid_y != 0 && d->grid_x <= TDM_CAPTURE_GRID &&
		d->grid_y <= TDM_CAPTURE_GRID) {
		cores->grid_x = (uint32_t)tdm_max(cores->grid_x, d->grid_x);
		cores->grid_y = (uint32_t)tdm_max(cores->grid_y, d->grid_y);
	}
	for (size_t i = 0; i < count && err == 0; i++) {
		if (tdm_core_mask_count(&list[i].mask) == 0)
			cores->unplaced += list[i].size;
		else
			err = tdm_program_memory_add(&memory, &list[i].mask,
				tdm_program_kind((enum tdm_kind)list[i].kind), list[i].address, list[i].size);
	}
	for (size_t i = 0; i < memory.count && err == 0; i++)
		place_class(&memory.classes[i], cores);
	tdm_program_memory_done(&memory);
	for (size_t i = 0; i < e->buffer_count; i++) {
		const struct tdm_exact_buffer *b = &e->buffers[i];
		if (b->unit == unit && (b->kind == TDM_KIND_L1 || b->kind == TDM_KIND_L1_SMALL) && b->from <= at &&
			b->to > at && b->bank_bytes != TDM_BYTES_UNKNOWN)
			cores->everywhere += b->bank_bytes;
	}
	for (uint32_t y = 0; y < cores->grid_y; y++)
		for (uint32_t x = 0; x < cores->grid_x; x++)
			cores->bytes[y][x] += cores->everywhere;
	return err;
}
