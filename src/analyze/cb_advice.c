#include "analyze/cb_advice.h"
#include "base/map.h"
#include "base/number.h"
#include "base/reserve.h"
#include "base/str.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum {
	SEARCH_TILES = 512,
	SEARCH_ROUNDS = 16,
	SEARCH_PAGES_MAX = 262144,
	RUNS_MAX = 3000,
	PAGES_MAX = 20000000,
	CURVE_STEP = 8,
	DEPTH_MAX = 65535
};

static const double enough = 0.9999; /* of the best throughput, for the end of the curve */
static const double gain_min = 1e-9;

struct node {
	uint32_t depths[TDM_PATTERN_BUFFERS_MAX];
	uint64_t bytes;
};

struct search {
	struct tdm_cb_pattern pattern; /* perhaps a shorter run of the caller's */
	struct tdm_cb_model model;
	const struct tdm_advice_limits *limits;
	uint32_t step[TDM_PATTERN_BUFFERS_MAX], least[TDM_PATTERN_BUFFERS_MAX], most[TDM_PATTERN_BUFFERS_MAX];
	size_t count;
	struct tdm_model_result result; /* of the last run */
	double goal;
	size_t runs_max; /* of the ordered search */
	struct tdm_cb_advice *advice;
	bool failed; /* out of memory */
	/* The nodes of the ordered search: a heap of indices, and which depths were seen. */
	struct node *nodes;
	size_t *heap;
	size_t node_count, node_cap, heap_count, heap_cap;
	struct tdm_map seen;
};

uint64_t tdm_pattern_bytes(const struct tdm_cb_pattern *p, const uint32_t *depths, uint64_t align)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < p->buffer_count; i++) {
		uint64_t bytes = tdm_times(depths != NULL ? depths[i] : p->buffers[i].pages, p->buffers[i].page_bytes);
		uint64_t rest = align > 1 ? bytes % align : 0;
		sum = tdm_plus(sum, rest != 0 ? tdm_plus(bytes, align - rest) : bytes);
	}
	return sum;
}

static uint64_t bytes_of(const struct search *s, const uint32_t *depths)
{
	return tdm_pattern_bytes(&s->pattern, depths, s->limits->align);
}

static bool fits(const struct search *s, const uint32_t *depths)
{
	return s->limits->l1_bytes == TDM_BYTES_UNKNOWN || bytes_of(s, depths) <= s->limits->l1_bytes;
}

/* The throughput with these depths; 0 if they deadlock. */
static double rate(struct search *s, const uint32_t *depths)
{
	s->advice->runs++;
	if (s->failed || tdm_cb_model_run(&s->model, depths, false, &s->result) != 0) {
		s->failed = true;
		return 0;
	}
	return s->result.tiles_per_s;
}

static bool is_waited_for(const struct search *s, size_t buffer)
{
	return s->result.room_ns[buffer] > 0;
}

static bool deepen(const struct search *s, uint32_t *depths, size_t i, uint32_t steps)
{
	uint32_t before = depths[i];
	uint64_t now = before + (uint64_t)steps * s->step[i];
	depths[i] = now < s->most[i] ? (uint32_t)now : s->most[i];
	return depths[i] != before;
}

static uint64_t common_divisor(const struct tdm_cb_pattern *p)
{
	uint64_t common = p->tiles;
	for (size_t i = 0; i < p->buffer_count; i++)
		for (uint64_t b = p->buffers[i].total; b != 0;) {
			uint64_t rest = common % b;
			common = b;
			b = rest;
		}
	return common;
}

static bool divide(const struct tdm_cb_pattern *p, uint64_t by, struct tdm_cb_pattern *shorter)
{
	*shorter = *p;
	shorter->tiles /= by;
	for (size_t i = 0; i < p->buffer_count; i++)
		shorter->buffers[i].total /= by;
	return tdm_pattern_settle(shorter, NULL) == 0;
}

/* A run of this many tiles is periodic for most of its time. */
static uint64_t tiles_enough(const struct tdm_cb_pattern *p)
{
	uint64_t least = 0;
	for (size_t i = 0; i < p->buffer_count; i++)
		least = tdm_max(least, tdm_pattern_least(p, i));
	return tdm_max(SEARCH_TILES, SEARCH_ROUNDS * least);
}

/* Makes the run shorter if all totals can be divided alike, or are the same. */
static void shorten(struct tdm_cb_pattern *p)
{
	struct tdm_cb_pattern shorter = *p;
	uint64_t most = 0, common = common_divisor(p), aim = tiles_enough(p);
	bool all_equal = true;
	for (size_t i = 0; i < p->buffer_count; i++) {
		most = tdm_max(most, p->buffers[i].total);
		all_equal &= p->buffers[i].total == p->tiles;
		shorter.buffers[i].total = aim;
	}
	if (most <= aim)
		return;
	shorter.tiles = aim;
	if (all_equal && tdm_pattern_settle(&shorter, NULL) == 0) {
		*p = shorter;
		return;
	}
	for (uint64_t by = most / aim; by > 1; by--)
		if (common % by == 0 && divide(p, by, &shorter)) {
			*p = shorter;
			return;
		}
}

static uint64_t pages_of(const struct tdm_cb_pattern *p)
{
	uint64_t pages = 0;
	for (size_t i = 0; i < p->buffer_count; i++)
		pages += p->buffers[i].total;
	return pages;
}

static void set_bounds(struct search *s)
{
	uint32_t limit = s->limits->pages != 0 ? s->limits->pages : DEPTH_MAX;
	s->count = s->pattern.buffer_count;
	for (size_t i = 0; i < s->count; i++) {
		const struct tdm_pattern_buffer *b = &s->pattern.buffers[i];
		s->step[i] = tdm_pattern_step(&s->pattern, i);
		s->least[i] = b->is_fixed ? b->pages : tdm_pattern_least(&s->pattern, i);
		uint64_t all = (b->total + s->step[i] - 1) / s->step[i] * s->step[i];
		all = tdm_min(all, limit - limit % s->step[i]);
		s->most[i] = b->is_fixed ? b->pages : (uint32_t)tdm_max(all, s->least[i]);
	}
}

/* The least depth of one buffer with which the goal is reached while the others are as deep as they can be. */
static uint32_t lower_bound(struct search *s, size_t i)
{
	uint32_t depths[TDM_PATTERN_BUFFERS_MAX];
	uint64_t low = 0, high = (s->most[i] - s->least[i]) / s->step[i];
	memcpy(depths, s->most, sizeof depths);
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		depths[i] = s->least[i] + (uint32_t)middle * s->step[i];
		if (rate(s, depths) >= s->goal)
			high = middle;
		else
			low = middle + 1;
	}
	return low == (s->most[i] - s->least[i]) / s->step[i] ? s->most[i] : s->least[i] + (uint32_t)low * s->step[i];
}

static bool is_before(const struct search *s, size_t a, size_t b)
{
	const struct node *left = &s->nodes[a], *right = &s->nodes[b];
	return left->bytes != right->bytes ? left->bytes < right->bytes : a < b;
}

static void sift_up(struct search *s, size_t at)
{
	for (size_t parent = (at - 1) / 2; at != 0 && is_before(s, s->heap[at], s->heap[parent]);
		at = parent, parent = (at - 1) / 2) {
		size_t index = s->heap[at];
		s->heap[at] = s->heap[parent];
		s->heap[parent] = index;
	}
}

static size_t take_smallest(struct search *s)
{
	size_t smallest = s->heap[0], last = s->heap[--s->heap_count];
	size_t at = 0;
	for (size_t child; (child = 2 * at + 1) < s->heap_count; at = child) {
		child += child + 1 < s->heap_count && is_before(s, s->heap[child + 1], s->heap[child]);
		if (!is_before(s, s->heap[child], last))
			break;
		s->heap[at] = s->heap[child];
	}
	s->heap[at] = last;
	return smallest;
}

/* Adds depths that were not seen yet. */
static void add_node(struct search *s, const uint32_t *depths)
{
	struct node node = { .bytes = bytes_of(s, depths) };
	memcpy(node.depths, depths, s->count * sizeof *depths);
	uint64_t key = tdm_str_hash((struct tdm_str){ (const char *)node.depths, sizeof node.depths });
	uint32_t known = tdm_map_find(&s->seen, key);
	if (known != TDM_MAP_NONE && memcmp(s->nodes[known].depths, node.depths, sizeof node.depths) == 0)
		return;
	if (tdm_reserve(&s->nodes, &s->node_cap, s->node_count + 1, sizeof *s->nodes) != 0 ||
		tdm_reserve(&s->heap, &s->heap_cap, s->heap_count + 1, sizeof *s->heap) != 0 ||
		(known == TDM_MAP_NONE && tdm_map_put(&s->seen, key, (uint32_t)s->node_count) != 0)) {
		s->failed = true;
		return;
	}
	s->nodes[s->node_count] = node;
	s->heap[s->heap_count++] = s->node_count++;
	sift_up(s, s->heap_count - 1);
}

/* Looks at depths in the order of their bytes. Returns whether it found the smallest. */
static bool search_in_order(struct search *s, uint32_t *depths)
{
	size_t before = s->advice->runs;
	add_node(s, depths);
	while (s->heap_count != 0 && s->advice->runs - before < s->runs_max && !s->failed) {
		uint32_t now[TDM_PATTERN_BUFFERS_MAX];
		memcpy(now, s->nodes[take_smallest(s)].depths, sizeof now);
		if (rate(s, now) >= s->goal) {
			memcpy(depths, now, s->count * sizeof *depths);
			return true;
		}
		for (size_t i = 0; i < s->count; i++) {
			uint32_t deeper = now[i];
			if (!is_waited_for(s, i) || !deepen(s, now, i, 1))
				continue;
			if (fits(s, now))
				add_node(s, now);
			now[i] = deeper;
		}
	}
	return false;
}

/* Deepens the buffer that was waited for longest until the goal is reached, then shrinks each as far as it goes. */
static bool search_greedily(struct search *s, uint32_t *depths)
{
	while (rate(s, depths) < s->goal && !s->failed) {
		size_t worst = SIZE_MAX;
		for (size_t i = 0; i < s->count; i++)
			if (depths[i] < s->most[i] && is_waited_for(s, i) &&
				(worst == SIZE_MAX || s->result.room_ns[i] > s->result.room_ns[worst]))
				worst = i;
		if (worst == SIZE_MAX)
			return false;
		deepen(s, depths, worst, 1 + depths[worst] / s->step[worst] / CURVE_STEP);
	}
	for (size_t i = 0; i < s->count; i++)
		while (depths[i] > s->least[i]) {
			uint32_t before = depths[i];
			depths[i] = depths[i] - s->least[i] > s->step[i] ? depths[i] - s->step[i] : s->least[i];
			if (rate(s, depths) < s->goal) {
				depths[i] = before;
				break;
			}
		}
	return fits(s, depths);
}

static void add_point(struct search *s, const uint32_t *depths, double tiles_per_s)
{
	struct tdm_cb_advice *a = s->advice;
	bool is_better = a->point_count == 0 || tiles_per_s > a->curve[a->point_count - 1].tiles_per_s * (1 + gain_min);
	if (!is_better || a->point_count == TDM_ADVICE_POINTS_MAX)
		return;
	struct tdm_advice_point *point = &a->curve[a->point_count++];
	*point = (struct tdm_advice_point){ .bytes = bytes_of(s, depths), .tiles_per_s = tiles_per_s };
	memcpy(point->depths, depths, s->count * sizeof *depths);
}

/* One step of the curve: the buffer that gains most for its bytes, or all that are waited for. False: none helps. */
static bool climb(struct search *s, uint32_t *depths, double *now)
{
	bool waited[TDM_PATTERN_BUFFERS_MAX];
	double best_gain = 0;
	size_t best = SIZE_MAX;
	for (size_t i = 0; i < s->count; i++)
		waited[i] = is_waited_for(s, i);
	for (size_t i = 0; i < s->count; i++) {
		uint32_t before = depths[i];
		if (!waited[i] || !deepen(s, depths, i, 1 + before / s->step[i] / CURVE_STEP))
			continue;
		double next = fits(s, depths) ? rate(s, depths) : 0;
		double gain =
			(next - *now) / (double)((uint64_t)(depths[i] - before) * s->pattern.buffers[i].page_bytes);
		if (next > *now * (1 + gain_min) && gain > best_gain) {
			best = i;
			best_gain = gain;
		}
		depths[i] = before;
	}
	bool moved = false;
	for (size_t i = 0; i < s->count; i++)
		if (i == best || (best == SIZE_MAX && waited[i]))
			moved |= deepen(s, depths, i, 1 + depths[i] / s->step[i] / CURVE_STEP);
	if (!moved || !fits(s, depths))
		return false;
	*now = rate(s, depths);
	return true;
}

static void trace_curve(struct search *s)
{
	uint32_t depths[TDM_PATTERN_BUFFERS_MAX];
	memcpy(depths, s->least, sizeof depths);
	double now = rate(s, depths);
	add_point(s, depths, now);
	for (size_t i = 0; i < s->runs_max && s->advice->point_count < TDM_ADVICE_POINTS_MAX && !s->failed; i++) {
		if (now >= enough * s->advice->best_tiles_per_s || !climb(s, depths, &now))
			return;
		add_point(s, depths, now);
	}
}

/* L1 is too small for the goal: the smallest point of the curve that is nearly as fast as its last one. */
static void settle_for_less(struct search *s)
{
	struct tdm_cb_advice *a = s->advice;
	const struct tdm_advice_point *last = &a->curve[a->point_count - 1];
	size_t i = 0;
	if (rate(s, last->depths) <= 0) { /* what fits L1 deadlocks */
		a->is_deadlocked = true;
		memcpy(a->deadlock, s->result.deadlock, sizeof a->deadlock);
		return;
	}
	while (a->curve[i].tiles_per_s < TDM_ADVICE_GOAL * last->tiles_per_s)
		i++;
	a->advised = a->curve[i];
	a->is_limited = true;
}

static void look_for_goal(struct search *s)
{
	struct tdm_cb_advice *a = s->advice;
	uint32_t depths[TDM_PATTERN_BUFFERS_MAX], start[TDM_PATTERN_BUFFERS_MAX];
	for (size_t i = 0; i < s->count; i++)
		depths[i] = start[i] = lower_bound(s, i);
	a->is_smallest = fits(s, depths) && search_in_order(s, depths);
	if (!a->is_smallest)
		memcpy(depths, start, s->count * sizeof *depths);
	if (a->is_smallest || (search_greedily(s, depths) && fits(s, depths))) {
		memcpy(a->advised.depths, depths, s->count * sizeof *depths);
		a->advised.bytes = bytes_of(s, depths);
		a->advised.tiles_per_s = rate(s, depths);
	} else {
		settle_for_less(s);
	}
}

static void advise(struct search *s)
{
	struct tdm_cb_advice *a = s->advice;
	a->tiles = s->pattern.tiles;
	a->best_tiles_per_s = rate(s, s->most);
	s->goal = TDM_ADVICE_GOAL * a->best_tiles_per_s;
	if (s->result.is_deadlocked) {
		a->is_deadlocked = true;
		memcpy(a->deadlock, s->result.deadlock, sizeof a->deadlock);
		return;
	}
	trace_curve(s);
	if (fits(s, s->least)) {
		look_for_goal(s);
		return;
	}
	a->is_too_large = true;
}

int tdm_cb_advise(const struct tdm_cb_pattern *pattern, const struct tdm_core_speed *speed,
	const struct tdm_advice_limits *limits, struct tdm_cb_advice *advice)
{
	struct search *s = calloc(1, sizeof *s);
	*advice = (struct tdm_cb_advice){ 0 };
	if (s == NULL)
		return -ENOMEM;
	s->pattern = *pattern;
	s->limits = limits;
	s->advice = advice;
	shorten(&s->pattern);
	set_bounds(s);
	uint64_t pages = pages_of(&s->pattern);
	advice->is_too_long = pages > SEARCH_PAGES_MAX;
	s->runs_max = (size_t)tdm_min(RUNS_MAX, 1 + PAGES_MAX / pages);
	int err = tdm_map_init(&s->seen);
	if (err == 0)
		err = tdm_cb_model_init(&s->model, &s->pattern, speed);
	if (err == 0 && !advice->is_too_long) {
		advise(s);
		err = s->failed ? -ENOMEM : 0;
	}
	tdm_cb_model_done(&s->model);
	tdm_map_done(&s->seen);
	free(s->nodes);
	free(s->heap);
	free(s);
	return err;
}
