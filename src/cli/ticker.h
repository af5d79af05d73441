/*
 * A steady beat for commands that print repeatedly until interrupted: waits for each turn and writes its output. Both
 * end at once when a signal asks to end, or the reader of the output has left.
 */
#ifndef TDM_CLI_TICKER_H
#define TDM_CLI_TICKER_H

#include "cli/cmd.h"

/* Makes the output of a turn: fills `out`, which is empty. 0, or an exit code after a message. */
typedef int tdm_ticker_make(void *context, bool is_first, struct tdm_buf *out);

/*
 * Makes output and writes it to standard output, bypassing stdio, for a number of turns (0: until interrupted). After a
 * turn that took too long the next one starts at once. SIGINT, SIGTERM and SIGHUP end the ticker instead of the
 * process, unless they were ignored. Returns the exit code.
 */
int tdm_ticker_run(
	const struct tdm_cmd *cmd, uint64_t interval_ns, uint64_t turns, tdm_ticker_make *make, void *context);

#endif
