/* Follows a growing log. */
#ifndef TDM_CLI_LOG_FOLLOW_H
#define TDM_CLI_LOG_FOLLOW_H

#include <stdbool.h>

#include "cli/cmd.h"

struct tdm_log_follow {
	const char *path; /* "-": standard input, until it ends */
	bool json;        /* one object per line */
	bool errors_only;
};

/* Prints records as they come until SIGINT or SIGTERM. Returns the exit code. */
int tdm_log_follow_run(const struct tdm_cmd *cmd, const struct tdm_log_follow *follow);

#endif
