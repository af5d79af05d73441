/*
 * Fuzz the reader of tt-train's logs. Exercises: base/file.c (lines), input/log/train_log.c (colours, prefixes,
 * numbers, broken summaries), model/event/phase_run.c and phase_text.c, analyze/phases/phases.c, and the reports and
 * the charts' text on the result.
 *
 * Properties: a refusal has a text and a line; every run has a name and only phases with all DRAM figures; the printed
 * text reads back as the same runs and prints the same again; the JSON has no byte that should have been escaped.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/phases/phases.h"
#include "fuzz_input.h"
#include "fuzz_write.h"
#include "view/chart/result_charts.h"

enum { ROUND_TRIP_MAX = 64 };

static void check_log(const struct tdm_phases_input *log)
{
	for (size_t i = 0; i < log->refused_kept; i++)
		check(log->refused[i].text[0] != '\0' && log->refused[i].line != 0);
	for (size_t i = 0; i < log->runs.count; i++) {
		const struct tdm_phase_run *run = &log->runs.runs[i];
		check(run->name != NULL && run->line != 0);
		for (size_t k = 0; k < run->phase_count; k++) {
			const struct tdm_phase_figures *f = &run->phases[k].figures;
			check(f->dram_peak != TDM_PHASE_UNKNOWN && f->dram_allocated != TDM_PHASE_UNKNOWN &&
				f->dram_freed != TDM_PHASE_UNKNOWN && f->dram_change != TDM_PHASE_UNKNOWN);
			check(f->dram_cumulative_peak != TDM_PHASE_UNKNOWN &&
				f->dram_cumulative_current != TDM_PHASE_UNKNOWN);
		}
	}
}

static void print_all(const struct tdm_phase_runs *runs, struct tdm_buf *out)
{
	for (size_t i = 0; i < runs->count; i++)
		if (runs->runs[i].phase_count != 0)
			tdm_phase_run_print(&runs->runs[i], out);
}

/* A name may contain text that ends a line or a phase: such a text is not read back. */
static bool has_plain_names(const struct tdm_phase_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		for (size_t k = 0; k < runs->runs[i].phase_count; k++)
			for (const char *at = runs->runs[i].phases[k].name; *at != '\0'; at++)
				if (*at != '_' && !(*at >= 'A' && *at <= 'Z') && !(*at >= '0' && *at <= '9'))
					return false;
	return runs->count <= ROUND_TRIP_MAX;
}

static void check_round_trip(const struct tdm_phase_runs *runs)
{
	struct tdm_buf once, twice;
	struct tdm_phases_input log = { .path = "again" };
	struct fuzz_reading r = { tdm_phases_take, &log, true, 0 };
	tdm_buf_init(&once);
	tdm_buf_init(&twice);
	print_all(runs, &once);
	check(fuzz_read("train_log", (const uint8_t *)once.data, once.len, &r) == 0);
	print_all(&log.runs, &twice);
	check(once.len == twice.len && (once.len == 0 || memcmp(once.data, twice.data, once.len) == 0));
	tdm_phases_input_done(&log);
	tdm_buf_done(&once);
	tdm_buf_done(&twice);
}

static void check_reports(struct tdm_phases_input *log)
{
	struct tdm_term term = { .colour = false, .utf8 = true, .width = 80 };
	struct tdm_result *result = tdm_result_new();
	size_t left_out[TDM_PHASES_LEFT_OUT];
	struct tdm_buf out;
	log->source = "train_log";
	tdm_phases_end(log, NULL);
	tdm_phases_show(&result->top, log, 1);
	fuzz_write(result);
	tdm_buf_init(&out);
	for (unsigned chart = 0; chart < 2; chart++)
		tdm_phases_draw(
			log, 1, &(struct tdm_plot_picture){ .chart = chart, .term = &term }, &out, left_out, NULL);
	tdm_buf_done(&out);
	tdm_result_free(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tdm_phases_input log = { .path = "fuzz" };
	struct fuzz_reading r = { tdm_phases_take, &log, true, 0 };
	fuzz_read("train_log", data, size, &r);
	check(log.refused_count == r.refused);
	check_log(&log);
	if (has_plain_names(&log.runs))
		check_round_trip(&log.runs);
	check_reports(&log);
	tdm_phases_input_done(&log);
	return 0;
}
