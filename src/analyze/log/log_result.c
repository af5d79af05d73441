/* The result of a profile: each file, the errors, circular buffers and their pressure, kernels, buffers, and the
 * timeline. log_compare.c compares two profiles. */
#include "analyze/log/log_profile.h"
#include "analyze/report/report_analyser.h"
#include "model/result/result.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME_COLUMNS = 32, OPERATION_COLUMNS = 40, KERNEL_COLUMNS = 50 };

const char *tdm_log_file_kind(const struct tdm_log_file *f)
{
	if (f->by_dialect[TDM_LOG_BY_SERVER] != 0)
		return "log of an allocation server";
	if (f->by_dialect[TDM_LOG_BY_WORKLOAD] != 0)
		return "debug log of a program that prints its circular buffers or kernels";
	if (f->by_dialect[TDM_LOG_BY_COMPILER] != 0)
		return "log with memory states of tt-mlir";
	if (f->by_dialect[TDM_LOG_BY_WATCHER] != 0 && f->counts.logger_lines == 0)
		return "log of the runtime's Watcher";
	if (f->by_dialect[TDM_LOG_BY_RUNTIME] == 0 && f->counts.logger_lines == 0)
		return f->counts.lines == 0  ? (f->counts.is_cut ? "could not be read" : "empty")
		       : f->counts.is_binary ? "binary data, no log"
					     : "text without lines of the runtime's logger";
	return f->counts.debug_lines != 0 ? "stock log of the runtime, with debug lines" : "stock log of the runtime";
}

const char *tdm_log_file_lacks(const struct tdm_log_file *f)
{
	bool stock = f->by_dialect[TDM_LOG_BY_SERVER] == 0 && f->by_dialect[TDM_LOG_BY_WORKLOAD] == 0 &&
		     f->by_dialect[TDM_LOG_BY_COMPILER] == 0 && f->by_dialect[TDM_LOG_BY_WATCHER] == 0;
	if (!stock || (f->by_dialect[TDM_LOG_BY_RUNTIME] == 0 && f->counts.logger_lines == 0))
		return NULL;
	if (f->amount_lines != 0)
		return "circular buffers, and the addresses of buffers: the runtime prints no line about them. Debug "
		       "lines of the program itself can.";
	return "circular buffers and ordinary buffers: the runtime prints no line when it allocates them. "
	       "TT_METAL_SHM_VERBOSE=1 adds the sizes of buffers, debug lines of the program itself add circular "
	       "buffers.";
}

/* ---- files ---- */

static struct tdm_value number_of(bool is_several, uint32_t file)
{
	return tdm_value_if(is_several, tdm_value_number(file + 1));
}

static void add_head(struct tdm_block *in, const struct tdm_log_profile *p, uint32_t i, bool errors_only)
{
	const struct tdm_log_file *f = &p->files[i];
	char from[TDM_DURATION_CAP], to[TDM_DURATION_CAP];
	const char *times = f->first_ns == 0 ? NULL
					     : tdm_result_printed(in->result, "%s to %s",
						       tdm_format_clock(from, sizeof from, f->first_ns),
						       tdm_format_clock(to, sizeof to, f->last_ns));
	tdm_line(in, "Log", "|[{_number}] |{name}: {lines/line/lines}, {bytes}|, {_times}",
		TDM_VALUES({ "_number", number_of(p->file_count > 1, i) }, { "name", tdm_value_text(f->name) },
			{ "lines", tdm_value_count(f->counts.lines) }, { "bytes", tdm_value_bytes(f->counts.bytes) },
			{ "_times", tdm_value_text(times) }));
	tdm_line(in, "", "{log}; {records/record/records} about memory",
		TDM_VALUES(
			{ "log", tdm_value_text(tdm_log_file_kind(f)) }, { "records", tdm_value_count(f->records) }));
	if (f->counts.is_cut && f->counts.lines != 0)
		tdm_warn(in, "", "incomplete: it could not be read to its end", NULL);
	tdm_line(in, "", "{cut_lines/line/lines} too long: only the beginning was looked at",
		TDM_VALUES({ "cut_lines", tdm_value_count(f->counts.cut_lines) }))
		->is_data_only = f->counts.cut_lines == 0;
	tdm_line(in, "", "{refused_lines/line/lines} about amounts that cannot be used: left out",
		TDM_VALUES({ "refused_lines", tdm_value_count(f->counts.refused_lines) }))
		->is_data_only = f->counts.refused_lines == 0;
	tdm_line(in, "Not in it", "{lacks}", TDM_VALUES({ "lacks", tdm_value_text(tdm_log_file_lacks(f)) }))
		->is_data_only = errors_only || tdm_log_file_lacks(f) == NULL;
	tdm_data(in, "complete", tdm_value_bool(!f->counts.is_cut));
}

static void add_pressure(struct tdm_block *in, const struct tdm_findings *found)
{
	struct tdm_block *group = tdm_add_group(in, "pressure", NULL);
	group->is_data_only = true;
	tdm_data(group, "source",
		tdm_value_text(
			"miss rate and share of L1 from sizes; utilization and stalls observed; score heuristic"));
	for (size_t i = 0; i < found->figure_count; i++)
		if (found->figures[i].key[0] != '_')
			tdm_data(group, found->figures[i].key, found->figures[i].value);
}

/* Adds the figures of a file that are only in JSON. */
static void add_file(struct tdm_block *in, const struct tdm_log_file *f)
{
	struct tdm_block *writers = tdm_add_group(in, "by_writer", NULL);
	for (int d = 0; d < TDM_LOG_DIALECT_COUNT; d++)
		tdm_data(writers, tdm_log_dialect_name((enum tdm_log_dialect)d), tdm_value_count(f->by_dialect[d]));
	tdm_data_all(in,
		TDM_VALUES({ "first_ns", tdm_value_if(f->first_ns != 0, tdm_value_ns(f->first_ns)) },
			{ "last_ns", tdm_value_if(f->last_ns != 0, tdm_value_ns(f->last_ns)) },
			{ "failures", tdm_value_count(f->failures) }, { "warnings", tdm_value_count(f->warnings) },
			{ "workload.a_tiles", tdm_value_count(f->a_tiles) },
			{ "workload.b_tiles", tdm_value_count(f->b_tiles) },
			{ "workload.tiles_per_shard", tdm_value_count(f->shard_tiles) },
			{ "workload.devices", tdm_value_count(f->devices) },
			{ "workload.cores", tdm_value_count(f->cores) },
			{ "workload.values_passed", tdm_value_count(f->passed) },
			{ "workload.values", tdm_value_count(f->verified) },
			{ "l1.source", tdm_value_text(f->has_geometry ? "the runtime's partition lines"
								      : "unknown: the log has no partition lines") },
			{ "l1.worker_l1_size", tdm_value_bytes(f->geometry.worker_l1_size) },
			{ "l1.base", tdm_value_number(f->geometry.l1_base) },
			{ "l1.l1_small_size", tdm_value_bytes(f->geometry.l1_small_size) },
			{ "l1.bank_size", tdm_value_bytes(f->geometry.l1_bank_size) },
			{ "l1.allocatable", tdm_value_bytes(f->geometry.allocatable_l1_size) }));
}

/* ---- failures ---- */

static struct tdm_value get_figure(const struct tdm_field *field)
{
	const struct tdm_log_profile *p = field->table->context;
	const struct tdm_figure *figure = tdm_finding_figure(&p->found, field->row, field->column->key);
	return figure != NULL ? figure->value : tdm_value_text(NULL);
}

static struct tdm_value get_summary(const struct tdm_field *field)
{
	const struct tdm_log_profile *p = field->table->context;
	struct tdm_buf text = { 0 };
	tdm_finding_sentence_put(&p->found, field->row, &text);
	const char *copy = tdm_arena_text(field->scratch, tdm_buf_str(&text));
	tdm_buf_done(&text);
	return tdm_value_text(copy);
}

static struct tdm_value get_what(const struct tdm_field *field)
{
	const struct tdm_log_profile *p = field->table->context;
	const struct tdm_value summary = get_summary(field);
	uint64_t rank = tdm_finding_number(&p->found, field->row, "rank");
	uint64_t refused = tdm_finding_number(&p->found, field->row, "refused_figures");
	struct tdm_buf text = { 0 };
	tdm_sentence_put(&text,
		"|[{file}] |rank {rank}: |{summary}| ({refused/figure of it does/figures of it do} not fit 64 bits)",
		TDM_VALUES({ "file", number_of(p->file_count > 1,
					     (uint32_t)tdm_finding_number(&p->found, field->row, "file")) },
			{ "rank", tdm_value_number(rank) }, { "summary", summary },
			{ "refused", tdm_value_if(refused != 0, tdm_value_count(refused)) }),
		4);
	const char *copy = tdm_arena_text(field->scratch, tdm_buf_str(&text));
	tdm_buf_done(&text);
	return tdm_value_text(copy);
}

static struct tdm_value get_sort(const struct tdm_field *field)
{
	return tdm_value_text(((const struct tdm_finding *)field->row)->what);
}

static struct tdm_value get_kind(const struct tdm_field *field)
{
	return tdm_value_kind(((const struct tdm_finding *)field->row)->about.kind);
}

/* Each row contains all figures of its failure. */
static void add_failures(struct tdm_block *in, const struct tdm_log_profile *p, size_t limit)
{
	static const struct tdm_column first[] = {
		{ NULL, "file", .get = get_figure },
		{ "time", "time_ns", .get = get_figure, .format = tdm_format_clock },
		{ "line", "line", .get = get_figure, TDM_COUNT(0) },
		{ NULL, "rank", .get = get_figure },
		{ "lines", "places", .get = get_figure, TDM_COUNT(0) },
		{ "what", NULL, .get = get_what, .flags = TDM_WRAP },
		{ NULL, "kind", .get = get_kind },
		{ NULL, "sort", .get = get_sort },
		{ NULL, "summary", .get = get_summary },
	};
	static const char *const others[] = { "warning", "cause", "dataflow", "core_range", "core_ranges",
		"refused_figures", "name", "text" };
	enum { FIRST = sizeof first / sizeof *first, OTHERS = sizeof others / sizeof *others };
	size_t count = FIRST;
	struct tdm_column *columns =
		tdm_result_alloc(in->result, FIRST + TDM_FAILURE_FIGURE_COUNT + OTHERS, sizeof *columns);
	memcpy(columns, first, sizeof first);
	for (size_t i = 0; i < TDM_FAILURE_FIGURE_COUNT; i++)
		columns[count++] = (struct tdm_column){ .key = tdm_failure_keys[i], .get = get_figure };
	for (size_t i = 0; i < OTHERS; i++)
		columns[count++] = (struct tdm_column){ .key = others[i], .get = get_figure };
	tdm_line(in, NULL, "Errors: {failure_count}|, warnings: {_warnings}| {_repeats}",
		TDM_VALUES({ "failure_count", tdm_value_count(p->failure_count) },
			{ "warning_count", tdm_value_count(p->warning_count) },
			{ "_warnings", tdm_value_if(p->warning_count != 0, tdm_value_count(p->warning_count)) },
			{ "_repeats", tdm_value_text(p->found.count != 0 ? "(repeated lines count once)" : NULL) }))
		->is_apart = true;
	const struct tdm_table table = { .columns = columns,
		.column_count = count,
		.rows = p->found.list,
		.stride = sizeof *p->found.list,
		.count = p->found.count,
		.limit = limit,
		.dropped = p->failures.dropped,
		.context = p,
		.gap = 2,
		.fits = true };
	tdm_add_table(in, "failures", NULL, table)->is_close = true;
}

/* ---- tables ---- */

/* A name preceded by the file number, "[2] ", if there are several files. */
static struct tdm_value in_file(const struct tdm_field *field, uint32_t file, const char *name)
{
	const struct tdm_log_profile *p = field->table->context;
	return p->file_count > 1 ? tdm_field_printed(field, "[%" PRIu32 "] %s", file + 1, name) : tdm_value_text(name);
}

static struct tdm_value get_cb(const struct tdm_field *field)
{
	const struct tdm_log_cb *cb = field->row;
	char name[32];
	snprintf(name, sizeof name, "CB%" PRIu32 "%s", cb->cb, cb->is_given ? "*" : "");
	return in_file(
		field, cb->file, cb->label[0] != '\0' ? cb->label : tdm_arena_printed(field->scratch, "%s", name));
}

static struct tdm_value get_name(const struct tdm_field *field)
{
	const struct tdm_log_work *work = field->row;
	return in_file(field, work->file, work->name[0] != '\0' ? work->name : "(no name)");
}

static struct tdm_value get_process(const struct tdm_field *field)
{
	const struct tdm_log_amount *amount = field->row;
	return in_file(field, amount->file,
		amount->pid > 0 ? tdm_arena_printed(field->scratch, "%" PRId32, amount->pid) : "-");
}

static struct tdm_value get_rank(const struct tdm_field *field)
{
	const struct tdm_log_state *state = field->row;
	return in_file(field, state->file,
		state->rank != TDM_LOG_NO_RANK ? tdm_arena_printed(field->scratch, "%" PRId32, state->rank) : "-");
}

static struct tdm_value get_processor(const struct tdm_field *field)
{
	const struct tdm_log_state *stack = field->row;
	return in_file(field, stack->file, stack->processor);
}

static struct tdm_value get_amount_source(const struct tdm_field *field)
{
	const struct tdm_log_amount *amount = field->row;
	return tdm_value_text(amount->dialect == TDM_LOG_BY_SERVER
				      ? "lines of an allocation server"
				      : "the runtime's lines about shared memory: sizes asked for");
}

static struct tdm_value get_cb_range(const struct tdm_field *field)
{
	const struct tdm_log_cb *cb = field->row;
	const struct tdm_core_range *r = &cb->range;
	return tdm_value_if(
		cb->has_range, (struct tdm_value){ .type = TDM_VALUE_CORES, .cores = { r->x0, r->y0, r->x1, r->y1 } });
}

#define CB(member) TDM_MEMBER(struct tdm_log_cb, member)
#define CB_TIMED   TDM_KNOWN_IF(struct tdm_log_cb, timed)
static const struct tdm_column cbs[] = {
	{ "", NULL, .get = get_cb },
	{ NULL, "file", CB(file) },
	{ NULL, "index", CB(cb) },
	{ NULL, "label", CB(label), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "allocations", CB(allocs) },
	{ "tiles", "tiles", CB(tiles), TDM_COUNT(0) },
	{ NULL, "tiles_given", CB(is_given) },
	{ "size/core", "bytes_per_core", CB(bytes), TDM_BYTES },
	{ "cores", "cores", CB(cores), TDM_COUNT(0) },
	{ NULL, "core_range", .get = get_cb_range },
	{ "reserve", "reserves", CB(reserves), TDM_COUNT(0) },
	{ "push", "pushes", CB(pushes), TDM_COUNT(0) },
	{ "wait", "waits", CB(waits), TDM_COUNT(0) },
	{ "pop", "pops", CB(pops), TDM_COUNT(0) },
	{ NULL, "pushed_tiles", CB(pushed_tiles) },
	{ NULL, "popped_tiles", CB(popped_tiles) },
	{ "fullest", "fullest_tiles", CB(peak_fill), TDM_KNOWN_IF(struct tdm_log_cb, pushes), TDM_COUNT(0) },
	{ "stalls", "stalls", CB(stalls), CB_TIMED, TDM_COUNT(0) },
	{ NULL, "stall_ns", CB(stall_ns), CB_TIMED },
	{ "longest", "longest_stall_ns", CB(longest_stall_ns), CB_TIMED, TDM_DURATION(0) },
};

#define WORK(member) TDM_MEMBER(struct tdm_log_work, member)
#define WORK_TIMED   TDM_KNOWN_IF(struct tdm_log_work, timed)
static const struct tdm_column kernels[] = {
	{ NULL, "file", WORK(file) },
	{ NULL, "name", WORK(name) },
	{ "Kernels", NULL, .get = get_name, .width = NAME_COLUMNS },
	{ "started", "started", WORK(starts), TDM_COUNT(0) },
	{ "ended", "ended", WORK(ends), TDM_COUNT(0) },
	{ "in all", "total_ns", WORK(total_ns), WORK_TIMED, TDM_DURATION(0) },
	{ "longest", "longest_ns", WORK(longest_ns), WORK_TIMED, TDM_DURATION(0) },
	{ "code", "code_bytes", WORK(bytes), TDM_BYTES },
};

static const struct tdm_column programs[] = {
	{ NULL, "file", WORK(file) },
	{ "Sizes of programs", "name", WORK(name), .width = NAME_COLUMNS },
	{ "lines", "lines", WORK(starts), TDM_COUNT(0) },
	{ "largest", "largest_bytes", WORK(bytes), TDM_BYTES },
};

static const struct tdm_column ops[] = {
	{ NULL, "file", WORK(file) },
	{ NULL, "name", WORK(name) },
	{ "Operations", NULL, .get = get_name, .width = NAME_COLUMNS },
	{ "times", "count", WORK(starts), TDM_COUNT(0) },
	{ "in all", "total_ns", WORK(total_ns), WORK_TIMED, TDM_DURATION(0) },
	{ "longest", "longest_ns", WORK(longest_ns), WORK_TIMED, TDM_DURATION(0) },
};

#define AMOUNT(member) TDM_MEMBER(struct tdm_log_amount, member)
static const struct tdm_column amounts[] = {
	{ NULL, "file", AMOUNT(file) },
	{ NULL, "source", .get = get_amount_source },
	{ NULL, "pid", AMOUNT(pid), .flags = TDM_ZERO_IS_UNKNOWN | TDM_NEGATIVE_IS_UNKNOWN },
	{ "process", NULL, .get = get_process },
	{ "device", "device", AMOUNT(device) },
	{ "kind", "kind", AMOUNT(kind), .flags = TDM_IS_KIND },
	{ "allocs", "allocations", AMOUNT(allocs), TDM_COUNT(0) },
	{ "frees", "frees", AMOUNT(frees), TDM_COUNT(0) },
	{ "peak", "peak_bytes", AMOUNT(peak_bytes), TDM_BYTES },
	{ NULL, "peak_line", AMOUNT(peak_line) },
	{ "at line", NULL, AMOUNT(peak_line), .flags = TDM_ZERO_IS_UNKNOWN, TDM_COUNT(0) },
	{ "at end", "bytes_at_end", AMOUNT(bytes), TDM_BYTES },
	{ NULL, "allocated_bytes", AMOUNT(alloc_bytes) },
	{ "unmatched", "unmatched_frees", AMOUNT(unmatched), TDM_COUNT(0) },
};

static const struct tdm_column remaining[] = {
	{ NULL, "file", AMOUNT(file) },
	{ "device", "device", AMOUNT(device) },
	{ "kind", "kind", AMOUNT(kind), .flags = TDM_IS_KIND },
	{ "buffers", "buffers", AMOUNT(allocs), TDM_COUNT(0) },
	{ "bytes", "bytes", AMOUNT(bytes), TDM_BYTES },
};

#define STATE(member) TDM_MEMBER(struct tdm_log_state, member)
static const struct tdm_column states[] = {
	{ NULL, "file", STATE(file) },
	{ NULL, "rank", STATE(rank), .flags = TDM_NEGATIVE_IS_UNKNOWN },
	{ "rank", NULL, .get = get_rank },
	{ "kind", "kind", STATE(kind), .flags = TDM_IS_KIND },
	{ "states", "states", STATE(count), TDM_COUNT(0) },
	{ "banks", "banks", STATE(peak.banks), TDM_COUNT(0) },
	{ "size", "bank_size", STATE(peak.total), TDM_BYTES },
	{ "allocated", "peak_allocated", STATE(peak.allocated), TDM_BYTES },
	{ NULL, "free_at_peak", STATE(peak.free) },
	{ "largest\nfree", "largest_free_at_peak", STATE(peak.largest_free), TDM_BYTES },
	{ "least\nlargest", "least_largest_free", STATE(least_largest_free), TDM_BYTES },
	{ "\nat operation", "peak_operation", STATE(peak_op), .width = OPERATION_COLUMNS },
	{ NULL, "peak_line", STATE(peak_line) },
};

static const struct tdm_column stacks[] = {
	{ NULL, "file", STATE(file) },
	{ NULL, "processor", STATE(processor) },
	{ "processor", NULL, .get = get_processor },
	{ "used", "used", STATE(peak.allocated), TDM_BYTES },
	{ "size", "size", STATE(peak.total), TDM_BYTES },
	{ "free", "free", STATE(peak.free), TDM_BYTES },
	{ "at line", "line", STATE(peak_line), TDM_COUNT(0) },
	{ "kernel", "kernel", STATE(peak_op), .width = KERNEL_COLUMNS },
};

enum { TABLES = 8 };

#define TABLE(list, type)                                                                \
	{                                                                                \
		TDM_COLUMNS(list), .stride = sizeof(struct type), .gap = 2, .fits = true \
	}
static const struct tdm_table tables[TABLES] = { TABLE(cbs, tdm_log_cb), TABLE(kernels, tdm_log_work),
	TABLE(programs, tdm_log_work), TABLE(ops, tdm_log_work), TABLE(amounts, tdm_log_amount),
	TABLE(states, tdm_log_state), TABLE(remaining, tdm_log_amount), TABLE(stacks, tdm_log_state) };

static const char *const table_keys[TABLES] = { "circular_buffers", "kernels", "program_sizes", "operations", "buffers",
	"memory_states", "remaining", "stacks" };

static const struct tdm_log_table *rows_of(const struct tdm_log_profile *p, size_t i)
{
	const struct tdm_log_table *const rows[TABLES] = { &p->cbs, &p->kernels, &p->programs, &p->ops, &p->amounts,
		&p->states, &p->remaining, &p->stacks };
	return rows[i];
}

static void add_table(struct tdm_block *in, const struct tdm_log_profile *p, size_t i, size_t limit)
{
	static const char *const titles[TABLES] = {
		[0] = "Circular buffers (lines that allocate, reserve, push, wait, pop; fullest: tiles on one core)",
		[4] = "Buffers (sizes asked for)",
		[5] = "Memory states (in each bank, at the peak)",
		[6] = "Remaining buffers, as the server listed them last",
		[7] = "Stacks of kernels, when they were fullest (as the Watcher saw them)",
	};
	const struct tdm_log_table *rows = rows_of(p, i);
	struct tdm_table table = tables[i];
	table.rows = rows->rows;
	table.count = rows->count;
	table.limit = limit;
	table.context = p;
	bool any_given = false;
	tdm_add_table(in, table_keys[i], titles[i], table);
	for (size_t k = 0; i == 0 && k < rows->count; k++)
		any_given |= ((const struct tdm_log_cb *)rows->rows)[k].is_given;
	if (any_given)
		tdm_say(in, "* the number of tiles is not in the log: it was given with --cb", NULL);
	/* Only the number of dropped records is known, not the number of rows that they would have made. */
	if (rows->dropped != 0)
		tdm_say(in, "... and {_dropped/record/records} about others: the table is full",
			TDM_VALUES({ "_dropped", tdm_value_count(rows->dropped) }));
}

/* ---- pressure ---- */

static struct tdm_value get_indicator(const struct tdm_field *field)
{
	const struct tdm_findings *found = field->table->context;
	const struct tdm_finding *finding = field->row;
	struct tdm_buf text;
	if (field->column->arg == 0)
		return tdm_value_text(finding->title);
	if (field->column->arg == 2)
		return tdm_value_text(tdm_finding_word(found, finding, "_basis"));
	tdm_buf_init(&text);
	tdm_finding_sentence_put(found, finding, &text);
	size_t skip = strlen(finding->title) + 1; /* the title has its own column */
	const char *copy = tdm_arena_printed(field->scratch, "%s", text.len > skip ? text.data + skip : "");
	tdm_buf_done(&text);
	return tdm_value_text(copy + strspn(copy, " "));
}

static const struct tdm_column pressure_columns[] = {
	{ "Pressure", NULL, .get = get_indicator, .arg = 0 },
	{ "", NULL, .get = get_indicator, .arg = 1 },
	{ "", NULL, .get = get_indicator, .arg = 2 },
};

static void add_indicators(
	struct tdm_block *in, const struct tdm_log_profile *p, uint32_t file, const struct tdm_findings *found)
{
	const struct tdm_log_file *f = &p->files[file];
	bool has_values = f->verified != TDM_LOG_UNKNOWN && f->passed != TDM_LOG_UNKNOWN && f->verified != 0;
	struct tdm_table table = TDM_FITTED(pressure_columns, found->list, found->count);
	uint64_t bytes = tdm_finding_number(found, &found->list[TDM_PRESSURE_L1], "cb_bytes_per_core");
	uint64_t limit = tdm_finding_number(found, &found->list[TDM_PRESSURE_L1], "cb_limit_bytes");
	table.context = found;
	const char *title = p->file_count > 1 ? tdm_result_printed(in->result, "[%" PRIu32 "]", file + 1) : NULL;
	tdm_add_table(in, NULL, title, table);
	if (bytes != TDM_BYTES_UNKNOWN)
		tdm_say(in, "circular buffers {_bytes} in each core|, of {_limit} that the program allows itself",
			TDM_VALUES({ "_bytes", tdm_value_bytes(bytes) }, { "_limit", tdm_value_bytes(limit) }));
	struct tdm_value share = tdm_value_share(has_values ? (double)f->passed / (double)f->verified : (double)NAN);
	share.decimals = 1;
	if (has_values)
		tdm_say(in, "verification: {#_passed} of {#_verified} values passed ({_share})",
			TDM_VALUES({ "_passed", tdm_value_count(f->passed) },
				{ "_verified", tdm_value_count(f->verified) }, { "_share", share }));
}

/* ---- over time ---- */

#define SLOT(row) .member = TDM_MEMBER_U64, .offset = TDM_LOG_ROW_##row * sizeof(uint64_t)
static const struct tdm_column slot_columns[TDM_LOG_ROW_COUNT] = {
	{ "memory", NULL, SLOT(MEMORY), TDM_COUNT(0) },
	{ "CB", NULL, SLOT(CB), TDM_COUNT(0) },
	{ "kernels", NULL, SLOT(KERNEL), TDM_COUNT(0) },
	{ "errors", NULL, SLOT(FAILURE), TDM_COUNT(0) },
	{ "dram", NULL, SLOT(DRAM), TDM_SIZE(0) },
	{ "l1", NULL, SLOT(L1), TDM_SIZE(0) },
};

static void add_timeline(struct tdm_block *in, const struct tdm_log_timeline *t)
{
	static const char *const keys[TDM_LOG_ROW_COUNT] = { "timeline.memory", "timeline.circular_buffers",
		"timeline.kernels", "timeline.failures", "timeline.dram_bytes", "timeline.l1_bytes" };
	char clock[TDM_DURATION_CAP], width[TDM_DURATION_CAP];
	if (!t->used) {
		tdm_data(in, "timeline", tdm_value_text(NULL));
		return;
	}
	tdm_data_all(in, TDM_VALUES({ "timeline.unit", tdm_value_text(t->by_line ? "lines" : "ns") },
				 { "timeline.from", tdm_value_number(t->from) },
				 { "timeline.width", tdm_value_number(t->width) }));
	for (size_t row = 0; row < TDM_LOG_ROW_COUNT; row++) {
		struct tdm_value *values = tdm_result_alloc(in->result, t->slots, sizeof *values);
		for (size_t i = 0; i < t->slots; i++)
			values[i] = tdm_value_number(t->at[i][row]);
		tdm_data(in, keys[row], tdm_value_list(values, t->slots));
	}
	const char *title = t->by_line ? tdm_result_printed(in->result,
						 "Timeline (no times in the log: by line, from %" PRIu64 ", %" PRIu64
						 " line%s a column)",
						 t->from, t->width, t->width == 1 ? "" : "s")
				       : tdm_result_printed(in->result, "Timeline (from %s, %s a column)",
						 tdm_format_clock(clock, sizeof clock, t->from),
						 tdm_format_duration(width, sizeof width, t->width));
	tdm_add_chart(in, NULL, title, TDM_TABLE_OF(slot_columns, t->at, t->slots))->is_apart = true;
}

static void free_found(void *found)
{
	tdm_findings_done(found);
}

void tdm_log_show(struct tdm_block *in, const struct tdm_log_profile *p, size_t limit, bool errors_only)
{
	uint64_t dropped = 0;
	struct tdm_findings *pressure = tdm_result_alloc(in->result, p->file_count, sizeof *pressure);
	struct tdm_block *files = tdm_add_list(in, "files", NULL);
	for (uint32_t i = 0; i < p->file_count; i++) {
		struct tdm_block *file = tdm_add_group(files, NULL, NULL);
		tdm_result_keep(in->result, &pressure[i], free_found);
		tdm_log_profile_pressure(p, i, &pressure[i]);
		if (p->files[i].by_dialect[TDM_LOG_BY_WORKLOAD] != 0)
			tdm_count_findings(in, &pressure[i]);
		add_head(file, p, i, errors_only);
		add_file(file, &p->files[i]);
		add_pressure(file, &pressure[i]);
	}
	tdm_count_findings(in, &p->found);
	add_failures(in, p, limit);
	for (size_t i = 0; i < TABLES && !errors_only; i++) {
		const struct tdm_log_table *rows = rows_of(p, i);
		dropped += rows->dropped;
		add_table(in, p, i, limit);
		for (uint32_t file = 0; i == 0 && file < p->file_count; file++)
			if (p->files[file].by_dialect[TDM_LOG_BY_WORKLOAD] != 0)
				add_indicators(in, p, file, &pressure[file]);
	}
	if (errors_only)
		return;
	struct tdm_block *counts = tdm_add_group(in, "row_counts", NULL);
	for (size_t i = 0; i < TABLES; i++)
		tdm_data(counts, table_keys[i], tdm_value_count(rows_of(p, i)->count));
	tdm_data(in, "dropped_records", tdm_value_count(dropped));
	add_timeline(in, &p->timeline);
	struct tdm_block *untracked =
		tdm_line(in, NULL, "{untracked/free or fill/frees or fills} could not be followed",
			TDM_VALUES({ "untracked", tdm_value_count(p->untracked) }));
	untracked->is_data_only = p->untracked == 0;
	untracked->is_apart = true;
}

/* ---- a log as a report of `info` ---- */

static void init(void *profile, struct tdm_intake *reading)
{
	tdm_log_profile_add_file(profile, tdm_input_name(reading->input));
}

static int take(void *profile, const struct tdm_record *record)
{
	if (record->type == TDM_RECORD_LOG_END)
		((struct tdm_log_profile *)profile)->files[0].counts = *record->log_end;
	if (record->type == TDM_RECORD_LOG)
		tdm_log_profile_add(profile, record->log);
	return 0;
}

static bool show(void *state, const struct tdm_intake *reading, size_t limit, struct tdm_block *in)
{
	const struct tdm_log_profile *profile = state;
	if (reading->err == 0 && profile->files[0].records == 0 && profile->files[0].counts.logger_lines == 0)
		return false; /* any text may be a log, so an empty one is not shown */
	tdm_log_show(tdm_add_group(in, "log", NULL), profile, limit, false);
	return true;
}

static void done(void *profile)
{
	tdm_log_profile_done(profile);
}

const struct tdm_report_analyser tdm_log_report = { "log", NULL, sizeof(struct tdm_log_profile), init, take, NULL, show,
	done };
