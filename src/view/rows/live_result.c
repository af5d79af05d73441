/*
 * The blocks of `dump`, `run` and `leaks`. A report goes through the processes in a picture. For each process, it shows
 * the name, state and losses, a table of holdings by device and kind, and a part specific to the command: buffers,
 * sites or findings. Rows point into the picture or are written into one `struct row` at a time, so long lists need no
 * memory. Symbolizers live as long as the result.
 */
#include "view/rows/live_result.h"
#include "model/result/result.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/live/live_buffers.h"
#include "analyze/live/run_findings.h"
#include "view/rows/device_rows.h"
#include "view/rows/stack_rows.h"
#include "view/write/cell.h"
#include "view/write/table.h"

/* Few people read more findings, and a program may end with thousands of unfreed buffer names. */
enum { FINDINGS_SHOWN = 50, SITES_SHOWN = 20, RANGES_SHOWN = 3, DEVICE_COLUMNS = 16, STACK_INDENT = 8 };

/* Maximum number of unreadable files to name: anybody can create any number of such files. */
enum { UNREAD_SHOWN = 10 };

/* Data shared by the blocks of one result. */
struct live {
	const struct tdm_live_report *report;
	struct tdm_stack_symbols symbols;
};

/* A row of a process's buffer table, being written. */
struct row {
	const struct tdm_buffer *buffer;
	uint32_t device, banks, depth;
	bool is_virtual, is_view, is_shared, is_adopted;
	bool has_only_id; /* buffers of a daemon's clients have ids but no addresses */
	uint64_t reserved, occupied, age_ns;
	const char *program, *name;
	const struct tdm_core_range *ranges;
	uint32_t range_count;
};

/* The context of a process's tables. */
struct list {
	struct live *live;
	uint32_t process;
	size_t first; /* number of holdings or buffers skipped before the first row */
	struct tdm_buffer_ref *refs;
	struct row *row;
};

static void release_live(void *data)
{
	tdm_stack_symbols_done(&((struct live *)data)->symbols);
}

static struct live *begin(struct tdm_block *top, const struct tdm_live_report *report)
{
	struct live *live = tdm_result_alloc(top->result, 1, sizeof *live);
	live->report = report;
	tdm_result_keep(top->result, live, release_live);
	return live;
}

static struct list *new_list(struct tdm_block *in, struct live *live, size_t process, size_t first)
{
	struct list *list = tdm_result_alloc(in->result, 1, sizeof *list);
	*list = (struct list){ live, (uint32_t)process, first, NULL,
		tdm_result_alloc(in->result, 1, sizeof *list->row) };
	return list;
}

static const struct tdm_picture *picture_of(const struct tdm_field *field)
{
	return ((const struct list *)field->table->context)->live->report->picture;
}

/* ---- call stacks ---- */

static struct tdm_symbolizer *symbols_of(const struct list *list, uint32_t stack)
{
	struct live *live = list->live;
	return stack != 0 ? tdm_stack_symbols_get(&live->symbols, live->report->picture, list->process) : NULL;
}

/* The buffer name; else the site of the stack; else `none`. */
static void put_site(const struct list *list, const char *name, uint32_t stack, const char *none, struct tdm_buf *out)
{
	size_t start = out->len;
	tdm_buf_puts(out, name);
	if (name[0] == '\0')
		tdm_stack_site(list->live->report->picture, symbols_of(list, stack), stack, true, out);
	if (out->len == start)
		tdm_buf_puts(out, none);
}

static struct tdm_value get_stack(const struct tdm_field *field)
{
	uint32_t stack = (uint32_t)tdm_field_member(field).number;
	return tdm_value_table(tdm_stack_table(
		field->scratch, picture_of(field), symbols_of(field->table->context, stack), stack, NULL, NULL));
}

/* Two columns for a call stack whose number is stored in a member: one for JSON, and one with the lines below the row.
 */
#define STACK(stack)                                                                            \
	{ NULL, "stack", stack, .get = get_stack },                                             \
	{                                                                                       \
		NULL, NULL, stack, .get = get_stack, .flags = TDM_BELOW, .before = STACK_INDENT \
	}

/* ---- runtime messages ---- */

static void release_findings(void *data)
{
	tdm_findings_done(data);
}

void tdm_live_show_findings(
	struct tdm_block *in, const struct tdm_live_report *report, uint32_t process, bool shows_fine)
{
	const struct tdm_picture *picture = report->picture;
	struct tdm_stack_symbols symbols = { 0 };
	struct tdm_findings *found = tdm_result_alloc(in->result, 1, sizeof *found);
	tdm_run_findings(picture, process, found);
	tdm_result_keep(in->result, found, release_findings);
	for (size_t i = 0; i < found->count && !report->is_quick; i++) {
		struct tdm_about *about = &found->list[i].about;
		if ((about->stack | about->replay_stack) == 0)
			continue;
		struct tdm_symbolizer *sym = tdm_stack_symbols_get(&symbols, picture, process);
		struct tdm_arena *arena = &in->result->arena;
		const char *site;
		about->frames = tdm_stack_table(arena, picture, sym, about->stack, &site, &about->trail);
		about->replay_frames =
			tdm_stack_table(arena, picture, sym, about->replay_stack, &site, &about->replay_trail);
	}
	tdm_stack_symbols_done(&symbols);
	struct tdm_block *block = tdm_show_findings(in, "findings", NULL, found);
	block->is_apart = true;
	block->findings.is_headed = true;
	block->findings.shows_fine = shows_fine;
	block->findings.is_whole = report->stacks;
	block->findings.limit = FINDINGS_SHOWN;
}

/* The runtime's option as typed on the command line. */
static struct tdm_value get_option(const struct tdm_field *field)
{
	const struct tdm_open_size *size = field->row;
	return tdm_field_printed(field, "%s=%" PRIu64, size->option, size->needed);
}

static struct tdm_value get_opened(const struct tdm_field *field)
{
	const struct tdm_open_size *size = field->row;
	const char *missing = size->is_least ? "; reports are missing, it may have needed more" : "";
	if (size->is_in_dram)
		return tdm_field_printed(field, "without a trace region, traces are in DRAM%s", missing);
	if (size->opened == TDM_BYTES_UNKNOWN)
		return tdm_field_printed(field, "on device %" PRIu32 "%s", size->device, missing);
	return tdm_field_printed(field, "device %" PRIu32 " has %" PRIu64 "%s", size->device, size->opened, missing);
}

void tdm_live_show_sizes(struct tdm_block *in, const struct tdm_picture *picture, uint32_t process)
{
#define SIZE(member) TDM_MEMBER(struct tdm_open_size, member)
	static const struct tdm_column columns[] = {
		{ "", NULL, .get = get_option, .width = 32 },
		{ "", NULL, .get = get_opened },
		{ NULL, "option", SIZE(option) },
		{ NULL, "needed_bytes", SIZE(needed) },
		{ NULL, "device", SIZE(device) },
		{ NULL, "opened_with_bytes", SIZE(opened) },
		{ NULL, "traces_in_dram", SIZE(is_in_dram) },
		{ NULL, "at_least", SIZE(is_least) },
	};
	struct tdm_open_size *sizes = tdm_result_alloc(in->result, TDM_OPEN_SIZES, sizeof *sizes);
	struct tdm_table table = TDM_TABLE_OF(columns, sizes, tdm_open_sizes(picture, process, sizes));
	table.has_no_head = true;
	table.gap = table.indent = 2;
	tdm_add_table(in, "open_sizes", "Sizes for opening the device, as this run needed them", table);
}

static struct tdm_value get_age(const struct tdm_field *field)
{
	return tdm_value_number(tdm_live_age(field->table->context, tdm_field_member(field).number));
}

static bool skip_silent(const struct tdm_table *table, const void *row)
{
	(void)table;
	return ((const struct tdm_statistics *)row)->reports == 0;
}

struct tdm_value tdm_runtime_members(
	const struct tdm_field *field, const struct tdm_picture *picture, const struct tdm_holding *holding)
{
#define SAID(member)  TDM_MEMBER(struct tdm_statistics, member)
#define TRACE(member) TDM_MEMBER(struct tdm_trace, member)
	static const struct tdm_column statistics[] = {
		{ NULL, "kind", TDM_INDEX, .flags = TDM_IS_KIND },
		{ NULL, "reports", SAID(reports) },
		{ NULL, "differing", SAID(differing) },
		{ NULL, "runtime_bytes_per_bank", SAID(allocated) },
		{ NULL, "counted_bytes_per_bank", SAID(ours) },
		{ NULL, "free_bytes_per_bank", SAID(free) },
		{ NULL, "largest_free_per_bank", SAID(largest) },
		{ NULL, "age_ns", SAID(time_ns), .get = get_age },
	};
	static const struct tdm_column traces[] = {
		{ NULL, "trace", TRACE(id) },
		{ NULL, "replays", TRACE(replays) },
		{ NULL, "allocations_meanwhile", TRACE(allocs) },
		{ NULL, "began_age_ns", TRACE(began_ns), .get = get_age },
		{ NULL, "captured_age_ns", TRACE(ended_ns), .get = get_age },
		{ NULL, "replayed_age_ns", TRACE(replayed_ns), .get = get_age },
		{ NULL, "released_age_ns", TRACE(released_ns), .get = get_age },
	};
	const struct tdm_table said = { TDM_COLUMNS(statistics), holding != NULL ? holding->told.statistics : NULL,
		sizeof *holding->told.statistics, holding != NULL ? TDM_KIND_COUNT : 0, .skip = skip_silent,
		.context = picture };
	const struct tdm_table kept = { TDM_COLUMNS(traces), holding != NULL ? holding->told.traces : NULL,
		sizeof *holding->told.traces, holding != NULL ? holding->told.trace_count : 0, .context = picture };
	bool is_known = holding != NULL && holding->told.life != 0;
	return tdm_field_members(field,
		TDM_VALUES({ "statistics", tdm_field_table(field, said) }, { "traces", tdm_field_table(field, kept) },
			{ "open", tdm_value_if(is_known,
					  tdm_value_bool(is_known && holding->told.life == TDM_STEP_OPENED)) },
			{ "traces_lost", tdm_value_number(holding != NULL ? holding->told.traces_lost : 0) },
			{ "trace_hazards_lost", tdm_value_number(holding != NULL ? holding->told.hazards_lost : 0) }));
}

/* ---- processes ---- */

/* Writes "3 double frees, 1 re-report" for the counts that are not 0. Returns whether it wrote anything. */
static bool put_counts(struct tdm_buf *out, const uint64_t *counts, const char *const (*words)[2], size_t count)
{
	size_t start = out->len;
	for (size_t i = 0; i < count; i++) {
		if (counts[i] == 0)
			continue;
		tdm_buf_puts(out, out->len != start ? ", " : "");
		tdm_buf_printf(out, "%s %s", tdm_format_count((char[TDM_BYTES_CAP]){ 0 }, TDM_BYTES_CAP, counts[i]),
			words[i][counts[i] != 1]);
	}
	return out->len != start;
}

const char *tdm_live_state(uint8_t life)
{
	return life == TDM_LIFE_RUNS ? "running" : life == TDM_LIFE_ENDED ? "ended" : NULL;
}

/* Shows the state and losses of a process, below the process name. */
static void show_state(
	struct tdm_block *in, const struct tdm_live_report *report, const struct tdm_picture_process *process)
{
	const struct tdm_process *who = process->who;
	const char *ended = process->crashed    ? "killed or crashed, or left by _exit (post-mortem)"
			    : process->replaced ? "replaced by exec (post-mortem)"
			    : who->is_on_behalf ? "ended (post-mortem)"
						: "ended by itself (post-mortem)";
	/* Losses in the tracking itself. */
	static const char *const losses[][2] = { { "lost event", "lost events" },
		{ "lost name or stack", "lost names or stacks" }, { "damaged record", "damaged records" },
		{ "free from before a fork", "frees from before a fork" } };
	const uint64_t lost[] = { process->lost, who->lost_texts, process->refused, who->frees_inherited };
	tdm_say(in, "{life}|{daemon}, written by a daemon|, user {user}|, tracking began {age} ago|, phase {phase}",
		TDM_VALUES({ "life", tdm_value_text(who->life == TDM_LIFE_ENDED  ? ended
						    : who->life == TDM_LIFE_RUNS ? "alive"
										 : "not known whether it is alive") },
			{ "daemon", tdm_value_bool(who->is_on_behalf) }, { "user", tdm_value_number(who->uid) },
			{ "age", tdm_value_ns(tdm_live_age(report->picture, who->started_ns)) },
			{ "phase", tdm_value_name(process->phase) }))
		->line.level = who->life == TDM_LIFE_ENDED ? TDM_LEVEL_WARNING : TDM_LEVEL_PLAIN;
	if (process->is_claimed)
		tdm_say(in, tdm_picture_claim(who), NULL);
	if (who->as_of_ns != 0)
		tdm_say(in, "no daemon writes its figures any more: they are {age} old",
			TDM_VALUES({ "age", tdm_value_ns(tdm_live_age(report->picture, who->as_of_ns)) }));
	if (who->is_renewed)
		tdm_say(in, "its ledger was deleted while it ran, and made anew", NULL);
	struct tdm_buf text = { 0 };
	if (put_counts(&text, lost, losses, sizeof lost / sizeof *lost))
		tdm_say(in, "{losses}",
			TDM_VALUES({ "losses", tdm_value_text(tdm_result_printed(in->result, "%s", text.data)) }));
	tdm_buf_done(&text);
}

/* Each row is a counter of a holding. */
static const void *kind_row(const struct tdm_table *table, size_t i)
{
	const struct list *of = table->context;
	return &of->live->report->picture->holdings[of->first + i / TDM_KIND_COUNT].kinds[i % TDM_KIND_COUNT];
}

static const struct tdm_holding *holding_of(const struct tdm_table *table, const void *row)
{
	const struct tdm_holding *all = ((const struct list *)table->context)->live->report->picture->holdings;
	return &all[(size_t)((const char *)row - (const char *)all) / sizeof *all];
}

static bool takes_device(const struct tdm_live_report *report, const struct tdm_holding *holding)
{
	return !report->filter.has_device || report->filter.device == holding->number;
}

/* Skips kinds that were never used or that the filter excludes. */
static bool skip_kind(const struct tdm_table *table, const void *row)
{
	const struct tdm_live_report *report = ((const struct list *)table->context)->live->report;
	const struct tdm_holding *holding = holding_of(table, row);
	const struct tdm_counter *f = row;
	return f->from != TDM_FROM_LEDGER || !takes_device(report, holding) ||
	       (report->filter.has_kind && f != &holding->kinds[report->filter.kind]) ||
	       (f->allocs | f->buffers | f->peak_buffers | f->double_frees | f->unknown_frees | f->rereports |
		       f->out_of_memory) == 0;
}

/* "0 (n150) virtual", or "0 (n150) closed" if the process closed the device and continues */
static struct tdm_value get_device(const struct tdm_field *field)
{
	const struct tdm_holding *holding = holding_of(field->table, field->row);
	const struct tdm_picture_device *device = &picture_of(field)->devices[holding->device];
	const char *card = device->info != NULL ? device->info->card : "";
	bool is_closed = holding->told.life == TDM_STEP_CLOSED &&
			 tdm_picture_counts(&picture_of(field)->processes[holding->process]);
	return tdm_field_printed(field, card[0] != '\0' ? "%" PRIu32 " (%s)%s" : "%" PRIu32 "%s%s", holding->number,
		card,
		device->is_virtual ? " virtual"
		: is_closed        ? " closed"
				   : "");
}

static struct tdm_value get_kind(const struct tdm_field *field)
{
	const struct tdm_counter *counter = field->row;
	return tdm_value_kind((unsigned)(counter - holding_of(field->table, counter)->kinds));
}

static struct tdm_value get_exact(const struct tdm_field *field)
{
	const struct tdm_counter *amount = field->row;
	return tdm_value_bool(!amount->is_inexact && !amount->is_estimated);
}

static struct tdm_value get_faults(const struct tdm_field *field)
{
	const struct tdm_counter *f = field->row;
	static const char *const faults[][2] = { { "buffer from before the tracking",
							 "buffers from before the tracking" },
		{ "double free", "double frees" }, { "unknown free", "unknown frees" }, { "re-report", "re-reports" },
		{ "out-of-memory note", "out-of-memory notes" } };
	const uint64_t counts[] = { f->adopted, f->double_frees, f->unknown_frees, f->rereports, f->out_of_memory };
	struct tdm_buf text = { 0 };
	put_counts(&text, counts, faults, sizeof counts / sizeof *counts);
	if (f->out_of_memory != 0)
		tdm_buf_printf(&text, " (the last for %s)", TDM_SIZE_TEXT(f->oom_bytes));
	if (f->is_inexact)
		tdm_buf_printf(&text, "%sthe buffers changed while they were read", text.len != 0 ? ", " : "");
	if (f->is_estimated)
		tdm_buf_printf(&text, "%swhat some buffers take is not known", text.len != 0 ? ", " : "");
	return tdm_value_name(tdm_arena_buf(field->scratch, &text).ptr);
}

#define KIND(member) TDM_MEMBER(struct tdm_counter, member)
#define COUNT        .before = 1, TDM_COUNT(10), .flags = TDM_WHOLE
static const struct tdm_column kind_columns[] = {
	{ "Device", NULL, .get = get_device, .width = DEVICE_COLUMNS },
	{ NULL, NULL, .get = get_faults, .flags = TDM_BELOW | TDM_WHOLE, .before = DEVICE_COLUMNS + 2 },
	{ "Kind", "kind", .get = get_kind, .width = 10 },
	{ NULL, "source", KIND(from), .get = tdm_get_source },
	{ "Live", "reserved_bytes", KIND(reserved), .before = 1, TDM_BYTES },
	{ "Peak", "peak_reserved_bytes", KIND(peak), .before = 1, TDM_BYTES },
	{ NULL, "occupied_bytes", KIND(occupied) },
	{ "Asked", "asked_bytes", KIND(asked), .before = 1, TDM_BYTES },
	{ NULL, "peak_asked_bytes", KIND(peak_asked) },
	{ NULL, "peak_bytes_per_bank", KIND(peak_bank) },
	{ "Buffers", "buffers", KIND(buffers), COUNT },
	{ "Peak", "peak_buffers", KIND(peak_buffers), COUNT },
	{ "Allocs", "allocations", KIND(allocs), COUNT },
	{ NULL, "adopted", KIND(adopted) },
	{ NULL, "double_frees", KIND(double_frees) },
	{ NULL, "unknown_frees", KIND(unknown_frees) },
	{ NULL, "rereports", KIND(rereports) },
	{ NULL, "out_of_memory", KIND(out_of_memory) },
	{ NULL, "last_out_of_memory_bytes", KIND(oom_bytes), TDM_KNOWN_IF(struct tdm_counter, out_of_memory) },
	{ NULL, "exact", .get = get_exact },
	{ NULL, "estimated", KIND(is_estimated) },
};

static struct tdm_table kind_table(const struct list *list, size_t holdings)
{
	return (struct tdm_table){ TDM_COLUMNS(kind_columns), .row = kind_row, .count = holdings * TDM_KIND_COUNT,
		.skip = skip_kind, .context = list, .units = TDM_UNITS_ROW };
}

static bool skip_device(const struct tdm_table *table, const void *row)
{
	return !takes_device(((const struct list *)table->context)->live->report, row);
}

static const struct tdm_picture_device *device_of(const struct tdm_field *field)
{
	return &picture_of(field)->devices[((const struct tdm_holding *)field->row)->device];
}

static struct tdm_value get_virtual(const struct tdm_field *field)
{
	return tdm_value_bool(device_of(field)->is_virtual);
}

static struct tdm_value get_card(const struct tdm_field *field)
{
	const struct tdm_device_info *info = device_of(field)->info;
	return tdm_value_name(info != NULL ? info->card : NULL);
}

/* Any number may be a valid chip id. */
static struct tdm_value get_chip_id(const struct tdm_field *field)
{
	const struct tdm_picture_device *device = device_of(field);
	return tdm_value_if(
		device->has_chip_id, (struct tdm_value){ .type = TDM_VALUE_NUMBER, .number = device->chip_id });
}

static struct tdm_value get_kinds(const struct tdm_field *field)
{
	const struct tdm_holding *holding = field->row;
	struct list *list = tdm_arena_take(field->scratch, sizeof *list);
	*list = *(const struct list *)field->table->context;
	list->first = (size_t)(holding - picture_of(field)->holdings);
	return tdm_field_table(field, kind_table(list, 1));
}

static struct tdm_value get_runtime(const struct tdm_field *field)
{
	return tdm_runtime_members(field, picture_of(field), field->row);
}

static const char *boot_id(struct tdm_result *result, const uint8_t id[16])
{
	char text[40];
	size_t at = 0;
	for (int i = 0; i < 16; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%02x",
			i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", (unsigned)id[i]);
	return tdm_result_printed(result, "%s", text);
}

static void add_identity(
	struct tdm_block *in, const struct tdm_live_report *report, const struct tdm_picture_process *process)
{
	const struct tdm_process *who = process->who;
	uint64_t age_ns = tdm_live_age(report->picture, who->as_of_ns);
	tdm_data_all(in,
		TDM_VALUES({ "pid", tdm_value_number((uint64_t)process->pid) },
			{ "claimed", tdm_value_bool(process->is_claimed) },
			{ "start_time", tdm_value_number(who->start_time) },
			{ "generation", tdm_value_number(who->generation) },
			{ "pid_namespace", tdm_value_number(who->pid_namespace) },
			{ "boot_id", tdm_value_text(boot_id(in->result, who->boot_id)) },
			{ "uid", tdm_value_number(who->uid) }, { "comm", tdm_value_name(who->comm) },
			{ "command", tdm_value_name(who->command) },
			{ "state", tdm_value_text(tdm_live_state(who->life)) },
			{ "closed", tdm_value_bool(who->closed) }, { "replaced", tdm_value_bool(process->replaced) },
			{ "ledger", tdm_value_name(process->ledger) }, { "phase", tdm_value_name(process->phase) },
			{ "lost_events", tdm_value_number(process->lost) },
			{ "lost_texts", tdm_value_number(who->lost_texts) },
			{ "damaged_records", tdm_value_number(process->refused) },
			{ "frees_inherited", tdm_value_number(who->frees_inherited) },
			{ "mode_refused", tdm_value_bool(who->mode_refused) },
			{ "ring_refused", tdm_value_bool(who->ring_refused) },
			{ "renewed", tdm_value_bool(who->is_renewed) },
			{ "on_behalf", tdm_value_bool(who->is_on_behalf) },
			{ "figures_age_ns", tdm_value_if(who->as_of_ns != 0, tdm_value_number(age_ns)) }));
}

/* Shows each process: the name, a line for each device and kind ever used, and the part that depends on the command. */
static void show_processes(struct tdm_block *top, struct live *live,
	void (*part)(struct tdm_block *in, struct live *live, uint32_t process), bool is_data_only)
{
#define HOLDING(member) TDM_MEMBER(struct tdm_holding, member)
	static const struct tdm_column device_columns[] = {
		{ NULL, "device", HOLDING(number) },
		{ NULL, "own_number", HOLDING(own_number) },
		{ NULL, "virtual", .get = get_virtual },
		{ NULL, "card", .get = get_card },
		{ NULL, "chip_id", .get = get_chip_id },
		{ NULL, "kinds", .get = get_kinds },
		{ NULL, NULL, .get = get_runtime },
	};
	const struct tdm_live_report *report = live->report;
	struct tdm_block *list = tdm_add_list(top, "processes", NULL);
	list->is_data_only = is_data_only;
	for (uint32_t i = 0; i < report->picture->process_count; i++) {
		const struct tdm_picture_process *process = &report->picture->processes[i];
		const struct tdm_process *who = process->who;
		if (report->by_user && process->uid != report->uid)
			continue;
		const char *program =
			who->generation != 0 && !who->is_renewed
				? tdm_result_printed(top->result, ", program %" PRIu32, who->generation + 1)
				: "";
		struct tdm_block *in = tdm_add_group(list, NULL,
			tdm_result_printed(top->result, "Process %" PRId32 "%s%s: %s", process->pid, program,
				process->is_claimed ? " (claimed)" : "", tdm_picture_command(process)));
		const struct list *context = new_list(in, live, i, process->first_holding);
		add_identity(in, report, process);
		show_state(in, report, process);
		tdm_add_table(in, NULL, NULL, kind_table(context, process->holding_count))->is_text_only = true;
		struct tdm_table devices = { TDM_COLUMNS(device_columns), .stride = sizeof(struct tdm_holding),
			.count = process->holding_count, .skip = skip_device, .context = context };
		devices.rows = devices.count != 0 ? &report->picture->holdings[process->first_holding] : NULL;
		tdm_add_table(in, "devices", NULL, devices)->is_data_only = true;
		part(in, live, i);
	}
}

/* ---- missing processes and ledgers ---- */

void tdm_live_show_none(struct tdm_block *in, const struct tdm_live_report *report)
{
	uint64_t others = report->picture->others;
	const struct tdm_named *values =
		TDM_VALUES({ "dir", tdm_value_text(report->dir) }, { "others", tdm_value_count(others) });
	if (others != 0)
		tdm_say(in,
			"no ledger in {dir} is of a process that was asked for; {others} of others {=others/is/are} "
			"there",
			values);
	else if (tdm_picture_hides(report->picture))
		tdm_say(in, "no ledgers in {dir}: they hide processes from those without the token (--token-file)",
			values);
	else {
		tdm_say(in, "no ledgers in {dir}: no tracked program runs, and none has left buffers behind", values);
		tdm_say(in,
			"(a program is tracked when it uses libtidemark and TIDEMARK=1 is set; 'tidemark run -- CMD' "
			"does that)",
			NULL);
	}
}

size_t tdm_live_unread_count(const struct tdm_live_report *report)
{
	size_t count = 0;
	for (size_t i = 0; i < report->picture->problem_count; i++)
		count += report->picture->problems[i].is_unread;
	return count;
}

static bool skip_read(const struct tdm_table *table, const void *row)
{
	(void)table;
	return !((const struct tdm_picture_problem *)row)->is_unread;
}

void tdm_live_show_unread(struct tdm_block *top, const struct tdm_live_report *report)
{
	static const struct tdm_column columns[] = {
		{ NULL, "ledger", TDM_MEMBER(struct tdm_picture_problem, place), .flags = TDM_ZERO_IS_UNKNOWN },
		{ NULL, "reason", TDM_MEMBER(struct tdm_picture_problem, text), .flags = TDM_ZERO_IS_UNKNOWN },
	};
	const struct tdm_picture *picture = report->picture;
	size_t count = tdm_live_unread_count(report), named = 0;
	bool is_denied = false;
	struct tdm_table table = TDM_TABLE_OF(columns, picture->problems, report->by_user ? 0 : picture->problem_count);
	table.skip = skip_read;
	tdm_add_table(top, "unreadable", NULL, table)->is_data_only = true;
	struct tdm_block *in = tdm_add_group(top, NULL,
		picture->hosts != NULL ? "Machines that do not answer, and ledgers that could not be read:"
		: count == 1           ? "A ledger that could not be read:"
				       : "Ledgers that could not be read:");
	in->is_text_only = true;
	for (size_t i = 0; i < picture->problem_count; i++) {
		const struct tdm_picture_problem *problem = &picture->problems[i];
		const struct tdm_named *values = TDM_VALUES(
			{ "place", tdm_value_text(problem->place) }, { "text", tdm_value_text(problem->text) });
		is_denied |= problem->is_unread && (problem->err == -EACCES || problem->err == -EPERM);
		if (problem->err == -EOVERFLOW && problem->place[0] != '\0')
			tdm_say(top, "{place}: {text}", values);
		/* Every machine that does not answer is named, whatever the limit. */
		if (!problem->is_unread ||
			(named >= UNREAD_SHOWN && (picture->hosts == NULL || problem->err != -EHOSTUNREACH)))
			continue;
		named++;
		tdm_say(in, "{place}: {text}", values);
	}
	if (count > named)
		tdm_say(in, "and {more} more", TDM_VALUES({ "more", tdm_value_number(count - named) }));
	if (is_denied)
		tdm_say(top,
			"(a ledger that may not be read is another user's: look as that user or as root, or start the "
			"program with TIDEMARK_MODE=0644)",
			NULL);
}

/* ---- dump ---- */

static const void *buffer_row(const struct tdm_table *table, size_t i)
{
	const struct list *list = table->context;
	const struct tdm_picture *picture = list->live->report->picture;
	const struct tdm_buffer_ref *ref = &list->refs[list->first + i];
	const struct tdm_holding *holding = &picture->holdings[ref->holding];
	const struct tdm_buffer *buffer = ref->buffer;
	bool is_view = tdm_buffer_is_view(buffer), is_known = is_view || buffer->bank_bytes != TDM_SIZE_UNKNOWN;
	struct row *row = list->row;
	*row = (struct row){ .buffer = buffer,
		.device = holding->number,
		.is_virtual = picture->devices[holding->device].is_virtual,
		.is_view = is_view,
		.is_shared = tdm_buffer_is_shared(buffer),
		.is_adopted = tdm_buffer_is_adopted(buffer),
		.has_only_id =
			buffer->address == TDM_ADDRESS_UNKNOWN && picture->processes[holding->process].is_on_behalf,
		.banks = is_view ? 0 : buffer->banks,
		.reserved = is_known ? tdm_buffer_reserved(buffer) : TDM_BYTES_UNKNOWN,
		.occupied = is_known ? tdm_buffer_occupied(buffer) : TDM_BYTES_UNKNOWN,
		.age_ns = tdm_live_age(picture, buffer->born_ns),
		.program = tdm_picture_text(picture, buffer->program),
		.name = tdm_picture_text(picture, buffer->name) };
	row->ranges = tdm_picture_ranges(picture, buffer->ranges, &row->range_count);
	tdm_picture_stack(picture, buffer->stack, &row->depth);
	return row;
}

static struct tdm_value get_number(const struct tdm_field *field)
{
	const struct row *row = field->row;
	return tdm_field_printed(field, "%" PRIu32 "%s", row->device, row->is_virtual ? "v" : "");
}

/* Any number may be a valid id, so a missing id is shown as unknown. */
static struct tdm_value get_id(const struct tdm_field *field)
{
	return (struct tdm_value){ .type = TDM_VALUE_NUMBER, .number = ((const struct row *)field->row)->buffer->id };
}

static struct tdm_value get_reserved(const struct tdm_field *field)
{
	return ((const struct row *)field->row)->is_view ? tdm_value_text("view") : tdm_field_member(field);
}

/* Tracking began after an adopted buffer was allocated, so its age is unknown. */
static struct tdm_value get_birth(const struct tdm_field *field)
{
	return ((const struct row *)field->row)->is_adopted ? tdm_value_text("before") : tdm_field_member(field);
}

/* The buffer name or else the allocation site, then the cores: "weights  (0,0)-(7,7) (1,9)", "Application  id 0x7". */
static struct tdm_value get_shown_name(const struct tdm_field *field)
{
	const struct row *row = field->row;
	struct tdm_buf text = { 0 };
	put_site(field->table->context, row->name, row->buffer->stack, row->has_only_id ? "" : "-", &text);
	if (row->has_only_id)
		tdm_buf_printf(&text, "%sid 0x%" PRIx64, text.len != 0 ? "  " : "", row->buffer->id);
	for (uint32_t i = 0; i < row->range_count && i < RANGES_SHOWN; i++) {
		const struct tdm_core_range *r = &row->ranges[i];
		tdm_buf_printf(&text, "%s(%u,%u)", i == 0 ? "  " : " ", r->x0, r->y0);
		if (r->x0 != r->x1 || r->y0 != r->y1)
			tdm_buf_printf(&text, "-(%u,%u)", r->x1, r->y1);
	}
	if (row->range_count > RANGES_SHOWN)
		tdm_buf_printf(&text, " and %" PRIu32 " more", row->range_count - RANGES_SHOWN);
	return tdm_value_text(tdm_arena_buf(field->scratch, &text).ptr);
}

/* Lists of x0, y0, x1 and y1. */
static struct tdm_value get_ranges(const struct tdm_field *field)
{
	enum { CORNERS = 4 };
	const struct row *row = field->row;
	size_t count = row->range_count;
	struct tdm_value *lists = tdm_arena_take(field->scratch, count * sizeof *lists);
	struct tdm_value *corners = tdm_arena_take(field->scratch, count * CORNERS * sizeof *corners);
	for (size_t i = 0; i < count; i++, corners += CORNERS) {
		const struct tdm_core_range *r = &row->ranges[i];
		corners[0] = tdm_value_number(r->x0);
		corners[1] = tdm_value_number(r->y0);
		corners[2] = tdm_value_number(r->x1);
		corners[3] = tdm_value_number(r->y1);
		lists[i] = tdm_value_list(corners, CORNERS);
	}
	return tdm_value_if(count != 0, tdm_value_list(lists, count));
}

#define ROW(member)    TDM_MEMBER(struct row, member)
#define BUFFER(member) TDM_VIA(struct row, buffer, struct tdm_buffer, member)
static const struct tdm_column buffer_columns[] = {
	{ "Device", NULL, .get = get_number, .width = 6, .flags = TDM_WHOLE },
	{ NULL, "device", ROW(device) },
	{ NULL, "virtual", ROW(is_virtual) },
	{ "Kind", "kind", BUFFER(kind), .flags = TDM_IS_KIND, .width = 10 },
	{ NULL, "id", .get = get_id },
	{ "Address", "address", BUFFER(address), .format = tdm_format_hex, .width = 14, .flags = TDM_WHOLE },
	{ "Asked", "asked_bytes", BUFFER(asked_bytes), TDM_BYTES },
	{ "Reserved", NULL, ROW(reserved), .get = get_reserved, TDM_BYTES },
	{ NULL, "reserved_bytes", ROW(reserved) },
	{ NULL, "occupied_bytes", ROW(occupied) },
	{ NULL, "bytes_per_bank", BUFFER(bank_bytes) },
	{ "Banks", "banks", ROW(banks), .width = 5, .flags = TDM_ZERO_IS_UNKNOWN | TDM_WHOLE },
	{ NULL, "page_bytes", BUFFER(page_size), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "cores", BUFFER(cores), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "core_ranges", .get = get_ranges },
	{ NULL, "view", ROW(is_view) },
	{ NULL, "shared", ROW(is_shared) },
	{ NULL, "adopted", ROW(is_adopted) },
	{ "Age", NULL, ROW(age_ns), .get = get_birth, TDM_DURATION(TDM_DURATION_COLUMNS), .flags = TDM_WHOLE },
	{ NULL, "age_ns", ROW(age_ns) },
	{ "Thread", "thread", BUFFER(thread), .width = 8, .flags = TDM_ZERO_IS_UNKNOWN | TDM_WHOLE },
	{ "Stack", NULL, ROW(depth), .width = 5, .flags = TDM_ZERO_IS_UNKNOWN },
	{ "Program", "program", ROW(program), .width = 16, .before = 1, .flags = TDM_ZERO_IS_UNKNOWN },
	{ "Name", NULL, .get = get_shown_name },
	{ NULL, "name", ROW(name), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "stack_depth", ROW(depth) },
	STACK(BUFFER(stack)),
};

enum { BUFFER_STACK = sizeof buffer_columns / sizeof *buffer_columns - 2 };

static void show_buffers(struct tdm_block *in, struct live *live, uint32_t process)
{
	const struct tdm_live_report *report = live->report;
	struct list *list = new_list(in, live, process, 0);
	struct tdm_table table = { TDM_COLUMNS(buffer_columns), .row = buffer_row, .context = list,
		.units = TDM_UNITS_ROW, .gap = 1, .limit = (size_t)report->limit,
		.hidden = report->stacks ? 0 : UINT64_C(3) << BUFFER_STACK };
	list->refs = tdm_live_buffers(report->picture, process, &report->filter, report->sort, &table.count);
	tdm_result_keep(in->result, list->refs, free);
	tdm_data(in, "buffer_count", tdm_value_number(table.count));
	if (table.count == 0) /* names the filter, because there may be other buffers */
		tdm_say(in, "no live buffers| of kind {kind}| on device {device}",
			TDM_VALUES(
				{ "kind", tdm_value_if(report->filter.has_kind, tdm_value_kind(report->filter.kind)) },
				{ "device", tdm_value_if(report->filter.has_device,
						    tdm_value_number(report->filter.device)) }))
			->is_apart = true;
	list->first = (size_t)tdm_min(report->skip, table.count);
	table.count -= list->first;
	tdm_add_table(in, "buffers", NULL, table);
	tdm_live_show_findings(in, report, process, false);
}

void tdm_dump_show(struct tdm_block *top, const struct tdm_live_report *report)
{
	bool any = report->picture->process_count != 0;
	tdm_data(top, "directory", tdm_value_name(report->dir));
	show_processes(top, begin(top, report), show_buffers, report->map && any);
	if (report->map)
		tdm_map_show_all(top, report);
	if (!any && tdm_live_unread_count(report) == 0)
		tdm_live_show_none(top, report);
	tdm_live_show_unread(top, report);
}

/* ---- run ---- */

static struct tdm_value get_site_name(const struct tdm_field *field)
{
	return tdm_value_text(tdm_picture_text(picture_of(field), ((const struct tdm_site *)field->row)->name));
}

static struct tdm_value get_site_age(const struct tdm_field *field)
{
	return tdm_value_number(tdm_live_age(picture_of(field), tdm_field_member(field).number));
}

static struct tdm_value get_site(const struct tdm_field *field)
{
	const struct tdm_site *site = field->row;
	struct tdm_buf text = { 0 };
	put_site(field->table->context, get_site_name(field).text.ptr, site->stack, "(no name)", &text);
	return tdm_value_text(tdm_arena_buf(field->scratch, &text).ptr);
}

#define SITE(member) TDM_MEMBER(struct tdm_site, member)
static const struct tdm_column site_columns[] = {
	{ "Kind", "kind", SITE(kind), .flags = TDM_IS_KIND, .width = 10 },
	{ NULL, "name", .get = get_site_name, .flags = TDM_ZERO_IS_UNKNOWN },
	{ "Buffers", "buffers", SITE(count), TDM_COUNT(10), .flags = TDM_WHOLE },
	{ "Reserved", "reserved_bytes", SITE(reserved_bytes), TDM_BYTES },
	{ NULL, "asked_bytes", SITE(asked_bytes) },
	{ "Oldest", "oldest_age_ns", SITE(oldest_ns), .get = get_site_age, TDM_DURATION(TDM_DURATION_COLUMNS),
		.flags = TDM_WHOLE },
	{ "Site", NULL, .get = get_site, .before = 1 },
	STACK(SITE(stack)),
};

enum { SITE_LINES = sizeof site_columns / sizeof *site_columns - 1 };

static struct tdm_value get_note(const struct tdm_field *field)
{
	return tdm_value_text(tdm_picture_text(field->table->context, ((const struct tdm_note *)field->row)->text));
}

static bool skip_remark(const struct tdm_table *table, const void *row)
{
	(void)table;
	return ((const struct tdm_note *)row)->is_remark;
}

/* Shows the runtime's or the preload's remarks and counts for a process; in text, only the remarks. */
static void show_notes(struct tdm_block *in, const struct tdm_picture *picture, const struct tdm_picture_process *of)
{
	static const struct tdm_column columns[] = { { NULL, "name", .get = get_note },
		{ NULL, "value", TDM_MEMBER(struct tdm_note, value) } };
	struct tdm_value *remarks = tdm_result_alloc(in->result, of->note_count, sizeof *remarks);
	size_t count = 0;
	bool from_metal = false, is_hooked = false; /* is_hooked: a hook of the preload was called */
	for (size_t i = 0; i < of->note_count; i++) {
		const struct tdm_note *note = &of->notes[i];
		const char *text = tdm_picture_text(picture, note->text);
		bool is_metal = tdm_has_prefix(text, "metal:");
		if (note->is_remark)
			remarks[count++] = tdm_value_text(text);
		from_metal |= is_metal && note->is_remark;
		is_hooked |= is_metal && !note->is_remark && note->value != 0;
	}
	struct tdm_table counters = TDM_TABLE_OF(columns, of->notes, of->note_count);
	counters.skip = skip_remark;
	counters.context = picture;
	tdm_data(in, "remarks", tdm_value_list(remarks, count));
	tdm_add_table(in, "counters", NULL, counters)->is_data_only = true;
	for (size_t i = 0; i < count; i++)
		tdm_say(in, "{remark}", TDM_VALUES({ "remark", remarks[i] }))->is_apart = i == 0;
	if (from_metal && !is_hooked)
		tdm_say(in, "metal: none of the hooked functions was called: nothing of tt-metal is in these figures",
			NULL);
}

/* Whether the process closed a device while buffers were live, so that the runtime released them. A finding reports
 * this. */
static bool has_left(const struct tdm_picture *picture, const struct tdm_picture_process *process)
{
	for (uint32_t i = 0; i < process->holding_count; i++)
		if (picture->holdings[process->first_holding + i].told.left != 0)
			return true;
	return false;
}

/* Shows the sites of a process that still hold memory, and the findings about them. */
static void show_sites(struct tdm_block *in, struct live *live, uint32_t process)
{
	const struct tdm_picture *picture = live->report->picture;
	const struct tdm_picture_process *of = &picture->processes[process];
	bool runs = of->life == TDM_LIFE_RUNS;
	uint64_t rest = 0;
	size_t count;
	show_notes(in, picture, of);
	struct tdm_site *sites = tdm_sites_find(picture, process, &count);
	tdm_result_keep(in->result, sites, free);
	struct tdm_table table = TDM_TABLE_OF(site_columns, sites, count);
	table.context = new_list(in, live, process, 0);
	table.limit = SITES_SHOWN;
	table.is_whole_in_data = true;
	table.hidden = (uint64_t)!live->report->stacks << SITE_LINES;
	tdm_add_table(in, "live_sites", runs ? "Live" : "Never freed", table);
	for (size_t i = SITES_SHOWN; i < count; i++)
		rest = tdm_plus(rest, sites[i].reserved_bytes != TDM_BYTES_UNKNOWN ? sites[i].reserved_bytes : 0);
	if (rest != 0)
		tdm_say(in, "those hold {rest}", TDM_VALUES({ "rest", tdm_value_bytes(rest) }));
	if (count == 0)
		tdm_say(in,
			of->lost + of->refused != 0
				? "it is not known whether every buffer was freed: reports are missing"
			: runs                  ? "no live buffers"
			: has_left(picture, of) ? "no live buffers at the end"
						: "every buffer was freed",
			NULL)
			->is_apart = true;
	tdm_live_show_findings(in, live->report, process, true);
	tdm_live_show_sizes(in, picture, process);
}

/* Shows how the program ended, and which of its processes are still running. */
static void show_end(struct tdm_block *top, const struct tdm_live_report *report, const struct tdm_run_end *end)
{
	const char *name = end->signal != 0 ? sigabbrev_np(end->signal) : NULL;
	size_t words = 0;
	while (end->command[words] != NULL)
		words++;
	struct tdm_value *command = tdm_result_alloc(top->result, words, sizeof *command),
			 *left = tdm_result_alloc(top->result, end->left_count, sizeof *left);
	for (size_t i = 0; i < words; i++)
		command[i] = tdm_value_text(end->command[i]);
	for (size_t i = 0; i < end->left_count; i++)
		left[i] = tdm_value_number((uint64_t)end->left[i]);
	tdm_line(top, NULL,
		end->signal != 0
			? "tidemark: {_program} was killed by signal {signal}| (SIG{_name})| after {duration_ns}"
			: "tidemark: {_program} ended with code {exit_code} after {duration_ns}",
		TDM_VALUES({ "command", tdm_value_list(command, words) }, { "_program", command[0] },
			{ "exit_code", tdm_value_number((uint64_t)end->exit_code) },
			{ "signal", tdm_value_if(end->signal != 0, tdm_value_number((uint64_t)end->signal)) },
			{ "_name", tdm_value_text(name) }, { "duration_ns", tdm_value_ns(end->took_ns) },
			{ "still_running", tdm_value_number(end->still_running) },
			{ "preloaded", tdm_value_bool(end->is_preloaded) },
			{ "not_preloadable", tdm_value_text(end->bar) }, { "not_seen", tdm_value_text(end->unseen) },
			{ "left_without_report", tdm_value_bool(end->has_left) },
			{ "left_pids", tdm_value_list(left, end->left_count) }));
	if (end->still_running != 0)
		tdm_say(top, "tidemark: {n} of its processes still {=n/runs/run}; their figures are those of now",
			TDM_VALUES({ "n", tdm_value_count(end->still_running) }));
	if (end->has_left)
		tdm_say(top, "tidemark: still running, without a report so far: {left}",
			TDM_VALUES({ "left", tdm_value_text(end->left_count == 0 ? "processes that it started"
										 : end->left_names) }));
	if (end->unseen != NULL && report->picture->process_count == 0)
		tdm_say(top, "tidemark: nothing was seen: {why}", TDM_VALUES({ "why", tdm_value_text(end->unseen) }));
}

/* Explains why there is nothing to report. */
static void show_nothing(struct tdm_block *top, const struct tdm_run_end *end)
{
	static const char *const why[2][3] = {
		{ "Programs are seen when they, or the runtime that",
			"tidemark: they use, are built with libtidemark; setuid programs, and those that set "
			"TIDEMARK=0, are not." },
		{ "Programs are seen when they load tt-metal or are",
			"tidemark: built with libtidemark; static and setuid programs, and those that set TIDEMARK=0, "
			"are not.",
			"tidemark: `tidemark doctor --metal LIBRARY` says whether a build of tt-metal can be "
			"watched." },
	};
	tdm_say(top, "tidemark: it made no ledger: it reported no device memory. {why}|{program} {bar}",
		TDM_VALUES({ "why", tdm_value_text(end->bar == NULL ? why[end->is_preloaded][0] : "") },
			{ "program", tdm_value_text(end->program) }, { "bar", tdm_value_text(end->bar) }));
	for (size_t i = 1; i < 3 && end->bar == NULL && why[end->is_preloaded][i] != NULL; i++)
		tdm_say(top, why[end->is_preloaded][i], NULL);
}

void tdm_run_show(struct tdm_block *top, const struct tdm_live_report *report, const struct tdm_run_end *end)
{
	bool any = report->picture->process_count != 0;
	show_end(top, report, end);
	show_processes(top, begin(top, report), show_sites, false);
	if (end->unseen != NULL && any)
		tdm_say(top, "tidemark: not all was seen: {why}", TDM_VALUES({ "why", tdm_value_text(end->unseen) }))
			->is_apart = true;
	if (end->unseen == NULL && !any && !end->has_left)
		show_nothing(top, end);
	tdm_live_show_unread(top, report);
}
