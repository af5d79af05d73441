/* A scan as JSON. */
#include "report/budget_json.h"
#include "report/finding_report.h"
#include "report/scan_report.h"

static void put_findings(const struct tdm_scan_report *report, struct tdm_json *json)
{
	struct tdm_finding_view view = { .findings = &report->verdict->findings };
	tdm_json_put_array(json, "findings");
	for (size_t i = 0; i < report->verdict->findings.count; i++)
		tdm_finding_json(&view, &report->verdict->findings.list[i], json);
	tdm_json_array_end(json);
}

static void put_files(const struct tdm_scan *scan, const struct tdm_scan_coverage *coverage, struct tdm_json *json)
{
	tdm_json_put_object(json, "files");
	tdm_json_put_u64(json, "count", scan->file_count);
	tdm_json_put_u64(json, "bytes", coverage->bytes);
	for (int i = 0; i < TDM_FILE_STATE_COUNT; i++)
		tdm_json_put_u64(json, tdm_file_state_name((enum tdm_file_state)i), coverage->files[i]);
	tdm_json_object_end(json);
}

static void put_coverage(const struct tdm_scan *scan, const struct tdm_scan_rows *rows, struct tdm_json *json)
{
	const struct tdm_scan_shape_row *all = &rows->coverage.all;
	const struct tdm_table shapes = tdm_scan_shape_table(rows), missed = tdm_scan_missed_table(rows);
	const struct tdm_table files = tdm_scan_file_table(rows), refusals = tdm_scan_refusal_table(scan);
	tdm_json_put_object(json, "coverage");
	put_files(scan, &rows->coverage, json);
	tdm_json_put_object(json, "places");
	tdm_json_put_u64(json, "count", all->places);
	for (int i = 0; i < TDM_GRASP_COUNT; i++)
		tdm_json_put_u64(json, tdm_grasp_name((enum tdm_grasp)i), all->grasp[i]);
	tdm_json_put_u64(json, "in_helpers", all->helper_bodies);
	tdm_json_object_end(json);
	tdm_json_put_table(json, "shapes", &shapes);
	tdm_json_put_table(json, "not_understood", &missed);
	tdm_json_put_table(json, "partial_files", &files);
	tdm_json_put_table(json, "refused", &refusals);
	tdm_json_object_end(json);
}

static void put_all(const struct tdm_scan_report *report, const struct tdm_scan_rows *rows, struct tdm_json *json)
{
	const struct tdm_table programs = tdm_scan_program_table(report);
	const struct tdm_table buffers = tdm_scan_buffer_table(report, rows->buffers, rows->buffer_count);
	const struct tdm_table kernels = tdm_scan_kernel_table(report, rows->kernels, rows->kernel_count);
	tdm_json_put_text(json, "card", report->card->name);
	tdm_json_put_bytes(json, "l1_bytes", report->verdict->budgets.l1_bytes);
	put_findings(report, json);
	tdm_json_put_table(json, "programs", &programs);
	tdm_budgets_json(&report->verdict->named, json);
	if (report->changes != NULL) {
		const struct tdm_table changes = tdm_scan_change_table(report);
		tdm_json_put_text(json, "before", report->before);
		tdm_json_put_table(json, "changes", &changes);
	}
	tdm_json_put_table(json, "buffers", &buffers);
	tdm_json_put_table(json, "kernels", &kernels);
	tdm_scan_checks_json(&report->verdict->mismatches, json);
	put_coverage(report->scan, rows, json);
}

void tdm_scan_report_json(const struct tdm_scan_report *report, struct tdm_json *json)
{
	struct tdm_scan_rows rows = { 0 };
	bool is_made = tdm_scan_rows_make(report->scan, &rows) == 0;
	json->out->failed |= !is_made;
	tdm_json_object(json);
	if (is_made)
		put_all(report, &rows, json);
	tdm_json_object_end(json);
	tdm_scan_rows_done(&rows);
}
