/*
 * Fuzz logs. Exercises: input/log/log_scan.c (both searches), input/log/log_message.c,
 * input/log/log_workload.c, input/log/log_reader.c, input/log/log_source.c, analyze/log/log_profile.c and the reports
 * on the result.
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
#include "analyze/log/log_profile.h"
#include "fuzz_write.h"
#include "cli/inputs/log_follow.h"
#include "input/log/log_reader.h"
#include "../tests/unit/log_record_valid.h"

static void check_scan(const char *data, size_t size)
{
	struct tdm_log_scan fast, plain;
	struct tdm_log_line a, b;
	uint64_t newlines = 0;
	struct tdm_str rest[] = { { data, size }, { data, size } };
	tdm_log_scan_open(&fast, (struct tdm_reader){ fuzz_read_bytes, &rest[0] });
	tdm_log_scan_open(&plain, (struct tdm_reader){ fuzz_read_bytes, &rest[1] });
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
	struct tdm_result *result = tdm_result_new();
	tdm_log_show(tdm_add_group(&result->top, "log", NULL), p, 20, false);
	tdm_log_show_both(tdm_add_group(&result->top, "compare", NULL), p, p);
	fuzz_write(result);
	tdm_result_free(result);
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
		l->profile.files[0].counts = *record->log_end;
	if (record->type != TDM_RECORD_LOG)
		return 0;
	check(log_record_is_valid(record->log));
	l->records++;
	l->failures += record->log->type == TDM_LOG_FAILURE && !record->log->is_repeat;
	tdm_buf_clear(&l->line);
	tdm_log_record_line(record->log, &l->line);
	check(memchr(l->line.data, '\n', l->line.len) == l->line.data + l->line.len - 1);
	tdm_log_profile_add(&l->profile, record->log);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct log l;
	struct fuzz_reading r = { take, &l, true, 0 };
	check_scan((const char *)data, size);
	l.records = l.failures = 0;
	tdm_buf_init(&l.line);
	l.profile = (struct tdm_log_profile){ 0 };
	tdm_log_profile_add_file(&l.profile, "fuzz");
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
