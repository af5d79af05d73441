/*
 * What the writer knows about traces and hazards of a device, in private memory; only the files of the writer include
 * this. The caller of everything here is inside the device.
 *
 * A trace exists from its capture to its release. Each that comes to exist begins a new era; a buffer belongs to the
 * era in which it was allocated, and only traces of this era or an earlier one can overwrite it.
 */
#ifndef TDM_LEDGER_WRITER_RUNTIME_H
#define TDM_LEDGER_WRITER_RUNTIME_H

#include "ledger/writer.h"

enum { TDM_WRITER_WAITING = 4096 }; /* buffers that wait for a replay and are not known to have been freed */

struct tdm_wtrace {
	uint64_t id, era;
	bool exists;
};

/* A buffer that waits for a replay. */
struct tdm_wwaiting {
	uint64_t id, tsc; /* of its birth */
	uint32_t kind;
	uint32_t entry; /* among the hazards of the file */
};

struct tdm_wruntime {
	struct tdm_ledger_runtime *shared; /* hazards and clashes: only with has_hazards and has_clashes */
	uint64_t offset;
	uint64_t changes, hazard_changes; /* the last even values of the words in the file */
	uint64_t era, allocs;
	uint32_t trace_count, next_trace;
	struct tdm_wtrace traces[TDM_LEDGER_TRACES];
	bool has_hazards, has_clashes;
	uint32_t waiting_count, judged_count;  /* entries, as in the file */
	uint64_t keys[2 * TDM_LEDGER_HAZARDS]; /* of entries: equal if they are alike; 0: not used */
	uint64_t eras[TDM_LEDGER_HAZARDS];     /* of waiting entries, */
	uint64_t freed[TDM_LEDGER_HAZARDS];    /* and how many of their buffers were freed and left the list */
	_Atomic uint32_t waiting;              /* buffers in the list */
	uint32_t sweep_after;                  /* buffers to lose before looking for freed ones again */
	struct tdm_wwaiting list[TDM_WRITER_WAITING];
};

/* A trace was replayed: decides about the buffers that waited for it. `stack`: of that call. */
void tdm_wruntime_judge(struct tdm_wdevice *device, const struct tdm_wtrace *trace, uint64_t tsc, uint32_t stack);
/* Whether there are any. */
bool tdm_wruntime_has_waiting(const struct tdm_wruntime *runtime, const struct tdm_wtrace *trace);
/* A trace no longer exists: forgets the buffers that waited for it alone. */
void tdm_wruntime_forget(struct tdm_wdevice *device);

#endif
