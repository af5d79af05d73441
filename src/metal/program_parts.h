/* What the hooks of programs share. All of it may call the runtime, so it is not called under tdm_metal_lock(). */
#ifndef TDM_METAL_PROGRAM_PARTS_H
#define TDM_METAL_PROGRAM_PARTS_H

#include "metal/metal.h"
#include "metal/programs.h"

enum { TDM_PROGRAM_RANGES_MAX = 256 };

/* The ranges of a CoreRangeSet; their number, 0 if they are not known or do not add up. */
uint32_t tdm_program_ranges(struct tdm_metal_runtime *runtime, const void *core_range_set,
	struct tidemark_core_range ranges[TDM_PROGRAM_RANGES_MAX]);

/* The name for what a program has: the operation that this thread enqueues, else the program's kernels, else "". */
void tdm_program_name(const void *program, char name[TDM_PROGRAM_NAME_MAX + 1]);

/* The runtime's number of the program; UINT64_MAX: not known. */
uint64_t tdm_program_number(struct tdm_metal_runtime *runtime, const void *program);

/* The items, all of one kind, are the program's new layout. It is reported when it was validated, or at once where the
 * runtime has no function for that. Takes the items. */
void tdm_program_put(
	struct tdm_metal_runtime *runtime, const void *program, uint32_t kind, struct tdm_program_items *items);

#endif
