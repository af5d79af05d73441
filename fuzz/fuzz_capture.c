/*
 * Fuzz the reader of graph captures. Exercises: sources/capture_json.c (states, numbers, skipping), core_ranges.c,
 * capture_events.c (queue, settling, releases), analyze/capture_stock.c, capture_exact.c, program_memory.c,
 * capture_paths.c and capture_summary.c, and the reports on whatever came out.
 *
 * Properties: a refusal has a text; every event is valid; the pieces in which the input comes make no difference; sums
 * agree with the buffers; reasons add up to the difference; the reports can be written, and the JSON has no byte that
 * would have to be escaped.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_check.h"
#include "analyze/capture_summary.h"
#include "report/info_report.h"
#include "sources/graph_capture.h"

enum { EVENTS_MAX = 100000, SMALL_PIECE = 7 };

struct run {
	struct tdm_capture_summary summary;
	struct tdm_capture_sink inner;
	struct tdm_capture_counts counts;
	uint64_t refused;
	bool failed;
};

static void on_node(void *context, const struct tdm_capture_node *node)
{
	struct run *run = context;
	run->inner.node(run->inner.context, node);
}

static void on_device(void *context, const struct tdm_capture_device *device)
{
	struct run *run = context;
	check(memchr(device->arch, '\0', sizeof device->arch) != NULL);
	run->inner.device(run->inner.context, device);
}

static void on_member(void *context, uint64_t mesh, uint64_t chip)
{
	struct run *run = context;
	run->inner.member(run->inner.context, mesh, chip);
}

static void on_refuse(void *context, const struct tdm_capture_node *node, const char *text)
{
	struct run *run = context;
	check(text[0] != '\0' && !node->usable);
	run->refused++;
}

static struct run *read_in_pieces(const char *data, size_t size, size_t piece)
{
	struct run *run = calloc(1, sizeof *run);
	struct tdm_diag diag = { 0 };
	check(run != NULL && tdm_capture_summary_init(&run->summary) == 0);
	tdm_capture_summary_sink(&run->summary, &run->inner);
	struct tdm_capture_sink sink = { run, on_node, on_device, on_member, on_refuse };
	struct tdm_capture_json *json = tdm_capture_json_new(&sink);
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
	check(run->summary.nodes == run->counts.nodes);
	check(tdm_capture_exact_is_valid(&run->summary.exact));
	check(tdm_capture_summary_end(&run->summary) == 0);
	tdm_capture_json_free(json);
	return run;
}

static void check_reasons(const struct tdm_capture_summary *s)
{
	int64_t sums[TDM_STOCK_FIGURES] = { 0 };
	bool any[TDM_STOCK_FIGURES] = { false };
	check(s->reason_count <= TDM_CAPTURE_REASONS_MAX);
	for (size_t i = 0; i < s->reason_count; i++) {
		sums[s->reasons[i].figure] += s->reasons[i].bytes;
		any[s->reasons[i].figure] = true;
	}
	for (int i = 0; i < TDM_STOCK_FIGURES; i++)
		check(!any[i] || s->figures.wrapped[i] || sums[i] == (int64_t)s->figures.value[i] - s->right[i]);
}

static void check_reports(const struct run *run)
{
	struct tdm_info_capture_report report = { .summary = &run->summary,
		.counts = &run->counts,
		.path = "fuzz",
		.cut = run->failed,
		.limit = 5,
		.term = { .width = 80 } };
	struct tdm_buf out;
	struct tdm_json json;
	tdm_buf_init(&out);
	tdm_info_capture_text(&report, &out);
	check(!tdm_buf_failed(&out));
	tdm_buf_clear(&out);
	tdm_json_init(&json, &out);
	tdm_json_object(&json);
	tdm_info_capture_json(&report, &json);
	tdm_json_object_end(&json);
	check(!tdm_buf_failed(&out) && json.depth == 0);
	for (size_t i = 0; i < out.len; i++)
		check((unsigned char)out.data[i] >= 0x20 || out.data[i] == '\n');
	tdm_buf_done(&out);
}

static void check_events(const char *data, size_t size, uint64_t refused)
{
	struct tdm_source *source = tdm_graph_capture_memory(data, size);
	struct tdm_event event;
	int got = 1;
	check(source != NULL);
	for (int i = 0; i < EVENTS_MAX && got != 0; i++) {
		struct tdm_diag diag = { 0 };
		got = tdm_source_next(source, &event, &diag);
		check(got <= 0 || tdm_event_is_valid(&event));
		check(got >= 0 || diag.text[0] != '\0');
	}
	check(got != 0 || source->refused == refused);
	tdm_source_close(source);
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
	check_reports(whole);
	check_events((const char *)data, size, whole->refused + whole->failed);
	tdm_capture_summary_done(&whole->summary);
	tdm_capture_summary_done(&pieces->summary);
	free(whole);
	free(pieces);
	return 0;
}
