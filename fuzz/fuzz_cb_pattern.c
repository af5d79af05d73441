/*
 * Fuzz the pattern file. Exercises: analyze/pressure/cb_pattern.c (lines, words, keys, what fits
 * together), analyze/pressure/core_speed.c (constants), then analyze/pressure/cb_model.c and cb_advice.c on small
 * patterns.
 *
 * Properties: a refused file has a text and changes no constant; a pattern that is read can be run, every page that is
 * pushed is popped unless it deadlocks, and a deadlock says who waits; depths that are advised do not deadlock.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analyze/pressure/cb_advice.h"
#include "base/number.h"
#include "fuzz_check.h"

/* Larger ones take too long here. */
static bool is_small(const struct tdm_cb_pattern *p)
{
	uint64_t steps = 0;
	for (size_t i = 0; i < p->stage_count; i++)
		steps += p->stages[i].times;
	for (size_t i = 0; i < p->buffer_count; i++)
		if (p->buffers[i].total > 64)
			return false;
	return steps <= 64;
}

static void run(const struct tdm_cb_pattern *p, const struct tdm_core_speed *speed)
{
	struct tdm_cb_model model;
	struct tdm_model_result result = { 0 };
	tdm_cb_model_init(&model, p, speed);
	tdm_cb_model_run(&model, NULL, true, &result);
	tdm_cb_model_done(&model);
	check(result.is_deadlocked == (result.deadlock[0] != '\0'));
	for (size_t i = 0; i < p->buffer_count && !result.is_deadlocked; i++)
		check(result.buffers[i].pushed == p->buffers[i].total && result.buffers[i].peak <= p->buffers[i].pages);
	tdm_model_result_done(&result);
}

static void advise(const struct tdm_cb_pattern *p, const struct tdm_core_speed *speed)
{
	struct tdm_cb_advice advice = { .l1_bytes = 1048576, .align = 32, .pages = 65535 };
	tdm_cb_advise(p, speed, &advice);
	bool is_found = tdm_cb_advice_is_found(&advice);
	check(!is_found || advice.advised.bytes <= advice.l1_bytes);
	check(!is_found || advice.advised.bytes == tdm_pattern_bytes(p, advice.advised.depths, advice.align));
	for (size_t i = 0; i < p->buffer_count && is_found; i++)
		check(advice.advised.depths[i] >= (p->buffers[i].is_fixed ? p->buffers[i].pages : p->buffers[i].least));
	tdm_cb_advice_done(&advice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tdm_cb_pattern pattern;
	struct tdm_core_speed speed, before;
	struct tdm_diag diag = { 0 };
	tdm_core_speed_init(&speed, size % 2 == 0 ? TDM_ARCH_WORMHOLE : TDM_ARCH_BLACKHOLE);
	before = speed;
	if (tdm_pattern_parse((struct tdm_str){ (const char *)data, size }, &pattern, &speed, &diag) != 0) {
		check(diag.text[0] != '\0' && memcmp(&speed, &before, sizeof speed) == 0);
		check(pattern.buffers == NULL && pattern.uses == NULL);
		return 0;
	}
	check(pattern.stage_count != 0 && pattern.tiles != 0);
	if (is_small(&pattern))
		run(&pattern, &speed);
	if (is_small(&pattern) && pattern.buffer_count <= 4)
		advise(&pattern, &speed);
	tdm_pattern_done(&pattern);
	return 0;
}
