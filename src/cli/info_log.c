/*
 * Logs for `tidemark info`: those of training runs as `tidemark phases` shows them, others as `tidemark log` does. Any
 * text may be a log, so this is the last format that is tried, and it may find nothing.
 */
#include "base/err.h"
#include "base/progress.h"
#include "cli/info_format.h"
#include "cli/info_warn.h"
#include "cli/log_input.h"
#include "report/log_report.h"
#include "report/phases_report.h"
#include "sources/train_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Text. A log that was truncated while its writer went on has zeros at its beginning. */
static bool log_detect(const char *head, size_t len, const char *path)
{
	size_t at = 0;
	(void)path;
	while (at < len && head[at] == '\0')
		at++;
	for (size_t i = at; i < len; i++)
		if ((unsigned char)head[i] < ' ' && (head[i] == '\0' || strchr("\t\n\v\f\r\033", head[i]) == NULL))
			return false;
	return at < len;
}

static int refuse(const struct tdm_info_request *request, const char *why)
{
	fprintf(stderr, "%s: %s\n", request->path, why);
	if (request->json != NULL)
		tdm_json_put_text(request->json, "error", why);
	return 1;
}

/* Text in which nothing was found. */
static const char *why_nothing(int fd)
{
	char head[TDM_INFO_HEAD + 1];
	ssize_t len = pread(fd, head, sizeof head - 1, 0);
	head[len > 0 ? len : 0] = '\0';
	const char *first = head + strspn(head, " \t\r\n");
	if (*first == '{' || *first == '[')
		return "JSON, but not a graph capture: that is an array of nodes, or an object with one under "
		       "\"graph\"";
	if (strncmp(head, "device ", 7) == 0 || strncmp(head, "region ", 7) == 0 || strstr(head, "\ndevice ") != NULL ||
		strstr(head, "\nregion ") != NULL)
		return "a trace of allocations: tidemark simulate replays it";
	return "text that says nothing about memory: no line of the runtime's log, no summary of a training run";
}

/* Whether the words of a summary by phase stand anywhere in the file: reading it for them line by line takes longer. */
static bool has_summaries(int fd)
{
	static const char words[] = "Memory Usage Summary";
	enum { KEPT = sizeof words - 2 };
	char piece[(1 << 16) + KEPT];
	size_t len = 0;
	ssize_t got;
	for (off_t at = 0; (got = pread(fd, piece + len, sizeof piece - len, at)) > 0; at += got) {
		len += (size_t)got;
		if (memmem(piece, len, words, sizeof words - 1) != NULL)
			return true;
		size_t kept = len < KEPT ? len : KEPT;
		memmove(piece, piece + len - kept, kept);
		len = kept;
	}
	return false;
}

/* 1 when the file has summaries of memory by phase and they were written; 0 when it has none; or a negative code. */
static int show_phases(const struct tdm_info_request *request, struct tdm_info_warnings *warnings)
{
	struct tdm_train_log log;
	struct tdm_phases_input input = { .source = "train_log", .path = request->path };
	struct tdm_phases_options options = { .device_memory_bytes = TDM_BYTES_UNKNOWN,
		.model_bytes = TDM_BYTES_UNKNOWN,
		.optimizer_bytes = TDM_BYTES_UNKNOWN,
		.gradients_bytes = TDM_BYTES_UNKNOWN };
	int err = tdm_train_log_read(request->fd, request->path, &log);
	size_t count = log.runs.count;
	input.results = err == 0 && count != 0 ? calloc(count, sizeof *input.results) : NULL;
	if (err == 0 && count != 0 && input.results == NULL)
		err = -ENOMEM;
	if (input.results != NULL) {
		struct tdm_phases_report report = { &input, 1 };
		input.runs = log.runs;
		input.refused = log.refused;
		input.refused_count = log.refused_count;
		input.refused_shown = log.refused_count < TDM_TRAIN_LOG_REFUSED_MAX ? (size_t)log.refused_count
										    : TDM_TRAIN_LOG_REFUSED_MAX;
		for (size_t i = 0; i < input.refused_shown; i++)
			tdm_info_warn(warnings, &log.refused[i]);
		warnings->count = log.refused_count;
		tdm_phases_analyze(&input.runs, &options, input.results);
		if (request->json != NULL) {
			tdm_json_key(request->json, "phases");
			tdm_phases_json(&report, request->json);
		} else {
			tdm_phases_text(&report, &request->term, request->out);
			tdm_buf_puts(request->out, "\ntidemark phases compares such runs and draws them\n");
		}
	}
	free(input.results);
	tdm_train_log_done(&log);
	return err != 0 ? err : count != 0;
}

struct reading {
	struct tdm_log_reader reader;
	struct tdm_progress progress;
};

static void show_progress(void *context)
{
	struct reading *r = context;
	tdm_progress_update(&r->progress, tdm_log_scan_offset(&r->reader.scan));
}

static int profile_log(struct tdm_log_profile *profile, struct tdm_log_reader *reader,
	struct tdm_info_warnings *warnings, struct tdm_diag *diag)
{
	struct tdm_log_record record;
	int got, err = 0;
	tdm_log_profile_add_file(profile, warnings->path);
	tdm_log_reader_sample(reader);
	while (err == 0 && (got = tdm_log_reader_next(reader, &record, diag)) != 0) {
		if (got == TDM_ESYNTAX)
			tdm_info_warn(warnings, diag);
		else
			err = got < 0 ? got : tdm_log_profile_add(profile, &record);
		diag->file = warnings->path;
	}
	tdm_log_input_end(reader, &profile->files[0]);
	return err;
}

static int show_log(const struct tdm_info_request *request, struct tdm_info_warnings *warnings)
{
	struct tdm_log_report report = {
		.limit = request->limit, .utf8 = request->term.utf8, .width = request->term.width
	};
	struct tdm_diag diag = { .file = request->path };
	struct reading reading;
	struct tdm_log_profile *profile = malloc(sizeof *profile);
	int failed;
	if (profile == NULL || tdm_log_profile_init(profile) != 0) {
		free(profile);
		return refuse(request, "out of memory");
	}
	int err = tdm_log_reader_open(&reading.reader, request->fd);
	if (err == 0) {
		reading.reader.scan.on_read = show_progress;
		reading.reader.scan.on_read_context = &reading;
		tdm_progress_begin(&reading.progress, "reading", request->bytes);
		err = profile_log(profile, &reading.reader, warnings, &diag);
		tdm_progress_end(&reading.progress);
		tdm_log_reader_done(&reading.reader);
	}
	if (err == 0 && profile->files[0].records == 0 && profile->files[0].logger_lines == 0) {
		failed = refuse(request, why_nothing(request->fd));
	} else {
		if (request->json != NULL) {
			tdm_json_key(request->json, "log");
			tdm_log_json(profile, &report, request->json);
		} else {
			tdm_log_text(profile, &report, request->out);
		}
		failed = tdm_info_warn_end(warnings, err, &diag);
	}
	tdm_log_profile_done(profile);
	free(profile);
	return failed;
}

static int log_run(const struct tdm_info_request *request)
{
	struct tdm_info_warnings warnings = { .path = request->path };
	int got = has_summaries(request->fd) ? show_phases(request, &warnings) : 0;
	if (got > 0)
		return tdm_info_warn_end(&warnings, 0, NULL);
	if (got == 0 && lseek(request->fd, 0, SEEK_SET) != 0)
		got = -errno;
	return got < 0 ? refuse(request, tdm_err_text(got)) : show_log(request, &warnings);
}

const struct tdm_info_format tdm_info_log = {
	.name = "log",
	.summary = "log",
	.detect = log_detect,
	.run = log_run,
};
