/* Computes how long operations wait for circular buffers, from the rows of a performance report. The report contains
 * sums over all cores. Here, a call's two waits are averages per core, or unknown if the number of cores is unknown. */
#ifndef TDM_ANALYZE_PERF_WAITS_H
#define TDM_ANALYZE_PERF_WAITS_H

#include "base/names.h"
#include "model/event/record.h"

/* All calls of one operation on all devices. Sums that would exceed 64 bits stay at the maximum. */
struct tdm_perf_operation {
	char *name; /* owned */
	uint32_t order;
	uint64_t calls;
	uint64_t timed, timed_ns;              /* calls with a known kernel time, and the sum of these times */
	uint64_t measured;                     /* number of these calls whose waits are known */
	uint64_t kernel_ns, front_ns, back_ns; /* sums over the measured calls */
	uint64_t cores_max;                    /* may be TDM_BYTES_UNKNOWN */
	/* Set at the end; unknown if nothing was measured. */
	double front_share, back_share; /* shares of the kernel time */
	const char *waits_for;          /* "input", "room" or "nothing" */
};

struct tdm_perf_waits {
	struct tdm_perf_operation *operations; /* sorted at the end: longest waits first */
	struct tdm_perf_row *calls;            /* calls that waited, in the same order. `code`: the operation's name */
	size_t operation_count, operation_cap, call_count, call_cap;
	struct tdm_perf_operation sum;
	struct tdm_perf_row head;
	uint64_t refused; /* number of unusable rows */
	uint64_t odd; /* number of figures in usable rows that are not numbers and are therefore treated as unknown */
	struct tdm_names names;
};

/* These take a struct tdm_perf_waits, which is empty if zeroed. The end sorts operations and calls. */
int tdm_perf_waits_take(void *waits, const struct tdm_record *record);
void tdm_perf_waits_end(void *waits);
void tdm_perf_waits_done(void *waits);

#endif
