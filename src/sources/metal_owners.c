#include "sources/metal_owners.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Linux keeps this many bytes of a process's name. */
enum { COMM_LEN = 15 };

static const struct tdm_proc_facts no_facts = { .err = -ESRCH, .state = '?', .uid = TDM_UID_UNKNOWN };

bool tdm_metal_name_agrees(const struct tdm_metal_slot *slot)
{
	return slot->hint[0] == '\0' || slot->facts.comm[0] == '\0' ||
	       strncmp(slot->hint, slot->facts.comm, COMM_LEN) == 0;
}

static const struct tdm_metal_region *find_same(
	const struct tdm_metal_list *list, const struct tdm_metal_region *region)
{
	for (size_t i = 0; list != NULL && i < list->count; i++) {
		const struct tdm_metal_region *r = &list->regions[i];
		if (r->status == TDM_METAL_OK && r->device_no == region->device_no && r->inode_no == region->inode_no &&
			strcmp(r->name, region->name) == 0)
			return r;
	}
	return NULL;
}

/* Whether the slot still belongs to the same process and has been written since. */
static bool has_moved(const struct tdm_metal_region *before, const struct tdm_metal_slot *slot)
{
	for (uint32_t i = 0; before != NULL && i < before->slot_count; i++) {
		const struct tdm_metal_slot *old = &before->slots[i];
		if (old->idx == slot->idx)
			return old->pid == slot->pid && slot->updated_ns > old->updated_ns;
	}
	return false;
}

/* Whether the process is dead, or its pid belongs to one of another name here: it may be in a container. */
static bool is_in_doubt(const struct tdm_metal_slot *slot)
{
	return !slot->releases && (slot->life == TDM_PROC_DEAD || !tdm_metal_name_agrees(slot));
}

/* Returns whether the slot is in doubt. */
static bool judge_slot(
	const struct tdm_proc_root *root, const struct tdm_metal_region *before, struct tdm_metal_slot *slot)
{
	slot->nested_as = 0;
	slot->reused = false;
	if (slot->releases) {
		slot->life = TDM_PROC_DEAD;
		return false;
	}
	slot->life = (uint8_t)tdm_proc_judge(root, slot->pid, slot->updated_ns, &slot->facts);
	if (slot->life != TDM_PROC_DEAD)
		return is_in_doubt(slot);
	slot->reused = slot->facts.err == 0 && slot->facts.state != 'Z' && slot->facts.state != 'X';
	if (slot->reused) /* the facts are those of another process */
		slot->facts = no_facts;
	/* A dead process does not write, so this one runs in another pid namespace. */
	if (has_moved(before, slot))
		slot->life = TDM_PROC_UNKNOWN;
	return slot->life == TDM_PROC_DEAD;
}

static size_t collect_doubted(const struct tdm_metal_list *list, struct tdm_proc_wanted *wanted)
{
	size_t count = 0;
	for (size_t i = 0; i < list->count; i++)
		for (uint32_t k = 0; k < list->regions[i].slot_count; k++) {
			const struct tdm_metal_slot *slot = &list->regions[i].slots[k];
			if (!is_in_doubt(slot))
				continue;
			wanted[count] = (struct tdm_proc_wanted){ .pid = slot->pid };
			snprintf(wanted[count].comm, sizeof wanted[count].comm, "%.*s", COMM_LEN, slot->hint);
			count++;
		}
	return count;
}

/* `wanted` is in the order of collect_doubted(). */
static void apply_found(struct tdm_metal_list *list, const struct tdm_proc_wanted *wanted)
{
	for (size_t i = 0; i < list->count; i++)
		for (uint32_t k = 0; k < list->regions[i].slot_count; k++) {
			struct tdm_metal_slot *slot = &list->regions[i].slots[k];
			if (!is_in_doubt(slot))
				continue;
			if (wanted->found != 0) {
				slot->nested_as = wanted->found;
				slot->life = TDM_PROC_UNKNOWN;
				slot->facts = no_facts;
			}
			wanted++;
		}
}

void tdm_metal_judge(struct tdm_metal_list *list, const struct tdm_metal_list *before, const struct tdm_proc_root *root)
{
	size_t doubted = 0;
	for (size_t i = 0; i < list->count; i++) {
		struct tdm_metal_region *region = &list->regions[i];
		const struct tdm_metal_region *old = find_same(before, region);
		for (uint32_t k = 0; k < region->slot_count; k++)
			doubted += judge_slot(root, old, &region->slots[k]);
	}
	struct tdm_proc_wanted *wanted = doubted != 0 ? calloc(doubted, sizeof *wanted) : NULL;
	if (wanted != NULL) {
		tdm_proc_find_nested(root, wanted, collect_doubted(list, wanted));
		apply_found(list, wanted);
		free(wanted);
	}
	for (size_t i = 0; i < list->count; i++)
		tdm_metal_sum(&list->regions[i]);
}
