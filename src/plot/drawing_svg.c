/*
 * SVG, written here rather than by cairo, which turns text into outlines: in ours, text can be searched, copied and
 * styled, and names are tooltips. Numbers have at most two decimals and do not depend on the locale.
 */
#include "plot/drawing.h"

#include "plot/ruler.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct svg_drawing {
	struct tdm_drawing base;
	struct tdm_buf text;
};

static struct tdm_buf *text_of(struct tdm_drawing *drawing)
{
	return &((struct svg_drawing *)(void *)drawing)->text;
}

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
	struct tdm_buf *out = text_of(drawing);
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
	struct tdm_buf *out = text_of(drawing);
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
	struct tdm_buf *out = text_of(drawing);
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
	struct tdm_buf *out = text_of(drawing);
	tdm_buf_printf(out, "<g class=\"%s\">\n", kind);
	if (name[0] == '\0')
		return;
	tdm_buf_puts(out, "<title>");
	put_escaped(out, name);
	tdm_buf_puts(out, "</title>\n");
}

static void end_group(struct tdm_drawing *drawing)
{
	tdm_buf_puts(text_of(drawing), "</g>\n");
}

static int finish(struct tdm_drawing *drawing, struct tdm_buf *out)
{
	struct tdm_buf *text = text_of(drawing);
	tdm_buf_puts(text, "</svg>\n");
	tdm_buf_add(out, text->data != NULL ? text->data : "", text->len);
	return tdm_buf_failed(text) || tdm_buf_failed(out) ? -ENOMEM : 0;
}

static void free_drawing(struct tdm_drawing *drawing)
{
	tdm_buf_done(text_of(drawing));
	free(drawing);
}

static const struct tdm_drawing_ops svg_ops = {
	.box = draw_box,
	.path = draw_path,
	.text = draw_text,
	.group = begin_group,
	.group_end = end_group,
	.finish = finish,
	.free = free_drawing,
};

struct tdm_drawing *tdm_drawing_svg(double width, double height, double scale)
{
	struct svg_drawing *c = calloc(1, sizeof *c);
	if (c == NULL)
		return NULL;
	c->base = (struct tdm_drawing){ &svg_ops, width, height, tdm_ruler_new() };
	tdm_buf_init(&c->text);
	if (c->base.ruler == NULL) {
		tdm_drawing_free(&c->base);
		return NULL;
	}
	tdm_buf_puts(&c->text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"");
	put_attribute(&c->text, "width", width * scale);
	put_attribute(&c->text, "height", height * scale);
	tdm_buf_puts(&c->text, " viewBox=\"0 0 ");
	put_number(&c->text, width);
	tdm_buf_putc(&c->text, ' ');
	put_number(&c->text, height);
	tdm_buf_puts(&c->text, "\" font-family=\"" TDM_PLOT_FONT ", Verdana, sans-serif\">\n");
	return &c->base;
}
