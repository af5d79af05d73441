/* Calls: functions whose meaning is known, helpers that are followed, and those that are not. */
#include "scan/host_parts.h"

static const struct tdm_str no_text = { "", 0 };

static struct host_arguments arguments_of(const struct host_source *source, uint32_t list)
{
	struct host_arguments arguments = { .are_all = true };
	for (TDM_NODE_CHILDREN(child, source->syntax, list)) {
		if (arguments.count == HOST_ARGS_MAX) {
			arguments.are_all = false;
			break;
		}
		arguments.nodes[arguments.count++] = child;
	}
	return arguments;
}

static const struct tdm_expr *list_of(struct host_frame *frame, const struct host_arguments *arguments)
{
	const struct tdm_expr *args[HOST_ARGS_MAX];
	for (uint32_t i = 0; i < arguments->count; i++)
		args[i] = host_eval(frame, arguments->nodes[i]);
	return tdm_expr_make(frame->host->arena, TDM_EXPR_LIST, no_text, args, arguments->count);
}

/* min and max of two or more, or of a list. */
static const struct tdm_expr *eval_extreme(
	struct host_frame *frame, enum tdm_expr_op op, const struct host_arguments *arguments)
{
	const struct tdm_expr *list = list_of(frame, arguments);
	if (list->op == TDM_EXPR_LIST && list->arg_count == 1 && list->args[0]->op == TDM_EXPR_LIST)
		list = list->args[0];
	if (list->op != TDM_EXPR_LIST || list->arg_count < 2)
		return NULL;
	const struct tdm_expr *result = list->args[0];
	for (uint32_t i = 1; i < list->arg_count; i++)
		result = tdm_expr_binary(frame->host->arena, op, result, list->args[i]);
	return result;
}

/* Functions that stand for an operator, by name. */
static enum tdm_expr_op operator_function(struct tdm_str name)
{
	static const struct {
		const char *name;
		enum tdm_expr_op op;
	} functions[] = {
		{ "min", TDM_EXPR_MIN },
		{ "max", TDM_EXPR_MAX },
		{ "div_up", TDM_EXPR_DIVIDE_UP },
		{ "ceil_div", TDM_EXPR_DIVIDE_UP },
		{ "div_ceil", TDM_EXPR_DIVIDE_UP },
		{ "divup", TDM_EXPR_DIVIDE_UP },
		{ "round_up", TDM_EXPR_ROUND_UP },
		{ "align", TDM_EXPR_ROUND_UP },
		{ "align_up", TDM_EXPR_ROUND_UP },
		{ "round_down", TDM_EXPR_ROUND_DOWN },
		{ "tile_size", TDM_EXPR_TILE_SIZE },
		{ "TileSize", TDM_EXPR_TILE_SIZE },
		{ "datum_size", TDM_EXPR_DATUM_SIZE },
	};
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (tdm_str_is(name, functions[i].name))
			return functions[i].op;
	return TDM_EXPR_NOTHING;
}

/* Functions and types whose call is their argument: casts, moves, wrappers. */
static bool passes_through(struct tdm_str name)
{
	static const char *const names[] = { "static_cast", "uint32_t", "uint8_t", "uint16_t", "uint64_t", "int32_t",
		"int64_t", "int", "size_t", "move", "forward", "optional", "make_optional", "ref", "cref", "as_const",
		"DFBSpecName", "KernelSpecName", "string", "to_underlying", "unsigned",
		"datatype_to_dataformat_converter", "CBIndex", "bool", "ScratchpadSpecName", "TensorParamName",
		"reinterpret_cast", "const_cast", "get_cb_index", "string_view", "path", "TensorParameterName" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (tdm_str_is(name, names[i]))
			return true;
	return false;
}

static const struct tdm_expr *eval_operator_call(
	struct host_frame *frame, enum tdm_expr_op op, const struct host_arguments *arguments)
{
	uint32_t wanted = op == TDM_EXPR_TILE_SIZE || op == TDM_EXPR_DATUM_SIZE ? 1 : 2;
	if (op == TDM_EXPR_MIN || op == TDM_EXPR_MAX)
		return eval_extreme(frame, op, arguments);
	if (arguments->count != wanted)
		return NULL;
	const struct tdm_expr *args[2];
	for (uint32_t i = 0; i < wanted; i++)
		args[i] = host_eval(frame, arguments->nodes[i]);
	return tdm_expr_make(frame->host->arena, op, no_text, args, wanted);
}

/* Helpers of the runtime's own libraries, where their definition is not among the files. */
static const struct tdm_expr *known_helper(
	struct host_frame *frame, uint32_t call, struct tdm_str name, const struct host_arguments *arguments)
{
	static const char *const create_cb[] = { "index", "", "cores", "page", "pages", "format", "buffer", NULL };
	static const char *const create_circular_buffer[] = { "", "cores", "index", "format", "page", "pages", NULL };
	const char *const *roles = tdm_str_is(name, "create_cb")                ? create_cb
				   : tdm_str_is(name, "create_circular_buffer") ? create_circular_buffer
										: NULL;
	if (roles == NULL || !frame->is_eager || arguments->count < 6 || arguments->count > 7)
		return NULL;
	struct tdm_arena *arena = frame->host->arena;
	const struct tdm_expr *object =
		tdm_expr_make(arena, TDM_EXPR_OBJECT, tdm_str_of("CircularBufferConfig"), NULL, 0);
	for (uint32_t i = 0; i < arguments->count && roles[i] != NULL; i++)
		if (roles[i][0] != '\0')
			object = tdm_expr_with_field(
				arena, object, tdm_str_of(roles[i]), host_eval(frame, arguments->nodes[i]));
	const struct tdm_expr *page = tdm_expr_field(object, "page");
	const struct tdm_expr *total = tdm_expr_binary(arena, TDM_EXPR_MULTIPLY, tdm_expr_field(object, "pages"), page);
	const struct tdm_expr *pair[] = { tdm_expr_field(object, "index"), tdm_expr_field(object, "format") };
	const struct tdm_expr *format = tdm_expr_make(arena, TDM_EXPR_LIST, no_text, pair, 2);
	const struct tdm_expr *cores = tdm_expr_field(object, "cores");
	object = tdm_expr_with_field(arena, object, tdm_str_of("total_size"), total);
	object = tdm_expr_with_field(arena, object, tdm_str_of("page_size"), page);
	object = tdm_expr_with_field(
		arena, object, tdm_str_of("formats"), tdm_expr_make(arena, TDM_EXPR_LIST, no_text, &format, 1));
	const struct host_site *before = frame->site;
	frame->site = host_site_of(frame, call, name);
	object = host_track(frame, object, TDM_SHAPE_CB_CONFIG, TDM_NODE_NONE);
	host_create(frame, object, cores, call);
	frame->site = before;
	const struct tdm_expr *results[] = { pair[0], host_unknown(frame, call) };
	return roles == create_cb ? tdm_expr_make(arena, TDM_EXPR_LIST, no_text, results, 2) : results[1];
}

/* CreateCircularBuffer(program, cores, config) and, for one in global memory, the global buffer after it. */
static const struct tdm_expr *create_buffer(
	struct host_frame *frame, uint32_t call, const struct host_arguments *arguments)
{
	if (arguments->count < 3)
		return host_unknown(frame, call);
	const struct tdm_expr *cores = host_eval(frame, arguments->nodes[1]);
	const struct tdm_expr *config = host_eval(frame, arguments->nodes[2]);
	if (arguments->count == 4 && config->op == TDM_EXPR_OBJECT)
		config = tdm_expr_with_field(
			frame->host->arena, config, tdm_str_of("buffer"), host_eval(frame, arguments->nodes[3]));
	host_create(frame, config, cores, call);
	return host_unknown(frame, call);
}

/* CreateKernel(program, source, cores, config). */
static const struct tdm_expr *create_kernel(
	struct host_frame *frame, uint32_t call, struct tdm_str name, const struct host_arguments *arguments)
{
	static const char *const roles[] = { "", "source", "cores", "config" };
	struct tdm_arena *arena = frame->host->arena;
	const struct tdm_expr *object = tdm_expr_make(arena, TDM_EXPR_OBJECT, tdm_str_of("CreateKernel"), NULL, 0);
	for (uint32_t i = 1; i < arguments->count && i < 4; i++)
		object =
			tdm_expr_with_field(arena, object, tdm_str_of(roles[i]), host_eval(frame, arguments->nodes[i]));
	(void)name;
	object = host_track(
		frame, object, HOST_TYPE_KERNEL, tdm_node_with_role(frame->source->syntax, call, TDM_ROLE_function));
	return host_unknown(frame, call);
}

/* ProducerOf(buffer, accessor) and its like bind a dataflow buffer to a name of the kernel. */
static const struct tdm_expr *binding_call(
	struct host_frame *frame, struct tdm_str name, const struct host_arguments *arguments)
{
	static const char *const names[] = { "ProducerOf", "ConsumerOf", "StridedConsumerOf", "AllConsumerOf" };
	bool is_binding = false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		is_binding |= tdm_str_is(name, names[i]);
	if (!is_binding || arguments->count != 2)
		return NULL;
	struct tdm_arena *arena = frame->host->arena;
	const struct tdm_expr *object = tdm_expr_make(arena, TDM_EXPR_OBJECT, tdm_str_of("DFBBinding"), NULL, 0);
	object = tdm_expr_with_field(arena, object, tdm_str_of("dfb_spec_name"), host_eval(frame, arguments->nodes[0]));
	return tdm_expr_with_field(arena, object, tdm_str_of("accessor_name"), host_eval(frame, arguments->nodes[1]));
}

/* A call that is known by its name; NULL when it is not. */
static const struct tdm_expr *known_call(
	struct host_frame *frame, uint32_t call, struct tdm_str name, const struct host_arguments *arguments)
{
	enum tdm_expr_op op = operator_function(name);
	if (op != TDM_EXPR_NOTHING)
		return eval_operator_call(frame, op, arguments);
	if (passes_through(name) && arguments->count == 1) {
		const struct tdm_expr *value = host_eval(frame, arguments->nodes[0]);
		bool is_format = tdm_str_is(name, "datatype_to_dataformat_converter");
		return is_format && value->op != TDM_EXPR_FORMAT && value->op != TDM_EXPR_CHOOSE && !value->is_parameter
			       ? host_unknown(frame, call)
			       : value;
	}
	if (tdm_str_is(name, "make_tuple") || tdm_str_is(name, "make_pair") || tdm_str_is(name, "tie") ||
		tdm_str_is(name, "tuple") || tdm_str_is(name, "ReaderDataMovementConfig") ||
		tdm_str_is(name, "WriterDataMovementConfig"))
		return list_of(frame, arguments);
	if (tdm_str_is(name, "CreateCircularBuffer"))
		return create_buffer(frame, call, arguments);
	if (tdm_str_is(name, "CreateKernel") || tdm_str_is(name, "CreateKernelFromString"))
		return create_kernel(frame, call, name, arguments);
	return binding_call(frame, name, arguments);
}

/* A call that nobody follows: its arguments may still create something, and it may change them. */
static const struct tdm_expr *unfollowed(
	struct host_frame *frame, uint32_t call, const struct host_arguments *arguments)
{
	for (uint32_t i = 0; frame->is_eager && i < arguments->count; i++)
		if (host_is_hot(frame->source, arguments->nodes[i]) &&
			tdm_node_kind(frame->source->syntax, arguments->nodes[i]) != TDM_SYN_lambda_expression)
			host_typed(frame, host_eval(frame, arguments->nodes[i]), arguments->nodes[i]);
	uint32_t function = tdm_node_with_role(frame->source->syntax, call, TDM_ROLE_function);
	for (uint32_t i = 0; host_may_change(host_last_name(frame->source, function)) && i < arguments->count; i++)
		if (tdm_node_kind(frame->source->syntax, arguments->nodes[i]) == TDM_SYN_identifier)
			host_note_changed(frame, arguments->nodes[i]);
	return host_unknown(frame, call);
}

const struct tdm_expr *host_call(struct host_frame *frame, uint32_t node)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	uint32_t function = tdm_node_with_role(syntax, node, TDM_ROLE_function);
	uint32_t list = tdm_node_with_role(syntax, node, TDM_ROLE_arguments);
	struct tdm_str name = host_last_name(frame->source, function);
	const struct tdm_expr *result = NULL;
	if (tdm_node_kind(syntax, function) == TDM_SYN_field_expression && host_method(frame, node, name, &result))
		return result;
	struct host_arguments arguments = arguments_of(frame->source, list);
	uint8_t type = host_type_of(name);
	if (type == TDM_SHAPE_CB_CONFIG)
		return host_config(frame, function, list);
	if (type != HOST_TYPE_NONE)
		return host_object(frame, name, function, list);
	if (tdm_node_kind(syntax, function) == TDM_SYN_lambda_expression) {
		const struct tdm_expr *value = host_eval(frame, function);
		return value->op == TDM_EXPR_OPAQUE ? host_call_lambda(frame, node, value->opaque, &arguments) : value;
	}
	const struct tdm_expr *variable =
		tdm_node_kind(syntax, function) == TDM_SYN_identifier ? host_lookup(frame, name) : NULL;
	if (variable != NULL && variable->op == TDM_EXPR_OPAQUE)
		return host_call_lambda(frame, node, variable->opaque, &arguments);
	result = known_call(frame, node, name, &arguments);
	if (result != NULL)
		return result;
	struct tdm_definition *helper = host_helper_for(frame, name, &arguments);
	if (helper != NULL && host_verdict(frame, helper) == TDM_VERDICT_HELPER)
		return host_call_function(frame, node, helper, &arguments);
	bool is_defined = host_is_defined(frame, name);
	frame->host->calls_creator |= is_defined && frame->is_eager;
	result = !is_defined ? known_helper(frame, node, name, &arguments) : NULL;
	return result != NULL ? result : unfollowed(frame, node, &arguments);
}
