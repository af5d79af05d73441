/*
 * Budgets: how many bytes of a core's L1 each named thing takes, such as a program or an allocation strategy. Two lists
 * of them are compared by name, and each growth is a finding, so that a test can fail on it.
 */
#ifndef TDM_ANALYZE_BUDGET_H
#define TDM_ANALYZE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/finding.h"
#include "analyze/terms.h"
#include "base/str.h"

enum { TDM_BUDGETS_MAX = 1 << 20 };

struct tdm_budget {
	char *name;             /* owned */
	uint64_t bytes;         /* TDM_BYTES_UNKNOWN: they could not be computed */
	size_t order;           /* in which it was added */
	char *expression;       /* owned; of unknown bytes, as a reader wants it; NULL when there is none */
	struct tdm_terms terms; /* the same as a sum, if there is an expression; failed where it is none */
};

/* Zeroed to begin with. */
struct tdm_budgets {
	struct tdm_budget *list;
	size_t count, cap;
};

void tdm_budgets_done(struct tdm_budgets *budgets);

/* Control characters and invalid UTF-8 in the name become '?'. 0, -ENOMEM, or -E2BIG above TDM_BUDGETS_MAX. */
int tdm_budgets_add(struct tdm_budgets *budgets, struct tdm_str name, uint64_t bytes);

/* Gives the budget that was added last an expression, and its terms, which move. 0 or -ENOMEM. */
int tdm_budgets_explain(struct tdm_budgets *budgets, struct tdm_str expression, struct tdm_terms *terms);

/*
 * Adds a finding for each budget that differs, and returns how many grew or can no longer be computed: their severity
 * is BROKEN. New, smaller and missing ones are INFO. If neither can be computed, their terms are compared; a change
 * that cannot be judged is INFO. Equal names are matched in the order in which they were added. Sorts both lists by
 * name; the findings borrow the names.
 */
size_t tdm_budgets_compare(struct tdm_budgets *before, struct tdm_budgets *after, struct tdm_findings *found);

#endif
