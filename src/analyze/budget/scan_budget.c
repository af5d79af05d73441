/*
 * Adds up the buffers of each program, judges the sums, and compares two scans. To compare two scans, sorts the buffers
 * of each scan by key and walks both lists in parallel.
 *
 * A buffer's size is an amount: bounds, a number, and terms with unknowns. Buffers are sorted by the branches around
 * them. Each level adds its own buffers and, for every `if` below it, the larger branch.
 */
#include "analyze/budget/scan_budget.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "model/card/bank.h"

enum { BRANCHES_MAX = 32, INDEX_MAX = 64, TEXT_MAX = 2000 };

/* ---- expressions as sums of terms ---- */

/* Adds an expression known only as text, whose value is 0 or more. Removes the blanks around '*', because " * "
 * separates the factors of a term. */
static void add_text(struct tdm_terms *terms, struct tdm_str text)
{
	struct tdm_buf tight = { 0 };
	for (size_t i = 0; i < text.len; i++) {
		bool is_mark = text.len - i >= 3 && memcmp(text.ptr + i, " * ", 3) == 0;
		tdm_buf_putc(&tight, text.ptr[is_mark ? i + 1 : i]);
		i += is_mark ? 2 : 0;
	}
	terms->failed |= tight.len == 0;
	if (!terms->failed)
		tdm_terms_add(terms, tdm_buf_str(&tight), 1);
	tdm_buf_done(&tight);
}

static void add_unknown(struct tdm_terms *terms, const struct tdm_expr *expr)
{
	struct tdm_buf text = { 0 };
	tdm_expr_print(expr, &text);
	terms->failed |= expr->op == TDM_EXPR_NOTHING || tdm_expr_eval(expr, NULL).min < 0;
	if (!terms->failed)
		add_text(terms, tdm_buf_str(&text));
	tdm_buf_done(&text);
}

static void add_expr(struct tdm_terms *terms, const struct tdm_expr *expr);

static void add_product(struct tdm_terms *terms, const struct tdm_expr *expr)
{
	struct tdm_terms factors[2] = { 0 }, product = { 0 };
	for (int i = 0; i < 2; i++)
		add_expr(&factors[i], expr->args[i]);
	tdm_terms_multiply(&factors[0], &factors[1], &product);
	tdm_terms_add_all(terms, &product, 1);
	for (int i = 0; i < 2; i++)
		tdm_terms_done(&factors[i]);
	tdm_terms_done(&product);
}

/* Adds an expression. Sums and products are multiplied out; anything else, such as a division or a minimum, becomes an
 * unknown named by its text. If the value could be negative for some unknowns, `terms` fails. */
static void add_expr(struct tdm_terms *terms, const struct tdm_expr *expr)
{
	int64_t number;
	struct tdm_terms right = { 0 };
	if (terms->failed)
		return;
	if (tdm_expr_value(expr, NULL, &number) == 0) {
		tdm_terms_add(terms, tdm_str_of(""), number);
		return;
	}
	switch (expr->op) {
	case TDM_EXPR_ADD:
	case TDM_EXPR_SUBTRACT:
		add_expr(terms, expr->args[0]);
		add_expr(&right, expr->args[1]);
		tdm_terms_add_all(terms, &right, expr->op == TDM_EXPR_ADD ? 1 : -1);
		tdm_terms_done(&right);
		break;
	case TDM_EXPR_MULTIPLY:
		add_product(terms, expr);
		break;
	default:
		add_unknown(terms, expr);
		break;
	}
}

/* ---- adding up ---- */

/* A sum: bounds, a number, and the rest as text. */
struct amount {
	uint64_t min, max; /* max: TDM_BYTES_UNKNOWN if unbounded */
	uint64_t number;
	struct tdm_buf rest;    /* "2 * Wt * 2048 + 3 * n"; empty if the sum is a number */
	struct tdm_terms terms; /* the whole sum */
};

/* A buffer with bytes of its own, and the branches around it. */
struct part {
	const struct tdm_scan_buffer *buffer;
	/* outermost first; branches nested too deeply are left out */
	const struct tdm_scan_branch *branches[BRANCHES_MAX];
	uint32_t depth;
};

static bool is_number(const struct amount *amount)
{
	return amount->rest.len == 0;
}

static void put_term(struct tdm_buf *out, const char *text, size_t len)
{
	if (out->len > TEXT_MAX)
		return;
	if (out->len != 0)
		tdm_buf_puts(out, " + ");
	tdm_buf_add(out, text, len);
	if (out->len > TEXT_MAX)
		tdm_buf_puts(out, " + ...");
}

static void put_whole(const struct amount *amount, struct tdm_buf *out)
{
	if (amount->number != 0 || is_number(amount))
		tdm_buf_printf(out, "%" PRIu64 "%s", amount->number, is_number(amount) ? "" : " + ");
	tdm_buf_add(out, tdm_buf_str(&amount->rest).ptr, amount->rest.len);
}

/* Adds `more` and releases it. */
static void add_amount(struct amount *sum, struct amount *more)
{
	sum->min = tdm_plus(sum->min, more->min);
	sum->max = tdm_plus(sum->max, more->max);
	sum->number = tdm_plus(sum->number, more->number);
	if (more->rest.len != 0)
		put_term(&sum->rest, more->rest.data, more->rest.len);
	tdm_terms_add_all(&sum->terms, &more->terms, 1);
	tdm_buf_done(&more->rest);
	tdm_terms_done(&more->terms);
}

/* If one amount is larger for all values of the unknowns, uses that amount's terms. Otherwise, uses a single unknown,
 * named by the text of `a`. */
static void take_larger_terms(struct amount *a, struct amount *b)
{
	enum tdm_terms_change change = tdm_terms_compare(&a->terms, &b->terms);
	if (change == TDM_TERMS_MORE) {
		struct tdm_terms swap = a->terms;
		a->terms = b->terms;
		b->terms = swap;
	} else if (change == TDM_TERMS_MIXED || change == TDM_TERMS_UNKNOWN) {
		tdm_terms_done(&a->terms);
		a->terms.failed = change == TDM_TERMS_UNKNOWN || a->rest.len > TEXT_MAX;
		if (!a->terms.failed)
			add_text(&a->terms, tdm_buf_str(&a->rest));
	}
}

/* Sets *a to the larger amount; releases `b`. */
static void take_larger(struct amount *a, struct amount *b)
{
	bool same = a->number == b->number && tdm_str_eq(tdm_buf_str(&a->rest), tdm_buf_str(&b->rest));
	if (a->max != TDM_BYTES_UNKNOWN && b->min >= a->max) {
		struct amount swap = *a;
		*a = *b;
		*b = swap;
	} else if (!same && (b->max == TDM_BYTES_UNKNOWN || a->min < b->max)) {
		struct tdm_buf text = { 0 };
		tdm_buf_puts(&text, "max(");
		put_whole(a, &text);
		tdm_buf_puts(&text, ", ");
		put_whole(b, &text);
		tdm_buf_puts(&text, ")");
		tdm_buf_done(&a->rest);
		a->rest = text;
		a->number = 0;
		take_larger_terms(a, b);
		a->min = tdm_max(a->min, b->min);
		a->max = tdm_max(a->max, b->max); /* unknown is the largest number */
	}
	tdm_buf_done(&b->rest);
	tdm_terms_done(&b->terms);
}

/* Whether an expression binds loosely, so that it needs brackets within a sum. */
static bool needs_brackets(const struct tdm_expr *expr)
{
	return expr->op >= TDM_EXPR_STRING && expr->op != TDM_EXPR_CALL &&
	       (expr->op < TDM_EXPR_ADD || (expr->op > TDM_EXPR_REMAINDER && expr->op < TDM_EXPR_MIN));
}

/* Whether a loop creates a new buffer in each iteration. It does not if all iterations use the same index, because a
 * core has only one buffer per index. */
static bool is_repeated(const struct tdm_scan_buffer *buffer)
{
	return buffer->in_loop && buffer->index < 0;
}

/* The size as terms; in a loop, multiplied by the number of iterations. */
static void terms_of(const struct tdm_scan_buffer *buffer, struct tdm_terms *terms)
{
	struct tdm_terms one = { 0 }, turns = { 0 };
	if (buffer->total.expr != NULL)
		add_expr(&one, buffer->total.expr);
	else
		one.failed = true;
	tdm_terms_add(&turns, tdm_str_of(is_repeated(buffer) ? "loop" : ""), 1);
	tdm_terms_multiply(&one, &turns, terms);
	tdm_terms_done(&one);
	tdm_terms_done(&turns);
}

static void amount_of(const struct tdm_scan_buffer *buffer, struct amount *amount)
{
	const struct tdm_scan_size *total = &buffer->total;
	bool has_brackets = is_repeated(buffer) || (total->expr != NULL && needs_brackets(total->expr));
	*amount = (struct amount){ 0 };
	amount->min = total->bytes != TDM_BYTES_UNKNOWN ? total->bytes
		      : total->min != TDM_BYTES_UNKNOWN ? total->min
							: 0;
	amount->max = is_repeated(buffer)                 ? TDM_BYTES_UNKNOWN
		      : total->bytes != TDM_BYTES_UNKNOWN ? total->bytes
							  : total->max;
	if (total->bytes != TDM_BYTES_UNKNOWN && !is_repeated(buffer)) {
		amount->number = total->bytes;
		tdm_terms_add(&amount->terms, tdm_str_of(""), (int64_t)tdm_min(total->bytes, INT64_MAX));
		return;
	}
	terms_of(buffer, &amount->terms);
	const char *text = total->text[0] != '\0' ? total->text : "?";
	tdm_buf_printf(&amount->rest, "%s%s%s%s", is_repeated(buffer) ? "loop" : "", has_brackets ? "(" : "", text,
		has_brackets ? ")" : "");
}

/* Whether the buffer is a circular buffer with a known index; a core has one buffer per index. */
static bool is_indexed(const struct part *part)
{
	return part->buffer->kind == TDM_KIND_CB && part->buffer->index >= 0 && part->buffer->index < INDEX_MAX;
}

/* Adds buffers that share the same branches. */
static void add_own(const struct part *parts, size_t count, struct amount *sum)
{
	bool is_done[INDEX_MAX] = { false };
	for (size_t i = 0; i < count; i++) {
		struct amount amount, other;
		if (is_indexed(&parts[i]) && is_done[parts[i].buffer->index])
			continue;
		amount_of(parts[i].buffer, &amount);
		if (is_indexed(&parts[i])) {
			is_done[parts[i].buffer->index] = true;
			for (size_t k = i + 1; k < count; k++)
				if (is_indexed(&parts[k]) && parts[k].buffer->index == parts[i].buffer->index) {
					amount_of(parts[k].buffer, &other);
					take_larger(&amount, &other);
				}
		}
		add_amount(sum, &amount);
	}
}

static bool is_same_branch(const struct part *a, const struct part *b, uint32_t depth, bool same_way)
{
	return b->depth > depth && a->branches[depth]->id == b->branches[depth]->id &&
	       (!same_way || a->branches[depth]->way == b->branches[depth]->way);
}

/* Adds parts whose first `depth` branches are the same. The parts are sorted by the remaining branches. */
static void add_up(const struct part *parts, size_t count, uint32_t depth, struct amount *sum)
{
	size_t at = 0;
	while (at < count && parts[at].depth == depth)
		at++;
	add_own(parts, at, sum);
	while (at < count) {
		struct amount largest = { 0 };
		const struct part *fork = &parts[at];
		while (at < count && is_same_branch(fork, &parts[at], depth, false)) {
			size_t end = at + 1;
			struct amount way = { 0 };
			while (end < count && is_same_branch(&parts[at], &parts[end], depth, true))
				end++;
			add_up(&parts[at], end - at, depth + 1, &way);
			take_larger(&largest, &way);
			at = end;
		}
		add_amount(sum, &largest);
	}
}

static int compare_parts(const void *left, const void *right)
{
	const struct part *a = left, *b = right;
	for (uint32_t i = 0; i < a->depth && i < b->depth; i++) {
		int order = tdm_order(a->branches[i]->id, b->branches[i]->id);
		order = order != 0 ? order : tdm_order(a->branches[i]->way, b->branches[i]->way);
		if (order != 0)
			return order;
	}
	int order = tdm_order(a->depth, b->depth);
	return order != 0 ? order : tdm_order((uintptr_t)a->buffer, (uintptr_t)b->buffer);
}

/* Counts the places in each program that were not understood. A program ends where the next one begins. */
static void count_missed(const struct tdm_scan_file *file, struct tdm_scan_budget *sums)
{
	uint64_t *owners = tdm_zalloc(file->program_count, sizeof *owners); /* line << 32 | index of the program */
	for (size_t i = 0; i < file->program_count; i++)
		owners[i] = (uint64_t)file->programs[i].line << 32 | i;
	qsort(owners, file->program_count, sizeof *owners, tdm_order_u64);
	for (size_t i = 0; i < file->place_count; i++) {
		const struct tdm_scan_place *place = &file->places[i];
		if (place->grasp != TDM_GRASP_NOT || place->is_helper_body)
			continue;
		/* finds the last program that begins at this line or before */
		size_t low = 0, high = file->program_count;
		while (low < high) {
			size_t middle = low + (high - low) / 2;
			if (owners[middle] >> 32 <= place->line)
				low = middle + 1;
			else
				high = middle;
		}
		if (low != 0)
			sums[(uint32_t)owners[low - 1]].missed++;
	}
	free(owners);
}

static void add_program(
	struct tdm_scan_budgets *budgets, size_t root, struct tdm_scan_budget *budget, struct part *parts)
{
	struct amount sum = { 0 };
	struct tdm_buf text = { 0 };
	const char *path = strlen(budget->file->path) > root ? budget->file->path + root : "";
	qsort(parts, budget->buffers, sizeof *parts, compare_parts);
	add_up(parts, budget->buffers, 0, &sum);
	put_whole(&sum, &text);
	budget->min = sum.min;
	budget->max = budget->missed != 0 ? TDM_BYTES_UNKNOWN : sum.max;
	budget->bytes = budget->min == budget->max ? budget->min : TDM_BYTES_UNKNOWN;
	budget->share = tdm_share(budget->min, budgets->l1_bytes);
	budget->expression = tdm_arena_buf(&budgets->arena, &text).ptr;
	budget->name =
		tdm_arena_printed(&budgets->arena, "%s%s%s", path, path[0] != '\0' ? ": " : "", budget->program->name);
	budget->terms = sum.terms;
	tdm_buf_done(&sum.rest);
	tdm_grow(&budgets->list, &budgets->cap, budgets->count + 1, sizeof *budgets->list);
	budgets->list[budgets->count++] = *budget;
}

static void add_file(struct tdm_scan_budgets *budgets, size_t root, const struct tdm_scan_file *file)
{
	size_t programs = file->program_count;
	struct part *parts = tdm_zalloc(file->buffer_count, sizeof *parts); /* buffers with own bytes, by program */
	size_t *ends = tdm_zalloc(programs, sizeof *ends);                  /* end of each program's parts */
	struct tdm_scan_budget *sums = tdm_zalloc(programs, sizeof *sums);
	for (size_t i = 0; i < file->buffer_count; i++) {
		const struct tdm_scan_buffer *buffer = &file->buffers[i];
		struct tdm_scan_budget *sum = buffer->program < programs ? &sums[buffer->program] : NULL;
		if (sum != NULL && buffer->is_view) {
			sum->views++;
		} else if (sum != NULL) {
			sum->buffers++;
			sum->unknown += buffer->total.bytes == TDM_BYTES_UNKNOWN || is_repeated(buffer);
		}
	}
	for (size_t i = 1; i < programs; i++)
		ends[i] = ends[i - 1] + sums[i - 1].buffers;
	for (size_t i = 0; i < file->buffer_count; i++) {
		const struct tdm_scan_buffer *buffer = &file->buffers[i];
		uint32_t all = 0;
		if (buffer->is_view || buffer->program >= programs)
			continue;
		struct part *part = &parts[ends[buffer->program]++];
		part->buffer = buffer;
		for (const struct tdm_scan_branch *at = buffer->branch; at != NULL; at = at->outer)
			all++;
		part->depth = all < BRANCHES_MAX ? all : BRANCHES_MAX;
		for (const struct tdm_scan_branch *at = buffer->branch; at != NULL; at = at->outer)
			if (--all < BRANCHES_MAX)
				part->branches[all] = at;
	}
	count_missed(file, sums);
	for (size_t i = 0; i < programs; i++) {
		sums[i].file = file;
		sums[i].program = &file->programs[i];
		if (sums[i].buffers + sums[i].views != 0)
			add_program(budgets, root, &sums[i], parts + (ends[i] - sums[i].buffers));
	}
	free(parts);
	free(ends);
	free(sums);
}

void tdm_scan_budgets_make(
	const struct tdm_scan *scan, size_t root, uint64_t l1_bytes, struct tdm_scan_budgets *budgets)
{
	budgets->l1_bytes = l1_bytes;
	for (size_t i = 0; i < scan->file_count; i++)
		if (scan->files[i].buffer_count != 0 && scan->files[i].program_count != 0)
			add_file(budgets, root, &scan->files[i]);
}

void tdm_scan_budgets_done(struct tdm_scan_budgets *budgets)
{
	for (size_t i = 0; i < budgets->count; i++)
		tdm_terms_done(&budgets->list[i].terms);
	free(budgets->list);
	tdm_arena_done(&budgets->arena);
	*budgets = (struct tdm_scan_budgets){ 0 };
}

void tdm_scan_budgets_named(struct tdm_scan_budgets *budgets, struct tdm_budgets *named)
{
	for (size_t i = 0; i < budgets->count; i++) {
		const struct tdm_scan_budget *budget = &budgets->list[i];
		for (int least = 0; least < (budget->bytes == TDM_BYTES_UNKNOWN ? 2 : 1); least++) {
			const char *more = least != 0 ? " (at least)" : "";
			const char *name = tdm_arena_printed(&budgets->arena, "%s%s", budget->name, more);
			struct tdm_terms terms = { 0 };
			tdm_budgets_add(named, tdm_str_of(name), least != 0 ? budget->min : budget->bytes);
			struct tdm_budget *added = &named->list[named->count - 1];
			added->title = tdm_arena_printed(&budgets->arena, "%s%s", budget->program->name, more);
			added->file = budget->file->path;
			added->line = budget->program->line;
			if (added->bytes != TDM_BYTES_UNKNOWN)
				continue;
			tdm_terms_add_all(&terms, &budget->terms, 1);
			tdm_budgets_explain(named, tdm_str_of(budget->expression), &terms);
		}
	}
}

size_t tdm_scan_budgets_judge(const struct tdm_scan_budgets *budgets, double limit, struct tdm_findings *found)
{
	size_t above = 0;
	for (size_t i = 0; i < budgets->count; i++) {
		const struct tdm_scan_budget *budget = &budgets->list[i];
		bool is_above = budget->share > limit; /* false if either is unknown */
		above += is_above;
		if (!is_above && !(budget->share > 1))
			continue;
		bool fits = budget->min <= budgets->l1_bytes;
		struct tdm_value share = tdm_value_share(budget->share);
		struct tdm_finding *finding = tdm_findings_add(
			found, TDM_FAMILY_SCAN, fits ? "over_limit" : "does_not_fit", TDM_FINDING_BROKEN);
		share.decimals = 1;
		finding->about.name = budget->program->name;
		finding->weight = budget->share;
		finding->pattern = "its buffers take |{_least}at least |{min_bytes} of L1, |{l1_share} of the "
				   "{l1_bytes} that a core has for buffers|{_is_too_much}: they do not fit";
		tdm_findings_place(found, "file", tdm_str_of(budget->file->path));
		tdm_findings_position(found, "line", TDM_UNIT_COUNT, budget->program->line);
		tdm_findings_figure(found, "bytes", TDM_UNIT_BYTES, budget->bytes);
		tdm_findings_figure(found, "min_bytes", TDM_UNIT_BYTES, budget->min);
		tdm_findings_figure(found, "l1_bytes", TDM_UNIT_BYTES, budgets->l1_bytes);
		tdm_findings_value(found, "l1_share", share);
		tdm_findings_real(found, "limit", TDM_UNIT_SHARE, limit);
		tdm_findings_flag(found, "_least", budget->bytes == TDM_BYTES_UNKNOWN);
		tdm_findings_flag(found, "_is_too_much", !fits);
	}
	return above;
}

/* ---- two scans ---- */

/* Lists all buffers in a scan, each as `after`; the caller frees the list. Paths are compared without their first
 * `root` bytes. */
static struct tdm_scan_change *collect(const struct tdm_scan *scan, size_t root, size_t *count)
{
	size_t all = 0, at = 0;
	for (size_t i = 0; i < scan->file_count; i++)
		all += scan->files[i].buffer_count;
	struct tdm_scan_change *sides = tdm_zalloc(all, sizeof *sides);
	for (size_t i = 0; i < scan->file_count; i++) {
		const struct tdm_scan_file *file = &scan->files[i];
		for (size_t k = 0; k < file->buffer_count; k++)
			sides[at++] =
				(struct tdm_scan_change){ .path = strlen(file->path) > root ? file->path + root : "",
					.program = file->programs[file->buffers[k].program].name,
					.after = &file->buffers[k] };
	}
	*count = all;
	return sides;
}

/* Compares indices as numbers, then names. */
static int compare_sides(const struct tdm_scan_change *a, const struct tdm_scan_change *b)
{
	int order = strcmp(a->path, b->path);
	order = order != 0 ? order : strcmp(a->program, b->program);
	order = order != 0 ? order : tdm_order(a->after->kind, b->after->kind);
	order = order != 0 ? order : tdm_order((uint32_t)a->after->index, (uint32_t)b->after->index);
	if (order != 0 || a->after->index >= 0)
		return order;
	order = strcmp(a->after->index_text, b->after->index_text);
	return order != 0 ? order : strcmp(a->after->name, b->after->name);
}

static int sort_sides(const void *left, const void *right)
{
	const struct tdm_scan_change *a = left, *b = right;
	int order = compare_sides(a, b);
	return order != 0 ? order : tdm_order((uintptr_t)a->after, (uintptr_t)b->after);
}

/* Whether two buffers differ, and how. */
static bool differ(const struct tdm_scan_buffer *before, const struct tdm_scan_buffer *after, enum tdm_change *change)
{
	uint64_t a = tdm_scan_own_bytes(before), b = tdm_scan_own_bytes(after);
	if (a != TDM_BYTES_UNKNOWN && b != TDM_BYTES_UNKNOWN) {
		*change = a < b ? TDM_CHANGE_GREW : TDM_CHANGE_SHRANK;
		return a != b;
	}
	*change = TDM_CHANGE_CHANGED;
	return a != b || before->is_view != after->is_view || strcmp(before->total.text, after->total.text) != 0;
}

void tdm_scan_compare(struct tdm_scan_report *report, size_t before_root, size_t after_root)
{
	size_t old_count, now_count, i = 0, k = 0;
	struct tdm_scan_change *olds = collect(&report->before, before_root, &old_count),
			       *nows = collect(&report->scan, after_root, &now_count);
	qsort(olds, old_count, sizeof *olds, sort_sides);
	qsort(nows, now_count, sizeof *nows, sort_sides);
	while (i < old_count || k < now_count) {
		const struct tdm_scan_change *old = i < old_count ? &olds[i] : NULL;
		const struct tdm_scan_change *now = k < now_count ? &nows[k] : NULL;
		int order = old == NULL ? 1 : now == NULL ? -1 : compare_sides(old, now);
		enum tdm_change change = order < 0 ? TDM_CHANGE_GONE : TDM_CHANGE_NEW;
		i += order <= 0;
		k += order >= 0;
		if (order == 0 && !differ(old->after, now->after, &change)) {
			report->same++;
			continue;
		}
		const struct tdm_scan_change *any = order >= 0 ? now : old;
		tdm_grow(&report->changes, &report->change_cap, report->change_count + 1, sizeof *report->changes);
		report->changes[report->change_count++] = (struct tdm_scan_change){ (uint8_t)change, any->path,
			any->program, order <= 0 ? old->after : NULL, order >= 0 ? now->after : NULL };
	}
	free(olds);
	free(nows);
}

size_t tdm_scan_root(const struct tdm_scan *scan, const char *path)
{
	if (scan->file_count == 1 && scan->files[0].is_given)
		return strlen(scan->files[0].path); /* "-" is shown under another name */
	size_t len = strlen(path);
	bool is_file = scan->file_count == 1 && strcmp(scan->files[0].path, path) == 0;
	bool ends_in_slash = len != 0 && path[len - 1] == '/';
	return is_file || ends_in_slash ? len : len + 1;
}

/* ---- the scan and all judgements ---- */

int tdm_scan_report_make(struct tdm_scan_report *report, struct tdm_diag *diag)
{
	struct tdm_l1_map map;
	struct tdm_progress progress;
	const char *const *paths = report->paths + report->is_comparison;
	size_t count = 0, root = 0;
	int err = 0;
	uint64_t l1_bytes =
		tdm_l1_map(report->card, NULL, &map, diag) == 0 ? map.span[TDM_L1_GAP].size : TDM_BYTES_UNKNOWN;
	if (l1_bytes == TDM_BYTES_UNKNOWN && !isnan(report->limit))
		return -ENODATA;
	while (paths[count] != NULL)
		count++;
	report->options.progress = &progress;
	for (int old = report->is_comparison; old >= 0 && err == 0; old--) {
		tdm_progress_begin(&progress, "scanning", 0);
		err = tdm_scan_run(old != 0 ? &report->before : &report->scan, old != 0 ? report->paths : paths,
			old != 0 ? 1 : count, &report->options, diag);
		tdm_progress_end(&progress);
	}
	if (err != 0)
		return err;
	if (report->is_comparison) { /* if there are several arguments, budget names contain whole paths */
		size_t old_root = tdm_scan_root(&report->before, report->paths[0]);
		root = tdm_scan_root(&report->scan, report->paths[1]);
		tdm_scan_budgets_make(&report->before, old_root, l1_bytes, &report->old_budgets);
		tdm_scan_budgets_named(&report->old_budgets, &report->old_named);
		tdm_scan_compare(report, old_root, root);
	}
	tdm_scan_budgets_make(&report->scan, root, l1_bytes, &report->budgets);
	tdm_scan_budgets_named(&report->budgets, &report->named);
	tdm_kernels_join(&report->scan, report->options.settings);
	report->failures = tdm_scan_budgets_judge(&report->budgets, report->limit, &report->findings);
	if (report->is_comparison)
		tdm_budgets_compare(&report->old_named, &report->named, &report->findings);
	tdm_findings_sort(&report->findings);
	return 0;
}

void tdm_scan_report_done(struct tdm_scan_report *report)
{
	tdm_findings_done(&report->findings);
	free(report->changes);
	tdm_budgets_done(&report->old_named);
	tdm_budgets_done(&report->named);
	tdm_scan_budgets_done(&report->old_budgets);
	tdm_scan_budgets_done(&report->budgets);
	tdm_scan_done(&report->before);
	tdm_scan_done(&report->scan);
}
