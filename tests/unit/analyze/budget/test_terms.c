/* Sums of terms: how they are made, multiplied and compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/budget/budget.h"

static void assert_text(const struct tdm_terms *terms, const char *expected)
{
	struct tdm_buf text = { 0 };
	tdm_terms_print(terms, &text);
	assert_string_equal(text.data, expected);
	tdm_buf_done(&text);
}

static struct tdm_terms make(const char *a, int64_t a_times, const char *b, int64_t b_times)
{
	struct tdm_terms terms = { 0 };
	tdm_terms_add(&terms, tdm_str_of(a), a_times);
	tdm_terms_add(&terms, tdm_str_of(b), b_times);
	assert_false(terms.failed);
	return terms;
}

static void equal_terms_are_one(void **state)
{
	(void)state;
	struct tdm_terms terms = { 0 };
	assert_text(&terms, "0");
	tdm_terms_add(&terms, tdm_str_of("Wt"), 4096);
	tdm_terms_add(&terms, tdm_str_of(""), 16384);
	tdm_terms_add(&terms, tdm_str_of("Wt"), -1);
	tdm_terms_add(&terms, tdm_str_of("Ht"), -7);
	assert_text(&terms, "16384 - 7 * Ht + 4095 * Wt");
	tdm_terms_add(&terms, tdm_str_of("Ht"), 7);
	tdm_terms_add(&terms, tdm_str_of("Wt"), -4094);
	assert_text(&terms, "16384 + Wt");
	tdm_terms_done(&terms);
}

static void products_are_multiplied_out(void **state)
{
	(void)state;
	struct tdm_terms a = make("Wt", 2, "", 3), b = make("Ht", 5, "", 7), product = { 0 };
	tdm_terms_multiply(&a, &b, &product);
	assert_text(&product, "21 + 15 * Ht + 10 * Ht * Wt + 14 * Wt");
	tdm_terms_done(&product);
	tdm_terms_multiply(&b, &a, &product); /* in any order */
	assert_text(&product, "21 + 15 * Ht + 10 * Ht * Wt + 14 * Wt");
	tdm_terms_done(&product);
	tdm_terms_done(&a);
	tdm_terms_done(&b);
}

static void only_sure_changes_are_judged(void **state)
{
	(void)state;
	const struct {
		int64_t wt_before, number_before, wt_after, number_after;
		enum tdm_terms_change expected;
	} cases[] = {
		{ 2, 10, 2, 10, TDM_TERMS_SAME },
		{ 2, 10, 4, 10, TDM_TERMS_MORE },
		{ 0, 10, 4, 10, TDM_TERMS_MORE },
		{ 2, 10, 4, 11, TDM_TERMS_MORE },
		{ 4, 10, 2, 10, TDM_TERMS_LESS },
		{ 2, 10, 4, 9, TDM_TERMS_MIXED },
		{ 2, 10, 1, 900, TDM_TERMS_MIXED },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tdm_terms before = make("Wt", cases[i].wt_before, "", cases[i].number_before);
		struct tdm_terms after = make("Wt", cases[i].wt_after, "", cases[i].number_after);
		assert_int_equal(tdm_terms_compare(&before, &after), cases[i].expected);
		after.failed = true;
		assert_int_equal(tdm_terms_compare(&before, &after), TDM_TERMS_UNKNOWN);
		tdm_terms_done(&before);
		tdm_terms_done(&after);
	}
}

static void what_has_no_room_fails(void **state)
{
	(void)state;
	struct tdm_terms terms = make("Wt", INT64_MAX, "", -INT64_MAX), product = { 0 };
	char name[2048];
	tdm_terms_multiply(&terms, &terms, &product);
	assert_true(product.failed);
	tdm_terms_done(&product);
	tdm_terms_add_all(&product, &terms, -1);
	assert_false(product.failed);
	tdm_terms_add(&product, tdm_str_of("Wt"), -1);
	assert_true(product.failed); /* its opposite would be no number */
	tdm_terms_done(&product);
	tdm_terms_add(&product, tdm_str_of("Wt"), INT64_MIN);
	assert_true(product.failed);
	tdm_terms_done(&product);
	tdm_terms_add(&terms, tdm_str_of("Wt"), 1);
	assert_true(terms.failed);
	tdm_terms_done(&terms);
	for (int i = 0; i <= TDM_TERMS_MAX; i++) {
		snprintf(name, sizeof name, "n%d", i);
		assert_false(terms.failed);
		tdm_terms_add(&terms, tdm_str_of(name), 1);
	}
	assert_true(terms.failed);
	tdm_terms_done(&terms);
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	tdm_terms_add(&terms, tdm_str_of(name), 1);
	assert_true(terms.failed);
	tdm_terms_done(&terms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_terms_are_one),
		cmocka_unit_test(products_are_multiplied_out),
		cmocka_unit_test(only_sure_changes_are_judged),
		cmocka_unit_test(what_has_no_room_fails),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
