/*
 * Whether a short series has a trend, and how steep it is: by ranks and medians, so that single outliers do not matter.
 */
#ifndef TDM_ANALYZE_TREND_H
#define TDM_ANALYZE_TREND_H

#include <stddef.h>

enum { TDM_TREND_MAX = 64 };

/*
 * The Mann-Kendall test: the number of rises minus falls over all pairs of values, as a multiple of its standard
 * deviation in a series without a trend. Corrected for equal values. 0 for fewer than three values, or when all are
 * equal. At most TDM_TREND_MAX values.
 */
double tdm_trend_z(const double *values, size_t count);

/* The Theil-Sen slope: the median slope over all pairs of points. 0 for fewer than two. At most TDM_TREND_MAX points.
 */
double tdm_trend_slope(const double *x, const double *y, size_t count);

#endif
