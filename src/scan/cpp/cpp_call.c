/*
 * Calls. Some functions have a known meaning, lambdas and helpers are followed, and all others may change their
 * arguments. Parameters are bound to the caller's expressions, so a helper's objects are described in the caller's
 * terms. A function is followed only if it is a helper; to find out, it is first walked once by itself, with unknown
 * parameters.
 */
#include "scan/cpp/cpp.h"

#include <stdlib.h>

#include "base/number.h"

/* ---- lambdas and project functions ---- */

static bool is_conditional(const struct cpp_frame *frame, const struct cpp_return *r)
{
	return r->branch != NULL && r->branch != frame->base_branch;
}

/* The value returned by a function: the last returned value, unless the condition of an earlier return holds. */
static const struct tdm_expr *results(struct cpp_frame *frame)
{
	const struct tdm_expr *result = NULL;
	for (struct cpp_return *r = frame->returns; r != NULL; r = r->next) {
		if (r->value == NULL)
			continue;
		result =
			result == NULL || !is_conditional(frame, r)
				? r->value
				: cpp_merge(frame->cpp, cpp_condition_within(frame->cpp, r->branch, frame->base_branch),
					  r->value, result);
	}
	return result != NULL ? result : &tdm_expr_nothing;
}

/* Joins the environments of all returns in a function. `entry`: the environment at the beginning. */
static void join_returns(struct cpp_frame *frame, const struct cpp_binding *entry)
{
	const struct cpp_return *r = frame->returns;
	if (frame->has_ended && r != NULL) {
		frame->env = r->env;
		r = r->next;
	}
	for (; r != NULL; r = r->next) {
		const struct cpp_binding *after = frame->env;
		if (!is_conditional(frame, r) || (r->env == entry && after == entry))
			continue;
		frame->env = entry;
		struct cpp_binding *binding = cpp_bind(frame, CPP_JOIN, tdm_no_text);
		binding->condition = cpp_condition_within(frame->cpp, r->branch, frame->base_branch);
		binding->env = r->env;
		binding->other = after;
	}
}

static bool is_parameter(enum tdm_syntax_kind kind)
{
	return kind == TDM_SYN_parameter_declaration || kind == TDM_SYN_optional_parameter_declaration ||
	       kind == TDM_SYN_variadic_parameter_declaration;
}

/* The name of a parameter; "" for other nodes. */
static struct tdm_str parameter_name(const struct tdm_syntax *syntax, uint32_t parameter)
{
	uint32_t name = cpp_declared_name(syntax, tdm_node_part(syntax, parameter, TDM_ROLE_declarator));
	bool is_name =
		is_parameter(tdm_node_kind(syntax, parameter)) && tdm_node_kind(syntax, name) == TDM_SYN_identifier;
	return tdm_node_text(syntax, is_name ? name : TDM_NODE_NONE);
}

/* Binds parameters to unknowns of the same name. */
void cpp_bind_parameters(struct cpp_frame *frame, uint32_t list)
{
	for (TDM_NODE_CHILDREN(child, frame->source->syntax, list)) {
		struct tdm_str name = parameter_name(frame->source->syntax, child);
		if (name.len != 0)
			cpp_bind_value(frame, name,
				tdm_expr_name(frame->arena, tdm_arena_str(frame->arena, name), true), true);
	}
}

/* Binds parameters to arguments, which are evaluated in the caller's frame on demand, or to default values. */
static void bind_arguments(
	struct cpp_frame *frame, uint32_t list, const struct cpp_frame *caller, const struct cpp_arguments *arguments)
{
	uint32_t i = 0;
	for (TDM_NODE_CHILDREN(child, frame->source->syntax, list)) {
		if (!is_parameter(cpp_kind(frame, child)))
			continue;
		struct tdm_str name = parameter_name(frame->source->syntax, child);
		struct cpp_binding *binding = cpp_bind(frame, CPP_LAZY, name);
		bool is_given = i < arguments->count;
		binding->is_declaration = binding->is_argument = true;
		binding->source = is_given ? caller->source : frame->source;
		binding->node = is_given ? arguments->nodes[i] : cpp_part(frame, child, TDM_ROLE_default_value);
		binding->env = is_given ? caller->env : NULL;
		if (binding->node == TDM_NODE_NONE)
			binding->value = cpp_named(
				frame->cpp, tdm_str_of("nullptr")); /* the default value is at another declaration */
		i++;
	}
}

/* Evaluates arguments that create or count something, once, before the call. */
static void settle_arguments(struct cpp_frame *caller, struct cpp_frame *frame, const struct cpp_binding *stop)
{
	for (const struct cpp_binding *b = frame->env; b != stop && b != NULL; b = b->next) {
		struct cpp_binding *own = (struct cpp_binding *)(uintptr_t)b;
		if (own->node == TDM_NODE_NONE || own->source != caller->source)
			continue;
		struct tdm_str text = tdm_node_text(caller->source->syntax, own->node);
		bool has_effect = cpp_is_hot(caller->source, own->node) || tdm_contains(text, "++");
		if (has_effect && caller->is_eager)
			own->value = cpp_eval(caller, own->node);
	}
}

/* Assigns the final values of reference parameters back to the caller's variables. */
static void hand_back(
	struct cpp_frame *caller, struct cpp_frame *frame, uint32_t list, const struct cpp_arguments *arguments)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	uint32_t i = 0;
	for (TDM_NODE_CHILDREN(child, syntax, list)) {
		if (!is_parameter(cpp_kind(frame, child)) || i >= arguments->count)
			continue;
		uint32_t argument = arguments->nodes[i++];
		uint32_t declarator = cpp_part(frame, child, TDM_ROLE_declarator);
		enum tdm_syntax_kind kind = tdm_node_kind(caller->source->syntax, argument);
		bool is_shared = cpp_kind(frame, declarator) == TDM_SYN_reference_declarator &&
				 tdm_node_of_kind(syntax, child, TDM_SYN_type_qualifier) == TDM_NODE_NONE &&
				 (kind == TDM_SYN_identifier || kind == TDM_SYN_field_expression);
		if (!is_shared)
			continue;
		const struct tdm_expr *after = cpp_lookup(frame, parameter_name(syntax, child));
		const struct tdm_expr *before = cpp_eval(caller, argument);
		if (after != NULL && after != before)
			cpp_assign(caller, argument, after);
	}
}

static struct cpp_frame called_frame(struct cpp_frame *caller, const struct cpp_source *source)
{
	return (struct cpp_frame){ .cpp = caller->cpp,
		.arena = caller->arena,
		.source = source,
		.branch = caller->branch,
		.base_branch = caller->branch,
		.site = caller->site,
		.in_loop = caller->in_loop,
		.is_eager = caller->is_eager,
		.depth = caller->depth + 4 };
}

const struct cpp_site *cpp_site_of(struct cpp_frame *caller, uint32_t call, struct tdm_str name)
{
	if (caller->site != NULL || !caller->source->is_file) {
		if (caller->source->is_file && caller->is_eager)
			cpp_mark(caller->cpp, (uint32_t)(name.ptr - caller->source->syntax->text.ptr), TDM_GRASP_WHOLLY,
				"", true);
		return caller->site;
	}
	struct cpp_site *site = tdm_arena_take(caller->cpp->arena, sizeof *site);
	const struct tdm_syntax *syntax = caller->source->syntax;
	*site = (struct cpp_site){ tdm_walk_line(caller->cpp->walk, syntax->nodes[call].start),
		(uint32_t)(name.ptr - syntax->text.ptr), name };
	return site;
}

/* Walks the body of a called function in `frame`, with parameters bound. `definition` is NULL for a lambda. */
static const struct tdm_expr *follow(struct cpp_frame *caller, struct cpp_frame *frame,
	const struct tdm_definition *definition, uint32_t parameters, uint32_t body,
	const struct cpp_arguments *arguments)
{
	struct cpp *cpp = frame->cpp;
	const struct cpp_binding *base = frame->env;
	bind_arguments(frame, parameters, caller, arguments);
	settle_arguments(caller, frame, base);
	const struct cpp_binding *entry = frame->env;
	const struct cpp_made *last = cpp->last;
	uint64_t decided = cpp->decided;
	cpp->active[cpp->calls++] = definition;
	cpp_walk_body(frame, body);
	cpp->calls--;
	join_returns(frame, entry);
	/* With these arguments, nothing is created. */
	if (cpp->last == last && cpp->decided != decided && frame->is_eager && frame->site != NULL)
		cpp_mark(cpp, frame->site->byte, TDM_GRASP_WHOLLY, "", false);
	if (caller->is_eager)
		hand_back(caller, frame, parameters, arguments);
	return results(frame);
}

static const struct tdm_expr *call_lambda(struct cpp_frame *caller, uint32_t call, const struct cpp_binding *lambda,
	const struct cpp_arguments *arguments)
{
	const struct tdm_syntax *syntax = lambda->source->syntax;
	if (caller->cpp->calls >= CPP_CALLS_MAX)
		return cpp_unknown(caller, call);
	uint32_t list =
		tdm_node_part(syntax, tdm_node_part(syntax, lambda->node, TDM_ROLE_declarator), TDM_ROLE_parameters);
	uint32_t function = cpp_part(caller, call, TDM_ROLE_function);
	struct cpp_frame frame = called_frame(caller, lambda->source);
	const struct cpp_binding *base = lambda->source == caller->source ? caller->env : lambda->env;
	/* A lambda called where it is defined is not a helper. */
	frame.site = cpp_kind(caller, function) == TDM_SYN_lambda_expression
			     ? caller->site
			     : cpp_site_of(caller, call, cpp_last_name(caller->source, function));
	frame.env = base;
	const struct tdm_expr *result =
		follow(caller, &frame, NULL, list, tdm_node_part(syntax, lambda->node, TDM_ROLE_body), arguments);
	if (caller->is_eager && lambda->source == caller->source && caller->env == base) {
		cpp_leave_scope(&frame, base);
		caller->env = frame.env;
	}
	return result;
}

/* Finds a function's parameters and body. */
static bool find_function(const struct tdm_syntax *syntax, uint32_t *parameters, uint32_t *body)
{
	uint32_t i = 0;
	*parameters = TDM_NODE_NONE;
	while (i < syntax->count && tdm_node_kind(syntax, i) != TDM_SYN_function_definition)
		i++;
	*body = tdm_node_part(syntax, i, TDM_ROLE_body);
	for (; i < *body && i < syntax->count && *parameters == TDM_NODE_NONE; i++)
		if (tdm_node_kind(syntax, i) == TDM_SYN_function_declarator)
			*parameters = tdm_node_part(syntax, i, TDM_ROLE_parameters);
	return *body != TDM_NODE_NONE && *parameters != TDM_NODE_NONE;
}

static int by_byte(const void *a, const void *b)
{
	return tdm_order(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* Makes a source from a piece of code. Any name in the piece may matter, so all statements are walked. */
static const struct cpp_source *source_of(
	struct cpp *cpp, const struct tdm_definition *definition, const struct tdm_syntax *piece)
{
	struct cpp_source *source = tdm_arena_take(cpp->arena, sizeof *source);
	uint32_t *hot = tdm_arena_take(cpp->arena, sizeof *hot * piece->count);
	size_t count = 0;
	for (uint32_t i = 0; i < piece->count; i++) {
		enum tdm_syntax_kind kind = tdm_node_kind(piece, i);
		if (kind == TDM_SYN_call_expression || kind == TDM_SYN_compound_literal_expression ||
			kind == TDM_SYN_type_identifier)
			hot[count++] = piece->nodes[i].start;
	}
	qsort(hot, count, sizeof *hot, by_byte);
	*source = (struct cpp_source){ .syntax = piece, .file = definition->file, .hot = hot, .hot_count = count };
	return source;
}

/* Whether a function is a helper: walks it by itself, and discards the objects created. */
static bool is_helper(struct cpp_frame *frame, struct tdm_definition *definition)
{
	static const struct cpp_site nowhere = { 1, 0, { "", 0 } };
	struct cpp *cpp = frame->cpp;
	uint32_t parameters, body;
	int verdict = atomic_load(&definition->verdict);
	if (verdict != TDM_VERDICT_NONE)
		return verdict == TDM_VERDICT_HELPER;
	const struct tdm_syntax *piece = tdm_project_parse(cpp->walk->project, definition, cpp->walk->parser);
	verdict = TDM_VERDICT_OTHER;
	if (piece != NULL && find_function(piece, &parameters, &body) && cpp->calls < CPP_CALLS_MAX) {
		struct cpp_made *first = cpp->first, *last = cpp->last;
		size_t made_count = cpp->made_count;
		struct cpp_frame inner = { .cpp = cpp,
			.arena = cpp->arena,
			.source = source_of(cpp, definition, piece),
			.is_eager = true,
			.depth = frame->depth + 4,
			.site = &nowhere };
		cpp->first = cpp->last = NULL;
		cpp->active[cpp->calls++] = definition;
		cpp_bind_parameters(&inner, parameters);
		cpp_walk_body(&inner, body);
		cpp->calls--;
		verdict = cpp_is_helper(cpp, definition->name) ? TDM_VERDICT_HELPER : TDM_VERDICT_OTHER;
		cpp->first = first;
		cpp->last = last;
		cpp->made_count = made_count;
	}
	atomic_store(&definition->verdict, verdict);
	return verdict == TDM_VERDICT_HELPER;
}

static bool is_active(const struct cpp *cpp, const struct tdm_definition *definition)
{
	for (uint32_t i = 0; i < cpp->calls; i++)
		if (cpp->active[i] == definition)
			return true;
	return false;
}

static const struct tdm_expr *call_function(struct cpp_frame *caller, uint32_t call, struct tdm_definition *definition,
	const struct cpp_arguments *arguments)
{
	struct tdm_file_walk *walk = caller->cpp->walk;
	const struct tdm_syntax *piece = tdm_project_parse(walk->project, definition, walk->parser);
	uint32_t parameters, body;
	if (piece == NULL || !find_function(piece, &parameters, &body))
		return cpp_unknown(caller, call);
	struct cpp_frame frame = called_frame(caller, source_of(caller->cpp, definition, piece));
	uint32_t function = cpp_part(caller, call, TDM_ROLE_function);
	frame.site = cpp_site_of(caller, call, cpp_last_name(caller->source, function));
	return follow(caller, &frame, definition, parameters, body, arguments);
}

/* How well a definition matches a call: 0 for no match, more is better. */
static int suitability(struct cpp_frame *frame, struct tdm_definition *d, uint32_t arg_count)
{
	struct tdm_file_walk *walk = frame->cpp->walk;
	if (d->kind != TDM_DEFINES_FUNCTION || is_active(frame->cpp, d))
		return 0;
	bool is_same_file = d->file == frame->source->file;
	if (d->is_private && !is_same_file)
		return 0;
	/* Up to two arguments may be missing, because another declaration may define default values. */
	if (arg_count > d->most || (arg_count < d->least && arg_count + 2 < d->least))
		return 0;
	int penalty = arg_count < d->least;
	if (is_same_file)
		return 6 - penalty;
	bool is_included = tdm_contains(walk->syntax->text, tdm_project_base(walk->project, d->file));
	return (is_included ? 4 : 2) - penalty;
}

/* The helper being called. NULL if there is none, or if several files define one and no file is nearer than the others.
 * If a file has overloads with equal parameters, the template is the overload for lists. */
static struct tdm_definition *helper_for(
	struct cpp_frame *frame, struct tdm_str name, const struct cpp_arguments *arguments)
{
	struct tdm_project *project = frame->cpp->walk->project;
	struct tdm_definition *best = NULL;
	int best_suits = 0;
	bool is_tie = false;
	if (frame->cpp->calls >= CPP_CALLS_MAX)
		return NULL;
	struct tdm_definition *first = tdm_project_find(project, name);
	bool wants_template = first != NULL && arguments->count != 0 &&
			      !cpp_is_hot(frame->source, arguments->nodes[0]) &&
			      cpp_kind(frame, arguments->nodes[0]) != TDM_SYN_update_expression &&
			      cpp_eval(frame, arguments->nodes[0])->op == TDM_EXPR_LIST;
	bool calls_itself = false;
	for (struct tdm_definition *d = first; d != NULL; d = tdm_definition_next(d)) {
		calls_itself |= is_active(frame->cpp, d);
		int suits = suitability(frame, d, arguments->count);
		if (suits == 0 || suits < best_suits)
			continue;
		bool is_better = suits > best_suits || (best->file == d->file && d->is_template == wants_template);
		is_tie = suits == best_suits && best->file != d->file && !tdm_str_eq(best->text, d->text);
		best = is_better ? d : best;
		best_suits = suits;
	}
	struct cpp *cpp = frame->cpp;
	if (best == NULL && calls_itself && frame->site != NULL && frame->is_eager && cpp->cut_count < CPP_CUTS_MAX)
		cpp->cut_sites[cpp->cut_count++] = frame->site->byte;
	return is_tie ? NULL : best;
}

bool cpp_is_defined(const struct cpp *cpp, struct tdm_str name)
{
	for (struct tdm_definition *d = tdm_project_find(cpp->walk->project, name); d != NULL;
		d = tdm_definition_next(d))
		if (d->kind == TDM_DEFINES_FUNCTION)
			return true;
	return false;
}

/* ---- functions with a known meaning ---- */

static struct cpp_arguments arguments_of(const struct cpp_source *source, uint32_t list)
{
	struct cpp_arguments arguments = { .are_all = true };
	for (TDM_NODE_CHILDREN(child, source->syntax, list)) {
		if (arguments.count == CPP_ARGS_MAX) {
			arguments.are_all = false;
			break;
		}
		arguments.nodes[arguments.count++] = child;
	}
	return arguments;
}

static const struct tdm_expr *list_of(struct cpp_frame *frame, const struct cpp_arguments *arguments)
{
	const struct tdm_expr *args[CPP_ARGS_MAX];
	for (uint32_t i = 0; i < arguments->count; i++)
		args[i] = cpp_eval(frame, arguments->nodes[i]);
	return tdm_expr_list(frame->arena, args, arguments->count);
}

/* The operator that is equivalent to a function. */
static enum tdm_expr_op operator_function(struct tdm_str name)
{
	static const char *const names[TDM_EXPR_OP_COUNT] = {
		[TDM_EXPR_MIN] = "min",
		[TDM_EXPR_MAX] = "max",
		[TDM_EXPR_DIVIDE_UP] = "div_up ceil_div div_ceil divup",
		[TDM_EXPR_ROUND_UP] = "round_up align align_up",
		[TDM_EXPR_ROUND_DOWN] = "round_down",
		[TDM_EXPR_TILE_SIZE] = "tile_size TileSize",
		[TDM_EXPR_DATUM_SIZE] = "datum_size",
	};
	for (int op = TDM_EXPR_MIN; op < TDM_EXPR_OP_COUNT; op++)
		if (names[op] != NULL && tdm_is_one_of(name, names[op]))
			return (enum tdm_expr_op)op;
	return TDM_EXPR_NOTHING;
}

/* Functions and types that return their argument: casts, moves, wrappers. */
static bool passes_through(struct tdm_str name)
{
	static const char names[] =
		"static_cast uint32_t uint8_t uint16_t uint64_t int32_t int64_t int size_t move forward "
		"optional make_optional ref cref as_const DFBSpecName KernelSpecName string to_underlying unsigned "
		"datatype_to_dataformat_converter CBIndex bool ScratchpadSpecName TensorParamName reinterpret_cast "
		"const_cast get_cb_index string_view path TensorParameterName " CPP_BUFFER_TYPES;
	return tdm_is_one_of(name, names);
}

static const struct tdm_expr *eval_operator_call(
	struct cpp_frame *frame, enum tdm_expr_op op, const struct cpp_arguments *arguments)
{
	bool is_extreme = op == TDM_EXPR_MIN || op == TDM_EXPR_MAX;
	uint32_t wanted = op == TDM_EXPR_TILE_SIZE || op == TDM_EXPR_DATUM_SIZE ? 1 : 2;
	if (!is_extreme && arguments->count != wanted)
		return NULL;
	const struct tdm_expr *list = list_of(frame, arguments);
	if (!is_extreme)
		return list->op == TDM_EXPR_LIST ? tdm_expr_make(frame->arena, op, tdm_no_text, list->args, wanted)
						 : list;
	if (list->op == TDM_EXPR_LIST && list->arg_count == 1 && list->args[0]->op == TDM_EXPR_LIST)
		list = list->args[0];
	if (list->op != TDM_EXPR_LIST || list->arg_count < 2)
		return NULL;
	const struct tdm_expr *result = list->args[0]; /* min and max of two or more values, or of a list */
	for (uint32_t i = 1; i < list->arg_count; i++)
		result = tdm_expr_binary(frame->arena, op, result, list->args[i]);
	return result;
}

/* An object whose fields are the arguments of a call; arguments named "" are left out. */
static const struct tdm_expr *object_of(
	struct cpp_frame *frame, const char *type, const char *const *names, const struct cpp_arguments *arguments)
{
	const struct tdm_expr *object = tdm_expr_make(frame->arena, TDM_EXPR_OBJECT, tdm_str_of(type), NULL, 0);
	for (uint32_t i = 0; i < arguments->count && names[i] != NULL; i++)
		if (names[i][0] != '\0')
			object = tdm_expr_with_field(
				frame->arena, object, names[i], cpp_eval(frame, arguments->nodes[i]));
	return object;
}

/* Helpers in the runtime's libraries, for scans without their definitions. */
static const struct tdm_expr *known_helper(
	struct cpp_frame *frame, uint32_t call, struct tdm_str name, const struct cpp_arguments *arguments)
{
	static const char *const create_cb[] = { "index", "", "cores", "page", "pages", "format", "buffer", NULL };
	static const char *const create_circular_buffer[] = { "", "cores", "index", "format", "page", "pages", NULL };
	const char *const *roles = tdm_str_is(name, "create_cb")                ? create_cb
				   : tdm_str_is(name, "create_circular_buffer") ? create_circular_buffer
										: NULL;
	if (roles == NULL || !frame->is_eager || arguments->count < 6 || arguments->count > 7)
		return NULL;
	struct tdm_arena *arena = frame->arena;
	const struct tdm_expr *object = object_of(frame, "CircularBufferConfig", roles, arguments);
	const struct tdm_expr *page = tdm_expr_field(object, "page");
	const struct tdm_expr *total = tdm_expr_binary(arena, TDM_EXPR_MULTIPLY, tdm_expr_field(object, "pages"), page);
	const struct tdm_expr *pair[] = { tdm_expr_field(object, "index"), tdm_expr_field(object, "format") };
	const struct tdm_expr *format = tdm_expr_list(arena, pair, 2);
	const struct tdm_expr *cores = tdm_expr_field(object, "cores");
	object = tdm_expr_with_field(arena, object, "total_size", total);
	object = tdm_expr_with_field(arena, object, "page_size", page);
	object = tdm_expr_with_field(arena, object, "formats", tdm_expr_list(arena, &format, 1));
	const struct cpp_site *before = frame->site;
	frame->site = cpp_site_of(frame, call, name);
	object = cpp_track(frame, object, TDM_SHAPE_CB_CONFIG, TDM_NODE_NONE);
	cpp_create(frame, object, cores, call);
	frame->site = before;
	const struct tdm_expr *results[] = { pair[0], cpp_unknown(frame, call) };
	return roles == create_cb ? tdm_expr_list(arena, results, 2) : results[1];
}

/* Device functions that return an argument of the kernel. */
static const char given_by_host[] =
	"get_compile_time_arg_val get_named_compile_time_arg_val get_arg get_arg_val get_common_arg_val";

/* The value of a call to a function with a known meaning, else NULL. */
static const struct tdm_expr *known_call(
	struct cpp_frame *frame, uint32_t call, struct tdm_str name, const struct cpp_arguments *arguments)
{
	static const char *const kernel[] = { "", "source", "cores", "config", NULL };
	static const char *const binding[] = { "dfb_spec_name", "accessor_name", NULL };
	enum tdm_expr_op op = operator_function(name);
	if (op != TDM_EXPR_NOTHING)
		return eval_operator_call(frame, op, arguments);
	if (passes_through(name) && arguments->count == 1) {
		const struct tdm_expr *value = cpp_eval(frame, arguments->nodes[0]);
		bool is_format = tdm_str_is(name, "datatype_to_dataformat_converter");
		return is_format && value->op != TDM_EXPR_FORMAT && value->op != TDM_EXPR_CHOOSE && !value->is_parameter
			       ? cpp_unknown(frame, call)
			       : value;
	}
	if (tdm_is_one_of(name, "make_tuple make_pair tie tuple ReaderDataMovementConfig WriterDataMovementConfig"))
		return list_of(frame, arguments);
	if (tdm_is_one_of(name, given_by_host) && arguments->count == 1 && frame->cpp->walk->file->has_device) {
		const struct tdm_expr *which = cpp_eval(frame, arguments->nodes[0]);
		struct tdm_expr given =
			*tdm_expr_make(frame->arena, TDM_EXPR_CALL, tdm_arena_str(frame->arena, name), &which, 1);
		given.is_parameter = true; /* shown instead of the variable's name */
		return tdm_expr_of(frame->arena, given);
	}
	/* arguments: program, cores, config, and possibly a global buffer */
	if (tdm_str_is(name, "CreateCircularBuffer")) {
		if (arguments->count < 3)
			return cpp_unknown(frame, call);
		const struct tdm_expr *cores = cpp_eval(frame, arguments->nodes[1]);
		const struct tdm_expr *config = cpp_eval(frame, arguments->nodes[2]);
		if (arguments->count == 4 && config->op == TDM_EXPR_OBJECT)
			config = tdm_expr_with_field(
				frame->arena, config, "buffer", cpp_eval(frame, arguments->nodes[3]));
		cpp_create(frame, config, cores, call);
		return cpp_unknown(frame, call);
	}
	if (tdm_is_one_of(name, "CreateKernel CreateKernelFromString")) {
		cpp_track(frame, object_of(frame, "CreateKernel", kernel, arguments), CPP_TYPE_KERNEL,
			cpp_part(frame, call, TDM_ROLE_function));
		return cpp_unknown(frame, call);
	}
	/* ProducerOf(buffer, accessor) and the like bind a dataflow buffer to a name in the kernel. */
	return tdm_is_one_of(name, "ProducerOf ConsumerOf StridedConsumerOf AllConsumerOf") && arguments->count == 2
		       ? object_of(frame, "DFBBinding", binding, arguments)
		       : NULL;
}

/* A call to an unfollowed function. Its arguments may create something, and the function may change them. */
static const struct tdm_expr *unfollowed(struct cpp_frame *frame, uint32_t call, const struct cpp_arguments *arguments)
{
	for (uint32_t i = 0; frame->is_eager && i < arguments->count; i++)
		if (cpp_is_hot(frame->source, arguments->nodes[i]) &&
			cpp_kind(frame, arguments->nodes[i]) != TDM_SYN_lambda_expression)
			cpp_typed(frame, cpp_eval(frame, arguments->nodes[i]), arguments->nodes[i]);
	uint32_t function = cpp_part(frame, call, TDM_ROLE_function);
	for (uint32_t i = 0; cpp_may_change(cpp_last_name(frame->source, function)) && i < arguments->count; i++)
		if (cpp_kind(frame, arguments->nodes[i]) == TDM_SYN_identifier)
			cpp_note_changed(frame, arguments->nodes[i]);
	return cpp_unknown(frame, call);
}

const struct tdm_expr *cpp_call(struct cpp_frame *frame, uint32_t node)
{
	uint32_t function = cpp_part(frame, node, TDM_ROLE_function);
	uint32_t list = cpp_part(frame, node, TDM_ROLE_arguments);
	struct tdm_str name = cpp_last_name(frame->source, function);
	const struct tdm_expr *result = NULL;
	if (cpp_operation(frame, node, name))
		return &tdm_expr_nothing;
	if (cpp_kind(frame, function) == TDM_SYN_field_expression && cpp_method(frame, node, name, &result))
		return result;
	struct cpp_arguments arguments = arguments_of(frame->source, list);
	uint8_t type = cpp_type_of(name);
	if (type == TDM_SHAPE_CB_CONFIG)
		return cpp_config(frame, function, list);
	if (type != CPP_TYPE_NONE)
		return cpp_object(frame, name, function, list);
	if (cpp_kind(frame, function) == TDM_SYN_lambda_expression) {
		const struct tdm_expr *value = cpp_eval(frame, function);
		return value->op == TDM_EXPR_OPAQUE ? call_lambda(frame, node, value->opaque, &arguments) : value;
	}
	const struct tdm_expr *variable =
		cpp_kind(frame, function) == TDM_SYN_identifier ? cpp_lookup(frame, name) : NULL;
	if (variable != NULL && variable->op == TDM_EXPR_OPAQUE)
		return call_lambda(frame, node, variable->opaque, &arguments);
	result = known_call(frame, node, name, &arguments);
	if (result != NULL)
		return result;
	struct tdm_definition *helper = helper_for(frame, name, &arguments);
	if (helper != NULL && is_helper(frame, helper))
		return call_function(frame, node, helper, &arguments);
	result = !cpp_is_defined(frame->cpp, name) ? known_helper(frame, node, name, &arguments) : NULL;
	return result != NULL ? result : unfollowed(frame, node, &arguments);
}
