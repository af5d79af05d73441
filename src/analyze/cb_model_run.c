/* Runs a model, and says who waits for whom if it never ends. */
#include "analyze/cb_model.h"

#include <math.h>
#include <stdio.h>

struct result_parts {
	struct tdm_cb_thread_result threads[TDM_MODEL_THREADS_MAX];
	struct tdm_cb_buffer_result buffers[TDM_MODEL_BUFFERS_MAX];
	double room[TDM_MODEL_BUFFERS_MAX];
};

/* The buffer of the pattern at which a thread is stuck; a thread that waits inside its kernel is stuck where the
 * thread that it waits for is. *is_room: it waits for free pages. */
static size_t stuck_buffer(const struct tdm_cb_model *m, const struct result_parts *r, size_t thread, bool *is_room)
{
	for (size_t tries = 0; tries <= m->thread_count; tries++) {
		const struct tdm_cb_step *step = &m->threads[thread].steps[r->threads[thread].stuck_at];
		const struct tdm_cb_buffer *buffer = &m->buffers[step->buffer];
		*is_room = step->op == TDM_CB_RESERVE || step->op == TDM_CB_PUSH;
		if (!buffer->is_hidden)
			return step->buffer;
		thread = *is_room ? buffer->consumer : buffer->producer;
		if (!r->threads[thread].is_stuck)
			break;
	}
	return SIZE_MAX;
}

static size_t first_stuck(const struct tdm_cb_model *m, const struct result_parts *r, size_t kernel)
{
	for (size_t i = 0; i < m->thread_count; i++)
		if (r->threads[i].is_stuck && (kernel == SIZE_MAX || m->kernel_of[i] == kernel))
			return i;
	return SIZE_MAX;
}

static uint32_t pages_wanted(const struct tdm_cb_model *m, const struct result_parts *r, size_t thread)
{
	return m->threads[thread].steps[r->threads[thread].stuck_at].pages;
}

/* One link of the chain: who waits, for what, and which thread could end that. SIZE_MAX: nobody can. */
static size_t put_link(const struct tdm_cb_model *m, const struct result_parts *r, size_t thread, struct tdm_buf *out)
{
	const struct tdm_cb_pattern *p = m->pattern;
	bool is_room;
	size_t buffer = stuck_buffer(m, r, thread, &is_room);
	const char *name = p->kernels[m->kernel_of[thread]];
	if (buffer == SIZE_MAX) {
		tdm_buf_printf(out, "%s never ends", name);
		return SIZE_MAX;
	}
	uint32_t index = p->buffers[buffer].index, depth = m->buffers[buffer].pages;
	uint32_t pages = pages_wanted(m, r, thread);
	if (pages > depth) {
		tdm_buf_printf(out, "%s waits for %u %spages of buffer %u, which has only %u", name, pages,
			is_room ? "free " : "", index, depth);
		return SIZE_MAX;
	}
	size_t other = is_room ? m->buffers[buffer].consumer : m->buffers[buffer].producer;
	tdm_buf_printf(out, "%s waits for %s %s buffer %u, which %s %s", name, is_room ? "room" : "pages",
		is_room ? "in" : "of", index, p->kernels[m->kernel_of[other]],
		r->threads[other].is_stuck ? is_room ? "pops" : "pushes" : "has ended without giving");
	return r->threads[other].is_stuck ? other : SIZE_MAX;
}

/* Follows the waits until a thread comes up again. Threads before the cycle are left out. */
static void describe_deadlock(
	const struct tdm_cb_model *m, const struct result_parts *r, struct tdm_model_result *result)
{
	struct tdm_buf out, ignored;
	size_t thread = first_stuck(m, r, SIZE_MAX);
	tdm_buf_init(&out);
	tdm_buf_init(&ignored);
	for (size_t i = 0; i < m->thread_count && thread != SIZE_MAX; i++) { /* into the cycle, if there is one */
		size_t next = put_link(m, r, thread, &ignored);
		if (next == SIZE_MAX)
			break;
		thread = next;
	}
	for (size_t at = thread, i = 0; at != SIZE_MAX && i <= m->thread_count; i++) {
		tdm_buf_puts(&out, i != 0 ? "; " : "");
		at = put_link(m, r, at, &out);
		if (at == thread)
			break;
	}
	snprintf(result->deadlock, sizeof result->deadlock, "%s", out.data != NULL ? out.data : "");
	tdm_buf_done(&out);
	tdm_buf_done(&ignored);
}

/* More pages of these buffers might help. */
static void mark_full(const struct tdm_cb_model *m, const struct result_parts *r, struct tdm_model_result *result)
{
	for (size_t i = 0; i < m->thread_count; i++) {
		const struct tdm_cb_step *step = &m->threads[i].steps[r->threads[i].stuck_at];
		if (r->threads[i].is_stuck && step->op == TDM_CB_RESERVE && !m->buffers[step->buffer].is_hidden)
			result->room_ns[step->buffer] = INFINITY;
	}
}

static void give_kernels(const struct tdm_cb_model *m, const struct result_parts *r, struct tdm_model_result *result)
{
	double ns = 1e9 / m->clock_hz, least = INFINITY;
	for (size_t i = 0; i < m->thread_count; i++) {
		struct tdm_model_kernel *k = &result->kernels[m->kernel_of[i]];
		const struct tdm_cb_thread_result *t = &r->threads[i];
		k->end_ns = fmax(k->end_ns, t->end * ns);
		k->transfers_ns += t->transfers * ns;
		k->pages_ns += t->pages * ns;
		k->room_ns += t->room * ns;
	}
	for (size_t i = 0; i < m->pattern->kernel_count; i++) {
		double waits = result->kernels[i].pages_ns + result->kernels[i].room_ns;
		if (waits < least) {
			least = waits;
			result->bottleneck = i;
		}
	}
}

static double bytes_moved(const struct tdm_cb_pattern *p)
{
	double bytes = 0;
	for (size_t i = 0; i < p->stage_count; i++) {
		const struct tdm_pattern_stage *s = &p->stages[i];
		const struct tdm_pattern_use *uses = s->work == TDM_STAGE_READ ? s->pushes : s->pops;
		size_t count = s->work == TDM_STAGE_READ ? s->push_count : s->pop_count;
		for (size_t k = 0; k < count && s->work != TDM_STAGE_COMPUTE; k++)
			bytes += (double)p->buffers[uses[k].buffer].page_bytes *
				 (double)p->buffers[uses[k].buffer].total;
	}
	return bytes;
}

int tdm_cb_model_run(struct tdm_cb_model *m, const uint32_t *depths, bool statistics, struct tdm_model_result *result)
{
	struct result_parts r;
	struct tdm_cb_run run = { .threads = m->threads,
		.buffers = m->buffers,
		.thread_count = m->thread_count,
		.buffer_count = m->buffer_count,
		.statistics = statistics,
		.thread_results = r.threads,
		.buffer_results = r.buffers,
		.room = r.room };
	double ns = 1e9 / m->clock_hz;
	for (size_t i = 0; i < m->pattern->buffer_count; i++)
		m->buffers[i].pages = depths != NULL ? depths[i] : m->pattern->buffers[i].pages;
	int err = tdm_cb_simulate(&run);
	if (err != 0)
		return err;
	*result = (struct tdm_model_result){ .ns = run.cycles * ns,
		.slot_ns = run.slot_cycles * ns,
		.slot_count = run.slot_count,
		.is_deadlocked = run.is_deadlocked };
	for (size_t i = 0; i < m->pattern->buffer_count; i++) {
		result->room_ns[i] = r.room[i] * ns;
		if (statistics)
			result->buffers[i] = r.buffers[i];
	}
	give_kernels(m, &r, result);
	if (result->is_deadlocked) {
		mark_full(m, &r, result);
		describe_deadlock(m, &r, result);
	}
	bool has_rate = !result->is_deadlocked && result->ns > 0;
	result->tiles_per_s = has_rate ? (double)m->pattern->tiles * 1e9 / result->ns : 0;
	result->bytes_per_s = has_rate ? bytes_moved(m->pattern) * 1e9 / result->ns : 0;
	return 0;
}
