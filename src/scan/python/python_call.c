/*
 * Calls in Python: descriptors of circular buffers, functions with a known meaning, and functions in the file, which
 * are walked with their arguments.
 */
#include "scan/python/python.h"

/* The arguments of a call by name. Positional arguments get the names in `names`, which ends with NULL. */
static void read_arguments(struct py_at *at, uint32_t list, const char *const *names, const struct tdm_expr **values)
{
	uint32_t count = 0, place = 0;
	while (names[count] != NULL)
		values[count++] = NULL;
	for (TDM_NODE_CHILDREN(child, at->py->syntax, list)) {
		if (py_kind(at, child) == TDM_SYN_dictionary_splat) {
			const struct tdm_expr *object = py_eval(at, tdm_node_first(at->py->syntax, child));
			for (uint32_t i = 0; i < count; i++)
				if (tdm_expr_field(object, names[i]) != NULL)
					values[i] = tdm_expr_field(object, names[i]);
			continue;
		}
		if (py_kind(at, child) != TDM_SYN_keyword_argument) {
			const struct tdm_expr *value = py_eval(at, child);
			if (place < count)
				values[place++] = value;
			continue;
		}
		struct tdm_str name = py_text(at, py_part(at, child, TDM_ROLE_name));
		const struct tdm_expr *value = py_eval_part(at, child, TDM_ROLE_value);
		for (uint32_t i = 0; i < count; i++)
			if (tdm_str_is(name, names[i]))
				values[i] = value;
	}
}

/* ---- descriptors ---- */

static const struct tdm_expr *new_descriptor(struct py_at *at, uint32_t function, struct py_descriptor given)
{
	struct py_definition *owner = at->definition;
	struct py_descriptor *made = tdm_arena_take(at->arena, sizeof *made);
	uint32_t name =
		py_kind(at, function) == TDM_SYN_attribute ? py_part(at, function, TDM_ROLE_attribute) : function;
	*made = given;
	made->owner = owner;
	made->byte = at->py->syntax->nodes[name].start;
	made->site_line = at->site_line;
	made->helper = at->helper;
	made->branch = at->branch;
	made->in_loop = at->in_loop;
	if (owner->last != NULL)
		owner->last->next = made;
	else
		owner->first = made;
	owner->last = made;
	return tdm_expr_of(
		at->arena, (struct tdm_expr){ .op = TDM_EXPR_OPAQUE, .opaque = made, .number = PY_DESCRIPTOR });
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

/* A figure of a tensor, such as "page_size(input_tensor)". */
static const struct tdm_expr *of_tensor(struct py *py, const char *what, const struct tdm_expr *tensor)
{
	return tdm_expr_make(py->arena, TDM_EXPR_CALL, tdm_str_of(what), &tensor, 1);
}

/* The format, page size and, unless given, size come from the tensor's shard. */
static const struct tdm_expr *call_sharded(struct py_at *at, uint32_t function, uint32_t arguments)
{
	static const char *const names[] = { "cb_index", "tensor", "address_offset", "total_size", "core_ranges",
		NULL };
	const struct tdm_expr *values[PY_FIELDS];
	struct py *py = at->py;
	int64_t size;
	read_arguments(at, arguments, names, values);
	const struct tdm_expr *tensor = values[1] != NULL ? values[1] : &tdm_expr_nothing;
	const struct tdm_expr *format =
		make_format(py, values[0], of_tensor(py, "format", tensor), of_tensor(py, "page_size", tensor));
	bool has_size = values[3] != NULL && (tdm_expr_value(values[3], NULL, &size) != 0 || size != 0);
	bool has_cores = values[4] != NULL && !py_is_none(values[4]);
	return new_descriptor(at, function,
		(struct py_descriptor){ .shape = TDM_SHAPE_PYTHON_SHARDED,
			.view_of = tensor,
			.total = has_size ? values[3] : of_tensor(py, "shard_size", tensor),
			.cores = has_cores ? values[4] : of_tensor(py, "cores", tensor),
			.formats = tdm_expr_list(py->arena, &format, 1) });
}

static void set_format_member(
	struct py *py, struct py_descriptor *made, uint32_t place, struct tdm_str name, const struct tdm_expr *value)
{
	const struct tdm_expr *old = made->formats;
	if (old == NULL || old->op != TDM_EXPR_LIST || place >= old->arg_count ||
		old->args[place]->op != TDM_EXPR_OBJECT)
		return;
	const struct tdm_expr **args = tdm_arena_take(py->arena, sizeof *args * old->arg_count);
	for (uint32_t i = 0; i < old->arg_count; i++)
		args[i] = i == place
				  ? tdm_expr_with_field(py->arena, old->args[i], tdm_arena_text(py->arena, name), value)
				  : old->args[i];
	made->formats = tdm_expr_list(py->arena, args, old->arg_count);
}

/* x.format_descriptors[0].page_size = value */
static bool set_in_format(struct py_at *at, uint32_t object, struct tdm_str name, const struct tdm_expr *value)
{
	uint32_t list = py_part(at, object, TDM_ROLE_value);
	int64_t place;
	if (py_kind(at, object) != TDM_SYN_subscript ||
		!tdm_str_is(py_last_name(at->py->syntax, list), "format_descriptors"))
		return false;
	const struct tdm_expr *at_place = py_eval_part(at, object, TDM_ROLE_subscript);
	struct py_descriptor *made = py_descriptor_of(py_eval_part(at, list, TDM_ROLE_object));
	if (made != NULL && tdm_expr_value(at_place, NULL, &place) == 0 && place >= 0 && place < UINT16_MAX)
		set_format_member(at->py, made, (uint32_t)place, name, value);
	return made != NULL;
}

bool py_set_member(struct py_at *at, uint32_t target, const struct tdm_expr *value)
{
	struct tdm_str name = py_last_name(at->py->syntax, target);
	uint32_t object = py_part(at, target, TDM_ROLE_object);
	if (py_kind(at, object) == TDM_SYN_subscript)
		return set_in_format(at, object, name, value);
	struct py_descriptor *made = py_descriptor_of(py_eval(at, object));
	const struct tdm_expr **member =
		made != NULL && tdm_is_one_of(name, "buffer tensor") ? &made->view_of : py_member(made, name);
	if (member != NULL)
		*member = value;
	return made != NULL;
}

/* Methods of a descriptor that make it a view of other memory. */
static bool call_descriptor_method(struct py_at *at, uint32_t function, struct tdm_str name, uint32_t arguments)
{
	static const char *const names[] = { "other", NULL };
	const struct tdm_expr *values[PY_FIELDS];
	bool is_view =
		tdm_is_one_of(name, "set_buffer_from_cb set_global_circular_buffer set_global_circular_buffer_from_cb");
	if (!is_view || py_kind(at, function) != TDM_SYN_attribute)
		return false;
	struct py_descriptor *made = py_descriptor_of(py_eval_part(at, function, TDM_ROLE_object));
	if (made == NULL)
		return false;
	read_arguments(at, arguments, names, values);
	made->view_of = py_unknown(at, tdm_node_child(at->py->syntax, arguments, 0));
	return true;
}

/* ---- functions with a known meaning ---- */

/* The size of a tile whose shape may be known: Tile((1, 32)).get_tile_size(format). */
static const struct tdm_expr *call_tile_size(struct py_at *at, uint32_t node, uint32_t function, uint32_t arguments)
{
	const struct tdm_expr *format = py_eval(at, tdm_node_child(at->py->syntax, arguments, 0));
	const struct tdm_expr *shape = NULL;
	int64_t height = 32, width = 32;
	if (py_kind(at, function) == TDM_SYN_attribute)
		shape = tdm_expr_field(py_eval_part(at, function, TDM_ROLE_object), "tile_shape");
	bool is_method = tdm_str_is(py_last_name(at->py->syntax, function), "get_tile_size");
	if (shape == NULL && is_method)
		return py_unknown(at, node);
	bool has_shape = shape == NULL || (shape->op == TDM_EXPR_LIST && shape->arg_count == 2 &&
						  tdm_expr_value(shape->args[0], NULL, &height) == 0 &&
						  tdm_expr_value(shape->args[1], NULL, &width) == 0);
	if (has_shape && height == 32 && width == 32)
		return tdm_expr_unary(at->arena, TDM_EXPR_TILE_SIZE, format);
	if (!has_shape || format->op != TDM_EXPR_FORMAT || height < 1 || height > 32 || width < 1 || width > 32)
		return py_unknown(at, node);
	uint64_t bytes = tdm_data_format_tile_bytes(format->format, (uint32_t)height, (uint32_t)width);
	return bytes != TDM_BYTES_UNKNOWN ? tdm_expr_number(at->arena, (int64_t)bytes) : py_unknown(at, node);
}

/* min and max of two or more. */
static const struct tdm_expr *call_extreme(struct py_at *at, uint32_t node, uint32_t arguments, enum tdm_expr_op op)
{
	const struct tdm_expr *result = NULL;
	for (TDM_NODE_CHILDREN(child, at->py->syntax, arguments)) {
		bool is_named = py_kind(at, child) == TDM_SYN_keyword_argument;
		const struct tdm_expr *value = py_eval(at, child);
		if (is_named || value->op == TDM_EXPR_LIST || value->op == TDM_EXPR_OPAQUE)
			return py_unknown(at, node);
		result = result == NULL ? value : tdm_expr_binary(at->arena, op, result, value);
	}
	return tdm_node_child_count(at->py->syntax, arguments) >= 2 ? result : py_unknown(at, node);
}

/* NULL if the function has no known meaning. */
static const struct tdm_expr *call_known(
	struct py_at *at, uint32_t node, uint32_t function, uint32_t arguments, struct tdm_str name)
{
	static const char *const format_names[] = { "buffer_index", "data_format", "page_size", "tile", NULL };
	static const char *const tile_names[] = { "tile_shape", NULL };
	static const char *const names[] = { "total_size", "core_ranges", "format_descriptors", "buffer", NULL };
	const struct tdm_expr *values[PY_FIELDS];
	struct py *py = at->py;
	uint32_t count = tdm_node_child_count(py->syntax, arguments);
	uint32_t first = tdm_node_child(py->syntax, arguments, 0), second = tdm_node_child(py->syntax, arguments, 1);
	if (tdm_str_is(name, "CBDescriptor")) {
		read_arguments(at, arguments, names, values);
		return new_descriptor(at, function,
			(struct py_descriptor){ .shape = TDM_SHAPE_PYTHON_DESCRIPTOR,
				.total = values[0],
				.cores = values[1],
				.formats = values[2],
				.view_of = values[3] != NULL && !py_is_none(values[3]) ? values[3] : NULL });
	}
	if (tdm_str_is(name, "cb_descriptor_from_sharded_tensor"))
		return call_sharded(at, function, arguments);
	if (tdm_str_is(name, "CBFormatDescriptor")) {
		read_arguments(at, arguments, format_names, values);
		return make_format(py, values[0], values[1], values[2]);
	}
	if (tdm_str_is(name, "Tile")) {
		read_arguments(at, arguments, tile_names, values);
		const struct tdm_expr *shape = field(py, "tile_shape", values[0]);
		return tdm_expr_make(at->arena, TDM_EXPR_OBJECT, tdm_str_of("Tile"), &shape, 1);
	}
	if (tdm_str_is(name, "dict")) { /* dict(a=1, b=2) */
		const struct tdm_expr *result = tdm_expr_make(at->arena, TDM_EXPR_OBJECT, tdm_str_of("dict"), NULL, 0);
		for (TDM_NODE_CHILDREN(child, py->syntax, arguments)) {
			const struct tdm_expr *value = py_eval_part(at, child, TDM_ROLE_value);
			if (py_kind(at, child) == TDM_SYN_keyword_argument)
				result = tdm_expr_with_field(at->arena, result,
					tdm_arena_text(at->arena, py_text(at, py_part(at, child, TDM_ROLE_name))),
					value);
		}
		return result;
	}
	if (tdm_is_one_of(name, "get_tile_size tile_size") && count == 1)
		return call_tile_size(at, node, function, arguments);
	if (tdm_is_one_of(name, "min max"))
		return call_extreme(at, node, arguments, tdm_str_is(name, "min") ? TDM_EXPR_MIN : TDM_EXPR_MAX);
	if (tdm_is_one_of(name, "int len ceil") && count == 1) {
		const struct tdm_expr *value = py_eval(at, first);
		if (tdm_str_is(name, "int"))
			return value;
		if (tdm_str_is(name, "len") && value->op == TDM_EXPR_LIST)
			return tdm_expr_number(at->arena, value->arg_count);
		if (tdm_str_is(name, "ceil") && value->op == TDM_EXPR_DIVIDE) /* ceil of a / b */
			return tdm_expr_binary(at->arena, TDM_EXPR_DIVIDE_UP, value->args[0], value->args[1]);
		return py_unknown(at, node);
	}
	if (!tdm_is_one_of(name, "div_up ceil_div round_up") || count != 2 || py_lookup(at, name) != NULL)
		return NULL;
	const struct tdm_expr *a = py_eval(at, first);
	return tdm_expr_binary(at->arena, tdm_str_is(name, "round_up") ? TDM_EXPR_ROUND_UP : TDM_EXPR_DIVIDE_UP, a,
		py_eval(at, second));
}

/* ---- functions in the file ---- */

/* The argument for a parameter; NULL if the call does not pass it. `place`: position among positional arguments. */
static const struct tdm_expr *argument_of(struct py_at *at, uint32_t arguments, struct tdm_str name, uint32_t place)
{
	for (TDM_NODE_CHILDREN(child, at->py->syntax, arguments)) {
		if (py_kind(at, child) == TDM_SYN_keyword_argument) {
			uint32_t key = py_part(at, child, TDM_ROLE_name);
			if (tdm_str_eq(py_text(at, key), name))
				return py_eval_part(at, child, TDM_ROLE_value);
		} else if (place-- == 0) {
			return py_eval(at, child);
		}
	}
	return NULL;
}

/* Binds the parameters of a definition to the arguments of a call; parameters with unknown arguments keep their
 * names. */
static void bind_arguments(struct py_at *caller, struct py_at *inner, uint32_t parameters, uint32_t arguments)
{
	const struct tdm_syntax *syntax = inner->py->syntax;
	uint32_t place = 0;
	for (TDM_NODE_CHILDREN(child, syntax, parameters)) {
		enum tdm_syntax_kind kind = tdm_node_kind(syntax, child);
		if (kind != TDM_SYN_identifier && kind != TDM_SYN_default_parameter &&
			kind != TDM_SYN_typed_parameter && kind != TDM_SYN_typed_default_parameter)
			continue;
		struct tdm_str name = py_parameter_name(syntax, child);
		if (place == 0 && tdm_is_one_of(name, "self cls"))
			continue;
		const struct tdm_expr *value = argument_of(caller, arguments, name, place++);
		uint32_t otherwise = tdm_node_part(syntax, child, TDM_ROLE_value);
		if (value == NULL)
			value = otherwise != TDM_NODE_NONE ? py_eval(inner, otherwise) : py_named(inner->py, name);
		bool is_atom = value->op == TDM_EXPR_NAME || value->op == TDM_EXPR_CALL;
		py_bind(inner, inner->frame, name,
			is_atom && !py_is_none(value)
				? tdm_expr_name(inner->py->arena,
					  value->op == TDM_EXPR_NAME ? value->text : py_named(inner->py, name)->text,
					  true)
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
	uint32_t body = tdm_node_part(py->syntax, definition->node, TDM_ROLE_body);
	bind_arguments(at, &inner, tdm_node_part(py->syntax, definition->node, TDM_ROLE_parameters), arguments);
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

const struct tdm_expr *py_call(struct py_at *at, uint32_t node)
{
	uint32_t function = py_part(at, node, TDM_ROLE_function);
	uint32_t arguments = py_part(at, node, TDM_ROLE_arguments);
	struct tdm_str name = py_last_name(at->py->syntax, function);
	if (py_kind(at, arguments) != TDM_SYN_argument_list) { /* f(x for x in y) */
		py_eval(at, arguments);
		return py_unknown(at, node);
	}
	enum tdm_syntax_kind kind = py_kind(at, function);
	struct py_definition *definition = py_definition_of(kind == TDM_SYN_identifier  ? py_lookup(at, name)
							    : kind == TDM_SYN_attribute ? py_eval(at, function)
											: NULL);
	if (definition != NULL && at->py->calls < PY_CALLS_MAX) {
		if (!definition->is_lambda)
			py_walk_definition(at->py, definition);
		/* A function with buffers of its own is not followed, because its buffers are counted when it is walked
		 * by itself. */
		if (definition->is_lambda || definition->state == PY_HELPER ||
			(definition->state == PY_PROGRAM && definition->first == NULL))
			return follow(at, node, definition, arguments);
	}
	const struct tdm_expr *known = call_known(at, node, function, arguments, name);
	if (known != NULL)
		return known;
	if (call_descriptor_method(at, function, name, arguments))
		return py_unknown(at, node);
	for (TDM_NODE_CHILDREN(child, at->py->syntax, arguments))
		py_eval(at,
			py_kind(at, child) == TDM_SYN_keyword_argument ? py_part(at, child, TDM_ROLE_value) : child);
	return py_unknown(at, node);
}
