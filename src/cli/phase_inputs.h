/* Reads the inputs of `tidemark phases`: logs of tt-train, ledgers, and a capture for each phase. */
#ifndef TDM_CLI_PHASE_INPUTS_H
#define TDM_CLI_PHASE_INPUTS_H

#include <stdbool.h>

#include "analyze/phase_log.h"
#include "cli/options.h"
#include "report/phases_report.h"

enum { TDM_PHASE_INPUTS_MAX = 1024 };

/* One input, in the order of the command line. */
struct tdm_phase_wanted {
	const char *path;
	int32_t pid; /* 0: use `path` */
};

/* All zero to begin with, except the command. */
struct tdm_phase_inputs {
	const struct tdm_cmd *cmd;
	struct tdm_phase_wanted wanted[TDM_PHASE_INPUTS_MAX];
	size_t wanted_count;
	struct tdm_texts captures; /* NAME=FILE, all of one run */
	const char *dir;           /* of ledgers; NULL: the default one */

	struct tdm_phases_input *inputs;
	struct tdm_phase_log *logs; /* for each input: what was refused in it */
	char **paths;               /* of the inputs; owned */
	size_t input_count, input_cap;
	bool failed; /* some input could not be used, and a message said so */
};

/* Reads all inputs. 0, or an exit code after a message if it cannot continue. */
int tdm_phase_inputs_read(struct tdm_phase_inputs *inputs);
void tdm_phase_inputs_done(struct tdm_phase_inputs *inputs);

#endif
