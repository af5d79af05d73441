/* The bash completion script, from the table of commands. */
#ifndef TDM_CLI_COMPLETION_H
#define TDM_CLI_COMPLETION_H

#include "base/buf.h"

/* Needs only bash 4; uses the bash-completion package for file names if it is installed. */
void tdm_completion_bash(struct tdm_buf *out);

#endif
