#include "analyze/phase_log.h"

int tdm_phase_log_take(void *log, const struct tdm_record *record)
{
	struct tdm_phase_log *l = log;
	if (record->type == TDM_RECORD_RUN)
		return tdm_phase_runs_take(&l->runs, record->run);
	if (record->type == TDM_RECORD_REFUSED && l->refused_count++ < TDM_PHASE_LOG_REFUSED_MAX) {
		struct tdm_diag *kept = &l->refused[l->refused_kept++];
		*kept = *record->refused;
		kept->file = l->file;
	}
	return 0;
}

void tdm_phase_log_done(struct tdm_phase_log *log)
{
	tdm_phase_runs_done(&log->runs);
}
