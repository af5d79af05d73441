/*
 * Signals are blocked and read from a descriptor, so none is lost between two checks. Output is written in pieces of
 * PIPE_BUF, which a pipe accepts without blocking once poll() says it is ready: a reader that stalls cannot keep us
 * from seeing a signal.
 */
#include "cli/ticker.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/number.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int ending[] = { SIGINT, SIGTERM, SIGHUP };

struct ticker {
	int signal_fd;
	int err; /* why the output could not be written; 0: no error, or its reader has left */
	sigset_t before;
	struct sigaction pipe_before;
};

static int open_ticker(struct ticker *ticker)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t signals;
	*ticker = (struct ticker){ .err = 0 };
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

/* Consumes pending signals, so that unblocking them does not end the process. */
static void close_ticker(struct ticker *ticker)
{
	struct signalfd_siginfo info;
	while (read(ticker->signal_fd, &info, sizeof info) > 0)
		;
	close(ticker->signal_fd);
	sigaction(SIGPIPE, &ticker->pipe_before, NULL);
	sigprocmask(SIG_SETMASK, &ticker->before, NULL);
}

/* 1: the output is ready (if `events` is POLLOUT), 0: the time is up, -1: time to end. */
static int watch(struct ticker *ticker, short events, const struct timespec *timeout)
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

/* False: time to end. */
static bool write_all(struct ticker *ticker, const char *data, size_t len)
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

/* Waits until then. False: time to end. */
static bool wait_until(struct ticker *ticker, uint64_t then_ns)
{
	uint64_t now = tdm_clock_ns(), wait_ns = then_ns > now ? then_ns - now : 0;
	const struct timespec timeout = { (time_t)(wait_ns / TDM_NS_PER_S), (long)(wait_ns % TDM_NS_PER_S) };
	return watch(ticker, 0, &timeout) == 0;
}

int tdm_ticker_run(
	const struct tdm_cmd *cmd, uint64_t interval_ns, uint64_t turns, tdm_ticker_make *make, void *context)
{
	struct ticker ticker;
	struct tdm_buf out;
	uint64_t next_ns = tdm_clock_ns();
	int code, err = open_ticker(&ticker);
	if (err != 0)
		return tdm_cmd_error(cmd, "%s", tdm_err_text(err));
	tdm_buf_init(&out);
	for (uint64_t turn = 1;; turn++) {
		tdm_buf_clear(&out);
		code = make(context, turn == 1, &out);
		if (code == 0 && tdm_buf_failed(&out))
			code = tdm_cmd_error(cmd, "out of memory");
		if (code != 0 || !write_all(&ticker, out.data, out.len) || turn == turns)
			break;
		next_ns = tdm_max(next_ns + interval_ns, tdm_clock_ns());
		if (!wait_until(&ticker, next_ns))
			break;
	}
	tdm_buf_done(&out);
	close_ticker(&ticker);
	if (ticker.err != 0)
		return tdm_cmd_error(cmd, "cannot write to standard output: %s", tdm_err_text(ticker.err));
	return code;
}
