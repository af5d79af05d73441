/* Charts of a graph capture: memory over its nodes, with bands for the operations, and L1 core by core at the peak. */
#ifndef TDM_REPORT_INFO_CHART_H
#define TDM_REPORT_INFO_CHART_H

#include "analyze/capture_course.h"
#include "base/diag.h"
#include "base/term.h"
#include "plot/plot.h"

enum tdm_info_chart { TDM_INFO_CHART_NONE, TDM_INFO_CHART_DRAM, TDM_INFO_CHART_L1, TDM_INFO_CHART_CORES };

struct tdm_info_picture {
	enum tdm_info_chart chart;
	const char *title; /* NULL: none */
	const char *path;  /* NULL: text for the terminal */
	struct tdm_plot_options size;
};

/* Writes a scene to the picture's file, or prints it. 0, or a negative code with the reason in `diag`. */
int tdm_info_picture_show(const struct tdm_scene *scene, const struct tdm_info_picture *picture,
	const struct tdm_term *term, struct tdm_buf *out, struct tdm_diag *diag);

/* Draws the device with the highest peak of the chosen memory. 0, or a negative code with the reason in `diag`. */
int tdm_info_capture_draw(const struct tdm_capture_exact *exact, const struct tdm_capture_course *course,
	const struct tdm_info_picture *picture, const struct tdm_term *term, struct tdm_buf *out,
	struct tdm_diag *diag);

#endif
