/* Draws scenes to files and to the terminal. Other layers need only this header and scene.h. */
#ifndef TDM_PLOT_PLOT_H
#define TDM_PLOT_PLOT_H

#include "base/buf.h"
#include "base/diag.h"
#include "base/term.h"
#include "plot/scene.h"

enum tdm_plot_format { TDM_PLOT_PNG, TDM_PLOT_SVG, TDM_PLOT_PDF, TDM_PLOT_FORMATS };

enum { TDM_PLOT_WIDTH = 1200, TDM_PLOT_HEIGHT = 675, TDM_PLOT_SIDE_MIN = 160, TDM_PLOT_SIDE_MAX = 20000 };

static inline bool tdm_plot_is_side(double side)
{
	return side >= TDM_PLOT_SIDE_MIN && side <= TDM_PLOT_SIDE_MAX;
}

/* A field that is 0 has its default. */
struct tdm_plot_options {
	double width, height; /* pixels (PDF: points) before scaling */
	double scale;         /* 2 for screens of twice the resolution; default 1 */
};

/* By the path's extension, ignoring case. 0, or TDM_EREFUSED with the allowed extensions in `diag`. */
int tdm_plot_format_of(const char *path, enum tdm_plot_format *format, struct tdm_diag *diag);

/* Appends the picture. 0, or a negative code with the reason in `diag`. */
int tdm_plot_render(const struct tdm_scene *scene, enum tdm_plot_format format, const struct tdm_plot_options *options,
	struct tdm_buf *out, struct tdm_diag *diag);

/* Renders in the format of the path's extension and replaces the file atomically. 0, or a negative code with the path
 * and the reason in `diag`. */
int tdm_plot_write(
	const struct tdm_scene *scene, const char *path, const struct tdm_plot_options *options, struct tdm_diag *diag);

/* For the terminal. 0, or a negative code with the reason in `diag`. */
int tdm_plot_print(
	const struct tdm_scene *scene, const struct tdm_term *term, struct tdm_buf *out, struct tdm_diag *diag);

/* NULL if a font is installed, else a message that says what to install. */
const char *tdm_plot_missing_fonts(void);

#endif
