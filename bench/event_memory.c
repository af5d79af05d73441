/*
 * The memory that a live buffer costs, counted by Linux: the growth of the ledger's file blocks and of the process's
 * anonymous memory since there was one live buffer (which has paid for the header, the device, the ring and the first
 * segment). The bench itself allocates nothing meanwhile.
 *
 * Both grow by doubling, each at its own points, and are full just before that. So while the number of live buffers
 * goes from N to 2 N, each is full once (or as full as it gets), and has the fewest bytes per buffer then: the sum of
 * the two minima is the cost with "growth aside". The cost at exactly N, including reserves, is measured, too.
 *
 * After a burst, the growth since before the burst is what stays of it.
 */
#include "event_runs.h"

#include "bench_child.h"
#include "event_load.h"
#include "tidemark.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SAMPLES = 128, BLOCK = 512, BYTES = 65536 };

struct reserved {
	double shared, private;
};

/* smaps_rollup counts every page; the figures in /proc/self/status are approximate. */
static double anonymous_bytes(void)
{
	static char text[8192];
	int fd = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	text[len > 0 ? len : 0] = '\0';
	const char *line = strstr(text, "\nAnonymous:");
	return line == NULL ? NAN : (double)strtoull(line + strlen("\nAnonymous:"), NULL, 10) * 1024;
}

static struct reserved reserved_now(void)
{
	struct stat file;
	struct reserved r = { NAN, anonymous_bytes() };
	if (stat(tidemark_ledger_path(), &file) == 0)
		r.shared = (double)file.st_blocks * BLOCK;
	return r;
}

static void report(size_t from, size_t to)
{
	for (size_t id = from; id < to; id++)
		tidemark_alloc(&(struct tidemark_buffer){ .size = sizeof(struct tidemark_buffer),
			.kind = TIDEMARK_L1,
			.id = id,
			.address = event_address((uint32_t)id),
			.bytes = BYTES,
			.banks = EVENT_KIND_BANKS,
			.name = TIDEMARK_SITE() });
}

static void measure(void *state, void *figures)
{
	const struct event_run *run = state;
	struct event_memory *m = figures;
	reserved_now(); /* so that its own pages exist from now on */
	report(0, 1);
	struct reserved start = reserved_now(), fewest = { INFINITY, INFINITY };
	size_t step = run->live / SAMPLES, live = 1;
	for (size_t i = 0; i <= SAMPLES; i++) {
		size_t next = run->live + i * step;
		report(live, next);
		live = next;
		struct reserved now = reserved_now();
		double shared = (now.shared - start.shared) / (double)live;
		double private = (now.private - start.private) / (double)live;
		if (i == 0)
			m->as_is = shared + private;
		fewest.shared = fmin(fewest.shared, shared);
		fewest.private = fmin(fewest.private, private);
	}
	m->full = fewest.shared + fewest.private;
	if (tidemark_lost() != 0 || !isfinite(m->full)) {
		fprintf(stderr, "bench: %s: memory could not be measured\n", run->name);
		exit(2);
	}
}

static void measure_burst(void *state, void *figures)
{
	const struct event_run *run = state;
	struct event_memory *m = figures;
	reserved_now(); /* so that its own pages exist from now on */
	report(0, run->live);
	struct reserved start = reserved_now();
	report(run->live, run->live + run->burst);
	for (size_t id = run->live; id < run->live + run->burst; id++)
		tidemark_free(0, TIDEMARK_L1, id);
	struct reserved now = reserved_now();
	m->full = now.shared - start.shared;
	m->as_is = m->full + now.private - start.private;
	if (tidemark_lost() != 0 || !isfinite(m->as_is)) {
		fprintf(stderr, "bench: %s: memory could not be measured\n", run->name);
		exit(2);
	}
}

int event_serve_burst(const struct event_run *run)
{
	struct event_memory figures;
	struct event_run copy = *run;
	event_pin(0);
	return bench_child_serve(measure_burst, &copy, &figures, sizeof figures);
}

int event_serve_memory(const struct event_run *run)
{
	struct event_memory figures;
	struct event_run copy = *run;
	event_pin(0);
	return bench_child_serve(measure, &copy, &figures, sizeof figures);
}
