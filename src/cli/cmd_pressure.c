/* `tidemark pressure`: how tight circular buffers are, what the model says, and what would be better. */
#include "analyze/perf_waits.h"
#include "base/err.h"
#include "cli/baseline.h"
#include "cli/cmd_list.h"
#include "cli/options.h"
#include "device/card_set.h"
#include "report/pressure_report.h"
#include "sources/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { SIZES_MAX = 64, MESH_MAX = 1024, WARNINGS_MAX = 10 };

struct mesh {
	uint32_t rows, columns;
};

struct request {
	const struct tdm_cmd *cmd;
	const char *card_name, *card_file, *format_name, *pattern_path, *fit_path, *operation;
	struct mesh mesh;
	struct tdm_texts sets;
	uint64_t l1_used;
	bool json, ascii, multi, explain, chart;
	struct tdm_pressure_picture picture;
	struct tdm_baseline baseline;
	/* What they lead to. */
	struct tdm_card card;
	struct tdm_core_speed speed;
	const struct tdm_data_format *format;
	struct tdm_cb_pattern pattern;
	uint64_t sizes[SIZES_MAX][2]; /* tiles of A and B */
	size_t size_count;
	struct tdm_pressure_result *results;
	struct tdm_perf_waits waits;
	struct tdm_model_fit fit;
	bool has_fit;
	size_t warnings;
};

static int take_mesh(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	struct mesh *mesh = to;
	const char *x = strchr(value, 'x');
	uint64_t rows = 0, columns = 0;
	struct tdm_str left = { value, x != NULL ? (size_t)(x - value) : 0 };
	if (x == NULL || tdm_str_parse_u64(left, &rows) != 0 || tdm_str_parse_u64(tdm_str_of(x + 1), &columns) != 0 ||
		rows - 1 >= MESH_MAX || columns - 1 >= MESH_MAX)
		return tdm_cmd_usage_error(cmd, "--%s '%s': expected ROWSxCOLUMNS, each from 1 to %d, such as 1x2",
			opt->name, value, MESH_MAX);
	*mesh = (struct mesh){ (uint32_t)rows, (uint32_t)columns };
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
	size_t at = r->size_count;
	if (r->size_count == SIZES_MAX)
		return tdm_cmd_usage_error(r->cmd, "at most %d sizes", SIZES_MAX);
	while (at != 0 && r->sizes[at - 1][1] >= b) /* ascending, without repetitions */
		at--;
	if (at < r->size_count && r->sizes[at][1] == b)
		return 0;
	memmove(&r->sizes[at + 1], &r->sizes[at], (r->size_count - at) * sizeof *r->sizes);
	r->sizes[at][0] = a;
	r->sizes[at][1] = b;
	r->size_count++;
	return 0;
}

static int read_sizes(struct request *r, const struct tdm_args *args)
{
	uint64_t tiles[2] = { 0 };
	int code = 0, count = args->positional_count;
	if (r->pattern_path != NULL)
		return count != 0 || r->multi
			       ? tdm_cmd_usage_error(r->cmd, "a pattern has its own sizes: leave out A, B and --multi")
			       : 0;
	for (int i = 0; i < count && r->multi && code == 0; i++) {
		code = read_tiles(r, args->positional[i], &tiles[0]);
		code = code != 0 ? code : add_size(r, tiles[0], tiles[0]);
	}
	for (size_t i = 0; i < tdm_pressure_size_count && r->multi && count == 0; i++)
		add_size(r, tdm_pressure_sizes[i], tdm_pressure_sizes[i]);
	if (r->multi || (count == 0 && r->explain))
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
	const char *name = r->card_name != NULL ? r->card_name : TDM_PRESSURE_CARD;
	if ((r->card_name != NULL || r->card_file == NULL) &&
		tdm_card_init(&r->card, tdm_str_of(name), NULL, &diag) != 0)
		return tdm_cmd_error(r->cmd, "%s", diag.text);
	if (r->card_file != NULL && tdm_card_load(&r->card, r->card_file, &diag) != 0)
		return tdm_cmd_error(r->cmd, "%s", tdm_diag_format(&diag, text, sizeof text));
	return 0;
}

/* A setting is a constant of the model or a field of the card. */
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
	struct tdm_diag diag = { 0 };
	char text[TDM_DIAG_TEXT_CAP * 2];
	int code = make_card(r);
	if (code != 0)
		return code;
	tdm_core_speed_init(&r->speed, r->card.arch);
	if (r->pattern_path != NULL && tdm_pattern_load(r->pattern_path, &r->pattern, &r->speed, &diag) != 0)
		return tdm_cmd_error(r->cmd, "%s", tdm_diag_format(&diag, text, sizeof text));
	for (size_t i = 0; i < r->sets.count && code == 0; i++)
		code = apply_set(r, r->sets.list[i]);
	if (code == 0 && tdm_card_check(&r->card, &diag) != 0)
		code = tdm_cmd_error(r->cmd, "card '%s': %s", r->card.name, diag.text);
	const char *format = r->format_name != NULL ? r->format_name : TDM_PRESSURE_FORMAT;
	r->format = tdm_data_format_find(tdm_str_of(format));
	if (code == 0 && (r->format == NULL || r->format->tile_bytes == 0))
		return tdm_cmd_usage_error(r->cmd,
			"--format '%s' has no tiles; fp32, bf16 and bfp8 do: see 'tidemark device show'", format);
	if (code == 0 && r->format_name != NULL && r->pattern_path != NULL)
		return tdm_cmd_usage_error(r->cmd, "a pattern has its own formats: leave out --format");
	return code;
}

static int check_pattern(const struct request *r)
{
	uint64_t pages = tdm_card_get(&r->card, TDM_CARD_CB_MAX_PAGES);
	for (size_t i = 0; i < r->pattern.buffer_count; i++) {
		const struct tdm_pattern_buffer *b = &r->pattern.buffers[i];
		if (b->pages > pages)
			return tdm_cmd_error(r->cmd,
				"%s:%" PRIu64 ": buffer %" PRIu32 " has %" PRIu32 " pages, and %s allows %" PRIu64,
				r->pattern_path, b->line, b->index, b->pages, r->card.full_name, pages);
	}
	return 0;
}

static int take_record(void *to, const struct tdm_record *record)
{
	struct request *r = to;
	if (record->type == TDM_RECORD_REFUSED && r->warnings++ < WARNINGS_MAX) {
		char text[TDM_DIAG_TEXT_CAP * 2];
		struct tdm_diag named = *record->refused;
		named.file = r->fit_path;
		tdm_cmd_say("%s", tdm_diag_format(&named, text, sizeof text));
	}
	return tdm_perf_waits_take(&r->waits, record);
}

static int read_waits(struct request *r)
{
	struct tdm_input *input = NULL;
	struct tdm_diag diag = { .file = r->fit_path };
	char text[TDM_DIAG_TEXT_CAP * 2];
	int err = tdm_input_open(r->fit_path, &input);
	if (err != 0)
		return tdm_cmd_error(r->cmd, "%s: cannot be read: %s", r->fit_path, tdm_err_text(err));
	const struct tdm_format *format = tdm_format_of(input);
	const struct tdm_record_sink sink = { r, take_record };
	if (format == NULL || strcmp(format->name, "ops_perf_results") != 0) {
		tdm_input_close(input);
		return tdm_cmd_error(r->cmd, "%s is not a performance report (ops_perf_results...csv)", r->fit_path);
	}
	err = format->records(input, &sink, &diag);
	tdm_input_close(input);
	tdm_perf_waits_end(&r->waits);
	return err != 0 ? tdm_cmd_error(r->cmd, "%s", tdm_diag_format(&diag, text, sizeof text)) : 0;
}

/* Fits the constants to what was measured, for the pattern or the first size with its constant strategy. */
static int fit_model(struct request *r)
{
	if (r->fit_path == NULL)
		return r->operation != NULL ? tdm_cmd_usage_error(r->cmd, "--operation is for --fit FILE") : 0;
	if (tdm_perf_waits_init(&r->waits) != 0)
		return tdm_cmd_error(r->cmd, "out of memory");
	int code = read_waits(r);
	if (code != 0)
		return code;
	if (r->pattern_path == NULL)
		return tdm_cmd_usage_error(r->cmd, "--fit needs --pattern FILE, which says what the operation does");
	const struct tdm_perf_operation *op = tdm_model_fit_operation(&r->waits, r->operation);
	if (op == NULL)
		return tdm_cmd_error(r->cmd,
			"%s: no call%s%s has kernel time and both waits. The profiler measures waits if "
			"TT_METAL_PROFILER_SUM=1 "
			"is set while the program runs",
			r->fit_path, r->operation != NULL ? " of " : "", r->operation != NULL ? r->operation : "");
	int err = tdm_model_fit(&r->pattern, op, &r->speed, &r->fit);
	if (err == -EDEADLK)
		return tdm_cmd_error(r->cmd,
			"%s deadlocks, so there are no times to fit: leave out --fit to see who waits",
			r->pattern_path);
	if (err != 0)
		return tdm_cmd_error(r->cmd, "out of memory");
	r->fit.refused = r->waits.refused;
	r->has_fit = true;
	return 0;
}

static int analyze(struct request *r)
{
	size_t count = r->pattern_path != NULL ? 1 : r->size_count;
	struct tdm_progress progress;
	r->results = calloc(count + 1, sizeof *r->results);
	r->size_count = count;
	for (size_t i = 0; r->results != NULL && i < count; i++) {
		const struct tdm_pressure_setup setup = { .a_tiles = r->sizes[i][0],
			.b_tiles = r->sizes[i][1],
			.mesh_rows = r->mesh.rows,
			.mesh_columns = r->mesh.columns,
			.tile_bytes = r->format->tile_bytes,
			.card = &r->card,
			.speed = &r->speed,
			.pattern = r->pattern_path != NULL ? &r->pattern : NULL,
			.l1_used = r->l1_used,
			.progress = &progress };
		tdm_progress_begin(&progress, "searching depths", TDM_ADVICE_WORK);
		int err = tdm_pressure_analyze(&setup, &r->results[i]);
		tdm_progress_end(&progress);
		if (err != 0)
			return tdm_cmd_error(r->cmd, "out of memory");
	}
	return r->results == NULL ? tdm_cmd_error(r->cmd, "out of memory") : 0;
}

static void put_json(const void *report, struct tdm_json *json)
{
	tdm_pressure_json(report, json);
}

static int show(struct request *r, const struct tdm_pressure_report *report)
{
	struct tdm_term term = tdm_cmd_term(r->ascii, false);
	struct tdm_diag diag = { 0 };
	struct tdm_answer answer;
	int code = 0;
	tdm_answer_begin(&answer, r->cmd, r->json);
	if (r->json)
		tdm_pressure_json(report, &answer.json);
	else
		tdm_pressure_text(report, &term, &answer.out);
	bool draws = r->size_count != 0 && (r->picture.path != NULL || ((r->multi || r->chart) && !r->json));
	if (draws) {
		if (r->picture.path == NULL)
			tdm_buf_putc(&answer.out, '\n');
		if (tdm_pressure_draw(report, &r->picture, &term, &answer.out, &diag) != 0)
			code = tdm_cmd_error(r->cmd, "%s", diag.text);
		else if (r->picture.path != NULL)
			tdm_chart_said(r->cmd, r->picture.path);
	}
	return tdm_answer_end(&answer, code);
}

/* A deadlock or buffers that do not fit are answers; only a grown budget is an exit code. */
static int report_all(struct request *r)
{
	struct tdm_budgets budgets = { 0 };
	struct tdm_findings found = { 0 };
	int code = tdm_pressure_budgets(r->results, r->size_count, &budgets) != 0
			   ? tdm_cmd_error(r->cmd, "out of memory")
			   : 0;
	code = code != 0 ? code : tdm_baseline_compare(r->cmd, &r->baseline, &budgets, &found);
	const struct tdm_pressure_report report = { .results = r->results,
		.count = r->size_count,
		.is_multi = r->multi,
		.format = r->pattern_path != NULL ? NULL : r->format->name,
		.pattern_path = r->pattern_path,
		.speed = &r->speed,
		.explain = r->explain,
		.fit = r->has_fit ? &r->fit : NULL,
		.budgets = &budgets,
		.found = r->baseline.path != NULL ? &found : NULL,
		.baseline = r->baseline.path };
	code = code != 0 ? code : tdm_baseline_save(r->cmd, &r->baseline, put_json, &report);
	code = code != 0 ? code : show(r, &report);
	tdm_findings_done(&found);
	tdm_budgets_done(&budgets);
	return tdm_baseline_end(&r->baseline, code);
}

static int run_request(struct request *r, struct tdm_args *args)
{
	int code = tdm_args_read(args, r);
	code = code != 0 ? code : read_sizes(r, args);
	code = code != 0 ? code : make_world(r);
	code = code != 0 ? code : check_pattern(r);
	code = code != 0 ? code : fit_model(r);
	code = code != 0 ? code : analyze(r);
	code = code != 0 ? code : report_all(r);
	for (size_t i = 0; r->results != NULL && i < r->size_count; i++)
		tdm_pressure_done(&r->results[i]);
	free(r->results);
	tdm_pattern_done(&r->pattern);
	if (r->fit_path != NULL)
		tdm_perf_waits_done(&r->waits);
	return code;
}

static int cmd_pressure_run(struct tdm_args *args)
{
	struct request *r = calloc(1, sizeof *r);
	if (r == NULL)
		return tdm_cmd_error(args->cmd, "out of memory");
	r->cmd = args->cmd;
	r->mesh = (struct mesh){ TDM_PRESSURE_MESH_ROWS, TDM_PRESSURE_MESH_COLUMNS };
	int code = run_request(r, args);
	free(r);
	return code;
}

static const struct tdm_opt pressure_opts[] = {
	{ "card", 'c', "CARD", "the card (default: n150)", TDM_TAKE_TEXT(struct request, card_name) },
	{ "card-file", 'f', "FILE", "read the card, or overrides for it, from FILE",
		TDM_TAKE_TEXT(struct request, card_file) },
	{ "format", 0, "FORMAT", "format of the tiles, such as bf16 or bfp8 (default: fp32, 4096 bytes a tile)",
		TDM_TAKE_TEXT(struct request, format_name) },
	{ "mesh", 0, "ROWSxCOLUMNS", "devices that share the A tiles (default: 1x2)",
		TDM_INTO(take_mesh, struct request, mesh, struct mesh) },
	{ "l1-used", 0, "BYTES", "L1 that buffers take on each core, which is not left for circular buffers",
		TDM_TAKE_BYTES(struct request, l1_used) },
	{ "multi", 0, NULL,
		"compare sizes of the workload: those given, or 4, 8, 16, 20, 32 and 64 tiles, with a chart",
		TDM_TAKE_FLAG(struct request, multi) },
	{ "pattern", 'p', "FILE", "buffers and kernels from a pattern file instead of the addition of A and B",
		TDM_TAKE_TEXT(struct request, pattern_path) },
	{ "explain-model", 0, NULL, "also print every constant of the model, and where it comes from",
		TDM_TAKE_FLAG(struct request, explain) },
	{ "set", 's', "NAME=VALUE", "override a constant of the model or a figure of the card; may be repeated",
		TDM_TAKE_TEXTS(struct request, sets) },
	{ "fit", 0, "FILE", "fit the model to the waits in a performance report (ops_perf_results...csv)",
		TDM_TAKE_TEXT(struct request, fit_path) },
	{ "operation", 0, "NAME", "the operation of --fit (default: the one that waits longest)",
		TDM_TAKE_TEXT(struct request, operation) },
	{ TDM_OPT_BASELINE(struct request, baseline) },
	{ TDM_OPT_SAVE(struct request, baseline) },
	{ "chart", 0, NULL, "draw throughput over bytes; --multi draws the scores without being asked",
		TDM_TAKE_FLAG(struct request, chart) },
	{ TDM_OPT_CHART_TITLE(struct request, picture.title) },
	{ TDM_OPT_CHART_PATH(struct request, picture.path) },
	{ TDM_OPT_CHART_SIZE(struct request, picture.size) },
	{ TDM_OPT_CHART_SCALE(struct request, picture.size) },
	{ TDM_OPT_JSON(struct request, json) },
	{ TDM_OPT_ASCII(struct request, ascii) },
	{ 0 },
};

static const struct tdm_example pressure_examples[] = {
	{ "tidemark pressure 16 16", "16 A tiles and 16 B tiles with each strategy" },
	{ "tidemark pressure --multi", "how pressure grows with the workload, and where it becomes critical" },
	{ "tidemark pressure 64 64 --card p150 --format bf16", "another card and format" },
	{ "tidemark pressure --pattern matmul.cb --chart",
		"buffers and kernels of your own, and what more L1 would give" },
	{ "tidemark pressure --pattern matmul.cb --baseline main.json", "fail if an L1 budget has grown" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_pressure = {
	.name = "pressure",
	.summary = "show how tight circular buffers are, how fast they let a core run, and what depths would be better",
	.usage = "A B [--card CARD] [--format FORMAT] [--mesh ROWSxCOLUMNS]\n"
		 "--multi [TILES...]\n"
		 "--pattern FILE [--fit CSV [--operation NAME]]\n"
		 "--explain-model",
	.description = "A and B are the tiles of a distributed addition: each A tile is added to all B tiles. For each "
		       "way to choose "
		       "the sizes of its circular buffers this shows tiles and bytes, the share of the B tiles that "
		       "CB1 cannot hold, "
		       "how much of the buffers is used, the pressure score from 0 to 100 and the thrashing risk, how "
		       "well the sizes "
		       "match what is needed, and the share of L1.\n\n"
		       "  constant          four tiles each, whatever the workload\n"
		       "  adaptive_guide    the adaptive rule as the analysis guide prints it\n"
		       "  adaptive_program  the rule as the program computes it, which keeps to 48 KiB\n"
		       "  advised           the smallest that reach 99 % of the best throughput in the model\n\n"
		       "The model simulates the kernels of one core and their circular buffers: reserve, push, wait "
		       "and pop, transfers "
		       "over the network, unpack, math and pack. It says how many tiles per second each choice allows, "
		       "what every "
		       "kernel waits for, and what more L1 would buy. --explain-model lists its constants: measured, "
		       "documented, "
		       "derived, fitted or assumed. --set overrides any of them, and figures of the card.\n\n"
		       "A pattern file describes other buffers and kernels; its format is in "
		       "docs/formats/cb_pattern.md. With --fit, "
		       "the model is fitted to an operation's measured waits. A deadlock is shown with the kernels "
		       "that wait for each "
		       "other; it is an answer, like buffers that do not fit: the exit code is still 0. It is 1 if a "
		       "baseline was given "
		       "and a budget has grown.",
	.opts = pressure_opts,
	.examples = pressure_examples,
	.run = cmd_pressure_run,
};
