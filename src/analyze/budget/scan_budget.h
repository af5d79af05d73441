/*
 * Budgets of scanned programs: the bytes of one core's L1 that a program's buffers need together.
 *
 * A budget assumes that all of the program's buffers are on one core. Views count as 0. The largest branch of an `if`
 * counts. A core has each circular-buffer index once, so if several buffers (for different cores) have the same index,
 * the largest counts. A size that cannot be computed counts with its bounds. A budget is therefore a number, or a range
 * with an expression in its unknowns.
 */
#ifndef TDM_ANALYZE_SCAN_BUDGET_H
#define TDM_ANALYZE_SCAN_BUDGET_H

#include "analyze/budget/budget.h"
#include "model/card/card.h"
#include "model/result/result.h"
#include "scan/scan.h"

struct tdm_scan_budget {
	const struct tdm_scan_file *file;
	const struct tdm_scan_program *program;
	const char *name;        /* "path: program", for baselines */
	uint32_t buffers, views; /* views are not counted as buffers */
	uint32_t unknown;        /* number of buffers whose size cannot be computed */
	uint32_t missed;         /* number of places in the program that yielded no buffer */
	uint64_t bytes;          /* TDM_BYTES_UNKNOWN for a range */
	uint64_t min, max;       /* max: TDM_BYTES_UNKNOWN if unbounded */
	const char *expression;
	struct tdm_terms terms; /* the expression as a sum; `failed` is set if there is no such sum */
	double share;           /* least share of the card's L1 available for buffers; NAN if unknown */
};

/* Zeroed to begin with. */
struct tdm_scan_budgets {
	struct tdm_scan_budget *list; /* in file and line order */
	size_t count, cap;
	uint64_t l1_bytes; /* L1 of one core available for buffers; may be TDM_BYTES_UNKNOWN */
	struct tdm_arena arena;
};

/* Adds up the buffers of each program that creates any; borrows the scan. Names contain paths without their first
 * `root` bytes. */
void tdm_scan_budgets_make(
	const struct tdm_scan *scan, size_t root, uint64_t l1_bytes, struct tdm_scan_budgets *budgets);
void tdm_scan_budgets_done(struct tdm_scan_budgets *budgets);

/* Converts to named budgets, for saving and comparing. A program whose budget is a range gets two named budgets: one
 * with an unknown number and the expression, and "(at least)" with the lower bound, so that growth of the known part is
 * noticed. */
void tdm_scan_budgets_named(struct tdm_scan_budgets *budgets, struct tdm_budgets *named);

/* Adds a finding for each program that needs more than `limit` of the L1 (a share; NAN for no limit), and for each
 * program that does not fit at all. Returns how many exceed the limit. */
size_t tdm_scan_budgets_judge(const struct tdm_scan_budgets *budgets, double limit, struct tdm_findings *found);

/*
 * ---- comparison of two scans ----
 *
 * Finds buffers that are new, gone, larger, smaller or with a different size expression. Buffers are matched by
 * their path below the compared folders, program, kind, and index or name; buffers equal in all of these are matched in
 * order.
 */
enum tdm_change {
	TDM_CHANGE_NEW,
	TDM_CHANGE_GREW,
	TDM_CHANGE_CHANGED, /* the size is a different expression */
	TDM_CHANGE_SHRANK,
	TDM_CHANGE_GONE
};

struct tdm_scan_change {
	uint8_t change;   /* enum tdm_change */
	const char *path; /* path below the compared folders; "" if files were compared */
	const char *program;
	const struct tdm_scan_buffer *before, *after; /* NULL if missing from that scan */
};

/* ---- the scan and all judgements ---- */

/* Zeroed to begin with. */
struct tdm_scan_report {
	/* Set by the caller: */
	const char *const *paths; /* ends with NULL; in a comparison: the old version and the new version */
	bool is_comparison;
	struct tdm_scan_options options;
	const struct tdm_card *card;
	double limit;         /* a budget above this share of L1 fails; NAN for no limit */
	size_t rows;          /* maximum number of rows of each table in text; 0 for all */
	const char *baseline; /* file to compare with, or NULL */
	bool is_as_baseline;  /* no budget differs from the baseline */
	/* Results: */
	struct tdm_scan scan, before; /* `before`: only in a comparison */
	struct tdm_scan_budgets budgets, old_budgets;
	struct tdm_budgets named, old_named;   /* the same budgets by name */
	struct tdm_scan_change *changes;       /* sorted by path, program and buffer */
	size_t change_count, change_cap, same; /* `same`: number of equal buffers */
	struct tdm_findings findings;          /* sorted */
	size_t failures;                       /* number of programs above the limit */
};

/* Finds the changes between the two scans. Paths are compared without their first `before_root` or `after_root`
 * bytes. */
void tdm_scan_compare(struct tdm_scan_report *report, size_t before_root, size_t after_root);

/* The length of a command-line path including its slash, which is the common beginning of all paths below it. For a
 * file, the whole length. */
size_t tdm_scan_root(const struct tdm_scan *scan, const char *path);

/* Scans, connects kernels with their sources, and judges. 0; -ENODATA if there is a limit but the card's L1 is unknown;
 * or -errno for a path. Errors come with a reason in `diag`. */
int tdm_scan_report_make(struct tdm_scan_report *report, struct tdm_diag *diag);
void tdm_scan_report_done(struct tdm_scan_report *report);

/* Output of `tidemark scan`: findings, budgets, buffers, kernels, and how much of the source code was understood. The
 * report is borrowed until the result is freed. Defined in scan_result.c. */
void tdm_scan_show(struct tdm_block *in, const struct tdm_scan_report *report);

#endif
