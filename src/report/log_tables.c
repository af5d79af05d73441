/* The tables of a log's profile: the columns for both text and JSON. */
#include "base/units.h"
#include "report/finding_report.h"
#include "report/log_report.h"
#include "report/report_put.h"
#include "report/table.h"

#include <inttypes.h>
#include <stdio.h>

enum { NAME_COLUMNS = 32 };

/* The number of the file, "[2] ", if there are several. */
static void put_file(const struct tdm_field *field, uint32_t file, struct tdm_buf *out)
{
	const struct tdm_log_profile *p = field->table->context;
	if (p->file_count > 1)
		tdm_buf_printf(out, "[%u] ", file + 1);
}

static void put_cb(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_log_cb *cb = field->row;
	put_file(field, cb->file, out);
	if (cb->label[0] != '\0')
		tdm_buf_puts(out, cb->label);
	else
		tdm_buf_printf(out, "CB%u%s", cb->cb, cb->is_given ? "*" : "");
}

static void put_name(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_log_work *work = field->row;
	put_file(field, work->file, out);
	tdm_buf_puts(out, work->name[0] != '\0' ? work->name : "(no name)");
}

static void put_process(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_log_amount *amount = field->row;
	char pid[16] = "-";
	size_t start = out->len;
	if (amount->pid > 0)
		snprintf(pid, sizeof pid, "%" PRId32, amount->pid);
	put_file(field, amount->file, out);
	tdm_buf_printf(out, "%*s", out->len != start ? 6 : 10, pid);
}

static struct tdm_value amount_source(const struct tdm_field *field)
{
	const struct tdm_log_amount *amount = field->row;
	return tdm_value_text(amount->dialect == TDM_LOG_BY_SERVER
				      ? "lines of an allocation server"
				      : "the runtime's lines about shared memory: sizes asked for");
}

static void put_rank(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_log_state *state = field->row;
	char rank[16] = "-";
	if (state->rank != TDM_LOG_NO_RANK)
		snprintf(rank, sizeof rank, "%d", state->rank);
	put_file(field, state->file, out);
	tdm_buf_printf(out, "%-5s", rank);
}

static void put_cb_range(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_log_cb *cb = field->row;
	static const struct tdm_core_range unknown = { 1, 1, 0, 0 };
	tdm_core_range_json(cb->has_range ? &cb->range : &unknown, json);
}

static void put_given(const struct tdm_field *field, struct tdm_json *json)
{
	tdm_json_bool(json, ((const struct tdm_log_cb *)field->row)->is_given);
}

#define CB(member) TDM_MEMBER(struct tdm_log_cb, member)
#define CB_TIMED   TDM_KNOWN_IF(struct tdm_log_cb, timed)
static const struct tdm_column cbs[] = {
	{ "", .text = put_cb, .width = 14, .flags = TDM_WHOLE },
	{ NULL, "file", CB(file) },
	{ NULL, "index", CB(cb) },
	{ NULL, "label", CB(label), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "allocations", CB(allocs) },
	{ "tiles", "tiles", CB(tiles), TDM_COUNT(5) },
	{ NULL, "tiles_given", .json = put_given },
	{ "size/core", "bytes_per_core", CB(bytes), TDM_BYTES },
	{ "cores", "cores", CB(cores), TDM_COUNT(6) },
	{ NULL, "core_range", .json = put_cb_range },
	{ "reserve", "reserves", CB(reserves), TDM_COUNT(8) },
	{ "push", "pushes", CB(pushes), TDM_COUNT(8) },
	{ "wait", "waits", CB(waits), TDM_COUNT(8) },
	{ "pop", "pops", CB(pops), TDM_COUNT(8) },
	{ NULL, "pushed_tiles", CB(pushed_tiles) },
	{ NULL, "popped_tiles", CB(popped_tiles) },
	{ "fullest", "fullest_tiles", CB(peak_fill), TDM_KNOWN_IF(struct tdm_log_cb, pushes), TDM_COUNT(7) },
	{ "stalls", "stalls", CB(stalls), CB_TIMED, TDM_COUNT(7) },
	{ NULL, "stall_ns", CB(stall_ns), CB_TIMED },
	{ "longest", "longest_stall_ns", CB(longest_stall_ns), CB_TIMED, TDM_DURATION(8) },
};

#define WORK(member) TDM_MEMBER(struct tdm_log_work, member)
#define WORK_TIMED   TDM_KNOWN_IF(struct tdm_log_work, timed)
static const struct tdm_column kernels[] = {
	{ NULL, "file", WORK(file) },
	{ "Kernels", "name", WORK(name), .text = put_name, .width = NAME_COLUMNS },
	{ "started", "started", WORK(starts), TDM_COUNT(8) },
	{ "ended", "ended", WORK(ends), TDM_COUNT(8) },
	{ "in all", "total_ns", WORK(total_ns), WORK_TIMED, TDM_DURATION(8) },
	{ "longest", "longest_ns", WORK(longest_ns), WORK_TIMED, TDM_DURATION(8) },
	{ "code", "code_bytes", WORK(bytes), TDM_BYTES },
};

static const struct tdm_column programs[] = {
	{ NULL, "file", WORK(file) },
	{ "Sizes of programs", "name", WORK(name), .width = NAME_COLUMNS },
	{ "lines", "lines", WORK(starts), TDM_COUNT(8) },
	{ "largest", "largest_bytes", WORK(bytes), TDM_BYTES },
};

static const struct tdm_column ops[] = {
	{ NULL, "file", WORK(file) },
	{ "Operations", "name", WORK(name), .text = put_name, .width = NAME_COLUMNS },
	{ "times", "count", WORK(starts), TDM_COUNT(8) },
	{ "in all", "total_ns", WORK(total_ns), WORK_TIMED, TDM_DURATION(8) },
	{ "longest", "longest_ns", WORK(longest_ns), WORK_TIMED, TDM_DURATION(8) },
};

#define AMOUNT(member) TDM_MEMBER(struct tdm_log_amount, member)
static const struct tdm_column amounts[] = {
	{ NULL, "file", AMOUNT(file) },
	{ NULL, "source", .get = amount_source },
	{ "process", "pid", AMOUNT(pid), .text = put_process, .width = 10,
		.flags = TDM_ZERO_IS_UNKNOWN | TDM_NEGATIVE_IS_UNKNOWN | TDM_WHOLE },
	{ "device", "device", AMOUNT(device), .width = 6, .before = 1 },
	{ "kind", "kind", AMOUNT(kind), .flags = TDM_IS_KIND, .width = 10, .before = 1 },
	{ "allocs", "allocations", AMOUNT(allocs), TDM_COUNT(8) },
	{ "frees", "frees", AMOUNT(frees), TDM_COUNT(9) },
	{ NULL, "bytes_at_end", AMOUNT(bytes) },
	{ "peak", "peak_bytes", AMOUNT(peak_bytes), TDM_BYTES },
	{ NULL, "peak_line", AMOUNT(peak_line) },
	{ "at line", NULL, AMOUNT(peak_line), .flags = TDM_ZERO_IS_UNKNOWN, TDM_COUNT(11) },
	{ "at end", NULL, AMOUNT(bytes), TDM_BYTES },
	{ NULL, "allocated_bytes", AMOUNT(alloc_bytes) },
	{ "unmatched", "unmatched_frees", AMOUNT(unmatched), TDM_COUNT(10) },
};

#define REMAINING(member) TDM_MEMBER(struct tdm_log_remaining, member)
static const struct tdm_column remaining[] = {
	{ NULL, "file", REMAINING(file) },
	{ "device", "device", REMAINING(device), .width = 6 },
	{ "kind", "kind", REMAINING(kind), .flags = TDM_IS_KIND, .width = 10, .before = 1 },
	{ "buffers", "buffers", REMAINING(buffers), TDM_COUNT(8) },
	{ "bytes", "bytes", REMAINING(bytes), TDM_BYTES },
};

#define STATE(member) TDM_MEMBER(struct tdm_log_state, member)
static const struct tdm_column states[] = {
	{ NULL, "file", STATE(file) },
	{ "rank", "rank", STATE(rank), .text = put_rank, .width = 5,
		.flags = TDM_NEGATIVE_IS_UNKNOWN | TDM_OTHER_SIDE | TDM_WHOLE },
	{ "kind", "kind", STATE(kind), .flags = TDM_IS_KIND, .width = 10 },
	{ "states", "states", STATE(count), TDM_COUNT(7) },
	{ "banks", "banks", STATE(peak.banks), TDM_COUNT(6) },
	{ "size", "bank_size", STATE(peak.total), TDM_BYTES },
	{ "allocated", "peak_allocated", STATE(peak.allocated), TDM_BYTES },
	{ NULL, "free_at_peak", STATE(peak.free) },
	{ "largest\nfree", "largest_free_at_peak", STATE(peak.largest_free), TDM_BYTES },
	{ "least    \nlargest  ", "least_largest_free", STATE(least_largest_free), TDM_BYTES },
	{ "\nat operation", "peak_operation", STATE(peak_op), .width = 40, .before = 1 },
	{ NULL, "peak_line", STATE(peak_line) },
};

static void put_processor(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_log_stack *stack = field->row;
	put_file(field, stack->file, out);
	tdm_buf_puts(out, stack->processor);
}

#define STACK(member) TDM_MEMBER(struct tdm_log_stack, member)
static const struct tdm_column stacks[] = {
	{ NULL, "file", STACK(file) },
	{ "processor", "processor", STACK(processor), .text = put_processor, .width = 12 },
	{ "used", "used", STACK(used), TDM_BYTES },
	{ "size", "size", STACK(size), TDM_BYTES },
	{ "free", "free", STACK(free), TDM_BYTES },
	{ "at line", "line", STACK(line), TDM_COUNT(9) },
	{ "kernel", "kernel", STACK(kernel), .width = 50, .before = 1 },
};

static const struct {
	const char *caption, *key;
	size_t offset, stride; /* of the table in the profile, of its rows */
	const struct tdm_column *columns;
	size_t column_count;
} tables[TDM_LOG_TABLE_COUNT] = {
#define TABLE(list, type, key, caption)                                                          \
	{                                                                                        \
		caption, key, offsetof(struct tdm_log_profile, list), sizeof(struct type), list, \
			sizeof list / sizeof *list                                               \
	}
	[TDM_LOG_TABLE_CBS] = TABLE(cbs, tdm_log_cb, "circular_buffers",
		"\nCircular buffers (lines that allocate, reserve, push, wait, pop; fullest: tiles on one core)\n"),
	[TDM_LOG_TABLE_KERNELS] = TABLE(kernels, tdm_log_work, "kernels", "\n"),
	[TDM_LOG_TABLE_OPS] = TABLE(ops, tdm_log_work, "operations", "\n"),
	[TDM_LOG_TABLE_PROGRAMS] = TABLE(programs, tdm_log_work, "program_sizes", "\n"),
	[TDM_LOG_TABLE_AMOUNTS] = TABLE(amounts, tdm_log_amount, "buffers", "\nBuffers (sizes asked for)\n"),
	[TDM_LOG_TABLE_REMAINING] = TABLE(
		remaining, tdm_log_remaining, "remaining", "\nRemaining buffers, as the server listed them last\n"),
	[TDM_LOG_TABLE_STATES] =
		TABLE(states, tdm_log_state, "memory_states", "\nMemory states (in each bank, at the peak)\n"),
	[TDM_LOG_TABLE_STACKS] = TABLE(stacks, tdm_log_stack, "stacks",
		"\nStacks of kernels, when they were fullest (as the Watcher saw them)\n"),
#undef TABLE
};

static const struct tdm_log_table *rows_of(const struct tdm_log_profile *p, enum tdm_log_table_id id)
{
	return (const void *)((const char *)p + tables[id].offset);
}

static struct tdm_table make(const struct tdm_log_profile *p, enum tdm_log_table_id id, size_t limit)
{
	return (struct tdm_table){ .columns = tables[id].columns,
		.column_count = tables[id].column_count,
		.rows = rows_of(p, id)->rows,
		.stride = tables[id].stride,
		.count = rows_of(p, id)->count,
		.limit = limit,
		.context = p,
		.more = "...",
		.gap = 1 };
}

void tdm_log_table_text(const struct tdm_log_profile *p, enum tdm_log_table_id id, const struct tdm_log_report *report,
	struct tdm_buf *out)
{
	const struct tdm_log_table *rows = rows_of(p, id);
	const struct tdm_table table = make(p, id, report->limit);
	if (rows->count == 0)
		return;
	tdm_buf_puts(out, tables[id].caption);
	tdm_table_text(&table, &(struct tdm_term){ .utf8 = report->utf8, .width = report->width }, out);
	const struct tdm_log_cb *cb = id == TDM_LOG_TABLE_CBS ? rows->rows : NULL;
	for (size_t i = 0; cb != NULL && i < rows->count; i++)
		if (cb[i].is_given) {
			tdm_buf_puts(out, "* the number of tiles is not in the log: it was given with --cb\n");
			break;
		}
	/* Only the number of these records is known, not how many rows they would have made. */
	if (rows->dropped != 0)
		tdm_buf_printf(out, "... and %s record%s about others: the table is full\n",
			TDM_COUNT_TEXT(rows->dropped), tdm_plural(rows->dropped));
}

void tdm_log_table_json(const struct tdm_log_profile *p, enum tdm_log_table_id id, size_t limit, struct tdm_json *json)
{
	struct tdm_table table = make(p, id, limit);
	tdm_json_key(json, tables[id].key);
	tdm_table_json(&table, json);
}

void tdm_log_row_counts_json(const struct tdm_log_profile *p, struct tdm_json *json)
{
	uint64_t dropped = 0;
	tdm_json_put_object(json, "row_counts");
	for (int id = 0; id < TDM_LOG_TABLE_COUNT; id++) {
		const struct tdm_log_table *rows = rows_of(p, (enum tdm_log_table_id)id);
		tdm_json_put_u64(json, tables[id].key, rows->count);
		dropped += rows->dropped;
	}
	tdm_json_object_end(json);
	tdm_json_put_u64(json, "dropped_records", dropped);
}
