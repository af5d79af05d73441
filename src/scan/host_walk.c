/* Walks the statements of functions, and the functions of a file. */
#include "scan/host_parts.h"

#include <errno.h>
#include <stdlib.h>

static const struct tdm_str no_text = { "", 0 };

static void walk_children(struct host_frame *frame, uint32_t node)
{
	for (TDM_NODE_CHILDREN(child, frame->source->syntax, node)) {
		if (frame->has_ended)
			return;
		host_walk(frame, child);
	}
}

static void walk_block(struct host_frame *frame, uint32_t node)
{
	const struct host_binding *base = frame->env;
	walk_children(frame, node);
	host_leave_scope(frame, base);
}

void host_walk_body(struct host_frame *frame, uint32_t body)
{
	if (body != TDM_NODE_NONE)
		walk_children(frame, body);
}

/* The variable at the heart of a declarator, through pointers, references and arrays. */
static uint32_t declared_name(const struct tdm_syntax *syntax, uint32_t declarator)
{
	for (int depth = 0; depth < HOST_DEPTH_MAX && declarator != TDM_NODE_NONE; depth++) {
		enum tdm_syntax_kind kind = tdm_node_kind(syntax, declarator);
		if (kind == TDM_SYN_identifier || kind == TDM_SYN_structured_binding_declarator)
			return declarator;
		uint32_t inner = tdm_node_with_role(syntax, declarator, TDM_ROLE_declarator);
		declarator = inner != TDM_NODE_NONE ? inner : tdm_node_first(syntax, declarator);
	}
	return TDM_NODE_NONE;
}

/* auto [a, b] = …: each name gets its part of a list. */
static void bind_parts(struct host_frame *frame, uint32_t names, const struct tdm_expr *value)
{
	uint32_t i = 0;
	for (TDM_NODE_CHILDREN(name, frame->source->syntax, names)) {
		struct tdm_str text = tdm_node_text(frame->source->syntax, name);
		bool is_known = value->op == TDM_EXPR_LIST && i < value->arg_count;
		host_bind_value(frame, text, is_known ? value->args[i] : host_named(frame->host, text), true);
		i++;
	}
}

/* A variable without a value. */
static const struct tdm_expr *empty_value(struct host_frame *frame, uint32_t type, struct tdm_str name)
{
	static const char *const containers[] = { "vector", "Group", "map", "unordered_map", "SmallVector", "array",
		"set" };
	struct tdm_str type_name = host_last_name(frame->source, type);
	uint8_t kind = host_type_of(type_name);
	const char *copy = tdm_arena_text(frame->host->arena, type_name);
	for (size_t i = 0; i < sizeof containers / sizeof *containers; i++)
		if (tdm_str_is(type_name, containers[i]))
			return tdm_expr_make(frame->host->arena, TDM_EXPR_LIST, no_text, NULL, 0);
	if (copy != NULL && (kind != HOST_TYPE_NONE || tdm_str_is(type_name, "CBFormatDescriptor"))) {
		const struct tdm_expr *object = tdm_expr_make(
			frame->host->arena, TDM_EXPR_OBJECT, (struct tdm_str){ copy, type_name.len }, NULL, 0);
		return host_declared(frame, type, name, host_track(frame, object, kind, type));
	}
	return host_named(frame->host, name);
}

/* Type name{…}, Type name(…): the value of an object whose type is known. NULL when it is another. */
static const struct tdm_expr *constructed(struct host_frame *frame, uint32_t type, uint32_t value)
{
	struct tdm_str type_name = host_last_name(frame->source, type);
	enum tdm_syntax_kind kind = tdm_node_kind(frame->source->syntax, value);
	uint8_t type_kind = host_type_of(type_name);
	bool is_known = type_kind != HOST_TYPE_NONE || tdm_str_is(type_name, "CBFormatDescriptor");
	if (kind == TDM_SYN_argument_list) {
		if (type_kind == TDM_SHAPE_CB_CONFIG)
			return host_config(frame, type, value);
		uint32_t first = tdm_node_first(frame->source->syntax, value);
		return first != TDM_NODE_NONE && tdm_node_child_count(frame->source->syntax, value) == 1
			       ? host_eval(frame, first)
			       : host_unknown(frame, value);
	}
	return kind == TDM_SYN_initializer_list && is_known ? host_object(frame, type_name, type, value) : NULL;
}

static bool is_made_of_known_type(const struct host_source *source, uint32_t type)
{
	return host_type_of(host_last_name(source, type)) != HOST_TYPE_NONE;
}

/* Whether the parameters of a list have names: then it declares a function. */
static bool has_names(const struct tdm_syntax *syntax, uint32_t list)
{
	for (TDM_NODE_CHILDREN(child, syntax, list))
		if (tdm_node_with_role(syntax, child, TDM_ROLE_declarator) != TDM_NODE_NONE)
			return true;
	return false;
}

/* auto x{value}: the value, which other types show by themselves. "auto x = {value}" is a list. */
static uint32_t bare_value(const struct host_source *source, uint32_t type, uint32_t declarator, uint32_t value)
{
	const struct tdm_syntax *syntax = source->syntax;
	bool is_bare = tdm_node_kind(syntax, value) == TDM_SYN_initializer_list &&
		       tdm_node_kind(syntax, type) == TDM_SYN_placeholder_type_specifier &&
		       tdm_node_child_count(syntax, value) == 1 &&
		       tdm_node_kind(syntax, tdm_node_first(syntax, value)) != TDM_SYN_initializer_pair;
	uint32_t start = syntax->nodes[declarator].start;
	return is_bare && memchr(syntax->text.ptr + start, '=', syntax->nodes[value].start - start) == NULL
		       ? tdm_node_first(syntax, value)
		       : value;
}

/* What "std::string path(value);" is made of; other values as they are. */
static uint32_t plain_value(const struct tdm_syntax *syntax, uint32_t value)
{
	bool is_one = tdm_node_kind(syntax, value) == TDM_SYN_argument_list && tdm_node_child_count(syntax, value) == 1;
	return is_one ? tdm_node_first(syntax, value) : value;
}

static void declare(struct host_frame *frame, uint32_t type, uint32_t declarator)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	bool has_value = tdm_node_kind(syntax, declarator) == TDM_SYN_init_declarator;
	uint32_t value_node = has_value ? tdm_node_with_role(syntax, declarator, TDM_ROLE_value) : TDM_NODE_NONE;
	uint32_t name_node = declared_name(
		syntax, has_value ? tdm_node_with_role(syntax, declarator, TDM_ROLE_declarator) : declarator);
	if (name_node == TDM_NODE_NONE)
		return;
	struct tdm_str name = tdm_node_text(syntax, name_node);
	bool is_array = has_value && tdm_node_kind(syntax, tdm_node_with_role(syntax, declarator,
								   TDM_ROLE_declarator)) == TDM_SYN_array_declarator;
	if (tdm_node_kind(syntax, declarator) == TDM_SYN_function_declarator) {
		/* "Type name(a);" may be an object just as well. */
		uint32_t list = tdm_node_with_role(syntax, declarator, TDM_ROLE_parameters);
		if (host_type_of(host_last_name(frame->source, type)) == TDM_SHAPE_CB_CONFIG &&
			!has_names(syntax, list)) {
			host_bind_value(
				frame, name, host_declared(frame, type, name, host_config(frame, type, list)), true);
		}
		return;
	}
	/* "Type &name(a);" can only be a function. */
	if (!has_value && tdm_node_of_kind(syntax, declarator, TDM_SYN_function_declarator) != TDM_NODE_NONE)
		return;
	bool is_parts = tdm_node_kind(syntax, name_node) == TDM_SYN_structured_binding_declarator;
	bool is_eager = is_parts || (frame->is_eager && host_has_effects(frame->source, declarator)) ||
			is_made_of_known_type(frame->source, type);
	if (value_node == TDM_NODE_NONE) {
		host_bind_value(frame, name, empty_value(frame, type, name), true);
		return;
	}
	value_node = bare_value(frame->source, type, declarator, value_node);
	if (!is_eager || tdm_node_kind(syntax, value_node) == TDM_SYN_lambda_expression) {
		const struct host_binding *env = frame->env;
		struct host_binding *binding = host_bind(frame, HOST_LAZY, name);
		if (binding != NULL) {
			binding->node = plain_value(syntax, value_node);
			binding->type = is_array ? TDM_NODE_NONE : type;
			binding->env = env;
			binding->is_declaration = true;
		}
		return;
	}
	const struct tdm_expr *value = constructed(frame, type, value_node);
	if (value == NULL)
		value = host_eval(frame, value_node);
	if (is_parts) {
		bind_parts(frame, name_node, value);
		return;
	}
	value = host_declared(frame, is_array ? TDM_NODE_NONE : type, name, value);
	bool is_atom =
		(value->op == TDM_EXPR_NAME && !value->is_parameter && !host_is_null(value) && frame->site == NULL) ||
		value->op == TDM_EXPR_NOTHING;
	host_bind_value(frame, name, is_atom ? host_named(frame->host, name) : value, true);
}

static bool has_lambda_argument(const struct tdm_syntax *syntax, uint32_t call)
{
	uint32_t list = tdm_node_with_role(syntax, call, TDM_ROLE_arguments);
	return list != TDM_NODE_NONE && tdm_node_of_kind(syntax, list, TDM_SYN_lambda_expression) != TDM_NODE_NONE;
}

/* std::visit([&](auto& x) { n = x.n; }, …): nobody knows how often the function that gets a lambda calls it, so what it
 * assigns is unknown afterwards, as after a loop; and so is what a function of the file takes by reference. */
static void forget_assigned(struct host_frame *frame, uint32_t statement)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	uint32_t end = syntax->nodes[statement].next;
	for (uint32_t i = statement; i < end;) {
		enum tdm_syntax_kind kind = tdm_node_kind(syntax, i);
		bool is_taken = kind == TDM_SYN_call_expression && has_lambda_argument(syntax, i);
		if (is_taken)
			host_bind_loop(frame, i);
		else if (kind == TDM_SYN_call_expression && frame->is_eager)
			host_forget_given(frame, i);
		i = is_taken || kind == TDM_SYN_lambda_expression ? syntax->nodes[i].next : i + 1;
	}
}

static void walk_declaration(struct host_frame *frame, uint32_t node)
{
	forget_assigned(frame, node);
	const struct tdm_syntax *syntax = frame->source->syntax;
	uint32_t type = tdm_node_with_role(syntax, node, TDM_ROLE_type);
	for (TDM_NODE_CHILDREN(child, syntax, node))
		if (syntax->nodes[child].role == TDM_ROLE_declarator)
			declare(frame, type, child);
}

static bool is_throw(const struct host_source *source, uint32_t expression)
{
	if (tdm_node_kind(source->syntax, expression) != TDM_SYN_call_expression)
		return false;
	struct tdm_str name = host_last_name(source, tdm_node_with_role(source->syntax, expression, TDM_ROLE_function));
	return tdm_str_is(name, "TT_THROW") || tdm_str_is(name, "abort") || tdm_str_is(name, "exit");
}

static bool is_list_call(const struct host_source *source, uint32_t expression)
{
	const struct tdm_syntax *syntax = source->syntax;
	uint32_t function = tdm_node_with_role(syntax, expression, TDM_ROLE_function);
	struct tdm_str method = host_last_name(source, function);
	if (tdm_node_kind(syntax, function) != TDM_SYN_field_expression)
		return host_may_change(method);
	return tdm_str_is(method, "push_back") || tdm_str_is(method, "emplace_back") || host_opens_list(method) ||
	       (method.len > 4 && memcmp(method.ptr, "set_", 4) == 0) || tdm_str_is(method, "index");
}

static void walk_expression(struct host_frame *frame, uint32_t node)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	uint32_t expression = tdm_node_first(syntax, node);
	if (expression == TDM_NODE_NONE)
		return;
	enum tdm_syntax_kind kind = tdm_node_kind(syntax, expression);
	bool matters = kind == TDM_SYN_assignment_expression || kind == TDM_SYN_update_expression ||
		       kind == TDM_SYN_comma_expression || host_has_effects(frame->source, expression) ||
		       (kind == TDM_SYN_call_expression && is_list_call(frame->source, expression));
	if (matters)
		host_eval(frame, expression);
	forget_assigned(frame, expression);
	frame->has_ended |= is_throw(frame->source, expression);
}

static void walk_return(struct host_frame *frame, uint32_t node)
{
	uint32_t value = tdm_node_first(frame->source->syntax, node);
	struct host_return *r = tdm_arena_take(frame->host->arena, sizeof *r);
	const struct tdm_expr *result =
		value != TDM_NODE_NONE ? host_typed(frame, host_eval(frame, value), value) : NULL;
	frame->has_ended = true;
	if (r == NULL)
		return;
	*r = (struct host_return){ frame->returns, result, frame->branch, frame->env };
	frame->returns = r;
}

/* The elements of a list that a range loop goes over one by one; NULL when it is not known, or creates something. */
static const struct tdm_expr *known_range(struct host_frame *frame, uint32_t node)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	uint32_t body = tdm_node_with_role(syntax, node, TDM_ROLE_body);
	bool creates = frame->source->is_file && host_is_hot(frame->source, body);
	if (creates || tdm_node_kind(syntax, node) != TDM_SYN_for_range_loop)
		return NULL;
	struct host_frame pure = *frame;
	pure.is_eager = false;
	const struct tdm_expr *list = host_eval(&pure, tdm_node_with_role(syntax, node, TDM_ROLE_right));
	return list->op == TDM_EXPR_LIST && list->arg_count <= HOST_UNROLL_MAX ? list : NULL;
}

static void walk_range(struct host_frame *frame, uint32_t node, const struct tdm_expr *list)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	uint32_t name = declared_name(syntax, tdm_node_with_role(syntax, node, TDM_ROLE_declarator));
	for (uint32_t i = 0; i < list->arg_count; i++) {
		const struct host_binding *base = frame->env;
		if (name != TDM_NODE_NONE && tdm_node_kind(syntax, name) == TDM_SYN_structured_binding_declarator)
			bind_parts(frame, name, list->args[i]);
		else if (name != TDM_NODE_NONE)
			host_bind_value(frame, tdm_node_text(syntax, name), list->args[i], true);
		host_walk(frame, tdm_node_with_role(syntax, node, TDM_ROLE_body));
		host_leave_scope(frame, base);
		frame->has_ended = false;
	}
}

/* A loop is walked once, with what it assigns unknown. */
static void walk_loop(struct host_frame *frame, uint32_t node)
{
	const struct tdm_syntax *syntax = frame->source->syntax;
	const struct tdm_expr *list = known_range(frame, node);
	if (list != NULL) {
		walk_range(frame, node, list);
		return;
	}
	const struct host_binding *base = frame->env;
	bool was_in_loop = frame->in_loop;
	uint32_t initializer = tdm_node_with_role(syntax, node, TDM_ROLE_initializer);
	frame->in_loop = true;
	if (initializer != TDM_NODE_NONE)
		host_walk(frame, initializer);
	host_bind_loop(frame, node);
	uint32_t variable = declared_name(syntax, tdm_node_with_role(syntax, node, TDM_ROLE_declarator));
	if (variable != TDM_NODE_NONE && tdm_node_kind(syntax, variable) == TDM_SYN_structured_binding_declarator)
		bind_parts(frame, variable, &tdm_expr_nothing);
	else if (variable != TDM_NODE_NONE)
		host_bind_value(frame, tdm_node_text(syntax, variable),
			host_named(frame->host, tdm_node_text(syntax, variable)), true);
	uint32_t body = tdm_node_with_role(syntax, node, TDM_ROLE_body);
	if (body != TDM_NODE_NONE)
		host_walk(frame, body);
	frame->in_loop = was_in_loop;
	frame->has_ended = false;
	host_leave_scope(frame, base);
	host_bind_loop(frame, node);
}

void host_walk(struct host_frame *frame, uint32_t node)
{
	frame->host->walk->is_cut |= frame->host->steps > HOST_STEPS_MAX;
	if (frame->depth >= HOST_DEPTH_MAX || frame->host->steps > HOST_STEPS_MAX)
		return;
	frame->depth++;
	switch (tdm_node_kind(frame->source->syntax, node)) {
	case TDM_SYN_compound_statement:
		walk_block(frame, node);
		break;
	case TDM_SYN_declaration:
		walk_declaration(frame, node);
		break;
	case TDM_SYN_expression_statement:
		walk_expression(frame, node);
		break;
	case TDM_SYN_return_statement:
		walk_return(frame, node);
		break;
	case TDM_SYN_if_statement:
		host_walk_if(frame, node);
		break;
	case TDM_SYN_for_statement:
	case TDM_SYN_for_range_loop:
	case TDM_SYN_while_statement:
	case TDM_SYN_do_statement:
		walk_loop(frame, node);
		break;
	case TDM_SYN_switch_statement:
		host_walk_switch(frame, node);
		break;
	case TDM_SYN_break_statement:
	case TDM_SYN_continue_statement:
		frame->has_ended = true;
		break;
	case TDM_SYN_function_definition: /* one in another: a parse that went wrong */
	case TDM_SYN_ERROR:
	case TDM_SYN_else_clause:
	case TDM_SYN_case_statement:
	case TDM_SYN_try_statement:
	case TDM_SYN_catch_clause:
	case TDM_SYN_labeled_statement:
	case TDM_SYN_preproc_if:
	case TDM_SYN_preproc_ifdef:
	case TDM_SYN_preproc_else:
	case TDM_SYN_preproc_elif:
		walk_children(frame, node);
		break;
	case TDM_SYN_call_expression: /* where a statement did not parse */
	case TDM_SYN_assignment_expression:
		if (host_has_effects(frame->source, node))
			host_eval(frame, node);
		break;
	default:
		break;
	}
	frame->depth--;
}

/* The name of a function with the classes it is in, as the source qualifies it; empty when it has none. */
static struct tdm_str function_name(const struct tdm_syntax *syntax, uint32_t declarator)
{
	while (declarator != TDM_NODE_NONE && tdm_node_kind(syntax, declarator) != TDM_SYN_function_declarator) {
		uint32_t inner = tdm_node_with_role(syntax, declarator, TDM_ROLE_declarator);
		declarator = inner != TDM_NODE_NONE ? inner
						    : tdm_node_of_kind(syntax, declarator, TDM_SYN_function_declarator);
	}
	return tdm_node_text(syntax, tdm_node_with_role(syntax, declarator, TDM_ROLE_declarator));
}

static uint32_t function_parameters(const struct tdm_syntax *syntax, uint32_t function, uint32_t body)
{
	for (uint32_t i = function; i < body && i < syntax->count; i++)
		if (tdm_node_kind(syntax, i) == TDM_SYN_function_declarator)
			return tdm_node_with_role(syntax, i, TDM_ROLE_parameters);
	return TDM_NODE_NONE;
}

static struct tdm_str last_part(struct tdm_str name)
{
	for (size_t i = name.len; i > 1; i--)
		if (name.ptr[i - 1] == ':' && name.ptr[i - 2] == ':')
			return (struct tdm_str){ name.ptr + i, name.len - i };
	return name;
}

/* Whether callers follow a function of this file. Those that are too long, and those that name nothing that creates
 * something, are not among the project's. */
static bool is_followed(const struct host *host, struct tdm_str name)
{
	struct tdm_project *project = host->walk->project;
	for (struct tdm_definition *d = project != NULL ? tdm_project_find(project, name) : NULL; d != NULL;
		d = tdm_definition_next(d))
		if (d->kind == TDM_DEFINES_FUNCTION && d->file == host->walk->file_idx)
			return true;
	return project == NULL;
}

static int walk_function(struct host *host, uint32_t node)
{
	const struct tdm_syntax *syntax = host->own.syntax;
	uint32_t body = tdm_node_with_role(syntax, node, TDM_ROLE_body);
	struct tdm_str name = function_name(syntax, tdm_node_with_role(syntax, node, TDM_ROLE_declarator));
	struct host_frame frame = { .host = host, .source = &host->own, .is_eager = true };
	host->first = host->last = NULL;
	host->made_count = 0;
	host->cut_count = 0;
	host->steps = 0;
	host->calls_creator = false;
	host_bind_parameters(&frame, function_parameters(syntax, node, body));
	host_walk_body(&frame, body);
	if (host->arena->failed)
		return -ENOMEM;
	if (host_is_helper(host, last_part(name)) && is_followed(host, last_part(name))) {
		host_mark_helper_body(host, syntax->nodes[node].start, syntax->nodes[node].end);
		return 0;
	}
	return host_emit(host, host_squeezed(host, name), tdm_walk_node_line(host->walk, node));
}

/* Functions, wherever they are: in namespaces, classes, templates, and between errors. Statements outside of any
 * function that matter are walked too: a file that does not parse wholly loses the heads of its functions. */
static int walk_file(struct host *host)
{
	const struct tdm_syntax *syntax = host->own.syntax;
	int err = 0;
	for (uint32_t i = 0; i < syntax->count && err == 0;) {
		enum tdm_syntax_kind kind = tdm_node_kind(syntax, i);
		if (!host_is_hot(&host->own, i)) {
			i = syntax->nodes[i].next;
		} else if (kind == TDM_SYN_function_definition &&
			   tdm_node_with_role(syntax, i, TDM_ROLE_body) != TDM_NODE_NONE) {
			err = walk_function(host, i);
			i = syntax->nodes[i].next;
		} else if (kind == TDM_SYN_expression_statement || kind == TDM_SYN_declaration) {
			struct host_frame frame = { .host = host, .source = &host->own, .is_eager = true };
			host->first = host->last = NULL;
			host->steps = 0;
			host_walk(&frame, i);
			err = host_emit(host, tdm_str_of("(no function)"), 1);
			i = syntax->nodes[i].next;
		} else {
			i++;
		}
	}
	return err;
}

/* The expression that makes the object at a place; TDM_NODE_NONE when there is none. */
static uint32_t maker_at(const struct host *host, uint32_t byte)
{
	const struct tdm_syntax *syntax = host->own.syntax;
	uint32_t found = TDM_NODE_NONE;
	for (uint32_t i = 0; i < syntax->count && syntax->nodes[i].start <= byte; i++) {
		enum tdm_syntax_kind kind = tdm_node_kind(syntax, i);
		bool is_maker = kind == TDM_SYN_compound_literal_expression || kind == TDM_SYN_call_expression;
		uint32_t type = is_maker ? tdm_node_first(syntax, i) : TDM_NODE_NONE;
		bool is_it = type != TDM_NODE_NONE && host_last_name(&host->own, type).ptr == syntax->text.ptr + byte;
		found = is_it ? i : found;
	}
	return found;
}

/* Where a file does not parse wholly, objects that no statement led to are read by themselves. */
static int read_left_over(struct host *host)
{
	struct tdm_scan_file *file = host->walk->file;
	int err = 0;
	for (size_t i = 0; i < file->place_count && err == 0; i++) {
		if (file->places[i].grasp != TDM_GRASP_NOT || file->places[i].shape == TDM_SHAPE_HELPER)
			continue;
		struct host_frame frame = { .host = host, .source = &host->own, .is_eager = true };
		host->first = host->last = NULL;
		host->steps = 0;
		uint32_t maker = maker_at(host, file->places[i].byte);
		if (maker != TDM_NODE_NONE)
			host_eval(&frame, maker);
		err = host_emit(host, tdm_str_of("(no function)"), 1);
	}
	return err;
}

int tdm_host_walk(struct tdm_file_walk *file_walk)
{
	struct host host = {
		.walk = file_walk,
		.arena = &file_walk->file->arena,
		.own = { .syntax = file_walk->syntax, .is_file = true, .file = file_walk->file_idx },
	};
	uint32_t *hot = NULL;
	size_t count = 0;
	int err = host_find_hot(&host, &hot, &count);
	host.own.hot = hot;
	host.own.hot_count = count;
	if (err == 0)
		err = host_find_takers(&host);
	if (err == 0)
		err = walk_file(&host);
	if (err == 0 && file_walk->syntax->error_count != 0)
		err = read_left_over(&host);
	free(hot);
	return err;
}
