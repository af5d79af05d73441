/* The matcher of sentences with fields. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/pattern.h"

static bool match(const char *pattern, const char *text, struct tdm_pattern_match *m)
{
	return tdm_pattern_match(pattern, tdm_str_of(text), m);
}

static void assert_field(const struct tdm_pattern_match *m, size_t i, const char *text)
{
	assert_true(i < m->count);
	if (!tdm_str_is(m->fields[i], text))
		fail_msg("field %zu is '%.*s', not '%s'", i, TDM_STR_ARG(m->fields[i]), text);
}

static void fields_of_every_sort(void **state)
{
	struct tdm_pattern_match m;
	(void)state;
	assert_true(match("a %d b %x c %f d %w e %i!", "a 12 b 0xfF c 1.50 d x/y,z e l1_small! more", &m));
	assert_int_equal(m.count, 5);
	assert_field(&m, 0, "12");
	assert_field(&m, 1, "0xfF");
	assert_field(&m, 2, "1.50");
	assert_field(&m, 3, "x/y,z");
	assert_field(&m, 4, "l1_small");
	assert_int_equal(m.len, strlen("a 12 b 0xfF c 1.50 d x/y,z e l1_small!"));
	assert_true(match("%x", "0x", &m)); /* the 0 is a number, what follows is not part of it */
	assert_field(&m, 0, "0");
	assert_true(match("%f.", "3.", &m));
	assert_field(&m, 0, "3");
}

static void blanks_may_be_folded(void **state)
{
	struct tdm_pattern_match m;
	(void)state;
	assert_true(match("one two", "one \r\n\t two", &m));
	assert_false(match("one two", "onetwo", &m));
	assert_true(match("one%_two", "onetwo", &m));
	assert_true(match("one%_two", "one  two", &m));
	assert_false(match("one ", "one", &m));
}

static void span_is_the_shortest(void **state)
{
	struct tdm_pattern_match m;
	(void)state;
	assert_true(match("range %*. L1 at %d", "range [0-0 - 1.1]. L1 at 7. L1 at 8", &m));
	assert_field(&m, 0, "[0-0 - 1.1]");
	assert_field(&m, 1, "7");
	assert_true(match("op: %*", "op: a b c\nnext", &m));
	assert_field(&m, 0, "a b c");
	assert_true(match("op: %*", "op: ", &m));
	assert_field(&m, 0, "");
	assert_false(match("a %* b", "a no\nx b", &m)); /* not over a line's end, except in a blank of the pattern */
	assert_false(match("a%*!", "a", &m));
}

static void span_is_bounded(void **state)
{
	struct tdm_pattern_match m;
	char text[TDM_PATTERN_SPAN + 16];
	(void)state;
	memset(text, 'x', sizeof text);
	text[TDM_PATTERN_SPAN + 1] = '!';
	text[TDM_PATTERN_SPAN + 2] = '\0';
	assert_true(match("x%*!", text, &m));
	text[TDM_PATTERN_SPAN + 1] = 'x';
	text[TDM_PATTERN_SPAN + 2] = '!';
	text[TDM_PATTERN_SPAN + 3] = '\0';
	assert_false(match("x%*!", text, &m));
}

static void no_match_leaves_the_result_alone(void **state)
{
	struct tdm_pattern_match m = { .count = 77 };
	(void)state;
	assert_false(match("%d tiles", "12 bytes", &m));
	assert_false(match("%d", "", &m));
	assert_false(match("%d%%", "5", &m));
	assert_int_equal(m.count, 77);
	assert_true(match("%d%%", "5%", &m));
}

static void numbers(void **state)
{
	uint64_t value = 5;
	(void)state;
	assert_true(tdm_pattern_number(tdm_str_of("18446744073709551615"), &value));
	assert_true(value == UINT64_MAX);
	assert_false(tdm_pattern_number(tdm_str_of("18446744073709551616"), &value));
	assert_true(tdm_pattern_number(tdm_str_of("0xffffffffffffffff"), &value));
	assert_true(value == UINT64_MAX);
	assert_true(tdm_pattern_number(tdm_str_of("0x16E000"), &value));
	assert_true(value == 1499136);
	assert_false(tdm_pattern_number(tdm_str_of("0x10000000000000000"), &value));
	assert_false(tdm_pattern_number(tdm_str_of("0x"), &value));
	assert_false(tdm_pattern_number(tdm_str_of("0xg"), &value));
	assert_false(tdm_pattern_number(tdm_str_of(""), &value));
	assert_false(tdm_pattern_number(tdm_str_of("-1"), &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_of_every_sort),
		cmocka_unit_test(blanks_may_be_folded),
		cmocka_unit_test(span_is_the_shortest),
		cmocka_unit_test(span_is_bounded),
		cmocka_unit_test(no_match_leaves_the_result_alone),
		cmocka_unit_test(numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
