#include "device/freelist.h"
#include "base/err.h"
#include "device/block_tree.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

enum {
	CLASS_COUNT_MIN = 2, /* the real allocator has at least this many size classes, and at most TDM_ROWS_MAX */
	CLASS_BASE = 1024,
	CHECK_ALWAYS_BLOCKS = 256, /* checked builds test lists up to this long after every change, */
	CHECK_EVERY = 512,         /* and longer ones after this many */
};

struct tdm_freelist {
	struct tdm_block_tree tree;
	struct tdm_freelist_config config;
	uint64_t allocated;
	uint64_t shrunk;     /* bytes cut off the low end */
	uint64_t align_mask; /* align - 1 if align is a power of two, else 0 */
	unsigned changes;    /* counted in checked builds */
};

/* The number of size classes that the real allocator makes for a range of this size. */
static unsigned class_count(uint64_t size)
{
	uint64_t n = size / CLASS_BASE;
	unsigned bits = n != 0 ? 64 - (unsigned)__builtin_clzll(n) : 0;
	return bits < CLASS_COUNT_MIN ? CLASS_COUNT_MIN : bits > TDM_ROWS_MAX ? TDM_ROWS_MAX : bits;
}

static int tree_init(struct tdm_freelist *fl)
{
	const struct tdm_freelist_config *c = &fl->config;
	unsigned rows = c->fit == TDM_FIT_BEST ? class_count(c->size) : 1;
	return tdm_block_tree_init(&fl->tree, rows, c->base, c->base + c->size);
}

int tdm_freelist_new(const struct tdm_freelist_config *config, struct tdm_freelist **out)
{
	if (config->align == 0)
		return -EINVAL;
	if (config->size > UINT64_MAX - config->base)
		return -ERANGE;
	struct tdm_freelist *fl = calloc(1, sizeof *fl);
	if (fl == NULL)
		return -ENOMEM;
	fl->config = *config;
	if (fl->config.min_alloc == 0)
		fl->config.min_alloc = 1;
	if ((config->align & (config->align - 1)) == 0)
		fl->align_mask = config->align - 1;
	int err = tree_init(fl);
	if (err != 0) {
		free(fl);
		return err;
	}
	*out = fl;
	return 0;
}

void tdm_freelist_free(struct tdm_freelist *fl)
{
	if (fl == NULL)
		return;
	tdm_block_tree_done(&fl->tree);
	free(fl);
}

static void check(struct tdm_freelist *fl)
{
#if TDM_CHECKED
	size_t blocks = fl->tree.used_blocks + fl->tree.free_blocks;
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

/* The free block that the policy chooses; false when none is large enough. */
static bool choose(const struct tdm_freelist *fl, uint64_t need, enum tdm_grow grow, struct tdm_block_pos *pos)
{
	const struct tdm_block_tree *tree = &fl->tree;
	unsigned row = tdm_block_tree_row(tree, need);
	while (row < tree->rows && tree->row_max[row] < need)
		row++;
	if (row == tree->rows)
		return false;
	*pos = grow == TDM_BOTTOM_UP ? tdm_block_tree_lowest_fit(tree, row, need)
				     : tdm_block_tree_highest_fit(tree, row, need);
	return true;
}

/* Marks [address, address + size) used; the free block at `pos` contains it. 0 or -ENOMEM. */
static int use_part(struct tdm_freelist *fl, struct tdm_block_pos pos, uint64_t address, uint64_t size)
{
	struct tdm_block_tree *tree = &fl->tree;
	uint64_t free_size = tdm_block_end(pos) - tdm_block_start(pos);
	if (tdm_block_end(pos) != address + size) {
		int err = tdm_block_tree_cut(tree, &pos, address + size);
		if (err != 0)
			return err;
	}
	if (tdm_block_start(pos) != address) {
		int err = tdm_block_tree_cut(tree, &pos, address);
		if (err != 0) {
			if (tdm_block_end(pos) == address + size)
				tdm_block_tree_join(tree, pos);
			return err;
		}
		pos.idx++; /* both parts of a cut are in one leaf */
	}
	tdm_block_tree_mark(tree, pos, false);
	tdm_block_tree_settle_cut(tree, pos.leaf, free_size);
	fl->allocated += size;
	check(fl);
	return 0;
}

int tdm_freelist_alloc(struct tdm_freelist *fl, uint64_t size, enum tdm_grow grow, uint64_t limit, uint64_t *address)
{
	uint64_t need;
	struct tdm_block_pos pos;
	int err = tdm_freelist_round(fl, size, &need);
	if (err != 0)
		return err;
	if (!choose(fl, need, grow, &pos))
		return TDM_ENOFIT;
	uint64_t at = grow == TDM_BOTTOM_UP ? tdm_block_start(pos) : tdm_block_end(pos) - need;
	if (at < limit)
		return TDM_ELIMIT;
	err = use_part(fl, pos, at, need);
	if (err == 0)
		*address = at;
	return err;
}

int tdm_freelist_place(struct tdm_freelist *fl, uint64_t address, uint64_t size)
{
	uint64_t need;
	struct tdm_block_pos pos;
	int err = tdm_freelist_round(fl, size, &need);
	if (err != 0)
		return err;
	if (!tdm_block_tree_find(&fl->tree, address, &pos) || !tdm_block_is_free(pos) ||
		need > tdm_block_end(pos) - address)
		return TDM_EOCCUPIED;
	return use_part(fl, pos, address, need);
}

int tdm_freelist_release(struct tdm_freelist *fl, uint64_t address, uint64_t *size)
{
	struct tdm_block_tree *tree = &fl->tree;
	struct tdm_block_pos pos;
	if (!tdm_block_tree_find(tree, address, &pos) || tdm_block_is_free(pos) || tdm_block_start(pos) != address)
		return TDM_ENOTFOUND;
	uint64_t bytes = tdm_block_end(pos) - address;
	fl->allocated -= bytes;
	if (size != NULL)
		*size = bytes;

	tdm_block_tree_mark(tree, pos, true);
	struct tdm_block_pos next = pos, prev = pos;
	if (tdm_block_tree_next(&next) && tdm_block_is_free(next))
		tdm_block_tree_join(tree, pos);
	if (tdm_block_tree_prev(&prev) && tdm_block_is_free(prev)) {
		tdm_block_tree_join(tree, prev);
		pos = prev;
	}
	tdm_block_tree_settle_grown(tree, pos.leaf, tdm_block_end(pos) - tdm_block_start(pos));
	check(fl);
	return 0;
}

uint64_t tdm_freelist_size_at(const struct tdm_freelist *fl, uint64_t address)
{
	struct tdm_block_pos pos;
	if (!tdm_block_tree_find(&fl->tree, address, &pos) || tdm_block_is_free(pos) || tdm_block_start(pos) != address)
		return 0;
	return tdm_block_end(pos) - address;
}

int tdm_freelist_shrink(struct tdm_freelist *fl, uint64_t bytes)
{
	struct tdm_block_pos first = { fl->tree.head, 0 };
	if (bytes == 0)
		return 0;
	if (bytes >= fl->config.size - fl->shrunk)
		return -ERANGE;
	uint64_t size = tdm_block_end(first) - tdm_block_start(first);
	if (!tdm_block_is_free(first) || size < bytes)
		return TDM_EOCCUPIED;
	if (size == bytes)
		tdm_block_tree_drop_first(&fl->tree);
	else
		tdm_block_tree_move_start(&fl->tree, tdm_block_start(first) + bytes);
	fl->shrunk += bytes;
	check(fl);
	return 0;
}

int tdm_freelist_reset(struct tdm_freelist *fl)
{
	int err = 0;
	if (fl->shrunk == 0)
		return 0;
	if (tdm_block_is_free((struct tdm_block_pos){ fl->tree.head, 0 }))
		tdm_block_tree_move_start(&fl->tree, fl->config.base);
	else
		err = tdm_block_tree_push_front(&fl->tree, fl->config.base);
	if (err == 0)
		fl->shrunk = 0;
	check(fl);
	return err;
}

struct tdm_freelist_stats tdm_freelist_stats(const struct tdm_freelist *fl)
{
	uint64_t total = fl->config.size - fl->shrunk, largest = 0;
	for (unsigned row = 0; row < fl->tree.rows; row++)
		largest = fl->tree.row_max[row] > largest ? fl->tree.row_max[row] : largest;
	return (struct tdm_freelist_stats){
		.total = total,
		.allocated = fl->allocated,
		.free = total - fl->allocated,
		.largest_free = largest,
		.used_blocks = fl->tree.used_blocks,
		.free_blocks = fl->tree.free_blocks,
	};
}

bool tdm_freelist_lowest(const struct tdm_freelist *fl, uint64_t *address)
{
	struct tdm_block_pos pos = { fl->tree.head, 0 };
	if (fl->tree.used_blocks == 0)
		return false;
	if (tdm_block_is_free(pos))
		tdm_block_tree_next(&pos); /* used, because free neighbours are one block */
	*address = tdm_block_start(pos);
	return true;
}

void tdm_freelist_walk(const struct tdm_freelist *fl, struct tdm_freelist_walk *walk)
{
	*walk = (struct tdm_freelist_walk){ fl->tree.head, 0 };
}

bool tdm_freelist_walk_next(struct tdm_freelist_walk *walk, struct tdm_block *block)
{
	const struct tdm_leaf *leaf = walk->leaf;
	if (leaf == NULL || walk->idx >= leaf->node.count)
		return false;
	*block = (struct tdm_block){
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
	struct tdm_block block;
	uint64_t at = fl->config.base + fl->shrunk, used = 0;
	bool after_free = false;
	size_t used_blocks = 0;

	if (!tdm_block_tree_is_valid(&fl->tree))
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
	return at == fl->config.base + fl->config.size && used == fl->allocated && used_blocks == fl->tree.used_blocks;
}

const char *tdm_fit_name(enum tdm_fit fit)
{
	return fit == TDM_FIT_BEST ? "best" : "first";
}

int tdm_fit_parse(struct tdm_str name, enum tdm_fit *fit)
{
	if (tdm_str_is(name, "first"))
		*fit = TDM_FIT_FIRST;
	else if (tdm_str_is(name, "best"))
		*fit = TDM_FIT_BEST;
	else
		return TDM_ESYNTAX;
	return 0;
}
