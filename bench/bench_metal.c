/*
 * What the preload costs a program that uses tt-metal. The program (metal_loop.c) allocates and releases buffers of the
 * stand-in for tt-metal's library; it runs without the preload, with it while tracking is off, and with tracking on, in
 * turn, ROUNDS times. The fastest round counts, because the rest is noise from other programs. What the preload adds is
 * the difference, as the mean of an allocation and its release.
 */
#include "bench.h"

#include "base/clock.h"
#include "bench_child.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 21, STARTS = 300, HOOKS_OF_EVENT = 2, OFF_MAX = 5, START_MAX = 1 };

enum run { PLAIN, OFF, ON, DIRECT, EMPTY, RUNS };

struct metal_bench {
	struct bench *bench;
	char dir[64], program[PATH_MAX + 32], bench_program[PATH_MAX + 32], preload[PATH_MAX + 64];
	struct bench_child children[RUNS];
	double best[RUNS]; /* ns per event */
};

static _Noreturn void fail(struct metal_bench *m, const char *what)
{
	fprintf(stderr, "bench: metal: %s failed\n", what);
	for (size_t i = 0; i < RUNS; i++)
		bench_child_stop(&m->children[i]);
	bench_remove_tree(m->dir);
	exit(2);
}

static bool start_run(struct metal_bench *m, enum run run)
{
	char dir[96];
	bool is_loop = run <= ON;
	const char *loop[] = { m->program, NULL };
	const char *direct[] = { m->bench_program, "--child", "event", run == DIRECT ? "dram" : "empty", NULL };
	const char *env[] = { run == OFF ? "TIDEMARK=0" : "TIDEMARK=1", "TIDEMARK_STACKS=0", dir,
		is_loop && run != PLAIN ? m->preload : NULL, NULL };
	snprintf(dir, sizeof dir, "TIDEMARK_DIR=%s", m->dir);
	return bench_child_start(&m->children[run], is_loop ? loop : direct, env);
}

/* Whether the run with tracking on has a ledger: else nothing was tracked, and the figures mean nothing. */
static bool is_tracked(const struct metal_bench *m)
{
	char pattern[128];
	glob_t found;
	snprintf(pattern, sizeof pattern, "%s/tidemark-*/%d.*", m->dir, (int)m->children[ON].pid);
	bool is_there = glob(pattern, 0, NULL, &found) == 0;
	if (is_there)
		globfree(&found);
	return is_there;
}

static void time_runs(struct metal_bench *m)
{
	for (size_t i = 0; i < RUNS; i++)
		if (!start_run(m, i))
			fail(m, "a run");
	for (size_t round = 0; round < ROUNDS; round++)
		for (size_t i = 0; i < RUNS; i++) {
			double figures[3]; /* of the event bench: the mean, and two more */
			if (!bench_child_ask(&m->children[i], figures, i <= ON ? sizeof *figures : sizeof figures))
				fail(m, "a measurement");
			if (round == 0 || figures[0] < m->best[i])
				m->best[i] = figures[0];
		}
	if (!is_tracked(m))
		fail(m, "tracking");
	for (size_t i = 0; i < RUNS; i++)
		if (!bench_child_stop(&m->children[i]))
			fail(m, "a run");
}

/* A difference of two measurements may be nothing, or less. */
static double added(const struct metal_bench *m, enum run run, enum run without)
{
	double more = m->best[run] - m->best[without];
	return more > 0.01 ? more : 0.01;
}

static void put_costs(struct metal_bench *m)
{
	time_runs(m);
	double on = added(m, ON, PLAIN);
	const struct bench_row rows[] = {
		{ "metal.buffer", "ns", on, added(m, DIRECT, EMPTY), 1.0 / 3, false,
			"the direct call of the library, at most 3 times" },
		{ "metal.share", "ns", on, m->best[PLAIN], 0, false, "what the stand-in itself takes" },
		{ "metal.off", "ns", added(m, OFF, PLAIN) / HOOKS_OF_EVENT, OFF_MAX, 1, false,
			"limit: added to a hooked call, tracking off" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (bench_wants(m->bench, rows[i].name))
			bench_put(m->bench, &rows[i]);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The whole life of a program that never loads the runtime, with and without the preload in turn; medians. */
static void put_start(struct metal_bench *m)
{
	static double ms[2][STARTS];
	const char *argv[] = { "/bin/true", NULL };
	for (size_t i = 0; i < STARTS; i++)
		for (size_t with = 0; with < 2; with++) {
			const char *env[] = { "TIDEMARK=1", with ? m->preload : NULL, NULL };
			uint64_t begin = tdm_clock_ns();
			if (bench_command(argv, env, NULL, 0) != 0)
				fail(m, argv[0]);
			ms[with][i] = (double)(tdm_clock_ns() - begin) / 1e6;
		}
	for (size_t with = 0; with < 2; with++)
		qsort(ms[with], STARTS, sizeof *ms[with], compare_doubles);
	double more = ms[1][STARTS / 2] - ms[0][STARTS / 2];
	bench_put(m->bench, &(struct bench_row){ "metal.start", "ms", more > 0.001 ? more : 0.001, START_MAX, 1, false,
				    "limit: later start of a program without the runtime" });
}

static void metal_bench_run(struct bench *bench)
{
	struct metal_bench m = { .bench = bench, .dir = "/dev/shm/tidemark-bench-XXXXXX" };
	bool costs = bench_wants(bench, "metal.buffer") || bench_wants(bench, "metal.share") ||
		     bench_wants(bench, "metal.off");
	snprintf(m.program, sizeof m.program, "%s/tidemark-bench-metal", bench_bin_dir(bench));
	snprintf(m.bench_program, sizeof m.bench_program, "%s/tidemark-bench", bench_bin_dir(bench));
	snprintf(m.preload, sizeof m.preload, "LD_PRELOAD=%s", TDM_PRELOAD);
	if (mkdtemp(m.dir) == NULL)
		fail(&m, "a directory in /dev/shm");
	if (costs)
		put_costs(&m);
	if (bench_wants(bench, "metal.start"))
		put_start(&m);
	bench_remove_tree(m.dir);
}

const struct bench_subject bench_metal = {
	.name = "metal",
	.summary = "the preload, in a program that uses a stand-in for tt-metal",
	.run = metal_bench_run,
};
