/*
 * An environment is a list of bindings, the newest first. Leaving a block, a branch or a loop adds a binding that
 * summarises its effects, so older environments never change. Values are evaluated when needed, in the environment in
 * which they were bound.
 */
#include "scan/cpp/cpp.h"

/* ---- lookup ---- */

struct cpp_binding *cpp_bind(struct cpp_frame *frame, enum cpp_binding_kind kind, struct tdm_str name)
{
	struct cpp_binding *binding = tdm_arena_take(frame->arena, sizeof *binding);
	binding->next = frame->env;
	binding->name = name;
	binding->kind = (uint8_t)kind;
	binding->source = frame->source;
	binding->is_helpers = frame->site != NULL;
	binding->node = binding->type = TDM_NODE_NONE;
	frame->env = binding;
	return binding;
}

void cpp_bind_value(struct cpp_frame *frame, struct tdm_str name, const struct tdm_expr *value, bool is_declaration)
{
	struct cpp_binding *binding = cpp_bind(frame, CPP_VALUE, name);
	binding->value = value;
	binding->is_declaration = is_declaration;
}

void cpp_bind_loop(struct cpp_frame *frame, uint32_t node)
{
	cpp_bind(frame, CPP_LOOP, tdm_no_text)->node = node;
}

/* Leaves a block: declarations end, assignments persist. */
void cpp_leave_scope(struct cpp_frame *frame, const struct cpp_binding *base)
{
	const struct cpp_binding *end = frame->env;
	bool assigns = false;
	for (const struct cpp_binding *b = end; b != base && b != NULL; b = b->next)
		assigns |= !b->is_declaration;
	frame->env = base;
	if (assigns)
		cpp_bind(frame, CPP_SCOPE, tdm_no_text)->env = end;
}

/* Whether a loop assigns to a variable, in the form x, x.b, x[b] or std::tie(x, b). */
static bool loop_assigns(const struct cpp_binding *loop, struct tdm_str name)
{
	const struct tdm_syntax *syntax = loop->source->syntax;
	for (uint32_t i = loop->node; i < syntax->nodes[loop->node].next; i++) {
		enum tdm_syntax_kind kind = tdm_node_kind(syntax, i);
		if (kind != TDM_SYN_assignment_expression && kind != TDM_SYN_update_expression)
			continue;
		uint32_t target = tdm_node_part(
			syntax, i, kind == TDM_SYN_assignment_expression ? TDM_ROLE_left : TDM_ROLE_argument);
		struct tdm_str text = tdm_node_text(syntax, target);
		if (tdm_node_kind(syntax, target) == TDM_SYN_call_expression) {
			uint32_t list = tdm_node_part(syntax, target, TDM_ROLE_arguments);
			for (TDM_NODE_CHILDREN(child, syntax, list))
				if (tdm_str_eq(tdm_node_text(syntax, child), name))
					return true;
		} else if (text.len >= name.len && memcmp(text.ptr, name.ptr, name.len) == 0 &&
			   (text.len == name.len || text.ptr[name.len] == '.' || text.ptr[name.len] == '[')) {
			return true;
		}
	}
	return false;
}

bool cpp_is_from_caller(const struct tdm_expr *expr)
{
	if (expr == NULL || !expr->is_parameter || expr->op == TDM_EXPR_NAME)
		return expr != NULL && expr->is_parameter;
	for (uint32_t i = expr->op == TDM_EXPR_CHOOSE ? 1 : 0; i < expr->arg_count; i++)
		if (cpp_is_from_caller(expr->args[i]))
			return true;
	return false;
}

const struct tdm_expr *cpp_shortened(struct cpp *cpp, struct tdm_str name, const struct tdm_expr *value)
{
	if (value->op < TDM_EXPR_ADD || value->nodes <= CPP_SPREAD_MAX)
		return value;
	const struct tdm_expr *named = cpp_named(cpp, name);
	return cpp_is_from_caller(value) ? tdm_expr_name(cpp->arena, named->text, true) : named;
}

/* How a variable appears in other expressions: as a value, or by name if that is clearer. */
static const struct tdm_expr *as_variable(
	struct cpp *cpp, const struct cpp_binding *binding, const struct tdm_expr *value)
{
	int64_t number;
	struct tdm_str name = binding->name;
	const struct tdm_settings *settings = cpp->walk->settings;
	bool is_set = settings != NULL && tdm_settings_find(settings, name) != NULL;
	if ((value->op == TDM_EXPR_NAME || value->op == TDM_EXPR_CALL) && !value->is_parameter)
		return cpp_is_null(value) || (binding->is_helpers && !is_set) ? value : cpp_named(cpp, name);
	if (value->op >= TDM_EXPR_ADD && is_set && tdm_expr_value(value, settings, &number) != 0)
		return cpp_named(cpp, name);
	return cpp_shortened(cpp, name, value);
}

/* A frame in which to evaluate a binding's node later, without effects. */
static struct cpp_frame frame_at(
	const struct cpp_frame *frame, const struct cpp_binding *binding, const struct cpp_binding *env)
{
	return (struct cpp_frame){ .cpp = frame->cpp,
		.arena = frame->arena,
		.source = binding->source,
		.env = env,
		.branch = frame->branch,
		.base_branch = frame->branch,
		.site = frame->site,
		.depth = frame->depth + 1 };
}

static const struct tdm_expr *value_of(struct cpp_frame *frame, const struct cpp_binding *binding)
{
	struct cpp_binding *own = (struct cpp_binding *)(uintptr_t)binding;
	if (own->value != NULL)
		return own->value;
	if (own->is_busy || frame->depth >= CPP_DEPTH_MAX)
		return cpp_named(frame->cpp, own->name);
	own->is_busy = true;
	struct cpp_frame inner = frame_at(frame, own, own->env);
	const struct tdm_expr *value = cpp_eval(&inner, own->node);
	value = cpp_declared(&inner, own->type, own->name, value);
	own->is_busy = false;
	own->value = own->is_argument ? value : as_variable(frame->cpp, own, value);
	return own->value;
}

/* Finds a name between `env` and `stop`. *is_declared: the name was declared there, not merely assigned. */
static const struct tdm_expr *find(struct cpp_frame *frame, const struct cpp_binding *env,
	const struct cpp_binding *stop, struct tdm_str name, bool *is_declared);

/* The value of a name after an `if`, joined from both branches; NULL if neither branch changed the value. */
static const struct tdm_expr *find_joined(struct cpp_frame *frame, const struct cpp_binding *join, struct tdm_str name)
{
	bool first_declares = false, second_declares = false, ignored;
	const struct tdm_expr *a = find(frame, join->env, join->next, name, &first_declares);
	const struct tdm_expr *b = find(frame, join->other, join->next, name, &second_declares);
	a = first_declares ? NULL : a;
	b = second_declares ? NULL : b;
	if (a == NULL && b == NULL)
		return NULL;
	const struct tdm_expr *before = a == NULL || b == NULL ? find(frame, join->next, NULL, name, &ignored) : NULL;
	if (join->is_preproc && before == NULL && (a == NULL || b == NULL))
		return a != NULL ? a : b;
	if (before == NULL)
		before = cpp_named(frame->cpp, name);
	struct cpp_binding *own = (struct cpp_binding *)(uintptr_t)join;
	if (own->condition == NULL) {
		struct cpp_frame inner = frame_at(frame, own, own->next);
		own->condition = cpp_eval(&inner, own->node);
	}
	return cpp_merge(frame->cpp, own->condition, a != NULL ? a : before, b != NULL ? b : before);
}

static const struct tdm_expr *find(struct cpp_frame *frame, const struct cpp_binding *env,
	const struct cpp_binding *stop, struct tdm_str name, bool *is_declared)
{
	*is_declared = false;
	if (frame->depth >= CPP_DEPTH_MAX)
		return NULL;
	frame->depth++;
	const struct tdm_expr *found = NULL;
	for (const struct cpp_binding *b = env; b != stop && b != NULL && found == NULL; b = b->next) {
		bool is_inner = false;
		frame->cpp->steps++;
		switch (b->kind) {
		case CPP_VALUE:
		case CPP_LAZY:
			if (tdm_str_eq(b->name, name)) {
				found = value_of(frame, b);
				*is_declared = b->is_declaration;
			}
			break;
		case CPP_SCOPE:
			found = find(frame, b->env, b->next, name, &is_inner);
			found = is_inner ? NULL : found;
			break;
		case CPP_JOIN:
			found = find_joined(frame, b, name);
			break;
		default:
			if (loop_assigns(b, name))
				found = cpp_named(frame->cpp, name);
			break;
		}
		if (frame->cpp->steps > CPP_STEPS_MAX)
			break;
	}
	frame->depth--;
	return found;
}

const struct tdm_expr *cpp_lookup(struct cpp_frame *frame, struct tdm_str name)
{
	bool ignored;
	return find(frame, frame->env, NULL, name, &ignored);
}

const struct tdm_expr *cpp_helpers_value(struct cpp_frame *frame, struct tdm_str name)
{
	for (const struct cpp_binding *b = frame->env; b != NULL; b = b->next)
		if ((b->kind == CPP_VALUE || b->kind == CPP_LAZY) && tdm_str_eq(b->name, name))
			return b->is_helpers && !b->is_busy ? cpp_lookup(frame, name) : NULL;
	return NULL;
}

/* Joins the chains of two objects, unless both chains already have the same end. */
static void add_twin(struct cpp *cpp, struct cpp_made *made, struct cpp_made *other)
{
	struct cpp_made *end = made, *others_end = other;
	for (; end->twin != NULL; end = end->twin)
		cpp->steps++;
	for (; others_end->twin != NULL; others_end = others_end->twin)
		cpp->steps++;
	if (end != others_end)
		end->twin = other;
}

/* Merges the fields of two objects; a field in only one object becomes a choice between its value and nullptr. */
static const struct tdm_expr *merge_objects(
	struct cpp *cpp, const struct tdm_expr *condition, const struct tdm_expr *a, const struct tdm_expr *b)
{
	const struct tdm_expr *result = a, *null = cpp_named(cpp, tdm_str_of("nullptr"));
	for (uint32_t i = 0; i < a->arg_count + b->arg_count; i++) {
		struct tdm_str name = (i < a->arg_count ? a->args[i] : b->args[i - a->arg_count])->text;
		const struct tdm_expr *x = tdm_expr_field_str(a, name), *y = tdm_expr_field_str(b, name);
		if (x == y || (i >= a->arg_count && x != NULL))
			continue;
		x = x != NULL ? x : null;
		result = tdm_expr_with_field(
			cpp->arena, result, name.ptr, cpp_merge(cpp, condition, x, y != NULL ? y : null));
	}
	struct cpp_made *made = cpp_made_of(a), *other = cpp_made_of(b);
	if (made != NULL && other != NULL && made != other && made->type <= TDM_SHAPE_CB_CONFIG)
		other->is_replaced = true; /* only one of the two is passed on, on behalf of both */
	else if (made != NULL && other != NULL)
		add_twin(cpp, made, other);
	return result;
}

/* Merges lists element by element; the longer list keeps its remaining elements. Objects only in the second list are
 * appended. */
static const struct tdm_expr *merge_lists(
	struct cpp *cpp, const struct tdm_expr *condition, const struct tdm_expr *a, const struct tdm_expr *b)
{
	const struct tdm_expr *longer = a->arg_count >= b->arg_count ? a : b;
	const struct tdm_expr **args = tdm_arena_take(cpp->arena, sizeof *args * ((size_t)a->arg_count + b->arg_count));
	uint32_t common = a->arg_count < b->arg_count ? a->arg_count : b->arg_count, count = a->arg_count;
	bool has_made = false;
	for (uint32_t i = 0; i < longer->arg_count; i++)
		has_made |= (i < a->arg_count && cpp_made_of(a->args[i]) != NULL) ||
			    (i < b->arg_count && cpp_made_of(b->args[i]) != NULL);
	for (uint32_t i = 0; i < longer->arg_count && !has_made; i++)
		args[i] = i < common ? cpp_merge(cpp, condition, a->args[i], b->args[i]) : longer->args[i];
	if (!has_made)
		return tdm_expr_make(cpp->arena, TDM_EXPR_LIST, longer->text, args, longer->arg_count);
	for (uint32_t i = 0; i < a->arg_count; i++)
		args[i] = a->args[i];
	for (uint32_t i = 0; i < b->arg_count; i++) {
		struct cpp_made *made = cpp_made_of(b->args[i]);
		bool is_new = true;
		for (uint32_t k = 0; k < a->arg_count && is_new; k++)
			is_new = a->args[k] != b->args[i] && (made == NULL || cpp_made_of(a->args[k]) != made);
		if (is_new)
			args[count++] = b->args[i];
	}
	return tdm_expr_make(cpp->arena, TDM_EXPR_LIST, a->text, args, count);
}

const struct tdm_expr *cpp_merge(
	struct cpp *cpp, const struct tdm_expr *condition, const struct tdm_expr *a, const struct tdm_expr *b)
{
	/* Two objects or lists are never the same, because each may have created something. */
	bool is_value = a->op >= TDM_EXPR_ADD || (a->arg_count == 0 && b->arg_count == 0);
	int64_t number;
	cpp->steps++;
	if (a == b || (is_value && tdm_expr_is_same(a, b)))
		return a;
	if (tdm_expr_value(condition, cpp->walk->settings, &number) == 0)
		return number != 0 ? a : b;
	if (a->op == TDM_EXPR_OBJECT && b->op == TDM_EXPR_OBJECT && cpp->steps < CPP_STEPS_MAX)
		return merge_objects(cpp, condition, a, b);
	if (a->op == TDM_EXPR_LIST && b->op == TDM_EXPR_LIST && cpp->steps < CPP_STEPS_MAX)
		return merge_lists(cpp, condition, a, b);
	/* An object from one branch replaces an unknown value from the other. */
	if (a->op == TDM_EXPR_OBJECT || b->op == TDM_EXPR_OBJECT)
		return a->op == TDM_EXPR_OBJECT ? a : b;
	return tdm_expr_choose(cpp->arena, condition, a, b);
}

/* ---- assignments: to variables, object members and list elements ---- */

/* Replaces an element of a list, or adds a pair to a map. */
static const struct tdm_expr *with_element(struct cpp_frame *frame, const struct tdm_expr *list,
	const struct tdm_expr *place, const struct tdm_expr *value)
{
	int64_t at;
	uint32_t count = list->arg_count;
	bool is_known = tdm_expr_value(place, NULL, &at) == 0 && at >= 0 && at < count;
	const struct tdm_expr **args = tdm_arena_take(frame->arena, sizeof *args * (count + 1));
	for (uint32_t i = 0; i < count; i++)
		args[i] = list->args[i];
	bool is_map = count == 0 || list->args[0]->op == TDM_EXPR_LIST;
	if (is_map)
		args[count++] = tdm_expr_list(frame->arena, (const struct tdm_expr *[]){ place, value }, 2);
	else if (is_known)
		args[at] = value;
	return tdm_expr_list(frame->arena, args, count);
}

void cpp_assign(struct cpp_frame *frame, uint32_t target, const struct tdm_expr *value)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	struct cpp_made *made = cpp_made_of(value);
	uint32_t argument = cpp_part(frame, target, TDM_ROLE_argument), i = 0;
	for (struct cpp_made *m = made; m != NULL && frame->is_eager; m = m->twin)
		m->latest = frame->branch == m->branch || frame->branch == NULL
				    ? value
				    : cpp_merge(frame->cpp, cpp_condition_within(frame->cpp, frame->branch, m->branch),
					      value, m->latest);
	if (frame->depth >= CPP_DEPTH_MAX)
		return;
	frame->depth++;
	enum tdm_syntax_kind kind = cpp_kind(frame, target);
	const struct tdm_expr *base =
		argument != TDM_NODE_NONE && kind != TDM_SYN_call_expression ? cpp_eval(frame, argument) : NULL;
	/* std::tie(a, b) = …: each variable gets its element of the list, or becomes unknown */
	if (kind == TDM_SYN_call_expression) {
		for (TDM_NODE_CHILDREN(child, syntax, cpp_part(frame, target, TDM_ROLE_arguments))) {
			bool is_known = value->op == TDM_EXPR_LIST && i < value->arg_count;
			struct tdm_str text = cpp_squeezed(frame->cpp, cpp_text(frame, child));
			cpp_assign(frame, child, is_known ? value->args[i] : cpp_named(frame->cpp, text));
			i++;
		}
	} else if (kind == TDM_SYN_field_expression && base->op == TDM_EXPR_OBJECT) {
		struct tdm_str field = cpp_text(frame, cpp_part(frame, target, TDM_ROLE_field));
		const char *name = tdm_arena_text(frame->arena, field);
		value = cpp_field_value(field, value);
		cpp_assign(frame, argument, tdm_expr_with_field(frame->arena, base, name, value));
	} else if (kind == TDM_SYN_subscript_expression && base->op == TDM_EXPR_LIST) {
		uint32_t index = tdm_node_first(syntax, cpp_part(frame, target, TDM_ROLE_indices));
		if (index != TDM_NODE_NONE)
			cpp_assign(frame, argument, with_element(frame, base, cpp_eval(frame, index), value));
	} else if (kind == TDM_SYN_parenthesized_expression || kind == TDM_SYN_pointer_expression) {
		uint32_t inner = argument != TDM_NODE_NONE ? argument : tdm_node_first(syntax, target);
		if (inner != TDM_NODE_NONE)
			cpp_assign(frame, inner, value);
	} else {
		struct tdm_str name = cpp_text(frame, target);
		struct cpp_made *old = cpp_made_of(cpp_lookup(frame, name));
		if (made != NULL && made->variable.len == 0)
			made->variable = name;
		if (old != NULL && made != NULL && old != made && old->creations == NULL)
			old->is_replaced = true; /* the object was not used */
		cpp_bind_value(frame, name, value, false);
	}
	frame->depth--;
}
