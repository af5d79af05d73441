/*
 * Measurements in processes of their own: some things can only be set up once in a process. The bench starts one child
 * for each run, all of them wait, and the bench asks them in turn; so runs alternate and only one of them is awake.
 *
 * The child's program serves: for each byte on its standard input it measures once and writes the figures as bytes on
 * its standard output; it ends with the input.
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

/* Starts `argv` with `env` besides the environment, a list of "NAME=value" that ends with NULL. */
bool bench_child_start(struct bench_child *child, const char *const *argv, const char *const *env);
/* One measurement: false when the child failed, which has said why on its standard error. */
bool bench_child_ask(const struct bench_child *child, void *figures, size_t size);
/* Lets it end; false when it failed. A child that was not started is allowed. */
bool bench_child_stop(struct bench_child *child);

/* In the child: measures until the input ends. Returns 0, or 2 when nobody reads the figures. */
int bench_child_serve(void (*measure)(void *state, void *figures), void *state, void *figures, size_t size);

/* Starts a command without any input or output; 0 when it could not be started. */
pid_t bench_spawn(const char *const *argv, const char *const *env);
/* Runs a command to its end without any output, except that its standard error goes into `errors` when that is not
 * NULL, cut at `cap` - 1. Returns its exit code; -1 when it could not be started or was killed. */
int bench_command(const char *const *argv, const char *const *env, char *errors, size_t cap);
/* Whether a command of that name is in PATH. */
bool bench_has_command(const char *name);

#endif
