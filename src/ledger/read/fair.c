#include "ledger/read/fair.h"
#include "base/memory.h"
#include "base/number.h"

#include <stdlib.h>

void tdm_fair_done(struct tdm_fair *fair)
{
	free(fair->users);
	tdm_map_done(&fair->by_uid);
	*fair = (struct tdm_fair){ 0 };
}

void tdm_fair_clear(struct tdm_fair *fair)
{
	fair->count = 0;
	tdm_map_clear(&fair->by_uid);
}

struct tdm_fair_user *tdm_fair_of(struct tdm_fair *fair, uint32_t uid)
{
	uint32_t at = tdm_map_find(&fair->by_uid, uid);
	if (at != TDM_MAP_NONE)
		return &fair->users[at];
	tdm_grow(&fair->users, &fair->cap, fair->count + 1, sizeof *fair->users);
	tdm_map_set(&fair->by_uid, uid, (uint32_t)fair->count);
	fair->users[fair->count] = (struct tdm_fair_user){ .uid = uid };
	return &fair->users[fair->count++];
}

/* What every user gets if nobody gets more than `level`, except that some keep a part of the room. Returns the sum. */
static uint64_t share_at(struct tdm_fair *fair, uint64_t level, uint64_t room, uint32_t self)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < fair->count; i++) {
		struct tdm_fair_user *user = &fair->users[i];
		bool is_first = user->uid == 0 || user->uid == self;
		user->may = tdm_min(user->wants, is_first ? tdm_max(level, room / TDM_FAIR_PART) : level);
		sum = tdm_plus(sum, user->may);
	}
	return sum;
}

void tdm_fair_share(struct tdm_fair *fair, uint64_t room, uint32_t self)
{
	uint64_t low = 0, high = room;
	while (low < high) { /* the highest level for which there is room */
		uint64_t level = low + (high - low + 1) / 2;
		if (share_at(fair, level, room, self) <= room)
			low = level;
		else
			high = level - 1;
	}
	uint64_t sum = share_at(fair, low, room, self);
	for (size_t i = 0; i < fair->count && sum < room; i++)
		if (fair->users[i].may < fair->users[i].wants) {
			fair->users[i].may++;
			sum++;
		}
}

uint64_t tdm_fair_left(const struct tdm_fair *fair)
{
	uint64_t left = 0;
	for (size_t i = 0; i < fair->count; i++)
		left = tdm_plus(left, fair->users[i].left);
	return left;
}

static int by_user_and_age(const void *a, const void *b)
{
	const struct tdm_fair_entry *x = a, *y = b;
	int order = tdm_order(x->uid, y->uid);
	if (order == 0)
		order = tdm_order(x->age, y->age);
	return order != 0 ? order : tdm_order(x->index, y->index);
}

void tdm_fair_choose(struct tdm_fair *fair, struct tdm_fair_entry *entries, size_t count, uint64_t room, uint32_t self)
{
	uint64_t rank = 0; /* the number of older entries of the same user */
	for (size_t i = 0; i < fair->count; i++)
		fair->users[i].wants = 0;
	for (size_t i = 0; i < count; i++)
		tdm_fair_of(fair, entries[i].uid)->wants++;
	tdm_fair_share(fair, room, self);
	if (count > 1)
		qsort(entries, count, sizeof *entries, by_user_and_age);
	for (size_t i = 0; i < count; i++) {
		rank = i != 0 && entries[i - 1].uid == entries[i].uid ? rank + 1 : 0;
		struct tdm_fair_user *user = tdm_fair_of(fair, entries[i].uid);
		entries[i].is_out = rank >= user->may;
		user->left += entries[i].is_out;
	}
}
