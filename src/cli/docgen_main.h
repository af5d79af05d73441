/* All of tidemark-docgen, a tool of the build that writes the man pages and the completion script. */
#ifndef TDM_CLI_DOCGEN_MAIN_H
#define TDM_CLI_DOCGEN_MAIN_H

#include "cli/cmd.h"

/* `program` is a program of its own beside tidemark. The exit code: 0, or 1 with a message on standard error. */
int tdm_docgen_main(int argc, char **argv, const struct tdm_cmd *program);

#endif
