/*
 * The model of circular buffers against measurements: reports of tt-metal's example operations double_buffer
 * (c707185) and trid_double_issue (57d748a), in ns per tile and in GB/s.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/pressure/cb_model.h"
#include "base/buf.h"

#include <math.h>
#include <stdio.h>

enum { A_BLOCKS = 6, A_DEPTHS = 2, A_CELLS = A_BLOCKS * A_DEPTHS, B_WAYS = 7, B_CELLS = 2 * B_WAYS };

static void parse(const char *text, enum tdm_arch arch, struct tdm_cb_pattern *p, struct tdm_core_speed *speed)
{
	struct tdm_diag diag = { 0 };
	tdm_core_speed_init(speed, arch);
	if (tdm_pattern_parse(tdm_str_of(text), p, speed, &diag) != 0)
		fail_msg("line %llu: %s", (unsigned long long)diag.line, diag.text);
}

static void run_text(const char *text, enum tdm_arch arch, struct tdm_model_result *result)
{
	struct tdm_cb_pattern p;
	struct tdm_core_speed speed;
	struct tdm_cb_model model;
	parse(text, arch, &p, &speed);
	tdm_cb_model_init(&model, &p, &speed);
	tdm_cb_model_run(&model, NULL, true, result);
	tdm_cb_model_done(&model);
	tdm_pattern_done(&p);
}

/* Wormhole, relu tile by tile, one barrier per block. */
static double relu_ns(unsigned block, unsigned depth, const char *format)
{
	char text[512];
	struct tdm_model_result result = { 0 };
	snprintf(text, sizeof text,
		"tiles 256\nformat %s\nbuffer 0 pages=%u\nbuffer 16 pages=%u\nkernel reader read push=0:%u\n"
		"kernel compute compute op=relu pop=0 push=16\nkernel writer write pop=16:%u\n",
		format, block * depth, block * depth, block, block);
	run_text(text, TDM_ARCH_WORMHOLE, &result);
	assert_false(result.is_deadlocked);
	double ns = result.ns / 256;
	tdm_model_result_done(&result);
	return ns;
}

/* Blackhole, a copy without computation through six blocks; ways 0 to 3 read so many blocks ahead, and one more, of
 * one barrier; 4 to 6 have 2 to 4 ids. */
static double copy_gbs(unsigned block, unsigned way, const char *format)
{
	char text[512], how[32];
	struct tdm_model_result result = { 0 };
	snprintf(how, sizeof how, way < 4 ? "ahead=%u" : "ids=%u", way < 4 ? way + 1 : way - 2);
	snprintf(text, sizeof text,
		"tiles 256\nformat %s\nbuffer 0 pages=%u\nkernel reader read push=0:%u %s\n"
		"kernel writer write flush pop=0:%u\n",
		format, block * 6, block, how, block);
	run_text(text, TDM_ARCH_BLACKHOLE, &result);
	assert_false(result.is_deadlocked);
	double rate = result.bytes_per_s / 1e9;
	tdm_model_result_done(&result);
	return rate;
}

static const double table_a[A_CELLS] = { 634, 513, 433, 318, 366, 229, 331, 231, 318, 235, 316, 243 };
static const double table_b[B_CELLS] = { 10.1, 17.6, 24.2, 23.5, 19.2, 29.0, 37.3, 76.9, 93.2, 97.8, 77.3, 108.8, 104.2,
	100.1 };

/* Every pair of cells is in the measured order; equal cells have none. */
static void check_order(const double *measured, const double *model, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			if (measured[i] != measured[k] && (measured[i] < measured[k]) != (model[i] < model[k]))
				fail_msg("cells %zu and %zu: measured %g and %g, model %g and %g", i, k, measured[i],
					measured[k], model[i], model[k]);
}

static double mean_error(const double *measured, const double *model, size_t count)
{
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += fabs(model[i] / measured[i] - 1);
	return sum / (double)count;
}

static void table_a_is_met(void **state)
{
	(void)state;
	double model[A_CELLS];
	for (unsigned i = 0; i < A_CELLS; i++)
		model[i] = relu_ns(1U << i / 2, 1 + i % 2, "bf16");
	double error = mean_error(table_a, model, A_CELLS);
	print_message("table A: mean error %.2f %%\n", 100 * error);
	assert_true(error < 0.03); /* the goal is 10 % */
	check_order(table_a, model, A_CELLS);
}

static void table_b_is_met(void **state)
{
	(void)state;
	double model[B_CELLS];
	for (unsigned i = 0; i < B_CELLS; i++)
		model[i] = copy_gbs(i < B_WAYS ? 1 : 16, i % B_WAYS, "bf16");
	double error = mean_error(table_b, model, B_CELLS);
	print_message("table B: mean error %.2f %%\n", 100 * error);
	assert_true(error < 0.05);
	check_order(table_b, model, B_CELLS);
}

/* Nothing is fitted to these. */
static void other_formats_and_blocks_are_predicted(void **state)
{
	(void)state;
	static const struct {
		unsigned block, depth;
		const char *format;
		double us;
	} cells[] = { { 1, 1, "bfp8", 141.7 }, { 1, 2, "bfp8", 121.9 }, { 4, 1, "bfp8", 85.1 }, { 4, 2, "bfp8", 56.9 },
		{ 8, 2, "bfp8", 57.2 }, { 32, 1, "bfp8", 70.5 }, { 32, 2, "bfp8", 59.2 }, { 1, 1, "fp32", 190.2 },
		{ 1, 2, "fp32", 162.5 }, { 4, 1, "fp32", 118.1 }, { 4, 2, "fp32", 82.7 }, { 8, 1, "fp32", 110.8 },
		{ 8, 2, "fp32", 66.2 }, { 16, 2, "fp32", 68.4 }, { 32, 2, "fp32", 72.7 } };
	static const double blocks[3][B_WAYS] = { { 17.9, 30.2, 39.4, 35.6, 34.9, 51.7, 64.3 },
		{ 32.7, 49.2, 62.2, 53.9, 62.1, 84.9, 84.5 }, { 52.1, 73.6, 85.1, 68.4, 97.2, 99.4, 97.5 } };
	double measured[3 * B_WAYS], model[3 * B_WAYS];
	for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
		measured[i] = cells[i].us;
		model[i] = relu_ns(cells[i].block, cells[i].depth, cells[i].format) * 256 / 1e3;
	}
	double formats = mean_error(measured, model, sizeof cells / sizeof *cells);
	for (unsigned i = 0; i < 3 * B_WAYS; i++) {
		measured[i] = blocks[i / B_WAYS][i % B_WAYS];
		model[i] = copy_gbs(2U << i / B_WAYS, i % B_WAYS, "bf16");
	}
	double others = mean_error(measured, model, 3 * B_WAYS);
	print_message("other formats: mean error %.2f %%, other blocks %.2f %%\n", 100 * formats, 100 * others);
	assert_true(formats < 0.06 && others < 0.06);
}

static void only_two_constants_are_fitted(void **state)
{
	(void)state;
	static const enum tdm_arch archs[] = { TDM_ARCH_GRAYSKULL, TDM_ARCH_WORMHOLE, TDM_ARCH_BLACKHOLE,
		TDM_ARCH_QUASAR };
	for (size_t a = 0; a < 4; a++) {
		struct tdm_core_speed speed;
		size_t fitted = 0;
		tdm_core_speed_init(&speed, archs[a]);
		for (int i = 0; i < TDM_SPEED_COUNT; i++) {
			assert_true(speed.value[i] > 0 && speed.source[i] != NULL && speed.source[i][0] != '\0');
			fitted += speed.tag[i] == TDM_SPEED_FITTED;
		}
		assert_int_equal(fitted, archs[a] == TDM_ARCH_WORMHOLE ? 2 : 0);
	}
}

static void constants_can_be_set(void **state)
{
	(void)state;
	struct tdm_core_speed speed;
	struct tdm_diag diag = { 0 };
	tdm_core_speed_init(&speed, TDM_ARCH_WORMHOLE);
	assert_int_equal(tdm_core_speed_set(&speed, tdm_str_of(" call = 20.5"), &diag), 0);
	assert_true(speed.value[TDM_SPEED_CALL] == 20.5 && speed.tag[TDM_SPEED_CALL] == TDM_SPEED_GIVEN);
	static const char *const wrong[] = { "", "call", "call=", "call=x", "call=0x10", "call=nan", "call=-1",
		"call=1e99", "clock=0", "dram_total=0", "cal=1" };
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct tdm_core_speed before = speed;
		diag = (struct tdm_diag){ 0 };
		assert_true(tdm_core_speed_set(&speed, tdm_str_of(wrong[i]), &diag) < 0);
		assert_true(diag.text[0] != '\0' && memcmp(&before, &speed, sizeof speed) == 0);
	}
	assert_non_null(strstr(diag.text, "did you mean call"));
}

/* 64 cores share the DRAM: about 190 GB/s, whatever the depth. */
static void many_cores_are_bound_by_dram(void **state)
{
	(void)state;
	static const char *const depths[] = { "1", "8" };
	for (size_t i = 0; i < 2; i++) {
		char text[512];
		struct tdm_model_result result = { 0 };
		snprintf(text, sizeof text,
			"tiles 64\ncores 64\nformat bf16\nbuffer 0 pages=%s\nbuffer 16 pages=%s\nkernel r read push=0\n"
			"kernel c compute op=relu pop=0 push=16\nkernel w write pop=16\n",
			depths[i], depths[i]);
		run_text(text, TDM_ARCH_WORMHOLE, &result);
		assert_true(fabs(result.bytes_per_s * 64 / 1e9 / 190 - 1) < 0.15);
		tdm_model_result_done(&result);
	}
}

static void deadlocks_name_their_cycle(void **state)
{
	(void)state;
	struct tdm_model_result result = { 0 };
	/* The reader fills buffer 0 by eight before it fills buffer 1; the computation needs both. */
	run_text("tiles 16\nbuffer 0 pages=4\nbuffer 1 pages=4\nbuffer 16 pages=2\nkernel reader read push=0 times=8\n"
		 "kernel reader read push=1 times=8\nkernel compute compute pop=0,1 push=16\n"
		 "kernel writer write pop=16\n",
		TDM_ARCH_WORMHOLE, &result);
	assert_true(result.is_deadlocked && result.tiles_per_s == 0);
	assert_string_equal(result.deadlock, "compute waits for pages of buffer 1, which reader pushes; "
					     "reader waits for room in buffer 0, which compute pops");
	run_text("tiles 16\nbuffer 0 pages=4\nkernel reader read push=0:8\nkernel writer write pop=0:8\n",
		TDM_ARCH_WORMHOLE, &result);
	assert_true(result.is_deadlocked);
	assert_string_equal(result.deadlock, "reader waits for 8 free pages of buffer 0, which has only 4");
	tdm_model_result_done(&result);
}

/* A ring of kernels: the text says what fits, and how many more there are. */
static void long_cycles_are_cut(void **state)
{
	(void)state;
	enum { KERNELS = 40 };
	struct tdm_model_result result = { 0 };
	struct tdm_buf text = { 0 };
	tdm_buf_puts(&text, "tiles 8\n");
	for (unsigned i = 0; i < KERNELS; i++)
		tdm_buf_printf(&text, "buffer %u pages=2\n", i);
	for (unsigned i = 0; i < KERNELS; i++)
		tdm_buf_printf(&text, "kernel k%u compute pop=%u push=%u\n", i, i, (i + 1) % KERNELS);
	run_text(tdm_buf_str(&text).ptr, TDM_ARCH_WORMHOLE, &result);
	tdm_buf_done(&text);
	assert_true(result.is_deadlocked);
	assert_non_null(strstr(result.deadlock, "waits for pages of buffer"));
	const char *rest = strstr(result.deadlock, "; and ");
	assert_non_null(rest);
	assert_string_equal(rest, "; and 32 more that wait for one another");
	tdm_model_result_done(&result);
}

static void the_last_round_may_be_smaller(void **state)
{
	(void)state;
	struct tdm_model_result result = { 0 };
	for (unsigned tiles = 1; tiles <= 20; tiles++) {
		char text[512];
		snprintf(text, sizeof text,
			"tiles %u\nbuffer 0 pages=12\nbuffer 16 pages=8\nkernel r read push=0:4 ids=2\n"
			"kernel c compute pop=0 push=16\nkernel w write pop=16:4\n",
			tiles);
		run_text(text, TDM_ARCH_BLACKHOLE, &result);
		assert_false(result.is_deadlocked);
		assert_true(result.buffers[0].pushed == tiles && result.buffers[1].pushed == tiles);
		snprintf(text, sizeof text,
			"tiles %u\nbuffer 0 pages=12\nbuffer 16 pages=8\nkernel r read push=0:4 ahead=3\n"
			"kernel c compute pop=0:2 push=16:2\nkernel w write pop=16:4 flush\n",
			tiles);
		run_text(text, TDM_ARCH_BLACKHOLE, &result);
		assert_true(!result.is_deadlocked && result.buffers[1].pushed == tiles);
	}
	tdm_model_result_done(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_a_is_met),
		cmocka_unit_test(table_b_is_met),
		cmocka_unit_test(other_formats_and_blocks_are_predicted),
		cmocka_unit_test(only_two_constants_are_fitted),
		cmocka_unit_test(constants_can_be_set),
		cmocka_unit_test(many_cores_are_bound_by_dram),
		cmocka_unit_test(deadlocks_name_their_cycle),
		cmocka_unit_test(long_cycles_are_cut),
		cmocka_unit_test(the_last_round_may_be_smaller),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
