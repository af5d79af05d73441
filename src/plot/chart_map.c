/* Address ranges in rows, such as the banks of a memory: what is used, and the free space in between. The spans of a
 * row are sorted by their beginning. */
#include "plot/axis.h"
#include "plot/chart.h"
#include "plot/frame.h"

#include <math.h>
#include <stdio.h>

static const char *lacks(const struct tdm_scene *scene)
{
	if (scene->row_count == 0 || scene->rows == NULL)
		return "rows";
	if (!(scene->map_to > scene->map_from))
		return "a range of addresses";
	for (size_t i = 0; i < scene->row_count; i++)
		for (size_t k = 0; k < scene->rows[i].span_count; k++)
			if (scene->rows[i].spans[k].series >= scene->series_count)
				return "the series of a span";
	return NULL;
}

/* The series that takes most of [from, to) in a row, looked for from span `first` on. *used_share is the used share of
 * that range. */
static size_t winner(const struct tdm_scene *scene, const struct tdm_plot_row *row, size_t first, double from,
	double to, double *used_share)
{
	enum { SERIES_MAX = 32 };
	double parts[SERIES_MAX + 1] = { 0 };
	size_t known = scene->series_count < SERIES_MAX ? scene->series_count : SERIES_MAX;
	double used = 0;
	for (size_t i = first; i < row->span_count && row->spans[i].from < to; i++) {
		double part = fmin(row->spans[i].to, to) - fmax(row->spans[i].from, from);
		if (!(part > 0))
			continue;
		parts[row->spans[i].series < known ? row->spans[i].series : known] += part;
		used += part;
	}
	size_t best = 0;
	for (size_t i = 1; i <= known; i++)
		best = parts[i] > parts[best] ? i : best;
	*used_share = used / (to - from);
	return best < scene->series_count ? best : scene->series_count - 1;
}

static void draw_span(const struct tdm_plot_frame *frame, const struct tdm_plot_row *row,
	const struct tdm_plot_span *span, size_t series, struct tdm_box box)
{
	const struct tdm_scene *scene = frame->scene;
	char size[TDM_AXIS_LABEL_CAP], at[TDM_AXIS_LABEL_CAP], tip[256];
	snprintf(tip, sizeof tip, "%.100s: %s at %.40s + %s",
		span->name != NULL ? span->name : scene->series[span->series].name,
		tdm_plot_value(scene->unit, span->to - span->from, size, sizeof size), row->name,
		tdm_plot_value(scene->unit, span->from, at, sizeof at));
	tdm_drawing_group(frame->drawing, "span", tip);
	tdm_drawing_box(frame->drawing, box, &(struct tdm_paint){ .fill = tdm_rgba_of(scene->series[series].rgb, 1) });
	tdm_drawing_group_end(frame->drawing);
}

static void draw_row(const struct tdm_plot_frame *frame, const struct tdm_plot_row *row, double y, double height)
{
	const struct tdm_scene *scene = frame->scene;
	double from = scene->map_from, to = scene->map_to, per_pixel = (to - from) / frame->area.w, drawn_to = -1;
	tdm_drawing_box(frame->drawing, (struct tdm_box){ frame->area.x, y, frame->area.w, height },
		&(struct tdm_paint){ .fill = TDM_INK_EMPTY });
	for (size_t i = 0; i < row->span_count; i++) {
		const struct tdm_plot_span *span = &row->spans[i];
		double begin = fmax(span->from, from), end = fmin(span->to, to);
		if (!(end > begin))
			continue;
		double left = tdm_plot_frame_x(frame, from, to, begin), right = tdm_plot_frame_x(frame, from, to, end);
		if (right - left >= 1) {
			double line = right - left > 4 ? 0.5 : 0;
			draw_span(frame, row, span, span->series,
				(struct tdm_box){ left + line, y, right - left - 2 * line, height });
			continue;
		}
		/* A pixel that narrow spans share has the colour of the series that takes most of it. */
		double pixel = floor(left), share;
		if (pixel < drawn_to)
			continue;
		double first = from + (pixel - frame->area.x) * per_pixel;
		draw_span(frame, row, span, winner(scene, row, i > 0 ? i - 1 : 0, first, first + per_pixel, &share),
			(struct tdm_box){ pixel, y, 1, height });
		drawn_to = pixel + 1;
	}
}

static int draw(const struct tdm_scene *scene, struct tdm_drawing *drawing)
{
	struct tdm_plot_frame frame = tdm_plot_frame_begin(drawing, scene, true);
	struct tdm_font font = tdm_plot_frame_font(&frame, 0.92, false, TDM_INK_MUTED, TDM_ALIGN_END);
	double widest = 0, most = frame.area.w / 3;
	for (size_t i = 0; i < scene->row_count; i++)
		widest = fmax(widest, tdm_drawing_text_width(drawing, scene->rows[i].name, &font));
	widest = fmin(widest, most);
	frame.area.x += widest + frame.size * 0.6;
	/* The last label is centred on the end of the axis. */
	frame.area.w -= widest + frame.size * 2.6;
	/* In a small picture the map is worth more than the words below its axis. */
	bool has_words = scene->x_label != NULL && frame.area.h - frame.size * 2.6 >= drawing->height / 2;
	frame.area.h -= frame.size * (has_words && scene->x_label[0] != '\0' ? 2.6 : 1.3);

	double pitch = fmin(frame.area.h / (double)scene->row_count, frame.size * 5);
	double height = pitch > 4 ? pitch * 0.78 : pitch, free_from = -INFINITY;
	frame.area.h = pitch * (double)scene->row_count;
	for (size_t i = 0; i < scene->row_count; i++) {
		double y = frame.area.y + pitch * (double)i;
		tdm_drawing_group(drawing, "row", NULL);
		draw_row(&frame, &scene->rows[i], y, height);
		double base = y + height / 2 + font.size * 0.36;
		if (base - font.size >= free_from) {
			tdm_drawing_text_within(
				drawing, frame.area.x - frame.size * 0.6, base, widest, scene->rows[i].name, &font);
			free_from = base;
		}
		tdm_drawing_group_end(drawing);
	}
	struct tdm_axis axis = scene->unit == TDM_PLOT_BYTES
				       ? tdm_axis_address(scene->map_from, scene->map_to,
						 (size_t)fmax(frame.area.w / (frame.size * 8), 2))
				       : tdm_axis_make(scene->map_from, scene->map_to, scene->unit,
						 (size_t)fmax(frame.area.w / (frame.size * 8), 2));
	double first = ceil(scene->map_from / axis.step - 1e-9) * axis.step;
	axis.from = scene->map_from;
	axis.to = scene->map_to;
	tdm_plot_frame_draw_x(&frame, &axis, first, has_words ? scene->x_label : NULL);
	return 0;
}

static void print(const struct tdm_scene *scene, const struct tdm_term *term, struct tdm_buf *out)
{
	size_t widest = 0, name_max = term->width / 4;
	for (size_t i = 0; i < scene->row_count; i++) {
		size_t columns = tdm_print_columns(scene->rows[i].name);
		widest = columns > widest ? columns : widest;
	}
	widest = widest < name_max ? widest : name_max;
	size_t columns = term->width - widest - 4;
	double pitch = (scene->map_to - scene->map_from) / (double)columns;
	const char *little = term->utf8 ? "▁" : "_";
	bool has_little = false;
	tdm_print_heading(out, term, scene);
	tdm_print_legend(out, term, scene);
	for (size_t i = 0; i < scene->row_count; i++) {
		tdm_print_name(out, term, scene->rows[i].name, widest);
		tdm_buf_puts(out, " [");
		for (size_t k = 0, first = 0; k < columns; k++) {
			double from = scene->map_from + pitch * (double)k;
			double used = 0;
			while (first < scene->rows[i].span_count && scene->rows[i].spans[first].to <= from)
				first++;
			size_t series = winner(scene, &scene->rows[i], first, from, from + pitch, &used);
			if (used >= 0.5)
				tdm_print_cells(out, term, series, scene->series[series].rgb, 1);
			else
				tdm_buf_puts(out, used > 0 ? little : term->utf8 ? "·" : ".");
			has_little |= used > 0 && used < 0.5;
		}
		tdm_buf_puts(out, "]\n");
	}
	char from[TDM_AXIS_LABEL_CAP], to[TDM_AXIS_LABEL_CAP];
	tdm_plot_value(scene->unit, scene->map_from, from, sizeof from);
	tdm_plot_value(scene->unit, scene->map_to, to, sizeof to);
	tdm_buf_fill(out, ' ', widest + 2);
	tdm_buf_printf(out, "%s%*s\n", from, (int)(columns - tdm_print_columns(from)), to);
	if (has_little)
		tdm_buf_printf(out, "%s less than half is used\n", little);
}

const struct tdm_chart tdm_chart_map = {
	.name = "map",
	.summary = "address ranges in rows",
	.lacks = lacks,
	.draw = draw,
	.print = print,
};
