/* The baselines of the event bench that need no other software. Each gets the same load, from one thread. */
#include "event_runs.h"

#include "baseline_counters.h"
#include "baseline_socket.h"
#include "bench_child.h"
#include "event_load.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { DEVICE = 0 };

struct side {
	struct event_load load;
	struct baseline_counters *counters;
	struct baseline_socket *socket;
	pid_t pid;
};

static void counters_pair(void *state, const struct event_pair *p)
{
	const struct side *side = state;
	baseline_counters_release(side->counters, side->pid, p->old_bytes, BASELINE_L1, DEVICE);
	baseline_counters_alloc(side->counters, side->pid, p->new_bytes, BASELINE_L1, DEVICE);
}

static void socket_pair(void *state, const struct event_pair *p)
{
	const struct side *side = state;
	baseline_socket_release(side->socket, DEVICE, event_address(p->old_id));
	baseline_socket_alloc(side->socket, DEVICE, p->new_bytes, BASELINE_L1, event_address(p->new_id));
}

static void empty_pair(void *state, const struct event_pair *p)
{
	(void)state;
	__asm__ volatile("" ::"r"(p->old_id), "r"(p->new_id), "r"(p->new_bytes));
}

static void measure_counters(void *state, void *figures)
{
	struct side *side = state;
	*(struct event_figures *)figures = event_load_run(&side->load, EVENT_DRAWN, counters_pair, side);
}

static void measure_socket(void *state, void *figures)
{
	struct side *side = state;
	*(struct event_figures *)figures = event_load_run(&side->load, EVENT_DRAWN, socket_pair, side);
}

static void measure_empty(void *state, void *figures)
{
	struct side *side = state;
	*(struct event_figures *)figures = event_load_run(&side->load, EVENT_DRAWN, empty_pair, side);
}

static int serve(const struct event_run *run, struct side *side, size_t events, void (*measure)(void *, void *))
{
	struct event_figures figures;
	event_pin(0);
	event_load_init(&side->load, EVENT_DRAWN, run->live, events, 1);
	side->pid = getpid();
	for (size_t i = 0; side->counters != NULL && i < run->live; i++)
		baseline_counters_alloc(side->counters, side->pid, side->load.bytes[i], BASELINE_L1, DEVICE);
	return bench_child_serve(measure, side, &figures, sizeof figures);
}

static int fail(const char *what)
{
	perror(what);
	return 2;
}

/* The totals must match the live buffers. */
static bool is_right(const struct side *side)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < side->load.live; i++)
		sum += side->load.bytes[i];
	return baseline_counters_l1(side->counters) == sum;
}

int event_serve_counters(const struct event_run *run)
{
	char path[PATH_MAX];
	const char *dir = getenv("TIDEMARK_DIR");
	struct side side = { 0 };
	snprintf(path, sizeof path, "%s/counters", dir != NULL ? dir : "/dev/shm");
	side.counters = baseline_counters_open(path, DEVICE);
	if (side.counters == NULL)
		return fail("bench: counters");
	int code = serve(run, &side, EVENT_COUNT, measure_counters);
	if (!is_right(&side)) {
		fputs("bench: counters: the totals are wrong\n", stderr);
		code = 2;
	}
	baseline_counters_close(side.counters);
	event_load_done(&side.load);
	return code;
}

int event_serve_socket(const struct event_run *run)
{
	struct side side = { .socket = baseline_socket_open(1) };
	if (side.socket == NULL)
		return fail("bench: socket");
	int code = serve(run, &side, EVENT_COUNT_SLOW, measure_socket);
	baseline_socket_close(side.socket);
	event_load_done(&side.load);
	return code;
}

int event_serve_empty(const struct event_run *run)
{
	struct side side = { 0 };
	int code = serve(run, &side, EVENT_COUNT, measure_empty);
	event_load_done(&side.load);
	return code;
}
