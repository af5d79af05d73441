/* `tidemark info`: shows what files say about memory. */
#include "base/err.h"
#include "base/reserve.h"
#include "cli/cmd_list.h"
#include "cli/info_view.h"
#include "cli/options.h"
#include "sources/folder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { LIMIT_DEFAULT = 10, FOLDER_FILES_MAX = 1000 };

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

static const struct {
	const char *format, *name; /* name in JSON; NULL: the format's */
	tdm_info_run run;
	bool has_charts;
} views[] = {
	{ "graph_capture", NULL, tdm_info_capture, true },
	{ "ttnn_report", NULL, tdm_info_ttnn, true },
	{ "kernels", NULL, tdm_info_kernels, false },
	{ "memory_report", NULL, tdm_info_memory, false },
	{ "ops_perf_results", NULL, tdm_info_perf, false },
	{ "mesh_buffers", NULL, tdm_info_mesh_buffers, false },
	{ "programs", NULL, tdm_info_programs, false },
	{ "core_dump", NULL, tdm_info_cores, false },
	{ "log", NULL, tdm_info_log, false },
	{ "train_log", "log", tdm_info_train_log, false },
};
enum { VIEWS = sizeof views / sizeof *views };

static size_t view_of(const struct tdm_format *format)
{
	size_t i = 0;
	while (format != NULL && i < VIEWS && strcmp(views[i].format, format->name) != 0)
		i++;
	return format != NULL ? i : VIEWS;
}

/* Reports why a file cannot be shown. */
static int refuse(const struct tdm_info_request *request, const char *reason)
{
	if (request->json != NULL)
		tdm_json_put_text(request->json, "format", NULL);
	return tdm_info_refuse(request, reason);
}

static int refuse_format(const struct tdm_info_request *request)
{
	struct tdm_buf text;
	if (request->format != NULL && strcmp(request->format->name, "ledger") == 0)
		return refuse(request, tdm_input_packing(request->input) != NULL
					       ? "a packed ledger: unpack it for tidemark dump, status and phases"
					       : "a ledger: tidemark dump, status and phases read it");
	if (request->format != NULL && request->format->events != NULL)
		return refuse(request, "a trace of allocations: tidemark simulate replays it");
	tdm_buf_init(&text);
	tdm_buf_puts(&text, "not a kind of file that is known here (");
	for (size_t i = 0; i < VIEWS; i++)
		if (views[i].name == NULL)
			tdm_buf_printf(&text, "%s%s", i == 0 ? "" : ", ", tdm_format_find(views[i].format)->summary);
	tdm_buf_putc(&text, ')');
	int failed = refuse(request, tdm_buf_failed(&text) ? "not a kind of file that is known here" : text.data);
	tdm_buf_done(&text);
	return failed;
}

static int show_input(struct tdm_info_request *request)
{
	struct tdm_input *input = request->input;
	struct tdm_diag diag = { 0 };
	if (tdm_input_is_folder(input)) {
		request->format = tdm_format_find("kernels");
	} else {
		if (tdm_input_head(input).len == 0) {
			snprintf(diag.text, sizeof diag.text, "cannot be read: %s", tdm_input_why(input));
			return refuse(request, tdm_input_why(input)[0] != '\0' ? diag.text : "the file is empty");
		}
		if (tdm_format_search(input, &request->format, &diag) != 0)
			return refuse(request, diag.text);
	}
	size_t view = view_of(request->format);
	if (view == VIEWS)
		return refuse_format(request);
	if (request->json != NULL)
		tdm_json_put_text(
			request->json, "format", views[view].name != NULL ? views[view].name : request->format->name);
	if (request->picture.chart != TDM_INFO_CHART_NONE && !views[view].has_charts) {
		tdm_cmd_say("%s: charts are drawn of graph captures and reports of ttnn, this is a %s",
			tdm_input_name(input), request->format->summary);
		return 1;
	}
	return views[view].run(request);
}

static int show_path(struct tdm_info_request *request, const char *path)
{
	int failed, err = tdm_input_open(path, &request->input);
	if (request->json != NULL) {
		tdm_json_object(request->json);
		tdm_json_put_text(request->json, "file", err == 0 ? tdm_input_name(request->input) : path);
	}
	if (err == 0) {
		failed = show_input(request);
	} else {
		char reason[256];
		snprintf(reason, sizeof reason, "cannot be read: %s", tdm_err_text(err));
		request->input = tdm_input_memory(path, "", 0); /* for its name */
		failed = request->input != NULL ? refuse(request, reason) : 1;
	}
	if (request->json != NULL)
		tdm_json_object_end(request->json);
	tdm_input_close(request->input);
	return failed;
}

/* The paths to show: as given, but a folder with reports is replaced by its files. */
struct paths {
	char **at; /* owned */
	size_t count, cap;
	size_t room; /* how many more a folder may add */
	bool no_memory, is_cut, unvisited;
};

static void add_path(struct paths *paths, const char *path)
{
	char *copy = strdup(path);
	if (copy == NULL || tdm_reserve(&paths->at, &paths->cap, paths->count + 1, sizeof *paths->at) != 0) {
		free(copy);
		paths->no_memory = true;
		return;
	}
	paths->at[paths->count++] = copy;
}

/* Adds what was found in a folder. 0, or a negative code when there is no room. */
static int add_found(struct paths *paths, const char *path)
{
	paths->is_cut = paths->room == 0;
	if (paths->is_cut)
		return -ECANCELED;
	paths->room--;
	add_path(paths, path);
	return paths->no_memory ? -ENOMEM : 0;
}

/* Adds a file of a folder if its beginning (for a log, its name) tells what it is, or if it cannot be read: showing it
 * then says why. */
static int visit_file(void *context, int folder, const char *name, const char *path)
{
	struct paths *paths = context;
	struct tdm_input *input = NULL;
	bool is_wanted = tdm_input_open(path, &input) != 0;
	(void)folder;
	if (!is_wanted) {
		const struct tdm_format *format = tdm_format_of(input);
		is_wanted = format == NULL ? tdm_input_why(input)[0] != '\0'
					   : view_of(format) != VIEWS && !format->takes_folders &&
						     (strcmp(format->name, "log") != 0 || strstr(name, ".log") != NULL);
	}
	tdm_input_close(input);
	return is_wanted ? add_found(paths, path) : 0;
}

static int visit_refused(void *context, const struct tdm_diag *diag)
{
	return add_found(context, diag->file);
}

static int stop_at_kernel(void *context, const struct tdm_record *record)
{
	bool *found = context;
	*found |= record->type == TDM_RECORD_BINARY;
	return *found ? -ECANCELED : 0;
}

/* A folder with compiled kernels is shown as a whole; otherwise every report in it is shown, if there are any. */
static void add_folder(struct paths *paths, struct tdm_input *folder)
{
	const struct tdm_folder_visitor visitor = { paths, visit_file, visit_refused };
	const char *path = tdm_input_name(folder);
	size_t before = paths->count;
	struct tdm_walk_rest rest = { 0 };
	struct tdm_diag diag = { 0 };
	bool has_kernels = false;
	tdm_format_find("kernels")->records(folder, &(struct tdm_record_sink){ &has_kernels, stop_at_kernel }, &diag);
	paths->room = FOLDER_FILES_MAX;
	paths->is_cut = false;
	if (!has_kernels)
		tdm_folder_walk(path, &visitor, &rest);
	if (paths->count == before)
		add_path(paths, path);
	if (paths->is_cut)
		tdm_cmd_say("%s: only the first %d files are shown", path, FOLDER_FILES_MAX);
	else if (rest.unvisited != 0)
		tdm_cmd_say("%s: not all of it is shown: %" PRIu64 " folder%s too deep, or beyond %d entries", path,
			rest.unvisited, rest.unvisited == 1 ? "" : "s", TDM_WALK_ENTRIES);
	paths->unvisited |= rest.unvisited != 0;
}

static void find_paths(struct paths *paths, const struct tdm_args *args)
{
	for (int i = 0; i < args->positional_count; i++) {
		const char *path = args->positional[i];
		struct tdm_input *input = NULL;
		struct stat st;
		bool is_folder = strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
		if (is_folder && tdm_input_open(path, &input) == 0)
			add_folder(paths, input);
		else
			add_path(paths, path);
		tdm_input_close(input);
	}
}

/* Shows all paths. Returns whether anything failed. */
static bool show_paths(struct tdm_info_request *request, const struct paths *paths)
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
	struct paths paths = { .count = 0 };
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
	for (size_t i = 0; i < paths.count; i++)
		free(paths.at[i]);
	free(paths.at);
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
