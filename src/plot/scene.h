/*
 * The content of a picture as numbers and names: the only input of this layer. A scene is one of the charts in
 * chart_table.c; each chart uses the common fields and its own. Everything is borrowed for the call. NaN is an unknown
 * value: it is not drawn, and its label says that it is unknown.
 */
#ifndef TDM_PLOT_SCENE_H
#define TDM_PLOT_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tdm_chart_kind {
	TDM_CHART_STACK, /* columns of stacked values */
	TDM_CHART_TIME,  /* values over time, with bands behind them */
	TDM_CHART_MAP,   /* address ranges in rows */
	TDM_CHART_HEAT,  /* a grid of cells */
	TDM_CHART_KINDS,
};

/* How a value is written: on axes, on labels and in tooltips. */
enum tdm_plot_unit {
	TDM_PLOT_NUMBER,
	TDM_PLOT_BYTES,   /* powers of 1024, with the i */
	TDM_PLOT_MIB,     /* always MiB, with commas: to the MiB and beyond, however large */
	TDM_PLOT_SECONDS, /* ns to hours */
	TDM_PLOT_PERCENT, /* 1.0 is 100 % */
};

/* A name with its colour (0xRRGGBB), and for stacks and times a value for each column or point. */
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

/* A labelled point of a time chart; y is in the unit of the chart. */
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
	const char *title;             /* NULL or "": none */
	const char *subtitle;          /* likewise */
	const char *x_label, *y_label; /* likewise */
	enum tdm_plot_unit unit;       /* of values; of addresses in a map */

	/* The legend; for a stack from bottom to top. */
	const struct tdm_plot_series *series;
	size_t series_count;

	/* A dashed horizontal line; none if the name is NULL. With `limits`, each column of a stack has its own, or
	 * none where it is NaN. */
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
	bool no_x_ticks; /* for when the bands say enough */
	bool steps;
	bool stacked; /* areas on top of each other; else lines with a faint fill down to 0 */
	const struct tdm_plot_band *bands;
	size_t band_count;
	const struct tdm_plot_mark *marks;
	size_t mark_count;

	/* TDM_CHART_MAP: every row has the addresses [map_from, map_to). */
	const struct tdm_plot_row *rows;
	size_t row_count;
	double map_from, map_to;

	/* TDM_CHART_HEAT: cell (x, y) is cells[y * grid_width + x]; NaN: there is no such cell. */
	const double *cells;
	size_t grid_width, grid_height;
	double cell_max; /* the value of the hottest colour; 0: the largest cell */
};

#endif
