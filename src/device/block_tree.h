/*
 * The blocks of one address range, in address order, searchable by address and by size: a B+ tree laid out for cache
 * lines.
 *
 * A leaf holds up to TDM_LEAF_CAP neighbouring blocks: their start addresses, and the end of the last one. So a block
 * is eight bytes and a bit (free or used), its size is a subtraction, and its neighbours are beside it. Leaves are
 * linked in address order. For each child, an inner node holds the first address below it and, in each of `rows` rows,
 * the size of the largest free block below it. With one row that covers all sizes; with several, row r counts only
 * blocks of size class r. A search for the first free block of at least n bytes walks down the leftmost children whose
 * figure is n or more.
 *
 * This file knows blocks and classes; freelist.c has the policies. Not thread-safe.
 */
#ifndef TDM_DEVICE_BLOCK_TREE_H
#define TDM_DEVICE_BLOCK_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TDM_LEAF_CAP = 32, TDM_INNER_CAP = 32, TDM_ROWS_MAX = 18 };

struct tdm_inner;

struct tdm_node {
	struct tdm_inner *parent; /* NULL at the root; the next spare node while in the pool */
	uint32_t slot;            /* of this node in its parent */
	uint32_t count;           /* blocks or children */
};

struct tdm_leaf {
	struct tdm_node node;
	uint64_t free_mask; /* bit i: block i is free */
	struct tdm_leaf *prev, *next;
	uint64_t start[TDM_LEAF_CAP + 1]; /* start[count] is where the last block ends */
};

struct tdm_inner {
	struct tdm_node node;
	struct tdm_node *child[TDM_INNER_CAP];
	uint64_t first[TDM_INNER_CAP]; /* first address below each child */
	uint64_t max[];                /* rows x TDM_INNER_CAP: largest free block below each child */
};

struct tdm_block_tree {
	struct tdm_node *root;
	unsigned height; /* 0: the root is a leaf */
	unsigned rows;
	struct tdm_leaf *head;           /* the leaf with the lowest addresses */
	uint64_t row_max[TDM_ROWS_MAX];  /* largest free block of each row */
	size_t used_blocks, free_blocks; /* kept up to date by the changes below */
	struct tdm_node *spare_leaves, *spare_inners;
	unsigned spare_inner_count;
};

struct tdm_block_pos {
	struct tdm_leaf *leaf;
	unsigned idx;
};

/* One free block [start, end). 0 or -ENOMEM. An empty range has no blocks. */
int tdm_block_tree_init(struct tdm_block_tree *tree, unsigned rows, uint64_t start, uint64_t end);
void tdm_block_tree_done(struct tdm_block_tree *tree);

/* The row that counts a free block of this size: 0 with one row, else its size class. */
unsigned tdm_block_tree_row(const struct tdm_block_tree *tree, uint64_t size);

/* The block that holds `address`; false when the address is outside the range. */
bool tdm_block_tree_find(const struct tdm_block_tree *tree, uint64_t address, struct tdm_block_pos *pos);

/* The lowest (or highest) free block of this row with at least `need` bytes; row_max must allow one. */
struct tdm_block_pos tdm_block_tree_lowest_fit(const struct tdm_block_tree *tree, unsigned row, uint64_t need);
struct tdm_block_pos tdm_block_tree_highest_fit(const struct tdm_block_tree *tree, unsigned row, uint64_t need);

/* Neighbours in address order; false at the ends. */
bool tdm_block_tree_next(struct tdm_block_pos *pos);
bool tdm_block_tree_prev(struct tdm_block_pos *pos);

/*
 * Changes. They may leave the figures of the leaf at `pos` stale: end a series with tdm_block_tree_settle on that leaf.
 * cut: makes two blocks of one, both free or both used; the second starts at `at` and *pos stays on the first. 0, or
 * -ENOMEM with nothing changed. join: merges a block with the next one, whose mark is lost. `pos` stays valid.
 * move_start: moves the start of the lowest block down or up; `at` is below the block's end. push_front: adds a free
 * block before the lowest one. 0 or -ENOMEM.
 */
int tdm_block_tree_cut(struct tdm_block_tree *tree, struct tdm_block_pos *pos, uint64_t at);
void tdm_block_tree_join(struct tdm_block_tree *tree, struct tdm_block_pos pos);
void tdm_block_tree_mark(struct tdm_block_tree *tree, struct tdm_block_pos pos, bool is_free);
void tdm_block_tree_move_start(struct tdm_block_tree *tree, uint64_t at);
int tdm_block_tree_push_front(struct tdm_block_tree *tree, uint64_t at);
void tdm_block_tree_drop_first(struct tdm_block_tree *tree);
void tdm_block_tree_settle(struct tdm_block_tree *tree, struct tdm_leaf *leaf);
/* Cheaper settles, for when the only change in the leaf is one free block that grew to `size`, or one of `size` that
 * was cut or used up. */
void tdm_block_tree_settle_grown(struct tdm_block_tree *tree, struct tdm_leaf *leaf, uint64_t size);
void tdm_block_tree_settle_cut(struct tdm_block_tree *tree, struct tdm_leaf *leaf, uint64_t size);

bool tdm_block_tree_is_valid(const struct tdm_block_tree *tree);

static inline uint64_t tdm_block_start(struct tdm_block_pos pos)
{
	return pos.leaf->start[pos.idx];
}

static inline uint64_t tdm_block_end(struct tdm_block_pos pos)
{
	return pos.leaf->start[pos.idx + 1];
}

static inline bool tdm_block_is_free(struct tdm_block_pos pos)
{
	return (pos.leaf->free_mask >> pos.idx & 1) != 0;
}

#endif
