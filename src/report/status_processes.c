/* The processes of `tidemark status`: a row for each device that a process uses, then memory that belongs to no
 * process. */
#include "base/number.h"
#include "report/cell.h"
#include "report/live_cells.h"
#include "report/live_report.h"
#include "report/runtime_report.h"
#include "report/status_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A third kind, and each one after it, gets a column if COMMAND_WANTED columns are left for the command. */
enum {
	DEVICE_COLUMNS = 3,
	USER_COLUMNS = 8,
	WHO_COLUMNS = 7 + 1 + USER_COLUMNS,
	COMMAND_MIN = 12,
	COMMAND_WANTED = 24
};

/* A row. Without a process it is the memory of a device that belongs to none. */
struct row {
	const struct tdm_picture_process *process;
	const struct tdm_holding *holding; /* NULL: the process uses no device */
	const struct tdm_picture_device *device;
	const char *user, *command, *state; /* of the process */
	const char *what, *why;             /* without a process */
	const struct tdm_picture_host *host;
	char place[TDM_PICK_LABEL_CAP], age[TDM_DURATION_CAP], sources[TDM_FROM_COUNT + 1];
	uint64_t used[TDM_KIND_COUNT], other; /* the sum of the kinds without a column */
	bool is_estimated[TDM_KIND_COUNT], other_is_estimated;
	uint64_t figures_age_ns; /* TDM_BYTES_UNKNOWN: they are current */
};

/* The length of the program's path: it ends at a blank after the process's name, since folders may contain blanks. */
static size_t program_length(const char *command, const char *comm)
{
	enum { COMM_MAX = 15 }; /* the limit of Linux */
	size_t comm_len = strlen(comm), base = 0;
	for (size_t i = 0; comm_len != 0 && command[i] != '\0'; i++) {
		base = command[i] == '/' ? i + 1 : base;
		if ((command[i + 1] != ' ' && command[i + 1] != '\0') || strncmp(command + base, comm, comm_len) != 0)
			continue;
		if (i + 1 - base == comm_len || comm_len == COMM_MAX)
			return i + 1;
	}
	return strcspn(command, " ");
}

/* The kinds that have a column, in its order. */
enum { FIRST_KIND = 6 };
static const enum tdm_kind own_columns[] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_CB, TDM_KIND_TRACE,
	TDM_KIND_L1_SMALL };
enum { OWN_COLUMNS = sizeof own_columns / sizeof *own_columns };

static void sum_others(struct row *row)
{
	row->other = TDM_BYTES_UNKNOWN;
	for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
		bool is_own = false;
		for (size_t i = 0; i < OWN_COLUMNS; i++)
			is_own |= own_columns[i] == k;
		if (is_own || row->used[k] == TDM_BYTES_UNKNOWN)
			continue;
		row->other = row->other != TDM_BYTES_UNKNOWN ? tdm_plus(row->other, row->used[k]) : row->used[k];
		row->other_is_estimated |= row->is_estimated[k];
	}
}

/* A command that does not fit loses the folders of its program and paths. Returns the command itself, or `dst`. */
static const char *shortened(const struct tdm_picture_process *process, size_t columns, char dst[TDM_COMMAND_CAP])
{
	const char *command = tdm_picture_command(process);
	size_t at = 0;
	if (strlen(command) <= columns)
		return command;
	for (const char *word = command; *word != '\0' && at < TDM_COMMAND_CAP - 1;) {
		size_t len = word == command ? program_length(command, process->comm) : strcspn(word, " "), from = 0;
		bool is_path = word == command || word[0] == '/' || word[0] == '.';
		for (size_t i = 0; is_path && i + 1 < len; i++)
			from = word[i] == '/' ? i + 1 : from;
		len += word[len] == ' ';
		for (size_t i = from; i < len && at < TDM_COMMAND_CAP - 1; i++)
			dst[at++] = word[i];
		word += len;
	}
	dst[at] = '\0';
	return dst;
}

/* The sources of the row: "L", "S", or both if kinds differ. "D" alone: the process has the card open. */
static void find_sources(struct row *row)
{
	size_t count = 0;
	for (uint8_t from = TDM_FROM_LEDGER; from < TDM_FROM_COUNT && row->holding != NULL; from++) {
		bool any = false;
		for (size_t k = 0; k < TDM_KIND_COUNT; k++)
			any |= row->holding->kinds[k].from == from && row->used[k] != TDM_BYTES_UNKNOWN;
		if (any)
			row->sources[count++] = tdm_status_letter(from);
	}
	if (count == 0 && row->holding != NULL && row->holding->descriptors != 0)
		row->sources[0] = tdm_status_letter(TDM_FROM_DRIVER);
	else if (count == 0)
		row->sources[0] = '-';
}

static struct row process_row(
	const struct tdm_picture *picture, const struct tdm_picture_process *process, const struct tdm_holding *holding)
{
	struct row row = { process, holding, holding != NULL ? &picture->devices[holding->device] : NULL,
		.user = process->user[0] != '\0' ? process->user : "?", .command = tdm_picture_command(process),
		.state = tdm_live_state(process->life), .place = "-", .age = "-",
		.figures_age_ns = tdm_live_age(picture, process->as_of_ns) };
	for (size_t k = 0; k < TDM_KIND_COUNT; k++)
		row.used[k] = holding != NULL ? holding->kinds[k].used : TDM_BYTES_UNKNOWN;
	for (size_t k = 0; k < TDM_KIND_COUNT && holding != NULL; k++)
		row.is_estimated[k] = holding->kinds[k].is_estimated;
	row.host = process->host;
	if (row.host != NULL)
		snprintf(row.place, sizeof row.place, "%s:-", row.host->name);
	if (holding != NULL)
		tdm_pick_label(&picture->devices[holding->device], row.place, sizeof row.place);
	if (process->life == TDM_LIFE_ENDED)
		snprintf(row.age, sizeof row.age, "%s",
			process->crashed    ? "crashed"
			: process->replaced ? "replaced"
					    : "ended");
	else if (process->started_ns != 0 && process->started_ns <= picture->real_ns)
		tdm_format_duration(row.age, sizeof row.age, picture->real_ns - process->started_ns);
	find_sources(&row);
	sum_others(&row);
	return row;
}

/* Memory that belongs to no process. False when it is 0 or unknown. */
static bool extra_row(const struct tdm_picture *picture, size_t i, bool is_stale, struct row *row)
{
	const struct tdm_picture_device *device = &picture->devices[i];
	bool any = false;
	*row = (struct row){ .device = device,
		.what = is_stale ? "    stale" : "    unattributed",
		.why = is_stale ? "left by ended processes" : "of no listed process" };
	tdm_pick_label(device, row->place, sizeof row->place);
	for (size_t k = 0; k < TDM_KIND_COUNT; k++) {
		row->used[k] = is_stale ? device->kinds[k].stale : device->kinds[k].unattributed;
		any |= tdm_is_some(row->used[k]);
	}
	sum_others(row);
	return any;
}

/* A board that a process has open says nothing new if it uses other devices. */
bool tdm_status_shows_holding(const struct tdm_status_report *report, size_t holding)
{
	const struct tdm_picture *picture = report->picture;
	const struct tdm_picture_process *process = &picture->processes[picture->holdings[holding].process];
	bool is_all = report->pick.device != NULL || !picture->devices[picture->holdings[holding].device].is_board;
	bool has_others = false;
	for (size_t i = 0; i < process->holding_count && !is_all; i++)
		has_others |= !picture->devices[picture->holdings[process->first_holding + i].device].is_board;
	return tdm_pick_takes_holding(&report->pick, picture, holding) && !has_others;
}

/* The rows of processes, then `extra` others. Owned by the caller (free()); NULL when out of memory. */
static struct row *find_rows(const struct tdm_status_report *report, bool with_boards, size_t *count, size_t *extra)
{
	const struct tdm_picture *picture = report->picture;
	struct row *rows = malloc(
		(picture->holding_count + picture->process_count + 2 * picture->device_count + 1) * sizeof *rows);
	*count = *extra = 0;
	for (size_t p = 0; p < picture->process_count && rows != NULL; p++) {
		const struct tdm_picture_process *process = &picture->processes[p];
		for (size_t i = process->first_holding; i < process->first_holding + process->holding_count; i++)
			if (with_boards ? tdm_pick_takes_holding(&report->pick, picture, i)
					: tdm_status_shows_holding(report, i))
				rows[(*count)++] = process_row(picture, process, &picture->holdings[i]);
		if (process->holding_count == 0 && tdm_pick_takes_process(&report->pick, picture, p))
			rows[(*count)++] = process_row(picture, process, NULL);
	}
	for (size_t i = 0; i < 2 * picture->device_count && rows != NULL && report->pick.pid_count == 0; i++)
		if (tdm_pick_takes_device(&report->pick, picture, i / 2))
			*extra += extra_row(picture, i / 2, i % 2 != 0, &rows[*count + *extra]);
	return rows;
}

/* Columns. */

static void put_who(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct row *row = field->row;
	if (row->process == NULL) {
		tdm_buf_puts(out, row->what);
		return;
	}
	tdm_buf_printf(out, "%7" PRId32 "%c", row->process->pid, row->process->is_claimed ? '?' : ' ');
	tdm_cell_put(out, tdm_str_of(row->process->user), USER_COLUMNS, true);
}

static void put_command(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct row *row = field->row;
	size_t columns = field->table->widths[0];
	char text[TDM_COMMAND_CAP];
	if (row->process != NULL)
		tdm_buf_puts(out, columns != 0 ? shortened(row->process, columns, text) : row->command);
	else if (columns == 0 || strlen(row->why) <= columns)
		tdm_buf_puts(out, row->why);
}

static bool skip_unknown(const struct tdm_table *table, const void *row)
{
	(void)table;
	return ((const struct tdm_picture_amount *)row)->used == TDM_BYTES_UNKNOWN;
}

static void json_kinds(const struct tdm_field *field, struct tdm_json *json)
{
#define AMOUNT(member) TDM_MEMBER(struct tdm_picture_amount, member)
	static const struct tdm_column columns[] = {
		{ NULL, "kind", TDM_INDEX, .flags = TDM_IS_KIND },
		{ NULL, "used", AMOUNT(used) },
		{ NULL, "peak", AMOUNT(peak) },
		{ NULL, "estimated", AMOUNT(is_estimated) },
		{ NULL, "buffers", AMOUNT(buffers) },
		{ NULL, "source", AMOUNT(from), .get = tdm_get_source },
	};
	const struct tdm_holding *holding = ((const struct row *)field->row)->holding;
	struct tdm_table table = { TDM_COLUMNS(columns), .stride = sizeof *holding->kinds, .skip = skip_unknown };
	table.rows = holding != NULL ? holding->kinds : NULL;
	table.count = holding != NULL ? TDM_KIND_COUNT : 0;
	tdm_table_json(&table, json);
}

/* Keys of its own. */
static void json_runtime(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_status_report *report = field->table->context;
	tdm_runtime_holding_json(report->picture, ((const struct row *)field->row)->holding, json);
}

#define ROW(member)     TDM_MEMBER(struct row, member)
#define PROCESS(member) TDM_VIA(struct row, process, struct tdm_picture_process, member)
#define HOLDING(member) TDM_VIA(struct row, holding, struct tdm_holding, member)
#define DEVICE(member)  TDM_VIA(struct row, device, struct tdm_picture_device, member)
static void json_memory(const struct tdm_field *field, struct tdm_json *json)
{
	static const struct tdm_column columns[] = {
		{ NULL, "host", TDM_VIA(struct row, host, struct tdm_picture_host, name) },
		{ NULL, "device_index", HOLDING(device) },
		{ NULL, "device_number", DEVICE(number), .flags = TDM_NEGATIVE_IS_UNKNOWN },
		{ NULL, "descriptors", HOLDING(descriptors), .flags = TDM_ZERO_IS_UNKNOWN },
		{ NULL, "state", ROW(state) },
		{ NULL, "crashed", PROCESS(crashed) },
		{ NULL, "replaced", PROCESS(replaced) },
		{ NULL, "claimed", PROCESS(is_claimed) },
		{ NULL, "container", PROCESS(in_container) },
		{ NULL, "on_behalf", PROCESS(is_on_behalf) },
		{ NULL, "figures_age_ns", ROW(figures_age_ns) },
		{ NULL, "phase", PROCESS(phase), .flags = TDM_ZERO_IS_UNKNOWN },
		{ NULL, "start_time", PROCESS(start_time), .flags = TDM_ZERO_IS_UNKNOWN },
		{ NULL, "started_ns", PROCESS(started_ns), .flags = TDM_ZERO_IS_UNKNOWN },
		{ NULL, "lost_events", PROCESS(lost) },
		{ NULL, "faults", PROCESS(faults) },
		{ NULL, "out_of_memory", PROCESS(out_of_memory) },
		{ NULL, "sources", PROCESS(sources), .json = tdm_status_json_sources },
		{ NULL, "kinds", .json = json_kinds },
		{ NULL, NULL, .json = json_runtime },
	};
	const struct tdm_table table = { TDM_COLUMNS(columns), .context = field->table->context };
	tdm_json_object(json);
	tdm_table_keys(&table, field->row, json);
	tdm_json_object_end(json);
}

static void put_used(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct row *row = field->row;
	int kind = field->column->arg;
	uint64_t bytes = kind < TDM_KIND_COUNT ? row->used[kind] : row->other;
	bool is_estimated = kind < TDM_KIND_COUNT ? row->is_estimated[kind] : row->other_is_estimated;
	tdm_put_marked(field, out, tdm_estimate_mark(is_estimated, bytes), bytes);
}

#define BYTES_OF(kind) .text = put_used, .arg = (kind), .before = 1, TDM_BYTES
#define USED(kind)     ROW(used[kind]), BYTES_OF(kind)
static const struct tdm_column columns[] = {
	{ "    PID User", NULL, .text = put_who, .width = WHO_COLUMNS },
	{ NULL, "pid", PROCESS(pid) },
	{ NULL, "user", ROW(user) },
	{ NULL, "device", DEVICE(node), .flags = TDM_NEGATIVE_IS_UNKNOWN },
	{ "Dev", NULL, ROW(place), .before = 1, .width = TDM_WIDTH_OF_TABLE + 1, .flags = TDM_OTHER_SIDE | TDM_WHOLE },
	{ "Age", NULL, ROW(age), .before = 1, .width = TDM_DURATION_COLUMNS, .flags = TDM_OTHER_SIDE | TDM_WHOLE },
	{ "dram", NULL, USED(TDM_KIND_DRAM) },
	{ "l1", NULL, USED(TDM_KIND_L1) },
	{ "cb", NULL, USED(TDM_KIND_CB) },
	{ "trace", NULL, USED(TDM_KIND_TRACE) },
	{ "l1_small", NULL, USED(TDM_KIND_L1_SMALL) },
	{ "other", NULL, ROW(other), BYTES_OF(TDM_KIND_COUNT) },
	{ "Src", NULL, ROW(sources), .before = 1, .width = 3, .flags = TDM_WHOLE },
	{ "Command", "cmdline", ROW(command), .text = put_command, .before = 2, .width = TDM_WIDTH_OF_TABLE },
	{ NULL, "memory", .json = json_memory },
};

/* Text. */

/* The columns depend on the width alone, so that they are the same whatever is in use. */
static void choose_columns(const struct tdm_status_report *report, struct tdm_table *table)
{
	/* "   PID User     Dev     Age Src" and two blanks before the command */
	size_t device = tdm_max(DEVICE_COLUMNS, tdm_pick_host_columns(report->picture));
	size_t taken = WHO_COLUMNS + 1 + device + 1 + TDM_DURATION_COLUMNS + 4 + 2, width = report->term.width;
	table->widths[1] = device;
	for (size_t i = 0; i <= OWN_COLUMNS && !report->is_piped; i++) {
		bool is_shown = i < 2 || taken + 11 + COMMAND_WANTED <= width;
		taken += is_shown ? 11 : 0;
		table->hidden |= (uint64_t)!is_shown << (FIRST_KIND + i);
	}
	if (!report->is_piped)
		table->widths[0] = width > taken + COMMAND_MIN ? width - taken : COMMAND_MIN;
}

void tdm_status_processes(const struct tdm_status_report *report, struct tdm_buf *out)
{
	size_t count, extra;
	struct row *rows = find_rows(report, false, &count, &extra);
	struct tdm_table table = { TDM_COLUMNS(columns), rows, sizeof *rows, count + extra, .context = report,
		.units = TDM_UNITS_COLUMN, .above = "\n", .style = TDM_STYLE_DIM };
	choose_columns(report, &table);
	tdm_table_text(&table, &report->term, out);
	if (table.count == 0)
		tdm_buf_puts(out, "\nNo process is known to use a device.\n");
	out->failed |= rows == NULL;
	free(rows);
}

void tdm_status_json_processes(const struct tdm_status_report *report, struct tdm_json *json)
{
	size_t count, extra;
	struct row *rows = find_rows(report, true, &count, &extra);
	const struct tdm_table table = { TDM_COLUMNS(columns), rows, sizeof *rows, count, .context = report };
	tdm_json_put_table(json, "processes", &table);
	json->out->failed |= rows == NULL;
	free(rows);
}
