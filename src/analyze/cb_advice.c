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
	SEARCH_STEPS_MAX = 48000000, /* of the simulation, in one run */
	RUNS_MAX = 3000,
	RUNS_MIN = 12, /* of the whole search, however long each is */
	CURVE_STEP = 8,
	TOGETHER_MAX = 8, /* buffers that are looked at one by one */
	DEPTH_MAX = 65535
};

static const double enough = 0.9999; /* of the best throughput, for the end of the curve */
static const double gain_min = 1e-9;

/* Where each part of the search ends: the share of its work that is left. */
static const double left_by_curve = 5.0 / 6, left_by_bounds = 2.0 / 3, left_by_order = 1.0 / 3;

/* Memory of the ordered search. */
static const size_t node_bytes_max = 67108864;

enum { NO_WAIT, SHORT_WAIT, LONG_WAIT };

struct node {
	size_t first; /* of its depths in the list of all */
	uint64_t bytes;
};

struct search {
	struct tdm_cb_pattern pattern; /* perhaps a shorter run of the caller's */
	struct tdm_cb_model model;
	const struct tdm_advice_limits *limits;
	uint32_t *lists; /* the memory of the next ones: a figure for each buffer */
	uint32_t *least, *most, *depths, *start, *now;
	uint8_t *waits; /* how long was waited for each */
	size_t count;
	struct tdm_model_result result; /* of the last run */
	double goal;
	double steps, work, left; /* of the simulation: in one run, in all, and those that are left */
	struct tdm_cb_advice *advice;
	bool failed; /* out of memory */
	/* The nodes of the ordered search: a heap of indices, and which depths were seen. */
	struct node *nodes;
	uint32_t *node_depths;
	size_t *heap;
	size_t node_count, node_cap, depth_count, depth_cap, heap_count, heap_cap;
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
	s->left -= s->steps;
	if (s->limits->progress != NULL)
		tdm_progress_update(
			s->limits->progress, (uint64_t)(fmin(1, 1 - s->left / s->work) * (double)TDM_ADVICE_WORK));
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
	uint64_t now = before + (uint64_t)steps * s->pattern.buffers[i].step;
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

/* Makes `p`, which is a copy of `whole`, as many times shorter, or if that is 0, `tiles` long. */
static bool try_length(struct tdm_cb_pattern *p, const struct tdm_cb_pattern *whole, uint64_t by, uint64_t tiles)
{
	p->tiles = by != 0 ? whole->tiles / by : tiles;
	for (size_t i = 0; i < p->buffer_count; i++)
		p->buffers[i].total = by != 0 ? whole->buffers[i].total / by : tiles;
	return tdm_pattern_settle(p, NULL) == 0;
}

/* A run of this many tiles is periodic for most of its time. */
static uint64_t tiles_enough(const struct tdm_cb_pattern *p)
{
	uint64_t least = 0;
	for (size_t i = 0; i < p->buffer_count; i++)
		least = tdm_max(least, p->buffers[i].least);
	return tdm_max(SEARCH_TILES, SEARCH_ROUNDS * least);
}

/* Makes the run shorter if all totals can be divided alike, or are the same. */
static void shorten(struct tdm_cb_pattern *p, const struct tdm_cb_pattern *whole)
{
	uint64_t most = 0, common = common_divisor(p), aim = tiles_enough(p);
	bool all_equal = true;
	for (size_t i = 0; i < p->buffer_count; i++) {
		most = tdm_max(most, p->buffers[i].total);
		all_equal &= p->buffers[i].total == p->tiles;
	}
	if (most <= aim || (all_equal && try_length(p, whole, 0, aim)))
		return;
	for (uint64_t by = most / aim; by > 1; by--)
		if (common % by == 0 && try_length(p, whole, by, 0))
			return;
	try_length(p, whole, 1, 0);
}

static double steps_of(const struct tdm_cb_model *m)
{
	double steps = 1;
	for (size_t i = 0; i < m->thread_count; i++) {
		const struct tdm_cb_thread *t = &m->threads[i];
		steps += (double)(t->head + t->tail) + (double)t->body * (double)t->repeat;
	}
	return steps;
}

static void set_bounds(struct search *s)
{
	uint32_t limit = s->limits->pages != 0 ? s->limits->pages : DEPTH_MAX;
	for (size_t i = 0; i < s->count; i++) {
		const struct tdm_pattern_buffer *b = &s->pattern.buffers[i];
		s->least[i] = b->is_fixed ? b->pages : b->least;
		uint64_t all = (b->total + b->step - 1) / b->step * b->step;
		all = tdm_min(all, limit - limit % b->step);
		s->most[i] = b->is_fixed ? b->pages : (uint32_t)tdm_max(all, s->least[i]);
	}
}

static bool has_time(const struct search *s, double left)
{
	return !s->failed && s->left > left * s->work;
}

/* The least depth of one buffer with which the goal is reached while the others are as deep as they can be; without
 * time to find it, the least depth. */
static uint32_t lower_bound(struct search *s, size_t i)
{
	uint32_t step = s->pattern.buffers[i].step;
	uint64_t low = 0, steps = (s->most[i] - s->least[i]) / step, high = steps;
	memcpy(s->depths, s->most, s->count * sizeof *s->depths);
	while (low < high && has_time(s, left_by_bounds)) {
		uint64_t middle = low + (high - low) / 2;
		s->depths[i] = s->least[i] + (uint32_t)middle * step;
		if (rate(s, s->depths) >= s->goal)
			high = middle;
		else
			low = middle + 1;
	}
	return low == steps ? s->most[i] : s->least[i] + (uint32_t)low * step;
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
	size_t size = s->count * sizeof *depths;
	uint64_t key = tdm_str_hash((struct tdm_str){ (const char *)depths, size });
	uint32_t known = tdm_map_find(&s->seen, key);
	if (known != TDM_MAP_NONE && memcmp(&s->node_depths[s->nodes[known].first], depths, size) == 0)
		return;
	if (tdm_reserve(&s->nodes, &s->node_cap, s->node_count + 1, sizeof *s->nodes) != 0 ||
		tdm_reserve(&s->heap, &s->heap_cap, s->heap_count + 1, sizeof *s->heap) != 0 ||
		tdm_reserve(&s->node_depths, &s->depth_cap, s->depth_count + s->count, sizeof *depths) != 0 ||
		(known == TDM_MAP_NONE && tdm_map_put(&s->seen, key, (uint32_t)s->node_count) != 0)) {
		s->failed = true;
		return;
	}
	s->nodes[s->node_count] = (struct node){ s->depth_count, bytes_of(s, depths) };
	memcpy(&s->node_depths[s->depth_count], depths, size);
	s->depth_count += s->count;
	s->heap[s->heap_count++] = s->node_count++;
	sift_up(s, s->heap_count - 1);
}

/* Looks at depths in the order of their bytes. Returns whether it found the smallest. */
static bool search_in_order(struct search *s, uint32_t *depths)
{
	size_t size = s->count * sizeof *depths, runs = 0;
	add_node(s, depths);
	while (s->heap_count != 0 && runs++ < RUNS_MAX && has_time(s, left_by_order) &&
		s->depth_count * sizeof *depths < node_bytes_max) {
		memcpy(s->now, &s->node_depths[s->nodes[take_smallest(s)].first], size);
		if (rate(s, s->now) >= s->goal) {
			memcpy(depths, s->now, size);
			return true;
		}
		for (size_t i = 0; i < s->count; i++) {
			uint32_t before = s->now[i];
			if (!is_waited_for(s, i) || !deepen(s, s->now, i, 1))
				continue;
			if (fits(s, s->now))
				add_node(s, s->now);
			s->now[i] = before;
		}
	}
	return false;
}

static uint32_t steps_at_once(const struct search *s, const uint32_t *depths, size_t i)
{
	return 1 + depths[i] / s->pattern.buffers[i].step / CURVE_STEP;
}

/* Deepens the buffer that was waited for longest; of many buffers also those that were waited for half as long. */
static bool deepen_worst(struct search *s, uint32_t *depths)
{
	size_t worst = SIZE_MAX;
	bool moved = false;
	for (size_t i = 0; i < s->count; i++)
		if (depths[i] < s->most[i] && is_waited_for(s, i) &&
			(worst == SIZE_MAX || s->result.room_ns[i] > s->result.room_ns[worst]))
			worst = i;
	for (size_t i = 0; i < s->count && worst != SIZE_MAX; i++)
		if (i == worst || (s->count > TOGETHER_MAX && is_waited_for(s, i) &&
					  s->result.room_ns[i] >= s->result.room_ns[worst] / 2))
			moved |= deepen(s, depths, i, steps_at_once(s, depths, i));
	return moved;
}

/* Makes each buffer as small as the goal allows. */
static void shrink(struct search *s, uint32_t *depths)
{
	for (size_t i = 0; i < s->count; i++)
		while (depths[i] > s->least[i] && has_time(s, 0)) {
			uint32_t before = depths[i], step = s->pattern.buffers[i].step;
			depths[i] = before - s->least[i] > step ? before - step : s->least[i];
			if (rate(s, depths) < s->goal) {
				depths[i] = before;
				break;
			}
		}
}

/* Deepens what is waited for until the goal is reached, then shrinks each buffer as far as it goes. */
static bool search_greedily(struct search *s, uint32_t *depths)
{
	while (rate(s, depths) < s->goal)
		if (!has_time(s, 0) || !deepen_worst(s, depths))
			return false;
	shrink(s, depths);
	return fits(s, depths);
}

static void set_point(struct search *s, size_t place, const uint32_t *depths, double tiles_per_s)
{
	struct tdm_advice_point *point = place < TDM_ADVICE_POINTS_MAX ? &s->advice->curve[place] : &s->advice->advised;
	uint32_t *copy = s->advice->depths + place * s->count;
	memcpy(copy, depths, s->count * sizeof *depths);
	*point = (struct tdm_advice_point){ copy, bytes_of(s, depths), tiles_per_s };
}

static void add_point(struct search *s, const uint32_t *depths, double tiles_per_s)
{
	struct tdm_cb_advice *a = s->advice;
	bool is_better = a->point_count == 0 || tiles_per_s > a->curve[a->point_count - 1].tiles_per_s * (1 + gain_min);
	if (is_better && a->point_count < TDM_ADVICE_POINTS_MAX)
		set_point(s, a->point_count++, depths, tiles_per_s);
}

/* Notes who was waited for in the last run, before the next one: of many buffers, those that were waited for longest
 * are looked at one by one. */
static void note_waits(struct search *s)
{
	for (size_t i = 0; i < s->count; i++)
		s->waits[i] = is_waited_for(s, i) ? SHORT_WAIT : NO_WAIT;
	for (int k = 0; k < TOGETHER_MAX; k++) {
		size_t longest = SIZE_MAX;
		for (size_t i = 0; i < s->count; i++)
			if (s->waits[i] == SHORT_WAIT && s->depths[i] < s->most[i] &&
				(longest == SIZE_MAX || s->result.room_ns[i] > s->result.room_ns[longest]))
				longest = i;
		if (longest == SIZE_MAX)
			return;
		s->waits[longest] = LONG_WAIT;
	}
}

/* Deepens the buffers that were waited for, at least as long as `wait` says. Returns whether there was one. */
static bool deepen_waited(struct search *s, uint32_t *depths, uint8_t wait)
{
	bool moved = false;
	for (size_t i = 0; i < s->count; i++)
		if (s->waits[i] >= wait)
			moved |= deepen(s, depths, i, steps_at_once(s, depths, i));
	return moved;
}

/* One step of the curve: the buffer that gains most for its bytes, or all that are waited for. False: none helps. */
static bool climb(struct search *s, uint32_t *depths, double *now)
{
	double best_gain = 0;
	size_t best = SIZE_MAX;
	note_waits(s);
	for (size_t i = 0; i < s->count; i++) {
		uint32_t before = depths[i];
		if (s->waits[i] != LONG_WAIT || !deepen(s, depths, i, steps_at_once(s, depths, i)))
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
	memcpy(s->now, depths, s->count * sizeof *depths);
	bool moved = best != SIZE_MAX ? deepen(s, depths, best, steps_at_once(s, depths, best))
				      : deepen_waited(s, depths, SHORT_WAIT);
	if (!fits(s, depths)) {
		memcpy(depths, s->now, s->count * sizeof *depths);
		moved = best == SIZE_MAX && deepen_waited(s, depths, LONG_WAIT) && fits(s, depths);
	}
	*now = moved ? rate(s, depths) : *now;
	return moved;
}

static void trace_curve(struct search *s)
{
	uint32_t *depths = s->depths;
	memcpy(depths, s->least, s->count * sizeof *depths);
	double now = rate(s, depths);
	add_point(s, depths, now);
	while (s->advice->point_count < TDM_ADVICE_POINTS_MAX && has_time(s, left_by_curve)) {
		if (now >= enough * s->advice->best_tiles_per_s || !climb(s, depths, &now))
			return;
		add_point(s, depths, now);
	}
}

static void set_deadlock(struct search *s)
{
	s->advice->is_deadlocked = true;
	memcpy(s->advice->deadlock, s->result.deadlock, sizeof s->advice->deadlock);
}

/* L1 is too small for the goal: the smallest point of the curve that is nearly as fast as its last one. */
static void settle_for_less(struct search *s)
{
	struct tdm_cb_advice *a = s->advice;
	const struct tdm_advice_point *last = &a->curve[a->point_count - 1];
	size_t i = 0;
	if (rate(s, last->depths) <= 0) { /* what fits L1 deadlocks */
		set_deadlock(s);
		return;
	}
	while (a->curve[i].tiles_per_s < TDM_ADVICE_GOAL * last->tiles_per_s)
		i++;
	a->advised = a->curve[i];
	a->is_limited = true;
}

/* The search has no time left: the best that it saw. */
static void settle_for_now(struct search *s, const uint32_t *depths)
{
	struct tdm_cb_advice *a = s->advice;
	const struct tdm_advice_point *last = &a->curve[a->point_count - 1];
	double now = fits(s, depths) ? rate(s, depths) : 0;
	if (now > last->tiles_per_s)
		set_point(s, TDM_ADVICE_POINTS_MAX, depths, now);
	else
		a->advised = *last;
	a->is_cut = a->advised.tiles_per_s > 0;
	a->is_too_long = !a->is_cut;
}

static void look_for_goal(struct search *s)
{
	struct tdm_cb_advice *a = s->advice;
	size_t size = s->count * sizeof *s->depths;
	for (size_t i = 0; i < s->count; i++)
		s->start[i] = lower_bound(s, i);
	memcpy(s->depths, s->start, size);
	a->is_smallest = fits(s, s->depths) && search_in_order(s, s->depths);
	if (a->is_smallest || search_greedily(s, s->depths))
		set_point(s, TDM_ADVICE_POINTS_MAX, s->depths, rate(s, s->depths));
	else if (has_time(s, 0))
		settle_for_less(s);
	else
		settle_for_now(s, s->depths);
}

static void advise(struct search *s)
{
	struct tdm_cb_advice *a = s->advice;
	a->tiles = s->pattern.tiles;
	a->best_tiles_per_s = rate(s, s->most);
	s->goal = TDM_ADVICE_GOAL * a->best_tiles_per_s;
	if (s->result.is_deadlocked) {
		set_deadlock(s);
		return;
	}
	trace_curve(s);
	if (fits(s, s->least)) {
		look_for_goal(s);
		return;
	}
	a->is_too_large = true;
}

static bool make_lists(struct search *s)
{
	s->count = s->pattern.buffer_count;
	s->lists = calloc(5 * s->count, sizeof *s->lists);
	s->waits = calloc(s->count, sizeof *s->waits);
	s->advice->depths = calloc((TDM_ADVICE_POINTS_MAX + 1) * s->count, sizeof *s->advice->depths);
	s->least = s->lists;
	s->most = s->lists + s->count;
	s->depths = s->lists + 2 * s->count;
	s->start = s->lists + 3 * s->count;
	s->now = s->lists + 4 * s->count;
	return s->lists != NULL && s->waits != NULL && s->advice->depths != NULL;
}

/* The copy of the pattern is made. */
static int run_search(struct search *s, const struct tdm_cb_pattern *whole, const struct tdm_core_speed *speed)
{
	if (!make_lists(s) || tdm_map_init(&s->seen) != 0)
		return -ENOMEM;
	shorten(&s->pattern, whole);
	set_bounds(s);
	int err = tdm_cb_model_init(&s->model, &s->pattern, speed);
	if (err != 0)
		return err;
	s->steps = steps_of(&s->model);
	s->left = s->work = fmax((double)TDM_ADVICE_WORK, RUNS_MIN * s->steps);
	s->advice->is_too_long = s->steps > SEARCH_STEPS_MAX;
	if (!s->advice->is_too_long)
		advise(s);
	return s->failed ? -ENOMEM : 0;
}

int tdm_cb_advise(const struct tdm_cb_pattern *pattern, const struct tdm_core_speed *speed,
	const struct tdm_advice_limits *limits, struct tdm_cb_advice *advice)
{
	struct search s = { .limits = limits, .advice = advice };
	*advice = (struct tdm_cb_advice){ 0 };
	int err = tdm_pattern_copy(pattern, &s.pattern);
	err = err != 0 ? err : run_search(&s, pattern, speed);
	tdm_cb_model_done(&s.model);
	tdm_model_result_done(&s.result);
	tdm_pattern_done(&s.pattern);
	tdm_map_done(&s.seen);
	free(s.lists);
	free(s.waits);
	free(s.nodes);
	free(s.node_depths);
	free(s.heap);
	return err;
}

void tdm_cb_advice_done(struct tdm_cb_advice *advice)
{
	free(advice->depths);
	*advice = (struct tdm_cb_advice){ 0 };
}
