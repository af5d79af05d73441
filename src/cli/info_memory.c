/* The memory reporter's files for `tidemark info`. */
#include "base/err.h"
#include "cli/info_format.h"
#include "cli/info_warn.h"
#include "report/report_memory.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* How the names end; what stands before is the same for the files of one run. */
static const char *const endings[TDM_MEMORY_FORMS] = { "memory_usage_summary.csv", "l1_usage_summary.csv",
	"detailed_memory_usage.csv" };

static bool memory_detect(const char *head, size_t len, const char *path)
{
	(void)path;
	return tdm_memory_report_detect(head, len) >= 0;
}

/* The form of the file that is open, from its beginning. */
static int form_of(const struct tdm_info_request *request)
{
	char head[TDM_INFO_HEAD];
	ssize_t got = pread(request->fd, head, sizeof head, 0);
	return got > 0 ? tdm_memory_report_detect(head, (size_t)got) : -1;
}

/* The path of the file of another form that lies beside this one; empty: the name does not tell. */
static void path_beside(const char *path, int form, int other, char dst[PATH_MAX])
{
	size_t len = strlen(path), ending = strlen(endings[form]), wanted = strlen(endings[other]);
	dst[0] = '\0';
	if (len < ending || strcmp(path + len - ending, endings[form]) != 0 || len - ending + wanted >= PATH_MAX)
		return;
	memcpy(dst, path, len - ending);
	memcpy(dst + len - ending, endings[other], wanted + 1);
}

/*
 * A summary does not say how many banks there are; the blocks or the L1 summary of the same run do. That file is not
 * what was asked for: what is wrong with it is not said here. Whether there is one.
 */
static bool read_beside(
	const struct tdm_info_request *request, int form, struct tdm_memory_report *beside, char path[PATH_MAX])
{
	static const uint8_t others[] = { TDM_MEMORY_DETAILED, TDM_MEMORY_L1 };
	for (size_t i = 0; form == TDM_MEMORY_SUMMARY && i < sizeof others; i++) {
		struct tdm_diag diag = { 0 };
		path_beside(request->path, form, others[i], path);
		int fd = path[0] != '\0' ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
		if (fd < 0)
			continue;
		int err = tdm_memory_report_read(beside, (enum tdm_memory_form)others[i], fd, NULL, NULL, &diag);
		close(fd);
		if (err == 0 && beside->state_count != 0)
			return true;
		tdm_memory_report_done(beside);
	}
	return false;
}

static int memory_run(const struct tdm_info_request *request)
{
	struct tdm_info_warnings warnings = { .path = request->path };
	struct tdm_memory_report report, beside;
	struct tdm_diag diag = { .file = request->path };
	char path[PATH_MAX];
	int form = form_of(request);
	if (form < 0)
		return tdm_cmd_error(request->cmd, "%s: the file has changed", request->path);
	int err = tdm_memory_report_read(
		&report, (enum tdm_memory_form)form, request->fd, tdm_info_warn, &warnings, &diag);
	bool has_beside = read_beside(request, form, &beside, path);
	struct tdm_memory_view view = {
		.file = { request->path, err != 0, request->limit, request->term },
		.report = &report,
		.beside = has_beside ? &beside : NULL,
		.beside_path = path,
	};
	if (request->json != NULL)
		tdm_memory_view_json(&view, request->json);
	else
		tdm_memory_view_text(&view, request->out);
	if (has_beside)
		tdm_memory_report_done(&beside);
	tdm_memory_report_done(&report);
	return tdm_info_warn_end(&warnings, err, &diag);
}

const struct tdm_info_format tdm_info_memory = {
	.name = "memory_report",
	.summary = "memory report",
	.detect = memory_detect,
	.run = memory_run,
};
