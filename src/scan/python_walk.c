/* Python's statements. Functions are walked once by themselves; a loop's body is walked once. */
#include "scan/python.h"

static const struct tdm_str no_text = { "", 0 };

static void walk_statement(struct py_at *at, uint32_t node);

void py_walk_block(struct py_at *at, uint32_t block)
{
	for (TDM_NODE_CHILDREN(child, at->py->syntax, block))
		if (!at->has_ended)
			walk_statement(at, child);
}

/* Definitions. */

static struct tdm_str member_name(struct py *py, struct tdm_str class_name, struct tdm_str name)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	tdm_buf_printf(&text, "%.*s%s%.*s", TDM_STR_ARG(class_name), class_name.len != 0 ? "." : "", TDM_STR_ARG(name));
	const char *copy = tdm_buf_failed(&text) ? NULL : tdm_arena_text(py->arena, tdm_buf_str(&text));
	tdm_buf_done(&text);
	py->failed |= copy == NULL;
	return copy != NULL ? tdm_str_of(copy) : no_text;
}

static struct py_definition *new_definition(struct py_at *at, uint32_t node, struct tdm_str name)
{
	struct py_definition *definition = tdm_arena_take(at->py->arena, sizeof *definition);
	if (definition == NULL)
		return NULL;
	*definition = (struct py_definition){
		.thing = { PY_DEFINITION }, .name = name, .class_name = at->class_name, .node = node, .frame = at->frame
	};
	return definition;
}

struct py_definition *py_define(struct py_at *at, uint32_t node)
{
	struct py *py = at->py;
	struct tdm_str name = tdm_node_text(py->syntax, tdm_node_with_role(py->syntax, node, TDM_ROLE_name));
	bool is_member = at->class_name.len != 0 && at->definition->node == 0;
	struct tdm_str whole = is_member ? member_name(py, at->class_name, name) : name;
	struct py_definition *definition = new_definition(at, node, whole);
	if (definition == NULL)
		return NULL;
	definition->around = at->definition->node != 0 ? at->definition : NULL;
	py_bind(at, is_member ? 0 : at->frame, whole, tdm_expr_opaque(py->arena, definition));
	if (at->site_line == 0) { /* a call that is followed defines its functions again */
		if (py->end != NULL)
			py->end->next = definition;
		else
			py->first = definition;
		py->end = definition;
	}
	return definition;
}

const struct tdm_expr *py_lambda(struct py_at *at, uint32_t node)
{
	struct py_definition *definition = new_definition(at, node, tdm_str_of("lambda"));
	if (definition == NULL)
		return &tdm_expr_nothing;
	definition->is_lambda = true;
	return tdm_expr_opaque(at->py->arena, definition);
}

static void walk_class(struct py_at *at, uint32_t node)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	struct py_at inner = *at;
	inner.class_name = tdm_node_text(syntax, tdm_node_with_role(syntax, node, TDM_ROLE_name));
	inner.frame = py_frame(at->py, at->frame);
	py_walk_block(&inner, tdm_node_with_role(syntax, node, TDM_ROLE_body));
}

/* Assignments. */

void py_bind_pattern(struct py_at *at, uint32_t pattern, const struct tdm_expr *value)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	enum tdm_syntax_kind kind = tdm_node_kind(syntax, pattern);
	struct tdm_str text = tdm_node_text(syntax, pattern);
	if (kind == TDM_SYN_identifier) {
		py_bind(at, at->frame, text, value != NULL ? value : py_named(at->py, text));
		return;
	}
	if (kind != TDM_SYN_pattern_list && kind != TDM_SYN_tuple_pattern)
		return;
	uint32_t place = 0, count = tdm_node_child_count(syntax, pattern);
	bool is_list = value != NULL && value->op == TDM_EXPR_LIST && value->arg_count == count;
	for (TDM_NODE_CHILDREN(child, syntax, pattern))
		py_bind_pattern(at, child, is_list ? value->args[place++] : NULL);
}

/* self.x belongs to the class, and Op.x to the module. */
static void bind_member(struct py_at *at, uint32_t target, const struct tdm_expr *value)
{
	struct tdm_str text = tdm_node_text(at->py->syntax, target);
	bool is_self = text.len > 5 && memcmp(text.ptr, "self.", 5) == 0;
	bool is_once = tdm_map_find(&at->py->members, tdm_str_hash(text)) == 1;
	uint32_t frame = is_self && at->definition->node != 0 ? at->definition->frame : at->frame;
	py_bind(at, frame, text, !is_self || is_once ? value : py_named(at->py, text));
}

static void assign(struct py_at *at, uint32_t target, const struct tdm_expr *value)
{
	struct py *py = at->py;
	enum tdm_syntax_kind kind = tdm_node_kind(py->syntax, target);
	struct py_descriptor *made = py_descriptor_of(value);
	if (made != NULL && made->variable.len == 0)
		made->variable = py_last_name(py->syntax, target);
	if (kind == TDM_SYN_attribute) {
		if (!py_set_member(at, target, value))
			bind_member(at, target, value);
		return;
	}
	py_bind_pattern(at, target, value);
	bool is_class_member = kind == TDM_SYN_identifier && at->class_name.len != 0 && at->definition->node == 0;
	if (is_class_member)
		py_bind(at, 0, member_name(py, at->class_name, tdm_node_text(py->syntax, target)), value);
}

static void walk_assignment(struct py_at *at, uint32_t node)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	uint32_t right = tdm_node_with_role(syntax, node, TDM_ROLE_right);
	uint32_t left = tdm_node_with_role(syntax, node, TDM_ROLE_left);
	if (right == TDM_NODE_NONE)
		return;
	if (tdm_node_kind(syntax, right) == TDM_SYN_assignment) { /* a = b = 1 */
		walk_assignment(at, right);
		right = tdm_node_with_role(syntax, right, TDM_ROLE_left);
	}
	assign(at, left, py_eval(at, right));
}

/* x += 1 */
static void walk_augmented(struct py_at *at, uint32_t node)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	struct tdm_str token = tdm_node_text(syntax, tdm_node_with_role(syntax, node, TDM_ROLE_operator));
	uint32_t left = tdm_node_with_role(syntax, node, TDM_ROLE_left);
	const struct tdm_expr *value = py_eval(at, tdm_node_with_role(syntax, node, TDM_ROLE_right));
	token.len -= token.len != 0; /* without its = */
	enum tdm_expr_op op = tdm_expr_operator(token, 2);
	if (tdm_node_kind(syntax, left) != TDM_SYN_identifier)
		return;
	const struct tdm_expr *before = py_eval(at, left);
	bool is_number = op != TDM_EXPR_NOTHING && before->op != TDM_EXPR_LIST && value->op != TDM_EXPR_LIST;
	assign(at, left, is_number ? tdm_expr_binary(at->py->arena, op, before, value) : py_unknown(at, left));
}

/* Branches. */

static const struct tdm_scan_branch *new_branch(struct py_at *at, uint32_t id, uint32_t way, uint32_t condition)
{
	struct tdm_scan_branch *branch = tdm_arena_take(at->py->arena, sizeof *branch);
	if (branch == NULL)
		return at->branch;
	*branch = (struct tdm_scan_branch){ at->branch, id, way, py_unknown(at, condition)->text.ptr };
	return branch;
}

/* The bindings that a way through an `if` made: a range of the list, which is then gone for the other way. */
struct way {
	size_t from, to;
	bool has_ended;
};

static void walk_clause(struct py_at *at, uint32_t parent, uint32_t clause, uint32_t alternative);

static struct way walk_way(struct py_at *at, const struct tdm_scan_branch *branch, uint32_t parent, uint32_t clause)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	struct py_at inner = *at;
	struct way way = { .from = at->py->binding_count };
	inner.branch = branch;
	if (tdm_node_kind(syntax, clause) == TDM_SYN_block)
		py_walk_block(&inner, clause);
	else if (tdm_node_kind(syntax, clause) == TDM_SYN_elif_clause)
		walk_clause(&inner, parent, clause, tdm_node_after(syntax, parent, clause));
	else if (clause != TDM_NODE_NONE)
		py_walk_block(&inner, tdm_node_with_role(syntax, clause, TDM_ROLE_body));
	way.to = at->py->binding_count;
	way.has_ended = inner.has_ended;
	at->result = inner.result;
	return way;
}

/* Takes the bindings of a way out of sight; they keep their values. Those of other frames stay. */
static void hide(struct py_at *at, struct way way)
{
	for (size_t i = way.from; i < way.to; i++)
		if (at->py->bindings[i].frame == at->frame)
			at->py->bindings[i].frame = UINT32_MAX;
}

/* The last value that a way gave to a name; NULL when it gave none. */
static const struct tdm_expr *value_in(struct py *py, struct way way, struct tdm_str name)
{
	for (size_t i = way.to; i > way.from && py->steps <= PY_STEPS_MAX; i--) {
		py->steps++;
		if (py->bindings[i - 1].frame == UINT32_MAX && tdm_str_eq(py->bindings[i - 1].name, name))
			return py->bindings[i - 1].value;
	}
	return NULL;
}

static void join(struct py_at *at, const struct tdm_expr *condition, struct way first, struct way second)
{
	struct py *py = at->py;
	size_t joined = py->binding_count;
	struct way ways[] = { first, second };
	for (int w = 0; w < 2; w++)
		for (size_t i = ways[w].from; i < ways[w].to && !ways[w].has_ended; i++) {
			struct tdm_str name = py->bindings[i].name;
			if (py->bindings[i].frame != UINT32_MAX || py_find_since(py, name, at->frame, joined) != NULL)
				continue;
			const struct tdm_expr *before = py_lookup(at, name);
			const struct tdm_expr *a = value_in(py, first, name), *b = value_in(py, second, name);
			a = first.has_ended ? NULL : a != NULL ? a : before;
			b = second.has_ended ? NULL : b != NULL ? b : before;
			const struct tdm_expr *value = py_merge(at, condition, a, b);
			if (value != NULL)
				py_bind(at, at->frame, name, value);
		}
}

/* An `if` or `elif` with what follows it. */
static void walk_clause(struct py_at *at, uint32_t parent, uint32_t clause, uint32_t alternative)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	uint32_t condition_node = tdm_node_with_role(syntax, clause, TDM_ROLE_condition);
	const struct tdm_expr *condition = py_eval(at, condition_node);
	uint32_t then = tdm_node_with_role(syntax, clause, TDM_ROLE_consequence);
	uint32_t id = at->py->next_branch++;
	int64_t number;
	if (++at->depth >= PY_DEPTH_MAX)
		return;
	if (tdm_expr_value(condition, at->py->walk->settings, &number) == 0) {
		at->has_ended = walk_way(at, at->branch, parent, number != 0 ? then : alternative).has_ended;
		at->depth--;
		return;
	}
	struct way first = walk_way(at, new_branch(at, id, 0, condition_node), parent, then);
	hide(at, first);
	struct way second = walk_way(at, new_branch(at, id, 1, condition_node), parent, alternative);
	hide(at, second);
	join(at, condition, first, second);
	at->has_ended = first.has_ended && second.has_ended;
	at->depth--;
}

static void walk_if(struct py_at *at, uint32_t node)
{
	walk_clause(at, node, node, tdm_node_with_role(at->py->syntax, node, TDM_ROLE_alternative));
}

/* Loops. */

static bool uses_name(struct py *py, uint32_t node, struct tdm_str name)
{
	for (uint32_t i = node; i < py->syntax->nodes[node].next; i++) {
		py->steps++;
		if (py->syntax->nodes[i].kind == TDM_SYN_identifier && tdm_str_eq(tdm_node_text(py->syntax, i), name))
			return true;
	}
	return false;
}

/* A name that changes with each turn, x += 1 or x = f(x), is not known inside of the loop. */
static void forget_changing(struct py_at *at, uint32_t body)
{
	struct py *py = at->py;
	const struct tdm_syntax *syntax = py->syntax;
	for (uint32_t i = body; i < syntax->nodes[body].next && py->steps <= PY_STEPS_MAX; i++) {
		bool is_augmented = syntax->nodes[i].kind == TDM_SYN_augmented_assignment;
		py->steps++;
		if (!is_augmented && syntax->nodes[i].kind != TDM_SYN_assignment)
			continue;
		uint32_t left = tdm_node_with_role(syntax, i, TDM_ROLE_left);
		uint32_t right = tdm_node_with_role(syntax, i, TDM_ROLE_right);
		struct tdm_str name = tdm_node_text(syntax, left);
		bool is_name = tdm_node_kind(syntax, left) == TDM_SYN_identifier && right != TDM_NODE_NONE;
		if (is_name && py_lookup(at, name) != NULL && (is_augmented || uses_name(py, right, name)))
			py_bind(at, at->frame, name, py_named(py, name));
	}
}

static void walk_loop(struct py_at *at, uint32_t node)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	uint32_t body = tdm_node_with_role(syntax, node, TDM_ROLE_body);
	uint32_t left = tdm_node_with_role(syntax, node, TDM_ROLE_left);
	if (body == TDM_NODE_NONE)
		return;
	struct py_at inner = *at;
	inner.in_loop = true;
	py_eval(at, tdm_node_with_role(syntax, node, TDM_ROLE_right));
	py_eval(at, tdm_node_with_role(syntax, node, TDM_ROLE_condition));
	forget_changing(at, body);
	if (left != TDM_NODE_NONE)
		py_bind_pattern(&inner, left, NULL);
	py_walk_block(&inner, body);
	at->result = inner.result;
	uint32_t otherwise = tdm_node_with_role(syntax, node, TDM_ROLE_alternative);
	if (otherwise != TDM_NODE_NONE)
		py_walk_block(at, tdm_node_with_role(syntax, otherwise, TDM_ROLE_body));
}

/* Other statements. */

static void walk_return(struct py_at *at, uint32_t node)
{
	const struct tdm_expr *value = py_eval(at, tdm_node_first(at->py->syntax, node));
	at->has_ended = true;
	if (at->result == NULL || py_is_none(at->result) || value->op == TDM_EXPR_OPAQUE)
		at->result = value;
	else if (at->result->op != TDM_EXPR_OPAQUE && at->result != value)
		at->result = py_unknown(at, node);
}

/* A statement with blocks in it: with, try, except. */
static void walk_parts(struct py_at *at, uint32_t node)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	for (TDM_NODE_CHILDREN(child, syntax, node)) {
		enum tdm_syntax_kind kind = tdm_node_kind(syntax, child);
		if (kind == TDM_SYN_block)
			py_walk_block(at, child);
		else if (kind == TDM_SYN_OTHER || kind == TDM_SYN_else_clause)
			walk_statement(at, child);
		else
			py_eval(at, child);
	}
}

static void walk_expression(struct py_at *at, uint32_t node)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	for (TDM_NODE_CHILDREN(child, syntax, node)) {
		if (tdm_node_kind(syntax, child) == TDM_SYN_assignment)
			walk_assignment(at, child);
		else if (tdm_node_kind(syntax, child) == TDM_SYN_augmented_assignment)
			walk_augmented(at, child);
		else
			py_eval(at, child);
	}
}

static void walk_inner(struct py_at *at, uint32_t node)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	switch (tdm_node_kind(syntax, node)) {
	case TDM_SYN_expression_statement:
		walk_expression(at, node);
		break;
	case TDM_SYN_function_definition:
		py_define(at, node);
		break;
	case TDM_SYN_decorated_definition:
		walk_statement(at, tdm_node_with_role(syntax, node, TDM_ROLE_definition));
		break;
	case TDM_SYN_class_definition:
		walk_class(at, node);
		break;
	case TDM_SYN_if_statement:
		walk_if(at, node);
		break;
	case TDM_SYN_for_statement:
	case TDM_SYN_while_statement:
		walk_loop(at, node);
		break;
	case TDM_SYN_return_statement:
		walk_return(at, node);
		break;
	case TDM_SYN_raise_statement:
	case TDM_SYN_break_statement:
	case TDM_SYN_continue_statement:
		at->has_ended = true;
		break;
	case TDM_SYN_import_statement:
	case TDM_SYN_import_from_statement:
		break;
	default:
		walk_parts(at, node);
	}
}

static void walk_statement(struct py_at *at, uint32_t node)
{
	struct py *py = at->py;
	if (node == TDM_NODE_NONE || ++py->steps > PY_STEPS_MAX || at->depth >= PY_DEPTH_MAX || py->failed)
		return;
	at->depth++;
	walk_inner(at, node);
	at->depth--;
}

/* A function by itself. */

static bool is_called(struct py *py, struct tdm_str name)
{
	const char *dot = memrchr(name.ptr, '.', name.len);
	if (dot != NULL)
		name = (struct tdm_str){ dot + 1, name.len - (size_t)(dot + 1 - name.ptr) };
	return tdm_map_find(&py->called, tdm_str_hash(name)) != TDM_MAP_NONE;
}

/* Whether it gets the index of a buffer from its caller, as an argument and not as a member of one. */
static bool is_told_index(const struct py_descriptor *made)
{
	bool has_format = made->formats != NULL && made->formats->op == TDM_EXPR_LIST && made->formats->arg_count != 0;
	const struct tdm_expr *index = has_format ? tdm_expr_field(made->formats->args[0], "buffer_index") : NULL;
	return index != NULL && tdm_expr_has_parameter(index) &&
	       (index->op != TDM_EXPR_NAME || memchr(index->text.ptr, '.', index->text.len) == NULL);
}

/* A helper gives a descriptor to its caller, or makes all of its own with the caller's indices. */
static bool is_helper(struct py *py, const struct py_definition *definition, const struct tdm_expr *result)
{
	bool is_told = definition->first != NULL;
	for (const struct py_descriptor *made = definition->first; made != NULL; made = made->next)
		is_told &= is_told_index(made);
	return py_descriptor_of(result) != NULL || (is_told && is_called(py, definition->name));
}

static void bind_parameters(struct py_at *at, uint32_t parameters)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	for (TDM_NODE_CHILDREN(child, syntax, parameters)) {
		uint32_t name = tdm_node_with_role(syntax, child, TDM_ROLE_name);
		if (tdm_node_kind(syntax, child) == TDM_SYN_typed_parameter)
			name = tdm_node_of_kind(syntax, child, TDM_SYN_identifier);
		struct tdm_str text = tdm_node_text(syntax, name != TDM_NODE_NONE ? name : child);
		if (!tdm_str_is(text, "self") && !tdm_str_is(text, "cls"))
			py_bind(at, at->frame, text, tdm_expr_parameter(at->py->arena, py_named(at->py, text)->text));
	}
}

void py_walk_definition(struct py *py, struct py_definition *definition)
{
	if (definition->state != PY_NOT_WALKED)
		return;
	struct py_at at = { .py = py,
		.definition = definition,
		.class_name = definition->class_name,
		.frame = py_frame(py, definition->frame) };
	definition->state = PY_BUSY;
	bind_parameters(&at, tdm_node_with_role(py->syntax, definition->node, TDM_ROLE_parameters));
	py_walk_block(&at, tdm_node_with_role(py->syntax, definition->node, TDM_ROLE_body));
	definition->state = is_helper(py, definition, at.result) ? PY_HELPER : PY_PROGRAM;
}
