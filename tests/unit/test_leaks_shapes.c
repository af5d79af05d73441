/*
 * Leaks of unusual shape: a burst every few seconds, a buffer that is replaced by a larger one. Each has a harmless
 * twin that must not be accused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "leaks_sim.h"

enum { SEEDS = 30 };
#define FROM (SIM_BEGIN - 120 * SIM_S)
#define TO   (SIM_BEGIN + 31 * SIM_S)

/* Weights, and iterations that allocate and free. */
static void work(struct sim *sim)
{
	for (uint64_t i = 0; i < 40; i++)
		sim_add(sim, 0, TDM_KIND_DRAM, "weight", 40 * SIM_MIB, sim->started_ns[0] + i * SIM_MS, SIM_NEVER);
	for (uint64_t at = FROM; at < TO; at += 300 * SIM_MS)
		for (uint64_t i = 0; i < 8; i++)
			sim_add(sim, 0, TDM_KIND_DRAM, "act", 64 * SIM_MIB, at + i * 10 * SIM_MS,
				at + (200 - i * 10) * SIM_MS);
}

static enum tdm_leak_why why_of(const struct tdm_findings *found, const char *name)
{
	for (size_t i = 0; i < found->count; i++)
		if (strcmp(found->list[i].about.name, name) == 0)
			return (enum tdm_leak_why)found->list[i].code;
	return TDM_LEAK_WHY_COUNT;
}

static size_t sure_of(const struct tdm_findings *found)
{
	return tdm_findings_count(found, TDM_FINDING_BROKEN);
}

static size_t suspects_of(const struct tdm_findings *found)
{
	return tdm_findings_count(found, TDM_FINDING_WARNING);
}

static void burst(struct sim *sim, uint64_t at, uint64_t dies)
{
	for (uint64_t i = 0; i < 10; i++)
		sim_add(sim, 0, TDM_KIND_DRAM, "lost", SIM_MIB, at + i * 1000, dies);
}

/* A burst every few seconds, which has gone on for longer than the program is watched. */
static void test_bursts(void **state)
{
	(void)state;
	for (int seed = 0; seed < SEEDS; seed++)
		for (uint64_t watch = 10; watch <= 30; watch += 20) {
			struct sim sim;
			sim_init(&sim, (uint64_t)seed);
			sim.watch_ns = watch * SIM_S;
			work(&sim);
			uint64_t every = watch * SIM_S / 10 * sim_between(&sim, 15, 36) / 10;
			for (uint64_t at = FROM + sim_between(&sim, 0, every); at < TO; at += every)
				burst(&sim, at + sim_between(&sim, 0, every / 10), SIM_NEVER);
			struct tdm_findings found = sim_watch(&sim, 200 * SIM_MS);
			assert_int_equal(why_of(&found, "lost"), TDM_LEAK_GROWS);
			assert_int_equal(sure_of(&found), 1);
			assert_int_equal(suspects_of(&found), 0);
			tdm_findings_done(&found);
			sim_done(&sim);
		}
}

/* The program itself works only in those moments: that it frees nothing in between is not loading. */
static void test_bursts_of_work(void **state)
{
	(void)state;
	for (int seed = 0; seed < SEEDS; seed++) {
		struct sim sim;
		sim_init(&sim, (uint64_t)seed);
		uint64_t every = sim_between(&sim, 4000, 7000) * SIM_MS;
		for (uint64_t i = 0; i < 40; i++)
			sim_add(&sim, 0, TDM_KIND_DRAM, "weight", 40 * SIM_MIB, sim.started_ns[0] + i, SIM_NEVER);
		for (uint64_t at = FROM + sim_between(&sim, 0, every); at < TO; at += every) {
			burst(&sim, at, SIM_NEVER);
			sim_add(&sim, 0, TDM_KIND_DRAM, "act", SIM_MIB, at, at + 400 * SIM_MS);
		}
		struct tdm_findings found = sim_watch(&sim, 200 * SIM_MS);
		assert_int_equal(why_of(&found, "lost"), TDM_LEAK_GROWS);
		tdm_findings_done(&found);
		sim_done(&sim);
	}
}

/* Bursts that are no leak: each goes with the next but one; or they have come to an end; or only two were ever seen. */
static void test_harmless_bursts(void **state)
{
	(void)state;
	for (int seed = 0; seed < SEEDS; seed++)
		for (int shape = 0; shape < 3; shape++) {
			struct sim sim;
			sim_init(&sim, (uint64_t)seed);
			work(&sim);
			uint64_t every = sim_between(&sim, 3000, 7000) * SIM_MS;
			uint64_t first = FROM + sim_between(&sim, 0, every), last = TO;
			if (shape == 1)
				last = SIM_BEGIN + 2 * SIM_S;
			if (shape == 2)
				first = SIM_BEGIN + 2 * SIM_S, last = first + every + SIM_S;
			for (uint64_t at = first; at < last; at += every)
				burst(&sim, at, shape == 0 ? at + 2 * every : SIM_NEVER);
			struct tdm_findings found = sim_watch(&sim, 200 * SIM_MS);
			assert_int_equal(sure_of(&found), 0);
			if (shape != 2)
				assert_int_equal(suspects_of(&found), 0);
			tdm_findings_done(&found);
			sim_done(&sim);
		}
}

/* A buffer that is replaced again and again: how large the next one is, and how long there is none in between. */
struct replacing {
	uint64_t (*size)(struct sim *sim, uint64_t number, uint64_t at);
	bool has_gaps; /* it is freed before the next one comes */
	bool leaks;
};

static uint64_t larger(struct sim *sim, uint64_t number, uint64_t at)
{
	(void)sim;
	(void)at;
	return SIM_MIB + number * 4096;
}

static uint64_t random_size(struct sim *sim, uint64_t number, uint64_t at)
{
	(void)number;
	(void)at;
	return sim_between(sim, SIM_MIB, 2 * SIM_MIB);
}

static uint64_t until_full(struct sim *sim, uint64_t number, uint64_t at)
{
	return at < SIM_BEGIN + 15 * SIM_S ? larger(sim, number, at) : larger(sim, 100000, at);
}

/* A request of eleven seconds after the other. */
static uint64_t by_request(struct sim *sim, uint64_t number, uint64_t at)
{
	(void)sim;
	(void)number;
	return SIM_MIB + (at - FROM) % (11 * SIM_S) / SIM_MS;
}

static void test_replaced(void **state)
{
	(void)state;
	static const struct replacing all[] = {
		{ larger, false, true },
		{ larger, true, false },
		{ random_size, false, false },
		{ until_full, false, false },
		{ by_request, false, false },
	};
	for (size_t n = 0; n < sizeof all / sizeof all[0]; n++)
		for (int seed = 0; seed < SEEDS; seed++) {
			struct sim sim;
			sim_init(&sim, (uint64_t)seed);
			work(&sim);
			uint64_t every = sim_between(&sim, 50, 2000) * SIM_MS, number = 0;
			uint64_t overlap = sim_between(&sim, 0, every / 4), gap = every / 4;
			for (uint64_t at = FROM; at < TO; at += every, number++)
				sim_add(&sim, 0, TDM_KIND_DRAM, "lost", all[n].size(&sim, number, at), at,
					all[n].has_gaps ? at + every - gap : at + every + overlap);
			struct tdm_findings found = sim_watch(&sim, 200 * SIM_MS);
			assert_int_equal(sure_of(&found), all[n].leaks);
			assert_int_equal(suspects_of(&found), 0);
			if (all[n].leaks) {
				assert_int_equal(why_of(&found, "lost"), TDM_LEAK_REPLACED);
				double rate = tdm_finding_real(&found, &found.list[0], "bytes_per_second");
				double wanted = 4096.0 * SIM_S / (double)every;
				assert_true(rate > 0.8 * wanted && rate < 1.2 * wanted);
				assert_true(tdm_finding_real(&found, &found.list[0], "trend_z") > 3);
			}
			tdm_findings_done(&found);
			sim_done(&sim);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_bursts_of_work),
		cmocka_unit_test(test_harmless_bursts),
		cmocka_unit_test(test_replaced),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
