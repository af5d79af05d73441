#include "plot/plot.h"

#include "base/err.h"
#include "base/file.h"
#include "plot/chart.h"
#include "plot/ruler.h"

#include <errno.h>
#include <math.h>
#include <strings.h>

struct format {
	const char *extension;
	struct tdm_drawing *(*drawing)(double width, double height, double scale);
};

static const struct format formats[TDM_PLOT_FORMATS] = {
	[TDM_PLOT_PNG] = { ".png", tdm_drawing_png },
	[TDM_PLOT_SVG] = { ".svg", tdm_drawing_svg },
	[TDM_PLOT_PDF] = { ".pdf", tdm_drawing_pdf },
};

int tdm_plot_format_of(const char *path, enum tdm_plot_format *format, struct tdm_diag *diag)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash != NULL ? slash : path, '.');
	for (int i = 0; dot != NULL && i < TDM_PLOT_FORMATS; i++)
		if (strcasecmp(dot, formats[i].extension) == 0) {
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
	const char *lacks = tdm_charts[scene->kind]->lacks(scene);
	if (lacks != NULL)
		return tdm_diag_set(diag, -EINVAL, 0, 0, "nothing to draw: the chart '%s' has no %s",
			tdm_charts[scene->kind]->name, lacks);
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
	struct tdm_drawing *drawing = formats[format].drawing(width, height, scale);
	if (drawing == NULL)
		return tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory for a picture of %.0f x %.0f pixels",
			width * scale, height * scale);
	err = tdm_charts[scene->kind]->draw(scene, drawing);
	if (err == 0)
		err = drawing->ops->finish(drawing, out);
	tdm_drawing_free(drawing);
	return err != 0 ? tdm_diag_set(diag, err, 0, 0, "cannot draw: %s", tdm_err_text(err)) : 0;
}

int tdm_plot_write(
	const struct tdm_scene *scene, const char *path, const struct tdm_plot_options *options, struct tdm_diag *diag)
{
	enum tdm_plot_format format;
	struct tdm_buf picture;
	int err = tdm_plot_format_of(path, &format, diag);
	if (err != 0)
		return err;
	tdm_buf_init(&picture);
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
		tdm_charts[scene->kind]->print(scene, term, out);
	return err == 0 && tdm_buf_failed(out) ? tdm_diag_set(diag, -ENOMEM, 0, 0, "out of memory") : err;
}

const char *tdm_plot_missing_fonts(void)
{
	struct tdm_ruler *ruler = tdm_ruler_new();
	bool found = ruler != NULL && tdm_ruler_has_fonts(ruler);
	tdm_ruler_free(ruler);
	return found ? NULL
		     : "no font is installed, so letters are drawn as plain strokes; install fonts-dejavu-core, for "
		       "example";
}
