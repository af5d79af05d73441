/* The states of a memory report as a source of events. */
#include "sources/memory_report.h"

#include <stdio.h>
#include <stdlib.h>

/* Steps of the events of one state. */
enum step { STEP_PROGRAM, STEP_CLEAR, STEP_DEVICE, STEP_BLOCKS };

struct report_source {
	struct tdm_source source;
	const struct tdm_memory_report *report;
	size_t state, region, block; /* the latter two within the state and the region */
	uint8_t step;
	char name[24];
	struct tdm_device_info about;
};

static void describe(struct report_source *s, const struct tdm_memory_state *state)
{
	s->about = (struct tdm_device_info){ 0 };
	for (size_t i = 0; i < state->region_count && s->about.region_count < TDM_REGIONS_MAX; i++) {
		const struct tdm_memory_region *region = &s->report->regions[state->first_region + i];
		uint64_t base = UINT64_MAX, product;
		for (size_t k = 0; k < region->block_count; k++) {
			const struct tdm_memory_block *block = &s->report->blocks[region->first_block + k];
			base = block->address < base ? block->address : base;
		}
		base = region->block_count != 0 ? base : 0;
		if (region->total == TDM_BYTES_UNKNOWN || region->total > UINT64_MAX - base ||
			__builtin_mul_overflow(region->total, (uint64_t)region->banks, &product))
			continue;
		s->about.regions[s->about.region_count++] = (struct tdm_region){
			.kind = region->kind,
			.banks = region->banks,
			.base = base,
			.bank_size = region->total,
		};
	}
}

/* The next allocated block of the state as an event; false: there is none. */
static bool next_block(struct report_source *s, const struct tdm_memory_state *state, struct tdm_event *event)
{
	for (; s->region < state->region_count; s->region++, s->block = 0) {
		const struct tdm_memory_region *region = &s->report->regions[state->first_region + s->region];
		while (s->block < region->block_count) {
			const struct tdm_memory_block *block = &s->report->blocks[region->first_block + s->block++];
			uint64_t product;
			if (!block->allocated)
				continue;
			bool fits = !__builtin_mul_overflow(block->bytes, (uint64_t)region->banks, &product);
			*event = (struct tdm_event){
				.op = TDM_OP_ALLOC,
				.kind = region->kind,
				.id = block->address,
				.address = block->address,
				.size = fits && region->banks != 0 ? product : TDM_SIZE_UNKNOWN,
				.bytes_per_bank = block->bytes,
				.banks = fits ? region->banks : 0,
				.position = region->line,
			};
			return true;
		}
	}
	return false;
}

static int report_next(struct tdm_source *source, struct tdm_event *event, struct tdm_diag *diag)
{
	struct report_source *s = (struct report_source *)source;
	(void)diag;
	for (; s->state < s->report->state_count; s->state++, s->step = STEP_PROGRAM) {
		const struct tdm_memory_state *state = &s->report->states[s->state];
		switch ((enum step)s->step) {
		case STEP_PROGRAM:
			s->step = STEP_CLEAR;
			if (state->has_program) {
				int len = snprintf(s->name, sizeof s->name, "%llu", (unsigned long long)state->program);
				*event = (struct tdm_event){
					.op = TDM_OP_PROGRAM, .name = { s->name, (size_t)len }, .position = state->line
				};
				return 1;
			}
			/* fall through */
		case STEP_CLEAR:
			s->step = STEP_DEVICE;
			*event = (struct tdm_event){ .op = TDM_OP_CLEAR, .position = state->line };
			return 1;
		case STEP_DEVICE:
			s->step = STEP_BLOCKS;
			s->region = s->block = 0;
			describe(s, state);
			*event = (struct tdm_event){ .op = TDM_OP_DEVICE, .about = &s->about, .position = state->line };
			return 1;
		case STEP_BLOCKS:
			if (next_block(s, state, event))
				return 1;
			break;
		}
	}
	return 0;
}

static void report_close(struct tdm_source *source)
{
	free(source);
}

struct tdm_source *tdm_memory_report_events(const struct tdm_memory_report *report)
{
	static const struct tdm_source_ops ops = { "memory-report", report_next, report_close };
	struct report_source *s = calloc(1, sizeof *s);
	if (s == NULL)
		return NULL;
	s->source.ops = &ops;
	s->source.refused = report->refused;
	s->report = report;
	return &s->source;
}
