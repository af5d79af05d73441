#include "base/err.h"
#include "base/progress.h"
#include "base/term.h"
#include "cli/cmd.h"
#include "cli/cmd_list.h"
#include "cli/log_follow.h"
#include "cli/log_input.h"
#include "report/log_report.h"
#include "sources/log_reader.h"
#include "sources/log_sample.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LIMIT_DEFAULT = 20,
	WARNINGS_MAX = 20, /* refused lines that are named; the rest is counted */
};

enum { OPT_FOLLOW, OPT_ERRORS, OPT_COMPARE, OPT_LIMIT, OPT_JSON, OPT_ASCII };

/* One of the files, with the record that comes next from it. */
struct input {
	struct tdm_log_reader reader;
	int fd;
	uint32_t file; /* number in the profile */
	bool open, has_next;
	dev_t device; /* these two tell files apart */
	ino_t inode;
	struct tdm_log_record next;
};

struct logs {
	const struct tdm_cmd *cmd;
	bool follow, compare, json;
	struct tdm_log_report report;
	struct input *inputs;
	size_t input_count;
	struct tdm_progress progress;
	uint64_t warnings;
	int exit_code; /* TDM_EXIT_USAGE after a file that could not be read */
};

static void warn(struct logs *l, const struct tdm_diag *diag)
{
	char text[TDM_DIAG_TEXT_CAP * 2];
	if (l->warnings < WARNINGS_MAX)
		fprintf(stderr, "tidemark log: %s\n", tdm_diag_format(diag, text, sizeof text));
	else if (l->warnings == WARNINGS_MAX)
		fputs("tidemark log: further lines of this sort are counted only\n", stderr);
	l->warnings++;
}

/* Reads on to the next record of one file. */
static void advance(struct logs *l, struct input *in, const char *name)
{
	struct tdm_diag diag = { .file = name };
	in->has_next = false;
	while (in->open) {
		int got = tdm_log_reader_next(&in->reader, &in->next, &diag);
		if (got == 0)
			return;
		in->next.file = in->file;
		if (got > 0) {
			in->has_next = true;
			return;
		}
		warn(l, &diag);
		diag.file = name;
		if (got != TDM_ESYNTAX)
			l->exit_code = TDM_EXIT_USAGE;
	}
}

/* Whether it is open already, under whatever name: counted twice it would double every figure. */
static bool is_open(const struct logs *l, const struct stat *st)
{
	for (size_t i = 0; i < l->input_count; i++)
		if (l->inputs[i].device == st->st_dev && l->inputs[i].inode == st->st_ino)
			return true;
	return false;
}

/* 0, or a negative code after a message. */
static int open_input(struct logs *l, struct tdm_log_profile *p, const char *path, struct input *in)
{
	bool is_stdin = strcmp(path, "-") == 0;
	struct stat st;
	in->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	int err = in->fd < 0 || fstat(in->fd, &st) != 0 ? -errno : 0;
	if (err == 0 && S_ISDIR(st.st_mode))
		err = -EISDIR;
	if (err == 0 && is_open(l, &st))
		err = -EALREADY;
	if (err == 0)
		err = tdm_log_reader_open(&in->reader, in->fd);
	if (err != 0) {
		if (err == -EALREADY)
			fprintf(stderr, "tidemark log: %s is named twice; it is read once\n", path);
		else
			l->exit_code = tdm_cmd_error(l->cmd, "cannot read %s: %s", path, tdm_err_text(err));
		if (in->fd > STDERR_FILENO)
			close(in->fd);
		in->fd = -1;
		return err;
	}
	tdm_log_reader_sample(&in->reader);
	if (in->reader.sample.is_utf16) {
		l->exit_code = tdm_cmd_error(l->cmd,
			"cannot read %s: it is UTF-16; convert it first: iconv -f UTF-16 -t UTF-8 %s", path, path);
		tdm_log_reader_done(&in->reader);
		if (in->fd > STDERR_FILENO)
			close(in->fd);
		in->fd = -1;
		return TDM_ESYNTAX;
	}
	in->open = true;
	in->device = st.st_dev;
	in->inode = st.st_ino;
	in->file = (uint32_t)tdm_log_profile_add_file(p, is_stdin ? "standard input" : path);
	return 0;
}

static void close_input(struct tdm_log_profile *p, struct input *in)
{
	if (!in->open)
		return;
	tdm_log_input_end(&in->reader, &p->files[in->file]);
	tdm_log_reader_done(&in->reader);
	if (in->fd > STDERR_FILENO)
		close(in->fd);
	in->open = false;
}

/* The file whose next record is the earliest. Records without a time come first: they are held up by nothing. */
static struct input *earliest(struct logs *l)
{
	struct input *best = NULL;
	for (size_t i = 0; i < l->input_count; i++) {
		struct input *in = &l->inputs[i];
		if (in->has_next && (best == NULL || in->next.time_ns < best->next.time_ns))
			best = in;
	}
	return best;
}

static void show_progress(void *context)
{
	struct logs *l = context;
	uint64_t done = 0;
	for (size_t i = 0; i < l->input_count; i++)
		done += tdm_log_scan_offset(&l->inputs[i].reader.scan);
	tdm_progress_update(&l->progress, done);
}

static int read_all(struct logs *l, struct tdm_log_profile *p, uint64_t total)
{
	struct input *in;
	int err = 0;
	tdm_progress_begin(&l->progress, "reading logs", total);
	for (size_t i = 0; i < l->input_count; i++) {
		l->inputs[i].reader.scan.on_read = show_progress;
		l->inputs[i].reader.scan.on_read_context = l;
	}
	for (size_t i = 0; i < l->input_count; i++)
		advance(l, &l->inputs[i], p->files[l->inputs[i].file].name);
	while (err == 0 && (in = earliest(l)) != NULL) {
		err = tdm_log_profile_add(p, &in->next);
		advance(l, in, p->files[in->file].name);
	}
	tdm_progress_end(&l->progress);
	return err;
}

static uint64_t size_of(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

/* Reads the files into the profile, merged by time. 0 when at least one could be read, or an exit code. */
static int profile_files(struct logs *l, char **paths, size_t count, struct tdm_log_profile *p)
{
	uint64_t total = 0;
	l->inputs = calloc(count, sizeof *l->inputs);
	l->input_count = 0;
	if (l->inputs == NULL)
		return tdm_cmd_error(l->cmd, "out of memory");
	for (size_t i = 0; i < count; i++)
		if (open_input(l, p, paths[i], &l->inputs[l->input_count]) == 0) {
			l->input_count++;
			total += size_of(paths[i]);
		}
	int err = read_all(l, p, total);
	for (size_t i = 0; i < l->input_count; i++)
		close_input(p, &l->inputs[i]);
	free(l->inputs);
	l->inputs = NULL;
	if (err != 0)
		return tdm_cmd_error(l->cmd, "%s", tdm_err_text(err));
	return l->input_count == 0 ? TDM_EXIT_USAGE : 0;
}

static int profile_sample(struct logs *l, struct tdm_log_profile *p)
{
	struct tdm_str text = tdm_log_sample_text();
	struct input in = { .fd = -1, .open = true };
	if (tdm_log_reader_memory(&in.reader, text.ptr, text.len) != 0)
		return tdm_cmd_error(l->cmd, "out of memory");
	tdm_log_reader_sample(&in.reader);
	in.file = (uint32_t)tdm_log_profile_add_file(p, "built-in sample");
	l->report.is_sample = true;
	l->inputs = &in;
	l->input_count = 1;
	int err = read_all(l, p, text.len);
	close_input(p, &in);
	l->inputs = NULL;
	return err != 0 ? tdm_cmd_error(l->cmd, "%s", tdm_err_text(err)) : 0;
}

/* Text, or the envelope with one key in it. */
static int print(struct logs *l, const struct tdm_log_profile *a, const struct tdm_log_profile *b)
{
	struct tdm_buf out;
	tdm_buf_init(&out);
	if (l->json) {
		struct tdm_json json;
		tdm_json_init(&json, &out);
		tdm_json_envelope(&json, b != NULL ? "tidemark.log_compare" : "tidemark.log");
		tdm_json_key(&json, b != NULL ? "compare" : "log");
		if (b != NULL)
			tdm_log_compare_json(a, b, &json);
		else
			tdm_log_json(a, &l->report, &json);
		tdm_json_object_end(&json);
	} else if (b != NULL) {
		tdm_log_compare_text(a, b, &l->report, &out);
	} else {
		tdm_log_text(a, &l->report, &out);
	}
	int code = tdm_cmd_print(l->cmd, &out, l->exit_code);
	tdm_buf_done(&out);
	return code;
}

static int run_profile(struct logs *l, char **paths, size_t count)
{
	struct tdm_log_profile *p = malloc(sizeof *p);
	if (p == NULL || tdm_log_profile_init(p) != 0) {
		free(p);
		return tdm_cmd_error(l->cmd, "out of memory");
	}
	int code = count == 0 ? profile_sample(l, p) : profile_files(l, paths, count, p);
	if (code == 0)
		code = print(l, p, NULL);
	tdm_log_profile_done(p);
	free(p);
	return code;
}

static int run_compare(struct logs *l, char **paths)
{
	struct tdm_log_profile *p = calloc(2, sizeof *p);
	int code = p == NULL || tdm_log_profile_init(&p[0]) != 0 || tdm_log_profile_init(&p[1]) != 0
			   ? tdm_cmd_error(l->cmd, "out of memory")
			   : 0;
	for (size_t i = 0; i < 2 && code == 0; i++)
		code = profile_files(l, &paths[i], 1, &p[i]);
	if (code == 0)
		code = print(l, &p[0], &p[1]);
	for (size_t i = 0; i < 2 && p != NULL; i++)
		tdm_log_profile_done(&p[i]);
	free(p);
	return code;
}

static int set_option(struct logs *l, int option, const char *value)
{
	uint64_t limit;
	switch (option) {
	case OPT_FOLLOW:
		l->follow = true;
		break;
	case OPT_ERRORS:
		l->report.errors_only = true;
		break;
	case OPT_COMPARE:
		l->compare = true;
		break;
	case OPT_LIMIT:
		if (tdm_str_parse_u64(tdm_str_of(value), &limit) != 0 || limit == 0)
			return tdm_cmd_usage_error(
				l->cmd, "--limit: expected a number of rows from 1 on, got '%s'", value);
		l->report.limit = limit < SIZE_MAX ? (size_t)limit : SIZE_MAX;
		break;
	case OPT_JSON:
		l->json = true;
		break;
	default:
		l->report.utf8 = false;
		break;
	}
	return 0;
}

static int cmd_log_run(struct tdm_args *args)
{
	struct tdm_term term = tdm_term_detect(STDOUT_FILENO);
	struct logs l = { .cmd = args->cmd,
		.report = { .limit = LIMIT_DEFAULT, .utf8 = term.utf8, .width = term.width } };
	const char *value = NULL;
	int option;
	while ((option = tdm_args_next(args, &value)) >= 0) {
		int err = set_option(&l, option, value);
		if (err != 0)
			return err;
	}
	if (option == TDM_ARGS_ERROR)
		return TDM_EXIT_USAGE;
	size_t count = (size_t)args->positional_count;
	if (l.follow && l.compare)
		return tdm_cmd_usage_error(args->cmd, "--follow and --compare exclude each other");
	if (l.follow && count != 1)
		return tdm_cmd_usage_error(args->cmd, "--follow takes one file");
	if (l.compare && count != 2)
		return tdm_cmd_usage_error(args->cmd, "--compare takes two files, the old and the new");
	if (count > TDM_LOG_FILES_MAX)
		return tdm_cmd_usage_error(args->cmd, "at most %d files at once", TDM_LOG_FILES_MAX);
	if (l.follow) {
		struct tdm_log_follow follow = { args->positional[0], l.json, l.report.errors_only };
		return tdm_log_follow_run(args->cmd, &follow);
	}
	return l.compare ? run_compare(&l, args->positional) : run_profile(&l, args->positional, count);
}

static const struct tdm_opt log_opts[] = {
	[OPT_FOLLOW] = { "follow", 'f', NULL, "print records as a growing log says them, until interrupted" },
	[OPT_ERRORS] = { "errors", 'e', NULL, "only the errors" },
	[OPT_COMPARE] = { "compare", 'c', NULL, "set two logs side by side: the first is A, the second B" },
	[OPT_LIMIT] = { "limit", 'n', "ROWS", "print at most so many rows of each table (default: 20)" },
	[OPT_JSON] = { "json", 'j', NULL, "print JSON, sizes in bytes; with --follow an object on each line" },
	[OPT_ASCII] = { "ascii", 0, NULL, "draw with ASCII characters only" },
	{ NULL, 0, NULL, NULL },
};

static const struct tdm_example log_examples[] = {
	{ "tidemark log debug.log", "circular buffers, kernels, buffers, errors, over time" },
	{ "tidemark log --errors *.log", "what went wrong, once each" },
	{ "tidemark log --compare customer_debug.log fixed_debug.log", "a run against the repaired one" },
	{ "./program 2>&1 | tidemark log -", "straight from a program" },
	{ "tidemark log -f debug.log", "while it is being written" },
	{ NULL, NULL },
};

const struct tdm_cmd tdm_cmd_log = {
	.name = "log",
	.summary = "profile a log: circular buffers, kernels, buffers, errors, pressure",
	.usage = "[--errors] [--limit ROWS] [--json] [FILE...]\n"
		 "--compare [--json] A B\n"
		 "--follow [--errors] [--json] FILE",
	.description =
		"Reads what a run wrote: the runtime's log, with colours or without; the debug output of a program "
		"that prints its circular buffers and kernels; the log of an allocation server; memory states of "
		"tt-mlir. It says which of them it saw, and what such a log cannot tell. - is standard input. Without "
		"a file it shows a small log of its own, and says so.\n"
		"\n"
		"Several files are merged by time. An error that stands in several lines, as the logger's and as the "
		"text of the exception, is counted once. A file that cannot be read is named, the others are read, and "
		"the exit code is 2.\n"
		"\n"
		"Pressure: the miss rate of CB1 follows from sizes (tiles of B that do not fit it at once); "
		"utilization and stalls are observed, where the log has lines about them; the score is the largest of "
		"miss rate, stalls and share of L1: a heuristic. Bands of the miss rate: below 25, to 75, above; of "
		"the score: below 30, to 70, above; of the utilization: above 80, from 40, below.",
	.opts = log_opts,
	.examples = log_examples,
	.run = cmd_log_run,
};
