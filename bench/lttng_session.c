#include "lttng_session.h"

#include "bench_child.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READY_TRIES = 50, READY_PAUSE_NS = 100 * 1000 * 1000, LEFT_CAP = 64 };

/* Files that a session daemon or a traced program leaves behind. */
static const struct {
	const char *path;
	bool has_user; /* ends with the user id */
} left[] = { { "/dev/shm/lttng-ust-wait-8", false }, { "/dev/shm/lttng-ust-wait-8-", true },
	{ "/var/run/lttng", false } };
enum { LEFT_COUNT = sizeof left / sizeof *left };

static void left_path(char path[LEFT_CAP], size_t i)
{
	if (left[i].has_user)
		snprintf(path, LEFT_CAP, "%s%u", left[i].path, (unsigned)getuid());
	else
		snprintf(path, LEFT_CAP, "%s", left[i].path);
}

static int run_lttng(const struct lttng_session *s, const char *const *words)
{
	const char *argv[12] = { "lttng", "--no-sessiond" };
	const char *env[] = { s->home, NULL };
	for (size_t i = 0; words[i] != NULL && i < 9; i++)
		argv[2 + i] = words[i];
	return bench_command(argv, env, NULL, 0);
}

static bool create_session(const struct lttng_session *s)
{
	const char *words[] = { "create", s->name, "--snapshot", NULL };
	for (int i = 0; i < READY_TRIES; i++) {
		if (run_lttng(s, words) == 0)
			return true;
		nanosleep(&(struct timespec){ .tv_nsec = READY_PAUSE_NS }, NULL);
	}
	return false;
}

const char *lttng_session_open(struct lttng_session *s, const char *dir)
{
	*s = (struct lttng_session){ 0 };
	if (!bench_has_command("lttng") || !bench_has_command("lttng-sessiond"))
		return "lttng and lttng-sessiond are not installed";
	for (size_t i = 0; i < LEFT_COUNT; i++) {
		char path[LEFT_CAP];
		left_path(path, i);
		s->left_before |= access(path, F_OK) == 0 ? 1u << i : 0;
	}
	snprintf(s->home, sizeof s->home, "LTTNG_HOME=%s", dir);
	snprintf(s->name, sizeof s->name, "tidemark-bench-%d", (int)getpid());
	const char *argv[] = { "lttng-sessiond", "--no-kernel", NULL }, *env[] = { s->home, NULL };
	s->daemon = bench_spawn(argv, env);
	const char *enable[] = { "enable-event", "--userspace", "--session", s->name, "tidemark_bench:event", NULL };
	const char *start[] = { "start", s->name, NULL };
	if (s->daemon != 0 && create_session(s) && run_lttng(s, enable) == 0 && run_lttng(s, start) == 0)
		return NULL;
	lttng_session_close(s);
	return "the LTTng session could not be started";
}

void lttng_session_close(struct lttng_session *s)
{
	if (s->daemon == 0)
		return;
	run_lttng(s, (const char *[]){ "destroy", s->name, NULL });
	kill(s->daemon, SIGTERM);
	waitpid(s->daemon, NULL, 0);
	s->daemon = 0;
	for (size_t i = 0; i < LEFT_COUNT; i++) {
		char path[LEFT_CAP];
		left_path(path, i);
		if ((s->left_before >> i & 1) == 0)
			remove(path);
	}
}
