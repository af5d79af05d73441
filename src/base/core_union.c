/*
 * Cores with the same items form one group; no core is in two groups. An item that covers only part of a group splits
 * it. A group's L1 is cut into pieces, sorted by address. A piece has a depth, the number of items on it, and ends
 * where the next one begins:
 *
 *      [105664: 2][109760: 1][113856: 0]
 *
 * Neighbours have different depths; the first depth is never 0, the last always is. A group without pieces is removed.
 * So removing an item leaves no trace, and the pieces do not depend on the order of the items.
 */
#include "base/core_union.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/reserve.h"

enum { GRID = TDM_CORE_SIDE, PIECES_MAX = 1 << 20 };

struct piece {
	uint64_t at;
	uint64_t depth;
};

struct tdm_core_group {
	struct tdm_core_set cores;
	uint64_t core_count;
	struct piece *pieces;
	size_t count, cap;
	uint64_t used; /* bytes with a depth above 0 */
};

bool tdm_core_set_add(struct tdm_core_set *set, const struct tdm_core_range *r, uint32_t grid_x, uint32_t grid_y)
{
	if (!tdm_core_range_is_valid(r) || r->x0 >= grid_x)
		return false;
	uint32_t last = r->x1 < grid_x ? r->x1 : grid_x - 1;
	uint64_t row = UINT64_MAX >> (GRID - 1 - (last - r->x0)) << r->x0;
	for (uint32_t y = r->y0; y <= r->y1 && y < grid_y; y++)
		set->rows[y] |= row;
	return r->x1 < grid_x && r->y1 < grid_y;
}

static bool set_cores(struct tdm_core_set *cores, const struct tdm_core_item *item)
{
	memset(cores, 0, sizeof *cores);
	for (size_t i = 0; i < item->range_count; i++)
		if (!tdm_core_set_add(cores, &item->ranges[i], GRID, GRID))
			return false;
	return item->size <= UINT64_MAX - item->address;
}

static uint64_t count_cores(const struct tdm_core_set *cores)
{
	uint64_t count = 0;
	for (int y = 0; y < GRID; y++)
		count += (uint64_t)__builtin_popcountll(cores->rows[y]);
	return count;
}

/* The intersection of two sets of cores, and whether it contains none, some or all of the first set. */
enum share { NONE, SOME, ALL };
static enum share common_cores(struct tdm_core_set *common, const struct tdm_core_set *a, const struct tdm_core_set *b)
{
	uint64_t any = 0, missing = 0;
	for (int y = 0; y < GRID; y++) {
		common->rows[y] = a->rows[y] & b->rows[y];
		any |= common->rows[y];
		missing |= a->rows[y] & ~b->rows[y];
	}
	return any == 0 ? NONE : missing != 0 ? SOME : ALL;
}

static void take_away(struct tdm_core_set *from, const struct tdm_core_set *cores)
{
	for (int y = 0; y < GRID; y++)
		from->rows[y] &= ~cores->rows[y];
}

/* Makes a new group of these cores, with a copy of the pieces of `from` unless it is NULL. */
static bool make_group(struct tdm_core_union *of, const struct tdm_core_set *cores, const struct tdm_core_group *like)
{
	struct tdm_core_group group = { .cores = *cores, .core_count = count_cores(cores) };
	if (like != NULL) {
		if (of->pieces + like->count > PIECES_MAX ||
			tdm_reserve(&group.pieces, &group.cap, like->count, sizeof *group.pieces) != 0)
			return false;
		memcpy(group.pieces, like->pieces, like->count * sizeof *group.pieces);
		group.count = like->count;
		group.used = like->used;
	}
	if (tdm_reserve(&of->groups, &of->cap, of->count + 1, sizeof *of->groups) != 0) {
		free(group.pieces);
		return false;
	}
	of->pieces += group.count;
	of->groups[of->count++] = group;
	return true;
}

static void remove_group(struct tdm_core_union *of, size_t i)
{
	of->pieces -= of->groups[i].count;
	free(of->groups[i].pieces);
	of->groups[i] = of->groups[--of->count];
}

/* Splits groups until each is entirely inside or outside `cores`, and makes a group of those cores that belong to no
 * group. */
static bool split_groups(struct tdm_core_union *of, const struct tdm_core_set *cores)
{
	struct tdm_core_set rest = *cores, common;
	for (size_t i = 0, count = of->count; i < count; i++) {
		enum share inside = common_cores(&common, &of->groups[i].cores, cores);
		if (inside == NONE)
			continue;
		take_away(&rest, &common);
		if (inside == ALL)
			continue;
		struct tdm_core_group like = of->groups[i];
		if (!make_group(of, &common, &like))
			return false;
		take_away(&of->groups[i].cores, &common);
		of->groups[i].core_count = count_cores(&of->groups[i].cores);
	}
	return common_cores(&common, &rest, cores) == NONE || make_group(of, &rest, NULL);
}

static bool is_inside(const struct tdm_core_group *group, const struct tdm_core_set *cores)
{
	for (int y = 0; y < GRID; y++)
		if ((group->cores.rows[y] & cores->rows[y]) != 0)
			return true;
	return false;
}

static void remove_empty_groups(struct tdm_core_union *of)
{
	for (size_t i = of->count; i-- > 0;)
		if (of->groups[i].count == 0)
			remove_group(of, i);
}

/* Makes room for two more pieces in every group that the item touches; fails above `limit` pieces in total. Removing
 * an item also needs room: the removal may cut a piece shared with adjacent items. */
static bool make_room(struct tdm_core_union *of, const struct tdm_core_set *cores, size_t limit)
{
	size_t more = 0;
	for (size_t i = 0; i < of->count; i++) {
		struct tdm_core_group *g = &of->groups[i];
		if (!is_inside(g, cores))
			continue;
		more += 2;
		if (tdm_reserve(&g->pieces, &g->cap, g->count + 2, sizeof *g->pieces) != 0)
			return false;
	}
	return of->pieces + more <= limit;
}

/* Returns the piece that begins at `at`, cutting another piece if necessary. */
static size_t cut(struct tdm_core_group *g, uint64_t at)
{
	size_t low = 0, high = g->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (g->pieces[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == g->count || g->pieces[low].at != at) {
		uint64_t depth = low > 0 ? g->pieces[low - 1].depth : 0;
		memmove(&g->pieces[low + 1], &g->pieces[low], (g->count++ - low) * sizeof *g->pieces);
		g->pieces[low] = (struct piece){ .at = at, .depth = depth };
	}
	return low;
}

/* Joins a piece with the previous one if both have the same depth. */
static void join(struct tdm_core_group *g, size_t i)
{
	if (g->pieces[i].depth == (i > 0 ? g->pieces[i - 1].depth : 0))
		memmove(&g->pieces[i], &g->pieces[i + 1], (--g->count - i) * sizeof *g->pieces);
}

/* Adds an item to a group, or removes it from the group, which has room for two more pieces. */
static void change(struct tdm_core_union *of, struct tdm_core_group *g, const struct tdm_core_item *item, bool is_added)
{
	of->pieces -= g->count;
	size_t first = cut(g, item->address), end = cut(g, item->address + item->size);
	for (size_t i = first; i < end; i++) {
		uint64_t bytes = g->pieces[i + 1].at - g->pieces[i].at;
		if (is_added)
			g->used += g->pieces[i].depth++ == 0 ? bytes : 0;
		else
			g->used -= --g->pieces[i].depth == 0 ? bytes : 0;
	}
	join(g, end);
	join(g, first);
	of->pieces += g->count;
}

bool tdm_core_union_add(struct tdm_core_union *of, const struct tdm_core_item *item)
{
	struct tdm_core_set cores;
	if (!set_cores(&cores, item))
		return false;
	if (item->size == 0)
		return true;
	bool fits = split_groups(of, &cores) && make_room(of, &cores, PIECES_MAX);
	for (size_t i = 0; fits && i < of->count; i++)
		if (is_inside(&of->groups[i], &cores))
			change(of, &of->groups[i], item, true);
	remove_empty_groups(of);
	return fits;
}

bool tdm_core_union_remove(struct tdm_core_union *of, const struct tdm_core_item *item)
{
	struct tdm_core_set cores;
	if (!set_cores(&cores, item) || !make_room(of, &cores, SIZE_MAX))
		return false;
	for (size_t i = 0; item->size > 0 && i < of->count; i++)
		if (is_inside(&of->groups[i], &cores))
			change(of, &of->groups[i], item, false);
	remove_empty_groups(of);
	return true;
}

void tdm_core_union_sum(const struct tdm_core_union *of, uint64_t *fullest, uint64_t *all)
{
	*fullest = *all = 0;
	for (size_t i = 0; i < of->count; i++) {
		*fullest = tdm_max(*fullest, of->groups[i].used);
		*all = tdm_plus(*all, tdm_times(of->groups[i].used, of->groups[i].core_count));
	}
}

static bool is_valid_group(const struct tdm_core_group *g)
{
	uint64_t used = 0, before = 0;
	for (size_t i = 0; i < g->count; i++) {
		if (g->pieces[i].depth == before || (i > 0 && g->pieces[i].at <= g->pieces[i - 1].at))
			return false;
		before = g->pieces[i].depth;
		used += before == 0 ? 0 : i + 1 < g->count ? g->pieces[i + 1].at - g->pieces[i].at : 0;
	}
	return g->count > 0 && before == 0 && used == g->used && count_cores(&g->cores) == g->core_count;
}

bool tdm_core_union_is_valid(const struct tdm_core_union *of)
{
	struct tdm_core_set common, seen = { 0 };
	size_t pieces = 0;
	for (size_t i = 0; i < of->count; i++) {
		if (!is_valid_group(&of->groups[i]) || common_cores(&common, &seen, &of->groups[i].cores) != NONE)
			return false;
		for (int y = 0; y < GRID; y++)
			seen.rows[y] |= of->groups[i].cores.rows[y];
		pieces += of->groups[i].count;
	}
	return pieces == of->pieces;
}

void tdm_core_union_done(struct tdm_core_union *of)
{
	while (of->count > 0)
		remove_group(of, of->count - 1);
	free(of->groups);
	*of = (struct tdm_core_union){ 0 };
}
