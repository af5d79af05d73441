/* Writes expressions as text, with the brackets that C would need and no others. */
#include <inttypes.h>

#include "scan/expr.h"

enum { CALL = 0, LOOSEST = 1, TIGHTEST = 15 };

struct operator_text {
	const char *text;
	int tightness; /* CALL: written as a call */
};

static struct operator_text operator_text(uint8_t op)
{
	static const struct operator_text texts[] = {
#define X(id, count, text, tightness) { text, tightness },
		TDM_EXPR_OPERATORS(X)
#undef X
	};
	return op >= TDM_EXPR_ADD && op < TDM_EXPR_OP_COUNT ? texts[op - TDM_EXPR_ADD]
							    : (struct operator_text){ "", CALL };
}

static void print_in(const struct tdm_expr *expr, int around, struct tdm_buf *out);

static void print_list(const struct tdm_expr *expr, const char *open, const char *close, struct tdm_buf *out)
{
	tdm_buf_puts(out, open);
	for (uint32_t i = 0; i < expr->arg_count; i++) {
		tdm_buf_puts(out, i == 0 ? "" : ", ");
		print_in(expr->args[i], LOOSEST, out);
	}
	tdm_buf_puts(out, close);
}

/* A number that has a name is shown by it where it is compared. */
static void print_operand(const struct tdm_expr *expr, uint32_t place, int around, struct tdm_buf *out)
{
	const struct tdm_expr *arg = expr->args[place];
	bool is_comparison = expr->op == TDM_EXPR_EQUAL || expr->op == TDM_EXPR_NOT_EQUAL;
	if (is_comparison && arg->op == TDM_EXPR_NUMBER && arg->text.len != 0)
		tdm_buf_add(out, arg->text.ptr, arg->text.len);
	else
		print_in(arg, around, out);
}

static void print_operator(const struct tdm_expr *expr, int around, struct tdm_buf *out)
{
	struct operator_text op = operator_text(expr->op);
	bool needs_brackets = op.tightness < around;
	tdm_buf_puts(out, needs_brackets ? "(" : "");
	if (expr->op == TDM_EXPR_CHOOSE) {
		print_in(expr->args[0], op.tightness + 1, out);
		tdm_buf_puts(out, " ? ");
		print_in(expr->args[1], op.tightness + 1, out);
		tdm_buf_puts(out, " : ");
		print_in(expr->args[2], op.tightness, out);
	} else if (expr->arg_count == 1) {
		tdm_buf_puts(out, op.text);
		print_in(expr->args[0], op.tightness + 1, out); /* never "--" */
	} else {
		print_operand(expr, 0, op.tightness, out);
		tdm_buf_printf(out, " %s ", op.text);
		print_operand(expr, 1, op.tightness + 1, out);
	}
	tdm_buf_puts(out, needs_brackets ? ")" : "");
}

static void print_shape(const struct tdm_expr *expr, struct tdm_buf *out)
{
	switch (expr->op) {
	case TDM_EXPR_LIST:
		print_list(expr, "{", "}", out);
		break;
	case TDM_EXPR_FIELD:
		tdm_buf_printf(out, ".%.*s = ", TDM_STR_ARG(expr->text));
		print_in(expr->args[0], LOOSEST, out);
		break;
	case TDM_EXPR_OBJECT:
		tdm_buf_add(out, expr->text.ptr, expr->text.len);
		print_list(expr, "{", "}", out);
		break;
	case TDM_EXPR_CALL:
		tdm_buf_add(out, expr->text.ptr, expr->text.len);
		print_list(expr, "(", ")", out);
		break;
	default:
		tdm_buf_puts(out, "?");
		break;
	}
}

static void print_in(const struct tdm_expr *expr, int around, struct tdm_buf *out)
{
	struct operator_text op = operator_text(expr->op);
	switch (expr->op) {
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
	default:
		if (op.text[0] == '\0') {
			print_shape(expr, out);
		} else if (op.tightness == CALL) {
			tdm_buf_puts(out, op.text);
			print_list(expr, "(", ")", out);
		} else {
			print_operator(expr, around, out);
		}
		break;
	}
}

void tdm_expr_print(const struct tdm_expr *expr, struct tdm_buf *out)
{
	print_in(expr, LOOSEST, out);
}

const char *tdm_expr_text(const struct tdm_expr *expr, struct tdm_arena *arena)
{
	struct tdm_buf buf;
	tdm_buf_init(&buf);
	tdm_expr_print(expr, &buf);
	const char *text = tdm_buf_failed(&buf) ? NULL : tdm_arena_text(arena, tdm_buf_str(&buf));
	tdm_buf_done(&buf);
	return text != NULL ? text : "";
}

const char *tdm_expr_plain_text(const struct tdm_expr *expr, struct tdm_arena *arena)
{
	if (expr == NULL || expr->op == TDM_EXPR_NOTHING)
		return "";
	if (expr->op == TDM_EXPR_STRING || expr->op == TDM_EXPR_NAME) {
		const char *text = tdm_arena_text(arena, expr->text);
		return text != NULL ? text : "";
	}
	return tdm_expr_text(expr, arena);
}
