/* Which view of `tidemark info` shows a file, and why none does. */
#include "cli/info_view.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *format, *name; /* name in JSON; NULL: the format's */
	tdm_info_run run;
	bool has_charts;
} views[] = {
	{ "graph_capture", NULL, tdm_info_capture, true },
	{ "ttnn_report", NULL, tdm_info_ttnn, true },
	{ "kernels", NULL, tdm_info_kernels, false },
	{ "memory_report", NULL, tdm_info_memory, false },
	{ "ops_perf_results", NULL, tdm_info_perf, false },
	{ "mesh_buffers", NULL, tdm_info_mesh_buffers, false },
	{ "programs", NULL, tdm_info_programs, false },
	{ "core_dump", NULL, tdm_info_cores, false },
	{ "log", NULL, tdm_info_log, false },
	{ "train_log", "log", tdm_info_train_log, false },
};
enum { VIEWS = sizeof views / sizeof *views };

static size_t view_of(const struct tdm_format *format)
{
	size_t i = 0;
	while (format != NULL && i < VIEWS && strcmp(views[i].format, format->name) != 0)
		i++;
	return format != NULL ? i : VIEWS;
}

bool tdm_info_has_view(const struct tdm_format *format)
{
	return view_of(format) != VIEWS;
}

int tdm_info_refuse_file(const struct tdm_info_request *request, const char *reason)
{
	if (request->json != NULL)
		tdm_json_put_text(request->json, "format", NULL);
	return tdm_info_refuse(request, reason);
}

static int refuse_format(const struct tdm_info_request *request)
{
	struct tdm_buf text;
	if (request->format != NULL && strcmp(request->format->name, "ledger") == 0)
		return tdm_info_refuse_file(
			request, tdm_input_packing(request->input) != NULL
					 ? "a packed ledger: unpack it for tidemark dump, status and phases"
					 : "a ledger: tidemark dump, status and phases read it");
	if (request->format != NULL && request->format->events != NULL)
		return tdm_info_refuse_file(request, "a trace of allocations: tidemark simulate replays it");
	tdm_buf_init(&text);
	tdm_buf_puts(&text, "not a kind of file that is known here (");
	for (size_t i = 0; i < VIEWS; i++)
		if (views[i].name == NULL)
			tdm_buf_printf(&text, "%s%s", i == 0 ? "" : ", ", tdm_format_find(views[i].format)->summary);
	tdm_buf_putc(&text, ')');
	int failed = tdm_info_refuse_file(
		request, tdm_buf_failed(&text) ? "not a kind of file that is known here" : text.data);
	tdm_buf_done(&text);
	return failed;
}

int tdm_info_show(struct tdm_info_request *request)
{
	struct tdm_input *input = request->input;
	struct tdm_diag diag = { 0 };
	if (tdm_input_is_folder(input)) {
		request->format = tdm_format_find("kernels");
	} else {
		if (tdm_input_head(input).len == 0) {
			snprintf(diag.text, sizeof diag.text, "cannot be read: %s", tdm_input_why(input));
			return tdm_info_refuse_file(
				request, tdm_input_why(input)[0] != '\0' ? diag.text : "the file is empty");
		}
		if (tdm_format_search(input, &request->format, &diag) != 0)
			return tdm_info_refuse_file(request, diag.text);
	}
	size_t view = view_of(request->format);
	if (view == VIEWS)
		return refuse_format(request);
	if (request->json != NULL)
		tdm_json_put_text(
			request->json, "format", views[view].name != NULL ? views[view].name : request->format->name);
	if (request->picture.chart != TDM_INFO_CHART_NONE && !views[view].has_charts) {
		tdm_info_say(request, "%s: charts are drawn of graph captures and reports of ttnn, this is a %s",
			tdm_input_name(input), request->format->summary);
		return 1;
	}
	return views[view].run(request);
}
