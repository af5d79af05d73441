/*
 * Follows calls into lambdas and into functions of the project. Parameters are bound to the arguments as expressions of
 * the caller, so that what a helper makes is described in the caller's terms. A function is followed only if it is a
 * helper; whether it is one is found by walking it once by itself, with its parameters unknown.
 */
#include "scan/host_parts.h"

#include <stdlib.h>

#include "base/number.h"

static const struct tdm_str no_text = { "", 0 };

static bool is_conditional(const struct host_frame *frame, const struct host_return *r)
{
	return r->branch != NULL && r->branch != frame->base_branch;
}

/* What a function returned: the last value, and before it those that conditions chose. */
const struct tdm_expr *host_results(struct host_frame *frame)
{
	const struct tdm_expr *result = NULL;
	for (struct host_return *r = frame->returns; r != NULL; r = r->next) {
		if (r->value == NULL)
			continue;
		result = result == NULL || !is_conditional(frame, r)
				 ? r->value
				 : host_merge(frame->host,
					   host_condition_within(frame->host, r->branch, frame->base_branch), r->value,
					   result);
	}
	return result != NULL ? result : &tdm_expr_nothing;
}

/* What the names stand for when a function has returned, from wherever it did. `entry`: its names at the beginning. */
static void join_returns(struct host_frame *frame, const struct host_binding *entry)
{
	const struct host_return *r = frame->returns;
	if (frame->has_ended && r != NULL) {
		frame->env = r->env;
		r = r->next;
	}
	for (; r != NULL; r = r->next) {
		const struct host_binding *after = frame->env;
		if (!is_conditional(frame, r) || (r->env == entry && after == entry))
			continue;
		frame->env = entry;
		struct host_binding *binding = host_bind(frame, HOST_JOIN, no_text);
		if (binding == NULL)
			return;
		binding->condition = host_condition_within(frame->host, r->branch, frame->base_branch);
		binding->env = r->env;
		binding->other = after;
	}
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

/* Binds parameters to arguments, which are evaluated in the caller's frame when they are needed, or to their defaults.
 */
static void bind_arguments(struct host_frame *frame, uint32_t list, const struct host_frame *caller,
	const struct host_arguments *arguments)
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
	struct host_frame *caller, struct host_frame *frame, uint32_t list, const struct host_arguments *arguments)
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

const struct host_site *host_site_of(struct host_frame *caller, uint32_t call, struct tdm_str name)
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

/* Walks the body of what is called, with its parameters bound. `definition`: NULL for a lambda. */
static void walk_called(struct host_frame *frame, const struct tdm_definition *definition, uint32_t body)
{
	struct host *host = frame->host;
	const struct host_binding *entry = frame->env;
	const struct host_made *last = host->last;
	uint64_t decided = host->decided;
	host->active[host->calls++] = definition;
	host_walk_body(frame, body);
	host->calls--;
	join_returns(frame, entry);
	/* The arguments decided that nothing is created. */
	if (host->last == last && host->decided != decided && frame->is_eager && frame->site != NULL)
		host_mark_nothing(host, frame->site->byte);
}

static bool is_called_there(const struct host_frame *caller, uint32_t call)
{
	const struct tdm_syntax *syntax = caller->source->syntax;
	return tdm_node_kind(syntax, tdm_node_with_role(syntax, call, TDM_ROLE_function)) == TDM_SYN_lambda_expression;
}

const struct tdm_expr *host_call_lambda(struct host_frame *caller, uint32_t call, const struct host_lambda *lambda,
	const struct host_arguments *arguments)
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
	/* One that is called where it is written is no helper. */
	frame.site = is_called_there(caller, call) ? caller->site : host_site_of(caller, call, name);
	frame.env = base;
	bind_arguments(&frame, list, caller, arguments);
	settle_arguments(caller, &frame, base);
	walk_called(&frame, NULL, tdm_node_with_role(syntax, lambda->node, TDM_ROLE_body));
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
	bool calls_creator = host->calls_creator;
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
	host->calls_creator = calls_creator;
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

const struct tdm_expr *host_call_function(struct host_frame *caller, uint32_t call, struct tdm_definition *definition,
	const struct host_arguments *arguments)
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
	frame.site = host_site_of(caller, call, name);
	bind_arguments(&frame, parameters, caller, arguments);
	settle_arguments(caller, &frame, NULL);
	walk_called(&frame, definition, body);
	if (caller->is_eager)
		hand_back(caller, &frame, parameters, arguments);
	return host_results(&frame);
}

/* A helper calls itself. */
static void note_cut(struct host_frame *frame)
{
	struct host *host = frame->host;
	if (frame->site != NULL && frame->is_eager && host->cut_count < HOST_CUTS_MAX)
		host->cut_sites[host->cut_count++] = frame->site->byte;
}

/* How well a definition suits a call: 0 not at all, more is better. */
static int suitability(struct host_frame *frame, struct tdm_definition *d, uint32_t arg_count)
{
	struct tdm_file_walk *walk = frame->host->walk;
	if (d->kind != TDM_DEFINES_FUNCTION || is_active(frame->host, d))
		return 0;
	bool is_same_file = d->file == frame->source->file;
	if (d->is_private && !is_same_file)
		return 0;
	/* Fewer arguments than the definition takes: its defaults may stand at a declaration. */
	if (arg_count > d->most || (arg_count < d->least && arg_count + 2 < d->least))
		return 0;
	int penalty = arg_count < d->least;
	if (is_same_file)
		return 6 - penalty;
	const char *path = walk->project->paths != NULL ? walk->project->paths[d->file] : NULL;
	const char *base = path != NULL && strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
	struct tdm_str text = walk->syntax->text;
	return base != NULL && memmem(text.ptr, text.len, base, strlen(base)) != NULL ? 4 - penalty : 2 - penalty;
}

/* The helper that a call means; NULL when there is none, or when several files have one and none is nearer. Of
 * overloads in one file, which take the same things in the same order, a template is for lists. */
struct tdm_definition *host_helper_for(
	struct host_frame *frame, struct tdm_str name, const struct host_arguments *arguments)
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
	bool calls_itself = false;
	for (struct tdm_definition *d = first; d != NULL; d = tdm_definition_next(d)) {
		calls_itself |= is_active(frame->host, d);
		int suits = suitability(frame, d, arguments->count);
		if (suits == 0 || suits < best_suits)
			continue;
		bool is_better = suits > best_suits || (best->file == d->file && d->is_template == wants_template);
		is_tie = suits == best_suits && best->file != d->file && !tdm_str_eq(best->text, d->text);
		best = is_better ? d : best;
		best_suits = suits;
	}
	if (best == NULL && calls_itself)
		note_cut(frame);
	return is_tie ? NULL : best;
}

bool host_is_defined(const struct host_frame *frame, struct tdm_str name)
{
	struct tdm_project *project = frame->host->walk->project;
	for (struct tdm_definition *d = project != NULL ? tdm_project_find(project, name) : NULL; d != NULL;
		d = tdm_definition_next(d))
		if (d->kind == TDM_DEFINES_FUNCTION)
			return true;
	return false;
}
