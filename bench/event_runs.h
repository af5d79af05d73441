/*
 * The runs of the event bench. Each has its own process (bench_child.h), in which the environment turns tracking on and
 * puts the ledger into a directory of the bench; bench_event.c has the table.
 */
#ifndef TDM_BENCH_EVENT_RUNS_H
#define TDM_BENCH_EVENT_RUNS_H

#include "event_load.h"

#include <stdbool.h>
#include <stddef.h>

struct event_run {
	const char *name;
	int (*serve)(const struct event_run
			*run); /* in the child: measures until it is told to end; returns the exit code */
	size_t live;           /* buffers per thread */
	size_t burst;          /* more buffers, allocated among the others and freed before measuring */
	enum event_order order;
	unsigned threads;   /* 1 or 2 */
	bool same_device;   /* for two threads */
	bool dram;          /* instead of L1, which is counted twice: by itself and in the total of L1 */
	bool derived;       /* the library computes the bytes in a bank */
	bool off;           /* tracking is turned off before measuring */
	unsigned depth;     /* calls between the top and the loop, for stacks */
	const char *env[2]; /* added to the environment; ends with NULL */
};

enum { EVENT_KIND_BANKS = 64, EVENT_THREADS = 2 };

/* Tidemark through its public interface. Gives the struct event_figures of the slower thread. */
int event_serve_ours(const struct event_run *run);
/* The same loop with nothing in it. */
int event_serve_empty(const struct event_run *run);
/* The baselines. */
int event_serve_counters(const struct event_run *run);
int event_serve_socket(const struct event_run *run);
/* Only the writer's index and the ids in its slots. */
int event_serve_index(const struct event_run *run);

/* Memory of `live` and more buffers, or what stays of a burst. */
struct event_memory {
	double full;  /* bytes per buffer when there are no reserves; of a burst, the bytes of the file */
	double as_is; /* bytes per buffer at exactly `live`; of a burst, all bytes */
};
int event_serve_memory(const struct event_run *run);
int event_serve_burst(const struct event_run *run);

/* The instructions that a call adds while tracking is off: the larger of alloc and free. NULL on success, else why it
 * could not be measured. `program` is the bench itself. */
const char *event_off_instructions(const char *program, double *count);
/* In the child, under callgrind: makes the calls. */
int event_serve_calls(const struct event_run *run);

#endif
