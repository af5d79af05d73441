#include "report/digest.h"
#include "base/number.h"
#include "base/reserve.h"
#include "report/cell.h"

#include <stdlib.h>

/* How deep the keys of a part and of a finding's details are: envelope, report, list, object; and one more. */
enum { PART_DEPTH = 4, DETAILS_DEPTH = 5 };

void tdm_digest_init(struct tdm_digest *digest, enum tdm_digest_form form)
{
	*digest = (struct tdm_digest){ .form = form };
}

static void free_part(struct tdm_digest_part *part)
{
	free(part->source);
	tdm_buf_done(&part->body);
	tdm_buf_done(&part->messages);
	free(part);
}

static void free_finding(struct tdm_digest_finding *finding)
{
	free(finding->text);
	free(finding->advice);
	free(finding->command);
	tdm_buf_done(&finding->details);
}

void tdm_digest_done(struct tdm_digest *digest)
{
	for (size_t i = 0; i < digest->part_count; i++)
		free_part(digest->parts[i]);
	for (size_t i = 0; i < digest->finding_count; i++)
		free_finding(&digest->findings[i]);
	for (size_t i = 0; i < digest->gap_count; i++) {
		free(digest->gaps[i].source);
		free(digest->gaps[i].reason);
	}
	free(digest->parts);
	free(digest->findings);
	free(digest->gaps);
	*digest = (struct tdm_digest){ 0 };
}

struct tdm_digest_part *tdm_digest_begin(struct tdm_digest *digest, const char *name, const char *source)
{
	struct tdm_digest_part *part = calloc(1, sizeof *part);
	char *copy = strdup(source);
	if (part == NULL || copy == NULL ||
		tdm_reserve(&digest->parts, &digest->part_cap, digest->part_count + 1, sizeof *digest->parts) != 0) {
		free(part);
		free(copy);
		digest->failed = true;
		return NULL;
	}
	part->name = name;
	part->source = copy;
	tdm_buf_init(&part->body);
	tdm_buf_init(&part->messages);
	tdm_json_init_keys(&part->json, &part->body, PART_DEPTH, true);
	digest->parts[digest->part_count++] = part;
	part->number = digest->part_count;
	return part;
}

/* One line: a newline in a path must not look like two messages. */
void tdm_digest_say(struct tdm_digest_part *part, struct tdm_str message)
{
	tdm_cell_put(&part->messages, message, 0, true);
	tdm_buf_putc(&part->messages, '\n');
	part->is_incomplete = true;
}

bool tdm_digest_message(struct tdm_str *rest, struct tdm_str *message)
{
	const char *end = rest->len != 0 ? memchr(rest->ptr, '\n', rest->len) : NULL;
	size_t len = end != NULL ? (size_t)(end - rest->ptr) : rest->len;
	*message = (struct tdm_str){ rest->ptr, len };
	bool any = rest->len != 0;
	len += end != NULL;
	*rest = (struct tdm_str){ rest->ptr + len, rest->len - len };
	return any;
}

void tdm_digest_gap(struct tdm_digest *digest, const char *source, const char *reason, bool is_failure)
{
	struct tdm_digest_gap gap = { strdup(source), strdup(reason), is_failure };
	if (gap.source == NULL || gap.reason == NULL ||
		tdm_reserve(&digest->gaps, &digest->gap_cap, digest->gap_count + 1, sizeof gap) != 0) {
		free(gap.source);
		free(gap.reason);
		digest->failed = true;
		return;
	}
	digest->gaps[digest->gap_count++] = gap;
}

/* Lists a message among the gaps. If it begins with the source, which stands beside it, that is left out. */
static void move_message(struct tdm_digest *digest, const char *source, struct tdm_str message, bool is_failure)
{
	char *reason = strndup(message.ptr, message.len);
	size_t len = strlen(source);
	if (reason == NULL)
		digest->failed = true;
	else if (strncmp(reason, source, len) == 0 && tdm_has_prefix(reason + len, ": "))
		tdm_digest_gap(digest, source, reason + len + 2, is_failure);
	else
		tdm_digest_gap(digest, source, reason, is_failure);
	free(reason);
}

void tdm_digest_drop(struct tdm_digest *digest, bool is_failure)
{
	struct tdm_digest_part *part = digest->parts[digest->part_count - 1];
	struct tdm_str rest = tdm_buf_str(&part->messages), message;
	while (tdm_digest_message(&rest, &message))
		move_message(digest, part->source, message, is_failure);
	while (digest->finding_count != 0 && digest->findings[digest->finding_count - 1].part == part)
		free_finding(&digest->findings[--digest->finding_count]);
	for (int i = 0; i < TDM_SEVERITIES; i++)
		digest->counts[i] -= part->counts[i];
	digest->failed |= part->body.failed || part->messages.failed;
	free_part(part);
	digest->part_count--;
}

/* Indicators without a band are figures, not judgements. */
static bool is_worth(const struct tdm_finding *finding)
{
	return finding->severity > TDM_FINDING_OK && finding->severity < TDM_SEVERITIES &&
	       !(finding->family == TDM_FAMILY_PRESSURE && finding->severity == TDM_FINDING_INFO);
}

static void add_finding(struct tdm_digest *digest, struct tdm_finding_view *view, const struct tdm_finding *finding)
{
	const struct tdm_findings *all = view->findings;
	const struct tdm_advice *advice = finding->advice.count != 0 ? &all->advice[finding->advice.first] : NULL;
	struct tdm_digest_finding *to = &digest->findings[digest->finding_count];
	struct tdm_json json;
	struct tdm_buf line;
	tdm_buf_init(&line);
	tdm_finding_line(view, finding, &line);
	*to = (struct tdm_digest_finding){ .part = digest->parts[digest->part_count - 1],
		.order = digest->finding_count,
		.severity = finding->severity,
		.what = finding->what,
		.text = strndup(tdm_buf_str(&line).ptr, line.len),
		.advice = advice != NULL ? strdup(advice->text) : NULL,
		.command = advice != NULL && advice->command != NULL ? strdup(advice->command) : NULL };
	tdm_buf_init(&to->details);
	if (digest->form == TDM_DIGEST_JSON) {
		tdm_json_init_keys(&json, &to->details, DETAILS_DEPTH, false);
		tdm_finding_keys(view, finding, &json);
	}
	digest->failed |=
		line.failed || to->details.failed || to->text == NULL || (advice != NULL && to->advice == NULL);
	digest->finding_count++;
	tdm_buf_done(&line);
}

void tdm_digest_find(struct tdm_digest *digest, struct tdm_finding_view *view)
{
	const struct tdm_findings *found = view->findings;
	digest->failed |= found->failed;
	for (size_t i = 0; i < found->count && digest->part_count != 0; i++) {
		const struct tdm_finding *finding = &found->list[i];
		if (!is_worth(finding))
			continue;
		digest->counts[finding->severity]++;
		digest->parts[digest->part_count - 1]->counts[finding->severity]++;
		if (digest->finding_count >= TDM_DIGEST_FINDINGS)
			continue;
		if (tdm_reserve(&digest->findings, &digest->finding_cap, digest->finding_count + 1,
			    sizeof *digest->findings) == 0)
			add_finding(digest, view, finding);
		else
			digest->failed = true;
	}
}

void tdm_digest_take(struct tdm_digest *digest, struct tdm_findings *found, const char *place)
{
	struct tdm_finding_view view = { .findings = found, .term.utf8 = true, .place = place };
	tdm_digest_find(digest, &view);
	tdm_stack_symbols_done(&view.symbols);
	tdm_findings_done(found);
}

static int worst_first(const void *left, const void *right)
{
	const struct tdm_digest_finding *a = left, *b = right;
	return a->severity != b->severity ? b->severity - a->severity : tdm_order(a->order, b->order);
}

void tdm_digest_sort(struct tdm_digest *digest)
{
	if (digest->finding_count > 1)
		qsort(digest->findings, digest->finding_count, sizeof *digest->findings, worst_first);
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
