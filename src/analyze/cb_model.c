#include "analyze/cb_model.h"
#include "base/number.h"
#include "base/reserve.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { RELU_INSTRUCTIONS = 3, DST_HALVES = 2 };

/* Builds one thread after another; steps are added to the part of the thread that is being built. */
struct builder {
	struct tdm_cb_model *m;
	const struct tdm_core_speed *speed;
	bool is_copy; /* the pattern both reads and writes DRAM */
	bool no_memory;
};

static const struct tdm_pattern_use *push_of(const struct builder *b, const struct tdm_pattern_stage *s, size_t i)
{
	return tdm_pattern_use(b->m->pattern, &s->pushes, i);
}

static const struct tdm_pattern_use *pop_of(const struct builder *b, const struct tdm_pattern_stage *s, size_t i)
{
	return tdm_pattern_use(b->m->pattern, &s->pops, i);
}

static void add(struct builder *b, struct tdm_cb_step step)
{
	struct tdm_cb_model *m = b->m;
	if (tdm_reserve(&m->steps, &m->step_cap, m->step_count + 1, sizeof *m->steps) != 0)
		b->no_memory = true;
	else
		m->steps[m->step_count++] = step;
}

static void call(struct builder *b, enum tdm_cb_op op, size_t buffer, uint64_t pages)
{
	add(b, (struct tdm_cb_step){ .op = (uint8_t)op,
		       .buffer = (uint16_t)buffer,
		       .pages = (uint32_t)pages,
		       .cycles = b->speed->value[TDM_SPEED_CALL] });
}

/* A queue inside a kernel costs nothing. */
static void hidden_call(struct builder *b, enum tdm_cb_op op, size_t buffer)
{
	add(b, (struct tdm_cb_step){ .op = (uint8_t)op, .buffer = (uint16_t)buffer, .pages = 1 });
}

static void work(struct builder *b, double cycles)
{
	add(b, (struct tdm_cb_step){ .op = TDM_CB_WORK, .cycles = cycles });
}

/* Pages of a use in a round: those of the last round may be fewer. */
static uint64_t pages_of(const struct builder *b, const struct tdm_pattern_use *use, bool is_last)
{
	const struct tdm_cb_pattern *p = b->m->pattern;
	uint64_t rest = p->buffers[use->buffer].total % use->pages;
	return is_last && rest != 0 ? rest : use->pages;
}

static void transfer(
	struct builder *b, const struct tdm_pattern_stage *s, const struct tdm_pattern_use *use, uint64_t pages)
{
	const struct tdm_cb_pattern *p = b->m->pattern;
	enum tdm_speed_way way = s->work == TDM_STAGE_READ ? s->is_l1 ? TDM_WAY_L1_READ : TDM_WAY_DRAM_READ
				 : s->is_l1                ? TDM_WAY_L1_WRITE
							   : TDM_WAY_DRAM_WRITE;
	struct tdm_transfer t =
		tdm_core_speed_transfer(b->speed, way, p->buffers[use->buffer].page_bytes, b->is_copy, p->cores);
	add(b, (struct tdm_cb_step){ .op = TDM_CB_ISSUE,
		       .pages = (uint32_t)pages,
		       .cycles = t.issue,
		       .link = t.link,
		       .arrival = t.arrival });
}

/* Reads `blocks` blocks behind one barrier and pushes them one by one. */
static void read_blocks(struct builder *b, const struct tdm_pattern_stage *s, uint64_t blocks, bool is_last)
{
	for (size_t i = 0; i < s->pushes.count; i++)
		call(b, TDM_CB_RESERVE, push_of(b, s, i)->buffer, blocks * pages_of(b, push_of(b, s, i), is_last));
	for (size_t i = 0; i < s->pushes.count; i++)
		transfer(b, s, push_of(b, s, i), blocks * pages_of(b, push_of(b, s, i), is_last));
	add(b, (struct tdm_cb_step){ .op = TDM_CB_BARRIER });
	for (uint64_t k = 0; k < blocks; k++)
		for (size_t i = 0; i < s->pushes.count; i++)
			call(b, TDM_CB_PUSH, push_of(b, s, i)->buffer, pages_of(b, push_of(b, s, i), is_last));
}

static void retire_block(struct builder *b, const struct tdm_pattern_stage *s)
{
	for (size_t i = 0; i < s->pushes.count; i++) {
		add(b, (struct tdm_cb_step){ .op = TDM_CB_RETIRE });
		call(b, TDM_CB_PUSH, push_of(b, s, i)->buffer, push_of(b, s, i)->pages);
	}
}

/* Starts to read a block while `in_flight` others are on their way. */
static void start_block(struct builder *b, const struct tdm_pattern_stage *s, uint64_t in_flight)
{
	for (size_t i = 0; i < s->pushes.count; i++)
		call(b, TDM_CB_RESERVE, push_of(b, s, i)->buffer, (in_flight + 1) * push_of(b, s, i)->pages);
	for (size_t i = 0; i < s->pushes.count; i++)
		transfer(b, s, push_of(b, s, i), push_of(b, s, i)->pages);
}

static void write_block(struct builder *b, const struct tdm_pattern_stage *s, bool is_last)
{
	for (size_t i = 0; i < s->pops.count; i++)
		call(b, TDM_CB_WAIT, pop_of(b, s, i)->buffer, pages_of(b, pop_of(b, s, i), is_last));
	for (size_t i = 0; i < s->pops.count; i++)
		transfer(b, s, pop_of(b, s, i), pages_of(b, pop_of(b, s, i), is_last));
	add(b, s->is_flush ? (struct tdm_cb_step){ .op = TDM_CB_FLUSH, .cycles = b->speed->value[TDM_SPEED_FLUSH] }
			   : (struct tdm_cb_step){ .op = TDM_CB_BARRIER });
	for (size_t i = 0; i < s->pops.count; i++)
		call(b, TDM_CB_POP, pop_of(b, s, i)->buffer, pages_of(b, pop_of(b, s, i), is_last));
}

static struct tdm_cb_thread *begin_thread(struct builder *b, size_t kernel)
{
	struct tdm_cb_model *m = b->m;
	m->kernel_of[m->thread_count] = (uint16_t)kernel;
	m->threads[m->thread_count] = (struct tdm_cb_thread){ 0 };
	return &m->threads[m->thread_count++];
}

/* Only a buffer that is used once in a round can have a rest. */
static bool has_partial(
	const struct tdm_cb_pattern *p, const struct tdm_pattern_stage *s, const struct tdm_pattern_use *use)
{
	uint64_t rounds = p->kernels[s->kernel].rounds, total = p->buffers[use->buffer].total;
	return s->times == 1 && total < rounds * use->pages;
}

/* The rounds of a kernel that are all alike, and whether one with fewer pages follows. */
static uint64_t full_rounds(const struct tdm_cb_pattern *p, size_t kernel, bool *has_rest)
{
	*has_rest = false;
	for (size_t i = p->kernels[kernel].first; i < p->stage_count; i = p->stages[i].next) {
		const struct tdm_pattern_stage *s = &p->stages[i];
		for (size_t k = 0; k < s->pushes.count; k++)
			*has_rest |= has_partial(p, s, tdm_pattern_use(p, &s->pushes, k));
		for (size_t k = 0; k < s->pops.count; k++)
			*has_rest |= has_partial(p, s, tdm_pattern_use(p, &s->pops, k));
	}
	return p->kernels[kernel].rounds - *has_rest;
}

/* A reader with several blocks in flight, each with its own id. */
static void build_ids(struct builder *b, const struct tdm_pattern_stage *s, struct tdm_cb_thread *t, uint64_t full)
{
	size_t at = b->m->step_count;
	uint64_t ids = tdm_min(s->ids, full);
	for (uint64_t i = 0; i < ids; i++)
		start_block(b, s, i);
	t->head = b->m->step_count - at;
	at = b->m->step_count;
	t->repeat = full - ids;
	retire_block(b, s);
	start_block(b, s, ids != 0 ? ids - 1 : 0);
	t->body = b->m->step_count - at;
	for (uint64_t i = 0; i < ids; i++)
		retire_block(b, s);
}

static void build_round(struct builder *b, size_t kernel, uint64_t ahead, bool is_last)
{
	const struct tdm_cb_pattern *p = b->m->pattern;
	for (size_t i = p->kernels[kernel].first; i < p->stage_count; i = p->stages[i].next)
		for (uint32_t t = 0; t < p->stages[i].times; t++)
			if (p->stages[i].work == TDM_STAGE_READ)
				read_blocks(b, &p->stages[i], ahead, is_last);
			else
				write_block(b, &p->stages[i], is_last);
}

/* `s`: the first stage of the kernel. */
static void build_mover(struct builder *b, const struct tdm_pattern_stage *s)
{
	bool has_rest;
	uint64_t full = full_rounds(b->m->pattern, s->kernel, &has_rest);
	struct tdm_cb_thread *t = begin_thread(b, s->kernel);
	size_t first = b->m->step_count;
	if (s->ids != 0) {
		build_ids(b, s, t, full);
	} else {
		build_round(b, s->kernel, s->ahead, false);
		t->body = b->m->step_count - first;
		t->repeat = full / s->ahead;
		if (full % s->ahead != 0)
			build_round(b, s->kernel, full % s->ahead, false);
	}
	if (has_rest)
		build_round(b, s->kernel, 1, true);
	if (s->is_flush)
		add(b, (struct tdm_cb_step){ .op = TDM_CB_BARRIER });
	t->tail = b->m->step_count - first - t->head - t->body;
}

double tdm_stage_math(const struct tdm_pattern_stage *s, const struct tdm_core_speed *speed)
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

struct compute {
	size_t kernel, src, dst; /* src, dst: the hidden buffers */
	enum { UNPACK, MATH, PACK } role;
};

static uint64_t most_pages(const struct builder *b, const struct tdm_pattern_stage *s, bool is_last)
{
	uint64_t most = 0;
	for (size_t i = 0; i < s->pops.count; i++)
		most = tdm_max(most, pages_of(b, pop_of(b, s, i), is_last));
	for (size_t i = 0; i < s->pushes.count; i++)
		most = tdm_max(most, pages_of(b, push_of(b, s, i), is_last));
	return most;
}

static void unpack_round(struct builder *b, const struct compute *c, const struct tdm_pattern_stage *s, bool is_last)
{
	double bytes = 0;
	for (size_t i = 0; i < s->pops.count; i++) {
		uint64_t pages = pages_of(b, pop_of(b, s, i), is_last);
		call(b, TDM_CB_WAIT, pop_of(b, s, i)->buffer, pages);
		/* Two unpackers work side by side, so the larger operand counts. */
		bytes = fmax(bytes, (double)(pages * b->m->pattern->buffers[pop_of(b, s, i)->buffer].page_bytes));
	}
	hidden_call(b, TDM_CB_RESERVE, c->src);
	work(b, bytes / b->speed->value[TDM_SPEED_UNPACK_BANDWIDTH]);
	hidden_call(b, TDM_CB_PUSH, c->src);
	for (size_t i = 0; i < s->pops.count; i++)
		call(b, TDM_CB_POP, pop_of(b, s, i)->buffer, pages_of(b, pop_of(b, s, i), is_last));
}

static void math_round(struct builder *b, const struct compute *c, const struct tdm_pattern_stage *s, bool is_last)
{
	hidden_call(b, TDM_CB_WAIT, c->src);
	hidden_call(b, TDM_CB_RESERVE, c->dst);
	work(b, b->speed->value[TDM_SPEED_MATH_ROUND] +
			(double)most_pages(b, s, is_last) * tdm_stage_math(s, b->speed));
	hidden_call(b, TDM_CB_POP, c->src);
	hidden_call(b, TDM_CB_PUSH, c->dst);
}

static void pack_round(struct builder *b, const struct compute *c, const struct tdm_pattern_stage *s, bool is_last)
{
	const double *v = b->speed->value;
	double cycles = 0;
	for (size_t i = 0; i < s->pushes.count; i++) {
		uint64_t pages = pages_of(b, push_of(b, s, i), is_last);
		call(b, TDM_CB_RESERVE, push_of(b, s, i)->buffer, pages);
		cycles += (double)pages * ((double)b->m->pattern->buffers[push_of(b, s, i)->buffer].page_bytes /
							  v[TDM_SPEED_PACK_BANDWIDTH] +
						  v[TDM_SPEED_PACK_FIXED]);
	}
	hidden_call(b, TDM_CB_WAIT, c->dst);
	work(b, cycles);
	hidden_call(b, TDM_CB_POP, c->dst);
	for (size_t i = 0; i < s->pushes.count; i++)
		call(b, TDM_CB_PUSH, push_of(b, s, i)->buffer, pages_of(b, push_of(b, s, i), is_last));
}

static void compute_round(struct builder *b, const struct compute *c, bool is_last)
{
	const struct tdm_cb_pattern *p = b->m->pattern;
	void (*round)(struct builder *, const struct compute *, const struct tdm_pattern_stage *, bool) =
		c->role == UNPACK ? unpack_round
		: c->role == MATH ? math_round
				  : pack_round;
	for (size_t i = p->kernels[c->kernel].first; i < p->stage_count; i = p->stages[i].next)
		for (uint32_t t = 0; t < p->stages[i].times; t++)
			round(b, c, &p->stages[i], is_last);
}

static void build_compute(struct builder *b, size_t kernel)
{
	struct tdm_cb_model *m = b->m;
	struct compute c = { kernel, m->buffer_count, m->buffer_count + 1, UNPACK };
	uint16_t first = (uint16_t)m->thread_count;
	m->buffers[m->buffer_count++] = (struct tdm_cb_buffer){ 1, first, (uint16_t)(first + 1), true, true, 0 };
	m->buffers[m->buffer_count++] =
		(struct tdm_cb_buffer){ DST_HALVES, (uint16_t)(first + 1), (uint16_t)(first + 2), true, true, 0 };
	bool has_rest;
	uint64_t full = full_rounds(m->pattern, kernel, &has_rest);
	for (int role = UNPACK; role <= PACK; role++) {
		struct tdm_cb_thread *t = begin_thread(b, kernel);
		size_t at = m->step_count;
		c.role = role;
		compute_round(b, &c, false);
		t->body = m->step_count - at;
		t->repeat = full;
		if (has_rest)
			compute_round(b, &c, true);
		t->tail = m->step_count - at - t->body;
	}
}

static const struct tdm_pattern_stage *first_stage(const struct tdm_cb_pattern *p, size_t kernel)
{
	return &p->stages[p->kernels[kernel].first];
}

/* Threads of a kernel that push and pop: of a computation the last and the first. */
static void join_buffers(struct tdm_cb_model *m, const struct tdm_core_speed *speed, const uint16_t *first_of)
{
	for (size_t i = 0; i < m->pattern->buffer_count; i++) {
		const struct tdm_pattern_buffer *b = &m->pattern->buffers[i];
		bool computes = first_stage(m->pattern, b->producer)->work == TDM_STAGE_COMPUTE;
		m->buffers[i] = (struct tdm_cb_buffer){ .pages = b->pages,
			.producer = (uint16_t)(first_of[b->producer] + (computes ? PACK : UNPACK)),
			.consumer = (uint16_t)first_of[b->consumer],
			.is_inner = b->producer == b->consumer,
			.sync = speed->value[TDM_SPEED_SYNC] };
	}
}

static bool reads_and_writes_dram(const struct tdm_cb_pattern *p)
{
	bool reads = false, writes = false;
	for (size_t i = 0; i < p->stage_count; i++) {
		reads |= p->stages[i].work == TDM_STAGE_READ && !p->stages[i].is_l1;
		writes |= p->stages[i].work == TDM_STAGE_WRITE && !p->stages[i].is_l1;
	}
	return reads && writes;
}

/* Lists for three threads and two hidden buffers of each kernel. */
static bool make_lists(struct tdm_cb_model *m)
{
	size_t threads = 3 * m->pattern->kernel_count, buffers = m->buffer_count + 2 * m->pattern->kernel_count;
	m->threads = calloc(threads, sizeof *m->threads);
	m->kernel_of = calloc(threads, sizeof *m->kernel_of);
	m->thread_results = calloc(threads, sizeof *m->thread_results);
	m->buffers = calloc(buffers, sizeof *m->buffers);
	m->buffer_results = calloc(buffers, sizeof *m->buffer_results);
	m->room = calloc(buffers, sizeof *m->room);
	return m->threads != NULL && m->kernel_of != NULL && m->thread_results != NULL && m->buffers != NULL &&
	       m->buffer_results != NULL && m->room != NULL;
}

/* `first_of`: room for the first thread of each kernel. */
static void build(struct builder *b, uint16_t *first_of)
{
	struct tdm_cb_model *m = b->m;
	for (size_t i = 0; i < m->pattern->kernel_count; i++) {
		const struct tdm_pattern_stage *s = first_stage(m->pattern, i);
		first_of[i] = (uint16_t)m->thread_count;
		if (s->work == TDM_STAGE_COMPUTE)
			build_compute(b, i);
		else
			build_mover(b, s);
	}
	join_buffers(m, b->speed, first_of);
	size_t at = 0;
	for (size_t i = 0; i < m->thread_count; i++) {
		m->threads[i].steps = m->steps + at;
		at += m->threads[i].head + m->threads[i].body + m->threads[i].tail;
	}
}

int tdm_cb_model_init(struct tdm_cb_model *m, const struct tdm_cb_pattern *pattern, const struct tdm_core_speed *speed)
{
	struct builder b = { m, speed, reads_and_writes_dram(pattern), false };
	*m = (struct tdm_cb_model){ .pattern = pattern,
		.clock_hz = speed->value[TDM_SPEED_CLOCK] * 1e6,
		.buffer_count = pattern->buffer_count };
	uint16_t *first_of = calloc(pattern->kernel_count, sizeof *first_of);
	if (first_of != NULL && make_lists(m))
		build(&b, first_of);
	else
		b.no_memory = true;
	free(first_of);
	if (b.no_memory)
		tdm_cb_model_done(m);
	return b.no_memory ? -ENOMEM : 0;
}

void tdm_cb_model_done(struct tdm_cb_model *m)
{
	free(m->steps);
	free(m->threads);
	free(m->kernel_of);
	free(m->buffers);
	free(m->thread_results);
	free(m->buffer_results);
	free(m->room);
	*m = (struct tdm_cb_model){ 0 };
}
