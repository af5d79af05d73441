/* What the names on the command line of `tidemark report` are, each file once, and the parts for each. */
#include "base/err.h"
#include "base/progress.h"
#include "base/reserve.h"
#include "cli/info_paths.h"
#include "cli/report_parts.h"
#include "device/cb_pattern.h"
#include "scan/scan_files.h"
#include "sources/folder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct inputs {
	struct tdm_report_request *request;
	char *const *named; /* by the user */
	size_t named_count;
	struct tdm_info_paths paths; /* what that leads to */
	/* Files that were reported, so that none is reported twice. */
	struct file_id {
		dev_t device;
		ino_t number;
	} * seen;
	size_t seen_count, seen_cap;
	struct names {
		const char **list; /* ends with NULL */
		size_t count, cap;
	} ledgers, sources; /* all ledgers are one item, and so are all sources */
};

/* Whether the file was seen before, under any name; remembers it. */
static bool is_seen(struct inputs *in, const char *path)
{
	struct stat st;
	if ((strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &st) : stat(path, &st)) != 0)
		return false; /* opening it says why */
	for (size_t i = 0; i < in->seen_count; i++)
		if (in->seen[i].device == st.st_dev && in->seen[i].number == st.st_ino)
			return true;
	if (tdm_reserve(&in->seen, &in->seen_cap, in->seen_count + 1, sizeof *in->seen) == 0)
		in->seen[in->seen_count++] = (struct file_id){ st.st_dev, st.st_ino };
	return false;
}

static void add_name(struct inputs *in, struct names *names, const char *path)
{
	if (tdm_reserve(&names->list, &names->cap, names->count + 2, sizeof *names->list) != 0) {
		in->request->digest.failed = true;
		return;
	}
	names->list[names->count++] = path;
	names->list[names->count] = NULL;
}

static bool is_named(const struct inputs *in, const char *path)
{
	for (size_t i = 0; i < in->named_count; i++)
		if (strcmp(in->named[i], path) == 0)
			return true;
	return false;
}

static void report_input(struct inputs *in, struct tdm_input *input, const char *path)
{
	const struct tdm_format *format = tdm_format_of(input);
	const char *name = format != NULL ? format->name : "";
	if (strcmp(name, "ledger") == 0 && strcmp(path, "-") != 0 && tdm_input_packing(input) == NULL) {
		add_name(in, &in->ledgers, path);
		return;
	}
	const struct tdm_report_item item = { .of = strcmp(name, "text_trace") == 0 ? TDM_REPORT_TRACE
										    : TDM_REPORT_FILE,
		.source = tdm_input_name(input),
		.is_found = !is_named(in, path),
		.input = input,
		.format = format };
	tdm_report_item(in->request, &item);
}

static void report_path(struct inputs *in, const char *path)
{
	struct tdm_input *input = NULL;
	char why[256];
	if (is_seen(in, path)) {
		tdm_digest_gap(
			&in->request->digest, path, "the same file was named before; it is reported once", false);
		return;
	}
	int err = tdm_input_open(path, &input);
	if (err == 0 && tdm_pattern_is_file(path) && !tdm_input_is_folder(input)) {
		const char *const paths[] = { path, NULL };
		tdm_report_item(in->request,
			&(struct tdm_report_item){ .of = TDM_REPORT_PATTERN, .source = path, .paths = paths });
	} else if (err == 0 && tdm_scan_is_source(path) && !tdm_input_is_folder(input)) {
		add_name(in, &in->sources, path);
	} else if (err == 0) {
		report_input(in, input, path);
	} else {
		snprintf(why, sizeof why, "cannot be read: %s", tdm_err_text(err));
		tdm_digest_gap(&in->request->digest, path, why, true);
	}
	tdm_input_close(input);
}

/* Says how many files of a folder are not reported, unless it is refused as a whole. */
static void skip_others(struct inputs *in, const char *folder)
{
	const struct tdm_info_paths *paths = &in->paths;
	char why[96];
	if (paths->other == 0 || (paths->count != 0 && strcmp(paths->at[paths->count - 1], folder) == 0))
		return;
	snprintf(why, sizeof why, "%" PRIu64 " %s of another kind, or %s", paths->other,
		paths->other == 1 ? "file in it is" : "files in it are", paths->other == 1 ? "a link" : "links");
	tdm_digest_gap(&in->request->digest, folder, why, false);
}

static int stop_at_source(void *context, int folder, const char *name, const char *path)
{
	bool *found = context;
	(void)folder, (void)path;
	*found |= tdm_scan_is_source(name);
	return *found ? -ECANCELED : 0;
}

static int ignore(void *context, const struct tdm_diag *diag)
{
	(void)context, (void)diag;
	return 0;
}

static bool has_sources(const char *path)
{
	bool found = false;
	const struct tdm_folder_visitor visitor = { &found, stop_at_source, ignore };
	struct tdm_walk_rest rest = { 0 };
	struct stat st;
	if (strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		tdm_folder_walk(path, &visitor, &rest);
	return found;
}

/* Adds a file, or the files of a folder; if there are sources among them, the folder itself is one, too. A tree of
 * sources may be large and deep: that not every file in it was looked at is then no failure. */
static void add_path(struct inputs *in, const char *name)
{
	struct tdm_buf why;
	tdm_buf_init(&why);
	in->paths.may_be_empty = has_sources(name);
	if (in->paths.may_be_empty)
		add_name(in, &in->sources, name);
	tdm_info_paths_add(&in->paths, name, &why);
	if (why.len != 0) /* after the name, which it begins with */
		tdm_digest_gap(
			&in->request->digest, name, why.data + strlen(name) + strlen(": "), !in->paths.may_be_empty);
	skip_others(in, name);
	in->request->digest.failed |= why.failed;
	tdm_buf_done(&why);
}

/* Reports the files that were named, and those in the folders that were named. */
static void report_paths(struct inputs *in)
{
	struct tdm_info_paths *paths = &in->paths;
	struct tdm_progress progress;
	for (size_t i = 0; i < in->named_count; i++)
		add_path(in, in->named[i]);
	tdm_progress_begin(&progress, "reporting", paths->count);
	for (size_t i = 0; i < paths->count; i++) {
		report_path(in, paths->at[i]);
		tdm_progress_update(&progress, i + 1);
	}
	tdm_progress_end(&progress);
	in->request->digest.failed |= paths->no_memory;
}

/* Reports paths that are one item. `noun`: what several of them are called. */
static void report_together(struct inputs *in, unsigned of, const struct names *names, const char *noun)
{
	char source[64];
	snprintf(source, sizeof source, "%zu %s", names->count, noun);
	const struct tdm_report_item item = {
		.of = of, .source = names->count == 1 ? names->list[0] : source, .paths = names->list
	};
	if (names->count != 0)
		tdm_report_item(in->request, &item);
}

void tdm_report_names(struct tdm_report_request *request, char *const *names, size_t count)
{
	struct inputs in = { .request = request, .named = names, .named_count = count, .paths.with_all = true };
	report_paths(&in);
	report_together(&in, TDM_REPORT_LEDGERS, &in.ledgers, "ledgers");
	report_together(&in, TDM_REPORT_SOURCES, &in.sources, "paths of sources");
	tdm_info_paths_done(&in.paths);
	free(in.seen);
	free(in.ledgers.list);
	free(in.sources.list);
}
