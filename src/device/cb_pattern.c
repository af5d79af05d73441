#include "device/cb_pattern.h"
#include "base/err.h"
#include "base/number.h"
#include "base/reserve.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const op_names[] = {
#define X(id, name) name,
	TDM_TILE_OP_LIST(X)
#undef X
};

const char *tdm_tile_op_name(enum tdm_tile_op op)
{
	return op_names[op];
}

bool tdm_pattern_is_file(const char *name)
{
	size_t len = strlen(name), end = sizeof TDM_PATTERN_ENDING - 1;
	return len > end && strcmp(name + len - end, TDM_PATTERN_ENDING) == 0;
}

void tdm_pattern_done(struct tdm_cb_pattern *p)
{
	free(p->buffers);
	free(p->kernels);
	free(p->stages);
	free(p->uses);
	*p = (struct tdm_cb_pattern){ 0 };
}

static int copy_list(void *to, size_t *cap, const void *from, size_t count, size_t item)
{
	int err = tdm_reserve(to, cap, count, item);
	if (err == 0 && count != 0)
		memcpy(*(void **)to, from, count * item);
	return err;
}

int tdm_pattern_copy(const struct tdm_cb_pattern *p, struct tdm_cb_pattern *copy)
{
	*copy = *p;
	copy->buffers = NULL;
	copy->kernels = NULL;
	copy->stages = NULL;
	copy->uses = NULL;
	copy->buffer_cap = copy->kernel_cap = copy->stage_cap = copy->use_cap = 0;
	if (copy_list(&copy->buffers, &copy->buffer_cap, p->buffers, p->buffer_count, sizeof *p->buffers) == 0 &&
		copy_list(&copy->kernels, &copy->kernel_cap, p->kernels, p->kernel_count, sizeof *p->kernels) == 0 &&
		copy_list(&copy->stages, &copy->stage_cap, p->stages, p->stage_count, sizeof *p->stages) == 0 &&
		copy_list(&copy->uses, &copy->use_cap, p->uses, p->use_count, sizeof *p->uses) == 0)
		return 0;
	tdm_pattern_done(copy);
	return -ENOMEM;
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

/* Counts what a stage does with a buffer: in one round, and for the depths that are possible. */
static void count_use(struct tdm_pattern_buffer *b, const struct tdm_pattern_stage *s,
	const struct tdm_pattern_use *use, bool is_push)
{
	struct tdm_pattern_flow *flow = is_push ? &b->pushed : &b->popped;
	uint64_t blocks = !is_push ? 1 : s->ids != 0 ? s->ids : s->ahead;
	uint64_t step = b->step / divisor(b->step, use->pages) * (uint64_t)use->pages;
	flow->pages += (uint64_t)use->pages * s->times;
	flow->calls += s->times;
	b->step = (uint32_t)tdm_min(step, UINT32_MAX);
	b->least = (uint32_t)tdm_max(b->least, tdm_min(blocks * use->pages, UINT32_MAX));
}

static int set_end(struct tdm_cb_pattern *p, const struct tdm_pattern_stage *stage, const struct tdm_pattern_use *use,
	bool is_push, struct tdm_diag *diag)
{
	struct tdm_pattern_buffer *b = &p->buffers[use->buffer];
	uint16_t *end = is_push ? &b->producer : &b->consumer;
	if (*end != TDM_PATTERN_NONE && *end != stage->kernel)
		return tdm_diag_set(diag, TDM_EREFUSED, stage->line, 0,
			"both %s and %s %s buffer %" PRIu32 ", which has one %s: give one of them another buffer",
			p->kernels[*end].name, p->kernels[stage->kernel].name, is_push ? "push to" : "pop", b->index,
			is_push ? "producer" : "consumer");
	*end = stage->kernel;
	count_use(b, stage, use, is_push);
	return 0;
}

static int set_ends(struct tdm_cb_pattern *p, struct tdm_diag *diag)
{
	int err = 0;
	for (size_t i = 0; i < p->buffer_count; i++) {
		struct tdm_pattern_buffer *b = &p->buffers[i];
		b->producer = b->consumer = TDM_PATTERN_NONE;
		b->step = b->least = 1;
		b->pushed = b->popped = (struct tdm_pattern_flow){ 0 };
	}
	for (size_t i = 0; i < p->stage_count && err == 0; i++) {
		const struct tdm_pattern_stage *s = &p->stages[i];
		for (size_t k = 0; k < s->pushes.count && err == 0; k++)
			err = set_end(p, s, tdm_pattern_use(p, &s->pushes, k), true, diag);
		for (size_t k = 0; k < s->pops.count && err == 0; k++)
			err = set_end(p, s, tdm_pattern_use(p, &s->pops, k), false, diag);
	}
	for (size_t i = 0; i < p->buffer_count; i++) {
		struct tdm_pattern_buffer *b = &p->buffers[i];
		uint64_t least = ((uint64_t)b->least + b->step - 1) / b->step * b->step;
		b->least = (uint32_t)tdm_min(least, UINT32_MAX);
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

/* Counts the rounds that the producer or the consumer of a buffer makes. A last round with fewer pages is possible only
 * if nothing else of the round is repeated. */
static int count_rounds(struct tdm_cb_pattern *p, size_t buffer, bool is_push, struct tdm_diag *diag)
{
	const struct tdm_pattern_buffer *b = &p->buffers[buffer];
	const struct tdm_pattern_flow *flow = is_push ? &b->pushed : &b->popped;
	struct tdm_pattern_kernel *kernel = &p->kernels[is_push ? b->producer : b->consumer];
	uint64_t rounds = b->total / flow->pages + (b->total % flow->pages != 0);
	if (kernel->rounds != 0 && kernel->rounds != rounds)
		return tdm_diag_set(diag, TDM_EREFUSED, b->line, 0,
			"%s makes %" PRIu64 " rounds for buffer %" PRIu32 ", but %" PRIu64 " for buffer %" PRIu32
			": change its pages per round, or total=N of a buffer",
			kernel->name, kernel->rounds, p->buffers[kernel->counted_by].index, rounds, b->index);
	kernel->rounds = rounds;
	kernel->counted_by = (uint16_t)buffer;
	if (flow->calls == 1 || b->total % flow->pages == 0)
		return 0;
	return tdm_diag_set(diag, TDM_EREFUSED, b->line, 0,
		"%s %s %" PRIu64 " pages of buffer %" PRIu32 " in a round, and %" PRIu64
		" go through it: give it a multiple with total=N",
		kernel->name, is_push ? "pushes" : "pops", flow->pages, b->index, b->total);
}

/* Makes the stages of each kernel a list. */
static void link_stages(struct tdm_cb_pattern *p)
{
	for (size_t i = 0; i < p->kernel_count; i++) {
		p->kernels[i].first = p->kernels[i].last = (uint32_t)p->stage_count;
		p->kernels[i].rounds = 0;
	}
	for (size_t i = 0; i < p->stage_count; i++) {
		struct tdm_pattern_kernel *kernel = &p->kernels[p->stages[i].kernel];
		if (kernel->first == p->stage_count)
			kernel->first = (uint32_t)i;
		else
			p->stages[kernel->last].next = (uint32_t)i;
		kernel->last = (uint32_t)i;
		p->stages[i].next = (uint32_t)p->stage_count;
	}
}

static int check_stage(const struct tdm_cb_pattern *p, const struct tdm_pattern_stage *s, struct tdm_diag *diag)
{
	const struct tdm_pattern_kernel *kernel = &p->kernels[s->kernel];
	bool is_only = kernel->first == kernel->last;
	if (s->pushes.count + s->pops.count == 0)
		return tdm_diag_set(
			diag, TDM_EREFUSED, s->line, 0, "%s uses no buffer: add pop=N or push=N", kernel->name);
	if ((s->work == TDM_STAGE_READ && s->pops.count != 0) || (s->work == TDM_STAGE_WRITE && s->pushes.count != 0))
		return tdm_diag_set(diag, TDM_EREFUSED, s->line, 0,
			"%s %s: a kernel that does both is two kernels, or a computation", kernel->name,
			s->work == TDM_STAGE_READ ? "reads, and so only pushes" : "writes, and so only pops");
	if ((!is_only || s->times > 1) && (s->ahead > 1 || s->ids != 0))
		return tdm_diag_set(diag, TDM_EREFUSED, s->line, 0,
			"%s does several things in a round: ahead and ids are for kernels that do one", kernel->name);
	const struct tdm_pattern_stage *next = s->next != p->stage_count ? &p->stages[s->next] : s;
	if ((next->work == TDM_STAGE_COMPUTE) != (s->work == TDM_STAGE_COMPUTE))
		return tdm_diag_set(diag, TDM_EREFUSED, s->line, 0,
			"%s both computes and moves data: these are two kernels", kernel->name);
	return 0;
}

/* The model unrolls a round, and simulates every page. */
static int check_length(const struct tdm_cb_pattern *p, struct tdm_diag *diag)
{
	uint64_t pages = 0, calls = 0;
	for (size_t i = 0; i < p->buffer_count; i++)
		pages += p->buffers[i].total;
	if (pages > TDM_PATTERN_PAGES_MAX)
		return tdm_diag_set(diag, TDM_EREFUSED, 0, 0,
			"%" PRIu64 " pages go through the buffers, and %" PRIu64 " are possible: take fewer tiles",
			pages, TDM_PATTERN_PAGES_MAX);
	for (size_t i = 0; i < p->stage_count; i++) {
		const struct tdm_pattern_stage *s = &p->stages[i];
		uint64_t blocks = tdm_max(s->ids, s->ahead);
		calls += (uint64_t)s->times * blocks * (1 + s->pushes.count + s->pops.count);
		if (calls > TDM_PATTERN_CALLS_MAX)
			return tdm_diag_set(diag, TDM_EREFUSED, s->line, 0,
				"one round of all kernels has more than %d calls up to here: take smaller times=N",
				TDM_PATTERN_CALLS_MAX);
	}
	return 0;
}

int tdm_pattern_settle(struct tdm_cb_pattern *p, struct tdm_diag *diag)
{
	int err = p->stage_count == 0
			  ? tdm_diag_set(diag, TDM_EREFUSED, 0, 0, "there is no kernel: add 'kernel NAME ...'")
			  : 0;
	link_stages(p);
	for (size_t i = 0; i < p->stage_count && err == 0; i++)
		err = check_stage(p, &p->stages[i], diag);
	if (err == 0)
		err = set_ends(p, diag);
	for (size_t i = 0; i < p->buffer_count && err == 0; i++)
		err = check_buffer(&p->buffers[i], diag);
	err = err != 0 ? err : check_length(p, diag);
	for (size_t i = 0; i < 2 * p->buffer_count && err == 0; i++)
		err = count_rounds(p, i / 2, i % 2 == 0, diag);
	return err;
}
