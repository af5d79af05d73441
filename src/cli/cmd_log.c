/* `tidemark log`: one log or several, merged by time, compared or followed. */
#include "base/err.h"
#include "base/number.h"
#include "cli/cmd_list.h"
#include "cli/log_follow.h"
#include "cli/options.h"
#include "report/log_report.h"
#include "sources/log_reader.h"
#include "sources/log_sample.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum {
	LIMIT_DEFAULT = 20,
	WARNINGS_MAX = 20, /* refused lines to print; the rest are counted */
};

/* A file, with its next record. */
struct input {
	struct tdm_input *input;
	struct tdm_log_reader reader;
	uint32_t file; /* number in the profile */
	struct tdm_log_record next;
};

struct logs {
	const struct tdm_cmd *cmd;
	bool follow, compare, events, json, ascii;
	uint64_t limit;                 /* rows of a table, or events; 0: the usual number */
	uint64_t cb_tiles[TDM_LOG_CBS]; /* tiles of circular buffers that the user gives; 0: not given */
	struct tdm_log_report report;
	struct input *inputs;
	uint64_t *next_ns; /* for each input the time of its next record, TDM_LOG_UNKNOWN at its end */
	size_t input_count;
	struct tdm_progress progress;
	uint64_t warnings;
	uint64_t printed; /* events that were wanted */
	int exit_code;    /* TDM_EXIT_USAGE after a file that could not be read */
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

/* Whether the file is open already, under any name: counting it twice would double every figure. */
static bool is_open(const struct logs *l, const struct tdm_input *input)
{
	for (size_t i = 0; i < l->input_count; i++)
		if (tdm_input_is_same(l->inputs[i].input, input))
			return true;
	return false;
}

/* Adds a reader for an input and takes ownership of it. 0 or -ENOMEM. */
static int add_input(struct logs *l, struct tdm_log_profile *p, struct tdm_input *input)
{
	struct input *in = &l->inputs[l->input_count];
	int err = tdm_log_reader_open(&in->reader, input);
	int file = err != 0 ? err : tdm_log_profile_add_file(p, tdm_input_name(input));
	if (file < 0) {
		tdm_log_reader_done(&in->reader);
		tdm_input_close(input);
		return file;
	}
	in->input = input;
	tdm_input_progress(input, &l->progress);
	tdm_log_reader_sample(&in->reader);
	in->file = (uint32_t)file;
	l->input_count++;
	return 0;
}

/* Names a file that cannot be read, and goes on with the others. */
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
		err = add_input(l, p, input);
	}
	if (err != 0)
		l->exit_code = tdm_cmd_error(l->cmd, "cannot read %s: %s", path, tdm_err_text(err));
}

/* The profile borrows the names of the inputs, so they are closed after it is printed. */
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

/* The file with the earliest next record. Records without a time come first: they need not wait. */
static struct input *earliest(struct logs *l)
{
	size_t best = 0;
	for (size_t i = 1; i < l->input_count; i++)
		if (l->next_ns[i] < l->next_ns[best])
			best = i;
	return l->input_count != 0 && l->next_ns[best] != TDM_LOG_UNKNOWN ? &l->inputs[best] : NULL;
}

/* Prints a record of a list of events, until the limit is reached. Records that are not wanted do not count. */
static void print_event(struct logs *l, const struct tdm_log_record *record, struct tdm_buf *out)
{
	const struct tdm_log_follow how = { NULL, l->json, l->report.errors_only };
	char file[32] = "";
	if (l->input_count > 1)
		snprintf(file, sizeof file, "[%u] ", record->file + 1);
	bool is_wanted = tdm_log_is_printed(&how, record);
	if (is_wanted && (l->limit == 0 || l->printed < l->limit))
		tdm_log_print_record(&how, record, file, out);
	l->printed += is_wanted;
}

/* Reads everything into the profile, merged by time; or lists it. */
static int read_all(struct logs *l, struct tdm_log_profile *p)
{
	struct input *in;
	struct tdm_buf out;
	int err = 0;
	tdm_buf_init(&out);
	for (size_t i = 0; i < l->input_count; i++)
		advance(l, &l->inputs[i], p->files[l->inputs[i].file].name);
	while (err == 0 && (in = earliest(l)) != NULL) {
		if (l->events)
			print_event(l, &in->next, &out);
		else
			err = tdm_log_profile_add(p, &in->next);
		advance(l, in, p->files[in->file].name);
	}
	for (size_t i = 0; i < l->input_count; i++)
		tdm_log_profile_end_file(p, l->inputs[i].file, tdm_log_reader_counts(&l->inputs[i].reader));
	tdm_buf_done(&out);
	return err;
}

/* Adds what the user knows to every file whose log does not say it. */
static int give_tiles(const struct logs *l, struct tdm_log_profile *p)
{
	int err = 0;
	for (uint32_t file = 0; file < p->file_count; file++)
		for (uint32_t cb = 0; cb < TDM_LOG_CBS && err == 0; cb++)
			if (l->cb_tiles[cb] != 0)
				err = tdm_log_profile_give(p, file, cb, l->cb_tiles[cb]);
	return err;
}

/* Profiles the files, or the built-in sample if there are none. 0 if at least one could be read, or an exit code. */
static int profile(struct logs *l, char **paths, size_t count, struct tdm_log_profile *p)
{
	int err = tdm_log_profile_init(p);
	l->inputs = calloc(count + 1, sizeof *l->inputs);
	l->next_ns = calloc(count + 1, sizeof *l->next_ns);
	if (err != 0 || l->inputs == NULL || l->next_ns == NULL)
		return tdm_cmd_error(l->cmd, "out of memory");
	tdm_progress_begin(&l->progress, "reading logs", 0);
	if (count == 0) {
		struct tdm_str text = tdm_log_sample_text();
		struct tdm_input *sample = tdm_input_memory("built-in sample", text.ptr, text.len);
		err = sample != NULL ? add_input(l, p, sample) : -ENOMEM;
		l->report.is_sample = true;
	}
	for (size_t i = 0; i < count; i++)
		open_path(l, p, paths[i]);
	err = err != 0 ? err : read_all(l, p);
	err = err != 0 ? err : give_tiles(l, p);
	tdm_progress_end(&l->progress);
	if (err != 0)
		return tdm_cmd_error(l->cmd, "%s", tdm_err_text(err));
	return l->input_count == 0 ? TDM_EXIT_USAGE : 0;
}

static int print(struct logs *l, const struct tdm_log_profile *a, const struct tdm_log_profile *b)
{
	struct tdm_answer answer;
	tdm_answer_begin(&answer, l->cmd, l->json && b == NULL);
	if (b != NULL && l->json) {
		tdm_json_envelope(&answer.json, "tidemark.log_compare");
		tdm_json_key(&answer.json, "compare");
		tdm_log_compare_json(a, b, &answer.json);
	} else if (b != NULL) {
		tdm_log_compare_text(a, b, &l->report, &answer.out);
	} else if (l->json) {
		tdm_log_json(a, &l->report, &answer.json);
	} else {
		tdm_log_text(a, &l->report, &answer.out);
	}
	return tdm_answer_end(&answer, l->exit_code);
}

/* Says how many events there are beyond the limit. */
static int end_events(const struct logs *l)
{
	if (l->limit != 0 && l->printed > l->limit && !l->json)
		printf("... and %" PRIu64 " more\n", l->printed - l->limit);
	return l->exit_code;
}

/* Makes one profile of all files, or two with one file each. */
static int run(struct logs *l, char **paths, size_t count)
{
	size_t profiles = l->compare ? 2 : 1;
	struct tdm_log_profile *p = calloc(profiles, sizeof *p);
	struct logs of[2] = { *l, *l };
	int code = p == NULL ? tdm_cmd_error(l->cmd, "out of memory") : 0;
	for (size_t i = 0; i < profiles && code == 0; i++) {
		code = profile(&of[i], l->compare ? &paths[i] : paths, l->compare ? 1 : count, &p[i]);
		l->exit_code |= of[i].exit_code;
		of[1].warnings = of[0].warnings;
	}
	l->report = of[0].report;
	if (code == 0 && l->events)
		code = end_events(&of[0]);
	else if (code == 0)
		code = print(l, &p[0], l->compare ? &p[1] : NULL);
	for (size_t i = 0; i < profiles; i++) {
		close_inputs(&of[i]);
		if (p != NULL)
			tdm_log_profile_done(&p[i]);
	}
	free(p);
	return code;
}

/* All files are open at once. The usual limit on that is low, so it is raised as far as a user may. */
static void raise_limit(size_t count)
{
	enum { USUAL = 64 };
	struct rlimit limit;
	if (count < USUAL || getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit); /* if it fails, a file that cannot be opened is named */
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
		struct tdm_log_follow follow = { args->positional[0], l.json, l.report.errors_only };
		return tdm_log_follow_run(args->cmd, &follow);
	}
	struct tdm_term term = tdm_cmd_term(l.ascii, false);
	l.report.limit = (size_t)tdm_min(l.limit != 0 ? l.limit : LIMIT_DEFAULT, SIZE_MAX);
	l.report.utf8 = term.utf8;
	l.report.width = term.width;
	return run(&l, args->positional, count);
}

/* "0=4,1=4" */
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
	{ "errors", 'e', NULL, "print only the errors", TDM_TAKE_FLAG(struct logs, report.errors_only) },
	{ "events", 0, NULL, "list every record in the order of time, one on each line, instead of tables",
		TDM_TAKE_FLAG(struct logs, events) },
	{ "compare", 'c', NULL, "compare two logs side by side: the first is A, the second B",
		TDM_TAKE_FLAG(struct logs, compare) },
	{ "cb", 0, "N=TILES,...", "tiles of circular buffers whose size the log does not say; may be repeated",
		.take = take_cbs, .offset = offsetof(struct logs, cb_tiles) },
	{ "limit", 'n', "ROWS", "print at most this many rows of each table (default: 20), or events (default: all)",
		TDM_TAKE_NUMBER(struct logs, limit, 1, 0) },
	{ "json", 'j', NULL, "print JSON, with sizes in bytes; with --follow or --events, one object per line",
		TDM_TAKE_FLAG(struct logs, json) },
	{ TDM_OPT_ASCII(struct logs, ascii) },
	{ 0 },
};

static const struct tdm_example log_examples[] = {
	{ "tidemark log debug.log", "circular buffers, kernels, buffers and errors, over time" },
	{ "tidemark log --errors *.log", "what went wrong, once each" },
	{ "tidemark log --events debug.log", "what happened, one record after the other" },
	{ "tidemark log --cb 0=4,1=4 debug.log", "with the tiles of CB0 and CB1, which the log does not say" },
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
	.description =
		"Reads the log of a run: the runtime's log, with or without colours; the debug output of a program "
		"that prints its circular buffers and kernels; the log of an allocation server; memory states of "
		"tt-mlir. It says which of them it found, and what such a log cannot tell. '-' is standard input; "
		"files may be compressed with gzip, xz or zstd, and may be UTF-16. Without a file it shows a small "
		"built-in log, and says so.\n"
		"\n"
		"Several files are merged by time. An error that appears in several lines, from the logger and as the "
		"text of the exception, is counted once. A file that cannot be read is reported, the others are read, "
		"and the exit code is 2.\n"
		"\n"
		"Pressure: the miss rate of CB1 follows from sizes (tiles of B that do not fit in it at once); "
		"utilization and stalls are observed, if the log has lines about them; the score is a heuristic, the "
		"largest of miss rate, stalls and share of L1. The bands are: miss rate below 25, 25 to 75, above 75; "
		"score below 30, 30 to 70, above 70; utilization above 80, 40 to 80, below 40.",
	.opts = log_opts,
	.examples = log_examples,
	.run = cmd_log_run,
};
