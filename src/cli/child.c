/*
 * The child stays in our process group. Signals from the terminal (interrupt, new window size, hangup) reach it
 * directly, and we survive them to see it end. Signals that another process sends to us alone are passed on; Linux
 * tells us the sender. Signals are blocked and waited for, so none is lost.
 */
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int passed_on[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT };

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

/* In the child: executes the program, or tells the parent why it cannot. */
__attribute__((noreturn)) static void start(
	char **argv, void (*prepare)(void *context), void *context, const struct signals *signals, int tell_fd)
{
	give_signals_back(signals);
	if (prepare != NULL)
		prepare(context);
	execvp(argv[0], argv);
	int err = errno;
	ssize_t put = write(tell_fd, &err, sizeof err);
	_exit(put == (ssize_t)sizeof err ? TDM_CHILD_NOT_EXECUTABLE : TDM_CHILD_NOT_FOUND);
}

/* The errno of a child that could not start; 0 if it did: exec closes the pipe. */
static int wait_for_start(int fd)
{
	int err = 0;
	ssize_t got;
	do
		got = read(fd, &err, sizeof err);
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof err ? err : 0;
}

static bool is_passed_on(const siginfo_t *info, pid_t child)
{
	return info->si_code <= 0 && info->si_pid != child && info->si_pid != getpid();
}

static int wait_for_end(pid_t child, const struct signals *signals)
{
	int status;
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
		pid_t got = waitpid(child, &status, WNOHANG);
		if (got == child)
			return status;
		if (got < 0 && errno != EINTR)
			return 0;
	}
}

int tdm_child_run(char **argv, void (*prepare)(void *context), void *context, struct tdm_child_end *end)
{
	struct signals signals;
	int tell[2];
	*end = (struct tdm_child_end){ 0 };
	if (pipe2(tell, O_CLOEXEC) != 0)
		return -errno;
	take_signals(&signals);
	pid_t child = fork();
	if (child == 0)
		start(argv, prepare, context, &signals, tell[1]);
	int err = child < 0 ? errno : 0;
	close(tell[1]);
	if (err == 0)
		err = wait_for_start(tell[0]);
	close(tell[0]);
	int status = 0;
	if (err == 0)
		status = wait_for_end(child, &signals);
	else if (child > 0)
		waitpid(child, &status, 0);
	give_signals_back(&signals);
	if (err != 0)
		return -err;
	end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	end->exit_code = end->signal != 0 ? TDM_CHILD_KILLED + end->signal : WEXITSTATUS(status);
	return 0;
}
