/*
 * Fuzz logs. Exercises: sources/log_scan.c (both searches), sources/log_prefix.c, sources/log_runtime.c,
 * sources/log_workload.c, sources/log_server.c, sources/log_fold.c, sources/log_reader.c, sources/log_source.c,
 * analyze/log_profile.c, analyze/log_pressure.c and the reports on whatever came out.
 *
 * Properties: both searches give the same lines, with the numbers that counting newlines gives; every record and every
 * event is valid; the profile's counts agree with the records; text and JSON can be written, and the JSON has no byte
 * that would have to be escaped.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_check.h"
#include "report/log_report.h"
#include "sources/log_reader.h"
#include "sources/log_source.h"

static void check_scan(const char *data, size_t size)
{
	struct tdm_log_scan fast, plain;
	struct tdm_log_line a, b;
	uint64_t newlines = 0;
	check(tdm_log_scan_memory(&fast, data, size) == 0 && tdm_log_scan_memory(&plain, data, size) == 0);
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

static void check_events(const char *data, size_t size)
{
	struct tdm_source *source = tdm_log_source_memory(data, size);
	struct tdm_event event;
	struct tdm_diag diag = { 0 };
	int got;
	check(source != NULL);
	while ((got = tdm_source_next(source, &event, &diag)) != 0)
		check(got > 0 ? tdm_event_is_valid(&event) : diag.text[0] != '\0');
	tdm_source_close(source);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tdm_log_reader reader;
	static struct tdm_log_profile profile;
	struct tdm_log_record record;
	struct tdm_diag diag = { 0 };
	struct tdm_buf line;
	uint64_t records = 0, failures = 0;
	int got;
	check_scan((const char *)data, size);
	check(tdm_log_profile_init(&profile) == 0 && tdm_log_profile_add_file(&profile, "fuzz") == 0);
	check(tdm_log_reader_memory(&reader, (const char *)data, size) == 0);
	tdm_log_reader_sample(&reader);
	tdm_buf_init(&line);
	while ((got = tdm_log_reader_next(&reader, &record, &diag)) != 0) {
		if (got < 0) {
			check(diag.text[0] != '\0' && diag.line != 0);
			continue;
		}
		check(tdm_log_record_is_valid(&record));
		check(tdm_log_profile_add(&profile, &record) == 0);
		records++;
		failures += record.type == TDM_LOG_FAILURE && !record.is_repeat;
		tdm_buf_clear(&line);
		tdm_log_record_line(&record, &line);
		check(memchr(line.data, '\n', line.len) == line.data + line.len - 1);
	}
	check(profile.files[0].records == records);
	check(profile.failure_count + profile.warning_count == failures);
	if (records != 0)
		check_reports(&profile);
	tdm_buf_done(&line);
	tdm_log_reader_done(&reader);
	tdm_log_profile_done(&profile);
	check_events((const char *)data, size);
	return 0;
}
