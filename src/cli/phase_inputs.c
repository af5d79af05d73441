#include "cli/phase_inputs.h"
#include "analyze/capture_stock.h"
#include "analyze/operation_memory.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/reserve.h"
#include "ledger/ledger_dir.h"
#include "ledger/reader.h"
#include "sources/follower.h"
#include "sources/format.h"
#include "sources/ledger_phases.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Appends an empty input; NULL with a message if out of memory. `path` may be NULL. */
static struct tdm_phases_input *new_input(struct tdm_phase_inputs *r, const char *source, const char *path)
{
	size_t count = r->input_count, caps[] = { r->input_cap, r->input_cap };
	char *copy = path != NULL ? strdup(path) : NULL;
	if ((copy == NULL) != (path == NULL) ||
		tdm_reserve(&r->inputs, &r->input_cap, count + 1, sizeof *r->inputs) != 0 ||
		tdm_reserve(&r->logs, &caps[0], count + 1, sizeof *r->logs) != 0 ||
		tdm_reserve(&r->paths, &caps[1], count + 1, sizeof *r->paths) != 0) {
		free(copy);
		tdm_cmd_error(r->cmd, "out of memory");
		return NULL;
	}
	r->paths[count] = copy;
	r->logs[count] = (struct tdm_phase_log){ .file = copy };
	r->inputs[count] = (struct tdm_phases_input){ .source = source, .path = copy };
	return &r->inputs[r->input_count++];
}

static void fail(struct tdm_phase_inputs *r, const char *path, const char *why)
{
	tdm_cmd_error(r->cmd, "%s: %s", path, why);
	r->failed = true;
}

static void report_refused(const struct tdm_phase_log *log)
{
	char text[TDM_DIAG_TEXT_CAP * 2];
	for (size_t i = 0; i < log->refused_kept; i++)
		tdm_cmd_say("%s", tdm_diag_format(&log->refused[i], text, sizeof text));
	if (log->refused_count > log->refused_kept)
		fprintf(stderr, "%" PRIu64 " further places were refused\n", log->refused_count - log->refused_kept);
}

static int read_log(struct tdm_phase_inputs *r, struct tdm_input *in)
{
	struct tdm_phases_input *input = new_input(r, "train_log", tdm_input_name(in));
	struct tdm_diag diag = { 0 };
	if (input == NULL)
		return TDM_EXIT_USAGE;
	struct tdm_phase_log *log = &r->logs[r->input_count - 1];
	bool is_empty = tdm_input_head(in).len == 0 && tdm_input_why(in)[0] == '\0';
	struct tdm_progress progress;
	tdm_progress_begin(&progress, "reading", 0);
	tdm_input_progress(in, &progress);
	int err =
		tdm_format_find("train_log")->records(in, &(struct tdm_record_sink){ log, tdm_phase_log_take }, &diag);
	tdm_progress_end(&progress);
	if (err != 0)
		fail(r, input->path, tdm_input_why(in)[0] != '\0' ? tdm_input_why(in) : tdm_err_text(err));
	else if (log->runs.count == 0)
		fail(r, input->path,
			is_empty
				? "the file is empty"
				: "no memory usage summary in it; train_nanogpt.py prints one with --track_memory, and "
				  "so does\n"
				  "  any program that calls MemoryUsageTracker's print_memory_usage()");
	report_refused(log);
	input->runs = log->runs;
	log->runs = (struct tdm_phase_runs){ 0 };
	input->refused_count = log->refused_count;
	return 0;
}

static int read_ledger(struct tdm_phase_inputs *r, const char *path)
{
	struct tdm_phases_input *input = new_input(r, "ledger", path);
	struct tdm_diag diag = { 0 };
	if (input == NULL)
		return TDM_EXIT_USAGE;
	if (tdm_ledger_phases_read(path, &input->runs, &diag) != 0)
		fail(r, path, diag.text);
	else if (input->runs.count == 0)
		fail(r, path,
			"no phases in it; a program records them with tidemark_capture_begin() and "
			"tidemark_capture_snapshot(), "
			"or\n  with MemoryUsageTracker");
	return 0;
}

/* The operations of ttnn's report are its phases. */
struct report {
	struct tdm_operation_memory memory;
	struct tdm_phase_log *log; /* keeps what is refused */
};

static int take_report(void *to, const struct tdm_record *record)
{
	struct report *r = to;
	int err = tdm_operation_memory_take(&r->memory, record);
	return err == 0 && record->type == TDM_RECORD_REFUSED ? tdm_phase_log_take(r->log, record) : err;
}

static int read_report(struct tdm_phase_inputs *r, struct tdm_input *in)
{
	struct tdm_phases_input *input = new_input(r, "ttnn_report", tdm_input_name(in));
	struct tdm_diag diag = { 0 };
	if (input == NULL)
		return TDM_EXIT_USAGE;
	struct report report = { .log = &r->logs[r->input_count - 1] };
	int err = tdm_operation_memory_init(&report.memory);
	if (err == 0)
		err = tdm_format_find("ttnn_report")
			      ->records(in, &(struct tdm_record_sink){ &report, take_report }, &diag);
	if (err == 0)
		err = tdm_operation_memory_end(&report.memory);
	if (err == 0)
		err = tdm_operation_memory_runs(&report.memory, &input->runs, &diag);
	if (err != 0)
		fail(r, input->path, diag.text[0] != '\0' ? diag.text : tdm_err_text(err));
	else if (input->runs.count == 0)
		fail(r, input->path, "no operations in it");
	report_refused(report.log);
	input->refused_count = report.log->refused_count;
	tdm_operation_memory_done(&report.memory);
	return 0;
}

/* Opens a file. Of a folder, it is the database of ttnn's report. */
static int open_path(const char *path, struct tdm_input **input)
{
	int err = tdm_input_open(path, input);
	if (err != 0 || !tdm_input_is_folder(*input))
		return err;
	char *inside = NULL;
	tdm_input_close(*input);
	if (asprintf(&inside, "%s/db.sqlite", path) < 0)
		return -ENOMEM;
	err = tdm_input_open(inside, input);
	free(inside);
	return err == -ENOENT ? -EISDIR : err;
}

static int read_path(struct tdm_phase_inputs *r, const char *path)
{
	struct tdm_input *input;
	int err = open_path(path, &input);
	if (err != 0) {
		fail(r, path, tdm_err_text(err));
		return 0;
	}
	const struct tdm_format *format = tdm_format_of(input);
	const char *name = format != NULL ? format->name : "";
	int code = strcmp(name, "ledger") == 0        ? read_ledger(r, path)
		   : strcmp(name, "ttnn_report") == 0 ? read_report(r, input)
						      : read_log(r, input);
	tdm_input_close(input);
	return code;
}

static int ignore_event(void *context, struct tdm_event *event)
{
	(void)context, (void)event;
	return 0;
}

/* A process may be known by another pid than the one in the name of its ledger: the follower finds it. */
static int read_pid(struct tdm_phase_inputs *r, int32_t pid)
{
	const struct tdm_follow_options options = { .dir = r->dir, .pids = &pid, .pid_count = 1 };
	const struct tdm_follow_sink sink = { .event = ignore_event };
	struct tdm_follower *follower = tdm_follower_new(&options);
	size_t found = 0;
	int code = 0;
	if (follower == NULL || tdm_follower_look(follower, &sink, tdm_clock_ns()) != 0) {
		tdm_follower_free(follower);
		return tdm_cmd_error(r->cmd, "out of memory");
	}
	for (size_t i = 0; i < tdm_follower_count(follower) && code == 0; i++) {
		const struct tdm_followed *item = tdm_follower_get(follower, i);
		if (!item->is_known && item->err == 0)
			continue; /* another process */
		found++;
		code = read_ledger(r, item->path);
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
	return code;
}

struct reading {
	struct tdm_capture_stock *stock;
	uint64_t refused;
};

static int take_node(void *to, const struct tdm_record *record)
{
	struct reading *r = to;
	unsigned raised;
	r->refused += record->type == TDM_RECORD_REFUSED;
	return record->type == TDM_RECORD_NODE ? tdm_capture_stock_apply(r->stock, record->node, &raised) : 0;
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
 * Appends the capture at a path to the run as one phase, counted as the runtime's own functions count it. 0, or a
 * negative code with the reason in `diag` and nothing is appended. *refused counts nodes that make no sense; like the
 * runtime, it still includes them.
 */
static int read_capture(
	const char *path, struct tdm_str name, struct tdm_phase_run *run, uint64_t *refused, struct tdm_diag *diag)
{
	struct reading r = { .stock = tdm_capture_stock_new() };
	struct tdm_input *input = NULL;
	int err = r.stock != NULL ? tdm_input_open(path, &input) : -ENOMEM;
	if (err != 0)
		tdm_diag_set(diag, err, 0, 0, "%s", tdm_err_text(err));
	else
		err = tdm_format_find("graph_capture")
			      ->records(input, &(struct tdm_record_sink){ &r, take_node }, diag);
	if (err == 0)
		err = append(tdm_capture_stock_end(r.stock), name, run, diag);
	else if (err == -ENOMEM)
		tdm_diag_set(diag, err, 0, 0, "out of memory");
	*refused = r.refused;
	tdm_capture_stock_free(r.stock);
	tdm_input_close(input);
	return err;
}

/* All captures together are one run, in the order given. A capture that fails is left out; the next one then does not
 * know what was in use before it. */
static int read_captures(struct tdm_phase_inputs *r)
{
	struct tdm_phases_input *input = new_input(r, "capture", NULL);
	struct tdm_phase_run *run = input != NULL ? tdm_phase_runs_add(&input->runs, tdm_str_of("captures")) : NULL;
	if (run == NULL)
		return tdm_cmd_error(r->cmd, "out of memory");
	for (size_t i = 0; i < r->captures.count; i++) {
		const char *equals = strchr(r->captures.list[i], '='), *path = equals + 1;
		struct tdm_str name = { r->captures.list[i], (size_t)(equals - r->captures.list[i]) };
		struct tdm_diag diag = { 0 };
		uint64_t refused = 0;
		if (read_capture(path, name, run, &refused, &diag) != 0) {
			fail(r, path, diag.text);
			run->incomplete = run->peak_so_far = true;
		}
		if (refused != 0)
			tdm_cmd_say("tidemark phases: %s: %" PRIu64
				    " nodes make no sense; they count as they do for the runtime",
				path, refused);
		input->refused_count += refused;
	}
	if (run->phase_count == 0)
		tdm_phase_runs_done(&input->runs);
	return 0;
}

int tdm_phase_inputs_read(struct tdm_phase_inputs *r)
{
	if (r->captures.count != 0 && read_captures(r) != 0)
		return TDM_EXIT_USAGE;
	for (size_t i = 0; i < r->wanted_count; i++) {
		const struct tdm_phase_wanted *w = &r->wanted[i];
		int err = w->pid != 0 ? read_pid(r, w->pid) : read_path(r, w->path);
		if (err != 0)
			return err;
	}
	return 0;
}

void tdm_phase_inputs_done(struct tdm_phase_inputs *r)
{
	for (size_t i = 0; i < r->input_count; i++) {
		tdm_phase_runs_done(&r->inputs[i].runs);
		tdm_phase_log_done(&r->logs[i]);
		free(r->inputs[i].results);
		free(r->paths[i]);
	}
	free(r->inputs);
	free(r->logs);
	free(r->paths);
}
