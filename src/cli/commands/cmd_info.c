/* `tidemark info`: shows what files contain about memory. */
#include "base/err.h"
#include "cli/commands/cmd_list.h"
#include "cli/inputs/info.h"
#include "cli/options/options.h"

#include <stdio.h>

enum { LIMIT_DEFAULT = 10 };

struct info {
	bool json, ascii;
	uint64_t limit;
	struct tdm_plot_picture picture;
};

/* Checks options that are valid only together. */
static int check_picture(const struct tdm_args *args, const struct info *info)
{
	const struct tdm_plot_picture *picture = &info->picture;
	if (picture->chart == TDM_INFO_CHART_NONE)
		return picture->path != NULL ? tdm_cmd_usage_error(args->cmd,
						       "--output is for a chart: which? --chart dram, l1 or cores")
					     : 0;
	if (picture->path == NULL && info->json)
		return tdm_cmd_usage_error(args->cmd, "--chart with --json needs --output FILE");
	return 0;
}

static int read_options(struct tdm_args *args, struct info *info)
{
	int code = tdm_args_read(args, info);
	if (code != 0)
		return code;
	if (args->positional_count == 0)
		return tdm_cmd_usage_error(args->cmd, "which file? - is standard input");
	return check_picture(args, info);
}

static bool show_path(struct tdm_info *info, const char *path, bool json, struct tdm_answer *answer)
{
	struct tdm_result *result = tdm_result_new();
	struct tdm_input *input = NULL;
	int err = tdm_input_open(path, &input);
	bool failed = err == 0 ? tdm_info_read(info, input, &result->top)
			       : tdm_info_refuse(info, &result->top, path,
					 tdm_result_printed(result, "cannot be read: %s", tdm_err_text(err)));
	if (json || (!info->is_empty && info->picture.chart == TDM_INFO_CHART_NONE))
		tdm_answer_put(answer, result, json, info->picture.term);
	tdm_result_free(result);
	tdm_input_close(input);
	return failed;
}

static void find_paths(struct tdm_info_paths *paths, const struct tdm_args *args)
{
	struct tdm_buf why = { 0 };
	for (int i = 0; i < args->positional_count; i++, tdm_buf_clear(&why)) {
		tdm_info_paths_add(paths, args->positional[i], &why);
		if (why.len != 0)
			tdm_cmd_say("%s", why.data);
	}
	tdm_buf_done(&why);
}

/* Shows all paths. Returns whether anything failed. */
static bool show_paths(struct tdm_info *info, const struct tdm_info_paths *paths, bool json, struct tdm_answer *answer)
{
	bool failed = false;
	for (size_t i = 0; i < paths->count; i++) {
		failed |= show_path(info, paths->at[i], json, answer);
		if (json || answer->out.len == 0)
			continue;
		if (i + 1 < paths->count)
			tdm_buf_putc(&answer->out, '\n');
		failed |= tdm_cmd_print(info->cmd, &answer->out, 0) != 0;
		fflush(stdout); /* puts the next file's messages on standard error after this output */
		tdm_buf_clear(&answer->out);
	}
	return failed;
}

static int cmd_info_run(struct tdm_args *args)
{
	struct info options = { .limit = LIMIT_DEFAULT };
	struct tdm_answer answer;
	struct tdm_info_paths paths = { 0 };
	int err = read_options(args, &options);
	if (err != 0)
		return err;
	find_paths(&paths, args);
	const struct tdm_term term = tdm_cmd_term(options.ascii, false);
	struct tdm_info info = {
		.cmd = args->cmd,
		.limit = options.limit != 0 && options.limit < SIZE_MAX ? (size_t)options.limit : SIZE_MAX,
		.picture = options.picture,
		.out = &answer.out,
		.say = tdm_cmd_say_diag,
	};
	info.picture.term = &term;
	tdm_answer_begin(&answer, args->cmd, options.json);
	if (options.json)
		tdm_json_array(&answer.json);
	bool is_one = options.picture.path == NULL || paths.count == 1; /* a folder may contain many files */
	if (!is_one)
		tdm_cmd_usage_error(args->cmd, "--output takes the chart of one file");
	bool failed = !is_one || show_paths(&info, &paths, options.json, &answer) || paths.unvisited;
	if (options.json)
		tdm_json_array_end(&answer.json);
	tdm_info_paths_done(&paths);
	return tdm_answer_end(&answer, failed ? TDM_EXIT_USAGE : TDM_EXIT_OK);
}

static const struct tdm_opt info_opts[] = {
	{ TDM_OPT_JSON(struct info, json) },
	{ "limit", 'n', "N", "print at most N rows of each table; 0 prints all (default: 10)",
		TDM_TAKE_NUMBER(struct info, limit, 0, 0) },
	{ "chart", 0, "dram|l1|cores",
		"draw a graph capture or a ttnn report: DRAM or one core's L1 over the nodes or operations, "
		"or L1 core by core at the peak",
		TDM_TAKE_CHOICE(struct info, picture.chart) },
	{ TDM_OPT_CHART_PATH(struct info, picture.path) },
	{ TDM_OPT_CHART_TITLE(struct info, picture.title) },
	{ TDM_OPT_CHART_SIZE(struct info, picture.size) },
	{ TDM_OPT_CHART_SCALE(struct info, picture.size) },
	{ TDM_OPT_ASCII(struct info, ascii) },
	{ 0 },
};

static const struct tdm_help_row info_examples[] = {
	{ "tidemark info capture.json", "peaks, the buffers live at each peak, and the operations that used most" },
	{ "tidemark info --chart cores -o cores.png capture.json", "a picture of L1 core by core at its peak" },
	{ "tidemark info --json *.json", "the same for several files, for scripts" },
	{ "tidemark info generated/ttnn/reports/1234", "a ttnn report: memory after each operation" },
	{ "tidemark info generated/reports/*.csv", "regions, fragmentation, and the buffers that split free space" },
	{ "tidemark info ~/.cache/tt-metal-cache", "code size by processor and kernel" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_info = {
	.name = "info",
	.summary = "show the memory facts in a file: captures, reports, logs, kernels",
	.usage = "[--json] [--limit N] FILE...\n"
		 "--chart dram|l1|cores [-o FILE] CAPTURE|REPORT...",
	.description = "Recognises the kind of each file and summarises it. Known files are:\n\n  graph captures of "
		       "the runtime (ttnn graph tracing), of every generation\n  ttnn operation reports, as shown by "
		       "ttnn-visualizer (db.sqlite, or its folder)\n  the three files written by ttnn's memory "
		       "reporter\n  operation performance reports (ops_perf_results): the cost of circular buffers\n  "
		       "the inspector's log of mesh buffers and its list of kernels\n  compiled kernels, as a file "
		       "or a folder in the runtime's cache\n  any log with lines such as 'Core (0,1): CB0=1024KB'\n  "
		       "logs: training runs as in 'tidemark phases', others as in 'tidemark log'\n\nFiles may be "
		       "compressed with gzip, xz or zstd, and may be UTF-16. For a folder without compiled kernels, "
		       "every recognised file in it is shown.\n\nFor a graph capture, the command shows two sets of "
		       "figures. The first set is computed exactly as by the runtime's own functions. The second set "
		       "is correct: it treats each device separately, uses the fullest core, counts no bytes for "
		       "views, and computes each peak from the sum at one moment. If the two sets differ, the "
		       "command gives the reasons, in bytes.\n\nFor a ttnn report, the command shows the buffers "
		       "that were live when each kind of memory was fullest after an operation, the buffers that are "
		       "never released, and the operations. A ttnn report contains only the bytes in one bank; the "
		       "bytes in all banks are shown if the number of banks is known. Nothing is written to the "
		       "report's folder, and a program still writing the report is not disturbed.\n\nUnusable "
		       "records are reported on standard error, with node and byte position, and the rest is shown. "
		       "In that case, the exit code is 2.",
	.opts = info_opts,
	.examples = info_examples,
	.run = cmd_info_run,
};
