/*
 * Per-core buffers of the hybrid allocator mode: on each of its cores, such a buffer has an address of its own. The
 * runtime returns a reference to the buffer's std::unordered_map from cores to addresses. The map is believed only if
 * it has as many entries as the buffer has cores, and no core twice.
 *
 * The map of libstdc++ has the first node after two words, and the number of nodes after that. A node is a pointer to
 * the next one, then the core and its address.
 */
#include "metal/metal.h"

#include <string.h>

enum { CORE_MAX = TDM_METAL_CORES_MAX, SIDE = 4096 };

struct map {
	const void *buckets;
	size_t bucket_count;
	const void *first;
	size_t count;
};

struct node {
	const void *next;
	uint64_t x, y, address;
};

/* A core and its address in one word, which sorts by row, then column. */
static uint64_t pack(const struct node *node)
{
	return node->y << 44 | node->x << 32 | node->address;
}

static uint16_t x_of(uint64_t entry)
{
	return entry >> 32 & (SIDE - 1);
}

static uint16_t y_of(uint64_t entry)
{
	return (uint16_t)(entry >> 44);
}

/* Reads the map's entries, in order; false if it is not what it should be. *is_outside: an address is beyond 32 bits.
 */
static bool read_entries(const void *map_at, uint32_t cores, uint64_t entries[CORE_MAX], bool *is_outside)
{
	struct map map;
	uint32_t count = 0;
	if (map_at == NULL || !tdm_metal_copy(&map, map_at, sizeof map) || map.count != cores)
		return false;
	for (const void *at = map.first; at != NULL; count++) {
		struct node node;
		if (count == cores || !tdm_metal_copy(&node, at, sizeof node) || node.x >= SIDE || node.y >= SIDE)
			return false;
		*is_outside |= node.address > UINT32_MAX;
		node.address &= UINT32_MAX;
		uint64_t entry = pack(&node);
		uint32_t place = count;
		for (; place != 0 && entries[place - 1] > entry; place--)
			entries[place] = entries[place - 1];
		entries[place] = entry;
		at = node.next;
	}
	for (uint32_t i = 1; i < count; i++)
		if (entries[i - 1] >> 32 == entries[i] >> 32)
			return false;
	return count == cores;
}

/* Sets the address on each core of the ranges; false if the map lacks a core. */
static bool fill(const uint64_t *entries, uint32_t count, struct tdm_metal_per_core *found)
{
	uint32_t filled = 0;
	for (uint32_t i = 0; i < found->range_count; i++) {
		const struct tidemark_core_range *r = &found->ranges[i];
		for (uint64_t y = r->y0; y <= r->y1; y++)
			for (uint64_t x = r->x0; x <= r->x1; x++) {
				uint32_t at = 0;
				while (at < count && entries[at] >> 32 != (y << 12 | x))
					at++;
				if (at == count || filled == count)
					return false;
				found->addresses[filled++] = entries[at] & UINT32_MAX;
			}
	}
	return filled == count;
}

/* Makes ranges from the entries: runs of cores in a row, joined with the same run of the row before. */
static bool join(const uint64_t *entries, uint32_t count, struct tdm_metal_per_core *found)
{
	found->range_count = 0;
	for (uint32_t i = 0, end; i < count; i = end) {
		struct tidemark_core_range run = { x_of(entries[i]), y_of(entries[i]), 0, y_of(entries[i]) };
		for (end = i + 1; end < count && entries[end] >> 32 == (entries[end - 1] >> 32) + 1 &&
				  y_of(entries[end]) == run.y0;)
			end++;
		run.x1 = x_of(entries[end - 1]);
		uint32_t at = 0;
		while (at < found->range_count && (found->ranges[at].x0 != run.x0 || found->ranges[at].x1 != run.x1 ||
							  found->ranges[at].y1 + 1 != run.y0))
			at++;
		if (at == TDM_METAL_RANGES_MAX)
			return false;
		if (at == found->range_count)
			found->ranges[found->range_count++] = run;
		else
			found->ranges[at].y1 = run.y1;
	}
	return true;
}

__attribute__((cold, noinline)) bool tdm_metal_per_core_read(
	const struct tdm_metal_runtime *runtime, const void *buffer, uint32_t cores, struct tdm_metal_per_core *found)
{
	uint64_t entries[CORE_MAX];
	found->range_count = 0;
	found->is_outside = false;
	if (runtime->ask.per_core_addresses == NULL || cores == 0 || cores > CORE_MAX ||
		!read_entries(runtime->ask.per_core_addresses(buffer), cores, entries, &found->is_outside))
		return false;
	/* The buffer's own order of ranges is preferred, because its address is that of the first core. */
	found->range_count = tdm_metal_buffer_cores(runtime, buffer, cores, found->ranges);
	if (found->range_count != 0 && fill(entries, cores, found))
		return true;
	return join(entries, cores, found) && fill(entries, cores, found);
}
