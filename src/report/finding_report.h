/* Findings as text for people and as JSON for programs, whoever they are from. */
#ifndef TDM_REPORT_FINDING_REPORT_H
#define TDM_REPORT_FINDING_REPORT_H

#include "analyze/finding.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/term.h"
#include "report/stack_report.h"

struct tdm_finding_view {
	const struct tdm_findings *findings;
	struct tdm_term term;
	const struct tdm_picture *picture; /* whose processes and stacks they speak of; NULL: none */
	struct tdm_stack_symbols symbols;  /* all zero to begin; release with tdm_stack_symbols_done() */
	bool stacks;                       /* whole call stacks */
};

/* One sentence without its stop: what was found, with figures. */
void tdm_finding_sentence(const struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out);

/* The finding with all that belongs to it, over several lines. */
void tdm_finding_text(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_buf *out);

/* All of them, which are released. */
void tdm_findings_text(struct tdm_findings *found, const struct tdm_term *term, struct tdm_buf *out);

/* An object. */
void tdm_finding_json(struct tdm_finding_view *view, const struct tdm_finding *finding, struct tdm_json *json);

/* "leak", "warning": what the family calls the severity. */
const char *tdm_finding_severity_name(enum tdm_finding_family family, enum tdm_severity severity);

#endif
