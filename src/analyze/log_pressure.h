/*
 * How tight a program's circular buffers are, from the profile of its log: what was observed, and what only follows
 * from sizes.
 */
#ifndef TDM_ANALYZE_LOG_PRESSURE_H
#define TDM_ANALYZE_LOG_PRESSURE_H

#include "analyze/log_profile.h"

/* How tight the circular buffers of a file are. Shares from 0 to 1; NAN: the log does not tell. */
struct tdm_log_pressure {
	double miss;        /* B tiles that do not fit CB1 at once, of all; from sizes, not observed */
	double utilization; /* the fullest moment of each circular buffer, of its size, on average; observed */
	double stall_share; /* reserves and waits that had to wait; observed */
	double l1_share;    /* circular buffers of a core, of the L1 that they may use */
	double score;       /* the largest of miss, stall_share and l1_share, times 100 */
	bool b_is_assumed;  /* the log names no B tiles: as many as A tiles were taken */
	uint64_t cb_bytes;  /* of a core; TDM_BYTES_UNKNOWN */
};

enum tdm_log_band { TDM_LOG_BAND_UNKNOWN, TDM_LOG_LOW, TDM_LOG_MEDIUM, TDM_LOG_HIGH };

/* From what has been added so far. */
struct tdm_log_pressure tdm_log_profile_pressure(const struct tdm_log_profile *profile, uint32_t file);

/* The bands: below 25, 25 to 75 and above 75 per cent; for the score below 30, 30 to 70, above 70; utilization is good
 * when it is high: above 80, 40 to 80, below 40 per cent. */
enum tdm_log_band tdm_log_miss_band(double miss);
enum tdm_log_band tdm_log_score_band(double score);
enum tdm_log_band tdm_log_utilization_band(double utilization);
const char *tdm_log_band_name(enum tdm_log_band band); /* "LOW"; "unknown" */

#endif
