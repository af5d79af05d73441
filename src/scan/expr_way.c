/* Expressions where something is decided already: of a choice with the same condition, one case is left. */
#include "scan/expr.h"

/* A condition without the "!" before it; *is_true is turned for each. */
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
	way->list[way->count++] = (struct tdm_decision){ condition, is_true };
	if (condition->op == (is_true ? TDM_EXPR_AND : TDM_EXPR_OR)) { /* both parts are as it is */
		tdm_way_add(way, condition->args[0], is_true);
		tdm_way_add(way, condition->args[1], is_true);
	}
}

const struct tdm_expr *tdm_way_choice(const struct tdm_way *way, const struct tdm_expr *choice)
{
	bool is_true = true;
	const struct tdm_expr *condition = plain(choice->args[0], &is_true);
	for (size_t i = 0; i < way->count; i++)
		if (tdm_expr_is_same(way->list[i].condition, condition))
			return choice->args[way->list[i].is_true == is_true ? 1 : 2];
	return NULL;
}

const struct tdm_expr *tdm_way_take(const struct tdm_way *way, const struct tdm_expr *expr, struct tdm_arena *arena)
{
	const struct tdm_expr *taken;
	while (expr->op == TDM_EXPR_CHOOSE && (taken = tdm_way_choice(way, expr)) != NULL)
		expr = taken;
	bool has_parts = expr->arg_count != 0 && expr->opaque == NULL && way->count != 0;
	const struct tdm_expr **args = has_parts ? tdm_arena_take(arena, sizeof *args * expr->arg_count) : NULL;
	bool has_changed = false;
	if (args == NULL)
		return expr;
	for (uint32_t i = 0; i < expr->arg_count; i++) {
		args[i] = tdm_way_take(way, expr->args[i], arena);
		has_changed |= args[i] != expr->args[i];
	}
	return has_changed ? tdm_expr_make(arena, (enum tdm_expr_op)expr->op, expr->text, args, expr->arg_count) : expr;
}
