#include "analyze/pressure/pressure.h"
#include "base/memory.h"
#include "base/number.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	CONSTANT_TILES = 4,
	STREAMING_ABOVE = 16,
	STREAMING_TILES = 2,
	OPTIMAL_MAX = 6,
	AVAILABLE_TILES = 8, /* 48 KiB of 4 KiB tiles, minus those for CB2 and CB16 */
	RESULT_TILES = 2,    /* for CB2 and CB16, in both adaptive rules */
	/* Maximum number of A tiles simulated by the model, which becomes periodic long before. */
	MODEL_A_MAX = 64,
	MODEL_B_MAX = 256,
};

/* ---- indicators ---- */

/* Names of the indicator and of its band in JSON; the band's may be missing. */
static const char *const names[TDM_PRESSURE_COUNT][2] = {
	[TDM_PRESSURE_MISS] = { "cb1_miss_rate", "cb1_miss_band" },
	[TDM_PRESSURE_UTILIZATION] = { "cb_utilization", "cb_utilization_band" },
	[TDM_PRESSURE_STALLS] = { "stall_share" },
	[TDM_PRESSURE_L1] = { "l1_share" },
	[TDM_PRESSURE_SCORE] = { "score", "thrashing_risk" },
};

/* Bounds of the band MEDIUM; negative if high values of the indicator are good. */
static const double medium[TDM_PRESSURE_COUNT][2] = {
	[TDM_PRESSURE_MISS] = { 0.25, 0.75 },
	[TDM_PRESSURE_UTILIZATION] = { -0.8, -0.4 },
	[TDM_PRESSURE_SCORE] = { 30, 70 },
};

const char *tdm_pressure_name(enum tdm_pressure indicator)
{
	return names[indicator][0];
}

const char *tdm_pressure_band_name(enum tdm_pressure indicator)
{
	return names[indicator][1];
}

/* Averages of shares are inexact in the last digits, so a value this close to a limit counts as equal to the limit. */
static const double nearness = 1e-9;

enum tdm_severity tdm_pressure_band(enum tdm_pressure indicator, double value)
{
	double from = medium[indicator][0], to = medium[indicator][1];
	double bad = from < 0 ? -value : value;
	if (isnan(value) || names[indicator][1] == NULL)
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

/* ---- strategies ---- */

const char *tdm_sizing_title(enum tdm_sizing_name name)
{
	static const char *const titles[] = { "constant", "adaptive_guide", "adaptive_program", "given", "advised" };
	return titles[name];
}

void tdm_sizing_tiles(enum tdm_sizing_name name, uint64_t tiles_per_shard, uint64_t b_tiles, uint32_t tiles[4])
{
	bool is_constant = name == TDM_SIZING_CONSTANT;
	bool is_large = tiles_per_shard > STREAMING_ABOVE || b_tiles > STREAMING_ABOVE;
	tiles[2] = tiles[3] = is_constant ? CONSTANT_TILES : RESULT_TILES;
	tiles[0] = tiles[1] = is_constant ? CONSTANT_TILES : STREAMING_TILES;
	if (is_constant || is_large)
		return;
	tiles[0] = (uint32_t)tdm_min(OPTIMAL_MAX, tiles_per_shard + 2);
	tiles[1] = (uint32_t)tdm_min(OPTIMAL_MAX, b_tiles);
	if (name == TDM_SIZING_ADAPTIVE_PROGRAM && tiles[0] + tiles[1] > AVAILABLE_TILES) {
		tiles[0] = AVAILABLE_TILES / 2;
		tiles[1] = AVAILABLE_TILES - tiles[0];
	}
}

/* Makes a pattern from the workload: an A tile, then all B tiles, which are added to the A tile one by one. */
static void make_pattern(struct tdm_pressure_result *r)
{
	static const char format[] = "name addition\ntiles %" PRIu64 "\n"
				     "buffer 0 pages=%d page=%" PRIu64 " total=%" PRIu64 "\n"
				     "buffer 1 pages=%d page=%" PRIu64 " total=%" PRIu64 "\n"
				     "buffer 2 pages=%d page=%" PRIu64 " total=%" PRIu64 "\n"
				     "buffer 16 pages=%d page=%" PRIu64 " total=%" PRIu64 "\n"
				     "kernel reader read push=0\nkernel reader read push=1 times=%" PRIu64 "\n"
				     "kernel compute compute op=copy pop=0 push=2\n"
				     "kernel compute compute op=add pop=1,2 push=2 times=%" PRIu64 "\n"
				     "kernel compute compute op=copy pop=2 push=16\nkernel writer write pop=16\n";
	uint64_t a = tdm_min(r->tiles_per_shard, MODEL_A_MAX), b = tdm_min(r->setup.b_tiles, MODEL_B_MAX);
	uint64_t page = r->setup.tile_bytes;
	struct tdm_core_speed speed = *r->setup.speed;
	char text[1024];
	snprintf(text, sizeof text, format, a * b, CONSTANT_TILES, page, a, CONSTANT_TILES, page, a * b, CONSTANT_TILES,
		page, a * (b + 1), CONSTANT_TILES, page, a, b, b);
	tdm_pattern_parse(tdm_str_of(text), &r->pattern, &speed, NULL);
}

static void set_l1(struct tdm_pressure_result *r)
{
	const struct tdm_card *card = r->setup.card;
	uint64_t size = tdm_card_get(card, TDM_CARD_L1_SIZE), base = tdm_card_get(card, TDM_CARD_L1_BASE);
	uint64_t small = tdm_card_get(card, TDM_CARD_L1_SMALL);
	uint64_t taken = tdm_plus(base, small != TDM_BYTES_UNKNOWN ? small : 0);
	bool is_known = size != TDM_BYTES_UNKNOWN && taken != TDM_BYTES_UNKNOWN && taken <= size;
	r->l1_usable = is_known ? size - taken : TDM_BYTES_UNKNOWN;
	r->l1_left = !is_known ? TDM_BYTES_UNKNOWN : r->l1_usable - tdm_min(r->l1_usable, r->setup.l1_used);
	r->firmware_bytes = tdm_card_get(card, TDM_CARD_MAP_END);
	r->kernel_bytes = tdm_card_get(card, TDM_CARD_KERNEL_CONFIG);
}

static uint64_t align_of(const struct tdm_pressure_result *r)
{
	uint64_t align = tdm_card_get(r->setup.card, TDM_CARD_DRAM_ALIGN);
	return align != TDM_BYTES_UNKNOWN ? align : 1;
}

static void measure(struct tdm_pressure_result *r, struct tdm_sizing *s)
{
	double *m = s->metrics;
	uint64_t both = 0, either = 0, l1_size = tdm_card_get(r->setup.card, TDM_CARD_L1_SIZE);
	uint64_t base = tdm_card_get(r->setup.card, TDM_CARD_L1_BASE);
	double fill = 0;
	s->pattern = &r->pattern;
	s->bytes = tdm_pattern_bytes(&r->pattern, s->depths, align_of(r));
	for (size_t i = 0; i < r->pattern.buffer_count; i++) {
		uint64_t there = tdm_min(s->depths[i], r->needs[i]);
		fill += (double)there / s->depths[i];
		both += there;
		either += tdm_max(s->depths[i], r->needs[i]);
	}
	m[TDM_PRESSURE_MISS] =
		r->setup.pattern == NULL ? tdm_pressure_miss(r->setup.b_tiles, s->depths[1]) : (double)NAN;
	m[TDM_PRESSURE_UTILIZATION] = fill / (double)r->pattern.buffer_count;
	m[TDM_PRESSURE_STALLS] = (double)NAN; /* only logs show which calls had to wait */
	m[TDM_PRESSURE_L1] = tdm_share(s->bytes, r->l1_usable);
	m[TDM_PRESSURE_SCORE] = tdm_pressure_score(m[TDM_PRESSURE_MISS], (double)NAN, m[TDM_PRESSURE_L1]);
	s->memory_efficiency = (double)both / (double)either;
	s->map_share = tdm_share(tdm_plus(tdm_plus(base, s->bytes), r->setup.l1_used), l1_size);
	s->fits = r->l1_left == TDM_BYTES_UNKNOWN || s->bytes <= r->l1_left;
}

static struct tdm_sizing *add_strategy(struct tdm_pressure_result *r, enum tdm_sizing_name name)
{
	struct tdm_sizing *s = &r->strategies[r->strategy_count];
	*s = (struct tdm_sizing){ .name = (uint8_t)name,
		.depths = r->depths + r->strategy_count * r->pattern.buffer_count };
	r->strategy_count++;
	return s;
}

/* Searches for advice and, if found, adds it as a strategy. */
static void add_advised(struct tdm_pressure_result *r)
{
	uint64_t pages = tdm_card_get(r->setup.card, TDM_CARD_CB_MAX_PAGES);
	r->advice = (struct tdm_cb_advice){ .l1_bytes = r->l1_left,
		.align = align_of(r),
		.pages = pages <= UINT32_MAX ? (uint32_t)pages : 0,
		.progress = r->setup.progress };
	tdm_cb_advise(&r->pattern, r->setup.speed, &r->advice);
	if (!tdm_cb_advice_is_found(&r->advice))
		return;
	struct tdm_sizing *s = add_strategy(r, TDM_SIZING_ADVISED);
	for (size_t i = 0; i < r->pattern.buffer_count; i++)
		s->depths[i] = r->advice.advised.depths[i];
}

void tdm_pressure_analyze(const struct tdm_pressure_setup *setup, struct tdm_pressure_result *r)
{
	*r = (struct tdm_pressure_result){ .setup = *setup };
	if (setup->pattern != NULL) {
		tdm_pattern_copy(setup->pattern, &r->pattern);
	} else {
		uint64_t devices = (uint64_t)setup->mesh_rows * setup->mesh_columns;
		r->tiles_per_shard = setup->a_tiles / devices + (setup->a_tiles % devices != 0);
		uint64_t tiles = tdm_max(setup->a_tiles, setup->b_tiles);
		r->workload = tiles <= 8 ? "small" : tiles <= 16 ? "medium" : tiles <= 32 ? "large" : "very large";
		r->behaviour = tiles <= 8    ? "optimal buffering: high performance, low pressure"
			       : tiles <= 16 ? "balanced allocation: good performance, some pressure"
			       : tiles <= 32 ? "conservative allocation: stable, higher pressure"
					     : "streaming mode: slower but stable";
		make_pattern(r);
	}
	r->needs = tdm_zalloc(r->pattern.buffer_count, sizeof *r->needs);
	r->depths = tdm_zalloc(TDM_SIZINGS * r->pattern.buffer_count, sizeof *r->depths);
	set_l1(r);
	r->card_buffers = tdm_card_get(setup->card, TDM_CARD_CB_COUNT);
	for (size_t i = 0; i < r->pattern.buffer_count; i++)
		r->beyond_card += r->pattern.buffers[i].index >= r->card_buffers;
	for (size_t i = 0; i < r->pattern.buffer_count; i++)
		r->needs[i] = r->pattern.buffers[i].total;
	if (setup->pattern == NULL) {
		r->needs[0] = r->needs[2] = r->needs[3] = r->tiles_per_shard;
		r->needs[1] = setup->b_tiles;
	}
	for (int name = 0; name < TDM_SIZING_GIVEN && setup->pattern == NULL; name++)
		tdm_sizing_tiles((enum tdm_sizing_name)name, r->tiles_per_shard, setup->b_tiles,
			add_strategy(r, (enum tdm_sizing_name)name)->depths);
	struct tdm_sizing *given = setup->pattern != NULL ? add_strategy(r, TDM_SIZING_GIVEN) : NULL;
	for (size_t i = 0; given != NULL && i < r->pattern.buffer_count; i++)
		given->depths[i] = r->pattern.buffers[i].pages;
	add_advised(r);
	struct tdm_cb_model model;
	tdm_cb_model_init(&model, &r->pattern, setup->speed);
	for (size_t i = 0; i < r->strategy_count; i++) {
		measure(r, &r->strategies[i]);
		tdm_cb_model_run(&model, r->strategies[i].depths, true, &r->strategies[i].model);
	}
	tdm_cb_model_done(&model);
}

void tdm_pressure_done(struct tdm_pressure_result *r)
{
	for (size_t i = 0; i < r->strategy_count; i++)
		tdm_model_result_done(&r->strategies[i].model);
	tdm_cb_advice_done(&r->advice);
	tdm_pattern_done(&r->pattern);
	free(r->needs);
	free(r->depths);
	*r = (struct tdm_pressure_result){ 0 };
}

const struct tdm_sizing *tdm_pressure_sizing(const struct tdm_pressure_result *r, enum tdm_sizing_name name)
{
	for (size_t i = 0; i < r->strategy_count; i++)
		if (r->strategies[i].name == name)
			return &r->strategies[i];
	return NULL;
}

/* ---- findings ---- */

const struct tdm_pressure_result *tdm_pressure_first(
	const struct tdm_pressure_result *results, size_t count, enum tdm_sizing_name name, enum tdm_severity band)
{
	for (size_t i = 0; i < count; i++) {
		const struct tdm_sizing *s = tdm_pressure_sizing(&results[i], name);
		if (s != NULL && tdm_pressure_band(TDM_PRESSURE_SCORE, s->metrics[TDM_PRESSURE_SCORE]) == band)
			return &results[i];
	}
	return NULL;
}

static struct tdm_value percent(double share)
{
	struct tdm_value value = tdm_value_share(share);
	value.decimals = 1;
	return value;
}

static struct tdm_value share_of_best(const struct tdm_pressure_result *r, const struct tdm_sizing *s)
{
	double best = r->advice.best_tiles_per_s;
	return percent(best > 0 ? s->model.tiles_per_s / best : (double)NAN);
}

static void find_score(const struct tdm_pressure_result *r, const struct tdm_sizing *s, enum tdm_severity band,
	bool is_one_of_many, struct tdm_findings *found)
{
	bool is_high = band == TDM_FINDING_BROKEN, is_pattern = r->setup.pattern != NULL;
	struct tdm_value score = tdm_value_real(s->metrics[TDM_PRESSURE_SCORE], TDM_UNIT_NUMBER);
	score.decimals = 1;
	tdm_findings_remark(found, is_high ? TDM_FINDING_WARNING : TDM_FINDING_INFO, "thrashing_risk",
		tdm_sizing_title((enum tdm_sizing_name)s->name));
	found->list[found->count - 1].pattern =
		"thrashing risk {_risk}| from {_from} B tiles on|: score {score} of 100, |its circular buffers take "
		"{_l1} of the usable L1|CB1 holds {_cb1} of {b_tiles} B tiles|; in the model it reaches "
		"{share_of_best} of the best throughput";
	if (!is_pattern) { /* the score of a pattern is merely its share of L1 */
		tdm_findings_figure(found, "a_tiles", TDM_UNIT_COUNT, r->setup.a_tiles);
		tdm_findings_figure(found, "b_tiles", TDM_UNIT_COUNT, r->setup.b_tiles);
		tdm_findings_real(found, "cb1_miss_rate", TDM_UNIT_SHARE, s->metrics[TDM_PRESSURE_MISS]);
		tdm_findings_figure(found, "_cb1", TDM_UNIT_COUNT, s->depths[1]);
	}
	tdm_findings_value(found, "score", score);
	tdm_findings_value(found, "share_of_best", share_of_best(r, s));
	tdm_findings_value(found, "_l1", tdm_value_if(is_pattern, percent(s->metrics[TDM_PRESSURE_L1])));
	tdm_findings_word(found, "_risk", is_high ? "HIGH" : "MEDIUM");
	tdm_findings_value(found, "_from", tdm_value_if(is_one_of_many, tdm_value_count(r->setup.b_tiles)));
}

/* Reports strategies that cannot work. */
static void find_errors(const struct tdm_pressure_result *r, struct tdm_findings *found)
{
	if (r->beyond_card != 0) {
		size_t first = 0;
		while (r->pattern.buffers[first].index < r->card_buffers)
			first++;
		tdm_findings_remark(found, TDM_FINDING_BROKEN, "not_on_card", tdm_sizing_title(TDM_SIZING_GIVEN));
		found->list[found->count - 1].pattern =
			"buffer {first_index}| and {_more} more of its {_all}|: {_card} has buffers 0 to {_last}; the "
			"model runs them all the same";
		tdm_findings_figure(found, "first_index", TDM_UNIT_NONE, r->pattern.buffers[first].index);
		tdm_findings_figure(found, "buffers", TDM_UNIT_COUNT, r->beyond_card);
		tdm_findings_value(
			found, "_more", tdm_value_if(r->beyond_card > 1, tdm_value_count(r->beyond_card - 1)));
		tdm_findings_figure(found, "_all", TDM_UNIT_COUNT, r->pattern.buffer_count);
		tdm_findings_word(found, "_card", r->setup.card->full_name);
		tdm_findings_figure(found, "_last", TDM_UNIT_COUNT, r->card_buffers - 1);
	}
	for (size_t i = 0; i < r->strategy_count; i++) {
		const struct tdm_sizing *s = &r->strategies[i];
		const char *title = tdm_sizing_title((enum tdm_sizing_name)s->name);
		if (s->model.is_deadlocked) {
			tdm_findings_remark(found, TDM_FINDING_BROKEN, "deadlock", title);
			tdm_findings_say(found, "deadlock: %s", s->model.deadlock);
		}
		if (s->fits)
			continue;
		tdm_findings_remark(found, TDM_FINDING_BROKEN, "does_not_fit", title);
		found->list[found->count - 1].pattern = "does not fit: its circular buffers take {bytes_per_core} of "
							"each core, and {l1_left_bytes} are left";
		tdm_findings_figure(found, "bytes_per_core", TDM_UNIT_BYTES, s->bytes);
		tdm_findings_figure(found, "l1_left_bytes", TDM_UNIT_BYTES, r->l1_left);
	}
}

void tdm_pressure_find(const struct tdm_pressure_result *results, size_t count, struct tdm_findings *errors,
	struct tdm_findings *remarks)
{
	for (size_t i = 0; i < count; i++)
		find_errors(&results[i], errors);
	for (int name = 0; name < TDM_SIZING_ADVISED; name++) {
		enum tdm_severity band = TDM_FINDING_BROKEN;
		const struct tdm_pressure_result *r =
			tdm_pressure_first(results, count, (enum tdm_sizing_name)name, band);
		if (r == NULL)
			r = tdm_pressure_first(results, count, (enum tdm_sizing_name)name, band = TDM_FINDING_WARNING);
		if (r != NULL)
			find_score(r, tdm_pressure_sizing(r, (enum tdm_sizing_name)name), band, count > 1, remarks);
	}
	const struct tdm_sizing *s = count == 1 ? tdm_pressure_sizing(&results[0], TDM_SIZING_ADVISED) : NULL;
	if (s == NULL)
		return;
	tdm_findings_remark(remarks, TDM_FINDING_INFO, "advised", tdm_sizing_title(TDM_SIZING_ADVISED));
	remarks->list[remarks->count - 1].pattern =
		"{bytes_per_core} of circular buffers |reach {share_of_best} of the "
		"best throughput in the model|{_limited}, which is the best that fits";
	tdm_findings_figure(remarks, "bytes_per_core", TDM_UNIT_BYTES, s->bytes);
	tdm_findings_value(remarks, "share_of_best", share_of_best(&results[0], s));
	tdm_findings_flag(remarks, "_limited", results[0].advice.is_limited);
}

/* ---- the report: everything shown together ---- */

void tdm_pressure_run(struct tdm_pressure_report *report)
{
	static const uint64_t usual[] = { 4, 8, 16, 20, 32, 64 };
	struct tdm_progress progress;
	if (report->is_multi && report->size_count == 0)
		for (size_t i = 0; i < sizeof usual / sizeof *usual; i++, report->size_count++)
			report->sizes[i][0] = report->sizes[i][1] = usual[i];
	report->count = report->setup.pattern != NULL ? 1 : report->size_count;
	report->results = tdm_zalloc(report->count, sizeof *report->results);
	for (size_t i = 0; i < report->count; i++) {
		struct tdm_pressure_result *r = &report->results[i];
		struct tdm_pressure_setup setup = report->setup;
		setup.a_tiles = report->sizes[i][0];
		setup.b_tiles = report->sizes[i][1];
		setup.progress = &progress;
		tdm_progress_begin(&progress, "searching depths", TDM_ADVICE_WORK);
		tdm_pressure_analyze(&setup, r);
		tdm_progress_end(&progress);
		bool is_advised = tdm_pressure_sizing(r, TDM_SIZING_ADVISED) != NULL;
		for (size_t k = 0; k < r->strategy_count + !is_advised; k++) {
			const struct tdm_sizing *s = k < r->strategy_count ? &r->strategies[k] : NULL;
			const char *title =
				tdm_sizing_title(s != NULL ? (enum tdm_sizing_name)s->name : TDM_SIZING_ADVISED);
			char name[128];
			if (setup.pattern != NULL)
				snprintf(name, sizeof name, "%s %s", r->pattern.name, title);
			else
				snprintf(name, sizeof name, "%" PRIu64 " %" PRIu64 " %s", setup.a_tiles, setup.b_tiles,
					title);
			tdm_budgets_add(&report->budgets, tdm_str_of(name), s != NULL ? s->bytes : TDM_BYTES_UNKNOWN);
		}
	}
	tdm_pressure_find(
		report->results, report->count, report->is_multi ? &report->remarks : &report->found, &report->remarks);
}

void tdm_pressure_report_done(struct tdm_pressure_report *report)
{
	for (size_t i = 0; i < report->count; i++)
		tdm_pressure_done(&report->results[i]);
	free(report->results);
	tdm_findings_done(&report->found);
	tdm_findings_done(&report->remarks);
	tdm_budgets_done(&report->budgets);
}

/* ---- the model fitted to a measurement ---- */

enum { ROUNDS = 5, STEPS = 6, NARROWER = 4 };

/* Factors are searched on a logarithmic scale, from 1 / factor_max to factor_max. */
static const double factor_max = 16;

const struct tdm_perf_operation *tdm_model_fit_operation(const struct tdm_perf_waits *waits, const char *name)
{
	for (size_t i = 0; i < waits->operation_count; i++) {
		const struct tdm_perf_operation *op = &waits->operations[i];
		if (op->measured != 0 && op->kernel_ns != 0 && (name == NULL || strcmp(op->name, name) == 0))
			return op;
	}
	return NULL;
}

static void scale(const struct tdm_core_speed *base, double transfers, double math, struct tdm_core_speed *speed)
{
	static const uint8_t moves[] = { TDM_SPEED_DRAM_READ_FIXED, TDM_SPEED_DRAM_WRITE_FIXED, TDM_SPEED_L1_READ_FIXED,
		TDM_SPEED_L1_WRITE_FIXED };
	static const uint8_t computes[] = { TDM_SPEED_MATH_ROUND, TDM_SPEED_FPU_ADD, TDM_SPEED_FPU_MUL,
		TDM_SPEED_MATMUL, TDM_SPEED_REDUCE, TDM_SPEED_SFPU };
	*speed = *base;
	for (size_t i = 0; i < sizeof moves; i++) { /* fixed, per KiB, bandwidth, issue */
		double *of = &speed->value[moves[i]];
		of[0] *= transfers;
		of[1] *= transfers;
		of[2] /= transfers;
		of[3] *= transfers;
		memset(&speed->tag[moves[i]], TDM_SPEED_FITTED, 4);
	}
	speed->value[TDM_SPEED_COPY_BANDWIDTH] /= transfers;
	speed->tag[TDM_SPEED_COPY_BANDWIDTH] = TDM_SPEED_FITTED;
	for (size_t i = 0; i < sizeof computes; i++) {
		speed->value[computes[i]] *= math;
		speed->tag[computes[i]] = TDM_SPEED_FITTED;
	}
}

/* Computes the model's three figures. As in the profiler, only waits of compute kernels count. 0, or -EDEADLK. */
static int predict(const struct tdm_cb_pattern *p, const struct tdm_core_speed *base, double transfers, double math,
	double ns[TDM_FIT_FIGURES])
{
	struct tdm_core_speed speed;
	struct tdm_cb_model model;
	struct tdm_model_result result = { 0 };
	scale(base, transfers, math, &speed);
	tdm_cb_model_init(&model, p, &speed);
	tdm_cb_model_run(&model, NULL, false, &result);
	tdm_cb_model_done(&model);
	ns[TDM_FIT_KERNEL] = result.ns;
	ns[TDM_FIT_FRONT] = ns[TDM_FIT_BACK] = 0;
	for (size_t i = 0; i < p->kernel_count; i++) {
		if (p->stages[p->kernels[i].first].work != TDM_STAGE_COMPUTE)
			continue;
		ns[TDM_FIT_FRONT] += result.kernels[i].pages_ns;
		ns[TDM_FIT_BACK] += result.kernels[i].room_ns;
	}
	int err = result.is_deadlocked ? -EDEADLK : 0;
	tdm_model_result_done(&result);
	return err;
}

static double error_of(const struct tdm_model_fit *fit, const double ns[TDM_FIT_FIGURES])
{
	double sum = 0;
	for (int i = 0; i < TDM_FIT_FIGURES; i++)
		sum += fabs(ns[i] - fit->measured_ns[i]);
	return sum / TDM_FIT_FIGURES / fit->measured_ns[TDM_FIT_KERNEL];
}

int tdm_model_fit(const struct tdm_cb_pattern *pattern, const struct tdm_perf_operation *op,
	struct tdm_core_speed *speed, struct tdm_model_fit *fit)
{
	const struct tdm_core_speed base = *speed;
	double calls = (double)op->measured, width = log(factor_max);
	*fit = (struct tdm_model_fit){ .operation = op->name,
		.calls = op->measured,
		.unmeasured = op->calls - op->measured,
		.measured_ns = { (double)op->kernel_ns / calls, (double)op->front_ns / calls,
			(double)op->back_ns / calls },
		.transfers = 1,
		.math = 1 };
	int err = predict(pattern, &base, 1, 1, fit->before_ns);
	memcpy(fit->after_ns, fit->before_ns, sizeof fit->after_ns);
	fit->error = fit->error_before = error_of(fit, fit->before_ns);
	/* Tries both factors in equal steps, on a logarithmic scale, up to `width` around the best factors so far. */
	for (int round = 0; round < ROUNDS && err == 0; round++, width /= NARROWER) {
		const double transfers = fit->transfers, math = fit->math;
		for (int i = 0; i < (2 * STEPS + 1) * (2 * STEPS + 1) && err == 0; i++) {
			double now[TDM_FIT_FIGURES];
			double x = transfers * exp(width * (i / (2 * STEPS + 1) - STEPS) / STEPS);
			double y = math * exp(width * (i % (2 * STEPS + 1) - STEPS) / STEPS);
			err = predict(pattern, &base, x, y, now);
			if (err != 0 || !(error_of(fit, now) < fit->error))
				continue;
			fit->error = error_of(fit, now);
			fit->transfers = x;
			fit->math = y;
			memcpy(fit->after_ns, now, sizeof now);
		}
	}
	if (err == 0)
		scale(&base, fit->transfers, fit->math, speed);
	return err;
}
