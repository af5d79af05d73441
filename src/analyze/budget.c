#include "analyze/budget.h"
#include "base/reserve.h"
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { NAME_CAP = 4096 };

void tdm_budgets_done(struct tdm_budgets *budgets)
{
	for (size_t i = 0; i < budgets->count; i++) {
		free(budgets->list[i].name);
		free(budgets->list[i].expression);
		tdm_terms_done(&budgets->list[i].terms);
	}
	free(budgets->list);
	*budgets = (struct tdm_budgets){ 0 };
}

int tdm_budgets_add(struct tdm_budgets *budgets, struct tdm_str name, uint64_t bytes)
{
	char shown[NAME_CAP];
	if (budgets->count == TDM_BUDGETS_MAX)
		return -E2BIG;
	if (tdm_reserve(&budgets->list, &budgets->cap, budgets->count + 1, sizeof *budgets->list) != 0)
		return -ENOMEM;
	char *copy = strdup(tdm_str_shown(name, shown, sizeof shown));
	if (copy == NULL)
		return -ENOMEM;
	budgets->list[budgets->count] = (struct tdm_budget){ .name = copy, .bytes = bytes, .order = budgets->count };
	budgets->count++;
	return 0;
}

int tdm_budgets_explain(struct tdm_budgets *budgets, struct tdm_str expression, struct tdm_terms *terms)
{
	struct tdm_budget *budget = &budgets->list[budgets->count - 1];
	char shown[NAME_CAP];
	free(budget->expression);
	tdm_terms_done(&budget->terms);
	budget->expression = strdup(tdm_str_shown(expression, shown, sizeof shown));
	budget->terms = *terms;
	*terms = (struct tdm_terms){ 0 };
	return budget->expression != NULL ? 0 : -ENOMEM;
}

static int compare(const void *left, const void *right)
{
	const struct tdm_budget *a = left, *b = right;
	int order = strcmp(a->name, b->name);
	return order != 0 ? order : tdm_order(a->order, b->order);
}

static void add(struct tdm_findings *found, const char *what, enum tdm_severity severity,
	const struct tdm_budget *before, const struct tdm_budget *after)
{
	struct tdm_finding *finding = tdm_findings_add(found, TDM_FAMILY_BUDGET, what, severity);
	uint64_t old = before != NULL ? before->bytes : TDM_BYTES_UNKNOWN;
	uint64_t now = after != NULL ? after->bytes : TDM_BYTES_UNKNOWN;
	bool both = old != TDM_BYTES_UNKNOWN && now != TDM_BYTES_UNKNOWN;
	finding->about.name = after != NULL ? after->name : before->name;
	finding->weight = both && now > old ? (double)(now - old) : 0;
	tdm_findings_figure(found, "before_bytes", TDM_UNIT_BYTES, old);
	tdm_findings_figure(found, "after_bytes", TDM_UNIT_BYTES, now);
}

/* What was added, or taken away. */
static void say_terms(const char *verb, const struct tdm_terms *change, struct tdm_findings *found)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	tdm_terms_print(change, &text);
	tdm_findings_say(found, "%s by %s bytes", verb, tdm_buf_str(&text).ptr);
	found->failed |= text.failed;
	tdm_buf_done(&text);
}

/* If only the number among the terms differs, the budget of what is known says so. */
static bool judge_growth(
	const struct tdm_budget *before, const struct tdm_budget *after, bool is_more, struct tdm_findings *found)
{
	struct tdm_terms change = is_more ? tdm_terms_minus(&after->terms, &before->terms)
					  : tdm_terms_minus(&before->terms, &after->terms);
	bool is_number = tdm_terms_is_number(&change);
	if (!is_number) {
		add(found, is_more ? "budget_grew" : "budget_shrank", is_more ? TDM_FINDING_BROKEN : TDM_FINDING_INFO,
			before, after);
		say_terms(is_more ? "grew" : "shrank", &change, found);
	}
	tdm_terms_done(&change);
	return is_more && !is_number;
}

/* Judges a budget that neither list can compute. Returns whether it is worse. */
static bool judge_terms(const struct tdm_budget *before, const struct tdm_budget *after, struct tdm_findings *found)
{
	if (before->expression == NULL || after->expression == NULL)
		return false;
	enum tdm_terms_change change = tdm_terms_compare(&before->terms, &after->terms);
	bool is_same_text = strcmp(before->expression, after->expression) == 0;
	if (change == TDM_TERMS_SAME || (change == TDM_TERMS_UNKNOWN && is_same_text))
		return false;
	if (change == TDM_TERMS_MORE || change == TDM_TERMS_LESS)
		return judge_growth(before, after, change == TDM_TERMS_MORE, found);
	add(found, "budget_changed", TDM_FINDING_INFO, before, after);
	tdm_findings_say(found,
		"changed, and may have grown: it is now %s, and was %s; give the names values with --set to compare "
		"numbers",
		after->expression, before->expression);
	return false;
}

/* Judges a budget that both lists have. Returns whether it is worse. */
static bool judge(const struct tdm_budget *before, const struct tdm_budget *after, struct tdm_findings *found)
{
	char old[TDM_BYTES_CAP], now[TDM_BYTES_CAP], change[TDM_BYTES_CAP];
	uint64_t a = before->bytes, b = after->bytes;
	if (a == b)
		return a == TDM_BYTES_UNKNOWN && judge_terms(before, after, found);
	tdm_format_bytes_short(old, sizeof old, a);
	tdm_format_bytes_short(now, sizeof now, b);
	if (b == TDM_BYTES_UNKNOWN) {
		add(found, "budget_unknown", TDM_FINDING_BROKEN, before, after);
		tdm_findings_say(found, "was %s and can no longer be computed", old);
		return true;
	}
	if (a == TDM_BYTES_UNKNOWN) {
		add(found, "budget_known", TDM_FINDING_INFO, before, after);
		tdm_findings_say(found, "could not be computed before and is now %s", now);
		return false;
	}
	tdm_format_bytes_short(change, sizeof change, a < b ? b - a : a - b);
	add(found, a < b ? "budget_grew" : "budget_shrank", a < b ? TDM_FINDING_BROKEN : TDM_FINDING_INFO, before,
		after);
	tdm_findings_say(found, "%s from %s to %s, by %s", a < b ? "grew" : "shrank", old, now, change);
	return a < b;
}

/* A file of an older version has no expressions, so growth of unknown sizes goes unnoticed. */
static void count_unexplained(uint64_t count, struct tdm_findings *found)
{
	if (count == 0)
		return;
	tdm_findings_add(found, TDM_FAMILY_BUDGET, "budget_unexplained", TDM_FINDING_INFO)->about.name = "the baseline";
	tdm_findings_say(found,
		"has no expression for %" PRIu64 " of the budgets that cannot be computed: their growth is not seen; "
		"save it again with --save",
		count);
	tdm_findings_figure(found, "count", TDM_UNIT_COUNT, count);
}

static void judge_single(const struct tdm_budget *before, const struct tdm_budget *after, struct tdm_findings *found)
{
	char size[TDM_BYTES_CAP];
	uint64_t bytes = before != NULL ? before->bytes : after->bytes;
	tdm_format_bytes_short(size, sizeof size, bytes);
	add(found, before != NULL ? "budget_gone" : "budget_new", TDM_FINDING_INFO, before, after);
	tdm_findings_say(found, before != NULL ? "is gone; it was %s" : "is new: %s", size);
}

size_t tdm_budgets_compare(struct tdm_budgets *before, struct tdm_budgets *after, struct tdm_findings *found)
{
	struct tdm_budgets *both[] = { before, after };
	size_t i = 0, k = 0, worse = 0, unexplained = 0;
	for (int list = 0; list < 2; list++)
		if (both[list]->count != 0)
			qsort(both[list]->list, both[list]->count, sizeof *both[list]->list, compare);
	while (i < before->count || k < after->count) {
		const struct tdm_budget *old = i < before->count ? &before->list[i] : NULL;
		const struct tdm_budget *now = k < after->count ? &after->list[k] : NULL;
		int order = old == NULL ? 1 : now == NULL ? -1 : strcmp(old->name, now->name);
		if (order == 0) {
			worse += judge(old, now, found);
			unexplained +=
				old->bytes == TDM_BYTES_UNKNOWN && old->expression == NULL && now->expression != NULL;
		}
		if (order != 0)
			judge_single(order < 0 ? old : NULL, order < 0 ? NULL : now, found);
		i += order <= 0;
		k += order >= 0;
	}
	count_unexplained(unexplained, found);
	return worse;
}
