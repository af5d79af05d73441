#include "cli/log_follow.h"
#include "base/err.h"
#include "report/log_report.h"
#include "sources/log_reader.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>

enum { LOOK_MS = 200 }; /* between two checks of a file that has not grown */

/* Set by the signal handler. */
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

bool tdm_log_is_printed(const struct tdm_log_follow *follow, const struct tdm_log_record *record)
{
	return !record->is_repeat && (!follow->errors_only || record->type == TDM_LOG_FAILURE);
}

void tdm_log_print_record(const struct tdm_log_follow *follow, const struct tdm_log_record *record, const char *before,
	struct tdm_buf *out)
{
	if (!tdm_log_is_printed(follow, record))
		return;
	tdm_buf_clear(out);
	if (follow->json) {
		struct tdm_json json;
		tdm_json_init(&json, out);
		json.compact = true;
		tdm_log_record_json(record, &json);
	} else {
		tdm_buf_puts(out, before);
		tdm_log_record_line(record, out);
	}
	fwrite(out->data, 1, out->len, stdout);
}

/* Prints everything that is there now. 0, or the exit code. */
static int print_new(const struct tdm_log_follow *follow, struct tdm_log_reader *reader, struct tdm_buf *out)
{
	struct tdm_log_record record;
	struct tdm_diag diag = { .file = follow->path };
	char text[TDM_DIAG_TEXT_CAP * 2];
	int got;
	while (!stopped && (got = tdm_log_reader_next(reader, &record, &diag)) != 0) {
		if (got > 0)
			tdm_log_print_record(follow, &record, "", out);
		else
			tdm_cmd_say("tidemark log: %s", tdm_diag_format(&diag, text, sizeof text));
		if (got < 0 && got != TDM_ESYNTAX)
			return TDM_EXIT_USAGE;
	}
	return fflush(stdout) != 0 ? TDM_EXIT_USAGE : 0; /* the reader has left */
}

/* Refuses a packed file, which cannot be followed. 0 for a plain one, or the exit code. */
static int check_plain(const struct tdm_cmd *cmd, struct tdm_input *input)
{
	const char *packing = tdm_input_packing(input);
	return packing == NULL ? 0
			       : tdm_cmd_error(cmd, "%s is packed with %s: only a plain log can be followed",
					 tdm_input_name(input), packing);
}

/* Opens the path again: it is another file now, or the same file has been truncated. Does nothing if it is gone
 * again. */
static int start_again(const struct tdm_cmd *cmd, const struct tdm_log_follow *follow, struct tdm_log_reader *reader,
	struct tdm_input **input)
{
	struct tdm_input *fresh;
	if (tdm_input_open(follow->path, &fresh) != 0)
		return 0;
	tdm_input_close(*input);
	*input = fresh;
	tdm_log_reader_restart(reader, fresh);
	tdm_cmd_say("tidemark log: %s starts again", follow->path);
	return check_plain(cmd, fresh);
}

static int follow_input(const struct tdm_cmd *cmd, const struct tdm_log_follow *follow, struct tdm_log_reader *reader,
	struct tdm_input **input)
{
	struct tdm_buf out;
	int exit_code;
	tdm_buf_init(&out);
	while ((exit_code = print_new(follow, reader, &out)) == 0 && !stopped && reader->scan.follow) {
		if (!tdm_input_has_changed(*input)) {
			poll(NULL, 0, LOOK_MS);
			continue;
		}
		exit_code = print_new(follow, reader, &out); /* what was written before the change */
		exit_code = exit_code != 0 ? exit_code : start_again(cmd, follow, reader, input);
		if (exit_code != 0)
			break;
	}
	tdm_buf_done(&out);
	return exit_code;
}

int tdm_log_follow_run(const struct tdm_cmd *cmd, const struct tdm_log_follow *follow)
{
	struct tdm_log_reader reader;
	struct tdm_input *input = NULL;
	int err = tdm_input_open(follow->path, &input);
	if (err != 0)
		return tdm_cmd_error(cmd, "cannot read %s: %s", follow->path, tdm_err_text(err));
	catch_signals();
	setvbuf(stdout, NULL, _IOLBF, 0); /* print each record at once, even into a pipe */
	err = tdm_log_reader_open(&reader, input);
	int exit_code = err != 0 ? tdm_cmd_error(cmd, "out of memory") : check_plain(cmd, input);
	if (exit_code == 0) {
		reader.scan.follow = strcmp(follow->path, "-") != 0;
		reader.scan.prompt = true;
		exit_code = follow_input(cmd, follow, &reader, &input);
	}
	tdm_log_reader_done(&reader);
	tdm_input_close(input);
	return exit_code;
}
