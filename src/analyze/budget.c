#include "analyze/budget.h"
#include "base/reserve.h"
#include "base/units.h"

#include <errno.h>
#include <stdlib.h>

enum { NAME_CAP = 4096 };

void tdm_budgets_done(struct tdm_budgets *budgets)
{
	for (size_t i = 0; i < budgets->count; i++)
		free(budgets->list[i].name);
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
	budgets->list[budgets->count] = (struct tdm_budget){ copy, bytes, budgets->count };
	budgets->count++;
	return 0;
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

/* Judges a budget that both lists have. Returns whether it is worse. */
static bool judge(const struct tdm_budget *before, const struct tdm_budget *after, struct tdm_findings *found)
{
	char old[TDM_BYTES_CAP], now[TDM_BYTES_CAP], change[TDM_BYTES_CAP];
	uint64_t a = before->bytes, b = after->bytes;
	if (a == b)
		return false;
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
	size_t i = 0, k = 0, worse = 0;
	for (int list = 0; list < 2; list++)
		if (both[list]->count != 0)
			qsort(both[list]->list, both[list]->count, sizeof *both[list]->list, compare);
	while (i < before->count || k < after->count) {
		const struct tdm_budget *old = i < before->count ? &before->list[i] : NULL;
		const struct tdm_budget *now = k < after->count ? &after->list[k] : NULL;
		int order = old == NULL ? 1 : now == NULL ? -1 : strcmp(old->name, now->name);
		if (order == 0)
			worse += judge(old, now, found);
		else
			judge_single(order < 0 ? old : NULL, order < 0 ? NULL : now, found);
		i += order <= 0;
		k += order >= 0;
	}
	return worse;
}
