/* The tables of a scan: the columns for both text and JSON. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/wrap.h"
#include "report/report_put.h"
#include "report/scan_report.h"

enum { BUFFER_COLUMNS = 22, PROGRAM_COLUMNS = 38, BELOW_INDENT = 8 };

/* Rows. */

static const struct tdm_scan_program *program_of(const struct tdm_scan_file *file, uint32_t program)
{
	return program < file->program_count ? &file->programs[program] : NULL;
}

static void count_place(struct tdm_scan_coverage *coverage, const struct tdm_scan_place *place)
{
	struct tdm_scan_shape_row *rows[] = { &coverage->shapes[place->shape], &coverage->all };
	for (int i = 0; i < 2; i++) {
		rows[i]->helper_bodies += place->is_helper_body;
		rows[i]->places += !place->is_helper_body;
		rows[i]->grasp[place->grasp] += !place->is_helper_body;
	}
}

static void add_file_rows(const struct tdm_scan *scan, const struct tdm_scan_file *file, struct tdm_scan_rows *rows)
{
	for (size_t i = 0; i < file->buffer_count; i++)
		rows->buffers[rows->buffer_count++] = (struct tdm_scan_buffer_row){ file, &file->buffers[i],
			program_of(file, file->buffers[i].program) };
	for (size_t i = 0; i < file->kernel_count; i++) {
		const struct tdm_scan_kernel *kernel = &file->kernels[i];
		bool is_found = kernel->source_file != 0 && kernel->source_file <= scan->file_count;
		rows->kernels[rows->kernel_count++] =
			(struct tdm_scan_kernel_row){ file, kernel, program_of(file, kernel->program),
				is_found ? scan->files[kernel->source_file - 1].path : NULL };
	}
	for (size_t i = 0; i < file->place_count; i++) {
		const struct tdm_scan_place *place = &file->places[i];
		count_place(&rows->coverage, place);
		if (place->grasp != TDM_GRASP_WHOLLY && !place->is_helper_body)
			rows->missed[rows->missed_count++] = (struct tdm_scan_place_row){ file, place };
	}
	if (file->state == TDM_FILE_PARTIAL || file->state == TDM_FILE_REFUSED)
		rows->files[rows->file_count++] = file;
	rows->coverage.files[file->state]++;
	rows->coverage.bytes += file->bytes;
}

int tdm_scan_rows_make(const struct tdm_scan *scan, struct tdm_scan_rows *rows)
{
	size_t buffers = 1, kernels = 1, places = 1;
	for (size_t i = 0; i < scan->file_count; i++) {
		buffers += scan->files[i].buffer_count;
		kernels += scan->files[i].kernel_count;
		places += scan->files[i].place_count;
	}
	rows->buffers = calloc(buffers, sizeof *rows->buffers);
	rows->kernels = calloc(kernels, sizeof *rows->kernels);
	rows->missed = calloc(places, sizeof *rows->missed);
	rows->files = calloc(scan->file_count + 1, sizeof *rows->files);
	if (rows->buffers == NULL || rows->kernels == NULL || rows->missed == NULL || rows->files == NULL)
		return -ENOMEM;
	for (int i = 0; i < TDM_SHAPE_COUNT; i++)
		rows->coverage.shapes[i].shape = tdm_shape_name((enum tdm_shape)i);
	rows->coverage.all.shape = "all";
	for (size_t i = 0; i < scan->file_count; i++)
		add_file_rows(scan, &scan->files[i], rows);
	return 0;
}

void tdm_scan_rows_done(struct tdm_scan_rows *rows)
{
	free(rows->buffers);
	free(rows->kernels);
	free(rows->missed);
	free(rows->files);
	*rows = (struct tdm_scan_rows){ 0 };
}

void tdm_scan_put_below(const struct tdm_scan_report *report, struct tdm_buf *text, struct tdm_buf *out)
{
	struct tdm_buf shown;
	tdm_buf_init(&shown);
	tdm_cell_put(&shown, tdm_buf_str(text), 0, report->term.utf8);
	if (shown.len != 0) {
		tdm_buf_fill(out, ' ', BELOW_INDENT);
		tdm_wrap(out, tdm_buf_str(&shown), (struct tdm_wrap){ BELOW_INDENT, BELOW_INDENT, report->term.width });
	}
	out->failed |= text->failed || shown.failed;
	tdm_buf_done(&shown);
	tdm_buf_done(text);
}

/* Buffers. */

static const struct tdm_scan_buffer *buffer_of(const struct tdm_field *field)
{
	return ((const struct tdm_scan_buffer_row *)field->row)->buffer;
}

/* "cb 3", "dfb INPUT", "cb src0_cb_index" */
static void put_label(const struct tdm_scan_buffer *buffer, struct tdm_buf *out)
{
	tdm_buf_printf(out, "%s ", tdm_kind_name((enum tdm_kind)buffer->kind));
	if (buffer->index >= 0)
		tdm_buf_printf(out, "%" PRId32, buffer->index);
	else
		tdm_buf_puts(out, buffer->index_text[0] != '\0' ? buffer->index_text
				  : buffer->name[0] != '\0'     ? buffer->name
								: "-");
	if (buffer->also_index >= 0)
		tdm_buf_printf(out, ", %" PRId32, buffer->also_index);
}

static void put_buffer(const struct tdm_field *field, struct tdm_buf *out)
{
	put_label(buffer_of(field), out);
}

static struct tdm_value format_of(const struct tdm_field *field)
{
	const struct tdm_scan_buffer *buffer = buffer_of(field);
	return tdm_value_text(buffer->data_format != NULL ? buffer->data_format->name : NULL);
}

static struct tdm_value strategy_of(const struct tdm_field *field)
{
	return tdm_value_text(tdm_strategy_name((enum tdm_strategy)buffer_of(field)->strategy));
}

static void put_strategy(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_scan_buffer *buffer = buffer_of(field);
	tdm_buf_puts(out, buffer->is_view ? "view" : tdm_strategy_name((enum tdm_strategy)buffer->strategy));
}

static struct tdm_value shape_of(const struct tdm_field *field)
{
	return tdm_value_text(tdm_shape_name((enum tdm_shape)buffer_of(field)->shape));
}

static struct tdm_value understood_of(const struct tdm_field *field)
{
	return tdm_value_text(tdm_grasp_name((enum tdm_grasp)buffer_of(field)->grasp));
}

static struct tdm_value own_bytes_of(const struct tdm_field *field)
{
	return tdm_value_number(tdm_scan_own_bytes(buffer_of(field)));
}

static void put_branch(const struct tdm_field *field, struct tdm_json *json)
{
	tdm_json_array(json);
	for (const struct tdm_scan_branch *at = buffer_of(field)->branch; at != NULL; at = at->outer) {
		tdm_json_object(json);
		tdm_json_put_u64(json, "if", at->id);
		tdm_json_put_text(json, "condition", at->condition);
		tdm_json_put_bool(json, "is_true", at->way == 0);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

static void put_bounds(const struct tdm_scan_size *size, struct tdm_buf *out)
{
	bool has_min = tdm_is_some(size->min), has_max = size->max != TDM_BYTES_UNKNOWN;
	if (has_min && has_max)
		tdm_buf_printf(out, ", from %s to %s", TDM_SIZE_TEXT(size->min), TDM_SIZE_TEXT(size->max));
	else if (has_min || has_max)
		tdm_buf_printf(
			out, ", at %s %s", has_min ? "least" : "most", TDM_SIZE_TEXT(has_min ? size->min : size->max));
}

/* What a number does not say: the expression, what it is a view of, what was not understood. */
static void put_more(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_scan_buffer *buffer = buffer_of(field);
	const struct tdm_scan_report *report = field->table->context;
	struct tdm_buf text;
	tdm_buf_init(&text);
	if (buffer->total.text[0] != '\0' && buffer->total.expr != NULL && buffer->total.expr->op != TDM_EXPR_NUMBER)
		tdm_buf_puts(&text, buffer->total.text);
	if (buffer->total.bytes == TDM_BYTES_UNKNOWN)
		put_bounds(&buffer->total, &text);
	if (buffer->is_view || buffer->may_be_view)
		tdm_buf_printf(&text, "%s%s of %s", text.len != 0 ? "; " : "",
			buffer->is_view ? "view" : "may be a view", buffer->view_of);
	if (buffer->missing[0] != '\0')
		tdm_buf_printf(&text, "%snot understood: %s", text.len != 0 ? "; " : "", buffer->missing);
	tdm_scan_put_below(report, &text, out);
}

#define BUFFER(member)        TDM_VIA(struct tdm_scan_buffer_row, buffer, struct tdm_scan_buffer, member)
#define BUFFER_FILE(member)   TDM_VIA(struct tdm_scan_buffer_row, file, struct tdm_scan_file, member)
#define BUFFER_PROGRAM(field) TDM_VIA(struct tdm_scan_buffer_row, program, struct tdm_scan_program, field)
static const struct tdm_column buffers[] = {
	{ NULL, "file", BUFFER_FILE(path) },
	{ "line", "line", BUFFER(line), .width = 5 },
	{ NULL, "kind", BUFFER(kind), .flags = TDM_IS_KIND },
	{ "buffer", NULL, .text = put_buffer, .width = BUFFER_COLUMNS },
	{ NULL, "index", BUFFER(index), .flags = TDM_NEGATIVE_IS_UNKNOWN },
	{ "format", "format", .get = format_of, .width = 10 },
	{ "page", "page_bytes", BUFFER(page.bytes), TDM_SIZE(9) },
	{ "total", "total_bytes", BUFFER(total.bytes), TDM_SIZE(10) },
	{ NULL, "expression", BUFFER(total.text), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "is_view", BUFFER(is_view) },
	{ "strategy", "strategy", .get = strategy_of, .text = put_strategy, .width = 14, .below = put_more },
	{ NULL, "strategy_reason", BUFFER(strategy_reason) },
	{ NULL, "name", BUFFER(name), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "program", BUFFER_PROGRAM(name) },
	{ NULL, "own_bytes", .get = own_bytes_of },
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
	{ NULL, "shape", .get = shape_of },
	{ NULL, "helper", BUFFER(helper), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "defined_line", BUFFER(defined_line) },
	{ NULL, "in_loop", BUFFER(in_loop) },
	{ NULL, "branches", .json = put_branch },
	{ NULL, "understood", .get = understood_of },
	{ NULL, "missing", BUFFER(missing), .flags = TDM_ZERO_IS_UNKNOWN },
};

struct tdm_table tdm_scan_buffer_table(
	const struct tdm_scan_report *report, const struct tdm_scan_buffer_row *rows, size_t count)
{
	struct tdm_table table = TDM_TABLE_OF(buffers, rows, count);
	table.context = report;
	return table;
}

/* Budgets. */

static const struct tdm_scan_budget *budget_of(const struct tdm_field *field)
{
	return field->row;
}

static void put_budget(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_scan_budget *budget = budget_of(field);
	const struct tdm_scan_report *report = field->table->context;
	bool is_known = budget->bytes != TDM_BYTES_UNKNOWN;
	tdm_buf_printf(out, "%s%s", is_known ? "" : report->term.utf8 ? "≥ " : ">= ", TDM_SIZE_TEXT(budget->min));
}

static void put_share(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_scan_budget *budget = budget_of(field);
	const struct tdm_scan_report *report = field->table->context;
	bool is_known = budget->bytes != TDM_BYTES_UNKNOWN;
	if (isnan(budget->share))
		tdm_buf_putc(out, '-');
	else
		tdm_buf_printf(out, "%s%.1f %%", is_known ? "" : report->term.utf8 ? "≥ " : ">= ", 100 * budget->share);
}

static const char *share_style(const struct tdm_field *field)
{
	const struct tdm_scan_budget *budget = budget_of(field);
	return budget->share > 1 ? TDM_STYLE_RED : budget->share > 0.9 ? TDM_STYLE_YELLOW : "";
}

/* The path, and the expression of a budget that is a range. */
static void put_budget_more(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_scan_budget *budget = budget_of(field);
	const struct tdm_scan_report *report = field->table->context;
	struct tdm_buf text;
	tdm_buf_init(&text);
	tdm_buf_puts(out, "  ");
	tdm_cell_text(out, budget->file->path, report->term.utf8);
	tdm_buf_printf(out, ":%" PRIu32 "\n", budget->program->line);
	if (budget->bytes == TDM_BYTES_UNKNOWN) {
		tdm_cell_text(&text, budget->expression, report->term.utf8);
		if (budget->max != TDM_BYTES_UNKNOWN)
			tdm_buf_printf(&text, ", at most %s", TDM_SIZE_TEXT(budget->max));
		if (budget->missed != 0)
			tdm_buf_printf(&text, "; and %s", TDM_COUNT_TEXT(budget->missed));
		if (budget->missed != 0)
			tdm_buf_printf(&text, " place%s that %s not understood", tdm_plural(budget->missed),
				budget->missed == 1 ? "was" : "were");
		tdm_buf_puts(out, "  = ");
		tdm_wrap(out, tdm_buf_str(&text), (struct tdm_wrap){ 4, 4, report->term.width });
	}
	out->failed |= text.failed;
	tdm_buf_done(&text);
}

#define BUDGET(member)         TDM_MEMBER(struct tdm_scan_budget, member)
#define BUDGET_FILE(member)    TDM_VIA(struct tdm_scan_budget, file, struct tdm_scan_file, member)
#define BUDGET_PROGRAM(member) TDM_VIA(struct tdm_scan_budget, program, struct tdm_scan_program, member)
static const struct tdm_column programs[] = {
	{ NULL, "file", BUDGET_FILE(path) },
	{ NULL, "line", BUDGET_PROGRAM(line) },
	{ "program", "program", BUDGET_PROGRAM(name), .width = PROGRAM_COLUMNS },
	{ "buffers", "buffers", BUDGET(buffers), TDM_COUNT(7) },
	{ "views", "views", BUDGET(views), TDM_COUNT(5) },
	{ NULL, "unknown", BUDGET(unknown) },
	{ NULL, "missed_places", BUDGET(missed) },
	{ "L1 per core", "bytes", BUDGET(bytes), .text = put_budget, .width = 12 },
	{ NULL, "min_bytes", BUDGET(min) },
	{ NULL, "max_bytes", BUDGET(max) },
	{ NULL, "expression", BUDGET(expression) },
	{ "of the card", "l1_share", BUDGET(share), .text = put_share, .width = 11, .style = share_style,
		.below = put_budget_more },
};

struct tdm_table tdm_scan_program_table(const struct tdm_scan_report *report)
{
	struct tdm_table table = TDM_TABLE_OF(programs, report->verdict->budgets.list, report->verdict->budgets.count);
	table.context = report;
	return table;
}

/* Changes between two scans. */

static struct tdm_value change_name(const struct tdm_field *field)
{
	const struct tdm_scan_change *change = field->row;
	return tdm_value_text(tdm_change_name((enum tdm_change)change->change));
}

static const struct tdm_scan_buffer *side_of(const struct tdm_field *field)
{
	const struct tdm_scan_change *change = field->row;
	return field->column->arg == 0 ? change->before : change->after;
}

static const struct tdm_scan_buffer *any_side(const struct tdm_field *field)
{
	const struct tdm_scan_change *change = field->row;
	return change->after != NULL ? change->after : change->before;
}

static struct tdm_value side_bytes(const struct tdm_field *field)
{
	const struct tdm_scan_buffer *buffer = side_of(field);
	return tdm_value_number(buffer != NULL ? tdm_scan_own_bytes(buffer) : TDM_BYTES_UNKNOWN);
}

static struct tdm_value side_expression(const struct tdm_field *field)
{
	const struct tdm_scan_buffer *buffer = side_of(field);
	return tdm_value_text(buffer != NULL && buffer->total.text[0] != '\0' ? buffer->total.text : NULL);
}

static struct tdm_value side_line(const struct tdm_field *field)
{
	const struct tdm_scan_buffer *buffer = side_of(field);
	return tdm_value_number(buffer != NULL ? buffer->line : UINT64_MAX);
}

static struct tdm_value side_kind(const struct tdm_field *field)
{
	return tdm_value_text(tdm_kind_name((enum tdm_kind)any_side(field)->kind));
}

static void put_changed_buffer(const struct tdm_field *field, struct tdm_buf *out)
{
	put_label(any_side(field), out);
}

static void json_changed_buffer(const struct tdm_field *field, struct tdm_json *json)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	put_label(any_side(field), &text);
	tdm_json_str(json, tdm_buf_str(&text));
	json->out->failed |= text.failed;
	tdm_buf_done(&text);
}

static void put_changed_place(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_scan_change *change = field->row;
	const struct tdm_scan_report *report = field->table->context;
	const char *before = change->before != NULL ? change->before->total.text : "";
	const char *after = change->after != NULL ? change->after->total.text : "";
	struct tdm_buf text;
	tdm_buf_init(&text);
	tdm_buf_printf(&text, "%s%s%s", change->path, change->path[0] != '\0' ? ": " : "", change->program);
	if (change->change == TDM_CHANGE_CHANGED)
		tdm_buf_printf(&text, ": %s, was %s", after, before);
	tdm_buf_puts(out, "  ");
	tdm_cell_put(out, tdm_buf_str(&text), 0, report->term.utf8);
	tdm_buf_putc(out, '\n');
	tdm_buf_done(&text);
}

#define CHANGE(member) TDM_MEMBER(struct tdm_scan_change, member)
static const struct tdm_column changes[] = {
	{ "change", "change", .get = change_name, .width = 8 },
	{ NULL, "file", CHANGE(path), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "program", CHANGE(program) },
	{ NULL, "kind", .get = side_kind },
	{ "buffer", "buffer", .text = put_changed_buffer, .json = json_changed_buffer, .width = 34 },
	{ NULL, "before_line", .get = side_line, .arg = 0 },
	{ NULL, "after_line", .get = side_line, .arg = 1 },
	{ "before", "before_bytes", .get = side_bytes, .arg = 0, TDM_SIZE(12) },
	{ "after", "after_bytes", .get = side_bytes, .arg = 1, TDM_SIZE(12), .below = put_changed_place },
	{ NULL, "before_expression", .get = side_expression, .arg = 0 },
	{ NULL, "after_expression", .get = side_expression, .arg = 1 },
};

struct tdm_table tdm_scan_change_table(const struct tdm_scan_report *report)
{
	struct tdm_table table = TDM_TABLE_OF(changes, report->changes->list, report->changes->count);
	table.context = report;
	return table;
}

/* Coverage. */

static struct tdm_value place_shape(const struct tdm_field *field)
{
	const struct tdm_scan_place_row *row = field->row;
	return tdm_value_text(tdm_shape_name((enum tdm_shape)row->place->shape));
}

static struct tdm_value place_grasp(const struct tdm_field *field)
{
	const struct tdm_scan_place_row *row = field->row;
	return tdm_value_text(tdm_grasp_name((enum tdm_grasp)row->place->grasp));
}

static void put_place(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_scan_place_row *row = field->row;
	tdm_buf_printf(out, "%s:%" PRIu32 ": %s", row->file->path, row->place->line,
		row->place->why[0] != '\0' ? row->place->why : "-");
}

#define PLACE(member)      TDM_VIA(struct tdm_scan_place_row, place, struct tdm_scan_place, member)
#define PLACE_FILE(member) TDM_VIA(struct tdm_scan_place_row, file, struct tdm_scan_file, member)
static const struct tdm_column missed[] = {
	{ NULL, "file", PLACE_FILE(path) },
	{ NULL, "line", PLACE(line) },
	{ "place", "shape", .get = place_shape, .width = 20 },
	{ "got", "understood", .get = place_grasp, .width = 6 },
	{ "where and why", NULL, .text = put_place, .flags = TDM_WRAP, .width = 30 },
	{ NULL, "why", PLACE(why), .flags = TDM_ZERO_IS_UNKNOWN },
};

struct tdm_table tdm_scan_missed_table(const struct tdm_scan_rows *rows)
{
	return TDM_TABLE_OF(missed, rows->missed, rows->missed_count);
}

#define SHAPE(member) TDM_MEMBER(struct tdm_scan_shape_row, member)
static const struct tdm_column shapes[] = {
	{ "shape", "shape", SHAPE(shape), .width = 34 },
	{ "places", "places", SHAPE(places), TDM_COUNT(7) },
	{ "wholly", "wholly", SHAPE(grasp[TDM_GRASP_WHOLLY]), TDM_COUNT(7) },
	{ "partly", "partly", SHAPE(grasp[TDM_GRASP_PARTLY]), TDM_COUNT(7) },
	{ "not", "not", SHAPE(grasp[TDM_GRASP_NOT]), TDM_COUNT(7) },
	{ "in helpers", "in_helpers", SHAPE(helper_bodies), TDM_COUNT(10) },
};

static bool is_empty_shape(const struct tdm_table *table, const void *row)
{
	const struct tdm_scan_shape_row *shape = row;
	(void)table;
	return shape->places + shape->helper_bodies == 0;
}

struct tdm_table tdm_scan_shape_table(const struct tdm_scan_rows *rows)
{
	struct tdm_table table = TDM_TABLE_OF(shapes, rows->coverage.shapes, TDM_SHAPE_COUNT);
	table.skip = is_empty_shape;
	return table;
}

static struct tdm_value file_state(const struct tdm_field *field)
{
	const struct tdm_scan_file *file = field->row;
	return tdm_value_text(tdm_file_state_name((enum tdm_file_state)file->state));
}

static void put_file(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_scan_file *file = field->row;
	tdm_buf_puts(out, file->path);
	if (file->error_line != 0)
		tdm_buf_printf(out, ":%" PRIu32, file->error_line);
	tdm_buf_printf(out, ": %s", file->why);
}

#define SOURCE(member) TDM_MEMBER(struct tdm_scan_file, member)
static const struct tdm_column files[] = {
	{ "state", "state", .get = file_state, .width = 8 },
	{ "file", NULL, .text = put_file, .flags = TDM_WRAP, .width = 30 },
	{ NULL, "file", SOURCE(path) },
	{ NULL, "why", SOURCE(why), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "line", SOURCE(error_line), .flags = TDM_ZERO_IS_UNKNOWN },
};

struct tdm_table tdm_scan_file_table(const struct tdm_scan_rows *rows)
{
	struct tdm_table table = TDM_TABLE_OF(files, rows->files, rows->file_count);
	table.row = tdm_table_pointed;
	return table;
}

#define REFUSAL(member) TDM_MEMBER(struct tdm_scan_refusal, member)
static const struct tdm_column refusals[] = {
	{ "not read", "path", REFUSAL(path), .flags = TDM_WHOLE, .width = 30 },
	{ "why", "why", REFUSAL(why), .flags = TDM_WRAP, .width = 20 },
};

struct tdm_table tdm_scan_refusal_table(const struct tdm_scan *scan)
{
	return TDM_TABLE_OF(refusals, scan->refusals, scan->refusal_count);
}
