/* The findings of `doctor` as text, under a heading for each group of checks, with their number at the end. */
#include "report/doctor_report.h"
#include "report/finding_report.h"

#include <string.h>

/* The part of a check's name before the point: the heading above it. */
static struct tdm_str group_of(const struct tdm_finding *finding)
{
	return (struct tdm_str){ finding->what, strcspn(finding->what, ".") };
}

static void put_sum(const struct tdm_findings *findings, struct tdm_buf *out)
{
	size_t broken = tdm_findings_count(findings, TDM_FINDING_BROKEN),
	       warnings = tdm_findings_count(findings, TDM_FINDING_WARNING);
	tdm_buf_putc(out, '\n');
	if (broken != 0)
		tdm_buf_printf(out, "%zu broken, ", broken);
	tdm_buf_printf(out, "%zu warning%s, %zu ok, %zu for information%s\n", warnings, warnings == 1 ? "" : "s",
		tdm_findings_count(findings, TDM_FINDING_OK), tdm_findings_count(findings, TDM_FINDING_INFO),
		broken + warnings == 0 ? ": all is well" : "");
}

void tdm_doctor_text(const struct tdm_findings *findings, const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_finding_view view = { .findings = findings, .term = *term };
	struct tdm_str group = { "", 0 };
	for (size_t i = 0; i < findings->count; i++) {
		struct tdm_str now = group_of(&findings->list[i]);
		if (!tdm_str_eq(now, group))
			tdm_buf_printf(out, "%s%s%.*s%s\n", i != 0 ? "\n" : "", tdm_term_style(term, TDM_STYLE_BOLD),
				TDM_STR_ARG(now), tdm_term_style(term, TDM_STYLE_OFF));
		group = now;
		tdm_finding_text(&view, &findings->list[i], out);
	}
	put_sum(findings, out);
	out->failed |= findings->failed;
}
