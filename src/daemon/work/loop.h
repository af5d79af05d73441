/*
 * The daemon's one loop: descriptors, timers and signals, in one thread; connection.c uses another thread for
 * questions. A round waits for ready descriptors, calls their watches, then the timers that are due. Signals arrive on
 * a descriptor (signalfd).
 *
 * A watch or timer is embedded in its owner, which tdm_loop_owner() finds. A callback may add and remove any watch,
 * including its own. A removed watch is not called again in the same round.
 */
#ifndef TDM_DAEMON_LOOP_H
#define TDM_DAEMON_LOOP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/types.h>

struct tdm_watch {
	int fd;
	uint32_t events; /* EPOLL* events to wait for */
	void (*ready)(struct tdm_watch *watch);
};

struct tdm_timer {
	uint64_t at_ns;    /* due time, monotonic clock; 0: not running */
	uint64_t every_ns; /* interval; 0: fire once */
	void (*ready)(struct tdm_timer *timer);
	struct tdm_timer *next; /* next in the loop's list */
};

#define tdm_loop_owner(part, type, member) ((type *)(void *)((char *)(part)-offsetof(type, member)))

enum { TDM_LOOP_BATCH = 256 };

struct tdm_loop {
	int epoll;
	bool is_over;
	unsigned last_rounds;     /* rounds left before the loop ends; 0: not ending */
	struct tdm_timer *timers; /* a short, unordered list */
	struct epoll_event batch[TDM_LOOP_BATCH];
	int batch_at, batch_count; /* the events of this round, and the index of the next one */
	struct tdm_watch signals;
	void (*signal)(void *context, int number);
	void *signal_context;
	uint64_t rounds, busy_ns; /* the loop's own cost */
	uint64_t waited_ns;       /* time spent waiting before this round */
	/* A callback may set this: a pause before the next round, to collect more events. The pause delays signals,
	 * too. */
	uint64_t rest_ns;
};

/* 0 or -errno. */
int tdm_loop_init(struct tdm_loop *loop);
void tdm_loop_done(struct tdm_loop *loop);

/* 0 or -errno. `watch` must not move until it is removed. */
int tdm_loop_add(struct tdm_loop *loop, struct tdm_watch *watch);
int tdm_loop_change(struct tdm_loop *loop, struct tdm_watch *watch, uint32_t events);
void tdm_loop_remove(struct tdm_loop *loop, struct tdm_watch *watch); /* does not close the descriptor */

/* Starts or restarts a timer; it repeats if its `every_ns` is set. */
void tdm_loop_start(struct tdm_loop *loop, struct tdm_timer *timer, uint64_t after_ns);
void tdm_loop_stop(struct tdm_loop *loop, struct tdm_timer *timer);

/* From now on these signals interrupt nothing; instead, the loop calls `call` for each signal. 0 or -errno. */
int tdm_loop_signals(
	struct tdm_loop *loop, const sigset_t *signals, void (*call)(void *context, int number), void *context);

/* Runs until tdm_loop_end() or tdm_loop_finish(). 0 or -errno. */
int tdm_loop_run(struct tdm_loop *loop);
void tdm_loop_end(struct tdm_loop *loop); /* ends immediately */
/* Ends when idle, or after a few rounds, so that earlier messages and exits are handled first. */
void tdm_loop_finish(struct tdm_loop *loop);

/*
 * Work that would block the loop for too long. A separate process does the work and writes the result into a pipe. The
 * process's memory is released when the process exits, and the process holds none of the daemon's locks.
 */
struct tdm_worker {
	struct tdm_loop *loop;
	struct tdm_watch pipe, end; /* `pipe`: the result; `end`: the process, as a pidfd */
	pid_t pid;                  /* 0 if none is running */
	/* Called from the loop when bytes have arrived or, with a length of 0, when no more will come. */
	void (*got)(struct tdm_worker *worker, const char *data, size_t len);
	size_t most; /* maximum number of bytes to pass to got() at once */
};

/* Starts a process that runs `work` with the descriptor to write to. 0 or -errno. Set got() and `most` first. */
int tdm_worker_start(
	struct tdm_worker *worker, struct tdm_loop *loop, void (*work)(void *context, int fd), void *context);

/* Turns reading from the pipe on or off; a full pipe stops the process. */
void tdm_worker_listen(struct tdm_worker *worker, bool listens);

/* Processor time used so far; 0 once the process has ended. */
uint64_t tdm_worker_cpu_ns(const struct tdm_worker *worker);

/* Ends the process if it is still running. got() is not called again. */
void tdm_worker_stop(struct tdm_worker *worker);

#endif
