/*
 * Conditions of kernel code: whether an operation in a branch ever happens. What is known when the kernel is compiled
 * (arguments of the host, constants) is computed; if it cannot be, the operation may never happen, because kernels that
 * several programs share have parts that one of them switches off. What depends on something that is only known at run
 * time, the variable of a loop or a runtime argument, happens on some core or in some round.
 */
#include "scan/kernel_parts.h"

enum { CONJUNCTS_DEPTH = 60 };

const struct tdm_expr *tdm_kernel_both(struct tdm_arena *arena, const struct tdm_expr *a, const struct tdm_expr *b)
{
	if (a == NULL || b == NULL)
		return a == NULL ? b : a;
	return tdm_expr_binary(arena, TDM_EXPR_AND, a, b);
}

const struct tdm_expr *tdm_kernel_not(struct tdm_arena *arena, const struct tdm_expr *condition)
{
	return tdm_expr_make(arena, TDM_EXPR_NOT, (struct tdm_str){ "", 0 }, &condition, 1);
}

const struct tdm_expr *tdm_kernel_branch(struct tdm_kernel_reader *reader, uint32_t node, bool is_else)
{
	const struct tdm_syntax *syntax = reader->syntax;
	uint32_t clause = tdm_node_with_role(syntax, node, TDM_ROLE_condition);
	uint32_t value = tdm_node_with_role(syntax, clause, TDM_ROLE_value);
	if (value == TDM_NODE_NONE)
		value = tdm_node_first(syntax, clause);
	if (value == TDM_NODE_NONE)
		return tdm_kernel_unknown(reader, tdm_str_of("condition"));
	reader->wants_constants = true;
	const struct tdm_expr *condition = tdm_kernel_expr(reader, value);
	reader->wants_constants = false;
	return is_else ? tdm_kernel_not(reader->arena, condition) : condition;
}

/* Whether a part of it is only known at run time. */
static bool has_runtime_part(const struct tdm_expr *expr)
{
	if ((expr->op == TDM_EXPR_NAME || expr->op == TDM_EXPR_CALL) && expr->number == TDM_KERNEL_AT_RUN_TIME)
		return true;
	if (expr->op == TDM_EXPR_CALL &&
		(tdm_str_is(expr->text, "get_arg_val") || tdm_str_is(expr->text, "get_common_arg_val")))
		return true;
	for (uint32_t i = 0; i < expr->arg_count; i++)
		if (has_runtime_part(expr->args[i]))
			return true;
	return false;
}

/* Whether a condition that cannot be computed is true (`wanted`) or false on some core or in some round. */
static bool happens(const struct tdm_expr *expr, bool wanted, const struct tdm_settings *settings)
{
	int64_t number;
	if (tdm_expr_value(expr, settings, &number) == 0)
		return (number != 0) == wanted;
	switch ((enum tdm_expr_op)expr->op) {
	case TDM_EXPR_NOT:
		return happens(expr->args[0], !wanted, settings);
	case TDM_EXPR_AND:
	case TDM_EXPR_OR: {
		bool a = happens(expr->args[0], wanted, settings), b = happens(expr->args[1], wanted, settings);
		return (expr->op == TDM_EXPR_AND) == wanted ? a && b : a || b;
	}
	default:
		return has_runtime_part(expr);
	}
}

static enum tdm_kernel_chance chance_of(
	const struct tdm_expr *condition, const struct tdm_settings *settings, uint32_t depth)
{
	int64_t number;
	if (tdm_expr_value(condition, settings, &number) == 0)
		return number != 0 ? TDM_KERNEL_HAPPENS : TDM_KERNEL_NEVER;
	if (condition->op == TDM_EXPR_AND && depth < CONJUNCTS_DEPTH) {
		enum tdm_kernel_chance a = chance_of(condition->args[0], settings, depth + 1);
		enum tdm_kernel_chance b =
			a != TDM_KERNEL_NEVER ? chance_of(condition->args[1], settings, depth + 1) : TDM_KERNEL_NEVER;
		return a < b ? a : b;
	}
	if (happens(condition, true, settings))
		return TDM_KERNEL_HAPPENS;
	return TDM_KERNEL_MAY_HAPPEN;
}

enum tdm_kernel_chance tdm_kernel_chance_of(const struct tdm_expr *condition, const struct tdm_settings *settings)
{
	return condition == NULL ? TDM_KERNEL_HAPPENS : chance_of(condition, settings, 0);
}
