/*
 * What the running program takes of each core's L1 on one chip: circular buffers, dataflow buffers, scratchpads. Cores
 * that hold the same are one class, so the work follows the number of different cores, not the number of cores. On one
 * core, ranges of addresses that overlap count once: two programs, of which the capture did not say that the first is
 * gone, are in the same place. Without addresses the sizes are added.
 */
#ifndef TDM_ANALYZE_PROGRAM_MEMORY_H
#define TDM_ANALYZE_PROGRAM_MEMORY_H

#include "event/capture_node.h"

enum tdm_program_kind { TDM_PROGRAM_CB, TDM_PROGRAM_DFB, TDM_PROGRAM_SCRATCHPAD, TDM_PROGRAM_KINDS };

/* Of TDM_KIND_CB and the two after it. */
static inline enum tdm_program_kind tdm_program_kind(enum tdm_kind kind)
{
	return (enum tdm_program_kind)(kind - TDM_KIND_CB);
}

/* A set of cores: a word for each row, a bit for each column. */
struct tdm_core_mask {
	uint32_t rows[TDM_CAPTURE_GRID];
};

struct tdm_program_span {
	uint64_t begin, end;
};

/* Cores that hold the same. */
struct tdm_program_class {
	struct tdm_core_mask mask;
	uint32_t cores;
	uint32_t span_count;
	size_t span_cap;
	struct tdm_program_span *spans; /* sorted, apart from each other */
	uint64_t bytes[TDM_PROGRAM_KINDS];
	uint64_t total;                      /* of `bytes` */
	uint64_t stacked[TDM_PROGRAM_KINDS]; /* sizes added up, whatever the addresses */
};

struct tdm_program_memory {
	struct tdm_program_class *classes;
	size_t count, cap;
	uint64_t max[TDM_PROGRAM_KINDS], max_total; /* of any one core */
	uint64_t sum;                               /* over all cores */
	uint64_t plain[TDM_PROGRAM_KINDS];          /* sizes added up, whatever the cores and addresses */
	uint64_t stacked[TDM_PROGRAM_KINDS];        /* the most on one core, overlapping addresses counted twice */
	uint64_t stacked_total;
	bool cores_unknown; /* something is there whose cores are not recorded */
};

void tdm_program_memory_done(struct tdm_program_memory *memory); /* an empty one is all zeros */
void tdm_program_memory_clear(struct tdm_program_memory *memory);

uint32_t tdm_core_mask_count(const struct tdm_core_mask *mask);
void tdm_core_mask_add(struct tdm_core_mask *mask, const struct tdm_core_range *range);

/* `address` 0: not known. `mask` NULL: the cores are not known, any may have it. 0 or -ENOMEM. */
int tdm_program_memory_add(struct tdm_program_memory *memory, const struct tdm_core_mask *mask,
	enum tdm_program_kind kind, uint64_t address, uint64_t size);

/* The first core, by row, that holds the most. False when none holds anything. */
bool tdm_program_memory_worst(const struct tdm_program_memory *memory, uint32_t *x, uint32_t *y);

#endif
