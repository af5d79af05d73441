/* Findings about the strategies of a workload. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/pressure/pressure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A strategy with this score; what is not set is as it should be. */
static void add(struct tdm_pressure_result *r, enum tdm_sizing_name name, double score)
{
	static uint32_t depths[] = { 4, 4, 4, 4 };
	struct tdm_sizing *s = &r->strategies[r->strategy_count++];
	*s = (struct tdm_sizing){ .name = (uint8_t)name, .depths = depths, .bytes = 65536, .fits = true };
	s->metrics[TDM_PRESSURE_SCORE] = score;
	s->model.tiles_per_s = 5;
	r->advice.best_tiles_per_s = 10;
}

static const char *sentence(const struct tdm_findings *found, size_t i)
{
	static struct tdm_buf text;
	tdm_buf_clear(&text);
	tdm_finding_sentence_put(found, &found->list[i], &text);
	return text.data;
}

static struct tdm_pressure_result *make(size_t count)
{
	struct tdm_pressure_result *r = calloc(count, sizeof *r);
	assert_non_null(r);
	for (size_t i = 0; i < count; i++)
		r[i].setup.a_tiles = r[i].setup.b_tiles = 8 << i;
	return r;
}

static void risk_is_a_warning_or_a_note(void **state)
{
	struct tdm_pressure_result *r = make(1);
	struct tdm_findings found = { 0 };
	(void)state;
	add(r, TDM_SIZING_CONSTANT, 75);
	add(r, TDM_SIZING_ADAPTIVE_GUIDE, 50);
	add(r, TDM_SIZING_ADAPTIVE_PROGRAM, 10);
	add(r, TDM_SIZING_ADVISED, 99); /* it is chosen by throughput, not by score */
	tdm_pressure_find(r, 1, &found, &found);
	assert_int_equal(found.count, 3);
	assert_int_equal(found.list[0].severity, TDM_FINDING_WARNING);
	assert_string_equal(found.list[0].about.name, "constant");
	assert_string_equal(sentence(&found, 0),
		"thrashing risk HIGH: score 75.0 of 100, CB1 holds 4 of 8 B tiles; in the "
		"model it reaches 50.0% of the best throughput");
	assert_int_equal(found.list[1].severity, TDM_FINDING_INFO);
	assert_string_equal(found.list[1].about.name, "adaptive_guide");
	assert_string_equal(found.list[2].what, "advised");
	assert_string_equal(
		sentence(&found, 2), "64 KiB of circular buffers reach 50.0% of the best throughput in the model");
	tdm_findings_done(&found);
	free(r);
}

static void of_several_sizes_the_first_that_is_critical_counts(void **state)
{
	struct tdm_pressure_result *r = make(3);
	struct tdm_findings found = { 0 };
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		add(&r[i], TDM_SIZING_CONSTANT, 35 * (double)i + 5);
		add(&r[i], TDM_SIZING_ADAPTIVE_GUIDE, 20 * (double)i);
	}
	tdm_pressure_find(r, 3, &found, &found);
	assert_int_equal(found.count, 2);
	assert_int_equal(found.list[0].severity, TDM_FINDING_WARNING);
	assert_non_null(strstr(sentence(&found, 0), "HIGH from 32 B tiles on: score 75"));
	assert_int_equal(found.list[1].severity, TDM_FINDING_INFO);
	assert_non_null(strstr(sentence(&found, 1), "MEDIUM from 32 B tiles on: score 40"));
	tdm_findings_done(&found);
	free(r);
}

static void what_cannot_work_is_an_error(void **state)
{
	struct tdm_pressure_result *r = make(1);
	struct tdm_findings found = { 0 };
	(void)state;
	add(r, TDM_SIZING_CONSTANT, 5);
	r->strategies[0].fits = false;
	r->strategies[0].model.is_deadlocked = true;
	snprintf(r->strategies[0].model.deadlock, sizeof r->strategies[0].model.deadlock, "a waits for b");
	r->l1_left = 1024;
	tdm_pressure_find(r, 1, &found, &found);
	assert_int_equal(found.count, 2);
	assert_int_equal(found.list[0].severity, TDM_FINDING_BROKEN);
	assert_string_equal(sentence(&found, 0), "deadlock: a waits for b");
	assert_int_equal(found.list[1].severity, TDM_FINDING_BROKEN);
	assert_string_equal(
		sentence(&found, 1), "does not fit: its circular buffers take 64 KiB of each core, and 1 KiB are left");
	tdm_findings_done(&found);
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(risk_is_a_warning_or_a_note),
		cmocka_unit_test(of_several_sizes_the_first_that_is_critical_counts),
		cmocka_unit_test(what_cannot_work_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
