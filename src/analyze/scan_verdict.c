#include "analyze/scan_verdict.h"

#include <errno.h>

#include "analyze/scan_kernels.h"
#include "device/l1_map.h"

uint64_t tdm_scan_l1_bytes(const struct tdm_card *card, struct tdm_diag *diag)
{
	struct tdm_l1_map map;
	return tdm_l1_map(card, NULL, &map, diag) == 0 ? map.span[TDM_L1_GAP].size : TDM_BYTES_UNKNOWN;
}

int tdm_scan_judge(struct tdm_scan *scan, const struct tdm_scan_rules *rules, struct tdm_scan_verdict *verdict)
{
	int err = tdm_scan_budgets_make(scan, rules->root, rules->l1_bytes, &verdict->budgets);
	err = err != 0 ? err : tdm_scan_budgets_named(&verdict->budgets, &verdict->named);
	err = err != 0 ? err : tdm_kernels_join(scan, rules->settings);
	err = err != 0 ? err : tdm_kernels_match(scan, &verdict->mismatches);
	if (err != 0)
		return err;
	tdm_scan_kernels_judge(scan, &verdict->mismatches, &verdict->findings);
	verdict->failures = tdm_scan_budgets_judge(&verdict->budgets, rules->limit, &verdict->findings);
	tdm_findings_sort(&verdict->findings);
	return verdict->findings.failed ? -ENOMEM : 0;
}

void tdm_scan_verdict_done(struct tdm_scan_verdict *verdict)
{
	tdm_findings_done(&verdict->findings);
	tdm_mismatches_done(&verdict->mismatches);
	tdm_budgets_done(&verdict->named);
	tdm_scan_budgets_done(&verdict->budgets);
}
