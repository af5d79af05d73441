/*
 * `tidemark status`. The text has a block for each device, then the processes, then what could not be read. At 80
 * columns sources are letters that the last line explains; with more there are words and bars.
 *
 * The JSON has the shape of a tt-smi snapshot with its strings as tt-smi writes them, so that programs that read those
 * read this; beside them are objects called "memory", with bytes as numbers. Values that only the card's registers have
 * are not known here: nothing is opened on the card.
 */
#include "base/err.h"
#include "base/wrap.h"
#include "report/cell.h"
#include "report/live_cells.h"
#include "report/report_put.h"
#include "report/smi_strings.h"
#include "report/status_report.h"
#include "tidemark_version.h"

#include <errno.h>
#include <inttypes.h>

enum { WIDE = 100, PROBLEMS_SHOWN = 5 };

bool tdm_status_is_wide(const struct tdm_status_report *report)
{
	return report->term.width >= WIDE;
}

char tdm_status_letter(uint8_t from)
{
	static const char letters[TDM_FROM_COUNT] = { [TDM_FROM_NONE] = '-',
		[TDM_FROM_LEDGER] = 'L',
		[TDM_FROM_METAL_SHM] = 'S',
		[TDM_FROM_DRIVER] = 'D',
		[TDM_FROM_MODEL] = 'M' };
	return from < TDM_FROM_COUNT ? letters[from] : '-';
}

struct counts {
	size_t devices, processes;
};

static struct counts count_taken(const struct tdm_status_report *report)
{
	const struct tdm_picture *picture = report->picture;
	struct counts counts = { 0, 0 };
	for (size_t i = 0; i < picture->device_count; i++)
		counts.devices += tdm_pick_takes_device(&report->pick, picture, i);
	for (size_t i = 0; i < picture->process_count; i++)
		counts.processes += tdm_pick_takes_process(&report->pick, picture, i);
	return counts;
}

static void put_head(const struct tdm_status_report *report, struct counts counts, struct tdm_buf *out)
{
	char when[TDM_TIME_CAP];
	tdm_buf_printf(out, "%stidemark %s%s", tdm_term_style(&report->term, TDM_STYLE_BOLD), TDM_VERSION_STRING,
		tdm_term_style(&report->term, TDM_STYLE_OFF));
	tdm_buf_printf(out, "%s%s: %zu device%s, %zu process%s", report->picture->real_ns != 0 ? ", " : "",
		tdm_format_time(when, sizeof when, report->picture->real_ns), counts.devices,
		tdm_plural(counts.devices), counts.processes, counts.processes == 1 ? "" : "es");
	if (report->machine != NULL && report->machine->driver[0] != '\0') {
		tdm_buf_puts(out, ", driver ");
		tdm_cell_put(out, tdm_str_of(report->machine->driver), 20, report->term.utf8);
	}
	tdm_buf_putc(out, '\n');
}

static void put_nothing(const struct tdm_status_report *report, struct tdm_buf *out)
{
	static const char nothing[] = "No card and no tracked process is visible: try 'tidemark demo', which needs no "
				      "card, and see 'tidemark doctor', which says what was looked for.";
	if (report->picture->device_count == 0 && report->picture->process_count == 0) {
		tdm_buf_putc(out, '\n');
		tdm_wrap(out, tdm_str_of(nothing), (struct tdm_wrap){ .width = report->term.width });
	} else if (report->pick.pid != 0)
		tdm_buf_printf(out, "\nNo process %" PRId32 " is known to use a device.\n", report->pick.pid);
	else
		tdm_buf_puts(out, "\nNone of the devices that are visible was asked for.\n");
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

/* Whether what somebody holds is in no figure, because his files may not be read. */
static bool is_anything_denied(const struct tdm_picture *picture)
{
	for (size_t i = 0; i < picture->problem_count; i++) {
		const struct tdm_picture_problem *problem = &picture->problems[i];
		if ((problem->from == TDM_FROM_LEDGER || problem->from == TDM_FROM_METAL_SHM) &&
			(problem->err == -EACCES || problem->err == -EPERM))
			return true;
	}
	return false;
}

static void put_problems(const struct tdm_status_report *report, struct tdm_buf *out)
{
	const struct tdm_picture *picture = report->picture;
	size_t shown = picture->problem_count < PROBLEMS_SHOWN ? picture->problem_count : PROBLEMS_SHOWN;
	if (shown == 0)
		return;
	tdm_buf_printf(out, "\n%sProblems%s ('tidemark doctor' says more)\n",
		tdm_term_style(&report->term, TDM_STYLE_YELLOW), tdm_term_style(&report->term, TDM_STYLE_OFF));
	for (size_t i = 0; i < shown; i++)
		put_problem(report, &picture->problems[i], out);
	tdm_put_rest(out, picture->problem_count, shown);
	if (is_anything_denied(picture)) {
		static const char text[] =
			"What is in files of other users is in no figure: more may be in use, and less may be free.";
		tdm_wrap(out, tdm_str_of(text), (struct tdm_wrap){ .width = report->term.width });
	}
}

/* What the letters and marks stand for. */
static void put_legend(const struct tdm_status_report *report, struct tdm_buf *out)
{
	static const char text[] =
		"Sources of used/total: L ledger (bytes reserved), S metal_shm (tt-metal's shared memory: bytes asked "
		"for), D driver, M model (the card's tables). '>' at least, as far as was seen; '~' inferred, not "
		"counted. unattributed: held by nobody who is listed; stale: left written down by processes that "
		"ended.";
	tdm_buf_printf(out, "\n%s", tdm_term_style(&report->term, TDM_STYLE_DIM));
	tdm_wrap(out, tdm_str_of(text), (struct tdm_wrap){ .width = report->term.width });
	tdm_buf_puts(out, tdm_term_style(&report->term, TDM_STYLE_OFF));
}

void tdm_status_text(const struct tdm_status_report *report, struct tdm_buf *out)
{
	struct counts counts = count_taken(report);
	put_head(report, counts, out);
	for (size_t i = 0; i < report->picture->device_count; i++)
		if (tdm_pick_takes_device(&report->pick, report->picture, i))
			tdm_status_device(report, i, out);
	if (counts.processes != 0 || counts.devices != 0)
		tdm_status_processes(report, out);
	else
		put_nothing(report, out);
	put_problems(report, out);
	if (counts.devices != 0)
		put_legend(report, out);
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

static void json_status(const struct tdm_picture *picture, struct tdm_json *json)
{
#define PROBLEM(member) TDM_MEMBER(struct tdm_picture_problem, member), .flags = TDM_ZERO_IS_UNKNOWN
	static const struct tdm_column columns[] = {
		{ NULL, "source", PROBLEM(from), .get = tdm_get_source },
		{ NULL, "place", PROBLEM(place) },
		{ NULL, "reason", PROBLEM(text) },
	};
	const struct tdm_table problems = { TDM_COLUMNS(columns), picture->problems, sizeof *picture->problems,
		picture->problem_count };
	tdm_json_put_object(json, "status");
	tdm_json_put_known(json, "taken_ns", picture->real_ns != 0, picture->real_ns);
	tdm_json_put_u64(json, "device_count", picture->device_count);
	tdm_json_put_u64(json, "process_count", picture->process_count);
	tdm_json_put_table(json, "unreadable", &problems);
	tdm_json_object_end(json);
}

void tdm_status_json(const struct tdm_status_report *report, struct tdm_json *json)
{
	tdm_json_envelope(json, "tidemark.status");
	json_status(report->picture, json);
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
