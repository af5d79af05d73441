/*
 * How many bytes of each core's L1 are taken by items that may share addresses: the circular buffers of all programs
 * that are resident on a chip. Two programs with a buffer at the same address use the bytes once.
 *
 * The figures are exact. They change with each add and remove, at a cost that depends on the number of different
 * addresses in the range, not on the number of programs. Not thread-safe.
 */
#ifndef TDM_METAL_CORE_UNION_H
#define TDM_METAL_CORE_UNION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tidemark.h"

enum { TDM_CORE_UNION_GRID = 64 }; /* columns and rows of the largest grid */

struct tdm_core_group;

struct tdm_core_union { /* starts zeroed */
	struct tdm_core_group *groups;
	size_t count, cap, pieces;
};

/* An item: the same bytes in each core of its ranges, which may overlap. */
struct tdm_core_item {
	const struct tidemark_core_range *ranges;
	size_t range_count;
	uint64_t address, size;
};

/* Adds an item. False, with no figure changed, if it does not fit: no memory, or not a place in a core's L1. */
bool tdm_core_union_add(struct tdm_core_union *of, const struct tdm_core_item *item);
/* Removes an item that was added. False, with no figure changed, if there is no memory. */
bool tdm_core_union_remove(struct tdm_core_union *of, const struct tdm_core_item *item);
/* The bytes in the core that has the most, and in all cores together. */
void tdm_core_union_sum(const struct tdm_core_union *of, uint64_t *fullest, uint64_t *all);
bool tdm_core_union_is_valid(const struct tdm_core_union *of);
void tdm_core_union_done(struct tdm_core_union *of);

#endif
