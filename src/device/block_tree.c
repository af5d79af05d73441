/*
 * Long: one structure. The functions for leaves, inner nodes and their figures call each other on the hot path and are
 * compiled together.
 */
#include "device/block_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	CACHE_LINE = 64,
	LEAF_LOW = TDM_LEAF_CAP / 4, /* a leaf with fewer blocks joins a sibling */
	LEAF_JOINED =
		TDM_LEAF_CAP * 3 / 4, /* the most that a joined leaf holds, so that it does not split again at once */
	INNER_LOW = TDM_INNER_CAP / 4,
	INNER_JOINED = TDM_INNER_CAP * 3 / 4,
	CLASS_BASE_BITS = 10, /* the smallest size class ends at 2^(CLASS_BASE_BITS + 1) */
};

static struct tdm_leaf *as_leaf(struct tdm_node *node)
{
	return (struct tdm_leaf *)node;
}

static struct tdm_inner *as_inner(struct tdm_node *node)
{
	return (struct tdm_inner *)node;
}

static uint64_t *row_of(struct tdm_inner *inner, unsigned row)
{
	return inner->max + (size_t)row * TDM_INNER_CAP;
}

unsigned tdm_block_tree_row(const struct tdm_block_tree *tree, uint64_t size)
{
	if (tree->rows == 1 || size >> (CLASS_BASE_BITS + 1) == 0)
		return 0;
	unsigned class = 63 - CLASS_BASE_BITS - (unsigned)__builtin_clzll(size);
	return class < tree->rows ? class : tree->rows - 1;
}

/* Nodes. Splitting a leaf may need a new node on every level, so all are allocated before anything changes. */

static struct tdm_node *node_alloc(size_t size)
{
	return aligned_alloc(CACHE_LINE, (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
}

static int reserve_nodes(struct tdm_block_tree *tree)
{
	if (tree->spare_leaves == NULL) {
		tree->spare_leaves = node_alloc(sizeof(struct tdm_leaf));
		if (tree->spare_leaves == NULL)
			return -ENOMEM;
		tree->spare_leaves->parent = NULL;
	}
	while (tree->spare_inner_count < tree->height + 1) {
		struct tdm_node *node =
			node_alloc(sizeof(struct tdm_inner) + sizeof(uint64_t) * tree->rows * TDM_INNER_CAP);
		if (node == NULL)
			return -ENOMEM;
		node->parent = (struct tdm_inner *)tree->spare_inners;
		tree->spare_inners = node;
		tree->spare_inner_count++;
	}
	return 0;
}

static struct tdm_leaf *take_leaf(struct tdm_block_tree *tree)
{
	struct tdm_node *node = tree->spare_leaves;
	tree->spare_leaves = (struct tdm_node *)node->parent;
	*node = (struct tdm_node){ 0 };
	return as_leaf(node);
}

static struct tdm_inner *take_inner(struct tdm_block_tree *tree)
{
	struct tdm_node *node = tree->spare_inners;
	tree->spare_inners = (struct tdm_node *)node->parent;
	tree->spare_inner_count--;
	*node = (struct tdm_node){ 0 };
	return as_inner(node);
}

static void give_leaf(struct tdm_block_tree *tree, struct tdm_leaf *leaf)
{
	leaf->node.parent = (struct tdm_inner *)tree->spare_leaves;
	tree->spare_leaves = &leaf->node;
}

static void give_inner(struct tdm_block_tree *tree, struct tdm_inner *inner)
{
	inner->node.parent = (struct tdm_inner *)tree->spare_inners;
	tree->spare_inners = &inner->node;
	tree->spare_inner_count++;
}

int tdm_block_tree_init(struct tdm_block_tree *tree, unsigned rows, uint64_t start, uint64_t end)
{
	*tree = (struct tdm_block_tree){ .rows = rows };
	int err = reserve_nodes(tree);
	if (err != 0) {
		tdm_block_tree_done(tree);
		return err;
	}
	struct tdm_leaf *leaf = take_leaf(tree);
	leaf->prev = leaf->next = NULL;
	leaf->start[0] = start;
	leaf->start[1] = end;
	leaf->node.count = start != end;
	leaf->free_mask = leaf->node.count;
	tree->root = &leaf->node;
	tree->head = leaf;
	tree->free_blocks = leaf->node.count;
	tree->row_max[tdm_block_tree_row(tree, end - start)] = end - start;
	return 0;
}

static void free_list(struct tdm_node *node)
{
	while (node != NULL) {
		struct tdm_node *next = (struct tdm_node *)node->parent;
		free(node);
		node = next;
	}
}

static void free_below(struct tdm_node *node, unsigned height)
{
	if (height != 0)
		for (uint32_t i = 0; i < node->count; i++)
			free_below(as_inner(node)->child[i], height - 1);
	free(node);
}

void tdm_block_tree_done(struct tdm_block_tree *tree)
{
	if (tree->root != NULL)
		free_below(tree->root, tree->height);
	free_list(tree->spare_leaves);
	free_list(tree->spare_inners);
	*tree = (struct tdm_block_tree){ 0 };
}

/* Finding. */

/* The index of the last of `count` ascending values that is not above `key`; 0 if all are. */
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
static inline void prefetch_leaf(const struct tdm_node *node)
{
	for (size_t at = 0; at < sizeof(struct tdm_leaf); at += CACHE_LINE)
		__builtin_prefetch((const char *)node + at, 1);
}

bool tdm_block_tree_find(const struct tdm_block_tree *tree, uint64_t address, struct tdm_block_pos *pos)
{
	struct tdm_node *node = tree->root;
	for (unsigned level = tree->height; level != 0; level--) {
		struct tdm_inner *inner = as_inner(node);
		node = inner->child[last_not_above(inner->first, node->count, address)];
	}
	struct tdm_leaf *leaf = as_leaf(node);
	prefetch_leaf(node);
	if (node->count == 0 || address < leaf->start[0] || address >= leaf->start[node->count])
		return false;
	*pos = (struct tdm_block_pos){ leaf, last_not_above(leaf->start, node->count, address) };
	return true;
}

static bool counts_for(const struct tdm_block_tree *tree, unsigned row, uint64_t size)
{
	return tree->rows == 1 || tdm_block_tree_row(tree, size) == row;
}

struct tdm_block_pos tdm_block_tree_lowest_fit(const struct tdm_block_tree *tree, unsigned row, uint64_t need)
{
	struct tdm_node *node = tree->root;
	for (unsigned level = tree->height; level != 0; level--) {
		const uint64_t *max = row_of(as_inner(node), row);
		unsigned i = 0;
		while (max[i] < need)
			i++;
		node = as_inner(node)->child[i];
	}
	struct tdm_leaf *leaf = as_leaf(node);
	prefetch_leaf(node);
	for (uint64_t mask = leaf->free_mask;; mask &= mask - 1) {
		unsigned i = (unsigned)__builtin_ctzll(mask);
		uint64_t size = leaf->start[i + 1] - leaf->start[i];
		if (size >= need && counts_for(tree, row, size))
			return (struct tdm_block_pos){ leaf, i };
	}
}

struct tdm_block_pos tdm_block_tree_highest_fit(const struct tdm_block_tree *tree, unsigned row, uint64_t need)
{
	struct tdm_node *node = tree->root;
	for (unsigned level = tree->height; level != 0; level--) {
		const uint64_t *max = row_of(as_inner(node), row);
		unsigned i = node->count - 1;
		while (max[i] < need)
			i--;
		node = as_inner(node)->child[i];
	}
	struct tdm_leaf *leaf = as_leaf(node);
	prefetch_leaf(node);
	for (uint64_t mask = leaf->free_mask;;) {
		unsigned i = 63 - (unsigned)__builtin_clzll(mask);
		uint64_t size = leaf->start[i + 1] - leaf->start[i];
		if (size >= need && counts_for(tree, row, size))
			return (struct tdm_block_pos){ leaf, i };
		mask ^= UINT64_C(1) << i;
	}
}

bool tdm_block_tree_next(struct tdm_block_pos *pos)
{
	if (pos->idx + 1 < pos->leaf->node.count) {
		pos->idx++;
		return true;
	}
	if (pos->leaf->next == NULL)
		return false;
	*pos = (struct tdm_block_pos){ pos->leaf->next, 0 };
	return true;
}

bool tdm_block_tree_prev(struct tdm_block_pos *pos)
{
	if (pos->idx != 0) {
		pos->idx--;
		return true;
	}
	if (pos->leaf->prev == NULL)
		return false;
	*pos = (struct tdm_block_pos){ pos->leaf->prev, pos->leaf->prev->node.count - 1 };
	return true;
}

/* Keeping the figures of the inner nodes up to date. */

/* The first address below `node` is now `first`: updates each node above as long as that is its first address, too. */
static void lift_first(struct tdm_node *node, uint64_t first)
{
	for (struct tdm_inner *parent; (parent = node->parent) != NULL; node = &parent->node) {
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

/* The largest free block of one row below `node` is now `max`: updates the nodes above as far as it matters. */
static void lift_max(struct tdm_block_tree *tree, struct tdm_node *node, unsigned row, uint64_t max)
{
	for (struct tdm_inner *parent; (parent = node->parent) != NULL; node = &parent->node) {
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
static void leaf_max(const struct tdm_block_tree *tree, const struct tdm_leaf *leaf, uint64_t max[TDM_ROWS_MAX])
{
	memset(max, 0, sizeof *max * tree->rows);
	for (uint64_t mask = leaf->free_mask; mask != 0; mask &= mask - 1) {
		unsigned i = (unsigned)__builtin_ctzll(mask);
		uint64_t size = leaf->start[i + 1] - leaf->start[i];
		unsigned row = tdm_block_tree_row(tree, size);
		max[row] = size > max[row] ? size : max[row];
	}
}

static void refresh_leaf(struct tdm_block_tree *tree, struct tdm_leaf *leaf)
{
	uint64_t max[TDM_ROWS_MAX];
	leaf_max(tree, leaf, max);
	for (unsigned row = 0; row < tree->rows; row++)
		lift_max(tree, &leaf->node, row, max[row]);
}

/* Updates the nodes above an inner node. */
static void refresh_inner(struct tdm_block_tree *tree, struct tdm_inner *inner)
{
	lift_first(&inner->node, inner->first[0]);
	for (unsigned row = 0; row < tree->rows; row++)
		lift_max(tree, &inner->node, row, largest_of(row_of(inner, row), inner->node.count));
}

/* Children of inner nodes. */

static void own_children(struct tdm_inner *inner, unsigned from)
{
	for (unsigned i = from; i < inner->node.count; i++) {
		inner->child[i]->parent = inner;
		inner->child[i]->slot = i;
	}
}

/* Copies children [from, from + count) of `src` into `dst` at `to`; the two may be the same node. */
static void copy_children(const struct tdm_block_tree *tree, struct tdm_inner *dst, unsigned to, struct tdm_inner *src,
	unsigned from, unsigned count)
{
	memmove(dst->child + to, src->child + from, count * sizeof *dst->child);
	memmove(dst->first + to, src->first + from, count * sizeof *dst->first);
	for (unsigned row = 0; row < tree->rows; row++)
		memmove(row_of(dst, row) + to, row_of(src, row) + from, count * sizeof(uint64_t));
}

static void insert_child(struct tdm_block_tree *tree, struct tdm_node *left, struct tdm_node *right, uint64_t first);

static struct tdm_inner *split_inner(struct tdm_block_tree *tree, struct tdm_inner *inner)
{
	struct tdm_inner *right = take_inner(tree);
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

static void new_root(struct tdm_block_tree *tree, struct tdm_node *left, uint64_t first)
{
	struct tdm_inner *root = take_inner(tree);
	root->node.count = 1;
	root->child[0] = left;
	root->first[0] = first;
	for (unsigned row = 0; row < tree->rows; row++)
		row_of(root, row)[0] = tree->row_max[row];
	own_children(root, 0);
	tree->root = &root->node;
	tree->height++;
}

/* Puts `right` after its sibling `left`, whose first address the parent has. Its figures are 0 until refreshed. */
static void insert_child(struct tdm_block_tree *tree, struct tdm_node *left, struct tdm_node *right, uint64_t first)
{
	if (left->parent == NULL)
		new_root(tree, left, tree->head->start[0]);
	if (left->parent->node.count == TDM_INNER_CAP)
		split_inner(tree, left->parent);
	struct tdm_inner *parent = left->parent;
	unsigned slot = left->slot + 1;
	copy_children(tree, parent, slot + 1, parent, slot, parent->node.count - slot);
	parent->node.count++;
	parent->child[slot] = right;
	parent->first[slot] = first;
	for (unsigned row = 0; row < tree->rows; row++)
		row_of(parent, row)[slot] = 0;
	own_children(parent, slot);
}

static void settle_inner(struct tdm_block_tree *tree, struct tdm_inner *inner);

/* Takes an emptied or joined child out of its parent. The caller still owns the child. */
static void remove_child(struct tdm_block_tree *tree, struct tdm_node *node)
{
	struct tdm_inner *parent = node->parent;
	unsigned slot = node->slot;
	copy_children(tree, parent, slot, parent, slot + 1, parent->node.count - slot - 1);
	parent->node.count--;
	own_children(parent, slot);
	settle_inner(tree, parent);
}

static void join_inners(struct tdm_block_tree *tree, struct tdm_inner *left, struct tdm_inner *right)
{
	unsigned at = left->node.count;
	copy_children(tree, left, at, right, 0, right->node.count);
	left->node.count += right->node.count;
	own_children(left, at);
	remove_child(tree, &right->node);
	give_inner(tree, right);
	refresh_inner(tree, left);
}

/* After children were removed: drops an empty node or a root with one child; a nearly empty node joins a sibling. */
static void settle_inner(struct tdm_block_tree *tree, struct tdm_inner *inner)
{
	struct tdm_inner *parent = inner->node.parent;
	if (parent == NULL) {
		refresh_inner(tree, inner);
		if (inner->node.count != 1)
			return;
		tree->root = inner->child[0];
		tree->root->parent = NULL;
		tree->root->slot = 0;
		tree->height--;
		give_inner(tree, inner);
		return;
	}
	if (inner->node.count == 0) {
		remove_child(tree, &inner->node);
		give_inner(tree, inner);
		return;
	}
	refresh_inner(tree, inner);
	if (inner->node.count >= INNER_LOW)
		return;
	unsigned slot = inner->node.slot;
	struct tdm_inner *right = slot + 1 < parent->node.count ? as_inner(parent->child[slot + 1]) : NULL;
	struct tdm_inner *left = slot != 0 ? as_inner(parent->child[slot - 1]) : NULL;
	if (right != NULL && inner->node.count + right->node.count <= INNER_JOINED)
		join_inners(tree, inner, right);
	else if (left != NULL && left->node.count + inner->node.count <= INNER_JOINED)
		join_inners(tree, left, inner);
}

/* Leaves. */

static uint64_t low_bits(unsigned count)
{
	return count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
}

/* Moves the upper half of a full leaf into a new leaf after it and updates the nodes above. */
static struct tdm_leaf *split_leaf(struct tdm_block_tree *tree, struct tdm_leaf *leaf)
{
	struct tdm_leaf *right = take_leaf(tree);
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

/* Cuts block `idx` at the address `at`; both parts keep its mark. */
static void leaf_insert(struct tdm_leaf *leaf, unsigned idx, uint64_t at)
{
	unsigned count = leaf->node.count;
	memmove(leaf->start + idx + 2, leaf->start + idx + 1, (count - idx) * sizeof *leaf->start);
	leaf->start[idx + 1] = at;
	uint64_t low = leaf->free_mask & low_bits(idx + 1);
	leaf->free_mask = low | (leaf->free_mask & ~low_bits(idx)) << 1;
	leaf->node.count = count + 1;
}

static void leaf_erase(struct tdm_leaf *leaf, unsigned idx)
{
	memmove(leaf->start + idx, leaf->start + idx + 1, (leaf->node.count - idx) * sizeof *leaf->start);
	uint64_t low = leaf->free_mask & low_bits(idx);
	leaf->free_mask = low | (leaf->free_mask >> 1 & ~low_bits(idx));
	leaf->node.count--;
}

int tdm_block_tree_cut(struct tdm_block_tree *tree, struct tdm_block_pos *pos, uint64_t at)
{
	if (pos->leaf->node.count == TDM_LEAF_CAP) {
		int err = reserve_nodes(tree);
		if (err != 0)
			return err;
		struct tdm_leaf *right = split_leaf(tree, pos->leaf);
		if (pos->idx >= pos->leaf->node.count)
			*pos = (struct tdm_block_pos){ right, pos->idx - pos->leaf->node.count };
	}
	if (tdm_block_is_free(*pos))
		tree->free_blocks++;
	else
		tree->used_blocks++;
	leaf_insert(pos->leaf, pos->idx, at);
	return 0;
}

static void unlink_leaf(struct tdm_block_tree *tree, struct tdm_leaf *leaf)
{
	if (leaf->prev != NULL)
		leaf->prev->next = leaf->next;
	else
		tree->head = leaf->next;
	if (leaf->next != NULL)
		leaf->next->prev = leaf->prev;
	remove_child(tree, &leaf->node);
	give_leaf(tree, leaf);
}

/* Removes the first block of a leaf; the leaf before it, if any, then ends where this one starts. */
static void erase_first(struct tdm_block_tree *tree, struct tdm_leaf *leaf)
{
	leaf_erase(leaf, 0);
	if (leaf->prev != NULL)
		leaf->prev->start[leaf->prev->node.count] = leaf->start[0];
	if (leaf->node.count == 0) {
		unlink_leaf(tree, leaf);
		return;
	}
	lift_first(&leaf->node, leaf->start[0]);
	tdm_block_tree_settle(tree, leaf);
}

static void count_out(struct tdm_block_tree *tree, struct tdm_block_pos pos)
{
	if (tdm_block_is_free(pos))
		tree->free_blocks--;
	else
		tree->used_blocks--;
}

void tdm_block_tree_join(struct tdm_block_tree *tree, struct tdm_block_pos pos)
{
	struct tdm_block_pos next = pos;
	if (!tdm_block_tree_next(&next))
		return;
	count_out(tree, next);
	if (next.leaf == pos.leaf)
		leaf_erase(pos.leaf, next.idx);
	else
		erase_first(tree, next.leaf);
}

void tdm_block_tree_mark(struct tdm_block_tree *tree, struct tdm_block_pos pos, bool is_free)
{
	uint64_t bit = UINT64_C(1) << pos.idx;
	if (tdm_block_is_free(pos) == is_free)
		return;
	pos.leaf->free_mask ^= bit;
	tree->free_blocks += is_free ? 1 : (size_t)-1;
	tree->used_blocks += is_free ? (size_t)-1 : 1;
}

void tdm_block_tree_move_start(struct tdm_block_tree *tree, uint64_t at)
{
	tree->head->start[0] = at;
	lift_first(&tree->head->node, at);
	refresh_leaf(tree, tree->head);
}

void tdm_block_tree_drop_first(struct tdm_block_tree *tree)
{
	count_out(tree, (struct tdm_block_pos){ tree->head, 0 });
	erase_first(tree, tree->head);
}

int tdm_block_tree_push_front(struct tdm_block_tree *tree, uint64_t at)
{
	struct tdm_block_pos pos = { tree->head, 0 };
	uint64_t old_start = tdm_block_start(pos);
	bool was_free = tdm_block_is_free(pos);
	int err = tdm_block_tree_cut(tree, &pos, old_start);
	if (err != 0)
		return err;
	/* The cut left an empty block in front; it takes the new room. */
	pos.leaf->start[0] = at;
	tdm_block_tree_mark(tree, pos, true);
	tdm_block_tree_mark(tree, (struct tdm_block_pos){ pos.leaf, 1 }, was_free);
	lift_first(&pos.leaf->node, at);
	tdm_block_tree_settle(tree, pos.leaf);
	return 0;
}

static void join_leaves(struct tdm_block_tree *tree, struct tdm_leaf *left, struct tdm_leaf *right)
{
	memcpy(left->start + left->node.count, right->start, (right->node.count + 1) * sizeof *left->start);
	left->free_mask |= right->free_mask << left->node.count;
	left->node.count += right->node.count;
	unlink_leaf(tree, right);
	refresh_leaf(tree, left);
}

/* A nearly empty leaf joins a sibling. */
static void join_if_low(struct tdm_block_tree *tree, struct tdm_leaf *leaf)
{
	struct tdm_inner *parent = leaf->node.parent;
	if (leaf->node.count >= LEAF_LOW || parent == NULL)
		return;
	unsigned slot = leaf->node.slot;
	if (slot + 1 < parent->node.count && leaf->node.count + leaf->next->node.count <= LEAF_JOINED)
		join_leaves(tree, leaf, leaf->next);
	else if (slot != 0 && leaf->prev->node.count + leaf->node.count <= LEAF_JOINED)
		join_leaves(tree, leaf->prev, leaf);
}

void tdm_block_tree_settle(struct tdm_block_tree *tree, struct tdm_leaf *leaf)
{
	refresh_leaf(tree, leaf);
	join_if_low(tree, leaf);
}

/* The largest free block of a leaf as its parent has it, in a tree with one row. */
static uint64_t known_max(const struct tdm_block_tree *tree, const struct tdm_leaf *leaf)
{
	return leaf->node.parent != NULL ? leaf->node.parent->max[leaf->node.slot] : tree->row_max[0];
}

void tdm_block_tree_settle_grown(struct tdm_block_tree *tree, struct tdm_leaf *leaf, uint64_t size)
{
	if (tree->rows != 1)
		refresh_leaf(tree, leaf);
	else if (size > known_max(tree, leaf))
		lift_max(tree, &leaf->node, 0, size);
	join_if_low(tree, leaf);
}

void tdm_block_tree_settle_cut(struct tdm_block_tree *tree, struct tdm_leaf *leaf, uint64_t size)
{
	/* The parent keeps only the largest block: a smaller one, and what is left of it, does not matter there. */
	if (tree->rows != 1 || size >= known_max(tree, leaf))
		refresh_leaf(tree, leaf);
}

/* The invariants. */

static bool leaf_is_valid(const struct tdm_leaf *leaf)
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
static bool figures_are_valid(
	const struct tdm_block_tree *tree, struct tdm_node *node, uint64_t first, const uint64_t *max)
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

static bool subtree_is_valid(const struct tdm_block_tree *tree, struct tdm_node *node, unsigned height, size_t *blocks)
{
	uint64_t max[TDM_ROWS_MAX];
	if (height == 0) {
		*blocks += node->count;
		leaf_max(tree, as_leaf(node), max);
		return leaf_is_valid(as_leaf(node)) && figures_are_valid(tree, node, as_leaf(node)->start[0], max);
	}
	struct tdm_inner *inner = as_inner(node);
	if (node->count == 0 || node->count > TDM_INNER_CAP)
		return false;
	for (uint32_t i = 0; i < node->count; i++)
		if (inner->child[i]->parent != inner || inner->child[i]->slot != i ||
			!subtree_is_valid(tree, inner->child[i], height - 1, blocks))
			return false;
	for (unsigned row = 0; row < tree->rows; row++)
		max[row] = largest_of(row_of(inner, row), node->count);
	return figures_are_valid(tree, node, inner->first[0], max);
}

bool tdm_block_tree_is_valid(const struct tdm_block_tree *tree)
{
	size_t blocks = 0;
	return subtree_is_valid(tree, tree->root, tree->height, &blocks) &&
	       blocks == tree->used_blocks + tree->free_blocks;
}
