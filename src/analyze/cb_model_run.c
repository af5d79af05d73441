/* Runs a model, and says who waits for whom if it never ends. */
#include "analyze/cb_model.h"
#include "base/reserve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEADLOCK_REST = 64 }; /* room for the count of what does not fit */

/* The buffer of the pattern at which a thread is stuck; a thread that waits inside its kernel is stuck where the
 * thread that it waits for is. *is_room: it waits for free pages. */
static size_t stuck_buffer(const struct tdm_cb_model *m, size_t thread, bool *is_room)
{
	for (size_t tries = 0; tries <= m->thread_count; tries++) {
		const struct tdm_cb_step *step = &m->threads[thread].steps[m->thread_results[thread].stuck_at];
		const struct tdm_cb_buffer *buffer = &m->buffers[step->buffer];
		*is_room = step->op == TDM_CB_RESERVE || step->op == TDM_CB_PUSH;
		if (!buffer->is_hidden)
			return step->buffer;
		thread = *is_room ? buffer->consumer : buffer->producer;
		if (!m->thread_results[thread].is_stuck)
			break;
	}
	return SIZE_MAX;
}

static size_t first_stuck(const struct tdm_cb_model *m)
{
	for (size_t i = 0; i < m->thread_count; i++)
		if (m->thread_results[i].is_stuck)
			return i;
	return SIZE_MAX;
}

static uint32_t pages_wanted(const struct tdm_cb_model *m, size_t thread)
{
	return m->threads[thread].steps[m->thread_results[thread].stuck_at].pages;
}

/* One link of the chain: who waits, for what, and which thread could end that. SIZE_MAX: nobody can. */
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
	uint32_t pages = pages_wanted(m, thread);
	if (pages > depth) {
		tdm_buf_printf(out, "%s waits for %u %spages of buffer %u, which has only %u", name, pages,
			is_room ? "free " : "", index, depth);
		return SIZE_MAX;
	}
	size_t other = is_room ? m->buffers[buffer].consumer : m->buffers[buffer].producer;
	tdm_buf_printf(out, "%s waits for %s %s buffer %u, which %s %s", name, is_room ? "room" : "pages",
		is_room ? "in" : "of", index, p->kernels[m->kernel_of[other]].name,
		m->thread_results[other].is_stuck ? is_room ? "pops" : "pushes" : "has ended without giving");
	return m->thread_results[other].is_stuck ? other : SIZE_MAX;
}

/* Follows the waits until a thread comes up again. Threads before the cycle are left out, and so are those that do not
 * fit the text. */
static void describe_deadlock(const struct tdm_cb_model *m, struct tdm_model_result *result)
{
	struct tdm_buf out, link;
	size_t thread = first_stuck(m), hidden = 0;
	tdm_buf_init(&out);
	tdm_buf_init(&link);
	for (size_t i = 0; i < m->thread_count && thread != SIZE_MAX; i++) { /* into the cycle, if there is one */
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

/* More pages of these buffers might help. */
static void mark_full(const struct tdm_cb_model *m, struct tdm_model_result *result)
{
	for (size_t i = 0; i < m->thread_count; i++) {
		const struct tdm_cb_step *step = &m->threads[i].steps[m->thread_results[i].stuck_at];
		if (m->thread_results[i].is_stuck && step->op == TDM_CB_RESERVE && !m->buffers[step->buffer].is_hidden)
			result->room_ns[step->buffer] = INFINITY;
	}
}

static void give_kernels(const struct tdm_cb_model *m, struct tdm_model_result *result)
{
	double ns = 1e9 / m->clock_hz, least = INFINITY;
	for (size_t i = 0; i < m->thread_count; i++) {
		struct tdm_model_kernel *k = &result->kernels[m->kernel_of[i]];
		const struct tdm_cb_thread_result *t = &m->thread_results[i];
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

/* Empties a result and makes room in its lists. 0 or -ENOMEM. */
static int begin_result(const struct tdm_cb_pattern *p, bool statistics, struct tdm_model_result *r)
{
	int err = tdm_reserve(&r->kernels, &r->kernel_cap, p->kernel_count, sizeof *r->kernels);
	err = err != 0 ? err : tdm_reserve(&r->room_ns, &r->room_cap, p->buffer_count, sizeof *r->room_ns);
	if (err == 0 && statistics)
		err = tdm_reserve(&r->buffers, &r->buffer_cap, p->buffer_count, sizeof *r->buffers);
	*r = (struct tdm_model_result){ .kernels = r->kernels,
		.buffers = r->buffers,
		.room_ns = r->room_ns,
		.kernel_cap = r->kernel_cap,
		.buffer_cap = r->buffer_cap,
		.room_cap = r->room_cap };
	if (err == 0)
		memset(r->kernels, 0, p->kernel_count * sizeof *r->kernels);
	return err;
}

int tdm_cb_model_run(struct tdm_cb_model *m, const uint32_t *depths, bool statistics, struct tdm_model_result *result)
{
	struct tdm_cb_run run = { .threads = m->threads,
		.buffers = m->buffers,
		.thread_count = m->thread_count,
		.buffer_count = m->buffer_count,
		.statistics = statistics,
		.thread_results = m->thread_results,
		.buffer_results = m->buffer_results,
		.room = m->room };
	double ns = 1e9 / m->clock_hz;
	for (size_t i = 0; i < m->pattern->buffer_count; i++)
		m->buffers[i].pages = depths != NULL ? depths[i] : m->pattern->buffers[i].pages;
	int err = begin_result(m->pattern, statistics, result);
	err = err != 0 ? err : tdm_cb_simulate(&run);
	if (err != 0)
		return err;
	result->ns = run.cycles * ns;
	result->slot_ns = run.slot_cycles * ns;
	result->slot_count = run.slot_count;
	result->is_deadlocked = run.is_deadlocked;
	for (size_t i = 0; i < m->pattern->buffer_count; i++) {
		result->room_ns[i] = m->room[i] * ns;
		if (statistics)
			result->buffers[i] = m->buffer_results[i];
	}
	give_kernels(m, result);
	if (result->is_deadlocked) {
		mark_full(m, result);
		describe_deadlock(m, result);
	}
	bool has_rate = !result->is_deadlocked && result->ns > 0;
	result->tiles_per_s = has_rate ? (double)m->pattern->tiles * 1e9 / result->ns : 0;
	result->bytes_per_s = has_rate ? bytes_moved(m->pattern) * 1e9 / result->ns : 0;
	return 0;
}
