/*
 * Bank arithmetic: from a buffer to bytes in each bank, and from a bank to its core. All banks of a kind are allocated
 * in lockstep: a buffer takes the same addresses in every bank, even in banks that hold none of its pages.
 */
#ifndef TDM_DEVICE_BANK_H
#define TDM_DEVICE_BANK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/kind.h"
#include "device/card.h"

struct tdm_buffer_shape {
	uint64_t size;      /* bytes asked for, all banks together */
	uint64_t page_size; /* size is a multiple of it */
	uint32_t cores;     /* 0: interleaved over all banks; else sharded over this many cores */
};

struct tdm_bank_spread {
	uint64_t pages;
	uint64_t pages_per_bank;
	uint64_t aligned_page;   /* page size rounded up to the page alignment */
	uint64_t aligned_size;   /* aligned pages, including those that fill up shards: the runtime's messages call this
				    the size */
	uint64_t bytes_per_bank; /* before the allocator's own rounding */
	uint64_t block_bytes;    /* after it: the bytes taken in each bank */
	uint64_t reserved_bytes; /* block_bytes in every bank, because of the lockstep */
	uint64_t occupied_bytes; /* block_bytes in the banks or cores that hold a page */
	uint32_t banks;          /* banks in lockstep */
	uint32_t banks_holding;  /* banks or cores that hold a page */
};

/* Geometry of one kind of memory on a card: the range that its allocator manages. */
struct tdm_bank_range {
	enum tdm_kind kind;
	uint64_t base, size;  /* per bank; size 0: the region does not exist */
	uint64_t page_align;  /* of pages */
	uint64_t block_align; /* of allocations */
	uint32_t banks;       /* 0 when there is no L1_SMALL region */
	bool bottom_up;       /* the runtime's default direction */
};

/*
 * For DRAM, L1, L1_SMALL and TRACE. 0, TDM_EUNKNOWN (with the field's name in diag), TDM_EREFUSED when the regions do
 * not fit, or -EINVAL for any other kind.
 */
int tdm_bank_range(
	const struct tdm_card *card, enum tdm_kind kind, struct tdm_bank_range *range, struct tdm_diag *diag);

/* The bytes that a trace region of `total` bytes takes at the top of each of `banks` banks. False above 64 bits. */
bool tdm_bank_trace_part(uint64_t total, uint64_t align, uint32_t banks, uint64_t *bytes);

/*
 * 0, -ERANGE when a figure does not fit 64 bits, or TDM_EREFUSED with the reason (page size 0, size not a multiple of
 * the page, more shards than banks, interleaved L1_SMALL, a region without banks) in diag. A size of 0 takes nothing.
 */
int tdm_bank_spread(const struct tdm_bank_range *range, const struct tdm_buffer_shape *shape,
	struct tdm_bank_spread *spread, struct tdm_diag *diag);

/* Above this the runtime's shuffle draws differently; no chip comes near it. */
enum { TDM_BANK_CORES_MAX = 46340 };

struct tdm_core {
	uint32_t x, y; /* logical coordinates */
};

/*
 * The logical core of every L1 bank: cores[bank], for `banks` = grid_x * grid_y banks. The runtime shuffles the banks
 * over the cores with a fixed seed, the same in every run. 0 or -EINVAL (`banks` is not grid_x * grid_y, is 0, or is
 * above TDM_BANK_CORES_MAX).
 */
int tdm_bank_cores(uint32_t grid_x, uint32_t grid_y, struct tdm_core *cores, uint32_t banks);

#endif
