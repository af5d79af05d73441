/*
 * Fuzz the reader of the memory reporter's files. The beginning of the input determines its form. Exercises:
 * base/csv.c, input/report/csv_report.c, analyze/report/memory_states.c, analyze/live/region_map.c.
 *
 * Properties: a refusal has a text and a line; blocks and regions belong to exactly one state; banks times bytes per
 * bank fits 64 bits; the reports can be written.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analyze/report/memory_states.h"
#include "fuzz_report.h"

static void check_report(const struct tdm_memory_states *r)
{
	size_t regions = 0, blocks = 0;
	for (size_t i = 0; i < r->state_count; i++) {
		check(r->states[i].first_region == regions);
		regions += r->states[i].region_count;
	}
	check(regions == r->region_count);
	for (size_t i = 0; i < r->region_count; i++) {
		const struct tdm_memory_region *g = &r->regions[i];
		uint64_t product;
		check(g->first_block == blocks && g->kind < TDM_KIND_COUNT);
		blocks += g->block_count;
		if (g->banks != 0 && g->total != TDM_BYTES_UNKNOWN)
			check(!__builtin_mul_overflow(g->total, (uint64_t)g->banks, &product));
		if (g->block_count != 0 && g->total != TDM_BYTES_UNKNOWN)
			check(g->allocated + g->free == g->total && g->largest <= g->free);
	}
	check(blocks == r->block_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tdm_memory_states states = { 0 };
	struct fuzz_reading r = { tdm_memory_states_take, &states, true, 0 };
	fuzz_read("memory_report", data, size, &r);
	r.take = NULL; /* problems found at the end are counted there */
	states.sink = (struct tdm_record_sink){ &r, fuzz_take };
	tdm_memory_states_end(&states);
	check(r.refused == states.refused);
	check_report(&states);
	fuzz_show(&tdm_memory_report, &states);
	tdm_memory_states_done(&states);
	return 0;
}
