/*
 * Functions shared by the readers of all languages: line numbers, names of the enums in scan.h, entries for buffers
 * (sizes as numbers or bounds, strategy, missing parts), and the final state of the places in a file.
 */
#include "scan/front/file_walk.h"

#include "base/memory.h"
#include "scan/front/lexer.h"
#include "scan/front/project.h"

/* ---- names ---- */

const char *const tdm_strategy_names[] = { "fixed", "adaptive", "data-dependent", "unknown" };
const char *const tdm_grasp_names[] = { "wholly", "partly", "not" };
const char *const tdm_file_state_names[] = { "whole", "partial", "skipped", "refused" };
const char *const tdm_kernel_action_names[] = { "wait_front", "reserve_back", "push_back", "pop_front" };
const char *const tdm_shape_names[] = { "CBDescriptor", "CircularBufferConfig", "DataflowBufferSpec", "ScratchpadSpec",
	"helper", "ttnn.CBDescriptor", "cb_descriptor_from_sharded_tensor" };

/* ---- lines ---- */

void tdm_walk_find_lines(struct tdm_file_walk *walk, struct tdm_str text)
{
	size_t start = 0;
	const char *end;
	walk->line_count = 0;
	do {
		tdm_grow(&walk->line_starts, &walk->line_cap, walk->line_count + 1, sizeof *walk->line_starts);
		walk->line_starts[walk->line_count++] = (uint32_t)start;
		end = start < text.len ? memchr(text.ptr + start, '\n', text.len - start) : NULL;
		start = end != NULL ? (size_t)(end - text.ptr) + 1 : start;
	} while (end != NULL);
}

uint32_t tdm_walk_line(const struct tdm_file_walk *walk, uint32_t byte)
{
	size_t low = 0, high = walk->line_count;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (walk->line_starts[middle] <= byte)
			low = middle;
		else
			high = middle;
	}
	return (uint32_t)low + 1;
}

/* ---- strategy ----
 *
 * The first rule that applies determines the strategy:
 *   1. no size: unknown;
 *   2. only data formats are unknown, and nothing is chosen: fixed;
 *   3. it has an upper bound regardless of the unknowns, or each unknown is limited by a min(): adaptive;
 *   4. otherwise it grows with its unknowns: data-dependent.
 * A user's settings do not make a size fixed, because they determine the value in one case only.
 */
enum { NAMES_SHOWN = 3 };

/* Facts about an expression that determine the strategy. */
struct contents {
	struct tdm_str names[NAMES_SHOWN]; /* the first distinct unknowns */
	uint32_t name_count;
	uint32_t free_count;        /* occurrences of unknowns outside any min() */
	bool has_format;            /* contains an unknown format */
	const struct tdm_expr *min; /* a choice that selects the smaller value, or NULL */
	const struct tdm_expr *choice;
};

static void look(const struct tdm_expr *expr, struct contents *contents, bool is_limited)
{
	if (expr->op == TDM_EXPR_NAME || expr->op == TDM_EXPR_CALL) {
		bool is_new = true;
		for (uint32_t i = 0; i < contents->name_count && i < NAMES_SHOWN; i++)
			is_new &= !tdm_str_eq(contents->names[i], expr->text);
		if (is_new && contents->name_count < NAMES_SHOWN)
			contents->names[contents->name_count] = expr->text;
		contents->name_count += is_new;
		contents->free_count += !is_limited;
		return;
	}
	if (expr->op == TDM_EXPR_TILE_SIZE || expr->op == TDM_EXPR_DATUM_SIZE) {
		contents->has_format |= tdm_expr_has_unknown(expr);
		return;
	}
	if (expr->op == TDM_EXPR_MIN && contents->min == NULL)
		contents->min = expr;
	if (expr->op == TDM_EXPR_CHOOSE && contents->choice == NULL && tdm_expr_has_unknown(expr->args[0]))
		contents->choice = expr;
	/* Skips the condition of a choice, because the size does not grow with the condition. */
	for (uint32_t i = expr->op == TDM_EXPR_CHOOSE; i < expr->arg_count; i++)
		look(expr->args[i], contents, is_limited || expr->op == TDM_EXPR_MIN);
}

static void say_limit(const struct contents *contents, struct tdm_bounds bounds, bool is_bounded, struct tdm_buf *out)
{
	char bytes[TDM_BYTES_CAP];
	if (is_bounded)
		tdm_buf_printf(
			out, "it is at most %s", tdm_format_bytes_short(bytes, sizeof bytes, (uint64_t)bounds.max));
	if (!is_bounded && contents->min != NULL) {
		tdm_buf_puts(out, "it is limited by ");
		tdm_expr_print(contents->min, out);
	} else if (contents->choice != NULL) {
		tdm_buf_puts(out, is_bounded ? ", chosen by " : "it is chosen by ");
		tdm_expr_print(contents->choice->args[0], out);
	} else if (!is_bounded) {
		tdm_buf_puts(out, "it does not grow with anything that is known");
	}
}

static enum tdm_strategy judge_strategy(const struct tdm_expr *total, struct tdm_arena *arena, const char **reason)
{
	struct contents contents = { 0 };
	struct tdm_buf buf = { 0 };
	if (total == NULL || total->op == TDM_EXPR_NOTHING) {
		*reason = "the source does not say its size";
		return TDM_STRATEGY_UNKNOWN;
	}
	look(total, &contents, false);
	struct tdm_bounds bounds = tdm_expr_eval(total, NULL);
	if ((contents.name_count == 0 && contents.choice == NULL) || bounds.reason == NULL) {
		*reason = contents.has_format ? "only the data format is open" : "its size is a constant";
		return TDM_STRATEGY_FIXED;
	}
	bool is_bounded = bounds.max != INT64_MAX && bounds.max >= 0,
	     is_adaptive = is_bounded || contents.free_count == 0;
	if (is_adaptive)
		say_limit(&contents, bounds, is_bounded, &buf);
	for (uint32_t i = 0; !is_adaptive && i < contents.name_count && i < NAMES_SHOWN; i++)
		tdm_buf_printf(&buf, "%s%.*s", i == 0 ? "it grows with " : ", ", TDM_STR_ARG(contents.names[i]));
	if (!is_adaptive && contents.name_count > NAMES_SHOWN)
		tdm_buf_puts(&buf, " and more");
	*reason = tdm_arena_buf(arena, &buf).ptr;
	return is_adaptive ? TDM_STRATEGY_ADAPTIVE : TDM_STRATEGY_DATA_DEPENDENT;
}

/* ---- entries ---- */

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
	return expr->op == TDM_EXPR_NAME && tdm_is_one_of(expr->text, "nullptr std::nullopt nullopt None");
}

/* Whether the buffer is a view on every branch. */
static bool is_sure_view(const struct tdm_expr *view_of)
{
	if (view_of == NULL || is_null(view_of))
		return false;
	return view_of->op != TDM_EXPR_CHOOSE || (is_sure_view(view_of->args[1]) && is_sure_view(view_of->args[2]));
}

static void add_missing(struct tdm_buf *missing, const char *what, bool is_needed, const struct tdm_expr *expr)
{
	if (is_needed && (expr == NULL || expr->op == TDM_EXPR_NOTHING))
		tdm_buf_printf(missing, "%s%s", missing->len != 0 ? ", " : "", what);
}

const struct tdm_scan_buffer *tdm_walk_add_buffer(struct tdm_file_walk *walk, const struct tdm_buffer_facts *facts)
{
	struct tdm_scan_file *file = walk->file;
	struct tdm_arena *arena = &file->arena;
	const char *name = tdm_expr_plain_text(facts->name, arena);
	struct tdm_buf missing = { 0 };
	bool is_cb = facts->kind == TDM_KIND_CB, is_view = is_sure_view(facts->view_of);
	add_missing(&missing, "index", is_cb, facts->index);
	add_missing(&missing, "name", !is_cb, facts->name);
	add_missing(&missing, "format", !facts->format_is_optional, facts->format);
	add_missing(&missing, "page size", facts->kind != TDM_KIND_SCRATCHPAD, facts->page);
	add_missing(&missing, "total size", true, facts->total);
	add_missing(&missing, facts->also_missing, facts->also_missing != NULL, NULL);
	tdm_grow(&file->buffers, &file->buffer_cap, file->buffer_count + 1, sizeof *file->buffers);
	struct tdm_scan_buffer *buffer = &file->buffers[file->buffer_count++];
	uint8_t grasp = missing.len == 0 ? TDM_GRASP_WHOLLY : TDM_GRASP_PARTLY;
	*buffer = (struct tdm_scan_buffer){
		.file = walk->file_idx,
		.line = facts->line,
		.defined_line = facts->defined_line != 0 ? facts->defined_line : facts->line,
		.kind = facts->kind,
		.shape = facts->shape,
		.grasp = grasp,
		.is_view = is_view,
		.may_be_view = facts->view_of != NULL && !is_null(facts->view_of) && !is_view,
		.in_loop = facts->in_loop,
		.index = index_of(facts->index, walk->settings),
		.also_index = index_of(facts->also_index, walk->settings),
		.index_text = tdm_expr_plain_text(facts->index, arena),
		.name = name[0] != '\0' ? name : tdm_arena_text(arena, facts->variable),
		.format = tdm_expr_plain_text(facts->format, arena),
		.data_format =
			facts->format != NULL && facts->format->op == TDM_EXPR_FORMAT ? facts->format->format : NULL,
		.page = size_of(walk, facts->page),
		.total = size_of(walk, facts->total),
		.cores = tdm_expr_plain_text(facts->cores, arena),
		.view_of = tdm_expr_plain_text(facts->view_of, arena),
		.missing = tdm_arena_buf(arena, &missing).ptr,
		.helper = tdm_arena_text(arena, facts->helper),
		.branch = facts->branch,
		.program = facts->program,
		.object = facts->object,
	};
	buffer->strategy = (uint8_t)judge_strategy(facts->total, arena, &buffer->strategy_reason);
	return buffer;
}

uint32_t tdm_walk_add_program(struct tdm_file_walk *walk, struct tdm_str name, uint32_t line)
{
	struct tdm_scan_file *file = walk->file;
	for (size_t i = line <= file->program_line_max ? file->program_count : 0; i-- != 0;)
		if (file->programs[i].line == line && tdm_str_is(name, file->programs[i].name))
			return (uint32_t)i;
	tdm_grow(&file->programs, &file->program_cap, file->program_count + 1, sizeof *file->programs);
	file->program_line_max = line > file->program_line_max ? line : file->program_line_max;
	file->programs[file->program_count] =
		(struct tdm_scan_program){ .name = tdm_arena_text(&file->arena, name), .line = line };
	return (uint32_t)file->program_count++;
}

/* ---- places ---- */

/* Whether all functions that a name in a file may refer to were judged, and none of them is a helper. */
static bool is_judged_other(const struct tdm_definition *first, uint32_t file)
{
	bool is_own = false, is_other = true;
	for (const struct tdm_definition *d = first; d != NULL; d = tdm_definition_next(d))
		is_own |= d->kind == TDM_DEFINES_FUNCTION && d->file == file;
	for (const struct tdm_definition *d = first; d != NULL; d = tdm_definition_next(d))
		if (d->kind == TDM_DEFINES_FUNCTION && (is_own ? d->file == file : !d->is_private))
			is_other &= atomic_load(&d->verdict) == TDM_VERDICT_OTHER;
	return is_other;
}

void tdm_walk_settle(struct tdm_file_walk *walk, struct tdm_str text, const char *why)
{
	/* Helper names used in the runtime's own sources. */
	static const char helpers[] =
		"create_circular_buffer create_cb add_cb push_cb make_cb make_dfb add_dfb push_dfb";
	struct tdm_scan_file *file = walk->file;
	size_t kept = 0;
	for (size_t i = 0; i < file->place_count; i++) {
		struct tdm_scan_place place = file->places[i];
		place.line = tdm_walk_line(walk, place.byte);
		if (place.grasp == TDM_GRASP_NOT) {
			struct tdm_lexer lexer;
			bool is_helper = place.shape == TDM_SHAPE_HELPER;
			tdm_lexer_init(&lexer, text);
			lexer.at = place.byte;
			struct tdm_str name = tdm_token_text(&lexer, tdm_lexer_next(&lexer));
			const struct tdm_definition *d = tdm_project_find(walk->project, name);
			while (d != NULL && d->kind != TDM_DEFINES_FUNCTION)
				d = tdm_definition_next(d);
			if (is_helper &&
				(d != NULL ? is_judged_other(d, walk->file_idx) : !tdm_is_one_of(name, helpers)))
				continue; /* the helper has its own places, or is not known to create anything */
			place.why = why != NULL ? why
				    : d != NULL && d->rank + 1 >= TDM_DEFINITIONS_MAX
					    ? "too many functions have this name"
				    : walk->is_cut ? "no function that was walked leads to it, and one is too large to "
						     "be followed to its end"
				    : is_helper    ? "the function is defined in none of the files"
						   : "no function that was walked leads to it";
		}
		file->places[kept++] = place;
	}
	file->place_count = kept;
}
