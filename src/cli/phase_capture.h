/* Graph captures as phases: each file is one segment, counted as the runtime's own functions count it. */
#ifndef TDM_CLI_PHASE_CAPTURE_H
#define TDM_CLI_PHASE_CAPTURE_H

#include "base/diag.h"
#include "event/phase_run.h"

/*
 * Reads the capture at `path` ("-": standard input) and appends it to the run as the phase `name`. What the runtime's
 * functions cannot compute is unknown, with the reason in `diag` and TDM_EUNKNOWN returned; the phase is not appended
 * then. 0, or a negative code with the reason in `diag`. *refused counts nodes that make no sense; they count all the
 * same, as they do there.
 */
int tdm_phase_capture_read(
	const char *path, struct tdm_str name, struct tdm_phase_run *run, uint64_t *refused, struct tdm_diag *diag);

#endif
