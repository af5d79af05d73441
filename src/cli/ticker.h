/*
 * A steady beat for commands that print again and again until they are interrupted: waiting for the next turn, and
 * writing what the turn gave. Both end at once when a signal asks for the end or the reader of the output has left.
 */
#ifndef TDM_CLI_TICKER_H
#define TDM_CLI_TICKER_H

#include "cli/cmd.h"

/* Fills `out`, which is empty. 0, or an exit code after a message. */
typedef int tdm_ticker_make(void *context, bool is_first, struct tdm_buf *out);

/*
 * Makes and writes to standard output, past stdio, until `turns` are over; 0: until it is interrupted. A turn that took
 * too long is followed by the next at once. Meanwhile SIGINT, SIGTERM and SIGHUP end the ticker instead of the process,
 * unless they were ignored. The exit code.
 */
int tdm_ticker_run(
	const struct tdm_cmd *cmd, uint64_t interval_ns, uint64_t turns, tdm_ticker_make *make, void *context);

#endif
