/*
 * Creates and compares expressions, evaluates them to bounds, writes them as text, and simplifies them under decided
 * conditions.
 */
#include "scan/interp/expr.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/pattern.h"

enum { CALL = 0, LOOSEST = 1 }; /* how tightly operators bind */

static const struct operator
{
	uint32_t arg_count;
	const char *text;
	int tightness; /* CALL: written as a call */
}
operators[] = {
#define X(id, count, text, tightness) { count, text, tightness },
	TDM_EXPR_OPERATORS(X)
#undef X
};

/* ---- making and comparing ---- */

const struct tdm_str tdm_no_text = { "", 0 };
const struct tdm_expr tdm_expr_nothing = { .op = TDM_EXPR_NOTHING, .nodes = 1 };

const struct tdm_expr *tdm_expr_of(struct tdm_arena *arena, struct tdm_expr value)
{
	struct tdm_expr *expr = tdm_arena_take(arena, sizeof *expr);
	*expr = value;
	expr->nodes += value.nodes == 0;
	return expr;
}

const struct tdm_expr *tdm_expr_number(struct tdm_arena *arena, int64_t number)
{
	return tdm_expr_of(arena, (struct tdm_expr){ .op = TDM_EXPR_NUMBER, .number = number });
}

const struct tdm_expr *tdm_expr_name(struct tdm_arena *arena, struct tdm_str text, bool is_parameter)
{
	return tdm_expr_of(arena, (struct tdm_expr){ .op = TDM_EXPR_NAME, .is_parameter = is_parameter, .text = text });
}

const struct tdm_expr *tdm_expr_make(struct tdm_arena *arena, enum tdm_expr_op op, struct tdm_str text,
	const struct tdm_expr *const *args, uint32_t arg_count)
{
	struct tdm_expr expr = { .op = (uint8_t)op, .nodes = 1, .text = text, .arg_count = arg_count };
	uint64_t nodes = 1;
	for (uint32_t i = 0; i < arg_count; i++) {
		nodes += args[i]->nodes;
		expr.is_parameter |= args[i]->is_parameter;
		if (args[i]->depth >= expr.depth)
			expr.depth = (uint16_t)(args[i]->depth + 1);
	}
	if (nodes > TDM_EXPR_NODES_MAX || expr.depth > TDM_EXPR_DEPTH_MAX) {
		text = text.len != 0 ? text : tdm_str_of("an expression that is too long");
		return tdm_expr_name(arena, text, expr.is_parameter);
	}
	expr.nodes = (uint32_t)nodes;
	expr.args = tdm_arena_take(arena, sizeof *expr.args * arg_count);
	for (uint32_t i = 0; i < arg_count; i++)
		expr.args[i] = args[i];
	return tdm_expr_of(arena, expr);
}

const struct tdm_expr *tdm_expr_binary(
	struct tdm_arena *arena, enum tdm_expr_op op, const struct tdm_expr *a, const struct tdm_expr *b)
{
	return tdm_expr_make(arena, op, tdm_no_text, (const struct tdm_expr *[]){ a, b }, 2);
}

const struct tdm_expr *tdm_expr_unary(struct tdm_arena *arena, enum tdm_expr_op op, const struct tdm_expr *a)
{
	return tdm_expr_make(arena, op, tdm_no_text, &a, 1);
}

const struct tdm_expr *tdm_expr_choose(
	struct tdm_arena *arena, const struct tdm_expr *condition, const struct tdm_expr *a, const struct tdm_expr *b)
{
	return tdm_expr_make(arena, TDM_EXPR_CHOOSE, tdm_no_text, (const struct tdm_expr *[]){ condition, a, b }, 3);
}

const struct tdm_expr *tdm_expr_list(struct tdm_arena *arena, const struct tdm_expr *const *items, uint32_t count)
{
	return tdm_expr_make(arena, TDM_EXPR_LIST, tdm_no_text, items, count);
}

enum tdm_expr_op tdm_expr_operator(struct tdm_str token, uint32_t arg_count)
{
	static const char *const words[][2] = { { "and", "&&" }, { "or", "||" }, { "not", "!" }, { "is", "==" },
		{ "is not", "!=" }, { "//", "/" } };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (tdm_str_is(token, words[i][0]))
			token = tdm_str_of(words[i][1]);
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
		if (operators[i].arg_count == arg_count && operators[i].tightness != CALL &&
			tdm_str_is(token, operators[i].text))
			return (enum tdm_expr_op)(TDM_EXPR_ADD + i);
	return TDM_EXPR_NOTHING;
}

const struct tdm_expr *tdm_expr_field_str(const struct tdm_expr *object, struct tdm_str name)
{
	for (uint32_t i = 0; object != NULL && object->op == TDM_EXPR_OBJECT && i < object->arg_count; i++)
		if (object->args[i]->op == TDM_EXPR_FIELD && tdm_str_eq(object->args[i]->text, name))
			return object->args[i]->args[0];
	return NULL;
}

const struct tdm_expr *tdm_expr_field(const struct tdm_expr *object, const char *name)
{
	return tdm_expr_field_str(object, tdm_str_of(name));
}

const struct tdm_expr *tdm_expr_with_field(
	struct tdm_arena *arena, const struct tdm_expr *object, const char *name, const struct tdm_expr *value)
{
	const struct tdm_expr **args = tdm_arena_take(arena, sizeof *args * ((size_t)object->arg_count + 1));
	uint32_t count = 0;
	for (uint32_t i = 0; i < object->arg_count; i++)
		if (!tdm_str_is(object->args[i]->text, name))
			args[count++] = object->args[i];
	args[count++] = tdm_expr_make(arena, TDM_EXPR_FIELD, tdm_str_of(name), &value, 1);
	struct tdm_expr made = *tdm_expr_make(arena, TDM_EXPR_OBJECT, object->text, args, count);
	made.opaque = made.op == TDM_EXPR_OBJECT ? object->opaque : NULL;
	return tdm_expr_of(arena, made);
}

bool tdm_expr_has_unknown(const struct tdm_expr *expr)
{
	if (expr->op == TDM_EXPR_NAME || expr->op == TDM_EXPR_CALL || expr->op == TDM_EXPR_NOTHING)
		return true;
	for (uint32_t i = 0; i < expr->arg_count; i++)
		if (tdm_expr_has_unknown(expr->args[i]))
			return true;
	return false;
}

bool tdm_expr_is_same(const struct tdm_expr *a, const struct tdm_expr *b)
{
	if (a == b)
		return true;
	bool is_alike = a->op == b->op && a->number == b->number && a->format == b->format && a->nodes == b->nodes &&
			a->arg_count == b->arg_count && tdm_str_eq(a->text, b->text) && a->op != TDM_EXPR_OPAQUE;
	for (uint32_t i = 0; i < a->arg_count && is_alike; i++)
		is_alike = tdm_expr_is_same(a->args[i], b->args[i]);
	return is_alike;
}

/*
 * ---- evaluating ----  Expressions are evaluated as bounds: [min, max], where a missing bound is INT64_MIN or
 * INT64_MAX. A number has equal bounds.
 *
 * From the bounds of its arguments, each operator computes bounds that hold for all values in between. If the result
 * does not fit into 64 bits, or a divisor may be zero, the result has a reason instead of bounds.
 */
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

static struct tdm_bounds truth(bool can_be_false, bool can_be_true)
{
	return between(!can_be_false, can_be_true);
}

/* 0 for false, 1 for true, -1 if undecided. */
static int truth_of(struct tdm_bounds a)
{
	if (a.min == 0 && a.max == 0)
		return 0;
	return a.min > 0 || a.max < 0 ? 1 : -1;
}

/* Why a result is not a number: an argument's reason, preferably other than "not known". */
static const char *reason_of(struct tdm_bounds a, struct tdm_bounds b)
{
	if (a.reason != NULL && a.reason != not_known)
		return a.reason;
	return b.reason != NULL ? b.reason : a.reason;
}

/* Adds two bounds; `none` if a bound is missing or the sum does not fit into 64 bits. */
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

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The bounds of x * y or x / y over the corners of two finite ranges. */
static struct tdm_bounds over_corners(struct tdm_bounds a, struct tdm_bounds b, bool divides)
{
	int64_t min = INT64_MAX, max = INT64_MIN;
	for (int i = 0; i < 4; i++) {
		int64_t x = i < 2 ? a.min : a.max, y = i % 2 == 0 ? b.min : b.max, value = 0;
		if (divides ? y == 0 || (x == INT64_MIN && y == -1) : __builtin_mul_overflow(x, y, &value))
			return unknown(too_big);
		value = divides ? x / y : value;
		min = smaller(value, min);
		max = tdm_max_signed(value, max);
	}
	return between(min, max);
}

static bool are_finite(struct tdm_bounds a, struct tdm_bounds b)
{
	return a.min != NO_MIN && a.max != NO_MAX && b.min != NO_MIN && b.max != NO_MAX;
}

static struct tdm_bounds eval_multiply(struct tdm_bounds a, struct tdm_bounds b)
{
	if ((a.reason == NULL && b.reason == NULL) || are_finite(a, b))
		return over_corners(a, b, false);
	if (a.min < 0 || b.min < 0) /* or a bound is missing */
		return unknown(not_known);
	int64_t min;
	return between(__builtin_mul_overflow(a.min, b.min, &min) ? NO_MIN : min, NO_MAX);
}

static struct tdm_bounds eval_divide(struct tdm_bounds a, struct tdm_bounds b)
{
	if (b.min == 0 && b.max == 0)
		return unknown(by_zero);
	if (b.min <= 0 && b.max >= 0) { /* the program divides by the value, so the value is not 0 */
		if (b.min < 0)
			return unknown(not_known);
		b.min = 1;
	}
	if (are_finite(a, b))
		return over_corners(a, b, true);
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
	return between(0, smaller(a.max, b.max == NO_MAX ? NO_MAX : b.max - 1));
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
	if (!tdm_bounds_is_number(b) ||
		b.min == NO_MIN) { /* rounding up never lowers the value; rounding down never raises it */
		int64_t most = a.max == NO_MAX || b.max == NO_MAX ? NO_MAX : add_bound(a.max, b.max, NO_MAX);
		return up ? between(a.min, most) : between(0, a.max);
	}
	int64_t max = a.max == NO_MAX ? NO_MAX : round_to(a.max, b.min, up);
	if (max == NO_MAX && tdm_bounds_is_number(a))
		return unknown(too_big);
	return between(round_to(a.min, b.min, up), max);
}

static int64_t format_bytes(const struct tdm_data_format *format, bool of_tile)
{
	return of_tile ? (int64_t)format->tile_bytes : (format->datum_bits + 7) / 8;
}

static struct tdm_bounds eval_format_size(
	const struct tdm_expr *format, bool of_tile, const struct tdm_settings *settings)
{
	if (format->op == TDM_EXPR_FORMAT) {
		int64_t bytes = format_bytes(format->format, of_tile);
		return bytes != 0 ? number(bytes) : unknown("the format has no tiles");
	}
	if (format->op == TDM_EXPR_CHOOSE) {
		int which = truth_of(tdm_expr_eval(format->args[0], settings));
		struct tdm_bounds a = eval_format_size(format->args[which == 0 ? 2 : 1], of_tile, settings);
		struct tdm_bounds b = which < 0 ? eval_format_size(format->args[2], of_tile, settings) : a;
		return which < 0 ? between(smaller(a.min, b.min), tdm_max_signed(a.max, b.max)) : a;
	}
	int64_t min = INT64_MAX, max = 0; /* sizes of all formats */
	for (size_t i = 0; i < tdm_data_format_count; i++) {
		int64_t bytes = format_bytes(&tdm_data_formats[i], of_tile);
		min = bytes != 0 ? smaller(bytes, min) : min;
		max = tdm_max_signed(bytes, max);
	}
	return between(min, max);
}

static struct tdm_bounds eval_binary(uint8_t op, struct tdm_bounds a, struct tdm_bounds b)
{
	bool are_numbers = tdm_bounds_is_number(a) && tdm_bounds_is_number(b);
	bool may_be_equal = a.min <= b.max && b.min <= a.max, is_equal = are_numbers && a.min == b.min;
	int x = truth_of(a), y = truth_of(b), deciding = op == TDM_EXPR_OR;
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
	case TDM_EXPR_SHIFT_RIGHT:
		if (!tdm_bounds_is_number(b) || b.min < 0 || b.min > 62)
			return unknown(tdm_bounds_is_number(b) ? too_big : not_known);
		b = number(INT64_C(1) << b.min);
		if (op == TDM_EXPR_SHIFT_LEFT)
			return eval_multiply(a, b);
		return a.min < 0 ? unknown(not_known) : eval_divide(a, b);
	case TDM_EXPR_BIT_AND:
		if (!are_numbers && a.min >= 0 && b.min >= 0)
			return between(0, smaller(a.max, b.max));
		return are_numbers ? number(a.min & b.min) : unknown(not_known);
	case TDM_EXPR_BIT_OR:
		return are_numbers ? number(a.min | b.min) : unknown(not_known);
	case TDM_EXPR_BIT_XOR:
		return are_numbers ? number(a.min ^ b.min) : unknown(not_known);
	case TDM_EXPR_AND:
	case TDM_EXPR_OR:
		if (x == deciding || y == deciding)
			return number(deciding);
		return x == -1 || y == -1 ? truth(true, true) : number(!deciding);
	case TDM_EXPR_MIN:
		return between(smaller(a.min, b.min), smaller(a.max, b.max));
	case TDM_EXPR_MAX:
		return between(tdm_max_signed(a.min, b.min), tdm_max_signed(a.max, b.max));
	case TDM_EXPR_DIVIDE_UP: /* (a + b - 1) / b and the like, for non-negative numbers */
		if (b.min == 0 && b.max == 0)
			return unknown(by_zero);
		return eval_divide(eval_add(a, eval_add(b, number(-1))), b);
	case TDM_EXPR_ROUND_UP:
	case TDM_EXPR_ROUND_DOWN:
		return eval_round(a, b, op == TDM_EXPR_ROUND_UP);
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

static bool is_format_choice(const struct tdm_expr *expr)
{
	return expr->op == TDM_EXPR_FORMAT ||
	       (expr->op == TDM_EXPR_CHOOSE && is_format_choice(expr->args[1]) && is_format_choice(expr->args[2]));
}

static struct tdm_bounds eval_operator(const struct tdm_expr *expr, const struct tdm_settings *settings)
{
	const struct tdm_expr *first = expr->args[0], *second = expr->arg_count > 1 ? expr->args[1] : NULL;
	bool is_equality = expr->op == TDM_EXPR_EQUAL || expr->op == TDM_EXPR_NOT_EQUAL;
	if (expr->op == TDM_EXPR_TILE_SIZE || expr->op == TDM_EXPR_DATUM_SIZE)
		return eval_format_size(first, expr->op == TDM_EXPR_TILE_SIZE, settings);
	if (is_equality && (is_format_choice(first) || is_format_choice(second))) /* formats are compared by identity */
		return first->op == TDM_EXPR_FORMAT && second->op == TDM_EXPR_FORMAT
			       ? number((first->format == second->format) == (expr->op == TDM_EXPR_EQUAL))
			       : truth(true, true);
	struct tdm_bounds a = tdm_expr_eval(first, settings);
	int which = truth_of(a);
	switch (expr->op) {
	case TDM_EXPR_CHOOSE:
		if (which >= 0)
			return tdm_expr_eval(expr->args[which == 1 ? 1 : 2], settings);
		struct tdm_bounds yes = tdm_expr_eval(second, settings), no = tdm_expr_eval(expr->args[2], settings);
		return between(smaller(yes.min, no.min), tdm_max_signed(yes.max, no.max));
	case TDM_EXPR_NOT:
		return which < 0 ? truth(true, true) : number(which == 0);
	case TDM_EXPR_BIT_NOT:
		return tdm_bounds_is_number(a) ? number(~a.min) : unknown(not_known);
	case TDM_EXPR_NEGATE:
		return tdm_bounds_is_number(a) && a.min == INT64_MIN ? unknown(too_big) : negated(a);
	default:
		break;
	}
	struct tdm_bounds b = tdm_expr_eval(second, settings);
	struct tdm_bounds result = eval_binary(expr->op, a, b);
	if (result.reason == not_known && reason_of(a, b) != NULL)
		result.reason = reason_of(a, b);
	return result;
}

struct tdm_bounds tdm_expr_eval(const struct tdm_expr *expr, const struct tdm_settings *settings)
{
	const struct tdm_setting *setting;
	if (expr->op >= TDM_EXPR_ADD)
		return eval_operator(expr, settings);
	if (expr->op == TDM_EXPR_NUMBER)
		return number(expr->number);
	if (expr->op != TDM_EXPR_NAME && expr->op != TDM_EXPR_CALL)
		return unknown("is no number");
	setting = expr->op == TDM_EXPR_NAME && settings != NULL ? tdm_settings_find(settings, expr->text) : NULL;
	return setting != NULL ? between(setting->min, setting->max) : between(0, NO_MAX);
}

int tdm_expr_value(const struct tdm_expr *expr, const struct tdm_settings *settings, int64_t *value)
{
	struct tdm_bounds bounds = tdm_expr_eval(expr, settings);
	if (!tdm_bounds_is_number(bounds) || bounds.reason != NULL)
		return -EDOM;
	*value = bounds.min;
	return 0;
}

/* ---- writing: as text, with only the brackets that C needs ---- */

static void print_in(const struct tdm_expr *expr, int around, struct tdm_buf *out);

static void print_list(const struct tdm_expr *expr, struct tdm_str name, char open, char close, struct tdm_buf *out)
{
	tdm_buf_printf(out, "%.*s%c", TDM_STR_ARG(name), open);
	for (uint32_t i = 0; i < expr->arg_count; i++) {
		tdm_buf_puts(out, i == 0 ? "" : ", ");
		print_in(expr->args[i], LOOSEST, out);
	}
	tdm_buf_putc(out, close);
}

static void print_operator(const struct tdm_expr *expr, const struct operator* op, int around, struct tdm_buf *out)
{
	bool needs_brackets = op->tightness < around;
	bool is_comparison = expr->op == TDM_EXPR_EQUAL || expr->op == TDM_EXPR_NOT_EQUAL;
	tdm_buf_puts(out, needs_brackets ? "(" : "");
	if (expr->op == TDM_EXPR_CHOOSE) {
		print_in(expr->args[0], op->tightness + 1, out);
		tdm_buf_puts(out, " ? ");
		print_in(expr->args[1], op->tightness + 1, out);
		tdm_buf_puts(out, " : ");
		print_in(expr->args[2], op->tightness, out);
	} else if (expr->arg_count == 1) {
		tdm_buf_puts(out, op->text);
		print_in(expr->args[0], op->tightness + 1, out); /* never "--" */
	} else {
		for (uint32_t i = 0; i < 2; i++) {
			const struct tdm_expr *arg = expr->args[i];
			if (i == 1)
				tdm_buf_printf(out, " %s ", op->text);
			/* In a comparison, a number is shown by name if it has a name. */
			if (is_comparison && arg->op == TDM_EXPR_NUMBER && arg->text.len != 0)
				tdm_buf_add(out, arg->text.ptr, arg->text.len);
			else
				print_in(arg, op->tightness + (int)i, out);
		}
	}
	tdm_buf_puts(out, needs_brackets ? ")" : "");
}

static void print_in(const struct tdm_expr *expr, int around, struct tdm_buf *out)
{
	const struct operator* op = & operators[expr->op >= TDM_EXPR_ADD ? expr->op - TDM_EXPR_ADD : 0];
	switch (expr->op) {
	case TDM_EXPR_NOTHING:
	case TDM_EXPR_OPAQUE:
		tdm_buf_puts(out, "?");
		break;
	case TDM_EXPR_NUMBER:
		tdm_buf_printf(out, expr->number < 0 && around > LOOSEST ? "(%" PRId64 ")" : "%" PRId64, expr->number);
		break;
	case TDM_EXPR_NAME:
		tdm_buf_add(out, expr->text.ptr, expr->text.len);
		break;
	case TDM_EXPR_STRING:
		tdm_buf_printf(out, "\"%.*s\"", TDM_STR_ARG(expr->text));
		break;
	case TDM_EXPR_FORMAT:
		tdm_buf_puts(out, expr->format->name);
		break;
	case TDM_EXPR_FIELD:
		tdm_buf_printf(out, ".%.*s = ", TDM_STR_ARG(expr->text));
		print_in(expr->args[0], LOOSEST, out);
		break;
	case TDM_EXPR_LIST:
	case TDM_EXPR_OBJECT:
		print_list(expr, expr->op == TDM_EXPR_OBJECT ? expr->text : tdm_no_text, '{', '}', out);
		break;
	case TDM_EXPR_CALL:
		print_list(expr, expr->text, '(', ')', out);
		break;
	default:
		if (op->tightness == CALL)
			print_list(expr, tdm_str_of(op->text), '(', ')', out);
		else
			print_operator(expr, op, around, out);
		break;
	}
}

void tdm_expr_print(const struct tdm_expr *expr, struct tdm_buf *out)
{
	print_in(expr, LOOSEST, out);
}

const char *tdm_expr_plain_text(const struct tdm_expr *expr, struct tdm_arena *arena)
{
	struct tdm_buf buf = { 0 };
	if (expr == NULL || expr->op == TDM_EXPR_NOTHING)
		return "";
	if (expr->op == TDM_EXPR_STRING || expr->op == TDM_EXPR_NAME)
		return tdm_arena_text(arena, expr->text);
	tdm_expr_print(expr, &buf);
	return tdm_arena_buf(arena, &buf).ptr;
}

/* ---- settings ---- */

#define NUMBER_MAX (INT64_MAX - 1) /* INT64_MAX means "no bound" */

static struct tdm_str before(struct tdm_str text, const char *mark, struct tdm_str *after)
{
	const char *at = text.len != 0 ? memmem(text.ptr, text.len, mark, strlen(mark)) : NULL;
	if (at == NULL) {
		*after = (struct tdm_str){ NULL, 0 };
		return text;
	}
	size_t len = (size_t)(at - text.ptr), skip = len + strlen(mark);
	*after = tdm_str_trim((struct tdm_str){ text.ptr + skip, text.len - skip });
	return tdm_str_trim((struct tdm_str){ text.ptr, len });
}

static bool read_number(struct tdm_str text, int64_t *number)
{
	uint64_t value;
	if (!tdm_pattern_number(text, &value) || value > (uint64_t)NUMBER_MAX)
		return false;
	*number = (int64_t)value;
	return true;
}

int tdm_settings_add(struct tdm_settings *settings, const char *text, struct tdm_diag *diag)
{
	struct tdm_str value, upper;
	struct tdm_setting setting = { .name = before(tdm_str_of(text), "=", &value) };
	if (value.ptr == NULL || setting.name.len == 0)
		return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "\"%s\" is not NAME=NUMBER or NAME=FROM..TO", text);
	struct tdm_str lower = before(value, "..", &upper);
	bool is_read = read_number(lower, &setting.min) && (upper.ptr == NULL || read_number(upper, &setting.max));
	if (!is_read)
		return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0,
			"\"%s\" is not a number from 0 to %" PRId64 ", or two as in 1..64", value.ptr, NUMBER_MAX);
	setting.max = upper.ptr == NULL ? setting.min : setting.max;
	if (setting.min > setting.max)
		return tdm_diag_set(diag, TDM_ESYNTAX, 0, 0, "the range of %s ends before it begins", text);
	tdm_grow(&settings->list, &settings->cap, settings->count + 1, sizeof *settings->list);
	settings->list[settings->count++] = setting;
	return 0;
}

void tdm_settings_done(struct tdm_settings *settings)
{
	free(settings->list);
	*settings = (struct tdm_settings){ 0 };
}

const struct tdm_setting *tdm_settings_find(const struct tdm_settings *settings, struct tdm_str name)
{
	for (size_t i = settings->count; i > 0; i--)
		if (tdm_str_eq(settings->list[i - 1].name, name))
			return &settings->list[i - 1];
	return NULL;
}

/* ---- ways: a decided condition selects one case of each choice that depends on the condition ---- */

/* Strips each "!" from a condition, flipping *is_true. */
static const struct tdm_expr *plain(const struct tdm_expr *condition, bool *is_true)
{
	while (condition->op == TDM_EXPR_NOT) {
		condition = condition->args[0];
		*is_true = !*is_true;
	}
	return condition;
}

void tdm_way_add(struct tdm_way *way, const struct tdm_expr *condition, bool is_true)
{
	condition = plain(condition, &is_true);
	if (way->count == TDM_WAY_MAX)
		return;
	way->conditions[way->count] = condition;
	way->is_true[way->count++] = is_true;
	if (condition->op == (is_true ? TDM_EXPR_AND : TDM_EXPR_OR)) { /* so both operands are decided */
		tdm_way_add(way, condition->args[0], is_true);
		tdm_way_add(way, condition->args[1], is_true);
	}
}

const struct tdm_expr *tdm_way_choice(const struct tdm_way *way, const struct tdm_expr *choice)
{
	bool is_true = true;
	const struct tdm_expr *condition = plain(choice->args[0], &is_true);
	for (size_t i = 0; i < way->count; i++)
		if (tdm_expr_is_same(way->conditions[i], condition))
			return choice->args[way->is_true[i] == is_true ? 1 : 2];
	return NULL;
}

const struct tdm_expr *tdm_way_take(const struct tdm_way *way, const struct tdm_expr *expr, struct tdm_arena *arena)
{
	const struct tdm_expr *taken;
	while (expr->op == TDM_EXPR_CHOOSE && (taken = tdm_way_choice(way, expr)) != NULL)
		expr = taken;
	bool has_changed = false;
	if (expr->arg_count == 0 || expr->opaque != NULL || way->count == 0)
		return expr;
	const struct tdm_expr **args = tdm_arena_take(arena, sizeof *args * expr->arg_count);
	for (uint32_t i = 0; i < expr->arg_count; i++) {
		args[i] = tdm_way_take(way, expr->args[i], arena);
		has_changed |= args[i] != expr->args[i];
	}
	return has_changed ? tdm_expr_make(arena, (enum tdm_expr_op)expr->op, expr->text, args, expr->arg_count) : expr;
}
