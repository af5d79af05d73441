/* Performance reports of operations for `tidemark info`. */
#include "cli/info_format.h"
#include "cli/info_warn.h"
#include "report/report_perf.h"

static bool perf_detect(const char *head, size_t len, const char *path)
{
	(void)path;
	return tdm_perf_csv_detect(head, len);
}

static int perf_run(const struct tdm_info_request *request)
{
	struct tdm_info_warnings warnings = { .path = request->path };
	struct tdm_perf_csv perf;
	struct tdm_diag diag = { .file = request->path };
	int err = tdm_perf_csv_read(&perf, request->fd, tdm_info_warn, &warnings, &diag);
	struct tdm_perf_view view = {
		.file = { request->path, err != 0, request->limit, request->term },
		.perf = &perf,
	};
	if (request->json != NULL)
		tdm_perf_view_json(&view, request->json);
	else
		tdm_perf_view_text(&view, request->out);
	tdm_perf_csv_done(&perf);
	return tdm_info_warn_end(&warnings, err, &diag);
}

const struct tdm_info_format tdm_info_perf = {
	.name = "ops_perf_results",
	.summary = "performance report",
	.detect = perf_detect,
	.run = perf_run,
};
