/*
 * The part of cmocka that our tests use, for builds for another processor, where cmocka itself is not installed: the
 * same names, the same summary. A crash is not caught: it ends the program, which ctest sees as well.
 */
#ifndef TDM_TESTS_CMOCKA_H
#define TDM_TESTS_CMOCKA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct CMUnitTest {
	const char *name;
	void (*run)(void **state);
	int (*set_up)(void **state), (*tear_down)(void **state); /* may be NULL */
};

#define cmocka_unit_test_setup_teardown(f, s, t)                  \
	{                                                         \
		.name = #f, .run = f, .set_up = s, .tear_down = t \
	}
#define cmocka_unit_test_setup(f, s)                   cmocka_unit_test_setup_teardown(f, s, NULL)
#define cmocka_unit_test_teardown(f, t)                cmocka_unit_test_setup_teardown(f, NULL, t)
#define cmocka_unit_test(f)                            cmocka_unit_test_setup_teardown(f, NULL, NULL)

#define cmocka_run_group_tests_name(name, tests, s, t) tdm_tests_run(name, tests, sizeof(tests) / sizeof *(tests), s, t)
#define cmocka_run_group_tests(tests, s, t)            cmocka_run_group_tests_name(#tests, tests, s, t)

/* Where a check is in the sources. */
#define TDM_TESTS_HERE                                 __FILE__, __LINE__
#define TDM_TESTS_INT(x)                               ((uintmax_t)(x))
#define TDM_TESTS_WORD(x)                              ((uintmax_t)(uintptr_t)(x))

#define assert_true(x)                                 tdm_tests_check((x) != 0, #x, TDM_TESTS_HERE)
#define assert_false(x)                                tdm_tests_check((x) == 0, "not " #x, TDM_TESTS_HERE)
#define assert_non_null(x)                             tdm_tests_check((x) != NULL, #x " is not NULL", TDM_TESTS_HERE)
#define assert_null(x)                                 tdm_tests_check((x) == NULL, #x " is NULL", TDM_TESTS_HERE)
#define assert_int_equal(a, b)                         tdm_tests_same(TDM_TESTS_INT(a), TDM_TESTS_INT(b), true, TDM_TESTS_HERE)
#define assert_int_not_equal(a, b)                     tdm_tests_same(TDM_TESTS_INT(a), TDM_TESTS_INT(b), false, TDM_TESTS_HERE)
#define assert_ptr_equal(a, b)                         tdm_tests_same(TDM_TESTS_WORD(a), TDM_TESTS_WORD(b), true, TDM_TESTS_HERE)
#define assert_ptr_not_equal(a, b)                     tdm_tests_same(TDM_TESTS_WORD(a), TDM_TESTS_WORD(b), false, TDM_TESTS_HERE)
#define assert_in_range(x, low, high) \
	tdm_tests_range(TDM_TESTS_INT(x), TDM_TESTS_INT(low), TDM_TESTS_INT(high), TDM_TESTS_HERE)
#define assert_string_equal(a, b)     tdm_tests_text(a, b, true, TDM_TESTS_HERE)
#define assert_string_not_equal(a, b) tdm_tests_text(a, b, false, TDM_TESTS_HERE)
#define assert_memory_equal(a, b, n)  tdm_tests_bytes(a, b, n, TDM_TESTS_HERE)
#define fail()                        tdm_tests_check(false, "fail()", TDM_TESTS_HERE)
#define fail_msg(...)                 tdm_tests_fail(TDM_TESTS_HERE, __VA_ARGS__)
#define skip()                        tdm_tests_skip()
#define print_message(...)            printf(__VA_ARGS__)

/* How many failed. */
int tdm_tests_run(const char *group, const struct CMUnitTest *tests, size_t count, int (*set_up)(void **state),
	int (*tear_down)(void **state));

/* Each ends the test that it is called from if what it says is not so. */
void tdm_tests_check(bool holds, const char *text, const char *file, int line);
void tdm_tests_same(uintmax_t a, uintmax_t b, bool wanted, const char *file, int line);
void tdm_tests_range(uintmax_t x, uintmax_t low, uintmax_t high, const char *file, int line);
void tdm_tests_text(const char *a, const char *b, bool wanted, const char *file, int line);
void tdm_tests_bytes(const void *a, const void *b, size_t bytes, const char *file, int line);
void tdm_tests_fail(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4), noreturn));
void tdm_tests_skip(void) __attribute__((noreturn));

#endif
