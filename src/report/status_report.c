/*
 * `tidemark status`. The text has a block or a line for each device, then the processes, then the files that could not
 * be read. At 80 columns, sources are letters; wider terminals get words and bars. The last lines explain them.
 *
 * The JSON has the shape of a tt-smi snapshot, with strings as tt-smi writes them, so that programs that read snapshots
 * can read it; objects called "memory" are added, with bytes as numbers. Values that only the card's registers have are
 * unknown here: the card is never opened.
 */
#include "analyze/run_findings.h"
#include "base/err.h"
#include "base/wrap.h"
#include "report/cell.h"
#include "report/live_cells.h"
#include "report/report_put.h"
#include "report/runtime_report.h"
#include "report/status_report.h"
#include "tidemark_version.h"

#include <errno.h>
#include <inttypes.h>

enum { WIDE = 100, PROBLEMS_SHOWN = 5, FINDINGS_SHOWN = 5 };

bool tdm_status_is_wide(const struct tdm_status_report *report)
{
	return report->term.width >= WIDE;
}

char tdm_status_letter(uint8_t from)
{
	static const char letters[] = "-LSDMT"; /* as in TDM_FROM_LIST */
	_Static_assert(sizeof letters == TDM_FROM_COUNT + 1, "a letter for each source");
	return from < TDM_FROM_COUNT ? letters[from] : '-';
}

/* How many there are of what was asked for. */
struct counts {
	size_t devices, boards, processes;
};

static struct counts count_all(const struct tdm_status_report *report)
{
	const struct tdm_picture *picture = report->picture;
	struct counts counts = { 0 };
	for (size_t i = 0; i < picture->device_count; i++)
		if (tdm_pick_takes_device(&report->pick, picture, i))
			*(picture->devices[i].is_board ? &counts.boards : &counts.devices) += 1;
	for (size_t i = 0; i < picture->process_count; i++)
		counts.processes += tdm_pick_takes_process(&report->pick, picture, i);
	return counts;
}

static void put_head(const struct tdm_status_report *report, const struct counts *counts, struct tdm_buf *out)
{
	char when[TDM_TIME_CAP];
	tdm_put_styled(out, &report->term, TDM_STYLE_BOLD, "tidemark " TDM_VERSION_STRING);
	tdm_format_time(when, sizeof when, report->picture->real_ns);
	tdm_buf_printf(out, "%s%s: %zu device%s", when[0] != '\0' ? ", " : "", when, counts->devices,
		tdm_plural(counts->devices));
	if (counts->boards != 0)
		tdm_buf_printf(out, ", %zu card%s", counts->boards, tdm_plural(counts->boards));
	tdm_buf_printf(out, ", %zu %sprocess%s", counts->processes, tdm_picture_hides(report->picture) ? "listed " : "",
		tdm_plural_es(counts->processes));
	if (report->picture->hosts != NULL)
		tdm_buf_printf(
			out, " on %zu host%s", report->picture->host_count, tdm_plural(report->picture->host_count));
	if (report->machine != NULL && report->machine->driver[0] != '\0') {
		tdm_buf_puts(out, ", driver ");
		tdm_cell_put(out, tdm_str_of(report->machine->driver), 20, report->term.utf8);
	}
	tdm_buf_putc(out, '\n');
}

static void put_wrapped(const struct tdm_status_report *report, const char *text, struct tdm_buf *out)
{
	tdm_wrap(out, tdm_str_of(text), (struct tdm_wrap){ .width = report->term.width });
}

static void put_nothing(const struct tdm_status_report *report, struct tdm_buf *out)
{
	tdm_buf_putc(out, '\n');
	if (report->picture->hosts != NULL && report->picture->device_count == 0)
		tdm_buf_puts(out, tdm_picture_is_silent(report->picture)
					  ? "None of the machines has answered.\n"
					  : "The machines that answer have no device.\n");
	else if (report->picture->device_count == 0 && report->picture->process_count == 0)
		put_wrapped(report,
			"No card and no tracked process is visible: try 'tidemark demo', which needs no card, and see "
			"'tidemark doctor', which says what was looked for.",
			out);
	else if (report->pick.pid_count == 1)
		tdm_buf_printf(out, "No process %" PRId32 " is known to use a device.\n", report->pick.pids[0]);
	else if (report->pick.pid_count != 0)
		tdm_buf_puts(out, "None of the named processes is known to use a device.\n");
	else
		tdm_buf_puts(out, "None of the devices that are visible was asked for.\n");
}

static void put_problem(
	const struct tdm_status_report *report, const struct tdm_picture_problem *problem, struct tdm_buf *out)
{
	const char *why = problem->text[0] != '\0' ? problem->text : tdm_err_text(problem->err);
	struct tdm_buf text;
	tdm_buf_init(&text);
	tdm_cell_text(&text, problem->place, report->term.utf8);
	tdm_buf_puts(&text, problem->place[0] != '\0' ? ": " : "");
	tdm_cell_text(&text, why, report->term.utf8);
	tdm_buf_puts(out, "  ");
	tdm_wrap(out, tdm_buf_str(&text), (struct tdm_wrap){ .at = 2, .indent = 4, .width = report->term.width });
	out->failed |= tdm_buf_failed(&text);
	tdm_buf_done(&text);
}

static void put_problems(const struct tdm_status_report *report, struct tdm_buf *out)
{
	const struct tdm_picture *picture = report->picture;
	bool is_denied = false;
	size_t shown = 0;
	if (picture->problem_count == 0)
		return;
	tdm_buf_putc(out, '\n');
	tdm_put_styled(out, &report->term, TDM_STYLE_YELLOW, "Problems");
	tdm_buf_puts(out, picture->hosts == NULL ? " ('tidemark doctor' says more)\n" : "\n");
	for (size_t i = 0; i < picture->problem_count; i++) {
		const struct tdm_picture_problem *problem = &picture->problems[i];
		/* Every machine that does not answer is named. */
		if (i < PROBLEMS_SHOWN || (picture->hosts != NULL && problem->err == -EHOSTUNREACH)) {
			put_problem(report, problem, out);
			shown++;
		}
		is_denied |= (problem->from == TDM_FROM_LEDGER || problem->from == TDM_FROM_METAL_SHM) &&
			     (problem->err == -EACCES || problem->err == -EPERM);
	}
	tdm_put_rest(out, picture->problem_count, shown);
	if (is_denied)
		put_wrapped(report,
			"The figures leave out files of other users: more may be in use, and less may be free.", out);
}

/* "  4242 python3: sentence", with the machine if it is another, for each finding that is a warning or worse. */
static size_t put_process_findings(
	const struct tdm_status_report *report, size_t index, size_t shown, struct tdm_buf *out)
{
	const struct tdm_picture_process *process = &report->picture->processes[index];
	struct tdm_findings findings = { 0 };
	struct tdm_buf text;
	tdm_run_findings(report->picture, (uint32_t)index, &findings);
	tdm_buf_init(&text);
	for (size_t i = 0; i < findings.count && findings.list[i].severity >= TDM_FINDING_WARNING; i++, shown++) {
		if (shown == 0) {
			tdm_buf_putc(out, '\n');
			tdm_put_styled(out, &report->term, TDM_STYLE_YELLOW, "Findings");
			tdm_buf_puts(out, " ('tidemark dump' says what to do)\n");
		}
		if (shown >= FINDINGS_SHOWN)
			continue;
		tdm_buf_clear(&text);
		tdm_buf_printf(&text, "%s%s%" PRId32 " ", process->host != NULL ? process->host->name : "",
			process->host != NULL ? ": " : "", process->pid);
		tdm_cell_text(&text, process->comm, report->term.utf8);
		tdm_buf_puts(&text, ": ");
		tdm_cell_text(&text, findings.list[i].text, report->term.utf8);
		tdm_buf_puts(out, "  ");
		tdm_wrap(out, tdm_buf_str(&text),
			(struct tdm_wrap){ .at = 2, .indent = 4, .width = report->term.width });
	}
	out->failed |= tdm_buf_failed(&text);
	out->failed |= tdm_findings_done(&findings);
	tdm_buf_done(&text);
	return shown;
}

static void put_findings(const struct tdm_status_report *report, struct tdm_buf *out)
{
	size_t count = 0;
	for (size_t i = 0; i < report->picture->process_count; i++)
		if (tdm_pick_takes_process(&report->pick, report->picture, i))
			count = put_process_findings(report, i, count, out);
	tdm_put_rest(out, count, FINDINGS_SHOWN);
}

/* What a reader has to know about a text: bit n: enum tdm_from n; and rows that belong to no process. */
struct shown {
	uint32_t sources;
	bool unattributed, stale, estimates, clients; /* of a daemon */
};

static struct shown find_shown(const struct tdm_status_report *report)
{
	const struct tdm_picture *picture = report->picture;
	struct shown shown = { 0 };
	for (size_t i = 0; i < picture->device_count; i++) {
		const struct tdm_picture_device *device = &picture->devices[i];
		bool is_taken = !device->is_board && tdm_pick_takes_device(&report->pick, picture, i);
		for (size_t k = 0; k < TDM_KIND_COUNT && is_taken; k++) {
			const struct tdm_picture_kind *kind = &device->kinds[k];
			shown.sources |= UINT32_C(1) << kind->used_from | UINT32_C(1) << kind->total_from |
					 UINT32_C(1) << kind->rival_from;
			shown.unattributed |= tdm_is_some(kind->unattributed) && report->pick.pid_count == 0;
			shown.estimates |= kind->is_estimated;
			shown.stale |= tdm_is_some(kind->stale) && report->pick.pid_count == 0;
		}
	}
	for (size_t i = 0; i < picture->holding_count; i++)
		if (picture->holdings[i].descriptors != 0 &&
			picture->holdings[i].kinds[TDM_KIND_DRAM].used == TDM_BYTES_UNKNOWN &&
			tdm_status_shows_holding(report, i))
			shown.sources |= UINT32_C(1) << TDM_FROM_DRIVER;
	for (size_t i = 0; i < picture->process_count; i++)
		shown.clients |= picture->processes[i].is_on_behalf;
	return shown;
}

/* Explains the letters, words and marks that are there. */
static void put_legend(const struct tdm_status_report *report, bool is_short, struct tdm_buf *out)
{
	static const char *const texts[TDM_FROM_COUNT] = {
		[TDM_FROM_LEDGER] = "L ledger: tracked by libtidemark, bytes reserved",
		[TDM_FROM_METAL_SHM] =
			"S metal_shm: tt-metal's own statistics, bytes asked for; allocations of "
			"other threads may be missing, and the cb total may be the last writer's alone. ",
		[TDM_FROM_DRIVER] = "D driver: the process has the card open. ",
		[TDM_FROM_MODEL] = "M model: the card's tables. ",
		[TDM_FROM_CARD_TYPE] = "T card_type: the tables of the type that all cards have. ",
	};
	const struct shown shown = find_shown(report);
	struct tdm_buf text;
	tdm_buf_init(&text);
	if (is_short)
		tdm_buf_puts(&text, "L1 and CB use the same memory; its size is the last 'of'. '!': 90 % or more is "
				    "used, for CB in the fullest core. --long shows all figures. ");
	for (int from = TDM_FROM_LEDGER; from < TDM_FROM_COUNT; from++)
		if ((shown.sources >> from & 1) != 0) {
			tdm_buf_puts(&text, texts[from]);
			if (from == TDM_FROM_LEDGER)
				tdm_buf_puts(&text, shown.clients ? "; by tidemarkd, bytes asked for. " : ". ");
		}
	tdm_buf_puts(&text, is_short ? "'>': at least. '~': inferred, not counted."
				     : "'>': highest seen, it may have been more. '~': inferred, not counted.");
	if (shown.estimates)
		tdm_buf_puts(&text, " Bytes in use with '~' are an estimate: what some buffers take is not known, "
				    "and they count with what they asked for.");
	if (shown.unattributed)
		tdm_buf_puts(&text, " unattributed: in use, but by no listed process.");
	if (shown.stale)
		tdm_buf_puts(&text, " stale: left by ended processes, no longer on the device.");
	tdm_buf_printf(out, "\n%s", tdm_term_style(&report->term, TDM_STYLE_DIM));
	tdm_wrap(out, tdm_buf_str(&text), (struct tdm_wrap){ .width = report->term.width });
	tdm_buf_puts(out, tdm_term_style(&report->term, TDM_STYLE_OFF));
	out->failed |= tdm_buf_failed(&text);
	tdm_buf_done(&text);
}

void tdm_status_text(const struct tdm_status_report *report, struct tdm_buf *out)
{
	const struct tdm_picture *picture = report->picture;
	const struct counts counts = count_all(report);
	bool is_short = report->form == TDM_STATUS_SHORT ||
			(report->form == TDM_STATUS_AUTO && counts.devices > TDM_STATUS_BLOCKS_MAX);
	put_head(report, &counts, out);
	if (is_short && counts.devices != 0)
		tdm_status_lines(report, out);
	for (size_t i = 0; i < picture->device_count && !is_short; i++)
		if (!picture->devices[i].is_board && tdm_pick_takes_device(&report->pick, picture, i))
			tdm_status_device(report, i, out);
	if (counts.boards != 0)
		tdm_status_boards(report, out);
	if (counts.processes != 0 || counts.devices != 0 || counts.boards != 0)
		tdm_status_processes(report, out);
	else
		put_nothing(report, out);
	put_findings(report, out);
	put_problems(report, out);
	if (counts.devices != 0 || counts.boards != 0)
		put_legend(report, is_short, out);
}

void tdm_status_json_sources(const struct tdm_field *field, struct tdm_json *json)
{
	uint64_t sources = tdm_field_member(field).number;
	tdm_json_array(json);
	for (uint8_t from = TDM_FROM_LEDGER; from < TDM_FROM_COUNT; from++)
		if ((sources >> from & 1) != 0)
			tdm_json_text(json, tdm_from_name((enum tdm_from)from));
	tdm_json_array_end(json);
}

static void json_status(const struct tdm_status_report *report, struct tdm_json *json)
{
	const struct tdm_picture *picture = report->picture;
#define PROBLEM(member) TDM_MEMBER(struct tdm_picture_problem, member), .flags = TDM_ZERO_IS_UNKNOWN
	static const struct tdm_column columns[] = {
		{ NULL, "source", PROBLEM(from), .get = tdm_get_source },
		{ NULL, "place", PROBLEM(place) },
		{ NULL, "reason", PROBLEM(text) },
	};
	/* They name files of other users. */
	const struct tdm_table problems = { TDM_COLUMNS(columns), picture->problems, sizeof *picture->problems,
		report->pick.by_user ? 0 : picture->problem_count };
#define HOST(member) TDM_MEMBER(struct tdm_picture_host, member)
	static const struct tdm_column host_columns[] = {
		{ NULL, "host", HOST(name) },
		{ NULL, "age_ns", HOST(age_ns) },
		{ NULL, "reason", HOST(reason) },
	};
	const struct tdm_table hosts = { TDM_COLUMNS(host_columns), picture->hosts, sizeof *picture->hosts,
		picture->host_count };
	tdm_json_put_object(json, "status");
	tdm_json_put_known(json, "taken_ns", picture->real_ns != 0, picture->real_ns);
	tdm_json_put_u64(json, "device_count", picture->device_count);
	tdm_json_put_u64(json, "process_count", picture->process_count);
	tdm_json_put_table(json, "unreadable", &problems);
	if (picture->hosts != NULL)
		tdm_json_put_table(json, "hosts", &hosts);
	tdm_json_put_array(json, "findings");
	for (size_t i = 0; i < picture->process_count; i++)
		if (tdm_pick_takes_process(&report->pick, picture, i))
			tdm_runtime_findings_json(picture, (uint32_t)i, false, json);
	tdm_json_array_end(json);
	tdm_json_object_end(json);
}

void tdm_status_json(const struct tdm_status_report *report, struct tdm_json *json)
{
	tdm_json_envelope(json, "tidemark.status");
	json_status(report, json);
	tdm_smi_machine(json, report->machine);
	tdm_json_put_object(json, "host_sw_vers");
	tdm_json_put_text(json, "tidemark", TDM_VERSION_STRING);
	tdm_json_put_text(json, "tt_smi", "N/A");
	tdm_json_put_text(json, "pyluwen", "N/A");
	tdm_json_put_text(json, "tt_umd", "N/A");
	tdm_json_object_end(json);
	tdm_json_put_array(json, "device_info");
	for (size_t i = 0; i < report->picture->device_count; i++)
		if (tdm_pick_takes_device(&report->pick, report->picture, i))
			tdm_status_json_device(report, i, json);
	tdm_json_array_end(json);
	tdm_status_json_processes(report, json);
	tdm_json_object_end(json);
}
