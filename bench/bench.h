/*
 * The benchmark program. Every figure is measured in the same run as its baseline, alternating with it, because
 * machines are noisy: ratios count, absolute times do not. Each subject has its own file and an entry in the table in
 * bench_main.c.
 */
#ifndef TDM_BENCH_BENCH_H
#define TDM_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench;

struct bench_subject {
	const char *name; /* rows are called "name.something" */
	const char *summary;
	void (*run)(struct bench *bench);
	int (*child)(
		const char *name); /* `tidemark-bench --child SUBJECT NAME`: a part in its own process; may be NULL */
};

/* One row. The ratio says how many times better ours is than the baseline; `goal` is the ratio to reach; 0: none. */
struct bench_row {
	const char *name;
	const char *unit; /* "ns", "Mop/s" */
	double ours, baseline;
	double goal;
	bool higher_is_better; /* of ours and baseline; false for times */
	const char *note;      /* what the baseline is */
};

/* Whether the user asked for this row; else its measurement is skipped. */
bool bench_wants(const struct bench *bench, const char *row);
void bench_put(struct bench *bench, const struct bench_row *row);
/* Prints why a requested row cannot be measured here. */
void bench_leave_out(struct bench *bench, const char *row, const char *why);

/* The directory of the built commands, for subjects that run them. */
const char *bench_bin_dir(const struct bench *bench);

/* A small generator with the same sequence everywhere. */
static inline uint64_t bench_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

extern const struct bench_subject bench_capture;
extern const struct bench_subject bench_event;
extern const struct bench_subject bench_freelist;
extern const struct bench_subject bench_live;
extern const struct bench_subject bench_log;
extern const struct bench_subject bench_metal;
extern const struct bench_subject bench_replay;
extern const struct bench_subject bench_scan;
extern const struct bench_subject bench_plot;
extern const struct bench_subject bench_pressure;
extern const struct bench_subject bench_server;
extern const struct bench_subject bench_views;

#endif
