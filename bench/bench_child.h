/*
 * Measurements in separate processes: some things can be set up only once per process. The bench starts one child per
 * run; all of them wait, and the bench asks them in turn, so that runs alternate and only one is awake.
 *
 * For each byte on its standard input, the child measures once and writes the figures as bytes to its standard output;
 * it exits when the input ends.
 */
#ifndef TDM_BENCH_BENCH_CHILD_H
#define TDM_BENCH_BENCH_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct bench_child {
	pid_t pid; /* 0: not started */
	int to, from;
};

/* Starts `argv`; `env` is added to the environment: a list of "NAME=value" that ends with NULL. */
bool bench_child_start(struct bench_child *child, const char *const *argv, const char *const *env);
/* Asks for one measurement. False when the child failed, which has printed the reason on its standard error. */
bool bench_child_ask(const struct bench_child *child, void *figures, size_t size);
/* Ends the child; false when it failed. The child need not have been started. */
bool bench_child_stop(struct bench_child *child);

/* In the child: measures until the input ends. 0, or 2 when nobody reads the figures. */
int bench_child_serve(void (*measure)(void *state, void *figures), void *state, void *figures, size_t size);

/* Starts a command without input or output; 0 when it could not be started. */
pid_t bench_spawn(const char *const *argv, const char *const *env);
/* Runs a command without output and waits for it. Its standard error goes into `errors`, cut at `cap` - 1, unless that
 * is NULL. Returns its exit code; -1 when it could not be started or was killed. */
int bench_command(const char *const *argv, const char *const *env, char *errors, size_t cap);
/* Whether a command with that name is in PATH. */
bool bench_has_command(const char *name);

/* Removes a directory with all that is in it. */
void bench_remove_tree(const char *path);

#endif
