/* The bash completion script, from the table of commands and that of one more program. */
#ifndef TDM_CLI_COMPLETION_H
#define TDM_CLI_COMPLETION_H

#include "base/buf.h"
#include "cli/cmd.h"

/* Needs only bash 4; uses the bash-completion package for file names if it is installed. */
void tdm_completion_bash(struct tdm_buf *out, const struct tdm_cmd *program); /* `program` may be NULL */

#endif
