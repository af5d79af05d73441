/*
 * A simulated busy machine to watch: cards with telemetry, processes with ledgers and live buffers, some of which keep
 * allocating, and tt-metal's shared memory, all in its own directory. Nothing here is a real card.
 */
#ifndef TDM_BENCH_LIVE_LOAD_H
#define TDM_BENCH_LIVE_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct bench_load_plan {
	uint32_t devices, processes;
	uint64_t buffers; /* live ones, of all processes together */
	uint32_t busy;    /* processes that keep allocating and freeing */
};

struct bench_load {
	char root[64];
	char ledgers[96], shm[96], sysfs[96], proc[96]; /* TIDEMARK_DIR, …_SHM_DIR, …_SYSFS_ROOT, …_PROC_ROOT */
	const char *env[5];                             /* the same as "NAME=value", ends with NULL */
	char words[4][160];
	pid_t *pids;
	size_t count;
	uint64_t live; /* buffers that are live */
};

/* False when it could not be set up, with the reason in `why`; call bench_load_stop in both cases. */
bool bench_load_start(struct bench_load *load, const struct bench_load_plan *plan, const char **why);
void bench_load_stop(struct bench_load *load);

#endif
