/* The analysis of training phases as JSON. */
#include "report/phases_report.h"

#include <math.h>

static void put_figure(struct tdm_json *json, const char *key, int64_t bytes)
{
	tdm_json_key(json, key);
	if (bytes == TDM_PHASE_UNKNOWN)
		tdm_json_null(json);
	else
		tdm_json_i64(json, bytes);
}

static void put_phases(struct tdm_json *json, const struct tdm_phases *r)
{
	const struct tdm_table phases = { TDM_COLUMNS(tdm_phases_columns), r->run->phases, sizeof *r->run->phases,
		r->run->phase_count };
	struct tdm_table figures = phases;
	figures.columns += TDM_PHASES_FIGURES;
	figures.column_count -= TDM_PHASES_FIGURES;
	tdm_json_key(json, "phases");
	tdm_table_json(&phases, json);
	tdm_json_put_object(json, "roles");
	for (int i = 0; i < TDM_ROLE_COUNT; i++) {
		if (r->groups[i].count == 0)
			continue;
		tdm_json_put_object(json, tdm_phases_role_names[i]);
		tdm_json_put_u64(json, "count", r->groups[i].count);
		tdm_table_keys(&figures, &(struct tdm_phase){ NULL, r->groups[i].sum }, json);
		tdm_json_object_end(json);
	}
	tdm_json_object_end(json);
}

static void put_pair(struct tdm_json *json, const char *key, const struct tdm_phases_pair *pair)
{
	const struct tdm_table table = { TDM_COLUMNS(tdm_phases_size_columns), NULL };
	tdm_json_put_object(json, key);
	tdm_table_keys(&table, &(struct tdm_phases_size){ .pair = *pair }, json);
	tdm_json_object_end(json);
}

static void put_breakdown(struct tdm_json *json, const struct tdm_phases *r)
{
	tdm_json_put_object(json, "peak_parts");
	for (int i = 0; i < TDM_PART_COUNT; i++)
		put_figure(json, tdm_phases_parts[i].key, r->parts[i]);
	tdm_json_put_text(json, "model_and_optimizer", r->parts_measured ? "measured" : "expected");
	tdm_json_object_end(json);
}

static void put_advice(struct tdm_json *json, const struct tdm_phases *r)
{
	const struct tdm_phases_advice *a = &r->advice;
	tdm_json_put_text(json, "no_advice_reason", r->fits_known && !r->fits ? a->why_not : NULL);
	tdm_json_key(json, "advice");
	if (!r->fits_known || r->fits || a->why_not != NULL) {
		tdm_json_null(json);
		return;
	}
	tdm_json_object(json);
	tdm_json_put_text(json, "assumes", "activations shrink in proportion and nothing else grows");
	put_figure(json, "peak_without_activations", a->least_peak);
	tdm_json_put_double(json, "activations_kept_at_most", a->keep_share < 0 ? NAN : a->keep_share);
	tdm_json_put_known(json, "batch_divisor", a->divisor != 0, a->divisor);
	put_figure(json, "batch_divided_peak", a->divisor != 0 ? a->divided_peak : TDM_PHASE_UNKNOWN);
	tdm_json_put_text(json, "run_that_fits", a->fitting != NULL ? a->fitting->name : NULL);
	tdm_json_object_end(json);
}

static void put_run(struct tdm_json *json, const struct tdm_phases *r)
{
	static const char *const from[] = {
		[TDM_MEMORY_OPTION] = "option", [TDM_MEMORY_RUN] = "input", [TDM_MEMORY_DEFAULT] = "default"
	};
	const struct tdm_phase_run *run = r->run;
	tdm_json_object(json);
	tdm_json_put_text(json, "name", run->name);
	tdm_json_put_known(json, "line", run->line != 0, run->line);
	tdm_json_put_bool(json, "complete", !run->incomplete);
	tdm_json_put_bool(json, "last_phase_open", run->last_open);
	tdm_json_put_bool(json, "no_dispatch", run->no_dispatch);
	tdm_json_put_known(json, "parameters", run->parameters != 0, run->parameters);
	put_phases(json, r);
	put_pair(json, "model", &r->model);
	put_pair(json, "optimizer", &r->optimizer);
	put_pair(json, "gradients", &r->gradients);
	put_figure(json, "activations", r->activations);
	put_figure(json, "gradients_overhead", r->gradients_overhead);
	put_figure(json, "peak_dram", r->peak);
	put_figure(json, "final_dram", run->final_current);
	put_breakdown(json, r);
	tdm_json_put_bytes(json, "device_memory", r->device_memory_bytes);
	tdm_json_put_u64(json, "device_count", r->device_count);
	tdm_json_put_text(json, "device_memory_source", from[r->memory_from]);
	tdm_json_put_double(json, "usage_percent", tdm_phases_usage(r));
	tdm_json_key(json, "fits");
	if (r->fits_known)
		tdm_json_bool(json, r->fits);
	else
		tdm_json_null(json);
	put_advice(json, r);
	tdm_json_object_end(json);
}

static void put_refused(struct tdm_json *json, const struct tdm_phases_input *input)
{
	tdm_json_put_array(json, "refused");
	for (size_t i = 0; i < input->refused_shown; i++) {
		tdm_json_object(json);
		tdm_json_put_known(json, "line", input->refused[i].line != 0, input->refused[i].line);
		tdm_json_put_known(json, "column", input->refused[i].column != 0, input->refused[i].column);
		tdm_json_put_text(json, "text", input->refused[i].text);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_put_u64(json, "refused_count", input->refused_count);
}

void tdm_phases_json(const struct tdm_phases_report *report, struct tdm_json *json)
{
	tdm_json_object(json);
	tdm_json_put_array(json, "inputs");
	for (size_t i = 0; i < report->input_count; i++) {
		const struct tdm_phases_input *input = &report->inputs[i];
		tdm_json_object(json);
		tdm_json_put_text(json, "path", input->path);
		tdm_json_put_text(json, "source", input->source);
		tdm_json_put_array(json, "runs");
		for (size_t k = 0; k < input->runs.count; k++)
			put_run(json, &input->results[k]);
		tdm_json_array_end(json);
		put_refused(json, input);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	tdm_json_object_end(json);
}
