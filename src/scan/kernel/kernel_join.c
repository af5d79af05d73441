/*
 * Joins host and device code: finds the source file of every kernel that the host creates, and lists the operations on
 * buffers in that file, with the kernel's arguments substituted. Only operations in the file itself are listed; calls
 * are not followed.
 */
#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "scan/scan.h"

enum {
	DEPTH_MAX = 12, /* depth of nested choices */
	SOURCES_MAX = 16,
	SEARCH_MAX = 1000,
	INDEX_MAX = 255,
	USES_MAX = 2000000 /* operations in all kernels */
};

struct join {
	struct tdm_scan *scan;
	const struct tdm_settings *settings;
	struct tdm_map by_base; /* hash of the last part of a path: the last file with that hash, */
	uint32_t *same_base;    /* and for each file the previous one; TDM_MAP_NONE if there is none */
	size_t use_count;       /* number of operations in all kernels so far */
};

/* ---- files by path ---- */

/* Whether `path` ends in `tail`, with `tail` starting at the beginning of a name. */
static bool has_tail(struct tdm_str path, struct tdm_str tail)
{
	if (tail.len == 0 || path.len < tail.len || memcmp(path.ptr + path.len - tail.len, tail.ptr, tail.len) != 0)
		return false;
	return path.len == tail.len || path.ptr[path.len - tail.len - 1] == '/' || tail.ptr[0] == '/';
}

/* A path without leading "./" and "../". */
static struct tdm_str plain_path(struct tdm_str path)
{
	while (tdm_begins_with(path, "./") || tdm_begins_with(path, "../"))
		path = tdm_after(path, path.ptr[1] == '/' ? 2 : 3);
	return path;
}

/*
 * Finds the file that a path refers to: one of the two paths must end in the whole of the other. If several files
 * match, returns the one whose path has most in common with that of the file `near`. TDM_MAP_NONE if no file matches,
 * or if no match is better than all others.
 */
static uint32_t find_file(const struct join *join, struct tdm_str path, uint32_t near)
{
	struct tdm_str wanted = plain_path(path), beside = tdm_str_of(join->scan->files[near].path);
	uint32_t file = tdm_map_find(&join->by_base, tdm_str_hash(tdm_last_part(wanted, '/')));
	uint32_t best = TDM_MAP_NONE;
	size_t best_shared = 0;
	bool is_ambiguous = false;
	for (; file != TDM_MAP_NONE; file = join->same_base[file]) {
		struct tdm_str have = tdm_str_of(join->scan->files[file].path);
		if (!has_tail(have, wanted) && !has_tail(wanted, plain_path(have)))
			continue;
		size_t shared = 0;
		while (shared < have.len && shared < beside.len && have.ptr[shared] == beside.ptr[shared])
			shared++;
		is_ambiguous =
			best != TDM_MAP_NONE && (shared == best_shared || (is_ambiguous && shared < best_shared));
		if (best == TDM_MAP_NONE || shared > best_shared) {
			best = file;
			best_shared = shared;
		}
	}
	return is_ambiguous ? TDM_MAP_NONE : best;
}

/* ---- the paths of a kernel's source: one path, or one per case of a choice, with its conditions ---- */

struct paths {
	struct tdm_arena *arena;
	struct tdm_str texts[SOURCES_MAX];
	struct tdm_way ways[SOURCES_MAX];
	size_t count;
	uint32_t depth;
	uint32_t *steps; /* steps of the whole search */
};

static bool add_path(struct paths *paths, struct tdm_str text, const struct tdm_way *way)
{
	for (size_t i = 0; i < paths->count; i++)
		if (tdm_str_eq(paths->texts[i], text)) {
			paths->ways[i].count = 0; /* reached in several ways, so no condition is decided */
			return true;
		}
	if (paths->count == SOURCES_MAX)
		return false;
	paths->texts[paths->count] = text;
	paths->ways[paths->count++] = *way;
	return true;
}

static bool is_null(const struct tdm_expr *expr)
{
	return (expr->op == TDM_EXPR_NAME && tdm_str_is(expr->text, "nullptr")) ||
	       (expr->op == TDM_EXPR_LIST && expr->arg_count == 0);
}

/* Adds the paths that an expression may stand for, given the conditions in `way`. False if one of them is not constant.
 * */
static bool find_paths(struct paths *paths, const struct tdm_expr *source, const struct tdm_way *way)
{
	if (source == NULL || paths->depth == SOURCES_MAX || (*paths->steps)++ == SEARCH_MAX)
		return false;
	bool is_found = false;
	paths->depth++;
	if (source->op == TDM_EXPR_STRING) {
		is_found = add_path(paths, source->text, way);
	} else if (source->op == TDM_EXPR_LIST) {
		is_found = source->arg_count == 1 && find_paths(paths, source->args[0], way);
		/* both cases, or only the decided one; a case without a kernel has no path */
	} else if (source->op == TDM_EXPR_CHOOSE) {
		const struct tdm_expr *taken = tdm_way_choice(way, source);
		is_found = true;
		for (uint32_t i = 1; i <= 2 && is_found; i++) {
			struct tdm_way next = *way;
			tdm_way_add(&next, source->args[0], i == 1);
			is_found = is_null(source->args[i]) || (taken != NULL && taken != source->args[i]) ||
				   find_paths(paths, source->args[i], &next);
		}
	} else if (source->op == TDM_EXPR_ADD || source->op == TDM_EXPR_DIVIDE) {
		/* "begin" + "end", folder / "name": combines each first part with the second parts allowed by its
		 * conditions. */
		struct paths first = { .arena = paths->arena, .depth = paths->depth, .steps = paths->steps };
		is_found = find_paths(&first, source->args[0], way);
		for (size_t i = 0; i < first.count && is_found; i++) {
			struct paths second = { .arena = paths->arena, .depth = paths->depth, .steps = paths->steps };
			struct tdm_str a = first.texts[i];
			bool has_slash = source->op != TDM_EXPR_DIVIDE || tdm_str_ends(a, "/");
			is_found = find_paths(&second, source->args[1], &first.ways[i]);
			for (size_t k = 0; k < second.count && is_found; k++)
				is_found = add_path(paths,
					tdm_str_of(tdm_arena_printed(paths->arena, "%.*s%s%.*s", TDM_STR_ARG(a),
						has_slash ? "" : "/", TDM_STR_ARG(second.texts[k]))),
					&second.ways[k]);
		}
	}
	paths->depth--;
	return is_found;
}

/* ---- arguments: by position and by name, and the buffers that names are bound to ---- */

struct arguments {
	const struct tdm_expr *positional; /* a LIST, or nothing */
	const struct tdm_expr *named;      /* a LIST of LISTs of a STRING and a value, or nothing */
	const struct tdm_expr *bindings;   /* a LIST of OBJECTs: DFBBinding; or nothing */
	struct tdm_arena *arena;           /* arena for composed values */
};

static const struct tdm_expr *field_or_nothing(const struct tdm_expr *object, const char *name)
{
	const struct tdm_expr *value = tdm_expr_field(object, name);
	return value != NULL ? value : &tdm_expr_nothing;
}

/* Whether the arguments are pairs of a name and a value. */
static bool is_named_list(const struct tdm_expr *list)
{
	return list->op == TDM_EXPR_LIST && list->arg_count != 0 && list->args[0]->op == TDM_EXPR_LIST &&
	       list->args[0]->arg_count == 2 && list->args[0]->args[0]->op == TDM_EXPR_STRING;
}

/* The arguments that the host passes to a kernel that has this source. */
static struct arguments arguments_of(
	const struct tdm_scan_kernel *kernel, const struct tdm_way *way, struct tdm_arena *arena)
{
	const struct tdm_expr *object = kernel->object, *config = field_or_nothing(object, "config");
	bool is_call = tdm_str_is(object->text, "CreateKernel"), is_list = config->op == TDM_EXPR_LIST;
	/* the positions may have changed, but not the names */
	bool is_changed = tdm_expr_field(object, "is_changed") != NULL;
	/* In the config of CreateKernel() the arguments are a field, or the first element of a plain list. */
	const struct tdm_expr *positional =
		is_call ? field_or_nothing(config, "compile_args") : field_or_nothing(object, "compile_time_args");
	if (is_call && is_list)
		positional = config->arg_count != 0 && config->args[0]->op == TDM_EXPR_LIST && !is_named_list(config)
				     ? config->args[0]
				     : config;
	const struct tdm_expr *named =
		field_or_nothing(is_call ? config : object, is_call ? "named_compile_args" : "named_compile_time_args");
	struct arguments arguments = {
		.positional = is_changed ? &tdm_expr_nothing : tdm_way_take(way, positional, arena),
		.named = is_changed ? &tdm_expr_nothing : tdm_way_take(way, named, arena),
		.bindings = tdm_way_take(way, field_or_nothing(object, "dfb_bindings"), arena),
		.arena = arena,
	};
	if (is_named_list(arguments.positional)) {
		arguments.named = arguments.positional;
		arguments.positional = &tdm_expr_nothing;
	}
	return arguments;
}

/*
 * Finds the argument at a position or, if that is -1, by name: {"name", value}, in a list or in a choice of lists. In a
 * list of bindings, {buffer, "name"}, finds the buffer to which the name is bound. NULL if unknown.
 */
static const struct tdm_expr *find_argument(const struct tdm_expr *list, int64_t place, struct tdm_str name,
	bool is_binding, struct tdm_arena *arena, uint32_t depth)
{
	const struct tdm_expr *found = NULL;
	for (uint32_t i = 0; list->op == TDM_EXPR_LIST && i < list->arg_count && found == NULL; i++) {
		const struct tdm_expr *argument = list->args[i];
		bool is_list = argument->op == TDM_EXPR_LIST && argument->arg_count >= 2;
		const struct tdm_expr *its_name =
			is_list ? argument->args[is_binding] : tdm_expr_field(argument, "accessor_name");
		if (place >= 0)
			found = place == i ? argument : NULL;
		else if (its_name != NULL && its_name->op == TDM_EXPR_STRING && tdm_str_eq(its_name->text, name))
			found = is_list ? argument->args[!is_binding] : tdm_expr_field(argument, "dfb_spec_name");
	}
	if (list->op != TDM_EXPR_CHOOSE || depth == DEPTH_MAX)
		return found;
	const struct tdm_expr *first = list->args[1], *second = list->args[2];
	const struct tdm_expr *a = find_argument(first, place, name, is_binding, arena, depth + 1);
	const struct tdm_expr *b = find_argument(second, place, name, is_binding, arena, depth + 1);
	/* If the list is missing in one case, the kernel does not exist in that case. A name bound in only one case is
	 * not used in the other. */
	if (first->op == TDM_EXPR_NOTHING || is_null(first) || (is_binding && a == NULL))
		return b;
	if (second->op == TDM_EXPR_NOTHING || is_null(second) || (is_binding && b == NULL) || a == b)
		return a;
	int64_t x, y;
	if (a == NULL || b == NULL)
		return NULL;
	bool is_same = tdm_expr_value(a, NULL, &x) == 0 && tdm_expr_value(b, NULL, &y) == 0 && x == y;
	return is_same ? a : tdm_expr_choose(arena, list->args[0], a, b);
}

static const struct tdm_expr *named_argument(const struct arguments *given, struct tdm_str name)
{
	return find_argument(given->named, -1, name, false, given->arena, 0);
}

/* The value of a call that reads one of the host's arguments; NULL if unknown. */
static const struct tdm_expr *host_value(const struct arguments *given, const struct tdm_expr *call)
{
	const struct tdm_expr *arg = call->arg_count == 1 ? call->args[0] : &tdm_expr_nothing;
	int64_t place;
	if (tdm_str_is(call->text, "get_compile_time_arg_val") && tdm_expr_value(arg, NULL, &place) == 0)
		return place >= 0 ? find_argument(given->positional, place, tdm_no_text, false, given->arena, 0) : NULL;
	if (tdm_str_is(call->text, "get_named_compile_time_arg_val") && arg->op == TDM_EXPR_STRING)
		return named_argument(given, arg->text);
	bool is_named = tdm_str_is(call->text, "get_arg") && arg->op == TDM_EXPR_NAME;
	return is_named && tdm_begins_with(arg->text, "args::") ? named_argument(given, tdm_after(arg->text, 6)) : NULL;
}

/* Substitutes the host's arguments. */
static const struct tdm_expr *bound(const struct arguments *given, const struct tdm_expr *expr, bool in_main)
{
	const struct tdm_expr *value =
		expr->op == TDM_EXPR_CALL ? host_value(given, expr)
		: expr->op == TDM_EXPR_NAME && in_main
			? named_argument(given, expr->text) /* a parameter of the main function */
			: NULL;
	bool has_changed = false;
	if (value != NULL || expr->arg_count == 0)
		return value != NULL ? value : expr;
	const struct tdm_expr **args = tdm_arena_take(given->arena, sizeof *args * expr->arg_count);
	for (uint32_t i = 0; i < expr->arg_count; i++) {
		args[i] = bound(given, expr->args[i], in_main);
		has_changed |= args[i] != expr->args[i];
	}
	return has_changed ? tdm_expr_make(given->arena, (enum tdm_expr_op)expr->op, expr->text, args, expr->arg_count)
			   : expr;
}

/* ---- uses ---- */

/* The dataflow buffer bound to dfb::name; returns other expressions and unbound names unchanged. */
static const struct tdm_expr *bound_buffer(const struct arguments *given, const struct tdm_expr *buffer)
{
	if (buffer->op != TDM_EXPR_NAME || !tdm_begins_with(buffer->text, "dfb::"))
		return buffer;
	const struct tdm_expr *spec =
		find_argument(given->bindings, -1, tdm_after(buffer->text, 5), true, given->arena, 0);
	while (spec != NULL && spec->op == TDM_EXPR_LIST && spec->arg_count == 1)
		spec = spec->args[0]; /* {"name"} */
	return spec != NULL ? spec : buffer;
}

/* Adds an operation. If the operation's buffer is a choice between several, adds a conditional operation on each of
 * them. */
static void add_use(struct join *join, struct tdm_scan_kernel *kernel, const struct arguments *given,
	struct tdm_kernel_use use, const struct tdm_expr *target, uint32_t depth)
{
	int64_t index;
	bool is_index = tdm_expr_value(target, join->settings, &index) == 0;
	bool is_choice = !is_index && target->op == TDM_EXPR_CHOOSE && depth < DEPTH_MAX;
	for (int i = 1; i <= 2 && is_choice; i++) {
		struct tdm_kernel_use one = use;
		one.is_conditional = true;
		one.buffer = use.buffer == target ? target->args[i] : use.buffer;
		add_use(join, kernel, given, one, bound_buffer(given, target->args[i]), depth + 1);
	}
	if (is_choice || join->use_count++ >= USES_MAX)
		return;
	if (is_index && index >= 0 && index <= INDEX_MAX)
		use.index = (int32_t)index;
	else if (target->op == TDM_EXPR_STRING || target != use.buffer || tdm_begins_with(target->text, "dfb::"))
		use.name = tdm_expr_plain_text(target, given->arena);
	tdm_grow(&kernel->uses, &kernel->use_cap, kernel->use_count + 1, sizeof *kernel->uses);
	kernel->uses[kernel->use_count++] = use;
}

static void add_uses(struct join *join, struct tdm_scan_kernel *kernel, const struct arguments *given,
	const struct tdm_kernel_code *code)
{
	for (size_t i = 0; i < code->use_count; i++) {
		struct tdm_kernel_use use = code->uses[i];
		int64_t happens = 1;
		if (use.condition != NULL)
			use.is_conditional |=
				tdm_expr_value(bound(given, use.condition, use.in_main), join->settings, &happens) != 0;
		if (happens == 0)
			continue;
		use.buffer = bound(given, use.buffer, use.in_main);
		use.pages = bound(given, use.pages, use.in_main);
		struct tdm_bounds pages = tdm_expr_eval(use.pages, join->settings);
		use.pages_min = pages.min;
		use.pages_max = pages.max;
		add_use(join, kernel, given, use, bound_buffer(given, use.buffer), 0);
	}
}

static void join_kernel(struct join *join, struct tdm_scan_kernel *kernel)
{
	struct tdm_scan *scan = join->scan;
	uint32_t steps = 0;
	struct paths paths = { .arena = &scan->arena, .steps = &steps };
	if (!find_paths(&paths, kernel->source_expr, &(struct tdm_way){ .count = 0 }))
		return;
	kernel->sources = tdm_arena_take(&scan->arena, sizeof *kernel->sources * paths.count);
	for (size_t i = 0; i < paths.count; i++) {
		uint32_t file = find_file(join, paths.texts[i], kernel->file);
		if (file == TDM_MAP_NONE)
			continue;
		const struct tdm_kernel_code *code = scan->files[file].code;
		struct arguments given = arguments_of(kernel, &paths.ways[i], &scan->arena);
		kernel->sources[kernel->source_count++] = file;
		kernel->source_file = kernel->source_count == 1 ? file + 1 : 0;
		kernel->code = kernel->source_count == 1 ? code : NULL;
		if (code != NULL)
			add_uses(join, kernel, &given, code);
	}
}

void tdm_kernels_join(struct tdm_scan *scan, const struct tdm_settings *settings)
{
	struct join join = { .scan = scan, .settings = settings };
	join.same_base = tdm_zalloc(scan->file_count + 1, sizeof *join.same_base);
	for (uint32_t file = 0; file < scan->file_count; file++) {
		uint64_t hash = tdm_str_hash(tdm_last_part(tdm_str_of(scan->files[file].path), '/'));
		join.same_base[file] = tdm_map_find(&join.by_base, hash);
		tdm_map_set(&join.by_base, hash, file);
	}
	for (size_t i = 0; i < scan->file_count; i++)
		for (size_t k = 0; k < scan->files[i].kernel_count; k++)
			join_kernel(&join, &scan->files[i].kernels[k]);
	tdm_map_done(&join.by_base);
	free(join.same_base);
}
