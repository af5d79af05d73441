/* `tidemark leaks`: what is probably leaking, and why. */
#include "analyze/leaks.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/err.h"
#include "base/progress.h"
#include "base/units.h"
#include "cli/buffer_options.h"
#include "cli/cmd_list.h"
#include "cli/ledgers.h"
#include "report/leaks_report.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum option {
	OPT_FOR,
	OPT_INTERVAL,
	OPT_PID,
	OPT_DIR,
	OPT_KIND,
	OPT_DEVICE,
	OPT_MIN_BYTES,
	OPT_ALL,
	OPT_STACKS,
	OPT_JSON,
	OPT_FAIL,
	OPT_FAIL_SUSPECT,
	OPT_ASCII,
};

enum { INTERVAL_MS = 200, INTERVAL_MIN_MS = 1, PICTURES_MIN = 32 };

struct request {
	const struct tdm_cmd *cmd;
	struct tdm_pids pids;
	char **paths; /* NULL: those of the directory */
	uint64_t watch_ns, interval_ns;
	bool json, ascii, fail, fail_suspect, has_interval;
	struct tdm_live_report live;
	struct tdm_leaks_report report;
};

static int take_time(struct request *request, const char *name, const char *value, uint64_t *ns)
{
	if (tdm_parse_duration(tdm_str_of(value), ns) != 0 || *ns < INTERVAL_MIN_MS * TDM_NS_PER_MS)
		return tdm_cmd_usage_error(
			request->cmd, "--%s '%s': expected a time from 1ms on, such as 30s, 200ms or 5m", name, value);
	return 0;
}

static int take_option(void *context, int option, const char *value)
{
	struct request *request = context;
	switch ((enum option)option) {
	case OPT_FOR:
		return take_time(request, "for", value, &request->watch_ns);
	case OPT_INTERVAL:
		request->has_interval = true;
		return take_time(request, "interval", value, &request->interval_ns);
	case OPT_PID:
		return tdm_take_one_pid(request->cmd, value, &request->pids);
	case OPT_DIR:
		request->live.dir = value;
		return 0;
	case OPT_KIND:
		return tdm_take_buffer_kind(request->cmd, value, &request->live.filter);
	case OPT_DEVICE:
		return tdm_take_buffer_device(request->cmd, value, &request->live.filter);
	case OPT_MIN_BYTES:
		if (tdm_parse_bytes(tdm_str_of(value), &request->report.min_bytes, NULL) != 0)
			return tdm_cmd_usage_error(
				request->cmd, "--min-bytes '%s': expected a size such as 4096, 64K or 1.5GiB", value);
		return 0;
	case OPT_ALL:
		request->report.all = true;
		return 0;
	case OPT_STACKS:
		request->live.stacks = true;
		return 0;
	case OPT_JSON:
		request->json = true;
		return 0;
	case OPT_FAIL:
		request->fail = true;
		return 0;
	case OPT_FAIL_SUSPECT:
		request->fail_suspect = true;
		return 0;
	case OPT_ASCII:
		request->ascii = true;
		return 0;
	}
	return TDM_EXIT_USAGE;
}

static int read_options(struct tdm_args *args, struct request *request)
{
	request->interval_ns = INTERVAL_MS * TDM_NS_PER_MS;
	int code = tdm_args_each(args, take_option, request);
	if (code != 0)
		return code;
	if (request->has_interval && request->watch_ns == 0)
		return tdm_cmd_usage_error(args->cmd, "--interval needs --for, which says how long to watch");
	/* A short time of watching needs its pictures, too. */
	if (!request->has_interval && request->interval_ns > request->watch_ns / PICTURES_MIN)
		request->interval_ns = request->watch_ns / PICTURES_MIN;
	if (args->positional_count != 0) {
		request->paths = calloc((size_t)args->positional_count + 1, sizeof *request->paths);
		if (request->paths == NULL)
			return tdm_cmd_error(args->cmd, "out of memory");
		for (int i = 0; i < args->positional_count; i++)
			request->paths[i] = args->positional[i];
	}
	return 0;
}

/* Watching. */

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	interrupted = signal;
}

/* A picture, and the time before it. */
static int take_picture(struct request *request, struct tdm_leaks *leaks, struct tdm_ledgers *ledgers)
{
	uint64_t before_ns = tdm_clock_ns();
	int code = tdm_ledgers_look(request->cmd, ledgers, TDM_WISH_EVENTS);
	if (code == 0 && tdm_leaks_sample(leaks, ledgers->picture, before_ns) != 0)
		code = tdm_cmd_error(request->cmd, "out of memory");
	return code;
}

static void sleep_until(uint64_t ns)
{
	const struct timespec at = { .tv_sec = (time_t)(ns / TDM_NS_PER_S), .tv_nsec = (long)(ns % TDM_NS_PER_S) };
	while (interrupted == 0 && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

/* Until the time is over or the user interrupts: what was seen so far counts. Pictures take at most half of the time.
 */
static int watch(struct request *request, struct tdm_leaks *leaks, struct tdm_ledgers *ledgers)
{
	struct tdm_progress progress;
	struct sigaction action = { .sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND }, before;
	uint64_t begin = tdm_clock_ns(), end = begin + request->watch_ns, next = begin;
	int code = 0;
	end = end < begin ? UINT64_MAX : end;
	sigaction(SIGINT, &action, &before);
	tdm_progress_begin(&progress, "watching", request->watch_ns);
	for (;;) {
		uint64_t start = tdm_clock_ns();
		code = take_picture(request, leaks, ledgers);
		uint64_t now = tdm_clock_ns();
		tdm_progress_update(&progress, now - begin);
		if (code != 0 || start >= end || interrupted != 0)
			break;
		next += request->interval_ns;
		next = next < now + (now - start) ? now + (now - start) : next;
		sleep_until(next < end ? next : end);
	}
	tdm_progress_end(&progress);
	sigaction(SIGINT, &before, NULL);
	return code;
}

static int print_report(const struct request *request, int code)
{
	struct tdm_buf out;
	tdm_buf_init(&out);
	if (request->json) {
		struct tdm_json json;
		tdm_json_init(&json, &out);
		tdm_json_envelope(&json, "tidemark.leaks");
		tdm_json_key(&json, "leaks");
		tdm_leaks_json(&request->report, &json);
		tdm_json_object_end(&json);
		tdm_buf_putc(&out, '\n');
	} else {
		tdm_leaks_text(&request->report, &out);
	}
	code = tdm_cmd_print(request->cmd, &out, code);
	tdm_buf_done(&out);
	return code;
}

static int exit_code(const struct request *request, const struct tdm_ledgers *ledgers)
{
	if (request->paths != NULL && tdm_live_unread_count(&request->live) != 0)
		return TDM_EXIT_USAGE; /* a file that was named could not be read */
	size_t count = 0;
	if ((request->fail || request->fail_suspect) && ledgers->picture->process_count == 0)
		return tdm_cmd_error(
			request->cmd, "no tracked program was seen, so that nothing can be said about leaks");
	if (request->fail || request->fail_suspect)
		count += tdm_leaks_chosen(&request->report, TDM_FINDING_BROKEN);
	if (request->fail_suspect)
		count += tdm_leaks_chosen(&request->report, TDM_FINDING_WARNING);
	return count != 0 ? TDM_EXIT_FINDING : TDM_EXIT_OK;
}

static int judge(struct request *request, struct tdm_leaks *leaks, const struct tdm_ledgers *ledgers)
{
	struct tdm_findings findings = { 0 };
	struct tdm_leaks_result result;
	if (tdm_leaks_judge(leaks, ledgers->picture, &findings, &result) != 0)
		return tdm_cmd_error(request->cmd, "out of memory");
	tdm_ledgers_report(ledgers, request->ascii, &request->live);
	request->report.live = &request->live;
	request->report.findings = &findings;
	request->report.result = &result;
	request->report.interval_ns = request->watch_ns != 0 ? request->interval_ns : 0;
	int code = print_report(request, exit_code(request, ledgers));
	tdm_findings_done(&findings);
	return code;
}

static int run_request(struct request *request)
{
	const struct tdm_state_options options = {
		.ledger_dir = request->live.dir,
		.paths = (const char *const *)request->paths,
		.pids = request->pids.count != 0 ? request->pids.list : NULL,
		.pid_count = request->pids.count,
	};
	struct tdm_ledgers ledgers;
	struct tdm_leaks *leaks = tdm_leaks_new(request->watch_ns);
	int code = leaks != NULL ? tdm_ledgers_open(request->cmd, options, &ledgers)
				 : tdm_cmd_error(request->cmd, "out of memory");
	if (code != 0) {
		tdm_leaks_free(leaks);
		return code;
	}
	code = request->watch_ns != 0 ? watch(request, leaks, &ledgers) : take_picture(request, leaks, &ledgers);
	if (code == 0)
		code = judge(request, leaks, &ledgers);
	tdm_ledgers_done(&ledgers);
	tdm_leaks_free(leaks);
	return code;
}

static int cmd_leaks_run(struct tdm_args *args)
{
	struct request *request = calloc(1, sizeof *request);
	if (request == NULL)
		return tdm_cmd_error(args->cmd, "out of memory");
	request->cmd = args->cmd;
	int code = read_options(args, request);
	if (code == 0)
		code = run_request(request);
	free(request->paths);
	free(request);
	return code;
}

static const struct tdm_opt leaks_opts[] = {
	[OPT_FOR] = { "for", 'f', "TIME", "watch so long, such as 30s or 5m; without it what is there is read once" },
	[OPT_INTERVAL] = { "interval", 'i', "TIME",
		"time between two pictures; 200ms unless given, less when it is watched for a short time" },
	[OPT_PID] = { "pid", 'p', "PID", "only this process; may be given several times" },
	[OPT_DIR] = { "dir", 0, "DIR", "directory of the ledgers, instead of $TIDEMARK_DIR or /dev/shm" },
	[OPT_KIND] = { "kind", 'k', "KIND", "only this kind of memory, such as dram, l1 or cb" },
	[OPT_DEVICE] = { "device", 'd', "N", "only the device with this number" },
	[OPT_MIN_BYTES] = { "min-bytes", 'm', "SIZE", "only sites that hold at least so much, such as 64K" },
	[OPT_ALL] = { "all", 'a', NULL,
		"also list the sites that are steady, with the reason, and what is beyond the first 50 findings" },
	[OPT_STACKS] = { "stacks", 0, NULL, "print whole call stacks, where they were kept" },
	[OPT_JSON] = { "json", 'j', NULL, "print JSON, with sizes in bytes and null for what is unknown" },
	[OPT_FAIL] = { "fail", 0, NULL, "exit with 1 when there is a leak" },
	[OPT_FAIL_SUSPECT] = { "fail-suspect", 0, NULL, "exit with 1 when there is a leak or a suspect" },
	[OPT_ASCII] = { "ascii", 0, NULL, "print '?' for characters outside ASCII" },
	{ NULL, 0, NULL, NULL },
};

static const struct tdm_example leaks_examples[] = {
	{ "tidemark leaks --for 30s", "watch every tracked program for half a minute" },
	{ "tidemark leaks --for 5m --pid 4242 --stacks", "one program, longer, with the call stacks" },
	{ "tidemark leaks", "what programs that ended have never freed, and what looks suspicious at this moment" },
	{ "tidemark leaks --for 20s --fail --min-bytes 1M", "fail a test job when something leaks" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_leaks = {
	.name = "leaks",
	.summary = "find what is probably leaking, and say why",
	.usage = "[--for TIME] [--interval TIME] [--pid PID]... [--dir DIR] [--kind KIND] [--device N] "
		 "[--min-bytes SIZE] [--all] [--stacks] [--json] [--fail | --fail-suspect] [LEDGER]...",
	.description =
		"Watches the live buffers of tracked programs and judges every site: the name that was given to a "
		"buffer, else the call stack, by process, device and kind of memory. A leak is a site whose floor "
		"grows: the buffers that are older than a quarter of the time become more and more, steadily, and are "
		"not freed. What comes and goes with each iteration does not count, however much it is. A suspect "
		"grows, too, but less certainly, or there is a harmless explanation: loading, a cache that fills.\n"
		"\n"
		"Watch longer than the longest cycle of the program. An interrupt ends the watching early and judges "
		"what was seen.\n"
		"\n"
		"Without --for, and for programs that have ended, what is there is read once: buffers that a program "
		"had not freed when it ended by itself are a leak; those of a killed one are not.\n"
		"\n"
		"With --fail or --fail-suspect, a run in which no tracked program was seen exits with 2.",
	.opts = leaks_opts,
	.examples = leaks_examples,
	.run = cmd_leaks_run,
};
