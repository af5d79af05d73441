/*
 * PNG and PDF through cairo, and text measurement.
 *
 * The output depends only on the scene, the fonts and cairo's version, not on the date or user settings.
 */
#include "view/chart/drawing.h"

#include <cairo.h>
#include <cairo-pdf.h>
#include <errno.h>
#include <math.h>

/* ---- the ruler --------------------------------------------------------------------------------------------------- */

/* Set explicitly, so that a user's font settings do not change a picture. */
static void set_font_options(cairo_t *cairo, cairo_antialias_t antialias)
{
	cairo_font_options_t *options = cairo_font_options_create();
	cairo_font_options_set_antialias(options, antialias);
	cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
	cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
	cairo_set_font_options(cairo, options);
	cairo_font_options_destroy(options);
}

/* A ruler is a cairo context used only for measuring. */
static cairo_t *cairo_of(struct tdm_ruler *ruler)
{
	return (cairo_t *)(void *)ruler;
}

/* Takes ownership of the surface. */
static cairo_t *cairo_on(cairo_surface_t *surface, cairo_antialias_t antialias)
{
	cairo_t *cairo = cairo_create(surface);
	cairo_surface_destroy(surface);
	set_font_options(cairo, antialias);
	return cairo;
}

struct tdm_ruler *tdm_ruler_new(void)
{
	cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
	return (struct tdm_ruler *)(void *)cairo_on(surface, CAIRO_ANTIALIAS_DEFAULT);
}

void tdm_ruler_free(struct tdm_ruler *ruler)
{
	cairo_destroy(cairo_of(ruler));
}

static void choose_font(cairo_t *cairo, double size, bool bold)
{
	cairo_select_font_face(cairo, TDM_PLOT_FONT, CAIRO_FONT_SLANT_NORMAL,
		bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
	cairo_set_font_size(cairo, size);
}

double tdm_ruler_width(struct tdm_ruler *ruler, const char *text, double size, bool bold)
{
	cairo_text_extents_t extents;
	choose_font(cairo_of(ruler), size, bold);
	cairo_text_extents(cairo_of(ruler), text, &extents);
	return extents.x_advance;
}

bool tdm_ruler_has_fonts(struct tdm_ruler *ruler)
{
	choose_font(cairo_of(ruler), 10, false);
	/* If there is no font, cairo falls back to its own strokes, whose type is "user". */
	return cairo_scaled_font_get_type(cairo_get_scaled_font(cairo_of(ruler))) != CAIRO_FONT_TYPE_USER;
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static cairo_status_t append(void *closure, const unsigned char *data, unsigned len)
{
	struct tdm_buf *out = closure;
	tdm_buf_add(out, (const char *)data, len);
	return CAIRO_STATUS_SUCCESS;
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
	cairo_t *cairo = drawing->cairo;
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
	cairo_t *cairo = drawing->cairo;
	for (size_t i = 0; i < count; i++)
		cairo_line_to(cairo, points[i].x, points[i].y);
	if (closed)
		cairo_close_path(cairo);
	fill_and_stroke(cairo, paint);
}

static void draw_text(struct tdm_drawing *drawing, struct tdm_point at, const char *text, const struct tdm_font *font)
{
	cairo_t *cairo = drawing->cairo;
	double width =
		font->align == TDM_ALIGN_START ? 0 : tdm_ruler_width(drawing->ruler, text, font->size, font->bold);
	choose_font(cairo, font->size, font->bold);
	set_colour(cairo, font->colour);
	cairo_move_to(cairo, at.x - (font->align == TDM_ALIGN_MIDDLE ? width / 2 : width), at.y);
	cairo_show_text(cairo, text);
	cairo_new_path(cairo);
}

/* cairo writes a PDF only when its surface is finished. */
static int finish(struct tdm_drawing *drawing, struct tdm_buf *out)
{
	cairo_t *cairo = drawing->cairo;
	cairo_surface_t *surface = cairo_get_target(cairo);
	cairo_status_t status = cairo_status(cairo);
	if (cairo_surface_get_type(surface) != CAIRO_SURFACE_TYPE_PDF) {
		status = status == CAIRO_STATUS_SUCCESS ? cairo_surface_write_to_png_stream(surface, append, out)
							: status;
	} else {
		cairo_show_page(cairo);
		cairo_surface_finish(surface);
		status = status != CAIRO_STATUS_SUCCESS ? status : cairo_surface_status(surface);
		tdm_buf_add(out, tdm_buf_str(&drawing->text).ptr, drawing->text.len);
	}
	cairo_destroy(cairo);
	return status == CAIRO_STATUS_SUCCESS ? 0 : status == CAIRO_STATUS_NO_MEMORY ? -ENOMEM : -EIO;
}

static const struct tdm_drawing_ops cairo_ops = {
	.box = draw_box,
	.path = draw_path,
	.text = draw_text,
	.finish = finish,
};

struct tdm_drawing *tdm_drawing_cairo(double width, double height, double scale, bool is_pdf)
{
	struct tdm_drawing *drawing = tdm_drawing_new(&cairo_ops, width, height);
	cairo_surface_t *surface =
		is_pdf ? cairo_pdf_surface_create_for_stream(append, &drawing->text, width * scale, height * scale)
		       : cairo_image_surface_create(
				 CAIRO_FORMAT_RGB24, (int)ceil(width * scale), (int)ceil(height * scale));
	if (is_pdf)
		cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
	drawing->cairo = cairo_on(surface, CAIRO_ANTIALIAS_GRAY);
	if (cairo_status(drawing->cairo) != CAIRO_STATUS_SUCCESS) {
		cairo_destroy(drawing->cairo);
		tdm_drawing_free(drawing);
		return NULL;
	}
	cairo_scale(drawing->cairo, scale, scale);
	return drawing;
}

/* Fontconfig keeps its data until the process ends, which the leak check reports. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
const char *__lsan_default_suppressions(void);
const char *__lsan_default_options(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:libfontconfig.so\n";
}

const char *__lsan_default_options(void)
{
	return "print_suppressions=0";
}
#endif
#endif
