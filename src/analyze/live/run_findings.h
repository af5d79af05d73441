/*
 * Findings about a program's use of its devices, other than leaks:
 *
 *   "trace_live", "trace_waits", "trace_freed": buffers that were allocated while a captured trace existed. A trace
 *       writes to the addresses that its operations used when it was captured. The allocator has freed these
 *       addresses, so a buffer allocated later may get one of them, and the next replay then overwrites that buffer.
 *       docs/traces.md explains this to users. Buffers allocated by the same place in a program form one finding,
 *       regardless of the number of devices, because a mesh has the same buffer on each of its chips.
 *       "trace_hazards_lost" is added if there were more than the ledger can hold.
 *   "clash", "beyond_l1": programs that were refused because their circular buffers grew into L1 buffers or beyond L1.
 *       All devices with the same refusal share one finding, which is about the last occurrence.
 *   "left_at_close": buffers that were live when their device was closed, on all devices together.
 *   "statistics_differ", "statistics_differed", "statistics_agree": the sum of the reported buffers compared with the
 *       statistics of the runtime's own allocator. None if the runtime reported no statistics.
 */
#ifndef TDM_ANALYZE_RUN_FINDINGS_H
#define TDM_ANALYZE_RUN_FINDINGS_H

#include "live/join/picture.h"
#include "model/result/finding.h"

/* The findings about a process, worst first. Nothing may be added to them afterwards. */
void tdm_run_findings(const struct tdm_picture *picture, uint32_t process, struct tdm_findings *findings);

/* A number that changes when the result of tdm_run_findings() may change. Cheap to compute. */
uint64_t tdm_run_findings_version(const struct tdm_picture *picture, const struct tdm_picture_process *process);

/* The number of a process's buffers in this state, on all devices. */
uint64_t tdm_trace_hazards_count(
	const struct tdm_picture *picture, const struct tdm_picture_process *process, enum tdm_hazard_state state);

/*
 * ---- sizes to specify when opening a device ----  The sizes that a program must specify when it opens a device,
 * exactly as large as its run required.
 *
 * trace_region_size is a total over all DRAM banks. The runtime compares it with the total size of simultaneously
 * existing traces, and gives each bank its part, rounded up to whole pages. l1_small_size is per core.
 */

enum { TDM_OPEN_SIZES = 2 };

struct tdm_open_size {
	const char *option; /* name of the option: "trace_region_size", "l1_small_size" */
	uint8_t kind;       /* enum tdm_kind */
	uint64_t needed;    /* most bytes that the process needed on any device, */
	uint32_t device;    /* and the number of that device */
	/* size with which that device was opened, rounded as in the runtime; TDM_BYTES_UNKNOWN if not reported */
	uint64_t opened;
	bool is_in_dram; /* traces were captured without a trace region, so they are among the DRAM buffers */
	bool is_least;   /* reports are missing, so the process may have needed more */
};

/* Computes the sizes for a process, leaving out memory neither used nor reserved. Returns the number of sizes. */
size_t tdm_open_sizes(const struct tdm_picture *picture, uint32_t process, struct tdm_open_size sizes[TDM_OPEN_SIZES]);

#endif
