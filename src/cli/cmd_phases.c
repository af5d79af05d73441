/* `tidemark phases`: training phases from logs, ledgers and captures; theory against measurement; charts. */
#include "base/err.h"
#include "base/term.h"
#include "cli/cmd_list.h"
#include "cli/phase_capture.h"
#include "ledger/ledger_list.h"
#include "ledger/reader.h"
#include "report/phases_report.h"
#include "sources/ledger_phases.h"
#include "sources/train_log.h"

#include <errno.h>
#include <fcntl.h>
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

enum { INPUTS_MAX = 1024 };

static const char default_output[] = "memory_peak_visualization.png";

/* One thing to read, in the order of the command line. */
struct wanted {
	const char *path;
	int32_t pid; /* 0: `path` is meant */
};

struct request {
	const struct tdm_cmd *cmd;
	struct wanted wanted[INPUTS_MAX];
	size_t wanted_count;
	const char *captures[INPUTS_MAX]; /* NAME=FILE, all of one run */
	size_t capture_count;
	const char *dir;
	struct tdm_phases_options options;
	bool json, print, ascii, has_chart, visualize;
	struct tdm_phases_picture picture;

	struct tdm_phases_input *inputs;
	struct tdm_train_log *logs; /* beside the inputs: what was refused in them */
	char **paths;               /* of ledgers that were found; owned */
	size_t input_count, input_cap;
	bool failed; /* an input could not be used; the others were */
};

static int want(struct request *r, const char *path, int32_t pid)
{
	if (r->wanted_count == INPUTS_MAX)
		return tdm_cmd_usage_error(r->cmd, "at most %d inputs", INPUTS_MAX);
	r->wanted[r->wanted_count++] = (struct wanted){ path, pid };
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
	if (r->capture_count == INPUTS_MAX)
		return tdm_cmd_usage_error(r->cmd, "at most %d captures", INPUTS_MAX);
	r->captures[r->capture_count++] = value;
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

static bool is_side(double side)
{
	return side >= TDM_PLOT_SIDE_MIN && side <= TDM_PLOT_SIDE_MAX;
}

static int take_picture_size(struct request *r, const char *value)
{
	struct tdm_plot_options *size = &r->picture.size;
	char *end;
	size->width = strtod(value, &end);
	size->height = *end == 'x' ? strtod(end + 1, &end) : 0;
	if (*end != '\0' || !is_side(size->width) || !is_side(size->height))
		return tdm_cmd_usage_error(r->cmd, "--size '%s': expected WIDTHxHEIGHT, each from %d to %d", value,
			TDM_PLOT_SIDE_MIN, TDM_PLOT_SIDE_MAX);
	return 0;
}

static int take_scale(struct request *r, const char *value)
{
	char *end;
	r->picture.size.scale = strtod(value, &end);
	if (*end != '\0' || !(r->picture.size.scale >= 0.25 && r->picture.size.scale <= 8))
		return tdm_cmd_usage_error(r->cmd, "--scale '%s': expected a number from 0.25 to 8", value);
	return 0;
}

static int take_option(struct request *r, int option, const char *value)
{
	struct tdm_phases_options *o = &r->options;
	switch (option) {
	case OPT_LOGS:
		return want(r, value, 0);
	case OPT_PID:
		return take_pid(r, value);
	case OPT_CAPTURE:
		return take_capture(r, value);
	case OPT_DIR:
		r->dir = value;
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
		return take_picture_size(r, value);
	case OPT_SCALE:
		return take_scale(r, value);
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
	enum tdm_plot_format format;
	struct tdm_diag diag = { 0 };
	if (r->visualize && r->has_chart && r->picture.chart != TDM_PHASES_CHART_PEAK)
		return tdm_cmd_usage_error(r->cmd, "--visualize_peak is --chart peak: one chart at a time");
	if (r->visualize && r->picture.path == NULL)
		r->picture.path = default_output;
	r->has_chart |= r->visualize || r->picture.path != NULL;
	if (r->has_chart && r->picture.path == NULL && (r->json || r->print))
		return tdm_cmd_usage_error(r->cmd, "--chart with --%s needs --output FILE", r->json ? "json" : "print");
	if (r->picture.path != NULL && tdm_plot_format_of(r->picture.path, &format, &diag) != 0)
		return tdm_cmd_usage_error(r->cmd, "--output %s", diag.text);
	return 0;
}

static int read_options(struct tdm_args *args, struct request *r)
{
	const char *value = NULL;
	int option;
	while ((option = tdm_args_next(args, &value)) >= 0) {
		int err = take_option(r, option, value);
		if (err != 0)
			return err;
	}
	if (option == TDM_ARGS_ERROR)
		return TDM_EXIT_USAGE;
	for (int i = 0; i < args->positional_count; i++)
		if (want(r, args->positional[i], 0) != 0)
			return TDM_EXIT_USAGE;
	if (r->wanted_count + r->capture_count == 0)
		return tdm_cmd_usage_error(
			r->cmd, "which runs? --logs FILE, a ledger's path, --pid PID or --capture NAME=FILE");
	if (r->print && r->json)
		return tdm_cmd_usage_error(r->cmd, "--print and --json exclude each other");
	return settle_picture(r);
}

/* An input at the end, empty; NULL with a message when out of memory. */
static struct tdm_phases_input *new_input(struct request *r)
{
	if (r->input_count == r->input_cap) {
		size_t cap = r->input_cap != 0 ? r->input_cap * 2 : 16;
		struct tdm_phases_input *inputs = realloc(r->inputs, cap * sizeof *inputs);
		r->inputs = inputs != NULL ? inputs : r->inputs;
		struct tdm_train_log *logs = realloc(r->logs, cap * sizeof *logs);
		r->logs = logs != NULL ? logs : r->logs;
		char **paths = realloc(r->paths, cap * sizeof *paths);
		r->paths = paths != NULL ? paths : r->paths;
		if (inputs == NULL || logs == NULL || paths == NULL) {
			tdm_cmd_error(r->cmd, "out of memory");
			return NULL;
		}
		r->input_cap = cap;
	}
	r->inputs[r->input_count] = (struct tdm_phases_input){ 0 };
	r->logs[r->input_count] = (struct tdm_train_log){ 0 };
	r->paths[r->input_count] = NULL;
	return &r->inputs[r->input_count++];
}

static void fail(struct request *r, const char *path, const char *why)
{
	tdm_cmd_error(r->cmd, "%s: %s", path, why);
	r->failed = true;
}

static void report_refused(const struct tdm_train_log *log)
{
	char text[TDM_DIAG_TEXT_CAP * 2];
	uint64_t shown =
		log->refused_count < TDM_TRAIN_LOG_REFUSED_MAX ? log->refused_count : TDM_TRAIN_LOG_REFUSED_MAX;
	for (uint64_t i = 0; i < shown; i++)
		fprintf(stderr, "%s\n", tdm_diag_format(&log->refused[i], text, sizeof text));
	if (log->refused_count > shown)
		fprintf(stderr, "%" PRIu64 " further places were refused\n", log->refused_count - shown);
}

/* Why a log has nothing to show, and what to do about it. */
static void explain_nothing(struct request *r, const char *name, const struct tdm_train_log *log)
{
	fail(r, name,
		log->lines == 0 ? "the file is empty"
				: "no memory usage summary in it; train_nanogpt.py prints one with --track_memory, and "
				  "so does\n"
				  "  any program that calls MemoryUsageTracker's print_memory_usage()");
}

static int read_log(struct request *r, const char *path)
{
	bool is_stdin = strcmp(path, "-") == 0;
	const char *name = is_stdin ? "standard input" : path;
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		fail(r, name, tdm_err_text(-errno));
		return 0;
	}
	struct tdm_phases_input *input = new_input(r);
	if (input == NULL)
		return TDM_EXIT_USAGE;
	struct tdm_train_log *log = &r->logs[r->input_count - 1];
	int err = tdm_train_log_read(fd, name, log);
	if (!is_stdin)
		close(fd);
	input->source = "train_log";
	input->path = name;
	if (err != 0) {
		fail(r, name, err == -EFBIG ? "too many summaries or phases" : tdm_err_text(err));
		tdm_phase_runs_done(&log->runs);
	} else if (log->runs.count == 0) {
		explain_nothing(r, name, log);
	}
	report_refused(log);
	input->runs = log->runs;
	log->runs = (struct tdm_phase_runs){ 0 };
	input->refused_count = log->refused_count;
	return 0;
}

static int read_ledger(struct request *r, const char *path)
{
	struct tdm_phases_input *input = new_input(r);
	struct tdm_diag diag = { 0 };
	if (input == NULL)
		return TDM_EXIT_USAGE;
	char *copy = strdup(path);
	if (copy == NULL)
		return tdm_cmd_error(r->cmd, "out of memory");
	r->paths[r->input_count - 1] = copy;
	input->source = "ledger";
	input->path = copy;
	if (tdm_ledger_phases_read(path, &input->runs, &diag) != 0)
		fail(r, path, diag.text);
	else if (input->runs.count == 0)
		fail(r, path,
			"no phases in it; a program records them with tidemark_capture_begin() and "
			"tidemark_capture_snapshot(), "
			"or\n  with MemoryUsageTracker");
	return 0;
}

struct search {
	struct request *request;
	int32_t pid;
	size_t found;
	int err;
};

/* A ledger is named after its process: tidemark.PID.START.GENERATION. */
static void look_at(void *context, const char *path)
{
	struct search *search = context;
	const char *name = strrchr(path, '/');
	name = name != NULL ? name + 1 : path;
	const char *number = name + strlen(TDM_LEDGER_PREFIX);
	if (search->err != 0 || !tdm_ledger_is_name(name) || strtol(number, NULL, 10) != search->pid)
		return;
	search->found++;
	search->err = read_ledger(search->request, path);
}

static int read_pid(struct request *r, int32_t pid)
{
	struct search search = { r, pid, 0, 0 };
	int err = tdm_ledger_list(r->dir, look_at, &search);
	if (err != 0) {
		fail(r, tdm_ledger_dir(r->dir), tdm_err_text(err));
	} else if (search.found == 0) {
		tdm_cmd_error(r->cmd,
			"process %" PRId32
			" has no ledger in %s: it is not tracked, or its ledger is elsewhere (--dir)",
			pid, tdm_ledger_dir(r->dir));
		r->failed = true;
	}
	return search.err;
}

/* All captures together are one run, in the order they were given. One that fails is left out, and what follows it
 * does not know what was in use before it. */
static int read_captures(struct request *r)
{
	struct tdm_phases_input *input = new_input(r);
	struct tdm_phase_run *run = input != NULL ? tdm_phase_runs_add(&input->runs, tdm_str_of("captures")) : NULL;
	if (run == NULL)
		return tdm_cmd_error(r->cmd, "out of memory");
	input->source = "capture";
	for (size_t i = 0; i < r->capture_count; i++) {
		const char *equals = strchr(r->captures[i], '='), *path = equals + 1;
		struct tdm_str name = { r->captures[i], (size_t)(equals - r->captures[i]) };
		struct tdm_diag diag = { 0 };
		uint64_t refused = 0;
		if (tdm_phase_capture_read(path, name, run, &refused, &diag) != 0) {
			fail(r, path, diag.text);
			run->incomplete = run->peak_so_far = true;
		}
		if (refused != 0)
			fprintf(stderr,
				"tidemark phases: %s: %" PRIu64
				" nodes make no sense; they count as they do for the runtime\n",
				path, refused);
		input->refused_count += refused;
	}
	if (run->phase_count == 0)
		tdm_phase_runs_done(&input->runs);
	return 0;
}

static int read_inputs(struct request *r)
{
	if (r->capture_count != 0 && read_captures(r) != 0)
		return TDM_EXIT_USAGE;
	for (size_t i = 0; i < r->wanted_count; i++) {
		const struct wanted *w = &r->wanted[i];
		int err = w->pid != 0                                                         ? read_pid(r, w->pid)
			  : strcmp(w->path, "-") != 0 && tdm_ledger_phases_is_ledger(w->path) ? read_ledger(r, w->path)
											      : read_log(r, w->path);
		if (err != 0)
			return err;
	}
	return 0;
}

static int analyze_inputs(struct request *r)
{
	for (size_t i = 0; i < r->input_count; i++) {
		struct tdm_phases_input *input = &r->inputs[i];
		uint64_t refused = r->logs[i].refused_count;
		input->refused = r->logs[i].refused;
		input->refused_shown =
			refused < TDM_TRAIN_LOG_REFUSED_MAX ? (size_t)refused : TDM_TRAIN_LOG_REFUSED_MAX;
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
	for (size_t i = 0; i < r->input_count; i++)
		count += r->inputs[i].runs.count;
	return count;
}

/* As tt-train prints them. Marks have no figures to print. */
static void print_summaries(const struct request *r, struct tdm_buf *out)
{
	for (size_t i = 0; i < r->input_count; i++)
		for (size_t k = 0; k < r->inputs[i].runs.count; k++) {
			const struct tdm_phase_run *run = &r->inputs[i].runs.runs[k];
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

/* The chart behind the report, or into its file. */
static int draw_chart(const struct request *r, const struct tdm_phases_report *report, const struct tdm_term *term,
	struct tdm_buf *out)
{
	struct tdm_diag diag = { 0 };
	size_t left_out = 0;
	if (r->picture.path == NULL)
		tdm_buf_putc(out, '\n');
	if (tdm_phases_draw(report, &r->picture, term, out, &left_out, &diag) != 0)
		return tdm_cmd_error(r->cmd, "%s", diag.text);
	if (left_out != 0)
		fprintf(stderr, "tidemark phases: %zu run%s with other phases than the first %s not in the chart\n",
			left_out, left_out == 1 ? "" : "s", left_out == 1 ? "is" : "are");
	if (r->picture.path != NULL) {
		const char *fonts = tdm_plot_missing_fonts();
		if (fonts != NULL)
			fprintf(stderr, "tidemark phases: %s\n", fonts);
		fprintf(stderr, "tidemark phases: the chart is in %s\n", r->picture.path);
	}
	return 0;
}

static int show(struct request *r)
{
	struct tdm_phases_report report = { r->inputs, r->input_count };
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
	return code == TDM_EXIT_OK && r->failed ? TDM_EXIT_USAGE : code;
}

static void request_done(struct request *r)
{
	for (size_t i = 0; i < r->input_count; i++) {
		tdm_phase_runs_done(&r->inputs[i].runs);
		tdm_train_log_done(&r->logs[i]);
		free(r->inputs[i].results);
		free(r->paths[i]);
	}
	free(r->inputs);
	free(r->logs);
	free(r->paths);
}

static int cmd_phases_run(struct tdm_args *args)
{
	struct request r = { .cmd = args->cmd,
		.options = { .device_memory_bytes = TDM_BYTES_UNKNOWN,
			.model_bytes = TDM_BYTES_UNKNOWN,
			.optimizer_bytes = TDM_BYTES_UNKNOWN,
			.gradients_bytes = TDM_BYTES_UNKNOWN } };
	int code = read_options(args, &r);
	code = code != 0 ? code : read_inputs(&r);
	code = code != 0 ? code : analyze_inputs(&r);
	code = code != 0 ? code : show(&r);
	request_done(&r);
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
		"Reads the memory summaries that tt-train prints (several in one file are several runs), or the phases "
		"that "
		"libtidemark recorded in the ledger of a process, alive or dead. For each run it shows every phase; "
		"the sizes of "
		"model, optimizer and gradients beside what theory expects of them; activations, the overhead of the "
		"backward "
		"pass and the rest; and whether the peak fits the device. If it does not, it says how far gradient "
		"checkpointing, a smaller batch or gradient accumulation would have to go.\n"
		"\n"
		"Phases called FORWARD_PASS_micro_N and BACKWARD_PASS_micro_N, and names that repeat, are added up as "
		"micro-batches; peaks and activations are then the largest of them. The options are those of "
		"tt-train's "
		"analyze_memory.py; --device-memory is the same as --device_memory. A figure that cannot be read is "
		"reported "
		"with its place, its phase is left out, and the rest goes on. An input that cannot be used at all "
		"gives exit "
		"code 2, after the others were shown; \"does not fit\" is an answer with exit code 0.",
	.opts = phases_opts,
	.examples = phases_examples,
	.run = cmd_phases_run,
};
