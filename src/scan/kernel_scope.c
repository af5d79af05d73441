/* Variables of kernel code while the tree is read in the order of the text. */
#include "scan/kernel_parts.h"

#include "base/reserve.h"

const struct tdm_kernel_variable *tdm_kernel_variable_find(const struct tdm_kernel_reader *reader, struct tdm_str name)
{
	uint32_t place = tdm_map_find(&reader->by_name, tdm_str_hash(name));
	while (place != TDM_MAP_NONE && !tdm_str_eq(reader->variables[place].name, name))
		place = reader->variables[place].shadowed; /* another name with the same hash */
	return place != TDM_MAP_NONE ? &reader->variables[place] : NULL;
}

static int add_variable(struct tdm_kernel_reader *reader, struct tdm_kernel_variable variable)
{
	uint64_t hash = tdm_str_hash(variable.name);
	int err = tdm_reserve(
		&reader->variables, &reader->variable_cap, reader->variable_count + 1, sizeof *reader->variables);
	if (err != 0)
		return err;
	variable.shadowed = tdm_map_find(&reader->by_name, hash);
	reader->variables[reader->variable_count] = variable;
	err = tdm_map_put(&reader->by_name, hash, (uint32_t)reader->variable_count);
	if (err == 0)
		reader->variable_count++;
	return err;
}

void tdm_kernel_leave_scopes(struct tdm_kernel_reader *reader, uint32_t node)
{
	while (reader->variable_count != 0 && reader->variables[reader->variable_count - 1].end <= node) {
		const struct tdm_kernel_variable *variable = &reader->variables[--reader->variable_count];
		uint64_t hash = tdm_str_hash(variable->name);
		if (variable->shadowed != TDM_MAP_NONE)
			(void)tdm_map_put(&reader->by_name, hash, variable->shadowed); /* replacing never fails */
		else
			tdm_map_take(&reader->by_name, hash);
	}
}

/* What a declarator gives its variable: = value, (arguments), {arguments}. The grammar takes "T x(y);" for the
 * declaration of a function; its parameters are then the arguments. */
static const struct tdm_expr *initial_value(struct tdm_kernel_reader *reader, uint32_t declarator, bool is_buffer)
{
	const struct tdm_syntax *syntax = reader->syntax;
	bool is_function = tdm_node_kind(syntax, declarator) == TDM_SYN_function_declarator;
	uint32_t value = tdm_node_with_role(syntax, declarator, is_function ? TDM_ROLE_parameters : TDM_ROLE_value);
	enum tdm_syntax_kind kind = tdm_node_kind(syntax, value);
	if (value == TDM_NODE_NONE || kind == TDM_SYN_lambda_expression || (is_function && !is_buffer))
		return NULL;
	bool is_array = tdm_node_kind(syntax, tdm_node_with_role(syntax, declarator, TDM_ROLE_declarator)) ==
			TDM_SYN_array_declarator;
	bool is_list = is_function || kind == TDM_SYN_argument_list || kind == TDM_SYN_initializer_list;
	if (is_list && !is_array && tdm_node_child_count(syntax, value) >= 1 &&
		(is_buffer || tdm_node_child_count(syntax, value) == 1))
		return tdm_kernel_expr(reader, tdm_node_child(syntax, value, 0));
	return tdm_kernel_expr(reader, value);
}

/* Whether a type is that of an object with wait_front() and so on. */
static bool is_buffer_type(const struct tdm_syntax *syntax, uint32_t declaration)
{
	uint32_t type = tdm_node_with_role(syntax, declaration, TDM_ROLE_type);
	return tdm_kernel_is_buffer_type(tdm_node_text(syntax, tdm_kernel_last_name(syntax, type)));
}

/* auto x = CircularBuffer(3); */
static bool is_buffer_value(const struct tdm_syntax *syntax, uint32_t declarator)
{
	uint32_t value = tdm_node_with_role(syntax, declarator, TDM_ROLE_value);
	uint32_t made = tdm_node_kind(syntax, value) == TDM_SYN_call_expression
				? tdm_node_with_role(syntax, value, TDM_ROLE_function)
				: tdm_node_with_role(syntax, value, TDM_ROLE_type);
	return tdm_kernel_is_buffer_type(tdm_node_text(syntax, tdm_kernel_last_name(syntax, made)));
}

static bool is_constant(const struct tdm_syntax *syntax, uint32_t declaration)
{
	for (TDM_NODE_CHILDREN(child, syntax, declaration)) {
		struct tdm_str text = tdm_node_text(syntax, child);
		if (tdm_node_kind(syntax, child) == TDM_SYN_type_qualifier &&
			(tdm_str_is(text, "const") || tdm_str_is(text, "constexpr")))
			return true;
	}
	return false;
}

const struct tdm_expr *tdm_kernel_unknown(const struct tdm_kernel_reader *reader, struct tdm_str name)
{
	const char *copy = tdm_arena_text(reader->arena, name);
	struct tdm_expr *expr = copy != NULL ? tdm_arena_take(reader->arena, sizeof *expr) : NULL;
	if (expr == NULL)
		return &tdm_expr_nothing;
	*expr = *tdm_expr_name(reader->arena, tdm_str_of(copy));
	expr->opaque = expr;
	return expr;
}

const struct tdm_expr *tdm_kernel_at_run_time(const struct tdm_kernel_reader *reader, struct tdm_str name)
{
	const struct tdm_expr *unknown = tdm_kernel_unknown(reader, name);
	struct tdm_expr *expr = unknown->op == TDM_EXPR_NAME ? tdm_arena_take(reader->arena, sizeof *expr) : NULL;
	if (expr == NULL)
		return unknown;
	*expr = *unknown;
	expr->opaque = expr;
	expr->number = TDM_KERNEL_AT_RUN_TIME;
	return expr;
}

/* Declared in an #if and in its #else: one or the other, decided when the kernel is compiled. */
static const struct tdm_expr *either_of(
	const struct tdm_kernel_reader *reader, struct tdm_str name, const struct tdm_expr *a, const struct tdm_expr *b)
{
	return tdm_expr_make(reader->arena, TDM_EXPR_CHOOSE, (struct tdm_str){ "", 0 },
		(const struct tdm_expr *[]){ tdm_kernel_unknown(reader, name), a, b }, 3);
}

static int declare_one(struct tdm_kernel_reader *reader, uint32_t declaration, uint32_t declarator, uint32_t end)
{
	const struct tdm_syntax *syntax = reader->syntax;
	uint32_t name_node = tdm_kernel_last_name(syntax, declarator);
	struct tdm_str name = tdm_node_text(syntax, name_node);
	enum tdm_syntax_kind kind = tdm_node_kind(syntax, name_node);
	if (kind != TDM_SYN_identifier && kind != TDM_SYN_field_identifier)
		return 0;
	bool is_buffer = is_buffer_type(syntax, declaration) || is_buffer_value(syntax, declarator);
	const struct tdm_expr *value = initial_value(reader, declarator, is_buffer);
	bool is_changing = !is_constant(syntax, declaration) &&
			   tdm_map_find(&reader->changing, tdm_str_hash(name)) != TDM_MAP_NONE;
	const struct tdm_kernel_variable *other = tdm_kernel_variable_find(reader, name);
	bool is_either = reader->preproc != 0 && other != NULL && other->end == end; /* of an #if and its #else */
	bool is_fixed = is_constant(syntax, declaration);
	const struct tdm_expr *first = value;
	const struct tdm_expr *one_of = NULL;
	if (is_either && !is_changing && first != NULL && other->first != NULL)
		one_of = either_of(reader, name, first, other->value);
	else if (is_changing && !is_either)
		one_of = tdm_kernel_one_of(reader, name, first, declaration, end);
	if (one_of != NULL)
		value = one_of;
	else if (value == NULL || is_changing || is_either)
		value = is_fixed || reader->preproc != 0 ? tdm_kernel_unknown(reader, name)
							 : tdm_kernel_at_run_time(reader, name);
	return add_variable(reader, (struct tdm_kernel_variable){ .name = name,
					    .value = value,
					    .end = end,
					    .is_buffer = is_buffer,
					    .is_constant = is_fixed,
					    .first = first });
}

int tdm_kernel_declare(struct tdm_kernel_reader *reader, uint32_t node, uint32_t end)
{
	const struct tdm_syntax *syntax = reader->syntax;
	int err = 0;
	for (TDM_NODE_CHILDREN(child, syntax, node))
		if (syntax->nodes[child].role == TDM_ROLE_declarator && err == 0)
			err = declare_one(reader, node, child, end);
	return err;
}

int tdm_kernel_declare_parameter(struct tdm_kernel_reader *reader, uint32_t node, uint32_t end)
{
	const struct tdm_syntax *syntax = reader->syntax;
	uint32_t declarator = tdm_node_with_role(syntax, node, TDM_ROLE_declarator);
	struct tdm_str name = tdm_node_text(syntax, tdm_kernel_last_name(syntax, declarator));
	if (declarator == TDM_NODE_NONE)
		return 0;
	const char *copy = tdm_arena_text(reader->arena, name);
	bool is_changing = tdm_map_find(&reader->changing, tdm_str_hash(name)) != TDM_MAP_NONE;
	const struct tdm_expr *value = copy == NULL  ? &tdm_expr_nothing
				       : is_changing ? tdm_kernel_unknown(reader, name)
						     : tdm_expr_parameter(reader->arena, tdm_str_of(copy));
	return add_variable(reader, (struct tdm_kernel_variable){ .name = name,
					    .value = value,
					    .end = end,
					    .is_buffer = is_buffer_type(syntax, node),
					    .is_constant = true });
}
