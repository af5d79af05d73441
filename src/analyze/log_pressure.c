#include "analyze/log_pressure.h"

#include <math.h>

/* How full each circular buffer was at its fullest, averaged over those for which the log says it. */
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

static void add(struct tdm_findings *out, enum tdm_pressure indicator, double value)
{
	const char *name = tdm_pressure_name(indicator), *band = tdm_pressure_band_name(indicator);
	enum tdm_severity severity = tdm_pressure_band(indicator, value);
	tdm_findings_add(out, TDM_FAMILY_PRESSURE, name, severity)->code = (uint8_t)indicator;
	tdm_findings_real(out, name, indicator == TDM_PRESSURE_SCORE ? TDM_UNIT_NUMBER : TDM_UNIT_SHARE, value);
	if (band != NULL)
		tdm_findings_figure(out, band, TDM_UNIT_SEVERITY, severity);
}

void tdm_log_profile_pressure(const struct tdm_log_profile *p, uint32_t file, struct tdm_findings *out)
{
	const struct tdm_log_file *f = &p->files[file];
	const struct tdm_log_cb *rows = p->cbs.rows;
	uint64_t timed = 0, stalls = 0, bytes = 0, l1 = f->geometry.allocatable_l1_size;
	uint64_t b_tiles = f->b_tiles != TDM_LOG_UNKNOWN ? f->b_tiles : f->a_tiles;
	bool sized = false, all_sized = true;
	double miss = NAN, stall_share = NAN, l1_share = NAN;
	for (size_t i = 0; i < p->cbs.count; i++) {
		const struct tdm_log_cb *cb = &rows[i];
		if (cb->file != file)
			continue;
		timed += cb->timed;
		stalls += cb->stalls;
		if (cb->cb == 1 && cb->tiles != TDM_LOG_UNKNOWN && b_tiles != TDM_LOG_UNKNOWN && b_tiles != 0)
			miss = tdm_pressure_miss(b_tiles, cb->tiles);
		sized |= cb->bytes != TDM_BYTES_UNKNOWN;
		all_sized &= cb->bytes != TDM_BYTES_UNKNOWN || cb->allocs == 0;
		if (cb->bytes != TDM_BYTES_UNKNOWN)
			bytes = tdm_min(tdm_plus(bytes, cb->bytes), TDM_BYTES_UNKNOWN - 1);
	}
	if (!(sized && all_sized)) /* the program may say the sum alone */
		bytes = f->cb_bytes;
	if (timed != 0)
		stall_share = (double)stalls / (double)timed;
	if (bytes != TDM_BYTES_UNKNOWN && l1 != TDM_BYTES_UNKNOWN && l1 != 0)
		l1_share = (double)bytes / (double)l1;
	add(out, TDM_PRESSURE_MISS, miss);
	tdm_findings_figure(out, "b_tiles_assumed", TDM_UNIT_FLAG, !isnan(miss) && f->b_tiles == TDM_LOG_UNKNOWN);
	add(out, TDM_PRESSURE_UTILIZATION, utilization(p, file));
	add(out, TDM_PRESSURE_STALLS, stall_share);
	add(out, TDM_PRESSURE_L1, l1_share);
	tdm_findings_figure(out, "cb_bytes_per_core", TDM_UNIT_BYTES, bytes);
	tdm_findings_figure(out, "cb_limit_bytes", TDM_UNIT_BYTES, f->cb_limit);
	add(out, TDM_PRESSURE_SCORE, tdm_pressure_score(miss, stall_share, l1_share));
}
