/* Collects the runs of a training log, and the first places that could not be used. */
#ifndef TDM_ANALYZE_PHASE_LOG_H
#define TDM_ANALYZE_PHASE_LOG_H

#include "event/record.h"

enum { TDM_PHASE_LOG_REFUSED_MAX = 16 };

struct tdm_phase_log {
	const char *file; /* set by the caller, for the places; borrowed */
	struct tdm_phase_runs runs;
	struct tdm_diag refused[TDM_PHASE_LOG_REFUSED_MAX];
	size_t refused_kept;
	uint64_t refused_count; /* of all */
};

/* For a sink; `log` is a struct tdm_phase_log. 0 or -ENOMEM. */
int tdm_phase_log_take(void *log, const struct tdm_record *record);
void tdm_phase_log_done(struct tdm_phase_log *log);

#endif
