/*
 * The limits of the leak finder's rules: each row is a site between a limit and twice that limit, so that a rule with a
 * limit twice as high gives another verdict. Every row begins with a site that grows, without any doubt, and changes
 * only what its rule looks at.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/leaks/leak_sites.h"
#include "leaks_sim.h"

enum { WINDOWS = TDM_LEAKS_WINDOWS, WATCH_S = 16 };
#define WATCH (WATCH_S * SIM_S)
#define END   (SIM_BEGIN + WATCH)

struct scene {
	struct sim sim;
	struct tdm_leaks *leaks; /* after one sample at END */
	struct tdm_leaks_site *site;
};

/* ---- births ---- */

static void born(struct scene *s, double at_s)
{
	sim_add(&s->sim, 0, TDM_KIND_DRAM, "leak", SIM_MIB, SIM_BEGIN + (uint64_t)(int64_t)(at_s * 1e9), SIM_NEVER);
}

/* Within the watching; the average is at 1 / (power + 1) of the time. */
static void births_of(struct scene *s, int count, double power)
{
	for (int i = 0; i < count; i++)
		born(s, WATCH_S * pow((i + 0.5) / count, power));
}

static void evenly(struct scene *s)
{
	births_of(s, 100, 1);
}

static void mostly_early(struct scene *s)
{
	births_of(s, 200, 1.0 / 0.44 - 1);
}

static void earlier_still(struct scene *s)
{
	births_of(s, 200, 1.0 / 0.43 - 1);
}

/* Each moment has two births, which count as one. */
static void early_in_pairs(struct scene *s)
{
	enum { MOMENTS = 256, PAIRS = 100 };
	for (int i = 0; i < PAIRS; i++) {
		double moment = floor(MOMENTS * pow((i + 0.5) / PAIRS, 1.0 / 0.44 - 1));
		born(s, WATCH_S * (moment + 0.1) / MOMENTS);
		born(s, WATCH_S * (moment + 0.6) / MOMENTS);
	}
}

static void mostly_late(struct scene *s)
{
	births_of(s, 100, 1.0 / 0.7 - 1);
}

static void quiet_at_the_end(struct scene *s)
{
	for (int i = 0; i < 96; i++)
		born(s, 0.16 * i);
}

static void burst(struct scene *s, double at_s, double apart_s)
{
	for (int i = 0; i < 3; i++)
		born(s, at_s + i * apart_s);
}

static void one_pause_is_longer(struct scene *s)
{
	for (int i = 0; i < 5; i++)
		burst(s, 1 + 2 * i, 0);
	burst(s, 15, 0);
}

static void older_pauses_are_longer(struct scene *s)
{
	burst(s, -2.5, 0);
	burst(s, 2.5, 0);
	for (int i = 0; i < 9; i++)
		burst(s, 7.5 + i, 0);
}

static void most_are_long_ago(struct scene *s)
{
	for (int i = 0; i < 6; i++)
		burst(s, WATCH_S - 10 - 40 * i, 0);
}

static void bursts_last(struct scene *s)
{
	for (int i = 0; i < 6; i++)
		burst(s, 1 + 2.8 * i, 0.2);
}

static void beside_kernels(struct scene *s)
{
	for (int i = 0; i < 10; i++) {
		born(s, 0.1 + 1.6 * i + 0.24);
		sim_add(&s->sim, 0, TDM_KIND_KERNEL, "kernel", SIM_MIB, SIM_BEGIN + (uint64_t)((0.1 + 1.6 * i) * 1e9),
			SIM_NEVER);
	}
}

/* Evenly over the life of the program. */
static void over_the_life(struct scene *s)
{
	for (int i = 0; i < 40; i++)
		born(s, -100 + 2.9 * i);
}

static void a_few_over_the_life(struct scene *s)
{
	for (int i = 0; i < 20; i++)
		born(s, -100 + 5.8 * i);
}

/* ---- what was seen of the site ---- */

/* From so many windows on the floor has so many buffers: `count` per step. */
static void floors(struct scene *s, const uint64_t *counts, int windows)
{
	for (int w = 0; w < WINDOWS; w++) {
		s->site->floor[w].count = w < windows ? counts[w] : TDM_LEAKS_UNSEEN;
		s->site->floor[w].bytes = w < windows ? counts[w] * SIM_MIB : TDM_LEAKS_UNSEEN;
	}
}

static void in_steps(struct scene *s, int windows, uint64_t by)
{
	uint64_t counts[WINDOWS];
	for (int w = 0; w < WINDOWS; w++)
		counts[w] = 1 + by * (uint64_t)(w / windows);
	floors(s, counts, WINDOWS);
}

static void one_step(struct scene *s)
{
	in_steps(s, 12, 4);
}

static void four_levels(struct scene *s)
{
	in_steps(s, 4, 1);
}

static void four_high_levels(struct scene *s)
{
	in_steps(s, 4, 5);
}

static void eight_levels(struct scene *s)
{
	in_steps(s, 2, 1);
}

static void four_windows(struct scene *s)
{
	floors(s, (const uint64_t[]){ 1, 2, 4, 6 }, 4);
}

static void eight_windows(struct scene *s)
{
	floors(s, (const uint64_t[]){ 1, 2, 3, 7, 6, 5, 4, 8 }, 8);
}

static void twelve_windows(struct scene *s)
{
	floors(s, (const uint64_t[]){ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }, 12);
}

static void seen_once(struct scene *s)
{
	floors(s, (const uint64_t[]){ 1 }, 1);
}

static void freed(struct scene *s, uint64_t aged, uint64_t aged_freed)
{
	s->site->aged = aged;
	s->site->aged_freed = s->site->freed = aged_freed;
}

static void few_old_were_freed(struct scene *s)
{
	freed(s, 20, 3);
}

static void many_old_were_freed(struct scene *s)
{
	freed(s, 20, 8);
}

static void one_of_few_was_freed(struct scene *s)
{
	freed(s, 15, 1);
}

static void lives(struct scene *s, uint32_t count, uint32_t long_ones, uint64_t ns)
{
	s->site->lives = calloc(1, sizeof *s->site->lives);
	s->site->lives->count = count;
	for (uint32_t i = 0; i < count && i < TDM_LEAKS_LIFETIMES; i++)
		s->site->lives->ns[i] = s->site->lives->most_ns[i] = i < long_ones ? ns : SIM_S;
	s->site->freed = count;
}

static void some_lived_as_long(struct scene *s)
{
	lives(s, 20, 3, 1000 * SIM_S);
}

static void few_lived_as_long(struct scene *s)
{
	lives(s, 10, 10, 1000 * SIM_S);
}

/* Earlier lives are forgotten. */
static void the_latest_lived_as_long(struct scene *s)
{
	lives(s, 64, 0, 0);
	for (uint32_t i = 60; i < 64; i++)
		s->site->lives->ns[i % TDM_LEAKS_LIFETIMES] = 1000 * SIM_S;
}

static void most_are_older(struct scene *s)
{
	seen_once(s);
	lives(s, 10, 10, 30 * SIM_S);
}

/* Each buffer is freed when a larger one has taken its place. */
static void replaced(struct scene *s)
{
	s->site->sizes = calloc(1, sizeof *s->site->sizes);
	s->site->sizes->samples = 100;
	s->site->freed = 10;
	for (uint64_t w = 0; w < WINDOWS; w++) {
		s->site->floor[w].count = 1;
		s->site->sizes->bytes[w] = s->site->sizes->mean[w] = s->site->sizes->mean_most[w] = 1000 + 100 * w;
	}
}

static void with_gaps(struct scene *s)
{
	replaced(s);
	s->site->sizes->empty = 3;
}

static void with_a_fall(struct scene *s)
{
	replaced(s);
	s->site->sizes->mean[8] = s->site->sizes->mean[7] - 450;
}

/* ---- the rows ---- */

static const struct row {
	const char *limit;
	void (*births)(struct scene *scene);
	void (*seen)(struct scene *scene); /* NULL: it grows in each window */
	enum tdm_leak_why why;
} rows[] = {
	{ "none", evenly, NULL, TDM_LEAK_GROWS },
	{ "SUSPECT_Z", evenly, one_step, TDM_LEAK_UNSURE },
	{ "SHORT_Z, SUSPECT_WINDOWS", evenly, four_windows, TDM_LEAK_UNSURE },
	{ "SHORT_WINDOWS", evenly, eight_windows, TDM_LEAK_CONSTANT },
	{ "SUSPECT_GROWN", evenly, four_levels, TDM_LEAK_UNSURE },
	{ "SURE_GROWN, SURE_RISES", evenly, eight_levels, TDM_LEAK_GROWS },
	{ "SURE_WINDOWS", evenly, twelve_windows, TDM_LEAK_GROWS },
	{ "SURE_MORTAL", evenly, few_old_were_freed, TDM_LEAK_UNSURE },
	{ "SUSPECT_MORTAL", evenly, many_old_were_freed, TDM_LEAK_TURNS_OVER },
	{ "MORTAL_MIN", evenly, one_of_few_was_freed, TDM_LEAK_GROWS },
	{ "DEVIATIONS", mostly_early, NULL, TDM_LEAK_SLOWS },
	{ "STOPS", earlier_still, NULL, TDM_LEAK_SLOWS },
	{ "MOMENTS", early_in_pairs, NULL, TDM_LEAK_GROWS },
	{ "LATE", mostly_late, NULL, TDM_LEAK_LATE },
	{ "QUIET", quiet_at_the_end, NULL, TDM_LEAK_LEVELLED },
	{ "UNEVEN", one_pause_is_longer, four_high_levels, TDM_LEAK_UNSURE },
	{ "BURSTS", older_pauses_are_longer, four_high_levels, TDM_LEAK_GROWS },
	{ "BURST_SPAN", most_are_long_ago, four_high_levels, TDM_LEAK_LEVELLED },
	{ "BURST_PART", bursts_last, four_high_levels, TDM_LEAK_GROWS },
	{ "none", evenly, replaced, TDM_LEAK_REPLACED },
	{ "GAPS", evenly, with_gaps, TDM_LEAK_TURNS_OVER },
	{ "FALLS", evenly, with_a_fall, TDM_LEAK_TURNS_OVER },
	{ "AS_OLD", evenly, some_lived_as_long, TDM_LEAK_YOUNG },
	{ "LIFETIMES", evenly, the_latest_lived_as_long, TDM_LEAK_YOUNG },
	{ "LIVES_MIN", evenly, few_lived_as_long, TDM_LEAK_YOUNG },
	{ "OLDER", over_the_life, most_are_older, TDM_LEAK_SPREAD },
	{ "SPREAD_MIN", a_few_over_the_life, seen_once, TDM_LEAK_SPREAD },
	{ "IN_STEP", beside_kernels, NULL, TDM_LEAK_GROWS },
};

static void begin(struct scene *s, void (*births)(struct scene *))
{
	sim_init(&s->sim, 1);
	s->sim.watch_ns = WATCH;
	s->sim.started_ns[0] = SIM_BEGIN - 100 * SIM_S;
	births(s);
	sim_ready(&s->sim);
	s->leaks = tdm_leaks_new(WATCH);
	tdm_leaks_sample(s->leaks, sim_picture(&s->sim, END), END);
	s->leaks->begin_ns = SIM_BEGIN;
	for (size_t i = 0; i < s->leaks->site_count; i++)
		if (s->leaks->sites[i].kind == TDM_KIND_DRAM)
			s->site = &s->leaks->sites[i];
	uint64_t counts[WINDOWS];
	for (uint64_t w = 0; w < WINDOWS; w++)
		counts[w] = w + 1;
	floors(s, counts, WINDOWS);
	s->leaks->processes[0].frees = 1;
	s->leaks->processes[0].free_windows = s->leaks->processes[0].seen_windows = (1U << WINDOWS) - 1;
}

static void done(struct scene *s, struct tdm_findings *found)
{
	tdm_findings_done(found);
	tdm_leaks_free(s->leaks);
	sim_done(&s->sim);
}

static void each_limit_decides(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct scene s = { .leaks = NULL };
		struct tdm_findings found = { 0 };
		struct tdm_leaks_result result;
		const char *why = "nothing";
		begin(&s, rows[i].births);
		if (rows[i].seen != NULL)
			rows[i].seen(&s);
		tdm_leaks_judge(s.leaks, &s.sim.picture, &found, &result);
		for (size_t f = 0; f < found.count; f++)
			if (found.list[f].about.kind == TDM_KIND_DRAM)
				why = found.list[f].what;
		if (strcmp(why, tdm_leak_why_name(rows[i].why)) != 0)
			fail_msg("%s: %s instead of %s", rows[i].limit, why, tdm_leak_why_name(rows[i].why));
		done(&s, &found);
	}
}

/* A buffer is old, and part of the floor, after a quarter of the watching time. */
static void old_is_a_quarter_of_the_time(void **state)
{
	(void)state;
	struct scene s = { .leaks = NULL };
	struct tdm_findings found = { 0 };
	sim_init(&s.sim, 1);
	born(&s, 0);
	s.leaks = tdm_leaks_new(WATCH);
	for (uint64_t at = 3; at <= 4; at++) {
		tdm_leaks_sample(s.leaks, sim_picture(&s.sim, SIM_BEGIN + at * SIM_S), SIM_BEGIN + at * SIM_S);
		assert_int_equal(s.leaks->sites[0].old_count, at == 4);
	}
	done(&s, &found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_limit_decides),
		cmocka_unit_test(old_is_a_quarter_of_the_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
