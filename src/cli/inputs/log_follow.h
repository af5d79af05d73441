/* Prints the records of a log one by one, and follows a growing log. */
#ifndef TDM_CLI_LOG_FOLLOW_H
#define TDM_CLI_LOG_FOLLOW_H

#include <stdbool.h>

#include "cli/options/cmd.h"
#include "model/event/log_record.h"

struct tdm_log_follow {
	const char *path; /* "-" is standard input, followed until it closes */
	bool json;        /* one object per line */
	bool errors_only;
};

/* Writes the record as one line: "07:36:20.265     34  cb_push       CB1, 4 tiles". */
void tdm_log_record_line(const struct tdm_log_record *record, struct tdm_buf *out);

/* Whether to print a record: a failure is printed only when first reported. */
bool tdm_log_is_printed(const struct tdm_log_follow *follow, const struct tdm_log_record *record);

/* Prints a record as one line, preceded by `before`, if the record is to be printed. `out` is scratch space. */
void tdm_log_print_record(const struct tdm_log_follow *follow, const struct tdm_log_record *record, const char *before,
	struct tdm_buf *out);

/* Prints records as they arrive, until SIGINT or SIGTERM. Returns the exit code. */
int tdm_log_follow_run(const struct tdm_cmd *cmd, const struct tdm_log_follow *follow);

#endif
