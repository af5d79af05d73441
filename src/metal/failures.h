/* Requests for buffers that failed. The runtime may refuse one for another reason than lack of memory. */
#ifndef TDM_METAL_FAILURES_H
#define TDM_METAL_FAILURES_H

#include "metal/allocators.h"

struct tdm_metal_failure {
	struct tdm_metal_allocator *allocator;
	uint32_t kind;
	uint64_t bytes, each; /* of each bank; 0: not known */
	bool is_form;         /* L1_SMALL has to be sharded */
	bool has_limit;       /* interleaved L1 buffers have one that nothing tells */
};

/* Reports it, if memory was the reason; asks the allocator. */
void tdm_metal_failure_note(const struct tdm_metal_failure *failure);

/* The same while the allocator may be locked, so that it cannot be asked. Unless it is certain that an exception is the
 * reason, the request has to be larger than what was free. */
void tdm_metal_failure_note_locked(const struct tdm_metal_failure *failure, bool is_exception);

#endif
