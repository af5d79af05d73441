/* Findings of all analysers as text for people and as JSON for programs. */
#ifndef TDM_REPORT_FINDING_REPORT_H
#define TDM_REPORT_FINDING_REPORT_H

#include "analyze/finding.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/term.h"
#include "event/failure.h"
#include "report/stack_report.h"
#include "report/table.h"

struct tdm_finding_view {
	const struct tdm_findings *findings;
	struct tdm_term term;
	const char *place;                 /* the unit of a position in a file, "line" or "byte"; NULL: "line" */
	const struct tdm_picture *picture; /* with the processes and stacks of the findings; may be NULL */
	struct tdm_stack_symbols symbols;  /* zeroed to begin with; release with tdm_stack_symbols_done() */
	bool stacks;                       /* show whole call stacks */
};

/* The title of a failure or an indicator: "out of memory", "CB1 miss rate". */
const char *tdm_finding_title(const struct tdm_finding *finding);

/* One sentence with figures, without the full stop. */
void tdm_finding_sentence(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out);

/* The name or call stack of the place that allocated what a leak is about. */
void tdm_finding_site(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out);

/* The finding in one line that can stand alone: what it is about, then the sentence. finding_line.c */
void tdm_finding_line(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out);

/* The whole finding, as lines; of a failure in a log, which is a row of a table, only the title and the sentence. */
void tdm_finding_text(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out);

/* The same for findings about sources: "path:line: broken: name: sentence", with advice below. A finding without a
 * place is about a budget by its name. */
void tdm_finding_source_text(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out);

/* Writes all findings and releases them. */
void tdm_findings_text(struct tdm_findings *found, const struct tdm_term *term, struct tdm_buf *out);

/* An object for one finding; all findings, which are released; and the keys of one finding without the braces. */
void tdm_finding_json(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_json *json);
void tdm_findings_json(struct tdm_findings *found, struct tdm_json *json);
void tdm_finding_keys(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_json *json);

/* The family's name for the severity: "leak", "warning". */
const char *tdm_finding_severity_name(enum tdm_finding_family family, enum tdm_severity severity);

/* A single message of the runtime: the text and the object of its finding. */
void tdm_failure_text(const struct tdm_failure *failure, struct tdm_buf *out);
void tdm_failure_json(const struct tdm_failure *failure, struct tdm_json *json);

/* Borrowed from the holes. */
struct tdm_table tdm_hole_table(const struct tdm_hole *holes, size_t count);
struct tdm_table tdm_finding_holes(const struct tdm_findings *findings, const struct tdm_finding *finding);

/* null unless the range is valid. */
void tdm_core_range_json(const struct tdm_core_range *range, struct tdm_json *json);

#endif
