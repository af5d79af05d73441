/* The phases that libtidemark recorded in a ledger, as runs: one for each capture, and one for the marks if any. */
#ifndef TDM_SOURCES_LEDGER_PHASES_H
#define TDM_SOURCES_LEDGER_PHASES_H

#include "base/diag.h"
#include "event/phase_run.h"

/*
 * Appends the runs of the ledger at `path`; it may have none. A phase that began with a mark (tidemark_phase) has no
 * peak of its own: only the bytes in use at both ends are known, and for the whole run the peak that the library kept.
 * 0, or a negative code with the reason in `diag`.
 */
int tdm_ledger_phases_read(const char *path, struct tdm_phase_runs *runs, struct tdm_diag *diag);

#endif
