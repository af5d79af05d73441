/* Calls: functions whose meaning is known, helpers that are followed, and those that are not. */
#include "scan/host.h"

#include <stdlib.h>

#include "base/number.h"

static const struct tdm_str no_text = { "", 0 };

enum { ARGS_MAX = 32 };

/* The arguments of a call. */
struct arguments {
	uint32_t nodes[ARGS_MAX];
	uint32_t count;
	bool are_all; /* false: there are more */
};

static struct arguments arguments_of(const struct host_source *source, uint32_t list)
{
	struct arguments arguments = { .are_all = true };
	for (TDM_NODE_CHILDREN(child, source->syntax, list)) {
		if (arguments.count == ARGS_MAX) {
			arguments.are_all = false;
			break;
		}
		arguments.nodes[arguments.count++] = child;
	}
	return arguments;
}

static const struct tdm_expr *list_of(struct host_frame *frame, const struct arguments *arguments)
{
	const struct tdm_expr *args[ARGS_MAX];
	for (uint32_t i = 0; i < arguments->count; i++)
		args[i] = host_eval(frame, arguments->nodes[i]);
	return tdm_expr_make(frame->host->arena, TDM_EXPR_LIST, no_text, args, arguments->count);
}

/* min and max of two or more, or of a list. */
static const struct tdm_expr *eval_extreme(
	struct host_frame *frame, enum tdm_expr_op op, const struct arguments *arguments)
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
	struct host_frame *frame, enum tdm_expr_op op, const struct arguments *arguments)
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

/* What a function returned: the last value, and before it those that conditions chose. */
const struct tdm_expr *host_results(struct host_frame *frame)
{
	const struct tdm_expr *result = NULL;
	for (struct host_return *r = frame->returns; r != NULL; r = r->next) {
		if (r->branch == frame->base_branch || result == NULL) {
			result = r->value;
			continue;
		}
		result = host_merge(frame->host, r->branch->condition, r->value, result);
	}
	return result != NULL ? result : &tdm_expr_nothing;
}

static struct tdm_str parameter_name(const struct tdm_syntax *syntax, uint32_t declarator)
{
	for (int depth = 0; depth < HOST_DEPTH_MAX && declarator != TDM_NODE_NONE; depth++) {
		if (tdm_node_kind(syntax, declarator) == TDM_SYN_identifier)
			return tdm_node_text(syntax, declarator);
		uint32_t inner = tdm_node_with_role(syntax, declarator, TDM_ROLE_declarator);
		if (inner == TDM_NODE_NONE)
			inner = tdm_node_first(syntax, declarator);
		declarator = inner;
	}
	return no_text;
}

static bool is_parameter(enum tdm_syntax_kind kind)
{
	return kind == TDM_SYN_parameter_declaration || kind == TDM_SYN_optional_parameter_declaration ||
	       kind == TDM_SYN_variadic_parameter_declaration;
}

/* Parameters without arguments: unknowns by their names. */
void host_bind_parameters(struct host_frame *frame, uint32_t list)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	for (TDM_NODE_CHILDREN(child, syntax, list)) {
		struct tdm_str name =
			is_parameter(tdm_node_kind(syntax, child))
				? parameter_name(syntax, tdm_node_with_role(syntax, child, TDM_ROLE_declarator))
				: no_text;
		const char *copy = name.len != 0 ? tdm_arena_text(frame->host->arena, name) : NULL;
		if (copy != NULL)
			host_bind_value(frame, name,
				tdm_expr_parameter(frame->host->arena, (struct tdm_str){ copy, name.len }), true);
	}
}

/* How many arguments a list of parameters takes at least and at most. */
static void count_parameters(const struct tdm_syntax *syntax, uint32_t list, uint32_t *least, uint32_t *most)
{
	*least = *most = 0;
	for (TDM_NODE_CHILDREN(child, syntax, list)) {
		enum tdm_syntax_kind kind = tdm_node_kind(syntax, child);
		if (!is_parameter(kind))
			continue;
		*least += kind == TDM_SYN_parameter_declaration;
		*most = kind == TDM_SYN_variadic_parameter_declaration ? UINT32_MAX : *most + (*most != UINT32_MAX);
	}
}

/* Binds parameters to arguments, which are evaluated in the caller's frame when they are needed, or to their defaults.
 */
static void bind_arguments(
	struct host_frame *frame, uint32_t list, const struct host_frame *caller, const struct arguments *arguments)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	uint32_t i = 0;
	for (TDM_NODE_CHILDREN(child, syntax, list)) {
		if (!is_parameter(tdm_node_kind(syntax, child)))
			continue;
		struct tdm_str name = parameter_name(syntax, tdm_node_with_role(syntax, child, TDM_ROLE_declarator));
		struct host_binding *binding = host_bind(frame, HOST_LAZY, name);
		if (binding == NULL)
			return;
		bool is_given = i < arguments->count;
		binding->is_declaration = binding->is_argument = true;
		binding->source = is_given ? caller->source : frame->source;
		binding->node =
			is_given ? arguments->nodes[i] : tdm_node_with_role(syntax, child, TDM_ROLE_default_value);
		binding->env = is_given ? caller->env : NULL;
		if (binding->node == TDM_NODE_NONE)
			binding->value =
				host_named(frame->host, tdm_str_of("nullptr")); /* its default is somewhere else */
		i++;
	}
}

/* Arguments that create something, or count up, are evaluated before the call, once. */
static void settle_arguments(struct host_frame *caller, struct host_frame *frame, const struct host_binding *stop)
{
	for (const struct host_binding *b = frame->env; b != stop && b != NULL; b = b->next) {
		struct host_binding *own = (struct host_binding *)(uintptr_t)b;
		if (own->node == TDM_NODE_NONE || own->source != caller->source)
			continue;
		struct tdm_str text = tdm_node_text(caller->source->syntax, own->node);
		bool has_effect = host_is_hot(caller->source, own->node) || memmem(text.ptr, text.len, "++", 2) != NULL;
		if (has_effect && caller->is_eager)
			own->value = host_eval(caller, own->node);
	}
}

/* Parameters that are references hand what was assigned to them back to the caller. */
static void hand_back(
	struct host_frame *caller, struct host_frame *frame, uint32_t list, const struct arguments *arguments)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	uint32_t i = 0;
	for (TDM_NODE_CHILDREN(child, syntax, list)) {
		if (!is_parameter(tdm_node_kind(syntax, child)) || i >= arguments->count)
			continue;
		uint32_t argument = arguments->nodes[i++];
		uint32_t declarator = tdm_node_with_role(syntax, child, TDM_ROLE_declarator);
		enum tdm_syntax_kind kind = tdm_node_kind(caller->source->syntax, argument);
		bool is_shared = tdm_node_kind(syntax, declarator) == TDM_SYN_reference_declarator &&
				 tdm_node_of_kind(syntax, child, TDM_SYN_type_qualifier) == TDM_NODE_NONE &&
				 (kind == TDM_SYN_identifier || kind == TDM_SYN_field_expression);
		if (!is_shared)
			continue;
		const struct tdm_expr *after = host_lookup(frame, parameter_name(syntax, declarator));
		const struct tdm_expr *before = host_eval(caller, argument);
		if (after != NULL && after != before)
			host_assign(caller, argument, after);
	}
}

static struct host_frame called_frame(struct host_frame *caller, const struct host_source *source)
{
	return (struct host_frame){ .host = caller->host,
		.source = source,
		.branch = caller->branch,
		.base_branch = caller->branch,
		.site = caller->site,
		.in_loop = caller->in_loop,
		.is_eager = caller->is_eager,
		.depth = caller->depth + 4 };
}

static const struct host_site *site_of(struct host_frame *caller, uint32_t call, struct tdm_str name)
{
	if (caller->site != NULL || !caller->source->is_file) {
		if (caller->source->is_file && caller->is_eager)
			host_mark_call(caller->host, (uint32_t)(name.ptr - caller->source->syntax->text.ptr));
		return caller->site;
	}
	struct host_site *site = tdm_arena_take(caller->host->arena, sizeof *site);
	if (site == NULL)
		return NULL;
	const struct tdm_syntax *syntax = caller->source->syntax;
	*site = (struct host_site){ tdm_walk_line(caller->host->walk, syntax->nodes[call].start),
		(uint32_t)(name.ptr - syntax->text.ptr), name };
	return site;
}

static const struct tdm_expr *call_lambda(
	struct host_frame *caller, uint32_t call, const struct host_lambda *lambda, const struct arguments *arguments)
{
	const struct tdm_syntax *syntax = lambda->source->syntax;
	if (caller->host->calls >= HOST_CALLS_MAX)
		return host_unknown(caller, call);
	uint32_t declarator = tdm_node_with_role(syntax, lambda->node, TDM_ROLE_declarator);
	uint32_t list = tdm_node_with_role(syntax, declarator, TDM_ROLE_parameters);
	struct host_frame frame = called_frame(caller, lambda->source);
	const struct host_binding *base = lambda->source == caller->source ? caller->env : lambda->env;
	struct tdm_str name =
		host_last_name(caller->source, tdm_node_with_role(caller->source->syntax, call, TDM_ROLE_function));
	frame.site = site_of(caller, call, name);
	frame.env = base;
	bind_arguments(&frame, list, caller, arguments);
	settle_arguments(caller, &frame, base);
	caller->host->active[caller->host->calls++] = NULL;
	host_walk_body(&frame, tdm_node_with_role(syntax, lambda->node, TDM_ROLE_body));
	caller->host->calls--;
	if (caller->is_eager)
		hand_back(caller, &frame, list, arguments);
	if (caller->is_eager && lambda->source == caller->source && caller->env == base) {
		host_leave_scope(&frame, base);
		caller->env = frame.env;
	}
	return host_results(&frame);
}

/* The parts of a piece that is a function. */
static uint32_t function_of(const struct tdm_syntax *syntax, uint32_t *parameters, uint32_t *body)
{
	for (uint32_t i = 0; i < syntax->count; i++) {
		if (tdm_node_kind(syntax, i) != TDM_SYN_function_definition)
			continue;
		*body = tdm_node_with_role(syntax, i, TDM_ROLE_body);
		*parameters = TDM_NODE_NONE;
		for (uint32_t n = i; n < *body && n < syntax->count && *parameters == TDM_NODE_NONE; n++)
			if (tdm_node_kind(syntax, n) == TDM_SYN_function_declarator)
				*parameters = tdm_node_with_role(syntax, n, TDM_ROLE_parameters);
		return *body != TDM_NODE_NONE && *parameters != TDM_NODE_NONE ? i : TDM_NODE_NONE;
	}
	return TDM_NODE_NONE;
}

static int by_byte(const void *a, const void *b)
{
	return tdm_order(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* A piece as a source: every name in it may matter, so that all of its statements are looked at. */
static const struct host_source *source_of(
	struct host *host, const struct tdm_definition *definition, const struct tdm_piece *piece)
{
	struct host_source *source = tdm_arena_take(host->arena, sizeof *source);
	uint32_t *hot = source != NULL ? tdm_arena_take(host->arena, sizeof *hot * piece->syntax.count) : NULL;
	if (hot == NULL)
		return NULL;
	size_t count = 0;
	for (uint32_t i = 0; i < piece->syntax.count; i++) {
		enum tdm_syntax_kind kind = tdm_node_kind(&piece->syntax, i);
		if (kind == TDM_SYN_call_expression || kind == TDM_SYN_compound_literal_expression ||
			kind == TDM_SYN_type_identifier)
			hot[count++] = piece->syntax.nodes[i].start;
	}
	qsort(hot, count, sizeof *hot, by_byte);
	*source = (struct host_source){
		.syntax = &piece->syntax, .file = definition->file, .hot = hot, .hot_count = count
	};
	return source;
}

/* Walks a function by itself, to see whether it is a helper. What it makes is forgotten. */
static int judge(struct host_frame *frame, struct tdm_definition *definition, const struct tdm_piece *piece)
{
	struct host *host = frame->host;
	uint32_t parameters, body;
	const struct host_source *source = source_of(host, definition, piece);
	if (source == NULL || function_of(&piece->syntax, &parameters, &body) == TDM_NODE_NONE ||
		host->calls >= HOST_CALLS_MAX)
		return TDM_VERDICT_OTHER;
	struct host_made *first = host->first, *last = host->last;
	size_t made_count = host->made_count;
	static const struct host_site nowhere = { 1, 0, { "", 0 } };
	struct host_frame inner = {
		.host = host, .source = source, .is_eager = true, .depth = frame->depth + 4, .site = &nowhere
	};
	host->first = host->last = NULL;
	host->active[host->calls++] = definition;
	host_bind_parameters(&inner, parameters);
	host_walk_body(&inner, body);
	host->calls--;
	int verdict = host_is_helper(host, definition->name) ? TDM_VERDICT_HELPER : TDM_VERDICT_OTHER;
	host->first = first;
	host->last = last;
	host->made_count = made_count;
	return verdict;
}

int host_verdict(struct host_frame *frame, struct tdm_definition *definition)
{
	int verdict = atomic_load(&definition->verdict);
	if (verdict != TDM_VERDICT_NONE)
		return verdict;
	struct tdm_file_walk *walk = frame->host->walk;
	const struct tdm_piece *piece = tdm_project_parse(walk->project, definition, walk->parser);
	verdict = piece != NULL ? judge(frame, definition, piece) : TDM_VERDICT_OTHER;
	atomic_store(&definition->verdict, verdict);
	return verdict;
}

static bool is_active(const struct host *host, const struct tdm_definition *definition)
{
	for (uint32_t i = 0; i < host->calls; i++)
		if (host->active[i] == definition)
			return true;
	return false;
}

static const struct tdm_expr *call_function(
	struct host_frame *caller, uint32_t call, struct tdm_definition *definition, const struct arguments *arguments)
{
	struct host *host = caller->host;
	struct tdm_file_walk *walk = host->walk;
	const struct tdm_piece *piece = tdm_project_parse(walk->project, definition, walk->parser);
	uint32_t parameters, body;
	const struct host_source *source = piece != NULL ? source_of(host, definition, piece) : NULL;
	if (source == NULL || function_of(&piece->syntax, &parameters, &body) == TDM_NODE_NONE)
		return host_unknown(caller, call);
	struct tdm_str name =
		host_last_name(caller->source, tdm_node_with_role(caller->source->syntax, call, TDM_ROLE_function));
	struct host_frame frame = called_frame(caller, source);
	frame.site = site_of(caller, call, name);
	bind_arguments(&frame, parameters, caller, arguments);
	settle_arguments(caller, &frame, NULL);
	host->active[host->calls++] = definition;
	host_walk_body(&frame, body);
	host->calls--;
	if (caller->is_eager)
		hand_back(caller, &frame, parameters, arguments);
	return host_results(&frame);
}

/* How well a definition suits a call: 0 not at all, more is better. */
static int suitability(struct host_frame *frame, struct tdm_definition *d, uint32_t arg_count)
{
	struct tdm_file_walk *walk = frame->host->walk;
	uint32_t parameters, body, least, most;
	if (d->kind != TDM_DEFINES_FUNCTION || is_active(frame->host, d))
		return 0;
	bool is_same_file = d->file == frame->source->file;
	if (d->is_private && !is_same_file)
		return 0;
	const struct tdm_piece *piece = tdm_project_parse(walk->project, d, walk->parser);
	if (piece == NULL || function_of(&piece->syntax, &parameters, &body) == TDM_NODE_NONE)
		return 0;
	count_parameters(&piece->syntax, parameters, &least, &most);
	/* Fewer arguments than the definition takes: its defaults may stand at a declaration. */
	if (arg_count > most || (arg_count < least && arg_count + 2 < least))
		return 0;
	int penalty = arg_count < least;
	if (is_same_file)
		return 6 - penalty;
	const char *path = walk->project->paths != NULL ? walk->project->paths[d->file] : NULL;
	const char *base = path != NULL && strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
	struct tdm_str text = walk->syntax->text;
	return base != NULL && memmem(text.ptr, text.len, base, strlen(base)) != NULL ? 4 - penalty : 2 - penalty;
}

static bool is_template(const struct tdm_definition *definition)
{
	static const char word[] = "template";
	return definition->text.len > sizeof word && memcmp(definition->text.ptr, word, sizeof word - 1) == 0;
}

/* The helper that a call means; NULL when there is none, or when several files have one and none is nearer. Of
 * overloads in one file, which take the same things in the same order, a template is for lists. */
static struct tdm_definition *helper_for(
	struct host_frame *frame, struct tdm_str name, const struct arguments *arguments)
{
	struct tdm_project *project = frame->host->walk->project;
	struct tdm_definition *best = NULL;
	int best_suits = 0;
	bool is_tie = false;
	if (project == NULL || frame->host->calls >= HOST_CALLS_MAX)
		return NULL;
	struct tdm_definition *first = tdm_project_find(project, name);
	bool wants_template = first != NULL && arguments->count != 0 &&
			      !host_is_hot(frame->source, arguments->nodes[0]) &&
			      tdm_node_kind(frame->source->syntax, arguments->nodes[0]) != TDM_SYN_update_expression &&
			      host_eval(frame, arguments->nodes[0])->op == TDM_EXPR_LIST;
	for (struct tdm_definition *d = first; d != NULL; d = tdm_definition_next(d)) {
		int suits = suitability(frame, d, arguments->count);
		if (suits == 0 || suits < best_suits)
			continue;
		bool is_better = suits > best_suits || (best->file == d->file && is_template(d) == wants_template);
		is_tie = suits == best_suits && best->file != d->file && !tdm_str_eq(best->text, d->text);
		best = is_better ? d : best;
		best_suits = suits;
	}
	return is_tie ? NULL : best;
}

static bool is_defined(const struct host_frame *frame, struct tdm_str name)
{
	struct tdm_project *project = frame->host->walk->project;
	for (struct tdm_definition *d = project != NULL ? tdm_project_find(project, name) : NULL; d != NULL;
		d = tdm_definition_next(d))
		if (d->kind == TDM_DEFINES_FUNCTION)
			return true;
	return false;
}

/* Helpers of the runtime's own libraries, where their definition is not among the files. */
static const struct tdm_expr *known_helper(
	struct host_frame *frame, uint32_t call, struct tdm_str name, const struct arguments *arguments)
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
	frame->site = site_of(frame, call, name);
	object = host_track(frame, object, TDM_SHAPE_CB_CONFIG, TDM_NODE_NONE);
	host_create(frame, object, cores, call);
	frame->site = before;
	return tdm_expr_field(object, "index");
}

/* CreateCircularBuffer(program, cores, config) and, for one in global memory, the global buffer after it. */
static const struct tdm_expr *create_buffer(struct host_frame *frame, uint32_t call, const struct arguments *arguments)
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
	struct host_frame *frame, uint32_t call, struct tdm_str name, const struct arguments *arguments)
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
	struct host_frame *frame, struct tdm_str name, const struct arguments *arguments)
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
	struct host_frame *frame, uint32_t call, struct tdm_str name, const struct arguments *arguments)
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

/* A call that nobody follows: its arguments may still create something, and it may add to a list. */
static const struct tdm_expr *unfollowed(struct host_frame *frame, uint32_t call, const struct arguments *arguments)
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
	struct arguments arguments = arguments_of(frame->source, list);
	uint8_t type = host_type_of(name);
	if (type == TDM_SHAPE_CB_CONFIG)
		return host_config(frame, function, list);
	if (type != HOST_TYPE_NONE)
		return host_object(frame, name, function, list);
	if (tdm_node_kind(syntax, function) == TDM_SYN_lambda_expression) {
		const struct tdm_expr *value = host_eval(frame, function);
		return value->op == TDM_EXPR_OPAQUE ? call_lambda(frame, node, value->opaque, &arguments) : value;
	}
	const struct tdm_expr *variable =
		tdm_node_kind(syntax, function) == TDM_SYN_identifier ? host_lookup(frame, name) : NULL;
	if (variable != NULL && variable->op == TDM_EXPR_OPAQUE)
		return call_lambda(frame, node, variable->opaque, &arguments);
	result = known_call(frame, node, name, &arguments);
	if (result != NULL)
		return result;
	struct tdm_definition *helper = helper_for(frame, name, &arguments);
	if (helper != NULL && host_verdict(frame, helper) == TDM_VERDICT_HELPER)
		return call_function(frame, node, helper, &arguments);
	result = !is_defined(frame, name) ? known_helper(frame, node, name, &arguments) : NULL;
	return result != NULL ? result : unfollowed(frame, node, &arguments);
}
