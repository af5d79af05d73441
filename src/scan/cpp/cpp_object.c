/*
 * Objects that describe buffers and kernels: they are created, filled and passed on, and become entries at the end of
 * the function that created them. This file also finds the places in the text that create these objects.
 */
#include "scan/cpp/cpp.h"

#include "base/memory.h"
#include "scan/front/lexer.h"

/* ---- objects ---- */

uint8_t cpp_type_of(struct tdm_str name)
{
	for (uint8_t shape = 0; shape < TDM_SHAPE_HELPER; shape++)
		if (tdm_str_is(name, tdm_shape_names[shape]))
			return shape;
	return tdm_is_one_of(name, "KernelDescriptor KernelSpec") ? CPP_TYPE_KERNEL : CPP_TYPE_NONE;
}

struct cpp_made *cpp_made_of(const struct tdm_expr *expr)
{
	/* Only cpp_track() sets `opaque` on an object. */
	return expr != NULL && expr->op == TDM_EXPR_OBJECT ? (struct cpp_made *)(uintptr_t)expr->opaque : NULL;
}

void cpp_set_latest(struct cpp_made *made, const struct tdm_expr *object)
{
	for (; made != NULL; made = made->twin)
		made->latest = object;
}

bool cpp_is_null(const struct tdm_expr *expr)
{
	if (expr->op == TDM_EXPR_NUMBER)
		return expr->number == 0;
	if (expr->op == TDM_EXPR_LIST)
		return expr->arg_count == 0;
	if (expr->op != TDM_EXPR_NAME)
		return false;
	return tdm_is_one_of(expr->text, "nullptr NULL std::nullopt nullopt");
}

/* Removes extra braces from a list of formats: {{x, y}} becomes {x, y}. */
static const struct tdm_expr *unwrapped(const struct tdm_expr *list)
{
	while (list != NULL && list->op == TDM_EXPR_LIST && list->arg_count == 1 &&
		list->args[0]->op == TDM_EXPR_LIST && list->args[0]->arg_count != 0 &&
		(list->args[0]->args[0]->op == TDM_EXPR_LIST || list->args[0]->args[0]->op == TDM_EXPR_OBJECT))
		list = list->args[0];
	return list;
}

static uint32_t own_line(const struct cpp_frame *frame, uint32_t node)
{
	return node != TDM_NODE_NONE ? tdm_walk_line(frame->cpp->walk, frame->source->syntax->nodes[node].start) : 0;
}

/* Records an object, provided that effects count. */
const struct tdm_expr *cpp_track(
	struct cpp_frame *frame, const struct tdm_expr *object, uint8_t type, uint32_t type_node)
{
	struct cpp *cpp = frame->cpp;
	bool is_wanted = frame->is_eager && type != CPP_TYPE_NONE && object->op == TDM_EXPR_OBJECT &&
			 object->opaque == NULL && cpp->made_count < CPP_MADE_MAX;
	cpp->walk->is_cut |= cpp->made_count >= CPP_MADE_MAX;
	if (!is_wanted)
		return object;
	struct cpp_made *made = tdm_arena_take(cpp->arena, sizeof *made);
	struct tdm_expr with_made = *object;
	with_made.opaque = made;
	const struct tdm_expr *tracked = tdm_expr_of(cpp->arena, with_made);
	bool is_own = frame->source->is_file && type_node != TDM_NODE_NONE;
	*made = (struct cpp_made){
		.type = type,
		.byte = is_own ? (uint32_t)(cpp_last_name(frame->source, type_node).ptr -
					    frame->source->syntax->text.ptr)
			       : UINT32_MAX,
		.line = frame->site != NULL ? frame->site->line : own_line(frame, type_node),
		.site = frame->site != NULL ? *frame->site : (struct cpp_site){ 0, 0, tdm_no_text },
		.branch = frame->branch,
		.in_loop = frame->in_loop,
		.latest = tracked,
	};
	if (cpp->last != NULL)
		cpp->last->next = made;
	else
		cpp->first = made;
	cpp->last = made;
	cpp->made_count++;
	return tracked;
}

/* The value of a field as stored; extra braces around formats are removed. */
const struct tdm_expr *cpp_field_value(struct tdm_str field, const struct tdm_expr *value)
{
	return tdm_str_is(field, "format_descriptors") ? unwrapped(value) : value;
}

static const struct tdm_expr *field(struct cpp *cpp, struct tdm_str name, const struct tdm_expr *value)
{
	value = cpp_field_value(name, value);
	return tdm_expr_make(cpp->arena, TDM_EXPR_FIELD, tdm_arena_str(cpp->arena, name), &value, 1);
}

/* One element of {…}: ".name = value", or a value by position. NULL if the element has no name. */
static const struct tdm_expr *element(struct cpp_frame *frame, struct tdm_str type, uint32_t node, uint32_t place)
{
	static const char *const types[][5] = {
		{ "CBFormatDescriptor", "buffer_index", "data_format", "page_size", "tile" },
		{ "DataflowBufferSpec", "unique_id", "entry_size", "num_entries", "data_format_metadata" },
		{ "CBDescriptor", "total_size", "core_ranges", "format_descriptors", NULL },
		{ "DFBBinding", "dfb_spec_name", "accessor_name", "endpoint_type", NULL },
	};
	if (cpp_kind(frame, node) == TDM_SYN_initializer_pair) {
		uint32_t designator = cpp_part(frame, node, TDM_ROLE_designator);
		uint32_t name = tdm_node_first(frame->source->syntax, designator);
		return field(frame->cpp, cpp_text(frame, name != TDM_NODE_NONE ? name : designator),
			cpp_eval_part(frame, node, TDM_ROLE_value));
	}
	for (size_t i = 0; i < sizeof types / sizeof *types && place < 4; i++)
		if (tdm_str_is(type, types[i][0]) && types[i][place + 1] != NULL)
			return field(frame->cpp, tdm_str_of(types[i][place + 1]), cpp_eval(frame, node));
	return NULL;
}

const struct tdm_expr *cpp_object(struct cpp_frame *frame, struct tdm_str type, uint32_t type_node, uint32_t list)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	uint32_t count = tdm_node_child_count(syntax, list), used = 0, place = 0;
	const struct tdm_expr *only = NULL;
	const struct tdm_expr **args = tdm_arena_take(frame->arena, sizeof *args * count);
	for (TDM_NODE_CHILDREN(child, syntax, list)) {
		const struct tdm_expr *made = element(frame, type, child, place++);
		if (made != NULL)
			args[used++] = made;
		else
			only = cpp_eval(frame, child);
	}
	uint8_t kind = cpp_type_of(type);
	/* A value in braces, "uint32_t{4}" or "DFBSpecName{"in"}", is that value; a list stays a list. */
	if (used == 0 && only != NULL && kind == CPP_TYPE_NONE && count == 1)
		return only;
	if (used == 0 && count > 0 && kind == CPP_TYPE_NONE) {
		uint32_t i = 0;
		for (TDM_NODE_CHILDREN(child, syntax, list))
			args[i++] = cpp_eval(frame, child);
		return tdm_expr_list(frame->arena, args, count);
	}
	if (kind == TDM_SHAPE_CB_CONFIG)
		return cpp_config(frame, type_node, list);
	const struct tdm_expr *object =
		tdm_expr_make(frame->arena, TDM_EXPR_OBJECT, tdm_arena_str(frame->arena, type), args, used);
	return cpp_track(frame, object, kind, type_node);
}

/* CircularBufferConfig(size, {{index, format}, …}). */
const struct tdm_expr *cpp_config(struct cpp_frame *frame, uint32_t type_node, uint32_t arguments)
{
	struct cpp *cpp = frame->cpp;
	static const char *const names[] = { "total_size", "formats" };
	const struct tdm_expr *fields[2];
	uint32_t count = 0;
	for (TDM_NODE_CHILDREN(child, frame->source->syntax, arguments)) {
		if (count == 2)
			break;
		const struct tdm_expr *value = cpp_eval(frame, child);
		/* copies of objects are objects of their own */
		if (value->op == TDM_EXPR_OBJECT && cpp_made_of(value) != NULL)
			return value;
		fields[count] = field(cpp, tdm_str_of(names[count]), value);
		count++;
	}
	const struct tdm_expr *object =
		tdm_expr_make(cpp->arena, TDM_EXPR_OBJECT, tdm_str_of("CircularBufferConfig"), fields, count);
	return cpp_track(frame, object, TDM_SHAPE_CB_CONFIG, type_node);
}

/* Gives an untyped object the type suggested by its fields; returns other values unchanged. */
static const struct tdm_expr *with_type(struct cpp_frame *frame, const struct tdm_expr *value, uint32_t node)
{
	static const char *const fields[TDM_SHAPE_HELPER][2] = {
		[TDM_SHAPE_CB_DESCRIPTOR] = { "format_descriptors", "total_size" },
		[TDM_SHAPE_DFB_SPEC] = { "entry_size", "num_entries" },
		[TDM_SHAPE_SCRATCHPAD_SPEC] = { "size_per_node", "size_per_node" },
	};
	for (uint8_t type = 0; type < TDM_SHAPE_HELPER && value->text.len == 0; type++) {
		if (fields[type][0] == NULL || tdm_expr_field(value, fields[type][0]) == NULL ||
			tdm_expr_field(value, fields[type][1]) == NULL)
			continue;
		const struct tdm_expr *named = tdm_expr_make(frame->arena, TDM_EXPR_OBJECT,
			tdm_str_of(tdm_shape_names[type]), value->args, value->arg_count);
		return cpp_track(frame, named, type, node);
	}
	return value;
}

/* Gives untyped objects, alone or in a list, the type suggested by their fields. */
const struct tdm_expr *cpp_typed(struct cpp_frame *frame, const struct tdm_expr *value, uint32_t node)
{
	if (!frame->is_eager || value->op != TDM_EXPR_LIST)
		return frame->is_eager ? with_type(frame, value, node) : value;
	const struct tdm_expr **args = tdm_arena_take(frame->arena, sizeof *args * value->arg_count);
	bool has_changed = false;
	for (uint32_t i = 0; i < value->arg_count; i++) {
		args[i] = with_type(frame, value->args[i], node);
		has_changed |= args[i] != value->args[i];
	}
	return has_changed ? tdm_expr_list(frame->arena, args, value->arg_count) : value;
}

/* The value of a declared variable, converted to the variable's type. */
const struct tdm_expr *cpp_declared(
	struct cpp_frame *frame, uint32_t type, struct tdm_str variable, const struct tdm_expr *value)
{
	if (type == TDM_NODE_NONE)
		return value;
	enum tdm_syntax_kind type_kind = cpp_kind(frame, type);
	struct tdm_str name = cpp_last_name(frame->source, type);
	uint8_t kind = cpp_type_of(name);
	bool is_container = type_kind == TDM_SYN_template_type || tdm_contains(cpp_text(frame, type), "<");
	if (kind != CPP_TYPE_NONE && value->op == TDM_EXPR_OBJECT && value->text.len == 0) {
		const struct tdm_expr *named =
			tdm_expr_make(frame->arena, TDM_EXPR_OBJECT, name, value->args, value->arg_count);
		value = cpp_track(frame, named, kind, type);
	} else if (!is_container && kind == CPP_TYPE_NONE && type_kind != TDM_SYN_placeholder_type_specifier &&
		   value->op == TDM_EXPR_LIST && value->arg_count == 1 && value->args[0]->op != TDM_EXPR_LIST) {
		value = value->args[0]; /* uint32_t n{4} */
	} else if (value->op == TDM_EXPR_LIST || value->op == TDM_EXPR_OBJECT) {
		value = cpp_typed(frame, value, type);
	}
	struct cpp_made *made = cpp_made_of(value);
	if (made != NULL && made->variable.len == 0)
		made->variable = variable;
	return value;
}

void cpp_create(struct cpp_frame *frame, const struct tdm_expr *object, const struct tdm_expr *cores, uint32_t node)
{
	struct cpp_made *made = cpp_made_of(object);
	if (made == NULL || !frame->is_eager)
		return;
	struct cpp_creation *creation = tdm_arena_take(frame->arena, sizeof *creation);
	uint32_t line = frame->site != NULL ? frame->site->line : own_line(frame, node);
	*creation = (struct cpp_creation){ NULL, line, object, cores, frame->branch, frame->in_loop };
	struct cpp_creation **last = &made->creations;
	while (*last != NULL)
		last = &(*last)->next;
	*last = creation;
	made->latest = object;
}

/* The config that results from a call to one of its methods. */
static const struct tdm_expr *config_method(struct cpp_frame *frame, const struct tdm_expr *config,
	struct tdm_str method, const struct tdm_expr *const *args, uint32_t count)
{
	static const struct {
		const char *method;
		uint32_t least, most;
		const char *fields[2];
		uint32_t second; /* index of the argument for the second field */
	} methods[] = {
		{ "set_total_size", 1, 1, { "total_size", NULL }, 0 },
		{ "set_globally_allocated_address", 1, UINT32_MAX, { "buffer", NULL }, 0 },
		{ "set_globally_allocated_address_and_total_size", 2, 2, { "buffer", "total_size" }, 1 },
		{ "index", 1, 1, { "own_index", "current_index" }, 0 },
		{ "remote_index", 1, 1, { "remote_index", "current_index" }, 0 },
		{ "set_data_format", 1, 1, { "data_format", NULL }, 0 },
	};
	struct tdm_arena *arena = frame->arena;
	if (tdm_str_is(method, "set_page_size") && count >= 1) {
		const struct tdm_expr *index = count >= 2 ? args[0] : tdm_expr_field(config, "current_index");
		if (tdm_expr_field(config, "page_size") != NULL && index != NULL &&
			tdm_expr_field(config, "paged_index") != NULL)
			return config; /* method that adds a second index for the same memory */
		config = index != NULL ? tdm_expr_with_field(arena, config, "paged_index", index) : config;
		return tdm_expr_with_field(arena, config, "page_size", args[count - 1]);
	}
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
		if (!tdm_str_is(method, methods[i].method) || count < methods[i].least || count > methods[i].most)
			continue;
		config = tdm_expr_with_field(arena, config, methods[i].fields[0], args[0]);
		if (methods[i].fields[1] != NULL)
			config = tdm_expr_with_field(arena, config, methods[i].fields[1], args[methods[i].second]);
	}
	return config;
}

bool cpp_opens_list(struct tdm_str method)
{
	return tdm_is_one_of(method, "append_to insert append resize clear assign erase");
}

/* Adds an element to a list. */
static void append(struct cpp_frame *frame, uint32_t target, const struct tdm_expr *value)
{
	const struct tdm_expr *list = cpp_eval(frame, target);
	bool is_field = cpp_kind(frame, target) == TDM_SYN_field_expression;
	uint32_t owner = is_field ? cpp_part(frame, target, TDM_ROLE_argument) : TDM_NODE_NONE;
	bool is_new = list->op != TDM_EXPR_LIST && is_field && cpp_eval(frame, owner)->op == TDM_EXPR_OBJECT;
	if ((list->op != TDM_EXPR_LIST && !is_new) ||
		(list->arg_count != 0 && list->args[list->arg_count - 1]->op == TDM_EXPR_NOTHING))
		return;
	if (frame->in_loop)
		value = &tdm_expr_nothing; /* the number of elements is unknown */
	uint32_t count = is_new ? 0 : list->arg_count;
	const struct tdm_expr **args = tdm_arena_take(frame->arena, sizeof *args * (count + 1));
	for (uint32_t i = 0; i < count; i++)
		args[i] = list->args[i];
	args[count] = value;
	cpp_assign(frame, target, tdm_expr_make(frame->arena, TDM_EXPR_LIST, tdm_no_text, args, count + 1));
}

bool cpp_may_change(struct tdm_str function)
{
	static const char *const words[] = { "append", "add", "push", "bind", "attach", "extend" };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (tdm_contains(function, words[i]))
			return true;
	return false;
}

void cpp_note_changed(struct cpp_frame *frame, uint32_t argument)
{
	if (!frame->is_eager || argument == TDM_NODE_NONE)
		return;
	const struct tdm_expr *value = cpp_eval(frame, argument);
	struct cpp_made *made = cpp_made_of(value);
	if (value->op == TDM_EXPR_LIST) {
		append(frame, argument, &tdm_expr_nothing);
	} else if (made != NULL && made->type == CPP_TYPE_KERNEL) {
		made->latest = tdm_expr_with_field(frame->arena, value, "is_changed", tdm_expr_number(frame->arena, 1));
		cpp_assign(frame, argument, made->latest);
	}
}

static void push(struct cpp_frame *frame, uint32_t call, uint32_t target, uint32_t arguments)
{
	uint32_t argument = tdm_node_first(frame->source->syntax, arguments);
	if (argument == TDM_NODE_NONE)
		return;
	/* The first argument is the element. */
	const struct tdm_expr *value = cpp_typed(frame, cpp_eval(frame, argument), argument);
	struct cpp_made *made = cpp_made_of(value);
	if (made != NULL && (made->type == TDM_SHAPE_CB_DESCRIPTOR || made->type == CPP_TYPE_KERNEL))
		cpp_create(frame, value, NULL, call);
	else
		cpp_set_latest(made, value);
	append(frame, target, value);
}

/* The variable at the start of a chain of calls, x in x.f(1).g(2); TDM_NODE_NONE if there is none. */
static uint32_t chain_root(const struct cpp_source *source, uint32_t node)
{
	const struct tdm_syntax *syntax = source->syntax;
	while (tdm_node_kind(syntax, node) == TDM_SYN_call_expression) {
		uint32_t function = tdm_node_part(syntax, node, TDM_ROLE_function);
		if (tdm_node_kind(syntax, function) != TDM_SYN_field_expression)
			return TDM_NODE_NONE;
		node = tdm_node_part(syntax, function, TDM_ROLE_argument);
	}
	enum tdm_syntax_kind kind = tdm_node_kind(syntax, node);
	bool is_variable =
		kind == TDM_SYN_identifier || kind == TDM_SYN_field_expression || kind == TDM_SYN_subscript_expression;
	return is_variable ? node : TDM_NODE_NONE;
}

/* A method call. Returns false if the method does not matter here. */
bool cpp_method(struct cpp_frame *frame, uint32_t call, struct tdm_str method, const struct tdm_expr **result)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	enum { ARGS_MAX = 4 };
	uint32_t function = cpp_part(frame, call, TDM_ROLE_function);
	uint32_t target = cpp_part(frame, function, TDM_ROLE_argument);
	uint32_t arguments = cpp_part(frame, call, TDM_ROLE_arguments);
	if (tdm_is_one_of(method, "push_back emplace_back")) {
		if (frame->is_eager)
			push(frame, call, target, arguments);
		*result = &tdm_expr_nothing;
		return true;
	}
	/* buffer.get_id() stands for the buffer. */
	if (tdm_is_one_of(method, "get_id get_cb_id get_dfb_id id get_cb get_buffer_id") &&
		frame->cpp->walk->file->has_device && tdm_node_first(syntax, arguments) == TDM_NODE_NONE) {
		*result = cpp_eval(frame, target);
		return true;
	}
	if (cpp_opens_list(method))
		cpp_note_changed(frame, tdm_str_is(method, "append_to") ? tdm_node_first(syntax, arguments) : target);
	if (!tdm_begins_with(method, "set_") && !tdm_is_one_of(method, "index remote_index"))
		return false;
	const struct tdm_expr *config = cpp_eval(frame, target);
	if (config->op != TDM_EXPR_OBJECT || !tdm_str_is(config->text, "CircularBufferConfig"))
		return false;
	const struct tdm_expr *args[ARGS_MAX];
	uint32_t count = 0;
	for (TDM_NODE_CHILDREN(child, syntax, arguments))
		if (count < ARGS_MAX)
			args[count++] = cpp_eval(frame, child);
	const struct tdm_expr *changed = config_method(frame, config, method, args, count);
	uint32_t root = chain_root(frame->source, target);
	struct cpp_made *made = cpp_made_of(changed);
	if (made != NULL && frame->is_eager)
		made->latest = changed;
	if (root != TDM_NODE_NONE && frame->is_eager && changed != config)
		cpp_assign(frame, root, changed);
	*result = changed;
	return true;
}

/* ---- entries ---- */

static const struct tdm_expr *first_of(const struct tdm_expr *list, uint32_t place)
{
	return list != NULL && list->op == TDM_EXPR_LIST && place < list->arg_count ? list->args[place] : NULL;
}

/* A part of a format descriptor, found by name or, in a list, by position. */
static const struct tdm_expr *format_part(const struct tdm_expr *format, const char *name, uint32_t place)
{
	if (format == NULL)
		return NULL;
	const struct tdm_expr *value = tdm_expr_field(format, name);
	return value != NULL ? value : first_of(format, place);
}

static bool is_given(const struct tdm_expr *expr)
{
	return expr != NULL && expr->op != TDM_EXPR_NOTHING && !cpp_is_null(expr);
}

/* The first existing field of up to three; NULL if none exists. */
static const struct tdm_expr *given_of(const struct tdm_expr *object, const char *a, const char *b, const char *c)
{
	const char *const names[] = { a, b, c };
	for (size_t i = 0; i < 3 && names[i] != NULL; i++)
		if (is_given(tdm_expr_field(object, names[i])))
			return tdm_expr_field(object, names[i]);
	return NULL;
}

static void descriptor_facts(const struct tdm_expr *object, struct tdm_buffer_facts *facts)
{
	const struct tdm_expr *formats = unwrapped(tdm_expr_field(object, "format_descriptors"));
	const struct tdm_expr *remote = unwrapped(tdm_expr_field(object, "remote_format_descriptors"));
	const struct tdm_expr *first = first_of(formats, 0), *second = first_of(formats, 1);
	if (first == NULL && formats != NULL && formats->op == TDM_EXPR_OBJECT)
		first = formats;
	if (first == NULL)
		first = first_of(remote, 0);
	facts->kind = TDM_KIND_CB;
	facts->index = format_part(first, "buffer_index", 0);
	facts->format = format_part(first, "data_format", 1);
	facts->page = format_part(first, "page_size", 2);
	facts->also_index = format_part(second, "buffer_index", 0);
	facts->total = tdm_expr_field(object, "total_size");
	facts->cores = tdm_expr_field(object, "core_ranges");
	facts->view_of = given_of(object, "buffer", "tensor", "global_circular_buffer");
}

static void config_facts(const struct tdm_expr *object, struct tdm_buffer_facts *facts)
{
	const struct tdm_expr *formats = unwrapped(tdm_expr_field(object, "formats"));
	const struct tdm_expr *first = first_of(formats, 0), *second = first_of(formats, 1);
	bool is_pair = first != NULL && first->op != TDM_EXPR_LIST; /* {index, format} without the outer braces */
	facts->kind = TDM_KIND_CB;
	facts->index = is_pair ? first : first_of(first, 0);
	facts->format = is_pair ? second : first_of(first, 1);
	facts->also_index = is_pair ? NULL : first_of(second, 0);
	facts->page = tdm_expr_field(object, "page_size");
	const struct tdm_expr *own = tdm_expr_field(object, "own_index");
	if (facts->index == NULL)
		facts->index = given_of(object, "own_index", "paged_index", NULL);
	if (facts->index == NULL)
		facts->index = own != NULL ? own : tdm_expr_field(object, "paged_index");
	if (facts->format == NULL)
		facts->format = tdm_expr_field(object, "data_format");
	facts->total = tdm_expr_field(object, "total_size");
	facts->view_of = given_of(object, "buffer", NULL, NULL);
}

/* The buffer whose memory a dataflow buffer shares; NULL if there is none. */
static const struct tdm_expr *alias_of(const struct tdm_expr *object)
{
	const struct tdm_expr *places[] = { object, tdm_expr_field(object, "advanced_options") };
	for (size_t p = 0; p < 2; p++)
		for (uint32_t i = 0; places[p] != NULL && places[p]->op == TDM_EXPR_OBJECT && i < places[p]->arg_count;
			i++) {
			const struct tdm_expr *field = places[p]->args[i];
			if (tdm_begins_with(field->text, "alias") && is_given(field->args[0]))
				return field->args[0];
		}
	return NULL;
}

/* A value without the braces around it, as in {"input"}. */
static const struct tdm_expr *without_braces(const struct tdm_expr *value)
{
	while (value != NULL && value->op == TDM_EXPR_LIST && value->arg_count == 1)
		value = value->args[0];
	return value;
}

/* The name of an optional object, if the object exists. */
static const struct tdm_expr *when_there(const struct tdm_expr *name)
{
	name = without_braces(name);
	if (name == NULL || name->op != TDM_EXPR_CHOOSE)
		return name;
	const struct tdm_expr *a = when_there(name->args[1]), *b = when_there(name->args[2]);
	if (cpp_is_null(a) || cpp_is_null(b))
		return cpp_is_null(a) ? b : a;
	return tdm_expr_is_same(a, b) ? a : name;
}

static const struct tdm_expr *name_of(const struct tdm_expr *object)
{
	return when_there(tdm_expr_field(object, "unique_id"));
}

static struct tdm_buffer_facts facts_of(
	struct tdm_arena *arena, const struct cpp_made *made, const struct tdm_expr *object)
{
	const struct tdm_expr *entries = tdm_expr_field(object, "num_entries");
	struct tdm_buffer_facts facts = {
		.shape = made->site.line != 0 ? TDM_SHAPE_HELPER : made->type,
		.line = made->line,
		.defined_line = made->line,
		.helper = made->site.helper,
		.variable = made->variable,
		.object = object,
	};
	if (made->type == TDM_SHAPE_CB_DESCRIPTOR) {
		descriptor_facts(object, &facts);
		return facts;
	}
	if (made->type == TDM_SHAPE_CB_CONFIG) {
		config_facts(object, &facts);
		return facts;
	}
	facts.name = name_of(object);
	facts.format_is_optional = true;
	if (made->type != TDM_SHAPE_DFB_SPEC) {
		facts.kind = TDM_KIND_SCRATCHPAD;
		facts.total = tdm_expr_field(object, "size_per_node");
		return facts;
	}
	facts.kind = TDM_KIND_DFB;
	facts.format = given_of(object, "data_format_metadata", NULL, NULL);
	facts.page = tdm_expr_field(object, "entry_size");
	if (facts.page != NULL && entries != NULL)
		facts.total = tdm_expr_binary(arena, TDM_EXPR_MULTIPLY, facts.page, entries);
	facts.view_of = given_of(object, "borrowed_from", NULL, NULL);
	facts.view_of = without_braces(facts.view_of != NULL ? facts.view_of : alias_of(object));
	return facts;
}

/* Resolves the choices decided by the surrounding branches. */
static void settle_in_branch(struct cpp *cpp, struct tdm_buffer_facts *facts, const struct tdm_scan_branch *branch)
{
	const struct tdm_expr **parts[] = { &facts->index, &facts->also_index, &facts->name, &facts->format,
		&facts->page, &facts->total, &facts->view_of };
	struct tdm_way way = { .count = 0 };
	for (; branch != NULL; branch = branch->outer)
		tdm_way_add(&way, branch->test, true);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (*parts[i] != NULL)
			*parts[i] = tdm_way_take(&way, *parts[i], cpp->arena);
	if (facts->view_of != NULL && cpp_is_null(facts->view_of))
		facts->view_of = NULL;
}

/* The path of a kernel's source; NULL if the kernel has none. */
static const struct tdm_expr *source_field(const struct tdm_expr *kernel)
{
	const struct tdm_expr *source = tdm_expr_field(kernel, "source");
	return source != NULL ? source : tdm_expr_field(kernel, "kernel_source");
}

/* A helper creates buffers whose index or name comes from the caller. If only the size comes from the caller, the
 * function must also have a helper-like name, and must either create a single buffer or be called more than once. A
 * helper that creates kernels gets their source from the caller. */
bool cpp_is_helper(const struct cpp *cpp, struct tdm_str name)
{
	size_t count = 0;
	bool names_given = false, sizes_given = false, sources_given = false;
	for (const struct cpp_made *made = cpp->first; made != NULL; made = made->next) {
		if (made->type == CPP_TYPE_KERNEL) {
			const struct tdm_expr *source = source_field(made->latest);
			sources_given |= source != NULL && source->is_parameter;
		} else if (!made->is_replaced) {
			struct tdm_buffer_facts facts = facts_of(
				cpp->arena, made, made->creations != NULL ? made->creations->object : made->latest);
			count++;
			names_given |= cpp_is_from_caller(facts.index) || cpp_is_from_caller(facts.name);
			sizes_given |= (facts.total != NULL && facts.total->is_parameter) ||
				       (facts.page != NULL && facts.page->is_parameter);
		}
	}
	if (count == 0)
		return sources_given;
	if (names_given || !sizes_given || !tdm_name_is_creator(name))
		return names_given;
	return count == 1 || tdm_project_call_count(cpp->walk->project, name) > 1;
}

void cpp_mark(struct cpp *cpp, uint32_t byte, uint8_t grasp, const char *why, bool is_helper_body)
{
	struct tdm_scan_place *place = byte != UINT32_MAX ? tdm_place_at(cpp->walk->file, byte) : NULL;
	if (place == NULL || place->grasp < grasp)
		return;
	place->grasp = grasp;
	place->why = why;
	place->is_helper_body |= is_helper_body;
}

void cpp_mark_helper_body(struct cpp *cpp, uint32_t start, uint32_t end)
{
	struct tdm_scan_file *file = cpp->walk->file;
	for (size_t i = tdm_place_from(file, start); i < file->place_count && file->places[i].byte < end; i++) {
		struct tdm_scan_place *place = &file->places[i];
		place->is_helper_body = true;
		place->grasp = TDM_GRASP_WHOLLY;
	}
}

static void emit_buffer(
	struct cpp *cpp, const struct cpp_made *made, const struct cpp_creation *creation, uint32_t program)
{
	const struct tdm_expr *object = creation != NULL ? creation->object : made->latest;
	struct tdm_buffer_facts facts = facts_of(cpp->arena, made, object);
	const struct tdm_scan_branch *branch = creation != NULL ? creation->branch : made->branch;
	if (creation != NULL && made->site.line == 0)
		facts.line = creation->line;
	for (uint32_t i = 0; i < cpp->cut_count && made->site.line != 0; i++)
		if (cpp->cut_sites[i] == made->site.byte)
			facts.also_missing = "what its helper creates when it calls itself";
	settle_in_branch(cpp, &facts, branch);
	facts.branch = branch;
	facts.in_loop = creation != NULL ? creation->in_loop : made->in_loop;
	facts.program = program;
	if (creation != NULL && creation->cores != NULL)
		facts.cores = creation->cores;
	const struct tdm_scan_buffer *buffer = tdm_walk_add_buffer(cpp->walk, &facts);
	cpp_mark(cpp, made->byte, buffer->grasp, buffer->missing, made->site.line != 0);
	if (made->site.line != 0)
		cpp_mark(cpp, made->site.byte, buffer->grasp, buffer->missing, false);
}

static void emit_kernel(struct cpp *cpp, const struct cpp_made *made, uint32_t program)
{
	const struct tdm_expr *object = made->latest;
	const struct tdm_expr *source = source_field(object);
	const struct tdm_expr *cores = tdm_expr_field(object, "cores");
	if (cores == NULL)
		cores = tdm_expr_field(object, "core_ranges");
	struct tdm_scan_file *file = cpp->walk->file;
	tdm_grow(&file->kernels, &file->kernel_cap, file->kernel_count + 1, sizeof *file->kernels);
	file->kernels[file->kernel_count++] = (struct tdm_scan_kernel){
		.file = cpp->walk->file_idx,
		.line = made->line,
		.defined_line = made->byte != UINT32_MAX ? tdm_walk_line(cpp->walk, made->byte) : made->line,
		.program = program,
		.name = tdm_expr_plain_text(name_of(object), cpp->arena),
		.source = tdm_expr_plain_text(source, cpp->arena),
		.source_expr = source,
		.cores = tdm_expr_plain_text(cores, cpp->arena),
		.object = object,
		.branch = made->branch,
	};
}

void cpp_emit(struct cpp *cpp, struct tdm_str name, uint32_t line)
{
	uint32_t program = cpp->first != NULL ? tdm_walk_add_program(cpp->walk, name, line) : 0;
	for (const struct cpp_made *made = cpp->first; made != NULL; made = made->next) {
		const struct cpp_creation *creation = made->creations;
		const struct tdm_expr *total = tdm_expr_field(made->latest, "total_size");
		int64_t size;
		/* CircularBufferConfig(0, …) is never created; the object that replaces it becomes the entry. */
		bool is_empty = made->type == TDM_SHAPE_CB_CONFIG && creation == NULL && total != NULL &&
				tdm_expr_value(total, NULL, &size) == 0 && size == 0;
		if (made->is_replaced || is_empty) {
			cpp_mark(cpp, made->byte, TDM_GRASP_WHOLLY, "", false);
			if (made->site.line != 0)
				cpp_mark(cpp, made->site.byte, TDM_GRASP_WHOLLY, "", false);
		} else if (made->type == CPP_TYPE_KERNEL) {
			emit_kernel(cpp, made, program);
		} else {
			do {
				emit_buffer(cpp, made, creation, program);
				creation = creation != NULL ? creation->next : NULL;
			} while (creation != NULL);
		}
	}
}
