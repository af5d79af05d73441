/*
 * A baseline of the event bench: a reimplementation of the runtime's totals in shared memory. Each device has one file
 * of a fixed layout. A report finds the entries of the chip and the process by a linear search, changes three totals
 * (device, chip, process) with atomic operations, with a check against underflow for releases, and stores two time
 * stamps. There are no buffers, peaks or events, only totals.
 */
#ifndef TDM_BENCH_BASELINE_COUNTERS_H
#define TDM_BENCH_BASELINE_COUNTERS_H

#include <stdint.h>
#include <sys/types.h>

enum baseline_type { BASELINE_DRAM, BASELINE_L1, BASELINE_SYSTEM, BASELINE_L1_SMALL, BASELINE_TRACE, BASELINE_CB };

struct baseline_counters;

/* Makes the file at `path`; NULL with errno set when that fails. */
struct baseline_counters *baseline_counters_open(const char *path, uint32_t device);
void baseline_counters_close(struct baseline_counters *c);
void baseline_counters_alloc(
	struct baseline_counters *c, pid_t pid, uint64_t bytes, enum baseline_type type, uint32_t chip);
void baseline_counters_release(
	struct baseline_counters *c, pid_t pid, uint64_t bytes, enum baseline_type type, uint32_t chip);
/* The device's L1 total, to check that nothing went wrong. */
uint64_t baseline_counters_l1(const struct baseline_counters *c);

#endif
