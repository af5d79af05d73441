/*
 * The leak finder on programs of many kinds: it must accuse no steady program, whatever the seed, and find every leak
 * at its site. Also the arithmetic of trends, and what a single picture tells.
 *
 * The programs are one table, and every rule is tried against all of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>

#include "analyze/leaks/growth.h"
#include "analyze/leaks/leak_sites.h"
#include "full_size.h"
#include "leaks_sim.h"

enum { BROKEN_OFF_SEEDS = 10 };

static int steady_seeds(void)
{
	return full_size(60, 12);
}

static int leaky_seeds(void)
{
	return full_size(40, 8);
}
#define FROM (SIM_BEGIN - 40 * SIM_S)
#define TO   (SIM_BEGIN + 31 * SIM_S)

/* Parts of programs. */

static void weights(struct sim *sim, int process)
{
	char name[32];
	uint64_t at = sim->started_ns[process] + SIM_S;
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof name, "layer%d.weight", i);
		at += sim_between(sim, SIM_MS, 50 * SIM_MS);
		sim_add(sim, process, TDM_KIND_DRAM, name, 40 * SIM_MIB, at, SIM_NEVER);
		sim_add(sim, process, TDM_KIND_DRAM, "adam", 80 * SIM_MIB, at + 2 * SIM_S, SIM_NEVER);
	}
	for (uint64_t i = 0; i < 64; i++)
		sim_add(sim, process, TDM_KIND_KERNEL, "kernel", 24576, at, SIM_NEVER);
}

/* A training loop: activations come one after the other and go in the reverse order. Calls `each` at every begin. */
static void loop(struct sim *sim, int process, uint64_t period, void (*each)(struct sim *sim, int process, uint64_t at))
{
	uint64_t count = sim_between(sim, 6, 26);
	for (uint64_t at = FROM; at < TO;) {
		uint64_t lasts = period * sim_between(sim, 90, 111) / 100, step = lasts / (2 * count + 2);
		for (uint64_t i = 0; i < count; i++)
			sim_add(sim, process, i % 3 == 0 ? TDM_KIND_L1 : TDM_KIND_DRAM, i % 2 == 0 ? "act" : "scores",
				1024 * SIM_MIB / count, at + i * step, at + lasts - (i + 1) * step);
		if (each != NULL)
			each(sim, process, at);
		at += lasts;
	}
}

static uint64_t any_period(struct sim *sim)
{
	return sim_between(sim, 100, 1500) * SIM_MS;
}

/* Programs that hold steady. */

static void sawtooth(struct sim *sim)
{
	weights(sim, 0);
	loop(sim, 0, any_period(sim), NULL);
}

static void evaluate(struct sim *sim, int process, uint64_t at)
{
	if (sim_between(sim, 0, 20) != 0)
		return;
	uint64_t lasts = sim_between(sim, 500, 4000) * SIM_MS;
	for (int i = 0; i < 30; i++)
		sim_add(sim, process, TDM_KIND_DRAM, i % 2 == 0 ? "eval" : "act", 16 * SIM_MIB,
			at + sim_between(sim, 0, lasts), at + lasts);
}

static void evaluation(struct sim *sim)
{
	weights(sim, 0);
	loop(sim, 0, any_period(sim), evaluate);
}

static void accumulation(struct sim *sim)
{
	weights(sim, 0);
	loop(sim, 0, sim_between(sim, 100, 400) * SIM_MS, NULL);
	uint64_t micro = sim_between(sim, 2, 9);
	for (uint64_t at = FROM; at < TO;) {
		uint64_t lasts = sim_between(sim, 1000, 6000) * SIM_MS;
		for (uint64_t m = 0; m < micro; m++)
			for (uint64_t i = sim_between(sim, 2, 20); i > 0; i--)
				sim_add(sim, 0, TDM_KIND_DRAM, m == 0 ? "grad" : "partial", 3 * SIM_MIB,
					at + m * lasts / micro + i, at + lasts);
		at += lasts;
	}
}

static void warm_up(struct sim *sim)
{
	uint64_t tau = sim_between(sim, 2000, 15000) * SIM_MS, begin = SIM_BEGIN - sim_between(sim, 0, 5) * SIM_S;
	sim->started_ns[0] = begin - 20 * SIM_S;
	weights(sim, 0);
	loop(sim, 0, any_period(sim), NULL);
	for (int i = 0; i < 200; i++) {
		uint64_t at = begin + sim_wait(sim, tau);
		sim_add(sim, 0, TDM_KIND_KERNEL, "kernel", 30000, at, SIM_NEVER);
		sim_add(sim, 0, TDM_KIND_DRAM, "program", 16384, at, SIM_NEVER);
	}
}

static void serve(struct sim *sim, uint64_t from, uint64_t mean, uint64_t every, double lost)
{
	for (uint64_t at = from; at < TO; at += sim_wait(sim, every)) {
		uint64_t lasts = sim_wait(sim, mean), pages = sim_between(sim, 1, 12);
		if (lasts > 5 * mean)
			lasts = 5 * mean;
		bool leaks = sim_unit(sim) < lost;
		for (uint64_t i = 0; i < pages; i++)
			sim_add(sim, 0, TDM_KIND_DRAM, "page", 2 * SIM_MIB, at + i * lasts / pages,
				leaks && i == 0 ? SIM_NEVER : at + lasts);
	}
}

static void server(struct sim *sim)
{
	uint64_t mean = sim_between(sim, 300, 8000) * SIM_MS;
	weights(sim, 0);
	serve(sim, SIM_BEGIN - 120 * SIM_S, mean, mean / sim_between(sim, 2, 20), 0);
}

static void server_starts(struct sim *sim)
{
	uint64_t mean = sim_between(sim, 300, 2000) * SIM_MS;
	sim->started_ns[0] = SIM_BEGIN - 40 * SIM_S;
	weights(sim, 0);
	serve(sim, SIM_BEGIN - 2 * SIM_S, mean, mean / sim_between(sim, 2, 20), 0);
}

static void cache_fills(struct sim *sim)
{
	uint64_t stops = SIM_BEGIN + sim_between(sim, 1000, 22000) * SIM_MS, step = sim_between(sim, 30, 500) * SIM_MS;
	weights(sim, 0);
	loop(sim, 0, any_period(sim), NULL);
	for (uint64_t at = SIM_BEGIN - 5 * SIM_S; at < stops; at += step * sim_between(sim, 80, 121) / 100)
		sim_add(sim, 0, TDM_KIND_DRAM, "kv", SIM_MIB, at, SIM_NEVER);
}

static void second_model(struct sim *sim)
{
	char name[32];
	uint64_t at = SIM_BEGIN + sim_between(sim, 2000, 20000) * SIM_MS, lasts = sim_between(sim, 500, 5000) * SIM_MS;
	weights(sim, 0);
	loop(sim, 0, any_period(sim), NULL);
	for (uint64_t i = 0; i < 60; i++) {
		snprintf(name, sizeof name, "second%d", (int)i);
		sim_add(sim, 0, TDM_KIND_DRAM, i % 2 == 0 ? "lora" : name, 4 * SIM_MIB, at + i * lasts / 60, SIM_NEVER);
	}
}

/* A pool that breathes: its buffers come and go at random, and there are never more than so many. */
static void pool(struct sim *sim)
{
	weights(sim, 0);
	loop(sim, 0, any_period(sim), NULL);
	uint64_t mean = sim_between(sim, 2000, 40000) * SIM_MS;
	for (int i = 0; i < 60; i++)
		for (uint64_t at = SIM_BEGIN - 200 * SIM_S + sim_wait(sim, mean); at < TO;) {
			uint64_t dies = at + sim_wait(sim, mean);
			sim_add(sim, 0, TDM_KIND_DRAM, "pool", SIM_MIB, at, dies);
			at = dies + sim_wait(sim, mean / 2);
		}
}

static void (*const steady[])(struct sim *sim) = { sawtooth, evaluation, accumulation, warm_up, server, server_starts,
	cache_fills, second_model, pool };
static const char *const steady_names[] = { "sawtooth", "evaluation", "accumulation", "warm_up", "server",
	"server_starts", "cache_fills", "second_model", "pool" };

/* A program that only loads: it may be suspected, not accused. */
static void loading(struct sim *sim)
{
	char name[32];
	bool same = sim_between(sim, 0, 2) != 0, staged = sim_between(sim, 0, 2) != 0;
	sim->started_ns[0] = SIM_BEGIN - sim_between(sim, 0, 10) * SIM_S;
	uint64_t step = sim_between(sim, 80, 400) * SIM_MS;
	for (uint64_t at = sim->started_ns[0] + SIM_MS, i = 0; at < TO; at += step, i++) {
		snprintf(name, sizeof name, "weight%d", (int)i);
		sim_add(sim, 0, TDM_KIND_DRAM, same ? "weight" : name, sim_between(sim, 1, 40) * SIM_MIB, at,
			SIM_NEVER);
		if (staged)
			sim_add(sim, 0, TDM_KIND_DRAM, "staging", 40 * SIM_MIB, at, at + step / 2);
	}
}

/* Programs that leak; the name of the site is "lost". */

static void lose_one(struct sim *sim, int process, uint64_t at)
{
	sim_add(sim, process, TDM_KIND_DRAM, "lost", 4096, at + SIM_MS, SIM_NEVER);
}

static void small_in_sawtooth(struct sim *sim)
{
	weights(sim, 0);
	loop(sim, 0, any_period(sim), lose_one);
}

static void lose_one_of_ten(struct sim *sim, int process, uint64_t at)
{
	for (int i = 0; i < 20; i++)
		sim_add(sim, process, TDM_KIND_L1, "lost", 65536, at + (uint64_t)i * SIM_MS,
			sim_between(sim, 0, 10) == 0 ? SIM_NEVER : at + sim_between(sim, 30, 90) * SIM_MS);
}

static void one_of_ten(struct sim *sim)
{
	weights(sim, 0);
	loop(sim, 0, any_period(sim), lose_one_of_ten);
}

static void lose_in_many(struct sim *sim, int process, uint64_t at)
{
	char name[32];
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof name, "op%d", i);
		sim_add(sim, process, TDM_KIND_DRAM, name, SIM_MIB, at + (uint64_t)i * SIM_MS, at + 80 * SIM_MS);
	}
	lose_one(sim, process, at);
}

static void one_of_many_sites(struct sim *sim)
{
	weights(sim, 0);
	loop(sim, 0, any_period(sim), lose_in_many);
}

static void one_of_two(struct sim *sim)
{
	sim->process_count = 2;
	weights(sim, 0);
	weights(sim, 1);
	loop(sim, 0, any_period(sim), NULL);
	loop(sim, 1, any_period(sim), lose_one);
}

static void in_bursts(struct sim *sim)
{
	uint64_t every = sim_between(sim, 800, 2600) * SIM_MS, many = sim_between(sim, 2, 30);
	weights(sim, 0);
	loop(sim, 0, any_period(sim), NULL);
	for (uint64_t at = FROM; at < TO; at += every)
		for (uint64_t i = 0; i < many; i++)
			sim_add(sim, 0, TDM_KIND_DRAM, "lost", sim_between(sim, 1, 9) * SIM_MIB, at + i, SIM_NEVER);
}

static void (*const leaky[])(
	struct sim *sim) = { small_in_sawtooth, one_of_ten, one_of_many_sites, one_of_two, in_bursts };

static enum tdm_leak_why why_of(const struct tdm_finding *finding)
{
	return (enum tdm_leak_why)finding->code;
}

static void show(const struct tdm_findings *found, const char *program, int seed)
{
	for (size_t i = 0; i < found->count; i++) {
		const struct tdm_finding *f = &found->list[i];
		if (f->severity == TDM_FINDING_OK && strcmp(f->about.name, "lost") != 0)
			continue;
		fprintf(stderr, "%s %d: %u %s '%s' grown %" PRIu64 " z %.2f freed %" PRIu64 "\n", program, seed,
			f->severity, f->what, f->about.name, tdm_finding_number(found, f, "grown_buffers"),
			tdm_finding_real(found, f, "trend_z"), tdm_finding_number(found, f, "freed_old"));
	}
}

/* Leaks and suspects. */
static size_t sure_of(const struct tdm_findings *found)
{
	return tdm_findings_count(found, TDM_FINDING_BROKEN);
}

static size_t suspects_of(const struct tdm_findings *found)
{
	return tdm_findings_count(found, TDM_FINDING_WARNING);
}

static void test_steady(void **state)
{
	(void)state;
	size_t accused = 0, runs = 0;
	for (size_t p = 0; p < sizeof steady / sizeof steady[0]; p++)
		for (int seed = 0; seed < steady_seeds(); seed++, runs++) {
			struct sim sim;
			sim_init(&sim, (uint64_t)seed * 16 + p);
			steady[p](&sim);
			struct tdm_findings found = sim_watch(&sim, 200 * SIM_MS);
			if (sure_of(&found) + suspects_of(&found) != 0) {
				show(&found, steady_names[p], seed);
				accused++;
			}
			tdm_findings_done(&found);
			sim_done(&sim);
		}
	assert_true(runs >= (size_t)full_size(500, 100));
	assert_int_equal(accused, 0);
}

static void test_loading(void **state)
{
	(void)state;
	size_t suspected = 0;
	for (int seed = 0; seed < steady_seeds(); seed++) {
		struct sim sim;
		sim_init(&sim, (uint64_t)seed);
		loading(&sim);
		struct tdm_findings found = sim_watch(&sim, 200 * SIM_MS);
		if (sure_of(&found) != 0)
			show(&found, "loading", seed);
		assert_int_equal(sure_of(&found), 0);
		for (size_t i = 0; i < found.count; i++)
			suspected +=
				why_of(&found.list[i]) == TDM_LEAK_LOADING || why_of(&found.list[i]) == TDM_LEAK_MANY;
		tdm_findings_done(&found);
		sim_done(&sim);
	}
	assert_true(suspected > 0);
}

static void test_leaky(void **state)
{
	(void)state;
	size_t missed = 0, runs = 0;
	for (size_t p = 0; p < sizeof leaky / sizeof leaky[0]; p++)
		for (int seed = 0; seed < leaky_seeds(); seed++, runs++) {
			struct sim sim;
			sim_init(&sim, (uint64_t)seed * 16 + p);
			leaky[p](&sim);
			struct tdm_findings found = sim_watch(&sim, 200 * SIM_MS);
			bool is_found = sure_of(&found) == 1 && suspects_of(&found) == 0 &&
					strcmp(found.list[0].about.name, "lost") == 0 &&
					found.list[0].about.process == (leaky[p] == one_of_two);
			if (!is_found) {
				show(&found, "leaky", (int)p * 1000 + seed);
				missed++;
			}
			tdm_findings_done(&found);
			sim_done(&sim);
		}
	assert_true(runs >= (size_t)full_size(200, 40));
	assert_int_equal(missed, 0);
}

/* A server that loses a page now and then, among pages that live long: at least a suspicion. */
static void test_leaky_server(void **state)
{
	(void)state;
	size_t sure = 0;
	for (int seed = 0; seed < leaky_seeds(); seed++) {
		struct sim sim;
		sim_init(&sim, (uint64_t)seed);
		uint64_t mean = sim_between(&sim, 200, 1000) * SIM_MS;
		weights(&sim, 0);
		serve(&sim, SIM_BEGIN - 120 * SIM_S, mean, mean / 5, 0.2);
		struct tdm_findings found = sim_watch(&sim, 200 * SIM_MS);
		if (sure_of(&found) + suspects_of(&found) != 1)
			show(&found, "leaky server", seed);
		assert_int_equal(sure_of(&found) + suspects_of(&found), 1);
		assert_string_equal(found.list[0].about.name, "page");
		sure += sure_of(&found);
		tdm_findings_done(&found);
		sim_done(&sim);
	}
	assert_true(sure >= (size_t)leaky_seeds() * 3 / 4);
}

static void judge(struct tdm_leaks *leaks, const struct sim *sim, struct tdm_findings *found)
{
	struct tdm_leaks_result result;
	*found = (struct tdm_findings){ 0 };
	tdm_leaks_judge(leaks, &sim->picture, found, &result);
	tdm_leaks_free(leaks);
}

/* A single picture, at the end of the watching time. */
static struct tdm_findings look_once(struct sim *sim)
{
	struct tdm_leaks *leaks = tdm_leaks_new(0);
	struct tdm_findings found;
	sim_ready(sim);
	sim_freed(sim, TDM_KIND_DRAM, "lost", SIM_BEGIN, 5 * SIM_MS, 6 * SIM_MS);
	sim_freed(sim, TDM_KIND_DRAM, "nobody", SIM_BEGIN, 5, 5);
	const struct tdm_picture *picture = sim_picture(sim, SIM_BEGIN + 30 * SIM_S);
	tdm_leaks_sample(leaks, picture, picture->time_ns);
	judge(leaks, sim, &found);
	return found;
}

static const struct tdm_finding *find(const struct tdm_findings *found, const char *name)
{
	for (size_t i = 0; i < found->count; i++)
		if (strcmp(found->list[i].about.name, name) == 0)
			return &found->list[i];
	fail_msg("no finding about %s", name);
	return NULL;
}

/* One picture: births that are spread over the life of the program are suspicious; what is young or early is not. */
static void test_once(void **state)
{
	(void)state;
	for (int seed = 0; seed < leaky_seeds(); seed++) {
		struct sim sim;
		sim_init(&sim, (uint64_t)seed);
		weights(&sim, 0);
		serve(&sim, FROM, SIM_S, SIM_S / 5, 0);
		if (seed % 2 == 0)
			for (uint64_t at = sim.started_ns[0]; at < TO; at += sim_between(&sim, 5, 15) * SIM_S)
				sim_add(&sim, 0, TDM_KIND_DRAM, "lost", 4096, at, SIM_NEVER);
		struct tdm_findings found = look_once(&sim);
		assert_int_equal(sure_of(&found), 0);
		assert_int_equal(suspects_of(&found), seed % 2 == 0);
		assert_int_equal(why_of(find(&found, "adam")), TDM_LEAK_UNWATCHED);
		if (seed % 2 == 0) {
			assert_int_equal(why_of(find(&found, "lost")), TDM_LEAK_SPREAD);
			const struct tdm_finding *lost = find(&found, "lost");
			assert_int_equal(tdm_finding_number(&found, lost, "freed_lived_ns"), 5 * SIM_MS);
			assert_int_equal(tdm_finding_number(&found, lost, "freed_lived_most_ns"), 6 * SIM_MS);
		}
		tdm_findings_done(&found);
		sim_done(&sim);
	}
}

/* What is left when a program ends is a leak, unless it was killed, or the runtime leaves it. */
static void test_ended(void **state)
{
	(void)state;
	for (int closed = 0; closed < 2; closed++) {
		struct sim sim;
		sim_init(&sim, 1);
		weights(&sim, 0);
		sim.who[0].life = TDM_LIFE_ENDED;
		sim.who[0].closed = closed != 0;
		struct tdm_findings found = look_once(&sim);
		assert_int_equal(why_of(find(&found, "adam")), closed != 0 ? TDM_LEAK_AT_EXIT : TDM_LEAK_KILLED);
		assert_int_equal(find(&found, "adam")->severity, closed != 0 ? TDM_FINDING_BROKEN : TDM_FINDING_OK);
		assert_int_equal(why_of(find(&found, "kernel")), TDM_LEAK_RUNTIME);
		tdm_findings_done(&found);
		sim_done(&sim);
	}
}

/* Growth under names that have nothing in common is seen in the sum of the kind: a leak, or a cache of programs that
 * fills. */
static void grow_under_many_names(enum tdm_kind kind, enum tdm_leak_why why)
{
	struct sim sim;
	char name[32];
	sim_init(&sim, 3);
	weights(&sim, 0);
	loop(&sim, 0, 300 * SIM_MS, NULL);
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof name, "tensor-%c%c%c", 'g' + i % 10, 'g' + i / 10 % 10, 'g' + i / 100);
		sim_add(&sim, 0, kind, name, 4096, FROM + (uint64_t)i * 237 * SIM_MS, SIM_NEVER);
	}
	struct tdm_findings found = sim_watch(&sim, 200 * SIM_MS);
	assert_int_equal(sure_of(&found), 0);
	assert_int_equal(suspects_of(&found), 1);
	assert_int_equal(why_of(&found.list[0]), why);
	assert_true(tdm_finding_number(&found, &found.list[0], "many_sites") == 1);
	assert_true(tdm_finding_number(&found, &found.list[0], "grown_buffers") > 50);
	tdm_findings_done(&found);
	sim_done(&sim);
}

/* Binaries of programs lie in DRAM. They come with kernels, while a leak comes whenever it likes, also while programs
 * are compiled. */
static void test_with_programs(void **state)
{
	(void)state;
	for (int seed = 0; seed < leaky_seeds(); seed++) {
		struct sim sim;
		bool lost = seed % 2 == 0;
		sim_init(&sim, (uint64_t)seed);
		weights(&sim, 0);
		loop(&sim, 0, any_period(&sim), NULL);
		uint64_t step = sim_between(&sim, 100, 600) * SIM_MS;
		for (uint64_t at = FROM; at < TO; at += step * sim_between(&sim, 50, 150) / 100) {
			for (int i = 0; i < 3; i++)
				sim_add(&sim, 0, TDM_KIND_KERNEL, "kernel", 30000, at + (uint64_t)i, SIM_NEVER);
			sim_add(&sim, 0, TDM_KIND_DRAM, "binary", 65536, at + sim_between(&sim, 0, SIM_MS), SIM_NEVER);
		}
		for (uint64_t at = FROM; lost && at < TO; at += step)
			sim_add(&sim, 0, TDM_KIND_DRAM, "lost", 4096, at + sim_between(&sim, 0, step), SIM_NEVER);
		struct tdm_findings found = sim_watch(&sim, 200 * SIM_MS);
		assert_int_equal(sure_of(&found), lost);
		assert_int_equal(suspects_of(&found), 2);
		assert_int_equal(why_of(find(&found, "binary")), TDM_LEAK_PROGRAMS);
		assert_int_equal(why_of(find(&found, "kernel")), TDM_LEAK_PROGRAMS);
		if (lost)
			assert_int_equal(why_of(find(&found, "lost")), TDM_LEAK_GROWS);
		tdm_findings_done(&found);
		sim_done(&sim);
	}
}

/* One picture of a site that others are freed at, too: suspicious is what became older than they. */
static void test_siblings(void **state)
{
	(void)state;
	for (int older = 0; older < 2; older++) {
		struct sim sim;
		struct tdm_findings found;
		uint64_t now = SIM_BEGIN + 40 * SIM_S;
		sim_init(&sim, 5);
		weights(&sim, 0);
		loop(&sim, 0, 100 * SIM_MS, NULL);
		sim.started_ns[0] = SIM_BEGIN;
		for (uint64_t i = 0; i < 200; i++)
			sim_add(&sim, 0, TDM_KIND_DRAM, "session", SIM_MIB, SIM_BEGIN + i * 200 * SIM_MS, SIM_NEVER);
		struct tdm_leaks *leaks = tdm_leaks_new(0);
		sim_ready(&sim);
		for (uint64_t i = 1; i <= 20; i++) {
			uint64_t life = i * (older ? SIM_MS : 3 * SIM_S / 2);
			sim_freed(&sim, TDM_KIND_DRAM, "session", SIM_BEGIN, life, life);
		}
		tdm_leaks_sample(leaks, sim_picture(&sim, now), now);
		judge(leaks, &sim, &found);
		assert_int_equal(why_of(find(&found, "session")), older ? TDM_LEAK_SPREAD : TDM_LEAK_UNWATCHED);
		tdm_findings_done(&found);
		sim_done(&sim);
	}
}

static void test_many_names(void **state)
{
	(void)state;
	grow_under_many_names(TDM_KIND_DRAM, TDM_LEAK_MANY);
	grow_under_many_names(TDM_KIND_KERNEL, TDM_LEAK_PROGRAMS);
}

/* A phase whose name says that the program loads takes the edge off; one that only sounds like it does not. */
static void test_phases(void **state)
{
	(void)state;
	static const struct {
		const char *phase;
		enum tdm_leak_why why;
	} cases[] = {
		{ "MODEL_CREATION", TDM_LEAK_LOADING },
		{ "shard_3_loading", TDM_LEAK_LOADING },
		{ "Warm-up", TDM_LEAK_LOADING },
		{ "workload", TDM_LEAK_GROWS },
		{ "FORWARD_PASS_micro_0", TDM_LEAK_GROWS },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct sim sim;
		sim_init(&sim, 5);
		sim.phase = cases[i].phase;
		small_in_sawtooth(&sim);
		struct tdm_findings found = sim_watch(&sim, 200 * SIM_MS);
		assert_int_equal(why_of(find(&found, "lost")), cases[i].why);
		tdm_findings_done(&found);
		sim_done(&sim);
	}
}

/* A picture of so many buffers, each of a site of its own. The last one belongs to process `last_of`. */
static const struct tdm_picture *many_sites(struct sim *sim, uint64_t now, uint32_t count, uint8_t last_of)
{
	const struct tdm_picture *picture = sim_picture(sim, now);
	for (uint32_t i = 0; i < count; i++) {
		const struct tdm_frame frame = { .address = 0x1000 + i };
		struct tdm_buffer buffer = { .asked_bytes = 1, .bank_bytes = TDM_SIZE_UNKNOWN, .born_ns = 1 };
		buffer.stack = tdm_intern_stack(&sim->texts, &frame, 1);
		sim_show(sim, &buffer, i == count - 1 ? last_of : 0);
	}
	for (size_t p = 0; p < sim->process_count; p++)
		sim_sum(sim, p);
	return picture;
}

/* More sites than are looked at one by one: counted, and no memory without end. */
static void test_too_many_sites(void **state)
{
	(void)state;
	struct sim sim;
	sim_init(&sim, 3);
	const struct tdm_picture *picture = many_sites(&sim, SIM_BEGIN, 65536 + 100, 0);
	struct tdm_leaks *leaks = tdm_leaks_new(SIM_S);
	struct tdm_findings found = { 0 };
	struct tdm_leaks_result r;
	tdm_leaks_sample(leaks, picture, SIM_BEGIN);
	tdm_leaks_judge(leaks, picture, &found, &r);
	assert_int_equal(r.sites_left_out, 100);
	assert_int_equal(found.count, 65536);
	tdm_findings_done(&found);
	tdm_leaks_free(leaks);
	sim_done(&sim);
}

/* Programs come and go while it is watched: those that are gone take no room from the others. */
static void test_gone_sites(void **state)
{
	(void)state;
	enum { COUNT = TDM_LEAKS_SITES_MAX / 3, PICTURES = 8 };
	struct tdm_leaks *leaks = tdm_leaks_new(PICTURES * SIM_S);
	const struct tdm_picture *picture = NULL;
	struct tdm_findings found = { 0 };
	struct tdm_leaks_result r;
	struct sim sim;
	sim_init(&sim, 3);
	sim.process_count = 2;
	for (uint64_t i = 0; i < PICTURES; i++) {
		sim.processes[0].handle = 1000 + i; /* another one each time; the second stays */
		picture = many_sites(&sim, SIM_BEGIN + i * SIM_S, COUNT, 1);
		tdm_leaks_sample(leaks, picture, SIM_BEGIN + i * SIM_S);
	}
	tdm_leaks_judge(leaks, picture, &found, &r);
	assert_int_equal(r.sites_left_out, 0);
	assert_int_equal(found.count, COUNT);
	for (size_t i = 0; i < found.count; i++) {
		const struct tdm_finding *f = &found.list[i];
		bool stays = f->about.holding == 1;
		assert_int_equal(tdm_finding_number(&found, f, "freed"), stays ? 0 : TDM_BYTES_UNKNOWN); /* seen once */
		assert_int_equal(tdm_finding_number(&found, f, "buffers"), 1);
		assert_int_equal(f->about.stack == COUNT, stays);
	}
	tdm_findings_done(&found);
	tdm_leaks_free(leaks);
	sim_done(&sim);
}

/*
 * Buffers that are collected and freed together: watched for less than it takes, they only grow. What the freed ones
 * became tells that from a leak; but not when all of them were young.
 */
static void test_collected(void **state)
{
	(void)state;
	const struct {
		uint64_t longest;
		enum tdm_severity verdict;
	} all[] = { { 4 * SIM_S, TDM_FINDING_OK }, { SIM_S, TDM_FINDING_BROKEN }, { 0, TDM_FINDING_BROKEN } };
	for (size_t n = 0; n < sizeof all / sizeof *all; n++) {
		struct sim sim;
		struct tdm_findings found;
		sim_init(&sim, 7);
		weights(&sim, 0);
		loop(&sim, 0, 100 * SIM_MS, NULL);
		for (uint64_t at = SIM_BEGIN; at < SIM_BEGIN + 4 * SIM_S; at += 100 * SIM_MS)
			sim_add(&sim, 0, TDM_KIND_L1, "halo", SIM_MIB, at, SIM_BEGIN + 4 * SIM_S);
		sim.watch_ns = 3 * SIM_S;
		sim_ready(&sim);
		struct tdm_leaks *leaks = tdm_leaks_new(sim.watch_ns);
		for (uint64_t i = 1; i <= 40 && all[n].longest != 0; i++) {
			uint64_t life = all[n].longest * i / 40;
			sim_freed(&sim, TDM_KIND_L1, "halo", SIM_BEGIN, life, life);
		}
		for (uint64_t at = SIM_BEGIN; at <= SIM_BEGIN + sim.watch_ns; at += 20 * SIM_MS) {
			tdm_leaks_sample(leaks, sim_picture(&sim, at), at);
		}
		judge(leaks, &sim, &found);
		assert_int_equal(find(&found, "halo")->severity, all[n].verdict);
		assert_int_equal(why_of(find(&found, "halo")),
			all[n].verdict == TDM_FINDING_OK ? TDM_LEAK_YOUNG : TDM_LEAK_GROWS);
		tdm_findings_done(&found);
		sim_done(&sim);
	}
}

/* One step of a loop seems to lose everything: in two seconds nobody can be sure, in more one can. */
static void test_short_watch(void **state)
{
	(void)state;
	for (uint64_t seconds = 1; seconds <= 3; seconds++) {
		struct sim sim;
		sim_init(&sim, 7);
		weights(&sim, 0);
		loop(&sim, 0, 100 * SIM_MS, NULL);
		for (uint64_t at = FROM; at < TO; at += 20 * SIM_MS)
			lose_one(&sim, 0, at);
		sim.watch_ns = seconds * SIM_S;
		struct tdm_findings found = sim_watch(&sim, 20 * SIM_MS);
		assert_int_equal(sure_of(&found), seconds > 2);
		assert_int_equal(suspects_of(&found), seconds <= 2);
		tdm_findings_done(&found);
		sim_done(&sim);
	}
}

/* Who breaks the watching off is told what was seen until then: what grew has not stopped with the watching. */
static void test_broken_off(void **state)
{
	(void)state;
	for (size_t p = 0; p < sizeof leaky / sizeof leaky[0]; p++)
		for (int seed = 0; seed < BROKEN_OFF_SEEDS; seed++) {
			struct sim sim;
			sim_init(&sim, (uint64_t)seed * 16 + p);
			leaky[p](&sim);
			sim.seen_ns = sim.watch_ns * 4 / 5;
			struct tdm_findings found = sim_watch(&sim, 200 * SIM_MS);
			const struct tdm_finding *lost = find(&found, "lost");
			if (lost == NULL || lost->severity != TDM_FINDING_BROKEN)
				show(&found, "broken off", (int)p * 1000 + seed);
			assert_non_null(lost);
			assert_int_equal(lost->severity, TDM_FINDING_BROKEN);
			tdm_findings_done(&found);
			sim_done(&sim);
		}
	for (size_t p = 0; p < sizeof steady / sizeof steady[0]; p++)
		for (int seed = 0; seed < BROKEN_OFF_SEEDS; seed++) {
			struct sim sim;
			sim_init(&sim, (uint64_t)seed * 16 + p);
			steady[p](&sim);
			sim.seen_ns = sim.watch_ns * 4 / 5;
			struct tdm_findings found = sim_watch(&sim, 200 * SIM_MS);
			if (sure_of(&found) != 0)
				show(&found, steady_names[p], seed);
			assert_int_equal(sure_of(&found), 0);
			tdm_findings_done(&found);
			sim_done(&sim);
		}
}

/* Nothing was looked at. */
static void test_nothing(void **state)
{
	(void)state;
	struct tdm_leaks *leaks = tdm_leaks_new(SIM_S);
	struct tdm_findings found = { 0 };
	struct tdm_leaks_result r;
	tdm_leaks_judge(leaks, NULL, &found, &r);
	assert_int_equal(found.count, 0);
	tdm_findings_done(&found);
	tdm_leaks_free(leaks);
	tdm_leaks_free(NULL);
}

/* Figures that were worked out by hand. */
static void test_trend(void **state)
{
	(void)state;
	const double up[] = { 1, 2, 3, 4, 5, 6, 7, 8 }, flat[] = { 3, 3, 3, 3 }, ties[] = { 1, 1, 2, 2 };
	struct tdm_rise noisy = { .value = { 1, 2, 90, 4, 5 }, .at_s = { 0, 1, 2, 3, 4 }, .count = 5 };
	assert_true(fabs(tdm_trend_z(up, 8) - 27 / sqrt(8.0 * 7 * 21 / 18)) < 1e-9);
	assert_true(fabs(tdm_trend_z(flat, 4)) < 1e-9);
	assert_true(fabs(tdm_trend_z(ties, 4) - 3 / sqrt((4.0 * 3 * 13 - 2 * (2 * 1 * 9)) / 18)) < 1e-9);
	assert_true(fabs(tdm_trend_z(up, 2)) < 1e-9);
	assert_true(fabs(tdm_rise_slope(&noisy) - 1) < 1e-9);
	noisy.count = 1;
	assert_true(fabs(tdm_rise_slope(&noisy)) < 1e-9);
	double down[] = { 8, 7, 6, 5, 4, 3, 2, 1 };
	assert_true(fabs(tdm_trend_z(down, 8) + tdm_trend_z(up, 8)) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trend),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_collected),
		cmocka_unit_test(test_short_watch),
		cmocka_unit_test(test_broken_off),
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_with_programs),
		cmocka_unit_test(test_siblings),
		cmocka_unit_test(test_many_names),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_too_many_sites),
		cmocka_unit_test(test_gone_sites),
		cmocka_unit_test(test_steady),
		cmocka_unit_test(test_loading),
		cmocka_unit_test(test_leaky),
		cmocka_unit_test(test_leaky_server),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
