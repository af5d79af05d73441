/*
 * The threads bench: threads that report on the same device, beside the runtime's counters and beside a table behind a
 * mutex. More threads than processors are not measured. Rounds alternate between the sides; the best round counts, but
 * for the longest report the worst.
 */
#include "bench.h"

#include "bench_child.h"
#include "threads_load.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 3, NAME_CAP = 32 };
#define P999_MAX_NS    200e3
#define LONGEST_MAX_NS 10e6

static const unsigned counts[] = { 2, 4, 8, 16, 32 };

/* In the child, whose name is "SIDE THREADS PATH". */
struct job {
	enum threads_side side;
	unsigned threads;
	const char *path;
};

static void measure(void *state, void *figures)
{
	const struct job *job = state;
	const char *problem = threads_load_run(job->side, job->threads, job->path, figures);
	if (problem != NULL) {
		fprintf(stderr, "bench: threads: %s\n", problem);
		exit(2);
	}
}

static int child(const char *name)
{
	struct threads_figures figures;
	struct job job = { 0 };
	char path[PATH_MAX], side[NAME_CAP];
	if (sscanf(name, "%31s %u %4095s", side, &job.threads, path) != 3)
		return 2;
	while (job.side < THREADS_SIDES && strcmp(threads_side_names[job.side], side) != 0)
		job.side++;
	job.path = path;
	return job.side < THREADS_SIDES ? bench_child_serve(measure, &job, &figures, sizeof figures) : 2;
}

static bool measure_all(const char *program, const char *dir, unsigned threads, struct threads_figures best[])
{
	struct bench_child children[THREADS_SIDES];
	char names[THREADS_SIDES][PATH_MAX + NAME_CAP], where[PATH_MAX + NAME_CAP];
	const char *env[] = { "TIDEMARK=1", "TIDEMARK_STACKS=0", where, NULL };
	bool is_good = true;
	snprintf(where, sizeof where, "TIDEMARK_DIR=%s", dir);
	for (size_t i = 0; i < THREADS_SIDES; i++) {
		const char *argv[] = { program, "--child", "threads", names[i], NULL };
		snprintf(names[i], sizeof names[i], "%s %u %s/counters", threads_side_names[i], threads, dir);
		is_good &= bench_child_start(&children[i], argv, env);
	}
	for (int round = 0; round < ROUNDS && is_good; round++)
		for (size_t i = 0; i < THREADS_SIDES && is_good; i++) {
			struct threads_figures f;
			is_good = bench_child_ask(&children[i], &f, sizeof f);
			double longest =
				round == 0 || f.longest_ns > best[i].longest_ns ? f.longest_ns : best[i].longest_ns;
			double p999 = round == 0 || f.p999_ns > best[i].p999_ns ? f.p999_ns : best[i].p999_ns;
			if (round == 0 || f.event_ns < best[i].event_ns)
				best[i] = f;
			best[i].longest_ns = longest;
			best[i].p999_ns = p999;
		}
	for (size_t i = 0; i < THREADS_SIDES; i++)
		is_good &= bench_child_stop(&children[i]);
	return is_good;
}

static void put(struct bench *bench, unsigned threads, const struct threads_figures figures[])
{
	const struct threads_figures *ours = &figures[THREADS_OURS];
	char name[4][NAME_CAP], note[96];
	static const char *const suffixes[] = { "", ".mutex", ".p999", ".longest" };
	for (size_t i = 0; i < 4; i++)
		snprintf(name[i], sizeof name[i], "threads.%u%s", threads, suffixes[i]);
	snprintf(note, sizeof note, "the runtime's counters; %.2f hand-overs, %.2f system calls per 1,000",
		ours->handovers, ours->naps);
	const struct bench_row rows[] = {
		{ name[0], "ns", ours->event_ns, figures[THREADS_COUNTERS].event_ns, 1.5, false, note },
		{ name[1], "ns", ours->event_ns, figures[THREADS_MUTEX].event_ns, 0, false, "a table behind a mutex" },
		{ name[2], "ns", ours->p999_ns, P999_MAX_NS, 1, false, "limit: 99.9 % of reports" },
		{ name[3], "ns", ours->longest_ns, LONGEST_MAX_NS, 1, false, "limit: the longest report" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (bench_wants(bench, rows[i].name))
			bench_put(bench, &rows[i]);
}

static void run(struct bench *bench)
{
	char program[PATH_MAX + 32], dir[] = "/dev/shm/tidemark-bench-XXXXXX", row[NAME_CAP];
	cpu_set_t set;
	int processors = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
	if (mkdtemp(dir) == NULL) {
		bench_leave_out(bench, "threads", "/dev/shm cannot be written");
		return;
	}
	snprintf(program, sizeof program, "%s/tidemark-bench", bench_bin_dir(bench));
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		struct threads_figures figures[THREADS_SIDES];
		bool is_wanted = false;
		static const char *const suffixes[] = { "", ".mutex", ".p999", ".longest" };
		for (size_t k = 0; k < 4; k++) {
			snprintf(row, sizeof row, "threads.%u%s", counts[i], suffixes[k]);
			is_wanted |= bench_wants(bench, row);
		}
		snprintf(row, sizeof row, "threads.%u", counts[i]);
		if (is_wanted && (unsigned)processors < counts[i])
			bench_leave_out(bench, row, "fewer processors than threads");
		else if (is_wanted && !measure_all(program, dir, counts[i], figures))
			bench_leave_out(bench, row, "the measurement failed");
		else if (is_wanted)
			put(bench, counts[i], figures);
	}
	bench_remove_tree(dir);
}

const struct bench_subject bench_threads = { "threads", "threads that report on the same device", run, child };
