/*
 * Signals are blocked and read from a descriptor, so that none is lost between two checks. Output is written in pieces
 * that a pipe takes whole once poll() says that it takes any (PIPE_BUF): so a reader that stalls cannot keep us from
 * seeing a signal.
 */
#include "cli/ticker.h"
#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int ending[] = { SIGINT, SIGTERM, SIGHUP };

int tdm_ticker_open(struct tdm_ticker *ticker, uint64_t interval_ns, uint64_t turns)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t signals;
	*ticker = (struct tdm_ticker){ .interval_ns = interval_ns, .next_ns = tdm_clock_ns(), .left = turns };
	sigemptyset(&signals);
	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
		struct sigaction now;
		if (sigaction(ending[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			sigaddset(&signals, ending[i]);
	}
	ticker->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (ticker->signal_fd < 0)
		return -errno;
	sigprocmask(SIG_BLOCK, &signals, &ticker->before);
	sigaction(SIGPIPE, &ignore, &ticker->pipe_before);
	return 0;
}

/* A signal that came is taken away, so that giving the signals back does not end the process. */
void tdm_ticker_close(struct tdm_ticker *ticker)
{
	struct signalfd_siginfo info;
	while (read(ticker->signal_fd, &info, sizeof info) > 0)
		;
	close(ticker->signal_fd);
	sigaction(SIGPIPE, &ticker->pipe_before, NULL);
	sigprocmask(SIG_SETMASK, &ticker->before, NULL);
}

/* 1: the output is ready (asked for by POLLOUT), 0: the time is over, -1: it is the end. */
static int watch(struct tdm_ticker *ticker, short events, const struct timespec *timeout)
{
	struct pollfd fds[] = { { .fd = ticker->signal_fd, .events = POLLIN },
		{ .fd = STDOUT_FILENO, .events = events } };
	int got;
	do
		got = ppoll(fds, 2, timeout, NULL);
	while (got < 0 && errno == EINTR);
	if (got < 0) {
		ticker->err = -errno;
		return -1;
	}
	if (fds[0].revents != 0 || (fds[1].revents & (POLLERR | POLLHUP)) != 0)
		return -1;
	if ((fds[1].revents & POLLNVAL) != 0) {
		ticker->err = -EBADF;
		return -1;
	}
	return fds[1].revents != 0 ? 1 : 0;
}

bool tdm_ticker_write(struct tdm_ticker *ticker, const char *data, size_t len)
{
	while (len != 0) {
		if (watch(ticker, POLLOUT, NULL) < 0)
			return false;
		ssize_t put = write(STDOUT_FILENO, data, len < PIPE_BUF ? len : PIPE_BUF);
		if (put < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (put < 0) {
			ticker->err = errno != EPIPE ? -errno : 0;
			return false;
		}
		data += put;
		len -= (size_t)put;
	}
	return true;
}

bool tdm_ticker_wait(struct tdm_ticker *ticker)
{
	if (ticker->left != 0 && --ticker->left == 0)
		return false;
	uint64_t now = tdm_clock_ns();
	ticker->next_ns += ticker->interval_ns;
	if (ticker->next_ns < now)
		ticker->next_ns = now;
	uint64_t wait_ns = ticker->next_ns - now;
	struct timespec timeout = { .tv_sec = (time_t)(wait_ns / TDM_NS_PER_S),
		.tv_nsec = (long)(wait_ns % TDM_NS_PER_S) };
	return watch(ticker, 0, &timeout) == 0;
}
