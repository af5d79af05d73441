/* The inspector's files for `tidemark info`: mesh buffers; kernels of programs. */
#include "base/err.h"
#include "cli/info_format.h"
#include "cli/info_ring.h"
#include "cli/info_warn.h"
#include "report/report_inspector.h"
#include "sources/inspector_log.h"
#include "sources/kernel_cache.h"

#include <errno.h>
#include <stdlib.h>

static bool mesh_detect(const char *head, size_t len, const char *path)
{
	(void)path;
	return tdm_inspector_detect(head, len) == TDM_INSPECTOR_MESH_BUFFERS;
}

static bool programs_detect(const char *head, size_t len, const char *path)
{
	(void)path;
	return tdm_inspector_detect(head, len) == TDM_INSPECTOR_KERNELS;
}

/* Every event into the history. 0, or a code with diag set. */
static int read_mesh(struct tdm_source *source, struct tdm_buffer_history *history, struct tdm_info_warnings *warnings,
	struct tdm_diag *diag)
{
	struct tdm_event event;
	int got;
	while ((got = tdm_source_next(source, &event, diag)) != 0) {
		if (got == 1 && tdm_buffer_history_apply(history, &event, tdm_mesh_buffers_mesh_bytes(source)) != 0)
			return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory");
		if (got == TDM_ESYNTAX)
			tdm_info_warn(warnings, diag);
		else if (got < 0)
			return got;
	}
	tdm_buffer_history_sort(history);
	return 0;
}

static int mesh_run(const struct tdm_info_request *request)
{
	struct tdm_info_warnings warnings = { .path = request->path };
	struct tdm_buffer_history history;
	struct tdm_diag diag = { .file = request->path };
	struct tdm_source *source = tdm_mesh_buffers_open(request->fd);
	if (source == NULL || tdm_buffer_history_init(&history) != 0) {
		tdm_source_close(source);
		return tdm_cmd_error(request->cmd, "%s: out of memory", request->path);
	}
	int err = read_mesh(source, &history, &warnings, &diag);
	struct tdm_mesh_view view = {
		.file = { request->path, err != 0, request->limit, request->term },
		.history = &history,
		.refused = source->refused,
	};
	if (request->json != NULL)
		tdm_mesh_view_json(&view, request->json);
	else
		tdm_mesh_view_text(&view, request->out);
	tdm_source_close(source);
	tdm_buffer_history_done(&history);
	return tdm_info_warn_end(&warnings, err, &diag);
}

static int programs_run(const struct tdm_info_request *request)
{
	struct tdm_info_warnings warnings = { .path = request->path };
	struct tdm_kernel_list list;
	struct tdm_diag diag = { .file = request->path };
	int err = tdm_kernel_list_read(&list, request->fd, tdm_info_warn, &warnings, &diag);
	uint64_t *code = calloc(list.kernel_count != 0 ? list.kernel_count : 1, sizeof *code);
	if (code == NULL) {
		tdm_kernel_list_done(&list);
		return tdm_cmd_error(request->cmd, "%s: out of memory", request->path);
	}
	/* The paths lead to the cache of kernels, if this is the machine that compiled them. */
	for (size_t i = 0; i < list.kernel_count; i++)
		code[i] = tdm_kernel_cache_bytes_of(tdm_kernel_list_text(&list, list.kernels[i].path));
	struct tdm_programs_view view = {
		.file = { request->path, err != 0, request->limit, request->term },
		.list = &list,
		.code_bytes = code,
		.ring_bytes = tdm_info_ring_bytes(),
	};
	if (request->json != NULL)
		tdm_programs_view_json(&view, request->json);
	else
		tdm_programs_view_text(&view, request->out);
	free(code);
	tdm_kernel_list_done(&list);
	return tdm_info_warn_end(&warnings, err, &diag);
}

const struct tdm_info_format tdm_info_mesh_buffers = {
	.name = "mesh_buffers",
	.summary = "inspector's log of mesh buffers",
	.detect = mesh_detect,
	.run = mesh_run,
};

const struct tdm_info_format tdm_info_programs = {
	.name = "programs",
	.summary = "inspector's list of kernels",
	.detect = programs_detect,
	.run = programs_run,
};
