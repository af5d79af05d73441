#include "cli/phase_inputs.h"
#include "base/err.h"
#include "cli/phase_capture.h"
#include "ledger/ledger_list.h"
#include "ledger/reader.h"
#include "sources/ledger_phases.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* An input at the end, empty; NULL with a message when out of memory. */
static struct tdm_phases_input *new_input(struct tdm_phase_inputs *r)
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

static void fail(struct tdm_phase_inputs *r, const char *path, const char *why)
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
static void explain_nothing(struct tdm_phase_inputs *r, const char *name, const struct tdm_train_log *log)
{
	fail(r, name,
		log->lines == 0 ? "the file is empty"
		: log->is_utf16 ? "UTF-16, which is not read; convert it first: iconv -f UTF-16 -t UTF-8"
				: "no memory usage summary in it; train_nanogpt.py prints one with --track_memory, and "
				  "so does\n"
				  "  any program that calls MemoryUsageTracker's print_memory_usage()");
}

static int read_log(struct tdm_phase_inputs *r, const char *path)
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
		fail(r, name, tdm_err_text(err));
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

static int read_ledger(struct tdm_phase_inputs *r, const char *path)
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
	struct tdm_phase_inputs *request;
	size_t found;
	int err;
};

static void look_at(void *context, const struct tdm_ledger_entry *entry)
{
	struct search *search = context;
	if (search->err != 0 || entry->folder_err != 0)
		return;
	search->found++;
	search->err = read_ledger(search->request, entry->path);
}

static int read_pid(struct tdm_phase_inputs *r, int32_t pid)
{
	struct search search = { r, 0, 0 };
	struct tdm_ledger_search ledgers = { .dir = r->dir, .pids = &pid, .pid_count = 1, .each = look_at };
	ledgers.context = &search;
	int err = tdm_ledger_list(&ledgers);
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
static int read_captures(struct tdm_phase_inputs *r)
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

int tdm_phase_inputs_read(struct tdm_phase_inputs *r)
{
	if (r->capture_count != 0 && read_captures(r) != 0)
		return TDM_EXIT_USAGE;
	for (size_t i = 0; i < r->wanted_count; i++) {
		const struct tdm_phase_wanted *w = &r->wanted[i];
		int err = w->pid != 0                                                         ? read_pid(r, w->pid)
			  : strcmp(w->path, "-") != 0 && tdm_ledger_phases_is_ledger(w->path) ? read_ledger(r, w->path)
											      : read_log(r, w->path);
		if (err != 0)
			return err;
	}
	return 0;
}

void tdm_phase_inputs_done(struct tdm_phase_inputs *r)
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
