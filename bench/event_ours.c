/*
 * Our side of the event bench: a program that reports its buffers through the public interface and the shared library.
 * With two threads, each has its own buffers, on its own device or on a shared one.
 */
#include "event_runs.h"

#include "bench_child.h"
#include "event_load.h"
#include "tidemark.h"

#include <pthread.h>
#include <stdio.h>

enum { PAGE_SIZE = 2048, CORES = 64, FIRST_ID = 1, IDS_OF_THREAD = 1 << 30 };

struct side {
	struct event_load load;
	struct event_figures figures;
	const struct event_run *run;
	pthread_barrier_t *together;
	uint32_t device, kind;
	int core;
};

static inline void report_alloc(const struct side *side, uint32_t id, uint32_t bytes)
{
	tidemark_alloc(&(struct tidemark_buffer){ .size = sizeof(struct tidemark_buffer),
		.device = side->device,
		.kind = side->kind,
		.id = id,
		.address = event_address(id),
		.bytes = bytes,
		.bytes_per_bank = side->run->derived ? 0 : bytes / EVENT_KIND_BANKS,
		.page_size = PAGE_SIZE,
		.cores = CORES,
		.name = TIDEMARK_SITE() });
}

static void our_pair(void *state, const struct event_pair *p)
{
	const struct side *side = state;
	tidemark_free(side->device, side->kind, p->old_id);
	report_alloc(side, p->new_id, p->new_bytes);
}

/* Runs the loop below `depth` calls, so that a stack has frames to show. */
static __attribute__((noinline)) void measure_below(struct side *side, unsigned depth)
{
	if (depth > 0)
		measure_below(side, depth - 1);
	else if (side->run->order == EVENT_DRAWN)
		side->figures = event_load_run(&side->load, EVENT_DRAWN, our_pair, side);
	else
		side->figures = event_load_run(&side->load, EVENT_RANDOM, our_pair, side);
	__asm__ volatile("" ::: "memory"); /* so that the call above is a real call */
}

static void *measure_thread(void *state)
{
	struct side *side = state;
	event_pin(side->core);
	pthread_barrier_wait(side->together);
	measure_below(side, side->run->depth);
	return NULL;
}

static void measure(void *state, void *figures)
{
	struct side *sides = state;
	struct event_figures *result = figures;
	if (sides->run->threads == 1) {
		measure_below(sides, sides->run->depth);
		*result = sides->figures;
		return;
	}
	pthread_t threads[EVENT_THREADS];
	for (size_t i = 0; i < EVENT_THREADS; i++)
		pthread_create(&threads[i], NULL, measure_thread, &sides[i]);
	for (size_t i = 0; i < EVENT_THREADS; i++)
		pthread_join(threads[i], NULL);
	*result = sides[0].figures.mean > sides[1].figures.mean ? sides[0].figures : sides[1].figures;
}

static void describe(const struct side *side)
{
	const struct tidemark_region region = {
		.kind = side->kind, .banks = EVENT_KIND_BANKS, .bank_size = UINT64_C(1) << 40, .align = 16
	};
	tidemark_describe_device(&(struct tidemark_device){ .size = sizeof(struct tidemark_device),
		.number = side->device,
		.card = "n150",
		.region_count = 1,
		.regions = &region });
}

/* The live buffers, and among them those of a burst, which then goes. */
static void report_all(const struct side *side, const struct event_run *run)
{
	const uint32_t first = FIRST_ID + EVENT_THREADS * (uint32_t)IDS_OF_THREAD;
	size_t sent = 0;
	for (size_t k = 0; k < run->live; k++) {
		report_alloc(side, side->load.id[k], side->load.bytes[k]);
		for (; sent < run->burst / run->live * (k + 1); sent++)
			report_alloc(side, first + (uint32_t)sent, EVENT_STEP);
	}
	for (size_t i = 0; i < sent; i++)
		tidemark_free(side->device, side->kind, first + i);
}

/* Nothing may be lost or counted as a fault, and every buffer must be there. */
static bool is_right(const struct side *sides, const struct event_run *run)
{
	uint64_t buffers = 0;
	for (size_t i = 0; i < run->threads; i++) {
		struct tidemark_usage u = TIDEMARK_USAGE_INIT;
		if (i > 0 && sides[i].device == sides[0].device)
			break;
		if (tidemark_get_usage(sides[i].device, sides[i].kind, &u) != 0 ||
			u.double_frees + u.unknown_frees != 0 || u.rereports != 0)
			return false;
		buffers += u.buffers;
	}
	return tidemark_lost() == 0 && buffers == run->live * run->threads;
}

int event_serve_ours(const struct event_run *run)
{
	pthread_barrier_t together;
	struct event_figures figures;
	struct side sides[EVENT_THREADS];
	if (!tidemark_is_enabled()) {
		fprintf(stderr, "bench: %s: tracking is not on\n", run->name);
		return 2;
	}
	event_pin(0);
	pthread_barrier_init(&together, NULL, run->threads);
	for (size_t i = 0; i < run->threads; i++) {
		struct side *side = &sides[i];
		*side = (struct side){ .run = run, .together = &together, .core = (int)i };
		side->kind = run->dram ? TIDEMARK_DRAM : TIDEMARK_L1;
		side->device = run->same_device ? 0 : (uint32_t)i;
		describe(side);
		event_load_init(
			&side->load, run->order, run->live, EVENT_COUNT, FIRST_ID + (uint32_t)i * IDS_OF_THREAD);
		report_all(side, run);
	}
	if (run->off)
		tidemark_disable();
	int code = bench_child_serve(measure, sides, &figures, sizeof figures);
	if (!run->off && !is_right(sides, run)) {
		fprintf(stderr, "bench: %s: the ledger does not hold what was reported\n", run->name);
		code = 2;
	}
	for (size_t i = 0; i < run->threads; i++)
		event_load_done(&sides[i].load);
	pthread_barrier_destroy(&together);
	return code;
}
