/*
 * The load of the threads bench: several threads report on the same device, as fast as they can, for a fixed time. Each
 * has a few live buffers; a step releases the oldest and allocates another. The times of single reports are taken in a
 * second pass, because reading the clock around each report makes the threads collide less often.
 */
#ifndef TDM_BENCH_THREADS_LOAD_H
#define TDM_BENCH_THREADS_LOAD_H

#include <stdint.h>

enum threads_side { THREADS_OURS, THREADS_COUNTERS, THREADS_MUTEX, THREADS_SIDES };

struct threads_figures {
	double event_ns;            /* time for one event, all threads together */
	double p999_ns, longest_ns; /* of one report */
	/* per 1,000 events; unknown (0) for the baselines */
	double handovers; /* events of another thread than the event before, among the recent ones */
	double naps;      /* system calls that wait */
};

extern const char *const threads_side_names[THREADS_SIDES];

/* Measures once. Returns a message, or NULL on success. `path`: a file for the counters. */
const char *threads_load_run(
	enum threads_side side, unsigned threads, const char *path, struct threads_figures *figures);

#endif
