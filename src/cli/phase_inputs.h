/* What `tidemark phases` reads: logs of tt-train, ledgers, and captures given for each phase. */
#ifndef TDM_CLI_PHASE_INPUTS_H
#define TDM_CLI_PHASE_INPUTS_H

#include <stdbool.h>

#include "analyze/phase_log.h"
#include "cli/options.h"
#include "report/phases_report.h"

enum { TDM_PHASE_INPUTS_MAX = 1024 };

/* One thing to read, in the order of the command line. */
struct tdm_phase_wanted {
	const char *path;
	int32_t pid; /* 0: `path` is meant */
};

/* All zero to begin, but the command. */
struct tdm_phase_inputs {
	const struct tdm_cmd *cmd;
	struct tdm_phase_wanted wanted[TDM_PHASE_INPUTS_MAX];
	size_t wanted_count;
	struct tdm_texts captures; /* NAME=FILE, all of one run */
	const char *dir;           /* of ledgers; NULL: the usual one */

	struct tdm_phases_input *inputs;
	struct tdm_phase_log *logs; /* beside the inputs: what was refused in them */
	char **paths;               /* of the inputs; owned */
	size_t input_count, input_cap;
	bool failed; /* an input could not be used, and that has been said; the others were */
};

/* Reads all that is wanted. 0, or an exit code after a message when nothing can go on. */
int tdm_phase_inputs_read(struct tdm_phase_inputs *inputs);
void tdm_phase_inputs_done(struct tdm_phase_inputs *inputs);

#endif
