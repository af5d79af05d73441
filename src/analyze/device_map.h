/*
 * Where the memory of one device is: the address maps of its regions, the two ends of L1 that grow towards each other,
 * and L1 core by core. Computed from the live buffers in a picture, of one process or of all running ones; the picture
 * keeps owning the buffers and texts.
 */
#ifndef TDM_ANALYZE_DEVICE_MAP_H
#define TDM_ANALYZE_DEVICE_MAP_H

#include "analyze/core_map.h"
#include "analyze/region_map.h"
#include "base/diag.h"
#include "device/l1_map.h"

enum { TDM_DEVICE_MAP_REGIONS = TDM_KIND_TRACE + 1 }; /* DRAM, L1, L1_SMALL, TRACE: their kind is their index */

struct tdm_device_map_query {
	uint32_t device;  /* index into the picture's devices */
	uint32_t process; /* index: only this one, even if it has ended; TDM_INDEX_NONE: all running ones */
};

/*
 * The two ends of L1. L1 buffers grow down; circular buffers, dataflow buffers and scratchpads grow up. The runtime
 * refuses a program when they meet. An address is 0 when there is no such buffer, and TDM_BYTES_UNKNOWN when one of
 * those buffers has no address.
 */
struct tdm_device_l1 {
	uint64_t lowest;                     /* address of an L1 buffer */
	uint64_t highest;                    /* end of a circular buffer or the like */
	uint64_t gap;                        /* bytes between; 0 when they meet; unknown like the ends */
	bool clash;                          /* both ends are known, and lowest is below highest */
	uint64_t unplaced, unplaced_growing; /* without an address: L1 buffers; circular buffers and the like */
	bool has_map;
	struct tdm_l1_map map; /* when has_map; an unknown end is drawn as far as it is known */
	struct tdm_diag why;   /* when not */
};

struct tdm_device_map {
	uint32_t device;
	uint64_t buffers; /* included */
	uint64_t ended;   /* buffers left out because their process has ended */
	struct tdm_region_map regions[TDM_DEVICE_MAP_REGIONS];
	struct tdm_device_l1 l1;
	struct tdm_core_map cores;
	uint8_t grid_from;   /* enum tdm_from, of the grid */
	uint64_t core_bytes; /* L1 of one core, from the model; TDM_BYTES_UNKNOWN */
};

/* Regions and grid come from the programs that described them, else from the model of the card, if there is one. 0,
 * -EINVAL when there is no such device or process, or -ENOMEM; after an error there is nothing to release. */
int tdm_device_map_init(
	struct tdm_device_map *map, const struct tdm_picture *picture, const struct tdm_device_map_query *query);
void tdm_device_map_done(struct tdm_device_map *map); /* a zeroed one is allowed */

#endif
