/*
 * Evaluates expressions as bounds: [min, max], where a missing bound is INT64_MIN or INT64_MAX. A number is the case
 * that both are the same. Each operator gets the bounds of its arguments and gives bounds that hold for all values in
 * them; a result that does not fit 64 bits, or a division by what may be zero, gives no bounds and a reason.
 */
#include <errno.h>

#include "base/number.h"
#include "scan/expr.h"

#define NO_MIN INT64_MIN
#define NO_MAX INT64_MAX

static const char *const not_known = "depends on what is not known";
static const char *const too_big = "does not fit 64 bits";
static const char *const by_zero = "divides by zero";

static struct tdm_bounds number(int64_t value)
{
	return (struct tdm_bounds){ value, value, NULL };
}

static struct tdm_bounds unknown(const char *reason)
{
	return (struct tdm_bounds){ NO_MIN, NO_MAX, reason };
}

static struct tdm_bounds between(int64_t min, int64_t max)
{
	if (min > max)
		return unknown(not_known);
	return (struct tdm_bounds){ min, max, min == max && min != NO_MIN && max != NO_MAX ? NULL : not_known };
}

/* The reason of a result that is not a number: that of an argument, if it has a better one than "not known". */
static const char *reason_of(struct tdm_bounds a, struct tdm_bounds b)
{
	if (a.reason != NULL && a.reason != not_known)
		return a.reason;
	return b.reason != NULL ? b.reason : a.reason;
}

static bool has_both(struct tdm_bounds a)
{
	return a.min != NO_MIN && a.max != NO_MAX;
}

/* Adds one bound; `none` when one of them is missing or the sum does not fit. */
static int64_t add_bound(int64_t a, int64_t b, int64_t none)
{
	int64_t sum;
	return a == none || b == none || __builtin_add_overflow(a, b, &sum) ? none : sum;
}

static struct tdm_bounds eval_add(struct tdm_bounds a, struct tdm_bounds b)
{
	if (tdm_bounds_is_number(a) && tdm_bounds_is_number(b)) {
		int64_t sum;
		return __builtin_add_overflow(a.min, b.min, &sum) ? unknown(too_big) : number(sum);
	}
	return between(add_bound(a.min, b.min, NO_MIN), add_bound(a.max, b.max, NO_MAX));
}

static struct tdm_bounds negated(struct tdm_bounds a)
{
	struct tdm_bounds result = a;
	result.min = a.max == NO_MAX ? NO_MIN : -a.max;
	result.max = a.min == NO_MIN ? NO_MAX : -a.min;
	return result;
}

/* The bounds of f(x, y) over the corners of two finite ranges, for operators that are monotone in each argument. */
static struct tdm_bounds over_corners(
	struct tdm_bounds a, struct tdm_bounds b, bool (*overflows)(int64_t x, int64_t y, int64_t *result))
{
	const int64_t corners[4][2] = { { a.min, b.min }, { a.min, b.max }, { a.max, b.min }, { a.max, b.max } };
	int64_t min = INT64_MAX, max = INT64_MIN;
	for (int i = 0; i < 4; i++) {
		int64_t value;
		if (overflows(corners[i][0], corners[i][1], &value))
			return unknown(too_big);
		min = value < min ? value : min;
		max = value > max ? value : max;
	}
	return between(min, max);
}

static bool times_overflows(int64_t x, int64_t y, int64_t *result)
{
	return __builtin_mul_overflow(x, y, result);
}

static struct tdm_bounds eval_multiply(struct tdm_bounds a, struct tdm_bounds b)
{
	bool are_numbers = a.reason == NULL && b.reason == NULL;
	if (are_numbers || (has_both(a) && has_both(b)))
		return over_corners(a, b, times_overflows);
	if (a.min < 0 || b.min < 0) /* also when one is missing */
		return unknown(not_known);
	int64_t min;
	return between(__builtin_mul_overflow(a.min, b.min, &min) ? NO_MIN : min, NO_MAX);
}

static bool quotient_overflows(int64_t x, int64_t y, int64_t *result)
{
	if (y == 0 || (x == INT64_MIN && y == -1))
		return true;
	*result = x / y;
	return false;
}

static struct tdm_bounds eval_divide(struct tdm_bounds a, struct tdm_bounds b)
{
	if (b.min == 0 && b.max == 0)
		return unknown(by_zero);
	if (b.min <= 0 && b.max >= 0) { /* the program divides, so what is not negative is at least 1 */
		if (b.min < 0)
			return unknown(not_known);
		b.min = 1;
	}
	if (has_both(a) && has_both(b))
		return over_corners(a, b, quotient_overflows);
	if (a.min < 0 || b.min < 0)
		return unknown(not_known);
	return between(b.max == NO_MAX ? 0 : a.min / b.max, a.max == NO_MAX ? NO_MAX : a.max / b.min);
}

static struct tdm_bounds eval_remainder(struct tdm_bounds a, struct tdm_bounds b)
{
	if (b.min == 0 && b.max == 0)
		return unknown(by_zero);
	if (tdm_bounds_is_number(a) && tdm_bounds_is_number(b) && !(a.min == INT64_MIN && b.min == -1))
		return number(a.min % b.min);
	if (a.min < 0 || b.min < 0)
		return unknown(not_known);
	int64_t most = b.max == NO_MAX ? NO_MAX : b.max - 1;
	return between(0, a.max < most ? a.max : most);
}

/* (a + b - 1) / b * b and its relatives, for what is not negative. */
static struct tdm_bounds eval_divide_up(struct tdm_bounds a, struct tdm_bounds b)
{
	if (b.min == 0 && b.max == 0)
		return unknown(by_zero);
	return eval_divide(eval_add(a, eval_add(b, number(-1))), b);
}

static int64_t round_to(int64_t value, int64_t step, bool up)
{
	int64_t rest = value % step, more;
	if (rest == 0 || !up)
		return value - rest;
	return __builtin_add_overflow(value, step - rest, &more) ? NO_MAX : more;
}

static struct tdm_bounds eval_round(struct tdm_bounds a, struct tdm_bounds b, bool up)
{
	if (b.min == 0 && b.max == 0)
		return unknown(by_zero);
	if (a.min < 0 || b.min < 0)
		return unknown(not_known);
	if (!tdm_bounds_is_number(b) || b.min == NO_MIN) { /* not below the value, or not above it */
		int64_t most = a.max == NO_MAX || b.max == NO_MAX ? NO_MAX : add_bound(a.max, b.max, NO_MAX);
		return up ? between(a.min, most) : between(0, a.max);
	}
	int64_t max = a.max == NO_MAX ? NO_MAX : round_to(a.max, b.min, up);
	if (max == NO_MAX && tdm_bounds_is_number(a))
		return unknown(too_big);
	return between(round_to(a.min, b.min, up), max);
}

static struct tdm_bounds eval_shift(struct tdm_bounds a, struct tdm_bounds b, bool left)
{
	if (!tdm_bounds_is_number(b) || b.min < 0 || b.min > 62)
		return unknown(tdm_bounds_is_number(b) ? too_big : not_known);
	struct tdm_bounds power = number(INT64_C(1) << b.min);
	if (left)
		return eval_multiply(a, power);
	return a.min < 0 ? unknown(not_known) : eval_divide(a, power);
}

static struct tdm_bounds eval_bits(uint8_t op, struct tdm_bounds a, struct tdm_bounds b)
{
	if (tdm_bounds_is_number(a) && tdm_bounds_is_number(b))
		return number(op == TDM_EXPR_BIT_AND  ? a.min & b.min
			      : op == TDM_EXPR_BIT_OR ? a.min | b.min
						      : a.min ^ b.min);
	if (op == TDM_EXPR_BIT_AND && a.min >= 0 && b.min >= 0)
		return between(0, a.max < b.max ? a.max : b.max);
	return unknown(not_known);
}

static struct tdm_bounds truth(bool can_be_false, bool can_be_true)
{
	return between(!can_be_false, can_be_true);
}

static struct tdm_bounds eval_compare(uint8_t op, struct tdm_bounds a, struct tdm_bounds b)
{
	bool may_be_equal = a.min <= b.max && b.min <= a.max;
	bool is_equal = tdm_bounds_is_number(a) && tdm_bounds_is_number(b) && a.min == b.min;
	switch (op) {
	case TDM_EXPR_LESS:
		return truth(!(a.max < b.min), a.min < b.max);
	case TDM_EXPR_LESS_EQUAL:
		return truth(!(a.max <= b.min), a.min <= b.max);
	case TDM_EXPR_GREATER:
		return truth(!(b.max < a.min), b.min < a.max);
	case TDM_EXPR_GREATER_EQUAL:
		return truth(!(b.max <= a.min), b.min <= a.max);
	case TDM_EXPR_EQUAL:
		return truth(!is_equal, may_be_equal);
	default:
		return truth(may_be_equal, !is_equal);
	}
}

/* 0: false, 1: true, -1: it depends. */
static int truth_of(struct tdm_bounds a)
{
	if (a.min == 0 && a.max == 0)
		return 0;
	return a.min > 0 || a.max < 0 ? 1 : -1;
}

static struct tdm_bounds eval_logic(uint8_t op, struct tdm_bounds a, struct tdm_bounds b)
{
	int x = truth_of(a), y = truth_of(b), deciding = op == TDM_EXPR_OR;
	if (x == deciding || y == deciding)
		return number(deciding);
	return x == -1 || y == -1 ? truth(true, true) : number(!deciding);
}

static struct tdm_bounds either(struct tdm_bounds a, struct tdm_bounds b)
{
	return between(a.min < b.min ? a.min : b.min, a.max > b.max ? a.max : b.max);
}

/* The bounds of a format's size when the format is not known. */
static struct tdm_bounds any_format(bool of_tile)
{
	int64_t min = INT64_MAX, max = 0;
	for (size_t i = 0; i < tdm_data_format_count; i++) {
		const struct tdm_data_format *format = &tdm_data_formats[i];
		int64_t bytes = of_tile ? (int64_t)format->tile_bytes : (format->datum_bits + 7) / 8;
		if (bytes == 0)
			continue;
		min = bytes < min ? bytes : min;
		max = bytes > max ? bytes : max;
	}
	return between(min, max);
}

static struct tdm_bounds eval_format_size(
	const struct tdm_expr *format, bool of_tile, const struct tdm_settings *settings)
{
	if (format->op == TDM_EXPR_FORMAT) {
		int64_t bytes = of_tile ? (int64_t)format->format->tile_bytes : (format->format->datum_bits + 7) / 8;
		return bytes != 0 ? number(bytes) : unknown("the format has no tiles");
	}
	if (format->op == TDM_EXPR_CHOOSE) {
		int which = truth_of(tdm_expr_eval(format->args[0], settings));
		if (which >= 0)
			return eval_format_size(format->args[which == 1 ? 1 : 2], of_tile, settings);
		return either(eval_format_size(format->args[1], of_tile, settings),
			eval_format_size(format->args[2], of_tile, settings));
	}
	return any_format(of_tile);
}

static struct tdm_bounds eval_binary(uint8_t op, struct tdm_bounds a, struct tdm_bounds b)
{
	switch (op) {
	case TDM_EXPR_ADD:
		return eval_add(a, b);
	case TDM_EXPR_SUBTRACT:
		return b.min == INT64_MIN && tdm_bounds_is_number(b) ? unknown(too_big) : eval_add(a, negated(b));
	case TDM_EXPR_MULTIPLY:
		return eval_multiply(a, b);
	case TDM_EXPR_DIVIDE:
		return eval_divide(a, b);
	case TDM_EXPR_REMAINDER:
		return eval_remainder(a, b);
	case TDM_EXPR_SHIFT_LEFT:
		return eval_shift(a, b, true);
	case TDM_EXPR_SHIFT_RIGHT:
		return eval_shift(a, b, false);
	case TDM_EXPR_BIT_AND:
	case TDM_EXPR_BIT_OR:
	case TDM_EXPR_BIT_XOR:
		return eval_bits(op, a, b);
	case TDM_EXPR_AND:
	case TDM_EXPR_OR:
		return eval_logic(op, a, b);
	case TDM_EXPR_MIN:
		return between(a.min < b.min ? a.min : b.min, a.max < b.max ? a.max : b.max);
	case TDM_EXPR_MAX:
		return between(a.min > b.min ? a.min : b.min, a.max > b.max ? a.max : b.max);
	case TDM_EXPR_DIVIDE_UP:
		return eval_divide_up(a, b);
	case TDM_EXPR_ROUND_UP:
		return eval_round(a, b, true);
	case TDM_EXPR_ROUND_DOWN:
		return eval_round(a, b, false);
	default:
		return eval_compare(op, a, b);
	}
}

static struct tdm_bounds eval_choose(const struct tdm_expr *expr, const struct tdm_settings *settings)
{
	int which = truth_of(tdm_expr_eval(expr->args[0], settings));
	if (which >= 0)
		return tdm_expr_eval(expr->args[which == 1 ? 1 : 2], settings);
	return either(tdm_expr_eval(expr->args[1], settings), tdm_expr_eval(expr->args[2], settings));
}

static struct tdm_bounds eval_unary(uint8_t op, struct tdm_bounds a)
{
	if (op == TDM_EXPR_NOT)
		return truth_of(a) < 0 ? truth(true, true) : number(truth_of(a) == 0);
	if (op == TDM_EXPR_BIT_NOT)
		return tdm_bounds_is_number(a) ? number(~a.min) : unknown(not_known);
	return tdm_bounds_is_number(a) && a.min == INT64_MIN ? unknown(too_big) : negated(a);
}

static struct tdm_bounds eval_name(const struct tdm_expr *expr, const struct tdm_settings *settings)
{
	const struct tdm_setting *setting = settings != NULL ? tdm_settings_find(settings, expr->text) : NULL;
	return setting != NULL ? between(setting->min, setting->max) : between(0, NO_MAX);
}

static bool is_format_choice(const struct tdm_expr *expr)
{
	return expr->op == TDM_EXPR_FORMAT ||
	       (expr->op == TDM_EXPR_CHOOSE && is_format_choice(expr->args[1]) && is_format_choice(expr->args[2]));
}

/* Formats are compared by what they are. */
static struct tdm_bounds eval_format_compare(const struct tdm_expr *expr)
{
	const struct tdm_expr *a = expr->args[0], *b = expr->args[1];
	bool is_decided = a->op == TDM_EXPR_FORMAT && b->op == TDM_EXPR_FORMAT;
	if (!is_decided)
		return truth(true, true);
	return number((a->format == b->format) == (expr->op == TDM_EXPR_EQUAL));
}

static struct tdm_bounds eval_operator(const struct tdm_expr *expr, const struct tdm_settings *settings)
{
	if (expr->op == TDM_EXPR_CHOOSE)
		return eval_choose(expr, settings);
	if (expr->op == TDM_EXPR_TILE_SIZE || expr->op == TDM_EXPR_DATUM_SIZE)
		return eval_format_size(expr->args[0], expr->op == TDM_EXPR_TILE_SIZE, settings);
	bool is_equality = expr->op == TDM_EXPR_EQUAL || expr->op == TDM_EXPR_NOT_EQUAL;
	if (is_equality && (is_format_choice(expr->args[0]) || is_format_choice(expr->args[1])))
		return eval_format_compare(expr);
	struct tdm_bounds a = tdm_expr_eval(expr->args[0], settings);
	if (expr->arg_count == 1)
		return eval_unary(expr->op, a);
	struct tdm_bounds b = tdm_expr_eval(expr->args[1], settings);
	struct tdm_bounds result = eval_binary(expr->op, a, b);
	if (result.reason == not_known && reason_of(a, b) != NULL)
		result.reason = reason_of(a, b);
	return result;
}

struct tdm_bounds tdm_expr_eval(const struct tdm_expr *expr, const struct tdm_settings *settings)
{
	switch (expr->op) {
	case TDM_EXPR_NUMBER:
		return number(expr->number);
	case TDM_EXPR_NAME:
		return eval_name(expr, settings);
	case TDM_EXPR_CALL:
		return between(0, NO_MAX);
	case TDM_EXPR_NOTHING:
	case TDM_EXPR_STRING:
	case TDM_EXPR_FORMAT:
	case TDM_EXPR_LIST:
	case TDM_EXPR_FIELD:
	case TDM_EXPR_OBJECT:
	case TDM_EXPR_OPAQUE:
		return unknown("is no number");
	default:
		return eval_operator(expr, settings);
	}
}

int tdm_expr_value(const struct tdm_expr *expr, const struct tdm_settings *settings, int64_t *value)
{
	struct tdm_bounds bounds = tdm_expr_eval(expr, settings);
	if (!tdm_bounds_is_number(bounds) || bounds.reason != NULL)
		return -EDOM;
	*value = bounds.min;
	return 0;
}
