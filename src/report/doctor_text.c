#include "base/wrap.h"
#include "report/cell.h"
#include "report/doctor_report.h"

#include <string.h>

enum { INDENT = 11 };

/* The part of a check's name before the point: the heading that it stands below. */
static struct tdm_str group_of(const struct tdm_finding *finding)
{
	const char *point = strchr(finding->check, '.');
	return (struct tdm_str){ finding->check,
		point != NULL ? (size_t)(point - finding->check) : strlen(finding->check) };
}

/* Text of unknown origin is in these sentences: paths, names of processes, values of variables. */
static void put_paragraph(const struct tdm_term *term, const char *label, const char *text, struct tdm_buf *out)
{
	struct tdm_buf line;
	tdm_buf_init(&line);
	tdm_buf_puts(&line, label);
	tdm_cell_put(&line, tdm_str_of(text), 0, term->utf8);
	tdm_wrap(out, tdm_buf_str(&line), (struct tdm_wrap){ .at = INDENT, .indent = INDENT, .width = term->width });
	out->failed |= line.failed;
	tdm_buf_done(&line);
}

/* A command is not folded: it is there to be copied. */
static void put_command(const struct tdm_term *term, const char *command, struct tdm_buf *out)
{
	tdm_buf_fill(out, ' ', INDENT);
	tdm_buf_printf(out, "%s$ ", tdm_term_style(term, TDM_STYLE_BOLD));
	tdm_cell_put(out, tdm_str_of(command), 0, term->utf8);
	tdm_buf_printf(out, "%s\n", tdm_term_style(term, TDM_STYLE_OFF));
}

static void put_finding(const struct tdm_term *term, const struct tdm_finding *finding, struct tdm_buf *out)
{
	static const char *const styles[TDM_FINDING_STATES] = { TDM_STYLE_GREEN, TDM_STYLE_CYAN, TDM_STYLE_YELLOW,
		TDM_STYLE_RED };
	const char *name = tdm_finding_state_name(finding->state);
	tdm_buf_printf(out, "  %s%s%s", tdm_term_style(term, styles[finding->state]), name,
		tdm_term_style(term, TDM_STYLE_OFF));
	tdm_buf_fill(out, ' ', INDENT - 2 - strlen(name));
	put_paragraph(term, "", finding->found, out);
	if (finding->state >= TDM_FINDING_WARNING) {
		tdm_buf_fill(out, ' ', INDENT);
		put_paragraph(term, "looked at ", finding->looked, out);
	}
	if (finding->advice != NULL) {
		tdm_buf_fill(out, ' ', INDENT);
		put_paragraph(term, "-> ", finding->advice, out);
	}
	if (finding->command != NULL)
		put_command(term, finding->command, out);
}

static void put_sum(const struct tdm_findings *findings, struct tdm_buf *out)
{
	size_t broken = tdm_findings_count(findings, TDM_FINDING_BROKEN);
	size_t warnings = tdm_findings_count(findings, TDM_FINDING_WARNING);
	tdm_buf_putc(out, '\n');
	if (broken != 0)
		tdm_buf_printf(out, "%zu broken, ", broken);
	tdm_buf_printf(out, "%zu warning%s, %zu ok, %zu for information%s\n", warnings, warnings == 1 ? "" : "s",
		tdm_findings_count(findings, TDM_FINDING_OK), tdm_findings_count(findings, TDM_FINDING_INFO),
		broken + warnings == 0 ? ": all is well" : "");
}

void tdm_doctor_text(const struct tdm_findings *findings, const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_str group = { "", 0 };
	for (size_t i = 0; i < findings->count; i++) {
		struct tdm_str now = group_of(&findings->list[i]);
		if (!tdm_str_eq(now, group))
			tdm_buf_printf(out, "%s%s%.*s%s\n", i != 0 ? "\n" : "", tdm_term_style(term, TDM_STYLE_BOLD),
				TDM_STR_ARG(now), tdm_term_style(term, TDM_STYLE_OFF));
		group = now;
		put_finding(term, &findings->list[i], out);
	}
	put_sum(findings, out);
	out->failed |= findings->failed;
}
