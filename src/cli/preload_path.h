/*
 * The preload for unmodified tt-metal, libtidemark-metal.so: where it is, and LD_PRELOAD with it and without it.
 */
#ifndef TDM_CLI_PRELOAD_PATH_H
#define TDM_CLI_PRELOAD_PATH_H

#include <limits.h>
#include <stdbool.h>

#include "base/buf.h"

#define TDM_PRELOAD_NAME     "libtidemark-metal.so"
#define TDM_PRELOAD_VARIABLE "TIDEMARK_PRELOAD" /* names another file */

struct tdm_preload {
	char path[PATH_MAX];       /* the file that was found, or the one that $TIDEMARK_PRELOAD names; empty: none */
	char looked[2 * PATH_MAX]; /* where it was looked for */
	bool is_named;             /* by $TIDEMARK_PRELOAD */
	char reason[256];          /* why it cannot be used, what follows its name; empty: it can */
};

/* Looks for it beside the command, as built and as installed. */
void tdm_preload_find(struct tdm_preload *preload);

/* What to do about a preload that cannot be used. */
#define TDM_PRELOAD_REMEDY "install it beside the command, or name it with " TDM_PRELOAD_VARIABLE "=FILE"

/*
 * Appends the value of LD_PRELOAD (`old` may be NULL) without any libtidemark-metal.so, and with `path` in front of the
 * rest unless that is NULL. What else is there stays as it is.
 */
void tdm_preload_join(const char *old, const char *path, struct tdm_buf *out);

#endif
