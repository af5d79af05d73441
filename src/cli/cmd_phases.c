/* `tidemark phases`: training phases from logs, ledgers and captures; theory against measurement; charts. */
#include "base/err.h"
#include "base/term.h"
#include "cli/cmd_list.h"
#include "cli/phase_inputs.h"
#include "cli/chart_options.h"
#include "report/phases_report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	OPT_LOGS,
	OPT_PID,
	OPT_CAPTURE,
	OPT_DIR,
	OPT_DEVICE_MEMORY,
	OPT_MODEL_SIZE,
	OPT_OPTIMIZER_SIZE,
	OPT_GRADIENTS_SIZE,
	OPT_USE_ACTUAL_SIZES,
	OPT_VISUALIZE_PEAK,
	OPT_CHART,
	OPT_TITLE,
	OPT_OUTPUT,
	OPT_SIZE,
	OPT_SCALE,
	OPT_PRINT,
	OPT_JSON,
	OPT_ASCII,
};

static const char default_output[] = "memory_peak_visualization.png";

struct request {
	const struct tdm_cmd *cmd;
	struct tdm_phase_inputs in;
	struct tdm_phases_options options;
	bool json, print, ascii, has_chart, visualize;
	struct tdm_phases_picture picture;
};

static int want(struct request *r, const char *path, int32_t pid)
{
	if (r->in.wanted_count == TDM_PHASE_INPUTS_MAX)
		return tdm_cmd_usage_error(r->cmd, "at most %d inputs", TDM_PHASE_INPUTS_MAX);
	r->in.wanted[r->in.wanted_count++] = (struct tdm_phase_wanted){ path, pid };
	return 0;
}

/* A size as everywhere, or a number of bytes as programs print it: 1.2e10, 1938739200.0. */
static int take_bytes(struct request *r, const char *option, const char *value, uint64_t *bytes)
{
	char *end;
	if (tdm_parse_bytes(tdm_str_of(value), bytes, NULL) == 0)
		return 0;
	double number = strtod(value, &end);
	if (end == value || *end != '\0' || !(number >= 0) || number >= 0x1p63)
		return tdm_cmd_usage_error(
			r->cmd, "--%s '%s': expected a number of bytes, or a size such as 12GiB", option, value);
	*bytes = (uint64_t)llround(number);
	return 0;
}

static int take_pid(struct request *r, const char *value)
{
	uint64_t pid;
	if (tdm_str_parse_u64(tdm_str_of(value), &pid) != 0 || pid == 0 || pid > INT32_MAX)
		return tdm_cmd_usage_error(r->cmd, "--pid '%s': expected the number of a process", value);
	return want(r, NULL, (int32_t)pid);
}

static int take_capture(struct request *r, const char *value)
{
	const char *equals = strchr(value, '=');
	if (equals == NULL || equals == value || equals[1] == '\0')
		return tdm_cmd_usage_error(
			r->cmd, "--capture '%s': expected NAME=FILE, such as FORWARD_PASS=forward.json", value);
	if (r->in.capture_count == TDM_PHASE_INPUTS_MAX)
		return tdm_cmd_usage_error(r->cmd, "at most %d captures", TDM_PHASE_INPUTS_MAX);
	r->in.captures[r->in.capture_count++] = value;
	return 0;
}

static int take_chart(struct request *r, const char *value)
{
	if (strcmp(value, "peak") != 0 && strcmp(value, "time") != 0)
		return tdm_cmd_usage_error(r->cmd, "--chart '%s': expected peak or time", value);
	r->has_chart = true;
	r->picture.chart = value[0] == 'p' ? TDM_PHASES_CHART_PEAK : TDM_PHASES_CHART_TIME;
	return 0;
}

static int take_option(void *context, int option, const char *value)
{
	struct request *r = context;
	struct tdm_phases_options *o = &r->options;
	switch (option) {
	case OPT_LOGS:
		return want(r, value, 0);
	case OPT_PID:
		return take_pid(r, value);
	case OPT_CAPTURE:
		return take_capture(r, value);
	case OPT_DIR:
		r->in.dir = value;
		break;
	case OPT_DEVICE_MEMORY:
		if (take_bytes(r, "device_memory", value, &o->device_memory_bytes) != 0)
			return TDM_EXIT_USAGE;
		if (o->device_memory_bytes == 0)
			return tdm_cmd_usage_error(r->cmd, "--device_memory: a device without memory holds nothing");
		break;
	case OPT_MODEL_SIZE:
		return take_bytes(r, "model_size", value, &o->model_bytes);
	case OPT_OPTIMIZER_SIZE:
		return take_bytes(r, "optimizer_size", value, &o->optimizer_bytes);
	case OPT_GRADIENTS_SIZE:
		return take_bytes(r, "gradients_size", value, &o->gradients_bytes);
	case OPT_USE_ACTUAL_SIZES:
		o->use_actual_sizes = true;
		break;
	case OPT_VISUALIZE_PEAK:
		r->visualize = true;
		break;
	case OPT_CHART:
		return take_chart(r, value);
	case OPT_TITLE:
		r->picture.title = value;
		break;
	case OPT_OUTPUT:
		r->picture.path = value;
		break;
	case OPT_SIZE:
		return tdm_chart_take_size(r->cmd, value, &r->picture.size);
	case OPT_SCALE:
		return tdm_chart_take_scale(r->cmd, value, &r->picture.size);
	case OPT_PRINT:
		r->print = true;
		break;
	case OPT_JSON:
		r->json = true;
		break;
	case OPT_ASCII:
		r->ascii = true;
		break;
	default:
		break;
	}
	return 0;
}

static int settle_picture(struct request *r)
{
	if (r->visualize && r->has_chart && r->picture.chart != TDM_PHASES_CHART_PEAK)
		return tdm_cmd_usage_error(r->cmd, "--visualize_peak is --chart peak: one chart at a time");
	if (r->visualize && r->picture.path == NULL)
		r->picture.path = default_output;
	r->has_chart |= r->visualize || r->picture.path != NULL;
	if (r->has_chart && r->picture.path == NULL && (r->json || r->print))
		return tdm_cmd_usage_error(r->cmd, "--chart with --%s needs --output FILE", r->json ? "json" : "print");
	return r->picture.path != NULL ? tdm_chart_check_path(r->cmd, r->picture.path) : 0;
}

static int read_options(struct tdm_args *args, struct request *r)
{
	int code = tdm_args_each(args, take_option, r);
	if (code != 0)
		return code;
	for (int i = 0; i < args->positional_count; i++)
		if (want(r, args->positional[i], 0) != 0)
			return TDM_EXIT_USAGE;
	if (r->in.wanted_count + r->in.capture_count == 0)
		return tdm_cmd_usage_error(
			r->cmd, "which runs? --logs FILE, a ledger's path, --pid PID or --capture NAME=FILE");
	if (r->print && r->json)
		return tdm_cmd_usage_error(r->cmd, "--print and --json exclude each other");
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

/* As tt-train prints them. Marks have no figures to print. */
static void print_summaries(const struct request *r, struct tdm_buf *out)
{
	for (size_t i = 0; i < r->in.input_count; i++)
		for (size_t k = 0; k < r->in.inputs[i].runs.count; k++) {
			const struct tdm_phase_run *run = &r->in.inputs[i].runs.runs[k];
			if (tdm_phase_run_is_measured(run))
				tdm_phase_run_print(run, out);
			else
				fprintf(stderr, "tidemark phases: %s are left out: a mark has no peak\n", run->name);
		}
}

static void print_report(const struct request *r, const struct tdm_phases_report *report, const struct tdm_term *term,
	struct tdm_buf *out)
{
	if (r->json) {
		struct tdm_json json;
		tdm_json_init(&json, out);
		tdm_json_envelope(&json, "tidemark.phases");
		tdm_json_key(&json, "phases");
		tdm_phases_json(report, &json);
		tdm_json_object_end(&json);
		tdm_buf_putc(out, '\n');
	} else if (r->print) {
		print_summaries(r, out);
	} else {
		tdm_phases_text(report, term, out);
	}
}

static void say_left_out(size_t count, const char *which)
{
	if (count != 0)
		fprintf(stderr, "tidemark phases: %zu run%s %s %s not in the chart\n", count, count == 1 ? "" : "s",
			which, count == 1 ? "is" : "are");
}

/* The chart behind the report, or into its file. */
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
	struct tdm_term term = tdm_term_detect(STDOUT_FILENO);
	struct tdm_buf out;
	if (run_count(r) == 0 && !r->json)
		return TDM_EXIT_USAGE; /* why was said */
	term.utf8 = term.utf8 && !r->ascii;
	tdm_buf_init(&out);
	print_report(r, &report, &term, &out);
	int code = run_count(r) != 0 && r->has_chart ? draw_chart(r, &report, &term, &out) : 0;
	code = tdm_cmd_print(r->cmd, &out, code);
	tdm_buf_done(&out);
	return code == TDM_EXIT_OK && r->in.failed ? TDM_EXIT_USAGE : code;
}

static int cmd_phases_run(struct tdm_args *args)
{
	struct request r = { .cmd = args->cmd,
		.in.cmd = args->cmd,
		.options = { .device_memory_bytes = TDM_BYTES_UNKNOWN,
			.model_bytes = TDM_BYTES_UNKNOWN,
			.optimizer_bytes = TDM_BYTES_UNKNOWN,
			.gradients_bytes = TDM_BYTES_UNKNOWN } };
	int code = read_options(args, &r);
	code = code != 0 ? code : tdm_phase_inputs_read(&r.in);
	code = code != 0 ? code : analyze_inputs(&r);
	code = code != 0 ? code : show(&r);
	tdm_phase_inputs_done(&r.in);
	return code;
}

static const struct tdm_opt phases_opts[] = {
	[OPT_LOGS] = { "logs", 'l', "FILE",
		"log of tt-train with one or more memory summaries; may be repeated; - is standard input" },
	[OPT_PID] = { "pid", 'p', "PID",
		"phases that this process records, or recorded, in its ledger; may be repeated" },
	[OPT_CAPTURE] = { "capture", 0, "NAME=FILE",
		"graph capture of one phase; repeated, the captures are the phases of one run" },
	[OPT_DIR] = { "dir", 0, "DIR", "where the ledgers are, instead of $TIDEMARK_DIR or /dev/shm" },
	[OPT_DEVICE_MEMORY] = { "device_memory", 0, "BYTES",
		"memory of the device, in bytes or as 12GiB; default: what the input says, else 12 GiB" },
	[OPT_MODEL_SIZE] = { "model_size", 0, "BYTES",
		"expected size of the model; default: its parameters times 2 bytes" },
	[OPT_OPTIMIZER_SIZE] = { "optimizer_size", 0, "BYTES",
		"expected size of the optimizer's state; default: twice the model" },
	[OPT_GRADIENTS_SIZE] = { "gradients_size", 0, "BYTES",
		"expected size of the gradients; default: that of the model" },
	[OPT_USE_ACTUAL_SIZES] = { "use_actual_sizes", 0, NULL,
		"divide the peak by measured sizes of model and optimizer instead of expected ones" },
	[OPT_VISUALIZE_PEAK] = { "visualize_peak", 0, NULL,
		"write the chart of peaks to a file, memory_peak_visualization.png without --output" },
	[OPT_CHART] = { "chart", 'c', "peak|time",
		"draw the parts of the peaks, or memory over the phases; on the terminal without --output" },
	[OPT_TITLE] = { "title", 't', "TEXT", "title of the chart" },
	[OPT_OUTPUT] = { "output", 'o', "FILE", "file for the chart; its name ends in .png, .svg or .pdf" },
	[OPT_SIZE] = { "size", 0, "WIDTHxHEIGHT", "size of the chart in pixels, 1200x675 by default" },
	[OPT_SCALE] = { "scale", 0, "NUMBER", "scale of the chart: 2 for screens of twice the resolution" },
	[OPT_PRINT] = { "print", 0, NULL,
		"print the phases exactly as tt-train's print_memory_usage does, and nothing else" },
	[OPT_JSON] = { "json", 'j', NULL, "print everything as JSON, sizes in bytes" },
	[OPT_ASCII] = { "ascii", 0, NULL, "draw with ASCII characters only" },
	{ NULL, 0, NULL, NULL },
};

static const struct tdm_example phases_examples[] = {
	{ "tidemark phases --logs train.log", "each phase, theory against measurement, whether it fits" },
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
	.summary = "memory by training phase: theory against measurement, charts, what would fit",
	.usage = "--logs FILE [--device_memory BYTES] [--visualize_peak | --chart peak|time] [--output FILE]\n"
		 "--pid PID | LEDGER [...]\n"
		 "--capture NAME=FILE...",
	.description =
		"Reads the memory summaries that tt-train prints (several in one file are several runs), the phases "
		"that libtidemark recorded in the ledger of a process, alive or dead, or a graph capture for each "
		"phase. "
		"For each run it shows every phase; the sizes of model, optimizer and gradients beside what theory "
		"expects of them; activations, "
		"the overhead of the backward pass and the rest; and whether the peak fits the device. If it does not, "
		"it says how far gradient checkpointing, a smaller batch or gradient accumulation would have to go.\n"
		"\n"
		"Phases called FORWARD_PASS_micro_N and BACKWARD_PASS_micro_N, and names that repeat, are added up as "
		"micro-batches; peaks and activations are then the largest of them. The options are those of "
		"tt-train's analyze_memory.py; --device-memory is the same as --device_memory. A figure that cannot be "
		"read is reported with its place, its phase is left out, and the rest goes on. An input that cannot be "
		"used at all gives exit code 2, after the others were shown; \"does not fit\" is an answer with exit "
		"code 0.",
	.opts = phases_opts,
	.examples = phases_examples,
	.run = cmd_phases_run,
};
