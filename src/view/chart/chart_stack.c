/*
 * Stacked columns, such as the parts of each run's peak memory. A part's label is inside the part if the part is tall
 * enough, otherwise beside the column. Negative and unknown values have no height.
 */
#include "base/memory.h"
#include "base/number.h"
#include "view/chart/drawing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LABEL_LINES = 3, LINE_CAP = 128, SIDE_MAX = 32, LINES_MAX = 2 /* across a column */ };

#define COLUMN_SHARE 0.48 /* column width, as a share of the space per column */
#define ARM          0.7  /* distance from a column to its labels, in font sizes */
#define TOTAL_ROOM   3.4  /* space above a column, in font sizes */

/* The label of a part: inside it, or beside the column. */
struct part_label {
	double y;      /* preferred y position: the middle of the part */
	double placed; /* y position beside the column, moved so that the label touches no other */
	tdm_rgba ink;
	struct tdm_label text;
};

/* The layout of a column and its labels. */
struct column {
	size_t index;
	double sum, total, limit;
	double x, width; /* x: the middle of the column */
	struct part_label side[SIDE_MAX];
	size_t side_count;
	struct part_label inside[SIDE_MAX];
	size_t inside_count;
	char total_text[TDM_LABEL_CAP + 16], note[TDM_LABEL_CAP + 32];
	tdm_rgba note_colour;
	double total_y, note_y;
	struct tdm_box texts; /* box around the total and the note */
};

const char *tdm_stack_lacks(const struct tdm_scene *scene)
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

/* True if the difference is larger than a rounding error. */
static bool is_less_than_parts(double total, double sum)
{
	return isfinite(total) && sum > total * 1.001;
}

/* The column's limit; NaN if it has none. */
static double limit_of(const struct tdm_scene *scene, size_t column)
{
	double limit = !tdm_frame_has_limits(scene) ? NAN
		       : scene->limits != NULL      ? scene->limits[column]
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
static void spread(struct part_label *labels, size_t count, double gap, double top, double bottom)
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

static struct tdm_font side_font(struct tdm_drawing *d)
{
	return tdm_frame_font(d, 0.85, false, TDM_INK, TDM_ALIGN_START);
}

/* Draws the labels beside a column, omitting those that would not fit or would touch other text. Tooltips contain the
 * same information. */
static void draw_side_labels(struct tdm_drawing *d, const struct column *column, double room,
	const struct tdm_box *others, size_t other_count)
{
	struct tdm_font font = side_font(d);
	struct tdm_paint leader = { .stroke = TDM_INK_AXIS, .width = 1 };
	double arm = d->size * ARM, x = column->x + column->width / 2;
	for (size_t i = 0; i < column->side_count; i++) {
		const struct part_label *label = &column->side[i];
		struct tdm_box box = { x + arm, label->placed - font.size * 0.6,
			tdm_drawing_text_width(d, label->text.text, &font), font.size * 1.2 };
		bool clear = box.w <= room - arm;
		box.w += font.size / 2;
		for (size_t k = 0; k < other_count; k++)
			clear = clear && !(box.x < others[k].x + others[k].w && others[k].x < box.x + box.w &&
						 box.y < others[k].y + others[k].h && others[k].y < box.y + box.h);
		if (!clear)
			continue;
		tdm_drawing_line(d, x, label->y, x + arm * 0.8, label->placed, &leader);
		tdm_frame_halo(d, x + arm, label->placed + font.size * 0.36, label->text.text, &font);
	}
}

static struct tdm_font inside_font(struct tdm_drawing *d, tdm_rgba ink)
{
	return tdm_frame_font(d, 0.92, true, ink, TDM_ALIGN_MIDDLE);
}

static struct tdm_font total_font(struct tdm_drawing *d)
{
	return tdm_frame_font(d, 1, true, TDM_INK, TDM_ALIGN_MIDDLE);
}

/* Writes the note below the total: the total's share of the limit, or the excess; "" if there is no room. */
static void note_total(struct tdm_drawing *d, struct column *column, double room)
{
	const struct tdm_scene *scene = d->scene;
	struct tdm_font font = tdm_frame_font(d, 0.85, false, TDM_INK_MUTED, TDM_ALIGN_MIDDLE);
	char shorter[TDM_LABEL_CAP + 16] = "";
	double sum = column->sum, limit = column->limit, total = column->total;
	if (is_less_than_parts(total, sum)) {
		column->note_colour = TDM_INK_WARN;
		snprintf(column->note, sizeof column->note, "at the line; parts sum to %s",
			tdm_plot_value(scene->unit, sum).text);
		snprintf(shorter, sizeof shorter, "parts %s", tdm_plot_value(scene->unit, sum).text);
	} else if (total > limit) {
		column->note_colour = TDM_INK_WARN;
		snprintf(column->note, sizeof column->note, "%s too much",
			tdm_plot_value(scene->unit, total - limit).text);
		snprintf(shorter, sizeof shorter, "+%s", tdm_plot_value(scene->unit, total - limit).text);
	} else if (isfinite(limit)) {
		/* A limit shared by all columns is labelled at its line. */
		snprintf(column->note, sizeof column->note, "%.1f %% of %s", 100 * total / limit,
			scene->limits == NULL ? "the limit" : tdm_plot_value(scene->unit, limit).text);
		snprintf(shorter, sizeof shorter, "%.1f %%", 100 * total / limit);
	}
	if (tdm_drawing_text_width(d, column->note, &font) > room)
		snprintf(column->note, sizeof column->note, "%s", shorter);
	if (tdm_drawing_text_width(d, column->note, &font) > room)
		column->note[0] = '\0';
}

/* Places the texts above the column, clear of the limit's line and of the column's labels. */
static void lay_out_total(struct tdm_drawing *d, struct column *column)
{
	const struct tdm_scene *scene = d->scene;
	double total = column->total, sum = column->sum;
	double room = column->width / COLUMN_SHARE; /* width up to the neighbouring columns' labels */
	struct tdm_font font = total_font(d);
	struct tdm_label value = tdm_plot_value(scene->unit, total);
	snprintf(column->total_text, sizeof column->total_text, "Total %s", value.text);
	if (tdm_drawing_text_width(d, column->total_text, &font) > room)
		snprintf(column->total_text, sizeof column->total_text, "%s", value.text);
	if (tdm_drawing_text_width(d, column->total_text, &font) > room)
		column->total_text[0] = '\0';
	if (isfinite(total))
		note_total(d, column, room);

	struct tdm_font small = tdm_frame_font(d, 0.85, false, TDM_INK_MUTED, TDM_ALIGN_MIDDLE);
	double half = fmax(tdm_drawing_text_width(d, column->total_text, &font),
			      tdm_drawing_text_width(d, column->note, &small)) /
		      2;
	double y = tdm_frame_y(d, isfinite(total) ? fmax(total, sum) : sum) - d->size * 0.5;
	if (column->side_count != 0 && half > column->width / 2 + d->size * ARM - d->size * 0.2)
		y = fmin(y, column->side[column->side_count - 1].placed - d->size * 0.9);
	/* If the limit's line would cross the text, the text is moved above it. */
	double line = isfinite(column->limit) ? tdm_frame_y(d, column->limit) : -INFINITY;
	if (line < y + d->size * 0.3 && line > y - d->size * 2.2)
		y = line - d->size * 0.5;
	column->note_y = y;
	column->total_y = column->note[0] != '\0' ? y - small.size * 1.25 : y;
	double top = column->total_y - font.size;
	column->texts = (struct tdm_box){ column->x - half, top, half * 2, y + d->size * 0.3 - top };
}

static void draw_total(struct tdm_drawing *d, const struct column *column)
{
	struct tdm_font font = total_font(d);
	struct tdm_font small = tdm_frame_font(d, 0.85, false, column->note_colour, TDM_ALIGN_MIDDLE);
	if (is_less_than_parts(column->total, column->sum)) {
		/* The parts add up to more than the total: show both. */
		double at = tdm_frame_y(d, column->total), reach = column->width / 2 + d->size * 0.4;
		tdm_drawing_line(d, column->x - reach, at, column->x + reach, at,
			&(struct tdm_paint){ .stroke = TDM_INK, .width = d->size / 9 });
	}
	if (column->note[0] != '\0')
		tdm_frame_halo(d, column->x, column->note_y, column->note, &small);
	if (column->total_text[0] != '\0')
		tdm_frame_halo(d, column->x, column->total_y, column->total_text, &font);
}

static void draw_column(struct tdm_drawing *d, size_t column, double x, double width)
{
	const struct tdm_scene *scene = d->scene;
	for (size_t i = 0, drawn = 0; i < scene->series_count; i++) {
		double value = height_of(scene, i, column), below = 0;
		if (value <= 0)
			continue;
		for (size_t j = 0; j < i; j++)
			below += height_of(scene, j, column);
		double bottom = tdm_frame_y(d, below), top = tdm_frame_y(d, below + value);
		char tip[LINE_CAP * 2];
		snprintf(tip, sizeof tip, "%.100s: %s (%.100s)", scene->series[i].name,
			tdm_plot_value(scene->unit, value).text, scene->columns[column]);
		tdm_drawing_group(d, "part", tip);
		/* A fine gap separates the parts. */
		double gap = drawn++ != 0 && bottom - top > 3 ? 1 : 0;
		tdm_drawing_fill(d, (struct tdm_box){ x - width / 2, top, width, bottom - top - gap },
			tdm_rgba_of(scene->series[i].rgb, 1));
		tdm_drawing_group_end(d);
	}
}

/* The middle of a label inside a part, clear of lines that cross the part; NaN if there is no such place. */
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
static void lay_out_labels(struct tdm_drawing *d, struct column *column)
{
	const struct tdm_scene *scene = d->scene;
	double below = 0;
	double lines[LINES_MAX];
	size_t line_count = 0;
	if (isfinite(column->limit))
		lines[line_count++] = tdm_frame_y(d, column->limit);
	if (is_less_than_parts(column->total, column->sum))
		lines[line_count++] = tdm_frame_y(d, column->total);
	for (size_t i = 0; i < scene->series_count; i++) {
		double value = height_of(scene, i, column->index);
		if (value <= 0)
			continue;
		tdm_rgba ink = tdm_frame_ink_on(scene->series[i].rgb);
		struct tdm_font font = inside_font(d, ink);
		double bottom = tdm_frame_y(d, below), top = tdm_frame_y(d, below + value);
		double middle = place_inside(top, bottom, font.size, lines, line_count);
		struct tdm_label text = tdm_plot_value(scene->unit, value);
		bool fits = isfinite(middle) && tdm_drawing_text_width(d, text.text, &font) < column->width - 4;
		if (fits && column->inside_count < SIDE_MAX)
			column->inside[column->inside_count++] =
				(struct part_label){ .y = middle, .ink = ink, .text = text };
		else if (column->side_count < SIDE_MAX)
			column->side[column->side_count++] =
				(struct part_label){ .y = (top + bottom) / 2, .text = text };
		below += value;
	}
	struct tdm_font font = side_font(d);
	if (font.size * 1.2 * (double)column->side_count + TOTAL_ROOM * d->size > d->area.h)
		column->side_count = 0; /* the labels do not fit into the picture */
	spread(column->side, column->side_count, font.size * 1.2, tdm_frame_y(d, below),
		d->area.y + d->area.h - font.size * 0.75);
}

static struct tdm_font name_font(struct tdm_drawing *d)
{
	return tdm_frame_font(d, 0.92, true, TDM_INK, TDM_ALIGN_MIDDLE);
}

static size_t wrap_name(struct tdm_drawing *d, size_t column, double width, char lines[LABEL_LINES][LINE_CAP])
{
	struct tdm_font font = name_font(d);
	return tdm_drawing_wrap(d, d->scene->columns[column], &font, width, lines[0], LINE_CAP, LABEL_LINES);
}

/* Draws labels, totals and names of all columns. Labels beside a column keep clear of the limit's label and of the next
 * column's total. */
static void draw_texts(struct tdm_drawing *d, struct column *columns, size_t every, double name_width)
{
	const struct tdm_scene *scene = d->scene;
	struct tdm_font name = name_font(d);
	char lines[LABEL_LINES][LINE_CAP];
	for (size_t i = 0; i < scene->column_count; i++) {
		lay_out_labels(d, &columns[i]);
		lay_out_total(d, &columns[i]);
	}
	for (size_t i = 0; i < scene->column_count; i++) {
		const struct column *column = &columns[i];
		bool last = i + 1 == scene->column_count;
		double room =
			last ? d->width - column->x - column->width / 2 : columns[i + 1].x - column->x - column->width;
		struct tdm_box others[] = { tdm_frame_limit_label(d),
			last ? (struct tdm_box){ 0 } : columns[i + 1].texts };
		tdm_drawing_group(d, "column", scene->columns[i]);
		for (size_t k = 0; k < column->inside_count; k++) {
			struct tdm_font font = inside_font(d, column->inside[k].ink);
			tdm_drawing_text(d, column->x, column->inside[k].y + font.size * 0.36,
				column->inside[k].text.text, &font);
		}
		draw_side_labels(d, column, room, others, 2);
		draw_total(d, column);
		size_t count = i % every == 0 ? wrap_name(d, i, name_width, lines) : 0;
		for (size_t k = 0; k < count; k++)
			tdm_drawing_text(d, column->x, d->area.y + d->area.h + name.size * (1.5 + 1.25 * (double)k),
				lines[k], &name);
		tdm_drawing_group_end(d);
	}
}

void tdm_stack_draw(struct tdm_drawing *d, const struct tdm_scene *scene)
{
	tdm_frame_begin(d, scene, true);
	struct column *columns = tdm_zalloc(scene->column_count, sizeof *columns);
	/* Leaves room for two lines above the highest column. */
	double ticks = d->area.h / (d->size * 4.2), left = fmax(d->area.h - d->size * 3.75, 1);
	double max = highest(scene) * (1 + TOTAL_ROOM * d->size / left);
	struct tdm_axis axis = tdm_axis_make(0, max, scene->unit, (size_t)fmax(ticks, 2));
	tdm_frame_reserve_limit(d);
	tdm_frame_reserve_y(d, &axis);
	double pitch = d->area.w / (double)scene->column_count;
	double width = fmin(pitch * COLUMN_SHARE, d->size * 12);
	/* Columns share the room of one name if they are narrow. */
	size_t every = (size_t)fmax(ceil(d->size * 3.4 / pitch), 1), most = 1;
	double name_width = pitch * (double)every - d->size * 0.6;
	char lines[LABEL_LINES][LINE_CAP];
	for (size_t i = 0; i < scene->column_count; i += every)
		most = tdm_max(most, wrap_name(d, i, name_width, lines));
	d->area.h -= d->size * (0.6 + 1.15 * (double)most);
	tdm_frame_draw_y(d);
	for (size_t i = 0; i < scene->column_count; i++) {
		columns[i] = (struct column){ .index = i,
			.sum = sum_of(scene, i),
			.total = total_of(scene, i),
			.limit = limit_of(scene, i),
			.x = d->area.x + pitch * ((double)i + 0.5),
			.width = width,
			.note_colour = TDM_INK_MUTED };
		draw_column(d, i, columns[i].x, width);
	}
	tdm_frame_draw_limit(d);
	for (size_t i = 0; scene->limits != NULL && i < scene->column_count; i++)
		if (isfinite(columns[i].limit))
			tdm_frame_limit_line(d, tdm_frame_y(d, columns[i].limit), columns[i].x - pitch / 2,
				columns[i].x + pitch / 2);
	draw_texts(d, columns, every, name_width);
	free(columns);
}

/* Prints one bar: the parts as cells, then blanks, with a line at the limit. */
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

void tdm_stack_print(const struct tdm_scene *scene, const struct tdm_term *term, struct tdm_buf *out)
{
	enum { VALUE_COLUMNS = 11 };
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
		tdm_buf_printf(out, "  %*s\n", VALUE_COLUMNS, tdm_plot_value(scene->unit, total_of(scene, i)).text);
	}
	if (tdm_frame_has_limits(scene)) {
		tdm_buf_printf(out, "%s%s%s ", tdm_term_style(term, TDM_STYLE_RED), term->utf8 ? "│" : "|",
			tdm_term_style(term, TDM_STYLE_OFF));
		tdm_print_name(out, term, scene->limit_name, tdm_print_columns(scene->limit_name));
		tdm_buf_printf(out, ": %s\n",
			scene->limits == NULL ? tdm_plot_value(scene->unit, scene->limit).text : "one for each bar");
	}
	if (longer != 0)
		tdm_buf_printf(out, "%zu bar%s longer than the total: the parts add up to more\n", longer,
			longer == 1 ? " is" : "s are");
}
