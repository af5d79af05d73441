/* The parts shared by all charts: axes, the frame of a picture with title, legend and limit, and terminal output. */
#include "view/chart/drawing.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- axes -------------------------------------------------------------------------------------------------------- */

struct scale {
	double from; /* smallest value in this unit */
	double divisor;
	const char *unit;
};

static const struct scale byte_scales[] = {
	{ 0x1p60, 0x1p60, "EiB" },
	{ 0x1p50, 0x1p50, "PiB" },
	{ 0x1p40, 0x1p40, "TiB" },
	{ 0x1p30, 0x1p30, "GiB" },
	{ 0x1p20, 0x1p20, "MiB" },
	{ 0x1p10, 0x1p10, "KiB" },
	{ 0, 1, "B" },
};
static const struct scale mib_scales[] = { { 0, 0x1p20, "MiB" } };
static const struct scale second_scales[] = {
	{ 7200, 3600, "h" },
	{ 120, 60, "min" },
	{ 1, 1, "s" },
	{ 1e-3, 1e-3, "ms" },
	{ 1e-6, 1e-6, "\xc2\xb5s" },
	{ 0, 1e-9, "ns" },
};
static const struct scale number_scales[] = { { 1e9, 1e9, "G" }, { 1e6, 1e6, "M" }, { 1e4, 1e3, "k" }, { 0, 1, "" } };
static const struct scale percent_scales[] = { { 0, 0.01, "%" } };

static const struct scale *scales[] = {
	[TDM_PLOT_NUMBER] = number_scales,
	[TDM_PLOT_BYTES] = byte_scales,
	[TDM_PLOT_MIB] = mib_scales,
	[TDM_PLOT_SECONDS] = second_scales,
	[TDM_PLOT_PERCENT] = percent_scales,
};

static const struct scale *scale_of(enum tdm_plot_unit unit, double value)
{
	const struct scale *scale = scales[unit];
	while (fabs(value) < scale->from)
		scale++;
	return scale;
}

static int decimals_of(double step)
{
	int decimals = 0;
	while (decimals < 6 && fabs(step - round(step)) > 1e-9 * step) {
		step *= 10;
		decimals++;
	}
	return decimals;
}

static void make_finite(double *from, double *to)
{
	*from = isfinite(*from) ? *from : 0;
	*to = isfinite(*to) ? *to : 0;
	if (*to <= *from)
		*to = *from + 1;
}

struct tdm_axis tdm_axis_make(double from, double to, enum tdm_plot_unit unit, size_t ticks)
{
	make_finite(&from, &to);
	const struct scale *scale = scale_of(unit, fmax(fabs(from), fabs(to)));
	ticks = ticks < 2 ? 2 : ticks > TDM_AXIS_TICKS_MAX / 2 ? TDM_AXIS_TICKS_MAX / 2 : ticks;
	double rough = (to - from) / scale->divisor / (double)ticks, power = pow(10, floor(log10(rough)));
	double lead = rough / power, step = power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
	if ((unit == TDM_PLOT_BYTES || unit == TDM_PLOT_NUMBER) && scale->divisor == 1 && step < 1)
		step = 1; /* no fractions of a byte */
	double first = floor(from / scale->divisor / step + 1e-9), last = ceil(to / scale->divisor / step - 1e-9);
	return (struct tdm_axis){
		.from = first * step * scale->divisor,
		.to = last * step * scale->divisor,
		.step = step * scale->divisor,
		.count = (size_t)(last - first) + 1,
		.divisor = scale->divisor,
		.unit = scale->unit,
		.decimals = decimals_of(step),
		.commas = unit == TDM_PLOT_MIB,
	};
}

struct tdm_axis tdm_axis_address(double from, double to, size_t ticks)
{
	make_finite(&from, &to);
	double step = exp2(ceil(log2(fmax((to - from) / (double)(ticks < 2 ? 2 : ticks), 1))));
	const struct scale *scale = scale_of(TDM_PLOT_BYTES, fmax(to / 4, step));
	double first = ceil(from / step), last = floor(to / step);
	return (struct tdm_axis){
		.from = from,
		.to = to,
		.step = step,
		.count = last < first ? 0 : (size_t)(last - first) + 1,
		.divisor = scale->divisor,
		.unit = scale->unit,
		.decimals = decimals_of(step / scale->divisor),
	};
}

/* A whole number with thousands separators. */
static void put_commas(double number, char *dst, size_t cap)
{
	char digits[TDM_LABEL_CAP - 16];
	snprintf(dst, cap, "%s%s", number < 0 ? "-" : "",
		tdm_format_count(digits, sizeof digits, (uint64_t)fmin(fabs(number), 0x1p62)));
}

struct tdm_label tdm_axis_label(const struct tdm_axis *axis, double value)
{
	struct tdm_label label = { "0" };
	char digits[TDM_LABEL_CAP - 16];
	if (fabs(value) < axis->step * 1e-9)
		return label;
	if (axis->commas && axis->decimals == 0)
		put_commas(round(value / axis->divisor), digits, sizeof digits);
	else
		snprintf(digits, sizeof digits, "%.*f", axis->decimals, value / axis->divisor);
	snprintf(label.text, sizeof label.text, "%s%s%s", digits, axis->unit[0] != '\0' ? " " : "", axis->unit);
	return label;
}

struct tdm_label tdm_plot_value(enum tdm_plot_unit unit, double value)
{
	struct tdm_label label = { "unknown" };
	if (!isfinite(value))
		return label;
	const struct scale *scale = scale_of(unit, value);
	double shown = value / scale->divisor;
	int decimals = fabs(shown) < 9.995 ? 2 : fabs(shown) < 99.95 ? 1 : 0;
	char digits[TDM_LABEL_CAP - 16];
	int len = snprintf(digits, sizeof digits, "%.*f", decimals, shown);
	if (len < 0 || (size_t)len >= sizeof digits)
		snprintf(digits, sizeof digits, "%.3g", shown);
	else if (decimals != 0)
		while (digits[len - 1] == '0' || digits[len - 1] == '.') {
			bool point = digits[len - 1] == '.';
			digits[--len] = '\0';
			if (point)
				break;
		}
	if (unit == TDM_PLOT_MIB && decimals == 0)
		put_commas(round(shown), digits, sizeof digits);
	snprintf(label.text, sizeof label.text, "%s%s%s", digits, scale->unit[0] != '\0' ? " " : "", scale->unit);
	return label;
}

/* ---- the frame of a picture -------------------------------------------------------------------------------------- */

static const double line_height = 1.35; /* times the font size */
static const double swatch = 0.85;      /* likewise */

/* The chart with its axes keeps this share of the height; if necessary, the legend is cut. */
#define CHART_LEAST 0.6

struct tdm_font tdm_frame_font(struct tdm_drawing *d, double scale, bool bold, tdm_rgba colour, enum tdm_align align)
{
	return (struct tdm_font){ d->size * scale, bold, colour, align };
}

static bool is_text(const char *text)
{
	return text != NULL && text[0] != '\0';
}

static void cut_top(struct tdm_drawing *d, double height)
{
	d->area.y += height;
	d->area.h -= height;
}

static void draw_heading(struct tdm_drawing *d, const char *text, const struct tdm_font *font)
{
	if (!is_text(text))
		return;
	tdm_drawing_text_within(d, d->area.x, d->area.y + font->size, d->area.w, text, font);
	cut_top(d, font->size * line_height);
}

/* Moves *at to a new line if an entry would not fit in the current one. */
static void place_entry(struct tdm_drawing *d, struct tdm_point *at, double width)
{
	if (at->x > d->area.x && at->x + width > d->area.x + d->area.w) {
		at->x = d->area.x;
		at->y += d->size * line_height;
	}
}

static double mark_width(struct tdm_drawing *d, bool is_line)
{
	return d->size * (is_line ? swatch * 2 : swatch);
}

static double entry_width(struct tdm_drawing *d, const char *name, bool is_line)
{
	struct tdm_font font = tdm_frame_font(d, 1, false, TDM_INK, TDM_ALIGN_START);
	return mark_width(d, is_line) + d->size * 0.45 + tdm_drawing_text_width(d, name, &font);
}

static void draw_entry(struct tdm_drawing *d, struct tdm_point *at, const char *name, uint32_t rgb, bool is_line)
{
	struct tdm_font font = tdm_frame_font(d, 1, false, TDM_INK, TDM_ALIGN_START);
	double side = d->size * swatch, mark = mark_width(d, is_line);
	double width = entry_width(d, name, is_line);
	place_entry(d, at, width);
	tdm_drawing_group(d, "legend", NULL);
	if (is_line) {
		double y = at->y + d->size * 0.62;
		tdm_drawing_line(d, at->x, y, at->x + mark, y,
			&(struct tdm_paint){ .stroke = TDM_INK_LIMIT, .width = d->size / 7, .dash = d->size / 2 });
	} else {
		tdm_drawing_box(d, (struct tdm_box){ at->x, at->y + d->size * 0.2, side, side },
			&(struct tdm_paint){ .fill = tdm_rgba_of(rgb, 1), .round = side / 6 });
	}
	tdm_drawing_text_within(d, at->x + mark + d->size * 0.45, at->y + d->size, d->area.w - mark, name, &font);
	tdm_drawing_group_end(d);
	at->x += width + d->size * 1.6;
}

/* The name of a legend entry: a series or, after all series, the limit. */
static const char *entry_name(const struct tdm_scene *scene, size_t entry)
{
	return entry < scene->series_count ? scene->series[entry].name : scene->limit_name;
}

/* Places entries without drawing them. Returns the index after the last entry that fits into `lines` lines. `left` is
 * the width reserved at the end of the last line for additional words. */
static size_t entries_that_fit(struct tdm_drawing *d, size_t first, size_t end, size_t lines, double left)
{
	struct tdm_point at = { d->area.x, 0 };
	size_t used = 1, fit = first;
	for (size_t i = first; i < end; i++) {
		bool is_line = i >= d->scene->series_count;
		double before = at.y, width = entry_width(d, entry_name(d->scene, i), is_line);
		place_entry(d, &at, width);
		used += at.y > before;
		at.x += width + d->size * 1.6;
		if (used > lines)
			break;
		if (used < lines || at.x + left <= d->area.x + d->area.w || i + 1 == end)
			fit = i + 1;
	}
	return fit;
}

/* In a small picture the chart matters more than the legend: the chart keeps half of the height, and the last entries
 * are left out and counted. */
static void draw_legend(struct tdm_drawing *d, bool swatches)
{
	const struct tdm_scene *scene = d->scene;
	struct tdm_font font = tdm_frame_font(d, 1, false, TDM_INK_MUTED, TDM_ALIGN_START);
	struct tdm_point at = { d->area.x, d->area.y };
	size_t first = swatches ? 0 : scene->series_count;
	size_t end = scene->series_count + tdm_frame_has_limits(scene);
	double line = d->size * line_height, room = d->area.h - d->height * CHART_LEAST;
	size_t lines = room > line ? (size_t)(room / line) : 0;
	char more[32];
	if (first == end || lines == 0)
		return;
	snprintf(more, sizeof more, "and %zu more", end - first);
	size_t fit = entries_that_fit(d, first, end, lines, 0);
	if (fit < end)
		fit = entries_that_fit(d, first, end, lines, tdm_drawing_text_width(d, more, &font) + d->size);
	if (fit == first)
		return;
	for (size_t i = first; i < fit; i++) {
		bool is_line = i >= scene->series_count;
		draw_entry(d, &at, entry_name(scene, i), is_line ? 0 : scene->series[i].rgb, is_line);
	}
	if (fit < end) {
		snprintf(more, sizeof more, "and %zu more", end - fit);
		place_entry(d, &at, tdm_drawing_text_width(d, more, &font));
		tdm_drawing_text(d, at.x, at.y + d->size, more, &font);
	}
	cut_top(d, at.y - d->area.y + line);
}

void tdm_frame_begin(struct tdm_drawing *d, const struct tdm_scene *scene, bool swatches)
{
	double least = fmin(d->width * 0.5625, d->height);
	double readable = fmin(fmax(least / 20, 7), 10.5); /* smaller only in small pictures */
	d->scene = scene;
	d->size = fmin(fmax(least / 50, readable), 24);
	double margin = d->size * 1.6;
	d->area = (struct tdm_box){ margin, margin, d->width - 2 * margin, d->height - 2 * margin };
	tdm_drawing_fill(d, (struct tdm_box){ 0, 0, d->width, d->height }, TDM_PAPER);

	struct tdm_font title = tdm_frame_font(d, 1.5, true, TDM_INK, TDM_ALIGN_START);
	struct tdm_font subtitle = tdm_frame_font(d, 1, false, TDM_INK_MUTED, TDM_ALIGN_START);
	draw_heading(d, scene->title, &title);
	draw_heading(d, scene->subtitle, &subtitle);
	if (is_text(scene->title) || is_text(scene->subtitle))
		cut_top(d, d->size * 0.5);
	draw_legend(d, swatches);
	cut_top(d, d->size * 0.8);
}

double tdm_frame_y(struct tdm_drawing *d, double value)
{
	return d->area.y + d->area.h * (1 - (value - d->y.from) / (d->y.to - d->y.from));
}

double tdm_frame_x(struct tdm_drawing *d, double value)
{
	return d->area.x + d->area.w * (value - d->x_from) / (d->x_to - d->x_from);
}

void tdm_frame_reserve_y(struct tdm_drawing *d, const struct tdm_axis *axis)
{
	struct tdm_font font = tdm_frame_font(d, 0.92, false, TDM_INK_MUTED, TDM_ALIGN_END);
	double widest = 0;
	for (size_t i = 0; i < axis->count; i++) {
		struct tdm_label label = tdm_axis_label(axis, axis->from + (double)i * axis->step);
		widest = fmax(widest, tdm_drawing_text_width(d, label.text, &font));
	}
	d->y = *axis;
	widest += d->size * 0.6;
	if (is_text(d->scene->y_label)) {
		d->name_y = d->area.y + d->size;
		cut_top(d, d->size * 2);
	}
	d->area.x += widest;
	d->area.w -= widest;
}

void tdm_frame_draw_y(struct tdm_drawing *d)
{
	const struct tdm_axis *axis = &d->y;
	struct tdm_font font = tdm_frame_font(d, 0.92, false, TDM_INK_MUTED, TDM_ALIGN_END);
	double left = d->area.x, right = d->area.x + d->area.w;
	tdm_drawing_group(d, "axis", NULL);
	for (size_t i = 0; i < axis->count; i++) {
		double value = axis->from + (double)i * axis->step, y = tdm_frame_y(d, value);
		/* In the middle of a pixel, where a thin line is sharp. */
		double sharp = floor(y) + 0.5;
		tdm_drawing_line(d, left, sharp, right, sharp,
			&(struct tdm_paint){
				.stroke = i == 0 || fabs(value) < axis->step * 1e-9 ? TDM_INK_AXIS : TDM_INK_GRID,
				.width = 1 });
		tdm_drawing_text(
			d, left - d->size * 0.5, y + font.size * 0.36, tdm_axis_label(axis, value).text, &font);
	}
	if (is_text(d->scene->y_label)) {
		struct tdm_font name = tdm_frame_font(d, 0.92, true, TDM_INK_MUTED, TDM_ALIGN_START);
		double left_edge = d->size * 1.6;
		tdm_drawing_text_within(
			d, left_edge, d->name_y, d->width - left_edge - d->size, d->scene->y_label, &name);
	}
	tdm_drawing_group_end(d);
}

void tdm_frame_draw_x(struct tdm_drawing *d, const struct tdm_axis *axis, const char *name)
{
	double first = ceil(d->x_from / axis->step - 1e-9) * axis->step;
	struct tdm_font font = tdm_frame_font(d, 0.92, false, TDM_INK_MUTED, TDM_ALIGN_MIDDLE);
	double bottom = d->area.y + d->area.h, right = d->area.x + d->area.w;
	double free_from = -1; /* where the next label may begin */
	tdm_drawing_group(d, "axis", NULL);
	for (size_t i = 0; i < axis->count; i++) {
		double value = first + (double)i * axis->step;
		double x = tdm_frame_x(d, value);
		if (x > right + 0.5)
			break;
		struct tdm_label label = tdm_axis_label(axis, value);
		double half = tdm_drawing_text_width(d, label.text, &font) / 2;
		tdm_drawing_line(d, floor(x) + 0.5, bottom, floor(x) + 0.5, bottom + d->size * 0.35,
			&(struct tdm_paint){ .stroke = TDM_INK_AXIS, .width = 1 });
		if (x - half < free_from || x + half > d->width)
			continue;
		tdm_drawing_text(d, x, bottom + d->size * 1.45, label.text, &font);
		free_from = x + half + d->size * 0.5;
	}
	if (is_text(name)) {
		struct tdm_font bold = tdm_frame_font(d, 0.92, true, TDM_INK_MUTED, TDM_ALIGN_MIDDLE);
		double middle = d->area.x + d->area.w / 2, room = fmin(middle, d->width - middle) * 2;
		tdm_drawing_text_within(d, middle, bottom + d->size * 2.8, room, name, &bold);
	}
	tdm_drawing_group_end(d);
}

bool tdm_frame_has_limits(const struct tdm_scene *scene)
{
	return tdm_frame_has_limit(scene) || (is_text(scene->limit_name) && scene->limits != NULL);
}

bool tdm_frame_has_limit(const struct tdm_scene *scene)
{
	return is_text(scene->limit_name) && scene->limits == NULL && isfinite(scene->limit) && scene->limit > 0;
}

void tdm_frame_reserve_limit(struct tdm_drawing *d)
{
	if (!tdm_frame_has_limit(d->scene))
		return;
	struct tdm_font font = tdm_frame_font(d, 0.92, true, TDM_INK_WARN, TDM_ALIGN_START);
	struct tdm_label label = tdm_plot_value(d->scene->unit, d->scene->limit);
	d->area.w -= tdm_drawing_text_width(d, label.text, &font) + d->size * 0.4;
}

void tdm_frame_limit_line(struct tdm_drawing *d, double y, double from, double to)
{
	tdm_drawing_group(d, "limit", d->scene->limit_name);
	tdm_drawing_line(d, from, y, to, y,
		&(struct tdm_paint){ .stroke = TDM_INK_LIMIT, .width = d->size / 7, .dash = d->size * 0.6 });
	tdm_drawing_group_end(d);
}

void tdm_frame_draw_limit(struct tdm_drawing *d)
{
	if (!tdm_frame_has_limit(d->scene))
		return;
	struct tdm_font font = tdm_frame_font(d, 0.92, true, TDM_INK_WARN, TDM_ALIGN_START);
	double y = tdm_frame_y(d, d->scene->limit), right = d->area.x + d->area.w;
	struct tdm_label label = tdm_plot_value(d->scene->unit, d->scene->limit);
	tdm_frame_limit_line(d, y, d->area.x, right);
	tdm_drawing_text(d, right + d->size * 0.4, y + font.size * 0.36, label.text, &font);
}

struct tdm_box tdm_frame_limit_label(struct tdm_drawing *d)
{
	if (!tdm_frame_has_limit(d->scene))
		return (struct tdm_box){ 0 };
	double y = tdm_frame_y(d, d->scene->limit), left = d->area.x + d->area.w;
	return (struct tdm_box){ left, y - d->size * 0.6, d->width - left, d->size * 1.2 };
}

void tdm_frame_halo(struct tdm_drawing *d, double x, double y, const char *text, const struct tdm_font *font)
{
	double width = tdm_drawing_text_width(d, text, font), pad = font->size * 0.2;
	double left = font->align == TDM_ALIGN_START ? x : font->align == TDM_ALIGN_MIDDLE ? x - width / 2 : x - width;
	tdm_drawing_box(d, (struct tdm_box){ left - pad, y - font->size * 0.92, width + 2 * pad, font->size * 1.2 },
		&(struct tdm_paint){ .fill = tdm_rgba_of(TDM_PAPER >> 8, 0.85), .round = pad });
	tdm_drawing_text(d, x, y, text, font);
}

tdm_rgba tdm_frame_ink_on(uint32_t rgb)
{
	double red = (rgb >> 16 & 0xff) / 255.0, green = (rgb >> 8 & 0xff) / 255.0, blue = (rgb & 0xff) / 255.0;
	return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 ? TDM_INK : TDM_PAPER;
}

/* ---- the terminal ------------------------------------------------------------------------------------------------ */

/* Without colour: one character per series, the densest first. */
static const char ascii_cells[] = "#=+o-%*:@x&$";
static const char *const utf8_cells[] = { "█", "▓", "▒", "░", "▚", "▤", "▥", "▧", "▦", "▣", "▨", "▩" };

void tdm_print_cells(struct tdm_buf *out, const struct tdm_term *term, size_t series, uint32_t rgb, size_t count)
{
	/* The nearest colour in the 6 x 6 x 6 cube of 256-colour terminals. */
	static const unsigned char levels[] = { 0, 95, 135, 175, 215, 255 };
	unsigned colour = 16, weight = 36;
	if (count == 0)
		return;
	for (int shift = 16; shift >= 0; shift -= 8, weight /= 6) {
		int part = (int)(rgb >> shift & 0xff), best = 0;
		for (int i = 1; i < 6; i++)
			if (abs(levels[i] - part) < abs(levels[best] - part))
				best = i;
		colour += (unsigned)best * weight;
	}
	if (term->colour)
		tdm_buf_printf(out, "\033[38;5;%um", colour);
	for (size_t i = 0; i < count; i++)
		if (!term->utf8)
			tdm_buf_putc(out, ascii_cells[series % (sizeof ascii_cells - 1)]);
		else
			tdm_buf_puts(
				out, utf8_cells[term->colour ? 0 : series % (sizeof utf8_cells / sizeof *utf8_cells)]);
	if (term->colour)
		tdm_buf_puts(out, TDM_STYLE_OFF);
}

size_t tdm_print_columns(const char *name)
{
	size_t columns = 0;
	for (const char *at = name; *at != '\0'; columns++) {
		size_t bytes = tdm_str_printable(at, TDM_UTF8_MAX);
		at += bytes != 0 ? bytes : 1;
	}
	return columns;
}

void tdm_print_name(struct tdm_buf *out, const struct tdm_term *term, const char *name, size_t columns)
{
	size_t needed = tdm_print_columns(name), cut = needed > columns ? columns > 3 ? columns - 3 : columns : needed;
	const char *at = name;
	for (size_t i = 0; i < cut; i++) {
		size_t bytes = tdm_str_printable(at, TDM_UTF8_MAX);
		if (bytes == 1 || (bytes > 1 && term->utf8))
			tdm_buf_add(out, at, bytes);
		else
			tdm_buf_putc(out, '?');
		at += bytes != 0 ? bytes : 1;
	}
	if (cut < needed && columns > 3)
		tdm_buf_puts(out, "...");
	else
		tdm_buf_fill(out, ' ', columns - cut);
}

void tdm_print_legend(struct tdm_buf *out, const struct tdm_term *term, const struct tdm_scene *scene)
{
	size_t at = 0;
	for (size_t i = 0; i < scene->series_count; i++) {
		size_t columns = tdm_print_columns(scene->series[i].name);
		if (at != 0 && at + columns + 4 > term->width) {
			tdm_buf_putc(out, '\n');
			at = 0;
		}
		if (at != 0)
			tdm_buf_puts(out, "  ");
		tdm_print_cells(out, term, i, scene->series[i].rgb, 1);
		tdm_buf_putc(out, ' ');
		tdm_print_name(out, term, scene->series[i].name, columns);
		at += columns + 4;
	}
	if (at != 0)
		tdm_buf_putc(out, '\n');
}

void tdm_print_text(struct tdm_buf *out, const struct tdm_term *term, const char *text, const char *style)
{
	struct tdm_buf shown = { 0 };
	if (text == NULL || text[0] == '\0')
		return;
	tdm_print_name(&shown, term, text, tdm_print_columns(text));
	tdm_buf_puts(out, tdm_term_style(term, style));
	tdm_wrap(out, tdm_buf_str(&shown), (struct tdm_wrap){ .width = term->width });
	tdm_buf_puts(out, tdm_term_style(term, style[0] != '\0' ? TDM_STYLE_OFF : ""));
	tdm_buf_done(&shown);
}

void tdm_print_heading(struct tdm_buf *out, const struct tdm_term *term, const struct tdm_scene *scene)
{
	tdm_print_text(out, term, scene->title, TDM_STYLE_BOLD);
	tdm_print_text(out, term, scene->subtitle, TDM_STYLE_DIM);
}
