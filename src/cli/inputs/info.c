#include "cli/inputs/info.h"
#include "analyze/pressure/cb_pattern.h"
#include "analyze/report/report_analyser.h"
#include "base/memory.h"
#include "cli/options/options.h"
#include "input/door/format.h"
#include "scan/scan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FOLDER_FILES_MAX = 1000 };

/* ---- a file ---- */

static bool is(const struct tdm_format *format, const char *name)
{
	return format != NULL && strcmp(format->name, name) == 0;
}

static void say(const struct tdm_info *info, const char *name, const char *why)
{
	struct tdm_diag diag = { 0 };
	tdm_diag_set(&diag, 0, 0, 0, "%s", why);
	diag.file = name;
	info->say(info->hearer, &diag);
}

static bool refuse(struct tdm_info *info, struct tdm_block *in, const struct tdm_input *input, const char *why)
{
	tdm_data(in, "error", tdm_value_text(tdm_result_printed(in->result, "%s", why)));
	say(info, tdm_input_name(input), why);
	info->is_empty = true;
	return true;
}

bool tdm_info_refuse(struct tdm_info *info, struct tdm_block *in, const char *path, const char *why)
{
	tdm_data_all(in, TDM_VALUES({ "file", tdm_value_text(path) }, { "format", tdm_value_text(NULL) },
				 { "error", tdm_value_text(tdm_result_printed(in->result, "%s", why)) }));
	say(info, path, why);
	info->is_empty = true;
	return true;
}

/* The reason why a file whose format has no analyser is not shown. */
static const char *why_not(struct tdm_result *result, struct tdm_input *input, const struct tdm_format *format)
{
	if (is(format, "ledger"))
		return tdm_input_packing(input) != NULL
			       ? "a packed ledger: unpack it for tidemark dump, status and phases"
			       : "a ledger: tidemark dump, status and phases read it";
	if (format != NULL && format->events != NULL)
		return "a trace of allocations: tidemark simulate replays it";
	struct tdm_buf text = { 0 };
	for (size_t i = 0; tdm_report_analysers[i] != &tdm_train_report; i++)
		tdm_buf_printf(&text, "%s%s", i == 0 ? "not a kind of file that is known here (" : ", ",
			tdm_format_find(tdm_report_analysers[i]->format)->summary);
	tdm_buf_putc(&text, ')');
	return tdm_arena_buf(&result->arena, &text).ptr;
}

/* The reason why nothing was found in a file of this format. Any text may be a log. */
static const char *why_nothing(struct tdm_input *input, const struct tdm_format *format)
{
	static const char printed[] = "\n[{'"; /* a graph as printed by Python, possibly after other output */
	struct tdm_str head = tdm_str_trim(tdm_input_head(input));
	if (is(format, "train_log"))
		return "a memory usage summary is named in it, but there is none";
	if (!is(format, "log"))
		return "no file in this folder is of a kind that is known here";
	while (head.len != 0 && *head.ptr == '\n')
		head = tdm_str_trim(tdm_str_from(head, 1));
	if (tdm_str_begins(head, printed + 1) || tdm_str_find(head, printed) != NULL)
		return "a graph capture as Python prints it, not JSON: write it with json.dump(graph, file), or end "
		       "the capture with ttnn.graph.end_graph_capture_to_file(path)";
	return head.len != 0 && (*head.ptr == '{' || *head.ptr == '[')
		       ? "JSON, but not a graph capture: that is an array of nodes, or an object with one under "
			 "\"graph\""
		       : "text that says nothing about memory: no line of the runtime's log, no summary of a training "
			 "run";
}

/* Draws the chart of a capture or a ttnn report. Returns whether that failed. */
static bool draw(const struct tdm_info *info, const struct tdm_input *input, const void *state, bool is_capture)
{
	const struct tdm_capture_summary *capture = state;
	struct tdm_diag diag = { 0 };
	int err = is_capture
			  ? tdm_info_capture_draw(&capture->exact, &capture->course, &info->picture, info->out, &diag)
			  : tdm_operations_draw(state, &info->picture, info->out, &diag);
	diag.file = tdm_input_name(input);
	if (err != 0)
		info->say(info->hearer, &diag);
	else if (info->picture.path != NULL)
		tdm_chart_said(info->cmd, info->picture.path);
	return err != 0;
}

/* Passes the input's records to the analyser, whose state lives as long as the result. */
static bool analyse(struct tdm_info *info, struct tdm_input *input, const struct tdm_format *format,
	const struct tdm_report_analyser *analyser, struct tdm_block *in)
{
	bool has_chart = info->picture.chart != TDM_INFO_CHART_NONE, failed = false;
	void *state = tdm_zalloc(1, analyser->size);
	struct tdm_intake reading = { .input = input,
		.format = format,
		.noun = analyser->noun,
		.to = state,
		.take = analyser->take,
		.say = info->say,
		.hearer = info->hearer };
	tdm_result_keep(in->result, state, free);
	tdm_result_keep(in->result, state, analyser->done);
	if (analyser->init != NULL)
		analyser->init(state, &reading);
	if (analyser == &tdm_capture_report)
		((struct tdm_capture_summary *)state)->has_course = has_chart;
	tdm_intake_run(&reading);
	if (analyser->end != NULL)
		analyser->end(state);
	info->is_empty = !analyser->show(state, &reading, info->limit, in);
	info->is_unrelated = info->is_empty && reading.err == 0 && analyser == &tdm_log_report;
	if (info->is_unrelated || (info->is_empty && reading.err == 0 && reading.refused == 0))
		return refuse(info, in, input, why_nothing(input, format));
	if (reading.err != 0)
		tdm_data(in, "error", tdm_value_text(tdm_result_printed(in->result, "%s", reading.diag.text)));
	if (has_chart && !info->is_empty)
		failed = draw(info, input, state, analyser == &tdm_capture_report);
	return tdm_intake_end(&reading) || failed;
}

bool tdm_info_read(struct tdm_info *info, struct tdm_input *input, struct tdm_block *in)
{
	const struct tdm_format *format = NULL;
	struct tdm_diag diag = { 0 };
	info->is_empty = info->is_unrelated = false;
	if (tdm_input_is_folder(input))
		format = tdm_format_find("kernels");
	else if (tdm_input_head(input).len == 0 && tdm_input_why(input)[0] != '\0')
		tdm_diag_set(&diag, -EIO, 0, 0, "cannot be read: %s", tdm_input_why(input));
	else if (tdm_input_head(input).len == 0)
		tdm_diag_set(&diag, -EIO, 0, 0, "the file is empty");
	else
		tdm_format_search(input, &format, &diag);
	const struct tdm_report_analyser *analyser = diag.text[0] == '\0' ? tdm_report_analyser_of(format) : NULL;
	const char *name = analyser == NULL ? NULL : analyser == &tdm_train_report ? "log" : analyser->format;
	tdm_data_all(
		in, TDM_VALUES({ "file", tdm_value_text(tdm_input_name(input)) }, { "format", tdm_value_text(name) }));
	if (analyser == NULL)
		return refuse(info, in, input, diag.text[0] != '\0' ? diag.text : why_not(in->result, input, format));
	if (info->picture.chart != TDM_INFO_CHART_NONE && analyser != &tdm_capture_report &&
		analyser != &tdm_operation_report)
		return refuse(info, in, input,
			tdm_result_printed(in->result,
				"charts are drawn of graph captures and reports of ttnn, this is a %s",
				format->summary));
	return analyse(info, input, format, analyser, in);
}

/* ---- files in folders ---- */

static void add_path(struct tdm_info_paths *paths, const char *path)
{
	tdm_grow(&paths->at, &paths->cap, paths->count + 1, sizeof *paths->at);
	paths->at[paths->count++] = tdm_strdup(path);
}

/* Adds a file found in a folder. 0, or a negative code when there is no room. */
static int add_found(struct tdm_info_paths *paths, const char *path)
{
	paths->is_cut = paths->room == 0;
	if (paths->is_cut)
		return -ECANCELED;
	paths->room--;
	add_path(paths, path);
	return 0;
}

static bool is_wanted_format(const struct tdm_info_paths *paths, const struct tdm_format *format, const char *name)
{
	if (tdm_report_analyser_of(format) == NULL)
		return paths->with_all && (format->events != NULL || is(format, "ledger"));
	return !format->takes_folders && (!is(format, "log") || strstr(name, ".log") != NULL);
}

/* Adds a file from a folder if the file's beginning (for a log, its name) identifies the format. Unreadable files are
 * added, too, so that showing them reports the reason. */
static int visit(void *to, int folder, const char *name, const char *path, const struct tdm_diag *refused)
{
	struct tdm_info_paths *paths = to;
	struct tdm_input *input = NULL;
	(void)folder;
	if (refused != NULL)
		return add_found(paths, refused->file);
	if (paths->with_all && tdm_scan_is_source(name))
		return 0; /* `report` scans the whole folder */
	if (paths->with_all && tdm_pattern_is_file(name))
		return add_found(paths, path);
	bool is_wanted = tdm_input_open(path, &input) != 0;
	if (!is_wanted) {
		const struct tdm_format *format = tdm_format_of(input);
		is_wanted = format == NULL ? tdm_input_why(input)[0] != '\0' : is_wanted_format(paths, format, name);
	}
	tdm_input_close(input);
	paths->other += !is_wanted;
	return is_wanted ? add_found(paths, path) : 0;
}

static int stop_at_kernel(void *context, const struct tdm_record *record)
{
	bool *found = context;
	*found |= record->type == TDM_RECORD_BINARY;
	return *found ? -ECANCELED : 0;
}

/* A folder with compiled kernels is shown as a whole; otherwise, every report in the folder is shown. */
static void add_folder(struct tdm_info_paths *paths, struct tdm_input *folder, struct tdm_buf *why)
{
	const char *path = tdm_input_name(folder);
	size_t before = paths->count;
	struct tdm_walk_rest rest = { 0 };
	struct tdm_diag diag = { 0 };
	bool has_kernels = false;
	tdm_format_find("kernels")->records(folder, &(struct tdm_record_sink){ &has_kernels, stop_at_kernel }, &diag);
	paths->room = FOLDER_FILES_MAX;
	paths->is_cut = false;
	if (!has_kernels)
		tdm_folder_walk(path, &rest, visit, paths);
	if (paths->count == before && !paths->may_be_empty)
		add_path(paths, path);
	paths->other += rest.links;
	paths->unvisited |= rest.unvisited != 0;
	if (paths->is_cut)
		tdm_buf_printf(why, "%s: only the first %d files are shown", path, FOLDER_FILES_MAX);
	else if (rest.unvisited != 0)
		tdm_buf_printf(why, "%s: not all of it is shown: %" PRIu64 " folder%s too deep, or beyond %d entries",
			path, rest.unvisited, rest.unvisited == 1 ? "" : "s", TDM_WALK_ENTRIES);
}

void tdm_info_paths_add(struct tdm_info_paths *paths, const char *path, struct tdm_buf *why)
{
	struct tdm_input *input = NULL;
	struct stat st;
	paths->other = 0;
	bool is_folder = strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	if (is_folder && tdm_input_open(path, &input) == 0)
		add_folder(paths, input, why);
	else
		add_path(paths, path);
	tdm_input_close(input);
}

void tdm_info_paths_done(struct tdm_info_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		free(paths->at[i]);
	free(paths->at);
}
