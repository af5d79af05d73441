/*
 * PNG and PDF through cairo. The output depends only on the scene, the fonts and cairo's version: no date, no settings.
 */
#include "plot/drawing.h"

#include "plot/ruler.h"

#include <cairo.h>
#include <cairo-pdf.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct cairo_drawing {
	struct tdm_drawing base;
	cairo_surface_t *surface;
	cairo_t *cairo;
	struct tdm_buf written; /* the output of a PDF surface */
	bool is_pdf;
};

static struct cairo_drawing *of(struct tdm_drawing *drawing)
{
	return (struct cairo_drawing *)(void *)drawing;
}

static cairo_status_t append(void *closure, const unsigned char *data, unsigned len)
{
	struct tdm_buf *out = closure;
	tdm_buf_add(out, (const char *)data, len);
	return tdm_buf_failed(out) ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

static void set_colour(cairo_t *cairo, tdm_rgba colour)
{
	cairo_set_source_rgba(cairo, (colour >> 24 & 0xff) / 255.0, (colour >> 16 & 0xff) / 255.0,
		(colour >> 8 & 0xff) / 255.0, (colour & 0xff) / 255.0);
}

/* Fills and strokes the current path. */
static void fill_and_stroke(cairo_t *cairo, const struct tdm_paint *paint)
{
	if ((paint->fill & 0xff) != 0) {
		set_colour(cairo, paint->fill);
		cairo_fill_preserve(cairo);
	}
	if ((paint->stroke & 0xff) != 0 && paint->width > 0) {
		double dashes[] = { paint->dash, paint->dash * 0.6 };
		set_colour(cairo, paint->stroke);
		cairo_set_line_width(cairo, paint->width);
		cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
		cairo_set_dash(cairo, dashes, paint->dash > 0 ? 2 : 0, 0);
		cairo_stroke_preserve(cairo);
	}
	cairo_new_path(cairo);
}

static void draw_box(struct tdm_drawing *drawing, struct tdm_box box, const struct tdm_paint *paint)
{
	cairo_t *cairo = of(drawing)->cairo;
	double r = fmin(paint->round, fmin(box.w, box.h) / 2);
	if (r <= 0) {
		cairo_rectangle(cairo, box.x, box.y, box.w, box.h);
	} else {
		cairo_arc(cairo, box.x + box.w - r, box.y + r, r, -M_PI / 2, 0);
		cairo_arc(cairo, box.x + box.w - r, box.y + box.h - r, r, 0, M_PI / 2);
		cairo_arc(cairo, box.x + r, box.y + box.h - r, r, M_PI / 2, M_PI);
		cairo_arc(cairo, box.x + r, box.y + r, r, M_PI, 3 * M_PI / 2);
		cairo_close_path(cairo);
	}
	fill_and_stroke(cairo, paint);
}

static void draw_path(struct tdm_drawing *drawing, const struct tdm_point *points, size_t count, bool closed,
	const struct tdm_paint *paint)
{
	cairo_t *cairo = of(drawing)->cairo;
	for (size_t i = 0; i < count; i++)
		cairo_line_to(cairo, points[i].x, points[i].y);
	if (closed)
		cairo_close_path(cairo);
	fill_and_stroke(cairo, paint);
}

static void draw_text(struct tdm_drawing *drawing, struct tdm_point at, const char *text, const struct tdm_font *font)
{
	cairo_t *cairo = of(drawing)->cairo;
	double width =
		font->align == TDM_ALIGN_START ? 0 : tdm_ruler_width(drawing->ruler, text, font->size, font->bold);
	cairo_select_font_face(cairo, TDM_PLOT_FONT, CAIRO_FONT_SLANT_NORMAL,
		font->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
	cairo_set_font_size(cairo, font->size);
	set_colour(cairo, font->colour);
	cairo_move_to(cairo, at.x - (font->align == TDM_ALIGN_MIDDLE ? width / 2 : width), at.y);
	cairo_show_text(cairo, text);
	cairo_new_path(cairo);
}

static int code_of(cairo_status_t status)
{
	return status == CAIRO_STATUS_SUCCESS ? 0 : status == CAIRO_STATUS_NO_MEMORY ? -ENOMEM : -EIO;
}

static int finish(struct tdm_drawing *drawing, struct tdm_buf *out)
{
	struct cairo_drawing *c = of(drawing);
	cairo_status_t status = cairo_status(c->cairo);
	if (status == CAIRO_STATUS_SUCCESS && !c->is_pdf)
		status = cairo_surface_write_to_png_stream(c->surface, append, out);
	if (c->is_pdf) {
		cairo_show_page(c->cairo);
		cairo_surface_finish(c->surface);
		status = status != CAIRO_STATUS_SUCCESS ? status : cairo_surface_status(c->surface);
		tdm_buf_add(out, c->written.data != NULL ? c->written.data : "", c->written.len);
	}
	return status == CAIRO_STATUS_SUCCESS && tdm_buf_failed(out) ? -ENOMEM : code_of(status);
}

static void free_drawing(struct tdm_drawing *drawing)
{
	struct cairo_drawing *c = of(drawing);
	cairo_destroy(c->cairo);
	cairo_surface_destroy(c->surface);
	tdm_buf_done(&c->written);
	free(c);
}

static const struct tdm_drawing_ops cairo_ops = {
	.box = draw_box,
	.path = draw_path,
	.text = draw_text,
	.finish = finish,
	.free = free_drawing,
};

static struct tdm_drawing *make(double width, double height, double scale, bool is_pdf)
{
	struct cairo_drawing *c = calloc(1, sizeof *c);
	if (c == NULL)
		return NULL;
	c->base = (struct tdm_drawing){ &cairo_ops, width, height, tdm_ruler_new() };
	c->is_pdf = is_pdf;
	tdm_buf_init(&c->written);
	if (is_pdf) {
		c->surface = cairo_pdf_surface_create_for_stream(append, &c->written, width * scale, height * scale);
		cairo_pdf_surface_set_metadata(c->surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
	} else {
		c->surface = cairo_image_surface_create(
			CAIRO_FORMAT_RGB24, (int)ceil(width * scale), (int)ceil(height * scale));
	}
	c->cairo = cairo_create(c->surface);
	if (c->base.ruler == NULL || cairo_status(c->cairo) != CAIRO_STATUS_SUCCESS) {
		tdm_drawing_free(&c->base);
		return NULL;
	}
	/* Set explicitly, so that a user's font settings do not change a picture. */
	cairo_font_options_t *options = cairo_font_options_create();
	cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
	cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
	cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
	cairo_set_font_options(c->cairo, options);
	cairo_font_options_destroy(options);
	cairo_scale(c->cairo, scale, scale);
	return &c->base;
}

struct tdm_drawing *tdm_drawing_png(double width, double height, double scale)
{
	return make(width, height, scale, false);
}

struct tdm_drawing *tdm_drawing_pdf(double width, double height, double scale)
{
	return make(width, height, scale, true);
}
