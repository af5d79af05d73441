/*
 * Charts. A scene contains a chart's data as numbers and names, and is drawn to a file or to the terminal.
 *
 * A scene is one of the charts in plot_output.c; each chart uses the common fields and some of its own. All data is
 * borrowed for the duration of a call. NaN stands for an unknown value: no shape is drawn, and the label reads
 * "unknown".
 */
#ifndef TDM_VIEW_PLOT_H
#define TDM_VIEW_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"
#include "base/term.h"

/* ---- scenes ------------------------------------------------------------------------------------------------------ */

enum tdm_chart_kind {
	TDM_CHART_STACK, /* columns of stacked values */
	TDM_CHART_TIME,  /* values over time, with bands behind them */
	TDM_CHART_MAP,   /* address ranges in rows */
	TDM_CHART_HEAT,  /* a grid of cells */
	TDM_CHART_KINDS,
};

/* Unit of the values on axes, in labels and in tooltips. */
enum tdm_plot_unit {
	TDM_PLOT_NUMBER,
	TDM_PLOT_BYTES,   /* powers of 1024: KiB, MiB */
	TDM_PLOT_MIB,     /* always MiB, with commas, however large */
	TDM_PLOT_SECONDS, /* ns to hours */
	TDM_PLOT_PERCENT, /* 1.0 is 100 % */
};

/* A name with a colour (0xRRGGBB). For stack and time charts, also a value for each column or point. */
struct tdm_plot_series {
	const char *name;
	uint32_t rgb;
	const double *values; /* NULL for a map, whose spans refer to series by index */
};

/* A section of the time axis, such as a phase. */
struct tdm_plot_band {
	const char *name;
	double from, to;
};

/* A labelled point of a time chart; y is in the chart's unit. */
struct tdm_plot_mark {
	const char *name;
	double x, y;
};

struct tdm_plot_span {
	double from, to; /* addresses, from < to */
	size_t series;
	const char *name; /* for tooltips; may be NULL */
};

struct tdm_plot_row {
	const char *name;
	const struct tdm_plot_span *spans; /* sorted by `from` */
	size_t span_count;
};

struct tdm_scene {
	enum tdm_chart_kind kind;
	const char *title;             /* may be NULL or "" */
	const char *subtitle;          /* may be NULL or "" */
	const char *x_label, *y_label; /* may be NULL or "" */
	enum tdm_plot_unit unit;       /* unit of the values; in a map, of the addresses */

	/* The legend; for a stack from bottom to top. */
	const struct tdm_plot_series *series;
	size_t series_count;

	/* A dashed horizontal line; none if the name is NULL. If `limits` is set, each stack column has its own limit;
	 * NaN means none. */
	const char *limit_name;
	double limit;
	const double *limits;

	/* TDM_CHART_STACK. If `totals` is NULL, the total of a column is the sum of its parts. */
	const char *const *columns;
	size_t column_count;
	const double *totals;

	/* TDM_CHART_TIME. `times` ascend. With `steps`, a value holds until the next time; else lines connect the
	 * points. */
	const double *times;
	size_t point_count;
	enum tdm_plot_unit x_unit;
	bool no_x_ticks; /* set if bands label the axis well enough */
	bool steps;
	bool stacked; /* areas stacked on each other; otherwise lines with a faint fill down to 0 */
	const struct tdm_plot_band *bands;
	size_t band_count;
	const struct tdm_plot_mark *marks;
	size_t mark_count;

	/* TDM_CHART_MAP: every row covers the addresses [map_from, map_to). */
	const struct tdm_plot_row *rows;
	size_t row_count;
	double map_from, map_to;

	/* TDM_CHART_HEAT: cell (x, y) is cells[y * grid_width + x]; NaN if there is no such cell. */
	const double *cells;
	size_t grid_width, grid_height;
	double cell_max; /* value drawn in the hottest colour; 0 to use the largest cell */
};

/* ---- pictures ---------------------------------------------------------------------------------------------------- */

enum tdm_plot_format { TDM_PLOT_PNG, TDM_PLOT_SVG, TDM_PLOT_PDF, TDM_PLOT_FORMATS };

enum { TDM_PLOT_WIDTH = 1200, TDM_PLOT_HEIGHT = 675, TDM_PLOT_SIDE_MIN = 160, TDM_PLOT_SIDE_MAX = 20000 };

static inline bool tdm_plot_is_side(double side)
{
	return side >= TDM_PLOT_SIDE_MIN && side <= TDM_PLOT_SIDE_MAX;
}

/* Fields set to 0 get their default values. */
struct tdm_plot_options {
	double width, height; /* pixels (PDF: points) before scaling */
	double scale;         /* 2 for high-density screens; default 1 */
};

/* Chooses the format by the path's extension, ignoring case. 0, or TDM_EREFUSED with the allowed extensions in
 * `diag`. */
int tdm_plot_format_of(const char *path, enum tdm_plot_format *format, struct tdm_diag *diag);

/* The user's choices for the output of a scene. */
struct tdm_plot_picture {
	unsigned chart;    /* number of the chosen chart in the command's list; 0 for none */
	const char *title; /* title, or NULL */
	const char *path;  /* output file; NULL prints text on the terminal */
	struct tdm_plot_options size;
	const struct tdm_term *term;
};

/* Writes a scene to the file chosen in `picture`, with the chosen title, or prints it. 0, or a negative code with the
 * reason in `diag`. */
int tdm_plot_show(const struct tdm_scene *scene, const struct tdm_plot_picture *picture, struct tdm_buf *out,
	struct tdm_diag *diag);

/* Appends the rendered scene. 0, or a negative code with the reason in `diag`. */
int tdm_plot_render(const struct tdm_scene *scene, enum tdm_plot_format format, const struct tdm_plot_options *options,
	struct tdm_buf *out, struct tdm_diag *diag);

/* Renders in the format of the path's extension, then replaces the file atomically. 0, or a negative code with the path
 * and the reason in `diag`. */
int tdm_plot_write(
	const struct tdm_scene *scene, const char *path, const struct tdm_plot_options *options, struct tdm_diag *diag);

/* Prints the scene on the terminal. 0, or a negative code with the reason in `diag`. */
int tdm_plot_print(
	const struct tdm_scene *scene, const struct tdm_term *term, struct tdm_buf *out, struct tdm_diag *diag);

/* NULL if a font is installed, else a message that names a package to install. */
const char *tdm_plot_missing_fonts(void);

#endif
