/*
 * The blocks of the range, in address order, searchable by address and by size: a B+ tree laid out for cache lines.
 *
 * A leaf holds up to LEAF_CAP neighbouring blocks: their start addresses, a free bit for each, and the end of the last
 * one. So a block costs eight bytes and one bit, its size is found by subtraction, and neighbouring blocks are
 * adjacent. Leaves are linked in address order. For each child, an inner node keeps the first address below it and, in
 * each of `rows` rows, the size of the largest free block below it. A single row (first fit) covers all sizes; if there
 * are several (best fit), row r covers only blocks of size class r. A search for the first free block of at least n
 * bytes follows, at each level, the leftmost child whose figure is n or more. The tree knows only blocks and classes;
 * the allocator's policies come after the tree in this file.
 */
#include "model/alloc/freelist.h"
#include "base/err.h"
#include "base/memory.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
	LEAF_CAP = 32,
	INNER_CAP = 32,
	ROWS_MAX = 18,
	CACHE_LINE = 64,
	LEAF_LOW = LEAF_CAP / 4,        /* a leaf with fewer blocks joins a sibling */
	LEAF_JOINED = LEAF_CAP * 3 / 4, /* maximum blocks in a joined leaf, so that it does not split again at once */
	INNER_LOW = INNER_CAP / 4,
	INNER_JOINED = INNER_CAP * 3 / 4,
	CLASS_BASE_BITS = 10, /* the smallest size class ends at 2^(CLASS_BASE_BITS + 1) */
	CLASS_COUNT_MIN = 2,  /* the real allocator makes no fewer size classes than this, and no more than ROWS_MAX */
	CLASS_BASE = 1024,
	CHECK_ALWAYS_BLOCKS = 256, /* checked builds check lists of up to this many blocks after every change, */
	CHECK_EVERY = 512,         /* and longer ones once in this many changes */
};

struct inner;

struct node {
	struct inner *parent; /* NULL at the root; the next spare node while in the pool */
	uint32_t slot;        /* index of this node in its parent */
	uint32_t count;       /* blocks or children */
};

struct leaf {
	struct node node;
	uint64_t free_mask; /* bit i set: block i is free */
	struct leaf *prev, *next;
	uint64_t start[LEAF_CAP + 1]; /* start[count] is where the last block ends */
};

struct inner {
	struct node node;
	struct node *child[INNER_CAP];
	uint64_t first[INNER_CAP]; /* first address below each child */
	uint64_t max[];            /* rows x INNER_CAP: largest free block below each child */
};

struct tdm_freelist {
	struct node *root;
	unsigned height; /* 0 if the root is a leaf */
	unsigned rows;
	struct leaf *head;               /* the leaf with the lowest addresses */
	uint64_t row_max[ROWS_MAX];      /* largest free block of each row */
	size_t used_blocks, free_blocks; /* kept up to date by every change */
	struct node *spare_leaves, *spare_inners;
	struct tdm_freelist_config config;
	uint64_t allocated;
	uint64_t shrunk;     /* bytes cut off the low end */
	uint64_t align_mask; /* align - 1 if align is a power of two, else 0 */
	unsigned changes;    /* counted in checked builds */
};

struct block_pos {
	struct leaf *leaf;
	unsigned idx;
};

static uint64_t block_start(struct block_pos pos)
{
	return pos.leaf->start[pos.idx];
}

static uint64_t block_end(struct block_pos pos)
{
	return pos.leaf->start[pos.idx + 1];
}

static bool block_is_free(struct block_pos pos)
{
	return (pos.leaf->free_mask >> pos.idx & 1) != 0;
}

static struct leaf *as_leaf(struct node *node)
{
	return (struct leaf *)node;
}

static struct inner *as_inner(struct node *node)
{
	return (struct inner *)node;
}

static uint64_t *row_of(struct inner *inner, unsigned row)
{
	return inner->max + (size_t)row * INNER_CAP;
}

/* The row that counts a free block of this size: its size class, or 0 if there is only one row. */
static unsigned tree_row(const struct tdm_freelist *tree, uint64_t size)
{
	if (tree->rows == 1 || size >> (CLASS_BASE_BITS + 1) == 0)
		return 0;
	unsigned class = 63 - CLASS_BASE_BITS - (unsigned)__builtin_clzll(size);
	return class < tree->rows ? class : tree->rows - 1;
}

/* Takes a node from the pool, or allocates one on cache lines of its own. */
static void *take_node(struct node **spare, size_t size)
{
	struct node *node = *spare;
	if (node != NULL)
		*spare = (struct node *)node->parent;
	else
		node = aligned_alloc(CACHE_LINE, (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
	if (node == NULL)
		tdm_out_of_memory();
	*node = (struct node){ 0 };
	return node;
}

static struct inner *take_inner(struct tdm_freelist *tree)
{
	return take_node(&tree->spare_inners, sizeof(struct inner) + sizeof(uint64_t) * tree->rows * INNER_CAP);
}

static void give_node(struct node **spare, struct node *node)
{
	node->parent = (struct inner *)*spare;
	*spare = node;
}

static void free_list(struct node *node)
{
	while (node != NULL) {
		struct node *next = (struct node *)node->parent;
		free(node);
		node = next;
	}
}

static void free_below(struct node *node, unsigned height)
{
	if (height != 0)
		for (uint32_t i = 0; i < node->count; i++)
			free_below(as_inner(node)->child[i], height - 1);
	free(node);
}

/* ---- finding ---- */

/* The index of the last of `count` ascending values that is not above `key`; 0 if all are above it. */
static unsigned last_not_above(const uint64_t *values, unsigned count, uint64_t key)
{
	unsigned at = 0;
	while (count > 1) {
		unsigned half = count / 2;
		at += values[at + half] <= key ? half : 0; /* compiles to a conditional move */
		count -= half;
	}
	return at;
}

/* Fetches all cache lines of a leaf at once: a search that touches them one by one would wait for each. */
static inline void prefetch_leaf(const struct node *node)
{
	for (size_t at = 0; at < sizeof(struct leaf); at += CACHE_LINE)
		__builtin_prefetch((const char *)node + at, 1);
}

/* The block that contains `address`; false if the address is outside the range. */
static bool tree_find(const struct tdm_freelist *tree, uint64_t address, struct block_pos *pos)
{
	struct node *node = tree->root;
	for (unsigned level = tree->height; level != 0; level--) {
		struct inner *inner = as_inner(node);
		node = inner->child[last_not_above(inner->first, node->count, address)];
	}
	struct leaf *leaf = as_leaf(node);
	prefetch_leaf(node);
	if (node->count == 0 || address < leaf->start[0] || address >= leaf->start[node->count])
		return false;
	*pos = (struct block_pos){ leaf, last_not_above(leaf->start, node->count, address) };
	return true;
}

/* The lowest or highest free block of this row with at least `need` bytes; row_max must allow one. */
static inline __attribute__((always_inline)) struct block_pos tree_fit(
	const struct tdm_freelist *tree, unsigned row, uint64_t need, bool is_highest)
{
	struct node *node = tree->root;
	for (unsigned level = tree->height; level != 0; level--) {
		const uint64_t *max = row_of(as_inner(node), row);
		unsigned i = is_highest ? node->count - 1 : 0;
		while (max[i] < need)
			i += is_highest ? UINT_MAX : 1;
		node = as_inner(node)->child[i];
	}
	struct leaf *leaf = as_leaf(node);
	prefetch_leaf(node);
	for (uint64_t mask = leaf->free_mask;;) {
		unsigned i = is_highest ? 63 - (unsigned)__builtin_clzll(mask) : (unsigned)__builtin_ctzll(mask);
		uint64_t size = leaf->start[i + 1] - leaf->start[i];
		if (size >= need && (tree->rows == 1 || tree_row(tree, size) == row))
			return (struct block_pos){ leaf, i };
		mask ^= UINT64_C(1) << i;
	}
}

/* The next block in address order; false at the end. */
static bool tree_next(struct block_pos *pos)
{
	if (pos->idx + 1 < pos->leaf->node.count) {
		pos->idx++;
		return true;
	}
	if (pos->leaf->next == NULL)
		return false;
	*pos = (struct block_pos){ pos->leaf->next, 0 };
	return true;
}

/* ---- figures of inner nodes ---- */

/* The first address below `node` is now `first`: updates the nodes above for which `node` is the first child. */
static void lift_first(struct node *node, uint64_t first)
{
	for (struct inner *parent; (parent = node->parent) != NULL; node = &parent->node) {
		parent->first[node->slot] = first;
		if (node->slot != 0)
			break;
	}
}

static uint64_t largest_of(const uint64_t *values, unsigned count)
{
	uint64_t max = 0;
	for (unsigned i = 0; i < count; i++)
		max = values[i] > max ? values[i] : max;
	return max;
}

/* The largest free block of one row below `node` is now `max`: updates the affected nodes above. */
static void lift_max(struct tdm_freelist *tree, struct node *node, unsigned row, uint64_t max)
{
	for (struct inner *parent; (parent = node->parent) != NULL; node = &parent->node) {
		uint64_t *cell = &row_of(parent, row)[node->slot];
		uint64_t old = *cell;
		if (old == max)
			return;
		*cell = max;
		uint64_t old_all = parent->node.parent != NULL ? row_of(parent->node.parent, row)[parent->node.slot]
							       : tree->row_max[row];
		if (max >= old_all)
			continue;
		if (old < old_all)
			return;
		max = largest_of(row_of(parent, row), parent->node.count);
	}
	tree->row_max[row] = max;
}

/* A leaf's largest free block in each row. */
static void leaf_max(const struct tdm_freelist *tree, const struct leaf *leaf, uint64_t max[ROWS_MAX])
{
	memset(max, 0, sizeof *max * tree->rows);
	for (uint64_t mask = leaf->free_mask; mask != 0; mask &= mask - 1) {
		unsigned i = (unsigned)__builtin_ctzll(mask);
		uint64_t size = leaf->start[i + 1] - leaf->start[i];
		unsigned row = tree_row(tree, size);
		max[row] = size > max[row] ? size : max[row];
	}
}

static void refresh_leaf(struct tdm_freelist *tree, struct leaf *leaf)
{
	uint64_t max[ROWS_MAX];
	leaf_max(tree, leaf, max);
	for (unsigned row = 0; row < tree->rows; row++)
		lift_max(tree, &leaf->node, row, max[row]);
}

/* Updates the nodes above an inner node. */
static void refresh_inner(struct tdm_freelist *tree, struct inner *inner)
{
	lift_first(&inner->node, inner->first[0]);
	for (unsigned row = 0; row < tree->rows; row++)
		lift_max(tree, &inner->node, row, largest_of(row_of(inner, row), inner->node.count));
}

/* ---- children of inner nodes ---- */

static void own_children(struct inner *inner, unsigned from)
{
	for (unsigned i = from; i < inner->node.count; i++) {
		inner->child[i]->parent = inner;
		inner->child[i]->slot = i;
	}
}

/* Copies children [from, from + count) of `src` into `dst` at `to`; the two may be the same node. */
static void copy_children(const struct tdm_freelist *tree, struct inner *dst, unsigned to, struct inner *src,
	unsigned from, unsigned count)
{
	memmove(dst->child + to, src->child + from, count * sizeof *dst->child);
	memmove(dst->first + to, src->first + from, count * sizeof *dst->first);
	for (unsigned row = 0; row < tree->rows; row++)
		memmove(row_of(dst, row) + to, row_of(src, row) + from, count * sizeof(uint64_t));
}

static void insert_child(struct tdm_freelist *tree, struct node *left, struct node *right, uint64_t first);

static struct inner *split_inner(struct tdm_freelist *tree, struct inner *inner)
{
	struct inner *right = take_inner(tree);
	unsigned keep = inner->node.count / 2;
	right->node.count = inner->node.count - keep;
	copy_children(tree, right, 0, inner, keep, right->node.count);
	inner->node.count = keep;
	own_children(right, 0);
	insert_child(tree, &inner->node, &right->node, right->first[0]);
	refresh_inner(tree, right);
	refresh_inner(tree, inner);
	return right;
}

/* Inserts `right` after its sibling `left`; `first` is its first address. Its other figures are 0 until refreshed. */
static void insert_child(struct tdm_freelist *tree, struct node *left, struct node *right, uint64_t first)
{
	if (left->parent == NULL) {
		struct inner *root = take_inner(tree);
		root->node.count = 1;
		root->child[0] = left;
		root->first[0] = tree->head->start[0];
		for (unsigned row = 0; row < tree->rows; row++)
			row_of(root, row)[0] = tree->row_max[row];
		own_children(root, 0);
		tree->root = &root->node;
		tree->height++;
	}
	if (left->parent->node.count == INNER_CAP)
		split_inner(tree, left->parent);
	struct inner *parent = left->parent;
	unsigned slot = left->slot + 1;
	copy_children(tree, parent, slot + 1, parent, slot, parent->node.count - slot);
	parent->node.count++;
	parent->child[slot] = right;
	parent->first[slot] = first;
	for (unsigned row = 0; row < tree->rows; row++)
		row_of(parent, row)[slot] = 0;
	own_children(parent, slot);
}

static void settle_inner(struct tdm_freelist *tree, struct inner *inner);

/* Removes an emptied or joined child from its parent. The caller still owns the child. */
static void remove_child(struct tdm_freelist *tree, struct node *node)
{
	struct inner *parent = node->parent;
	unsigned slot = node->slot;
	copy_children(tree, parent, slot, parent, slot + 1, parent->node.count - slot - 1);
	parent->node.count--;
	own_children(parent, slot);
	settle_inner(tree, parent);
}

static void join_inners(struct tdm_freelist *tree, struct inner *left, struct inner *right)
{
	unsigned at = left->node.count;
	copy_children(tree, left, at, right, 0, right->node.count);
	left->node.count += right->node.count;
	own_children(left, at);
	remove_child(tree, &right->node);
	give_node(&tree->spare_inners, &right->node);
	refresh_inner(tree, left);
}

/*
 * Tidies up after the removal of children: drops an empty node or a root with one child, and joins a nearly empty node
 * with a sibling.
 */
static void settle_inner(struct tdm_freelist *tree, struct inner *inner)
{
	struct inner *parent = inner->node.parent;
	if (parent == NULL) {
		refresh_inner(tree, inner);
		if (inner->node.count != 1)
			return;
		tree->root = inner->child[0];
		tree->root->parent = NULL;
		tree->root->slot = 0;
		tree->height--;
		give_node(&tree->spare_inners, &inner->node);
		return;
	}
	if (inner->node.count == 0) {
		remove_child(tree, &inner->node);
		give_node(&tree->spare_inners, &inner->node);
		return;
	}
	refresh_inner(tree, inner);
	if (inner->node.count >= INNER_LOW)
		return;
	unsigned slot = inner->node.slot;
	struct inner *right = slot + 1 < parent->node.count ? as_inner(parent->child[slot + 1]) : NULL;
	struct inner *left = slot != 0 ? as_inner(parent->child[slot - 1]) : NULL;
	if (right != NULL && inner->node.count + right->node.count <= INNER_JOINED)
		join_inners(tree, inner, right);
	else if (left != NULL && left->node.count + inner->node.count <= INNER_JOINED)
		join_inners(tree, left, inner);
}

/* ---- leaves ---- */

static uint64_t low_bits(unsigned count)
{
	return count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
}

/* Moves the upper half of a full leaf into a new leaf after it and updates the nodes above. */
static struct leaf *split_leaf(struct tdm_freelist *tree, struct leaf *leaf)
{
	struct leaf *right = take_node(&tree->spare_leaves, sizeof *right);
	unsigned keep = leaf->node.count / 2, moved = leaf->node.count - keep;
	memcpy(right->start, leaf->start + keep, (moved + 1) * sizeof *right->start);
	right->free_mask = leaf->free_mask >> keep;
	right->node.count = moved;
	leaf->free_mask &= low_bits(keep);
	leaf->node.count = keep;
	right->prev = leaf;
	right->next = leaf->next;
	if (right->next != NULL)
		right->next->prev = right;
	leaf->next = right;
	insert_child(tree, &leaf->node, &right->node, right->start[0]);
	refresh_leaf(tree, right);
	refresh_leaf(tree, leaf);
	return right;
}

static void leaf_erase(struct leaf *leaf, unsigned idx)
{
	memmove(leaf->start + idx, leaf->start + idx + 1, (leaf->node.count - idx) * sizeof *leaf->start);
	uint64_t low = leaf->free_mask & low_bits(idx);
	leaf->free_mask = low | (leaf->free_mask >> 1 & ~low_bits(idx));
	leaf->node.count--;
}

/*
 * Changes. They may leave the figures for the leaf at `pos` stale, so call settle() on that leaf after a series of
 * changes. cut: makes two blocks of one, both free or both used; the second starts at `at` and *pos stays on the first.
 * join: merges a block with the next one, whose mark is lost. `pos` stays valid. move_start: moves the start of the
 * lowest block down or up; `at` is below the block's end. push_front: adds a free block before the lowest one.
 */
static void tree_cut(struct tdm_freelist *tree, struct block_pos *pos, uint64_t at)
{
	if (pos->leaf->node.count == LEAF_CAP) {
		struct leaf *right = split_leaf(tree, pos->leaf);
		if (pos->idx >= pos->leaf->node.count)
			*pos = (struct block_pos){ right, pos->idx - pos->leaf->node.count };
	}
	if (block_is_free(*pos))
		tree->free_blocks++;
	else
		tree->used_blocks++;
	struct leaf *leaf = pos->leaf;
	unsigned idx = pos->idx, count = leaf->node.count++;
	memmove(leaf->start + idx + 2, leaf->start + idx + 1, (count - idx) * sizeof *leaf->start);
	leaf->start[idx + 1] = at;
	leaf->free_mask = (leaf->free_mask & low_bits(idx + 1)) | (leaf->free_mask & ~low_bits(idx)) << 1;
}

static void unlink_leaf(struct tdm_freelist *tree, struct leaf *leaf)
{
	if (leaf->prev != NULL)
		leaf->prev->next = leaf->next;
	else
		tree->head = leaf->next;
	if (leaf->next != NULL)
		leaf->next->prev = leaf->prev;
	remove_child(tree, &leaf->node);
	give_node(&tree->spare_leaves, &leaf->node);
}

static void tree_settle(struct tdm_freelist *tree, struct leaf *leaf);

/* Removes the first block of a leaf; the leaf before it, if any, then ends where this one starts. */
static void erase_first(struct tdm_freelist *tree, struct leaf *leaf)
{
	leaf_erase(leaf, 0);
	if (leaf->prev != NULL)
		leaf->prev->start[leaf->prev->node.count] = leaf->start[0];
	if (leaf->node.count == 0) {
		unlink_leaf(tree, leaf);
		return;
	}
	lift_first(&leaf->node, leaf->start[0]);
	tree_settle(tree, leaf);
}

static void count_out(struct tdm_freelist *tree, struct block_pos pos)
{
	if (block_is_free(pos))
		tree->free_blocks--;
	else
		tree->used_blocks--;
}

static void tree_join(struct tdm_freelist *tree, struct block_pos pos)
{
	struct block_pos next = pos;
	if (!tree_next(&next))
		return;
	count_out(tree, next);
	if (next.leaf == pos.leaf)
		leaf_erase(pos.leaf, next.idx);
	else
		erase_first(tree, next.leaf);
}

static void tree_mark(struct tdm_freelist *tree, struct block_pos pos, bool is_free)
{
	uint64_t bit = UINT64_C(1) << pos.idx;
	if (block_is_free(pos) == is_free)
		return;
	pos.leaf->free_mask ^= bit;
	tree->free_blocks += is_free ? 1 : (size_t)-1;
	tree->used_blocks += is_free ? (size_t)-1 : 1;
}

static void tree_move_start(struct tdm_freelist *tree, uint64_t at)
{
	tree->head->start[0] = at;
	lift_first(&tree->head->node, at);
	refresh_leaf(tree, tree->head);
}

static void tree_push_front(struct tdm_freelist *tree, uint64_t at)
{
	struct block_pos pos = { tree->head, 0 };
	uint64_t old_start = block_start(pos);
	bool was_free = block_is_free(pos);
	tree_cut(tree, &pos, old_start);
	/* The cut left an empty block at the front, which receives the new space. */
	pos.leaf->start[0] = at;
	tree_mark(tree, pos, true);
	tree_mark(tree, (struct block_pos){ pos.leaf, 1 }, was_free);
	lift_first(&pos.leaf->node, at);
	tree_settle(tree, pos.leaf);
}

static void join_leaves(struct tdm_freelist *tree, struct leaf *left, struct leaf *right)
{
	memcpy(left->start + left->node.count, right->start, (right->node.count + 1) * sizeof *left->start);
	left->free_mask |= right->free_mask << left->node.count;
	left->node.count += right->node.count;
	unlink_leaf(tree, right);
	refresh_leaf(tree, left);
}

/* Joins a nearly empty leaf with a sibling. */
static void join_if_low(struct tdm_freelist *tree, struct leaf *leaf)
{
	struct inner *parent = leaf->node.parent;
	unsigned slot = leaf->node.slot;
	if (leaf->node.count >= LEAF_LOW || parent == NULL)
		return;
	if (slot + 1 < parent->node.count && leaf->node.count + leaf->next->node.count <= LEAF_JOINED)
		join_leaves(tree, leaf, leaf->next);
	else if (slot != 0 && leaf->prev->node.count + leaf->node.count <= LEAF_JOINED)
		join_leaves(tree, leaf->prev, leaf);
}

static void tree_settle(struct tdm_freelist *tree, struct leaf *leaf)
{
	refresh_leaf(tree, leaf);
	join_if_low(tree, leaf);
}

/* The largest free block of a leaf according to its parent, in a tree with one row. */
static uint64_t known_max(const struct tdm_freelist *tree, const struct leaf *leaf)
{
	return leaf->node.parent != NULL ? leaf->node.parent->max[leaf->node.slot] : tree->row_max[0];
}

/* ---- invariants of the tree ---- */

static bool leaf_is_valid(const struct leaf *leaf)
{
	for (uint32_t i = 0; i < leaf->node.count; i++)
		if (leaf->start[i] >= leaf->start[i + 1])
			return false;
	if ((leaf->free_mask & ~low_bits(leaf->node.count)) != 0)
		return false;
	return leaf->next == NULL ||
	       (leaf->next->prev == leaf && leaf->next->start[0] == leaf->start[leaf->node.count]);
}

/* Compares the figures that `parent` keeps about `node` (the tree itself for the root) with the nodes below. */
static bool figures_are_valid(const struct tdm_freelist *tree, struct node *node, uint64_t first, const uint64_t *max)
{
	if (node->parent == NULL)
		return node == tree->root && memcmp(max, tree->row_max, sizeof *max * tree->rows) == 0;
	if (node->parent->child[node->slot] != node || node->parent->first[node->slot] != first)
		return false;
	for (unsigned row = 0; row < tree->rows; row++)
		if (row_of(node->parent, row)[node->slot] != max[row])
			return false;
	return true;
}

static bool subtree_is_valid(const struct tdm_freelist *tree, struct node *node, unsigned height, size_t *blocks)
{
	uint64_t max[ROWS_MAX];
	if (height == 0) {
		*blocks += node->count;
		leaf_max(tree, as_leaf(node), max);
		return leaf_is_valid(as_leaf(node)) && figures_are_valid(tree, node, as_leaf(node)->start[0], max);
	}
	struct inner *inner = as_inner(node);
	if (node->count == 0 || node->count > INNER_CAP)
		return false;
	for (uint32_t i = 0; i < node->count; i++)
		if (inner->child[i]->parent != inner || inner->child[i]->slot != i ||
			!subtree_is_valid(tree, inner->child[i], height - 1, blocks))
			return false;
	for (unsigned row = 0; row < tree->rows; row++)
		max[row] = largest_of(row_of(inner, row), node->count);
	return figures_are_valid(tree, node, inner->first[0], max);
}

/* ---- policies ---- */

int tdm_freelist_new(const struct tdm_freelist_config *config, struct tdm_freelist **out)
{
	if (config->align == 0)
		return -EINVAL;
	if (config->size > UINT64_MAX - config->base)
		return -ERANGE;
	struct tdm_freelist *fl = tdm_zalloc(1, sizeof *fl);
	struct leaf *leaf = take_node(&fl->spare_leaves, sizeof *leaf);
	fl->config = *config;
	if (fl->config.min_alloc == 0)
		fl->config.min_alloc = 1;
	if ((config->align & (config->align - 1)) == 0)
		fl->align_mask = config->align - 1;
	/* The real allocator makes this many size classes for a range of this size. */
	uint64_t classes = config->size / CLASS_BASE;
	unsigned bits = classes != 0 ? 64 - (unsigned)__builtin_clzll(classes) : 0;
	bits = bits < CLASS_COUNT_MIN ? CLASS_COUNT_MIN : bits > ROWS_MAX ? ROWS_MAX : bits;
	fl->rows = config->fit == TDM_FIT_BEST ? bits : 1;
	/* One free block; an empty range has none. */
	leaf->prev = leaf->next = NULL;
	leaf->start[0] = config->base;
	leaf->start[1] = config->base + config->size;
	leaf->free_mask = leaf->node.count = fl->free_blocks = config->size != 0;
	fl->root = &leaf->node;
	fl->head = leaf;
	fl->row_max[tree_row(fl, config->size)] = config->size;
	*out = fl;
	return 0;
}

void tdm_freelist_free(struct tdm_freelist *fl)
{
	if (fl == NULL)
		return;
	if (fl->root != NULL)
		free_below(fl->root, fl->height);
	free_list(fl->spare_leaves);
	free_list(fl->spare_inners);
	free(fl);
}

static void check(struct tdm_freelist *fl)
{
#if TDM_CHECKED
	size_t blocks = fl->used_blocks + fl->free_blocks;
	if (blocks <= CHECK_ALWAYS_BLOCKS || ++fl->changes % CHECK_EVERY == 0)
		assert(tdm_freelist_is_valid(fl));
#else
	(void)fl;
#endif
}

int tdm_freelist_round(const struct tdm_freelist *fl, uint64_t size, uint64_t *rounded)
{
	uint64_t n = size > fl->config.min_alloc ? size : fl->config.min_alloc;
	uint64_t up;
	if (fl->align_mask != 0 || fl->config.align == 1)
		up = (n + fl->align_mask) & ~fl->align_mask;
	else
		up = n % fl->config.align == 0 ? n : n + (fl->config.align - n % fl->config.align);
	*rounded = up;
	return up < n ? -ERANGE : 0;
}

/* Marks [address, address + size) used; the free block at `pos` contains it. */
static void use_part(struct tdm_freelist *fl, struct block_pos pos, uint64_t address, uint64_t size)
{
	struct tdm_freelist *tree = fl;
	uint64_t free_size = block_end(pos) - block_start(pos);
	if (block_end(pos) != address + size)
		tree_cut(tree, &pos, address + size);
	if (block_start(pos) != address) {
		tree_cut(tree, &pos, address);
		pos.idx++; /* after a cut, both parts are in the same leaf */
	}
	tree_mark(tree, pos, false);
	/* With one row the parent keeps only the largest block, so taking from a smaller one changes nothing there. */
	if (tree->rows != 1 || free_size >= known_max(tree, pos.leaf))
		refresh_leaf(tree, pos.leaf);
	fl->allocated += size;
	check(fl);
}

int tdm_freelist_alloc(struct tdm_freelist *fl, uint64_t size, enum tdm_grow grow, uint64_t limit, uint64_t *address)
{
	const struct tdm_freelist *tree = fl;
	uint64_t need;
	int err = tdm_freelist_round(fl, size, &need);
	if (err != 0)
		return err;
	unsigned row = tree_row(tree, need);
	while (row < tree->rows && tree->row_max[row] < need)
		row++;
	if (row == tree->rows)
		return TDM_ENOFIT;
	/* The direction is a constant in each call, so that the compiler makes two specialised searches. */
	const struct block_pos pos =
		grow == TDM_BOTTOM_UP ? tree_fit(tree, row, need, false) : tree_fit(tree, row, need, true);
	uint64_t at = grow == TDM_BOTTOM_UP ? block_start(pos) : block_end(pos) - need;
	if (at < limit)
		return TDM_ELIMIT;
	use_part(fl, pos, at, need);
	*address = at;
	return 0;
}

int tdm_freelist_place(struct tdm_freelist *fl, uint64_t address, uint64_t size)
{
	uint64_t need;
	struct block_pos pos;
	int err = tdm_freelist_round(fl, size, &need);
	if (err != 0)
		return err;
	if (!tree_find(fl, address, &pos) || !block_is_free(pos) || need > block_end(pos) - address)
		return TDM_EOCCUPIED;
	use_part(fl, pos, address, need);
	return 0;
}

int tdm_freelist_release(struct tdm_freelist *fl, uint64_t address, uint64_t *size)
{
	struct tdm_freelist *tree = fl;
	struct block_pos pos;
	if (!tree_find(tree, address, &pos) || block_is_free(pos) || block_start(pos) != address)
		return TDM_ENOTFOUND;
	uint64_t bytes = block_end(pos) - address;
	fl->allocated -= bytes;
	if (size != NULL)
		*size = bytes;
	tree_mark(tree, pos, true);
	struct block_pos next = pos, prev = { pos.leaf, pos.idx - 1 };
	if (tree_next(&next) && block_is_free(next))
		tree_join(tree, pos);
	if (pos.idx == 0)
		prev = (struct block_pos){ pos.leaf->prev,
			pos.leaf->prev != NULL ? pos.leaf->prev->node.count - 1 : 0 };
	if (prev.leaf != NULL && block_is_free(prev)) {
		tree_join(tree, prev);
		pos = prev;
	}
	/* The only change in the leaf is one free block that grew. */
	bytes = block_end(pos) - block_start(pos);
	if (tree->rows != 1)
		refresh_leaf(tree, pos.leaf);
	else if (bytes > known_max(tree, pos.leaf))
		lift_max(tree, &pos.leaf->node, 0, bytes);
	join_if_low(tree, pos.leaf);
	check(fl);
	return 0;
}

uint64_t tdm_freelist_size_at(const struct tdm_freelist *fl, uint64_t address)
{
	struct block_pos pos;
	if (!tree_find(fl, address, &pos) || block_is_free(pos) || block_start(pos) != address)
		return 0;
	return block_end(pos) - address;
}

int tdm_freelist_shrink(struct tdm_freelist *fl, uint64_t bytes)
{
	struct block_pos first = { fl->head, 0 };
	if (bytes == 0)
		return 0;
	if (bytes >= fl->config.size - fl->shrunk)
		return -ERANGE;
	uint64_t size = block_end(first) - block_start(first);
	if (!block_is_free(first) || size < bytes)
		return TDM_EOCCUPIED;
	if (size == bytes) {
		count_out(fl, first);
		erase_first(fl, first.leaf);
	} else {
		tree_move_start(fl, block_start(first) + bytes);
	}
	fl->shrunk += bytes;
	check(fl);
	return 0;
}

void tdm_freelist_reset(struct tdm_freelist *fl)
{
	if (fl->shrunk == 0)
		return;
	if (block_is_free((struct block_pos){ fl->head, 0 }))
		tree_move_start(fl, fl->config.base);
	else
		tree_push_front(fl, fl->config.base);
	fl->shrunk = 0;
	check(fl);
}

struct tdm_freelist_stats tdm_freelist_stats(const struct tdm_freelist *fl)
{
	uint64_t total = fl->config.size - fl->shrunk, largest = 0;
	for (unsigned row = 0; row < fl->rows; row++)
		largest = fl->row_max[row] > largest ? fl->row_max[row] : largest;
	return (struct tdm_freelist_stats){
		.total = total,
		.allocated = fl->allocated,
		.free = total - fl->allocated,
		.largest_free = largest,
		.used_blocks = fl->used_blocks,
		.free_blocks = fl->free_blocks,
	};
}

bool tdm_freelist_lowest(const struct tdm_freelist *fl, uint64_t *address)
{
	struct block_pos pos = { fl->head, 0 };
	if (fl->used_blocks == 0)
		return false;
	if (block_is_free(pos))
		tree_next(&pos); /* free neighbours are always merged, so the next block is in use */
	*address = block_start(pos);
	return true;
}

void tdm_freelist_walk(const struct tdm_freelist *fl, struct tdm_freelist_walk *walk)
{
	*walk = (struct tdm_freelist_walk){ fl->head, 0 };
}

bool tdm_freelist_walk_next(struct tdm_freelist_walk *walk, struct tdm_free_block *block)
{
	const struct leaf *leaf = walk->leaf;
	if (leaf == NULL || walk->idx >= leaf->node.count)
		return false;
	*block = (struct tdm_free_block){
		.address = leaf->start[walk->idx],
		.size = leaf->start[walk->idx + 1] - leaf->start[walk->idx],
		.used = (leaf->free_mask >> walk->idx & 1) == 0,
	};
	if (++walk->idx == leaf->node.count)
		*walk = (struct tdm_freelist_walk){ leaf->next, 0 };
	return true;
}

bool tdm_freelist_is_valid(const struct tdm_freelist *fl)
{
	struct tdm_freelist_walk walk;
	struct tdm_free_block block;
	uint64_t at = fl->config.base + fl->shrunk, used = 0;
	bool after_free = false;
	size_t used_blocks = 0, blocks = 0;
	if (!subtree_is_valid(fl, fl->root, fl->height, &blocks) || blocks != fl->used_blocks + fl->free_blocks)
		return false;
	tdm_freelist_walk(fl, &walk);
	while (tdm_freelist_walk_next(&walk, &block)) {
		if (block.address != at || block.size == 0 || (after_free && !block.used))
			return false;
		at += block.size;
		after_free = !block.used;
		used += block.used ? block.size : 0;
		used_blocks += block.used;
	}
	return at == fl->config.base + fl->config.size && used == fl->allocated && used_blocks == fl->used_blocks;
}

const char *tdm_fit_name(enum tdm_fit fit)
{
	return fit == TDM_FIT_BEST ? "best" : "first";
}

int tdm_fit_parse(struct tdm_str name, enum tdm_fit *fit)
{
	bool is_best = tdm_str_is(name, "best");
	*fit = is_best ? TDM_FIT_BEST : TDM_FIT_FIRST;
	return is_best || tdm_str_is(name, "first") ? 0 : TDM_ESYNTAX;
}
