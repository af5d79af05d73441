/*
 * The memory maps of one device: address maps of its regions, the two ends of L1 that grow towards each other, and L1
 * core by core. Computed from a picture's live buffers, for either one process or all running processes. The picture
 * still owns the buffers and strings.
 */
#ifndef TDM_ANALYZE_DEVICE_MAP_H
#define TDM_ANALYZE_DEVICE_MAP_H

#include "analyze/live/region_map.h"
#include "base/diag.h"
#include "model/card/bank.h"

/*
 * ---- cores ----  The L1 of a device, core by core: the bytes of each kind on each core in the compute grid.
 *
 * L1 and L1_SMALL buffers occupy the same bytes on every core, because their banks are in lockstep. Circular buffers,
 * kernels and the like occupy the cores in their ranges. Programs that do not run at the same time share addresses, so
 * a core holds the union of the shared buffers. A buffer whose ranges were not reported is "somewhere": it is assigned
 * to no core, but raises the upper bound for every core.
 */

struct tdm_core_load {
	uint64_t bytes[TDM_KIND_COUNT];
	uint64_t total;
};

/* A shared buffer: bytes of one kind at the same address, on the cores in a list of ranges. */
struct tdm_core_span {
	uint64_t address, end;
	uint32_t ranges;
	uint8_t kind;
};

struct tdm_core_map {
	uint32_t grid_x, grid_y;         /* 0 if unknown, or if larger than TDM_CORE_SIDE; then there are no cores */
	struct tdm_core_load *cores;     /* cores[y * grid_x + x] */
	struct tdm_core_load everywhere; /* on every core; included in `cores` */
	struct tdm_core_load somewhere;  /* any core may hold up to this much more than `cores` shows */
	uint64_t somewhere_buffers;
	uint64_t outside_buffers; /* number of buffers with ranges outside the grid */
	uint32_t fullest;         /* index of the first core that holds the most bytes */
	/* bytes in the fullest core; TDM_BYTES_UNKNOWN without a grid, as is the next figure */
	uint64_t max_bytes;
	uint64_t average_bytes; /* rounded down */
	uint64_t bound_bytes;   /* upper bound for every core: max_bytes plus all of `somewhere` */
	/* used only while the map is being built: bytes on each of the picture's range lists */
	struct tdm_core_load *by_range;
	uint64_t *range_buffers;
	struct tdm_core_span *shared; /* used only while the map is being built: buffers that may share addresses */
	size_t shared_count, shared_cap;
	uint32_t range_list_count;
};

/* Whether buffers of this kind are in L1. */
bool tdm_core_map_has_kind(enum tdm_kind kind);

/* ---- the device ---- */

enum { TDM_DEVICE_MAP_REGIONS = TDM_KIND_TRACE + 1 }; /* DRAM, L1, L1_SMALL, TRACE; each kind is its index */

/*
 * The two ends of L1. L1 buffers grow down; circular buffers, dataflow buffers and scratchpads grow up. The runtime
 * refuses a program if the two ends meet. An address is 0 if there is no such buffer, and TDM_BYTES_UNKNOWN if such a
 * buffer has no address.
 */
struct tdm_device_l1 {
	uint64_t lowest;  /* lowest address of any L1 buffer */
	uint64_t highest; /* highest end of any circular buffer or the like */
	/* bytes between the two ends; 0 if they meet; TDM_BYTES_UNKNOWN if an end is unknown */
	uint64_t gap;
	bool clash; /* both ends are known, and lowest is below highest */
	/* number of buffers without an address: L1 buffers; circular buffers and the like */
	uint64_t unplaced, unplaced_growing;
	bool has_map;
	struct tdm_l1_map map; /* set if has_map; an unknown end is drawn at the last known address */
	struct tdm_diag why;   /* set if not has_map */
};

struct tdm_device_map {
	uint32_t device; /* index of the device in the picture */
	/* index of the only process in the map, which may have ended; TDM_INDEX_NONE for all running processes */
	uint32_t process;
	uint64_t buffers; /* number of buffers included */
	uint64_t ended;   /* number of buffers left out because their process has ended */
	struct tdm_region_map regions[TDM_DEVICE_MAP_REGIONS];
	struct tdm_device_l1 l1;
	struct tdm_core_map cores;
	uint8_t grid_from;   /* enum tdm_from: source of the grid */
	uint64_t core_bytes; /* L1 of one core according to the model, or TDM_BYTES_UNKNOWN */
};

/* The regions and the grid come from the programs that described them, else from the card model, if there is one. */
void tdm_device_map_init(
	struct tdm_device_map *map, const struct tdm_picture *picture, uint32_t device, uint32_t process);
void tdm_device_map_done(struct tdm_device_map *map); /* accepts a zeroed map */

#endif
