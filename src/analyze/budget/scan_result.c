/* The result of `tidemark scan`: findings first, then budgets, buffers and kernels, then what was not understood. */
#include "analyze/budget/scan_budget.h"
#include "base/arena.h"

#include <inttypes.h>
#include <stdlib.h>

enum { NOTE_INDENT = 8, NAME_COLUMNS = 38 };

/* A table row: a buffer, a kernel or a place, with the data for its columns. Unused members are NULL. */
struct row {
	const struct tdm_scan_file *file;
	const struct tdm_scan_program *program; /* NULL outside any program */
	const struct tdm_scan_buffer *buffer;
	const struct tdm_scan_kernel *kernel;
	const struct tdm_kernel_code *code; /* code of the kernel; NULL if the source was not found or is ambiguous */
	const struct tdm_scan_file *source; /* file of that code; NULL in the same cases */
	const struct tdm_scan_place *place;
};

/* The places of one shape. */
struct shape {
	const char *name;
	uint64_t places, grasp[TDM_GRASP_COUNT], helper_bodies; /* helper_bodies are not counted in `places` */
};

#define ROW(pointer, type, member) TDM_VIA(struct row, pointer, struct tdm_##type, member)
#define OF_FILE(member)            ROW(file, scan_file, member)
#define OF_PROGRAM(member)         ROW(program, scan_program, member)

/* ---- cells ---- */

/* Values of a column's `arg`: the list of names from which the column's number selects one. */
enum { STRATEGY, SHAPE, GRASP, STATE, ACTION, CHANGE };

static struct tdm_value get_name(const struct tdm_field *field)
{
	static const char *const changes[] = { "new", "grew", "changed", "shrank", "gone" };
	static const char *const *const names[] = { tdm_strategy_names, tdm_shape_names, tdm_grasp_names,
		tdm_file_state_names, tdm_kernel_action_names, changes };
	return tdm_value_text(names[field->column->arg][tdm_field_member(field).number]);
}
#define NAMED(what) .get = get_name, .arg = (what)

/* Moves a buffer's text into a value and releases the buffer. The value is unknown if the text is empty. */
static struct tdm_value text_of(const struct tdm_field *field, struct tdm_buf *text)
{
	return tdm_value_name(tdm_arena_buf(field->scratch, text).ptr);
}

/* A note below a row; drops the leading separator if the first part is missing. */
static struct tdm_value note(const struct tdm_field *field, const char *pattern, const struct tdm_named *values)
{
	struct tdm_buf text = { 0 };
	size_t count = 0;
	while (values[count].key != NULL)
		count++;
	tdm_sentence_put(&text, pattern, values, count);
	const char *all = tdm_arena_buf(field->scratch, &text).ptr;
	return tdm_value_name(all + strspn(all, ",; "));
}

/* ---- buffers ---- */

/* The buffer that the column describes. */
static const struct tdm_scan_buffer *buffer_of(const struct tdm_field *field)
{
	return *(
		const struct tdm_scan_buffer *const *)(const void *)((const char *)field->row + field->column->via - 1);
}

/* Labels such as "cb 3", "dfb INPUT", "cb src0_cb_index". */
static struct tdm_value label_of(const struct tdm_field *field, const struct tdm_scan_buffer *buffer)
{
	struct tdm_buf text = { 0 };
	tdm_buf_printf(&text, "%s ", tdm_kind_name((enum tdm_kind)buffer->kind));
	if (buffer->index >= 0)
		tdm_buf_printf(&text, "%" PRId32, buffer->index);
	else
		tdm_buf_puts(&text, buffer->index_text[0] != '\0' ? buffer->index_text
				    : buffer->name[0] != '\0'     ? buffer->name
								  : "-");
	if (buffer->also_index >= 0)
		tdm_buf_printf(&text, ", %" PRId32, buffer->also_index);
	return text_of(field, &text);
}

static struct tdm_value get_label(const struct tdm_field *field)
{
	return label_of(field, buffer_of(field));
}

static struct tdm_value get_format(const struct tdm_field *field)
{
	const struct tdm_data_format *format = buffer_of(field)->data_format;
	return tdm_value_text(format != NULL ? format->name : NULL);
}

static struct tdm_value get_strategy(const struct tdm_field *field)
{
	return buffer_of(field)->is_view ? tdm_value_text("view") : get_name(field);
}

static struct tdm_value get_own_bytes(const struct tdm_field *field)
{
	const struct tdm_scan_buffer *buffer = buffer_of(field);
	return tdm_value_number(buffer != NULL ? tdm_scan_own_bytes(buffer) : TDM_BYTES_UNKNOWN);
}

/* The conditions around the buffer, from the inside out. */
static struct tdm_value get_branches(const struct tdm_field *field)
{
	size_t count = 0;
	for (const struct tdm_scan_branch *at = buffer_of(field)->branch; at != NULL; at = at->outer)
		count++;
	struct tdm_value *list = tdm_arena_take(field->scratch, count * sizeof *list);
	count = 0;
	for (const struct tdm_scan_branch *at = buffer_of(field)->branch; at != NULL; at = at->outer)
		list[count++] = tdm_field_members(field,
			TDM_VALUES({ "if", tdm_value_number(at->id) }, { "condition", tdm_value_text(at->condition) },
				{ "is_true", tdm_value_bool(at->way == 0) }));
	return tdm_value_list(list, count);
}

/* The expression and bounds of a buffer, the memory it views, and what was not understood. */
static struct tdm_value get_buffer_note(const struct tdm_field *field)
{
	const struct tdm_scan_buffer *b = buffer_of(field);
	bool has_expr = b->total.expr != NULL && b->total.expr->op != TDM_EXPR_NUMBER;
	bool is_open = b->total.bytes == TDM_BYTES_UNKNOWN;
	bool has_min = is_open && tdm_is_some(b->total.min), has_max = is_open && b->total.max != TDM_BYTES_UNKNOWN;
	return note(field,
		"{expression}|, from {from} to {to}|, at least {least}|, at most {most}|; view of {view}|; may be a "
		"view of {perhaps}|; not understood: {missing}",
		TDM_VALUES({ "expression", tdm_value_name(has_expr ? b->total.text : NULL) },
			{ "from", tdm_value_if(has_min && has_max, tdm_value_bytes(b->total.min)) },
			{ "to", tdm_value_bytes(b->total.max) },
			{ "least", tdm_value_if(has_min && !has_max, tdm_value_bytes(b->total.min)) },
			{ "most", tdm_value_if(has_max && !has_min, tdm_value_bytes(b->total.max)) },
			{ "view", tdm_value_text(b->is_view ? b->view_of : NULL) },
			{ "perhaps", tdm_value_text(b->may_be_view && !b->is_view ? b->view_of : NULL) },
			{ "missing", tdm_value_name(b->missing) }));
}

#define BUFFER(member) ROW(buffer, scan_buffer, member)
static const struct tdm_column buffer_columns[] = {
	{ NULL, "file", OF_FILE(path) },
	{ "line", "line", BUFFER(line) },
	{ NULL, "kind", BUFFER(kind), .flags = TDM_IS_KIND },
	{ "buffer", NULL, BUFFER(line), .get = get_label, .width = NAME_COLUMNS },
	{ NULL, "index", BUFFER(index), .flags = TDM_NEGATIVE_IS_UNKNOWN },
	{ "format", "format", BUFFER(line), .get = get_format },
	{ "page", "page_bytes", BUFFER(page.bytes), TDM_SIZE(0) },
	{ "total", "total_bytes", BUFFER(total.bytes), TDM_SIZE(0) },
	{ NULL, "expression", BUFFER(total.text), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "is_view", BUFFER(is_view) },
	{ "strategy", NULL, BUFFER(strategy), .get = get_strategy, .arg = STRATEGY },
	{ NULL, NULL, BUFFER(line), .get = get_buffer_note, .flags = TDM_BELOW, .before = NOTE_INDENT },
	{ NULL, "strategy", BUFFER(strategy), NAMED(STRATEGY) },
	{ NULL, "strategy_reason", BUFFER(strategy_reason) },
	{ NULL, "name", BUFFER(name), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "program", OF_PROGRAM(name) },
	{ NULL, "own_bytes", BUFFER(line), .get = get_own_bytes },
	{ NULL, "min_bytes", BUFFER(total.min) },
	{ NULL, "max_bytes", BUFFER(total.max) },
	{ NULL, "unknown_because", BUFFER(total.reason) },
	{ NULL, "page_expression", BUFFER(page.text), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "index_expression", BUFFER(index_text), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "also_index", BUFFER(also_index), .flags = TDM_NEGATIVE_IS_UNKNOWN },
	{ NULL, "format_expression", BUFFER(format), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "cores", BUFFER(cores), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "may_be_view", BUFFER(may_be_view) },
	{ NULL, "view_of", BUFFER(view_of), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "shape", BUFFER(shape), NAMED(SHAPE) },
	{ NULL, "helper", BUFFER(helper), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "defined_line", BUFFER(defined_line) },
	{ NULL, "in_loop", BUFFER(in_loop) },
	{ NULL, "branches", BUFFER(line), .get = get_branches },
	{ NULL, "understood", BUFFER(grasp), NAMED(GRASP) },
	{ NULL, "missing", BUFFER(missing), .flags = TDM_ZERO_IS_UNKNOWN },
};

/* ---- kernels ---- */

/* Lists the buffers on which a kernel performs an action, without duplicates: "0, 1". Each buffer is shown as its
 * index, name or expression. */
static const char *buffers_of(
	const struct tdm_field *field, const struct tdm_scan_kernel *kernel, enum tdm_kernel_action action)
{
	struct tdm_buf text = { 0 };
	for (size_t i = 0; i < kernel->use_count; i++) {
		const struct tdm_kernel_use *use = &kernel->uses[i];
		bool is_repeated = use->action != action;
		for (size_t k = 0; k < i && !is_repeated; k++) {
			const struct tdm_kernel_use *other = &kernel->uses[k];
			is_repeated = other->action == action && other->index == use->index &&
				      strcmp(other->name, use->name) == 0 &&
				      (use->index >= 0 || tdm_expr_is_same(other->buffer, use->buffer));
		}
		if (is_repeated)
			continue;
		tdm_buf_puts(&text, text.len != 0 ? ", " : "");
		if (use->index >= 0)
			tdm_buf_printf(&text, "%" PRId32, use->index);
		else if (use->name[0] != '\0')
			tdm_buf_puts(&text, use->name);
		else
			tdm_expr_print(use->buffer, &text);
	}
	return tdm_arena_buf(field->scratch, &text).ptr;
}

static struct tdm_value get_kernel_note(const struct tdm_field *field)
{
	const struct tdm_scan_kernel *kernel = ((const struct row *)field->row)->kernel;
	const struct tdm_kernel_code *code = kernel->code;
	bool is_choice = code == NULL && kernel->source_count > 1;
	return note(field,
		"{lines/line/lines}, complexity {complexity}|one of {sources} sources|{lost}its source is not among "
		"the scanned files|; waits on {waits}|; pushes {pushes}",
		TDM_VALUES(
			{ "lines", tdm_value_if(code != NULL, tdm_value_count(code != NULL ? code->code_lines : 0)) },
			{ "complexity", tdm_value_number(code != NULL ? code->complexity : 0) },
			{ "sources", tdm_value_if(is_choice, tdm_value_number(kernel->source_count)) },
			{ "lost", tdm_value_bool(code == NULL && !is_choice) },
			{ "waits", tdm_value_name(buffers_of(field, kernel, TDM_KERNEL_WAIT)) },
			{ "pushes", tdm_value_name(buffers_of(field, kernel, TDM_KERNEL_PUSH)) }));
}

static struct tdm_value get_sources(const struct tdm_field *field)
{
	const struct tdm_scan_kernel *kernel = ((const struct row *)field->row)->kernel;
	const struct tdm_scan *scan = field->table->context;
	struct tdm_value *paths = tdm_arena_take(field->scratch, kernel->source_count * sizeof *paths);
	for (uint32_t i = 0; i < kernel->source_count; i++)
		paths[i] = tdm_value_text(scan->files[kernel->sources[i]].path);
	return tdm_value_list(paths, kernel->source_count);
}

static struct tdm_value get_use_expr(const struct tdm_field *field)
{
	const struct tdm_kernel_use *use = field->row;
	struct tdm_buf text = { 0 };
	tdm_expr_print(field->column->arg == 0 ? use->buffer : use->pages, &text);
	return text_of(field, &text);
}

static struct tdm_value get_most_pages(const struct tdm_field *field)
{
	int64_t most = ((const struct tdm_kernel_use *)field->row)->pages_max;
	return tdm_value_signed(most != INT64_MAX ? most : INT64_MIN);
}

static struct tdm_value get_use_file(const struct tdm_field *field)
{
	const struct tdm_scan *scan = field->table->context;
	return tdm_value_text(scan->files[((const struct tdm_kernel_use *)field->row)->file].path);
}

#define USE(member) TDM_MEMBER(struct tdm_kernel_use, member)
static const struct tdm_column use_columns[] = {
	{ NULL, "action", USE(action), NAMED(ACTION) },
	{ NULL, "index", USE(index), .flags = TDM_NEGATIVE_IS_UNKNOWN },
	{ NULL, "name", USE(name), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "buffer", .get = get_use_expr, .arg = 0 },
	{ NULL, "pages", .get = get_use_expr, .arg = 1 },
	{ NULL, "pages_min", USE(pages_min) },
	{ NULL, "pages_max", .get = get_most_pages },
	{ NULL, "file", .get = get_use_file },
	{ NULL, "line", USE(line) },
	{ NULL, "is_conditional", USE(is_conditional) },
	{ NULL, "in_loop", USE(in_loop) },
};

static struct tdm_value get_uses(const struct tdm_field *field)
{
	const struct tdm_scan_kernel *kernel = ((const struct row *)field->row)->kernel;
	struct tdm_table table = TDM_TABLE_OF(use_columns, kernel->uses, kernel->use_count);
	table.context = field->table->context;
	return tdm_field_table(field, table);
}

#define KERNEL(member) ROW(kernel, scan_kernel, member)
#define CODE(member)   ROW(code, kernel_code, member)
static const struct tdm_column kernel_columns[] = {
	{ NULL, "file", OF_FILE(path) },
	{ "line", "line", KERNEL(line) },
	{ "kernel", "source", KERNEL(source), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "source_file", ROW(source, scan_file, path) },
	{ NULL, "source_files", .get = get_sources },
	{ "name", "name", KERNEL(name), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, NULL, .get = get_kernel_note, .flags = TDM_BELOW, .before = NOTE_INDENT },
	{ NULL, "cores", KERNEL(cores), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "program", OF_PROGRAM(name) },
	{ NULL, "bytes", ROW(source, scan_file, bytes) },
	{ NULL, "lines", CODE(lines) },
	{ NULL, "code_lines", CODE(code_lines) },
	{ NULL, "complexity", CODE(complexity) },
	{ NULL, "max_complexity", CODE(max_complexity) },
	{ NULL, "uses", .get = get_uses },
};

/* ---- budgets ---- */

static struct tdm_value get_least(const struct tdm_field *field)
{
	const struct tdm_scan_budget *budget = field->row;
	struct tdm_value value =
		field->column->format != NULL ? tdm_value_number(budget->min) : tdm_value_share(budget->share);
	value.mark = budget->bytes == TDM_BYTES_UNKNOWN ? '>' : '\0';
	if (field->column->format == NULL)
		value.level = budget->share > 1     ? TDM_LEVEL_DANGER
			      : budget->share > 0.9 ? TDM_LEVEL_WARNING
						    : TDM_LEVEL_PLAIN;
	return value;
}

static struct tdm_value get_program_place(const struct tdm_field *field)
{
	const struct tdm_scan_budget *budget = field->row;
	return tdm_field_printed(field, "%s:%" PRIu32, budget->file->path, budget->program->line);
}

/* The expression of a budget, if it is a range. */
static struct tdm_value get_budget_note(const struct tdm_field *field)
{
	const struct tdm_scan_budget *b = field->row;
	if (b->bytes != TDM_BYTES_UNKNOWN)
		return tdm_value_text(NULL);
	return note(field,
		"= {expression}|, at most {most}|; and {missed/place that was/places that were} not understood",
		TDM_VALUES({ "expression", tdm_value_text(b->expression) }, { "most", tdm_value_bytes(b->max) },
			{ "missed", tdm_value_if(b->missed != 0, tdm_value_count(b->missed)) }));
}

#define BUDGET(member)         TDM_MEMBER(struct tdm_scan_budget, member)
#define BUDGET_PROGRAM(member) TDM_VIA(struct tdm_scan_budget, program, struct tdm_scan_program, member)
static const struct tdm_column program_columns[] = {
	{ NULL, "file", TDM_VIA(struct tdm_scan_budget, file, struct tdm_scan_file, path) },
	{ NULL, "line", BUDGET_PROGRAM(line) },
	{ "program", "program", BUDGET_PROGRAM(name), .width = NAME_COLUMNS },
	{ "buffers", "buffers", BUDGET(buffers), TDM_COUNT(0) },
	{ "views", "views", BUDGET(views), TDM_COUNT(0) },
	{ NULL, "unknown", BUDGET(unknown) },
	{ NULL, "missed_places", BUDGET(missed) },
	{ "L1 per core", NULL, .get = get_least, TDM_SIZE(0) },
	{ NULL, "bytes", BUDGET(bytes) },
	{ NULL, "min_bytes", BUDGET(min) },
	{ NULL, "max_bytes", BUDGET(max) },
	{ NULL, "expression", BUDGET(expression) },
	{ "of the card", "l1_share", .get = get_least, .decimals = 1 },
	{ NULL, NULL, .get = get_program_place, .flags = TDM_BELOW, .before = 2 },
	{ NULL, NULL, .get = get_budget_note, .flags = TDM_BELOW, .before = 2 },
};

/* ---- changes between two scans ---- */

static const struct tdm_scan_buffer *any_side(const struct tdm_field *field)
{
	const struct tdm_scan_change *change = field->row;
	return change->after != NULL ? change->after : change->before;
}

static struct tdm_value get_kind(const struct tdm_field *field)
{
	return tdm_value_kind(any_side(field)->kind);
}

static struct tdm_value get_changed_label(const struct tdm_field *field)
{
	return label_of(field, any_side(field));
}

static struct tdm_value get_change_note(const struct tdm_field *field)
{
	const struct tdm_scan_change *c = field->row;
	bool is_changed = c->change == TDM_CHANGE_CHANGED;
	return note(field, "|{path}: |{program}|: {now}, was {was}",
		TDM_VALUES({ "path", tdm_value_name(c->path) }, { "program", tdm_value_text(c->program) },
			{ "now", tdm_value_text(is_changed ? c->after->total.text : NULL) },
			{ "was", tdm_value_text(is_changed ? c->before->total.text : NULL) }));
}

#define CHANGED(member)    TDM_MEMBER(struct tdm_scan_change, member)
#define SIDE(side, member) TDM_VIA(struct tdm_scan_change, side, struct tdm_scan_buffer, member)
static const struct tdm_column change_columns[] = {
	{ "change", "change", CHANGED(change), NAMED(CHANGE) },
	{ NULL, "file", CHANGED(path), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "program", CHANGED(program) },
	{ NULL, "kind", .get = get_kind },
	{ "buffer", "buffer", .get = get_changed_label, .width = NAME_COLUMNS },
	{ NULL, "before_line", SIDE(before, line) },
	{ NULL, "after_line", SIDE(after, line) },
	{ "before", "before_bytes", SIDE(before, line), .get = get_own_bytes, TDM_SIZE(0) },
	{ "after", "after_bytes", SIDE(after, line), .get = get_own_bytes, TDM_SIZE(0) },
	{ NULL, NULL, .get = get_change_note, .flags = TDM_BELOW, .before = 2 },
	{ NULL, "before_expression", SIDE(before, total.text), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "after_expression", SIDE(after, total.text), .flags = TDM_ZERO_IS_UNKNOWN },
};

/* ---- coverage ---- */

static struct tdm_value get_where(const struct tdm_field *field)
{
	const struct row *row = field->row;
	const char *why = row->place->why[0] != '\0' ? row->place->why : "-";
	return tdm_field_printed(field, "%s:%" PRIu32 ": %s", row->file->path, row->place->line, why);
}

#define PLACE(member) ROW(place, scan_place, member)
static const struct tdm_column missed_columns[] = {
	{ NULL, "file", OF_FILE(path) },
	{ NULL, "line", PLACE(line) },
	{ "place", "shape", PLACE(shape), NAMED(SHAPE) },
	{ "got", "understood", PLACE(grasp), NAMED(GRASP) },
	{ "where and why", NULL, .get = get_where, .flags = TDM_WRAP },
	{ NULL, "why", PLACE(why), .flags = TDM_ZERO_IS_UNKNOWN },
};

#define OF_SHAPE(member) TDM_MEMBER(struct shape, member)
static const struct tdm_column shape_columns[] = {
	{ "shape", "shape", OF_SHAPE(name) },
	{ "places", "places", OF_SHAPE(places), TDM_COUNT(0) },
	{ "wholly", "wholly", OF_SHAPE(grasp[TDM_GRASP_WHOLLY]), TDM_COUNT(0) },
	{ "partly", "partly", OF_SHAPE(grasp[TDM_GRASP_PARTLY]), TDM_COUNT(0) },
	{ "not", "not", OF_SHAPE(grasp[TDM_GRASP_NOT]), TDM_COUNT(0) },
	{ "in helpers", "in_helpers", OF_SHAPE(helper_bodies), TDM_COUNT(0) },
};

static struct tdm_value get_file(const struct tdm_field *field)
{
	const struct tdm_scan_file *file = ((const struct row *)field->row)->file;
	if (file->error_line == 0)
		return tdm_field_printed(field, "%s: %s", file->path, file->why);
	return tdm_field_printed(field, "%s:%" PRIu32 ": %s", file->path, file->error_line, file->why);
}

static const struct tdm_column file_columns[] = {
	{ "state", "state", OF_FILE(state), NAMED(STATE) },
	{ "file", NULL, .get = get_file, .flags = TDM_WRAP },
	{ NULL, "file", OF_FILE(path) },
	{ NULL, "why", OF_FILE(why), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "line", OF_FILE(error_line), .flags = TDM_ZERO_IS_UNKNOWN },
};

#define REFUSAL(member) TDM_MEMBER(struct tdm_scan_refusal, member)
static const struct tdm_column refusal_columns[] = {
	{ "not read", "path", REFUSAL(path) },
	{ "why", "why", REFUSAL(why), .flags = TDM_WRAP },
};

/* ---- the whole result ---- */

/* The lists shown in the result. */
struct lists {
	struct row *buffers, *kernels, *missed, *files; /* missed: places understood partly or not at all */
	size_t buffer_count, kernel_count, missed_count, file_count, shape_count;
	struct shape *shapes, all;
	uint64_t states[TDM_FILE_STATE_COUNT], bytes, views;
};

static void add_file(const struct tdm_scan *scan, const struct tdm_scan_file *file, struct lists *l)
{
	for (size_t i = 0; i < file->buffer_count; i++) {
		const struct tdm_scan_buffer *b = &file->buffers[i];
		l->views += b->is_view;
		l->buffers[l->buffer_count++] = (struct row){ .file = file,
			.buffer = b,
			.program = b->program < file->program_count ? &file->programs[b->program] : NULL };
	}
	for (size_t i = 0; i < file->kernel_count; i++) {
		const struct tdm_scan_kernel *k = &file->kernels[i];
		bool is_found = k->source_file != 0 && k->source_file <= scan->file_count;
		l->kernels[l->kernel_count++] = (struct row){ .file = file,
			.kernel = k,
			.program = k->program < file->program_count ? &file->programs[k->program] : NULL,
			.code = k->code,
			.source = is_found ? &scan->files[k->source_file - 1] : NULL };
	}
	for (size_t i = 0; i < file->place_count; i++) {
		const struct tdm_scan_place *place = &file->places[i];
		struct shape *both[] = { &l->shapes[place->shape], &l->all };
		for (int k = 0; k < 2; k++) {
			both[k]->helper_bodies += place->is_helper_body;
			both[k]->places += !place->is_helper_body;
			both[k]->grasp[place->grasp] += !place->is_helper_body;
		}
		if (place->grasp != TDM_GRASP_WHOLLY && !place->is_helper_body)
			l->missed[l->missed_count++] = (struct row){ .file = file, .place = place };
	}
	if (file->state == TDM_FILE_PARTIAL || file->state == TDM_FILE_REFUSED)
		l->files[l->file_count++] = (struct row){ .file = file };
	l->states[file->state]++;
	l->bytes += file->bytes;
}

static void make_lists(struct tdm_result *result, const struct tdm_scan *scan, struct lists *l)
{
	size_t buffers = 0, kernels = 0, places = 0;
	for (size_t i = 0; i < scan->file_count; i++) {
		buffers += scan->files[i].buffer_count;
		kernels += scan->files[i].kernel_count;
		places += scan->files[i].place_count;
	}
	*l = (struct lists){ .buffers = tdm_result_alloc(result, buffers, sizeof *l->buffers),
		.kernels = tdm_result_alloc(result, kernels, sizeof *l->kernels),
		.missed = tdm_result_alloc(result, places, sizeof *l->missed),
		.files = tdm_result_alloc(result, scan->file_count, sizeof *l->files),
		.shapes = tdm_result_alloc(result, TDM_SHAPE_COUNT, sizeof *l->shapes) };
	for (int i = 0; i < TDM_SHAPE_COUNT; i++)
		l->shapes[i].name = tdm_shape_names[i];
	for (size_t i = 0; i < scan->file_count; i++)
		add_file(scan, &scan->files[i], l);
	for (size_t i = 0; i < TDM_SHAPE_COUNT; i++)
		if (l->shapes[i].places + l->shapes[i].helper_bodies != 0)
			l->shapes[l->shape_count++] = l->shapes[i];
}

/* A path as given by the user. */
static const char *given(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard input" : path;
}

static void add_head(struct tdm_block *in, const struct tdm_scan_report *r, const struct lists *l)
{
	const struct tdm_scan *scan = &r->scan;
	uint64_t refused = l->states[TDM_FILE_REFUSED];
	tdm_line(in, "Scanned",
		"{files.count/file/files}, {files.bytes}: {files.whole} parsed whole, {files.partial} in part, "
		"{files.skipped} skipped without the names that matter, {_refused} refused",
		TDM_VALUES({ "files.count", tdm_value_count(scan->file_count) },
			{ "files.bytes", tdm_value_bytes(l->bytes) },
			{ "files.whole", tdm_value_count(l->states[TDM_FILE_WHOLE]) },
			{ "files.partial", tdm_value_count(l->states[TDM_FILE_PARTIAL]) },
			{ "files.skipped", tdm_value_count(l->states[TDM_FILE_SKIPPED]) },
			{ "files.refused", tdm_value_count(refused) },
			{ "_refused", tdm_value_count(refused + scan->refusal_count) }));
	tdm_line(in, "Found",
		"{_buffers/buffer/buffers}| ({_views/view/views})| in {_programs/program/programs}, "
		"{_kernels/kernel/kernels}",
		TDM_VALUES({ "_buffers", tdm_value_count(l->buffer_count) },
			{ "_views", tdm_value_if(l->views != 0, tdm_value_count(l->views)) },
			{ "_programs", tdm_value_count(r->budgets.count) },
			{ "_kernels", tdm_value_count(l->kernel_count) }));
	tdm_line(in, "Understood",
		"{places.wholly} of {places.count/place/places} wholly, {places.partly} partly, {places.not} not",
		TDM_VALUES({ "places.count", tdm_value_count(l->all.places) },
			{ "places.wholly", tdm_value_count(l->all.grasp[TDM_GRASP_WHOLLY]) },
			{ "places.partly", tdm_value_count(l->all.grasp[TDM_GRASP_PARTLY]) },
			{ "places.not", tdm_value_count(l->all.grasp[TDM_GRASP_NOT]) },
			{ "places.in_helpers", tdm_value_count(l->all.helper_bodies) }));
	tdm_line(in, "Card", "{_card}|: {l1_bytes} of L1 for buffers in each core",
		TDM_VALUES({ "_card", tdm_value_text(r->card->full_name) }, { "card", tdm_value_text(r->card->name) },
			{ "l1_bytes", tdm_value_bytes(r->budgets.l1_bytes) }));
	if (r->is_comparison)
		tdm_line(in, "Compared with", "{_before}",
			TDM_VALUES({ "before", tdm_value_text(r->paths[0]) },
				{ "_before", tdm_value_text(given(r->paths[0])) }));
	if (r->baseline != NULL)
		tdm_line(in, "Baseline", "{_path}|{_same}: no budget differs",
			TDM_VALUES({ "_path", tdm_value_text(r->baseline) },
				{ "_same", tdm_value_bool(r->is_as_baseline) }));
}

/* Explains why nothing was found. */
static void add_nothing(struct tdm_block *in, const struct tdm_scan_report *r, const struct lists *l)
{
	uint64_t places = l->all.places, refused = l->states[TDM_FILE_REFUSED], others = r->scan.refusal_count;
	struct tdm_buf paths = { 0 };
	for (const char *const *path = r->paths + r->is_comparison; *path != NULL; path++)
		tdm_buf_printf(&paths, "%s%s", paths.len != 0 ? ", " : "", given(*path));
	const char *why =
		places != 0 ? "none of the places that create one was understood; the list below says why."
		: refused == r->scan.file_count && refused + others != 0
			? "no source could be read; the list below says why."
		: r->scan.file_count == 0
			? "there are no C++ or Python sources, by the endings of their names."
			: "looked for CBDescriptor, CircularBufferConfig, DataflowBufferSpec, ScratchpadSpec, "
			  "functions that make them, and cb_descriptor_from_sharded_tensor in Python.";
	tdm_say(in, "No buffer {=_read/was read/is created} in {_paths}: {_why}",
		TDM_VALUES({ "_read", tdm_value_bool(places + refused + others != 0) },
			{ "_paths", tdm_value_text(tdm_arena_buf(&in->result->arena, &paths).ptr) },
			{ "_why", tdm_value_text(why) }))
		->is_apart = true;
}

/* In text, shows one table per file, below the file's path. */
static void add_by_file(struct tdm_block *in, const char *key, const char *title, struct tdm_table table, size_t limit)
{
	const struct row *rows = table.rows;
	size_t count = table.count, shown = limit != 0 && count > limit ? limit : count;
	tdm_add_table(in, key, NULL, table)->is_data_only = true;
	struct tdm_block *group = tdm_add_group(in, NULL, title);
	for (size_t at = 0, end; at < shown; at = end) {
		for (end = at + 1; end < shown && rows[end].file == rows[at].file;)
			end++;
		table.rows = rows + at;
		table.count = end - at;
		tdm_add_table(group, NULL, rows[at].file->path, table)->is_close = true;
	}
	if (count > shown)
		tdm_say(group, "and {_more} more", TDM_VALUES({ "_more", tdm_value_count(count - shown) }));
}

void tdm_scan_show(struct tdm_block *in, const struct tdm_scan_report *r)
{
	struct lists l;
	make_lists(in->result, &r->scan, &l);
	struct tdm_table changes = TDM_FITTED(change_columns, r->changes, r->change_count);
	struct tdm_table programs = TDM_FITTED(program_columns, r->budgets.list, r->budgets.count);
	struct tdm_table buffers = TDM_FITTED(buffer_columns, l.buffers, l.buffer_count);
	struct tdm_table kernels = TDM_FITTED(kernel_columns, l.kernels, l.kernel_count);
	struct tdm_table missed = TDM_FITTED(missed_columns, l.missed, l.missed_count);
	struct tdm_table files = TDM_FITTED(file_columns, l.files, l.file_count);
	struct tdm_table refusals = TDM_FITTED(refusal_columns, r->scan.refusals, r->scan.refusal_count);
	struct tdm_table *const limited[] = { &changes, &programs, &missed, &files, &refusals };
	for (size_t i = 0; i < sizeof limited / sizeof *limited; i++) {
		limited[i]->limit = r->rows;
		limited[i]->is_whole_in_data = true;
	}
	buffers.context = kernels.context = &r->scan;
	add_head(in, r, &l);
	if (l.buffer_count == 0)
		add_nothing(in, r, &l);
	struct tdm_block *found = tdm_show_findings(in, "findings", "Findings", &r->findings);
	found->findings.limit = r->rows;
	found->is_apart = true;
	if (r->is_comparison) {
		struct tdm_block *group = tdm_add_group(in, NULL, "Changes");
		tdm_add_table(group, "changes", NULL, changes)->is_close = true;
		tdm_say(group, "{_and}and |{_same/buffer is/buffers are} the same in both",
			TDM_VALUES(
				{ "_and", tdm_value_bool(changes.count != 0) }, { "_same", tdm_value_count(r->same) }));
	}
	tdm_add_table(in, "programs", "Budgets", programs);
	tdm_add_table(in, "budgets", NULL, tdm_budgets_table(&r->named))->is_data_only = true;
	if (r->is_comparison) {
		tdm_add_table(in, "buffers", NULL, buffers)->is_data_only = true;
		tdm_add_table(in, "kernels", NULL, kernels)->is_data_only = true;
	} else {
		add_by_file(in, "buffers", "Buffers", buffers, r->rows);
		add_by_file(in, "kernels", "Kernels", kernels, r->rows);
	}
	struct tdm_block *coverage = tdm_add_group(in, "coverage", NULL);
	tdm_add_table(coverage, "shapes", "Coverage", TDM_FITTED(shape_columns, l.shapes, l.shape_count));
	tdm_add_table(coverage, "not_understood", "Not understood wholly", missed);
	tdm_add_table(coverage, "partial_files", "Files that are not whole", files);
	tdm_add_table(coverage, "refused", "Paths that could not be read", refusals);
}
