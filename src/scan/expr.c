#include "scan/expr.h"

#include <errno.h>

const struct tdm_expr tdm_expr_nothing = { .op = TDM_EXPR_NOTHING, .nodes = 1 };

static const struct tdm_expr *take(struct tdm_arena *arena, struct tdm_expr value)
{
	struct tdm_expr *expr = tdm_arena_take(arena, sizeof *expr);
	if (expr == NULL)
		return &tdm_expr_nothing;
	*expr = value;
	return expr;
}

const struct tdm_expr *tdm_expr_number(struct tdm_arena *arena, int64_t number)
{
	return take(arena, (struct tdm_expr){ .op = TDM_EXPR_NUMBER, .nodes = 1, .number = number });
}

const struct tdm_expr *tdm_expr_enumerator(struct tdm_arena *arena, int64_t number, struct tdm_str name)
{
	return take(arena, (struct tdm_expr){ .op = TDM_EXPR_NUMBER, .nodes = 1, .number = number, .text = name });
}

const struct tdm_expr *tdm_expr_name(struct tdm_arena *arena, struct tdm_str text)
{
	return take(arena, (struct tdm_expr){ .op = TDM_EXPR_NAME, .nodes = 1, .text = text });
}

const struct tdm_expr *tdm_expr_parameter(struct tdm_arena *arena, struct tdm_str text)
{
	return take(arena, (struct tdm_expr){ .op = TDM_EXPR_NAME, .is_parameter = true, .nodes = 1, .text = text });
}

const struct tdm_expr *tdm_expr_string(struct tdm_arena *arena, struct tdm_str text)
{
	return take(arena, (struct tdm_expr){ .op = TDM_EXPR_STRING, .nodes = 1, .text = text });
}

const struct tdm_expr *tdm_expr_format(struct tdm_arena *arena, const struct tdm_data_format *format)
{
	return take(arena, (struct tdm_expr){ .op = TDM_EXPR_FORMAT, .nodes = 1, .format = format });
}

const struct tdm_expr *tdm_expr_opaque(struct tdm_arena *arena, const void *opaque)
{
	return take(arena, (struct tdm_expr){ .op = TDM_EXPR_OPAQUE, .nodes = 1, .opaque = opaque });
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
		struct tdm_str name = text.len != 0 ? text : tdm_str_of("an expression that is too long");
		return expr.is_parameter ? tdm_expr_parameter(arena, name) : tdm_expr_name(arena, name);
	}
	expr.nodes = (uint32_t)nodes;
	expr.args = tdm_arena_take(arena, sizeof *expr.args * arg_count);
	if (expr.args == NULL)
		return &tdm_expr_nothing;
	for (uint32_t i = 0; i < arg_count; i++)
		expr.args[i] = args[i];
	return take(arena, expr);
}

const struct tdm_expr *tdm_expr_binary(
	struct tdm_arena *arena, enum tdm_expr_op op, const struct tdm_expr *a, const struct tdm_expr *b)
{
	return tdm_expr_make(arena, op, (struct tdm_str){ "", 0 }, (const struct tdm_expr *[]){ a, b }, 2);
}

enum tdm_expr_op tdm_expr_operator(struct tdm_str token, uint32_t arg_count)
{
	static const struct {
		uint32_t arg_count;
		const char *text;
		bool is_call;
	} operators[] = {
#define X(id, count, text, tightness) { count, text, (tightness) == 0 },
		TDM_EXPR_OPERATORS(X)
#undef X
	};
	if (tdm_str_is(token, "//") && arg_count == 2) /* Python */
		return TDM_EXPR_DIVIDE;
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
		if (operators[i].arg_count == arg_count && !operators[i].is_call &&
			tdm_str_is(token, operators[i].text))
			return (enum tdm_expr_op)(TDM_EXPR_ADD + i);
	return TDM_EXPR_NOTHING;
}

const struct tdm_expr *tdm_expr_field_str(const struct tdm_expr *object, struct tdm_str name)
{
	if (object == NULL || object->op != TDM_EXPR_OBJECT)
		return NULL;
	for (uint32_t i = 0; i < object->arg_count; i++)
		if (object->args[i]->op == TDM_EXPR_FIELD && tdm_str_eq(object->args[i]->text, name))
			return object->args[i]->args[0];
	return NULL;
}

const struct tdm_expr *tdm_expr_field(const struct tdm_expr *object, const char *name)
{
	return tdm_expr_field_str(object, tdm_str_of(name));
}

const struct tdm_expr *tdm_expr_with_field(
	struct tdm_arena *arena, const struct tdm_expr *object, struct tdm_str name, const struct tdm_expr *value)
{
	const struct tdm_expr **args = tdm_arena_take(arena, sizeof *args * ((size_t)object->arg_count + 1));
	uint32_t count = 0;
	if (args == NULL)
		return &tdm_expr_nothing;
	for (uint32_t i = 0; i < object->arg_count; i++)
		if (!tdm_str_eq(object->args[i]->text, name))
			args[count++] = object->args[i];
	args[count++] = tdm_expr_make(arena, TDM_EXPR_FIELD, name, &value, 1);
	struct tdm_expr *result = tdm_arena_take(arena, sizeof *result);
	const struct tdm_expr *made = tdm_expr_make(arena, TDM_EXPR_OBJECT, object->text, args, count);
	if (result == NULL || made->op != TDM_EXPR_OBJECT)
		return made;
	*result = *made;
	result->opaque = object->opaque;
	return result;
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
