/* The tables about pressure: columns for text and JSON, and their rows. */
#include "report/finding_report.h"
#include "report/pressure_report.h"
#include "report/report_put.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { KERNELS_SHOWN = 8 };

static struct tdm_value get_name(const struct tdm_field *field)
{
	const struct tdm_sizing *s = field->row;
	return tdm_value_text(tdm_sizing_title((enum tdm_sizing_name)s->name));
}

/* How wide each buffer of a cell is that has one figure for each. */
static int figure_columns(const struct tdm_field *field, const struct tdm_cb_pattern *p)
{
	return p->buffer_count != 0 ? (int)(field->table->widths[0] / p->buffer_count) : 0;
}

/* Depths side by side, below the names of their buffers. */
static void put_depths(
	const struct tdm_field *field, const struct tdm_cb_pattern *p, const uint32_t *depths, struct tdm_buf *out)
{
	int columns = figure_columns(field, p);
	for (size_t i = 0; i < p->buffer_count; i++)
		tdm_buf_printf(out, "%*" PRIu32, columns, depths[i]);
}

static void text_tiles(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_sizing *s = field->row;
	put_depths(field, s->pattern, s->depths, out);
}

static void text_curve_tiles(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_curve_row *row = field->row;
	put_depths(field, row->pattern, row->point->depths, out);
}

/* An object with the index of each buffer; `arg`: bytes instead of pages. */
static void json_depths(const struct tdm_cb_pattern *p, const uint32_t *depths, bool bytes, struct tdm_json *json)
{
	tdm_json_object(json);
	for (size_t i = 0; i < p->buffer_count; i++) {
		char key[16];
		snprintf(key, sizeof key, "%" PRIu32, p->buffers[i].index);
		tdm_json_put_bytes(json, key, bytes ? tdm_times(depths[i], p->buffers[i].page_bytes) : depths[i]);
	}
	tdm_json_object_end(json);
}

static void json_tiles(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_sizing *s = field->row;
	json_depths(s->pattern, s->depths, field->column->arg != 0, json);
}

static void json_curve_tiles(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_curve_row *row = field->row;
	json_depths(row->pattern, row->point->depths, false, json);
}

static struct tdm_value get_metric(const struct tdm_field *field)
{
	const struct tdm_sizing *s = field->row;
	return tdm_value_share(s->metrics[field->column->arg]);
}

static struct tdm_value get_band(const struct tdm_field *field)
{
	const struct tdm_sizing *s = field->row;
	enum tdm_pressure metric = (enum tdm_pressure)field->column->arg;
	enum tdm_severity band = tdm_pressure_band(metric, s->metrics[metric]);
	return tdm_value_text(band != TDM_FINDING_INFO ? tdm_finding_severity_name(TDM_FAMILY_PRESSURE, band) : NULL);
}

static void text_score(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_sizing *s = field->row;
	if (isnan(s->metrics[TDM_PRESSURE_SCORE]))
		tdm_buf_putc(out, '-');
	else
		tdm_buf_printf(out, "%.1f", s->metrics[TDM_PRESSURE_SCORE]);
}

static const char *band_style(const struct tdm_field *field)
{
	const struct tdm_sizing *s = field->row;
	enum tdm_severity band = tdm_pressure_band(TDM_PRESSURE_SCORE, s->metrics[TDM_PRESSURE_SCORE]);
	return band == TDM_FINDING_BROKEN    ? TDM_STYLE_RED
	       : band == TDM_FINDING_WARNING ? TDM_STYLE_YELLOW
	       : band == TDM_FINDING_OK      ? TDM_STYLE_GREEN
					     : "";
}

static void json_series(const struct tdm_model_result *m, const struct tdm_cb_buffer_result *b, struct tdm_json *json)
{
	tdm_json_put_array(json, "mean_pages");
	for (size_t i = 0; i < m->slot_count; i++)
		tdm_json_double(json, b->slot[i]);
	tdm_json_array_end(json);
}

static void json_model_buffers(const struct tdm_sizing *s, struct tdm_json *json)
{
	const struct tdm_model_result *m = &s->model;
	tdm_json_put_double(json, "slot_ns", m->slot_ns);
	tdm_json_put_array(json, "buffers");
	for (size_t i = 0; i < s->pattern->buffer_count; i++) {
		tdm_json_object(json);
		tdm_json_put_u64(json, "index", s->pattern->buffers[i].index);
		tdm_json_put_u64(json, "peak_pages", m->buffers[i].peak);
		tdm_json_put_double(json, "average_pages", m->buffers[i].mean);
		tdm_json_put_double(json, "full_share", m->buffers[i].full);
		tdm_json_put_double(json, "room_ns", m->room_ns[i]);
		json_series(m, &m->buffers[i], json);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
}

static void json_model(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_sizing *s = field->row;
	const struct tdm_model_result *m = &s->model;
	tdm_json_object(json);
	tdm_json_put_u64(json, "tiles", s->pattern->tiles);
	tdm_json_put_double(json, "ns", m->is_deadlocked ? (double)NAN : m->ns);
	tdm_json_put_double(json, "tiles_per_s", m->tiles_per_s);
	tdm_json_put_double(json, "bytes_per_s", m->bytes_per_s);
	tdm_json_put_text(json, "deadlock", m->is_deadlocked ? m->deadlock : NULL);
	tdm_json_put_text(json, "bottleneck", m->is_deadlocked ? NULL : s->pattern->kernels[m->bottleneck].name);
	tdm_json_put_array(json, "kernels");
	for (size_t i = 0; i < s->pattern->kernel_count; i++) {
		tdm_json_object(json);
		tdm_json_put_text(json, "name", s->pattern->kernels[i].name);
		tdm_json_put_double(json, "waits_for_pages_ns", m->kernels[i].pages_ns);
		tdm_json_put_double(json, "waits_for_room_ns", m->kernels[i].room_ns);
		tdm_json_put_double(json, "waits_for_network_ns", m->kernels[i].transfers_ns);
		tdm_json_put_double(json, "end_ns", m->kernels[i].end_ns);
		tdm_json_object_end(json);
	}
	tdm_json_array_end(json);
	json_model_buffers(s, json);
	tdm_json_object_end(json);
}

/* Buffers whose depth is no multiple of what is pushed and popped at once. */
static void json_uneven(const struct tdm_field *field, struct tdm_json *json)
{
	const struct tdm_sizing *s = field->row;
	tdm_json_array(json);
	for (size_t i = 0; i < s->pattern->buffer_count; i++)
		if (s->depths[i] % s->pattern->buffers[i].step != 0)
			tdm_json_u64(json, s->pattern->buffers[i].index);
	tdm_json_array_end(json);
}

#define STRATEGY(member) TDM_MEMBER(struct tdm_sizing, member)
#define METRIC(id)       .get = get_metric, .arg = TDM_PRESSURE_##id, .flags = TDM_OTHER_SIDE
#define BAND(id)         .get = get_band, .arg = TDM_PRESSURE_##id
const struct tdm_column tdm_strategy_columns[16] = {
	{ "Strategy", "name", .get = get_name, .width = 17 },
	{ "", "cb_tiles", .text = text_tiles, .json = json_tiles, .width = TDM_WIDTH_OF_TABLE },
	{ NULL, "cb_bytes", .json = json_tiles, .arg = 1 },
	{ "bytes", "total_bytes", STRATEGY(bytes), TDM_SIZE(9) },
	{ "CB1 miss", "cb1_miss_rate", METRIC(MISS), .decimals = 1, .width = 8 },
	{ "band", "cb1_miss_band", BAND(MISS), .width = 6 },
	{ "used", "cb_utilization", METRIC(UTILIZATION), .width = 5 },
	{ NULL, "cb_utilization_band", BAND(UTILIZATION) },
	{ "score", "score", METRIC(SCORE), .text = text_score, .width = 5 },
	{ "risk", "thrashing_risk", BAND(SCORE), .width = 6, .style = band_style },
	{ "effic.", "memory_efficiency", STRATEGY(memory_efficiency), .width = 6 },
	{ "of L1", "l1_share", METRIC(L1), .decimals = 1, .width = 6 },
	{ "map", "l1_map_share", STRATEGY(map_share), .decimals = 1, .width = 6 },
	{ NULL, "fits", STRATEGY(fits) },
	{ NULL, "uneven_buffers", .json = json_uneven },
	{ NULL, "model", .json = json_model },
};

static void text_rate(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_sizing *s = field->row;
	if (s->model.is_deadlocked)
		tdm_buf_puts(out, "deadlock");
	else
		tdm_buf_printf(out, "%.3f", s->model.tiles_per_s / 1e6);
}

static double wait_of(const struct tdm_model_kernel *kernel)
{
	return kernel->pages_ns + kernel->room_ns;
}

/* Of the kernels, the wait up to which one is shown: of many, those that wait least for the others. */
static double shown_until(const struct tdm_sizing *s)
{
	double most = -1;
	for (size_t k = 0; k < KERNELS_SHOWN && s->pattern->kernel_count > KERNELS_SHOWN; k++) {
		double next = INFINITY;
		for (size_t i = 0; i < s->pattern->kernel_count; i++) {
			double wait = wait_of(&s->model.kernels[i]);
			next = wait > most && wait < next ? wait : next;
		}
		most = isfinite(next) ? next : most;
	}
	return s->pattern->kernel_count > KERNELS_SHOWN ? most : INFINITY;
}

/* The waits of each kernel in percent of the run. */
static void text_waits(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_sizing *s = field->row;
	const struct tdm_model_result *m = &s->model;
	double until = shown_until(s);
	size_t shown = 0, count = s->pattern->kernel_count;
	for (size_t i = 0; i < count && m->ns > 0; i++) {
		if (!(wait_of(&m->kernels[i]) <= until) || shown == KERNELS_SHOWN)
			continue;
		shown++;
		tdm_buf_printf(out, "%s%s %.0f/%.0f/%.0f", shown != 1 ? " " : "", s->pattern->kernels[i].name,
			100 * m->kernels[i].pages_ns / m->ns, 100 * m->kernels[i].room_ns / m->ns,
			100 * m->kernels[i].transfers_ns / m->ns);
	}
	if (m->ns > 0 && shown < count)
		tdm_buf_printf(out, " and %zu more that wait as long or longer", count - shown);
}

static void text_bottleneck(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_sizing *s = field->row;
	tdm_cell_text(out, s->model.is_deadlocked ? "-" : s->pattern->kernels[s->model.bottleneck].name, true);
}

static void text_fill(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_sizing *s = field->row;
	int columns = figure_columns(field, s->pattern);
	for (size_t i = 0; i < s->pattern->buffer_count; i++)
		tdm_buf_printf(out, "%*.1f", columns, s->model.buffers[i].mean);
}

static void text_full(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_sizing *s = field->row;
	for (size_t i = 0; i < s->pattern->buffer_count; i++)
		tdm_buf_printf(out, "%s%.0f", i != 0 ? "/" : "", 100 * s->model.buffers[i].full);
}

const struct tdm_column tdm_strategy_fill_columns[3] = {
	{ "Average pages", NULL, .get = get_name, .width = 17 },
	{ "", NULL, .text = text_fill, .width = TDM_WIDTH_OF_TABLE },
	{ "% of time full", NULL, .text = text_full, .flags = TDM_WRAP, .before = 1 },
};

const struct tdm_column tdm_strategy_model_columns[4] = {
	{ "Model", NULL, .get = get_name, .width = 17 },
	{ "Mtiles/s", NULL, .text = text_rate, .width = 9, .flags = TDM_OTHER_SIDE },
	{ "slowest", NULL, .text = text_bottleneck, .width = 8 },
	{ "% of time waiting: pages/room/network", NULL, .text = text_waits, .flags = TDM_WRAP },
};

/* A figure of a buffer with a strategy. The row is the buffer, the context the result. */
static const struct tdm_sizing *strategy_of(const struct tdm_field *field, size_t *buffer)
{
	const struct tdm_pressure_result *r = field->table->context;
	*buffer = (size_t)((const struct tdm_pattern_buffer *)field->row - r->pattern.buffers);
	return tdm_pressure_sizing(r, (enum tdm_sizing_name)field->column->arg);
}

static struct tdm_value get_depth(const struct tdm_field *field)
{
	size_t i;
	const struct tdm_sizing *s = strategy_of(field, &i);
	return tdm_value_number(s != NULL ? s->depths[i] : UINT64_MAX);
}

static void text_average(const struct tdm_field *field, struct tdm_buf *out)
{
	size_t i;
	const struct tdm_sizing *s = strategy_of(field, &i);
	if (s != NULL)
		tdm_buf_printf(out, "%.1f", s->model.buffers[i].mean);
	else
		tdm_buf_putc(out, '-');
}

static struct tdm_value get_full(const struct tdm_field *field)
{
	size_t i;
	const struct tdm_sizing *s = strategy_of(field, &i);
	return tdm_value_share(s != NULL ? s->model.buffers[i].full : (double)NAN);
}

#define BUFFER(member)    TDM_MEMBER(struct tdm_pattern_buffer, member)
#define OF_STRATEGY(name) .arg = TDM_SIZING_##name, .flags = TDM_OTHER_SIDE
const struct tdm_column tdm_depth_columns[8] = {
	{ "buffer", NULL, BUFFER(index), .width = 6 },
	{ "page", NULL, BUFFER(page_bytes), TDM_SIZE(9) },
	{ "given", NULL, .get = get_depth, .width = 6, OF_STRATEGY(GIVEN) },
	{ "filled", NULL, .text = text_average, .width = 7, OF_STRATEGY(GIVEN) },
	{ "full", NULL, .get = get_full, .width = 5, OF_STRATEGY(GIVEN) },
	{ "advised", NULL, .get = get_depth, .width = 8, OF_STRATEGY(ADVISED) },
	{ "filled", NULL, .text = text_average, .width = 7, OF_STRATEGY(ADVISED) },
	{ "full", NULL, .get = get_full, .width = 5, OF_STRATEGY(ADVISED) },
};

void tdm_fit_rows(const struct tdm_model_fit *fit, struct tdm_fit_row rows[TDM_FIT_FIGURES])
{
	static const char *const names[] = { "kernel", "front", "back" };
	for (int i = 0; i < TDM_FIT_FIGURES; i++)
		rows[i] = (struct tdm_fit_row){ names[i], fit->measured_ns[i], fit->after_ns[i], fit->before_ns[i] };
}

static void text_ns(const struct tdm_field *field, struct tdm_buf *out)
{
	tdm_buf_printf(out, "%.0f", tdm_field_member(field).share);
}

#define FIT(member) TDM_MEMBER(struct tdm_fit_row, member), .text = text_ns, .width = 13
const struct tdm_column tdm_fit_columns[4] = {
	{ "Time of", "name", TDM_MEMBER(struct tdm_fit_row, name), .width = 8 },
	{ "measured [ns]", "measured_ns", FIT(measured) },
	{ "fitted [ns]", "fitted_ns", FIT(fitted) },
	{ "before [ns]", "before_ns", FIT(before) },
};

size_t tdm_curve_rows(const struct tdm_pressure_result *r, struct tdm_curve_row rows[TDM_ADVICE_POINTS_MAX])
{
	const struct tdm_cb_advice *a = &r->advice;
	for (size_t i = 0; i < a->point_count; i++) {
		const struct tdm_advice_point *point = &a->curve[i];
		double gain = (double)NAN;
		if (i + 1 < a->point_count && point[1].bytes > point->bytes)
			gain = (point[1].tiles_per_s - point->tiles_per_s) /
			       ((double)(point[1].bytes - point->bytes) / 1024);
		rows[i] = (struct tdm_curve_row){ &r->pattern, point,
			a->best_tiles_per_s > 0 ? point->tiles_per_s / a->best_tiles_per_s : (double)NAN, gain };
	}
	return a->point_count;
}

static void text_curve_rate(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_curve_row *row = field->row;
	if (row->point->tiles_per_s > 0)
		tdm_buf_printf(out, "%.3f", row->point->tiles_per_s / 1e6);
	else
		tdm_buf_puts(out, "deadlock");
}

static void text_per_kib(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_curve_row *row = field->row;
	if (isnan(row->per_kib))
		tdm_buf_putc(out, '-');
	else
		tdm_buf_printf(out, "%+.0f", row->per_kib);
}

static struct tdm_value get_curve_rate(const struct tdm_field *field)
{
	return tdm_value_share(((const struct tdm_curve_row *)field->row)->point->tiles_per_s);
}

#define CURVE(member) TDM_MEMBER(struct tdm_curve_row, member)
const struct tdm_column tdm_curve_columns[5] = {
	{ "bytes", "bytes", TDM_VIA(struct tdm_curve_row, point, struct tdm_advice_point, bytes), TDM_SIZE(9) },
	{ "", "cb_tiles", .text = text_curve_tiles, .json = json_curve_tiles, .width = TDM_WIDTH_OF_TABLE },
	{ "Mtiles/s", "tiles_per_s", .get = get_curve_rate, .text = text_curve_rate, .width = 9,
		.flags = TDM_OTHER_SIDE },
	{ "of best", "share_of_best", CURVE(share), .decimals = 1, .width = 8 },
	{ "tiles/s per further KiB", "tiles_per_s_per_kib", CURVE(per_kib), .text = text_per_kib, .width = 23 },
};

void tdm_speed_rows(const struct tdm_core_speed *speed, struct tdm_speed_row rows[TDM_SPEED_COUNT])
{
	for (int i = 0; i < TDM_SPEED_COUNT; i++)
		rows[i] = (struct tdm_speed_row){ tdm_speed_name((enum tdm_speed_field)i),
			tdm_speed_unit((enum tdm_speed_field)i), tdm_speed_tag_name((enum tdm_speed_tag)speed->tag[i]),
			tdm_speed_summary((enum tdm_speed_field)i), speed->source[i], speed->value[i] };
}

static void text_value(const struct tdm_field *field, struct tdm_buf *out)
{
	tdm_buf_printf(out, "%g", ((const struct tdm_speed_row *)field->row)->value);
}

static void text_source(const struct tdm_field *field, struct tdm_buf *out)
{
	const struct tdm_speed_row *row = field->row;
	tdm_buf_printf(out, "%s; %s", row->summary, row->source);
}

#define SPEED(member) TDM_MEMBER(struct tdm_speed_row, member)
const struct tdm_column tdm_speed_columns[6] = {
	{ "Constant", "name", SPEED(name), .width = 21 },
	{ "value", "value", SPEED(value), .text = text_value, .width = 7 },
	{ "unit", "unit", SPEED(unit), .width = 7 },
	{ "known as", "known_as", SPEED(tag), .width = 10 },
	{ "what it is; where it comes from", "summary", SPEED(summary), .text = text_source, .flags = TDM_WRAP },
	{ NULL, "source", SPEED(source) },
};

const struct tdm_pressure_result *tdm_pressure_critical(
	const struct tdm_pressure_report *report, enum tdm_sizing_name name)
{
	for (size_t i = 0; i < report->count; i++) {
		const struct tdm_sizing *s = tdm_pressure_sizing(&report->results[i], name);
		if (s != NULL &&
			tdm_pressure_band(TDM_PRESSURE_SCORE, s->metrics[TDM_PRESSURE_SCORE]) == TDM_FINDING_BROKEN)
			return &report->results[i];
	}
	return NULL;
}

static int add_budget(
	const struct tdm_pressure_result *r, enum tdm_sizing_name strategy, uint64_t bytes, struct tdm_budgets *budgets)
{
	const char *title = tdm_sizing_title(strategy);
	char name[128];
	if (r->setup.pattern != NULL)
		snprintf(name, sizeof name, "%s %s", r->pattern.name, title);
	else
		snprintf(name, sizeof name, "%" PRIu64 " %" PRIu64 " %s", r->setup.a_tiles, r->setup.b_tiles, title);
	return tdm_budgets_add(budgets, tdm_str_of(name), bytes);
}

int tdm_pressure_budgets(const struct tdm_pressure_result *results, size_t count, struct tdm_budgets *budgets)
{
	int err = 0;
	for (size_t i = 0; i < count; i++) {
		const struct tdm_pressure_result *r = &results[i];
		for (size_t k = 0; k < r->strategy_count && err == 0; k++)
			err = add_budget(
				r, (enum tdm_sizing_name)r->strategies[k].name, r->strategies[k].bytes, budgets);
		if (err == 0 && tdm_pressure_sizing(r, TDM_SIZING_ADVISED) == NULL)
			err = add_budget(r, TDM_SIZING_ADVISED, TDM_BYTES_UNKNOWN, budgets);
	}
	return err;
}
