/* A scan as text: findings first, then budgets, buffers and kernels, then what was not understood. */
#include <inttypes.h>

#include "report/finding_report.h"
#include "report/report_put.h"
#include "report/scan_report.h"

static void put_count_of(struct tdm_buf *out, uint64_t count, const char *what)
{
	tdm_buf_printf(out, "%s %s", TDM_COUNT_TEXT(count), what);
}

static void put_files(
	const struct tdm_scan_report *report, const struct tdm_scan_coverage *coverage, struct tdm_buf *out)
{
	tdm_put_label(out, "Scanned");
	tdm_put_count(out, report->scan->file_count, "file", "files");
	tdm_buf_printf(out, ", %s: ", TDM_SIZE_TEXT(coverage->bytes));
	put_count_of(out, coverage->files[TDM_FILE_WHOLE], "parsed whole");
	tdm_buf_puts(out, ", ");
	put_count_of(out, coverage->files[TDM_FILE_PARTIAL], "in part");
	tdm_buf_puts(out, ",\n");
	tdm_put_label(out, "");
	put_count_of(out, coverage->files[TDM_FILE_SKIPPED], "skipped without the names that matter, ");
	put_count_of(out, coverage->files[TDM_FILE_REFUSED] + report->scan->refusal_count, "refused\n");
}

static void put_found(const struct tdm_scan_report *report, const struct tdm_scan_rows *rows, struct tdm_buf *out)
{
	const struct tdm_scan_shape_row *all = &rows->coverage.all;
	uint64_t views = 0;
	for (size_t i = 0; i < rows->buffer_count; i++)
		views += rows->buffers[i].buffer->is_view;
	tdm_put_label(out, "Found");
	tdm_put_count(out, rows->buffer_count, "buffer", "buffers");
	if (views != 0)
		tdm_buf_printf(out, " (%s view%s)", TDM_COUNT_TEXT(views), tdm_plural(views));
	tdm_buf_puts(out, " in ");
	tdm_put_count(out, report->verdict->budgets.count, "program", "programs");
	tdm_buf_puts(out, ", ");
	tdm_put_count(out, rows->kernel_count, "kernel", "kernels");
	tdm_buf_puts(out, "\n");
	tdm_put_label(out, "Understood");
	put_count_of(out, all->grasp[TDM_GRASP_WHOLLY], "of ");
	tdm_put_count(out, all->places, "place", "places");
	tdm_buf_puts(out, " wholly, ");
	put_count_of(out, all->grasp[TDM_GRASP_PARTLY], "partly, ");
	put_count_of(out, all->grasp[TDM_GRASP_NOT], "not\n");
}

/* A path as it was given. */
static void put_given(const struct tdm_scan_report *report, const char *path, struct tdm_buf *out)
{
	tdm_cell_text(out, strcmp(path, "-") == 0 ? "standard input" : path, report->term.utf8);
}

static void put_head(const struct tdm_scan_report *report, const struct tdm_scan_rows *rows, struct tdm_buf *out)
{
	put_files(report, &rows->coverage, out);
	put_found(report, rows, out);
	tdm_put_label(out, "Card");
	tdm_buf_printf(out, "%s: %s of L1 for buffers in each core\n", report->card->full_name,
		TDM_SIZE_TEXT(report->verdict->budgets.l1_bytes));
	if (report->before != NULL) {
		tdm_put_label(out, "Compared with");
		put_given(report, report->before, out);
		tdm_buf_putc(out, '\n');
	}
	if (report->baseline != NULL) {
		tdm_put_label(out, "Baseline");
		tdm_cell_text(out, report->baseline, report->term.utf8);
		tdm_buf_puts(out, report->is_as_baseline ? ": no budget differs\n" : "\n");
	}
}

/* Why nothing was found: what was not understood or read, else what was looked for. */
static const char *nothing_because(const struct tdm_scan *scan, const struct tdm_scan_coverage *coverage)
{
	bool is_refused = coverage->files[TDM_FILE_REFUSED] == scan->file_count;
	if (coverage->all.places != 0)
		return "none of the places that create one was understood; the list below says why.\n";
	if (is_refused && scan->file_count + scan->refusal_count != 0)
		return "no source could be read; the list below says why.\n";
	if (scan->file_count == 0)
		return "there are no C++ or Python sources, by the endings of their names.\n";
	return "looked for CBDescriptor, CircularBufferConfig, DataflowBufferSpec, ScratchpadSpec,\n"
	       "functions that make them, and cb_descriptor_from_sharded_tensor in Python.\n";
}

static void put_nothing(
	const struct tdm_scan_report *report, const struct tdm_scan_coverage *coverage, struct tdm_buf *out)
{
	uint64_t unread = coverage->all.places + coverage->files[TDM_FILE_REFUSED] + report->scan->refusal_count;
	tdm_buf_puts(out, unread != 0 ? "\nNo buffer was read in " : "\nNo buffer is created in ");
	for (size_t i = 0; report->paths[i] != NULL; i++) {
		tdm_buf_puts(out, i != 0 ? ", " : "");
		put_given(report, report->paths[i], out);
	}
	tdm_buf_printf(out, ":\n%s", nothing_because(report->scan, coverage));
}

static void put_findings(const struct tdm_scan_report *report, struct tdm_buf *out)
{
	struct tdm_finding_view view = { .findings = &report->verdict->findings, .term = report->term };
	size_t count = report->verdict->findings.count;
	size_t shown = report->limit != 0 && count > report->limit ? report->limit : count;
	if (count == 0)
		return;
	tdm_put_heading(out, &report->term, "Findings");
	for (size_t i = 0; i < shown; i++)
		tdm_finding_text(&view, &report->verdict->findings.list[i], out);
	tdm_put_rest(out, count, shown);
}

static void put_section(
	const struct tdm_scan_report *report, const char *heading, struct tdm_table table, struct tdm_buf *out)
{
	if (table.count == 0)
		return;
	if (heading != NULL)
		tdm_put_heading(out, &report->term, heading);
	table.limit = table.skip != NULL ? 0 : report->limit;
	tdm_table_text(&table, &report->term, out);
}

static void put_path(const struct tdm_scan_report *report, const struct tdm_scan_file *file, struct tdm_buf *out)
{
	tdm_cell_text(out, file->path, report->term.utf8);
	tdm_buf_putc(out, '\n');
}

/* How many rows from `at` on are of the same file; at most so many as are still shown. */
static size_t same_file(const struct tdm_scan_buffer_row *rows, size_t count, size_t at)
{
	size_t end = at + 1;
	while (end < count && rows[end].file == rows[at].file)
		end++;
	return end - at;
}

/* A table for each file, below its path. */
static void put_buffers(const struct tdm_scan_report *report, const struct tdm_scan_rows *rows, struct tdm_buf *out)
{
	size_t count = rows->buffer_count;
	size_t shown = report->limit != 0 && count > report->limit ? report->limit : count;
	if (count == 0)
		return;
	tdm_put_heading(out, &report->term, "Buffers");
	for (size_t at = 0; at < shown;) {
		size_t here = same_file(rows->buffers, shown, at);
		struct tdm_table table = tdm_scan_buffer_table(report, &rows->buffers[at], here);
		put_path(report, rows->buffers[at].file, out);
		tdm_table_text(&table, &report->term, out);
		tdm_buf_pass(out);
		at += here;
	}
	tdm_put_rest(out, count, shown);
}

static void put_kernels(const struct tdm_scan_report *report, const struct tdm_scan_rows *rows, struct tdm_buf *out)
{
	size_t count = rows->kernel_count;
	size_t shown = report->limit != 0 && count > report->limit ? report->limit : count;
	if (count == 0)
		return;
	tdm_put_heading(out, &report->term, "Kernels");
	for (size_t at = 0; at < shown;) {
		size_t end = at + 1;
		while (end < shown && rows->kernels[end].file == rows->kernels[at].file)
			end++;
		struct tdm_table table = tdm_scan_kernel_table(report, &rows->kernels[at], end - at);
		put_path(report, rows->kernels[at].file, out);
		tdm_table_text(&table, &report->term, out);
		at = end;
	}
	tdm_put_rest(out, count, shown);
}

static void put_coverage(const struct tdm_scan_report *report, const struct tdm_scan_rows *rows, struct tdm_buf *out)
{
	if (rows->coverage.all.places + rows->coverage.all.helper_bodies != 0)
		put_section(report, "Coverage", tdm_scan_shape_table(rows), out);
	put_section(report, "Not understood wholly", tdm_scan_missed_table(rows), out);
	put_section(report, "Files that are not whole", tdm_scan_file_table(rows), out);
	put_section(report, "Paths that could not be read", tdm_scan_refusal_table(report->scan), out);
}

static void put_changes(const struct tdm_scan_report *report, struct tdm_buf *out)
{
	if (report->changes == NULL)
		return;
	tdm_put_heading(out, &report->term, "Changes");
	struct tdm_table table = tdm_scan_change_table(report);
	table.limit = report->limit;
	tdm_table_text(&table, &report->term, out);
	tdm_buf_puts(out, report->changes->count != 0 ? "and " : "");
	tdm_put_count(out, report->changes->same, "buffer is", "buffers are");
	tdm_buf_puts(out, " the same in both\n");
}

void tdm_scan_report_text(const struct tdm_scan_report *report, struct tdm_buf *out)
{
	struct tdm_scan_rows rows = { 0 };
	out->failed |= tdm_scan_rows_make(report->scan, &rows) != 0;
	if (!out->failed) {
		put_head(report, &rows, out);
		if (rows.buffer_count == 0)
			put_nothing(report, &rows.coverage, out);
		put_findings(report, out);
		put_changes(report, out);
		put_section(report, "Budgets", tdm_scan_program_table(report), out);
		if (report->changes == NULL) {
			put_buffers(report, &rows, out);
			put_kernels(report, &rows, out);
		}
		put_coverage(report, &rows, out);
	}
	tdm_scan_rows_done(&rows);
}
