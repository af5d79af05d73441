/* `tidemark status`: shows all devices and processes at one moment. */
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "cli/commands/cmd_list.h"
#include "cli/inputs/ledgers.h"
#include "cli/options/options.h"
#include "cli/commands/ticker.h"
#include "view/rows/status_result.h"
#include "view/write/write.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

struct request {
	const struct tdm_cmd *cmd;
	bool json, watch, all, ascii, no_colour, is_long, is_short;
	const char *filename; /* output file; NULL for standard output */
	struct tdm_pids pids;
	struct tdm_pick pick;
	unsigned interval_ms, count;
	struct tdm_machine machine;
	struct tdm_connect connect;
	struct tdm_ledgers seen;
	bool is_silent; /* no machine has answered yet */
};

static void make_report(const struct request *request, const struct tdm_picture *picture, struct tdm_buf *out)
{
	struct tdm_status_report report = { .picture = picture,
		.host = request->seen.state != NULL ? tdm_state_host(request->seen.state) : NULL,
		.machine = request->seen.state != NULL ? &request->machine : NULL,
		.pick = request->pick,
		.term = tdm_cmd_term(request->ascii, request->no_colour),
		.form = request->is_long    ? TDM_STATUS_LONG
			: request->is_short ? TDM_STATUS_SHORT
					    : TDM_STATUS_AUTO,
		.is_piped = isatty(STDOUT_FILENO) != 1 };
	struct tdm_result *result = tdm_result_new();
	report.term.folds = !report.is_piped;
	tdm_status_show(&result->top, &report);
	if (request->json) {
		struct tdm_json json;
		tdm_json_init(&json, out);
		json.compact = request->watch;
		tdm_json_envelope(&json, "tidemark.status");
		tdm_write_members(&result->top, &json);
		tdm_json_object_end(&json);
	} else {
		tdm_write_text(&result->top, &report.term, out);
	}
	tdm_result_free(result);
}

/* Writes the report of one picture. On a terminal, each report replaces the previous one; elsewhere, an empty line
 * separates them. */
static int make_turn(void *context, bool is_first, struct tdm_buf *out)
{
	struct request *request = context;
	const struct tdm_picture *picture = request->seen.provider.look(request->seen.provider.state, NULL);
	/* Only the first picture is checked: a process or device that vanishes later may come back. */
	int code = is_first ? tdm_check_pick(request->cmd, &request->pick, picture) : 0;
	if (code != 0)
		return code;
	if (request->watch && !request->json && isatty(STDOUT_FILENO) == 1)
		tdm_buf_puts(out, "\033[H\033[2J");
	else if (!request->json && !is_first)
		tdm_buf_putc(out, '\n');
	make_report(request, picture, out);
	request->is_silent = tdm_picture_is_silent(picture);
	if (request->filename == NULL)
		return 0;
	int err = tdm_file_replace(request->filename, out->data, out->len);
	tdm_buf_clear(out);
	return err == 0 ? 0
			: tdm_cmd_error(request->cmd, "cannot write '%s': %s", request->filename, tdm_err_text(err));
}

static int cmd_status_run(struct tdm_args *args)
{
	struct request request = { .cmd = args->cmd };
	int code = tdm_args_read(args, &request);
	if (code != 0)
		return code;
	/* Some options imply others. */
	request.pick.pids = request.pids.list;
	request.pick.pid_count = request.pids.count;
	request.json |= request.filename != NULL;
	if (request.filename != NULL && strcmp(request.filename, "-") == 0)
		request.filename = NULL;
	request.watch |= request.interval_ms != 0 || request.count != 0;
	if (request.interval_ms == 0)
		request.interval_ms = TDM_REFRESH_DEFAULT_MS;
	code = tdm_pictures_open(args->cmd, &request.connect,
		(struct tdm_state_options){ .once = !request.watch, .with_ended = request.all }, &request.seen);
	if (code != 0)
		return code;
	tdm_machine_read(&request.machine, NULL);
	code = tdm_ticker_run(
		args->cmd, request.interval_ms * TDM_NS_PER_MS, request.watch ? request.count : 1, make_turn, &request);
	tdm_ledgers_done(&request.seen);
	return code == 0 && !request.watch && request.is_silent ? TDM_EXIT_USAGE : code;
}

static const struct tdm_opt status_opts[] = {
	{ "json", 'j', NULL, "print JSON: a tt-smi snapshot, with memory in bytes added",
		TDM_TAKE_FLAG(struct request, json) },
	{ "snapshot", 's', NULL, "the same as --json", TDM_TAKE_FLAG(struct request, json) },
	{ "filename", 'f', "FILE", "write the JSON to FILE, replacing it atomically; '-' is standard output",
		TDM_TAKE_TEXT(struct request, filename) },
	{ TDM_OPT_DEVICE(struct request, pick.device) },
	{ TDM_OPT_PID(struct request, pids) },
	{ "long", 'l', NULL, "show a block for each device, even if there are more than four",
		TDM_TAKE_FLAG(struct request, is_long) },
	{ "short", 0, NULL, "show a line for each device, even if there are four or fewer",
		TDM_TAKE_FLAG(struct request, is_short) },
	{ "all", 'a', NULL, "also list ended processes whose ledger remains", TDM_TAKE_FLAG(struct request, all) },
	{ "watch", 'w', NULL, "print repeatedly until interrupted; with --json, one document per line",
		TDM_TAKE_FLAG(struct request, watch) },
	{ "refresh", 'r', "MS", "with --watch, print every MS milliseconds, at least 100 (default: 1000)",
		TDM_TAKE_U32(struct request, interval_ms, TDM_REFRESH_MIN_MS, TDM_REFRESH_MAX_MS) },
	{ "count", 'n', "N", "with --watch, end after printing N times", TDM_TAKE_U32(struct request, count, 1, 0) },
	{ TDM_OPT_CONNECT(struct request, connect) },
	{ TDM_OPT_TOKEN_FILE(struct request, connect) },
	{ TDM_OPT_TIMEOUT(struct request, connect) },
	{ TDM_OPT_ASCII(struct request, ascii) },
	{ TDM_OPT_NO_COLOR(struct request, no_colour) },
	{ 0 },
};

static const struct tdm_help_row status_examples[] = {
	{ "tidemark status", "every device with its memory by kind, and the processes that hold it" },
	{ "tidemark status -d 0000:01:00.0", "one card, by its PCI address" },
	{ "tidemark status -s -f snapshot.json", "a snapshot for programs that read tt-smi snapshots" },
	{ "tidemark status --connect lab-1,lab-2", "the devices of two other machines" },
	{ "tidemark status --json --watch -r 5000 >> history.jsonl", "a line of JSON every five seconds" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_status = {
	.name = "status",
	.alias = "smi",
	.summary = "show devices, their memory and the processes that hold it, once",
	.usage = "[-d DEV] [-p PID]... [--long | --short] [--all] [--watch] [-r MS] [-n N] "
		 "[--connect HOST[:PORT],...] [--ascii] [--no-color]\n"
		 "--json [-f FILE] [-d DEV] [-p PID]... [--all] [--watch] [-r MS] [-n N] [--connect HOST[:PORT],...]",
	.description = "Prints a block for each device: its identity and telemetry; the used bytes, the free bytes "
		       "and the largest free block for each kind of memory; and the use of its L1. If there are more "
		       "than four devices, each device has one line instead. The processes with their memory follow, "
		       "and then memory that belongs to no process: 'unattributed' memory is in use, but not by a "
		       "listed process; 'stale' memory is still recorded for ended processes, but is no longer on "
		       "the device. Last are findings about processes, which 'tidemark dump' explains. The columns "
		       "do not depend on the memory in use. If the output is not a terminal, command lines are not "
		       "shortened.\n\nFor each device and kind of memory, one source is used, and the table names "
		       "it: the programs' ledgers, which count the bytes reserved by the allocator, or tt-metal's "
		       "shared memory, which counts the bytes requested by the programs. Figures derived only from "
		       "the card's tables are marked with '~'. Unknown figures are shown as unknown, never as "
		       "0.\n\nWith --json, the output contains the keys and strings of a tt-smi snapshot, plus "
		       "objects called 'memory' with numbers.\n\nWith --connect, the devices of other machines are "
		       "shown together, each with its host name. A machine that does not answer is listed among the "
		       "problems, with the reason; its last figures remain, marked with their age. Option -d applies "
		       "to every host: '-d 0' selects device 0 on each of them. The exit code is 2 if no machine has "
		       "answered.",
	.opts = status_opts,
	.only_options = true,
	.examples = status_examples,
	.run = cmd_status_run,
};
