/*
 * The L1 that the running program takes on each core of one chip: circular buffers, dataflow buffers, scratchpads.
 * Cores with the same contents form one class, so the cost depends on the number of classes, not of cores. On one core,
 * overlapping address ranges count once. Without addresses the sizes are added up.
 */
#ifndef TDM_ANALYZE_PROGRAM_MEMORY_H
#define TDM_ANALYZE_PROGRAM_MEMORY_H

#include "event/capture_node.h"

enum tdm_program_kind { TDM_PROGRAM_CB, TDM_PROGRAM_DFB, TDM_PROGRAM_SCRATCHPAD, TDM_PROGRAM_KINDS };

/* For TDM_KIND_CB and the two kinds after it. */
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

/* Cores with the same contents. */
struct tdm_program_class {
	struct tdm_core_mask mask;
	uint32_t cores;
	uint32_t span_count;
	size_t span_cap;
	struct tdm_program_span *spans; /* sorted, not touching each other */
	uint64_t bytes[TDM_PROGRAM_KINDS];
	uint64_t total;                      /* of `bytes` */
	uint64_t stacked[TDM_PROGRAM_KINDS]; /* sizes added up, regardless of addresses */
	struct tdm_program_span
		all[TDM_PROGRAM_KINDS]; /* from the lowest to the highest address; empty: none is known */
};

struct tdm_program_memory {
	struct tdm_program_class *classes;
	size_t count, cap;
	uint64_t max[TDM_PROGRAM_KINDS], max_total; /* of any one core */
	uint64_t sum;                               /* over all cores */
	uint64_t plain[TDM_PROGRAM_KINDS];          /* sizes added up, regardless of cores and addresses */
	uint64_t stacked[TDM_PROGRAM_KINDS];        /* the most on one core, overlapping addresses counted twice */
	uint64_t stacked_total;
	bool cores_unknown; /* some memory has unrecorded cores */
};

void tdm_program_memory_done(struct tdm_program_memory *memory); /* a zeroed one is empty */
void tdm_program_memory_clear(struct tdm_program_memory *memory);

uint32_t tdm_core_mask_count(const struct tdm_core_mask *mask);
void tdm_core_mask_add(struct tdm_core_mask *mask, const struct tdm_core_range *range);

bool tdm_core_masks_meet(const struct tdm_core_mask *a, const struct tdm_core_mask *b);

/* How an allocation relates to what is there, of its kind and on its cores. */
enum tdm_program_order {
	TDM_PROGRAM_FOLLOWS,  /* it is above; or there is nothing */
	TDM_PROGRAM_UNCLEAR,  /* it overlaps, or an address is unknown */
	TDM_PROGRAM_RESTARTS, /* it begins at the first address, or below */
};
enum tdm_program_order tdm_program_memory_order(const struct tdm_program_memory *memory,
	const struct tdm_core_mask *mask, enum tdm_program_kind kind, uint64_t address);

/* `address` 0: unknown. `mask` NULL: the cores are unknown, and any may have it. 0 or -ENOMEM. */
int tdm_program_memory_add(struct tdm_program_memory *memory, const struct tdm_core_mask *mask,
	enum tdm_program_kind kind, uint64_t address, uint64_t size);

/* The first core, row by row, that holds the most. False when all are empty. */
bool tdm_program_memory_worst(const struct tdm_program_memory *memory, uint32_t *x, uint32_t *y);

#endif
