/* ttnn's report of operations: devices, peaks of each kind and what was alive at them, operations, errors. */
#include "analyze/region_map.h"
#include "base/wrap.h"
#include "report/finding_report.h"
#include "report/info_report.h"
#include "report/report_files.h"
#include "sources/error_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { INDENT = 2, HOLES_SHOWN = 3 };

static bool has_ranks(const struct tdm_operation_memory *m)
{
	return m->operation_count != 0 && m->operations[m->operation_count - 1].rank != 0;
}

/* Hides the column of ranks, which is the first one, if there is only rank 0. */
static struct tdm_table with_ranks(struct tdm_table table, const struct tdm_operation_memory *m)
{
	table.hidden = has_ranks(m) ? 0 : 1;
	table.context = m;
	return table;
}

static const struct tdm_operation_memory *memory_of(const struct tdm_field *field)
{
	return field->table->context;
}

/* ---- devices ---- */

static struct tdm_value get_l1_small(const struct tdm_field *field)
{
	const struct tdm_capture_device *d = field->row;
	uint64_t below = tdm_plus(d->l1_base, d->l1_bank_size);
	bool is_known = d->l1_base != 0 && d->l1_bank_size != 0 && below <= d->worker_l1_size;
	return tdm_value_number(is_known ? d->worker_l1_size - below : TDM_BYTES_UNKNOWN);
}

static void put_grid(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_capture_device *d = field->row;
	if (d->grid_x != 0 && d->grid_y != 0)
		tdm_buf_printf(out, "%" PRIu64 "x%" PRIu64, d->grid_x, d->grid_y);
	else
		tdm_buf_puts(out, "-");
}

#define DEVICE(member) TDM_MEMBER(struct tdm_capture_device, member)
static const struct tdm_column devices[] = {
	{ "Rank", "rank", DEVICE(rank), .width = 5, .flags = TDM_OTHER_SIDE },
	{ "Device", "device", DEVICE(id), .width = 7, .flags = TDM_OTHER_SIDE },
	{ "grid", NULL, .text = put_grid, .width = 7 },
	{ NULL, "grid_x", DEVICE(grid_x), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "grid_y", DEVICE(grid_y), .flags = TDM_ZERO_IS_UNKNOWN },
	{ "core L1", "core_l1_bytes", DEVICE(worker_l1_size), TDM_BYTES, .flags = TDM_ZERO_IS_UNKNOWN, .before = 2 },
	{ "L1 banks", "l1_banks", DEVICE(l1_banks), .width = 8, .flags = TDM_ZERO_IS_UNKNOWN, .before = 2 },
	{ "bank", "l1_bank_bytes", DEVICE(l1_bank_size), TDM_BYTES, .flags = TDM_ZERO_IS_UNKNOWN, .before = 2 },
	{ "L1_SMALL", "l1_small_bytes", .get = get_l1_small, TDM_BYTES, .before = 2 },
	{ "from address", "l1_base", DEVICE(l1_base), .width = 12, .flags = TDM_ZERO_IS_UNKNOWN, .before = 2 },
};

/* ---- peaks ---- */

static struct tdm_value get_all_banks(const struct tdm_field *field)
{
	const struct tdm_operation_unit *u = field->row;
	return tdm_value_number(tdm_operation_all_banks(u, u->peak_bytes));
}

static struct tdm_value get_used(const struct tdm_field *field)
{
	const struct tdm_operation_unit *u = field->row;
	return tdm_value_share(tdm_share(u->peak_bytes, u->bank_size));
}

static struct tdm_value get_peak_count(const struct tdm_field *field)
{
	return tdm_value_number(((const struct tdm_operation_unit *)field->row)->peak.count);
}

static struct tdm_value get_end_count(const struct tdm_field *field)
{
	return tdm_value_number(((const struct tdm_operation_unit *)field->row)->end.count);
}

static struct tdm_value get_peak_operation(const struct tdm_field *field)
{
	uint32_t at = ((const struct tdm_operation_unit *)field->row)->peak_operation;
	return tdm_value_number(at != TDM_OPERATION_NONE ? memory_of(field)->operations[at].id : TDM_BYTES_UNKNOWN);
}

static struct tdm_value get_peak_name(const struct tdm_field *field)
{
	const char *name =
		tdm_operation_name(memory_of(field), ((const struct tdm_operation_unit *)field->row)->peak_operation);
	return tdm_value_text(name[0] != '\0' ? name : NULL);
}

#define UNIT(member) TDM_MEMBER(struct tdm_operation_unit, member)
#define UNIT_COLUMNS                                                                                                   \
	{ "Rank", "rank", UNIT(rank), .width = 5, .flags = TDM_OTHER_SIDE },                                           \
		{ "Peaks", "device", UNIT(device), .width = 6, .flags = TDM_OTHER_SIDE },                              \
		{ "kind", "kind", UNIT(kind), .flags = TDM_IS_KIND, .width = 8 },                                      \
		{ "one bank", NULL, UNIT(peak_bytes), TDM_BYTES, .before = 1 },                                        \
		{ "bytes", "bank_bytes", UNIT(peak_bytes), TDM_COUNT(14), .before = 1 },                               \
		{ "of it", NULL, .get = get_used, .decimals = 1, .width = 6, .before = 1, .flags = TDM_OTHER_SIDE },   \
		{ NULL, "bank_size", UNIT(bank_size) },                                                                \
		{ "banks", "banks", UNIT(banks), .width = 5, .flags = TDM_ZERO_IS_UNKNOWN, .before = 1 },              \
		{ NULL, "banks_by_card", UNIT(by_card) },                                                              \
		{ "all banks", "bytes", .get = get_all_banks, TDM_BYTES, .before = 1 },                                \
		{ "buffers", "buffers", .get = get_peak_count, .width = 7, .flags = TDM_OTHER_SIDE, .before = 1 },     \
		{ "at end", "end_bank_bytes", UNIT(end_bytes), TDM_BYTES, .before = 1 },                               \
		{ NULL, "end_buffers", .get = get_end_count },                                                         \
		{ "after", "operation", .get = get_peak_operation, .width = 6, .flags = TDM_OTHER_SIDE, .before = 1 }, \
	{                                                                                                              \
		"", "operation_name", .get = get_peak_name, .flags = TDM_REST, .before = 1                             \
	}

static const struct tdm_column units[] = { UNIT_COLUMNS };

/* ---- what was alive ---- */

static struct tdm_value operation_id(const struct tdm_field *field, uint32_t operation)
{
	return tdm_value_number(
		operation != TDM_OPERATION_NONE ? memory_of(field)->operations[operation].id : TDM_BYTES_UNKNOWN);
}

static const struct tdm_operation_tensor *tensor_of(const struct tdm_field *field)
{
	uint32_t tensor = ((const struct tdm_operation_buffer *)field->row)->tensor;
	return tensor != TDM_OPERATION_NONE ? &memory_of(field)->tensors[tensor] : NULL;
}

static struct tdm_value get_since(const struct tdm_field *field)
{
	return operation_id(field, ((const struct tdm_operation_buffer *)field->row)->since);
}

static struct tdm_value get_since_name(const struct tdm_field *field)
{
	const char *name =
		tdm_operation_name(memory_of(field), ((const struct tdm_operation_buffer *)field->row)->since);
	return tdm_value_text(name[0] != '\0' ? name : NULL);
}

static struct tdm_value get_last_use(const struct tdm_field *field)
{
	const struct tdm_operation_tensor *t = tensor_of(field);
	return operation_id(field, t != NULL ? t->last_use : TDM_OPERATION_NONE);
}

static struct tdm_value get_tensor(const struct tdm_field *field)
{
	const struct tdm_operation_tensor *t = tensor_of(field);
	return tdm_value_number(t != NULL ? t->id : TDM_BYTES_UNKNOWN);
}

static struct tdm_value get_tensor_text(const struct tdm_field *field)
{
	const struct tdm_operation_tensor *t = tensor_of(field);
	return tdm_value_text(t != NULL && t->text != 0 ? memory_of(field)->texts.texts[t->text] : NULL);
}

#define BUFFER(member) TDM_MEMBER(struct tdm_operation_buffer, member)
static const struct tdm_column buffers[] = {
	{ "one bank", NULL, BUFFER(bytes), TDM_BYTES },
	{ "bytes", "bank_bytes", BUFFER(bytes), TDM_COUNT(14) },
	{ "address", "address", BUFFER(address), .width = 12 },
	{ "since", "since_operation", .get = get_since, .width = 6, .flags = TDM_OTHER_SIDE },
	{ "", "since_name", .get = get_since_name, .width = 20, .before = 1 },
	{ "last use", "last_use_operation", .get = get_last_use, .width = 8, .flags = TDM_OTHER_SIDE },
	{ "tensor", "tensor", .get = get_tensor, .width = 7, .flags = TDM_OTHER_SIDE },
	{ "", "tensor_text", .get = get_tensor_text, .flags = TDM_REST, .before = 1 },
};

static struct tdm_table buffer_table(
	const struct tdm_operation_memory *m, const struct tdm_operation_list *list, size_t limit)
{
	struct tdm_table table = TDM_TABLE_OF(buffers, list->at, list->count);
	table.context = m;
	table.limit = limit;
	table.indent = INDENT;
	return table;
}

#define GAP(member) TDM_MEMBER(struct tdm_region_gap, member)
static const struct tdm_column gaps[] = {
	{ NULL, "address", GAP(address) },
	{ NULL, "bytes", GAP(bytes) },
};

/* "free: 1.2 MiB of a bank in 3 holes, the largest 1 MiB, fragmentation 16.7 %" */
static void put_free(const struct tdm_operation_memory *m, const struct tdm_operation_unit *u, struct tdm_buf *out)
{
	struct tdm_region_map map;
	out->failed |= tdm_operation_map(m, u, &u->peak, &map) != 0;
	tdm_region_gaps_sort(map.gaps, map.gap_count);
	tdm_buf_fill(out, ' ', INDENT);
	if (map.free_bytes != TDM_BYTES_UNKNOWN) {
		tdm_buf_printf(out, "free: %s of a bank in ", TDM_SIZE_TEXT(map.free_bytes));
		tdm_put_count(out, map.gap_count, "hole", "holes");
		tdm_buf_printf(out, ", the largest %s, fragmentation %.1f %%\n", TDM_SIZE_TEXT(map.largest_free),
			map.fragmentation * 100);
	} else {
		tdm_buf_puts(
			out, "free: unknown, since the report does not say where the region is; between the buffers ");
		tdm_put_count(out, map.gap_count, "hole", "holes");
		tdm_buf_printf(out, "%s%s\n", map.gap_count != 0 ? ", the largest " : "",
			map.gap_count != 0 ? TDM_SIZE_TEXT(map.gaps[0].bytes) : "");
	}
	if (map.outside != 0 || map.overlaps != 0)
		tdm_buf_printf(out, "%*s%" PRIu64 " outside the region, %" PRIu64 " at addresses of others\n", INDENT,
			"", map.outside, map.overlaps);
	tdm_region_map_done(&map);
}

static void put_alive(const struct tdm_operation_memory *m, const struct tdm_operation_unit *u,
	const struct tdm_file_report *file, struct tdm_buf *out)
{
	char rank[32] = "";
	if (has_ranks(m))
		snprintf(rank, sizeof rank, " of rank %" PRIu32, u->rank);
	const struct tdm_operation *o = &m->operations[u->peak_operation];
	struct tdm_buf title;
	tdm_buf_init(&title);
	tdm_buf_printf(&title, "Alive in %s of device %" PRIu32 "%s after operation %" PRIu64 " ",
		tdm_kind_name((enum tdm_kind)u->kind), u->device, rank, o->id);
	tdm_cell_text(&title, tdm_operation_name(m, u->peak_operation), file->term.utf8);
	tdm_cell_trim(&title);
	tdm_put_heading(out, &file->term, tdm_buf_failed(&title) ? "" : title.data);
	out->failed |= title.failed;
	tdm_buf_done(&title);
	put_free(m, u, out);
	struct tdm_table table = buffer_table(m, &u->peak, file->limit);
	tdm_table_text(&table, &file->term, out);
}

/* The peaks of a unit, with what was alive, for JSON. */
static void json_unit(const struct tdm_operation_memory *m, const struct tdm_operation_unit *u,
	const struct tdm_file_report *file, struct tdm_json *json)
{
	struct tdm_region_map map;
	struct tdm_table keys = TDM_TABLE_OF(units, u, 1);
	keys.context = m;
	json->out->failed |= tdm_operation_map(m, u, &u->peak, &map) != 0;
	tdm_region_gaps_sort(map.gaps, map.gap_count);
	tdm_json_object(json);
	tdm_table_keys(&keys, u, json);
	tdm_json_put_bytes(json, "free_bank_bytes", map.free_bytes);
	tdm_json_put_bytes(json, "largest_free_bank_bytes", map.largest_free);
	tdm_json_put_double(json, "fragmentation", map.fragmentation);
	tdm_json_put_u64(json, "hole_count", map.gap_count);
	struct tdm_table holes = TDM_TABLE_OF(gaps, map.gaps, map.gap_count);
	holes.limit = file->limit;
	tdm_json_put_table(json, "holes", &holes);
	const struct tdm_table alive = buffer_table(m, &u->peak, file->limit),
			       end = buffer_table(m, &u->end, file->limit);
	tdm_json_put_table(json, "alive", &alive);
	tdm_json_put_table(json, "at_end", &end);
	tdm_json_object_end(json);
	tdm_region_map_done(&map);
}

/* ---- operations ---- */

static struct tdm_value get_name(const struct tdm_field *field)
{
	const char *name = memory_of(field)->texts.texts[((const struct tdm_operation *)field->row)->name];
	return tdm_value_text(name[0] != '\0' ? name : NULL);
}

#define OPERATION(member) TDM_MEMBER(struct tdm_operation, member)
static const struct tdm_column operations[] = {
	{ "Rank", "rank", OPERATION(rank), .width = 5, .flags = TDM_OTHER_SIDE },
	{ "Operation", "operation", OPERATION(id), .width = 9, .flags = TDM_OTHER_SIDE },
	{ "", "name", .get = get_name, .width = 28 },
	{ "duration", "duration_ns", OPERATION(duration_ns), TDM_DURATION(8) },
	{ "buffers", "buffers", OPERATION(buffers), .width = 7, .before = 1 },
	{ "dram", "dram_bank_bytes", OPERATION(bytes[TDM_KIND_DRAM]), TDM_BYTES },
	{ "l1", "l1_bank_bytes", OPERATION(bytes[TDM_KIND_L1]), TDM_BYTES },
	{ NULL, "l1_small_bank_bytes", OPERATION(bytes[TDM_KIND_L1_SMALL]) },
	{ NULL, "trace_bank_bytes", OPERATION(bytes[TDM_KIND_TRACE]) },
	{ "cb", "cb_core_bytes", OPERATION(cb_bytes), TDM_BYTES },
};

/* L1 of the fullest core: buffers and circular buffers, as far as they are known. */
static uint64_t l1_of(const struct tdm_operation *o)
{
	uint64_t buffers_ = o->bytes[TDM_KIND_L1] != TDM_BYTES_UNKNOWN ? o->bytes[TDM_KIND_L1] : 0;
	return tdm_plus(buffers_, o->cb_bytes != TDM_BYTES_UNKNOWN ? o->cb_bytes : 0);
}

static int compare_operations(const void *left, const void *right)
{
	const struct tdm_operation *a = *(const struct tdm_operation *const *)left,
				   *b = *(const struct tdm_operation *const *)right;
	int order = tdm_order(l1_of(b), l1_of(a));
	order = order != 0 ? order : tdm_order(b->bytes[TDM_KIND_DRAM], a->bytes[TDM_KIND_DRAM]);
	return order != 0 ? order : a < b ? -1 : a > b;
}

/* The fullest L1 first. NULL: out of memory, or there are none; free() it. */
static const struct tdm_operation **sorted(const struct tdm_operation_memory *m)
{
	const struct tdm_operation **list = malloc(m->operation_count * sizeof *list + 1);
	for (size_t i = 0; list != NULL && i < m->operation_count; i++)
		list[i] = &m->operations[i];
	if (list != NULL && m->operation_count != 0)
		qsort(list, m->operation_count, sizeof *list, compare_operations);
	return list;
}

static struct tdm_table operation_table(
	const struct tdm_operation_memory *m, const struct tdm_operation **list, size_t limit)
{
	struct tdm_table table = TDM_TABLE_OF(operations, list, list != NULL ? m->operation_count : 0);
	table.row = tdm_table_pointed;
	table.limit = limit;
	return with_ranks(table, m);
}

/* ---- errors ---- */

static struct tdm_value get_error_sort(const struct tdm_field *field)
{
	struct tdm_failure failure;
	size_t end;
	struct tdm_str message = tdm_str_of(((const struct tdm_operation_error *)field->row)->message);
	bool is_known = tdm_error_text_find(message, 0, &failure, &end);
	return tdm_value_text(is_known ? tdm_failure_name((enum tdm_failure_type)failure.type) : NULL);
}

static void json_error(const struct tdm_field *field, struct tdm_json *json)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	tdm_info_error_line(((const struct tdm_operation_error *)field->row)->message, true, &text);
	tdm_json_str(json, tdm_buf_str(&text));
	json->out->failed |= text.failed;
	tdm_buf_done(&text);
}

#define ERROR(member) TDM_MEMBER(struct tdm_operation_error, member)
static const struct tdm_column errors[] = {
	{ NULL, "rank", ERROR(rank) },
	{ NULL, "operation", ERROR(operation) },
	{ NULL, "operation_name", ERROR(name), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "sort", .get = get_error_sort },
	{ NULL, "summary", .json = json_error },
	{ NULL, "message", ERROR(message) },
};

static void put_errors(const struct tdm_operation_memory *m, const struct tdm_file_report *file, struct tdm_buf *out)
{
	size_t shown = tdm_min(m->errors_kept, file->limit);
	struct tdm_buf line;
	tdm_buf_init(&line);
	if (m->error_count != 0)
		tdm_buf_printf(out, "\n%sErrors: %s%s\n", tdm_term_style(&file->term, TDM_STYLE_BOLD),
			TDM_COUNT_TEXT(m->error_count), tdm_term_style(&file->term, TDM_STYLE_OFF));
	for (size_t i = 0; i < shown; i++, tdm_buf_clear(&line)) {
		const struct tdm_operation_error *e = &m->errors[i];
		tdm_buf_printf(&line, "operation %" PRIu64 " ", e->operation);
		tdm_cell_text(&line, e->name, file->term.utf8);
		tdm_cell_trim(&line);
		tdm_buf_puts(&line, ": ");
		tdm_info_error_line(e->message, file->term.utf8, &line);
		tdm_buf_fill(out, ' ', INDENT);
		tdm_wrap(out, tdm_buf_str(&line), (struct tdm_wrap){ INDENT, 2 * INDENT, file->term.width });
	}
	tdm_put_rest(out, m->error_count, shown);
	out->failed |= line.failed;
	tdm_buf_done(&line);
}

void tdm_operation_errors_find(const struct tdm_operation_memory *m, struct tdm_findings *found)
{
	for (size_t i = 0; i < m->errors_kept; i++)
		tdm_info_error_find(
			"operation", m->errors[i].operation, m->errors[i].name, m->errors[i].message, found);
	tdm_info_errors_lost(m->error_count - m->errors_kept, found);
}

/* ---- the whole report ---- */

void tdm_operations_text(const struct tdm_operation_memory *m, const struct tdm_file_report *file, struct tdm_buf *out)
{
	struct tdm_findings found = { 0 };
	const struct tdm_operation **list = sorted(m);
	tdm_put_title(out, "Operations", file);
	tdm_buf_puts(out, ": ");
	tdm_put_count(out, m->operation_count, "operation", "operations");
	tdm_buf_puts(out, ", ");
	tdm_put_count(out, m->device_count, "device", "devices");
	if (m->schema[0] != '\0')
		tdm_buf_printf(out, ", schema %s", m->schema);
	tdm_buf_putc(out, '\n');
	tdm_put_cut(out, file);
	tdm_operation_memory_find(m, &found);
	tdm_findings_text(&found, &file->term, out);
	put_errors(m, file, out);
	tdm_put_table(out, file, with_ranks(TDM_TABLE_OF(devices, m->devices, m->device_count), m));
	tdm_put_table(out, file, with_ranks(TDM_TABLE_OF(units, m->units, m->unit_count), m));
	for (int kind = 0; kind < TDM_OPERATION_KINDS; kind++) {
		const struct tdm_operation_unit *u = tdm_operation_memory_fullest(m, (enum tdm_kind)kind);
		if (u != NULL && u->peak.count != 0)
			put_alive(m, u, file, out);
	}
	if (m->operation_count != 0)
		tdm_put_heading(out, &file->term,
			"After each operation: one bank of the fullest device; cb: its fullest core while it ran");
	struct tdm_table table = operation_table(m, list, file->limit);
	table.style = TDM_STYLE_BOLD;
	tdm_table_text(&table, &file->term, out);
	out->failed |= list == NULL;
	free(list);
}

void tdm_operations_json(
	const struct tdm_operation_memory *m, const struct tdm_file_report *file, struct tdm_json *json)
{
	struct tdm_findings found = { 0 };
	const struct tdm_operation **list = sorted(m);
	tdm_json_put_text(json, "source", "ttnn_report");
	tdm_json_put_bool(json, "complete", !file->cut);
	tdm_json_put_u64(json, "refused", m->refused);
	tdm_json_put_text(json, "schema_version", m->schema[0] != '\0' ? m->schema : NULL);
	tdm_json_put_u64(json, "operation_count", m->operation_count);
	tdm_json_put_u64(json, "duplicates", m->duplicates);
	tdm_json_put_u64(json, "left_out", m->left_out);
	tdm_json_put_table(json, "devices", &TDM_TABLE_OF(devices, m->devices, m->device_count));
	tdm_json_put_array(json, "peaks");
	for (size_t i = 0; i < m->unit_count; i++)
		json_unit(m, &m->units[i], file, json);
	tdm_json_array_end(json);
	struct tdm_table table = operation_table(m, list, file->limit);
	table.hidden = 0;
	tdm_json_put_table(json, "operations", &table);
	tdm_json_put_table(json, "errors", &TDM_TABLE_OF(errors, m->errors, m->errors_kept));
	tdm_operation_memory_find(m, &found);
	tdm_json_put_array(json, "findings");
	tdm_findings_json(&found, json);
	tdm_json_array_end(json);
	json->out->failed |= list == NULL;
	free(list);
}
