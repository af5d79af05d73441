/*
 * The result of training phases: every phase, the sizes of model, optimizer and gradients next to the expected sizes,
 * the parts of the peak, whether the peak fits, and advice. Size columns are in MiB with two decimals, for comparison
 * with the "MB" in a log; sentences use a suitable unit.
 */
#include "analyze/phases/phases.h"
#include "analyze/report/report_analyser.h"

#include <math.h>
#include <stdlib.h>

enum { NAME_COLUMNS = 60 };

static struct tdm_value size_of(int64_t bytes)
{
	struct tdm_value value = tdm_value_signed(bytes);
	value.unit = TDM_UNIT_BYTES;
	return value;
}

/* ---- phases ---- */

static struct tdm_value get_role(const struct tdm_field *field)
{
	enum tdm_phases_role role = tdm_phases_role_of(((const struct tdm_phase *)field->row)->name);
	return tdm_value_text(role != TDM_ROLE_NONE ? tdm_phases_role_names[role] : NULL);
}

enum { FIGURES = 2 }; /* the first column with a figure */

#define PHASE(member) TDM_MEMBER(struct tdm_phase, member), .format = tdm_format_mib
static const struct tdm_column phase_columns[] = {
	{ "Phase (MiB)", "name", TDM_MEMBER(struct tdm_phase, name), .width = NAME_COLUMNS },
	{ NULL, "role", .get = get_role },
	{ "Peak", "dram_peak", PHASE(figures.dram_peak) },
	{ "Allocated", "dram_allocated", PHASE(figures.dram_allocated) },
	{ "Freed", "dram_freed", PHASE(figures.dram_freed) },
	{ "Change", "dram_change", PHASE(figures.dram_change), .flags = TDM_WITH_SIGN },
	{ "Peak so far", "dram_cumulative_peak", PHASE(figures.dram_cumulative_peak) },
	{ "In use", "dram_cumulative_current", PHASE(figures.dram_cumulative_current) },
	{ NULL, "l1_peak_cb", PHASE(figures.l1_peak_cb) },
	{ NULL, "l1_peak_buffer", PHASE(figures.l1_peak_buffer) },
	{ "L1 peak", "l1_peak_total", PHASE(figures.l1_peak_total) },
};

/* Lists all phases. The text output also shows the sums of micro-batches, which JSON shows as roles. */
static void add_phases(struct tdm_block *in, const struct tdm_phases *r)
{
	size_t count = r->run->phase_count;
	struct tdm_phase *rows = tdm_result_alloc(in->result, count + TDM_ROLE_COUNT, sizeof *rows);
	for (size_t i = 0; i < count; i++)
		rows[i] = r->run->phases[i];
	tdm_add_table(in, "phases", NULL, TDM_FITTED(phase_columns, rows, r->run->phase_count))->is_data_only = true;
	struct tdm_block *roles = tdm_add_group(in, "roles", NULL);
	for (int i = 0; i < TDM_ROLE_COUNT; i++) {
		const char *name = tdm_phases_role_names[i];
		if (r->groups[i].count == 0)
			continue;
		struct tdm_block *role = tdm_add_group(roles, name, NULL);
		struct tdm_table sum = TDM_FITTED(phase_columns, &r->groups[i].sum, 1);
		role->is_data_only = true;
		tdm_data(role, "count", tdm_value_number(r->groups[i].count));
		for (size_t c = FIGURES; c < sum.column_count; c++) {
			const size_t at = phase_columns[c].offset - offsetof(struct tdm_phase, figures);
			tdm_data(role, phase_columns[c].key,
				tdm_value_signed(*(const int64_t *)((const char *)&r->groups[i].sum + at)));
		}
		if (r->groups[i].count > 1)
			rows[count++] = (struct tdm_phase){ (char *)(uintptr_t)tdm_result_printed(in->result,
								    "%s, all %zu", name, r->groups[i].count),
				r->groups[i].sum };
	}
	tdm_add_table(in, NULL, NULL, TDM_FITTED(phase_columns, rows, count));
}

/* ---- sizes ---- */

/* A size with a theoretical value, or with a note instead. */
struct size {
	const char *name;
	struct tdm_phases_pair pair;
	const char *note;
};

static struct tdm_value difference_of(const struct tdm_phases_pair *pair)
{
	struct tdm_value percent = tdm_value_real(tdm_phases_difference(pair), TDM_UNIT_PERCENT);
	percent.decimals = 2;
	return percent;
}

static struct tdm_value get_difference(const struct tdm_field *field)
{
	return difference_of(&((const struct size *)field->row)->pair);
}

#define SIZE(member) TDM_MEMBER(struct size, member)
static const struct tdm_column size_columns[] = {
	{ "Size (MiB)", NULL, SIZE(name) },
	{ "Measured", NULL, SIZE(pair.measured), .format = tdm_format_mib },
	{ "Expected", NULL, SIZE(pair.expected), .format = tdm_format_mib },
	{ "Difference", NULL, .get = get_difference, .flags = TDM_WITH_SIGN },
	{ "", NULL, SIZE(note), .unknown = "" },
};

static void add_sizes(struct tdm_block *in, const struct tdm_phases *r)
{
	size_t micro = r->groups[TDM_ROLE_FORWARD].count, roles = 0;
	bool is_part_unknown = false;
	for (int i = 0; i < TDM_PART_COUNT; i++)
		is_part_unknown |= i != TDM_PART_OTHER && r->parts[i] == TDM_PHASE_UNKNOWN;
	const char *rest = is_part_unknown     ? "the rest of the peak, including the unknown parts"
			   : r->parts_measured ? "peak less measured model and optimizer, activations and overhead"
					       : "peak less expected model and optimizer, activations and overhead";
	const char *passes =
		micro <= 1 ? NULL
			   : tdm_result_printed(in->result, "the largest of %zu passes, which do not overlap", micro);
	const struct size rows[] = {
		{ "Model parameters", r->model, NULL },
		{ "Optimizer state", r->optimizer, NULL },
		{ "Gradients", r->gradients, NULL },
		{ "Activations", { r->activations, TDM_BYTES_UNKNOWN }, passes },
		{ "Gradients overhead", { r->gradients_overhead, TDM_BYTES_UNKNOWN },
			"peak of the backward pass above its start" },
		{ "Other", { r->parts[TDM_PART_OTHER], TDM_BYTES_UNKNOWN }, rest },
		{ "Peak DRAM", { r->peak, TDM_BYTES_UNKNOWN }, NULL },
	};
	const size_t count = sizeof rows / sizeof *rows;
	struct size *copy = memcpy(tdm_result_alloc(in->result, count, sizeof *copy), rows, sizeof rows);
	for (int i = 0; i < TDM_ROLE_COUNT; i++)
		roles += r->groups[i].count;
	if (roles != 0) /* otherwise, the theory covers no phase */
		tdm_add_table(in, NULL, NULL, TDM_FITTED(size_columns, copy, count));
	tdm_data_all(in, TDM_VALUES({ "model.measured", size_of(r->model.measured) },
				 { "model.expected", tdm_value_bytes(r->model.expected) },
				 { "model.difference_percent", difference_of(&r->model) },
				 { "optimizer.measured", size_of(r->optimizer.measured) },
				 { "optimizer.expected", tdm_value_bytes(r->optimizer.expected) },
				 { "optimizer.difference_percent", difference_of(&r->optimizer) },
				 { "gradients.measured", size_of(r->gradients.measured) },
				 { "gradients.expected", tdm_value_bytes(r->gradients.expected) },
				 { "gradients.difference_percent", difference_of(&r->gradients) },
				 { "activations", size_of(r->activations) },
				 { "gradients_overhead", size_of(r->gradients_overhead) },
				 { "peak_dram", size_of(r->peak) }, { "final_dram", size_of(r->run->final_current) }));
	struct tdm_block *parts = tdm_add_group(in, "peak_parts", NULL);
	for (int i = 0; i < TDM_PART_COUNT; i++)
		tdm_data(parts, tdm_phases_parts[i].key, size_of(r->parts[i]));
	tdm_data(parts, "model_and_optimizer", tdm_value_text(r->parts_measured ? "measured" : "expected"));
}

/* ---- whether it fits ---- */

static const char *memory_from(enum tdm_phases_memory_from from, const char *source)
{
	if (from == TDM_MEMORY_OPTION)
		return "as given";
	if (from == TDM_MEMORY_DEFAULT)
		return "assumed: neither the input nor --device_memory says";
	return strcmp(source, "train_log") == 0     ? "from the log"
	       : strcmp(source, "ttnn_report") == 0 ? "as all cards with such an L1 have"
						    : "as the program described its devices";
}

static void add_verdict(struct tdm_block *in, const struct tdm_phases *r, const char *source)
{
	static const char *const from[] = {
		[TDM_MEMORY_OPTION] = "option", [TDM_MEMORY_RUN] = "input", [TDM_MEMORY_DEFAULT] = "default"
	};
	uint64_t peak = r->peak > 0 ? (uint64_t)r->peak : 0, memory = r->device_memory_bytes;
	struct tdm_value usage = tdm_value_real(tdm_phases_usage(r), TDM_UNIT_PERCENT);
	usage.decimals = 2;
	tdm_data_all(in,
		TDM_VALUES({ "device_memory", tdm_value_bytes(memory) },
			{ "device_count", tdm_value_number(r->device_count) },
			{ "device_memory_source", tdm_value_text(from[r->memory_from]) }, { "usage_percent", usage },
			{ "fits", tdm_value_if(r->fits_known, tdm_value_bool(r->fits)) }));
	if (r->peak == TDM_PHASE_UNKNOWN) {
		tdm_say(in, "Whether it fits is not known: the peak is not known.", NULL)->is_apart = true;
		return;
	}
	struct tdm_block *line = tdm_say(in,
		"{_verdict}: the peak is {usage_percent} of |the device's {_one}|the {_all} that {_devices} devices "
		"have "
		"together| ({_from}); |{_free} stay free|{_missing} too much",
		TDM_VALUES({ "_verdict", tdm_value_text(!r->fits_known ? "Fits so far, and the rest is not known"
							: r->fits      ? "Fits"
								       : "Does not fit") },
			{ "usage_percent", usage },
			{ "_one", tdm_value_if(r->device_count <= 1, tdm_value_bytes(memory)) },
			{ "_all", tdm_value_if(r->device_count > 1, tdm_value_bytes(memory)) },
			{ "_devices", tdm_value_number(r->device_count) },
			{ "_from", tdm_value_text(memory_from(r->memory_from, source)) },
			{ "_free", tdm_value_if(r->fits, tdm_value_bytes(memory - peak)) },
			{ "_missing", tdm_value_if(!r->fits, tdm_value_bytes(peak - memory)) }));
	line->line.level = !r->fits_known ? TDM_LEVEL_WARNING : r->fits ? TDM_LEVEL_FINE : TDM_LEVEL_DANGER;
	line->is_apart = true;
	/* A phase's figures do not show how much each device holds. */
	if (r->fits && r->device_count > 1 && peak > memory / r->device_count)
		tdm_say(in, "That is if they share it: one of them alone does not have enough.", NULL);
}

/* Adds advice if the run does not fit. */
static void add_advice(struct tdm_block *in, const struct tdm_phases *r)
{
	const struct tdm_phases_advice *a = &r->advice;
	bool is_over = r->fits_known && !r->fits, is_enough = a->keep_share >= 0;
	tdm_data(in, "no_advice_reason", tdm_value_text(is_over ? a->why_not : NULL));
	if (!r->fits && r->peak != TDM_PHASE_UNKNOWN && a->why_not != NULL)
		tdm_say(in, "No advice: {_why}.", TDM_VALUES({ "_why", tdm_value_text(a->why_not) }));
	if (!is_over || a->why_not != NULL) {
		tdm_data(in, "advice", tdm_value_text(NULL));
		return;
	}
	struct tdm_value keep = tdm_value_share(is_enough ? a->keep_share : NAN), down = keep;
	down.real = floor(a->keep_share * 1000) / 1000;
	down.decimals = 1;
	const struct tdm_value divisor = tdm_value_if(a->divisor != 0, tdm_value_number(a->divisor));
	const struct tdm_value divided = tdm_value_if(a->divisor != 0, size_of(a->divided_peak));
	const struct tdm_phase_run *fitting = a->fitting;
	tdm_data_all(in, TDM_VALUES({ "advice.assumes",
					    tdm_value_text("activations shrink in proportion and nothing else grows") },
				 { "advice.peak_without_activations", size_of(a->least_peak) },
				 { "advice.activations_kept_at_most", keep }, { "advice.batch_divisor", divisor },
				 { "advice.batch_divided_peak", divided },
				 { "advice.run_that_fits", tdm_value_text(fitting != NULL ? fitting->name : NULL) }));
	tdm_say(in, "What would help, if activations shrink in proportion and nothing else grows:", NULL);
	tdm_say(in,
		"  gradient checkpointing (memory_efficient): |fits if at most {_keep} of the activations are kept; "
		"with none "
		"of them the peak is {_least}|not enough; without any activations the peak is still {_still}",
		TDM_VALUES({ "_keep", down }, { "_least", tdm_value_if(is_enough, size_of(a->least_peak)) },
			{ "_still", tdm_value_if(!is_enough, size_of(a->least_peak)) }));
	if (is_enough && fitting != NULL) {
		struct tdm_value kept = tdm_value_share((double)a->fitting_activations / (double)r->activations);
		kept.decimals = 1;
		tdm_say(in, "    measured: '{_name}' keeps {_kept} and its peak is {_peak}",
			TDM_VALUES({ "_name", tdm_value_text(fitting->name) }, { "_kept", kept },
				{ "_peak", size_of(fitting->overall_peak) }));
	}
	if (!is_enough)
		tdm_say(in, "  smaller batch, gradient accumulation: not enough either, for the same reason", NULL);
	else if (a->divisor == 0)
		tdm_say(in, "  smaller batch: not enough, even with a {_most}th of it",
			TDM_VALUES({ "_most", tdm_value_number(TDM_PHASES_BATCH_DIVISOR_MAX) }));
	else
		tdm_say(in, "  smaller batch: with 1/{_divisor} of it the peak is {_peak}",
			TDM_VALUES({ "_divisor", divisor }, { "_peak", divided }));
	if (is_enough && a->divisor != 0)
		tdm_say(in, "  gradient accumulation: the same peak with the whole batch in {_divisor} steps",
			TDM_VALUES({ "_divisor", divisor }));
}

/* ---- runs ---- */

static void add_run(struct tdm_block *runs, const struct tdm_phases_input *input, const struct tdm_phases *r)
{
	const struct tdm_phase_run *run = r->run;
	struct tdm_result *result = runs->result;
	const char *title =
		input->path == NULL ? run->name
		: run->line == 0    ? tdm_result_printed(result, "%s (%s)", run->name, input->path)
				 : tdm_result_printed(result, "%s (%s:%zu)", run->name, input->path, (size_t)run->line);
	struct tdm_block *in = tdm_add_group(runs, NULL, title);
	tdm_data_all(
		in, TDM_VALUES({ "name", tdm_value_text(run->name) },
			    { "line", tdm_value_if(run->line != 0, tdm_value_number(run->line)) },
			    { "complete", tdm_value_bool(!run->incomplete) },
			    { "last_phase_open", tdm_value_bool(run->last_open) },
			    { "no_dispatch", tdm_value_bool(run->no_dispatch) },
			    { "parameters", tdm_value_if(run->parameters != 0, tdm_value_count(run->parameters)) }));
	if (run->parameters != 0)
		tdm_say(in, "Number of parameters: {parameters}",
			TDM_VALUES({ "parameters", tdm_value_count(run->parameters) }));
	if (r->other_model)
		tdm_say(in,
			"The theory is that of the first model in this input, which has other parameters: give this "
			"one in "
			"a file of its own, or --model_size",
			NULL);
	if (run->incomplete)
		tdm_say(in, "This summary is not complete: the missing parts are left out", NULL);
	if (run->last_open && run->phase_count != 0)
		tdm_say(in, "{_name} has not ended: its figures are those so far",
			TDM_VALUES({ "_name", tdm_value_text(run->phases[run->phase_count - 1].name) }));
	if (run->no_dispatch)
		tdm_say(in, "Captured without dispatch: nothing was allocated, these are the sizes that would be",
			NULL);
	add_phases(in, r);
	add_sizes(in, r);
	add_verdict(in, r, input->source);
	add_advice(in, r);
}

/* ---- findings ---- */

static void advise(const struct tdm_phases_advice *advice, struct tdm_findings *found)
{
	char peak[TDM_BYTES_CAP];
	if (advice->why_not != NULL || advice->keep_share < 0)
		return;
	if (advice->divisor != 0)
		tdm_findings_advise(found, NULL,
			"with 1/%u of the batch, or gradient accumulation in %u steps, the peak would be %s",
			advice->divisor, advice->divisor,
			tdm_format_bytes_short(peak, sizeof peak, (uint64_t)advice->divided_peak));
	else
		tdm_findings_advise(found, NULL,
			"it fits if gradient checkpointing keeps at most %.1f%% of the activations",
			100 * advice->keep_share);
}

void tdm_phases_find(const struct tdm_phases *result, struct tdm_findings *found)
{
	bool is_assumed = result->memory_from == TDM_MEMORY_DEFAULT;
	if (result->peak == TDM_PHASE_UNKNOWN || result->fits)
		return;
	tdm_findings_remark(
		found, is_assumed ? TDM_FINDING_WARNING : TDM_FINDING_BROKEN, "does_not_fit", result->run->name);
	found->list[found->count - 1].pattern = is_assumed
							? "does not fit: its peak is {peak_bytes}, and the device has "
							  "{device_memory_bytes}, as was assumed"
							: "does not fit: its peak is {peak_bytes}, and the device has "
							  "{device_memory_bytes}";
	tdm_findings_figure(found, "peak_bytes", TDM_UNIT_BYTES, (uint64_t)result->peak);
	tdm_findings_figure(found, "device_memory_bytes", TDM_UNIT_BYTES, result->device_memory_bytes);
	advise(&result->advice, found);
}

#define REFUSED(member) TDM_MEMBER(struct tdm_diag, member)
static const struct tdm_column refused_columns[] = {
	{ NULL, "line", REFUSED(line), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "column", REFUSED(column), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "text", REFUSED(text) },
};

void tdm_phases_show(struct tdm_block *in, const struct tdm_phases_input *inputs, size_t count)
{
	struct tdm_findings found = { 0 };
	struct tdm_block *list = tdm_add_list(in, "inputs", NULL);
	for (size_t i = 0; i < count; i++) {
		const struct tdm_phases_input *input = &inputs[i];
		struct tdm_block *group = tdm_add_group(list, NULL, NULL);
		tdm_data_all(group, TDM_VALUES({ "path", tdm_value_text(input->path) },
					    { "source", tdm_value_text(input->source) }));
		struct tdm_block *runs = tdm_add_list(group, "runs", NULL);
		for (size_t k = 0; k < input->runs.count; k++) {
			add_run(runs, input, &input->results[k]);
			tdm_phases_find(&input->results[k], &found);
		}
		tdm_add_table(group, "refused", NULL, TDM_FITTED(refused_columns, input->refused, input->refused_kept))
			->is_data_only = true;
		tdm_data(group, "refused_count", tdm_value_number(input->refused_count));
	}
	tdm_add_findings(in, "findings", NULL, &found)->is_data_only = true;
}

/* ---- the log of a training run, as a report of `info` ---- */

static void init(void *state, struct tdm_intake *reading)
{
	struct tdm_phases_input *input = state;
	input->source = "train_log";
	input->path = tdm_input_name(reading->input);
}

static void end(void *input)
{
	tdm_phases_end(input, NULL);
}

static bool show(void *state, const struct tdm_intake *reading, size_t limit, struct tdm_block *in)
{
	const struct tdm_phases_input *input = state;
	(void)reading, (void)limit;
	if (input->runs.count == 0)
		return false;
	tdm_phases_show(tdm_add_group(in, "phases", NULL), input, 1);
	tdm_say(in, "tidemark phases compares such runs and draws them", NULL)->is_apart = true;
	return true;
}

const struct tdm_report_analyser tdm_train_report = { "train_log", NULL, sizeof(struct tdm_phases_input), init,
	tdm_phases_take, end, show, tdm_phases_input_done };
