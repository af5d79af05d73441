/* The map and the set of names, against plain arrays: many random operations, and the corners of their tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/map.h"
#include "base/names.h"

#include <errno.h>

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void a_map_forgets_and_replaces(void **state)
{
	(void)state;
	struct tdm_map map;
	tdm_map_init(&map);
	assert_int_equal(tdm_map_find(&map, 0), TDM_MAP_NONE);
	assert_int_equal(tdm_map_take(&map, 0), TDM_MAP_NONE);
	assert_int_equal(tdm_map_put(&map, 0, 5), 0);
	assert_int_equal(tdm_map_put(&map, UINT64_MAX, 0), 0); /* every key is allowed */
	assert_int_equal(tdm_map_put(&map, 0, 6), 0);
	assert_int_equal(map.count, 2);
	assert_int_equal(tdm_map_find(&map, 0), 6);
	assert_int_equal(tdm_map_take(&map, 0), 6);
	assert_int_equal(tdm_map_find(&map, 0), TDM_MAP_NONE);
	assert_int_equal(tdm_map_find(&map, UINT64_MAX), 0);
	assert_int_equal(map.count, 1);
	tdm_map_done(&map);
}

/* Keys from a small range meet often; the plain array is indexed by the key. */
static void a_map_does_what_an_array_does(void **state)
{
	(void)state;
	enum { KEYS = 3000, STEPS = 200000 };
	uint32_t *plain = malloc(KEYS * sizeof *plain);
	uint64_t seed = 0x9e3779b97f4a7c15;
	struct tdm_map map;
	size_t count = 0;
	assert_non_null(plain);
	memset(plain, 0xff, KEYS * sizeof *plain);
	tdm_map_init(&map);
	for (int i = 0; i < STEPS; i++) {
		/* The share of removals moves, so that the table fills and empties. */
		uint64_t roll = random_next(&seed) % 100, key = random_next(&seed) % KEYS;
		uint64_t spread = key * 0x100000001; /* low and high half alike */
		if (roll < (i / 20000 % 2 == 0 ? 30 : 70)) {
			assert_int_equal(tdm_map_take(&map, spread), plain[key]);
			count -= plain[key] != TDM_MAP_NONE;
			plain[key] = TDM_MAP_NONE;
		} else {
			uint32_t value = (uint32_t)random_next(&seed) >> 1;
			assert_int_equal(tdm_map_put(&map, spread, value), 0);
			count += plain[key] == TDM_MAP_NONE;
			plain[key] = value;
		}
		assert_int_equal(map.count, count);
		if (i % 5000 == 0)
			for (uint64_t k = 0; k < KEYS; k++)
				assert_int_equal(tdm_map_find(&map, k * 0x100000001), plain[k]);
	}
	tdm_map_done(&map);
	free(plain);
}

/* Keys whose home is one of the last cells: their run goes on at the front of the table, and erasing must follow it. */
static void erasing_moves_keys_back_around_the_end_of_the_table(void **state)
{
	(void)state;
	enum { CELLS = 64, RUN = 12 };
	uint64_t keys[RUN];
	size_t found = 0;
	for (uint64_t key = 1; found < RUN; key++) {
		size_t home = tdm_hash_u64(key) % CELLS;
		if (home >= CELLS - 3 || (found > RUN / 2 && home < 4))
			keys[found++] = key;
	}
	for (size_t out = 0; out < RUN; out++)
		for (size_t second = 0; second < RUN; second++) {
			struct tdm_map map;
			tdm_map_init(&map);
			for (uint32_t i = 0; i < RUN; i++)
				assert_int_equal(tdm_map_put(&map, keys[i], i), 0);
			assert_int_equal(map.mask, CELLS - 1); /* the run is in the table that was searched for it */
			tdm_map_take(&map, keys[out]);
			tdm_map_take(&map, keys[second]);
			for (size_t i = 0; i < RUN; i++)
				assert_int_equal(tdm_map_find(&map, keys[i]),
					i == out || i == second ? TDM_MAP_NONE : (uint32_t)i);
			tdm_map_done(&map);
		}
}

static void a_name_keeps_its_slot_and_number(void **state)
{
	(void)state;
	struct tdm_names names = { 0 };
	uint32_t a, b, again;
	assert_int_equal(tdm_names_find(&names, tdm_str_of("a")), TDM_NAME_NONE);
	assert_int_equal(tdm_names_add(&names, tdm_str_of("a"), &a), 0);
	assert_int_equal(tdm_names_add(&names, tdm_str_of("b"), &b), 0);
	assert_int_not_equal(a, b);
	assert_int_equal(*tdm_names_number(&names, a), 0);
	*tdm_names_number(&names, a) = 17;
	assert_int_equal(tdm_names_find(&names, tdm_str_of("a")), a);
	assert_int_equal(*tdm_names_number(&names, a), 17);
	tdm_names_remove(&names, a);
	assert_int_equal(tdm_names_find(&names, tdm_str_of("a")), TDM_NAME_NONE);
	assert_int_equal(tdm_names_find(&names, tdm_str_of("b")), b);
	assert_int_equal(tdm_names_add(&names, tdm_str_of("c"), &again), 0);
	assert_int_equal(again, a);                            /* the place is used again, */
	assert_int_equal(*tdm_names_number(&names, again), 0); /* its number is not */
	tdm_names_done(&names);
}

static void names_of_every_length_are_kept_apart(void **state)
{
	(void)state;
	struct tdm_names names = { 0 };
	char text[TDM_NAME_MAX + 2];
	uint32_t slot;
	memset(text, 'n', sizeof text);
	for (size_t len = 0; len <= TDM_NAME_MAX; len++) {
		struct tdm_str name = { text, len };
		assert_int_equal(tdm_names_find(&names, name), TDM_NAME_NONE);
		assert_int_equal(tdm_names_add(&names, name, &slot), 0);
		*tdm_names_number(&names, slot) = len;
	}
	assert_int_equal(tdm_names_add(&names, (struct tdm_str){ text, TDM_NAME_MAX + 1 }, &slot), -ENAMETOOLONG);
	assert_int_equal(tdm_names_find(&names, (struct tdm_str){ text, TDM_NAME_MAX + 1 }), TDM_NAME_NONE);
	for (size_t len = 0; len <= TDM_NAME_MAX; len += 2)
		tdm_names_remove(&names, tdm_names_find(&names, (struct tdm_str){ text, len }));
	for (size_t len = 0; len <= TDM_NAME_MAX; len++) {
		slot = tdm_names_find(&names, (struct tdm_str){ text, len });
		assert_int_equal(slot == TDM_NAME_NONE, len % 2 == 0);
		if (slot != TDM_NAME_NONE)
			assert_int_equal(*tdm_names_number(&names, slot), len);
	}
	tdm_names_done(&names); /* with long names still in it: the sanitizer sees to the rest */
}

static void names_may_hold_any_byte(void **state)
{
	(void)state;
	struct tdm_names names = { 0 };
	uint32_t a, b;
	assert_int_equal(tdm_names_add(&names, (struct tdm_str){ "x\0y", 3 }, &a), 0);
	assert_int_equal(tdm_names_add(&names, (struct tdm_str){ "x\0z", 3 }, &b), 0);
	assert_int_equal(tdm_names_find(&names, (struct tdm_str){ "x\0y", 3 }), a);
	assert_int_equal(tdm_names_find(&names, (struct tdm_str){ "x\0z", 3 }), b);
	assert_int_equal(tdm_names_find(&names, tdm_str_of("x")), TDM_NAME_NONE);
	tdm_names_done(&names);
}

/* Some names are short, some longer than a slot holds. */
static struct tdm_str name_of(uint64_t number, char text[128])
{
	int len = snprintf(text, 128,
		number % 7 == 0 ? "a_buffer_with_a_name_that_is_kept_apart_from_its_slot_%llu" : "b%llu",
		(unsigned long long)number);
	return (struct tdm_str){ text, (size_t)len };
}

static void names_do_what_an_array_does(void **state)
{
	(void)state;
	enum { NAMES = 2000, STEPS = 200000 };
	uint32_t *slots = malloc(NAMES * sizeof *slots);
	uint64_t seed = 88172645463325252u;
	struct tdm_names names = { 0 };
	uint32_t count = 0;
	char text[128];
	assert_non_null(slots);
	memset(slots, 0xff, NAMES * sizeof *slots);
	for (int i = 0; i < STEPS; i++) {
		uint64_t key = random_next(&seed) % NAMES, roll = random_next(&seed) % 100;
		struct tdm_str name = name_of(key, text);
		assert_int_equal(tdm_names_find(&names, name), slots[key]);
		if (slots[key] == TDM_NAME_NONE && roll < (i / 30000 % 2 == 0 ? 90 : 40)) {
			assert_int_equal(tdm_names_add(&names, name, &slots[key]), 0);
			*tdm_names_number(&names, slots[key]) = key;
			count++;
		} else if (slots[key] != TDM_NAME_NONE && roll < (i / 30000 % 2 == 0 ? 30 : 80)) {
			assert_int_equal(*tdm_names_number(&names, slots[key]), key);
			tdm_names_remove(&names, slots[key]);
			slots[key] = TDM_NAME_NONE;
			count--;
		}
		assert_int_equal(names.count, count);
		assert_true(names.slot_count <= NAMES); /* places are used again */
		if (i % 10000 == 0)
			for (uint64_t k = 0; k < NAMES; k++)
				assert_int_equal(tdm_names_find(&names, name_of(k, text)), slots[k]);
	}
	tdm_names_done(&names);
	free(slots);
}

static void removing_names_moves_others_back_around_the_end_of_the_table(void **state)
{
	(void)state;
	enum { CELLS = 64, RUN = 12 };
	uint64_t keys[RUN];
	size_t found = 0;
	char text[128];
	for (uint64_t key = 1; found < RUN; key++) {
		size_t home = tdm_str_hash(name_of(key, text)) % CELLS;
		if (home >= CELLS - 3 || (found > RUN / 2 && home < 4))
			keys[found++] = key;
	}
	for (size_t out = 0; out < RUN; out++) {
		struct tdm_names names = { 0 };
		uint32_t slots[RUN];
		for (size_t i = 0; i < RUN; i++)
			assert_int_equal(tdm_names_add(&names, name_of(keys[i], text), &slots[i]), 0);
		assert_int_equal(names.mask, CELLS - 1);
		tdm_names_remove(&names, slots[out]);
		for (size_t i = 0; i < RUN; i++)
			assert_int_equal(
				tdm_names_find(&names, name_of(keys[i], text)), i == out ? TDM_NAME_NONE : slots[i]);
		tdm_names_done(&names);
	}
}

static void an_ended_container_may_be_ended_again(void **state)
{
	(void)state;
	struct tdm_map map;
	struct tdm_names names = { 0 };
	tdm_map_init(&map);
	for (int i = 0; i < 2; i++) {
		tdm_map_done(&map);
		tdm_names_done(&names);
	}
	assert_null(map.keys);
	assert_null(names.cells);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_map_forgets_and_replaces),
		cmocka_unit_test(a_map_does_what_an_array_does),
		cmocka_unit_test(erasing_moves_keys_back_around_the_end_of_the_table),
		cmocka_unit_test(a_name_keeps_its_slot_and_number),
		cmocka_unit_test(names_of_every_length_are_kept_apart),
		cmocka_unit_test(names_may_hold_any_byte),
		cmocka_unit_test(names_do_what_an_array_does),
		cmocka_unit_test(removing_names_moves_others_back_around_the_end_of_the_table),
		cmocka_unit_test(an_ended_container_may_be_ended_again),
	};
	return cmocka_run_group_tests_name("containers", tests, NULL, NULL);
}
