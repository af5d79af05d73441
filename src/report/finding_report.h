/* Findings as text for people and as JSON for programs, whoever they are from. */
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
	const char *place;                 /* "line" or "byte": what the position in a file is; NULL: "line" */
	const struct tdm_picture *picture; /* whose processes and stacks they speak of; NULL: none */
	struct tdm_stack_symbols symbols;  /* all zero to begin; release with tdm_stack_symbols_done() */
	bool stacks;                       /* whole call stacks */
};

/* What a failure or an indicator is called: "out of memory", "CB1 miss rate". */
const char *tdm_finding_title(const struct tdm_finding *finding);

/* One sentence without its stop: what was found, with figures. */
void tdm_finding_sentence(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out);

/* The finding with all that belongs to it: lines, or of a failure in a log, which has its place in a table, the title
 * and the sentence. */
void tdm_finding_text(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out);

/* All of them, which are released. */
void tdm_findings_text(struct tdm_findings *found, const struct tdm_term *term, struct tdm_buf *out);

/* An object; the same without its braces. */
void tdm_finding_json(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_json *json);
void tdm_findings_json(struct tdm_findings *found, struct tdm_json *json); /* the same of all, which are released */
void tdm_finding_keys(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_json *json);

/* "leak", "warning": what the family calls the severity. */
const char *tdm_finding_severity_name(enum tdm_finding_family family, enum tdm_severity severity);

/* What the runtime said, alone: the text and the object of its finding. */
void tdm_failure_text(const struct tdm_failure *failure, struct tdm_buf *out);
void tdm_failure_json(const struct tdm_failure *failure, struct tdm_json *json);

/* Borrowed from the holes. */
struct tdm_table tdm_hole_table(const struct tdm_hole *holes, size_t count);
struct tdm_table tdm_finding_holes(const struct tdm_findings *findings, const struct tdm_finding *finding);

/* null unless the range is valid. */
void tdm_core_range_json(const struct tdm_core_range *range, struct tdm_json *json);

#endif
