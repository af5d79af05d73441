/*
 * Fuzz the reader of graph captures. Exercises: input/capture/capture_json.c (states, numbers, skipping),
 * core_ranges.c, graph_capture.c (queue, settling, releases), analyze/capture/capture_stock.c, capture_exact.c,
 * capture_summary.c and capture_result.c.
 *
 * Properties: a refusal has a text; every event is valid; the result does not depend on the pieces in which the input
 * is read; sums agree with the buffers; reasons add up to the difference; the reports can be written, and the JSON has
 * no byte that should have been escaped.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/unit/capture_valid.h"
#include "fuzz_input.h"
#include "fuzz_write.h"
#include "analyze/capture/capture_summary.h"
#include "analyze/report/report_analyser.h"
#include "input/capture/capture_json.h"

enum { EVENTS_MAX = 100000, SMALL_PIECE = 7 };

struct run {
	struct tdm_capture_summary summary;
	struct tdm_capture_counts counts;
	uint64_t nodes, refused;
	bool failed;
};

static int take(void *to, const struct tdm_record *record)
{
	struct run *run = to;
	run->nodes += record->type == TDM_RECORD_NODE;
	if (record->type == TDM_RECORD_REFUSED) {
		check(record->refused->text[0] != '\0');
		run->refused++;
	}
	if (record->type == TDM_RECORD_DEVICE)
		check(memchr(record->device->arch, '\0', sizeof record->device->arch) != NULL);
	return tdm_capture_summary_take(&run->summary, record);
}

static struct run *read_in_pieces(const char *data, size_t size, size_t piece)
{
	struct run *run = calloc(1, sizeof *run);
	struct tdm_diag diag = { 0 };
	check(run != NULL);
	tdm_capture_summary_init(&run->summary);
	struct tdm_capture_json *json = tdm_capture_json_new(&(struct tdm_record_sink){ run, take });
	check(json != NULL);
	int err = 0;
	for (size_t at = 0; at < size && err == 0; at += piece)
		err = tdm_capture_json_feed(json, data + at, size - at < piece ? size - at : piece, &diag);
	if (err == 0)
		err = tdm_capture_json_end(json, &diag);
	check(err == 0 || diag.text[0] != '\0');
	run->failed = err != 0;
	run->counts = *tdm_capture_json_counts(json);
	check(run->counts.refused == run->refused && run->counts.refused <= run->counts.nodes);
	check(run->nodes == run->counts.nodes);
	run->summary.counts = run->counts;
	check(capture_is_valid(&run->summary.exact));
	tdm_capture_summary_end(&run->summary);
	tdm_capture_json_free(json);
	return run;
}

static void check_reasons(const struct tdm_capture_summary *s)
{
	for (int figure = 0; figure < TDM_STOCK_FIGURES; figure++) {
		int64_t bytes[TDM_REASON_COUNT], sum = 0;
		bool any = tdm_capture_explain(s, (enum tdm_stock_figure)figure, bytes);
		for (int i = 0; i < TDM_REASON_COUNT; i++)
			sum += bytes[i];
		check(!any || s->figures.wrapped[figure] ||
			sum == (int64_t)s->figures.value[figure] - s->right[figure]);
	}
}

/* As `info` shows it; fuzz_write() checks what is written. */
static void check_reports(const uint8_t *data, size_t size)
{
	struct tdm_capture_summary *summary = calloc(1, sizeof *summary);
	struct tdm_result *result = tdm_result_new();
	struct tdm_intake reading = { .input = fuzz_open(data, size),
		.format = tdm_format_find("graph_capture"),
		.to = summary,
		.take = tdm_capture_report.take };
	check(summary != NULL);
	tdm_capture_report.init(summary, &reading);
	tdm_intake_run(&reading);
	tdm_capture_report.end(summary);
	tdm_capture_report.show(summary, &reading, 5, &result->top);
	fuzz_write(result);
	tdm_result_free(result);
	tdm_capture_report.done(summary);
	free(summary);
	tdm_input_close(reading.input);
}

static void check_events(const uint8_t *data, size_t size, uint64_t refused)
{
	struct tdm_input *input = fuzz_open(data, size);
	bool is_plain =
		tdm_input_packing(input) == NULL && !tdm_str_is_utf16((struct tdm_str){ (const char *)data, size });
	struct tdm_source *source = tdm_format_find("graph_capture")->events(input);
	struct tdm_event event;
	int got = 1;
	check(source != NULL);
	for (int i = 0; i < EVENTS_MAX && got != 0; i++) {
		struct tdm_diag diag = { 0 };
		got = tdm_source_next(source, &event, &diag);
		check(got <= 0 || tdm_event_is_valid(&event));
		check(got >= 0 || diag.text[0] != '\0');
	}
	check(got != 0 || source->refused == refused || !is_plain);
	tdm_source_close(source);
	tdm_input_close(input);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run *whole = read_in_pieces((const char *)data, size, size != 0 ? size : 1);
	struct run *pieces = read_in_pieces((const char *)data, size, SMALL_PIECE);
	check(whole->failed == pieces->failed);
	if (!whole->failed) {
		check(whole->counts.nodes == pieces->counts.nodes && whole->refused == pieces->refused);
		check(memcmp(whole->summary.right, pieces->summary.right, sizeof whole->summary.right) == 0);
		check(memcmp(&whole->summary.figures, &pieces->summary.figures, sizeof whole->summary.figures) == 0);
	}
	check_reasons(&whole->summary);
	check_reports(data, size);
	check_events(data, size, whole->refused + whole->failed);
	tdm_capture_summary_done(&whole->summary);
	tdm_capture_summary_done(&pieces->summary);
	free(whole);
	free(pieces);
	return 0;
}
