/* Where a per-core buffer is, from the runtime's map of cores; and maps that are not believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "metal/metal.h"

/* What runtime.c calls after a fork. */
void tdm_metal_allocators_inherit(void)
{
}

enum { NODES = 8 };

/* A map as libstdc++ has one. */
static struct map {
	const void *buckets;
	size_t bucket_count;
	const void *first;
	size_t count;
} map;
static struct node {
	const void *next;
	uint64_t x, y, address, hash;
} nodes[NODES];
static uint64_t no_shards[512]; /* the buffer: it does not say which cores it is on */

static const void *map_of(const void *buffer)
{
	(void)buffer;
	return &map;
}

static const struct tdm_metal_runtime runtime = { .ask.per_core_addresses = map_of };

/* Makes a map of cores (x, y, address), in this order. */
static void make(const uint64_t (*cores)[3], size_t count)
{
	map = (struct map){ .first = count != 0 ? nodes : NULL, .count = count };
	for (size_t i = 0; i < count; i++)
		nodes[i] = (struct node){ i + 1 < count ? &nodes[i + 1] : NULL, cores[i][0], cores[i][1], cores[i][2],
			UINT64_MAX };
}

static bool read_cores(uint32_t cores, struct tdm_metal_per_core *found)
{
	return tdm_metal_per_core_read(&runtime, no_shards, cores, found);
}

static void cores_are_joined_in_rows(void **state)
{
	static const uint64_t cores[][3] = { { 3, 2, 60 }, { 1, 0, 20 }, { 0, 1, 30 }, { 1, 1, 40 }, { 0, 0, 10 },
		{ 5, 1, 50 } };
	static const uint64_t addresses[] = { 10, 20, 30, 40, 50, 60 };
	static const struct tidemark_core_range ranges[] = { { 0, 0, 1, 1 }, { 5, 1, 5, 1 }, { 3, 2, 3, 2 } };
	struct tdm_metal_per_core found;
	(void)state;
	make(cores, 6);
	assert_true(read_cores(6, &found));
	assert_int_equal(found.range_count, 3);
	assert_memory_equal(found.ranges, ranges, sizeof ranges);
	assert_memory_equal(found.addresses, addresses, sizeof addresses);
	assert_false(found.is_outside);
}

static void addresses_beyond_32_bits_are_noticed(void **state)
{
	static const uint64_t cores[][3] = { { 0, 0, UINT64_C(18446744073709449792) } };
	struct tdm_metal_per_core found;
	(void)state;
	make(cores, 1);
	assert_true(read_cores(1, &found));
	assert_true(found.is_outside);
}

static void other_maps_are_not_believed(void **state)
{
	static const uint64_t cores[][3] = { { 0, 0, 10 }, { 1, 0, 20 } }, twice[][3] = { { 1, 1, 10 }, { 1, 1, 20 } };
	static const uint64_t far[][3] = { { 0, 0, 10 }, { 4096, 0, 20 } };
	struct tdm_metal_per_core found;
	(void)state;
	make(cores, 2);
	assert_false(read_cores(3, &found));
	assert_false(read_cores(0, &found));
	assert_false(read_cores(TDM_METAL_CORES_MAX + 1, &found));
	nodes[1].next = &nodes[0]; /* a circle */
	assert_false(read_cores(2, &found));
	nodes[1].next = (const void *)(uintptr_t)64; /* nowhere */
	assert_false(read_cores(2, &found));
	make(cores, 2);
	map.count = 1; /* another library's map */
	assert_false(read_cores(1, &found));
	make(twice, 2);
	assert_false(read_cores(2, &found));
	make(far, 2);
	assert_false(read_cores(2, &found));
	const struct tdm_metal_runtime without = { 0 };
	assert_false(tdm_metal_per_core_read(&without, no_shards, 2, &found));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(cores_are_joined_in_rows),
		cmocka_unit_test(addresses_beyond_32_bits_are_noticed),
		cmocka_unit_test(other_maps_are_not_believed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
