/*
 * A run is analysed as follows. Phases are grouped by role. The groups provide the measured sizes, and the theory (from
 * the options, else from the first run that states it) provides the expected sizes. The parts of the peak are computed
 * from one of the two, and the peak determines whether the run fits. If the run does not fit, bisection finds a smaller
 * share of the activations that would fit, and the other runs are searched for one that fits.
 */
#include "analyze/phases/phases.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>

enum tdm_phases_role tdm_phases_role_of(const char *name)
{
	static const char *const separators[] = { "__", "_micro_" };
	struct tdm_str base = tdm_str_of(name);
	for (size_t i = 0; i < 2; i++) {
		size_t len = base.len, end = strlen(separators[i]);
		while (len != 0 && base.ptr[len - 1] >= '0' && base.ptr[len - 1] <= '9')
			len--;
		if (len < base.len && len >= end && memcmp(base.ptr + len - end, separators[i], end) == 0)
			base.len = len - end;
	}
	for (int i = 0; i < TDM_ROLE_COUNT; i++)
		if (tdm_str_is(base, tdm_phases_role_names[i]))
			return (enum tdm_phases_role)i;
	return TDM_ROLE_NONE;
}

static void add_to_group(struct tdm_phases_group *group, const struct tdm_phase_figures *f)
{
	struct tdm_phase_figures *sum = &group->sum;
	if (group->count++ == 0) {
		*sum = *f;
		group->largest_change = f->dram_change;
		return;
	}
	sum->dram_allocated = tdm_phase_sum(sum->dram_allocated, f->dram_allocated);
	sum->dram_freed = tdm_phase_sum(sum->dram_freed, f->dram_freed);
	sum->dram_change = tdm_phase_sum(sum->dram_change, f->dram_change);
	sum->dram_peak = tdm_max_signed(sum->dram_peak, f->dram_peak);
	sum->dram_cumulative_peak = tdm_max_signed(sum->dram_cumulative_peak, f->dram_cumulative_peak);
	sum->dram_cumulative_current = f->dram_cumulative_current; /* keep the value of the last phase */
	sum->l1_peak_cb = tdm_max_signed(sum->l1_peak_cb, f->l1_peak_cb);
	sum->l1_peak_buffer = tdm_max_signed(sum->l1_peak_buffer, f->l1_peak_buffer);
	sum->l1_peak_total = tdm_max_signed(sum->l1_peak_total, f->l1_peak_total);
	group->largest_change = tdm_max_signed(group->largest_change, f->dram_change);
}

/* A figure of a group; TDM_PHASE_UNKNOWN if the run has no such phase. */
static int64_t of_group(const struct tdm_phases_group *group, int64_t figure)
{
	return group->count != 0 ? figure : TDM_PHASE_UNKNOWN;
}

static int64_t as_figure(uint64_t bytes)
{
	return bytes == TDM_BYTES_UNKNOWN ? TDM_PHASE_UNKNOWN : bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

static void measure(struct tdm_phases *r)
{
	const struct tdm_phases_group *groups = r->groups;
	/* bytes in use after the optimizer phase that preceded the last backward pass */
	int64_t before = TDM_PHASE_UNKNOWN;
	for (size_t i = 0; i < r->run->phase_count; i++) {
		enum tdm_phases_role role = tdm_phases_role_of(r->run->phases[i].name);
		bool open = r->run->last_open && i + 1 == r->run->phase_count;
		/* Finished phases of a role take precedence over an unfinished one. */
		if (role == TDM_ROLE_NONE || (open && groups[role].count != 0))
			continue;
		add_to_group(&r->groups[role], &r->run->phases[i].figures);
		if (role == TDM_ROLE_BACKWARD && groups[TDM_ROLE_OPTIMIZER].count != 0)
			before = groups[TDM_ROLE_OPTIMIZER].sum.dram_cumulative_current;
	}
	r->model.measured = of_group(&groups[TDM_ROLE_MODEL], groups[TDM_ROLE_MODEL].sum.dram_change);
	r->optimizer.measured = of_group(&groups[TDM_ROLE_OPTIMIZER], groups[TDM_ROLE_OPTIMIZER].sum.dram_change);
	r->gradients.measured = tdm_phase_difference(
		of_group(&groups[TDM_ROLE_BACKWARD], groups[TDM_ROLE_BACKWARD].sum.dram_cumulative_current),
		before != TDM_PHASE_UNKNOWN ? before
					    : of_group(&groups[TDM_ROLE_OPTIMIZER],
						      groups[TDM_ROLE_OPTIMIZER].sum.dram_cumulative_current));
	r->activations = of_group(&groups[TDM_ROLE_FORWARD], groups[TDM_ROLE_FORWARD].largest_change);
	r->gradients_overhead = of_group(&groups[TDM_ROLE_BACKWARD], groups[TDM_ROLE_BACKWARD].sum.dram_peak);
	r->peak = r->run->overall_peak;
}

static void divide_peak(struct tdm_phases *r, bool use_actual_sizes)
{
	int64_t accounted = 0;
	r->parts_measured = use_actual_sizes || r->model.expected == TDM_BYTES_UNKNOWN;
	r->parts[TDM_PART_MODEL] = r->parts_measured ? r->model.measured : as_figure(r->model.expected);
	r->parts[TDM_PART_OPTIMIZER] = r->parts_measured ? r->optimizer.measured : as_figure(r->optimizer.expected);
	r->parts[TDM_PART_ACTIVATIONS] = r->activations;
	r->parts[TDM_PART_GRADIENTS] = r->gradients_overhead;
	for (int i = 0; i < TDM_PART_COUNT; i++)
		if (i != TDM_PART_OTHER && r->parts[i] != TDM_PHASE_UNKNOWN)
			accounted = tdm_phase_sum(accounted, r->parts[i]);
	int64_t other = tdm_phase_difference(r->peak, accounted);
	r->parts[TDM_PART_OTHER] = other != TDM_PHASE_UNKNOWN && other < 0 ? 0 : other;
}

int64_t tdm_phases_peak_with(const struct tdm_phases *r, double share)
{
	int64_t peak = 0, before = 0;
	int64_t held = 0; /* activations of the current micro-batch */
	for (size_t i = 0; i < r->run->phase_count; i++) {
		const struct tdm_phase_figures *f = &r->run->phases[i].figures;
		enum tdm_phases_role role = tdm_phases_role_of(r->run->phases[i].name);
		int64_t reached = tdm_phase_sum(before, f->dram_peak);
		if (role == TDM_ROLE_FORWARD)
			held = f->dram_change > 0 ? f->dram_change : 0;
		if (role == TDM_ROLE_FORWARD || role == TDM_ROLE_BACKWARD)
			reached = tdm_phase_difference(reached, (int64_t)((1 - share) * (double)held));
		peak = tdm_max_signed(peak, reached);
		before = f->dram_cumulative_current;
	}
	return peak;
}

static bool fits_in(int64_t peak, uint64_t device)
{
	return peak <= 0 || (uint64_t)peak <= device;
}

static void advise(struct tdm_phases *r)
{
	struct tdm_phases_advice *advice = &r->advice;
	*advice = (struct tdm_phases_advice){ .why_not = NULL };
	if (r->activations == TDM_PHASE_UNKNOWN || r->activations <= 0)
		advice->why_not = "there is no FORWARD_PASS with activations";
	else if (!tdm_phase_run_is_measured(r->run))
		advice->why_not = "the peaks of the phases are not known";
	else if (fits_in(tdm_phases_peak_with(r, 1), r->device_memory_bytes))
		advice->why_not = "the peak is in none of the phases";
	if (advice->why_not != NULL)
		return;
	advice->least_peak = tdm_phases_peak_with(r, 0);
	advice->keep_share = -1;
	if (!fits_in(advice->least_peak, r->device_memory_bytes))
		return;
	/* The peak grows with the share, so bisect to far more digits than are shown. */
	double low = 0, high = 1;
	for (int i = 0; i < 40; i++) {
		double middle = (low + high) / 2;
		if (fits_in(tdm_phases_peak_with(r, middle), r->device_memory_bytes))
			low = middle;
		else
			high = middle;
	}
	advice->keep_share = low;
	for (unsigned n = 2; n <= TDM_PHASES_BATCH_DIVISOR_MAX; n *= 2) {
		advice->divided_peak = tdm_phases_peak_with(r, 1.0 / n);
		if (fits_in(advice->divided_peak, r->device_memory_bytes)) {
			advice->divisor = n;
			break;
		}
	}
}

static void find_fitting(struct tdm_phases *results, size_t count, size_t of)
{
	enum { LOOKED_AT = 1000 };
	struct tdm_phases *r = &results[of];
	for (size_t i = 0; i < count && i < LOOKED_AT; i++) {
		const struct tdm_phases *other = &results[i];
		double model = (double)r->model.measured, its = (double)other->model.measured;
		bool is_same = r->model.measured != TDM_PHASE_UNKNOWN && other->model.measured != TDM_PHASE_UNKNOWN &&
			       fabs(model - its) <= 0.01 * fabs(model); /* the same model if within one percent */
		if (i == of || !other->fits || !other->fits_known || !is_same ||
			other->activations == TDM_PHASE_UNKNOWN || other->activations >= r->activations)
			continue;
		r->advice.fitting = other->run;
		r->advice.fitting_activations = other->activations;
		return;
	}
}

void tdm_phases_analyze(
	const struct tdm_phase_runs *runs, const struct tdm_phases_options *options, struct tdm_phases *results)
{
	/* Values for all runs of the input, from the options or else from the first run that states them. */
	struct tdm_phases common = { .device_memory_bytes = options->device_memory_bytes,
		.device_count = 1,
		.memory_from = TDM_MEMORY_OPTION,
		.model.expected = options->model_bytes };
	uint64_t parameters = 0, *device = &common.device_memory_bytes, *model = &common.model.expected;
	for (size_t i = 0; i < runs->count && *model == TDM_BYTES_UNKNOWN && parameters == 0; i++) {
		parameters = runs->runs[i].parameters;
		if (parameters != 0)
			*model = tdm_times(parameters, TDM_PHASES_BYTES_PER_PARAMETER);
	}
	for (size_t i = 0; i < runs->count && *device == TDM_BYTES_UNKNOWN; i++) {
		*device = runs->runs[i].device_memory_bytes;
		common.device_count = tdm_max(runs->runs[i].device_count, 1);
		common.memory_from = TDM_MEMORY_RUN;
	}
	if (*device == TDM_BYTES_UNKNOWN) {
		*device = TDM_PHASES_DEVICE_MEMORY;
		common.device_count = 1;
		common.memory_from = TDM_MEMORY_DEFAULT;
	}
	common.optimizer.expected =
		options->optimizer_bytes != TDM_BYTES_UNKNOWN ? options->optimizer_bytes : tdm_times(*model, 2);
	common.gradients.expected = options->gradients_bytes != TDM_BYTES_UNKNOWN ? options->gradients_bytes : *model;
	for (size_t i = 0; i < runs->count; i++) {
		struct tdm_phases *r = &results[i];
		*r = common;
		r->run = &runs->runs[i];
		r->other_model = parameters != 0 && r->run->parameters != 0 && r->run->parameters != parameters;
		measure(r);
		divide_peak(r, options->use_actual_sizes);
		r->fits = r->peak != TDM_PHASE_UNKNOWN && fits_in(r->peak, *device);
		r->fits_known = r->peak != TDM_PHASE_UNKNOWN && (!r->fits || !r->run->peak_so_far);
		if (r->fits_known && !r->fits)
			advise(r);
	}
	for (size_t i = 0; i < runs->count; i++)
		if (results[i].fits_known && !results[i].fits && results[i].advice.why_not == NULL)
			find_fitting(results, runs->count, i);
}

double tdm_phases_difference(const struct tdm_phases_pair *pair)
{
	if (pair->measured == TDM_PHASE_UNKNOWN || pair->expected == TDM_BYTES_UNKNOWN)
		return NAN;
	if (pair->expected == 0)
		return 0;
	return ((double)pair->measured - (double)pair->expected) / (double)pair->expected * 100;
}

double tdm_phases_usage(const struct tdm_phases *r)
{
	return r->peak == TDM_PHASE_UNKNOWN || r->device_memory_bytes == 0
		       ? NAN
		       : (double)r->peak / (double)r->device_memory_bytes * 100;
}

/* ---- inputs ---- */

int tdm_phases_take(void *input, const struct tdm_record *record)
{
	struct tdm_phases_input *in = input;
	if (record->type == TDM_RECORD_RUN)
		tdm_phase_runs_take(&in->runs, record->run);
	else if (record->type == TDM_RECORD_REFUSED && in->refused_count++ < TDM_PHASES_REFUSED_MAX) {
		struct tdm_diag *kept = &in->refused[in->refused_kept++];
		*kept = *record->refused;
		kept->file = in->path;
	}
	return 0;
}

void tdm_phases_end(struct tdm_phases_input *in, const struct tdm_phases_options *options)
{
	static const struct tdm_phases_options none = TDM_PHASES_NO_OPTIONS;
	in->results = tdm_zalloc(in->runs.count + 1, sizeof *in->results);
	tdm_phases_analyze(&in->runs, options != NULL ? options : &none, in->results);
}

void tdm_phases_input_done(void *input)
{
	struct tdm_phases_input *in = input;
	tdm_phase_runs_done(&in->runs);
	free(in->results);
}

/* ---- names ---- */

const char *const tdm_phases_role_names[TDM_ROLE_COUNT] = {
	[TDM_ROLE_MODEL] = "MODEL_CREATION",
	[TDM_ROLE_OPTIMIZER] = "OPTIMIZER_CREATION",
	[TDM_ROLE_FORWARD] = "FORWARD_PASS",
	[TDM_ROLE_BACKWARD] = "BACKWARD_PASS",
};

const struct tdm_phases_part_info tdm_phases_parts[TDM_PART_COUNT] = {
	[TDM_PART_OTHER] = { "Other", "other", 0xcccccc },
	[TDM_PART_MODEL] = { "Model Parameters", "model", 0x4da6b8 },
	[TDM_PART_GRADIENTS] = { "Gradients Overhead", "gradients_overhead", 0xe789ab },
	[TDM_PART_OPTIMIZER] = { "Optimizer State", "optimizer", 0xcec0fa },
	[TDM_PART_ACTIVATIONS] = { "Activations", "activations", 0xe38a42 },
};
