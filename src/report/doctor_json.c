/* The findings of `doctor` as JSON: the worst state, how many there are of each, then all of them. */
#include "report/doctor_report.h"
#include "report/finding_report.h"

void tdm_doctor_json(const struct tdm_findings *findings, struct tdm_json *json)
{
	struct tdm_finding_view view = { .findings = findings };
	uint8_t worst = TDM_FINDING_OK;
	for (size_t i = 0; i < findings->count; i++)
		worst = findings->list[i].severity > worst ? findings->list[i].severity : worst;
	tdm_json_object(json);
	tdm_json_put_text(json, "state", tdm_finding_severity_name(TDM_FAMILY_DOCTOR, (enum tdm_severity)worst));
	for (unsigned s = 0; s < TDM_SEVERITIES; s++)
		tdm_json_put_u64(json, tdm_finding_severity_name(TDM_FAMILY_DOCTOR, (enum tdm_severity)s),
			tdm_findings_count(findings, (enum tdm_severity)s));
	tdm_json_put_array(json, "findings");
	for (size_t i = 0; i < findings->count; i++)
		tdm_finding_json(&view, &findings->list[i], json);
	tdm_json_array_end(json);
	tdm_json_object_end(json);
	json->out->failed |= findings->failed;
}
