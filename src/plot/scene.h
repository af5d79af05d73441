/*
 * What a picture shows, as numbers and names: the only thing that a caller hands to this layer. A scene is one of the
 * charts of chart_table.c; each uses the common part and its own. Everything is borrowed for the call. A value that is
 * not a number is unknown: it is left out of the picture and said to be unknown where it would have a label.
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
	TDM_PLOT_SECONDS, /* ns to hours */
	TDM_PLOT_PERCENT, /* 1.0 is 100 % */
};

/* A name with its colour (0xRRGGBB), and for stacks and times a value for each column or point. */
struct tdm_plot_series {
	const char *name;
	uint32_t rgb;
	const double *values; /* NULL for a map, whose spans refer to series by index */
};

/* A stretch of the time axis, such as a phase. */
struct tdm_plot_band {
	const char *name;
	double from, to;
};

/* A point of a time chart that deserves a label: its name, and y in the unit of the chart. */
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
	const struct tdm_plot_span *spans;
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

	/* A dashed horizontal line; NULL name: none. The columns of a stack may have one each instead, or none where
	 * it is not a number. */
	const char *limit_name;
	double limit;
	const double *limits;

	/* TDM_CHART_STACK. `totals` may be NULL: then the sum of the column is shown on top of it. */
	const char *const *columns;
	size_t column_count;
	const double *totals;

	/* TDM_CHART_TIME. `times` ascend; a value holds from its time to the next one when `steps`, else lines connect.
	 */
	const double *times;
	size_t point_count;
	enum tdm_plot_unit x_unit;
	bool no_x_ticks; /* the bands say enough */
	bool steps;
	bool stacked; /* areas on top of each other; else each from 0, as lines with a faint fill */
	const struct tdm_plot_band *bands;
	size_t band_count;
	const struct tdm_plot_mark *marks;
	size_t mark_count;

	/* TDM_CHART_MAP: every row has the addresses [map_from, map_to). */
	const struct tdm_plot_row *rows;
	size_t row_count;
	double map_from, map_to;

	/* TDM_CHART_HEAT: cell (x, y) is cells[y * grid_width + x]; not a number: there is no such cell. */
	const double *cells;
	size_t grid_width, grid_height;
	double cell_max; /* the value of the hottest colour; 0: the largest cell */
};

#endif
