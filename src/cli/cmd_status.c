/* `tidemark status`: all devices and processes at one moment. */
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "cli/cmd_list.h"
#include "cli/live_options.h"
#include "cli/ticker.h"
#include "state/state.h"
#include "report/status_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum option {
	OPT_JSON,
	OPT_SNAPSHOT,
	OPT_FILENAME,
	OPT_DEVICE,
	OPT_PID,
	OPT_ALL,
	OPT_WATCH,
	OPT_REFRESH,
	OPT_COUNT,
	OPT_ASCII,
	OPT_NO_COLOR,
};

struct request {
	const struct tdm_cmd *cmd;
	bool json, watch, all, ascii, no_colour;
	const char *filename; /* NULL: standard output */
	struct tdm_pick pick;
	unsigned interval_ms, count;
	struct tdm_machine machine;
};

static int take_option(void *context, int option, const char *value)
{
	struct request *request = context;
	switch ((enum option)option) {
	case OPT_JSON:
	case OPT_SNAPSHOT:
		request->json = true;
		return 0;
	case OPT_FILENAME:
		request->json = true;
		request->filename = strcmp(value, "-") != 0 ? value : NULL;
		return 0;
	case OPT_DEVICE:
		return tdm_take_device(request->cmd, value, &request->pick.device);
	case OPT_PID:
		return tdm_take_pid(request->cmd, value, &request->pick.pid);
	case OPT_ALL:
		request->all = true;
		return 0;
	case OPT_WATCH:
		request->watch = true;
		return 0;
	case OPT_REFRESH:
		request->watch = true;
		return tdm_take_refresh(request->cmd, value, &request->interval_ms);
	case OPT_COUNT:
		request->watch = true;
		return tdm_take_turns(request->cmd, "count", value, &request->count);
	case OPT_ASCII:
		request->ascii = true;
		return 0;
	case OPT_NO_COLOR:
		request->no_colour = true;
		return 0;
	}
	return TDM_EXIT_USAGE;
}

static void make_report(
	const struct request *request, struct tdm_state *state, const struct tdm_picture *picture, struct tdm_buf *out)
{
	struct tdm_status_report report = { .picture = picture,
		.host = tdm_state_host(state),
		.machine = &request->machine,
		.pick = request->pick,
		.term = tdm_term_detect(STDOUT_FILENO) };
	report.term.utf8 &= !request->ascii;
	report.term.colour &= !request->no_colour;
	if (request->json) {
		struct tdm_json json;
		tdm_json_init(&json, out);
		json.compact = request->watch;
		tdm_status_json(&report, &json);
	} else {
		tdm_status_text(&report, out);
	}
}

/* A device that was named and is not there is a mistake: devices do not come and go. */
static int check_device(const struct request *request, const struct tdm_picture *picture)
{
	for (size_t i = 0; request->pick.device != NULL && i < picture->device_count; i++)
		if (tdm_pick_is(&picture->devices[i], i, request->pick.device))
			return 0;
	if (request->pick.device == NULL)
		return 0;
	if (picture->device_count == 0)
		return tdm_cmd_error(request->cmd,
			"no device '%s': no card and no tracked process is visible; see 'tidemark doctor'",
			request->pick.device);
	return tdm_cmd_error(request->cmd,
		"no device '%s' among the %zu that are visible; 'tidemark status' lists them", request->pick.device,
		picture->device_count);
}

static int write_file(const struct request *request, const struct tdm_buf *out)
{
	int err = tdm_buf_failed(out) ? -ENOMEM : tdm_file_replace(request->filename, out->data, out->len);
	if (err != 0)
		return tdm_cmd_error(request->cmd, "cannot write '%s': %s", request->filename, tdm_err_text(err));
	return 0;
}

static int run_once(const struct request *request, struct tdm_state *state)
{
	const struct tdm_picture *picture = tdm_state_look(state, NULL);
	struct tdm_buf out;
	if (picture == NULL)
		return tdm_cmd_error(request->cmd, "out of memory");
	int code = check_device(request, picture);
	if (code != 0)
		return code;
	tdm_buf_init(&out);
	make_report(request, state, picture, &out);
	code = request->filename != NULL ? write_file(request, &out) : tdm_cmd_print(request->cmd, &out, TDM_EXIT_OK);
	tdm_buf_done(&out);
	return code;
}

/* One picture of many. Tables on a terminal are drawn over each other, elsewhere an empty line parts them. */
static int watch_turn(const struct request *request, struct tdm_state *state, struct tdm_buf *out, bool is_first)
{
	const struct tdm_picture *picture = tdm_state_look(state, NULL);
	tdm_buf_clear(out);
	if (!request->json && isatty(STDOUT_FILENO) == 1)
		tdm_buf_puts(out, "\033[H\033[2J");
	else if (!request->json && !is_first)
		tdm_buf_putc(out, '\n');
	if (picture != NULL)
		make_report(request, state, picture, out);
	if (picture == NULL || tdm_buf_failed(out))
		return tdm_cmd_error(request->cmd, "out of memory");
	return request->filename != NULL ? write_file(request, out) : 0;
}

static int run_watch(const struct request *request, struct tdm_state *state)
{
	struct tdm_ticker ticker;
	struct tdm_buf out;
	bool is_first = true;
	int code, err = tdm_ticker_open(&ticker, request->interval_ms * TDM_NS_PER_MS, request->count);
	if (err != 0)
		return tdm_cmd_error(request->cmd, "%s", tdm_err_text(err));
	tdm_buf_init(&out);
	do {
		code = watch_turn(request, state, &out, is_first);
		is_first = false;
	} while (code == 0 && (request->filename != NULL || tdm_ticker_write(&ticker, out.data, out.len)) &&
		 tdm_ticker_wait(&ticker));
	tdm_buf_done(&out);
	tdm_ticker_close(&ticker);
	if (ticker.err != 0)
		return tdm_cmd_error(request->cmd, "cannot write to standard output: %s", tdm_err_text(ticker.err));
	return code;
}

static int cmd_status_run(struct tdm_args *args)
{
	struct request request = { .cmd = args->cmd, .interval_ms = TDM_REFRESH_DEFAULT_MS };
	int code = tdm_args_only_options(args, take_option, &request);
	if (code != 0)
		return code;
	const struct tdm_state_options options = { .once = !request.watch, .with_ended = request.all };
	struct tdm_state *state = tdm_state_new(&options);
	if (state == NULL)
		return tdm_cmd_error(args->cmd, "out of memory");
	tdm_machine_read(&request.machine, NULL);
	code = request.watch ? run_watch(&request, state) : run_once(&request, state);
	tdm_state_free(state);
	return code;
}

static const struct tdm_opt status_opts[] = {
	[OPT_JSON] = { "json", 'j', NULL, "print JSON: a tt-smi snapshot with memory in bytes added" },
	[OPT_SNAPSHOT] = { "snapshot", 's', NULL, "the same as --json" },
	[OPT_FILENAME] = { "filename", 'f', "FILE",
		"write the JSON to FILE instead, all at once; '-' is standard output" },
	[OPT_DEVICE] = { "device", 'd', "DEV",
		"only this device: its number, /dev/tenstorrent/N, PCI address, chip id, or #N of the list" },
	[OPT_PID] = { "pid", 'p', "PID", "only this process and the devices that it uses" },
	[OPT_ALL] = { "all", 'a', NULL, "also list processes that have ended and left a ledger" },
	[OPT_WATCH] = { "watch", 'w', NULL, "print again and again until interrupted; with --json a document a line" },
	[OPT_REFRESH] = { "refresh", 'r', "MS", "watch, every MS milliseconds, at least 100 (default: 1000)" },
	[OPT_COUNT] = { "count", 'n', "N", "watch, and end after N times" },
	[OPT_ASCII] = { "ascii", 0, NULL, "draw with plain characters" },
	[OPT_NO_COLOR] = { "no-color", 'C', NULL, "no colour, as with NO_COLOR in the environment" },
	{ NULL, 0, NULL, NULL },
};

static const struct tdm_example status_examples[] = {
	{ "tidemark status", "every device with its memory by kind, and who holds it" },
	{ "tidemark status -d 0000:01:00.0", "one card, by its PCI address" },
	{ "tidemark status -s -f snapshot.json", "a snapshot for programs that read those of tt-smi" },
	{ "tidemark status --json --watch -r 5000 >> history.jsonl", "a line of JSON every five seconds" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_status = {
	.name = "status",
	.alias = "smi",
	.summary = "devices, their memory and who holds it, at one moment",
	.usage = "[-d DEV] [-p PID] [--all] [--watch] [-r MS] [-n N] [--ascii] [--no-color]\n"
		 "--json [-f FILE] [-d DEV] [-p PID] [--all] [--watch] [-r MS] [-n N]",
	.description =
		"Prints a block for each device (who it is, its telemetry, what is used, free and the largest free "
		"block by kind of memory, and where its L1 is), then the processes with what each holds, then what "
		"belongs to no process: 'unattributed' is in use by somebody who is not listed, 'stale' was left "
		"written down by processes that have ended and is on no device any more.\n"
		"\n"
		"For each device and kind one source wins, and the table names it: the ledgers of the programs, which "
		"count what the allocator reserved, or tt-metal's shared memory, which counts what was asked for. What "
		"follows from the card's tables only is marked with '~'; what nobody knows is unknown, never 0.\n"
		"\n"
		"--json has the keys and strings of a tt-smi snapshot, and objects called 'memory' with numbers.",
	.opts = status_opts,
	.examples = status_examples,
	.run = cmd_status_run,
};
