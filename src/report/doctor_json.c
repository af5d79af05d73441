#include "report/doctor_report.h"

void tdm_doctor_json(const struct tdm_findings *findings, struct tdm_json *json)
{
	enum tdm_finding_state worst = TDM_FINDING_OK;
	for (size_t i = 0; i < findings->count; i++)
		worst = findings->list[i].state > worst ? findings->list[i].state : worst;
	tdm_json_object(json);
	tdm_json_put_text(json, "state", tdm_finding_state_name(worst));
	for (unsigned s = 0; s < TDM_FINDING_STATES; s++) {
		tdm_json_key(json, tdm_finding_state_name((enum tdm_finding_state)s));
		tdm_json_u64(json, tdm_findings_count(findings, (enum tdm_finding_state)s));
	}
	tdm_json_put_array(json, "findings");
	for (size_t i = 0; i < findings->count; i++) {
		const struct tdm_finding *finding = &findings->list[i];
		tdm_json_object(json);
		tdm_json_put_text(json, "check", finding->check);
		tdm_json_put_text(json, "state", tdm_finding_state_name(finding->state));
		tdm_json_put_text(json, "looked_at", finding->looked);
		tdm_json_put_text(json, "found", finding->found);
		tdm_json_put_text(json, "advice", finding->advice);
		tdm_json_put_text(json, "command", finding->command);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_object_end(json);
	json->out->failed |= findings->failed;
}
