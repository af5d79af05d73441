/* Graph captures for `tidemark info`. */
#include "analyze/capture_summary.h"
#include "base/err.h"
#include "base/progress.h"
#include "base/reserve.h"
#include "cli/info_format.h"
#include "cli/picture.h"
#include "report/info_report.h"
#include "sources/graph_capture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	WARNINGS_MAX = 10, /* nodes that are named; the rest is counted */
	ERRORS_MAX = 1000, /* that are kept */
};

struct reading {
	const struct tdm_info_request *request;
	struct tdm_capture_summary summary;
	struct tdm_capture_sink inner;
	struct tdm_progress progress;
	uint64_t refused;
	struct tdm_info_error *errors;
	size_t errors_kept, errors_cap;
	uint64_t error_count;
	struct tdm_capture_course course; /* only for charts */
};

static bool capture_detect(const char *head, size_t len, const char *path)
{
	(void)path;
	return tdm_graph_capture_detect(head, len);
}

static void keep_error(struct reading *r, const struct tdm_capture_node *node)
{
	r->error_count++;
	if (r->errors_kept == ERRORS_MAX ||
		tdm_reserve(&r->errors, &r->errors_cap, r->errors_kept + 1, sizeof *r->errors) != 0)
		return; /* counted only */
	struct tdm_info_error *error = &r->errors[r->errors_kept++];
	error->node = node->index;
	snprintf(error->operation, sizeof error->operation, "%.*s", TDM_STR_ARG(node->name));
	snprintf(error->message, sizeof error->message, "%.*s", TDM_STR_ARG(node->error));
}

/* The sink's functions with one context for the summary and the warnings. */
static void pass_node(void *context, const struct tdm_capture_node *node)
{
	struct reading *r = context;
	r->inner.node(r->inner.context, node);
	if (node->type == TDM_CAPTURE_ERROR)
		keep_error(r, node);
	if (r->request->picture.chart != TDM_INFO_CHART_NONE && r->summary.err == 0)
		r->summary.err = tdm_capture_course_note(&r->course, &r->summary.exact, node);
}

static void pass_device(void *context, const struct tdm_capture_device *device)
{
	struct reading *r = context;
	r->inner.device(r->inner.context, device);
}

static void pass_member(void *context, uint64_t mesh, uint64_t chip)
{
	struct reading *r = context;
	r->inner.member(r->inner.context, mesh, chip);
}

static void warn(void *context, const struct tdm_capture_node *node, const char *text)
{
	struct reading *r = context;
	(void)node;
	if (r->refused++ < WARNINGS_MAX)
		fprintf(stderr, "%s: %s\n", r->request->path, text);
}

static void show_progress(void *context, uint64_t bytes)
{
	struct reading *r = context;
	tdm_progress_update(&r->progress, bytes);
}

static int draw(const struct reading *r)
{
	const struct tdm_info_request *request = r->request;
	struct tdm_diag diag = { .file = request->path };
	char text[TDM_DIAG_TEXT_CAP * 2];
	int err = tdm_info_capture_draw(
		&r->summary.exact, &r->course, &request->picture, &request->term, request->out, &diag);
	if (err != 0)
		fprintf(stderr, "%s\n", tdm_diag_format(&diag, text, sizeof text));
	else if (request->picture.path != NULL)
		tdm_picture_said(request->cmd, request->picture.path);
	return err != 0;
}

static int capture_run(const struct tdm_info_request *request)
{
	struct reading r = { .request = request };
	struct tdm_capture_sink sink = { &r, pass_node, pass_device, pass_member, warn };
	struct tdm_capture_counts counts;
	struct tdm_diag diag = { .file = request->path };
	char text[TDM_DIAG_TEXT_CAP * 2];
	if (tdm_capture_summary_init(&r.summary) != 0)
		return tdm_cmd_error(request->cmd, "%s: out of memory", request->path);
	tdm_capture_summary_sink(&r.summary, &r.inner);
	tdm_progress_begin(&r.progress, "reading", request->bytes);
	int err = tdm_graph_capture_read(request->fd, &sink, show_progress, &r, &counts, &diag);
	tdm_progress_end(&r.progress);
	if (r.refused > WARNINGS_MAX)
		fprintf(stderr, "%s: %" PRIu64 " more nodes that cannot be used\n", request->path,
			r.refused - WARNINGS_MAX);
	if (err != 0)
		fprintf(stderr, "%s\n", tdm_diag_format(&diag, text, sizeof text));
	int end = tdm_capture_summary_end(&r.summary);
	if (end != 0)
		fprintf(stderr, "%s: out of memory\n", request->path);
	struct tdm_info_capture_report report = {
		.summary = &r.summary,
		.counts = &counts,
		.errors = r.errors,
		.errors_kept = r.errors_kept,
		.error_count = r.error_count,
		.path = request->path,
		.cut = err != 0 || end != 0,
		.limit = request->limit,
		.term = request->term,
	};
	bool has_chart = request->picture.chart != TDM_INFO_CHART_NONE && end == 0, failed = has_chart && draw(&r) != 0;
	bool has_figures = err == 0 || counts.nodes != 0; /* none of a file that ends before its first node */
	if (request->json != NULL && err != 0)
		tdm_json_put_text(request->json, "error", diag.text);
	if (request->json != NULL && has_figures)
		tdm_info_capture_json(&report, request->json);
	else if (request->json == NULL && has_figures && !has_chart)
		tdm_info_capture_text(&report, request->out);
	tdm_capture_course_done(&r.course);
	tdm_capture_summary_done(&r.summary);
	free(r.errors);
	return err != 0 || end != 0 || r.refused != 0 || failed;
}

const struct tdm_info_format tdm_info_capture = {
	.name = "graph_capture",
	.summary = "graph capture",
	.has_charts = true,
	.detect = capture_detect,
	.run = capture_run,
};
