/* How long operations wait for circular buffers, from the rows of a performance report. The report has the sums of all
 * cores. Here the two waits of a call are averages per core, and unknown when the number of cores is. */
#ifndef TDM_ANALYZE_PERF_WAITS_H
#define TDM_ANALYZE_PERF_WAITS_H

#include "base/names.h"
#include "event/record.h"

/* All calls of one operation on all devices. Sums that do not fit 64 bits stay at the largest number. */
struct tdm_perf_operation {
	char *name; /* owned */
	uint32_t order;
	uint64_t calls;
	uint64_t timed, timed_ns;              /* calls whose kernel time is known, and their time */
	uint64_t measured;                     /* of those, calls whose waits are known */
	uint64_t kernel_ns, front_ns, back_ns; /* of the measured calls */
	uint64_t cores_max;                    /* TDM_BYTES_UNKNOWN */
	/* At the end only; unknown when nothing was measured. */
	double front_share, back_share; /* of the kernel time */
	const char *waits_for;          /* "input", "room" or "nothing" */
};

/* A call that waited. */
struct tdm_perf_call {
	const char *name; /* of its operation; at the end only */
	uint32_t operation;
	uint64_t line;
	uint64_t figures[TDM_PERF_FIGURES];
};

struct tdm_perf_waits {
	struct tdm_perf_operation *operations; /* the longest waits first, at the end */
	struct tdm_perf_call *calls;           /* the same */
	size_t operation_count, operation_cap, call_count, call_cap;
	struct tdm_perf_operation sum;
	struct tdm_perf_head head;
	uint64_t refused; /* rows that could not be used */
	uint64_t odd;     /* figures in the other rows that are not numbers: unknown */
	struct tdm_names names;
};

int tdm_perf_waits_init(struct tdm_perf_waits *waits); /* 0 or -ENOMEM */
void tdm_perf_waits_done(struct tdm_perf_waits *waits);

/* For a sink. 0 or -ENOMEM. */
int tdm_perf_waits_take(void *waits, const struct tdm_record *record);
/* After the last record: sorts operations and calls. */
void tdm_perf_waits_end(struct tdm_perf_waits *waits);

struct tdm_findings;
/* Findings about figures that the report lacks. */
void tdm_perf_waits_find(const struct tdm_perf_waits *waits, struct tdm_findings *found);

#endif
