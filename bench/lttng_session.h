/*
 * The LTTng session that records the tracepoints of baseline_lttng.c: our own session daemon, unless this user already
 * has one, and a session that keeps the newest events in memory and writes nothing to disk. That is LTTng's cheapest
 * way to record everything, and the closest to ours.
 */
#ifndef TDM_BENCH_LTTNG_SESSION_H
#define TDM_BENCH_LTTNG_SESSION_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct lttng_session {
	pid_t daemon;
	char home[PATH_MAX + sizeof "LTTNG_HOME="]; /* "LTTNG_HOME=…", for the environment of the traced program */
	char name[64];
	unsigned left_before; /* bits: LTTng's files that existed before */
};

/* Starts recording; `dir` is an empty directory for it. NULL on success, else what is missing. */
const char *lttng_session_open(struct lttng_session *session, const char *dir);
/* Ends the session, and the daemon if it is ours, and removes the files that LTTng leaves outside `dir`. */
void lttng_session_close(struct lttng_session *session);

#endif
