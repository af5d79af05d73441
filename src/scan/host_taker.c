/*
 * Functions that are not followed, and what they may change: a function of the file that takes a plain reference may
 * assign to it, and every function to what it gets a pointer to, so that the variable is unknown after the call.
 */
#include "scan/host_parts.h"

#include <errno.h>

static bool is_changeable(const struct tdm_syntax *syntax, uint32_t parameter)
{
	uint32_t declarator = tdm_node_with_role(syntax, parameter, TDM_ROLE_declarator);
	return tdm_node_kind(syntax, declarator) == TDM_SYN_reference_declarator &&
	       tdm_node_of_kind(syntax, parameter, TDM_SYN_type_qualifier) == TDM_NODE_NONE;
}

static uint64_t taken_by(const struct tdm_syntax *syntax, uint32_t parameters)
{
	uint64_t taken = 0;
	uint32_t place = 0;
	for (TDM_NODE_CHILDREN(child, syntax, parameters)) {
		if (place < 64 && is_changeable(syntax, child))
			taken |= UINT64_C(1) << place;
		place++;
	}
	return taken;
}

int host_find_takers(struct host *host)
{
	const struct tdm_syntax *syntax = host->own.syntax;
	for (uint32_t i = 0; i < syntax->count; i++) {
		if (tdm_node_kind(syntax, i) != TDM_SYN_function_definition)
			continue;
		uint32_t declarator = tdm_node_with_role(syntax, i, TDM_ROLE_declarator);
		uint32_t parameters = tdm_node_with_role(syntax, declarator, TDM_ROLE_parameters);
		uint64_t taken = taken_by(syntax, parameters);
		struct host_taker *taker = taken != 0 ? tdm_arena_take(host->arena, sizeof *taker) : NULL;
		if (taken != 0 && taker == NULL)
			return -ENOMEM;
		if (taker == NULL)
			continue;
		uint32_t name = tdm_node_with_role(syntax, declarator, TDM_ROLE_declarator);
		*taker = (struct host_taker){ host->takers, host_last_name(&host->own, name), taken };
		host->takers = taker;
	}
	return 0;
}

static void forget(struct host_frame *frame, uint32_t argument)
{
	struct tdm_str name = tdm_node_text(frame->source->syntax, argument);
	const struct tdm_expr *value = host_lookup(frame, name);
	if (value == NULL)
		return;
	if (value->op == TDM_EXPR_LIST || value->op == TDM_EXPR_OBJECT)
		host_note_changed(frame, argument);
	else
		host_bind_value(frame, name, host_named(frame->host, name), false);
}

/* The variable in an argument that the call may change: x of a reference, or of &x; TDM_NODE_NONE when there is none.
 */
static uint32_t changed_variable(const struct tdm_syntax *syntax, uint32_t argument, bool is_taken)
{
	enum tdm_syntax_kind kind = tdm_node_kind(syntax, argument);
	if (kind == TDM_SYN_pointer_expression && tdm_node_text(syntax, argument).ptr[0] == '&') {
		argument = tdm_node_with_role(syntax, argument, TDM_ROLE_argument);
		is_taken = true;
	}
	return is_taken && tdm_node_kind(syntax, argument) == TDM_SYN_identifier ? argument : TDM_NODE_NONE;
}

void host_forget_given(struct host_frame *frame, uint32_t call)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	uint32_t function = tdm_node_with_role(syntax, call, TDM_ROLE_function), place = 0;
	/* Those that matter are followed, and say what they assigned. */
	if (!frame->source->is_file || host_is_hot(frame->source, function))
		return;
	struct tdm_str name = host_last_name(frame->source, function);
	uint64_t taken = tdm_str_is(name, "swap") ? UINT64_MAX : 0;
	for (const struct host_taker *taker = frame->host->takers; taker != NULL; taker = taker->next)
		taken |= tdm_str_eq(taker->name, name) ? taker->taken : 0;
	for (TDM_NODE_CHILDREN(child, syntax, tdm_node_with_role(syntax, call, TDM_ROLE_arguments))) {
		uint32_t variable = changed_variable(syntax, child, place < 64 && (taken >> place & 1) != 0);
		if (variable != TDM_NODE_NONE)
			forget(frame, variable);
		place++;
	}
}
