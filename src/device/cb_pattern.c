#include "device/cb_pattern.h"
#include "base/err.h"

#include <inttypes.h>

static const char *const op_names[] = {
#define X(id, name) name,
	TDM_TILE_OP_LIST(X)
#undef X
};

const char *tdm_tile_op_name(enum tdm_tile_op op)
{
	return op_names[op];
}

/* Pages of a buffer that a kernel pushes, or pops, in one round; *calls: in how many calls. */
static uint64_t pages_per_round(
	const struct tdm_cb_pattern *p, size_t kernel, size_t buffer, bool is_push, uint64_t *calls)
{
	uint64_t pages = 0;
	*calls = 0;
	for (size_t i = 0; i < p->stage_count; i++) {
		const struct tdm_pattern_stage *s = &p->stages[i];
		const struct tdm_pattern_use *uses = is_push ? s->pushes : s->pops;
		for (size_t k = 0; s->kernel == kernel && k < (is_push ? s->push_count : s->pop_count); k++)
			if (uses[k].buffer == buffer) {
				pages += (uint64_t)uses[k].pages * s->times;
				*calls += s->times;
			}
	}
	return pages;
}

static uint64_t rounds_of(const struct tdm_cb_pattern *p, size_t kernel, size_t buffer, bool is_push)
{
	uint64_t calls, total = p->buffers[buffer].total;
	uint64_t pages = pages_per_round(p, kernel, buffer, is_push, &calls);
	return total / pages + (total % pages != 0);
}

uint64_t tdm_pattern_rounds(const struct tdm_cb_pattern *p, size_t kernel)
{
	for (size_t i = 0; i < p->buffer_count; i++)
		if (p->buffers[i].producer == kernel || p->buffers[i].consumer == kernel)
			return rounds_of(p, kernel, i, p->buffers[i].producer == kernel);
	return 0;
}

/* Calls `take` with every use of the buffer and the pages that its stage holds at once. */
static void each_use(const struct tdm_cb_pattern *p, size_t buffer, uint64_t *value,
	void (*take)(uint64_t *value, uint64_t pages, uint64_t held))
{
	for (size_t i = 0; i < p->stage_count; i++) {
		const struct tdm_pattern_stage *s = &p->stages[i];
		for (size_t k = 0; k < s->push_count; k++)
			if (s->pushes[k].buffer == buffer) {
				uint64_t pages = s->pushes[k].pages, blocks = s->ids != 0 ? s->ids : s->ahead;
				take(value, pages, pages * blocks);
			}
		for (size_t k = 0; k < s->pop_count; k++)
			if (s->pops[k].buffer == buffer)
				take(value, s->pops[k].pages, s->pops[k].pages);
	}
}

static uint64_t divisor(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

static void take_step(uint64_t *step, uint64_t pages, uint64_t held)
{
	(void)held;
	*step = *step / divisor(*step, pages) * pages;
	*step = *step > UINT32_MAX ? UINT32_MAX : *step;
}

static void take_least(uint64_t *least, uint64_t pages, uint64_t held)
{
	(void)pages;
	*least = held > *least ? held : *least;
}

uint32_t tdm_pattern_step(const struct tdm_cb_pattern *p, size_t buffer)
{
	uint64_t step = 1;
	each_use(p, buffer, &step, take_step);
	return (uint32_t)step;
}

uint32_t tdm_pattern_least(const struct tdm_cb_pattern *p, size_t buffer)
{
	uint64_t least = 1, step = tdm_pattern_step(p, buffer);
	each_use(p, buffer, &least, take_least);
	least = (least + step - 1) / step * step;
	return least < UINT32_MAX ? (uint32_t)least : UINT32_MAX;
}

static int set_end(struct tdm_cb_pattern *p, const struct tdm_pattern_stage *stage, const struct tdm_pattern_use *use,
	bool is_push, struct tdm_diag *diag)
{
	struct tdm_pattern_buffer *b = &p->buffers[use->buffer];
	uint8_t *end = is_push ? &b->producer : &b->consumer;
	if (*end != TDM_PATTERN_NONE && *end != stage->kernel)
		return tdm_diag_set(diag, TDM_EREFUSED, stage->line, 0,
			"both %s and %s %s buffer %" PRIu32 ", which has one %s: give one of them another buffer",
			p->kernels[*end], p->kernels[stage->kernel], is_push ? "push to" : "pop", b->index,
			is_push ? "producer" : "consumer");
	*end = stage->kernel;
	return 0;
}

static int set_ends(struct tdm_cb_pattern *p, struct tdm_diag *diag)
{
	int err = 0;
	for (size_t i = 0; i < p->buffer_count; i++)
		p->buffers[i].producer = p->buffers[i].consumer = TDM_PATTERN_NONE;
	for (size_t i = 0; i < p->stage_count && err == 0; i++) {
		const struct tdm_pattern_stage *s = &p->stages[i];
		for (size_t k = 0; k < s->push_count && err == 0; k++)
			err = set_end(p, s, &s->pushes[k], true, diag);
		for (size_t k = 0; k < s->pop_count && err == 0; k++)
			err = set_end(p, s, &s->pops[k], false, diag);
	}
	return err;
}

static int check_buffer(const struct tdm_pattern_buffer *b, struct tdm_diag *diag)
{
	if (b->page_bytes == 0 || b->pages == 0)
		return tdm_diag_set(diag, TDM_EREFUSED, b->line, 0,
			"buffer %" PRIu32 " has no %s: give %s=N, at least 1", b->index,
			b->pages == 0 ? "pages" : "page size", b->pages == 0 ? "pages" : "page");
	if (b->page_bytes > TDM_PATTERN_PAGE_MAX)
		return tdm_diag_set(diag, TDM_EREFUSED, b->line, 0,
			"buffer %" PRIu32 ": a page has at most %" PRIu64 " bytes", b->index, TDM_PATTERN_PAGE_MAX);
	if (b->producer == TDM_PATTERN_NONE || b->consumer == TDM_PATTERN_NONE)
		return tdm_diag_set(diag, TDM_EREFUSED, b->line, 0,
			"no kernel %s buffer %" PRIu32 ": add %s=%" PRIu32 ":1 to one, or remove the buffer",
			b->producer == TDM_PATTERN_NONE ? "pushes to" : "pops", b->index,
			b->producer == TDM_PATTERN_NONE ? "push" : "pop", b->index);
	return 0;
}

/* A last round with fewer pages is possible only if nothing else of the round is repeated. */
static int check_rest(const struct tdm_cb_pattern *p, size_t kernel, size_t buffer, bool is_push, struct tdm_diag *diag)
{
	const struct tdm_pattern_buffer *b = &p->buffers[buffer];
	uint64_t calls, pages = pages_per_round(p, kernel, buffer, is_push, &calls);
	if (calls == 1 || b->total % pages == 0)
		return 0;
	return tdm_diag_set(diag, TDM_EREFUSED, b->line, 0,
		"%s %s %" PRIu64 " pages of buffer %" PRIu32 " in a round, and %" PRIu64
		" go through it: give it a multiple with total=N",
		p->kernels[kernel], is_push ? "pushes" : "pops", pages, b->index, b->total);
}

/* All buffers of a kernel give the same number of rounds. */
static int check_rounds(const struct tdm_cb_pattern *p, size_t kernel, struct tdm_diag *diag)
{
	uint64_t rounds = 0;
	uint32_t from = 0;
	for (size_t k = 0; k < 2 * p->buffer_count; k++) {
		const struct tdm_pattern_buffer *b = &p->buffers[k / 2];
		bool is_push = k % 2 == 0;
		if ((is_push ? b->producer : b->consumer) != kernel)
			continue;
		uint64_t own = rounds_of(p, kernel, k / 2, is_push);
		if (rounds != 0 && rounds != own)
			return tdm_diag_set(diag, TDM_EREFUSED, b->line, 0,
				"%s makes %" PRIu64 " rounds for buffer %" PRIu32 ", but %" PRIu64
				" for buffer %" PRIu32 ": change its pages per round, or total=N of a buffer",
				p->kernels[kernel], rounds, from, own, b->index);
		rounds = own;
		from = b->index;
		int err = check_rest(p, kernel, k / 2, is_push, diag);
		if (err != 0)
			return err;
	}
	return 0;
}

static int check_stage(const struct tdm_cb_pattern *p, const struct tdm_pattern_stage *s, struct tdm_diag *diag)
{
	size_t others = 0;
	for (size_t i = 0; i < p->stage_count; i++)
		others += &p->stages[i] != s && p->stages[i].kernel == s->kernel;
	if (s->push_count + s->pop_count == 0)
		return tdm_diag_set(diag, TDM_EREFUSED, s->line, 0, "%s uses no buffer: add pop=N or push=N",
			p->kernels[s->kernel]);
	if ((s->work == TDM_STAGE_READ && s->pop_count != 0) || (s->work == TDM_STAGE_WRITE && s->push_count != 0))
		return tdm_diag_set(diag, TDM_EREFUSED, s->line, 0,
			"%s %s: a kernel that does both is two kernels, or a computation", p->kernels[s->kernel],
			s->work == TDM_STAGE_READ ? "reads, and so only pushes" : "writes, and so only pops");
	if ((others != 0 || s->times > 1) && (s->ahead > 1 || s->ids != 0))
		return tdm_diag_set(diag, TDM_EREFUSED, s->line, 0,
			"%s does several things in a round: ahead and ids are for kernels that do one",
			p->kernels[s->kernel]);
	for (size_t i = 0; i < p->stage_count; i++)
		if (p->stages[i].kernel == s->kernel &&
			(p->stages[i].work == TDM_STAGE_COMPUTE) != (s->work == TDM_STAGE_COMPUTE))
			return tdm_diag_set(diag, TDM_EREFUSED, s->line, 0,
				"%s both computes and moves data: these are two kernels", p->kernels[s->kernel]);
	return 0;
}

static int check_length(const struct tdm_cb_pattern *p, struct tdm_diag *diag)
{
	uint64_t pages = 0;
	for (size_t i = 0; i < p->buffer_count; i++)
		pages += p->buffers[i].total;
	if (pages <= TDM_PATTERN_PAGES_MAX)
		return 0;
	return tdm_diag_set(diag, TDM_EREFUSED, 0, 0,
		"%" PRIu64 " pages go through the buffers, and %" PRIu64 " are possible: take fewer tiles", pages,
		TDM_PATTERN_PAGES_MAX);
}

int tdm_pattern_settle(struct tdm_cb_pattern *p, struct tdm_diag *diag)
{
	int err = p->stage_count == 0
			  ? tdm_diag_set(diag, TDM_EREFUSED, 0, 0, "there is no kernel: add 'kernel NAME ...'")
			  : 0;
	for (size_t i = 0; i < p->stage_count && err == 0; i++)
		err = check_stage(p, &p->stages[i], diag);
	if (err == 0)
		err = set_ends(p, diag);
	for (size_t i = 0; i < p->buffer_count && err == 0; i++)
		err = check_buffer(&p->buffers[i], diag);
	err = err != 0 ? err : check_length(p, diag);
	for (size_t i = 0; i < p->kernel_count && err == 0; i++)
		err = check_rounds(p, i, diag);
	return err;
}
