#include "cli/leak_pictures.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/progress.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

enum { INTERVAL_MS = 200, PICTURES_MIN = 32 };

uint64_t tdm_leak_interval(uint64_t watch_ns)
{
	return tdm_min(INTERVAL_MS * TDM_NS_PER_MS, watch_ns / PICTURES_MIN);
}

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	interrupted = signal;
}

/* Takes a picture, and gives it to the analyser with the time before it was taken. */
static int take_picture(const struct tdm_cmd *cmd, const struct tdm_leak_pictures *of)
{
	uint64_t before_ns = tdm_clock_ns();
	int code = tdm_ledgers_look(cmd, of->ledgers, TDM_WISH_EVENTS);
	if (of->ledgers->fleet != NULL) /* other machines' pictures are older than their answers */
		before_ns = tdm_fleet_since(of->ledgers->fleet);
	if (code == 0 && tdm_leaks_sample(of->leaks, of->ledgers->picture, before_ns) != 0)
		code = tdm_cmd_error(cmd, "out of memory");
	return code;
}

static void sleep_until(uint64_t ns)
{
	const struct timespec at = { .tv_sec = (time_t)(ns / TDM_NS_PER_S), .tv_nsec = (long)(ns % TDM_NS_PER_S) };
	while (interrupted == 0 && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

/* Watches until the time is up or the user interrupts, which keeps what was seen. Pictures take at most half of the
 * time. */
static int watch(const struct tdm_cmd *cmd, const struct tdm_leak_pictures *of)
{
	struct tdm_progress progress;
	struct sigaction action = { .sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND }, before;
	uint64_t begin = tdm_clock_ns(), end = begin + of->watch_ns, next = begin;
	int code = 0;
	end = end < begin ? UINT64_MAX : end;
	sigaction(SIGINT, &action, &before);
	tdm_progress_begin(&progress, "watching", of->watch_ns);
	for (;;) {
		uint64_t start = tdm_clock_ns();
		code = take_picture(cmd, of);
		uint64_t now = tdm_clock_ns();
		tdm_progress_update(&progress, now - begin);
		if (code != 0 || start >= end || interrupted != 0)
			break;
		next += of->interval_ns;
		next = next < now + (now - start) ? now + (now - start) : next;
		sleep_until(next < end ? next : end);
	}
	tdm_progress_end(&progress);
	sigaction(SIGINT, &before, NULL);
	return code;
}

int tdm_leak_pictures(const struct tdm_cmd *cmd, const struct tdm_leak_pictures *of)
{
	return of->watch_ns != 0 ? watch(cmd, of) : take_picture(cmd, of);
}
