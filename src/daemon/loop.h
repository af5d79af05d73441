/*
 * The daemon's one loop: descriptors, timers and signals, in one thread. quick_replies.h has another for questions.
 *
 * A watch belongs to its owner, who embeds it and gets back to himself with tdm_loop_owner(). A function that is called
 * may add and remove any watch, also its own: what was removed is not called any more in the same round.
 */
#ifndef TDM_DAEMON_LOOP_H
#define TDM_DAEMON_LOOP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

struct tdm_watch {
	int fd;
	uint32_t events; /* EPOLL* that are waited for */
	void (*ready)(struct tdm_watch *watch, uint32_t events);
};

struct tdm_timer {
	uint64_t at_ns;    /* monotonic; 0: not running */
	uint64_t every_ns; /* 0: once */
	void (*ready)(struct tdm_timer *timer, uint64_t now_ns);
	struct tdm_timer *next; /* the loop's */
};

#define tdm_loop_owner(part, type, member) ((type *)(void *)((char *)(part)-offsetof(type, member)))

enum { TDM_LOOP_BATCH = 256 };

struct tdm_loop {
	int epoll;
	bool is_over;
	unsigned last_rounds;     /* until the end; 0: it goes on */
	struct tdm_timer *timers; /* few, in no order */
	struct epoll_event batch[TDM_LOOP_BATCH];
	int batch_at, batch_count; /* what is left of this round */
	struct tdm_watch signals;
	void (*signal)(void *context, int number);
	void *signal_context;
	uint64_t rounds, busy_ns; /* own cost */
	uint64_t waited_ns;       /* before this round */
	/* Set in a round: time to let pass before the next one, so that more comes together. Signals wait as well. */
	uint64_t rest_ns;
};

/* 0 or -errno. */
int tdm_loop_init(struct tdm_loop *loop);
void tdm_loop_done(struct tdm_loop *loop);

/* 0 or -errno. `watch` must stay where it is until it is removed. */
int tdm_loop_add(struct tdm_loop *loop, struct tdm_watch *watch);
int tdm_loop_change(struct tdm_loop *loop, struct tdm_watch *watch, uint32_t events);
void tdm_loop_remove(struct tdm_loop *loop, struct tdm_watch *watch); /* does not close the descriptor */

/* Starts or restarts a timer; `every_ns` of it says whether it goes on. */
void tdm_loop_start(struct tdm_loop *loop, struct tdm_timer *timer, uint64_t after_ns);
void tdm_loop_stop(struct tdm_loop *loop, struct tdm_timer *timer);

/* From now on these signals do not interrupt anything; `call` is called for each from the loop. 0 or -errno. */
int tdm_loop_signals(
	struct tdm_loop *loop, const sigset_t *signals, void (*call)(void *context, int number), void *context);

/* Until tdm_loop_end() or tdm_loop_finish(). 0 or -errno. */
int tdm_loop_run(struct tdm_loop *loop);
void tdm_loop_end(struct tdm_loop *loop); /* at once */
/* When nothing is ready any more, or after some rounds: who has sent something, or ended, before the call is heard. */
void tdm_loop_finish(struct tdm_loop *loop);

#endif
