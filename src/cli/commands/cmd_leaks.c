/* `tidemark leaks`: finds probable leaks, and explains why. */
#include "analyze/leaks/leaks.h"
#include "base/clock.h"
#include "cli/commands/cmd_list.h"
#include "cli/inputs/ledgers.h"
#include "cli/options/options.h"
#include "model/result/result.h"
#include "view/rows/live_result.h"

/* A daemon takes a picture every half second, so more frequent requests show nothing new. */
enum { REMOTE_INTERVAL_MS = 500 };

struct request {
	const struct tdm_cmd *cmd;
	struct tdm_pids pids;
	char **paths; /* named ledgers; NULL for all in the directory */
	struct tdm_connect connect;
	uint64_t watch_ns, interval_ns;
	bool json, ascii, fail, fail_suspect;
	struct tdm_live_report live;
};

static int exit_code(const struct request *request, const struct tdm_ledgers *ledgers)
{
	if (request->paths != NULL && tdm_live_unread_count(&request->live) != 0)
		return TDM_EXIT_USAGE; /* a named file could not be read */
	if (tdm_picture_is_silent(ledgers->picture))
		return TDM_EXIT_USAGE;
	size_t count = 0;
	if ((request->fail || request->fail_suspect) && ledgers->picture->process_count == 0)
		return tdm_cmd_error(request->cmd, "no tracked program was seen, so nothing can be said about leaks");
	if (request->fail || request->fail_suspect)
		count += tdm_leaks_chosen(&request->live, TDM_FINDING_BROKEN);
	if (request->fail_suspect)
		count += tdm_leaks_chosen(&request->live, TDM_FINDING_WARNING);
	if (count == 0 && request->connect.hosts != NULL && (request->fail || request->fail_suspect) &&
		tdm_live_unread_count(&request->live) != 0)
		return TDM_EXIT_USAGE; /* an unreachable machine may have leaks */
	if (count == 0 && tdm_leaks_damaged(&request->live) != 0 &&
		(request->paths != NULL || request->fail || request->fail_suspect))
		return TDM_EXIT_USAGE; /* a damaged ledger may hide leaks */
	return count != 0 ? TDM_EXIT_FINDING : TDM_EXIT_OK;
}

/* Judges the samples, prints the findings, and applies --fail. */
static int judge(struct request *request, struct tdm_leaks *leaks, const struct tdm_ledgers *ledgers)
{
	struct tdm_findings findings = { 0 };
	struct tdm_leaks_result found;
	tdm_leaks_judge(leaks, ledgers->picture, &findings, &found);
	tdm_ledgers_report(ledgers, request->ascii, &request->live);
	request->live.findings = &findings;
	request->live.leaks = &found;
	request->live.interval_ns = request->watch_ns != 0 ? request->interval_ns : 0;
	struct tdm_result *result = tdm_result_new();
	tdm_leaks_show(&result->top, &request->live);
	int code = tdm_cmd_show(request->cmd, result, request->json, &request->live.term, exit_code(request, ledgers));
	tdm_result_free(result);
	int checked = tdm_ledgers_check(request->cmd, ledgers, &request->pids, &request->live.filter);
	tdm_findings_done(&findings);
	return checked != 0 ? checked : code;
}

static int run_request(struct request *request)
{
	const struct tdm_state_options options = {
		.ledger_dir = request->live.dir,
		.paths = (const char *const *)request->paths,
		.pids = request->pids.count != 0 ? request->pids.list : NULL,
		.pid_count = request->pids.count,
		.keeps_gone = true,
	};
	struct tdm_ledgers ledgers;
	struct tdm_leaks *leaks = tdm_leaks_new(request->watch_ns);
	int code = request->connect.hosts != NULL
			   ? tdm_ledgers_connect(request->cmd, &request->connect, &request->pids, &ledgers)
			   : tdm_ledgers_open(request->cmd, options, &ledgers);
	if (code != 0) {
		tdm_leaks_free(leaks);
		return code;
	}
	code = tdm_leak_pictures(request->cmd, leaks, &ledgers, request->watch_ns, request->interval_ns);
	if (code == 0)
		code = judge(request, leaks, &ledgers);
	tdm_ledgers_done(&ledgers);
	tdm_leaks_free(leaks);
	return code;
}

static int cmd_leaks_run(struct tdm_args *args)
{
	struct request request = { .cmd = args->cmd };
	int code = tdm_args_read(args, &request);
	if (code != 0)
		return code;
	if (request.interval_ns != 0 && request.watch_ns == 0)
		return tdm_cmd_usage_error(args->cmd, "--interval needs --for, which says how long to watch");
	if (request.interval_ns == 0)
		request.interval_ns = request.connect.hosts != NULL ? REMOTE_INTERVAL_MS * TDM_NS_PER_MS
								    : tdm_leak_interval(request.watch_ns);
	request.paths = args->positional_count != 0 ? args->positional : NULL;
	if (request.connect.hosts != NULL && (request.paths != NULL || request.live.dir != NULL))
		return tdm_cmd_usage_error(args->cmd, "--connect shows other machines: name no ledger and no --dir");
	return run_request(&request);
}

static const struct tdm_opt leaks_opts[] = {
	{ "for", 'f', "TIME", "watch for this long, such as 30s or 5m; without it, the ledgers are read once",
		TDM_TAKE_DURATION(struct request, watch_ns) },
	{ "interval", 'i', "TIME",
		"time between two samples (default: 200ms, shorter if --for is short; 500ms with --connect)",
		TDM_TAKE_DURATION(struct request, interval_ns) },
	{ TDM_OPT_PIDS(struct request, pids) },
	{ TDM_OPT_DIR(struct request, live.dir) },
	{ TDM_OPT_CONNECT(struct request, connect) },
	{ TDM_OPT_TOKEN_FILE(struct request, connect) },
	{ TDM_OPT_TIMEOUT(struct request, connect) },
	{ TDM_OPT_KIND(struct request, live.filter) },
	{ TDM_OPT_DEVICE_NUMBER(struct request, live.filter) },
	{ "min-bytes", 'm', "SIZE", "show only sites that hold at least this much, such as 64K",
		TDM_TAKE_BYTES(struct request, live.min_bytes) },
	{ "all", 'a', NULL, "also list steady sites, with the reason, and all findings after the first 50",
		TDM_TAKE_FLAG(struct request, live.all) },
	{ "stacks", 0, NULL, "print whole call stacks, if they were recorded",
		TDM_TAKE_FLAG(struct request, live.stacks) },
	{ TDM_OPT_JSON(struct request, json) },
	{ "fail", 0, NULL, "exit with 1 if there is a leak", TDM_TAKE_FLAG(struct request, fail) },
	{ "fail-suspect", 0, NULL, "exit with 1 if there is a leak or a suspect",
		TDM_TAKE_FLAG(struct request, fail_suspect) },
	{ TDM_OPT_ASCII(struct request, ascii) },
	{ 0 },
};

static const struct tdm_help_row leaks_examples[] = {
	{ "tidemark leaks --for 30s", "watch every tracked program for half a minute" },
	{ "tidemark leaks --for 5m --pid 4242 --stacks", "watch one program for longer, with call stacks" },
	{ "tidemark leaks --for 1m --connect lab-1,lab-2", "watch the programs of two other machines" },
	{ "tidemark leaks", "buffers that ended programs never freed, and suspicious buffers in running programs" },
	{ "tidemark leaks --for 20s --fail --min-bytes 1M", "fail a test job when something leaks" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_leaks = {
	.name = "leaks",
	.summary = "find probable leaks, with the reasons",
	.usage = "[--for TIME] [--interval TIME] [--pid PID]... [--dir DIR] [--connect HOST[:PORT],...] [--kind KIND] "
		 "[--device N] [--min-bytes SIZE] [--all] [--stacks] [--json] [--fail | --fail-suspect] [LEDGER]...",
	.description = "Watches the live buffers of tracked programs and judges every site. A site is a buffer name, "
		       "or a call stack for buffers without names, in one process, on one device, for one kind of "
		       "memory. A leak is a site whose floor grows: the number of unfreed buffers older than a "
		       "quarter of the watched time rises steadily. Buffers that come and go with each iteration do "
		       "not count, however many there are. A suspect also grows, but either less clearly or with a "
		       "possible harmless explanation, such as loading or a cache being filled.\n\nWatch for longer "
		       "than the program's longest cycle. If you interrupt the watch, the samples so far are "
		       "judged.\n\nWithout --for, and for programs that have ended, the ledgers are read once: "
		       "buffers that a program had not freed when it exited normally are a leak; buffers of a killed "
		       "program are not.\n\nWith --connect, daemons on other machines report the buffers. They do "
		       "not send events, so the lifetimes of freed buffers are unknown.\n\nWith --fail or "
		       "--fail-suspect, the exit code is 2 if no tracked program was seen, or if no leak was found "
		       "but a ledger is damaged.",
	.opts = leaks_opts,
	.examples = leaks_examples,
	.run = cmd_leaks_run,
};
