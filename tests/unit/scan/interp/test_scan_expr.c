/* Expressions: values, bounds, reasons and texts; what users set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "scan/interp/expr.h"

static struct tdm_arena arena;

static const struct tdm_expr *num(int64_t number)
{
	return tdm_expr_number(&arena, number);
}

static const struct tdm_expr *name(const char *text)
{
	return tdm_expr_name(&arena, tdm_str_of(text), false);
}

static const struct tdm_expr *op(enum tdm_expr_op which, const struct tdm_expr *a, const struct tdm_expr *b)
{
	return tdm_expr_binary(&arena, which, a, b);
}

static const struct tdm_expr *choose(const struct tdm_expr *c, const struct tdm_expr *a, const struct tdm_expr *b)
{
	return tdm_expr_make(&arena, TDM_EXPR_CHOOSE, tdm_str_of(""), (const struct tdm_expr *[]){ c, a, b }, 3);
}

static const struct tdm_expr *tile_size(const struct tdm_expr *format)
{
	return tdm_expr_make(&arena, TDM_EXPR_TILE_SIZE, tdm_str_of(""), &format, 1);
}

static void assert_value(const struct tdm_expr *expr, int64_t expected)
{
	int64_t value = 0;
	assert_int_equal(tdm_expr_value(expr, NULL, &value), 0);
	assert_int_equal(value, expected);
}

static void assert_unknown(const struct tdm_expr *expr, const char *reason)
{
	int64_t value;
	assert_true(tdm_expr_value(expr, NULL, &value) < 0);
	assert_string_equal(tdm_expr_eval(expr, NULL).reason, reason);
}

static void assert_bounds(const struct tdm_expr *expr, int64_t min, int64_t max)
{
	struct tdm_bounds bounds = tdm_expr_eval(expr, NULL);
	assert_int_equal(bounds.min, min);
	assert_int_equal(bounds.max, max);
}

static int begin(void **state)
{
	(void)state;
	arena = (struct tdm_arena){ 0 };
	return 0;
}

static int end(void **state)
{
	(void)state;
	tdm_arena_done(&arena);
	return 0;
}

static void operators_compute_as_c_does(void **state)
{
	(void)state;
	assert_value(op(TDM_EXPR_ADD, num(2), num(3)), 5);
	assert_value(op(TDM_EXPR_SUBTRACT, num(2), num(3)), -1);
	assert_value(op(TDM_EXPR_DIVIDE, num(7), num(2)), 3);
	assert_value(op(TDM_EXPR_REMAINDER, num(7), num(4)), 3);
	assert_value(op(TDM_EXPR_SHIFT_LEFT, num(3), num(4)), 48);
	assert_value(op(TDM_EXPR_SHIFT_RIGHT, num(48), num(4)), 3);
	assert_value(op(TDM_EXPR_BIT_XOR, num(6), num(3)), 5);
	assert_value(op(TDM_EXPR_LESS_EQUAL, num(3), num(3)), 1);
	assert_value(op(TDM_EXPR_NOT_EQUAL, num(3), num(3)), 0);
	assert_value(op(TDM_EXPR_AND, num(2), num(0)), 0);
	assert_value(op(TDM_EXPR_DIVIDE_UP, num(65), num(32)), 3);
	assert_value(op(TDM_EXPR_ROUND_UP, num(65), num(32)), 96);
	assert_value(op(TDM_EXPR_ROUND_UP, num(64), num(32)), 64);
	assert_value(op(TDM_EXPR_ROUND_DOWN, num(65), num(32)), 64);
	assert_value(choose(num(0), num(1), num(2)), 2);
}

static void what_c_could_not_compute_is_unknown_with_the_reason(void **state)
{
	(void)state;
	assert_unknown(op(TDM_EXPR_DIVIDE, num(1), num(0)), "divides by zero");
	assert_unknown(op(TDM_EXPR_REMAINDER, num(1), num(0)), "divides by zero");
	assert_unknown(op(TDM_EXPR_ROUND_UP, num(1), num(0)), "divides by zero");
	assert_unknown(op(TDM_EXPR_DIVIDE_UP, num(1), num(0)), "divides by zero");
	assert_unknown(op(TDM_EXPR_MULTIPLY, num(INT64_MAX), num(2)), "does not fit 64 bits");
	assert_unknown(op(TDM_EXPR_ADD, num(INT64_MAX), num(1)), "does not fit 64 bits");
	assert_unknown(op(TDM_EXPR_SHIFT_LEFT, num(1), num(70)), "does not fit 64 bits");
	/* The reason goes up with the expression. */
	assert_unknown(op(TDM_EXPR_ADD, num(1), op(TDM_EXPR_DIVIDE, num(1), num(0))), "divides by zero");
	assert_unknown(op(TDM_EXPR_MULTIPLY, name("n"), num(2)), "depends on what is not known");
}

static void bounds_hold_for_every_value(void **state)
{
	(void)state;
	const struct tdm_expr *n = name("n");
	assert_bounds(n, 0, INT64_MAX);
	assert_bounds(op(TDM_EXPR_MIN, n, num(8)), 0, 8);
	assert_bounds(op(TDM_EXPR_MAX, n, num(8)), 8, INT64_MAX);
	assert_bounds(op(TDM_EXPR_MULTIPLY, op(TDM_EXPR_MIN, n, num(8)), num(2048)), 0, 16384);
	assert_bounds(choose(n, num(512), num(1024)), 512, 1024);
	assert_bounds(op(TDM_EXPR_REMAINDER, n, num(32)), 0, 31);
	assert_bounds(op(TDM_EXPR_DIVIDE, num(4096), n), 0, 4096);
	assert_bounds(op(TDM_EXPR_LESS, n, num(5)), 0, 1);
	assert_bounds(op(TDM_EXPR_SUBTRACT, num(4), n), INT64_MIN, 4);
	/* One that is not known on either side multiplies to nothing known. */
	assert_bounds(op(TDM_EXPR_MULTIPLY, op(TDM_EXPR_SUBTRACT, num(4), n), n), INT64_MIN, INT64_MAX);
}

/* The bounds of random expressions contain what they come to for random values. */
static void random_values_lie_within_the_bounds(void **state)
{
	(void)state;
	uint32_t seed = 12345;
	const enum tdm_expr_op ops[] = { TDM_EXPR_ADD, TDM_EXPR_SUBTRACT, TDM_EXPR_MULTIPLY, TDM_EXPR_DIVIDE,
		TDM_EXPR_REMAINDER, TDM_EXPR_MIN, TDM_EXPR_MAX, TDM_EXPR_DIVIDE_UP, TDM_EXPR_ROUND_UP,
		TDM_EXPR_ROUND_DOWN, TDM_EXPR_LESS, TDM_EXPR_EQUAL, TDM_EXPR_AND, TDM_EXPR_OR, TDM_EXPR_BIT_AND };
	for (int round = 0; round < 20000; round++) {
		const struct tdm_expr *expr = name("n");
		for (int i = 0; i < 4; i++) {
			seed = seed * 1664525 + 1013904223;
			const struct tdm_expr *other = (seed >> 8) % 3 == 0 ? name("n") : num((seed >> 12) % 40);
			enum tdm_expr_op which = ops[(seed >> 20) % (sizeof ops / sizeof *ops)];
			expr = (seed >> 7) % 2 == 0 ? op(which, expr, other) : op(which, other, expr);
		}
		struct tdm_settings range = { 0 }, one = { 0 };
		assert_int_equal(tdm_settings_add(&range, "n=1..50", NULL), 0);
		assert_int_equal(tdm_settings_add(&one, round % 2 == 0 ? "n=7" : "n=33", NULL), 0);
		struct tdm_bounds bounds = tdm_expr_eval(expr, &range);
		int64_t value;
		if (tdm_expr_value(expr, &one, &value) == 0 && !(value >= bounds.min && value <= bounds.max)) {
			print_error("%s\n", tdm_expr_plain_text(expr, &arena));
			assert_true(value >= bounds.min && value <= bounds.max);
		}
		tdm_settings_done(&range);
		tdm_settings_done(&one);
		if (round % 1000 == 999) {
			tdm_arena_done(&arena);
			arena = (struct tdm_arena){ 0 };
		}
	}
}

static void formats_have_sizes(void **state)
{
	(void)state;
	const struct tdm_expr *bf16 = tdm_expr_of(&arena,
		(struct tdm_expr){ .op = TDM_EXPR_FORMAT, .format = tdm_data_format_find(tdm_str_of("Float16_b")) });
	const struct tdm_expr *fp32 = tdm_expr_of(&arena,
		(struct tdm_expr){ .op = TDM_EXPR_FORMAT, .format = tdm_data_format_find(tdm_str_of("Float32")) });
	assert_value(tile_size(bf16), 2048);
	assert_value(tdm_expr_make(&arena, TDM_EXPR_DATUM_SIZE, tdm_str_of(""), &fp32, 1), 4);
	assert_bounds(tile_size(choose(name("wide"), fp32, bf16)), 2048, 4096);
	assert_value(op(TDM_EXPR_EQUAL, bf16, fp32), 0);
	assert_value(op(TDM_EXPR_NOT_EQUAL, bf16, fp32), 1);
	assert_string_equal(tdm_expr_plain_text(tile_size(bf16), &arena), "tile_size(Float16_b)");
}

static void texts_have_the_brackets_they_need(void **state)
{
	(void)state;
	const struct tdm_expr *sum = op(TDM_EXPR_ADD, name("a"), num(1));
	assert_string_equal(tdm_expr_plain_text(op(TDM_EXPR_MULTIPLY, sum, name("b")), &arena), "(a + 1) * b");
	assert_string_equal(tdm_expr_plain_text(op(TDM_EXPR_ADD, sum, name("b")), &arena), "a + 1 + b");
	assert_string_equal(tdm_expr_plain_text(op(TDM_EXPR_SUBTRACT, name("b"), sum), &arena), "b - (a + 1)");
	assert_string_equal(
		tdm_expr_plain_text(op(TDM_EXPR_DIVIDE, name("a"), op(TDM_EXPR_MULTIPLY, num(2), num(3))), &arena),
		"a / (2 * 3)");
	assert_string_equal(tdm_expr_plain_text(choose(name("c"), num(1), num(2)), &arena), "c ? 1 : 2");
	assert_string_equal(
		tdm_expr_plain_text(op(TDM_EXPR_MULTIPLY, choose(name("c"), num(1), num(2)), num(4)), &arena),
		"(c ? 1 : 2) * 4");
	assert_string_equal(tdm_expr_plain_text(op(TDM_EXPR_MIN, name("a"), num(8)), &arena), "min(a, 8)");
	assert_string_equal(tdm_expr_plain_text(op(TDM_EXPR_MULTIPLY, num(-1), num(2)), &arena), "(-1) * 2");
	const struct tdm_expr *tile = tdm_expr_of(
		&arena, (struct tdm_expr){ .op = TDM_EXPR_NUMBER, .number = 1, .text = tdm_str_of("TILE") });
	assert_string_equal(tdm_expr_plain_text(op(TDM_EXPR_EQUAL, name("layout"), tile), &arena), "layout == TILE");
	assert_string_equal(tdm_expr_plain_text(op(TDM_EXPR_ADD, tile, num(2)), &arena), "1 + 2");
}

static void expressions_that_grow_too_large_become_names(void **state)
{
	(void)state;
	const struct tdm_expr *deep = name("n");
	for (int i = 0; i < 1000; i++)
		deep = op(TDM_EXPR_ADD, deep, num(1));
	assert_true(deep->depth <= TDM_EXPR_DEPTH_MAX);
	const struct tdm_expr *wide = name("n");
	for (int i = 0; i < 60; i++)
		wide = op(TDM_EXPR_ADD, wide, wide);
	assert_true(wide->nodes <= TDM_EXPR_NODES_MAX);
	assert_true(strlen(tdm_expr_plain_text(wide, &arena)) < 100000);
}

static void objects_have_fields_that_can_be_replaced(void **state)
{
	(void)state;
	const struct tdm_expr *object = tdm_expr_make(&arena, TDM_EXPR_OBJECT, tdm_str_of("Box"), NULL, 0);
	object = tdm_expr_with_field(&arena, object, "size", num(1));
	const struct tdm_expr *changed = tdm_expr_with_field(&arena, object, "size", num(2));
	assert_value(tdm_expr_field(object, "size"), 1);
	assert_value(tdm_expr_field(changed, "size"), 2);
	assert_int_equal(changed->arg_count, 1);
	assert_null(tdm_expr_field(object, "weight"));
	assert_string_equal(tdm_expr_plain_text(changed, &arena), "Box{.size = 2}");
}

static void settings_are_read_or_refused(void **state)
{
	(void)state;
	struct tdm_settings settings = { 0 };
	struct tdm_diag diag = { 0 };
	assert_int_equal(tdm_settings_add(&settings, "a = 3", &diag), 0);
	assert_int_equal(tdm_settings_add(&settings, "b=0x10..32", &diag), 0);
	assert_int_equal(tdm_settings_add(&settings, "a=5", &diag), 0);
	assert_int_equal(tdm_settings_find(&settings, tdm_str_of("a"))->min, 5);
	assert_int_equal(tdm_settings_find(&settings, tdm_str_of("b"))->min, 16);
	assert_int_equal(tdm_settings_find(&settings, tdm_str_of("b"))->max, 32);
	assert_null(tdm_settings_find(&settings, tdm_str_of("c")));
	const char *const bad[] = { "", "a", "=3", "a=", "a=x", "a=1..", "a=..2", "a=9..3", "a=-1",
		"a=99999999999999999999" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		diag.text[0] = '\0';
		assert_int_equal(tdm_settings_add(&settings, bad[i], &diag), TDM_ESYNTAX);
		assert_true(diag.text[0] != '\0');
	}
	assert_int_equal(settings.count, 3);
	tdm_settings_done(&settings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(operators_compute_as_c_does, begin, end),
		cmocka_unit_test_setup_teardown(what_c_could_not_compute_is_unknown_with_the_reason, begin, end),
		cmocka_unit_test_setup_teardown(bounds_hold_for_every_value, begin, end),
		cmocka_unit_test_setup_teardown(random_values_lie_within_the_bounds, begin, end),
		cmocka_unit_test_setup_teardown(formats_have_sizes, begin, end),
		cmocka_unit_test_setup_teardown(texts_have_the_brackets_they_need, begin, end),
		cmocka_unit_test_setup_teardown(expressions_that_grow_too_large_become_names, begin, end),
		cmocka_unit_test_setup_teardown(objects_have_fields_that_can_be_replaced, begin, end),
		cmocka_unit_test(settings_are_read_or_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
