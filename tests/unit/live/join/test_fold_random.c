/* The fold: random streams of events against a model that is too simple to be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/number.h"
#include "fold_steps.h"

/* The model: a list of live buffers, looked through from end to end. */

enum { PROCESSES = 5, DEVICES = 3, KINDS = 4, IDS = 40, LIVE_MAX = PROCESSES * DEVICES * KINDS * IDS };

struct live {
	uint64_t process, id, reserved, occupied, asked;
	uint32_t device;
	uint8_t kind;
};

struct model {
	struct live live[LIVE_MAX];
	size_t count;
	uint64_t rereports, unknown_frees, allocs;
	bool is_known[PROCESSES], ended[PROCESSES];
	bool counts[PROCESSES][DEVICES][KINDS]; /* the producer does */
	struct tdm_counter usages[PROCESSES][DEVICES][KINDS];
	uint64_t peaks[PROCESSES][DEVICES][KINDS];
};

static struct live *model_find(struct model *m, const struct tdm_event *e)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->live[i].process == e->process && m->live[i].device == e->device && m->live[i].kind == e->kind &&
			m->live[i].id == e->id)
			return &m->live[i];
	return NULL;
}

/* Takes out the buffers of a process, on one device or on all (DEVICES). */
static void model_clear(struct model *m, uint64_t process, uint32_t device)
{
	size_t kept = 0;
	for (size_t i = 0; i < m->count; i++)
		if (m->live[i].process != process || (device != DEVICES && m->live[i].device != device))
			m->live[kept++] = m->live[i];
	m->count = kept;
}

static struct live model_sum(const struct model *m, uint64_t process, uint32_t device, unsigned kind, size_t *count)
{
	struct live sum = { 0 };
	*count = 0;
	for (size_t i = 0; i < m->count; i++) {
		const struct live *l = &m->live[i];
		if (l->process != process || l->device != device || l->kind != kind)
			continue;
		sum.reserved += l->reserved;
		sum.occupied += l->occupied;
		sum.asked += l->asked;
		++*count;
	}
	return sum;
}

static void model_apply(struct model *m, const struct tdm_event *e)
{
	struct live *l = model_find(m, e);
	bool counts = m->counts[e->process][e->device][e->kind], is_view = (e->flags & TDM_EVENT_VIEW) != 0;
	m->is_known[e->process] = true;
	if (l != NULL)
		*l = m->live[--m->count];
	if (e->op == TDM_OP_FREE) {
		m->unknown_frees += l == NULL && !counts;
		return;
	}
	m->rereports += l != NULL && !counts;
	m->allocs += !counts;
	m->live[m->count++] = (struct live){ .process = e->process,
		.id = e->id,
		.reserved = is_view ? 0 : e->bytes_per_bank * e->banks,
		.occupied = is_view ? 0 : e->bytes_per_bank * (e->holding != 0 ? e->holding : e->banks),
		.asked = is_view ? 0 : e->size,
		.device = e->device,
		.kind = e->kind };
	size_t count;
	uint64_t *peak = &m->peaks[e->process][e->device][e->kind];
	*peak = tdm_max(*peak, model_sum(m, e->process, e->device, e->kind, &count).reserved);
}

static void compare_kind(const struct model *m, const struct tdm_fold_process *p, uint32_t device, unsigned k)
{
	const struct tdm_fold_holding *holding = tdm_fold_holding_find(p, device);
	size_t count;
	const struct live sum = model_sum(m, p->number, device, k, &count);
	if (holding == NULL) {
		assert_int_equal(count, 0);
		return;
	}
	const struct tdm_fold_kind *kind = &holding->kinds[k];
	assert_int_equal(kind->count, count);
	assert_int_equal(kind->reserved, sum.reserved);
	assert_int_equal(kind->occupied, sum.occupied);
	assert_int_equal(kind->asked, sum.asked);
	uint64_t reserved = 0;
	for (size_t i = 0; i < kind->count; i++)
		reserved += tdm_buffer_reserved(&kind->buffers[i]);
	assert_int_equal(reserved, sum.reserved);
	assert_int_equal(kind->has_counter, m->counts[p->number][device][k]);
	if (kind->has_counter) {
		assert_memory_equal(&kind->counter, &m->usages[p->number][device][k], sizeof kind->counter);
		return;
	}
	assert_int_equal(kind->counter.reserved, sum.reserved);
	assert_int_equal(kind->counter.asked, sum.asked);
	assert_int_equal(kind->counter.buffers, count);
	assert_int_equal(kind->counter.peak, m->peaks[p->number][device][k]);
}

static void compare(const struct model *m, const struct tdm_fold *fold)
{
	uint64_t rereports = 0, unknown_frees = 0, allocs = 0;
	assert_true(fold_is_valid(fold));
	for (uint64_t n = 0; n < PROCESSES; n++) {
		const struct tdm_fold_process *p = tdm_fold_find(fold, n);
		assert_int_equal(p != NULL, m->is_known[n]);
		if (p == NULL)
			continue;
		assert_int_equal(tdm_fold_runs(p), !m->ended[n]);
		for (uint32_t d = 0; d < DEVICES; d++)
			for (unsigned k = 0; k < KINDS; k++)
				compare_kind(m, p, d, k);
		for (size_t h = 0; h < p->holding_count; h++)
			for (unsigned k = 0; k < KINDS; k++)
				if (!p->holdings[h]->kinds[k].has_counter) {
					rereports += p->holdings[h]->kinds[k].counter.rereports;
					unknown_frees += p->holdings[h]->kinds[k].counter.unknown_frees;
					allocs += p->holdings[h]->kinds[k].counter.allocs;
				}
	}
	/* What was counted here before the producer began to, or of a process that was forgotten, is in neither. */
	assert_true(rereports <= m->rereports && unknown_frees <= m->unknown_frees && allocs <= m->allocs);
}

static uint64_t random_next(uint64_t *seed)
{
	*seed += UINT64_C(0x9e3779b97f4a7c15);
	return tdm_hash_u64(*seed);
}

/* An account: all are gone, and some are listed, each once. */
static void random_account(struct model *m, struct tdm_fold *fold, struct tdm_event event, uint64_t *seed)
{
	struct tdm_event clear = event_of(TDM_OP_CLEAR, event.process, event.device);
	model_clear(m, event.process, event.device);
	m->is_known[event.process] = true;
	apply(fold, clear);
	event.flags |= TDM_EVENT_LISTED;
	for (event.id = 0; event.id < IDS; event.id++)
		if (random_next(seed) % 4 == 0) {
			model_apply(m, &event);
			apply(fold, event);
		}
}

static void random_usage(struct model *m, struct tdm_fold *fold, struct tdm_event event, uint64_t r)
{
	struct tdm_counter *usage = &m->usages[event.process][event.device][event.kind];
	usage->reserved = r;
	usage->allocs++;
	m->counts[event.process][event.device][event.kind] = true;
	m->is_known[event.process] = true;
	event.op = TDM_OP_USAGE;
	event.flags = 0;
	event.counter = usage;
	apply(fold, event);
}

static void random_forget(struct model *m, struct tdm_fold *fold, uint64_t process)
{
	model_clear(m, process, DEVICES);
	m->is_known[process] = m->ended[process] = false;
	memset(m->counts[process], 0, sizeof m->counts[process]);
	memset(m->peaks[process], 0, sizeof m->peaks[process]);
	apply(fold, event_of(TDM_OP_FORGET, process, 0));
}

static void random_event(struct model *m, struct tdm_fold *fold, uint64_t *seed)
{
	uint64_t r = random_next(seed), process = r % PROCESSES;
	uint32_t device = (uint32_t)(r >> 8) % DEVICES;
	struct tdm_event event =
		alloc_of(process, device, (enum tdm_kind)((r >> 16) % KINDS), (r >> 24) % IDS, (r >> 32) % 5000);
	event.bytes_per_bank = (r >> 34) % 100000;
	event.banks = 1 + (uint32_t)(r >> 40) % 12;
	event.holding = (uint32_t)(r >> 44) % 3;
	event.flags = (r >> 46) % 16 == 0 ? TDM_EVENT_VIEW : (r >> 46) % 16 == 1 ? TDM_EVENT_PAST : 0;
	switch (r >> 54) {
	case 0:
	case 1: {
		struct tdm_process identity = who((int32_t)process + 1);
		m->ended[process] = !m->ended[process];
		m->is_known[process] = true;
		identity.life = m->ended[process] ? TDM_LIFE_ENDED : TDM_LIFE_RUNS;
		describe_process(fold, process, identity);
		break;
	}
	case 2:
	case 3:
		event.flags &= ~TDM_EVENT_PAST;
		random_account(m, fold, event, seed);
		break;
	case 4:
		random_usage(m, fold, event, r);
		break;
	case 5:
		random_forget(m, fold, process);
		break;
	case 6:
		event.bytes_per_bank = UINT64_MAX - r % 3; /* unknown, or too much */
		event.flags = 0;
		event.size = TDM_FOLD_BYTES_MAX + 1;
		if (apply_refused(fold, event) == -EOVERFLOW)
			m->is_known[process] = true;
		else
			assert_int_equal(apply_refused(fold, event), -EINVAL);
		break;
	default:
		event.op = (r >> 50 & 3) == 0 ? TDM_OP_FREE : TDM_OP_ALLOC;
		if ((event.flags & TDM_EVENT_PAST) == 0)
			model_apply(m, &event);
		apply(fold, event);
	}
}

static void random_streams(void **state)
{
	static struct model m;
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct tdm_fold fold;
		uint64_t s = seed;
		fold_init(&fold);
		memset(&m, 0, sizeof m);
		for (int i = 0; i < 4000; i++) {
			random_event(&m, &fold, &s);
			if (i % 50 == 0)
				compare(&m, &fold);
		}
		compare(&m, &fold);
		tdm_fold_done(&fold);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_streams),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
