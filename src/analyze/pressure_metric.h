/*
 * Indicators of how tight circular buffers are, the same for sizes that are planned (pressure.h) and for logs
 * (log_pressure.h). Severity OK is the band LOW, WARNING is MEDIUM, BROKEN is HIGH.
 */
#ifndef TDM_ANALYZE_PRESSURE_METRIC_H
#define TDM_ANALYZE_PRESSURE_METRIC_H

#include <stdint.h>

#include "analyze/finding.h"

/* The indicators: a share from 0 to 1, for SCORE a number up to 100; NAN: unknown. */
enum tdm_pressure {
	TDM_PRESSURE_MISS,        /* share of the B tiles that do not fit CB1 at once */
	TDM_PRESSURE_UTILIZATION, /* how full each circular buffer is at its fullest, on average */
	TDM_PRESSURE_STALLS,      /* share of reserves and waits that had to wait */
	TDM_PRESSURE_L1,          /* share of the usable L1 of a core that circular buffers take */
	TDM_PRESSURE_SCORE,       /* the largest of MISS, STALLS and L1, times 100 */
	TDM_PRESSURE_COUNT
};

const char *tdm_pressure_name(enum tdm_pressure indicator);      /* in JSON */
const char *tdm_pressure_band_name(enum tdm_pressure indicator); /* the same of its band; NULL: it has none */

/* INFO: the indicator has no band, or the value is unknown. */
enum tdm_severity tdm_pressure_band(enum tdm_pressure indicator, double value);

/* The share of the B tiles, at least one, that do not fit CB1 at once. */
double tdm_pressure_miss(uint64_t b_tiles, uint64_t cb1_tiles);

/* From those that are known; NAN if none is. */
double tdm_pressure_score(double miss, double stalls, double l1_share);

#endif
