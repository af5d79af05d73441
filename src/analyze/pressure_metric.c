#include "analyze/pressure_metric.h"

#include <math.h>

/* Names in JSON of the indicator and of its band (NULL: it has none), and where the band MEDIUM begins and ends;
 * negative for an indicator that is good when it is high. */
static const struct {
	const char *name, *band;
	double from, to;
} indicators[TDM_PRESSURE_COUNT] = {
	[TDM_PRESSURE_MISS] = { "cb1_miss_rate", "cb1_miss_band", 0.25, 0.75 },
	[TDM_PRESSURE_UTILIZATION] = { "cb_utilization", "cb_utilization_band", -0.8, -0.4 },
	[TDM_PRESSURE_STALLS] = { .name = "stall_share" },
	[TDM_PRESSURE_L1] = { .name = "l1_share" },
	[TDM_PRESSURE_SCORE] = { "score", "thrashing_risk", 30, 70 },
};

const char *tdm_pressure_name(enum tdm_pressure indicator)
{
	return indicators[indicator].name;
}

const char *tdm_pressure_band_name(enum tdm_pressure indicator)
{
	return indicators[indicator].band;
}

/* Means of shares are off by their last digits; a value this near to a limit is on it. */
static const double nearness = 1e-9;

enum tdm_severity tdm_pressure_band(enum tdm_pressure indicator, double value)
{
	double from = indicators[indicator].from, to = indicators[indicator].to;
	double bad = from < 0 ? -value : value;
	if (isnan(value) || indicators[indicator].band == NULL)
		return TDM_FINDING_INFO;
	return bad < from - nearness ? TDM_FINDING_OK : bad <= to + nearness ? TDM_FINDING_WARNING : TDM_FINDING_BROKEN;
}

double tdm_pressure_miss(uint64_t b_tiles, uint64_t cb1_tiles)
{
	return cb1_tiles < b_tiles ? (double)(b_tiles - cb1_tiles) / (double)b_tiles : 0;
}

double tdm_pressure_score(double miss, double stalls, double l1_share)
{
	double score = 100 * fmax(fmax(miss, stalls), l1_share);
	return score > 100 ? 100 : score;
}
