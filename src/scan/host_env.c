/* Names and what they stand for. */
#include "scan/host_parts.h"

struct host_binding *host_bind(struct host_frame *frame, enum host_binding_kind kind, struct tdm_str name)
{
	struct host_binding *binding = tdm_arena_take(frame->host->arena, sizeof *binding);
	if (binding == NULL)
		return NULL;
	binding->next = frame->env;
	binding->name = name;
	binding->kind = (uint8_t)kind;
	binding->source = frame->source;
	binding->is_helpers = frame->site != NULL;
	binding->node = binding->type = TDM_NODE_NONE;
	frame->env = binding;
	return binding;
}

void host_bind_value(struct host_frame *frame, struct tdm_str name, const struct tdm_expr *value, bool is_declaration)
{
	struct host_binding *binding = host_bind(frame, HOST_VALUE, name);
	if (binding == NULL)
		return;
	binding->value = value;
	binding->is_declaration = is_declaration;
}

void host_bind_loop(struct host_frame *frame, uint32_t node)
{
	struct host_binding *binding = host_bind(frame, HOST_LOOP, (struct tdm_str){ "", 0 });
	if (binding != NULL)
		binding->node = node;
}

/* Leaves a block: its declarations end, what it assigned stays. */
void host_leave_scope(struct host_frame *frame, const struct host_binding *base)
{
	const struct host_binding *end = frame->env;
	bool assigns = false;
	for (const struct host_binding *b = end; b != base && b != NULL; b = b->next)
		assigns |= !b->is_declaration;
	frame->env = base;
	struct host_binding *scope = assigns ? host_bind(frame, HOST_SCOPE, (struct tdm_str){ "", 0 }) : NULL;
	if (scope != NULL)
		scope->env = end;
}

/* Whether an assignment to a target, a or a.b or a[b] or std::tie(a, b), is one to a variable. */
static bool is_assigned(const struct tdm_syntax *syntax, uint32_t target, struct tdm_str name)
{
	struct tdm_str text = tdm_node_text(syntax, target);
	if (tdm_node_kind(syntax, target) == TDM_SYN_call_expression) {
		for (TDM_NODE_CHILDREN(child, syntax, tdm_node_with_role(syntax, target, TDM_ROLE_arguments)))
			if (tdm_str_eq(tdm_node_text(syntax, child), name))
				return true;
		return false;
	}
	return tdm_str_eq(text, name) || (text.len > name.len && memcmp(text.ptr, name.ptr, name.len) == 0 &&
						 (text.ptr[name.len] == '.' || text.ptr[name.len] == '['));
}

/* Whether a loop assigns to a variable. */
static bool loop_assigns(const struct host_binding *loop, struct tdm_str name)
{
	const struct tdm_syntax *syntax = loop->source->syntax;
	for (uint32_t i = loop->node; i < syntax->nodes[loop->node].next; i++) {
		enum tdm_syntax_kind kind = tdm_node_kind(syntax, i);
		if (kind != TDM_SYN_assignment_expression && kind != TDM_SYN_update_expression)
			continue;
		if (is_assigned(syntax,
			    tdm_node_with_role(syntax, i,
				    kind == TDM_SYN_assignment_expression ? TDM_ROLE_left : TDM_ROLE_argument),
			    name))
			return true;
	}
	return false;
}

static bool is_atom(const struct tdm_expr *expr)
{
	return expr->op == TDM_EXPR_NAME || expr->op == TDM_EXPR_CALL;
}

bool host_is_from_caller(const struct tdm_expr *expr)
{
	if (expr == NULL || !expr->is_parameter || expr->op == TDM_EXPR_NAME)
		return expr != NULL && expr->is_parameter;
	for (uint32_t i = expr->op == TDM_EXPR_CHOOSE ? 1 : 0; i < expr->arg_count; i++)
		if (host_is_from_caller(expr->args[i]))
			return true;
	return false;
}

const struct tdm_expr *host_shortened(struct host *host, struct tdm_str name, const struct tdm_expr *value)
{
	if (value->op < TDM_EXPR_ADD || value->nodes <= HOST_SPREAD_MAX)
		return value;
	const struct tdm_expr *named = host_named(host, name);
	return host_is_from_caller(value) ? tdm_expr_parameter(host->arena, named->text) : named;
}

/* How a variable's value is shown in others: by its expression, or by its name where that says more. */
static const struct tdm_expr *as_variable(
	struct host *host, const struct host_binding *binding, const struct tdm_expr *value)
{
	int64_t number;
	struct tdm_str name = binding->name;
	const struct tdm_settings *settings = host->walk->settings;
	bool is_set = settings != NULL && tdm_settings_find(settings, name) != NULL;
	if (is_atom(value) && !value->is_parameter)
		return host_is_null(value) || (binding->is_helpers && !is_set) ? value : host_named(host, name);
	if (value->op >= TDM_EXPR_ADD && is_set && tdm_expr_value(value, settings, &number) != 0)
		return host_named(host, name);
	return host_shortened(host, name, value);
}

static const struct tdm_expr *value_of(struct host_frame *frame, const struct host_binding *binding)
{
	struct host_binding *own = (struct host_binding *)(uintptr_t)binding;
	if (own->value != NULL)
		return own->value;
	if (own->is_busy || frame->depth >= HOST_DEPTH_MAX)
		return host_named(frame->host, own->name);
	own->is_busy = true;
	struct host_frame inner = { .host = frame->host,
		.source = own->source,
		.env = own->env,
		.branch = frame->branch,
		.base_branch = frame->branch,
		.site = frame->site,
		.depth = frame->depth + 1 };
	const struct tdm_expr *value = host_eval(&inner, own->node);
	value = host_declared(&inner, own->type, own->name, value);
	own->is_busy = false;
	own->value = own->is_argument ? value : as_variable(frame->host, own, value);
	return own->value;
}

/* Finds a name between `env` and `stop`. *assigned: found as an assignment, not as a declaration of that block. */
static const struct tdm_expr *find(struct host_frame *frame, const struct host_binding *env,
	const struct host_binding *stop, struct tdm_str name, bool *is_declared);

static const struct tdm_expr *condition_of(struct host_frame *frame, const struct host_binding *join)
{
	struct host_binding *own = (struct host_binding *)(uintptr_t)join;
	if (own->condition == NULL) {
		struct host_frame inner = { .host = frame->host,
			.source = own->source,
			.env = own->next,
			.branch = frame->branch,
			.base_branch = frame->branch,
			.site = frame->site,
			.depth = frame->depth + 1 };
		own->condition = host_eval(&inner, own->node);
	}
	return own->condition;
}

/* A name at the end of an `if`: what each branch made of it. NULL when none did. */
static const struct tdm_expr *find_joined(
	struct host_frame *frame, const struct host_binding *join, struct tdm_str name)
{
	bool first_declares = false, second_declares = false, ignored;
	const struct tdm_expr *a = find(frame, join->env, join->next, name, &first_declares);
	const struct tdm_expr *b = find(frame, join->other, join->next, name, &second_declares);
	a = first_declares ? NULL : a;
	b = second_declares ? NULL : b;
	if (a == NULL && b == NULL)
		return NULL;
	const struct tdm_expr *before = a == NULL || b == NULL ? find(frame, join->next, NULL, name, &ignored) : NULL;
	if (before == NULL)
		before = host_named(frame->host, name);
	return host_merge(frame->host, condition_of(frame, join), a != NULL ? a : before, b != NULL ? b : before);
}

static const struct tdm_expr *find(struct host_frame *frame, const struct host_binding *env,
	const struct host_binding *stop, struct tdm_str name, bool *is_declared)
{
	*is_declared = false;
	if (frame->depth >= HOST_DEPTH_MAX)
		return NULL;
	frame->depth++;
	const struct tdm_expr *found = NULL;
	for (const struct host_binding *b = env; b != stop && b != NULL && found == NULL; b = b->next) {
		bool is_inner = false;
		frame->host->steps++;
		switch (b->kind) {
		case HOST_VALUE:
		case HOST_LAZY:
			if (tdm_str_eq(b->name, name)) {
				found = value_of(frame, b);
				*is_declared = b->is_declaration;
			}
			break;
		case HOST_SCOPE:
			found = find(frame, b->env, b->next, name, &is_inner);
			found = is_inner ? NULL : found;
			break;
		case HOST_JOIN:
			found = find_joined(frame, b, name);
			break;
		default:
			if (loop_assigns(b, name))
				found = host_named(frame->host, name);
			break;
		}
		if (frame->host->steps > HOST_STEPS_MAX)
			break;
	}
	frame->depth--;
	return found;
}

const struct tdm_expr *host_lookup(struct host_frame *frame, struct tdm_str name)
{
	bool ignored;
	return find(frame, frame->env, NULL, name, &ignored);
}

const struct tdm_expr *host_helpers_value(struct host_frame *frame, struct tdm_str name)
{
	for (const struct host_binding *b = frame->env; b != NULL; b = b->next)
		if ((b->kind == HOST_VALUE || b->kind == HOST_LAZY) && tdm_str_eq(b->name, name))
			return b->is_helpers && !b->is_busy ? host_lookup(frame, name) : NULL;
	return NULL;
}

static const struct tdm_expr *choose(
	struct host *host, const struct tdm_expr *condition, const struct tdm_expr *a, const struct tdm_expr *b)
{
	return tdm_expr_make(host->arena, TDM_EXPR_CHOOSE, (struct tdm_str){ "", 0 },
		(const struct tdm_expr *[]){ condition, a, b }, 3);
}

static struct host_made *last_twin(struct host *host, struct host_made *made)
{
	for (; made->twin != NULL; made = made->twin)
		host->steps++;
	return made;
}

/* Joins the chains of two objects, unless they have been: then they have the same end. */
static void add_twin(struct host *host, struct host_made *made, struct host_made *other)
{
	struct host_made *end = last_twin(host, made);
	if (end != last_twin(host, other))
		end->twin = other;
}

/* The fields of two objects, one by one; what only one of them has is chosen against nothing. */
static const struct tdm_expr *merge_objects(
	struct host *host, const struct tdm_expr *condition, const struct tdm_expr *a, const struct tdm_expr *b)
{
	const struct tdm_expr *result = a;
	for (uint32_t i = 0; i < a->arg_count; i++) {
		const struct tdm_expr *other = tdm_expr_field_str(b, a->args[i]->text);
		const struct tdm_expr *value = a->args[i]->args[0];
		if (other == NULL)
			other = host_named(host, tdm_str_of("nullptr"));
		if (other != value)
			result = tdm_expr_with_field(
				host->arena, result, a->args[i]->text, host_merge(host, condition, value, other));
	}
	for (uint32_t i = 0; i < b->arg_count; i++) {
		if (tdm_expr_field_str(a, b->args[i]->text) != NULL)
			continue;
		const struct tdm_expr *value =
			host_merge(host, condition, host_named(host, tdm_str_of("nullptr")), b->args[i]->args[0]);
		result = tdm_expr_with_field(host->arena, result, b->args[i]->text, value);
	}
	struct host_made *made = host_made_of(a), *other = host_made_of(b);
	if (made != NULL && other != NULL && made != other && made->type <= TDM_SHAPE_CB_CONFIG)
		other->is_replaced = true; /* one of them is handed over, for both */
	else if (made != NULL && other != NULL)
		add_twin(host, made, other);
	return result;
}

/* Objects and lists are never the same: what was made of each counts. */
static bool is_same(const struct tdm_expr *a, const struct tdm_expr *b)
{
	bool is_value = a->op >= TDM_EXPR_ADD || (a->arg_count == 0 && b->arg_count == 0);
	return a == b || (is_value && tdm_expr_is_same(a, b));
}

static bool has_made(const struct tdm_expr *list)
{
	for (uint32_t i = 0; i < list->arg_count; i++)
		if (host_made_of(list->args[i]) != NULL)
			return true;
	return false;
}

/* Two lists of objects: those of the first, then those that only the second has. */
static const struct tdm_expr *joined_lists(struct host *host, const struct tdm_expr *a, const struct tdm_expr *b)
{
	const struct tdm_expr **args =
		tdm_arena_take(host->arena, sizeof *args * ((size_t)a->arg_count + b->arg_count));
	uint32_t count = 0;
	if (args == NULL)
		return a;
	for (uint32_t i = 0; i < a->arg_count; i++)
		args[count++] = a->args[i];
	for (uint32_t i = 0; i < b->arg_count; i++) {
		bool is_new = true;
		for (uint32_t k = 0; k < a->arg_count && is_new; k++)
			is_new = a->args[k] != b->args[i] &&
				 (host_made_of(b->args[i]) == NULL ||
					 host_made_of(a->args[k]) != host_made_of(b->args[i]));
		if (is_new)
			args[count++] = b->args[i];
	}
	return tdm_expr_make(host->arena, TDM_EXPR_LIST, a->text, args, count);
}

/* Lists of one length are merged element by element; a longer one keeps what only it has. */
static const struct tdm_expr *merge_lists(
	struct host *host, const struct tdm_expr *condition, const struct tdm_expr *a, const struct tdm_expr *b)
{
	if (has_made(a) || has_made(b))
		return joined_lists(host, a, b);
	const struct tdm_expr *longer = a->arg_count >= b->arg_count ? a : b;
	uint32_t common = a->arg_count < b->arg_count ? a->arg_count : b->arg_count;
	const struct tdm_expr **args = tdm_arena_take(host->arena, sizeof *args * longer->arg_count);
	if (args == NULL)
		return longer;
	for (uint32_t i = 0; i < longer->arg_count; i++)
		args[i] = i < common ? host_merge(host, condition, a->args[i], b->args[i]) : longer->args[i];
	return tdm_expr_make(host->arena, TDM_EXPR_LIST, longer->text, args, longer->arg_count);
}

const struct tdm_expr *host_merge(
	struct host *host, const struct tdm_expr *condition, const struct tdm_expr *a, const struct tdm_expr *b)
{
	int64_t number;
	host->steps++;
	if (is_same(a, b))
		return a;
	if (tdm_expr_value(condition, host->walk->settings, &number) == 0)
		return number != 0 ? a : b;
	if (a->op == TDM_EXPR_OBJECT && b->op == TDM_EXPR_OBJECT && host->steps < HOST_STEPS_MAX)
		return merge_objects(host, condition, a, b);
	if (a->op == TDM_EXPR_LIST && b->op == TDM_EXPR_LIST && host->steps < HOST_STEPS_MAX)
		return merge_lists(host, condition, a, b);
	/* An object that only one branch has replaces what was not known before. */
	if (a->op == TDM_EXPR_OBJECT || b->op == TDM_EXPR_OBJECT)
		return a->op == TDM_EXPR_OBJECT ? a : b;
	return choose(host, condition, a, b);
}
