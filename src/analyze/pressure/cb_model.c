#include "analyze/pressure/cb_model.h"
#include "base/buf.h"
#include "base/memory.h"
#include "base/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RELU_INSTRUCTIONS = 3, DST_HALVES = 2 };
enum { DEADLOCK_REST = 64 }; /* space reserved for the number of links that do not fit */

/* ---- the simulation ---- */

static const double first_slot_cycles = 16;

static void widen(struct tdm_cb_buffer *b)
{
	for (size_t i = 0; i < TDM_CB_SLOTS; i++)
		b->slot[i] = i < TDM_CB_SLOTS / 2 ? b->slot[2 * i] + b->slot[2 * i + 1] : 0;
	b->slot_cycles *= 2;
}

/* Adds the time until `time` with the current fill. */
static void fill_until(struct tdm_cb_buffer *b, double time)
{
	double pages = (double)(b->pushed - b->popped);
	while (time > TDM_CB_SLOTS * b->slot_cycles)
		widen(b);
	b->mean += pages * (time - b->until);
	if (b->pushed - b->popped == b->pages)
		b->full += time - b->until;
	while (b->until < time) {
		size_t slot = (size_t)(b->until / b->slot_cycles);
		slot = slot < TDM_CB_SLOTS ? slot : TDM_CB_SLOTS - 1;
		double end = (double)(slot + 1) * b->slot_cycles;
		double until = end > b->until ? fmin(time, end) : time;
		b->slot[slot] += pages * (until - b->until);
		b->until = until;
	}
}

static void grow(struct tdm_cb_events *e)
{
	uint64_t size = e->ring != NULL ? 2 * (e->mask + 1) : 16;
	struct tdm_cb_event *ring = tdm_alloc(size * sizeof *ring);
	for (uint64_t i = tdm_min(e->seen, e->settled); i < e->end; i++)
		ring[i & (size - 1)] = e->ring[i & e->mask];
	free(e->ring);
	e->ring = ring;
	e->mask = size - 1;
}

/* The time at which the total reached `total`. False if that event is not known yet. */
static bool time_of(struct tdm_cb_events *e, uint64_t total, double *time)
{
	if (e->total < total)
		return false;
	while (e->ring[e->seen & e->mask].total < total)
		e->seen++;
	*time = e->ring[e->seen & e->mask].time;
	return true;
}

/* Passes events to the statistics in time order, up to the point before which no further event can occur. */
static void settle(const struct tdm_cb_model *m, struct tdm_cb_buffer *b)
{
	struct tdm_cb_events *push = &b->push, *pop = &b->pop;
	if (!m->statistics || b->is_hidden) {
		push->settled = push->end;
		pop->settled = pop->end;
		return;
	}
	for (;;) {
		const struct tdm_cb_event *in =
			push->settled < push->end ? &push->ring[push->settled & push->mask] : NULL;
		const struct tdm_cb_event *out = pop->settled < pop->end ? &pop->ring[pop->settled & pop->mask] : NULL;
		bool may_push = !m->is_over && m->threads[b->producer].is_stuck;
		bool may_pop = !m->is_over && m->threads[b->consumer].is_stuck;
		if ((in == NULL && (may_push || out == NULL)) || (out == NULL && may_pop))
			return;
		bool is_push = out == NULL || (in != NULL && in->time < out->time);
		fill_until(b, is_push ? in->time : out->time);
		if (is_push)
			b->pushed = in->total;
		else
			b->popped = out->total;
		b->peak = (uint32_t)tdm_max(b->peak, b->pushed - b->popped);
		*(is_push ? &push->settled : &pop->settled) += 1;
	}
}

static void wait_for(struct tdm_cb_thread *t, double until, double *waited)
{
	if (until > t->end) {
		*waited += until - t->end;
		t->end = until;
	}
}

static void wake(struct tdm_cb_model *m, uint16_t thread)
{
	if (m->threads[thread].is_ready)
		return;
	m->threads[thread].is_ready = true;
	size_t at = m->ready_first + m->ready_count++;
	m->ready[at < m->thread_count ? at : at - m->thread_count] = thread;
}

/* Pushes or pops pages. Only free pages can be pushed, and only filled pages popped. */
static bool move_pages(struct tdm_cb_model *m, struct tdm_cb_thread *t, const struct tdm_cb_step *step)
{
	struct tdm_cb_buffer *b = &m->buffers[step->buffer];
	bool is_push = step->op == TDM_CB_PUSH;
	struct tdm_cb_events *e = is_push ? &b->push : &b->pop;
	if (is_push ? b->push.total + step->pages - b->pop.total > b->pages
		    : b->pop.total + step->pages > b->push.total)
		return false;
	t->end += step->cycles;
	if (e->ring == NULL || e->end - tdm_min(e->seen, e->settled) > e->mask)
		grow(e);
	e->total += step->pages;
	e->ring[e->end++ & e->mask] = (struct tdm_cb_event){ t->end, e->total };
	settle(m, b);
	wake(m, is_push ? b->consumer : b->producer);
	return true;
}

/* Executes one step of a thread. False if the step depends on an event that is not known yet. */
static bool advance(struct tdm_cb_model *m, struct tdm_cb_thread *t, const struct tdm_cb_step *step)
{
	struct tdm_cb_buffer *b = &m->buffers[step->buffer];
	double when, unused = 0;
	switch ((enum tdm_cb_op)step->op) {
	case TDM_CB_RESERVE:
		if (b->push.total + step->pages > b->pages) {
			if (!time_of(&b->pop, b->push.total + step->pages - b->pages, &when))
				return false;
			double before = t->end;
			wait_for(t, when + b->sync, b->is_inner ? &unused : &t->room);
			b->room += t->end - before;
		}
		break;
	case TDM_CB_WAIT:
		if (!time_of(&b->push, b->pop.total + step->pages, &when))
			return false;
		wait_for(t, when + b->sync, b->is_inner ? &unused : &t->pages);
		break;
	case TDM_CB_PUSH:
	case TDM_CB_POP:
		return move_pages(m, t, step);
	case TDM_CB_WORK:
		break;
	case TDM_CB_RANDOM:
		m->random = tdm_hash_u64(m->random + UINT64_C(0x9e3779b97f4a7c15));
		t->end -= step->cycles * log1p(-(double)(m->random >> 11) * 0x1p-53);
		return true;
	case TDM_CB_ISSUE:
		t->end = fmax(t->end + step->cycles, t->link_free) +
			 (double)(step->pages - 1) * fmax(step->cycles, step->link);
		t->link_free = t->end + step->link;
		t->arrived = t->link_free + step->arrival;
		if (t->groups != NULL)
			t->groups[t->group_end++ % t->group_cap] = t->arrived;
		return true;
	case TDM_CB_BARRIER:
		wait_for(t, t->arrived, &t->transfers);
		t->group_begin = t->group_end;
		break;
	case TDM_CB_RETIRE:
		if (t->group_begin < t->group_end)
			wait_for(t, t->groups[t->group_begin++ % t->group_cap], &t->transfers);
		break;
	case TDM_CB_FLUSH:
		wait_for(t, t->link_free, &t->transfers);
		break;
	}
	t->end += step->cycles;
	return true;
}

/* Runs a thread until it must wait for another thread. */
static void run_thread(struct tdm_cb_model *m, struct tdm_cb_thread *t)
{
	while (t->is_stuck) {
		if (t->stuck_at == t->head && t->rounds == t->repeat)
			t->stuck_at += t->body; /* no rounds are left */
		if (t->stuck_at == t->head + t->body + t->tail) {
			t->is_stuck = false;
			return;
		}
		if (!advance(m, t, &t->steps[t->stuck_at]))
			return;
		t->stuck_at++;
		if (t->stuck_at == t->head + t->body && t->rounds < t->repeat && ++t->rounds < t->repeat)
			t->stuck_at = t->head;
	}
}

/* Makes a thread ready to run. Allocates its ring of transfers if the thread waits for single groups. */
static void begin_run(struct tdm_cb_thread *t)
{
	size_t issues = 0, retires = 0;
	*t = (struct tdm_cb_thread){ t->steps, t->head, t->body, t->tail, t->repeat, .is_stuck = true };
	for (size_t k = 0; k < t->head + t->body + t->tail; k++) {
		issues += t->steps[k].op == TDM_CB_ISSUE;
		retires += t->steps[k].op == TDM_CB_RETIRE;
	}
	t->group_cap = tdm_max(issues, TDM_CB_IN_FLIGHT_MAX);
	t->groups = retires != 0 ? tdm_alloc(t->group_cap * sizeof *t->groups) : NULL;
}

/* Finishes the statistics of all buffers, and gives all slots the same length. */
static void end_buffers(struct tdm_cb_model *m)
{
	m->slot_cycles = 0;
	m->is_over = true;
	for (size_t i = 0; i < m->buffer_count; i++) {
		settle(m, &m->buffers[i]);
		fill_until(&m->buffers[i], m->cycles);
		m->slot_cycles = fmax(m->slot_cycles, m->buffers[i].slot_cycles);
	}
	double slots = m->slot_cycles > 0 ? ceil(m->cycles / m->slot_cycles) : 0;
	m->slot_count = slots < TDM_CB_SLOTS ? (size_t)slots : TDM_CB_SLOTS;
	for (size_t i = 0; i < m->buffer_count; i++) {
		struct tdm_cb_buffer *b = &m->buffers[i];
		while (b->slot_cycles < m->slot_cycles) /* always the initial length times a power of two */
			widen(b);
		b->mean = m->cycles > 0 ? b->mean / m->cycles : 0;
		b->full = m->cycles > 0 ? b->full / m->cycles : 0;
		for (size_t k = 0; k < m->slot_count; k++)
			b->slot[k] /= fmin(m->slot_cycles, m->cycles - (double)k * m->slot_cycles);
	}
}

void tdm_cb_simulate(struct tdm_cb_model *m)
{
	m->cycles = 0;
	m->is_deadlocked = m->is_over = false;
	m->ready = tdm_zalloc(m->thread_count, sizeof *m->ready);
	m->ready_first = 0;
	for (size_t i = 0; i < m->buffer_count; i++) {
		const struct tdm_cb_buffer *b = &m->buffers[i];
		m->buffers[i] = (struct tdm_cb_buffer){ b->pages, b->producer, b->consumer, b->is_hidden, b->is_inner,
			b->sync, .slot_cycles = first_slot_cycles };
	}
	for (size_t i = 0; i < m->thread_count; i++) {
		begin_run(&m->threads[i]);
		wake(m, (uint16_t)i);
	}
	while (m->ready_count != 0) {
		struct tdm_cb_thread *next = &m->threads[m->ready[m->ready_first]];
		m->ready_first = m->ready_first + 1 < m->thread_count ? m->ready_first + 1 : 0;
		m->ready_count--;
		next->is_ready = false;
		run_thread(m, next);
	}
	for (size_t i = 0; i < m->thread_count; i++) {
		m->is_deadlocked |= m->threads[i].is_stuck;
		m->cycles = fmax(m->cycles, m->threads[i].end);
		free(m->threads[i].groups);
	}
	if (m->statistics)
		end_buffers(m);
	for (size_t i = 0; i < m->buffer_count; i++) {
		free(m->buffers[i].push.ring);
		free(m->buffers[i].pop.ring);
	}
	free(m->ready);
}

/* ---- the steps of a pattern's kernels ---- */

static const struct tdm_pattern_use *use_of(const struct tdm_cb_model *m, const struct tdm_pattern_uses *uses, size_t i)
{
	return tdm_pattern_use(m->pattern, uses, i);
}

static void add(struct tdm_cb_model *m, struct tdm_cb_step step)
{
	tdm_grow(&m->steps, &m->step_cap, m->step_count + 1, sizeof *m->steps);
	m->steps[m->step_count++] = step;
}

/* Pages of a use in a round; the last round may have fewer. */
static uint64_t pages_of(const struct tdm_cb_model *m, const struct tdm_pattern_use *use, bool is_last)
{
	uint64_t rest = m->pattern->buffers[use->buffer].total % use->pages;
	return is_last && rest != 0 ? rest : use->pages;
}

/* Adds a call for each of the buffers, with the pages of `blocks` blocks. */
static void call(
	struct tdm_cb_model *m, enum tdm_cb_op op, const struct tdm_pattern_uses *uses, uint64_t blocks, bool is_last)
{
	for (size_t i = 0; i < uses->count; i++) {
		const struct tdm_pattern_use *use = use_of(m, uses, i);
		add(m, (struct tdm_cb_step){ .op = (uint8_t)op,
			       .buffer = use->buffer,
			       .pages = (uint32_t)(blocks * pages_of(m, use, is_last)),
			       .cycles = m->speed->value[TDM_SPEED_CALL] });
	}
}

/* Adds a call on a queue inside a kernel, which costs nothing. */
static void hidden_call(struct tdm_cb_model *m, enum tdm_cb_op op, size_t buffer)
{
	add(m, (struct tdm_cb_step){ .op = (uint8_t)op, .buffer = (uint16_t)buffer, .pages = 1 });
}

static void work(struct tdm_cb_model *m, double cycles)
{
	add(m, (struct tdm_cb_step){ .op = TDM_CB_WORK, .cycles = cycles });
}

/* Adds the transfer of a block for each of the buffers. All cores that share the DRAM move the same number of bytes in
 * the same time. */
static void transfer(struct tdm_cb_model *m, const struct tdm_pattern_stage *s, const struct tdm_pattern_uses *uses,
	uint64_t blocks, bool is_last)
{
	const double *v = m->speed->value;
	bool is_read = s->work == TDM_STAGE_READ;
	const double *of = &v[s->is_l1  ? is_read ? TDM_SPEED_L1_READ_FIXED : TDM_SPEED_L1_WRITE_FIXED
			      : is_read ? TDM_SPEED_DRAM_READ_FIXED
					: TDM_SPEED_DRAM_WRITE_FIXED]; /* fixed, per KiB, bandwidth, issue */
	double share = v[TDM_SPEED_DRAM_TOTAL] * 1e3 / v[TDM_SPEED_CLOCK] / m->pattern->cores;
	for (size_t i = 0; i < uses->count; i++) {
		const struct tdm_pattern_use *use = use_of(m, uses, i);
		double size = (double)m->pattern->buffers[use->buffer].page_bytes, link = size / of[2];
		if (!s->is_l1 && !is_read && m->is_copy)
			link = fmax(link, size / v[TDM_SPEED_COPY_BANDWIDTH]);
		if (!s->is_l1)
			link = fmax(link, size / (m->is_copy ? share / 2 : share));
		add(m, (struct tdm_cb_step){ .op = TDM_CB_ISSUE,
			       .pages = (uint32_t)(blocks * pages_of(m, use, is_last)),
			       .cycles = of[3],
			       .link = link,
			       .arrival = fmax(0, of[0] + of[1] * size / 1024 - of[3] - link) });
	}
}

static void retire_block(struct tdm_cb_model *m, const struct tdm_pattern_stage *s)
{
	for (uint32_t i = 0; i < s->pushes.count; i++) {
		const struct tdm_pattern_uses one = { s->pushes.first + i, 1 };
		add(m, (struct tdm_cb_step){ .op = TDM_CB_RETIRE });
		call(m, TDM_CB_PUSH, &one, 1, false);
	}
}

/* Starts to read a block while `in_flight` other blocks are in flight. */
static void start_block(struct tdm_cb_model *m, const struct tdm_pattern_stage *s, uint64_t in_flight)
{
	call(m, TDM_CB_RESERVE, &s->pushes, in_flight + 1, false);
	transfer(m, s, &s->pushes, 1, false);
}

/* The number of equal rounds of a kernel, and whether a round with fewer pages follows. A shorter last round is
 * possible only for a buffer used once per round. */
static uint64_t full_rounds(const struct tdm_cb_pattern *p, size_t kernel, bool *has_rest)
{
	uint64_t rounds = p->kernels[kernel].rounds;
	*has_rest = false;
	for (size_t i = p->kernels[kernel].first; i < p->stage_count; i = p->stages[i].next) {
		const struct tdm_pattern_uses *both[] = { &p->stages[i].pushes, &p->stages[i].pops };
		for (size_t k = 0; k < both[0]->count + both[1]->count && p->stages[i].times == 1; k++) {
			bool is_push = k < both[0]->count;
			const struct tdm_pattern_use *use =
				tdm_pattern_use(p, both[!is_push], is_push ? k : k - both[0]->count);
			*has_rest |= p->buffers[use->buffer].total < rounds * use->pages;
		}
	}
	return rounds - *has_rest;
}

static struct tdm_cb_thread *begin_thread(struct tdm_cb_model *m, size_t kernel)
{
	m->kernel_of[m->thread_count] = (uint16_t)kernel;
	return &m->threads[m->thread_count++];
}

/* Adds a round of a kernel that moves data. The round either reads blocks, waits for one barrier and pushes the blocks
 * one by one, or writes one block. */
static void move_round(struct tdm_cb_model *m, size_t kernel, uint64_t ahead, bool is_last)
{
	const struct tdm_cb_pattern *p = m->pattern;
	for (size_t i = p->kernels[kernel].first; i < p->stage_count; i = p->stages[i].next) {
		const struct tdm_pattern_stage *s = &p->stages[i];
		bool is_read = s->work == TDM_STAGE_READ;
		const struct tdm_pattern_uses *uses = is_read ? &s->pushes : &s->pops;
		uint64_t blocks = is_read ? ahead : 1;
		for (uint32_t t = 0; t < s->times; t++) {
			call(m, is_read ? TDM_CB_RESERVE : TDM_CB_WAIT, uses, blocks, is_last);
			transfer(m, s, uses, blocks, is_last);
			add(m, s->is_flush ? (struct tdm_cb_step){ .op = TDM_CB_FLUSH,
						     .cycles = m->speed->value[TDM_SPEED_FLUSH] }
					   : (struct tdm_cb_step){ .op = TDM_CB_BARRIER });
			for (uint64_t k = 0; k < blocks; k++)
				call(m, is_read ? TDM_CB_PUSH : TDM_CB_POP, uses, 1, is_last);
		}
	}
}

/* `s`: the first stage of the kernel. */
static void build_mover(struct tdm_cb_model *m, const struct tdm_pattern_stage *s)
{
	bool has_rest;
	uint64_t full = full_rounds(m->pattern, s->kernel, &has_rest), ids = tdm_min(s->ids, full);
	struct tdm_cb_thread *t = begin_thread(m, s->kernel);
	size_t first = m->step_count;
	if (s->ids != 0) { /* several blocks in flight, each with its own transaction id */
		for (uint64_t i = 0; i < ids; i++)
			start_block(m, s, i);
		t->head = m->step_count - first;
		t->repeat = full - ids;
		retire_block(m, s);
		start_block(m, s, ids != 0 ? ids - 1 : 0);
		t->body = m->step_count - first - t->head;
		for (uint64_t i = 0; i < ids; i++)
			retire_block(m, s);
	} else {
		move_round(m, s->kernel, s->ahead, false);
		t->body = m->step_count - first;
		t->repeat = full / s->ahead;
		if (full % s->ahead != 0)
			move_round(m, s->kernel, full % s->ahead, false);
	}
	if (has_rest)
		move_round(m, s->kernel, 1, true);
	if (s->is_flush)
		add(m, (struct tdm_cb_step){ .op = TDM_CB_BARRIER });
	t->tail = m->step_count - first - t->head - t->body;
}

/* Cycles of math per tile. */
static double stage_math(const struct tdm_pattern_stage *s, const struct tdm_core_speed *speed)
{
	const double *v = speed->value;
	if (!isnan(s->cycles))
		return s->cycles;
	switch ((enum tdm_tile_op)s->op) {
	case TDM_TILE_RELU:
		return RELU_INSTRUCTIONS * v[TDM_SPEED_SFPU];
	case TDM_TILE_SFPU:
		return s->factor * v[TDM_SPEED_SFPU];
	case TDM_TILE_ADD:
		return v[TDM_SPEED_FPU_ADD];
	case TDM_TILE_MUL:
		return s->factor * v[TDM_SPEED_FPU_MUL];
	case TDM_TILE_MATMUL:
		return s->factor * v[TDM_SPEED_MATMUL];
	case TDM_TILE_REDUCE:
		return s->factor * v[TDM_SPEED_REDUCE];
	default:
		return 0;
	}
}

/* The threads of a compute kernel. `src`: the first of two hidden buffers; the second follows it. */
enum role { UNPACK, MATH, PACK };

static void compute_stage(
	struct tdm_cb_model *m, const struct tdm_pattern_stage *s, enum role role, size_t src, bool is_last)
{
	const double *v = m->speed->value;
	double unpacked = 0, packing = 0;
	uint64_t most = 0;
	for (size_t i = 0; i < s->pops.count; i++) {
		const struct tdm_pattern_use *use = use_of(m, &s->pops, i);
		uint64_t pages = pages_of(m, use, is_last);
		/* Two unpackers work in parallel, so only the larger operand counts. */
		unpacked = fmax(unpacked, (double)(pages * m->pattern->buffers[use->buffer].page_bytes));
		most = tdm_max(most, pages);
	}
	for (size_t i = 0; i < s->pushes.count; i++) {
		const struct tdm_pattern_use *use = use_of(m, &s->pushes, i);
		uint64_t pages = pages_of(m, use, is_last);
		double bytes = (double)m->pattern->buffers[use->buffer].page_bytes;
		packing += (double)pages * (bytes / v[TDM_SPEED_PACK_BANDWIDTH] + v[TDM_SPEED_PACK_FIXED]);
		most = tdm_max(most, pages);
	}
	switch (role) {
	case UNPACK:
		call(m, TDM_CB_WAIT, &s->pops, 1, is_last);
		hidden_call(m, TDM_CB_RESERVE, src);
		work(m, unpacked / v[TDM_SPEED_UNPACK_BANDWIDTH]);
		hidden_call(m, TDM_CB_PUSH, src);
		call(m, TDM_CB_POP, &s->pops, 1, is_last);
		break;
	case MATH:
		hidden_call(m, TDM_CB_WAIT, src);
		hidden_call(m, TDM_CB_RESERVE, src + 1);
		work(m, v[TDM_SPEED_MATH_ROUND] + (double)most * stage_math(s, m->speed));
		hidden_call(m, TDM_CB_POP, src);
		hidden_call(m, TDM_CB_PUSH, src + 1);
		break;
	case PACK:
		call(m, TDM_CB_RESERVE, &s->pushes, 1, is_last);
		hidden_call(m, TDM_CB_WAIT, src + 1);
		work(m, packing);
		hidden_call(m, TDM_CB_POP, src + 1);
		call(m, TDM_CB_PUSH, &s->pushes, 1, is_last);
		break;
	}
}

static void compute_round(struct tdm_cb_model *m, size_t kernel, enum role role, size_t src, bool is_last)
{
	const struct tdm_cb_pattern *p = m->pattern;
	for (size_t i = p->kernels[kernel].first; i < p->stage_count; i = p->stages[i].next)
		for (uint32_t t = 0; t < p->stages[i].times; t++)
			compute_stage(m, &p->stages[i], role, src, is_last);
}

static void build_compute(struct tdm_cb_model *m, size_t kernel)
{
	size_t src = m->buffer_count;
	uint16_t first = (uint16_t)m->thread_count;
	for (uint16_t i = 0; i < 2; i++)
		m->buffers[m->buffer_count++] = (struct tdm_cb_buffer){ .pages = i == 0 ? 1 : DST_HALVES,
			.producer = (uint16_t)(first + i),
			.consumer = (uint16_t)(first + i + 1),
			.is_hidden = true,
			.is_inner = true };
	bool has_rest;
	uint64_t full = full_rounds(m->pattern, kernel, &has_rest);
	for (int role = UNPACK; role <= PACK; role++) {
		struct tdm_cb_thread *t = begin_thread(m, kernel);
		size_t at = m->step_count;
		compute_round(m, kernel, (enum role)role, src, false);
		t->body = m->step_count - at;
		t->repeat = full;
		if (has_rest)
			compute_round(m, kernel, (enum role)role, src, true);
		t->tail = m->step_count - at - t->body;
	}
}

void tdm_cb_model_init(struct tdm_cb_model *m, const struct tdm_cb_pattern *p, const struct tdm_core_speed *speed)
{
	size_t threads = 3 * p->kernel_count, buffers = p->buffer_count + 2 * p->kernel_count, at = 0;
	bool reads = false, writes = false;
	for (size_t i = 0; i < p->stage_count; i++) {
		reads |= p->stages[i].work == TDM_STAGE_READ && !p->stages[i].is_l1;
		writes |= p->stages[i].work == TDM_STAGE_WRITE && !p->stages[i].is_l1;
	}
	*m = (struct tdm_cb_model){ .pattern = p,
		.speed = speed,
		.is_copy = reads && writes,
		.kernel_of = tdm_zalloc(threads, sizeof *m->kernel_of),
		.threads = tdm_zalloc(threads, sizeof *m->threads),
		.buffers = tdm_zalloc(buffers, sizeof *m->buffers),
		.buffer_count = p->buffer_count };
	uint16_t *first_of = tdm_zalloc(p->kernel_count, sizeof *first_of); /* first thread of each kernel */
	for (size_t i = 0; i < p->kernel_count; i++) {
		const struct tdm_pattern_stage *s = &p->stages[p->kernels[i].first];
		first_of[i] = (uint16_t)m->thread_count;
		if (s->work == TDM_STAGE_COMPUTE)
			build_compute(m, i);
		else
			build_mover(m, s);
	}
	/* Sets the threads that push and pop: in a compute kernel, the last and the first thread. */
	for (size_t i = 0; i < p->buffer_count; i++) {
		const struct tdm_pattern_buffer *b = &p->buffers[i];
		bool computes = p->stages[p->kernels[b->producer].first].work == TDM_STAGE_COMPUTE;
		m->buffers[i] = (struct tdm_cb_buffer){ .pages = b->pages,
			.producer = (uint16_t)(first_of[b->producer] + (computes ? PACK : UNPACK)),
			.consumer = first_of[b->consumer],
			.is_inner = b->producer == b->consumer,
			.sync = speed->value[TDM_SPEED_SYNC] };
	}
	free(first_of);
	for (size_t i = 0; i < m->thread_count; i++) {
		struct tdm_cb_thread *t = &m->threads[i];
		t->steps = m->steps + at;
		at += t->head + t->body + t->tail;
	}
}

void tdm_cb_model_done(struct tdm_cb_model *m)
{
	free(m->steps);
	free(m->kernel_of);
	free(m->threads);
	free(m->buffers);
	*m = (struct tdm_cb_model){ 0 };
}

/* ---- a run, and the waits if it never ends ---- */

/* The pattern's buffer at which a thread is stuck. A thread waiting for another thread in its kernel is stuck where
 * that other thread is. *is_room: the thread waits for free pages. */
static size_t stuck_buffer(const struct tdm_cb_model *m, size_t thread, bool *is_room)
{
	for (size_t tries = 0; tries <= m->thread_count; tries++) {
		const struct tdm_cb_step *step = &m->threads[thread].steps[m->threads[thread].stuck_at];
		const struct tdm_cb_buffer *buffer = &m->buffers[step->buffer];
		*is_room = step->op == TDM_CB_RESERVE || step->op == TDM_CB_PUSH;
		if (!buffer->is_hidden)
			return step->buffer;
		thread = *is_room ? buffer->consumer : buffer->producer;
		if (!m->threads[thread].is_stuck)
			break;
	}
	return SIZE_MAX;
}

/* Writes one link of the chain: who waits, and for what. Returns the thread that could end the wait, or SIZE_MAX if
 * there is none. */
static size_t put_link(const struct tdm_cb_model *m, size_t thread, struct tdm_buf *out)
{
	const struct tdm_cb_pattern *p = m->pattern;
	bool is_room;
	size_t buffer = stuck_buffer(m, thread, &is_room);
	const char *name = p->kernels[m->kernel_of[thread]].name;
	if (buffer == SIZE_MAX) {
		tdm_buf_printf(out, "%s never ends", name);
		return SIZE_MAX;
	}
	uint32_t index = p->buffers[buffer].index, depth = m->buffers[buffer].pages;
	uint32_t pages = m->threads[thread].steps[m->threads[thread].stuck_at].pages;
	if (pages > depth) {
		tdm_buf_printf(out, "%s waits for %u %spages of buffer %u, which has only %u", name, pages,
			is_room ? "free " : "", index, depth);
		return SIZE_MAX;
	}
	size_t other = is_room ? m->buffers[buffer].consumer : m->buffers[buffer].producer;
	tdm_buf_printf(out, "%s waits for %s %s buffer %u, which %s %s", name, is_room ? "room" : "pages",
		is_room ? "in" : "of", index, p->kernels[m->kernel_of[other]].name,
		m->threads[other].is_stuck ? is_room ? "pops" : "pushes" : "has ended without giving");
	return m->threads[other].is_stuck ? other : SIZE_MAX;
}

/* Follows the waits until a thread occurs again. Leaves out threads before the cycle, and threads that do not fit into
 * the text. */
static void describe_deadlock(const struct tdm_cb_model *m, struct tdm_model_result *result)
{
	struct tdm_buf out = { 0 }, link = { 0 };
	size_t thread = 0, hidden = 0;
	while (!m->threads[thread].is_stuck)
		thread++;
	for (size_t i = 0; i < m->thread_count; i++) { /* follows the waits into the cycle, if there is one */
		size_t next = put_link(m, thread, &link);
		tdm_buf_clear(&link);
		if (next == SIZE_MAX)
			break;
		thread = next;
	}
	for (size_t at = thread, i = 0; at != SIZE_MAX && i <= m->thread_count; i++) {
		at = put_link(m, at, &link);
		if (hidden == 0 && out.len + link.len < sizeof result->deadlock - DEADLOCK_REST)
			tdm_buf_printf(&out, "%s%s", i != 0 ? "; " : "", tdm_buf_str(&link).ptr);
		else
			hidden++;
		tdm_buf_clear(&link);
		if (at == thread)
			break;
	}
	if (hidden != 0)
		tdm_buf_printf(&out, "; and %zu more that wait for one another", hidden);
	snprintf(result->deadlock, sizeof result->deadlock, "%s", out.data != NULL ? out.data : "");
	tdm_buf_done(&out);
	tdm_buf_done(&link);
}

static double bytes_moved(const struct tdm_cb_pattern *p)
{
	double bytes = 0;
	for (size_t i = 0; i < p->stage_count; i++) {
		const struct tdm_pattern_stage *s = &p->stages[i];
		const struct tdm_pattern_uses *uses = s->work == TDM_STAGE_READ ? &s->pushes : &s->pops;
		for (size_t k = 0; k < uses->count && s->work != TDM_STAGE_COMPUTE; k++) {
			const struct tdm_pattern_buffer *b = &p->buffers[tdm_pattern_use(p, uses, k)->buffer];
			bytes += (double)b->page_bytes * (double)b->total;
		}
	}
	return bytes;
}

void tdm_model_result_done(struct tdm_model_result *result)
{
	free(result->kernels);
	free(result->buffers);
	free(result->room_ns);
	*result = (struct tdm_model_result){ 0 };
}

void tdm_cb_model_run(struct tdm_cb_model *m, const uint32_t *depths, bool statistics, struct tdm_model_result *r)
{
	const struct tdm_cb_pattern *p = m->pattern;
	double ns = 1e3 / m->speed->value[TDM_SPEED_CLOCK], least = INFINITY;
	for (size_t i = 0; i < p->buffer_count; i++)
		m->buffers[i].pages = depths != NULL ? depths[i] : p->buffers[i].pages;
	m->statistics = statistics;
	tdm_cb_simulate(m);
	tdm_grow(&r->kernels, &r->kernel_cap, p->kernel_count, sizeof *r->kernels);
	tdm_grow(&r->room_ns, &r->room_cap, p->buffer_count, sizeof *r->room_ns);
	if (statistics)
		tdm_grow(&r->buffers, &r->buffer_cap, p->buffer_count, sizeof *r->buffers);
	*r = (struct tdm_model_result){ .kernels = r->kernels,
		.buffers = r->buffers,
		.room_ns = r->room_ns,
		.kernel_cap = r->kernel_cap,
		.buffer_cap = r->buffer_cap,
		.room_cap = r->room_cap,
		.ns = m->cycles * ns,
		.slot_ns = m->slot_cycles * ns,
		.slot_count = m->slot_count,
		.is_deadlocked = m->is_deadlocked };
	memset(r->kernels, 0, p->kernel_count * sizeof *r->kernels);
	for (size_t i = 0; i < p->buffer_count; i++) {
		r->room_ns[i] = m->buffers[i].room * ns;
		if (statistics)
			r->buffers[i] = m->buffers[i];
	}
	for (size_t i = 0; i < m->thread_count; i++) {
		const struct tdm_cb_thread *t = &m->threads[i];
		struct tdm_model_kernel *k = &r->kernels[m->kernel_of[i]];
		const struct tdm_cb_step *step = &t->steps[t->stuck_at];
		k->end_ns = fmax(k->end_ns, t->end * ns);
		k->transfers_ns += t->transfers * ns;
		k->pages_ns += t->pages * ns;
		k->room_ns += t->room * ns;
		if (t->is_stuck && step->op == TDM_CB_RESERVE && !m->buffers[step->buffer].is_hidden)
			r->room_ns[step->buffer] = INFINITY; /* more pages in this buffer might help */
	}
	for (size_t i = 0; i < p->kernel_count; i++) {
		double waits = r->kernels[i].pages_ns + r->kernels[i].room_ns;
		r->bottleneck = waits < least ? i : r->bottleneck;
		least = fmin(least, waits);
	}
	if (r->is_deadlocked)
		describe_deadlock(m, r);
	bool has_rate = !r->is_deadlocked && r->ns > 0;
	r->tiles_per_s = has_rate ? (double)p->tiles * 1e9 / r->ns : 0;
	r->bytes_per_s = has_rate ? bytes_moved(p) * 1e9 / r->ns : 0;
}
