/* Everything that is judged about a scan: the budgets of its programs, its kernels against their host, and findings. */
#ifndef TDM_ANALYZE_SCAN_VERDICT_H
#define TDM_ANALYZE_SCAN_VERDICT_H

#include "analyze/scan_budget.h"
#include "device/card.h"
#include "scan/kernel_code.h"

struct tdm_scan_rules {
	const struct tdm_settings *settings; /* may be NULL */
	uint64_t l1_bytes;                   /* L1 of one core for buffers; may be unknown */
	size_t root;                         /* bytes of each path that names of budgets leave out */
	double limit;                        /* a share of the L1 to fail on; NAN: none */
};

/* Zeroed to begin with. */
struct tdm_scan_verdict {
	struct tdm_scan_budgets budgets;
	struct tdm_budgets named; /* the same budgets by name */
	struct tdm_mismatches mismatches;
	struct tdm_findings findings; /* sorted */
	size_t failures;              /* programs above the limit */
};

/* The L1 of one core for buffers, all of it that is left by default; unknown with the reason in `diag`. */
uint64_t tdm_scan_l1_bytes(const struct tdm_card *card, struct tdm_diag *diag);

/* Ties the kernels of a scan to their sources, and judges. The scan must outlive the verdict. 0, -ENOMEM or -E2BIG. */
int tdm_scan_judge(struct tdm_scan *scan, const struct tdm_scan_rules *rules, struct tdm_scan_verdict *verdict);
void tdm_scan_verdict_done(struct tdm_scan_verdict *verdict);

#endif
