/*
 * Evaluates C++ expressions: to numbers, formats, lists and objects if the source determines them, else to expressions
 * with unknown names. Each node kind has its own function. A node that cannot be evaluated becomes a name, which is the
 * node's source text; in a helper, the text is rewritten in the caller's terms. Effects (assignments, creation of
 * objects) happen only in eager frames.
 */
#include "scan/cpp/cpp.h"

#include "scan/front/lexer.h"

/* The contents of one string literal or several adjacent ones. */
static const struct tdm_expr *eval_string(struct cpp_frame *frame, uint32_t node)
{
	struct tdm_buf buf = { 0 };
	for (uint32_t i = node; i < frame->source->syntax->nodes[node].next; i++)
		if (cpp_kind(frame, i) == TDM_SYN_string_content) {
			struct tdm_str text = cpp_text(frame, i);
			tdm_buf_add(&buf, text.ptr, text.len);
		}
	return tdm_expr_of(
		frame->arena, (struct tdm_expr){ .op = TDM_EXPR_STRING, .text = tdm_arena_buf(frame->arena, &buf) });
}

/* a::b::c is looked up by the last two parts. */
static const struct tdm_expr *eval_qualified(struct cpp_frame *frame, uint32_t node)
{
	struct tdm_str scope = tdm_no_text, text = cpp_text(frame, node);
	uint32_t at = node;
	if (tdm_begins_with(text, "dfb::")) /* the host binds a buffer to the name */
		return tdm_expr_name(frame->arena, tdm_arena_str(frame->arena, text), true);
	while (cpp_kind(frame, at) == TDM_SYN_qualified_identifier) {
		uint32_t scope_node = cpp_part(frame, at, TDM_ROLE_scope);
		scope = scope_node != TDM_NODE_NONE ? cpp_last_name(frame->source, scope_node) : tdm_no_text;
		at = cpp_part(frame, at, TDM_ROLE_name);
	}
	struct tdm_str name = cpp_text(frame, at);
	const struct tdm_expr *value = cpp_global(frame, scope, name);
	if (value == NULL && (tdm_str_is(scope, "this") || scope.len == 0))
		value = cpp_lookup(frame, name);
	return value != NULL ? value : cpp_unknown(frame, node);
}

static const struct tdm_expr *eval_field(struct cpp_frame *frame, uint32_t node)
{
	const struct tdm_expr *path = cpp_lookup(frame, cpp_text(frame, node));
	if (path != NULL)
		return path;
	uint32_t argument = cpp_part(frame, node, TDM_ROLE_argument);
	uint32_t field = cpp_part(frame, node, TDM_ROLE_field);
	const struct tdm_expr *object = cpp_eval(frame, argument);
	const struct tdm_expr *value = tdm_expr_field_str(object, cpp_text(frame, field));
	if (value != NULL)
		return value;
	/* A member of a helper's parameter is written as the caller would write it. */
	if (object->op == TDM_EXPR_NAME && !tdm_str_eq(object->text, cpp_text(frame, argument))) {
		struct tdm_buf buf = { 0 };
		struct tdm_str rest = { cpp_text(frame, argument).ptr + cpp_text(frame, argument).len, 0 };
		rest.len =
			(size_t)(frame->source->syntax->text.ptr + frame->source->syntax->nodes[node].end - rest.ptr);
		tdm_buf_printf(&buf, "%.*s%.*s", TDM_STR_ARG(object->text), TDM_STR_ARG(rest));
		const struct tdm_expr *named = cpp_named(frame->cpp, cpp_squeezed(frame->cpp, tdm_buf_str(&buf)));
		tdm_buf_done(&buf);
		return named;
	}
	return cpp_unknown(frame, node);
}

static const struct tdm_expr *eval_binary(struct cpp_frame *frame, uint32_t node)
{
	enum tdm_expr_op op = tdm_expr_operator(cpp_text(frame, cpp_part(frame, node, TDM_ROLE_operator)), 2);
	const struct tdm_expr *a = cpp_eval_part(frame, node, TDM_ROLE_left);
	const struct tdm_expr *b = cpp_eval_part(frame, node, TDM_ROLE_right);
	if (op == TDM_EXPR_ADD && a->op == TDM_EXPR_STRING && b->op == TDM_EXPR_STRING) {
		struct tdm_buf buf = { 0 };
		tdm_buf_printf(&buf, "%.*s%.*s", TDM_STR_ARG(a->text), TDM_STR_ARG(b->text));
		struct tdm_str text = tdm_arena_buf(frame->arena, &buf);
		return tdm_expr_of(frame->arena, (struct tdm_expr){ .op = TDM_EXPR_STRING, .text = text });
	}
	/* If a helper tests a pointer argument, a name passed by the caller counts as not null. */
	bool are_names = a->op == TDM_EXPR_NAME && b->op == TDM_EXPR_NAME && !a->is_parameter && !b->is_parameter;
	bool are_null = are_names && cpp_is_null(a) && cpp_is_null(b);
	bool is_test = are_null || (are_names && frame->site != NULL && (cpp_is_null(a) || cpp_is_null(b)));
	if ((op == TDM_EXPR_EQUAL || op == TDM_EXPR_NOT_EQUAL) && is_test)
		return tdm_expr_number(frame->arena, are_null == (op == TDM_EXPR_EQUAL));
	bool is_usable = op != TDM_EXPR_NOTHING && a->op != TDM_EXPR_NOTHING && b->op != TDM_EXPR_NOTHING;
	return is_usable ? tdm_expr_binary(frame->arena, op, a, b) : cpp_unknown(frame, node);
}

static const struct tdm_expr *eval_unary(struct cpp_frame *frame, uint32_t node)
{
	struct tdm_str token = cpp_text(frame, cpp_part(frame, node, TDM_ROLE_operator));
	uint32_t argument = cpp_part(frame, node, TDM_ROLE_argument);
	if (tdm_str_is(token, "+"))
		return cpp_eval(frame, argument);
	const struct tdm_expr *a = cpp_eval(frame, argument);
	enum tdm_expr_op op = tdm_expr_operator(token, 1);
	if (op == TDM_EXPR_NOTHING || a->op == TDM_EXPR_NOTHING)
		return cpp_unknown(frame, node);
	if (op == TDM_EXPR_NEGATE && a->op == TDM_EXPR_NUMBER && a->number != INT64_MIN)
		return tdm_expr_number(frame->arena, -a->number);
	return tdm_expr_unary(frame->arena, op, a);
}

static const struct tdm_expr *eval_choice(struct cpp_frame *frame, uint32_t node)
{
	uint32_t arms[] = { cpp_part(frame, node, TDM_ROLE_consequence), cpp_part(frame, node, TDM_ROLE_alternative) };
	const struct tdm_expr *condition = cpp_eval_part(frame, node, TDM_ROLE_condition);
	int64_t number;
	if (tdm_expr_value(condition, frame->cpp->walk->settings, &number) == 0)
		return cpp_eval(frame, arms[number != 0 ? 0 : 1]);
	const struct tdm_expr *values[2];
	if (frame->is_eager && (cpp_has_effects(frame->source, arms[0]) || cpp_has_effects(frame->source, arms[1]))) {
		cpp_eval_arms(frame, node, condition, values);
	} else {
		values[0] = cpp_eval(frame, arms[0]);
		values[1] = cpp_eval(frame, arms[1]);
	}
	const struct tdm_expr *a = values[0], *b = values[1];
	if (condition->op == TDM_EXPR_NOTHING || a->op == TDM_EXPR_NOTHING || b->op == TDM_EXPR_NOTHING)
		return cpp_unknown(frame, node);
	if (a->op == TDM_EXPR_OBJECT || b->op == TDM_EXPR_OBJECT)
		return cpp_merge(frame->cpp, condition, a, b);
	return tdm_expr_choose(frame->arena, condition, a, b);
}

/* sizeof for common types. */
static const struct tdm_expr *eval_sizeof(struct cpp_frame *frame, uint32_t node)
{
	struct tdm_str text = cpp_text(frame, node);
	while (text.len > 0 && (text.ptr[text.len - 1] == ')' || text.ptr[text.len - 1] == ' '))
		text.len--;
	for (const char *mark = "( :"; *mark != '\0'; mark++)
		text = tdm_last_part(text, *mark);
	int64_t bytes = tdm_is_one_of(text, "uint8_t int8_t char bool")              ? 1
			: tdm_is_one_of(text, "uint16_t int16_t bfloat16 short")     ? 2
			: tdm_is_one_of(text, "uint32_t int32_t int unsigned float") ? 4
			: tdm_is_one_of(text, "uint64_t int64_t size_t double long") ? 8
										     : 0;
	return bytes != 0 ? tdm_expr_number(frame->arena, bytes) : cpp_unknown(frame, node);
}

static const struct tdm_expr *eval_subscript(struct cpp_frame *frame, uint32_t node)
{
	const struct tdm_expr *path = cpp_lookup(frame, cpp_text(frame, node));
	if (path != NULL)
		return path;
	const struct tdm_expr *list = cpp_eval_part(frame, node, TDM_ROLE_argument);
	uint32_t indices = cpp_part(frame, node, TDM_ROLE_indices);
	int64_t place;
	bool is_place =
		list->op == TDM_EXPR_LIST && tdm_node_first(frame->source->syntax, indices) != TDM_NODE_NONE &&
		tdm_expr_value(cpp_eval(frame, tdm_node_first(frame->source->syntax, indices)), NULL, &place) == 0;
	if (is_place && place >= 0 && place < list->arg_count)
		return list->args[place];
	return cpp_unknown(frame, node);
}

/* {a, b}: a list, or an object if its fields are named. */
static const struct tdm_expr *eval_list(struct cpp_frame *frame, uint32_t node)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	if (tdm_node_of_kind(syntax, node, TDM_SYN_initializer_pair) != TDM_NODE_NONE)
		return cpp_object(frame, tdm_no_text, TDM_NODE_NONE, node);
	uint32_t count = tdm_node_child_count(syntax, node), i = 0;
	const struct tdm_expr **args = tdm_arena_take(frame->arena, sizeof *args * count);
	for (TDM_NODE_CHILDREN(child, syntax, node)) {
		args[i] = cpp_eval(frame, child);
		struct cpp_made *made = cpp_made_of(args[i++]);
		if (frame->is_eager)
			cpp_set_latest(made, args[i - 1]); /* the object is passed on in its current state */
	}
	return tdm_expr_list(frame->arena, args, i);
}

/* x++ and --x. */
static const struct tdm_expr *eval_update(struct cpp_frame *frame, uint32_t node)
{
	uint32_t argument = cpp_part(frame, node, TDM_ROLE_argument);
	uint32_t token = cpp_part(frame, node, TDM_ROLE_operator);
	const struct tdm_expr *before = cpp_eval(frame, argument);
	bool is_plus = tdm_str_is(cpp_text(frame, token), "++");
	bool is_prefix = frame->source->syntax->nodes[token].start < frame->source->syntax->nodes[argument].start;
	const struct tdm_expr *one = tdm_expr_number(frame->arena, 1);
	const struct tdm_expr *after =
		tdm_expr_binary(frame->arena, is_plus ? TDM_EXPR_ADD : TDM_EXPR_SUBTRACT, before, one);
	int64_t number;
	if (tdm_expr_value(after, NULL, &number) == 0)
		after = tdm_expr_number(frame->arena, number);
	after = cpp_shortened(frame->cpp, cpp_text(frame, argument), after);
	if (frame->is_eager)
		cpp_assign(frame, argument, after);
	return is_prefix ? after : before;
}

static const struct tdm_expr *eval_assignment(struct cpp_frame *frame, uint32_t node)
{
	uint32_t left = cpp_part(frame, node, TDM_ROLE_left);
	uint32_t right = cpp_part(frame, node, TDM_ROLE_right);
	struct tdm_str token = cpp_text(frame, cpp_part(frame, node, TDM_ROLE_operator));
	bool is_plain = token.len <= 1;
	bool is_lazy = is_plain && cpp_kind(frame, left) == TDM_SYN_identifier && !cpp_is_hot(frame->source, right) &&
		       cpp_kind(frame, right) != TDM_SYN_lambda_expression &&
		       !tdm_contains(cpp_text(frame, right), "++");
	if (is_lazy && frame->is_eager && cpp_made_of(cpp_eval(frame, left)) == NULL) {
		const struct cpp_binding *env = frame->env;
		struct cpp_binding *binding = cpp_bind(frame, CPP_LAZY, cpp_text(frame, left));
		binding->node = right;
		binding->env = env;
		return &tdm_expr_nothing;
	}
	const struct tdm_expr *value = cpp_eval(frame, right);
	if (!is_plain) {
		enum tdm_expr_op op = tdm_expr_operator((struct tdm_str){ token.ptr, token.len - 1 }, 2);
		value = op != TDM_EXPR_NOTHING ? tdm_expr_binary(frame->arena, op, cpp_eval(frame, left), value)
					       : cpp_unknown(frame, left);
	}
	if (frame->is_eager)
		cpp_assign(frame, left, cpp_typed(frame, value, left));
	return value;
}

static const struct tdm_expr *eval_kind(struct cpp_frame *frame, uint32_t node)
{
	const struct tdm_expr *value = NULL;
	struct tdm_str text = cpp_text(frame, node);
	struct cpp_binding *lambda;
	uint32_t type;
	int64_t number;
	switch (cpp_kind(frame, node)) {
	case TDM_SYN_number_literal:
		value = tdm_cpp_number(text, &number) ? tdm_expr_number(frame->arena, number) : NULL;
		break;
	case TDM_SYN_true:
		return tdm_expr_number(frame->arena, 1);
	case TDM_SYN_false:
		return tdm_expr_number(frame->arena, 0);
	case TDM_SYN_string_literal:
	case TDM_SYN_concatenated_string:
		return eval_string(frame, node);
	case TDM_SYN_identifier:
	case TDM_SYN_type_identifier:
		value = cpp_lookup(frame, text);
		value = value != NULL ? value : cpp_global(frame, tdm_no_text, text);
		break;
	case TDM_SYN_qualified_identifier:
		return eval_qualified(frame, node);
	case TDM_SYN_field_expression:
		return eval_field(frame, node);
	case TDM_SYN_binary_expression:
		return eval_binary(frame, node);
	case TDM_SYN_unary_expression:
		return eval_unary(frame, node);
	case TDM_SYN_pointer_expression: /* *x and &x are treated as x */
		value = cpp_eval_part(frame, node, TDM_ROLE_argument);
		if (value->op != TDM_EXPR_OBJECT && value->op != TDM_EXPR_LIST && value->op != TDM_EXPR_NAME)
			value = NULL;
		break;
	case TDM_SYN_conditional_expression:
		return eval_choice(frame, node);
	case TDM_SYN_condition_clause:
	case TDM_SYN_parenthesized_expression:
		return cpp_eval(frame, tdm_node_first(frame->source->syntax, node));
	case TDM_SYN_parameter_declaration:
		return cpp_eval_part(frame, node, TDM_ROLE_type);
	case TDM_SYN_cast_expression:
		return cpp_eval_part(frame, node, TDM_ROLE_value);
	case TDM_SYN_sizeof_expression:
		return eval_sizeof(frame, node);
	case TDM_SYN_subscript_expression:
		return eval_subscript(frame, node);
	case TDM_SYN_initializer_list:
		return eval_list(frame, node);
	case TDM_SYN_lambda_expression:
		lambda = tdm_arena_take(frame->arena, sizeof *lambda);
		*lambda = (struct cpp_binding){ .source = frame->source, .node = node, .env = frame->env };
		return tdm_expr_of(frame->arena, (struct tdm_expr){ .op = TDM_EXPR_OPAQUE, .opaque = lambda });
	case TDM_SYN_update_expression:
		return eval_update(frame, node);
	case TDM_SYN_assignment_expression:
		return eval_assignment(frame, node);
	case TDM_SYN_comma_expression:
		cpp_eval_part(frame, node, TDM_ROLE_left);
		return cpp_eval_part(frame, node, TDM_ROLE_right);
	case TDM_SYN_compound_literal_expression:
		type = cpp_part(frame, node, TDM_ROLE_type);
		return cpp_object(
			frame, cpp_last_name(frame->source, type), type, cpp_part(frame, node, TDM_ROLE_value));
	case TDM_SYN_call_expression:
		return cpp_call(frame, node);
	default:
		break;
	}
	return value != NULL ? value : cpp_unknown(frame, node);
}

const struct tdm_expr *cpp_eval(struct cpp_frame *frame, uint32_t node)
{
	if (node == TDM_NODE_NONE || node >= frame->source->syntax->count)
		return &tdm_expr_nothing;
	if (tdm_arena_is_full(frame->arena))
		return &tdm_expr_nothing;
	if (frame->depth >= CPP_DEPTH_MAX || frame->cpp->steps++ > CPP_STEPS_MAX)
		return cpp_unknown(frame, node);
	frame->depth++;
	const struct tdm_expr *value = eval_kind(frame, node);
	frame->depth--;
	return value;
}
