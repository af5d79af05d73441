/* Following a log that grows. */
#ifndef TDM_CLI_LOG_FOLLOW_H
#define TDM_CLI_LOG_FOLLOW_H

#include <stdbool.h>

#include "cli/cmd.h"

struct tdm_log_follow {
	const char *path; /* "-": standard input, to its end */
	bool json;        /* one object a line */
	bool errors_only;
};

/* Prints records as they come until SIGINT or SIGTERM. The exit code. */
int tdm_log_follow_run(const struct tdm_cmd *cmd, const struct tdm_log_follow *follow);

#endif
