#include "plot/frame.h"

#include <math.h>
#include <stdio.h>

static const double line_height = 1.35; /* times the font size */
static const double swatch = 0.85;      /* likewise */

#define CHART_LEAST 0.6 /* of the picture's height, with its axes, before a legend is drawn whole */

struct tdm_font tdm_plot_frame_font(
	const struct tdm_plot_frame *frame, double scale, bool bold, tdm_rgba colour, enum tdm_align align)
{
	return (struct tdm_font){ frame->size * scale, bold, colour, align };
}

static bool is_text(const char *text)
{
	return text != NULL && text[0] != '\0';
}

static void cut_top(struct tdm_plot_frame *frame, double height)
{
	frame->area.y += height;
	frame->area.h -= height;
}

static void draw_heading(struct tdm_plot_frame *frame, const char *text, const struct tdm_font *font)
{
	if (!is_text(text))
		return;
	tdm_drawing_text_within(frame->drawing, frame->area.x, frame->area.y + font->size, frame->area.w, text, font);
	cut_top(frame, font->size * line_height);
}

/* Moves *at to a new line if an entry would not fit in the current one. */
static void place_entry(const struct tdm_plot_frame *frame, struct tdm_point *at, double width)
{
	if (at->x > frame->area.x && at->x + width > frame->area.x + frame->area.w) {
		at->x = frame->area.x;
		at->y += frame->size * line_height;
	}
}

static double mark_width(const struct tdm_plot_frame *frame, bool is_line)
{
	return frame->size * (is_line ? swatch * 2 : swatch);
}

static double entry_width(const struct tdm_plot_frame *frame, const char *name, bool is_line)
{
	struct tdm_font font = tdm_plot_frame_font(frame, 1, false, TDM_INK, TDM_ALIGN_START);
	return mark_width(frame, is_line) + frame->size * 0.45 + tdm_drawing_text_width(frame->drawing, name, &font);
}

static void draw_entry(struct tdm_plot_frame *frame, struct tdm_point *at, const char *name, uint32_t rgb, bool is_line)
{
	struct tdm_font font = tdm_plot_frame_font(frame, 1, false, TDM_INK, TDM_ALIGN_START);
	double side = frame->size * swatch, mark = mark_width(frame, is_line);
	double width = entry_width(frame, name, is_line);
	place_entry(frame, at, width);
	tdm_drawing_group(frame->drawing, "legend", NULL);
	if (is_line) {
		double y = at->y + frame->size * 0.62;
		tdm_drawing_line(frame->drawing, (struct tdm_point){ at->x, y }, (struct tdm_point){ at->x + mark, y },
			&(struct tdm_paint){
				.stroke = TDM_INK_LIMIT, .width = frame->size / 7, .dash = frame->size / 2 });
	} else {
		tdm_drawing_box(frame->drawing, (struct tdm_box){ at->x, at->y + frame->size * 0.2, side, side },
			&(struct tdm_paint){ .fill = tdm_rgba_of(rgb, 1), .round = side / 6 });
	}
	tdm_drawing_text_within(frame->drawing, at->x + mark + frame->size * 0.45, at->y + frame->size,
		frame->area.w - mark, name, &font);
	tdm_drawing_group_end(frame->drawing);
	at->x += width + frame->size * 1.6;
}

/* An entry of the legend: a series or, after them, the limit. */
static const char *entry_name(const struct tdm_scene *scene, size_t entry)
{
	return entry < scene->series_count ? scene->series[entry].name : scene->limit_name;
}

/* Returns the end of the entries that fit into `lines`, placing them without drawing; `left` is room for more words. */
static size_t entries_that_fit(const struct tdm_plot_frame *frame, size_t first, size_t end, size_t lines, double left)
{
	struct tdm_point at = { frame->area.x, 0 };
	size_t used = 1, fit = first;
	for (size_t i = first; i < end; i++) {
		bool is_line = i >= frame->scene->series_count;
		double before = at.y, width = entry_width(frame, entry_name(frame->scene, i), is_line);
		place_entry(frame, &at, width);
		used += at.y > before;
		at.x += width + frame->size * 1.6;
		if (used > lines)
			break;
		if (used < lines || at.x + left <= frame->area.x + frame->area.w || i + 1 == end)
			fit = i + 1;
	}
	return fit;
}

/* In a small picture the chart is worth more than the legend: it keeps half of the height, and the last entries are
 * left out and counted. */
static void draw_legend(struct tdm_plot_frame *frame, bool swatches)
{
	const struct tdm_scene *scene = frame->scene;
	struct tdm_font font = tdm_plot_frame_font(frame, 1, false, TDM_INK_MUTED, TDM_ALIGN_START);
	struct tdm_point at = { frame->area.x, frame->area.y };
	size_t first = swatches ? 0 : scene->series_count;
	size_t end = scene->series_count + tdm_plot_frame_has_limits(scene);
	double line = frame->size * line_height, room = frame->area.h - frame->drawing->height * CHART_LEAST;
	size_t lines = room > line ? (size_t)(room / line) : 0;
	char more[32];
	if (first == end || lines == 0)
		return;
	snprintf(more, sizeof more, "and %zu more", end - first);
	size_t fit = entries_that_fit(frame, first, end, lines, 0);
	if (fit < end)
		fit = entries_that_fit(
			frame, first, end, lines, tdm_drawing_text_width(frame->drawing, more, &font) + frame->size);
	if (fit == first)
		return;
	for (size_t i = first; i < fit; i++) {
		bool is_line = i >= scene->series_count;
		draw_entry(frame, &at, entry_name(scene, i), is_line ? 0 : scene->series[i].rgb, is_line);
	}
	if (fit < end) {
		snprintf(more, sizeof more, "and %zu more", end - fit);
		place_entry(frame, &at, tdm_drawing_text_width(frame->drawing, more, &font));
		tdm_drawing_text(frame->drawing, at.x, at.y + frame->size, more, &font);
	}
	cut_top(frame, at.y - frame->area.y + line);
}

struct tdm_plot_frame tdm_plot_frame_begin(struct tdm_drawing *drawing, const struct tdm_scene *scene, bool swatches)
{
	double least = fmin(drawing->width * 0.5625, drawing->height);
	double readable = fmin(fmax(least / 20, 7), 10.5); /* smaller only in small pictures */
	struct tdm_plot_frame frame = { drawing, scene, fmin(fmax(least / 50, readable), 24), { 0, 0, 0, 0 }, 0 };
	double margin = frame.size * 1.6;
	frame.area = (struct tdm_box){ margin, margin, drawing->width - 2 * margin, drawing->height - 2 * margin };
	tdm_drawing_box(drawing, (struct tdm_box){ 0, 0, drawing->width, drawing->height },
		&(struct tdm_paint){ .fill = TDM_PAPER });

	struct tdm_font title = tdm_plot_frame_font(&frame, 1.5, true, TDM_INK, TDM_ALIGN_START);
	struct tdm_font subtitle = tdm_plot_frame_font(&frame, 1, false, TDM_INK_MUTED, TDM_ALIGN_START);
	draw_heading(&frame, scene->title, &title);
	draw_heading(&frame, scene->subtitle, &subtitle);
	if (is_text(scene->title) || is_text(scene->subtitle))
		cut_top(&frame, frame.size * 0.5);
	draw_legend(&frame, swatches);
	cut_top(&frame, frame.size * 0.8);
	return frame;
}

double tdm_plot_frame_y(const struct tdm_plot_frame *frame, const struct tdm_axis *axis, double value)
{
	return frame->area.y + frame->area.h * (1 - (value - axis->from) / (axis->to - axis->from));
}

double tdm_plot_frame_x(const struct tdm_plot_frame *frame, double from, double to, double value)
{
	return frame->area.x + frame->area.w * (value - from) / (to - from);
}

void tdm_plot_frame_reserve_y(struct tdm_plot_frame *frame, const struct tdm_axis *axis)
{
	struct tdm_font font = tdm_plot_frame_font(frame, 0.92, false, TDM_INK_MUTED, TDM_ALIGN_END);
	char label[TDM_AXIS_LABEL_CAP];
	double widest = 0;
	for (size_t i = 0; i < axis->count; i++) {
		tdm_axis_label(axis, axis->from + (double)i * axis->step, label, sizeof label);
		widest = fmax(widest, tdm_drawing_text_width(frame->drawing, label, &font));
	}
	widest += frame->size * 0.6;
	if (is_text(frame->scene->y_label)) {
		frame->name_y = frame->area.y + frame->size;
		cut_top(frame, frame->size * 2);
	}
	frame->area.x += widest;
	frame->area.w -= widest;
}

void tdm_plot_frame_draw_y(const struct tdm_plot_frame *frame, const struct tdm_axis *axis)
{
	struct tdm_font font = tdm_plot_frame_font(frame, 0.92, false, TDM_INK_MUTED, TDM_ALIGN_END);
	double left = frame->area.x, right = frame->area.x + frame->area.w;
	char label[TDM_AXIS_LABEL_CAP];
	tdm_drawing_group(frame->drawing, "axis", NULL);
	for (size_t i = 0; i < axis->count; i++) {
		double value = axis->from + (double)i * axis->step, y = tdm_plot_frame_y(frame, axis, value);
		/* In the middle of a pixel, where a thin line is sharp. */
		double sharp = floor(y) + 0.5;
		tdm_drawing_line(frame->drawing, (struct tdm_point){ left, sharp }, (struct tdm_point){ right, sharp },
			&(struct tdm_paint){
				.stroke = i == 0 || fabs(value) < axis->step * 1e-9 ? TDM_INK_AXIS : TDM_INK_GRID,
				.width = 1 });
		tdm_drawing_text(frame->drawing, left - frame->size * 0.5, y + font.size * 0.36,
			tdm_axis_label(axis, value, label, sizeof label), &font);
	}
	if (is_text(frame->scene->y_label)) {
		struct tdm_font name = tdm_plot_frame_font(frame, 0.92, true, TDM_INK_MUTED, TDM_ALIGN_START);
		double left_edge = frame->size * 1.6;
		tdm_drawing_text_within(frame->drawing, left_edge, frame->name_y,
			frame->drawing->width - left_edge - frame->size, frame->scene->y_label, &name);
	}
	tdm_drawing_group_end(frame->drawing);
}

void tdm_plot_frame_draw_x(
	const struct tdm_plot_frame *frame, const struct tdm_axis *axis, double first, const char *name)
{
	struct tdm_font font = tdm_plot_frame_font(frame, 0.92, false, TDM_INK_MUTED, TDM_ALIGN_MIDDLE);
	double bottom = frame->area.y + frame->area.h, right = frame->area.x + frame->area.w;
	double free_from = -1; /* where the next label may begin */
	char label[TDM_AXIS_LABEL_CAP];
	tdm_drawing_group(frame->drawing, "axis", NULL);
	for (size_t i = 0; i < axis->count; i++) {
		double value = first + (double)i * axis->step;
		double x = tdm_plot_frame_x(frame, axis->from, axis->to, value);
		if (x > right + 0.5)
			break;
		double half = tdm_drawing_text_width(
				      frame->drawing, tdm_axis_label(axis, value, label, sizeof label), &font) /
			      2;
		tdm_drawing_line(frame->drawing, (struct tdm_point){ floor(x) + 0.5, bottom },
			(struct tdm_point){ floor(x) + 0.5, bottom + frame->size * 0.35 },
			&(struct tdm_paint){ .stroke = TDM_INK_AXIS, .width = 1 });
		if (x - half < free_from || x + half > frame->drawing->width)
			continue;
		tdm_drawing_text(frame->drawing, x, bottom + frame->size * 1.45, label, &font);
		free_from = x + half + frame->size * 0.5;
	}
	if (is_text(name)) {
		struct tdm_font bold = tdm_plot_frame_font(frame, 0.92, true, TDM_INK_MUTED, TDM_ALIGN_MIDDLE);
		double middle = frame->area.x + frame->area.w / 2,
		       room = fmin(middle, frame->drawing->width - middle) * 2;
		tdm_drawing_text_within(frame->drawing, middle, bottom + frame->size * 2.8, room, name, &bold);
	}
	tdm_drawing_group_end(frame->drawing);
}

bool tdm_plot_frame_has_limits(const struct tdm_scene *scene)
{
	return tdm_plot_frame_has_limit(scene) || (is_text(scene->limit_name) && scene->limits != NULL);
}

bool tdm_plot_frame_has_limit(const struct tdm_scene *scene)
{
	return is_text(scene->limit_name) && scene->limits == NULL && isfinite(scene->limit) && scene->limit > 0;
}

void tdm_plot_frame_reserve_limit(struct tdm_plot_frame *frame)
{
	if (!tdm_plot_frame_has_limit(frame->scene))
		return;
	struct tdm_font font = tdm_plot_frame_font(frame, 0.92, true, TDM_INK_WARN, TDM_ALIGN_START);
	char label[TDM_AXIS_LABEL_CAP];
	tdm_plot_value(frame->scene->unit, frame->scene->limit, label, sizeof label);
	frame->area.w -= tdm_drawing_text_width(frame->drawing, label, &font) + frame->size * 0.4;
}

void tdm_plot_frame_limit_line(const struct tdm_plot_frame *frame, double y, double from, double to)
{
	tdm_drawing_group(frame->drawing, "limit", frame->scene->limit_name);
	tdm_drawing_line(frame->drawing, (struct tdm_point){ from, y }, (struct tdm_point){ to, y },
		&(struct tdm_paint){ .stroke = TDM_INK_LIMIT, .width = frame->size / 7, .dash = frame->size * 0.6 });
	tdm_drawing_group_end(frame->drawing);
}

void tdm_plot_frame_draw_limit(const struct tdm_plot_frame *frame, const struct tdm_axis *axis)
{
	if (!tdm_plot_frame_has_limit(frame->scene))
		return;
	struct tdm_font font = tdm_plot_frame_font(frame, 0.92, true, TDM_INK_WARN, TDM_ALIGN_START);
	double y = tdm_plot_frame_y(frame, axis, frame->scene->limit), right = frame->area.x + frame->area.w;
	char label[TDM_AXIS_LABEL_CAP];
	tdm_plot_value(frame->scene->unit, frame->scene->limit, label, sizeof label);
	tdm_plot_frame_limit_line(frame, y, frame->area.x, right);
	tdm_drawing_text(frame->drawing, right + frame->size * 0.4, y + font.size * 0.36, label, &font);
}

struct tdm_box tdm_plot_frame_limit_label(const struct tdm_plot_frame *frame, const struct tdm_axis *axis)
{
	if (!tdm_plot_frame_has_limit(frame->scene))
		return (struct tdm_box){ 0 };
	double y = tdm_plot_frame_y(frame, axis, frame->scene->limit), left = frame->area.x + frame->area.w;
	return (struct tdm_box){ left, y - frame->size * 0.6, frame->drawing->width - left, frame->size * 1.2 };
}

void tdm_plot_frame_halo(
	const struct tdm_plot_frame *frame, double x, double y, const char *text, const struct tdm_font *font)
{
	double width = tdm_drawing_text_width(frame->drawing, text, font), pad = font->size * 0.2;
	double left = font->align == TDM_ALIGN_START ? x : font->align == TDM_ALIGN_MIDDLE ? x - width / 2 : x - width;
	tdm_drawing_box(frame->drawing,
		(struct tdm_box){ left - pad, y - font->size * 0.92, width + 2 * pad, font->size * 1.2 },
		&(struct tdm_paint){ .fill = tdm_rgba_of(TDM_PAPER >> 8, 0.85), .round = pad });
	tdm_drawing_text(frame->drawing, x, y, text, font);
}

tdm_rgba tdm_plot_frame_ink_on(uint32_t rgb)
{
	double red = (rgb >> 16 & 0xff) / 255.0, green = (rgb >> 8 & 0xff) / 255.0, blue = (rgb & 0xff) / 255.0;
	return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 ? TDM_INK : TDM_PAPER;
}
