/*
 * Watching a busy machine: 32 cards, 200 processes with ledgers, a million live buffers, and some processes that keep
 * allocating. The cost of ten pictures a second is measured as a share of one core: everything that the watching
 * process does counts, even what it does only once a second.
 */
#include "bench.h"
#include "bench_child.h"
#include "live_load.h"

#include "base/clock.h"
#include "live/join/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { RATE = 10, SECONDS = 5, FIRSTS = 9, ONE_PROCESS_BUFFERS = 100000, OPENS = 9 };

static const struct bench_load_plan busy_machine = { .devices = 32, .processes = 200, .buffers = 1000000, .busy = 10 };
static const struct bench_load_plan one_process = { .devices = 1, .processes = 1, .buffers = ONE_PROCESS_BUFFERS };

struct figures {
	double core_percent, refresh_ms, rss_mib; /* watching */
	double first_ms;                          /* the first complete picture */
	double open_ms;                           /* all buffers of one process */
};

static double cpu_seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "bench: live: %s\n", what);
	exit(2);
}

static double peak_rss_mib(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

static const struct tdm_picture *look(struct tdm_state *watched, const struct tdm_wish *wish)
{
	const struct tdm_picture *picture = tdm_state_look(watched, wish);
	if (picture == NULL || picture->problem_count != 0)
		die(picture == NULL ? "out of memory" : picture->problems[0].text);
	return picture;
}

static void sleep_until(uint64_t ns)
{
	struct timespec at = { (time_t)(ns / TDM_NS_PER_S), (long)(ns % TDM_NS_PER_S) };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0)
		;
}

static double median(double *values, int count)
{
	for (int i = 1; i < count; i++)
		for (int k = i; k > 0 && values[k] < values[k - 1]; k--) {
			double other = values[k];
			values[k] = values[k - 1];
			values[k - 1] = other;
		}
	return values[count / 2];
}

/* Without the first picture, which is measured separately. */
static void measure_watching(void *state, void *out)
{
	struct figures *figures = out;
	struct tdm_state *watched = tdm_state_new(NULL);
	(void)state;
	if (watched == NULL)
		die("out of memory");
	const struct tdm_picture *picture = look(watched, NULL);
	if (picture->device_count != busy_machine.devices || picture->process_count != busy_machine.processes)
		die("the picture is not that of the load");
	uint64_t next = tdm_clock_ns();
	double before = cpu_seconds(), begin = (double)next, took[RATE * SECONDS];
	for (int i = 0; i < RATE * SECONDS; i++) {
		next += TDM_NS_PER_S / RATE;
		sleep_until(next);
		double from = cpu_seconds();
		look(watched, NULL);
		took[i] = cpu_seconds() - from;
	}
	sleep_until(next + TDM_NS_PER_S / RATE);
	double seconds = ((double)tdm_clock_ns() - begin) / 1e9;
	figures->core_percent = (cpu_seconds() - before) / seconds * 100;
	figures->refresh_ms = median(took, RATE * SECONDS) * 1e3;
	figures->rss_mib = peak_rss_mib();
	tdm_state_free(watched);
}

static void measure_first(void *state, void *out)
{
	struct figures *figures = out;
	uint64_t begin = tdm_clock_ns();
	struct tdm_state *once = tdm_state_new(&(struct tdm_state_options){ .once = true });
	(void)state;
	const struct tdm_picture *picture = once != NULL ? look(once, NULL) : NULL;
	figures->first_ms = (double)(tdm_clock_ns() - begin) / 1e6;
	for (size_t i = 0; picture != NULL && i < picture->device_count; i++)
		if (picture->devices[i].kinds[TDM_KIND_DRAM].largest_free == TDM_BYTES_UNKNOWN)
			die("a largest free block is missing");
	tdm_state_free(once);
}

static void measure_open(void *state, void *out)
{
	struct figures *figures = out;
	struct tdm_state *watched = tdm_state_new(NULL);
	(void)state;
	const struct tdm_picture *picture = watched != NULL ? look(watched, NULL) : NULL;
	if (picture == NULL || picture->process_count != 1)
		die("the picture is not that of the load");
	const struct tdm_wish wish = { .parts = TDM_WISH_BUFFERS, .process = picture->processes[0].handle };
	uint64_t begin = tdm_clock_ns();
	picture = look(watched, &wish);
	figures->open_ms = (double)(tdm_clock_ns() - begin) / 1e6;
	size_t count = 0;
	for (size_t i = 0; i < picture->holding_count; i++)
		count += tdm_holding_buffer_count(&picture->holdings[i]);
	if (count != ONE_PROCESS_BUFFERS)
		die("buffers are missing");
	tdm_state_free(watched);
}

static int live_child(const char *name)
{
	struct figures figures = { 0 };
	if (strcmp(name, "watch") == 0)
		return bench_child_serve(measure_watching, NULL, &figures, sizeof figures);
	if (strcmp(name, "first") == 0)
		return bench_child_serve(measure_first, NULL, &figures, sizeof figures);
	return bench_child_serve(measure_open, NULL, &figures, sizeof figures);
}

/* Asks a child `times` times. */
static bool ask(const struct bench_load *load, const char *part, struct figures *all, int times)
{
	const char *const argv[] = { "/proc/self/exe", "--child", "live", part, NULL };
	struct bench_child child;
	bool ok = bench_child_start(&child, argv, load->env);
	for (int i = 0; ok && i < times; i++)
		ok = bench_child_ask(&child, &all[i], sizeof *all);
	return bench_child_stop(&child) && ok;
}

static void put(struct bench *bench, const char *name, const char *unit, double ours, double limit, const char *note)
{
	bench_put(
		bench, &(struct bench_row){
			       .name = name, .unit = unit, .ours = ours, .baseline = limit, .goal = 1, .note = note });
}

/* The time without disturbance. */
static double fastest(const double *values, int count)
{
	double least = values[0];
	for (int i = 1; i < count; i++)
		least = values[i] < least ? values[i] : least;
	return least;
}

static void run_busy(struct bench *bench)
{
	struct bench_load load;
	struct figures figures[FIRSTS];
	double first[FIRSTS];
	const char *why;
	if (!bench_load_start(&load, &busy_machine, &why)) {
		bench_leave_out(bench, "live.*", why);
	} else if (ask(&load, "watch", figures, 1)) {
		put(bench, "live.core", "%", figures[0].core_percent, 5, "limit: of one core, ten pictures a second");
		put(bench, "live.refresh", "ms", figures[0].refresh_ms, 3, "limit: the median picture, processor time");
		put(bench, "live.rss", "MiB", figures[0].rss_mib, 100, "limit");
		if (ask(&load, "first", figures, FIRSTS)) {
			for (int i = 0; i < FIRSTS; i++)
				first[i] = figures[i].first_ms;
			put(bench, "live.first", "ms", fastest(first, FIRSTS), 40,
				"limit: one picture from nothing, largest free blocks included");
		}
	} else {
		bench_leave_out(bench, "live.*", "the watching process failed");
	}
	bench_load_stop(&load);
}

static void run_open(struct bench *bench)
{
	struct bench_load load;
	struct figures figures[OPENS];
	double open[OPENS];
	const char *why;
	if (!bench_load_start(&load, &one_process, &why)) {
		bench_leave_out(bench, "live.open", why);
	} else if (ask(&load, "open", figures, OPENS)) {
		for (int i = 0; i < OPENS; i++)
			open[i] = figures[i].open_ms;
		put(bench, "live.open", "ms", fastest(open, OPENS), 100, "limit: 100,000 buffers of one process");
	} else {
		bench_leave_out(bench, "live.open", "the reading process failed");
	}
	bench_load_stop(&load);
}

static void live_run(struct bench *bench)
{
	static const char *const rows[] = { "live.core", "live.refresh", "live.rss", "live.first" };
	bool wanted = false;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		wanted = wanted || bench_wants(bench, rows[i]);
	if (wanted)
		run_busy(bench);
	if (bench_wants(bench, "live.open"))
		run_open(bench);
}

const struct bench_subject bench_live = { "live", "watching 200 processes on 32 cards", live_run, live_child };
