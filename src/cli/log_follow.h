/* Prints the records of a log one by one, and follows a growing log. */
#ifndef TDM_CLI_LOG_FOLLOW_H
#define TDM_CLI_LOG_FOLLOW_H

#include <stdbool.h>

#include "cli/cmd.h"
#include "event/log_record.h"

struct tdm_log_follow {
	const char *path; /* "-": standard input, until it ends */
	bool json;        /* one object per line */
	bool errors_only;
};

/* A failure that is reported again is not printed. */
bool tdm_log_is_printed(const struct tdm_log_follow *follow, const struct tdm_log_record *record);

/* Prints a record as one line after `before`, or nothing for one that is not printed. `out` is a buffer to work in. */
void tdm_log_print_record(const struct tdm_log_follow *follow, const struct tdm_log_record *record, const char *before,
	struct tdm_buf *out);

/* Prints records as they come until SIGINT or SIGTERM. Returns the exit code. */
int tdm_log_follow_run(const struct tdm_cmd *cmd, const struct tdm_log_follow *follow);

#endif
