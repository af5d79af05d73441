/*
 * The memory of a card: bank arithmetic, and a map of one core's L1.
 *
 * Bank arithmetic converts a buffer to bytes in each bank, and a bank to its core. All banks of a kind are allocated in
 * lockstep: a buffer takes the same addresses in every bank, even in banks that hold none of its pages.
 */
#ifndef TDM_MODEL_BANK_H
#define TDM_MODEL_BANK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"
#include "base/kind.h"
#include "model/card/card.h"

struct tdm_buffer_shape {
	uint64_t size;      /* requested bytes, all banks together */
	uint64_t page_size; /* `size` is a multiple of this */
	uint32_t cores;     /* 0 if interleaved over all banks; else the number of cores it is sharded over */
};

struct tdm_bank_spread {
	uint64_t pages;
	uint64_t pages_per_bank;
	uint64_t aligned_page;   /* page size rounded up to the page alignment */
	uint64_t aligned_size;   /* aligned pages, including shard padding; called the size in the runtime's messages */
	uint64_t bytes_per_bank; /* bytes per bank before the allocator's own rounding */
	uint64_t block_bytes;    /* after that rounding: the bytes taken in each bank */
	uint64_t reserved_bytes; /* block_bytes × all banks, because of the lockstep */
	uint64_t occupied_bytes; /* block_bytes × banks or cores holding a page */
	uint32_t banks;          /* banks in lockstep */
	uint32_t banks_holding;  /* banks or cores holding a page */
};

/* Geometry of one kind of memory on a card: the range that its allocator manages. */
struct tdm_bank_range {
	enum tdm_kind kind;
	uint64_t base, size;  /* per bank; size 0 if the region does not exist */
	uint64_t page_align;  /* alignment of pages */
	uint64_t block_align; /* alignment of allocations */
	uint32_t banks;       /* 0 if there is no L1_SMALL region */
	bool bottom_up;       /* the runtime's default direction */
};

/*
 * For DRAM, L1, L1_SMALL and TRACE. 0, TDM_EUNKNOWN (with the field's name in diag), TDM_EREFUSED when the regions do
 * not fit, or -EINVAL for any other kind.
 */
int tdm_bank_range(
	const struct tdm_card *card, enum tdm_kind kind, struct tdm_bank_range *range, struct tdm_diag *diag);

/* The bytes that a trace region of `total` bytes takes at the top of each of `banks` banks. False if they exceed 64
 * bits. */
bool tdm_bank_trace_part(uint64_t total, uint64_t align, uint32_t banks, uint64_t *bytes);

/*
 * 0, -ERANGE when a figure does not fit 64 bits, or TDM_EREFUSED with the reason (page size 0, size not a multiple of
 * the page, more shards than banks, interleaved L1_SMALL, a region without banks) in diag. A buffer of size 0 takes no
 * memory.
 */
int tdm_bank_spread(const struct tdm_bank_range *range, const struct tdm_buffer_shape *shape,
	struct tdm_bank_spread *spread, struct tdm_diag *diag);

/*
 * The invariants of a usable card: the grid fits the workers, bases are below sizes, alignments are powers of two.
 * Unknown fields violate none of them. 0, or TDM_EREFUSED with the reason in diag.
 */
int tdm_card_check(const struct tdm_card *card, struct tdm_diag *diag);

/* Above this number, the runtime's shuffle draws differently; no chip has nearly as many cores. */
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

/*
 * ---- one core's L1 ----
 *
 * From the bottom up: firmware, the kernel-config ring, circular buffers growing up, the gap, L1 buffers growing down,
 * and L1_SMALL at the top. Also the runtime's test when it compiles a program: circular buffers must not reach into L1
 * buffers.
 */

/* The buffers in one core's L1 at one moment. */
struct tdm_l1_use {
	uint64_t cb_end;    /* end address of the circular buffers; 0 if there are none */
	uint64_t l1_lowest; /* lowest address of an L1 buffer; 0 if there are none */
};

enum tdm_l1_zone {
	TDM_L1_FIRMWARE,
	TDM_L1_KERNEL_CONFIG,
	TDM_L1_CBS,
	TDM_L1_GAP,
	TDM_L1_BUFFERS,
	TDM_L1_SMALL_REGION,
	TDM_L1_ZONE_COUNT
};

struct tdm_l1_span {
	enum tdm_l1_zone zone;
	uint64_t address, size;
};

struct tdm_l1_map {
	struct tdm_l1_span span[TDM_L1_ZONE_COUNT]; /* in address order; empty ones have size 0 */
	uint64_t l1_size;
};

const char *tdm_l1_zone_name(enum tdm_l1_zone zone);

/*
 * 0, TDM_EUNKNOWN with the missing field in diag, or TDM_EREFUSED if the card's regions do not fit. Circular buffers
 * that reach into L1 buffers are drawn only up to the lowest L1 buffer. A NULL `use` means an empty L1.
 */
int tdm_l1_map(
	const struct tdm_card *card, const struct tdm_l1_use *use, struct tdm_l1_map *map, struct tdm_diag *diag);

enum tdm_l1_clash {
	TDM_L1_FITS,
	TDM_L1_BEYOND, /* the circular buffers grow beyond the end of L1 */
	TDM_L1_CLASH,  /* the circular buffers reach into an L1 buffer */
};

struct tdm_l1_verdict {
	enum tdm_l1_clash clash;
	uint64_t cb_end;   /* end of the circular-buffer region */
	uint64_t obstacle; /* address of the lowest L1 buffer, or the size of L1 */
	uint64_t over;     /* bytes in excess; 0 if it fits */
	uint64_t left;     /* bytes still free between the two; 0 if it does not fit */
};

/*
 * Places `count` circular buffers of the given sizes one after another from the card's L1 base, each start aligned to
 * the DRAM alignment, and makes the runtime's test against the lowest L1 buffer (0 if there is none). No circular
 * buffers always fit. 0, -ERANGE, TDM_EUNKNOWN, or TDM_EREFUSED when the card's regions do not fit.
 */
int tdm_l1_clash_test(const struct tdm_card *card, const uint64_t *cb_sizes, size_t count, uint64_t l1_lowest,
	struct tdm_l1_verdict *verdict, struct tdm_diag *diag);

/* Appends the runtime's message for a verdict that does not fit; nothing if it fits. */
void tdm_l1_clash_message(
	const struct tdm_l1_verdict *verdict, uint64_t program, const char *core_range, struct tdm_buf *out);

#endif
