/* Runs another program as a shell does: in the foreground, with signals passed on. */
#ifndef TDM_CLI_CHILD_H
#define TDM_CLI_CHILD_H

enum { TDM_CHILD_NOT_FOUND = 127, TDM_CHILD_NOT_EXECUTABLE = 126, TDM_CHILD_KILLED = 128 };

struct tdm_child_end {
	int exit_code; /* as in a shell: TDM_CHILD_KILLED + signal if it was killed */
	int signal;    /* 0: it exited */
};

/*
 * Runs argv and waits until it ends. The child calls `prepare` (may be NULL) before the program starts, to set its
 * environment. 0, or -errno if the program could not be started.
 */
int tdm_child_run(char **argv, void (*prepare)(void *context), void *context, struct tdm_child_end *end);

#endif
