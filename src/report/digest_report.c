/* The document of `tidemark report` as text, JSON and Markdown: three tables, from one list of columns each, and the
 * parts in the form in which they were filled. */
#include "base/wrap.h"
#include "report/digest.h"
#include "report/fold_lines.h"
#include "report/markdown.h"
#include "report/report_put.h"

#include <inttypes.h>
#include <stdio.h>

/* One word for each severity, for findings of every family. */
static const char *const severities[TDM_SEVERITIES] = { "ok", "note", "warning", "error" };

/* ---- findings ---- */

enum { TEXT_INDENT = 14 }; /* of a finding's sentence: after its severity and its part */

/* Columns that only text has, and only Markdown. */
enum { FINDING_PART = 1, FINDING_WHERE = 2, FINDING_ADVICE = 7, PART_COMPLETE = 6 };

static struct tdm_value get_severity(const struct tdm_field *field)
{
	const struct tdm_digest_finding *finding = field->row;
	return tdm_value_text(severities[finding->severity]);
}

static const char *style_severity(const struct tdm_field *field)
{
	static const char *const styles[TDM_SEVERITIES] = { "", TDM_STYLE_CYAN, TDM_STYLE_YELLOW, TDM_STYLE_RED };
	return styles[((const struct tdm_digest_finding *)field->row)->severity];
}

static void put_part_name(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_digest_finding *finding = field->row;
	tdm_buf_printf(out, "%zu: %s %s", finding->part->number, finding->part->name, finding->part->source);
}

static void json_details(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_digest_finding *finding = field->row;
	tdm_json_object(json);
	tdm_json_paste(json, &finding->details);
	tdm_json_object_end(json);
}

/* Whether the finding before has the same advice. */
static bool is_repeated(const struct tdm_field *field)
{
	const struct tdm_digest_finding *finding = field->row, *first = field->table->rows;
	return finding != first && finding[-1].advice != NULL && strcmp(finding[-1].advice, finding->advice) == 0;
}

/* What to do, below the finding. A command is not wrapped, so that it can be copied. */
static void put_advice(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_digest_finding *finding = field->row;
	const struct tdm_term *term = field->table->context;
	struct tdm_buf line;
	if (finding->advice == NULL || is_repeated(field))
		return;
	tdm_buf_init(&line);
	tdm_buf_puts(&line, "-> ");
	tdm_cell_text(&line, finding->advice, term->utf8);
	tdm_buf_fill(out, ' ', TEXT_INDENT);
	tdm_wrap(out, tdm_buf_str(&line), (struct tdm_wrap){ TEXT_INDENT, TEXT_INDENT, term->width });
	out->failed |= line.failed;
	tdm_buf_done(&line);
	if (finding->command == NULL)
		return;
	tdm_buf_fill(out, ' ', TEXT_INDENT);
	tdm_buf_puts(out, "$ ");
	tdm_cell_text(out, finding->command, term->utf8);
	tdm_buf_putc(out, '\n');
}

/* The same in a cell. */
static void put_what_to_do(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_digest_finding *finding = field->row;
	tdm_buf_puts(out, finding->advice != NULL ? finding->advice : "");
	if (finding->command != NULL)
		tdm_buf_printf(out, ": %s", finding->command);
}

#define FINDING(member) TDM_MEMBER(struct tdm_digest_finding, member)
#define OF_PART(member) TDM_VIA(struct tdm_digest_finding, part, struct tdm_digest_part, member)
static const struct tdm_column finding_columns[] = {
	{ "severity", "severity", .get = get_severity, .style = style_severity, .width = 8 },
	{ "part", "part", OF_PART(number), .width = 4 },
	{ "where", NULL, .text = put_part_name },
	{ NULL, "name", OF_PART(name) },
	{ NULL, "source", OF_PART(source) },
	{ NULL, "what", FINDING(what) },
	{ "finding", "text", FINDING(text), .flags = TDM_WRAP },
	{ "what to do", "advice", FINDING(advice), .text = put_what_to_do },
	{ NULL, "command", FINDING(command) },
	{ NULL, "details", .json = json_details },
	{ NULL, NULL, .below = put_advice },
};

static struct tdm_table finding_table(const struct tdm_digest *digest)
{
	uint64_t found = 0;
	for (int i = TDM_FINDING_INFO; i < TDM_SEVERITIES; i++)
		found += digest->counts[i];
	struct tdm_table table = TDM_TABLE_OF(finding_columns, digest->findings, digest->finding_count);
	table.dropped = found - digest->finding_count;
	table.limit = TDM_DIGEST_SHOWN;
	return table;
}

/* ---- parts ---- */

static struct tdm_value get_count(const struct tdm_field *field)
{
	return tdm_value_number(((const struct tdm_digest_part *)field->row)->counts[field->column->arg]);
}

static void put_complete(const struct tdm_field *field, struct tdm_buf *out)
{
	tdm_buf_puts(out, ((const struct tdm_digest_part *)field->row)->is_incomplete ? "incomplete" : "");
}

static void json_complete(const struct tdm_field *field, struct tdm_json *json)
{
	tdm_json_bool(json, !((const struct tdm_digest_part *)field->row)->is_incomplete);
}

#define PART(member) TDM_MEMBER(struct tdm_digest_part, member)
#define COUNT(of)    .get = get_count, .arg = (of), .format = tdm_format_count
static const struct tdm_column part_columns[] = {
	{ "part", "part", PART(number), .width = 4 },
	{ "command", "name", PART(name), .width = 9 },
	{ "about", "source", PART(source), .width = TDM_WIDTH_OF_TABLE },
	{ "errors", "errors", COUNT(TDM_FINDING_BROKEN), .width = 6 },
	{ "warnings", "warnings", COUNT(TDM_FINDING_WARNING), .width = 8 },
	{ "notes", "notes", COUNT(TDM_FINDING_INFO), .width = 5 },
	{ "", "complete", .text = put_complete, .json = json_complete, .before = 1, .width = 10 },
};

static struct tdm_table part_table(const struct tdm_digest *digest)
{
	enum { ABOUT_MIN = 12, ABOUT_MAX = 36 };
	size_t width = ABOUT_MIN;
	for (size_t i = 0; i < digest->part_count; i++) {
		size_t columns = tdm_wrap_columns(tdm_str_of(digest->parts[i]->source));
		width = columns > width ? columns : width;
	}
	return (struct tdm_table){ TDM_COLUMNS(part_columns), digest->parts, sizeof *digest->parts, digest->part_count,
		.row = tdm_table_pointed, .widths = { width < ABOUT_MAX ? width : ABOUT_MAX }, .gap = 1 };
}

/* Sources are cut so that the table fits the terminal, or, if that leaves little of them, that they fit it themselves.
 * Then the other columns continue below. */
static void fit_parts(const struct tdm_digest *digest, size_t width, struct tdm_table *table)
{
	enum { PART = 5, OTHERS = 38, COMPLETE = 12, ABOUT_LEAST = 24 }; /* columns, with the blanks between them */
	bool is_complete = true;
	for (size_t i = 0; i < digest->part_count; i++)
		is_complete &= !digest->parts[i]->is_incomplete;
	size_t others = OTHERS + (is_complete ? 0 : COMPLETE);
	size_t room = width >= others + ABOUT_LEAST ? width - others : width > PART ? width - PART : 1;
	table->hidden |= is_complete ? 1U << PART_COMPLETE : 0;
	table->widths[0] = room < table->widths[0] ? room : table->widths[0];
}

/* ---- gaps ---- */

enum { GAP_NAME = 30 }; /* columns of a name, at most */

#define GAP(member) TDM_MEMBER(struct tdm_digest_gap, member)
static const struct tdm_column gap_columns[] = {
	{ "input", "source", GAP(source), .width = TDM_WIDTH_OF_TABLE },
	{ "why", "reason", GAP(reason), .flags = TDM_WRAP },
	{ NULL, "failure", GAP(is_failure) },
};

static struct tdm_table gap_table(const struct tdm_digest *digest)
{
	struct tdm_table table = TDM_TABLE_OF(gap_columns, digest->gaps, digest->gap_count);
	table.widths[0] = GAP_NAME;
	return table;
}

/* ---- documents ---- */

/* "2 errors, 1 warning, 3 notes in 4 parts" */
static void put_summary(const struct tdm_digest *digest, struct tdm_buf *out)
{
	if (digest->part_count == 0) {
		tdm_buf_puts(out, "nothing could be reported");
		return;
	}
	tdm_put_count(out, digest->counts[TDM_FINDING_BROKEN], "error", "errors");
	tdm_buf_puts(out, ", ");
	tdm_put_count(out, digest->counts[TDM_FINDING_WARNING], "warning", "warnings");
	tdm_buf_puts(out, ", ");
	tdm_put_count(out, digest->counts[TDM_FINDING_INFO], "note", "notes");
	tdm_buf_puts(out, " in ");
	tdm_put_count(out, digest->part_count, "part", "parts");
}

/* A line across the page with the part's number, command and source. */
static void put_part_head(const struct tdm_digest_part *part, const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_buf title;
	tdm_buf_init(&title);
	tdm_buf_printf(&title, "%zu. %s ", part->number, part->name);
	tdm_cell_text(&title, part->source, term->utf8);
	size_t columns = tdm_wrap_columns(tdm_buf_str(&title)) + 4;
	tdm_buf_printf(out, "\n%s%s ", tdm_term_style(term, TDM_STYLE_BOLD), term->utf8 ? "──" : "--");
	tdm_buf_add(out, title.data, title.len);
	tdm_buf_putc(out, ' ');
	for (; columns < term->width; columns++)
		tdm_buf_puts(out, term->utf8 ? "─" : "-");
	tdm_buf_printf(out, "%s\n\n", tdm_term_style(term, TDM_STYLE_OFF));
	out->failed |= title.failed;
	tdm_buf_done(&title);
}

/* What could not be used of a part. */
static void put_messages(const struct tdm_digest_part *part, const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_str rest = tdm_buf_str(&part->messages), message;
	if (rest.len != 0)
		tdm_put_heading(out, term, "Could not be used");
	while (tdm_digest_message(&rest, &message)) {
		tdm_buf_puts(out, "  ");
		tdm_wrap(out, message, (struct tdm_wrap){ 2, 4, term->width });
	}
}

static void put_head(const struct tdm_digest *digest, const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	tdm_put_label(&text, "Report");
	put_summary(digest, &text);
	tdm_buf_putc(&text, '\n');
	if (digest->gap_count != 0)
		tdm_buf_printf(&text, "Left out       %zu, listed at the end with the reason\n", digest->gap_count);
	tdm_fold_lines(out, tdm_buf_str(&text), term->width);
	out->failed |= text.failed;
	tdm_buf_done(&text);
}

void tdm_digest_text(const struct tdm_digest *digest, const struct tdm_term *term, struct tdm_buf *out)
{
	struct tdm_table findings = finding_table(digest), parts = part_table(digest), gaps = gap_table(digest);
	findings.hidden = 1U << FINDING_WHERE | 1U << FINDING_ADVICE;
	findings.context = term;
	fit_parts(digest, term->width, &parts);
	gaps.widths[0] = term->width < 2 * GAP_NAME ? term->width / 2 - 2 : GAP_NAME;
	findings.style = parts.style = gaps.style = TDM_STYLE_BOLD;
	findings.above = parts.above = gaps.above = "\n";
	put_head(digest, term, out);
	tdm_table_text(&findings, term, out);
	tdm_table_text(&parts, term, out);
	for (size_t i = 0; i < digest->part_count; i++) {
		put_part_head(digest->parts[i], term, out);
		tdm_fold_lines(out, tdm_buf_str(&digest->parts[i]->body), term->width);
		put_messages(digest->parts[i], term, out);
		out->failed |= digest->parts[i]->body.failed || digest->parts[i]->messages.failed;
	}
	if (digest->gap_count != 0)
		tdm_put_heading(out, term, "Not in this report");
	gaps.above = NULL;
	tdm_table_text(&gaps, term, out);
	out->failed |= digest->failed;
}

static void json_messages(const struct tdm_digest_part *part, struct tdm_json *json)
{
	struct tdm_str rest = tdm_buf_str(&part->messages), message;
	tdm_json_put_array(json, "messages");
	while (tdm_digest_message(&rest, &message))
		tdm_json_str(json, message);
	tdm_json_array_end(json);
}

void tdm_digest_json(const struct tdm_digest *digest, struct tdm_json *json)
{
	struct tdm_table findings = finding_table(digest), parts = part_table(digest), gaps = gap_table(digest);
	findings.limit = 0;
	tdm_json_object(json);
	tdm_json_put_u64(json, "errors", digest->counts[TDM_FINDING_BROKEN]);
	tdm_json_put_u64(json, "warnings", digest->counts[TDM_FINDING_WARNING]);
	tdm_json_put_u64(json, "notes", digest->counts[TDM_FINDING_INFO]);
	tdm_json_put_table(json, "findings", &findings);
	tdm_json_put_u64(json, "findings_left_out", findings.dropped);
	tdm_json_put_array(json, "parts");
	for (size_t i = 0; i < digest->part_count; i++) {
		tdm_json_object(json);
		tdm_table_keys(&parts, digest->parts[i], json);
		json_messages(digest->parts[i], json);
		tdm_json_paste(json, &digest->parts[i]->body);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_put_table(json, "not_reported", &gaps);
	tdm_json_object_end(json);
	json->out->failed |= digest->failed;
}

static void markdown_part(const struct tdm_digest_part *part, struct tdm_buf *out)
{
	tdm_buf_printf(out, "\n## %zu. %s ", part->number, part->name);
	tdm_markdown_code(out, tdm_str_of(part->source));
	tdm_buf_puts(out, "\n\n");
	if (part->body.len != 0)
		tdm_markdown_block(out, tdm_buf_str(&part->body));
	if (part->messages.len != 0) {
		tdm_buf_puts(out, "\nCould not be used:\n\n");
		tdm_markdown_block(out, tdm_buf_str(&part->messages));
	}
	out->failed |= part->body.failed || part->messages.failed;
}

void tdm_digest_markdown(const struct tdm_digest *digest, struct tdm_buf *out)
{
	struct tdm_table findings = finding_table(digest), parts = part_table(digest), gaps = gap_table(digest);
	findings.hidden = 1U << FINDING_PART;
	tdm_buf_puts(out, "# Tidemark report\n\n");
	put_summary(digest, out);
	if (digest->gap_count != 0)
		tdm_buf_printf(out, "; %zu left out, listed at the end with the reason", digest->gap_count);
	tdm_buf_puts(out, ".\n");
	tdm_buf_puts(out, findings.count != 0 ? "\n## Findings\n\n" : "");
	tdm_table_markdown(&findings, out);
	tdm_buf_puts(out, parts.count != 0 ? "\n## Parts\n\n" : "");
	tdm_table_markdown(&parts, out);
	for (size_t i = 0; i < digest->part_count; i++)
		markdown_part(digest->parts[i], out);
	tdm_buf_puts(out, gaps.count != 0 ? "\n## Not in this report\n\n" : "");
	tdm_table_markdown(&gaps, out);
	out->failed |= digest->failed;
}
