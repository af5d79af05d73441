#include "daemon/worker.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ_MOST = 65536 };

/* Keeps nothing of the daemon's: descriptors, signals. Linux ends it with the daemon. */
static void run_child(int fd, pid_t parent, void (*work)(void *context, int fd), void *context)
{
	sigset_t none;
	const struct sigaction usual = { .sa_handler = SIG_DFL }, ignored = { .sa_handler = SIG_IGN };
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(fd, STDERR_FILENO + 1) < 0)
		_exit(1);
	/* First of all: if the daemon is killed now, the next one waits for its sockets and locks. */
	syscall(SYS_close_range, STDERR_FILENO + 2, ~0U, 0);
	sigaction(SIGTERM, &usual, NULL);
	sigaction(SIGINT, &usual, NULL);
	sigaction(SIGPIPE, &ignored, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	work(context, STDERR_FILENO + 1);
	_exit(0);
}

static void close_pipe(struct tdm_worker *worker)
{
	if (worker->pipe.fd < 0)
		return;
	tdm_worker_listen(worker, false);
	close(worker->pipe.fd);
	worker->pipe.fd = -1;
}

static void pipe_ready(struct tdm_watch *watch, uint32_t events)
{
	struct tdm_worker *worker = tdm_loop_owner(watch, struct tdm_worker, pipe);
	char data[READ_MOST];
	size_t most = worker->most < sizeof data ? worker->most : sizeof data;
	(void)events;
	ssize_t len = read(watch->fd, data, most);
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len <= 0)
		close_pipe(worker);
	worker->got(worker, data, len > 0 ? (size_t)len : 0);
}

static void process_ended(struct tdm_watch *watch, uint32_t events)
{
	struct tdm_worker *worker = tdm_loop_owner(watch, struct tdm_worker, end);
	(void)events;
	if (waitpid(worker->pid, NULL, WNOHANG) != worker->pid)
		return;
	tdm_loop_remove(worker->loop, watch);
	close(watch->fd);
	watch->fd = -1;
	worker->pid = 0;
}

void tdm_worker_listen(struct tdm_worker *worker, bool listens)
{
	bool is_on = worker->pipe.events != 0;
	if (worker->pipe.fd < 0 || is_on == listens)
		return;
	/* A pipe that is closed on the other side is always ready, so it has to go. */
	worker->pipe.events = listens ? EPOLLIN : 0;
	if (listens)
		tdm_loop_add(worker->loop, &worker->pipe);
	else
		tdm_loop_remove(worker->loop, &worker->pipe);
}

int tdm_worker_start(
	struct tdm_worker *worker, struct tdm_loop *loop, void (*work)(void *context, int fd), void *context)
{
	int fds[2];
	pid_t parent = getpid();
	worker->loop = loop;
	worker->pid = 0;
	worker->pipe = (struct tdm_watch){ .fd = -1, .ready = pipe_ready };
	worker->end = (struct tdm_watch){ .fd = -1, .events = EPOLLIN, .ready = process_ended };
	if (pipe2(fds, O_CLOEXEC) != 0)
		return -errno;
	pid_t pid = fork();
	if (pid == 0)
		run_child(fds[1], parent, work, context);
	int err = pid < 0 ? -errno : 0;
	close(fds[1]);
	worker->pipe.fd = fds[0];
	if (err == 0 && fcntl(fds[0], F_SETFL, O_NONBLOCK) != 0)
		err = -errno;
	worker->pid = pid > 0 ? pid : 0;
	worker->end.fd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	if (err == 0 && worker->end.fd < 0)
		err = -errno;
	if (err == 0)
		err = tdm_loop_add(loop, &worker->end);
	if (err == 0)
		tdm_worker_listen(worker, true);
	else
		tdm_worker_stop(worker);
	return err;
}

uint64_t tdm_worker_cpu_ns(const struct tdm_worker *worker)
{
	clockid_t clock;
	return worker->pid != 0 && clock_getcpuclockid(worker->pid, &clock) == 0 ? tdm_clock_read(clock) : 0;
}

void tdm_worker_stop(struct tdm_worker *worker)
{
	close_pipe(worker);
	if (worker->pid != 0) {
		kill(worker->pid, SIGKILL);
		waitpid(worker->pid, NULL, 0); /* what it waits for cannot be long: it only reads memory */
		worker->pid = 0;
	}
	if (worker->end.fd >= 0) {
		tdm_loop_remove(worker->loop, &worker->end);
		close(worker->end.fd);
		worker->end.fd = -1;
	}
}
