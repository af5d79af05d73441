/*
 * The simulation of circular buffers: against a simulation that goes cycle by cycle, against closed forms, and its
 * statistics and deadlocks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/pressure/cb_model.h"
#include "full_size.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { THREADS = 5, BUFFERS = 6, STEPS = 64, EVENTS = 4096, CYCLES_MAX = 20000 };

struct world {
	struct tdm_cb_step steps[THREADS][STEPS];
	struct tdm_cb_thread threads[THREADS];
	struct tdm_cb_buffer buffers[BUFFERS];
	size_t thread_count, buffer_count;
	struct tdm_cb_model run;
};

static void run(struct world *w, bool statistics)
{
	for (size_t i = 0; i < w->thread_count; i++)
		w->threads[i].steps = w->steps[i];
	w->run = (struct tdm_cb_model){ .threads = w->threads,
		.buffers = w->buffers,
		.thread_count = w->thread_count,
		.buffer_count = w->buffer_count,
		.statistics = statistics,
		.random = 7 };
	tdm_cb_simulate(&w->run);
}

/* Adds a step to the body. */
static void add(struct world *w, size_t thread, enum tdm_cb_op op, size_t buffer, uint32_t pages, double cycles)
{
	struct tdm_cb_thread *t = &w->threads[thread];
	assert_true(t->body < STEPS);
	w->steps[thread][t->body++] =
		(struct tdm_cb_step){ .op = (uint8_t)op, .buffer = (uint16_t)buffer, .pages = pages, .cycles = cycles };
}

/* The same, cycle by cycle. */

struct slow_thread {
	uint64_t ready; /* the cycle in which it can do the next thing */
	uint64_t rounds;
	size_t at;
	uint32_t issued; /* transfers of the present ISSUE */
	bool starts;     /* one of them has been prepared, and waits for the link */
	uint64_t link_free, arrived, end;
	uint64_t groups[EVENTS];
	size_t group_begin, group_end;
	bool is_done;
};

struct slow_queue {
	uint64_t times[2][EVENTS]; /* when each page was pushed, and popped */
	size_t count[2];
};

struct slow {
	struct slow_thread threads[THREADS];
	struct slow_queue queues[BUFFERS];
};

static size_t seen(const struct slow_queue *q, int which, uint64_t now, double sync)
{
	size_t count = 0;
	while (count < q->count[which] && q->times[which][count] + (uint64_t)sync <= now)
		count++;
	return count;
}

/* Does a step if it can be done in this cycle. */
static bool slow_step(const struct world *w, struct slow *s, size_t i, uint64_t now)
{
	struct slow_thread *t = &s->threads[i];
	const struct tdm_cb_step *step = &w->steps[i][t->at];
	const struct tdm_cb_buffer *b = &w->buffers[step->buffer];
	struct slow_queue *q = &s->queues[step->buffer];
	uint64_t cycles = (uint64_t)step->cycles;
	switch ((enum tdm_cb_op)step->op) {
	case TDM_CB_RESERVE:
		if (q->count[0] - seen(q, 1, now, b->sync) + step->pages > b->pages)
			return false;
		break;
	case TDM_CB_WAIT:
		if (seen(q, 0, now, b->sync) < q->count[1] + step->pages)
			return false;
		break;
	case TDM_CB_PUSH:
	case TDM_CB_POP:
		for (uint32_t k = 0; k < step->pages; k++)
			q->times[step->op == TDM_CB_POP][q->count[step->op == TDM_CB_POP]++] = now + cycles;
		break;
	case TDM_CB_ISSUE:
		if (!t->starts) {
			t->starts = true;
			t->ready = now + cycles;
			return true;
		}
		if (now < t->link_free)
			return false;
		t->link_free = now + (uint64_t)step->link;
		t->starts = false;
		if (++t->issued < step->pages)
			return true;
		t->issued = 0;
		t->arrived = t->link_free + (uint64_t)step->arrival;
		t->groups[t->group_end++] = t->arrived;
		t->at++;
		return true;
	case TDM_CB_BARRIER:
		if (now < t->arrived)
			return false;
		t->group_begin = t->group_end;
		break;
	case TDM_CB_RETIRE:
		if (t->group_begin < t->group_end && now < t->groups[t->group_begin])
			return false;
		t->group_begin += t->group_begin < t->group_end;
		break;
	case TDM_CB_FLUSH:
		if (now < t->link_free)
			return false;
		break;
	default:
		break;
	}
	t->ready = now + cycles;
	t->at++;
	return true;
}

static bool slow_thread(const struct world *w, struct slow *s, size_t i, uint64_t now)
{
	struct slow_thread *t = &s->threads[i];
	const struct tdm_cb_thread *plan = &w->threads[i];
	if (t->is_done || t->ready > now)
		return false;
	if (t->at == plan->head && t->rounds == plan->repeat)
		t->at += plan->body;
	if (t->at == plan->head + plan->body + plan->tail) {
		t->is_done = true;
		t->end = now;
		return true;
	}
	bool moved = slow_step(w, s, i, now);
	if (moved && t->at == plan->head + plan->body && t->rounds < plan->repeat && ++t->rounds < plan->repeat)
		t->at = plan->head;
	return moved;
}

static void compare_with_slow(struct world *w)
{
	struct slow *s = calloc(1, sizeof *s);
	assert_non_null(s);
	bool all_done = false;
	for (uint64_t now = 0; now < CYCLES_MAX && !all_done; now++) {
		for (bool moved = true; moved;) {
			moved = false;
			for (size_t i = 0; i < w->thread_count; i++)
				moved |= slow_thread(w, s, i, now);
		}
		all_done = true;
		for (size_t i = 0; i < w->thread_count; i++)
			all_done &= s->threads[i].is_done;
	}
	run(w, true);
	assert_int_equal(w->run.is_deadlocked, !all_done);
	for (size_t i = 0; i < w->thread_count; i++) {
		assert_int_equal(w->threads[i].is_stuck, !s->threads[i].is_done);
		if (s->threads[i].is_done)
			assert_true((uint64_t)w->threads[i].end == s->threads[i].end);
	}
	free(s);
}

static uint64_t next(uint64_t *random, uint64_t below)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random % below;
}

/* A chain of threads; sometimes the last one gives pages back to the first, which may deadlock. */
static void random_world(struct world *w, uint64_t *random)
{
	static const uint32_t sizes[] = { 1, 2, 3, 4, 6 };
	uint32_t total = 12 * (uint32_t)(1 + next(random, 3));
	*w = (struct world){ .thread_count = 2 + next(random, THREADS - 2) };
	bool has_loop = next(random, 4) == 0;
	uint32_t loop = (uint32_t)next(random, 12) + 1;
	w->buffer_count = w->thread_count - 1 + has_loop;
	for (size_t i = 0; i < w->buffer_count; i++)
		w->buffers[i] = (struct tdm_cb_buffer){ .pages = 1 + (uint32_t)next(random, 12),
			.producer = (uint16_t)i,
			.consumer = (uint16_t)((i + 1) % w->thread_count),
			.sync = (double)next(random, 4) };
	for (size_t i = 0; i < w->thread_count; i++) {
		uint32_t in = sizes[next(random, 5)];
		w->threads[i].repeat = total / in;
		if (has_loop && i == 0 && in == loop)
			add(w, i, TDM_CB_WAIT, w->buffer_count - 1, in, 0),
				add(w, i, TDM_CB_POP, w->buffer_count - 1, in, 0);
		if (i != 0)
			add(w, i, TDM_CB_WAIT, i - 1, in, (double)next(random, 3));
		if (next(random, 2) == 0)
			add(w, i, TDM_CB_WORK, 0, 0, (double)next(random, 20));
		if (i + 1 < w->thread_count)
			add(w, i, TDM_CB_RESERVE, i, in, (double)next(random, 3));
		if (next(random, 2) == 0) {
			add(w, i, TDM_CB_ISSUE, 0, 1 + (uint32_t)next(random, 3), (double)next(random, 5));
			w->steps[i][w->threads[i].body - 1].link = (double)next(random, 9);
			w->steps[i][w->threads[i].body - 1].arrival = (double)next(random, 30);
			static const enum tdm_cb_op waits[] = { TDM_CB_BARRIER, TDM_CB_RETIRE, TDM_CB_FLUSH };
			add(w, i, waits[next(random, 3)], 0, 0, (double)next(random, 3));
		}
		if (i != 0)
			add(w, i, TDM_CB_POP, i - 1, in, (double)next(random, 2));
		if (i + 1 < w->thread_count)
			add(w, i, TDM_CB_PUSH, i, in, (double)next(random, 2));
		else if (has_loop)
			add(w, i, TDM_CB_RESERVE, w->buffer_count - 1, in, 0),
				add(w, i, TDM_CB_PUSH, w->buffer_count - 1, in, 0);
	}
}

static void agrees_with_a_simulation_cycle_by_cycle(void **state)
{
	(void)state;
	struct world *w = malloc(sizeof *w);
	uint64_t random = 12345;
	assert_non_null(w);
	size_t deadlocks = 0;
	for (int i = 0; i < 400; i++) {
		random_world(w, &random);
		compare_with_slow(w);
		deadlocks += w->run.is_deadlocked;
	}
	assert_true(deadlocks > 10 && deadlocks < 390);
	free(w);
}

/* A producer of P cycles and a consumer of C, with D slots and h cycles for both syncs. */
static double pair_cycles(double p, double c, uint32_t slots, double sync, uint64_t rounds, bool is_random)
{
	struct world w = { .thread_count = 2, .buffer_count = 1 };
	enum tdm_cb_op work = is_random ? TDM_CB_RANDOM : TDM_CB_WORK;
	w.buffers[0] = (struct tdm_cb_buffer){ .pages = slots, .producer = 0, .consumer = 1, .sync = sync };
	w.threads[0].repeat = w.threads[1].repeat = rounds;
	add(&w, 0, TDM_CB_RESERVE, 0, 1, 0), add(&w, 0, work, 0, 0, p), add(&w, 0, TDM_CB_PUSH, 0, 1, 0);
	add(&w, 1, TDM_CB_WAIT, 0, 1, 0), add(&w, 1, work, 0, 0, c), add(&w, 1, TDM_CB_POP, 0, 1, 0);
	run(&w, false);
	return w.run.cycles;
}

static void the_period_is_the_slowest_loop(void **state)
{
	(void)state;
	for (uint32_t slots = 1; slots <= 5; slots++)
		for (double p = 10; p <= 100; p += 30)
			for (double c = 10; c <= 100; c += 30)
				for (double h = 0; h <= 40; h += 20) {
					double period = (pair_cycles(p, c, slots, h / 2, 2400, false) -
								pair_cycles(p, c, slots, h / 2, 1200, false)) /
							1200;
					double wanted = fmax(fmax(p, c), (p + c + h) / slots);
					assert_true(fabs(period - wanted) < 1e-6 * wanted);
				}
}

/* Bytes in flight = latency x bandwidth: with n transfers in flight the rate is n per latency, up to the link. */
static void bytes_in_flight_follow_little(void **state)
{
	(void)state;
	for (uint32_t depth = 1; depth <= 12; depth++) {
		struct world w = { .thread_count = 1 };
		struct tdm_cb_step issue = { .op = TDM_CB_ISSUE, .pages = 1, .link = 60, .arrival = 420 };
		for (uint32_t i = 0; i < depth; i++)
			w.steps[0][i] = issue;
		w.steps[0][depth] = (struct tdm_cb_step){ .op = TDM_CB_RETIRE };
		w.steps[0][depth + 1] = issue;
		w.threads[0] = (struct tdm_cb_thread){ .head = depth, .body = 2, .repeat = 10000 };
		run(&w, false);
		double rate = 10000 / w.run.cycles, wanted = fmin(depth / 480.0, 1 / 60.0);
		assert_true(fabs(rate - wanted) < 0.002 * wanted);
	}
}

static void exponential_times_follow_kleinrock(void **state)
{
	(void)state;
	const uint64_t rounds = (uint64_t)full_size(400000, 100000);
	for (uint32_t slots = 1; slots <= 8; slots *= 2)
		for (double rho = 0.5; rho <= 2; rho *= 2) {
			/* Slots are held from reserve to pop: a slot that is being filled is one fewer in the queue. */
			double x = (double)rounds / pair_cycles(100 / rho, 100, slots, 0, rounds, true) * 100;
			double d = slots;
			double wanted = rho == 1 ? d / (d + 1) : rho * (1 - pow(rho, d)) / (1 - pow(rho, d + 1));
			assert_true(fabs(x - wanted) < 0.01 * wanted);
		}
}

/* Equal means, any variance: the loss is about the sum of both squared coefficients of variation over 2 D. */
static void the_loss_of_deep_buffers_follows_harrison(void **state)
{
	(void)state;
	const uint64_t rounds = (uint64_t)full_size(2000000, 300000);
	for (uint32_t slots = 16; slots <= 64; slots *= 2) {
		double loss = 1 - (double)rounds / pair_cycles(100, 100, slots, 0, rounds, true) * 100;
		assert_true(fabs(loss * slots - 1) < 0.2); /* both coefficients of an exponential time are 1 */
	}
}

/* Two stations with b slots between them, where a finished piece blocks its station: b + 2 over b + 3. A piece at the
 * second station is in none of the slots, and one at the first needs none before it is finished. */
static void blocking_after_service_follows_hunt(void **state)
{
	(void)state;
	const uint64_t rounds = (uint64_t)full_size(400000, 100000);
	for (uint32_t b = 0; b <= 6; b += 2) {
		struct world w = { .thread_count = 2, .buffer_count = 1 };
		w.buffers[0] = (struct tdm_cb_buffer){ .pages = b + 1, .producer = 0, .consumer = 1 };
		w.threads[0].repeat = w.threads[1].repeat = rounds;
		add(&w, 0, TDM_CB_RANDOM, 0, 0, 100), add(&w, 0, TDM_CB_RESERVE, 0, 1, 0),
			add(&w, 0, TDM_CB_PUSH, 0, 1, 0);
		add(&w, 1, TDM_CB_WAIT, 0, 1, 0), add(&w, 1, TDM_CB_RANDOM, 0, 0, 100), add(&w, 1, TDM_CB_POP, 0, 1, 0);
		run(&w, false);
		double x = (double)rounds / w.run.cycles * 100, wanted = (b + 2.0) / (b + 3.0);
		assert_true(fabs(x - wanted) < 0.01 * wanted);
	}
}

static void the_fill_over_time_is_known(void **state)
{
	(void)state;
	/* Four pages arrive at once at cycle 100, and leave at 110, 120, 130 and 140. */
	struct world w = { .thread_count = 2, .buffer_count = 1 };
	w.buffers[0] = (struct tdm_cb_buffer){ .pages = 4, .producer = 0, .consumer = 1 };
	w.threads[0].repeat = 1, w.threads[1].repeat = 4;
	add(&w, 0, TDM_CB_RESERVE, 0, 4, 0), add(&w, 0, TDM_CB_WORK, 0, 0, 100), add(&w, 0, TDM_CB_PUSH, 0, 4, 0);
	add(&w, 1, TDM_CB_WAIT, 0, 1, 0), add(&w, 1, TDM_CB_WORK, 0, 0, 10), add(&w, 1, TDM_CB_POP, 0, 1, 0);
	run(&w, true);
	assert_true(w.run.cycles == 140 && w.buffers[0].peak == 4 && w.buffers[0].pushed == 4);
	assert_true(fabs(w.buffers[0].mean - 100.0 / 140) < 1e-9); /* (4+3+2+1) x 10 */
	assert_true(fabs(w.buffers[0].full - 10.0 / 140) < 1e-9);
	assert_true(w.threads[1].pages == 100);
	double area = 0;
	for (size_t i = 0; i < w.run.slot_count; i++)
		area += w.buffers[0].slot[i] * fmin(w.run.slot_cycles, w.run.cycles - (double)i * w.run.slot_cycles);
	assert_true(fabs(area - 100) < 1e-6);
}

static void a_deadlock_has_a_fill(void **state)
{
	(void)state;
	/* Two pages arrive at cycle 10, and nobody takes them for want of a third; the producer works on until 40. */
	struct world w = { .thread_count = 2, .buffer_count = 1 };
	w.buffers[0] = (struct tdm_cb_buffer){ .pages = 4, .producer = 0, .consumer = 1 };
	w.threads[0].repeat = w.threads[1].repeat = 1;
	add(&w, 0, TDM_CB_WORK, 0, 0, 10), add(&w, 0, TDM_CB_PUSH, 0, 2, 0), add(&w, 0, TDM_CB_WORK, 0, 0, 30);
	add(&w, 1, TDM_CB_WAIT, 0, 3, 0), add(&w, 1, TDM_CB_POP, 0, 3, 0);
	run(&w, true);
	assert_true(w.run.is_deadlocked && !w.threads[0].is_stuck && w.threads[1].is_stuck);
	assert_int_equal(w.threads[1].stuck_at, 0);
	assert_true(w.run.cycles == 40 && w.buffers[0].peak == 2 && w.buffers[0].mean == 1.5);
}

static void deeper_buffers_are_never_slower(void **state)
{
	(void)state;
	struct world *w = malloc(sizeof *w);
	uint64_t random = 99;
	assert_non_null(w);
	for (int i = 0; i < 200; i++) {
		random_world(w, &random);
		run(w, false);
		double before = w->run.cycles;
		if (w->run.is_deadlocked)
			continue;
		w->buffers[next(&random, w->buffer_count)].pages += 1 + (uint32_t)next(&random, 5);
		run(w, false);
		assert_true(!w->run.is_deadlocked && w->run.cycles <= before);
	}
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_a_simulation_cycle_by_cycle),
		cmocka_unit_test(the_period_is_the_slowest_loop),
		cmocka_unit_test(bytes_in_flight_follow_little),
		cmocka_unit_test(exponential_times_follow_kleinrock),
		cmocka_unit_test(the_loss_of_deep_buffers_follows_harrison),
		cmocka_unit_test(blocking_after_service_follows_hunt),
		cmocka_unit_test(the_fill_over_time_is_known),
		cmocka_unit_test(a_deadlock_has_a_fill),
		cmocka_unit_test(deeper_buffers_are_never_slower),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
