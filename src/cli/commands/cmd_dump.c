/* `tidemark dump`: the live buffers of every tracked process. */
#include "base/err.h"
#include "cli/commands/cmd_list.h"
#include "cli/inputs/ledgers.h"
#include "cli/options/options.h"
#include "ledger/archive/archive.h"
#include "view/rows/live_result.h"
#include "view/chart/result_charts.h"
#include "live/runtime/server_wire.h"
#include "model/result/result.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct request {
	const struct tdm_cmd *cmd;
	struct tdm_pids pids;
	bool json, reap, ascii;
	bool asks_server;
	const char *socket; /* NULL for the default socket */
	/* position of the --sort word, counted from 1, in the order of enum tdm_buffer_sort; 0 if not given */
	unsigned sort;
	struct tdm_live_report report;
	struct tdm_plot_picture picture;
};

/* Prints the daemon's own dump of live buffers. */
static int ask_server(const struct request *request)
{
	struct tdm_buf out;
	const char *path = request->socket != NULL ? request->socket : TDM_WIRE_SOCKET;
	tdm_buf_init(&out);
	int err = tdm_server_ask(path, "summary", &out);
	int code;
	if (err == -ENOENT || err == -ECONNREFUSED)
		code = tdm_cmd_error(request->cmd, "no server listens on %s; 'tidemarkd' is one", path);
	else if (err == -EPROTO || err == -ETIMEDOUT)
		code = tdm_cmd_error(request->cmd, "the server on %s does not answer: it is not tidemarkd", path);
	else if (err != 0)
		code = tdm_cmd_error(request->cmd, "cannot ask the server on %s: %s", path, tdm_err_text(err));
	else
		code = tdm_cmd_print(request->cmd, &out, TDM_EXIT_OK);
	tdm_buf_done(&out);
	return code;
}

/* Removes ledgers of dead processes, and files that never became ledgers. Ledgers of other versions are kept, because
 * those versions can read them. */
static void reap(const struct request *request, const struct tdm_ledgers *ledgers)
{
	uint64_t removed = 0;
	for (size_t i = 0; i < ledgers->picture->process_count; i++) {
		const struct tdm_picture_process *process = &ledgers->picture->processes[i];
		int err = process->life == TDM_LIFE_ENDED ? tdm_ledger_reap(process->ledger) : -ENOENT;
		removed += err == 0;
		if (err == -EBUSY && process->is_on_behalf)
			continue; /* the process's daemon will archive the ledger */
		if (err != 0 && err != -ENOENT)
			tdm_cmd_error(request->cmd, "%s was not removed: %s", process->ledger, tdm_err_text(err));
	}
	for (size_t i = 0; i < ledgers->picture->problem_count; i++) {
		const struct tdm_picture_problem *problem = &ledgers->picture->problems[i];
		if (problem->is_unread && (problem->err == TDM_ECORRUPT || problem->err == -EAGAIN))
			removed += tdm_ledger_reap(problem->path) == 0;
	}
	fflush(stdout);
	fprintf(stderr, "tidemark dump: removed %" PRIu64 " ledger%s\n", removed, removed == 1 ? "" : "s");
}

/* Prints the buffers, or draws a chart instead, into a file or on the terminal. */
static int print_report(const struct request *request)
{
	struct tdm_answer answer;
	struct tdm_plot_picture picture = request->picture;
	bool has_chart = picture.chart != TDM_MAP_CHART_NONE;
	struct tdm_result *result = tdm_result_new();
	int code = TDM_EXIT_OK;
	tdm_answer_begin(&answer, request->cmd, request->json);
	answer.out.outlet = tdm_cmd_write;
	if (has_chart) {
		struct tdm_diag diag = { 0 };
		picture.term = &request->report.term;
		if (tdm_map_chart_draw(&request->report, &picture, &answer.out, &diag) != 0)
			code = tdm_cmd_error(request->cmd, "%s", diag.text);
		else if (picture.path != NULL)
			tdm_chart_said(request->cmd, picture.path);
	}
	if (request->json || !has_chart) {
		tdm_dump_show(&result->top, &request->report);
		tdm_answer_put(&answer, result, request->json, &request->report.term);
	}
	tdm_result_free(result);
	return tdm_answer_end(&answer, code);
}

static int run_request(struct request *request)
{
	struct tdm_ledgers ledgers;
	const struct tdm_state_options options = {
		.ledger_dir = request->report.dir,
		.pids = request->pids.count != 0 ? request->pids.list : NULL,
		.pid_count = request->pids.count,
	};
	int code = tdm_ledgers_open(request->cmd, options, &ledgers);
	if (code == 0)
		code = tdm_ledgers_look(request->cmd, &ledgers, 0);
	if (code == 0) {
		tdm_ledgers_report(&ledgers, request->ascii, &request->report);
		request->report.is_quick = request->json && !request->report.stacks;
		code = print_report(request);
	}
	int checked =
		code == 0 ? tdm_ledgers_check(request->cmd, &ledgers, &request->pids, &request->report.filter) : 0;
	if (code == 0 && request->reap) {
		reap(request, &ledgers);
		tdm_ledger_reap_dirs(request->report.dir);
	}
	tdm_ledgers_done(&ledgers);
	return code != 0 ? code : checked;
}

static int cmd_dump_run(struct tdm_args *args)
{
	struct request request = { .cmd = args->cmd };
	const struct tdm_plot_picture *picture = &request.picture;
	bool has_chart;
	int code = tdm_args_read(args, &request);
	if (code != 0)
		return code;
	has_chart = picture->chart != TDM_MAP_CHART_NONE;
	if (request.socket != NULL && !request.asks_server)
		return tdm_cmd_usage_error(args->cmd, "--socket is for --server");
	if (request.asks_server && request.json)
		return tdm_cmd_usage_error(
			args->cmd, "--server prints the daemon's own text; --json is for the ledgers");
	if (!has_chart && picture->path != NULL)
		return tdm_cmd_usage_error(args->cmd, "--output is for a chart: which? --chart bank or cores");
	if (has_chart && picture->path == NULL && request.json)
		return tdm_cmd_usage_error(args->cmd, "--chart with --json needs --output FILE");
	request.report.sort = request.sort != 0 ? (enum tdm_buffer_sort)(request.sort - 1) : TDM_SORT_SIZE;
	return request.asks_server ? ask_server(&request) : run_request(&request);
}

static const struct tdm_opt dump_opts[] = {
	{ TDM_OPT_PIDS(struct request, pids) },
	{ TDM_OPT_DIR(struct request, report.dir) },
	{ TDM_OPT_JSON(struct request, json) },
	{ "sort", 's', "size|age|site|address",
		"order of the buffers: largest first (the default), oldest first, by name, or by address",
		TDM_TAKE_CHOICE(struct request, sort) },
	{ "limit", 'n', "N", "print at most N buffers of each process, and the N largest holes of each map",
		TDM_TAKE_NUMBER(struct request, report.limit, 1, 0) },
	{ TDM_OPT_KIND(struct request, report.filter) },
	{ TDM_OPT_DEVICE_NUMBER(struct request, report.filter) },
	{ "stacks", 0, NULL, "also print the call stack of each allocation, if it was recorded",
		TDM_TAKE_FLAG(struct request, report.stacks) },
	{ "map", 'm', NULL, "print a map of the buffers on each device instead of tables; with --json print both",
		TDM_TAKE_FLAG(struct request, report.map) },
	{ "chart", 0, "bank|cores",
		"draw the buffers of one bank by address (DRAM, or the kind given by --kind), or L1 core by core",
		TDM_TAKE_CHOICE(struct request, picture.chart) },
	{ TDM_OPT_CHART_PATH(struct request, picture.path) },
	{ TDM_OPT_CHART_TITLE(struct request, picture.title) },
	{ TDM_OPT_CHART_SIZE(struct request, picture.size) },
	{ TDM_OPT_CHART_SCALE(struct request, picture.size) },
	{ "reap", 0, NULL, "afterwards, remove the ledgers left by this user's ended processes",
		TDM_TAKE_FLAG(struct request, reap) },
	{ "server", 0, NULL,
		"print the memory of processes that report to tidemarkd's socket, as SIGUSR1 does in the "
		"daemon",
		TDM_TAKE_FLAG(struct request, asks_server) },
	{ "socket", 0, "FILE", "socket of the daemon, for --server (default: " TDM_WIRE_SOCKET ")",
		TDM_TAKE_TEXT(struct request, socket) },
	{ TDM_OPT_ASCII(struct request, ascii) },
	{ 0 },
};

static const struct tdm_help_row dump_examples[] = {
	{ "tidemark dump", "the memory of every tracked process, largest buffers first" },
	{ "tidemark dump --pid 4242 --kind dram --sort age --limit 20",
		"the twenty oldest DRAM buffers of one process" },
	{ "tidemark dump --stacks",
		"also the call stack of each allocation, if the program runs with TIDEMARK_STACKS=8" },
	{ "tidemark dump --map --device 0", "free memory on a device, its holes, and the buffers that bound them" },
	{ "tidemark dump --chart bank --kind l1 -o l1.svg", "a picture of one bank of L1" },
	{ "tidemark dump --server", "a summary of the memory held by the daemon's clients" },
	{ "tidemark dump --reap", "examine the memory of crashed programs, then clean up" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_dump = {
	.name = "dump",
	.summary = "list the live buffers of tracked programs, including crashed ones",
	.usage = "[--pid PID]... [--dir DIR] [--kind KIND] [--device N] [--sort ORDER] [--limit N] [--stacks] [--map] "
		 "[--json] [--reap]\n"
		 "--chart bank|cores [-o FILE] [--kind KIND] [--pid PID] [--device N]\n"
		 "--server [--socket FILE]",
	.description = "Reads the ledgers: the files in shared memory in which libtidemark records the device memory "
		       "held by a program. For each process, the command prints a line for every device and kind of "
		       "memory, with the bytes reserved now and at the peak, and a table of the live buffers. "
		       "Reading does not disturb the program. If a program has ended or was killed, its ledger shows "
		       "the memory that it last held. Below the tables are findings, such as buffers that a replayed "
		       "trace may have overwritten, with advice.\n\n'Asked' is the size that the program requested; "
		       "'reserved' is the size occupied on the device, aligned in every bank. If a ledger cannot be "
		       "read, the reason is reported.\n\nWith --map, the memory of each device is drawn for one "
		       "bank, because all banks of a kind are allocated in lockstep. For each region, the map shows "
		       "a row of cells, the holes with the buffers below and above them, the free bytes, and the "
		       "fragmentation (1 - largest hole / free). Below the map are the L1 of a core, where circular "
		       "buffers grow up towards the L1 buffers, and the use of each core in the grid. Running "
		       "programs share a map; each ended program has its own map.",
	.opts = dump_opts,
	.only_options = true,
	.examples = dump_examples,
	.run = cmd_dump_run,
};
