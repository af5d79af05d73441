/* Lists that grow. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/reserve.h"

static void a_list_grows_and_keeps_its_items(void **state)
{
	uint32_t *list = NULL;
	size_t cap = 0;
	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(tdm_reserve(&list, &cap, i + 1, sizeof *list), 0);
		assert_true(cap > i);
		list[i] = i;
	}
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(list[i], i);
	assert_int_equal(tdm_reserve(&list, &cap, 5000, sizeof *list), 0);
	assert_true(cap >= 5000);
	free(list);
}

static void a_list_that_cannot_grow_stays(void **state)
{
	uint64_t *list = NULL;
	size_t cap = 0;
	(void)state;
	assert_int_equal(tdm_reserve(&list, &cap, 1, sizeof *list), 0);
	uint64_t *before = list;
	size_t had = cap;
	assert_int_equal(tdm_reserve(&list, &cap, SIZE_MAX, sizeof *list), -ENOMEM);
	assert_int_equal(tdm_reserve(&list, &cap, SIZE_MAX / 4, sizeof *list), -ENOMEM);
	assert_ptr_equal(list, before);
	assert_int_equal(cap, had);
	assert_int_equal(tdm_reserve(&list, &cap, had, sizeof *list), 0); /* there is room */
	assert_ptr_equal(list, before);
	free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_grows_and_keeps_its_items),
		cmocka_unit_test(a_list_that_cannot_grow_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
