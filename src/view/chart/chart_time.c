/*
 * Values over time as areas or lines, with bands (phases) behind them. If there are more points than pixels, each pixel
 * column keeps its first, last, lowest and highest point, so no peak is lost.
 */
#include "base/memory.h"
#include "view/chart/drawing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const uint32_t band_tints[] = { 0x4c6ef5, 0x12b886, 0xfab005, 0xe64980, 0x7950f2, 0x15aabf };

const char *tdm_time_lacks(const struct tdm_scene *scene)
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

/* The height at a point: the top of the stack, or the highest line. */
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

/* Chooses the points to draw, in order. Returns their number; `chosen` has room for 4 per pixel, plus 4. */
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

/* The upper (or lower) edge of a series. Returns the number of points written: at most 2 per chosen point, plus 1. */
static size_t trace_edge(struct tdm_drawing *d, const size_t *chosen, size_t chosen_count, size_t series, bool lower,
	struct tdm_point *points)
{
	const struct tdm_scene *scene = d->scene;
	size_t count = 0;
	for (size_t k = 0; k < chosen_count; k++) {
		size_t point = chosen[k];
		double value = 0;
		for (size_t i = scene->stacked ? 0 : series; i < series + !lower; i++)
			value += at(scene, i, point);
		if (!scene->stacked && !isfinite(scene->series[series].values[point]))
			continue; /* the previous value holds, or a line connects the neighbours */
		if (lower && !scene->stacked)
			value = 0;
		double x = tdm_frame_x(d, scene->times[point]);
		double y = tdm_frame_y(d, value);
		if (scene->steps && count != 0) {
			points[count] = (struct tdm_point){ x, points[count - 1].y };
			count++;
		}
		points[count++] = (struct tdm_point){ x, y };
	}
	if (scene->steps && count != 0) { /* the last value holds to the end */
		double x = tdm_frame_x(d, d->x_to);
		points[count] = (struct tdm_point){ x, points[count - 1].y };
		count++;
	}
	return count;
}

static void draw_series(
	struct tdm_drawing *d, const size_t *chosen, size_t count, size_t series, struct tdm_point *points)
{
	const struct tdm_scene *scene = d->scene;
	uint32_t rgb = scene->series[series].rgb;
	size_t upper = trace_edge(d, chosen, count, series, false, points),
	       all = upper + trace_edge(d, chosen, count, series, true, points + upper);
	if (upper == 0)
		return; /* all values of the series are unknown */
	for (size_t i = upper, j = all - 1; i < j; i++, j--) {
		struct tdm_point kept = points[i];
		points[i] = points[j];
		points[j] = kept;
	}
	/* Many overlapping areas would be muddy, so the more there are, the fainter each one is. */
	double fill = scene->stacked ? 1 : 0.18 * fmin(1, 3.0 / (double)scene->series_count);
	tdm_drawing_group(d, "series", scene->series[series].name);
	d->ops->path(d, points, all, true, &(struct tdm_paint){ .fill = tdm_rgba_of(rgb, fill) });
	if (!scene->stacked)
		d->ops->path(d, points, upper, false,
			&(struct tdm_paint){ .stroke = tdm_rgba_of(rgb, 1), .width = d->size / 7 });
	tdm_drawing_group_end(d);
}

static void draw_bands(struct tdm_drawing *d)
{
	const struct tdm_scene *scene = d->scene;
	struct tdm_font font = tdm_frame_font(d, 0.85, true, TDM_INK_MUTED, TDM_ALIGN_MIDDLE);
	double head = d->size * 1.5;
	for (size_t i = 0; i < scene->band_count; i++) {
		double left = tdm_frame_x(d, scene->bands[i].from);
		double right = tdm_frame_x(d, scene->bands[i].to), width = right - left;
		uint32_t tint = band_tints[i % (sizeof band_tints / sizeof *band_tints)];
		tdm_drawing_group(d, "band", scene->bands[i].name);
		tdm_drawing_fill(d, (struct tdm_box){ left, d->area.y - head, width, head }, tdm_rgba_of(tint, 0.22));
		tdm_drawing_fill(d, (struct tdm_box){ left, d->area.y, width, d->area.h }, tdm_rgba_of(tint, 0.06));
		if (width > font.size * 2.5)
			tdm_drawing_text_within(d, (left + right) / 2, d->area.y - head * 0.3, width - font.size * 0.6,
				scene->bands[i].name, &font);
		tdm_drawing_group_end(d);
	}
}

static void draw_marks(struct tdm_drawing *d)
{
	struct tdm_font font = tdm_frame_font(d, 0.92, true, TDM_INK, TDM_ALIGN_MIDDLE);
	for (size_t i = 0; i < d->scene->mark_count; i++) {
		const struct tdm_plot_mark *mark = &d->scene->marks[i];
		double x = tdm_frame_x(d, mark->x), y = tdm_frame_y(d, mark->y), r = d->size * 0.3;
		char text[TDM_LABEL_CAP * 2];
		snprintf(text, sizeof text, "%.32s %s", mark->name, tdm_plot_value(d->scene->unit, mark->y).text);
		double half = tdm_drawing_text_width(d, text, &font) / 2 + 2;
		double middle = fmin(fmax(x, d->area.x + half), d->area.x + d->area.w - half);
		tdm_drawing_box(d, (struct tdm_box){ x - r, y - r, 2 * r, 2 * r },
			&(struct tdm_paint){ .fill = TDM_INK, .stroke = TDM_PAPER, .width = 1.5, .round = r });
		tdm_frame_halo(d, middle, y - d->size * 0.65, text, &font);
	}
}

static double highest(const struct tdm_scene *scene)
{
	double max = tdm_frame_has_limit(scene) ? scene->limit : 0;
	for (size_t i = 0; i < scene->point_count; i++)
		max = fmax(max, height_at(scene, i));
	for (size_t i = 0; i < scene->mark_count; i++)
		max = isfinite(scene->marks[i].y) ? fmax(max, scene->marks[i].y) : max;
	return max;
}

/* The lower end of the value axis: 0, unless a value is negative. */
static double lowest(const struct tdm_scene *scene)
{
	double min = 0;
	for (size_t i = 0; !scene->stacked && i < scene->series_count; i++)
		for (size_t k = 0; k < scene->point_count; k++)
			min = fmin(min, at(scene, i, k));
	return min;
}

void tdm_time_draw(struct tdm_drawing *d, const struct tdm_scene *scene)
{
	tdm_frame_begin(d, scene, true);
	double min = lowest(scene), max = highest(scene);
	max += (max - min) * 2.2 * d->size / fmax(d->area.h, 1);
	struct tdm_axis axis = tdm_axis_make(min, max, scene->unit, (size_t)fmax(d->area.h / (d->size * 4.2), 2));
	time_range(scene, &d->x_from, &d->x_to);
	tdm_frame_reserve_limit(d);
	tdm_frame_reserve_y(d, &axis);
	if (scene->band_count != 0) {
		d->area.y += d->size * 1.5;
		d->area.h -= d->size * 1.5;
	}
	d->area.h -= d->size * (scene->x_label != NULL && scene->x_label[0] != '\0' ? 2.6 : 1.3);

	size_t pixels = (size_t)fmax(d->area.w, 1), room = (pixels + 1) * 4;
	size_t *chosen = tdm_zalloc(room, sizeof *chosen);
	struct tdm_point *points = tdm_zalloc(room * 4 + 4, sizeof *points);
	draw_bands(d);
	tdm_frame_draw_y(d);
	size_t count = choose_points(scene, chosen, pixels, d->x_from, d->x_to);
	for (size_t i = 0; i < scene->series_count; i++)
		draw_series(d, chosen, count, i, points);
	tdm_frame_draw_limit(d);
	draw_marks(d);
	struct tdm_axis x =
		tdm_axis_make(d->x_from, d->x_to, scene->x_unit, (size_t)fmax(d->area.w / (d->size * 7), 2));
	if (!scene->no_x_ticks)
		tdm_frame_draw_x(d, &x, scene->x_label);
	free(chosen);
	free(points);
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

/* The greatest height in a time range, even if no point lies in the range. */
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

/* Prints the values at both ends of the axis, and the axis name between them if it fits. */
static void print_x(
	const struct tdm_scene *scene, const struct tdm_term *term, size_t margin, size_t columns, struct tdm_buf *out)
{
	double from, to;
	time_range(scene, &from, &to);
	struct tdm_label first = tdm_plot_value(scene->x_unit, from), last = tdm_plot_value(scene->x_unit, to);
	size_t used = tdm_print_columns(first.text) + tdm_print_columns(last.text),
	       name = tdm_print_columns(scene->x_label);
	if (used + 2 > columns)
		return;
	name = used + name + 4 <= columns ? name : 0;
	size_t left = (columns - used - name) / 2;
	tdm_buf_fill(out, ' ', margin);
	tdm_buf_puts(out, first.text);
	tdm_buf_fill(out, ' ', left);
	if (name != 0)
		tdm_print_name(out, term, scene->x_label, name);
	tdm_buf_fill(out, ' ', columns - used - name - left);
	tdm_buf_printf(out, "%s\n", last.text);
}

/* Names the series drawn as a line, because a terminal has room for only one. */
static void print_series(const struct tdm_scene *scene, const struct tdm_term *term, struct tdm_buf *out)
{
	enum { LINES = 3 };
	struct tdm_buf text = { 0 };
	size_t i = 0, used = 0;
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
	tdm_print_text(out, term, text.data, "");
	tdm_buf_done(&text);
}

void tdm_time_print(const struct tdm_scene *scene, const struct tdm_term *term, struct tdm_buf *out)
{
	enum { ROWS = 12, EIGHTHS = 8 };
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	struct tdm_axis axis = tdm_axis_make(0, highest(scene), scene->unit, 4);
	size_t margin = 0, columns;
	double from, to;
	time_range(scene, &from, &to);
	for (size_t i = 0; i < axis.count; i++) {
		size_t len = tdm_print_columns(tdm_axis_label(&axis, axis.from + (double)i * axis.step).text);
		margin = len > margin ? len : margin;
	}
	margin += 2;
	columns = term->width - margin - 1;
	double *heights = tdm_zalloc(columns, sizeof *heights);
	for (size_t i = 0, hint = 0; i < columns; i++)
		heights[i] = highest_in(scene, from + (to - from) * (double)i / (double)columns,
				     from + (to - from) * (double)(i + 1) / (double)columns, &hint) /
			     axis.to * ROWS * EIGHTHS;
	tdm_print_heading(out, term, scene);
	if (scene->series_count > 1)
		print_series(scene, term, out);
	double limit_row = tdm_frame_has_limit(scene) ? floor(scene->limit / axis.to * ROWS) : -1;
	for (size_t row = ROWS; row-- > 0;) {
		/* A label is in the row below its tick. */
		struct tdm_label label = { "" };
		for (size_t i = 1; i < axis.count; i++)
			if (lround((double)i / (double)(axis.count - 1) * ROWS) == (long)row + 1)
				label = tdm_axis_label(&axis, axis.from + (double)i * axis.step);
		tdm_buf_printf(out, "%*s %s", (int)(margin - 2), label.text, term->utf8 ? "│" : "|");
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
			tdm_plot_value(scene->unit, lowest(scene)).text);
	if (tdm_frame_has_limit(scene)) {
		tdm_buf_puts(out, "- ");
		tdm_print_name(out, term, scene->limit_name, tdm_print_columns(scene->limit_name));
		tdm_buf_printf(out, ": %s\n", tdm_plot_value(scene->unit, scene->limit).text);
	}
}
