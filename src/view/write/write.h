/*
 * Writers, one for each form of a result. They depend on blocks and values, not on commands or analysers.
 *
 * Text: labelled lines, tables, charts with one line per series, findings with the worst first, notes at the end. Text
 * is folded if the terminal folds. JSON: one object. Markdown: headings, lists and tables; what needs a fixed-width
 * font is a block of text.
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

/* `level`: heading level of groups, 1 to 6. The terminal is for blocks of text. */
void tdm_write_markdown(const struct tdm_block *top, unsigned level, const struct tdm_term *term, struct tdm_buf *out);

/*
 * A form of output, for documents that are written piece by piece: each piece, once written, is added to the document
 * with tdm_add_written(). The document is in the same form.
 */
struct tdm_form {
	const char *name, *ending; /* such as "markdown", ".md" */
	size_t width;              /* columns of a line; 0: those of the terminal */
	/* Writes a part of the document; in JSON, as a member with the key `name`. */
	void (*part)(const struct tdm_block *part, const char *name, const struct tdm_term *term, struct tdm_buf *out);
	/* Writes the members of a finding in the document's list, where a row shows only `text`; NULL: nothing. */
	void (*finding)(const struct tdm_findings *all, const struct tdm_finding *finding, const char *text,
		struct tdm_buf *out);
	/* Writes the whole document: text to json->out, or a value. */
	void (*document)(const struct tdm_block *top, const struct tdm_term *term, struct tdm_json *json);
};
extern const struct tdm_form tdm_form_text, tdm_form_json, tdm_form_markdown;

/* Whether readers see anything of a block. */
bool tdm_block_shows(const struct tdm_block *block);

/* Writes a single block as text, as in tdm_write_text(). */
void tdm_write_block(const struct tdm_block *block, const struct tdm_term *term, struct tdm_buf *out);

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

/* What belongs to a finding besides its sentence, each part given to the function that writes it in a form. */
struct tdm_details {
	void (*text)(const struct tdm_details *details, struct tdm_str text);
	/* `label` may be NULL; a labelled table needs no titles. */
	void (*table)(const struct tdm_details *details, const char *label, const struct tdm_table *table);
	void (*advice)(const struct tdm_details *details, const struct tdm_advice *advice);
	const struct tdm_term *term;
	struct tdm_buf *out;
	bool is_whole; /* whole call stacks, row by row */
};
void tdm_finding_give(
	const struct tdm_findings *all, const struct tdm_finding *finding, const struct tdm_details *details);

/* Gives each finding that is shown to `put`, and says how many are left out, on lines that begin with `mark`. */
void tdm_findings_give(const struct tdm_shown_findings *shown,
	void (*put)(const struct tdm_shown_findings *shown, const struct tdm_finding *finding,
		const struct tdm_term *term, struct tdm_buf *out),
	const char *mark, const struct tdm_term *term, struct tdm_buf *out);

void tdm_findings_put(const struct tdm_shown_findings *shown, const struct tdm_term *term, struct tdm_buf *out);
/* Writes an object with the same members for every finding. */
void tdm_finding_put_json(const struct tdm_findings *all, const struct tdm_finding *finding, struct tdm_json *json);
/* Writes only these members, with `text` as the sentence. */
void tdm_finding_put_members(
	const struct tdm_findings *all, const struct tdm_finding *finding, const char *text, struct tdm_json *json);

#endif
