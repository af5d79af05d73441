/*
 * Variables that change. Where all that is assigned to one is written in its scope, it is one of these values, and an
 * operation on it is one of several; else it has no known value.
 */
#include "scan/kernel_parts.h"

enum {
	VALUES_MAX = 6,          /* that a variable may have */
	NODES_AHEAD_MAX = 20000, /* that are looked at for one variable */
	BY_ASSIGNMENT = 1,
	ELSEWHERE = 2 /* its address was taken, or a function got a reference */
};

static int mark(struct tdm_kernel_reader *reader, uint32_t node, uint32_t how)
{
	const struct tdm_syntax *syntax = reader->syntax;
	while (tdm_node_kind(syntax, node) == TDM_SYN_subscript_expression) {
		node = tdm_node_with_role(syntax, node, TDM_ROLE_argument);
		how = ELSEWHERE;
	}
	if (tdm_node_kind(syntax, node) != TDM_SYN_identifier)
		return 0;
	uint64_t hash = tdm_str_hash(tdm_node_text(syntax, node));
	if (tdm_map_find(&reader->changing, hash) == ELSEWHERE)
		return 0;
	return tdm_map_put(&reader->changing, hash, how);
}

/* The place of a parameter in the map of those that are references: the function's name and which one it is. */
static uint64_t reference_key(struct tdm_str function, uint32_t place)
{
	return tdm_str_hash(function) + place;
}

/* Whether a parameter is a number that the function may change: "uint32_t &x". */
static bool is_number_reference(const struct tdm_syntax *syntax, uint32_t parameter)
{
	static const char *const types[] = { "uint32_t", "int32_t", "uint16_t", "uint8_t", "int", "bool", "size_t" };
	if (tdm_node_kind(syntax, tdm_node_with_role(syntax, parameter, TDM_ROLE_declarator)) !=
		TDM_SYN_reference_declarator)
		return false;
	struct tdm_str text = tdm_node_text(syntax, parameter);
	if (text.len > 6 && memcmp(text.ptr, "const ", 6) == 0)
		return false;
	uint32_t type = tdm_kernel_last_name(syntax, tdm_node_with_role(syntax, parameter, TDM_ROLE_type));
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (tdm_str_is(tdm_node_text(syntax, type), types[i]))
			return true;
	return false;
}

static int note_references(struct tdm_kernel_reader *reader, uint32_t declarator)
{
	const struct tdm_syntax *syntax = reader->syntax;
	uint32_t list = tdm_node_with_role(syntax, declarator, TDM_ROLE_parameters), place = 0;
	struct tdm_str name = tdm_node_text(syntax, tdm_kernel_last_name(syntax, declarator));
	int err = 0;
	if (list == TDM_NODE_NONE)
		return 0;
	for (TDM_NODE_CHILDREN(child, syntax, list)) {
		if (err == 0 && is_number_reference(syntax, child))
			err = tdm_map_put(&reader->references, reference_key(name, place), 1);
		place++;
	}
	return err;
}

/* The arguments of swap() change places; those that a function gets as references may change. */
static int mark_arguments(struct tdm_kernel_reader *reader, uint32_t call)
{
	const struct tdm_syntax *syntax = reader->syntax;
	uint32_t args = tdm_node_with_role(syntax, call, TDM_ROLE_arguments), place = 0;
	struct tdm_str name = tdm_node_text(
		syntax, tdm_kernel_last_name(syntax, tdm_node_with_role(syntax, call, TDM_ROLE_function)));
	bool is_swap = tdm_str_is(name, "swap");
	int err = 0;
	if (args == TDM_NODE_NONE)
		return 0;
	for (TDM_NODE_CHILDREN(arg, syntax, args)) {
		bool is_reference = tdm_map_find(&reader->references, reference_key(name, place++)) != TDM_MAP_NONE;
		if (err == 0 && (is_swap || is_reference))
			err = mark(reader, arg, is_swap ? BY_ASSIGNMENT : ELSEWHERE);
	}
	return err;
}

int tdm_kernel_mark_changing(struct tdm_kernel_reader *reader)
{
	const struct tdm_syntax *syntax = reader->syntax;
	int err = 0;
	for (uint32_t node = 0; node < syntax->count && err == 0; node++)
		if (tdm_node_kind(syntax, node) == TDM_SYN_function_declarator)
			err = note_references(reader, node);
	for (uint32_t node = 0; node < syntax->count && err == 0; node++) {
		enum tdm_syntax_kind kind = tdm_node_kind(syntax, node);
		if (kind == TDM_SYN_assignment_expression) {
			struct tdm_str sign =
				tdm_node_text(syntax, tdm_node_with_role(syntax, node, TDM_ROLE_operator));
			err = mark(reader, tdm_node_with_role(syntax, node, TDM_ROLE_left),
				sign.len <= 1 ? BY_ASSIGNMENT : ELSEWHERE);
		} else if (kind == TDM_SYN_update_expression || kind == TDM_SYN_pointer_expression) {
			err = mark(reader, tdm_node_with_role(syntax, node, TDM_ROLE_argument), ELSEWHERE);
		} else if (kind == TDM_SYN_call_expression) {
			err = mark_arguments(reader, node);
		}
	}
	return err;
}

struct values {
	const struct tdm_expr *list[VALUES_MAX];
	size_t count;
	bool is_lost;
};

static void add_value(struct values *values, const struct tdm_expr *value)
{
	values->is_lost |= values->count == VALUES_MAX || value->op == TDM_EXPR_NOTHING;
	if (!values->is_lost)
		values->list[values->count++] = value;
}

/* The first value of the other variable of a swap: it is declared near this one, before or after it. */
static void add_other(struct tdm_kernel_reader *reader, struct values *values, struct tdm_str other, uint32_t from)
{
	const struct tdm_syntax *syntax = reader->syntax;
	const struct tdm_kernel_variable *known = tdm_kernel_variable_find(reader, other);
	if (known != NULL && known->first != NULL) {
		add_value(values, known->first);
		return;
	}
	for (uint32_t node = from; node < syntax->count && node < from + NODES_AHEAD_MAX; node++)
		if (tdm_node_kind(syntax, node) == TDM_SYN_init_declarator &&
			tdm_str_eq(tdm_node_text(syntax, tdm_kernel_last_name(syntax, node)), other)) {
			add_value(values, tdm_kernel_expr(reader, tdm_node_with_role(syntax, node, TDM_ROLE_value)));
			return;
		}
	values->is_lost = true;
}

static void add_swapped(
	struct tdm_kernel_reader *reader, struct values *values, struct tdm_str name, uint32_t call, uint32_t from)
{
	const struct tdm_syntax *syntax = reader->syntax;
	uint32_t args = tdm_node_with_role(syntax, call, TDM_ROLE_arguments);
	uint32_t function = tdm_kernel_last_name(syntax, tdm_node_with_role(syntax, call, TDM_ROLE_function));
	if (!tdm_str_is(tdm_node_text(syntax, function), "swap") || tdm_node_child_count(syntax, args) != 2)
		return;
	struct tdm_str a = tdm_node_text(syntax, tdm_node_child(syntax, args, 0));
	struct tdm_str b = tdm_node_text(syntax, tdm_node_child(syntax, args, 1));
	if (tdm_str_eq(a, name) || tdm_str_eq(b, name))
		add_other(reader, values, tdm_str_eq(a, name) ? b : a, from);
}

const struct tdm_expr *tdm_kernel_one_of(struct tdm_kernel_reader *reader, struct tdm_str name,
	const struct tdm_expr *first, uint32_t from, uint32_t end)
{
	const struct tdm_syntax *syntax = reader->syntax;
	struct values values = { .count = 0 };
	if (tdm_map_find(&reader->changing, tdm_str_hash(name)) != BY_ASSIGNMENT || end - from > NODES_AHEAD_MAX)
		return NULL;
	if (first != NULL)
		add_value(&values, first);
	for (uint32_t node = from; node < end && !values.is_lost; node++) {
		enum tdm_syntax_kind kind = tdm_node_kind(syntax, node);
		if (kind == TDM_SYN_call_expression)
			add_swapped(reader, &values, name, node, from);
		if (kind == TDM_SYN_assignment_expression &&
			tdm_str_eq(tdm_node_text(syntax, tdm_node_with_role(syntax, node, TDM_ROLE_left)), name))
			add_value(&values, tdm_kernel_expr(reader, tdm_node_with_role(syntax, node, TDM_ROLE_right)));
	}
	if (values.is_lost || values.count == 0)
		return NULL;
	const struct tdm_expr *one = values.list[0], *unknown = tdm_kernel_at_run_time(reader, name);
	for (size_t i = 1; i < values.count; i++)
		one = tdm_expr_make(reader->arena, TDM_EXPR_CHOOSE, (struct tdm_str){ "", 0 },
			(const struct tdm_expr *[]){ unknown, values.list[i], one }, 3);
	return values.count > 1 ? one : NULL;
}
