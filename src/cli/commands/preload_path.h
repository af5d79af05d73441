/* The preload for unmodified tt-metal, libtidemark-metal.so: its path, and values of LD_PRELOAD with and without it. */
#ifndef TDM_CLI_PRELOAD_PATH_H
#define TDM_CLI_PRELOAD_PATH_H

#include <limits.h>
#include <stdbool.h>

#include "base/buf.h"
#include "cli/options/cmd.h"

#define TDM_PRELOAD_NAME     "libtidemark-metal.so"
#define TDM_PRELOAD_VARIABLE "TIDEMARK_PRELOAD" /* overrides the path of the preload */

struct tdm_preload {
	char path[PATH_MAX];       /* path found, or given by $TIDEMARK_PRELOAD; empty if there is none */
	char looked[2 * PATH_MAX]; /* places searched */
	bool is_named;             /* given by $TIDEMARK_PRELOAD */
	char reason[256]; /* why the preload cannot be used, worded to follow its name; empty if it can be used */
};

/* Searches for the preload relative to the command, as built and as installed. False if it cannot be used, with a
 * message for `cmd` (may be NULL). */
bool tdm_preload_find(struct tdm_preload *preload, const struct tdm_cmd *cmd);

/* Advice for when the preload cannot be used. */
#define TDM_PRELOAD_REMEDY "install it beside the command, or name it with " TDM_PRELOAD_VARIABLE "=FILE"

/*
 * Appends a value for LD_PRELOAD: `old` (may be NULL) without any libtidemark-metal.so, preceded by `path` unless that
 * is NULL. Other entries are unchanged.
 */
void tdm_preload_join(const char *old, const char *path, struct tdm_buf *out);

#endif
