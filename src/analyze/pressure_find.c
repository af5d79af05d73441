#include "analyze/pressure_find.h"
#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static enum tdm_severity band_of(const struct tdm_sizing *s)
{
	return s != NULL ? tdm_pressure_band(TDM_PRESSURE_SCORE, s->metrics[TDM_PRESSURE_SCORE]) : TDM_FINDING_OK;
}

/* The first result in which the strategy has this thrashing risk; NULL: none. */
static const struct tdm_pressure_result *first_with(
	const struct tdm_pressure_result *results, size_t count, enum tdm_sizing_name name, enum tdm_severity band)
{
	for (size_t i = 0; i < count; i++)
		if (band_of(tdm_pressure_sizing(&results[i], name)) == band)
			return &results[i];
	return NULL;
}

static double share_of_best(const struct tdm_pressure_result *r, const struct tdm_sizing *s)
{
	return r->advice.best_tiles_per_s > 0 ? s->model.tiles_per_s / r->advice.best_tiles_per_s : (double)NAN;
}

static void find_score(const struct tdm_pressure_result *r, const struct tdm_sizing *s, bool is_one_of_many,
	struct tdm_findings *found)
{
	bool is_high = band_of(s) == TDM_FINDING_BROKEN;
	double share = share_of_best(r, s), score = s->metrics[TDM_PRESSURE_SCORE];
	char from[64] = "", model[96] = "";
	if (is_one_of_many)
		snprintf(from, sizeof from, " from %" PRIu64 " B tiles on", r->setup.b_tiles);
	if (isfinite(share))
		snprintf(model, sizeof model, "; in the model it reaches %.1f %% of the best throughput", 100 * share);
	tdm_findings_remark(found, is_high ? TDM_FINDING_WARNING : TDM_FINDING_INFO, "thrashing_risk",
		tdm_sizing_title((enum tdm_sizing_name)s->name));
	if (r->setup.pattern != NULL) { /* its score is its share of L1 */
		tdm_findings_real(found, "score", TDM_UNIT_NUMBER, score);
		tdm_findings_real(found, "share_of_best", TDM_UNIT_SHARE, share);
		tdm_findings_say(found,
			"thrashing risk %s: score %.1f of 100, its circular buffers take %.1f %% of the usable L1%s",
			is_high ? "HIGH" : "MEDIUM", score, 100 * s->metrics[TDM_PRESSURE_L1], model);
		return;
	}
	tdm_findings_figure(found, "a_tiles", TDM_UNIT_COUNT, r->setup.a_tiles);
	tdm_findings_figure(found, "b_tiles", TDM_UNIT_COUNT, r->setup.b_tiles);
	tdm_findings_real(found, "score", TDM_UNIT_NUMBER, score);
	tdm_findings_real(found, "cb1_miss_rate", TDM_UNIT_SHARE, s->metrics[TDM_PRESSURE_MISS]);
	tdm_findings_real(found, "share_of_best", TDM_UNIT_SHARE, share);
	tdm_findings_say(found,
		"thrashing risk %s%s: score %.1f of 100, CB1 holds %" PRIu32 " of %" PRIu64 " B tiles%s",
		is_high ? "HIGH" : "MEDIUM", from, score, s->depths[1], r->setup.b_tiles, model);
}

static void find_failure(const struct tdm_pressure_result *r, const struct tdm_sizing *s, struct tdm_findings *found)
{
	char bytes[TDM_BYTES_CAP], left[TDM_BYTES_CAP];
	const char *title = tdm_sizing_title((enum tdm_sizing_name)s->name);
	if (s->model.is_deadlocked) {
		tdm_findings_remark(found, TDM_FINDING_BROKEN, "deadlock", title);
		tdm_findings_say(found, "deadlock: %s", s->model.deadlock);
	}
	if (s->fits)
		return;
	tdm_findings_remark(found, TDM_FINDING_BROKEN, "does_not_fit", title);
	tdm_findings_figure(found, "bytes_per_core", TDM_UNIT_BYTES, s->bytes);
	tdm_findings_figure(found, "l1_left_bytes", TDM_UNIT_BYTES, r->l1_left);
	tdm_findings_say(found, "does not fit: its circular buffers take %s of each core, and %s are left",
		tdm_format_bytes_short(bytes, sizeof bytes, s->bytes),
		tdm_format_bytes_short(left, sizeof left, r->l1_left));
}

static void find_beyond(const struct tdm_pressure_result *r, struct tdm_findings *found)
{
	if (r->beyond_card == 0)
		return;
	tdm_findings_remark(found, TDM_FINDING_BROKEN, "not_on_card", tdm_sizing_title(TDM_SIZING_GIVEN));
	tdm_findings_figure(found, "buffers", TDM_UNIT_COUNT, r->beyond_card);
	tdm_findings_say(found, "%zu of its %zu buffers have an index that %s does not have: it has 0 to %" PRIu64,
		r->beyond_card, r->pattern.buffer_count, r->setup.card->full_name, r->card_buffers - 1);
}

static void find_advice(const struct tdm_pressure_result *r, struct tdm_findings *found)
{
	const struct tdm_sizing *s = tdm_pressure_sizing(r, TDM_SIZING_ADVISED);
	char bytes[TDM_BYTES_CAP];
	if (s == NULL)
		return;
	tdm_findings_remark(found, TDM_FINDING_INFO, "advised", tdm_sizing_title(TDM_SIZING_ADVISED));
	tdm_findings_figure(found, "bytes_per_core", TDM_UNIT_BYTES, s->bytes);
	tdm_findings_real(found, "share_of_best", TDM_UNIT_SHARE, share_of_best(r, s));
	tdm_findings_say(found, "%s of circular buffers reach %.1f %% of the best throughput in the model%s",
		tdm_format_bytes_short(bytes, sizeof bytes, s->bytes), 100 * share_of_best(r, s),
		r->advice.is_limited ? ", which is the best that fits" : "");
}

void tdm_pressure_find(const struct tdm_pressure_result *results, size_t count, struct tdm_findings *found)
{
	for (size_t i = 0; i < count; i++)
		find_beyond(&results[i], found);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < results[i].strategy_count; k++)
			find_failure(&results[i], &results[i].strategies[k], found);
	for (int name = 0; name < TDM_SIZING_ADVISED; name++) {
		const struct tdm_pressure_result *r =
			first_with(results, count, (enum tdm_sizing_name)name, TDM_FINDING_BROKEN);
		if (r == NULL)
			r = first_with(results, count, (enum tdm_sizing_name)name, TDM_FINDING_WARNING);
		if (r != NULL)
			find_score(r, tdm_pressure_sizing(r, (enum tdm_sizing_name)name), count > 1, found);
	}
	if (count == 1)
		find_advice(&results[0], found);
}
