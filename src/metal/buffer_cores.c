/*
 * The cores of a sharded buffer. Buffer::shard_spec() throws for buffers with a different kind of distribution, so it
 * is not called. But the buffer contains the cores, in a std::vector of ranges or of single cores. That vector is
 * recognised by its content: its number of cores equals the result of num_cores().
 *
 * Since v0.59 a buffer has room for a shard specification followed by a distribution specification. Often one of the
 * two is empty and contains bytes left from an earlier use of the memory, perhaps by another buffer. So both are
 * searched, and if they name different cores, neither is believed. Buffer::buffer_distribution_spec() returns the start
 * of the second specification.
 */
#include "metal/metal.h"

#include <string.h>

enum {
	BODY_BYTES = 1024, /* number of bytes in a buffer to search */
	/* number of bytes in a distribution specification to search; in every release the specification is longer */
	SPEC_BYTES = 256,
	SMALLEST_PAGE = 4096, /* the smallest page size that memory can have */
	CORE_MAX = 4096,      /* coordinates are less than this */
	LIST_MAX = 160,       /* maximum length of a list of single cores */
	CORE_WORDS = 2,       /* words per core: x, y */
	RANGE_WORDS = 4,      /* words per range: x0, y0, x1, y1 */
};

struct core_list {
	uint32_t count; /* 0 if there is no list */
	bool is_doubtful;
	struct tidemark_core_range ranges[LIST_MAX];
};

/* Whether a vector contains ranges or single cores, `cores` cores in total; `words` is the element size. */
static bool read_list(const struct tdm_metal_vector *vector, size_t words, uint64_t cores, struct core_list *list)
{
	uint64_t found[LIST_MAX * CORE_WORDS], total = 0;
	size_t bytes = (size_t)(vector->end - vector->begin), each = words * sizeof *found;
	if (bytes > sizeof found || bytes % each != 0 || !tdm_metal_copy(found, vector->begin, bytes))
		return false;
	list->count = (uint32_t)(bytes / each);
	for (size_t i = 0; i < list->count; i++) {
		const uint64_t *first = found + i * words, *last = first + words - CORE_WORDS;
		if (last[0] > CORE_MAX || last[1] > CORE_MAX || first[0] > last[0] || first[1] > last[1])
			return false;
		total += (last[0] - first[0] + 1) * (last[1] - first[1] + 1);
		list->ranges[i] = (struct tidemark_core_range){ (uint16_t)first[0], (uint16_t)first[1],
			(uint16_t)last[0], (uint16_t)last[1] };
	}
	return total == cores;
}

static uint64_t shared_length(uint16_t a0, uint16_t a1, uint16_t b0, uint16_t b1)
{
	uint64_t from = a0 > b0 ? a0 : b0, to = a1 < b1 ? a1 : b1;
	return from <= to ? to - from + 1 : 0;
}

/* Whether two lists of `cores` cores contain the same cores; ranges within a list do not overlap. */
static bool are_same(const struct core_list *a, const struct core_list *b, uint64_t cores)
{
	uint64_t shared = 0;
	for (uint32_t i = 0; i < a->count; i++)
		for (uint32_t k = 0; k < b->count; k++)
			shared += shared_length(a->ranges[i].x0, a->ranges[i].x1, b->ranges[k].x0, b->ranges[k].x1) *
				  shared_length(a->ranges[i].y0, a->ranges[i].y1, b->ranges[k].y0, b->ranges[k].y1);
	return shared == cores;
}

/* Adds the lists found in a buffer's words. If two lists name the same cores, the shorter list is kept. */
static void search(const char *from, const char *to, uint64_t cores, struct core_list *best)
{
	struct core_list other = { 0 };
	struct tdm_metal_vector vector;
	for (; (size_t)(to - from) >= sizeof vector && !best->is_doubtful; from += sizeof(void *)) {
		memcpy(&vector, from, sizeof vector);
		bool is_list = vector.begin != NULL && vector.begin < vector.end && vector.end <= vector.limit &&
			       (uintptr_t)vector.begin % sizeof(uint64_t) == 0 &&
			       (read_list(&vector, RANGE_WORDS, cores, &other) ||
				       read_list(&vector, CORE_WORDS, cores, &other));
		if (is_list && best->count != 0 && !are_same(best, &other, cores))
			best->is_doubtful = true;
		else if (is_list && (best->count == 0 || other.count < best->count))
			*best = other;
	}
}

__attribute__((cold)) uint32_t tdm_metal_buffer_cores(const struct tdm_metal_runtime *runtime, const void *buffer,
	uint64_t cores, struct tidemark_core_range ranges[TDM_METAL_RANGES_MAX])
{
	char body[BODY_BYTES];
	struct core_list best = { 0 };
	size_t size = sizeof body;
	if (!tdm_metal_copy(body, buffer, size)) { /* retry with only the rest of the buffer's page */
		size = SMALLEST_PAGE - (uintptr_t)buffer % SMALLEST_PAGE;
		size = size < sizeof body && tdm_metal_copy(body, buffer, size) ? size : 0;
	}
	size_t end = size;
	if (runtime->ask.buffer_distribution != NULL) {
		size_t at = (uintptr_t)runtime->ask.buffer_distribution(buffer) - (uintptr_t)buffer;
		if (at >= size || at % sizeof(void *) != 0)
			return 0;
		end = size - at > SPEC_BYTES ? at + SPEC_BYTES : size;
	}
	search(body, body + end, cores, &best);
	if (best.is_doubtful || best.count > TDM_METAL_RANGES_MAX)
		return 0;
	memcpy(ranges, best.ranges, best.count * sizeof *ranges);
	return best.count;
}
