/* The advice on depths: against all depths of small patterns, within L1, and its curve. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/pressure/cb_advice.h"
#include "base/number.h"
#include "full_size.h"

#include <stdio.h>
#include <stdlib.h>

static void parse(const char *text, struct tdm_cb_pattern *p, struct tdm_core_speed *speed)
{
	struct tdm_diag diag = { 0 };
	tdm_core_speed_init(speed, TDM_ARCH_WORMHOLE);
	if (tdm_pattern_parse(tdm_str_of(text), p, speed, &diag) != 0)
		fail_msg("line %llu: %s", (unsigned long long)diag.line, diag.text);
}

/* The fewest bytes of all depths up to `most` pages each that reach the goal. */
static uint64_t smallest(struct tdm_cb_pattern *p, const struct tdm_core_speed *speed, double goal, uint32_t most)
{
	struct tdm_cb_model model;
	struct tdm_model_result result = { 0 };
	uint32_t depths[8] = { 0 }, least[8], step[8];
	uint64_t best = UINT64_MAX;
	tdm_cb_model_init(&model, p, speed);
	for (size_t i = 0; i < p->buffer_count; i++) {
		depths[i] = least[i] = p->buffers[i].least;
		step[i] = p->buffers[i].step;
	}
	for (size_t at = 0; at < p->buffer_count;) {
		uint64_t bytes = tdm_pattern_bytes(p, depths, 1);
		if (bytes < best) {
			tdm_cb_model_run(&model, depths, false, &result);
			best = result.tiles_per_s >= goal ? bytes : best;
		}
		for (at = 0; at < p->buffer_count; at++) { /* count up */
			depths[at] += step[at];
			if (depths[at] <= most)
				break;
			depths[at] = least[at];
		}
	}
	tdm_cb_model_done(&model);
	tdm_model_result_done(&result);
	return best;
}

static uint64_t next(uint64_t *random, uint64_t below)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random % below;
}

/* Three buffers that meet in one computation. */
static void make_meeting(uint64_t *random, char *text, size_t cap)
{
	static const unsigned blocks[] = { 1, 2, 4 };
	unsigned in = blocks[next(random, 3)], other = blocks[next(random, 2)], out = blocks[next(random, 3)];
	snprintf(text, cap,
		"tiles 24\nformat %s\nbuffer 0 pages=8\nbuffer 1 pages=8 format=%s\nbuffer 16 pages=8\n"
		"kernel a read push=0:%u %s\nkernel b read l1 push=1:%u\n"
		"kernel c compute cycles=%u pop=0,1 push=16\nkernel w write pop=16:%u %s\n",
		next(random, 2) != 0 ? "bf16" : "fp32", next(random, 2) != 0 ? "bf16" : "fp32", in,
		next(random, 3) == 0 ? "ids=2" : "", other, (unsigned)next(random, 600), out,
		next(random, 2) != 0 ? "flush" : "");
}

/* A writer that wants the second burst of the reader first: the first one must wait in the two buffers behind one
 * another, so no depth alone decides. */
static void make_bursts(uint64_t *random, char *text, size_t cap)
{
	unsigned burst = 4 + (unsigned)next(random, 5);
	snprintf(text, cap,
		"tiles %u\nformat bf16\nbuffer 0 pages=8\nbuffer 1 pages=8 format=%s\nbuffer 16 pages=8 format=%s\n"
		"kernel r read l1 push=0 times=%u\nkernel r read push=1 times=%u\n"
		"kernel c compute cycles=%u pop=0 push=16\nkernel w write %s pop=1 times=%u\n"
		"kernel w write %s pop=16 times=%u\n",
		3 * burst, next(random, 2) != 0 ? "bf16" : "fp32", next(random, 2) != 0 ? "fp32" : "bfp8", burst, burst,
		(unsigned)next(random, 900), next(random, 2) != 0 ? "l1" : "dram", burst,
		next(random, 2) != 0 ? "l1" : "dram", burst);
}

static void it_is_the_smallest_of_all(void **state)
{
	(void)state;
	uint64_t random = 2024;
	for (int i = 0, count = full_size(80, 16); i < count; i++) {
		char text[768];
		struct tdm_cb_pattern p;
		struct tdm_core_speed speed;
		struct tdm_cb_advice advice;
		const struct tdm_cb_advice limits = { .l1_bytes = TDM_BYTES_UNKNOWN, .align = 1 };
		(i % 2 == 0 ? make_meeting : make_bursts)(&random, text, sizeof text);
		parse(text, &p, &speed);
		advice = limits;
		tdm_cb_advise(&p, &speed, &advice);
		assert_true(advice.is_smallest && !advice.is_limited);
		assert_true(advice.advised.tiles_per_s >= TDM_ADVICE_GOAL * advice.best_tiles_per_s);
		uint64_t wanted = smallest(&p, &speed, TDM_ADVICE_GOAL * advice.best_tiles_per_s, 24);
		assert_true(advice.advised.bytes == wanted);
		tdm_cb_advice_done(&advice);
		tdm_pattern_done(&p);
	}
}

static const char relu[] = "tiles 256\nformat bf16\nbuffer 0 pages=8\nbuffer 16 pages=8\nkernel reader read push=0:4\n"
			   "kernel compute compute op=relu pop=0 push=16\nkernel writer write pop=16:4\n";

static void the_curve_rises(void **state)
{
	(void)state;
	struct tdm_cb_pattern p;
	struct tdm_core_speed speed;
	struct tdm_cb_advice advice;
	const struct tdm_cb_advice limits = { .l1_bytes = TDM_BYTES_UNKNOWN, .align = 32 };
	parse(relu, &p, &speed);
	advice = limits;
	tdm_cb_advise(&p, &speed, &advice);
	assert_true(advice.advised.depths[0] == 8 && advice.advised.depths[1] == 8 && advice.advised.bytes == 32768);
	assert_true(advice.point_count >= 2 && advice.curve[0].bytes == 16384);
	for (size_t i = 1; i < advice.point_count; i++)
		assert_true(advice.curve[i].bytes > advice.curve[i - 1].bytes &&
			    advice.curve[i].tiles_per_s > advice.curve[i - 1].tiles_per_s);
	tdm_cb_advice_done(&advice);
	tdm_pattern_done(&p);
}

static void l1_is_a_limit(void **state)
{
	(void)state;
	struct tdm_cb_pattern p;
	struct tdm_core_speed speed;
	struct tdm_cb_advice advice;
	parse(relu, &p, &speed);
	advice = (struct tdm_cb_advice){ .l1_bytes = 24576, .align = 32 };
	tdm_cb_advise(&p, &speed, &advice);
	assert_true(advice.is_limited && !advice.is_smallest && advice.advised.bytes == 24576);
	assert_true(advice.advised.tiles_per_s < TDM_ADVICE_GOAL * advice.best_tiles_per_s);
	tdm_cb_advice_done(&advice);
	advice = (struct tdm_cb_advice){ .l1_bytes = 16383, .align = 32 };
	tdm_cb_advise(&p, &speed, &advice);
	assert_true(advice.is_too_large && advice.curve[0].bytes == 16384);
	tdm_cb_advice_done(&advice);
	p.buffers[0].is_fixed = true;
	p.buffers[0].pages = 12;
	advice = (struct tdm_cb_advice){ .l1_bytes = UINT64_MAX, .align = 32 };
	tdm_cb_advise(&p, &speed, &advice);
	assert_true(advice.advised.depths[0] == 12 && advice.advised.depths[1] == 8);
	tdm_cb_advice_done(&advice);
	tdm_pattern_done(&p);
}

static void long_runs_are_shortened(void **state)
{
	(void)state;
	struct tdm_cb_pattern p;
	struct tdm_core_speed speed;
	struct tdm_cb_advice advice;
	char text[512];
	static const unsigned tiles[] = { 1000000, 999983, 1048576 };
	for (size_t i = 0; i < 3; i++) {
		snprintf(text, sizeof text, "tiles %u\n%s", tiles[i], strchr(relu, '\n') + 1);
		parse(text, &p, &speed);
		advice = (struct tdm_cb_advice){ .l1_bytes = UINT64_MAX, .align = 32 };
		tdm_cb_advise(&p, &speed, &advice);
		assert_true(advice.tiles <= 1024 && advice.tiles >= 256 && advice.advised.bytes == 32768);
		tdm_cb_advice_done(&advice);
		tdm_pattern_done(&p);
	}
}

static void runs_that_cannot_be_shortened_have_no_advice(void **state)
{
	(void)state;
	struct tdm_cb_pattern p;
	struct tdm_core_speed speed;
	struct tdm_cb_advice advice;
	static const char *const texts[] = { "tiles 4999999\nbuffer 0 pages=4\nbuffer 1 pages=4 total=9999998\n",
		"tiles 1000000\nbuffer 0 pages=4\nbuffer 1 pages=4 total=2000000\n" };
	for (size_t i = 0; i < 2; i++) {
		char text[512];
		snprintf(text, sizeof text, "%skernel r read push=0:1,1:2\nkernel w write pop=0:1,1:2\n", texts[i]);
		parse(text, &p, &speed);
		advice = (struct tdm_cb_advice){ .l1_bytes = UINT64_MAX, .align = 32 };
		tdm_cb_advise(&p, &speed, &advice);
		assert_int_equal(advice.is_too_long, i == 0);
		assert_int_equal(tdm_cb_advice_is_found(&advice), i == 1);
		tdm_cb_advice_done(&advice);
		tdm_pattern_done(&p);
	}
}

static void what_deadlocks_has_no_advice(void **state)
{
	(void)state;
	struct tdm_cb_pattern p;
	struct tdm_core_speed speed;
	struct tdm_cb_advice advice;
	/* A depth of four deadlocks, and more pages help. */
	parse("tiles 16\nbuffer 0 pages=4\nbuffer 1 pages=4\nbuffer 16 pages=2\nkernel reader read push=0 times=8\n"
	      "kernel reader read push=1 times=8\nkernel compute compute pop=0,1 push=16\nkernel writer write pop=16\n",
		&p, &speed);
	advice = (struct tdm_cb_advice){ .l1_bytes = UINT64_MAX, .align = 32 };
	tdm_cb_advise(&p, &speed, &advice);
	assert_true(!advice.is_deadlocked && advice.advised.depths[0] >= 8);
	tdm_cb_advice_done(&advice);
	p.buffers[0].is_fixed = true;
	advice = (struct tdm_cb_advice){ .l1_bytes = UINT64_MAX, .align = 32 };
	tdm_cb_advise(&p, &speed, &advice);
	assert_true(advice.is_deadlocked && strstr(advice.deadlock, "reader waits for room in buffer 0") != NULL);
	tdm_cb_advice_done(&advice);
	tdm_pattern_done(&p);
}

/* A chain of computations: its advice is bounded in work, and a point of its curve. */
static void a_hundred_buffers_have_advice(void **state)
{
	(void)state;
	enum { BUFFERS = 100 };
	struct tdm_cb_pattern p;
	struct tdm_core_speed speed;
	struct tdm_cb_advice advice;
	struct tdm_buf text = { 0 };
	tdm_buf_puts(&text, "tiles 16\nformat bf16\n");
	for (unsigned i = 0; i < BUFFERS; i++)
		tdm_buf_printf(&text, "buffer %u pages=4\n", i);
	tdm_buf_puts(&text, "kernel reader read push=0:2\n");
	for (unsigned i = 1; i < BUFFERS; i++)
		tdm_buf_printf(&text, "kernel k%u compute pop=%u push=%u\n", i, i - 1, i);
	tdm_buf_printf(&text, "kernel writer write pop=%u:2\n", BUFFERS - 1);
	parse(tdm_buf_str(&text).ptr, &p, &speed);
	tdm_buf_done(&text);
	advice = (struct tdm_cb_advice){ .l1_bytes = 1 << 18, .align = 32, .pages = 65535 };
	tdm_cb_advise(&p, &speed, &advice);
	assert_true(tdm_cb_advice_is_found(&advice) && !advice.is_cut && !advice.is_limited);
	assert_true(advice.advised.tiles_per_s >= TDM_ADVICE_GOAL * advice.best_tiles_per_s);
	assert_true(advice.advised.bytes <= 1 << 18 && advice.point_count > 1);
	/* Less than the least does not fit, and says so. */
	tdm_cb_advice_done(&advice);
	advice = (struct tdm_cb_advice){ .l1_bytes = 1 << 17, .align = 32, .pages = 65535 };
	tdm_cb_advise(&p, &speed, &advice);
	assert_true(advice.is_too_large);
	tdm_cb_advice_done(&advice);
	tdm_pattern_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_the_smallest_of_all),
		cmocka_unit_test(the_curve_rises),
		cmocka_unit_test(l1_is_a_limit),
		cmocka_unit_test(long_runs_are_shortened),
		cmocka_unit_test(runs_that_cannot_be_shortened_have_no_advice),
		cmocka_unit_test(what_deadlocks_has_no_advice),
		cmocka_unit_test(a_hundred_buffers_have_advice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
