/* Objects that describe buffers and kernels: made, filled, handed over. */
#include "scan/host_parts.h"

static const struct tdm_str no_text = { "", 0 };

uint8_t host_type_of(struct tdm_str name)
{
	static const struct {
		const char *name;
		uint8_t type;
	} types[] = {
		{ "CBDescriptor", TDM_SHAPE_CB_DESCRIPTOR },
		{ "CircularBufferConfig", TDM_SHAPE_CB_CONFIG },
		{ "DataflowBufferSpec", TDM_SHAPE_DFB_SPEC },
		{ "ScratchpadSpec", TDM_SHAPE_SCRATCHPAD_SPEC },
		{ "KernelDescriptor", HOST_TYPE_KERNEL },
		{ "KernelSpec", HOST_TYPE_KERNEL },
	};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (tdm_str_is(name, types[i].name))
			return types[i].type;
	return HOST_TYPE_NONE;
}

/* The name of a type that a node of type `type` makes, as a text of the arena. */
static const char *type_names[] = {
	[TDM_SHAPE_CB_DESCRIPTOR] = "CBDescriptor",
	[TDM_SHAPE_CB_CONFIG] = "CircularBufferConfig",
	[TDM_SHAPE_DFB_SPEC] = "DataflowBufferSpec",
	[TDM_SHAPE_SCRATCHPAD_SPEC] = "ScratchpadSpec",
};

struct host_made *host_made_of(const struct tdm_expr *expr)
{
	/* Only host_track() gives an object something opaque. */
	return expr->op == TDM_EXPR_OBJECT ? (struct host_made *)(uintptr_t)expr->opaque : NULL;
}

void host_set_latest(struct host_made *made, const struct tdm_expr *object)
{
	for (; made != NULL; made = made->twin)
		made->latest = object;
}

bool host_is_null(const struct tdm_expr *expr)
{
	if (expr->op == TDM_EXPR_NUMBER)
		return expr->number == 0;
	if (expr->op == TDM_EXPR_LIST)
		return expr->arg_count == 0;
	if (expr->op != TDM_EXPR_NAME)
		return false;
	return tdm_str_is(expr->text, "nullptr") || tdm_str_is(expr->text, "NULL") ||
	       tdm_str_is(expr->text, "std::nullopt") || tdm_str_is(expr->text, "nullopt");
}

/* {{x, y}} and {x, y} alike: the list of formats, which may be in one more pair of braces. */
const struct tdm_expr *host_unwrapped(const struct tdm_expr *list)
{
	while (list != NULL && list->op == TDM_EXPR_LIST && list->arg_count == 1 &&
		list->args[0]->op == TDM_EXPR_LIST && list->args[0]->arg_count != 0 &&
		(list->args[0]->args[0]->op == TDM_EXPR_LIST || list->args[0]->args[0]->op == TDM_EXPR_OBJECT))
		list = list->args[0];
	return list;
}

static uint32_t own_line(const struct host_frame *frame, uint32_t node)
{
	return node != TDM_NODE_NONE ? tdm_walk_line(frame->host->walk, frame->source->syntax->nodes[node].start) : 0;
}

/* The name at the end of a type, a::b::NAME, whose byte is that of the place. */
static uint32_t name_byte(const struct host_source *source, uint32_t node)
{
	struct tdm_str name = host_last_name(source, node);
	return (uint32_t)(name.ptr - source->syntax->text.ptr);
}

/* Remembers an object. Nothing happens where effects do not count. */
const struct tdm_expr *host_track(
	struct host_frame *frame, const struct tdm_expr *object, uint8_t type, uint32_t type_node)
{
	struct host *host = frame->host;
	bool is_wanted = frame->is_eager && type != HOST_TYPE_NONE && object->op == TDM_EXPR_OBJECT &&
			 object->opaque == NULL && host->made_count < HOST_MADE_MAX;
	host->walk->is_cut |= host->made_count >= HOST_MADE_MAX;
	struct host_made *made = is_wanted ? tdm_arena_take(host->arena, sizeof *made) : NULL;
	struct tdm_expr *tracked = made != NULL ? tdm_arena_take(host->arena, sizeof *tracked) : NULL;
	if (tracked == NULL)
		return object;
	*tracked = *object;
	tracked->opaque = made;
	bool is_own = frame->source->is_file && type_node != TDM_NODE_NONE;
	*made = (struct host_made){
		.type = type,
		.byte = is_own ? name_byte(frame->source, type_node) : UINT32_MAX,
		.line = frame->site != NULL ? frame->site->line : own_line(frame, type_node),
		.site = frame->site != NULL ? *frame->site : (struct host_site){ 0, 0, no_text },
		.branch = frame->branch,
		.in_loop = frame->in_loop,
		.latest = tracked,
	};
	if (host->last != NULL)
		host->last->next = made;
	else
		host->first = made;
	host->last = made;
	host->made_count++;
	return tracked;
}

/* Names of the fields that come without designators, in their order. */
static const char *positional(struct tdm_str type, uint32_t place)
{
	static const char *const format[] = { "buffer_index", "data_format", "page_size", "tile" };
	static const char *const dfb[] = { "unique_id", "entry_size", "num_entries", "data_format_metadata" };
	static const char *const cb[] = { "total_size", "core_ranges", "format_descriptors" };
	static const char *const binding[] = { "dfb_spec_name", "accessor_name", "endpoint_type" };
	if (tdm_str_is(type, "DFBBinding"))
		return place < sizeof binding / sizeof *binding ? binding[place] : NULL;
	if (tdm_str_is(type, "CBFormatDescriptor"))
		return place < sizeof format / sizeof *format ? format[place] : NULL;
	if (tdm_str_is(type, "DataflowBufferSpec"))
		return place < sizeof dfb / sizeof *dfb ? dfb[place] : NULL;
	if (tdm_str_is(type, "CBDescriptor"))
		return place < sizeof cb / sizeof *cb ? cb[place] : NULL;
	return NULL;
}

/* The value of a field as it is kept: formats without the braces that they may have around them. */
const struct tdm_expr *host_field_value(struct tdm_str field, const struct tdm_expr *value)
{
	return tdm_str_is(field, "format_descriptors") ? host_unwrapped(value) : value;
}

static const struct tdm_expr *field(struct host *host, struct tdm_str name, const struct tdm_expr *value)
{
	const char *copy = tdm_arena_text(host->arena, name);
	if (copy == NULL)
		return &tdm_expr_nothing;
	value = host_field_value(name, value);
	return tdm_expr_make(host->arena, TDM_EXPR_FIELD, (struct tdm_str){ copy, name.len }, &value, 1);
}

/* One element of {…}: ".name = value", or a value at its place. NULL when it has no name. */
static const struct tdm_expr *element(struct host_frame *frame, struct tdm_str type, uint32_t node, uint32_t place)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	if (tdm_node_kind(syntax, node) == TDM_SYN_initializer_pair) {
		uint32_t designator = tdm_node_with_role(syntax, node, TDM_ROLE_designator);
		uint32_t name = tdm_node_first(syntax, designator);
		struct tdm_str text =
			name != TDM_NODE_NONE ? tdm_node_text(syntax, name) : tdm_node_text(syntax, designator);
		return field(frame->host, text, host_eval(frame, tdm_node_with_role(syntax, node, TDM_ROLE_value)));
	}
	const char *name = positional(type, place);
	return name != NULL ? field(frame->host, tdm_str_of(name), host_eval(frame, node)) : NULL;
}

const struct tdm_expr *host_object(struct host_frame *frame, struct tdm_str type, uint32_t type_node, uint32_t list)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	uint32_t count = tdm_node_child_count(syntax, list), used = 0, place = 0;
	const struct tdm_expr *only = NULL;
	const struct tdm_expr **args = tdm_arena_take(frame->host->arena, sizeof *args * count);
	const char *copy = tdm_arena_text(frame->host->arena, type);
	if (args == NULL || copy == NULL)
		return &tdm_expr_nothing;
	for (TDM_NODE_CHILDREN(child, syntax, list)) {
		const struct tdm_expr *made = element(frame, type, child, place++);
		if (made != NULL)
			args[used++] = made;
		else
			only = host_eval(frame, child);
	}
	uint8_t kind = host_type_of(type);
	/* A value in braces, "uint32_t{4}" or "DFBSpecName{"in"}", is that value; a list of something is a list. */
	if (used == 0 && only != NULL && kind == HOST_TYPE_NONE && count == 1)
		return only;
	if (used == 0 && count > 0 && kind == HOST_TYPE_NONE) {
		uint32_t i = 0;
		for (TDM_NODE_CHILDREN(child, syntax, list))
			args[i++] = host_eval(frame, child);
		return tdm_expr_make(frame->host->arena, TDM_EXPR_LIST, no_text, args, count);
	}
	if (kind == TDM_SHAPE_CB_CONFIG)
		return host_config(frame, type_node, list);
	const struct tdm_expr *object =
		tdm_expr_make(frame->host->arena, TDM_EXPR_OBJECT, (struct tdm_str){ copy, type.len }, args, used);
	return host_track(frame, object, kind, type_node);
}

/* CircularBufferConfig(size, {{index, format}, …}). */
const struct tdm_expr *host_config(struct host_frame *frame, uint32_t type_node, uint32_t arguments)
{
	struct host *host = frame->host;
	const struct tdm_syntax *syntax = frame->source->syntax;
	static const char *const names[] = { "total_size", "formats" };
	const struct tdm_expr *fields[2];
	uint32_t count = 0;
	for (TDM_NODE_CHILDREN(child, syntax, arguments)) {
		if (count == 2)
			break;
		const struct tdm_expr *value = host_eval(frame, child);
		if (value->op == TDM_EXPR_OBJECT && host_made_of(value) != NULL) /* a copy */
			return value;
		fields[count] = field(host, tdm_str_of(names[count]), value);
		count++;
	}
	const struct tdm_expr *object =
		tdm_expr_make(host->arena, TDM_EXPR_OBJECT, tdm_str_of(type_names[TDM_SHAPE_CB_CONFIG]), fields, count);
	return host_track(frame, object, TDM_SHAPE_CB_CONFIG, type_node);
}

/* What an object without a type is, by its fields. */
static uint8_t guessed_type(const struct tdm_expr *object)
{
	if (tdm_expr_field(object, "format_descriptors") != NULL && tdm_expr_field(object, "total_size") != NULL)
		return TDM_SHAPE_CB_DESCRIPTOR;
	if (tdm_expr_field(object, "entry_size") != NULL && tdm_expr_field(object, "num_entries") != NULL)
		return TDM_SHAPE_DFB_SPEC;
	if (tdm_expr_field(object, "size_per_node") != NULL)
		return TDM_SHAPE_SCRATCHPAD_SPEC;
	return HOST_TYPE_NONE;
}

static const struct tdm_expr *with_type(
	struct host_frame *frame, const struct tdm_expr *value, uint8_t type, uint32_t node)
{
	if (type == HOST_TYPE_NONE || type >= TDM_SHAPE_HELPER)
		return value;
	const struct tdm_expr *named = tdm_expr_make(
		frame->host->arena, TDM_EXPR_OBJECT, tdm_str_of(type_names[type]), value->args, value->arg_count);
	return host_track(frame, named, type, node);
}

/* Gives objects that were written without a type, alone or in a list, the type that their fields show. */
const struct tdm_expr *host_typed(struct host_frame *frame, const struct tdm_expr *value, uint32_t node)
{
	if (!frame->is_eager)
		return value;
	if (value->op == TDM_EXPR_OBJECT && value->text.len == 0)
		return with_type(frame, value, guessed_type(value), node);
	if (value->op != TDM_EXPR_LIST)
		return value;
	bool has_some = false;
	for (uint32_t i = 0; i < value->arg_count; i++)
		has_some |= value->args[i]->op == TDM_EXPR_OBJECT && value->args[i]->text.len == 0 &&
			    guessed_type(value->args[i]) != HOST_TYPE_NONE;
	const struct tdm_expr **args =
		has_some ? tdm_arena_take(frame->host->arena, sizeof *args * value->arg_count) : NULL;
	if (args == NULL)
		return value;
	for (uint32_t i = 0; i < value->arg_count; i++)
		args[i] = value->args[i]->op == TDM_EXPR_OBJECT && value->args[i]->text.len == 0
				  ? with_type(frame, value->args[i], guessed_type(value->args[i]), node)
				  : value->args[i];
	return tdm_expr_make(frame->host->arena, TDM_EXPR_LIST, no_text, args, value->arg_count);
}

/* The value of a declared variable, in the light of its type. */
const struct tdm_expr *host_declared(
	struct host_frame *frame, uint32_t type, struct tdm_str variable, const struct tdm_expr *value)
{
	if (type == TDM_NODE_NONE)
		return value;
	enum tdm_syntax_kind type_kind = tdm_node_kind(frame->source->syntax, type);
	struct tdm_str name = host_last_name(frame->source, type);
	uint8_t kind = host_type_of(name);
	bool is_container =
		type_kind == TDM_SYN_template_type || memchr(tdm_node_text(frame->source->syntax, type).ptr, '<',
							      tdm_node_text(frame->source->syntax, type).len) != NULL;
	if (kind != HOST_TYPE_NONE && value->op == TDM_EXPR_OBJECT && value->text.len == 0) {
		const struct tdm_expr *named =
			tdm_expr_make(frame->host->arena, TDM_EXPR_OBJECT, name, value->args, value->arg_count);
		value = host_track(frame, named, kind, type);
	} else if (!is_container && kind == HOST_TYPE_NONE && type_kind != TDM_SYN_placeholder_type_specifier &&
		   value->op == TDM_EXPR_LIST && value->arg_count == 1 && value->args[0]->op != TDM_EXPR_LIST) {
		value = value->args[0]; /* uint32_t n{4} */
	} else if (value->op == TDM_EXPR_LIST || value->op == TDM_EXPR_OBJECT) {
		value = host_typed(frame, value, type);
	}
	struct host_made *made = host_made_of(value);
	if (made != NULL && made->variable.len == 0)
		made->variable = variable;
	return value;
}

void host_create(struct host_frame *frame, const struct tdm_expr *object, const struct tdm_expr *cores, uint32_t node)
{
	struct host_made *made = host_made_of(object);
	struct host_creation *creation =
		made != NULL && frame->is_eager ? tdm_arena_take(frame->host->arena, sizeof *creation) : NULL;
	if (creation == NULL)
		return;
	uint32_t line = frame->site != NULL ? frame->site->line : own_line(frame, node);
	*creation = (struct host_creation){ NULL, line, object, cores, frame->branch, frame->in_loop };
	struct host_creation **last = &made->creations;
	while (*last != NULL)
		last = &(*last)->next;
	*last = creation;
	made->latest = object;
}

/* Sets a field of a config through one of its methods. *changed: the config after it. */
static const struct tdm_expr *config_method(struct host_frame *frame, const struct tdm_expr *config,
	struct tdm_str method, const struct tdm_expr *const *args, uint32_t count)
{
	struct tdm_arena *arena = frame->host->arena;
	const struct tdm_expr *current = tdm_expr_field(config, "current_index");
	if (tdm_str_is(method, "set_page_size") && count >= 1) {
		const struct tdm_expr *size = args[count - 1], *index = count >= 2 ? args[0] : current;
		if (tdm_expr_field(config, "page_size") != NULL && index != NULL &&
			tdm_expr_field(config, "paged_index") != NULL)
			return config; /* of a second index on the same memory */
		config = index != NULL ? tdm_expr_with_field(arena, config, tdm_str_of("paged_index"), index) : config;
		return tdm_expr_with_field(arena, config, tdm_str_of("page_size"), size);
	}
	if (tdm_str_is(method, "set_total_size") && count == 1)
		return tdm_expr_with_field(arena, config, tdm_str_of("total_size"), args[0]);
	if (tdm_str_is(method, "set_globally_allocated_address") && count >= 1)
		return tdm_expr_with_field(arena, config, tdm_str_of("buffer"), args[0]);
	if (tdm_str_is(method, "set_globally_allocated_address_and_total_size") && count == 2) {
		config = tdm_expr_with_field(arena, config, tdm_str_of("buffer"), args[0]);
		return tdm_expr_with_field(arena, config, tdm_str_of("total_size"), args[1]);
	}
	if ((tdm_str_is(method, "index") || tdm_str_is(method, "remote_index")) && count == 1) {
		bool is_remote = method.ptr[0] == 'r';
		config = tdm_expr_with_field(
			arena, config, tdm_str_of(is_remote ? "remote_index" : "own_index"), args[0]);
		return tdm_expr_with_field(arena, config, tdm_str_of("current_index"), args[0]);
	}
	if (tdm_str_is(method, "set_data_format") && count == 1)
		return tdm_expr_with_field(arena, config, tdm_str_of("data_format"), args[0]);
	return config;
}

bool host_opens_list(struct tdm_str method)
{
	static const char *const names[] = { "append_to", "insert", "append", "resize", "clear", "assign", "erase" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (tdm_str_is(method, names[i]))
			return true;
	return false;
}

static bool is_open(const struct tdm_expr *list)
{
	return list->arg_count != 0 && list->args[list->arg_count - 1]->op == TDM_EXPR_NOTHING;
}

/* Adds an element to a list that a path leads to. */
static void append(struct host_frame *frame, uint32_t target, const struct tdm_expr *value)
{
	const struct tdm_expr *list = host_eval(frame, target);
	bool is_field = tdm_node_kind(frame->source->syntax, target) == TDM_SYN_field_expression;
	uint32_t owner =
		is_field ? tdm_node_with_role(frame->source->syntax, target, TDM_ROLE_argument) : TDM_NODE_NONE;
	bool is_new = list->op != TDM_EXPR_LIST && is_field && host_eval(frame, owner)->op == TDM_EXPR_OBJECT;
	if ((list->op != TDM_EXPR_LIST && !is_new) || is_open(list))
		return;
	if (frame->in_loop)
		value = &tdm_expr_nothing; /* nobody knows how many there will be */
	uint32_t count = is_new ? 0 : list->arg_count;
	const struct tdm_expr **args = tdm_arena_take(frame->host->arena, sizeof *args * (count + 1));
	if (args == NULL)
		return;
	for (uint32_t i = 0; i < count; i++)
		args[i] = list->args[i];
	args[count] = value;
	host_assign(frame, target, tdm_expr_make(frame->host->arena, TDM_EXPR_LIST, no_text, args, count + 1));
}

bool host_may_change(struct tdm_str function)
{
	static const char *const words[] = { "append", "add", "push", "bind", "attach", "extend" };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (memmem(function.ptr, function.len, words[i], strlen(words[i])) != NULL)
			return true;
	return false;
}

void host_note_changed(struct host_frame *frame, uint32_t argument)
{
	if (!frame->is_eager || argument == TDM_NODE_NONE)
		return;
	const struct tdm_expr *value = host_eval(frame, argument);
	struct host_made *made = host_made_of(value);
	if (value->op == TDM_EXPR_LIST) {
		append(frame, argument, &tdm_expr_nothing);
	} else if (made != NULL && made->type == HOST_TYPE_KERNEL) {
		made->latest = tdm_expr_with_field(
			frame->host->arena, value, tdm_str_of("is_changed"), tdm_expr_number(frame->host->arena, 1));
		host_assign(frame, argument, made->latest);
	}
}

static void push(struct host_frame *frame, uint32_t call, uint32_t target, uint32_t arguments)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	uint32_t argument = tdm_node_first(syntax, arguments);
	if (argument == TDM_NODE_NONE)
		return;
	/* push_back(cb, cores) and the like take the last; emplace_back with several arguments is a constructor. */
	const struct tdm_expr *value = host_typed(frame, host_eval(frame, argument), argument);
	struct host_made *made = host_made_of(value);
	if (made != NULL && (made->type == TDM_SHAPE_CB_DESCRIPTOR || made->type == HOST_TYPE_KERNEL))
		host_create(frame, value, NULL, call);
	else
		host_set_latest(made, value);
	append(frame, target, value);
}

/* The variable at the beginning of a chain of calls, x in x.f(1).g(2); TDM_NODE_NONE when there is none. */
static uint32_t chain_root(const struct host_source *source, uint32_t node)
{
	const struct tdm_syntax *syntax = source->syntax;
	while (tdm_node_kind(syntax, node) == TDM_SYN_call_expression) {
		uint32_t function = tdm_node_with_role(syntax, node, TDM_ROLE_function);
		if (tdm_node_kind(syntax, function) != TDM_SYN_field_expression)
			return TDM_NODE_NONE;
		node = tdm_node_with_role(syntax, function, TDM_ROLE_argument);
	}
	enum tdm_syntax_kind kind = tdm_node_kind(syntax, node);
	bool is_variable =
		kind == TDM_SYN_identifier || kind == TDM_SYN_field_expression || kind == TDM_SYN_subscript_expression;
	return is_variable ? node : TDM_NODE_NONE;
}

static bool is_push(struct tdm_str method)
{
	return tdm_str_is(method, "push_back") || tdm_str_is(method, "emplace_back");
}

/* A call of an object's method. False when it is none that matters here. */
bool host_method(struct host_frame *frame, uint32_t call, struct tdm_str method, const struct tdm_expr **result)
{
	enum { ARGS_MAX = 4 };
	const struct tdm_syntax *syntax = frame->source->syntax;
	uint32_t function = tdm_node_with_role(syntax, call, TDM_ROLE_function);
	uint32_t target = tdm_node_with_role(syntax, function, TDM_ROLE_argument);
	uint32_t arguments = tdm_node_with_role(syntax, call, TDM_ROLE_arguments);
	if (is_push(method)) {
		if (frame->is_eager)
			push(frame, call, target, arguments);
		*result = &tdm_expr_nothing;
		return true;
	}
	if (host_opens_list(method))
		host_note_changed(frame, tdm_str_is(method, "append_to") ? tdm_node_first(syntax, arguments) : target);
	bool is_setter = method.len > 4 && (memcmp(method.ptr, "set_", 4) == 0);
	if (!is_setter && !tdm_str_is(method, "index") && !tdm_str_is(method, "remote_index"))
		return false;
	const struct tdm_expr *config = host_eval(frame, target);
	if (config->op != TDM_EXPR_OBJECT || !tdm_str_is(config->text, "CircularBufferConfig"))
		return false;
	const struct tdm_expr *args[ARGS_MAX];
	uint32_t count = 0;
	for (TDM_NODE_CHILDREN(child, syntax, arguments))
		if (count < ARGS_MAX)
			args[count++] = host_eval(frame, child);
	const struct tdm_expr *changed = config_method(frame, config, method, args, count);
	uint32_t root = chain_root(frame->source, target);
	struct host_made *made = host_made_of(changed);
	if (made != NULL && frame->is_eager)
		made->latest = changed;
	if (root != TDM_NODE_NONE && frame->is_eager && changed != config)
		host_assign(frame, root, changed);
	*result = changed;
	return true;
}
