/* Charts of pressure: the scores of the strategies over the sizes of the workload, or throughput over bytes. */
#include "report/pressure_report.h"

#include <errno.h>
#include <stdlib.h>

enum { CRITICAL = 70 };

static const uint32_t colours[TDM_SIZINGS] = { 0xd6618f, 0xe38a42, 0x7a6ff0, 0x6c757d, 0x4da6b8 };

static int show(const struct tdm_scene *scene, const struct tdm_pressure_picture *picture, const struct tdm_term *term,
	struct tdm_buf *out, struct tdm_diag *diag)
{
	return picture->path != NULL ? tdm_plot_write(scene, picture->path, &picture->size, diag)
				     : tdm_plot_print(scene, term, out, diag);
}

static double score_of(const struct tdm_pressure_result *r, enum tdm_sizing_name name)
{
	const struct tdm_sizing *s = tdm_pressure_sizing(r, name);
	return s != NULL ? s->metrics[TDM_PRESSURE_SCORE] : (double)NAN;
}

static int draw_scores(const struct tdm_pressure_report *report, const struct tdm_pressure_picture *picture,
	const struct tdm_term *term, struct tdm_buf *out, struct tdm_diag *diag)
{
	size_t count = report->count, lines = 0;
	double *values = malloc((TDM_SIZINGS + 1) * (count + 1) * sizeof *values);
	struct tdm_plot_series series[TDM_SIZINGS];
	if (values == NULL)
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory for the chart");
	double *times = values + TDM_SIZINGS * count;
	for (size_t i = 0; i < count; i++)
		times[i] = (double)report->results[i].setup.b_tiles;
	for (int k = 0; k < TDM_SIZINGS; k++) {
		double *line = values + lines * count;
		if (k == TDM_SIZING_GIVEN)
			continue;
		for (size_t i = 0; i < count; i++)
			line[i] = score_of(&report->results[i], (enum tdm_sizing_name)k);
		series[lines++] =
			(struct tdm_plot_series){ tdm_sizing_title((enum tdm_sizing_name)k), colours[k], line };
	}
	struct tdm_scene scene = { .kind = TDM_CHART_TIME,
		.title = picture->title,
		.x_label = "A and B tiles",
		.y_label = "Pressure score",
		.unit = TDM_PLOT_NUMBER,
		.x_unit = TDM_PLOT_NUMBER,
		.limit_name = "critical",
		.limit = CRITICAL,
		.series = series,
		.series_count = lines,
		.times = times,
		.point_count = count };
	int err = show(&scene, picture, term, out, diag);
	free(values);
	return err;
}

static int draw_curve(const struct tdm_pressure_result *r, const struct tdm_pressure_picture *picture,
	const struct tdm_term *term, struct tdm_buf *out, struct tdm_diag *diag)
{
	const struct tdm_cb_advice *a = &r->advice;
	double bytes[TDM_ADVICE_POINTS_MAX + 1], rates[TDM_ADVICE_POINTS_MAX + 1];
	size_t last = a->point_count - 1;
	if (a->is_deadlocked || a->point_count == 0)
		return tdm_diag_set(diag, -EINVAL, 0, 0, "nothing to draw: there is no advice");
	for (size_t i = 0; i <= last; i++) {
		bytes[i] = (double)a->curve[i].bytes;
		rates[i] = a->curve[i].tiles_per_s;
	}
	/* More bytes give no less: the last step is as wide as the others, or it would not be seen. */
	bytes[last + 1] = bytes[last] + (last != 0 ? (bytes[last] - bytes[0]) / (double)last : bytes[0]);
	rates[last + 1] = rates[last];
	const struct tdm_plot_series series = { "tiles per second", colours[TDM_SIZING_ADVISED], rates };
	const struct tdm_plot_mark mark = { "advised", (double)a->advised.bytes, a->advised.tiles_per_s };
	struct tdm_scene scene = { .kind = TDM_CHART_TIME,
		.title = picture->title,
		.x_label = "Circular buffers of a core",
		.y_label = "Tiles per second",
		.unit = TDM_PLOT_NUMBER,
		.x_unit = TDM_PLOT_BYTES,
		.series = &series,
		.series_count = 1,
		.times = bytes,
		.steps = true,
		.point_count = a->point_count + 1,
		.marks = &mark,
		.mark_count = tdm_cb_advice_is_found(a) ? 1 : 0 };
	return show(&scene, picture, term, out, diag);
}

int tdm_pressure_draw(const struct tdm_pressure_report *report, const struct tdm_pressure_picture *picture,
	const struct tdm_term *term, struct tdm_buf *out, struct tdm_diag *diag)
{
	return report->is_multi ? draw_scores(report, picture, term, out, diag)
				: draw_curve(&report->results[0], picture, term, out, diag);
}
