#include "analyze/phases.h"
#include "base/number.h"

#include <math.h>

static struct tdm_str cut_digits(struct tdm_str name)
{
	while (name.len != 0 && name.ptr[name.len - 1] >= '0' && name.ptr[name.len - 1] <= '9')
		name.len--;
	return name;
}

static bool ends_with(struct tdm_str text, const char *end)
{
	size_t len = strlen(end);
	return text.len >= len && memcmp(text.ptr + text.len - len, end, len) == 0;
}

enum tdm_phases_role tdm_phases_role_of(const char *name)
{
	static const char *const separators[] = { "__", "_micro_" };
	struct tdm_str base = tdm_str_of(name);
	for (size_t i = 0; i < 2; i++) {
		struct tdm_str cut = cut_digits(base);
		if (cut.len < base.len && ends_with(cut, separators[i]))
			base = (struct tdm_str){ cut.ptr, cut.len - strlen(separators[i]) };
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
	sum->dram_cumulative_current = f->dram_cumulative_current; /* of the last phase */
	sum->l1_peak_cb = tdm_max_signed(sum->l1_peak_cb, f->l1_peak_cb);
	sum->l1_peak_buffer = tdm_max_signed(sum->l1_peak_buffer, f->l1_peak_buffer);
	sum->l1_peak_total = tdm_max_signed(sum->l1_peak_total, f->l1_peak_total);
	group->largest_change = tdm_max_signed(group->largest_change, f->dram_change);
}

/* A figure of a group; unknown if the run has no such phase. */
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
	int64_t before = TDM_PHASE_UNKNOWN; /* in use after the optimizer of the last backward pass */
	for (size_t i = 0; i < r->run->phase_count; i++) {
		enum tdm_phases_role role = tdm_phases_role_of(r->run->phases[i].name);
		bool open = r->run->last_open && i + 1 == r->run->phase_count;
		/* An unfinished phase says less than finished ones of the same role. */
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
	int64_t held = 0; /* activations of the running micro-batch */
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
	/* The peak grows with the share, so bisect, far beyond the precision that is shown. */
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

/* Models within one percent of each other count as the same. */
static bool is_same_model(const struct tdm_phases *a, const struct tdm_phases *b)
{
	if (a->model.measured == TDM_PHASE_UNKNOWN || b->model.measured == TDM_PHASE_UNKNOWN)
		return false;
	return fabs((double)a->model.measured - (double)b->model.measured) <= 0.01 * fabs((double)a->model.measured);
}

static void find_fitting(struct tdm_phases *results, size_t count, size_t of)
{
	enum { LOOKED_AT = 1000 };
	struct tdm_phases *r = &results[of];
	for (size_t i = 0; i < count && i < LOOKED_AT; i++) {
		const struct tdm_phases *other = &results[i];
		if (i == of || !other->fits || !other->fits_known || !is_same_model(r, other) ||
			other->activations == TDM_PHASE_UNKNOWN || other->activations >= r->activations)
			continue;
		r->advice.fitting = other->run;
		r->advice.fitting_activations = other->activations;
		return;
	}
}

/* Values for all runs of the input: from the options, else from the first run that has them. */
struct common {
	uint64_t parameters, model, optimizer, gradients;
	uint64_t device;
	size_t device_count;
	enum tdm_phases_memory_from device_from;
};

static struct common settle(const struct tdm_phase_runs *runs, const struct tdm_phases_options *options)
{
	struct common c = {
		.model = options->model_bytes, .device = options->device_memory_bytes, .device_from = TDM_MEMORY_OPTION
	};
	for (size_t i = 0; i < runs->count && c.model == TDM_BYTES_UNKNOWN; i++)
		if (runs->runs[i].parameters != 0) {
			c.parameters = runs->runs[i].parameters;
			c.model = tdm_times(c.parameters, TDM_PHASES_BYTES_PER_PARAMETER);
			break;
		}
	for (size_t i = 0; i < runs->count && c.device == TDM_BYTES_UNKNOWN; i++) {
		c.device = runs->runs[i].device_memory_bytes;
		c.device_count = runs->runs[i].device_count;
		c.device_from = TDM_MEMORY_RUN;
	}
	if (c.device == TDM_BYTES_UNKNOWN) {
		c.device = TDM_PHASES_DEVICE_MEMORY;
		c.device_count = 1;
		c.device_from = TDM_MEMORY_DEFAULT;
	}
	c.optimizer = options->optimizer_bytes != TDM_BYTES_UNKNOWN ? options->optimizer_bytes : tdm_times(c.model, 2);
	c.gradients = options->gradients_bytes != TDM_BYTES_UNKNOWN ? options->gradients_bytes : c.model;
	return c;
}

void tdm_phases_analyze(
	const struct tdm_phase_runs *runs, const struct tdm_phases_options *options, struct tdm_phases *results)
{
	struct common c = settle(runs, options);
	for (size_t i = 0; i < runs->count; i++) {
		struct tdm_phases *r = &results[i];
		*r = (struct tdm_phases){
			.run = &runs->runs[i],
			.device_memory_bytes = c.device,
			.device_count = c.device_count > 1 ? c.device_count : 1,
			.memory_from = c.device_from,
			.model.expected = c.model,
			.optimizer.expected = c.optimizer,
			.gradients.expected = c.gradients,
			.other_model = c.parameters != 0 && runs->runs[i].parameters != 0 &&
				       runs->runs[i].parameters != c.parameters,
		};
		measure(r);
		divide_peak(r, options->use_actual_sizes);
		r->fits = r->peak != TDM_PHASE_UNKNOWN && fits_in(r->peak, c.device);
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
