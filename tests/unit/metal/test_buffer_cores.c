/* Which cores a sharded buffer is on: from the two places in a buffer that may say it, one of which may be empty and
 * hold what another buffer has left there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "metal/metal.h"

enum { SHARDS_AT = 14, SPEC_AT = 24, SPEC_CORES_AT = 38, SPEC_RANGES_AT = 42, WORDS = 256 };

/* What runtime.c calls after a fork. */
void tdm_metal_allocators_inherit(void)
{
}

typedef uint64_t range[4];
typedef uint64_t core[2];

/* A buffer as the runtime has one: words, some of which are a std::vector. */
struct buffer {
	uint64_t words[WORDS];
};

static const void *distribution_of(const void *buffer)
{
	return ((const struct buffer *)buffer)->words + SPEC_AT;
}

static const void *distribution_elsewhere(const void *buffer)
{
	return (const char *)buffer - sizeof(void *);
}

static const struct tdm_metal_runtime with_spec = { .ask.buffer_distribution = distribution_of };
static const struct tdm_metal_runtime without_spec = { 0 };
static const struct tdm_metal_runtime nonsense = { .ask.buffer_distribution = distribution_elsewhere };

static void put_vector(struct buffer *buffer, size_t at, const void *first, size_t bytes)
{
	buffer->words[at] = (uint64_t)(uintptr_t)first;
	buffer->words[at + 1] = buffer->words[at + 2] = (uint64_t)(uintptr_t)first + bytes;
}

static const range grid[] = { { 0, 0, 3, 1 } }, stale[] = { { 2, 4, 5, 5 } }, column[] = { { 0, 0, 0, 2 } };
static const range rows[] = { { 0, 0, 3, 0 }, { 0, 1, 3, 1 } };
static const core grid_cores[] = { { 0, 0 }, { 1, 0 }, { 2, 0 }, { 3, 0 }, { 0, 1 }, { 1, 1 }, { 2, 1 }, { 3, 1 } };
enum { GRID_CORES = 8 };

static void expect(const struct tdm_metal_runtime *runtime, const struct buffer *buffer, const range *wanted)
{
	struct tidemark_core_range got[TDM_METAL_RANGES_MAX];
	uint32_t count = tdm_metal_buffer_cores(runtime, buffer, GRID_CORES, got);
	assert_int_equal(count, wanted != NULL ? 1 : 0);
	for (size_t i = 0; wanted != NULL && i < 1; i++) {
		const uint64_t is[] = { got[i].x0, got[i].y0, got[i].x1, got[i].y1 };
		assert_memory_equal(is, wanted[i], sizeof is);
	}
}

static void test_one_place(void **state)
{
	(void)state;
	struct buffer buffer = { 0 };
	expect(&with_spec, &buffer, NULL);
	put_vector(&buffer, SHARDS_AT, grid, sizeof grid);
	expect(&with_spec, &buffer, grid);
	expect(&without_spec, &buffer, grid);
	put_vector(&buffer, SHARDS_AT, column, sizeof column); /* three cores, and it has eight */
	expect(&with_spec, &buffer, NULL);
}

static void test_other_place(void **state)
{
	(void)state;
	struct buffer buffer = { 0 };
	put_vector(&buffer, SPEC_CORES_AT, grid_cores, sizeof grid_cores);
	put_vector(&buffer, SPEC_RANGES_AT, grid, sizeof grid);
	expect(&with_spec, &buffer, grid);
	/* A buffer of the first kind, after one of the second. */
	buffer = (struct buffer){ 0 };
	put_vector(&buffer, SHARDS_AT, grid, sizeof grid);
	expect(&with_spec, &buffer, grid);
}

static void test_left_by_another(void **state)
{
	(void)state;
	struct buffer buffer = { 0 };
	put_vector(&buffer, SHARDS_AT, stale, sizeof stale);
	put_vector(&buffer, SPEC_RANGES_AT, grid, sizeof grid);
	expect(&with_spec, &buffer, NULL);
	expect(&without_spec, &buffer, NULL);
	/* v0.59 and v0.60 have no ranges there, only single cores. */
	put_vector(&buffer, SPEC_RANGES_AT, grid_cores, sizeof grid_cores);
	expect(&with_spec, &buffer, NULL);
	put_vector(&buffer, SHARDS_AT, column, sizeof column); /* of another number of cores */
	put_vector(&buffer, SPEC_RANGES_AT, grid, sizeof grid);
	expect(&with_spec, &buffer, grid);
	put_vector(&buffer, SHARDS_AT, (const void *)(uintptr_t)8, sizeof grid); /* memory that is gone */
	expect(&with_spec, &buffer, grid);
}

static void test_same_cores(void **state)
{
	(void)state;
	struct buffer buffer = { 0 };
	put_vector(&buffer, SHARDS_AT, rows, sizeof rows);
	put_vector(&buffer, SPEC_RANGES_AT, grid, sizeof grid);
	expect(&with_spec, &buffer, grid);
}

static void test_what_follows(void **state)
{
	(void)state;
	struct buffer buffer = { 0 };
	put_vector(&buffer, SHARDS_AT, grid, sizeof grid);
	put_vector(&buffer, SPEC_AT + 64, stale, sizeof stale); /* of the next buffer */
	expect(&with_spec, &buffer, grid);
	expect(&without_spec, &buffer, NULL); /* where a buffer ends is not known */
}

static void test_nonsense(void **state)
{
	(void)state;
	struct buffer buffer = { 0 };
	put_vector(&buffer, SHARDS_AT, grid, sizeof grid);
	expect(&nonsense, &buffer, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_place),
		cmocka_unit_test(test_other_place),
		cmocka_unit_test(test_left_by_another),
		cmocka_unit_test(test_same_cores),
		cmocka_unit_test(test_what_follows),
		cmocka_unit_test(test_nonsense),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
