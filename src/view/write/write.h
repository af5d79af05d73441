/*
 * Writers, one for each form of a result. They depend on blocks and values, not on commands or analysers.
 *
 * Text: labelled lines, tables, charts with one line per series, findings with the worst first, notes at the end. Text
 * is folded if the terminal folds. JSON: one object. Markdown: headings and tables.
 */
#ifndef TDM_VIEW_WRITE_H
#define TDM_VIEW_WRITE_H

#include "base/json.h"
#include "base/term.h"
#include "model/result/result.h"

void tdm_write_text(const struct tdm_block *top, const struct tdm_term *term, struct tdm_buf *out);

/* Writes the group as one value, an object. */
void tdm_write_json(const struct tdm_block *top, struct tdm_json *json);
/* Writes only the members of this object, which the caller has opened. */
void tdm_write_members(const struct tdm_block *top, struct tdm_json *json);

/* `level`: heading level of groups, 1 to 6. */
void tdm_write_markdown(const struct tdm_block *top, unsigned level, struct tdm_buf *out);

/* Writes a piece of a line: a heading, a paragraph, a table cell. The piece must not come first in a line, because "1."
 * or "-" would start a list. */
void tdm_markdown_text(struct tdm_buf *out, struct tdm_str text);

/* Writes text so that its lines are shown exactly as given. */
void tdm_markdown_block(struct tdm_buf *out, struct tdm_str text);

/* Writes only the findings, as SARIF 2.1.0, for code review tools; `roots` ends with NULL. Defined in write_sarif.c. */
void tdm_write_sarif(const struct tdm_findings *all, const char *const *roots, struct tdm_buf *out);

/* ---- findings: findings.c ---- */

/* "error", "warning", "note", "ok" */
const char *tdm_severity_name(enum tdm_severity severity);

/* Writes the place, the subject and the sentence of a finding in one line, made printable. */
void tdm_finding_put_line(
	const struct tdm_findings *all, const struct tdm_finding *finding, bool utf8, struct tdm_buf *out);

void tdm_findings_put(const struct tdm_shown_findings *shown, const struct tdm_term *term, struct tdm_buf *out);
/* Writes an object with the same members for every finding. */
void tdm_finding_put_json(const struct tdm_findings *all, const struct tdm_finding *finding, struct tdm_json *json);
/* Writes only these members, with `text` as the sentence. */
void tdm_finding_put_members(
	const struct tdm_findings *all, const struct tdm_finding *finding, const char *text, struct tdm_json *json);

#endif
