/* The phases that libtidemark recorded in a ledger, as runs: one run per capture, and one run for all marks, if any. */
#ifndef TDM_INPUT_LEDGER_PHASES_H
#define TDM_INPUT_LEDGER_PHASES_H

#include "base/diag.h"
#include "model/event/phase_run.h"

/*
 * Appends the runs of the ledger at `path`, possibly none. A phase that began with a mark (tidemark_phase) has no peak
 * of its own. For such a phase, only the bytes in use at its beginning and its end are known. For the whole run, the
 * peak kept by the library is known as well. 0, or a negative code with the reason in `diag`.
 */
int tdm_ledger_phases_read(const char *path, struct tdm_phase_runs *runs, struct tdm_diag *diag);

#endif
