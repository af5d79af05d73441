/* Call stacks of reports: taken here, symbolised by the reader of the ledger. */
#ifndef TDM_CLIENT_STACK_H
#define TDM_CLIENT_STACK_H

#include <stdint.h>

#include "ledger/writer.h"

/* Looks for what stacks need, when tracking is turned on. It is not looked for in a forked child, where the loader's
 * lock may be taken forever. */
void tdm_stack_prepare(void);

/* Takes the caller's stack, innermost frame first, at most `depth` frames, starting at the function with this `frame`.
 * Returns the blob number, or 0 when there is none. */
uint32_t tdm_stack_take(struct tdm_writer *writer, uint32_t depth, void *frame);

/* The bounds of the mapping with this address. False when there is none, or they cannot be read. */
bool tdm_stack_find(uintptr_t address, uintptr_t *low, uintptr_t *high);

/* Whether the address is in a frame of a caller, on the stack that this thread uses now. */
bool tdm_stack_has(uintptr_t address);

/* For a thread that jumped out of a report: gives back the lock. */
void tdm_stack_abandon(void);

/* In a forked child: resets the lock and forgets the modules, which the child's ledger does not have. */
void tdm_stack_after_fork(void);

/* Stores a stack that the caller provides. Returns the blob number, or 0. */
uint32_t tdm_stack_put(struct tdm_writer *writer, const uint64_t *frames, uint32_t count);

/* Whether all frames that are texts have numbers that were given to texts, in this ledger or in an earlier one. */
bool tdm_stack_is_valid(struct tdm_writer *writer, const uint64_t *frames, uint32_t count);

#endif
