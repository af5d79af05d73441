/* A kind of chart: how to draw it and how to print it. Each has its own file; chart_table.c lists them. */
#ifndef TDM_PLOT_CHART_H
#define TDM_PLOT_CHART_H

#include "base/buf.h"
#include "base/term.h"
#include "plot/drawing.h"
#include "plot/scene.h"

struct tdm_chart {
	const char *name; /* "stack" */
	const char *summary;
	/* The part that the scene lacks for this chart; NULL if it lacks nothing. */
	const char *(*lacks)(const struct tdm_scene *scene);
	int (*draw)(const struct tdm_scene *scene, struct tdm_drawing *drawing); /* 0 or -ENOMEM */
	void (*print)(const struct tdm_scene *scene, const struct tdm_term *term, struct tdm_buf *out);
};

extern const struct tdm_chart tdm_chart_stack, tdm_chart_time, tdm_chart_map, tdm_chart_heat;
extern const struct tdm_chart *const tdm_charts[TDM_CHART_KINDS]; /* by enum tdm_chart_kind */

/* Prints cells of a series: in its colour, or without colour as its own character. */
void tdm_print_cells(struct tdm_buf *out, const struct tdm_term *term, size_t series, uint32_t rgb, size_t count);
/* The cell and name of every series, wrapped to the width. */
void tdm_print_legend(struct tdm_buf *out, const struct tdm_term *term, const struct tdm_scene *scene);
/* A text in one style, wrapped to the width; nothing if it is NULL or "". */
void tdm_print_text(struct tdm_buf *out, const struct tdm_term *term, const char *text, const char *style);
/* Title and subtitle. */
void tdm_print_heading(struct tdm_buf *out, const struct tdm_term *term, const struct tdm_scene *scene);
/* A name in exactly `columns`: cut, or padded with blanks. */
void tdm_print_name(struct tdm_buf *out, const struct tdm_term *term, const char *name, size_t columns);
/* The number of columns that a name needs. */
size_t tdm_print_columns(const char *name);

#endif
