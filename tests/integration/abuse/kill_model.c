#include "kill_model.h"
#include "itest.h"
#include "tidemark.h"

#include <errno.h>
#include <string.h>

enum { HUNDRED = 100, BANKS_MAX = 12, KINDS_WITHOUT_NAMES = 3 };

void model_init(struct model *model, uint64_t seed, bool bursts)
{
	memset(model, 0, sizeof *model);
	model->seed = seed;
	model->bursts = bursts;
	model->growing = true;
}

static uint64_t below(struct model *model, uint64_t limit)
{
	return itest_random(&model->seed) % limit;
}

static bool is_in_l1(uint32_t kind)
{
	return kind != TDM_KIND_DRAM && kind != TDM_KIND_TRACE && kind != TDM_KIND_SYSTEM;
}

static void make_buffer(struct model *model, struct model_buffer *b)
{
	b->kind = (uint32_t)below(model, TDM_KIND_COUNT);
	b->id = itest_random(&model->seed); /* never the same twice */
	b->address = below(model, UINT64_C(1) << 40);
	b->banks = 1 + (uint32_t)below(model, BANKS_MAX);
	b->bank_bytes = below(model, 1 << 20);
	b->asked = b->bank_bytes * b->banks - below(model, 2) * (b->bank_bytes != 0);
	b->is_view = below(model, HUNDRED) < 5;
	b->name[0] = '\0';
	if (below(model, KINDS_WITHOUT_NAMES) == 0)
		snprintf(b->name, sizeof b->name, "buffer %llu", (unsigned long long)below(model, 20000));
}

struct model_step model_next(struct model *model)
{
	struct model_step step = { .device = (uint32_t)below(model, model->bursts ? 1 : MODEL_DEVICES) };
	const struct model_device *device = &model->devices[step.device];
	uint64_t dice = below(model, HUNDRED), allocs = model->bursts ? 92 : 75, allocs_later = model->bursts ? 15 : 35;
	if (device->count == 0)
		model->growing = true;
	if (device->count > MODEL_LIVE_MAX - 2 || (!model->bursts && below(model, 4000) == 0))
		model->growing = !model->growing;
	if (device->count > MODEL_LIVE_MAX - 2)
		model->growing = false;
	step.at = device->count != 0 ? (uint32_t)below(model, device->count) : 0;
	if (dice < 2) {
		static const enum model_what rare[] = { MODEL_OOM, MODEL_PHASE, MODEL_FREE_ALL, MODEL_DESCRIBE };
		uint64_t which = below(model, HUNDRED);
		step.what = which < 2 ? MODEL_FREE_ALL : rare[which % 4 == 2 ? 0 : which % 4];
		step.buffer.kind = (uint32_t)below(model, TDM_KIND_COUNT);
	} else if (dice < 4) {
		step.what = MODEL_BAD_FREE;
		make_buffer(model, &step.buffer);
	} else if (dice < 8 && device->count != 0) {
		step.what = MODEL_REREPORT;
		make_buffer(model, &step.buffer);
		step.buffer.kind = device->live[step.at].kind;
		step.buffer.id = device->live[step.at].id;
	} else if (device->count == 0 ||
		   (device->count < MODEL_LIVE_MAX && dice < (model->growing ? allocs : allocs_later))) {
		step.what = MODEL_ALLOC;
		make_buffer(model, &step.buffer);
	} else {
		step.what = MODEL_FREE;
		step.buffer = device->live[step.at];
	}
	return step;
}

static void raise_to(uint64_t *peak, uint64_t value)
{
	*peak = *peak > value ? *peak : value;
}

static void count(struct model_device *device, unsigned counter, const struct model_buffer *b, bool is_free)
{
	struct model_sums *now = &device->now[counter], *peak = &device->peak[counter];
	uint64_t sign = is_free ? UINT64_MAX : 1;
	now->buffers += sign;
	if (!b->is_view) {
		now->bytes += sign * b->bank_bytes * b->banks;
		now->bank_bytes += sign * b->bank_bytes;
		now->asked += sign * b->asked;
	}
	if (is_free)
		return;
	now->allocs++;
	now->alloc_bytes += b->is_view ? 0 : b->bank_bytes * b->banks;
	now->alloc_asked += b->is_view ? 0 : b->asked;
	raise_to(&peak->buffers, now->buffers);
	raise_to(&peak->bytes, now->bytes);
	raise_to(&peak->bank_bytes, now->bank_bytes);
	raise_to(&peak->asked, now->asked);
}

static void count_both(struct model_device *device, const struct model_buffer *b, bool is_free)
{
	count(device, b->kind, b, is_free);
	if (is_in_l1(b->kind))
		count(device, TDM_LEDGER_L1_ALL, b, is_free);
}

static void take_out(struct model_device *device, uint32_t at)
{
	count_both(device, &device->live[at], true);
	device->live[at] = device->live[--device->count];
}

static void put_in(struct model_device *device, const struct model_buffer *b)
{
	count_both(device, b, false);
	device->live[device->count++] = *b;
}

void model_apply(struct model *model, const struct model_step *step, bool half)
{
	struct model_device *device = &model->devices[step->device];
	device->used |= step->what != MODEL_PHASE;
	switch (step->what) {
	case MODEL_ALLOC:
		put_in(device, &step->buffer);
		break;
	case MODEL_FREE:
		take_out(device, step->at);
		break;
	case MODEL_REREPORT:
		device->rereports++;
		take_out(device, step->at);
		if (!half)
			put_in(device, &step->buffer);
		break;
	case MODEL_BAD_FREE:
		device->bad_frees++;
		break;
	case MODEL_OOM:
		device->out_of_memory++;
		break;
	case MODEL_PHASE:
		model->phases++;
		break;
	case MODEL_FREE_ALL:
		for (uint32_t i = device->count; i-- != 0;)
			if (device->live[i].kind == step->buffer.kind)
				take_out(device, i);
		break;
	case MODEL_DESCRIBE:
		break;
	}
	model->steps += !half;
}

static void report_buffer(const struct model_step *step)
{
	const struct model_buffer *from = &step->buffer;
	struct tidemark_buffer b = {
		.size = sizeof b,
		.device = step->device,
		.kind = from->kind,
		.flags = from->is_view ? TIDEMARK_VIEW : 0,
		.id = from->id,
		.address = from->address,
		.bytes = from->asked,
		.bytes_per_bank = from->bank_bytes,
		.banks = from->banks,
		.name = from->name[0] != '\0' ? tidemark_name(from->name) : 0,
	};
	CHECK(tidemark_alloc(&b) == 0);
}

void model_report(const struct model_step *step)
{
	struct tidemark_region region = { .kind = TIDEMARK_DRAM, .banks = BANKS_MAX, .bank_size = 1 << 30 };
	struct tidemark_device described = {
		.size = sizeof described, .number = step->device, .card = "n150", .region_count = 1, .regions = &region
	};
	switch (step->what) {
	case MODEL_ALLOC:
	case MODEL_REREPORT:
		report_buffer(step);
		break;
	case MODEL_FREE:
		CHECK(tidemark_free(step->device, step->buffer.kind, step->buffer.id) == 0);
		break;
	case MODEL_BAD_FREE:
		CHECK(tidemark_free(step->device, step->buffer.kind, step->buffer.id) == -ENOENT);
		break;
	case MODEL_OOM:
		CHECK(tidemark_out_of_memory(step->device, step->buffer.kind, 1 << 30, 0) == 0);
		break;
	case MODEL_PHASE:
		CHECK(tidemark_phase("FORWARD") == 0);
		break;
	case MODEL_FREE_ALL:
		CHECK(tidemark_free_all(step->device, step->buffer.kind) >= 0);
		break;
	case MODEL_DESCRIBE:
		CHECK(tidemark_describe_device(&described) == 0);
		break;
	}
}
