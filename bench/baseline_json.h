/* The bare JSON parser over a file: callbacks for everything, which do nothing. */
#ifndef TDM_BENCH_BASELINE_JSON_H
#define TDM_BENCH_BASELINE_JSON_H

#include <stddef.h>
#include <stdint.h>

/* Nanoseconds for the whole file, read in pieces of `chunk` bytes. Ends the program when it cannot. */
uint64_t baseline_json_run(const char *path, size_t chunk);

#endif
