/*
 * Walks a file's functions statement by statement, and their branches one by one.
 *
 * A statement without names that matter is not evaluated: its variables are bound to nodes, which are evaluated if
 * another expression needs them. A loop is walked once. At the end of a function, the function's objects become
 * entries; a helper's objects belong to its callers.
 */
#include "scan/cpp/cpp.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "scan/front/lexer.h"

/*
 * ---- branches: `if`, `switch`, `?:` and, in device code, #if ----  Each branch is walked separately; the assignments
 * are joined afterwards.
 */

/* The condition of an `if`, without declarations as in: if (auto x = …; x > 0). */
static uint32_t condition_node(const struct tdm_syntax *syntax, uint32_t node)
{
	uint32_t clause = tdm_node_part(syntax, node, TDM_ROLE_condition);
	uint32_t value = tdm_node_part(syntax, clause, TDM_ROLE_value);
	return value != TDM_NODE_NONE ? value : clause;
}

static const struct tdm_scan_branch *new_branch(
	struct cpp_frame *frame, uint32_t id, uint32_t way, const struct tdm_expr *test, struct tdm_str text)
{
	struct tdm_scan_branch *branch = tdm_arena_take(frame->arena, sizeof *branch);
	*branch = (struct tdm_scan_branch){ frame->branch, id, way, text.ptr != NULL ? text.ptr : "", test };
	return branch;
}

const struct tdm_expr *cpp_condition_within(
	struct cpp *cpp, const struct tdm_scan_branch *branch, const struct tdm_scan_branch *outermost)
{
	const struct tdm_expr *condition = branch->test;
	for (branch = branch->outer; branch != NULL && branch != outermost; branch = branch->outer)
		condition = tdm_expr_binary(cpp->arena, TDM_EXPR_AND, branch->test, condition);
	return condition;
}

/* Walks one branch in a copy of the frame; if `value` is set, the branch is an expression. */
static struct cpp_frame walk_branch(
	struct cpp_frame *frame, const struct tdm_scan_branch *branch, uint32_t body, const struct tdm_expr **value)
{
	struct cpp_frame inner = *frame;
	inner.branch = branch;
	if (value != NULL)
		*value = cpp_eval(&inner, body);
	else if (body != TDM_NODE_NONE)
		cpp_walk(&inner, body);
	cpp_leave_scope(&inner, frame->env);
	frame->returns = inner.returns;
	return inner;
}

static void join(struct cpp_frame *frame, uint32_t condition, const struct cpp_frame *then,
	const struct cpp_frame *otherwise, bool is_preproc)
{
	const struct cpp_binding *base = frame->env;
	if (then->has_ended && otherwise->has_ended) {
		frame->has_ended = true;
	} else if (then->has_ended || otherwise->has_ended) {
		frame->env = then->has_ended ? otherwise->env : then->env;
	} else if (then->env != base || otherwise->env != base) {
		struct cpp_binding *binding = cpp_bind(frame, CPP_JOIN, tdm_no_text);
		binding->node = condition;
		binding->env = then->env;
		binding->other = otherwise->env;
		binding->is_preproc = is_preproc;
	}
}

/* The displayed condition of a branch: without outer brackets and, in a helper, with the caller's names. */
static struct tdm_str shown_condition(struct cpp_frame *frame, uint32_t condition)
{
	struct tdm_str text = frame->site != NULL ? cpp_unknown(frame, condition)->text
						  : cpp_squeezed(frame->cpp, cpp_text(frame, condition));
	size_t depth = 0;
	bool is_around = text.len > 2 && text.ptr[0] == '(' && text.ptr[text.len - 1] == ')';
	for (size_t i = 0; is_around && i + 1 < text.len; i++) {
		depth += text.ptr[i] == '(';
		depth -= text.ptr[i] == ')';
		is_around = depth != 0;
	}
	return is_around ? tdm_arena_str(frame->arena, (struct tdm_str){ text.ptr + 1, text.len - 2 }) : text;
}

/* Walks the two branches of an `if`, or evaluates the arms of a `?:`. */
static void walk_branches(struct cpp_frame *frame, uint32_t node, uint32_t asked, const struct tdm_expr *condition,
	const struct tdm_expr **values)
{
	uint32_t id = ++frame->cpp->next_branch;
	struct tdm_str text = shown_condition(frame, asked);
	const struct tdm_expr *opposite = tdm_expr_unary(frame->arena, TDM_EXPR_NOT, condition);
	struct cpp_frame then = walk_branch(
		frame, new_branch(frame, id, 0, condition, text), cpp_part(frame, node, TDM_ROLE_consequence), values);
	struct cpp_frame otherwise = walk_branch(frame, new_branch(frame, id, 1, opposite, text),
		cpp_part(frame, node, TDM_ROLE_alternative), values != NULL ? &values[1] : NULL);
	join(frame, asked, &then, &otherwise, false);
}

static void walk_if(struct cpp_frame *frame, uint32_t node)
{
	const struct cpp_binding *base = frame->env;
	uint32_t declared = cpp_part(frame, cpp_part(frame, node, TDM_ROLE_condition), TDM_ROLE_initializer);
	uint32_t condition = condition_node(frame->source->syntax, node);
	if (declared != TDM_NODE_NONE)
		cpp_walk_body(frame, declared);
	struct cpp_frame pure = *frame;
	pure.is_eager = cpp_is_hot(frame->source, condition);
	const struct tdm_expr *value = cpp_eval(&pure, condition);
	int64_t number;
	if (frame->site != NULL && tdm_expr_value(value, NULL, &number) == 0) {
		/* The arguments of the call decide the condition: only the taken branch is walked, unconditionally. */
		uint32_t taken = cpp_part(frame, node, number != 0 ? TDM_ROLE_consequence : TDM_ROLE_alternative);
		uint32_t other = cpp_part(frame, node, number != 0 ? TDM_ROLE_alternative : TDM_ROLE_consequence);
		const struct tdm_node *nodes = frame->source->syntax->nodes;
		frame->cpp->decided++;
		if (other != TDM_NODE_NONE && frame->source->is_file && frame->is_eager)
			cpp_mark_helper_body(frame->cpp, nodes[other].start, nodes[other].end);
		if (taken != TDM_NODE_NONE)
			cpp_walk(frame, taken);
	} else {
		walk_branches(frame, node, condition, value, NULL);
	}
	if (declared != TDM_NODE_NONE)
		cpp_leave_scope(frame, base);
}

void cpp_eval_arms(
	struct cpp_frame *frame, uint32_t node, const struct tdm_expr *condition, const struct tdm_expr *values[2])
{
	walk_branches(frame, node, cpp_part(frame, node, TDM_ROLE_condition), condition, values);
}

/* The cases of a switch are branches; variables assigned in them are unknown afterwards. */
static void walk_switch(struct cpp_frame *frame, uint32_t node)
{
	uint32_t body = cpp_part(frame, node, TDM_ROLE_body), id = ++frame->cpp->next_branch, way = 0;
	struct tdm_str text = shown_condition(frame, condition_node(frame->source->syntax, node));
	for (TDM_NODE_CHILDREN(child, frame->source->syntax, body)) {
		const struct tdm_scan_branch *branch = new_branch(frame, id, way++, cpp_unknown(frame, child), text);
		walk_branch(frame, branch, child, NULL);
	}
	cpp_bind_loop(frame, node);
}

/* A branch of an #if; its declarations remain visible. */
static struct cpp_frame walk_directive(
	struct cpp_frame *frame, uint32_t id, uint32_t way, uint32_t node, uint32_t except)
{
	struct cpp_frame inner = *frame;
	inner.branch = new_branch(frame, id, way, &tdm_expr_nothing, tdm_no_text);
	if (way == 1 && cpp_kind(frame, node) == TDM_SYN_preproc_elif)
		cpp_walk(&inner, node);
	else
		for (TDM_NODE_CHILDREN(child, frame->source->syntax, node))
			if (child != except && !inner.has_ended)
				cpp_walk(&inner, child);
	for (const struct cpp_binding *b = inner.env; b != frame->env && b != NULL; b = b->next)
		((struct cpp_binding *)(uintptr_t)b)->is_declaration = false;
	frame->returns = inner.returns;
	return inner;
}

/* An #if in device code is a branch, because the host's macros are unknown. In host code all branches count. */
static void walk_preprocessor(struct cpp_frame *frame, uint32_t node)
{
	uint32_t id = ++frame->cpp->next_branch;
	uint32_t alternative = cpp_part(frame, node, TDM_ROLE_alternative);
	uint32_t condition = cpp_part(frame, node, TDM_ROLE_name);
	if (condition == TDM_NODE_NONE)
		condition = cpp_part(frame, node, TDM_ROLE_condition);
	struct cpp_frame then = walk_directive(frame, id, 0, node, alternative);
	struct cpp_frame otherwise = walk_directive(frame, id, 1, alternative, TDM_NODE_NONE);
	join(frame, condition, &then, &otherwise, true);
}

/* ---- statements ---- */

void cpp_walk_body(struct cpp_frame *frame, uint32_t node)
{
	for (TDM_NODE_CHILDREN(child, frame->source->syntax, node)) {
		if (frame->has_ended)
			return;
		cpp_walk(frame, child);
	}
}

/* The variable inside a declarator, below pointers, references and arrays. */
uint32_t cpp_declared_name(const struct tdm_syntax *syntax, uint32_t declarator)
{
	for (int depth = 0; depth < CPP_DEPTH_MAX && declarator != TDM_NODE_NONE; depth++) {
		enum tdm_syntax_kind kind = tdm_node_kind(syntax, declarator);
		if (kind == TDM_SYN_identifier || kind == TDM_SYN_structured_binding_declarator)
			return declarator;
		uint32_t inner = tdm_node_part(syntax, declarator, TDM_ROLE_declarator);
		declarator = inner != TDM_NODE_NONE ? inner : tdm_node_first(syntax, declarator);
	}
	return TDM_NODE_NONE;
}

/* Binds the variable of a declaration. In auto [a, b] = …, each name gets its element of a list. */
static void bind_variable(struct cpp_frame *frame, uint32_t variable, const struct tdm_expr *value)
{
	uint32_t i = 0;
	if (cpp_kind(frame, variable) != TDM_SYN_structured_binding_declarator) {
		if (variable != TDM_NODE_NONE)
			cpp_bind_value(frame, cpp_text(frame, variable), value, true);
		return;
	}
	for (TDM_NODE_CHILDREN(name, frame->source->syntax, variable)) {
		bool is_known = value->op == TDM_EXPR_LIST && i < value->arg_count;
		struct tdm_str text = cpp_text(frame, name);
		cpp_bind_value(frame, text, is_known ? value->args[i] : cpp_named(frame->cpp, text), true);
		i++;
	}
}

/* The value of a variable declared without one. */
static const struct tdm_expr *empty_value(struct cpp_frame *frame, uint32_t type, struct tdm_str name)
{
	struct tdm_str type_name = cpp_last_name(frame->source, type);
	uint8_t kind = cpp_type_of(type_name);
	if (tdm_is_one_of(type_name, "vector Group map unordered_map SmallVector array set"))
		return tdm_expr_list(frame->arena, NULL, 0);
	if (kind != CPP_TYPE_NONE || tdm_str_is(type_name, "CBFormatDescriptor")) {
		const struct tdm_expr *object =
			tdm_expr_make(frame->arena, TDM_EXPR_OBJECT, tdm_arena_str(frame->arena, type_name), NULL, 0);
		return cpp_declared(frame, type, name, cpp_track(frame, object, kind, type));
	}
	return cpp_named(frame->cpp, name);
}

/* Type name{…} or Type name(…): the value of an object if the type is known, else NULL. */
static const struct tdm_expr *constructed(struct cpp_frame *frame, uint32_t type, uint32_t value)
{
	struct tdm_str type_name = cpp_last_name(frame->source, type);
	enum tdm_syntax_kind kind = cpp_kind(frame, value);
	uint8_t type_kind = cpp_type_of(type_name);
	bool is_known = type_kind != CPP_TYPE_NONE || tdm_str_is(type_name, "CBFormatDescriptor");
	if (kind == TDM_SYN_argument_list) {
		if (type_kind == TDM_SHAPE_CB_CONFIG)
			return cpp_config(frame, type, value);
		uint32_t first = tdm_node_first(frame->source->syntax, value);
		return first != TDM_NODE_NONE && tdm_node_child_count(frame->source->syntax, value) == 1
			       ? cpp_eval(frame, first)
			       : cpp_unknown(frame, value);
	}
	return kind == TDM_SYN_initializer_list && is_known ? cpp_object(frame, type_name, type, value) : NULL;
}

/* Whether the parameters in a list have names, which makes the declaration a function. */
static bool has_names(const struct tdm_syntax *syntax, uint32_t list)
{
	for (TDM_NODE_CHILDREN(child, syntax, list))
		if (tdm_node_part(syntax, child, TDM_ROLE_declarator) != TDM_NODE_NONE)
			return true;
	return false;
}

/* The value of "auto x{value}". "auto x = {value}" is a list. */
static uint32_t bare_value(const struct cpp_source *source, uint32_t type, uint32_t declarator, uint32_t value)
{
	const struct tdm_syntax *syntax = source->syntax;
	bool is_bare = tdm_node_kind(syntax, value) == TDM_SYN_initializer_list &&
		       tdm_node_kind(syntax, type) == TDM_SYN_placeholder_type_specifier &&
		       tdm_node_child_count(syntax, value) == 1 &&
		       tdm_node_kind(syntax, tdm_node_first(syntax, value)) != TDM_SYN_initializer_pair;
	uint32_t start = syntax->nodes[declarator].start;
	return is_bare && memchr(syntax->text.ptr + start, '=', syntax->nodes[value].start - start) == NULL
		       ? tdm_node_first(syntax, value)
		       : value;
}

static void declare(struct cpp_frame *frame, uint32_t type, uint32_t declarator)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	bool has_value = cpp_kind(frame, declarator) == TDM_SYN_init_declarator;
	uint32_t value_node = has_value ? cpp_part(frame, declarator, TDM_ROLE_value) : TDM_NODE_NONE;
	uint32_t name_node =
		cpp_declared_name(syntax, has_value ? cpp_part(frame, declarator, TDM_ROLE_declarator) : declarator);
	if (name_node == TDM_NODE_NONE)
		return;
	struct tdm_str name = cpp_text(frame, name_node);
	bool is_array = has_value &&
			cpp_kind(frame, cpp_part(frame, declarator, TDM_ROLE_declarator)) == TDM_SYN_array_declarator;
	if (cpp_kind(frame, declarator) == TDM_SYN_function_declarator) {
		/* "Type name(a);" may be an object. */
		uint32_t list = cpp_part(frame, declarator, TDM_ROLE_parameters);
		struct tdm_str type_name = cpp_last_name(frame->source, type);
		if (has_names(syntax, list))
			return;
		if (cpp_type_of(type_name) == TDM_SHAPE_CB_CONFIG)
			cpp_bind_value(
				frame, name, cpp_declared(frame, type, name, cpp_config(frame, type, list)), true);
		else if (tdm_is_one_of(type_name, CPP_BUFFER_TYPES))
			cpp_bind_value(frame, name, cpp_eval(frame, tdm_node_first(syntax, list)), true);
		return;
	}
	/* "Type &name(a);" can only be a function. */
	if (!has_value && tdm_node_of_kind(syntax, declarator, TDM_SYN_function_declarator) != TDM_NODE_NONE)
		return;
	bool is_parts = cpp_kind(frame, name_node) == TDM_SYN_structured_binding_declarator;
	bool is_eager = is_parts || (frame->is_eager && cpp_has_effects(frame->source, declarator)) ||
			cpp_type_of(cpp_last_name(frame->source, type)) != CPP_TYPE_NONE;
	if (value_node == TDM_NODE_NONE) {
		cpp_bind_value(frame, name, empty_value(frame, type, name), true);
		return;
	}
	value_node = bare_value(frame->source, type, declarator, value_node);
	if (!is_eager || cpp_kind(frame, value_node) == TDM_SYN_lambda_expression) {
		const struct cpp_binding *env = frame->env;
		struct cpp_binding *binding = cpp_bind(frame, CPP_LAZY, name);
		bool is_one = tdm_node_kind(syntax, value_node) == TDM_SYN_argument_list &&
			      tdm_node_child_count(syntax, value_node) == 1; /* std::string path(value); */
		binding->node = is_one ? tdm_node_first(syntax, value_node) : value_node;
		binding->type = is_array ? TDM_NODE_NONE : type;
		binding->env = env;
		binding->is_declaration = true;
		return;
	}
	const struct tdm_expr *value = constructed(frame, type, value_node);
	if (value == NULL)
		value = cpp_eval(frame, value_node);
	if (is_parts) {
		bind_variable(frame, name_node, value);
		return;
	}
	value = cpp_declared(frame, is_array ? TDM_NODE_NONE : type, name, value);
	bool is_atom =
		(value->op == TDM_EXPR_NAME && !value->is_parameter && !cpp_is_null(value) && frame->site == NULL) ||
		value->op == TDM_EXPR_NOTHING;
	cpp_bind_value(frame, name, is_atom ? cpp_named(frame->cpp, name) : value, true);
}

/* std::visit([&](auto& x) { n = x.n; }, …): a function may call its lambda argument any number of times, so variables
 * assigned in the lambda are unknown afterwards, as after a loop. The same holds for variables passed by reference to a
 * function in the file. */
static void forget_assigned(struct cpp_frame *frame, uint32_t statement)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	for (uint32_t i = statement, end = syntax->nodes[statement].next; i < end;) {
		enum tdm_syntax_kind kind = tdm_node_kind(syntax, i);
		bool is_call = kind == TDM_SYN_call_expression;
		bool is_taken = is_call && tdm_node_of_kind(syntax, tdm_node_part(syntax, i, TDM_ROLE_arguments),
						   TDM_SYN_lambda_expression) != TDM_NODE_NONE;
		if (is_taken)
			cpp_bind_loop(frame, i);
		else if (is_call && frame->is_eager)
			cpp_forget_given(frame, i);
		i = is_taken || kind == TDM_SYN_lambda_expression ? syntax->nodes[i].next : i + 1;
	}
}

static void walk_expression(struct cpp_frame *frame, uint32_t node)
{
	uint32_t expression = tdm_node_first(frame->source->syntax, node);
	if (expression == TDM_NODE_NONE)
		return;
	enum tdm_syntax_kind kind = cpp_kind(frame, expression);
	bool is_call = kind == TDM_SYN_call_expression;
	uint32_t function = is_call ? cpp_part(frame, expression, TDM_ROLE_function) : TDM_NODE_NONE;
	struct tdm_str name = is_call ? cpp_last_name(frame->source, function) : tdm_no_text;
	bool is_method = cpp_kind(frame, function) == TDM_SYN_field_expression;
	bool may_change = is_method ? cpp_opens_list(name) || tdm_begins_with(name, "set_") ||
					      tdm_is_one_of(name, "push_back emplace_back index")
				    : is_call && cpp_may_change(name);
	if (may_change || kind == TDM_SYN_assignment_expression || kind == TDM_SYN_update_expression ||
		kind == TDM_SYN_comma_expression || cpp_has_effects(frame->source, expression))
		cpp_eval(frame, expression);
	forget_assigned(frame, expression);
	frame->has_ended |= is_call && tdm_is_one_of(name, "TT_THROW abort exit");
}

static void walk_return(struct cpp_frame *frame, uint32_t node)
{
	uint32_t value = tdm_node_first(frame->source->syntax, node);
	struct cpp_return *r = tdm_arena_take(frame->arena, sizeof *r);
	const struct tdm_expr *result = value != TDM_NODE_NONE ? cpp_typed(frame, cpp_eval(frame, value), value) : NULL;
	frame->has_ended = true;
	*r = (struct cpp_return){ frame->returns, result, frame->branch, frame->env };
	frame->returns = r;
}

/* Walks a loop once, with the variables assigned in the loop unknown. If a loop creates nothing and runs over a known
 * list, it is walked for each element. */
static void walk_loop(struct cpp_frame *frame, uint32_t node)
{
	const struct cpp_binding *base = frame->env;
	uint32_t body = cpp_part(frame, node, TDM_ROLE_body), initializer = cpp_part(frame, node, TDM_ROLE_initializer);
	uint32_t variable = cpp_declared_name(frame->source->syntax, cpp_part(frame, node, TDM_ROLE_declarator));
	bool was_in_loop = frame->in_loop, creates = frame->source->is_file && cpp_is_hot(frame->source, body);
	if (!creates && cpp_kind(frame, node) == TDM_SYN_for_range_loop) {
		struct cpp_frame pure = *frame;
		pure.is_eager = false;
		const struct tdm_expr *list = cpp_eval_part(&pure, node, TDM_ROLE_right);
		bool is_known = list->op == TDM_EXPR_LIST && list->arg_count <= CPP_UNROLL_MAX;
		for (uint32_t i = 0; is_known && i < list->arg_count; i++) {
			base = frame->env;
			bind_variable(frame, variable, list->args[i]);
			cpp_walk(frame, body);
			cpp_leave_scope(frame, base);
			frame->has_ended = false;
		}
		if (is_known)
			return;
	}
	frame->in_loop = true;
	if (initializer != TDM_NODE_NONE)
		cpp_walk(frame, initializer);
	cpp_bind_loop(frame, node);
	bool is_parts = cpp_kind(frame, variable) == TDM_SYN_structured_binding_declarator;
	bind_variable(frame, variable, is_parts ? &tdm_expr_nothing : cpp_named(frame->cpp, cpp_text(frame, variable)));
	if (body != TDM_NODE_NONE)
		cpp_walk(frame, body);
	frame->in_loop = was_in_loop;
	frame->has_ended = false;
	cpp_leave_scope(frame, base);
	cpp_bind_loop(frame, node);
}

void cpp_walk(struct cpp_frame *frame, uint32_t node)
{
	frame->cpp->walk->is_cut |= frame->cpp->steps > CPP_STEPS_MAX;
	if (frame->depth >= CPP_DEPTH_MAX || frame->cpp->steps > CPP_STEPS_MAX || tdm_arena_is_full(frame->arena))
		return;
	const struct tdm_syntax *syntax = frame->source->syntax;
	const struct cpp_binding *base = frame->env;
	frame->depth++;
	switch (tdm_node_kind(syntax, node)) {
	case TDM_SYN_compound_statement:
		cpp_walk_body(frame, node);
		cpp_leave_scope(frame, base);
		break;
	case TDM_SYN_declaration:
		forget_assigned(frame, node);
		for (TDM_NODE_CHILDREN(child, syntax, node))
			if (syntax->nodes[child].role == TDM_ROLE_declarator)
				declare(frame, cpp_part(frame, node, TDM_ROLE_type), child);
		break;
	case TDM_SYN_expression_statement:
		walk_expression(frame, node);
		break;
	case TDM_SYN_return_statement:
		walk_return(frame, node);
		break;
	case TDM_SYN_if_statement:
		walk_if(frame, node);
		break;
	case TDM_SYN_for_statement:
	case TDM_SYN_for_range_loop:
	case TDM_SYN_while_statement:
	case TDM_SYN_do_statement:
		walk_loop(frame, node);
		break;
	case TDM_SYN_switch_statement:
		walk_switch(frame, node);
		break;
	case TDM_SYN_break_statement:
	case TDM_SYN_continue_statement:
		frame->has_ended = true;
		break;
	case TDM_SYN_function_definition: /* nested only because of a parse error */
	case TDM_SYN_ERROR:
	case TDM_SYN_else_clause:
	case TDM_SYN_case_statement:
	case TDM_SYN_try_statement:
	case TDM_SYN_catch_clause:
	case TDM_SYN_labeled_statement:
	case TDM_SYN_preproc_else:
		cpp_walk_body(frame, node);
		break;
	case TDM_SYN_preproc_if:
	case TDM_SYN_preproc_ifdef:
	case TDM_SYN_preproc_elif:
		if (frame->cpp->walk->file->has_host)
			cpp_walk_body(frame, node);
		else
			walk_preprocessor(frame, node);
		break;
	case TDM_SYN_call_expression: /* at a statement with a parse error */
	case TDM_SYN_assignment_expression:
		if (cpp_has_effects(frame->source, node))
			cpp_eval(frame, node);
		break;
	default:
		break;
	}
	frame->depth--;
}

/* ---- device code: size and complexity ---- */

static bool is_decision(const struct tdm_syntax *syntax, uint32_t node)
{
	switch (tdm_node_kind(syntax, node)) {
	case TDM_SYN_if_statement:
	case TDM_SYN_for_statement:
	case TDM_SYN_for_range_loop:
	case TDM_SYN_while_statement:
	case TDM_SYN_do_statement:
	case TDM_SYN_catch_clause:
	case TDM_SYN_conditional_expression:
		return true;
	case TDM_SYN_case_statement:
		return tdm_node_part(syntax, node, TDM_ROLE_value) != TDM_NODE_NONE;
	case TDM_SYN_binary_expression:
		return tdm_is_one_of(
			tdm_node_text(syntax, tdm_node_part(syntax, node, TDM_ROLE_operator)), "&& || and or");
	default:
		return false;
	}
}

static bool is_main(const struct tdm_syntax *syntax, uint32_t function)
{
	uint32_t node = tdm_node_part(syntax, function, TDM_ROLE_declarator);
	while (tdm_node_kind(syntax, node) == TDM_SYN_function_declarator)
		node = tdm_node_part(syntax, node, TDM_ROLE_declarator);
	return tdm_is_one_of(tdm_node_text(syntax, node), "kernel_main MAIN") ||
	       tdm_begins_with(tdm_node_text(syntax, function), "TT_KERNEL ");
}

/* Adds the complexity of one of the file's trees. Returns whether the tree has a main function. */
static bool measure(struct tdm_kernel_code *code, const struct tdm_syntax *syntax)
{
	struct {              /* functions, and lambdas with a name, whose nodes are being counted */
		uint32_t end; /* the node after the function */
		uint32_t complexity;
	} *open = NULL;
	size_t count = 0, cap = 0;
	uint32_t lambda = TDM_NODE_NONE, complexity = 0; /* lambda: a lambda that is the value of a variable */
	for (uint32_t i = 0; i < syntax->count; i++) {
		enum tdm_syntax_kind kind = tdm_node_kind(syntax, i);
		bool is_lambda = kind == TDM_SYN_lambda_expression, decides = is_decision(syntax, i);
		bool is_function = kind == TDM_SYN_function_definition || (is_lambda && i == lambda);
		while (count != 0 && open[count - 1].end <= i)
			count--;
		if (kind == TDM_SYN_init_declarator)
			lambda = tdm_node_part(syntax, i, TDM_ROLE_value);
		complexity += is_function || is_lambda || decides;
		code->has_main |= kind == TDM_SYN_function_definition && is_main(syntax, i);
		if (is_function) {
			tdm_grow(&open, &cap, count + 1, sizeof *open);
			open[count].end = syntax->nodes[i].next;
			open[count++].complexity = 0;
		}
		if (count == 0)
			continue;
		open[count - 1].complexity += is_function || decides;
		if (open[count - 1].complexity > code->max_complexity)
			code->max_complexity = open[count - 1].complexity;
	}
	code->complexity = complexity > code->complexity ? complexity : code->complexity;
	free(open);
	return code->has_main;
}

static void count_lines(struct tdm_kernel_code *code, const struct tdm_file_walk *walk)
{
	struct tdm_lexer lexer;
	struct tdm_token token;
	uint32_t last = 0;
	struct tdm_str text = walk->syntax->text;
	code->lines = (uint32_t)walk->line_count - (text.len != 0 && text.ptr[text.len - 1] == '\n');
	tdm_lexer_init(&lexer, text);
	while ((token = tdm_lexer_next(&lexer)).kind != TDM_TOKEN_END) {
		uint32_t first = tdm_walk_line(walk, token.start), end = tdm_walk_line(walk, token.end - 1);
		first = first <= last ? last + 1 : first;
		code->code_lines += end >= first ? end - first + 1 : 0;
		last = end > last ? end : last;
	}
}

/* ---- texts with one branch of every #if ---- */

static void blank(char *text, uint32_t from, uint32_t to)
{
	for (uint32_t at = from; at < to; at++)
		if (text[at] != '\n')
			text[at] = ' ';
}

/* Blanks out all but the first or the last branch of every #if, and marks the lines inside. */
static void choose_branches(const struct tdm_file_walk *walk, char *text, bool *is_in_if, bool takes_last)
{
	struct tdm_lexer lexer, line;
	struct tdm_token token;
	/* hidden: depth of the outermost #if whose branch is not taken, or 0 */
	uint32_t from = 0, depth = 0, hidden = 0;
	tdm_lexer_init(&lexer, walk->syntax->text);
	do {
		token = tdm_lexer_next(&lexer);
		if (token.kind != TDM_TOKEN_DIRECTIVE && token.kind != TDM_TOKEN_END)
			continue;
		tdm_lexer_init(&line, tdm_token_text(&lexer, token));
		line.at_line_start = false;
		tdm_lexer_next(&line); /* the '#' */
		struct tdm_str word = tdm_token_text(&line, tdm_lexer_next(&line));
		if (token.kind != TDM_TOKEN_END && !tdm_is_one_of(word, "if ifdef ifndef elif else endif"))
			continue;
		uint32_t last = tdm_walk_line(walk, token.start);
		for (uint32_t i = tdm_walk_line(walk, from); i <= last && depth != 0; i++)
			is_in_if[i] = true;
		if (hidden != 0)
			blank(text, from, token.start);
		blank(text, token.start, token.end);
		bool is_end = tdm_str_is(word, "endif"), is_begin = tdm_is_one_of(word, "if ifdef ifndef");
		depth += is_begin;
		if (hidden == depth && (is_end || (takes_last && tdm_str_is(word, "else"))))
			hidden = 0;
		else if (hidden == 0 && !is_end && (!is_begin || takes_last))
			hidden = depth;
		depth -= is_end && depth != 0;
		from = token.end;
	} while (token.kind != TDM_TOKEN_END);
}

/* ---- operations of device code ---- */

bool cpp_operation(struct cpp_frame *frame, uint32_t call, struct tdm_str name)
{
	struct tdm_file_walk *walk = frame->cpp->walk;
	struct tdm_kernel_code *code = walk->file->code;
	uint32_t function = cpp_part(frame, call, TDM_ROLE_function);
	uint32_t arguments = cpp_part(frame, call, TDM_ROLE_arguments);
	uint32_t first = tdm_node_first(frame->source->syntax, arguments);
	bool is_method =
		/* x.wait_front(n), as opposed to cb_wait_front(x, n) */
		cpp_kind(frame, function) == TDM_SYN_field_expression;
	if (code == NULL || !frame->is_eager || !frame->source->is_file || first == TDM_NODE_NONE ||
		(!is_method && !tdm_begins_with(name, "cb_")))
		return false;
	uint8_t action = 0;
	name = is_method ? name : tdm_after(name, 3);
	while (action < TDM_KERNEL_ACTIONS && !tdm_str_is(name, tdm_kernel_action_names[action]))
		action++;
	if (action == TDM_KERNEL_ACTIONS)
		return false;
	const struct tdm_expr *buffer =
		cpp_eval(frame, is_method ? cpp_part(frame, function, TDM_ROLE_argument) : first);
	bool is_name = buffer->op == TDM_EXPR_NAME, is_dfb = is_name && tdm_begins_with(buffer->text, "dfb::");
	/*
	 * x.push_back() may be an operation on a list; in a file that may contain host code, the buffer's index must be
	 * known.
	 */
	if (is_method && action == TDM_KERNEL_PUSH &&
		!(is_name ? is_dfb || !walk->file->has_host
			  : buffer->op == TDM_EXPR_NUMBER || buffer->op == TDM_EXPR_CALL ||
					buffer->op == TDM_EXPR_CHOOSE))
		return false;
	struct tdm_kernel_use use = { .action = action,
		.in_loop = frame->in_loop,
		.in_main = frame->cpp->in_main,
		.file = walk->file_idx,
		.line = tdm_walk_node_line(walk, call),
		.buffer = buffer,
		.pages = cpp_eval(frame, is_method ? first : tdm_node_child(frame->source->syntax, arguments, 1)),
		.index = -1,
		.name = "" };
	use.is_conditional = !use.in_main || (walk->is_in_if != NULL && walk->is_in_if[use.line]);
	use.condition = frame->branch != NULL ? cpp_condition_within(frame->cpp, frame->branch, NULL) : NULL;
	code->has_certain_use |= !is_method || action != TDM_KERNEL_PUSH;
	/* the other reading of the file has already found the operation */
	for (size_t i = 0; walk->is_in_if != NULL && i < code->use_count; i++)
		if (code->uses[i].line == use.line && code->uses[i].action == action &&
			tdm_expr_is_same(code->uses[i].buffer, buffer))
			return true;
	tdm_grow(&code->uses, &code->use_cap, code->use_count + 1, sizeof *code->uses);
	code->uses[code->use_count++] = use;
	return true;
}

/* ---- files ---- */

/* Starts walking a function, or a statement outside any function. */
static struct cpp_frame begin(struct cpp *cpp)
{
	cpp->first = cpp->last = NULL;
	cpp->made_count = cpp->cut_count = 0;
	cpp->steps = 0;
	cpp->in_main = false;
	return (struct cpp_frame){ .cpp = cpp, .arena = cpp->arena, .source = &cpp->own, .is_eager = true };
}

/* Whether callers follow a function in this file. The project leaves out functions that are too long or create nothing.
 * */
static bool is_followed(const struct cpp *cpp, struct tdm_str name)
{
	for (struct tdm_definition *d = tdm_project_find(cpp->walk->project, name); d != NULL;
		d = tdm_definition_next(d))
		if (d->kind == TDM_DEFINES_FUNCTION && d->file == cpp->walk->file_idx)
			return true;
	return false;
}

static void walk_function(struct cpp *cpp, uint32_t node)
{
	const struct tdm_syntax *syntax = cpp->own.syntax;
	uint32_t body = tdm_node_part(syntax, node, TDM_ROLE_body), function = node;
	uint32_t declarator = tdm_node_part(syntax, node, TDM_ROLE_declarator);
	while (declarator != TDM_NODE_NONE && tdm_node_kind(syntax, declarator) != TDM_SYN_function_declarator) {
		uint32_t inner = tdm_node_part(syntax, declarator, TDM_ROLE_declarator);
		declarator = inner != TDM_NODE_NONE ? inner
						    : tdm_node_of_kind(syntax, declarator, TDM_SYN_function_declarator);
	}
	struct tdm_str name = tdm_node_text(syntax, tdm_node_part(syntax, declarator, TDM_ROLE_declarator));
	struct cpp_frame frame = begin(cpp);
	while (function < body && tdm_node_kind(syntax, function) != TDM_SYN_function_declarator)
		function++;
	cpp->in_main = is_main(syntax, node);
	cpp_bind_parameters(
		&frame, function < body ? tdm_node_part(syntax, function, TDM_ROLE_parameters) : TDM_NODE_NONE);
	cpp_walk_body(&frame, body);
	struct tdm_str last = tdm_last_part(name, ':');
	if (cpp_is_helper(cpp, last) && is_followed(cpp, last))
		cpp_mark_helper_body(cpp, syntax->nodes[node].start, syntax->nodes[node].end);
	else
		cpp_emit(cpp, cpp_squeezed(cpp, name), tdm_walk_node_line(cpp->walk, node));
}

/* Walks all functions, in namespaces, classes, templates and between errors. Statements outside any function are walked
 * as well, because parse errors may hide the heads of functions. */
static void walk_file(struct cpp *cpp)
{
	const struct tdm_syntax *syntax = cpp->own.syntax;
	for (uint32_t i = 0; i < syntax->count && !tdm_arena_is_full(cpp->arena);) {
		enum tdm_syntax_kind kind = tdm_node_kind(syntax, i);
		bool is_function =
			kind == TDM_SYN_function_definition && tdm_node_part(syntax, i, TDM_ROLE_body) != TDM_NODE_NONE;
		bool is_statement = kind == TDM_SYN_expression_statement || kind == TDM_SYN_declaration;
		bool is_hot = cpp_is_hot(&cpp->own, i);
		if (is_hot && is_function) {
			walk_function(cpp, i);
		} else if (is_hot && is_statement) {
			struct cpp_frame frame = begin(cpp);
			cpp_walk(&frame, i);
			cpp_emit(cpp, tdm_str_of("(no function)"), 1);
		}
		i = is_hot && !is_function && !is_statement ? i + 1 : syntax->nodes[i].next;
	}
}

/* The expression that creates the object at a byte; TDM_NODE_NONE if there is none. */
static uint32_t maker_at(const struct cpp *cpp, uint32_t byte)
{
	const struct tdm_syntax *syntax = cpp->own.syntax;
	uint32_t found = TDM_NODE_NONE;
	for (uint32_t i = 0; i < syntax->count && syntax->nodes[i].start <= byte; i++) {
		enum tdm_syntax_kind kind = tdm_node_kind(syntax, i);
		bool is_maker = kind == TDM_SYN_compound_literal_expression || kind == TDM_SYN_call_expression;
		uint32_t type = is_maker ? tdm_node_first(syntax, i) : TDM_NODE_NONE;
		bool is_it = type != TDM_NODE_NONE && cpp_last_name(&cpp->own, type).ptr == syntax->text.ptr + byte;
		found = is_it ? i : found;
	}
	return found;
}

/* Reads one of a file's trees. If the tree has errors, objects not reached through any statement are read separately.
 * */
static void read_tree(struct tdm_file_walk *walk)
{
	struct tdm_scan_file *file = walk->file;
	struct cpp cpp = {
		.walk = walk,
		.arena = &file->arena,
		.own = { .syntax = walk->syntax, .is_file = true, .file = walk->file_idx },
	};
	size_t places = walk->syntax->error_count != 0 ? file->place_count : 0;
	cpp_find_hot(&cpp);
	cpp_find_takers(&cpp);
	walk_file(&cpp);
	for (size_t i = 0; i < places && !tdm_arena_is_full(cpp.arena); i++) {
		if (file->places[i].grasp != TDM_GRASP_NOT || file->places[i].shape == TDM_SHAPE_HELPER)
			continue;
		struct cpp_frame frame = begin(&cpp);
		cpp_eval(&frame, maker_at(&cpp, file->places[i].byte));
		cpp_emit(&cpp, tdm_str_of("(no function)"), 1);
	}
	free(cpp.own.hot);
	tdm_map_done(&cpp.takers);
}

/*
 * A loop that begins in each branch of an #if and ends after it only parses after preprocessing. Such a main function
 * is read twice, once with the first branch of every #if and once with the last. Returns false if that does not help.
 */
static bool read_variants(struct tdm_file_walk *walk)
{
	struct tdm_file_walk inner = *walk;
	struct tdm_syntax syntax = { 0 };
	bool has_main = false, *is_in_if = tdm_zalloc(walk->line_count + 1, sizeof *is_in_if);
	inner.syntax = &syntax;
	inner.is_in_if = is_in_if;
	for (int last = 0; last < 2; last++) {
		size_t len = walk->syntax->text.len;
		char *text = tdm_copy_of(walk->syntax->text.ptr, len);
		choose_branches(walk, text, is_in_if, last == 1);
		if (tdm_syntax_parse(&syntax, walk->parser, (struct tdm_str){ text, len }) == 0 &&
			measure(walk->file->code, &syntax)) {
			has_main = true;
			read_tree(&inner);
		}
		free(text);
	}
	tdm_syntax_done(&syntax);
	free(is_in_if);
	return has_main;
}

/*
 * Whether a type name begins an object: arguments, braces or a variable must follow. "Type name(a);" is a function,
 * except for a config, which is often created that way. "Type name = make(a);" counts where make() creates the object.
 * `whole`: the name with its namespaces; `around`: the last declaration before the name.
 */
static bool makes_object(
	const struct tdm_syntax *syntax, uint32_t node, uint32_t whole, uint32_t around, bool is_config)
{
	uint8_t role = syntax->nodes[whole].role;
	struct tdm_str text = syntax->text;
	const char *next = cpp_next_char(text, syntax->nodes[node].end);
	if (*next == '(')
		return role != TDM_ROLE_declarator && role != TDM_ROLE_type;
	if (*next == '{')
		return role != TDM_ROLE_name;
	if (*next == '\0' || around == TDM_NODE_NONE || tdm_node_part(syntax, around, TDM_ROLE_type) != whole)
		return false;
	uint32_t at = (uint32_t)(next - text.ptr), start = at;
	while (at < text.len && (isalnum((unsigned char)text.ptr[at]) || text.ptr[at] == '_'))
		at++;
	next = cpp_next_char(text, at);
	if (*next == '(') {
		uint32_t function = tdm_node_of_kind(syntax, around, TDM_SYN_function_declarator);
		return is_config && !has_names(syntax, tdm_node_part(syntax, function, TDM_ROLE_parameters));
	}
	return at != start && ((*next == ';' && !is_config) || *next == '{');
}

/* Finds the places in a file where a type creates an object, or where a function with a helper-like name is called. */
static void find_places(struct tdm_file_walk *walk)
{
	const struct tdm_syntax *syntax = walk->syntax;
	uint32_t qualified = TDM_NODE_NONE, declaration = TDM_NODE_NONE;
	for (uint32_t i = 0; i < syntax->count; i++) {
		enum tdm_syntax_kind kind = tdm_node_kind(syntax, i);
		uint8_t shape;
		if (kind == TDM_SYN_declaration)
			declaration = i;
		else if (kind == TDM_SYN_qualified_identifier &&
			 (qualified == TDM_NODE_NONE || i >= syntax->nodes[qualified].next))
			qualified = i;
		if (kind != TDM_SYN_identifier && kind != TDM_SYN_type_identifier && kind != TDM_SYN_field_identifier)
			continue;
		enum tdm_name_sense sense = tdm_name_meaning(tdm_node_text(syntax, i), &shape);
		bool is_inner = qualified != TDM_NODE_NONE && i < syntax->nodes[qualified].next;
		uint32_t whole = is_inner ? qualified : i;
		bool is_call = sense == TDM_SENSE_HELPER && syntax->nodes[whole].role != TDM_ROLE_declarator &&
			       *cpp_next_char(syntax->text, syntax->nodes[i].end) == '(';
		if (is_call || (sense == TDM_SENSE_TYPE &&
				       makes_object(syntax, i, whole, declaration, shape == TDM_SHAPE_CB_CONFIG)))
			tdm_place_add(walk->file, syntax->nodes[i].start, shape);
	}
}

int tdm_cpp_read(struct tdm_file_walk *walk)
{
	if (walk->file->has_host)
		find_places(walk);
	struct tdm_scan_file *file = walk->file;
	if (file->has_device) {
		file->code = tdm_arena_take(&file->arena, sizeof *file->code);
		count_lines(file->code, walk);
	}
	bool lost_main = file->has_device && !measure(file->code, walk->syntax) && walk->syntax->error_count != 0 &&
			 (tdm_contains(walk->syntax->text, "kernel_main") || tdm_contains(walk->syntax->text, "MAIN"));
	if (!lost_main || !read_variants(walk))
		read_tree(walk);
	struct tdm_kernel_code *code = file->code;
	if (code != NULL && !code->has_main && !code->has_certain_use) {
		free(code->uses);
		file->code = NULL;
	}
	return tdm_arena_is_full(&file->arena) ? -EFBIG : 0;
}
