/*
 * Columns of stacked values, such as the parts of peak memory of several runs. A part is labelled inside if it is high
 * enough, else beside the column. Negative and unknown values have no height.
 */
#include "plot/axis.h"
#include "plot/chart.h"
#include "plot/frame.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LABEL_LINES = 3, LINE_CAP = 128, SIDE_MAX = 32, LINES_MAX = 2 /* across a column */ };

#define COLUMN_SHARE 0.48 /* a column's width, as a share of its room */
#define TOTAL_ROOM   3.4  /* above a column, in font sizes */

struct side_label {
	double y;      /* preferred: the middle of the part */
	double placed; /* where it does not touch other labels */
	char text[TDM_AXIS_LABEL_CAP];
};

struct inside_label {
	double y; /* its middle */
	tdm_rgba ink;
	char text[TDM_AXIS_LABEL_CAP];
};

/* The layout of a column and its labels. */
struct column {
	size_t index;
	double x, width; /* x: of its middle */
	struct side_label side[SIDE_MAX];
	size_t side_count;
	struct inside_label inside[SIDE_MAX];
	size_t inside_count;
	char total[TDM_AXIS_LABEL_CAP + 16], note[TDM_AXIS_LABEL_CAP + 32];
	tdm_rgba note_colour;
	double total_y, note_y;
	struct tdm_box texts; /* box around total and note */
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

/* True if the difference is more than rounding. */
static bool is_less_than_parts(double total, double sum)
{
	return isfinite(total) && sum > total * 1.001;
}

/* NaN when the column has no limit. */
static double limit_of(const struct tdm_scene *scene, size_t column)
{
	double limit = !tdm_plot_frame_has_limits(scene) ? NAN
		       : scene->limits != NULL           ? scene->limits[column]
							 : scene->limit;
	return isfinite(limit) && limit > 0 ? limit : NAN;
}

static double highest(const struct tdm_scene *scene)
{
	double max = 0;
	for (size_t i = 0; i < scene->column_count; i++) {
		max = fmax(max, limit_of(scene, i));
		max = fmax(max, sum_of(scene, i));
		max = isfinite(total_of(scene, i)) ? fmax(max, total_of(scene, i)) : max;
	}
	return max;
}

/* Moves labels up, then down, until none touches the next. They stay below `top` unless there are too many. */
static void spread(struct side_label *labels, size_t count, double gap, double top, double bottom)
{
	/* The first label is for the lowest part, so y decreases. */
	double limit = bottom;
	for (size_t i = 0; i < count; i++) {
		labels[i].placed = fmin(labels[i].y, limit);
		limit = labels[i].placed - gap;
	}
	limit = fmin(top, bottom - gap * (double)count);
	for (size_t i = count; i-- > 0;) {
		labels[i].placed = fmax(labels[i].placed, limit);
		limit = labels[i].placed + gap;
	}
}

static struct tdm_font side_font(const struct tdm_plot_frame *frame)
{
	return tdm_plot_frame_font(frame, 0.85, false, TDM_INK, TDM_ALIGN_START);
}

static double arm_of(const struct tdm_plot_frame *frame)
{
	return frame->size * 0.7;
}

static bool overlap(struct tdm_box a, struct tdm_box b)
{
	return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

/* Leaves out labels that would not fit or would touch another text; their content is in the tooltip, too. */
static void draw_side_labels(const struct tdm_plot_frame *frame, const struct column *column, double room,
	const struct tdm_box *others, size_t other_count)
{
	struct tdm_font font = side_font(frame);
	struct tdm_paint leader = { .stroke = TDM_INK_AXIS, .width = 1 };
	double arm = arm_of(frame), x = column->x + column->width / 2;
	for (size_t i = 0; i < column->side_count; i++) {
		const struct side_label *label = &column->side[i];
		struct tdm_box box = { x + arm, label->placed - font.size * 0.6,
			tdm_drawing_text_width(frame->drawing, label->text, &font), font.size * 1.2 };
		bool clear = box.w <= room - arm;
		box.w += font.size / 2;
		for (size_t k = 0; k < other_count; k++)
			clear = clear && !overlap(box, others[k]);
		if (!clear)
			continue;
		tdm_drawing_line(frame->drawing, (struct tdm_point){ x, label->y },
			(struct tdm_point){ x + arm * 0.8, label->placed }, &leader);
		tdm_plot_frame_halo(frame, x + arm, label->placed + font.size * 0.36, label->text, &font);
	}
}

static struct tdm_font inside_font(const struct tdm_plot_frame *frame, tdm_rgba ink)
{
	return tdm_plot_frame_font(frame, 0.92, true, ink, TDM_ALIGN_MIDDLE);
}

static void draw_inside_labels(const struct tdm_plot_frame *frame, const struct column *column)
{
	for (size_t i = 0; i < column->inside_count; i++) {
		struct tdm_font font = inside_font(frame, column->inside[i].ink);
		tdm_drawing_text(frame->drawing, column->x, column->inside[i].y + font.size * 0.36,
			column->inside[i].text, &font);
	}
}

static struct tdm_font total_font(const struct tdm_plot_frame *frame)
{
	return tdm_plot_frame_font(frame, 1, true, TDM_INK, TDM_ALIGN_MIDDLE);
}

/* The note below the total: its share of the limit, or the excess; "" if there is no room. */
static void note_total(const struct tdm_plot_frame *frame, struct column *column, double total, double room)
{
	const struct tdm_scene *scene = frame->scene;
	struct tdm_font font = tdm_plot_frame_font(frame, 0.85, false, TDM_INK_MUTED, TDM_ALIGN_MIDDLE);
	char value[TDM_AXIS_LABEL_CAP], shorter[TDM_AXIS_LABEL_CAP + 16] = "";
	double sum = sum_of(scene, column->index), limit = limit_of(scene, column->index);
	if (is_less_than_parts(total, sum)) {
		column->note_colour = TDM_INK_WARN;
		snprintf(column->note, sizeof column->note, "at the line; parts sum to %s",
			tdm_plot_value(scene->unit, sum, value, sizeof value));
		snprintf(shorter, sizeof shorter, "parts %s", value);
	} else if (total > limit) {
		column->note_colour = TDM_INK_WARN;
		snprintf(column->note, sizeof column->note, "%s too much",
			tdm_plot_value(scene->unit, total - limit, value, sizeof value));
		snprintf(shorter, sizeof shorter, "+%s", value);
	} else if (isfinite(limit)) {
		/* A limit shared by all columns is labelled at its line. */
		snprintf(column->note, sizeof column->note, "%.1f %% of %s", 100 * total / limit,
			scene->limits == NULL ? "the limit" : tdm_plot_value(scene->unit, limit, value, sizeof value));
		snprintf(shorter, sizeof shorter, "%.1f %%", 100 * total / limit);
	}
	if (tdm_drawing_text_width(frame->drawing, column->note, &font) > room)
		snprintf(column->note, sizeof column->note, "%s", shorter);
	if (tdm_drawing_text_width(frame->drawing, column->note, &font) > room)
		column->note[0] = '\0';
}

/* Places the texts above the column, clear of the limit's line and of the column's labels. */
static void lay_out_total(const struct tdm_plot_frame *frame, const struct tdm_axis *axis, struct column *column)
{
	const struct tdm_scene *scene = frame->scene;
	double total = total_of(scene, column->index), sum = sum_of(scene, column->index);
	double room = column->width / COLUMN_SHARE; /* up to the labels of the neighbours */
	struct tdm_font font = total_font(frame);
	char value[TDM_AXIS_LABEL_CAP];
	tdm_plot_value(scene->unit, total, value, sizeof value);
	snprintf(column->total, sizeof column->total, "Total %s", value);
	if (tdm_drawing_text_width(frame->drawing, column->total, &font) > room)
		snprintf(column->total, sizeof column->total, "%s", value);
	if (tdm_drawing_text_width(frame->drawing, column->total, &font) > room)
		column->total[0] = '\0';
	if (isfinite(total))
		note_total(frame, column, total, room);

	struct tdm_font small = tdm_plot_frame_font(frame, 0.85, false, TDM_INK_MUTED, TDM_ALIGN_MIDDLE);
	double half = fmax(tdm_drawing_text_width(frame->drawing, column->total, &font),
			      tdm_drawing_text_width(frame->drawing, column->note, &small)) /
		      2;
	double y = tdm_plot_frame_y(frame, axis, isfinite(total) ? fmax(total, sum) : sum) - frame->size * 0.5;
	if (column->side_count != 0 && half > column->width / 2 + arm_of(frame) - frame->size * 0.2)
		y = fmin(y, column->side[column->side_count - 1].placed - frame->size * 0.9);
	/* If the limit's line would cross the text, the text is moved above it. */
	double limit = limit_of(scene, column->index);
	double line = isfinite(limit) ? tdm_plot_frame_y(frame, axis, limit) : -INFINITY;
	if (line < y + frame->size * 0.3 && line > y - frame->size * 2.2)
		y = line - frame->size * 0.5;
	column->note_y = y;
	column->total_y = column->note[0] != '\0' ? y - small.size * 1.25 : y;
	double top = column->total_y - font.size;
	column->texts = (struct tdm_box){ column->x - half, top, half * 2, y + frame->size * 0.3 - top };
}

static void draw_total(const struct tdm_plot_frame *frame, const struct tdm_axis *axis, const struct column *column)
{
	double total = total_of(frame->scene, column->index);
	struct tdm_font font = total_font(frame);
	struct tdm_font small = tdm_plot_frame_font(frame, 0.85, false, column->note_colour, TDM_ALIGN_MIDDLE);
	if (is_less_than_parts(total, sum_of(frame->scene, column->index))) {
		/* The parts add up to more than the total: show both. */
		double at = tdm_plot_frame_y(frame, axis, total), reach = column->width / 2 + frame->size * 0.4;
		tdm_drawing_line(frame->drawing, (struct tdm_point){ column->x - reach, at },
			(struct tdm_point){ column->x + reach, at },
			&(struct tdm_paint){ .stroke = TDM_INK, .width = frame->size / 9 });
	}
	if (column->note[0] != '\0')
		tdm_plot_frame_halo(frame, column->x, column->note_y, column->note, &small);
	if (column->total[0] != '\0')
		tdm_plot_frame_halo(frame, column->x, column->total_y, column->total, &font);
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
			&(struct tdm_paint){ .fill = tdm_rgba_of(scene->series[i].rgb, 1) });
		tdm_drawing_group_end(frame->drawing);
	}
}

/* The middle of a label inside a part, clear of the lines that cross it; NaN if there is no such place. */
static double place_inside(double top, double bottom, double size, const double *lines, size_t line_count)
{
	double places[1 + 2 * LINES_MAX] = { (top + bottom) / 2 };
	size_t count = 1;
	for (size_t i = 0; i < line_count; i++) {
		places[count++] = lines[i] + size * 0.8;
		places[count++] = lines[i] - size * 0.8;
	}
	for (size_t i = 0; i < count; i++) {
		bool clear = places[i] - size * 0.6 >= top && places[i] + size * 0.6 <= bottom;
		for (size_t k = 0; k < line_count; k++)
			clear = clear && fabs(places[i] - lines[k]) > size * 0.7;
		if (clear)
			return places[i];
	}
	return NAN;
}

/* Places each part's label inside it or beside the column. */
static void lay_out_labels(const struct tdm_plot_frame *frame, const struct tdm_axis *axis, struct column *column)
{
	const struct tdm_scene *scene = frame->scene;
	double below = 0, total = total_of(scene, column->index), limit = limit_of(scene, column->index);
	double lines[LINES_MAX];
	size_t line_count = 0;
	if (isfinite(limit))
		lines[line_count++] = tdm_plot_frame_y(frame, axis, limit);
	if (is_less_than_parts(total, sum_of(scene, column->index)))
		lines[line_count++] = tdm_plot_frame_y(frame, axis, total);
	for (size_t i = 0; i < scene->series_count; i++) {
		double value = height_of(scene, i, column->index);
		if (value <= 0)
			continue;
		tdm_rgba ink = tdm_plot_frame_ink_on(scene->series[i].rgb);
		struct tdm_font font = inside_font(frame, ink);
		double bottom = tdm_plot_frame_y(frame, axis, below),
		       top = tdm_plot_frame_y(frame, axis, below + value);
		double middle = place_inside(top, bottom, font.size, lines, line_count);
		char text[TDM_AXIS_LABEL_CAP];
		tdm_plot_value(scene->unit, value, text, sizeof text);
		bool fits = isfinite(middle) && tdm_drawing_text_width(frame->drawing, text, &font) < column->width - 4;
		if (fits && column->inside_count < SIDE_MAX) {
			struct inside_label *label = &column->inside[column->inside_count++];
			*label = (struct inside_label){ .y = middle, .ink = ink };
			snprintf(label->text, sizeof label->text, "%s", text);
		} else if (column->side_count < SIDE_MAX) {
			struct side_label *label = &column->side[column->side_count++];
			*label = (struct side_label){ .y = (top + bottom) / 2 };
			snprintf(label->text, sizeof label->text, "%s", text);
		}
		below += value;
	}
	struct tdm_font font = side_font(frame);
	if (font.size * 1.2 * (double)column->side_count + TOTAL_ROOM * frame->size > frame->area.h)
		column->side_count = 0; /* the picture is too small for them */
	spread(column->side, column->side_count, font.size * 1.2, tdm_plot_frame_y(frame, axis, below),
		frame->area.y + frame->area.h - font.size * 0.75);
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

/* The number of columns that share the room for one name. */
static size_t names_every(const struct tdm_plot_frame *frame, double pitch)
{
	double least = frame->size * 3.4;
	return pitch >= least ? 1 : (size_t)ceil(least / pitch);
}

static size_t name_lines(const struct tdm_plot_frame *frame, size_t every, double width)
{
	struct tdm_font font = tdm_plot_frame_font(frame, 0.92, true, TDM_INK, TDM_ALIGN_MIDDLE);
	char lines[LABEL_LINES][LINE_CAP];
	size_t most = 1;
	for (size_t i = 0; i < frame->scene->column_count; i += every) {
		size_t count = tdm_drawing_wrap(
			frame->drawing, frame->scene->columns[i], &font, width, lines[0], LINE_CAP, LABEL_LINES);
		most = count > most ? count : most;
	}
	return most;
}

/* Draws labels, totals and names of all columns. Labels beside a column keep clear of the limit's label and of the next
 * column's total. */
static void draw_texts(const struct tdm_plot_frame *frame, const struct tdm_axis *axis, struct column *columns,
	size_t every, double name_width)
{
	const struct tdm_scene *scene = frame->scene;
	for (size_t i = 0; i < scene->column_count; i++) {
		lay_out_labels(frame, axis, &columns[i]);
		lay_out_total(frame, axis, &columns[i]);
	}
	for (size_t i = 0; i < scene->column_count; i++) {
		const struct column *column = &columns[i];
		bool last = i + 1 == scene->column_count;
		double room = last ? frame->drawing->width - column->x - column->width / 2
				   : columns[i + 1].x - column->x - column->width;
		struct tdm_box others[] = { tdm_plot_frame_limit_label(frame, axis),
			last ? (struct tdm_box){ 0 } : columns[i + 1].texts };
		tdm_drawing_group(frame->drawing, "column", scene->columns[i]);
		draw_inside_labels(frame, column);
		draw_side_labels(frame, column, room, others, 2);
		draw_total(frame, axis, column);
		if (i % every == 0)
			draw_name(frame, i, column->x, name_width);
		tdm_drawing_group_end(frame->drawing);
	}
}

static int draw(const struct tdm_scene *scene, struct tdm_drawing *drawing)
{
	struct tdm_plot_frame frame = tdm_plot_frame_begin(drawing, scene, true);
	struct column *columns = calloc(scene->column_count, sizeof *columns);
	if (columns == NULL)
		return -ENOMEM;
	/* Leaves room for two lines above the highest column. */
	double ticks = frame.area.h / (frame.size * 4.2), left = fmax(frame.area.h - frame.size * 3.75, 1);
	double max = highest(scene) * (1 + TOTAL_ROOM * frame.size / left);
	struct tdm_axis axis = tdm_axis_make(0, max, scene->unit, (size_t)fmax(ticks, 2));
	tdm_plot_frame_reserve_limit(&frame);
	tdm_plot_frame_reserve_y(&frame, &axis);
	double pitch = frame.area.w / (double)scene->column_count;
	double width = fmin(pitch * COLUMN_SHARE, frame.size * 12);
	size_t every = names_every(&frame, pitch);
	double name_width = pitch * (double)every - frame.size * 0.6;
	frame.area.h -= frame.size * (0.6 + 1.15 * (double)name_lines(&frame, every, name_width));
	tdm_plot_frame_draw_y(&frame, &axis);
	for (size_t i = 0; i < scene->column_count; i++) {
		columns[i] = (struct column){ .index = i,
			.x = frame.area.x + pitch * ((double)i + 0.5),
			.width = width,
			.note_colour = TDM_INK_MUTED };
		draw_column(&frame, &axis, i, columns[i].x, width);
	}
	tdm_plot_frame_draw_limit(&frame, &axis);
	for (size_t i = 0; scene->limits != NULL && i < scene->column_count; i++)
		if (isfinite(limit_of(scene, i)))
			tdm_plot_frame_limit_line(&frame, tdm_plot_frame_y(&frame, &axis, limit_of(scene, i)),
				columns[i].x - pitch / 2, columns[i].x + pitch / 2);
	draw_texts(&frame, &axis, columns, every, name_width);
	free(columns);
	return 0;
}

/* One bar: parts as cells, then blanks, with a line at the limit. */
static void print_bar(const struct tdm_scene *scene, const struct tdm_term *term, size_t column, size_t columns,
	double max, struct tdm_buf *out)
{
	double most = limit_of(scene, column);
	size_t at = 0, limit = isfinite(most) ? (size_t)lround(most / max * (double)columns) : SIZE_MAX;
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
	enum { VALUE_COLUMNS = 11 };
	char value[TDM_AXIS_LABEL_CAP];
	size_t widest = 0, name_max = term->width * 2 / 5;
	double max = highest(scene) > 0 ? highest(scene) : 1;
	for (size_t i = 0; i < scene->column_count; i++) {
		size_t columns = tdm_print_columns(scene->columns[i]);
		widest = columns > widest ? columns : widest;
	}
	widest = widest < name_max ? widest : name_max;
	size_t columns = term->width - widest - VALUE_COLUMNS - 5;
	tdm_print_heading(out, term, scene);
	tdm_print_legend(out, term, scene);
	size_t longer = 0;
	for (size_t i = 0; i < scene->column_count; i++) {
		longer += is_less_than_parts(total_of(scene, i), sum_of(scene, i));
		tdm_print_name(out, term, scene->columns[i], widest);
		tdm_buf_puts(out, "  ");
		print_bar(scene, term, i, columns, max, out);
		tdm_plot_value(scene->unit, total_of(scene, i), value, sizeof value);
		tdm_buf_printf(out, "  %*s\n", VALUE_COLUMNS, value);
	}
	if (tdm_plot_frame_has_limits(scene)) {
		tdm_buf_printf(out, "%s%s%s ", tdm_term_style(term, TDM_STYLE_RED), term->utf8 ? "│" : "|",
			tdm_term_style(term, TDM_STYLE_OFF));
		tdm_print_name(out, term, scene->limit_name, tdm_print_columns(scene->limit_name));
		tdm_buf_printf(out, ": %s\n",
			scene->limits == NULL ? tdm_plot_value(scene->unit, scene->limit, value, sizeof value)
					      : "one for each bar");
	}
	if (longer != 0)
		tdm_buf_printf(out, "%zu bar%s longer than the total: the parts add up to more\n", longer,
			longer == 1 ? " is" : "s are");
}

const struct tdm_chart tdm_chart_stack = {
	.name = "stack",
	.summary = "columns of stacked values with a limit",
	.lacks = lacks,
	.draw = draw,
	.print = print,
};
