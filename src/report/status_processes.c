/* The processes of `tidemark status`: a row for each device that a process uses, then what is in no process. */
#include "base/duration.h"
#include "base/units.h"
#include "report/cell.h"
#include "report/status_report.h"

#include <inttypes.h>
#include <stdio.h>

/* A command gets as much as it wants, up to COMMAND_WANTED, before a third kind gets a column. */
enum { USER_COLUMNS = 8, COMMAND_MIN = 12, COMMAND_WANTED = 24, COLUMNS_MAX = TDM_KIND_COUNT };

/* Which kinds have a column. */
struct columns {
	uint8_t kinds[COLUMNS_MAX];
	size_t count;
	size_t command; /* columns of the command; 0: nothing is cut */
};

static bool is_known_amount(uint64_t bytes)
{
	return bytes != TDM_BYTES_UNKNOWN && bytes != 0;
}

/* A kind that nobody has anything of needs no column; DRAM and L1 are always there. */
static bool is_used(const struct tdm_picture *picture, size_t kind)
{
	if (kind == TDM_KIND_DRAM || kind == TDM_KIND_L1)
		return true;
	for (size_t i = 0; i < picture->holding_count; i++)
		if (is_known_amount(picture->holdings[i].kinds[kind].used))
			return true;
	for (size_t i = 0; i < picture->device_count; i++)
		if (is_known_amount(picture->devices[i].kinds[kind].unattributed) ||
			is_known_amount(picture->devices[i].kinds[kind].stale))
			return true;
	return false;
}

static const char *command_of(const struct tdm_picture_process *process)
{
	return process->command[0] != '\0' ? process->command : process->comm;
}

/* The length of the program's path: up to a blank behind the process's name, as folders may have blanks. */
static size_t program_length(const char *command, const char *comm)
{
	enum { COMM_MAX = 15 }; /* Linux cuts it there */
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

/* A command that does not fit goes without the folders of its program and of paths. Returns it, or `dst`. */
static const char *shortened(const struct tdm_picture_process *process, size_t columns, char dst[TDM_COMMAND_CAP])
{
	const char *command = command_of(process);
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

static size_t wanted_columns(const struct tdm_status_report *report)
{
	const struct tdm_picture *picture = report->picture;
	size_t most = COMMAND_MIN;
	for (size_t p = 0; p < picture->process_count && most < COMMAND_WANTED; p++) {
		char text[TDM_COMMAND_CAP];
		size_t len = strlen(shortened(&picture->processes[p], 0, text));
		if (len > most && tdm_pick_takes_process(&report->pick, picture, p))
			most = len;
	}
	return most < COMMAND_WANTED ? most : COMMAND_WANTED;
}

/* In the order of how much they tell, as many as there is room for. */
static void choose_columns(const struct tdm_status_report *report, struct columns *columns)
{
	static const enum tdm_kind order[] = { TDM_KIND_DRAM, TDM_KIND_L1, TDM_KIND_CB, TDM_KIND_TRACE,
		TDM_KIND_L1_SMALL, TDM_KIND_KERNEL, TDM_KIND_DFB, TDM_KIND_SCRATCHPAD, TDM_KIND_SYSTEM, TDM_KIND_CONFIG,
		TDM_KIND_FIRMWARE };
	/* "   PID User     Dev     Age Src" and a blank before the command */
	size_t taken = 7 + 1 + USER_COLUMNS + 1 + 3 + 1 + TDM_DURATION_COLUMNS + 4 + 2;
	size_t wanted = wanted_columns(report);
	*columns = (struct columns){ .count = 0 };
	for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
		if (!is_used(report->picture, order[i]))
			continue;
		if (columns->count >= 2 && taken + 11 + wanted > report->term.width)
			break;
		columns->kinds[columns->count++] = (uint8_t)order[i];
		taken += 11;
	}
	columns->command = report->term.width > taken + COMMAND_MIN ? report->term.width - taken : COMMAND_MIN;
}

static void put_head(const struct tdm_status_report *report, const struct columns *columns, struct tdm_buf *out)
{
	tdm_buf_printf(out, "\n%s%7s %-*s %3s %*s", tdm_term_style(&report->term, TDM_STYLE_DIM), "PID", USER_COLUMNS,
		"User", "Dev", TDM_DURATION_COLUMNS, "Age");
	for (size_t i = 0; i < columns->count; i++)
		tdm_buf_printf(out, " %10s", tdm_kind_name((enum tdm_kind)columns->kinds[i]));
	tdm_buf_printf(out, " Src  Command%s\n", tdm_term_style(&report->term, TDM_STYLE_OFF));
}

static void put_amount(struct tdm_buf *out, uint64_t bytes)
{
	char text[TDM_BYTES_CAP];
	if (bytes == TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out, " %10s", "-");
	else
		tdm_buf_printf(out, " %s", tdm_format_bytes(text, sizeof text, bytes));
}

static void put_who(const struct tdm_status_report *report, const struct tdm_picture_process *process,
	const char *device, struct tdm_buf *out)
{
	char age[TDM_DURATION_CAP] = "-";
	uint64_t now = report->picture->real_ns;
	tdm_buf_printf(out, "%7" PRId32 " ", process->pid);
	size_t used = tdm_cell_put(out, tdm_str_of(process->user), USER_COLUMNS, report->term.utf8);
	tdm_buf_fill(out, ' ', USER_COLUMNS - used);
	if (process->life == TDM_LIFE_ENDED)
		snprintf(age, sizeof age, "%s", process->crashed ? "crashed" : "ended");
	else if (process->started_ns != 0 && process->started_ns <= now)
		tdm_format_duration(age, sizeof age, now - process->started_ns);
	tdm_buf_printf(out, " %3s %*s", device, TDM_DURATION_COLUMNS, age);
}

/* Which sources say what the row says: "L", "S", or both where kinds differ. "D" alone: it has the card open. */
static void put_sources(const struct tdm_holding *holding, struct tdm_buf *out)
{
	char text[TDM_FROM_COUNT + 1];
	size_t count = 0;
	for (uint8_t from = TDM_FROM_LEDGER; from < TDM_FROM_COUNT; from++) {
		bool any = false;
		for (size_t k = 0; k < TDM_KIND_COUNT; k++)
			any |= holding->kinds[k].from == from && holding->kinds[k].used != TDM_BYTES_UNKNOWN;
		if (any)
			text[count++] = tdm_status_letter(from);
	}
	if (count == 0 && holding->descriptors != 0)
		text[count++] = tdm_status_letter(TDM_FROM_DRIVER);
	if (count == 0)
		text[count++] = '-';
	text[count] = '\0';
	tdm_buf_printf(out, " %-3s", text);
}

static void put_command(const struct tdm_status_report *report, const struct tdm_picture_process *process,
	const struct columns *columns, struct tdm_buf *out)
{
	char text[TDM_COMMAND_CAP];
	const char *command = shortened(process, columns->command, text);
	tdm_buf_puts(out, "  ");
	tdm_cell_put(out, tdm_str_of(command), columns->command, report->term.utf8);
	tdm_cell_trim(out);
	tdm_buf_putc(out, '\n');
}

static void put_holding(const struct tdm_status_report *report, const struct tdm_holding *holding,
	const struct columns *columns, struct tdm_buf *out)
{
	const struct tdm_picture_process *process = &report->picture->processes[holding->process];
	char device[16];
	snprintf(device, sizeof device, "#%" PRIu32, holding->device);
	put_who(report, process, device, out);
	for (size_t i = 0; i < columns->count; i++)
		put_amount(out, holding->kinds[columns->kinds[i]].used);
	put_sources(holding, out);
	put_command(report, process, columns, out);
}

static uint64_t extra_of(const struct tdm_picture_kind *kind, bool stale)
{
	return stale ? kind->stale : kind->unattributed;
}

/* A row of what is in no process; nothing where it is 0 or not known. */
static void put_extra(const struct tdm_status_report *report, size_t i, bool stale, const struct columns *columns,
	struct tdm_buf *out)
{
	const struct tdm_picture_device *device = &report->picture->devices[i];
	bool any = false;
	for (size_t k = 0; k < TDM_KIND_COUNT; k++)
		any |= is_known_amount(extra_of(&device->kinds[k], stale));
	if (!any)
		return;
	char name[24];
	snprintf(name, sizeof name, "#%zu", i);
	tdm_buf_printf(out, "%-*s %3s %*s", 7 + 1 + USER_COLUMNS, stale ? "    stale" : "    unattributed", name,
		TDM_DURATION_COLUMNS, "");
	for (size_t c = 0; c < columns->count; c++)
		put_amount(out, extra_of(&device->kinds[columns->kinds[c]], stale));
	tdm_buf_printf(out, " %-3s", "");
	const char *what = stale ? "left by ended processes" : "in no process that is listed";
	if (columns->command >= strlen(what))
		tdm_buf_printf(out, "  %s", what);
	tdm_cell_trim(out);
	tdm_buf_putc(out, '\n');
}

void tdm_status_processes(const struct tdm_status_report *report, struct tdm_buf *out)
{
	const struct tdm_picture *picture = report->picture;
	struct columns columns;
	size_t start = out->len;
	choose_columns(report, &columns);
	put_head(report, &columns, out);
	size_t headed = out->len;
	for (size_t p = 0; p < picture->process_count; p++) {
		const struct tdm_picture_process *process = &picture->processes[p];
		for (size_t i = 0; i < process->holding_count; i++)
			if (tdm_pick_takes_holding(&report->pick, picture, process->first_holding + i))
				put_holding(report, &picture->holdings[process->first_holding + i], &columns, out);
		if (process->holding_count == 0 && tdm_pick_takes_process(&report->pick, picture, p)) {
			put_who(report, process, "-", out);
			for (size_t i = 0; i < columns.count; i++)
				put_amount(out, TDM_BYTES_UNKNOWN);
			tdm_buf_printf(out, " %-3s", "-");
			put_command(report, process, &columns, out);
		}
	}
	for (size_t i = 0; i < picture->device_count && report->pick.pid == 0; i++) {
		if (!tdm_pick_takes_device(&report->pick, picture, i))
			continue;
		put_extra(report, i, false, &columns, out);
		put_extra(report, i, true, &columns, out);
	}
	if (out->len != headed || tdm_buf_failed(out))
		return;
	out->len = start;
	tdm_buf_puts(out, "\nNo process is known to use a device.\n");
}
