/* Call stacks of reports: taken here, symbolised by whoever reads the ledger. */
#ifndef TDM_CLIENT_STACK_H
#define TDM_CLIENT_STACK_H

#include <stdint.h>

#include "ledger/writer.h"

/* The number of the caller's stack, innermost frame first, at most `depth` frames; `skip` frames of the library left
 * out. 0 when there is none. */
uint32_t tdm_stack_take(struct tdm_writer *writer, uint32_t depth, void *frame);

/* The number of a stack that the caller brought. */
uint32_t tdm_stack_put(struct tdm_writer *writer, const uint64_t *frames, uint32_t count);

#endif
