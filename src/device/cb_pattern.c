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

static uint64_t rounds_of(const struct tdm_cb_pattern *p, const struct tdm_pattern_use *use)
{
	uint64_t total = p->buffers[use->buffer].total;
	return total / use->pages + (total % use->pages != 0);
}

uint64_t tdm_pattern_rounds(const struct tdm_cb_pattern *p, const struct tdm_pattern_stage *stage)
{
	return rounds_of(p, stage->push_count != 0 ? &stage->pushes[0] : &stage->pops[0]);
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
	if (*end != TDM_PATTERN_NONE)
		return tdm_diag_set(diag, TDM_EREFUSED, stage->line, 0,
			"%s %s buffer %" PRIu32 " twice: one stage can do it, with more pages",
			p->kernels[stage->kernel], is_push ? "pushes to" : "pops", b->index);
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

static int check_buffer(const struct tdm_cb_pattern *p, const struct tdm_pattern_buffer *b, struct tdm_diag *diag)
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
	(void)p;
	return 0;
}

/* All stages of a kernel make the same number of rounds, which each of their buffers confirms. */
static int check_rounds(const struct tdm_cb_pattern *p, struct tdm_diag *diag)
{
	uint64_t rounds[TDM_PATTERN_KERNELS_MAX] = { 0 };
	uint32_t from[TDM_PATTERN_KERNELS_MAX] = { 0 };
	for (size_t i = 0; i < p->stage_count; i++) {
		const struct tdm_pattern_stage *s = &p->stages[i];
		for (size_t k = 0; k < s->pop_count + s->push_count; k++) {
			const struct tdm_pattern_use *use =
				k < s->pop_count ? &s->pops[k] : &s->pushes[k - s->pop_count];
			uint64_t own = rounds_of(p, use);
			uint32_t index = p->buffers[use->buffer].index;
			if (rounds[s->kernel] != 0 && rounds[s->kernel] != own)
				return tdm_diag_set(diag, TDM_EREFUSED, s->line, 0,
					"%s makes %" PRIu64 " rounds for buffer %" PRIu32 ", but %" PRIu64
					" for buffer %" PRIu32 ": change its pages per round, or total=N of a buffer",
					p->kernels[s->kernel], rounds[s->kernel], from[s->kernel], own, index);
			rounds[s->kernel] = own;
			from[s->kernel] = index;
		}
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
	if (others != 0 && (s->ahead > 1 || s->ids != 0))
		return tdm_diag_set(diag, TDM_EREFUSED, s->line, 0,
			"%s has several stages: ahead and ids are for kernels with one", p->kernels[s->kernel]);
	for (size_t i = 0; i < p->stage_count; i++)
		if (p->stages[i].kernel == s->kernel &&
			(p->stages[i].work == TDM_STAGE_COMPUTE) != (s->work == TDM_STAGE_COMPUTE))
			return tdm_diag_set(diag, TDM_EREFUSED, s->line, 0,
				"%s both computes and moves data: these are two kernels", p->kernels[s->kernel]);
	return 0;
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
		err = check_buffer(p, &p->buffers[i], diag);
	return err != 0 ? err : check_rounds(p, diag);
}
