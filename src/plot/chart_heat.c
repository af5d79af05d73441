/* A grid of cells coloured by value, such as one figure per core, with a scale beside it. */
#include "plot/axis.h"
#include "plot/chart.h"
#include "plot/frame.h"

#include <math.h>
#include <stdio.h>

enum {
	SCALE_STEPS = 64,
	SCALE_LEAST = 8, /* of its height, in letters */
	CELL_WIDE = 2,   /* the most that a cell's width is of its height */
};

/* From empty to full. */
static const uint32_t ramp[] = { 0xfff7e6, 0xfed976, 0xfd9a3c, 0xe6402a, 0x7a0127 };

static const char *lacks(const struct tdm_scene *scene)
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

static void draw_cell(
	const struct tdm_plot_frame *frame, size_t x, size_t y, struct tdm_point side, double max, double letters)
{
	const struct tdm_scene *scene = frame->scene;
	double value = scene->cells[y * scene->grid_width + x], gap = side.y > 12 ? 1 : 0;
	struct tdm_box box = { frame->area.x + side.x * (double)x, frame->area.y + side.y * (double)y, side.x - gap,
		side.y - gap };
	if (!isfinite(value)) {
		tdm_drawing_box(frame->drawing, box, &(struct tdm_paint){ .fill = TDM_INK_EMPTY });
		return;
	}
	uint32_t rgb = colour_of(value / max);
	char text[TDM_AXIS_LABEL_CAP], tip[TDM_AXIS_LABEL_CAP * 2];
	snprintf(tip, sizeof tip, "%zu, %zu: %s", x, y, tdm_plot_value(scene->unit, value, text, sizeof text));
	tdm_drawing_group(frame->drawing, "cell", tip);
	tdm_drawing_box(frame->drawing, box, &(struct tdm_paint){ .fill = tdm_rgba_of(rgb, 1), .round = gap * 2 });
	if (letters > 0) {
		struct tdm_font font =
			tdm_plot_frame_font(frame, letters, false, tdm_plot_frame_ink_on(rgb), TDM_ALIGN_MIDDLE);
		tdm_drawing_text(frame->drawing, box.x + box.w / 2, box.y + box.h / 2 + font.size * 0.36, text, &font);
	}
	tdm_drawing_group_end(frame->drawing);
}

/* Whether every label fits its cell at this font scale. */
static bool labels_fit(const struct tdm_plot_frame *frame, struct tdm_point side, double scale)
{
	struct tdm_font font = tdm_plot_frame_font(frame, scale, false, TDM_INK, TDM_ALIGN_MIDDLE);
	char text[TDM_AXIS_LABEL_CAP];
	if (side.y < font.size * 1.6)
		return false;
	for (size_t i = 0; i < frame->scene->grid_width * frame->scene->grid_height; i++)
		if (isfinite(frame->scene->cells[i]) &&
			tdm_drawing_text_width(frame->drawing,
				tdm_plot_value(frame->scene->unit, frame->scene->cells[i], text, sizeof text),
				&font) > side.x - font.size * 0.6)
			return false;
	return true;
}

/* The largest font scale at which all labels fit; 0 if none does. */
static double letters_that_fit(const struct tdm_plot_frame *frame, struct tdm_point side)
{
	static const double scales[] = { 1, 0.92, 0.82, 0.72 };
	for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
		if (labels_fit(frame, side, scales[i]))
			return scales[i];
	return 0;
}

static void draw_numbers(const struct tdm_plot_frame *frame, struct tdm_point side)
{
	struct tdm_font font = tdm_plot_frame_font(frame, 0.85, false, TDM_INK_MUTED, TDM_ALIGN_MIDDLE);
	size_t every = (size_t)ceil(font.size * 1.9 / fmin(side.x, side.y));
	char text[24];
	tdm_drawing_group(frame->drawing, "axis", NULL);
	for (size_t x = 0; x < frame->scene->grid_width; x += every) {
		snprintf(text, sizeof text, "%zu", x);
		tdm_drawing_text(frame->drawing, frame->area.x + side.x * ((double)x + 0.5),
			frame->area.y - frame->size * 0.4, text, &font);
	}
	font.align = TDM_ALIGN_END;
	for (size_t y = 0; y < frame->scene->grid_height; y += every) {
		snprintf(text, sizeof text, "%zu", y);
		tdm_drawing_text(frame->drawing, frame->area.x - frame->size * 0.5,
			frame->area.y + side.y * ((double)y + 0.5) + font.size * 0.36, text, &font);
	}
	tdm_drawing_group_end(frame->drawing);
}

static void draw_scale(const struct tdm_plot_frame *frame, double x, double height, double max)
{
	struct tdm_font font = tdm_plot_frame_font(frame, 0.85, false, TDM_INK_MUTED, TDM_ALIGN_START);
	struct tdm_axis axis = tdm_axis_make(0, max, frame->scene->unit, (size_t)fmax(height / (frame->size * 5), 2));
	double width = frame->size * 1.2;
	char label[TDM_AXIS_LABEL_CAP];
	tdm_drawing_group(frame->drawing, "scale", NULL);
	for (size_t i = 0; i < SCALE_STEPS; i++) {
		double top = frame->area.y + height * (1 - (double)(i + 1) / SCALE_STEPS);
		/* A little higher than a step, so that no gap shows between two. */
		tdm_drawing_box(frame->drawing,
			(struct tdm_box){ x, top, width, height / SCALE_STEPS + (i != 0 ? 0.5 : 0) },
			&(struct tdm_paint){ .fill = tdm_rgba_of(colour_of(((double)i + 0.5) / SCALE_STEPS), 1) });
	}
	for (size_t i = 0; i < axis.count; i++) {
		double value = (double)i * axis.step, y = frame->area.y + height * (1 - value / max);
		if (value > max * 1.0001)
			break;
		tdm_drawing_text(frame->drawing, x + width + frame->size * 0.4, y + font.size * 0.36,
			tdm_axis_label(&axis, value, label, sizeof label), &font);
	}
	tdm_drawing_group_end(frame->drawing);
}

static double whole_pixels(double side)
{
	return side > 8 ? floor(side) : fmax(side, 0.1);
}

static int draw(const struct tdm_scene *scene, struct tdm_drawing *drawing)
{
	struct tdm_plot_frame frame = tdm_plot_frame_begin(drawing, scene, false);
	double left = frame.size * 2.2, top = frame.size * 1.4, scale_room = frame.size * 7.5, max = hottest(scene);
	frame.area.x += left;
	frame.area.w -= left;
	frame.area.y += top;
	frame.area.h -= top;
	struct tdm_point side = { (frame.area.w - scale_room) / (double)scene->grid_width,
		frame.area.h / (double)scene->grid_height };
	side.x = whole_pixels(fmin(side.x, side.y * CELL_WIDE));
	side.y = whole_pixels(fmin(side.y, side.x));
	double letters = letters_that_fit(&frame, side);
	draw_numbers(&frame, side);
	for (size_t y = 0; y < scene->grid_height; y++)
		for (size_t x = 0; x < scene->grid_width; x++)
			draw_cell(&frame, x, y, side, max, letters);
	/* A flat grid must not press the figures of the scale together. */
	double high = fmax(side.y * (double)scene->grid_height, fmin(frame.area.h, frame.size * SCALE_LEAST));
	draw_scale(&frame, frame.area.x + side.x * (double)scene->grid_width + frame.size * 1.2, high, max);
	return 0;
}

static void print(const struct tdm_scene *scene, const struct tdm_term *term, struct tdm_buf *out)
{
	double max = hottest(scene);
	char value[TDM_AXIS_LABEL_CAP];
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
	tdm_plot_value(scene->unit, max, value, sizeof value);
	tdm_buf_printf(out, "in %% of %s%s\n", value,
		shown < scene->grid_width ? "; the terminal is too narrow to show every column" : "");
}

const struct tdm_chart tdm_chart_heat = {
	.name = "heat",
	.summary = "a grid of cells coloured by value",
	.lacks = lacks,
	.draw = draw,
	.print = print,
};
