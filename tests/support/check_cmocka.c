/* Whether cmocka.c sees what it must: each kind of failure is one, what passes passes, and the summary has the numbers.
 */
#include "cmocka.h"

#include <stdio.h>
#include <string.h>

static int tear_downs;

static int ok(void **state)
{
	*state = &tear_downs;
	return 0;
}

static int not_ok(void **state)
{
	(void)state;
	return -1;
}

static int count(void **state)
{
	(void)state;
	tear_downs++;
	return 0;
}

static void passes(void **state)
{
	assert_ptr_equal(*state, &tear_downs);
	assert_true(2 > 1);
	assert_false(1 > 2);
	assert_null(NULL);
	assert_non_null(state);
	assert_int_equal(-1, -1L);
	assert_int_not_equal(1, 2);
	assert_ptr_not_equal(state, &tear_downs);
	assert_in_range(3, 3, 3);
	assert_string_equal("a", "a");
	assert_string_not_equal("a", "b");
	assert_memory_equal("ab", "ac", 1);
}

static void skips(void **state)
{
	(void)state;
	skip();
}

#define FAILS(name, statement)          \
	static void name(void **state)  \
	{                               \
		(void)state, statement; \
	}
FAILS(fails_true, assert_true(1 > 2))
FAILS(fails_false, assert_false(2 > 1))
FAILS(fails_null, assert_null(state))
FAILS(fails_non_null, assert_non_null(NULL))
FAILS(fails_int, assert_int_equal(1, 2))
FAILS(fails_int_not, assert_int_not_equal(1, 1))
FAILS(fails_ptr, assert_ptr_equal(state, NULL))
FAILS(fails_ptr_not, assert_ptr_not_equal(state, state))
FAILS(fails_range, assert_in_range(4, 1, 3))
FAILS(fails_string, assert_string_equal("a", "b"))
FAILS(fails_string_not, assert_string_not_equal("a", "a"))
FAILS(fails_memory, assert_memory_equal("ab", "ac", 2))
FAILS(fails, fail())
FAILS(fails_msg, fail_msg("%d", 1))

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(passes),
		cmocka_unit_test_setup_teardown(passes, ok, count), cmocka_unit_test(skips),
		cmocka_unit_test_teardown(fails_true, count), cmocka_unit_test(fails_false),
		cmocka_unit_test(fails_null), cmocka_unit_test(fails_non_null), cmocka_unit_test(fails_int),
		cmocka_unit_test(fails_int_not), cmocka_unit_test(fails_ptr), cmocka_unit_test(fails_ptr_not),
		cmocka_unit_test(fails_range), cmocka_unit_test(fails_string), cmocka_unit_test(fails_string_not),
		cmocka_unit_test(fails_memory), cmocka_unit_test(fails), cmocka_unit_test(fails_msg),
		cmocka_unit_test_setup(passes, not_ok), cmocka_unit_test_teardown(passes, not_ok) };
	enum { PASS = 2, SKIP = 1, ALL = sizeof tests / sizeof *tests };
	char output[8192] = "", summary[128];
	/* What the runner prints is looked at here, and not by whoever counts the lines of this program. */
	FILE *kept = tmpfile(), *real = stdout;
	if (kept == NULL)
		return 1;
	stdout = kept;
	int failed = cmocka_run_group_tests(tests, ok, NULL), none = cmocka_run_group_tests(tests, not_ok, NULL);
	stdout = real;
	rewind(kept);
	output[fread(output, 1, sizeof output - 1, kept)] = '\0';
	snprintf(summary, sizeof summary,
		"\n[  PASSED  ] %d test(s).\n[  SKIPPED ] %d test(s).\n[  FAILED  ] %d test(s).\n", PASS, SKIP,
		ALL - PASS - SKIP);
	bool good = failed == ALL - PASS - SKIP && none == ALL && tear_downs == 2 && strstr(output, summary) != NULL;
	if (!good)
		printf("%d failed, %d without a set-up, %d torn down; %s", failed, none, tear_downs, output);
	return !good;
}
