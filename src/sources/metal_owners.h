/*
 * Who holds what tt-metal's shared memory counts: each process slot's owner runs, has ended, is another user's, or
 * cannot be told. The bytes of a region are the same before and after a process is killed; only /proc knows.
 */
#ifndef TDM_SOURCES_METAL_OWNERS_H
#define TDM_SOURCES_METAL_OWNERS_H

#include "sources/metal_shm.h"

/*
 * Judges every slot of the list's regions and sums them anew. A pid that /proc does not show is a dead process's,
 * unless there is a sign that it belongs to another pid namespace: a container has a process with that number and name
 * inside, the slot has moved since `before` (an earlier reading of the same files, or NULL), or `root` has outsiders.
 * Then it is undecided. A container's process comes before one of another name that has its number here.
 */
void tdm_metal_judge(
	struct tdm_metal_list *list, const struct tdm_metal_list *before, const struct tdm_proc_root *root);

/* Whether the name in the slot is the process's own; true when one of them is not known. */
bool tdm_metal_name_agrees(const struct tdm_metal_slot *slot);

#endif
