/*
 * Leaks of unusual shape: a burst every few seconds, a buffer that is replaced by a larger one, names that
 * differ each time. Each has a harmless
 * twin that must not be accused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/leaks/leak_sites.h"
#include "full_size.h"
#include "leaks_sim.h"

static int seeds(void)
{
	return full_size(30, 8);
}

#define FROM (SIM_BEGIN - 120 * SIM_S)
#define TO   (SIM_BEGIN + 31 * SIM_S)

/* Weights, and iterations that allocate and free. */
static void work(struct sim *sim)
{
	for (uint64_t i = 0; i < 40; i++)
		sim_add(sim, 0, TDM_KIND_DRAM, "weight", 40 * SIM_MIB, sim->started_ns[0] + i * SIM_MS, SIM_NEVER);
	for (uint64_t at = FROM; at < TO; at += 300 * SIM_MS)
		for (uint64_t i = 0; i < 8; i++)
			sim_add(sim, 0, TDM_KIND_DRAM, "activation", 64 * SIM_MIB, at + i * 10 * SIM_MS,
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
	for (int seed = 0; seed < seeds(); seed++)
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
	for (int seed = 0; seed < seeds(); seed++) {
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
	for (int seed = 0; seed < seeds(); seed++)
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
		for (int seed = 0; seed < seeds(); seed++) {
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

static void test_patterns(void **state)
{
	(void)state;
	static const struct {
		const char *name, *pattern; /* NULL: none */
	} all[] = {
		{ "tensor 4711", "tensor #" },
		{ "layers.12.w1", "layers.#.w#" },
		{ "at 0x7ffe12ab!", "at #!" },
		{ "0x", "#x" },
		{ "3f2a9c1e-77aa-4b1d-9e00-aa12bb34cc56", "#-#-#-#-#" },
		{ "conv2d", "conv#d" },
		{ "decade", NULL },
		{ "", NULL },
	};
	char pattern[TDM_NAME_MAX + 1], name[TDM_NAME_MAX + 1];
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		assert_int_equal(tdm_leaks_pattern(all[i].name, pattern), all[i].pattern != NULL);
		assert_string_equal(pattern, all[i].pattern != NULL ? all[i].pattern : all[i].name);
	}
	memset(name, 'x', TDM_NAME_MAX);
	name[TDM_NAME_MAX] = '\0';
	assert_false(tdm_leaks_pattern(name, pattern));
	assert_string_equal(pattern, name);
}

/* A buffer of a new name each time, at the stack of the program. */
static struct tdm_findings watch_names(struct sim *sim, bool has_numbers, uint64_t lasts)
{
	char name[32];
	work(sim);
	uint64_t every = sim_between(sim, 100, 900) * SIM_MS;
	for (uint64_t at = FROM, i = 0; at < TO; at += every, i++) {
		if (has_numbers)
			snprintf(name, sizeof name, "tensor %d", (int)i);
		else
			snprintf(name, sizeof name, "%c%c%c", 'g' + (int)(i % 20), 'g' + (int)(i / 20 % 20),
				'g' + (int)(i / 400));
		sim_add(sim, 0, TDM_KIND_DRAM, name, 4096, at, lasts == SIM_NEVER ? SIM_NEVER : at + lasts);
	}
	return sim_watch(sim, 200 * SIM_MS);
}

/* Names that differ by numbers are one site; it holds also what was lost before the watching. */
static void test_names(void **state)
{
	(void)state;
	for (int seed = 0; seed < seeds(); seed++) {
		struct sim sim;
		sim_init(&sim, (uint64_t)seed);
		struct tdm_findings found = watch_names(&sim, true, SIM_NEVER);
		const struct tdm_finding *first = &found.list[0];
		uint64_t lost = sim.holdings[0].kinds[TDM_KIND_DRAM].buffers;
		for (size_t i = 0; i < sim.live_count; i++)
			lost -= sim.live[i].bytes != 4096;
		assert_int_equal(sure_of(&found), 1);
		assert_int_equal(suspects_of(&found), 0);
		assert_int_equal(first->code, TDM_LEAK_GROWS);
		assert_string_equal(first->about.name, "tensor #");
		assert_int_equal(tdm_finding_number(&found, first, "buffers"), lost);
		assert_int_equal(tdm_finding_number(&found, first, "names"), lost);
		assert_int_equal(tdm_finding_number(&found, first, "many_sites"), 1);
		for (size_t i = 1; i < found.count; i++)
			assert_false(tdm_has_prefix(found.list[i].about.name, "tensor"));
		tdm_findings_done(&found);
		sim_done(&sim);
	}
}

/* The names have nothing in common, but the stack. */
static void test_stacks(void **state)
{
	(void)state;
	for (int seed = 0; seed < seeds(); seed++) {
		struct sim sim;
		const struct tdm_frame frame = { .address = 0x1000 };
		sim_init(&sim, (uint64_t)seed);
		sim.stack = tdm_intern_stack(&sim.texts, &frame, 1);
		struct tdm_findings found = watch_names(&sim, false, SIM_NEVER);
		assert_int_equal(sure_of(&found), 1);
		assert_int_equal(found.list[0].code, TDM_LEAK_GROWS);
		assert_int_equal(found.list[0].about.stack, sim.stack);
		assert_string_equal(found.list[0].about.name, "");
		tdm_findings_done(&found);
		sim_done(&sim);
	}
}

/* Requests with names of their own, each of which is freed in its time, though that is long. Without those that are
 * gone by the end, the sum would grow. */
static void test_harmless_names(void **state)
{
	(void)state;
	for (int n = 0; n < 2; n++)
		for (int seed = 0; seed < seeds(); seed++) {
			struct sim sim;
			sim_init(&sim, (uint64_t)seed);
			uint64_t lasts = sim_between(&sim, 300, 14000) * SIM_MS;
			struct tdm_findings found = watch_names(&sim, n == 0, lasts);
			assert_int_equal(sure_of(&found) + suspects_of(&found), 0);
			tdm_findings_done(&found);
			sim_done(&sim);
		}
}

/* Names that come and go, more than there is room for: they leave it to others, and the sums have all that is live. */
static void test_spent_names(void **state)
{
	(void)state;
	enum { COUNT = TDM_LEAKS_SITES_MAX / 3, PICTURES = 8 };
	struct tdm_leaks *leaks = tdm_leaks_new(PICTURES * SIM_S);
	struct tdm_findings found = { 0 };
	struct tdm_leaks_result result;
	struct sim sim;
	sim_init(&sim, 3);
	for (uint32_t n = 0; n < PICTURES; n++) {
		sim_picture(&sim, SIM_BEGIN + n * SIM_S);
		for (uint32_t i = 0; i < COUNT; i++) {
			const struct tdm_frame frame = { .address = 0x1000 + n * COUNT + i };
			struct tdm_buffer buffer = { .asked_bytes = 1, .bank_bytes = TDM_SIZE_UNKNOWN };
			buffer.born_ns = SIM_BEGIN + n * SIM_S - SIM_MS;
			buffer.stack = tdm_intern_stack(&sim.texts, &frame, 1);
			sim_show(&sim, &buffer, 0);
		}
		sim_sum(&sim, 0);
		tdm_leaks_sample(leaks, &sim.picture, SIM_BEGIN + n * SIM_S);
	}
	tdm_leaks_judge(leaks, &sim.picture, &found, &result);
	assert_int_equal(result.sites_left_out, 0);
	assert_int_equal(found.count, COUNT);
	tdm_findings_done(&found);
	tdm_leaks_free(leaks);
	sim_done(&sim);
}

/* A program reports older buffers while it is watched, even for long: that is not growth. Nor is it when new ones take
 * their place later. */
static void test_adopted(void **state)
{
	(void)state;
	for (int seed = 0; seed < seeds(); seed++) {
		struct sim sim;
		sim_init(&sim, (uint64_t)seed);
		work(&sim);
		uint64_t step = sim_between(&sim, 100, 200) * SIM_MS;
		for (uint64_t at = SIM_BEGIN + step; at < TO; at += step)
			sim_adopt(&sim, "adopted", SIM_MIB, at, SIM_NEVER);
		for (uint64_t i = 0; i < 100; i++) {
			uint64_t at = SIM_BEGIN + i * 300 * SIM_MS;
			sim_adopt(&sim, "renewed", SIM_MIB, FROM, at);
			sim_add(&sim, 0, TDM_KIND_DRAM, "renewed", SIM_MIB, at, SIM_NEVER);
		}
		struct tdm_findings found = sim_watch(&sim, 200 * SIM_MS);
		assert_int_equal(sure_of(&found) + suspects_of(&found), 0);
		tdm_findings_done(&found);
		sim_done(&sim);
	}
}

/* A leak at a site with older buffers is still a leak, and only what is new has grown. */
static void test_leak_beside_adopted(void **state)
{
	(void)state;
	for (int seed = 0; seed < seeds(); seed++) {
		struct sim sim;
		sim_init(&sim, (uint64_t)seed);
		work(&sim);
		for (uint64_t i = 0; i < 200; i++)
			sim_adopt(&sim, "lost", SIM_MIB, SIM_BEGIN + 10 * SIM_S + i * SIM_MS, SIM_NEVER);
		for (uint64_t at = FROM; at < TO; at += 300 * SIM_MS)
			sim_add(&sim, 0, TDM_KIND_DRAM, "lost", SIM_MIB, at, SIM_NEVER);
		struct tdm_findings found = sim_watch(&sim, 200 * SIM_MS);
		assert_int_equal(why_of(&found, "lost"), TDM_LEAK_GROWS);
		assert_int_equal(sure_of(&found), 1);
		double rate = found.list[0].weight / (double)SIM_MIB;
		assert_true(rate > 3 && rate < 3.7);
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
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_harmless_names),
		cmocka_unit_test(test_spent_names),
		cmocka_unit_test(test_adopted),
		cmocka_unit_test(test_leak_beside_adopted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
