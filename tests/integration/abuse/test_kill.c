/*
 * Kills thousands of victims that report without a pause, at any instruction. Each must leave exactly what it had
 * finished, or that and the one call in progress.
 */
#include "itest.h"
#include "kill_model.h"

#include "base/str.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { KILLS = 3000, STEPS_BITS = 13, LINGER = 400, EVENTS_LOOKED_AT = 16 };
enum { BURST_KILLS = 300, BURST_GONE = MODEL_LIVE_MAX / 8, BURST_STEPS = 512 };

/* What the victim says of itself. */
struct notes {
	_Atomic uint64_t begun, finished;
};

static int compare(const void *a, const void *b)
{
	const struct model_buffer *x = a, *y = b;
	return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : x->id < y->id ? -1 : x->id > y->id;
}

static int compare_ledger(const void *a, const void *b)
{
	const struct tdm_ledger_slot *x = &((const struct tdm_ledger_buffer *)a)->slot,
				     *y = &((const struct tdm_ledger_buffer *)b)->slot;
	return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : x->id < y->id ? -1 : x->id > y->id;
}

static bool same_buffer(struct tdm_ledger *ledger, const struct tdm_ledger_buffer *found, const struct model_buffer *b)
{
	uint32_t banks = b->is_view ? 0 : b->banks;
	struct tdm_str name = tdm_ledger_text(ledger, found->slot.name);
	return found->slot.kind == b->kind && found->slot.id == b->id && found->slot.address == b->address &&
	       found->slot.asked == b->asked && found->slot.bank_bytes == b->bank_bytes && found->slot.banks == banks &&
	       (found->slot.flags == TDM_SLOT_VIEW) == b->is_view && found->more.holding == b->banks &&
	       found->more.thread == (uint32_t)tdm_ledger_header(ledger)->pid && tdm_str_is(name, b->name);
}

/* `any_of`: of this kind some may have gone already; -1: none. */
static bool same_buffers(struct tdm_ledger *ledger, const struct tdm_ledger_buffer *found, size_t count,
	const struct model_device *device, int any_of)
{
	static struct model_buffer sorted[MODEL_LIVE_MAX];
	size_t at = 0;
	memcpy(sorted, device->live, device->count * sizeof *sorted);
	qsort(sorted, device->count, sizeof *sorted, compare);
	for (size_t i = 0; i < device->count; i++) {
		if (at < count && same_buffer(ledger, &found[at], &sorted[i]))
			at++;
		else if ((int)sorted[i].kind != any_of)
			return false;
	}
	return at == count;
}

static bool same_counts(const struct tdm_ledger_view *view, const struct model_device *device, int any_of)
{
	for (unsigned i = 0; i < TDM_LEDGER_COUNTERS; i++) {
		const struct tdm_counter *c = &view->counts[i];
		const struct model_sums *now = &device->now[i], *peak = &device->peak[i];
		if (c->allocs != now->allocs || c->alloc_bytes != now->alloc_bytes ||
			c->alloc_asked != now->alloc_asked || c->peak != peak->bytes ||
			c->peak_buffers != peak->buffers || c->peak_bank != peak->bank_bytes ||
			c->peak_asked != peak->asked)
			return false;
		if (any_of < 0 && (c->reserved != now->bytes || c->buffers != now->buffers ||
					  c->bank != now->bank_bytes || c->asked != now->asked))
			return false;
	}
	return true;
}

/* Faults are counted a moment before the call that they belong to is finished. */
static bool same_faults(const struct tdm_ledger_view *view, const struct model_device *device, bool under_way)
{
	uint64_t rereports = 0, bad_frees = 0, out_of_memory = 0;
	for (unsigned i = 0; i < TDM_KIND_COUNT; i++) {
		rereports += view->counts[i].rereports;
		bad_frees += view->counts[i].double_frees + view->counts[i].unknown_frees;
		out_of_memory += view->counts[i].out_of_memory;
	}
	return rereports - device->rereports <= under_way && bad_frees - device->bad_frees <= under_way &&
	       out_of_memory - device->out_of_memory <= under_way;
}

static bool same_state(struct tdm_ledger *ledger, const struct model *model, const struct model_step *under_way)
{
	for (uint32_t d = 0; d < MODEL_DEVICES; d++) {
		const struct model_device *device = &model->devices[d];
		const struct tdm_ledger_view *view = NULL;
		size_t at = 0, count;
		while ((view = tdm_ledger_device(ledger, at)) != NULL && view->number != d)
			at++;
		if (view == NULL) {
			if (device->used)
				return false;
			continue;
		}
		struct tdm_ledger_buffer *buffers = itest_buffers(ledger, at, &count);
		int any_of = under_way != NULL && under_way->what == MODEL_FREE_ALL && under_way->device == d
				     ? (int)under_way->buffer.kind
				     : -1;
		if (count != 0)
			qsort(buffers, count, sizeof *buffers, compare_ledger);
		bool same = same_buffers(ledger, buffers, count, device, any_of) && same_counts(view, device, any_of) &&
			    same_faults(view, device, under_way != NULL);
		free(buffers);
		if (!same)
			return false;
	}
	return true;
}

static void check_events(struct tdm_ledger *ledger)
{
	struct tdm_ledger_record records[EVENTS_LOOKED_AT];
	for (size_t d = 0; d < tdm_ledger_device_count(ledger); d++) {
		uint64_t seq = tdm_ledger_device(ledger, d)->seq, missed;
		uint64_t after = seq > EVENTS_LOOKED_AT ? seq - EVENTS_LOOKED_AT : 0;
		int64_t got = tdm_ledger_events(ledger, d, after, records, EVENTS_LOOKED_AT, &missed);
		CHECK_EQ(got, seq - after);
		CHECK_EQ(missed, 0);
	}
}

static void check_phases(struct tdm_ledger *ledger, uint32_t phases, bool under_way)
{
	static struct tdm_ledger_phase records[1 << 12];
	int64_t got = tdm_ledger_phases(ledger, 0, records, sizeof records / sizeof *records);
	CHECK(got >= 0 && (uint64_t)got - phases <= under_way);
	for (int64_t i = 0; i < got; i++)
		CHECK(tdm_str_is(tdm_ledger_text(ledger, records[i].name), "FORWARD"));
}

static void check_ledger(const char *path, uint64_t seed, bool bursts, uint64_t begun, uint64_t finished)
{
	static struct model model;
	struct tdm_ledger *ledger = itest_open(path);
	CHECK(tdm_ledger_liveness(ledger) == TDM_DEAD);
	CHECK(tdm_ledger_header(ledger)->state == TDM_LEDGER_OPEN);
	for (int i = 0; i < TDM_LOSS_COUNT; i++)
		CHECK_EQ(tdm_ledger_header(ledger)->lost[i], 0);
	CHECK(begun - finished <= 1);

	model_init(&model, seed, bursts);
	for (uint64_t i = 0; i < finished; i++) {
		struct model_step step = model_next(&model);
		model_apply(&model, &step, false);
	}
	check_events(ledger);
	if (begun == finished) {
		CHECK(same_state(ledger, &model, NULL));
		check_phases(ledger, model.phases, false);
	} else {
		struct model_step step = model_next(&model);
		check_phases(ledger, model.phases, step.what == MODEL_PHASE);
		bool same = same_state(ledger, &model, &step);
		if (!same && step.what == MODEL_REREPORT) {
			struct model *half = malloc(sizeof *half);
			CHECK(half != NULL);
			*half = model;
			model_apply(half, &step, true);
			same = same_state(ledger, half, NULL);
			free(half);
		}
		if (!same) {
			model_apply(&model, &step, false);
			same = same_state(ledger, &model, NULL);
		}
		if (!same)
			fprintf(stderr, "seed %llu, step %llu: kind of step %d\n", (unsigned long long)seed,
				(unsigned long long)begun, (int)step.what);
		CHECK(same);
	}
	tdm_ledger_close(ledger);
}

_Noreturn static void be_victim(struct notes *notes, uint64_t seed, bool bursts)
{
	static struct model model;
	model_init(&model, seed, bursts);
	for (uint64_t i = 1;; i++) {
		struct model_step step = model_next(&model);
		notes->begun = i;
		model_report(&step);
		notes->finished = i;
		model_apply(&model, &step, false);
	}
}

/* Waits until the victim has come so far, and a random moment longer. */
static void let_run(const struct notes *notes, uint64_t steps, uint64_t linger)
{
	while (notes->begun < steps)
		sched_yield();
	for (volatile uint64_t i = 0; i < linger; i++)
		continue;
}

/* Short lives and long ones alike. */
static uint64_t any_steps(uint64_t *random)
{
	return (itest_random(random) & ((UINT64_C(1) << STEPS_BITS) - 1)) >> itest_random(random) % STEPS_BITS;
}

/* The steps until little is left of the first burst, which is when the ledger gives back its pages, and some more. */
static uint64_t burst_steps(uint64_t seed, uint64_t *random)
{
	static struct model model;
	model_init(&model, seed, true);
	while (model.growing || model.devices[0].count >= BURST_GONE) {
		struct model_step step = model_next(&model);
		model_apply(&model, &step, false);
	}
	return model.steps + itest_random(random) % BURST_STEPS;
}

static void kill_victims(unsigned kills, bool bursts)
{
	struct notes *notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t random = (uint64_t)getpid() << 32, checked = 0;
	CHECK(notes != MAP_FAILED);
	for (unsigned i = 0; i < itest_scale(kills); i++) {
		char path[ITEST_PATH_MAX];
		int status;
		uint64_t seed = itest_random(&random);
		uint64_t steps = bursts ? burst_steps(seed, &random) : any_steps(&random);
		notes->begun = notes->finished = 0;
		pid_t pid = fork();
		CHECK(pid >= 0);
		if (pid == 0)
			be_victim(notes, seed, bursts);
		let_run(notes, steps, itest_random(&random) % LINGER);
		kill(pid, SIGKILL);
		CHECK(waitpid(pid, &status, 0) == pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		if (itest_ledgers(NULL, pid, path) == 0) {
			CHECK_EQ(notes->finished, 0);
			continue;
		}
		struct tdm_ledger *ledger = NULL;
		if (notes->finished == 0 && tdm_ledger_open(path, &ledger, NULL) == -EAGAIN) {
			unlink(path); /* it had not got as far as a header */
			continue;
		}
		tdm_ledger_close(ledger);
		check_ledger(path, seed, bursts, notes->begun, notes->finished);
		unlink(path);
		checked++;
	}
	CHECK(checked > 0);
}

static void kill_and_check(void)
{
	kill_victims(KILLS, false);
}

static void kill_after_burst(void)
{
	kill_victims(BURST_KILLS, true);
}

int main(int argc, char **argv)
{
	static const struct itest tests[] = {
		{ "kill_and_check", kill_and_check, NULL },
		{ "kill_after_burst", kill_after_burst, NULL },
		{ 0 },
	};
	return itest_main(argc, argv, tests);
}
