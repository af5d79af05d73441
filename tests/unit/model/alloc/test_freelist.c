/*
 * The allocator model: against the results of the real allocator (tests/data/allocator is replayed in test_replay.c),
 * against a brute-force model that follows the description word by word, and in the cases where the real one is wrong
 * and ours refuses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "model/alloc/freelist.h"

#include <errno.h>

static struct tdm_freelist *list_of(uint64_t base, uint64_t size, uint64_t align, uint64_t min, enum tdm_fit fit)
{
	struct tdm_freelist_config config = { base, size, align, min, fit };
	struct tdm_freelist *fl = NULL;
	assert_int_equal(tdm_freelist_new(&config, &fl), 0);
	return fl;
}

static uint64_t alloc(struct tdm_freelist *fl, uint64_t size, enum tdm_grow grow)
{
	uint64_t address = UINT64_MAX;
	int err = tdm_freelist_alloc(fl, size, grow, 0, &address);
	assert_true(err == 0 || err == TDM_ENOFIT);
	return err == 0 ? address : UINT64_MAX;
}

/* The description as a plain array of blocks. */
enum { BRUTE_MAX = 4096 };
struct brute {
	struct tdm_free_block blocks[BRUTE_MAX];
	size_t count;
	uint64_t align, min, size;
	enum tdm_fit fit;
};

static unsigned brute_class(const struct brute *b, uint64_t n)
{
	unsigned count = 0, class = 0;
	for (uint64_t k = b->size / 1024; k != 0; k >>= 1)
		count++;
	count = count < 2 ? 2 : count > 18 ? 18 : count;
	for (uint64_t k = n / 1024; k > 1; k >>= 1)
		class ++;
	return class < count ? class : count - 1;
}

static void brute_insert(struct brute *b, size_t at, struct tdm_free_block block)
{
	memmove(b->blocks + at + 1, b->blocks + at, (b->count - at) * sizeof block);
	b->blocks[at] = block;
	b->count++;
}

static uint64_t brute_round(const struct brute *b, uint64_t n)
{
	n = n > b->min ? n : b->min;
	return (n + b->align - 1) / b->align * b->align;
}

static void brute_use(struct brute *b, size_t at, uint64_t address, uint64_t need)
{
	struct tdm_free_block block = b->blocks[at];
	uint64_t end = block.address + block.size;
	b->blocks[at] = (struct tdm_free_block){ address, need, true };
	if (end != address + need)
		brute_insert(b, at + 1, (struct tdm_free_block){ address + need, end - address - need, false });
	if (block.address != address)
		brute_insert(b, at, (struct tdm_free_block){ block.address, address - block.address, false });
}

static uint64_t brute_alloc(struct brute *b, uint64_t size, enum tdm_grow grow)
{
	uint64_t need = brute_round(b, size);
	size_t best = SIZE_MAX;
	for (size_t k = 0; k < b->count; k++) {
		size_t i = grow == TDM_BOTTOM_UP ? k : b->count - 1 - k;
		const struct tdm_free_block *block = &b->blocks[i];
		if (block->used || block->size < need)
			continue;
		if (best == SIZE_MAX ||
			(b->fit == TDM_FIT_BEST && brute_class(b, block->size) < brute_class(b, b->blocks[best].size)))
			best = i;
	}
	if (best == SIZE_MAX)
		return UINT64_MAX;
	uint64_t address =
		grow == TDM_BOTTOM_UP ? b->blocks[best].address : b->blocks[best].address + b->blocks[best].size - need;
	brute_use(b, best, address, need);
	return address;
}

static bool brute_place(struct brute *b, uint64_t address, uint64_t size)
{
	uint64_t need = brute_round(b, size);
	for (size_t i = 0; i < b->count; i++) {
		const struct tdm_free_block *block = &b->blocks[i];
		if (!block->used && address >= block->address && address + need <= block->address + block->size) {
			brute_use(b, i, address, need);
			return true;
		}
	}
	return false;
}

static void brute_merge(struct brute *b, size_t at)
{
	b->blocks[at].size += b->blocks[at + 1].size;
	memmove(b->blocks + at + 1, b->blocks + at + 2, (b->count - at - 2) * sizeof *b->blocks);
	b->count--;
}

static bool brute_release(struct brute *b, uint64_t address)
{
	for (size_t i = 0; i < b->count; i++) {
		if (!b->blocks[i].used || b->blocks[i].address != address)
			continue;
		b->blocks[i].used = false;
		if (i + 1 < b->count && !b->blocks[i + 1].used)
			brute_merge(b, i);
		if (i != 0 && !b->blocks[i - 1].used)
			brute_merge(b, i - 1);
		return true;
	}
	return false;
}

static void assert_same(const struct tdm_freelist *fl, const struct brute *b)
{
	struct tdm_freelist_walk walk;
	struct tdm_free_block block;
	size_t i = 0;
	uint64_t allocated = 0, largest = 0, lowest = UINT64_MAX, found = UINT64_MAX;
	tdm_freelist_walk(fl, &walk);
	for (; tdm_freelist_walk_next(&walk, &block); i++) {
		assert_true(i < b->count);
		assert_int_equal(block.address, b->blocks[i].address);
		assert_int_equal(block.size, b->blocks[i].size);
		assert_int_equal(block.used, b->blocks[i].used);
		allocated += block.used ? block.size : 0;
		largest = !block.used && block.size > largest ? block.size : largest;
		lowest = block.used && block.address < lowest ? block.address : lowest;
	}
	assert_int_equal(i, b->count);
	struct tdm_freelist_stats s = tdm_freelist_stats(fl);
	assert_int_equal(s.allocated, allocated);
	assert_int_equal(s.free, s.total - allocated);
	assert_int_equal(s.largest_free, largest);
	assert_int_equal(tdm_freelist_lowest(fl, &found), lowest != UINT64_MAX);
	assert_int_equal(found, lowest);
	assert_true(tdm_freelist_is_valid(fl));
}

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

struct mix {
	uint64_t base, size, align, min, largest;
	enum tdm_fit fit;
	int free_percent;
};

/* One random step on both models; the same answer is expected. */
static void step(struct tdm_freelist *fl, struct brute *b, const struct mix *mix, uint64_t *seed)
{
	uint64_t roll = random_next(seed) % 100, size = random_next(seed) % mix->largest;
	enum tdm_grow grow = random_next(seed) % 2 ? TDM_BOTTOM_UP : TDM_TOP_DOWN;
	if (roll < (uint64_t)mix->free_percent) {
		uint64_t address = b->blocks[random_next(seed) % b->count].address + (random_next(seed) % 8 == 0);
		int err = tdm_freelist_release(fl, address, NULL);
		assert_int_equal(err == 0, brute_release(b, address));
	} else if (roll < (uint64_t)mix->free_percent + 5) {
		uint64_t address = mix->base + random_next(seed) % mix->size;
		assert_int_equal(tdm_freelist_place(fl, address, size) == 0, brute_place(b, address, size));
	} else {
		uint64_t mine = alloc(fl, size, grow), theirs = brute_alloc(b, size, grow);
		assert_int_equal(mine, theirs);
	}
}

static void same_as_the_description_on_random_requests(void **state)
{
	(void)state;
	static const struct mix mixes[] = {
		{ 0, 1 << 20, 32, 32, 4096, TDM_FIT_FIRST, 40 },
		{ 0, 1 << 20, 32, 32, 4096, TDM_FIT_BEST, 40 },
		{ 105664, 1393472, 32, 32, 40000, TDM_FIT_FIRST, 45 },
		{ 111616, 1461248, 64, 64, 3000, TDM_FIT_BEST, 30 },
		{ 7, 100000, 24, 1, 700, TDM_FIT_FIRST, 47 }, /* align is no power of two */
		{ 1048640, UINT64_C(1) << 33, 32, 32, 1 << 22, TDM_FIT_BEST, 48 },
		{ 0, 4096, 1, 0, 64, TDM_FIT_FIRST, 50 },
	};
	struct brute *b = malloc(sizeof *b);
	assert_non_null(b);
	for (size_t m = 0; m < sizeof mixes / sizeof *mixes; m++) {
		const struct mix *mix = &mixes[m];
		uint64_t seed = 88172645463325252u + m;
		struct tdm_freelist *fl = list_of(mix->base, mix->size, mix->align, mix->min, mix->fit);
		*b = (struct brute){ .align = mix->align,
			.min = mix->min != 0 ? mix->min : 1,
			.size = mix->size,
			.fit = mix->fit,
			.count = 1 };
		b->blocks[0] = (struct tdm_free_block){ mix->base, mix->size, false };
		for (int i = 0; i < 6000; i++) {
			step(fl, b, mix, &seed);
			if (b->count > BRUTE_MAX - 4)
				break;
			if (i % 50 == 0)
				assert_same(fl, b);
		}
		assert_same(fl, b);
		for (uint64_t lowest; tdm_freelist_lowest(fl, &lowest);)
			assert_int_equal(tdm_freelist_release(fl, lowest, NULL), 0);
		assert_int_equal(tdm_freelist_stats(fl).largest_free, mix->size);
		assert_true(tdm_freelist_is_valid(fl));
		tdm_freelist_free(fl);
	}
	free(b);
}

/* Grows to many thousand blocks and back: nodes split on every level and join again. */
static void stays_valid_while_growing_and_shrinking(void **state)
{
	(void)state;
	enum { COUNT = 50000 };
	uint64_t *at = malloc(COUNT * sizeof *at), seed = 42;
	for (int fit = 0; fit < 2; fit++) {
		struct tdm_freelist *fl = list_of(0, UINT64_C(1) << 34, 32, 32, (enum tdm_fit)fit);
		for (int i = 0; i < COUNT; i++)
			at[i] = alloc(fl, random_next(&seed) % 65536, TDM_BOTTOM_UP);
		assert_true(tdm_freelist_is_valid(fl));
		for (int i = 0; i < COUNT; i += 2)
			assert_int_equal(tdm_freelist_release(fl, at[i], NULL), 0);
		assert_true(tdm_freelist_is_valid(fl));
		assert_int_equal(tdm_freelist_stats(fl).used_blocks, COUNT / 2);
		for (int i = 1; i < COUNT; i += 2)
			assert_int_equal(tdm_freelist_release(fl, at[i], NULL), 0);
		assert_true(tdm_freelist_is_valid(fl));
		assert_int_equal(tdm_freelist_stats(fl).free_blocks, 1);
		tdm_freelist_free(fl);
	}
	free(at);
}

static void a_best_fit_is_by_class_not_by_size(void **state)
{
	(void)state;
	struct tdm_freelist *fl = list_of(0, 1 << 20, 1024, 1024, TDM_FIT_BEST);
	assert_int_equal(tdm_freelist_place(fl, 3 * 1024, 1024), 0);
	assert_int_equal(tdm_freelist_place(fl, 6 * 1024, (1 << 20) - 6 * 1024), 0);
	assert_int_equal(alloc(fl, 2048, TDM_BOTTOM_UP), 0); /* not 4096, where it would fit exactly */
	tdm_freelist_free(fl);
}

static void the_other_policy_saves_the_larger_hole(void **state)
{
	(void)state;
	/* Holes of 16K and 8K, the 16K one on top: top-down first fit eats it for 8K, and 16K then has no place. */
	for (int fit = 0; fit < 2; fit++) {
		struct tdm_freelist *fl = list_of(0, 32768, 1024, 1024, (enum tdm_fit)fit);
		assert_int_equal(tdm_freelist_place(fl, 8192, 8192), 0);
		assert_int_equal(alloc(fl, 8192, TDM_TOP_DOWN), fit == TDM_FIT_FIRST ? 24576 : 0);
		assert_int_equal(alloc(fl, 16384, TDM_TOP_DOWN), fit == TDM_FIT_FIRST ? UINT64_MAX : 16384);
		tdm_freelist_free(fl);
	}
}

static void addresses_are_not_aligned_only_sizes_are(void **state)
{
	(void)state;
	struct tdm_freelist *fl = list_of(0, 1000, 32, 32, TDM_FIT_FIRST);
	assert_int_equal(alloc(fl, 1, TDM_TOP_DOWN), 968);
	assert_int_equal(tdm_freelist_place(fl, 3, 64), 0);
	assert_int_equal(tdm_freelist_place(fl, 3, 64), TDM_EOCCUPIED);
	assert_int_equal(tdm_freelist_place(fl, 990, 64), TDM_EOCCUPIED); /* beyond the end */
	assert_true(tdm_freelist_is_valid(fl));
	tdm_freelist_free(fl);
}

static void a_limit_is_refused_without_taking_the_block(void **state)
{
	(void)state;
	struct tdm_freelist *fl = list_of(1000, 1024, 32, 32, TDM_FIT_FIRST);
	uint64_t address = 7;
	assert_int_equal(tdm_freelist_alloc(fl, 64, TDM_BOTTOM_UP, 1001, &address), TDM_ELIMIT);
	assert_int_equal(address, 7);
	assert_int_equal(tdm_freelist_stats(fl).allocated, 0); /* the real one leaks the block here */
	assert_int_equal(tdm_freelist_alloc(fl, 64, TDM_BOTTOM_UP, 1000, &address), 0);
	tdm_freelist_free(fl);
}

static void sizes_that_wrap_are_refused(void **state)
{
	(void)state;
	struct tdm_freelist *fl = list_of(0, 4096, 32, 32, TDM_FIT_FIRST);
	uint64_t address;
	assert_int_equal(tdm_freelist_alloc(fl, UINT64_MAX, TDM_BOTTOM_UP, 0, &address), -ERANGE);
	assert_int_equal(tdm_freelist_alloc(fl, UINT64_MAX - 30, TDM_TOP_DOWN, 0, &address), -ERANGE);
	assert_int_equal(tdm_freelist_alloc(fl, UINT64_MAX - 31, TDM_TOP_DOWN, 0, &address), TDM_ENOFIT);
	assert_int_equal(tdm_freelist_place(fl, 0, UINT64_MAX), -ERANGE);
	assert_int_equal(tdm_freelist_stats(fl).allocated, 0);
	tdm_freelist_free(fl);
	struct tdm_freelist_config config = { UINT64_MAX - 10, 11, 1, 1, TDM_FIT_FIRST };
	assert_int_equal(tdm_freelist_new(&config, &fl), -ERANGE);
	config = (struct tdm_freelist_config){ 0, 11, 0, 1, TDM_FIT_FIRST };
	assert_int_equal(tdm_freelist_new(&config, &fl), -EINVAL);
}

static void frees_of_nothing_are_told(void **state)
{
	(void)state;
	struct tdm_freelist *fl = list_of(4096, 4096, 32, 32, TDM_FIT_FIRST);
	uint64_t size = 0, address = alloc(fl, 100, TDM_BOTTOM_UP);
	assert_int_equal(tdm_freelist_release(fl, address + 32, NULL), TDM_ENOTFOUND); /* inside */
	assert_int_equal(tdm_freelist_release(fl, 0, NULL), TDM_ENOTFOUND);            /* outside */
	assert_int_equal(tdm_freelist_size_at(fl, address), 128);
	assert_int_equal(tdm_freelist_release(fl, address, &size), 0);
	assert_int_equal(size, 128);
	assert_int_equal(tdm_freelist_release(fl, address, NULL), TDM_ENOTFOUND); /* twice */
	assert_int_equal(tdm_freelist_size_at(fl, address), 0);
	tdm_freelist_free(fl);
}

static void shrinking_never_cuts_a_used_block(void **state)
{
	(void)state;
	/* The sequence that the real allocator accepts although [0, 1024) is in use. */
	struct tdm_freelist *fl = list_of(0, 16384, 1024, 1024, TDM_FIT_FIRST);
	assert_int_equal(tdm_freelist_place(fl, 1024, 1024), 0);
	assert_int_equal(alloc(fl, 1024, TDM_BOTTOM_UP), 0);
	assert_int_equal(tdm_freelist_release(fl, 1024, NULL), 0);
	assert_int_equal(tdm_freelist_shrink(fl, 2048), TDM_EOCCUPIED);
	assert_true(tdm_freelist_is_valid(fl));
	tdm_freelist_free(fl);
}

static void shrink_and_reset_keep_addresses(void **state)
{
	(void)state;
	struct tdm_freelist *fl = list_of(1000, 16384, 1024, 1024, TDM_FIT_FIRST);
	assert_int_equal(tdm_freelist_shrink(fl, 16384), -ERANGE); /* the real one crashes */
	assert_int_equal(tdm_freelist_shrink(fl, 0), 0);
	assert_int_equal(tdm_freelist_shrink(fl, 1024), 0);
	assert_int_equal(tdm_freelist_shrink(fl, 1024), 0);
	assert_int_equal(tdm_freelist_stats(fl).total, 14336);
	assert_int_equal(alloc(fl, 1024, TDM_BOTTOM_UP), 3048);
	assert_int_equal(tdm_freelist_shrink(fl, 1024), TDM_EOCCUPIED);
	tdm_freelist_reset(fl); /* the lowest block is used: a new free one in front of it */
	assert_int_equal(tdm_freelist_stats(fl).total, 16384);
	assert_int_equal(alloc(fl, 1024, TDM_BOTTOM_UP), 1000);
	assert_int_equal(tdm_freelist_release(fl, 1000, NULL), 0);
	assert_int_equal(tdm_freelist_shrink(fl, 2048), 0); /* exactly the free block in front */
	assert_int_equal(tdm_freelist_release(fl, 3048, NULL), 0);
	tdm_freelist_reset(fl); /* the lowest block is free: it grows down */
	assert_int_equal(tdm_freelist_stats(fl).largest_free, 16384);
	assert_true(tdm_freelist_is_valid(fl));
	assert_int_equal(tdm_freelist_shrink(fl, 512), 0);
	tdm_freelist_reset(fl);
	assert_int_equal(tdm_freelist_stats(fl).total, 16384);
	tdm_freelist_free(fl);
}

static void the_lowest_address_follows_every_change(void **state)
{
	(void)state;
	struct tdm_freelist *fl = list_of(0, 1 << 16, 32, 32, TDM_FIT_FIRST);
	uint64_t lowest = 1;
	assert_false(tdm_freelist_lowest(fl, &lowest));
	uint64_t top = alloc(fl, 64, TDM_TOP_DOWN), bottom = alloc(fl, 64, TDM_BOTTOM_UP);
	assert_true(tdm_freelist_lowest(fl, &lowest));
	assert_int_equal(lowest, bottom);
	tdm_freelist_release(fl, bottom, NULL);
	assert_true(tdm_freelist_lowest(fl, &lowest));
	assert_int_equal(lowest, top);
	tdm_freelist_release(fl, top, NULL);
	assert_false(tdm_freelist_lowest(fl, &lowest)); /* the real one keeps a stale address */
	tdm_freelist_free(fl);
}

static void an_empty_range_is_always_full(void **state)
{
	(void)state;
	struct tdm_freelist *fl = list_of(500, 0, 32, 32, TDM_FIT_FIRST);
	struct tdm_freelist_stats s = tdm_freelist_stats(fl);
	assert_int_equal(s.total + s.allocated + s.free + s.largest_free, 0);
	assert_int_equal(alloc(fl, 0, TDM_BOTTOM_UP), UINT64_MAX);
	assert_int_equal(tdm_freelist_place(fl, 500, 1), TDM_EOCCUPIED);
	assert_int_equal(tdm_freelist_release(fl, 500, NULL), TDM_ENOTFOUND);
	assert_int_equal(tdm_freelist_shrink(fl, 1), -ERANGE);
	tdm_freelist_reset(fl);
	assert_true(tdm_freelist_is_valid(fl));
	tdm_freelist_free(fl);
	tdm_freelist_free(NULL);
}

static void a_request_of_nothing_takes_the_minimum(void **state)
{
	(void)state;
	struct tdm_freelist *fl = list_of(0, 4096, 32, 0, TDM_FIT_FIRST);
	uint64_t first = alloc(fl, 0, TDM_BOTTOM_UP), second = alloc(fl, 0, TDM_BOTTOM_UP);
	assert_int_equal(first, 0);
	assert_int_equal(second, 32); /* the real one gives both the same address when its minimum is 0 */
	tdm_freelist_free(fl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_as_the_description_on_random_requests),
		cmocka_unit_test(stays_valid_while_growing_and_shrinking),
		cmocka_unit_test(a_best_fit_is_by_class_not_by_size),
		cmocka_unit_test(the_other_policy_saves_the_larger_hole),
		cmocka_unit_test(addresses_are_not_aligned_only_sizes_are),
		cmocka_unit_test(a_limit_is_refused_without_taking_the_block),
		cmocka_unit_test(sizes_that_wrap_are_refused),
		cmocka_unit_test(frees_of_nothing_are_told),
		cmocka_unit_test(shrinking_never_cuts_a_used_block),
		cmocka_unit_test(shrink_and_reset_keep_addresses),
		cmocka_unit_test(the_lowest_address_follows_every_change),
		cmocka_unit_test(an_empty_range_is_always_full),
		cmocka_unit_test(a_request_of_nothing_takes_the_minimum),
	};
	return cmocka_run_group_tests_name("freelist", tests, NULL, NULL);
}
