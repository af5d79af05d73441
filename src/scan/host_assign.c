/* Assignments: to variables, to members of objects, to elements of lists. */
#include "scan/host_parts.h"

static const struct tdm_str no_text = { "", 0 };

/* Replaces an element of a list, adds one at its end, or, where the place is a key, adds a pair. */
static const struct tdm_expr *with_element(struct host_frame *frame, const struct tdm_expr *list,
	const struct tdm_expr *place, const struct tdm_expr *value)
{
	int64_t at;
	uint32_t count = list->arg_count;
	bool is_known = tdm_expr_value(place, NULL, &at) == 0 && at >= 0 && at < count;
	const struct tdm_expr **args = tdm_arena_take(frame->host->arena, sizeof *args * (count + 1));
	if (args == NULL)
		return list;
	for (uint32_t i = 0; i < count; i++)
		args[i] = list->args[i];
	bool is_map = count == 0 || list->args[0]->op == TDM_EXPR_LIST;
	if (is_known && !is_map)
		args[at] = value;
	else if (is_map)
		args[count++] = tdm_expr_make(
			frame->host->arena, TDM_EXPR_LIST, no_text, (const struct tdm_expr *[]){ place, value }, 2);
	else if (is_known)
		args[at] = value;
	return tdm_expr_make(frame->host->arena, TDM_EXPR_LIST, no_text, args, count);
}

/* A whole object takes the place of another one that was not used yet. */
static void note_replaced(struct host_frame *frame, struct tdm_str name, const struct tdm_expr *value)
{
	const struct tdm_expr *before = host_lookup(frame, name);
	struct host_made *old = before != NULL ? host_made_of(before) : NULL, *made = host_made_of(value);
	if (made != NULL && made->variable.len == 0)
		made->variable = name;
	if (old != NULL && made != NULL && old != made && old->creations == NULL)
		old->is_replaced = true;
}

/* std::tie(a, b) = …: each variable gets its part of a list, or is unknown. */
static void assign_parts(struct host_frame *frame, uint32_t call, const struct tdm_expr *value)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	uint32_t i = 0;
	for (TDM_NODE_CHILDREN(child, syntax, tdm_node_with_role(syntax, call, TDM_ROLE_arguments))) {
		bool is_known = value->op == TDM_EXPR_LIST && i < value->arg_count;
		struct tdm_str text = host_squeezed(frame->host, tdm_node_text(syntax, child));
		host_assign(frame, child, is_known ? value->args[i] : host_named(frame->host, text));
		i++;
	}
}

void host_assign(struct host_frame *frame, uint32_t target, const struct tdm_expr *value)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	struct host_made *made = host_made_of(value);
	uint32_t argument = tdm_node_with_role(syntax, target, TDM_ROLE_argument);
	for (; made != NULL && frame->is_eager; made = made->twin)
		made->latest = frame->branch == made->branch || frame->branch == NULL
				       ? value
				       : host_merge(frame->host,
						 host_condition_within(frame->host, frame->branch, made->branch), value,
						 made->latest);
	if (frame->depth >= HOST_DEPTH_MAX)
		return;
	frame->depth++;
	enum tdm_syntax_kind kind = tdm_node_kind(syntax, target);
	const struct tdm_expr *base =
		argument != TDM_NODE_NONE && kind != TDM_SYN_call_expression ? host_eval(frame, argument) : NULL;
	if (kind == TDM_SYN_call_expression) {
		assign_parts(frame, target, value);
	} else if (kind == TDM_SYN_field_expression && base->op == TDM_EXPR_OBJECT) {
		struct tdm_str field = tdm_node_text(syntax, tdm_node_with_role(syntax, target, TDM_ROLE_field));
		const char *copy = tdm_arena_text(frame->host->arena, field);
		if (copy != NULL)
			host_assign(frame, argument,
				tdm_expr_with_field(frame->host->arena, base, (struct tdm_str){ copy, field.len },
					host_field_value(field, value)));
	} else if (kind == TDM_SYN_subscript_expression && base->op == TDM_EXPR_LIST) {
		uint32_t indices = tdm_node_with_role(syntax, target, TDM_ROLE_indices);
		uint32_t index = tdm_node_first(syntax, indices);
		if (index != TDM_NODE_NONE)
			host_assign(frame, argument, with_element(frame, base, host_eval(frame, index), value));
	} else if (kind == TDM_SYN_parenthesized_expression || kind == TDM_SYN_pointer_expression) {
		uint32_t inner = argument != TDM_NODE_NONE ? argument : tdm_node_first(syntax, target);
		if (inner != TDM_NODE_NONE)
			host_assign(frame, inner, value);
	} else {
		struct tdm_str name = tdm_node_text(syntax, target);
		note_replaced(frame, name, value);
		host_bind_value(frame, name, value, false);
	}
	frame->depth--;
}
