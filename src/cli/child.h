/* Runs another program as a shell does: in the foreground, with signals passed on. */
#ifndef TDM_CLI_CHILD_H
#define TDM_CLI_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TDM_CHILD_NOT_FOUND = 127, TDM_CHILD_NOT_EXECUTABLE = 126, TDM_CHILD_KILLED = 128, TDM_CHILD_LEFT_MAX = 16 };

struct tdm_child_end {
	int exit_code;                    /* as in a shell: TDM_CHILD_KILLED + signal if it was killed */
	int signal;                       /* 0: it exited */
	bool has_left;                    /* processes that it started still run: daemons and jobs in the background */
	int32_t left[TDM_CHILD_LEFT_MAX]; /* the first of them, without their own children */
	size_t left_count;
};

/*
 * Runs argv and waits until it ends. The child calls `prepare` (may be NULL) before the program starts, to set its
 * environment. 0, or -errno if the program could not be started.
 */
int tdm_child_run(char **argv, void (*prepare)(void *context), void *context, struct tdm_child_end *end);

#endif
