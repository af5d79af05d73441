/* The result of a ttnn report: devices, the peak of each kind with its live buffers, operations, errors. */
#include "analyze/explain/failure_finding.h"
#include "analyze/report/operation_memory.h"
#include "analyze/report/report_analyser.h"

#include <inttypes.h>
#include <stdlib.h>

static const struct tdm_operation_memory *memory_of(const struct tdm_field *field)
{
	return field->table->context;
}

static bool has_ranks(const struct tdm_operation_memory *m)
{
	return m->operation_count != 0 && m->operations[m->operation_count - 1].rank != 0;
}

/* A table whose first column, in text, is the rank; the column is hidden if there is only rank 0. */
static struct tdm_table with_ranks(struct tdm_table table, const struct tdm_operation_memory *m, size_t limit)
{
	table.hidden = has_ranks(m) ? 0 : 1;
	table.context = m;
	table.limit = limit;
	return table;
}

/* The column's member is the index of an operation. */
static struct tdm_value get_id(const struct tdm_field *field)
{
	const struct tdm_operation_memory *m = memory_of(field);
	const struct tdm_value index = tdm_field_member(field);
	bool is_known = index.type == TDM_VALUE_NUMBER && index.number < m->operation_count;
	return tdm_value_if(is_known, tdm_value_number(is_known ? m->operations[index.number].id : 0));
}

static struct tdm_value get_name(const struct tdm_field *field)
{
	return tdm_value_name(tdm_operation_name(memory_of(field), (uint32_t)tdm_field_member(field).number));
}

/* ---- devices ---- */

static struct tdm_value get_l1_small(const struct tdm_field *field)
{
	return tdm_value_number(tdm_operation_l1_small(field->row));
}

static struct tdm_value get_grid(const struct tdm_field *field)
{
	const struct tdm_capture_device *d = field->row;
	return tdm_value_if(d->grid_x != 0 && d->grid_y != 0,
		tdm_field_printed(field, "%" PRIu64 "x%" PRIu64, d->grid_x, d->grid_y));
}

#define DEVICE(member) TDM_MEMBER(struct tdm_capture_device, member), .flags = TDM_ZERO_IS_UNKNOWN
static const struct tdm_column devices[] = {
	{ "Rank", NULL, TDM_MEMBER(struct tdm_capture_device, rank) },
	{ NULL, "rank", TDM_MEMBER(struct tdm_capture_device, rank) },
	{ "Device", "device", TDM_MEMBER(struct tdm_capture_device, id) },
	{ "grid", NULL, .get = get_grid },
	{ NULL, "grid_x", DEVICE(grid_x) },
	{ NULL, "grid_y", DEVICE(grid_y) },
	{ "core L1", "core_l1_bytes", DEVICE(worker_l1_size), TDM_BYTES },
	{ "L1 banks", "l1_banks", DEVICE(l1_banks) },
	{ "bank", "l1_bank_bytes", DEVICE(l1_bank_size), TDM_BYTES },
	{ "L1_SMALL", "l1_small_bytes", .get = get_l1_small, TDM_BYTES },
	{ "from address", "l1_base", DEVICE(l1_base) },
};

/* ---- live buffers ---- */

#define BUFFER(member) TDM_MEMBER(struct tdm_operation_buffer, member)
#define TENSOR(member) TDM_VIA(struct tdm_operation_buffer, tensor, struct tdm_operation_tensor, member)
static const struct tdm_column buffers[] = {
	{ "one bank", NULL, BUFFER(bytes), TDM_BYTES },
	{ "bytes", "bank_bytes", BUFFER(bytes), TDM_COUNT(0) },
	{ "address", "address", BUFFER(address) },
	{ "since", "since_operation", BUFFER(since), .get = get_id },
	{ "", "since_name", BUFFER(since), .get = get_name, .width = 20 },
	{ "last use", "last_use_operation", TENSOR(last_use), .get = get_id },
	{ "tensor", "tensor", TENSOR(id) },
	{ "", "tensor_text", TENSOR(text), .flags = TDM_REST | TDM_ZERO_IS_UNKNOWN },
};

static struct tdm_table buffer_table(
	const struct tdm_operation_memory *m, const struct tdm_operation_list *list, size_t limit)
{
	struct tdm_table table = TDM_FITTED(buffers, list->at, list->count);
	table.context = m;
	table.limit = limit;
	return table;
}

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

#define GAP(member) TDM_MEMBER(struct tdm_region_gap, member)
static struct tdm_value get_holes(const struct tdm_field *field)
{
	static const struct tdm_column holes[] = { { NULL, "address", GAP(address) }, { NULL, "bytes", GAP(bytes) } };
	const struct tdm_operation_unit *u = field->row;
	struct tdm_table table = TDM_TABLE_OF(holes, u->map.gaps, u->map.gap_count);
	table.limit = field->table->limit;
	return tdm_field_table(field, table);
}

static struct tdm_value get_alive(const struct tdm_field *field)
{
	const struct tdm_operation_unit *u = field->row;
	const struct tdm_operation_list *list = field->column->arg != 0 ? &u->end : &u->peak;
	return tdm_field_table(field, buffer_table(memory_of(field), list, field->table->limit));
}

#define UNIT(member) TDM_MEMBER(struct tdm_operation_unit, member)
static const struct tdm_column units[] = {
	{ "Rank", NULL, UNIT(rank) },
	{ NULL, "rank", UNIT(rank) },
	{ "Peaks", "device", UNIT(device) },
	{ "kind", "kind", UNIT(kind), .flags = TDM_IS_KIND },
	{ "one bank", NULL, UNIT(peak_bytes), TDM_BYTES },
	{ "bytes", "bank_bytes", UNIT(peak_bytes), TDM_COUNT(0) },
	{ "of it", NULL, .get = get_used, .decimals = 1 },
	{ NULL, "bank_size", UNIT(bank_size) },
	{ "banks", "banks", UNIT(banks), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "banks_by_card", UNIT(by_card) },
	{ "all banks", "bytes", .get = get_all_banks, TDM_BYTES },
	{ "buffers", "buffers", UNIT(peak.count) },
	{ "at end", "end_bank_bytes", UNIT(end_bytes), TDM_BYTES },
	{ NULL, "end_buffers", UNIT(end.count) },
	{ "after", "operation", UNIT(peak_operation), .get = get_id },
	{ "", "operation_name", UNIT(peak_operation), .get = get_name, .flags = TDM_REST },
	{ NULL, "free_bank_bytes", UNIT(map.free_bytes) },
	{ NULL, "largest_free_bank_bytes", UNIT(map.largest_free) },
	{ NULL, "fragmentation", UNIT(map.fragmentation) },
	{ NULL, "hole_count", UNIT(map.gap_count) },
	{ NULL, "holes", .get = get_holes },
	{ NULL, "alive", .get = get_alive, .arg = 0 },
	{ NULL, "at_end", .get = get_alive, .arg = 1 },
};

/* Adds the buffers alive at a unit's peak, and the holes around them. */
static void add_alive(
	struct tdm_block *in, const struct tdm_operation_memory *m, const struct tdm_operation_unit *u, size_t limit)
{
	const struct tdm_region_map *map = &u->map;
	struct tdm_value fragmentation = tdm_value_share(map->fragmentation);
	const char *rank = has_ranks(m) ? tdm_result_printed(in->result, " of rank %" PRIu32, u->rank) : "";
	const char *name = tdm_operation_name(m, u->peak_operation);
	struct tdm_block *group = tdm_add_group(in, NULL,
		tdm_result_printed(in->result, "Alive in %s of device %" PRIu32 "%s after operation %" PRIu64 "%s%s",
			tdm_kind_name((enum tdm_kind)u->kind), u->device, rank, m->operations[u->peak_operation].id,
			name[0] != '\0' ? " " : "", name));
	group->is_text_only = true;
	fragmentation.decimals = 1;
	tdm_say(group,
		map->free_bytes != TDM_BYTES_UNKNOWN
			? "free: {free} of a bank in {holes/hole/holes}, the largest {largest}, fragmentation "
			  "{fragmentation}"
			: "free: unknown, since the report does not say where the region is; between the buffers "
			  "{holes/hole/holes}|, the largest {first}",
		TDM_VALUES({ "free", tdm_value_bytes(map->free_bytes) }, { "holes", tdm_value_count(map->gap_count) },
			{ "largest", tdm_value_bytes(map->largest_free) }, { "fragmentation", fragmentation },
			{ "first", tdm_value_bytes(map->gap_count != 0 ? map->gaps[0].bytes : TDM_BYTES_UNKNOWN) }));
	if (map->outside != 0 || map->overlaps != 0)
		tdm_say(group, "{outside} outside the region, {overlaps} at addresses of others",
			TDM_VALUES({ "outside", tdm_value_count(map->outside) },
				{ "overlaps", tdm_value_count(map->overlaps) }));
	tdm_add_table(group, NULL, NULL, buffer_table(m, &u->peak, limit))->is_close = true;
}

/* ---- operations ---- */

#define OPERATION(member) TDM_MEMBER(struct tdm_operation, member)
static const struct tdm_column operations[] = {
	{ "Rank", NULL, OPERATION(rank) },
	{ NULL, "rank", OPERATION(rank) },
	{ "Operation", "operation", OPERATION(id) },
	{ "", "name", OPERATION(name), .flags = TDM_ZERO_IS_UNKNOWN, .width = 28 },
	{ "duration", "duration_ns", OPERATION(duration_ns), TDM_DURATION(0) },
	{ "buffers", "buffers", OPERATION(buffers) },
	{ "dram", "dram_bank_bytes", OPERATION(bytes[TDM_KIND_DRAM]), TDM_BYTES },
	{ "l1", "l1_bank_bytes", OPERATION(bytes[TDM_KIND_L1]), TDM_BYTES },
	{ NULL, "l1_small_bank_bytes", OPERATION(bytes[TDM_KIND_L1_SMALL]) },
	{ NULL, "trace_bank_bytes", OPERATION(bytes[TDM_KIND_TRACE]) },
	{ "cb", "cb_core_bytes", OPERATION(cb_bytes), TDM_BYTES },
};

/* L1 used in the fullest core: buffers and circular buffers, as far as known. */
static uint64_t l1_of(const struct tdm_operation *o)
{
	uint64_t in_buffers = o->bytes[TDM_KIND_L1] != TDM_BYTES_UNKNOWN ? o->bytes[TDM_KIND_L1] : 0;
	return tdm_plus(in_buffers, o->cb_bytes != TDM_BYTES_UNKNOWN ? o->cb_bytes : 0);
}

static int compare_operations(const void *left, const void *right)
{
	const struct tdm_operation *a = *(const struct tdm_operation *const *)left,
				   *b = *(const struct tdm_operation *const *)right;
	int order = tdm_order(l1_of(b), l1_of(a));
	order = order != 0 ? order : tdm_order(b->bytes[TDM_KIND_DRAM], a->bytes[TDM_KIND_DRAM]);
	return order != 0 ? order : a < b ? -1 : a > b;
}

/* ---- errors ---- */

#define ERROR(member) TDM_MEMBER(struct tdm_report_row, member)
static const struct tdm_column errors[] = {
	{ NULL, "rank", ERROR(rank) },
	{ NULL, "operation", ERROR(operation) },
	{ NULL, "operation_name", ERROR(name), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "sort", ERROR(message), .get = tdm_error_sort },
	{ NULL, "summary", ERROR(message), .get = tdm_error_summary },
	{ NULL, "message", ERROR(message) },
};

/* Errors are in their own list, so that they do not use up the limit for other findings. */
static void add_errors(struct tdm_block *in, const struct tdm_operation_memory *m, size_t limit)
{
	struct tdm_findings found = { 0 };
	for (size_t i = 0; i < m->errors_kept; i++)
		tdm_error_find("operation", m->errors[i].operation, m->errors[i].name, m->errors[i].message, &found);
	tdm_errors_lost(m->error_count - m->errors_kept, &found);
	tdm_add_findings(in, NULL, NULL, &found)->findings.limit = limit;
	tdm_add_table(in, "errors", NULL, TDM_TABLE_OF(errors, m->errors, m->errors_kept))->is_data_only = true;
}

/* ---- the whole report ---- */

static void init(void *memory, struct tdm_intake *reading)
{
	(void)reading;
	tdm_operation_memory_init(memory);
}

static bool show(void *memory, const struct tdm_intake *reading, size_t limit, struct tdm_block *in)
{
	const struct tdm_operation_memory *m = memory;
	struct tdm_findings found = { 0 };
	struct tdm_table of_devices = with_ranks(TDM_FITTED(devices, m->devices, m->device_count), m, limit),
			 of_units = with_ranks(TDM_FITTED(units, m->units, m->unit_count), m, limit);
	if (!m->has_head)
		return false;
	of_devices.is_whole_in_data = of_units.is_whole_in_data = true;
	tdm_line(in, "Operations",
		"{_file}: {operation_count/operation/operations}, {_devices/device/devices}|, schema {schema_version}",
		TDM_VALUES({ "_file", tdm_value_text(tdm_input_name(reading->input)) },
			{ "operation_count", tdm_value_count(m->operation_count) },
			{ "_devices", tdm_value_count(m->device_count) },
			{ "schema_version", tdm_value_name(m->schema) }));
	tdm_report_head(in, reading, "ttnn_report", m->refused);
	tdm_data_all(in, TDM_VALUES({ "duplicates", tdm_value_count(m->duplicates) },
				 { "left_out", tdm_value_count(m->left_out) }));
	tdm_operation_memory_find(m, &found);
	tdm_findings_sort(&found);
	add_errors(in, m, limit);
	tdm_add_findings(in, "findings", NULL, &found);
	tdm_add_table(in, "devices", NULL, of_devices);
	tdm_add_table(in, "peaks", NULL, of_units);
	for (int kind = 0; kind < TDM_OPERATION_KINDS; kind++) {
		const struct tdm_operation_unit *u = tdm_operation_memory_fullest(m, (enum tdm_kind)kind);
		if (u != NULL && u->peak.count != 0)
			add_alive(in, m, u, limit);
	}
	/* Fullest L1 first. */
	const struct tdm_operation **list = tdm_result_alloc(in->result, m->operation_count, sizeof *list);
	for (size_t i = 0; i < m->operation_count; i++)
		list[i] = &m->operations[i];
	qsort(list, m->operation_count, sizeof *list, compare_operations);
	struct tdm_table table = with_ranks(TDM_FITTED(operations, list, m->operation_count), m, limit);
	table.row = tdm_table_pointed;
	tdm_add_table(in, "operations",
		"After each operation: one bank of the fullest device; cb: its fullest core while it ran", table);
	return true;
}

const struct tdm_report_analyser tdm_operation_report = { "ttnn_report", "rows", sizeof(struct tdm_operation_memory),
	init, tdm_operation_memory_take, tdm_operation_memory_end, show, tdm_operation_memory_done };
