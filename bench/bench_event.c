/*
 * The cost of reporting an event, against the known alternatives: the socket of the first client, the runtime's own
 * counters, and LTTng. Every run is a separate process; they are asked in turn, ROUNDS times. For means the fastest
 * round counts, because the rest is noise from other programs; for percentiles (of groups of events) the median round
 * counts, because noise is what they are about. With a million live buffers the median counts, too: the speed of both
 * sides depends on how much of the shared cache other programs leave, and no round is undisturbed. Times are ns per
 * event.
 */
#include "bench.h"

#include "bench_child.h"
#include "event_load.h"
#include "event_runs.h"
#include "lttng_session.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { ROUNDS = 11, BYTES_MAX = 128, STAYS_MAX = 4 << 20, INSTRUCTIONS_MAX = 4, DERIVED_MAX = 5, MANY_LIVE = 1000000 };
#define MANY_ROOM (UINT64_C(512) << 20) /* bytes of file system for MANY_LIVE buffers and for twice as many */

enum run_idx {
	ONE,
	DERIVED,
	DRAM,
	LIVE_100000,
	MILLION,
	AFTER_BURST,
	TWO_DEVICES,
	SAME_DEVICE,
	INDEX,
	OFF,
	EMPTY,
	STACKS,
	STACKS_FP,
	COUNTERS,
	SOCKET,
	LTTNG,
	TIMED, /* number of the runs above */
	MEMORY_100000 = TIMED,
	MEMORY_MILLION,
	MEMORY_BURST,
	CALLS_NOTHING,
	CALLS_ALLOC,
	CALLS_FREE,
	RUNS
};

static const struct event_run runs[RUNS] = {
	[ONE] = { .name = "one", .serve = event_serve_ours, .live = 1000, .threads = 1 },
	[DERIVED] = { .name = "derived", .serve = event_serve_ours, .live = 1000, .threads = 1, .derived = true },
	[DRAM] = { .name = "dram", .serve = event_serve_ours, .live = 1000, .threads = 1, .dram = true },
	[LIVE_100000] = { .name = "100000", .serve = event_serve_ours, .live = 100000, .threads = 1 },
	[MILLION] = { .name = "million",
		.serve = event_serve_ours,
		.live = MANY_LIVE,
		.threads = 1,
		.order = EVENT_RANDOM },
	[AFTER_BURST] = { .name = "after_burst",
		.serve = event_serve_ours,
		.live = 1000,
		.burst = MANY_LIVE,
		.threads = 1 },
	[INDEX] = { .name = "index", .serve = event_serve_index, .live = MANY_LIVE, .order = EVENT_RANDOM },
	[TWO_DEVICES] = { .name = "two_devices", .serve = event_serve_ours, .live = 1000, .threads = EVENT_THREADS },
	[SAME_DEVICE] = { .name = "same_device",
		.serve = event_serve_ours,
		.live = 1000,
		.threads = EVENT_THREADS,
		.same_device = true },
	[OFF] = { .name = "off", .serve = event_serve_ours, .live = 1000, .threads = 1, .off = true },
	[EMPTY] = { .name = "empty", .serve = event_serve_empty, .live = 1000 },
	[STACKS] = { .name = "stacks",
		.serve = event_serve_ours,
		.live = 1000,
		.threads = 1,
		.depth = 8,
		.env = { "TIDEMARK_STACKS=8" } },
	[STACKS_FP] = { .name = "stacks_fp",
		.serve = event_serve_ours,
		.live = 1000,
		.threads = 1,
		.depth = 8,
		.env = { "TIDEMARK_STACKS=8", "TIDEMARK_UNWIND=fp" } },
	[COUNTERS] = { .name = "counters", .serve = event_serve_counters, .live = 1000 },
	[SOCKET] = { .name = "socket", .serve = event_serve_socket, .live = 1000 },
	[LTTNG] = { .name = "lttng" }, /* a separate program */
	[MEMORY_100000] = { .name = "memory_100000", .serve = event_serve_memory, .live = 100000 },
	[MEMORY_MILLION] = { .name = "memory_million", .serve = event_serve_memory, .live = MANY_LIVE },
	[MEMORY_BURST] = { .name = "memory_burst", .serve = event_serve_burst, .live = 1000, .burst = MANY_LIVE },
	[CALLS_NOTHING] = { .name = "calls_nothing", .serve = event_serve_calls },
	[CALLS_ALLOC] = { .name = "calls_alloc", .serve = event_serve_calls },
	[CALLS_FREE] = { .name = "calls_free", .serve = event_serve_calls },
};

enum figure { MEAN, P99, P999, MEDIAN_MEAN };

/* Rows that compare two runs. A goal of 0 is none. */
static const struct {
	const char *name;
	enum run_idx ours, baseline;
	enum figure figure;
	double goal;
	const char *note;
} rows[] = {
	{ "event.vs_counters", ONE, COUNTERS, MEAN, 2, "the runtime's counters in shared memory" },
	{ "event.vs_lttng", ONE, LTTNG, MEAN, 3, "LTTng-UST, equal payload, in memory" },
	{ "event.vs_socket", ONE, SOCKET, MEAN, 25, "144 bytes sent to a reader on the other core" },
	{ "event.p99.vs_counters", ONE, COUNTERS, P99, 0, "99 % of groups of 64, counters" },
	{ "event.p99.vs_lttng", ONE, LTTNG, P99, 0, "99 % of groups of 64, LTTng" },
	{ "event.p99.vs_socket", ONE, SOCKET, P99, 0, "99 % of groups of 64, socket" },
	{ "event.p999.vs_counters", ONE, COUNTERS, P999, 0, "99.9 % of groups of 64, counters" },
	{ "event.p999.vs_lttng", ONE, LTTNG, P999, 0, "99.9 % of groups of 64, LTTng" },
	{ "event.p999.vs_socket", ONE, SOCKET, P999, 0, "99.9 % of groups of 64, socket" },
	{ "event.dram", DRAM, COUNTERS, MEAN, 0, "counters; here DRAM instead of L1" },
	{ "event.100000", LIVE_100000, ONE, MEAN, 0.2, "ours with 1,000 live; here 100,000" },
	{ "event.million", MILLION, INDEX, MEDIAN_MEAN, 1.0 / 3, "its hash table alone, with 1,000,000 live" },
	{ "event.after_burst", AFTER_BURST, ONE, MEAN, 1 / 1.5, "ours before; here after 1,000,000 more were freed" },
	{ "event.two_devices", TWO_DEVICES, ONE, MEAN, 1 / 1.5, "ours with one thread; here each of two" },
	{ "event.same_device", SAME_DEVICE, ONE, MEAN, 0, "ours with one thread; here each of two" },
	{ "event.off.ns", OFF, EMPTY, MEAN, 0, "the loop without the calls" },
	{ "event.stacks8", STACKS, COUNTERS, MEAN, 0, "counters; here with stacks of 8 frames" },
	{ "event.stacks8_fp", STACKS_FP, COUNTERS, MEAN, 0, "counters; here by frame pointers" },
};
enum { ROWS = sizeof rows / sizeof *rows };

#define EACH_NOTES "limit: for each live buffer, growth aside", "the same limit; what is in store included"
static const struct {
	const char *full, *as_is;
	enum run_idx run;
	double limit;
	const char *full_note, *as_is_note;
} memory_rows[] = {
	{ "event.bytes.100000", "event.bytes_as_is.100000", MEMORY_100000, BYTES_MAX, EACH_NOTES },
	{ "event.bytes.million", "event.bytes_as_is.million", MEMORY_MILLION, BYTES_MAX, EACH_NOTES },
	{ "event.bytes.burst", "event.bytes_as_is.burst", MEMORY_BURST, STAYS_MAX,
		"limit: of the file, after 1,000,000 were freed", "the same limit; with private memory" },
};

struct event_bench {
	struct bench *bench;
	char program[PATH_MAX + 32], lttng_program[PATH_MAX + 32];
	char dir[PATH_MAX]; /* all files are in it */
	struct lttng_session lttng;
	struct bench_child children[TIMED];
	bool wanted[TIMED];
	const char *missing[TIMED]; /* why a requested run is not possible; NULL: it is */
	double figures[TIMED][P999 + 1][ROUNDS];
};

static void event_bench_done(struct event_bench *e)
{
	for (size_t i = 0; i < TIMED; i++)
		bench_child_stop(&e->children[i]);
	lttng_session_close(&e->lttng);
	bench_remove_tree(e->dir);
}

static _Noreturn void fail(struct event_bench *e, const char *run)
{
	fprintf(stderr, "bench: event: the run '%s' failed\n", run);
	event_bench_done(e);
	exit(2);
}

static void make_dir(struct event_bench *e, const char *base)
{
	snprintf(e->dir, sizeof e->dir, "%s/tidemark-bench-XXXXXX", base);
	if (mkdtemp(e->dir) == NULL)
		e->dir[0] = '\0';
}

static bool start_run(struct event_bench *e, enum run_idx idx, struct bench_child *child)
{
	char dir[PATH_MAX + 16];
	const struct event_run *run = &runs[idx];
	const char *argv[] = { e->program, "--child", "event", run->name, NULL };
	const char *env[] = { "TIDEMARK=1", "TIDEMARK_STACKS=0", "TIDEMARK_UNWIND=auto", dir, run->env[0], run->env[1],
		NULL };
	snprintf(dir, sizeof dir, "TIDEMARK_DIR=%s", e->dir);
	if (idx == LTTNG) {
		argv[0] = e->lttng_program;
		argv[1] = NULL;
		env[4] = e->lttng.home;
	}
	return bench_child_start(child, argv, env);
}

static void start_lttng(struct event_bench *e)
{
	char home[PATH_MAX + 8];
	snprintf(home, sizeof home, "%s/lttng", e->dir);
	if (access(e->lttng_program, X_OK) != 0)
		e->missing[LTTNG] = "built without lttng-ust";
	else if (mkdir(home, 0700) != 0)
		e->missing[LTTNG] = strerror(errno);
	else
		e->missing[LTTNG] = lttng_session_open(&e->lttng, home);
}

/* Why a run is not possible here; NULL: it is. */
static const char *missing_for(const struct event_bench *e, enum run_idx run)
{
	struct statvfs fs;
	if (runs[run].live + runs[run].burst >= MANY_LIVE &&
		(statvfs(e->dir, &fs) != 0 || fs.f_bavail * fs.f_frsize < MANY_ROOM))
		return "/dev/shm is too small";
	return NULL;
}

static void time_runs(struct event_bench *e)
{
	if (e->wanted[LTTNG])
		start_lttng(e);
	for (size_t i = 0; i < TIMED; i++)
		if (e->wanted[i]) {
			if (i != LTTNG)
				e->missing[i] = missing_for(e, i);
			if (e->missing[i] == NULL && !start_run(e, i, &e->children[i]))
				fail(e, runs[i].name);
		}
	for (size_t round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < TIMED; i++) {
			struct event_figures f;
			if (e->children[i].pid == 0)
				continue;
			if (!bench_child_ask(&e->children[i], &f, sizeof f))
				fail(e, runs[i].name);
			e->figures[i][MEAN][round] = f.mean;
			e->figures[i][P99][round] = f.p99;
			e->figures[i][P999][round] = f.p999;
		}
	for (size_t i = 0; i < TIMED; i++)
		if (!bench_child_stop(&e->children[i]))
			fail(e, runs[i].name);
	lttng_session_close(&e->lttng);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The figure that counts for a run: see the head of this file. */
static double pick(struct event_bench *e, enum run_idx run, enum figure figure)
{
	double *values = e->figures[run][figure == MEDIAN_MEAN ? MEAN : figure];
	qsort(values, ROUNDS, sizeof *values, compare_doubles);
	return values[figure == MEAN ? 0 : ROUNDS / 2];
}

static const char derived_row[] = "event.derived_bank_bytes";

/* Half of the events are allocations, so the difference of the means is half of what an allocation costs more. */
static void put_derived(struct event_bench *e)
{
	double more = 2 * (pick(e, DERIVED, MEAN) - pick(e, ONE, MEAN));
	bench_put(e->bench, &(struct bench_row){ derived_row, "ns", more > 0.01 ? more : 0.01, DERIVED_MAX, 1, false,
				    "limit: added to an allocation with bytes_per_bank = 0" });
}

static void put_times(struct event_bench *e)
{
	bool any = bench_wants(e->bench, derived_row);
	e->wanted[ONE] = e->wanted[DERIVED] = any;
	for (size_t i = 0; i < ROWS; i++) {
		bool wanted = bench_wants(e->bench, rows[i].name);
		e->wanted[rows[i].ours] |= wanted;
		e->wanted[rows[i].baseline] |= wanted;
		any |= wanted;
	}
	if (!any)
		return;
	time_runs(e);
	if (bench_wants(e->bench, derived_row))
		put_derived(e);
	for (size_t i = 0; i < ROWS; i++) {
		enum run_idx ours = rows[i].ours, baseline = rows[i].baseline;
		const char *missing = e->missing[ours] != NULL ? e->missing[ours] : e->missing[baseline];
		if (!bench_wants(e->bench, rows[i].name))
			continue;
		if (missing != NULL)
			bench_leave_out(e->bench, rows[i].name, missing);
		else
			bench_put(e->bench,
				&(struct bench_row){ rows[i].name, "ns", pick(e, ours, rows[i].figure),
					pick(e, baseline, rows[i].figure), rows[i].goal, false, rows[i].note });
	}
}

static void put_memory(struct event_bench *e)
{
	for (size_t i = 0; i < sizeof memory_rows / sizeof *memory_rows; i++) {
		struct bench_child child;
		struct event_memory m;
		const char *full = memory_rows[i].full, *as_is = memory_rows[i].as_is;
		if (!bench_wants(e->bench, full) && !bench_wants(e->bench, as_is))
			continue;
		const char *missing = missing_for(e, memory_rows[i].run);
		if (missing != NULL) {
			bench_leave_out(e->bench, full, missing);
			continue;
		}
		if (!start_run(e, memory_rows[i].run, &child))
			fail(e, runs[memory_rows[i].run].name);
		bool good = bench_child_ask(&child, &m, sizeof m);
		if (!bench_child_stop(&child) || !good)
			fail(e, runs[memory_rows[i].run].name);
		if (bench_wants(e->bench, full))
			bench_put(e->bench, &(struct bench_row){ full, "B", m.full, memory_rows[i].limit, 1, false,
						    memory_rows[i].full_note });
		if (bench_wants(e->bench, as_is))
			bench_put(e->bench, &(struct bench_row){ as_is, "B", m.as_is, memory_rows[i].limit, 0, false,
						    memory_rows[i].as_is_note });
	}
}

static void put_instructions(struct event_bench *e)
{
	static const char row[] = "event.off.instructions";
	double count = 0;
	if (!bench_wants(e->bench, row))
		return;
	const char *missing = event_off_instructions(e->program, &count);
	if (missing != NULL)
		bench_leave_out(e->bench, row, missing);
	else
		bench_put(e->bench, &(struct bench_row){ row, "instr", count, INSTRUCTIONS_MAX, 1, false,
					    "limit: added by a call that is switched off" });
}

static void event_bench_run(struct bench *bench)
{
	struct event_bench e = { .bench = bench };
	snprintf(e.program, sizeof e.program, "%s/tidemark-bench", bench_bin_dir(bench));
	snprintf(e.lttng_program, sizeof e.lttng_program, "%s/tidemark-bench-lttng", bench_bin_dir(bench));
	make_dir(&e, "/dev/shm");
	if (e.dir[0] == '\0')
		make_dir(&e, "/tmp");
	put_times(&e);
	put_instructions(&e);
	put_memory(&e);
	event_bench_done(&e);
}

static int event_child(const char *name)
{
	for (size_t i = 0; i < RUNS; i++)
		if (runs[i].serve != NULL && strcmp(runs[i].name, name) == 0)
			return runs[i].serve(&runs[i]);
	return 2;
}

const struct bench_subject bench_event = {
	.name = "event",
	.summary = "reporting an event, against a socket, the runtime's counters, and LTTng",
	.run = event_bench_run,
	.child = event_child,
};
