/* ttnn's reports of operations for `tidemark info`. */
#include "analyze/operation_memory.h"
#include "cli/info_view.h"
#include "cli/options.h"
#include "report/operations_chart.h"
#include "report/report_files.h"

static int draw(const struct tdm_operation_memory *memory, const struct tdm_info_request *request)
{
	struct tdm_diag diag = { .file = tdm_input_name(request->input) };
	char text[TDM_DIAG_TEXT_CAP * 2];
	int err = tdm_operations_draw(memory, &request->picture, &request->term, request->out, &diag);
	if (err != 0)
		tdm_info_say(request, "%s", tdm_diag_format(&diag, text, sizeof text));
	else if (request->picture.path != NULL)
		tdm_chart_said(request->cmd, request->picture.path);
	return err != 0;
}

int tdm_info_ttnn(const struct tdm_info_request *request)
{
	struct tdm_operation_memory memory;
	struct tdm_findings found = { 0 };
	struct tdm_info_reading r = {
		.request = request, .take = tdm_operation_memory_take, .to = &memory, .noun = "rows"
	};
	bool has_chart = request->picture.chart != TDM_INFO_CHART_NONE;
	if (tdm_operation_memory_init(&memory) != 0) {
		tdm_operation_memory_done(&memory);
		return tdm_info_refuse(request, "out of memory");
	}
	tdm_info_read(&r);
	int end = tdm_operation_memory_end(&memory);
	if (end != 0 && r.err == 0)
		r.err = tdm_diag_set(&r.diag, end, 0, 0, "out of memory");
	r.file.cut = r.err != 0;
	int failed = tdm_info_end(&r);
	bool has_figures = memory.has_head && end == 0; /* false for a file that is no such report */
	if (has_chart && has_figures)
		failed |= draw(&memory, request);
	if (request->json != NULL && r.err != 0)
		tdm_json_put_text(request->json, "error", r.diag.text);
	if (request->json != NULL && has_figures)
		tdm_operations_json(&memory, &r.file, request->json);
	else if (request->json == NULL && has_figures && !has_chart)
		tdm_operations_text(&memory, &r.file, request->out);
	if (!has_figures)
		tdm_info_nothing(request);
	else if (request->digest != NULL) {
		tdm_operation_errors_find(&memory, &found);
		tdm_operation_memory_find(&memory, &found);
		tdm_info_found(request, &found);
	}
	tdm_operation_memory_done(&memory);
	return failed;
}
