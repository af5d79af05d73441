/* The index of slots: ids that somebody has chosen are spread over its buckets like any others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ledger/layout/slot_index.h"

enum { IDS = 20000, SAME_BITS = 12, KIND = 1 };

static uint64_t ids[IDS];

static uint32_t hash_of(void *context, uint32_t *slot, bool only_prefetch)
{
	(void)context;
	return only_prefetch ? 0 : tdm_slot_hash(KIND, ids[*slot]);
}

/* Ids that share a bucket under the hash that everybody knows, without a key. */
static void choose_ids(void)
{
	uint64_t id = 0;
	for (uint32_t i = 0; i < IDS; i++)
		for (bool is_good = false; !is_good;) {
			id = id * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407); /* any order */
			unsigned __int128 x =
				(unsigned __int128)(id ^ (uint64_t)KIND << 40) * UINT64_C(0x9e3779b97f4a7c15);
			is_good = ((uint32_t)(x >> 64) ^ (uint32_t)(x >> 32)) << (32 - SAME_BITS) == 0;
			ids[i] = id;
		}
}

/* Entries that are not in their own bucket. */
static uint64_t passed_on(const struct tdm_slot_table *table)
{
	uint64_t passed = 0;
	for (uint32_t i = 0; table->buckets != NULL && i <= table->mask; i++)
		passed += table->buckets[i].passed;
	return passed;
}

static void test_chosen_ids(void **state)
{
	struct tdm_slot_index index;
	(void)state;
	choose_ids();
	assert_int_equal(tdm_slot_index_init(&index, false), 0);
	for (uint32_t i = 0; i < IDS; i++) {
		assert_int_equal(tdm_slot_index_prepare(&index, i, hash_of, NULL), 0);
		tdm_slot_index_put(&index, tdm_slot_hash(KIND, ids[i]), i);
	}
	/* Random ids pass on a fifth when a table is as full as it gets. */
	assert_true(passed_on(&index.now) + passed_on(&index.old) < IDS);
	for (uint32_t i = 0; i < IDS; i++)
		assert_true(tdm_slot_index_take_hash(&index, tdm_slot_hash(KIND, ids[i])));
	tdm_slot_index_done(&index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chosen_ids),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
