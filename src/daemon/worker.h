/*
 * Work that takes too long for the loop: a process of its own does it and writes the result into a pipe. Its memory is
 * gone with it, and it holds none of the daemon's locks.
 */
#ifndef TDM_DAEMON_WORKER_H
#define TDM_DAEMON_WORKER_H

#include <sys/types.h>

#include "daemon/loop.h"

struct tdm_worker {
	struct tdm_loop *loop;
	struct tdm_watch pipe, end; /* `end`: the process, as a descriptor */
	pid_t pid;                  /* 0: none */
	/* Bytes have come, or, with a length of 0, no more will. Called from the loop. */
	void (*got)(struct tdm_worker *worker, const char *data, size_t len);
	size_t most; /* bytes that got() takes at once */
};

/* Starts a process that runs `work` with the descriptor to write to. 0 or -errno. got() and most are set by then. */
int tdm_worker_start(
	struct tdm_worker *worker, struct tdm_loop *loop, void (*work)(void *context, int fd), void *context);

/* Whether the pipe is read: a reader without room stops it, and thereby the process. */
void tdm_worker_listen(struct tdm_worker *worker, bool listens);

/* Processor time that it has used so far; 0 once it has ended. */
uint64_t tdm_worker_cpu_ns(const struct tdm_worker *worker);

/* Ends the process if it still runs. got() is not called any more. */
void tdm_worker_stop(struct tdm_worker *worker);

#endif
