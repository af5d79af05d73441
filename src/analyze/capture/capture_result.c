/*
 * Shows the result of a graph capture: the exact peaks beside the runtime's, the reasons why they differ, each device,
 * the live memory when L1 and DRAM were fullest, and the operations. In JSON, the group "stock" contains the runtime's
 * figures, and the group "exact" contains the correct figures.
 */
#include "analyze/capture/capture_summary.h"
#include "analyze/explain/failure_finding.h"
#include "analyze/report/report_analyser.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const struct tdm_capture_summary *summary_of(const struct tdm_field *field)
{
	return field->table->context;
}

/* A figure that may be unknown (INT64_MIN). Negative numbers are not sizes and become 0. */
static struct tdm_value size_value(int64_t bytes)
{
	return tdm_value_bytes(bytes == INT64_MIN ? TDM_BYTES_UNKNOWN : bytes < 0 ? 0 : (uint64_t)bytes);
}

static struct tdm_table limited(struct tdm_table table, const struct tdm_capture_summary *s, size_t limit)
{
	table.context = s;
	table.limit = limit;
	return table;
}

/* ---- paths ---- */

static struct tdm_value get_path(const struct tdm_field *field)
{
	struct tdm_buf text = { 0 };
	tdm_capture_paths_put(&summary_of(field)->exact.paths, (uint32_t)tdm_field_member(field).number, &text);
	return tdm_value_name(tdm_arena_buf(field->scratch, &text).ptr);
}

/* In text, shows only the innermost function, because a line may be too short for the whole path. */
static struct tdm_value get_function(const struct tdm_field *field)
{
	const struct tdm_capture_paths *paths = &summary_of(field)->exact.paths;
	uint32_t path = (uint32_t)tdm_field_member(field).number;
	if (path == TDM_PATH_ROOT)
		return tdm_value_text("outside of functions");
	return tdm_field_printed(field, "%s%s", paths->paths[path].parent != TDM_PATH_ROOT ? "... > " : "",
		tdm_capture_paths_name(paths, path));
}

/* ---- buffers ---- */

static struct tdm_value get_shape(const struct tdm_field *field)
{
	const struct tdm_exact_buffer *b = field->row;
	return tdm_value_text(tdm_capture_paths_text_of(&summary_of(field)->exact.paths, b->shape));
}

static struct tdm_value get_owner(const struct tdm_field *field)
{
	return ((const struct tdm_exact_buffer *)field->row)->existed ? tdm_value_text("before the capture")
								      : get_function(field);
}

#define BUFFER(member) TDM_MEMBER(struct tdm_exact_buffer, member)
static const struct tdm_column buffers[] = {
	{ "size", "asked_bytes", BUFFER(size), TDM_BYTES },
	{ "per bank", "bytes_per_bank", BUFFER(bank_bytes), TDM_BYTES, .unknown = "unknown" },
	{ "kind", "kind", BUFFER(kind), .flags = TDM_IS_KIND },
	{ "node", "node", BUFFER(index) },
	{ "tensor", "tensor", .get = get_shape, .width = 28 },
	{ NULL, "existing", BUFFER(existed) },
	{ "allocated by", NULL, BUFFER(path), .get = get_owner, .flags = TDM_REST },
	{ NULL, "operation", BUFFER(path), .get = get_path },
};

static struct tdm_table buffer_table(
	const struct tdm_capture_summary *s, const struct tdm_exact_buffer **list, size_t count)
{
	struct tdm_table table = TDM_FITTED(buffers, list, count);
	table.row = tdm_table_pointed;
	table.context = s;
	return table;
}

/* The largest live buffers when a device's DRAM or L1 was fullest. */
static struct tdm_table alive_table(struct tdm_arena *arena, const struct tdm_capture_summary *s,
	const struct tdm_exact_unit *unit, bool is_dram, size_t limit)
{
	size_t cap = tdm_min(limit, s->exact.buffer_count);
	const struct tdm_exact_buffer **list = tdm_arena_take(arena, (cap + 1) * sizeof *list);
	size_t all = tdm_capture_exact_alive(&s->exact, (size_t)(unit - s->exact.units),
		is_dram ? TDM_CAPTURE_IN_DRAM : TDM_CAPTURE_IN_L1, is_dram ? unit->dram.at : unit->core.at, list, cap);
	struct tdm_table table = buffer_table(s, list, tdm_min(all, cap));
	table.dropped = all - table.count;
	return table;
}

static void add_existing(struct tdm_block *in, const struct tdm_capture_summary *s, size_t limit)
{
	const struct tdm_capture_exact *e = &s->exact;
	size_t cap = tdm_min(limit, e->buffer_count), count = 0;
	const struct tdm_exact_buffer **list = tdm_result_alloc(in->result, cap + 1, sizeof *list);
	for (size_t i = 0; i < e->buffer_count && count < cap; i++)
		if (e->buffers[i].existed)
			list[count++] = &e->buffers[i];
	tdm_add_table(in, "existing", NULL, buffer_table(s, list, count))->is_data_only = true;
}

/* ---- program memory at the peak of a device's fullest core ---- */

#define PROGRAM(member) TDM_MEMBER(struct tdm_exact_program, member)
static const struct tdm_column programs[] = {
	{ "per core", "bytes_per_core", PROGRAM(size), TDM_BYTES },
	{ "cores", "cores", PROGRAM(cores), .flags = TDM_ZERO_IS_UNKNOWN, .unknown = "unknown" },
	{ "kind", "kind", PROGRAM(kind), .flags = TDM_IS_KIND },
	{ "node", "node", PROGRAM(node) },
	{ "address", "address", PROGRAM(address), .flags = TDM_ZERO_IS_UNKNOWN },
	{ "allocated by", NULL, PROGRAM(path), .get = get_function, .flags = TDM_REST },
	{ NULL, "operation", PROGRAM(path), .get = get_path },
};

static struct tdm_table program_table(
	const struct tdm_capture_summary *s, const struct tdm_exact_unit *unit, size_t limit)
{
	size_t count;
	const struct tdm_exact_program *list =
		tdm_capture_exact_program(&s->exact, (size_t)(unit - s->exact.units), &count);
	return limited(TDM_FITTED(programs, list, count), s, limit);
}

/* ---- operations ---- */

static struct tdm_value get_core_peak(const struct tdm_field *field)
{
	bool is_known = summary_of(field)->right[TDM_STOCK_CORE_PEAK_TOTAL] != INT64_MIN;
	return tdm_value_if(is_known, size_value(((const struct tdm_capture_operation *)field->row)->core_peak));
}

#define OPERATION(member) TDM_MEMBER(struct tdm_capture_operation, member)
static const struct tdm_column operations[] = {
	{ "peak core", "peak_core", .get = get_core_peak, TDM_BYTES },
	{ "DRAM", "dram_bytes", OPERATION(dram_bytes), TDM_BYTES },
	{ "L1", "l1_bytes", OPERATION(l1_bytes), TDM_BYTES },
	{ "buffers", "buffers", OPERATION(buffers) },
	{ "calls", "calls", OPERATION(calls) },
	{ "operation", NULL, OPERATION(path), .get = get_function, .flags = TDM_REST },
	{ NULL, "operation", OPERATION(path), .get = get_path },
};

/* ---- devices ---- */

static size_t unit_of(const struct tdm_field *field)
{
	return (size_t)((const struct tdm_exact_unit *)field->row - summary_of(field)->exact.units);
}

/* The peak of the figure given by `arg`. */
static struct tdm_value get_peak(const struct tdm_field *field)
{
	enum tdm_stock_figure figure = (enum tdm_stock_figure)field->column->arg;
	return size_value(tdm_capture_peak(&summary_of(field)->exact, unit_of(field), figure));
}

static struct tdm_value get_fullest(const struct tdm_field *field)
{
	const struct tdm_exact_unit *unit = field->row;
	return tdm_value_if(
		unit->has_peak_core, tdm_field_printed(field, "%" PRIu32 "-%" PRIu32, unit->peak_x, unit->peak_y));
}

static struct tdm_value get_known_by(const struct tdm_field *field)
{
	static const char *const mappings[] = { "tensors", "only_one", "same_number" };
	return tdm_value_text(mappings[((const struct tdm_exact_chip *)field->row)->mapping]);
}

/* The chips of a device and how they were assigned; for people, only the chip numbers (`arg`). */
static struct tdm_value get_chips(const struct tdm_field *field)
{
	static const struct tdm_column chips[] = {
		{ NULL, "chip", TDM_MEMBER(struct tdm_exact_chip, id) },
		{ NULL, "known_by", .get = get_known_by },
	};
	const struct tdm_capture_exact *e = &summary_of(field)->exact;
	struct tdm_exact_chip *list = tdm_arena_take(field->scratch, (e->chip_count + 1) * sizeof *list);
	struct tdm_value *ids = tdm_arena_take(field->scratch, (e->chip_count + 1) * sizeof *ids);
	size_t count = 0;
	for (size_t i = 0; i < e->chip_count; i++)
		if (e->chips[i].unit == unit_of(field)) {
			ids[count] = tdm_value_number(e->chips[i].id);
			list[count++] = e->chips[i];
		}
	return field->column->arg != 0 ? tdm_value_if(count != 0, tdm_value_list(ids, count))
				       : tdm_field_table(field, TDM_TABLE_OF(chips, list, count));
}

/* A kind of memory that a device has used. */
struct kind_row {
	const struct tdm_exact_kind *of;
	uint8_t kind;
	uint64_t bank, all_banks; /* most bytes in one bank, and in all banks if the number of banks is known */
	int64_t at_end;
};

#define KIND(name)   TDM_MEMBER(struct kind_row, name)
#define COUNTS(name) TDM_VIA(struct kind_row, of, struct tdm_exact_kind, name)
static struct tdm_value get_kinds(const struct tdm_field *field)
{
	static const struct tdm_column kinds[] = {
		{ NULL, "kind", KIND(kind), .flags = TDM_IS_KIND },
		{ NULL, "peak_asked_bytes", COUNTS(asked.bytes) },
		{ NULL, "peak_bytes_per_bank", KIND(bank) },
		{ NULL, "peak_reserved_bytes", KIND(all_banks) },
		{ NULL, "asked_bytes_at_end", KIND(at_end) },
		{ NULL, "allocations", COUNTS(allocs) },
		{ NULL, "allocated_bytes", COUNTS(alloc_bytes) },
		{ NULL, "releases", COUNTS(frees) },
		{ NULL, "released_bytes", COUNTS(free_bytes) },
		{ NULL, "existing_buffers", COUNTS(existing) },
		{ NULL, "existing_bytes", COUNTS(existing_bytes) },
	};
	struct kind_row *rows = tdm_arena_take(field->scratch, TDM_KIND_COUNT * sizeof *rows);
	size_t count = 0;
	for (uint8_t i = 0; i < TDM_KIND_COUNT; i++) {
		const struct tdm_exact_kind *k = &((const struct tdm_exact_unit *)field->row)->kinds[i];
		uint64_t banks = tdm_capture_banks(&summary_of(field)->exact, unit_of(field), (enum tdm_kind)i);
		uint64_t bank = k->bank_unknown == 0 ? size_value(k->bank.bytes).number : TDM_BYTES_UNKNOWN;
		if (k->allocs + k->frees + k->existing != 0)
			rows[count++] =
				(struct kind_row){ k, i, bank, tdm_times(bank, banks != 0 ? banks : TDM_BYTES_UNKNOWN),
					tdm_max_signed(k->now + (int64_t)k->existing_bytes, 0) };
	}
	return tdm_field_table(field, TDM_TABLE_OF(kinds, rows, count));
}

enum { OF_L1, OF_DRAM, OF_PROGRAM, COUNT_ONLY = 4 };

/* The contents of a device at its peaks, or their number of bytes. */
static struct tdm_value get_alive(const struct tdm_field *field)
{
	int of = field->column->arg & ~COUNT_ONLY;
	const struct tdm_table table = of == OF_PROGRAM
					       ? program_table(summary_of(field), field->row, field->table->limit)
					       : alive_table(field->scratch, summary_of(field), field->row,
							 of == OF_DRAM, field->table->limit);
	return of != field->column->arg ? tdm_value_number(table.count + table.dropped) : tdm_field_table(field, table);
}

#define UNIT(member)    TDM_MEMBER(struct tdm_exact_unit, member)
#define PEAK_OF(figure) .get = get_peak, .arg = TDM_STOCK_##figure, TDM_BYTES, .unknown = "unknown"
#define CORE(member)    UNIT(member), TDM_KNOWN_IF(struct tdm_exact_unit, has_peak_core)
static const struct tdm_column units[] = {
	{ "Device", "device", UNIT(id), TDM_KNOWN_IF(struct tdm_exact_unit, has_id) },
	{ "chips", NULL, .get = get_chips, .arg = 1, .width = 24 },
	{ NULL, "chips", .get = get_chips },
	{ NULL, "kinds", .get = get_kinds },
	{ "DRAM", NULL, PEAK_OF(DRAM_PEAK) },
	{ NULL, "dram.peak_asked_bytes", UNIT(dram.bytes) },
	{ NULL, "dram.node", UNIT(dram.at) },
	{ NULL, "dram.buffer_count", .get = get_alive, .arg = OF_DRAM | COUNT_ONLY },
	{ NULL, "dram.buffers", .get = get_alive, .arg = OF_DRAM },
	{ "L1 device", "peak_l1_bytes", PEAK_OF(L1_PEAK) },
	{ NULL, "views", UNIT(views) },
	{ "L1 core", "core.peak_total", PEAK_OF(CORE_PEAK_TOTAL) },
	{ "L1 buffers", "core.peak_l1", PEAK_OF(CORE_PEAK_L1) },
	{ NULL, "core.peak_program", UNIT(program_total.bytes) },
	{ "circular", "core.peak_cb", PEAK_OF(CORE_PEAK_CB) },
	{ NULL, "core.peak_dfb", PEAK_OF(CORE_PEAK_DFB) },
	{ NULL, "core.peak_scratchpad", PEAK_OF(CORE_PEAK_SCRATCHPAD) },
	{ NULL, "core.node", UNIT(core.at) },
	{ "fullest core", NULL, .get = get_fullest, .unknown = "" },
	{ NULL, "core.fullest.x", CORE(peak_x) },
	{ NULL, "core.fullest.y", CORE(peak_y) },
	{ NULL, "core.buffer_count", .get = get_alive, .arg = OF_L1 | COUNT_ONLY },
	{ NULL, "core.buffers", .get = get_alive, .arg = OF_L1 },
	{ NULL, "core.program_count", .get = get_alive, .arg = OF_PROGRAM | COUNT_ONLY },
	{ NULL, "core.program", .get = get_alive, .arg = OF_PROGRAM },
};

/* Figures as given by the capture. */
#define DEVICE(member) TDM_MEMBER(struct tdm_capture_device, member), .flags = TDM_ZERO_IS_UNKNOWN
static const struct tdm_column described[] = {
	{ "Device", "device", TDM_MEMBER(struct tdm_capture_device, id) },
	{ "architecture", "arch", DEVICE(arch), .width = 24 },
	{ "columns", "grid_x", DEVICE(grid_x) },
	{ "rows", "grid_y", DEVICE(grid_y) },
	{ "L1 a core", "l1_per_core", DEVICE(worker_l1_size), TDM_BYTES },
	{ NULL, "l1_banks", DEVICE(l1_banks) },
	{ "DRAM channels", "dram_channels", DEVICE(dram_channels) },
	{ "each", "dram_per_channel", DEVICE(dram_channel_size), TDM_BYTES },
};

/* ---- peaks ---- */

struct peak {
	enum tdm_stock_figure figure;
	const char *what;
	bool is_rare;  /* hidden when 0 */
	bool is_bound; /* the program memory may belong to several programs, so the sum is an upper bound */
	const char *key;
	uint64_t exact, stock;
};

static struct tdm_value get_exact(const struct tdm_field *field)
{
	const struct peak *peak = field->row;
	struct tdm_value value = tdm_value_bytes(peak->exact);
	value.mark = peak->is_bound ? '<' : '\0';
	return value;
}

#define PEAK(member) TDM_MEMBER(struct peak, member)
static const struct tdm_column peak_columns[] = {
	{ "Peaks", NULL, PEAK(what) },
	{ "exact", NULL, .get = get_exact, TDM_SIZE(0) },
	{ "bytes", NULL, PEAK(exact), TDM_COUNT(0) },
	{ "runtime's own", NULL, PEAK(stock), TDM_COUNT(0) },
	{ "", NULL, PEAK(key) },
};

static void add_peaks(struct tdm_block *in, const struct tdm_capture_summary *s)
{
	bool is_bound = s->exact.undivided != 0;
	const struct peak list[] = {
		{ .figure = TDM_STOCK_DRAM_PEAK, .what = "DRAM of one device" },
		{ .figure = TDM_STOCK_L1_PEAK, .what = "L1 of one device", .is_bound = is_bound },
		{ .figure = TDM_STOCK_CORE_PEAK_TOTAL, .what = "L1 of the fullest core", .is_bound = is_bound },
		{ .figure = TDM_STOCK_CORE_PEAK_L1, .what = "  buffers" },
		{ .figure = TDM_STOCK_CORE_PEAK_CB, .what = "  circular buffers", .is_bound = is_bound },
		{ TDM_STOCK_CORE_PEAK_DFB, "  dataflow buffers", true, is_bound, NULL, 0, 0 },
		{ TDM_STOCK_CORE_PEAK_SCRATCHPAD, "  scratchpads", true, is_bound, NULL, 0, 0 },
	};
	struct peak *rows = tdm_result_alloc(in->result, sizeof list / sizeof *list, sizeof *rows);
	size_t count = 0;
	for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
		struct peak *row = &rows[count];
		*row = list[i];
		row->key = tdm_stock_key(row->figure);
		row->exact = size_value(s->right[row->figure]).number;
		row->stock = s->figures.known[row->figure] ? s->figures.value[row->figure] : TDM_BYTES_UNKNOWN;
		count += !row->is_rare || row->exact != 0 || row->stock != 0;
	}
	struct tdm_table table = TDM_FITTED(peak_columns, rows, count);
	table.unknown = "unknown";
	tdm_add_table(in, NULL, NULL, table);
}

/* Shows the memory that was live when L1 or DRAM was fullest, on the device where that happened. */
static void add_moment(struct tdm_block *in, const struct tdm_capture_summary *s, bool is_dram, size_t limit)
{
	enum tdm_stock_figure figure = is_dram ? TDM_STOCK_DRAM_PEAK : TDM_STOCK_CORE_PEAK_TOTAL;
	size_t at = tdm_capture_fullest(&s->exact, figure);
	char device[40] = "the device", core[40] = "", size[TDM_BYTES_CAP];
	if (at == SIZE_MAX)
		return;
	const struct tdm_exact_unit *u = &s->exact.units[at];
	const struct tdm_exact_peak *peak = is_dram ? &u->dram : &u->core;
	if (u->has_id)
		snprintf(device, sizeof device, "device %" PRIu64, u->id);
	if (!is_dram && u->has_peak_core)
		snprintf(core, sizeof core, " in core %" PRIu32 "-%" PRIu32, u->peak_x, u->peak_y);
	struct tdm_block *group = tdm_add_group(in, NULL,
		tdm_result_printed(in->result, "When %s was fullest: %s, %s at node %" PRIu32 "%s%s",
			is_dram ? "DRAM" : "L1", device,
			tdm_format_bytes_short(size, sizeof size, size_value(peak->bytes).number), peak->at, core,
			tdm_capture_peak(&s->exact, at, figure) == INT64_MIN
				? ", without buffers of unknown bytes per bank"
				: ""));
	group->is_text_only = true;
	tdm_add_table(group, NULL, NULL, alive_table(&in->result->arena, s, u, is_dram, limit))->is_close = true;
	if (!is_dram)
		tdm_add_table(group, NULL, NULL, program_table(s, u, limit))->is_close = true;
}

/* ---- findings ---- */

static void find_reasons(const struct tdm_capture_summary *s, enum tdm_stock_figure figure, struct tdm_findings *found)
{
#define X(id, name, text) [TDM_REASON_##id] = name,
	static const char *const names[] = { TDM_CAPTURE_REASON_LIST(X) };
#undef X
#define X(id, name, text) [TDM_REASON_##id] = "differs by {,bytes} B|: " text,
	static const char *const patterns[] = { TDM_CAPTURE_REASON_LIST(X) };
#undef X
	int64_t bytes[TDM_REASON_COUNT];
	tdm_capture_explain(s, figure, bytes);
	for (int i = 0; i < TDM_REASON_COUNT; i++) {
		if (bytes[i] == 0)
			continue;
		tdm_findings_remark(found, TDM_FINDING_INFO, names[i], tdm_stock_key(figure));
		found->list[found->count - 1].pattern = patterns[i];
		tdm_findings_value(found, "bytes", tdm_value_if(i != TDM_REASON_WRAPPED, tdm_value_signed(bytes[i])));
	}
}

/* Runtime figures that are unknown, and the number of nonsensical records. */
static void find_faults(const struct tdm_capture_summary *s, struct tdm_findings *found)
{
	static const char *const names[TDM_STOCK_GROUPS] = { "dram_*", "l1_peak", "core_peak_*" };
	const struct tdm_capture_exact *e = &s->exact;
	const struct {
		uint64_t count;
		const char *what, *one, *many;
	} faults[] = {
		{ s->counts.refused, "refused_nodes", "node cannot be used", "nodes cannot be used" },
		{ s->counts.cut_texts, "cut_texts", "text too long", "texts too long" },
		{ s->counts.other_types, "unknown_types", "node of an unknown type", "nodes of unknown types" },
		{ e->unknown_frees, "unknown_releases", "release of an unknown buffer", "releases of unknown buffers" },
		{ e->double_frees, "double_releases", "double release", "double releases" },
		{ e->rereports, "second_allocations", "second allocation of a live buffer",
			"second allocations of live buffers" },
		{ e->ignored, "ignored", "node above a limit", "nodes above a limit" },
		{ e->paths.overflow, "calls", "call that could not be told apart",
			"calls that could not be told apart" },
	};
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
		tdm_findings_counted(found, TDM_FINDING_WARNING, faults[i].what, NULL, faults[i].count, faults[i].one,
			faults[i].many);
	for (int group = 0; group < TDM_STOCK_GROUPS; group++)
		if (s->figures.why[group][0] != '\0') {
			tdm_findings_remark(found, TDM_FINDING_WARNING, "unknown", names[group]);
			tdm_findings_say(found, "unknown: %s", s->figures.why[group]);
		}
}

/* How the exact figures are counted, and what they do not include. */
static void find_remarks(const struct tdm_capture_exact *exact, struct tdm_findings *found)
{
	uint64_t before = 0, without_banks = 0;
	bool any_cores_unknown = false;
	for (size_t i = 0; i < exact->buffer_count; i++) {
		const struct tdm_exact_buffer *b = &exact->buffers[i];
		before += b->existed;
		without_banks += b->existed && b->bank_bytes == TDM_BYTES_UNKNOWN &&
				 (b->kind == TDM_KIND_L1 || b->kind == TDM_KIND_L1_SMALL);
	}
	for (size_t i = 0; i < exact->chip_count; i++)
		any_cores_unknown |= exact->chips[i].cores_unknown;
	tdm_findings_counted(found, TDM_FINDING_INFO, "views", NULL, exact->views,
		"circular or dataflow buffer uses a tensor's memory and has no bytes of its own",
		"circular or dataflow buffers use a tensor's memory and have no bytes of their own");
	tdm_findings_counted(found, TDM_FINDING_INFO, "existing", NULL, before,
		"buffer was there before the capture began", "buffers were there before the capture began");
#define WITHOUT "in L1 without their bytes per core: figures for one core do not include them"
	tdm_findings_counted(found, TDM_FINDING_INFO, "existing_banks", NULL, without_banks,
		"buffer from before the capture is " WITHOUT, "buffers from before the capture are " WITHOUT);
	tdm_findings_counted(found, TDM_FINDING_INFO, "cached_programs", NULL, exact->cached_programs,
		"program whose circular buffers are not in the capture: it was cached before, or it has none",
		"programs whose circular buffers are not in the capture: they were cached before, or they have none");
#define ADDED                                                                                                      \
	"may belong to a second program of the same call, but no release or address says so: sizes are added up, " \
	"and figures that include them are upper bounds"
	tdm_findings_counted(found, TDM_FINDING_INFO, "undivided", NULL, exact->undivided, "circular buffer " ADDED,
		"circular buffers " ADDED);
	if (!any_cores_unknown)
		return;
	tdm_findings_remark(found, TDM_FINDING_INFO, "cores", NULL);
	tdm_findings_say(found, "The cores of some circular buffers are not recorded: L1 of one device is unknown, and "
				"for one core they are assumed to be on the same one");
}

static void add_findings(struct tdm_block *in, const struct tdm_capture_summary *s)
{
	struct tdm_findings found = { 0 };
	find_faults(s, &found);
	for (int i = 0; i < TDM_STOCK_FIGURES; i++)
		find_reasons(s, (enum tdm_stock_figure)i, &found);
	find_remarks(&s->exact, &found);
	tdm_add_findings(in, "findings", NULL, &found)->is_apart = true;
}

/* ---- errors that the capture recorded ---- */

#define ERROR(member) TDM_MEMBER(struct tdm_capture_error, member)
static const struct tdm_column errors[] = {
	{ NULL, "node", ERROR(node) },
	{ NULL, "operation", ERROR(operation), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "sort", ERROR(message), .get = tdm_error_sort },
	{ NULL, "summary", ERROR(message), .get = tdm_error_summary },
	{ NULL, "message", ERROR(message) },
};

static void add_errors(struct tdm_block *in, const struct tdm_capture_summary *s, size_t limit)
{
	struct tdm_findings found = { 0 };
	for (size_t i = 0; i < s->errors_kept; i++)
		tdm_error_find("node", s->errors[i].node, tdm_str_of(s->errors[i].operation),
			tdm_str_of(s->errors[i].message), &found);
	tdm_errors_lost(s->error_count - s->errors_kept, &found);
	tdm_data(in, "error_count", tdm_value_number(s->error_count));
	tdm_add_table(in, "errors", NULL, limited(TDM_TABLE_OF(errors, s->errors, s->errors_kept), s, limit))
		->is_data_only = true;
	tdm_add_findings(in, NULL, NULL, &found)->findings.limit = limit;
}

/* ---- the whole result ---- */

static void add_exact(struct tdm_block *in, const struct tdm_capture_summary *s, size_t limit)
{
	const struct tdm_capture_exact *e = &s->exact;
	const struct tdm_exact_unit **devices = tdm_result_alloc(in->result, e->unit_count, sizeof *devices);
	size_t count;
	struct tdm_capture_operation *all = tdm_capture_operations(e, &count);
	tdm_result_keep(in->result, all, free);
	tdm_data_all(
		in, TDM_VALUES({ "unknown_releases", tdm_value_number(e->unknown_frees) },
			    { "double_releases", tdm_value_number(e->double_frees) },
			    { "second_allocations", tdm_value_number(e->rereports) },
			    { "views", tdm_value_number(e->views) }, { "undivided", tdm_value_number(e->undivided) },
			    { "ignored", tdm_value_number(e->ignored) }));
	tdm_capture_devices(e, devices);
	struct tdm_table by_device = limited(TDM_FITTED(units, devices, e->unit_count), s, limit);
	by_device.row = tdm_table_pointed;
	by_device.is_whole_in_data = true;
	tdm_add_table(in, "devices", NULL, by_device);
	add_moment(in, s, false, limit);
	add_moment(in, s, true, limit);
	tdm_data(in, "operation_count", tdm_value_number(count));
	tdm_add_table(in, "operations", "By operation", limited(TDM_FITTED(operations, all, count), s, limit));
	add_existing(in, s, limit);
}

static bool show(void *summary, const struct tdm_intake *reading, size_t limit, struct tdm_block *in)
{
	static const char *const groups[] = { "dram", "l1", "core" };
	const struct tdm_capture_summary *s = summary;
	const struct tdm_capture_exact *e = &s->exact;
	uint64_t calls = 0;
	if (reading->err != 0 && s->counts.nodes == 0)
		return false; /* the capture ended before its first node */
	for (size_t i = 1; i < e->paths.count; i++)
		calls += e->paths.paths[i].calls;
	tdm_line(in, "Graph capture",
		"{_file}: {nodes/node/nodes}, {_calls/call/calls}, {_buffers/buffer/buffers}, "
		"{_devices/device/devices}, {bytes}",
		TDM_VALUES({ "_file", tdm_value_text(tdm_input_name(reading->input)) },
			{ "complete", tdm_value_bool(reading->err == 0) },
			{ "bytes", tdm_value_bytes(s->counts.bytes) }, { "nodes", tdm_value_count(s->counts.nodes) },
			{ "refused_nodes", tdm_value_number(s->counts.refused) },
			{ "cut_texts", tdm_value_number(s->counts.cut_texts) },
			{ "unknown_types", tdm_value_number(s->counts.other_types) },
			{ "_calls", tdm_value_count(calls) }, { "_buffers", tdm_value_count(e->buffer_count) },
			{ "_devices", tdm_value_count(e->unit_count) }));
	if (reading->err != 0)
		tdm_warn(in, "Incomplete", "the file could not be read to its end; this is what came before", NULL);
	add_errors(in, s, limit);
	tdm_add_table(in, "devices", NULL, TDM_FITTED(described, e->devices, e->device_count));
	struct tdm_block *stock = tdm_add_group(in, "stock", NULL), *exact;
	add_peaks(in, s);
	add_findings(in, s);
	exact = tdm_add_group(in, "exact", NULL);
	tdm_data(stock, "source", tdm_value_text("capture"));
	tdm_data(exact, "source", tdm_value_text("capture"));
	for (int i = 0; i < TDM_STOCK_FIGURES; i++) {
		const char *key = tdm_stock_key((enum tdm_stock_figure)i);
		tdm_data(stock, key, tdm_value_if(s->figures.known[i], tdm_value_number(s->figures.value[i])));
		if (i != TDM_STOCK_DRAM_ALLOCATIONS && i != TDM_STOCK_DRAM_DEALLOCATIONS)
			tdm_data(exact, key, size_value(s->right[i]));
	}
	struct tdm_block *unknown = tdm_add_group(stock, "unknown", NULL);
	for (int group = 0; group < TDM_STOCK_GROUPS; group++)
		if (s->figures.why[group][0] != '\0')
			tdm_data(unknown, groups[group], tdm_value_text(s->figures.why[group]));
	add_exact(exact, s, limit);
	return true;
}

static void init(void *summary, struct tdm_intake *reading)
{
	(void)reading;
	tdm_capture_summary_init(summary);
}

const struct tdm_report_analyser tdm_capture_report = {
	.format = "graph_capture",
	.noun = "nodes",
	.size = sizeof(struct tdm_capture_summary),
	.init = init,
	.take = tdm_capture_summary_take,
	.end = tdm_capture_summary_end,
	.show = show,
	.done = tdm_capture_summary_done,
};
