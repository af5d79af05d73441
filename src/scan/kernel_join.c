/* Host and device together: the source file of every kernel that the host creates, and what that does with buffers. */
#include "scan/kernel_parts.h"

#include <errno.h>

#include "base/buf.h"

enum { SOURCES_MAX = 16, SEARCH_MAX = 1000, USES_MAX = 2000000 /* of all kernels */ };

static const struct tdm_expr *field_or_nothing(const struct tdm_expr *object, const char *name)
{
	const struct tdm_expr *value = object->op == TDM_EXPR_OBJECT ? tdm_expr_field(object, name) : NULL;
	return value != NULL ? value : &tdm_expr_nothing;
}

/* Arguments that are pairs of a name and a value. */
static bool is_named_list(const struct tdm_expr *list)
{
	return list->op == TDM_EXPR_LIST && list->arg_count != 0 && list->args[0]->op == TDM_EXPR_LIST &&
	       list->args[0]->arg_count == 2 && list->args[0]->args[0]->op == TDM_EXPR_STRING;
}

/* The compile-time arguments in the config of CreateKernel(): a field, or the first of a plain list. */
static const struct tdm_expr *args_of_config(const struct tdm_expr *config)
{
	if (config->op != TDM_EXPR_LIST)
		return field_or_nothing(config, "compile_args");
	bool is_nested = config->arg_count != 0 && config->args[0]->op == TDM_EXPR_LIST && !is_named_list(config);
	return is_nested ? config->args[0] : config;
}

/* A list to which a function may have added something: nothing at its end. */
static const struct tdm_expr *opened(struct tdm_arena *arena, const struct tdm_expr *list)
{
	const struct tdm_expr **items =
		list->op == TDM_EXPR_LIST ? tdm_arena_take(arena, sizeof *items * (list->arg_count + 1)) : NULL;
	if (items == NULL)
		return &tdm_expr_nothing;
	if (list->arg_count != 0)
		memcpy(items, list->args, sizeof *items * list->arg_count);
	items[list->arg_count] = &tdm_expr_nothing;
	return tdm_expr_make(arena, TDM_EXPR_LIST, (struct tdm_str){ "", 0 }, items, list->arg_count + 1);
}

static struct tdm_kernel_args args_of(
	const struct tdm_scan_kernel *kernel, const struct tdm_settings *settings, struct tdm_arena *arena)
{
	struct tdm_kernel_args args = { &tdm_expr_nothing, &tdm_expr_nothing, &tdm_expr_nothing, settings, arena };
	const struct tdm_expr *object = kernel->object;
	if (object == NULL || object->op != TDM_EXPR_OBJECT)
		return args;
	if (tdm_expr_field(object, "is_changed") != NULL) { /* arguments may have moved; names have not */
		args.bindings = opened(arena, field_or_nothing(object, "dfb_bindings"));
		return args;
	}
	const struct tdm_expr *config = field_or_nothing(object, "config");
	bool is_call = tdm_str_is(object->text, "CreateKernel");
	args.positional = is_call ? args_of_config(config) : field_or_nothing(object, "compile_time_args");
	args.named =
		field_or_nothing(is_call ? config : object, is_call ? "named_compile_args" : "named_compile_time_args");
	args.bindings = field_or_nothing(object, "dfb_bindings");
	return args;
}

/* A kernel with a source that was not found: the gap says why. */
static int refuse(struct tdm_scan *scan, struct tdm_scan_kernel *kernel, enum tdm_unjudged why)
{
	struct tdm_kernel_uses *uses = tdm_arena_take(&scan->arena, sizeof *uses);
	if (uses == NULL)
		return -ENOMEM;
	if (kernel->uses != NULL)
		*uses = *kernel->uses;
	uses->gaps |= (uint16_t)(1u << why);
	uses->gap_text = kernel->source;
	kernel->uses = uses;
	return 0;
}

/* The paths that a kernel's source may have: one, or those of a choice, each with what decides for it. */
struct path {
	struct tdm_str text;
	struct tdm_way way;
};

struct paths {
	struct path list[SOURCES_MAX];
	size_t count;
};

static bool add_path(struct paths *paths, struct tdm_str text, const struct tdm_way *way)
{
	for (size_t i = 0; i < paths->count; i++)
		if (tdm_str_eq(paths->list[i].text, text)) {
			paths->list[i].way.count = 0; /* it has several ways: nothing is decided */
			return true;
		}
	if (paths->count == SOURCES_MAX)
		return false;
	paths->list[paths->count++] = (struct path){ text, *way };
	return true;
}

static bool is_null(const struct tdm_expr *expr)
{
	return (expr->op == TDM_EXPR_NAME && tdm_str_is(expr->text, "nullptr")) ||
	       (expr->op == TDM_EXPR_LIST && expr->arg_count == 0);
}

/* Where the paths of a kernel are looked for. */
struct search {
	struct tdm_arena *arena;
	struct tdm_way way; /* what is decided so far */
	uint32_t depth;
	uint32_t *steps; /* of the whole search */
};

static bool find_paths(struct search search, const struct tdm_expr *source, struct paths *paths);

static bool add_joined(const struct search *search, const struct tdm_expr *source, const struct path *a,
	const struct path *b, struct paths *paths)
{
	bool has_slash = a->text.len != 0 && a->text.ptr[a->text.len - 1] == '/';
	struct tdm_buf buf;
	tdm_buf_init(&buf);
	tdm_buf_printf(&buf, "%.*s%s%.*s", TDM_STR_ARG(a->text), source->op == TDM_EXPR_DIVIDE && !has_slash ? "/" : "",
		TDM_STR_ARG(b->text));
	const char *joined = tdm_buf_failed(&buf) ? NULL : tdm_arena_text(search->arena, tdm_buf_str(&buf));
	tdm_buf_done(&buf);
	return joined != NULL && add_path(paths, tdm_str_of(joined), &b->way);
}

/* folder / "name", or "begin" + "end": each of the first with each of the second that the same conditions allow. */
static bool find_joined(struct search search, const struct tdm_expr *source, struct paths *paths)
{
	struct paths first = { .count = 0 };
	if (!find_paths(search, source->args[0], &first))
		return false;
	for (size_t i = 0; i < first.count; i++) {
		struct paths second = { .count = 0 };
		search.way = first.list[i].way;
		if (!find_paths(search, source->args[1], &second))
			return false;
		for (size_t k = 0; k < second.count; k++)
			if (!add_joined(&search, source, &first.list[i], &second.list[k], paths))
				return false;
	}
	return true;
}

/* The paths of both cases, or of the one that is decided. One that is not there at all has none. */
static bool find_chosen(struct search search, const struct tdm_expr *choice, struct paths *paths)
{
	const struct tdm_expr *taken = tdm_way_choice(&search.way, choice);
	for (uint32_t i = 1; i <= 2; i++) {
		struct search next = search;
		tdm_way_add(&next.way, choice->args[0], i == 1);
		bool is_left_out = is_null(choice->args[i]) || (taken != NULL && taken != choice->args[i]);
		if (!is_left_out && !find_paths(next, choice->args[i], paths))
			return false;
	}
	return true;
}

/* False when one of them is no constant. A kernel that may not be there at all, "wide ? path : nullptr", has the rest.
 */
static bool find_paths(struct search search, const struct tdm_expr *source, struct paths *paths)
{
	if (source == NULL || search.depth++ == SOURCES_MAX || (*search.steps)++ == SEARCH_MAX)
		return false;
	switch ((enum tdm_expr_op)source->op) {
	case TDM_EXPR_STRING:
		return add_path(paths, source->text, &search.way);
	case TDM_EXPR_CHOOSE:
		return find_chosen(search, source, paths);
	case TDM_EXPR_LIST:
		return source->arg_count == 1 && find_paths(search, source->args[0], paths);
	case TDM_EXPR_ADD:
	case TDM_EXPR_DIVIDE:
		return find_joined(search, source, paths);
	default:
		return false;
	}
}

/* Both lists in one: the host takes one source or the other. */
static const struct tdm_kernel_uses *joined_uses(
	struct tdm_arena *arena, const struct tdm_kernel_uses *a, const struct tdm_kernel_uses *b)
{
	struct tdm_kernel_uses *both = tdm_arena_take(arena, sizeof *both);
	struct tdm_kernel_use *list = tdm_arena_take(arena, sizeof *list * (a->count + b->count + 1));
	if (both == NULL || list == NULL)
		return NULL;
	*both = (struct tdm_kernel_uses){ list, a->count + b->count, a->count + b->count, a->gaps | b->gaps,
		a->gaps != 0 ? a->gap_text : b->gap_text };
	if (a->count != 0)
		memcpy(list, a->list, sizeof *list * a->count);
	if (b->count != 0)
		memcpy(list + a->count, b->list, sizeof *list * b->count);
	return both;
}

/* One of the sources of a kernel. */
static int join_source(struct tdm_kernel_index *index, struct tdm_scan_kernel *kernel,
	const struct tdm_kernel_args *args, struct tdm_str path)
{
	struct tdm_scan *scan = index->scan;
	bool is_ambiguous = false;
	const struct tdm_kernel_uses *before = kernel->uses;
	uint32_t file = tdm_kernel_index_file(index, path, kernel->file, &is_ambiguous);
	if (file == UINT32_MAX)
		return refuse(scan, kernel, is_ambiguous ? TDM_UNJUDGED_SEVERAL_FILES : TDM_UNJUDGED_NO_FILE);
	kernel->sources[kernel->source_count++] = file;
	kernel->source_file = kernel->source_count == 1 ? file + 1 : 0;
	kernel->code = kernel->source_count == 1 ? scan->files[file].code : NULL;
	if (scan->files[file].code == NULL)
		return refuse(scan, kernel, TDM_UNJUDGED_NOT_PARSED);
	if (index->use_count > USES_MAX)
		return refuse(scan, kernel, TDM_UNJUDGED_TOO_MUCH);
	kernel->uses = tdm_kernel_expand(index, file, args, &scan->arena);
	if (before != NULL && kernel->uses != NULL)
		kernel->uses = joined_uses(&scan->arena, before, kernel->uses);
	index->use_count += kernel->uses != NULL ? kernel->uses->count : 0;
	return kernel->uses != NULL ? 0 : -ENOMEM;
}

/* The arguments that the host gives a kernel with one of its sources. */
static struct tdm_kernel_args args_on_way(const struct tdm_kernel_args *args, const struct tdm_way *way)
{
	struct tdm_kernel_args taken = *args;
	taken.positional = tdm_way_take(way, args->positional, args->arena);
	taken.named = tdm_way_take(way, args->named, args->arena);
	taken.bindings = tdm_way_take(way, args->bindings, args->arena);
	if (is_named_list(taken.positional)) {
		taken.named = taken.positional;
		taken.positional = &tdm_expr_nothing;
	}
	return taken;
}

static int join_kernel(
	struct tdm_kernel_index *index, struct tdm_scan_kernel *kernel, const struct tdm_settings *settings)
{
	struct tdm_kernel_args args = args_of(kernel, settings, &index->scan->arena);
	struct paths paths = { .count = 0 };
	uint32_t steps = 0;
	struct search search = { .arena = &index->scan->arena, .steps = &steps };
	if (!find_paths(search, kernel->source_expr, &paths) || paths.count == 0)
		return refuse(index->scan, kernel, TDM_UNJUDGED_NO_PATH);
	uint32_t *sources = tdm_arena_take(&index->scan->arena, sizeof *sources * paths.count);
	if (sources == NULL)
		return -ENOMEM;
	kernel->sources = sources;
	int err = 0;
	for (size_t i = 0; i < paths.count && err == 0; i++) {
		struct tdm_kernel_args taken = args_on_way(&args, &paths.list[i].way);
		err = join_source(index, kernel, &taken, paths.list[i].text);
	}
	return err;
}

int tdm_kernels_join(struct tdm_scan *scan, const struct tdm_settings *settings)
{
	struct tdm_kernel_index index;
	int err = tdm_kernel_index_init(&index, scan);
	if (err != 0)
		return err;
	for (size_t i = 0; i < scan->file_count && err == 0; i++)
		for (size_t k = 0; k < scan->files[i].kernel_count && err == 0; k++)
			err = join_kernel(&index, &scan->files[i].kernels[k], settings);
	tdm_kernel_index_done(&index);
	return err;
}
