/* Graph captures for `tidemark info`. */
#include "cli/info_view.h"
#include "cli/options.h"
#include "report/info_report.h"

#include <stdio.h>

struct reading {
	struct tdm_capture_summary summary;
	bool has_chart;
	struct tdm_capture_course course; /* only for charts */
};

static int take(void *to, const struct tdm_record *record)
{
	struct reading *r = to;
	int err = tdm_capture_summary_take(&r->summary, record);
	return err == 0 && r->has_chart && record->type == TDM_RECORD_NODE
		       ? tdm_capture_course_note(&r->course, &r->summary.exact, record->node)
		       : err;
}

static int draw(const struct reading *r, const struct tdm_info_request *request)
{
	struct tdm_diag diag = { .file = tdm_input_name(request->input) };
	char text[TDM_DIAG_TEXT_CAP * 2];
	int err = tdm_info_capture_draw(
		&r->summary.exact, &r->course, &request->picture, &request->term, request->out, &diag);
	if (err != 0)
		tdm_info_say(request, "%s", tdm_diag_format(&diag, text, sizeof text));
	else if (request->picture.path != NULL)
		tdm_chart_said(request->cmd, request->picture.path);
	return err != 0;
}

static void give_findings(const struct tdm_capture_summary *summary, const struct tdm_info_request *request)
{
	struct tdm_findings found = { 0 };
	if (request->digest == NULL)
		return;
	tdm_capture_errors_find(summary, &found);
	tdm_capture_find(summary, TDM_CAPTURE_FAULTS, &found);
	tdm_capture_find(summary, TDM_CAPTURE_UNKNOWN, &found);
	tdm_capture_find(summary, TDM_CAPTURE_REASONS, &found);
	tdm_capture_find(summary, TDM_CAPTURE_REMARKS, &found);
	tdm_info_found(request, &found);
}

int tdm_info_capture(const struct tdm_info_request *request)
{
	struct reading c = { .has_chart = request->picture.chart != TDM_INFO_CHART_NONE };
	struct tdm_info_reading r = { .request = request, .take = take, .to = &c, .noun = "nodes" };
	if (tdm_capture_summary_init(&c.summary) != 0)
		return tdm_info_refuse(request, "out of memory");
	tdm_info_read(&r);
	int end = tdm_capture_summary_end(&c.summary);
	if (end != 0 && r.err == 0)
		r.err = tdm_diag_set(&r.diag, end, 0, 0, "out of memory");
	int failed = tdm_info_end(&r);
	r.file.cut = r.err != 0;
	struct tdm_info_capture_report report = { &c.summary, r.file };
	bool has_figures =
		r.err == 0 || c.summary.counts.nodes != 0; /* false for a file that ends before its first node */
	if (c.has_chart && end == 0)
		failed |= draw(&c, request);
	if (request->json != NULL && r.err != 0)
		tdm_json_put_text(request->json, "error", r.diag.text);
	if (request->json != NULL && has_figures)
		tdm_info_capture_json(&report, request->json);
	else if (request->json == NULL && has_figures && !(c.has_chart && end == 0))
		tdm_info_capture_text(&report, request->out);
	if (has_figures)
		give_findings(&c.summary, request);
	else
		tdm_info_nothing(request);
	tdm_capture_course_done(&c.course);
	tdm_capture_summary_done(&c.summary);
	return failed;
}
