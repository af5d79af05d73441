/*
 * The model of a pattern: its kernels as threads of a simulation, with the costs of a card, and the circular buffers
 * between them, in cycles.
 *
 * A kernel that moves data is one thread. A kernel that computes is three, as on the device: unpack, which waits for
 * pages and pops them; math; and pack, which reserves and pushes. Math takes a round from unpack after finishing the
 * previous round. Math may be two rounds ahead of pack, with one round in each half of the destination registers.
 *
 * A thread runs a list of steps: a head once, a body several times, a tail once. Each buffer has one pushing thread and
 * one popping thread. The consumer sees a pushed page `sync` cycles later; the producer sees freed space with the same
 * delay. Nothing else connects threads. Each thread can therefore be advanced as far as the events of the others are
 * known, in any order, with the same result. There is no event queue, only a queue of threads that may be able to
 * continue.
 *
 * As on the device, reserving only waits until enough pages are free; the push takes the pages.
 */
#ifndef TDM_ANALYZE_CB_MODEL_H
#define TDM_ANALYZE_CB_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/pressure/cb_pattern.h"
#include "analyze/pressure/core_speed.h"
#include "base/diag.h"

enum tdm_cb_op {
	TDM_CB_RESERVE, /* waits until `pages` pages of the buffer are free */
	TDM_CB_PUSH,
	TDM_CB_WAIT, /* waits until `pages` pages are filled */
	TDM_CB_POP,
	TDM_CB_WORK,    /* takes `cycles` */
	TDM_CB_RANDOM,  /* takes a random time with an exponential distribution and the mean `cycles` */
	TDM_CB_ISSUE,   /* starts `pages` transfers as a group, for which one RETIRE waits */
	TDM_CB_BARRIER, /* waits until all transfers of the thread have arrived */
	/* waits until the group of the oldest ISSUE has arrived. The number of groups in flight is at most
	 * TDM_CB_IN_FLIGHT_MAX, or the number of the thread's ISSUE steps if that is larger */
	TDM_CB_RETIRE,
	TDM_CB_FLUSH, /* waits until all transfers have left the core, plus `cycles` */
};

/*
 * Each transfer in an ISSUE takes the thread `cycles`, then occupies its network link for `link`, and arrives `arrival`
 * later. A thread cannot issue while its link is busy. Calls (RESERVE to POP, and the waits for transfers) take
 * `cycles` when they return.
 */
struct tdm_cb_step {
	uint8_t op;      /* enum tdm_cb_op */
	uint16_t buffer; /* buffer index, for RESERVE to POP */
	uint32_t pages;
	double cycles, link, arrival;
};

enum {
	TDM_CB_IN_FLIGHT_MAX = 256, /* groups in flight, unless the thread has more ISSUE steps than this */
	TDM_CB_SLOTS = 64
};

/* All times are in cycles. */
struct tdm_cb_thread {
	const struct tdm_cb_step *steps; /* head, body, tail */
	size_t head, body, tail;
	uint64_t repeat; /* times the body runs */
	/* In the last run: the time of the last step; the time spent waiting for filled pages, for free pages and for
	 * transfers, but not for inner buffers. A call's own cycles do not count as waiting. */
	double end, pages, room, transfers;
	bool is_stuck;   /* the run did not finish */
	size_t stuck_at; /* index of the step that never returns */
	/* While running: */
	bool is_ready;    /* the thread is in the queue */
	double link_free; /* when the network link can take the next transfer */
	double arrived;   /* when the last transfer arrives */
	/* arrival of each ISSUE's group, as a ring; NULL if the thread never waits for single groups */
	double *groups;
	size_t group_cap;
	uint64_t group_begin, group_end, rounds; /* rounds of the body so far */
};

/* The total number of pages pushed, or popped, at a time. */
struct tdm_cb_event {
	double time;
	uint64_t total;
};

/* Events in time order, in a ring that grows. `seen`: the first event that the other thread has not passed; `settled`:
 * the first event not yet in the statistics. */
struct tdm_cb_events {
	struct tdm_cb_event *ring;
	uint64_t mask; /* ring size - 1 */
	uint64_t end, seen, settled;
	uint64_t total;
};

/*
 * The fill over time is computed from pushes and pops in time order, in bounded memory: when all time slots are used,
 * the slot length doubles. Until the end of a run, `mean` and `slot` are pages x cycles, and `full` is cycles.
 */
struct tdm_cb_buffer {
	uint32_t pages;              /* depth in pages */
	uint16_t producer, consumer; /* thread indices */
	bool is_hidden;              /* a queue inside a kernel, without statistics */
	/* both threads belong to one kernel, so waiting here is not waiting for another kernel */
	bool is_inner;
	double sync; /* cycles until the other thread sees a push or pop */
	double room; /* time spent waiting for free pages in the last run */
	struct tdm_cb_events push, pop;
	/* Statistics of the last run: */
	uint64_t pushed, popped;   /* pages */
	uint32_t peak;             /* most pages filled at once */
	double mean;               /* average number of filled pages over the whole run */
	double full;               /* share of the time during which no page was free */
	double until;              /* time up to which everything has been counted */
	double slot_cycles;        /* length of a time slot */
	double slot[TDM_CB_SLOTS]; /* average number of filled pages in each slot */
};

/* ---- the model ---- */

struct tdm_cb_model {
	const struct tdm_cb_pattern *pattern; /* borrowed, as is the next member */
	const struct tdm_core_speed *speed;
	bool is_copy;              /* the pattern both reads and writes DRAM */
	struct tdm_cb_step *steps; /* steps of all threads */
	size_t step_count, step_cap;
	uint16_t *kernel_of; /* kernel of each thread */
	struct tdm_cb_thread *threads;
	struct tdm_cb_buffer *buffers; /* the pattern's buffers, then hidden ones */
	size_t thread_count, buffer_count;
	uint64_t random; /* seed of the random times; then the current state */
	bool statistics; /* collect statistics */
	/* Of the last run: */
	double cycles;      /* until the last thread ended */
	double slot_cycles; /* length of a time slot */
	size_t slot_count;
	bool is_deadlocked; /* the places are in the stuck threads */
	/* While running: the threads that may be able to continue, as a ring that contains each thread at most once. */
	uint16_t *ready;
	size_t ready_first, ready_count;
	bool is_over; /* no more events will follow, though threads may be stuck */
};

/* Runs the threads. The steps must match the buffers: each thread pushes only to the buffers that it produces, and pops
 * only from the buffers that it consumes. A deadlock is a result, not an error. */
void tdm_cb_simulate(struct tdm_cb_model *model);

/* Times of a kernel in nanoseconds. */
struct tdm_model_kernel {
	/* time waiting for filled pages, for free pages, and for the network */
	double pages_ns, room_ns, transfers_ns;
	double end_ns;
};

/* A result owns its lists; it is empty if zeroed. */
struct tdm_model_result {
	double ns;          /* time of the whole run */
	double tiles_per_s; /* throughput */
	double bytes_per_s; /* network throughput in both directions */
	struct tdm_model_kernel *kernels;
	struct tdm_cb_buffer *buffers; /* set only with statistics */
	/* for each buffer, the producer's wait for free pages; infinite if it waits forever */
	double *room_ns;
	size_t kernel_cap, buffer_cap, room_cap;
	double slot_ns;
	size_t slot_count;
	size_t bottleneck; /* index of the kernel that waits least for others */
	bool is_deadlocked;
	char deadlock[512]; /* the cycle of waits */
};

/* The pattern must be settled. */
void tdm_cb_model_init(
	struct tdm_cb_model *model, const struct tdm_cb_pattern *pattern, const struct tdm_core_speed *speed);
void tdm_cb_model_done(struct tdm_cb_model *model);

/* Runs the model with these depths, in pages; NULL for the pattern's own. With `statistics`, the result includes the
 * fill of the buffers. A deadlock is a result, not an error. *result must be zeroed, or from an earlier run. */
void tdm_cb_model_run(
	struct tdm_cb_model *model, const uint32_t *depths, bool statistics, struct tdm_model_result *result);

void tdm_model_result_done(struct tdm_model_result *result);

#endif
