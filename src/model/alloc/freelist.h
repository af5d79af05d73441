/*
 * A model of the runtime's free-list allocator for one address range. It returns exactly the addresses that the real
 * allocator would, but allocates nothing.
 *
 * The range [base, base + size) is cut into neighbouring blocks, each free or used, never two free ones side by side:
 *
 *     [used][free      ][used][used][free            ]
 *     base                                            base + size
 *
 * Addresses are absolute. One range represents all banks of a kind of memory, because banks are allocated in lockstep.
 * Not thread-safe. Where the real allocator has a bug, the model refuses the request; docs/decisions/allocator.md lists
 * each case.
 */
#ifndef TDM_MODEL_FREELIST_H
#define TDM_MODEL_FREELIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum tdm_fit {
	TDM_FIT_FIRST, /* the first sufficiently large free block in address order */
	TDM_FIT_BEST,  /* the same, but only in the smallest size class that has such a block */
};

enum tdm_grow {
	TDM_BOTTOM_UP, /* search from the low end, take the low end of the block */
	TDM_TOP_DOWN,  /* search from the high end, take the high end of the block */
};

struct tdm_freelist_config {
	uint64_t base, size;
	uint64_t align;     /* sizes are rounded up to a multiple of this; at least 1, not necessarily a power of two */
	uint64_t min_alloc; /* smaller requests take this many bytes; 0 means 1 */
	enum tdm_fit fit;
};

struct tdm_freelist_stats {
	uint64_t total;        /* current size of the range, after shrinking */
	uint64_t allocated;    /* sum of the rounded sizes of used blocks */
	uint64_t free;         /* total - allocated */
	uint64_t largest_free; /* 0 when full */
	size_t used_blocks, free_blocks;
};

struct tdm_free_block {
	uint64_t address, size;
	bool used;
};

struct tdm_freelist;

/*
 * Returns 0 and sets *out, or returns -EINVAL (align is 0) or -ERANGE (base + size wraps). A range of size 0 is always
 * full.
 */
int tdm_freelist_new(const struct tdm_freelist_config *config, struct tdm_freelist **out);
void tdm_freelist_free(struct tdm_freelist *fl); /* NULL is allowed */

/*
 * Finds and takes a block. `limit`: lowest allowed address of the result (0 if there is none). Returns 0 and sets
 * *address, or returns TDM_ENOFIT, TDM_ELIMIT or -ERANGE (the rounded size does not fit in 64 bits); on an error
 * nothing changes. O(log n).
 */
int tdm_freelist_alloc(struct tdm_freelist *fl, uint64_t size, enum tdm_grow grow, uint64_t limit, uint64_t *address);

/* Takes [address, address + rounded size) if one free block contains it. 0, TDM_EOCCUPIED or -ERANGE. O(log n). */
int tdm_freelist_place(struct tdm_freelist *fl, uint64_t address, uint64_t size);

/*
 * Frees the block that starts at `address`, and merges it with free neighbours. Returns 0 and sets *size (may be NULL),
 * or returns TDM_ENOTFOUND. O(log n).
 */
int tdm_freelist_release(struct tdm_freelist *fl, uint64_t address, uint64_t *size);

/* The size of the used block that starts at `address`; 0 if there is none. O(log n). */
uint64_t tdm_freelist_size_at(const struct tdm_freelist *fl, uint64_t address);

/*
 * Cuts `bytes` off the low end; the rest keeps its addresses. Repeatable. 0, -ERANGE (nothing would be left) or
 * TDM_EOCCUPIED. tdm_freelist_reset restores the whole range.
 */
int tdm_freelist_shrink(struct tdm_freelist *fl, uint64_t bytes);
void tdm_freelist_reset(struct tdm_freelist *fl);

/* The current totals. O(1). */
struct tdm_freelist_stats tdm_freelist_stats(const struct tdm_freelist *fl);

/* Sets *address to the lowest used address; false if nothing is used. O(1). */
bool tdm_freelist_lowest(const struct tdm_freelist *fl, uint64_t *address);

/* The size that a request really takes; -ERANGE if it does not fit in 64 bits. */
int tdm_freelist_round(const struct tdm_freelist *fl, uint64_t size, uint64_t *rounded);

/* Visits the blocks in address order. Any change to the list invalidates the walk. */
struct tdm_freelist_walk {
	const void *leaf;
	unsigned idx;
};
void tdm_freelist_walk(const struct tdm_freelist *fl, struct tdm_freelist_walk *walk);
bool tdm_freelist_walk_next(struct tdm_freelist_walk *walk, struct tdm_free_block *block);

/* Checks the invariants: no gap, no overlap, no two free neighbours, correct sums and search tree. */
bool tdm_freelist_is_valid(const struct tdm_freelist *fl);

const char *tdm_fit_name(enum tdm_fit fit);
int tdm_fit_parse(struct tdm_str name, enum tdm_fit *fit); /* 0 or TDM_ESYNTAX */

#endif
