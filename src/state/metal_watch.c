#include "state/metal_watch.h"
#include "base/clock.h"
#include "base/number.h"

#include <errno.h>
#include <stdlib.h>

/* Judging takes at most 1/50 of the time. */
enum { JUDGE_SHARE = 50 };
#define SILENCE_NS (60 * TDM_NS_PER_S)

void tdm_metal_watch_done(struct tdm_metal_watch *watch)
{
	tdm_metal_list_done(&watch->now);
	tdm_metal_list_done(&watch->before);
}

static const struct tdm_metal_region *find_same(
	const struct tdm_metal_list *list, size_t guess, const struct tdm_metal_region *region)
{
	for (size_t n = 0; n < list->count; n++) {
		const struct tdm_metal_region *r = &list->regions[(guess + n) % list->count];
		if (r->device_no == region->device_no && r->inode_no == region->inode_no &&
			strcmp(r->name, region->name) == 0)
			return r;
	}
	return NULL;
}

static const struct tdm_metal_slot *find_slot(const struct tdm_metal_region *region, uint32_t guess, uint8_t idx)
{
	if (guess < region->slot_count && region->slots[guess].idx == idx)
		return &region->slots[guess];
	for (uint32_t i = 0; i < region->slot_count; i++)
		if (region->slots[i].idx == idx)
			return &region->slots[i];
	return NULL;
}

/* Copies what is known about the slots to the new reading. False if a slot has yet to be judged. */
static bool carry_over(const struct tdm_metal_region *old, struct tdm_metal_region *region)
{
	for (uint32_t i = 0; i < region->slot_count; i++) {
		struct tdm_metal_slot *slot = &region->slots[i];
		const struct tdm_metal_slot *was = old != NULL ? find_slot(old, i, slot->idx) : NULL;
		if (slot->releases) {
			slot->life = TDM_PROC_DEAD;
			continue;
		}
		/* A dead slot that is written again has a new owner, or was not dead. */
		if (was == NULL || was->releases || was->pid != slot->pid || strcmp(was->hint, slot->hint) != 0 ||
			(was->life == TDM_PROC_DEAD && was->updated_ns != slot->updated_ns))
			return false;
		slot->life = was->life;
		slot->reused = was->reused;
		slot->nested_as = was->nested_as;
		slot->facts = was->facts;
	}
	tdm_metal_sum(region);
	return true;
}

/* Facts about a container's process, under the pid that it has on this side. */
static void look_up_nested(struct tdm_metal_list *list, const struct tdm_proc_root *root)
{
	for (size_t i = 0; i < list->count; i++)
		for (uint32_t k = 0; k < list->regions[i].slot_count; k++) {
			struct tdm_metal_slot *slot = &list->regions[i].slots[k];
			if (slot->nested_as != 0)
				tdm_proc_facts_read(root, slot->nested_as, &slot->facts);
		}
}

/*
 * A slot that was written although no process here has its pid belongs to a process that cannot be seen. Such a process
 * does not write every second, so it counts as dead only after a longer silence.
 */
static void keep_undecided(struct tdm_metal_list *list, const struct tdm_metal_list *before, uint64_t real_ns)
{
	for (size_t i = 0; i < list->count; i++) {
		struct tdm_metal_region *region = &list->regions[i];
		const struct tdm_metal_region *old = find_same(before, i, region);
		bool kept = false;
		for (uint32_t k = 0; old != NULL && k < region->slot_count; k++) {
			struct tdm_metal_slot *slot = &region->slots[k];
			const struct tdm_metal_slot *was = find_slot(old, k, slot->idx);
			if (slot->life != TDM_PROC_DEAD || slot->releases || was == NULL ||
				was->life != TDM_PROC_UNKNOWN || was->nested_as != 0 || was->pid != slot->pid ||
				slot->updated_ns == 0 || slot->updated_ns + SILENCE_NS < real_ns)
				continue;
			slot->life = TDM_PROC_UNKNOWN;
			kept = true;
		}
		if (kept)
			tdm_metal_sum(region);
	}
}

int tdm_metal_watch_refresh(struct tdm_metal_watch *watch, const struct tdm_proc_root *root, uint64_t now_ns)
{
	struct tdm_metal_list oldest = watch->before;
	watch->before = watch->now;
	watch->now = oldest;
	int err = tdm_metal_list_read(&watch->now, &watch->before, watch->dir);
	bool known = now_ns < watch->judge_ns;
	for (size_t i = 0; known && i < watch->now.count; i++) {
		struct tdm_metal_region *region = &watch->now.regions[i];
		if (region->status == TDM_METAL_OK)
			known = carry_over(find_same(&watch->before, i, region), region);
	}
	if (!known) {
		uint64_t begin = tdm_clock_ns();
		tdm_metal_judge(&watch->now, &watch->before, root);
		keep_undecided(&watch->now, &watch->before, tdm_clock_real_ns());
		look_up_nested(&watch->now, root);
		watch->judge_ns = now_ns + tdm_max((tdm_clock_ns() - begin) * JUDGE_SHARE, TDM_NS_PER_S);
	}
	return err == -ENOMEM ? err : 0;
}
