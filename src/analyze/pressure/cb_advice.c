#include "analyze/pressure/cb_advice.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/str.h"

#include <math.h>
#include <stdlib.h>

enum {
	SEARCH_TILES = 512,
	SEARCH_ROUNDS = 16,
	SEARCH_STEPS_MAX = 48000000, /* maximum simulation steps in one run */
	RUNS_MAX = 3000,
	RUNS_MIN = 12, /* number of runs that the whole search may always make, however long they are */
	CURVE_STEP = 8,
	TOGETHER_MAX = 8, /* maximum number of buffers examined one by one */
	DEPTH_MAX = 65535
};

static const double enough = 0.9999; /* share of the best throughput at which the curve ends */
static const double gain_min = 1e-9;

/* When each part of the search ends, this share of the search's work must still be left. */
static const double left_by_curve = 5.0 / 6, left_by_bounds = 2.0 / 3, left_by_order = 1.0 / 3;

/* Memory limit of the ordered search, in bytes. */
static const size_t node_bytes_max = 67108864;

enum { NO_WAIT, SHORT_WAIT, LONG_WAIT };

struct search {
	struct tdm_cb_pattern pattern; /* the caller's pattern, possibly shortened */
	struct tdm_cb_model model;
	uint32_t *least, *most, *depths, *start, *now; /* one entry per buffer; all five arrays share one allocation */
	uint8_t *waits;                                /* how long each buffer's producer waited */
	size_t count;
	struct tdm_model_result result; /* result of the last run */
	double goal;
	double steps, work, left; /* simulation steps: in one run, in the whole search, and remaining */
	struct tdm_cb_advice *advice;
	/*
	 * Nodes of the ordered search: bytes and depths of each node, a heap of indices, and the set of depths already
	 * seen.
	 */
	uint64_t *node_bytes;
	uint32_t *node_depths;
	size_t *heap;
	size_t node_count, node_cap, depth_cap, heap_count, heap_cap;
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
	return tdm_pattern_bytes(&s->pattern, depths, s->advice->align);
}

static bool fits(const struct search *s, const uint32_t *depths)
{
	return s->advice->l1_bytes == TDM_BYTES_UNKNOWN || bytes_of(s, depths) <= s->advice->l1_bytes;
}

/* The throughput with these depths; 0 if they deadlock. */
static double rate(struct search *s, const uint32_t *depths)
{
	s->advice->runs++;
	s->left -= s->steps;
	if (s->advice->progress != NULL)
		tdm_progress_update(
			s->advice->progress, (uint64_t)(fmin(1, 1 - s->left / s->work) * (double)TDM_ADVICE_WORK));
	tdm_cb_model_run(&s->model, depths, false, &s->result);
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

/* Shortens `p`, a copy of `whole`, by the factor `by` or, if that is 0, to `tiles` tiles. */
static bool try_length(struct tdm_cb_pattern *p, const struct tdm_cb_pattern *whole, uint64_t by, uint64_t tiles)
{
	p->tiles = by != 0 ? whole->tiles / by : tiles;
	for (size_t i = 0; i < p->buffer_count; i++)
		p->buffers[i].total = by != 0 ? whole->buffers[i].total / by : tiles;
	return tdm_pattern_settle(p, NULL) == 0;
}

/* Shortens the run if all totals can be divided alike, or are equal. Even the shortened run is periodic for most of its
 * time. */
static void shorten(struct tdm_cb_pattern *p, const struct tdm_cb_pattern *whole)
{
	uint64_t most = 0, least = 0, common = p->tiles;
	bool all_equal = true;
	for (size_t i = 0; i < p->buffer_count; i++) {
		most = tdm_max(most, p->buffers[i].total);
		least = tdm_max(least, p->buffers[i].least);
		all_equal &= p->buffers[i].total == p->tiles;
		common = tdm_common_divisor(common, p->buffers[i].total);
	}
	uint64_t aim = tdm_max(SEARCH_TILES, SEARCH_ROUNDS * least);
	if (most <= aim || (all_equal && try_length(p, whole, 0, aim)))
		return;
	for (uint64_t by = most / aim; by > 1; by--)
		if (common % by == 0 && try_length(p, whole, by, 0))
			return;
	try_length(p, whole, 1, 0);
}

static bool has_time(const struct search *s, double left)
{
	return s->left > left * s->work;
}

/* The smallest depth of one buffer that reaches the goal if all others are as deep as possible. If there is no time to
 * find it, the smallest possible depth. */
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
	return s->node_bytes[a] != s->node_bytes[b] ? s->node_bytes[a] < s->node_bytes[b] : a < b;
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

/* Adds a node unless its depths were already seen. */
static void add_node(struct search *s, const uint32_t *depths)
{
	size_t size = s->count * sizeof *depths;
	uint64_t key = tdm_str_hash((struct tdm_str){ (const char *)depths, size });
	uint32_t known = tdm_map_find(&s->seen, key);
	if (known != TDM_MAP_NONE && memcmp(&s->node_depths[known * s->count], depths, size) == 0)
		return;
	tdm_grow(&s->node_bytes, &s->node_cap, s->node_count + 1, sizeof *s->node_bytes);
	tdm_grow(&s->heap, &s->heap_cap, s->heap_count + 1, sizeof *s->heap);
	tdm_grow(&s->node_depths, &s->depth_cap, (s->node_count + 1) * s->count, sizeof *depths);
	if (known == TDM_MAP_NONE)
		tdm_map_set(&s->seen, key, (uint32_t)s->node_count);
	s->node_bytes[s->node_count] = bytes_of(s, depths);
	memcpy(&s->node_depths[s->node_count * s->count], depths, size);
	size_t at = s->heap_count++, parent;
	s->heap[at] = s->node_count++;
	for (; at != 0 && is_before(s, s->heap[at], s->heap[parent = (at - 1) / 2]); at = parent) {
		size_t index = s->heap[at];
		s->heap[at] = s->heap[parent];
		s->heap[parent] = index;
	}
}

/* Examines depths in order of total bytes. Returns whether the smallest depths that reach the goal were found. */
static bool search_in_order(struct search *s, uint32_t *depths)
{
	size_t size = s->count * sizeof *depths, runs = 0;
	add_node(s, depths);
	while (s->heap_count != 0 && runs++ < RUNS_MAX && has_time(s, left_by_order) &&
		s->node_count * size < node_bytes_max) {
		memcpy(s->now, &s->node_depths[take_smallest(s) * s->count], size);
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

/* Deepens the buffer with the longest wait. If there are many buffers, also deepens those with at least half that wait.
 * */
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

/* Deepens buffers with waits until the goal is reached, then shrinks each buffer as far as possible. */
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

/* Records the waits of the last run before the next run overwrites them. If there are many buffers, those with the
 * longest waits are marked for examination one by one. */
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

/* Deepens the buffers whose wait is at least `wait`. Returns whether there were any. */
static bool deepen_waited(struct search *s, uint32_t *depths, uint8_t wait)
{
	bool moved = false;
	for (size_t i = 0; i < s->count; i++)
		if (s->waits[i] >= wait)
			moved |= deepen(s, depths, i, steps_at_once(s, depths, i));
	return moved;
}

/* Makes one step of the curve: deepens the buffer that gains most per added byte, or all buffers with waits. False if
 * nothing helps. */
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

/* If L1 is too small for the goal: chooses the smallest point of the curve that is nearly as fast as the last point. */
static void settle_for_less(struct search *s)
{
	struct tdm_cb_advice *a = s->advice;
	const struct tdm_advice_point *last = &a->curve[a->point_count - 1];
	size_t i = 0;
	if (rate(s, last->depths) <= 0) { /* all depths that fit into L1 deadlock */
		set_deadlock(s);
		return;
	}
	while (a->curve[i].tiles_per_s < TDM_ADVICE_GOAL * last->tiles_per_s)
		i++;
	a->advised = a->curve[i];
	a->is_limited = true;
}

/* If the search has no time left: chooses the best depths seen. */
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

void tdm_cb_advise(
	const struct tdm_cb_pattern *pattern, const struct tdm_core_speed *speed, struct tdm_cb_advice *advice)
{
	struct search s = { .advice = advice, .count = pattern->buffer_count, .steps = 1 };
	*advice = (struct tdm_cb_advice){ .l1_bytes = advice->l1_bytes,
		.align = advice->align,
		.pages = advice->pages,
		.progress = advice->progress };
	tdm_pattern_copy(pattern, &s.pattern);
	s.waits = tdm_zalloc(s.count, sizeof *s.waits);
	advice->depths = tdm_zalloc((TDM_ADVICE_POINTS_MAX + 1) * s.count, sizeof *advice->depths);
	s.least = tdm_zalloc(5 * s.count, sizeof *s.least);
	s.most = s.least + s.count;
	s.depths = s.most + s.count;
	s.start = s.depths + s.count;
	s.now = s.start + s.count;
	shorten(&s.pattern, pattern);
	uint32_t limit = advice->pages != 0 ? advice->pages : DEPTH_MAX;
	for (size_t i = 0; i < s.count; i++) {
		const struct tdm_pattern_buffer *b = &s.pattern.buffers[i];
		uint64_t all = tdm_min((b->total + b->step - 1) / b->step * b->step, limit - limit % b->step);
		s.least[i] = b->is_fixed ? b->pages : b->least;
		s.most[i] = b->is_fixed ? b->pages : (uint32_t)tdm_max(all, s.least[i]);
	}
	tdm_cb_model_init(&s.model, &s.pattern, speed);
	for (size_t i = 0; i < s.model.thread_count; i++) {
		const struct tdm_cb_thread *t = &s.model.threads[i];
		s.steps += (double)(t->head + t->tail) + (double)t->body * (double)t->repeat;
	}
	s.left = s.work = fmax((double)TDM_ADVICE_WORK, RUNS_MIN * s.steps);
	advice->is_too_long = s.steps > SEARCH_STEPS_MAX;
	if (!advice->is_too_long) {
		advice->tiles = s.pattern.tiles;
		advice->best_tiles_per_s = rate(&s, s.most);
		s.goal = TDM_ADVICE_GOAL * advice->best_tiles_per_s;
		if (s.result.is_deadlocked) {
			set_deadlock(&s);
		} else {
			trace_curve(&s);
			advice->is_too_large = !fits(&s, s.least);
			if (!advice->is_too_large)
				look_for_goal(&s);
		}
	}
	tdm_cb_model_done(&s.model);
	tdm_model_result_done(&s.result);
	tdm_pattern_done(&s.pattern);
	tdm_map_done(&s.seen);
	free(s.least);
	free(s.waits);
	free(s.node_bytes);
	free(s.node_depths);
	free(s.heap);
}

void tdm_cb_advice_done(struct tdm_cb_advice *advice)
{
	free(advice->depths);
	*advice = (struct tdm_cb_advice){ 0 };
}
