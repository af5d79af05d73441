/*
 * The file that runs when a command is typed: found in PATH, past the first lines of scripts, and whether a library can
 * be preloaded into it.
 */
#ifndef TDM_SOURCES_PROGRAM_FILE_H
#define TDM_SOURCES_PROGRAM_FILE_H

#include <limits.h>
#include <stdbool.h>

#include "base/diag.h"

/* Why the loader will not preload anything. */
enum tdm_preload_bar {
	TDM_BAR_NONE,
	TDM_BAR_STATIC,     /* there is no loader in it */
	TDM_BAR_PRIVILEGED, /* it gets rights that the user has not: the loader ignores LD_PRELOAD */
	TDM_BAR_FOREIGN,    /* for another processor, or of another width */
	TDM_BAR_UNKNOWN,    /* the file cannot be read */
};

struct tdm_program_file {
	char path[PATH_MAX];   /* of the program that runs: of a script, its interpreter */
	char script[PATH_MAX]; /* empty: it is none */
	bool is_python, is_library;
	enum tdm_preload_bar bar;
};

/*
 * 0, or -errno with a text in diag: it was not found, or is no program. A name without a slash is looked for in PATH,
 * as a shell does.
 */
int tdm_program_find(struct tdm_program_file *program, const char *command, struct tdm_diag *diag);

/* "is statically linked: the preload cannot work in it"; what follows its path. NULL: nothing is in the way. */
const char *tdm_preload_bar_text(enum tdm_preload_bar bar);

/* Whether a library can be loaded by programs like this one, with all that it needs: a program with a preload that
 * lacks something does not start. 0, or an error with a text in diag. */
int tdm_program_takes(const char *library, struct tdm_diag *diag);

#endif
