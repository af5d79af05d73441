/* `tidemark log`: profiles one or more logs, merged by time, compared or followed. */
#include "base/err.h"
#include "base/memory.h"
#include "base/number.h"
#include "cli/commands/cmd_list.h"
#include "cli/inputs/log_follow.h"
#include "cli/options/options.h"
#include "analyze/log/log_profile.h"
#include "model/result/result.h"
#include "input/log/log_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum {
	LIMIT_DEFAULT = 20,
	WARNINGS_MAX = 20, /* maximum number of refused lines to print; the rest are only counted */
};

/* A file, and its next record. */
struct input {
	struct tdm_input *input;
	struct tdm_log_reader reader;
	uint32_t file; /* index of the file in the profile */
	struct tdm_log_record next;
};

struct logs {
	const struct tdm_cmd *cmd;
	bool follow, compare, events, errors_only, json, ascii, is_sample;
	uint64_t limit;                 /* rows of a table, or events; 0 for the default */
	uint64_t cb_tiles[TDM_LOG_CBS]; /* tiles per circular buffer, given by the user; 0 if not given */
	struct input *inputs;
	uint64_t *next_ns; /* for each input, the time of its next record; TDM_LOG_UNKNOWN at the end */
	size_t input_count;
	struct tdm_progress progress;
	uint64_t warnings;
	uint64_t printed; /* number of events selected */
	int exit_code;    /* TDM_EXIT_USAGE if a file could not be read */
};

static void warn(struct logs *l, const struct tdm_diag *diag)
{
	char text[TDM_DIAG_TEXT_CAP * 2];
	if (l->warnings < WARNINGS_MAX)
		tdm_cmd_say("tidemark log: %s", tdm_diag_format(diag, text, sizeof text));
	else if (l->warnings == WARNINGS_MAX)
		fputs("tidemark log: further lines of this sort are counted only\n", stderr);
	l->warnings++;
}

/* Reads the next record of a file. */
static void advance(struct logs *l, struct input *in, const char *name)
{
	struct tdm_diag diag = { .file = name };
	uint64_t *next_ns = &l->next_ns[in - l->inputs];
	*next_ns = TDM_LOG_UNKNOWN;
	for (;;) {
		int got = tdm_log_reader_next(&in->reader, &in->next, &diag);
		if (got == 0)
			return;
		in->next.file = in->file;
		if (got > 0) {
			*next_ns = in->next.time_ns;
			return;
		}
		warn(l, &diag);
		diag.file = name;
		if (got != TDM_ESYNTAX)
			l->exit_code = TDM_EXIT_USAGE;
	}
}

/* Whether the file is already open, under any name: reading it twice would double every figure. */
static bool is_open(const struct logs *l, const struct tdm_input *input)
{
	for (size_t i = 0; i < l->input_count; i++)
		if (tdm_input_is_same(l->inputs[i].input, input))
			return true;
	return false;
}

/* Adds a reader for an input, taking ownership of the input. */
static void add_input(struct logs *l, struct tdm_log_profile *p, struct tdm_input *input)
{
	struct input *in = &l->inputs[l->input_count];
	tdm_log_reader_open(&in->reader, input);
	in->input = input;
	tdm_input_progress(input, &l->progress);
	tdm_log_reader_sample(&in->reader);
	in->file = tdm_log_profile_add_file(p, tdm_input_name(input));
	l->input_count++;
}

/* Reports a file that cannot be read, and continues with the others. */
static void open_path(struct logs *l, struct tdm_log_profile *p, const char *path)
{
	struct tdm_input *input;
	int err = tdm_input_open(path, &input);
	if (err == 0 && is_open(l, input)) {
		tdm_cmd_say("tidemark log: %s is named twice; it is read once", path);
		tdm_input_close(input);
		return;
	}
	if (err == 0 && tdm_input_is_folder(input)) {
		tdm_input_close(input);
		err = -EISDIR;
	} else if (err == 0) {
		add_input(l, p, input);
	}
	if (err != 0)
		l->exit_code = tdm_cmd_error(l->cmd, "cannot read %s: %s", path, tdm_err_text(err));
}

/* The profile borrows the names of the inputs, so inputs are closed only after the profile is printed. */
static void close_inputs(struct logs *l)
{
	for (size_t i = 0; i < l->input_count; i++) {
		tdm_log_reader_done(&l->inputs[i].reader);
		tdm_input_close(l->inputs[i].input);
	}
	free(l->inputs);
	free(l->next_ns);
	l->inputs = NULL;
	l->next_ns = NULL;
	l->input_count = 0;
}

/* The file with the earliest next record. Records without a time come first, since they need not wait. */
static struct input *earliest(struct logs *l)
{
	size_t best = 0;
	for (size_t i = 1; i < l->input_count; i++)
		if (l->next_ns[i] < l->next_ns[best])
			best = i;
	return l->input_count != 0 && l->next_ns[best] != TDM_LOG_UNKNOWN ? &l->inputs[best] : NULL;
}

/* Prints a record as an event, until the limit is reached. Records that are not selected do not count. */
static void print_event(struct logs *l, const struct tdm_log_record *record, struct tdm_buf *out)
{
	const struct tdm_log_follow how = { NULL, l->json, l->errors_only };
	char file[32] = "";
	if (l->input_count > 1)
		snprintf(file, sizeof file, "[%u] ", record->file + 1);
	bool is_wanted = tdm_log_is_printed(&how, record);
	if (is_wanted && (l->limit == 0 || l->printed < l->limit))
		tdm_log_print_record(&how, record, file, out);
	l->printed += is_wanted;
}

/* Reads all records, merged by time, into the profile, or prints them as a list. */
static void read_all(struct logs *l, struct tdm_log_profile *p)
{
	struct input *in;
	struct tdm_buf out = { 0 };
	for (size_t i = 0; i < l->input_count; i++)
		advance(l, &l->inputs[i], p->files[l->inputs[i].file].name);
	while ((in = earliest(l)) != NULL) {
		if (l->events)
			print_event(l, &in->next, &out);
		else
			tdm_log_profile_add(p, &in->next);
		advance(l, in, p->files[in->file].name);
	}
	for (size_t i = 0; i < l->input_count; i++)
		p->files[l->inputs[i].file].counts = *tdm_log_reader_counts(&l->inputs[i].reader);
	tdm_buf_done(&out);
}

/* Applies the sizes given by the user to every file whose log lacks them. */
static void give_tiles(const struct logs *l, struct tdm_log_profile *p)
{
	for (uint32_t file = 0; file < p->file_count; file++)
		for (uint32_t cb = 0; cb < TDM_LOG_CBS; cb++)
			if (l->cb_tiles[cb] != 0)
				tdm_log_profile_give(p, file, cb, l->cb_tiles[cb]);
}

/* Profiles the files, or the built-in sample if there are none. 0 if at least one file could be read, else an exit
 * code. */
static int profile(struct logs *l, char **paths, size_t count, struct tdm_log_profile *p)
{
	*p = (struct tdm_log_profile){ 0 };
	l->inputs = tdm_zalloc(count + 1, sizeof *l->inputs);
	l->next_ns = tdm_zalloc(count + 1, sizeof *l->next_ns);
	tdm_progress_begin(&l->progress, "reading logs", 0);
	if (count == 0) {
		struct tdm_str text = tdm_log_sample_text();
		struct tdm_input *sample = tdm_input_memory("built-in sample", text.ptr, text.len);
		add_input(l, p, sample);
		l->is_sample = true;
	}
	for (size_t i = 0; i < count; i++)
		open_path(l, p, paths[i]);
	read_all(l, p);
	give_tiles(l, p);
	tdm_progress_end(&l->progress);
	return l->input_count == 0 ? TDM_EXIT_USAGE : 0;
}

static int print(struct logs *l, const struct tdm_log_profile *a, const struct tdm_log_profile *b)
{
	const struct tdm_term term = tdm_cmd_term(l->ascii, false);
	struct tdm_result *result = tdm_result_new();
	struct tdm_answer answer;
	if (b != NULL)
		tdm_log_show_both(&result->top, a, b);
	else {
		tdm_data(&result->top, "sample", tdm_value_bool(l->is_sample));
		if (l->is_sample)
			tdm_line(&result->top, "Sample",
				"no file was given: this is a small log that comes with tidemark, not one of yours",
				NULL);
		tdm_log_show(&result->top, a, l->limit != 0 ? (size_t)l->limit : LIMIT_DEFAULT, l->errors_only);
	}
	tdm_answer_begin(&answer, l->cmd, l->json && b == NULL);
	if (b != NULL && l->json) {
		tdm_json_envelope(&answer.json, "tidemark.log_compare");
		tdm_json_key(&answer.json, "compare");
	}
	tdm_answer_put(&answer, result, l->json, &term);
	tdm_result_free(result);
	return tdm_answer_end(&answer, l->exit_code);
}

/* Reports the number of events beyond the limit. */
static int end_events(const struct logs *l)
{
	if (l->limit != 0 && l->printed > l->limit && !l->json)
		printf("... and %" PRIu64 " more\n", l->printed - l->limit);
	return l->exit_code;
}

/* Makes one profile of all files, or two profiles of one file each. */
static int run(struct logs *l, char **paths, size_t count)
{
	size_t profiles = l->compare ? 2 : 1;
	struct tdm_log_profile *p = tdm_zalloc(profiles, sizeof *p);
	struct logs of[2] = { *l, *l };
	int code = 0;
	for (size_t i = 0; i < profiles && code == 0; i++) {
		code = profile(&of[i], l->compare ? &paths[i] : paths, l->compare ? 1 : count, &p[i]);
		l->exit_code |= of[i].exit_code;
		of[1].warnings = of[0].warnings;
	}
	l->is_sample = of[0].is_sample;
	if (code == 0 && l->events)
		code = end_events(&of[0]);
	else if (code == 0)
		code = print(l, &p[0], l->compare ? &p[1] : NULL);
	for (size_t i = 0; i < profiles; i++) {
		close_inputs(&of[i]);
		tdm_log_profile_done(&p[i]);
	}
	free(p);
	return code;
}

/* All files are open at once. The usual limit on open files is low, so it is raised as far as permitted. */
static void raise_limit(size_t count)
{
	enum { USUAL = 64 };
	struct rlimit limit;
	if (count < USUAL || getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit); /* if this fails, a message names each file that cannot be opened */
}

static int cmd_log_run(struct tdm_args *args)
{
	struct logs l = { .cmd = args->cmd };
	int code = tdm_args_read(args, &l);
	size_t count = (size_t)args->positional_count;
	if (code != 0)
		return code;
	if (l.follow && l.compare)
		return tdm_cmd_usage_error(args->cmd, "--follow and --compare cannot be combined");
	if (l.events && (l.follow || l.compare))
		return tdm_cmd_usage_error(
			args->cmd, "--events cannot be combined with --%s", l.follow ? "follow" : "compare");
	if (l.follow && count != 1)
		return tdm_cmd_usage_error(args->cmd, "--follow takes one file");
	if (l.compare && count != 2)
		return tdm_cmd_usage_error(args->cmd, "--compare takes two files, the old and the new");
	raise_limit(count);
	if (l.follow) {
		struct tdm_log_follow follow = { args->positional[0], l.json, l.errors_only };
		return tdm_log_follow_run(args->cmd, &follow);
	}
	return run(&l, args->positional, count);
}

/* Parses "0=4,1=4". */
static int take_cbs(const struct tdm_cmd *cmd, const struct tdm_opt *opt, const char *value, void *to)
{
	uint64_t *tiles = to;
	(void)opt;
	for (const char *at = value;;) {
		size_t len = strcspn(at, ","), index = strcspn(at, "=");
		uint64_t cb, count;
		if (index >= len || tdm_str_parse_u64((struct tdm_str){ at, index }, &cb) != 0 || cb >= TDM_LOG_CBS ||
			tdm_str_parse_u64((struct tdm_str){ at + index + 1, len - index - 1 }, &count) != 0 ||
			count == 0 || count == TDM_LOG_UNKNOWN)
			return tdm_cmd_usage_error(cmd,
				"--cb '%s': expected circular buffers with their tiles, such as 0=4,1=4; the numbers "
				"of "
				"circular buffers are 0 to %d",
				value, TDM_LOG_CBS - 1);
		tiles[cb] = count;
		if (at[len] == '\0')
			return 0;
		at += len + 1;
	}
}

static const struct tdm_opt log_opts[] = {
	{ "follow", 'f', NULL, "print records as the log grows, until interrupted",
		TDM_TAKE_FLAG(struct logs, follow) },
	{ "errors", 'e', NULL, "print only the errors", TDM_TAKE_FLAG(struct logs, errors_only) },
	{ "events", 0, NULL, "list every record in time order, one per line, instead of tables",
		TDM_TAKE_FLAG(struct logs, events) },
	{ "compare", 'c', NULL, "compare two logs side by side: the first is A, the second B",
		TDM_TAKE_FLAG(struct logs, compare) },
	{ "cb", 0, "N=TILES,...", "depth, in tiles, of circular buffers whose size is not logged; may be repeated",
		.take = take_cbs, .offset = offsetof(struct logs, cb_tiles) },
	{ "limit", 'n', "ROWS", "print at most this many rows of each table (default: 20), or events (default: all)",
		TDM_TAKE_NUMBER(struct logs, limit, 1, 0) },
	{ "json", 'j', NULL, "print JSON, with sizes in bytes; with --follow or --events, one object per line",
		TDM_TAKE_FLAG(struct logs, json) },
	{ TDM_OPT_ASCII(struct logs, ascii) },
	{ 0 },
};

static const struct tdm_help_row log_examples[] = {
	{ "tidemark log debug.log", "circular buffers, kernels, buffers and errors, over time" },
	{ "tidemark log --errors *.log", "each failure once" },
	{ "tidemark log --events debug.log", "every record in time order" },
	{ "tidemark log --cb 0=4,1=4 debug.log", "set the depths of CB0 and CB1, which are not logged" },
	{ "tidemark log --compare customer_debug.log fixed_debug.log", "a run and the fixed one" },
	{ "./program 2>&1 | tidemark log -", "read from a running program" },
	{ "tidemark log -f debug.log", "follow a log while it is being written" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_log = {
	.name = "log",
	.summary = "profile a log: circular buffers, kernels, buffers, errors, pressure",
	.usage = "[--errors] [--cb N=TILES,...] [--limit ROWS] [--json] [FILE...]\n"
		 "--events [--errors] [--limit ROWS] [--json] [FILE...]\n"
		 "--compare [--json] A B\n"
		 "--follow [--errors] [--json] FILE",
	.description = "Reads the log of a program run: the runtime's log, with or without colours; the debug output "
		       "of a program that prints its circular buffers and kernels; an allocation server's log; or "
		       "tt-mlir's memory states. The output names the kind of log and the facts that such a log "
		       "lacks. '-' is standard input; files may be compressed with gzip, xz or zstd, and may be "
		       "UTF-16. If no file is given, the command shows a small built-in log and says so.\n\nSeveral "
		       "files are merged by time. An error that appears in several lines, such as the logger's line "
		       "and the exception text, is counted once. If a file cannot be read, the error is reported, "
		       "the other files are read, and the exit code is 2.\n\nThe output also shows the pressure on "
		       "circular buffers. The miss rate of CB1 is computed from sizes: it is the share of B tiles "
		       "that do not fit in CB1 at once. Utilization and stalls are observed if the log contains "
		       "lines about them. The score is a heuristic: the largest of the miss rate, the stalls and the "
		       "share of L1. The bands for low, medium and high pressure are: miss rate below 25, 25 to 75, "
		       "above 75; score below 30, 30 to 70, above 70; utilization above 80, 40 to 80, below 40.",
	.opts = log_opts,
	.examples = log_examples,
	.run = cmd_log_run,
};
