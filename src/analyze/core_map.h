/*
 * L1 of a device core by core: how many bytes of each kind are on each core of the compute grid.
 *
 * L1 and L1_SMALL buffers take the same bytes on every core, because their banks are in lockstep. Circular buffers,
 * kernels and the like are on the cores of their ranges. Programs that do not run at the same time share addresses, so
 * of shared buffers a core has the union. A buffer whose ranges were not reported is "somewhere": it counts for no
 * core, but raises the bound of what a core may hold. Not thread-safe.
 */
#ifndef TDM_ANALYZE_CORE_MAP_H
#define TDM_ANALYZE_CORE_MAP_H

#include "state/picture.h"

/* A grid that is larger in either direction is not believed. */
enum { TDM_CORE_MAP_SIDE = 64 };

struct tdm_core_load {
	uint64_t bytes[TDM_KIND_COUNT];
	uint64_t total;
};

/* A shared buffer: bytes of one kind at the same address on the cores of a list of ranges. */
struct tdm_core_span {
	uint64_t address, end;
	uint32_t ranges;
	uint8_t kind;
};

struct tdm_core_map {
	uint32_t grid_x, grid_y;         /* 0: unknown; then there are no cores */
	struct tdm_core_load *cores;     /* cores[y * grid_x + x] */
	struct tdm_core_load everywhere; /* on every core; also in `cores` */
	struct tdm_core_load somewhere;  /* any core may have up to this much more than `cores` says */
	uint64_t somewhere_buffers;
	uint64_t outside_buffers;       /* with ranges that exceed the grid */
	uint32_t fullest;               /* index of the first core with the most bytes */
	uint64_t max_bytes;             /* of that; TDM_BYTES_UNKNOWN without a grid, like the next */
	uint64_t average_bytes;         /* rounded down */
	uint64_t bound_bytes;           /* no core has more: max_bytes and all of `somewhere` */
	struct tdm_core_load *by_range; /* while the map is built: the bytes on each list of ranges of the picture */
	uint64_t *range_buffers;
	struct tdm_core_span *shared; /* the same: buffers that may have the bytes of others */
	size_t shared_count, shared_cap;
	bool failed; /* memory ran out */
	uint32_t range_list_count;
};

/* A grid larger than TDM_CORE_MAP_SIDE counts as unknown. 0 or -ENOMEM. */
int tdm_core_map_init(struct tdm_core_map *map, const struct tdm_picture *picture, uint32_t grid_x, uint32_t grid_y);
void tdm_core_map_done(struct tdm_core_map *map);

/* Whether buffers of this kind are in L1. */
bool tdm_core_map_has_kind(enum tdm_kind kind);

/* `banks`: of the kind on the device; 0: unknown. */
void tdm_core_map_add(struct tdm_core_map *map, const struct tdm_buffer *buffer, uint32_t banks);

/* 0 or -ENOMEM. */
int tdm_core_map_finish(struct tdm_core_map *map, const struct tdm_picture *picture);

#endif
