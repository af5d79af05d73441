#include "analyze/run_findings.h"
#include "analyze/clashes.h"
#include "analyze/left_at_close.h"
#include "analyze/statistics_check.h"
#include "analyze/trace_hazards.h"

void tdm_run_findings(const struct tdm_picture *picture, uint32_t process, struct tdm_findings *findings)
{
	tdm_trace_hazards_find(picture, process, findings);
	tdm_clashes_find(picture, process, findings);
	tdm_left_at_close_find(picture, process, findings);
	tdm_statistics_check(picture, process, findings);
	tdm_findings_sort(findings);
}

/* All of these only grow while a process runs. */
uint64_t tdm_run_findings_version(const struct tdm_picture *picture, const struct tdm_picture_process *process)
{
	uint64_t version = process->holding_count;
	for (uint32_t i = 0; i < process->holding_count; i++) {
		const struct tdm_holding *holding = &picture->holdings[process->first_holding + i];
		version = tdm_plus(version, tdm_plus(holding->hazards_lost, holding->left));
		for (size_t k = 0; k < holding->hazard_count; k++)
			version = tdm_plus(version, holding->hazards[k].count + holding->hazards[k].state);
		for (size_t k = 0; k < holding->clash_count; k++)
			version = tdm_plus(version, holding->clashes[k].count);
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
			version = tdm_plus(version, holding->statistics[k].reports);
	}
	return version;
}
