/* Pressure: the figures that the guide fixes, both adaptive rules, that every figure is monotone, and the fit to
 * measured waits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/pressure/pressure.h"
#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct world {
	struct tdm_card card;
	struct tdm_core_speed speed;
	struct tdm_pressure_result *result;
};

static int setup(void **state)
{
	static struct world w;
	assert_int_equal(tdm_card_init(&w.card, tdm_str_of("n150"), NULL, NULL), 0);
	tdm_core_speed_init(&w.speed, w.card.arch);
	w.result = calloc(1, sizeof *w.result);
	assert_non_null(w.result);
	*state = &w;
	return 0;
}

static int teardown(void **state)
{
	tdm_pressure_done(((struct world *)*state)->result);
	free(((struct world *)*state)->result);
	return 0;
}

static void analyze(struct world *w, uint64_t a, uint64_t b)
{
	const struct tdm_pressure_setup s = { .a_tiles = a,
		.b_tiles = b,
		.mesh_rows = 1,
		.mesh_columns = 2,
		.tile_bytes = 4096,
		.card = &w->card,
		.speed = &w->speed };
	tdm_pressure_done(w->result);
	tdm_pressure_analyze(&s, w->result);
}

static double metric(const struct world *w, enum tdm_sizing_name name, enum tdm_pressure which)
{
	return tdm_pressure_sizing(w->result, name)->metrics[which];
}

static void the_guide_is_met(void **state)
{
	struct world *w = *state;
	analyze(w, 16, 16);
	assert_int_equal(w->result->strategy_count, 4);
	assert_true(metric(w, TDM_SIZING_CONSTANT, TDM_PRESSURE_MISS) == 0.75);
	assert_true(metric(w, TDM_SIZING_ADAPTIVE_GUIDE, TDM_PRESSURE_MISS) == 0.625);
	assert_true(metric(w, TDM_SIZING_ADAPTIVE_PROGRAM, TDM_PRESSURE_MISS) == 0.75);
	assert_int_equal(tdm_pressure_sizing(w->result, TDM_SIZING_CONSTANT)->bytes, 65536);
	assert_int_equal(tdm_pressure_sizing(w->result, TDM_SIZING_ADAPTIVE_GUIDE)->bytes, 65536);
	assert_int_equal(tdm_pressure_sizing(w->result, TDM_SIZING_ADAPTIVE_PROGRAM)->bytes, 49152);
	assert_int_equal(w->result->tiles_per_shard, 8);
	assert_string_equal(w->result->workload, "medium");
	analyze(w, 8, 8);
	assert_true(metric(w, TDM_SIZING_CONSTANT, TDM_PRESSURE_MISS) == 0.5);
	assert_string_equal(w->result->workload, "small");
	analyze(w, 32, 17);
	assert_string_equal(w->result->workload, "large");
	analyze(w, 1, 33);
	assert_string_equal(w->result->workload, "very large");
}

static void both_adaptive_rules_are_exact(void **state)
{
	(void)state;
	for (uint64_t n = 1; n <= 64; n++) {
		uint32_t guide[4], program[4];
		uint64_t shard = (n + 1) / 2;
		tdm_sizing_tiles(TDM_SIZING_ADAPTIVE_GUIDE, shard, n, guide);
		tdm_sizing_tiles(TDM_SIZING_ADAPTIVE_PROGRAM, shard, n, program);
		bool is_large = n > 16;
		assert_int_equal(guide[0], is_large ? 2 : tdm_min(6, shard + 2));
		assert_int_equal(guide[1], is_large ? 2 : tdm_min(6, n));
		/* From 5 to 16 tiles 4 and 4, above that 2 and 2; before that 3,1 3,2 4,3 4,4. */
		static const uint32_t small[5][2] = { { 0, 0 }, { 3, 1 }, { 3, 2 }, { 4, 3 }, { 4, 4 } };
		assert_int_equal(program[0], is_large ? 2 : n <= 4 ? small[n][0] : 4);
		assert_int_equal(program[1], is_large ? 2 : n <= 4 ? small[n][1] : 4);
		assert_true(guide[2] == 2 && guide[3] == 2 && program[2] == 2 && program[3] == 2);
	}
}

/* More B tiles never lower the pressure of the same sizes, larger buffers never raise it. */
static void figures_are_monotone(void **state)
{
	(void)state;
	for (uint64_t b = 1; b <= 80; b++)
		for (uint64_t cb1 = 1; cb1 <= 80; cb1++) {
			double miss = tdm_pressure_miss(b, cb1);
			assert_true(miss >= 0 && miss < 1 && (miss == 0) == (cb1 >= b));
			assert_true(tdm_pressure_miss(b + 1, cb1) >= miss && tdm_pressure_miss(b, cb1 + 1) <= miss);
		}
	for (int m = 0; m <= 20; m++)
		for (int l = 0; l <= 24; l++) {
			double score = tdm_pressure_score(m / 20.0, (double)NAN, l / 20.0);
			assert_true(score >= 0 && score <= 100);
			assert_true(tdm_pressure_score((m + 1) / 20.0, (double)NAN, l / 20.0) >= score);
			assert_true(tdm_pressure_score(m / 20.0, (double)NAN, (l + 1) / 20.0) >= score);
		}
	assert_true(isnan(tdm_pressure_score((double)NAN, (double)NAN, (double)NAN)));
}

/* The limits belong to MEDIUM, also where the value is a mean that cannot be exact. */
static void limits_belong_to_the_band_in_the_middle(void **state)
{
	(void)state;
	static const struct {
		enum tdm_pressure which;
		double low, high; /* pressure */
	} limits[] = { { TDM_PRESSURE_MISS, 0.25, 0.75 }, { TDM_PRESSURE_SCORE, 30, 70 },
		{ TDM_PRESSURE_UTILIZATION, 0.8, 0.4 } };
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		double low = limits[i].low, high = limits[i].high, less = (high - low) / 1000;
		assert_int_equal(tdm_pressure_band(limits[i].which, low), TDM_FINDING_WARNING);
		assert_int_equal(tdm_pressure_band(limits[i].which, high), TDM_FINDING_WARNING);
		assert_int_equal(tdm_pressure_band(limits[i].which, low - less), TDM_FINDING_OK);
		assert_int_equal(tdm_pressure_band(limits[i].which, high + less), TDM_FINDING_BROKEN);
		for (int n = 1; n <= 64; n++) {
			double lows = 0, highs = 0;
			for (int k = 0; k < n; k++) {
				lows += low;
				highs += high;
			}
			assert_int_equal(tdm_pressure_band(limits[i].which, lows / n), TDM_FINDING_WARNING);
			assert_int_equal(tdm_pressure_band(limits[i].which, highs / n), TDM_FINDING_WARNING);
		}
	}
}

static void the_whole_analysis_is_monotone_in_the_workload(void **state)
{
	struct world *w = *state;
	double miss = 0, score = 0, used = 0;
	for (uint64_t n = 1; n <= 40; n++) {
		analyze(w, n, n);
		const struct tdm_sizing *s = tdm_pressure_sizing(w->result, TDM_SIZING_CONSTANT);
		assert_true(s->metrics[TDM_PRESSURE_MISS] >= miss && s->metrics[TDM_PRESSURE_SCORE] >= score);
		assert_true(s->metrics[TDM_PRESSURE_UTILIZATION] >= used);
		assert_true(s->memory_efficiency > 0 && s->memory_efficiency <= 1);
		assert_true(s->fits && !s->model.is_deadlocked && s->map_share > s->metrics[TDM_PRESSURE_L1] * 0.9);
		miss = s->metrics[TDM_PRESSURE_MISS];
		score = s->metrics[TDM_PRESSURE_SCORE];
		used = s->metrics[TDM_PRESSURE_UTILIZATION];
		const struct tdm_sizing *advised = tdm_pressure_sizing(w->result, TDM_SIZING_ADVISED);
		assert_non_null(advised);
		for (size_t i = 0; i < w->result->strategy_count; i++)
			assert_true(w->result->strategies[i].model.tiles_per_s * TDM_ADVICE_GOAL <=
				    advised->model.tiles_per_s * (1 + 1e-9));
	}
}

static void little_l1_is_said(void **state)
{
	struct world *w = *state;
	struct tdm_pressure_setup s = { .a_tiles = 16,
		.b_tiles = 16,
		.mesh_rows = 1,
		.mesh_columns = 2,
		.tile_bytes = 4096,
		.card = &w->card,
		.speed = &w->speed };
	analyze(w, 16, 16);
	s.l1_used = w->result->l1_usable - 50000;
	tdm_pressure_done(w->result);
	tdm_pressure_analyze(&s, w->result);
	assert_int_equal(w->result->l1_left, 50000);
	assert_false(tdm_pressure_sizing(w->result, TDM_SIZING_CONSTANT)->fits);
	assert_true(tdm_pressure_sizing(w->result, TDM_SIZING_ADAPTIVE_PROGRAM)->fits);
	assert_true(tdm_pressure_sizing(w->result, TDM_SIZING_ADVISED)->fits);
	s.l1_used = UINT64_MAX - 1;
	tdm_pressure_done(w->result);
	tdm_pressure_analyze(&s, w->result);
	assert_true(w->result->l1_left == 0 && w->result->advice.is_too_large && w->result->strategy_count == 3);
}

/* The model is fitted to a run of its own with other constants, and finds them. */
static void a_fit_finds_the_factors(void **state)
{
	struct world *w = *state;
	static const char text[] =
		"tiles 128\nformat bf16\nbuffer 0 pages=8\nbuffer 16 pages=8\nkernel reader read push=0:4\n"
		"kernel compute compute op=relu pop=0 push=16\nkernel writer write pop=16:4\n";
	struct tdm_cb_pattern p;
	struct tdm_core_speed speed = w->speed, fitted = w->speed;
	struct tdm_cb_model model;
	struct tdm_model_result result = { 0 };
	struct tdm_model_fit fit;
	char name[] = "relu";
	assert_int_equal(tdm_pattern_parse(tdm_str_of(text), &p, &speed, NULL), 0);
	speed.value[TDM_SPEED_MATH_ROUND] *= 2.5;
	speed.value[TDM_SPEED_SFPU] *= 2.5;
	tdm_cb_model_init(&model, &p, &speed);
	tdm_cb_model_run(&model, NULL, false, &result);
	tdm_cb_model_done(&model);
	double front = result.kernels[1].pages_ns, back = result.kernels[1].room_ns; /* of the computation */
	struct tdm_perf_operation op = { .name = name,
		.calls = 2,
		.measured = 2,
		.kernel_ns = (uint64_t)(2 * result.ns),
		.front_ns = (uint64_t)(2 * front),
		.back_ns = (uint64_t)(2 * back) };
	assert_int_equal(tdm_model_fit(&p, &op, &fitted, &fit), 0);
	assert_true(fit.error < 0.02 && fit.error < fit.error_before / 5);
	assert_true(fabs(fit.math / 2.5 - 1) < 0.1);
	assert_true(fitted.tag[TDM_SPEED_MATH_ROUND] == TDM_SPEED_FITTED);
	struct tdm_perf_waits waits = { .operations = &op, .operation_count = 1 };
	assert_ptr_equal(tdm_model_fit_operation(&waits, NULL), &op);
	assert_ptr_equal(tdm_model_fit_operation(&waits, "relu"), &op);
	assert_null(tdm_model_fit_operation(&waits, "matmul"));
	op.kernel_ns = 0;
	assert_null(tdm_model_fit_operation(&waits, NULL));
	op.kernel_ns = 1000;
	op.measured = 0;
	assert_null(tdm_model_fit_operation(&waits, NULL));
	op.measured = 1;
	p.buffers[0].pages = 2; /* less than a block */
	assert_int_equal(tdm_model_fit(&p, &op, &fitted, &fit), -EDEADLK);
	tdm_model_result_done(&result);
	tdm_pattern_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_guide_is_met),
		cmocka_unit_test(both_adaptive_rules_are_exact),
		cmocka_unit_test(figures_are_monotone),
		cmocka_unit_test(limits_belong_to_the_band_in_the_middle),
		cmocka_unit_test(the_whole_analysis_is_monotone_in_the_workload),
		cmocka_unit_test(little_l1_is_said),
		cmocka_unit_test(a_fit_finds_the_factors),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
