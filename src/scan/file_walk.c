#include "scan/file_walk.h"

#include <errno.h>

#include "base/reserve.h"
#include "scan/strategy.h"

uint32_t tdm_walk_line(const struct tdm_file_walk *walk, uint32_t byte)
{
	uint32_t low = 0, high = walk->line_count;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (walk->line_starts[middle] <= byte)
			low = middle;
		else
			high = middle;
	}
	return low + 1;
}

static uint64_t bytes_of_bound(int64_t bound, int64_t none)
{
	return bound == none || bound < 0 ? TDM_BYTES_UNKNOWN : (uint64_t)bound;
}

static struct tdm_scan_size size_of(struct tdm_file_walk *walk, const struct tdm_expr *expr)
{
	struct tdm_scan_size size = { NULL, "", TDM_BYTES_UNKNOWN, TDM_BYTES_UNKNOWN, TDM_BYTES_UNKNOWN, NULL };
	if (expr == NULL || expr->op == TDM_EXPR_NOTHING) {
		size.reason = "the source does not say";
		return size;
	}
	size.expr = expr;
	size.text = tdm_expr_plain_text(expr, &walk->file->arena);
	struct tdm_bounds bounds = tdm_expr_eval(expr, walk->settings);
	size.min = bytes_of_bound(bounds.min, INT64_MIN);
	size.max = bytes_of_bound(bounds.max, INT64_MAX);
	size.reason = bounds.reason;
	if (bounds.reason == NULL && bounds.min < 0)
		size.reason = "is negative";
	else if (bounds.reason == NULL)
		size.bytes = (uint64_t)bounds.min;
	return size;
}

static int32_t index_of(const struct tdm_expr *expr, const struct tdm_settings *settings)
{
	int64_t number;
	bool is_index =
		expr != NULL && tdm_expr_value(expr, settings, &number) == 0 && number >= 0 && number <= INT16_MAX;
	return is_index ? (int32_t)number : -1;
}

static bool is_null(const struct tdm_expr *expr)
{
	if (expr->op == TDM_EXPR_NUMBER)
		return expr->number == 0;
	return expr->op == TDM_EXPR_NAME &&
	       (tdm_str_is(expr->text, "nullptr") || tdm_str_is(expr->text, "std::nullopt") ||
		       tdm_str_is(expr->text, "nullopt") || tdm_str_is(expr->text, "None"));
}

/* Whether it is a view in every case: no choice leads to none. */
static bool is_sure_view(const struct tdm_expr *view_of)
{
	if (view_of == NULL || is_null(view_of))
		return false;
	return view_of->op != TDM_EXPR_CHOOSE || (is_sure_view(view_of->args[1]) && is_sure_view(view_of->args[2]));
}

static bool is_missing(const struct tdm_expr *expr)
{
	return expr == NULL || expr->op == TDM_EXPR_NOTHING;
}

static const char *list_missing(const struct tdm_buffer_facts *facts, struct tdm_arena *arena)
{
	bool is_cb = facts->kind == TDM_KIND_CB;
	const struct {
		const char *what;
		bool is_missing;
	} parts[] = {
		{ "index", is_cb && is_missing(facts->index) },
		{ "name", !is_cb && is_missing(facts->name) },
		{ "format", !facts->format_is_optional && is_missing(facts->format) },
		{ "page size", facts->kind != TDM_KIND_SCRATCHPAD && is_missing(facts->page) },
		{ "total size", is_missing(facts->total) },
		{ facts->also_missing, facts->also_missing != NULL },
	};
	struct tdm_buf buf;
	tdm_buf_init(&buf);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (parts[i].is_missing)
			tdm_buf_printf(&buf, "%s%s", buf.len != 0 ? ", " : "", parts[i].what);
	const char *text = tdm_buf_failed(&buf) ? NULL : tdm_arena_text(arena, tdm_buf_str(&buf));
	tdm_buf_done(&buf);
	return text != NULL ? text : "";
}

static const char *copy_of(struct tdm_str text, struct tdm_arena *arena)
{
	const char *copy = text.len != 0 ? tdm_arena_text(arena, text) : NULL;
	return copy != NULL ? copy : "";
}

/* The name that the source gives it, else that of the variable. */
static const char *name_of(const struct tdm_buffer_facts *facts, struct tdm_arena *arena)
{
	const char *name = tdm_expr_plain_text(facts->name, arena);
	return name[0] != '\0' ? name : copy_of(facts->variable, arena);
}

int tdm_walk_add_buffer(struct tdm_file_walk *walk, const struct tdm_buffer_facts *facts)
{
	struct tdm_scan_file *file = walk->file;
	struct tdm_arena *arena = &file->arena;
	int err = tdm_reserve(&file->buffers, &file->buffer_cap, file->buffer_count + 1, sizeof *file->buffers);
	if (err != 0)
		return err;
	struct tdm_scan_buffer buffer = {
		.file = walk->file_idx,
		.line = facts->line,
		.defined_line = facts->defined_line != 0 ? facts->defined_line : facts->line,
		.kind = facts->kind,
		.shape = facts->shape,
		.is_view = is_sure_view(facts->view_of),
		.may_be_view = facts->view_of != NULL && !is_null(facts->view_of) && !is_sure_view(facts->view_of),
		.in_loop = facts->in_loop,
		.index = index_of(facts->index, walk->settings),
		.also_index = index_of(facts->also_index, walk->settings),
		.index_text = tdm_expr_plain_text(facts->index, arena),
		.name = name_of(facts, arena),
		.format = tdm_expr_plain_text(facts->format, arena),
		.data_format =
			facts->format != NULL && facts->format->op == TDM_EXPR_FORMAT ? facts->format->format : NULL,
		.page = size_of(walk, facts->page),
		.total = size_of(walk, facts->total),
		.cores = tdm_expr_plain_text(facts->cores, arena),
		.view_of = tdm_expr_plain_text(facts->view_of, arena),
		.helper = copy_of(facts->helper, arena),
		.branch = facts->branch,
		.program = facts->program,
		.object = facts->object,
	};
	buffer.strategy = (uint8_t)tdm_strategy_judge(facts->total, arena, &buffer.strategy_reason);
	buffer.missing = list_missing(facts, arena);
	buffer.grasp = buffer.missing[0] == '\0' ? TDM_GRASP_WHOLLY : TDM_GRASP_PARTLY;
	file->buffers[file->buffer_count++] = buffer;
	return arena->failed ? -ENOMEM : 0;
}

int tdm_walk_add_program(struct tdm_file_walk *walk, struct tdm_str name, uint32_t line, uint32_t *program)
{
	struct tdm_scan_file *file = walk->file;
	for (size_t i = line <= file->program_line_max ? file->program_count : 0; i-- != 0;)
		if (file->programs[i].line == line && tdm_str_is(name, file->programs[i].name)) {
			*program = (uint32_t)i;
			return 0;
		}
	int err = tdm_reserve(&file->programs, &file->program_cap, file->program_count + 1, sizeof *file->programs);
	if (err != 0)
		return err;
	file->program_line_max = line > file->program_line_max ? line : file->program_line_max;
	*program = (uint32_t)file->program_count;
	file->programs[file->program_count++] =
		(struct tdm_scan_program){ .name = copy_of(name, &file->arena), .line = line };
	return file->arena.failed ? -ENOMEM : 0;
}

int tdm_walk_add_kernel(struct tdm_file_walk *walk, const struct tdm_scan_kernel *kernel)
{
	struct tdm_scan_file *file = walk->file;
	int err = tdm_reserve(&file->kernels, &file->kernel_cap, file->kernel_count + 1, sizeof *file->kernels);
	if (err == 0)
		file->kernels[file->kernel_count++] = *kernel;
	return err;
}
