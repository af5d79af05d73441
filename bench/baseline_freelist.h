/*
 * The baseline of the allocator bench: a plain reimplementation of the data structures of the runtime's own allocator.
 * Blocks are in parallel arrays of slots, linked to their neighbours; each size class has a sorted array of its free
 * blocks; used blocks are found through a fixed number of hash buckets; statistics scan every slot. Policy: first fit.
 * Only for comparison, never linked into the product.
 */
#ifndef TDM_BENCH_BASELINE_FREELIST_H
#define TDM_BENCH_BASELINE_FREELIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct baseline_stats {
	uint64_t total, allocated, free, largest_free;
};

struct baseline_freelist;

struct baseline_freelist *baseline_freelist_new(uint64_t size, uint64_t align); /* NULL only when out of memory */
void baseline_freelist_free(struct baseline_freelist *fl);
bool baseline_freelist_alloc(struct baseline_freelist *fl, uint64_t size, bool bottom_up, uint64_t *address);
void baseline_freelist_release(struct baseline_freelist *fl, uint64_t address);
struct baseline_stats baseline_freelist_stats(const struct baseline_freelist *fl);

#endif
