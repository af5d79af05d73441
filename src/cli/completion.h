/* The bash completion script, from the table of commands. */
#ifndef TDM_CLI_COMPLETION_H
#define TDM_CLI_COMPLETION_H

#include "base/buf.h"

/* Needs nothing but bash 4; takes the bash-completion package's file names when it is there. */
void tdm_completion_bash(struct tdm_buf *out);

#endif
