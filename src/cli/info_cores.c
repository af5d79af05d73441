/* Circular buffers core by core for `tidemark info`. */
#include "cli/info_format.h"
#include "cli/info_warn.h"
#include "report/report_cores.h"

static bool cores_detect(const char *head, size_t len, const char *path)
{
	(void)path;
	return tdm_core_cbs_detect(head, len);
}

static int cores_run(const struct tdm_info_request *request)
{
	struct tdm_info_warnings warnings = { .path = request->path };
	struct tdm_core_cbs cores;
	struct tdm_diag diag = { .file = request->path };
	int err = tdm_core_cbs_read(&cores, request->fd, tdm_info_warn, &warnings, &diag);
	struct tdm_cores_view view = {
		.file = { request->path, err != 0, request->limit, request->term },
		.cores = &cores,
	};
	if (request->json != NULL)
		tdm_cores_view_json(&view, request->json);
	else
		tdm_cores_view_text(&view, request->out);
	tdm_core_cbs_done(&cores);
	return tdm_info_warn_end(&warnings, err, &diag);
}

const struct tdm_info_format tdm_info_cores = {
	.name = "core_dump",
	.summary = "core dump of circular buffers",
	.detect = cores_detect,
	.run = cores_run,
};
