/*
 * Signals are blocked and read from a descriptor, so none are lost between two checks. Output is written in pieces of
 * PIPE_BUF, which a pipe accepts without blocking once poll() reports it ready. Therefore, a stalled reader cannot keep
 * us from seeing a signal.
 */
#include "cli/commands/ticker.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/number.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Returns 1 if the output is ready (if `events` is POLLOUT), 0 if the time is up, -1 if it is time to end. *err: why
 * the output could not be written; 0 for no error, or if the reader has gone. */
static int watch(int signal_fd, int *err, short events, const struct timespec *timeout)
{
	struct pollfd fds[] = { { .fd = signal_fd, .events = POLLIN }, { .fd = STDOUT_FILENO, .events = events } };
	int got;
	do
		got = ppoll(fds, 2, timeout, NULL);
	while (got < 0 && errno == EINTR);
	if (got < 0) {
		*err = -errno;
		return -1;
	}
	if (fds[0].revents != 0 || (fds[1].revents & (POLLERR | POLLHUP)) != 0)
		return -1;
	if ((fds[1].revents & POLLNVAL) != 0) {
		*err = -EBADF;
		return -1;
	}
	return fds[1].revents != 0 ? 1 : 0;
}

/* Returns false if it is time to end. */
static bool write_all(int signal_fd, int *err, const char *data, size_t len)
{
	while (len != 0) {
		if (watch(signal_fd, err, POLLOUT, NULL) < 0)
			return false;
		ssize_t put = write(STDOUT_FILENO, data, len < PIPE_BUF ? len : PIPE_BUF);
		if (put < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (put < 0) {
			*err = errno != EPIPE ? -errno : 0;
			return false;
		}
		data += put;
		len -= (size_t)put;
	}
	return true;
}

int tdm_ticker_run(
	const struct tdm_cmd *cmd, uint64_t interval_ns, uint64_t turns, tdm_ticker_make *make, void *context)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, pipe_before, now;
	struct signalfd_siginfo info;
	struct tdm_buf out = { 0 };
	sigset_t signals, before;
	int code;
	sigemptyset(&signals);
	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
		if (sigaction(ending[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			sigaddset(&signals, ending[i]);
	int err = 0, signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signal_fd < 0)
		return tdm_cmd_error(cmd, "%s", tdm_err_text(-errno));
	/* With a single turn, there is nothing to end early, so signals end the process. */
	sigprocmask(SIG_BLOCK, turns != 1 ? &signals : NULL, &before);
	sigaction(SIGPIPE, &ignore, &pipe_before);
	uint64_t next_ns = tdm_clock_ns();
	for (uint64_t turn = 1;; turn++) {
		tdm_buf_clear(&out);
		code = make(context, turn == 1, &out);
		if (code != 0 || !write_all(signal_fd, &err, out.data, out.len) || turn == turns)
			break;
		uint64_t now_ns = tdm_clock_ns();
		next_ns = tdm_max(next_ns + interval_ns, now_ns);
		uint64_t wait_ns = next_ns - now_ns;
		const struct timespec timeout = { (time_t)(wait_ns / TDM_NS_PER_S), (long)(wait_ns % TDM_NS_PER_S) };
		if (watch(signal_fd, &err, 0, &timeout) != 0)
			break;
	}
	tdm_buf_done(&out);
	while (read(signal_fd, &info, sizeof info) > 0)
		; /* unblocking a pending signal would end the process */
	close(signal_fd);
	sigaction(SIGPIPE, &pipe_before, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (err != 0)
		return tdm_cmd_error(cmd, "cannot write to standard output: %s", tdm_err_text(err));
	return code;
}
