/*
 * Python's statements, and the buffers that they create. Functions are walked once by themselves; a loop's body is
 * walked once. Descriptors become buffers after the whole file has been walked.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "scan/front/lexer.h"
#include "scan/python/python.h"

static void walk_statement(struct py_at *at, uint32_t node);

void py_walk_block(struct py_at *at, uint32_t block)
{
	for (TDM_NODE_CHILDREN(child, at->py->syntax, block))
		if (!at->has_ended)
			walk_statement(at, child);
}

/* ---- definitions ---- */

static struct py_definition *new_definition(struct py_at *at, uint32_t node, struct tdm_str name)
{
	struct py_definition *definition = tdm_arena_take(at->arena, sizeof *definition);
	*definition =
		(struct py_definition){ .name = name, .class_name = at->class_name, .node = node, .frame = at->frame };
	return definition;
}

static void define(struct py_at *at, uint32_t node)
{
	struct py *py = at->py;
	struct tdm_str name = tdm_node_text(py->syntax, tdm_node_part(py->syntax, node, TDM_ROLE_name));
	bool is_member = at->class_name.len != 0 && at->definition->node == 0;
	struct tdm_str whole = is_member ? py_member_name(py, at->class_name, name) : name;
	struct py_definition *definition = new_definition(at, node, whole);
	definition->around = at->definition->node != 0 ? at->definition : NULL;
	py_bind(at, is_member ? 0 : at->frame, whole,
		tdm_expr_of(py->arena,
			(struct tdm_expr){ .op = TDM_EXPR_OPAQUE, .opaque = definition, .number = PY_DEFINITION }));
	if (at->site_line == 0) { /* a call being followed defines its inner functions again */
		if (py->end != NULL)
			py->end->next = definition;
		else
			py->first = definition;
		py->end = definition;
	}
}

const struct tdm_expr *py_lambda(struct py_at *at, uint32_t node)
{
	struct py_definition *definition = new_definition(at, node, tdm_str_of("lambda"));
	definition->is_lambda = true;
	return tdm_expr_of(
		at->arena, (struct tdm_expr){ .op = TDM_EXPR_OPAQUE, .opaque = definition, .number = PY_DEFINITION });
}

/* ---- assignments ---- */

void py_bind_pattern(struct py_at *at, uint32_t pattern, const struct tdm_expr *value)
{
	enum tdm_syntax_kind kind = py_kind(at, pattern);
	struct tdm_str text = py_text(at, pattern);
	if (kind == TDM_SYN_identifier) {
		py_bind(at, at->frame, text, value != NULL ? value : py_named(at->py, text));
		return;
	}
	if (kind != TDM_SYN_pattern_list && kind != TDM_SYN_tuple_pattern)
		return;
	uint32_t place = 0, count = tdm_node_child_count(at->py->syntax, pattern);
	bool is_list = value != NULL && value->op == TDM_EXPR_LIST && value->arg_count == count;
	for (TDM_NODE_CHILDREN(child, at->py->syntax, pattern))
		py_bind_pattern(at, child, is_list ? value->args[place++] : NULL);
}

static void assign(struct py_at *at, uint32_t target, const struct tdm_expr *value)
{
	struct py *py = at->py;
	enum tdm_syntax_kind kind = tdm_node_kind(py->syntax, target);
	struct py_descriptor *made = py_descriptor_of(value);
	if (made != NULL && made->variable.len == 0)
		made->variable = py_last_name(py->syntax, target);
	if (kind == TDM_SYN_attribute) {
		if (py_set_member(at, target, value))
			return;
		/* self.x is bound in the class, and Op.x in the module. */
		struct tdm_str text = py_text(at, target);
		bool is_self = tdm_begins_with(text, "self.");
		bool is_known = !is_self || tdm_map_find(&py->members, tdm_str_hash(text)) == 1;
		uint32_t frame = is_self && at->definition->node != 0 ? at->definition->frame : at->frame;
		py_bind(at, frame, text, is_known ? value : py_named(py, text));
		return;
	}
	py_bind_pattern(at, target, value);
	bool is_class_member = kind == TDM_SYN_identifier && at->class_name.len != 0 && at->definition->node == 0;
	if (is_class_member)
		py_bind(at, 0, py_member_name(py, at->class_name, tdm_node_text(py->syntax, target)), value);
}

static void walk_assignment(struct py_at *at, uint32_t node)
{
	uint32_t right = py_part(at, node, TDM_ROLE_right);
	uint32_t left = py_part(at, node, TDM_ROLE_left);
	if (right == TDM_NODE_NONE)
		return;
	if (py_kind(at, right) == TDM_SYN_assignment) { /* a = b = 1 */
		walk_assignment(at, right);
		right = py_part(at, right, TDM_ROLE_left);
	}
	assign(at, left, py_eval(at, right));
}

/* x += 1 */
static void walk_augmented(struct py_at *at, uint32_t node)
{
	struct tdm_str token = py_text(at, py_part(at, node, TDM_ROLE_operator));
	uint32_t left = py_part(at, node, TDM_ROLE_left);
	const struct tdm_expr *value = py_eval_part(at, node, TDM_ROLE_right);
	token.len -= token.len != 0; /* the operator without '=' */
	enum tdm_expr_op op = tdm_expr_operator(token, 2);
	if (py_kind(at, left) != TDM_SYN_identifier)
		return;
	const struct tdm_expr *before = py_eval(at, left);
	bool is_number = op != TDM_EXPR_NOTHING && before->op != TDM_EXPR_LIST && value->op != TDM_EXPR_LIST;
	assign(at, left, is_number ? tdm_expr_binary(at->arena, op, before, value) : py_unknown(at, left));
}

/* ---- branches ---- */

static const struct tdm_scan_branch *new_branch(struct py_at *at, uint32_t id, uint32_t way, uint32_t condition)
{
	struct tdm_scan_branch *branch = tdm_arena_take(at->arena, sizeof *branch);
	*branch = (struct tdm_scan_branch){ at->branch, id, way, py_unknown(at, condition)->text.ptr, NULL };
	return branch;
}

static void walk_clause(struct py_at *at, uint32_t parent, uint32_t clause, uint32_t alternative);

/* Whether the branch ended with return, raise, break or continue. */
static bool walk_way(struct py_at *at, const struct tdm_scan_branch *branch, uint32_t parent, uint32_t clause)
{
	struct py_at inner = *at;
	inner.branch = branch;
	if (py_kind(at, clause) == TDM_SYN_block)
		py_walk_block(&inner, clause);
	else if (py_kind(at, clause) == TDM_SYN_elif_clause)
		walk_clause(&inner, parent, clause, tdm_node_after(at->py->syntax, parent, clause));
	else if (clause != TDM_NODE_NONE)
		py_walk_block(&inner, py_part(at, clause, TDM_ROLE_body));
	at->result = inner.result;
	return inner.has_ended;
}

/* The last value assigned to a name in a branch, whose hidden bindings are [from, to); NULL if there is none. */
static const struct tdm_expr *value_in(struct py *py, size_t from, size_t to, struct tdm_str name)
{
	for (size_t i = to; i > from && py->steps <= PY_STEPS_MAX; i--) {
		py->steps++;
		if (py->bindings[i - 1].frame == UINT32_MAX && tdm_str_eq(py->bindings[i - 1].name, name))
			return py->bindings[i - 1].value;
	}
	return NULL;
}

/*
 * An `if` or `elif` with its following clauses. The bindings of each branch are a range in the list of bindings. Except
 * for bindings in other frames, they are hidden from the other branch and joined afterwards.
 */
static void walk_clause(struct py_at *at, uint32_t parent, uint32_t clause, uint32_t alternative)
{
	struct py *py = at->py;
	uint32_t condition_node = py_part(at, clause, TDM_ROLE_condition);
	const struct tdm_expr *condition = py_eval(at, condition_node);
	uint32_t ways[] = { py_part(at, clause, TDM_ROLE_consequence), alternative }, id = py->next_branch++;
	int64_t number;
	if (++at->depth >= PY_DEPTH_MAX)
		return;
	if (tdm_expr_value(condition, py->walk->settings, &number) == 0) {
		at->has_ended = walk_way(at, at->branch, parent, ways[number == 0]);
		at->depth--;
		return;
	}
	size_t ends[3] = { py->binding_count };
	bool has_ended[2];
	for (uint32_t way = 0; way < 2; way++) {
		has_ended[way] = walk_way(at, new_branch(at, id, way, condition_node), parent, ways[way]);
		ends[way + 1] = py->binding_count;
		for (size_t i = ends[way]; i < ends[way + 1]; i++)
			if (py->bindings[i].frame == at->frame)
				py->bindings[i].frame = UINT32_MAX;
	}
	for (size_t i = ends[0]; i < ends[2]; i++) {
		struct tdm_str name = py->bindings[i].name;
		if (has_ended[i >= ends[1]] || py->bindings[i].frame != UINT32_MAX ||
			py_find_since(py, name, at->frame, ends[2]) != NULL)
			continue;
		const struct tdm_expr *before = py_lookup(at, name), *values[2] = { NULL, NULL };
		for (int way = 0; way < 2; way++)
			if (!has_ended[way]) {
				values[way] = value_in(py, ends[way], ends[way + 1], name);
				values[way] = values[way] != NULL ? values[way] : before;
			}
		const struct tdm_expr *value = py_merge(at, condition, values[0], values[1]);
		if (value != NULL)
			py_bind(at, at->frame, name, value);
	}
	at->has_ended = has_ended[0] && has_ended[1];
	at->depth--;
}

/* ---- loops ---- */

static bool uses_name(struct py *py, uint32_t node, struct tdm_str name)
{
	for (uint32_t i = node; i < py->syntax->nodes[node].next; i++) {
		py->steps++;
		if (py->syntax->nodes[i].kind == TDM_SYN_identifier && tdm_str_eq(tdm_node_text(py->syntax, i), name))
			return true;
	}
	return false;
}

/* Makes names that change in each iteration, x += 1 or x = f(x), unknown inside the loop. */
static void forget_changing(struct py_at *at, uint32_t body)
{
	struct py *py = at->py;
	const struct tdm_syntax *syntax = py->syntax;
	for (uint32_t i = body; i < syntax->nodes[body].next && py->steps <= PY_STEPS_MAX; i++) {
		bool is_augmented = syntax->nodes[i].kind == TDM_SYN_augmented_assignment;
		py->steps++;
		if (!is_augmented && syntax->nodes[i].kind != TDM_SYN_assignment)
			continue;
		uint32_t left = tdm_node_part(syntax, i, TDM_ROLE_left);
		uint32_t right = tdm_node_part(syntax, i, TDM_ROLE_right);
		struct tdm_str name = tdm_node_text(syntax, left);
		bool is_name = tdm_node_kind(syntax, left) == TDM_SYN_identifier && right != TDM_NODE_NONE;
		if (is_name && py_lookup(at, name) != NULL && (is_augmented || uses_name(py, right, name)))
			py_bind(at, at->frame, name, py_named(py, name));
	}
}

static void walk_loop(struct py_at *at, uint32_t node)
{
	uint32_t body = py_part(at, node, TDM_ROLE_body);
	uint32_t left = py_part(at, node, TDM_ROLE_left);
	if (body == TDM_NODE_NONE)
		return;
	struct py_at inner = *at;
	inner.in_loop = true;
	py_eval_part(at, node, TDM_ROLE_right);
	py_eval_part(at, node, TDM_ROLE_condition);
	forget_changing(at, body);
	if (left != TDM_NODE_NONE)
		py_bind_pattern(&inner, left, NULL);
	py_walk_block(&inner, body);
	at->result = inner.result;
	uint32_t otherwise = py_part(at, node, TDM_ROLE_alternative);
	if (otherwise != TDM_NODE_NONE)
		py_walk_block(at, py_part(at, otherwise, TDM_ROLE_body));
}

/* ---- other statements ---- */

static void walk_return(struct py_at *at, uint32_t node)
{
	const struct tdm_expr *value = py_eval(at, tdm_node_first(at->py->syntax, node));
	at->has_ended = true;
	if (at->result == NULL || py_is_none(at->result) || value->op == TDM_EXPR_OPAQUE)
		at->result = value;
	else if (at->result->op != TDM_EXPR_OPAQUE && at->result != value)
		at->result = py_unknown(at, node);
}

/* A statement containing blocks: with, try, except. */
static void walk_parts(struct py_at *at, uint32_t node)
{
	for (TDM_NODE_CHILDREN(child, at->py->syntax, node)) {
		enum tdm_syntax_kind kind = py_kind(at, child);
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
	for (TDM_NODE_CHILDREN(child, at->py->syntax, node)) {
		if (py_kind(at, child) == TDM_SYN_assignment)
			walk_assignment(at, child);
		else if (py_kind(at, child) == TDM_SYN_augmented_assignment)
			walk_augmented(at, child);
		else
			py_eval(at, child);
	}
}

static void walk_inner(struct py_at *at, uint32_t node)
{
	struct py_at inner;
	switch (py_kind(at, node)) {
	case TDM_SYN_expression_statement:
		walk_expression(at, node);
		break;
	case TDM_SYN_function_definition:
		define(at, node);
		break;
	case TDM_SYN_decorated_definition:
		walk_statement(at, py_part(at, node, TDM_ROLE_definition));
		break;
	case TDM_SYN_class_definition:
		inner = *at;
		inner.class_name = py_text(at, py_part(at, node, TDM_ROLE_name));
		inner.frame = py_frame(at->py, at->frame);
		py_walk_block(&inner, py_part(at, node, TDM_ROLE_body));
		break;
	case TDM_SYN_if_statement:
		walk_clause(at, node, node, py_part(at, node, TDM_ROLE_alternative));
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
	if (node == TDM_NODE_NONE || ++py->steps > PY_STEPS_MAX || at->depth >= PY_DEPTH_MAX ||
		tdm_arena_is_full(py->arena))
		return;
	at->depth++;
	walk_inner(at, node);
	at->depth--;
}

/* ---- a function by itself ---- */

static const struct tdm_expr *member(const struct tdm_expr *format, const char *name)
{
	const struct tdm_expr *value = format != NULL ? tdm_expr_field(format, name) : NULL;
	return value != NULL && value->op != TDM_EXPR_NOTHING ? value : NULL;
}

/* The format descriptor at an index; NULL if there is none. */
static const struct tdm_expr *format_at(const struct py_descriptor *made, uint32_t place)
{
	bool is_list = made->formats != NULL && made->formats->op == TDM_EXPR_LIST;
	return is_list && place < made->formats->arg_count ? made->formats->args[place] : NULL;
}

/* A helper returns a descriptor, or creates only descriptors whose indices are arguments from the caller, not members
 * of an argument. */
static bool is_helper(struct py *py, const struct py_definition *definition, const struct tdm_expr *result)
{
	bool is_told = definition->first != NULL;
	for (const struct py_descriptor *made = definition->first; made != NULL; made = made->next) {
		const struct tdm_expr *index = member(format_at(made, 0), "buffer_index");
		is_told &= index != NULL && index->is_parameter &&
			   (index->op != TDM_EXPR_NAME || memchr(index->text.ptr, '.', index->text.len) == NULL);
	}
	uint64_t hash = tdm_str_hash(tdm_last_part(definition->name, '.'));
	return py_descriptor_of(result) != NULL || (is_told && tdm_map_find(&py->called, hash) != TDM_MAP_NONE);
}

struct tdm_str py_parameter_name(const struct tdm_syntax *syntax, uint32_t parameter)
{
	uint32_t name = tdm_node_part(syntax, parameter, TDM_ROLE_name);
	if (tdm_node_kind(syntax, parameter) == TDM_SYN_typed_parameter)
		name = tdm_node_of_kind(syntax, parameter, TDM_SYN_identifier);
	return tdm_node_text(syntax, name != TDM_NODE_NONE ? name : parameter);
}

void py_walk_definition(struct py *py, struct py_definition *definition)
{
	if (definition->state != PY_NOT_WALKED)
		return;
	struct py_at at = { .py = py,
		.arena = py->arena,
		.definition = definition,
		.class_name = definition->class_name,
		.frame = py_frame(py, definition->frame) };
	definition->state = PY_BUSY;
	uint32_t parameters = py_part(&at, definition->node, TDM_ROLE_parameters);
	for (TDM_NODE_CHILDREN(child, py->syntax, parameters)) {
		struct tdm_str text = py_parameter_name(py->syntax, child);
		if (!tdm_is_one_of(text, "self cls"))
			py_bind(&at, at.frame, text, tdm_expr_name(py->arena, py_named(py, text)->text, true));
	}
	py_walk_block(&at, py_part(&at, definition->node, TDM_ROLE_body));
	definition->state = is_helper(py, definition, at.result) ? PY_HELPER : PY_PROGRAM;
}

/* ---- the file ---- */

static const struct tdm_scan_buffer *add_buffer(struct tdm_file_walk *walk, const struct py_descriptor *made)
{
	const struct py_definition *outer = made->owner;
	while (outer->around != NULL)
		outer = outer->around;
	struct tdm_buffer_facts facts = {
		.kind = TDM_KIND_CB,
		.shape = made->shape,
		.line = made->line,
		.defined_line = tdm_walk_line(walk, made->byte),
		.index = member(format_at(made, 0), "buffer_index"),
		.also_index = member(format_at(made, 1), "buffer_index"),
		.format = member(format_at(made, 0), "data_format"),
		.page = member(format_at(made, 0), "page_size"),
		.total = made->total,
		.cores = made->cores,
		.view_of = made->view_of,
		.helper = made->helper,
		.variable = made->variable,
		.in_loop = made->in_loop,
		.branch = made->branch,
	};
	facts.program = tdm_walk_add_program(walk, outer->name, tdm_walk_node_line(walk, outer->node));
	return tdm_walk_add_buffer(walk, &facts);
}

static void mark_place(struct tdm_scan_file *file, uint32_t byte, const struct tdm_scan_buffer *buffer)
{
	struct tdm_scan_place *place = tdm_place_at(file, byte);
	if (place == NULL)
		return;
	place->grasp = buffer != NULL ? buffer->grasp : TDM_GRASP_WHOLLY;
	place->why = buffer != NULL ? buffer->missing : "";
	place->is_helper_body = buffer == NULL;
}

static int by_line(const void *left, const void *right)
{
	const struct py_descriptor *a = *(struct py_descriptor *const *)left,
				   *b = *(struct py_descriptor *const *)right;
	int order = tdm_order(a->line, b->line);
	return order != 0 ? order : tdm_order(a->byte, b->byte);
}

static void emit(struct py *py)
{
	const struct py_descriptor **all = NULL;
	size_t count = 0, cap = 0;
	for (const struct py_definition *owner = py->first; owner != NULL; owner = owner->next)
		for (struct py_descriptor *made = owner->first; made != NULL; made = made->next) {
			if (owner->state == PY_HELPER && owner->was_followed) {
				mark_place(py->walk->file, made->byte, NULL);
				continue;
			}
			made->line = made->site_line != 0 ? made->site_line : tdm_walk_line(py->walk, made->byte);
			tdm_grow(&all, &cap, count + 1, sizeof *all);
			all[count++] = made;
		}
	if (count != 0)
		qsort(all, count, sizeof *all, by_line);
	for (size_t i = 0; i < count; i++) {
		const struct tdm_scan_buffer *buffer = add_buffer(py->walk, all[i]);
		mark_place(py->walk->file, all[i]->byte, all[i]->site_line == 0 ? buffer : NULL);
	}
	free(all);
}

/* Visits all nodes once to collect the places, the names called anywhere, and how often members are assigned. */
static void collect_names(struct py *py)
{
	const struct tdm_syntax *syntax = py->syntax;
	for (uint32_t i = 0; i < syntax->count; i++) {
		bool is_assigned = syntax->nodes[i].kind == TDM_SYN_assignment ||
				   syntax->nodes[i].kind == TDM_SYN_augmented_assignment;
		if (syntax->nodes[i].kind == TDM_SYN_call) {
			struct tdm_str name = py_last_name(syntax, tdm_node_part(syntax, i, TDM_ROLE_function));
			tdm_map_set(&py->called, tdm_str_hash(name), 1);
			bool is_sharded = tdm_str_is(name, "cb_descriptor_from_sharded_tensor");
			if (is_sharded || tdm_str_is(name, "CBDescriptor"))
				tdm_place_add(py->walk->file, (uint32_t)(name.ptr - syntax->text.ptr),
					is_sharded ? TDM_SHAPE_PYTHON_SHARDED : TDM_SHAPE_PYTHON_DESCRIPTOR);
		} else if (is_assigned) {
			uint32_t left = tdm_node_part(syntax, i, TDM_ROLE_left);
			uint64_t hash = tdm_str_hash(tdm_node_text(syntax, left));
			uint32_t before = tdm_map_find(&py->members, hash);
			if (tdm_node_kind(syntax, left) == TDM_SYN_attribute)
				tdm_map_set(&py->members, hash, before == TDM_MAP_NONE ? 1 : 2);
		}
	}
}

static int by_byte(const void *a, const void *b)
{
	return tdm_order(((const struct tdm_scan_place *)a)->byte, ((const struct tdm_scan_place *)b)->byte);
}

int tdm_python_read(struct tdm_file_walk *walk)
{
	struct py py = { .walk = walk, .syntax = walk->syntax, .arena = &walk->file->arena };
	if (walk->syntax->count == 0)
		return 0;
	collect_names(&py);
	if (walk->file->place_count != 0)
		qsort(walk->file->places, walk->file->place_count, sizeof *walk->file->places, by_byte);
	/* The module is a function that nobody calls. */
	struct py_definition module = { .name = tdm_str_of("(module)"), .state = PY_PROGRAM };
	struct py_at at = { .py = &py, .arena = py.arena, .definition = &module, .frame = py_frame(&py, 0) };
	py.first = py.end = &module;
	py_walk_block(&at, 0);
	for (struct py_definition *definition = module.next; definition != NULL; definition = definition->next)
		py_walk_definition(&py, definition);
	bool is_full = tdm_arena_is_full(py.arena);
	if (!is_full)
		emit(&py);
	tdm_map_done(&py.last);
	tdm_map_done(&py.called);
	tdm_map_done(&py.members);
	free(py.bindings);
	free(py.frame_parent);
	return is_full ? -EFBIG : 0;
}
