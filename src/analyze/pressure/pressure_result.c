/* The result of `tidemark pressure`: findings first, then the strategies, the model, the advice. */
#include "analyze/pressure/pressure.h"
#include "base/arena.h"
#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KERNELS_SHOWN = 8, BESIDE_MAX = 12, ROWS_MAX = 40, LINES_MAX = 8 };

static struct tdm_value number(double real, unsigned decimals)
{
	struct tdm_value value = tdm_value_real(real, TDM_UNIT_NUMBER);
	value.decimals = (uint8_t)decimals;
	return value;
}

/* Tiles per second; in text, millions of them. */
static struct tdm_value rate_of(double tiles_per_s, bool is_deadlocked)
{
	return is_deadlocked ? tdm_value_text("deadlock") : number(tiles_per_s / 1e6, 3);
}

/* ---- strategies; the row is the strategy ---- */

static struct tdm_value get_name(const struct tdm_field *field)
{
	return tdm_value_text(tdm_sizing_title((enum tdm_sizing_name)((const struct tdm_sizing *)field->row)->name));
}

/* The pages of each buffer, or its bytes, under the buffer's index. */
static struct tdm_value depths_of(
	const struct tdm_field *field, const struct tdm_cb_pattern *p, const uint32_t *depths, bool bytes)
{
	struct tdm_named *list = tdm_arena_take(field->scratch, p->buffer_count * sizeof *list);
	for (size_t i = 0; i < p->buffer_count; i++)
		list[i] = (struct tdm_named){ tdm_arena_printed(field->scratch, "%" PRIu32, p->buffers[i].index),
			tdm_value_number(bytes ? tdm_times(depths[i], p->buffers[i].page_bytes) : depths[i]) };
	return tdm_value_members(list, p->buffer_count);
}

static struct tdm_value get_depths(const struct tdm_field *field)
{
	const struct tdm_sizing *s = field->row;
	return depths_of(field, s->pattern, s->depths, field->column->arg != 0);
}

static struct tdm_value get_metric(const struct tdm_field *field)
{
	double metric = ((const struct tdm_sizing *)field->row)->metrics[field->column->arg];
	return field->column->arg == TDM_PRESSURE_SCORE ? number(metric, 1) : tdm_value_share(metric);
}

static struct tdm_value get_band(const struct tdm_field *field)
{
	static const char *const names[] = {
		[TDM_FINDING_OK] = "LOW", [TDM_FINDING_WARNING] = "MEDIUM", [TDM_FINDING_BROKEN] = "HIGH"
	};
	static const uint8_t levels[] = { TDM_LEVEL_FINE, TDM_LEVEL_PLAIN, TDM_LEVEL_WARNING, TDM_LEVEL_DANGER };
	enum tdm_pressure metric = (enum tdm_pressure)field->column->arg;
	enum tdm_severity band = tdm_pressure_band(metric, ((const struct tdm_sizing *)field->row)->metrics[metric]);
	struct tdm_value value = tdm_value_text(names[band]);
	value.level = metric == TDM_PRESSURE_SCORE ? levels[band] : TDM_LEVEL_PLAIN;
	return value;
}

/* Buffers whose depth is not a multiple of the pages pushed and popped together. */
static struct tdm_value get_uneven(const struct tdm_field *field)
{
	const struct tdm_sizing *s = field->row;
	struct tdm_value *list = tdm_arena_take(field->scratch, s->pattern->buffer_count * sizeof *list);
	size_t count = 0;
	for (size_t i = 0; i < s->pattern->buffer_count; i++)
		if (s->depths[i] % s->pattern->buffers[i].step != 0)
			list[count++] = tdm_value_number(s->pattern->buffers[i].index);
	return tdm_value_list(list, count);
}

static struct tdm_value get_ns(const struct tdm_field *field)
{
	const struct tdm_sizing *s = field->row;
	return tdm_value_share(s->model.is_deadlocked ? (double)NAN : s->model.ns);
}

static struct tdm_value get_bottleneck(const struct tdm_field *field)
{
	const struct tdm_sizing *s = field->row;
	return tdm_value_text(s->model.is_deadlocked ? NULL : s->pattern->kernels[s->model.bottleneck].name);
}

/* Data from the pattern about the kernels or buffers of a model; the context is the strategy. */
static struct tdm_value get_kernel_name(const struct tdm_field *field)
{
	const struct tdm_sizing *s = field->table->context;
	return tdm_value_text(s->pattern->kernels[(const struct tdm_model_kernel *)field->row - s->model.kernels].name);
}

static struct tdm_value get_of_buffer(const struct tdm_field *field)
{
	const struct tdm_sizing *s = field->table->context;
	ptrdiff_t i = (const struct tdm_cb_buffer *)field->row - s->model.buffers;
	return field->column->arg == 0 ? tdm_value_number(s->pattern->buffers[i].index)
				       : tdm_value_share(s->model.room_ns[i]);
}

static struct tdm_value get_slots(const struct tdm_field *field)
{
	const struct tdm_sizing *s = field->table->context;
	struct tdm_value *list = tdm_arena_take(field->scratch, s->model.slot_count * sizeof *list);
	for (size_t i = 0; i < s->model.slot_count; i++)
		list[i] = tdm_value_share(((const struct tdm_cb_buffer *)field->row)->slot[i]);
	return tdm_value_list(list, s->model.slot_count);
}

#define MODEL_KERNEL(member) TDM_MEMBER(struct tdm_model_kernel, member)
#define MODEL_BUFFER(member) TDM_MEMBER(struct tdm_cb_buffer, member)

static struct tdm_value get_kernels(const struct tdm_field *field)
{
	static const struct tdm_column columns[] = {
		{ NULL, "name", .get = get_kernel_name },
		{ NULL, "waits_for_pages_ns", MODEL_KERNEL(pages_ns) },
		{ NULL, "waits_for_room_ns", MODEL_KERNEL(room_ns) },
		{ NULL, "waits_for_network_ns", MODEL_KERNEL(transfers_ns) },
		{ NULL, "end_ns", MODEL_KERNEL(end_ns) },
	};
	const struct tdm_sizing *s = field->row;
	struct tdm_table table = TDM_TABLE_OF(columns, s->model.kernels, s->pattern->kernel_count);
	table.context = s;
	return tdm_field_table(field, table);
}

static struct tdm_value get_buffers(const struct tdm_field *field)
{
	static const struct tdm_column columns[] = {
		{ NULL, "index", .get = get_of_buffer, .arg = 0 },
		{ NULL, "peak_pages", MODEL_BUFFER(peak) },
		{ NULL, "average_pages", MODEL_BUFFER(mean) },
		{ NULL, "full_share", MODEL_BUFFER(full) },
		{ NULL, "room_ns", .get = get_of_buffer, .arg = 1 },
		{ NULL, "mean_pages", .get = get_slots },
	};
	const struct tdm_sizing *s = field->row;
	struct tdm_table table = TDM_TABLE_OF(columns, s->model.buffers, s->pattern->buffer_count);
	table.context = s;
	return tdm_field_table(field, table);
}

#define STRATEGY(member) TDM_MEMBER(struct tdm_sizing, member)
#define METRIC(id)       .get = get_metric, .arg = TDM_PRESSURE_##id
#define BAND(id)         .get = get_band, .arg = TDM_PRESSURE_##id
enum { MISS_COLUMN = 4 }; /* this column and the next are shown only for a workload */
static const struct tdm_column strategy_columns[] = {
	{ "Strategy", "name", .get = get_name },
	{ NULL, "cb_tiles", .get = get_depths },
	{ NULL, "cb_bytes", .get = get_depths, .arg = 1 },
	{ "bytes", "total_bytes", STRATEGY(bytes), TDM_SIZE(0) },
	{ "CB1 miss", "cb1_miss_rate", METRIC(MISS), .decimals = 1 },
	{ "band", "cb1_miss_band", BAND(MISS) },
	{ "used", "cb_utilization", METRIC(UTILIZATION) },
	{ NULL, "cb_utilization_band", BAND(UTILIZATION) },
	{ "score", "score", METRIC(SCORE) },
	{ "risk", "thrashing_risk", BAND(SCORE) },
	{ "effic.", "memory_efficiency", STRATEGY(memory_efficiency) },
	{ "of L1", "l1_share", METRIC(L1), .decimals = 1 },
	{ "map", "l1_map_share", STRATEGY(map_share), .decimals = 1 },
	{ NULL, "fits", STRATEGY(fits) },
	{ NULL, "uneven_buffers", .get = get_uneven },
	{ NULL, "model.tiles", TDM_VIA(struct tdm_sizing, pattern, struct tdm_cb_pattern, tiles) },
	{ NULL, "model.ns", .get = get_ns },
	{ NULL, "model.tiles_per_s", STRATEGY(model.tiles_per_s) },
	{ NULL, "model.bytes_per_s", STRATEGY(model.bytes_per_s) },
	{ NULL, "model.deadlock", STRATEGY(model.deadlock), .flags = TDM_ZERO_IS_UNKNOWN },
	{ NULL, "model.bottleneck", .get = get_bottleneck },
	{ NULL, "model.kernels", .get = get_kernels },
	{ NULL, "model.slot_ns", STRATEGY(model.slot_ns) },
	{ NULL, "model.buffers", .get = get_buffers },
};

static struct tdm_value get_rate(const struct tdm_field *field)
{
	const struct tdm_sizing *s = field->row;
	return rate_of(s->model.tiles_per_s, s->model.is_deadlocked);
}

static double wait_of(const struct tdm_model_kernel *kernel)
{
	return kernel->pages_ns + kernel->room_ns;
}

/* The waits of each kernel as a percentage of the run. If there are many kernels, shows only those that wait least for
 * others. */
static struct tdm_value get_waits(const struct tdm_field *field)
{
	const struct tdm_sizing *s = field->row;
	const struct tdm_model_result *m = &s->model;
	size_t shown = 0, count = s->pattern->kernel_count;
	double until = count > KERNELS_SHOWN ? -1 : INFINITY;
	struct tdm_buf out = { 0 };
	for (size_t k = 0; k < KERNELS_SHOWN && count > KERNELS_SHOWN; k++) {
		double next = INFINITY;
		for (size_t i = 0; i < count; i++) {
			double wait = wait_of(&m->kernels[i]);
			next = wait > until && wait < next ? wait : next;
		}
		until = isfinite(next) ? next : until;
	}
	for (size_t i = 0; i < count && m->ns > 0; i++) {
		if (!(wait_of(&m->kernels[i]) <= until) || shown == KERNELS_SHOWN)
			continue;
		tdm_buf_printf(&out, "%s%s %.0f/%.0f/%.0f", shown++ != 0 ? " " : "", s->pattern->kernels[i].name,
			100 * m->kernels[i].pages_ns / m->ns, 100 * m->kernels[i].room_ns / m->ns,
			100 * m->kernels[i].transfers_ns / m->ns);
	}
	if (m->ns > 0 && shown < count)
		tdm_buf_printf(&out, " and %zu more that wait as long or longer", count - shown);
	return tdm_value_text(tdm_arena_buf(field->scratch, &out).ptr);
}

static const struct tdm_column model_columns[] = {
	{ "Model", NULL, .get = get_name },
	{ "Mtiles/s", NULL, .get = get_rate },
	{ "slowest", NULL, .get = get_bottleneck },
	{ "% of time waiting: pages/room/network", NULL, .get = get_waits, .flags = TDM_WRAP },
};

static struct tdm_value get_full_shares(const struct tdm_field *field)
{
	const struct tdm_sizing *s = field->row;
	struct tdm_buf out = { 0 };
	for (size_t i = 0; i < s->pattern->buffer_count; i++)
		tdm_buf_printf(&out, "%s%.0f", i != 0 ? "/" : "", 100 * s->model.buffers[i].full);
	return tdm_value_text(tdm_arena_buf(field->scratch, &out).ptr);
}

static const struct tdm_column fill_columns[] = {
	{ "Average pages", NULL, .get = get_name },
	{ "% of time full", NULL, .get = get_full_shares, .flags = TDM_WRAP },
};

/* ---- one figure per buffer: in columns, or in a table of buffers if there are many ---- */

static struct tdm_value get_depth(const struct tdm_field *field)
{
	return tdm_value_number(((const struct tdm_sizing *)field->row)->depths[field->column->arg]);
}

static struct tdm_value get_mean(const struct tdm_field *field)
{
	return number(((const struct tdm_sizing *)field->row)->model.buffers[field->column->arg].mean, 1);
}

static struct tdm_value get_point_depth(const struct tdm_field *field)
{
	return tdm_value_number(((const struct tdm_advice_point *)field->row)->depths[field->column->arg]);
}

/* The table, extended by a column for each buffer. */
static struct tdm_table beside(struct tdm_result *result, const struct tdm_pressure_result *r, struct tdm_table table,
	struct tdm_value (*get)(const struct tdm_field *field))
{
	size_t added = r->pattern.buffer_count <= BESIDE_MAX ? r->pattern.buffer_count : 0;
	struct tdm_column *columns = tdm_result_alloc(result, table.column_count + added, sizeof *columns);
	columns[0] = table.columns[0];
	for (size_t i = 0; i < added; i++)
		columns[1 + i] = (struct tdm_column){ .title = tdm_result_printed(
							      result, "CB%" PRIu32, r->pattern.buffers[i].index),
			.get = get,
			.arg = (int)i };
	memcpy(columns + 1 + added, table.columns + 1, (table.column_count - 1) * sizeof *columns);
	if (table.columns == strategy_columns && r->setup.pattern != NULL)
		columns[added + MISS_COLUMN].title = columns[added + MISS_COLUMN + 1].title = NULL;
	table.columns = columns;
	table.column_count += added;
	return table;
}

/* A buffer's figure under a strategy. The row is the buffer, the context is the result. */
static struct tdm_value get_of_strategy(const struct tdm_field *field)
{
	const struct tdm_pressure_result *r = field->table->context;
	const struct tdm_sizing *s = tdm_pressure_sizing(r, (enum tdm_sizing_name)(field->column->arg / 3));
	ptrdiff_t i = (const struct tdm_pattern_buffer *)field->row - r->pattern.buffers;
	if (s == NULL)
		return tdm_value_text(NULL);
	return field->column->arg % 3 == 0   ? tdm_value_number(s->depths[i])
	       : field->column->arg % 3 == 1 ? number(s->model.buffers[i].mean, 1)
					     : tdm_value_share(s->model.buffers[i].full);
}

#define BUFFER(member)          TDM_MEMBER(struct tdm_pattern_buffer, member)
#define OF_STRATEGY(name, what) .get = get_of_strategy, .arg = 3 * TDM_SIZING_##name + (what)
static const struct tdm_column buffer_columns[] = {
	{ "buffer", NULL, BUFFER(index) },
	{ "page", NULL, BUFFER(page_bytes), TDM_SIZE(0) },
	{ "given", NULL, OF_STRATEGY(GIVEN, 0) },
	{ "filled", NULL, OF_STRATEGY(GIVEN, 1) },
	{ "full", NULL, OF_STRATEGY(GIVEN, 2) },
	{ "advised", NULL, OF_STRATEGY(ADVISED, 0) },
	{ "filled", NULL, OF_STRATEGY(ADVISED, 1) },
	{ "full", NULL, OF_STRATEGY(ADVISED, 2) },
};

/* ---- the advice; the row is a point of the curve, the context the result ---- */

static struct tdm_value get_point(const struct tdm_field *field)
{
	const struct tdm_pressure_result *r = field->table->context;
	return depths_of(field, &r->pattern, ((const struct tdm_advice_point *)field->row)->depths, false);
}

static struct tdm_value get_point_rate(const struct tdm_field *field)
{
	double rate = ((const struct tdm_advice_point *)field->row)->tiles_per_s;
	return rate_of(rate, !(rate > 0));
}

static struct tdm_value get_share(const struct tdm_field *field)
{
	double best = ((const struct tdm_pressure_result *)field->table->context)->advice.best_tiles_per_s;
	return tdm_value_share(
		best > 0 ? ((const struct tdm_advice_point *)field->row)->tiles_per_s / best : (double)NAN);
}

/* Tiles per second gained per additional KiB, between this point and the next. */
static struct tdm_value get_per_kib(const struct tdm_field *field)
{
	const struct tdm_cb_advice *a = &((const struct tdm_pressure_result *)field->table->context)->advice;
	const struct tdm_advice_point *point = field->row;
	bool is_last = point + 1 == a->curve + a->point_count;
	if (is_last || point[1].bytes <= point->bytes)
		return tdm_value_text(NULL);
	return number(
		(point[1].tiles_per_s - point->tiles_per_s) / ((double)(point[1].bytes - point->bytes) / 1024), 0);
}

static const struct tdm_column curve_columns[] = {
	{ "bytes", "bytes", TDM_MEMBER(struct tdm_advice_point, bytes), TDM_SIZE(0) },
	{ NULL, "cb_tiles", .get = get_point },
	{ "Mtiles/s", NULL, .get = get_point_rate },
	{ NULL, "tiles_per_s", TDM_MEMBER(struct tdm_advice_point, tiles_per_s) },
	{ "of best", "share_of_best", .get = get_share, .decimals = 1 },
	{ "tiles/s per further KiB", "tiles_per_s_per_kib", .get = get_per_kib, .flags = TDM_WITH_SIGN },
};

static void add_advice(struct tdm_block *in, const struct tdm_pressure_result *r)
{
	const struct tdm_cb_advice *a = &r->advice;
	bool is_found = tdm_cb_advice_is_found(a);
	double share = a->best_tiles_per_s > 0 ? a->advised.tiles_per_s / a->best_tiles_per_s : 0;
	struct tdm_value best = number(a->best_tiles_per_s > 0 ? a->best_tiles_per_s : (double)NAN, 0);
	struct tdm_value percent = tdm_value_share(share);
	percent.decimals = 1;
	struct tdm_block *group = tdm_add_group(in, "advice", "Advice");
	const char *how = a->is_limited    ? "the smallest on the curve that is nearly as fast as what fits"
			  : a->is_smallest ? "nothing smaller reaches 99 %"
			  : a->is_cut      ? "the search ended before it reached 99 %"
					   : "the search ended early, so something smaller may do";
	tdm_data_all(group,
		TDM_VALUES({ "goal_share", tdm_value_share(TDM_ADVICE_GOAL) }, { "best_tiles_per_s", best },
			{ "tiles_per_s", tdm_value_if(is_found, number(a->advised.tiles_per_s, 0)) },
			{ "is_smallest", tdm_value_bool(a->is_smallest) }, { "is_cut", tdm_value_bool(a->is_cut) },
			{ "is_limited_by_l1", tdm_value_bool(a->is_limited || a->is_too_large) }));
	tdm_line(group, NULL,
		a->is_deadlocked ? "None: it deadlocks whatever the depths that may change: {deadlock}."
		: a->is_too_long ? "None: the run is too long to search, and tiles and totals have no large common "
				   "divisor by which it could be shortened."
		: a->is_too_large
			? "None: the least depths need {_least}, and {_left} are left. Take smaller blocks or "
			  "pages."
			: "{bytes} give {_share} of the best throughput, {_rate} Mtiles/s|{_limited}, and L1 "
			  "has no room for more|: {_how} ({runs} runs of {searched_tiles} tiles).",
		TDM_VALUES({ "bytes", tdm_value_if(is_found, tdm_value_bytes(a->advised.bytes)) },
			{ "deadlock", tdm_value_text(a->is_deadlocked ? a->deadlock : NULL) },
			{ "searched_tiles", tdm_value_count(a->tiles) }, { "runs", tdm_value_count(a->runs) },
			{ "_least", tdm_value_bytes(a->curve[0].bytes) }, { "_left", tdm_value_bytes(r->l1_left) },
			{ "_share", percent }, { "_rate", number(a->best_tiles_per_s / 1e6, 3) },
			{ "_limited", tdm_value_bool(a->is_limited) }, { "_how", tdm_value_text(how) }));
	struct tdm_table curve = TDM_FITTED(curve_columns, a->curve, a->point_count);
	curve.context = r;
	struct tdm_block *table = tdm_add_table(group, "curve", NULL, beside(in->result, r, curve, get_point_depth));
	table->is_close = true;
	table->is_data_only = a->is_deadlocked;
}

/* ---- the model: its constants, and the fit to measurements ---- */

/* The context contains all values. */
static struct tdm_value get_constant(const struct tdm_field *field)
{
	const struct tdm_core_speed *speed = field->table->context;
	const struct tdm_speed_info *info = field->row;
	ptrdiff_t i = info - tdm_speed_info;
	switch (field->column->arg) {
	case 0:
		return tdm_field_printed(field, "%g", speed->value[i]);
	case 1:
		return tdm_value_text(tdm_speed_tag_names[speed->tag[i]]);
	case 2:
		return tdm_field_printed(field, "%s; %s", info->summary, speed->source[i]);
	case 3:
		return tdm_value_share(speed->value[i]);
	default:
		return tdm_value_text(speed->source[i]);
	}
}

#define CONSTANT(member) TDM_MEMBER(struct tdm_speed_info, member)
static const struct tdm_column constant_columns[] = {
	{ "Constant", "name", CONSTANT(name) },
	{ "value", NULL, .get = get_constant, .arg = 0, .flags = TDM_OTHER_SIDE },
	{ "unit", "unit", CONSTANT(unit) },
	{ "known as", "known_as", .get = get_constant, .arg = 1 },
	{ "what it is; where it comes from", NULL, .get = get_constant, .arg = 2, .flags = TDM_WRAP },
	{ NULL, "value", .get = get_constant, .arg = 3 },
	{ NULL, "summary", CONSTANT(summary) },
	{ NULL, "source", .get = get_constant, .arg = 4 },
};

/* The row is a measured figure, the context the fit. */
static struct tdm_value get_fit(const struct tdm_field *field)
{
	static const char *const names[] = { "kernel", "front", "back" };
	const struct tdm_model_fit *fit = field->table->context;
	ptrdiff_t i = (const double *)field->row - fit->measured_ns;
	return field->column->arg == 0 ? tdm_value_text(names[i])
				       : number(field->column->arg == 1    ? fit->measured_ns[i]
						 : field->column->arg == 2 ? fit->after_ns[i]
									   : fit->before_ns[i],
						 0);
}

static const struct tdm_column fit_columns[] = {
	{ "Time of", "name", .get = get_fit, .arg = 0 },
	{ "measured [ns]", "measured_ns", .get = get_fit, .arg = 1 },
	{ "fitted [ns]", "fitted_ns", .get = get_fit, .arg = 2 },
	{ "before [ns]", "before_ns", .get = get_fit, .arg = 3 },
};

static void add_fit(struct tdm_block *in, const struct tdm_model_fit *fit)
{
	struct tdm_block *group = tdm_add_group(in, "fit", NULL);
	struct tdm_value error = tdm_value_share(fit->error), before = tdm_value_share(fit->error_before);
	error.decimals = before.decimals = 1;
	tdm_line(group, "Fitted to",
		"{operation}, {calls/measured call/measured calls}: transfers x{transfers_factor}, math "
		"x{math_factor}; mean error {error_share} of the kernel time, before {error_share_before}",
		TDM_VALUES({ "operation", tdm_value_text(fit->operation) }, { "calls", tdm_value_count(fit->calls) },
			{ "transfers_factor", number(fit->transfers, 2) }, { "math_factor", number(fit->math, 2) },
			{ "error_share", error }, { "error_share_before", before }));
	tdm_line(group, "Not used",
		"{calls_without_waits/call/calls} of it without both waits; {rows_refused/row/rows} of the report "
		"refused",
		TDM_VALUES({ "calls_without_waits", tdm_value_count(fit->unmeasured) },
			{ "rows_refused", tdm_value_count(fit->refused) }))
		->is_data_only = fit->unmeasured == 0 && fit->refused == 0;
	struct tdm_table figures = TDM_FITTED(fit_columns, fit->measured_ns, TDM_FIT_FIGURES);
	figures.context = fit;
	tdm_add_table(group, "figures", NULL, figures);
}

/* ---- the whole result ---- */

static void add_head(
	struct tdm_block *in, const struct tdm_pressure_report *report, const struct tdm_pressure_result *r)
{
	const struct tdm_pressure_setup *s = &r->setup;
	const struct tdm_cb_pattern *p = &r->pattern;
	bool is_pattern = s->pattern != NULL;
	bool is_even = r->tiles_per_shard * s->mesh_rows * s->mesh_columns == s->a_tiles;
	uint64_t l1_size = tdm_card_get(s->card, TDM_CARD_L1_SIZE);
#define OF_WORKLOAD(value) tdm_value_if(!is_pattern, value)
	tdm_line(in, is_pattern ? "Pattern" : "Workload",
		is_pattern ? "{_name}: {_tiles} tiles through {_buffers/circular buffer/circular buffers} of "
			     "{_kernels/kernel/kernels}, on {_card}"
			   : "{a_tiles/A tile/A tiles}, |{_uneven}up to |{tiles_per_shard} on each of "
			     "{mesh_rows}x{mesh_columns} devices, and {b_tiles/B tile/B tiles} of {tile_bytes} "
			     "({format}), on {_card}",
		TDM_VALUES({ "pattern", tdm_value_name(is_pattern ? p->name : NULL) },
			{ "card", tdm_value_text(s->card->name) },
			{ "a_tiles", OF_WORKLOAD(tdm_value_count(s->a_tiles)) },
			{ "b_tiles", OF_WORKLOAD(tdm_value_count(s->b_tiles)) },
			{ "tiles_per_shard", OF_WORKLOAD(tdm_value_count(r->tiles_per_shard)) },
			{ "mesh_rows", OF_WORKLOAD(tdm_value_number(s->mesh_rows)) },
			{ "mesh_columns", OF_WORKLOAD(tdm_value_number(s->mesh_columns)) },
			{ "format", OF_WORKLOAD(tdm_value_text(report->format)) },
			{ "tile_bytes", OF_WORKLOAD(tdm_value_bytes(s->tile_bytes)) },
			{ "_name", tdm_value_text(p->name[0] != '\0' ? p->name : report->pattern_path) },
			{ "_tiles", tdm_value_count(p->tiles) }, { "_buffers", tdm_value_count(p->buffer_count) },
			{ "_kernels", tdm_value_count(p->kernel_count) }, { "_uneven", tdm_value_bool(!is_even) },
			{ "_card", tdm_value_text(s->card->full_name) }));
#undef OF_WORKLOAD
	tdm_line(in, "Class", "{workload_class}: {_behaviour}",
		TDM_VALUES({ "workload_class", tdm_value_text(r->workload) },
			{ "_behaviour", tdm_value_text(r->behaviour) }))
		->is_data_only = r->workload == NULL;
	tdm_line(in, "L1 of a core",
		"{_size}: |firmware {firmware_bytes}, |kernels up to {kernel_bytes_max}|, L1 buffers {_used}|; "
		"{l1_left_bytes} left for circular buffers",
		TDM_VALUES({ "_size", tdm_value_bytes(l1_size) },
			{ "firmware_bytes", tdm_value_bytes(r->firmware_bytes) },
			{ "kernel_bytes_max", tdm_value_bytes(r->kernel_bytes) },
			{ "_used", tdm_value_if(s->l1_used != 0, tdm_value_bytes(s->l1_used)) },
			{ "l1_usable_bytes", tdm_value_bytes(r->l1_usable) },
			{ "l1_left_bytes", tdm_value_bytes(r->l1_left) },
			{ "card_buffers", tdm_value_count(r->card_buffers) },
			{ "buffers_beyond_card", tdm_value_count(r->beyond_card) }));
	if (report->fit != NULL)
		add_fit(in, report->fit);
}

/* Adds a warning: with an uneven depth, a block would cross the end of the buffer. */
static void add_uneven(struct tdm_block *in, const struct tdm_pressure_result *r)
{
	size_t count = 0;
	for (size_t i = 0; i < r->strategy_count; i++)
		for (size_t k = 0; k < r->pattern.buffer_count; k++) {
			uint32_t depth = r->strategies[i].depths[k], step = r->pattern.buffers[k].step;
			if (depth % step == 0 || count++ >= LINES_MAX)
				continue;
			tdm_warn(in, "Uneven",
				"{_name}: {_depth} pages of CB{_buffer} are not a multiple of {_step}: a block would "
				"cross its end",
				TDM_VALUES({ "_name", tdm_value_text(tdm_sizing_title(
							      (enum tdm_sizing_name)r->strategies[i].name)) },
					{ "_depth", tdm_value_number(depth) },
					{ "_buffer", tdm_value_number(r->pattern.buffers[k].index) },
					{ "_step", tdm_value_number(step) }));
		}
	if (count > LINES_MAX)
		tdm_say(in, "and {_more} more", TDM_VALUES({ "_more", tdm_value_count(count - LINES_MAX) }));
}

/* If there are several sizes, text shows only the strategies. */
static void add_result(
	struct tdm_block *in, const struct tdm_pressure_report *report, const struct tdm_pressure_result *r)
{
	struct tdm_result *result = in->result;
	struct tdm_block *head = tdm_add_group(in, NULL, NULL);
	struct tdm_table strategies = TDM_FITTED(strategy_columns, r->strategies, r->strategy_count);
	struct tdm_table models = TDM_FITTED(model_columns, r->strategies, r->strategy_count);
	struct tdm_table fills = TDM_FITTED(fill_columns, r->strategies, r->strategy_count);
	struct tdm_table buffers = TDM_FITTED(buffer_columns, r->pattern.buffers, r->pattern.buffer_count);
	size_t assumed = 0;
	add_head(head, report, r);
	add_uneven(head, r);
	tdm_add_table(in, "strategies", NULL, beside(result, r, strategies, get_depth))->is_close = report->is_multi;
	struct tdm_block *rest = tdm_add_group(in, NULL, NULL);
	head->is_data_only = rest->is_data_only = report->is_multi;
	buffers.context = r;
	buffers.limit = ROWS_MAX;
	bool are_beside = r->pattern.buffer_count <= BESIDE_MAX;
	if (!are_beside)
		tdm_add_table(rest, NULL, NULL, buffers);
	tdm_add_table(rest, NULL, NULL, models);
	if (are_beside)
		tdm_add_table(rest, NULL, NULL, beside(result, r, fills, get_mean));
	for (int i = 0; i < TDM_SPEED_COUNT; i++)
		assumed += r->setup.speed->tag[i] == TDM_SPEED_ASSUMED;
	tdm_say(rest,
		"{_tiles} tiles on one core at {_clock} MHz|; {_assumed} of the model's {_all} constants are assumed: "
		"see --explain-model|.",
		TDM_VALUES({ "_tiles", tdm_value_count(r->pattern.tiles) },
			{ "_clock", tdm_value_text(
					    tdm_result_printed(result, "%g", r->setup.speed->value[TDM_SPEED_CLOCK])) },
			{ "_assumed", tdm_value_if(assumed != 0, tdm_value_count(assumed)) },
			{ "_all", tdm_value_count(TDM_SPEED_COUNT) }));
	if (r->setup.pattern == NULL)
		tdm_say(rest, "Pressure counts tiles that do not fit at once; it does not say that a core runs slower.",
			NULL);
	add_advice(rest, r);
}

static void add_sizes(struct tdm_block *in, const struct tdm_pressure_report *report)
{
	struct tdm_block *sizes = tdm_add_list(in, "sizes", NULL);
	for (size_t i = 0; i < report->count; i++) {
		const struct tdm_pressure_result *r = &report->results[i];
		uint64_t a = r->setup.a_tiles, b = r->setup.b_tiles;
		const char *title = tdm_result_printed(in->result, "%" PRIu64 " A tile%s, %" PRIu64 " B tile%s: %s", a,
			a == 1 ? "" : "s", b, b == 1 ? "" : "s", r->workload);
		add_result(tdm_add_group(sizes, NULL, title), report, r);
	}
	struct tdm_block *group =
		tdm_add_group(in, "critical_from_b_tiles", "Where it becomes critical (score above 70)");
	for (int name = 0; name < TDM_SIZINGS; name++) {
		const struct tdm_pressure_result *r = tdm_pressure_first(
			report->results, report->count, (enum tdm_sizing_name)name, TDM_FINDING_BROKEN);
		const char *title = tdm_sizing_title((enum tdm_sizing_name)name);
		struct tdm_value from = tdm_value_if(r != NULL, tdm_value_count(r != NULL ? r->setup.b_tiles : 0));
		if (name != TDM_SIZING_GIVEN)
			tdm_line(group, title, "from {_from} B tiles|{_none}at none of these sizes",
				TDM_VALUES({ title, from }, { "_from", from }, { "_none", tdm_value_bool(r == NULL) }));
	}
}

void tdm_pressure_show(struct tdm_block *in, const struct tdm_pressure_report *report)
{
	const struct tdm_core_speed *speed = report->setup.speed;
	struct tdm_table constants = TDM_FITTED(constant_columns, tdm_speed_info, TDM_SPEED_COUNT);
	if (report->baseline != NULL)
		tdm_line(in, "Baseline", "{_path}|{_same}: no budget differs",
			TDM_VALUES({ "_path", tdm_value_text(report->baseline) },
				{ "_same", tdm_value_bool(report->is_as_baseline) }));
	tdm_show_findings(in, "findings", NULL, &report->found);
	tdm_count_findings(in, &report->remarks);
	struct tdm_block *body = tdm_add_group(in, NULL, NULL);
	body->is_apart = true;
	if (report->is_multi)
		add_sizes(body, report);
	else if (report->count != 0)
		add_result(body, report, &report->results[0]);
	if (report->fit == NULL)
		tdm_data(in, "fit", tdm_value_text(NULL));
	constants.context = speed;
	tdm_add_table(in, "constants", NULL, constants)->is_data_only = !report->explain;
	tdm_add_table(in, "budgets", NULL, tdm_budgets_table(&report->budgets))->is_data_only = true;
}
