/* `tidemark dump`: the live buffers of every tracked process. */
#include "base/err.h"
#include "cli/buffer_options.h"
#include "cli/cmd_list.h"
#include "cli/ledgers.h"
#include "cli/chart_options.h"
#include "ledger/ledger_reap.h"
#include "report/live_report.h"
#include "report/map_chart.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum option {
	OPT_PID,
	OPT_DIR,
	OPT_JSON,
	OPT_SORT,
	OPT_LIMIT,
	OPT_KIND,
	OPT_DEVICE,
	OPT_STACKS,
	OPT_MAP,
	OPT_CHART,
	OPT_OUTPUT,
	OPT_TITLE,
	OPT_SIZE,
	OPT_SCALE,
	OPT_REAP,
	OPT_ASCII
};

struct request {
	const struct tdm_cmd *cmd;
	struct tdm_pids pids;
	bool json, reap, ascii;
	struct tdm_live_report report;
	struct tdm_map_picture picture;
};

static int take_chart(struct request *request, const char *value)
{
	if (strcmp(value, "bank") != 0 && strcmp(value, "cores") != 0)
		return tdm_cmd_usage_error(request->cmd, "--chart '%s': expected bank or cores", value);
	request->picture.chart = value[0] == 'b' ? TDM_MAP_CHART_BANK : TDM_MAP_CHART_CORES;
	return 0;
}

static int take_option(void *context, int option, const char *value)
{
	struct request *request = context;
	struct tdm_live_report *report = &request->report;
	switch ((enum option)option) {
	case OPT_PID:
		return tdm_take_one_pid(request->cmd, value, &request->pids);
	case OPT_DIR:
		report->dir = value;
		return 0;
	case OPT_JSON:
		request->json = true;
		return 0;
	case OPT_SORT:
		if (tdm_buffer_sort_parse(value, &report->sort) != 0)
			return tdm_cmd_usage_error(
				request->cmd, "--sort '%s': expected size, age, site or address", value);
		return 0;
	case OPT_LIMIT:
		if (tdm_str_parse_u64(tdm_str_of(value), &report->limit) != 0 || report->limit == 0)
			return tdm_cmd_usage_error(request->cmd, "--limit '%s': expected a number from 1 on", value);
		return 0;
	case OPT_KIND:
		return tdm_take_buffer_kind(request->cmd, value, &report->filter);
	case OPT_DEVICE:
		return tdm_take_buffer_device(request->cmd, value, &report->filter);
	case OPT_STACKS:
		report->stacks = true;
		return 0;
	case OPT_MAP:
		report->map = true;
		return 0;
	case OPT_CHART:
		return take_chart(request, value);
	case OPT_OUTPUT:
		request->picture.path = value;
		return tdm_chart_check_path(request->cmd, value);
	case OPT_TITLE:
		request->picture.title = value;
		return 0;
	case OPT_SIZE:
		return tdm_chart_take_size(request->cmd, value, &request->picture.size);
	case OPT_SCALE:
		return tdm_chart_take_scale(request->cmd, value, &request->picture.size);
	case OPT_REAP:
		request->reap = true;
		return 0;
	case OPT_ASCII:
		request->ascii = true;
		return 0;
	}
	return TDM_EXIT_USAGE;
}

static int read_options(struct tdm_args *args, struct request *request)
{
	int code = tdm_args_only_options(args, take_option, request);
	if (code != 0)
		return code;
	if (request->picture.chart == TDM_MAP_CHART_NONE && request->picture.path != NULL)
		return tdm_cmd_usage_error(args->cmd, "--output is for a chart: which? --chart bank or cores");
	if (request->picture.chart != TDM_MAP_CHART_NONE && request->picture.path == NULL && request->json)
		return tdm_cmd_usage_error(args->cmd, "--chart with --json needs --output FILE");
	return 0;
}

/* The chart into its file, or into `out`. An exit code. */
static int draw(const struct request *request, struct tdm_buf *out)
{
	struct tdm_diag diag = { 0 };
	if (tdm_map_chart_draw(&request->report, &request->picture, out, &diag) != 0)
		return tdm_cmd_error(request->cmd, "%s", diag.text);
	if (request->picture.path != NULL)
		tdm_chart_said(request->cmd, request->picture.path);
	return TDM_EXIT_OK;
}

static int print_report(const struct request *request)
{
	struct tdm_buf out;
	bool has_chart = request->picture.chart != TDM_MAP_CHART_NONE;
	tdm_buf_init(&out);
	out.outlet = tdm_cmd_write;
	int drawn = has_chart ? draw(request, &out) : TDM_EXIT_OK;
	if (request->json) {
		struct tdm_json json;
		tdm_json_init(&json, &out);
		tdm_json_envelope(&json, "tidemark.dump");
		tdm_json_key(&json, "dump");
		tdm_dump_json(&request->report, &json);
		tdm_json_object_end(&json);
		tdm_buf_putc(&out, '\n');
	} else if (!has_chart) {
		tdm_dump_text(&request->report, &out);
	}
	int code = tdm_cmd_print(request->cmd, &out, drawn);
	tdm_buf_done(&out);
	return code;
}

/* Removes what dead processes left, and what never became a ledger. One of another version stays: somebody can read it.
 */
static void reap(const struct request *request, const struct tdm_ledgers *ledgers)
{
	uint64_t removed = 0;
	for (size_t i = 0; i < ledgers->picture->process_count; i++) {
		const struct tdm_picture_process *process = &ledgers->picture->processes[i];
		int err = process->life == TDM_LIFE_ENDED ? tdm_ledger_reap(process->ledger) : -ENOENT;
		removed += err == 0;
		if (err != 0 && err != -ENOENT)
			tdm_cmd_error(request->cmd, "%s was not removed: %s", process->ledger, tdm_err_text(err));
	}
	for (size_t i = 0; i < ledgers->picture->problem_count; i++) {
		const struct tdm_picture_problem *problem = &ledgers->picture->problems[i];
		if (problem->is_unread && (problem->err == TDM_ECORRUPT || problem->err == -EAGAIN))
			removed += tdm_ledger_reap(problem->place) == 0;
	}
	fflush(stdout);
	fprintf(stderr, "tidemark dump: removed %" PRIu64 " ledger%s\n", removed, removed == 1 ? "" : "s");
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
		code = print_report(request);
	}
	if (code == 0 && request->reap) {
		reap(request, &ledgers);
		tdm_ledger_reap_dirs(request->report.dir);
	}
	tdm_ledgers_done(&ledgers);
	return code;
}

static int cmd_dump_run(struct tdm_args *args)
{
	struct request *request = calloc(1, sizeof *request);
	if (request == NULL)
		return tdm_cmd_error(args->cmd, "out of memory");
	request->cmd = args->cmd;
	int code = read_options(args, request);
	if (code == 0)
		code = run_request(request);
	free(request);
	return code;
}

static const struct tdm_opt dump_opts[] = {
	[OPT_PID] = { "pid", 'p', "PID", "only this process; may be given several times" },
	[OPT_DIR] = { "dir", 0, "DIR", "directory of the ledgers, instead of $TIDEMARK_DIR or /dev/shm" },
	[OPT_JSON] = { "json", 'j', NULL, "print JSON, with sizes in bytes and null for what is unknown" },
	[OPT_SORT] = { "sort", 's', "size|age|site|address",
		"order of the buffers: the largest first (the default), the oldest first, by name, or by address" },
	[OPT_LIMIT] = { "limit", 'n', "N", "print at most N buffers of each process; of each map the N largest holes" },
	[OPT_KIND] = { "kind", 'k', "KIND", "only this kind of memory, such as dram, l1 or cb" },
	[OPT_DEVICE] = { "device", 'd', "N", "only the device with this number" },
	[OPT_STACKS] = { "stacks", 0, NULL, "also print the call stack of each allocation, where one was kept" },
	[OPT_MAP] = { "map", 'm', NULL,
		"print where the buffers lie on each device instead of tables of them; with --json print both" },
	[OPT_CHART] = { "chart", 0, "bank|cores",
		"draw the buffers of one bank by address (of DRAM, or of --kind), or L1 core by core" },
	[OPT_OUTPUT] = { "output", 'o', "FILE", "file for the chart; its name ends in .png, .svg or .pdf" },
	[OPT_TITLE] = { "title", 't', "TEXT", "title of the chart" },
	[OPT_SIZE] = { "size", 0, "WIDTHxHEIGHT", "size of the chart in pixels, 1200x675 by default" },
	[OPT_SCALE] = { "scale", 0, "NUMBER", "scale of the chart: 2 for screens of twice the resolution" },
	[OPT_REAP] = { "reap", 0, NULL, "then remove the ledgers that ended processes of this user left behind" },
	[OPT_ASCII] = { "ascii", 0, NULL, "print ASCII only, with '?' for other characters" },
	{ NULL, 0, NULL, NULL },
};

static const struct tdm_example dump_examples[] = {
	{ "tidemark dump", "what every tracked process holds, the largest buffers first" },
	{ "tidemark dump --pid 4242 --kind dram --sort age --limit 20",
		"the twenty oldest DRAM buffers of one process" },
	{ "tidemark dump --stacks", "who allocated them, for programs that run with TIDEMARK_STACKS=8" },
	{ "tidemark dump --map --device 0", "what is free on a device, in which holes, and what bounds them" },
	{ "tidemark dump --chart bank --kind l1 -o l1.svg", "a picture of one bank of L1" },
	{ "tidemark dump --reap", "look at what crashed programs left behind, and clean up" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_dump = {
	.name = "dump",
	.summary = "list the live buffers of tracked programs, also of those that crashed",
	.usage = "[--pid PID]... [--dir DIR] [--kind KIND] [--device N] [--sort ORDER] [--limit N] [--stacks] [--map] "
		 "[--json] [--reap]\n"
		 "--chart bank|cores [-o FILE] [--kind KIND] [--pid PID] [--device N]",
	.description =
		"Reads the ledgers: the files in shared memory in which libtidemark keeps what a program holds on its "
		"devices. Prints for each process a line for every device and kind of memory, with what is reserved "
		"now and at most so far, and a table of its live buffers. The program is not disturbed, and need not "
		"run any more: what a killed program held is its post-mortem.\n"
		"\n"
		"Asked is the size that the program asked for; reserved is what that takes on the device, aligned in "
		"every bank. A ledger that cannot be read is named with the reason.\n"
		"\n"
		"With --map, the memory of each device is drawn as it lies in one bank, because all banks of a kind "
		"are allocated in lockstep: a row of cells for each region, its holes with the buffers below and above "
		"them, what is free, and how fragmented that is (1 - largest hole / free). L1 of a core follows, where "
		"circular buffers grow up towards the L1 buffers, and what each core of the grid has. Programs that "
		"run share a map; what an ended program left is a map of its own.",
	.opts = dump_opts,
	.examples = dump_examples,
	.run = cmd_dump_run,
};
