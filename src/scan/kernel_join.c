/* Host and device together: the source file of every kernel that the host creates, and what that does with buffers. */
#include "scan/kernel_parts.h"

#include <errno.h>

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
	if (object == NULL || object->op != TDM_EXPR_OBJECT)
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

/* A kernel without a source that was found: the gap says why. */
static int refuse(struct tdm_scan *scan, struct tdm_scan_kernel *kernel, enum tdm_unjudged why)
{
	struct tdm_kernel_uses *uses = tdm_arena_take(&scan->arena, sizeof *uses);
	if (uses == NULL)
		return -ENOMEM;
	uses->gaps = (uint16_t)(1u << why);
	uses->gap_text = kernel->source;
	kernel->uses = uses;
	return 0;
}

static int join_kernel(
	struct tdm_kernel_index *index, struct tdm_scan_kernel *kernel, const struct tdm_settings *settings)
{
	struct tdm_scan *scan = index->scan;
	bool is_ambiguous = false;
	if (kernel->source_expr == NULL || kernel->source_expr->op != TDM_EXPR_STRING)
		return refuse(scan, kernel, TDM_UNJUDGED_NO_PATH);
	uint32_t file = tdm_kernel_index_file(index, kernel->source_expr->text, kernel->file, &is_ambiguous);
	if (file == UINT32_MAX)
		return refuse(scan, kernel, is_ambiguous ? TDM_UNJUDGED_SEVERAL_FILES : TDM_UNJUDGED_NO_FILE);
	kernel->source_file = file + 1;
	kernel->code = scan->files[file].code;
	if (kernel->code == NULL)
		return refuse(scan, kernel, TDM_UNJUDGED_NOT_PARSED);
	struct tdm_kernel_args args = args_of(kernel, settings);
	kernel->uses = tdm_kernel_expand(index, file, &args, &scan->arena);
	return kernel->uses != NULL ? 0 : -ENOMEM;
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
