/* The invariant of a region of tt-metal's shared memory: readers give only valid ones. For tests. */
#ifndef TDM_TESTS_METAL_VALID_H
#define TDM_TESTS_METAL_VALID_H

#include "live/runtime/metal_shm.h"

/* Everything unknown, nothing read. */
static inline void metal_region_init(struct tdm_metal_region *region)
{
	*region = (struct tdm_metal_region){ 0 };
	tdm_metal_decode(NULL, 0, region);
}

static inline uint64_t metal_add(uint64_t a, uint64_t b)
{
	return a == TDM_BYTES_UNKNOWN || b == TDM_BYTES_UNKNOWN ? TDM_BYTES_UNKNOWN : a + b;
}

/* The total of circular buffers is that of the process that wrote it last, so the sum of several may exceed it. */
static inline bool metal_is_contradiction(const struct tdm_metal_region *region, unsigned kind)
{
	return kind != TDM_KIND_CB && tdm_is_some(region->excess.of[kind]);
}

static inline bool metal_bytes_are_valid(const struct tdm_metal_bytes *bytes, uint64_t max)
{
	for (unsigned i = 0; i < TDM_KIND_COUNT; i++)
		if (bytes->of[i] != TDM_BYTES_UNKNOWN && bytes->of[i] > max)
			return false;
	return true;
}

/* total + excess = live + stale + undecided + unattributed */
static inline bool metal_sums_are_valid(const struct tdm_metal_region *region)
{
	for (unsigned i = 0; i < TDM_KIND_COUNT; i++) {
		uint64_t left = metal_add(region->total.of[i], region->excess.of[i]);
		uint64_t right = metal_add(metal_add(region->live.of[i], region->stale.of[i]),
			metal_add(region->undecided.of[i], region->unattributed.of[i]));
		if (left != right && left != TDM_BYTES_UNKNOWN && right != TDM_BYTES_UNKNOWN)
			return false;
		if (metal_is_contradiction(region, i) && !tdm_metal_doubts(region, TDM_METAL_DOUBT_SLOTS_EXCEED))
			return false;
		if (region->excess.of[i] != TDM_BYTES_UNKNOWN && region->excess.of[i] != 0 &&
			region->unattributed.of[i] != 0)
			return false;
	}
	return true;
}

static inline bool metal_is_empty(const struct tdm_metal_region *region)
{
	const struct tdm_metal_bytes *const sums[] = { &region->total, &region->live, &region->stale,
		&region->undecided, &region->unattributed, &region->excess };
	for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
		for (unsigned k = 0; k < TDM_KIND_COUNT; k++)
			if (sums[i]->of[k] != TDM_BYTES_UNKNOWN)
				return false;
	return region->chip_count == 0 && region->slot_count == 0 && region->doubts == 0 && region->counts == 0 &&
	       !region->has_content;
}

static inline bool metal_slot_is_valid(const struct tdm_metal_slot *slot)
{
	return slot->life < TDM_PROC_LIFE_COUNT && slot->idx < TDM_METAL_SLOTS_MAX &&
	       (slot->releases ? slot->pid == 0 : slot->pid > 0 && slot->pid <= TDM_PID_MAX) &&
	       memchr(slot->hint, '\0', sizeof slot->hint) != NULL &&
	       metal_bytes_are_valid(&slot->bytes, TDM_METAL_BYTES_MAX);
}

static inline bool metal_region_is_valid(const struct tdm_metal_region *region)
{
	const uint64_t sum_max = TDM_METAL_BYTES_MAX * TDM_METAL_SLOTS_MAX;
	if (region->status >= TDM_METAL_STATUS_COUNT || region->text[0] == '\0' ||
		memchr(region->text, '\0', sizeof region->text) == NULL ||
		memchr(region->name, '\0', sizeof region->name) == NULL)
		return false;
	if (region->status != TDM_METAL_OK)
		return metal_is_empty(region);
	if (!region->has_content || region->version == 0 || region->version > TDM_METAL_VERSION_MAX ||
		region->chip_count > TDM_METAL_CHIPS_MAX || region->slot_count > TDM_METAL_SLOTS_MAX ||
		region->doubts >> TDM_METAL_DOUBT_COUNT != 0)
		return false;
	for (uint32_t i = 0; i < region->chip_count; i++)
		if (!metal_bytes_are_valid(&region->chips[i].bytes, TDM_METAL_BYTES_MAX))
			return false;
	for (uint32_t i = 0; i < region->slot_count; i++)
		if (!metal_slot_is_valid(&region->slots[i]))
			return false;
	return metal_bytes_are_valid(&region->total, TDM_METAL_BYTES_MAX) &&
	       metal_bytes_are_valid(&region->live, sum_max) && metal_bytes_are_valid(&region->stale, sum_max) &&
	       metal_bytes_are_valid(&region->undecided, sum_max) &&
	       metal_bytes_are_valid(&region->unattributed, TDM_METAL_BYTES_MAX) &&
	       metal_bytes_are_valid(&region->excess, sum_max) && metal_sums_are_valid(region);
}

#endif
