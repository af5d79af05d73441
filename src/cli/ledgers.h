/* Pictures of ledgers with their buffers, for commands that list buffers. */
#ifndef TDM_CLI_LEDGERS_H
#define TDM_CLI_LEDGERS_H

#include "cli/cmd.h"
#include "cli/connect.h"
#include "cli/options.h"
#include "report/live_report.h"
#include "state/state.h"

struct tdm_ledgers {
	struct tdm_state *state; /* NULL: the ledgers are on other machines */
	struct tdm_fleet *fleet;
	const struct tdm_picture *picture; /* the last one */
};

/* The options say which ledgers: those of a directory (NULL: the default one) or the given paths, and of which
 * processes. What they point to must outlive `ledgers`. 0, or the exit code after a message. */
int tdm_ledgers_open(const struct tdm_cmd *cmd, struct tdm_state_options options, struct tdm_ledgers *ledgers);

/* The same for the ledgers of other machines. */
int tdm_ledgers_connect(const struct tdm_cmd *cmd, const struct tdm_connect *connect, const struct tdm_pids *pids,
	struct tdm_ledgers *ledgers);

/* A new picture. 0, or the exit code after a message. */
int tdm_ledgers_look(const struct tdm_cmd *cmd, struct tdm_ledgers *ledgers, unsigned more_parts);

/* 0, or the exit code after a message: the last picture has no readable ledger of a process that the user named, or
 * none of them uses the named device. */
int tdm_ledgers_check(const struct tdm_cmd *cmd, const struct tdm_ledgers *ledgers, const struct tdm_pids *pids,
	const struct tdm_buffer_filter *filter);

/* Fills in what every report on ledgers starts from: where they are, what was read, and the terminal, ASCII only if
 * asked. */
void tdm_ledgers_report(const struct tdm_ledgers *ledgers, bool ascii, struct tdm_live_report *report);
void tdm_ledgers_done(struct tdm_ledgers *ledgers);

#endif
