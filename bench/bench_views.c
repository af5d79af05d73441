/*
 * The commands themselves on a busy machine (live_load.h): each screen of `tidemark top` on a terminal, ten pictures a
 * second; `status`; `dump --json` and `leaks` with every buffer. The whole life of each process counts.
 */
#include "bench.h"
#include "live_load.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { PICTURES = 100, ROWS = 50, COLUMNS = 160, RUNS = 9 };

static const struct bench_load_plan busy_machine = { .devices = 32, .processes = 200, .buffers = 1000000, .busy = 10 };

struct use {
	double seconds, core_percent, rss_mib;
	size_t bytes; /* of its output */
};

static void set_environment(const struct bench_load *load)
{
	for (size_t i = 0; load->env[i] != NULL; i++) {
		char word[256], *value;
		snprintf(word, sizeof word, "%s", load->env[i]);
		value = strchr(word, '=');
		*value++ = '\0';
		setenv(word, value, 1);
	}
	setenv("TERM", "xterm-256color", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
}

/* In the child: makes `slave` its controlling terminal. */
static void take_terminal(int slave)
{
	setsid();
	if (ioctl(slave, TIOCSCTTY, 0) != 0)
		_exit(127);
	for (int fd = 0; fd < 3; fd++)
		dup2(slave, fd);
}

static int open_terminal(int *slave)
{
	struct winsize size = { .ws_row = ROWS, .ws_col = COLUMNS };
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	const char *name = master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0 ? ptsname(master) : NULL;
	*slave = name != NULL ? open(name, O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
	if (*slave >= 0 && ioctl(*slave, TIOCSWINSZ, &size) == 0)
		return master;
	if (master >= 0)
		close(master);
	return -1;
}

/* Reads the child's output until the child is gone. */
static size_t drain(int fd)
{
	char block[65536];
	size_t bytes = 0;
	for (;;) {
		ssize_t got = read(fd, block, sizeof block);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return bytes;
		bytes += (size_t)got;
	}
}

static bool wait_for(pid_t pid, uint64_t begin, struct use *use)
{
	struct rusage usage;
	int status;
	if (wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return false;
	use->seconds = (double)(tdm_clock_ns() - begin) / 1e9;
	double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		     (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	use->core_percent = cpu / use->seconds * 100;
	use->rss_mib = (double)usage.ru_maxrss / 1024;
	return true;
}

/* `key` is typed at once and opens a screen. */
static bool run_top(const char *program, const struct bench_load *load, char key, struct use *use)
{
	int slave, master = open_terminal(&slave);
	if (master < 0)
		return false;
	uint64_t begin = tdm_clock_ns();
	pid_t pid = fork();
	if (pid == 0) {
		char frames[16];
		snprintf(frames, sizeof frames, "%d", PICTURES);
		set_environment(load);
		take_terminal(slave);
		execl(program, "tidemark", "top", "--no-config", "-r", "100", "--frames", frames, (char *)NULL);
		_exit(127);
	}
	close(slave);
	bool typed = write(master, &key, 1) == 1;
	use->bytes = pid > 0 ? drain(master) : 0;
	bool ok = pid > 0 && wait_for(pid, begin, use);
	close(master);
	return ok && typed && use->bytes > (size_t)ROWS * COLUMNS / 2; /* else it drew nothing */
}

/* Runs a command and discards its output. */
static bool run_command(const char *program, const struct bench_load *load, const char *const words[], struct use *use)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	uint64_t begin = tdm_clock_ns();
	pid_t pid = fork();
	if (pid == 0) {
		set_environment(load);
		dup2(ends[1], 1);
		execv(program, (char *const *)(uintptr_t)words);
		_exit(127);
	}
	close(ends[1]);
	use->bytes = pid > 0 ? drain(ends[0]) : 0;
	bool ok = pid > 0 && wait_for(pid, begin, use);
	close(ends[0]);
	return ok;
}

static void put(struct bench *bench, const char *name, const char *unit, double ours, double limit, const char *note)
{
	bench_put(
		bench, &(struct bench_row){
			       .name = name, .unit = unit, .ours = ours, .baseline = limit, .goal = 1, .note = note });
}

static void measure_top(struct bench *bench, const char *program, const struct bench_load *load)
{
	static const struct {
		const char *row;
		char key;
	} screens[] = { { "views.top", '1' }, { "views.top_device", '2' }, { "views.top_process", '3' },
		{ "views.top_events", '4' } };
	for (size_t i = 0; i < sizeof screens / sizeof *screens; i++) {
		struct use use;
		if (!bench_wants(bench, screens[i].row) && (i != 0 || !bench_wants(bench, "views.top_rss")))
			continue;
		if (!run_top(program, load, screens[i].key, &use)) {
			bench_leave_out(bench, screens[i].row, "tidemark top failed");
			continue;
		}
		put(bench, screens[i].row, "%", use.core_percent, 5, "limit: of one core, ten pictures a second");
		if (i == 0)
			put(bench, "views.top_rss", "MiB", use.rss_mib, 100, "limit");
	}
}

static void measure_status(struct bench *bench, const char *program, const struct bench_load *load)
{
	static const char *const words[] = { "tidemark", "status", NULL };
	double least = 0;
	for (int i = 0; i < RUNS && bench_wants(bench, "views.status"); i++) {
		struct use use;
		if (!run_command(program, load, words, &use) || use.bytes < 10000) {
			bench_leave_out(bench, "views.status", "tidemark status failed");
			return;
		}
		least = i == 0 || use.seconds < least ? use.seconds : least;
	}
	if (least > 0)
		put(bench, "views.status", "ms", least * 1e3, 50, "limit: from start to end of the command");
}

static void measure_dump(struct bench *bench, const char *program, const struct bench_load *load)
{
	static const char *const words[] = { "tidemark", "dump", "--json", NULL };
	struct use use;
	if (!bench_wants(bench, "views.dump_json") && !bench_wants(bench, "views.dump_rss"))
		return;
	if (!run_command(program, load, words, &use) || use.bytes < load->live * 100) {
		bench_leave_out(bench, "views.dump_json", "tidemark dump failed");
		return;
	}
	put(bench, "views.dump_json", "s", use.seconds, 3, "limit: every buffer as JSON, into a pipe");
	put(bench, "views.dump_rss", "MiB", use.rss_mib, 160e6 / 1048576, "limit: 160 MB");
}

static void measure_leaks(struct bench *bench, const char *program, const struct bench_load *load)
{
	static const char *const words[] = { "tidemark", "leaks", "--for", "9s", "--interval", "1s", NULL };
	struct use use;
	if (!bench_wants(bench, "views.leaks"))
		return;
	if (run_command(program, load, words, &use) && use.bytes != 0)
		put(bench, "views.leaks", "%", use.core_percent, 10,
			"limit: of one core, ten pictures in nine seconds");
	else
		bench_leave_out(bench, "views.leaks", "tidemark leaks failed");
}

static void views_run(struct bench *bench)
{
	static const char *const rows[] = { "views.top", "views.top_rss", "views.top_device", "views.top_process",
		"views.top_events", "views.status", "views.dump_json", "views.dump_rss", "views.leaks" };
	struct bench_load load;
	const char *why;
	char program[4096];
	bool wanted = false;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		wanted = wanted || bench_wants(bench, rows[i]);
	if (!wanted)
		return;
	snprintf(program, sizeof program, "%s/tidemark", bench_bin_dir(bench));
	if (bench_load_start(&load, &busy_machine, &why)) {
		measure_top(bench, program, &load);
		measure_status(bench, program, &load);
		measure_dump(bench, program, &load);
		measure_leaks(bench, program, &load);
	} else {
		bench_leave_out(bench, "views.*", why);
	}
	bench_load_stop(&load);
}

const struct bench_subject bench_views = { "views", "the commands on 32 cards with 200 processes", views_run, NULL };
