/* `tidemark info`: shows what files say about memory. */
#include "base/err.h"
#include "cli/cmd_list.h"
#include "cli/info_paths.h"
#include "cli/info_view.h"
#include "cli/options.h"

#include <stdio.h>

enum { LIMIT_DEFAULT = 10 };

struct info {
	bool json, ascii;
	uint64_t limit;
	struct tdm_info_picture picture;
};

/* Checks options that only make sense together. */
static int check_picture(const struct tdm_args *args, const struct info *info)
{
	const struct tdm_info_picture *picture = &info->picture;
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

static int show_path(struct tdm_info_request *request, const char *path)
{
	int failed, err = tdm_input_open(path, &request->input);
	if (request->json != NULL) {
		tdm_json_object(request->json);
		tdm_json_put_text(request->json, "file", err == 0 ? tdm_input_name(request->input) : path);
	}
	if (err == 0) {
		failed = tdm_info_show(request);
	} else {
		char reason[256];
		snprintf(reason, sizeof reason, "cannot be read: %s", tdm_err_text(err));
		request->input = tdm_input_memory(path, "", 0); /* for its name */
		failed = request->input != NULL ? tdm_info_refuse_file(request, reason) : 1;
	}
	if (request->json != NULL)
		tdm_json_object_end(request->json);
	tdm_input_close(request->input);
	return failed;
}

static void find_paths(struct tdm_info_paths *paths, const struct tdm_args *args)
{
	struct tdm_buf why;
	tdm_buf_init(&why);
	for (int i = 0; i < args->positional_count; i++, tdm_buf_clear(&why)) {
		tdm_info_paths_add(paths, args->positional[i], &why);
		if (why.len != 0)
			tdm_cmd_say("%s", why.data);
	}
	tdm_buf_done(&why);
}

/* Shows all paths. Returns whether anything failed. */
static bool show_paths(struct tdm_info_request *request, const struct tdm_info_paths *paths)
{
	bool failed = false;
	for (size_t i = 0; i < paths->count; i++) {
		failed = show_path(request, paths->at[i]) != 0 || failed;
		if (request->json != NULL || request->out->len == 0)
			continue;
		if (i + 1 < paths->count)
			tdm_buf_putc(request->out, '\n');
		failed = tdm_cmd_print(request->cmd, request->out, 0) != 0 || failed;
		fflush(stdout); /* keeps the next file's messages on standard error after it */
		tdm_buf_clear(request->out);
	}
	return failed;
}

static int cmd_info_run(struct tdm_args *args)
{
	struct info info = { .limit = LIMIT_DEFAULT };
	struct tdm_answer answer;
	struct tdm_info_paths paths = { 0 };
	int err = read_options(args, &info);
	if (err != 0)
		return err;
	find_paths(&paths, args);
	tdm_answer_begin(&answer, args->cmd, info.json);
	struct tdm_info_request request = {
		.cmd = args->cmd,
		.limit = info.limit != 0 && info.limit < SIZE_MAX ? (size_t)info.limit : SIZE_MAX,
		.term = tdm_cmd_term(info.ascii, false),
		.json = info.json ? &answer.json : NULL,
		.out = &answer.out,
		.picture = info.picture,
	};
	if (info.json)
		tdm_json_array(&answer.json);
	bool is_one = info.picture.path == NULL || paths.count == 1; /* a folder may have many */
	if (!is_one)
		tdm_cmd_usage_error(args->cmd, "--output takes the chart of one file");
	bool failed = !is_one || show_paths(&request, &paths) || paths.no_memory || paths.unvisited;
	if (info.json)
		tdm_json_array_end(&answer.json);
	tdm_info_paths_done(&paths);
	return tdm_answer_end(&answer, failed ? TDM_EXIT_USAGE : TDM_EXIT_OK);
}

static const struct tdm_opt info_opts[] = {
	{ TDM_OPT_JSON(struct info, json) },
	{ "limit", 'n', "N", "print at most N rows of each table; 0 prints all (default: 10)",
		TDM_TAKE_NUMBER(struct info, limit, 0, 0) },
	{ "chart", 0, "dram|l1|cores",
		"draw a graph capture or a report of ttnn: DRAM or the L1 of a core over its nodes or operations, or "
		"L1 core by core at the peak",
		TDM_TAKE_CHOICE(struct info, picture.chart) },
	{ TDM_OPT_CHART_PATH(struct info, picture.path) },
	{ TDM_OPT_CHART_TITLE(struct info, picture.title) },
	{ TDM_OPT_CHART_SIZE(struct info, picture.size) },
	{ TDM_OPT_CHART_SCALE(struct info, picture.size) },
	{ TDM_OPT_ASCII(struct info, ascii) },
	{ 0 },
};

static const struct tdm_example info_examples[] = {
	{ "tidemark info capture.json", "peaks, what was alive at them, and which operations used most" },
	{ "tidemark info --chart cores -o cores.png capture.json", "a picture of L1 core by core at its peak" },
	{ "tidemark info --json *.json", "the same for several files, for scripts" },
	{ "tidemark info generated/ttnn/reports/1234", "a report of ttnn: memory after each operation" },
	{ "tidemark info generated/reports/*.csv", "regions, fragmentation and what splits free space" },
	{ "tidemark info ~/.cache/tt-metal-cache", "code size by processor and kernel" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_info = {
	.name = "info",
	.summary = "show what a file says about memory: captures, reports, logs, kernels",
	.usage = "[--json] [--limit N] FILE...\n"
		 "--chart dram|l1|cores [-o FILE] CAPTURE|REPORT...",
	.description =
		"Recognises what a file is and summarises it. Known files are graph captures of the runtime (ttnn "
		"graph tracing), of every generation; ttnn's reports of operations, which ttnn-visualizer shows "
		"(db.sqlite, or its folder); the three files of its memory reporter; performance reports of "
		"operations (ops_perf_results), for the cost of circular buffers; the inspector's log of mesh buffers "
		"and its list of kernels; compiled kernels, as a file or a folder of the runtime's cache; lines such "
		"as 'Core (0,1): CB0=1024KB' in any log; and logs: training runs are shown by phase, like 'tidemark "
		"phases', others like 'tidemark log'. Files may be compressed with gzip, xz or zstd, and may be "
		"UTF-16. For a folder without compiled kernels, every recognised file in it is shown.\n"
		"\n"
		"For a graph capture it shows two sets of figures: those that the runtime's own functions compute, to "
		"the byte, and the correct ones, which treat each device separately, take the highest of any one core, "
		"count no bytes for views, and take peaks of the sum at one moment. Where the two differ it says why, "
		"in bytes.\n"
		"\n"
		"For a report of ttnn it shows what was alive when each kind of memory was fullest after an operation, "
		"what is never released, and the operations. Such a report has the bytes of one bank; what all banks "
		"take is shown where their number is known. Nothing is written beside the report, and a program that "
		"still writes it is not disturbed.\n"
		"\n"
		"Records that cannot be used are reported on standard error, with node and byte; the rest is shown. "
		"The exit code is then 2.",
	.opts = info_opts,
	.examples = info_examples,
	.run = cmd_info_run,
};
