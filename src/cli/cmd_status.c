/* `tidemark status`: shows all devices and processes at one moment. */
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "cli/cmd_list.h"
#include "cli/connect.h"
#include "cli/options.h"
#include "cli/ticker.h"
#include "state/state.h"
#include "report/status_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

struct request {
	const struct tdm_cmd *cmd;
	bool json, watch, all, ascii, no_colour, is_long, is_short;
	const char *filename; /* NULL: standard output */
	struct tdm_pids pids;
	struct tdm_pick pick;
	unsigned interval_ms, count;
	struct tdm_machine machine;
	struct tdm_connect connect;
	struct tdm_state *state; /* of this machine; NULL: others are shown */
	struct tdm_fleet *fleet;
};

static const struct tdm_picture *look(const struct request *request)
{
	return request->state != NULL ? tdm_state_look(request->state, NULL) : tdm_fleet_look(request->fleet, NULL);
}

static void make_report(const struct request *request, const struct tdm_picture *picture, struct tdm_buf *out)
{
	struct tdm_status_report report = { .picture = picture,
		.host = request->state != NULL ? tdm_state_host(request->state) : NULL,
		.machine = request->state != NULL ? &request->machine : NULL,
		.pick = request->pick,
		.term = tdm_cmd_term(request->ascii, request->no_colour),
		.form = request->is_long    ? TDM_STATUS_LONG
			: request->is_short ? TDM_STATUS_SHORT
					    : TDM_STATUS_AUTO,
		.is_piped = isatty(STDOUT_FILENO) != 1 };
	if (request->json) {
		struct tdm_json json;
		tdm_json_init(&json, out);
		json.compact = request->watch;
		tdm_status_json(&report, &json);
	} else {
		tdm_status_text(&report, out);
	}
}

static int write_file(const struct request *request, const struct tdm_buf *out)
{
	int err = tdm_buf_failed(out) ? -ENOMEM : tdm_file_replace(request->filename, out->data, out->len);
	if (err != 0)
		return tdm_cmd_error(request->cmd, "cannot write '%s': %s", request->filename, tdm_err_text(err));
	return 0;
}

static int run_once(const struct request *request)
{
	const struct tdm_picture *picture = look(request);
	struct tdm_buf out;
	if (picture == NULL)
		return tdm_cmd_error(request->cmd, "out of memory");
	int code = tdm_check_pick(request->cmd, &request->pick, picture);
	if (code != 0)
		return code;
	tdm_buf_init(&out);
	make_report(request, picture, &out);
	code = tdm_picture_is_silent(picture) ? TDM_EXIT_USAGE : TDM_EXIT_OK;
	if (request->filename == NULL)
		code = tdm_cmd_print(request->cmd, &out, code);
	else if (write_file(request, &out) != 0)
		code = TDM_EXIT_USAGE;
	tdm_buf_done(&out);
	return code;
}

/* Prints one of many pictures. On a terminal it replaces the last one; elsewhere an empty line separates them. */
static int watch_turn(void *context, bool is_first, struct tdm_buf *out)
{
	const struct request *request = context;
	const struct tdm_picture *picture = look(request);
	/* One that vanishes later may come back. */
	int code = is_first && picture != NULL ? tdm_check_pick(request->cmd, &request->pick, picture) : 0;
	if (code != 0)
		return code;
	if (!request->json && isatty(STDOUT_FILENO) == 1)
		tdm_buf_puts(out, "\033[H\033[2J");
	else if (!request->json && !is_first)
		tdm_buf_putc(out, '\n');
	if (picture == NULL)
		return tdm_cmd_error(request->cmd, "out of memory");
	make_report(request, picture, out);
	if (request->filename == NULL)
		return 0;
	code = write_file(request, out);
	tdm_buf_clear(out);
	return code;
}

/* Some options imply others. */
static void settle(struct request *request)
{
	request->pick.pids = request->pids.list;
	request->pick.pid_count = request->pids.count;
	request->json |= request->filename != NULL;
	if (request->filename != NULL && strcmp(request->filename, "-") == 0)
		request->filename = NULL;
	request->watch |= request->interval_ms != 0 || request->count != 0;
	if (request->interval_ms == 0)
		request->interval_ms = TDM_REFRESH_DEFAULT_MS;
}

/* 0, or the exit code after a message. */
static int open_pictures(struct request *request)
{
	const struct tdm_state_options options = { .once = !request->watch, .with_ended = request->all };
	const struct tdm_fleet_options fleet = { .with_ended = request->all };
	if (request->connect.hosts != NULL)
		return tdm_connect_open(request->cmd, &request->connect, fleet, &request->fleet);
	request->state = tdm_state_new(&options);
	if (request->state == NULL)
		return tdm_cmd_error(request->cmd, "out of memory");
	tdm_machine_read(&request->machine, NULL);
	return 0;
}

static int cmd_status_run(struct tdm_args *args)
{
	struct request request = { .cmd = args->cmd };
	int code = tdm_args_read(args, &request);
	if (code != 0)
		return code;
	settle(&request);
	code = open_pictures(&request);
	if (code != 0)
		return code;
	code = !request.watch ? run_once(&request)
			      : tdm_ticker_run(args->cmd, request.interval_ms * TDM_NS_PER_MS, request.count,
					watch_turn, &request);
	tdm_state_free(request.state);
	tdm_fleet_free(request.fleet);
	return code;
}

static const struct tdm_opt status_opts[] = {
	{ "json", 'j', NULL, "print JSON: a tt-smi snapshot, with memory in bytes added",
		TDM_TAKE_FLAG(struct request, json) },
	{ "snapshot", 's', NULL, "the same as --json", TDM_TAKE_FLAG(struct request, json) },
	{ "filename", 'f', "FILE", "write the JSON to FILE, replacing it in one step; '-' is standard output",
		TDM_TAKE_TEXT(struct request, filename) },
	{ TDM_OPT_DEVICE(struct request, pick.device) },
	{ TDM_OPT_PID(struct request, pids) },
	{ "long", 'l', NULL, "show a block for each device, also if there are more than four",
		TDM_TAKE_FLAG(struct request, is_long) },
	{ "short", 0, NULL, "show a line for each device, also if there are four or fewer",
		TDM_TAKE_FLAG(struct request, is_short) },
	{ "all", 'a', NULL, "also list ended processes that have left a ledger", TDM_TAKE_FLAG(struct request, all) },
	{ "watch", 'w', NULL, "print repeatedly until interrupted; with --json, one document per line",
		TDM_TAKE_FLAG(struct request, watch) },
	{ "refresh", 'r', "MS", "watch: print every MS milliseconds, at least 100 (default: 1000)",
		TDM_TAKE_U32(struct request, interval_ms, TDM_REFRESH_MIN_MS, TDM_REFRESH_MAX_MS) },
	{ "count", 'n', "N", "watch: end after printing N times", TDM_TAKE_U32(struct request, count, 1, 0) },
	{ TDM_OPT_CONNECT(struct request, connect) },
	{ TDM_OPT_TOKEN_FILE(struct request, connect) },
	{ TDM_OPT_TIMEOUT(struct request, connect) },
	{ TDM_OPT_ASCII(struct request, ascii) },
	{ TDM_OPT_NO_COLOR(struct request, no_colour) },
	{ 0 },
};

static const struct tdm_example status_examples[] = {
	{ "tidemark status", "every device with its memory by kind, and who holds it" },
	{ "tidemark status -d 0000:01:00.0", "one card, by its PCI address" },
	{ "tidemark status -s -f snapshot.json", "a snapshot for programs that read tt-smi snapshots" },
	{ "tidemark status --connect lab-1,lab-2", "the devices of two other machines" },
	{ "tidemark status --json --watch -r 5000 >> history.jsonl", "a line of JSON every five seconds" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_status = {
	.name = "status",
	.alias = "smi",
	.summary = "show devices, their memory and who holds it, once",
	.usage = "[-d DEV] [-p PID]... [--long | --short] [--all] [--watch] [-r MS] [-n N] "
		 "[--connect HOST[:PORT],...] [--ascii] [--no-color]\n"
		 "--json [-f FILE] [-d DEV] [-p PID]... [--all] [--watch] [-r MS] [-n N] [--connect HOST[:PORT],...]",
	.description =
		"Prints a block for each device (its identity and telemetry; used, free and the largest free block for "
		"each kind of memory; and what its L1 is used for), or a line if there are more than four, then the "
		"processes with what each one holds, then what belongs to no process: 'unattributed' is in use, but "
		"not by a listed process; 'stale' is still recorded for ended processes, but no longer on the device. "
		"Below them are findings about processes, which 'tidemark dump' explains. Columns do not depend on "
		"what is in use. If the output is not a terminal, command lines are whole.\n"
		"\n"
		"One source wins for each device and kind, and the table names it: the programs' ledgers, which count "
		"what the allocator reserved, or tt-metal's shared memory, which counts what the programs requested. "
		"Figures that only follow from the card's tables are marked with '~'. Unknown figures are shown as "
		"unknown, never as 0.\n"
		"\n"
		"--json has the keys and strings of a tt-smi snapshot, and adds objects called 'memory' with numbers.\n"
		"\n"
		"With --connect, the devices of other machines are joined into one picture, each with the name of its "
		"host. A machine that does not answer is listed among the problems, with the reason; its last figures "
		"stay, with their age. A device is named on every host that has it: '-d 0' is the first of each. The "
		"exit code is 2 "
		"if no machine has answered.",
	.opts = status_opts,
	.only_options = true,
	.examples = status_examples,
	.run = cmd_status_run,
};
