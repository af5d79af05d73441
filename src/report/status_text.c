/*
 * The table of `tidemark status`: a block for each device, then the processes, then what could not be read. At 80
 * columns sources are letters that the last line explains; with more there are words and bars.
 */
#include "base/err.h"
#include "base/wrap.h"
#include "report/cell.h"
#include "report/status_report.h"
#include "tidemark_version.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

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

static void put_time(uint64_t real_ns, struct tdm_buf *out)
{
	time_t seconds = (time_t)(real_ns / UINT64_C(1000000000));
	struct tm local;
	char text[40];
	if (real_ns == 0 || localtime_r(&seconds, &local) == NULL ||
		strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local) == 0)
		return;
	tdm_buf_printf(out, ", %s", text);
}

static void put_number(struct tdm_buf *out, size_t count, const char *one, const char *many)
{
	tdm_buf_printf(out, "%zu %s", count, count == 1 ? one : many);
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
	tdm_buf_printf(out, "%stidemark %s%s", tdm_term_style(&report->term, TDM_STYLE_BOLD), TDM_VERSION_STRING,
		tdm_term_style(&report->term, TDM_STYLE_OFF));
	put_time(report->picture->real_ns, out);
	tdm_buf_puts(out, ": ");
	put_number(out, counts.devices, "device", "devices");
	tdm_buf_puts(out, ", ");
	put_number(out, counts.processes, "process", "processes");
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
	tdm_cell_put(&text, tdm_str_of(problem->place), 0, report->term.utf8);
	tdm_buf_puts(&text, problem->place[0] != '\0' ? ": " : "");
	tdm_cell_put(&text, tdm_str_of(why), 0, report->term.utf8);
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
	if (shown < picture->problem_count)
		tdm_buf_printf(out, "  and %zu more\n", picture->problem_count - shown);
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
