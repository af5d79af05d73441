/* `tidemark simulate`: replays the requests of a trace, a graph capture or a log on a device model. */
#include "analyze/live_buffers.h"
#include "base/err.h"
#include "cli/cmd_list.h"
#include "cli/options.h"
#include "report/replay_report.h"
#include "sources/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum {
	WARNINGS_MAX = 20, /* refused lines to print; the rest are counted */
};

struct simulation {
	const char *path; /* as given */
	struct tdm_input *input;
	const struct tdm_format *format;
	const char *place; /* the unit of its positions, "line" or "byte" */
	struct tdm_replay_feed feed;
	bool results, json, keep_going, ascii;
	struct tdm_replay_options options;
	unsigned policy; /* a word of --policy, counted from 1, in the order of enum tdm_fit; 0: the trace's own */
	struct tdm_buffer_filter filter;
	struct tdm_texts settings;
	uint64_t skipped;
	bool is_cut; /* the file could not be read to its end */
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

/* Reports a refused line, or why reading ended. 0 to go on, or the exit code. */
static int refuse(struct simulation *sim, const struct tdm_diag *diag)
{
	char text[TDM_DIAG_TEXT_CAP * 2];
	bool is_byte = strcmp(sim->place, "byte") == 0 && diag->line != 0 && diag->file == tdm_input_name(sim->input);
	if (is_byte && sim->skipped < WARNINGS_MAX)
		tdm_cmd_say("%s: byte %" PRIu64 ": %s", diag->file, diag->line, diag->text);
	else if (sim->is_cut || sim->skipped < WARNINGS_MAX)
		tdm_cmd_say("%s", tdm_diag_format(diag, text, sizeof text));
	else if (sim->skipped == WARNINGS_MAX)
		fputs("further refused lines are counted only\n", stderr);
	sim->skipped += !sim->is_cut;
	return sim->keep_going || sim->is_cut ? 0 : TDM_EXIT_USAGE;
}

static int replay_all(const struct tdm_cmd *cmd, struct simulation *sim, struct tdm_source *source)
{
	struct tdm_buf results;
	struct tdm_event event;
	struct tdm_diag diag = { .file = tdm_input_name(sim->input) };
	struct tdm_progress progress;
	int got, exit_code = 0;
	tdm_buf_init(&results);
	results.outlet = tdm_cmd_write;
	tdm_progress_begin(&progress, "replaying", 0);
	tdm_input_progress(sim->input, &progress);
	while (exit_code == 0 && !sim->is_cut && (got = tdm_source_next(source, &event, &diag)) != 0) {
		int err = got < 0 ? got : tdm_replay_feed(&sim->feed, &event, sim->results ? &results : NULL, &diag);
		if (err < 0) {
			sim->is_cut = source->is_cut;
			exit_code = refuse(sim, &diag);
			diag.file = tdm_input_name(sim->input);
		}
		if (err < 0 && got > 0 && sim->feed.replay->space_count == 0)
			exit_code = TDM_EXIT_USAGE; /* without a device there is nothing to replay on */
		tdm_buf_pass(&results);
	}
	tdm_progress_end(&progress);
	exit_code = tdm_cmd_print(cmd, &results, exit_code);
	tdm_buf_done(&results);
	return exit_code;
}

static int print_summary(const struct tdm_cmd *cmd, const struct simulation *sim)
{
	struct tdm_replay_report report = { .trace = tdm_input_name(sim->input),
		.skipped = sim->skipped,
		.is_cut = sim->is_cut,
		.ascii = sim->ascii,
		.format = sim->feed.is_trace ? NULL : sim->format->summary,
		.place = sim->place,
		.feed = sim->feed.is_trace ? NULL : &sim->feed };
	struct tdm_answer answer;
	tdm_answer_begin(&answer, cmd, sim->json);
	if (sim->json)
		tdm_replay_json(sim->feed.replay, &report, &answer.json);
	else
		tdm_replay_text(sim->feed.replay, &report, &answer.out);
	return tdm_answer_end(&answer, TDM_EXIT_OK);
}

/* Explains why nothing was replayed. */
static int explain_nothing(const struct tdm_cmd *cmd, const struct simulation *sim)
{
	const char *name = tdm_input_name(sim->input);
	if (sim->feed.is_trace)
		return tdm_cmd_error(
			cmd, "%s describes no memory: it has no 'region' or 'device' line that could be used", name);
	if (sim->feed.left_out[TDM_LEFT_OUT_OTHER_DEVICES] != 0)
		return tdm_cmd_error(cmd,
			"%s has no requests on device %" PRIu32 ", but it has some on device %" PRIu32, name,
			sim->feed.device, sim->feed.other_device);
	return tdm_cmd_error(cmd, "%s has nothing to replay: no allocations in it, though it looks like a %s", name,
		sim->format->summary);
}

static int simulate(const struct tdm_cmd *cmd, struct simulation *sim)
{
	struct tdm_source *source = sim->format->events(sim->input);
	struct tdm_replay *replay = tdm_replay_new(&sim->options);
	int exit_code;
	sim->feed.replay = replay;
	if (source == NULL || replay == NULL)
		exit_code = tdm_cmd_error(cmd, "out of memory");
	else
		exit_code = replay_all(cmd, sim, source);
	bool described = replay != NULL && replay->space_count != 0;
	if (exit_code == 0 && !sim->results && (described || sim->json))
		exit_code = print_summary(cmd, sim);
	if (exit_code == 0 && sim->results && sim->skipped != 0)
		fprintf(stderr, "tidemark simulate: lines refused and skipped: %" PRIu64 "\n", sim->skipped);
	if (exit_code == 0 && sim->is_cut)
		exit_code = TDM_EXIT_USAGE;
	else if (exit_code == 0 && !described)
		exit_code = explain_nothing(cmd, sim);
	tdm_replay_free(replay);
	tdm_source_close(source);
	return exit_code;
}

static int cmd_simulate_run(struct tdm_args *args)
{
	struct simulation sim = { .path = NULL };
	int code = read_options(args, &sim);
	if (code != 0)
		return code;
	int err = tdm_input_open(sim.path, &sim.input);
	if (err == 0 && tdm_input_is_folder(sim.input))
		err = -EISDIR;
	if (err != 0) {
		tdm_input_close(sim.input);
		return tdm_cmd_error(args->cmd, "cannot read %s: %s", sim.path, tdm_err_text(err));
	}
	sim.format = tdm_format_of(sim.input);
	if (sim.format == NULL)
		sim.format = tdm_format_find("text_trace"); /* its parser says what is wrong */
	sim.place = strcmp(sim.format->name, "graph_capture") == 0 ? "byte" : "line";
	sim.feed.is_trace = strcmp(sim.format->name, "text_trace") == 0;
	if (sim.format->events == NULL)
		code = tdm_cmd_error(args->cmd, "%s is a %s, which has no requests to replay",
			tdm_input_name(sim.input), sim.format->summary);
	else
		code = simulate(args->cmd, &sim);
	tdm_input_close(sim.input);
	return code;
}

static const struct tdm_opt simulate_opts[] = {
	{ "trace", 't', "FILE", "text trace, graph capture or log to replay; - is standard input", .take = take_trace },
	{ "results", 'r', NULL, "print one result line for each request instead of the summary",
		TDM_TAKE_FLAG(struct simulation, results) },
	{ TDM_OPT_JSON(struct simulation, json) },
	{ "keep-going", 'k', NULL, "count and skip lines that cannot be used, instead of stopping",
		TDM_TAKE_FLAG(struct simulation, keep_going) },
	{ "device", 'd', "N", "replay the requests of this device (default: the first one)",
		TDM_INTO(tdm_take_device_number, struct simulation, filter, struct tdm_buffer_filter) },
	{ "card", 'c', "CARD", "replay on this card instead of the one described in the file",
		TDM_TAKE_TEXT(struct simulation, options.card) },
	{ "set", 's', "FIELD=VALUE", "override one figure of the card; may be repeated",
		TDM_TAKE_TEXTS(struct simulation, settings) },
	{ "card-file", 'f', "FILE", "override figures of the card from a file, which may name the card",
		TDM_TAKE_TEXT(struct simulation, options.card_file) },
	{ "policy", 'p', "first|best", "use the policy 'first' or 'best' (fit) instead of the trace's own",
		TDM_TAKE_CHOICE(struct simulation, policy) },
	{ TDM_OPT_ASCII(struct simulation, ascii) },
	{ 0 },
};

static const struct tdm_example simulate_examples[] = {
	{ "tidemark simulate --trace model.trace", "does it fit, where is the peak, what fragments the free memory" },
	{ "tidemark simulate --trace model.trace --results",
		"the address of every buffer, as the real allocator gives it" },
	{ "tidemark simulate --trace model.trace --card p150", "the same requests on another card" },
	{ "tidemark simulate capture.json --card n150", "would the captured run fit on this card?" },
	{ "tidemark simulate server.log --card n150 --device 1", "one device of an allocation server's log" },
	{ "tidemark simulate --trace model.trace --policy best", "would it fit with the other policy?" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_simulate = {
	.name = "simulate",
	.summary = "replay a trace of allocations on a device model",
	.usage = "--trace FILE [--results | --json] [--keep-going] [--device N] [--card CARD] [--card-file FILE] "
		 "[--set FIELD=VALUE]... [--policy first|best]",
	.description =
		"Replays the allocations and frees of a text trace, a graph capture, the log of an allocation server, "
		"a log of the runtime or the inspector's log of mesh buffers on an exact model of the device's memory: "
		"every buffer gets the address that the real allocator would give it. The summary says whether "
		"everything fits, or which allocation fails first and why; the peak and the fragmentation of each kind "
		"of memory over time; the largest free block; and which buffers bound the largest holes.\n"
		"\n"
		"The first line of a trace describes one memory region or a whole device; every other line is one "
		"request. A graph capture may describe its devices. A log does not name its card, so it needs --card "
		"or a card file that names one, and it only has sizes, so its buffers are assumed to be interleaved "
		"over all banks. Circular buffers "
		"are not requests to the allocator: they are counted and left out, like releases of buffers that were "
		"never allocated in the file.\n"
		"\n"
		"\"Does not fit\" is an answer: the exit code is still 0. A line that cannot be used ends the replay "
		"with a message and exit code 2, unless --keep-going is given. If a file cannot be read to its end, "
		"what came before is replayed and marked as incomplete; the exit code is 2.",
	.opts = simulate_opts,
	.examples = simulate_examples,
	.run = cmd_simulate_run,
};
