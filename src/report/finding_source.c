/* Findings about sources and about budgets of programs, as a compiler prints its messages. */
#include <inttypes.h>

#include "report/cell.h"
#include "report/finding_report.h"

static void put_line(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *line)
{
	const struct tdm_figure *file = tdm_finding_figure(view->findings, finding, "file");
	const char *name = finding->about.name;
	if (file != NULL)
		tdm_buf_printf(
			line, "%s:%" PRIu64 ": ", file->owned, tdm_finding_number(view->findings, finding, "line"));
	tdm_buf_printf(line, "%s: ",
		tdm_finding_severity_name(
			(enum tdm_finding_family)finding->family, (enum tdm_severity)finding->severity));
	if (name != NULL)
		tdm_buf_printf(line, "%s%s", name, file != NULL ? ": " : " ");
	tdm_finding_sentence(view, finding, line);
}

void tdm_finding_source_text(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out)
{
	static const char *const styles[TDM_SEVERITIES] = { TDM_STYLE_GREEN, TDM_STYLE_CYAN, TDM_STYLE_YELLOW,
		TDM_STYLE_RED };
	struct tdm_buf line;
	tdm_buf_init(&line);
	put_line(view, finding, &line);
	tdm_buf_puts(out, tdm_term_style(&view->term, styles[finding->severity]));
	tdm_cell_put(out, tdm_buf_str(&line), 0, view->term.utf8);
	tdm_buf_printf(out, "%s\n", tdm_term_style(&view->term, TDM_STYLE_OFF));
	if (finding->advice.count != 0) {
		tdm_buf_puts(out, "  ");
		tdm_cell_text(out, view->findings->advice[finding->advice.first].text, view->term.utf8);
		tdm_buf_putc(out, '\n');
	}
	out->failed |= line.failed;
	tdm_buf_done(&line);
}
