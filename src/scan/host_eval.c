/* Evaluates C++ expressions: to numbers, formats, lists and objects where the source says so, else to expressions. */
#include "scan/host_parts.h"

#include <stdlib.h>

#include "base/reserve.h"
#include "scan/cpp_literal.h"

static const struct tdm_str no_text = { "", 0 };

static const struct tdm_expr *eval_number(struct host_frame *frame, uint32_t node)
{
	int64_t number;
	if (tdm_cpp_number(tdm_node_text(frame->source->syntax, node), &number))
		return tdm_expr_number(frame->host->arena, number);
	return host_unknown(frame, node);
}

/* The contents of a string literal, or of several that follow each other. */
static const struct tdm_expr *eval_string(struct host_frame *frame, uint32_t node)
{
	struct tdm_buf buf;
	const struct tdm_syntax *syntax = frame->source->syntax;
	tdm_buf_init(&buf);
	for (uint32_t i = node; i < syntax->nodes[node].next; i++)
		if (tdm_node_kind(syntax, i) == TDM_SYN_string_content) {
			struct tdm_str text = tdm_node_text(syntax, i);
			tdm_buf_add(&buf, text.ptr, text.len);
		}
	const char *copy = tdm_arena_text(frame->host->arena, tdm_buf_str(&buf));
	struct tdm_str text = { copy, buf.len };
	tdm_buf_done(&buf);
	return copy != NULL ? tdm_expr_string(frame->host->arena, text) : &tdm_expr_nothing;
}

static const struct tdm_expr *eval_identifier(struct host_frame *frame, uint32_t node)
{
	struct tdm_str name = tdm_node_text(frame->source->syntax, node);
	const struct tdm_expr *value = host_lookup(frame, name);
	if (value == NULL)
		value = host_global(frame, no_text, name);
	if (value != NULL && (value->op != TDM_EXPR_NAME || value->is_parameter || host_is_null(value)))
		return value;
	return value != NULL && tdm_str_eq(value->text, name) ? value
	       : value != NULL                                ? value
							      : host_unknown(frame, node);
}

/* a::b::c: by its last two parts. */
static const struct tdm_expr *eval_qualified(struct host_frame *frame, uint32_t node)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	struct tdm_str scope = no_text;
	uint32_t at = node;
	while (tdm_node_kind(syntax, at) == TDM_SYN_qualified_identifier) {
		uint32_t scope_node = tdm_node_with_role(syntax, at, TDM_ROLE_scope);
		scope = scope_node != TDM_NODE_NONE ? host_last_name(frame->source, scope_node) : no_text;
		at = tdm_node_with_role(syntax, at, TDM_ROLE_name);
	}
	struct tdm_str name = tdm_node_text(syntax, at);
	const struct tdm_expr *value = host_global(frame, scope, name);
	if (value == NULL && (tdm_str_is(scope, "this") || scope.len == 0))
		value = host_lookup(frame, name);
	return value != NULL ? value : host_unknown(frame, node);
}

static const struct tdm_expr *eval_field(struct host_frame *frame, uint32_t node)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	const struct tdm_expr *path = host_lookup(frame, tdm_node_text(syntax, node));
	if (path != NULL)
		return path;
	uint32_t argument = tdm_node_with_role(syntax, node, TDM_ROLE_argument);
	uint32_t field = tdm_node_with_role(syntax, node, TDM_ROLE_field);
	const struct tdm_expr *object = host_eval(frame, argument);
	const struct tdm_expr *value = tdm_expr_field_str(object, tdm_node_text(syntax, field));
	if (value != NULL)
		return value;
	/* A member of what an argument of the helper stands for is shown as the caller would write it. */
	if (object->op == TDM_EXPR_NAME && !tdm_str_eq(object->text, tdm_node_text(syntax, argument))) {
		struct tdm_buf buf;
		tdm_buf_init(&buf);
		struct tdm_str rest = { tdm_node_text(syntax, argument).ptr + tdm_node_text(syntax, argument).len, 0 };
		rest.len = (size_t)(syntax->text.ptr + syntax->nodes[node].end - rest.ptr);
		tdm_buf_printf(&buf, "%.*s%.*s", TDM_STR_ARG(object->text), TDM_STR_ARG(rest));
		const struct tdm_expr *named = host_named(frame->host, host_squeezed(frame->host, tdm_buf_str(&buf)));
		tdm_buf_done(&buf);
		return named;
	}
	return host_unknown(frame, node);
}

static bool is_null_name(const struct tdm_expr *expr)
{
	return expr->op == TDM_EXPR_NAME && host_is_null(expr);
}

/* A helper asks whether it got a pointer: a pointer that the caller gives by name is taken as one. */
static bool is_pointer_test(const struct host_frame *frame, const struct tdm_expr *a, const struct tdm_expr *b)
{
	bool has_null = is_null_name(a) || is_null_name(b);
	bool are_plain = a->op == TDM_EXPR_NAME && b->op == TDM_EXPR_NAME && !a->is_parameter && !b->is_parameter;
	return has_null && are_plain && (frame->site != NULL || (is_null_name(a) && is_null_name(b)));
}

static const struct tdm_expr *eval_binary(struct host_frame *frame, uint32_t node)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	uint32_t token = tdm_node_with_role(syntax, node, TDM_ROLE_operator);
	struct tdm_str text = tdm_node_text(syntax, token);
	if (tdm_str_is(text, "and"))
		text = tdm_str_of("&&");
	else if (tdm_str_is(text, "or"))
		text = tdm_str_of("||");
	enum tdm_expr_op op = tdm_expr_operator(text, 2);
	const struct tdm_expr *a = host_eval(frame, tdm_node_with_role(syntax, node, TDM_ROLE_left));
	const struct tdm_expr *b = host_eval(frame, tdm_node_with_role(syntax, node, TDM_ROLE_right));
	if (op == TDM_EXPR_ADD && a->op == TDM_EXPR_STRING && b->op == TDM_EXPR_STRING) {
		struct tdm_buf buf;
		tdm_buf_init(&buf);
		tdm_buf_printf(&buf, "%.*s%.*s", TDM_STR_ARG(a->text), TDM_STR_ARG(b->text));
		const char *copy = tdm_arena_text(frame->host->arena, tdm_buf_str(&buf));
		struct tdm_str joined = { copy, buf.len };
		tdm_buf_done(&buf);
		return copy != NULL ? tdm_expr_string(frame->host->arena, joined) : &tdm_expr_nothing;
	}
	if ((op == TDM_EXPR_EQUAL || op == TDM_EXPR_NOT_EQUAL) && is_pointer_test(frame, a, b))
		return tdm_expr_number(
			frame->host->arena, (is_null_name(a) && is_null_name(b)) == (op == TDM_EXPR_EQUAL));
	bool is_usable = op != TDM_EXPR_NOTHING && a->op != TDM_EXPR_NOTHING && b->op != TDM_EXPR_NOTHING;
	return is_usable ? tdm_expr_binary(frame->host->arena, op, a, b) : host_unknown(frame, node);
}

static const struct tdm_expr *eval_unary(struct host_frame *frame, uint32_t node)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	struct tdm_str token = tdm_node_text(syntax, tdm_node_with_role(syntax, node, TDM_ROLE_operator));
	uint32_t argument = tdm_node_with_role(syntax, node, TDM_ROLE_argument);
	if (tdm_str_is(token, "+"))
		return host_eval(frame, argument);
	if (tdm_str_is(token, "not"))
		token = tdm_str_of("!");
	const struct tdm_expr *a = host_eval(frame, argument);
	enum tdm_expr_op op = tdm_expr_operator(token, 1);
	if (op == TDM_EXPR_NOTHING || a->op == TDM_EXPR_NOTHING)
		return host_unknown(frame, node);
	if (op == TDM_EXPR_NEGATE && a->op == TDM_EXPR_NUMBER && a->number != INT64_MIN)
		return tdm_expr_number(frame->host->arena, -a->number);
	return tdm_expr_make(frame->host->arena, op, no_text, &a, 1);
}

/* A pointer to a thing, or what a pointer points to, is the thing. */
static const struct tdm_expr *eval_pointer(struct host_frame *frame, uint32_t node)
{
	uint32_t argument = tdm_node_with_role(frame->source->syntax, node, TDM_ROLE_argument);
	const struct tdm_expr *value = host_eval(frame, argument);
	return value->op == TDM_EXPR_OBJECT || value->op == TDM_EXPR_LIST || value->op == TDM_EXPR_NAME
		       ? value
		       : host_unknown(frame, node);
}

static const struct tdm_expr *eval_choice(struct host_frame *frame, uint32_t node)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	uint32_t arms[] = { tdm_node_with_role(syntax, node, TDM_ROLE_consequence),
		tdm_node_with_role(syntax, node, TDM_ROLE_alternative) };
	const struct tdm_expr *condition = host_eval(frame, tdm_node_with_role(syntax, node, TDM_ROLE_condition));
	int64_t number;
	if (tdm_expr_value(condition, frame->host->walk->settings, &number) == 0)
		return host_eval(frame, arms[number != 0 ? 0 : 1]);
	const struct tdm_expr *values[2];
	if (frame->is_eager && (host_has_effects(frame->source, arms[0]) || host_has_effects(frame->source, arms[1]))) {
		host_eval_arms(frame, node, condition, values);
	} else {
		values[0] = host_eval(frame, arms[0]);
		values[1] = host_eval(frame, arms[1]);
	}
	const struct tdm_expr *a = values[0], *b = values[1];
	if (condition->op == TDM_EXPR_NOTHING || a->op == TDM_EXPR_NOTHING || b->op == TDM_EXPR_NOTHING)
		return host_unknown(frame, node);
	if (a->op == TDM_EXPR_OBJECT || b->op == TDM_EXPR_OBJECT)
		return host_merge(frame->host, condition, a, b);
	return tdm_expr_make(
		frame->host->arena, TDM_EXPR_CHOOSE, no_text, (const struct tdm_expr *[]){ condition, a, b }, 3);
}

/* Sizes of types that every C++ programmer knows. */
static const struct tdm_expr *eval_sizeof(struct host_frame *frame, uint32_t node)
{
	static const struct {
		const char *type;
		int64_t bytes;
	} types[] = {
		{ "uint8_t", 1 },
		{ "int8_t", 1 },
		{ "char", 1 },
		{ "bool", 1 },
		{ "uint16_t", 2 },
		{ "int16_t", 2 },
		{ "bfloat16", 2 },
		{ "short", 2 },
		{ "uint32_t", 4 },
		{ "int32_t", 4 },
		{ "int", 4 },
		{ "unsigned", 4 },
		{ "float", 4 },
		{ "uint64_t", 8 },
		{ "int64_t", 8 },
		{ "size_t", 8 },
		{ "double", 8 },
		{ "long", 8 },
	};
	struct tdm_str text = tdm_node_text(frame->source->syntax, node);
	size_t end = text.len;
	while (end > 0 && (text.ptr[end - 1] == ')' || text.ptr[end - 1] == ' '))
		end--;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		size_t len = strlen(types[i].type);
		bool is_it = end > len && memcmp(text.ptr + end - len, types[i].type, len) == 0 &&
			     strchr("( :", text.ptr[end - len - 1]) != NULL;
		if (is_it)
			return tdm_expr_number(frame->host->arena, types[i].bytes);
	}
	return host_unknown(frame, node);
}

static const struct tdm_expr *eval_subscript(struct host_frame *frame, uint32_t node)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	const struct tdm_expr *path = host_lookup(frame, tdm_node_text(syntax, node));
	if (path != NULL)
		return path;
	const struct tdm_expr *list = host_eval(frame, tdm_node_with_role(syntax, node, TDM_ROLE_argument));
	uint32_t indices = tdm_node_with_role(syntax, node, TDM_ROLE_indices);
	int64_t place;
	bool is_place = list->op == TDM_EXPR_LIST && tdm_node_first(syntax, indices) != TDM_NODE_NONE &&
			tdm_expr_value(host_eval(frame, tdm_node_first(syntax, indices)), NULL, &place) == 0;
	if (is_place && place >= 0 && place < list->arg_count)
		return list->args[place];
	return host_unknown(frame, node);
}

/* {a, b}: a list, or an object where fields are named. */
static const struct tdm_expr *eval_list(struct host_frame *frame, uint32_t node)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	if (tdm_node_of_kind(syntax, node, TDM_SYN_initializer_pair) != TDM_NODE_NONE)
		return host_object(frame, no_text, TDM_NODE_NONE, node);
	uint32_t count = tdm_node_child_count(syntax, node), i = 0;
	const struct tdm_expr **args = tdm_arena_take(frame->host->arena, sizeof *args * count);
	if (args == NULL)
		return &tdm_expr_nothing;
	for (TDM_NODE_CHILDREN(child, syntax, node)) {
		args[i] = host_eval(frame, child);
		struct host_made *made = host_made_of(args[i++]);
		if (frame->is_eager)
			host_set_latest(made, args[i - 1]); /* it is handed over as it is now */
	}
	return tdm_expr_make(frame->host->arena, TDM_EXPR_LIST, no_text, args, i);
}

static const struct tdm_expr *eval_lambda(struct host_frame *frame, uint32_t node)
{
	struct host_lambda *lambda = tdm_arena_take(frame->host->arena, sizeof *lambda);
	if (lambda == NULL)
		return &tdm_expr_nothing;
	*lambda = (struct host_lambda){ frame->source, node, frame->env };
	return tdm_expr_opaque(frame->host->arena, lambda);
}

/* x++ and --x. */
static const struct tdm_expr *eval_update(struct host_frame *frame, uint32_t node)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	uint32_t argument = tdm_node_with_role(syntax, node, TDM_ROLE_argument);
	uint32_t token = tdm_node_with_role(syntax, node, TDM_ROLE_operator);
	const struct tdm_expr *before = host_eval(frame, argument);
	bool is_plus = tdm_str_is(tdm_node_text(syntax, token), "++");
	bool is_prefix = syntax->nodes[token].start < syntax->nodes[argument].start;
	const struct tdm_expr *one = tdm_expr_number(frame->host->arena, 1);
	const struct tdm_expr *after =
		tdm_expr_binary(frame->host->arena, is_plus ? TDM_EXPR_ADD : TDM_EXPR_SUBTRACT, before, one);
	int64_t number;
	if (tdm_expr_value(after, NULL, &number) == 0)
		after = tdm_expr_number(frame->host->arena, number);
	after = host_shortened(frame->host, tdm_node_text(syntax, argument), after);
	if (frame->is_eager)
		host_assign(frame, argument, after);
	return is_prefix ? after : before;
}

static const struct tdm_expr *eval_assignment(struct host_frame *frame, uint32_t node)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	uint32_t left = tdm_node_with_role(syntax, node, TDM_ROLE_left);
	uint32_t right = tdm_node_with_role(syntax, node, TDM_ROLE_right);
	struct tdm_str token = tdm_node_text(syntax, tdm_node_with_role(syntax, node, TDM_ROLE_operator));
	bool is_plain = token.len <= 1;
	bool is_lazy = is_plain && tdm_node_kind(syntax, left) == TDM_SYN_identifier &&
		       !host_is_hot(frame->source, right) &&
		       tdm_node_kind(syntax, right) != TDM_SYN_lambda_expression &&
		       memmem(tdm_node_text(syntax, right).ptr, tdm_node_text(syntax, right).len, "++", 2) == NULL;
	if (is_lazy && frame->is_eager && host_made_of(host_eval(frame, left)) == NULL) {
		const struct host_binding *env = frame->env;
		struct host_binding *binding = host_bind(frame, HOST_LAZY, tdm_node_text(syntax, left));
		if (binding != NULL) {
			binding->node = right;
			binding->env = env;
		}
		return &tdm_expr_nothing;
	}
	const struct tdm_expr *value = host_eval(frame, right);
	if (!is_plain) {
		enum tdm_expr_op op = tdm_expr_operator((struct tdm_str){ token.ptr, token.len - 1 }, 2);
		value = op != TDM_EXPR_NOTHING ? tdm_expr_binary(frame->host->arena, op, host_eval(frame, left), value)
					       : host_unknown(frame, left);
	}
	if (frame->is_eager)
		host_assign(frame, left, host_typed(frame, value, left));
	return value;
}

static const struct tdm_expr *eval_kind(struct host_frame *frame, uint32_t node)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	switch (tdm_node_kind(syntax, node)) {
	case TDM_SYN_number_literal:
		return eval_number(frame, node);
	case TDM_SYN_true:
		return tdm_expr_number(frame->host->arena, 1);
	case TDM_SYN_false:
		return tdm_expr_number(frame->host->arena, 0);
	case TDM_SYN_string_literal:
	case TDM_SYN_concatenated_string:
		return eval_string(frame, node);
	case TDM_SYN_identifier:
	case TDM_SYN_type_identifier:
		return eval_identifier(frame, node);
	case TDM_SYN_qualified_identifier:
		return eval_qualified(frame, node);
	case TDM_SYN_field_expression:
		return eval_field(frame, node);
	case TDM_SYN_binary_expression:
		return eval_binary(frame, node);
	case TDM_SYN_unary_expression:
		return eval_unary(frame, node);
	case TDM_SYN_pointer_expression:
		return eval_pointer(frame, node);
	case TDM_SYN_conditional_expression:
		return eval_choice(frame, node);
	case TDM_SYN_condition_clause:
	case TDM_SYN_parenthesized_expression:
		return host_eval(frame, tdm_node_first(syntax, node));
	case TDM_SYN_parameter_declaration:
		return host_eval(frame, tdm_node_with_role(syntax, node, TDM_ROLE_type));
	case TDM_SYN_cast_expression:
		return host_eval(frame, tdm_node_with_role(syntax, node, TDM_ROLE_value));
	case TDM_SYN_sizeof_expression:
		return eval_sizeof(frame, node);
	case TDM_SYN_subscript_expression:
		return eval_subscript(frame, node);
	case TDM_SYN_initializer_list:
		return eval_list(frame, node);
	case TDM_SYN_lambda_expression:
		return eval_lambda(frame, node);
	case TDM_SYN_update_expression:
		return eval_update(frame, node);
	case TDM_SYN_assignment_expression:
		return eval_assignment(frame, node);
	case TDM_SYN_comma_expression:
		host_eval(frame, tdm_node_with_role(syntax, node, TDM_ROLE_left));
		return host_eval(frame, tdm_node_with_role(syntax, node, TDM_ROLE_right));
	case TDM_SYN_compound_literal_expression: {
		uint32_t type = tdm_node_with_role(syntax, node, TDM_ROLE_type);
		return host_object(frame, host_last_name(frame->source, type), type,
			tdm_node_with_role(syntax, node, TDM_ROLE_value));
	}
	case TDM_SYN_call_expression:
		return host_call(frame, node);
	default:
		return host_unknown(frame, node);
	}
}

const struct tdm_expr *host_eval(struct host_frame *frame, uint32_t node)
{
	if (node == TDM_NODE_NONE || node >= frame->source->syntax->count)
		return &tdm_expr_nothing;
	if (frame->depth >= HOST_DEPTH_MAX || frame->host->steps++ > HOST_STEPS_MAX)
		return host_unknown(frame, node);
	frame->depth++;
	const struct tdm_expr *value = eval_kind(frame, node);
	frame->depth--;
	return value;
}
