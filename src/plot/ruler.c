#include "plot/ruler.h"

#include <cairo.h>
#include <stdlib.h>

struct tdm_ruler {
	cairo_surface_t *surface;
	cairo_t *cairo;
};

struct tdm_ruler *tdm_ruler_new(void)
{
	struct tdm_ruler *ruler = malloc(sizeof *ruler);
	if (ruler == NULL)
		return NULL;
	ruler->surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
	ruler->cairo = cairo_create(ruler->surface);
	cairo_font_options_t *options = cairo_font_options_create();
	cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
	cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
	cairo_set_font_options(ruler->cairo, options);
	cairo_font_options_destroy(options);
	if (cairo_status(ruler->cairo) != CAIRO_STATUS_SUCCESS) {
		tdm_ruler_free(ruler);
		return NULL;
	}
	return ruler;
}

void tdm_ruler_free(struct tdm_ruler *ruler)
{
	if (ruler == NULL)
		return;
	cairo_destroy(ruler->cairo);
	cairo_surface_destroy(ruler->surface);
	free(ruler);
}

static void choose(struct tdm_ruler *ruler, double size, bool bold)
{
	cairo_select_font_face(ruler->cairo, TDM_PLOT_FONT, CAIRO_FONT_SLANT_NORMAL,
		bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
	cairo_set_font_size(ruler->cairo, size);
}

double tdm_ruler_width(struct tdm_ruler *ruler, const char *text, double size, bool bold)
{
	cairo_text_extents_t extents;
	choose(ruler, size, bold);
	cairo_text_extents(ruler->cairo, text, &extents);
	return extents.x_advance;
}

bool tdm_ruler_has_fonts(struct tdm_ruler *ruler)
{
	choose(ruler, 10, false);
	/* The strokes that cairo falls back to are a "user" font. */
	return cairo_scaled_font_get_type(cairo_get_scaled_font(ruler->cairo)) != CAIRO_FONT_TYPE_USER;
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
