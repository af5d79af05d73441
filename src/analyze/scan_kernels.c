#include "analyze/scan_kernels.h"

#include <inttypes.h>
#include <stdio.h>

/* A mismatch with all that its sentence needs. */
struct case_of {
	const struct tdm_scan *scan;
	const struct tdm_mismatch *mismatch;
	const struct tdm_scan_file *file;
	const struct tdm_scan_kernel *kernel;
};

/* What people call the buffer: "circular buffer 3", "dataflow buffer in0". */
static void name_buffer(const struct tdm_kernel_use *use, char *text, size_t cap)
{
	if (use->index >= 0)
		snprintf(text, cap, "circular buffer %" PRId32, use->index);
	else
		snprintf(text, cap, "dataflow buffer %s", use->name);
}

static void say(const struct case_of *at, struct tdm_findings *found)
{
	const struct tdm_kernel_use *use = at->mismatch->use;
	const char *action = tdm_kernel_action_name((enum tdm_kernel_action)use->action);
	char buffer[120];
	name_buffer(use, buffer, sizeof buffer);
	switch ((enum tdm_mismatch_kind)at->mismatch->kind) {
	case TDM_MISMATCH_NOBODY_PUSHES:
		tdm_findings_say(found, "the kernel waits on %s, which no kernel of the program pushes", buffer);
		tdm_findings_advise(
			found, NULL, "push its pages in another kernel, or remove the wait: the kernel hangs");
		break;
	case TDM_MISMATCH_NOT_CREATED:
		tdm_findings_say(found, "the kernel uses %s (%s), which the program does not create", buffer, action);
		tdm_findings_advise(found, NULL, "create the buffer on the host, or correct the index in the kernel");
		break;
	case TDM_MISMATCH_NOT_BOUND:
		tdm_findings_say(
			found, "the kernel uses %s (%s), and the host binds no buffer to that name", use->name, action);
		tdm_findings_advise(found, NULL, "add a DFBBinding with that accessor name, or correct the name");
		break;
	default:
		tdm_findings_say(found, "%s(%s) needs %" PRId64 " pages of %s, which has %" PRIu64, action, use->pages,
			use->pages_min, buffer, at->mismatch->pages);
		tdm_findings_advise(
			found, NULL, "make the buffer larger, or move fewer pages at once: the kernel hangs");
		break;
	}
}

static void add_finding(const struct case_of *at, struct tdm_findings *found)
{
	const struct tdm_kernel_use *use = at->mismatch->use;
	const char *what = tdm_mismatch_name((enum tdm_mismatch_kind)at->mismatch->kind);
	struct tdm_finding *finding = tdm_findings_add(found, TDM_FAMILY_SCAN, what, TDM_FINDING_BROKEN);
	finding->about.name = at->file->programs[at->kernel->program].name;
	finding->code = at->mismatch->kind;
	say(at, found);
	tdm_findings_place(found, "file", tdm_str_of(at->scan->files[use->file].path));
	tdm_findings_position(found, "line", TDM_UNIT_COUNT, use->line);
	tdm_findings_place(found, "host_file", tdm_str_of(at->file->path));
	tdm_findings_position(found, "host_line", TDM_UNIT_COUNT, at->kernel->line);
	tdm_findings_figure(found, "index", TDM_UNIT_COUNT, use->index >= 0 ? (uint64_t)use->index : TDM_BYTES_UNKNOWN);
	tdm_findings_word(found, "buffer", use->name[0] != '\0' ? use->name : NULL);
	tdm_findings_word(found, "action", tdm_kernel_action_name((enum tdm_kernel_action)use->action));
	tdm_findings_figure(found, "pages", TDM_UNIT_COUNT,
		use->pages_min == use->pages_max && use->pages_min >= 0 ? (uint64_t)use->pages_min : TDM_BYTES_UNKNOWN);
	tdm_findings_figure(found, "buffer_pages", TDM_UNIT_COUNT, at->mismatch->pages);
}

void tdm_scan_kernels_judge(
	const struct tdm_scan *scan, const struct tdm_mismatches *mismatches, struct tdm_findings *found)
{
	for (size_t i = 0; i < mismatches->count; i++) {
		const struct tdm_mismatch *mismatch = &mismatches->list[i];
		const struct tdm_scan_file *file = &scan->files[mismatch->file];
		add_finding(&(struct case_of){ scan, mismatch, file, &file->kernels[mismatch->kernel] }, found);
	}
}
