/*
 * The first part writes a record as a line or as a JSON object. The second part follows a file: it reads to the end,
 * waits LOOK_MS, and continues reading. If the path names a different file, or the file was truncated, reading starts
 * over at the beginning. Records are flushed one by one.
 */
#include "cli/inputs/log_follow.h"
#include "base/err.h"
#include "analyze/explain/failure_finding.h"
#include "base/units.h"
#include "view/write/cell.h"
#include "view/write/write.h"
#include "input/log/log_reader.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>

/* ---- one record ---- */

static void put_bytes(struct tdm_buf *out, const char *before, uint64_t bytes)
{
	if (bytes != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out, "%s%s", before, TDM_SIZE_TEXT(bytes));
}

static void put_number(struct tdm_buf *out, const char *before, uint64_t number, const char *after)
{
	if (number != TDM_LOG_UNKNOWN)
		tdm_buf_printf(out, "%s%" PRIu64 "%s", before, number, after);
}

static void put_duration(struct tdm_buf *out, const char *before, uint64_t ns)
{
	if (ns != TDM_LOG_UNKNOWN)
		tdm_buf_printf(out, "%s%s", before, TDM_TIME_TEXT(ns));
}

static void put_buffer(struct tdm_buf *out, const struct tdm_log_record *r)
{
	tdm_buf_puts(out, r->kind < TDM_KIND_COUNT ? tdm_kind_name((enum tdm_kind)r->kind) : "buffer");
	put_bytes(out, " ", r->bytes);
	if (r->device != TDM_LOG_DEVICE_UNKNOWN)
		tdm_buf_printf(out, " on device %" PRIu32, r->device);
	if (r->pid > 0)
		tdm_buf_printf(out, ", process %" PRId32, r->pid);
	if (r->id != TDM_LOG_UNKNOWN)
		tdm_buf_printf(out, ", buffer 0x%" PRIx64, r->id);
}

static void put_cb(struct tdm_buf *out, const struct tdm_log_record *r)
{
	if (r->name.len != 0)
		tdm_cell_put(out, r->name, 32, false);
	else
		tdm_buf_printf(out, "CB%" PRIu32, r->cb);
	put_number(out, ", ", r->tiles, r->tiles == 1 ? " tile" : " tiles");
	put_bytes(out, ", ", r->bytes);
	put_number(out, ", ", r->cores, r->cores == 1 ? " core" : " cores");
	put_duration(out, ", waited ", r->duration_ns);
}

static void put_name(struct tdm_buf *out, const struct tdm_log_record *r)
{
	tdm_cell_put(out, r->name.len != 0 ? r->name : tdm_str_of("(no name)"), 60, false);
	put_bytes(out, ", ", r->bytes);
	put_duration(out, ", ", r->duration_ns);
}

static void put_geometry(struct tdm_buf *out, const struct tdm_log_geometry *g)
{
	tdm_buf_puts(out, "L1");
	put_bytes(out, " of ", g->worker_l1_size);
	put_number(out, ", buffers from ", g->l1_base, "");
	put_bytes(out, ", for buffers ", g->allocatable_l1_size);
	put_bytes(out, ", L1_SMALL ", g->l1_small_size);
}

void tdm_log_record_line(const struct tdm_log_record *r, struct tdm_buf *out)
{
	char clock[TDM_DURATION_CAP] = "-";
	if (r->time_ns != 0)
		tdm_format_clock(clock, sizeof clock, r->time_ns);
	tdm_buf_printf(
		out, "%-12s %9" PRIu64 "  %-13s ", clock, r->line, tdm_log_type_name((enum tdm_log_type)r->type));
	switch (r->type) {
	case TDM_LOG_FAILURE:
		tdm_failure_put(&r->failure, out);
		break;
	case TDM_LOG_ALLOC:
	case TDM_LOG_FREE:
	case TDM_LOG_UNKNOWN_FREE:
		put_buffer(out, r);
		break;
	case TDM_LOG_PROCESS_GONE:
		tdm_buf_printf(out, "process %" PRId32, r->pid);
		put_number(out, ", buffers that it left: ", r->count, "");
		put_bytes(out, ", ", r->bytes);
		break;
	case TDM_LOG_REMAINING:
		put_number(out, "", r->count, " buffers of ");
		put_buffer(out, r);
		break;
	case TDM_LOG_GEOMETRY:
		put_geometry(out, &r->geometry);
		break;
	case TDM_LOG_MEMORY_STATE:
		tdm_buf_puts(out, tdm_kind_name((enum tdm_kind)r->kind));
		put_bytes(out, ", allocated ", r->view.allocated);
		put_bytes(out, " of ", r->view.total);
		put_bytes(out, ", largest free ", r->view.largest_free);
		put_number(out, ", in each of ", r->view.banks, " banks");
		break;
	case TDM_LOG_TILES:
		put_number(out, "A ", r->a_tiles, " tiles ");
		put_number(out, "B ", r->b_tiles, " tiles ");
		put_number(out, "", r->shard_tiles, " tiles per shard ");
		put_number(out, "on ", r->devices, " devices ");
		put_number(out, "on ", r->cores, " cores");
		break;
	case TDM_LOG_STACK:
		tdm_cell_put(out, r->processor, 24, false);
		put_bytes(out, ", stack used ", r->view.allocated);
		put_bytes(out, " of ", r->view.total);
		put_bytes(out, ", free ", r->view.free);
		tdm_buf_puts(out, ", kernel ");
		tdm_cell_put(out, r->name, 60, false);
		break;
	case TDM_LOG_VERIFICATION:
		put_number(out, "", r->tiles, "");
		put_number(out, " of ", r->count, " values passed");
		break;
	case TDM_LOG_CB_ALLOC:
	case TDM_LOG_CB_RESERVE:
	case TDM_LOG_CB_PUSH:
	case TDM_LOG_CB_WAIT:
	case TDM_LOG_CB_POP:
		put_cb(out, r);
		break;
	default:
		put_name(out, r);
		break;
	}
	tdm_cell_trim(out);
	tdm_buf_putc(out, '\n');
}

static void put_json(const struct tdm_log_record *r, struct tdm_json *json)
{
	tdm_json_object(json);
	tdm_json_put_text(json, "record", tdm_log_type_name((enum tdm_log_type)r->type));
	tdm_json_put_text(json, "writer", tdm_log_dialect_name((enum tdm_log_dialect)r->dialect));
	tdm_json_put_text(json, "level",
		r->level != TDM_LOG_LEVEL_NONE ? tdm_log_level_name((enum tdm_log_level)r->level) : NULL);
	tdm_json_put_u64(json, "file", r->file);
	tdm_json_put_u64(json, "line", r->line);
	tdm_json_put_known(json, "time_ns", r->time_ns != 0, r->time_ns);
	tdm_json_put_bool(json, "time_is_near", r->time_is_near);
	tdm_json_put_known(json, "rank", r->rank != TDM_LOG_NO_RANK, (uint64_t)r->rank);
	tdm_json_put_known(json, "pid", r->pid > 0, (uint64_t)r->pid);
	tdm_json_put_known(json, "device", r->device != TDM_LOG_DEVICE_UNKNOWN, r->device);
	tdm_json_put_text(json, "kind", r->kind < TDM_KIND_COUNT ? tdm_kind_name((enum tdm_kind)r->kind) : NULL);
	tdm_json_put_known(json, "cb", r->cb != TDM_LOG_CB_UNKNOWN, r->cb);
	tdm_json_put_bytes(json, "bytes", r->bytes);
	tdm_json_put_bytes(json, "tiles", r->tiles);
	tdm_json_put_bytes(json, "count", r->count);
	tdm_json_put_bytes(json, "id", r->id);
	tdm_json_put_bytes(json, "duration_ns", r->duration_ns);
	tdm_json_put_str(json, "name", r->name);
	if (r->type == TDM_LOG_FAILURE) {
		tdm_json_put_bool(json, "repeat", r->is_repeat);
		tdm_json_key(json, "failure");
		struct tdm_findings found = { 0 };
		tdm_failure_find(&r->failure, &found);
		tdm_finding_put_json(&found, found.list, json);
		tdm_findings_done(&found);
	}
	tdm_json_object_end(json);
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
		put_json(record, &json);
	} else {
		tdm_buf_puts(out, before);
		tdm_log_record_line(record, out);
	}
	fwrite(out->data, 1, out->len, stdout);
}

/* ---- following ---- */

enum { LOOK_MS = 200 }; /* interval between checks of a file that has not grown */

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

/* Prints all records that the file currently contains. 0, or the exit code. */
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
	return fflush(stdout) != 0 ? TDM_EXIT_USAGE : 0; /* the reader of the output is gone */
}

/* Refuses a compressed file, which cannot be followed. 0 for a plain file, or the exit code. */
static int check_plain(const struct tdm_cmd *cmd, struct tdm_input *input)
{
	const char *packing = tdm_input_packing(input);
	return packing == NULL ? 0
			       : tdm_cmd_error(cmd, "%s is packed with %s: only a plain log can be followed",
					 tdm_input_name(input), packing);
}

/* Reopens the path, after the file was replaced or truncated. Does nothing if the file has disappeared again. */
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
		exit_code = print_new(follow, reader, &out); /* records written before the change */
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
	tdm_log_reader_open(&reader, input);
	int exit_code = check_plain(cmd, input);
	if (exit_code == 0) {
		reader.scan.follow = strcmp(follow->path, "-") != 0;
		reader.scan.prompt = true;
		exit_code = follow_input(cmd, follow, &reader, &input);
	}
	tdm_log_reader_done(&reader);
	tdm_input_close(input);
	return exit_code;
}
