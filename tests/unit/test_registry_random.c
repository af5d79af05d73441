/* The registry: random streams of events against a model that is too simple to be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "registry_steps.h"

/* The model: a list of live buffers, looked through from end to end. */

enum { PROCESSES = 5, DEVICES = 3, IDS = 40, LIVE_MAX = PROCESSES * DEVICES * 4 * IDS };

struct live {
	uint64_t process, id, reserved, asked;
	uint32_t device;
	uint8_t kind;
};

struct model {
	struct live live[LIVE_MAX];
	size_t count;
	uint64_t faults[3]; /* rereports, and frees of what is not there */
	bool ended[PROCESSES];
	uint64_t chip[PROCESSES][DEVICES]; /* + 1; 0: unknown */
};

static struct live *model_find(struct model *m, const struct tdm_event *e)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->live[i].process == e->process && m->live[i].device == e->device && m->live[i].kind == e->kind &&
			m->live[i].id == e->id)
			return &m->live[i];
	return NULL;
}

static void model_apply(struct model *m, const struct tdm_event *e)
{
	struct live *l = model_find(m, e);
	if (e->op == TDM_OP_CLEAR) {
		size_t kept = 0;
		for (size_t i = 0; i < m->count; i++)
			if (m->live[i].process != e->process)
				m->live[kept++] = m->live[i];
		m->count = kept;
		return;
	}
	if (l != NULL)
		*l = m->live[--m->count];
	if (e->op == TDM_OP_ALLOC) {
		m->faults[0] += l != NULL;
		m->live[m->count++] =
			(struct live){ e->process, e->id, e->bytes_per_bank * e->banks, e->size, e->device, e->kind };
	} else {
		m->faults[1] += l == NULL;
	}
}

/* The sum of what a holding has, or a device: `device_of` decides. */
static uint64_t model_sum(const struct model *m,
	bool (*is_in)(const struct model *m, const struct live *l, const void *what), const void *what)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < m->count; i++)
		sum += is_in(m, &m->live[i], what) ? m->live[i].reserved : 0;
	return sum;
}

struct place {
	const struct tdm_snapshot *snapshot;
	uint32_t device; /* index in the snapshot */
	uint64_t process;
	uint32_t number;
	unsigned kind;
	bool ended;
};

static bool is_in_holding(const struct model *m, const struct live *l, const void *what)
{
	const struct place *p = what;
	(void)m;
	return l->process == p->process && l->device == p->number && l->kind == p->kind;
}

static bool is_on_device(const struct model *m, const struct live *l, const void *what)
{
	const struct place *p = what;
	const struct tdm_snapshot_device *device = &p->snapshot->devices[p->device];
	uint64_t chip = m->chip[l->process][l->device];
	bool same = device->is_weak ? chip == 0 && device->number == l->device
				    : chip != 0 && device->info.chip_id == chip - 1;
	return same && l->kind == p->kind && m->ended[l->process] == p->ended;
}

static void compare(const struct model *m, const struct tdm_registry *reg)
{
	struct tdm_snapshot *s = picture(reg);
	uint64_t rereports = 0, bad_frees = 0;
	assert_int_equal(s->buffer_count, m->count);
	for (size_t h = 0; h < s->holding_count; h++)
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
			const struct tdm_figures *f = &s->holdings[h].kinds[k];
			struct place place = { .process = (uint64_t)s->processes[s->holdings[h].process].who.pid - 1,
				.number = s->holdings[h].number,
				.kind = k };
			assert_int_equal(f->reserved_bytes, model_sum(m, is_in_holding, &place));
			assert_true(f->peak_reserved_bytes >= f->reserved_bytes);
			rereports += f->rereports;
			bad_frees += f->double_frees + f->unknown_frees;
		}
	for (size_t d = 0; d < s->device_count; d++)
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
			struct place place = { .snapshot = s, .device = (uint32_t)d, .kind = k };
			assert_int_equal(s->devices[d].kinds[k].reserved_bytes, model_sum(m, is_on_device, &place));
			place.ended = true;
			assert_int_equal(s->devices[d].left[k].reserved_bytes, model_sum(m, is_on_device, &place));
		}
	assert_int_equal(rereports, m->faults[0]);
	assert_int_equal(bad_frees, m->faults[1]);
	tdm_snapshot_free(s);
}

static uint64_t random_next(uint64_t *seed)
{
	*seed += UINT64_C(0x9e3779b97f4a7c15);
	return tdm_hash_u64(*seed);
}

static void random_event(struct model *m, struct tdm_registry *reg, uint64_t *seed)
{
	uint64_t r = random_next(seed), process = r % PROCESSES;
	uint32_t device = (uint32_t)(r >> 8) % DEVICES;
	struct tdm_event event =
		alloc_of(process, device, (enum tdm_kind)((r >> 16) % 4), (r >> 24) % IDS, (r >> 32) % 5000);
	event.bytes_per_bank = (r >> 34) % 100000;
	event.banks = 1 + (uint32_t)(r >> 40) % 12;
	switch (r >> 56 & 0x3f) {
	case 0: {
		struct tdm_process identity = who((int32_t)process + 1);
		m->ended[process] = !m->ended[process];
		identity.life = m->ended[process] ? TDM_LIFE_ENDED : TDM_LIFE_RUNS;
		describe_process(reg, 0, process, identity);
		break;
	}
	case 1:
		m->chip[process][device] = (r >> 48) % 3 + 1;
		describe_chip(reg, 0, process, device, m->chip[process][device] - 1);
		break;
	case 2:
		event.op = TDM_OP_CLEAR;
		if ((r >> 62 & 3) == 0) {
			model_apply(m, &event);
			apply(reg, 0, &event);
		}
		break;
	default:
		event.op = (r >> 57 & 3) == 0 ? TDM_OP_FREE : TDM_OP_ALLOC;
		model_apply(m, &event);
		apply(reg, 0, &event);
	}
}

static void random_streams(void **state)
{
	static struct model m;
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct tdm_registry *reg = registry_new();
		uint64_t s = seed;
		memset(&m, 0, sizeof m);
		for (uint64_t p = 0; p < PROCESSES; p++)
			describe_process(reg, 0, p, who((int32_t)p + 1));
		for (int i = 0; i < 3000; i++) {
			random_event(&m, reg, &s);
			if (i % 50 == 0)
				compare(&m, reg);
		}
		compare(&m, reg);
		tdm_registry_free(reg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_streams),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
