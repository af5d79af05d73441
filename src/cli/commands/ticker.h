/*
 * A ticker for commands that print repeatedly until interrupted: waits for each turn and writes its output. Waiting and
 * writing stop at once when a signal asks the command to end, or when the reader of the output is gone.
 */
#ifndef TDM_CLI_TICKER_H
#define TDM_CLI_TICKER_H

#include "cli/options/cmd.h"

/* Appends a turn's output to `out`, which is empty at first. 0, or an exit code after a message. */
typedef int tdm_ticker_make(void *context, bool is_first, struct tdm_buf *out);

/*
 * Makes output and writes it to standard output, bypassing stdio, for a number of turns (0: until interrupted). If a
 * turn takes too long, the next one starts at once. SIGINT, SIGTERM and SIGHUP end the ticker instead of the process,
 * unless these were ignored or there is only one turn. Returns the exit code.
 */
int tdm_ticker_run(
	const struct tdm_cmd *cmd, uint64_t interval_ns, uint64_t turns, tdm_ticker_make *make, void *context);

#endif
