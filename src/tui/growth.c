#include "tui/growth.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/trend.h"
#include "base/number.h"
#include "base/reserve.h"

enum { KNOWN_SLOTS = 3, LEAK_DEVIATIONS = 3 };

static uint64_t key_of(const struct tdm_picture *picture, const struct tdm_holding *holding)
{
	uint64_t process = picture->processes[holding->process].handle;
	return tdm_hash_u64(process ^ tdm_hash_u64(picture->devices[holding->device].key));
}

/* Of every kind; unknown ones add nothing. */
static uint64_t bytes_of(const struct tdm_holding *holding)
{
	uint64_t sum = TDM_BYTES_UNKNOWN;
	for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
		uint64_t used = holding->kinds[k].used;
		if (used != TDM_BYTES_UNKNOWN)
			sum = sum == TDM_BYTES_UNKNOWN ? used : tdm_plus(sum, used);
	}
	return sum;
}

static void judge(struct tdm_growth_item *item)
{
	double values[TDM_GROWTH_SLOTS];
	uint32_t last = item->count - 1;
	item->per_minute = TDM_GROWTH_UNKNOWN;
	item->rises = false;
	if (item->count < KNOWN_SLOTS || item->begins[last] <= item->begins[0])
		return;
	double change = (double)item->floors[last] - (double)item->floors[0];
	double minutes = (double)(item->begins[last] - item->begins[0]) / 60e9, per_minute = change / minutes;
	item->per_minute = per_minute > 9e18 ? INT64_MAX : per_minute < -9e18 ? -INT64_MAX : (int64_t)per_minute;
	for (uint32_t i = 0; i < item->count; i++)
		values[i] = (double)item->floors[i];
	item->rises = item->count >= TDM_GROWTH_LEAK_SLOTS && change > 0 &&
		      tdm_trend_z(values, item->count) >= LEAK_DEVIATIONS;
}

/* The slot has ended: its floor is known. */
static void end_slot(struct tdm_growth_item *item, uint64_t begin_ns)
{
	if (item->count == TDM_GROWTH_SLOTS) {
		memmove(item->floors, item->floors + 1, (TDM_GROWTH_SLOTS - 1) * sizeof *item->floors);
		memmove(item->begins, item->begins + 1, (TDM_GROWTH_SLOTS - 1) * sizeof *item->begins);
		item->count--;
	}
	item->floors[item->count] = item->lowest;
	item->begins[item->count++] = begin_ns;
	item->lowest = TDM_BYTES_UNKNOWN;
	judge(item);
}

/* Ends all slots and forgets holdings that were in no picture of this one. */
static void end_slots(struct tdm_growth *growth, uint64_t now_ns)
{
	size_t kept = 0;
	for (size_t i = 0; i < growth->count; i++) {
		struct tdm_growth_item *item = &growth->items[i];
		if (item->lowest == TDM_BYTES_UNKNOWN) {
			tdm_map_take(&growth->by_key, item->key);
			continue;
		}
		end_slot(item, growth->begin_ns);
		if (kept != i) {
			growth->items[kept] = *item;
			tdm_map_put(&growth->by_key, item->key, (uint32_t)kept);
		}
		kept++;
	}
	growth->count = kept;
	growth->begin_ns = now_ns;
}

static struct tdm_growth_item *item_of(struct tdm_growth *growth, uint64_t key)
{
	uint32_t at = tdm_map_find(&growth->by_key, key);
	if (at != TDM_MAP_NONE)
		return &growth->items[at];
	if (tdm_reserve(&growth->items, &growth->cap, growth->count + 1, sizeof *growth->items) != 0 ||
		tdm_map_put(&growth->by_key, key, (uint32_t)growth->count) != 0)
		return NULL;
	struct tdm_growth_item *item = &growth->items[growth->count++];
	*item = (struct tdm_growth_item){ .key = key, .lowest = TDM_BYTES_UNKNOWN, .per_minute = TDM_GROWTH_UNKNOWN };
	return item;
}

void tdm_growth_add(struct tdm_growth *growth, const struct tdm_picture *picture)
{
	if (growth->by_key.keys == NULL && tdm_map_init(&growth->by_key) != 0)
		return;
	if (growth->begin_ns == 0)
		growth->begin_ns = picture->time_ns;
	else if (picture->time_ns - growth->begin_ns >= TDM_GROWTH_SLOT_NS)
		end_slots(growth, picture->time_ns);
	for (size_t h = 0; h < picture->holding_count; h++) {
		const struct tdm_holding *holding = &picture->holdings[h];
		uint64_t bytes = bytes_of(holding);
		struct tdm_growth_item *item =
			bytes != TDM_BYTES_UNKNOWN ? item_of(growth, key_of(picture, holding)) : NULL;
		if (item != NULL)
			item->lowest = tdm_min(item->lowest, bytes);
	}
}

const struct tdm_growth_item *tdm_growth_find(
	const struct tdm_growth *growth, const struct tdm_picture *picture, const struct tdm_holding *holding)
{
	uint32_t at =
		growth->by_key.keys != NULL ? tdm_map_find(&growth->by_key, key_of(picture, holding)) : TDM_MAP_NONE;
	return at != TDM_MAP_NONE ? &growth->items[at] : NULL;
}

void tdm_growth_done(struct tdm_growth *growth)
{
	free(growth->items);
	if (growth->by_key.keys != NULL)
		tdm_map_done(&growth->by_key);
	*growth = (struct tdm_growth){ 0 };
}
