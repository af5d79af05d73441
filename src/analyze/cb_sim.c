#include "analyze/cb_sim.h"
#include "analyze/cb_fill.h"
#include "base/number.h"
#include "base/str.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* How many pages had been pushed, or popped, at a time. */
struct event {
	double time;
	uint64_t total;
};

/* Events in order, in a ring that grows. `seen`: the next one that the other thread has not passed; `settled`: the next
 * one that the statistics have not. */
struct events {
	struct event *ring;
	uint64_t mask; /* size - 1 */
	uint64_t end, seen, settled;
	uint64_t total;
};

struct queue {
	struct events push, pop;
	struct tdm_cb_fill fill;
};

struct thread {
	double now;
	double link_free; /* when the link to the network can take the next transfer */
	double arrived;   /* when the last transfer arrives */
	double *groups;   /* when those of each ISSUE arrive, as a ring; NULL: it never waits for one alone */
	size_t group_cap;
	uint64_t group_begin, group_end;
	uint64_t rounds; /* of the body that are done */
	size_t at;       /* the next step */
	bool is_done;
	bool is_ready; /* it is in the queue of threads */
};

struct sim {
	struct tdm_cb_run *run;
	struct thread *threads;
	struct queue *queues;
	/* Threads that may be able to go on, as a ring; each is in it at most once. */
	uint16_t *ready;
	size_t ready_first, ready_count;
	uint64_t random;
	bool no_memory;
	bool is_over; /* no more events follow, not even if a thread is stuck */
};

static bool grow(struct events *e)
{
	uint64_t size = e->ring != NULL ? 2 * (e->mask + 1) : 16;
	struct event *ring = malloc(size * sizeof *ring);
	if (ring == NULL)
		return false;
	for (uint64_t i = tdm_min(e->seen, e->settled); i < e->end; i++)
		ring[i & (size - 1)] = e->ring[i & e->mask];
	free(e->ring);
	e->ring = ring;
	e->mask = size - 1;
	return true;
}

static bool add_event(struct events *e, double time, uint32_t pages)
{
	if ((e->ring == NULL || e->end - tdm_min(e->seen, e->settled) > e->mask) && !grow(e))
		return false;
	e->total += pages;
	e->ring[e->end++ & e->mask] = (struct event){ time, e->total };
	return true;
}

/* The time when the total reached `total`. False: nobody knows yet. */
static bool time_of(struct events *e, uint64_t total, double *time)
{
	if (e->total < total)
		return false;
	while (e->ring[e->seen & e->mask].total < total)
		e->seen++;
	*time = e->ring[e->seen & e->mask].time;
	return true;
}

/* Passes events to the statistics in the order of time, as far as no earlier one can follow. */
static void settle(const struct sim *s, size_t i)
{
	struct queue *q = &s->queues[i];
	const struct tdm_cb_buffer *buffer = &s->run->buffers[i];
	struct events *push = &q->push, *pop = &q->pop;
	if (!s->run->statistics || buffer->is_hidden) {
		push->settled = push->end;
		pop->settled = pop->end;
		return;
	}
	for (;;) {
		const struct event *in = push->settled < push->end ? &push->ring[push->settled & push->mask] : NULL;
		const struct event *out = pop->settled < pop->end ? &pop->ring[pop->settled & pop->mask] : NULL;
		bool may_push = !s->is_over && !s->threads[buffer->producer].is_done;
		bool may_pop = !s->is_over && !s->threads[buffer->consumer].is_done;
		if ((in == NULL && (may_push || out == NULL)) || (out == NULL && may_pop))
			return;
		bool is_push = out == NULL || (in != NULL && in->time < out->time);
		tdm_cb_fill_until(&q->fill, is_push ? in->time : out->time);
		if (is_push)
			q->fill.pushed = in->total;
		else
			q->fill.popped = out->total;
		tdm_cb_fill_changed(&q->fill);
		*(is_push ? &push->settled : &pop->settled) += 1;
	}
}

static double random_time(struct sim *s, double mean)
{
	s->random = tdm_hash_u64(s->random + UINT64_C(0x9e3779b97f4a7c15));
	return -mean * log1p(-(double)(s->random >> 11) * 0x1p-53);
}

static void issue(struct thread *t, const struct tdm_cb_step *step)
{
	double gap = fmax(step->cycles, step->link);
	t->now = fmax(t->now + step->cycles, t->link_free) + (double)(step->pages - 1) * gap;
	t->link_free = t->now + step->link;
	t->arrived = t->link_free + step->arrival;
	if (t->groups != NULL)
		t->groups[t->group_end++ % t->group_cap] = t->arrived;
}

static void wait_for(struct thread *t, double until, double *waited)
{
	if (until > t->now) {
		*waited += until - t->now;
		t->now = until;
	}
}

/* Nobody pushes pages that are not free, or pops pages that are not filled. */
static bool is_allowed(const struct queue *q, const struct tdm_cb_step *step, uint64_t depth)
{
	return step->op == TDM_CB_PUSH ? q->push.total + step->pages - q->pop.total <= depth
				       : q->pop.total + step->pages <= q->push.total;
}

static void wake(struct sim *s, uint16_t thread)
{
	if (s->threads[thread].is_ready)
		return;
	s->threads[thread].is_ready = true;
	size_t at = s->ready_first + s->ready_count++;
	s->ready[at < s->run->thread_count ? at : at - s->run->thread_count] = thread;
}

static size_t take_ready(struct sim *s)
{
	uint16_t thread = s->ready[s->ready_first];
	s->ready_first = s->ready_first + 1 < s->run->thread_count ? s->ready_first + 1 : 0;
	s->ready_count--;
	s->threads[thread].is_ready = false;
	return thread;
}

/* Does one step of a thread. False: it depends on an event that is not known yet. */
static bool advance(struct sim *s, size_t thread, const struct tdm_cb_step *step)
{
	struct thread *t = &s->threads[thread];
	struct tdm_cb_thread_result *result = &s->run->thread_results[thread];
	struct queue *q = &s->queues[step->buffer];
	uint64_t depth = step->op <= TDM_CB_POP ? s->run->buffers[step->buffer].pages : 0;
	bool is_inner = step->op <= TDM_CB_POP && s->run->buffers[step->buffer].is_inner;
	double when, unused = 0;
	switch ((enum tdm_cb_op)step->op) {
	case TDM_CB_RESERVE:
		if (q->push.total + step->pages > depth) {
			if (!time_of(&q->pop, q->push.total + step->pages - depth, &when))
				return false;
			double before = t->now;
			wait_for(t, when + s->run->buffers[step->buffer].sync, is_inner ? &unused : &result->room);
			s->run->room[step->buffer] += t->now - before;
		}
		t->now += step->cycles;
		return true;
	case TDM_CB_WAIT:
		if (!time_of(&q->push, q->pop.total + step->pages, &when))
			return false;
		wait_for(t, when + s->run->buffers[step->buffer].sync, is_inner ? &unused : &result->pages);
		t->now += step->cycles;
		return true;
	case TDM_CB_PUSH:
	case TDM_CB_POP:
		if (!is_allowed(q, step, depth))
			return false;
		t->now += step->cycles;
		s->no_memory |= !add_event(step->op == TDM_CB_PUSH ? &q->push : &q->pop, t->now, step->pages);
		settle(s, step->buffer);
		wake(s, step->op == TDM_CB_PUSH ? s->run->buffers[step->buffer].consumer
						: s->run->buffers[step->buffer].producer);
		return true;
	case TDM_CB_WORK:
		t->now += step->cycles;
		return true;
	case TDM_CB_RANDOM:
		t->now += random_time(s, step->cycles);
		return true;
	case TDM_CB_ISSUE:
		issue(t, step);
		return true;
	case TDM_CB_BARRIER:
		wait_for(t, t->arrived, &result->transfers);
		t->group_begin = t->group_end;
		t->now += step->cycles;
		return true;
	case TDM_CB_RETIRE:
		if (t->group_begin < t->group_end)
			wait_for(t, t->groups[t->group_begin++ % t->group_cap], &result->transfers);
		t->now += step->cycles;
		return true;
	case TDM_CB_FLUSH:
		wait_for(t, t->link_free, &result->transfers);
		t->now += step->cycles;
		return true;
	}
	return true;
}

/* Runs a thread until it must wait for another one. */
static void run_thread(struct sim *s, size_t thread)
{
	const struct tdm_cb_thread *plan = &s->run->threads[thread];
	struct thread *t = &s->threads[thread];
	while (!t->is_done && !s->no_memory) {
		if (t->at == plan->head && t->rounds == plan->repeat)
			t->at += plan->body; /* no rounds are left */
		if (t->at == plan->head + plan->body + plan->tail) {
			t->is_done = true;
			return;
		}
		if (!advance(s, thread, &plan->steps[t->at]))
			return;
		t->at++;
		if (t->at == plan->head + plan->body && t->rounds < plan->repeat) {
			t->rounds++;
			if (t->rounds < plan->repeat)
				t->at = plan->head;
		}
	}
}

/* Makes room for the transfers of threads that wait for some of them alone. */
static bool make_groups(struct sim *s)
{
	for (size_t i = 0; i < s->run->thread_count; i++) {
		const struct tdm_cb_thread *plan = &s->run->threads[i];
		size_t issues = 0, retires = 0;
		for (size_t k = 0; k < plan->head + plan->body + plan->tail; k++) {
			issues += plan->steps[k].op == TDM_CB_ISSUE;
			retires += plan->steps[k].op == TDM_CB_RETIRE;
		}
		if (retires == 0)
			continue;
		s->threads[i].group_cap = tdm_max(issues, TDM_CB_IN_FLIGHT_MAX);
		s->threads[i].groups = malloc(s->threads[i].group_cap * sizeof *s->threads[i].groups);
		if (s->threads[i].groups == NULL)
			return false;
	}
	return true;
}

static bool step_is_valid(const struct tdm_cb_run *run, size_t thread, const struct tdm_cb_step *step)
{
	bool is_call = step->op <= TDM_CB_POP;
	if (step->op > TDM_CB_FLUSH || (is_call && step->buffer >= run->buffer_count))
		return false;
	if ((is_call || step->op == TDM_CB_ISSUE) && step->pages == 0)
		return false;
	if (!(step->cycles >= 0 && step->link >= 0 && step->arrival >= 0))
		return false;
	const struct tdm_cb_buffer *buffer = is_call ? &run->buffers[step->buffer] : NULL;
	bool is_producer = step->op == TDM_CB_RESERVE || step->op == TDM_CB_PUSH;
	return buffer == NULL || (is_producer ? buffer->producer : buffer->consumer) == thread;
}

static bool run_is_valid(const struct tdm_cb_run *run)
{
	if (run->thread_count > TDM_CB_THREADS_MAX || run->buffer_count > TDM_CB_BUFFERS_MAX)
		return false;
	for (size_t i = 0; i < run->buffer_count; i++)
		if (run->buffers[i].producer >= run->thread_count || run->buffers[i].consumer >= run->thread_count)
			return false;
	for (size_t i = 0; i < run->thread_count; i++) {
		const struct tdm_cb_thread *t = &run->threads[i];
		if (t->body == 0 && t->repeat != 0)
			return false;
		for (size_t k = 0; k < t->head + t->body + t->tail; k++)
			if (!step_is_valid(run, i, &t->steps[k]))
				return false;
	}
	return true;
}

static void give_threads(struct sim *s)
{
	struct tdm_cb_run *run = s->run;
	run->cycles = 0;
	run->is_deadlocked = false;
	for (size_t i = 0; i < run->thread_count; i++) {
		const struct thread *t = &s->threads[i];
		run->thread_results[i].end = t->now;
		run->thread_results[i].is_stuck = !t->is_done;
		run->thread_results[i].stuck_at = t->at;
		run->is_deadlocked |= !t->is_done;
		run->cycles = fmax(run->cycles, t->now);
	}
}

/* All slots get the same length. */
static void give_buffers(struct sim *s)
{
	struct tdm_cb_run *run = s->run;
	run->slot_cycles = 0;
	s->is_over = true;
	for (size_t i = 0; i < run->buffer_count; i++) {
		settle(s, i);
		tdm_cb_fill_until(&s->queues[i].fill, run->cycles);
		run->slot_cycles = fmax(run->slot_cycles, s->queues[i].fill.slot_cycles);
	}
	double slots = run->slot_cycles > 0 ? ceil(run->cycles / run->slot_cycles) : 0;
	run->slot_count = slots < TDM_CB_SLOTS ? (size_t)slots : TDM_CB_SLOTS;
	for (size_t i = 0; i < run->buffer_count; i++) {
		struct tdm_cb_fill *fill = &s->queues[i].fill;
		struct tdm_cb_buffer_result *result = &run->buffer_results[i];
		tdm_cb_fill_widen(fill, run->slot_cycles);
		*result = (struct tdm_cb_buffer_result){ .pushed = s->queues[i].push.total, .peak = fill->peak };
		result->mean = run->cycles > 0 ? fill->area / run->cycles : 0;
		result->full = run->cycles > 0 ? fill->full / run->cycles : 0;
		for (size_t k = 0; k < run->slot_count; k++)
			result->slot[k] =
				fill->slots[k] / fmin(run->slot_cycles, run->cycles - (double)k * run->slot_cycles);
	}
}

static void simulate(struct sim *s)
{
	for (size_t i = 0; i < s->run->buffer_count; i++)
		tdm_cb_fill_init(&s->queues[i].fill, s->run->buffers[i].pages);
	for (size_t i = 0; i < s->run->thread_count; i++)
		wake(s, (uint16_t)i);
	while (s->ready_count != 0 && !s->no_memory)
		run_thread(s, take_ready(s));
	give_threads(s);
	if (s->run->statistics)
		give_buffers(s);
}

int tdm_cb_simulate(struct tdm_cb_run *run)
{
	if (!run_is_valid(run))
		return -EINVAL;
	struct sim s = { .run = run, .random = run->seed };
	s.threads = calloc(run->thread_count + 1, sizeof *s.threads);
	s.queues = calloc(run->buffer_count + 1, sizeof *s.queues);
	s.ready = calloc(run->thread_count + 1, sizeof *s.ready);
	for (size_t i = 0; i < run->thread_count; i++)
		run->thread_results[i] = (struct tdm_cb_thread_result){ 0 };
	for (size_t i = 0; i < run->buffer_count; i++)
		run->room[i] = 0;
	s.no_memory = s.threads == NULL || s.queues == NULL || s.ready == NULL || !make_groups(&s);
	if (!s.no_memory)
		simulate(&s);
	for (size_t i = 0; s.queues != NULL && i < run->buffer_count; i++) {
		free(s.queues[i].push.ring);
		free(s.queues[i].pop.ring);
	}
	for (size_t i = 0; s.threads != NULL && i < run->thread_count; i++)
		free(s.threads[i].groups);
	free(s.queues);
	free(s.ready);
	free(s.threads);
	return s.no_memory ? -ENOMEM : 0;
}
