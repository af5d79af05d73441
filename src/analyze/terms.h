/*
 * A size in its unknowns as a sum: 16384 + 4096 * Wt + 2048 * Ht * Wt. A term is a number and what it is multiplied
 * with: unknown counts in the order of their names, "Ht * Wt", or nothing. Everything unknown is 0 or more, so two sums
 * are compared term by term: one that is not smaller in any term is not smaller, whatever the unknowns are.
 */
#ifndef TDM_ANALYZE_TERMS_H
#define TDM_ANALYZE_TERMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

enum { TDM_TERMS_MAX = 64 };

struct tdm_addend {
	char *of; /* owned; "": the term is a number */
	int64_t times;
};

/* Zeroed to begin with: 0. */
struct tdm_terms {
	struct tdm_addend *list; /* in the order of `of`; none is 0 times anything */
	size_t count, cap;
	bool failed; /* it is no such sum: too many terms, numbers too large, or out of memory */
};

void tdm_terms_done(struct tdm_terms *terms);

/* Adds a number times something. Control characters in `of` become '?'. " * " is between two factors, never inside of
 * one. */
void tdm_terms_add(struct tdm_terms *terms, struct tdm_str of, int64_t times);

/* Adds another sum so many times: -1 takes it away. */
void tdm_terms_add_all(struct tdm_terms *terms, const struct tdm_terms *more, int64_t times);

/* Makes *product, which is zeroed, the product of both. */
void tdm_terms_multiply(const struct tdm_terms *a, const struct tdm_terms *b, struct tdm_terms *product);

/* a - b, to be released. */
struct tdm_terms tdm_terms_minus(const struct tdm_terms *a, const struct tdm_terms *b);

/* Whether it has no unknowns. */
bool tdm_terms_is_number(const struct tdm_terms *terms);

/* How `after` differs from `before`. */
enum tdm_terms_change {
	TDM_TERMS_SAME,
	TDM_TERMS_MORE, /* no term shrank */
	TDM_TERMS_LESS,
	TDM_TERMS_MIXED,  /* some terms grew, and others shrank */
	TDM_TERMS_UNKNOWN /* one of them is no sum */
};
enum tdm_terms_change tdm_terms_compare(const struct tdm_terms *before, const struct tdm_terms *after);

/* "16384 + 4096 * Wt"; "0" when there are none. */
void tdm_terms_print(const struct tdm_terms *terms, struct tdm_buf *out);

#endif
