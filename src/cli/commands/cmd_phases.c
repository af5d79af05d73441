/* `tidemark phases`: training phases from logs, ledgers and captures; expected and measured sizes; charts. */
#include "analyze/capture/capture_stock.h"
#include "analyze/phases/phases.h"
#include "analyze/report/operation_memory.h"
#include "base/clock.h"
#include "base/err.h"
#include "cli/commands/cmd_list.h"
#include "cli/options/options.h"
#include "input/door/format.h"
#include "input/ledger/ledger_phases.h"
#include "ledger/layout/ledger_file.h"
#include "live/follow/follower.h"
#include "view/chart/result_charts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char default_output[] = "memory_peak_visualization.png";

enum { INPUTS_MAX = 1024 };

struct request {
	const struct tdm_cmd *cmd;
	const char *wanted[INPUTS_MAX]; /* paths, in command-line order; */
	int32_t pids[INPUTS_MAX];       /* if not 0, this process is the input instead */
	size_t wanted_count;
	struct tdm_texts captures;       /* NAME=FILE words, together forming one run */
	const char *dir;                 /* directory of ledgers; NULL for the default */
	struct tdm_phases_input *inputs; /* the inputs read so far */
	size_t input_count, input_cap;
	struct tdm_arena paths; /* paths of the inputs */
	bool failed;            /* some input could not be used, as a message explained */
	struct tdm_phases_options options;
	bool json, print, ascii, has_chart, visualize;
	unsigned chart; /* position of the --chart word, from 1, in the order of enum tdm_phases_chart; 0 for none */
	struct tdm_plot_picture picture;
};

static int want(struct request *r, const char *path, int32_t pid)
{
	if (r->wanted_count == INPUTS_MAX)
		return tdm_cmd_usage_error(r->cmd, "at most %d inputs", INPUTS_MAX);
	r->wanted[r->wanted_count] = path;
	r->pids[r->wanted_count++] = pid;
	return 0;
}

static int take_log(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	(void)cmd, (void)opt;
	return want(to, value, 0);
}

static int take_pid(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	int32_t pid = 0;
	int code = tdm_take_pid(cmd, opt, value, &pid);
	return code != 0 ? code : want(to, NULL, pid);
}

static int take_capture(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	const char *equals = strchr(value, '=');
	if (equals == NULL || equals == value || equals[1] == '\0')
		return tdm_cmd_usage_error(
			cmd, "--capture '%s': expected NAME=FILE, such as FORWARD_PASS=forward.json", value);
	return tdm_take_texts(cmd, opt, value, to);
}

static int take_device_memory(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	int code = tdm_take_bytes(cmd, opt, value, to);
	if (code == 0 && *(uint64_t *)to == 0)
		return tdm_cmd_usage_error(cmd, "--device_memory: a device without memory holds nothing");
	return code;
}

static int settle_picture(struct request *r)
{
	r->has_chart = r->chart != 0;
	r->picture.chart = r->chart != 0 ? r->chart - 1 : TDM_PHASES_CHART_PEAK;
	if (r->visualize && r->picture.chart != TDM_PHASES_CHART_PEAK)
		return tdm_cmd_usage_error(r->cmd, "--visualize_peak means --chart peak: only one chart at a time");
	if (r->visualize && r->picture.path == NULL)
		r->picture.path = default_output;
	r->has_chart |= r->visualize || r->picture.path != NULL;
	if (r->has_chart && r->picture.path == NULL && (r->json || r->print))
		return tdm_cmd_usage_error(r->cmd, "--chart with --%s needs --output FILE", r->json ? "json" : "print");
	return 0;
}

static int read_options(struct tdm_args *args, struct request *r)
{
	int code = tdm_args_read(args, r);
	if (code != 0)
		return code;
	for (int i = 0; i < args->positional_count; i++)
		if (want(r, args->positional[i], 0) != 0)
			return TDM_EXIT_USAGE;
	if (r->wanted_count + r->captures.count == 0)
		return tdm_cmd_usage_error(r->cmd,
			"which runs? --logs FILE, a ledger's path, --pid PID, a report of ttnn or --capture NAME=FILE");
	if (r->print && r->json)
		return tdm_cmd_usage_error(r->cmd, "--print and --json cannot be combined");
	return settle_picture(r);
}

/* ---- reading the inputs ---- */

/* Appends an empty input. `path` may be NULL. */
static struct tdm_phases_input *new_input(struct request *r, const char *source, const char *path)
{
	tdm_grow(&r->inputs, &r->input_cap, r->input_count + 1, sizeof *r->inputs);
	struct tdm_phases_input *input = &r->inputs[r->input_count++];
	*input = (struct tdm_phases_input){ .source = source,
		.path = path != NULL ? tdm_arena_text(&r->paths, tdm_str_of(path)) : NULL };
	return input;
}

static void fail(struct request *r, const char *path, const char *why)
{
	tdm_cmd_error(r->cmd, "%s: %s", path, why);
	r->failed = true;
}

/* Reads an input. Returns false if some of it could not be read; a message has then explained why. */
static bool read_all(struct request *r, struct tdm_intake *reading)
{
	reading->noun = "places";
	reading->say = tdm_cmd_say_diag;
	tdm_intake_run(reading);
	tdm_intake_end(reading);
	r->failed |= reading->err != 0;
	return reading->err == 0;
}

static void read_log(struct request *r, struct tdm_intake *reading)
{
	struct tdm_phases_input *input = new_input(r, "train_log", tdm_input_name(reading->input));
	bool is_empty = tdm_input_head(reading->input).len == 0 && tdm_input_why(reading->input)[0] == '\0';
	reading->format = tdm_format_find("train_log");
	reading->to = input;
	reading->take = tdm_phases_take;
	if (read_all(r, reading) && input->runs.count == 0)
		fail(r, input->path,
			is_empty
				? "the file is empty"
				: "no memory usage summary in it; train_nanogpt.py prints one with --track_memory, and "
				  "so does\n"
				  "  any program that calls MemoryUsageTracker's print_memory_usage()");
}

static void read_ledger(struct request *r, const char *path)
{
	struct tdm_phases_input *input = new_input(r, "ledger", path);
	struct tdm_diag diag = { 0 };
	if (tdm_ledger_phases_read(path, &input->runs, &diag) != 0)
		fail(r, path, diag.text);
	else if (input->runs.count == 0)
		fail(r, path,
			"no phases in it; a program records them with tidemark_capture_begin() and "
			"tidemark_capture_snapshot(), "
			"or\n  with MemoryUsageTracker");
}

/* A ttnn report, whose operations are phases. */
struct report {
	struct tdm_operation_memory memory;
	struct tdm_phases_input *input; /* the input that records refusals */
};

static int take_report(void *to, const struct tdm_record *record)
{
	struct report *r = to;
	tdm_operation_memory_take(&r->memory, record);
	return record->type == TDM_RECORD_REFUSED ? tdm_phases_take(r->input, record) : 0;
}

static void read_report(struct request *r, struct tdm_intake *reading)
{
	struct tdm_phases_input *input = new_input(r, "ttnn_report", tdm_input_name(reading->input));
	struct report report = { .input = input };
	reading->to = &report;
	reading->take = take_report;
	tdm_operation_memory_init(&report.memory);
	bool is_whole = read_all(r, reading);
	tdm_operation_memory_end(&report.memory);
	if (is_whole && tdm_operation_memory_runs(&report.memory, &input->runs, &reading->diag) != 0)
		fail(r, input->path, reading->diag.text);
	else if (is_whole && input->runs.count == 0)
		fail(r, input->path, "no operations in it");
	input->refused_count = reading->refused;
	tdm_operation_memory_done(&report.memory);
}

static void read_path(struct request *r, const char *path)
{
	struct tdm_intake reading = { .input = NULL };
	int err = tdm_intake_open(&reading, path);
	const char *name = err == 0 && reading.format != NULL ? reading.format->name : "";
	if (err != 0)
		fail(r, path, tdm_err_text(err));
	else if (strcmp(name, "ledger") == 0)
		read_ledger(r, path);
	else if (strcmp(name, "ttnn_report") == 0)
		read_report(r, &reading);
	else
		read_log(r, &reading);
	tdm_input_close(reading.input);
}

static void ignore_event(void *context, struct tdm_event *event)
{
	(void)context, (void)event;
}

/* The pid in the name of a process's ledger may be different, so the process is searched for among the ledgers. */
static void read_pid(struct request *r, int32_t pid)
{
	const struct tdm_follow_options options = { .dir = r->dir, .pids = &pid, .pid_count = 1 };
	const struct tdm_follow_sink sink = { .event = ignore_event };
	struct tdm_follower *follower = tdm_follower_new(&options);
	size_t found = 0;
	tdm_follower_look(follower, &sink, tdm_clock_ns());
	for (size_t i = 0; i < tdm_follower_count(follower); i++) {
		const struct tdm_followed *item = tdm_follower_get(follower, i);
		if (!item->is_known && item->err == 0)
			continue; /* belongs to another process */
		found++;
		read_ledger(r, item->path);
	}
	int err = tdm_follower_err(follower);
	if (err != 0) {
		fail(r, tdm_ledger_dir(r->dir), tdm_err_text(err));
	} else if (found == 0) {
		tdm_cmd_error(r->cmd,
			"process %" PRId32
			" has no ledger in %s: it is not tracked, or its ledger is elsewhere (--dir)",
			pid, tdm_ledger_dir(r->dir));
		r->failed = true;
	}
	tdm_follower_free(follower);
}

static int take_node(void *stock, const struct tdm_record *record)
{
	if (record->type == TDM_RECORD_NODE)
		tdm_capture_stock_apply(stock, record->node);
	return 0;
}

static int64_t figure_of(const struct tdm_stock_result *result, enum tdm_stock_figure figure)
{
	if (!result->known[figure])
		return TDM_PHASE_UNKNOWN;
	return result->value[figure] > INT64_MAX ? INT64_MAX : (int64_t)result->value[figure];
}

static int append(
	const struct tdm_stock_result *result, struct tdm_str name, struct tdm_phase_run *run, struct tdm_diag *diag)
{
	static const enum tdm_stock_figure needed[] = { TDM_STOCK_DRAM_PEAK, TDM_STOCK_DRAM_ALLOCATIONS,
		TDM_STOCK_DRAM_DEALLOCATIONS };
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (!result->known[needed[i]])
			return tdm_diag_set(diag, TDM_EUNKNOWN, 0, 0,
				"the runtime's functions cannot count its DRAM: %s", result->why[TDM_STOCK_DRAM]);
	struct tdm_phase_figures segment = {
		.dram_peak = figure_of(result, TDM_STOCK_DRAM_PEAK),
		.dram_allocated = figure_of(result, TDM_STOCK_DRAM_ALLOCATIONS),
		.dram_freed = figure_of(result, TDM_STOCK_DRAM_DEALLOCATIONS),
		.l1_peak_cb = figure_of(result, TDM_STOCK_CORE_PEAK_CB),
		.l1_peak_buffer = figure_of(result, TDM_STOCK_CORE_PEAK_L1),
		.l1_peak_total = figure_of(result, TDM_STOCK_CORE_PEAK_TOTAL),
	};
	int err = tdm_phase_run_append(run, name, &segment);
	return err != 0 ? tdm_diag_set(diag, err, 0, 0, "%s", tdm_err_text(err)) : 0;
}

/*
 * Appends the capture at a path to the run as one phase, counted as the runtime's own functions count it: even nodes
 * that make no sense are included. 0, or a negative code with the reason in the reading's diag and nothing appended.
 */
static int read_capture(struct tdm_intake *reading, const char *path, struct tdm_str name, struct tdm_phase_run *run)
{
	struct tdm_capture_stock *stock = tdm_capture_stock_new();
	int err = tdm_intake_open(reading, path);
	if (err != 0) {
		tdm_diag_set(&reading->diag, err, 0, 0, "%s", tdm_err_text(err));
	} else {
		reading->format = tdm_format_find("graph_capture");
		reading->to = stock;
		reading->take = take_node;
		tdm_intake_run(reading);
		err = reading->err;
	}
	if (err == 0)
		err = append(tdm_capture_stock_end(stock), name, run, &reading->diag);
	tdm_capture_stock_free(stock);
	tdm_input_close(reading->input);
	return err;
}

/* All captures together form one run, in the given order. A capture that fails is left out; the bytes in use before the
 * next capture are then unknown. */
static void read_captures(struct request *r)
{
	struct tdm_phases_input *input = new_input(r, "capture", NULL);
	struct tdm_phase_run *run = tdm_phase_runs_add(&input->runs, tdm_str_of("captures"));
	for (size_t i = 0; i < r->captures.count; i++) {
		const char *equals = strchr(r->captures.list[i], '='), *path = equals + 1;
		struct tdm_str name = { r->captures.list[i], (size_t)(equals - r->captures.list[i]) };
		struct tdm_intake reading = { .input = NULL };
		if (read_capture(&reading, path, name, run) != 0) {
			fail(r, path, reading.diag.text);
			run->incomplete = run->peak_so_far = true;
		}
		if (reading.refused != 0)
			tdm_cmd_say("tidemark phases: %s: %" PRIu64
				    " nodes make no sense; they count as they do for the runtime",
				path, reading.refused);
		input->refused_count += reading.refused;
	}
	if (run->phase_count == 0)
		tdm_phase_runs_done(&input->runs);
}

static void read_inputs(struct request *r)
{
	if (r->captures.count != 0)
		read_captures(r);
	for (size_t i = 0; i < r->wanted_count; i++)
		if (r->pids[i] != 0)
			read_pid(r, r->pids[i]);
		else
			read_path(r, r->wanted[i]);
	for (size_t i = 0; i < r->input_count; i++)
		tdm_phases_end(&r->inputs[i], &r->options);
}

/* ---- showing them ---- */

static size_t run_count(const struct request *r)
{
	size_t count = 0;
	for (size_t i = 0; i < r->input_count; i++)
		count += r->inputs[i].runs.count;
	return count;
}

/* Prints the summaries as tt-train does. Marks have no figures to print. */
static void print_summaries(const struct request *r, struct tdm_buf *out)
{
	for (size_t i = 0; i < r->input_count; i++)
		for (size_t k = 0; k < r->inputs[i].runs.count; k++) {
			const struct tdm_phase_run *run = &r->inputs[i].runs.runs[k];
			if (tdm_phase_run_is_measured(run))
				tdm_phase_run_print(run, out);
			else
				tdm_cmd_say("tidemark phases: %s are left out: a mark has no peak", run->name);
		}
}

static void say_left_out(size_t count, const char *which)
{
	if (count != 0)
		tdm_cmd_say("tidemark phases: %zu run%s %s %s not in the chart", count, count == 1 ? "" : "s", which,
			count == 1 ? "is" : "are");
}

/* Draws the chart below the report, or into a file. */
static int draw_chart(struct request *r, const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_diag diag = { 0 };
	size_t left_out[TDM_PHASES_LEFT_OUT];
	char beyond[40];
	if (r->picture.path == NULL)
		tdm_buf_putc(out, '\n');
	r->picture.term = term;
	if (tdm_phases_draw(r->inputs, r->input_count, &r->picture, out, left_out, &diag) != 0)
		return tdm_cmd_error(r->cmd, "%s", diag.text);
	say_left_out(left_out[TDM_PHASES_NO_PEAK], "without a known peak");
	say_left_out(left_out[TDM_PHASES_OTHER], "with other phases than the first");
	snprintf(beyond, sizeof beyond, "beyond the first %d", TDM_PHASES_LINES_MAX);
	say_left_out(left_out[TDM_PHASES_TOO_MANY], beyond);
	if (r->picture.path != NULL)
		tdm_chart_said(r->cmd, r->picture.path);
	return 0;
}

static int show(struct request *r)
{
	struct tdm_term term = tdm_cmd_term(r->ascii, false);
	struct tdm_answer answer;
	int code = 0;
	if (run_count(r) == 0 && !r->json)
		return TDM_EXIT_USAGE; /* a message explained why */
	tdm_answer_begin(&answer, r->cmd, r->json);
	if (r->print) {
		print_summaries(r, &answer.out);
	} else {
		struct tdm_result *result = tdm_result_new();
		tdm_phases_show(&result->top, r->inputs, r->input_count);
		tdm_answer_put(&answer, result, r->json, &term);
		tdm_result_free(result);
	}
	code = run_count(r) != 0 && r->has_chart ? draw_chart(r, &term, &answer.out) : 0;
	code = tdm_answer_end(&answer, code);
	return code == TDM_EXIT_OK && r->failed ? TDM_EXIT_USAGE : code;
}

static int cmd_phases_run(struct tdm_args *args)
{
	struct request r = { .cmd = args->cmd, .options = TDM_PHASES_NO_OPTIONS };
	int code = read_options(args, &r);
	if (code == 0) {
		read_inputs(&r);
		code = show(&r);
	}
	for (size_t i = 0; i < r.input_count; i++)
		tdm_phases_input_done(&r.inputs[i]);
	free(r.inputs);
	tdm_arena_done(&r.paths);
	return code;
}

static const struct tdm_opt phases_opts[] = {
	{ "logs", 'l', "FILE", "tt-train log with one or more memory summaries; may be repeated; - is standard input",
		.take = take_log },
	{ "pid", 'p', "PID", "show the phases recorded in this process's ledger; may be repeated", .take = take_pid },
	{ "capture", 0, "NAME=FILE", "graph capture of one phase; if repeated, the captures are the phases of one run",
		TDM_INTO(take_capture, struct request, captures, struct tdm_texts) },
	{ TDM_OPT_DIR(struct request, dir) },
	{ "device_memory", 0, "BYTES", "device memory, in bytes or as 12GiB (default: from the input, else 12 GiB)",
		TDM_INTO(take_device_memory, struct request, options.device_memory_bytes, uint64_t) },
	{ "model_size", 0, "BYTES", "expected size of the model (default: 2 bytes per parameter)",
		TDM_TAKE_BYTES(struct request, options.model_bytes) },
	{ "optimizer_size", 0, "BYTES", "expected size of the optimizer state (default: twice the model)",
		TDM_TAKE_BYTES(struct request, options.optimizer_bytes) },
	{ "gradients_size", 0, "BYTES", "expected size of the gradients (default: the size of the model)",
		TDM_TAKE_BYTES(struct request, options.gradients_bytes) },
	{ "use_actual_sizes", 0, NULL,
		"divide the peak by measured instead of expected sizes of the model and the optimizer",
		TDM_TAKE_FLAG(struct request, options.use_actual_sizes) },
	{ "visualize_peak", 0, NULL, "write the chart of peaks to a file (default: memory_peak_visualization.png)",
		TDM_TAKE_FLAG(struct request, visualize) },
	{ "chart", 'c', "peak|time",
		"draw the parts of the peaks, or memory over the phases; without --output, on the terminal",
		TDM_TAKE_CHOICE(struct request, chart) },
	{ TDM_OPT_CHART_TITLE(struct request, picture.title) },
	{ TDM_OPT_CHART_PATH(struct request, picture.path) },
	{ TDM_OPT_CHART_SIZE(struct request, picture.size) },
	{ TDM_OPT_CHART_SCALE(struct request, picture.size) },
	{ "print", 0, NULL, "print the phases exactly as tt-train's print_memory_usage does, and nothing else",
		TDM_TAKE_FLAG(struct request, print) },
	{ TDM_OPT_JSON(struct request, json) },
	{ TDM_OPT_ASCII(struct request, ascii) },
	{ 0 },
};

static const struct tdm_help_row phases_examples[] = {
	{ "tidemark phases --logs train.log", "each phase, expected and measured sizes, and whether it fits" },
	{ "tidemark phases --logs train.log --visualize_peak --title \"TinyLlama\"",
		"the stacked chart of all runs in the log" },
	{ "tidemark phases train.log --chart time --output phases.svg", "memory over the phases" },
	{ "tidemark phases --capture FORWARD_PASS=f.json --capture BACKWARD_PASS=b.json --print",
		"the text that tt-train would print for these graph captures" },
	{ "tidemark phases --pid 4711 --print",
		"the phases captured so far by a tracked program, as tt-train prints them" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_phases = {
	.name = "phases",
	.summary = "show memory by training phase: expected and measured sizes, charts, ways to make a run fit",
	.usage = "--logs FILE [--device_memory BYTES] [--visualize_peak | --chart peak|time] [--output FILE]\n"
		 "--pid PID | LEDGER | REPORT [...]\n"
		 "--capture NAME=FILE...",
	.description = "Reads one of four inputs: the memory summaries printed by tt-train (several summaries in one "
		       "file are several runs); the phases recorded by libtidemark in the ledger of a running or "
		       "ended process; a ttnn report (db.sqlite or its folder), whose operations are the phases; or "
		       "one graph capture for each phase. For each run, the command shows every phase; the measured "
		       "and expected sizes of the model, the optimizer and the gradients; the activations, the "
		       "overhead of the backward pass and the rest; and whether the peak fits on the device. If the "
		       "peak does not fit, the command shows how much gradient checkpointing, a smaller batch or "
		       "gradient accumulation is needed.\n\nPhases called FORWARD_PASS_micro_N and "
		       "BACKWARD_PASS_micro_N, and repeated names, are added up as micro-batches; their peaks and "
		       "activations are those of the largest micro-batch. The options are those of tt-train's "
		       "analyze_memory.py; --device-memory is the same as --device_memory. If a figure cannot be "
		       "read, its position is reported and its phase is omitted. If an input cannot be used at all, "
		       "the other inputs are shown and the exit code is 2. \"Does not fit\" is a valid result: the "
		       "exit code is still 0.",
	.opts = phases_opts,
	.examples = phases_examples,
	.run = cmd_phases_run,
};
