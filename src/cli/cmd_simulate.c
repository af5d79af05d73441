#include "analyze/replay.h"
#include "base/err.h"
#include "base/file.h"
#include "base/progress.h"
#include "base/term.h"
#include "cli/cmd.h"
#include "cli/cmd_list.h"
#include "report/replay_report.h"
#include "sources/text_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SETTINGS_MAX = 64,
	WARNINGS_MAX = 20, /* refused lines that are named; the rest is counted */
	FLUSH_BYTES = 1 << 16,
	PROGRESS_EVERY = 1 << 14, /* requests between two looks at the clock */
};

enum { OPT_TRACE, OPT_RESULTS, OPT_JSON, OPT_KEEP_GOING, OPT_CARD, OPT_SET, OPT_CARD_FILE, OPT_POLICY, OPT_ASCII };

struct simulation {
	const char *path;
	bool results, json, keep_going, ascii;
	struct tdm_replay_options options;
	const char *settings[SETTINGS_MAX + 1];
	size_t setting_count;
	uint64_t skipped;
};

static int set_trace(struct tdm_args *args, struct simulation *sim, const char *path)
{
	if (sim->path != NULL)
		return tdm_cmd_usage_error(args->cmd, "one trace at a time: '%s' or '%s'", sim->path, path);
	sim->path = path;
	return 0;
}

static int set_option(struct tdm_args *args, struct simulation *sim, int option, const char *value)
{
	switch (option) {
	case OPT_TRACE:
		return set_trace(args, sim, value);
	case OPT_RESULTS:
		sim->results = true;
		break;
	case OPT_JSON:
		sim->json = true;
		break;
	case OPT_KEEP_GOING:
		sim->keep_going = true;
		break;
	case OPT_CARD:
		sim->options.card = value;
		break;
	case OPT_SET:
		if (sim->setting_count == SETTINGS_MAX)
			return tdm_cmd_usage_error(args->cmd, "at most %d --set options", SETTINGS_MAX);
		sim->settings[sim->setting_count++] = value;
		break;
	case OPT_CARD_FILE:
		sim->options.card_file = value;
		break;
	case OPT_POLICY:
		if (tdm_fit_parse(tdm_str_of(value), &sim->options.fit) != 0)
			return tdm_cmd_usage_error(args->cmd, "--policy: expected 'first' or 'best', got '%s'", value);
		sim->options.has_fit = true;
		break;
	case OPT_ASCII:
		sim->ascii = true;
		break;
	default:
		break;
	}
	return 0;
}

static int read_options(struct tdm_args *args, struct simulation *sim)
{
	const char *value = NULL;
	int option;
	while ((option = tdm_args_next(args, &value)) >= 0) {
		int err = set_option(args, sim, option, value);
		if (err != 0)
			return err;
	}
	if (option == TDM_ARGS_ERROR)
		return TDM_EXIT_USAGE;
	for (int i = 0; i < args->positional_count; i++) {
		int err = set_trace(args, sim, args->positional[i]);
		if (err != 0)
			return err;
	}
	if (sim->path == NULL)
		return tdm_cmd_usage_error(args->cmd, "which trace? --trace FILE, or - for standard input");
	if (sim->results && sim->json)
		return tdm_cmd_usage_error(args->cmd, "--results and --json exclude each other");
	sim->options.settings = sim->settings;
	sim->ascii = sim->ascii || !tdm_term_is_utf8();
	return 0;
}

/* Reports a refused line. 0 to go on, or the exit code. */
static int refuse(struct simulation *sim, const struct tdm_diag *diag)
{
	char text[TDM_DIAG_TEXT_CAP * 2];
	if (sim->skipped < WARNINGS_MAX)
		fprintf(stderr, "%s\n", tdm_diag_format(diag, text, sizeof text));
	else if (sim->skipped == WARNINGS_MAX)
		fputs("further refused lines are counted only\n", stderr);
	sim->skipped++;
	return sim->keep_going ? 0 : TDM_EXIT_USAGE;
}

static void flush_results(struct tdm_buf *results, size_t above)
{
	if (results->len <= above)
		return;
	fwrite(results->data, 1, results->len, stdout);
	tdm_buf_clear(results);
}

static int replay_all(struct simulation *sim, struct tdm_source *source, struct tdm_replay *replay, uint64_t file_bytes)
{
	struct tdm_buf results;
	struct tdm_event event;
	struct tdm_diag diag = { .file = sim->path };
	struct tdm_progress progress;
	int got, exit_code = 0;
	uint64_t seen = 0;

	tdm_buf_init(&results);
	tdm_progress_begin(&progress, "replaying", file_bytes);
	while (exit_code == 0 && (got = tdm_source_next(source, &event, &diag)) != 0) {
		int err = got < 0 ? got : tdm_replay_apply(replay, &event, sim->results ? &results : NULL, &diag);
		if (err < 0) {
			exit_code = refuse(sim, &diag);
			diag.file = sim->path;
		}
		if (err < 0 && got > 0 && event.op == TDM_OP_DEVICE)
			exit_code = TDM_EXIT_USAGE; /* without a device there is nothing to go on with */
		flush_results(&results, FLUSH_BYTES);
		if (++seen % PROGRESS_EVERY == 0)
			tdm_progress_update(&progress, tdm_text_trace_offset(source));
	}
	tdm_progress_end(&progress);
	flush_results(&results, 0);
	tdm_buf_done(&results);
	return exit_code;
}

static int print_summary(const struct tdm_cmd *cmd, const struct simulation *sim, const struct tdm_replay *replay)
{
	struct tdm_replay_report report = { sim->path, sim->skipped, sim->ascii };
	struct tdm_buf out;
	tdm_buf_init(&out);
	if (sim->json) {
		struct tdm_json json;
		tdm_json_init(&json, &out);
		tdm_json_envelope(&json, "tidemark.simulate");
		tdm_json_key(&json, "simulate");
		tdm_replay_json(replay, &report, &json);
		tdm_json_object_end(&json);
	} else {
		tdm_replay_text(replay, &report, &out);
	}
	bool failed = tdm_buf_failed(&out);
	if (!failed)
		fwrite(out.data, 1, out.len, stdout);
	tdm_buf_done(&out);
	return failed ? tdm_cmd_error(cmd, "out of memory for the summary") : TDM_EXIT_OK;
}

static int simulate_fd(const struct tdm_cmd *cmd, struct simulation *sim, int fd)
{
	struct stat st;
	uint64_t bytes = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	struct tdm_source *source = tdm_text_trace_open(fd);
	struct tdm_replay *replay = tdm_replay_new(&sim->options);
	int exit_code;
	if (source == NULL || replay == NULL)
		exit_code = tdm_cmd_error(cmd, "out of memory");
	else
		exit_code = replay_all(sim, source, replay, bytes);
	bool described = replay != NULL && tdm_replay_space_count(replay) != 0;
	if (exit_code == 0 && !sim->results && (described || sim->json))
		exit_code = print_summary(cmd, sim, replay);
	if (exit_code == 0 && sim->results && sim->skipped != 0)
		fprintf(stderr, "tidemark simulate: lines refused and skipped: %" PRIu64 "\n", sim->skipped);
	if (exit_code == 0 && !described)
		exit_code = tdm_cmd_error(cmd,
			"%s describes no memory: it has no 'region' or 'device' line that could be used", sim->path);
	tdm_replay_free(replay);
	tdm_source_close(source);
	return exit_code;
}

static int cmd_simulate_run(struct tdm_args *args)
{
	struct simulation sim = { 0 };
	int err = read_options(args, &sim);
	if (err != 0)
		return err;
	if (strcmp(sim.path, "-") == 0) {
		sim.path = "standard input";
		return simulate_fd(args->cmd, &sim, STDIN_FILENO);
	}
	int fd = open(sim.path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return tdm_cmd_error(args->cmd, "cannot read %s: %s", sim.path, tdm_err_text(-errno));
	int exit_code = simulate_fd(args->cmd, &sim, fd);
	close(fd);
	return exit_code;
}

static const struct tdm_opt simulate_opts[] = {
	[OPT_TRACE] = { "trace", 't', "FILE", "text trace to replay; - is standard input" },
	[OPT_RESULTS] = { "results", 'r', NULL, "print one result line for each request instead of the summary" },
	[OPT_JSON] = { "json", 'j', NULL, "print the summary as JSON, sizes in bytes" },
	[OPT_KEEP_GOING] = { "keep-going", 'k', NULL, "count and skip lines that cannot be used, instead of stopping" },
	[OPT_CARD] = { "card", 'c', "CARD", "replay a device trace on this card instead of the trace's own" },
	[OPT_SET] = { "set", 's', "FIELD=VALUE", "override one figure of the card; may be repeated" },
	[OPT_CARD_FILE] = { "card-file", 'f', "FILE", "override figures of the card from a file" },
	[OPT_POLICY] = { "policy", 'p', "first|best",
		"replay with 'first' or 'best' instead of the trace's own policy" },
	[OPT_ASCII] = { "ascii", 0, NULL, "draw with ASCII characters only" },
	{ NULL, 0, NULL, NULL },
};

static const struct tdm_example simulate_examples[] = {
	{ "tidemark simulate --trace model.trace", "does it fit, where is the peak, what splits the free memory" },
	{ "tidemark simulate --trace model.trace --results",
		"the address of every buffer, as the real allocator gives it" },
	{ "tidemark simulate --trace model.trace --card p150", "the same requests on another card" },
	{ "tidemark simulate --trace model.trace --policy best", "would the other policy have fitted?" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_simulate = {
	.name = "simulate",
	.summary = "replay a trace of allocations on a device model",
	.usage = "--trace FILE [--results | --json] [--keep-going] [--card CARD] [--card-file FILE] "
		 "[--set FIELD=VALUE]... [--policy first|best]",
	.description =
		"Replays the allocations and frees of a text trace on an exact model of the device's memory: every "
		"buffer gets the address that the real allocator gives it. The summary says whether everything fits, "
		"or which allocation fails first and why; the peak and the fragmentation of each kind of memory over "
		"time; the largest free block; and which buffers bound the largest holes.\n"
		"\n"
		"A trace describes one memory region or a whole device in its first line, then has one request on each "
		"line. \"Does not fit\" is an answer: the exit code is still 0. A line that cannot be used ends the "
		"replay with its file, line and column and exit code 2, unless --keep-going is given.",
	.opts = simulate_opts,
	.examples = simulate_examples,
	.run = cmd_simulate_run,
};
