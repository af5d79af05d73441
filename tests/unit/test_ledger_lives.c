/* How long freed buffers lived, as the events of a ledger tell: not every release has a time of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ledger_place.h"
#include "sources/ledger_lives.h"

struct seen {
	size_t count;
	struct tdm_ledger_life lives[8];
};

static int add(void *context, const struct tdm_ledger_life *life)
{
	struct seen *seen = context;
	assert_true(seen->count < 8);
	seen->lives[seen->count++] = *life;
	return 0;
}

/* A call at this time, counted from the first. */
static uint32_t alloc_at(struct builder *b, uint64_t device, uint64_t id, uint64_t ticks)
{
	b->ticks = BUILDER_TICKS + ticks;
	const struct tdm_ledger_slot slot = { .id = id, .asked = 64, .bank_bytes = 64, .banks = 1 };
	return builder_alloc(b, device, slot, (struct tdm_ledger_more){ 0 });
}

static void free_at(struct builder *b, uint64_t device, uint32_t place, uint64_t ticks)
{
	b->ticks = BUILDER_TICKS + ticks;
	builder_free(b, device, place);
}

static void expect(const struct tdm_ledger_life *life, uint64_t ticks, uint64_t most)
{
	assert_int_equal(life->ns, ticks * BUILDER_NS_PER_TICK);
	assert_int_equal(life->most_ns, most * BUILDER_NS_PER_TICK);
}

/* A release that takes the time of the event before it is over when the next time is read. */
static void test_lives(void **state)
{
	struct builder b;
	struct seen seen = { 0 };
	(void)state;
	_Static_assert(TDM_LEDGER_FREE_CLOCK == 8, "the eighth call below reads the time");
	builder_init(&b);
	uint64_t device = builder_add_device(&b, 0);
	uint32_t first = alloc_at(&b, device, 1, 0);
	free_at(&b, device, first, 0);
	uint32_t second = alloc_at(&b, device, 2, 1000), third = alloc_at(&b, device, 3, 1500);
	uint32_t fourth = alloc_at(&b, device, 4, 2000), fifth = alloc_at(&b, device, 5, 2500);
	free_at(&b, device, second, 2500);
	free_at(&b, device, third, 4000);
	free_at(&b, device, fourth, 4000);
	alloc_at(&b, device, 6, 9000);
	free_at(&b, device, fifth, 9000);
	builder_write(&b, place_file);
	assert_int_equal(tdm_ledger_lives(place_file, add, &seen), 0);
	assert_int_equal(seen.count, 5);
	expect(&seen.lives[0], 0, 1000);
	expect(&seen.lives[1], 1500, 3000); /* the release behind it has read the time */
	expect(&seen.lives[2], 2500, 2500); /* this one: it is exact */
	expect(&seen.lives[3], 2000, 7000);
	expect(&seen.lives[4], 6500, 6500); /* nothing came behind it */
	builder_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(test_lives, make_dir, remove_dir) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
