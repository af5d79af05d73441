/* What leaks, as JSON: how it was watched, the verdicts by number, and the sites that were asked for. */
#include "report/finding_report.h"
#include "report/leaks_report.h"

void tdm_leaks_json(const struct tdm_leaks_report *report, struct tdm_json *json)
{
	const struct tdm_leaks_result *result = report->result;
	struct tdm_finding_view view = { .findings = report->findings, .picture = report->live->picture };
	tdm_json_object(json);
	tdm_json_put_name(json, "directory", report->live->dir);
	tdm_json_put_u64(json, "watched_ns", result->watched_ns);
	tdm_json_put_known(json, "interval_ns", report->interval_ns != 0, report->interval_ns);
	tdm_json_put_u64(json, "pictures", result->samples);
	tdm_json_put_u64(json, "leaks", tdm_leaks_chosen(report, TDM_FINDING_BROKEN));
	tdm_json_put_u64(json, "suspects", tdm_leaks_chosen(report, TDM_FINDING_WARNING));
	tdm_json_put_u64(json, "steady", tdm_leaks_chosen(report, TDM_FINDING_OK));
	tdm_json_put_u64(json, "buffers_beyond_limit", result->sites_left_out);
	tdm_json_put_array(json, "sites");
	for (size_t i = 0; i < report->findings->count; i++)
		if (tdm_leaks_is_shown(report, &report->findings->list[i]))
			tdm_finding_json(&view, &report->findings->list[i], json);
	tdm_json_array_end(json);
	tdm_stack_symbols_done(&view.symbols);
	tdm_live_json_problems(report->live, json);
	tdm_json_object_end(json);
}
