/*
 * A simulation of the threads of one core and the circular buffers between them, in cycles.
 *
 * A thread runs a list of steps: a head once, a body several times, a tail once. Each buffer has one thread that pushes
 * and one that pops. A page that is pushed is seen by the consumer `sync` cycles later, and so is room by the producer.
 * Nothing else connects threads, so each can be advanced as far as the events of the others are known, in any order,
 * with the same result. There is no queue of events, only one of threads that may be able to go on.
 *
 * Reserving only waits until as many pages are free: as on the device, the pages are taken by the push.
 */
#ifndef TDM_ANALYZE_CB_SIM_H
#define TDM_ANALYZE_CB_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tdm_cb_op {
	TDM_CB_RESERVE, /* waits until `pages` of the buffer are free */
	TDM_CB_PUSH,
	TDM_CB_WAIT, /* waits until `pages` are filled */
	TDM_CB_POP,
	TDM_CB_WORK,    /* takes `cycles` */
	TDM_CB_RANDOM,  /* takes a random time with an exponential distribution and the mean `cycles` */
	TDM_CB_ISSUE,   /* starts `pages` transfers that one RETIRE waits for */
	TDM_CB_BARRIER, /* waits until all transfers of the thread have arrived */
	TDM_CB_RETIRE,  /* waits until those of the oldest ISSUE have arrived; at most TDM_CB_IN_FLIGHT_MAX, or as many
			   as the thread has ISSUE steps, are in flight */
	TDM_CB_FLUSH,   /* waits until all have left the core, plus `cycles` */
};

/*
 * Each transfer of an ISSUE takes the thread `cycles`, then occupies its link to the network for `link`, and arrives
 * `arrival` after that. A thread cannot issue while its link is busy. Calls (RESERVE to POP, and the waits for
 * transfers) take `cycles` when they return.
 */
struct tdm_cb_step {
	uint8_t op;      /* enum tdm_cb_op */
	uint16_t buffer; /* of RESERVE to POP */
	uint32_t pages;
	double cycles, link, arrival;
};

enum {
	TDM_CB_BUFFERS_MAX = 65535,
	TDM_CB_THREADS_MAX = 65535,
	TDM_CB_IN_FLIGHT_MAX = 256, /* of a thread that has no more ISSUE steps than this */
	TDM_CB_SLOTS = 64
};

struct tdm_cb_thread {
	const struct tdm_cb_step *steps; /* head, body, tail */
	size_t head, body, tail;
	uint64_t repeat; /* of the body */
};

struct tdm_cb_buffer {
	uint32_t pages;              /* its depth */
	uint16_t producer, consumer; /* threads */
	bool is_hidden;              /* a queue inside a kernel: without statistics */
	bool is_inner;               /* both threads belong to one kernel: a wait for it is no wait for others */
	double sync;                 /* cycles until the other thread sees a push or a pop */
};

struct tdm_cb_thread_result {
	double end; /* the time of its last step */
	/* Time spent waiting: for filled pages, for free pages, for transfers; not for inner buffers. A call's own
	 * cycles are not waiting. */
	double pages, room, transfers;
	bool is_stuck;
	size_t stuck_at; /* index of the step that never returns */
};

struct tdm_cb_buffer_result {
	uint64_t pushed;
	uint32_t peak;             /* most pages filled at once */
	double mean;               /* pages filled, over the whole run */
	double full;               /* share of the time in which no page was free */
	double slot[TDM_CB_SLOTS]; /* mean number of filled pages in each slot of time */
};

struct tdm_cb_run {
	const struct tdm_cb_thread *threads;
	const struct tdm_cb_buffer *buffers;
	size_t thread_count, buffer_count;
	uint64_t seed;   /* of the random times */
	bool statistics; /* fill in `buffer_results`, which may be NULL otherwise */
	struct tdm_cb_thread_result *thread_results;
	struct tdm_cb_buffer_result *buffer_results;
	double *room; /* time spent waiting for free pages, by buffer */
	/* Results. */
	double cycles;      /* until the last thread ended */
	double slot_cycles; /* of one slot of time */
	size_t slot_count;
	bool is_deadlocked; /* the threads that are stuck say where */
};

/* 0, -EINVAL for steps that contradict the buffers, or -ENOMEM. A deadlock is a result. */
int tdm_cb_simulate(struct tdm_cb_run *run);

#endif
