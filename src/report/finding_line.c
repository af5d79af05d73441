/*
 * A finding in one line, for a list that has findings of all families: what it is about, since nothing around the line
 * says so, and its sentence.
 */
#include "analyze/log_pressure.h"
#include "report/cell.h"
#include "report/finding_report.h"
#include "report/report_put.h"

#include <inttypes.h>

/* "4242 python" */
static void put_process(const struct tdm_finding_view *view, const struct tdm_about *about, struct tdm_buf *out)
{
	bool is_known = view->picture != NULL && about->process < view->picture->process_count;
	const struct tdm_picture_host *host = is_known ? view->picture->processes[about->process].host : NULL;
	if (host != NULL)
		tdm_buf_printf(out, "%s: ", host->name);
	tdm_buf_printf(out, "%" PRId32 " ", about->pid);
	tdm_cell_text(out, about->comm != NULL ? about->comm : "", view->term.utf8);
}

/* The sentence as a cell, since it may have text of unknown origin. */
static void put_sentence(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	tdm_finding_sentence(view, finding, &text);
	tdm_cell_put(out, tdm_buf_str(&text), 0, view->term.utf8);
	out->failed |= text.failed;
	tdm_buf_done(&text);
}

/* "line 12: ", if the finding has a position in a file. */
static void put_position(const struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out)
{
	uint64_t line = tdm_finding_number(view->findings, finding, "line");
	if (line != TDM_BYTES_UNKNOWN && line != 0)
		tdm_buf_printf(out, "%s %" PRIu64 ": ", view->place != NULL ? view->place : "line", line);
}

static void leak_line(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out)
{
	const struct tdm_about *about = &finding->about;
	tdm_finding_site(view, finding, out);
	tdm_buf_puts(out, ": ");
	put_sentence(view, finding, out);
	tdm_buf_printf(out, " (%s, device %" PRId64 ", process ",
		about->kind < TDM_KIND_COUNT ? tdm_kind_name((enum tdm_kind)about->kind) : "memory", about->device);
	put_process(view, about, out);
	tdm_buf_putc(out, ')');
}

static void run_line(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out)
{
	if (finding->about.pid != 0) {
		tdm_buf_puts(out, "process ");
		put_process(view, &finding->about, out);
		tdm_buf_puts(out, ": ");
	}
	put_sentence(view, finding, out);
}

/* "dram_peak: +4,096 B: sentence", "line 63: gate: sentence" */
static void named_line(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out)
{
	const struct tdm_figure *bytes = tdm_finding_figure(view->findings, finding, "bytes");
	put_position(view, finding, out);
	if (finding->about.name != NULL && finding->about.name[0] != '\0') {
		tdm_cell_text(out, finding->about.name, view->term.utf8);
		tdm_buf_puts(out, ": ");
	}
	if (bytes != NULL && bytes->unit == TDM_UNIT_CHANGE) {
		bool is_less = (int64_t)bytes->number < 0;
		tdm_buf_printf(out, "%c%s B: ", is_less ? '-' : '+',
			TDM_COUNT_TEXT(is_less ? 0 - bytes->number : bytes->number));
	}
	put_sentence(view, finding, out);
}

/* "a.cpp:12: program: sentence" */
static void source_line(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out)
{
	const char *file = tdm_finding_word(view->findings, finding, "file");
	if (file != NULL) {
		tdm_cell_text(out, file, view->term.utf8);
		tdm_buf_printf(out, ":%" PRIu64 ": ", tdm_finding_number(view->findings, finding, "line"));
	}
	if (finding->about.name != NULL && finding->about.name[0] != '\0') {
		tdm_cell_text(out, finding->about.name, view->term.utf8);
		tdm_buf_puts(out, ": ");
	}
	put_sentence(view, finding, out);
}

/* The text of a failure is one line already. */
static void failure_line(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	put_position(view, finding, out);
	tdm_finding_text(view, finding, &text);
	tdm_cell_put(out, tdm_buf_str(&text), 0, view->term.utf8);
	out->failed |= text.failed;
	tdm_buf_done(&text);
}

/* "CB1 miss rate 75.0 %, MEDIUM" */
static void pressure_line(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out)
{
	bool is_score = finding->code == TDM_PRESSURE_SCORE;
	double value = tdm_finding_real(view->findings, finding, finding->what);
	const char *band = tdm_finding_severity_name(TDM_FAMILY_PRESSURE, (enum tdm_severity)finding->severity);
	tdm_buf_puts(out, tdm_finding_title(finding));
	if (isnan(value))
		tdm_buf_puts(out, " unknown");
	else
		tdm_buf_printf(out, is_score ? " %.0f of 100" : " %.1f %%", is_score ? value : 100 * value);
	if (band != NULL)
		tdm_buf_printf(out, ", %s", band);
}

static void (*const lines[TDM_FAMILIES])(
	struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out) = {
	[TDM_FAMILY_DOCTOR] = named_line,
	[TDM_FAMILY_LEAK] = leak_line,
	[TDM_FAMILY_REPLAY] = named_line,
	[TDM_FAMILY_CAPTURE] = named_line,
	[TDM_FAMILY_FAILURE] = failure_line,
	[TDM_FAMILY_PRESSURE] = pressure_line,
	[TDM_FAMILY_BUDGET] = source_line,
	[TDM_FAMILY_SCAN] = source_line,
	[TDM_FAMILY_RUN] = run_line,
};

void tdm_finding_line(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out)
{
	(lines[finding->family] != NULL ? lines[finding->family] : named_line)(view, finding, out);
}
