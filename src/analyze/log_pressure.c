#include "analyze/log_pressure.h"

#include <math.h>

/* How full each circular buffer was at its fullest, on average over those that lines tell it of. */
static double utilization(const struct tdm_log_profile *p, uint32_t file)
{
	const struct tdm_log_cb *rows = p->cbs.rows;
	double sum = 0;
	size_t count = 0;
	for (size_t i = 0; i < p->cbs.count; i++) {
		const struct tdm_log_cb *cb = &rows[i];
		if (cb->file != file || cb->pushes == 0 || cb->tiles == TDM_LOG_UNKNOWN || cb->tiles == 0)
			continue;
		double share = (double)cb->peak_fill / (double)cb->tiles;
		sum += share < 1 ? share : 1;
		count++;
	}
	return count != 0 ? sum / (double)count : (double)NAN;
}

static double larger(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : a > b ? a : b;
}

struct tdm_log_pressure tdm_log_profile_pressure(const struct tdm_log_profile *p, uint32_t file)
{
	const struct tdm_log_file *f = &p->files[file];
	const struct tdm_log_cb *rows = p->cbs.rows;
	struct tdm_log_pressure out = { (double)NAN, utilization(p, file), (double)NAN, (double)NAN, (double)NAN, false,
		TDM_BYTES_UNKNOWN };
	uint64_t timed = 0, stalls = 0, bytes = 0, b_tiles = f->b_tiles;
	bool sized = false, all_sized = true;
	if (b_tiles == TDM_LOG_UNKNOWN && f->a_tiles != TDM_LOG_UNKNOWN) {
		b_tiles = f->a_tiles;
		out.b_is_assumed = true;
	}
	for (size_t i = 0; i < p->cbs.count; i++) {
		const struct tdm_log_cb *cb = &rows[i];
		if (cb->file != file)
			continue;
		timed += cb->timed;
		stalls += cb->stalls;
		if (cb->cb == 1 && cb->tiles != TDM_LOG_UNKNOWN && b_tiles != TDM_LOG_UNKNOWN && b_tiles != 0)
			out.miss = cb->tiles < b_tiles ? (double)(b_tiles - cb->tiles) / (double)b_tiles : 0;
		sized |= cb->bytes != TDM_BYTES_UNKNOWN;
		all_sized &= cb->bytes != TDM_BYTES_UNKNOWN || cb->allocs == 0;
		if (cb->bytes != TDM_BYTES_UNKNOWN)
			bytes = cb->bytes > UINT64_MAX - 1 - bytes ? UINT64_MAX - 1 : bytes + cb->bytes;
	}
	if (isnan(out.miss))
		out.b_is_assumed = false;
	if (timed != 0)
		out.stall_share = (double)stalls / (double)timed;
	if (sized && all_sized) {
		out.cb_bytes = bytes;
		if (f->geometry.allocatable_l1_size != TDM_BYTES_UNKNOWN && f->geometry.allocatable_l1_size != 0)
			out.l1_share = (double)bytes / (double)f->geometry.allocatable_l1_size;
	}
	out.score = 100 * larger(larger(out.miss, out.stall_share), out.l1_share);
	if (out.score > 100)
		out.score = 100;
	return out;
}

enum tdm_log_band tdm_log_miss_band(double miss)
{
	return isnan(miss)    ? TDM_LOG_BAND_UNKNOWN
	       : miss < 0.25  ? TDM_LOG_LOW
	       : miss <= 0.75 ? TDM_LOG_MEDIUM
			      : TDM_LOG_HIGH;
}

enum tdm_log_band tdm_log_score_band(double score)
{
	return isnan(score)  ? TDM_LOG_BAND_UNKNOWN
	       : score < 30  ? TDM_LOG_LOW
	       : score <= 70 ? TDM_LOG_MEDIUM
			     : TDM_LOG_HIGH;
}

enum tdm_log_band tdm_log_utilization_band(double used)
{
	return isnan(used)   ? TDM_LOG_BAND_UNKNOWN
	       : used > 0.8  ? TDM_LOG_LOW
	       : used >= 0.4 ? TDM_LOG_MEDIUM
			     : TDM_LOG_HIGH;
}

const char *tdm_log_band_name(enum tdm_log_band band)
{
	static const char *const names[] = { "unknown", "LOW", "MEDIUM", "HIGH" };
	return names[band];
}
