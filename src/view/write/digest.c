#include "view/write/digest.h"
#include "base/memory.h"
#include "base/number.h"
#include "view/write/cell.h"

#include <stdlib.h>
#include <string.h>

void tdm_digest_init(struct tdm_digest *digest, const struct tdm_form *form)
{
	*digest = (struct tdm_digest){ .form = form, .document = tdm_result_new() };
}

static void free_last_part(struct tdm_digest *digest)
{
	struct tdm_digest_part *part = digest->parts[--digest->part_count];
	tdm_buf_done(&part->body);
	free(part->messages);
	free(part);
}

void tdm_digest_done(struct tdm_digest *digest)
{
	while (digest->part_count != 0)
		free_last_part(digest);
	for (size_t i = 0; i < digest->finding_count; i++)
		tdm_buf_done(&digest->findings[i].members);
	free(digest->parts);
	free(digest->findings);
	free(digest->gaps);
	tdm_result_free(digest->document);
	*digest = (struct tdm_digest){ 0 };
}

static const char *copy_of(struct tdm_digest *digest, const char *text)
{
	return tdm_arena_text(&digest->document->arena, tdm_str_of(text));
}

static struct tdm_digest_part *last_part(const struct tdm_digest *digest)
{
	return digest->parts[digest->part_count - 1];
}

struct tdm_digest_part *tdm_digest_begin(struct tdm_digest *digest, const char *name, const char *source)
{
	struct tdm_digest_part *part = tdm_zalloc(1, sizeof *part);
	tdm_grow(&digest->parts, &digest->part_cap, digest->part_count + 1, sizeof *digest->parts);
	digest->parts[digest->part_count++] = part;
	part->digest = digest;
	part->name = name;
	part->source = copy_of(digest, source);
	part->number = digest->part_count;
	return part;
}

void tdm_digest_say(struct tdm_digest_part *part, struct tdm_str message)
{
	struct tdm_buf line = { 0 };
	tdm_cell_put(&line, message, 0, true); /* a newline in a path must not make one message look like two */
	tdm_grow(&part->messages, &part->message_cap, part->message_count + 1, sizeof *part->messages);
	part->messages[part->message_count++] = tdm_value_str(tdm_arena_buf(&part->digest->document->arena, &line));
	part->is_incomplete = true;
}

void tdm_digest_gap(struct tdm_digest *digest, const char *source, const char *reason, bool is_failure)
{
	tdm_grow(&digest->gaps, &digest->gap_cap, digest->gap_count + 1, sizeof *digest->gaps);
	digest->gaps[digest->gap_count++] =
		(struct tdm_digest_gap){ copy_of(digest, source), copy_of(digest, reason), is_failure };
}

void tdm_digest_drop(struct tdm_digest *digest, bool is_failure)
{
	struct tdm_digest_part *part = last_part(digest);
	size_t len = strlen(part->source);
	for (size_t i = 0; i < part->message_count; i++) {
		const char *reason =
			part->messages[i].text.ptr; /* the source at the beginning of the message has its own column */
		bool is_said = strncmp(reason, part->source, len) == 0 && strncmp(reason + len, ": ", 2) == 0;
		tdm_digest_gap(digest, part->source, reason + (is_said ? len + 2 : 0), is_failure);
	}
	while (digest->finding_count != 0 && digest->findings[digest->finding_count - 1].part == part)
		tdm_buf_done(&digest->findings[--digest->finding_count].members);
	for (int i = 0; i < TDM_SEVERITIES; i++)
		digest->counts[i] -= part->counts[i];
	free_last_part(digest);
}

bool tdm_digest_has_failures(const struct tdm_digest *digest)
{
	bool any = false;
	for (size_t i = 0; i < digest->part_count; i++)
		any |= digest->parts[i]->is_incomplete;
	for (size_t i = 0; i < digest->gap_count; i++)
		any |= digest->gaps[i].is_failure;
	return any;
}

/* ---- findings ---- */

/* Whether a finding is worth listing. Indicators without a band are not judgements, and notes about the setup only name
 * possibilities. */
static bool is_worth(const struct tdm_finding *finding)
{
	return finding->severity > TDM_FINDING_OK && finding->severity < TDM_SEVERITIES &&
	       !((finding->family == TDM_FAMILY_PRESSURE || finding->family == TDM_FAMILY_DOCTOR) &&
		       finding->severity == TDM_FINDING_INFO);
}

static void add_finding(struct tdm_digest *digest, const struct tdm_findings *all, const struct tdm_finding *finding)
{
	const struct tdm_advice *advice = finding->advice_count != 0 ? &all->advice[finding->first_advice] : NULL;
	struct tdm_digest_part *part = last_part(digest);
	struct tdm_buf line = { 0 };
	digest->counts[finding->severity]++;
	part->counts[finding->severity]++;
	if (digest->finding_count >= TDM_DIGEST_FINDINGS)
		return;
	tdm_finding_put_line(all, finding, true, &line);
	tdm_grow(&digest->findings, &digest->finding_cap, digest->finding_count + 1, sizeof *digest->findings);
	struct tdm_digest_finding *added = &digest->findings[digest->finding_count];
	*added = (struct tdm_digest_finding){ .part = part,
		.order = digest->finding_count++,
		.severity = finding->severity,
		.text = tdm_arena_buf(&digest->document->arena, &line).ptr,
		.advice = advice != NULL ? copy_of(digest, advice->text) : NULL,
		.command = advice != NULL && advice->command != NULL ? copy_of(digest, advice->command) : NULL };
	if (digest->form->finding != NULL)
		digest->form->finding(all, finding, added->text, &added->members);
}

void tdm_digest_find(struct tdm_digest *digest, const struct tdm_findings *found)
{
	for (size_t i = 0; i < found->count; i++)
		if (is_worth(&found->list[i]))
			add_finding(digest, found, &found->list[i]);
}

static void take_shown(const struct tdm_shown_findings *shown, void *digest)
{
	tdm_digest_find(digest, &shown->list);
}

void tdm_digest_result(struct tdm_digest *digest, const struct tdm_block *top, const struct tdm_term *term)
{
	struct tdm_digest_part *part = last_part(digest);
	digest->form->part(top, part->name, term, &part->body);
	tdm_result_findings(top, take_shown, digest);
}

static int worst_first(const void *left, const void *right)
{
	const struct tdm_digest_finding *a = left, *b = right;
	return a->severity != b->severity ? b->severity - a->severity : tdm_order(a->order, b->order);
}

/* ---- the document ---- */

/* TEXT_INDENT: columns after a severity and its part */
enum { TEXT_INDENT = 14, SOURCE_COLUMNS = 26, NAME_COLUMNS = 30 };

static struct tdm_value get_severity(const struct tdm_field *field)
{
	static const enum tdm_level levels[TDM_SEVERITIES] = { TDM_LEVEL_PLAIN, TDM_LEVEL_NOTE, TDM_LEVEL_WARNING,
		TDM_LEVEL_DANGER };
	uint8_t severity = ((const struct tdm_digest_finding *)field->row)->severity;
	return tdm_value_level(tdm_value_text(tdm_severity_name((enum tdm_severity)severity)), levels[severity]);
}

/* Whether the finding has advice that the previous finding does not have. */
static bool has_new_advice(const struct tdm_field *field)
{
	const struct tdm_digest_finding *finding = field->row, *first = field->table->rows;
	return finding->advice != NULL &&
	       (finding == first || finding[-1].advice == NULL || strcmp(finding[-1].advice, finding->advice) != 0);
}

static struct tdm_value get_advice(const struct tdm_field *field)
{
	const struct tdm_digest_finding *finding = field->row;
	return has_new_advice(field) ? tdm_field_printed(field, "-> %s", finding->advice) : tdm_value_text(NULL);
}

static struct tdm_value get_command(const struct tdm_field *field)
{
	const struct tdm_digest_finding *finding = field->row;
	return has_new_advice(field) && finding->command != NULL ? tdm_field_printed(field, "$ %s", finding->command)
								 : tdm_value_text(NULL);
}

static struct tdm_value get_members(const struct tdm_field *field)
{
	return tdm_value_written(&((const struct tdm_digest_finding *)field->row)->members);
}

#define FINDING(member) TDM_MEMBER(struct tdm_digest_finding, member)
#define OF_PART(member) TDM_VIA(struct tdm_digest_finding, part, struct tdm_digest_part, member)
static const struct tdm_column finding_columns[] = {
	{ "severity", NULL, .get = get_severity, .width = 8 },
	{ "part", "part", OF_PART(number), .width = 4 },
	{ NULL, "name", OF_PART(name) },
	{ NULL, "source", OF_PART(source) },
	{ "finding", NULL, FINDING(text), .flags = TDM_WRAP },
	{ NULL, NULL, .get = get_advice, .flags = TDM_BELOW, .before = TEXT_INDENT },
	/* not wrapped, so that it can be copied */
	{ NULL, NULL, .get = get_command, .flags = TDM_BELOW | TDM_WHOLE, .before = TEXT_INDENT },
	{ NULL, NULL, .get = get_members },
};

static struct tdm_value get_complete(const struct tdm_field *field)
{
	return tdm_value_text(((const struct tdm_digest_part *)field->row)->is_incomplete ? "incomplete" : "");
}

#define PART(member)    TDM_MEMBER(struct tdm_digest_part, member)
#define COUNT(severity) PART(counts[TDM_FINDING_##severity]), TDM_COUNT(0)
static const struct tdm_column part_columns[] = {
	{ "part", NULL, PART(number) },
	{ "command", NULL, PART(name) },
	{ "about", NULL, PART(source), .width = SOURCE_COLUMNS },
	{ "errors", NULL, COUNT(BROKEN) },
	{ "warnings", NULL, COUNT(WARNING) },
	{ "notes", NULL, COUNT(INFO) },
	{ "", NULL, .get = get_complete },
};

#define GAP(member) TDM_MEMBER(struct tdm_digest_gap, member)
static const struct tdm_column gap_columns[] = {
	{ "input", "source", GAP(source), .width = NAME_COLUMNS },
	{ "why", "reason", GAP(reason), .flags = TDM_WRAP },
	{ NULL, "failure", GAP(is_failure) },
};

static void add_part(struct tdm_block *parts, const struct tdm_digest_part *part)
{
	const char *title = tdm_result_printed(parts->result, "%zu. %s %s", part->number, part->name, part->source);
	struct tdm_block *group = tdm_add_group(parts, NULL, title);
	group->is_quiet = true;
	tdm_data_all(group, TDM_VALUES({ "part", tdm_value_number(part->number) },
				    { "name", tdm_value_text(part->name) }, { "source", tdm_value_text(part->source) },
				    { "errors", tdm_value_count(part->counts[TDM_FINDING_BROKEN]) },
				    { "warnings", tdm_value_count(part->counts[TDM_FINDING_WARNING]) },
				    { "notes", tdm_value_count(part->counts[TDM_FINDING_INFO]) },
				    { "complete", tdm_value_bool(!part->is_incomplete) },
				    { "messages", tdm_value_list(part->messages, part->message_count) }));
	tdm_add_written(group, title, &part->body);
	struct tdm_block *messages = tdm_add_group(group, NULL, "Could not be used");
	messages->is_text_only = true;
	for (size_t i = 0; i < part->message_count; i++)
		tdm_say(messages, "{_message}", TDM_VALUES({ "_message", part->messages[i] }));
}

const struct tdm_block *tdm_digest_show(struct tdm_digest *digest)
{
	struct tdm_block *top = &digest->document->top;
	top->title = "Tidemark report";
	uint64_t errors = digest->counts[TDM_FINDING_BROKEN], warnings = digest->counts[TDM_FINDING_WARNING],
		 notes = digest->counts[TDM_FINDING_INFO];
	if (digest->finding_count > 1)
		qsort(digest->findings, digest->finding_count, sizeof *digest->findings, worst_first);
	tdm_line(top, "Report",
		digest->part_count != 0 ? "{errors/error/errors}, {warnings/warning/warnings}, {notes/note/notes} in "
					  "{_parts/part/parts}"
					: "nothing could be reported",
		TDM_VALUES({ "errors", tdm_value_count(errors) }, { "warnings", tdm_value_count(warnings) },
			{ "notes", tdm_value_count(notes) }, { "_parts", tdm_value_count(digest->part_count) }));
	if (digest->gap_count != 0)
		tdm_line(top, "Left out", "{_gaps}, listed at the end with the reason",
			TDM_VALUES({ "_gaps", tdm_value_count(digest->gap_count) }));
	struct tdm_table findings = TDM_TABLE_OF(finding_columns, digest->findings, digest->finding_count);
	findings.limit = TDM_DIGEST_SHOWN;
	findings.is_whole_in_data = true;
	findings.dropped = errors + warnings + notes - digest->finding_count;
	tdm_add_table(top, "findings", "Findings", findings);
	tdm_data(top, "findings_left_out", tdm_value_count(findings.dropped));
	struct tdm_table parts = TDM_FITTED(part_columns, digest->parts, digest->part_count);
	parts.row = tdm_table_pointed;
	tdm_add_table(top, NULL, "Parts", parts);
	struct tdm_block *list = tdm_add_list(top, "parts", NULL);
	for (size_t i = 0; i < digest->part_count; i++)
		add_part(list, digest->parts[i]);
	struct tdm_table gaps = TDM_TABLE_OF(gap_columns, digest->gaps, digest->gap_count);
	tdm_add_table(top, "not_reported", "Not in this report", gaps);
	return top;
}
