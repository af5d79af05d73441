/*
 * Sets of cores, and the union of items that may share addresses: the bytes in each core's L1 occupied by the circular
 * buffers of all programs on a chip. If two programs have a buffer at the same address, its bytes count once.
 *
 * The figures are exact. Add and remove update them at a cost that depends on the number of different addresses in the
 * range, not on the number of programs. Not thread-safe. Running out of memory is an error code, because this code also
 * runs inside other people's programs.
 */
#ifndef TDM_BASE_CORE_UNION_H
#define TDM_BASE_CORE_UNION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A rectangle of cores, including both corners. */
struct tdm_core_range {
	uint16_t x0, y0, x1, y1; /* x0 <= x1, y0 <= y1 */
} __attribute__((may_alias));    /* may_alias: struct tidemark_core_range in the public header is read as this type */

static inline bool tdm_core_range_is_valid(const struct tdm_core_range *range)
{
	return range->x0 <= range->x1 && range->y0 <= range->y1;
}

enum { TDM_CORE_SIDE = 64 }; /* columns and rows in the largest grid */

struct tdm_core_set {
	uint64_t rows[TDM_CORE_SIDE]; /* one bit per column */
};

/* Adds the cores in a range that lie within the largest grid; false if some do not. */
bool tdm_core_set_add(struct tdm_core_set *set, const struct tdm_core_range *range, uint32_t grid_x, uint32_t grid_y);

struct tdm_core_group;

struct tdm_core_union { /* starts zeroed */
	struct tdm_core_group *groups;
	size_t count, cap, pieces;
};

/* An item occupies the same bytes in each core of its ranges. The ranges may overlap. */
struct tdm_core_item {
	const struct tdm_core_range *ranges;
	size_t range_count;
	uint64_t address, size;
};

/* Adds an item. False if there is no memory or the address is not in a core's L1; the figures are then unchanged. */
bool tdm_core_union_add(struct tdm_core_union *of, const struct tdm_core_item *item);
/* Removes an item that was added. False if there is no memory; the figures are then unchanged. */
bool tdm_core_union_remove(struct tdm_core_union *of, const struct tdm_core_item *item);
/* The bytes used in the fullest core, and across all cores. */
void tdm_core_union_sum(const struct tdm_core_union *of, uint64_t *fullest, uint64_t *all);
bool tdm_core_union_is_valid(const struct tdm_core_union *of);
void tdm_core_union_done(struct tdm_core_union *of);

#endif
