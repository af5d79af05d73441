#include "analyze/trend.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return a < b ? -1 : a > b;
}

/* The correction of the variance for runs of equal values: the sum of t(t-1)(2t+5). */
static double of_ties(const double *values, size_t count)
{
	double sorted[TDM_TREND_MAX], sum = 0;
	for (size_t i = 0; i < count; i++)
		sorted[i] = values[i];
	qsort(sorted, count, sizeof sorted[0], compare);
	for (size_t i = 0, run; i < count; i += run) {
		for (run = 1; i + run < count && compare(&sorted[i], &sorted[i + run]) == 0; run++)
			;
		double t = (double)run;
		sum += t * (t - 1) * (2 * t + 5);
	}
	return sum;
}

double tdm_trend_z(const double *values, size_t count)
{
	if (count < 3 || count > TDM_TREND_MAX)
		return 0;
	double n = (double)count, score = 0;
	for (size_t i = 0; i < count; i++)
		for (size_t j = i + 1; j < count; j++)
			score += compare(&values[j], &values[i]);
	double variance = (n * (n - 1) * (2 * n + 5) - of_ties(values, count)) / 18;
	if (!(variance > 0) || compare(&score, &(double){ 0 }) == 0)
		return 0;
	return (score > 0 ? score - 1 : score + 1) / sqrt(variance);
}

double tdm_trend_slope(const double *x, const double *y, size_t count)
{
	static const size_t pairs = TDM_TREND_MAX * (TDM_TREND_MAX - 1) / 2;
	double slopes[TDM_TREND_MAX * (TDM_TREND_MAX - 1) / 2];
	size_t used = 0;
	for (size_t i = 0; i < count && count <= TDM_TREND_MAX; i++)
		for (size_t j = i + 1; j < count && used < pairs; j++)
			if (x[j] > x[i])
				slopes[used++] = (y[j] - y[i]) / (x[j] - x[i]);
	if (used == 0)
		return 0;
	qsort(slopes, used, sizeof slopes[0], compare);
	return used % 2 != 0 ? slopes[used / 2] : (slopes[used / 2 - 1] + slopes[used / 2]) / 2;
}
