/*
 * The address map of one memory region: the used bytes, the buffers that use them, and the holes in between. All banks
 * of a region are allocated in lockstep, so one bank represents all: addresses and bytes are those of one bank.
 *
 *     base [used][hole][used][used][hole      ] base + bank_size
 *
 * Buffers are added in any order, and then the map is finished once. Buffers that cannot be placed are counted
 * separately, so that unknown memory is never drawn as free. The input may be damaged, or come from several processes:
 * if two buffers claim the same bytes, the buffer that begins first gets them, and the overlap is counted.
 */
#ifndef TDM_ANALYZE_REGION_MAP_H
#define TDM_ANALYZE_REGION_MAP_H

#include "live/join/picture.h"

/* A buffer, or the part of it inside the region. */
struct tdm_region_span {
	uint64_t address, bytes; /* never 0 bytes */
	uint64_t overlap;        /* number of bytes at the span's beginning that an earlier span also claims */
	const struct tdm_buffer *buffer;
	uint32_t holding; /* index of the buffer's holding in the picture */
};

/* A hole. */
struct tdm_region_gap {
	uint64_t address, bytes;
	const struct tdm_region_span *below, *above; /* neighbouring spans; NULL at the edge of the region */
};

struct tdm_region_map {
	uint8_t kind; /* enum tdm_kind */
	uint8_t from; /* enum tdm_from: source of the next three; if TDM_FROM_NONE, they are the extent of the spans */
	uint64_t base, bank_size; /* the sum fits into 64 bits */
	uint32_t banks;           /* 0 if unknown */
	size_t span_count, gap_count;
	struct tdm_region_span *spans; /* sorted by address */
	struct tdm_region_gap *gaps;   /* sorted by address */
	uint64_t used_bytes;           /* bytes covered by at least one span, in one bank */
	/* TDM_BYTES_UNKNOWN if the region is unknown, or if there are unplaced buffers */
	uint64_t free_bytes;
	uint64_t largest_free;   /* TDM_BYTES_UNKNOWN in the same cases */
	double fragmentation;    /* 1 - largest / free, 0 if nothing is free; NAN if unknown */
	uint64_t overlaps;       /* number of spans that begin inside another span */
	uint64_t overlap_bytes;  /* bytes claimed again: the spans add up to used_bytes + overlap_bytes */
	uint64_t views;          /* number of buffers that use no memory: views, and buffers of 0 bytes */
	uint64_t unplaced;       /* number of buffers whose address or size per bank is unknown */
	uint64_t unplaced_bytes; /* bytes that these buffers reserve in all banks */
	uint64_t outside;        /* number of buffers wholly or partly outside the region */
	uint64_t outside_bytes;  /* bytes of these buffers outside the region, in one bank */
	size_t span_cap;
};

/* A bank_size of 0 means that the region's place is unknown. */
void tdm_region_map_init(struct tdm_region_map *map, enum tdm_kind kind, const struct tdm_region *region, uint8_t from);
void tdm_region_map_done(struct tdm_region_map *map);

void tdm_region_map_add(struct tdm_region_map *map, const struct tdm_buffer *buffer, uint32_t holding);

/* Sorts the spans, finds the holes, and computes the sums. */
void tdm_region_map_finish(struct tdm_region_map *map);

/* Sorts holes, largest first; holes of equal size by address. */
void tdm_region_gaps_sort(struct tdm_region_gap *gaps, size_t count);

/* One cell of a drawing. */
struct tdm_region_cell {
	uint64_t used_bytes;
	uint64_t buffer_bytes;              /* bytes of `span` in the cell */
	const struct tdm_region_span *span; /* the buffer with the most bytes in the cell, or NULL */
	int16_t permille;                   /* used share; 1 to 999 if partly used; -1 if unknown */
};

/*
 * Cuts `bytes` bytes beginning at `address` into `count` cells, whose sizes differ by at most one byte, to draw all or
 * part of the region. If there are more cells than bytes, neighbouring cells show the same byte. Bytes outside the
 * region count as unused.
 */
void tdm_region_map_cells(const struct tdm_region_map *map, uint64_t address, uint64_t bytes,
	struct tdm_region_cell *cells, uint32_t count);

#endif
