/* Branches: `if`, `switch` and `?:`. Each is walked by itself; what it assigned is joined afterwards. */
#include "scan/host_parts.h"

static const struct tdm_str no_text = { "", 0 };

/* The condition of an `if`, without what it declares: if (auto x = …; x > 0). */
static uint32_t condition_node(const struct tdm_syntax *syntax, uint32_t node)
{
	uint32_t clause = tdm_node_with_role(syntax, node, TDM_ROLE_condition);
	uint32_t value = tdm_node_with_role(syntax, clause, TDM_ROLE_value);
	return value != TDM_NODE_NONE ? value : clause;
}

static const struct host_branch *new_branch(
	struct host_frame *frame, uint32_t id, uint32_t way, const struct tdm_expr *condition, struct tdm_str text)
{
	struct host_branch *branch = tdm_arena_take(frame->host->arena, sizeof *branch);
	if (branch == NULL)
		return frame->branch;
	*branch = (struct host_branch){
		.shown = { frame->branch != NULL ? &frame->branch->shown : NULL, id, way,
			text.ptr != NULL ? text.ptr : "" },
		.outer = frame->branch,
		.condition = condition,
	};
	return branch;
}

const struct tdm_expr *host_condition_within(
	struct host *host, const struct host_branch *branch, const struct host_branch *outermost)
{
	const struct tdm_expr *condition = branch->condition;
	for (branch = branch->outer; branch != NULL && branch != outermost; branch = branch->outer)
		condition = tdm_expr_binary(host->arena, TDM_EXPR_AND, branch->condition, condition);
	return condition;
}

/* Walks one branch in a copy of the frame. */
static struct host_frame walk_branch(struct host_frame *frame, const struct host_branch *branch, uint32_t body)
{
	struct host_frame inner = *frame;
	const struct host_binding *base = frame->env;
	inner.branch = branch;
	if (body != TDM_NODE_NONE)
		host_walk(&inner, body);
	host_leave_scope(&inner, base);
	frame->returns = inner.returns;
	return inner;
}

static void join(
	struct host_frame *frame, uint32_t condition, const struct host_frame *then, const struct host_frame *otherwise)
{
	const struct host_binding *base = frame->env;
	if (then->has_ended && otherwise->has_ended) {
		frame->has_ended = true;
	} else if (then->has_ended || otherwise->has_ended) {
		frame->env = then->has_ended ? otherwise->env : then->env;
	} else if (then->env != base || otherwise->env != base) {
		struct host_binding *binding = host_bind(frame, HOST_JOIN, no_text);
		if (binding == NULL)
			return;
		binding->node = condition;
		binding->env = then->env;
		binding->other = otherwise->env;
	}
}

/* A text without the brackets that are around all of it. */
static struct tdm_str without_brackets(struct host *host, struct tdm_str text)
{
	size_t depth = 0, i = 0;
	bool is_around = text.len > 2 && text.ptr[0] == '(' && text.ptr[text.len - 1] == ')';
	for (; is_around && i + 1 < text.len; i++) {
		depth += text.ptr[i] == '(';
		depth -= text.ptr[i] == ')';
		is_around = depth != 0;
	}
	const char *inner =
		is_around ? tdm_arena_text(host->arena, (struct tdm_str){ text.ptr + 1, text.len - 2 }) : NULL;
	return inner != NULL ? (struct tdm_str){ inner, text.len - 2 } : text;
}

/* The condition of a branch as it is shown: in a helper, in the names of its caller. */
static struct tdm_str shown_condition(struct host_frame *frame, uint32_t condition)
{
	struct tdm_str text = frame->site != NULL
				      ? host_unknown(frame, condition)->text
				      : host_squeezed(frame->host, tdm_node_text(frame->source->syntax, condition));
	return without_brackets(frame->host, text);
}

/* What a call decides with its arguments is no branch: the other way is not taken in this call. */
static bool walk_decided(struct host_frame *frame, uint32_t node, const struct tdm_expr *condition)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	uint32_t ways[] = { tdm_node_with_role(syntax, node, TDM_ROLE_consequence),
		tdm_node_with_role(syntax, node, TDM_ROLE_alternative) };
	int64_t number;
	if (frame->site == NULL || tdm_expr_value(condition, NULL, &number) != 0)
		return false;
	uint32_t taken = ways[number != 0 ? 0 : 1], other = ways[number != 0 ? 1 : 0];
	frame->host->decided++;
	if (other != TDM_NODE_NONE && frame->source->is_file && frame->is_eager)
		host_mark_helper_body(frame->host, syntax->nodes[other].start, syntax->nodes[other].end);
	if (taken != TDM_NODE_NONE)
		host_walk(frame, taken);
	return true;
}

void host_walk_if(struct host_frame *frame, uint32_t node)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	struct host *host = frame->host;
	const struct host_binding *base = frame->env;
	uint32_t clause = tdm_node_with_role(syntax, node, TDM_ROLE_condition);
	uint32_t declared = tdm_node_with_role(syntax, clause, TDM_ROLE_initializer);
	uint32_t condition = condition_node(syntax, node);
	if (declared != TDM_NODE_NONE)
		host_walk_body(frame, declared);
	struct host_frame pure = *frame;
	pure.is_eager = host_is_hot(frame->source, condition);
	const struct tdm_expr *value = host_eval(&pure, condition);
	if (!walk_decided(frame, node, value)) {
		uint32_t id = ++host->next_branch;
		struct tdm_str text = shown_condition(frame, condition);
		const struct tdm_expr *opposite = tdm_expr_make(host->arena, TDM_EXPR_NOT, no_text, &value, 1);
		struct host_frame then = walk_branch(frame, new_branch(frame, id, 0, value, text),
			tdm_node_with_role(syntax, node, TDM_ROLE_consequence));
		struct host_frame otherwise = walk_branch(frame, new_branch(frame, id, 1, opposite, text),
			tdm_node_with_role(syntax, node, TDM_ROLE_alternative));
		join(frame, condition, &then, &otherwise);
	}
	if (declared != TDM_NODE_NONE)
		host_leave_scope(frame, base);
}

/* One arm of a `?:`, as walk_branch() does it for a statement. */
static struct host_frame eval_arm(
	struct host_frame *frame, const struct host_branch *branch, uint32_t node, const struct tdm_expr **value)
{
	struct host_frame inner = *frame;
	inner.branch = branch;
	*value = host_eval(&inner, node);
	host_leave_scope(&inner, frame->env);
	return inner;
}

void host_eval_arms(
	struct host_frame *frame, uint32_t node, const struct tdm_expr *condition, const struct tdm_expr *values[2])
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	struct host *host = frame->host;
	uint32_t asked = tdm_node_with_role(syntax, node, TDM_ROLE_condition), id = ++host->next_branch;
	struct tdm_str text = shown_condition(frame, asked);
	const struct tdm_expr *opposite = tdm_expr_make(host->arena, TDM_EXPR_NOT, no_text, &condition, 1);
	struct host_frame then = eval_arm(frame, new_branch(frame, id, 0, condition, text),
		tdm_node_with_role(syntax, node, TDM_ROLE_consequence), &values[0]);
	struct host_frame otherwise = eval_arm(frame, new_branch(frame, id, 1, opposite, text),
		tdm_node_with_role(syntax, node, TDM_ROLE_alternative), &values[1]);
	join(frame, asked, &then, &otherwise);
}

/* The cases of a switch are branches; what any of them assigns is unknown afterwards. */
void host_walk_switch(struct host_frame *frame, uint32_t node)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	uint32_t body = tdm_node_with_role(syntax, node, TDM_ROLE_body), id = ++frame->host->next_branch, way = 0;
	struct tdm_str text = shown_condition(frame, condition_node(syntax, node));
	for (TDM_NODE_CHILDREN(child, syntax, body)) {
		const struct host_branch *branch = new_branch(frame, id, way++, host_unknown(frame, child), text);
		walk_branch(frame, branch, child);
	}
	host_bind_loop(frame, node);
}
