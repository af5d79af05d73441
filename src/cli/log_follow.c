#include "cli/log_follow.h"
#include "base/err.h"
#include "report/log_report.h"
#include "sources/log_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOK_MS = 200 }; /* between two looks at a file that has not grown */

/* The only thing that a signal can reach. */
static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = stop };
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static void print_record(const struct tdm_log_follow *follow, const struct tdm_log_record *record, struct tdm_buf *out)
{
	if (record->is_repeat || (follow->errors_only && record->type != TDM_LOG_FAILURE))
		return;
	tdm_buf_clear(out);
	if (follow->json) {
		struct tdm_json json;
		tdm_json_init(&json, out);
		tdm_log_record_json(record, &json);
		/* One line: the writer breaks lines between items, and a text has none. */
		for (size_t i = 0; i + 1 < out->len; i++)
			if (out->data[i] == '\n')
				out->data[i] = ' ';
	} else {
		tdm_log_record_line(record, out);
	}
	fwrite(out->data, 1, out->len, stdout);
}

/* Everything that is there now. 0, or the exit code. */
static int print_new(const struct tdm_cmd *cmd, const struct tdm_log_follow *follow, struct tdm_log_reader *reader,
	struct tdm_buf *out)
{
	struct tdm_log_record record;
	struct tdm_diag diag = { .file = follow->path };
	char text[TDM_DIAG_TEXT_CAP * 2];
	int got;
	while (!stopped && (got = tdm_log_reader_next(reader, &record, &diag)) != 0) {
		if (got > 0)
			print_record(follow, &record, out);
		else
			fprintf(stderr, "tidemark log: %s\n", tdm_diag_format(&diag, text, sizeof text));
		if (got < 0 && got != TDM_ESYNTAX)
			return TDM_EXIT_USAGE;
	}
	if (fflush(stdout) != 0) /* nobody reads any more */
		return TDM_EXIT_USAGE;
	(void)cmd;
	return 0;
}

/*
 * Whether the name leads to another file now (the log was rotated), or to the same with less in it than was read (it
 * was truncated). A file that is gone for the moment is waited for.
 */
static bool has_changed(const char *path, int fd, uint64_t seen)
{
	struct stat now, open_one;
	if (stat(path, &now) != 0 || fstat(fd, &open_one) != 0)
		return false;
	if (now.st_dev != open_one.st_dev || now.st_ino != open_one.st_ino)
		return true;
	return S_ISREG(now.st_mode) && (uint64_t)now.st_size < seen;
}

/* Begins with the file that the name leads to now. */
static void start_again(const struct tdm_log_follow *follow, struct tdm_log_reader *reader, int *fd)
{
	int fresh = open(follow->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fresh < 0)
		return;
	close(*fd);
	*fd = fresh;
	tdm_log_reader_restart(reader, fresh);
	fprintf(stderr, "tidemark log: %s begins anew\n", follow->path);
}

static int follow_file(
	const struct tdm_cmd *cmd, const struct tdm_log_follow *follow, struct tdm_log_reader *reader, int *fd)
{
	struct tdm_buf out;
	int exit_code = 0;
	tdm_buf_init(&out);
	while (exit_code == 0) {
		exit_code = print_new(cmd, follow, reader, &out);
		if (stopped || exit_code != 0)
			break;
		uint64_t seen = tdm_log_scan_offset(&reader->scan) + (reader->scan.end - reader->scan.at);
		if (has_changed(follow->path, *fd, seen)) {
			exit_code = print_new(cmd, follow, reader, &out); /* what came before the change */
			start_again(follow, reader, fd);
		} else {
			poll(NULL, 0, LOOK_MS);
		}
	}
	tdm_buf_done(&out);
	return exit_code;
}

static int follow_stdin(const struct tdm_cmd *cmd, const struct tdm_log_follow *follow, struct tdm_log_reader *reader)
{
	struct tdm_buf out;
	tdm_buf_init(&out);
	int exit_code = print_new(cmd, follow, reader, &out);
	tdm_buf_done(&out);
	return exit_code;
}

int tdm_log_follow_run(const struct tdm_cmd *cmd, const struct tdm_log_follow *follow)
{
	bool is_stdin = strcmp(follow->path, "-") == 0;
	int fd = is_stdin ? STDIN_FILENO : open(follow->path, O_RDONLY | O_CLOEXEC);
	struct tdm_log_reader reader;
	if (fd < 0)
		return tdm_cmd_error(cmd, "cannot read %s: %s", follow->path, tdm_err_text(-errno));
	catch_signals();
	setvbuf(stdout, NULL, _IOLBF, 0); /* a record is printed when it comes, also into a pipe */
	int exit_code;
	if (tdm_log_reader_open(&reader, fd) != 0) {
		exit_code = tdm_cmd_error(cmd, "out of memory");
	} else {
		reader.scan.follow = !is_stdin;
		reader.scan.prompt = true;
		exit_code = is_stdin ? follow_stdin(cmd, follow, &reader) : follow_file(cmd, follow, &reader, &fd);
	}
	tdm_log_reader_done(&reader);
	if (!is_stdin)
		close(fd);
	return exit_code;
}
