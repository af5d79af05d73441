/* Reading all ledgers there are into a snapshot, for the commands that show them. */
#ifndef TDM_CLI_LEDGERS_H
#define TDM_CLI_LEDGERS_H

#include "cli/cmd.h"
#include "registry/snapshot.h"
#include "report/live_report.h"
#include "sources/ledger_source.h"

enum { TDM_RANK_LEDGER = 100 }; /* for one process the ledger is believed before any other source */

struct tdm_ledgers {
	struct tdm_source *source;
	struct tdm_snapshot *snapshot; /* with buffers */
};

/* 0, or the exit code after a message. Release with tdm_ledgers_done() in either case. */
int tdm_ledgers_read(const struct tdm_cmd *cmd, const struct tdm_ledger_query *query, struct tdm_ledgers *ledgers);
/* What every report on them begins with: where they lie, what was read, and the terminal, with ASCII alone if asked. */
void tdm_ledgers_report(const struct tdm_ledgers *ledgers, bool ascii, struct tdm_live_report *report);
void tdm_ledgers_done(struct tdm_ledgers *ledgers);

#endif
