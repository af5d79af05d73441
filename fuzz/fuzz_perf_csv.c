/*
 * Fuzz the reader of performance reports. Exercises: base/csv.c, sources/perf_csv.c, report/report_perf.c.
 *
 * Properties: a refusal and a figure that is none have a text and a line; the operations have all rows but the marks;
 * the reports can be written.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_check.h"
#include "report/report_perf.h"

static void warn(void *context, const struct tdm_diag *diag)
{
	uint64_t *count = context;
	check(diag->text[0] != '\0' && diag->line != 0);
	++*count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tdm_perf_csv perf;
	struct tdm_diag diag = { 0 };
	struct tdm_buf out;
	struct tdm_json json;
	uint64_t warned = 0, calls = 0;
	struct tdm_str text = { (const char *)data, size };
	tdm_perf_csv_detect(text.ptr, text.len);
	int err = tdm_perf_csv_parse(&perf, text, warn, &warned, &diag);
	check(err == 0 || diag.text[0] != '\0');
	check(warned == perf.refused + perf.odd);
	size_t count, marks = 0;
	struct tdm_perf_operation *all = tdm_perf_operations(&perf, &count);
	check(all != NULL);
	for (size_t i = 0; i < count; i++) {
		calls += all[i].calls;
		check(all[i].measured <= all[i].calls);
	}
	for (size_t i = 0; i < perf.row_count; i++)
		marks += strcmp(tdm_perf_text(&perf, perf.rows[i].type), "signpost") == 0;
	check(calls + marks == perf.row_count);
	free(all);
	struct tdm_perf_view view = { .file = { "fuzz", err != 0, 5, { false, true, 80 } }, .perf = &perf };
	tdm_buf_init(&out);
	tdm_perf_view_text(&view, &out);
	tdm_json_init(&json, &out);
	tdm_json_object(&json);
	tdm_perf_view_json(&view, &json);
	tdm_json_object_end(&json);
	check(!tdm_buf_failed(&out));
	tdm_buf_done(&out);
	tdm_perf_csv_done(&perf);
	return 0;
}
