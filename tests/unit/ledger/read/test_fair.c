/* A table that several users share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "ledger/read/fair.h"

enum { SELF = 7, ALICE = 1001, MALLORY = 1002 };

static void want(struct tdm_fair *fair, uint32_t uid, uint64_t wants)
{
	tdm_fair_of(fair, uid)->wants = wants;
}

static void assert_may(struct tdm_fair *fair, uint32_t uid, uint64_t may)
{
	assert_int_equal(tdm_fair_of(fair, uid)->may, may);
}

static void test_shares(void **state)
{
	(void)state;
	struct tdm_fair fair = { 0 };
	tdm_fair_share(&fair, 8, SELF);
	want(&fair, ALICE, 5);
	want(&fair, MALLORY, 11);
	tdm_fair_share(&fair, 16, SELF); /* there is room for all */
	assert_may(&fair, ALICE, 5);
	assert_may(&fair, MALLORY, 11);
	tdm_fair_share(&fair, 15, SELF); /* who has most gives way */
	assert_may(&fair, ALICE, 5);
	assert_may(&fair, MALLORY, 10);
	want(&fair, ALICE, UINT64_MAX);
	tdm_fair_share(&fair, 15, SELF);
	assert_int_equal(tdm_fair_of(&fair, ALICE)->may + tdm_fair_of(&fair, MALLORY)->may, 15);
	assert_in_range(tdm_fair_of(&fair, MALLORY)->may, 7, 8);
	tdm_fair_share(&fair, 0, SELF);
	assert_may(&fair, ALICE, 0);
	tdm_fair_done(&fair);
}

/* A hundred users want everything: root and the reader still have an eighth each. */
static void test_first_ones(void **state)
{
	(void)state;
	struct tdm_fair fair = { 0 };
	for (uint32_t i = 0; i < 100; i++)
		want(&fair, 2000 + i, 1000);
	want(&fair, 0, 1000);
	want(&fair, SELF, 90);
	tdm_fair_share(&fair, 800, SELF);
	assert_may(&fair, 0, 100);
	assert_may(&fair, SELF, 90);
	uint64_t sum = 0;
	for (size_t i = 0; i < fair.count; i++)
		sum += fair.users[i].may;
	assert_int_equal(sum, 800);
	assert_in_range(tdm_fair_of(&fair, 2099)->may, 6, 7);
	tdm_fair_done(&fair);
}

static void test_newest_give_way(void **state)
{
	(void)state;
	struct tdm_fair fair = { 0 };
	struct tdm_fair_entry entries[] = { { MALLORY, 0, 30, false }, { MALLORY, 1, 10, false },
		{ ALICE, 2, 99, false }, { MALLORY, 3, 20, false }, { MALLORY, 4, 40, false } };
	tdm_fair_choose(&fair, entries, 5, 3, SELF);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(entries[i].is_out, entries[i].index == 0 || entries[i].index == 4);
	assert_int_equal(tdm_fair_of(&fair, MALLORY)->left, 2);
	assert_int_equal(tdm_fair_of(&fair, ALICE)->left, 0);
	assert_int_equal(tdm_fair_left(&fair), 2);
	tdm_fair_clear(&fair);
	assert_int_equal(tdm_fair_left(&fair), 0);
	tdm_fair_done(&fair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_first_ones),
		cmocka_unit_test(test_newest_give_way),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
