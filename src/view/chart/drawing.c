/*
 * Drawing functions that accept any text, and the SVG surface.
 *
 * A surface (struct tdm_drawing_ops) receives only clean text: this file makes text valid UTF-8, then shortens and
 * wraps it to the widths measured by the ruler. The SVG surface appends elements to the drawing's `text`; finish()
 * hands this text over.
 */
#include "view/chart/drawing.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_CAP = 512 };
static const char ellipsis[] = "\xe2\x80\xa6";
static const char replacement[] = "\xef\xbf\xbd";

/* Copies valid characters, replaces invalid ones, and never splits a character. */
static void clean(const char *text, char *dst, size_t cap)
{
	size_t len = 0;
	for (const char *at = text; *at != '\0';) {
		/* XML forbids U+FFFE and U+FFFF. */
		size_t bytes = tdm_str_printable(at, TDM_UTF8_MAX);
		if (bytes == 3 && memcmp(at, "\xef\xbf", 2) == 0 && (unsigned char)at[2] >= 0xbe)
			bytes = 0;
		const char *from = bytes != 0 ? at : *at == '\t' || *at == '\n' ? " " : replacement;
		size_t put = bytes != 0 ? bytes : strlen(from);
		if (put > cap - 1 - len)
			break;
		memcpy(dst + len, from, put);
		len += put;
		at += bytes != 0 ? bytes : 1;
	}
	dst[len] = '\0';
}

struct tdm_drawing *tdm_drawing_new(const struct tdm_drawing_ops *ops, double width, double height)
{
	struct tdm_drawing *drawing = tdm_zalloc(1, sizeof *drawing);
	*drawing = (struct tdm_drawing){ .ops = ops, .width = width, .height = height, .ruler = tdm_ruler_new() };
	return drawing;
}

void tdm_drawing_free(struct tdm_drawing *drawing)
{
	tdm_ruler_free(drawing->ruler);
	tdm_buf_done(&drawing->text);
	free(drawing);
}

void tdm_drawing_text(struct tdm_drawing *drawing, double x, double y, const char *text, const struct tdm_font *font)
{
	char cleaned[TEXT_CAP];
	clean(text, cleaned, sizeof cleaned);
	if (cleaned[0] != '\0')
		drawing->ops->text(drawing, (struct tdm_point){ x, y }, cleaned, font);
}

double tdm_drawing_text_width(const struct tdm_drawing *drawing, const char *text, const struct tdm_font *font)
{
	char cleaned[TEXT_CAP];
	clean(text, cleaned, sizeof cleaned);
	return tdm_ruler_width(drawing->ruler, cleaned, font->size, font->bold);
}

static void drop_last(char *text)
{
	size_t len = strlen(text);
	while (len != 0 && ((unsigned char)text[len - 1] & 0xc0) == 0x80)
		len--;
	text[len != 0 ? len - 1 : 0] = '\0';
}

/* Shortens clean text, in a buffer of TEXT_CAP bytes, until the text and an ellipsis fit. */
static void shorten(const struct tdm_drawing *drawing, char *text, double width, const struct tdm_font *font)
{
	char tried[TEXT_CAP + sizeof ellipsis];
	do {
		drop_last(text);
		snprintf(tried, sizeof tried, "%s%s", text, ellipsis);
	} while (text[0] != '\0' && tdm_ruler_width(drawing->ruler, tried, font->size, font->bold) > width);
	while (text[0] != '\0' && strlen(text) + sizeof ellipsis > TEXT_CAP)
		drop_last(text);
	memcpy(text + strlen(text), ellipsis, sizeof ellipsis);
}

void tdm_drawing_text_within(
	struct tdm_drawing *drawing, double x, double y, double width, const char *text, const struct tdm_font *font)
{
	char cleaned[TEXT_CAP];
	clean(text, cleaned, sizeof cleaned);
	if (tdm_ruler_width(drawing->ruler, cleaned, font->size, font->bold) > width)
		shorten(drawing, cleaned, width, font);
	tdm_drawing_text(drawing, x, y, cleaned, font);
}

size_t tdm_drawing_wrap(const struct tdm_drawing *drawing, const char *text, const struct tdm_font *font, double width,
	char *lines, size_t cap, size_t max)
{
	char rest[TEXT_CAP], tried[TEXT_CAP];
	size_t count = 0;
	clean(text, rest, sizeof rest);
	for (char *at = rest; *at != '\0' && count < max; count++) {
		/* Take the longest prefix that fits and ends before a blank or after a hyphen, underscore or slash; if
		 * there is none, take the first word. */
		size_t best = 0, len = strlen(at);
		for (size_t i = 1; i <= len; i++) {
			bool breaks =
				i == len || at[i] == ' ' || at[i - 1] == '_' || at[i - 1] == '-' || at[i - 1] == '/';
			if (!breaks)
				continue;
			memcpy(tried, at, i);
			tried[i] = '\0';
			if (best != 0 && tdm_ruler_width(drawing->ruler, tried, font->size, font->bold) > width)
				break;
			best = i;
		}
		bool last = count + 1 == max;
		size_t take = last ? len : best;
		memcpy(tried, at, take);
		tried[take] = '\0';
		if (tdm_ruler_width(drawing->ruler, tried, font->size, font->bold) > width)
			shorten(drawing, tried, width, font);
		clean(tried, lines + count * cap, cap);
		at += take;
		while (*at == ' ')
			at++;
	}
	return count;
}

void tdm_drawing_box(struct tdm_drawing *drawing, struct tdm_box box, const struct tdm_paint *paint)
{
	if (box.w > 0 && box.h > 0)
		drawing->ops->box(drawing, box, paint);
}

void tdm_drawing_fill(struct tdm_drawing *drawing, struct tdm_box box, tdm_rgba colour)
{
	tdm_drawing_box(drawing, box, &(struct tdm_paint){ .fill = colour });
}

void tdm_drawing_line(struct tdm_drawing *drawing, double from_x, double from_y, double to_x, double to_y,
	const struct tdm_paint *paint)
{
	const struct tdm_point points[] = { { from_x, from_y }, { to_x, to_y } };
	drawing->ops->path(drawing, points, 2, false, paint);
}

void tdm_drawing_group(struct tdm_drawing *drawing, const char *kind, const char *name)
{
	char cleaned[TEXT_CAP] = "";
	if (drawing->ops->group == NULL)
		return;
	if (name != NULL)
		clean(name, cleaned, sizeof cleaned);
	drawing->ops->group(drawing, kind, cleaned);
}

void tdm_drawing_group_end(struct tdm_drawing *drawing)
{
	if (drawing->ops->group != NULL)
		tdm_buf_puts(&drawing->text, "</g>\n");
}

/* ---- SVG --------------------------------------------------------------------------------------------------------- */

/* Written here rather than by cairo, which turns text into outlines. In our SVG, text can be searched, copied and
 * styled, and names become tooltips. Numbers have at most two decimals and do not depend on the locale. */
static void put_number(struct tdm_buf *out, double value)
{
	long long hundredths = llround(value * 100);
	unsigned long long size =
		hundredths < 0 ? 0ULL - (unsigned long long)hundredths : (unsigned long long)hundredths;
	tdm_buf_printf(out, "%s%llu", hundredths < 0 ? "-" : "", size / 100);
	if (size % 100 != 0)
		tdm_buf_printf(
			out, size % 10 != 0 ? ".%02llu" : ".%llu", size % 10 != 0 ? size % 100 : size % 100 / 10);
}

static void put_attribute(struct tdm_buf *out, const char *name, double value)
{
	tdm_buf_printf(out, " %s=\"", name);
	put_number(out, value);
	tdm_buf_putc(out, '"');
}

static void put_colour(struct tdm_buf *out, const char *name, tdm_rgba colour)
{
	uint32_t opacity = colour & 0xff;
	if (opacity == 0) {
		tdm_buf_printf(out, " %s=\"none\"", name);
		return;
	}
	tdm_buf_printf(out, " %s=\"#%06x\"", name, colour >> 8);
	if (opacity != 0xff) {
		tdm_buf_printf(out, " %s-opacity=\"", name);
		put_number(out, opacity / 255.0);
		tdm_buf_putc(out, '"');
	}
}

static void put_paint(struct tdm_buf *out, const struct tdm_paint *paint)
{
	put_colour(out, "fill", paint->fill);
	if ((paint->stroke & 0xff) != 0 && paint->width > 0) {
		put_colour(out, "stroke", paint->stroke);
		put_attribute(out, "stroke-width", paint->width);
		if (paint->dash > 0) {
			tdm_buf_puts(out, " stroke-dasharray=\"");
			put_number(out, paint->dash);
			tdm_buf_putc(out, ' ');
			put_number(out, paint->dash * 0.6);
			tdm_buf_putc(out, '"');
		}
	}
	tdm_buf_puts(out, "/>\n");
}

static void put_escaped(struct tdm_buf *out, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '&')
			tdm_buf_puts(out, "&amp;");
		else if (*text == '<')
			tdm_buf_puts(out, "&lt;");
		else if (*text == '>')
			tdm_buf_puts(out, "&gt;");
		else
			tdm_buf_putc(out, *text);
	}
}

static void draw_box(struct tdm_drawing *drawing, struct tdm_box box, const struct tdm_paint *paint)
{
	struct tdm_buf *out = &drawing->text;
	tdm_buf_puts(out, "<rect");
	put_attribute(out, "x", box.x);
	put_attribute(out, "y", box.y);
	put_attribute(out, "width", box.w);
	put_attribute(out, "height", box.h);
	if (paint->round > 0)
		put_attribute(out, "rx", paint->round);
	put_paint(out, paint);
}

static void draw_path(struct tdm_drawing *drawing, const struct tdm_point *points, size_t count, bool closed,
	const struct tdm_paint *paint)
{
	struct tdm_buf *out = &drawing->text;
	tdm_buf_puts(out, closed ? "<polygon points=\"" : "<polyline points=\"");
	for (size_t i = 0; i < count; i++) {
		if (i != 0)
			tdm_buf_putc(out, ' ');
		put_number(out, points[i].x);
		tdm_buf_putc(out, ',');
		put_number(out, points[i].y);
	}
	tdm_buf_putc(out, '"');
	put_paint(out, paint);
}

static void draw_text(struct tdm_drawing *drawing, struct tdm_point at, const char *text, const struct tdm_font *font)
{
	struct tdm_buf *out = &drawing->text;
	tdm_buf_puts(out, "<text");
	put_attribute(out, "x", at.x);
	put_attribute(out, "y", at.y);
	put_attribute(out, "font-size", font->size);
	if (font->bold)
		tdm_buf_puts(out, " font-weight=\"bold\"");
	if (font->align != TDM_ALIGN_START)
		tdm_buf_printf(out, " text-anchor=\"%s\"", font->align == TDM_ALIGN_MIDDLE ? "middle" : "end");
	put_colour(out, "fill", font->colour);
	tdm_buf_putc(out, '>');
	put_escaped(out, text);
	tdm_buf_puts(out, "</text>\n");
}

static void begin_group(struct tdm_drawing *drawing, const char *kind, const char *name)
{
	struct tdm_buf *out = &drawing->text;
	tdm_buf_printf(out, "<g class=\"%s\">\n", kind);
	if (name[0] == '\0')
		return;
	tdm_buf_puts(out, "<title>");
	put_escaped(out, name);
	tdm_buf_puts(out, "</title>\n");
}

static int finish(struct tdm_drawing *drawing, struct tdm_buf *out)
{
	tdm_buf_add(out, drawing->text.data, drawing->text.len);
	tdm_buf_puts(out, "</svg>\n");
	return 0;
}

static const struct tdm_drawing_ops svg_ops = {
	.box = draw_box,
	.path = draw_path,
	.text = draw_text,
	.group = begin_group,
	.finish = finish,
};

struct tdm_drawing *tdm_drawing_svg(double width, double height, double scale)
{
	struct tdm_drawing *drawing = tdm_drawing_new(&svg_ops, width, height);
	struct tdm_buf *out = &drawing->text;
	tdm_buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"");
	put_attribute(out, "width", width * scale);
	put_attribute(out, "height", height * scale);
	tdm_buf_puts(out, " viewBox=\"0 0 ");
	put_number(out, width);
	tdm_buf_putc(out, ' ');
	put_number(out, height);
	tdm_buf_puts(out, "\" font-family=\"" TDM_PLOT_FONT ", Verdana, sans-serif\">\n");
	return drawing;
}
