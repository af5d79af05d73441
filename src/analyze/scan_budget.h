/*
 * Budgets of scanned programs: how many bytes of one core's L1 the buffers of a program take together.
 *
 * A budget assumes that all buffers of the program are on one core. Views count nothing. Of the branches of an `if`,
 * the one that takes more counts. A core has each circular-buffer index once, so of several buffers with the same index
 * (for different cores) the largest counts. A size that cannot be computed counts with its bounds, so a budget is a
 * number, or a range with an expression in its unknowns.
 */
#ifndef TDM_ANALYZE_SCAN_BUDGET_H
#define TDM_ANALYZE_SCAN_BUDGET_H

#include "analyze/budget.h"
#include "analyze/finding.h"
#include "scan/scan.h"

struct tdm_scan_budget {
	const struct tdm_scan_file *file;
	const struct tdm_scan_program *program;
	const char *name;        /* "path: program", for baselines */
	uint32_t buffers, views; /* views are not among the buffers */
	uint32_t unknown;        /* buffers whose size cannot be computed */
	uint32_t missed;         /* places of the program from which no buffer came */
	uint64_t bytes;          /* unknown where it is a range */
	uint64_t min, max;       /* max: unknown where there is no bound */
	const char *expression;
	struct tdm_terms terms; /* the same as a sum, to be compared; failed where it is none */
	double share;           /* of the card's L1 for buffers, at least; NAN when that is unknown */
};

/* Zeroed to begin with. */
struct tdm_scan_budgets {
	struct tdm_scan_budget *list; /* in the order of files and lines */
	size_t count, cap;
	uint64_t l1_bytes; /* L1 of one core for buffers; may be unknown */
	struct tdm_arena arena;
};

/* Adds up the buffers of every program that has any; the scan is borrowed. Paths in names begin after `root`, a number
 * of bytes that is cut off. 0 or -ENOMEM. */
int tdm_scan_budgets_make(
	const struct tdm_scan *scan, size_t root, uint64_t l1_bytes, struct tdm_scan_budgets *budgets);
void tdm_scan_budgets_done(struct tdm_scan_budgets *budgets);

/*
 * The same as named budgets, to be saved and compared. A program whose budget is a range has two: the number, which is
 * unknown, and "(at least)" the lower bound, so that growth of the known part is noticed. The first has the expression.
 * 0, -ENOMEM or -E2BIG.
 */
int tdm_scan_budgets_named(const struct tdm_scan_budgets *budgets, struct tdm_budgets *named);

/*
 * Adds a finding for each program that takes more than `limit` of the L1 (a share), and for each that does not fit at
 * all. Returns how many are above the limit; NAN is no limit.
 */
size_t tdm_scan_budgets_judge(const struct tdm_scan_budgets *budgets, double limit, struct tdm_findings *found);

#endif
