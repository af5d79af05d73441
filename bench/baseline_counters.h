/*
 * A baseline of the event bench: totals in shared memory as the runtime keeps them, written down again. One file of a
 * fixed layout for each device; a report finds the chip's and the process's entry by a linear search, moves three
 * totals (device, chip, process) with atomic operations, releases with a check against underflow, and stores two time
 * stamps. No buffers, no peaks, no events: only totals.
 */
#ifndef TDM_BENCH_BASELINE_COUNTERS_H
#define TDM_BENCH_BASELINE_COUNTERS_H

#include <stdint.h>
#include <sys/types.h>

enum baseline_type { BASELINE_DRAM, BASELINE_L1, BASELINE_SYSTEM, BASELINE_L1_SMALL, BASELINE_TRACE, BASELINE_CB };

struct baseline_counters;

/* Makes the file at `path`; NULL and errno when that fails. */
struct baseline_counters *baseline_counters_open(const char *path, uint32_t device);
void baseline_counters_close(struct baseline_counters *c);
void baseline_counters_alloc(
	struct baseline_counters *c, pid_t pid, uint64_t bytes, enum baseline_type type, uint32_t chip);
void baseline_counters_release(
	struct baseline_counters *c, pid_t pid, uint64_t bytes, enum baseline_type type, uint32_t chip);
/* The device's total of L1, for the check that nothing went wrong. */
uint64_t baseline_counters_l1(const struct baseline_counters *c);

#endif
