/* `tidemark pressure`: how tight circular buffers are, the model's predictions, and better settings. */
#include "analyze/report/perf_waits.h"
#include "base/err.h"
#include "base/memory.h"
#include "cli/inputs/baseline.h"
#include "cli/commands/cmd_list.h"
#include "cli/options/options.h"
#include "model/card/bank.h"
#include "input/door/format.h"
#include "view/chart/result_charts.h"
#include "view/write/write.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MESH_MAX = 1024 };

struct request {
	const struct tdm_cmd *cmd;
	const char *card_name, *card_file, *format_name, *fit_path, *operation;
	struct tdm_texts sets;
	bool json, ascii, chart;
	struct tdm_plot_picture picture;
	struct tdm_baseline baseline;
	struct tdm_pressure_report report;
	/* Derived from the options. */
	struct tdm_card card;
	struct tdm_core_speed speed;
	struct tdm_cb_pattern pattern;
	struct tdm_perf_waits waits;
	struct tdm_model_fit fit;
};

static int take_mesh(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	struct tdm_pressure_setup *setup = to;
	const char *x = strchr(value, 'x');
	uint64_t rows = 0, columns = 0;
	struct tdm_str left = { value, x != NULL ? (size_t)(x - value) : 0 };
	if (x == NULL || tdm_str_parse_u64(left, &rows) != 0 || tdm_str_parse_u64(tdm_str_of(x + 1), &columns) != 0 ||
		rows - 1 >= MESH_MAX || columns - 1 >= MESH_MAX)
		return tdm_cmd_usage_error(cmd, "--%s '%s': expected ROWSxCOLUMNS, each from 1 to %d, such as 1x2",
			opt->name, value, MESH_MAX);
	setup->mesh_rows = (uint32_t)rows;
	setup->mesh_columns = (uint32_t)columns;
	return 0;
}

static int read_tiles(const struct request *r, const char *text, uint64_t *tiles)
{
	if (tdm_str_parse_u64(tdm_str_of(text), tiles) != 0 || *tiles == 0 || *tiles > TDM_PRESSURE_TILES_MAX)
		return tdm_cmd_usage_error(
			r->cmd, "'%s' is not a number of tiles from 1 to %" PRIu64, text, TDM_PRESSURE_TILES_MAX);
	return 0;
}

static int add_size(struct request *r, uint64_t a, uint64_t b)
{
	struct tdm_pressure_report *report = &r->report;
	uint64_t(*sizes)[2] = report->sizes;
	size_t at = report->size_count;
	if (at == TDM_PRESSURE_SIZES_MAX)
		return tdm_cmd_usage_error(r->cmd, "at most %d sizes", TDM_PRESSURE_SIZES_MAX);
	while (at != 0 && sizes[at - 1][1] >= b) /* ascending, without duplicates */
		at--;
	if (at < report->size_count && sizes[at][1] == b)
		return 0;
	memmove(&sizes[at + 1], &sizes[at], (report->size_count++ - at) * sizeof *sizes);
	sizes[at][0] = a;
	sizes[at][1] = b;
	return 0;
}

static int read_sizes(struct request *r, const struct tdm_args *args)
{
	struct tdm_pressure_report *report = &r->report;
	uint64_t tiles[2] = { 0 };
	int code = 0, count = args->positional_count;
	bool is_multi = report->is_multi;
	if (report->pattern_path != NULL)
		return count != 0 || is_multi
			       ? tdm_cmd_usage_error(r->cmd, "a pattern has its own sizes: leave out A, B and --multi")
			       : 0;
	for (int i = 0; i < count && is_multi && code == 0; i++) {
		code = read_tiles(r, args->positional[i], &tiles[0]);
		code = code != 0 ? code : add_size(r, tiles[0], tiles[0]);
	}
	if (is_multi || (count == 0 && report->explain))
		return code;
	if (count != 2)
		return tdm_cmd_usage_error(r->cmd,
			"how many tiles? A and B, as in 'tidemark pressure 16 16'; or --multi, "
			"or --pattern FILE");
	code = read_tiles(r, args->positional[0], &tiles[0]);
	code = code != 0 ? code : read_tiles(r, args->positional[1], &tiles[1]);
	return code != 0 ? code : add_size(r, tiles[0], tiles[1]);
}

static int make_card(struct request *r)
{
	struct tdm_diag diag = { 0 };
	char text[TDM_DIAG_TEXT_CAP * 2];
	const char *name = r->card_name != NULL ? r->card_name : TDM_CARD_DEFAULT;
	if ((r->card_name != NULL || r->card_file == NULL) &&
		tdm_card_init(&r->card, tdm_str_of(name), NULL, &diag) != 0)
		return tdm_cmd_error(r->cmd, "%s", diag.text);
	if (r->card_file != NULL && tdm_card_load(&r->card, r->card_file, &diag) != 0)
		return tdm_cmd_error(r->cmd, "%s", tdm_diag_format(&diag, text, sizeof text));
	return 0;
}

/* A setting is either a constant of the model or a field of the card. */
static int apply_set(struct request *r, const char *set)
{
	struct tdm_diag diag = { 0 };
	struct tdm_str name, value, text = tdm_str_of(set);
	bool is_card = tdm_card_assignment_split(text, &name, &value) && tdm_card_setting_find(name) >= 0;
	int err = is_card ? tdm_card_set(&r->card, text, &diag) : tdm_core_speed_set(&r->speed, text, &diag);
	if (err != 0)
		return tdm_cmd_error(r->cmd, "--set %s: column %" PRIu64 ": %s", set, diag.column, diag.text);
	return 0;
}

static int make_world(struct request *r)
{
	struct tdm_pressure_report *report = &r->report;
	struct tdm_diag diag = { 0 };
	char text[TDM_DIAG_TEXT_CAP * 2];
	int code = make_card(r);
	if (code != 0)
		return code;
	tdm_core_speed_init(&r->speed, r->card.arch);
	if (report->pattern_path != NULL && tdm_pattern_load(report->pattern_path, &r->pattern, &r->speed, &diag) != 0)
		return tdm_cmd_error(r->cmd, "%s", tdm_diag_format(&diag, text, sizeof text));
	for (size_t i = 0; i < r->sets.count && code == 0; i++)
		code = apply_set(r, r->sets.list[i]);
	if (code == 0 && tdm_card_check(&r->card, &diag) != 0)
		code = tdm_cmd_error(r->cmd, "card '%s': %s", r->card.name, diag.text);
	const char *name = r->format_name != NULL ? r->format_name : TDM_PRESSURE_FORMAT;
	const struct tdm_data_format *format = tdm_data_format_find(tdm_str_of(name));
	if (code == 0 && (format == NULL || format->tile_bytes == 0))
		return tdm_cmd_usage_error(
			r->cmd, "--format '%s' has no tiles; fp32, bf16 and bfp8 do: see 'tidemark device show'", name);
	if (code == 0 && r->format_name != NULL && report->pattern_path != NULL)
		return tdm_cmd_usage_error(r->cmd, "a pattern has its own formats: leave out --format");
	if (code != 0)
		return code;
	uint64_t pages = tdm_card_get(&r->card, TDM_CARD_CB_MAX_PAGES);
	for (size_t i = 0; i < r->pattern.buffer_count; i++) {
		const struct tdm_pattern_buffer *b = &r->pattern.buffers[i];
		if (b->pages > pages)
			return tdm_cmd_error(r->cmd,
				"%s:%" PRIu64 ": buffer %" PRIu32 " has %" PRIu32 " pages, and %s allows %" PRIu64,
				report->pattern_path, b->line, b->index, b->pages, r->card.full_name, pages);
	}
	report->format = format->name;
	report->setup.tile_bytes = format->tile_bytes;
	report->setup.card = &r->card;
	report->setup.speed = &r->speed;
	report->setup.pattern = report->pattern_path != NULL ? &r->pattern : NULL;
	return 0;
}

static int read_waits(struct request *r)
{
	struct tdm_intake reading = {
		.to = &r->waits, .take = tdm_perf_waits_take, .say = tdm_cmd_say_diag, .noun = "rows"
	};
	int err = tdm_intake_open(&reading, r->fit_path);
	if (err != 0)
		return tdm_cmd_error(r->cmd, "%s: cannot be read: %s", r->fit_path, tdm_err_text(err));
	if (reading.format == NULL || strcmp(reading.format->name, "ops_perf_results") != 0) {
		tdm_input_close(reading.input);
		return tdm_cmd_error(r->cmd, "%s is not a performance report (ops_perf_results...csv)", r->fit_path);
	}
	tdm_intake_run(&reading);
	tdm_intake_end(&reading);
	tdm_input_close(reading.input);
	tdm_perf_waits_end(&r->waits);
	return reading.err != 0 ? TDM_EXIT_USAGE : 0;
}

/* Fits the model's constants to a measurement, for the pattern or for the first size with the constant strategy. */
static int fit_model(struct request *r)
{
	if (r->fit_path == NULL)
		return r->operation != NULL ? tdm_cmd_usage_error(r->cmd, "--operation is for --fit FILE") : 0;
	int code = read_waits(r);
	if (code != 0)
		return code;
	const char *pattern_path = r->report.pattern_path;
	if (pattern_path == NULL)
		return tdm_cmd_usage_error(r->cmd, "--fit needs --pattern FILE, which says what the operation does");
	const struct tdm_perf_operation *op = tdm_model_fit_operation(&r->waits, r->operation);
	if (op == NULL)
		return tdm_cmd_error(r->cmd,
			"%s: no call%s%s has kernel time and both waits. The profiler measures waits if "
			"TT_METAL_PROFILER_SUM=1 "
			"is set while the program runs",
			r->fit_path, r->operation != NULL ? " of " : "", r->operation != NULL ? r->operation : "");
	if (tdm_model_fit(&r->pattern, op, &r->speed, &r->fit) != 0)
		return tdm_cmd_error(r->cmd,
			"%s deadlocks, so there are no times to fit: leave out --fit to see who waits", pattern_path);
	r->fit.refused = r->waits.refused;
	r->report.fit = &r->fit;
	return 0;
}

/* Prints the result and, if requested, a chart below it. Sentences and tables are folded in pipes, too. */
static int print(struct request *r, const struct tdm_result *result)
{
	const struct tdm_pressure_report *report = &r->report;
	struct tdm_term term = tdm_cmd_term(r->ascii, false);
	struct tdm_diag diag = { 0 };
	struct tdm_answer answer;
	int code = 0;
	term.folds = true;
	tdm_answer_begin(&answer, r->cmd, r->json);
	if (r->json)
		tdm_write_json(&result->top, &answer.json);
	else
		tdm_write_text(&result->top, &term, &answer.out);
	r->picture.term = &term;
	if (report->count != 0 && (r->picture.path != NULL || ((report->is_multi || r->chart) && !r->json))) {
		if (r->picture.path == NULL)
			tdm_buf_putc(&answer.out, '\n');
		if (tdm_pressure_draw(report, &r->picture, &answer.out, &diag) != 0)
			code = tdm_cmd_error(r->cmd, "%s", diag.text);
		else if (r->picture.path != NULL)
			tdm_chart_said(r->cmd, r->picture.path);
	}
	return tdm_answer_end(&answer, code);
}

/* A deadlock, or buffers that do not fit, are normal results; only a grown budget sets an exit code. */
static int run_request(struct request *r, struct tdm_args *args)
{
	struct tdm_pressure_report *report = &r->report;
	int code = tdm_args_read(args, r);
	code = code != 0 ? code : read_sizes(r, args);
	code = code != 0 ? code : make_world(r);
	code = code != 0 ? code : fit_model(r);
	if (code != 0)
		return code;
	tdm_pressure_run(report);
	report->baseline = r->baseline.path;
	code = tdm_baseline_compare(r->cmd, &r->baseline, &report->budgets, &report->found);
	report->is_as_baseline = r->baseline.is_same;
	if (code != 0)
		return code;
	struct tdm_result *result = tdm_result_new();
	tdm_pressure_show(&result->top, report);
	code = tdm_baseline_save(r->cmd, &r->baseline, result);
	code = code != 0 ? code : print(r, result);
	tdm_result_free(result);
	return code;
}

static int cmd_pressure_run(struct tdm_args *args)
{
	struct request *r = tdm_zalloc(1, sizeof *r);
	r->cmd = args->cmd;
	r->report.setup.mesh_rows = TDM_PRESSURE_MESH_ROWS;
	r->report.setup.mesh_columns = TDM_PRESSURE_MESH_COLUMNS;
	int code = run_request(r, args);
	tdm_pressure_report_done(&r->report);
	tdm_pattern_done(&r->pattern);
	tdm_perf_waits_done(&r->waits);
	code = tdm_baseline_end(&r->baseline, code);
	free(r);
	return code;
}

static const struct tdm_opt pressure_opts[] = {
	{ "card", 'c', "CARD", "the card (default: n150)", TDM_TAKE_TEXT(struct request, card_name) },
	{ "card-file", 'f', "FILE", "read the card, or overrides for it, from FILE",
		TDM_TAKE_TEXT(struct request, card_file) },
	{ "format", 0, "FORMAT", "tile format, such as bf16 or bfp8 (default: fp32, 4096 bytes a tile)",
		TDM_TAKE_TEXT(struct request, format_name) },
	{ "mesh", 0, "ROWSxCOLUMNS", "devices that share the A tiles (default: 1x2)",
		TDM_INTO(take_mesh, struct request, report.setup, struct tdm_pressure_setup) },
	{ "l1-used", 0, "BYTES", "L1 used by L1 buffers on each core and not available for circular buffers",
		TDM_TAKE_BYTES(struct request, report.setup.l1_used) },
	{ "multi", 0, NULL, "compare workload sizes: the given sizes, or 4, 8, 16, 20, 32 and 64 tiles, with a chart",
		TDM_TAKE_FLAG(struct request, report.is_multi) },
	{ "pattern", 'p', "FILE", "buffers and kernels from a pattern file instead of the addition of A and B",
		TDM_TAKE_TEXT(struct request, report.pattern_path) },
	{ "explain-model", 0, NULL, "also print every constant of the model with its source",
		TDM_TAKE_FLAG(struct request, report.explain) },
	{ "set", 's', "NAME=VALUE", "override a constant of the model or a figure of the card; may be repeated",
		TDM_TAKE_TEXTS(struct request, sets) },
	{ "fit", 0, "FILE", "fit the model to the waits in a performance report (ops_perf_results...csv)",
		TDM_TAKE_TEXT(struct request, fit_path) },
	{ "operation", 0, "NAME", "the operation of --fit (default: the one that waits longest)",
		TDM_TAKE_TEXT(struct request, operation) },
	{ TDM_OPT_BASELINE(struct request, baseline) },
	{ TDM_OPT_SAVE(struct request, baseline) },
	{ "chart", 0, NULL, "draw throughput over bytes; --multi always draws the scores",
		TDM_TAKE_FLAG(struct request, chart) },
	{ TDM_OPT_CHART_TITLE(struct request, picture.title) },
	{ TDM_OPT_CHART_PATH(struct request, picture.path) },
	{ TDM_OPT_CHART_SIZE(struct request, picture.size) },
	{ TDM_OPT_CHART_SCALE(struct request, picture.size) },
	{ TDM_OPT_JSON(struct request, json) },
	{ TDM_OPT_ASCII(struct request, ascii) },
	{ 0 },
};

static const struct tdm_help_row pressure_examples[] = {
	{ "tidemark pressure 16 16", "16 A tiles and 16 B tiles with each strategy" },
	{ "tidemark pressure --multi",
		"how pressure grows with the workload, and the size at which it becomes critical" },
	{ "tidemark pressure 64 64 --card p150 --format bf16", "another card and format" },
	{ "tidemark pressure --pattern matmul.cb --chart", "your own buffers and kernels, and the benefit of more L1" },
	{ "tidemark pressure --pattern matmul.cb --baseline main.json", "fail if an L1 budget has grown" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_pressure = {
	.name = "pressure",
	.summary = "show how tight circular buffers are, how fast the core runs with them, and which depths "
		   "would be better",
	.usage = "A B [--card CARD] [--format FORMAT] [--mesh ROWSxCOLUMNS]\n"
		 "--multi [TILES...]\n"
		 "--pattern FILE [--fit CSV [--operation NAME]]\n"
		 "--explain-model",
	.description =
		"A and B are the numbers of tiles in a distributed addition: each A tile is added to all B "
		"tiles. For each strategy of sizing the circular buffers, the command shows the tiles and "
		"bytes, the share of the B tiles that CB1 cannot hold, the used share of the buffers, the "
		"pressure score from 0 to 100, the thrashing risk, how well the sizes match the need, and the "
		"share of L1.\n\n  constant          four tiles each, whatever the workload\n  adaptive_guide    "
		"the adaptive rule printed in the analysis guide\n  adaptive_program  the rule computed by "
		"the program, limited to 48 KiB\n  advised           the smallest depths that reach 99 % of "
		"the best throughput in the model\n\nThe model simulates the kernels of one core and their "
		"circular buffers: reserve, push, wait and pop, transfers over the network, unpack, math and "
		"pack. The model predicts the tiles per second for each strategy, the reasons why each kernel "
		"waits, and the benefit of more L1. --explain-model lists the model's constants, which are "
		"measured, documented, derived, fitted or assumed. --set overrides any constant and any "
		"figure of the card.\n\nA pattern file describes other buffers and kernels; its format is in "
		"docs/formats/cb_pattern.md. With --fit, the model is fitted to an operation's measured "
		"waits. If the kernels deadlock, the output names the kernels that wait for each other. A "
		"deadlock, like buffers that do not fit, is a valid result: the exit code is still 0. The "
		"exit code is 1 if a baseline was given and a budget has grown.",
	.opts = pressure_opts,
	.examples = pressure_examples,
	.run = cmd_pressure_run,
};
