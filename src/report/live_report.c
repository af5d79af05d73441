#include "report/live_report.h"
#include "report/cell.h"
#include "report/live_cells.h"
#include "report/report_put.h"
#include "report/runtime_report.h"
#include "report/stack_report.h"
#include "report/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* Anybody can make any number of files: at most UNREAD_SHOWN of those that cannot be read are named. */
enum { DEVICE_COLUMNS = 16, STACK_INDENT = 8, UNREAD_SHOWN = 10 };

/* A count that is worth mentioning unless it is 0. */
struct item {
	uint64_t count;
	const char *one, *many;
};

/* "  3 double frees, 1 re-report", or nothing. Returns whether it wrote anything. */
static bool put_items(struct tdm_buf *out, const struct item *items, size_t count)
{
	bool any = false;
	for (size_t i = 0; i < count; i++) {
		if (items[i].count == 0)
			continue;
		tdm_buf_puts(out, any ? ", " : "  ");
		tdm_put_count(out, items[i].count, items[i].one, items[i].many);
		any = true;
	}
	return any;
}

void tdm_live_site(
	const struct tdm_live_list *of, const char *name, uint32_t stack, const char *none, struct tdm_buf *out)
{
	size_t start = out->len;
	tdm_buf_puts(out, name);
	if (name[0] == '\0')
		tdm_stack_site(of->report->picture, of->sym, stack, true, out);
	if (out->len == start)
		tdm_buf_puts(out, none);
}

void tdm_live_json_stack(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_live_list *of = field->table->context;
	tdm_stack_json(of->report->picture, of->sym, (uint32_t)tdm_field_member(field).number, json);
}

void tdm_live_put_stack(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_live_list *of = field->table->context;
	if (of->report->stacks)
		tdm_stack_text(
			of->report->picture, of->sym, (uint32_t)tdm_field_member(field).number, STACK_INDENT, out);
}

const char *tdm_live_state(uint8_t life)
{
	return life == TDM_LIFE_RUNS ? "running" : life == TDM_LIFE_ENDED ? "ended" : NULL;
}

/* "Process 4242: command", then its state and losses. */
static void put_head(
	const struct tdm_live_report *report, const struct tdm_picture_process *process, struct tdm_buf *out)
{
	const struct tdm_process *who = process->who;
	const struct tdm_term *term = &report->term;
	uint64_t age_ns = tdm_live_age(report->picture, who->started_ns);
	/* Losses of the tracking itself. */
	const struct item losses[] = { { process->lost, "lost event", "lost events" },
		{ who->lost_texts, "lost name or stack", "lost names or stacks" },
		{ process->refused, "damaged record", "damaged records" },
		{ who->frees_inherited, "free from before a fork", "frees from before a fork" } };
	tdm_buf_printf(out, "%sProcess %" PRId32 "%s", tdm_term_style(term, TDM_STYLE_BOLD), process->pid,
		tdm_term_style(term, TDM_STYLE_OFF));
	if (who->generation != 0 && !who->is_renewed)
		tdm_buf_printf(out, ", program %" PRIu32, who->generation + 1);
	tdm_buf_puts(out, process->is_claimed ? " (claimed): " : ": ");
	tdm_cell_text(out, tdm_picture_command(process), term->utf8);
	tdm_buf_puts(out, "\n  ");
	if (who->life == TDM_LIFE_ENDED)
		tdm_put_styled(out, term, TDM_STYLE_YELLOW,
			process->crashed    ? "killed or crashed, or left by _exit (post-mortem)"
			: process->replaced ? "replaced by exec (post-mortem)"
			: who->is_on_behalf ? "ended (post-mortem)"
					    : "ended by itself (post-mortem)");
	else
		tdm_buf_puts(out, who->life == TDM_LIFE_RUNS ? "alive" : "not known whether it is alive");
	tdm_buf_puts(out, who->is_on_behalf ? ", written by a daemon" : "");
	tdm_buf_printf(out, ", user %" PRIu32, who->uid);
	if (age_ns != TDM_BYTES_UNKNOWN)
		tdm_buf_printf(out, ", tracking began %s ago", TDM_TIME_TEXT(age_ns));
	tdm_buf_puts(out, process->phase[0] != '\0' ? ", phase " : "");
	tdm_cell_text(out, process->phase, term->utf8);
	tdm_buf_putc(out, '\n');
	if (process->is_claimed)
		tdm_buf_printf(out, "  %s\n", tdm_picture_claim(who));
	if (who->as_of_ns != 0)
		tdm_buf_printf(out, "  no daemon writes its figures any more: they are %s old\n",
			TDM_TIME_TEXT(tdm_live_age(report->picture, who->as_of_ns)));
	if (who->is_renewed)
		tdm_buf_puts(out, "  its ledger was deleted while it ran, and made anew\n");
	if (put_items(out, losses, sizeof losses / sizeof *losses))
		tdm_buf_putc(out, '\n');
}

/* The kinds of a process. */
struct kind {
	const struct tdm_holding *holding;
	const struct tdm_picture_device *device;
	const struct tdm_picture_amount *amount;
	uint8_t kind;
};

struct kinds {
	const struct tdm_live_report *report;
	const struct tdm_holding *holdings;
	struct kind *row; /* being written */
};

static const void *kind_row(const struct tdm_table *table, size_t i)
{
	const struct kinds *of = table->context;
	const struct tdm_holding *holding = &of->holdings[i / TDM_KIND_COUNT];
	uint8_t k = (uint8_t)(i % TDM_KIND_COUNT);
	*of->row = (struct kind){ holding, &of->report->picture->devices[holding->device], &holding->kinds[k], k };
	return of->row;
}

static bool takes_device(const struct tdm_live_report *report, const struct tdm_holding *holding)
{
	return !report->filter.has_device || report->filter.device == holding->number;
}

/* Leaves out kinds that were never used, or that the filter excludes. */
static bool skip_kind(const struct tdm_table *table, const void *row)
{
	const struct tdm_live_report *report = ((const struct kinds *)table->context)->report;
	const struct kind *kind = row;
	const struct tdm_picture_amount *f = kind->amount;
	return f->from != TDM_FROM_LEDGER || !takes_device(report, kind->holding) ||
	       (report->filter.has_kind && report->filter.kind != kind->kind) ||
	       (f->allocs | f->buffers | f->peak_buffers | f->double_frees | f->unknown_frees | f->rereports |
		       f->out_of_memory) == 0;
}

static const char *card_of(const struct tdm_picture_device *device)
{
	return device->info != NULL ? device->info->card : "";
}

/* "0 (n150) virtual", or "0 (n150) closed" of a process that goes on without it */
static void put_device(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct kind *kind = field->row;
	const struct tdm_picture *picture = ((const struct kinds *)field->table->context)->report->picture;
	const char *card = card_of(kind->device);
	bool is_closed = kind->holding->life == TDM_STEP_CLOSED &&
			 tdm_picture_counts(&picture->processes[kind->holding->process]);
	tdm_buf_printf(out, card[0] != '\0' ? "%" PRIu32 " (%s)%s" : "%" PRIu32 "%s%s", kind->holding->number, card,
		kind->device->is_virtual ? " virtual"
		: is_closed              ? " closed"
					 : "");
}

static struct tdm_value get_exact(const struct tdm_field *field)
{
	const struct tdm_picture_amount *amount = ((const struct kind *)field->row)->amount;
	return (struct tdm_value){ TDM_VALUE_BOOL, { .yes = !amount->is_inexact && !amount->is_estimated } };
}

static void put_faults(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_picture_amount *f = ((const struct kind *)field->row)->amount;
	const struct item faults[] = { { f->adopted, "buffer from before the tracking",
					       "buffers from before the tracking" },
		{ f->double_frees, "double free", "double frees" },
		{ f->unknown_frees, "unknown free", "unknown frees" }, { f->rereports, "re-report", "re-reports" },
		{ f->out_of_memory, "out-of-memory note", "out-of-memory notes" } };
	size_t start = out->len;
	tdm_buf_fill(out, ' ', DEVICE_COLUMNS + 2);
	bool any = put_items(out, faults, sizeof faults / sizeof *faults);
	if (f->out_of_memory != 0)
		tdm_buf_printf(out, " (the last for %s)", TDM_SIZE_TEXT(f->oom_bytes));
	if (f->is_inexact)
		tdm_buf_printf(out, "%sthe buffers changed while they were read", any ? ", " : "  ");
	if (f->is_estimated)
		tdm_buf_printf(out, "%swhat some buffers take is not known", any || f->is_inexact ? ", " : "  ");
	if (any || f->is_inexact || f->is_estimated)
		tdm_buf_putc(out, '\n');
	else
		out->len = start;
}

#define KIND(member) TDM_VIA(struct kind, amount, struct tdm_picture_amount, member)
#define COUNT        .before = 1, TDM_COUNT(10), .flags = TDM_WHOLE
static const struct tdm_column kind_columns[] = {
	{ "Device", NULL, .text = put_device, .below = put_faults, .width = DEVICE_COLUMNS },
	{ "Kind", "kind", TDM_MEMBER(struct kind, kind), .flags = TDM_IS_KIND, .width = 10 },
	{ NULL, "source", KIND(from), .get = tdm_get_source },
	{ "Live", "reserved_bytes", KIND(used), .before = 1, TDM_BYTES },
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
	{ NULL, "last_out_of_memory_bytes", KIND(oom_bytes), TDM_KNOWN_IF(struct tdm_picture_amount, out_of_memory) },
	{ NULL, "exact", .get = get_exact },
	{ NULL, "estimated", KIND(is_estimated) },
};

static struct tdm_table kind_table(const struct kinds *of, size_t holdings)
{
	return (struct tdm_table){ TDM_COLUMNS(kind_columns), .row = kind_row, .count = holdings * TDM_KIND_COUNT,
		.skip = skip_kind, .context = of, .units = TDM_UNITS_ROW, .above = "\n", .indent = 2 };
}

static void json_device(const struct tdm_live_report *report, const struct tdm_holding *holding, struct tdm_json *json)
{
	const struct tdm_picture_device *device = &report->picture->devices[holding->device];
	const struct kinds of = { report, holding, &(struct kind){ 0 } };
	const struct tdm_table table = kind_table(&of, 1);
	if (!takes_device(report, holding))
		return;
	tdm_json_object(json);
	tdm_json_put_u64(json, "device", holding->number);
	tdm_json_put_u64(json, "own_number", holding->own_number);
	tdm_json_put_bool(json, "virtual", device->is_virtual);
	tdm_json_put_name(json, "card", card_of(device));
	tdm_json_put_known(json, "chip_id", device->has_chip_id, device->chip_id);
	tdm_json_put_table(json, "kinds", &table);
	tdm_runtime_holding_json(report->picture, holding, json);
	tdm_json_object_end(json);
}

/* Processes. */

static void json_boot_id(struct tdm_json *json, const uint8_t id[16])
{
	char text[40];
	size_t at = 0;
	for (int i = 0; i < 16; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, "%s%02x",
			i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", (unsigned)id[i]);
	tdm_json_put_name(json, "boot_id", text);
}

static void json_process(
	const struct tdm_live_report *report, const struct tdm_picture_process *process, struct tdm_json *json)
{
	const struct tdm_process *who = process->who;
	tdm_json_put_u64(json, "pid", (uint64_t)process->pid);
	tdm_json_put_bool(json, "claimed", process->is_claimed);
	tdm_json_put_u64(json, "start_time", who->start_time);
	tdm_json_put_u64(json, "generation", who->generation);
	tdm_json_put_u64(json, "pid_namespace", who->pid_namespace);
	json_boot_id(json, who->boot_id);
	tdm_json_put_u64(json, "uid", who->uid);
	tdm_json_put_name(json, "comm", who->comm);
	tdm_json_put_name(json, "command", who->command);
	tdm_json_put_name(json, "state", tdm_live_state(who->life));
	tdm_json_put_bool(json, "closed", who->closed);
	tdm_json_put_bool(json, "replaced", process->replaced);
	tdm_json_put_name(json, "ledger", process->ledger);
	tdm_json_put_name(json, "phase", process->phase);
	tdm_json_put_u64(json, "lost_events", process->lost);
	tdm_json_put_u64(json, "lost_texts", who->lost_texts);
	tdm_json_put_u64(json, "damaged_records", process->refused);
	tdm_json_put_u64(json, "frees_inherited", who->frees_inherited);
	tdm_json_put_bool(json, "mode_refused", who->mode_refused);
	tdm_json_put_bool(json, "ring_refused", who->ring_refused);
	tdm_json_put_bool(json, "renewed", who->is_renewed);
	tdm_json_put_bool(json, "on_behalf", who->is_on_behalf);
	tdm_json_put_known(json, "figures_age_ns", who->as_of_ns != 0, tdm_live_age(report->picture, who->as_of_ns));
}

void tdm_live_text_processes(const struct tdm_live_report *report, tdm_live_part part, struct tdm_buf *out)
{
	for (size_t i = 0; i < report->picture->process_count; i++) {
		const struct tdm_picture_process *process = &report->picture->processes[i];
		const struct kinds of = { report,
			process->holding_count != 0 ? &report->picture->holdings[process->first_holding] : NULL,
			&(struct kind){ 0 } };
		const struct tdm_table kinds = kind_table(&of, process->holding_count);
		tdm_buf_puts(out, i != 0 ? "\n" : "");
		put_head(report, process, out);
		tdm_table_text(&kinds, &report->term, out);
		part(report, i, out, NULL);
	}
}

void tdm_live_json_processes(const struct tdm_live_report *report, tdm_live_part part, struct tdm_json *json)
{
	tdm_json_put_array(json, "processes");
	for (size_t i = 0; i < report->picture->process_count; i++) {
		const struct tdm_picture_process *process = &report->picture->processes[i];
		if (report->by_user && process->uid != report->uid)
			continue;
		tdm_json_object(json);
		json_process(report, process, json);
		tdm_json_put_array(json, "devices");
		for (uint32_t h = 0; h < process->holding_count; h++)
			json_device(report, &report->picture->holdings[process->first_holding + h], json);
		tdm_json_array_end(json);
		part(report, i, json->out, json);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

/* Missing processes and ledgers. */

void tdm_live_none(const struct tdm_live_report *report, struct tdm_buf *out)
{
	uint64_t others = report->picture->others;
	if (others != 0)
		tdm_buf_printf(out, "no ledger in %s is of a process that was asked for; %s of others %s there\n",
			report->dir, TDM_COUNT_TEXT(others), others == 1 ? "is" : "are");
	else if (tdm_picture_hides(report->picture))
		tdm_buf_printf(out,
			"no ledgers in %s: they hide processes from those without the token (--token-file)\n",
			report->dir);
	else
		tdm_buf_printf(out,
			"no ledgers in %s: no tracked program runs, and none has left buffers behind\n"
			"(a program is tracked when it uses libtidemark and TIDEMARK=1 is set; 'tidemark run -- CMD' "
			"does that)\n",
			report->dir);
}

size_t tdm_live_unread_count(const struct tdm_live_report *report)
{
	size_t count = 0;
	for (size_t i = 0; i < report->picture->problem_count; i++)
		count += report->picture->problems[i].is_unread;
	return count;
}

void tdm_live_unread(const struct tdm_live_report *report, struct tdm_buf *out)
{
	size_t count = tdm_live_unread_count(report);
	size_t named = 0;
	bool is_denied = false;
	if (count != 0 && report->picture->hosts != NULL)
		tdm_buf_puts(out, "Machines that do not answer, and ledgers that could not be read:\n");
	else if (count != 0)
		tdm_buf_printf(out, "%s that could not be read:\n", count == 1 ? "A ledger" : "Ledgers");
	for (size_t i = 0; i < report->picture->problem_count; i++) {
		const struct tdm_picture_problem *problem = &report->picture->problems[i];
		if (!problem->is_unread)
			continue;
		/* Every machine that does not answer is named. */
		if (named < UNREAD_SHOWN || (report->picture->hosts != NULL && problem->err == -EHOSTUNREACH)) {
			named++;
			tdm_buf_puts(out, "  ");
			tdm_cell_text(out, problem->place, report->term.utf8);
			tdm_buf_printf(out, ": %s\n", problem->text);
		}
		is_denied |= problem->err == -EACCES || problem->err == -EPERM;
	}
	tdm_put_rest(out, count, named);
	for (size_t i = 0; i < report->picture->problem_count; i++)
		if (report->picture->problems[i].err == -EOVERFLOW && report->picture->problems[i].place[0] != '\0')
			tdm_buf_printf(
				out, "%s: %s\n", report->picture->problems[i].place, report->picture->problems[i].text);
	if (is_denied)
		tdm_buf_puts(out,
			"(a ledger that may not be read is another user's: look as that user or as root, or start the "
			"program with\nTIDEMARK_MODE=0644)\n");
}

static bool skip_read(const struct tdm_table *table, const void *row)
{
	(void)table;
	return !((const struct tdm_picture_problem *)row)->is_unread;
}

void tdm_live_json_problems(const struct tdm_live_report *report, struct tdm_json *json)
{
	static const struct tdm_column columns[] = {
		{ NULL, "ledger", TDM_MEMBER(struct tdm_picture_problem, place), .flags = TDM_ZERO_IS_UNKNOWN },
		{ NULL, "reason", TDM_MEMBER(struct tdm_picture_problem, text), .flags = TDM_ZERO_IS_UNKNOWN },
	};
	const struct tdm_table table = { TDM_COLUMNS(columns), report->picture->problems,
		sizeof *report->picture->problems, report->by_user ? 0 : report->picture->problem_count,
		.skip = skip_read };
	tdm_json_put_table(json, "unreadable", &table);
}
