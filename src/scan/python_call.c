/*
 * Calls in Python: descriptors of circular buffers, functions with a known meaning, and functions of the file, which
 * are walked with their arguments.
 */
#include "scan/python.h"

static const struct tdm_str no_text = { "", 0 };

/* **arguments, where they are known. */
static void spread(const struct tdm_expr *object, const char *const *names, const struct tdm_expr **values)
{
	for (uint32_t i = 0; names[i] != NULL; i++) {
		const struct tdm_expr *value = tdm_expr_field(object, names[i]);
		values[i] = value != NULL ? value : values[i];
	}
}

/* The arguments of a call by name: positional ones get the names in `names`, which ends with NULL. */
static void read_arguments(struct py_at *at, uint32_t list, const char *const *names, const struct tdm_expr **values)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	uint32_t count = 0, place = 0;
	while (names[count] != NULL)
		values[count++] = NULL;
	for (TDM_NODE_CHILDREN(child, syntax, list)) {
		if (tdm_node_kind(syntax, child) == TDM_SYN_dictionary_splat) {
			spread(py_eval(at, tdm_node_first(syntax, child)), names, values);
			continue;
		}
		if (tdm_node_kind(syntax, child) != TDM_SYN_keyword_argument) {
			const struct tdm_expr *value = py_eval(at, child);
			if (place < count)
				values[place++] = value;
			continue;
		}
		struct tdm_str name = tdm_node_text(syntax, tdm_node_with_role(syntax, child, TDM_ROLE_name));
		const struct tdm_expr *value = py_eval(at, tdm_node_with_role(syntax, child, TDM_ROLE_value));
		for (uint32_t i = 0; i < count; i++)
			if (tdm_str_is(name, names[i]))
				values[i] = value;
	}
}

/* Descriptors. */

static struct py_descriptor *new_descriptor(struct py_at *at, uint32_t function, enum tdm_shape shape)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	struct py_descriptor *made = tdm_arena_take(at->py->arena, sizeof *made);
	if (made == NULL)
		return NULL;
	uint32_t name = tdm_node_kind(syntax, function) == TDM_SYN_attribute
				? tdm_node_with_role(syntax, function, TDM_ROLE_attribute)
				: function;
	*made = (struct py_descriptor){ .thing = { PY_DESCRIPTOR },
		.byte = syntax->nodes[name].start,
		.site_line = at->site_line,
		.helper = at->helper,
		.branch = at->branch,
		.shape = (uint8_t)shape,
		.in_loop = at->in_loop };
	struct py_definition *owner = at->definition;
	if (owner->last != NULL)
		owner->last->next = made;
	else
		owner->first = made;
	owner->last = made;
	return made;
}

static const struct tdm_expr *field(struct py *py, const char *name, const struct tdm_expr *value)
{
	value = value != NULL ? value : &tdm_expr_nothing;
	return tdm_expr_make(py->arena, TDM_EXPR_FIELD, tdm_str_of(name), &value, 1);
}

static const struct tdm_expr *make_format(
	struct py *py, const struct tdm_expr *index, const struct tdm_expr *format, const struct tdm_expr *page)
{
	const struct tdm_expr *fields[] = { field(py, "buffer_index", index), field(py, "data_format", format),
		field(py, "page_size", page) };
	return tdm_expr_make(py->arena, TDM_EXPR_OBJECT, tdm_str_of("CBFormatDescriptor"), fields, 3);
}

static const struct tdm_expr *call_format(struct py_at *at, uint32_t arguments)
{
	static const char *const names[] = { "buffer_index", "data_format", "page_size", "tile", NULL };
	const struct tdm_expr *values[PY_FIELDS];
	read_arguments(at, arguments, names, values);
	return make_format(at->py, values[0], values[1], values[2]);
}

static const struct tdm_expr *call_descriptor(struct py_at *at, uint32_t function, uint32_t arguments)
{
	static const char *const names[] = { "total_size", "core_ranges", "format_descriptors", "buffer", NULL };
	const struct tdm_expr *values[PY_FIELDS];
	read_arguments(at, arguments, names, values);
	struct py_descriptor *made = new_descriptor(at, function, TDM_SHAPE_PYTHON_DESCRIPTOR);
	if (made == NULL)
		return &tdm_expr_nothing;
	made->total = values[0];
	made->cores = values[1];
	made->formats = values[2];
	made->view_of = values[3] != NULL && !py_is_none(values[3]) ? values[3] : NULL;
	return tdm_expr_opaque(at->py->arena, made);
}

/* A figure of a tensor: "page_size(input_tensor)". */
static const struct tdm_expr *of_tensor(struct py *py, const char *what, const struct tdm_expr *tensor)
{
	return tdm_expr_make(py->arena, TDM_EXPR_CALL, tdm_str_of(what), &tensor, 1);
}

/* Format, page size and, unless it is given, the size are those of the tensor's shard. */
static const struct tdm_expr *call_sharded(struct py_at *at, uint32_t function, uint32_t arguments)
{
	static const char *const names[] = { "cb_index", "tensor", "address_offset", "total_size", "core_ranges",
		NULL };
	const struct tdm_expr *values[PY_FIELDS];
	struct py *py = at->py;
	int64_t size;
	read_arguments(at, arguments, names, values);
	struct py_descriptor *made = new_descriptor(at, function, TDM_SHAPE_PYTHON_SHARDED);
	if (made == NULL)
		return &tdm_expr_nothing;
	const struct tdm_expr *tensor = values[1] != NULL ? values[1] : &tdm_expr_nothing;
	const struct tdm_expr *format =
		make_format(py, values[0], of_tensor(py, "format", tensor), of_tensor(py, "page_size", tensor));
	bool has_size = values[3] != NULL && (tdm_expr_value(values[3], NULL, &size) != 0 || size != 0);
	made->view_of = tensor;
	made->total = has_size ? values[3] : of_tensor(py, "shard_size", tensor);
	made->cores = values[4] != NULL && !py_is_none(values[4]) ? values[4] : of_tensor(py, "cores", tensor);
	made->formats = tdm_expr_make(py->arena, TDM_EXPR_LIST, no_text, &format, 1);
	return tdm_expr_opaque(py->arena, made);
}

static void set_format_member(
	struct py *py, struct py_descriptor *made, uint32_t place, struct tdm_str name, const struct tdm_expr *value)
{
	const struct tdm_expr *old = made->formats;
	if (old == NULL || old->op != TDM_EXPR_LIST || place >= old->arg_count ||
		old->args[place]->op != TDM_EXPR_OBJECT)
		return;
	const struct tdm_expr **args = tdm_arena_take(py->arena, sizeof *args * old->arg_count);
	const char *copy = tdm_arena_text(py->arena, name);
	if (args == NULL || copy == NULL)
		return;
	for (uint32_t i = 0; i < old->arg_count; i++)
		args[i] = i == place ? tdm_expr_with_field(py->arena, old->args[i], tdm_str_of(copy), value)
				     : old->args[i];
	made->formats = tdm_expr_make(py->arena, TDM_EXPR_LIST, no_text, args, old->arg_count);
}

/* x.format_descriptors[0].page_size = value */
static bool set_in_format(struct py_at *at, uint32_t object, struct tdm_str name, const struct tdm_expr *value)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	uint32_t list = tdm_node_with_role(syntax, object, TDM_ROLE_value);
	int64_t place;
	if (tdm_node_kind(syntax, object) != TDM_SYN_subscript ||
		!tdm_str_is(py_last_name(syntax, list), "format_descriptors"))
		return false;
	const struct tdm_expr *at_place = py_eval(at, tdm_node_with_role(syntax, object, TDM_ROLE_subscript));
	struct py_descriptor *made = py_descriptor_of(py_eval(at, tdm_node_with_role(syntax, list, TDM_ROLE_object)));
	if (made != NULL && tdm_expr_value(at_place, NULL, &place) == 0 && place >= 0 && place < UINT16_MAX)
		set_format_member(at->py, made, (uint32_t)place, name, value);
	return made != NULL;
}

bool py_set_member(struct py_at *at, uint32_t target, const struct tdm_expr *value)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	struct tdm_str name = py_last_name(syntax, target);
	uint32_t object = tdm_node_with_role(syntax, target, TDM_ROLE_object);
	if (tdm_node_kind(syntax, object) == TDM_SYN_subscript)
		return set_in_format(at, object, name, value);
	struct py_descriptor *made = py_descriptor_of(py_eval(at, object));
	if (made == NULL)
		return false;
	if (tdm_str_is(name, "total_size"))
		made->total = value;
	else if (tdm_str_is(name, "core_ranges"))
		made->cores = value;
	else if (tdm_str_is(name, "format_descriptors"))
		made->formats = value;
	else if (tdm_str_is(name, "buffer") || tdm_str_is(name, "tensor"))
		made->view_of = value;
	return true;
}

/* Methods of a descriptor that make it a view of other memory. */
static bool call_descriptor_method(struct py_at *at, uint32_t function, struct tdm_str name, uint32_t arguments)
{
	static const char *const names[] = { "other", NULL };
	const struct tdm_expr *values[PY_FIELDS];
	bool is_view = tdm_str_is(name, "set_buffer_from_cb") || tdm_str_is(name, "set_global_circular_buffer") ||
		       tdm_str_is(name, "set_global_circular_buffer_from_cb");
	if (!is_view || tdm_node_kind(at->py->syntax, function) != TDM_SYN_attribute)
		return false;
	struct py_descriptor *made =
		py_descriptor_of(py_eval(at, tdm_node_with_role(at->py->syntax, function, TDM_ROLE_object)));
	if (made == NULL)
		return false;
	read_arguments(at, arguments, names, values);
	made->view_of = py_unknown(at, tdm_node_child(at->py->syntax, arguments, 0));
	return true;
}

/* Functions with a known meaning. */

/* The size of a tile of a shape that may be known: Tile((1, 32)).get_tile_size(format). */
static const struct tdm_expr *call_tile_size(struct py_at *at, uint32_t node, uint32_t function, uint32_t arguments)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	const struct tdm_expr *format = py_eval(at, tdm_node_child(syntax, arguments, 0));
	const struct tdm_expr *shape = NULL;
	int64_t height = 32, width = 32;
	if (tdm_node_kind(syntax, function) == TDM_SYN_attribute)
		shape = tdm_expr_field(
			py_eval(at, tdm_node_with_role(syntax, function, TDM_ROLE_object)), "tile_shape");
	bool is_method = tdm_str_is(py_last_name(syntax, function), "get_tile_size");
	if (shape == NULL && is_method)
		return py_unknown(at, node);
	bool has_shape = shape == NULL || (shape->op == TDM_EXPR_LIST && shape->arg_count == 2 &&
						  tdm_expr_value(shape->args[0], NULL, &height) == 0 &&
						  tdm_expr_value(shape->args[1], NULL, &width) == 0);
	if (has_shape && height == 32 && width == 32)
		return tdm_expr_make(at->py->arena, TDM_EXPR_TILE_SIZE, no_text, &format, 1);
	if (!has_shape || format->op != TDM_EXPR_FORMAT || height < 1 || height > 32 || width < 1 || width > 32)
		return py_unknown(at, node);
	uint64_t bytes = tdm_data_format_tile_bytes(format->format, (uint32_t)height, (uint32_t)width);
	return bytes != TDM_BYTES_UNKNOWN ? tdm_expr_number(at->py->arena, (int64_t)bytes) : py_unknown(at, node);
}

static const struct tdm_expr *call_tile(struct py_at *at, uint32_t arguments)
{
	static const char *const names[] = { "tile_shape", NULL };
	const struct tdm_expr *values[PY_FIELDS];
	read_arguments(at, arguments, names, values);
	const struct tdm_expr *shape = field(at->py, "tile_shape", values[0]);
	return tdm_expr_make(at->py->arena, TDM_EXPR_OBJECT, tdm_str_of("Tile"), &shape, 1);
}

/* dict(a=1, b=2) */
static const struct tdm_expr *call_dict(struct py_at *at, uint32_t arguments)
{
	struct py *py = at->py;
	const struct tdm_expr *result = tdm_expr_make(py->arena, TDM_EXPR_OBJECT, tdm_str_of("dict"), NULL, 0);
	for (TDM_NODE_CHILDREN(child, py->syntax, arguments)) {
		struct tdm_str name = tdm_node_text(py->syntax, tdm_node_with_role(py->syntax, child, TDM_ROLE_name));
		const struct tdm_expr *value = py_eval(at, tdm_node_with_role(py->syntax, child, TDM_ROLE_value));
		const char *copy = tdm_arena_text(py->arena, name);
		if (tdm_node_kind(py->syntax, child) == TDM_SYN_keyword_argument && copy != NULL)
			result = tdm_expr_with_field(py->arena, result, tdm_str_of(copy), value);
	}
	return result;
}

/* min and max of two or more. */
static const struct tdm_expr *call_extreme(struct py_at *at, uint32_t node, uint32_t arguments, enum tdm_expr_op op)
{
	const struct tdm_expr *result = NULL;
	for (TDM_NODE_CHILDREN(child, at->py->syntax, arguments)) {
		bool is_named = tdm_node_kind(at->py->syntax, child) == TDM_SYN_keyword_argument;
		const struct tdm_expr *value = py_eval(at, child);
		if (is_named || value->op == TDM_EXPR_LIST || value->op == TDM_EXPR_OPAQUE)
			return py_unknown(at, node);
		result = result == NULL ? value : tdm_expr_binary(at->py->arena, op, result, value);
	}
	return tdm_node_child_count(at->py->syntax, arguments) >= 2 ? result : py_unknown(at, node);
}

/* ceil(a / b), int(a), len([a, b]) */
static const struct tdm_expr *call_simple(struct py_at *at, uint32_t node, struct tdm_str name, uint32_t arguments)
{
	const struct tdm_expr *value = py_eval(at, tdm_node_child(at->py->syntax, arguments, 0));
	if (tdm_str_is(name, "int"))
		return value;
	if (tdm_str_is(name, "len") && value->op == TDM_EXPR_LIST)
		return tdm_expr_number(at->py->arena, value->arg_count);
	if (tdm_str_is(name, "ceil") && value->op == TDM_EXPR_DIVIDE)
		return tdm_expr_binary(at->py->arena, TDM_EXPR_DIVIDE_UP, value->args[0], value->args[1]);
	return py_unknown(at, node);
}

static const struct tdm_expr *call_two(struct py_at *at, uint32_t arguments, enum tdm_expr_op op)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	const struct tdm_expr *a = py_eval(at, tdm_node_child(syntax, arguments, 0));
	return tdm_expr_binary(at->py->arena, op, a, py_eval(at, tdm_node_child(syntax, arguments, 1)));
}

/* NULL when the name has no known meaning. */
static const struct tdm_expr *call_known(
	struct py_at *at, uint32_t node, uint32_t function, uint32_t arguments, struct tdm_str name)
{
	uint32_t count = tdm_node_child_count(at->py->syntax, arguments);
	if (tdm_str_is(name, "CBDescriptor"))
		return call_descriptor(at, function, arguments);
	if (tdm_str_is(name, "cb_descriptor_from_sharded_tensor"))
		return call_sharded(at, function, arguments);
	if (tdm_str_is(name, "CBFormatDescriptor"))
		return call_format(at, arguments);
	if (tdm_str_is(name, "Tile"))
		return call_tile(at, arguments);
	if (tdm_str_is(name, "dict"))
		return call_dict(at, arguments);
	if ((tdm_str_is(name, "get_tile_size") || tdm_str_is(name, "tile_size")) && count == 1)
		return call_tile_size(at, node, function, arguments);
	if (tdm_str_is(name, "min") || tdm_str_is(name, "max"))
		return call_extreme(at, node, arguments, tdm_str_is(name, "min") ? TDM_EXPR_MIN : TDM_EXPR_MAX);
	if ((tdm_str_is(name, "int") || tdm_str_is(name, "len") || tdm_str_is(name, "ceil")) && count == 1)
		return call_simple(at, node, name, arguments);
	bool is_function = py_lookup(at, name) != NULL;
	if ((tdm_str_is(name, "div_up") || tdm_str_is(name, "ceil_div")) && count == 2 && !is_function)
		return call_two(at, arguments, TDM_EXPR_DIVIDE_UP);
	if (tdm_str_is(name, "round_up") && count == 2 && !is_function)
		return call_two(at, arguments, TDM_EXPR_ROUND_UP);
	return NULL;
}

/* Functions of the file. */

static bool is_parameter_kind(enum tdm_syntax_kind kind)
{
	return kind == TDM_SYN_identifier || kind == TDM_SYN_default_parameter || kind == TDM_SYN_typed_parameter ||
	       kind == TDM_SYN_typed_default_parameter;
}

static struct tdm_str parameter_name(const struct tdm_syntax *syntax, uint32_t parameter)
{
	uint32_t name = tdm_node_with_role(syntax, parameter, TDM_ROLE_name);
	if (tdm_node_kind(syntax, parameter) == TDM_SYN_typed_parameter)
		name = tdm_node_of_kind(syntax, parameter, TDM_SYN_identifier);
	return tdm_node_text(syntax, name != TDM_NODE_NONE ? name : parameter);
}

/* The argument for a parameter; NULL when the call has none. `place` is its place among positional ones. */
static const struct tdm_expr *argument_of(struct py_at *at, uint32_t arguments, struct tdm_str name, uint32_t place)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	for (TDM_NODE_CHILDREN(child, syntax, arguments)) {
		if (tdm_node_kind(syntax, child) == TDM_SYN_keyword_argument) {
			uint32_t key = tdm_node_with_role(syntax, child, TDM_ROLE_name);
			if (tdm_str_eq(tdm_node_text(syntax, key), name))
				return py_eval(at, tdm_node_with_role(syntax, child, TDM_ROLE_value));
		} else if (place-- == 0) {
			return py_eval(at, child);
		}
	}
	return NULL;
}

/* Binds the parameters of a definition to the arguments of a call; unknown ones keep their names. */
static void bind_arguments(struct py_at *caller, struct py_at *inner, uint32_t parameters, uint32_t arguments)
{
	const struct tdm_syntax *syntax = inner->py->syntax;
	uint32_t place = 0;
	for (TDM_NODE_CHILDREN(child, syntax, parameters)) {
		if (!is_parameter_kind(tdm_node_kind(syntax, child)))
			continue;
		struct tdm_str name = parameter_name(syntax, child);
		if (place == 0 && (tdm_str_is(name, "self") || tdm_str_is(name, "cls")))
			continue;
		const struct tdm_expr *value = argument_of(caller, arguments, name, place++);
		uint32_t otherwise = tdm_node_with_role(syntax, child, TDM_ROLE_value);
		if (value == NULL)
			value = otherwise != TDM_NODE_NONE ? py_eval(inner, otherwise) : py_named(inner->py, name);
		bool is_atom = value->op == TDM_EXPR_NAME || value->op == TDM_EXPR_CALL;
		py_bind(inner, inner->frame, name,
			is_atom && !py_is_none(value)
				? tdm_expr_parameter(inner->py->arena,
					  value->op == TDM_EXPR_NAME ? value->text : py_named(inner->py, name)->text)
				: value);
	}
}

static const struct tdm_expr *follow(
	struct py_at *at, uint32_t node, struct py_definition *definition, uint32_t arguments)
{
	struct py *py = at->py;
	struct py_at inner = *at;
	inner.frame = py_frame(py, definition->frame);
	inner.class_name = definition->class_name;
	inner.result = NULL;
	inner.has_ended = false;
	if (at->site_line == 0) {
		inner.site_line = tdm_walk_node_line(py->walk, node);
		inner.helper = definition->name;
	}
	uint32_t body = tdm_node_with_role(py->syntax, definition->node, TDM_ROLE_body);
	bind_arguments(at, &inner, tdm_node_with_role(py->syntax, definition->node, TDM_ROLE_parameters), arguments);
	definition->was_followed = true;
	py->calls++;
	if (definition->is_lambda)
		inner.result = py_eval(&inner, body);
	else
		py_walk_block(&inner, body);
	py->calls--;
	bool is_known = inner.result != NULL && inner.result->op != TDM_EXPR_NAME && inner.result->op != TDM_EXPR_CALL;
	return is_known ? inner.result : py_unknown(at, node);
}

static struct py_definition *definition_called(struct py_at *at, uint32_t function)
{
	struct tdm_str name = tdm_node_text(at->py->syntax, function);
	enum tdm_syntax_kind kind = tdm_node_kind(at->py->syntax, function);
	if (kind != TDM_SYN_identifier && kind != TDM_SYN_attribute)
		return NULL;
	return py_definition_of(kind == TDM_SYN_identifier ? py_lookup(at, name) : py_eval(at, function));
}

/* A function whose buffers belong to it is not followed: they are counted there. */
static bool is_followed(struct py *py, struct py_definition *definition)
{
	if (definition->is_lambda)
		return true;
	py_walk_definition(py, definition);
	return definition->state == PY_HELPER || (definition->state == PY_PROGRAM && definition->first == NULL);
}

const struct tdm_expr *py_call(struct py_at *at, uint32_t node)
{
	const struct tdm_syntax *syntax = at->py->syntax;
	uint32_t function = tdm_node_with_role(syntax, node, TDM_ROLE_function);
	uint32_t arguments = tdm_node_with_role(syntax, node, TDM_ROLE_arguments);
	struct tdm_str name = py_last_name(syntax, function);
	if (tdm_node_kind(syntax, arguments) != TDM_SYN_argument_list) { /* f(x for x in y) */
		py_eval(at, arguments);
		return py_unknown(at, node);
	}
	struct py_definition *definition = definition_called(at, function);
	if (definition != NULL && at->py->calls < PY_CALLS_MAX && is_followed(at->py, definition))
		return follow(at, node, definition, arguments);
	const struct tdm_expr *known = call_known(at, node, function, arguments, name);
	if (known != NULL)
		return known;
	if (call_descriptor_method(at, function, name, arguments))
		return py_unknown(at, node);
	for (TDM_NODE_CHILDREN(child, syntax, arguments))
		py_eval(at, tdm_node_kind(syntax, child) == TDM_SYN_keyword_argument
				    ? tdm_node_with_role(syntax, child, TDM_ROLE_value)
				    : child);
	return py_unknown(at, node);
}
