/*
 * The address map of one memory region: what is taken, by which buffer, and the holes between. All banks of a region
 * are allocated in lockstep, so one bank represents all: addresses and bytes are those of one bank.
 *
 *     base [used][hole][used][used][hole      ] base + bank_size
 *
 * Buffers are added in any order, then the map is finished once. Buffers that cannot be placed are counted separately,
 * so that unknown memory is never drawn as free. The input may be damaged, or come from several processes: where two
 * buffers claim the same bytes, the one that begins first gets them, and the overlap is counted.
 */
#ifndef TDM_ANALYZE_REGION_MAP_H
#define TDM_ANALYZE_REGION_MAP_H

#include "state/picture.h"

/* A buffer, or its part inside the region. */
struct tdm_region_span {
	uint64_t address, bytes; /* never 0 bytes */
	uint64_t overlap;        /* how many of its first bytes an earlier span claims, too */
	const struct tdm_buffer *buffer;
	uint32_t holding; /* of its owner: index into the picture */
};

/* A hole. */
struct tdm_region_gap {
	uint64_t address, bytes;
	const struct tdm_region_span *below, *above; /* its neighbours; NULL: the edge of the region */
};

struct tdm_region_map {
	uint8_t kind; /* enum tdm_kind */
	uint8_t from; /* enum tdm_from, of the next three; TDM_FROM_NONE: unknown, the extent of the spans */
	uint64_t base, bank_size; /* the sum fits 64 bits */
	uint32_t banks;           /* 0: unknown */
	size_t span_count, gap_count;
	struct tdm_region_span *spans; /* by address */
	struct tdm_region_gap *gaps;   /* by address */
	uint64_t used_bytes;           /* bytes under at least one span, in one bank */
	uint64_t free_bytes;           /* TDM_BYTES_UNKNOWN without a region, or while buffers are unplaced */
	uint64_t largest_free;         /* the same */
	double fragmentation;          /* 1 - largest / free, 0 when nothing is free; NAN: unknown */
	uint64_t overlaps;             /* spans that begin inside another one */
	uint64_t overlap_bytes;        /* claimed more than once: all spans together have used_bytes + overlap_bytes */
	uint64_t views;                /* buffers that take no memory: views, and those of 0 bytes */
	uint64_t unplaced;             /* buffers whose address or size in a bank is unknown */
	uint64_t unplaced_bytes;       /* that they reserve, in all banks */
	uint64_t outside;              /* buffers that are wholly or partly outside the region */
	uint64_t outside_bytes;        /* their bytes outside, in one bank */
	size_t span_cap;
};

/* A region with a bank_size of 0 has an unknown place. */
void tdm_region_map_init(struct tdm_region_map *map, enum tdm_kind kind, const struct tdm_region *region, uint8_t from);
void tdm_region_map_done(struct tdm_region_map *map);

/* 0 or -ENOMEM. */
int tdm_region_map_add(struct tdm_region_map *map, const struct tdm_buffer *buffer, uint32_t holding);

/* Sorts, finds the holes, and adds up. 0 or -ENOMEM. */
int tdm_region_map_finish(struct tdm_region_map *map);

/* The largest first, equal ones by address. */
void tdm_region_gaps_sort(struct tdm_region_gap *gaps, size_t count);

/* One cell of a picture. */
struct tdm_region_cell {
	uint64_t used_bytes;
	uint64_t buffer_bytes;              /* those of `span` */
	const struct tdm_region_span *span; /* the one with the most bytes in the cell, or NULL */
	int16_t permille;                   /* used; 1 to 999 if partly; -1: unknown */
};

/* Cuts `bytes` from `address` on into `count` cells that differ by at most one byte, for a picture of the region or of
 * a part of it. With more cells than bytes, neighbours show the same byte. Bytes outside the region count as unused. */
void tdm_region_map_cells(const struct tdm_region_map *map, uint64_t address, uint64_t bytes,
	struct tdm_region_cell *cells, uint32_t count);

/* The invariant, for tests: spans in order and inside, gaps between them, all sums right. */
bool tdm_region_map_is_valid(const struct tdm_region_map *map);

#endif
