/*
 * The cores of a sharded buffer. Buffer::shard_spec() throws for buffers that have another kind of distribution, so it
 * cannot be asked; but the ranges are a std::vector in the buffer. It is found by what it says: ranges of cores that
 * are, together, as many as num_cores() says.
 */
#include "metal/metal.h"

#include <string.h>

enum {
	BODY_BYTES = 1024, /* of a buffer that are looked through */
	CORE_MAX = 4096,
};

/* A range of cores in the runtime: corners x0, y0, x1, y1. */
typedef uint64_t corners[4];

static uint32_t read_ranges(const struct tdm_metal_vector *vector, uint64_t cores, struct tidemark_core_range *ranges)
{
	corners found[TDM_METAL_RANGES_MAX];
	size_t bytes = (size_t)(vector->end - vector->begin), count = bytes / sizeof *found;
	uint64_t total = 0;
	if (vector->begin == NULL || vector->begin >= vector->end || vector->end > vector->limit ||
		count > TDM_METAL_RANGES_MAX || bytes % sizeof *found != 0 ||
		(uintptr_t)vector->begin % sizeof **found != 0 || !tdm_metal_copy(found, vector->begin, bytes))
		return 0;
	for (size_t i = 0; i < count; i++) {
		const uint64_t *at = found[i];
		if (at[2] > CORE_MAX || at[3] > CORE_MAX || at[0] > at[2] || at[1] > at[3])
			return 0;
		total += (at[2] - at[0] + 1) * (at[3] - at[1] + 1);
		ranges[i] = (struct tidemark_core_range){ (uint16_t)at[0], (uint16_t)at[1], (uint16_t)at[2],
			(uint16_t)at[3] };
	}
	return total == cores ? (uint32_t)count : 0;
}

__attribute__((cold)) uint32_t tdm_metal_buffer_cores(struct tdm_metal_runtime *runtime, const void *buffer,
	uint64_t cores, struct tidemark_core_range ranges[TDM_METAL_RANGES_MAX])
{
	union {
		char bytes[BODY_BYTES];
		uint64_t words[BODY_BYTES / sizeof(uint64_t)];
	} body;
	struct tdm_metal_vector vector;
	uint32_t at = __atomic_load_n(&runtime->places.shards_at, __ATOMIC_RELAXED), count = 0;
	if (at != 0)
		return tdm_metal_copy(&vector, (const char *)buffer + at, sizeof vector)
			       ? read_ranges(&vector, cores, ranges)
			       : 0;
	size_t size = sizeof body;
	while (size > sizeof vector && !tdm_metal_copy(&body, buffer, size))
		size /= 2;
	for (size_t i = sizeof(void *); i + sizeof vector <= size && count == 0; i += sizeof(void *)) {
		memcpy(&vector, body.bytes + i, sizeof vector);
		count = read_ranges(&vector, cores, ranges);
		if (count != 0)
			__atomic_store_n(&runtime->places.shards_at, (uint32_t)i, __ATOMIC_RELAXED);
	}
	return count;
}
