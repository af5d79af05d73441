/* Round numbers for an axis, and values as text with a unit. */
#ifndef TDM_PLOT_AXIS_H
#define TDM_PLOT_AXIS_H

#include <stddef.h>

#include "plot/scene.h"

enum { TDM_AXIS_LABEL_CAP = 40, TDM_AXIS_TICKS_MAX = 32 };

struct tdm_axis {
	double from, to;  /* multiples of step that enclose the data */
	double step;      /* above 0 */
	size_t count;     /* of ticks, both ends included; at most TDM_AXIS_TICKS_MAX */
	double divisor;   /* the value of one unit in the labels */
	const char *unit; /* "GiB" */
	int decimals;
	bool commas; /* between thousands */
};

/* An axis around [from, to] with about `ticks` ticks. A step is 1, 2 or 5 times a power of ten in the unit that fits
 * `to`. Ends that are not finite count as 0; an empty range becomes a range of 1. */
struct tdm_axis tdm_axis_make(double from, double to, enum tdm_plot_unit unit, size_t ticks);

/* The same for addresses: steps are powers of two, and the ends stay as given. */
struct tdm_axis tdm_axis_address(double from, double to, size_t ticks);

/* "12 GiB", "0". Returns dst. */
char *tdm_axis_label(const struct tdm_axis *axis, double value, char *dst, size_t cap);

/* A single value with three significant digits: "1.81 GiB", "193 MiB"; in TDM_PLOT_MIB with all before the point:
 * "8,279 MiB"; "unknown" for NaN. Returns dst. */
char *tdm_plot_value(enum tdm_plot_unit unit, double value, char *dst, size_t cap);

#endif
