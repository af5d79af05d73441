/* The pressure on circular buffers as JSON. */
#include "report/budget_json.h"
#include "report/finding_report.h"
#include "report/pressure_report.h"

static void put_advice(const struct tdm_pressure_result *r, struct tdm_json *json)
{
	const struct tdm_cb_advice *a = &r->advice;
	struct tdm_curve_row rows[TDM_ADVICE_POINTS_MAX];
	bool is_found = tdm_cb_advice_is_found(a);
	tdm_json_put_object(json, "advice");
	tdm_json_put_double(json, "goal_share", TDM_ADVICE_GOAL);
	tdm_json_put_double(json, "best_tiles_per_s", a->best_tiles_per_s > 0 ? a->best_tiles_per_s : (double)NAN);
	tdm_json_put_bytes(json, "bytes", is_found ? a->advised.bytes : TDM_BYTES_UNKNOWN);
	tdm_json_put_double(json, "tiles_per_s", is_found ? a->advised.tiles_per_s : (double)NAN);
	tdm_json_put_bool(json, "is_smallest", a->is_smallest);
	tdm_json_put_bool(json, "is_cut", a->is_cut);
	tdm_json_put_bool(json, "is_limited_by_l1", a->is_limited || a->is_too_large);
	tdm_json_put_text(json, "deadlock", a->is_deadlocked ? a->deadlock : NULL);
	tdm_json_put_u64(json, "searched_tiles", a->tiles);
	tdm_json_put_u64(json, "runs", a->runs);
	size_t count = tdm_curve_rows(r, rows);
	tdm_json_put_table(json, "curve", &TDM_TABLE_OF(tdm_curve_columns, rows, count));
	tdm_json_object_end(json);
}

static void put_fit(const struct tdm_model_fit *fit, struct tdm_json *json)
{
	struct tdm_fit_row rows[TDM_FIT_FIGURES];
	tdm_json_key(json, "fit");
	if (fit == NULL) {
		tdm_json_null(json);
		return;
	}
	tdm_json_object(json);
	tdm_json_put_text(json, "operation", fit->operation);
	tdm_json_put_u64(json, "calls", fit->calls);
	tdm_json_put_u64(json, "calls_without_waits", fit->unmeasured);
	tdm_json_put_u64(json, "rows_refused", fit->refused);
	tdm_json_put_double(json, "transfers_factor", fit->transfers);
	tdm_json_put_double(json, "math_factor", fit->math);
	tdm_json_put_double(json, "error_share", fit->error);
	tdm_json_put_double(json, "error_share_before", fit->error_before);
	tdm_fit_rows(fit, rows);
	tdm_json_put_table(json, "figures", &TDM_TABLE_OF(tdm_fit_columns, rows, TDM_FIT_FIGURES));
	tdm_json_object_end(json);
}

/* The keys of one workload. */
static void put_keys(
	const struct tdm_pressure_report *report, const struct tdm_pressure_result *r, struct tdm_json *json)
{
	const struct tdm_pressure_setup *s = &r->setup;
	bool is_pattern = s->pattern != NULL;
	tdm_json_put_name(json, "pattern", is_pattern ? r->pattern.name : NULL);
	tdm_json_put_text(json, "card", s->card->name);
	tdm_json_put_known(json, "a_tiles", !is_pattern, s->a_tiles);
	tdm_json_put_known(json, "b_tiles", !is_pattern, s->b_tiles);
	tdm_json_put_known(json, "tiles_per_shard", !is_pattern, r->tiles_per_shard);
	tdm_json_put_known(json, "mesh_rows", !is_pattern, s->mesh_rows);
	tdm_json_put_known(json, "mesh_columns", !is_pattern, s->mesh_columns);
	tdm_json_put_text(json, "format", report->format);
	tdm_json_put_known(json, "tile_bytes", !is_pattern, s->tile_bytes);
	tdm_json_put_text(json, "workload_class", r->workload);
	tdm_json_put_bytes(json, "firmware_bytes", r->firmware_bytes);
	tdm_json_put_bytes(json, "kernel_bytes_max", r->kernel_bytes);
	tdm_json_put_bytes(json, "l1_usable_bytes", r->l1_usable);
	tdm_json_put_bytes(json, "l1_left_bytes", r->l1_left);
	tdm_json_put_known(json, "card_buffers", r->card_buffers != TDM_BYTES_UNKNOWN, r->card_buffers);
	tdm_json_put_u64(json, "buffers_beyond_card", r->beyond_card);
	tdm_json_put_table(json, "strategies", &TDM_TABLE_OF(tdm_strategy_columns, r->strategies, r->strategy_count));
	put_advice(r, json);
}

static void put_critical(const struct tdm_pressure_report *report, struct tdm_json *json)
{
	tdm_json_put_object(json, "critical_from_b_tiles");
	for (int i = 0; i < TDM_SIZINGS; i++) {
		const struct tdm_pressure_result *r = tdm_pressure_critical(report, (enum tdm_sizing_name)i);
		if (i != TDM_SIZING_GIVEN)
			tdm_json_put_known(json, tdm_sizing_title((enum tdm_sizing_name)i), r != NULL,
				r != NULL ? r->setup.b_tiles : 0);
	}
	tdm_json_object_end(json);
}

static void put_model(const struct tdm_core_speed *speed, struct tdm_json *json)
{
	struct tdm_speed_row rows[TDM_SPEED_COUNT];
	tdm_speed_rows(speed, rows);
	tdm_json_put_table(json, "constants", &TDM_TABLE_OF(tdm_speed_columns, rows, TDM_SPEED_COUNT));
}

static void put_findings(struct tdm_findings *found, struct tdm_json *json)
{
	struct tdm_finding_view view = { .findings = found };
	tdm_json_put_array(json, "findings");
	for (size_t i = 0; found != NULL && i < found->count; i++)
		tdm_finding_json(&view, &found->list[i], json);
	tdm_json_array_end(json);
}

void tdm_pressure_json(const struct tdm_pressure_report *report, struct tdm_json *json)
{
	tdm_json_object(json);
	if (report->is_multi) {
		tdm_json_put_array(json, "sizes");
		for (size_t i = 0; i < report->count; i++) {
			tdm_json_object(json);
			put_keys(report, &report->results[i], json);
			tdm_json_object_end(json);
		}
		tdm_json_array_end(json);
		put_critical(report, json);
	} else if (report->count != 0) {
		put_keys(report, &report->results[0], json);
	}
	put_fit(report->fit, json);
	put_model(report->speed, json);
	put_findings(report->found, json);
	tdm_budgets_json(report->budgets, json);
	tdm_json_object_end(json);
}
