/* Arithmetic on sums of terms, the comparison of budget lists (sorted by name, in one pass), and budgets in JSON. */
#include "analyze/budget/budget.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/number.h"

/* ---- terms ---- */

enum { OF_CAP = 1024, FACTORS_MAX = 8 };
static const char times_mark[] = " * ";

void tdm_terms_done(struct tdm_terms *terms)
{
	for (size_t i = 0; i < terms->count; i++)
		free(terms->list[i].of);
	free(terms->list);
	*terms = (struct tdm_terms){ 0 };
}

void tdm_terms_add(struct tdm_terms *terms, struct tdm_str of, int64_t times)
{
	char shown[OF_CAP];
	if (of.len >= sizeof shown || times == INT64_MIN) {
		terms->failed = true; /* a truncated name could equal a different name; INT64_MIN cannot be negated */
		return;
	}
	tdm_str_shown(of, shown, sizeof shown);
	size_t at = 0;
	while (at < terms->count && strcmp(terms->list[at].of, shown) < 0)
		at++;
	if (at == terms->count || strcmp(terms->list[at].of, shown) != 0) {
		terms->failed |= times != 0 && terms->count == TDM_TERMS_MAX;
		if (times == 0 || terms->failed)
			return;
		tdm_grow(&terms->list, &terms->cap, terms->count + 1, sizeof *terms->list);
		struct tdm_addend *term = &terms->list[at];
		memmove(term + 1, term, (terms->count++ - at) * sizeof *term);
		*term = (struct tdm_addend){ tdm_strdup(shown), times };
		return;
	}
	struct tdm_addend *term = &terms->list[at];
	terms->failed |= __builtin_add_overflow(term->times, times, &term->times) || term->times == INT64_MIN;
	if (term->times == 0) {
		free(term->of);
		memmove(term, term + 1, (--terms->count - at) * sizeof *term);
	}
}

void tdm_terms_add_all(struct tdm_terms *terms, const struct tdm_terms *more, int64_t times)
{
	terms->failed |= more->failed;
	for (size_t i = 0; i < more->count && !terms->failed; i++) {
		int64_t all;
		terms->failed |= __builtin_mul_overflow(more->list[i].times, times, &all);
		if (!terms->failed)
			tdm_terms_add(terms, tdm_str_of(more->list[i].of), all);
	}
}

/* Splits a term into factors. If there are too many, the last factor keeps the rest. */
static size_t split(const char *of, struct tdm_str factors[FACTORS_MAX])
{
	size_t count = 0;
	while (of[0] != '\0') {
		const char *end = count + 1 < FACTORS_MAX ? strstr(of, times_mark) : NULL;
		size_t len = end != NULL ? (size_t)(end - of) : strlen(of);
		factors[count++] = (struct tdm_str){ of, len };
		of += len + (end != NULL ? strlen(times_mark) : 0);
	}
	return count;
}

static int by_text(const void *left, const void *right)
{
	const struct tdm_str *a = left, *b = right;
	int order = memcmp(a->ptr, b->ptr, a->len < b->len ? a->len : b->len);
	return order != 0 ? order : tdm_order(a->len, b->len);
}

static void add_product(const struct tdm_addend *a, const struct tdm_addend *b, struct tdm_terms *product)
{
	struct tdm_str factors[2 * FACTORS_MAX];
	size_t count = split(a->of, factors);
	struct tdm_buf of = { 0 };
	int64_t times;
	count += split(b->of, factors + count);
	qsort(factors, count, sizeof *factors, by_text);
	for (size_t i = 0; i < count; i++)
		tdm_buf_printf(&of, "%s%.*s", i != 0 ? times_mark : "", TDM_STR_ARG(factors[i]));
	product->failed |= count > FACTORS_MAX || __builtin_mul_overflow(a->times, b->times, &times);
	if (!product->failed)
		tdm_terms_add(product, tdm_buf_str(&of), times);
	tdm_buf_done(&of);
}

void tdm_terms_multiply(const struct tdm_terms *a, const struct tdm_terms *b, struct tdm_terms *product)
{
	product->failed |= a->failed || b->failed;
	for (size_t i = 0; i < a->count; i++)
		for (size_t k = 0; k < b->count && !product->failed; k++)
			add_product(&a->list[i], &b->list[k], product);
}

/* Returns a - b, to be released by the caller. */
static struct tdm_terms minus(const struct tdm_terms *a, const struct tdm_terms *b)
{
	struct tdm_terms rest = { 0 };
	tdm_terms_add_all(&rest, a, 1);
	tdm_terms_add_all(&rest, b, -1);
	return rest;
}

enum tdm_terms_change tdm_terms_compare(const struct tdm_terms *before, const struct tdm_terms *after)
{
	struct tdm_terms change = minus(after, before);
	bool has_more = false, has_less = false, is_sum = !change.failed;
	for (size_t i = 0; i < change.count; i++) {
		has_more |= change.list[i].times > 0;
		has_less |= change.list[i].times < 0;
	}
	tdm_terms_done(&change);
	return !is_sum                ? TDM_TERMS_UNKNOWN
	       : has_more && has_less ? TDM_TERMS_MIXED
	       : has_more             ? TDM_TERMS_MORE
	       : has_less             ? TDM_TERMS_LESS
				      : TDM_TERMS_SAME;
}

void tdm_terms_print(const struct tdm_terms *terms, struct tdm_buf *out)
{
	for (size_t i = 0; i < terms->count; i++) {
		const struct tdm_addend *term = &terms->list[i];
		uint64_t size = term->times < 0 ? -(uint64_t)term->times : (uint64_t)term->times;
		tdm_buf_puts(out, i == 0 ? (term->times < 0 ? "-" : "") : term->times < 0 ? " - " : " + ");
		if (size != 1 || term->of[0] == '\0')
			tdm_buf_printf(out, "%" PRIu64 "%s", size, term->of[0] != '\0' ? times_mark : "");
		tdm_buf_puts(out, term->of);
	}
	if (terms->count == 0)
		tdm_buf_puts(out, "0");
}

/* ---- budgets ---- */

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

void tdm_budgets_add(struct tdm_budgets *budgets, struct tdm_str name, uint64_t bytes)
{
	char shown[TDM_BUDGET_NAME_CAP];
	tdm_grow(&budgets->list, &budgets->cap, budgets->count + 1, sizeof *budgets->list);
	budgets->list[budgets->count] = (struct tdm_budget){
		.name = tdm_strdup(tdm_str_shown(name, shown, sizeof shown)), .bytes = bytes, .order = budgets->count
	};
	budgets->count++;
}

void tdm_budgets_explain(struct tdm_budgets *budgets, struct tdm_str expression, struct tdm_terms *terms)
{
	struct tdm_budget *budget = &budgets->list[budgets->count - 1];
	char shown[TDM_BUDGET_NAME_CAP];
	free(budget->expression);
	tdm_terms_done(&budget->terms);
	budget->expression = tdm_strdup(tdm_str_shown(expression, shown, sizeof shown));
	budget->terms = *terms;
	*terms = (struct tdm_terms){ 0 };
}

static int compare(const void *left, const void *right)
{
	const struct tdm_budget *a = left, *b = right;
	int order = strcmp(a->name, b->name);
	return order != 0 ? order : tdm_order(a->order, b->order);
}

/* The possible verdicts on a budget. */
enum judgement { SAME, GREW, LOST, GREW_IN_TERMS, SHRANK, SHRANK_IN_TERMS, FOUND, CHANGED, NEW, GONE };

/* The finding's name, and its sentence. */
static const char *const judgements[][2] = {
	[GREW] = { "budget_grew", "{_name} grew from {before_bytes} to {after_bytes}, by {_change}" },
	[LOST] = { "budget_unknown", "{_name} was {before_bytes} and can no longer be computed" },
	[GREW_IN_TERMS] = { "budget_grew", "{_name} grew by {_terms} bytes" },
	[SHRANK] = { "budget_shrank", "{_name} shrank from {before_bytes} to {after_bytes}, by {_change}" },
	[SHRANK_IN_TERMS] = { "budget_shrank", "{_name} shrank by {_terms} bytes" },
	[FOUND] = { "budget_known", "{_name} could not be computed before and is now {after_bytes}" },
	[CHANGED] = { "budget_changed", "{_name} changed, and may have grown: it is now {_now}, and was {_was}; give "
					"the names values with --set to compare numbers" },
	[NEW] = { "budget_new", "{_name} is new|: {after_bytes}" },
	[GONE] = { "budget_gone", "{_name} is gone|; it was {before_bytes}" },
};

/* Either budget may be NULL. If terms grew or shrank, sets *change to the difference. If only the plain numbers differ,
 * the "(at least)" budget reports the change instead. */
static enum judgement judge(const struct tdm_budget *old, const struct tdm_budget *now, struct tdm_terms *change)
{
	if (old == NULL || now == NULL)
		return old == NULL ? NEW : GONE;
	if (old->bytes != now->bytes)
		return now->bytes == TDM_BYTES_UNKNOWN   ? LOST
		       : old->bytes == TDM_BYTES_UNKNOWN ? FOUND
		       : old->bytes < now->bytes         ? GREW
							 : SHRANK;
	if (old->bytes != TDM_BYTES_UNKNOWN || old->expression == NULL || now->expression == NULL)
		return SAME;
	enum tdm_terms_change how = tdm_terms_compare(&old->terms, &now->terms);
	bool is_more = how == TDM_TERMS_MORE;
	if (is_more || how == TDM_TERMS_LESS) {
		*change = is_more ? minus(&now->terms, &old->terms) : minus(&old->terms, &now->terms);
		bool is_number = change->count == 0 || (change->count == 1 && change->list[0].of[0] == '\0');
		return is_number ? SAME : is_more ? GREW_IN_TERMS : SHRANK_IN_TERMS;
	}
	bool is_same_text = strcmp(old->expression, now->expression) == 0;
	return how == TDM_TERMS_SAME || (how == TDM_TERMS_UNKNOWN && is_same_text) ? SAME : CHANGED;
}

/* Adds a finding if there is anything to report. Returns whether the budget got worse. */
static bool add(const struct tdm_budget *before, const struct tdm_budget *after, struct tdm_findings *found)
{
	struct tdm_terms change = { 0 };
	const struct tdm_budget *any = after != NULL ? after : before;
	enum judgement how = judge(before, after, &change);
	uint64_t old = before != NULL ? before->bytes : TDM_BYTES_UNKNOWN;
	uint64_t now = after != NULL ? after->bytes : TDM_BYTES_UNKNOWN;
	bool is_worse = how >= GREW && how <= GREW_IN_TERMS, both = how == GREW || how == SHRANK;
	if (how != SAME) {
		struct tdm_finding *finding = tdm_findings_add(
			found, TDM_FAMILY_BUDGET, judgements[how][0], is_worse ? TDM_FINDING_BROKEN : TDM_FINDING_INFO);
		struct tdm_buf terms = { 0 };
		finding->about.name = any->name;
		finding->names_itself = true;
		finding->pattern = judgements[how][1];
		finding->weight = how == GREW ? (double)(now - old) : 0;
		tdm_terms_print(&change, &terms);
		tdm_findings_figure(found, "before_bytes", TDM_UNIT_BYTES, old);
		tdm_findings_figure(found, "after_bytes", TDM_UNIT_BYTES, now);
		tdm_findings_value(
			found, "_change", tdm_value_if(both, tdm_value_bytes(now > old ? now - old : old - now)));
		tdm_findings_word(found, "_name", after != NULL && after->title != NULL ? after->title : any->name);
		tdm_findings_word(found, "_was", before != NULL ? before->expression : NULL);
		tdm_findings_word(found, "_now", after != NULL ? after->expression : NULL);
		tdm_findings_place(found, "_terms", tdm_buf_str(&terms));
		if (after != NULL && after->file != NULL) {
			tdm_findings_place(found, "file", tdm_str_of(after->file));
			tdm_findings_position(found, "line", TDM_UNIT_COUNT, after->line);
		}
		tdm_buf_done(&terms);
	}
	tdm_terms_done(&change);
	return is_worse;
}

/* Adds a finding if growth may go unnoticed because files from older versions contain no expressions for unknown
 * sizes. */
static void count_unexplained(uint64_t count, struct tdm_findings *found)
{
	struct tdm_finding *finding =
		tdm_findings_add(found, TDM_FAMILY_BUDGET, "budget_unexplained", TDM_FINDING_INFO);
	finding->about.name = "the baseline";
	finding->names_itself = true;
	finding->pattern = "{name} has no expression for {count} of the budgets that cannot be computed: their growth "
			   "is not seen; save it again with --save";
	tdm_findings_figure(found, "count", TDM_UNIT_COUNT, count);
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
		worse += add(order <= 0 ? old : NULL, order >= 0 ? now : NULL, found);
		unexplained += order == 0 && old->bytes == TDM_BYTES_UNKNOWN && old->expression == NULL &&
			       now->expression != NULL;
		i += order <= 0;
		k += order >= 0;
	}
	if (unexplained != 0)
		count_unexplained(unexplained, found);
	return worse;
}

/* ---- in JSON ---- */

#define BUDGET(field) TDM_MEMBER(struct tdm_budget, field)

static struct tdm_value get_terms(const struct tdm_field *field)
{
	const struct tdm_budget *budget = field->row;
	if (budget->expression == NULL || budget->terms.failed)
		return tdm_value_text(NULL);
	struct tdm_named *list = tdm_arena_take(field->scratch, budget->terms.count * sizeof *list);
	for (size_t i = 0; i < budget->terms.count; i++)
		list[i] = (struct tdm_named){ budget->terms.list[i].of, tdm_value_signed(budget->terms.list[i].times) };
	return tdm_value_members(list, budget->terms.count);
}

static const struct tdm_column columns[] = {
	{ NULL, "name", BUDGET(name) },
	{ NULL, "bytes", BUDGET(bytes) },
	{ NULL, "expression", BUDGET(expression) },
	{ NULL, "terms", .get = get_terms },
};

/* Omits the expression columns if no budget has an expression. */
struct tdm_table tdm_budgets_table(const struct tdm_budgets *budgets)
{
	struct tdm_table table = TDM_TABLE_OF(columns, budgets->list, budgets->count);
	bool has_expressions = false;
	for (size_t i = 0; i < budgets->count; i++)
		has_expressions |= budgets->list[i].expression != NULL;
	table.column_count = has_expressions ? table.column_count : 2;
	return table;
}
