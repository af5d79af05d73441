/*
 * Judges the owners of process slots in tt-metal's shared memory: each runs, has ended, belongs to another user, or
 * cannot be determined. Killing a process does not change the bytes of a region; only /proc knows.
 */
#ifndef TDM_SOURCES_METAL_OWNERS_H
#define TDM_SOURCES_METAL_OWNERS_H

#include "sources/metal_shm.h"

/*
 * Judges every slot of the list's regions and recomputes their sums. A pid that /proc does not show means a dead
 * process, unless something suggests another pid namespace: a container has a process with that pid and name, the slot
 * was written since `before` (an earlier reading of the same files, or NULL), or `root` has outsiders. Then it is
 * undecided. A container's process wins over one with the same pid here but another name.
 */
void tdm_metal_judge(
	struct tdm_metal_list *list, const struct tdm_metal_list *before, const struct tdm_proc_root *root);

/* Whether the name in the slot is that of the process; true when either is unknown. */
bool tdm_metal_name_agrees(const struct tdm_metal_slot *slot);

#endif
