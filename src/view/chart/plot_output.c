/* Writes scenes to files and to the terminal, and draws two kinds of charts: grids of cells, and address ranges. */
#include "base/err.h"
#include "base/file.h"
#include "view/chart/drawing.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>

/* ---- a grid of cells coloured by value, such as one figure per core, with a scale beside it ---------------------- */

enum {
	SCALE_STEPS = 64,
	SCALE_LEAST = 8, /* minimum height, in letters */
	CELL_WIDE = 2,   /* maximum width-to-height ratio of a cell */
};

/* Colours from empty to full. */
static const uint32_t ramp[] = { 0xfff7e6, 0xfed976, 0xfd9a3c, 0xe6402a, 0x7a0127 };

static const char *heat_lacks(const struct tdm_scene *scene)
{
	return scene->cells == NULL || scene->grid_width == 0 || scene->grid_height == 0 ? "cells" : NULL;
}

static uint32_t colour_of(double share)
{
	enum { STOPS = sizeof ramp / sizeof *ramp };
	double place = fmin(fmax(share, 0), 1) * (STOPS - 1);
	size_t below = (size_t)fmin(floor(place), STOPS - 2);
	uint32_t rgb = 0;
	for (int shift = 16; shift >= 0; shift -= 8) {
		double from = ramp[below] >> shift & 0xff, to = ramp[below + 1] >> shift & 0xff;
		rgb |= (uint32_t)lround(from + (to - from) * (place - (double)below)) << shift;
	}
	return rgb;
}

static double hottest(const struct tdm_scene *scene)
{
	double max = 0;
	if (isfinite(scene->cell_max) && scene->cell_max > 0)
		return scene->cell_max;
	for (size_t i = 0; i < scene->grid_width * scene->grid_height; i++)
		max = isfinite(scene->cells[i]) ? fmax(max, scene->cells[i]) : max;
	return max > 0 ? max : 1;
}

static void draw_cell(struct tdm_drawing *d, size_t x, size_t y, struct tdm_point side, double max, double letters)
{
	const struct tdm_scene *scene = d->scene;
	double value = scene->cells[y * scene->grid_width + x], gap = side.y > 12 ? 1 : 0;
	struct tdm_box box = { d->area.x + side.x * (double)x, d->area.y + side.y * (double)y, side.x - gap,
		side.y - gap };
	if (!isfinite(value)) {
		tdm_drawing_fill(d, box, TDM_INK_EMPTY);
		return;
	}
	uint32_t rgb = colour_of(value / max);
	struct tdm_label text = tdm_plot_value(scene->unit, value);
	char tip[TDM_LABEL_CAP * 2 + 8];
	snprintf(tip, sizeof tip, "%zu, %zu: %s", x, y, text.text);
	tdm_drawing_group(d, "cell", tip);
	tdm_drawing_box(d, box, &(struct tdm_paint){ .fill = tdm_rgba_of(rgb, 1), .round = gap * 2 });
	if (letters > 0) {
		struct tdm_font font = tdm_frame_font(d, letters, false, tdm_frame_ink_on(rgb), TDM_ALIGN_MIDDLE);
		tdm_drawing_text(d, box.x + box.w / 2, box.y + box.h / 2 + font.size * 0.36, text.text, &font);
	}
	tdm_drawing_group_end(d);
}

static void draw_numbers(struct tdm_drawing *d, struct tdm_point side)
{
	struct tdm_font font = tdm_frame_font(d, 0.85, false, TDM_INK_MUTED, TDM_ALIGN_MIDDLE);
	size_t every = (size_t)ceil(font.size * 1.9 / fmin(side.x, side.y));
	char text[24];
	tdm_drawing_group(d, "axis", NULL);
	for (size_t x = 0; x < d->scene->grid_width; x += every) {
		snprintf(text, sizeof text, "%zu", x);
		tdm_drawing_text(d, d->area.x + side.x * ((double)x + 0.5), d->area.y - d->size * 0.4, text, &font);
	}
	font.align = TDM_ALIGN_END;
	for (size_t y = 0; y < d->scene->grid_height; y += every) {
		snprintf(text, sizeof text, "%zu", y);
		tdm_drawing_text(d, d->area.x - d->size * 0.5,
			d->area.y + side.y * ((double)y + 0.5) + font.size * 0.36, text, &font);
	}
	tdm_drawing_group_end(d);
}

static void put_scale(struct tdm_drawing *d, double x, double height, double max)
{
	struct tdm_font font = tdm_frame_font(d, 0.85, false, TDM_INK_MUTED, TDM_ALIGN_START);
	struct tdm_axis axis = tdm_axis_make(0, max, d->scene->unit, (size_t)fmax(height / (d->size * 5), 2));
	double width = d->size * 1.2;
	tdm_drawing_group(d, "scale", NULL);
	for (size_t i = 0; i < SCALE_STEPS; i++) {
		double top = d->area.y + height * (1 - (double)(i + 1) / SCALE_STEPS);
		/* Slightly higher than a step, so that no gap shows between two steps. */
		tdm_drawing_fill(d, (struct tdm_box){ x, top, width, height / SCALE_STEPS + (i != 0 ? 0.5 : 0) },
			tdm_rgba_of(colour_of(((double)i + 0.5) / SCALE_STEPS), 1));
	}
	for (size_t i = 0; i < axis.count; i++) {
		double value = (double)i * axis.step, y = d->area.y + height * (1 - value / max);
		if (value > max * 1.0001)
			break;
		tdm_drawing_text(
			d, x + width + d->size * 0.4, y + font.size * 0.36, tdm_axis_label(&axis, value).text, &font);
	}
	tdm_drawing_group_end(d);
}

static void heat_draw(struct tdm_drawing *d, const struct tdm_scene *scene)
{
	static const double scales[] = { 1, 0.92, 0.82, 0.72 };
	tdm_frame_begin(d, scene, false);
	double left = d->size * 2.2, top = d->size * 1.4, scale_room = d->size * 7.5, max = hottest(scene);
	d->area.x += left;
	d->area.w -= left;
	d->area.y += top;
	d->area.h -= top;
	struct tdm_point side = { (d->area.w - scale_room) / (double)scene->grid_width,
		d->area.h / (double)scene->grid_height };
	side.x = fmin(side.x, side.y * CELL_WIDE);
	side.x = side.x > 8 ? floor(side.x) : fmax(side.x, 0.1); /* whole pixels */
	side.y = fmin(side.y, side.x);
	side.y = side.y > 8 ? floor(side.y) : fmax(side.y, 0.1);
	double letters = 0, widest = 0; /* the largest font scale at which all labels fit; 0 if none do */
	for (size_t i = 0; i < scene->grid_width * scene->grid_height; i++) {
		struct tdm_font font = tdm_frame_font(d, 1, false, TDM_INK, TDM_ALIGN_MIDDLE);
		if (isfinite(scene->cells[i]))
			widest = fmax(widest,
				tdm_drawing_text_width(d, tdm_plot_value(scene->unit, scene->cells[i]).text, &font));
	}
	for (size_t i = 0; i < sizeof scales / sizeof *scales && letters == 0; i++) {
		double size = d->size * scales[i];
		if (side.y >= size * 1.6 && widest * scales[i] <= side.x - size * 0.6)
			letters = scales[i];
	}
	draw_numbers(d, side);
	for (size_t y = 0; y < scene->grid_height; y++)
		for (size_t x = 0; x < scene->grid_width; x++)
			draw_cell(d, x, y, side, max, letters);
	/* If the grid is flat, the colour scale is higher than the grid, so that the scale's figures do not touch. */
	double high = fmax(side.y * (double)scene->grid_height, fmin(d->area.h, d->size * SCALE_LEAST));
	put_scale(d, d->area.x + side.x * (double)scene->grid_width + d->size * 1.2, high, max);
}

static void heat_print(const struct tdm_scene *scene, const struct tdm_term *term, struct tdm_buf *out)
{
	double max = hottest(scene);
	size_t shown = (term->width - 4) / 4 < scene->grid_width ? (term->width - 4) / 4 : scene->grid_width;
	tdm_print_heading(out, term, scene);
	tdm_buf_puts(out, "    ");
	for (size_t x = 0; x < shown; x++)
		tdm_buf_printf(out, "%4zu", x);
	tdm_buf_putc(out, '\n');
	for (size_t y = 0; y < scene->grid_height; y++) {
		tdm_buf_printf(out, "%4zu", y);
		for (size_t x = 0; x < shown; x++) {
			double cell = scene->cells[y * scene->grid_width + x];
			if (isfinite(cell))
				tdm_buf_printf(out, "%4ld", lround(fmin(fmax(cell / max, 0), 9.99) * 100));
			else
				tdm_buf_puts(out, "   -");
		}
		tdm_buf_putc(out, '\n');
	}
	tdm_buf_printf(out, "in %% of %s%s\n", tdm_plot_value(scene->unit, max).text,
		shown < scene->grid_width ? "; the terminal is too narrow to show every column" : "");
}

/* ---- address ranges in rows, such as the banks of a memory: the used ranges, and the free space between them ---- */

static const char *map_lacks(const struct tdm_scene *scene)
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

/* The series that covers the largest part of [from, to) in a row; the search starts at span `first`. *used_share is the
 * used share of that range. */
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

static void draw_span(struct tdm_drawing *d, const struct tdm_plot_row *row, const struct tdm_plot_span *span,
	size_t series, struct tdm_box box)
{
	const struct tdm_scene *scene = d->scene;
	char tip[256];
	snprintf(tip, sizeof tip, "%.100s: %s at %.40s + %s",
		span->name != NULL ? span->name : scene->series[span->series].name,
		tdm_plot_value(scene->unit, span->to - span->from).text, row->name,
		tdm_plot_value(scene->unit, span->from).text);
	tdm_drawing_group(d, "span", tip);
	tdm_drawing_fill(d, box, tdm_rgba_of(scene->series[series].rgb, 1));
	tdm_drawing_group_end(d);
}

static void draw_row(struct tdm_drawing *d, const struct tdm_plot_row *row, double y, double height)
{
	const struct tdm_scene *scene = d->scene;
	double from = scene->map_from, to = scene->map_to, per_pixel = (to - from) / d->area.w, drawn_to = -1;
	tdm_drawing_fill(d, (struct tdm_box){ d->area.x, y, d->area.w, height }, TDM_INK_EMPTY);
	for (size_t i = 0; i < row->span_count; i++) {
		const struct tdm_plot_span *span = &row->spans[i];
		double begin = fmax(span->from, from), end = fmin(span->to, to);
		if (!(end > begin))
			continue;
		double left = tdm_frame_x(d, begin), right = tdm_frame_x(d, end);
		if (right - left >= 1) {
			double line = right - left > 4 ? 0.5 : 0;
			draw_span(d, row, span, span->series,
				(struct tdm_box){ left + line, y, right - left - 2 * line, height });
			continue;
		}
		/* A pixel shared by narrow spans has the colour of the series that covers most of the pixel. */
		double pixel = floor(left), share;
		if (pixel < drawn_to)
			continue;
		double first = from + (pixel - d->area.x) * per_pixel;
		draw_span(d, row, span, winner(scene, row, i > 0 ? i - 1 : 0, first, first + per_pixel, &share),
			(struct tdm_box){ pixel, y, 1, height });
		drawn_to = pixel + 1;
	}
}

static void map_draw(struct tdm_drawing *d, const struct tdm_scene *scene)
{
	tdm_frame_begin(d, scene, true);
	d->x_from = scene->map_from;
	d->x_to = scene->map_to;
	struct tdm_font font = tdm_frame_font(d, 0.92, false, TDM_INK_MUTED, TDM_ALIGN_END);
	double widest = 0, most = d->area.w / 3;
	for (size_t i = 0; i < scene->row_count; i++)
		widest = fmax(widest, tdm_drawing_text_width(d, scene->rows[i].name, &font));
	widest = fmin(widest, most);
	d->area.x += widest + d->size * 0.6;
	/* The last label is centred on the end of the axis. */
	d->area.w -= widest + d->size * 2.6;
	/* In a small picture the map matters more than the words below its axis. */
	bool has_words = scene->x_label != NULL && d->area.h - d->size * 2.6 >= d->height / 2;
	d->area.h -= d->size * (has_words && scene->x_label[0] != '\0' ? 2.6 : 1.3);

	double pitch = fmin(d->area.h / (double)scene->row_count, d->size * 5);
	double height = pitch > 4 ? pitch * 0.78 : pitch, free_from = -INFINITY;
	d->area.h = pitch * (double)scene->row_count;
	for (size_t i = 0; i < scene->row_count; i++) {
		double y = d->area.y + pitch * (double)i;
		tdm_drawing_group(d, "row", NULL);
		draw_row(d, &scene->rows[i], y, height);
		double base = y + height / 2 + font.size * 0.36;
		if (base - font.size >= free_from) {
			tdm_drawing_text_within(d, d->area.x - d->size * 0.6, base, widest, scene->rows[i].name, &font);
			free_from = base;
		}
		tdm_drawing_group_end(d);
	}
	struct tdm_axis axis =
		scene->unit == TDM_PLOT_BYTES
			? tdm_axis_address(scene->map_from, scene->map_to, (size_t)fmax(d->area.w / (d->size * 8), 2))
			: tdm_axis_make(scene->map_from, scene->map_to, scene->unit,
				  (size_t)fmax(d->area.w / (d->size * 8), 2));
	tdm_frame_draw_x(d, &axis, has_words ? scene->x_label : NULL);
}

static void map_print(const struct tdm_scene *scene, const struct tdm_term *term, struct tdm_buf *out)
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
	const struct tdm_label from = tdm_plot_value(scene->unit, scene->map_from);
	tdm_buf_fill(out, ' ', widest + 2);
	tdm_buf_printf(out, "%s%*s\n", from.text, (int)(columns - tdm_print_columns(from.text)),
		tdm_plot_value(scene->unit, scene->map_to).text);
	if (has_little)
		tdm_buf_printf(out, "%s less than half is used\n", little);
}

/* ---- output ------------------------------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	/* Names data that the chart needs and the scene lacks; NULL if nothing is missing. */
	const char *(*lacks)(const struct tdm_scene *scene);
	void (*draw)(struct tdm_drawing *drawing, const struct tdm_scene *scene);
	void (*print)(const struct tdm_scene *scene, const struct tdm_term *term, struct tdm_buf *out);
} charts[TDM_CHART_KINDS] = {
	[TDM_CHART_STACK] = { "stack", tdm_stack_lacks, tdm_stack_draw, tdm_stack_print },
	[TDM_CHART_TIME] = { "time", tdm_time_lacks, tdm_time_draw, tdm_time_print },
	[TDM_CHART_MAP] = { "map", map_lacks, map_draw, map_print },
	[TDM_CHART_HEAT] = { "heat", heat_lacks, heat_draw, heat_print },
};

static const char *const extensions[TDM_PLOT_FORMATS] = {
	[TDM_PLOT_PNG] = ".png", [TDM_PLOT_SVG] = ".svg", [TDM_PLOT_PDF] = ".pdf"
};

int tdm_plot_format_of(const char *path, enum tdm_plot_format *format, struct tdm_diag *diag)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash != NULL ? slash : path, '.');
	for (int i = 0; dot != NULL && i < TDM_PLOT_FORMATS; i++)
		if (strcasecmp(dot, extensions[i]) == 0) {
			*format = (enum tdm_plot_format)i;
			return 0;
		}
	char shown[128];
	return tdm_diag_set(diag, TDM_EREFUSED, 0, 0, "%s: the name of a picture must end in .png, .svg or .pdf",
		tdm_str_shown(tdm_str_of(path), shown, sizeof shown));
}

static int check(const struct tdm_scene *scene, struct tdm_diag *diag)
{
	if ((unsigned)scene->kind >= TDM_CHART_KINDS)
		return tdm_diag_set(diag, -EINVAL, 0, 0, "there is no such chart");
	const char *lacks = charts[scene->kind].lacks(scene);
	if (lacks != NULL)
		return tdm_diag_set(diag, -EINVAL, 0, 0, "nothing to draw: the chart '%s' has no %s",
			charts[scene->kind].name, lacks);
	return 0;
}

int tdm_plot_render(const struct tdm_scene *scene, enum tdm_plot_format format, const struct tdm_plot_options *options,
	struct tdm_buf *out, struct tdm_diag *diag)
{
	double width = options != NULL && options->width != 0 ? options->width : TDM_PLOT_WIDTH;
	double height = options != NULL && options->height != 0 ? options->height : TDM_PLOT_HEIGHT;
	double scale = options != NULL && options->scale != 0 ? options->scale : 1;
	int err = check(scene, diag);
	if (err != 0)
		return err;
	if (!tdm_plot_is_side(width) || !tdm_plot_is_side(height) || !tdm_plot_is_side(width * scale) ||
		!tdm_plot_is_side(height * scale))
		return tdm_diag_set(diag, -ERANGE, 0, 0, "a picture is %d to %d pixels wide and high",
			TDM_PLOT_SIDE_MIN, TDM_PLOT_SIDE_MAX);
	struct tdm_drawing *drawing = format == TDM_PLOT_SVG
					      ? tdm_drawing_svg(width, height, scale)
					      : tdm_drawing_cairo(width, height, scale, format == TDM_PLOT_PDF);
	if (drawing == NULL)
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory for a picture of %.0f x %.0f pixels",
			width * scale, height * scale);
	charts[scene->kind].draw(drawing, scene);
	err = drawing->ops->finish(drawing, out);
	tdm_drawing_free(drawing);
	return err != 0 ? tdm_diag_set(diag, err, 0, 0, "cannot draw: %s", tdm_err_text(err)) : 0;
}

int tdm_plot_write(
	const struct tdm_scene *scene, const char *path, const struct tdm_plot_options *options, struct tdm_diag *diag)
{
	enum tdm_plot_format format;
	struct tdm_buf picture = { 0 };
	int err = tdm_plot_format_of(path, &format, diag);
	if (err != 0)
		return err;
	err = tdm_plot_render(scene, format, options, &picture, diag);
	if (err == 0) {
		err = tdm_file_replace(path, picture.data, picture.len);
		char shown[256];
		if (err != 0)
			tdm_diag_set(diag, err, 0, 0, "cannot write %s: %s",
				tdm_str_shown(tdm_str_of(path), shown, sizeof shown), tdm_err_text(err));
	}
	tdm_buf_done(&picture);
	return err;
}

int tdm_plot_print(
	const struct tdm_scene *scene, const struct tdm_term *term, struct tdm_buf *out, struct tdm_diag *diag)
{
	int err = check(scene, diag);
	if (err == 0)
		charts[scene->kind].print(scene, term, out);
	return err;
}

int tdm_plot_show(const struct tdm_scene *scene, const struct tdm_plot_picture *picture, struct tdm_buf *out,
	struct tdm_diag *diag)
{
	struct tdm_scene titled = *scene;
	titled.title = picture->title;
	return picture->path != NULL ? tdm_plot_write(&titled, picture->path, &picture->size, diag)
				     : tdm_plot_print(&titled, picture->term, out, diag);
}

const char *tdm_plot_missing_fonts(void)
{
	struct tdm_ruler *ruler = tdm_ruler_new();
	bool found = tdm_ruler_has_fonts(ruler);
	tdm_ruler_free(ruler);
	return found ? NULL
		     : "no font is installed, so letters are drawn as plain strokes; install fonts-dejavu-core, for "
		       "example";
}
