#include "report/doctor_report.h"
#include "report/finding_report.h"
#include "report/metal_report.h"
#include "report/report_put.h"

#include <string.h>

/* Checks, grouped by the part of their name before the dot; then the number of findings of each severity. */
void tdm_doctor_text(const struct tdm_findings *findings, const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_finding_view view = { .findings = findings, .term = *term };
	struct tdm_str last = { "", 0 };
	size_t broken = tdm_findings_count(findings, TDM_FINDING_BROKEN),
	       warnings = tdm_findings_count(findings, TDM_FINDING_WARNING);
	for (size_t i = 0; i < findings->count; i++) {
		const char *name = findings->list[i].what;
		struct tdm_str group = { name, strcspn(name, ".") };
		if (!tdm_str_eq(group, last))
			tdm_buf_printf(out, "%s%s%.*s%s\n", i != 0 ? "\n" : "", tdm_term_style(term, TDM_STYLE_BOLD),
				TDM_STR_ARG(group), tdm_term_style(term, TDM_STYLE_OFF));
		last = group;
		tdm_finding_text(&view, &findings->list[i], out);
	}
	tdm_buf_putc(out, '\n');
	if (broken != 0)
		tdm_buf_printf(out, "%zu broken, ", broken);
	tdm_buf_printf(out, "%zu warning%s, %zu ok, %zu for information%s\n", warnings, tdm_plural(warnings),
		tdm_findings_count(findings, TDM_FINDING_OK), tdm_findings_count(findings, TDM_FINDING_INFO),
		broken + warnings == 0 ? ": all is well" : "");
	out->failed |= findings->failed;
}

void tdm_doctor_json(const struct tdm_findings *findings, const struct tdm_metal_setup *metal, struct tdm_json *json)
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
	if (metal != NULL) {
		tdm_json_key(json, "metal");
		tdm_metal_json(metal, json);
	}
	tdm_json_object_end(json);
	json->out->failed |= findings->failed;
}
