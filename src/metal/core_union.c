/*
 * Cores with the same items are one group, and no core is in two. An item that covers a part of a group splits it. The
 * L1 of a group is cut into pieces, sorted by address; each has a depth, the number of items on it, and ends where the
 * next begins:
 *
 *     [105664: 2][109760: 1][113856: 0]
 *
 * Neighbours have different depths, the first is not 0, the last is. A group without pieces does not exist. Removing an
 * item therefore leaves nothing of it, and the pieces do not depend on the order in which items came.
 */
#include "metal/core_union.h"

#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/reserve.h"

enum { GRID = TDM_CORE_UNION_GRID, PIECES_MAX = 1 << 20 };

struct cores {
	uint64_t rows[GRID]; /* a bit for each column */
};

struct piece {
	uint64_t at;
	uint64_t depth;
};

struct tdm_core_group {
	struct cores cores;
	uint64_t core_count;
	struct piece *pieces;
	size_t count, cap;
	uint64_t used; /* bytes with a depth above 0 */
};

static bool set_range(struct cores *cores, const struct tidemark_core_range *r)
{
	if (r->x1 < r->x0 || r->y1 < r->y0 || r->x1 >= GRID || r->y1 >= GRID)
		return false;
	uint64_t row = UINT64_MAX >> (GRID - 1 - (r->x1 - r->x0)) << r->x0;
	for (uint32_t y = r->y0; y <= r->y1; y++)
		cores->rows[y] |= row;
	return true;
}

static bool set_cores(struct cores *cores, const struct tdm_core_item *item)
{
	memset(cores, 0, sizeof *cores);
	for (size_t i = 0; i < item->range_count; i++)
		if (!set_range(cores, &item->ranges[i]))
			return false;
	return item->size <= UINT64_MAX - item->address;
}

static uint64_t count_cores(const struct cores *cores)
{
	uint64_t count = 0;
	for (int y = 0; y < GRID; y++)
		count += (uint64_t)__builtin_popcountll(cores->rows[y]);
	return count;
}

/* The cores that both have, and whether those are none, some or all of the first. */
enum share { NONE, SOME, ALL };
static enum share common_cores(struct cores *common, const struct cores *a, const struct cores *b)
{
	uint64_t any = 0, missing = 0;
	for (int y = 0; y < GRID; y++) {
		common->rows[y] = a->rows[y] & b->rows[y];
		any |= common->rows[y];
		missing |= a->rows[y] & ~b->rows[y];
	}
	return any == 0 ? NONE : missing != 0 ? SOME : ALL;
}

static void take_away(struct cores *from, const struct cores *cores)
{
	for (int y = 0; y < GRID; y++)
		from->rows[y] &= ~cores->rows[y];
}

/* A new group with these cores and the pieces of another one, if there is one. */
static bool make_group(struct tdm_core_union *of, const struct cores *cores, const struct tdm_core_group *like)
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

/* Splits groups until each is inside `cores` or outside, and makes one of the cores that are in no group. */
static bool split_groups(struct tdm_core_union *of, const struct cores *cores)
{
	struct cores rest = *cores, common;
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

static bool is_inside(const struct tdm_core_group *group, const struct cores *cores)
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

/* Room for two more pieces in every group that the item is in, and at most `limit` pieces in all. Taking an item off
 * needs room, too: it may cut a piece that items side by side share. */
static bool make_room(struct tdm_core_union *of, const struct cores *cores, size_t limit)
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

/* The piece that begins at `at`, made by cutting another one if necessary. */
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

/* Joins a piece with the one before it if they have the same depth. */
static void join(struct tdm_core_group *g, size_t i)
{
	if (g->pieces[i].depth == (i > 0 ? g->pieces[i - 1].depth : 0))
		memmove(&g->pieces[i], &g->pieces[i + 1], (--g->count - i) * sizeof *g->pieces);
}

/* Puts an item on a group, which has room for two more pieces, or takes it off. */
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
	struct cores cores;
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
	struct cores cores;
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
	struct cores common, seen = { 0 };
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
