#include "daemon/work/loop.h"
#include "base/clock.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int tdm_loop_init(struct tdm_loop *loop)
{
	*loop = (struct tdm_loop){ .epoll = epoll_create1(EPOLL_CLOEXEC), .signals.fd = -1 };
	return loop->epoll >= 0 ? 0 : -errno;
}

void tdm_loop_done(struct tdm_loop *loop)
{
	if (loop->signals.fd >= 0)
		close(loop->signals.fd);
	if (loop->epoll >= 0)
		close(loop->epoll);
	loop->signals.fd = loop->epoll = -1;
}

int tdm_loop_add(struct tdm_loop *loop, struct tdm_watch *watch)
{
	struct epoll_event event = { .events = watch->events, .data.ptr = watch };
	return epoll_ctl(loop->epoll, EPOLL_CTL_ADD, watch->fd, &event) == 0 ? 0 : -errno;
}

int tdm_loop_change(struct tdm_loop *loop, struct tdm_watch *watch, uint32_t events)
{
	if (watch->events == events)
		return 0;
	struct epoll_event event = { .events = events, .data.ptr = watch };
	if (epoll_ctl(loop->epoll, EPOLL_CTL_MOD, watch->fd, &event) != 0)
		return -errno;
	watch->events = events;
	return 0;
}

void tdm_loop_remove(struct tdm_loop *loop, struct tdm_watch *watch)
{
	epoll_ctl(loop->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
	for (int i = loop->batch_at; i < loop->batch_count; i++)
		if (loop->batch[i].data.ptr == watch)
			loop->batch[i].data.ptr = NULL;
}

void tdm_loop_stop(struct tdm_loop *loop, struct tdm_timer *timer)
{
	for (struct tdm_timer **at = &loop->timers; *at != NULL; at = &(*at)->next)
		if (*at == timer) {
			*at = timer->next;
			break;
		}
	timer->at_ns = 0;
	timer->next = NULL;
}

void tdm_loop_start(struct tdm_loop *loop, struct tdm_timer *timer, uint64_t after_ns)
{
	tdm_loop_stop(loop, timer);
	timer->at_ns = tdm_clock_ns() + after_ns;
	timer->next = loop->timers;
	loop->timers = timer;
}

static void signals_ready(struct tdm_watch *watch)
{
	struct tdm_loop *loop = tdm_loop_owner(watch, struct tdm_loop, signals);
	struct signalfd_siginfo info;
	while (read(watch->fd, &info, sizeof info) == (ssize_t)sizeof info)
		loop->signal(loop->signal_context, (int)info.ssi_signo);
}

int tdm_loop_signals(
	struct tdm_loop *loop, const sigset_t *signals, void (*call)(void *context, int number), void *context)
{
	if (sigprocmask(SIG_BLOCK, signals, NULL) != 0)
		return -errno;
	loop->signal = call;
	loop->signal_context = context;
	loop->signals = (struct tdm_watch){
		.fd = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK), .events = EPOLLIN, .ready = signals_ready
	};
	return loop->signals.fd >= 0 ? tdm_loop_add(loop, &loop->signals) : -errno;
}

/* The timer due first; NULL if none is running. */
static struct tdm_timer *first_timer(const struct tdm_loop *loop)
{
	struct tdm_timer *first = loop->timers;
	for (struct tdm_timer *timer = first; timer != NULL; timer = timer->next)
		if (timer->at_ns < first->at_ns)
			first = timer;
	return first;
}

int tdm_loop_run(struct tdm_loop *loop)
{
	enum { MOST_MS = 3600 * 1000 };
	uint64_t now_ns = tdm_clock_ns();
	while (!loop->is_over) {
		/* Rounds up, so that the loop does not spin just before a timer. */
		struct tdm_timer *timer = first_timer(loop);
		uint64_t left_ns = timer != NULL && timer->at_ns > now_ns ? timer->at_ns - now_ns : 0;
		uint64_t ms = tdm_min((left_ns + TDM_NS_PER_MS - 1) / TDM_NS_PER_MS, MOST_MS);
		int wait_ms = loop->last_rounds != 0 ? 0 : timer == NULL ? -1 : (int)ms;
		int count = epoll_wait(loop->epoll, loop->batch, TDM_LOOP_BATCH, wait_ms);
		if (count < 0 && errno != EINTR)
			return -errno;
		if (loop->last_rounds != 0 && (count == 0 || --loop->last_rounds == 0))
			break;
		uint64_t woken_ns = tdm_clock_ns();
		loop->waited_ns = woken_ns - now_ns;
		loop->batch_count = count < 0 ? 0 : count;
		for (loop->batch_at = 0; loop->batch_at < loop->batch_count && !loop->is_over;) {
			const struct epoll_event *event = &loop->batch[loop->batch_at++];
			struct tdm_watch *watch = event->data.ptr;
			if (watch != NULL)
				watch->ready(watch);
		}
		now_ns = tdm_clock_ns();
		while (!loop->is_over && (timer = first_timer(loop)) != NULL && timer->at_ns <= now_ns) {
			if (timer->every_ns != 0)
				timer->at_ns = now_ns + timer->every_ns; /* missed ticks are skipped */
			else
				tdm_loop_stop(loop, timer);
			timer->ready(timer);
		}
		loop->rounds++;
		now_ns = tdm_clock_ns();
		loop->busy_ns += now_ns - woken_ns;
		/* Lets messages accumulate: a system call and a wake-up for each would cost more than handling it. */
		if (loop->rest_ns != 0 && !loop->is_over && loop->last_rounds == 0) {
			nanosleep(&(struct timespec){ .tv_nsec = (long)loop->rest_ns }, NULL);
			loop->rest_ns = 0;
			now_ns = tdm_clock_ns();
		}
	}
	return 0;
}

void tdm_loop_end(struct tdm_loop *loop)
{
	loop->is_over = true;
}

void tdm_loop_finish(struct tdm_loop *loop)
{
	/* limited, so that clients that never stop sending cannot prevent the daemon from ending */
	enum { LAST_ROUNDS = 64 };
	if (loop->last_rounds == 0)
		loop->last_rounds = LAST_ROUNDS;
}

/* ---- processes that work for the loop ---- */

enum { READ_MOST = 65536 };

/* In the child: closes the daemon's descriptors, resets its signals, and arranges to be killed when the daemon dies. */
static void run_child(int fd, pid_t parent, void (*work)(void *context, int fd), void *context)
{
	sigset_t none;
	const struct sigaction usual = { .sa_handler = SIG_DFL }, ignored = { .sa_handler = SIG_IGN };
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(fd, STDERR_FILENO + 1) < 0)
		_exit(1);
	/* Done first: if the daemon is killed now, these descriptors keep its sockets and locks in use. */
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

static void pipe_ready(struct tdm_watch *watch)
{
	struct tdm_worker *worker = tdm_loop_owner(watch, struct tdm_worker, pipe);
	char data[READ_MOST];
	size_t most = worker->most < sizeof data ? worker->most : sizeof data;
	ssize_t len = read(watch->fd, data, most);
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len <= 0)
		close_pipe(worker);
	worker->got(worker, data, len > 0 ? (size_t)len : 0);
}

static void process_ended(struct tdm_watch *watch)
{
	struct tdm_worker *worker = tdm_loop_owner(watch, struct tdm_worker, end);
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
	/* The descriptor is removed rather than masked, because a pipe with a closed end is always ready. */
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
		waitpid(worker->pid, NULL, 0); /* returns soon, because the process only reads memory */
		worker->pid = 0;
	}
	if (worker->end.fd >= 0) {
		tdm_loop_remove(worker->loop, &worker->end);
		close(worker->end.fd);
		worker->end.fd = -1;
	}
}
