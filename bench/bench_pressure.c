/*
 * The model of circular buffers: one million tiles through three kernels, with statistics, and the advice for a pattern
 * of eight buffers, each against a limit.
 */
#include "bench.h"

#include "analyze/pressure/cb_advice.h"
#include "base/clock.h"
#include "base/number.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 3, TILES = 1000000 };
static const double million_limit_ms = 1000, advice_limit_ms = 2000;

static const char relu[] =
	"tiles 1000000\nformat bf16\nbuffer 0 pages=8\nbuffer 16 pages=8\nkernel reader read push=0:4\n"
	"kernel compute compute op=relu pop=0 push=16\nkernel writer write pop=16:4\n";

/* Three inputs with blocks of different sizes, three results in between, two outputs. */
static const char eight[] =
	"tiles 1000000\nformat bf16\nbuffer 0 pages=8\nbuffer 1 pages=8\nbuffer 2 pages=8\nbuffer 3 pages=8\n"
	"buffer 4 pages=8\nbuffer 5 pages=8\nbuffer 16 pages=8\nbuffer 17 pages=8\n"
	"kernel first read push=0:4\nkernel second read l1 push=1:2,2:2\n"
	"kernel mul compute op=mul factor=4 pop=0,1 push=3\nkernel add compute op=add pop=2,3 push=4,5\n"
	"kernel sfpu compute op=sfpu factor=8 pop=4 push=16\nkernel copy compute op=copy pop=5 push=17\n"
	"kernel out write pop=16:4\nkernel rest write flush pop=17:2\n";

static void parse(const char *text, struct tdm_cb_pattern *pattern, struct tdm_core_speed *speed)
{
	struct tdm_diag diag = { 0 };
	tdm_core_speed_init(speed, TDM_ARCH_WORMHOLE);
	if (tdm_pattern_parse(tdm_str_of(text), pattern, speed, &diag) != 0) {
		fprintf(stderr, "bench: %s\n", diag.text);
		exit(2);
	}
}

static void simulate(void)
{
	struct tdm_cb_pattern pattern;
	struct tdm_core_speed speed;
	struct tdm_cb_model model;
	struct tdm_model_result result = { 0 };
	parse(relu, &pattern, &speed);
	tdm_cb_model_init(&model, &pattern, &speed);
	tdm_cb_model_run(&model, NULL, true, &result);
	if (result.buffers[1].pushed != TILES) {
		fprintf(stderr, "bench: the model did not run\n");
		exit(2);
	}
	tdm_cb_model_done(&model);
	tdm_model_result_done(&result);
	tdm_pattern_done(&pattern);
}

static void advise(void)
{
	struct tdm_cb_pattern pattern;
	struct tdm_core_speed speed;
	struct tdm_cb_advice advice = { .l1_bytes = 1024 * 1024, .align = 32, .pages = 65535 };
	parse(eight, &pattern, &speed);
	tdm_cb_advise(&pattern, &speed, &advice);
	if (advice.advised.bytes == 0) {
		fprintf(stderr, "bench: there is no advice\n");
		exit(2);
	}
	tdm_cb_advice_done(&advice);
	tdm_pattern_done(&pattern);
}

static void measure(struct bench *bench, const char *row, void (*run)(void), double limit_ms, const char *note)
{
	double best = 1e300;
	if (!bench_wants(bench, row))
		return;
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t from = tdm_clock_ns();
		run();
		double ms = (double)(tdm_clock_ns() - from) / 1e6;
		best = ms < best ? ms : best;
	}
	bench_put(bench, &(struct bench_row){ row, "ms", best, limit_ms, 1, false, note });
}

static void pressure_run(struct bench *bench)
{
	measure(bench, "pressure.million", simulate, million_limit_ms, "limit; a million tiles through three kernels");
	measure(bench, "pressure.advice", advise, advice_limit_ms, "limit; the advice for eight buffers");
}

const struct bench_subject bench_pressure = {
	.name = "pressure",
	.summary = "the model of circular buffers and its advice",
	.run = pressure_run,
};
