#include "report/info_tables.h"

#include <inttypes.h>
#include <stdlib.h>

enum { INDENT = 2, PATH_COLUMNS_MIN = 20 };

#define UNKNOWN .unknown = "unknown"

/* ---- cells of several tables; the context of a table is the report ---- */

static struct tdm_value size_value(int64_t bytes)
{
	return tdm_value_number(tdm_info_size(bytes));
}

static void path_text(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_info_capture_report *r = field->table->context;
	tdm_capture_paths_put(&r->summary->exact.paths, (uint32_t)tdm_field_member(field).number, out);
}

/* A path, or its end when the line is too short: the innermost function says most. The column begins at `arg`. */
static void put_path(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_info_capture_report *r = field->table->context;
	size_t used = (size_t)field->column->arg, least = PATH_COLUMNS_MIN;
	size_t columns = r->file.term.width > used + least ? r->file.term.width - used : least;
	struct tdm_buf text;
	tdm_buf_init(&text);
	path_text(field, &text);
	bool is_cut = text.len > columns;
	if (text.len != 0)
		tdm_buf_printf(out, "%s%s", is_cut ? "..." : "", text.data + (is_cut ? text.len - (columns - 3) : 0));
	else
		tdm_buf_puts(out, "outside of functions");
	out->failed |= text.failed;
	tdm_buf_done(&text);
}

static void json_path(const struct tdm_field *field, struct tdm_json *json)
{
	struct tdm_buf text;
	tdm_buf_init(&text);
	path_text(field, &text);
	tdm_json_text(json, tdm_field_member(field).number != TDM_PATH_ROOT ? tdm_buf_str(&text).ptr : NULL);
	json->out->failed |= text.failed;
	tdm_buf_done(&text);
}

/* ---- buffers ---- */

static struct tdm_value get_shape(const struct tdm_field *field)
{
	const struct tdm_info_capture_report *r = field->table->context;
	const struct tdm_exact_buffer *b = field->row;
	return tdm_value_text(tdm_capture_paths_text_of(&r->summary->exact.paths, b->shape));
}

static void put_owner(const struct tdm_field *field, struct tdm_buf *out)
{
	if (((const struct tdm_exact_buffer *)field->row)->existed)
		tdm_buf_puts(out, "before the capture");
	else
		put_path(field, out);
}

#define BUFFER(member) TDM_MEMBER(struct tdm_exact_buffer, member)
static const struct tdm_column buffer_columns[] = {
	{ NULL, "node", BUFFER(index) },
	{ NULL, "kind", BUFFER(kind), .flags = TDM_IS_KIND },
	{ "size", "asked_bytes", BUFFER(size), TDM_BYTES },
	{ "per bank", "bytes_per_bank", BUFFER(bank_bytes), TDM_BYTES, UNKNOWN },
	{ "kind", NULL, BUFFER(kind), .flags = TDM_IS_KIND, .width = 10 },
	{ "node", NULL, BUFFER(index), .width = 8 },
	{ "tensor", "tensor", .get = get_shape, .width = 28, .before = 1 },
	{ NULL, "existing", BUFFER(existed) },
	{ "allocated by", "operation", BUFFER(path), .text = put_owner, .json = json_path, .before = 1, .arg = 75 },
};

/* A table of the first `count` of `all` buffers in the list. */
static struct tdm_table buffer_table(
	const struct tdm_info_capture_report *r, const struct tdm_exact_buffer **list, size_t count, size_t all)
{
	return (struct tdm_table){ TDM_COLUMNS(buffer_columns), list, 0, count, .row = tdm_table_pointed,
		.dropped = all - count, .context = r, .indent = INDENT, .gap = 1 };
}

void tdm_info_alive(const struct tdm_info_capture_report *r, const struct tdm_exact_unit *unit, bool is_dram,
	struct tdm_buf *out, struct tdm_json *json)
{
	const struct tdm_capture_exact *e = &r->summary->exact;
	size_t cap = tdm_min(r->file.limit, e->buffer_count);
	unsigned kinds =
		is_dram ? 1U << TDM_KIND_DRAM | 1U << TDM_KIND_TRACE : 1U << TDM_KIND_L1 | 1U << TDM_KIND_L1_SMALL;
	const struct tdm_exact_buffer **list = calloc(cap + 1, sizeof *list);
	size_t all = list == NULL ? 0
				  : tdm_capture_exact_alive(e, (size_t)(unit - e->units), kinds,
					    is_dram ? unit->dram.at : unit->core.at, list, cap);
	const struct tdm_table table = buffer_table(r, list, tdm_min(all, cap), all);
	(json != NULL ? json->out : out)->failed |= list == NULL;
	if (json == NULL) {
		tdm_table_text(&table, &r->file.term, out);
	} else {
		tdm_json_put_u64(json, "buffer_count", all);
		tdm_json_put_table(json, "buffers", &table);
	}
	free(list);
}

void tdm_info_existing(const struct tdm_info_capture_report *r, struct tdm_json *json)
{
	const struct tdm_capture_exact *e = &r->summary->exact;
	size_t cap = tdm_min(r->file.limit, e->buffer_count), count = 0;
	const struct tdm_exact_buffer **list = calloc(cap + 1, sizeof *list);
	for (size_t i = 0; list != NULL && i < e->buffer_count && count < cap; i++)
		if (e->buffers[i].existed)
			list[count++] = &e->buffers[i];
	const struct tdm_table table = buffer_table(r, list, count, count);
	json->out->failed |= list == NULL;
	tdm_json_put_table(json, "existing", &table);
	free(list);
}

/* ---- program memory ---- */

#define PROGRAM(member) TDM_MEMBER(struct tdm_exact_program, member)
static const struct tdm_column program_columns[] = {
	{ NULL, "node", PROGRAM(node) },
	{ NULL, "kind", PROGRAM(kind), .flags = TDM_IS_KIND },
	{ "per core", "bytes_per_core", PROGRAM(size), TDM_BYTES },
	{ "cores", "cores", PROGRAM(cores), .flags = TDM_ZERO_IS_UNKNOWN, UNKNOWN, .width = 10 },
	{ "kind", NULL, PROGRAM(kind), .flags = TDM_IS_KIND, .width = 10 },
	{ "node", NULL, PROGRAM(node), .width = 8 },
	{ "address", "address", PROGRAM(address), .flags = TDM_ZERO_IS_UNKNOWN | TDM_OTHER_SIDE, .width = 28,
		.before = 1 },
	{ "allocated by", "operation", PROGRAM(path), .text = put_path, .json = json_path, .before = 1, .arg = 75 },
};

struct tdm_table tdm_info_program_table(const struct tdm_info_capture_report *r, const struct tdm_exact_unit *unit)
{
	size_t count;
	const struct tdm_exact_program *list =
		tdm_capture_exact_program(&r->summary->exact, (size_t)(unit - r->summary->exact.units), &count);
	return (struct tdm_table){ TDM_COLUMNS(program_columns), list, sizeof *list, count, .limit = r->file.limit,
		.context = r, .indent = INDENT, .gap = 1 };
}

/* ---- operations ---- */

static struct tdm_value get_core_peak(const struct tdm_field *field)
{
	const struct tdm_info_capture_report *r = field->table->context;
	const struct tdm_capture_operation *o = field->row;
	return size_value(r->summary->right[TDM_STOCK_CORE_PEAK_TOTAL] != INT64_MIN ? o->core_peak : INT64_MIN);
}

/* Without a peak the operation never changed L1: "-", which is not the same as unknown. */
static void put_core_peak(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_capture_operation *o = field->row;
	tdm_buf_puts(out, o->core_peak == INT64_MIN ? "-"
						    : tdm_format_bytes((char[TDM_BYTES_CAP]){ 0 }, TDM_BYTES_CAP,
							      get_core_peak(field).number));
}

#define OPERATION(member) TDM_MEMBER(struct tdm_capture_operation, member)
static const struct tdm_column operation_columns[] = {
	{ NULL, "operation", OPERATION(path), .json = json_path },
	{ NULL, "calls", OPERATION(calls) },
	{ NULL, "buffers", OPERATION(buffers) },
	{ NULL, "dram_bytes", OPERATION(dram_bytes) },
	{ NULL, "l1_bytes", OPERATION(l1_bytes) },
	{ "peak core", "peak_core", .get = get_core_peak, .text = put_core_peak, TDM_BYTES },
	{ "DRAM", NULL, OPERATION(dram_bytes), TDM_BYTES },
	{ "L1", NULL, OPERATION(l1_bytes), TDM_BYTES },
	{ "buffers", NULL, OPERATION(buffers), .width = 8 },
	{ "calls", NULL, OPERATION(calls), .width = 8 },
	{ "operation", NULL, OPERATION(path), .text = put_path, .before = 1, .arg = 54 },
};

void tdm_info_operations(const struct tdm_info_capture_report *r, struct tdm_buf *out, struct tdm_json *json)
{
	size_t count;
	struct tdm_capture_operation *all = tdm_capture_operations(&r->summary->exact, &count);
	const struct tdm_table table = { TDM_COLUMNS(operation_columns), all, sizeof *all, all != NULL ? count : 0,
		.limit = r->file.limit, .context = r, .indent = INDENT, .gap = 1 };
	(json != NULL ? json->out : out)->failed |= all == NULL && count != 0;
	if (json != NULL) {
		tdm_json_put_u64(json, "operation_count", count);
		tdm_json_put_table(json, "operations", &table);
	} else if (all != NULL) {
		tdm_put_heading(out, &r->file.term, "By operation");
		tdm_table_text(&table, &r->file.term, out);
	}
	free(all);
}

/* ---- devices ---- */

static size_t unit_of(const struct tdm_field *field)
{
	const struct tdm_info_capture_report *r = field->table->context;
	return (size_t)((const struct tdm_exact_unit *)field->row - r->summary->exact.units);
}

/* The peak of the figure `arg`. */
static struct tdm_value get_peak(const struct tdm_field *field)
{
	const struct tdm_info_capture_report *r = field->table->context;
	return size_value(
		tdm_capture_peak(&r->summary->exact, unit_of(field), (enum tdm_stock_figure)field->column->arg));
}

static void put_id(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_exact_unit *unit = field->row;
	if (unit->has_id)
		tdm_buf_printf(out, "  %" PRIu64, unit->id);
	else
		tdm_buf_puts(out, "  -");
}

static void put_fullest(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_exact_unit *unit = field->row;
	if (unit->has_peak_core)
		tdm_buf_printf(out, " %" PRIu32 "-%" PRIu32, unit->peak_x, unit->peak_y);
}

static bool is_of_other(const struct tdm_table *table, const void *row)
{
	return ((const struct tdm_exact_chip *)row)->unit != *(const size_t *)table->context;
}

static struct tdm_value get_known_by(const struct tdm_field *field)
{
	static const char *const mappings[] = { "tensors", "only_one", "same_number" };
	return tdm_value_text(mappings[((const struct tdm_exact_chip *)field->row)->mapping]);
}

static const struct tdm_column chip_columns[] = {
	{ NULL, "chip", TDM_MEMBER(struct tdm_exact_chip, id) },
	{ NULL, "known_by", .get = get_known_by },
};

static void json_chips(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_info_capture_report *r = field->table->context;
	const struct tdm_capture_exact *e = &r->summary->exact;
	const size_t unit = unit_of(field);
	struct tdm_table table = TDM_TABLE_OF(chip_columns, e->chips, e->chip_count);
	table.skip = is_of_other;
	table.context = &unit;
	tdm_table_json(&table, json);
}

/* The bytes in all banks of a kind, from the most in one; needs the number of banks. */
static struct tdm_value get_bank_peak(const struct tdm_field *field)
{
	const struct tdm_exact_kind *kind = field->row;
	const struct tdm_field *unit = field->table->context;
	const struct tdm_info_capture_report *r = unit->table->context;
	struct tdm_value value = size_value(kind->bank_unknown == 0 ? kind->bank.bytes : INT64_MIN);
	uint64_t banks = field->column->arg == 0
				 ? 1
				 : tdm_capture_banks(&r->summary->exact, unit_of(unit),
					   (enum tdm_kind)(kind - (const struct tdm_exact_kind *)field->table->rows));
	return tdm_value_number(
		banks != 0 && value.type == TDM_VALUE_NUMBER ? tdm_times(value.number, banks) : TDM_BYTES_UNKNOWN);
}

static struct tdm_value get_at_end(const struct tdm_field *field)
{
	const struct tdm_exact_kind *kind = field->row;
	return size_value(kind->now + (int64_t)kind->existing_bytes);
}

static bool is_unused(const struct tdm_table *table, const void *row)
{
	const struct tdm_exact_kind *kind = row;
	(void)table;
	return kind->allocs + kind->frees + kind->existing == 0;
}

#define KIND(member) TDM_MEMBER(struct tdm_exact_kind, member)
static const struct tdm_column kind_columns[] = {
	{ NULL, "kind", TDM_INDEX, .flags = TDM_IS_KIND },
	{ NULL, "peak_asked_bytes", KIND(asked.bytes) },
	{ NULL, "peak_bytes_per_bank", .get = get_bank_peak, .arg = 0 },
	{ NULL, "peak_reserved_bytes", .get = get_bank_peak, .arg = 1 },
	{ NULL, "asked_bytes_at_end", .get = get_at_end },
	{ NULL, "allocations", KIND(allocs) },
	{ NULL, "allocated_bytes", KIND(alloc_bytes) },
	{ NULL, "releases", KIND(frees) },
	{ NULL, "released_bytes", KIND(free_bytes) },
	{ NULL, "existing_buffers", KIND(existing) },
	{ NULL, "existing_bytes", KIND(existing_bytes) },
};

static void json_kinds(const struct tdm_field *field, struct tdm_json *json)
{
	struct tdm_table table =
		TDM_TABLE_OF(kind_columns, ((const struct tdm_exact_unit *)field->row)->kinds, TDM_KIND_COUNT);
	table.skip = is_unused;
	table.context = field;
	tdm_table_json(&table, json);
}

static void json_dram(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_exact_unit *unit = field->row;
	tdm_json_object(json);
	tdm_json_put_u64(json, "peak_asked_bytes", (uint64_t)unit->dram.bytes);
	tdm_json_put_u64(json, "node", unit->dram.at);
	tdm_info_alive(field->table->context, unit, true, NULL, json);
	tdm_json_object_end(json);
}

static void json_fullest(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_exact_unit *unit = field->row;
	if (!unit->has_peak_core) {
		tdm_json_null(json);
		return;
	}
	tdm_json_object(json);
	tdm_json_put_u64(json, "x", unit->peak_x);
	tdm_json_put_u64(json, "y", unit->peak_y);
	tdm_json_object_end(json);
}

static void json_lists(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_table table = tdm_info_program_table(field->table->context, field->row);
	tdm_info_alive(field->table->context, field->row, false, NULL, json);
	tdm_json_put_u64(json, "program_count", table.count);
	tdm_json_put_table(json, "program", &table);
}

#define UNIT(member)     TDM_MEMBER(struct tdm_exact_unit, member)
#define PEAK_OF(figure_) .get = get_peak, .arg = TDM_STOCK_##figure_
static const struct tdm_column core_columns[] = {
	{ NULL, "peak_total", PEAK_OF(CORE_PEAK_TOTAL) },
	{ NULL, "peak_l1", PEAK_OF(CORE_PEAK_L1) },
	{ NULL, "peak_program", UNIT(program_total.bytes) },
	{ NULL, "peak_cb", PEAK_OF(CORE_PEAK_CB) },
	{ NULL, "peak_dfb", PEAK_OF(CORE_PEAK_DFB) },
	{ NULL, "peak_scratchpad", PEAK_OF(CORE_PEAK_SCRATCHPAD) },
	{ NULL, "node", UNIT(core.at) },
	{ NULL, "fullest", .json = json_fullest },
	{ NULL, NULL, .json = json_lists },
};

static void json_core(const struct tdm_field *field, struct tdm_json *json)
{
	tdm_json_object(json);
	tdm_table_keys(
		&(struct tdm_table){ TDM_COLUMNS(core_columns), .context = field->table->context }, field->row, json);
	tdm_json_object_end(json);
}

#define PEAK_CELL(figure_) PEAK_OF(figure_), TDM_BYTES, UNKNOWN
static const struct tdm_column unit_columns[] = {
	{ "By device", NULL, .text = put_id, .flags = TDM_WHOLE, .width = 11 },
	{ NULL, "device", UNIT(id), TDM_KNOWN_IF(struct tdm_exact_unit, has_id) },
	{ NULL, "chips", .json = json_chips },
	{ NULL, "kinds", .json = json_kinds },
	{ "DRAM ", "dram", PEAK_CELL(DRAM_PEAK), .json = json_dram },
	{ "L1 device ", "peak_l1_bytes", PEAK_CELL(L1_PEAK), .before = 1 },
	{ NULL, "views", UNIT(views) },
	{ "L1 core ", NULL, PEAK_CELL(CORE_PEAK_TOTAL) },
	{ "L1 buffers ", NULL, PEAK_OF(CORE_PEAK_L1), .format = tdm_format_bytes, .width = 11, UNKNOWN },
	{ "circular ", NULL, PEAK_CELL(CORE_PEAK_CB), .before = 2 },
	{ "fullest core", "core", .text = put_fullest, .json = json_core },
};

struct tdm_table tdm_info_device_table(
	const struct tdm_info_capture_report *r, const struct tdm_exact_unit *devices[TDM_EXACT_UNITS_MAX])
{
	tdm_capture_devices(&r->summary->exact, devices);
	return (struct tdm_table){ TDM_COLUMNS(unit_columns), devices, 0, r->summary->exact.unit_count,
		.row = tdm_table_pointed, .context = r, .gap = 1 };
}

#define DEVICE(member) TDM_MEMBER(struct tdm_capture_device, member), .flags = TDM_ZERO_IS_UNKNOWN
static const struct tdm_column described_columns[] = {
	{ NULL, "device", TDM_MEMBER(struct tdm_capture_device, id) },
	{ NULL, "arch", DEVICE(arch) },
	{ NULL, "grid_x", DEVICE(grid_x) },
	{ NULL, "grid_y", DEVICE(grid_y) },
	{ NULL, "l1_per_core", DEVICE(worker_l1_size) },
	{ NULL, "l1_banks", DEVICE(l1_banks) },
	{ NULL, "dram_channels", DEVICE(dram_channels) },
	{ NULL, "dram_per_channel", DEVICE(dram_channel_size) },
};

struct tdm_table tdm_info_described_table(const struct tdm_info_capture_report *r)
{
	return TDM_TABLE_OF(described_columns, r->summary->exact.devices, r->summary->exact.device_count);
}
