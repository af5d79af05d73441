/*
 * Budgets: how many bytes of a core's L1 each named item needs, such as a program or an allocation strategy. Two lists
 * of budgets are compared by name. Each budget that grew becomes a finding, so that a test can fail.
 *
 * A size that depends on unknowns is a sum of terms: 16384 + 4096 * Wt + 2048 * Ht * Wt. A term is either a number, or
 * a number times a product of unknowns sorted by name, "Ht * Wt". Unknowns are never negative, so two sums can be
 * compared term by term: if no term of one sum is smaller, the sum is not smaller, whatever values the unknowns have.
 */
#ifndef TDM_ANALYZE_BUDGET_H
#define TDM_ANALYZE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/result/finding.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/str.h"

enum { TDM_TERMS_MAX = 64, TDM_BUDGET_NAME_CAP = 4096 };

struct tdm_addend {
	char *of; /* owned; "" for a plain number */
	int64_t times;
};

/* A sum of terms; zeroed, it is 0. */
struct tdm_terms {
	struct tdm_addend *list; /* sorted by `of`; no entry has `times` 0 */
	size_t count, cap;
	bool failed; /* not expressible: too many terms, or numbers too large */
};

void tdm_terms_done(struct tdm_terms *terms);

/* Adds `times` times `of`. Control characters in `of` become '?'. " * " separates factors and must not occur inside a
 * factor. */
void tdm_terms_add(struct tdm_terms *terms, struct tdm_str of, int64_t times);

/* Adds a multiple of another sum; -1 subtracts the sum. */
void tdm_terms_add_all(struct tdm_terms *terms, const struct tdm_terms *more, int64_t times);

/* Sets *product, which must be zeroed, to the product of the two sums. */
void tdm_terms_multiply(const struct tdm_terms *a, const struct tdm_terms *b, struct tdm_terms *product);

/* How `after` differs from `before`. */
enum tdm_terms_change {
	TDM_TERMS_SAME,
	TDM_TERMS_MORE, /* no term shrank */
	TDM_TERMS_LESS,
	TDM_TERMS_MIXED,  /* some terms grew and others shrank */
	TDM_TERMS_UNKNOWN /* one of the sums failed */
};
enum tdm_terms_change tdm_terms_compare(const struct tdm_terms *before, const struct tdm_terms *after);

/* Prints "16384 + 4096 * Wt"; "0" if there are no terms. */
void tdm_terms_print(const struct tdm_terms *terms, struct tdm_buf *out);

struct tdm_budget {
	char *name;             /* owned */
	uint64_t bytes;         /* TDM_BYTES_UNKNOWN if the size could not be computed */
	size_t order;           /* position in the order in which budgets were added */
	char *expression;       /* owned; shown to people instead of unknown bytes; may be NULL */
	struct tdm_terms terms; /* the expression as a sum; `failed` is set if there is no such sum */
	/* Name to use in sentences, and file. Both are borrowed and may be NULL. */
	const char *title, *file;
	uint32_t line;
};

/* Zeroed to begin with. */
struct tdm_budgets {
	struct tdm_budget *list;
	size_t count, cap;
};

void tdm_budgets_done(struct tdm_budgets *budgets);

/* Control characters and invalid UTF-8 in the name become '?'. */
void tdm_budgets_add(struct tdm_budgets *budgets, struct tdm_str name, uint64_t bytes);

/* Sets the expression and the terms of the last budget added. Takes ownership of the terms. */
void tdm_budgets_explain(struct tdm_budgets *budgets, struct tdm_str expression, struct tdm_terms *terms);

/*
 * Adds a finding for each budget that differs. Returns how many budgets grew or can no longer be computed; their
 * findings are BROKEN. Findings about new, smaller and missing budgets are INFO. If neither size can be computed, the
 * terms are compared; a change that cannot be judged is INFO. Budgets with equal names are matched in the order in
 * which they were added. Sorts both lists by name; the findings borrow the budgets' strings.
 */
size_t tdm_budgets_compare(struct tdm_budgets *before, struct tdm_budgets *after, struct tdm_findings *found);

/*
 * ---- in JSON ----  A command's JSON object contains the budgets under the key "budgets": a list of objects with
 * `name` and `bytes`, and with `expression` and `terms` if a budget has an expression. --save writes this JSON, and
 * --baseline reads the budgets back from the saved file. Files without expressions are accepted.
 */
struct tdm_table tdm_budgets_table(const struct tdm_budgets *budgets);

/* Reads the budgets that `command` ("pressure") saved, from JSON text or from a file. *budgets must be zeroed, and
 * stays empty on an error. Returns 0, or a negative code with diag set. */
int tdm_budgets_parse(struct tdm_str text, const char *command, struct tdm_budgets *budgets, struct tdm_diag *diag);
int tdm_budgets_load(const char *path, const char *command, struct tdm_budgets *budgets, struct tdm_diag *diag);

#endif
