/* Expressions of kernel code. Names of variables become their values; parameters, arguments of the host and names from
 * other files stay, and are put in by the join. */
#include "scan/kernel_parts.h"

#include "scan/cpp_literal.h"

enum { DEPTH_MAX = 40, NAME_MAX_BYTES = 200, LIST_MAX = 256 };

static const struct tdm_expr *read(const struct tdm_kernel_reader *reader, uint32_t node, uint32_t depth);

uint32_t tdm_kernel_last_name(const struct tdm_syntax *syntax, uint32_t node)
{
	for (;;) {
		uint32_t part = TDM_NODE_NONE;
		switch (tdm_node_kind(syntax, node)) {
		case TDM_SYN_qualified_identifier:
		case TDM_SYN_template_function:
		case TDM_SYN_template_method:
		case TDM_SYN_template_type:
			part = tdm_node_with_role(syntax, node, TDM_ROLE_name);
			break;
		case TDM_SYN_field_expression:
			part = tdm_node_with_role(syntax, node, TDM_ROLE_field);
			break;
		case TDM_SYN_reference_declarator:
		case TDM_SYN_parenthesized_declarator:
		case TDM_SYN_type_descriptor:
		case TDM_SYN_parenthesized_expression:
			part = tdm_node_first(syntax, node);
			break;
		case TDM_SYN_pointer_declarator:
		case TDM_SYN_array_declarator:
		case TDM_SYN_function_declarator:
		case TDM_SYN_init_declarator:
			part = tdm_node_with_role(syntax, node, TDM_ROLE_declarator);
			break;
		default:
			return node;
		}
		if (part == TDM_NODE_NONE || part <= node)
			return node;
		node = part;
	}
}

uint32_t tdm_kernel_template_args(const struct tdm_syntax *syntax, uint32_t node)
{
	while (node != TDM_NODE_NONE) {
		enum tdm_syntax_kind kind = tdm_node_kind(syntax, node);
		if (kind == TDM_SYN_template_function || kind == TDM_SYN_template_method ||
			kind == TDM_SYN_template_type)
			return tdm_node_with_role(syntax, node, TDM_ROLE_arguments);
		if (kind == TDM_SYN_qualified_identifier)
			node = tdm_node_with_role(syntax, node, TDM_ROLE_name);
		else if (kind == TDM_SYN_field_expression)
			node = tdm_node_with_role(syntax, node, TDM_ROLE_field);
		else
			break;
	}
	return TDM_NODE_NONE;
}

/* A piece of source without a known value: its first line, copied, because the text goes away. */
static const struct tdm_expr *name_of_text(const struct tdm_kernel_reader *reader, struct tdm_str text)
{
	const char *line_end = memchr(text.ptr, '\n', text.len);
	text.len = line_end != NULL ? (size_t)(line_end - text.ptr) : text.len;
	text.len = text.len > NAME_MAX_BYTES ? NAME_MAX_BYTES : text.len;
	const char *copy = tdm_arena_text(reader->arena, text);
	return copy != NULL ? tdm_expr_name(reader->arena, tdm_str_of(copy)) : &tdm_expr_nothing;
}

static const struct tdm_expr *number_of(const struct tdm_kernel_reader *reader, struct tdm_str text)
{
	int64_t number;
	return tdm_cpp_number(text, &number) ? tdm_expr_number(reader->arena, number) : name_of_text(reader, text);
}

static const struct tdm_expr *variable_of(const struct tdm_kernel_reader *reader, struct tdm_str name)
{
	const struct tdm_kernel_variable *variable = tdm_kernel_variable_find(reader, name);
	if (variable == NULL)
		return name_of_text(reader, name);
	/* It may have been changed where nobody sees it: by a function that got a reference. */
	int64_t number;
	bool is_doubtful = reader->wants_constants && !variable->is_constant &&
			   tdm_expr_value(variable->value, NULL, &number) == 0;
	return is_doubtful ? tdm_kernel_at_run_time(reader, name) : variable->value;
}

/* "tt::CBIndex::c_3" is a number; "dfb::in" and the rest stay names. */
static const struct tdm_expr *qualified_of(const struct tdm_kernel_reader *reader, uint32_t node)
{
	struct tdm_str text = tdm_node_text(reader->syntax, node);
	uint32_t last = tdm_kernel_last_name(reader->syntax, node);
	int64_t index;
	if (tdm_cpp_buffer_index(tdm_node_text(reader->syntax, last), &index) &&
		(memmem(text.ptr, text.len, "CBIndex::", 9) != NULL || memmem(text.ptr, text.len, "CB::", 4) != NULL))
		return tdm_expr_number(reader->arena, index);
	if (text.len > 2 && memcmp(text.ptr, "::", 2) == 0)
		text = (struct tdm_str){ text.ptr + 2, text.len - 2 };
	return name_of_text(reader, text);
}

static const struct tdm_expr *list_of(
	const struct tdm_kernel_reader *reader, uint32_t node, uint32_t depth, enum tdm_expr_op op, struct tdm_str text)
{
	const struct tdm_expr *items[LIST_MAX];
	uint32_t count = 0;
	if (node != TDM_NODE_NONE)
		for (TDM_NODE_CHILDREN(child, reader->syntax, node)) {
			if (count == LIST_MAX)
				return name_of_text(reader, tdm_node_text(reader->syntax, node));
			items[count++] = read(reader, child, depth);
		}
	const char *copy = text.len != 0 ? tdm_arena_text(reader->arena, text) : "";
	return tdm_expr_make(reader->arena, op, tdm_str_of(copy != NULL ? copy : ""), items, count);
}

const struct tdm_expr *tdm_kernel_expr_list(const struct tdm_kernel_reader *reader, uint32_t node)
{
	return list_of(reader, node, 0, TDM_EXPR_LIST, (struct tdm_str){ "", 0 });
}

/* Calls that only pass their argument on: casts, and the constructors of buffers. */
static bool is_passing(struct tdm_str name, enum tdm_syntax_kind kind)
{
	static const char *const casts[] = { "static_cast", "reinterpret_cast", "uint32_t", "int32_t", "uint16_t",
		"uint8_t", "size_t", "int", "uint", "underlying", "to_underlying" };
	if (kind == TDM_SYN_primitive_type || tdm_kernel_is_buffer_type(name))
		return true;
	for (size_t i = 0; i < sizeof casts / sizeof *casts; i++)
		if (tdm_str_is(name, casts[i]))
			return true;
	return false;
}

/* buffer.get_id() is the buffer. */
static bool is_identity_method(struct tdm_str name)
{
	static const char *const names[] = { "get_id", "get_cb_id", "get_dfb_id", "id", "get_cb", "get_buffer_id" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (tdm_str_is(name, names[i]))
			return true;
	return false;
}

static enum tdm_expr_op operator_function(struct tdm_str name)
{
	static const struct {
		const char *name;
		enum tdm_expr_op op;
	} functions[] = { { "min", TDM_EXPR_MIN }, { "max", TDM_EXPR_MAX }, { "div_up", TDM_EXPR_DIVIDE_UP },
		{ "ceil_div", TDM_EXPR_DIVIDE_UP }, { "round_up", TDM_EXPR_ROUND_UP },
		{ "round_down", TDM_EXPR_ROUND_DOWN } };
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (tdm_str_is(name, functions[i].name))
			return functions[i].op;
	return TDM_EXPR_NOTHING;
}

static const struct tdm_expr *call_of(const struct tdm_kernel_reader *reader, uint32_t node, uint32_t depth)
{
	const struct tdm_syntax *syntax = reader->syntax;
	uint32_t function = tdm_node_with_role(syntax, node, TDM_ROLE_function);
	uint32_t args = tdm_node_with_role(syntax, node, TDM_ROLE_arguments);
	uint32_t last = tdm_kernel_last_name(syntax, function), count = tdm_node_child_count(syntax, args);
	struct tdm_str name = tdm_node_text(syntax, last);
	bool is_method = tdm_node_kind(syntax, function) == TDM_SYN_field_expression;
	if (is_method && count == 0 && is_identity_method(name))
		return read(reader, tdm_node_with_role(syntax, function, TDM_ROLE_argument), depth);
	if (!is_method && count == 1 && is_passing(name, tdm_node_kind(syntax, last)))
		return read(reader, tdm_node_child(syntax, args, 0), depth);
	enum tdm_expr_op op = is_method || count != 2 ? TDM_EXPR_NOTHING : operator_function(name);
	if (op != TDM_EXPR_NOTHING)
		return list_of(reader, args, depth, op, (struct tdm_str){ "", 0 });
	return list_of(reader, args, depth, TDM_EXPR_CALL, is_method ? tdm_node_text(syntax, function) : name);
}

static const struct tdm_expr *operation_of(const struct tdm_kernel_reader *reader, uint32_t node, uint32_t depth)
{
	const struct tdm_syntax *syntax = reader->syntax;
	const struct tdm_expr *args[2];
	uint32_t count = 0;
	enum tdm_syntax_role roles[] = { TDM_ROLE_left, TDM_ROLE_right, TDM_ROLE_argument };
	for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
		uint32_t part = tdm_node_with_role(syntax, node, roles[i]);
		if (part != TDM_NODE_NONE && count < 2)
			args[count++] = read(reader, part, depth);
	}
	uint32_t sign = tdm_node_with_role(syntax, node, TDM_ROLE_operator);
	struct tdm_str token = tdm_node_text(syntax, sign);
	if (count == 1 && tdm_str_is(token, "+"))
		return args[0];
	enum tdm_expr_op op = count != 0 ? tdm_expr_operator(token, count) : TDM_EXPR_NOTHING;
	if (op == TDM_EXPR_NOTHING)
		return name_of_text(reader, tdm_node_text(syntax, node));
	return tdm_expr_make(reader->arena, op, (struct tdm_str){ "", 0 }, args, count);
}

static const struct tdm_expr *choice_of(const struct tdm_kernel_reader *reader, uint32_t node, uint32_t depth)
{
	enum tdm_syntax_role roles[] = { TDM_ROLE_condition, TDM_ROLE_consequence, TDM_ROLE_alternative };
	const struct tdm_expr *args[3];
	for (size_t i = 0; i < 3; i++)
		args[i] = read(reader, tdm_node_with_role(reader->syntax, node, roles[i]), depth);
	int64_t number;
	if (tdm_expr_value(args[0], NULL, &number) == 0)
		return args[number != 0 ? 1 : 2];
	return tdm_expr_make(reader->arena, TDM_EXPR_CHOOSE, (struct tdm_str){ "", 0 }, args, 3);
}

/* An element of a list whose place is a number. */
static const struct tdm_expr *element_of(const struct tdm_kernel_reader *reader, uint32_t node, uint32_t depth)
{
	const struct tdm_syntax *syntax = reader->syntax;
	const struct tdm_expr *list = read(reader, tdm_node_with_role(syntax, node, TDM_ROLE_argument), depth);
	uint32_t indices = tdm_node_with_role(syntax, node, TDM_ROLE_indices);
	int64_t place;
	if (list->op == TDM_EXPR_LIST && tdm_node_child_count(syntax, indices) == 1 &&
		tdm_expr_value(read(reader, tdm_node_child(syntax, indices, 0), depth), NULL, &place) == 0 &&
		place >= 0 && place < (int64_t)list->arg_count)
		return list->args[place];
	/* What a pointer points to is only known at run time. */
	return reader->wants_constants && list->op != TDM_EXPR_LIST
		       ? tdm_kernel_at_run_time(reader, tdm_node_text(syntax, node))
		       : name_of_text(reader, tdm_node_text(syntax, node));
}

static const struct tdm_expr *string_of(const struct tdm_kernel_reader *reader, uint32_t node)
{
	uint32_t content = tdm_node_of_kind(reader->syntax, node, TDM_SYN_string_content);
	const char *copy = tdm_arena_text(reader->arena, tdm_node_text(reader->syntax, content));
	return copy != NULL ? tdm_expr_string(reader->arena, tdm_str_of(copy)) : &tdm_expr_nothing;
}

static const struct tdm_expr *read(const struct tdm_kernel_reader *reader, uint32_t node, uint32_t depth)
{
	const struct tdm_syntax *syntax = reader->syntax;
	struct tdm_str text = tdm_node_text(syntax, node);
	if (depth++ >= DEPTH_MAX)
		return name_of_text(reader, text);
	switch (tdm_node_kind(syntax, node)) {
	case TDM_SYN_number_literal:
		return number_of(reader, text);
	case TDM_SYN_true:
		return tdm_expr_number(reader->arena, 1);
	case TDM_SYN_false:
		return tdm_expr_number(reader->arena, 0);
	case TDM_SYN_identifier:
	case TDM_SYN_type_identifier:
	case TDM_SYN_field_identifier:
		return variable_of(reader, text);
	case TDM_SYN_qualified_identifier:
		return qualified_of(reader, node);
	case TDM_SYN_call_expression:
		return call_of(reader, node, depth);
	case TDM_SYN_binary_expression:
	case TDM_SYN_unary_expression:
		return operation_of(reader, node, depth);
	case TDM_SYN_conditional_expression:
		return choice_of(reader, node, depth);
	case TDM_SYN_subscript_expression:
		return element_of(reader, node, depth);
	case TDM_SYN_cast_expression:
		return read(reader, tdm_node_with_role(syntax, node, TDM_ROLE_value), depth);
	case TDM_SYN_parenthesized_expression:
	case TDM_SYN_type_descriptor:
	case TDM_SYN_parameter_declaration: /* an argument that the grammar takes for a parameter */
		return tdm_node_first(syntax, node) != TDM_NODE_NONE ? read(reader, node + 1, depth)
								     : name_of_text(reader, text);
	case TDM_SYN_initializer_list:
		return list_of(reader, node, depth, TDM_EXPR_LIST, (struct tdm_str){ "", 0 });
	case TDM_SYN_string_literal:
		return string_of(reader, node);
	default:
		return name_of_text(reader, text);
	}
}

const struct tdm_expr *tdm_kernel_expr(const struct tdm_kernel_reader *reader, uint32_t node)
{
	return read(reader, node, 0);
}
