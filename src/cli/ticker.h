/*
 * A steady beat for commands that print again and again until they are interrupted: waiting for the next turn, and
 * writing what the turn gave. Both end at once when a signal asks for the end or the reader of the output has left.
 */
#ifndef TDM_CLI_TICKER_H
#define TDM_CLI_TICKER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tdm_ticker {
	uint64_t interval_ns, next_ns;
	uint64_t left; /* turns; 0: without end */
	int signal_fd;
	int err; /* why the output could not be written; 0: it could, or its reader has left */
	sigset_t before;
	struct sigaction pipe_before;
};

/*
 * From here to the closing, SIGINT, SIGTERM and SIGHUP end the ticker instead of the process, unless they were ignored.
 * `turns` 0: without end. 0 or -errno.
 */
int tdm_ticker_open(struct tdm_ticker *ticker, uint64_t interval_ns, uint64_t turns);
void tdm_ticker_close(struct tdm_ticker *ticker);

/* Standard output, past stdio. False: it is over. */
bool tdm_ticker_write(struct tdm_ticker *ticker, const char *data, size_t len);

/* Until the next turn. False: it is over. A turn that took too long is followed by the next at once. */
bool tdm_ticker_wait(struct tdm_ticker *ticker);

#endif
