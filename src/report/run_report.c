/* The views of `run`: how the program ended, and the peaks and remaining memory of each of its processes. */
#include "analyze/finding.h"
#include "report/cell.h"
#include "report/live_report.h"
#include "report/report_put.h"
#include "report/runtime_report.h"
#include "report/stack_report.h"
#include "report/table.h"

#include <inttypes.h>
#include <stdlib.h>

enum { SITES_SHOWN = 20 };

static struct tdm_value get_name(const struct tdm_field *field)
{
	const struct tdm_live_list *of = field->table->context;
	return tdm_value_text(tdm_picture_text(of->report->picture, ((const struct tdm_site *)field->row)->name));
}

static struct tdm_value get_age(const struct tdm_field *field)
{
	const struct tdm_live_list *of = field->table->context;
	return tdm_value_number(tdm_live_age(of->report->picture, tdm_field_member(field).number));
}

static void put_site(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_site *site = field->row;
	tdm_live_site(field->table->context, get_name(field).text.ptr, site->stack, "(no name)", out);
}

#define SITE(member) TDM_MEMBER(struct tdm_site, member)
static const struct tdm_column columns[] = {
	{ "Kind", "kind", SITE(kind), .flags = TDM_IS_KIND, .width = 10 },
	{ NULL, "name", .get = get_name, .flags = TDM_ZERO_IS_UNKNOWN },
	{ "Buffers", "buffers", SITE(count), TDM_COUNT(10), .flags = TDM_WHOLE },
	{ "Reserved", "reserved_bytes", SITE(reserved_bytes), TDM_BYTES },
	{ NULL, "asked_bytes", SITE(asked_bytes) },
	{ "Oldest", "oldest_age_ns", SITE(oldest_ns), .get = get_age, TDM_DURATION(TDM_DURATION_COLUMNS),
		.flags = TDM_WHOLE },
	{ "Site", NULL, .text = put_site, .before = 1 },
	TDM_LIVE_STACK(SITE(stack)),
};

/* Whether a hook of the preload was called. */
static bool is_hooked(const struct tdm_live_report *report, const struct tdm_picture_process *process)
{
	for (size_t i = 0; i < process->note_count; i++) {
		const struct tdm_picture_note *note = &process->notes[i];
		if (!note->is_remark && note->value != 0 &&
			tdm_has_prefix(tdm_picture_text(report->picture, note->text), "metal:"))
			return true;
	}
	return false;
}

/* What the runtime in a process, or the preload, remarked and counted: as text the remarks alone. */
static void put_notes(const struct tdm_live_report *report, size_t process, struct tdm_buf *out, struct tdm_json *json)
{
	const struct tdm_picture_process *shown = &report->picture->processes[process];
	bool is_first = true, from_metal = false;
	for (int counters = 0; json != NULL && counters < 2; counters++) {
		tdm_json_put_array(json, counters ? "counters" : "remarks");
		for (size_t i = 0; i < shown->note_count; i++) {
			const struct tdm_picture_note *note = &shown->notes[i];
			const char *text = tdm_picture_text(report->picture, note->text);
			if (note->is_remark == (counters != 0))
				continue;
			if (!counters) {
				tdm_json_text(json, text);
				continue;
			}
			tdm_json_object(json);
			tdm_json_put_text(json, "name", text);
			tdm_json_put_u64(json, "value", note->value);
			tdm_json_object_end(json);
		}
		tdm_json_array_end(json);
	}
	for (size_t i = 0; json == NULL && i < shown->note_count; i++) {
		const char *text = tdm_picture_text(report->picture, shown->notes[i].text);
		if (!shown->notes[i].is_remark)
			continue;
		from_metal |= tdm_has_prefix(text, "metal:");
		tdm_buf_puts(out, is_first ? "\n  " : "  ");
		is_first = false;
		tdm_cell_text(out, text, report->term.utf8);
		tdm_buf_putc(out, '\n');
	}
	if (from_metal && !is_hooked(report, shown))
		tdm_buf_puts(out, "  metal: none of the hooked functions was called: nothing of tt-metal is in these "
				  "figures\n");
}

/* Whether it closed a device with live buffers, which the runtime released: a finding says so. */
static bool has_left(const struct tdm_picture *picture, const struct tdm_picture_process *process)
{
	for (uint32_t i = 0; i < process->holding_count; i++)
		if (picture->holdings[process->first_holding + i].left != 0)
			return true;
	return false;
}

/* The sites of a process that still hold memory, as text or as the value of a key. */
static void put_sites(const struct tdm_live_report *report, size_t process, struct tdm_buf *out, struct tdm_json *json)
{
	const struct tdm_picture_process *shown = &report->picture->processes[process];
	bool runs = shown->life == TDM_LIFE_RUNS;
	struct tdm_site *sites;
	struct tdm_live_list of = { report, NULL };
	struct tdm_table table = { TDM_COLUMNS(columns), .stride = sizeof *sites, .context = &of,
		.above = runs ? "\n  Live\n" : "\n  Never freed\n", .indent = 2, .gap = 1 };
	uint64_t rest = 0;
	size_t count;
	put_notes(report, process, out, json);
	out->failed |= tdm_sites_find(report->picture, (uint32_t)process, &sites, &count) != 0;
	table.rows = sites;
	of.sym = count != 0 ? tdm_stack_symbolizer(report->picture, process) : NULL;
	table.count = json == NULL && count > SITES_SHOWN ? SITES_SHOWN : count;
	if (json != NULL)
		tdm_json_put_table(json, "live_sites", &table);
	else
		tdm_table_text(&table, &report->term, out);
	for (size_t i = table.count; i < count; i++)
		rest = tdm_plus(rest, sites[i].reserved_bytes != TDM_BYTES_UNKNOWN ? sites[i].reserved_bytes : 0);
	if (table.count < count)
		tdm_buf_printf(
			out, "  and %s more with %s\n", TDM_COUNT_TEXT(count - table.count), TDM_SIZE_TEXT(rest));
	if (json == NULL && count == 0 && shown->lost + shown->refused != 0)
		tdm_buf_puts(out, "\n  it is not known whether every buffer was freed: reports are missing\n");
	else if (json == NULL && count == 0)
		tdm_buf_puts(out, runs                               ? "\n  no live buffers\n"
				  : has_left(report->picture, shown) ? "\n  no live buffers at the end\n"
								     : "\n  every buffer was freed\n");
	tdm_symbolizer_free(of.sym);
	free(sites);
}

/* What is said about a process below its figures. */
static void put_process(
	const struct tdm_live_report *report, size_t process, struct tdm_buf *out, struct tdm_json *json)
{
	uint32_t index = (uint32_t)process;
	put_sites(report, process, out, json);
	if (json == NULL) {
		tdm_runtime_findings_text(report, index, TDM_FINDING_OK, out);
		tdm_runtime_sizes_text(report, index, out);
		return;
	}
	tdm_json_put_array(json, "findings");
	tdm_runtime_findings_json(report->picture, index, true, json);
	tdm_json_array_end(json);
	tdm_runtime_sizes_json(report->picture, index, json);
}

static void put_end(const struct tdm_live_report *report, const struct tdm_run_end *end, struct tdm_buf *out)
{
	const char *name = end->signal != 0 ? sigabbrev_np(end->signal) : NULL;
	tdm_buf_puts(out, "tidemark: ");
	tdm_cell_text(out, end->command[0], report->term.utf8);
	if (end->signal != 0)
		tdm_buf_printf(out, " was killed by signal %d", end->signal);
	else
		tdm_buf_printf(out, " ended with code %d", end->exit_code);
	if (name != NULL)
		tdm_buf_printf(out, " (SIG%s)", name);
	tdm_buf_printf(out, " after %s\n", TDM_TIME_TEXT(end->took_ns));
	if (end->still_running != 0)
		tdm_buf_printf(out,
			"tidemark: %" PRIu64 " of its processes still run%s; their figures are those of now\n",
			end->still_running, end->still_running == 1 ? "s" : "");
	if (!end->has_left)
		return;
	tdm_buf_puts(out, "tidemark: still running, without a report so far:");
	for (size_t i = 0; i < end->left_count; i++) {
		tdm_buf_printf(out, "%s %" PRId32 " (", i != 0 ? "," : "", end->left[i].pid);
		tdm_cell_text(out, end->left[i].comm, report->term.utf8);
		tdm_buf_putc(out, ')');
	}
	tdm_buf_puts(out, end->left_count == 0 ? " processes that it started\n" : "\n");
}

/* Why there is nothing to report. */
static void put_nothing(const struct tdm_live_report *report, const struct tdm_run_end *end, struct tdm_buf *out)
{
	tdm_buf_puts(out, "tidemark: it made no ledger: it reported no device memory. ");
	if (end->bar != NULL) {
		tdm_cell_text(out, end->program, report->term.utf8);
		tdm_buf_printf(out, " %s\n", end->bar);
	} else
		tdm_buf_puts(
			out, end->is_preloaded
				     ? "Programs are seen when they load tt-metal or are\n"
				       "tidemark: built with libtidemark; static and setuid programs, and those "
				       "that set TIDEMARK=0, are not.\n"
				       "tidemark: `tidemark doctor --metal LIBRARY` says whether a build of tt-metal "
				       "can be watched.\n"
				     : "Programs are seen when they, or the runtime that\n"
				       "tidemark: they use, are built with libtidemark; setuid programs, and "
				       "those that set TIDEMARK=0, are not.\n");
}

void tdm_run_text(const struct tdm_live_report *report, const struct tdm_run_end *end, struct tdm_buf *out)
{
	put_end(report, end, out);
	tdm_buf_puts(out, report->picture->process_count != 0 ? "\n" : "");
	tdm_live_text_processes(report, put_process, out);
	if (end->unseen != NULL) {
		tdm_buf_puts(out, report->picture->process_count == 0 ? "tidemark: nothing was seen: "
								      : "\ntidemark: not all was seen: ");
		tdm_cell_text(out, end->unseen, report->term.utf8);
		tdm_buf_putc(out, '\n');
	} else if (report->picture->process_count == 0 && !end->has_left)
		put_nothing(report, end, out);
	tdm_live_unread(report, out);
}

void tdm_run_json(const struct tdm_live_report *report, const struct tdm_run_end *end, struct tdm_json *json)
{
	tdm_json_object(json);
	tdm_json_put_array(json, "command");
	for (size_t i = 0; end->command[i] != NULL; i++)
		tdm_json_text(json, end->command[i]);
	tdm_json_array_end(json);
	tdm_json_put_u64(json, "exit_code", (uint64_t)end->exit_code);
	tdm_json_put_known(json, "signal", end->signal != 0, (uint64_t)end->signal);
	tdm_json_put_u64(json, "duration_ns", end->took_ns);
	tdm_json_put_u64(json, "still_running", end->still_running);
	tdm_json_put_bool(json, "preloaded", end->is_preloaded);
	tdm_json_put_text(json, "not_preloadable", end->bar);
	tdm_json_put_text(json, "not_seen", end->unseen);
	tdm_json_put_bool(json, "left_without_report", end->has_left);
	tdm_json_put_array(json, "left_pids");
	for (size_t i = 0; i < end->left_count; i++)
		tdm_json_u64(json, (uint64_t)end->left[i].pid);
	tdm_json_array_end(json);
	tdm_live_json_processes(report, put_process, json);
	tdm_live_json_problems(report, json);
	tdm_json_object_end(json);
}
