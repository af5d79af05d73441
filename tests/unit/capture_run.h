/* Reads a capture for tests: both sets of figures, and what was refused. */
#ifndef TDM_TESTS_CAPTURE_RUN_H
#define TDM_TESTS_CAPTURE_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analyze/capture/capture_summary.h"
#include "base/file.h"
#include "capture_valid.h"
#include "open_input.h"
#include "input/capture/capture_json.h"

#define NODE(counter, type, connections, params)                                    \
	"{\"arguments\":[],\"connections\":[" connections "],\"counter\":" #counter \
	",\"input_tensors\":[],\"node_type\":\"" type "\",\"params\":" params ",\"stacking_level\":1}"
#define BUFFER_PARAMS "{\"buffer_type\":1,\"device_id\":0,\"layout\":\"INTERLEAVED\",\"size\":6144,\"type\":\"L1\"}"
#define ALLOC_PARAMS                                                                                               \
	"{\"address\":1492992,\"buffer_type\":1,\"device_id\":0,\"layout\":\"INTERLEAVED\",\"max_size_per_bank\":" \
	"2048,"                                                                                                    \
	"\"num_cores\":0,\"page_size\":2048,\"size\":6144,\"type\":\"L1\"}"
#define CB_PARAMS(device, address, cores, size)                                             \
	"{\"address\":" #address ",\"core_range_set\":\"" cores "\",\"device_id\":" #device \
	",\"globally_allocated\":\"0\",\"size\":" #size "}"

enum { REFUSALS_MAX = 16, REFUSAL_CAP = TDM_DIAG_TEXT_CAP };

struct capture_run {
	struct tdm_capture_summary summary;
	struct tdm_capture_course course;
	struct tdm_capture_counts counts;
	struct tdm_diag diag;
	int err;
	size_t refusals;
	char refusal[REFUSALS_MAX][REFUSAL_CAP];
};

static int run_take(void *to, const struct tdm_record *record)
{
	struct capture_run *run = to;
	tdm_capture_summary_take(&run->summary, record);
	if (record->type == TDM_RECORD_NODE)
		tdm_capture_course_note(&run->course, &run->summary.exact, record->node);
	if (record->type == TDM_RECORD_REFUSED) {
		if (run->refusals < REFUSALS_MAX)
			snprintf(run->refusal[run->refusals], REFUSAL_CAP, "%s", record->refused->text);
		run->refusals++;
	}
	return 0;
}

static struct capture_run *capture_read_pieces(const char *data, size_t len, size_t piece)
{
	struct capture_run *run = calloc(1, sizeof *run);
	assert_non_null(run);
	tdm_capture_summary_init(&run->summary);
	struct tdm_capture_json *json = tdm_capture_json_new(&(struct tdm_record_sink){ run, run_take });
	assert_non_null(json);
	for (size_t at = 0; at < len && run->err == 0; at += piece)
		run->err = tdm_capture_json_feed(json, data + at, len - at < piece ? len - at : piece, &run->diag);
	if (run->err == 0)
		run->err = tdm_capture_json_end(json, &run->diag);
	run->counts = *tdm_capture_json_counts(json);
	assert_true(capture_is_valid(&run->summary.exact));
	tdm_capture_summary_end(&run->summary);
	tdm_capture_json_free(json);
	return run;
}

static inline struct capture_run *capture_read(const char *text)
{
	return capture_read_pieces(text, strlen(text), strlen(text) + 1);
}

static inline struct capture_run *capture_read_file(const char *name)
{
	char path[512];
	struct tdm_buf text = { 0 };
	snprintf(path, sizeof path, "%s/graph/%s", TDM_TEST_DATA, name);
	assert_int_equal(tdm_file_read(path, 1 << 24, &text), 0);
	struct capture_run *run = capture_read_pieces(text.data, text.len, 1000);
	tdm_buf_done(&text);
	return run;
}

static inline void capture_done(struct capture_run *run)
{
	tdm_capture_course_done(&run->course);
	tdm_capture_summary_done(&run->summary);
	free(run);
}

static inline void assert_figure(const struct capture_run *run, enum tdm_stock_figure figure, uint64_t value)
{
	const struct tdm_stock_result *f = &run->summary.figures;
	if (!f->known[figure] || f->value[figure] != value)
		fail_msg("%s: %s%llu, expected %llu (%s)", tdm_stock_key(figure), f->known[figure] ? "" : "unknown, ",
			(unsigned long long)f->value[figure], (unsigned long long)value,
			f->why[tdm_stock_group_of(figure)]);
}

static inline void assert_right(const struct capture_run *run, enum tdm_stock_figure figure, int64_t value)
{
	if (run->summary.right[figure] != value)
		fail_msg("exact %s: %lld, expected %lld", tdm_stock_key(figure), (long long)run->summary.right[figure],
			(long long)value);
}

/* What the reasons of a figure say; 0 when there is none of that kind. */
static inline int64_t reason_of(const struct capture_run *run, enum tdm_stock_figure figure, int code)
{
	int64_t bytes[TDM_REASON_COUNT];
	tdm_capture_explain(&run->summary, figure, bytes);
	return bytes[code];
}

#endif
