#include "analyze/leaks/growth.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* reached by chance in one series in 700 */
static const double sure_z = 3.0;
enum { KNOWN_SLOTS = 3 };

/* ---- trends ---- */

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return a < b ? -1 : a > b;
}

/* The variance correction for equal values: the sum of t(t-1)(2t+5) over runs of t equal values. */
static double of_ties(const double *values, size_t count)
{
	double sorted[TDM_TREND_MAX], sum = 0;
	for (size_t i = 0; i < count; i++)
		sorted[i] = values[i];
	qsort(sorted, count, sizeof sorted[0], compare);
	for (size_t i = 0, run; i < count; i += run) {
		for (run = 1; i + run < count && compare(&sorted[i], &sorted[i + run]) == 0; run++)
			;
		double t = (double)run;
		sum += t * (t - 1) * (2 * t + 5);
	}
	return sum;
}

double tdm_trend_z(const double *values, size_t count)
{
	if (count < 3)
		return 0;
	double n = (double)count, score = 0;
	for (size_t i = 0; i < count; i++)
		for (size_t j = i + 1; j < count; j++)
			score += compare(&values[j], &values[i]);
	double variance = (n * (n - 1) * (2 * n + 5) - of_ties(values, count)) / 18;
	if (!(variance > 0) || compare(&score, &(double){ 0 }) == 0)
		return 0;
	return (score > 0 ? score - 1 : score + 1) / sqrt(variance);
}

void tdm_rise_add(struct tdm_rise *trend, double at_s, double value)
{
	trend->at_s[trend->count] = at_s;
	trend->value[trend->count++] = value;
}

void tdm_rise_settle(struct tdm_rise *trend)
{
	trend->rises = 0;
	for (size_t i = 1; i < trend->count; i++)
		trend->rises += trend->value[i] > trend->value[i - 1];
	trend->z = tdm_trend_z(trend->value, trend->count);
	trend->grown = trend->count != 0 ? trend->value[trend->count - 1] - trend->value[0] : 0;
}

bool tdm_rise_is_sure(const struct tdm_rise *trend, size_t least)
{
	return trend->count >= least && trend->grown > 0 && trend->z >= sure_z;
}

double tdm_rise_slope(const struct tdm_rise *trend)
{
	double slopes[TDM_TREND_MAX * (TDM_TREND_MAX - 1) / 2];
	size_t used = 0;
	for (size_t i = 0; i < trend->count; i++)
		for (size_t j = i + 1; j < trend->count; j++)
			slopes[used++] = (trend->value[j] - trend->value[i]) / (trend->at_s[j] - trend->at_s[i]);
	if (used == 0)
		return 0;
	qsort(slopes, used, sizeof slopes[0], compare);
	return used % 2 != 0 ? slopes[used / 2] : (slopes[used / 2 - 1] + slopes[used / 2]) / 2;
}

/* ---- the growth of processes ---- */

static uint64_t key_of(const struct tdm_picture *picture, const struct tdm_holding *holding)
{
	uint64_t process = picture->processes[holding->process].handle;
	return tdm_hash_u64(process ^ tdm_hash_u64(picture->devices[holding->device].key));
}

/* Ends the current slot: its floor is now final. */
static void end_slot(struct tdm_growth_item *item, double at_s)
{
	struct tdm_rise *floors = &item->floors;
	if (floors->count == TDM_GROWTH_SLOTS) {
		floors->count--;
		memmove(floors->value, floors->value + 1, floors->count * sizeof *floors->value);
		memmove(floors->at_s, floors->at_s + 1, floors->count * sizeof *floors->at_s);
	}
	tdm_rise_add(floors, at_s, (double)item->lowest);
	tdm_rise_settle(floors);
	item->lowest = TDM_BYTES_UNKNOWN;
	item->per_minute = TDM_GROWTH_UNKNOWN;
	item->rises = false;
	if (floors->count < KNOWN_SLOTS || at_s <= floors->at_s[0]) /* times in a replay may go backwards */
		return;
	double per_minute = floors->grown / ((at_s - floors->at_s[0]) / 60);
	item->per_minute = per_minute > 9e18 ? INT64_MAX : per_minute < -9e18 ? -INT64_MAX : (int64_t)per_minute;
	item->rises = tdm_rise_is_sure(floors, TDM_GROWTH_LEAK_SLOTS);
}

/* Ends the slots of all items, and forgets items that were in no picture during this slot. */
static void end_slots(struct tdm_growth *growth, uint64_t now_ns)
{
	size_t kept = 0;
	for (size_t i = 0; i < growth->count; i++) {
		struct tdm_growth_item *item = &growth->items[i];
		if (item->lowest == TDM_BYTES_UNKNOWN) {
			tdm_map_take(&growth->by_key, item->key);
			continue;
		}
		end_slot(item, (double)(int64_t)(growth->begin_ns - growth->first_ns) / (double)TDM_NS_PER_S);
		if (kept != i) {
			growth->items[kept] = *item;
			tdm_map_set(&growth->by_key, item->key, (uint32_t)kept);
		}
		kept++;
	}
	growth->count = kept;
	growth->begin_ns = now_ns;
}

void tdm_growth_add(struct tdm_growth *growth, const struct tdm_picture *picture)
{
	if (growth->begin_ns == 0)
		growth->begin_ns = growth->first_ns = picture->time_ns;
	else if (picture->time_ns - growth->begin_ns >= TDM_GROWTH_SLOT_NS)
		end_slots(growth, picture->time_ns);
	for (size_t h = 0; h < picture->holding_count; h++) {
		const struct tdm_holding *holding = &picture->holdings[h];
		uint64_t bytes = TDM_BYTES_UNKNOWN; /* sum over all kinds, ignoring unknown ones */
		for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
			uint64_t used = holding->kinds[k].reserved;
			if (used != TDM_BYTES_UNKNOWN)
				bytes = bytes == TDM_BYTES_UNKNOWN ? used : tdm_plus(bytes, used);
		}
		if (bytes == TDM_BYTES_UNKNOWN)
			continue;
		uint64_t key = key_of(picture, holding);
		uint32_t at = tdm_map_find(&growth->by_key, key);
		if (at == TDM_MAP_NONE) {
			tdm_grow(&growth->items, &growth->cap, growth->count + 1, sizeof *growth->items);
			at = (uint32_t)growth->count++;
			tdm_map_set(&growth->by_key, key, at);
			growth->items[at] = (struct tdm_growth_item){
				.key = key, .lowest = TDM_BYTES_UNKNOWN, .per_minute = TDM_GROWTH_UNKNOWN
			};
		}
		growth->items[at].lowest = tdm_min(growth->items[at].lowest, bytes);
	}
}

const struct tdm_growth_item *tdm_growth_find(
	const struct tdm_growth *growth, const struct tdm_picture *picture, const struct tdm_holding *holding)
{
	uint32_t at = tdm_map_find(&growth->by_key, key_of(picture, holding));
	return at != TDM_MAP_NONE ? &growth->items[at] : NULL;
}

void tdm_growth_done(struct tdm_growth *growth)
{
	free(growth->items);
	tdm_map_done(&growth->by_key);
	*growth = (struct tdm_growth){ 0 };
}
