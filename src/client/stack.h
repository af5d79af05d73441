/* Call stacks of reports: taken here, symbolised by whoever reads the ledger. */
#ifndef TDM_CLIENT_STACK_H
#define TDM_CLIENT_STACK_H

#include <stdint.h>

#include "ledger/writer.h"

/* The number of the caller's stack, innermost frame first, at most `depth` frames, from the function on that `frame` is
 * the frame of. 0 when there is none. */
uint32_t tdm_stack_take(struct tdm_writer *writer, uint32_t depth, void *frame);

/* In a forked child: what another thread of the parent held is free, and no module is known to the child's ledger. */
void tdm_stack_after_fork(void);

/* The number of a stack that the caller brought. */
uint32_t tdm_stack_put(struct tdm_writer *writer, const uint64_t *frames, uint32_t count);

#endif
