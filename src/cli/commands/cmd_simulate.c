/* `tidemark simulate`: replays the requests of a trace, a graph capture or a log on a device model. */
#include "analyze/live/live_buffers.h"
#include "base/err.h"
#include "cli/commands/cmd_list.h"
#include "cli/options/options.h"
#include "analyze/replay/replay.h"
#include "model/result/result.h"
#include "input/door/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum {
	WARNINGS_MAX = 20, /* maximum number of refused lines to print; the rest are only counted */
};

struct simulation {
	const char *path; /* path as given */
	struct tdm_intake reading;
	struct tdm_replay_feed feed;
	bool results, json, keep_going, ascii;
	struct tdm_replay_options options;
	/* position of the --policy word, counted from 1, in the order of enum tdm_fit; 0 for the trace's own policy */
	unsigned policy;
	struct tdm_buffer_filter filter;
	struct tdm_texts settings;
};

static int set_path(const struct tdm_cmd *cmd, struct simulation *sim, const char *path)
{
	if (sim->path != NULL)
		return tdm_cmd_usage_error(cmd, "only one trace at a time: '%s' or '%s'", sim->path, path);
	sim->path = path;
	return 0;
}

static int take_trace(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	(void)opt;
	return set_path(cmd, to, value);
}

static int read_options(struct tdm_args *args, struct simulation *sim)
{
	int code = tdm_args_read(args, sim);
	for (int i = 0; code == 0 && i < args->positional_count; i++)
		code = set_path(args->cmd, sim, args->positional[i]);
	if (code != 0)
		return code;
	if (sim->path == NULL)
		return tdm_cmd_usage_error(args->cmd, "which trace? --trace FILE, or - for standard input");
	if (sim->results && sim->json)
		return tdm_cmd_usage_error(args->cmd, "--results and --json cannot be combined");
	sim->options.settings = sim->settings.list;
	sim->options.has_fit = sim->policy != 0;
	sim->options.fit = sim->policy != 0 ? (enum tdm_fit)(sim->policy - 1) : TDM_FIT_FIRST;
	sim->feed.has_device = sim->filter.has_device;
	sim->feed.device = sim->filter.device;
	sim->feed.is_own_card = sim->options.card == NULL && sim->options.card_file == NULL && sim->settings.count == 0;
	sim->ascii = sim->ascii || !tdm_term_is_utf8();
	return 0;
}

/* Reports a refused line, or why reading stopped. */
static void say(void *hearer, const struct tdm_diag *diag)
{
	const struct simulation *sim = hearer;
	bool is_byte = strcmp(tdm_replay_place(sim->reading.format), "byte") == 0;
	if (is_byte && diag->line != 0 && diag->file == tdm_input_name(sim->reading.input))
		tdm_cmd_say("%s: byte %" PRIu64 ": %s", diag->file, diag->line, diag->text);
	else
		tdm_cmd_say_diag(NULL, diag);
}

/* Explains why nothing was replayed. */
static int explain_nothing(const struct tdm_cmd *cmd, const struct simulation *sim)
{
	const char *name = tdm_input_name(sim->reading.input);
	if (sim->feed.is_trace)
		return tdm_cmd_error(
			cmd, "%s describes no memory: it has no 'region' or 'device' line that could be used", name);
	if (sim->feed.left_out[TDM_LEFT_OUT_OTHER_DEVICES] != 0)
		return tdm_cmd_error(cmd,
			"%s has no requests on device %" PRIu32 ", but it has some on device %" PRIu32, name,
			sim->feed.device, sim->feed.other_device);
	return tdm_cmd_error(cmd, "%s has nothing to replay: no allocations in it, though it looks like a %s", name,
		sim->reading.format->summary);
}

static int simulate(const struct tdm_cmd *cmd, struct simulation *sim)
{
	struct tdm_intake *r = &sim->reading;
	struct tdm_buf lines = { .outlet = tdm_cmd_write }; /* used with --results */
	sim->feed.replay = tdm_replay_new(&sim->options);
	sim->feed.results = sim->results ? &lines : NULL;
	sim->feed.stop = &r->stop;
	r->what = "replaying";
	r->noun = "lines";
	r->most = WARNINGS_MAX;
	r->to = &sim->feed;
	r->event = tdm_replay_take;
	r->hearer = sim;
	r->say = say;
	r->only_whole = !sim->keep_going;
	tdm_intake_run(r);
	tdm_intake_end(r);
	int code = tdm_cmd_print(cmd, &lines, r->stop && r->refused != 0 ? TDM_EXIT_USAGE : 0);
	bool described = sim->feed.replay->space_count != 0;
	if (code == 0 && !sim->results && (described || sim->json)) {
		const struct tdm_term term = tdm_cmd_term(sim->ascii, false);
		struct tdm_result *result = tdm_result_new();
		tdm_replay_show(&result->top, &sim->feed, r);
		code = tdm_cmd_show(cmd, result, sim->json, &term, TDM_EXIT_OK);
		tdm_result_free(result);
	}
	if (code == 0 && sim->results && r->refused != 0)
		fprintf(stderr, "tidemark simulate: lines refused and skipped: %" PRIu64 "\n", r->refused);
	if (code == 0 && r->err != 0)
		code = TDM_EXIT_USAGE;
	else if (code == 0 && !described)
		code = explain_nothing(cmd, sim);
	tdm_buf_done(&lines);
	tdm_replay_free(sim->feed.replay);
	return code;
}

static int cmd_simulate_run(struct tdm_args *args)
{
	struct simulation sim = { .path = NULL };
	int code = read_options(args, &sim);
	if (code != 0)
		return code;
	int err = tdm_intake_open(&sim.reading, sim.path);
	if (err != 0)
		return tdm_cmd_error(args->cmd, "cannot read %s: %s", sim.path, tdm_err_text(err));
	if (sim.reading.format == NULL)
		sim.reading.format = tdm_format_find("text_trace"); /* the trace parser reports what is wrong */
	sim.feed.is_trace = strcmp(sim.reading.format->name, "text_trace") == 0;
	if (sim.reading.format->events == NULL)
		code = tdm_cmd_error(args->cmd, "%s is a %s, which has no requests to replay",
			tdm_input_name(sim.reading.input), sim.reading.format->summary);
	else
		code = simulate(args->cmd, &sim);
	tdm_input_close(sim.reading.input);
	return code;
}

static const struct tdm_opt simulate_opts[] = {
	{ "trace", 't', "FILE", "text trace, graph capture or log to replay; - is standard input", .take = take_trace },
	{ "results", 'r', NULL, "print one result line for each request instead of the summary",
		TDM_TAKE_FLAG(struct simulation, results) },
	{ TDM_OPT_JSON(struct simulation, json) },
	{ "keep-going", 'k', NULL, "count and skip unusable lines instead of stopping",
		TDM_TAKE_FLAG(struct simulation, keep_going) },
	{ "device", 'd', "N", "replay the requests of this device (default: the first one)",
		TDM_INTO(tdm_take_device_number, struct simulation, filter, struct tdm_buffer_filter) },
	{ "card", 'c', "CARD", "replay on this card instead of the one described in the file",
		TDM_TAKE_TEXT(struct simulation, options.card) },
	{ "set", 's', "FIELD=VALUE", "override one figure of the card; may be repeated",
		TDM_TAKE_TEXTS(struct simulation, settings) },
	{ "card-file", 'f', "FILE", "override figures of the card from a file, which may name the card",
		TDM_TAKE_TEXT(struct simulation, options.card_file) },
	{ "policy", 'p', "first|best", "use the policy 'first' or 'best' (fit) instead of the trace's policy",
		TDM_TAKE_CHOICE(struct simulation, policy) },
	{ TDM_OPT_ASCII(struct simulation, ascii) },
	{ 0 },
};

static const struct tdm_help_row simulate_examples[] = {
	{ "tidemark simulate --trace model.trace",
		"shows whether the trace fits, its peak, and the fragmentation of the free memory" },
	{ "tidemark simulate --trace model.trace --results",
		"the address of every buffer, as chosen by the real allocator" },
	{ "tidemark simulate --trace model.trace --card p150", "the same requests on another card" },
	{ "tidemark simulate capture.json --card n150", "would the captured run fit on this card?" },
	{ "tidemark simulate server.log --card n150 --device 1", "one device of an allocation server's log" },
	{ "tidemark simulate --trace model.trace --policy best", "would it fit with the other policy?" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_simulate = {
	.name = "simulate",
	.summary = "replay an allocation trace on a device model",
	.usage = "--trace FILE [--results | --json] [--keep-going] [--device N] [--card CARD] [--card-file FILE] "
		 "[--set FIELD=VALUE]... [--policy first|best]",
	.description = "Replays the allocations and frees in a text trace, a graph capture, an allocation server's "
		       "log, a runtime log or the inspector's log of mesh buffers. The replay uses an exact model of "
		       "the device's memory, so every buffer is placed at the address that the real allocator would "
		       "choose. The summary shows whether everything fits and, if not, which allocation fails first "
		       "and why. It also shows the peak and the fragmentation of each kind of memory over time, the "
		       "largest free block, and the buffers that bound the largest holes.\n\nThe first line of a "
		       "trace describes one memory region or a whole device; every other line is one request. A "
		       "graph capture may describe its devices. A log does not name its card, so you must use --card "
		       "or a card file that names one. A log contains only sizes, so its buffers are assumed to be "
		       "interleaved over all banks. Circular buffers are not requests to the allocator; they are "
		       "counted but not replayed, like releases of buffers that were never allocated in the "
		       "file.\n\n\"Does not fit\" is a valid result: the exit code is still 0. An unusable line ends "
		       "the replay with a message and exit code 2, unless --keep-going is given. If a file cannot be "
		       "read to its end, the readable part is replayed and marked as incomplete, and the exit code "
		       "is 2.",
	.opts = simulate_opts,
	.examples = simulate_examples,
	.run = cmd_simulate_run,
};
