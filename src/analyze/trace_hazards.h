/*
 * Findings about buffers that were allocated while a captured trace existed. A trace writes to the addresses that its
 * operations had when it was captured. The allocator has given these addresses back, so a buffer that is allocated
 * later may get them, and the next replay overwrites it. docs/traces.md explains it to users.
 *
 * Buffers that one place of a program allocated are one finding, on however many devices they are: a mesh has the same
 * buffer on each of its chips.
 */
#ifndef TDM_ANALYZE_TRACE_HAZARDS_H
#define TDM_ANALYZE_TRACE_HAZARDS_H

#include "analyze/finding.h"
#include "state/picture.h"

/* Adds findings about a process. Their `what`: "trace_live", "trace_waits", "trace_freed",
 * and "trace_hazards_lost" if there were more than the ledger has room for. */
void tdm_trace_hazards_find(const struct tdm_picture *picture, uint32_t process, struct tdm_findings *findings);

/* How many buffers of a process are in this state, on all its devices. */
uint64_t tdm_trace_hazards_count(
	const struct tdm_picture *picture, const struct tdm_picture_process *process, enum tdm_hazard_state state);

#endif
