/*
 * Columns of stacked values, such as the parts of peak memory of several runs. Parts are labelled inside where they are
 * high enough, else beside the column. Values below 0 and unknown ones have no height.
 */
#include "plot/axis.h"
#include "plot/chart.h"
#include "plot/frame.h"

#include <math.h>
#include <stdio.h>

enum { LABEL_LINES = 3, LINE_CAP = 128, SIDE_MAX = 32 };

#define COLUMN_SHARE 0.48 /* of the room that a column has */

struct side_label {
	double y;      /* wanted: the middle of the part */
	double placed; /* where it does not touch its neighbours */
	char text[TDM_AXIS_LABEL_CAP];
};

static const char *lacks(const struct tdm_scene *scene)
{
	if (scene->column_count == 0 || scene->columns == NULL)
		return "columns";
	for (size_t i = 0; i < scene->series_count; i++)
		if (scene->series[i].values == NULL)
			return "values of a series";
	return scene->series_count == 0 ? "series" : NULL;
}

static double height_of(const struct tdm_scene *scene, size_t series, size_t column)
{
	double value = scene->series[series].values[column];
	return isfinite(value) && value > 0 ? value : 0;
}

static double sum_of(const struct tdm_scene *scene, size_t column)
{
	double sum = 0;
	for (size_t i = 0; i < scene->series_count; i++)
		sum += height_of(scene, i, column);
	return sum;
}

static double total_of(const struct tdm_scene *scene, size_t column)
{
	return scene->totals != NULL ? scene->totals[column] : sum_of(scene, column);
}

static double highest(const struct tdm_scene *scene)
{
	double max = tdm_plot_frame_has_limit(scene) ? scene->limit : 0;
	for (size_t i = 0; i < scene->column_count; i++) {
		max = fmax(max, sum_of(scene, i));
		max = isfinite(total_of(scene, i)) ? fmax(max, total_of(scene, i)) : max;
	}
	return max;
}

/* Moves labels down, then up, until none touches the next and all are between the ends. */
static void spread(struct side_label *labels, size_t count, double gap, double top, double bottom)
{
	/* The first is the lowest part, so y falls from one to the next. */
	double limit = bottom;
	for (size_t i = 0; i < count; i++) {
		labels[i].placed = fmin(labels[i].y, limit);
		limit = labels[i].placed - gap;
	}
	limit = top;
	for (size_t i = count; i-- > 0;) {
		labels[i].placed = fmax(labels[i].placed, limit);
		limit = labels[i].placed + gap;
	}
}

static void draw_side_labels(
	const struct tdm_plot_frame *frame, struct side_label *labels, size_t count, double x, double room)
{
	struct tdm_font font = tdm_plot_frame_font(frame, 0.85, false, TDM_INK, TDM_ALIGN_START);
	struct tdm_pen leader = { .stroke = TDM_INK_AXIS, .width = 1 };
	double arm = frame->size * 0.7;
	spread(labels, count, font.size * 1.2, frame->area.y + font.size,
		frame->area.y + frame->area.h - font.size * 0.5);
	for (size_t i = 0; i < count; i++) {
		if (tdm_drawing_text_width(frame->drawing, labels[i].text, &font) > room - arm)
			continue; /* the tooltip and the table still have it */
		tdm_drawing_line(frame->drawing, (struct tdm_point){ x, labels[i].y },
			(struct tdm_point){ x + arm * 0.8, labels[i].placed }, &leader);
		tdm_plot_frame_halo(frame, x + arm, labels[i].placed + font.size * 0.36, labels[i].text, &font);
	}
}

static void draw_total(
	const struct tdm_plot_frame *frame, const struct tdm_axis *axis, size_t column, double x, double width)
{
	const struct tdm_scene *scene = frame->scene;
	double total = total_of(scene, column), sum = sum_of(scene, column);
	double room = width / COLUMN_SHARE; /* up to the labels of the neighbours */
	struct tdm_font font = tdm_plot_frame_font(frame, 1, true, TDM_INK, TDM_ALIGN_MIDDLE);
	struct tdm_font small = tdm_plot_frame_font(frame, 0.85, false, TDM_INK_MUTED, TDM_ALIGN_MIDDLE);
	char value[TDM_AXIS_LABEL_CAP], text[TDM_AXIS_LABEL_CAP + 16];
	double y = tdm_plot_frame_y(frame, axis, isfinite(total) ? fmax(total, sum) : sum) - frame->size * 0.5;
	if (isfinite(total) && sum > total * 1.001) {
		/* The parts are larger than the whole: both are shown. */
		double at = tdm_plot_frame_y(frame, axis, total);
		tdm_drawing_line(frame->drawing, (struct tdm_point){ x - width / 2 - frame->size * 0.4, at },
			(struct tdm_point){ x + width / 2 + frame->size * 0.4, at },
			&(struct tdm_pen){ .stroke = TDM_INK, .width = frame->size / 9 });
	}
	/* The limit's line would run through the text: the text goes above it. */
	double line = tdm_plot_frame_has_limit(scene) ? tdm_plot_frame_y(frame, axis, scene->limit) : -INFINITY;
	if (line < y + frame->size * 0.3 && line > y - frame->size * 2.2)
		y = line - frame->size * 0.5;
	if (isfinite(total) && tdm_plot_frame_has_limit(scene)) {
		bool over = total > scene->limit;
		small.colour = over ? TDM_INK_WARN : TDM_INK_MUTED;
		if (over)
			snprintf(text, sizeof text, "%s too much",
				tdm_plot_value(scene->unit, total - scene->limit, value, sizeof value));
		else
			snprintf(text, sizeof text, "%.1f %% of the limit", 100 * total / scene->limit);
		if (tdm_drawing_text_width(frame->drawing, text, &small) > room && over)
			snprintf(text, sizeof text, "+%s", value);
		else if (tdm_drawing_text_width(frame->drawing, text, &small) > room)
			snprintf(text, sizeof text, "%.1f %%", 100 * total / scene->limit);
		if (tdm_drawing_text_width(frame->drawing, text, &small) <= room)
			tdm_plot_frame_halo(frame, x, y, text, &small);
		y -= small.size * 1.25;
	}
	tdm_plot_value(scene->unit, total, value, sizeof value);
	snprintf(text, sizeof text, "Total %s", value);
	const char *shown = tdm_drawing_text_width(frame->drawing, text, &font) > room ? value : text;
	if (tdm_drawing_text_width(frame->drawing, shown, &font) <= room)
		tdm_plot_frame_halo(frame, x, y, shown, &font);
}

static void draw_column(
	const struct tdm_plot_frame *frame, const struct tdm_axis *axis, size_t column, double x, double width)
{
	const struct tdm_scene *scene = frame->scene;
	for (size_t i = 0, drawn = 0; i < scene->series_count; i++) {
		double value = height_of(scene, i, column), below = 0;
		if (value <= 0)
			continue;
		for (size_t j = 0; j < i; j++)
			below += height_of(scene, j, column);
		double bottom = tdm_plot_frame_y(frame, axis, below),
		       top = tdm_plot_frame_y(frame, axis, below + value);
		char text[TDM_AXIS_LABEL_CAP], tip[LINE_CAP * 2];
		snprintf(tip, sizeof tip, "%.100s: %s (%.100s)", scene->series[i].name,
			tdm_plot_value(scene->unit, value, text, sizeof text), scene->columns[column]);
		tdm_drawing_group(frame->drawing, "part", tip);
		/* A fine gap separates the parts. */
		double gap = drawn++ != 0 && bottom - top > 3 ? 1 : 0;
		tdm_drawing_box(frame->drawing, (struct tdm_box){ x - width / 2, top, width, bottom - top - gap },
			&(struct tdm_pen){ .fill = tdm_rgba_of(scene->series[i].rgb, 1) });
		tdm_drawing_group_end(frame->drawing);
	}
}

static void draw_labels(const struct tdm_plot_frame *frame, const struct tdm_axis *axis, size_t column, double x,
	double width, double room)
{
	const struct tdm_scene *scene = frame->scene;
	struct side_label side[SIDE_MAX];
	size_t side_count = 0;
	double below = 0,
	       line = tdm_plot_frame_has_limit(scene) ? tdm_plot_frame_y(frame, axis, scene->limit) : -INFINITY;
	for (size_t i = 0; i < scene->series_count; i++) {
		double value = height_of(scene, i, column);
		if (value <= 0)
			continue;
		struct tdm_font font = tdm_plot_frame_font(
			frame, 0.92, true, tdm_plot_frame_ink_on(scene->series[i].rgb), TDM_ALIGN_MIDDLE);
		double high = tdm_plot_frame_y(frame, axis, 0) - tdm_plot_frame_y(frame, axis, value);
		double middle = tdm_plot_frame_y(frame, axis, below + value / 2);
		if (fabs(middle - line) < font.size && high > font.size * 4)
			middle = line + font.size; /* not under the limit's line */
		char text[TDM_AXIS_LABEL_CAP];
		tdm_plot_value(scene->unit, value, text, sizeof text);
		if (high >= font.size * 1.25 && tdm_drawing_text_width(frame->drawing, text, &font) < width - 4) {
			tdm_drawing_text(frame->drawing, x, middle + font.size * 0.36, text, &font);
		} else if (side_count < SIDE_MAX) {
			side[side_count] = (struct side_label){ .y = middle };
			snprintf(side[side_count++].text, sizeof text, "%s", text);
		}
		below += value;
	}
	draw_side_labels(frame, side, side_count, x + width / 2, room);
	draw_total(frame, axis, column, x, width);
}

static void draw_name(const struct tdm_plot_frame *frame, size_t column, double x, double width)
{
	struct tdm_font font = tdm_plot_frame_font(frame, 0.92, true, TDM_INK, TDM_ALIGN_MIDDLE);
	char lines[LABEL_LINES][LINE_CAP];
	size_t count = tdm_drawing_wrap(
		frame->drawing, frame->scene->columns[column], &font, width, lines[0], LINE_CAP, LABEL_LINES);
	for (size_t i = 0; i < count; i++)
		tdm_drawing_text(frame->drawing, x,
			frame->area.y + frame->area.h + font.size * (1.5 + 1.25 * (double)i), lines[i], &font);
}

static size_t name_lines(const struct tdm_plot_frame *frame, double width)
{
	struct tdm_font font = tdm_plot_frame_font(frame, 0.92, true, TDM_INK, TDM_ALIGN_MIDDLE);
	char lines[LABEL_LINES][LINE_CAP];
	size_t most = 1;
	for (size_t i = 0; i < frame->scene->column_count; i++) {
		size_t count = tdm_drawing_wrap(
			frame->drawing, frame->scene->columns[i], &font, width, lines[0], LINE_CAP, LABEL_LINES);
		most = count > most ? count : most;
	}
	return most;
}

static int draw(const struct tdm_scene *scene, struct tdm_drawing *drawing)
{
	struct tdm_plot_frame frame = tdm_plot_frame_begin(drawing, scene, true);
	/* Room for two lines above the highest column. */
	double ticks = frame.area.h / (frame.size * 4.2);
	double max = highest(scene) * (1 + 3.4 * frame.size / fmax(frame.area.h, 1));
	struct tdm_axis axis = tdm_axis_make(0, max, scene->unit, (size_t)fmax(ticks, 2));
	tdm_plot_frame_reserve_limit(&frame);
	tdm_plot_frame_reserve_y(&frame, &axis);
	double pitch = frame.area.w / (double)scene->column_count;
	double width = fmin(pitch * COLUMN_SHARE, frame.size * 12), name_width = pitch - frame.size * 0.6;
	frame.area.h -= frame.size * (0.6 + 1.15 * (double)name_lines(&frame, name_width));
	tdm_plot_frame_draw_y(&frame, &axis);
	for (size_t i = 0; i < scene->column_count; i++)
		draw_column(&frame, &axis, i, frame.area.x + pitch * ((double)i + 0.5), width);
	tdm_plot_frame_draw_limit(&frame, &axis);
	for (size_t i = 0; i < scene->column_count; i++) {
		double x = frame.area.x + pitch * ((double)i + 0.5);
		tdm_drawing_group(drawing, "column", scene->columns[i]);
		/* Labels beside a column have the room up to the next one. */
		draw_labels(&frame, &axis, i, x, width,
			fmin(scene->column_count > 1 ? pitch - width : INFINITY, drawing->width - x - width / 2));
		draw_name(&frame, i, x, name_width);
		tdm_drawing_group_end(drawing);
	}
	return 0;
}

/* One bar: parts as cells, then blanks, with a line where the limit is. */
static void print_bar(const struct tdm_scene *scene, const struct tdm_term *term, size_t column, size_t columns,
	double max, struct tdm_buf *out)
{
	size_t limit =
		tdm_plot_frame_has_limit(scene) ? (size_t)lround(scene->limit / max * (double)columns) : SIZE_MAX;
	size_t at = 0;
	double sum = 0;
	for (size_t i = 0; i <= scene->series_count; i++) {
		bool rest = i == scene->series_count;
		sum += rest ? 0 : height_of(scene, i, column);
		size_t end = rest ? columns + 1 : (size_t)lround(sum / max * (double)columns);
		for (; at < end; at++) {
			if (at == limit)
				tdm_buf_printf(out, "%s%s%s", tdm_term_style(term, TDM_STYLE_RED),
					term->utf8 ? "│" : "|", tdm_term_style(term, TDM_STYLE_OFF));
			else if (rest)
				tdm_buf_putc(out, ' ');
			else
				tdm_print_cells(out, term, i, scene->series[i].rgb, 1);
		}
	}
}

static void print(const struct tdm_scene *scene, const struct tdm_term *term, struct tdm_buf *out)
{
	enum { VALUE_COLUMNS = 10 };
	char value[TDM_AXIS_LABEL_CAP];
	size_t widest = 0, name_max = term->width / 3;
	double max = highest(scene) > 0 ? highest(scene) : 1;
	for (size_t i = 0; i < scene->column_count; i++) {
		size_t columns = tdm_print_columns(scene->columns[i]);
		widest = columns > widest ? columns : widest;
	}
	widest = widest < name_max ? widest : name_max;
	size_t columns = term->width - widest - VALUE_COLUMNS - 5;
	tdm_print_heading(out, term, scene);
	tdm_print_legend(out, term, scene);
	for (size_t i = 0; i < scene->column_count; i++) {
		tdm_print_name(out, term, scene->columns[i], widest);
		tdm_buf_puts(out, "  ");
		print_bar(scene, term, i, columns, max, out);
		tdm_plot_value(scene->unit, total_of(scene, i), value, sizeof value);
		tdm_buf_printf(out, "  %*s\n", VALUE_COLUMNS, value);
	}
	if (tdm_plot_frame_has_limit(scene)) {
		tdm_buf_printf(out, "%s%s%s ", tdm_term_style(term, TDM_STYLE_RED), term->utf8 ? "│" : "|",
			tdm_term_style(term, TDM_STYLE_OFF));
		tdm_print_name(out, term, scene->limit_name, tdm_print_columns(scene->limit_name));
		tdm_buf_printf(out, ": %s\n", tdm_plot_value(scene->unit, scene->limit, value, sizeof value));
	}
}

const struct tdm_chart tdm_chart_stack = {
	.name = "stack",
	.summary = "columns of stacked values with a limit",
	.lacks = lacks,
	.draw = draw,
	.print = print,
};
