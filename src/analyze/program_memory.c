#include "analyze/program_memory.h"
#include "base/number.h"
#include "base/reserve.h"

#include <errno.h>
#include <stdlib.h>

enum { SPANS_MAX = 256 }; /* of one class; further ones are added regardless of addresses */

void tdm_program_memory_clear(struct tdm_program_memory *m)
{
	for (size_t i = 0; i < m->count; i++)
		free(m->classes[i].spans);
	struct tdm_program_class *classes = m->classes;
	size_t cap = m->cap;
	*m = (struct tdm_program_memory){ .classes = classes, .cap = cap };
}

void tdm_program_memory_done(struct tdm_program_memory *m)
{
	tdm_program_memory_clear(m);
	free(m->classes);
	*m = (struct tdm_program_memory){ 0 };
}

void tdm_core_mask_add(struct tdm_core_mask *mask, const struct tdm_core_range *range)
{
	uint32_t width = (uint32_t)(range->x1 - range->x0 + 1);
	uint32_t columns = (width == 32 ? UINT32_MAX : (UINT32_C(1) << width) - 1) << range->x0;
	for (uint32_t y = range->y0; y <= range->y1; y++)
		mask->rows[y] |= columns;
}

/* Counts bits without the instruction for it, which old processors lack. */
static uint32_t count_bits(uint32_t word)
{
	word -= word >> 1 & 0x55555555;
	word = (word & 0x33333333) + (word >> 2 & 0x33333333);
	return ((word + (word >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

uint32_t tdm_core_mask_count(const struct tdm_core_mask *mask)
{
	uint32_t count = 0;
	for (size_t y = 0; y < TDM_CAPTURE_GRID; y++)
		count += count_bits(mask->rows[y]);
	return count;
}

bool tdm_core_masks_meet(const struct tdm_core_mask *a, const struct tdm_core_mask *b)
{
	uint32_t any = 0;
	for (size_t y = 0; y < TDM_CAPTURE_GRID; y++)
		any |= a->rows[y] & b->rows[y];
	return any != 0;
}

/* Splits `a` by `b`: *both gets the cores in both, *rest those in `a` only. The flags say which of the two has any. */
static void split(const struct tdm_core_mask *a, const struct tdm_core_mask *b, struct tdm_core_mask *both,
	struct tdm_core_mask *rest, bool *has_both, bool *has_rest)
{
	uint32_t any_both = 0, any_rest = 0;
	for (size_t y = 0; y < TDM_CAPTURE_GRID; y++) {
		both->rows[y] = a->rows[y] & b->rows[y];
		rest->rows[y] = a->rows[y] & ~b->rows[y];
		any_both |= both->rows[y];
		any_rest |= rest->rows[y];
	}
	*has_both = any_both != 0;
	*has_rest = any_rest != 0;
}

static struct tdm_program_class *new_class(struct tdm_program_memory *m, const struct tdm_core_mask *mask)
{
	if (tdm_reserve(&m->classes, &m->cap, m->count + 1, sizeof *m->classes) != 0)
		return NULL;
	struct tdm_program_class *c = &m->classes[m->count++];
	*c = (struct tdm_program_class){ .mask = *mask, .cores = tdm_core_mask_count(mask) };
	return c;
}

/* A new class with the contents of class `from`, for the cores in `mask`, which `from` no longer has. */
static struct tdm_program_class *split_class(
	struct tdm_program_memory *m, size_t from, const struct tdm_core_mask *mask)
{
	struct tdm_program_class *c = new_class(m, mask);
	if (c == NULL)
		return NULL;
	struct tdm_program_class *old = &m->classes[from];
	struct tdm_program_span *spans = NULL;
	if (old->span_count != 0) {
		spans = malloc(old->span_count * sizeof *spans);
		if (spans == NULL) {
			m->count--;
			return NULL;
		}
		memcpy(spans, old->spans, old->span_count * sizeof *spans);
	}
	const struct tdm_program_class own = *c;
	*c = *old;
	c->mask = own.mask;
	c->cores = own.cores;
	c->spans = spans;
	c->span_cap = old->span_count;
	old->cores -= own.cores;
	return c;
}

static int insert_span(struct tdm_program_class *c, uint32_t at, struct tdm_program_span span)
{
	if (tdm_reserve(&c->spans, &c->span_cap, c->span_count + 1U, sizeof *c->spans) != 0)
		return -ENOMEM;
	memmove(&c->spans[at + 1], &c->spans[at], (c->span_count - at) * sizeof *c->spans);
	c->spans[at] = span;
	c->span_count++;
	return 0;
}

/* Adds a span, joined with those that it touches. *fresh: its bytes that were not covered before. */
static int cover(struct tdm_program_class *c, struct tdm_program_span span, uint64_t *fresh)
{
	uint32_t first = 0, last;
	*fresh = span.end - span.begin;
	while (first < c->span_count && c->spans[first].end < span.begin)
		first++;
	for (last = first; last < c->span_count && c->spans[last].begin <= span.end; last++) {
		uint64_t from = tdm_max(c->spans[last].begin, span.begin), to = tdm_min(c->spans[last].end, span.end);
		*fresh -= to > from ? to - from : 0;
	}
	if (first == last)
		return c->span_count < SPANS_MAX ? insert_span(c, first, span) : 0;
	struct tdm_program_span *joined = &c->spans[first];
	joined->begin = tdm_min(joined->begin, span.begin);
	joined->end = tdm_max(c->spans[last - 1].end, span.end);
	memmove(joined + 1, &c->spans[last], (c->span_count - last) * sizeof *c->spans);
	c->span_count -= last - first - 1;
	return 0;
}

static int put(struct tdm_program_memory *m, struct tdm_program_class *c, enum tdm_program_kind kind, uint64_t address,
	uint64_t size)
{
	uint64_t fresh = size, stacked = 0, all;
	struct tdm_program_span span = { address, address + size }, *kinds = &c->all[kind];
	int err = 0;
	if (address != 0 && size != 0) {
		err = cover(c, span, &fresh);
		kinds->begin = kinds->end != 0 ? tdm_min(kinds->begin, span.begin) : span.begin;
		kinds->end = tdm_max(kinds->end, span.end);
	}
	if (err != 0)
		return err;
	c->bytes[kind] += fresh;
	c->total += fresh;
	c->stacked[kind] += size;
	for (int i = 0; i < TDM_PROGRAM_KINDS; i++)
		stacked += c->stacked[i];
	m->stacked[kind] = tdm_max(m->stacked[kind], c->stacked[kind]);
	m->stacked_total = tdm_max(m->stacked_total, stacked);
	m->max[kind] = tdm_max(m->max[kind], c->bytes[kind]);
	m->max_total = tdm_max(m->max_total, c->total);
	if (__builtin_mul_overflow(fresh, (uint64_t)c->cores, &all) || __builtin_add_overflow(m->sum, all, &m->sum))
		m->sum = UINT64_MAX / 2;
	return 0;
}

static int put_on(struct tdm_program_memory *m, const struct tdm_core_mask *mask, enum tdm_program_kind kind,
	uint64_t address, uint64_t size)
{
	struct tdm_core_mask both, rest, left = *mask, none;
	bool has_both, has_rest, has_left = true, ignored;
	size_t count = m->count;
	for (size_t i = 0; i < count && has_left; i++) {
		split(&m->classes[i].mask, mask, &both, &rest, &has_both, &has_rest);
		if (!has_both)
			continue;
		struct tdm_program_class *c = &m->classes[i];
		if (has_rest) {
			c = split_class(m, i, &both);
			if (c == NULL)
				return -ENOMEM;
			m->classes[i].mask = rest;
		}
		int err = put(m, c, kind, address, size);
		if (err != 0)
			return err;
		split(&left, &both, &none, &rest, &ignored, &has_left);
		left = rest;
	}
	if (!has_left || tdm_core_mask_count(&left) == 0)
		return 0;
	struct tdm_program_class *c = new_class(m, &left);
	return c != NULL ? put(m, c, kind, address, size) : -ENOMEM;
}

enum tdm_program_order tdm_program_memory_order(const struct tdm_program_memory *m, const struct tdm_core_mask *mask,
	enum tdm_program_kind kind, uint64_t address)
{
	enum tdm_program_order order = TDM_PROGRAM_FOLLOWS;
	for (size_t i = 0; i < m->count; i++) {
		const struct tdm_program_class *c = &m->classes[i];
		if (c->stacked[kind] == 0 || !tdm_core_masks_meet(&c->mask, mask))
			continue;
		if (address != 0 && c->all[kind].end != 0 && address <= c->all[kind].begin)
			return TDM_PROGRAM_RESTARTS;
		if (address == 0 || c->all[kind].end == 0 || address < c->all[kind].end)
			order = TDM_PROGRAM_UNCLEAR;
	}
	return order;
}

int tdm_program_memory_add(struct tdm_program_memory *m, const struct tdm_core_mask *mask, enum tdm_program_kind kind,
	uint64_t address, uint64_t size)
{
	struct tdm_core_mask any;
	m->plain[kind] += size;
	if (mask == NULL) {
		memset(&any, 0xff, sizeof any);
		mask = &any;
		m->cores_unknown = true;
	}
	/* Nearly always all cores of a program have the same contents. */
	if (m->count == 1 && memcmp(&m->classes[0].mask, mask, sizeof *mask) == 0)
		return put(m, &m->classes[0], kind, address, size);
	return put_on(m, mask, kind, address, size);
}

bool tdm_program_memory_worst(const struct tdm_program_memory *m, uint32_t *x, uint32_t *y)
{
	uint32_t best = UINT32_MAX;
	for (size_t i = 0; i < m->count; i++) {
		const struct tdm_program_class *c = &m->classes[i];
		if (c->total != m->max_total || c->total == 0)
			continue;
		for (uint32_t row = 0; row < TDM_CAPTURE_GRID; row++)
			if (c->mask.rows[row] != 0) {
				uint32_t core = row * TDM_CAPTURE_GRID + (uint32_t)__builtin_ctz(c->mask.rows[row]);
				best = core < best ? core : best;
				break;
			}
	}
	*x = best % TDM_CAPTURE_GRID;
	*y = best / TDM_CAPTURE_GRID;
	return best != UINT32_MAX;
}
