/* Host and device together: the source file of every kernel that the host creates, and what that does with buffers. */
#include "scan/kernel_parts.h"

#include <errno.h>

enum { SOURCES_MAX = 8, USES_MAX = 2000000 /* of all kernels */ };

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

static struct tdm_kernel_args args_of(const struct tdm_scan_kernel *kernel, const struct tdm_settings *settings)
{
	struct tdm_kernel_args args = { &tdm_expr_nothing, &tdm_expr_nothing, &tdm_expr_nothing, settings };
	const struct tdm_expr *object = kernel->object;
	if (object == NULL || object->op != TDM_EXPR_OBJECT || tdm_expr_field(object, "is_changed") != NULL)
		return args;
	const struct tdm_expr *config = field_or_nothing(object, "config");
	bool is_call = tdm_str_is(object->text, "CreateKernel");
	args.positional = is_call ? args_of_config(config) : field_or_nothing(object, "compile_time_args");
	args.named =
		field_or_nothing(is_call ? config : object, is_call ? "named_compile_args" : "named_compile_time_args");
	args.bindings = field_or_nothing(object, "dfb_bindings");
	if (is_named_list(args.positional)) {
		args.named = args.positional;
		args.positional = &tdm_expr_nothing;
	}
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

/* The paths that a kernel's source may have: one, or those of a choice. False when one of them is no constant. */
struct sources {
	const struct tdm_expr *list[SOURCES_MAX];
	size_t count;
};

static bool find_sources(const struct tdm_expr *source, struct sources *sources, uint32_t depth)
{
	if (source == NULL || depth == SOURCES_MAX)
		return false;
	if (source->op == TDM_EXPR_CHOOSE)
		return find_sources(source->args[1], sources, depth + 1) &&
		       find_sources(source->args[2], sources, depth + 1);
	if (source->op == TDM_EXPR_LIST && source->arg_count == 1)
		return find_sources(source->args[0], sources, depth + 1);
	if (source->op != TDM_EXPR_STRING || sources->count == SOURCES_MAX)
		return false;
	sources->list[sources->count++] = source;
	return true;
}

/* Both lists in one. All of it is conditional: one of the sources is used, nobody knows which. */
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
	for (size_t i = 0; i < both->count; i++)
		list[i].is_conditional = true;
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
	kernel->source_file = before == NULL ? file + 1 : 0;
	kernel->code = before == NULL ? scan->files[file].code : NULL;
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

static int join_kernel(
	struct tdm_kernel_index *index, struct tdm_scan_kernel *kernel, const struct tdm_settings *settings)
{
	struct tdm_kernel_args args = args_of(kernel, settings);
	struct sources sources = { .count = 0 };
	if (!find_sources(kernel->source_expr, &sources, 0))
		return refuse(index->scan, kernel, TDM_UNJUDGED_NO_PATH);
	int err = 0;
	for (size_t i = 0; i < sources.count && err == 0; i++)
		err = join_source(index, kernel, &args, sources.list[i]->text);
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
