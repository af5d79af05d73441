/* What the host gives a kernel: compile-time arguments by place and by name, and the buffers that names are bound to.
 */
#include "scan/kernel_parts.h"

enum { DEPTH_MAX = 12 /* of choices in choices */ };

/* Whether a list was never made: that of a kernel which is not there. */
static bool is_absent(const struct tdm_expr *list)
{
	return list->op == TDM_EXPR_NOTHING || (list->op == TDM_EXPR_NAME && tdm_str_is(list->text, "nullptr")) ||
	       (list->op == TDM_EXPR_LIST && list->arg_count == 0);
}

/* One of two values, depending on the condition of a choice; NULL when one is not known. */
static const struct tdm_expr *either(const struct tdm_kernel_args *given, const struct tdm_expr *choice,
	const struct tdm_expr *a, const struct tdm_expr *b)
{
	int64_t x, y;
	if (a == NULL || b == NULL || a == b)
		return a == b ? a : NULL;
	if (tdm_expr_value(a, NULL, &x) == 0 && tdm_expr_value(b, NULL, &y) == 0 && x == y)
		return a;
	return tdm_expr_make(given->arena, TDM_EXPR_CHOOSE, (struct tdm_str){ "", 0 },
		(const struct tdm_expr *[]){ choice->args[0], a, b }, 3);
}

/* The argument at a place; NULL when it is not known. */
static const struct tdm_expr *placed_value(
	const struct tdm_kernel_args *given, const struct tdm_expr *list, int64_t place, uint32_t depth)
{
	if (list->op == TDM_EXPR_LIST)
		return place >= 0 && place < (int64_t)list->arg_count ? list->args[place] : NULL;
	if (list->op != TDM_EXPR_CHOOSE || depth == DEPTH_MAX)
		return NULL;
	const struct tdm_expr *a = list->args[1], *b = list->args[2];
	if (is_absent(a) || is_absent(b))
		return placed_value(given, is_absent(a) ? b : a, place, depth + 1);
	return either(given, list, placed_value(given, a, place, depth + 1), placed_value(given, b, place, depth + 1));
}

/* The value of a named argument in {{"name", value}, ...}; NULL when there is none. */
const struct tdm_expr *tdm_kernel_named_value(
	const struct tdm_kernel_args *given, const struct tdm_expr *list, struct tdm_str name, uint32_t depth)
{
	if (list->op == TDM_EXPR_CHOOSE && depth < DEPTH_MAX) {
		const struct tdm_expr *a = list->args[1], *b = list->args[2];
		if (is_absent(a) || is_absent(b))
			return tdm_kernel_named_value(given, is_absent(a) ? b : a, name, depth + 1);
		return either(given, list, tdm_kernel_named_value(given, a, name, depth + 1),
			tdm_kernel_named_value(given, b, name, depth + 1));
	}
	for (uint32_t i = 0; list->op == TDM_EXPR_LIST && i < list->arg_count; i++) {
		const struct tdm_expr *pair = list->args[i];
		if (pair->arg_count == 2 && pair->args[0]->op == TDM_EXPR_STRING &&
			tdm_str_eq(pair->args[0]->text, name))
			return pair->args[1];
	}
	return NULL;
}

/* Whether a list of arguments has all of them: nothing was added that is not followed. */
static bool is_closed(const struct tdm_expr *list)
{
	return list->op == TDM_EXPR_LIST &&
	       (list->arg_count == 0 || list->args[list->arg_count - 1]->op != TDM_EXPR_NOTHING);
}

/* An argument that is none of the compile-time ones is given at run time. */
const struct tdm_expr *tdm_kernel_runtime_value(const struct tdm_kernel_args *given, const struct tdm_expr *call)
{
	struct tdm_expr *value = tdm_arena_take(given->arena, sizeof *value);
	if (value == NULL)
		return &tdm_expr_nothing;
	*value = *call;
	value->opaque = value;
	value->number = TDM_KERNEL_AT_RUN_TIME;
	return value;
}

/* What the host gives for a call that asks for one of its arguments; NULL when that is unknown. */
const struct tdm_expr *tdm_kernel_host_value(const struct tdm_kernel_args *given, const struct tdm_expr *call)
{
	int64_t place;
	if (call->arg_count != 1)
		return NULL;
	const struct tdm_expr *arg = call->args[0];
	if (tdm_str_is(call->text, "get_compile_time_arg_val")) {
		if (tdm_expr_value(arg, NULL, &place) == 0)
			return placed_value(given, given->positional, place, 0);
	} else if (tdm_str_is(call->text, "get_named_compile_time_arg_val") && arg->op == TDM_EXPR_STRING) {
		return tdm_kernel_named_value(given, given->named, arg->text, 0);
	} else if (tdm_str_is(call->text, "get_arg") && arg->op == TDM_EXPR_NAME &&
		   tdm_kernel_begins_with(arg->text, "args::")) {
		const struct tdm_expr *value =
			tdm_kernel_named_value(given, given->named, tdm_kernel_after(arg->text, strlen("args::")), 0);
		return value != NULL || !is_closed(given->named) ? value : tdm_kernel_runtime_value(given, call);
	}
	return NULL;
}

/* The dataflow buffer that an accessor is bound to. NULL when it is not known; *is_unbound: surely none. */
static const struct tdm_expr *bound_in(const struct tdm_kernel_args *given, const struct tdm_expr *bindings,
	struct tdm_str wanted, bool *is_unbound, uint32_t depth)
{
	*is_unbound = false;
	if (bindings->op == TDM_EXPR_CHOOSE && depth < DEPTH_MAX) {
		bool is_first_unbound, is_second_unbound;
		const struct tdm_expr *a = bound_in(given, bindings->args[1], wanted, &is_first_unbound, depth + 1);
		const struct tdm_expr *b = bound_in(given, bindings->args[2], wanted, &is_second_unbound, depth + 1);
		*is_unbound = is_first_unbound && is_second_unbound;
		/* A name that is bound in one case only is not used in the other. */
		return a == NULL || b == NULL ? (a == NULL ? b : a) : either(given, bindings, a, b);
	}
	if (bindings->op != TDM_EXPR_LIST)
		return NULL;
	bool is_complete = true;
	for (uint32_t i = 0; i < bindings->arg_count; i++) {
		const struct tdm_expr *binding = bindings->args[i];
		bool is_plain = binding->op == TDM_EXPR_LIST && binding->arg_count >= 2; /* {buffer, "name", ...} */
		const struct tdm_expr *name = is_plain ? binding->args[1] : tdm_expr_field(binding, "accessor_name");
		bool is_known = name != NULL && name->op == TDM_EXPR_STRING;
		is_complete &= is_known;
		if (is_known && tdm_str_eq(name->text, wanted))
			return is_plain ? binding->args[0] : tdm_expr_field(binding, "dfb_spec_name");
	}
	*is_unbound = is_complete;
	return NULL;
}

const struct tdm_expr *tdm_kernel_bound_buffer(
	const struct tdm_kernel_args *given, struct tdm_str accessor, bool *is_unbound)
{
	return bound_in(given, given->bindings, tdm_kernel_after(accessor, strlen("dfb::")), is_unbound, 0);
}
