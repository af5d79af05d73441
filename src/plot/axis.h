/* Round numbers for an axis, and values as text in its unit. */
#ifndef TDM_PLOT_AXIS_H
#define TDM_PLOT_AXIS_H

#include <stddef.h>

#include "plot/scene.h"

enum { TDM_AXIS_LABEL_CAP = 40, TDM_AXIS_TICKS_MAX = 32 };

struct tdm_axis {
	double from, to;  /* multiples of step, around the data */
	double step;      /* above 0 */
	size_t count;     /* of ticks, both ends included; at most TDM_AXIS_TICKS_MAX */
	double divisor;   /* what one of the unit in the labels is */
	const char *unit; /* "GiB" */
	int decimals;
};

/* Around [from, to] with about `ticks` ticks at round steps: 1, 2 or 5 times a power of ten in the unit that fits `to`.
 * What is not finite counts as 0, an empty range as a range of 1. */
struct tdm_axis tdm_axis_make(double from, double to, enum tdm_plot_unit unit, size_t ticks);

/* As tdm_axis_make, but addresses: steps are powers of two, and the ends are the given ones. */
struct tdm_axis tdm_axis_address(double from, double to, size_t ticks);

/* "12 GiB", "0". Returns dst. */
char *tdm_axis_label(const struct tdm_axis *axis, double value, char *dst, size_t cap);

/* A value for itself with three digits that count: "1.81 GiB", "193 MiB"; "unknown" when not a number. Returns dst. */
char *tdm_plot_value(enum tdm_plot_unit unit, double value, char *dst, size_t cap);

#endif
