/*
 * Many threads on one device and on several, devices handed from thread to thread, and threads that come and go. In the
 * end every figure must be exact, and a reader in another process must never see anything impossible.
 */
#include "itest.h"
#include "../../unit/ledger_buffers.h"
#include "tidemark.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>

enum { THREADS = 64, DEVICES = 4, KEPT = 50, ROUNDS = 20000, CHURN_THREADS = 6000, CHURN_AT_ONCE = 24 };

struct worker {
	unsigned number, devices, rounds;
};

static pid_t reader;
static int stop_pipe[2];

/* A reader looks at the ledger all the time, until the writing end of the pipe is closed. */
static void look(struct tdm_ledger *ledger)
{
	int err = tdm_ledger_refresh(ledger, NULL);
	CHECK(err == 0);
	CHECK(tdm_ledger_liveness(ledger) == TDM_ALIVE);
	for (size_t d = 0; d < tdm_ledger_device_count(ledger); d++) {
		const struct tdm_ledger_view *view = tdm_ledger_device(ledger, d);
		struct tdm_ledger_buffer *buffers;
		size_t count;
		bool exact;
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++) {
			const struct tdm_counter *c = &view->counts[k];
			CHECK(c->reserved <= c->peak && c->buffers <= c->peak_buffers && c->buffers <= c->allocs);
			CHECK(c->reserved <= c->alloc_bytes && c->bank <= c->reserved);
		}
		CHECK(ledger_buffers(ledger, d, &buffers, &count, &exact) == 0);
		for (size_t i = 0; i < count; i++)
			CHECK(buffers[i].slot.id == buffers[i].slot.address && buffers[i].slot.kind < TDM_KIND_COUNT);
		free(buffers);
	}
}

static void start_reader(void)
{
	CHECK(pipe2(stop_pipe, O_CLOEXEC) == 0);
	CHECK(itest_alloc(0, TIDEMARK_SYSTEM, 1, 64, 1) == 0); /* so that there is a ledger */
	char path[ITEST_PATH_MAX];
	snprintf(path, sizeof path, "%s", tidemark_ledger_path());
	fflush(NULL);
	reader = fork();
	CHECK(reader >= 0);
	if (reader != 0) {
		close(stop_pipe[0]);
		return;
	}
	close(stop_pipe[1]);
	CHECK(fcntl(stop_pipe[0], F_SETFL, O_NONBLOCK) == 0);
	struct tdm_ledger *ledger = itest_open(path);
	char byte;
	do
		look(ledger);
	while (read(stop_pipe[0], &byte, 1) < 0);
	CHECK_EQ(tdm_ledger_refused(ledger), 0);
	tdm_ledger_close(ledger);
	_exit(0);
}

static void stop_reader(void)
{
	int status;
	close(stop_pipe[1]);
	CHECK(waitpid(reader, &status, 0) == reader && itest_exited(status));
	CHECK(tidemark_free(0, TIDEMARK_SYSTEM, 1) == 0);
}

static uint64_t id_of(unsigned thread, uint64_t n)
{
	return (uint64_t)(thread + 1) << 32 | n;
}

static void *work(void *context)
{
	const struct worker *w = context;
	uint64_t seed = w->number;
	for (uint64_t i = 0; i < w->rounds; i++) {
		uint32_t device = (uint32_t)((i / 64 + w->number) % w->devices), kind = (uint32_t)(i % 3);
		uint64_t id = id_of(w->number, i);
		CHECK(itest_alloc(device, kind, id, 64 + (id & 7), 2) == 0);
		if (itest_random(&seed) % 1000 == 0)
			CHECK(tidemark_name("now and then a name") != 0);
		if (i >= KEPT) { /* what is left in the end are the last KEPT of each thread */
			uint64_t old = i - KEPT;
			device = (uint32_t)((old / 64 + w->number) % w->devices);
			CHECK(tidemark_free(device, (uint32_t)(old % 3), id_of(w->number, old)) == 0);
		}
	}
	return NULL;
}

static void run_workers(unsigned threads, unsigned devices, unsigned rounds)
{
	pthread_t ids[THREADS];
	struct worker workers[THREADS];
	for (unsigned i = 0; i < threads; i++) {
		workers[i] = (struct worker){ i, devices, rounds };
		CHECK(pthread_create(&ids[i], NULL, work, &workers[i]) == 0);
	}
	for (unsigned i = 0; i < threads; i++)
		CHECK(pthread_join(ids[i], NULL) == 0);
}

static void check_workers(unsigned threads, unsigned devices, unsigned rounds)
{
	uint64_t live = 0, allocs = 0, bytes = 0, expected_bytes = 0, found = 0;
	struct tidemark_usage usage = TIDEMARK_USAGE_INIT;
	for (unsigned t = 0; t < threads; t++)
		for (uint64_t i = rounds - KEPT; i < rounds; i++)
			expected_bytes += 2 * (64 + (id_of(t, i) & 7));
	for (uint32_t d = 0; d < devices; d++)
		for (uint32_t k = 0; k < 3; k++) {
			CHECK(tidemark_get_usage(d, k, &usage) == 0);
			live += usage.buffers;
			allocs += usage.allocs;
			bytes += usage.bytes;
			CHECK_EQ(usage.allocs - usage.frees, usage.buffers);
			CHECK_EQ(usage.double_frees + usage.unknown_frees + usage.rereports, 0);
		}
	CHECK_EQ(live, (uint64_t)threads * KEPT);
	CHECK_EQ(allocs, (uint64_t)threads * rounds);
	CHECK_EQ(bytes, expected_bytes);
	CHECK_EQ(tidemark_lost(), 0);
	struct tdm_ledger *ledger = itest_open(tidemark_ledger_path());
	for (size_t d = 0; d < tdm_ledger_device_count(ledger); d++) {
		size_t count;
		free(itest_buffers(ledger, d, &count));
		found += count;
	}
	CHECK_EQ(found, live);
	tdm_ledger_close(ledger);
}

static void one_device(void)
{
	unsigned rounds = itest_scale(ROUNDS);
	start_reader();
	run_workers(THREADS, 1, rounds);
	stop_reader();
	check_workers(THREADS, 1, rounds);
}

static void several_devices(void)
{
	unsigned rounds = itest_scale(ROUNDS);
	start_reader();
	run_workers(THREADS, DEVICES, rounds);
	stop_reader();
	check_workers(THREADS, DEVICES, rounds);
}

/* Two threads take turns on a device often enough that it changes its owner again and again. */
static _Atomic unsigned turn;

static void *take_turns(void *context)
{
	unsigned self = *(const unsigned *)context, devices = 30, turns = 12;
	for (unsigned t = 0; t < turns; t++) {
		while (atomic_load(&turn) % 2 != self)
			sched_yield();
		for (unsigned d = 0; d < devices; d++)
			for (uint64_t i = 0; i < itest_scale(5000); i++) {
				CHECK(itest_alloc(d, TIDEMARK_L1, id_of(self, i), 64, 1) == 0);
				CHECK(tidemark_free(d, TIDEMARK_L1, id_of(self, i)) == 0);
			}
		atomic_fetch_add(&turn, 1);
	}
	return NULL;
}

/* And two that meet: one has the device while the other comes in between. */
static void *come_in_between(void *context)
{
	unsigned self = *(const unsigned *)context;
	for (unsigned d = 30; d < 60; d++)
		for (uint64_t i = 0; i < itest_scale(20000); i++) {
			if (self == 1 && i % 700 != 0)
				continue;
			CHECK(itest_alloc(d, TIDEMARK_L1, id_of(self, i), 64, 1) == 0);
			CHECK(tidemark_free(d, TIDEMARK_L1, id_of(self, i)) == 0);
			if (self == 1)
				sched_yield();
		}
	return NULL;
}

static void run_two(void *(*run)(void *context))
{
	pthread_t ids[2];
	unsigned numbers[2] = { 0, 1 };
	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&ids[i], NULL, run, &numbers[i]) == 0);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_join(ids[i], NULL) == 0);
}

static void hand_to_hand(void)
{
	struct tidemark_usage usage = TIDEMARK_USAGE_INIT;
	run_two(take_turns);
	run_two(come_in_between);
	for (uint32_t d = 0; d < 30; d++) {
		CHECK(tidemark_get_usage(d, TIDEMARK_L1, &usage) == 0);
		CHECK_EQ(usage.buffers, 0);
		CHECK_EQ(usage.allocs, 2ull * 12 * itest_scale(5000));
		CHECK_EQ(usage.peak_bytes, 64);
	}
	CHECK_EQ(tidemark_lost(), 0);
}

/* More threads than there are records for, each with a few reports; every other one leaves a buffer behind. */
static void *live_shortly(void *context)
{
	uint64_t n = (uint64_t)(uintptr_t)context;
	for (uint64_t i = 0; i < 5; i++)
		CHECK(itest_alloc(n % 2, TIDEMARK_CB, n << 8 | i, 64, 1) == 0);
	for (uint64_t i = 0; i < 4 + n % 2; i++)
		CHECK(tidemark_free(n % 2, TIDEMARK_CB, n << 8 | i) == 0);
	return NULL;
}

static void threads_come_and_go(void)
{
	unsigned threads = itest_scale(CHURN_THREADS);
	pthread_t ids[CHURN_AT_ONCE];
	for (unsigned first = 0; first < threads; first += CHURN_AT_ONCE) {
		for (unsigned i = 0; i < CHURN_AT_ONCE; i++)
			CHECK(pthread_create(&ids[i], NULL, live_shortly, (void *)(uintptr_t)(first + i)) == 0);
		for (unsigned i = 0; i < CHURN_AT_ONCE; i++)
			CHECK(pthread_join(ids[i], NULL) == 0);
	}
	unsigned all = (threads + CHURN_AT_ONCE - 1) / CHURN_AT_ONCE * CHURN_AT_ONCE;
	CHECK_EQ(itest_live(0, TIDEMARK_CB) + itest_live(1, TIDEMARK_CB), all / 2);
	CHECK_EQ(tidemark_lost(), 0);
}

/* What one thread has allocated another frees, while the device is described and read by others. */
enum { PAIRS = 8, HANDED = 4096 };
static _Atomic uint64_t handed[PAIRS][HANDED];

static void *give(void *context)
{
	unsigned pair = *(const unsigned *)context;
	for (uint64_t i = 0; i < HANDED; i++) {
		CHECK(itest_alloc(0, TIDEMARK_DRAM, id_of(pair, i + 1), 64, 1) == 0);
		atomic_store(&handed[pair][i], id_of(pair, i + 1));
	}
	return NULL;
}

static void *take(void *context)
{
	unsigned pair = *(const unsigned *)context;
	for (uint64_t i = 0; i < HANDED; i++) {
		uint64_t id;
		while ((id = atomic_load(&handed[pair][i])) == 0)
			sched_yield();
		CHECK(tidemark_free(0, TIDEMARK_DRAM, id) == 0);
	}
	return NULL;
}

static void *describe(void *context)
{
	struct tidemark_region regions[2] = { { .kind = TIDEMARK_DRAM, .banks = 12 },
		{ .kind = TIDEMARK_L1, .banks = 64 } };
	struct tidemark_device device = {
		.size = sizeof device, .card = "n300", .region_count = 2, .regions = regions
	};
	struct tidemark_usage usage = TIDEMARK_USAGE_INIT;
	(void)context;
	for (int i = 0; i < 2000; i++) {
		CHECK(tidemark_describe_device(&device) == 0);
		CHECK(tidemark_get_usage(0, TIDEMARK_DRAM, &usage) == 0);
		CHECK(tidemark_phase("phase") == 0);
	}
	return NULL;
}

static void from_thread_to_thread(void)
{
	pthread_t ids[2 * PAIRS + 1];
	unsigned numbers[PAIRS];
	start_reader();
	for (unsigned i = 0; i < PAIRS; i++) {
		numbers[i] = i;
		CHECK(pthread_create(&ids[2 * i], NULL, give, &numbers[i]) == 0);
		CHECK(pthread_create(&ids[2 * i + 1], NULL, take, &numbers[i]) == 0);
	}
	CHECK(pthread_create(&ids[2 * PAIRS], NULL, describe, NULL) == 0);
	for (unsigned i = 0; i < 2 * PAIRS + 1; i++)
		CHECK(pthread_join(ids[i], NULL) == 0);
	stop_reader();
	CHECK_EQ(itest_live(0, TIDEMARK_DRAM), 0);
	CHECK_EQ(tidemark_lost(), 0);
}

/* A thread is held up inside the library by a signal handler that waits for others, which must neither wait for ever
 * nor come in beside it. */
static _Atomic int held, release_it;

static void hold(int signal_number)
{
	(void)signal_number;
	atomic_store(&held, 1);
	while (!atomic_load(&release_it))
		sched_yield();
	atomic_store(&held, 0);
}

enum { HELD_ROUNDS = 8 };
static _Atomic uint32_t held_on; /* the device of this round: a new one, so that its thread is its owner */
static _Atomic uint64_t held_reports;

static void *be_held(void *context)
{
	_Atomic int *stop = context;
	for (uint64_t i = 0; !atomic_load(stop); i++) {
		uint32_t device = atomic_load(&held_on);
		CHECK(itest_alloc(device, TIDEMARK_L1, id_of(1, i), 64, 1) == 0);
		CHECK(tidemark_free(device, TIDEMARK_L1, id_of(1, i)) == 0);
		atomic_fetch_add(&held_reports, 1);
	}
	return NULL;
}

/* Returns how many were refused. */
static uint64_t hold_and_report(pthread_t id, uint32_t device)
{
	struct tidemark_usage usage = TIDEMARK_USAGE_INIT;
	uint64_t refused = 0, before = atomic_load(&held_reports);
	atomic_store(&release_it, 0);
	atomic_store(&held_on, device);
	while (atomic_load(&held_reports) < before + 100)
		sched_yield();
	CHECK(pthread_kill(id, SIGUSR1) == 0);
	while (!atomic_load(&held))
		sched_yield();
	for (uint64_t i = 0; i < 100; i++) { /* whether it is held inside is a matter of chance */
		int err = itest_alloc(device, TIDEMARK_L1, id_of(0, i), 64, 1);
		CHECK(err == 0 || err == -EBUSY);
		refused += err != 0;
		if (err == 0)
			CHECK(tidemark_free(device, TIDEMARK_L1, id_of(0, i)) == 0);
		else
			CHECK(tidemark_get_usage(device, TIDEMARK_L1, &usage) == -EBUSY);
	}
	atomic_store(&release_it, 1);
	while (atomic_load(&held))
		sched_yield();
	return refused;
}

static void held_up_inside(void)
{
	_Atomic int stop = 0;
	pthread_t id;
	uint64_t refused = 0;
	struct sigaction action = { .sa_handler = hold };
	CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
	CHECK(pthread_create(&id, NULL, be_held, &stop) == 0);
	for (uint32_t round = 0; round < HELD_ROUNDS; round++)
		refused += hold_and_report(id, round);
	atomic_store(&stop, 1);
	CHECK(pthread_join(id, NULL) == 0);
	CHECK_EQ(tidemark_lost(), refused);
	struct tdm_ledger *ledger = itest_open(tidemark_ledger_path());
	for (uint32_t round = 0; round < HELD_ROUNDS; round++) {
		size_t count;
		CHECK(itest_alloc(round, TIDEMARK_L1, 1, 64, 1) == 0); /* everybody may come in again */
		CHECK(tidemark_free(round, TIDEMARK_L1, 1) == 0);
		CHECK(tdm_ledger_refresh(ledger, NULL) == 0);
		free(itest_buffers(ledger, round, &count));
		CHECK_EQ(count, 0);
	}
	tdm_ledger_close(ledger);
}

/* A thread remembers the devices that it has used, by their numbers: more of them than it can remember, in turns, so
 * that one takes the place of another all the time. Then in a child, whose ledger has none of them. */
enum { MANY_DEVICES = 48, APART = 32, MANY_ROUNDS = 20 };

static void use_many_devices(uint32_t first_id)
{
	for (uint32_t round = 0; round < MANY_ROUNDS; round++) {
		for (uint32_t d = 0; d < MANY_DEVICES; d++) {
			uint32_t other = (d + APART * round) % MANY_DEVICES;
			CHECK(itest_alloc(other, TIDEMARK_L1, first_id + round, 64 * (other + 1), 1) == 0);
		}
		for (uint32_t d = 0; d < MANY_DEVICES && round % 2 != 0; d++)
			CHECK(tidemark_free(d, TIDEMARK_L1, first_id + round) == 0);
	}
	for (uint32_t d = 0; d < MANY_DEVICES; d++) {
		struct tidemark_usage usage = TIDEMARK_USAGE_INIT;
		CHECK(tidemark_get_usage(d, TIDEMARK_L1, &usage) == 0);
		CHECK_EQ(usage.bytes, 64 * (d + 1) * (MANY_ROUNDS / 2));
		CHECK_EQ(usage.unknown_frees + usage.rereports, 0);
	}
}

static void *free_many_devices(void *unused)
{
	(void)unused;
	for (uint32_t round = 0; round < MANY_ROUNDS; round += 2)
		for (uint32_t d = 0; d < MANY_DEVICES; d++)
			CHECK(tidemark_free(d, TIDEMARK_L1, 1 + round) == 0);
	return NULL;
}

static void more_devices_than_a_thread_remembers(void)
{
	CHECK(tidemark_enable() == 0);
	pthread_t thread;
	use_many_devices(1);
	CHECK(pthread_create(&thread, NULL, free_many_devices, NULL) == 0); /* it remembers none */
	CHECK(pthread_join(thread, NULL) == 0);
	for (uint32_t d = 0; d < MANY_DEVICES; d++)
		CHECK_EQ(itest_live(d, TIDEMARK_L1), 0);
	CHECK_EQ(tidemark_lost(), 0);
	fflush(NULL);
	int status;
	pid_t child = fork();
	if (child == 0) {
		use_many_devices(1);
		_exit(tidemark_lost() != 0);
	}
	CHECK(waitpid(child, &status, 0) == child && itest_exited(status));
}

int main(int argc, char **argv)
{
	static const struct itest tests[] = {
		{ "one_device", one_device, NULL },
		{ "several_devices", several_devices, NULL },
		{ "hand_to_hand", hand_to_hand, NULL },
		{ "threads_come_and_go", threads_come_and_go, NULL },
		{ "from_thread_to_thread", from_thread_to_thread, NULL },
		{ "held_up_inside", held_up_inside, NULL },
		{ "more_devices_than_a_thread_remembers", more_devices_than_a_thread_remembers, NULL },
		{ 0 },
	};
	return itest_main(argc, argv, tests);
}
