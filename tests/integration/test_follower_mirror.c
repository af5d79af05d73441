/*
 * The follower with the real library: programs randomly allocate, free, report again, make errors, end, get killed and
 * lose their ledgers, while the follower is asked for buffers and events of changing devices. Whenever the programs
 * rest, the fold of its events must equal a fresh listing, buffer by buffer; no event may come twice, and the number of
 * missing events must be right.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "own_folder.h"
#include "../unit/follow.h"
#include "../unit/full_size.h"
#include "tidemark.h"

enum { PROGRAMS = 4, DEVICES = 3, IDS = 120, LANES = 1 << 13 };

static int set_up(void **state)
{
	(void)state;
	return own_folder_make();
}

static uint64_t random_next(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return *seed >> 33;
}

/* The programs. */

enum { CALLS_END = 1 << 20 }; /* so many calls stand for the end, one more for an end with nothing left */

static void describe(uint32_t device)
{
	const struct tidemark_region region = { .kind = TIDEMARK_DRAM, .banks = 8, .bank_size = 1 << 24 };
	const struct tidemark_device description = {
		.size = sizeof description, .number = device, .region_count = 1, .regions = &region
	};
	tidemark_describe_device(&description);
}

static uint32_t some_name(uint64_t r)
{
	char text[32];
	snprintf(text, sizeof text, "tensor %d", (int)(r % 20));
	return tidemark_name(text);
}

static void allocate(uint64_t r, uint64_t *seed, uint32_t device, uint32_t kind, uint64_t id)
{
	static const struct tidemark_core_range cores[] = { { 0, 0, 7, 7 }, { 1, 2, 3, 4 }, { 5, 5, 5, 5 } };
	uint64_t frames[6], more = random_next(seed);
	for (size_t i = 0; i < 6; i++)
		frames[i] = more % 3 == 0 ? 0x400000 + more % 7 * 16 + i : UINT64_C(1) << 63 | some_name(more + i);
	const struct tidemark_buffer buffer = { .size = sizeof buffer,
		.device = device,
		.kind = kind,
		.flags = (more >> 4) % 8 == 0   ? TIDEMARK_VIEW
			 : (more >> 4) % 8 == 1 ? TIDEMARK_NO_ADDRESS
						: 0,
		.id = id,
		.address = r % 4096 * 64,
		.bytes = 1 + (more >> 7) % 5000,
		.bytes_per_bank = 32 * (1 + (more >> 9) % 64),
		.banks = 1 + (uint32_t)(more >> 12) % 12,
		.holding = (uint32_t)(more >> 15) % 4,
		.page_size = (uint32_t)(more >> 17) % 3 * 1024,
		.cores = (uint32_t)(more >> 18) % 5,
		.name = (more >> 21) % 4 != 0 ? some_name(more >> 22) : 0,
		.range_count = (uint32_t)(more >> 23) % 4,
		.ranges = cores,
		.frames = (more >> 25) % 2 != 0 ? frames : NULL,
		.frame_count = (more >> 25) % 2 != 0 ? 1 + (uint32_t)(more >> 26) % 6 : 0 };
	tidemark_alloc(&buffer);
}

static void call(uint64_t *seed)
{
	static const char *const texts[] = { "forward", "backward", "optimizer", "matmul", NULL };
	uint64_t r = random_next(seed), id = 1 + random_next(seed) % IDS;
	uint32_t device = (uint32_t)(r % DEVICES), kind = (uint32_t)(r >> 3) % 5;
	switch ((r >> 8) % 256) {
	case 0:
		tidemark_phase(texts[(r >> 16) % 4]);
		break;
	case 1:
		tidemark_out_of_memory(device, kind, 1 << 20, 4096);
		break;
	case 2:
	case 3:
	case 4:
		tidemark_program(texts[(r >> 16) % 5]);
		break;
	case 5:
		tidemark_free_all(device, kind);
		break;
	default:
		if ((r >> 20) % 16 < 7)
			tidemark_free(device, kind, id); /* of one that is there, or not */
		else
			allocate(r, seed, device, kind, id);
	}
}

static _Noreturn void run_program(int from, int to, uint64_t seed)
{
	uint32_t calls;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	tidemark_enable();
	for (uint32_t d = 0; d < DEVICES; d++)
		describe(d);
	while (write(to, "", 1) == 1 && read(from, &calls, sizeof calls) == sizeof calls && calls < CALLS_END)
		while (calls-- != 0)
			call(&seed);
	for (uint32_t d = 0; calls > CALLS_END && d < DEVICES; d++)
		for (uint32_t k = 0; k < TIDEMARK_KIND_COUNT; k++)
			tidemark_free_all(d, k);
	exit(0);
}

struct program {
	pid_t pid;
	int to, from;
	bool is_busy;
};

static void begin_program(struct program *p, uint64_t seed)
{
	int to[2], from[2];
	char said;
	assert_true(pipe(to) == 0 && pipe(from) == 0);
	p->pid = fork();
	if (p->pid == 0) {
		close(to[1]);
		close(from[0]);
		run_program(to[0], from[1], seed);
	}
	close(to[0]);
	close(from[1]);
	p->to = to[1];
	p->from = from[0];
	p->is_busy = false;
	assert_true(p->pid > 0 && read(p->from, &said, 1) == 1);
}

static void wait_for(struct program *p)
{
	char said;
	if (p->is_busy)
		assert_int_equal(read(p->from, &said, 1), 1);
	p->is_busy = false;
}

static void order(struct program *p, uint32_t calls)
{
	wait_for(p);
	assert_int_equal(write(p->to, &calls, sizeof calls), sizeof calls);
	p->is_busy = true;
}

static void end_program(struct program *p, uint64_t r)
{
	if (r % 3 == 0)
		kill(p->pid, SIGKILL); /* wherever it is */
	else
		order(p, CALLS_END + r % 3 - 1);
	waitpid(p->pid, NULL, 0);
	close(p->to);
	close(p->from);
}

/* The follower. */

static struct mirror {
	struct follow f;
	unsigned wants[LANES]; /* by number of process and device */
	uint64_t told[LANES];  /* the last event; UINT64_MAX: none yet */
	uint64_t kept[LANES];  /* of the buffers before the look, where they are kept */
} mirror;

static size_t lane_of(uint64_t process, uint32_t device)
{
	assert_true(process * DEVICES + device < LANES);
	return process * DEVICES + device;
}

static unsigned wants(void *context, uint64_t process, uint32_t device)
{
	return ((struct mirror *)context)->wants[lane_of(process, device)];
}

static void take_event(void *context, struct tdm_event *event)
{
	struct mirror *m = context;
	size_t lane = lane_of(event->process, event->device);
	bool is_wanted = (m->wants[lane] & TDM_FOLLOW_EVENTS) != 0;
	bool is_news = event->op == TDM_OP_LOST || (event->position != 0 && (event->flags & TDM_EVENT_LISTED) == 0);
	if (is_wanted && is_news) {
		if (m->told[lane] == UINT64_MAX) {
			assert_true(event->op != TDM_OP_LOST); /* before the first nothing is missing */
			m->told[lane] = event->position - 1;
		}
		m->told[lane] += event->op == TDM_OP_LOST ? event->size : 1;
		if (event->op != TDM_OP_LOST)
			assert_true(m->told[lane] == event->position);
	}
	follow_event(&m->f, event);
}

/* A number for the buffers of a device. */
static uint64_t digest(const struct tdm_fold_holding *holding)
{
	uint64_t sum = 0;
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
		for (size_t i = 0; i < holding->kinds[k].count; i++) {
			const struct tdm_buffer *b = &holding->kinds[k].buffers[i];
			sum += (b->id * 31 + k) * UINT64_C(0x9e3779b97f4a7c15) ^ b->bank_bytes << 32 ^ b->address;
		}
	return sum;
}

static void look(struct mirror *m, uint64_t *seed, uint64_t later_ns)
{
	static const unsigned choices[] = { 0, TDM_FOLLOW_BUFFERS, TDM_FOLLOW_BUFFERS, TDM_FOLLOW_EVENTS,
		TDM_FOLLOW_BUFFERS | TDM_FOLLOW_EVENTS, TDM_FOLLOW_BUFFERS | TDM_FOLLOW_EVENTS, TDM_FOLLOW_KEEP,
		TDM_FOLLOW_KEEP | TDM_FOLLOW_EVENTS };
	for (size_t i = 0; i < LANES; i++)
		if (random_next(seed) % 4 == 0)
			m->wants[i] = choices[random_next(seed) % 8];
	for (size_t p = 0; p < m->f.fold.count; p++)
		for (size_t h = 0; h < m->f.fold.processes[p]->holding_count; h++) {
			const struct tdm_fold_holding *holding = m->f.fold.processes[p]->holdings[h];
			m->kept[lane_of(m->f.fold.processes[p]->number, holding->number)] = digest(holding);
		}
	const struct tdm_follow_sink sink = { .context = m, .wants = wants, .event = take_event };
	m->f.now_ns += later_ns;
	tdm_follower_look(m->f.follower, &sink, m->f.now_ns);
	assert_true(fold_is_valid(&m->f.fold));
	for (size_t p = 0; p < m->f.fold.count; p++)
		for (size_t h = 0; h < m->f.fold.processes[p]->holding_count; h++) {
			const struct tdm_fold_process *process = m->f.fold.processes[p];
			size_t lane = lane_of(process->number, process->holdings[h]->number);
			if ((m->wants[lane] & ~TDM_FOLLOW_BUFFERS) == TDM_FOLLOW_EVENTS && m->told[lane] == UINT64_MAX)
				m->told[lane] = 0; /* it was asked, and there are none yet */
		}
}

static void compare_device(const struct mirror *m, const struct tdm_fold_process *p,
	const struct tdm_fold_holding *holding, const struct tdm_fold *fresh, const struct tdm_fold_holding *now)
{
	size_t lane = lane_of(p->number, holding->number);
	for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
		struct tdm_counter a = holding->kinds[k].counter, b = now->kinds[k].counter;
		a.peak_ns = b.peak_ns = 0; /* by what was known of the clocks */
		if (holding->kinds[k].has_counter || now->kinds[k].has_counter)
			assert_memory_equal(&a, &b, offsetof(struct tdm_counter, from)); /* without padding */
		assert_int_equal(a.is_shared, b.is_shared);
	}
	if ((m->wants[lane] & TDM_FOLLOW_KEEP) != 0)
		assert_true(digest(holding) == m->kept[lane]);
	else if ((m->wants[lane] & TDM_FOLLOW_BUFFERS) != 0)
		same_holdings(&m->f.fold, holding, fresh, now);
	else
		assert_int_equal(fold_buffers(holding), 0);
}

static struct tdm_fold_process *find_place(const struct tdm_fold *fold, const char *place)
{
	for (size_t i = 0; i < fold->count; i++)
		if (strcmp(fold->processes[i]->place, place) == 0)
			return fold->processes[i];
	return NULL;
}

/* All programs rest. `is_listed`: the directory was looked at since the last of them began or went. */
static void compare(const struct mirror *m, bool is_listed)
{
	static struct follow fresh;
	follow_init(&fresh, (struct tdm_follow_options){ .dir = own_folder }, TDM_FOLLOW_BUFFERS);
	follow_look(&fresh);
	if (is_listed)
		assert_int_equal(m->f.fold.count, fresh.fold.count);
	for (size_t i = 0; i < fresh.fold.count; i++) {
		const struct tdm_fold_process *now = fresh.fold.processes[i];
		const struct tdm_fold_process *p = find_place(&m->f.fold, now->place);
		assert_true(p != NULL || !is_listed);
		if (p == NULL)
			continue;
		assert_int_equal(p->who.life, now->who.life);
		assert_int_equal(p->who.closed, now->who.closed);
		assert_int_equal(p->holding_count, now->holding_count);
		for (size_t h = 0; h < now->holding_count; h++) {
			const struct tdm_fold_holding *holding = tdm_fold_holding_find(p, now->holdings[h]->number);
			assert_non_null(holding);
			compare_device(m, p, holding, &fresh.fold, now->holdings[h]);
		}
	}
	assert_int_equal(follow_problems(&fresh), 0);
	follow_done(&fresh);
}

/* Takes away the ledger of some process, whether it runs or not. */
static void remove_one(const struct mirror *m, uint64_t r)
{
	if (m->f.fold.count != 0)
		unlink(m->f.fold.processes[r % m->f.fold.count]->place);
}

static void step(struct mirror *m, struct program *programs, uint64_t *seed)
{
	uint64_t r = random_next(seed);
	struct program *p = &programs[r % PROGRAMS];
	bool looked = false;
	for (size_t i = 0; i < PROGRAMS; i++) {
		uint64_t much = random_next(seed);
		order(&programs[i], (uint32_t)(much % 16 == 0 ? 9000 : much % 4 == 0 ? 0 : much % 60));
	}
	for (uint64_t i = 0; i < (r >> 8) % 4; i++) /* while they work */
		look(m, seed, random_next(seed) % (TDM_NS_PER_S / 4));
	switch ((r >> 12) % 16) {
	case 0:
	case 1:
		end_program(p, r >> 16);
		begin_program(p, r);
		break;
	case 2:
		remove_one(m, r >> 16);
		break;
	default:
		looked = true; /* nothing that only the directory would tell */
	}
	for (size_t i = 0; i < PROGRAMS; i++)
		wait_for(&programs[i]);
	bool is_listed = (r >> 20) % 2 == 0;
	look(m, seed, is_listed ? 1000 * TDM_NS_PER_S : looked ? random_next(seed) % 1000 : 1);
	compare(m, is_listed);
}

static void a_mirror(void **state)
{
	struct program programs[PROGRAMS];
	(void)state;
	for (uint64_t seed = 1, seeds = (uint64_t)full_size(2, 1); seed <= seeds; seed++) {
		uint64_t s = seed;
		memset(&mirror, 0, sizeof mirror);
		memset(mirror.told, 0xff, sizeof mirror.told);
		follow_init(&mirror.f, (struct tdm_follow_options){ .dir = own_folder }, 0);
		for (size_t i = 0; i < PROGRAMS; i++)
			begin_program(&programs[i], seed * 100 + i);
		for (int i = 0, steps = full_size(120, 40); i < steps; i++)
			step(&mirror, programs, &s);
		for (size_t i = 0; i < PROGRAMS; i++)
			end_program(&programs[i], i);
		look(&mirror, &s, 1000 * TDM_NS_PER_S);
		compare(&mirror, true);
		for (size_t i = 0; i < mirror.f.fold.count; i++)
			unlink(mirror.f.fold.processes[i]->place);
		look(&mirror, &s, 1000 * TDM_NS_PER_S);
		assert_int_equal(mirror.f.fold.count, 0);
		follow_done(&mirror.f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_mirror) };
	return cmocka_run_group_tests(tests, set_up, own_folder_remove);
}
