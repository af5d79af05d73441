#include "model/event/phase_run.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>

static const struct tdm_phase_figures unknown_figures = {
	TDM_PHASE_UNKNOWN,
	TDM_PHASE_UNKNOWN,
	TDM_PHASE_UNKNOWN,
	TDM_PHASE_UNKNOWN,
	TDM_PHASE_UNKNOWN,
	TDM_PHASE_UNKNOWN,
	TDM_PHASE_UNKNOWN,
	TDM_PHASE_UNKNOWN,
	TDM_PHASE_UNKNOWN,
};

/* A terminated copy; a zero byte inside the text becomes '?'. */
static char *copy_of(struct tdm_str text)
{
	char *copy = tdm_alloc(text.len + 1);
	for (size_t i = 0; i < text.len; i++)
		copy[i] = text.ptr[i] != '\0' ? text.ptr[i] : '?';
	copy[text.len] = '\0';
	return copy;
}

void tdm_phase_runs_done(struct tdm_phase_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++) {
		for (size_t k = 0; k < runs->runs[i].phase_count; k++)
			free(runs->runs[i].phases[k].name);
		free(runs->runs[i].phases);
		free(runs->runs[i].name);
	}
	free(runs->runs);
	*runs = (struct tdm_phase_runs){ 0 };
}

struct tdm_phase_run *tdm_phase_runs_add(struct tdm_phase_runs *runs, struct tdm_str name)
{
	tdm_grow(&runs->runs, &runs->cap, runs->count + 1, sizeof *runs->runs);
	runs->runs[runs->count] = (struct tdm_phase_run){
		.name = copy_of(name),
		.overall_peak = TDM_PHASE_UNKNOWN,
		.final_current = TDM_PHASE_UNKNOWN,
		.device_memory_bytes = TDM_BYTES_UNKNOWN,
	};
	return &runs->runs[runs->count++];
}

void tdm_phase_runs_take(struct tdm_phase_runs *to, struct tdm_phase_run *run)
{
	tdm_grow(&to->runs, &to->cap, to->count + 1, sizeof *to->runs);
	to->runs[to->count++] = *run;
	*run = (struct tdm_phase_run){ .name = NULL };
}

void tdm_phase_runs_move(struct tdm_phase_runs *to, struct tdm_phase_runs *from)
{
	size_t count = to->count + from->count;
	tdm_grow(&to->runs, &to->cap, count, sizeof *to->runs);
	if (from->count != 0)
		memcpy(to->runs + to->count, from->runs, from->count * sizeof *from->runs);
	to->count = count;
	free(from->runs);
	*from = (struct tdm_phase_runs){ 0 };
}

struct tdm_phase *tdm_phase_run_add(struct tdm_phase_run *run, struct tdm_str name)
{
	if (run->phase_count == TDM_PHASES_MAX)
		return NULL;
	tdm_grow(&run->phases, &run->phase_cap, run->phase_count + 1, sizeof *run->phases);
	run->phases[run->phase_count] = (struct tdm_phase){ copy_of(name), unknown_figures };
	return &run->phases[run->phase_count++];
}

void tdm_phase_run_drop_last(struct tdm_phase_run *run)
{
	if (run->phase_count != 0)
		free(run->phases[--run->phase_count].name);
}

int64_t tdm_phase_sum(int64_t a, int64_t b)
{
	int64_t sum;
	if (a == TDM_PHASE_UNKNOWN || b == TDM_PHASE_UNKNOWN)
		return TDM_PHASE_UNKNOWN;
	if (__builtin_add_overflow(a, b, &sum) || sum == TDM_PHASE_UNKNOWN)
		return a < 0 ? -INT64_MAX : INT64_MAX;
	return sum;
}

int64_t tdm_phase_difference(int64_t a, int64_t b)
{
	return b == TDM_PHASE_UNKNOWN ? TDM_PHASE_UNKNOWN : tdm_phase_sum(a, -b);
}

int tdm_phase_run_append(struct tdm_phase_run *run, struct tdm_str name, const struct tdm_phase_figures *segment)
{
	int64_t current = run->phase_count != 0 ? run->final_current : 0;
	int64_t peak = run->phase_count != 0 ? run->overall_peak : 0;
	struct tdm_phase *phase = tdm_phase_run_add(run, name);
	if (phase == NULL)
		return -E2BIG;
	int64_t reached = tdm_phase_sum(current, segment->dram_peak);
	phase->figures = *segment;
	phase->figures.dram_change = tdm_phase_difference(segment->dram_allocated, segment->dram_freed);
	phase->figures.dram_cumulative_peak = reached > peak ? reached : peak;
	phase->figures.dram_cumulative_current = tdm_phase_sum(current, phase->figures.dram_change);
	run->overall_peak = phase->figures.dram_cumulative_peak;
	run->final_current = phase->figures.dram_cumulative_current;
	return 0;
}

bool tdm_phase_run_is_measured(const struct tdm_phase_run *run)
{
	for (size_t i = 0; i < run->phase_count; i++)
		if (run->phases[i].figures.dram_peak == TDM_PHASE_UNKNOWN)
			return false;
	return true;
}

static void put_text(void *to, const char *text, size_t bytes)
{
	tdm_buf_add(to, text, bytes);
}

static int64_t printed(int64_t figure)
{
	return figure != TDM_PHASE_UNKNOWN ? figure : 0;
}

void tdm_phase_run_print(const struct tdm_phase_run *run, struct tdm_buf *out)
{
	const struct tdm_phase_sink sink = { put_text, out };
	if (run->phase_count == 0) {
		tdm_phase_text_none(&sink);
		return;
	}
	tdm_phase_text_begin(&sink);
	for (size_t i = 0; i < run->phase_count; i++) {
		const struct tdm_phase_figures *f = &run->phases[i].figures;
		tdm_phase_text_segment(&sink, run->phases[i].name,
			&(struct tdm_phase_figures){
				printed(f->dram_peak),
				printed(f->dram_allocated),
				printed(f->dram_freed),
				printed(f->dram_change),
				printed(f->dram_cumulative_peak),
				printed(f->dram_cumulative_current),
				printed(f->l1_peak_cb),
				printed(f->l1_peak_buffer),
				printed(f->l1_peak_total),
			});
	}
	tdm_phase_text_end(&sink, printed(run->overall_peak), printed(run->final_current));
}
