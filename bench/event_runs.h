/*
 * The runs of the event bench. Each is made in a process of its own (bench_child.h), with tracking on by the
 * environment and its ledger in a directory of the bench; bench_event.c has the table.
 */
#ifndef TDM_BENCH_EVENT_RUNS_H
#define TDM_BENCH_EVENT_RUNS_H

#include "event_load.h"

#include <stdbool.h>
#include <stddef.h>

struct event_run {
	const char *name;
	int (*serve)(const struct event_run *run); /* in the child: measures until it is told to end; its exit code */
	size_t live;                               /* buffers, for each thread */
	enum event_order order;
	unsigned threads;   /* 1 or 2 */
	bool same_device;   /* of two threads */
	bool dram;          /* not L1, which is counted twice: by itself and with all that lies in L1 */
	bool off;           /* tracking is turned off before measuring */
	unsigned depth;     /* calls between the top and the loop, where stacks are taken */
	const char *env[2]; /* besides the usual environment; NULL: no more */
};

enum { EVENT_KIND_BANKS = 64, EVENT_THREADS = 2 };

/* Tidemark through its public interface. Gives struct event_figures, of the slower thread. */
int event_serve_ours(const struct event_run *run);
/* The same loop with nothing in it. */
int event_serve_empty(const struct event_run *run);
/* The baselines. */
int event_serve_counters(const struct event_run *run);
int event_serve_socket(const struct event_run *run);
/* The writer's index and the identities in its slots alone. */
int event_serve_index(const struct event_run *run);

/* Memory for `live` buffers and more. */
struct event_memory {
	double full;  /* bytes for each buffer where nothing is kept in store */
	double as_is; /* bytes for each at exactly `live` */
};
int event_serve_memory(const struct event_run *run);

/* The instructions that a call adds while tracking is off: the larger of alloc and free. NULL when all went well, else
 * why it could not be measured. `program` is the bench itself. */
const char *event_off_instructions(const char *program, double *count);
/* In the child, under callgrind: makes the calls. */
int event_serve_calls(const struct event_run *run);

#endif
