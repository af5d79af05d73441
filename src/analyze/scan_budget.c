#include "analyze/scan_budget.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/scan_terms.h"
#include "base/reserve.h"
#include "base/units.h"

enum { BRANCHES_MAX = 32, INDEX_MAX = 64, TEXT_MAX = 2000 };

/* A sum: bounds, the part of it that is a number, and the rest in words. */
struct amount {
	uint64_t min, max; /* max: unknown where there is no bound */
	uint64_t number;
	struct tdm_buf rest;    /* "2 * Wt * 2048 + 3 * n"; empty when the sum is a number */
	struct tdm_terms terms; /* all of it */
};

/* A buffer with bytes of its own, and the branches that it is in. */
struct part {
	const struct tdm_scan_buffer *buffer;
	const struct tdm_scan_branch *branches[BRANCHES_MAX]; /* the outermost first; deeper ones are left out */
	uint32_t depth;
};

static void amount_init(struct amount *amount)
{
	*amount = (struct amount){ 0 };
	tdm_buf_init(&amount->rest);
}

static void amount_done(struct amount *amount)
{
	tdm_buf_done(&amount->rest);
	tdm_terms_done(&amount->terms);
}

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

/* Adds `more`, which is released. */
static void add_amount(struct amount *sum, struct amount *more)
{
	sum->min = tdm_plus(sum->min, more->min);
	sum->max = tdm_plus(sum->max, more->max);
	sum->number = tdm_plus(sum->number, more->number);
	if (more->rest.len != 0)
		put_term(&sum->rest, more->rest.data, more->rest.len);
	sum->rest.failed |= more->rest.failed;
	tdm_terms_add_all(&sum->terms, &more->terms, 1);
	amount_done(more);
}

static void put_larger(struct amount *a, const struct amount *b)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	tdm_buf_puts(&text, "max(");
	put_whole(a, &text);
	tdm_buf_puts(&text, ", ");
	put_whole(b, &text);
	tdm_buf_puts(&text, ")");
	text.failed |= a->rest.failed || b->rest.failed;
	tdm_buf_done(&a->rest);
	a->rest = text;
	a->number = 0;
}

/* The terms of the larger one, if one is larger whatever the unknowns are; else they are one unknown, by its text. */
static void take_larger_terms(struct amount *a, struct amount *b)
{
	enum tdm_terms_change change = tdm_terms_compare(&a->terms, &b->terms);
	if (change == TDM_TERMS_MORE) {
		struct tdm_terms swap = a->terms;
		a->terms = b->terms;
		b->terms = swap;
	} else if (change == TDM_TERMS_MIXED || change == TDM_TERMS_UNKNOWN) {
		tdm_terms_done(&a->terms);
		a->terms.failed = change == TDM_TERMS_UNKNOWN || a->rest.failed || a->rest.len > TEXT_MAX;
		if (!a->terms.failed)
			tdm_scan_terms_unknown(&a->terms, tdm_buf_str(&a->rest));
	}
}

/* Makes *a the larger of both; `b` is released. */
static void take_larger(struct amount *a, struct amount *b)
{
	bool same = a->number == b->number && tdm_str_eq(tdm_buf_str(&a->rest), tdm_buf_str(&b->rest));
	if (a->max != TDM_BYTES_UNKNOWN && b->min >= a->max) {
		struct amount swap = *a;
		*a = *b;
		*b = swap;
	} else if (!same && (b->max == TDM_BYTES_UNKNOWN || a->min < b->max)) {
		put_larger(a, b);
		take_larger_terms(a, b);
		a->min = tdm_max(a->min, b->min);
		a->max = tdm_max(a->max, b->max); /* unknown is the largest number */
	}
	amount_done(b);
}

static bool needs_brackets(const struct tdm_expr *expr)
{
	switch (expr->op) {
	case TDM_EXPR_NOTHING:
	case TDM_EXPR_NUMBER:
	case TDM_EXPR_NAME:
	case TDM_EXPR_CALL:
	case TDM_EXPR_ADD:
	case TDM_EXPR_SUBTRACT:
	case TDM_EXPR_MULTIPLY:
	case TDM_EXPR_DIVIDE:
	case TDM_EXPR_REMAINDER:
	case TDM_EXPR_MIN:
	case TDM_EXPR_MAX:
	case TDM_EXPR_DIVIDE_UP:
	case TDM_EXPR_ROUND_UP:
	case TDM_EXPR_ROUND_DOWN:
	case TDM_EXPR_TILE_SIZE:
	case TDM_EXPR_DATUM_SIZE:
		return false;
	default:
		return true;
	}
}

/* A loop creates one buffer a turn, unless they all have one index, which a core has once. */
static bool is_repeated(const struct tdm_scan_buffer *buffer)
{
	return buffer->in_loop && buffer->index < 0;
}

/* A loop multiplies with the number of its turns. */
static void terms_of(const struct tdm_scan_buffer *buffer, struct tdm_terms *terms)
{
	struct tdm_terms one = { 0 }, turns = { 0 };
	if (buffer->total.expr != NULL)
		tdm_scan_terms_add(&one, buffer->total.expr);
	else
		one.failed = true;
	if (is_repeated(buffer))
		tdm_terms_add(&turns, tdm_str_of("loop"), 1);
	else
		tdm_terms_add(&turns, tdm_str_of(""), 1);
	tdm_terms_multiply(&one, &turns, terms);
	tdm_terms_done(&one);
	tdm_terms_done(&turns);
}

static void amount_of(const struct tdm_scan_buffer *buffer, struct amount *amount)
{
	const struct tdm_scan_size *total = &buffer->total;
	bool brackets = total->expr != NULL && needs_brackets(total->expr);
	amount_init(amount);
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
	tdm_buf_printf(&amount->rest, "%s%s%s%s", is_repeated(buffer) ? "loop" : "",
		brackets || is_repeated(buffer) ? "(" : "", text, brackets || is_repeated(buffer) ? ")" : "");
}

/* A circular buffer of which a core has one. */
static bool is_indexed(const struct part *part)
{
	return part->buffer->kind == TDM_KIND_CB && part->buffer->index >= 0 && part->buffer->index < INDEX_MAX;
}

/* Adds buffers that are in the same branches. */
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

/* Adds the parts, which have their first `depth` branches in common and are sorted by the others. */
static void add_up(const struct part *parts, size_t count, uint32_t depth, struct amount *sum)
{
	size_t at = 0;
	while (at < count && parts[at].depth == depth)
		at++;
	add_own(parts, at, sum);
	while (at < count) {
		struct amount largest;
		const struct part *fork = &parts[at];
		amount_init(&largest);
		while (at < count && is_same_branch(fork, &parts[at], depth, false)) {
			size_t end = at + 1;
			struct amount way;
			while (end < count && is_same_branch(&parts[at], &parts[end], depth, true))
				end++;
			amount_init(&way);
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

static void set_branches(struct part *part)
{
	uint32_t all = 0;
	for (const struct tdm_scan_branch *at = part->buffer->branch; at != NULL; at = at->outer)
		all++;
	part->depth = all < BRANCHES_MAX ? all : BRANCHES_MAX;
	for (const struct tdm_scan_branch *at = part->buffer->branch; at != NULL; at = at->outer)
		if (--all < BRANCHES_MAX)
			part->branches[all] = at;
}

static void count_buffer(const struct tdm_scan_buffer *buffer, struct tdm_scan_budget *budget)
{
	if (buffer->is_view) {
		budget->views++;
		return;
	}
	budget->buffers++;
	budget->unknown += buffer->total.bytes == TDM_BYTES_UNKNOWN || is_repeated(buffer);
}

/* A program, to find the one that a line belongs to: it ends where the next one begins. */
struct owner {
	uint32_t line, program;
};

static int compare_owners(const void *left, const void *right)
{
	const struct owner *a = left, *b = right;
	return tdm_order(a->line, b->line);
}

/* The last owner that begins at the line or before; NULL when there is none. */
static const struct owner *find_owner(const struct owner *owners, size_t count, uint32_t line)
{
	size_t low = 0, high = count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (owners[middle].line <= line)
			low = middle + 1;
		else
			high = middle;
	}
	return low != 0 ? &owners[low - 1] : NULL;
}

/* A file while its programs are added up. */
struct sums {
	const struct tdm_scan_file *file;
	struct part *parts;              /* the buffers with bytes of their own, by program */
	size_t *ends;                    /* where the parts of each program end */
	struct owner *owners;            /* by line */
	struct tdm_scan_budget *budgets; /* one for each program */
};

static void count_missed(struct sums *sums)
{
	const struct tdm_scan_file *file = sums->file;
	for (size_t i = 0; i < file->program_count; i++)
		sums->owners[i] = (struct owner){ file->programs[i].line, (uint32_t)i };
	qsort(sums->owners, file->program_count, sizeof *sums->owners, compare_owners);
	for (size_t i = 0; i < file->place_count; i++) {
		const struct tdm_scan_place *place = &file->places[i];
		if (place->grasp != TDM_GRASP_NOT || place->is_helper_body)
			continue;
		const struct owner *owner = find_owner(sums->owners, file->program_count, place->line);
		if (owner != NULL)
			sums->budgets[owner->program].missed++;
	}
}

/* Puts the buffers of each program together, in their order. */
static void sort_buffers(struct sums *sums)
{
	const struct tdm_scan_file *file = sums->file;
	for (size_t i = 0; i < file->buffer_count; i++)
		if (file->buffers[i].program < file->program_count)
			count_buffer(&file->buffers[i], &sums->budgets[file->buffers[i].program]);
	for (size_t i = 1; i < file->program_count; i++)
		sums->ends[i] = sums->ends[i - 1] + sums->budgets[i - 1].buffers;
	for (size_t i = 0; i < file->buffer_count; i++) {
		const struct tdm_scan_buffer *buffer = &file->buffers[i];
		if (buffer->is_view || buffer->program >= file->program_count)
			continue;
		struct part *part = &sums->parts[sums->ends[buffer->program]++];
		part->buffer = buffer;
		set_branches(part);
	}
}

static const char *name_budget(const struct tdm_scan_budget *budget, size_t root, struct tdm_arena *arena)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	const char *path = strlen(budget->file->path) > root ? budget->file->path + root : "";
	tdm_buf_printf(&text, "%s%s%s", path, path[0] != '\0' ? ": " : "", budget->program->name);
	const char *name = tdm_buf_failed(&text) ? NULL : tdm_arena_text(arena, tdm_buf_str(&text));
	tdm_buf_done(&text);
	return name;
}

static int fill(struct tdm_scan_budgets *budgets, size_t root, struct tdm_scan_budget *budget, struct amount *sum)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	put_whole(sum, &text);
	budget->min = sum->min;
	budget->max = budget->missed != 0 ? TDM_BYTES_UNKNOWN : sum->max;
	budget->bytes = budget->min == budget->max ? budget->min : TDM_BYTES_UNKNOWN;
	budget->share = tdm_share(budget->min, budgets->l1_bytes);
	budget->expression =
		sum->rest.failed || text.failed ? NULL : tdm_arena_text(&budgets->arena, tdm_buf_str(&text));
	budget->name = name_budget(budget, root, &budgets->arena);
	budget->terms = sum->terms;
	sum->terms = (struct tdm_terms){ 0 };
	tdm_buf_done(&text);
	amount_done(sum);
	return budget->expression == NULL || budget->name == NULL ? -ENOMEM : 0;
}

static int add_program(struct tdm_scan_budgets *budgets, size_t root, struct sums *sums, size_t at)
{
	struct tdm_scan_budget *budget = &sums->budgets[at];
	struct part *parts = sums->parts + (sums->ends[at] - budget->buffers);
	struct amount sum;
	if (budget->buffers + budget->views == 0)
		return 0;
	if (tdm_reserve(&budgets->list, &budgets->cap, budgets->count + 1, sizeof *budgets->list) != 0)
		return -ENOMEM;
	budget->file = sums->file;
	budget->program = &sums->file->programs[at];
	qsort(parts, budget->buffers, sizeof *parts, compare_parts);
	amount_init(&sum);
	add_up(parts, budget->buffers, 0, &sum);
	int err = fill(budgets, root, budget, &sum);
	if (err == 0)
		budgets->list[budgets->count++] = *budget;
	else
		tdm_terms_done(&budget->terms);
	return err;
}

static int add_file(struct tdm_scan_budgets *budgets, size_t root, const struct tdm_scan_file *file)
{
	size_t programs = file->program_count;
	struct sums sums = { file, calloc(file->buffer_count, sizeof *sums.parts), calloc(programs, sizeof *sums.ends),
		calloc(programs, sizeof *sums.owners), calloc(programs, sizeof *sums.budgets) };
	bool is_made = sums.parts != NULL && sums.ends != NULL && sums.owners != NULL && sums.budgets != NULL;
	int err = is_made ? 0 : -ENOMEM;
	if (is_made) {
		sort_buffers(&sums);
		count_missed(&sums);
	}
	for (size_t i = 0; err == 0 && i < programs; i++)
		err = add_program(budgets, root, &sums, i);
	free(sums.parts);
	free(sums.ends);
	free(sums.owners);
	free(sums.budgets);
	return err;
}

int tdm_scan_budgets_make(const struct tdm_scan *scan, size_t root, uint64_t l1_bytes, struct tdm_scan_budgets *budgets)
{
	int err = 0;
	budgets->l1_bytes = l1_bytes;
	tdm_arena_init(&budgets->arena, 0);
	for (size_t i = 0; err == 0 && i < scan->file_count; i++)
		if (scan->files[i].buffer_count != 0 && scan->files[i].program_count != 0)
			err = add_file(budgets, root, &scan->files[i]);
	return err;
}

void tdm_scan_budgets_done(struct tdm_scan_budgets *budgets)
{
	for (size_t i = 0; i < budgets->count; i++)
		tdm_terms_done(&budgets->list[i].terms);
	free(budgets->list);
	tdm_arena_done(&budgets->arena);
	*budgets = (struct tdm_scan_budgets){ 0 };
}

int tdm_scan_budgets_named(const struct tdm_scan_budgets *budgets, struct tdm_budgets *named)
{
	struct tdm_buf name;
	int err = 0;
	tdm_buf_init(&name);
	for (size_t i = 0; err == 0 && i < budgets->count; i++) {
		const struct tdm_scan_budget *budget = &budgets->list[i];
		err = tdm_budgets_add(named, tdm_str_of(budget->name), budget->bytes);
		if (err != 0 || budget->bytes != TDM_BYTES_UNKNOWN)
			continue;
		struct tdm_terms terms = { 0 };
		tdm_terms_add_all(&terms, &budget->terms, 1);
		err = tdm_budgets_explain(named, tdm_str_of(budget->expression), &terms);
		tdm_buf_clear(&name);
		tdm_buf_printf(&name, "%s (at least)", budget->name);
		if (err == 0)
			err = tdm_buf_failed(&name) ? -ENOMEM : tdm_budgets_add(named, tdm_buf_str(&name), budget->min);
	}
	tdm_buf_done(&name);
	return err;
}

static void add_finding(const struct tdm_scan_budgets *budgets, const struct tdm_scan_budget *budget, double limit,
	struct tdm_findings *found)
{
	char size[TDM_BYTES_CAP], l1[TDM_BYTES_CAP];
	bool fits = budget->min <= budgets->l1_bytes;
	struct tdm_finding *finding =
		tdm_findings_add(found, TDM_FAMILY_SCAN, fits ? "over_limit" : "does_not_fit", TDM_FINDING_BROKEN);
	finding->about.name = budget->program->name;
	finding->weight = budget->share;
	tdm_format_bytes_short(size, sizeof size, budget->min);
	tdm_format_bytes_short(l1, sizeof l1, budgets->l1_bytes);
	tdm_findings_say(found, "its buffers take %s%s of L1, %.1f %% of the %s that a core has for buffers%s",
		budget->bytes == TDM_BYTES_UNKNOWN ? "at least " : "", size, 100 * budget->share, l1,
		fits ? "" : ": they do not fit");
	tdm_findings_place(found, "file", tdm_str_of(budget->file->path));
	tdm_findings_position(found, "line", TDM_UNIT_COUNT, budget->program->line);
	tdm_findings_figure(found, "bytes", TDM_UNIT_BYTES, budget->bytes);
	tdm_findings_figure(found, "min_bytes", TDM_UNIT_BYTES, budget->min);
	tdm_findings_figure(found, "l1_bytes", TDM_UNIT_BYTES, budgets->l1_bytes);
	tdm_findings_real(found, "l1_share", TDM_UNIT_SHARE, budget->share);
	tdm_findings_real(found, "limit", TDM_UNIT_SHARE, limit);
}

size_t tdm_scan_budgets_judge(const struct tdm_scan_budgets *budgets, double limit, struct tdm_findings *found)
{
	size_t above = 0;
	for (size_t i = 0; i < budgets->count; i++) {
		const struct tdm_scan_budget *budget = &budgets->list[i];
		bool is_above = budget->share > limit; /* false when one of them is unknown */
		if (is_above || budget->share > 1)
			add_finding(budgets, budget, limit, found);
		above += is_above;
	}
	return above;
}
