/* The invariants of a capture that is being counted: sums agree with the buffers, classes of cores do not overlap.
 * Slow. For tests and fuzz targets. */
#ifndef TDM_TESTS_CAPTURE_VALID_H
#define TDM_TESTS_CAPTURE_VALID_H

#include "analyze/capture/capture_exact.h"
#include "base/units.h"

static inline bool program_memory_is_valid(const struct tdm_program_memory *m)
{
	struct tdm_core_mask seen = { 0 };
	for (size_t i = 0; i < m->count; i++) {
		const struct tdm_program_class *c = &m->classes[i];
		uint64_t total = 0;
		for (size_t y = 0; y < TDM_CAPTURE_GRID; y++) {
			if ((seen.rows[y] & c->mask.rows[y]) != 0)
				return false;
			seen.rows[y] |= c->mask.rows[y];
		}
		for (int kind = 0; kind < TDM_PROGRAM_KINDS; kind++)
			total += c->bytes[kind];
		if (total != c->total || total > m->max_total || tdm_core_mask_count(&c->mask) != c->cores ||
			c->cores == 0)
			return false;
		for (uint32_t k = 0; k < c->span_count; k++)
			if (c->spans[k].begin >= c->spans[k].end || (k > 0 && c->spans[k - 1].end >= c->spans[k].begin))
				return false;
	}
	return true;
}

static inline bool capture_is_valid(const struct tdm_capture_exact *e)
{
	for (size_t i = 1; i < e->buffer_count; i++)
		if (e->buffers[i - 1].index >= e->buffers[i].index)
			return false;
	for (size_t u = 0; u < e->unit_count; u++)
		for (int k = 0; k < TDM_KIND_COUNT; k++) {
			const struct tdm_exact_kind *kind = &e->units[u].kinds[k];
			int64_t now = 0, bank = 0;
			for (size_t i = 0; i < e->buffer_count; i++) {
				const struct tdm_exact_buffer *b = &e->buffers[i];
				if (b->unit != u || b->kind != k)
					continue;
				int sign = b->state == TDM_EXACT_LIVE                  ? 1
					   : b->state == TDM_EXACT_FREED && b->existed ? -1
										       : 0;
				now += sign * (int64_t)b->size;
				if (b->bank_bytes != TDM_BYTES_UNKNOWN)
					bank += sign * (int64_t)b->bank_bytes;
			}
			if (now != kind->now || bank != kind->bank_now)
				return false;
		}
	for (size_t i = 0; i < e->chip_count; i++)
		if (!program_memory_is_valid(&e->chips[i].memory))
			return false;
	return true;
}

#endif
