/*
 * Values over time as areas or lines, with bands (phases) behind them. If there are more points than pixels, each
 * column of pixels keeps its first, last, lowest and highest point, so no peak is lost.
 */
#include "plot/axis.h"
#include "plot/chart.h"
#include "plot/frame.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const uint32_t band_tints[] = { 0x4c6ef5, 0x12b886, 0xfab005, 0xe64980, 0x7950f2, 0x15aabf };

static const char *lacks(const struct tdm_scene *scene)
{
	if (scene->point_count == 0 || scene->times == NULL)
		return "points";
	for (size_t i = 0; i < scene->series_count; i++)
		if (scene->series[i].values == NULL)
			return "values of a series";
	return scene->series_count == 0 ? "series" : NULL;
}

static double at(const struct tdm_scene *scene, size_t series, size_t point)
{
	double value = scene->series[series].values[point];
	return isfinite(value) ? value : 0;
}

/* The height at a point: of the stack, or of the highest line. */
static double height_at(const struct tdm_scene *scene, size_t point)
{
	double height = 0;
	for (size_t i = 0; i < scene->series_count; i++)
		height = scene->stacked ? height + at(scene, i, point) : fmax(height, at(scene, i, point));
	return height;
}

static void time_range(const struct tdm_scene *scene, double *from, double *to)
{
	*from = scene->times[0];
	*to = scene->times[scene->point_count - 1];
	for (size_t i = 0; i < scene->band_count; i++) {
		*from = fmin(*from, scene->bands[i].from);
		*to = fmax(*to, scene->bands[i].to);
	}
	if (!(*to > *from))
		*to = *from + 1;
}

/* The points to draw, in order. Returns their number; `chosen` has room for 4 per pixel, plus 4. */
static size_t choose_points(const struct tdm_scene *scene, size_t *chosen, size_t pixels, double from, double to)
{
	size_t count = 0;
	if (scene->point_count <= pixels * 4) {
		for (size_t i = 0; i < scene->point_count; i++)
			chosen[count++] = i;
		return count;
	}
	for (size_t i = 0; i < scene->point_count;) {
		size_t pixel = (size_t)((scene->times[i] - from) / (to - from) * (double)pixels);
		size_t first = i, low = i, high = i;
		for (; i < scene->point_count; i++) {
			if ((size_t)((scene->times[i] - from) / (to - from) * (double)pixels) != pixel)
				break;
			low = height_at(scene, i) < height_at(scene, low) ? i : low;
			high = height_at(scene, i) > height_at(scene, high) ? i : high;
		}
		size_t picks[] = { first, low < high ? low : high, low < high ? high : low, i - 1 };
		for (size_t k = 0; k < 4; k++)
			if (count < (pixels + 1) * 4 && (count == 0 || chosen[count - 1] < picks[k]))
				chosen[count++] = picks[k];
	}
	return count;
}

struct curve {
	const struct tdm_plot_frame *frame;
	const struct tdm_axis *axis;
	const size_t *chosen;
	size_t count;
	double from, to;
};

/* The upper (or lower) edge of a series. Returns the number of points written: at most 2 per chosen point, plus 1. */
static size_t trace_edge(const struct curve *curve, size_t series, bool lower, struct tdm_point *points)
{
	const struct tdm_scene *scene = curve->frame->scene;
	size_t count = 0;
	for (size_t k = 0; k < curve->count; k++) {
		size_t point = curve->chosen[k];
		double value = 0;
		for (size_t i = scene->stacked ? 0 : series; i < series + !lower; i++)
			value += at(scene, i, point);
		if (!scene->stacked && !isfinite(scene->series[series].values[point]))
			continue; /* the value before it holds, or a line connects its neighbours */
		if (lower && !scene->stacked)
			value = 0;
		double x = tdm_plot_frame_x(curve->frame, curve->from, curve->to, scene->times[point]);
		double y = tdm_plot_frame_y(curve->frame, curve->axis, value);
		if (scene->steps && count != 0) {
			points[count] = (struct tdm_point){ x, points[count - 1].y };
			count++;
		}
		points[count++] = (struct tdm_point){ x, y };
	}
	if (scene->steps && count != 0) { /* the last value holds to the end */
		double x = tdm_plot_frame_x(curve->frame, curve->from, curve->to, curve->to);
		points[count] = (struct tdm_point){ x, points[count - 1].y };
		count++;
	}
	return count;
}

static void draw_series(const struct curve *curve, size_t series, struct tdm_point *points)
{
	const struct tdm_scene *scene = curve->frame->scene;
	struct tdm_drawing *drawing = curve->frame->drawing;
	uint32_t rgb = scene->series[series].rgb;
	size_t upper = trace_edge(curve, series, false, points),
	       all = upper + trace_edge(curve, series, true, points + upper);
	if (upper == 0)
		return; /* all its values are unknown */
	for (size_t i = upper, j = all - 1; i < j; i++, j--) {
		struct tdm_point kept = points[i];
		points[i] = points[j];
		points[j] = kept;
	}
	/* Many overlapping areas would be muddy, so each gets fainter. */
	double fill = scene->stacked ? 1 : 0.18 * fmin(1, 3.0 / (double)scene->series_count);
	tdm_drawing_group(drawing, "series", scene->series[series].name);
	drawing->ops->path(drawing, points, all, true, &(struct tdm_paint){ .fill = tdm_rgba_of(rgb, fill) });
	if (!scene->stacked)
		drawing->ops->path(drawing, points, upper, false,
			&(struct tdm_paint){ .stroke = tdm_rgba_of(rgb, 1), .width = curve->frame->size / 7 });
	tdm_drawing_group_end(drawing);
}

static void draw_bands(const struct tdm_plot_frame *frame, double from, double to)
{
	const struct tdm_scene *scene = frame->scene;
	struct tdm_font font = tdm_plot_frame_font(frame, 0.85, true, TDM_INK_MUTED, TDM_ALIGN_MIDDLE);
	double head = frame->size * 1.5;
	for (size_t i = 0; i < scene->band_count; i++) {
		double left = tdm_plot_frame_x(frame, from, to, scene->bands[i].from);
		double right = tdm_plot_frame_x(frame, from, to, scene->bands[i].to), width = right - left;
		uint32_t tint = band_tints[i % (sizeof band_tints / sizeof *band_tints)];
		tdm_drawing_group(frame->drawing, "band", scene->bands[i].name);
		tdm_drawing_box(frame->drawing, (struct tdm_box){ left, frame->area.y - head, width, head },
			&(struct tdm_paint){ .fill = tdm_rgba_of(tint, 0.22) });
		tdm_drawing_box(frame->drawing, (struct tdm_box){ left, frame->area.y, width, frame->area.h },
			&(struct tdm_paint){ .fill = tdm_rgba_of(tint, 0.06) });
		if (width > font.size * 2.5)
			tdm_drawing_text_within(frame->drawing, (left + right) / 2, frame->area.y - head * 0.3,
				width - font.size * 0.6, scene->bands[i].name, &font);
		tdm_drawing_group_end(frame->drawing);
	}
}

static void draw_marks(const struct tdm_plot_frame *frame, const struct tdm_axis *axis, double from, double to)
{
	struct tdm_font font = tdm_plot_frame_font(frame, 0.92, true, TDM_INK, TDM_ALIGN_MIDDLE);
	for (size_t i = 0; i < frame->scene->mark_count; i++) {
		const struct tdm_plot_mark *mark = &frame->scene->marks[i];
		double x = tdm_plot_frame_x(frame, from, to, mark->x), y = tdm_plot_frame_y(frame, axis, mark->y),
		       r = frame->size * 0.3;
		char value[TDM_AXIS_LABEL_CAP], text[TDM_AXIS_LABEL_CAP * 2];
		snprintf(text, sizeof text, "%.32s %s", mark->name,
			tdm_plot_value(frame->scene->unit, mark->y, value, sizeof value));
		double half = tdm_drawing_text_width(frame->drawing, text, &font) / 2 + 2;
		double middle = fmin(fmax(x, frame->area.x + half), frame->area.x + frame->area.w - half);
		tdm_drawing_box(frame->drawing, (struct tdm_box){ x - r, y - r, 2 * r, 2 * r },
			&(struct tdm_paint){ .fill = TDM_INK, .stroke = TDM_PAPER, .width = 1.5, .round = r });
		tdm_plot_frame_halo(frame, middle, y - frame->size * 0.65, text, &font);
	}
}

static double highest(const struct tdm_scene *scene)
{
	double max = tdm_plot_frame_has_limit(scene) ? scene->limit : 0;
	for (size_t i = 0; i < scene->point_count; i++)
		max = fmax(max, height_at(scene, i));
	for (size_t i = 0; i < scene->mark_count; i++)
		max = isfinite(scene->marks[i].y) ? fmax(max, scene->marks[i].y) : max;
	return max;
}

/* The bottom of the picture: 0, unless a value is below it. */
static double lowest(const struct tdm_scene *scene)
{
	double min = 0;
	for (size_t i = 0; !scene->stacked && i < scene->series_count; i++)
		for (size_t k = 0; k < scene->point_count; k++)
			min = fmin(min, at(scene, i, k));
	return min;
}

static int draw(const struct tdm_scene *scene, struct tdm_drawing *drawing)
{
	struct tdm_plot_frame frame = tdm_plot_frame_begin(drawing, scene, true);
	double min = lowest(scene), max = highest(scene), from, to;
	max += (max - min) * 2.2 * frame.size / fmax(frame.area.h, 1);
	struct tdm_axis axis = tdm_axis_make(min, max, scene->unit, (size_t)fmax(frame.area.h / (frame.size * 4.2), 2));
	time_range(scene, &from, &to);
	tdm_plot_frame_reserve_limit(&frame);
	tdm_plot_frame_reserve_y(&frame, &axis);
	if (scene->band_count != 0) {
		frame.area.y += frame.size * 1.5;
		frame.area.h -= frame.size * 1.5;
	}
	frame.area.h -= frame.size * (scene->x_label != NULL && scene->x_label[0] != '\0' ? 2.6 : 1.3);

	size_t pixels = (size_t)fmax(frame.area.w, 1), room = (pixels + 1) * 4;
	size_t *chosen = malloc(room * sizeof *chosen);
	struct tdm_point *points = malloc((room * 4 + 4) * sizeof *points);
	if (chosen == NULL || points == NULL) {
		free(chosen);
		free(points);
		return -ENOMEM;
	}
	draw_bands(&frame, from, to);
	tdm_plot_frame_draw_y(&frame, &axis);
	struct curve curve = { &frame, &axis, chosen, choose_points(scene, chosen, pixels, from, to), from, to };
	for (size_t i = 0; i < scene->series_count; i++)
		draw_series(&curve, i, points);
	tdm_plot_frame_draw_limit(&frame, &axis);
	draw_marks(&frame, &axis, from, to);
	struct tdm_axis x = tdm_axis_make(from, to, scene->x_unit, (size_t)fmax(frame.area.w / (frame.size * 7), 2));
	double first = ceil(from / x.step - 1e-9) * x.step;
	x.from = from;
	x.to = to;
	if (!scene->no_x_ticks)
		tdm_plot_frame_draw_x(&frame, &x, first, scene->x_label);
	free(chosen);
	free(points);
	return 0;
}

/* The height at a time between point `i` and the next. */
static double height_between(const struct tdm_scene *scene, size_t i, double time)
{
	double height = height_at(scene, i);
	if (scene->steps || i + 1 >= scene->point_count || !(time > scene->times[i]))
		return height;
	double part = (time - scene->times[i]) / (scene->times[i + 1] - scene->times[i]);
	return height + (height_at(scene, i + 1) - height) * fmin(part, 1);
}

/* The greatest height in this part of the time, even if no point is in it. */
static double highest_in(const struct tdm_scene *scene, double from, double to, size_t *hint)
{
	size_t i = *hint;
	while (i + 1 < scene->point_count && scene->times[i + 1] <= from)
		i++;
	*hint = i;
	double max = height_between(scene, i, from);
	while (i + 1 < scene->point_count && scene->times[i + 1] < to)
		max = fmax(max, height_at(scene, ++i));
	return fmax(max, height_between(scene, i, to));
}

static void trim_line(struct tdm_buf *out)
{
	while (out->len != 0 && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
}

static void print_bands(
	const struct tdm_scene *scene, const struct tdm_term *term, size_t margin, size_t columns, struct tdm_buf *out)
{
	double from, to;
	time_range(scene, &from, &to);
	size_t column = 0;
	tdm_buf_fill(out, ' ', margin);
	for (size_t i = 0; i < scene->band_count; i++) {
		size_t begin = (size_t)lround((scene->bands[i].from - from) / (to - from) * (double)columns);
		size_t end = (size_t)lround((scene->bands[i].to - from) / (to - from) * (double)columns);
		if (end <= column || begin < column || end - begin < 2)
			continue;
		tdm_buf_fill(out, ' ', begin - column);
		tdm_buf_putc(out, '|');
		tdm_print_name(out, term, scene->bands[i].name, end - begin - 1);
		column = end;
	}
	trim_line(out);
	tdm_buf_putc(out, '\n');
}

/* What is at both ends of the axis, and its name between them if there is room. */
static void print_x(
	const struct tdm_scene *scene, const struct tdm_term *term, size_t margin, size_t columns, struct tdm_buf *out)
{
	char first[TDM_AXIS_LABEL_CAP], last[TDM_AXIS_LABEL_CAP];
	double from, to;
	time_range(scene, &from, &to);
	tdm_plot_value(scene->x_unit, from, first, sizeof first);
	tdm_plot_value(scene->x_unit, to, last, sizeof last);
	size_t used = tdm_print_columns(first) + tdm_print_columns(last), name = tdm_print_columns(scene->x_label);
	if (used + 2 > columns)
		return;
	name = used + name + 4 <= columns ? name : 0;
	size_t left = (columns - used - name) / 2;
	tdm_buf_fill(out, ' ', margin);
	tdm_buf_puts(out, first);
	tdm_buf_fill(out, ' ', left);
	if (name != 0)
		tdm_print_name(out, term, scene->x_label, name);
	tdm_buf_fill(out, ' ', columns - used - name - left);
	tdm_buf_printf(out, "%s\n", last);
}

/* Says which series the line shows: a terminal has room for only one. */
static void print_series(const struct tdm_scene *scene, const struct tdm_term *term, struct tdm_buf *out)
{
	enum { LINES = 3 };
	struct tdm_buf text;
	size_t i = 0, used = 0;
	tdm_buf_init(&text);
	tdm_buf_puts(&text, scene->stacked ? "sum of " : "highest of ");
	for (; i < scene->series_count; i++) {
		size_t columns = tdm_print_columns(scene->series[i].name) + 2;
		if (i != 0 && used + columns > (LINES - 1) * term->width)
			break;
		tdm_buf_printf(&text, "%s%s", i != 0 ? ", " : "", scene->series[i].name);
		used += columns;
	}
	if (i < scene->series_count)
		tdm_buf_printf(&text, " and %zu more", scene->series_count - i);
	out->failed = out->failed || tdm_buf_failed(&text);
	if (!out->failed)
		tdm_print_text(out, term, text.data, "");
	tdm_buf_done(&text);
}

static void print(const struct tdm_scene *scene, const struct tdm_term *term, struct tdm_buf *out)
{
	enum { ROWS = 12, EIGHTHS = 8 };
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	struct tdm_axis axis = tdm_axis_make(0, highest(scene), scene->unit, 4);
	char label[TDM_AXIS_LABEL_CAP];
	size_t margin = 0, columns;
	double from, to;
	time_range(scene, &from, &to);
	for (size_t i = 0; i < axis.count; i++) {
		size_t len = tdm_print_columns(
			tdm_axis_label(&axis, axis.from + (double)i * axis.step, label, sizeof label));
		margin = len > margin ? len : margin;
	}
	margin += 2;
	columns = term->width - margin - 1;
	double *heights = calloc(columns, sizeof *heights);
	if (heights == NULL) {
		out->failed = true;
		return;
	}
	for (size_t i = 0, hint = 0; i < columns; i++)
		heights[i] = highest_in(scene, from + (to - from) * (double)i / (double)columns,
				     from + (to - from) * (double)(i + 1) / (double)columns, &hint) /
			     axis.to * ROWS * EIGHTHS;
	tdm_print_heading(out, term, scene);
	if (scene->series_count > 1)
		print_series(scene, term, out);
	double limit_row = tdm_plot_frame_has_limit(scene) ? floor(scene->limit / axis.to * ROWS) : -1;
	for (size_t row = ROWS; row-- > 0;) {
		/* A tick's label is in the row below its line. */
		label[0] = '\0';
		for (size_t i = 1; i < axis.count; i++)
			if (lround((double)i / (double)(axis.count - 1) * ROWS) == (long)row + 1)
				tdm_axis_label(&axis, axis.from + (double)i * axis.step, label, sizeof label);
		tdm_buf_printf(out, "%*s %s", (int)(margin - 2), label, term->utf8 ? "│" : "|");
		bool has_limit = (double)row == limit_row;
		for (size_t i = 0; i < columns; i++) {
			long full = lround(heights[i]) - (long)row * EIGHTHS;
			full = full < 0 ? 0 : full > EIGHTHS ? EIGHTHS : full;
			if (full == 0 && has_limit)
				tdm_buf_putc(out, '-');
			else if (term->utf8)
				tdm_buf_puts(out, blocks[full]);
			else
				tdm_buf_putc(out, full >= EIGHTHS / 2 ? '#' : full > 0 ? '.' : ' ');
		}
		trim_line(out);
		tdm_buf_putc(out, '\n');
	}
	free(heights);
	if (scene->band_count != 0)
		print_bands(scene, term, margin - 1, columns, out);
	if (!scene->no_x_ticks && scene->x_label != NULL && scene->x_label[0] != '\0')
		print_x(scene, term, margin - 1, columns, out);
	if (lowest(scene) < 0)
		tdm_buf_printf(out, "not drawn: values below 0, down to %s\n",
			tdm_plot_value(scene->unit, lowest(scene), label, sizeof label));
	if (tdm_plot_frame_has_limit(scene)) {
		tdm_buf_puts(out, "- ");
		tdm_print_name(out, term, scene->limit_name, tdm_print_columns(scene->limit_name));
		tdm_buf_printf(out, ": %s\n", tdm_plot_value(scene->unit, scene->limit, label, sizeof label));
	}
}

const struct tdm_chart tdm_chart_time = {
	.name = "time",
	.summary = "values over time with phases behind them",
	.lacks = lacks,
	.draw = draw,
	.print = print,
};
