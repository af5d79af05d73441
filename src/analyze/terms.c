#include "analyze/terms.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/reserve.h"

enum { OF_CAP = 1024, FACTORS_MAX = 8 };
static const char times_mark[] = " * ";

void tdm_terms_done(struct tdm_terms *terms)
{
	for (size_t i = 0; i < terms->count; i++)
		free(terms->list[i].of);
	free(terms->list);
	*terms = (struct tdm_terms){ 0 };
}

/* The place of a term, or where it belongs. */
static size_t place_of(const struct tdm_terms *terms, const char *of)
{
	size_t at = 0;
	while (at < terms->count && strcmp(terms->list[at].of, of) < 0)
		at++;
	return at;
}

static void remove_at(struct tdm_terms *terms, size_t at)
{
	free(terms->list[at].of);
	memmove(&terms->list[at], &terms->list[at + 1], (--terms->count - at) * sizeof *terms->list);
}

static void insert_at(struct tdm_terms *terms, size_t at, const char *of, int64_t times)
{
	bool has_room = terms->count < TDM_TERMS_MAX &&
			tdm_reserve(&terms->list, &terms->cap, terms->count + 1, sizeof *terms->list) == 0;
	char *copy = has_room ? strdup(of) : NULL;
	terms->failed |= copy == NULL;
	if (copy == NULL)
		return;
	memmove(&terms->list[at + 1], &terms->list[at], (terms->count++ - at) * sizeof *terms->list);
	terms->list[at] = (struct tdm_addend){ copy, times };
}

void tdm_terms_add(struct tdm_terms *terms, struct tdm_str of, int64_t times)
{
	char shown[OF_CAP];
	if (of.len >= sizeof shown || times == INT64_MIN) {
		terms->failed = true; /* cut, it could be equal to another one; and every number has a negative one */
		return;
	}
	tdm_str_shown(of, shown, sizeof shown);
	size_t at = place_of(terms, shown);
	if (at == terms->count || strcmp(terms->list[at].of, shown) != 0) {
		if (times != 0)
			insert_at(terms, at, shown, times);
		return;
	}
	terms->failed |= __builtin_add_overflow(terms->list[at].times, times, &terms->list[at].times) ||
			 terms->list[at].times == INT64_MIN;
	if (terms->list[at].times == 0)
		remove_at(terms, at);
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

/* The factors of a term. More than there is room for stay in the last one. */
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
	struct tdm_buf of;
	int64_t times;
	count += split(b->of, factors + count);
	qsort(factors, count, sizeof *factors, by_text);
	tdm_buf_init(&of);
	for (size_t i = 0; i < count; i++)
		tdm_buf_printf(&of, "%s%.*s", i != 0 ? times_mark : "", TDM_STR_ARG(factors[i]));
	product->failed |= count > FACTORS_MAX || of.failed || __builtin_mul_overflow(a->times, b->times, &times);
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

struct tdm_terms tdm_terms_minus(const struct tdm_terms *a, const struct tdm_terms *b)
{
	struct tdm_terms rest = { 0 };
	tdm_terms_add_all(&rest, a, 1);
	tdm_terms_add_all(&rest, b, -1);
	return rest;
}

bool tdm_terms_is_number(const struct tdm_terms *terms)
{
	return !terms->failed && (terms->count == 0 || (terms->count == 1 && terms->list[0].of[0] == '\0'));
}

static enum tdm_terms_change kind_of(const struct tdm_terms *change)
{
	bool has_more = false, has_less = false;
	for (size_t i = 0; i < change->count; i++) {
		has_more |= change->list[i].times > 0;
		has_less |= change->list[i].times < 0;
	}
	if (change->failed)
		return TDM_TERMS_UNKNOWN;
	return has_more && has_less ? TDM_TERMS_MIXED
	       : has_more           ? TDM_TERMS_MORE
	       : has_less           ? TDM_TERMS_LESS
				    : TDM_TERMS_SAME;
}

enum tdm_terms_change tdm_terms_compare(const struct tdm_terms *before, const struct tdm_terms *after)
{
	struct tdm_terms change = tdm_terms_minus(after, before);
	enum tdm_terms_change kind = kind_of(&change);
	tdm_terms_done(&change);
	return kind;
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
