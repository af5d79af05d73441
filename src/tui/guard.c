#include "tui/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CRASH_STACK = 64 * 1024 };

static const int ending[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };
static const int crashing[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
/* Nobody sends these on purpose, but without a handler they end the program. */
static const int stray[] = { SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ, SIGIO, SIGPWR, SIGSYS,
	SIGTRAP };
static const int telling[] = { SIGWINCH, SIGTSTP, SIGCONT };
enum {
	ENDING = sizeof ending / sizeof ending[0],
	CRASHING = sizeof crashing / sizeof crashing[0],
	STRAY = sizeof stray / sizeof stray[0],
	TELLING = sizeof telling / sizeof telling[0]
};

/* All that the handlers use. `restore` is written only while `armed` is not set. */
static struct {
	volatile sig_atomic_t end, resized, stop, continued, armed;
	int pipe[2];
	struct {
		int fd;
		struct termios settings;
		char bytes[TDM_GUARD_BYTES_MAX];
		size_t len;
	} restore;
	struct sigaction old_ending[ENDING], old_crashing[CRASHING], old_stray[STRAY], old_telling[TELLING];
	void *stack;
} guard = { .pipe = { -1, -1 } };

static void wake(void)
{
	ssize_t written = write(guard.pipe[1], "", 1);
	(void)written; /* a full pipe wakes the loop too */
}

/* Async-signal-safe. Drops unsent output first: the terminal may have stopped accepting it. */
static void give_back(void)
{
	if (!guard.armed)
		return;
	guard.armed = 0;
	tcflow(guard.restore.fd, TCOON);
	tcflush(guard.restore.fd, TCOFLUSH);
	ssize_t written = write(guard.restore.fd, guard.restore.bytes, guard.restore.len);
	(void)written;
	tcsetattr(guard.restore.fd, TCSANOW, &guard.restore.settings);
}

static void die_of(int signal_number)
{
	give_back();
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t set;
	sigaction(signal_number, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, signal_number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(signal_number);
}

static void on_end(int signal_number)
{
	int kept = errno;
	if (guard.end != 0 && signal_number != SIGHUP)
		die_of(signal_number);
	if (guard.armed) /* Ctrl-S may have blocked the loop in the middle of a frame */
		tcflow(guard.restore.fd, TCOON);
	guard.end = signal_number;
	wake();
	errno = kept;
}

static void on_news(int signal_number)
{
	int kept = errno;
	if (signal_number == SIGWINCH)
		guard.resized = 1;
	else if (signal_number == SIGTSTP)
		guard.stop = 1;
	else
		guard.continued = 1;
	wake();
	errno = kept;
}

static void set_handlers(
	const int *signals, size_t count, struct sigaction *old, void (*handler)(int), int flags, bool keep_ignored)
{
	for (size_t i = 0; i < count; i++) {
		struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
		sigemptyset(&action.sa_mask);
		sigaction(signals[i], &action, &old[i]);
		if (keep_ignored && (old[i].sa_flags & SA_SIGINFO) == 0 && old[i].sa_handler == SIG_IGN)
			sigaction(signals[i], &old[i], NULL);
	}
}

static void reset_handlers(const int *signals, size_t count, const struct sigaction *old)
{
	for (size_t i = 0; i < count; i++)
		sigaction(signals[i], &old[i], NULL);
}

int tdm_guard_begin(void)
{
	if (pipe2(guard.pipe, O_CLOEXEC | O_NONBLOCK) != 0)
		return -errno;
	guard.end = guard.resized = guard.stop = guard.continued = guard.armed = 0;
	guard.stack = malloc(CRASH_STACK);
	if (guard.stack != NULL) {
		stack_t stack = { .ss_sp = guard.stack, .ss_size = CRASH_STACK };
		sigaltstack(&stack, NULL);
	}
	set_handlers(ending, ENDING, guard.old_ending, on_end, SA_RESTART, true);
	set_handlers(telling, TELLING, guard.old_telling, on_news, SA_RESTART, true);
	set_handlers(stray, STRAY, guard.old_stray, die_of, SA_RESTART, true);
	set_handlers(crashing, CRASHING, guard.old_crashing, die_of,
		(int)SA_RESETHAND | SA_NODEFER | (guard.stack != NULL ? SA_ONSTACK : 0), false);
	return 0;
}

void tdm_guard_end(void)
{
	reset_handlers(ending, ENDING, guard.old_ending);
	reset_handlers(telling, TELLING, guard.old_telling);
	reset_handlers(stray, STRAY, guard.old_stray);
	reset_handlers(crashing, CRASHING, guard.old_crashing);
	guard.armed = 0;
	if (guard.stack != NULL) {
		stack_t stack = { .ss_flags = SS_DISABLE };
		sigaltstack(&stack, NULL);
		free(guard.stack);
		guard.stack = NULL;
	}
	close(guard.pipe[0]);
	close(guard.pipe[1]);
	guard.pipe[0] = guard.pipe[1] = -1;
}

void tdm_guard_restores(int fd, const struct termios *settings, const char *bytes, size_t len)
{
	guard.armed = 0;
	if (bytes == NULL)
		return;
	guard.restore.fd = fd;
	guard.restore.settings = *settings;
	guard.restore.len = len < sizeof guard.restore.bytes ? len : sizeof guard.restore.bytes;
	memcpy(guard.restore.bytes, bytes, guard.restore.len);
	guard.armed = 1;
}

int tdm_guard_fd(void)
{
	return guard.pipe[0];
}

struct tdm_guard_news tdm_guard_take(void)
{
	char drained[64];
	while (read(guard.pipe[0], drained, sizeof drained) > 0)
		;
	struct tdm_guard_news news = { .end = guard.end,
		.resized = guard.resized != 0,
		.stop = guard.stop != 0,
		.continued = guard.continued != 0 };
	guard.resized = guard.stop = guard.continued = 0;
	return news;
}

void tdm_guard_stop_self(void)
{
	/* Unlike SIGSTOP, the system ignores SIGTSTP if nobody could continue the process. */
	struct sigaction action = { .sa_handler = SIG_DFL }, old;
	sigaction(SIGTSTP, &action, &old);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &old, NULL);
}
