/*
 * Reads one file of the device's side. The nodes of the tree are visited once, in the order of the text, without
 * recursion: a stack of regions says which function, branches and loops the current node is in. Variables get their
 * values on the way (kernel_scope.c), so that an operation on a buffer is recorded with what its names stand for.
 */
#include "scan/kernel_parts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/reserve.h"

enum { NO_FUNCTION = -1 };

/* A part of the tree that the current node is in. */
struct region {
	uint32_t end; /* the node after it */
	bool is_scope, is_condition, is_loop, is_preproc;
	bool is_function;
	/* what holds again after a function */
	int64_t function;
	uint32_t conditions, loops;
	const struct tdm_expr *condition, *own; /* that around it, and what it adds; NULL: none */
	bool was_left;
	uint32_t if_node; /* the `if` that it is; TDM_NODE_NONE */
};

struct reading {
	struct tdm_kernel_reader part;
	struct region *regions;
	size_t region_count, region_cap;
	int64_t function;                 /* in the file's list; NO_FUNCTION */
	uint32_t conditions, loops;       /* around the current node, in its function */
	const struct tdm_expr *condition; /* of the ifs around it; NULL: always */
	bool was_left;                    /* a branch before this may have left the function */
	uint32_t body;                    /* the node at which the body of the last function begins */
	uint32_t template_params;         /* of the definition that comes next; TDM_NODE_NONE */
	uint32_t template_target;         /* that definition */
	uint32_t lambda;                  /* a lambda that comes next and has a name; TDM_NODE_NONE */
	struct tdm_str lambda_name;
	bool has_certain_op; /* an operation that cannot be one of another container */
};

static int open_region(struct reading *reading, struct region region)
{
	int err = tdm_reserve(
		&reading->regions, &reading->region_cap, reading->region_count + 1, sizeof *reading->regions);
	if (err != 0)
		return err;
	region.function = reading->function;
	region.conditions = reading->conditions;
	region.loops = reading->loops;
	region.was_left = reading->was_left;
	region.condition = reading->condition;
	reading->condition = tdm_kernel_both(reading->part.arena, reading->condition, region.own);
	reading->conditions += region.is_condition;
	reading->loops += region.is_loop;
	reading->part.preproc += region.is_preproc;
	reading->regions[reading->region_count++] = region;
	return 0;
}

static void leave_regions(struct reading *reading, uint32_t node)
{
	while (reading->region_count != 0 && reading->regions[reading->region_count - 1].end <= node) {
		const struct region *region = &reading->regions[--reading->region_count];
		reading->function = region->function;
		reading->conditions = region->conditions;
		reading->loops = region->loops;
		reading->condition = region->condition;
		reading->part.preproc -= region->is_preproc;
		if (region->is_function || region->is_loop)
			reading->was_left = region->was_left;
	}
	tdm_kernel_leave_scopes(&reading->part, node);
}

/* Where a variable that is declared here ends. */
static uint32_t scope_end(const struct reading *reading)
{
	for (size_t i = reading->region_count; i-- != 0;)
		if (reading->regions[i].is_scope)
			return reading->regions[i].end;
	return reading->part.syntax->count;
}

static struct tdm_kernel_function *current_function(struct reading *reading)
{
	return reading->function == NO_FUNCTION ? NULL : &reading->part.code->functions[reading->function];
}

static struct tdm_str copy_of(struct reading *reading, struct tdm_str text)
{
	const char *copy = tdm_arena_text(reading->part.arena, text);
	return tdm_str_of(copy != NULL ? copy : "");
}

/* A list of parameters as a LIST of NAMEs, or of FIELDs where there is a default value. */
static const struct tdm_expr *parameters_of(struct reading *reading, uint32_t list)
{
	enum { PARAMETERS_MAX = 64 };
	const struct tdm_expr *items[PARAMETERS_MAX];
	const struct tdm_syntax *syntax = reading->part.syntax;
	struct tdm_arena *arena = reading->part.arena;
	uint32_t count = 0;
	if (list != TDM_NODE_NONE)
		for (TDM_NODE_CHILDREN(child, syntax, list)) {
			uint32_t declarator = tdm_node_with_role(syntax, child, TDM_ROLE_declarator);
			uint32_t value = tdm_node_with_role(syntax, child, TDM_ROLE_default_value);
			struct tdm_str name =
				copy_of(reading, tdm_node_text(syntax, tdm_kernel_last_name(syntax, declarator)));
			if (count == PARAMETERS_MAX)
				break;
			const struct tdm_expr *given =
				value != TDM_NODE_NONE ? tdm_kernel_expr(&reading->part, value) : NULL;
			items[count++] = given == NULL ? tdm_expr_name(arena, name)
						       : tdm_expr_make(arena, TDM_EXPR_FIELD, name, &given, 1);
		}
	return tdm_expr_make(arena, TDM_EXPR_LIST, (struct tdm_str){ "", 0 }, items, count);
}

static bool is_variadic(const struct tdm_syntax *syntax, uint32_t list)
{
	struct tdm_str text = tdm_node_text(syntax, list);
	return list != TDM_NODE_NONE && memmem(text.ptr, text.len, "...", 3) != NULL;
}

static int declare_parameters(struct reading *reading, uint32_t list, uint32_t end)
{
	int err = 0;
	if (list != TDM_NODE_NONE)
		for (TDM_NODE_CHILDREN(child, reading->part.syntax, list))
			err = err != 0 ? err : tdm_kernel_declare_parameter(&reading->part, child, end);
	return err;
}

static bool is_main(struct tdm_str name, struct tdm_str definition)
{
	static const char mark[] = "TT_KERNEL ";
	return tdm_str_is(name, "kernel_main") || tdm_str_is(name, "MAIN") ||
	       (definition.len > sizeof mark && memcmp(definition.ptr, mark, sizeof mark - 1) == 0);
}

static int add_function(struct reading *reading, struct tdm_kernel_function function, uint32_t end)
{
	struct tdm_kernel_code *code = reading->part.code;
	int err = tdm_reserve(&code->functions, &code->function_cap, code->function_count + 1, sizeof *code->functions);
	if (err == 0)
		err = open_region(reading,
			(struct region){ .end = end, .is_scope = true, .is_function = true, .if_node = TDM_NODE_NONE });
	if (err != 0)
		return err;
	function.is_conditional = reading->part.preproc != 0;
	code->has_main |= function.is_main;
	reading->function = (int64_t)code->function_count;
	reading->conditions = reading->loops = 0;
	reading->condition = NULL;
	reading->was_left = false;
	code->functions[code->function_count++] = function;
	return 0;
}

/* The declarator with the parameters, below references and pointers; TDM_NODE_NONE when there is none. */
static uint32_t function_declarator(const struct tdm_syntax *syntax, uint32_t definition)
{
	uint32_t node = tdm_node_with_role(syntax, definition, TDM_ROLE_declarator);
	while (node != TDM_NODE_NONE && tdm_node_kind(syntax, node) != TDM_SYN_function_declarator) {
		uint32_t below = tdm_node_with_role(syntax, node, TDM_ROLE_declarator);
		if (below == TDM_NODE_NONE && tdm_node_kind(syntax, node) == TDM_SYN_reference_declarator)
			below = tdm_node_first(syntax, node);
		node = below;
	}
	return node;
}

static int enter_function(struct reading *reading, uint32_t node)
{
	const struct tdm_syntax *syntax = reading->part.syntax;
	uint32_t end = syntax->nodes[node].next;
	uint32_t declarator = tdm_node_with_role(syntax, node, TDM_ROLE_declarator);
	uint32_t with_list = function_declarator(syntax, node);
	uint32_t list = tdm_node_with_role(syntax, with_list, TDM_ROLE_parameters);
	uint32_t templates = reading->template_target == node ? reading->template_params : TDM_NODE_NONE;
	struct tdm_kernel_function function = {
		.name = copy_of(reading, tdm_node_text(syntax, tdm_kernel_last_name(syntax, declarator))),
		.line = tdm_walk_node_line(reading->part.walk, node),
		.template_params = parameters_of(reading, templates),
		.params = parameters_of(reading, list),
		.is_variadic = is_variadic(syntax, list),
	};
	function.is_main = is_main(function.name, tdm_node_text(syntax, node));
	int err = add_function(reading, function, end);
	reading->body = tdm_node_with_role(syntax, node, TDM_ROLE_body);
	if (err == 0)
		err = declare_parameters(reading, templates, end);
	return err != 0 ? err : declare_parameters(reading, list, end);
}

/* A lambda with a name is a function that sees the variables around it; one without may be called or not. */
static int enter_lambda(struct reading *reading, uint32_t node)
{
	const struct tdm_syntax *syntax = reading->part.syntax;
	uint32_t end = syntax->nodes[node].next;
	uint32_t list =
		tdm_node_with_role(syntax, tdm_node_with_role(syntax, node, TDM_ROLE_declarator), TDM_ROLE_parameters);
	int err;
	if (reading->lambda == node) {
		struct tdm_kernel_function function = {
			.name = copy_of(reading, reading->lambda_name),
			.line = tdm_walk_node_line(reading->part.walk, node),
			.is_lambda = true,
			.template_params = parameters_of(reading, TDM_NODE_NONE),
			.params = parameters_of(reading, list),
			.is_variadic = is_variadic(syntax, list),
		};
		err = add_function(reading, function, end);
	} else {
		reading->part.code->complexity++;
		err = open_region(reading,
			(struct region){
				.end = end, .is_scope = true, .is_condition = true, .if_node = TDM_NODE_NONE });
	}
	return err != 0 ? err : declare_parameters(reading, list, end);
}

static int add_step(struct reading *reading, struct tdm_kernel_step step)
{
	struct tdm_kernel_function *function = current_function(reading);
	if (function == NULL)
		return 0;
	int err = tdm_reserve(&function->steps, &function->step_cap, function->step_count + 1, sizeof *function->steps);
	if (err != 0)
		return err;
	const bool *is_in_if = reading->part.is_in_if;
	step.is_conditional =
		reading->conditions != 0 || reading->was_left || (is_in_if != NULL && is_in_if[step.line]);
	step.is_in_preproc = reading->part.preproc != 0 || (is_in_if != NULL && is_in_if[step.line]);
	step.condition = reading->condition;
	step.in_loop = reading->loops != 0;
	function->steps[function->step_count++] = step;
	return 0;
}

/* The argument at a place, or nothing. */
static const struct tdm_expr *argument(struct reading *reading, uint32_t args, uint32_t place)
{
	uint32_t node = tdm_node_child(reading->part.syntax, args, place);
	return node != TDM_NODE_NONE ? tdm_kernel_expr(&reading->part, node) : &tdm_expr_nothing;
}

/* Whether x.push_back() is about a buffer: x is declared as one, or the call can be about nothing else. */
static bool is_buffer_method(struct reading *reading, uint32_t receiver, uint8_t action)
{
	const struct tdm_syntax *syntax = reading->part.syntax;
	if (action == TDM_KERNEL_WAIT || action == TDM_KERNEL_RESERVE)
		return true;
	if (tdm_node_kind(syntax, receiver) != TDM_SYN_identifier)
		return false;
	const struct tdm_kernel_variable *variable =
		tdm_kernel_variable_find(&reading->part, tdm_node_text(syntax, receiver));
	return variable != NULL && variable->is_buffer;
}

static int add_operation(struct reading *reading, uint32_t call, uint8_t action, uint32_t receiver)
{
	const struct tdm_syntax *syntax = reading->part.syntax;
	uint32_t args = tdm_node_with_role(syntax, call, TDM_ROLE_arguments);
	bool is_method = receiver != TDM_NODE_NONE;
	reading->has_certain_op |= !is_method || is_buffer_method(reading, receiver, action);
	reading->part.code->op_count[action][is_method ? TDM_KERNEL_BY_METHOD : TDM_KERNEL_BY_FUNCTION]++;
	return add_step(reading,
		(struct tdm_kernel_step){
			.action = action,
			.form = is_method ? TDM_KERNEL_BY_METHOD : TDM_KERNEL_BY_FUNCTION,
			.line = tdm_walk_node_line(reading->part.walk, call),
			.buffer = is_method ? tdm_kernel_expr(&reading->part, receiver) : argument(reading, args, 0),
			.pages = argument(reading, args, is_method ? 0 : 1),
		});
}

/* Calls that say what an expression is, and that tdm_kernel_expr() knows. */
static bool is_plain_value(struct tdm_str name)
{
	static const char *const names[] = { "get_compile_time_arg_val", "get_named_compile_time_arg_val",
		"get_arg_val", "get_arg", "get_common_arg_val", "static_cast", "reinterpret_cast", "get_write_ptr",
		"get_read_ptr" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (tdm_str_is(name, names[i]))
			return true;
	return false;
}

static int read_call(struct reading *reading, uint32_t node)
{
	const struct tdm_syntax *syntax = reading->part.syntax;
	uint32_t function = tdm_node_with_role(syntax, node, TDM_ROLE_function);
	struct tdm_str name = tdm_node_text(syntax, tdm_kernel_last_name(syntax, function));
	bool is_method = tdm_node_kind(syntax, function) == TDM_SYN_field_expression;
	uint8_t action;
	if (tdm_kernel_action_of(name, is_method, &action))
		return add_operation(reading, node, action,
			is_method ? tdm_node_with_role(syntax, function, TDM_ROLE_argument) : TDM_NODE_NONE);
	if (is_plain_value(name) || current_function(reading) == NULL)
		return 0;
	return add_step(reading, (struct tdm_kernel_step){
					 .is_call = true,
					 .line = tdm_walk_node_line(reading->part.walk, node),
					 .callee = copy_of(reading, name),
					 .buffer = &tdm_expr_nothing,
					 .pages = &tdm_expr_nothing,
					 .template_args = tdm_kernel_expr_list(
						 &reading->part, tdm_kernel_template_args(syntax, function)),
					 .args = tdm_kernel_expr_list(
						 &reading->part, tdm_node_with_role(syntax, node, TDM_ROLE_arguments)),
				 });
}

/* An object of a class is made with arguments: its constructor is called. */
static int read_construction(struct reading *reading, uint32_t declaration)
{
	const struct tdm_syntax *syntax = reading->part.syntax;
	uint32_t type = tdm_node_with_role(syntax, declaration, TDM_ROLE_type);
	uint32_t declarator = tdm_node_with_role(syntax, declaration, TDM_ROLE_declarator);
	uint32_t last = tdm_kernel_last_name(syntax, type);
	bool is_function = tdm_node_kind(syntax, declarator) == TDM_SYN_function_declarator;
	uint32_t args = tdm_node_with_role(syntax, declarator, is_function ? TDM_ROLE_parameters : TDM_ROLE_value);
	enum tdm_syntax_kind kind = tdm_node_kind(syntax, args);
	bool is_made = is_function || kind == TDM_SYN_argument_list || kind == TDM_SYN_initializer_list;
	if (!is_made || tdm_node_kind(syntax, last) != TDM_SYN_type_identifier || current_function(reading) == NULL ||
		tdm_node_child_count(syntax, args) == 0)
		return 0;
	return add_step(reading,
		(struct tdm_kernel_step){
			.is_call = true,
			.line = tdm_walk_node_line(reading->part.walk, declaration),
			.callee = copy_of(reading, tdm_node_text(syntax, last)),
			.buffer = &tdm_expr_nothing,
			.pages = &tdm_expr_nothing,
			.template_args = tdm_kernel_expr_list(&reading->part, tdm_kernel_template_args(syntax, type)),
			.args = tdm_kernel_expr_list(&reading->part, args),
		});
}

/* Variables, and constants for other files where they are outside functions. */
static int read_declaration(struct reading *reading, uint32_t node)
{
	size_t before = reading->part.variable_count;
	int err = tdm_kernel_declare(&reading->part, node, scope_end(reading));
	for (size_t i = before; i < reading->part.variable_count && err == 0 && reading->function == NO_FUNCTION; i++)
		err = tdm_kernel_add_constant(
			&reading->part, reading->part.variables[i].name, reading->part.variables[i].value);
	return err != 0 ? err : read_construction(reading, node);
}

/* The guard of a header: an #ifndef around all of it. */
static bool is_guard(const struct tdm_syntax *syntax, uint32_t node)
{
	struct tdm_str text = tdm_node_text(syntax, node);
	return syntax->nodes[node].next == syntax->count && text.len > 7 && memcmp(text.ptr, "#ifndef", 7) == 0;
}

/* The region that a node opens; one without an end when it opens none. */
static struct region region_of(const struct tdm_syntax *syntax, uint32_t node)
{
	const struct tdm_node *at = tdm_node_at(syntax, node);
	struct region region = { .end = at->next, .if_node = TDM_NODE_NONE };
	bool is_branch = at->role == TDM_ROLE_consequence || at->role == TDM_ROLE_alternative;
	switch ((enum tdm_syntax_kind)at->kind) {
	case TDM_SYN_preproc_if:
	case TDM_SYN_preproc_ifdef:
		region.is_condition = region.is_preproc = !is_guard(syntax, node);
		return region;
	case TDM_SYN_preproc_elif:
	case TDM_SYN_preproc_else:
		region.is_condition = region.is_preproc = true;
		return region;
	case TDM_SYN_for_statement:
	case TDM_SYN_for_range_loop:
	case TDM_SYN_while_statement:
	case TDM_SYN_do_statement:
		region.is_loop = region.is_scope = true;
		region.is_condition = is_branch;
		return region;
	case TDM_SYN_compound_statement:
	case TDM_SYN_field_declaration_list:
		region.is_scope = true;
		region.is_condition = is_branch;
		return region;
	case TDM_SYN_if_statement:
		region.is_scope = true;
		region.is_condition = is_branch;
		region.if_node = node;
		return region;
	case TDM_SYN_case_statement:
	case TDM_SYN_catch_clause:
		region.is_condition = true;
		return region;
	default:
		region.is_condition = is_branch;
		region.end = is_branch ? at->next : 0;
		return region;
	}
}

/* A branch of an `if` has a condition that can be read; other branches only may happen. */
static void read_branch(struct reading *reading, uint32_t node, struct region *region)
{
	const struct tdm_syntax *syntax = reading->part.syntax;
	uint32_t parent =
		reading->region_count != 0 ? reading->regions[reading->region_count - 1].if_node : TDM_NODE_NONE;
	if (!region->is_condition || parent == TDM_NODE_NONE)
		return;
	bool is_else = tdm_node_with_role(syntax, parent, TDM_ROLE_alternative) == node;
	if (!is_else && tdm_node_with_role(syntax, parent, TDM_ROLE_consequence) != node)
		return;
	region->own = tdm_kernel_branch(&reading->part, parent, is_else);
	region->is_condition = false;
}

/* What comes after a branch that is left early happens if its condition is false. */
static void guard_rest(struct reading *reading, bool is_return)
{
	struct tdm_arena *arena = reading->part.arena;
	const struct tdm_expr *inner = NULL; /* what led here from the region */
	for (size_t i = reading->region_count; i-- != 0;) {
		struct region *region = &reading->regions[i];
		if (region->is_function || (region->is_loop && !is_return))
			break;
		inner = tdm_kernel_both(arena, region->own, inner);
		if (inner != NULL)
			region->condition = tdm_kernel_both(arena, region->condition, tdm_kernel_not(arena, inner));
	}
}

/* A statement that leaves a branch early makes what comes after it uncertain. */
static void note_exit(struct reading *reading, enum tdm_syntax_kind kind)
{
	bool is_exit = kind == TDM_SYN_return_statement || kind == TDM_SYN_break_statement ||
		       kind == TDM_SYN_continue_statement;
	if (is_exit && reading->conditions == 0 && reading->condition != NULL)
		guard_rest(reading, kind == TDM_SYN_return_statement);
	if (!is_exit || reading->conditions == 0)
		return;
	reading->was_left = true;
	/* A return also leaves the loops around it: what comes after them is uncertain too. */
	for (size_t i = reading->region_count; i-- != 0 && kind == TDM_SYN_return_statement;) {
		if (reading->regions[i].is_function)
			break;
		reading->regions[i].was_left = true;
	}
}

static void note_error(struct reading *reading, uint32_t node)
{
	bool is_before_body = reading->function == NO_FUNCTION || node < reading->body;
	if (!tdm_kernel_is_plain_error(&reading->part, node, is_before_body))
		reading->part.code->is_whole = false;
}

static void note_named_lambda(struct reading *reading, uint32_t declarator)
{
	const struct tdm_syntax *syntax = reading->part.syntax;
	uint32_t value = tdm_node_with_role(syntax, declarator, TDM_ROLE_value);
	if (tdm_node_kind(syntax, value) != TDM_SYN_lambda_expression)
		return;
	reading->lambda = value;
	reading->lambda_name = tdm_node_text(syntax, tdm_kernel_last_name(syntax, declarator));
}

static void note_template(struct reading *reading, uint32_t node)
{
	const struct tdm_syntax *syntax = reading->part.syntax;
	reading->template_params = tdm_node_with_role(syntax, node, TDM_ROLE_parameters);
	reading->template_target = tdm_node_of_kind(syntax, node, TDM_SYN_function_definition);
}

static int read_node(struct reading *reading, uint32_t node)
{
	const struct tdm_syntax *syntax = reading->part.syntax;
	enum tdm_syntax_kind kind = tdm_node_kind(syntax, node);
	struct region region = region_of(syntax, node);
	read_branch(reading, node, &region);
	int err = region.end != 0 ? open_region(reading, region) : 0;
	note_exit(reading, kind);
	if (tdm_kernel_is_decision(syntax, node)) {
		struct tdm_kernel_function *function = current_function(reading);
		reading->part.code->complexity++;
		if (function != NULL)
			function->decisions++;
	}
	if (err != 0)
		return err;
	switch (kind) {
	case TDM_SYN_ERROR:
		note_error(reading, node);
		return 0;
	case TDM_SYN_template_declaration:
		note_template(reading, node);
		return 0;
	case TDM_SYN_function_definition:
		return enter_function(reading, node);
	case TDM_SYN_init_declarator:
		note_named_lambda(reading, node);
		return 0;
	case TDM_SYN_lambda_expression:
		return enter_lambda(reading, node);
	case TDM_SYN_declaration:
	case TDM_SYN_field_declaration:
	case TDM_SYN_for_range_loop:
		return read_declaration(reading, node);
	case TDM_SYN_call_expression:
		return read_call(reading, node);
	case TDM_SYN_enumerator_list:
		return tdm_kernel_read_enumerators(&reading->part, node);
	case TDM_SYN_preproc_def:
		return tdm_kernel_read_macro(&reading->part, node);
	case TDM_SYN_preproc_function_def:
		return tdm_kernel_read_function_macro(&reading->part, node);
	default:
		return 0;
	}
}

static int read_all(struct reading *reading)
{
	struct tdm_kernel_reader *part = &reading->part;
	int err = tdm_kernel_mark_changing(part);
	for (uint32_t node = 0; node < part->syntax->count && err == 0; node++) {
		leave_regions(reading, node);
		err = read_node(reading, node);
	}
	if (err == 0)
		tdm_kernel_finish(part);
	tdm_kernel_settle(part->code, part->arena);
	return err != 0 ? err : part->arena->failed ? -ENOMEM : 0;
}

int tdm_kernel_read_code(struct tdm_file_walk *walk, const bool *is_in_if, struct tdm_kernel_code *code, bool *has_ops)
{
	struct reading reading = { .part = { .walk = walk,
					   .syntax = walk->syntax,
					   .arena = &walk->file->arena,
					   .code = code,
					   .is_in_if = is_in_if },
		.function = NO_FUNCTION,
		.template_params = TDM_NODE_NONE,
		.template_target = TDM_NODE_NONE,
		.lambda = TDM_NODE_NONE };
	int err = tdm_map_init(&reading.part.by_name);
	if (err == 0)
		err = tdm_map_init(&reading.part.changing);
	if (err == 0)
		err = tdm_map_init(&reading.part.references);
	if (err == 0)
		err = read_all(&reading);
	*has_ops = reading.has_certain_op;
	tdm_map_done(&reading.part.by_name);
	tdm_map_done(&reading.part.changing);
	tdm_map_done(&reading.part.references);
	free(reading.part.variables);
	free(reading.regions);
	return err;
}

int tdm_kernel_read(struct tdm_file_walk *walk)
{
	struct tdm_kernel_code *code = tdm_arena_take(&walk->file->arena, sizeof *code);
	bool has_ops = false;
	walk->file->code = NULL;
	if (code == NULL)
		return -ENOMEM;
	code->is_whole = true;
	int err = tdm_kernel_read_code(walk, NULL, code, &has_ops);
	if (err == 0 && !code->is_whole && walk->parser != NULL)
		err = tdm_kernel_read_variants(walk, code);
	if (err == 0 && (code->has_main || has_ops))
		walk->file->code = code;
	return err;
}
