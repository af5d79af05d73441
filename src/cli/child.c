/*
 * The child stays in our process group. Signals from the terminal (interrupt, new window size, hangup) reach it
 * directly, and we survive them to see it end. Signals that another process sends to us alone are passed on; Linux
 * tells us the sender. Signals are blocked and waited for, so none is lost.
 *
 * Processes that lose their parent become our children (a subreaper's), so we know at the end which ones still run.
 */
#include "cli/child.h"
#include "base/clock.h"
#include "sources/sys_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const int passed_on[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT };

/* How long processes may take to end after the program. */
#define GRACE_NS (100 * TDM_NS_PER_MS)

struct signals {
	sigset_t waited, before;
	struct sigaction child_before;
};

static void take_signals(struct signals *signals)
{
	struct sigaction normal = { .sa_handler = SIG_DFL };
	sigemptyset(&signals->waited);
	for (size_t i = 0; i < sizeof passed_on / sizeof passed_on[0]; i++)
		sigaddset(&signals->waited, passed_on[i]);
	sigaddset(&signals->waited, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals->waited, &signals->before);
	/* A process that ignores SIGCHLD cannot wait for a child. */
	sigaction(SIGCHLD, &normal, &signals->child_before);
}

static void give_signals_back(const struct signals *signals)
{
	sigaction(SIGCHLD, &signals->child_before, NULL);
	sigprocmask(SIG_SETMASK, &signals->before, NULL);
}

/* In the child: executes the program, or tells the parent why it cannot, in memory that they share: a pipe would take
 * files, of which there may be none left. */
__attribute__((noreturn)) static void start(
	char **argv, void (*prepare)(void *context), void *context, const struct signals *signals, int *tell)
{
	give_signals_back(signals);
	if (prepare != NULL)
		prepare(context);
	execvp(argv[0], argv);
	*tell = errno;
	_exit(TDM_CHILD_NOT_EXECUTABLE);
}

static bool is_passed_on(const siginfo_t *info, pid_t child)
{
	return info->si_code <= 0 && info->si_pid != child && info->si_pid != getpid();
}

/* Takes note of all children that have ended. 1: `child` is one of them; 0: others still run; -1: none is left. */
static int take_ended(pid_t child, int *status)
{
	int found = 0, its;
	for (;;) {
		pid_t got = waitpid(-1, &its, WNOHANG);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return found != 0 ? 1 : got == 0 ? 0 : -1;
		if (got == child) {
			*status = its;
			found = 1;
		}
	}
}

static int wait_for_end(pid_t child, const struct signals *signals)
{
	int status = 0;
	for (;;) {
		siginfo_t info;
		int signal = sigwaitinfo(&signals->waited, &info);
		if (signal < 0)
			continue; /* interrupted when stopped and continued */
		if (signal != SIGCHLD) {
			if (is_passed_on(&info, child))
				kill(child, signal);
			continue;
		}
		if (take_ended(child, &status) != 0)
			return status;
	}
}

/* Finds the processes that still run. Those that are just ending get a little time for it. */
static void find_left(struct tdm_child_end *end)
{
	enum { LIST_CAP = 4096 };
	const struct timespec pause = { .tv_nsec = (long)GRACE_NS };
	uint64_t until = tdm_clock_ns() + GRACE_NS;
	sigset_t ended;
	char list[LIST_CAP], *at = list;
	int ignored;
	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	while ((end->has_left = take_ended(0, &ignored) == 0) && tdm_clock_ns() < until)
		sigtimedwait(&ended, NULL, &pause);
	if (!end->has_left || tdm_sys_file_read(AT_FDCWD, "/proc/thread-self/children", list, sizeof list) <= 0)
		return;
	for (char *next = at; end->left_count < TDM_CHILD_LEFT_MAX; at = next) {
		long pid = strtol(at, &next, 10);
		if (next == at)
			break;
		end->left[end->left_count++] = (int32_t)pid;
	}
}

int tdm_child_run(char **argv, void (*prepare)(void *context), void *context, struct tdm_child_end *end)
{
	struct signals signals;
	int status = 0, err = 0;
	*end = (struct tdm_child_end){ 0 };
	int *tell = mmap(NULL, sizeof *tell, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tell == MAP_FAILED)
		return -errno;
	take_signals(&signals);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid_t child = fork();
	if (child == 0)
		start(argv, prepare, context, &signals, tell);
	if (child < 0)
		err = errno;
	else {
		status = wait_for_end(child, &signals);
		err = *tell;
	}
	if (err == 0)
		find_left(end);
	give_signals_back(&signals);
	munmap(tell, sizeof *tell);
	if (err != 0)
		return -err;
	end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	end->exit_code = end->signal != 0 ? TDM_CHILD_KILLED + end->signal : WEXITSTATUS(status);
	return 0;
}
