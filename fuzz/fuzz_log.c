/*
 * Fuzz logs. Exercises: sources/log_scan.c (both searches), sources/log_prefix.c, sources/log_runtime.c,
 * sources/log_workload.c, sources/log_server.c, sources/log_fold.c, sources/log_reader.c, sources/log_source.c,
 * analyze/log_profile.c, analyze/log_pressure.c and the reports on the result.
 *
 * Properties: both searches find the same lines, with correct line numbers; every record and every event is valid; the
 * profile's counts agree with the records; text and JSON can be written, and the JSON has no byte that should have been
 * escaped.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_input.h"
#include "report/log_report.h"
#include "sources/log_reader.h"

static void check_scan(const char *data, size_t size)
{
	struct tdm_log_scan fast, plain;
	struct tdm_log_line a, b;
	uint64_t newlines = 0;
	struct tdm_str rest[] = { { data, size }, { data, size } };
	check(tdm_log_scan_open(&fast, (struct tdm_reader){ fuzz_read_bytes, &rest[0] }) == 0);
	check(tdm_log_scan_open(&plain, (struct tdm_reader){ fuzz_read_bytes, &rest[1] }) == 0);
	tdm_log_scan_portable(&plain);
	for (int got = 1; got != 0;) {
		got = tdm_log_scan_next(&fast, false, &a);
		check(tdm_log_scan_next(&plain, false, &b) == got);
		if (got != 0)
			check(a.number == b.number && tdm_str_eq(a.text, b.text) && tdm_str_eq(a.before, b.before) &&
				tdm_str_eq(a.after, b.after));
	}
	for (size_t i = 0; i < size; i++)
		newlines += data[i] == '\n';
	check(fast.lines == newlines && plain.lines == newlines && tdm_log_scan_offset(&fast) == size);
	tdm_log_scan_done(&fast);
	tdm_log_scan_done(&plain);
}

static void check_events(const uint8_t *data, size_t size)
{
	struct tdm_input *input = fuzz_open(data, size);
	struct tdm_source *source = tdm_format_find("log")->events(input);
	struct tdm_event event;
	struct tdm_diag diag = { 0 };
	int got;
	check(source != NULL);
	while ((got = tdm_source_next(source, &event, &diag)) != 0)
		check(got > 0 ? tdm_event_is_valid(&event) : diag.text[0] != '\0');
	tdm_source_close(source);
	tdm_input_close(input);
}

static void check_reports(const struct tdm_log_profile *p)
{
	struct tdm_log_report report = { .limit = 20, .utf8 = true, .width = 100 };
	struct tdm_buf out;
	struct tdm_json json;
	tdm_buf_init(&out);
	tdm_log_text(p, &report, &out);
	tdm_log_compare_text(p, p, &report, &out);
	check(!tdm_buf_failed(&out));
	tdm_buf_clear(&out);
	tdm_json_init(&json, &out);
	tdm_json_array(&json);
	tdm_log_json(p, &report, &json);
	tdm_log_compare_json(p, p, &json);
	tdm_json_array_end(&json);
	check(!tdm_buf_failed(&out) && json.depth == 0);
	for (size_t i = 0; i < out.len; i++)
		check((unsigned char)out.data[i] >= 0x20 || out.data[i] == '\n');
	tdm_buf_done(&out);
}

struct log {
	struct tdm_log_profile profile;
	struct tdm_buf line;
	uint64_t records, failures;
};

static int take(void *to, const struct tdm_record *record)
{
	struct log *l = to;
	if (record->type == TDM_RECORD_LOG_END)
		tdm_log_profile_end_file(&l->profile, 0, record->log_end);
	if (record->type != TDM_RECORD_LOG)
		return 0;
	check(tdm_log_record_is_valid(record->log));
	l->records++;
	l->failures += record->log->type == TDM_LOG_FAILURE && !record->log->is_repeat;
	tdm_buf_clear(&l->line);
	tdm_log_record_line(record->log, &l->line);
	check(memchr(l->line.data, '\n', l->line.len) == l->line.data + l->line.len - 1);
	return tdm_log_profile_add(&l->profile, record->log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct log l;
	struct fuzz_reading r = { take, &l, true, 0 };
	check_scan((const char *)data, size);
	l.records = l.failures = 0;
	tdm_buf_init(&l.line);
	check(tdm_log_profile_init(&l.profile) == 0 && tdm_log_profile_add_file(&l.profile, "fuzz") == 0);
	fuzz_read("log", data, size, &r);
	check(l.profile.files[0].records == l.records);
	check(l.profile.failure_count + l.profile.warning_count == l.failures);
	if (l.records != 0)
		check_reports(&l.profile);
	tdm_buf_done(&l.line);
	tdm_log_profile_done(&l.profile);
	check_events(data, size);
	return 0;
}
