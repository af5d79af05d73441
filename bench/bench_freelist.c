/*
 * The allocator model against the runtime's own data structures (baseline_freelist.c): ns for freeing one block and
 * allocating another, and for one call of the statistics, with an increasing number of live blocks. The region has 12
 * GiB; sizes are uniform from 32 to 65,536 in steps of 32; the mix is steady and random, first fit from the bottom.
 * Both sides get the same requests and must return the same addresses.
 */
#include "baseline_freelist.h"
#include "bench.h"

#include "base/clock.h"
#include "model/alloc/freelist.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	STEP = 32,
	STEPS = 65536 / STEP,
	ROUNDS = 7,      /* the fastest counts: the rest is noise from other programs */
	WARM_FACTOR = 4, /* warm-up requests for each live block, until the mix is steady */
	PAIRS = 100000,  /* per round; every round has different ones */
	LARGE = 100000,
	STATS_CALLS = 100000,
};
#define REGION (UINT64_C(12) << 30)

/* Growth of the real allocator from 100 to 100,000 live blocks: 13,382 / 249, measured on the real code. */
static const double real_growth = 13382.0 / 249.0;

struct both {
	struct tdm_freelist *ours;
	struct baseline_freelist *theirs;
	uint64_t *our_at, *their_at;
	uint32_t *victim;
	uint64_t *size;
	size_t live;
	uint64_t seed;
};

struct figures {
	double our_pair, their_pair, our_stats, their_stats;
};

static uint64_t random_size(uint64_t *seed)
{
	return (1 + bench_random(seed) % STEPS) * STEP;
}

static void our_pair(struct both *b, size_t victim, uint64_t size)
{
	tdm_freelist_release(b->ours, b->our_at[victim], NULL);
	tdm_freelist_alloc(b->ours, size, TDM_BOTTOM_UP, 0, &b->our_at[victim]);
}

static void their_pair(struct both *b, size_t victim, uint64_t size)
{
	baseline_freelist_release(b->theirs, b->their_at[victim]);
	baseline_freelist_alloc(b->theirs, size, true, &b->their_at[victim]);
}

static void check_same(const struct both *b)
{
	for (size_t i = 0; i < b->live; i++)
		if (b->our_at[i] != b->their_at[i]) {
			fprintf(stderr, "bench: block %zu is at %" PRIu64 ", the baseline says %" PRIu64 "\n", i,
				b->our_at[i], b->their_at[i]);
			exit(2);
		}
}

static void both_open(struct both *b, size_t live)
{
	struct tdm_freelist_config config = { 0, REGION, STEP, STEP, TDM_FIT_FIRST };
	*b = (struct both){ .live = live, .seed = UINT64_C(88172645463325252) };
	b->theirs = baseline_freelist_new(REGION, STEP);
	b->our_at = calloc(live, sizeof *b->our_at);
	b->their_at = calloc(live, sizeof *b->their_at);
	b->victim = calloc(PAIRS, sizeof *b->victim);
	b->size = calloc(PAIRS, sizeof *b->size);
	if (tdm_freelist_new(&config, &b->ours) != 0 || !b->our_at || !b->their_at || !b->victim || !b->size) {
		fputs("bench: out of memory\n", stderr);
		exit(2);
	}
	for (size_t i = 0; i < live; i++) {
		uint64_t size = random_size(&b->seed);
		tdm_freelist_alloc(b->ours, size, TDM_BOTTOM_UP, 0, &b->our_at[i]);
		baseline_freelist_alloc(b->theirs, size, true, &b->their_at[i]);
	}
	for (size_t i = 0; i < live * WARM_FACTOR; i++) {
		size_t victim = bench_random(&b->seed) % live;
		uint64_t size = random_size(&b->seed);
		our_pair(b, victim, size);
		their_pair(b, victim, size);
	}
	check_same(b);
}

static void draw_pairs(struct both *b)
{
	for (size_t i = 0; i < PAIRS; i++) {
		b->victim[i] = (uint32_t)(bench_random(&b->seed) % b->live);
		b->size[i] = random_size(&b->seed);
	}
}

static void both_close(struct both *b)
{
	tdm_freelist_free(b->ours);
	baseline_freelist_free(b->theirs);
	free(b->our_at);
	free(b->their_at);
	free(b->victim);
	free(b->size);
}

static void keep_fastest(double *fastest, uint64_t from, uint64_t to, size_t count)
{
	double ns = (double)(to - from) / (double)count;
	if (*fastest == 0 || ns < *fastest)
		*fastest = ns;
}

static void time_pairs(struct both *b, struct figures *f)
{
	for (int round = 0; round < ROUNDS; round++) {
		draw_pairs(b);
		uint64_t t0 = tdm_clock_ns();
		for (size_t i = 0; i < PAIRS; i++)
			our_pair(b, b->victim[i], b->size[i]);
		uint64_t t1 = tdm_clock_ns();
		for (size_t i = 0; i < PAIRS; i++)
			their_pair(b, b->victim[i], b->size[i]);
		uint64_t t2 = tdm_clock_ns();
		keep_fastest(&f->our_pair, t0, t1, PAIRS);
		keep_fastest(&f->their_pair, t1, t2, PAIRS);
	}
	check_same(b);
}

static void time_stats(struct both *b, struct figures *f)
{
	size_t calls = STATS_CALLS / b->live + 10;
	volatile uint64_t sink = 0;
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t t0 = tdm_clock_ns();
		for (size_t i = 0; i < STATS_CALLS; i++) {
			__asm__ volatile("" ::: "memory"); /* each call reads the list again */
			sink = sink + tdm_freelist_stats(b->ours).largest_free;
		}
		uint64_t t1 = tdm_clock_ns();
		for (size_t i = 0; i < calls; i++)
			sink = sink + baseline_freelist_stats(b->theirs).largest_free;
		uint64_t t2 = tdm_clock_ns();
		keep_fastest(&f->our_stats, t0, t1, STATS_CALLS);
		keep_fastest(&f->their_stats, t1, t2, calls);
	}
}

static void put_growth(struct bench *bench, const struct figures *small, const struct figures *large)
{
	bench_put(bench, &(struct bench_row){ .name = "freelist.baseline.growth",
				 .unit = "x",
				 .ours = large->their_pair / small->their_pair,
				 .baseline = real_growth,
				 .goal = 0.6,
				 .higher_is_better = true,
				 .note = "growth of the real one from 100 to 100,000" });
	bench_put(bench, &(struct bench_row){ .name = "freelist.stats.flat",
				 .unit = "x",
				 .ours = large->our_stats / small->our_stats,
				 .baseline = 1.5,
				 .goal = 1,
				 .note = "limit: cost at 100,000 over cost at 100" });
}

static void freelist_run(struct bench *bench)
{
	static const struct {
		size_t live;
		const char *pair, *stats;
		double pair_goal, stats_goal;
	} sizes[] = {
		{ 100, "freelist.pair.100", "freelist.stats.100", 1, 1 },
		{ 1000, "freelist.pair.1000", "freelist.stats.1000", 1, 1 },
		{ 10000, "freelist.pair.10000", "freelist.stats.10000", 1, 1 },
		{ LARGE, "freelist.pair.100000", "freelist.stats.100000", 20, 1000 },
	};
	enum { COUNT = sizeof sizes / sizeof *sizes };
	struct figures f[COUNT] = { 0 };
	bool flat = bench_wants(bench, "freelist.baseline.growth") || bench_wants(bench, "freelist.stats.flat");
	for (size_t i = 0; i < COUNT; i++) {
		struct both b;
		bool pair = bench_wants(bench, sizes[i].pair), stats = bench_wants(bench, sizes[i].stats);
		bool end = flat && (i == 0 || i == COUNT - 1);
		if (!pair && !stats && !end)
			continue;
		both_open(&b, sizes[i].live);
		time_pairs(&b, &f[i]);
		time_stats(&b, &f[i]);
		both_close(&b);
		if (pair)
			bench_put(bench, &(struct bench_row){ sizes[i].pair, "ns", f[i].our_pair, f[i].their_pair,
						 sizes[i].pair_goal, false, "free+alloc, sorted vectors" });
		if (stats)
			bench_put(bench, &(struct bench_row){ sizes[i].stats, "ns", f[i].our_stats, f[i].their_stats,
						 sizes[i].stats_goal, false, "statistics, linear scan" });
	}
	if (flat)
		put_growth(bench, &f[0], &f[COUNT - 1]);
}

const struct bench_subject bench_freelist = {
	.name = "freelist",
	.summary = "the allocator model against the runtime's own data structures",
	.run = freelist_run,
};
