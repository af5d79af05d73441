/*
 * L1 of a device core by core: how many bytes of each kind lie on each core of the compute grid.
 *
 * L1 and L1_SMALL buffers take the same bytes on every core, because their banks are in lockstep. Circular buffers,
 * kernels and the like lie on the cores of their ranges. Of a buffer whose ranges nobody told only its size is known:
 * it lies "somewhere", is no part of any core, and makes the bound of what a core may have. Not thread-safe.
 */
#ifndef TDM_ANALYZE_CORE_MAP_H
#define TDM_ANALYZE_CORE_MAP_H

#include "state/picture.h"

/* The largest grid that is believed, each way. */
enum { TDM_CORE_MAP_SIDE = 64 };

struct tdm_core_load {
	uint64_t bytes[TDM_KIND_COUNT];
	uint64_t total;
};

struct tdm_core_map {
	uint32_t grid_x, grid_y;         /* 0: unknown; then there are no cores */
	struct tdm_core_load *cores;     /* cores[y * grid_x + x] */
	struct tdm_core_load everywhere; /* of what every core has; it is in `cores`, too */
	struct tdm_core_load somewhere;  /* at most this lies on any core besides what `cores` say */
	uint64_t somewhere_buffers;
	uint64_t outside_buffers;       /* with ranges that reach out of the grid */
	uint32_t fullest;               /* index of the first core with the most bytes */
	uint64_t max_bytes;             /* of that; TDM_BYTES_UNKNOWN without a grid, like the next */
	uint64_t average_bytes;         /* rounded down */
	uint64_t bound_bytes;           /* no core has more: the most, and all that lies somewhere */
	struct tdm_core_load *by_range; /* while it is made: what lies on each list of ranges of the picture */
	uint64_t *range_buffers;
	uint32_t range_list_count;
};

/* A grid that is larger than what is believed is taken as unknown. 0 or -ENOMEM. */
int tdm_core_map_init(struct tdm_core_map *map, const struct tdm_picture *picture, uint32_t grid_x, uint32_t grid_y);
void tdm_core_map_done(struct tdm_core_map *map);

/* Whether a buffer of this kind lies in L1. */
bool tdm_core_map_has_kind(enum tdm_kind kind);

/* `banks` is how many banks the kind has on the device; 0: unknown. */
void tdm_core_map_add(struct tdm_core_map *map, const struct tdm_buffer *buffer, uint32_t banks);

void tdm_core_map_finish(struct tdm_core_map *map, const struct tdm_picture *picture);

#endif
