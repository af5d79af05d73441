/* `tidemark phases`: training phases from logs, ledgers and captures; expected and measured sizes; charts. */
#include "base/err.h"
#include "cli/cmd_list.h"
#include "cli/options.h"
#include "cli/phase_inputs.h"
#include "report/phases_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char default_output[] = "memory_peak_visualization.png";

struct request {
	const struct tdm_cmd *cmd;
	struct tdm_phase_inputs in;
	struct tdm_phases_options options;
	bool json, print, ascii, has_chart, visualize;
	unsigned chart; /* a word of --chart, counted from 1, in the order of enum tdm_phases_chart; 0: none */
	struct tdm_phases_picture picture;
};

static int want(struct request *r, const char *path, int32_t pid)
{
	if (r->in.wanted_count == TDM_PHASE_INPUTS_MAX)
		return tdm_cmd_usage_error(r->cmd, "at most %d inputs", TDM_PHASE_INPUTS_MAX);
	r->in.wanted[r->in.wanted_count++] = (struct tdm_phase_wanted){ path, pid };
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
	r->picture.chart = r->chart != 0 ? (enum tdm_phases_chart)(r->chart - 1) : TDM_PHASES_CHART_PEAK;
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
	if (r->in.wanted_count + r->in.captures.count == 0)
		return tdm_cmd_usage_error(r->cmd,
			"which runs? --logs FILE, a ledger's path, --pid PID, a report of ttnn or --capture NAME=FILE");
	if (r->print && r->json)
		return tdm_cmd_usage_error(r->cmd, "--print and --json cannot be combined");
	return settle_picture(r);
}

static int analyze_inputs(struct request *r)
{
	for (size_t i = 0; i < r->in.input_count; i++) {
		struct tdm_phases_input *input = &r->in.inputs[i];
		input->refused = r->in.logs[i].refused;
		input->refused_shown = r->in.logs[i].refused_kept;
		input->results = calloc(input->runs.count + 1, sizeof *input->results);
		if (input->results == NULL)
			return tdm_cmd_error(r->cmd, "out of memory");
		tdm_phases_analyze(&input->runs, &r->options, input->results);
	}
	return 0;
}

static size_t run_count(const struct request *r)
{
	size_t count = 0;
	for (size_t i = 0; i < r->in.input_count; i++)
		count += r->in.inputs[i].runs.count;
	return count;
}

/* Prints the summaries as tt-train does. Marks have no figures to print. */
static void print_summaries(const struct request *r, struct tdm_buf *out)
{
	for (size_t i = 0; i < r->in.input_count; i++)
		for (size_t k = 0; k < r->in.inputs[i].runs.count; k++) {
			const struct tdm_phase_run *run = &r->in.inputs[i].runs.runs[k];
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

/* Draws the chart below the report, or into its file. */
static int draw_chart(const struct request *r, const struct tdm_phases_report *report, const struct tdm_term *term,
	struct tdm_buf *out)
{
	struct tdm_diag diag = { 0 };
	struct tdm_phases_left_out left_out;
	char beyond[40];
	if (r->picture.path == NULL)
		tdm_buf_putc(out, '\n');
	if (tdm_phases_draw(report, &r->picture, term, out, &left_out, &diag) != 0)
		return tdm_cmd_error(r->cmd, "%s", diag.text);
	say_left_out(left_out.no_peak, "without a known peak");
	say_left_out(left_out.other_phases, "with other phases than the first");
	snprintf(beyond, sizeof beyond, "beyond the first %d", TDM_PHASES_LINES_MAX);
	say_left_out(left_out.too_many, beyond);
	if (r->picture.path != NULL)
		tdm_chart_said(r->cmd, r->picture.path);
	return 0;
}

static int show(struct request *r)
{
	struct tdm_phases_report report = { r->in.inputs, r->in.input_count };
	struct tdm_term term = tdm_cmd_term(r->ascii, false);
	struct tdm_answer answer;
	if (run_count(r) == 0 && !r->json)
		return TDM_EXIT_USAGE; /* a message said why */
	tdm_answer_begin(&answer, r->cmd, r->json);
	if (r->json)
		tdm_phases_json(&report, &answer.json);
	else if (r->print)
		print_summaries(r, &answer.out);
	else
		tdm_phases_text(&report, &term, &answer.out);
	int code = run_count(r) != 0 && r->has_chart ? draw_chart(r, &report, &term, &answer.out) : 0;
	code = tdm_answer_end(&answer, code);
	return code == TDM_EXIT_OK && r->in.failed ? TDM_EXIT_USAGE : code;
}

static int cmd_phases_run(struct tdm_args *args)
{
	struct request r = { .cmd = args->cmd, .in.cmd = args->cmd, .options = TDM_PHASES_NO_OPTIONS };
	int code = read_options(args, &r);
	code = code != 0 ? code : tdm_phase_inputs_read(&r.in);
	code = code != 0 ? code : analyze_inputs(&r);
	code = code != 0 ? code : show(&r);
	tdm_phase_inputs_done(&r.in);
	return code;
}

static const struct tdm_opt phases_opts[] = {
	{ "logs", 'l', "FILE",
		"log of tt-train with one or more memory summaries; may be repeated; - is standard input",
		.take = take_log },
	{ "pid", 'p', "PID", "phases that this process has recorded in its ledger; may be repeated", .take = take_pid },
	{ "capture", 0, "NAME=FILE", "graph capture of one phase; if repeated, the captures are the phases of one run",
		TDM_INTO(take_capture, struct request, in.captures, struct tdm_texts) },
	{ TDM_OPT_DIR(struct request, in.dir) },
	{ "device_memory", 0, "BYTES",
		"memory of the device, in bytes or as 12GiB (default: what the input says, else 12 GiB)",
		TDM_INTO(take_device_memory, struct request, options.device_memory_bytes, uint64_t) },
	{ "model_size", 0, "BYTES", "expected size of the model (default: 2 bytes per parameter)",
		TDM_TAKE_BYTES(struct request, options.model_bytes) },
	{ "optimizer_size", 0, "BYTES", "expected size of the optimizer's state (default: twice the model)",
		TDM_TAKE_BYTES(struct request, options.optimizer_bytes) },
	{ "gradients_size", 0, "BYTES", "expected size of the gradients (default: the size of the model)",
		TDM_TAKE_BYTES(struct request, options.gradients_bytes) },
	{ "use_actual_sizes", 0, NULL,
		"divide the peak by measured sizes of model and optimizer instead of expected ones",
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

static const struct tdm_example phases_examples[] = {
	{ "tidemark phases --logs train.log", "each phase, expected and measured sizes, and whether it fits" },
	{ "tidemark phases --logs train.log --visualize_peak --title \"TinyLlama\"",
		"the stacked chart of all runs in the log" },
	{ "tidemark phases train.log --chart time --output phases.svg", "memory over the phases" },
	{ "tidemark phases --capture FORWARD_PASS=f.json --capture BACKWARD_PASS=b.json --print",
		"what tt-train would print for these graph captures" },
	{ "tidemark phases --pid 4711 --print", "what a tracked program has captured so far, as tt-train prints it" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_phases = {
	.name = "phases",
	.summary = "show memory by training phase: expected and measured, charts, what would fit",
	.usage = "--logs FILE [--device_memory BYTES] [--visualize_peak | --chart peak|time] [--output FILE]\n"
		 "--pid PID | LEDGER | REPORT [...]\n"
		 "--capture NAME=FILE...",
	.description = "Reads the memory summaries that tt-train prints (several in one file are several runs), the "
		       "phases that libtidemark recorded in the ledger of a process, running or ended, a report of "
		       "ttnn (db.sqlite or its folder), whose operations are the phases, or a graph capture for each "
		       "phase. For each run it shows every phase; the sizes of model, optimizer and "
		       "gradients next to the expected ones; activations, the overhead of the backward pass and the "
		       "rest; and whether the peak fits on the device. If it does not, it says how far gradient "
		       "checkpointing, a smaller batch or gradient accumulation would have to go.\n"
		       "\n"
		       "Phases called FORWARD_PASS_micro_N and BACKWARD_PASS_micro_N, and names that repeat, are added "
		       "up as micro-batches; peaks and activations are then the largest of them. The options are those "
		       "of tt-train's analyze_memory.py; --device-memory is the same as --device_memory. A figure that "
		       "cannot be read is reported with its position, and its phase is left out. An input that cannot "
		       "be used at all gives exit code 2, after the others were shown. \"Does not fit\" is an answer: "
		       "the exit code is still 0.",
	.opts = phases_opts,
	.examples = phases_examples,
	.run = cmd_phases_run,
};
