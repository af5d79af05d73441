#include "threads_load.h"

#include "baseline_counters.h"
#include "base/clock.h"
#include "ledger/read/reader.h"
#include "tidemark.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LIVE = 64, THREADS_MAX = 64, RECENT = 4096, MEASURE_MS = 300, WARM_MS = 50, BATCH = 64 };
enum { PARTS = 16, BUCKETS = 64 * PARTS }; /* of the histogram: PARTS for each power of two */
enum { TABLE = 1 << 14, BYTES = 4096, ID_SHIFT = 40 };

const char *const threads_side_names[THREADS_SIDES] = { "ours", "counters", "mutex" };

/* The table behind a mutex: the least that knows every live buffer, and a total. */
struct table {
	pthread_mutex_t lock;
	uint64_t ids[TABLE], bytes[TABLE], total;
};

struct run {
	enum threads_side side;
	struct baseline_counters *counters;
	struct table *table;
	pid_t pid;
	pthread_barrier_t together;
	_Atomic bool stop;
	bool is_timed; /* the second pass */
	const char *problem;
	double handovers;
};

struct thread {
	pthread_t id;
	struct run *run;
	unsigned number;
	uint64_t events, next, longest_ns;
	uint64_t naps;
	uint32_t histogram[BUCKETS];
};

static size_t place_of(struct table *t, uint64_t id)
{
	size_t at = (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 50) % TABLE;
	while (t->ids[at] != 0 && t->ids[at] != id)
		at = (at + 1) % TABLE;
	return at;
}

static void table_alloc(struct table *t, uint64_t id)
{
	pthread_mutex_lock(&t->lock);
	size_t at = place_of(t, id);
	t->ids[at] = id;
	t->bytes[at] = BYTES;
	t->total += BYTES;
	pthread_mutex_unlock(&t->lock);
}

static void table_free(struct table *t, uint64_t id)
{
	pthread_mutex_lock(&t->lock);
	size_t at = place_of(t, id), hole = at;
	t->total -= t->bytes[at];
	for (;;) { /* moves later entries of the run into the hole */
		at = (at + 1) % TABLE;
		if (t->ids[at] == 0)
			break;
		size_t home = (size_t)(t->ids[at] * UINT64_C(0x9e3779b97f4a7c15) >> 50) % TABLE;
		if ((at - home) % TABLE < (at - hole) % TABLE)
			continue;
		t->ids[hole] = t->ids[at];
		t->bytes[hole] = t->bytes[at];
		hole = at;
	}
	t->ids[hole] = 0;
	pthread_mutex_unlock(&t->lock);
}

static void report(const struct run *run, uint64_t id, bool is_free)
{
	if (run->side == THREADS_OURS && is_free)
		tidemark_free(0, TIDEMARK_L1, id);
	else if (run->side == THREADS_OURS)
		tidemark_alloc(&(struct tidemark_buffer){ .size = sizeof(struct tidemark_buffer),
			.kind = TIDEMARK_L1,
			.id = id,
			.address = id,
			.bytes = BYTES,
			.bytes_per_bank = BYTES / 64,
			.cores = 64 });
	else if (run->side == THREADS_COUNTERS && is_free)
		baseline_counters_release(run->counters, run->pid, BYTES, BASELINE_L1, 0);
	else if (run->side == THREADS_COUNTERS)
		baseline_counters_alloc(run->counters, run->pid, BYTES, BASELINE_L1, 0);
	else if (is_free)
		table_free(run->table, id);
	else
		table_alloc(run->table, id);
}

static void note_time(struct thread *t, uint64_t ns)
{
	unsigned power = ns < PARTS ? 0 : 63 - (unsigned)__builtin_clzll(ns) - 3;
	unsigned at = power == 0 ? (unsigned)ns : power * PARTS + (unsigned)(ns >> (power - 1)) % PARTS;
	t->histogram[at < BUCKETS ? at : BUCKETS - 1]++;
	t->longest_ns = ns > t->longest_ns ? ns : t->longest_ns;
}

/* The upper end of a part of the histogram. */
static double time_of(unsigned at)
{
	unsigned power = at / PARTS;
	return power == 0 ? at + 1.0 : (double)(((uint64_t)PARTS + at % PARTS + 1) << (power - 1));
}

static void one(struct thread *t, uint64_t id, bool is_free)
{
	uint64_t before = t->run->is_timed ? tdm_clock_ns() : 0;
	report(t->run, id, is_free);
	if (t->run->is_timed)
		note_time(t, tdm_clock_ns() - before);
	t->events++;
}

static void *work(void *state)
{
	struct thread *t = state;
	struct rusage usage;
	const uint64_t base = (uint64_t)(t->number + 1) << ID_SHIFT;
	for (uint64_t i = 0; i < LIVE; i++)
		report(t->run, base | t->next++, false);
	pthread_barrier_wait(&t->run->together);
	getrusage(RUSAGE_THREAD, &usage);
	t->naps -= (uint64_t)usage.ru_nvcsw;
	while (!atomic_load_explicit(&t->run->stop, memory_order_relaxed))
		for (unsigned i = 0; i < BATCH / 2; i++) {
			one(t, base | (t->next - LIVE), true);
			one(t, base | t->next++, false);
		}
	getrusage(RUSAGE_THREAD, &usage);
	t->naps += (uint64_t)usage.ru_nvcsw;
	pthread_barrier_wait(&t->run->together);
	for (uint64_t i = t->next - LIVE; i < t->next; i++)
		report(t->run, base | i, true);
	return NULL;
}

/* How often the recent events of our ledger change their thread, per 1,000. */
static const char *count_handovers(double *per_thousand)
{
	static struct tdm_ledger_record records[RECENT];
	struct tdm_ledger *ledger = NULL;
	uint64_t missed, changes = 0;
	if (tdm_ledger_open(tidemark_ledger_path(), &ledger, NULL) != 0)
		return "the ledger cannot be read";
	int64_t got = tdm_ledger_events(ledger, 0, 0, records, RECENT, &missed);
	tdm_ledger_close(ledger);
	if (got < 2)
		return "the ledger has no events";
	for (int64_t i = 1; i < got; i++)
		changes += records[i].id >> ID_SHIFT != records[i - 1].id >> ID_SHIFT;
	*per_thousand = 1000.0 * (double)changes / (double)(got - 1);
	return NULL;
}

/* Runs all threads for a while. Returns the time for one event. */
static double pass(struct run *run, struct thread *threads, unsigned count, bool is_timed, unsigned ms)
{
	pthread_barrier_init(&run->together, NULL, count + 1);
	atomic_store(&run->stop, false);
	run->is_timed = is_timed;
	for (unsigned i = 0; i < count; i++) {
		threads[i].events = threads[i].naps = 0;
		pthread_create(&threads[i].id, NULL, work, &threads[i]);
	}
	pthread_barrier_wait(&run->together);
	uint64_t begin = tdm_clock_ns();
	usleep(ms * 1000);
	if (run->side == THREADS_OURS)
		run->problem = count_handovers(&run->handovers);
	atomic_store(&run->stop, true);
	pthread_barrier_wait(&run->together);
	uint64_t ns = tdm_clock_ns() - begin, events = 0;
	for (unsigned i = 0; i < count; i++) {
		pthread_join(threads[i].id, NULL);
		events += threads[i].events;
	}
	pthread_barrier_destroy(&run->together);
	return (double)ns / (double)events;
}

static double percentile(const struct thread *threads, unsigned count, double share)
{
	uint64_t all = 0, sum = 0;
	for (unsigned at = 0; at < BUCKETS; at++)
		for (unsigned i = 0; i < count; i++)
			all += threads[i].histogram[at];
	for (unsigned at = 0; at < BUCKETS; at++) {
		for (unsigned i = 0; i < count; i++)
			sum += threads[i].histogram[at];
		if ((double)sum >= share * (double)all)
			return time_of(at);
	}
	return 0;
}

const char *threads_load_run(
	enum threads_side side, unsigned threads, const char *path, struct threads_figures *figures)
{
	static struct thread list[THREADS_MAX];
	static struct table table = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct run run = { .side = side, .table = &table, .pid = getpid() };
	uint64_t naps = 0, events = 0;
	if (threads > THREADS_MAX)
		return "too many threads";
	if (side == THREADS_COUNTERS && (run.counters = baseline_counters_open(path, 0)) == NULL)
		return "the counters' file cannot be made";
	memset(list, 0, sizeof list);
	for (unsigned i = 0; i < threads; i++) {
		list[i].run = &run;
		list[i].number = i;
	}
	pass(&run, list, threads, false, WARM_MS);
	figures->event_ns = pass(&run, list, threads, false, MEASURE_MS);
	for (unsigned i = 0; i < threads; i++) {
		naps += list[i].naps;
		events += list[i].events;
	}
	figures->naps = side == THREADS_OURS ? 1000.0 * (double)naps / (double)events : 0;
	pass(&run, list, threads, true, MEASURE_MS);
	figures->p999_ns = percentile(list, threads, 0.999);
	figures->longest_ns = 0;
	for (unsigned i = 0; i < threads; i++)
		figures->longest_ns = (double)list[i].longest_ns > figures->longest_ns ? (double)list[i].longest_ns
										       : figures->longest_ns;
	figures->handovers = run.handovers;
	if (run.counters != NULL) {
		baseline_counters_close(run.counters);
		unlink(path);
	}
	return run.problem == NULL && tidemark_lost() != 0 ? "events were lost" : run.problem;
}
